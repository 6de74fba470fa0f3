"""Measures recourse for classifiers that were trained elsewhere: fits, answers, and asks onnxruntime.

    python measure.py PAR FOLDER [--table NAME]... [--fold N]... [--kind KIND]... [--all | --judge]

PAR is the binary, FOLDER what train.py made. For each classifier: `par fit --classifier`, `par evaluate`,
`par recourse` by both searches, and check.py on what they write. Kind `own` is PAR's own classifier on the
same rows, for comparison; nothing else can judge its ways. Asked are the sampled rows of the test table, or with
--all every one of them.

Figures go to FOLDER/measures.json (with --all, measures-all.json), an object for each classifier and fold;
those that are there are not measured again. Then a table for each kind is printed, in Markdown: means over
folds, ± their standard deviation.

With --judge held-out people judge the answers of refine instead (docs/judge.md): one model for each classifier and
fold is asked with each of ANSWERS about the same denied rows of the fold, at most PEOPLE of them drawn by a seed, and
judged by the accepted rows of the whole fold. Figures go to FOLDER/judged.json, and all kinds to one table.
"""

import argparse
import json
import statistics
import struct
import subprocess
import time
import zlib
from pathlib import Path

import pandas as pd

from check import check
from tables import SETTINGS

KINDS = ["own", "mlp", "gb", "rf"]
SEARCHES = ["refine", "exact"]

# What is judged, by name: settings of answers besides those of the table. None of them takes part in fitting.
ANSWERS = {
    "common": {"order": "likelihood", "values": "common"},
    "nearest": {"order": "likelihood", "values": "nearest"},
    "default order": {},
}
PEOPLE = 500

# Of single answers: median, mean and 99th percentile.
TIMES = ("time_us", "time_us_mean", "time_us_p99")


