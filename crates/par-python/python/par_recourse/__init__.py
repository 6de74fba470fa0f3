"""Plausible algorithmic recourse: what a denied person could change to be accepted.

>>> from par_recourse import Recourse, datasets
>>> german = datasets.german_credit()
>>> recourse = Recourse(german.schema, config={"generator": {"steps": 20}}).fit(german.X, german.y)
>>> ways = recourse.ways(german.X)
>>> denied = [line for line in ways.frame.to_pylist() if line["status"] == "found"]
>>> denied[0]["changes"] >= 1
True
>>> ways.changes().column_names
['id', 'rank', 'feature', 'from', 'to', 'effort', 'time', 'follows']
"""

from . import datasets, errors, plots
from ._native import __version__
from .errors import ParError
from .estimator import Recourse, draft_schema
from .evaluation import Evaluation
from .explanation import Change, Explanation, Point, Way
from .plots import Plot
from .schema import Schema
from .ways import Ways

__all__ = [
    "Change",
    "Evaluation",
    "Explanation",
    "ParError",
    "Plot",
    "Point",
    "Recourse",
    "Schema",
    "Way",
    "Ways",
    "__version__",
    "datasets",
    "draft_schema",
    "errors",
    "plots",
]
