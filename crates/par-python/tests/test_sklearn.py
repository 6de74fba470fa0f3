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
