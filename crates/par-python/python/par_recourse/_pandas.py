"""Frames of pandas, in and out.

A single row of plain values is read value by value, and columns of one type are written together where lines are few: the
methods for whole columns take longer than the answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Generic, TypeVar, cast

import pyarrow as pa

from ._dtypes import pandas_column, with_categories
from .errors import DataError

T = TypeVar("T")

_FEW_ROWS = 4
"""So many lines are written sooner with the columns of one type together than column by column."""
_ROWS_WORTH_THREADS = 1000
"""Fewer rows are converted sooner than threads wake up."""

_TEXT = pa.string()
_KINDS = {pa.float64(): "float64", pa.int64(): "int64", pa.bool_(): "bool"}
"""The types of pandas for columns of lines."""

_WHOLE, _TRUTHS = ("rank", "changes", "months"), ("has_margin", "optimal")
"""Our columns of whole numbers and truth values. They are nullable: pandas has no missing integers by default, and a
column's type must not depend on the answers."""


class _remembered(Generic[T]):
    """A function that remembers its last result: frames that come one after the other mostly have the same columns.

    Arguments need not be hashable: they are compared. They are kept, and so must not hold what belongs to a frame.
    """

    def __init__(self, function: Callable[..., T]) -> None:
        self.function = function
        self.last: tuple[Any, Any] = (None, None)

    def __call__(self, *args: Any) -> T:
        known, result = self.last
        if known != args:
            result = self.function(*args)
            # In one step, for other threads.
            self.last = args, result
        return cast("T", result)


@dataclass(frozen=True)
class Described:
    """The columns of a frame, for which pandas takes long to ask."""

    names: list[str]
    """Those of pandas need not be text."""
    dtypes: list[Any]

    def plain(self) -> list[Any]:
        """The types of numbers and text, and `...` for others: categories would be kept by what is remembered. Not `None`,
        which numpy takes for its float64."""
        import numpy
        import pandas

        known = (numpy.dtype, pandas.StringDtype)
        return [dtype if isinstance(dtype, known) else ... for dtype in self.dtypes]


def described(X: Any) -> Described:
    """The columns of a frame."""
    return Described(list(map(str, X.columns.tolist())), X.dtypes.tolist())


def read(X: Any, described: Described, wanted: Callable[[str], bool]) -> pa.Table:
    """The wanted columns."""
    if X.columns.nlevels > 1:
        raise DataError(
            f"X: its columns have {X.columns.nlevels} levels, expected one\n"
            'hint: `X.columns = ["_".join(map(str, name)) for name in X.columns]`'
        )
    names = described.names
    used = [(position, name) for position, name in enumerate(names) if wanted(name)]
    if len(set(names)) < len(names):
        repeated = next((name for position, name in used if names.index(name) != position), None)
        if repeated is not None:
            raise DataError(f"X: two columns are called `{repeated}`\nhint: rename or drop one")
    row = _row(X, described, used) if len(X) == 1 else None
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


def _row(X: Any, described: Described, used: list[tuple[int, str]]) -> pa.Table | None:
    """A table of one row; `None` if it has types whose values are not plain."""
    row = X.iloc[0]
    if row.dtype != object and any(dtype != row.dtype for dtype in described.dtypes):
        # Whole numbers were turned into floats.
        return None
    values, known = row.tolist(), _arrow_types(described.plain())
    types = [known[position] or _type_of_value(values[position]) for position, _ in used]
    names = [name for _, name in used]
    struct = _struct(names, types)
    if struct is None:
        return None
    own = dict(zip(names, [values[position] for position, _ in used]))
    try:
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array([own], struct, from_pandas=True))])
    except (pa.ArrowException, TypeError, OverflowError):
        return None


@_remembered
def _struct(names: list[str], types: list[pa.DataType | None]) -> pa.StructType | None:
    """The type of a row; `None` if a column has none."""
    return None if None in types else pa.struct(list(zip(names, types)))


@_remembered
def _arrow_types(dtypes: list[Any]) -> list[pa.DataType | None]:
    """Of values of plain types; `None` for others."""
    return [_arrow_type(dtype) for dtype in dtypes]


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


