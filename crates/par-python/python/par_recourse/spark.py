"""Recourse for a DataFrame of Spark.

>>> from par_recourse import spark  # doctest: +SKIP
>>> ways = spark.recourse(applicants, "credit.par", id="application")  # doctest: +SKIP
>>> ways.filter("status = 'found'").write.parquet("ways")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Mapping

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import BooleanType, NullType, NumericType, StringType, StructType

from ._workers import ROW, Job, Source, plan
from .errors import DataError, SettingError
from .estimator import Method

_IN_PARTITION = 33
"""Bits of `monotonically_increasing_id` that number the rows of a partition; those above number the partitions."""

_Batches = Iterator[pa.RecordBatch]


def recourse(
    df: DataFrame,
    bundle: Source,
    *,
    count: int = 1,
    lock: str | Iterable[str] = (),
    method: Method = "refine",
    budget: int | None = None,
    id: str | None = None,
) -> DataFrame:
    """Ways forward for all rows of a DataFrame, as a DataFrame: the lines that `Recourse.recourse` gives on one machine.

    Partitions stay as they are and keep their order. The bundle is broadcast once and opened once by every Python
    worker; batches stream through it, a task uses one thread, and a row that cannot be read has the status `error` and
    stops nothing. What is wrong with the request or with the columns is told here, before anything runs.

    Parameters
    ----------
    df:
        The rows. Columns that are neither features nor `id` nor `locks` are not sent to Python.
    bundle:
        A file that `Recourse.save` or `par fit` wrote and the driver can read, a fitted `Recourse`, or its `bundle_`.
    count, lock, method, budget:
        As in `Recourse.recourse`.
    id:
        The column that names the rows, unless told that of the schema. Without one, rows are numbered from 0 in the
        order of the DataFrame. That takes a pass over it, now, which counts the rows of each partition; then
        partitions have to come out the same a second time, or the job stops and says so. Naming a column saves all
        this.
    """
    job, parcel = plan(
        bundle,
        df.columns,
        lambda columns: _types(df, columns),
        count=count,
        lock=lock,
        method=method,
        budget=budget,
        id=id,
        dumps=cloudpickle.dumps,
    )
    rows = df.select(*(F.col(f"`{name.replace('`', '``')}`") for name in job.columns))
    offsets = None
    if job.numbered:
        if df.isStreaming:
            raise SettingError("the rows of a stream cannot be numbered\nhint: name them by a column, with `id`")
        rows = rows.withColumn(ROW, F.monotonically_increasing_id())
        offsets = _offsets(rows)
    answer = _Answer(job, _fetch(df, parcel), offsets)
    return rows.mapInArrow(answer.batches, from_arrow_schema(job.lines))


def _types(df: DataFrame, columns: list[str]) -> pa.Schema:
    fields = [field for field in df.schema.fields if field.name in columns]
    for field in fields:
        if not isinstance(field.dataType, (StringType, NumericType, BooleanType, NullType)):
            raise DataError(
                f"X: column `{field.name}` is of type {field.dataType.simpleString()}, expected text, numbers or "
                "booleans\nhint: cast or drop it"
            )
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
        return self.broadcast.value


class _Answer:
    """Answers a partition."""

    def __init__(self, job: Job, fetch: Callable[[], bytes], offsets: Mapping[int, tuple[int, int]] | None) -> None:
        self.job = job
        self.fetch = fetch
        self.offsets = offsets

    def batches(self, batches: _Batches) -> _Batches:
        if self.offsets is None:
            for batch in batches:
                yield from self.job.answer(batch, 0, self.fetch)
            return
        seen = expected = 0
        for batch in batches:
            if batch.num_rows == 0:
                continue
            partition, position = _place(batch)
            before, expected = self.offsets.get(partition, (0, 0))
            seen = position + batch.num_rows
            if seen > expected:
                raise _moved(partition, expected)
            yield from self.job.answer(batch.drop_columns([ROW]), before + position, self.fetch)
        if seen != expected:
            raise _moved(partition, expected)


def _place(batch: pa.RecordBatch) -> tuple[int, int]:
    """The partition of a batch, and the place of its first row in it."""
    number = batch.column(ROW)[0].as_py()
    return number >> _IN_PARTITION, number & ((1 << _IN_PARTITION) - 1)


def _moved(partition: int, expected: int) -> DataError:
    return DataError(
        f"partition {partition} had {expected} rows when they were counted, and has other rows now\n"
        "hint: name the rows by a column, with `id`, or `cache` the DataFrame first"
    )


def _offsets(rows: DataFrame) -> dict[int, tuple[int, int]]:
    """For every partition that has rows, how many come before it, and how many it has."""
    # All columns pass through Python, though none is looked at: the plan below has to be the one that answers run on.
    # With fewer columns Spark may join other parts of a shuffle into one partition.
    counted = rows.mapInArrow(_count, "partition long, rows long").collect()
    offsets, before = {}, 0
    for partition, count in sorted((line["partition"], line["rows"]) for line in counted):
        offsets[partition] = (before, count)
        before += count
    return offsets


def _count(batches: _Batches) -> _Batches:
    partition, count = None, 0
    for batch in batches:
        if batch.num_rows > 0:
            partition, _ = _place(batch)
            count += batch.num_rows
    if partition is not None:
        yield pa.RecordBatch.from_pydict(
            {"partition": [partition], "rows": [count]},
            schema=pa.schema([("partition", pa.int64()), ("rows", pa.int64())]),
        )
