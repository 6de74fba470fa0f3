"""Tables in and out: pandas, polars, pyarrow, or anything with the Arrow C interface."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any, Callable, Sequence

import pyarrow as pa

from . import _pandas
from ._dtypes import arrow_column, polars_column
from .errors import DataError


INDEX = "__index__"
"""The column for the index of a pandas frame; features are unlikely to have this name."""


@dataclass(frozen=True)
class Frame:
    """A table, and the kind of frame that it came as."""

    kind: str
    table: pa.Table
    source: Any
    """The frame itself."""
    index: str | None = None
    """The column that holds the index of a pandas frame."""
    known: _pandas.Described | None = None
    """The columns of a pandas frame, if they are known."""

    def described(self) -> _pandas.Described:
        """The columns of a pandas frame."""
        return self.known or _pandas.described(self.source)

    def columns(self) -> list[str]:
        """The names of all columns, also of those that are not used."""
        return self.described().names if self.kind == "pandas" else self.table.column_names

    def values(self, name: str, rows: Sequence[int]) -> list[Any]:
        """The values of a column in some rows."""
        if self.kind != "pandas":
            return self.table.column(name).take(pa.array(rows, pa.int64())).to_pylist()
        return self.source.iloc[:, self.columns().index(name)].iloc[list(rows)].tolist()


def read(
    X: Any, names: list[str] | None = None, wanted: Callable[[str], bool] = lambda name: True, index: bool = False
) -> Frame:
    """Converts a table to Arrow.

    Parameters
    ----------
    names:
        The column names of a table without any.
    wanted:
        Which columns are needed; others are left out where that saves work.
    index:
        Whether to add the index of a pandas frame, if possible.
    """
    kind = kind_of(X)
    try:
        if kind == "pandas":
            return _of_pandas(X, wanted, index)
        if kind == "polars":
            X = collected(X)
            return Frame(kind, X.to_arrow(), X)
        table = _table(X, names)
        return Frame("pyarrow", table, table)
    except OverflowError as error:
        raise DataError("X: has a whole number of more than 64 bits\nhint: cast its column to float, or to text") from error
    except (pa.ArrowException, TypeError) as error:
        raise DataError(f"X: cannot be read as a table: {error}\nhint: see that every column is of one type") from error


def kept(frame: Frame) -> Frame:
    """The table, which does not change if the caller's frame does: that of pandas is copied."""
    return replace(frame, source=_pandas.copy(frame.source)) if frame.kind == "pandas" else frame


def collected(X: Any) -> Any:
    """The table, which may be a lazy one of polars."""
    return X.collect() if type(X).__name__ == "LazyFrame" else X


def _of_pandas(X: Any, wanted: Callable[[str], bool], index: bool) -> Frame:
    described = _pandas.described(X)
    table = _pandas.read(X, described, wanted)
    if not index:
        return Frame("pandas", table, X, None, described)
    name = INDEX
    while name in table.column_names:
        name += "_"
    try:
        return Frame("pandas", table.append_column(name, pa.array(X.index)), X, name, described)
    except pa.ArrowException:
        # Such as an index of several levels: rows are numbered instead.
        return Frame("pandas", table, X, None, described)


def kind_of(X: Any) -> str:
    """`pandas`, `polars` or `pyarrow`, without importing libraries that are not in use."""
    for module, classes in {"pandas": ["DataFrame"], "polars": ["DataFrame", "LazyFrame"]}.items():
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(X, tuple(getattr(loaded, name) for name in classes)):
            return module
    return "pyarrow"


def _table(X: Any, names: list[str] | None) -> pa.Table:
    if hasattr(X, "toarray"):
        raise DataError("X: sparse data is not supported, expected all of its cells\nhint: `X.toarray()`")
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
    if hasattr(X, "__array__") and type(X).__name__ != "Series":
        X = X.__array__()
    if getattr(X, "ndim", None) == 2:
        return _of_array(X, names)
    hint = "pass a pandas, polars or pyarrow table, a dict of columns or a list of dicts"
    if hasattr(X, "ndim"):
        hint = "Reshape your data: `X.reshape(1, -1)` is an array of one row"
    if type(X).__name__ == "Series":
        hint = "`X.iloc[[0]]` is a table of one row; `explain` takes a row as it is"
    raise DataError(f"X: expected a table, found {type(X).__name__}\nhint: {hint}")


def _of_array(X: Any, names: list[str] | None) -> pa.Table:
    if X.dtype.kind == "c":
        raise DataError("X: Complex data not supported, expected text, numbers or booleans")
    if names is None:
        raise DataError("X: an array has no names of columns\nhint: pass a schema, whose features name them in their order")
    # In the words that scikit-learn's checks look for.
    if X.shape[1] == 0:
        raise DataError(f"X: found an array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required by Recourse")
    if X.shape[1] != len(names):
        raise DataError(
            f"X has {X.shape[1]} features, but Recourse is expecting {len(names)} features as input\n"
            "hint: they are those of the schema in its order; other columns, such as an id, need a frame"
        )
    return pa.table({name: pa.array(X[:, column], from_pandas=True) for column, name in enumerate(names)})


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
    except (pa.ArrowException, TypeError, KeyError, OverflowError) as error:
        raise DataError(f"{name}: cannot be read as a column: {error}") from error


def name_of(values: Any) -> str:
    """The name of a column, such as a label."""
    return str(getattr(values, "name", None) or "label")


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """The table with a column added or replaced."""
    values = column(values, name)
    if len(values) != table.num_rows:
        raise DataError(f"{name}: expected {table.num_rows} values, one for each row of X, found {len(values)}")
    if name in table.column_names:
        table = table.drop_columns([name])
    return table.append_column(name, values)


def write(frame: Frame, lines: pa.Table, columns: dict[str, str], features: list[str], id: str | None) -> Any:
    """Converts lines to the kind of frame that their people came as, with ids and features in the types of that frame.

    `columns` maps our usual names to those in use; `id` is the column of row ids. A feature whose new values do not fit
    the type that it came in, such as 300 in eight bits, has a wider one.
    """
    if frame.kind == "pandas":
        return _pandas.write(frame.source, frame.described(), lines, columns, features, id)
    if frame.kind == "polars":
        written, types = write_plain("polars", lines), frame.source.schema
        changed = [name for name in features if written.schema[name] != types[name]]
        own = types.get(id) if id is not None else None
        ids = [] if own is None else [polars_column(written[columns["id"]], own)]
        return written.with_columns(*ids, *(polars_column(written[name], types[name]) for name in changed))
    for name in features:
        position = lines.schema.get_field_index(name)
        column, data_type = lines.column(position), frame.table.schema.field(name).type
        if column.type != data_type:
            column = arrow_column(column, data_type)
            lines = lines.set_column(position, pa.field(name, column.type), column)
    return lines


def write_plain(kind: str, table: pa.Table) -> Any:
    """Converts a table without changes."""
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table
