"""PAR as a recourse method of CARLA, for its benchmarks; it follows `carla-recourse` 0.0.5.

```python
from par_recourse.compat.carla import RecourseMethod

method = RecourseMethod(mlmodel, {"method": "exact", "budget": 3})
counterfactuals = method.get_counterfactuals(factuals)
```

CARLA itself is not needed: any object with the attributes of its models works. The contract is CARLA's:

- Rows go in and come out in the space of `mlmodel.data.df`, with its scaling and one-hot encoding.
- The answer has the index of the factuals and the columns of `mlmodel.feature_input_order`.
- A row without a recourse is NaN throughout. The answer to an accepted row is the row itself.
- Class 1 is the favourable one.

Every answer has these properties:

- It is verified with the model itself, which gives class 1, with at least the `threshold`.
- Features in `mlmodel.data.immutables` or `lock` are unchanged; for an encoded category, all its columns.
- Encoded categories are valid. Columns `c_…` of a `c` in `mlmodel.data.categorical` encode one feature if no row of
  the table has two ones in them. An answer then has one 1 there; or none, if rows of the table have none, because the
  encoder dropped a column. If rows have two ones, or numbers other than 0 and 1, each column is a feature of its own.
- A column whose rows are 0 or 1 stays 0 or 1.

Numbers stay between the lowest and the highest of the table. The search uses a surrogate of the model, so "no recourse"
is not proved, even by the method ``"exact"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from .._request import Request
from ..errors import ClassifierError, DataError, SettingError
from ..estimator import Recourse
from .lines import ways

__all__ = ["RecourseMethod"]

_OPTIONAL = "_optional_"
"""CARLA's default of an optional setting."""

_NONE = "none of them"
"""The category of a row with zeros in all columns of a feature."""


