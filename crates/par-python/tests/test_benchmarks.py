"""The adapters in `examples` for the field's benchmarks, run against small stand-ins of their interfaces.

The stand-ins have the names and signatures of RecourseBench (commit 44922e9) and of RobustX (commit 8d09d4e), and as
much behaviour as the adapters meet.
"""

import importlib
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import ModuleType

import conftest
import numpy
import pandas
import pytest
from sklearn.linear_model import LogisticRegression

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NUMBERS = ["Duration", "Credit amount", "Age"]


def imported(monkeypatch, example, modules):
    """An example of the package, with stand-ins for the modules that it imports."""
    for name, members in modules.items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            package = ".".join(parts[:end])
            if package not in sys.modules:
                monkeypatch.setitem(sys.modules, package, ModuleType(package))
        vars(sys.modules[name]).update(members)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, example, raising=False)
    return importlib.import_module(example)


# -- RecourseBench


class MethodObject(ABC):
    """RecourseBench's base of a method: `predict` asks in batches, and checks rows and columns."""

    @abstractmethod
    def __init__(self, target_model, seed=None, device="cpu", desired_class=None, **kwargs): ...

    @abstractmethod
    def fit(self, train_set): ...

    @abstractmethod
    def get_counterfactuals(self, factuals): ...

    def predict(self, test_set, batch_size=20):
        if not self._is_trained:
            raise RuntimeError("Method is not trained")
        factuals = test_set.get(target=False)
        batches = [factuals.iloc[start : start + batch_size] for start in range(0, len(factuals), batch_size)]
        answered = [(batch, self.get_counterfactuals(batch)) for batch in batches]
        for batch, answers in answered:
            assert len(answers) == len(batch) and set(answers.columns) == set(batch.columns)
        return pandas.concat([answers.reindex(index=rows.index, columns=rows.columns) for rows, answers in answered])


class Tensor:
    """As much of a tensor of torch as a prediction needs."""

    def __init__(self, values):
        self._values = values

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self._values


class Dataset:
    """RecourseBench's `DatasetObject` of German Credit, frozen: scaled, and its categories encoded."""

    target_column = "class"

    def __init__(self, german, classes=("Bad", "Good")):
        raw = german.X.to_pandas()
        numbers = raw[NUMBERS].astype(float)
        scaled = (numbers - numbers.min()) / (numbers.max() - numbers.min())
        housing = pandas.get_dummies(raw["Housing"], dtype=float).add_prefix("Housing_cat_")
        account = raw["Status of existing checking account"]
        levels = sorted(account.unique())
        steps = {f"Account_therm_{level}": (account >= level).astype(float) for level in levels}
        phone = (raw["Telephone"] == "A192").astype(float)
        self._rawdf = pandas.concat([scaled, housing, pandas.DataFrame(steps), phone.rename("Telephone")], axis=1)
        self._rawdf.index = [f"row {number}" for number in range(len(raw))]
        self._rawdf[self.target_column] = german.y.to_pandas().map({"Bad": classes[0], "Good": classes[-1]}).to_numpy()
        self.encoding = {"Housing": list(housing.columns), "Account": list(steps)}
        features = [name for name in self._rawdf if name != self.target_column]
        self.encoded_feature_type = {name: "numerical" if name in NUMBERS else "binary" for name in features}
        self.encoded_feature_mutability = {name: name != "Age" for name in features}
        self.encoded_feature_actionability = {name: "any" for name in features}
        self.encoded_feature_actionability |= {"Age": "none", "Duration": "same-or-decrease"}
        self.encoded_feature_actionability |= dict.fromkeys(steps, "same-or-increase")

    def attr(self, flag):
        return getattr(self, flag)

    def get(self, target=False):
        is_target = self._rawdf.columns == self.target_column
        return self._rawdf.loc[:, is_target if target else ~is_target].copy()

    def only(self, kept):
        """The same with some rows."""
        part = object.__new__(Dataset)
        part.__dict__ = self.__dict__ | {"_rawdf": self._rawdf.loc[kept]}
        return part


