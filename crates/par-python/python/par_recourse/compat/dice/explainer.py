"""`Dice`: finds counterfactuals by the searches of PAR."""

from __future__ import annotations

import operator
import pickle
import re
import time
from typing import Any, Mapping, Sequence

from ..._cells import cell
from ..._dtypes import pandas_column, with_categories
from ..._files import toml
from ..._request import Method, Request
from ...errors import DataError
from ...estimator import Recourse
from ..lines import ways
from .counterfactual_explanations import CounterfactualExamples, CounterfactualExplanations, UserConfigValidationException
from .interfaces import Data, Model, OneClass, Scorer, classes_of, not_in_training
from .options import IgnoredOptions

_CERTAIN = 1 - 1e-9
"""A threshold of 1 can never be reached."""

_USUAL_EFFORT = 2.0
"""The weight of the effort that a change takes by default."""

_METHODS: dict[str, Method] = {name: "refine" for name in ("random", "genetic", "kdtree")}
_METHODS |= {"generate": "generate", "refine": "refine", "exact": "exact"}

_FOR_IMPORTANCE = 10
"""The least number of counterfactuals per query, and of queries, for which DiCE computes importances."""


class MissingColumn(DataError, KeyError):
    """A query lacks a feature."""

    __str__ = Exception.__str__


