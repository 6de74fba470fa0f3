"""One person's answer, with its notebook view."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any, Mapping, Union

import pyarrow as pa

from . import _frames
from ._cells import from_cell
from .plots import Plot

Value = Union[str, int, float, bool, None]
"""The value of a feature, in the type that its column came in; `None` if it is missing."""


@dataclass(frozen=True)
class Change:
    """One feature of a way that changes."""

    feature: str
    from_: Value
    """The old value."""
    to: Value
    """The new value."""
    lowest: float | None
    """The lowest number that suffices, if an interval does."""
    highest: float | None
    """The highest."""
    least: float | None
    """For a classifier that reads numbers: the number nearest to the person's own from which on it is proved to be
    enough, up to the new value, together with the `least` of the other changes."""
    sentence: str
    """In plain words."""
    effort: float
    """What it costs the person."""
    months: int
    """How many months it takes."""
    alone: float | None
    """The probability of acceptance if only this changes; `None` for a consequence, and where it cannot change alone."""
    harm: bool
    """Whether it makes something worse that the schema says should improve."""
    counter_offer: bool
    """Whether it is a term of the request, so that the lender makes it."""


@dataclass(frozen=True)
class Way:
    """A row that this person could become and be accepted."""

    rank: int
    changes: tuple[Change, ...]
    """The features that the person changes, in the order of the schema."""
    consequences: tuple[Change, ...]
    """The features that change with them: clocks, and what is computed from others."""
    probability: float
    """The score: the probability of acceptance, or the predicted number."""
    score_words: str
    """The score in words: `probability 0.712`, or `predicted 52,300`."""
    log_likelihood: float
    """log p⁺ of the row, in nats."""
    conditional_log_likelihood: float
    """log p⁺ of the row, given what the person cannot change."""
    percentile: float
    """The share of accepted rows that are no likelier, each given the same features of its own."""
    effort: float
    """What its changes cost the person: the sum over them of a weight times a size."""
    months: int
    """How many months it takes: as long as its longest change."""
    has_margin: bool
    """Whether the score is beyond the threshold by the request's margin, as is all that it must withstand."""
    accepting: tuple[int, int] | None
    """How many other versions of the classifier accept it, and how many there are; `None` for a model without versions."""
    certified: float | None
    """It is accepted by every network, or all trees, within so much of the classifier; `None` without `certify`."""
    lasting_words: str | None
    """Both in words."""
    similarity: float
    distance: float
    method: str
    solves: str
    """The problem that it solves: `least_effort` of all ways that are plausible and sure, or `likeliest`."""
    optimal: bool | None
    """Whether it is proved that nothing with at most as many changes solves the problem better; `None` without a proof."""
    gap: float | None
    """How much better something with at most as many changes could be, in effort or in nats; `None` without a proof."""
    proof: str | None
    """The proof in words."""
    difference: float | None
    """How different its changes are from those of the most similar way before it, from 0 to 1; `None` for the first."""
    best_at: tuple[str, ...]
    """What it is best at among all ways and the frontier: `least_effort`, `fewest_changes`, `most_common`, `surest`,
    `soonest`, `lasting`."""
    row: dict[str, Value]
    """Its values."""


@dataclass(frozen=True)
class Point:
    """The best row found with a number of changes."""

    changes: int
    probability: float
    log_likelihood: float
    conditional_log_likelihood: float
    percentile: float
    effort: float
    months: int
    gap: float | None
    sentences: tuple[str, ...]


