"""The door for those who come from DiCE: what they would expect of it, and what it promises beyond."""

import json
import sys
import warnings
from pathlib import Path

import pandas
import pytest
from conftest import QUICK
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from par_recourse import ParError, Recourse
from par_recourse.compat import dice as dice_ml
from par_recourse.compat.dice import CounterfactualExplanations, UserConfigValidationException
from par_recourse.compat.dice.interfaces import OneHotMinMax
from par_recourse.errors import IgnoredOptionWarning, SettingError

NUMBERS = ["Duration", "Credit amount", "Age"]
FEATURES = [
    "Status of existing checking account",
    "Duration",
    "Credit history",
    "Credit amount",
    "Savings account/bonds",
    "Age",
    "Housing",
    "Telephone",
]


def pipeline(frame, classes, model=None):
    """A model of raw columns."""
    texts = [name for name in frame if name not in NUMBERS]
    columns = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), texts))
    return make_pipeline(columns, model or LogisticRegression(max_iter=1000)).fit(frame, classes)


@pytest.fixture(scope="module")
def X(german):
    return german.X.to_pandas()[FEATURES]


@pytest.fixture(scope="module")
def y(german):
    return german.y.to_pandas().rename("class")


@pytest.fixture(scope="module")
def model(X, y):
    return pipeline(X, y)


@pytest.fixture(scope="module")
def data(X, y):
    return dice_ml.Data(dataframe=X.assign(**{"class": y}), continuous_features=NUMBERS, outcome_name="class")


@pytest.fixture(scope="module")
def explainer(data, model):
    return dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method="random", config=QUICK)


@pytest.fixture(scope="module")
def denied(X, model):
    return X[model.predict(X) == "Bad"].iloc[:6]


@pytest.fixture(scope="module")
def found(explainer, denied):
    return explainer.generate_counterfactuals(denied, total_CFs=3)


def ways(found):
    """All counterfactuals with their queries, features only."""
    for example in found.cf_examples_list:
        if example.final_cfs_df is not None:
            yield example.test_instance_df.iloc[0, :-1], example.final_cfs_df.iloc[:, :-1]


def test_every_counterfactual_is_of_the_desired_class_by_the_model_itself(found, model):
    rows = pandas.concat(rows for _, rows in ways(found))
    assert len(rows) >= 6
    assert set(model.predict(rows)) == {"Good"}


def test_a_query_has_at_most_as_many_counterfactuals_as_were_asked_for_and_no_two_alike(found):
    assert len(found.cf_examples_list) == 6
    for _, rows in ways(found):
        assert 1 <= len(rows) <= 3
        assert not rows.duplicated().any()


def test_frames_have_the_columns_the_types_and_the_index_that_dice_gives_them(found, denied):
    example = found.cf_examples_list[1]
    for frame in (example.test_instance_df, example.final_cfs_df, example.final_cfs_df_sparse):
        assert list(frame.columns) == [*FEATURES, "class"]
        assert frame.dtypes[FEATURES].equals(denied.dtypes)
        assert list(frame.index) == list(range(len(frame)))
    assert example.test_instance_df.iloc[0, :-1].tolist() == denied.iloc[1].tolist()
    assert set(example.final_cfs_df["class"]) == {"Good"}
    assert example.final_cfs_df.equals(example.final_cfs_df_sparse)


def test_an_example_says_what_was_and_what_is_desired_by_the_names_of_the_classes(found):
    example = found.cf_examples_list[0]
    told = (example.test_pred, example.new_outcome, example.desired_class, example.desired_range, example.model_type)
    assert told == ("Bad", "Good", "Good", None, "classifier")
    assert example.data_interface.outcome_name == "class"
    assert example.posthoc_sparsity_param == 0.1


def test_columns_of_a_query_may_come_in_another_order(explainer, denied, found):
    assert explainer.generate_counterfactuals(denied[FEATURES[::-1]], total_CFs=3) == found


