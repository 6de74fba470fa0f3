"""PAR beside DiCE and NICE: the same scikit-learn classifier, the same denied rows, one judge.

    python side_by_side.py [TABLES] [--table NAME]... [--kind KIND] [--method NAME]... [--rows N] [--limit S]

German Credit comes from this repository. If TABLES is given, adult, credit and gmsc are read from it too, as
NAME.csv.gz and NAME.toml, with a column `fold`. Every row is asked about alone, and every answer is judged by
the classifier itself and by the schema. Printed for each table are, over the answers that a method gave,

    answered    the rows for which there is an answer, of the rows that were asked
    ms          the median time of one call
    ready s     what had to be done before the first call, such as a fit or an autoencoder
    valid       the classifier accepts the answer
    action.     nothing immutable changes, and nothing moves in a direction that the schema forbids
    causal      the rules of the schema are kept
    bounds      every changed value is one that the schema knows
    usable      all of these, of the rows that were asked
    changes     the mean number of features that change
    log p+      the mean log-likelihood under PAR's circuit of accepted people, in nats
    refine      the same, less that of `PAR refine` on the rows that both answered
"""

import argparse
import contextlib
import importlib.metadata
import importlib.util
import os
import platform
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import methods
from classifier import KINDS, Decision, pipeline
from judge import judge
from tables import SETTINGS, DATA, Table

OTHERS = {
    "DiCE random": (methods.dice, "random"),
    "DiCE genetic": (methods.dice, "genetic"),
    "DiCE kdtree": (methods.dice, "kdtree"),
    "NICE sparsity": (methods.nice, "sparsity"),
    "NICE proximity": (methods.nice, "proximity"),
    "NICE plausibility": (methods.nice, "plausibility"),
}
PAR = {"PAR refine": "refine", "PAR generate": "generate", "PAR exact": "exact"}
PACKAGES = ["par-recourse", "dice-ml", "NICEx", "scikit-learn", "pandas", "numpy"]


class TimeUp(Exception):
    """A row took longer than it was given."""


@contextlib.contextmanager
def at_most(seconds: float):
    """Stops what runs inside when the time is up: some searches never end when there is nothing to find."""

    def stop(*_):
        raise TimeUp

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def silence():
    """Without the progress bars and warnings of others."""
    with open(os.devnull, "w") as nowhere, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            yield


@dataclass
class MethodRun:
    """What one method answered to the rows of a table."""

    method: str
    ready: float
    seconds: list[float]
    places: list[int]
    answers: list[pd.DataFrame]
    late: int

    def likelihoods(self, table: Table, rows: pd.DataFrame, recourse) -> pd.Series:
        """log p⁺ of the answers, by the place of their rows."""
        if recourse is None or not self.answers:
            return pd.Series(dtype=float)
        answers = pd.concat(self.answers, ignore_index=True)[table.names].astype(rows.dtypes.to_dict())
        return pd.Series(recourse.log_likelihood(answers), index=self.places)


def ask(method: str, answer: methods.Answer, ready: float, rows: pd.DataFrame, limit: float) -> MethodRun:
    """Asks about every row alone."""
    asked = MethodRun(method, ready, [], [], [], 0)
    for place in range(len(rows)):
        start = time.perf_counter()
        try:
            with silence(), at_most(limit):
                found = answer(rows[place : place + 1])
        except TimeUp:
            found = None
            asked.late += 1
        asked.seconds.append(time.perf_counter() - start)
        if found is not None:
            asked.places.append(place)
            asked.answers.append(found)
    return asked


def line(asked: MethodRun, table: Table, decision: Decision, rows: pd.DataFrame, likely: dict) -> str:
    """A line of the table."""
    milliseconds = 1000 * np.median(asked.seconds)
    head = f"{asked.method:18}{len(asked.answers):6}/{len(rows):<5}{milliseconds:10.2f}{asked.ready:9.1f}"
    late = f"   {asked.late} out of time" if asked.late else ""
    if not asked.answers:
        return head + late
    own = rows.iloc[asked.places].reset_index(drop=True)
    judged = judge(table, decision.accepts, own, pd.concat(asked.answers, ignore_index=True))
    shares = "".join(
        f"{np.mean(share):8.2f}"
        for share in (judged.valid, judged.actionable, judged.causal, judged.in_bounds)
    )
    usable = judged.usable.sum() / len(rows)
    likelihood = likely[asked.method]
    # What only one of them answered has no difference, and does not count.
    difference = (likelihood - likely.get("PAR refine", pd.Series(dtype=float))).mean()
    means = "".join(
        f"{'–' if np.isnan(mean) else f'{mean:.2f}':>9}" for mean in (likelihood.mean(), difference)
    )
    return f"{head}{shares}{usable:8.2f}{judged.changes.mean():9.2f}{means}{late}"


def compare(table: Table, told: argparse.Namespace) -> None:
    """Trains the classifier, asks every method, and prints the lines of one table."""
    model = pipeline(table, told.kind)
    decision = Decision(model, table)
    denied = table.test[~decision.accepts(table.test[table.names])]
    rows = denied[table.names][: told.rows].reset_index(drop=True)
    accuracy = (
        decision.accepts(table.test[table.names]) == (table.test[table.label] == table.favourable)
    ).mean()
    print(
        f"\n{table.name}: {told.kind} trained on {len(table.training)} rows, right about {accuracy:.2f} of "
        f"{len(table.test)} others, of whom {len(denied)} are denied and {len(rows)} asked about"
    )
    print(
        f"{'method':18}{'answered':>10}{'ms':>12}{'ready s':>9}{'valid':>8}{'action.':>8}"
        f"{'causal':>8}{'bounds':>8}{'usable':>8}{'changes':>9}{'log p+':>9}{'refine':>9}"
    )

    recourse, fitting = None, 0.0
    if importlib.util.find_spec("par_recourse"):
        recourse, fitting = timed(lambda: methods.fitted(table, decision))
    likely = {}
    for name in [name for name in [*PAR, *OTHERS] if not told.method or name in told.method]:
        if name in PAR:
            if recourse is None:
                continue
            answer, ready = methods.par(table, recourse, PAR[name]), fitting
        else:
            make, how = OTHERS[name]
            with silence():
                answer, ready = timed(partial(make, table, decision, how))
        asked = ask(name, answer, ready, rows, told.limit)
        likely[name] = asked.likelihoods(table, rows, recourse)
        print(line(asked, table, decision, rows, likely), flush=True)


def timed(work: Callable) -> tuple:
    """What some work gives, and the seconds that it takes."""
    start = time.perf_counter()
    made = work()
    return made, time.perf_counter() - start


def versions() -> str:
    """What this ran with."""
    parts = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            parts.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            parts.append(f"{package} of no known version")
    return ", ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", type=Path, nargs="?", metavar="TABLES")
    parser.add_argument("--table", action="append", choices=list(SETTINGS), help="only this table")
    parser.add_argument(
        "--kind", choices=list(KINDS), default="mlp", help="the classifier; a network unless told"
    )
    parser.add_argument("--rows", type=int, default=50, help="rows asked about at most; 50 unless told")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one row; 60 unless told")
    parser.add_argument("--method", action="append", choices=[*PAR, *OTHERS], help="only this method")
    told = parser.parse_args()

    print(versions())
    if not importlib.util.find_spec("par_recourse"):
        print("par_recourse is not installed: PAR and likelihoods are left out")
    for name in told.table or (["german_credit"] if told.tables is None else SETTINGS):
        compare(Table.read(DATA if name == "german_credit" else told.tables, name), told)


if __name__ == "__main__":
    main()
