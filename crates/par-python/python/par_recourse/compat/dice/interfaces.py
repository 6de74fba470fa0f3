"""The arguments of `par_recourse.compat.dice`: a table and a model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Sequence

from ... import _native
from ..._cells import cell
from ..._files import toml
from ...errors import DataError, SettingError
from .counterfactual_explanations import UserConfigValidationException
from .options import IgnoredOptions


class Data:
    """The table that a model was trained on, and the kinds of its columns.

    Parameters
    ----------
    dataframe:
        A pandas frame with the features and the outcome.
    continuous_features:
        The names of the features that are numbers; all others are categories.
    outcome_name:
        The column with the classes.
    permitted_range:
        The values that features may change to, in every query: ``{"age": [20, 60], "job": ["clerk", "cook"]}``.
    continuous_features_precision, test_size:
        Stored, but without effect, which a warning says.
    data_name:
        Stored, but without effect.
    schema:
        What people can change, as `Recourse` takes it. Columns that it does not name are not features.

    Attributes
    ----------
    feature_names, continuous_feature_names, categorical_feature_names:
        The features, in the order of the frame.
    permitted_range:
        For each feature the lowest and the highest number, or the categories.
    limits:
        The argument `permitted_range`, as `Recourse.recourse` takes limits.
    categories:
        For each feature that is a category, its values as text.
    data_df:
        The argument `dataframe`.
    """

    def __init__(
        self,
        *,
        dataframe: Any = None,
        continuous_features: list[str] | None = None,
        outcome_name: str | None = None,
        permitted_range: Mapping[str, Sequence[Any]] | None = None,
        continuous_features_precision: Mapping[str, int] | None = None,
        data_name: str = "mydata",
        test_size: float | None = None,
        schema: Any = None,
    ) -> None:
        import pandas

        IgnoredOptions().tell_of_given(
            {"continuous_features_precision": continuous_features_precision, "test_size": test_size}
        )

        if outcome_name is None:
            raise SettingError("should provide the name of outcome feature")
        if not isinstance(dataframe, pandas.DataFrame):
            raise SettingError("should provide a pandas dataframe")
        columns = list(dataframe.columns)
        if not all(isinstance(name, str) for name in columns):
            raise DataError("dataframe: expected columns with names, found numbers\nhint: `frame.columns.astype(str)`")
        if outcome_name not in columns:
            raise UserConfigValidationException(f"outcome_name {outcome_name} not found in {','.join(columns)}")
        facts = None if schema is None else _facts(schema, outcome_name)
        if facts is not None:
            names = [feature["name"] for feature in facts["features"]]
            if continuous_features is None:
                kinds = {feature["name"]: feature["kind"] for feature in facts["features"]}
                continuous_features = [name for name in names if kinds[name] in ("discrete", "continuous")]
            lacking = [name for name in names if name not in columns]
            if lacking:
                raise DataError(f"the schema names a feature `{lacking[0]}`, which is no column of dataframe")
        else:
            names = [name for name in columns if name != outcome_name]
        if continuous_features is None:
            raise SettingError("continuous_features should be provided")
        if not isinstance(continuous_features, list):
            raise SettingError("should provide the name(s) of continuous features in the data as a list")
        permitted_range = dict(permitted_range or {})
        for what, names_given in {"continuous_features": continuous_features, "permitted_range": permitted_range}.items():
            if not set(names_given) <= set(names):
                raise UserConfigValidationException(
                    f"{what} contains some feature names which are not part of columns in dataframe"
                )
        self.outcome_name = outcome_name
        self.data_df = dataframe
        self.data_name = data_name
        self.feature_names = [name for name in columns if name in set(names)]
        self.number_of_features = len(self.feature_names)
        self.continuous_feature_names = [name for name in self.feature_names if name in continuous_features]
        self.categorical_feature_names = [name for name in self.feature_names if name not in continuous_features]
        self.categorical_feature_indexes = [self.feature_names.index(name) for name in self.categorical_feature_names]
        self.continuous_features_precision = continuous_features_precision
        self.test_size = test_size
        for name in self.continuous_feature_names:
            if not pandas.api.types.is_numeric_dtype(dataframe[name]):
                raise SettingError(f"Unknown data type of feature {name}: must be int or float")
        ranges: dict[str, list[Any]] = {
            name: [dataframe[name].min(), dataframe[name].max()] for name in self.continuous_feature_names
        }
        ranges |= {name: self._values(name) for name in self.categorical_feature_names}
        self.categories = {name: {cell(value) for value in ranges[name]} for name in self.categorical_feature_names}
        self.limits = self.checked_limits(permitted_range)
        self.permitted_range = {**ranges, **{name: list(values) for name, values in permitted_range.items()}}
        self.schema = self._drafted() if schema is None else schema

    def _drafted(self) -> dict[str, Any]:
        """A schema of numbers and categories, from DiCE's keywords."""
        frame = self.data_df
        features = []
        for name in self.feature_names:
            is_number = name in self.continuous_feature_names
            is_whole = is_number and frame[name].dtype.kind in "iu"
            kind = ("discrete" if is_whole else "continuous") if is_number else "nominal"
            has_gaps = bool(frame[name].isna().any() or (frame[name].astype(str).str.strip() == "").any())
            features.append({"name": name, "kind": kind, "missing": has_gaps})
        classes = sorted({cell(value) for value in frame[self.outcome_name].dropna()})
        label = {"column": self.outcome_name, "classes": classes, "favourable": classes[-1] if classes else ""}
        # `?` and the like are categories, as in DiCE.
        return {"missing_text": [], "label": label, "feature": features}

    def checked_limits(self, permitted: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """The limits of features, as `Recourse.recourse` takes them."""
        unknown = [name for name in permitted if name not in self.feature_names]
        if unknown:
            raise not_in_training(unknown)
        limits: dict[str, Any] = {}
        for name, values in permitted.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise SettingError(f"permitted_range of {name}: expected a list, found {values!r}")
            values = list(values)
            if name in self.categorical_feature_names:
                for value in values:
                    if cell(value) not in self.categories[name]:
                        raise UserConfigValidationException(
                            f"The category {value} does not occur in the training data for feature {name}. "
                            f"Allowed categories are {self._values(name)}"
                        )
                limits[name] = [cell(value) for value in values]
            elif len(values) != 2 or not all(_is_number(value) for value in values):
                raise SettingError(f"permitted_range of {name}: expected two numbers, low and high, found {values}")
            elif values[0] > values[1]:
                raise SettingError(f"permitted_range of {name}: low >= high, found {values}")
            else:
                limits[name] = (float(values[0]), float(values[1]))
        return limits

    def _values(self, name: str) -> list[Any]:
        """The categories of a feature, as in the table."""
        return self.data_df[name].dropna().unique().tolist()


class Model:
    """The model that classifies rows.

    Parameters
    ----------
    model:
        A fitted scikit-learn estimator or Pipeline with `predict_proba`, an ONNX file (its bytes), or a function that
        returns the probabilities of all classes for a frame, or those of the second one.
    model_path:
        An ONNX file, instead of a model.
    backend:
        ``"sklearn"``.
    model_type:
        ``"classifier"``.
    func:
        A preprocessing step before the model: a function, ``"ohe-min-max"`` for DiCE's scaling to 0 to 1 and one-hot
        encoding, or None.
    kw_args:
        Keywords for `func`.

    Attributes
    ----------
    fitted:
        What was learned for it: a `Recourse` for each table, class and settings of a `Dice`. A model that is trained anew
        needs a new `Model`.
    """

    def __init__(
        self,
        model: Any = None,
        model_path: str = "",
        backend: str = "sklearn",
        model_type: str = "classifier",
        func: str | Callable[..., Any] | None = None,
        kw_args: Mapping[str, Any] | None = None,
    ) -> None:
        if model_type not in ("classifier", "regressor"):
            raise UserConfigValidationException(
                f"{model_type} model type not in supported model types classifier,regressor"
            )
        if model_type == "regressor":
            raise UserConfigValidationException(
                "regressors have no classes to change\nhint: give a classifier, such as one of `prediction >= goal`"
            )
        if model is None and not model_path:
            raise SettingError("should provide either a trained model or the path to a model")
        if backend != "sklearn":
            raise UserConfigValidationException(
                f"{backend} backend not in supported backends sklearn\n"
                "hint: write the network to an ONNX file and give it as `model_path`, or give its function as `model`"
            )
        if isinstance(func, str) and func != "ohe-min-max":
            raise UserConfigValidationException(f"there is no func `{func}`, expected `ohe-min-max` or a function")
        self.model = model_path if model is None else model
        self.model_path = model_path
        self.backend = backend
        self.model_type = model_type
        self.func = func
        self.kw_args = dict(kw_args or {})
        self.fitted: dict[tuple[Data, int, str], Any] = {}


@dataclass(frozen=True)
class Scorer:
    """The probabilities of all classes for a frame."""

    model: Any
    classes: int
    prepare: Callable[..., Any] | None
    keywords: dict[str, Any]

    @staticmethod
    def of(data: Data, model: Model) -> Scorer | None:
        """`None` for an ONNX file, which only a fitted `Recourse` can run."""
        if not hasattr(model.model, "predict_proba") and not callable(model.model):
            if model.func is not None:
                raise UserConfigValidationException("func: an ONNX file takes a row as it is, expected none")
            return None
        prepare = OneHotMinMax.of(data) if isinstance(model.func, str) else model.func
        return Scorer(model.model, len(classes_of(data, model)), prepare, model.kw_args)

    def __call__(self, frame: Any) -> Any:
        import numpy

        if self.prepare is not None:
            frame = self.prepare(frame, **self.keywords)
        function = getattr(self.model, "predict_proba", self.model)
        scores = numpy.asarray(function(frame), dtype=float)
        if scores.ndim == 1 or scores.shape[1:] == (1,):
            second = scores.reshape(-1)
            scores = numpy.column_stack([1 - second, second])
        if scores.shape != (len(frame), self.classes):
            raise UserConfigValidationException(
                f"the model gives an array of {scores.shape} for {len(frame)} rows and {self.classes} classes"
            )
        return scores


@dataclass(frozen=True)
class OneClass:
    """The probability of one class, as `Recourse` takes a classifier."""

    scorer: Scorer
    desired: int

    def __call__(self, frame: Any) -> Any:
        return self.scorer(frame)[:, self.desired]


@dataclass(frozen=True)
class OneHotMinMax:
    """Numbers from 0 to 1 first, then a column for every category: what DiCE calls `ohe-min-max`."""

    ranges: dict[str, tuple[float, float]]
    categories: dict[str, list[Any]]

    @staticmethod
    def of(data: Data) -> OneHotMinMax:
        frame = data.data_df
        ranges = {name: (float(frame[name].min()), float(frame[name].max())) for name in data.continuous_feature_names}
        return OneHotMinMax(
            ranges, {name: sorted(frame[name].dropna().unique()) for name in data.categorical_feature_names}
        )

    def __call__(self, frame: Any, **keywords: Any) -> Any:
        import pandas

        columns = {
            name: (frame[name].astype(float) - lowest) / ((highest - lowest) or 1.0)
            for name, (lowest, highest) in self.ranges.items()
        }
        for name, values in self.categories.items():
            columns |= {f"{name}_{value}": frame[name].astype(object) == value for value in values}
        return pandas.DataFrame(columns, index=frame.index)


def _facts(schema: Any, outcome: str) -> dict[str, Any]:
    facts = json.loads(_native.schema_facts(toml(schema)))
    if facts["label"] is None or facts["label"]["column"] != outcome:
        found = "no label" if facts["label"] is None else f"the label `{facts['label']['column']}`"
        raise SettingError(f"the schema has {found}, expected `{outcome}`, as outcome_name says")
    return facts


def classes_of(data: Data, model: Model) -> list[Any]:
    """The classes in the order of the model's probabilities."""
    classes = getattr(model.model, "classes_", None)
    if classes is None:
        classes = sorted(data.data_df[data.outcome_name].dropna().unique().tolist())
    return [value.item() if hasattr(value, "item") else value for value in classes]


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str)


def not_in_training(names: Iterable[str]) -> UserConfigValidationException:
    """The error for features that the table does not have."""
    listed = ", ".join(repr(name) for name in sorted(set(map(str, names))))
    return UserConfigValidationException(f"Got features {{{listed}}} which are not present in training data")