class Dice:
    """Finds counterfactuals. The first query fits a model, for all with the same data, model and settings.

    Parameters
    ----------
    data_interface, model_interface:
        The table and the model.
    method:
        ``"random"``, ``"genetic"``, ``"kdtree"``; ``"generate"``, ``"refine"``, ``"exact"``.
    settings:
        Those of `Recourse`, such as `config`, `bins` or `progress`. The `inputs` of an ONNX file are for the second
        class, in the order of names.
    """

    def __init__(self, data_interface: Data, model_interface: Model, method: str = "random", **settings: Any) -> None:
        if method == "gradient":
            raise UserConfigValidationException(
                "gradient is only supported for differentiable neural network models. "
                "Please choose one of random, genetic or kdtree"
            )
        if method not in _METHODS:
            raise UserConfigValidationException(
                f"Unsupported sample strategy {method} provided. Please choose one of random, genetic or kdtree"
                "\nhint: or one of generate, refine, exact"
            )
        own = {"schema", "classifier", "favourable", "threshold"}
        unknown = [name for name in settings if name in own or name not in Recourse._names()]
        if unknown:
            raise TypeError(f"Dice() got an unexpected keyword argument '{unknown[0]}'")
        self.data_interface = data_interface
        self.model = model_interface
        self.method = method
        self._settings = settings
        self._ignored = IgnoredOptions()
        self._scorer = Scorer.of(data_interface, model_interface)
        self._classes = classes_of(data_interface, model_interface)
        if self._scorer is None and len(self._classes) != 2:
            raise UserConfigValidationException(f"an ONNX file has two classes, found {self._classes} in the outcome")

    # -- asking

    def generate_counterfactuals(
        self,
        query_instances: Any,
        total_CFs: int,
        desired_class: int | str = "opposite",
        desired_range: Any = None,
        permitted_range: Mapping[str, Sequence[Any]] | None = None,
        features_to_vary: str | Sequence[str] = "all",
        stopping_threshold: float = 0.5,
        posthoc_sparsity_param: float | None = 0.1,
        posthoc_sparsity_algorithm: str | None = "linear",
        verbose: bool = False,
        feature_weights: str | Mapping[str, float] | None = None,
        fewest_changes: bool = False,
        **options: Any,
    ) -> CounterfactualExplanations:
        """Counterfactuals of every row of a frame.

        Parameters
        ----------
        query_instances:
            A pandas frame with the features, in any order.
        total_CFs:
            The most to find for each row.
        desired_class:
            ``"opposite"``, or the place of a class in the model's `classes_`, counted from 0.
        desired_range:
            For regressors; refused.
        permitted_range:
            The values that features may change to, instead of those in `Data`. A row's own value is always allowed.
        features_to_vary:
            The features that may change; all others stay as they are.
        stopping_threshold:
            The least probability of the desired class.
        posthoc_sparsity_param, posthoc_sparsity_algorithm:
            Without effect: a way has no change that it does not need.
        verbose:
            Whether to print how many rows have counterfactuals.
        feature_weights:
            How hard features are to change: weights above 0 by name, 1 by default.
        fewest_changes:
            Whether rows with fewer changes come first, even if one more change would take less effort.
        options:
            Options of DiCE's methods, without effect.

        Raises
        ------
        UserConfigValidationException
            When the request is invalid, or when no row has a counterfactual.
        """
        started = time.monotonic()
        self._ignored.tell("Dice.generate_counterfactuals", options)
        _check(total_CFs, desired_range, stopping_threshold, posthoc_sparsity_param, posthoc_sparsity_algorithm)
        self._ignored.tell_of_sparsity(posthoc_sparsity_param, posthoc_sparsity_algorithm)
        if feature_weights == "inverse_mad":
            self._ignored.tell_of_weights("inverse_mad")
        queries = self._checked_queries(query_instances)
        lock, effort = self._locked(features_to_vary), self._efforts(feature_weights)
        limits = self.data_interface.limits | self.data_interface.checked_limits(permitted_range or {})
        self._check_locked_within(queries, lock, limits)
        limits = {name: values for name, values in limits.items() if name not in lock}
        threshold = min(max(stopping_threshold, 1 - stopping_threshold), _CERTAIN)

        predicted = self._probabilities(queries).argmax(axis=1)
        desired = [self._desired(desired_class, int(own)) for own in predicted]
        found: dict[int, Any] = {}
        for target in sorted(set(desired)):
            rows = queries[[own == target for own in desired]]
            find = self._fewest if fewest_changes else self._found
            found |= find(rows, target, threshold, count=total_CFs, lock=lock, limit=limits, effort=effort)
        examples = [
            self._example(queries.iloc[[row]], int(predicted[row]), target, found.get(row), posthoc_sparsity_param)
            for row, target in enumerate(desired)
        ]
        if verbose:
            print(f"Counterfactuals found for {len(found)} of {len(queries)} in {time.monotonic() - started:.1f} s")
        if not found:
            raise UserConfigValidationException(
                "No counterfactuals found for any of the query points! Kindly check your configuration."
            )
        return CounterfactualExplanations(examples)

    def local_feature_importance(
        self, query_instances: Any, cf_examples_list: Any = None, total_CFs: int = 10, **options: Any
    ) -> CounterfactualExplanations:
        """For each row, the share of its counterfactuals that change a feature."""
        return self.feature_importance(query_instances, cf_examples_list, total_CFs, True, False, **options)

    def global_feature_importance(
        self,
        query_instances: Any,
        cf_examples_list: Any = None,
        total_CFs: int = 10,
        local_importance: bool = True,
        **options: Any,
    ) -> CounterfactualExplanations:
        """The share of the counterfactuals of all rows that change a feature."""
        rows = query_instances if cf_examples_list is None else cf_examples_list
        if len(rows) < _FOR_IMPORTANCE:
            raise UserConfigValidationException(
                "The number of query instances should be greater than or equal to 10 "
                "to compute global feature importance over all query points"
            )
        return self.feature_importance(query_instances, cf_examples_list, total_CFs, local_importance, True, **options)

    def feature_importance(
        self,
        query_instances: Any,
        cf_examples_list: Any = None,
        total_CFs: int = 10,
        local_importance: bool = True,
        global_importance: bool = True,
        **options: Any,
    ) -> CounterfactualExplanations:
        """How often counterfactuals change a feature; shares are over the counterfactuals found, which may be few."""
        if cf_examples_list is None:
            if total_CFs < _FOR_IMPORTANCE:
                raise UserConfigValidationException(
                    "The number of counterfactuals requested per query instance should be greater than or equal to 10 "
                    "to compute feature importance for all query points"
                )
            found = self.generate_counterfactuals(query_instances, total_CFs, **options)
            cf_examples_list = found.cf_examples_list
        changed = [self._changed(examples) for examples in cf_examples_list]
        every = [row for rows in changed for row in rows]
        names = self.data_interface.feature_names
        return CounterfactualExplanations(
            cf_examples_list,
            [_shares(names, rows) for rows in changed] if local_importance else None,
            _shares(names, every) if global_importance else None,
        )

    def serialize_explainer(self, path: str) -> None:
        """Writes this object with its models as a pickle. Read only pickles that you trust."""
        with open(path, "wb") as file:
            pickle.dump(self, file)

    @staticmethod
    def deserialize_explainer(path: str) -> Dice:
        """Reads a file of `serialize_explainer`."""
        with open(path, "rb") as file:
            return pickle.load(file)

    # -- checking

    def _checked_queries(self, queries: Any) -> Any:
        """The features of the queries in the order of the table, with rows counted from 0."""
        import pandas

        data = self.data_interface
        if not isinstance(queries, pandas.DataFrame):
            raise DataError(
                f"query_instances: expected a pandas DataFrame, found {type(queries).__name__}\n"
                "hint: `frame.iloc[[0]]` is a frame of one row"
            )
        if data.outcome_name in queries.columns:
            raise DataError(f"Target {data.outcome_name} present in query instance")
        for name in queries.columns:
            if name not in data.data_df.columns:
                raise DataError(f"Feature {name} not present in training data!")
        for name in data.feature_names:
            if name not in queries.columns:
                raise MissingColumn(f"query_instances: there is no column `{name}`")
        queries = queries[data.feature_names].reset_index(drop=True)
        if queries.isna().any(axis=None):
            raise UserConfigValidationException(
                "The query instance(s) should not have any missing values. "
                "Please impute the missing values and try again."
            )
        for name in data.categorical_feature_names:
            if not set(map(cell, queries[name])) <= data.categories[name]:
                raise DataError(f"Feature {name} has a value outside the dataset.")
        if len(queries) == 0:
            raise UserConfigValidationException(
                "No counterfactuals found for any of the query points! Kindly check your configuration."
            )
        return queries

    def _locked(self, to_vary: str | Sequence[str]) -> list[str]:
        names = self.data_interface.feature_names
        if isinstance(to_vary, str):
            if to_vary == "all":
                return []
            to_vary = [to_vary]
        if len(to_vary) == 0:
            raise UserConfigValidationException("Some features need to be varied for generating counterfactuals.")
        unknown = [name for name in to_vary if name not in names]
        if unknown:
            raise not_in_training(unknown)
        return [name for name in names if name not in to_vary]

    def _efforts(self, weights: str | Mapping[str, float] | None) -> dict[str, float]:
        """The efforts that DiCE's weights mean: its 1 is our default."""
        if weights is None or weights == "inverse_mad":
            return {}
        if isinstance(weights, str):
            raise UserConfigValidationException(f"feature_weights: expected `inverse_mad` or a dict, found {weights!r}")
        unknown = [name for name in weights if name not in self.data_interface.feature_names]
        if unknown:
            raise not_in_training(unknown)
        for name, weight in weights.items():
            if not weight > 0:
                raise UserConfigValidationException(f"feature_weights: expected a weight above 0 for {name}, found {weight}")
        return {name: _USUAL_EFFORT * weight for name, weight in weights.items()}

    def _check_locked_within(self, queries: Any, lock: list[str], limits: dict[str, Any]) -> None:
        for name in lock:
            if name in limits and name in self.data_interface.categorical_feature_names:
                if not set(map(cell, queries[name])) <= set(limits[name]):
                    raise DataError(f"Feature: {name} is outside the permitted range and isn't allowed to vary.")

    def _desired(self, desired_class: Any, own: int) -> int:
        if isinstance(desired_class, str) and desired_class == "opposite":
            if len(self._classes) > 2:
                raise UserConfigValidationException(
                    "Desired class cannot be opposite if the number of classes is more than 2."
                )
            return 1 - own
        try:
            desired = operator.index(desired_class)
        except TypeError:
            raise UserConfigValidationException(
                f"The target class for {desired_class} could not be identified\n"
                f"hint: give the place of a class in {self._classes}, counted from 0, or `opposite`"
            ) from None
        if not 0 <= desired < len(self._classes):
            raise UserConfigValidationException("Desired class not present in training data!")
        return desired

    # -- answering

    def _recourse(self, desired: int) -> Recourse:
        """The recourse to a class, fitted at first use of this data, model and settings."""
        data, fitted = self.data_interface, self.model.fitted
        key = (data, desired, repr(sorted(self._settings.items())))
        if key not in fitted:
            table = data.data_df[[*data.feature_names, data.outcome_name]]
            settings = dict(self._settings)
            if settings.get("inputs") is not None and desired == 0:
                settings["inputs"] = _for_first_class(toml(settings["inputs"]))
            fitted[key] = Recourse(
                data.schema,
                classifier=self._classifier(desired),
                favourable=cell(self._classes[desired]),
                **settings,
            ).fit(table.dropna(subset=[data.outcome_name]))
        return fitted[key]

    def _classifier(self, desired: int) -> Any:
        model = self.model.model
        is_estimator = hasattr(model, "predict_proba") and self.model.func is None
        if self._scorer is None or (is_estimator and len(self._classes) == 2):
            return model
        return OneClass(self._scorer, desired)

    def _probabilities(self, frame: Any) -> Any:
        """The probabilities of every class, a line for every row."""
        if self._scorer is not None:
            return self._scorer(frame)
        return self._recourse(1).predict_proba(frame)

    def _found(self, rows: Any, target: int, threshold: float, **options: Any) -> dict[int, Any]:
        """The counterfactuals of some rows, by the number of the row."""
        recourse = self._recourse(target)
        request = Request(method=_METHODS[self.method], threshold=threshold, **options)
        found = ways(recourse, rows, request, "query_instances")[self.data_interface.feature_names]
        if len(found) > 0:
            found = found.assign(**{name: _cast(found[name], rows[name].dtype) for name in found})
            scores = self._probabilities(found)
            found = found[(scores.argmax(axis=1) == target) & (scores[:, target] >= threshold)]
        by_row = found.groupby(level=0, sort=True)
        return {int(row): some.reset_index(drop=True) for row, some in by_row}

    def _fewest(self, rows: Any, target: int, threshold: float, count: int, **options: Any) -> dict[int, Any]:
        """As `_found`, with the least number of changes first; without changes in addition to those of a row before."""
        import pandas

        names = self.data_interface.feature_names
        found: dict[int, list[Any]] = {int(row): [] for row in rows.index}
        for budget in range(1, len(names) - len(options["lock"]) + 1):
            left = rows[[len(found[int(row)]) < count for row in rows.index]]
            if len(left) == 0:
                break
            for row, some in self._found(left, target, threshold, count=count, budget=budget, **options).items():
                own = rows.loc[row]
                for _, way in some.iterrows():
                    if not any(_includes(way, before, own, names) for before in found[row]):
                        found[row].append(way)
        frames = {row: pandas.DataFrame(some[:count]).reset_index(drop=True) for row, some in found.items() if some}
        # Rows that are taken out of a frame lose the types of its columns.
        types = {name: rows[name].dtype for name in names}
        return {
            row: frame.assign(**{name: _cast(frame[name], dtype) for name, dtype in types.items()})
            for row, frame in frames.items()
        }

    def _example(self, query: Any, own: int, target: int, found: Any, sparsity: float | None) -> CounterfactualExamples:
        outcome = self.data_interface.outcome_name
        query = query.reset_index(drop=True)
        query[outcome] = [self._classes[own]]
        if found is not None:
            found = found.assign(**{outcome: [self._classes[target]] * len(found)})
        return CounterfactualExamples(
            data_interface=self.data_interface,
            final_cfs_df=found,
            test_instance_df=query,
            final_cfs_df_sparse=None if found is None else found.copy(),
            posthoc_sparsity_param=sparsity,
            desired_class=self._classes[target],
        )

    def _changed(self, examples: CounterfactualExamples) -> list[set[str]]:
        """The features that each counterfactual changes."""
        if examples.final_cfs_df is None:
            return []
        names = self.data_interface.feature_names
        own = examples.test_instance_df[names].iloc[0]
        return [
            {name for name in names if row[name] != own[name]} for _, row in examples.final_cfs_df[names].iterrows()
        ]


