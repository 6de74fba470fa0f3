"""The door for CARLA's benchmarks, through a model of its shape."""

from types import SimpleNamespace

import conftest
import numpy
import pandas
import pytest
from sklearn.linear_model import LogisticRegression

from par_recourse import errors
from par_recourse.compat.carla import RecourseMethod

QUICK = {"config": conftest.QUICK}
CONTINUOUS = ["Duration", "Credit amount", "Age"]
CATEGORICAL = ["Status of existing checking account", "Savings account/bonds", "Housing", "Telephone"]
HOUSING = ["Housing_A151", "Housing_A152", "Housing_A153"]


class Model:
    """A model as CARLA has it, of German Credit scaled to 0 to 1 and one-hot encoded; of two columns one is dropped."""

    def __init__(self, german, immutables=("Age", "Housing"), dropped=(), continuous=CONTINUOUS):
        raw = german.X.to_pandas()
        numbers = raw[CONTINUOUS].astype(float)
        scaled = (numbers - numbers.min()) / (numbers.max() - numbers.min())
        encoded = pandas.get_dummies(raw[CATEGORICAL], dtype=float).drop(columns=["Telephone_A191", *dropped])
        self.feature_input_order = [*encoded.columns, *CONTINUOUS]
        table = pandas.concat([scaled, encoded], axis=1).assign(good=(german.y.to_pandas() == "Good").astype(int))
        self.data = SimpleNamespace(
            df=table,
            target="good",
            continuous=list(continuous),
            categorical=CATEGORICAL,
            immutables=list(immutables),
        )
        self._model = LogisticRegression(max_iter=1000).fit(table[self.feature_input_order], table["good"])

    def predict_proba(self, rows):
        assert list(rows.columns) == self.feature_input_order
        return self._model.predict_proba(rows)

    def denied(self, count):
        table = self.data.df
        return table[self.predict_proba(table[self.feature_input_order])[:, 1] < 0.5].iloc[:count]


@pytest.fixture(scope="module")
def model(german):
    return Model(german)


@pytest.fixture(scope="module")
def method(model):
    return RecourseMethod(model, QUICK).fit()


@pytest.fixture(scope="module")
def factuals(model):
    return model.denied(20)


@pytest.fixture(scope="module")
def answers(method, factuals):
    return method.get_counterfactuals(factuals)


def group(model, name):
    return [column for column in model.feature_input_order if column.startswith(f"{name}_")]


def test_answers_have_the_index_of_the_factuals_and_the_order_of_the_model(answers, factuals, model):
    assert answers.index.equals(factuals.index)
    assert list(answers.columns) == model.feature_input_order
    assert set(answers.dtypes) == {numpy.dtype("float64")}


def test_an_answer_is_of_the_class_that_people_want_and_not_the_factual(answers, factuals, model):
    found = answers.dropna()
    assert len(found) >= 10
    assert (model.predict_proba(found)[:, 1] >= 0.5).all()
    assert (found != factuals.loc[found.index, model.feature_input_order]).any(axis=1).all()


def test_a_row_is_answered_in_full_or_is_nan_throughout(method, factuals, model):
    others = [*CONTINUOUS, *(name for name in CATEGORICAL if name != "Telephone")]
    locked = RecourseMethod(model, {**QUICK, "lock": others})
    locked._fitted = method._fitted
    answers = locked.get_counterfactuals(factuals)
    is_nan = answers.isna()
    assert is_nan.all(axis=1).any()
    assert (is_nan.all(axis=1) == is_nan.any(axis=1)).all()
    found = answers.dropna()
    same = [name for name in model.feature_input_order if name != "Telephone_A192"]
    assert found[same].equals(factuals.loc[found.index, same])


def test_people_whom_only_the_surrogate_accepts_are_searched_again(model, method):
    denied = model.denied(1000)
    answers = method.get_counterfactuals(denied)
    assert len(answers.dropna()) == len(denied)


def test_what_is_immutable_stays_in_all_of_its_columns(answers, factuals):
    found = answers.dropna()
    for column in ["Age", *HOUSING]:
        assert (found[column] == factuals.loc[found.index, column]).all()


def test_every_category_stays_one(answers, model):
    found = answers.dropna()
    for name in CATEGORICAL[:3]:
        assert (found[group(model, name)].sum(axis=1) == 1).all()
    assert found[[column for name in CATEGORICAL for column in group(model, name)]].isin([0, 1]).all(axis=None)
    changed = found[group(model, CATEGORICAL[0])] != model.data.df.loc[found.index, group(model, CATEGORICAL[0])]
    assert changed.any(axis=None)


def test_numbers_stay_within_those_of_the_table(answers):
    found = answers.dropna()
    assert ((found[CONTINUOUS] >= 0) & (found[CONTINUOUS] <= 1)).all(axis=None)


def test_who_is_accepted_is_answered_by_their_own_row(method, model):
    table = model.data.df
    accepted = table[model.predict_proba(table[model.feature_input_order])[:, 1] >= 0.5].iloc[:3]
    mixed = pandas.concat([accepted, model.denied(1)])
    answers = method.get_counterfactuals(mixed)
    assert answers.iloc[:3].equals(accepted[model.feature_input_order])
    assert not answers.iloc[3].equals(mixed[model.feature_input_order].iloc[3])


def test_the_same_index_twice_is_no_obstacle(method, factuals, answers):
    twice = pandas.concat([factuals.iloc[:2], factuals.iloc[:2]])
    again = method.get_counterfactuals(twice)
    assert again.equals(pandas.concat([answers.iloc[:2], answers.iloc[:2]]))


