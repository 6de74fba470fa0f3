"""Schemas as objects."""

import pickle
import warnings

import numpy as np
import pytest
from conftest import QUICK

from par_recourse import Recourse, Schema, errors


@pytest.fixture(scope="module")
def everything():
    """All that a schema can say, one call after the other."""
    return (
        Schema({})
        .table(name="loans", rows=1000, folds=5, missing_text=["", "?"])
        .columns(id="id")
        .label(column="class", classes=["no", "yes"], favourable="yes")
        .feature("Age", kind="discrete", unit="years", range=(0, 120), bounds=(18, 100), bins=10, missing=True, change="with-time")
        .feature("Sex", kind="nominal", values=["f", "m"], labels={"f": "female", "m": "male"}, change="never")
        .feature("Housing", kind="nominal", values=["rent", "own", "with family"], change="free", effort="very hard")
        .feature("Housing", transitions={"rent": ["own"], "own": []}, forbid={"with family": ["own"]}, takes="1 year")
        .feature("Income", kind="continuous", unit="DM", range=(0, float("inf")), change="increase", improves="increase")
        .feature("Income", step={"up": 1000, "at_least": 50, "grid": 10}, effort="hard", per=500, takes="6 months per 500")
        .feature("Debt", kind="continuous", range=(-9, float("inf")), special=[-9, -8], transitions={"-9": "leave"}, change="decrease")
        .feature("Amount", kind="continuous", change="free", who="lender", note="as asked for")
        .feature("Duration", kind="discrete", unit="months", change="free", allowed=[12, 24, 36], who="lender")
        .feature("Employment", kind="ordinal", values=["none", "part", "full"], change="increase", step={"up": 1})
        .feature("Age band", kind="ordinal", values=["young", "middle", "old"])
        .feature(["Debt to income", "Sum", "Product", "Difference"], kind="continuous")
        .at_most("Debt", "Amount")
        .ratio("Debt", "Income", gives="Debt to income")
        .sum("Debt", "Amount", gives="Sum")
        .product("Debt", "Amount", gives="Product")
        .difference("Income", "Debt", gives="Difference")
        .lookup("Age", [("..24", "young"), ("25..59", "middle"), ("60..", "old")], gives="Age band")
        .when({"Housing": "own", "Income": "2000.."}, then={"Debt": "0..5000"})
        .together("Amount", "Duration")
        .at_most_changes(1, of=["Housing", "Employment"])
        .if_increases("Income", must_increase="Employment")
        .accept({"Employment": ["part", "full"], "Age": "18.."}, because="of age, and employed")
        .accept({"Housing": "own|rent"}, when={"Amount": "10000.."})
    )


def test_everything_can_be_said(everything):
    assert everything.check() is everything
    assert len(everything.relations) == 10 and len(everything.policies) == 2
    assert everything.policies[0] == "accepted only if Age is 18 or more and Employment is part or full (of age, and employed)"
    assert everything["Income"]["step"] == {"up": 1000, "at_least": 50, "grid": 10}
    assert everything["Sum"] == {"name": "Sum", "kind": "continuous", "change": "follows"}
    assert everything.undecided == []


def test_toml_goes_both_ways(everything, german, tmp_path):
    again = Schema.from_toml(everything.to_toml())
    assert again.to_toml() == everything.to_toml() and again["Income"]["range"] == [0, float("inf")]
    assert again.check().relations == everything.relations
    everything.save(tmp_path / "loans.toml")
    assert Schema.read(tmp_path / "loans.toml") == again
    assert pickle.loads(pickle.dumps(again)) == again
    embedded = Schema.from_toml(german.schema)
    assert embedded.to_toml() == german.schema
    rewritten = embedded.feature("Age", note="old").feature("Age", note=None)
    assert rewritten.to_toml() != german.schema and rewritten.to_dict() == embedded.to_dict()
    assert rewritten.check().relations == embedded.relations


def test_text_is_escaped():
    odd = 'a "b" \\ c\n\u00e4 = #'
    schema = Schema({}).feature(odd, kind="nominal", values=["\t", "'", '"""'], labels={"\t": "tab"}, change="free")
    assert Schema.from_toml(schema.to_toml()).to_dict() == schema.to_dict()


