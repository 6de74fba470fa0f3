"""Plots of people and their ways, as SVG or PNG, with the data behind them.

```python
from par_recourse import plots

explanation = recourse.explain(X.iloc[[1]], count=3)
plots.before_and_after(recourse, explanation, X)     # one person among accepted people
plots.pareto(explanation)                            # what the ways cost and give
ways = recourse.ways(X)
plots.changes(ways).save("changes.svg")              # which features change, for how many people
plots.groups(ways, by="Sex").data                    # who has a way, and at what effort
```
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any, Generic, Iterable, Literal, Sequence, TypeVar, cast

import pyarrow as pa

from . import _frames, _native, _pandas
from ._cells import cell
from .errors import DataError, SettingError

if TYPE_CHECKING:
    from ._types import FrameT
    from .estimator import Recourse
    from .explanation import Change, Explanation, Way
    from .ways import Ways
else:
    FrameT = TypeVar("FrameT")

__all__ = ["before_and_after", "changes", "groups", "pareto"]

_TEXT, _COUNT, _NUMBER, _TRUTH = pa.string(), pa.int64(), pa.float64(), pa.bool_()

_NORMAL_QUANTILE = 1.96
"""Of an interval of 95 %."""


class Plot(Generic[FrameT]):
    """A drawing, which a notebook shows, and the data behind it.

    Attributes
    ----------
    svg:
        The drawing, as SVG.
    data:
        What is drawn, as a frame of the kind that the people came in.
    description:
        The drawing in a sentence, for readers who do not see it.
    """

    def __init__(self, svg: str, data: FrameT, description: str) -> None:
        self.svg = svg
        self.data = data
        self.description = description

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the drawing to a file, whose name ends in `.svg` or `.png`.

        Raises
        ------
        SettingError
            When it ends in anything else, or as `png` does.
        """
        name = os.fspath(path)
        ending = os.path.splitext(name)[1]
        if ending.lower() not in (".svg", ".png"):
            found = f"ends in `{ending}`" if ending else "has no ending"
            raise SettingError(f"{name}: {found}, expected `.svg` or `.png`")
        written = self.svg.encode() if ending.lower() == ".svg" else self.png()
        with open(path, "wb") as file:
            file.write(written)

    def png(self, scale: float = 2.0) -> bytes:
        """The drawing as PNG, `scale` pixels for each of the SVG's, made by `resvg-py` with the fonts of this machine.

        Raises
        ------
        ImportError
            When `resvg-py` is not installed.
        SettingError
            When this machine has no fonts, so that the texts would be missing.
        """
        try:
            import resvg_py
        except ImportError as error:
            hint = "hint: `pip install par-recourse[png]`, or save as `.svg`"
            raise ImportError(f"PNG needs resvg-py, which is not installed\n{hint}") from error

        def pixels(svg: str, zoom: float) -> bytes:
            return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom))

        blank = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'
        if pixels(blank.format('<text y="15" font-family="sans-serif">x</text>'), 1) == pixels(blank.format(""), 1):
            raise SettingError(
                "PNG: this machine has no fonts, so that all texts would be missing\n"
                "hint: install one, such as DejaVu, or save as `.svg`"
            )
        return pixels(self.svg, scale)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # As an image, so that its style does not leak into the page.
        from base64 import b64encode

        data = b64encode(self.svg.encode()).decode()
        return f'<img alt="{escape(self.description)}" src="data:image/svg+xml;base64,{data}">'

    def __repr__(self) -> str:
        return f"<Plot: {self.description}>"