def write(
    X: Any, described: Described, lines: pa.Table, columns: dict[str, str], features: list[str], id: str | None
) -> Any:
    """Lines as a frame, with ids and features in the types that they have in `X`."""
    import numpy

    names, dtypes = described.names, described.dtypes
    ids, rows = X.index if id is None else X.iloc[:, names.index(id)], people(lines, columns)
    # The array of an index of several levels is that of its tuples.
    ids = ids.to_numpy()[rows] if isinstance(ids.dtype, numpy.dtype) else ids.array.take(rows)
    layout = _layout(lines.schema, columns, names, described.plain()) if 0 < lines.num_rows <= _FEW_ROWS else None
    written = None if layout is None else _few(lines, ids, layout)
    if layout is not None and written is not None:
        types = layout.types
    else:
        written = _many(lines, columns, ids)
        types = written.dtypes.tolist()
    own = dict(zip(names, dtypes))
    first = lines.num_columns - len(features)
    for position, (name, given) in enumerate(zip(features, types[first:]), first):
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


@dataclass(frozen=True)
class _Layout:
    """The frame of some lines: its columns, by the types of their values."""

    create: Any
    """The function of pandas that makes a frame of blocks."""
    columns: Any
    """The names, an index of pandas."""
    types: list[Any]
    """The type of each column but the ids, which have none here."""
    places: list[Any]
    """The position of each column, as blocks have it."""
    texts: list[tuple[Any, list[int]]]
    """The types of text and their columns."""
    numbers: list[tuple[str, list[int], Any]]
    """The types of numpy, their columns, and the positions of these as blocks have them."""
    nullable: list[tuple[str, int]]
    """Our columns of whole numbers and truth values."""


@_remembered
def _layout(schema: pa.Schema, columns: dict[str, str], names: list[str], dtypes: list[Any]) -> _Layout | None:
    """The frame of lines of people from a frame with these columns; `None` if there are types whose values are not
    plain, or pandas is older than 3."""
    import numpy
    import pandas

    create = getattr(getattr(pandas.api, "internals", None), "create_dataframe_from_blocks", None)
    if create is None:
        return None
    own, usual = dict(zip(names, dtypes)), _text_type()
    ours = {columns[name] for name in (*_WHOLE, *_TRUTHS)}
    types: list[Any] = [None]
    texts: dict[Any, list[int]] = {}
    numbers: dict[str, list[int]] = {}
    nullable = []
    for position, field in enumerate(list(schema)[1:], 1):
        kind = _KINDS.get(field.type)
        if field.type == _TEXT:
            dtype = own[field.name] if isinstance(own.get(field.name), pandas.StringDtype) else usual
            texts.setdefault(dtype, []).append(position)
        elif kind is None:
            return None
        elif field.name in ours:
            dtype = pandas.Int64Dtype() if kind == "int64" else pandas.BooleanDtype()
            nullable.append((kind, position))
        else:
            dtype = numpy.dtype(kind)
            numbers.setdefault(kind, []).append(position)
        types.append(dtype)
    return _Layout(
        create,
        pandas.Index(schema.names),
        types,
        [numpy.array([position]) for position in range(len(types))],
        list(texts.items()),
        [(kind, positions, numpy.array(positions)) for kind, positions in numbers.items()],
        nullable,
    )


def _few(lines: pa.Table, ids: Any, layout: _Layout) -> Any:
    """As `_many`, for some lines; `None` if whole numbers or truth values of features are missing.

    Columns of one type are converted together, since each conversion takes longer than its values."""
    import numpy
    import pandas

    [batch] = lines.combine_chunks().to_batches()
    columns, rows = batch.columns, batch.num_rows
    blocks = [(ids.reshape(1, -1) if isinstance(ids, numpy.ndarray) else ids, layout.places[0])]
    for dtype, positions in layout.texts:
        values = pa.concat_arrays([columns[position] for position in positions]).to_pylist()
        together = dtype.construct_array_type()._from_sequence(values, dtype=dtype)
        blocks += [
            (together[place * rows : (place + 1) * rows], layout.places[position])
            for place, position in enumerate(positions)
        ]
    for kind, positions, places in layout.numbers:
        numbers = pa.concat_arrays([columns[position] for position in positions])
        if kind != "float64" and numbers.null_count > 0:
            return None
        values = numbers.to_numpy(zero_copy_only=False, writable=True)
        blocks.append((values.reshape(len(positions), rows), places))
    for kind, position in layout.nullable:
        values = columns[position].to_pylist()
        filled = numpy.array([value or 0 for value in values], dtype=kind)
        make = pandas.arrays.IntegerArray if kind == "int64" else pandas.arrays.BooleanArray
        blocks.append((make(filled, numpy.array([value is None for value in values])), layout.places[position]))
    # A view, so that a name given to the columns of one frame is not that of the next.
    named = layout.columns.view()
    return layout.create(blocks, index=pandas.RangeIndex(rows), columns=named)


@lru_cache
def _text_type() -> Any:
    """The type of a column of text."""
    import pandas

    return pandas.Series([""]).dtype
