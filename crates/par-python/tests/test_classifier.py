"""Classifiers that are there already: ONNX files, estimators of scikit-learn, functions."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import json
import pickle
import warnings

import numpy
import pyarrow as pa
import pytest
from conftest import QUICK

from par_recourse import Recourse, _native, datasets, draft_schema
from par_recourse._judge import Layout
from par_recourse.classifier import supply
from par_recourse.errors import ClassifierError, FileError, InvertedClassifierError, SettingError

pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.ensemble import (  # noqa: E402
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.neural_network import MLPClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

GERMAN = datasets.german_credit()
TABLE, LABELS = GERMAN.X.slice(0, 500), GERMAN.y.slice(0, 500)
X = TABLE.drop_columns(["id"]).to_pandas()
Y = LABELS.to_pandas()
NUMBERS = [name for name in X if X[name].dtype.kind in "if"]
TEXTS = [name for name in X if name not in NUMBERS]


def pipeline(model):
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(ColumnTransformer([("numbers", StandardScaler(), NUMBERS), ("texts", encoder, TEXTS)]), model)


@pytest.fixture(scope="module")
def logistic():
    return pipeline(LogisticRegression(max_iter=1000)).fit(X, Y)


@pytest.fixture(scope="module")
def surrogate(logistic):
    """A recourse for a function, which cannot be read."""
    return fitted(functools.partial(good, logistic))


@pytest.fixture(scope="module")
def trees():
    """Boosted trees as a function, which a surrogate follows less well."""
    return functools.partial(good, pipeline(GradientBoostingClassifier(n_estimators=50, random_state=0)).fit(X, Y))


@pytest.fixture(scope="module")
def surrogate_of_trees(trees):
    return fitted_without_warning(trees)


def fitted(classifier, table=X, labels=Y, schema=GERMAN.schema, **settings):
    config = {**QUICK, "classifier": {"epochs": 10}}
    return Recourse(schema, classifier=classifier, config=config, **settings).fit(table, labels)


def fitted_without_warning(*args, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        return fitted(*args, **settings)


def good(model, table):
    return model.predict_proba(table)[:, list(map(str, model.classes_)).index("Good")]


def check_ways(recourse, probability, rows=X, count=1):
    """Every way is accepted by the classifier, and the accepted and the denied are those that it says."""
    lines = recourse.recourse(rows, count=count)
    found = lines[lines["status"] == "found"]
    assert len(found) > 0
    assert (probability(found[list(rows.columns)].astype(rows.dtypes)) >= recourse.threshold_).all()
    accepted = rows.index[probability(rows) >= recourse.threshold_]
    assert set(lines[lines["status"] == "accepted"]["id"]) == set(accepted)
    assert set(lines["status"]) <= {"found", "accepted", "not_found"}
    assert (found.groupby("id")["rank"].max() == found.groupby("id").size()).all()
    assert found["rank"].max() <= count
    return lines


@pytest.mark.parametrize(
    "model",
    [
        MLPClassifier((8,), max_iter=60, random_state=0),
        GradientBoostingClassifier(n_estimators=10, random_state=0),
        RandomForestClassifier(10, max_depth=5, random_state=0),
    ],
    ids=["network", "boosted trees", "forest"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_pipeline_is_converted_and_accepts_every_way_itself(model):
    pytest.importorskip("skl2onnx")
    model = pipeline(model).fit(X, Y)
    recourse = fitted_without_warning(model)
    assert recourse.model_.verifies
    check_ways(recourse, lambda rows: good(model, rows))


def test_a_converted_estimator_says_the_same(logistic):
    pytest.importorskip("skl2onnx")
    recourse = fitted_without_warning(logistic)
    assert numpy.abs(recourse.predict_proba(X)[:, 1] - good(logistic, X)).max() < 1e-5
    check_ways(recourse, lambda rows: good(logistic, rows), count=3)


def test_an_arrow_table_reaches_a_classifier_that_was_trained_with_pandas(logistic):
    pytest.importorskip("skl2onnx")
    recourse = fitted_without_warning(logistic, TABLE, LABELS)
    assert recourse.model_.verifies
    assert {"found", "accepted"} <= set(recourse.recourse(TABLE).column("status").to_pylist())


@pytest.mark.parametrize("favourable", ["Bad", "Good"])
def test_the_favourable_class_may_be_the_first_or_the_second(logistic, favourable):
    pytest.importorskip("skl2onnx")
    recourse = fitted_without_warning(logistic, favourable=favourable)
    place = list(logistic.classes_).index(favourable)
    assert numpy.abs(recourse.predict_proba(X)[:, place] - logistic.predict_proba(X)[:, place]).max() < 1e-5


@pytest.mark.parametrize("favourable", [0, 1])
def test_labels_may_be_whole_numbers(favourable):
    labels = (Y == "Good").astype(int)
    schema = GERMAN.schema.replace('["Bad", "Good"]', '["0", "1"]').replace('"Good"', '"1"')
    model = pipeline(LogisticRegression(max_iter=1000)).fit(X, labels)
    recourse = fitted(model, X, labels, schema, favourable=favourable)
    assert numpy.abs(recourse.predict_proba(X) - model.predict_proba(X)).max() < 1e-5


@pytest.mark.parametrize("favourable", ["0", "1"])
def test_a_function_of_yes_and_no_is_not_taken_for_one_of_classes(favourable):
    labels = (Y == "Good").astype(int)
    schema = GERMAN.schema.replace('["Bad", "Good"]', '["0", "1"]').replace('"Good"', '"1"')
    tree = pipeline(DecisionTreeClassifier(random_state=0, max_depth=4)).fit(X, labels)
    recourse = fitted(tree.predict, X, labels, schema, favourable=favourable)
    said = recourse.model_.probability(pa.Table.from_pandas(X)).column(0).to_numpy() >= 0.5
    assert (said == (tree.predict(X) == int(favourable))).mean() > 0.8
    lines = recourse.recourse(X)
    found = lines[lines["status"] == "found"]
    assert (tree.predict(found[list(X.columns)]) == int(favourable)).all()


def test_categoricals_of_pandas_are_converted():
    pytest.importorskip("skl2onnx")
    table = X.astype({name: "category" for name in TEXTS})
    model = pipeline(LogisticRegression(max_iter=1000)).fit(table, Y)
    recourse = fitted_without_warning(model, table)
    assert recourse.model_.verifies
    check_ways(recourse, lambda rows: good(model, rows), table)


def test_a_numeric_estimator_is_converted_with_or_without_names():
    pytest.importorskip("skl2onnx")
    table = X[NUMBERS]
    schema = numeric_schema()
    for trained in (table, table.to_numpy()):
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(trained, Y)
        recourse = fitted_without_warning(model, table, schema=schema)
        assert recourse.model_.verifies
        assert numpy.abs(recourse.predict_proba(table)[:, 1] - good(model, trained)).max() < 1e-5


def numeric_schema(missing=""):
    features = (f'[[feature]]\nname = "{name}"\nkind = "discrete"\n{missing}' for name in NUMBERS)
    return '[label]\ncolumn = "class"\nclasses = ["Bad", "Good"]\nfavourable = "Good"\n\n' + "\n".join(features)


def test_missing_numbers_reach_boosted_trees():
    table = X[NUMBERS].astype(float)
    table.loc[table.index % 7 == 0, "Duration"] = numpy.nan
    model = HistGradientBoostingClassifier(max_iter=10, random_state=0).fit(table, Y)
    with warnings.catch_warnings():
        # skl2onnx 1.20 cannot convert these with protobuf 7.
        warnings.simplefilter("ignore", UserWarning)
        recourse = fitted(model, table, schema=numeric_schema("missing = true\n"))
    check_ways(recourse, lambda rows: good(model, rows), table)


def test_a_pipeline_that_fills_gaps_is_converted():
    pytest.importorskip("skl2onnx")
    table = X.copy()
    table["Duration"] = table["Duration"].astype(float)
    table.loc[table.index % 7 == 0, "Duration"] = numpy.nan
    table.loc[table.index % 5 == 0, "Housing"] = numpy.nan
    schema = GERMAN.schema
    for name in ("Duration", "Housing"):
        schema = schema.replace(f'name = "{name}"\n', f'name = "{name}"\nmissing = true\n')
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    texts = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("numbers", numbers, NUMBERS), ("texts", texts, TEXTS)])
    model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(table, Y)
    recourse = fitted_without_warning(model, table, schema=schema)
    assert recourse.model_.verifies
    assert numpy.abs(recourse.predict_proba(table)[:, 1] - good(model, table)).max() < 1e-5
    check_ways(recourse, lambda rows: good(model, rows), table)


def test_categoricals_reach_an_estimator_that_is_asked():
    table = X.astype({name: "category" for name in TEXTS})
    model = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=6, random_state=0).fit(table, Y)
    with pytest.warns(UserWarning, match="cannot be searched as it is"):
        recourse = fitted(model, table)
    check_ways(recourse, lambda rows: good(model, rows), table, count=2)


def test_a_forest_with_categories_that_are_numbers_is_converted():
    pytest.importorskip("skl2onnx")
    codes = X["Housing"].str[-1].astype(int)
    table = X[["Duration", "Age"]].assign(Housing=codes)
    schema = (
        '[label]\ncolumn = "class"\nclasses = ["Bad", "Good"]\nfavourable = "Good"\n'
        '[[feature]]\nname = "Duration"\nkind = "discrete"\n[[feature]]\nname = "Age"\nkind = "discrete"\n'
        '[[feature]]\nname = "Housing"\nkind = "nominal"\nvalues = ["1", "2", "3"]\n'
    )
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = ColumnTransformer([("code", encoder, ["Housing"])], remainder="passthrough")
    model = make_pipeline(columns, RandomForestClassifier(10, max_depth=4, random_state=0)).fit(table, Y)
    recourse = fitted_without_warning(model, table, schema=schema)
    assert recourse.model_.verifies
    assert numpy.abs(recourse.predict_proba(table)[:, 1] - good(model, table)).max() < 1e-5


@pytest.mark.parametrize("library, name", [("xgboost", "XGBClassifier"), ("lightgbm", "LGBMClassifier")])
def test_boosted_trees_of_other_libraries_are_converted(library, name):
    pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxmltools")
    model = getattr(pytest.importorskip(library), name)(n_estimators=10, max_depth=3, verbosity=0)
    schema = numeric_schema().replace('["Bad", "Good"]', '["0", "1"]').replace('"Good"', '"1"')
    labels = (Y == "Good").astype(int)
    model.fit(X[NUMBERS].to_numpy(dtype=float), labels)
    recourse = fitted_without_warning(model, X[NUMBERS], labels, schema)
    assert recourse.model_.verifies
    check_ways(recourse, lambda rows: model.predict_proba(rows.to_numpy(dtype=float))[:, 1], X[NUMBERS])


def test_without_skl2onnx_a_surrogate_is_searched(logistic, monkeypatch):
    imported = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("skl2onnx"):
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.warns(UserWarning, match="skl2onnx.*not installed") as told:
        recourse = fitted(logistic)
    assert told[0].filename == __file__
    assert not recourse.model_.verifies
    lines = check_ways(recourse, lambda rows: good(logistic, rows), count=2)
    found = lines[lines["status"] == "found"]
    # The last bits of a product depend on how many rows are asked about at once.
    assert numpy.allclose(found["probability"], good(logistic, found[list(X.columns)]), rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("is_other", "why"),
    [(False, "its ONNX file ranks the classes the wrong way round"), (True, "its ONNX file decides differently about")],
    ids=["the other class", "another model"],
)
def test_a_file_that_decides_otherwise_is_not_used(logistic, monkeypatch, is_other, why):
    pytest.importorskip("skl2onnx")
    import par_recourse.classifier as module

    converted = module.converted
    other = pipeline(LogisticRegression(max_iter=1000, C=1e-3)).fit(X, Y)

    def spoiled(estimator, places, *rest):
        if is_other:
            return converted(other, places, *rest)
        return converted(estimator, tuple(1 - place for place in places), *rest)

    monkeypatch.setattr(module, "converted", spoiled)
    with pytest.warns(UserWarning, match=why) as told:
        recourse = fitted(logistic)
    assert told[0].filename == __file__
    assert not recourse.model_.verifies
    check_ways(recourse, lambda rows: good(logistic, rows))


def test_a_function_has_a_surrogate_without_a_warning(logistic):
    seen = []

    def classify(rows):
        seen.append(rows)
        return good(logistic, rows)

    recourse = fitted_without_warning(classify)
    lines = check_ways(recourse, classify, count=2)
    assert all((rows.dtypes == X.dtypes).all() for rows in seen)
    assert lines["optimal"].isna().all() and lines["gap"].isna().all()
    bare = lines[lines["rank"].isna()].set_index("id")
    assert bare["changes"].isna().all() and bare["method"].isna().all()
    assert (bare[list(X.columns)] == X.loc[bare.index]).all(axis=None)
    assert (bare["probability"] == good(logistic, X.loc[bare.index])).all()
    assert bare["reason"].isna().equals(bare["status"] == "accepted")
    assert list(lines["id"].unique()) == list(X.index)


def test_a_surrogate_certifies_nothing_and_other_versions_speak_for_themselves(trees):
    pytest.importorskip("skl2onnx")
    other = pipeline(LogisticRegression(max_iter=1000, C=0.02)).fit(X, Y)
    recourse = fitted(trees, also=[other])
    lines = recourse.recourse(X, count=3, certify=0.001)
    found = lines[lines["status"] == "found"]
    assert len(found) > 0 and found["certified"].isna().all()
    accepts = good(other, found[list(X.columns)]) >= recourse.threshold_
    assert 0 < accepts.sum() < len(accepts) and (accepts == (found["accepting"] == 1)).all()
    # The surrogate has no such ways for some people, and is asked again at a lower threshold, by which versions accept, too.
    lines = recourse.recourse(X, count=3, certify=0.001, threshold=0.8)
    found = lines[lines["status"] == "found"]
    assert 0 < found["accepting"].isna().sum() < len(found)


def test_the_classes_of_a_method_say_which_column_counts(surrogate, logistic):
    assert (surrogate.predict_proba(X)[:, 1] == good(logistic, X)).all()
    reversed_ = fitted(logistic.predict_proba, favourable="Bad")
    assert list(reversed_.classes_) == ["Bad", "Good"]
    assert numpy.allclose(reversed_.predict_proba(X)[:, 0], 1 - good(logistic, X))


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_one_column_is_the_probability_of_acceptance(logistic, shape):
    recourse = fitted(lambda rows: good(logistic, rows).reshape(shape))
    assert (recourse.predict_proba(X)[:, 1] == good(logistic, X)).all()


def test_of_two_columns_the_second_counts(logistic):
    recourse = fitted(lambda rows: logistic.predict_proba(rows))
    assert (recourse.predict_proba(X)[:, 1] == logistic.predict_proba(X)[:, 1]).all()


INVERTED = (
    "classifier: the classifier tells the classes apart the wrong way round: its AUC for `Good` is {auc:.3f} on the 500 "
    "training rows, and random scores have 0.5\nhint: "
)


def auc_of_denial(model):
    from sklearn.metrics import roc_auc_score

    return roc_auc_score(Y == "Good", 1 - good(model, X))


@pytest.mark.parametrize("both", [False, True], ids=["the wrong column", "both in the wrong order"])
def test_the_wrong_column_is_refused(logistic, both):
    denial = lambda X: logistic.predict_proba(X)[:, ::-1] if both else logistic.predict_proba(X)[:, 0]  # noqa: E731
    with pytest.raises(InvertedClassifierError) as raised:
        fitted(denial)
    assert str(raised.value) == INVERTED.format(auc=auc_of_denial(logistic)) + (
        "the function must return the probability of acceptance: if it takes `predict_proba(X)[:, 0]`, take `[:, 1]`, and "
        "the other way round (of two columns the second counts); `classes_` has their order"
    )


def test_an_estimator_of_other_labels_is_refused_without_a_surrogate(logistic):
    other = pipeline(LogisticRegression(max_iter=1000)).fit(X, Y.map({"Good": "Bad", "Bad": "Good"}))
    with warnings.catch_warnings(), pytest.raises(InvertedClassifierError) as raised:
        warnings.simplefilter("error", UserWarning)
        fitted(other)
    assert str(raised.value) == INVERTED.format(auc=auc_of_denial(logistic)) + (
        "its `classes_` are `Bad`, `Good`: see that it was trained on the labels of the table, and which class is "
        "`favourable`"
    )


def test_a_file_of_the_other_class_is_refused(logistic):
    facts = json.loads(_native.schema_facts(GERMAN.schema))
    onnx, inputs = supply(logistic, None, X, GERMAN.schema, facts, ["Good"]).onnx
    with pytest.raises(InvertedClassifierError, match="try `accepted = 1`; or see which class is `favourable`"):
        fitted(onnx, inputs=inputs.replace("accepted = 1", "accepted = 0"))
    fitted_without_warning(onnx, inputs=inputs)


def test_a_function_that_knows_nothing_is_not_refused():
    nothing = numpy.random.default_rng(3).random(len(X))
    fitted(lambda frame: nothing[frame.index] if len(frame) == len(X) else numpy.full(len(frame), 0.6))


def test_without_labels_nothing_says_which_class_is_meant(logistic):
    denial = lambda X: logistic.predict_proba(X)[:, 0]  # noqa: E731
    fitted(denial, labels=None, density="decisions")


def test_people_without_a_way_are_searched_again(surrogate_of_trees, monkeypatch):
    def found():
        return int((surrogate_of_trees.recourse(X)["status"] == "found").sum())

    asked_again = found()
    monkeypatch.setattr("par_recourse._verification.ROUNDS", 0)
    with_spare_ways = found()
    monkeypatch.setattr("par_recourse.classifier.SPARE", 0)
    assert asked_again > with_spare_ways > found()


def test_a_surrogate_learns_from_its_ways_and_says_whom_it_covers(trees, surrogate_of_trees, tmp_path, monkeypatch):
    def found(recourse):
        return int((recourse.recourse(X)["status"] == "found").sum())

    surrogate_of_trees.save(tmp_path / "trees.par")
    denied = int((trees(X) < 0.5).sum())
    assert abs(surrogate_of_trees.coverage_ - found(surrogate_of_trees) / denied) < 0.15
    assert Recourse.load(tmp_path / "trees.par").coverage_ == surrogate_of_trees.coverage_
    monkeypatch.setattr("par_recourse._surrogate.train", lambda model, *rest: model)
    untrained = fitted_without_warning(trees)
    assert untrained.coverage_ is None
    assert found(untrained) < found(surrogate_of_trees)


def test_the_same_function_has_the_same_surrogate(trees):
    one, other = (fitted_without_warning(trees, X.head(200), Y.head(200)) for _ in range(2))
    assert one.model_.sha256 == other.model_.sha256 and one.coverage_ is not None


def test_a_round_asks_a_function_once_about_everybody(trees, surrogate_of_trees):
    from par_recourse import _verification
    from par_recourse._judge import Judge

    calls = []

    def counted(rows):
        calls.append(len(rows))
        return trees(rows)

    judge = surrogate_of_trees._supplied.judge
    asked = copy.copy(surrogate_of_trees)
    asked._supplied = dataclasses.replace(asked._supplied, judge=Judge(counted, judge.layout))
    asked.recourse(X)
    assert 1 < len(calls) <= 1 + _verification.ROUNDS
    assert calls[0] >= len(X)


@pytest.mark.parametrize("method", ["predict_proba", "predict"])
def test_the_estimator_behind_a_method_is_converted(logistic, method):
    pytest.importorskip("skl2onnx")
    bound = getattr(logistic, method)
    for function in (bound, functools.partial(bound)):
        recourse = fitted_without_warning(function)
        assert recourse.model_.verifies and recourse.coverage_ is None
        assert recourse.searched_ == f"the Pipeline behind `{method}`, converted to an ONNX file"
    lines = recourse.recourse(X)
    found = lines[lines["status"] == "found"]
    assert len(found) > 0 and (logistic.predict(found[list(X.columns)]) == "Good").all()


def test_a_function_is_explained_by_its_own_probabilities(trees, surrogate_of_trees):
    lines = surrogate_of_trees.recourse(X.head(60))
    for status in ("found", "accepted", "not_found"):
        people = X.loc[lines[lines["status"] == status]["id"].unique()[:4]]
        for _, row in people.iterrows():
            explanation = surrogate_of_trees.explain(row, method="refine", count=2)
            assert explanation.status == status
            assert numpy.isclose(explanation.probability, trees(row.to_frame().T.astype(X.dtypes))[0])
            for way in explanation.ways:
                changed = row.to_frame().T.assign(**way.row).astype(X.dtypes)
                assert numpy.isclose(way.probability, trees(changed)[0]) and way.probability >= 0.5
                assert way.optimal is None and f"probability {way.probability:.3f}" in str(explanation)


def test_a_function_is_evaluated_by_its_own_decisions(trees, surrogate_of_trees):
    rows = X.head(100)
    evaluation = surrogate_of_trees.evaluate(rows, Y.head(100))
    assert evaluation.verified and evaluation.denied == (trees(rows) < 0.5).sum()
    refined = evaluation.to_frame().set_index("method").loc["refine"]
    lines = surrogate_of_trees.recourse(rows)
    found = lines[lines["status"] == "found"]
    assert refined["validity"] == len(found) / evaluation.denied
    assert numpy.isclose(refined["score"], trees(found[list(X.columns)].astype(X.dtypes)).mean())


def test_rows_that_cannot_be_read_do_not_reach_the_classifier(surrogate):
    rows = X.head(20).copy()
    rows.loc[3, "Housing"] = "a tent"
    lines = surrogate.recourse(rows)
    assert lines[lines["id"] == 3]["status"].tolist() == ["error"]
    assert lines[lines["id"] == 3]["reason"].str.contains("tent").all()
    assert set(lines["id"]) == set(rows.index)


def test_locks_hold_for_verified_ways(surrogate):
    lines = surrogate.recourse(X, lock=["Duration", "Credit amount"])
    found = lines[lines["status"] == "found"].set_index("id")
    assert len(found) > 0
    for name in ("Duration", "Credit amount"):
        assert (found[name] == X.loc[found.index, name]).all()


@pytest.mark.parametrize(
    "classify, said",
    [
        (lambda rows: numpy.zeros((len(rows), 3)), "500 by 3 numbers"),
        (lambda rows: numpy.zeros(7), "7 numbers for 500 rows"),
        (lambda rows: 0.5, "one numbers"),
        (lambda rows: numpy.full(len(rows), numpy.nan), "`nan` for row 0"),
        (lambda rows: numpy.linspace(0, 1.5, len(rows)), "from 0 to 1"),
        (lambda rows: ["Good"] * len(rows), "expected a probability of acceptance"),
        (lambda rows: rows["no such column"], "raised KeyError"),
    ],
)
def test_what_is_no_probability_is_refused(classify, said):
    with pytest.raises(ClassifierError, match=said):
        fitted(classify)


def test_what_a_function_raised_is_the_cause():
    def classify(rows):
        raise RuntimeError("the model is asleep")

    with pytest.raises(ClassifierError, match="asleep") as caught:
        fitted(classify)
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize(
    "classifier, said",
    [
        (pipeline(LogisticRegression()), "not fitted"),
        (LogisticRegression, "is a class"),
        (LinearSVC(), "no `predict_proba`.*\nhint: pass its `predict`"),
        (7, "a int has no `predict_proba`"),
    ],
)
def test_what_is_no_classifier_is_refused(classifier, said):
    with pytest.raises(ClassifierError, match=said):
        fitted(classifier)


def test_classes_that_the_schema_does_not_know_are_refused():
    model = pipeline(LogisticRegression(max_iter=1000)).fit(X, (Y == "Good").astype(int))
    with pytest.raises(ClassifierError, match="its classes are `0`, `1`, and `Good`"):
        fitted(model)


def test_an_estimator_that_saw_another_table_is_refused(logistic):
    with pytest.raises(ClassifierError, match="trained on a column `Duration`"):
        schema = numeric_schema().replace('[[feature]]\nname = "Duration"\nkind = "discrete"\n', "")
        fitted(logistic, X.drop(columns="Duration"), schema=schema)


def test_decisions_of_an_estimator_without_probabilities_are_enough():
    model = pipeline(LinearSVC(random_state=0)).fit(X, Y)
    recourse = fitted_without_warning(model.predict)
    lines = recourse.recourse(X)
    found = lines[lines["status"] == "found"]
    assert len(found) > 0 and (model.predict(found[list(X.columns)]) == "Good").all()


def test_a_saved_surrogate_is_unverified(surrogate, tmp_path):
    surrogate.save(tmp_path / "german.par")
    lines = Recourse.load(tmp_path / "german.par").recourse(X.head(200))
    assert {"unverified", "unverified_accepted"} <= set(lines["status"])


def test_a_pickled_recourse_still_asks(surrogate):
    rows = X.head(100)
    again = pickle.loads(pickle.dumps(surrogate))
    pandas.testing.assert_frame_equal(again.recourse(rows), surrogate.recourse(rows))


def test_a_clone_keeps_the_classifier(logistic):
    recourse = Recourse(GERMAN.schema, classifier=logistic, config=QUICK)
    assert clone(recourse).classifier is logistic


def test_a_refitted_recourse_still_asks(surrogate, logistic):
    other = surrogate.refit(["Age", "Housing"])
    lines = check_ways(other, lambda rows: good(logistic, rows))
    found = lines[lines["status"] == "found"].set_index("id")
    assert (found["Housing"] == X.loc[found.index, "Housing"]).all()


def test_a_function_gets_the_kind_of_frame_that_the_table_was(logistic):
    polars = pytest.importorskip("polars")
    table = polars.from_arrow(TABLE)
    schema = table.select(list(X.columns)).schema
    seen = []

    def classify(rows):
        seen.append(rows.schema)
        return good(logistic, rows.to_pandas())

    recourse = fitted_without_warning(classify, table, polars.Series("class", Y.tolist()))
    lines = recourse.recourse(table.head(100))
    assert isinstance(lines, polars.DataFrame)
    assert all(columns == schema for columns in seen) and len(seen) >= 2
    # Whatever kind the people come in, the classifier sees what it was given first.
    recourse.recourse(X.head(10))
    assert seen[-1] == schema

    arrow = []
    recourse = fitted_without_warning(lambda rows: (arrow.append(rows), [0.5] * len(rows))[1], TABLE, LABELS)
    assert isinstance(arrow[0], pa.Table) and arrow[0].column_names == list(X.columns)


def test_a_stream_is_read_once(logistic):
    pytest.importorskip("skl2onnx")
    stream = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    assert fitted_without_warning(logistic, stream, LABELS).model_.verifies


def test_a_layout_gives_back_what_it_was_made_of():
    table = pandas.DataFrame(
        {
            "whole": [1, 2, 3],
            "small": numpy.array([1, 2, 3], dtype="int8"),
            "half": [0.5, numpy.nan, 1.5],
            "truth": [True, False, True],
            "gap": pandas.Series(["a", None, "b"], dtype=object),
            "nan": pandas.Series(["a", numpy.nan, "b"], dtype=object),
            "code": pandas.Categorical([3, 1, 3], categories=[1, 2, 3], ordered=True),
            "text": pandas.Categorical(["x", "y", None], categories=["y", "x", "z"]),
            "nullable": pandas.array([1, None, 3], dtype="Int64"),
        }
    )
    layout = Layout.of(table, "pandas", list(table.columns))
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    pandas.testing.assert_frame_equal(layout.frame(arrow), table)
    assert layout.frame(arrow)["gap"][1] is None and layout.frame(arrow)["nan"][1] is not None
    # As answers write it: whole numbers of 64 bits, categories as text.
    written = arrow.set_column(6, "code", pa.array(["3", "1", "3"])).set_column(1, "small", pa.array([1, 2, 3]))
    pandas.testing.assert_frame_equal(layout.frame(written), table)


def test_an_onnx_file_is_read_from_a_path_or_bytes(logistic, tmp_path):
    skl2onnx = pytest.importorskip("skl2onnx")
    kinds = skl2onnx.common.data_types
    types = [
        (name, (kinds.FloatTensorType if name in NUMBERS else kinds.StringTensorType)([None, 1])) for name in X.columns
    ]
    model = skl2onnx.convert_sklearn(logistic, "german", types, options={"zipmap": False}, target_opset=17)
    path = tmp_path / "german.onnx"
    path.write_bytes(model.SerializeToString())
    (tmp_path / "inputs.toml").write_text(_native.draft_inputs(path.read_bytes(), GERMAN.schema))
    for classifier, favourable, inputs in [
        (path, "Good", None),
        (str(path), "Good", tmp_path / "inputs.toml"),
        (model.SerializeToString(), "Bad", None),
        (model, "Good", (tmp_path / "inputs.toml").read_text()),
    ]:
        with warnings.catch_warnings():
            warnings.simplefilter("error" if inputs else "ignore", UserWarning)
            recourse = fitted(classifier, favourable=favourable, inputs=inputs)
        place = list(logistic.classes_).index(favourable)
        assert numpy.abs(recourse.predict_proba(X)[:, place] - logistic.predict_proba(X)[:, place]).max() < 1e-5


def test_guesses_about_the_inputs_of_a_file_are_told():
    skl2onnx = pytest.importorskip("skl2onnx")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[NUMBERS].to_numpy(), Y)
    types = [("X", skl2onnx.common.data_types.FloatTensorType([None, len(NUMBERS)]))]
    file = skl2onnx.convert_sklearn(model, "numbers", types, options={"zipmap": False}, target_opset=17)
    with pytest.warns(UserWarning, match="drafted, with guesses(.|\n)*order of the schema") as told:
        recourse = fitted(file, X[NUMBERS], schema=numeric_schema())
    assert told[0].filename == __file__
    assert numpy.abs(recourse.predict_proba(X[NUMBERS])[:, 1] - good(model, X[NUMBERS].to_numpy())).max() < 1e-5


def test_an_onnx_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(FileError, match="no.onnx: cannot be read"):
        fitted(tmp_path / "no.onnx")
    with pytest.raises(ClassifierError):
        fitted(b"nothing of the kind")


def test_inputs_without_a_file_are_refused(logistic):
    for classifier in (None, logistic):
        with pytest.raises(SettingError, match="`inputs`"):
            fitted(classifier, inputs="[output]\naccepted = 1\n")


def test_a_forest_that_rounds_otherwise_in_its_onnx_file_is_asked_itself():
    """Scaled in single precision, numbers end on the other side of some of its thresholds."""
    random = numpy.random.default_rng(1)
    frame = pandas.DataFrame(
        {
            "income": numpy.round(random.lognormal(10.3, 0.5, 4000), 2),
            "dti": random.uniform(0, 60, 4000).round(1),
            "loan": random.integers(5, 400, 4000) * 100,
        }
    )
    chance = 1 / (1 + numpy.exp(-(frame["income"] / 30000 - 1 - 0.06 * (frame["dti"] - 25))))
    labels = pandas.Series((random.random(4000) < chance).astype(int), name="ok")
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(50, random_state=0)).fit(frame, labels)
    schema = draft_schema(frame, labels)
    recourse = Recourse(schema, classifier=forest, config=QUICK).fit(frame, labels)
    ways = recourse.recourse(frame, count=3)
    ways = ways[ways["status"] == "found"]
    assert len(ways) > 1000 and (forest.predict_proba(ways[frame.columns])[:, 1] >= 0.5).all()


def test_ways_are_put_in_order_by_what_the_classifier_itself_says():
    import numpy

    from par_recourse._verification import _Facts, _places

    person = numpy.array([0, 0, 0, 1, 2, 2])
    probability = numpy.array([0.52, 0.7, 0.51, numpy.nan, 0.6, 0.4])
    facts = _Facts(
        effort=numpy.array([2.0, 4.0, 5.0, 0.0, 1.0, 1.0]),
        changes=numpy.array([3, 2, 3, 0, 1, 1]),
        months=numpy.array([1, 0, 1, 0, 0, 0]),
        likelihood=numpy.array([-5.0, -6.0, -7.0, numpy.nan, -4.0, -3.0]),
        probability=probability,
        is_sure=probability >= 0.55,
    )
    is_good = probability >= 0.5
    said = numpy.array(
        ["least_effort|most_common", "fewest_changes|soonest", "", "", "fewest_changes|most_common", "most_common"],
        dtype=object,
    )

    places, best_at = _places(is_good, person, facts, said, 3, "balanced")
    assert places.tolist() == [2, 1, 0, 0, 1, 0], "the second has the margin, and the third is dominated"
    assert best_at.tolist()[:2] == ["least_effort|most_common", "fewest_changes|soonest|surest"]
    assert best_at.tolist()[2:] == [None, None, "fewest_changes|most_common|surest", None]
    # One way alone is not best at what another one that was found, or a number of changes, is better at.
    places, best_at = _places(is_good, person, facts, said, 1, "likelihood")
    assert (places.tolist(), best_at.tolist()[0]) == ([1, 0, 0, 0, 1, 0], "least_effort|most_common")
    places, _ = _places(is_good, person, facts, said, 2, "likelihood")
    assert places.tolist() == [1, 2, 0, 0, 1, 0], "as they were found"
