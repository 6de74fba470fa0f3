"""The measures of answers."""

from __future__ import annotations

import json
import time
from html import escape
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from . import _frames, _native
from ._request import Method, Request, answer_table
from .classifier import Supplied
from .errors import SettingError
from .progress import Listener

_MEASURES = [
    "validity",
    "actionability",
    "causality",
    "nll",
    "conditional_nll",
    "percentile",
    "similarity",
    "distance",
    "sparsity",
    "effort",
    "months",
    "margin",
    "score",
    "gap",
    "optimal",
]

_TIMES = ("time_us", "time_us_mean", "time_us_p99")


_COLUMNS = {
    "conditional_nll": "conditional_log_likelihood",
    "nll": "log_likelihood",
    "percentile": "percentile",
    "similarity": "similarity",
    "sparsity": "changes",
    "effort": "effort",
    "months": "months",
    "margin": "has_margin",
    "score": "probability",
}
"""The measures that the lines of answers tell."""


METHODS: tuple[Method, ...] = ("generate", "refine", "exact")


def evaluate_table(
    model: _native.Model,
    supplied: Supplied,
    table: pa.Table,
    methods: tuple[Method, ...],
    deadline: str | None,
    *,
    judge: bool,
    favourable: list[bool] | None,
    progress: Listener | None,
) -> str:
    """The measures of the answers to a table by one method or by all, as JSON. If a surrogate is searched, of what its
    classifier accepts."""

    def native(judge: bool) -> str:
        request = Request(method=methods[0], deadline=deadline).json()
        is_all = methods == METHODS
        return model.evaluate(
            table, request, all_methods=is_all, judge=judge, favourable=favourable, progress=progress
        )

    if not supplied.is_surrogate:
        return native(judge)
    measures = []
    for method in methods:
        start = time.perf_counter()
        request = Request(method=method, deadline=deadline)
        lines = answer_table(model, supplied, request, table, id=None, progress=progress)
        measures.append(_measures(model, method, lines, time.perf_counter() - start))
    validity = measures[-1]["validity"]
    evaluated = {
        "rows": table.num_rows,
        "denied": validity["of"],
        "possible": round((validity["mean"] or 0) * validity["of"]),
        "methods": measures,
    }
    if judge:
        evaluated["judge"] = json.loads(native(True))["judge"]
    return json.dumps(evaluated)


def _measures(model: _native.Model, method: str, lines: pa.Table, seconds: float) -> dict[str, Any]:
    """The measures of a method that the lines of its answers tell; others, which are about the search, are empty."""
    columns = dict(model.columns)
    status = lines.column(columns["status"])
    denied = pc.sum(pc.is_in(status, pa.array(["found", "not_found"]))).as_py() or 0
    ways = lines.filter(pc.equal(status, "found"))

    def mean(values: Any) -> dict[str, Any]:
        average = pc.mean(pc.cast(values, pa.float64())).as_py() if len(values) else None
        return {"mean": average, "over": len(values), "of": denied}

    empty = {"mean": None, "over": 0, "of": denied}
    measures: dict[str, Any] = {"method": method, **{name: empty for name in _MEASURES}}
    for name, column in _COLUMNS.items():
        values = ways.column(columns[column])
        is_truth = pa.types.is_boolean(values.type)
        measures[name] = mean(values.cast(pa.int8()) if is_truth else values)
    for name in ("nll", "conditional_nll"):
        if measures[name]["mean"] is not None:
            measures[name]["mean"] *= -1
    validity = ways.num_rows / denied if denied else None
    measures["validity"] = {"mean": validity, "over": denied, "of": denied}
    measures |= {"median_gap": None, "time_us": None, "time_us_p99": None}
    return {**measures, "time_us_mean": 1e6 * seconds / max(lines.num_rows, 1)}


