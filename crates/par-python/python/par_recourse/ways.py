"""The ways of a table, and what changes in each."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any, Callable, Generic, Iterable, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc

from . import _frames, _pandas
from ._cells import cell

if TYPE_CHECKING:
    from ._types import FrameT
else:
    FrameT = TypeVar("FrameT")

CHANGES = "__changes__"
"""The column of the native half that has the changes of each line."""

_SHOWN = 20
"""Changes that a notebook shows."""


class Ways(Generic[FrameT]):
    """The ways of all rows of a table.

    `frame` has a line for every way, and one for every row without a way, as `Recourse.recourse` returns them; `changes`
    has a line for every feature that changes. Both are frames of the kind that the table was.
    """

    def __init__(
        self, source: _frames.Frame, lines: pa.Table, columns: dict[str, str], features: list[str], id: str | None
    ) -> None:
        # The caller may change the frame later, and `changes` reads the values that it had.
        self._source, self._columns = _frames.kept(source), columns
        self._lines = lines
        self._frame = _frames.write(source, lines.drop_columns([CHANGES]), columns, features, id)

    @property
    def frame(self) -> FrameT:
        """The lines, as `Recourse.recourse` returns them."""
        return cast("FrameT", self._frame)

    def changes(self) -> FrameT:
        """What changes: a line for every change of every way, in the order of the ways.

        Its columns are `id` and `rank` of the way, `feature`, `from`, `to`, `effort` (what the change costs the person),
        `time` (the months that it takes) and `follows`: whether it is a consequence, such as a clock or what is computed
        from others, which costs nothing by itself. Features differ in their types. In a frame of pandas `from` and `to`
        are therefore objects, each the value that `X` and `frame` hold; in polars and pyarrow, whose columns have one
        type, they are text.
        """
        table, line, old, new = self._changed()
        id = self._columns["id"]
        if self._source.kind == "pandas":
            import pandas

            changes = table.to_pandas()
            changes.insert(0, "id", self._frame[id].take(line).array)
            changes.insert(3, "from", pandas.Series(old, dtype=object))
            changes.insert(4, "to", pandas.Series(new, dtype=object))
            return cast("FrameT", changes)
        table = table.add_column(0, "id", self._lines.column(id).take(pa.array(line, pa.int64())))
        for position, (name, values) in enumerate([("from", old), ("to", new)], 3):
            texts = [None if own is None else cell(own) for own in values]
            table = table.add_column(position, name, pa.array(texts, pa.string()))
        return cast("FrameT", _frames.write_plain(self._source.kind, table))

    def _changed(self) -> tuple[pa.Table, list[int], list[Any], list[Any]]:
        """The changes without their ids and values, the line of each, and its old and its new value."""
        ranks = self._lines.column(self._columns["rank"])
        # Where the classifier denied all ways of a person, the line still has the changes of one.
        is_way = pc.is_valid(ranks)
        lines = self._lines.filter(is_way).combine_chunks()
        listed = lines.column(CHANGES)
        changes = pa.Table.from_struct_array(pc.list_flatten(listed))
        of_way = [line for line, is_one in enumerate(is_way.to_pylist()) if is_one]
        line = [of_way[way] for way in pc.list_parent_indices(listed).to_pylist()]
        person = _pandas.people(self._lines, self._columns)
        features = changes.column("feature").to_pylist()
        written = _frames.Frame(self._source.kind, self._lines, self._frame)
        old = _each(self._source.values, features, [person[one] for one in line])
        new = _each(written.values, features, line)
        table = pa.table(
            {
                "rank": ranks.take(pa.array(line, pa.int64())),
                "feature": changes.column("feature"),
                "effort": changes.column("effort"),
                "time": changes.column("months"),
                "follows": changes.column("follows"),
            }
        )
        return table, line, old, new

    def __len__(self) -> int:
        """The number of ways."""
        ranks = self._lines.column(self._columns["rank"])
        return len(ranks) - ranks.null_count

    def __repr__(self) -> str:
        return f"<Ways: {len(self)} for {self._summary()}>"

    def _summary(self) -> str:
        columns = self._columns
        statuses = zip(self._lines.column(columns["rank"]).to_pylist(), self._lines.column(columns["status"]).to_pylist())
        counts = Counter(status for rank, status in statuses if rank in (None, 1))
        parts = ", ".join(f"{count} {status}" for status, count in sorted(counts.items(), key=lambda own: -own[1]))
        return f"{sum(counts.values())} rows: {parts}" if counts else "no rows"

    def _repr_html_(self) -> str:
        table, line, old, new = self._changed()
        ids = _frames.Frame(self._source.kind, self._lines, self._frame).values(self._columns["id"], line[:_SHOWN])
        rows = []
        for id, change, *values in zip(ids, table.slice(0, _SHOWN).to_pylist(), old, new):
            name = f"then {change['feature']}" if change["follows"] else change["feature"]
            rows.append((id, change["rank"], name, *values, f"{change['effort']:.1f}", change["time"]))
        head = _row("th", ("id", "rank", "feature", "from", "to", "effort", "months"))
        more = f"<p>and {len(line) - _SHOWN} more changes: <code>changes()</code></p>" if len(line) > _SHOWN else ""
        body = "".join(_row("td", row) for row in rows)
        title = escape(repr(self).strip("<>"))
        return f"<p>{title}</p><table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def _row(tag: str, cells: Iterable[Any]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(own))}</{tag}>" for own in cells) + "</tr>"


def _each(values: Callable[[str, list[int]], list[Any]], features: list[str], rows: list[int]) -> list[Any]:
    """The value of each feature in its row."""
    places: dict[str, list[int]] = {}
    for place, feature in enumerate(features):
        places.setdefault(feature, []).append(place)
    found: list[Any] = [None] * len(features)
    for feature, own in places.items():
        for place, value in zip(own, values(feature, [rows[place] for place in own])):
            found[place] = value
    return found
