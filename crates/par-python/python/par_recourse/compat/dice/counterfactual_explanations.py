"""The results: counterfactuals by query, as frames, as text and as JSON."""

from __future__ import annotations

import importlib
import json
import math
from dataclasses import dataclass
from typing import Any, Sequence

from ...errors import ParError

VERSION = "2.0"
"""The version of DiCE's JSON."""

_KEYS = [
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


class UserConfigValidationException(ParError):
    """An invalid request, under DiCE's name."""


@dataclass(frozen=True)
class Outcome:
    """The facts of the table that JSON holds."""

    outcome_name: str
    data_df: str = "dummy_data"


class CounterfactualExamples:
    """One query and its counterfactuals.

    Attributes
    ----------
    test_instance_df:
        The query, with the class that the model gives it in the last column.
    final_cfs_df, final_cfs_df_sparse:
        Its counterfactuals, with their class in the last column; `None` if there are none. Both are the same rows,
        because a way of PAR has no unnecessary changes to remove.
    test_pred, new_outcome:
        The class of the query, and of its counterfactuals.
    """

    def __init__(
        self,
        data_interface: Any = None,
        final_cfs_df: Any = None,
        test_instance_df: Any = None,
        final_cfs_df_sparse: Any = None,
        posthoc_sparsity_param: float | None = 0,
        desired_range: Any = None,
        desired_class: Any = "opposite",
        model_type: str = "classifier",
    ) -> None:
        self.data_interface = data_interface
        self.final_cfs_df = final_cfs_df
        self.test_instance_df = test_instance_df
        self.final_cfs_df_sparse = final_cfs_df_sparse
        self.model_type = model_type
        self.desired_class = desired_class
        self.desired_range = desired_range
        self.final_cfs_list = None
        self.posthoc_sparsity_param = posthoc_sparsity_param
        self.test_pred = test_instance_df[data_interface.outcome_name].iloc[0]
        self.new_outcome = desired_class

    def visualize_as_dataframe(self, display_sparse_df: bool = True, show_only_changes: bool = False) -> None:
        """Shows the query and its counterfactuals as frames."""
        self._visualize(_display, display_sparse_df, show_only_changes)

    def visualize_as_list(self, display_sparse_df: bool = True, show_only_changes: bool = False) -> None:
        """Prints the query and its counterfactuals as lists."""
        self._visualize(_print_rows, display_sparse_df, show_only_changes)

    def _visualize(self, show: Any, is_sparse: bool, only_changes: bool) -> None:
        print(f"Query instance (original outcome : {self.test_pred})")
        show(self.test_instance_df)
        found = self.final_cfs_df_sparse if is_sparse else self.final_cfs_df
        if found is None or len(found) == 0:
            print("\nNo counterfactuals found!")
            return
        if self.posthoc_sparsity_param is None:
            title = "Counterfactual set"
        elif is_sparse:
            title = "Diverse Counterfactual set"
        else:
            title = "Diverse Counterfactual set without sparsity correction"
        print(f"\n{title} (new outcome: {self.new_outcome})")
        show(self._changes(found) if only_changes else found)

    def _changes(self, found: Any) -> Any:
        """The counterfactuals as text, with `-` for unchanged values."""
        import pandas

        own = _rows(self.test_instance_df)[0]
        rows = [["-" if _is_same(*pair) else str(pair[1]) for pair in zip(own, row)] for row in _rows(found)]
        return pandas.DataFrame(rows, columns=found.columns, index=found.index)

    def __repr__(self) -> str:
        count = 0 if self.final_cfs_df is None else len(self.final_cfs_df)
        return f"<CounterfactualExamples: {self.test_pred} → {self.new_outcome}, {count} found>"


class CounterfactualExplanations:
    """The counterfactuals of several queries, in their order."""

    def __init__(
        self,
        cf_examples_list: Sequence[CounterfactualExamples],
        local_importance: list[dict[str, float]] | None = None,
        summary_importance: dict[str, float] | None = None,
        version: str | None = None,
    ) -> None:
        if version not in (None, VERSION):
            raise UserConfigValidationException(f"Unsupported serialization version {version}, expected {VERSION}")
        self._cf_examples_list = list(cf_examples_list)
        self._local_importance = local_importance
        self._summary_importance = summary_importance

    @property
    def cf_examples_list(self) -> list[CounterfactualExamples]:
        """The counterfactuals of each query."""
        return self._cf_examples_list

    @property
    def local_importance(self) -> list[dict[str, float]] | None:
        """For each query, the share of its counterfactuals that change a feature."""
        return self._local_importance

    @property
    def summary_importance(self) -> dict[str, float] | None:
        """The share of all counterfactuals that change a feature."""
        return self._summary_importance

    @property
    def metadata(self) -> dict[str, str]:
        """The version of the JSON."""
        return {"version": VERSION}

    def visualize_as_dataframe(self, display_sparse_df: bool = True, show_only_changes: bool = False) -> None:
        """Shows every query and its counterfactuals as frames: in a notebook as tables, elsewhere as text."""
        for examples in self._cf_examples_list:
            examples.visualize_as_dataframe(display_sparse_df, show_only_changes)

    def visualize_as_list(self, display_sparse_df: bool = True, show_only_changes: bool = False) -> None:
        """Prints every query and its counterfactuals as lists."""
        for examples in self._cf_examples_list:
            examples.visualize_as_list(display_sparse_df, show_only_changes)

    def to_json(self) -> str:
        """The counterfactuals as JSON, in the form that DiCE reads."""
        if not self._cf_examples_list:
            raise UserConfigValidationException("there are no counterfactuals to write")
        first = self._cf_examples_list[0]
        outcome = first.data_interface.outcome_name
        columns = [str(name) for name in first.test_instance_df.columns]
        features = [name for name in columns if name != outcome]

        def by_feature(shares: dict[str, float]) -> list[float]:
            return [shares[name] for name in features]

        local, summary = self._local_importance, self._summary_importance
        values = [
            [_rows(examples.test_instance_df) for examples in self._cf_examples_list],
            [_found_rows(examples) for examples in self._cf_examples_list],
            None if local is None else [by_feature(shares) for shares in local],
            None if summary is None else by_feature(summary),
            {"outcome_name": outcome, "data_df": "dummy_data"},
            features,
            columns,
            first.model_type,
            first.desired_class,
            first.desired_range,
            self.metadata,
        ]
        return json.dumps(dict(zip(_KEYS, values)), default=lambda value: value.item())

    @staticmethod
    def from_json(json_str: str) -> CounterfactualExplanations:
        """Reads the result of `to_json`, of this module or of DiCE."""
        try:
            document = json.loads(json_str)
        except ValueError as error:
            raise UserConfigValidationException(f"the input is not JSON: {error}") from error
        metadata = document.get("metadata") if isinstance(document, dict) else None
        version = metadata.get("version") if isinstance(metadata, dict) else None
        if version is None:
            raise UserConfigValidationException("No version field in the json input")
        if version != VERSION:
            raise UserConfigValidationException(f"Incompatible version {version} found in json input")
        lacking = [key for key in _KEYS if key not in document]
        if lacking:
            raise UserConfigValidationException(f"the json input lacks `{lacking[0]}`")
        try:
            return _read(document)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise UserConfigValidationException(f"the json input cannot be read: {error}") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CounterfactualExplanations) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        found = sum(examples.final_cfs_df is not None for examples in self._cf_examples_list)
        return f"<CounterfactualExplanations of {len(self._cf_examples_list)} queries: {found} with counterfactuals>"


