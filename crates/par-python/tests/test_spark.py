"""Spark, with two workers that are processes of their own."""

import os
import shutil
import sys
from pathlib import Path

import engine_rows
import pyarrow as pa
import pytest

import par_recourse
from par_recourse import errors

pyspark = engine_rows.engine("pyspark", "java")

from pyspark.errors import PythonException  # noqa: E402
from pyspark.find_spark_home import _find_spark_home  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402
from pyspark.sql.pandas.types import from_arrow_schema  # noqa: E402

from par_recourse.spark import recourse  # noqa: E402


@pytest.fixture(scope="module")
def spark():
    package = Path(par_recourse.__file__).parent.parent
    settings = {
        "spark.executorEnv.PYTHONPATH": str(package),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "250",
        "spark.task.maxFailures": "1",
        "spark.ui.enabled": "false",
    }
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local-cluster[2,1,1024]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("FATAL")
        yield session
        application = session.sparkContext.applicationId
        session.stop()
        # The logs of the workers, which Spark leaves beside itself.
        shutil.rmtree(Path(_find_spark_home(), "work", application), ignore_errors=True)


def spread(spark, parts):
    """A DataFrame with a partition for every part, in their order, also for those without rows."""

    def part(batches):
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from parts[number].to_batches()

    numbers = spark.range(0, len(parts), 1, len(parts))
    return numbers.mapInArrow(part, from_arrow_schema(parts[0].schema))


@pytest.mark.parametrize("named", [False, True])
def test_lines_are_those_of_one_machine_byte_for_byte(spark, named):
    df = spread(spark, engine_rows.parts(engine_rows.rows(named=named)))
    ways = recourse(df, engine_rows.fitted(), **engine_rows.REQUEST, id="application" if named else None)
    lines = ways.toArrow()
    assert engine_rows.same_bytes(lines, engine_rows.expected(named=named))
    assert lines.column("status").to_pylist().count("error") == 1


def test_numbers_stay_whatever_becomes_of_the_lines(spark):
    expected = engine_rows.expected(named=False)
    df = spread(spark, engine_rows.parts(engine_rows.rows(named=False)))
    ways = recourse(df, engine_rows.fitted(), **engine_rows.REQUEST)
    assert engine_rows.same_bytes(ways.coalesce(2).toArrow(), expected)
    assert engine_rows.same_bytes(ways.union(ways).toArrow(), pa.concat_tables([expected, expected]))


def test_rows_of_a_table_in_memory_are_numbered(spark):
    table = engine_rows.rows(named=False)
    ways = recourse(spark.createDataFrame(table), engine_rows.fitted(), **engine_rows.REQUEST)
    assert engine_rows.same_bytes(ways.toArrow(), engine_rows.expected(named=False))


def test_rows_are_numbered_without_gaps_after_a_shuffle(spark):
    df = spark.createDataFrame(engine_rows.rows(named=False)).repartition(5, "Purpose")
    ways = recourse(df, engine_rows.fitted())
    assert ways.toArrow().column("id").to_pylist() == list(range(engine_rows.ROWS))


def test_partitions_that_change_are_noticed(spark, tmp_path):
    table = engine_rows.rows(named=True).slice(0, 40)
    changed = str(tmp_path / "changed")

    def rows(batches):
        for _ in batches:
            yield from table.slice(0, 20 if os.path.exists(changed) else 30).to_batches()

    df = spark.range(0, 1, 1, 1).mapInArrow(rows, from_arrow_schema(table.schema))
    ways = recourse(df, engine_rows.fitted())
    assert ways.count() == len(engine_rows.fitted().recourse(table.slice(0, 30).drop_columns("of no interest")))
    open(changed, "w").close()
    with pytest.raises(PythonException, match="the partitions differ from those that were counted"):
        ways.count()
    # Rows that have a name need no number.
    assert recourse(df, engine_rows.fitted(), id="application").count() > 0


def test_what_is_wrong_is_told_before_anything_runs(spark, tmp_path):
    fitted = engine_rows.fitted()
    table = engine_rows.rows(named=True)
    df = spark.createDataFrame(table)
    with pytest.raises(errors.DataError) as error:
        recourse(df.drop("Age"), fitted, id="application")
    with pytest.raises(errors.DataError) as local:
        fitted.recourse(table.drop_columns("Age"), id="application")
    assert str(error.value) == str(local.value)
    with pytest.raises(errors.DataError) as error:
        recourse(df.withColumn("Age", F.current_date()), fitted, id="application")
    assert str(error.value) == (
        "X: column `Age` is of type Date32, expected text, numbers or booleans\n"
        "hint: pass a number instead, such as the years or days since then"
    )
    with pytest.raises(errors.SettingError, match="nobody"):
        recourse(df, fitted, id="nobody")
    with pytest.raises(errors.FileError):
        recourse(df, tmp_path / "absent.par")


def test_a_stream_is_answered_if_its_rows_have_names(spark, tmp_path):
    table = engine_rows.rows(named=True).drop_columns("of no interest")
    spark.createDataFrame(table).write.parquet(str(tmp_path / "rows"))
    stream = spark.readStream.schema(from_arrow_schema(table.schema)).parquet(str(tmp_path / "rows"))
    with pytest.raises(errors.SettingError, match="the rows of a stream cannot be numbered"):
        recourse(stream, engine_rows.fitted())
    ways = recourse(stream, engine_rows.fitted(), **engine_rows.REQUEST, id="application")
    written = ways.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
    written.trigger(availableNow=True).start(str(tmp_path / "ways")).awaitTermination()
    lines = spark.read.parquet(str(tmp_path / "ways")).toArrow()
    order = [("id", "ascending"), ("rank", "ascending")]
    assert lines.sort_by(order).equals(engine_rows.expected(named=True).sort_by(order))
