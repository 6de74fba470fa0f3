"""What the engines share: jobs planned by the driver, and workers that answer batches of rows.

A model is sent once, as a parcel, and each worker process opens it once for many tasks.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Callable, Iterator, NamedTuple, Union

import pyarrow as pa

from . import _native
from ._request import Request, answer_table, column_filter, warn_of_renamed
from .classifier import Supplied
from .errors import ClassifierError, DataError, SettingError
from .estimator import Recourse

Source = Union[str, "os.PathLike[str]", Recourse, _native.Model]
"""A model: a file, a fitted estimator, or its model."""



def one_source(model: Source | None, bundle: Source | None) -> Source:
    """The model, by the argument's name or its name in version 0.1."""
    if bundle is not None:
        warnings.warn("the argument `bundle` is called `model`", DeprecationWarning, stacklevel=3)
        model = bundle
    if model is None:
        raise TypeError("recourse() needs `model`: a file, a fitted Recourse or its `model_`")
    return model


ROW = "__row__"
"""The column of row numbers, for rows without ids."""

ROWS_HELD = 4096
"""Rows that a task answers and holds at once, for partitions of any size."""

HELD_AT_ONCE = 4
"""Models that a process keeps open, at most: worker processes live long."""


class Opened(NamedTuple):
    """The contents of a parcel."""

    model: _native.Model
    supplied: Supplied
    """The classifier itself, if it has to verify ways."""


_held: OrderedDict[str, Opened] = OrderedDict()


@dataclass(frozen=True)
class Job:
    """A request and the columns of its answers; small enough to be sent with every task."""

    parcel: str
    """The key of the parcel with the model."""
    request: Request
    id: str | None
    columns: list[str]
    """The columns that are read."""
    lines: pa.Schema
    """The columns of the answers."""
    numbered: bool
    """Whether rows have no ids and are numbered."""

    def answer(self, batch: pa.RecordBatch, before: int, fetch: Callable[[], bytes]) -> Iterator[pa.RecordBatch]:
        """The lines of a batch, some rows at a time, on this thread. `before` is the number of earlier rows.

        A process fetches the parcel only if it has not opened it yet.
        """
        model, supplied = _open(self.parcel, fetch)
        for start in range(0, batch.num_rows, ROWS_HELD):
            # With the batch's own types: in some engines they differ between batches.
            rows = pa.Table.from_batches([batch.slice(start, ROWS_HELD)])
            lines = answer_table(
                model, supplied, self.request, rows, id=self.id, before=before + start, parallel=False
            )
            yield from _promised(lines, self.lines)


def plan(
    source: Source,
    header: list[str],
    types: Callable[[list[str]], pa.Schema],
    request: Request,
    *,
    id: str | None,
    dumps: Callable[[Any], bytes],
) -> tuple[Job, bytes]:
    """A job and its parcel. Raises the errors that a worker would meet.

    Parameters
    ----------
    header:
        The columns of the table.
    types:
        Returns the types of the columns that are read.
    dumps:
        Pickles, functions included.
    """
    opened = _opened(source)
    # The warning points to the caller of the engine's `recourse`.
    warn_of_renamed(opened.model, stacklevel=3)
    own_id = json.loads(_native.schema_facts(opened.model.schema))["id"]
    columns = list(filter(column_filter(opened.model.features, own_id, id), header))
    read = types(columns) if len(set(columns)) == len(columns) else pa.schema([])
    # All names, so that the message about a missing column can suggest a similar one.
    known = {field.name: field for field in read}
    whole = pa.schema([known.get(name, pa.field(name, pa.null())) for name in header])
    opened.model.answers(whole, request.json(), id=id)
    lines = opened.model.answers(read, request.json(), id=id).schema
    parcel = _parcel(opened, dumps)
    numbered = id is None and own_id not in columns
    return Job(hashlib.sha256(parcel).hexdigest(), request, id, columns, lines, numbered), parcel


def _opened(source: Source) -> Opened:
    if isinstance(source, _native.Model):
        return Opened(source, Supplied())
    if isinstance(source, Recourse):
        return Opened(source._fitted(), source._supplied)
    if isinstance(source, (str, os.PathLike)):
        return Opened(_native.Model.load(os.fspath(source)), Supplied())
    raise SettingError(f"model: expected a file, a fitted Recourse or its `model_`, found {type(source).__name__}")


def _parcel(opened: Opened, dumps: Callable[[Any], bytes]) -> bytes:
    try:
        return dumps(opened)
    except Exception as error:
        raise ClassifierError(
            f"the classifier cannot be sent to workers: {error}\n"
            "hint: pass `recourse.model_`, which answers without it, with unverified ways"
        ) from error


def _open(parcel: str, fetch: Callable[[], bytes]) -> Opened:
    opened = _held.get(parcel)
    if opened is None:
        opened = _held[parcel] = pickle.loads(fetch())
        while len(_held) > HELD_AT_ONCE:
            _held.popitem(last=False)
    _held.move_to_end(parcel)
    return opened


def _promised(table: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Lines in the types that the driver announced."""
    if table.schema != schema:
        try:
            table = table.cast(schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(
                f"X: the types of columns are not the same everywhere: {error}\nhint: give the table one schema first"
            ) from error
    yield from table.to_batches()

