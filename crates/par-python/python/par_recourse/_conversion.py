"""Estimators of scikit-learn as ONNX files, and how a row becomes their inputs."""

from __future__ import annotations

import copy
import json
import sys
import warnings
from typing import Any, Iterator, NamedTuple, Sequence

import pyarrow as pa

from . import _native
from ._judge import Layout
from .errors import ClassifierError


class Column(NamedTuple):
    """A column that an estimator uses."""

    name: str
    form: str
    """The form of its cells: `number`, `text` or `zero-one`."""
    whole: bool
    """Whether it holds whole numbers as categories."""
    missing: str | None
    """The value of a missing cell, if there may be one."""
    one: str | None = None
    """The schema's text for true."""

    def line(self) -> str:
        """The column as a line of a file of inputs."""
        keys = [f"feature = {quoted(self.name)}", f'as = "{self.form}"']
        if self.one is not None:
            keys.append(f"one = {quoted(self.one)}")
        if self.missing is not None:
            keys.append(f"missing = {quoted(self.missing)}")
        return f"{{ {', '.join(keys)} }}"


def converted(
    estimator: Any, places: Sequence[int] | None, table: pa.Table, layout: Layout, facts: dict[str, Any], schema: str
) -> tuple[bytes, str]:
    """An estimator as a readable ONNX file, and its inputs. `places` are the columns of the accepted classes, `None` for a
    regression.

    Raises
    ------
    ClassifierError
        When it cannot be converted, with the reason.
    """
    try:
        import skl2onnx  # noqa: F401
    except ImportError as error:
        remedy = "pip install 'par-recourse[sklearn]'"
        raise ClassifierError(f"skl2onnx, which converts estimators, is not installed ({remedy})") from error
    columns = _columns(table, layout, facts)
    _register()
    estimator = _prepared(estimator)
    why: Exception | None = None
    for types in _types(estimator, columns):
        try:
            file, inputs = _convert(estimator, types, columns, places)
            # An unreadable file is refused here, before anything is learned.
            _native.draft_inputs(file, schema)
            return file, inputs
        except Exception as error:  # A converter may raise anything.
            why = why or error
    raise ClassifierError(f"it cannot be had as an ONNX file: {_summary(why)}") from why


def _summary(why: BaseException | None) -> str:
    """The cause in one line: a converter's own message may contain a whole forest."""
    root = why
    while root is not None and root.__cause__ is not None:
        root = root.__cause__
    text = " ".join(str(root).split("\nhint")[0].split())
    if "got a boolean" in text:
        text += " (skl2onnx 1.20 needs protobuf before 7 for these trees)"
    return text if len(text) <= 200 else text[:197] + "..."


def _columns(table: pa.Table, layout: Layout, facts: dict[str, Any]) -> list[Column]:
    features = {feature["name"]: feature for feature in facts["features"]}
    columns = []
    for name in layout.names:
        if name not in features:
            raise ClassifierError(f"it uses `{name}`, which is not a feature of the schema")
        columns.append(_column(table.column(name).type, features[name], layout.gaps.get(name, "nan")))
    return columns


def _column(data_type: pa.DataType, feature: dict[str, Any], gap: Any) -> Column:
    if pa.types.is_dictionary(data_type):
        data_type = data_type.value_type
    name, missing = feature["name"], "nan" if feature["missing"] else None
    is_numeric = feature["kind"] in ("discrete", "continuous")
    if pa.types.is_boolean(data_type) and not is_numeric:
        truths = [value for value in feature["values"] if value.lower() in ("true", "1")]
        return Column(name, "zero-one", False, missing, truths[0] if truths else "true")
    if pa.types.is_integer(data_type):
        return Column(name, "number", not is_numeric, missing)
    if pa.types.is_floating(data_type) or pa.types.is_decimal(data_type) or pa.types.is_boolean(data_type):
        return Column(name, "number", False, missing)
    return Column(name, "text", False, str(gap) if missing else None)


def _prepared(estimator: Any) -> Any:
    """A convertible copy of the estimator: unfrozen, and with text as the missing value of text imputers."""
    if type(estimator).__name__ == "FrozenEstimator":
        estimator = estimator.estimator

    def is_of_texts(part: Any) -> bool:
        is_imputer = type(part).__name__ == "SimpleImputer" and hasattr(part, "statistics_")
        return is_imputer and part.statistics_.dtype == object and not isinstance(part.missing_values, str)

    if any(map(is_of_texts, _parts(estimator))):
        estimator = copy.deepcopy(estimator)
        for part in filter(is_of_texts, _parts(estimator)):
            part.missing_values = str(part.missing_values)
    return estimator