def test_options_of_dices_searches_have_no_effect_and_say_so_once(explainer, denied, found):
    other = dice_ml.Dice(explainer.data_interface, explainer.model, config=QUICK)
    options = {"random_seed": 7, "sample_size": 10, "posthoc_sparsity_algorithm": "binary", "feature_weights": "inverse_mad"}
    with pytest.warns(IgnoredOptionWarning) as told:
        assert other.generate_counterfactuals(denied, 3, **options) == found
    assert sorted(str(one.message) for one in told) == [
        "`feature_weights='inverse_mad'` has no effect: a change is measured by its effort; a dict of weights has an effect",
        "`posthoc_sparsity_algorithm` has no effect: no row has a change that it does not need; "
        "`fewest_changes=True` asks for the fewest",
        "`random_seed` has no effect: the same query always has the same answer",
        "`sample_size` has no effect: rows are searched for, not sampled",
    ]
    assert {one.filename for one in told} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert other.generate_counterfactuals(denied, 3, posthoc_sparsity_param=None, **options) == found


def changes(found):
    """The number of changes of every counterfactual."""
    return [int((row != own).sum()) for own, rows in ways(found) for _, row in rows.iterrows()]


def test_fewest_changes_come_first_on_request(explainer, denied, found, model):
    fewest = explainer.generate_counterfactuals(denied, 3, fewest_changes=True)
    rows = pandas.concat(rows for _, rows in ways(fewest))
    assert set(model.predict(rows)) == {"Good"} and rows.dtypes.equals(denied.dtypes)
    for own, rows in ways(fewest):
        counts = [(row != own).sum() for _, row in rows.iterrows()]
        assert counts == sorted(counts) and not rows.duplicated().any()
    first, usual = (explainer.generate_counterfactuals(denied, 1, fewest_changes=few) for few in (True, False))
    assert sum(changes(first)) < sum(changes(usual))


def test_another_explainer_of_the_same_data_and_model_has_learned_already(explainer, denied, found, monkeypatch):
    monkeypatch.setattr(Recourse, "fit", lambda *_: pytest.fail("it is fitted again"))
    other = dice_ml.Dice(explainer.data_interface, explainer.model, method="genetic", config=QUICK)
    assert other.generate_counterfactuals(denied, total_CFs=3) == found


def test_what_data_ignores_it_says(X, y):
    frame = X.assign(**{"class": y})
    with pytest.warns(IgnoredOptionWarning) as told:
        data = dice_ml.Data(
            dataframe=frame,
            continuous_features=NUMBERS,
            outcome_name="class",
            test_size=0.1,
            continuous_features_precision={"Age": 1},
        )
    assert [str(one.message) for one in told] == [
        "`continuous_features_precision` has no effect: numbers have the decimals of the table",
        "`test_size` has no effect: all rows of the frame are used",
    ]
    assert {one.filename for one in told} == {__file__}
    assert (data.test_size, data.continuous_features_precision) == (0.1, {"Age": 1})


def test_an_option_that_dice_does_not_have_is_a_type_error(explainer, denied):
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        explainer.generate_counterfactuals(denied, 3, colour="red")
    with pytest.raises(TypeError, match="unexpected keyword argument 'threshold'"):
        dice_ml.Dice(explainer.data_interface, explainer.model, threshold=0.7)


@pytest.mark.parametrize("method", ["genetic", "kdtree", "generate", "exact"])
def test_all_methods_answer(explainer, denied, model, method):
    other = dice_ml.Dice(explainer.data_interface, explainer.model, method=method, config=QUICK)
    answered = other.generate_counterfactuals(denied.iloc[:2], total_CFs=1)
    rows = pandas.concat(rows for _, rows in ways(answered))
    assert set(model.predict(rows)) == {"Good"}


# -- the desired class


def test_the_opposite_of_a_row_of_either_class_is_found(explainer, X, model):
    queries = pandas.concat([X[model.predict(X) == name].iloc[:2] for name in ("Good", "Bad")])
    answered = explainer.generate_counterfactuals(queries, total_CFs=1)
    assert [example.new_outcome for example in answered.cf_examples_list] == ["Bad", "Bad", "Good", "Good"]
    for example, (_, rows) in zip(answered.cf_examples_list, ways(answered)):
        assert set(model.predict(rows)) == {example.new_outcome}


def test_a_class_goes_by_its_place_among_the_models_classes(explainer, denied, found):
    assert explainer.generate_counterfactuals(denied, 3, desired_class=1) == found
    assert explainer.generate_counterfactuals(denied, 3, desired_class=True) == found


def test_what_has_the_desired_class_already_has_nothing_to_change(explainer, X, model):
    queries = pandas.concat([X[model.predict(X) == name].iloc[:1] for name in ("Good", "Bad")])
    good, bad = explainer.generate_counterfactuals(queries, 2, desired_class=1).cf_examples_list
    assert good.final_cfs_df is None and good.final_cfs_df_sparse is None and good.test_pred == "Good"
    assert bad.final_cfs_df is not None


