"""Requests, and answering a table, on this machine or on the workers of an engine."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass, replace
from typing import Any, Callable, Iterable, Iterator, Literal, Mapping, Sequence, Union

import pyarrow as pa

from . import _native
from ._cells import cell, names, number, whole
from ._verification import Attempt
from .classifier import Supplied
from .errors import RenamedColumnWarning, SettingError
from .progress import Listener

Method = Literal["generate", "refine", "exact"]
Order = Literal["balanced", "likelihood"]
Limit = Union[tuple[Union[float, None], Union[float, None]], Sequence[Any]]
"""The values that a feature may change to: (lowest, highest), either of which may be None, or a list of values."""
Effort = Union[Literal["easy", "some", "hard", "very hard"], float]
"""How hard it is to change a feature: a word, or a weight, of which 1 is easy, 2 some, 4 hard and 8 very hard."""

OPTION_COLUMNS = frozenset({"locks", "efforts", "margin", "max_effort", "within"})
"""The columns of a table with options of each row."""

ROWS_AT_ONCE = 8192
"""Rows per batch."""


@dataclass(frozen=True)
class Request:
    """A request; the parameters of `Recourse.recourse`."""

    count: int = 1
    lock: str | Iterable[str] = ()
    method: str = "refine"
    budget: int | None = None
    limit: Mapping[str, Limit] | None = None
    threshold: float | None = None
    order: str | None = None
    margin: float | None = None
    min_percentile: float | None = None
    effort: Mapping[str, Effort] | None = None
    max_effort: float | None = None
    within: str | None = None
    no_harm: bool = False
    deadline: str | None = None
    auditor: bool = False
    robust: bool | float = False
    certify: float | None = None
    slack: bool = False

    def __post_init__(self) -> None:
        # Iterators are read here, because they can be read only once.
        checked = {
            "count": whole(self.count, "count", 1),
            "lock": names(self.lock, "lock"),
            "budget": None if self.budget is None else whole(self.budget, "budget", 1),
            "threshold": _optional(self.threshold, "threshold"),
            "margin": _optional(self.margin, "margin"),
            "min_percentile": _optional(self.min_percentile, "min_percentile"),
            "max_effort": _optional(self.max_effort, "max_effort"),
            "robust": self.robust if isinstance(self.robust, bool) else _optional(self.robust, "robust"),
            "certify": _optional(self.certify, "certify"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def bar(self, model: _native.Model) -> tuple[float, float, str]:
        """The probability from which on a row is accepted, the one with the margin, and the order of ways."""
        threshold = model.threshold if self.threshold is None else self.threshold
        usual_margin, usual_order = model.usual_margin_and_order
        margin = usual_margin if self.margin is None else self.margin
        return threshold, min(threshold + margin, (1 + threshold) / 2), self.order or usual_order

    def json(self, threshold: float | None = None, spare: int = 0) -> str:
        """The JSON for the native half, with `spare` extra ways."""
        limits = {str(name): _limit(str(name), limit) for name, limit in (self.limit or {}).items()}
        options = {
            "method": self.method,
            "count": self.count + spare,
            "lock": self.lock,
            "budget": self.budget,
            "limit": limits,
            "threshold": self.threshold if threshold is None else threshold,
            "order": self.order,
            "margin": self.margin,
            "min_percentile": self.min_percentile,
            "effort": {str(name): _effort(str(name), effort) for name, effort in (self.effort or {}).items()},
            "max_effort": self.max_effort,
            "within": self.within,
            "no_harm": bool(self.no_harm),
            "deadline": self.deadline,
            "auditor": bool(self.auditor),
            "robust": self.robust,
            "certify": self.certify,
            "slack": bool(self.slack),
        }
        return json.dumps(options)


def _optional(value: Any, what: str) -> float | None:
    """A finite number, or None."""
    found = None if value is None else number(value, what)
    if found is not None and not math.isfinite(found):
        raise SettingError(f"`{what}` is {value!r}, expected a finite number")
    return found


def _effort(name: str, effort: Effort) -> str | float:
    return effort if isinstance(effort, str) else number(effort, f"effort of `{name}`")


def _plain(value: Any) -> Any:
    """A value that JSON can hold."""
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, (bool, int)) or _is_number(value) else cell(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _limit(name: str, limit: Limit) -> dict[str, Any]:
    if isinstance(limit, tuple) and len(limit) == 2:
        lowest, highest = (None if end is None else number(end, f"limit of `{name}`") for end in limit)
        ends = [None if lowest == -math.inf else lowest, None if highest == math.inf else highest]
        if all(end is None or math.isfinite(end) for end in ends):
            return {"between": ends}
    elif isinstance(limit, str):
        return {"among": [limit]}
    elif isinstance(limit, Iterable) and not isinstance(limit, tuple):
        return {"among": [_plain(value) for value in limit]}
    raise SettingError(
        f"limit of `{name}` is {limit!r}, expected (lowest, highest), either of which may be None, or a list of values\n"
        "hint: a range is a tuple, single values are a list"
    )


def column_filter(features: list[str], *ids: str | None) -> Callable[[str], bool]:
    """A filter of the columns that are used: features, ids, and the options of each row."""
    wanted = {*features, *ids}
    return lambda name: name in wanted or name.strip() in OPTION_COLUMNS


def answer_table(
    model: _native.Model,
    supplied: Supplied,
    request: Request,
    rows: pa.Table,
    *,
    id: str | None,
    before: int = 0,
    parallel: bool = True,
    changes: bool = False,
    progress: Listener | None = None,
) -> pa.Table:
    """The lines of all rows, in order; `before` is the number of earlier rows of the table. With `changes`, a column has
    the changes of each."""
    asked = answer_with_attempts(
        model, supplied, request, rows, id=id, before=before, parallel=parallel, changes=changes, progress=progress
    )
    return asked[0]


def answer_with_attempts(
    model: _native.Model,
    supplied: Supplied,
    request: Request,
    rows: pa.Table,
    *,
    id: str | None,
    before: int = 0,
    parallel: bool = True,
    changes: bool = False,
    progress: Listener | None = None,
) -> tuple[pa.Table, list[Attempt]]:
    """As `answer_table`, with the last attempt for each person; none if nothing is verified."""
    # One row is answered sooner than threads wake up; but only on threads a long search can be interrupted.
    parallel = parallel and (rows.num_rows > 1 or request.method == "exact")

    def answer(some: pa.Table, threshold: float, order: str | None) -> pa.Table:
        own = request if order is None else replace(request, order=order)
        answers = model.answers(some.schema, own.json(threshold, supplied.spare), id=id, changes=changes)
        return pa.Table.from_batches(_batches(answers, some, before, parallel, progress), answers.schema)

    threshold, sure, order = request.bar(model)
    return supplied.verified(answer, rows, model, request.count, threshold, sure, order)


def explain_row(
    model: _native.Model, supplied: Supplied, request: Request, row: pa.Table, *, id: str | None
) -> tuple[str, str, str | None]:
    """The answer to one row: as JSON, as text, and its frontier as SVG. If a surrogate is searched, by the classifier itself."""
    batch = row.combine_chunks().to_batches()[0]
    if not supplied.is_surrogate:
        return model.explain(batch, request.json(), id=id)
    [(level, order)] = answer_with_attempts(model, supplied, request, row, id=id)[1]

    def scores(rows: pa.RecordBatch) -> list[float]:
        people = row.take(pa.array([0] * rows.num_rows))
        for name in rows.schema.names:
            people = people.set_column(people.column_names.index(name), name, rows.column(name))
        return [float(score) for score in supplied.probabilities(people)]

    threshold, sure, _ = request.bar(model)
    asked = replace(request, order=order or request.order).json(level, supplied.spare)
    return model.explain(batch, asked, id=id, judge=(threshold, sure, request.count, scores))


def warn_of_renamed(model: _native.Model, stacklevel: int) -> None:
    """Warns the caller's caller of columns that are renamed because of features."""
    if model.renamed is not None:
        message = f"{model.renamed}\nhint: `columns_` of a Recourse has their names by the usual ones"
        warnings.warn(message, RenamedColumnWarning, stacklevel=stacklevel + 1)


def _batches(
    answers: _native.Answers, rows: pa.Table, before: int, parallel: bool, progress: Listener | None
) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in rows.to_batches(max_chunksize=ROWS_AT_ONCE):
        report = None if progress is None else _shifted(progress, done, rows.num_rows)
        yield answers.answer(batch, before + done, parallel=parallel, progress=report)
        done += batch.num_rows


def _shifted(progress: Listener, before: int, of: int) -> Listener:
    """A listener of one batch, for one of the table."""
    return lambda stage, done, _: progress(stage, before + done, of)
