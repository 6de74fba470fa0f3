"""How good answers are."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import pyarrow as pa

from . import _frames

_MEASURES = [
    "validity",
    "actionability",
    "causality",
    "nll",
    "similarity",
    "distance",
    "sparsity",
    "score",
    "gap",
    "optimal",
]


class Evaluation:
    """The paper's measures of every method. `validity` is over all denied people, the others over those who have an answer.

    Where an imitation of the classifier is searched, they are about the imitation.
    """

    def __init__(self, evaluated: str, kind: str, accuracy: float | None, verified: bool) -> None:
        self._evaluated: dict[str, Any] = json.loads(evaluated)
        self._kind = kind
        self.accuracy = accuracy
        """The share of rows that are classified rightly, where their classes were given."""
        self.verified = verified
        """Whether the classifier itself judges the answers, and not an imitation."""

    @property
    def rows(self) -> int:
        """People asked about."""
        return self._evaluated["rows"]

    @property
    def denied(self) -> int:
        """Those that are denied."""
        return self._evaluated["denied"]

    @property
    def possible(self) -> int:
        """Those of them for whom the exact search finds a recourse."""
        return self._evaluated["possible"]

    def to_frame(self) -> Any:
        """A line for every method: how many are denied, how many have an answer, the means, the median gap to the proved best, and the median time in microseconds."""
        methods = self._evaluated["methods"]
        columns: dict[str, list[Any]] = {
            "method": [method["method"] for method in methods],
            "denied": [self.denied] * len(methods),
            "answered": [method["nll"]["over"] for method in methods],
        }
        for measure in _MEASURES:
            columns[measure] = [method[measure]["mean"] for method in methods]
        for measure in ("median_gap", "time_us"):
            columns[measure] = [method[measure] for method in methods]
        return _frames.write_plain(self._kind, pa.table(columns))

    def to_dict(self) -> dict[str, Any]:
        """All of it, as `par evaluate --json` has it, with what every mean is over."""
        return json.loads(json.dumps(self._evaluated))

    def __repr__(self) -> str:
        accuracy = "" if self.accuracy is None else f", accuracy {self.accuracy:.3f}"
        imitation = "" if self.verified else ", by an imitation of the classifier"
        told = f"{self.rows} rows: {self.denied} denied, {self.possible} with a recourse{accuracy}{imitation}"
        return f"<Evaluation of {told}>"

    def __str__(self) -> str:
        return "\n".join([repr(self).strip("<>"), *("  ".join(line) for line in self._lines())])

    def _lines(self) -> list[list[str]]:
        methods = self._evaluated["methods"]
        cells = [["", *(method["method"] for method in methods)]]
        for measure in [*_MEASURES, "median_gap", "time_us"]:
            values = (method[measure] for method in methods)
            means = (value["mean"] if isinstance(value, dict) else value for value in values)
            cells.append([measure, *("-" if mean is None else f"{mean:.3f}" for mean in means)])
        widths = [max(map(len, column)) for column in zip(*cells)]
        return [[cell.ljust(widths[0]) if at == 0 else cell.rjust(widths[at]) for at, cell in enumerate(line)] for line in cells]

    def _repr_html_(self) -> str:
        head, *lines = self._lines()
        body = "".join(_row("td", line) for line in lines)
        title = escape(repr(self).strip("<>"))
        return f"<p>{title}</p><table><thead>{_row('th', head)}</thead><tbody>{body}</tbody></table>"


def _row(tag: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell.strip())}</{tag}>" for cell in cells) + "</tr>"
