"""Rows to ask engines about, and what one machine answers."""

from __future__ import annotations

import functools
import importlib
import os
import shutil
from typing import Any

import pyarrow as pa
import pytest

from par_recourse import Recourse, datasets

ROWS = 2000
PARTITIONS = 7
ASKED: dict[str, Any] = {"count": 2, "lock": ["Housing"]}


def engine(name: str, *programs: str) -> Any:
    """The module of an engine; without it, or without a program that it runs on, its tests are skipped.

    Where `PAR_ENGINES=required` is set they fail instead.
    """
    absent = [program for program in programs if shutil.which(program) is None]
    try:
        module = importlib.import_module(name)
    except ImportError:
        absent.append(name)
    if not absent:
        return module
    reason = f"not installed: {', '.join(absent)}"
    if os.environ.get("PAR_ENGINES") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@functools.cache
def fitted() -> Recourse:
    german = datasets.german_credit()
    return Recourse(german.schema, config={"generator": {"steps": 20}}).fit(german.X, german.y)


def rows(*, named: bool) -> pa.Table:
    """2,000 applicants: some know not all of themselves, one has a cell that nobody can read, one locks too much."""
    X = datasets.german_credit().X
    table = pa.concat_tables([X, X]).slice(0, ROWS)
    purposes = table.column("Purpose").to_pylist()
    purposes[5] = "a purpose that no schema knows"
    amounts = table.column("Credit amount").to_pylist()
    for row in range(0, ROWS, 9):
        amounts[row] = None
    for row in range(1, ROWS, 11):
        purposes[row] = None
    table = _with(table, "Purpose", purposes)
    table = _with(table, "Credit amount", amounts)
    table = _with(table, "Present residence since", table.column("Present residence since").cast(pa.int8()))
    table = _with(table, "Age", table.column("Age").cast(pa.float32()))
    table = table.append_column("locks", pa.array(["Duration; Credit amount" if row % 3 == 0 else None for row in range(ROWS)]))
    table = table.append_column("of no interest", pa.array([[row] for row in range(ROWS)]))
    table = table.drop_columns(["id"])
    if named:
        names = [f"applicant {(row * 7919) % ROWS}" for row in range(ROWS)]
        table = table.append_column("application", pa.array(names))
    return table


def expected(*, named: bool) -> pa.Table:
    """What one machine answers to them."""
    table = rows(named=named).drop_columns(["of no interest"])
    return fitted().recourse(table, **ASKED, id="application" if named else None)


def same_bytes(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables are the same in every byte that a file of them would have."""
    return one.schema.equals(other.schema, check_metadata=True) and one.equals(other) and _ipc(one) == _ipc(other)


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


def _with(table: pa.Table, name: str, values: Any) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values if isinstance(values, pa.ChunkedArray) else pa.array(values))