def _read(document: dict[str, Any]) -> CounterfactualExplanations:
    import pandas

    columns, features = document["feature_names_including_target"], document["feature_names"]
    outcome = Outcome(document["data_interface"]["outcome_name"])
    if len(document["test_data"]) != len(document["cfs_list"]):
        raise ValueError(f"`cfs_list` has {len(document['cfs_list'])} entries for {len(document['test_data'])} of `test_data`")
    examples = []
    for query, rows in zip(document["test_data"], document["cfs_list"]):
        found: Any = None if rows is None else pandas.DataFrame(rows, columns=columns)
        read = CounterfactualExamples(
            data_interface=outcome,
            final_cfs_df=found,
            test_instance_df=pandas.DataFrame(query, columns=columns),
            final_cfs_df_sparse=found,
            posthoc_sparsity_param=None,
            desired_range=document["desired_range"],
            desired_class=document["desired_class"],
            model_type=document["model_type"],
        )
        if rows:
            # The file has the desired class of the first query only; those of the others may be opposite.
            read.new_outcome = found[outcome.outcome_name].iloc[0]
        examples.append(read)
    local, summary = document["local_importance"], document["summary_importance"]
    return CounterfactualExplanations(
        examples,
        None if local is None else [dict(zip(features, shares)) for shares in local],
        None if summary is None else dict(zip(features, summary)),
    )


def _found_rows(examples: CounterfactualExamples) -> list[list[Any]] | None:
    found = examples.final_cfs_df if examples.final_cfs_df_sparse is None else examples.final_cfs_df_sparse
    return None if found is None else _rows(found)


def _rows(frame: Any) -> list[list[Any]]:
    return frame.astype(object).values.tolist()


def _is_same(before: Any, after: Any) -> bool:
    # Numbers from JSON may have fewer digits.
    if isinstance(before, float) and isinstance(after, (int, float)):
        return math.isclose(before, after, rel_tol=1e-9)
    return bool(before == after)


def _display(frame: Any) -> None:
    try:
        show: Any = importlib.import_module("IPython.display").display
    except ImportError:
        show = print
    show(frame)


def _print_rows(frame: Any) -> None:
    for row in _rows(frame):
        print(row)
