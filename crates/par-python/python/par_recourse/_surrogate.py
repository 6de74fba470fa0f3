"""Trains the surrogate of a classifier where it matters: on the rows that answering asks the classifier about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from . import _native
from ._request import Request, answer_with_thresholds
from ._verification import log_odds
from .classifier import Supplied
from .progress import Listener

ROUNDS = 5
"""How often the surrogate is trained again."""
PEOPLE = 100
"""Denied people whose ways are learned from in each round, and as many others by whom coverage is measured."""
ROWS = 20_000
"""The most training rows that it learns from, beside what was asked."""
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
    """How many denied people got a way that the classifier itself accepts, of those who were asked to measure it."""

    found: int
    of: int
    at_once: int
    """How many of them at the first attempt."""

    @property
    def share(self) -> float:
        """The share of people with such a way; 1 if nobody is denied."""
        return self.found / self.of if self.of else 1.0


class _Recorder:
    """The classifier, which takes note of what it is asked about people to learn from."""

    def __init__(self, supplied: Supplied) -> None:
        self.supplied = supplied
        self.rows: list[pa.Table] = []
        self.scores: list[float] = []

    def probabilities(self, table: pa.Table) -> Any:
        """The probability of acceptance of every row."""
        scores = self.supplied.probabilities(table)
        is_learned = table.column(_IS_LEARNED).to_numpy()
        self.rows.append(table.filter(pa.array(is_learned)))
        self.scores.extend(scores[is_learned])
        return scores


def train(
    model: _native.Model, supplied: Supplied, table: pa.Table, progress: Listener | None
) -> tuple[_native.Model, Coverage]:
    """The model with a surrogate that has learned from the ways it proposed, and the measured coverage.

    In each round denied people of the table are answered, and what the classifier says of them and of their ways is learned
    from. It ends when coverage stops rising: when no more of the other people get a way, or get it at once. The best
    surrogate is kept.
    """
    import numpy

    scores, threshold = supplied.numbers, model.threshold
    place = numpy.arange(table.num_rows)
    is_held_out = place % HELD_OUT == 0
    base = _spread(place[~is_held_out], ROWS)
    is_near = numpy.abs(log_odds(scores[base]) - log_odds(threshold)) < NEAR
    weights = numpy.where(is_near, 2.0, 1.0)
    denied = place[scores < threshold]
    measured, learned = _spread(denied[::2], PEOPLE), denied[1::2]

    recorder = _Recorder(supplied)
    best, most, trained = model, Coverage(-1, 0, 0), model
    for round_ in range(ROUNDS + 1):
        # Other people in each round, as far as there are enough.
        learners = _spread(learned[round_ % max(len(learned) // PEOPLE, 1) :], PEOPLE)
        coverage = _answered(trained, recorder, table, measured, learners)
        is_better = (coverage.found, coverage.at_once) > (most.found, most.at_once)
        if is_better:
            best, most = trained, coverage
        if not is_better and round_ > 1 or coverage.at_once == coverage.of or round_ == ROUNDS or not recorder.scores:
            break
        asked = pa.concat_tables(recorder.rows).select(model.features)
        rows = table.take(pa.array(base)).select(model.features).cast(asked.schema, safe=False)
        trained = model.train_surrogate(
            pa.concat_tables([rows, asked]),
            [*scores[base], *recorder.scores],
            [*weights, *[ASKED] * len(recorder.scores)],
            progress=progress,
        )
    if best is not model:
        held_out = place[is_held_out]
        said = best.probability(table.take(pa.array(held_out))).column(0).to_numpy() >= threshold
        agreement = int((said == (scores[held_out] >= threshold)).sum()), len(held_out)
        best = best.complete_surrogate(agreement, (most.found, most.of), progress=progress)
    return best, most


def _answered(
    model: _native.Model, recorder: _Recorder, table: pa.Table, measured: Any, learned: Any
) -> Coverage:
    """Answers both groups of people at once, and measures the coverage of the first."""
    import numpy

    who = numpy.concatenate([measured, learned])
    is_learned = pa.array(numpy.arange(len(who)) >= len(measured))
    people = table.take(pa.array(who)).append_column(_IS_LEARNED, is_learned)
    judged = replace(recorder.supplied, judge=recorder, is_surrogate=True)
    lines, thresholds = answer_with_thresholds(model, judged, Request(), people, id=None)
    columns = dict(model.columns)
    found = pc.filter(lines.column(columns["id"]), pc.equal(lines.column(columns["status"]), "found")).to_numpy()
    found = found[found < len(measured)]
    at_once = numpy.isclose(thresholds[found], model.threshold).sum()
    return Coverage(len(found), len(measured), int(at_once))


def _spread(places: Any, count: int) -> Any:
    """At most so many of them, evenly spread."""
    return places[:: max(-(-len(places) // count), 1)]
