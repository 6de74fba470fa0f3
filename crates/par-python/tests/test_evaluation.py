"""What an evaluation can be asked, and how answers report their progress."""

import pytest
from conftest import QUICK

from par_recourse import Recourse
from par_recourse.errors import DataError, SettingError


@pytest.fixture(scope="module")
def reported(fitted):
    """The same model, and what it reports."""
    reports = []
    other = Recourse._of(fitted.model_)
    other.progress = lambda *report: reports.append(report)
    return other, reports


def test_one_method_is_measured_on_request(fitted, german):
    X, y = german.X.slice(0, 80), german.y.slice(0, 80)
    every = fitted.evaluate(X, y).to_dict()
    assert [one["method"] for one in every["methods"]] == ["generate", "refine", "exact"]
    for place, method in enumerate(["generate", "refine", "exact"]):
        alone = fitted.evaluate(X, y, method=method).to_dict()
        assert [one["method"] for one in alone["methods"]] == [method]
        assert alone["denied"] == every["denied"] and alone["possible"] == every["denied"]
        for measure in ("validity", "nll", "effort", "sparsity", "optimal"):
            assert alone["methods"][0][measure] == every["methods"][place][measure]
    assert fitted.evaluate(X, method="refine").to_frame().column("gap").to_pylist() == [None]
    judged = fitted.evaluate(german.X, german.y, judge=True, method="refine").judge_frame()
    assert judged.column("method").to_pylist() == ["refine", "held out"]


def test_a_sample_is_drawn_by_the_seed(fitted, german):
    X, y = german.X.to_pandas(), german.y.to_pandas()
    small = fitted.evaluate(X, y, sample=40, method="refine")
    assert small.rows == 40 and small.denied < 40
    assert small.to_dict()["methods"][0]["effort"] == fitted.evaluate(X, y, sample=40, method="refine").to_dict()["methods"][0]["effort"]
    other = Recourse._of(fitted.model_).set_params(random_state=1)
    assert other.evaluate(X, y, sample=40, method="refine").accuracy != small.accuracy
    assert fitted.evaluate(X, sample=5000, method="generate").rows == 1000
    with pytest.raises(SettingError, match="`sample`"):
        fitted.evaluate(X, sample=0)
    with pytest.raises(DataError) as raised:
        fitted.evaluate(X, y.head(3), sample=2)
    assert str(raised.value) == "y: expected 1000 values, one for each row of X, found 3"


def test_a_deadline_is_one_of_a_request(fitted, german):
    assert fitted.evaluate(german.X.slice(0, 40), deadline="1s", method="exact").possible > 0
    with pytest.raises(SettingError, match="`deadline` is"):
        fitted.evaluate(german.X, deadline="soon")
    with pytest.raises(SettingError, match="`method` is"):
        fitted.evaluate(german.X, method="best")


def test_a_function_is_measured_by_one_method_too(german):
    def accepted(frame):
        return (frame["Duration"] < 20) * 0.8 + 0.1

    X, y = german.X.to_pandas(), german.y.to_pandas()
    recourse = Recourse(german.schema, classifier=accepted, config=QUICK).fit(X, y)
    reports = []
    recourse.progress = lambda *report: reports.append(report)
    evaluation = recourse.evaluate(X, y, method="refine", sample=100, deadline="1s")
    assert evaluation.rows == 100 and evaluation.verified and reports
    assert evaluation.to_frame()["method"].tolist() == ["refine"]
    assert 0 < evaluation.possible <= evaluation.denied


@pytest.mark.parametrize("ask", ["evaluate", "recourse", "ways"])
def test_answers_report_how_many_rows_are_done(reported, german, ask):
    other, reports = reported
    reports.clear()
    options = {} if ask == "evaluate" else {"method": "exact"}
    getattr(other, ask)(german.X.slice(0, 200), **options)
    assert {(stage, of) for stage, _, of in reports} == {("answers", 200)}
    assert len(reports) > 3 and max(done for _, done, _ in reports) == 200


def test_an_exception_of_a_listener_ends_the_work(fitted, german):
    def stop(*report):
        raise RuntimeError("enough")

    other = Recourse._of(fitted.model_).set_params(progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        other.recourse(german.X, method="exact")


def test_only_long_answers_have_a_bar(monkeypatch, capsys):
    from par_recourse import progress

    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "_in_notebook", lambda: False)
    report, end = progress.listener(True)
    report("answers", 10, 100)
    end()
    assert capsys.readouterr().err == ""
    now[0] = 2.0
    report("answers", 20, 100)
    end()
    assert capsys.readouterr().err == "\r\x1b[Kanswers 20 of 100\r\x1b[K"


def test_searches_that_a_deadline_cut_short_are_counted(fitted, german):
    evaluation = fitted.evaluate(german.X.slice(0, 200), method="exact", deadline="1ms")
    (method,) = evaluation.to_dict()["methods"]
    assert 0 <= method["search_ended"] <= evaluation.denied
    note = f"searches cut short at the deadline: {method['search_ended']} of exact"
    assert (note in str(evaluation)) == (method["search_ended"] > 0)
