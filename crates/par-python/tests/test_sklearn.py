"""scikit-learn's conventions."""

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from par_recourse import Recourse, errors


def test_settings_are_kept_as_they_are_and_cloned(german):
    recourse = Recourse(german.schema, immutable=["Age"], config=QUICK)
    assert recourse.get_params()["immutable"] == ["Age"]
    other = clone(recourse).set_params(budget=3)
    assert (other.budget, recourse.budget, other.immutable) == (3, None, ["Age"])
    with pytest.raises(errors.SettingError, match="`colour`"):
        recourse.set_params(colour="red")
    assert repr(Recourse(budget=3)) == "Recourse(budget=3)"


def test_it_says_whether_it_is_fitted(fitted):
    check_is_fitted(fitted)
    with pytest.raises(NotFittedError):
        check_is_fitted(Recourse())
    assert is_classifier(fitted)
    for ask in (Recourse().predict_proba, Recourse().predict, Recourse().ways, Recourse().explain):
        with pytest.raises(NotFittedError, match="not fitted yet") as raised:
            ask([{"age": 3}])
        assert isinstance(raised.value, errors.NotFittedError)


class OnArrays(Recourse):
    """Describes arrays by itself: scikit-learn's checks have no schema to pass."""

    def _described(self, X, y):
        shape, y = getattr(X, "shape", ()), None if y is None else y.__array__() if hasattr(y, "__array__") else y
        shape = X.__array__().shape if shape == () and hasattr(X, "__array__") else shape
        names = [f"x{column}" for column in range(shape[1] if len(shape) == 2 else 1)]
        classes = sorted({str(label) for label in np.ravel(y).tolist()} if np.size(y) > 1 else {"0", "1"})
        label = {"column": "y", "classes": classes, "favourable": classes[-1]}
        features = [{"name": name, "kind": "continuous", "missing": True, "change": "free"} for name in names or ["x0"]]
        return Recourse({"version": 2, "label": label, "feature": features})._described(X, y)


CANNOT = {
    "check_classifier_data_not_an_array": "columns of a frame go by their names, and those of this one are numbers",
    "check_classifiers_classes": "more than two classes become two: accepted and denied",
    "check_classifiers_train": "a list of lists is no table",
    "check_classifiers_regression_target": "the schema says that a label is a number, not the label itself",
    "check_supervised_y_2d": "a column of labels is read as labels, without a warning",
    "check_methods_sample_order_invariance": "more than two classes become two: accepted and denied",
    "check_methods_subset_invariance": "more than two classes become two: accepted and denied",
    "check_fit2d_1sample": "the message is about the classes that one row cannot have",
    "check_requires_y_none": "the label may be a column of X",
}
"""The checks that cannot pass, and why; `docs/python.md` has the same list."""


def test_it_passes_the_checks_of_scikit_learn_that_apply():
    done = check_estimator(OnArrays(config=QUICK, progress=False), on_fail=None, on_skip=None)
    failed = {check["check_name"]: check["exception"] for check in done if check["status"] == "failed"}
    assert failed.keys() == CANNOT.keys(), failed
    assert sum(check["status"] == "passed" for check in done) > 35


def test_arrays_are_named_by_the_schema(german):
    names = ["Duration", "Credit amount", "Age"]
    features = [{"name": name, "kind": "discrete", "change": "free"} for name in names]
    label = {"column": "class", "classes": ["Bad", "Good"], "favourable": "Good"}
    X, y = german.X.select(names).to_pandas().to_numpy(), german.y.to_numpy(zero_copy_only=False)
    recourse = Recourse({"version": 2, "label": label, "feature": features}, config=QUICK).fit(X, y)
    assert recourse.feature_names_in_.tolist() == names and recourse.feature_names_in_.dtype == object
    assert recourse.n_features_in_ == 3 and recourse.predict(X[:5]).shape == (5,)
    ways = recourse.ways(X[:50])
    assert ways.frame.column_names[-3:] == names and len(ways) > 0
    with pytest.raises(errors.DataError, match="X has 2 features, but Recourse is expecting 3 features as input"):
        recourse.predict(X[:, :2])
    with pytest.raises(errors.DataError, match="an array has no names of columns"):
        Recourse().fit(X, y)