@pytest.mark.parametrize(
    ("desired", "message"),
    [
        (2, "Desired class not present in training data!"),
        (-1, "Desired class not present in training data!"),
        ("Good", "The target class for Good could not be identified"),
        (None, "The target class for None could not be identified"),
        (1.0, "The target class for 1.0 could not be identified"),
    ],
)
def test_a_class_that_is_none_is_refused(explainer, denied, desired, message):
    with pytest.raises(UserConfigValidationException) as raised:
        explainer.generate_counterfactuals(denied, 1, desired_class=desired)
    assert str(raised.value).splitlines()[0] == message
    assert isinstance(raised.value, ParError)


@pytest.mark.parametrize("threshold", [0.8, 0.2])
def test_the_threshold_is_the_least_probability_of_the_desired_class(explainer, denied, model, threshold):
    answered = explainer.generate_counterfactuals(denied, 2, stopping_threshold=threshold)
    rows = pandas.concat(rows for _, rows in ways(answered))
    assert model.predict_proba(rows)[:, 1].min() >= 0.8


# -- what may change


def test_only_features_to_vary_change(explainer, denied):
    answered = explainer.generate_counterfactuals(denied, 3, features_to_vary=["Duration", "Credit amount"])
    for own, rows in ways(answered):
        changed = {name for name in FEATURES for value in rows[name] if value != own[name]}
        assert changed <= {"Duration", "Credit amount"}


def test_features_move_only_within_the_permitted_range_and_may_stay_outside(explainer, denied):
    permitted = {"Duration": [10, 20], "Savings account/bonds": ["A63", "A64"]}
    answered = explainer.generate_counterfactuals(
        denied, 3, permitted_range=permitted, features_to_vary=[*permitted, "Credit amount"]
    )

    def moved(name):
        return {value for own, rows in ways(answered) for value in rows[name] if value != own[name]}

    assert moved("Duration") and all(10 <= value <= 20 for value in moved("Duration"))
    assert moved("Savings account/bonds") and moved("Savings account/bonds") <= {"A63", "A64"}
    assert any((rows["Savings account/bonds"] == "A61").any() for _, rows in ways(answered))


def test_a_permitted_range_with_fractions_gives_whole_numbers_within_it(explainer, denied, model):
    permitted = {"Duration": [5.5, 9.5], "Credit amount": [1000.25, 3999.75]}
    answered = explainer.generate_counterfactuals(denied, 3, permitted_range=permitted, features_to_vary=list(permitted))
    moved = 0
    for own, rows in ways(answered):
        assert rows[FEATURES].notna().all(axis=None)
        assert (model.predict(rows[FEATURES]) == "Good").all()
        for name, (low, high) in permitted.items():
            assert rows[name].dtype.kind == "i"
            others = rows[name][rows[name] != own[name]]
            assert others.between(low, high).all()
            moved += len(others)
    assert moved > 0


def test_a_permitted_range_between_two_whole_numbers_is_refused(explainer, denied):
    with pytest.raises(SettingError, match="`Duration` holds whole numbers only, and there is none from 10.2 to 10.8"):
        explainer.generate_counterfactuals(
            denied, 1, permitted_range={"Duration": [10.2, 10.8]}, features_to_vary=["Duration"]
        )


