"""What is asked for, and how a table is answered, here as on the workers of an engine."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Literal, Mapping, Sequence, Union

import pyarrow as pa

from . import _native
from ._cells import cell, names, number, whole
from .classifier import Supplied
from .errors import RenamedColumnWarning, SettingError

Method = Literal["generate", "refine", "exact"]
Order = Literal["balanced", "likelihood"]
Limit = Union[tuple[Union[float, None], Union[float, None]], Sequence[Any]]
"""What a feature may move to: (lowest, highest), either of which may be None, or a list of values."""

ROWS_AT_ONCE = 8192
"""Rows that are answered before the next are read."""


@dataclass(frozen=True)
class Request:
    """What is asked for; the parameters of `Recourse.recourse`."""

    count: int = 1
    lock: str | Iterable[str] = ()
    method: str = "refine"
    budget: int | None = None
    limit: Mapping[str, Limit] | None = None
    threshold: float | None = None
    order: str | None = None
    auditor: bool = False

    def __post_init__(self) -> None:
        # What can be read but once is read here.
        checked = {
            "count": whole(self.count, "count", 1),
            "lock": names(self.lock, "lock"),
            "budget": None if self.budget is None else whole(self.budget, "budget", 1),
            "threshold": None if self.threshold is None else number(self.threshold, "threshold"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def json(self, threshold: float | None = None, spare: int = 0) -> str:
        """As the native half reads it, for `spare` ways more than are wanted."""
        limits = {str(name): _limit(str(name), told) for name, told in (self.limit or {}).items()}
        asked = {
            "method": self.method,
            "count": self.count + spare,
            "lock": self.lock,
            "budget": self.budget,
            "limit": limits,
            "threshold": self.threshold if threshold is None else threshold,
            "order": self.order,
            "auditor": bool(self.auditor),
        }
        return json.dumps(asked)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, (bool, int)) or _is_number(value) else cell(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _limit(name: str, told: Limit) -> dict[str, Any]:
    if isinstance(told, tuple) and len(told) == 2:
        lowest, highest = (None if end is None else number(end, f"limit of `{name}`") for end in told)
        ends = [None if lowest == -math.inf else lowest, None if highest == math.inf else highest]
        if all(end is None or math.isfinite(end) for end in ends):
            return {"between": ends}
    elif isinstance(told, str):
        return {"among": [told]}
    elif isinstance(told, Iterable) and not isinstance(told, tuple):
        return {"among": [_plain(value) for value in told]}
    raise SettingError(
        f"limit of `{name}` is {told!r}, expected (lowest, highest), either of which may be None, or a list of values\n"
        "hint: a range is a tuple, single values are a list"
    )


def looked_at(features: list[str], *ids: str | None) -> Callable[[str], bool]:
    """Which columns of a table matter: features, what names the rows, and the locks of each row."""
    wanted = {*features, *ids}
    return lambda name: name in wanted or name.strip() == "locks"


def answered(
    model: _native.Model,
    supplied: Supplied,
    request: Request,
    rows: pa.Table,
    *,
    id: str | None,
    before: int = 0,
    parallel: bool = True,
) -> pa.Table:
    """The lines of all rows, in their order; `before` rows of the table came before them."""

    def ask(some: pa.Table, threshold: float) -> pa.Table:
        answers = model.answers(some.schema, request.json(threshold, supplied.spare), id=id)
        return pa.Table.from_batches(_batches(answers, some, before, parallel), answers.schema)

    threshold = model.threshold if request.threshold is None else request.threshold
    order = request.order or json.loads(model.config)["answers"]["order"]
    return supplied.settled(ask, rows, model, request.count, threshold, order)


def warn_of_renamed(model: _native.Model, stacklevel: int) -> None:
    """Tells the caller's caller, where columns of ours give way to features."""
    if model.renamed is not None:
        told = f"{model.renamed}\nhint: `columns_` of a Recourse has their names by the usual ones"
        warnings.warn(told, RenamedColumnWarning, stacklevel=stacklevel + 1)


def _batches(answers: _native.Answers, rows: pa.Table, before: int, parallel: bool) -> Iterator[pa.RecordBatch]:
    for batch in rows.to_batches(max_chunksize=ROWS_AT_ONCE):
        yield answers.answer(batch, before, parallel=parallel)
        before += batch.num_rows
