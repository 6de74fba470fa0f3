"""One person's answer, to look at and to work with."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from html import escape
from typing import Any

from .errors import SettingError


@dataclass(frozen=True)
class Change:
    """One feature that becomes another."""

    feature: str
    from_: str
    """What it is, as the table writes it."""
    to: str
    """What it becomes, as the table writes it."""
    lowest: float | None
    """The lowest number that does, where an interval does."""
    highest: float | None
    """The highest."""
    sentence: str
    """In plain words."""


@dataclass(frozen=True)
class Way:
    """A row that this person could become and be accepted."""

    rank: int
    changes: tuple[Change, ...]
    """What is different, in the order of the schema."""
    probability: float
    """The probability of acceptance."""
    log_likelihood: float
    """log p⁺ of the row, in nats."""
    percentile: float
    """The share of accepted rows that are no likelier."""
    similarity: float
    distance: float
    method: str
    optimal: bool | None
    """Whether it is proved that no row with as many changes is likelier; `None` when nobody looked."""
    gap: float | None
    row: dict[str, str]
    """Its cells, as the table writes them."""


@dataclass(frozen=True)
class Point:
    """The likeliest row found with a number of changes."""

    changes: int
    probability: float
    log_likelihood: float
    percentile: float
    gap: float | None
    sentences: tuple[str, ...]


class Explanation:
    """One person and the answer to them. In a notebook it shows the changes, and what more changes buy.

    `str()` of it is the text that `par explain` prints.
    """

    def __init__(self, told: str, text: str, svg: str | None) -> None:
        self._told: dict[str, Any] = json.loads(told)
        self._text = text
        self._svg = svg

    @property
    def id(self) -> str:
        """What the table calls the person."""
        return self._told["id"]

    @property
    def status(self) -> str:
        """`found`, `accepted` or `not_found`; `unverified` and `unverified_accepted` where the classifier was not asked."""
        return self._told["status"]

    @property
    def reason(self) -> str | None:
        """Why there is no way."""
        return self._told["reason"]

    @property
    def remedy(self) -> str | None:
        """What would have to give for a way to be there, as far as it is known."""
        return self._told["remedy"]

    @property
    def probability(self) -> float:
        """The probability that the row is accepted as it is."""
        return self._told["probability"]

    @property
    def threshold(self) -> float:
        """The probability from which on a row is accepted."""
        return self._told["threshold"]

    @property
    def row(self) -> dict[str, str]:
        """The person's cells, as the table writes them."""
        return self._told["row"]

    @property
    def ways(self) -> list[Way]:
        """The ways forward, the best first."""
        return [_way(way) for way in self._told["ways"]]

    @property
    def frontier(self) -> list[Point]:
        """The likeliest rows by their number of changes."""
        return [Point(**{**point, "sentences": tuple(point["sentences"])}) for point in self._told["frontier"]]

    def to_dict(self) -> dict[str, Any]:
        """All of it, as `par explain --json` has it."""
        return json.loads(json.dumps(self._told))

    def plot(self) -> Plot | None:
        """What more changes buy; `None` where there is no way."""
        return None if self._svg is None else Plot(self._svg)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        ways = len(self._told["ways"])
        return f"<Explanation {self.id}: {self.status}, {ways} way{'' if ways == 1 else 's'}>"

    def _repr_html_(self) -> str:
        unverified = ", by a network that imitates the classifier (unverified)" if "unverified" in self.status else ""
        parts = [
            f"<p><b>{escape(self.id)}</b>: {'accepted' if 'accepted' in self.status else 'denied'}, "
            f"probability {self.probability:.3f}, threshold {self.threshold:.3f}{unverified}</p>"
        ]
        for way in self.ways:
            changes = f"{len(way.changes)} change{'' if len(way.changes) == 1 else 's'}"
            rows = "".join(f"<tr>{_cells(change)}</tr>" for change in way.changes)
            parts.append(
                '<table style="margin-top: 1em"><caption style="white-space: nowrap; text-align: left">'
                f"way {way.rank}: {changes}, accepted with probability {way.probability:.3f}, "
                f"{_likelier(way.percentile)}</caption>"
                "<thead><tr><th>feature</th><th>from</th><th>to</th></tr></thead>"
                f"<tbody>{rows}</tbody></table>"
            )
        if self.status == "not_found":
            # As the text has it, which ends with that.
            told = self._text.split("\n\n")[-1].strip()
            parts.append(f"<p>{escape(told).replace(chr(10), '<br>')}</p>")
        elif not self.ways:
            parts.append("<p>nothing has to change</p>")
        plot = self.plot()
        if plot is not None:
            parts.append(plot._repr_html_())
        return "".join(parts)


def _likelier(share: float) -> str:
    if share >= 1:
        return "likelier than all accepted people"
    return f"likelier than {int(100 * share) or 'less than 1'} % of accepted people"


def _cells(change: Change) -> str:
    told = change.sentence.removeprefix(f"{change.feature}: ")
    before, _, after = told.partition(" → ")
    return "".join(f"<td>{escape(cell)}</td>" for cell in (change.feature, before, after))


def _way(way: dict[str, Any]) -> Way:
    def change(told: dict[str, Any]) -> Change:
        return Change(
            told["feature"], told["from"], told["to"], told.get("lowest"), told.get("highest"), told["sentence"]
        )

    return Way(**{**way, "changes": tuple(change(told) for told in way["changes"])})


class Plot:
    """A drawing, as SVG."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the drawing to a file, whose name ends in `.svg`.

        Raises
        ------
        SettingError
            When it ends otherwise: what would be in it is SVG all the same.
        """
        name = os.fspath(path)
        ending = os.path.splitext(name)[1]
        if ending.lower() != ".svg":
            found = f"ends in `{ending}`" if ending else "has no ending"
            raise SettingError(
                f"{name}: {found}, expected `.svg`, the only format that is written\n"
                "hint: other programs convert it, such as `cairosvg plot.svg -o plot.png`"
            )
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # A picture, so that its style stays its own.
        from base64 import b64encode

        data = b64encode(self.svg.encode()).decode()
        return f'<img alt="log-likelihood by number of changes" src="data:image/svg+xml;base64,{data}">'