class RecourseMethod:
    """Finds recourse for the factuals of a CARLA benchmark. It is fitted by `fit`, or by the first query.

    Parameters
    ----------
    mlmodel:
        An object with `data` (with `df`, `target`, `continuous`, `categorical` and `immutables`), `feature_input_order`, and
        `predict_proba` or `predict`, as CARLA's `MLModel`.
    hyperparams:
        `method`, `budget`, `lock` and `limit` as in `Recourse.recourse`; `threshold`, `bins`, `price`, `density`,
        `config`, `random_state` and `progress` as in `Recourse`. Features have their names in `mlmodel.data`, where an
        encoded category is one feature, whose values are its columns. `DEFAULTS` has the defaults. Other keys are
        refused.
    """

    DEFAULTS: dict[str, Any] = {
        "method": "refine",
        "budget": _OPTIONAL,
        "lock": [],
        "limit": {},
        "threshold": 0.5,
        "bins": _OPTIONAL,
        "price": _OPTIONAL,
        "density": _OPTIONAL,
        "config": _OPTIONAL,
        "random_state": 0,
        "progress": _OPTIONAL,
    }

    def __init__(self, mlmodel: Any, hyperparams: Mapping[str, Any] | None = None) -> None:
        self._mlmodel = mlmodel
        self.hyperparams = self.merge_default_parameters(hyperparams, self.DEFAULTS)
        self._fitted: Recourse | None = None
        self._encoding = _Encoding.of(mlmodel)

    @staticmethod
    def merge_default_parameters(hyperparams: Mapping[str, Any] | None, default: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, completed by the defaults.

        As in CARLA, a default of ``"_optional_"`` means `None`, and a default of `None` means required. Unlike in CARLA,
        an unknown key is an error.
        """
        settings = dict(hyperparams or {})
        unknown = [key for key in settings if key not in default]
        if unknown:
            raise SettingError(f"hyperparams: there is no `{unknown[0]}`, expected one of {', '.join(default)}")
        for key, value in default.items():
            if value is None and settings.get(key) is None:
                raise SettingError(f"hyperparams: `{key}` has no default\nhint: pass it and its value in hyperparams")
        return {key: settings.get(key, None if value == _OPTIONAL else value) for key, value in default.items()}

    def fit(self) -> RecourseMethod:
        """Learns from the table of the model."""
        self._recourse()
        return self

    def _recourse(self) -> Recourse:
        """The recourse to class 1, fitted at first use."""
        if self._fitted is None:
            self._fitted = self._learned()
        return self._fitted

    def _learned(self) -> Recourse:
        encoding, data = self._encoding, self._mlmodel.data
        names = ("bins", "price", "density", "config", "random_state", "progress")
        table = encoding.decoded(data.df)
        table[data.target] = data.df[data.target].astype(int)
        return Recourse(
            encoding.schema(data.target),
            classifier=_Scorer(self._mlmodel, encoding),
            favourable="1",
            threshold=self.hyperparams["threshold"],
            immutable=encoding.features_of(data.immutables, "immutables"),
            **{name: self.hyperparams[name] for name in names},
        ).fit(table)

    def get_counterfactuals(self, factuals: Any) -> Any:
        """A row for every row of `factuals`, NaN without a recourse."""
        import numpy

        order, threshold = list(self._mlmodel.feature_input_order), self.hyperparams["threshold"]
        lacking = [name for name in order if name not in factuals.columns]
        if lacking:
            raise DataError(f"factuals: there is no column `{lacking[0]}`")
        rows = factuals[order].reset_index(drop=True).astype(float)
        self._encoding.check(rows)
        answers = rows.copy()
        if len(rows) > 0:
            denied = rows[_scores(self._mlmodel, rows) < threshold]
            answers.loc[denied.index] = numpy.nan
            found = self._answered(denied)
            answers.loc[found.index] = found
        return answers.set_axis(factuals.index, axis=0)

    def _answered(self, rows: Any) -> Any:
        """The ways of denied rows, encoded, by the index of the row."""
        encoding, settings, recourse = self._encoding, self.hyperparams, self._recourse()
        limits = {
            feature: values for name, values in settings["limit"].items() for feature in encoding.features_of(name, "limit")
        }
        request = Request(
            lock=encoding.features_of(settings["lock"], "lock"),
            limit=limits,
            method=settings["method"],
            budget=settings["budget"],
        )
        found = encoding.encoded(ways(recourse, encoding.decoded(rows), request, "factuals"), rows)
        if len(found) > 0:
            found = found[_scores(self._mlmodel, found) >= settings["threshold"]]
        return found


@dataclass(frozen=True)
class _Encoding:
    """The mapping between the columns of a model and features."""

    order: list[str]
    """The columns, in the order of the model."""
    numbers: list[str]
    """Columns that are numeric features."""
    flags: list[str]
    """Columns that are features with the values 0 and 1."""
    groups: dict[str, list[str]]
    """Features that are encoded by several columns."""
    partial: list[str]
    """Encoded features of which a row may have all zeros."""
    names: dict[str, list[str]]
    """Other names in the data, and the features that they mean."""

    @staticmethod
    def of(mlmodel: Any) -> _Encoding:
        data, order = mlmodel.data, list(mlmodel.feature_input_order)
        lacking = [name for name in order if name not in data.df.columns]
        if lacking:
            raise DataError(f"mlmodel.data.df: there is no column `{lacking[0]}`, which feature_input_order names")
        table = data.df[order].astype(float)
        is_flag = {name: bool(table[name].isin([0.0, 1.0]).all()) for name in order}
        owner = {name: _owner(name, list(data.categorical)) for name in order if name not in data.continuous}
        groups: dict[str, list[str]] = {}
        names: dict[str, list[str]] = {}
        partial = []
        for category in data.categorical:
            columns = [name for name in order if owner.get(name) == category]
            ones = table[columns].sum(axis=1)
            if len(columns) > 1 and all(is_flag[name] for name in columns) and bool((ones <= 1).all()):
                groups[category] = columns
                if bool((ones == 0).any()):
                    partial.append(category)
            else:
                names[category] = columns
        grouped = {name for columns in groups.values() for name in columns}
        alone = [name for name in order if name not in grouped]
        flags = [name for name in alone if name not in data.continuous and is_flag[name]]
        return _Encoding(order, [name for name in alone if name not in flags], flags, groups, partial, names)

    def features_of(self, names: Any, what: str) -> list[str]:
        """The features that some names of the data, or of columns, refer to."""
        columns = {name: group for group, names in self.groups.items() for name in names}
        features: list[str] = []
        for name in [names] if isinstance(names, str) else names or []:
            if name in self.numbers or name in self.flags or name in self.groups:
                features.append(name)
            elif name in self.names:
                features.extend(self.names[name])
            elif name in columns:
                features.append(columns[name])
            else:
                known = [*self.numbers, *self.flags, *self.groups]
                raise SettingError(f"{what}: there is no feature `{name}`, expected one of {', '.join(known)}")
        return list(dict.fromkeys(features))

    def check(self, rows: Any) -> None:
        """Refuses rows that are not a valid encoding."""
        for columns in [*([name] for name in self.flags), *self.groups.values()]:
            is_known = rows[columns].isin([0, 1]).all(axis=1) & (rows[columns].sum(axis=1) <= 1)
            if not is_known.all():
                row = is_known.to_numpy().argmin()
                found = rows[columns].iloc[row].tolist()
                raise DataError(f"factuals: row {row}: expected at most one 1 and zeros in {columns}, found {found}")

    def schema(self, target: str) -> dict[str, Any]:
        """The schema of the features."""
        features: list[dict[str, Any]] = [{"name": name, "kind": "continuous"} for name in self.numbers]
        features += [{"name": name, "kind": "nominal", "values": ["0", "1"]} for name in self.flags]
        for name, columns in self.groups.items():
            values = [*columns, _NONE] if name in self.partial else columns
            features.append({"name": name, "kind": "nominal", "values": values})
        label = {"column": target, "classes": ["0", "1"], "favourable": "1"}
        return {"missing_text": [], "label": label, "feature": features}

    def decoded(self, rows: Any) -> Any:
        """Rows with a column for every feature."""
        import pandas

        columns: dict[str, Any] = {name: rows[name].astype(float) for name in self.numbers}
        for name in self.flags:
            columns[name] = rows[name].round().astype(int)
        for name, group in self.groups.items():
            values = rows[group].astype(float)
            columns[name] = values.idxmax(axis=1).astype(object).where(values.max(axis=1) > 0, _NONE)
        return pandas.DataFrame(columns, index=rows.index)

    def encoded(self, found: Any, rows: Any) -> Any:
        """The inverse of `decoded`; unchanged features keep the numbers of `rows`."""
        own = rows.loc[found.index]
        encoded = own[self.order].astype(float)
        for name in [*self.numbers, *self.flags]:
            encoded[name] = found[name].astype(float)
        for name, group in self.groups.items():
            for column in group:
                encoded[column] = (found[name] == column).astype(float)
        return encoded


@dataclass(frozen=True)
class _Scorer:
    """The probability of class 1, as `Recourse` takes a classifier."""

    mlmodel: Any
    encoding: _Encoding

    def __call__(self, frame: Any) -> Any:
        import pandas

        empty = pandas.DataFrame(0.0, index=frame.index, columns=self.encoding.order)
        return _scores(self.mlmodel, self.encoding.encoded(frame, empty))


def _scores(mlmodel: Any, rows: Any) -> Any:
    import numpy

    if hasattr(mlmodel, "predict_proba"):
        scores = numpy.asarray(mlmodel.predict_proba(rows), dtype=float)
        scores = scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores
    else:
        scores = numpy.asarray(mlmodel.predict(rows), dtype=float)
    if scores.size != len(rows):
        raise ClassifierError(f"mlmodel: expected a probability for each of {len(rows)} rows, found {scores.shape}")
    return scores.reshape(-1)


def _owner(column: str, categorical: list[str]) -> str | None:
    """The categorical feature that a column encodes: the longest name that it begins with."""
    owners = [name for name in categorical if column == name or column.startswith(f"{name}_")]
    return max(owners, key=len, default=None)
