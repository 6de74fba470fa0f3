"""One judge for the answers of every method, on rows as a table writes them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tables import Table


@dataclass
class Judged:
    """What there is to say about the answers, one entry an answer."""

    valid: np.ndarray
    actionable: np.ndarray
    causal: np.ndarray
    in_bounds: np.ndarray
    changes: np.ndarray

    @property
    def usable(self) -> np.ndarray:
        """Accepted, and nothing that the schema asks is broken."""
        return self.valid & self.actionable & self.causal & self.in_bounds


def moves(feature: dict, own: pd.Series, answer: pd.Series) -> np.ndarray:
    """1 where a feature rises, −1 where it falls. A nominal feature has no direction: 1 where it changes."""
    if feature["kind"] == "nominal":
        return (own.to_numpy() != answer.to_numpy()).astype(int)
    if feature["kind"] == "ordinal":
        place = {value: at for at, value in enumerate(feature["values"])}
        own, answer = own.map(place), answer.map(place)
    own, answer = own.to_numpy(float), answer.to_numpy(float)
    # Some methods carry numbers in single precision.
    return np.where(np.isclose(answer, own, rtol=1e-6, atol=0), 0, np.sign(answer - own)).astype(int)


def fits(feature: dict, answer: pd.Series) -> np.ndarray:
    """Whether a value is one that the schema knows: a listed category, or a number within the bounds, a whole
    one where things are counted."""
    if "values" in feature:
        return answer.isin(feature["values"]).to_numpy()
    number = answer.to_numpy(float)
    low, high = feature["bounds"]
    within = (low <= number) & (number <= high)
    return within & (number == np.floor(number)) if feature["kind"] == "discrete" else within


def judge(table: Table, accepts, own: pd.DataFrame, answers: pd.DataFrame) -> Judged:
    """Judges answers to the rows of the same place. `accepts` is the classifier, on a frame of rows."""
    moved = {
        feature["name"]: moves(feature, own[feature["name"]], answers[feature["name"]])
        for feature in table.features
    }
    actionable = np.ones(len(answers), dtype=bool)
    in_bounds = np.ones(len(answers), dtype=bool)
    for feature in table.features:
        step = moved[feature["name"]]
        if feature.get("immutable"):
            actionable &= step == 0
        if feature.get("monotone") == "increasing":
            actionable &= step >= 0
        if feature.get("monotone") == "decreasing":
            actionable &= step <= 0
        # What a person has already is not for an answer to mend.
        in_bounds &= fits(feature, answers[feature["name"]]) | (step == 0)
    causal = np.ones(len(answers), dtype=bool)
    for rule in table.schema.get("rule", []):
        causal &= (moved[rule["if_increases"]] <= 0) | (moved[rule["must_increase"]] > 0)
    changes = np.sum([step != 0 for step in moved.values()], axis=0)
    return Judged(accepts(answers[table.names]), actionable, causal, in_bounds, changes)
