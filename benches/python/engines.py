"""Measures recourse for a large table on one machine, by Spark and by Ray, and whether all give the same lines.

    python engines.py [ROWS] [--table FILE --model FILE] [--method NAME] [--engine NAME]...

ROWS (200,000 unless told) are drawn with replacement from German Credit, on which a model is fitted, or from a CSV
file that a model of yours is for. They are written as Parquet; every engine reads that, answers, and writes Parquet
again. Spark runs as local-cluster with two workers of one core, Ray with two processors; both have answered a few rows
before, so that starting them is not measured. Lines are put in the order of their ids and compared with those of one
machine, as tables and as bytes.

Printed are a table in Markdown and what 100 million such rows cost. Processor seconds are those of this process and of
all that it started, as Linux counts them: unlike seconds they hardly depend on what else the machine is doing, so that
the cost is reckoned from them.
"""

import argparse
import math
import os
import pickle
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

import par_recourse
from par_recourse import Recourse, datasets

CORES = 2
FILES = 16
MANY = 100_000_000
ID = "__id__"
PACKAGE = str(Path(par_recourse.__file__).parent.parent)


def one_thread(recourse, folder, out, method):
    """What a task of an engine does, without the engine."""
    from par_recourse import _request, _workers

    table = pq.read_table(folder)
    job, parcel = _workers.plan(
        recourse,
        table.column_names,
        lambda columns: table.select(columns).schema,
        _request.Request(method=method),
        id=ID,
        dumps=pickle.dumps,
    )
    batches = table.select(job.columns).to_batches(max_chunksize=8192)
    lines = [lines for batch in batches for lines in job.answer(batch, 0, lambda: parcel)]
    _write(pa.Table.from_batches(lines), out)


def one_machine(recourse, folder, out, method):
    _write(recourse.recourse(pq.read_table(folder), method=method, id=ID), out)


def one_machine_pandas(recourse, folder, out, method):
    import pandas

    lines = recourse.recourse(pandas.read_parquet(folder), method=method, id=ID)
    lines = pa.Table.from_pandas(lines, preserve_index=False)
    # Text is long text in pandas.
    text = {pa.large_string(): pa.string()}
    _write(lines.cast(pa.schema([(field.name, text.get(field.type, field.type)) for field in lines.schema])), out)


def spark(recourse, folder, out, method):
    from par_recourse.spark import recourse as answer

    answer(_session().read.parquet(folder), recourse, method=method, id=ID).write.parquet(out)


def _session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(f"local-cluster[{CORES},1,1024]")
        .config("spark.executorEnv.PYTHONPATH", PACKAGE)
        .config("spark.sql.files.minPartitionNum", str(FILES))
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


def stop_spark():
    from pyspark.find_spark_home import _find_spark_home

    session = _session()
    application = session.sparkContext.applicationId
    session.stop()
    # The logs of the workers, which Spark leaves beside itself.
    shutil.rmtree(Path(_find_spark_home(), "work", application), ignore_errors=True)


def ray(recourse, folder, out, method):
    import ray

    from par_recourse.ray import recourse as answer

    if not ray.is_initialized():
        environment = {"env_vars": {"PYTHONPATH": PACKAGE}}
        ray.init(num_cpus=CORES, include_dashboard=False, runtime_env=environment, log_to_driver=False)
    answer(ray.data.read_parquet(folder), recourse, method=method, id=ID).write_parquet(out)


WAYS = {
    "one thread": (one_thread, 1),
    "pyarrow": (one_machine, None),
    "pandas": (one_machine_pandas, None),
    "Spark": (spark, CORES),
    "Ray": (ray, CORES),
}


def _write(table, out):
    Path(out).mkdir()
    pq.write_table(table, Path(out) / "lines.parquet")


def draw(table, rows):
    """Rows with replacement, the same every time, under names of their own."""
    numbers = random.Random(0)
    drawn = table.take(pa.array([numbers.randrange(table.num_rows) for _ in range(rows)]))
    return drawn.append_column(ID, pa.array(range(rows), pa.int64()))


def spread(table, folder):
    folder.mkdir()
    size = math.ceil(table.num_rows / FILES)
    for number in range(FILES):
        pq.write_table(table.slice(number * size, size), folder / f"{number:02}.parquet")


def read(out):
    files = sorted(Path(out).glob("*.parquet"))
    lines = pa.concat_tables([pq.read_table(file) for file in files], promote_options="permissive")
    return lines.replace_schema_metadata().sort_by([("id", "ascending"), ("rank", "ascending")])


def as_bytes(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return sink.getvalue()


def processor_seconds():
    """What this process and its descendants have used so far, those that have ended included."""
    parents, used = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)], used[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15]))

    def is_ours(process):
        while process not in (0, os.getpid()):
            process = parents.get(process, 0)
        return process != 0

    return sum(used[process] for process in used if is_ours(process)) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=200_000)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--method", default="refine")
    parser.add_argument("--engine", action="append", choices=list(WAYS))
    told = parser.parse_args()
    if (told.table is None) != (told.model is None):
        parser.error("--table and --model go together")

    if told.table is None:
        german = datasets.german_credit()
        recourse, source = Recourse(german.schema).fit(german.X, german.y), german.X
    else:
        recourse, source = Recourse.load(told.model), pa.csv.read_csv(told.table)
    with tempfile.TemporaryDirectory() as place:
        measure(recourse, draw(source, told.rows), told.method, told.engine or list(WAYS), Path(place))


def measure(recourse, table, method, engines, place):
    spread(table, place / "rows")
    spread(table.slice(0, 64), place / "few")
    figures, expected = [], None
    for name in engines:
        answer, cores = WAYS[name]
        cores = cores or os.cpu_count()
        answer(recourse, str(place / "few"), str(place / f"{name} few"), method)
        start, used = time.perf_counter(), processor_seconds()
        answer(recourse, str(place / "rows"), str(place / name), method)
        seconds, used = time.perf_counter() - start, processor_seconds() - used
        if answer is spark:
            stop_spark()
        lines = read(place / name)
        expected = lines if expected is None else expected
        equal = (
            lines.schema.equals(expected.schema) and lines.equals(expected) and as_bytes(lines) == as_bytes(expected)
        )
        figures.append((name, cores, seconds, used, equal))

    statuses = {entry["values"]: entry["counts"] for entry in pc.value_counts(expected.column("status")).to_pylist()}
    print(f"\n{table.num_rows:,} rows, method {method}; lines by status: {statuses}; load {os.getloadavg()[0]:.1f}\n")
    print("| by | cores | seconds | rows/s | processor seconds | rows a processor second | same lines |")
    print("|---|---|---|---|---|---|---|")
    rows = table.num_rows
    for name, cores, seconds, used, equal in figures:
        same = "yes" if equal else "NO"
        print(
            f"| {name} | {cores} | {seconds:.1f} | {rows / seconds:,.0f} | {used:.1f} | {rows / used:,.0f} | {same} |"
        )
    print(
        f"\n{MANY:,} such rows: core-hours = {MANY:,} ÷ (rows a processor second × 3,600); hours = core-hours ÷ cores\n"
    )
    print("| by | core-hours | on 32 cores | on 320 cores |")
    print("|---|---|---|---|")
    for name, _, _, used, _ in figures:
        hours = MANY / (rows / used) / 3600
        print(f"| {name} | {hours:,.1f} | {hours / 32:.2f} h | {hours / 320:.3f} h |")
    if not all(equal for *_, equal in figures):
        raise SystemExit("the engines do not agree")


if __name__ == "__main__":
    main()
