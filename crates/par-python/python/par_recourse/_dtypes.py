"""Columns in the types of other frames."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa

from ._cells import cell


_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def pandas_column(column: Any, dtype: Any) -> Any:
    """The column in a type if that changes none of its cells, otherwise as it is. Categories that the type lacks become
    missing."""
    import pandas

    if column.dtype == dtype:
        return column
    is_missing = column.isna()
    if isinstance(dtype, pandas.CategoricalDtype):
        known = {cell(category): category for category in dtype.categories}
        values = [None if gap else known.get(cell(value)) for value, gap in zip(column.astype(object), is_missing)]
        return pandas.Series(pandas.Categorical(values, dtype=dtype), index=column.index, name=column.name)
    types = pandas.api.types
    read = column
    if types.is_bool_dtype(dtype) and not types.is_numeric_dtype(column.dtype):
        truths = [None if gap else _TRUTHS.get(cell(value).lower()) for value, gap in zip(column, is_missing)]
        read = pandas.Series(truths, index=column.index, name=column.name, dtype="boolean")
    try:
        with warnings.catch_warnings():
            # What overflows is compared below.
            warnings.simplefilter("ignore", RuntimeWarning)
            typed = read.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return column
    is_same = typed.isna().equals(is_missing) and _is_same(read[~is_missing], typed[~is_missing])
    return typed if is_same else column


def _is_same(before: Any, after: Any) -> bool:
    """Whether numbers and truth values, none of them missing, are the same after a cast; floats in their precision."""
    import numpy
    from pandas.api import types

    # In Python whole numbers and floats are compared exactly.
    old, new = before.tolist(), after.tolist()
    if types.is_float_dtype(after.dtype):
        precision = numpy.finfo(getattr(after.dtype, "numpy_dtype", after.dtype))
        if precision.bits < 64:
            return bool(numpy.isclose(new, [float(value) for value in old], precision.eps, precision.tiny).all())
        return all((value if isinstance(value, int) else float(value)) == own for value, own in zip(old, new))
    if types.is_integer_dtype(after.dtype) or types.is_bool_dtype(after.dtype):
        return all((int(value) if isinstance(value, str) else value) == own for value, own in zip(old, new))
    return True


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
