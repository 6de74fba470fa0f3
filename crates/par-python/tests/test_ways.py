"""What changes in the ways of a table."""

import gc
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import QUICK

from par_recourse import Recourse, _pandas

COLUMNS = ["id", "rank", "feature", "from", "to", "effort", "time", "follows"]


def test_every_change_has_a_line(fitted, german):
    X = german.X.to_pandas().set_index("id", drop=False)
    ways = fitted.ways(X, count=2)
    changes, frame = ways.changes(), ways.frame
    pd.testing.assert_frame_equal(frame, fitted.recourse(X, count=2))
    assert list(changes.columns) == COLUMNS and len(changes) == frame["changes"].sum() > 200
    assert len(ways) == frame["rank"].notna().sum()
    found = frame[frame["rank"].notna()].set_index(["id", "rank"])
    for (id, rank), some in changes.groupby(["id", "rank"]):
        way = found.loc[(id, rank)]
        moved = [name for name in fitted.feature_names_in_ if way[name] != X.loc[id, name]]
        assert some["feature"].tolist() == moved
        assert some["from"].tolist() == [X.loc[id, name] for name in moved]
        assert some["to"].tolist() == [way[name] for name in moved]
        assert some["effort"].sum() == pytest.approx(way["effort"]) and some["time"].max() == way["months"]


def test_values_have_the_types_of_the_frame(fitted, german):
    changes = fitted.ways(german.X.to_pandas()).changes()
    amount = changes[changes["feature"] == "Credit amount"].iloc[0]
    assert type(amount["from"]) is int and type(amount["to"]) is int
    assert changes["id"].dtype == "int64" and changes["time"].dtype == "int64" and changes["follows"].dtype == "bool"
    text = fitted.ways(german.X).changes()
    assert text.schema.field("from").type == pa.string() and text.column_names == COLUMNS
    assert text.column("from").to_pylist() == [str(value) for value in changes["from"]]
    same = fitted.ways(pl.from_arrow(german.X)).changes()
    assert isinstance(same, pl.DataFrame) and same["to"].to_list() == text.column("to").to_pylist()


def test_a_frame_that_is_changed_later_does_not_change_its_ways(fitted, german):
    X = german.X.to_pandas()
    ways = fitted.ways(X)
    before = ways.changes()
    X["Credit amount"] = -1
    X.loc[:, "Duration"] = -1
    del X["Purpose"]
    pd.testing.assert_frame_equal(ways.changes(), before)


def test_consequences_are_marked():
    features = [
        {"name": "debt", "kind": "continuous", "change": "decrease", "takes": "2 years"},
        {"name": "income", "kind": "continuous", "change": "never"},
        {"name": "share", "kind": "continuous", "change": "follows"},
        {"name": "age", "kind": "discrete", "unit": "years", "change": "with-time"},
    ]
    relation = [{"ratio": ["debt", "income"], "gives": "share"}]
    label = {"column": "ok", "classes": ["0", "1"], "favourable": "1"}
    random = np.random.default_rng(0)
    X = pd.DataFrame({"debt": random.integers(1, 40, 400), "income": random.choice([10.0, 20.0], 400)})
    X["share"], X["age"] = X["debt"] / X["income"], random.integers(20, 60, 400)
    y = (X["share"] < 1).astype(int)
    schema = {"version": 2, "label": label, "feature": features, "relation": relation}
    recourse = Recourse(schema, config=QUICK).fit(X, y)
    changes = recourse.ways(X).changes()
    follows = changes.groupby("feature")["follows"].unique().map(list).to_dict()
    assert follows["debt"] == [False] and follows["share"] == [True] and follows["age"] == [True]
    share = changes[changes["feature"] == "share"].iloc[0]
    assert share["effort"] == 0 and share["to"] < share["from"]


def test_ways_that_the_classifier_denies_have_no_changes(german):
    def decide(frame):
        return 0.9 * (frame["Duration"] < 12) * (frame["Credit amount"] < 2500) + 0.05

    X = german.X.to_pandas().head(150)
    recourse = Recourse(german.schema, classifier=decide, config=QUICK).fit(german.X.to_pandas(), german.y.to_pandas())
    ways = recourse.ways(X)
    frame, changes = ways.frame, ways.changes()
    assert set(changes["id"]) == set(frame[frame["status"] == "found"]["id"])
    assert len(changes) >= frame["changes"].sum()


@pytest.mark.parametrize("rows", [1, 3, 40])
def test_types_come_back_as_they_went_in(fitted, german, rows):
    X = german.X.to_pandas().iloc[:rows]
    texts = [name for name in fitted.feature_names_in_ if X[name].dtype == "str"]
    numbers = [name for name in fitted.feature_names_in_ if name not in texts]
    plain = fitted.recourse(X)
    for type_of_text, type_of_number in [
        ("category", "int16"),
        ("string", "Int64"),
        (object, "float32"),
        ("string[pyarrow]", "int32[pyarrow]"),
    ]:
        typed = X.astype({**dict.fromkeys(texts, type_of_text), **dict.fromkeys(numbers, type_of_number)})
        lines = fitted.recourse(typed)
        for name in fitted.feature_names_in_:
            if type_of_text == "category" and name in texts:
                assert lines[name].cat.categories[: len(typed[name].cat.categories)].equals(typed[name].cat.categories)
            else:
                assert lines[name].dtype == typed[name].dtype, name
            assert lines[name].astype(object).tolist() == plain[name].tolist()
    casted = pl.from_pandas(X).with_columns(pl.col(numbers).cast(pl.Int32), pl.col(texts).cast(pl.Categorical))
    assert fitted.recourse(casted).select(fitted.feature_names_in_).schema == casted.select(fitted.feature_names_in_).schema


