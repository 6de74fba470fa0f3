"""Asks onnxruntime whether the rows that PAR offers are accepted.

    python check.py TEST.csv ANSWERS.csv MODEL.onnx INPUTS.toml THRESHOLD

ANSWERS is what `par recourse MODEL.par TEST.csv --out ANSWERS.csv` writes: for each way the row that a person
could become, as a table writes it. Nothing of PAR is used here but that file. Printed are, as JSON,

    found      how many ways there are
    accepted   how many of them the classifier accepts
    margin     the smallest of their probabilities less the threshold; below zero when one is denied
    decided    of the rows that were asked, how many have the same decision by PAR and by onnxruntime
    asked      how many were asked
    difference the largest distance of PAR's probability of a way from onnxruntime's
"""

import json
import sys
import tomllib
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd


def score(model: Path, inputs: Path, rows: pd.DataFrame) -> np.ndarray:
    """The classifier's probability of acceptance, for rows of texts."""
    told = tomllib.loads(inputs.read_text(encoding="utf-8"))
    tensors = {}
    for entry in told["input"]:
        (column,) = entry["columns"]
        cells = rows[column["feature"]].to_numpy().reshape(-1, 1)
        tensors[entry["name"]] = (
            cells.astype(np.float32) if column["as"] == "number" else cells.astype(object)
        )
    session = onnxruntime.InferenceSession(model)
    (probabilities,) = session.run([told["output"]["name"]], tensors)
    return probabilities[:, told["output"]["accepted"]].astype(np.float64)


def check(test: Path, answers: Path, model: Path, inputs: Path, threshold: float) -> dict:
    """Judges the ways of a file, and the decisions that it reports."""
    people = pd.read_csv(test, dtype=str, keep_default_na=False).set_index("id")
    ways = pd.read_csv(answers, dtype=str, keep_default_na=False)
    found = ways[ways.status == "found"]
    probability = score(model, inputs, found) if len(found) else np.zeros(0)
    margins = probability - threshold

    asked = ways.drop_duplicates("id")
    asked = asked[asked.status != "error"]
    own = score(model, inputs, people.loc[asked.id]) >= threshold
    return {
        "found": len(found),
        "accepted": int((margins >= 0).sum()),
        "margin": float(margins.min()) if len(found) else None,
        "decided": int((own == (asked.status == "accepted").to_numpy()).sum()),
        "asked": len(asked),
        "difference": float(np.abs(probability - found.probability.astype(float)).max())
        if len(found)
        else None,
    }


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    test, answers, model, inputs = map(Path, sys.argv[1:5])
    print(json.dumps(check(test, answers, model, inputs, float(sys.argv[5])), indent=2))