class Evaluation:
    """The measures of every method: the paper's, effort, time and margin.

    `validity` is over all denied people, the others over those with an answer.

    If the search uses a surrogate of the classifier, they are about the ways that the classifier itself accepts. Those that
    the lines of answers do not tell are then empty, and what `judge_frame` says is about the surrogate's ways.
    """

    def __init__(self, evaluated: str, kind: str, accuracy: float | None, verified: bool) -> None:
        self._evaluated: dict[str, Any] = json.loads(evaluated)
        self._kind = kind
        self.accuracy = accuracy
        """The share of rows that are classified correctly, if their classes are known."""
        self.verified = verified
        """Whether the classifier itself, not a surrogate, judges the answers."""

    @property
    def rows(self) -> int:
        """The number of people."""
        return self._evaluated["rows"]

    @property
    def denied(self) -> int:
        """The number of denied people."""
        return self._evaluated["denied"]

    @property
    def possible(self) -> int:
        """The number of denied people for whom the exact search finds a recourse."""
        return self._evaluated["possible"]

    def to_frame(self) -> Any:
        """A line for every method: how many are denied, how many have an answer, the means, the median gap to the proved best, and the time of an answer in microseconds: median, mean and 99th percentile."""
        methods = self._evaluated["methods"]
        columns: dict[str, list[Any]] = {
            "method": [method["method"] for method in methods],
            "denied": [self.denied] * len(methods),
            "answered": [method["nll"]["over"] for method in methods],
        }
        for measure in _MEASURES:
            columns[measure] = [method[measure]["mean"] for method in methods]
        for measure in ("median_gap", *_TIMES):
            columns[measure] = [method[measure] for method in methods]
        return _frames.write_plain(self._kind, pa.table(columns))

    def judge_frame(self) -> Any:
        """What held-out accepted people say of the answers, a line for every method and one for these people themselves
        (`held out`): the mean distance to the 5 nearest, the share of outliers, the AUC of boosted trees that tell answers
        from people with the same immutable features (0.5 is best), the share for whom there are such people, and −log p
        under a circuit learned from them. `docs/judge.md` says exactly what they are."""
        judge = self._evaluated.get("judge")
        if judge is None:
            raise SettingError("the answers were not judged\nhint: `evaluate(X, y, judge=True)` has the accepted rows judge them")
        lines = [*judge["methods"], {"method": "held out", **judge["held_out"]}]
        columns: dict[str, list[Any]] = {"method": [line["method"] for line in lines]}
        for measure in ("distance", "outliers", "auc", "matched", "nll"):
            columns[measure] = [_mean(line[measure]) for line in lines]
        return _frames.write_plain(self._kind, pa.table(columns))

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as a dict, as in `par evaluate --json`, with the counts of every mean."""
        return json.loads(json.dumps(self._evaluated))

    def __repr__(self) -> str:
        accuracy = "" if self.accuracy is None else f", accuracy {self.accuracy:.3f}"
        surrogate = "" if self.verified else ", by a surrogate of the classifier"
        summary = f"{self.rows} rows: {self.denied} denied, {self.possible} with a recourse{accuracy}{surrogate}"
        return f"<Evaluation of {summary}>"

    def __str__(self) -> str:
        ended = {method["method"]: method.get("search_ended", 0) for method in self._evaluated["methods"]}
        cut = ", ".join(f"{count} of {method}" for method, count in ended.items() if count)
        note = [f"searches cut short at the deadline: {cut}"] if cut else []
        return "\n".join([repr(self).strip("<>"), *note, *("  ".join(line) for line in self._lines())])

    def _lines(self) -> list[list[str]]:
        methods = self._evaluated["methods"]
        cells = [["", *(method["method"] for method in methods)]]
        for measure in [*_MEASURES, "median_gap", *_TIMES]:
            means = (_mean(method[measure]) for method in methods)
            cells.append([measure, *("-" if mean is None else f"{mean:.3f}" for mean in means)])
        widths = [max(map(len, column)) for column in zip(*cells)]
        return [[cell.ljust(widths[0]) if at == 0 else cell.rjust(widths[at]) for at, cell in enumerate(line)] for line in cells]

    def _repr_html_(self) -> str:
        head, *lines = self._lines()
        body = "".join(_row("td", line) for line in lines)
        title = escape(repr(self).strip("<>"))
        return f"<p>{title}</p><table><thead>{_row('th', head)}</thead><tbody>{body}</tbody></table>"


def _mean(measure: Any) -> Any:
    """A mean without its counts; a measure that has none as it is."""
    return measure["mean"] if isinstance(measure, dict) else measure


def _row(tag: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell.strip())}</{tag}>" for cell in cells) + "</tr>"
