from typing import Any, Callable

import pyarrow as pa

__version__: str

class Answers:
    schema: pa.Schema
    def answer(
        self, batch: Any, before: int = 0, *, parallel: bool = True, progress: Callable[..., None] | None = None
    ) -> pa.RecordBatch: ...

class Model:
    schema: str
    threshold: float
    classes: list[str]
    favourable: list[str]
    features: list[str]
    columns: list[tuple[str, str]]
    renamed: str | None
    verifies: bool
    sha256: str
    card: str
    config: str
    @staticmethod
    def load(path: str) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def save(self, path: str) -> None: ...
    def to_bytes(self) -> bytes: ...
    usual_margin_and_order: tuple[float, str]
    def answers(self, schema: Any, request: str, *, id: str | None = None, changes: bool = False) -> Answers: ...
    def explain(
        self,
        batch: Any,
        request: str,
        *,
        id: str | None = None,
        judge: tuple[float, float, int, Callable[[pa.RecordBatch], list[float]]] | None = None,
    ) -> tuple[str, str, str | None]: ...
    def evaluate(
        self,
        table: Any,
        request: str,
        *,
        all_methods: bool = True,
        judge: bool = False,
        favourable: list[bool] | None = None,
        progress: Callable[..., None] | None = None,
    ) -> str: ...
    def probability(self, table: Any) -> pa.RecordBatch: ...
    def log_likelihood(self, table: Any) -> pa.RecordBatch: ...
    def train_surrogate(
        self, table: Any, scores: list[float], weights: list[float], *, progress: Callable[..., None] | None = None
    ) -> Model: ...
    def complete_surrogate(
        self, agreement: tuple[int, int], coverage: tuple[int, int], *, progress: Callable[..., None] | None = None
    ) -> Model: ...
    def refit(self, immutable: list[str], *, progress: Callable[..., None] | None = None) -> Model: ...

def fit(
    table: Any,
    schema: str,
    *,
    preset: str | None = None,
    file: tuple[str, str] | None = None,
    settings: str | None = None,
    classifier: tuple[bytes, str] | None = None,
    scores: str | None = None,
    also: list[tuple[str, bytes, str]] = ...,
    progress: Callable[..., None] | None = None,
) -> Model: ...
def draft_schema(
    table: Any,
    label: str | None = None,
    *,
    favourable: list[str] = ...,
    at_least: float | None = None,
    at_most: float | None = None,
) -> tuple[str, list[tuple[str, str]]]: ...
def draft_inputs(file: bytes, schema: str) -> str: ...
def schema_facts(schema: str) -> str: ...
def upgrade_schema(text: str) -> str: ...
def read_toml(text: str) -> dict[str, Any]: ...
def german_credit() -> tuple[str, str]: ...
def draw_before_after(description: str, people: str, features: list[tuple[str, Any]]) -> str: ...
def draw_pareto(
    gain: str, is_share: bool, ways: list[tuple[float, float, str, bool]], needed: float | None = None
) -> str: ...
def draw_changes(people: int, features: list[tuple[str, list[int]]]) -> str: ...
def draw_groups(groups: list[tuple[str, int, list[float], list[float] | None]]) -> str: ...
