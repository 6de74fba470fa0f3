"""Columns in the types of other frames."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ._cells import cell


def pandas_column(column: Any, dtype: Any) -> Any:
    """The column in a type, if its cells fit that type. Categories that the type lacks become missing."""
    import pandas

    if column.dtype == dtype:
        return column
    if isinstance(dtype, pandas.CategoricalDtype):
        known = {cell(category): category for category in dtype.categories}
        values = [known.get(cell(value)) for value in column.astype(object)]
        return pandas.Series(pandas.Categorical(values, dtype=dtype), index=column.index)
    types = pandas.api.types
    if types.is_bool_dtype(dtype) and not types.is_numeric_dtype(column.dtype):
        truths = {"true": True, "1": True, "false": False, "0": False}
        column = pandas.Series([truths.get(cell(value).lower()) for value in column], index=column.index)
    if types.is_integer_dtype(dtype) and types.is_float_dtype(column.dtype) and not (column.dropna() % 1 == 0).all():
        return column
    try:
        typed = column.astype(dtype)
    except (TypeError, ValueError):
        return column
    # Whole numbers that are too large for a type would become others.
    is_cut = types.is_integer_dtype(dtype) and types.is_integer_dtype(column.dtype) and (typed != column).any()
    return column if is_cut else typed


def polars_column(column: Any, dtype: Any) -> Any:
    """The column in a type, if its cells fit that type."""
    import polars

    if column.dtype == dtype:
        return column
    if dtype.is_integer() and column.dtype.is_float() and not (column.drop_nulls() % 1 == 0).all():
        return column
    try:
        return column.cast(dtype)
    except polars.exceptions.PolarsError:
        return column


def arrow_column(column: pa.ChunkedArray, data_type: pa.DataType) -> pa.ChunkedArray:
    """The column in a type, if its cells fit that type."""
    try:
        return column.cast(data_type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def with_categories(dtype: Any, column: Any) -> Any:
    """A type of pandas; if it has categories, with those of the column after its own."""
    import pandas

    if not isinstance(dtype, pandas.CategoricalDtype):
        return dtype
    known = {cell(category) for category in dtype.categories}
    new = [value for value in column.dropna().unique() if cell(value) not in known]
    return dtype if not new else pandas.CategoricalDtype([*dtype.categories, *new], dtype.ordered)