def test_the_range_of_the_data_holds_unless_a_question_has_another(X, y, explainer, denied):
    data = dice_ml.Data(
        dataframe=X.assign(**{"class": y}),
        continuous_features=NUMBERS,
        outcome_name="class",
        permitted_range={"Duration": [13, 20]},
    )
    assert data.permitted_range["Duration"] == [13, 20]
    other = dice_ml.Dice(data, explainer.model, config=QUICK)

    def durations(**asked):
        answered = other.generate_counterfactuals(denied, 3, features_to_vary=["Duration", "Credit amount"], **asked)
        return [value for own, rows in ways(answered) for value in rows["Duration"] if value != own["Duration"]]

    assert durations() and all(13 <= value <= 20 for value in durations())
    shorter = durations(permitted_range={"Duration": [4, 12]})
    assert shorter and all(4 <= value <= 12 for value in shorter)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"features_to_vary": ["Salary"]}, "Got features {'Salary'} which are not present in training data"),
        ({"features_to_vary": []}, "Some features need to be varied for generating counterfactuals."),
        ({"permitted_range": {"Salary": [1, 2]}}, "Got features {'Salary'} which are not present in training data"),
        (
            {"permitted_range": {"Telephone": ["A193"]}},
            "The category A193 does not occur in the training data for feature Telephone. "
            "Allowed categories are ['A192', 'A191']",
        ),
        (
            {"total_CFs": 0},
            "The number of counterfactuals generated per query instance (total_CFs) should be a positive integer.",
        ),
        ({"desired_range": [0, 1]}, "The desired_range parameter should not be set for classification task"),
        ({"stopping_threshold": 2}, "The stopping_threshold should lie between 0.0 and 1.0"),
        ({"posthoc_sparsity_param": 2}, "The posthoc_sparsity_param should lie between 0.0 and 1.0"),
        (
            {"posthoc_sparsity_algorithm": "quick"},
            "The posthoc_sparsity_algorithm should be linear or binary and not quick",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_in_dices_words(explainer, denied, asked, message):
    with pytest.raises(UserConfigValidationException) as raised:
        explainer.generate_counterfactuals(denied, **{"total_CFs": 1, **asked})
    assert str(raised.value) == message


@pytest.mark.parametrize("permitted", [{"Duration": [20, 10]}, {"Duration": [20]}, {"Duration": "short"}])
def test_a_range_that_is_none_is_a_value_error(explainer, denied, permitted):
    with pytest.raises(ValueError, match="permitted_range of Duration"):
        explainer.generate_counterfactuals(denied, 1, permitted_range=permitted)


def test_a_fixed_category_outside_its_permitted_range_is_a_value_error(explainer, denied):
    query = denied.iloc[[0]]
    other = {"A191": "A192", "A192": "A191"}[query["Telephone"].iloc[0]]
    asked = {"features_to_vary": ["Duration"], "permitted_range": {"Telephone": [other]}}
    with pytest.raises(ValueError, match="Feature: Telephone is outside the permitted range and isn't allowed to vary"):
        explainer.generate_counterfactuals(query, 1, **asked)


# -- nothing found


def by_telephone_alone(X, model):
    """Denied rows that another telephone turns, and denied rows that it does not."""
    denied = X[model.predict(X) == "Bad"]
    flipped = denied.assign(Telephone=denied["Telephone"].map({"A191": "A192", "A192": "A191"}))
    is_turned = model.predict(flipped) == "Good"
    return denied[is_turned], denied[~is_turned]


def test_a_row_without_counterfactuals_has_none_and_the_others_have_theirs(explainer, X, model):
    turned, stuck = by_telephone_alone(X, model)
    queries = pandas.concat([stuck.iloc[:1], turned.iloc[:1]])
    answered = explainer.generate_counterfactuals(queries, 3, features_to_vary=["Telephone"])
    nothing, something = answered.cf_examples_list
    assert nothing.final_cfs_df is None and nothing.final_cfs_df_sparse is None
    assert (nothing.test_pred, nothing.new_outcome) == ("Bad", "Good")
    assert len(something.final_cfs_df) == 1
    assert json.loads(answered.to_json())["cfs_list"][0] is None


def test_it_is_an_error_if_no_row_has_counterfactuals(explainer, X, model):
    message = "No counterfactuals found for any of the query points! Kindly check your configuration."
    _, stuck = by_telephone_alone(X, model)
    for queries in (stuck.iloc[:2], stuck.iloc[:0]):
        with pytest.raises(UserConfigValidationException) as raised:
            explainer.generate_counterfactuals(queries, 3, features_to_vary=["Telephone"])
        assert str(raised.value) == message


def test_only_verbose_questions_print(explainer, denied, capsys):
    explainer.generate_counterfactuals(denied, 1)
    assert capsys.readouterr().out == ""
    explainer.generate_counterfactuals(denied, 1, verbose=True)
    assert capsys.readouterr().out.startswith("Counterfactuals found for 6 of 6 in ")


# -- queries that cannot be read


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (lambda query: query.drop(columns="Duration"), KeyError, "query_instances: there is no column `Duration`"),
        (lambda query: query.assign(Salary=1), ValueError, "Feature Salary not present in training data!"),
        (lambda query: query.assign(**{"class": "Bad"}), ValueError, "Target class present in query instance"),
        (
            lambda query: query.assign(Telephone="A193"),
            ValueError,
            "Feature Telephone has a value outside the dataset.",
        ),
        (
            lambda query: query.assign(Age=float("nan")),
            UserConfigValidationException,
            "The query instance(s) should not have any missing values. Please impute the missing values and try again.",
        ),
        (lambda query: query.iloc[0], ValueError, "query_instances: expected a pandas DataFrame, found Series"),
        (lambda query: query.to_dict(), ValueError, "query_instances: expected a pandas DataFrame, found dict"),
    ],
)
def test_a_query_that_cannot_be_read_says_what_is_wrong(explainer, denied, spoil, error, message):
    with pytest.raises(error) as raised:
        explainer.generate_counterfactuals(spoil(denied.iloc[[0]]), 1)
    assert str(raised.value).splitlines()[0] == message
    assert isinstance(raised.value, ParError)


