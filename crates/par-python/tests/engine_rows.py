"""Rows to ask engines about, and what one machine answers."""

from __future__ import annotations

import functools
import importlib
import os
import shutil
from typing import Any

import pyarrow as pa
import pytest
from conftest import QUICK

from par_recourse import Recourse, datasets

ROWS = 2000
CUTS = [0, 300, 301, 301, 900, 1500, 1999, ROWS]
"""Where the rows are cut into parts; one part is empty."""
REQUEST: dict[str, Any] = {"count": 2, "lock": ["Housing"]}


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
    schema = german.schema
    for name in ("Credit amount", "Purpose"):
        schema = schema.replace(f'name = "{name}"', f'name = "{name}"\nmissing = true')
    return Recourse(schema, config=QUICK).fit(german.X, german.y)


def rows(*, named: bool) -> pa.Table:
    """Applicants of whom some leave out their purpose or amount, one has a job that there is not, and every third
    locks something. Numbers are of several types, and one column is none that can be read."""
    X = datasets.german_credit().X
    table = pa.concat_tables([X, X]).slice(0, ROWS).drop_columns(["id"])
    purposes = table.column("Purpose").to_pylist()
    purposes[::11] = [None] * len(purposes[::11])
    jobs = table.column("Job").to_pylist()
    jobs[5] = "astronaut"
    amounts = table.column("Credit amount").to_pylist()
    amounts[::9] = [None] * len(amounts[::9])
    locks = ["Duration; Credit amount" if row % 3 == 0 else None for row in range(ROWS)]
    columns = {
        **{name: table.column(name) for name in table.column_names},
        "Purpose": purposes,
        "Job": jobs,
        "Credit amount": amounts,
        "Present residence since": table.column("Present residence since").cast(pa.int8()),
        "Age": table.column("Age").cast(pa.float32()),
        "locks": locks,
        "of no interest": [[row] for row in range(ROWS)],
    }
    if named:
        columns["application"] = [f"number {(row * 7919) % ROWS}" for row in range(ROWS)]
    return pa.table(columns)


def parts(table: pa.Table) -> list[pa.Table]:
    return [table.slice(start, end - start) for start, end in zip(CUTS, CUTS[1:])]


def expected(*, named: bool) -> pa.Table:
    """What one machine answers to them, in the types of engines."""
    table = rows(named=named).drop_columns(["of no interest"])
    lines = fitted().recourse(table, **REQUEST, id="application" if named else None)
    first = len(fitted().columns_)
    fields = [*list(lines.schema)[:first], *(pa.field(field.name, _wide(field.type)) for field in list(lines.schema)[first:])]
    return lines.cast(pa.schema(fields))


def _wide(data_type: pa.DataType) -> pa.DataType:
    """The type that engines give a feature: the columns of their answers are announced before there is any."""
    if pa.types.is_integer(data_type):
        return pa.int64()
    return pa.float64() if pa.types.is_floating(data_type) else pa.string()


def same_bytes(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables are the same in every byte that a file of them would have."""
    return one.schema.equals(other.schema, check_metadata=True) and one.equals(other) and _ipc(one) == _ipc(other)


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()
