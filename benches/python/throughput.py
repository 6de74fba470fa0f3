"""How many rows a second the Python package answers, from frame to frame, beside the program `par`.

    python throughput.py [TABLES] [--table NAME] [--who WHO] [--rows N] [--method METHOD] [--par PROGRAM]

Rows are drawn with replacement from the people of a table whom PAR's own classifier denies, or from all. The
same call is made with a frame of pandas and with a table of Arrow, which nothing has to be turned into. With
--par the same rows are answered by `par recourse`, by the same model, from a CSV file into another. Each
figure is the best of three, taken in turns. Then some of the rows are asked about one at a time.
"""

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from par_recourse import Recourse

from tables import SETTINGS, DATA, Table

TURNS = 3
# Rows that are asked about one at a time.
SINGLE = 500


class Program:
    """`par recourse` on the same rows, by the same model."""

    def __init__(self, program: Path, recourse: Recourse, method: str, frame: pd.DataFrame, folder: Path):
        self.model, self.table, self.out = (folder / name for name in ("model.par", "rows.csv", "ways.csv"))
        recourse.save(self.model)
        frame.to_csv(self.table, index=False)
        self.command = [program, "recourse", self.model, self.table, "--method", method, "--json"]

    def __call__(self) -> None:
        subprocess.run([*self.command, "--out", self.out], check=True, capture_output=True)

    def answering(self) -> float:
        """Seconds that the answers took, over the threads that gave them; without reading and writing."""
        subprocess.run([*self.command, "--out", self.out, "--time"], check=True, capture_output=True)
        took = pd.read_csv(self.out, usecols=["time_us"])["time_us"]
        return took.sum() / 1e6 / len(os.sched_getaffinity(0))


def best(calls: dict[str, Callable]) -> dict[str, float]:
    """The best time of each call, in seconds."""
    times = {name: [] for name in calls}
    for _ in range(TURNS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: min(took) for name, took in times.items()}


def single(call: Callable, rows: list) -> tuple[float, float, float, float]:
    """The median, the mean and the 99th percentile of calls with one row each, and the median of their processor
    time, which other load lengthens less; in milliseconds."""
    call(rows[0])
    times, processor_times = [], []
    for row in rows:
        start, processor_start = time.perf_counter(), time.process_time()
        call(row)
        processor_times.append(1000 * (time.process_time() - processor_start))
        times.append(1000 * (time.perf_counter() - start))
    medians = float(np.median(times)), float(np.median(processor_times))
    return medians[0], float(np.mean(times)), float(np.quantile(times, 0.99)), medians[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", type=Path, nargs="?", metavar="TABLES")
    parser.add_argument("--table", choices=list(SETTINGS), default="german_credit")
    parser.add_argument("--who", choices=["denied", "all"], default="denied", help="denied unless told")
    parser.add_argument("--rows", type=int, default=100_000, help="100,000 unless told")
    parser.add_argument("--method", choices=["generate", "refine", "exact"], default="refine")
    parser.add_argument("--par", type=Path, help="the program `par`")
    told = parser.parse_args()

    table = Table.read(DATA if told.table == "german_credit" else told.tables, told.table)
    settings = {"threshold": table.threshold, "bins": table.bins, "price": table.price}
    recourse = Recourse(table.schema_file, progress=False, **settings)
    recourse.fit(table.training[table.names], table.training[table.label])
    people = table.training[table.names]
    if told.who == "denied":
        people = people[recourse.predict(people) != table.favourable]
    drawn = np.random.default_rng(0).integers(len(people), size=told.rows)
    frame = people.iloc[drawn].reset_index(drop=True)
    print(
        f"{table.name}: {told.rows} rows drawn from {len(people)} people ({told.who}), {told.method}, "
        f"{len(os.sched_getaffinity(0))} processors"
    )

    table_of_arrow = pa.Table.from_pandas(frame, preserve_index=False)
    calls = {
        "recourse, pandas to pandas": lambda: recourse.recourse(frame, method=told.method),
        "recourse, Arrow to Arrow": lambda: recourse.recourse(table_of_arrow, method=told.method),
    }
    with tempfile.TemporaryDirectory() as folder:
        answering = None
        if told.par is not None:
            program = Program(told.par, recourse, told.method, frame, Path(folder))
            calls["par recourse, CSV to CSV"] = program
            answering = min(program.answering() for _ in range(TURNS))
        times = best(calls)
    if answering is not None:
        times["  its answers alone"] = answering
    print(f"{'':30}{'seconds':>9}{'rows/s':>10}")
    for name, seconds in times.items():
        print(f"{name:30}{seconds:9.3f}{told.rows / seconds:10.0f}")

    count = min(SINGLE, told.rows)
    calls = {
        "recourse, pandas to pandas": [frame.iloc[[row]] for row in range(count)],
        "recourse, Arrow to Arrow": [table_of_arrow.slice(row, 1) for row in range(count)],
    }
    print(f"\n{'one row at a time':30}{'median ms':>11}{'mean ms':>9}{'p99 ms':>9}{'processor ms':>14}")
    for name, rows in calls.items():
        median, mean, p99, processor = single(lambda row: recourse.recourse(row, method=told.method), rows)
        print(f"{name:30}{median:11.2f}{mean:9.2f}{p99:9.2f}{processor:14.2f}")


if __name__ == "__main__":
    main()
