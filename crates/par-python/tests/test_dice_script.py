"""DiCE's own example, with its import changed: the adult table, a pipeline, counterfactuals of one row."""

import zipfile

import pytest

from par_recourse.compat import dice as dice_ml
from par_recourse.compat.dice.counterfactual_explanations import CounterfactualExplanations
from par_recourse.compat.dice.utils import helpers
from par_recourse.errors import FileError

PEOPLE = [
    # age, education, marital status, occupation, hours; the last column says whether such people earn more.
    (23, "11th", "Never-married", "Other-service", 20, "<=50K"),
    (31, "HS-grad", "Divorced", "Craft-repair", 40, "<=50K"),
    (45, "Bachelors", "Married-civ-spouse", "Exec-managerial", 45, ">50K"),
    (52, "Masters", "Married-civ-spouse", "Prof-specialty", 50, ">50K"),
    (38, "Assoc-voc", "Never-married", "?", 38, "<=50K"),
]


@pytest.fixture
def archive(tmp_path):
    """The archive with the table, a few hundred people of it."""
    lines = []
    for number in range(400):
        age, education, marriage, occupation, hours, income = PEOPLE[number % len(PEOPLE)]
        cells = [age + number % 7, "Private", 1, education, 9, marriage, occupation, "Husband", "White", "Male", 0, 0]
        lines.append(", ".join(map(str, [*cells, hours + number % 5, "United-States", income])))
    path = tmp_path / "adult.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("adult.data", "\n".join(lines) + "\n")
    return path


@pytest.mark.filterwarnings("ignore::par_recourse.errors.IgnoredOptionWarning")
def test_the_script_runs(archive, capsys):
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    dataset = helpers.load_adult_income_dataset(archive=archive)
    target = dataset["income"]
    train_dataset, test_dataset, y_train, y_test = train_test_split(
        dataset, target, test_size=0.2, random_state=0, stratify=target
    )
    x_train = train_dataset.drop("income", axis=1)
    x_test = test_dataset.drop("income", axis=1)
    d = dice_ml.Data(dataframe=train_dataset, continuous_features=["age", "hours_per_week"], outcome_name="income")
    numerical = ["age", "hours_per_week"]
    categorical = x_train.columns.difference(numerical)
    transformations = ColumnTransformer(
        transformers=[
            ("num", Pipeline(steps=[("scaler", StandardScaler())]), numerical),
            ("cat", Pipeline(steps=[("onehot", OneHotEncoder(handle_unknown="ignore"))]), list(categorical)),
        ]
    )
    clf = Pipeline(steps=[("preprocessor", transformations), ("classifier", RandomForestClassifier(10, random_state=0))])
    model = clf.fit(x_train, y_train)
    m = dice_ml.Model(model=model, backend="sklearn")
    exp = dice_ml.Dice(d, m, method="random")
    query = x_test[model.predict(x_test) == 0][0:1]
    e1 = exp.generate_counterfactuals(query, total_CFs=2, desired_class="opposite", random_seed=9)
    e1.visualize_as_dataframe(show_only_changes=True)
    assert "Query instance (original outcome : 0)" in capsys.readouterr().out
    e2 = exp.generate_counterfactuals(
        query,
        total_CFs=2,
        desired_class="opposite",
        features_to_vary=["education", "occupation", "marital_status", "age", "hours_per_week"],
        permitted_range={"age": [20, 60]},
        proximity_weight=0.2,
        diversity_weight=5,
    )
    found = e2.cf_examples_list[0].final_cfs_df
    assert set(model.predict(found.drop("income", axis=1))) == {1}
    read = CounterfactualExplanations.from_json(e2.to_json())
    assert read.cf_examples_list[0].final_cfs_df.shape == found.shape
    assert dice_ml.counterfactual_explanations.CounterfactualExplanations is CounterfactualExplanations


def test_the_table_has_dices_columns_and_categories(archive):
    table = helpers.load_adult_income_dataset(only_train=False, archive=str(archive))
    assert list(table.columns) == [
        "age", "workclass", "education", "marital_status", "occupation", "race", "gender", "hours_per_week", "income",
    ]  # fmt: skip
    assert len(table) == 400 and str(table["income"].dtype) == "int64"
    first = table.drop(columns=["age", "hours_per_week"]).head(5).agg(list, axis=1).tolist()
    assert first[0] == ["Private", "School", "Single", "Service", "White", "Male", 0]
    assert first[4] == ["Private", "Assoc", "Single", "Other/Unknown", "White", "Male", 0]
    assert len(helpers.load_adult_income_dataset(archive=archive)) == 320


def test_nothing_is_downloaded():
    with pytest.raises(FileError) as raised:
        helpers.load_adult_income_dataset()
    said, hint = str(raised.value).splitlines()
    assert said == "archive: expected the zip file of the adult table, which is not downloaded"
    assert hint.startswith("hint: DiCE has it from https://archive.ics.uci.edu/static/public/2/adult.zip")


@pytest.mark.parametrize("kind", ["none", "no archive", "another archive"])
def test_an_archive_without_the_table_is_refused(tmp_path, kind):
    path = tmp_path / "adult.zip"
    if kind == "no archive":
        path.write_text("no archive")
    if kind == "another archive":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("iris.data", "")
    with pytest.raises(FileError) as raised:
        helpers.load_adult_income_dataset(archive=path)
    assert str(raised.value).startswith(f"{path}: expected a zip file with the table `adult.data`: ")


def test_trained_models_do_not_exist():
    with pytest.raises(dice_ml.UserConfigValidationException) as refused:
        helpers.get_adult_income_modelpath("PYT")
    assert str(refused.value).splitlines()[0] == "there is no trained model for the backend PYT"
