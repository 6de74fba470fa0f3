"""Answers checked by the classifier itself: they were found with a surrogate of it, or with its ONNX file, which rounds
differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import pyarrow as pa
import pyarrow.compute as pc

from . import _native
from ._judge import Judge

DENIED_WAYS = "unverified: the classifier denies the ways that were found"
DENIED_PERSON = "unverified: the classifier denies this row, which was taken for accepted"

_AS_FOUND = (
    "log_likelihood",
    "conditional_log_likelihood",
    "percentile",
    "changes",
    "effort",
    "months",
    "accepting",
    "certified",
    "similarity",
    "method",
    "solves",
    "optimal",
    "gap",
)
"""The columns of a way that the classifier itself does not change; they are empty without a way."""


_STRICTER = (0.3, 0.6)
"""A surrogate errs by a few hundredths. People whom that leaves without a way are answered again with a higher threshold:
by these shares of the distance between the threshold and 1."""


def verify(
    judge: Judge,
    is_surrogate: bool,
    answer: Callable[[pa.Table, float], pa.Table],
    people: pa.Table,
    model: _native.Model,
    count: int,
    threshold: float,
    sure: float,
    order: str,
) -> pa.Table:
    """Lines of answers, verified by the classifier.

    Parameters
    ----------
    is_surrogate:
        Whether the search uses a surrogate, so that proofs are about the surrogate.
    answer:
        Returns the lines of some people at a threshold.
    people:
        The rows to answer.
    model:
        The model, which has the names of the columns.
    sure:
        The probability from which on a way has the margin.
    """
    import numpy

    columns = dict(model.columns)
    lines, person = _verify_once(
        judge, is_surrogate, answer(people, threshold), people, model, count, threshold, sure, order
    )
    ids = lines.column(columns["id"]).take(pa.array(numpy.flatnonzero(numpy.diff(person, prepend=-1))))
    for share in _STRICTER:
        open_ = person[_is_open(lines.column(columns["reason"]))]
        if len(open_) == 0:
            break
        some = people.take(pa.array(open_))
        wanted = threshold + share * (1 - threshold)
        more, own = _verify_once(
            judge, is_surrogate, answer(some, wanted), some, model, count, threshold, sure, order
        )
        own = open_[own]
        is_found = numpy.array(more.column(columns["status"]).to_pylist(), dtype=object) == "found"
        more, own = more.filter(pa.array(is_found)), own[is_found]
        is_chosen = ~numpy.isin(person, own)
        lines = pa.concat_tables([lines.filter(pa.array(is_chosen)), more])
        person = numpy.concatenate([person[is_chosen], own])
        by_person = numpy.argsort(person, kind="stable")
        lines, person = lines.take(pa.array(by_person)), person[by_person]
    # Rows without ids are numbered from 0 in each call, so the ids of the first call are restored.
    return _with(lines, 0, ids.take(pa.array(person)))


def _is_open(reasons: pa.ChunkedArray) -> Any:
    """Whether a person has no way because only the surrogate accepts the person or the ways."""
    import numpy

    return numpy.isin(numpy.array(reasons.to_pylist(), dtype=object), [DENIED_WAYS, DENIED_PERSON])


def _verify_once(
    judge: Judge,
    is_surrogate: bool,
    lines: pa.Table,
    people: pa.Table,
    model: _native.Model,
    count: int,
    threshold: float,
    sure: float,
    order: str,
) -> tuple[pa.Table, Any]:
    """Lines verified by the classifier, and the number of the person of each.

    A person whom it accepts has one line. Ways that it denies are left out; the others are ordered again by its
    probabilities, at most `count` for each person. A person without ways is not found. Proofs about a surrogate are
    left out.
    """
    import numpy

    features, columns = model.features, dict(model.columns)
    lines = lines.combine_chunks()
    rank = lines.column(columns["rank"]).fill_null(0).to_numpy()
    status = numpy.array(lines.column(columns["status"]).to_pylist(), dtype=object)
    firsts = numpy.flatnonzero(rank <= 1)
    person = numpy.cumsum(rank <= 1) - 1

    people = _typed(people, lines, features)
    is_read, is_candidate = status[firsts] != "error", rank > 0
    candidates = numpy.flatnonzero(is_candidate)
    # People and their ways in one call: a pipeline takes as long for one row as for hundreds.
    rows = [people.filter(pa.array(is_read)), _rows(lines, people, features, candidates, person[candidates])]
    scores = judge.probabilities(pa.concat_tables(rows))
    own, probability = numpy.full(len(firsts), numpy.nan), numpy.full(len(rank), numpy.nan)
    own[is_read], probability[candidates] = scores[: rows[0].num_rows], scores[rows[0].num_rows :]
    is_accepted = own >= threshold
    facts = _Facts(
        effort=lines.column(columns["effort"]).fill_null(0.0).to_numpy(),
        changes=lines.column(columns["changes"]).fill_null(0).to_numpy(),
        months=lines.column(columns["months"]).fill_null(0).to_numpy(),
        likelihood=lines.column(columns["log_likelihood"]).fill_null(numpy.nan).to_numpy(),
        probability=probability,
        is_sure=probability >= sure,
    )
    is_good = (probability >= threshold) & ~is_accepted[person]
    said = numpy.array([text or "" for text in lines.column(columns["best_at"]).to_pylist()], dtype=object)
    ranks, best_at = _places(is_good, person, facts, said, count, order)
    is_chosen = ranks > 0
    is_chosen[firsts] |= ~numpy.isin(numpy.arange(len(firsts)), person[is_chosen])

    kept = numpy.flatnonzero(is_chosen)
    kept = kept[numpy.lexsort((ranks[kept], person[kept]))]
    person, ranks, was_way = person[kept], ranks[kept], rank[kept] > 0
    is_way = ranks > 0
    out = lines.take(pa.array(kept))
    new = {
        "rank": pa.array(ranks, mask=~is_way),
        "status": _statuses(status[kept], is_way, is_accepted[person]),
        "reason": _reasons(out.column(columns["reason"]), status[kept], was_way, is_way, is_accepted[person]),
        "probability": pa.array(numpy.where(is_way, probability[kept], own[person]), from_pandas=True),
        "has_margin": pa.array(facts.is_sure[kept], mask=~is_way),
        "best_at": pa.array(best_at[kept], pa.string()),
    }
    for name in _AS_FOUND:
        column = out.column(columns[name])
        is_valid = is_way & (not is_surrogate or name not in ("optimal", "gap"))
        new[name] = pc.if_else(pa.array(is_valid), column, pa.scalar(None, column.type))
    for name, column in new.items():
        out = _with(out, out.column_names.index(columns[name]), column)
    return _as_they_are(out, people, features, person, was_way & ~is_way), person


@dataclass(frozen=True)
class _Facts:
    """What ways are compared by: arrays with a value for each line."""

    effort: Any
    changes: Any
    months: Any
    likelihood: Any
    probability: Any
    is_sure: Any
    """Whether the probability has the margin."""

    def of(self, way: int) -> tuple[float, ...]:
        """The facts of a way; more is better."""
        costs = (-self.effort[way], -self.changes[way], -self.months[way])
        return (*costs, self.likelihood[way], self.probability[way])


def _places(is_good: Any, person: Any, facts: _Facts, said: Any, count: int, order: str) -> tuple[Any, Any]:
    """The ranks of the ways of each person, from 1, and what each is best at: among all ways that the classifier accepts,
    and among the frontier, as the search `said`.

    All other lines have rank 0. The order `balanced` drops ways that another one equals or betters in everything, and
    puts those with the margin first; otherwise ways keep their order.
    """
    import numpy

    places, best_at = numpy.zeros(len(person), dtype=int), numpy.full(len(person), None, dtype=object)
    good = numpy.flatnonzero(is_good)
    for ways in numpy.split(good, numpy.flatnonzero(numpy.diff(person[good])) + 1):
        shown = list(ways)
        if order == "balanced":
            shown = [way for way in shown if not any(_dominates(facts.of(other), facts.of(way)) for other in shown)]
            shown = sorted(shown, key=lambda way: not facts.is_sure[way])
        shown = shown[:count]
        for place, way in enumerate(shown, 1):
            is_best_at = {
                "least_effort": facts.effort[way] == min(facts.effort[ways]),
                "fewest_changes": facts.changes[way] == min(facts.changes[ways]),
                "most_common": facts.likelihood[way] == max(facts.likelihood[ways]),
                "soonest": facts.months[way] == min(facts.months[ways]),
                # What other versions of the classifier say is not the classifier's to change.
                "lasting": True,
            }
            said_best = [name for name, is_best in is_best_at.items() if is_best and name in said[way]]
            # The search knew other probabilities.
            is_surest = facts.probability[way] == max(facts.probability[ways])
            places[way] = place
            best_at[way] = "|".join([*said_best, *(["surest"] if is_surest else [])]) or None
    return places, best_at


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether one is no worse in any value, and better in one; more is better."""
    return one != other and all(own >= its for own, its in zip(one, other))