def _check(total: Any, desired_range: Any, threshold: float, sparsity: Any, algorithm: Any) -> None:
    if not isinstance(total, int):
        raise TypeError(f"total_CFs: expected a whole number, found {total!r}")
    if total <= 0:
        raise UserConfigValidationException(
            "The number of counterfactuals generated per query instance (total_CFs) should be a positive integer."
        )
    if desired_range is not None:
        raise UserConfigValidationException("The desired_range parameter should not be set for classification task")
    if not 0 <= threshold <= 1:
        raise UserConfigValidationException("The stopping_threshold should lie between 0.0 and 1.0")
    if sparsity is not None and not 0 <= sparsity <= 1:
        raise UserConfigValidationException("The posthoc_sparsity_param should lie between 0.0 and 1.0")
    if algorithm not in ("linear", "binary", None):
        raise UserConfigValidationException(
            f"The posthoc_sparsity_algorithm should be linear or binary and not {algorithm}"
        )


def _includes(way: Any, before: Any, own: Any, names: list[str]) -> bool:
    """Whether a way makes all changes of one before it."""
    return all(way[name] == before[name] for name in names if before[name] != own[name])


def _for_first_class(inputs: str) -> str:
    """The inputs of a network of two classes, with the first one accepted."""
    flipped, count = re.subn(r"(?m)^(\s*accepted\s*=\s*)([01])\b", lambda found: f"{found[1]}{1 - int(found[2])}", inputs)
    if count > 0:
        return flipped
    head, output, tail = inputs.partition("[output]\n")
    return f"{head}{output}accepted = 0\n{tail}" if output else f"[output]\naccepted = 0\n{inputs}"


def _cast(cells: Any, dtype: Any) -> Any:
    """Cells in the type of a query's column, unless that would change them."""
    return pandas_column(cells, with_categories(dtype, cells))


def _shares(names: list[str], changed: list[set[str]]) -> dict[str, float]:
    """The share of rows that change a feature, the largest first."""
    shares = {name: sum(name in row for row in changed) / max(len(changed), 1) for name in names}
    return dict(sorted(shares.items(), key=lambda share: -share[1]))
