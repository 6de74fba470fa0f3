"""Trains the surrogate of a classifier where it matters: on the rows that answering asks the classifier about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from . import _native
from ._request import Request, answer_with_attempts
from ._verification import log_odds
from .classifier import Supplied
from .progress import Listener

SETTINGS: dict[str, dict[str, Any]] = {"bins": {"bins": 30}, "classifier": {"hidden": [64, 32]}}
"""The settings of a surrogate unless told otherwise. It reads codes, so that coarse bins hide what a function does within
them. Chosen on German Credit's boosted trees, where 10 bins and 20 by 10 units left 14 of 75 people without a way, and
these 9."""
ROUNDS = 5
"""How often the surrogate is trained again, at most."""
PATIENCE = 2
"""It ends after so many rounds in which coverage did not rise."""
PEOPLE = 100
"""Denied people whose ways are learned from in each round, and as many others by whom coverage is measured."""
ROWS = 20_000
"""The most training rows that it learns from, beside what was asked."""
MIXED = 10_000
"""Rows between denied and accepted ones that are learned from."""
HELD_OUT = 5
"""One training row in so many measures how often surrogate and classifier agree."""
NEAR = 1.0
"""Rows so near to the threshold, in log-odds, count twice."""
ASKED = 3.0
"""The weight of a row that was asked about."""
_IS_LEARNED = "__is_learned__"
"""The column that says whether a person's ways are learned from."""


@dataclass(frozen=True)
class Coverage:
    """How many denied people got a way that the classifier itself accepts, of those who were asked to measure it.

    By these people the round was chosen, too, so that others may get a way a little less often.
    """

    found: int
    of: int
    at_once: int
    """How many of them at the first attempt."""


class _Examples:
    """What a surrogate learns from."""

    def __init__(self, rows: pa.Table, scores: list[float], weights: list[float]) -> None:
        self.rows, self.scores, self.weights = rows, scores, weights

    def add(self, rows: pa.Table, scores: Any, weight: float) -> None:
        """Adds rows of the same columns, all with the same weight."""
        self.rows = pa.concat_tables([self.rows.cast(rows.schema, safe=False), rows])
        self.scores += list(scores)
        self.weights += [weight] * len(scores)


class _Recorder:
    """The classifier, which takes note of what it is asked about people to learn from."""

    def __init__(self, supplied: Supplied) -> None:
        self.supplied = supplied
        self.asked: list[pa.Table] = []
        self.scores: list[float] = []

    def probabilities(self, table: pa.Table) -> Any:
        """The probability of acceptance of every row."""
        scores = self.supplied.probabilities(table)
        is_learned = table.column(_IS_LEARNED).to_numpy()
        self.asked.append(table.filter(pa.array(is_learned)))
        self.scores.extend(scores[is_learned])
        return scores

    def taken(self) -> tuple[pa.Table, list[float]]:
        """The rows since the last call, and their scores."""
        taken = pa.concat_tables(self.asked), self.scores
        self.asked, self.scores = [], []
        return taken


def train(
    model: _native.Model, supplied: Supplied, table: pa.Table, progress: Listener | None
) -> _native.Model:
    """The model with a surrogate that has learned from the ways it proposed; its card has the measured coverage.

    In each round denied people of the table are answered, and what the classifier says of them and of their ways is learned
    from. It ends when coverage stops rising: when no more of the other people get a way, or get it at once. The best
    surrogate is kept. Neither the people of whom coverage is measured nor those of whom agreement is are learned from; but
    it is by the former that the best one is chosen.
    """
    import numpy

    scores, threshold = supplied.numbers, model.threshold
    place, is_denied = numpy.arange(table.num_rows), scores < threshold
    held_out, measured = place[::HELD_OUT], _spread(place[is_denied][::2], PEOPLE)
    is_learned = ~numpy.isin(place, [*held_out, *measured])
    denied, accepted = place[is_learned & is_denied], place[is_learned & ~is_denied]
    if len(denied) == 0 or len(accepted) == 0:
        return model
    base = _spread(place[is_learned], ROWS)
    is_near = numpy.abs(log_odds(scores[base]) - log_odds(threshold)) < NEAR
    weights = numpy.where(is_near, 2.0, 1.0)

    rows = table.select(model.features).take(pa.array(base))
    mixed = _mixed(table, denied, accepted)
    examples = _Examples(rows, list(scores[base]), list(weights))
    examples.add(mixed.select(model.features), supplied.probabilities(mixed), 1.0)

    recorder = _Recorder(supplied)
    best, most, since = model, Coverage(-1, 0, 0), 0
    for round_ in range(ROUNDS):
        trained = model.train_surrogate(examples.rows, examples.scores, examples.weights, progress=progress)
        # Other people in each round, as far as there are enough.
        learners = _spread(denied[round_ % max(len(denied) // PEOPLE, 1) :], PEOPLE)
        coverage = _answered(trained, recorder, table, measured, learners)
        if (coverage.found, coverage.at_once) > (most.found, most.at_once):
            best, most, since = trained, coverage, 0
        else:
            since += 1
        if since == PATIENCE or coverage.at_once == coverage.of:
            break
        asked, said = recorder.taken()
        examples.add(asked.select(model.features), said, ASKED)
    said = best.probability(table.take(pa.array(held_out))).column(0).to_numpy() >= threshold
    agreement = int((said == (scores[held_out] >= threshold)).sum()), len(held_out)
    return best.complete_surrogate(agreement, (most.found, most.of), progress=progress)


def _mixed(table: pa.Table, denied: Any, accepted: Any) -> pa.Table:
    """Denied rows with some cells of accepted ones, and the other way round: like ways, and nearer to the threshold than
    the rows of a table are."""
    import numpy

    random = numpy.random.default_rng(0)
    own, other = random.choice(denied, MIXED), random.choice(accepted, MIXED)
    is_swapped = random.random(MIXED) < 0.5
    own, other = numpy.where(is_swapped, other, own), numpy.where(is_swapped, own, other)
    # From few cells to half of them.
    share = random.random(MIXED) / 2
    columns = {}
    for name in table.column_names:
        places = numpy.where(random.random(MIXED) < share, other, own)
        columns[name] = table.column(name).take(pa.array(places))
    return pa.table(columns)


def _answered(
    model: _native.Model, recorder: _Recorder, table: pa.Table, measured: Any, learned: Any
) -> Coverage:
    """Answers both groups of people at once, and measures the coverage of the first."""
    import numpy

    who = numpy.concatenate([measured, learned])
    is_learned = pa.array(numpy.arange(len(who)) >= len(measured))
    people = table.take(pa.array(who)).append_column(_IS_LEARNED, is_learned)
    judged = replace(recorder.supplied, judge=recorder, is_surrogate=True)
    lines, attempts = answer_with_attempts(model, judged, Request(), people, id=None)
    columns = dict(model.columns)
    found = pc.filter(lines.column(columns["id"]), pc.equal(lines.column(columns["status"]), "found")).to_numpy()
    found = found[found < len(measured)]
    at_once = sum(attempts[person] == (model.threshold, None) for person in found)
    return Coverage(len(found), len(measured), at_once)


def _spread(places: Any, count: int) -> Any:
    """At most so many of them, evenly spread."""
    return places[:: max(-(-len(places) // count), 1)]
