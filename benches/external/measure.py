"""Measures recourse for classifiers that were trained elsewhere: fits, answers, and asks onnxruntime.

    python measure.py PAR FOLDER [--table NAME]... [--fold N]... [--kind KIND]... [--all]

PAR is the binary, FOLDER what train.py made. For each classifier: `par fit --classifier`, `par evaluate`,
`par recourse` by both searches, and check.py on what they write. Kind `own` is PAR's own classifier on the
same rows, for comparison; nothing else can judge its ways. MethodRun are the sampled rows of the test table, or
with --all every one of them.

Figures go to FOLDER/measures.json (with --all, measures-all.json), an object for each classifier and fold;
those that are there are not measured again. Then a table for each kind is printed, in Markdown: means over
folds, ± their standard deviation.
"""

import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path

from check import check
from tables import SETTINGS

KINDS = ["own", "mlp", "gb", "rf"]
SEARCHES = ["refine", "exact"]


def par(binary: Path, *arguments) -> dict:
    """Runs a command that prints JSON."""
    done = subprocess.run(
        [binary, *map(str, arguments), "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"par {' '.join(map(str, arguments))}\n{done.stderr}")
    return json.loads(done.stdout)


def measure(binary: Path, folder: Path, kind: str, sampled: list[str]) -> dict:
    """Everything about one classifier and fold."""
    model = folder / f"{kind}.par"
    given = (
        [] if kind == "own" else ["--classifier", folder / f"{kind}.onnx", "--inputs", folder / "inputs.toml"]
    )
    start = time.perf_counter()
    asked = ["--schema", folder.parent / "schema.toml", "--config", folder / "config.toml"]
    fitted = par(binary, "fit", folder / "train.csv", *asked, *given, "--out", model)
    figures = {"fit": time.perf_counter() - start}

    evaluated = par(binary, "evaluate", model, folder / "test.csv", *sampled)
    figures |= {key: evaluated[key] for key in ("rows", "denied", "possible")}
    methods = {method["method"]: method for method in evaluated["methods"]}
    for search in SEARCHES:
        measures = methods[search]
        means = ("validity", "nll", "sparsity", "similarity")
        figures[search] = {key: measures[key]["mean"] for key in means}
        figures[search]["proved"] = round((measures["optimal"]["mean"] or 0) * measures["optimal"]["over"])
        figures[search]["time_us"] = measures["time_us"]
        answers = folder / f"{kind}-{search}.csv"
        par(binary, "recourse", model, folder / "test.csv", "--method", search, "--out", answers, *sampled)
        if given:
            onnx, inputs = folder / f"{kind}.onnx", folder / "inputs.toml"
            figures[search]["check"] = check(folder / "test.csv", answers, onnx, inputs, fitted["threshold"])
    return figures


def spread(values: list[float | None], digits: int, factor: float = 1.0) -> str:
    """A mean, and the deviation if there are several."""
    known = [factor * value for value in values if value is not None]
    if not known:
        return "–"
    mean = f"{statistics.mean(known):.{digits}f}"
    return mean if len(known) == 1 else f"{mean} ± {statistics.stdev(known):.{digits}f}"


HEAD = "table, folds, denied, possible, search, validity %, onnxruntime, smallest margin, NLL, changes, "
HEAD += "similarity, proved, median time, fit"


def line(name: str, search: str, folds: list[dict]) -> list[str]:
    """The figures of a table and search over folds."""
    found = [fold[search] for fold in folds]
    checks = [figures["check"] for figures in found if "check" in figures]
    accepted, ways = sum(check["accepted"] for check in checks), sum(check["found"] for check in checks)
    margins = [check["margin"] for check in checks if check["margin"] is not None]
    mean = lambda key, digits, factor=1: spread([figures[key] for figures in found], digits, factor)
    return [
        name,
        str(len(folds)),
        str(sum(fold["denied"] for fold in folds)),
        str(sum(fold["possible"] for fold in folds)),
        search,
        mean("validity", 1, 100),
        f"{accepted} of {ways}" if checks else "–",
        f"{min(margins):.1e}" if margins else "–",
        mean("nll", 2),
        mean("sparsity", 2),
        mean("similarity", 2),
        str(sum(figures["proved"] for figures in found)),
        f"{mean('time_us', 0)} µs",
        f"{spread([fold['fit'] for fold in folds], 1)} s",
    ]


def table(kind: str, measured: dict[str, dict]) -> str:
    """The figures of a kind: a line for each table and search, and whether decisions are the same."""
    rows = [HEAD.split(", "), ["---"] * len(HEAD.split(", "))]
    checks = []
    for name in SETTINGS:
        folds = [measured[key] for fold in range(5) if (key := f"{name}/{fold}/{kind}") in measured]
        rows += [line(name, search, folds) for search in SEARCHES if folds]
        checks += [fold[search]["check"] for fold in folds for search in SEARCHES if "check" in fold[search]]
    text = f"### {kind}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows)
    if checks:
        decided, asked = sum(check["decided"] for check in checks), sum(check["asked"] for check in checks)
        difference = max(check["difference"] or 0 for check in checks)
        text += f"\n\nDecided alike: {decided} of {asked}. Probabilities differ by at most {difference:.1e}."
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("par", type=Path, metavar="PAR")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--table", action="append", choices=list(SETTINGS), help="only this table")
    parser.add_argument("--fold", action="append", type=int, choices=range(5), help="only this fold")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this kind")
    parser.add_argument("--all", action="store_true", help="ask every row of a fold, not the sample")
    told = parser.parse_args()

    file = told.folder / ("measures-all.json" if told.all else "measures.json")
    measured = json.loads(file.read_text()) if file.exists() else {}
    for name in told.table or SETTINGS:
        for fold in told.fold or range(5):
            for kind in told.kind or KINDS:
                folder = told.folder / name / str(fold)
                key = f"{name}/{fold}/{kind}"
                if (
                    key in measured
                    or not (folder / ("train.csv" if kind == "own" else f"{kind}.onnx")).exists()
                ):
                    continue
                sampled = [] if told.all else ["--where", "subtest=1"]
                measured[key] = measure(told.par, folder, kind, sampled)
                file.write_text(json.dumps(measured, indent=2))
                print(key, json.dumps(measured[key]), flush=True)
    for kind in KINDS:
        if any(key.endswith(f"/{kind}") for key in measured):
            print("\n" + table(kind, measured))


if __name__ == "__main__":
    main()
