"""A classifier in the form of a Python function, and the frames that it takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import pyarrow as pa

from . import _frames
from ._dtypes import arrow_column, pandas_column, polars_column
from .errors import ClassifierError, DataError

ROUNDING = 1e-6
"""How far a probability may be outside of 0 to 1, because of rounding in single precision."""


@dataclass(frozen=True)
class Layout:
    """The frame that a classifier takes: its kind, and its columns with their types."""

    kind: str
    """`pandas`, `polars`, `pyarrow`, or `numpy` for a classifier without column names."""
    names: tuple[str, ...]
    types: dict[str, Any] = field(default_factory=dict)
    labels: tuple[Any, ...] = ()
    """The column labels of a pandas frame, which need not be text."""
    gaps: dict[str, Any] = field(default_factory=dict)
    """The missing value in columns of objects: classifiers treat `None` and `nan` differently."""

    @classmethod
    def of(cls, X: Any, kind: str, names: list[str]) -> Layout:
        """The layout of a table, as a frame of a kind."""
        if kind == "numpy":
            return cls(kind, tuple(names))
        if _frames.kind_of(X) == kind and type(X).__name__ != "LazyFrame":
            frame = X
        else:
            frame = _frames.write_plain(kind, _selected(_frames.read(X).table, names))
        if kind == "pyarrow":
            return cls(kind, tuple(names), {name: frame.schema.field(name).type for name in names})
        if kind == "polars":
            return cls(kind, tuple(names), {name: frame.schema[name] for name in names})
        labels = {str(label): label for label in frame.columns}
        columns = {name: frame[labels[name]] for name in names}
        gaps = {
            name: column[column.isna()].iloc[0]
            for name, column in columns.items()
            if column.dtype == object and column.isna().any()
        }
        types = {name: column.dtype for name, column in columns.items()}
        return cls(kind, tuple(names), types, tuple(labels[name] for name in names), gaps)

    def frame(self, table: pa.Table) -> Any:
        """The rows of a table in this layout."""
        table = _selected(table, self.names)
        if self.kind == "pandas":
            return self._pandas(table)
        if self.kind == "polars":
            return self._polars(table)
        if self.kind == "numpy":
            return _matrix(table)
        return pa.table({name: arrow_column(table.column(name), self.types[name]) for name in self.names})

    def _pandas(self, table: pa.Table) -> Any:
        import pandas

        frame = table.to_pandas()
        columns: dict[str, Any] = {name: pandas_column(frame[name], self.types[name]) for name in self.names}
        for name, gap in self.gaps.items():
            column = columns[name]
            filled = [gap if missing else value for value, missing in zip(column, column.isna())]
            columns[name] = pandas.Series(filled, index=column.index, dtype=object)
        frame = pandas.DataFrame(columns, columns=list(self.names))
        frame.columns = list(self.labels)
        return frame

    def _polars(self, table: pa.Table) -> Any:
        import polars

        frame: Any = polars.from_arrow(table)
        return frame.with_columns(polars_column(frame[name], self.types[name]) for name in self.names)


def _selected(table: pa.Table, names: Any) -> pa.Table:
    for name in names:
        if name not in table.column_names:
            raise DataError(f"X: has no column `{name}`, which the classifier uses")
    return table.select(list(names))


def _matrix(table: pa.Table) -> Any:
    """Rows by columns: numbers if all columns are numeric, objects otherwise."""
    import numpy

    columns = [_numbers(column) for column in table.columns]
    if all(column is not None for column in columns):
        return numpy.column_stack(columns)
    matrix = numpy.empty((table.num_rows, table.num_columns), dtype=object)
    for position, column in enumerate(table.columns):
        matrix[:, position] = column.to_pylist()
    return matrix


def _numbers(column: pa.ChunkedArray) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        # Arrow converts booleans to floats only through integers.
        column = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        return None if is_text else column.cast(pa.float64()).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


@dataclass(frozen=True)
class Judge:
    """The classifier itself."""

    function: Callable[[Any], Any]
    """Returns probabilities, or classes, for a frame."""
    layout: Layout
    places: tuple[int, ...] | None = None
    """The columns of the accepted classes, if the function returns one per class."""
    accepted: tuple[Any, ...] | None = None
    """The accepted classes, if the function returns classes."""

    def probabilities(self, table: pa.Table) -> Any:
        """The probability of acceptance of every row."""
        import numpy

        if table.num_rows == 0:
            return numpy.empty(0)
        frame = self.layout.frame(table)
        try:
            said = self.function(frame)
        except Exception as error:
            raise ClassifierError(
                f"classifier: raised {type(error).__name__} for {table.num_rows} rows: {error}\n"
                f"hint: it is given a {self.layout.kind} table with the columns {_some(self.layout.names)}"
            ) from error
        if self.accepted is not None:
            said = numpy.isin(numpy.asarray(said), list(self.accepted))
        return self._checked(said, table.num_rows)

    def _checked(self, said: Any, rows: int) -> Any:
        import numpy

        try:
            numbers = numpy.asarray(said, dtype=float)
        except (TypeError, ValueError) as error:
            raise ClassifierError(
                f"classifier: gave {type(said).__name__}, expected a probability of acceptance for every row\n"
                "hint: a function of classes can be wrapped: `lambda X: model.predict(X) == 'yes'`"
            ) from error
        if numbers.ndim == 2 and numbers.shape[1] == 1:
            numbers = numbers[:, 0]
        places = [1] if self.places is None else list(self.places)
        if numbers.ndim == 2 and (numbers.shape[1] == 2 or (self.places is not None and max(places) < numbers.shape[1])):
            numbers = numbers[:, places].sum(axis=1)
        if numbers.shape != (rows,):
            shape = " by ".join(map(str, numbers.shape)) or "one"
            raise ClassifierError(
                f"classifier: gave {shape} numbers for {rows} rows, expected one a row, the probability of "
                "acceptance, or two, those of denial and of acceptance"
            )
        is_wrong = ~((numbers >= -ROUNDING) & (numbers <= 1 + ROUNDING))
        if is_wrong.any():
            row = int(is_wrong.argmax())
            raise ClassifierError(
                f"classifier: gave `{numbers[row]}` for row {row} of {rows}, expected a probability from 0 to 1\n"
                "hint: log-odds become probabilities by `1 / (1 + exp(-x))`"
            )
        return numbers.clip(0, 1)


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