def test_a_number_outside_the_table_is_answered(explainer, denied):
    query = denied.iloc[[0]].assign(Duration=120)
    example = explainer.generate_counterfactuals(query, 1).cf_examples_list[0]
    assert example.test_instance_df["Duration"].iloc[0] == 120


# -- tables and models


def test_data_says_what_its_columns_are(data):
    assert data.feature_names == FEATURES
    assert data.continuous_feature_names == NUMBERS
    assert data.categorical_feature_names == [name for name in FEATURES if name not in NUMBERS]
    assert data.categorical_feature_indexes == [0, 2, 4, 6, 7]
    assert data.permitted_range["Duration"] == [4, 72]
    assert data.permitted_range["Telephone"] == ["A192", "A191"]
    assert (data.number_of_features, data.data_name, data.outcome_name) == (8, "mydata", "class")


@pytest.mark.parametrize(
    ("told", "error", "message"),
    [
        ({"outcome_name": None}, ValueError, "should provide the name of outcome feature"),
        (
            {"outcome_name": "x"},
            UserConfigValidationException,
            "outcome_name x not found in " + ",".join(FEATURES) + ",class",
        ),
        ({"continuous_features": None}, ValueError, "continuous_features should be provided"),
        (
            {"continuous_features": ("Age",)},
            ValueError,
            "should provide the name(s) of continuous features in the data as a list",
        ),
        (
            {"continuous_features": ["Salary"]},
            UserConfigValidationException,
            "continuous_features contains some feature names which are not part of columns in dataframe",
        ),
        (
            {"continuous_features": ["Telephone"]},
            ValueError,
            "Unknown data type of feature Telephone: must be int or float",
        ),
        (
            {"permitted_range": {"Salary": [1, 2]}},
            UserConfigValidationException,
            "permitted_range contains some feature names which are not part of columns in dataframe",
        ),
        ({"dataframe": {"Age": [1]}}, ValueError, "should provide a pandas dataframe"),
    ],
)
def test_data_that_cannot_be_is_refused_in_dices_words(data, told, error, message):
    usual = {"dataframe": data.data_df, "continuous_features": NUMBERS, "outcome_name": "class"}
    with pytest.raises(error) as raised:
        dice_ml.Data(**{**usual, **told})
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("told", "error", "message"),
    [
        ({}, ValueError, "should provide either a trained model or the path to a model"),
        (
            {"model_type": "ranker"},
            UserConfigValidationException,
            "ranker model type not in supported model types classifier,regressor",
        ),
        (
            {"model": len, "model_type": "regressor"},
            UserConfigValidationException,
            "regressors have no classes to change",
        ),
        (
            {"model": len, "backend": "TF2"},
            UserConfigValidationException,
            "TF2 backend not in supported backends sklearn",
        ),
        (
            {"model": len, "func": "log"},
            UserConfigValidationException,
            "there is no func `log`, expected `ohe-min-max` or a function",
        ),
    ],
)
def test_a_model_that_cannot_be_is_refused(told, error, message):
    with pytest.raises(error) as raised:
        dice_ml.Model(**told)
    assert str(raised.value).splitlines()[0] == message


def test_a_method_that_is_none_is_refused_in_dices_words(explainer):
    with pytest.raises(UserConfigValidationException, match="Unsupported sample strategy nope provided."):
        dice_ml.Dice(explainer.data_interface, explainer.model, method="nope")
    with pytest.raises(UserConfigValidationException, match="gradient is only supported for differentiable"):
        dice_ml.Dice(explainer.data_interface, explainer.model, method="gradient")