def _rows(lines: pa.Table, people: pa.Table, features: list[str], candidates: Any, person: Any) -> pa.Table:
    """The rows that people could become, with the other columns of the people."""
    rows = people.take(pa.array(person))
    ways = lines.take(pa.array(candidates))
    for name, way in zip(features, ways.columns[-len(features) :]):
        rows = _with(rows, rows.column_names.index(name), way)
    return rows


def _typed(people: pa.Table, lines: pa.Table, features: list[str]) -> pa.Table:
    """The people, with the features in the types of the lines."""
    first = lines.num_columns - len(features)
    for position, name in enumerate(features, first):
        column = people.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        people = _with(people, people.column_names.index(name), column.cast(lines.column(position).type, safe=False))
    return people


def _statuses(status: Any, is_way: Any, is_accepted: Any) -> pa.Array:
    import numpy

    verified = numpy.where(is_way, "found", numpy.where(is_accepted, "accepted", "not_found")).astype(object)
    return pa.array(numpy.where(status == "error", status, verified), pa.string())


def _reasons(reason: pa.ChunkedArray, status: Any, was_way: Any, is_way: Any, is_accepted: Any) -> pa.ChunkedArray:
    import numpy

    nothing = pa.scalar(None, pa.string())
    was_accepted = numpy.isin(status, ["accepted", "unverified_accepted"])
    reason = pc.if_else(pa.array(was_way), pa.scalar(DENIED_WAYS), reason)
    reason = pc.if_else(pa.array(was_accepted), pa.scalar(DENIED_PERSON), reason)
    return pc.if_else(pa.array(is_way | is_accepted), nothing, reason)


def _as_they_are(lines: pa.Table, people: pa.Table, features: list[str], person: Any, which: Any) -> pa.Table:
    """The lines, with the people's own cells in some of them."""
    if not which.any():
        return lines
    first = lines.num_columns - len(features)
    for position, name in enumerate(features, first):
        own = people.column(name).take(pa.array(person))
        lines = _with(lines, position, pc.if_else(pa.array(which), own, lines.column(position)))
    return lines


def _with(table: pa.Table, position: int, column: Any) -> pa.Table:
    return table.set_column(position, pa.field(table.column_names[position], column.type), column)
