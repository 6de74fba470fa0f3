"""One script of DiCE, run against `dice_ml` and against `par_recourse.compat.dice`: only the import differs.

    python dice_script.py [TABLES] [--table NAME]... [--kind KIND] [--rows N] [--count N]

German Credit comes from this repository. If TABLES is given, adult, credit and gmsc are read from it too, as
NAME.csv.gz and NAME.toml, with a column `fold`. The script knows nothing of a schema: every feature may change. Printed are

    answered    the queries with a counterfactual, of the queries that were asked
    rows        the counterfactuals of a query that has some, of those that were asked for
    changes     the features that a counterfactual changes, on average
    first       the same of the first counterfactual of a query
    valid       the share of counterfactuals that have the desired class by the model itself
    s           the time of all queries; of the first method of PAR with its fit

DiCE's rows are the sparse ones, as it shows them.
"""

import argparse
import contextlib
import importlib
import os
import time
import warnings
from pathlib import Path

import pandas as pd

from classifier import KINDS, pipeline
from tables import DATA, SETTINGS, Table

SEED = 0
METHODS = [
    ("DiCE random", "dice_ml", {"method": "random"}, {"random_seed": SEED}),
    ("DiCE genetic", "dice_ml", {"method": "genetic"}, {}),
    ("DiCE kdtree", "dice_ml", {"method": "kdtree"}, {}),
    ("PAR", "par_recourse.compat.dice", {"method": "random"}, {"random_seed": SEED}),
    ("PAR, fewest changes", "par_recourse.compat.dice", {"method": "random"}, {"fewest_changes": True}),
]


@contextlib.contextmanager
def silence():
    """Without progress bars and warnings."""
    with open(os.devnull, "w") as nowhere, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            yield


class Interfaces:
    """The table and the model, as each library takes them; PAR learns once for all of its methods."""

    def __init__(self, table: Table, model):
        self.frame = table.training[[*table.names, table.label]].rename(columns={table.label: "outcome"})
        self.numbers, self.model = table.numbers, model
        self.made = {}

    def of(self, library):
        if library not in self.made:
            data = library.Data(dataframe=self.frame, continuous_features=self.numbers, outcome_name="outcome")
            self.made[library] = (data, library.Model(model=self.model, backend="sklearn"))
        return self.made[library]


def counterfactuals(library, interfaces: Interfaces, queries: pd.DataFrame, count: int, made: dict, asked: dict) -> list:
    """For each query, its counterfactuals, or None."""
    explainer = library.Dice(*interfaces.of(library), **made)
    found = []
    for row in range(len(queries)):
        try:
            examples = explainer.generate_counterfactuals(
                queries.iloc[[row]], total_CFs=count, desired_class="opposite", **asked
            )
        except Exception as error:
            if "No counterfactuals found" not in str(error):
                raise
            found.append(None)
            continue
        example = examples.cf_examples_list[0]
        sparse = example.final_cfs_df_sparse
        found.append((example.final_cfs_df if sparse is None else sparse)[list(queries.columns)])
    return found


def changes(query: pd.Series, row: pd.Series) -> int:
    """How many features differ; numbers may have become floats of single precision."""
    return sum(
        abs(float(own) - float(other)) > 1e-4 * max(1.0, abs(float(own))) if is_number(own) else str(own) != str(other)
        for own, other in zip(query, row)
    )


def is_number(value) -> bool:
    return not isinstance(value, str)


def measured(table: Table, kind: str, rows: int, count: int) -> None:
    model = pipeline(table, kind)
    denied = table.test[model.predict(table.test[table.names]) != table.favourable]
    queries = denied[table.names].head(rows).reset_index(drop=True)
    interfaces = Interfaces(table, model)
    print(f"\n{table.name}, {kind}: {len(queries)} queries, {count} counterfactuals each")
    print(f"{'':22}{'answered':>10}{'rows':>8}{'changes':>9}{'first':>7}{'valid':>7}{'s':>8}")
    for name, library, made, asked in METHODS:
        started = time.perf_counter()
        with silence():
            found = counterfactuals(importlib.import_module(library), interfaces, queries, count, made, asked)
        seconds = time.perf_counter() - started
        pairs = [(queries.iloc[row], some) for row, some in enumerate(found) if some is not None]
        every = [changes(query, row) for query, some in pairs for _, row in some.iterrows()]
        first = [changes(query, some.iloc[0]) for query, some in pairs]
        rows_found = pd.concat([some for _, some in pairs]).astype(queries.dtypes) if pairs else queries[:0]
        valid = (model.predict(rows_found) == table.favourable).mean() if pairs else float("nan")
        print(
            f"{name:22}{f'{len(pairs)}/{len(queries)}':>10}{len(every) / max(len(pairs), 1):8.1f}"
            f"{sum(every) / max(len(every), 1):9.2f}{sum(first) / max(len(first), 1):7.2f}{valid:7.2f}{seconds:8.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="?", type=Path, metavar="TABLES")
    parser.add_argument("--table", action="append", choices=list(SETTINGS), metavar="NAME")
    parser.add_argument("--kind", choices=list(KINDS), default="logistic")
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--count", type=int, default=4)
    told = parser.parse_args()
    wanted = told.table or (["german_credit"] if told.tables is None else list(SETTINGS))
    for name in wanted:
        table = Table.read(DATA if name == "german_credit" else told.tables, name)
        measured(table, told.kind, told.rows, told.count)


if __name__ == "__main__":
    main()