def test_single_rows_are_answered_as_all_of_them_whatever_was_asked_before(fitted, german):
    X = german.X.to_pandas().head(12)
    together, pairs, changes = fitted.recourse(X), fitted.recourse(X, count=2), fitted.ways(X).changes()
    assert len(pairs) > len(together)
    named = X.assign(name=[f"person {row}" for row in range(len(X))])
    wide = X.astype({"Duration": "float64", "Housing": "category"})
    for row in range(len(X)):
        own, pair, moves = [
            some[some["id"] == X["id"].iloc[row]].reset_index(drop=True) for some in (together, pairs, changes)
        ]
        alone = fitted.recourse(X.iloc[[row]])
        pd.testing.assert_frame_equal(alone, own)
        assert (alone.dtypes == together.dtypes).all()
        other = fitted.recourse(wide.iloc[[row]])
        assert other["Duration"].dtype == "float64" and other["Housing"].dtype == "category"
        pd.testing.assert_frame_equal(fitted.recourse(X.iloc[[row]], count=2), pair)
        by_name = fitted.recourse(named.iloc[[row]], id="name")
        assert by_name["id"].tolist() == [f"person {row}"] * len(own)
        pd.testing.assert_frame_equal(by_name.drop(columns="id"), own.drop(columns="id"))
        ways = fitted.ways(X.iloc[[row]])
        pd.testing.assert_frame_equal(ways.frame, own)
        pd.testing.assert_frame_equal(ways.changes(), moves, check_dtype=len(moves) > 0)


def test_types_that_are_not_plain_are_not_taken_for_others():
    row = pd.DataFrame({"name": ["a"], "rate": [1.0]})
    expected = {"float64": pa.float64(), "Float32": pa.float32(), "bool[pyarrow]": pa.bool_(), "Int64": pa.int64()}
    for dtype in ["float64", "Float32", "float64", "bool[pyarrow]", "float64", "Int64"]:
        typed = row.astype({"rate": dtype})
        read = _pandas.read(typed, _pandas.described(typed), lambda name: True)
        assert read.schema.field("rate").type == expected[dtype]


def test_categories_are_freed_with_their_frames(fitted, german):
    row = german.X.to_pandas().iloc[[0]]
    row["Housing"] = row["Housing"].astype(pd.CategoricalDtype([*row["Housing"], *(f"other {n}" for n in range(1000))]))
    categories = weakref.ref(row["Housing"].dtype.categories)
    lines = fitted.recourse(row)
    assert lines["Housing"].dtype.categories[-1] == "other 999"
    del row, lines
    gc.collect()
    assert categories() is None


def test_frames_of_single_rows_share_nothing(fitted, german):
    X = german.X.to_pandas()
    first, second = fitted.recourse(X.iloc[[0]]), fitted.recourse(X.iloc[[0]])
    before = second.copy()
    first.columns.name = "mine"
    for column in first.columns:
        first.loc[0, column] = first.loc[0, column]
    first.loc[0, ["Duration", "probability", "status", "rank", "optimal"]] = [1, 0.5, "mine", 7, True]
    assert first.loc[0, "Duration"] == 1 and first.loc[0, "status"] == "mine"
    pd.testing.assert_frame_equal(second, before)
    assert fitted.recourse(X.iloc[[0]]).columns.name is None


def test_numbers_that_do_not_fit_have_a_wider_type():
    X = pd.DataFrame({"points": np.arange(400), "kind": ["a", "b"] * 200})
    features = [{"name": "points", "kind": "discrete", "change": "free"}, {"name": "kind", "kind": "nominal", "change": "never"}]
    label = {"column": "ok", "classes": ["0", "1"], "favourable": "1"}
    recourse = Recourse({"version": 2, "label": label, "feature": features}, config=QUICK).fit(X, (X["points"] >= 300).astype(int))
    low = X.head(100).astype({"points": "int8"})
    assert recourse.recourse(low)["points"].min() >= 200 and recourse.recourse(low)["points"].dtype == "int64"
    assert recourse.recourse(low, lock=["points"])["points"].dtype == "int8"
    arrow, frame = pa.Table.from_pandas(low, preserve_index=False), pl.from_pandas(low)
    assert recourse.recourse(arrow).schema.field("points").type == pa.int64()
    assert recourse.recourse(frame).schema["points"] == pl.Int64


def test_an_index_names_rows_in_its_own_type(german):
    schema = german.schema.replace('id = "id"', "")
    X = german.X.to_pandas().drop(columns="id")
    recourse = Recourse(schema, config=QUICK).fit(X, german.y)
    some = X.head(3)
    for index in [
        pd.date_range("2026-01-01", periods=3, tz="Europe/Vienna"),
        pd.CategoricalIndex(["a", "b", "c"]),
        pd.Index([1, None, 3], dtype="Int64"),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]),
        pd.Index([1, "a", 2.5], dtype=object),
    ]:
        ids = recourse.recourse(some.set_axis(index, axis=0))["id"]
        assert ids.tolist() == index.tolist()
        assert isinstance(index, pd.MultiIndex) or ids.dtype == index.dtype


def test_a_notebook_shows_the_changes(fitted, german):
    ways = fitted.ways(german.X.to_pandas().head(100))
    assert repr(ways).startswith(f"<Ways: {len(ways)} for 100 rows: ")
    html = ways._repr_html_()
    assert html.count("<tr>") == 21 and "more changes" in html and "<th>from</th>" in html
    assert repr(fitted.ways(german.X.slice(0, 0))) == "<Ways: 0 for no rows>"
    assert fitted.ways(german.X.slice(0, 0)).changes().num_rows == 0