def before_and_after(recourse: Recourse, explanation: Explanation, X: FrameT, *, rank: int = 1) -> Plot[FrameT]:
    """Where a person stands among accepted people, before and after a way: a chart for each feature that changes.

    `data` has a line for each value of these features: `feature`, `value` (as text), `people` (the accepted people who
    have it), `before` and `after` (whether it is the person's).

    Parameters
    ----------
    recourse:
        Who decides which people of `X` are accepted.
    explanation:
        The person's answer, by `Recourse.explain`.
    X:
        The people to compare with, such as those that the model was fitted to.
    rank:
        Which way.

    Raises
    ------
    SettingError
        When the person has no such way.
    DataError
        When nobody in `X` is accepted.
    """
    way = _way(explanation, rank)
    frame = recourse._read(X)
    scores = recourse._probability(frame.table)
    accepted = [row for row, own in enumerate(scores) if recourse._reaches(own, recourse.threshold_)]
    if not accepted:
        raise DataError("X: nobody is accepted, so there is nobody to compare with")
    facts = {feature["name"]: feature for feature in json.loads(_native.schema_facts(recourse.schema_))["features"]}
    drawn: list[tuple[str, Any]] = []
    lines: list[tuple[Any, ...]] = []
    for change in (*way.changes, *way.consequences):
        values = frame.table.column(change.feature).take(pa.array(accepted, pa.int64())).to_pylist()
        counts = Counter(cell(value) for value in values if value is not None)
        before, after = (None if value is None else cell(value) for value in (change.from_, change.to))
        counts.update({value: 0 for value in (before, after) if value is not None})
        if facts[change.feature]["kind"] in ("discrete", "continuous"):
            # Without the interval that would do, and whose move it is.
            drawn.append((change.sentence.partition(" (")[0], _numbers(change, values)))
        else:
            drawn.append((change.sentence, _categories(counts, before, after, facts[change.feature])))
        lines += [(change.feature, value, people, value == before, value == after) for value, people in counts.most_common()]
    people = f"{len(accepted):,} accepted people"
    description = f"What changes for {explanation.id}, among {people}"
    types = {"feature": _TEXT, "value": _TEXT, "people": _COUNT, "before": _TRUTH, "after": _TRUTH}
    svg = _native.draw_before_after(description, people, drawn)
    return Plot(svg, _frames.write_plain(frame.kind, _table(lines, types)), description)


def pareto(explanation: Explanation, gain: Literal["percentile", "probability"] = "percentile") -> Plot[Any]:
    """What the ways of a person cost, as effort, and what they give, with the best row for each number of changes.

    `data` has a line for each: `rank` (none for a row that is no way), `changes`, `effort`, `months`, `probability`,
    `percentile`, and `best`, whether no other costs as little or less and gives as much or more. It is a frame of the
    kind that the person came in.

    Parameters
    ----------
    explanation:
        The person's answer, by `Recourse.explain`, with as many ways as its `count`.
    gain:
        ``"percentile"``, the share of accepted people who are no likelier, or ``"probability"``, the score.

    Raises
    ------
    SettingError
        When the person has no way, or when there is no such gain.
    """
    if gain not in ("percentile", "probability"):
        raise SettingError(f"gain is {gain!r}, expected 'percentile' or 'probability'")
    first = _way(explanation, 1)
    names = ("effort", "months", "probability", "percentile")
    points = [(way.rank, len(way.changes), *(getattr(way, name) for name in names)) for way in explanation.ways]
    known = {point[1:] for point in points}
    others = [(None, point.changes, *(getattr(point, name) for name in names)) for point in explanation.frontier]
    points += [point for point in others if point[1:] not in known]
    gains = [percentile if gain == "percentile" else score for *_, score, percentile in points]
    lower_is_better = gain == "probability" and first.probability < explanation.threshold
    sides = [(point[2], -own if lower_is_better else own) for point, own in zip(points, gains)]
    best = [not any(_beats(other, own) for other in sides) for own in sides]
    labels = [f"{changes} change{'' if changes == 1 else 's'}" for _, changes, *_ in points]
    drawn = [(point[2], own, label, is_best) for point, own, label, is_best in zip(points, gains, labels, best)]
    is_share = gain == "percentile" or first.score_words.startswith("probability")
    title = "likelier than this share of accepted people" if gain == "percentile" else first.score_words.split()[0]
    svg = _native.draw_pareto(title, is_share, drawn, explanation.threshold if gain == "probability" else None)
    types = {"rank": _COUNT, "changes": _COUNT, "effort": _NUMBER, "months": _COUNT}
    types |= {"probability": _NUMBER, "percentile": _NUMBER, "best": _TRUTH}
    data = _table([(*point, is_best) for point, is_best in zip(points, best)], types)
    return Plot(svg, _frames.write_plain(explanation.kind, data), f"What the ways of {explanation.id} cost and give")


