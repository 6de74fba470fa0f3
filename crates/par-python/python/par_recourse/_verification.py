"""Answers checked by the classifier itself: they were found with a surrogate of it, or with its ONNX file, which rounds
differently."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from . import _native


class Scorer(Protocol):
    """The classifier itself."""

    def probabilities(self, table: pa.Table) -> Any:
        """The probability of acceptance of every row."""


DENIED_WAYS = "unverified: the classifier denies the ways that were found"
DENIED_PERSON = "unverified: the classifier denies this row, which was taken for accepted"
NO_WAYS = "unverified: a surrogate of the classifier finds no way"
_FINAL = ("all_unknown", "nothing_to_change")
"""Reasons that hold whatever the classifier says."""
_PROVED = ("out_of_reach", "only_unusual")
"""Reasons that are proofs, which are about a surrogate if one is searched."""

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
_OF_SURROGATE = ("certified", "optimal", "gap")
"""Those of them that a surrogate proves about itself."""


Attempt = tuple[float, "str | None"]
"""The threshold at which a person is answered, and the order if it is not the request's."""
Answer = Callable[[pa.Table, float, "str | None"], pa.Table]
"""Returns the lines of some people at a threshold, and in an order if it is not the request's."""

ROUNDS = 10
"""How often people without a way are answered again, each at a threshold of its own. There is one call of the classifier
per round, for all of them."""
_STEP = 0.25
"""The distance of two thresholds, in log-odds."""
_LOWEST, _HIGHEST = 0.001, 0.999
"""The thresholds to try, as probabilities."""


def verify(
    judge: Scorer,
    is_surrogate: bool,
    answer: Answer,
    people: pa.Table,
    model: _native.Model,
    count: int,
    threshold: float,
    sure: float,
    order: str,
) -> tuple[pa.Table, list[Attempt]]:
    """Lines of answers, verified by the classifier, and the last attempt for each person: its threshold and its order.

    People whose ways it denies are answered again: with the values that are common rather than nearest, as the order
    `likelihood` chooses them, and then at a higher threshold, by as much as the surrogate erred about them. People for whom
    the surrogate finds no way are answered again at a lower one.

    Parameters
    ----------
    is_surrogate:
        Whether the search uses a surrogate, so that proofs are about the surrogate.
    people:
        The rows to answer.
    model:
        The model, which has the names of the columns.
    sure:
        The probability from which on a way has the margin.
    """
    import numpy

    columns = dict(model.columns)
    ladder = _Ladder(people.num_rows, threshold)
    everybody = numpy.arange(people.num_rows)
    found = _lines_at(answer, people, everybody, ladder)
    is_lowered = ladder.step < 0
    first = _verified(judge, is_surrogate, found, people, model, count, threshold, sure, order, is_lowered, None)
    lines, person, own = first.lines, first.person, first.own
    ids = lines.column(columns["id"]).take(pa.array(numpy.flatnonzero(numpy.diff(person, prepend=-1))))
    open_ = ladder.climb(everybody, first.outcome, first.error, is_surrogate)
    for _ in range(ROUNDS):
        if len(open_) == 0:
            break
        some = people.take(pa.array(open_))
        found = _lines_at(answer, some, open_, ladder)
        is_lowered = ladder.step[open_] < 0
        more = _verified(judge, is_surrogate, found, some, model, count, threshold, sure, order, is_lowered, own[open_])
        is_found = more.outcome[more.person] == _FOUND
        new = open_[more.person[is_found]]
        is_kept = ~numpy.isin(person, new)
        lines = pa.concat_tables([lines.filter(pa.array(is_kept)), more.lines.filter(pa.array(is_found))])
        person = numpy.concatenate([person[is_kept], new])
        by_person = numpy.argsort(person, kind="stable")
        lines, person = lines.take(pa.array(by_person)), person[by_person]
        open_ = ladder.climb(open_, more.outcome, more.error, is_surrogate)
    # Rows without ids are numbered from 0 in each call, so the ids of the first call are restored.
    return _with(lines, 0, ids.take(pa.array(person))), ladder.attempts()


_SETTLED, _FOUND, _DENIED, _NO_WAYS = range(4)
"""The outcomes of a person: accepted or not readable, with a way, with denied ways, and without any."""


