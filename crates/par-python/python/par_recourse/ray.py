"""Recourse for a Dataset of Ray Data.

>>> import par_recourse.ray  # doctest: +SKIP
>>> ways = par_recourse.ray.recourse(applicants, "credit.par", id="application")  # doctest: +SKIP
>>> ways.write_parquet("ways")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Mapping

import pyarrow as pa
import ray
from ray import cloudpickle
from ray.data import Dataset

from ._request import Effort, Limit, Method, Order, Request
from ._workers import ROW, Job, Source, one_source, plan
from .errors import DataError


def recourse(
    ds: Dataset,
    model: Source | None = None,
    *,
    count: int = 1,
    lock: str | Iterable[str] = (),
    method: Method = "refine",
    budget: int | None = None,
    limit: Mapping[str, Limit] | None = None,
    threshold: float | None = None,
    order: Order | None = None,
    margin: float | None = None,
    min_percentile: float | None = None,
    effort: Mapping[str, Effort] | None = None,
    max_effort: float | None = None,
    within: str | None = None,
    no_harm: bool = False,
    robust: bool | float = False,
    certify: float | None = None,
    slack: bool = False,
    deadline: str | None = None,
    id: str | None = None,
    bundle: Source | None = None,
) -> Dataset:
    """Ways for all rows of a Dataset, as a Dataset: the same lines as `Recourse.recourse` on one machine.

    The model is put into the object store once and opened once by every worker process; blocks stream through it, a
    task uses one thread, and a row that cannot be read has the status `error` without stopping the job. Errors of
    the request or of the columns are raised here.

    Lines come in any order by default, because Ray Data yields blocks as they finish. To keep the order, make the
    Dataset under ``ray.data.DataContext.get_current().execution_options.preserve_order = True``, or use
    `sort(["id", "rank"])`, with the names in `columns_`. Features keep their names, and our columns are renamed as in
    `Recourse.recourse`.

    Parameters
    ----------
    ds:
        The rows.
    model:
        A file that `Recourse.save` or `par fit` wrote and the driver can read, a fitted `Recourse`, or its `model_`.
        In version 0.1 it was called `bundle`, which still works and warns.
    count, lock, method, budget, limit, threshold, order, margin, min_percentile, effort, max_effort, within, no_harm, robust, certify, slack, deadline:
        As in `Recourse.recourse`.
    id:
        The column of row ids, by default the schema's. Without one, rows are numbered from 0 in the order of the
        Dataset. That takes an execution in order now, whose blocks are held in the object store (Ray spills what does
        not fit), and the lines keep that order. A column of ids avoids this.
    """
    schema = _schema(ds)
    job, parcel = plan(
        one_source(model, bundle),
        schema.names,
        lambda columns: pa.schema([schema.field(name) for name in columns]),
        Request(
            count, lock, method, budget, limit, threshold, order, margin, min_percentile, effort, max_effort, within, no_harm, deadline,
            robust=robust, certify=certify, slack=slack,
        ),
        id=id,
        dumps=cloudpickle.dumps,
    )
    rows = _numbered(ds, job.columns) if job.numbered else ds
    return rows.map_batches(
        _answering(job, ray.put(parcel)), batch_format="pyarrow", batch_size=None, zero_copy_batch=True
    )


def _schema(ds: Dataset) -> pa.Schema:
    """The columns of a Dataset, from its first block."""
    schema = ds.schema()
    if schema is not None and not isinstance(schema.base_schema, pa.Schema):
        # Blocks of pandas get Arrow types only by conversion.
        schema = ds.map_batches(_same, batch_format="pyarrow", batch_size=None, zero_copy_batch=True).schema()
    if schema is None:
        raise DataError("X: has no rows, so its columns are unknown")
    return schema.base_schema.remove_metadata()


def _same(table: pa.Table) -> pa.Table:
    return table


def _answering(job: Job, parcel: Any) -> Callable[[pa.Table], Iterator[pa.Table]]:
    def answer(table: pa.Table) -> Iterator[pa.Table]:
        # A block without rows has the columns of the answers, too.
        yield job.lines.empty_table()
        before = 0
        if job.numbered and table.num_rows > 0:
            before = table.column(ROW)[0].as_py()
        for batch in table.select(job.columns).to_batches():
            for lines in job.answer(batch, before, lambda: ray.get(parcel)):
                yield pa.Table.from_batches([lines])
            before += batch.num_rows

    return answer


def _numbered(ds: Dataset, columns: list[str]) -> Dataset:
    """The columns that are read, with the numbers of the rows, in order."""
    options = ds.context.execution_options
    previous, options.preserve_order = options.preserve_order, True
    try:
        blocks = ds.materialize().to_arrow_refs()
    finally:
        options.preserve_order = previous
    before = 0
    numbered: list[Any] = []
    for block, count in zip(blocks, ray.get([_count.remote(block) for block in blocks])):
        numbered.append(_number.remote(block, before, columns))
        before += count
    ordered = ray.data.from_arrow_refs(numbered)
    ordered.context.execution_options.preserve_order = True
    return ordered


@ray.remote
def _count(block: pa.Table) -> int:
    return int(block.num_rows)


@ray.remote
def _number(block: pa.Table, before: int, columns: list[str]) -> pa.Table:
    numbers = pa.array(range(before, before + block.num_rows), pa.int64())
    return block.select(columns).append_column(ROW, numbers)