class Target:
    """RecourseBench's `ModelObject`: a trained model of the encoded rows."""

    _device = "cpu"

    def __init__(self, dataset):
        self._model = LogisticRegression(max_iter=1000).fit(dataset.get(), dataset.get(target=True).iloc[:, 0])
        self._features = list(dataset.get().columns)

    def get_prediction(self, X, proba=True):
        assert proba and list(X.columns) == self._features and not X.isna().any(axis=None)
        return Tensor(self._model.predict_proba(X))

    def get_class_to_index(self):
        return {name: index for index, name in enumerate(self._model.classes_.tolist())}

    def predicted(self, rows):
        return self.get_prediction(rows).numpy().argmax(axis=1)


@pytest.fixture
def registered():
    return {}


@pytest.fixture
def bench(monkeypatch, registered):
    def register(name):
        return lambda kind: registered.setdefault(name, kind)

    modules = {
        "recourse_bench.method.method_object": {"MethodObject": MethodObject},
        "recourse_bench.utils.registry": {"register": register},
    }
    return imported(monkeypatch, "recourse_bench_method", modules)


def asked(registered, dataset, rows=30, **settings):
    """A fitted method, the rows that it was asked about, and its answers."""
    target = Target(dataset)
    method = registered["par"](target_model=target, seed=0, config=conftest.QUICK, **settings)
    method.fit(dataset)
    test = dataset.only(dataset.get().index[:rows])
    return target, test.get(), method.predict(test, batch_size=13)


def test_recourse_bench_gets_answers_of_the_desired_class(german, bench, registered):
    target, rows, answers = asked(registered, Dataset(german), rows=120, desired_class="Good")
    denied = target.predicted(rows) == 0
    assert answers.index.equals(rows.index) and list(answers.columns) == list(rows.columns)
    assert answers[~denied].equals(rows[~denied])
    found = answers[denied].dropna(how="all")
    assert denied.sum() >= 15 and len(found) > 0.8 * denied.sum()
    assert not found.isna().any(axis=None)
    assert (target.predicted(found) == 1).all()
    assert (found != rows.loc[found.index]).any(axis=1).all()


def test_recourse_bench_is_told_nothing_that_its_metadata_forbid(german, bench, registered):
    dataset = Dataset(german)
    target, rows, answers = asked(registered, dataset, rows=200, desired_class="Good")
    found = answers.dropna()
    own = rows.loc[found.index]
    steps = dataset.encoding["Account"]
    assert (found["Age"] == own["Age"]).all()
    assert (found["Duration"] <= own["Duration"] + 1e-9).all() and (found["Duration"] < own["Duration"]).any()
    assert (found[steps].sum(axis=1) >= own[steps].sum(axis=1)).all()
    assert (found[steps].diff(axis=1).iloc[:, 1:] <= 0).all(axis=None), "a thermometer has no gaps"
    assert (found[dataset.encoding["Housing"]].sum(axis=1) == 1).all()
    assert found["Telephone"].isin([0, 1]).all()


def test_recourse_bench_flips_the_class_unless_one_is_desired(german, bench, registered):
    target, rows, answers = asked(registered, Dataset(german, classes=(0, 1)))
    found = answers.dropna()
    before = target.predicted(rows.loc[found.index])
    assert set(before) == {0, 1}
    assert (target.predicted(found) == 1 - before).all()


def test_recourse_bench_may_have_more_than_two_classes(german, bench, registered):
    dataset = Dataset(german)
    frame = dataset._rawdf
    frame.loc[frame["Credit amount"] > frame["Credit amount"].quantile(0.8), "class"] = "Large"
    target, rows, answers = asked(registered, dataset, rows=150, desired_class="Good")
    good = target.get_class_to_index()["Good"]
    found = answers[target.predicted(rows) != good].dropna()
    assert len(found) >= 10
    assert (target.predicted(found) == good).all()
    with pytest.raises(ValueError, match="without a desired_class two classes are expected, found 3"):
        registered["par"](target).fit(dataset)


