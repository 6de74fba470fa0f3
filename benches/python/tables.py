"""The tables that are asked: German Credit of this repository, or the benchmark tables of a folder."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

DATA = Path(__file__).parents[2] / "crates" / "par-data" / "data"

# As `par-bench` asks them: bins, the probability from which a row is accepted, the price of a change. On gmsc
# nearly everybody is above one half.
SETTINGS = {
    "german_credit": (10, 0.5, 1.0),
    "adult": (12, 0.5, 1.25),
    "credit": (10, 0.5, 1.0),
    "gmsc": (10, 0.94, 1.4),
}


@dataclass
class Table:
    """Rows to learn from and rows to ask about, with the types that pandas reads."""

    name: str
    schema_file: Path
    schema: dict
    training: pd.DataFrame
    test: pd.DataFrame

    @classmethod
    def read(cls, folder: Path, name: str, sampled: bool = True) -> "Table":
        """Reads NAME.csv or NAME.csv.gz, and NAME.toml. A table with folds is asked about the sampled rows of
        fold 0, or about all of them; of another, every third row is kept for asking."""
        schema_file = folder / f"{name}.toml"
        schema = tomllib.loads(schema_file.read_text(encoding="utf-8"))
        types = {schema["label"]["column"]: str}
        types |= {feature["name"]: str for feature in schema["feature"] if "values" in feature}
        rows = pd.read_csv(folder / schema["file"], dtype=types, keep_default_na=False)
        for feature in schema["feature"]:
            if feature["kind"] == "discrete":
                rows[feature["name"]] = rows[feature["name"]].astype("int64")
        if "fold" in schema["columns"]:
            inside = rows[schema["columns"]["fold"]] == 0
            asked = inside & (rows[schema["columns"]["subtest"]] == 1) if sampled else inside
        else:
            inside = asked = pd.Series(np.arange(len(rows)) % 3 == 0, index=rows.index)
        return cls(name, schema_file, schema, rows[~inside], rows[asked])

    @property
    def features(self) -> list[dict]:
        """What the schema says of each feature, in its order."""
        return self.schema["feature"]

    @property
    def names(self) -> list[str]:
        """The features, in the order of the schema."""
        return [feature["name"] for feature in self.features]

    @property
    def numbers(self) -> list[str]:
        """Features that a classifier sees as numbers."""
        return [feature["name"] for feature in self.features if "values" not in feature]

    @property
    def texts(self) -> list[str]:
        """Features that a classifier sees as texts."""
        return [feature["name"] for feature in self.features if "values" in feature]

    @property
    def label(self) -> str:
        return self.schema["label"]["column"]

    @property
    def favourable(self) -> str:
        """The class that counts as accepted."""
        return self.schema["label"]["favourable"]

    @property
    def bins(self) -> int:
        return SETTINGS[self.name][0]

    @property
    def threshold(self) -> float:
        """The probability from which a row is accepted."""
        return SETTINGS[self.name][1]

    @property
    def price(self) -> float:
        """What a further change has to be worth to PAR, in nats."""
        return SETTINGS[self.name][2]
