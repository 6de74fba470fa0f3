"""Draws the four plots of a fitted model into a folder: `python plots.py FOLDER`."""

import sys
from pathlib import Path

from par_recourse import Recourse, datasets, plots

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "plots")
folder.mkdir(parents=True, exist_ok=True)

german = datasets.german_credit()
X = german.X
recourse = Recourse(german.schema, config={"generator": {"steps": 100}}).fit(X, german.y)
ways = recourse.ways(X)
explanation = recourse.explain(X.slice(1, 1), count=4)
names = {"A151": "rented", "A152": "owned", "A153": "for free"}
housing = [names[value] for value in X.column("Housing").to_pylist()]

for name, plot in {
    "before_and_after": plots.before_and_after(recourse, explanation, X),
    "pareto": plots.pareto(explanation),
    "changes": plots.changes(ways),
    "groups": plots.groups(ways, by=housing),
}.items():
    plot.save(folder / f"{name}.svg")