def test_numbered_classes_come_back_as_numbers_and_a_function_is_a_model(X, y, denied, model):
    frame = X.assign(good=(y == "Good").astype(int))
    data = dice_ml.Data(dataframe=frame, continuous_features=NUMBERS, outcome_name="good")

    def probabilities(rows):
        return model.predict_proba(rows[FEATURES])[:, 1]

    asked = dice_ml.Dice(data, dice_ml.Model(model=probabilities), config=QUICK)
    answered = asked.generate_counterfactuals(denied, 2)
    for _, rows in ways(answered):
        assert set(model.predict(rows)) == {"Good"}
    example = next(example for example in answered.cf_examples_list if example.final_cfs_df is not None)
    assert (example.test_pred, example.desired_class) == (0, 1)
    assert example.final_cfs_df["good"].dtype == "int64"
    assert json.loads(answered.to_json())["desired_class"] == 1


def test_a_schema_says_what_nobody_can_change_and_what_only_rises(german, y, denied, model):
    schema = {
        "label": {"column": "class", "classes": ["Bad", "Good"], "favourable": "Good"},
        "feature": [
            {"name": name, "kind": "discrete" if name in NUMBERS else "nominal", "immutable": name == "Housing"}
            for name in FEATURES
        ],
    }
    schema["feature"][FEATURES.index("Age")]["monotone"] = "increasing"
    frame = german.X.to_pandas()[["id", *FEATURES]].assign(**{"class": y})
    data = dice_ml.Data(dataframe=frame, outcome_name="class", schema=schema)
    assert data.feature_names == FEATURES and data.continuous_feature_names == NUMBERS
    answered = dice_ml.Dice(data, dice_ml.Model(model=model), config=QUICK).generate_counterfactuals(denied, 3)
    for own, rows in ways(answered):
        assert (rows["Housing"] == own["Housing"]).all()
        assert (rows["Age"] >= own["Age"]).all()


def test_a_schema_of_another_outcome_is_refused(german, X, y):
    with pytest.raises(ValueError, match="the schema has the label `class`, expected `good`"):
        dice_ml.Data(dataframe=X.assign(good=y), outcome_name="good", schema=german.schema)


def test_a_model_of_encoded_columns_is_asked_about_encoded_columns(data, X, y, denied):
    encode = OneHotMinMax.of(data)
    encoded = encode(X)
    assert list(encoded.columns[:3]) == NUMBERS
    assert (encoded[NUMBERS].min() == 0).all() and (encoded[NUMBERS].max() == 1).all()
    assert list(encoded.columns[-2:]) == ["Telephone_A191", "Telephone_A192"]
    model = LogisticRegression(max_iter=1000).fit(encoded, y)
    asked = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn", func="ohe-min-max"), config=QUICK)
    for _, rows in ways(asked.generate_counterfactuals(denied, 1)):
        assert set(model.predict(encode(rows))) == {"Good"}


@pytest.mark.parametrize("has_output", [True, False])
def test_an_onnx_file_is_a_model_in_both_directions(german, unconstrained, y, has_output):
    files = Path(__file__).resolve().parents[2] / "par-model" / "tests" / "fixtures" / "external"
    inputs = (files / "network.toml").read_text()
    if not has_output:
        inputs = inputs[inputs.index("[[input]]") :]
    frame = german.X.to_pandas()
    data = dice_ml.Data(dataframe=frame.assign(**{"class": y}), outcome_name="class", schema=unconstrained)
    network = dice_ml.Model(model_path=str(files / "network.onnx"))
    asked = dice_ml.Dice(data, network, inputs=inputs, config=QUICK)
    answered = asked.generate_counterfactuals(frame.iloc[:6], 1)
    for example in answered.cf_examples_list:
        assert {example.test_pred, example.new_outcome} == {"Bad", "Good"}
        assert len(example.final_cfs_df) == 1
    good = asked._recourse(1)
    assert [str(name) for name in good.predict(frame.iloc[:6])] == [
        example.test_pred for example in answered.cf_examples_list
    ]
    for example in answered.cf_examples_list:
        assert good.predict(example.final_cfs_df.iloc[:, :-1])[0] == example.new_outcome