def test_weights_are_refused(german):
    with pytest.raises(errors.SettingError) as raised:
        Recourse(german.schema).fit(german.X, german.y, sample_weight=np.ones(1000))
    assert str(raised.value) == (
        "fit: `sample_weight` cannot be honoured: likelihoods are learned by counting rows\n"
        "hint: repeat rows by whole weights, or pass a `classifier` that was fitted with weights"
    )
    with pytest.raises(errors.SettingError, match="no argument `weight`, expected `X` and `y`"):
        Recourse(german.schema).fit(german.X, german.y, weight=1)


def test_its_classifier_predicts(fitted, german):
    probabilities = fitted.predict_proba(german.X)
    assert probabilities.shape == (1000, 2) and np.allclose(probabilities.sum(axis=1), 1)
    assert list(fitted.classes_) == ["Bad", "Good"]
    predicted = fitted.predict(german.X)
    assert np.mean(predicted == german.y.to_numpy()) == fitted.score(german.X, german.y) > 0.7


def test_labels_come_back_as_they_were(german):
    schema = german.schema.replace('"Bad"', '"0"').replace('"Good"', '"1"')
    labels = np.array([int(label == "Good") for label in german.y.to_pylist()])
    recourse = Recourse(schema, config=QUICK).fit(german.X, labels)
    assert recourse.predict(german.X).dtype == labels.dtype
    assert np.mean(recourse.predict(german.X) == labels) == recourse.score(german.X, labels)


@pytest.mark.parametrize("kind", [bool, float, int, str, "category"])
@pytest.mark.parametrize("favourable", [0, 1])
def test_labels_of_any_type_are_judged_alike(kind, favourable):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"savings": random.normal(size=400).round(2), "hours": random.normal(size=400).round(2)})
    good = (frame["savings"] + frame["hours"] > 0).astype(int)
    labels = pd.Series(good, name="ok").astype(kind)
    wanted = {bool: bool(favourable), float: float(favourable)}.get(kind, favourable)
    with pytest.warns(UserWarning, match="no schema"):
        recourse = Recourse(favourable=wanted, config=QUICK).fit(frame, labels)
    assert recourse.score(frame, labels) > 0.9
    assert (recourse.predict(frame) == labels.to_numpy()).mean() == recourse.score(frame, labels)
    assert list(recourse.classes_) == sorted(labels.unique().tolist())
    assert roc_auc_score(good, recourse.predict_proba(frame)[:, 1]) > 0.95


def test_a_stream_is_read_once(fitted, german):
    some = german.X.slice(0, 50)
    assert fitted.predict_proba(some.to_reader()).tolist() == fitted.predict_proba(some).tolist()
    assert fitted.evaluate(some.to_reader(), german.y.slice(0, 50)).rows == 50


def test_it_is_the_last_step_of_a_pipeline(german):
    frame = german.X.to_pandas()
    holes = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.01)
    numbers = [name for name in frame.select_dtypes("number").columns]
    texts = [name for name in frame.columns if name not in numbers]
    filled = ColumnTransformer(
        [("numbers", SimpleImputer(strategy="median"), numbers), ("texts", SimpleImputer(strategy="most_frequent"), texts)],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = Pipeline([("fill", filled), ("recourse", Recourse(german.schema, config=QUICK))])
    pipeline.fit(holes, german.y.to_numpy())
    lines = pipeline[-1].recourse(pipeline[:-1].transform(holes))
    assert isinstance(lines, pd.DataFrame) and set(lines["status"]) <= {"accepted", "found", "not_found"}
    assert pipeline.score(holes, german.y.to_numpy()) > 0.7


def test_it_is_cross_validated(german):
    scores = cross_val_score(
        Recourse(german.schema, config=QUICK), german.X.to_pandas(), german.y.to_numpy(), cv=2
    )
    assert min(scores) > 0.6