def changes(ways: Ways[FrameT]) -> Plot[FrameT]:
    """Which features the first ways of people change, and for how many. Consequences of other changes are left out.

    `data` has a line for each feature: `feature`, `people`, `share` (of those with a way), `rises`, `falls` and `other`
    (for how many of them), and `effort`, the mean of the change.
    """
    table, _, old, new = ways._changed()
    counts: dict[str, list[int]] = {}
    efforts: dict[str, float] = {}
    for change, before, after in zip(table.to_pylist(), old, new):
        if change["rank"] == 1 and not change["follows"]:
            own = counts.setdefault(change["feature"], [0, 0, 0])
            own[_direction(before, after)] += 1
            efforts[change["feature"]] = efforts.get(change["feature"], 0.0) + change["effort"]
    people = ways._lines.column(ways._columns["rank"]).to_pylist().count(1)
    ordered = sorted(counts.items(), key=lambda own: -sum(own[1]))
    lines = [(name, sum(own), sum(own) / people, *own, efforts[name] / sum(own)) for name, own in ordered]
    types = {"feature": _TEXT, "people": _COUNT, "share": _NUMBER}
    types |= {"rises": _COUNT, "falls": _COUNT, "other": _COUNT, "effort": _NUMBER}
    data = _frames.write_plain(ways._source.kind, _table(lines, types))
    return Plot(_native.draw_changes(people, ordered), data, f"What {people:,} people with a way change")


def groups(ways: Ways[FrameT], by: str | Iterable[Any]) -> Plot[FrameT]:
    """How groups of denied people fare: how many have a way, and the mean effort of their first ways.

    `data` has a line for each group: `group`, `people`, `denied`, `with_way`, `share` (of the denied) and `effort`, the
    latter two with the ends of their intervals of 95 % (`share_low`, `share_high` by Wilson's formula, `effort_low`,
    `effort_high` by the normal approximation), and `changes`, the mean number.

    Parameters
    ----------
    ways:
        The ways of all people, by `Recourse.ways`.
    by:
        A column of their table, or a value for each person.

    Raises
    ------
    DataError
        When there is no such column, or not a value for each person.
    """
    members = _members(ways, by)
    columns = ways._columns
    lines = [ways._lines.column(columns[name]).to_pylist() for name in ("rank", "status", "effort", "changes")]
    people: dict[str, list[tuple[Any, ...]]] = {}
    for person, *line in zip(_pandas.people(ways._lines, columns), *lines):
        if line[0] in (None, 1):
            people.setdefault(members[person], []).append(tuple(line))
    measured = [_fares(name, people[name]) for name in sorted(people)]
    drawn = [
        (own["group"], own["denied"], [own["share"], own["share_low"], own["share_high"]], _interval(own))
        for own in measured
        if own["denied"] > 0
    ]
    types = {"group": _TEXT, "people": _COUNT, "denied": _COUNT, "with_way": _COUNT}
    measures = ("share", "share_low", "share_high", "effort", "effort_low", "effort_high", "changes")
    types |= dict.fromkeys(measures, _NUMBER)
    data = _frames.write_plain(ways._source.kind, _table([tuple(own[name] for name in types) for own in measured], types))
    return Plot(_native.draw_groups(drawn), data, f"How {len(measured)} groups of people fare")


def _way(explanation: Explanation, rank: int) -> Way:
    ways = explanation.ways
    if not 1 <= rank <= len(ways):
        found = f"{len(ways)} way{'' if len(ways) == 1 else 's'}"
        raise SettingError(
            f"{explanation.id} has {found}, expected one with the rank {rank}\n"
            f"hint: `explain(row, count={max(rank, 1)})`, if there are as many"
        )
    return ways[rank - 1]


