"""More than two classes, and labels that are numbers."""

import numpy
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

from par_recourse import Recourse
from par_recourse.errors import ClassifierError, SettingError

QUICK = {"generator": {"steps": 20, "examples": 100}, "pool": {"size": 200}}


def schema(label, names):
    features = [{"name": name, "kind": "continuous", "change": "free"} for name in names]
    return {"version": 2, "label": label, "feature": features}


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    names = ["alcohol", "flavanoids", "hue", "proline"]
    return data.data[names], data.target.map({0: "a", 1: "b", 2: "c"}).rename("cultivar")


@pytest.fixture(scope="module")
def diabetes():
    data = load_diabetes(as_frame=True, scaled=False)
    return data.data[["bmi", "bp", "s5"]], data.target.rename("progression")


def test_the_probabilities_of_several_classes_are_added_up(wine):
    X, y = wine
    forest = RandomForestClassifier(12, max_depth=4, random_state=0).fit(X, y)
    label = {"column": "cultivar", "classes": ["a", "b", "c"], "favourable": "a"}
    recourse = Recourse(schema(label, X.columns), classifier=forest, favourable=["a", "c"], config=QUICK).fit(X, y)
    assert list(recourse.classes_) == ["a, c", "b"]
    assert recourse.model_.favourable == ["a", "c"]
    expected = forest.predict_proba(X)[:, [0, 2]].sum(axis=1)
    assert numpy.allclose(recourse.predict_proba(X)[:, 0], expected, atol=1e-5)
    ways = recourse.recourse(X[expected < 0.5].head(5))
    found = ways[ways["status"] == "found"]
    assert len(found) > 0
    assert (forest.predict_proba(found[X.columns])[:, [0, 2]].sum(axis=1) >= 0.5).all()
    assert recourse.score(X, y) > 0.9


def test_a_regression_predicts_and_its_ways_reach_the_number(diabetes):
    X, y = diabetes
    label = {"column": "progression", "at_most": 140}
    own = Recourse(schema(label, X.columns), config=QUICK).fit(X, y)
    assert own.predict(X).shape == (len(X),) and own.threshold_ == 140
    assert 0.2 < own.card_["held_out_r2"] < own.score(X, y) + 0.3
    denied = X[own.predict(X) > 150].head(5)
    ways = own.recourse(denied, margin=5)
    found = ways[ways["status"] == "found"]
    assert len(found) > 0 and (found["probability"] <= 140).all()
    told = own.explain(denied.head(1))
    assert "at most 140 is needed" in str(told) and told.score_words.startswith("predicted ")
    assert "at most 140 is needed" in told._repr_html_()
    with pytest.raises(SettingError, match="the label is a number"):
        own.predict_proba(X)


def test_a_regression_of_scikit_learn_is_searched_as_it_is(diabetes):
    X, y = diabetes
    label = {"column": "progression", "at_most": 140}
    linear = LinearRegression().fit(X, y)
    recourse = Recourse(schema(label, X.columns), classifier=linear, config=QUICK).fit(X, y)
    assert numpy.allclose(recourse.predict(X), linear.predict(X), atol=1e-2)
    ways = recourse.recourse(X[linear.predict(X) > 150].head(5), method="exact")
    found = ways[ways["status"] == "found"]
    assert len(found) > 0 and found["optimal"].any()
    assert (linear.predict(found[X.columns]) <= 140).all()
    assert recourse.score(X, y) == pytest.approx(linear.score(X, y), abs=1e-3)
    with pytest.raises(ClassifierError, match="is no fitted regression"):
        Recourse(schema(label, X.columns), classifier=lambda X: X["bmi"]).fit(X, y)


def test_a_label_that_is_no_number_is_refused(diabetes):
    X, y = diabetes
    label = {"column": "progression", "at_least": 140}
    bad = y.astype(object).copy()
    bad.iloc[3] = "much"
    with pytest.raises(Exception, match="expected a finite number, the label, found `much`"):
        Recourse(schema(label, X.columns), config=QUICK).fit(X, bad.astype(str))