def _parts(estimator: Any) -> Iterator[Any]:
    """An estimator and its parts."""
    yield estimator
    inner = [getattr(estimator, "best_estimator_", None)]
    for name in ("steps", "transformers_", "transformer_list"):
        inner += [part for _, part, *_ in getattr(estimator, name, [])]
    for part in inner:
        if hasattr(part, "fit"):
            yield from _parts(part)


Types = list[tuple[str, str, list[Column]]]
"""The inputs of an ONNX file: a name, its type, and its columns."""


def _types(estimator: Any, columns: list[Column]) -> Iterator[Types]:
    """Inputs to try: one per column, as a ColumnTransformer needs, or one for all."""

    def holds(column: Column, whole: bool) -> str:
        return "text" if column.form == "text" else "whole" if whole and column.whole else "float"

    kinds = {column.form == "text" for column in columns}
    one = [[("X", holds(columns[0], False), columns)]] if len(kinds) == 1 else []
    each = [[(column.name, holds(column, False), [column]) for column in columns]]
    if any(column.whole for column in columns):
        each.append([(column.name, holds(column, True), [column]) for column in columns])
    yield from each + one if _takes_columns(estimator) else one + each


def _takes_columns(estimator: Any) -> bool:
    """Whether an estimator begins with a transformer that selects columns by name."""
    for name in ("best_estimator_", "estimator", "estimator_"):
        inner = getattr(estimator, name, None)
        if hasattr(inner, "steps"):
            return _takes_columns(inner)
    if hasattr(estimator, "steps"):
        return any(_takes_columns(step) for _, step in estimator.steps[:-1])
    if hasattr(estimator, "transformer_list"):
        return any(_takes_columns(part) for _, part in estimator.transformer_list)
    return hasattr(estimator, "transformers")


def _convert(estimator: Any, types: Types, columns: list[Column], places: Sequence[int] | None) -> tuple[bytes, str]:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    tensors = {"text": StringTensorType, "whole": Int64TensorType, "float": FloatTensorType}
    initial_types = [(name, tensors[holds]([None, len(places)])) for name, holds, places in types]
    # The newest tree operators that all converters support.
    opset = {"": 17, "ai.onnx.ml": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = None if places is None else {"zipmap": False}
        model = convert_sklearn(estimator, "classifier", initial_types, options=options, target_opset=opset)
    names = [tensor.name for tensor in model.graph.input]
    if len(names) != len(types):
        raise ClassifierError(f"of {len(types)} inputs, {len(names)} are left")
    outputs = [output.name for output in model.graph.output]
    score = 'scale = "number"' if places is None else f"accepted = {list(places) if len(places) > 1 else places[0]}"
    lines = ["[output]", f"name = {quoted(outputs[-1])}", score]
    for name, (_, _, own) in zip(names, types):
        lines += ["", "[[input]]", f"name = {quoted(name)}", "columns = ["]
        lines += [f"  {column.line()}," for column in own] + ["]"]
    return model.SerializeToString(), "\n".join(lines) + "\n"


def _register() -> None:
    """Lets skl2onnx convert the estimators of XGBoost and LightGBM, if they are in use and onnxmltools is installed."""
    found = {
        "xgboost": ("XGBClassifier", "convert.xgboost.operator_converters.XGBoost", "convert_xgboost"),
        "lightgbm": ("LGBMClassifier", "convert.lightgbm.operator_converters.LightGbm", "convert_lightgbm"),
    }
    for library, (name, module, function) in found.items():
        loaded = sys.modules.get(library)
        if loaded is None or not hasattr(loaded, name):
            continue
        try:
            from importlib import import_module

            convert = getattr(import_module(f"onnxmltools.{module}"), function)
            from skl2onnx import update_registered_converter
            from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
        except ImportError:
            continue
        options = {"nocl": [True, False], "zipmap": [True, False, "columns"]}
        estimator = getattr(loaded, name)
        update_registered_converter(
            estimator, name, calculate_linear_classifier_output_shapes, convert, options=options, overwrite=True
        )


def quoted(text: str) -> str:
    """A basic string of TOML, which has the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
