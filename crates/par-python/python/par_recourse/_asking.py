"""What is asked for, and how a table is answered, here as on the workers of an engine."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Literal, Mapping, Sequence, Union

import pyarrow as pa

from . import _native
from .classifier import Supplied
from .errors import SettingError

Method = Literal["generate", "refine", "exact"]
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
    limit: Mapping[str, Limit] | None = field(default=None)
    threshold: float | None = None

    def __post_init__(self) -> None:
        for name, value in {"count": self.count, "budget": self.budget}.items():
            if value is not None and (not isinstance(value, int) or value < 1):
                raise SettingError(f"`{name}` is {value!r}, expected a whole number, at least 1")
        threshold = self.threshold
        if threshold is not None and not (isinstance(threshold, (int, float)) and 0 < threshold < 1):
            raise SettingError(f"`threshold` is {threshold!r}, expected a number above 0 and below 1")
        # What can be read but once is read here.
        locks = [self.lock] if isinstance(self.lock, str) else [str(name) for name in self.lock]
        object.__setattr__(self, "lock", locks)

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
        }
        return json.dumps(asked)


def _limit(name: str, told: Limit) -> dict[str, Any]:
    if not isinstance(told, tuple):
        return {"among": [told] if isinstance(told, str) else [str(value) for value in told]}
    if len(told) != 2 or not all(end is None or isinstance(end, (int, float)) for end in told):
        raise SettingError(
            f"limit of `{name}`: expected (lowest, highest), either of which may be None, found {told!r}\n"
            "hint: single values go into a list"
        )
    return {"between": [None if end is None or math.isinf(end) else float(end) for end in told]}


def answered(
    bundle: _native.Bundle,
    supplied: Supplied | None,
    request: Request,
    rows: pa.Table,
    *,
    id: str | None,
    before: int = 0,
    parallel: bool = True,
) -> pa.Table:
    """The lines of all rows, in their order; `before` rows of the table came before them."""
    supplied = supplied or Supplied()

    def ask(some: pa.Table, threshold: float) -> pa.Table:
        answers = bundle.answers(some.schema, request.json(threshold, supplied.spare), id=id)
        return pa.Table.from_batches(_batches(answers, some, before, parallel), answers.schema)

    threshold = bundle.threshold if request.threshold is None else request.threshold
    return supplied.settled(ask, rows, bundle.features, request.count, threshold)


def _batches(answers: _native.Answers, rows: pa.Table, before: int, parallel: bool) -> Iterator[pa.RecordBatch]:
    for batch in rows.to_batches(max_chunksize=ROWS_AT_ONCE):
        yield answers.answer(batch, before, parallel=parallel)
        before += batch.num_rows