def test_recourse_bench_without_an_encoding_has_a_feature_a_column(german, bench, registered):
    dataset = Dataset(german)
    dataset._rawdf = dataset._rawdf[[*NUMBERS, "Telephone", "class"]]
    for what in ("type", "mutability", "actionability"):
        setattr(dataset, f"raw_feature_{what}", dataset.__dict__.pop(f"encoded_feature_{what}"))
    del dataset.encoding
    dataset._rawdf.insert(0, "Constant", 1.0)
    dataset.raw_feature_type["Constant"] = "binary"
    dataset.raw_feature_mutability["Constant"] = True
    dataset.raw_feature_actionability["Constant"] = "any"
    target, rows, answers = asked(registered, dataset, rows=150, desired_class="Good")
    found = answers.dropna()
    assert (target.predicted(found) == 1).all() and (found["Age"] == rows.loc[found.index, "Age"]).all()
    assert (found["Constant"] == 1).all()


def test_a_row_that_the_train_set_cannot_encode_is_nan(german, bench, registered):
    dataset = Dataset(german)
    target = Target(dataset)
    method = registered["par"](target, seed=0, desired_class="Good", config=conftest.QUICK)
    method.fit(dataset)
    rows = dataset.get()
    denied = rows[target.predicted(rows) == 0].iloc[:2].copy()
    denied.loc[denied.index[0], dataset.encoding["Housing"]] = 1.0
    answers = method.get_counterfactuals(denied)
    assert answers.iloc[0].isna().all() and answers.iloc[1].notna().all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"device": "cuda"}, "Method device must match target model device"),
        ({"desired_class": "Fair"}, "the target model has no class 'Fair', expected one of"),
    ],
)
def test_recourse_bench_is_told_what_does_not_fit(german, bench, registered, settings, message):
    dataset = Dataset(german)
    with pytest.raises(ValueError, match=message):
        registered["par"](Target(dataset), **settings).fit(dataset)


def test_recourse_bench_cannot_misspell_a_parameter(german, bench, registered):
    with pytest.raises(TypeError, match="ParMethod has no parameter `budgets`"):
        registered["par"](Target(Dataset(german)), budgets=3)


# -- RobustX


class CEGenerator(ABC):
    """RobustX's base of a generator."""

    def __init__(self, ct, custom_distance_func=None):
        self._task = ct

    @property
    def task(self):
        return self._task

    def generate(self, instances, neg_value=0, column_name="target", **kwargs):
        rows = [
            self.generate_for_instance(row, neg_value=neg_value, column_name=column_name, **kwargs)
            for _, row in instances.iterrows()
        ]
        return pandas.concat(rows)

    def generate_for_instance(self, instance, neg_value=0, column_name="target", **kwargs):
        return self._generation_method(instance, neg_value=neg_value, column_name=column_name, **kwargs)

    def generate_for_all(self, neg_value=0, column_name="target", **kwargs):
        negatives = self.task.get_negative_instances(neg_value, column_name=column_name)
        answers = self.generate(negatives, column_name=column_name, neg_value=neg_value, **kwargs)
        answers.index = negatives.index
        return answers

    @abstractmethod
    def _generation_method(self, instance, column_name="target", neg_value=0, **kwargs): ...


class Task:
    """RobustX's task: training data with `X` and `y`, and a model whose `predict_proba` gives a frame."""

    def __init__(self, german):
        raw = german.X.to_pandas()
        columns = {name: (raw[name] - raw[name].mean()) / raw[name].std() for name in NUMBERS}
        columns["Telephone"] = (raw["Telephone"] == "A192").astype(int)
        columns["Owns"] = (raw["Housing"] == "A152").astype(int)
        self.X = pandas.DataFrame(columns)
        self.y = pandas.DataFrame({"target": (german.y.to_pandas() == "Good").astype(int)})
        self._model = LogisticRegression(max_iter=1000, class_weight="balanced").fit(self.X, self.y["target"])

    @property
    def training_data(self):
        return self

    @property
    def model(self):
        return self

    def predict_proba(self, X):
        assert list(X.columns) == list(self.X.columns)
        return pandas.DataFrame(self._model.predict_proba(X))

    def get_negative_instances(self, neg_value=0, column_name="target"):
        is_positive = self.predict_proba(self.X)[1] >= 0.5
        return self.X[is_positive == bool(neg_value)].iloc[:60].reset_index(drop=True)


