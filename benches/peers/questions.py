"""The questions of a fold, as `par-bench export` writes them, and the classifier that decides them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from par_recourse import Recourse


class Classifier:
    """The classifier of the model, as the packages take one: class 1 is accepted, from one half on."""

    classes_ = np.array([0, 1])

    def __init__(self, model: Path, names: list[str], threshold: float) -> None:
        self._recourse = Recourse.load(model)
        self._names = names
        self._threshold = threshold
        self.seconds = 0.0
        """What its own work took so far, which is part of the time of every method."""

    def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
        """Probabilities of both classes, stretched so that the threshold of the model is one half."""
        start = time.perf_counter()
        # For a single row, pandas takes most of the time on its way to Arrow.
        table = pa.table({name: pa.array(rows[name].to_numpy()) for name in self._names})
        own = self._recourse.predict_proba(table)[:, 1]
        self.seconds += time.perf_counter() - start
        below, above = self._threshold, 1 - self._threshold
        stretched = np.where(own < below, own / below / 2, 1 - (1 - own) / max(above, 1e-12) / 2)
        return np.column_stack([1 - stretched, stretched])

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        return (self.predict_proba(rows)[:, 1] >= 0.5).astype(int)


@dataclass(frozen=True)
class Questions:
    """A fold: what methods may learn from, who is asked about, and the classifier."""

    case: str
    fold: str
    names: list[str]
    numbers: list[str]
    texts: list[str]
    free: list[str]
    """Features that are not immutable. Clocks and consequences are among them: no package has a word for them."""
    features: dict[str, dict]
    """Features as questions.json describes them."""
    categories: dict[str, list[str]]
    training: pd.DataFrame
    """Features of the training rows, without those that have an empty cell, which no package here takes."""
    labels: np.ndarray
    """1 where the row has the favourable label."""
    accepted: np.ndarray
    """1 where the classifier accepts the row."""
    people: pd.DataFrame
    """Features of denied people, by their id."""
    cells: pd.DataFrame
    """The same as the table writes it."""
    classifier: Classifier

    @staticmethod
    def read(folder: Path) -> Questions:
        asked = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
        features = asked["features"]
        names = [feature["name"] for feature in features]
        numbers = [feature["name"] for feature in features if feature["kind"] in ("discrete", "continuous")]
        rows = pd.read_csv(folder / "training.csv", dtype=str, keep_default_na=False)
        rows = rows[(rows[names] != "").all(axis=1)].reset_index(drop=True)
        cells = pd.read_csv(folder / "people.csv", dtype=str, keep_default_na=False).set_index(asked["id"])[names]
        return Questions(
            case=asked["case"],
            fold=asked["fold"],
            names=names,
            numbers=numbers,
            texts=[name for name in names if name not in numbers],
            free=[f["name"] for f in features if f["change"] not in ("never", "undecided")],
            features={feature["name"]: feature for feature in features},
            categories={name: sorted(rows[name].unique()) for name in names if name not in numbers},
            training=typed(rows[names], numbers),
            labels=rows[asked["label"]].isin(asked["favourable"]).to_numpy().astype(int),
            accepted=rows[asked["accepted"]].astype(int).to_numpy(),
            people=typed(cells, numbers),
            cells=cells,
            classifier=Classifier(folder / "model.par", names, asked["threshold"]),
        )

    def frame(self, rows: np.ndarray) -> pd.DataFrame:
        """Rows of an array with a column for every feature."""
        return pd.DataFrame(rows, columns=self.names).astype({name: float for name in self.numbers})

    def written(self, person: str, answer: pd.Series) -> list[str]:
        """The cells of an answer; what did not change is as the table writes it."""
        own = self.people.loc[person]
        return [
            self.cells.at[person, name] if answer[name] == own[name] else text(answer[name]) for name in self.names
        ]


def typed(cells: pd.DataFrame, numbers: list[str]) -> pd.DataFrame:
    return cells.astype(object).assign(**{name: pd.to_numeric(cells[name]) for name in numbers})


def text(value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value)