class _Ladder:
    """The threshold of each person, in steps from that of the request, and what is known of others."""

    def __init__(self, people: int, threshold: float) -> None:
        import numpy

        self.threshold, self.base = threshold, float(log_odds(threshold))
        self.step = numpy.zeros(people, dtype=int)
        self.denied = numpy.full(people, numpy.iinfo(int).min)
        """The highest step whose ways the classifier denies."""
        self.empty = numpy.full(people, numpy.iinfo(int).max)
        """The lowest step without ways."""
        self.is_common = numpy.zeros(people, dtype=bool)
        """Whether common values are tried."""

    def attempts(self) -> list[Attempt]:
        """The threshold, and the order if it is not the request's, of each person."""
        return [self.attempt(person) for person in range(len(self.step))]

    def attempt(self, person: int) -> Attempt:
        """The same of one person."""
        if self.step[person] == 0:
            level = self.threshold
        else:
            level = 1 / (1 + math.exp(-(self.base + _STEP * int(self.step[person]))))
        return level, "likelihood" if self.is_common[person] else None

    def climb(self, people: Any, outcome: Any, error: Any, is_surrogate: bool) -> Any:
        """Moves people without a way to their next step; returns those who have one."""
        import numpy

        moved = []
        lowest = int(numpy.floor((log_odds(_LOWEST) - self.base) / _STEP))
        highest = int(numpy.floor((log_odds(_HIGHEST) - self.base) / _STEP))
        for person, result, wrong in zip(people, outcome, error):
            step = int(self.step[person])
            if result == _DENIED:
                self.is_common[person] = is_surrogate and not self.is_common[person]
                if self.is_common[person]:
                    moved.append(person)
                    continue
                self.denied[person] = max(self.denied[person], step)
                wanted = max(step + 1, int(numpy.ceil(wrong / _STEP)))
                if wanted >= self.empty[person]:
                    wanted = (self.denied[person] + self.empty[person]) // 2
            elif result == _NO_WAYS and is_surrogate:
                self.is_common[person] = False
                self.empty[person] = min(self.empty[person], step)
                known = self.denied[person] > lowest
                wanted = (self.denied[person] + self.empty[person]) // 2 if known else step - 3
            else:
                continue
            wanted = min(max(wanted, lowest), highest)
            if wanted != step and self.denied[person] < wanted < self.empty[person]:
                self.step[person] = wanted
                moved.append(person)
        return numpy.array(moved, dtype=int)


def log_odds(probability: Any) -> Any:
    """Log-odds of probabilities, of which 0 and 1 are taken for nearly so."""
    import numpy

    inside = numpy.clip(probability, _LOWEST, _HIGHEST)
    return numpy.log(inside / (1 - inside))


def _lines_at(
    answer: Answer, people: pa.Table, who: Any, ladder: _Ladder
) -> pa.Table:
    """The lines of people, each at the own threshold and order: those with the same ones together."""
    import numpy

    kinds = 2 * ladder.step[who] + ladder.is_common[who]
    if not kinds.any():
        return answer(people, ladder.threshold, None)
    parts, persons = [], []
    for kind in numpy.unique(kinds):
        some = numpy.flatnonzero(kinds == kind)
        parts.append(answer(people.take(pa.array(some)), *ladder.attempt(who[some[0]])))
        persons.append(some[_person(parts[-1])])
    return pa.concat_tables(parts).take(pa.array(numpy.argsort(numpy.concatenate(persons), kind="stable")))


def _person(lines: pa.Table) -> Any:
    """The number of the person of each line: a new one begins without a rank, or with rank 1."""
    import numpy

    # The second of our columns, whatever its name is.
    return numpy.cumsum(lines.column(1).fill_null(0).to_numpy() <= 1) - 1


@dataclass(frozen=True)
class _Verified:
    """Lines that the classifier has verified, and what became of each person."""

    lines: pa.Table
    person: Any
    """The number of the person of each line."""
    own: Any
    """The classifier's probability of each person as they are."""
    outcome: Any
    error: Any
    """By how much a surrogate overrates the least overrated way of each person, in log-odds."""