@pytest.fixture
def par(monkeypatch):
    modules = {"robustx.generators.CEGenerator": {"CEGenerator": CEGenerator}}
    return imported(monkeypatch, "robustx_generator", modules).Par


def benchmark(ct, methods, subset=None, **params):
    """What RobustX's `default_benchmark` does with a method, without its table."""
    for kind in methods.values():
        generator, start = kind(ct), time.perf_counter()
        ces = generator.generate_for_all(**params) if subset is None else generator.generate(subset, **params)
        yield ces, time.perf_counter() - start


def test_robustx_gets_a_row_for_every_instance(german, par):
    task = Task(german)
    kinds = {"PAR": lambda ct: par(ct, config=conftest.QUICK)}
    [(answers, seconds)] = benchmark(task, kinds, neg_value=0, column_name="target", delta=0.05)
    negatives = task.get_negative_instances()
    assert answers.shape == negatives.shape and answers.index.equals(negatives.index)
    assert list(answers.columns) == list(task.X.columns)
    assert set(answers.dtypes) == {numpy.dtype("float64")} and seconds > 0
    assert (task.predict_proba(answers)[1] >= 0.5).mean() > 0.9
    assert answers["Telephone"].isin([0, 1]).all() and answers["Owns"].isin([0, 1]).all()


def test_robustx_may_ask_for_the_other_class_and_about_one_instance(german, par):
    task = Task(german)
    generator = par(task, config=conftest.QUICK)
    positive = task.get_negative_instances(neg_value=1).iloc[3]
    answer = generator.generate_for_instance(positive, neg_value=1)
    assert answer.shape == (1, len(task.X.columns))
    assert task.predict_proba(answer)[0].iloc[0] >= 0.5
    assert generator.generate_for_instance(positive.to_frame().T, neg_value=1).equals(answer)


def test_robustx_repeats_who_has_no_counterfactual(german, par):
    task = Task(german)
    rows = task.get_negative_instances()
    fixed = [name for name in task.X.columns if name != "Telephone"]
    answers = par(task, immutable=fixed, config=conftest.QUICK).generate(rows)
    is_valid = task.predict_proba(answers)[1] >= 0.5
    assert 0 < is_valid.sum() < len(rows)
    assert answers[~is_valid].equals(rows[~is_valid].astype(float))
    assert answers[fixed].equals(rows[fixed].astype(float))


def test_robustx_may_bring_a_schema(german, par):
    task = Task(german)
    features = [{"name": name, "kind": "continuous", "change": "decrease"} for name in NUMBERS]
    flag = {"kind": "nominal", "values": ["0", "1"], "change": "never"}
    features += [{"name": name, **flag} for name in ["Telephone", "Owns"]]
    label = {"column": "target", "classes": ["0", "1"], "favourable": "1"}
    schema = {"version": 2, "label": label, "feature": features}
    rows = task.get_negative_instances()
    answers = par(task, schema=schema, config=conftest.QUICK).generate(rows)
    assert (answers[NUMBERS] <= rows[NUMBERS] + 1e-9).all(axis=None)
    assert (answers[NUMBERS] < rows[NUMBERS]).any(axis=None)
    assert answers[["Telephone", "Owns"]].equals(rows[["Telephone", "Owns"]].astype(float))


def test_robustx_may_ask_about_nobody(german, par):
    task = Task(german)
    assert par(task).generate(task.X.iloc[:0]).shape == (0, len(task.X.columns))
