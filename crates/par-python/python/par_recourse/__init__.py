"""Plausible algorithmic recourse: what a denied person could change to be accepted.

>>> from par_recourse import Recourse, datasets
>>> german = datasets.german_credit()
>>> recourse = Recourse(german.schema, config={"generator": {"steps": 20}}).fit(german.X, german.y)
>>> denied = [line for line in recourse.recourse(german.X).to_pylist() if line["status"] == "found"]
>>> denied[0]["changes"] >= 1
True
"""

from . import datasets, errors
from ._native import __version__
from .errors import ParError
from .estimator import Recourse, draft_schema
from .evaluation import Evaluation
from .explanation import Change, Explanation, Plot, Point, Way

__all__ = [
    "Change",
    "Evaluation",
    "Explanation",
    "ParError",
    "Plot",
    "Point",
    "Recourse",
    "Way",
    "__version__",
    "datasets",
    "draft_schema",
    "errors",
]
