"""What can be pickled, and what of a classifier comes along."""

import pickle

import pytest
from conftest import QUICK

from par_recourse import Recourse, Schema, plots


def again(value):
    return pickle.loads(pickle.dumps(value))


def test_a_fitted_recourse_answers_the_same(fitted, german):
    X = german.X.slice(0, 30)
    assert again(fitted).recourse(X).equals(fitted.recourse(X))
    assert again(fitted).model_.to_bytes() == fitted.model_.to_bytes()


def test_what_it_gives_can_be_pickled_too(fitted, german):
    X = german.X.slice(0, 30).to_pandas()
    ways, explanation = fitted.ways(X), fitted.explain(X.iloc[[1]])
    assert again(ways).changes().equals(ways.changes())
    assert str(again(explanation)) == str(explanation) and again(explanation).ways == explanation.ways
    assert again(plots.changes(ways)).svg == plots.changes(ways).svg
    evaluation = fitted.evaluate(X, method="refine")
    assert again(evaluation).to_dict() == evaluation.to_dict()
    schema = Schema.from_toml(german.schema)
    assert again(schema).to_toml() == schema.to_toml()


def predicted(frame):
    return (frame["Duration"] < 20) * 0.8 + 0.1


def test_a_function_comes_along_by_its_name_and_a_lambda_does_not(german):
    X, y = german.X.to_pandas(), german.y.to_pandas()
    named = Recourse(german.schema, classifier=predicted, config=QUICK).fit(X, y)
    assert again(named).recourse(X.head()).equals(named.recourse(X.head()))
    named.classifier = lambda frame: predicted(frame)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(named)
