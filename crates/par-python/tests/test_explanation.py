"""One person's answer, and how it shows."""

import pytest
from conftest import QUICK

from par_recourse import Recourse, errors


@pytest.fixture(scope="module")
def denied(fitted, german):
    return next(row for row in german.X.to_pylist() if fitted.explain(row).status == "found")


def test_a_person_is_told_what_to_change(fitted, denied):
    explanation = fitted.explain(denied, count=2)
    first, second = explanation.ways
    assert first.optimal and first.probability >= explanation.threshold > explanation.probability
    assert first.row != second.row and first.changes != second.changes
    change = first.changes[0]
    assert change.sentence.startswith(f"{change.feature}: ") and explanation.row[change.feature] == change.from_
    assert explanation.frontier[0].changes < explanation.frontier[-1].changes


def test_a_way_says_what_it_costs(fitted, denied):
    explanation = fitted.explain(denied, count=3)
    for way in explanation.ways:
        assert way.effort == pytest.approx(sum(change.effort for change in way.changes)) and way.effort > 0
        assert way.months == max(change.months for change in way.changes) and way.consequences == ()
        assert way.solves in ("least_effort", "likeliest") and way.has_margin
        assert not any(change.harm for change in way.changes)
        lenders = [change.feature for change in way.changes if change.counter_offer]
        assert set(lenders) <= {"Duration", "Credit amount"}
        assert f"effort {way.effort:.1f}" in explanation._repr_html_()
    first = explanation.ways[0]
    if len(first.changes) == 1:
        assert first.changes[0].alone == first.probability
    assert first.optimal and first.proof.startswith("proved: ") and first.difference is None
    assert [point.effort > 0 and point.months >= 0 for point in explanation.frontier]
    assert explanation.broken_policies == [] and explanation.if_known == []
    (short,) = fitted.explain(denied, within="1 month", effort={"Telephone": "easy"}, no_harm=True).ways
    assert short.months <= 1


def test_what_is_too_unusual_is_for_the_auditor(fitted, denied):
    asked = {"budget": 1, "min_percentile": 1.0, "method": "exact"}
    told = fitted.explain(denied, **asked)
    assert told.status == "not_found" and told.unusual is None and told.ways == []
    audited = fitted.explain(denied, **asked, auditor=True)
    assert audited.unusual is not None and all(way.percentile < 1 for way in audited.unusual)
    assert bool(audited.unusual) == (audited.reason == "only_unusual")


def test_policies_and_unknown_values_are_told(german):
    history = 'name = "Credit history"'
    schema = german.schema.replace(history, f"{history}\nmissing = true")
    schema += '[[accept]]\nrequire = { Telephone = "A192" }\nbecause = "registered by telephone"\n'
    recourse = Recourse(schema, config=QUICK).fit(german.X, german.y)
    without = [row for row in german.X.to_pylist() if row["Telephone"] == "A191"]
    told = recourse.explain(without[0])
    assert told.broken_policies == ["registered by telephone"]
    assert "not met: registered by telephone" in told._repr_html_()
    unknown = [recourse.explain({**row, "Credit history": None, "Telephone": "A192"}) for row in without[:60]]
    known = [sentence for explanation in unknown for sentence in explanation.if_known]
    assert known and all(sentence.startswith("`Credit history` is unknown: if it is ") for sentence in known)


def test_it_is_what_the_table_says(fitted, german, denied):
    row = german.X.slice(german.X.column("id").to_pylist().index(denied["id"]), 1)
    (line,) = fitted.recourse(row, method="exact").to_pylist()
    (way,) = fitted.explain(row).ways
    assert {name: line[name] for name in fitted.feature_names_in_} == way.row
    assert line["log_likelihood"] == way.log_likelihood


def test_rows_come_in_many_shapes(fitted, german, denied):
    frame = german.X.to_pandas()
    series = frame[frame["id"] == denied["id"]].iloc[0]
    expected = fitted.explain(denied).to_dict()
    assert fitted.explain(series).to_dict() == expected
    assert fitted.explain(series.to_frame().T).to_dict() == expected
    with pytest.raises(errors.DataError, match="expected one row, found 1000"):
        fitted.explain(frame)


