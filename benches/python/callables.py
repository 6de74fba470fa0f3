"""How many denied people get a way that the classifier accepts: the same pipeline converted, and as a bare function."""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from classifier import KINDS, pipeline
from tables import DATA, Table

TABLES = ["german_credit", "adult", "gmsc"]


class Counted:
    """A pipeline as a function, about which nothing is known, that counts its calls and rows."""

    def __init__(self, model, table: Table):
        self.model = model
        self.accepted = list(model.classes_).index(table.favourable)
        self.calls = self.rows = 0

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        self.calls += 1
        self.rows += len(rows)
        return self.model.predict_proba(rows)[:, self.accepted]

    def spent(self) -> tuple[int, int]:
        """The calls and rows since this was last read."""
        spent = self.calls, self.rows
        self.calls = self.rows = 0
        return spent


def measured(table: Table, classifier, people: pd.DataFrame, function: Counted) -> dict:
    """Fits, answers the people, and checks every way with the function."""
    from par_recourse import Recourse

    settings = {"threshold": table.threshold, "price": table.price}
    recourse = Recourse(table.schema_file, classifier=classifier, progress=False, **settings)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recourse.fit(table.training[table.names], table.training[table.label])
    fitted = time.process_time()
    fit_calls, fit_rows = function.spent()
    lines = recourse.recourse(people)
    answered = time.process_time()
    answer_calls, answer_rows = function.spent()
    found = lines[lines["status"] == "found"]
    assert (function(found[table.names]) >= table.threshold).all(), "a way that the function denies"
    function.spent()
    return {
        "ids": set(found["id"]),
        "fit": fitted - start,
        "fit calls": fit_calls,
        "fit rows": fit_rows,
        "answer": answered - fitted,
        "answer calls": answer_calls,
        "answer rows": answer_rows,
        "coverage": recourse.coverage_,
        "effort": found["effort"].mean(),
        "reasons": lines[lines["status"] == "not_found"]["reason"].value_counts().to_dict(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path, nargs="?", help="a folder with adult and gmsc; else German Credit alone")
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--people", type=int, default=100, help="how many denied people are asked about")
    parser.add_argument("--reasons", action="store_true", help="print why people have no way")
    options = parser.parse_args()
    folders = {name: DATA if name == "german_credit" else options.tables for name in TABLES}

    columns = ["table", "model", "denied", "converted", "function", "of the converted", "coverage at fit", "fit"]
    columns += ["calls (rows)", "answers", "calls (rows)"]
    print(f"| {' | '.join(columns)} |")
    print("|" + "---|" * len(columns))
    for name, folder in folders.items():
        if folder is None or options.only not in (None, name):
            continue
        table = Table.read(folder, name, sampled=False)
        for kind in options.kinds:
            model = pipeline(table, kind)
            function = Counted(model, table)
            denied = table.test[function(table.test[table.names]) < table.threshold]
            people = denied[: options.people][table.names]
            function.spent()
            converted = measured(table, model, people, Counted(model, table))
            called = measured(table, function, people, function)
            both = len(converted["ids"] & called["ids"])
            coverage = "-" if called["coverage"] is None else f"{called['coverage']:.2f}"
            print(
                f"| {name} | {kind} | {len(people)} | {len(converted['ids'])} | {len(called['ids'])} | {both} | {coverage} "
                f"| {called['fit']:.0f} s ({converted['fit']:.0f} s) | {called['fit calls']} ({called['fit rows']}) "
                f"| {called['answer']:.1f} s ({converted['answer']:.1f} s) | {called['answer calls']} ({called['answer rows']}) |",
                flush=True,
            )
            if options.reasons:
                for who, answers in (("converted", converted), ("function", called)):
                    print(f"{who}: mean effort {answers['effort']:.2f}, without a way: {answers['reasons']}")


if __name__ == "__main__":
    main()
