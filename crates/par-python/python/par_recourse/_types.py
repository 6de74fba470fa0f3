"""The types of tables, columns and options, for type checkers; nothing here is imported when a program runs."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Protocol, Sequence, TypedDict, TypeVar, Union

import numpy
import numpy.typing

from ._request import Effort, Limit, Method, Order


class Frame(Protocol):
    """A frame of pandas, polars or pyarrow."""

    @property
    def columns(self) -> Any: ...

    @property
    def shape(self) -> tuple[int, int]: ...


class ArrowTable(Frame, Protocol):
    """A table of pyarrow, which has no types of its own."""

    @property
    def column_names(self) -> list[str]: ...

    @property
    def num_rows(self) -> int: ...

    def to_pydict(self) -> dict[str, list[Any]]: ...

    def to_pylist(self) -> list[dict[str, Any]]: ...


class ArrowStream(Protocol):
    """Anything with the stream of the Arrow C interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...


class ArrowArray(Protocol):
    """Anything with the array of the Arrow C interface."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[object, object]: ...


class LazyFrame(Protocol):
    """A lazy frame of polars."""

    def collect_schema(self) -> Any: ...


FrameT = TypeVar("FrameT", bound=Frame)
Array = numpy.typing.NDArray[Any]
Numbers = numpy.typing.NDArray[numpy.float64]
Rows = Union[Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]], Array]
"""A table that is no frame: columns by name, a list of rows, or an array whose columns the schema names."""
Table = Union[Frame, ArrowStream, ArrowArray, LazyFrame, Rows]
Row = Union[Table, Mapping[str, Any]]
"""One row: a dict, a pandas Series, or a table of one row."""
Column = Union[Sequence[Any], Array, Iterable[Any]]
"""A label, or the weights of rows: a column of pandas, polars, pyarrow or numpy, or a list."""


class Options(TypedDict, total=False):
    """The options of a request."""

    count: int
    lock: str | Iterable[str]
    method: Method
    budget: int | None
    limit: Mapping[str, Limit] | None
    threshold: float | None
    order: Order | None
    margin: float | None
    min_percentile: float | None
    effort: Mapping[str, Effort] | None
    max_effort: float | None
    within: str | None
    no_harm: bool
    robust: bool | float
    certify: float | None
    slack: bool
    deadline: str | None
    id: str | None