def _table(lines: Sequence[tuple[Any, ...]], types: dict[str, pa.DataType]) -> pa.Table:
    return pa.table({name: pa.array([line[at] for line in lines], own) for at, (name, own) in enumerate(types.items())})


def _numbers(change: Change, values: list[Any]) -> tuple[float | None, float, list[float]]:
    """A number before and after, and those of people."""
    before = None if change.from_ is None else _number(change.from_)
    people = [own for own in map(_number, values) if own is not None]
    return before, cast(float, _number(change.to)), people


def _number(value: Any) -> float | None:
    """The number that a cell holds; `None` if it holds none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _categories(
    counts: Counter[str], before: str | None, after: str | None, feature: dict[str, Any]
) -> tuple[int | None, int, list[tuple[str, int]]]:
    """The places of a category before and after, and how many people have each; in the schema's order if it has one."""
    listed = feature["values"] if feature["kind"] == "ordinal" else []
    order = [value for value in listed if value in counts]
    order += [value for value, _ in counts.most_common() if value not in set(listed)]
    places = {value: place for place, value in enumerate(order)}
    named = [(feature["labels"].get(value, value), counts[value]) for value in order]
    return None if before is None else places[before], places[cast(str, after)], named


def _beats(other: tuple[float, float], own: tuple[float, float]) -> bool:
    """Whether another way costs at most as much and gives at least as much, and is not the same in both."""
    return other[0] <= own[0] and other[1] >= own[1] and other != own


def _direction(before: Any, after: Any) -> int:
    """0 if a number rises, 1 if it falls, 2 otherwise."""
    numbers = isinstance(before, (int, float)) and isinstance(after, (int, float)) and not isinstance(before, bool)
    return (0 if after > before else 1) if numbers else 2


def _members(ways: Ways[Any], by: str | Iterable[Any]) -> list[str]:
    """The group of each person, as text."""
    rows = len(set(_pandas.people(ways._lines, ways._columns)))
    if isinstance(by, str):
        known = ways._source.columns()
        if by not in known:
            raise DataError(
                f"by: X has no column `{by}`, expected one of {', '.join(known)}\nhint: or pass a value for each person"
            )
        values = ways._source.values(by, range(rows))
    else:
        values = _frames.column(by, "by").to_pylist()
    if len(values) != rows:
        raise DataError(f"by: expected {rows} values, one for each row of X, found {len(values)}")
    return ["unknown" if value is None or value != value else cell(value) for value in values]


def _fares(name: str, people: list[tuple[Any, ...]]) -> dict[str, Any]:
    denied = [person for person in people if person[0] == 1 or person[1] in ("not_found", "unverified")]
    ways = [person for person in denied if person[0] == 1]
    efforts = [effort for _, _, effort, _ in ways]
    low, high = _wilson(len(ways), len(denied))
    mean = sum(efforts) / len(efforts) if efforts else None
    own: dict[str, Any] = {"group": name, "people": len(people), "denied": len(denied), "with_way": len(ways)}
    own |= {"share": len(ways) / len(denied) if denied else None, "share_low": low, "share_high": high}
    own |= {"effort": mean, "effort_low": None, "effort_high": None}
    if mean is not None and len(efforts) > 1:
        variance = sum((effort - mean) ** 2 for effort in efforts) / (len(efforts) - 1)
        reach = _NORMAL_QUANTILE * math.sqrt(variance / len(efforts))
        own |= {"effort_low": max(mean - reach, 0.0), "effort_high": mean + reach}
    own["changes"] = sum(changes for *_, changes in ways) / len(ways) if ways else None
    return own


def _wilson(successes: int, of: int) -> tuple[float | None, float | None]:
    """The ends of Wilson's interval of a share."""
    if of == 0:
        return None, None
    share, square = successes / of, _NORMAL_QUANTILE**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    reach = _NORMAL_QUANTILE / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of**2))
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def _interval(own: dict[str, Any]) -> list[float] | None:
    """The mean effort with the ends of its interval, which are itself for a single person."""
    ends = [own["effort"] if end is None else end for end in (own["effort_low"], own["effort_high"])]
    return None if own["effort"] is None else [own["effort"], *ends]
