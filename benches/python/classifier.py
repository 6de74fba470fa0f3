"""The classifier that every method is asked about."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tables import Table

KINDS = {
    "mlp": lambda: MLPClassifier((64, 32), early_stopping=True, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=1000),
    "gb": lambda: GradientBoostingClassifier(n_estimators=100, max_depth=3, random_state=0),
}


def encoder(table: Table) -> ColumnTransformer:
    """Scaled numbers and one-hot texts."""
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [("numbers", StandardScaler(), table.numbers), ("texts", texts, table.texts)]
    return ColumnTransformer([part for part in parts if part[2]])


def pipeline(table: Table, kind: str) -> Pipeline:
    """A pipeline over the raw columns, fitted to the rows of training."""
    model = make_pipeline(encoder(table), KINDS[kind]())
    return model.fit(table.training[table.names], table.training[table.label])


class Decision:
    """A pipeline as a classifier that says 1 for accepted from one half on, whatever its threshold is.

    Other methods know no threshold, or not for every class.
    """

    def __init__(self, model: Pipeline, table: Table):
        self.model = model
        self.accepted = list(model.classes_).index(table.favourable)
        self.threshold = table.threshold
        self.classes_ = np.array([0, 1])

    def accepts(self, rows: pd.DataFrame) -> np.ndarray:
        """What the pipeline itself decides."""
        return self.model.predict_proba(rows)[:, self.accepted] >= self.threshold

    def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
        """Probabilities, stretched so that the threshold is at one half."""
        own = self.model.predict_proba(rows)[:, self.accepted]
        below = own / (2 * self.threshold)
        above = 1 - (1 - own) / (2 * (1 - self.threshold))
        accepted = np.where(own < self.threshold, below, above)
        return np.column_stack([1 - accepted, accepted])

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        return (self.predict_proba(rows)[:, 1] >= 0.5).astype(int)
