"""Trains classifiers on the raw columns of the benchmark tables, and exports them as ONNX.

    python train.py TABLES OUT [--table NAME]... [--fold N]... [--kind KIND]...

TABLES holds adult, credit and gmsc as NAME.csv.gz and NAME.toml, with a column `fold`. Into OUT/TABLE/FOLD go

    train.csv, test.csv            the rows outside the fold, and those in it
    mlp.onnx, gb.onnx, rf.onnx     a network, boosted trees, a forest; one input a column, texts and numbers
    inputs.toml                    how the columns become those inputs
    config.toml                    what `par fit` is asked; the schema is OUT/TABLE/schema.toml

A line is printed for each: how well it tells the classes of the rows in the fold apart, and how far
onnxruntime's probabilities are from scikit-learn's. Trees are trained for fold 0 unless told.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import onnxruntime
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from check import score
from tables import SETTINGS, Table

CLASSIFIERS = {
    "mlp": lambda: MLPClassifier((64, 32), early_stopping=True, random_state=0),
    "gb": lambda: GradientBoostingClassifier(n_estimators=100, max_depth=3, random_state=0),
    "rf": lambda: RandomForestClassifier(100, max_depth=12, min_samples_leaf=10, n_jobs=-1, random_state=0),
}


def pipeline(table: Table, kind: str):
    """Numbers, scaled for a network, and one-hot texts, then the classifier."""
    scaler = StandardScaler() if kind == "mlp" else "passthrough"
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [("numbers", scaler, table.numbers), ("texts", encoder, table.texts)]
    return make_pipeline(ColumnTransformer([part for part in parts if part[2]]), CLASSIFIERS[kind]())


def exported(model, table: Table):
    """The pipeline with one input a column, and probabilities as a tensor."""
    columns = table.numbers + table.texts
    types = [
        (name, (FloatTensorType if name in table.numbers else StringTensorType)([None, 1]))
        for name in columns
    ]
    return convert_sklearn(model, table.name, types, options={"zipmap": False})


def quoted(text: str) -> str:
    """A basic string of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def inputs(session: onnxruntime.InferenceSession, table: Table, accepted: int) -> str:
    """How the columns become the inputs of a graph: each has its own, in the same order."""
    lines = ["[output]", 'name = "probabilities"', f"accepted = {accepted}", 'scale = "probability"']
    for tensor, feature in zip(session.get_inputs(), table.numbers + table.texts, strict=True):
        form = "number" if feature in table.numbers else "text"
        lines += ["", "[[input]]", f"name = {quoted(tensor.name)}"]
        lines += [f'columns = [{{ feature = {quoted(feature)}, as = "{form}" }}]']
    return "\n".join(lines) + "\n"


def train(table: Table, fold: int, kind: str, folder: Path) -> None:
    """Trains one classifier, writes it, and prints how good it is."""
    training, test = table.split(fold)
    start = time.perf_counter()
    model = pipeline(table, kind).fit(table.features(training), training[table.label])
    seconds = time.perf_counter() - start
    accepted = list(model.classes_).index(table.favourable)

    file = folder / f"{kind}.onnx"
    file.write_bytes(exported(model, table).SerializeToString())
    session = onnxruntime.InferenceSession(file)
    (folder / "inputs.toml").write_text(inputs(session, table, accepted), encoding="utf-8")

    truth = (test[table.label] == table.favourable).to_numpy()
    probability = model.predict_proba(table.features(test))[:, accepted]
    difference = np.abs(probability - score(file, folder / "inputs.toml", test)).max()
    accuracy = ((probability >= table.threshold) == truth).mean()
    print(
        f"{table.name:8}{fold:5}  {kind:4}{accuracy:10.3f}{roc_auc_score(truth, probability):8.3f}"
        f"{(probability < table.threshold).mean():9.3f}{difference:12.1e}{file.stat().st_size:10}{seconds:9.1f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", type=Path, metavar="TABLES")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--table", action="append", choices=list(SETTINGS), help="only this table")
    parser.add_argument(
        "--fold", action="append", type=int, choices=range(5), help="only this fold, trees too"
    )
    parser.add_argument("--kind", action="append", choices=list(CLASSIFIERS), help="only this kind")
    told = parser.parse_args()

    print("table    fold  kind  accuracy     auc   denied  difference     bytes  seconds")
    for name in told.table or SETTINGS:
        table = Table.read(told.tables, name)
        for fold in told.fold or range(5):
            folder = told.out / name / str(fold)
            folder.mkdir(parents=True, exist_ok=True)
            training, test = table.split(fold)
            training.to_csv(folder / "train.csv", index=False)
            test.to_csv(folder / "test.csv", index=False)
            (folder.parent / "schema.toml").write_bytes((told.tables / f"{name}.toml").read_bytes())
            (folder / "config.toml").write_text(table.config(), encoding="utf-8")
            for kind in told.kind or CLASSIFIERS:
                if kind == "mlp" or fold == 0 or told.fold:
                    train(table, fold, kind, folder)


if __name__ == "__main__":
    main()