def test_keys_are_spelled_like_the_values_that_they_name():
    for value, name in ((True, "true"), (2.0, "2"), (np.float64(3), "3"), (4, "4")):
        schema = Schema({}).feature("a", kind="nominal", values=[value, "x"], labels={value: "label"}, change="free")
        assert f'labels = {{ {name} = "label" }}' in schema.check().to_toml()


def test_a_set_has_no_order_to_write():
    with pytest.raises(errors.SettingError, match="cannot be written as TOML, expected text"):
        Schema({}).feature("a", kind="nominal", values={"x", "y"}, change="free").to_toml()


def test_a_schema_does_not_change(everything):
    before = everything.to_toml()
    everything.feature("Age", change="never").drop("Sex").without_relations().without_policies().label(at_least=3)
    everything["Income"]["step"]["up"] = 3
    everything.to_dict()["feature"].clear()
    assert everything.to_toml() == before


def test_a_draft_is_corrected(german):
    X, y = german.X.to_pandas(), german.y.to_pandas()
    draft = Schema.draft(X, y, favourable="Good")
    assert "Job" in draft.undecided and draft["Age"]["change"] == "with-time" and draft.check()
    assert Schema.draft(X, y, favourable="Bad").to_dict()["label"]["favourable"] == "Bad"
    schema = draft.feature("Job", change="never").feature("Telephone", effort="hard")
    assert "Job" not in schema.undecided and schema["Telephone"]["effort"] == "hard"
    assert 'change = "free"  # ' in schema.to_toml() and "# change: nothing in its name" in schema.to_toml()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recourse = Recourse(schema, config=QUICK).fit(X, y)
    assert set(recourse.ways(X.head(100)).changes()["feature"]).isdisjoint(schema.undecided)
    number = Schema.draft(X.drop(columns="Age"), X["Age"], at_least=30)
    assert number.to_dict()["label"] == {"column": "Age", "at_least": 30}
    assert "at_most" in number.label(at_most=20).to_dict()["label"] and "classes" not in number.label(at_most=20).to_dict()["label"]


def test_the_reader_of_toml_refuses_contradictions():
    schema = Schema({}).feature("age", kind="discrete", change="with-time")
    with pytest.raises(errors.SchemaError, match="feature `age`"):
        schema.check()
    schema.feature("age", unit="years").check()
    with pytest.raises(errors.SchemaError, match="schema, line 1: not TOML"):
        Schema.from_toml("version = ")
    with pytest.raises(errors.SchemaError):
        Recourse(schema).fit([{"age": 3}])


def test_slips_are_told_at_once(everything):
    with pytest.raises(errors.SettingError, match="no feature `Incme`\nhint: did you mean `Income`?"):
        everything.feature("Incme", change="free")
    with pytest.raises(errors.SettingError, match="feature: there is no key `efort`.*\nhint: did you mean `effort`?"):
        everything.feature("Income", efort="easy")
    with pytest.raises(errors.SettingError, match="expected one of `favourable`, `at_least` and `at_most`"):
        Schema.draft([{"a": 1}], [1], at_least=3, at_most=4)
    with pytest.raises(errors.SettingError, match="schema: is 3, expected a Schema"):
        Recourse(3).fit([{"a": 1}])


def test_version_1_is_upgraded_when_it_is_changed():
    first = Schema.from_toml('[[feature]]\nname = "age"\nkind = "discrete"\nimmutable = true\n')
    assert first.undecided == [] and "never" in repr(first)
    assert first.feature("age", unit="years").to_dict() == {
        "version": 2,
        "feature": [{"name": "age", "kind": "discrete", "unit": "years", "change": "never"}],
    }


def test_it_shows_what_is_undecided(german):
    draft = Schema.draft(german.X, german.y, favourable="Good").feature("Purpose", note="<b>")
    text = repr(draft).splitlines()
    assert text[0] == "Schema: 20 features, label `label`: Good is wanted, 7 undecided"
    assert text[1].split() == ["feature", "kind", "change", "more"] and len(text) == 22
    html = draft._repr_html_()
    assert html.count("background") == 7 and "&lt;b&gt;" in html and "<b>" not in html
    assert repr(Recourse(draft)) == "Recourse(schema=Schema: 20 features, label `label`: Good is wanted, 7 undecided)"
