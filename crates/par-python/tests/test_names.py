"""Tables whose features are called like columns of the answers."""

import pickle
import warnings

import numpy
import pandas
import polars
import pyarrow as pa
import pytest
from conftest import QUICK

from par_recourse import Recourse, _workers, errors
from par_recourse._request import Request
from par_recourse.compat import dice as dice_ml

WORDS = (
    "columns of the answers give way to features of the same name: `id` is called `par_id`, `status` is called "
    "`par_par_status`, `reason` is called `par_reason`, `changes` is called `par_changes`, `optimal` is called "
    "`par_optimal`\nhint: `columns_` of a Recourse has their names by the usual ones"
)
NUMBERS = ["id", "changes", "optimal", "status"]
SCHEMA = {
    "label": {"column": "class", "classes": ["0", "1"], "favourable": "1"},
    "feature": [
        *({"name": name, "kind": "discrete"} for name in NUMBERS),
        {"name": "reason", "kind": "nominal"},
        {"name": "par_status", "kind": "nominal"},
    ],
}


def table():
    random = numpy.random.default_rng(0)
    X = pandas.DataFrame({name: random.integers(0, 30, 400) for name in NUMBERS})
    X["reason"] = random.choice(["car", "house", "school"], 400)
    X["par_status"] = random.choice(["new", "known"], 400)
    return X


X = table()
Y = pandas.Series((X["status"] + 10 * (X["reason"] == "house") + X["id"] / 2 > 25).astype(int), name="class")


def decide(frame):
    return 1 / (1 + numpy.exp(25 - frame["status"] - 10 * (frame["reason"] == "house") - frame["id"] / 2))


@pytest.fixture(scope="module", params=[None, decide], ids=["trained", "function"])
def recourse(request):
    return Recourse(SCHEMA, classifier=request.param, config=QUICK).fit(X, Y)


def silently(recourse, X, **asked):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.RenamedColumnWarning)
        return recourse.recourse(X, **asked)


def test_features_keep_their_names_and_their_cells(recourse):
    ways = silently(recourse, X, lock=["changes", "optimal", "par_status"])
    names = recourse.columns_
    assert list(ways.columns) == [*names.values(), *X.columns[:4], "reason", "par_status"]
    assert names["status"] == "par_par_status" and names["reason"] == "par_reason" and names["rank"] == "rank"
    found = ways[ways[names["status"]] == "found"]
    assert len(found) > 50
    assert (recourse.predict_proba(found[X.columns])[:, 1] >= recourse.threshold_).all()
    own = X.loc[found[names["id"]]].reset_index(drop=True)
    found = found.reset_index(drop=True)
    for name in ["changes", "optimal", "par_status"]:
        assert found[name].tolist() == own[name].tolist()
    changed = (found[X.columns] != own).sum(axis=1)
    assert changed.tolist() == found[names["changes"]].tolist()
    assert found[names["optimal"]].dtype == "boolean" and found["optimal"].dtype.kind == "i"


def test_all_kinds_of_frames_have_the_same_names(recourse):
    expected = list(silently(recourse, X.head(3)).columns)
    assert silently(recourse, pa.Table.from_pandas(X.head(3))).column_names == expected
    assert silently(recourse, polars.from_pandas(X.head(3))).columns == expected


def test_a_feature_may_name_the_rows(recourse):
    ways = silently(recourse, X.head(20), id="id")
    assert ways[recourse.columns_["id"]].drop_duplicates().tolist() == X["id"].head(20).drop_duplicates().tolist()


def test_names_that_give_way_are_told_once(recourse, tmp_path):
    recourse.save(tmp_path / "model.par")
    loaded = Recourse.load(tmp_path / "model.par")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            loaded.recourse(X.head(2))
    assert [(warning.category, str(warning.message)) for warning in told] == [(errors.RenamedColumnWarning, WORDS)]
    assert told[0].filename == __file__


def test_an_engine_tells_them_too(recourse):
    def recourse_of_an_engine():
        types = lambda columns: pa.Table.from_pandas(X[columns]).schema  # noqa: E731
        return _workers.plan(recourse.model_, list(X), types, Request(), id="id", dumps=pickle.dumps)

    with pytest.warns(errors.RenamedColumnWarning) as told:
        job, _ = recourse_of_an_engine()
    assert [str(warning.message) for warning in told] == [WORDS] and told[0].filename == __file__
    assert job.lines.names == list(silently(recourse, X.head(1)).columns)


def test_a_table_without_such_names_is_answered_without_a_word(fitted, german):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lines = fitted.recourse(german.X.slice(0, 5))
    assert lines.column_names[: len(fitted.columns_)] == list(fitted.columns_) == list(fitted.columns_.values())


def test_the_door_of_dice_has_the_names_of_the_table_alone():
    data = dice_ml.Data(dataframe=X.assign(**{"class": Y}), continuous_features=NUMBERS, outcome_name="class")
    explainer = dice_ml.Dice(data, dice_ml.Model(model=decide), config=QUICK)
    denied = X[decide(X) < 0.5].head(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.RenamedColumnWarning)
        found = explainer.generate_counterfactuals(denied, 1, desired_class=1)
    frames = [example.final_cfs_df for example in found.cf_examples_list if example.final_cfs_df is not None]
    assert len(frames) > 0
    for frame in frames:
        assert list(frame.columns) == [*X.columns, "class"]
        assert (decide(frame) >= 0.5).all()


def test_an_index_is_not_taken_for_a_feature_that_is_absent():
    schema = {**SCHEMA, "feature": [*SCHEMA["feature"], {"name": "index", "kind": "discrete"}]}
    fitted = Recourse(schema, config=QUICK).fit(X.assign(index=range(400)), Y)
    with pytest.raises(errors.DataError, match="no column `index`"):
        silently(fitted, X.head(3))