def par(binary: Path, *arguments) -> dict:
    """Runs a command that prints JSON."""
    done = subprocess.run(
        [binary, *map(str, arguments), "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"par {' '.join(map(str, arguments))}\n{done.stderr}")
    return json.loads(done.stdout)


def fit(binary: Path, folder: Path, kind: str, settings: Path, model: Path) -> dict:
    """Fits a model to the rows outside the fold, around the classifier of a kind."""
    given = (
        [] if kind == "own" else ["--classifier", folder / f"{kind}.onnx", "--inputs", folder / "inputs.toml"]
    )
    asked = ["--schema", folder.parent / "schema.toml", "--config", settings]
    return par(binary, "fit", folder / "train.csv", *asked, *given, "--out", model)


def measure(binary: Path, folder: Path, kind: str, sampled: list[str]) -> dict:
    """Everything about one classifier and fold."""
    model = folder / f"{kind}.par"
    start = time.perf_counter()
    fitted = fit(binary, folder, kind, folder / "config.toml", model)
    figures = {"fit": time.perf_counter() - start}

    evaluated = par(binary, "evaluate", model, folder / "test.csv", *sampled)
    figures |= {key: evaluated[key] for key in ("rows", "denied", "possible")}
    methods = {method["method"]: method for method in evaluated["methods"]}
    for search in SEARCHES:
        measures = methods[search]
        means = ("validity", "nll", "sparsity", "similarity")
        figures[search] = {key: measures[key]["mean"] for key in means}
        figures[search]["proved"] = round((measures["optimal"]["mean"] or 0) * measures["optimal"]["over"])
        figures[search] |= {key: measures[key] for key in TIMES}
        answers = folder / f"{kind}-{search}.csv"
        par(binary, "recourse", model, folder / "test.csv", "--method", search, "--out", answers, *sampled)
        if kind != "own":
            onnx, inputs = folder / f"{kind}.onnx", folder / "inputs.toml"
            figures[search]["check"] = check(folder / "test.csv", answers, onnx, inputs, fitted["threshold"])
    return figures


def denied(binary: Path, folder: Path, kind: str, model: Path) -> Path:
    """A table of denied rows of the fold: all, or as many as are asked. All models of a classifier deny the same."""
    answers, people = folder / f"{kind}-generate.csv", folder / f"{kind}-people.csv"
    par(binary, "recourse", model, folder / "test.csv", "--method", "generate", "--out", answers)
    status = pd.read_csv(answers, dtype=str, keep_default_na=False).drop_duplicates("id").set_index("id").status
    rows = pd.read_csv(folder / "test.csv", dtype=str, keep_default_na=False)
    rows = rows[~rows.id.map(status).isin(["accepted", "error"])]
    rows.sample(min(PEOPLE, len(rows)), random_state=0).sort_index().to_csv(people, index=False)
    return people


def answering(model: bytes, answers: dict) -> bytes:
    """A model file with other settings of answers: its first part, after 12 bytes and a length, is JSON, and its last 4
    bytes are a checksum."""
    (length,) = struct.unpack_from("<Q", model, 12)
    description = json.loads(model[20 : 20 + length])
    description["config"]["answers"] |= answers
    changed = json.dumps(description).encode()
    changed = model[:12] + struct.pack("<Q", len(changed)) + changed + model[20 + length : -4]
    return changed + struct.pack("<I", zlib.crc32(changed))


def judged(binary: Path, folder: Path, kind: str) -> dict:
    """What held-out people say of refine with each of ANSWERS, for one classifier and fold, and of themselves."""
    fitted, model = folder / f"{kind}.par", folder / f"{kind}-judged.par"
    fit(binary, folder, kind, folder / "config.toml", fitted)
    people = denied(binary, folder, kind, fitted)
    figures = {}
    for name, answers in ANSWERS.items():
        model.write_bytes(answering(fitted.read_bytes(), answers))
        evaluated = par(binary, "evaluate", model, people, f"--judge={folder / 'test.csv'}")
        (refine,) = (method for method in evaluated["methods"] if method["method"] == "refine")
        (judgement,) = (method for method in evaluated["judge"]["methods"] if method["method"] == "refine")
        means = ("validity", "actionability", "causality", "sparsity")
        figures[name] = {"people": evaluated["denied"]} | {key: refine[key] for key in TIMES}
        figures[name] |= {key: refine[key]["mean"] for key in means} | opinion(judgement)
    held_out = {"people": evaluated["judge"]["rows"]} | opinion(evaluated["judge"]["held_out"])
    return figures | {"held-out people": held_out}


def opinion(judgement: dict) -> dict:
    """The judge's figures that are shown."""
    return {key: judgement[key]["mean"] for key in ("distance", "outliers")} | {"auc": judgement["auc"]}


def spread(values: list[float | None], digits: int, factor: float = 1.0) -> str:
    """A mean, and the deviation if there are several."""
    known = [factor * value for value in values if value is not None]
    if not known:
        return "–"
    mean = f"{statistics.mean(known):.{digits}f}"
    return mean if len(known) == 1 else f"{mean} ± {statistics.stdev(known):.{digits}f}"


HEAD = "table, folds, denied, possible, search, validity %, onnxruntime, smallest margin, NLL, changes, "
HEAD += "similarity, proved, time, fit"


def line(name: str, search: str, folds: list[dict]) -> list[str]:
    """The figures of a table and search over folds."""
    found = [fold[search] for fold in folds]
    checks = [figures["check"] for figures in found if "check" in figures]
    accepted, ways = sum(check["accepted"] for check in checks), sum(check["found"] for check in checks)
    margins = [check["margin"] for check in checks if check["margin"] is not None]
    mean = lambda key, digits, factor=1: spread([figures.get(key) for figures in found], digits, factor)
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
        " / ".join(f"{mean(key, 0)}" for key in TIMES) + " µs",
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


JUDGED = "table, kind, values, folds, people, validity %, actionability %, causality %, changes, distance, "
JUDGED += "outliers %, auc, time"


def judged_line(name: str, kind: str, values: str, folds: list[dict]) -> list[str]:
    """What is said of a table, kind and setting over folds."""
    mean = lambda key, digits, factor=1: spread([fold[values].get(key) for fold in folds], digits, factor)
    return [
        name,
        kind,
        values,
        str(len(folds)),
        str(sum(fold[values]["people"] for fold in folds)),
        mean("validity", 1, 100),
        mean("actionability", 1, 100),
        mean("causality", 1, 100),
        mean("sparsity", 2),
        mean("distance", 3),
        mean("outliers", 1, 100),
        mean("auc", 3),
        " / ".join(f"{mean(key, 0)}" for key in TIMES) + " µs" if "time_us" in folds[0][values] else "–",
    ]


def judged_table(measured: dict[str, dict]) -> str:
    """What held-out people say: a line for each table, kind and setting, and one for the people themselves."""
    rows = [JUDGED.split(", "), ["---"] * len(JUDGED.split(", "))]
    for name in SETTINGS:
        for kind in KINDS:
            folds = [measured[key] for fold in range(5) if (key := f"{name}/{fold}/{kind}") in measured]
            rows += [judged_line(name, kind, values, folds) for values in folds[0]] if folds else []
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("par", type=Path, metavar="PAR")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--table", action="append", choices=list(SETTINGS), help="only this table")
    parser.add_argument("--fold", action="append", type=int, choices=range(5), help="only this fold")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this kind")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--all", action="store_true", help="ask every row of a fold, not the sample")
    either.add_argument("--judge", action="store_true", help="let held-out people judge the answers of refine")
    told = parser.parse_args()

    stem = "judged" if told.judge else "measures-all" if told.all else "measures"
    file = told.folder / f"{stem}.json"
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
                measured[key] = (
                    judged(told.par, folder, kind)
                    if told.judge
                    else measure(told.par, folder, kind, sampled)
                )
                file.write_text(json.dumps(measured, indent=2))
                print(key, json.dumps(measured[key]), flush=True)
    if told.judge:
        print("\n" + judged_table(measured))
        return
    for kind in KINDS:
        if any(key.endswith(f"/{kind}") for key in measured):
            print("\n" + table(kind, measured))


if __name__ == "__main__":
    main()