class Explanation:
    """One person and the answer. In a notebook it shows the changes and the frontier.

    `str()` of it is the text that `par explain` prints. Values have the types of the row: a whole number is an `int`.
    """

    def __init__(self, answer: str, text: str, svg: str | None, id: object, types: Mapping[str, pa.DataType], kind: str) -> None:
        self._answer: dict[str, Any] = json.loads(answer)
        self._text = text
        self._svg = svg
        self._id = id
        self._types = types
        self.kind = kind
        """The kind of frame that the person came in: `pandas`, `polars` or `pyarrow`."""

    @property
    def id(self) -> object:
        """The person's id in the table, or the row's number."""
        return self._id

    @property
    def status(self) -> str:
        """`found`, `accepted` or `not_found`; `unverified` and `unverified_accepted` where a surrogate decided."""
        return self._answer["status"]

    @property
    def reason(self) -> str | None:
        """Why there is no way."""
        return self._answer["reason"]

    @property
    def remedy(self) -> str | None:
        """Which of this person's own wishes to lift for a way, if known."""
        return self._answer["remedy"]

    @property
    def schema_obstacles(self) -> list[str] | None:
        """For an auditor: the schema's constraints to lift for a way, in words; `None` without `auditor`."""
        obstacles = self._answer["schema_obstacles"]
        return None if obstacles is None else [obstacle["words"] for obstacle in obstacles]

    @property
    def unusual(self) -> list[Way] | None:
        """For an auditor: accepted rows that are rarer than `min_percentile` allows; `None` without `auditor`."""
        ways = self._answer["unusual"]
        return None if ways is None else [self._way(way) for way in ways]

    @property
    def broken_policies(self) -> list[str]:
        """The policies of the lender that the row as it is breaks."""
        return self._answer["broken_policies"]

    @property
    def if_known(self) -> list[str]:
        """A sentence for each unknown value that would decide."""
        return [one["sentence"] for one in self._answer["if_known"]]

    @property
    def fewest_proved(self) -> bool | None:
        """Whether it is proved that fewer changes than those of the first point of the frontier do not suffice; `None`
        without a way."""
        return self._answer["fewest_proved"]

    @property
    def probability(self) -> float:
        """The score of the row as it is: the probability that it is accepted, or the predicted number."""
        return self._answer["probability"]

    @property
    def threshold(self) -> float:
        """The score from which on a row is accepted."""
        return self._answer["threshold"]

    @property
    def score_words(self) -> str:
        """Both in words: `probability 0.412, threshold 0.500`, or `predicted 46,300, at least 50,000 is needed`."""
        return self._answer["score_words"]

    @property
    def row(self) -> dict[str, Value]:
        """The person's values."""
        return self._values(self._answer["row"])

    @property
    def ways(self) -> list[Way]:
        """The ways, in the requested order."""
        return [self._way(way) for way in self._answer["ways"]]

    @property
    def plain(self) -> Way | None:
        """The first way of the same request without `robust`, `certify` and `slack`; `None` if it has none of them, or
        there is no way."""
        way = self._answer["plain"]
        return None if way is None else self._way(way)

    @property
    def price_of_lasting(self) -> str | None:
        """What the first way costs more than the `plain` one, in words."""
        return self._answer["price_of_lasting"]

    @property
    def frontier(self) -> list[Point]:
        """The best rows found for the problem of the first way, by their number of changes."""
        return [Point(**{**point, "sentences": tuple(point["sentences"])}) for point in self._answer["frontier"]]

    def to_dict(self) -> dict[str, Any]:
        """The answer as a dict, as in `par explain --json`."""
        return json.loads(json.dumps(self._answer))

    def plot(self) -> Plot[Any] | None:
        """Likelihood against number of changes; `None` without a way. `par_recourse.plots` has others."""
        if self._svg is None:
            return None
        points = [{name: value for name, value in vars(point).items() if name != "sentences"} for point in self.frontier]
        data = _frames.write_plain(self.kind, pa.Table.from_pylist(points))
        return Plot(self._svg, data, "The log-likelihood of the best row by the number of changes")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        ways = len(self._answer["ways"])
        return f"<Explanation {self.id}: {self.status}, {ways} way{'' if ways == 1 else 's'}>"

    def _repr_html_(self) -> str:
        unverified = ", by a surrogate of the classifier (unverified)" if "unverified" in self.status else ""
        parts = [
            f"<p><b>{escape(str(self.id))}</b>: {'accepted' if 'accepted' in self.status else 'denied'}, "
            f"{escape(self.score_words)}{unverified}</p>"
        ]
        for sentence in [*(f"not met: {policy}" for policy in self.broken_policies), *self.if_known]:
            parts.append(f"<p>{escape(sentence)}</p>")
        for way in self.ways:
            changes = f"{len(way.changes)} change{'' if len(way.changes) == 1 else 's'}, {_cost(way)}"
            rows = "".join(f"<tr>{_cells(change)}</tr>" for change in way.changes)
            rows += "".join(f"<tr>{_cells(change, 'then ')}</tr>" for change in way.consequences)
            parts.append(
                '<p style="margin: 1em 0 0">'
                f"way {way.rank}: {changes}{self._virtues(way)}, accepted: {escape(way.score_words)}, "
                f"{_likelier(way.percentile)}</p>"
                "<table><thead><tr><th>feature</th><th>from</th><th>to</th></tr></thead>"
                f"<tbody>{rows}</tbody></table>"
            )
        if self.price_of_lasting is not None:
            parts.append(f"<p>{escape(self.price_of_lasting)}</p>")
        if self.status == "not_found":
            # The last paragraph of the text says why.
            reason = self._text.split("\n\n")[-1].strip()
            parts.append(f"<p>{escape(reason).replace(chr(10), '<br>')}</p>")
        elif not self.ways:
            parts.append("<p>nothing has to change</p>")
        plot = self.plot()
        if plot is not None:
            parts.append(plot._repr_html_())
        return "".join(parts)

    def _values(self, cells: Mapping[str, str]) -> dict[str, Value]:
        return {name: from_cell(text, self._types[name]) for name, text in cells.items()}

    def _change(self, fields: Mapping[str, Any]) -> Change:
        names = ("feature", "sentence", "effort", "months", "alone", "harm", "counter_offer")
        data_type = self._types[fields["feature"]]
        return Change(
            from_=from_cell(fields["from"], data_type),
            to=from_cell(fields["to"], data_type),
            lowest=fields.get("lowest"),
            highest=fields.get("highest"),
            least=fields.get("least"),
            **{name: fields[name] for name in names},
        )

    def _way(self, way: Mapping[str, Any]) -> Way:
        changes, consequences = (tuple(map(self._change, way[name])) for name in ("changes", "consequences"))
        accepting = None if way["accepting"] is None else (way["accepting"]["versions"], way["accepting"]["of"])
        own = {"changes": changes, "consequences": consequences, "best_at": tuple(way["best_at"]), "accepting": accepting}
        return Way(**{**way, **own, "row": self._values(way["row"])})

    def _virtues(self, way: Way) -> str:
        """What a way is best at, if there is another to compare it with."""
        if len(self.ways) == 1 and len(self.frontier) <= 1 or not way.best_at:
            return ""
        return f" ({', '.join(virtue.replace('_', ' ') for virtue in way.best_at)})"


def _likelier(share: float) -> str:
    people = "all" if share >= 1 else f"{int(100 * share) or 'less than 1'} % of"
    return f"likelier than {people} accepted people, given what cannot change"


def _cost(way: Way) -> str:
    """What a way takes, and whether it misses the margin."""
    years, months = divmod(way.months, 12)
    units = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in ((years, "year"), (months, "month")) if count]
    takes = f", takes {' and '.join(units)}" if units else ""
    return f"effort {way.effort:.1f}{takes}{'' if way.has_margin else ', close to the threshold'}"


def _cells(change: Change, before: str = "") -> str:
    sentence = change.sentence.removeprefix(f"{change.feature}: ")
    old, _, new = sentence.partition(" → ")
    harm = " (a change for the worse)" if change.harm else ""
    return "".join(f"<td>{escape(cell)}</td>" for cell in (f"{before}{change.feature}", old, f"{new}{harm}"))