def test_no_factuals_have_no_answers(method, factuals, model):
    answers = method.get_counterfactuals(factuals.iloc[:0])
    assert answers.shape == (0, len(model.feature_input_order))


def test_a_factual_without_a_column_is_refused(method, factuals):
    with pytest.raises(errors.DataError, match="factuals: there is no column `Age`"):
        method.get_counterfactuals(factuals.drop(columns="Age"))


@pytest.mark.parametrize("cells", [{"Telephone_A192": 0.3}, dict.fromkeys(HOUSING, 1.0), dict.fromkeys(HOUSING, 0.0)])
def test_a_factual_that_is_encoded_in_no_way_of_the_table_is_refused(method, factuals, cells):
    with pytest.raises(errors.DataError, match="factuals: row 0: "):
        method.get_counterfactuals(factuals.iloc[:2].assign(**cells))


def test_few_changes_are_counted_by_category_and_not_by_column(method, factuals, model):
    one = RecourseMethod(model, {**QUICK, "budget": 1, "method": "exact"})
    one._fitted = method._fitted
    found = one.get_counterfactuals(factuals).dropna()
    assert len(found) > 0
    changed = found != factuals.loc[found.index, model.feature_input_order]
    columns = {name: group(model, name) for name in CATEGORICAL} | {name: [name] for name in CONTINUOUS}
    counts = sum(changed[names].any(axis=1).astype(int) for names in columns.values())
    assert (counts == 1).all()


def test_the_threshold_is_that_of_the_hyperparameters(model, factuals):
    sure = RecourseMethod(model, {**QUICK, "threshold": 0.7}).get_counterfactuals(factuals).dropna()
    assert len(sure) > 0
    assert (model.predict_proba(sure)[:, 1] >= 0.7).all()


def test_a_dropped_column_leaves_a_category_of_zeros(german):
    model = Model(german, dropped=["Savings account/bonds_A61"], immutables=[])
    found = RecourseMethod(model, QUICK).get_counterfactuals(model.denied(20)).dropna()
    ones = found[group(model, "Savings account/bonds")].sum(axis=1)
    assert set(ones) <= {0, 1} and 0 in set(ones)
    assert (found[HOUSING].sum(axis=1) == 1).all()


def test_columns_that_are_no_encoding_are_features_of_their_own(german):
    model = Model(german, immutables=["Housing"])
    first = model.data.df.index[0]
    model.data.df.loc[first, HOUSING] = [1.0, 1.0, 0.0]
    method = RecourseMethod(model, QUICK)
    assert "Housing" not in method._encoding.groups and set(HOUSING) <= set(method._encoding.flags)
    factuals = model.denied(5)
    found = method.get_counterfactuals(factuals).dropna()
    assert len(found) > 0
    assert (found[HOUSING] == factuals.loc[found.index, HOUSING]).all(axis=None)


def test_a_model_that_only_predicts_probabilities_will_do(model, method, factuals, answers):
    class Predicts:
        data, feature_input_order = model.data, model.feature_input_order

        def predict(self, rows):
            return model.predict_proba(rows)[:, [1]]

    other = RecourseMethod(Predicts(), QUICK)
    other._fitted = method._fitted
    assert other.get_counterfactuals(factuals).equals(answers)


def test_a_model_that_gives_something_else_is_refused(model):
    class Wrong:
        data, feature_input_order = model.data, model.feature_input_order

        def predict_proba(self, rows):
            return numpy.zeros((len(rows), 3))

    with pytest.raises(errors.ClassifierError, match="mlmodel: expected a probability for each of 2 rows, found"):
        RecourseMethod(Wrong()).get_counterfactuals(model.denied(2))


def test_hyperparameters_are_merged_into_the_defaults(model):
    method = RecourseMethod(model, {"method": "exact"})
    assert method.hyperparams["method"] == "exact"
    assert method.hyperparams["threshold"] == 0.5
    assert method.hyperparams["budget"] is None
    assert RecourseMethod.DEFAULTS["method"] == "refine"


@pytest.mark.parametrize(
    ("told", "default", "message"),
    [
        ({"steps": 3}, {"method": "refine"}, "hyperparams: there is no `steps`, expected one of method"),
        ({}, {"method": None}, "hyperparams: `method` has no default"),
        ({"method": None}, {"method": None}, "hyperparams: `method` has no default"),
    ],
)
def test_a_hyperparameter_that_is_unknown_or_lacking_is_refused(told, default, message):
    with pytest.raises(errors.SettingError, match=message):
        RecourseMethod.merge_default_parameters(told, default)


def test_a_feature_to_lock_that_is_none_is_refused(method, model, factuals):
    other = RecourseMethod(model, {**QUICK, "lock": ["Salary"]})
    other._fitted = method._fitted
    with pytest.raises(errors.SettingError, match="lock: there is no feature `Salary`"):
        other.get_counterfactuals(factuals)


def test_a_limited_category_moves_only_to_the_columns_that_are_named(method, model, factuals):
    savings = "Savings account/bonds"
    others = [name for name in [*CONTINUOUS, *CATEGORICAL] if name != savings]
    other = RecourseMethod(model, {**QUICK, "lock": others, "limit": {savings: [f"{savings}_A64"]}})
    other._fitted = method._fitted
    found = other.get_counterfactuals(factuals).dropna()
    assert len(found) > 0
    assert (found[f"{savings}_A64"] == 1).all()