def test_people_go_by_their_names(fitted, german):
    frame = german.X.to_pandas()
    named = frame.assign(name="Ann")
    assert fitted.explain(named.iloc[[3]], id="name").id == "Ann"
    assert fitted.explain(frame.iloc[[3]]).id == frame["id"][3]


def test_it_can_be_read_and_looked_at(fitted, denied):
    explanation = fitted.explain(denied)
    assert "a way, with" in str(explanation) and "proved: no other combination of values" in str(explanation)
    html = explanation._repr_html_()
    assert "<table" in html and "data:image/svg+xml;base64," in html and "<script" not in html
    assert explanation.plot().svg.startswith("<?xml") and "found, 1 way>" in repr(explanation)


def test_html_holds_no_markup_of_the_data():
    table = {"<b>job</b>": ["<i>cook</i>", "clerk"] * 60, "n": list(range(120))}
    schema = {
        "label": {"column": "ok", "classes": ["0", "1"], "favourable": "1"},
        "feature": [{"name": "<b>job</b>", "kind": "nominal"}, {"name": "n", "kind": "discrete"}],
    }
    labels = [int(row % 2 == 1) for row in range(120)]
    recourse = Recourse(schema, config=QUICK).fit(table, labels)
    explanation = recourse.explain({"<b>job</b>": "<i>cook</i>", "n": 3})
    assert explanation.status == "found"
    html = explanation._repr_html_()
    assert "<b>job" not in html and "<i>" not in html and "&lt;b&gt;job" in html


def test_someone_without_a_way_is_told_why(fitted, denied):
    explanation = fitted.explain(denied, lock=fitted.feature_names_in_)
    assert (explanation.status, explanation.reason) == ("not_found", "nothing_to_change")
    assert "unlock" in explanation.remedy and explanation.ways == [] and explanation.plot() is None
    assert "no way was found" in explanation._repr_html_()


def test_someone_accepted_has_nothing_to_change(fitted, german):
    accepted = next(row for row in german.X.to_pylist() if fitted.explain(row).status == "accepted")
    assert "nothing has to change" in fitted.explain(accepted)._repr_html_()


def test_a_cell_that_does_not_fit_is_an_error(fitted, denied):
    with pytest.raises(errors.DataError, match="castle"):
        fitted.explain({**denied, "Housing": "castle"})


def test_answers_are_measured(fitted, german):
    evaluation = fitted.evaluate(german.X.to_pandas(), german.y)
    frame = evaluation.to_frame()
    assert list(frame["method"]) == ["generate", "refine", "exact"]
    assert frame.loc[2, "validity"] > 0.98 and frame.loc[2, "optimal"] == 1.0
    assert evaluation.rows == 1000 and 0 < evaluation.possible <= evaluation.denied < 500
    assert 0.7 < evaluation.accuracy < 1
    assert list(frame["denied"]) == [evaluation.denied] * 3 and frame.loc[2, "answered"] == evaluation.possible
    assert "validity" in str(evaluation) and "<table>" in evaluation._repr_html_()
    assert f"accuracy {evaluation.accuracy:.3f}" in str(evaluation)


def test_held_out_people_judge_answers(fitted, german):
    X, y = german.X.slice(0, 400), german.y.slice(0, 400)
    evaluation = fitted.evaluate(X.to_pandas(), y, judge=True)
    judged = evaluation.judge_frame()
    assert list(judged["method"]) == ["generate", "refine", "exact", "held out"]
    assert list(judged.columns) == ["method", "distance", "outliers", "auc", "matched", "nll"]
    judge = evaluation.to_dict()["judge"]
    assert judge["labelled"] and 50 < judge["accepted"] <= 400 - evaluation.denied
    # Without labels the classifier alone says who is accepted.
    unlabelled = fitted.evaluate(X, judge=True).to_dict()["judge"]
    assert not unlabelled["labelled"] and unlabelled["accepted"] == 400 - evaluation.denied
    with pytest.raises(errors.DataError, match="held-out accepted rows cannot judge answers, expected at least 50"):
        fitted.evaluate(X.slice(0, 40), judge=True)
    with pytest.raises(errors.SettingError, match="the answers were not judged"):
        fitted.evaluate(X.slice(0, 5)).judge_frame()
