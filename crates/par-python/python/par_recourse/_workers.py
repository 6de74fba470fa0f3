"""What the engines share: a job as the driver plans it, and how a worker answers batches of rows.

A model travels once, as a parcel, and a process opens it once: workers live through many tasks.
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
from ._asking import Request, answered, looked_at, warn_of_renamed
from .classifier import Supplied
from .errors import ClassifierError, DataError, SettingError
from .estimator import Recourse

Source = Union[str, "os.PathLike[str]", Recourse, _native.Model]
"""What can be asked: a file, what was fitted, or its model."""



def one_source(model: Source | None, bundle: Source | None) -> Source:
    """What is asked, under its name or the one it had in version 0.1."""
    if bundle is not None:
        warnings.warn("the argument `bundle` is called `model`", DeprecationWarning, stacklevel=3)
        model = bundle
    if model is None:
        raise TypeError("recourse() needs `model`: a file, a fitted Recourse or its `model_`")
    return model


ROW = "__row__"
"""The column in which the numbers of rows travel that have no other name."""

ROWS_HELD = 4096
"""Rows whose lines are made before any is given on: what a task holds, however large a partition is."""

HELD_AT_ONCE = 4
"""Models that a process keeps open. Engines keep their processes, and these would pile up in them."""


class Opened(NamedTuple):
    """What a process that answers has to have."""

    model: _native.Model
    supplied: Supplied
    """The classifier itself, where only it can say whether a way is accepted."""


_held: OrderedDict[str, Opened] = OrderedDict()


@dataclass(frozen=True)
class Job:
    """What is asked, and what comes out: little enough to travel with every task."""

    parcel: str
    """By what a process knows the parcel that holds the model."""
    request: Request
    id: str | None
    columns: list[str]
    """The columns that are read."""
    lines: pa.Schema
    """The columns of the answers."""
    numbered: bool
    """Whether rows have no name, so that they have to be numbered."""

    def answer(self, batch: pa.RecordBatch, before: int, fetch: Callable[[], bytes]) -> Iterator[pa.RecordBatch]:
        """The lines of a batch, some rows at a time, on this thread. `before` rows of the table came before.

        The parcel is fetched only by a process that has not opened it yet.
        """
        model, supplied = _open(self.parcel, fetch)
        for start in range(0, batch.num_rows, ROWS_HELD):
            # With the types that the batch has: of some engines each says anew of what types its columns are.
            rows = pa.Table.from_batches([batch.slice(start, ROWS_HELD)])
            lines = answered(
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
    """A job and its parcel, or the error that a worker would meet.

    Parameters
    ----------
    header:
        The columns of the table.
    types:
        Gives the types of those of them that are read.
    dumps:
        Pickles, functions included.
    """
    opened = _opened(source)
    # Of the one who called the engine's `recourse`.
    warn_of_renamed(opened.model, stacklevel=3)
    own_id = json.loads(_native.schema_facts(opened.model.schema))["id"]
    columns = list(filter(looked_at(opened.model.features, own_id, id), header))
    read = types(columns) if len(set(columns)) == len(columns) else pa.schema([])
    # All names, so that a column that is absent is told with what comes close to it.
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
            "hint: pass `recourse.model_`, which answers without it, and calls its ways unverified"
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
    """Lines as the driver promised them."""
    if table.schema != schema:
        try:
            table = table.cast(schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(
                f"X: the types of columns are not the same everywhere: {error}\nhint: give the table one schema first"
            ) from error
    yield from table.to_batches()

