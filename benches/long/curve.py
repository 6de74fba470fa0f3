"""How many rows a model needs: python curve.py TABLE SCHEMA LABEL FAVOURABLE HELD_OUT ROWS...

Learns from the first ROWS rows, and judges by the last HELD_OUT rows: the log-likelihood of those with the favourable
label under a circuit like that of `par fit` (of the raw table, so that bins do not matter), and the AUC of the
classifier. `par` must be on the path.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# The classifier alone is of interest: all else is as short as possible.
QUICK = "[circuits.em]\nmax_passes = 1\n[generator]\nsteps = 1\nexamples = 10\n[pool]\nsize = 20\n"


def par(*arguments):
    return subprocess.run(["par", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def auc(scores, accepted):
    """The share of pairs of an accepted and a denied row that the scores put in order."""
    ranked = sorted(zip(scores, accepted))
    below, pairs, start = 0, 0.0, 0
    while start < len(ranked):
        end = start
        while end < len(ranked) and ranked[end][0] == ranked[start][0]:
            end += 1
        tied = [is_accepted for _, is_accepted in ranked[start:end]]
        denied = tied.count(False)
        pairs += tied.count(True) * (below + denied / 2)
        below, start = below + denied, end
    return pairs / (below * (len(ranked) - below))


def main():
    table, schema, label, favourable, held_out, *sizes = sys.argv[1:]
    header, *lines = Path(table).read_text().splitlines(keepends=True)
    label_at = header.strip().split(",").index(label)
    with tempfile.TemporaryDirectory() as folder:
        part, test, model = (Path(folder) / name for name in ("part.csv", "test.csv", "model"))
        (Path(folder) / "quick.toml").write_text(QUICK)
        test_lines = lines[-int(held_out):]
        test.write_text(header + "".join(test_lines))
        accepted = [line.strip().split(",")[label_at] == favourable for line in test_lines]
        print("     rows  nats a row    AUC")
        for size in map(int, sizes):
            part.write_text(header + "".join(lines[:size]))
            where = ["--where", f"{label}={favourable}"]
            par("circuit", "fit", part, "--schema", schema, *where, "--learner", "hclt", "--states", 8,
                "--groups", 4, "--out", model)
            score = json.loads(par("circuit", "score", model, test, *where, "--json"))
            par("fit", part, "--schema", schema, "--config", Path(folder) / "quick.toml", "--sample", 0,
                "--out", model)
            people = par("recourse", model, test, "--method", "generate", "--format", "jsonl").splitlines()
            scores = [json.loads(person)["probability"] for person in people]
            likelihood = score["mean_raw_log_likelihood"]
            print(f"{size:9,}  {likelihood:10.4f}  {auc(scores, accepted):.4f}", flush=True)


main()
