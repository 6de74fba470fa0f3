"""What an evaluation can be asked, and how answers report their progress."""

import pytest

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