def test_of_more_than_two_classes_one_has_to_be_named(X, denied):
    classes = pandas.cut(X["Credit amount"], [0, 1500, 4000, 20000], labels=["low", "middle", "high"]).astype(str)
    frame = X.drop(columns="Credit amount").assign(size=classes)
    numbers = ["Duration", "Age"]
    features = frame.drop(columns="size")
    columns = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(), [name for name in features if name not in numbers])
    )
    model = make_pipeline(columns, RandomForestClassifier(20, random_state=0)).fit(features, classes)
    data = dice_ml.Data(dataframe=frame, continuous_features=numbers, outcome_name="size")
    asked = dice_ml.Dice(data, dice_ml.Model(model=model), config=QUICK)
    queries = features[model.predict(features) == "high"].iloc[:4]
    with pytest.raises(
        UserConfigValidationException, match="Desired class cannot be opposite if the number of classes"
    ):
        asked.generate_counterfactuals(queries, 1)
    answered = asked.generate_counterfactuals(queries, 1, desired_class=list(model.classes_).index("low"))
    for _, rows in ways(answered):
        assert set(model.predict(rows)) == {"low"}


def test_categories_of_pandas_stay_categories(explainer, denied):
    query = denied.astype({"Housing": "category", "Age": "int32", "Credit amount": "float64"})
    answered = explainer.generate_counterfactuals(query, 2)
    for example in answered.cf_examples_list:
        assert str(example.final_cfs_df["Age"].dtype) == "int32"
        assert str(example.final_cfs_df["Credit amount"].dtype) == "float64"
        assert str(example.final_cfs_df["Housing"].dtype) == "category"
        assert not example.final_cfs_df.isna().any(axis=None)


# -- JSON


def test_json_has_the_keys_of_dice_in_its_order(found):
    told = json.loads(found.to_json())
    assert list(told) == [
        "test_data",
        "cfs_list",
        "local_importance",
        "summary_importance",
        "data_interface",
        "feature_names",
        "feature_names_including_target",
        "model_type",
        "desired_class",
        "desired_range",
        "metadata",
    ]
    assert told["data_interface"] == {"outcome_name": "class", "data_df": "dummy_data"}
    assert told["feature_names"] == FEATURES and told["feature_names_including_target"] == [*FEATURES, "class"]
    assert (told["model_type"], told["desired_class"], told["metadata"]) == ("classifier", "Good", {"version": "2.0"})
    example = found.cf_examples_list[2]
    assert told["test_data"][2] == example.test_instance_df.values.tolist()
    assert told["cfs_list"][2] == example.final_cfs_df.values.tolist()


def test_what_was_written_is_read_back_the_same(found):
    read = CounterfactualExplanations.from_json(found.to_json())
    assert read == found
    assert read.to_json() == found.to_json()
    example = read.cf_examples_list[0]
    assert example.final_cfs_df.equals(found.cf_examples_list[0].final_cfs_df)
    assert (example.test_pred, example.new_outcome, example.posthoc_sparsity_param) == ("Bad", "Good", None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: told.pop("metadata"), "No version field in the json input"),
        (lambda told: told["metadata"].update(version="9"), "Incompatible version 9 found in json input"),
        (lambda told: told.pop("cfs_list"), "the json input lacks `cfs_list`"),
        (
            lambda told: told["cfs_list"].pop(),
            "the json input cannot be read: `cfs_list` has 5 entries for 6 of `test_data`",
        ),
        (lambda told: told["test_data"][0][0].pop(), "the json input cannot be read: "),
        (lambda told: told.update(data_interface=None), "the json input cannot be read: "),
    ],
)
def test_json_that_is_not_whole_is_refused(found, change, message):
    told = json.loads(found.to_json())
    change(told)
    with pytest.raises(UserConfigValidationException) as raised:
        CounterfactualExplanations.from_json(json.dumps(told))
    assert str(raised.value).startswith(message)


def test_text_that_is_no_json_is_refused():
    with pytest.raises(UserConfigValidationException, match="the input is not JSON"):
        CounterfactualExplanations.from_json("{")
    with pytest.raises(UserConfigValidationException, match="No version field in the json input"):
        CounterfactualExplanations.from_json("[]")


# -- looking at it


@pytest.fixture
def one(explainer, denied):
    return explainer.generate_counterfactuals(denied.iloc[[0]], 2)


def test_lists_are_printed_under_dices_titles(one, capsys):
    one.visualize_as_list()
    example = one.cf_examples_list[0]
    assert capsys.readouterr().out.splitlines() == [
        "Query instance (original outcome : Bad)",
        str(example.test_instance_df.values.tolist()[0]),
        "",
        "Diverse Counterfactual set (new outcome: Good)",
        *(str(row) for row in example.final_cfs_df.values.tolist()),
    ]


