"""Frames of pandas, in and out.

A single row is converted value by value: the methods for whole columns take longer than its answer.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Callable

import pyarrow as pa

from ._dtypes import pandas_column, with_categories
from .errors import DataError

_FEW_ROWS = 4
"""So many rows are converted sooner value by value."""
_ROWS_WORTH_THREADS = 1000
"""Fewer rows are converted sooner than threads wake up."""

_TEXT = pa.string()
_KINDS = {pa.float64(): "float64", pa.int64(): "int64", pa.bool_(): "bool"}
"""The types of pandas for columns of lines."""

_WHOLE, _TRUTHS = ("rank", "changes", "months"), ("has_margin", "optimal")
"""Our columns of whole numbers and truth values. They are nullable: pandas has no missing integers by default, and a
column's type must not depend on the answers."""


def labels(X: Any) -> list[str]:
    """The names of the columns, which need not be text."""
    return list(map(str, X.columns.tolist()))


def read(X: Any, wanted: Callable[[str], bool]) -> pa.Table:
    """The wanted columns."""
    if X.columns.nlevels > 1:
        raise DataError(
            f"X: its columns have {X.columns.nlevels} levels, expected one\n"
            'hint: `X.columns = ["_".join(map(str, name)) for name in X.columns]`'
        )
    names = labels(X)
    used = [(position, name) for position, name in enumerate(names) if wanted(name)]
    repeated = next((name for at, (_, name) in enumerate(used) if names.index(name) != used[at][0]), None)
    if repeated is not None:
        raise DataError(f"X: two columns are called `{repeated}`\nhint: rename or drop one")
    row = _row(X, used) if len(X) == 1 else None
    return pa.table({name: _column(X, position, name) for position, name in used}) if row is None else row


def _column(X: Any, position: int, name: str) -> pa.Array:
    try:
        return pa.array(X.iloc[:, position], from_pandas=True)
    except OverflowError as error:
        raise DataError(
            f"X: column `{name}` has a whole number of more than 64 bits\n"
            "hint: cast it to float, or to text if it is an id or a category"
        ) from error
    except (pa.ArrowException, TypeError) as error:
        raise DataError(f"X: column `{name}` cannot be read: {error}\nhint: see that all of its cells are of one type") from error


def copy(X: Any) -> Any:
    """The frame, unaffected by later changes of it; from pandas 3 on, what does not change is shared."""
    import pandas

    return X.copy(deep=int(pandas.__version__.partition(".")[0]) < 3)


def _row(X: Any, used: list[tuple[int, str]]) -> pa.Table | None:
    """A table of one row; `None` if it has types whose values are not plain."""
    row, dtypes = X.iloc[0], X.dtypes.tolist()
    if row.dtype != object and any(dtype != row.dtype for dtype in dtypes):
        # Whole numbers were turned into floats.
        return None
    values = row.tolist()
    types = [_arrow_type(dtypes[position]) or _type_of_value(values[position]) for position, _ in used]
    if None in types:
        return None
    struct = pa.struct([(name, data_type) for (_, name), data_type in zip(used, types)])
    own = {name: values[position] for position, name in used}
    try:
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array([own], struct, from_pandas=True))])
    except (pa.ArrowException, TypeError, OverflowError):
        return None


@lru_cache
def _arrow_type(dtype: Any) -> pa.DataType | None:
    """The type of plain values; `None` for others and for objects."""
    import numpy
    import pandas

    if isinstance(dtype, pandas.StringDtype):
        return pa.string()
    if isinstance(dtype, numpy.dtype) and dtype.kind in "iufb":
        return pa.from_numpy_dtype(dtype)
    return None


def _type_of_value(value: Any) -> pa.DataType | None:
    return pa.string() if isinstance(value, str) else None


