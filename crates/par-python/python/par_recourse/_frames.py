"""Tables in and out: pandas, polars, pyarrow, or anything that speaks the Arrow C interface."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .errors import DataError

INDEX = "__index__"
"""The column in which the index of a pandas frame travels."""


@dataclass(frozen=True)
class Frame:
    """A table, and the kind of frame that it came in."""

    kind: str
    table: pa.Table
    index: str | None = None
    """The column that holds the index of a pandas frame."""


def read(X: Any, names: list[str] | None = None) -> Frame:
    """Takes a table in; `names` are the columns of one that has none."""
    kind = kind_of(X)
    try:
        if kind == "pandas":
            table = pa.Table.from_pandas(X.reset_index(drop=True), preserve_index=False)
            return Frame(kind, table.append_column(INDEX, pa.array(X.index)), INDEX)
        if kind == "polars":
            X = X.collect() if type(X).__name__ == "LazyFrame" else X
            return Frame(kind, X.to_arrow())
        return Frame("pyarrow", _table(X, names))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise DataError(f"X: cannot be read as a table: {error}\nhint: see that every column is of one type") from error


def kind_of(X: Any) -> str:
    """`pandas`, `polars` or `pyarrow`, without importing what is not in use."""
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
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        return pa.table(X)
    if isinstance(X, dict):
        return pa.table(X)
    if isinstance(X, list) and all(isinstance(row, dict) for row in X):
        return pa.Table.from_pylist(X)
    if getattr(X, "ndim", None) == 2 and names is not None and X.shape[1] == len(names):
        return pa.table({name: X[:, column] for column, name in enumerate(names)})
    raise DataError(
        f"X: expected a table, found {type(X).__name__}\n"
        "hint: pass a pandas, polars or pyarrow table, a dict of columns or a list of dicts"
    )


def read_row(row: Any) -> Frame:
    """Takes one row in: a dict, a pandas Series, or a table of one row."""
    if hasattr(row, "to_frame") and hasattr(row, "index") and kind_of(row) == "pyarrow":
        frame = Frame("pandas", pa.Table.from_pylist([{str(name): value for name, value in row.items()}]))
    elif isinstance(row, dict) and not any(isinstance(value, (list, tuple)) for value in row.values()):
        frame = Frame("pyarrow", pa.Table.from_pylist([row]))
    else:
        frame = read(row)
    if frame.table.num_rows != 1:
        raise DataError(f"row: expected one row, found {frame.table.num_rows}\nhint: `X.iloc[[0]]` is a table of one row")
    return frame


def column(values: Any, name: str) -> pa.ChunkedArray:
    """Takes a column in, such as a label."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if hasattr(values, "to_arrow"):
        return values.to_arrow()
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise DataError(f"{name}: cannot be read as a column: {error}") from error


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """The table with a column, in the place of one that has its name."""
    values = column(values, name)
    if len(values) != table.num_rows:
        raise DataError(f"{name}: expected {table.num_rows} values, one for each row of X, found {len(values)}")
    if name in table.column_names:
        table = table.drop_columns([name])
    return table.append_column(name, values)


def write(kind: str, table: pa.Table) -> Any:
    """Gives answers out in the kind of frame that their table came in."""
    frame = write_plain(kind, table)
    if kind == "pandas":
        # pandas has no whole numbers with gaps unless told, and a column is of one type whatever the answers are.
        for name in ("rank", "changes"):
            frame[name] = frame[name].astype("Int64")
        frame["optimal"] = frame["optimal"].astype("boolean")
    return frame


def write_plain(kind: str, table: pa.Table) -> Any:
    """Gives a table out as it is."""
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table
