"""Whom a surrogate learns from, and by whom it is measured."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from par_recourse import _surrogate


class Model:
    """A model that notes what its surrogate learns from."""

    features, threshold = ["number", "text"], 0.5

    def __init__(self):
        self.rows, self.agreement = None, None

    def train_surrogate(self, rows, scores, weights, progress):
        assert rows.num_rows == len(scores) == len(weights)
        self.rows = rows
        return self

    def probability(self, table):
        return pa.table({"probability": np.ones(table.num_rows)})

    def complete_surrogate(self, agreement, coverage, progress):
        self.agreement = agreement
        return self


def trained(scores, monkeypatch):
    """The model, and the groups of people that were answered."""
    groups = []

    def answered(model, recorder, table, measured, learned):
        groups.append((measured, learned))
        recorder.probabilities(table.append_column(_surrogate._IS_LEARNED, pa.array([False] * len(table))))
        return _surrogate.Coverage(0, len(measured), 0)

    monkeypatch.setattr(_surrogate, "_answered", answered)
    place = np.arange(len(scores))
    table = pa.table({"number": place, "text": [f"person {own}" for own in place]})
    supplied = SimpleNamespace(numbers=np.array(scores), probabilities=lambda rows: np.zeros(rows.num_rows))
    return _surrogate.train(Model(), supplied, table, None), groups


def test_who_measures_it_is_not_learned_from(monkeypatch):
    model, groups = trained(np.random.default_rng(0).random(2000), monkeypatch)
    held_out = set(range(0, 2000, _surrogate.HELD_OUT))
    known = set(model.rows["number"].to_pylist())
    assert known == {int(text.removeprefix("person ")) for text in model.rows["text"].to_pylist()} and len(known) > 1000
    assert not known & held_out and model.agreement[1] == len(held_out)
    for measured, learned in groups:
        assert len(measured) > 50 and not known & set(measured.tolist())
        assert len(learned) > 50 and set(learned.tolist()) <= known


@pytest.mark.parametrize("scores", [[], [0.1], [0.9] * 9, [0.1] * 9, [0.1, 0.9], [0.9, 0.1, 0.1]])
def test_without_anybody_to_learn_from_the_model_stays(scores, monkeypatch):
    model, groups = trained(scores, monkeypatch)
    assert model.rows is None and groups == []
