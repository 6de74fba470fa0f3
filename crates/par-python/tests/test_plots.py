"""Plots, and the data behind them."""

import sys
from xml.etree import ElementTree

import pandas as pd
import polars as pl
import pytest

from par_recourse import plots
from par_recourse.errors import DataError, SettingError

SVG = "{http://www.w3.org/2000/svg}"


def texts(plot):
    """All texts of a drawing."""
    return ["".join(text.itertext()) for text in ElementTree.fromstring(plot.svg.encode()).iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def X(german):
    return german.X.to_pandas()


@pytest.fixture(scope="module")
def ways(fitted, X):
    return fitted.ways(X, count=2)


@pytest.fixture(scope="module")
def explanation(fitted, X):
    denied = X[fitted.predict(X) == "Bad"].iloc[[0]]
    return fitted.explain(denied, count=3)


@pytest.fixture(scope="module")
def pareto(explanation):
    return plots.pareto(explanation)


def test_a_person_stands_among_those_whom_the_classifier_accepts(fitted, explanation, X):
    plot = plots.before_and_after(fitted, explanation, X, rank=2)
    way, accepted = explanation.ways[1], X[fitted.predict(X) == "Good"]
    assert set(plot.data["feature"]) == {change.feature for change in (*way.changes, *way.consequences)}
    for change in way.changes:
        lines = plot.data[plot.data["feature"] == change.feature].set_index("value")
        counts = accepted[change.feature].astype(str).value_counts()
        assert lines["people"][lines["people"] > 0].to_dict() == counts.to_dict()
        assert lines.index[lines["before"]].tolist() == [str(change.from_)]
        assert lines.index[lines["after"]].tolist() == [str(change.to)]
    assert f"{len(accepted)} accepted people" in texts(plot)


def test_categories_have_the_names_and_the_order_of_the_schema(fitted, german):
    row = {name: column[0] for name, column in german.X.slice(1, 1).to_pydict().items()}
    explanation = fitted.explain(row, lock=["Credit amount", "Duration"], count=5)
    savings = "Savings account/bonds"
    rank = next(way.rank for way in explanation.ways if any(change.feature == savings for change in way.changes))
    drawn = texts(plots.before_and_after(fitted, explanation, german.X, rank=rank))
    order = ["unknown or none", "below 100 DM", "100 to 499 DM", "500 to 999 DM", "1000 DM or more"]
    assert [text for text in drawn if text in order] == order


def test_nobody_to_compare_with_and_no_such_way_are_errors(fitted, explanation, X):
    with pytest.raises(DataError) as raised:
        plots.before_and_after(fitted, explanation, X[fitted.predict(X) == "Bad"])
    assert str(raised.value) == "X: nobody is accepted, so there is nobody to compare with"
    with pytest.raises(SettingError) as refused:
        plots.before_and_after(fitted, explanation, X, rank=4)
    assert str(refused.value) == (
        f"{explanation.id} has 3 ways, expected one with the rank 4\nhint: `explain(row, count=4)`, if there are as many"
    )


@pytest.mark.parametrize("gain", ["percentile", "probability"])
def test_the_best_ways_are_those_that_no_other_beats(explanation, gain):
    data = plots.pareto(explanation, gain).data
    assert data["rank"].dropna().tolist() == [1, 2, 3]
    for line in data.itertuples():
        others = data.drop(line.Index)
        own = getattr(line, gain)
        beaten = others[(others["effort"] <= line.effort) & (others[gain] >= own)]
        beaten = beaten[(beaten["effort"] != line.effort) | (beaten[gain] != own)]
        assert line.best == (len(beaten) == 0)


def test_a_pareto_set_needs_a_way_and_a_gain_that_exists(fitted, explanation, X):
    accepted = fitted.explain(X[fitted.predict(X) == "Good"].iloc[[0]])
    with pytest.raises(SettingError, match="has 0 ways, expected one with the rank 1"):
        plots.pareto(accepted)
    with pytest.raises(SettingError) as refused:
        plots.pareto(explanation, "beauty")
    assert str(refused.value) == "gain is 'beauty', expected 'percentile' or 'probability'"
    assert "accepted from here on" in texts(plots.pareto(explanation, "probability"))


def test_changes_are_counted_once_for_each_person(ways):
    plot, changes = plots.changes(ways), ways.changes()
    first = changes[(changes["rank"] == 1) & ~changes["follows"]]
    data = plot.data.set_index("feature")
    assert data["people"].to_dict() == first["feature"].value_counts().to_dict()
    assert (data[["rises", "falls", "other"]].sum(axis=1) == data["people"]).all()
    amounts = first[first["feature"] == "Credit amount"]
    assert data.loc["Credit amount", "falls"] == (amounts["to"] < amounts["from"]).sum() > 0
    people = (ways.frame["rank"] == 1).sum()
    assert data["share"].tolist() == pytest.approx((data["people"] / people).tolist())
    assert data.loc["Credit amount", "effort"] == pytest.approx(amounts["effort"].mean())
    assert plot.description == f"What {people} people with a way change"


def test_groups_count_the_denied_and_those_with_a_way(ways, X):
    data = plots.groups(ways, by="Housing").data.set_index("group")
    lines = ways.frame[ways.frame["rank"].isna() | (ways.frame["rank"] == 1)]
    housing = X["Housing"].to_numpy()
    for group, line in data.iterrows():
        own = lines[housing == group]
        denied = own[own["status"] != "accepted"]
        found = denied[denied["rank"] == 1]
        assert (line["people"], line["denied"], line["with_way"]) == (len(own), len(denied), len(found))
        assert line["share_low"] < line["share"] or line["share"] == 0
        assert line["effort"] == pytest.approx(found["effort"].astype(float).mean())
        assert line["effort_high"] - line["effort"] == pytest.approx(1.96 * found["effort"].astype(float).sem())
    same = plots.groups(ways, by=X["Housing"])
    pd.testing.assert_frame_equal(same.data.set_index("group"), data)
    assert f"A151 ({data.loc['A151', 'denied']:.0f} denied)" in texts(same)


def test_wilsons_interval_is_that_of_the_textbook():
    # Newcombe, Two-sided confidence intervals for the single proportion, 1998, table 1: 81 of 263, 15 of 148, 0 of 20.
    for (successes, of), ends in {(81, 263): (0.2553, 0.3662), (15, 148): (0.0624, 0.1605), (0, 20): (0.0, 0.1611)}.items():
        assert plots._wilson(successes, of) == pytest.approx(ends, abs=5e-5)
    assert plots._wilson(0, 0) == (None, None)


def test_a_group_that_is_none_says_so(ways):
    with pytest.raises(DataError) as raised:
        plots.groups(ways, by="Sex")
    assert str(raised.value).startswith("by: X has no column `Sex`, expected one of id, Status of existing checking account")
    with pytest.raises(DataError) as raised:
        plots.groups(ways, by=["a", "b"])
    assert str(raised.value) == "by: expected 1000 values, one for each row of X, found 2"


def test_data_are_frames_of_the_kind_that_the_people_came_in(fitted, german):
    frame = pl.from_arrow(german.X)
    assert isinstance(plots.changes(fitted.ways(frame)).data, pl.DataFrame)
    assert plots.groups(fitted.ways(german.X), by="Housing").data.column_names[:2] == ["group", "people"]
    explanation = fitted.explain(frame[1])
    assert isinstance(plots.pareto(explanation).data, pl.DataFrame)
    assert isinstance(explanation.plot().data, pl.DataFrame)
    assert explanation.plot().data["changes"].to_list() == [point.changes for point in explanation.frontier]


def test_the_same_people_have_the_same_drawing(fitted, X, ways):
    assert plots.changes(fitted.ways(X)).svg == plots.changes(ways).svg


def test_notebooks_show_a_drawing_with_its_description(pareto):
    assert pareto._repr_svg_() == pareto.svg
    assert pareto._repr_html_().startswith('<img alt="What the ways of 1 cost and give" src="data:image/svg+xml;base64,')
    assert repr(pareto) == "<Plot: What the ways of 1 cost and give>"


def test_a_drawing_is_saved_as_its_ending_says(pareto, tmp_path):
    pareto.save(tmp_path / "plot.SVG")
    assert (tmp_path / "plot.SVG").read_text(encoding="utf-8") == pareto.svg
    pareto.save(str(tmp_path / "plot.png"))
    written = (tmp_path / "plot.png").read_bytes()
    width = int(ElementTree.fromstring(pareto.svg.encode()).get("width"))
    assert written.startswith(b"\x89PNG") and int.from_bytes(written[16:20], "big") == 2 * width
    assert int.from_bytes(pareto.png(scale=1)[16:20], "big") == width
    for name, found in {"plot.pdf": "ends in `.pdf`", "plot": "has no ending"}.items():
        with pytest.raises(SettingError) as refused:
            pareto.save(tmp_path / name)
        assert str(refused.value) == f"{tmp_path / name}: {found}, expected `.svg` or `.png`"
        assert not (tmp_path / name).exists()


def test_a_png_without_its_texts_or_its_maker_is_none(pareto, monkeypatch, tmp_path):
    class WithoutFonts:
        @staticmethod
        def svg_to_bytes(svg_string, zoom):
            return b"no text"

    monkeypatch.setitem(sys.modules, "resvg_py", WithoutFonts)
    with pytest.raises(SettingError) as refused:
        pareto.save(tmp_path / "plot.png")
    assert str(refused.value) == (
        "PNG: this machine has no fonts, so that all texts would be missing\n"
        "hint: install one, such as DejaVu, or save as `.svg`"
    )
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ImportError) as absent:
        pareto.png()
    assert str(absent.value) == (
        "PNG needs resvg-py, which is not installed\nhint: `pip install par-recourse[png]`, or save as `.svg`"
    )
    assert not (tmp_path / "plot.png").exists()