def test_only_changes_are_shown_where_asked(one, capsys):
    one.visualize_as_list(show_only_changes=True)
    example = one.cf_examples_list[0]
    own = example.test_instance_df.values.tolist()[0]
    expected = [
        ["-" if value == before else str(value) for before, value in zip(own, row)]
        for row in example.final_cfs_df.values.tolist()
    ]
    printed = capsys.readouterr().out.splitlines()[4:]
    assert printed == [str(row) for row in expected]
    assert all("'-'" in line for line in printed)


def test_frames_are_shown_under_dices_titles_with_or_without_a_notebook(one, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    one.visualize_as_dataframe(display_sparse_df=False)
    lines = capsys.readouterr().out.splitlines()
    assert "Diverse Counterfactual set without sparsity correction (new outcome: Good)" in lines
    CounterfactualExplanations.from_json(one.to_json()).visualize_as_dataframe()
    lines = capsys.readouterr().out.splitlines()
    assert "Counterfactual set (new outcome: Good)" in lines


def test_a_row_without_counterfactuals_is_shown_as_such(explainer, X, model, capsys):
    turned, stuck = by_telephone_alone(X, model)
    queries = pandas.concat([stuck.iloc[:1], turned.iloc[:1]])
    explainer.generate_counterfactuals(queries, 1, features_to_vary=["Telephone"]).visualize_as_list()
    assert capsys.readouterr().out.splitlines()[2:4] == ["", "No counterfactuals found!"]


# -- importance, and keeping


def test_the_importance_of_a_feature_is_the_share_of_counterfactuals_that_change_it(explainer, X, model):
    queries = X[model.predict(X) == "Bad"].iloc[:10]
    told = explainer.global_feature_importance(queries, total_CFs=10)
    changed = [
        {name for name in FEATURES if row[name] != own[name]} for own, rows in ways(told) for _, row in rows.iterrows()
    ]
    for name in FEATURES:
        assert told.summary_importance[name] == pytest.approx(sum(name in row for row in changed) / len(changed))
    assert len(told.local_importance) == 10
    own, rows = next(ways(told))
    assert told.local_importance[0]["Duration"] == pytest.approx((rows["Duration"] != own["Duration"]).mean())
    assert CounterfactualExplanations.from_json(told.to_json()).local_importance == told.local_importance


def test_importance_needs_ten_counterfactuals_and_ten_rows(explainer, denied):
    with pytest.raises(
        UserConfigValidationException, match="requested per query instance should be greater than or equal to 10"
    ):
        explainer.local_feature_importance(denied, total_CFs=5)
    with pytest.raises(
        UserConfigValidationException, match="number of query instances should be greater than or equal to 10"
    ):
        explainer.global_feature_importance(denied)


def test_an_explainer_is_kept_with_what_it_learned(explainer, denied, found, tmp_path, monkeypatch):
    path = str(tmp_path / "explainer.pickle")
    explainer.serialize_explainer(path)
    read = dice_ml.Dice.deserialize_explainer(path)
    monkeypatch.setattr(Recourse, "fit", lambda *_: pytest.fail("it is fitted again"))
    assert read.generate_counterfactuals(denied, total_CFs=3) == found


def test_weights_are_efforts(data, model, X):
    explainer = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), config=QUICK)
    denied = X[model.predict(X) == "Bad"].head(20)

    def changed(weights):
        found = explainer.generate_counterfactuals(denied, total_CFs=1, feature_weights=weights).cf_examples_list
        rows = [one for one in found if one.final_cfs_df is not None]
        return [one.final_cfs_df["Duration"].iloc[0] != one.test_instance_df["Duration"].iloc[0] for one in rows]

    assert sum(changed({"Duration": 100.0})) < sum(changed({"Duration": 0.01}))
    for weights, message in [
        ({"Duration": 0}, "feature_weights: expected a weight above 0 for Duration, found 0"),
        ("mad", "feature_weights: expected `inverse_mad` or a dict, found 'mad'"),
    ]:
        with pytest.raises(UserConfigValidationException) as refused:
            explainer.generate_counterfactuals(denied, total_CFs=1, feature_weights=weights)
        assert str(refused.value) == message
