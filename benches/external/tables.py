"""The benchmark tables: what their schemas say, their rows by fold, and how PAR is asked about them."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

# As `par-bench` asks them: bins, the probability from which a row is accepted, the price of a change. On gmsc
# nearly everybody is above one half.
SETTINGS = {"adult": (12, 0.5, 1.25), "credit": (10, 0.5, 1.0), "gmsc": (10, 0.94, 1.4)}


@dataclass
class Table:
    """A table with folds, every cell a text."""

    name: str
    schema: dict
    rows: pd.DataFrame

    @classmethod
    def read(cls, folder: Path, name: str) -> "Table":
        """Reads NAME.csv.gz and NAME.toml."""
        schema = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
        return cls(name, schema, pd.read_csv(folder / f"{name}.csv.gz", dtype=str, keep_default_na=False))

    @property
    def numbers(self) -> list[str]:
        """Features that a classifier sees as numbers."""
        return [
            feature["name"]
            for feature in self.schema["feature"]
            if feature["kind"] in ("discrete", "continuous")
        ]

    @property
    def texts(self) -> list[str]:
        """Features that a classifier sees as texts."""
        return [
            feature["name"] for feature in self.schema["feature"] if feature["kind"] in ("nominal", "ordinal")
        ]

    @property
    def label(self) -> str:
        return self.schema["label"]["column"]

    @property
    def favourable(self) -> str:
        """The class that counts as accepted."""
        return self.schema["label"]["favourable"]

    @property
    def threshold(self) -> float:
        """The probability from which a row is accepted."""
        return SETTINGS[self.name][1]

    def split(self, fold: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The rows outside a fold, and those in it."""
        inside = self.rows[self.schema["columns"]["fold"]] == str(fold)
        return self.rows[~inside], self.rows[inside]

    def features(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The features in the order of the schema, numbers as such."""
        order = [feature["name"] for feature in self.schema["feature"]]
        return rows[order].astype({name: float for name in self.numbers})

    def config(self) -> str:
        """The settings of `par fit`."""
        bins, threshold, price = SETTINGS[self.name]
        return (
            f"[bins]\nbins = {bins}\n\n[classifier]\nthreshold = {threshold}\n\n[answers]\nprice = {price}\n"
        )