def write(X: Any, lines: pa.Table, columns: dict[str, str], features: list[str], id: str | None) -> Any:
    """Lines as a frame, with ids and features in the types that they have in `X`."""
    import numpy

    names = labels(X)
    ids = X.index if id is None else X.iloc[:, names.index(id)]
    ids = ids.take(people(lines, columns))
    # The array of an index of several levels is that of its tuples.
    ids = ids.to_numpy() if isinstance(ids.dtype, numpy.dtype) else ids.array
    own = dict(zip(names, X.dtypes.tolist()))
    written = _few(lines, columns, ids, own) if lines.num_rows <= _FEW_ROWS else None
    written = _many(lines, columns, ids) if written is None else written
    first = lines.num_columns - len(features)
    for position, (name, given) in enumerate(zip(features, written.dtypes.tolist()[first:]), first):
        dtype = own[name]
        # Most are the same object, which is quicker to see than that they are equal.
        if given is not dtype and given != dtype:
            column = written.iloc[:, position]
            written.isetitem(position, pandas_column(column, with_categories(dtype, column)))
    return written


def people(lines: pa.Table, columns: dict[str, str]) -> list[int]:
    """The row of each line: ways are counted from 1, and who has none has one line without a rank."""
    row, rows = -1, []
    for rank in lines.column(columns["rank"]).to_pylist():
        row += rank is None or rank == 1
        rows.append(row)
    return rows


def _many(lines: pa.Table, columns: dict[str, str], ids: Any) -> Any:
    # Told as metadata, since casting columns one by one takes longer.
    types = {**dict.fromkeys(_WHOLE, "Int64"), **dict.fromkeys(_TRUTHS, "boolean")}
    described = [
        {"name": columns[name], "field_name": columns[name], "pandas_type": None, "numpy_type": dtype, "metadata": None}
        for name, dtype in types.items()
    ]
    metadata = {"columns": described, "index_columns": [], "column_indexes": []}
    lines = lines.replace_schema_metadata({"pandas": json.dumps(metadata)})
    written = lines.to_pandas(use_threads=lines.num_rows > _ROWS_WORTH_THREADS)
    written.isetitem(0, ids)
    return written


def _few(lines: pa.Table, columns: dict[str, str], ids: Any, own: dict[str, Any]) -> Any:
    """As `_many`, for some lines; `None` if they have types whose values are not plain, or pandas is older than 3."""
    import numpy
    import pandas

    create = getattr(getattr(pandas.api, "internals", None), "create_dataframe_from_blocks", None)
    if create is None:
        return None
    nullable = {columns[name] for name in (*_WHOLE, *_TRUTHS)}
    usual = _text_type()
    blocks = [(ids.reshape(1, -1) if isinstance(ids, numpy.ndarray) else ids, numpy.array([0]))]
    plain: dict[str, dict[int, list[Any]]] = {"float64": {}, "int64": {}, "bool": {}}
    for position, (name, column) in enumerate(zip(lines.column_names[1:], lines.columns[1:]), 1):
        values, data_type = column.to_pylist(), column.type
        if data_type == _TEXT:
            text = own[name] if isinstance(own.get(name), pandas.StringDtype) else usual
            blocks.append((text.construct_array_type()._from_sequence(values, dtype=text), numpy.array([position])))
            continue
        kind = _KINDS.get(data_type)
        gaps = [value is None for value in values]
        if kind is None or kind != "float64" and any(gaps) and name not in nullable:
            return None
        if name in nullable:
            filled = numpy.array([value or 0 for value in values], dtype=kind)
            make = pandas.arrays.IntegerArray if kind == "int64" else pandas.arrays.BooleanArray
            blocks.append((make(filled, numpy.array(gaps)), numpy.array([position])))
        else:
            plain[kind][position] = values
    blocks += [(numpy.array(list(some.values()), dtype=kind), numpy.array(list(some))) for kind, some in plain.items() if some]
    index = pandas.RangeIndex(lines.num_rows)
    return create(blocks, index=index, columns=pandas.Index(lines.column_names))


@lru_cache
def _text_type() -> Any:
    """The type of a column of text."""
    import pandas

    return pandas.Series([""]).dtype
