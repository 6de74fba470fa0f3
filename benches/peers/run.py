"""Asks the packages of other methods the questions of `par-bench export`, and writes answers for `par-bench --peers`.

`python run.py QUESTIONS --methods dice-random,nice --out peers-real`: QUESTIONS has CASE/FOLD with model.par,
training.csv, people.csv and questions.json; the folder of --out gets CASE.csv.gz, with a line for every method and
person. Methods that answered a fold before are not asked again.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import importlib.metadata
import io
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

# One thread for all: for a few rows, sharing the classifier's work takes longer than the work.
os.environ.setdefault("RAYON_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from methods import METHODS, Answer  # noqa: E402
from questions import Questions  # noqa: E402

COLUMNS = ["method", "fold", "id", "k", "time_s", "classifier_s"]
"""`classifier_s` is the part of `time_s` that the classifier took; `par-bench` does not read it."""
SEED = 0


class OutOfTime(BaseException):
    """Not an `Exception`, which packages catch."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", type=Path, help="folder that `par-bench export` wrote")
    parser.add_argument("--methods", default=",".join(METHODS), help=f"of {', '.join(METHODS)}; all unless told")
    parser.add_argument("--cases", nargs="*", help="only these; all unless told")
    parser.add_argument("--people", type=int, help="only the first so many of every fold")
    parser.add_argument("--limit", type=float, default=60, help="most seconds for a person; 60 unless told")
    parser.add_argument("--out", type=Path, default=Path("peers-real"), help="folder for the answers")
    arguments = parser.parse_args()
    chosen = arguments.methods.split(",")
    unknown = [name for name in chosen if name not in METHODS]
    if unknown:
        parser.error(f"there is no method `{unknown[0]}`, expected some of {', '.join(METHODS)}")
    folders = sorted(path.parent for path in arguments.questions.glob("*/*/questions.json"))
    cases = sorted({folder.parent.name for folder in folders})
    if not cases:
        hint = "`par-bench export` writes them"
        parser.error(f"{arguments.questions}: there is no CASE/FOLD/questions.json\nhint: {hint}")
    warnings.filterwarnings("ignore")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for case in arguments.cases or cases:
        lines = Lines(arguments.out / f"{case}.csv.gz")
        for folder in (folder for folder in folders if folder.parent.name == case):
            asked = Questions.read(folder)
            for name in chosen:
                if not lines.has(METHODS[name].title, asked.fold):
                    answer_all(asked, name, arguments, lines)


def answer_all(asked: Questions, name: str, arguments: argparse.Namespace, lines: Lines) -> None:
    """One method, one fold."""
    method = METHODS[name]
    start = time.perf_counter()
    with quiet():
        answer = method.ready(asked, arguments.limit)
    ready, found, told = time.perf_counter() - start, [], 0
    for person in asked.people.index[: arguments.people]:
        before = asked.classifier.seconds
        given, seconds, why = answered(answer, asked.people.loc[[person]], arguments.limit)
        times = [f"{seconds:.6f}", f"{asked.classifier.seconds - before:.6f}"]
        cells = [""] * len(asked.names) if given is None else asked.written(person, given)
        found.append([method.title, asked.fold, person, -1 if given is None else 0, *times, *cells])
        if why and told < 3:
            told += 1
            print(f"{asked.case} {asked.fold} {method.title}: {person}: {why}", file=sys.stderr)
    lines.add(asked.names, found)
    count = sum(line[3] == 0 for line in found)
    mean, own = (sum(float(line[column]) for line in found) / max(len(found), 1) for column in (4, 5))
    version = importlib.metadata.version(method.package)
    print(
        f"{asked.case} {asked.fold} {method.title} ({method.package} {version}): {count} of {len(found)} answered, "
        f"{mean:.3f} s each, {own:.3f} s of it the classifier's; {ready:.2f} s to be ready",
        flush=True,
    )


def answered(answer: Answer, row: pd.DataFrame, limit: float) -> tuple[pd.Series | None, float, str | None]:
    """An answer if there is one, the seconds, and what went wrong."""

    def stop(*_: object) -> None:
        raise OutOfTime

    if row.isna().any(axis=None):
        return None, 0.0, "has an empty cell"
    random.seed(SEED)
    np.random.seed(SEED)
    given, why = None, None
    signal.signal(signal.SIGALRM, stop)
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        with quiet():
            given = answer(row)
    except OutOfTime:
        why = f"no answer within {limit:g} s"
    except Exception as error:  # noqa: BLE001: whatever a package raises, this person has no answer.
        why = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return given, time.perf_counter() - start, why


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Packages print bars of progress, and advice."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


class Lines:
    """The table of answers of a case. It is written anew after every fold of a method, or not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[list[str]] = []
        if path.exists():
            with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
                self._rows = list(csv.reader(file))

    def has(self, title: str, fold: str) -> bool:
        return any(row[:2] == [title, fold] for row in self._rows[1:])

    def add(self, features: list[str], rows: list[list[str]]) -> None:
        # As `par-bench` writes its own tables: a column gets a prefix if a feature has its name.
        columns = [f"par_{column}" if column in features else column for column in COLUMNS]
        self._rows = [[*columns, *features], *self._rows[1:], *([str(cell) for cell in row] for row in rows)]
        draft = self._path.with_suffix(".draft")
        with gzip.open(draft, "wt", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(self._rows)
        os.replace(draft, self._path)


if __name__ == "__main__":
    main()
