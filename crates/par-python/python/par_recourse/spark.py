"""Recourse for a DataFrame of Spark.

>>> import par_recourse.spark  # doctest: +SKIP
>>> ways = par_recourse.spark.recourse(applicants, "credit.par", id="application")  # doctest: +SKIP
>>> ways.filter("status = 'found'").write.parquet("ways")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Mapping

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from ._request import Effort, Limit, Method, Order, Request
from ._workers import ROW, Job, Source, one_source, plan
from .errors import DataError, SettingError

_Batches = Iterator[pa.RecordBatch]


def recourse(
    df: DataFrame,
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
) -> DataFrame:
    """Ways for all rows of a DataFrame, as a DataFrame: the same lines as `Recourse.recourse` on one machine.

    Partitions stay as they are and keep their order. The model is broadcast once and opened once by every Python
    worker; batches stream through it, a task uses one thread, and a row that cannot be read has the status `error`
    without stopping the job. Errors of the request or of the columns are raised here, before the job runs. Features
    keep their names, and our columns are renamed as in `Recourse.recourse`.

    Parameters
    ----------
    df:
        The rows. Columns that are neither features nor `id` nor options of rows are not sent to Python.
    model:
        A file that `Recourse.save` or `par fit` wrote and the driver can read, a fitted `Recourse`, or its `model_`.
        In version 0.1 it was called `bundle`, which still works and warns.
    count, lock, method, budget, limit, threshold, order, margin, min_percentile, effort, max_effort, within, no_harm, robust, certify, slack, deadline:
        As in `Recourse.recourse`.
    id:
        The column of row ids, by default the schema's. Without one, rows are numbered from 0 in the order of the
        DataFrame. That takes a pass over it now, to count the rows of each partition; if partitions differ in the
        second pass, the job stops with an error. A column of ids avoids this.
    """
    job, parcel = plan(
        one_source(model, bundle),
        df.columns,
        lambda columns: _types(df, columns),
        Request(
            count, lock, method, budget, limit, threshold, order, margin, min_percentile, effort, max_effort, within, no_harm, deadline,
            robust=robust, certify=certify, slack=slack,
        ),
        id=id,
        dumps=cloudpickle.dumps,
    )
    rows = df.select(*(F.col(f"`{name.replace('`', '``')}`") for name in job.columns))
    counted = None
    if job.numbered:
        if df.isStreaming:
            raise SettingError("the rows of a stream cannot be numbered\nhint: name a column of ids with `id`")
        rows = rows.withColumn(ROW, F.monotonically_increasing_id())
        counted = _counted(rows)
    answer = _Answer(job, _fetch(df, parcel), counted)
    return rows.mapInArrow(answer.batches, from_arrow_schema(job.lines))


def _types(df: DataFrame, columns: list[str]) -> pa.Schema:
    fields = [field for field in df.schema.fields if field.name in columns]
    return to_arrow_schema(StructType(fields))


def _fetch(df: DataFrame, parcel: bytes) -> Callable[[], bytes]:
    """A function by which a worker gets the parcel."""
    context = getattr(df.sparkSession, "sparkContext", None)
    if context is None:
        # Spark Connect has no broadcast: the parcel is sent with the function.
        return _Carried(parcel)
    return _Broadcast(context.broadcast(parcel))


class _Carried:
    def __init__(self, parcel: bytes) -> None:
        self.parcel = parcel

    def __call__(self) -> bytes:
        return self.parcel


class _Broadcast:
    def __init__(self, broadcast: Any) -> None:
        self.broadcast = broadcast

    def __call__(self) -> bytes:
        return bytes(self.broadcast.value)


class _Answer:
    """Answers a partition."""

    def __init__(self, job: Job, fetch: Callable[[], bytes], counted: Mapping[int, tuple[int, int]] | None) -> None:
        self.job = job
        self.fetch = fetch
        self.counted = counted

    def batches(self, batches: _Batches) -> _Batches:
        if self.counted is None:
            for batch in batches:
                yield from self.job.answer(batch, 0, self.fetch)
            return
        before = seen = expected = 0
        for batch in _with_rows(batches):
            if seen == 0:
                before, expected = self.counted.get(_mark(batch), (0, 0))
            seen += batch.num_rows
            if seen > expected:
                break
            yield from self.job.answer(batch.drop_columns([ROW]), before + seen - batch.num_rows, self.fetch)
        if seen != expected:
            raise DataError(
                "the partitions differ from those that were counted\n"
                "hint: name a column of ids with `id`, or `cache` the DataFrame first"
            )


def _counted(rows: DataFrame) -> dict[int, tuple[int, int]]:
    """For the mark of each non-empty partition, the number of rows before it, and its own."""
    # All columns pass through Python, though none is used: the plan has to be the same as for the answers.
    # With fewer columns, Spark may coalesce the partitions of a shuffle differently.
    counts = rows.mapInArrow(_count, "mark long, rows long").collect()
    counted, before = {}, 0
    for mark, count in sorted((line["mark"], line["rows"]) for line in counts):
        counted[mark] = (before, count)
        before += count
    return counted


def _count(batches: _Batches) -> _Batches:
    mark, count = None, 0
    for batch in _with_rows(batches):
        mark = _mark(batch) if mark is None else mark
        count += batch.num_rows
    if mark is not None:
        columns = {"mark": pa.array([mark], pa.int64()), "rows": pa.array([count], pa.int64())}
        yield pa.RecordBatch.from_pydict(columns)


def _with_rows(batches: _Batches) -> _Batches:
    return (batch for batch in batches if batch.num_rows > 0)


def _mark(batch: pa.RecordBatch) -> int:
    """Identifies and orders partitions: the mark of the first row.

    The task's partition number would not do: it changes when the answers are combined, for example by `union`.
    """
    return int(batch.column(ROW)[0].as_py())
