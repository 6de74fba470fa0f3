"""Tables in and out: pandas, polars, pyarrow, or anything with the Arrow C interface."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any, Callable

import pyarrow as pa

from .errors import DataError


_ROWS_WORTH_THREADS = 1000
"""Fewer rows are converted sooner than threads wake up."""

INDEX = "__index__"
"""The column for the index of a pandas frame; features are unlikely to have this name."""


@dataclass(frozen=True)
class Frame:
    """A table, and the kind of frame that it came as."""

    kind: str
    table: pa.Table
    index: str | None = None
    """The column that holds the index of a pandas frame."""


def read(
    X: Any, names: list[str] | None = None, wanted: Callable[[str], bool] = lambda name: True, index: bool = False
) -> Frame:
    """Converts a table to Arrow.

    Parameters
    ----------
    names:
        The column names of a table without any.
    wanted:
        Which columns are needed; others are left out if that saves work.
    index:
        Whether to add the index of a pandas frame, if possible.
    """
    kind = kind_of(X)
    try:
        if kind == "pandas":
            return _of_pandas(X, wanted, index)
        if kind == "polars":
            X = X.collect() if type(X).__name__ == "LazyFrame" else X
            return Frame(kind, X.to_arrow())
        return Frame("pyarrow", _table(X, names))
    except (pa.ArrowException, TypeError) as error:
        raise DataError(f"X: cannot be read as a table: {error}\nhint: see that every column is of one type") from error


def _of_pandas(X: Any, wanted: Callable[[str], bool], index: bool) -> Frame:
    columns = [str(name) for name in X.columns]
    # Column by column: `pa.Table.from_pandas` also describes the frame, which takes longer than converting one row.
    arrays: dict[str, Any] = {}
    for name, (_, values) in zip(columns, X.items()):
        if not wanted(name):
            continue
        if name in arrays:
            raise DataError(f"X: two columns are called `{name}`\nhint: rename or drop one")
        try:
            arrays[name] = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError) as error:
            raise DataError(
                f"X: column `{name}` cannot be read: {error}\nhint: see that all of its cells are of one type"
            ) from error
    table = pa.table(arrays)
    if not index:
        return Frame("pandas", table)
    name = INDEX
    while name in arrays:
        name += "_"
    try:
        return Frame("pandas", table.append_column(name, pa.array(X.index)), name)
    except pa.ArrowException:
        # Such as an index of several levels: rows are numbered instead.
        return Frame("pandas", table)


def kind_of(X: Any) -> str:
    """`pandas`, `polars` or `pyarrow`, without importing libraries that are not in use."""
    for module, classes in {"pandas": ["DataFrame"], "polars": ["DataFrame", "LazyFrame"]}.items():
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(X, tuple(getattr(loaded, name) for name in classes)):
            return module
    return "pyarrow"


def _table(X: Any, names: list[str] | None) -> pa.Table:
    if isinstance(X, pa.Table):
        return X
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    if isinstance(X, pa.RecordBatchReader):
        return X.read_all()
    if type(X).__name__ != "Series" and (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")):
        return pa.table(X)
    if isinstance(X, dict):
        return pa.table(X)
    if isinstance(X, list) and all(isinstance(row, dict) for row in X):
        return pa.Table.from_pylist(X)
    if getattr(X, "ndim", None) == 2 and names is not None and X.shape[1] == len(names):
        return pa.table({name: X[:, column] for column, name in enumerate(names)})
    hint = "pass a pandas, polars or pyarrow table, a dict of columns or a list of dicts"
    if type(X).__name__ == "Series":
        hint = "`X.iloc[[0]]` is a table of one row; `explain` takes a row as it is"
    raise DataError(f"X: expected a table, found {type(X).__name__}\nhint: {hint}")


def read_row(row: Any) -> Frame:
    """Converts one row to Arrow: a dict, a pandas Series, or a table of one row."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(row, pandas.Series):
        frame = read(row.to_frame().T.infer_objects(), index=True)
    elif isinstance(row, dict) and not any(isinstance(value, (list, tuple)) for value in row.values()):
        frame = read([{str(name): value for name, value in row.items()}])
    else:
        frame = read(row, index=True)
    if frame.table.num_rows != 1:
        raise DataError(f"row: expected one row, found {frame.table.num_rows}\nhint: `X.iloc[[0]]` is a table of one row")
    return frame


def column(values: Any, name: str) -> pa.ChunkedArray:
    """Converts a column to Arrow, such as a label."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if getattr(values, "ndim", 1) == 2 and values.shape[1] == 1:
        values = values.iloc[:, 0] if hasattr(values, "iloc") else values[:, 0]
    if hasattr(values, "to_arrow"):
        return values.to_arrow()
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, KeyError) as error:
        raise DataError(f"{name}: cannot be read as a column: {error}") from error


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """The table with a column added or replaced."""
    values = column(values, name)
    if len(values) != table.num_rows:
        raise DataError(f"{name}: expected {table.num_rows} values, one for each row of X, found {len(values)}")
    if name in table.column_names:
        table = table.drop_columns([name])
    return table.append_column(name, values)


def write(kind: str, table: pa.Table, columns: dict[str, str]) -> Any:
    """Converts answers to the kind of frame that their table came as; `columns` maps our usual names to those in use."""
    if kind == "pandas":
        # Nullable types: pandas has no missing integers by default, and a column's type must not depend on the answers.
        # Told as metadata, since casting columns one by one takes longer than all the rest of a row.
        whole, truths = ("rank", "changes", "months"), ("has_margin", "optimal")
        types = {**dict.fromkeys(whole, "Int64"), **dict.fromkeys(truths, "boolean")}
        described = [
            {"name": columns[name], "field_name": columns[name], "pandas_type": None, "numpy_type": dtype, "metadata": None}
            for name, dtype in types.items()
        ]
        metadata = {"columns": described, "index_columns": [], "column_indexes": []}
        table = table.replace_schema_metadata({"pandas": json.dumps(metadata)})
    return write_plain(kind, table)


def write_plain(kind: str, table: pa.Table) -> Any:
    """Converts a table without changes."""
    if kind == "pandas":
        return table.to_pandas(use_threads=table.num_rows > _ROWS_WORTH_THREADS)
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table