def _verified(
    judge: Scorer,
    is_surrogate: bool,
    lines: pa.Table,
    people: pa.Table,
    model: _native.Model,
    count: int,
    threshold: float,
    sure: float,
    order: str,
    is_lowered: Any,
    own: Any,
) -> _Verified:
    """Lines verified by the classifier; `own` are its probabilities of the people, if they are known.

    A person whom it accepts has one line. Ways that it denies are left out; the others are ordered again by its
    probabilities, at most `count` for each person. A person without ways is not found. Proofs about a surrogate are
    left out, and so is what other versions of the classifier say of the ways of people with a threshold that `is_lowered`.
    """
    import numpy

    features, columns = model.features, dict(model.columns)
    lines = lines.combine_chunks()
    rank = lines.column(columns["rank"]).fill_null(0).to_numpy()
    status = numpy.array(lines.column(columns["status"]).to_pylist(), dtype=object)
    firsts, person = numpy.flatnonzero(rank <= 1), _person(lines)

    people = _typed(people, lines, features)
    is_read, is_candidate = status[firsts] != "error", rank > 0
    candidates = numpy.flatnonzero(is_candidate)
    # People and their ways in one call: a pipeline takes as long for one row as for hundreds.
    asked = is_read if own is None else numpy.zeros_like(is_read)
    rows = [people.filter(pa.array(asked)), _rows(lines, people, features, candidates, person[candidates])]
    scores = judge.probabilities(pa.concat_tables(rows))
    own = numpy.full(len(firsts), numpy.nan) if own is None else own
    probability = numpy.full(len(rank), numpy.nan)
    own[asked], probability[candidates] = scores[: rows[0].num_rows], scores[rows[0].num_rows :]
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
    said[is_lowered[person]] = [text.replace("lasting", "") for text in said[is_lowered[person]]]
    ranks, best_at = _places(is_good, person, facts, said, count, order)
    is_chosen = ranks > 0
    is_chosen[firsts] |= ~numpy.isin(numpy.arange(len(firsts)), person[is_chosen])

    said_score = lines.column(columns["probability"]).fill_null(numpy.nan).to_numpy()
    wrong = log_odds(said_score) - log_odds(numpy.where(is_candidate, probability, own[person]))
    error = numpy.full(len(firsts), numpy.inf)
    numpy.fmin.at(error, person, wrong)
    was_accepted = numpy.isin(status[firsts], ["accepted", "unverified_accepted"])
    reasons = lines.column(columns["reason"]).take(pa.array(firsts)).to_pylist()
    is_final = numpy.array([str(reason).startswith(_FINAL) for reason in reasons], dtype=bool)
    outcome = numpy.where(is_candidate[firsts] | was_accepted, _DENIED, _NO_WAYS)
    outcome[person[ranks > 0]] = _FOUND
    outcome[is_accepted | ~is_read | is_final] = _SETTLED

    kept = numpy.flatnonzero(is_chosen)
    kept = kept[numpy.lexsort((ranks[kept], person[kept]))]
    person, ranks, was_way = person[kept], ranks[kept], rank[kept] > 0
    is_way = ranks > 0
    out = lines.take(pa.array(kept))
    new = {
        "rank": pa.array(ranks, mask=~is_way),
        "status": _statuses(status[kept], is_way, is_accepted[person]),
        "reason": _reasons(
            out.column(columns["reason"]), status[kept], was_way, is_way, is_accepted[person], is_surrogate
        ),
        "probability": pa.array(numpy.where(is_way, probability[kept], own[person]), from_pandas=True),
        "has_margin": pa.array(facts.is_sure[kept], mask=~is_way),
        "best_at": pa.array(best_at[kept], pa.string()),
    }
    for name in _AS_FOUND:
        column = out.column(columns[name])
        is_valid = is_way & (not is_surrogate or name not in _OF_SURROGATE)
        if name == "accepting":
            is_valid &= ~is_lowered[person]
        new[name] = pc.if_else(pa.array(is_valid), column, pa.scalar(None, column.type))
    for name, column in new.items():
        out = _with(out, out.column_names.index(columns[name]), column)
    out = _as_they_are(out, people, features, person, was_way & ~is_way)
    return _Verified(out, person, own, outcome, error)


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


def _reasons(
    reason: pa.ChunkedArray, status: Any, was_way: Any, is_way: Any, is_accepted: Any, is_surrogate: bool
) -> pa.ChunkedArray:
    import numpy

    if is_surrogate:
        is_proof = [str(text).startswith(_PROVED) for text in reason.to_pylist()]
        reason = pc.if_else(pa.array(is_proof, pa.bool_()), pa.scalar(NO_WAYS), reason)
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
