"""The harness in `benches/peers` that asks other packages, with stand-ins for the packages."""

import csv
import gzip
import importlib
import json
import sys
import time
from pathlib import Path

import pytest

PEERS = Path(__file__).resolve().parents[3] / "benches" / "peers"
NUMBERS = ["Duration", "Credit amount", "Age"]


@pytest.fixture
def harness(monkeypatch):
    """The program, and its methods."""
    monkeypatch.syspath_prepend(str(PEERS))
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    for name in ("run", "methods", "questions"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("run"), importlib.import_module("methods")


@pytest.fixture
def folder(fitted, german, tmp_path):
    """A fold as `par-bench export` writes it, with three denied people."""
    X, y = german.X.to_pandas(), german.y.to_pandas()
    names = [name for name in X if name != "id"]
    accepted = (fitted.predict_proba(german.X)[:, 1] >= 0.5).astype(int)
    fold = tmp_path / "questions" / "german" / "0"
    fold.mkdir(parents=True)
    fitted.save(str(fold / "model.par"))
    X[names].assign(label=y, accepted=accepted).to_csv(fold / "training.csv", index=False)
    X[accepted == 0].iloc[:3][["id", *names]].to_csv(fold / "people.csv", index=False)
    features = [
        {
            "name": name,
            "kind": "continuous" if name in NUMBERS else "nominal",
            "change": "never" if name == "Age" else "free",
        }
        for name in names
    ]
    columns = {"label": "label", "favourable": ["Good"], "accepted": "accepted", "id": "id"}
    asked = {"case": "german", "fold": "0", "threshold": 0.5, **columns, "features": features}
    (fold / "questions.json").write_text(json.dumps(asked))
    return fold


def lines(path):
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_classifier_decides_as_the_model_does(harness, folder):
    asked = importlib.import_module("questions").Questions.read(folder)
    assert (asked.classifier.predict(asked.training) == asked.accepted).all()
    assert not asked.classifier.predict(asked.people).any()
    assert "Age" not in asked.free and "Duration" in asked.free and asked.classifier.seconds > 0
    strict = type(asked.classifier)(folder / "model.par", asked.names, 0.9)
    own = asked.classifier.predict_proba(asked.training)[:, 1]
    assert (strict.predict(asked.training) == (own >= 0.9)).all()


def test_answers_failures_and_timeouts_are_lines(harness, folder, tmp_path, monkeypatch, capsys):
    run, methods = harness

    def ready(asked, limit):
        first, second, third = asked.people.index

        def answer(row):
            if row.index[0] == second:
                raise ValueError("cannot")
            if row.index[0] == third:
                try:
                    time.sleep(5)
                except Exception:  # As packages do.
                    pytest.fail("the alarm was caught")
            return row.iloc[0].mask(row.columns == "Duration", 12.0)

        return answer

    monkeypatch.setitem(methods.METHODS, "mine", methods.Method("mine", "pandas", ready))
    places = [str(tmp_path / "questions"), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["run", *places, "--methods", "mine", "--limit", "0.3"])
    run.main()
    printed = capsys.readouterr()
    assert "german 0 mine (pandas" in printed.out and "1 of 3 answered" in printed.out
    assert "ValueError: cannot" in printed.err and "no answer within 0.3 s" in printed.err
    found, failed, late = lines(tmp_path / "out" / "german.csv.gz")
    people = {row["id"]: row for row in csv.DictReader(open(folder / "people.csv", encoding="utf-8"))}
    own = people[found["id"]]
    assert [line["k"] for line in (found, failed, late)] == ["0", "-1", "-1"]
    assert list(found)[:5] == ["method", "fold", "id", "k", "time_s"]
    assert found["Duration"] == "12" and {name: found[name] for name in own if name != "Duration"} == {
        name: cell for name, cell in own.items() if name != "Duration"
    }
    assert all(failed[name] == "" for name in own if name != "id") and 0.2 < float(late["time_s"]) < 2
    before = (tmp_path / "out" / "german.csv.gz").read_bytes()
    run.main()
    assert (tmp_path / "out" / "german.csv.gz").read_bytes() == before, "a fold that was answered is not asked again"


def test_a_method_that_is_unknown_and_a_folder_without_questions_are_refused(harness, tmp_path, monkeypatch, capsys):
    run, _ = harness
    for arguments, message in [
        (["--methods", "nicer"], "there is no method `nicer`, expected some of dice-random"),
        ([], "there is no CASE/FOLD/questions.json"),
    ]:
        monkeypatch.setattr(sys, "argv", ["run", str(tmp_path), *arguments])
        with pytest.raises(SystemExit):
            run.main()
        assert message in capsys.readouterr().err
