"""A program as its author would write it, for type checkers: every type is known without a word."""

from __future__ import annotations

import numpy
import numpy.typing
import pandas
import polars
from typing_extensions import assert_type

from par_recourse import Change, Plot, Recourse, Schema, Ways, plots

frame = polars.DataFrame({"age": [30, 40], "income": [1000.0, 2000.0]})

schema = (
    Schema.draft(frame, ["no", "yes"], favourable="yes")
    .feature("income", change="increase", step={"up": 1000, "grid": 10}, effort="hard", per=500, takes="6 months per 500")
    .feature(["age"], change="with-time", unit="years", range=(0, 120))
    .at_most("age", "income")
    .accept({"age": "18.."}, because="of age")
)
assert_type(schema, Schema)
assert_type(schema.undecided, list[str])
assert_type(schema.to_toml(), str)

recourse = Recourse(schema, budget=3).fit(frame, ["no", "yes"])
assert_type(recourse.recourse(frame, count=2, lock=["age"], limit={"income": (0, None)}), polars.DataFrame)
assert_type(recourse.recourse(frame.lazy()), polars.DataFrame)
ways = recourse.ways(frame, within="1 year", method="exact")
assert_type(ways, Ways[polars.DataFrame])
assert_type(ways.frame, polars.DataFrame)
assert_type(ways.changes(), polars.DataFrame)
of_pandas = pandas.DataFrame({"age": [30], "income": [1000.0]})
assert_type(recourse.recourse(of_pandas), pandas.DataFrame)
assert_type(recourse.ways(of_pandas).changes(), pandas.DataFrame)
assert_type(recourse.predict_proba(frame), numpy.typing.NDArray[numpy.float64])
assert_type(recourse.score(frame, ["no", "yes"]), float)

explanation = recourse.explain({"age": 30, "income": 1000.0})
for way in explanation.ways:
    assert_type(way.changes, tuple[Change, ...])
    for change in way.changes:
        value: str | int | float | bool | None = change.to
        assert_type(change.months, int)

of_array = recourse.ways(numpy.zeros((2, 2)))
assert_type(of_array.changes().column_names, list[str])

fares = plots.groups(ways, by=["old", "young"])
assert_type(fares, Plot[polars.DataFrame])
assert_type(fares.data, polars.DataFrame)
assert_type(plots.changes(recourse.ways(of_pandas)).data, pandas.DataFrame)
assert_type(plots.before_and_after(recourse, explanation, of_pandas).data, pandas.DataFrame)
assert_type(plots.pareto(explanation, "probability").svg, str)
