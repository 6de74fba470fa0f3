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

from ._asking import Limit, Method, Order, Request
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
    id: str | None = None,
    bundle: Source | None = None,
) -> DataFrame:
    """Ways forward for all rows of a DataFrame, as a DataFrame: the lines that `Recourse.recourse` gives on one machine.

    Partitions stay as they are and keep their order. The model is broadcast once and opened once by every Python
    worker; batches stream through it, a task uses one thread, and a row that cannot be read has the status `error` and
    stops nothing. What is wrong with the request or with the columns is told here, before anything runs. Features keep
    their names, and columns of ours give way as in `Recourse.recourse`.

    Parameters
    ----------
    df:
        The rows. Columns that are neither features nor `id` nor `locks` are not sent to Python.
    model:
        A file that `Recourse.save` or `par fit` wrote and the driver can read, a fitted `Recourse`, or its `model_`.
        In version 0.1 it was called `bundle`, which still works and warns.
    count, lock, method, budget, limit, threshold, order:
        As in `Recourse.recourse`.
    id:
        The column that names the rows, unless told that of the schema. Without one, rows are numbered from 0 in the
        order of the DataFrame. That takes a pass over it, now, which counts the rows of each partition; then
        partitions have to come out the same a second time, or the job stops and says so. Naming a column saves all
        this.
    """
    job, parcel = plan(
        one_source(model, bundle),
        df.columns,
        lambda columns: _types(df, columns),
        Request(count, lock, method, budget, limit, threshold, order),
        id=id,
        dumps=cloudpickle.dumps,
    )
    rows = df.select(*(F.col(f"`{name.replace('`', '``')}`") for name in job.columns))
    counted = None
    if job.numbered:
        if df.isStreaming:
            raise SettingError("the rows of a stream cannot be numbered\nhint: name them by a column, with `id`")
        rows = rows.withColumn(ROW, F.monotonically_increasing_id())
        counted = _counted(rows)
    answer = _Answer(job, _fetch(df, parcel), counted)
    return rows.mapInArrow(answer.batches, from_arrow_schema(job.lines))


def _types(df: DataFrame, columns: list[str]) -> pa.Schema:
    fields = [field for field in df.schema.fields if field.name in columns]
    return to_arrow_schema(StructType(fields))


def _fetch(df: DataFrame, parcel: bytes) -> Callable[[], bytes]:
    """How a worker gets the parcel."""
    context = getattr(df.sparkSession, "sparkContext", None)
    if context is None:
        # Spark Connect has nothing to broadcast with: there it travels with the function.
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
                "the rows have come in other partitions than when they were counted\n"
                "hint: name the rows by a column, with `id`, or `cache` the DataFrame first"
            )


def _counted(rows: DataFrame) -> dict[int, tuple[int, int]]:
    """By the mark of each partition that has rows, how many rows come before it, and how many it has."""
    # All columns pass through Python, though none is looked at: the plan below has to be the one that answers run on.
    # With fewer columns Spark may join other parts of a shuffle into one partition.
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
    """What tells a partition from others, and where it stands among them: the mark of its first row.

    Not its number as the task knows it, which changes when the answers are joined with others, by `union` say.
    """
    return int(batch.column(ROW)[0].as_py())
