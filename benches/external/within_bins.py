"""What the choice of numbers within bins can do for distance and outliers at most: the same codes, other numbers.

    python within_bins.py PAR FOLDER TABLE FOLD

After `measure.py PAR FOLDER --judge --kind own`. The ways of refine in the order by likelihood, for PAR's own classifier,
which looks at codes alone, are judged with the numbers that they name, with other numbers that accepted training rows
have in the same bins, and with those that the judge itself likes best, chosen one after the other.
Distance and outliers are the judge's (docs/judge.md), by all accepted rows of the fold.
"""

import argparse
import json
import struct
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from measure import ANSWERS, answering, par
from tables import Table

# The most numbers of a bin that the judge chooses from, and how often it goes through all changes.
NUMBERS, TURNS = 60, 2


def read(file: Path) -> pd.DataFrame:
    """A table of texts."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)


class Judge:
    """The space of the judge, and the people in it."""

    def __init__(self, table: Table, people: pd.DataFrame):
        self.table, self.scales = table, {}
        for name in table.numbers:
            numbers = people[name].astype(float)
            deviation = (numbers - numbers.median()).abs().median()
            self.scales[name] = deviation or numbers.std(ddof=0) or 1.0
        self.texts = {name: sorted(set(table.rows[name])) for name in table.texts}
        self.nearest = NearestNeighbors(n_neighbors=5, metric="manhattan").fit(self.points(people))
        outliers = LocalOutlierFactor(n_neighbors=20, metric="manhattan", novelty=True)
        self.outliers = outliers.fit(self.points(people))

    def points(self, rows: pd.DataFrame) -> np.ndarray:
        numbers = [rows[name].astype(float) / scale for name, scale in self.scales.items()]
        texts = [(rows[name] == text) * 0.5 for name, known in self.texts.items() for text in known]
        return np.stack(numbers + texts, axis=1)

    def distances(self, rows: pd.DataFrame) -> np.ndarray:
        return self.nearest.kneighbors(self.points(rows))[0].mean(axis=1)

    def tell(self, name: str, rows: pd.DataFrame) -> None:
        outliers = (-self.outliers.score_samples(self.points(rows)) > 1.5).mean()
        print(f"{name:24}{self.distances(rows).mean():9.3f}{100 * outliers:11.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("par", type=Path, metavar="PAR")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("fold", metavar="FOLD")
    told = parser.parse_args()
    folder = told.folder / told.table / told.fold
    training, test = read(folder / "train.csv"), read(folder / "test.csv")
    schema = tomllib.loads((folder.parent / "schema.toml").read_text(encoding="utf-8"))
    table = Table(told.table, schema, pd.concat([training, test]))
    status = read(folder / "own-generate.csv").drop_duplicates("id").set_index("id").status
    judge = Judge(table, test[(test[table.label] == table.favourable) & (test.id.map(status) == "accepted")])

    print(f"{'numbers':24}{'distance':>9}{'outliers %':>11}")
    model, ways = (folder / "own.par").read_bytes(), {}
    for values in ("common", "nearest"):
        changed, answers = folder / "within-bins.par", folder / "within-bins.csv"
        changed.write_bytes(answering(model, ANSWERS[values]))
        par(told.par, "recourse", changed, folder / "own-people.csv", "--method", "refine", "--out", answers)
        rows = read(answers)
        ways[values] = rows[rows.status == "found"].drop_duplicates("id").set_index("id")
        judge.tell(values, ways[values])

    (length,) = struct.unpack_from("<Q", model, 12)
    domains = json.loads(model[20 : 20 + length])["discretizer"]["domains"]
    names = [feature["name"] for feature in table.schema["feature"]]
    edges = {name: domain["Bins"]["edges"] for name, domain in zip(names, domains, strict=True) if "Bins" in domain}
    accepted = training[training[table.label] == table.favourable]
    nearest, people = ways["nearest"], read(folder / "own-people.csv").set_index("id")
    # For each changed number, those of accepted training rows in the same bin.
    changes = []
    for name, ends in edges.items():
        bins = lambda numbers: np.searchsorted(ends[1:-1], numbers, side="right")
        numbers = accepted[name].astype(float).to_numpy()
        for person in nearest.index[nearest[name] != people.loc[nearest.index, name]]:
            same = numbers[bins(numbers) == bins(float(nearest.at[person, name]))]
            if len(same):
                changes.append((person, name, same))

    random = np.random.default_rng(0)
    choices = {"median of the bin": np.median, "drawn from the bin": random.choice}
    for choice, choose in choices.items():
        rows = nearest.copy()
        for person, name, same in changes:
            rows.at[person, name] = repr(float(choose(same)))
        judge.tell(choice, rows)
    rows = nearest.copy()
    for _ in range(TURNS):
        for person, name, same in changes:
            numbers = np.unique(same)
            numbers = numbers[np.linspace(0, len(numbers) - 1, min(NUMBERS, len(numbers))).astype(int)]
            tried = rows.loc[[person] * len(numbers)].assign(**{name: [repr(float(one)) for one in numbers]})
            rows.at[person, name] = tried[name].iloc[judge.distances(tried).argmin()]
    judge.tell("chosen by the judge", rows)


if __name__ == "__main__":
    main()
