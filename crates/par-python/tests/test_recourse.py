"""The estimator: fitting, asking, keeping."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import QUICK, STEPS

from par_recourse import Recourse, draft_schema, errors


def found(lines):
    return [line for line in lines.to_pylist() if line["status"] == "found"]


def test_every_row_has_a_line_in_order(fitted, german):
    lines = fitted.recourse(german.X)
    assert lines.column("id").to_pylist() == german.X.column("id").to_pylist()
    assert set(lines.column("status").to_pylist()) == {"accepted", "found", "not_found"}
    assert lines.column_names[:21] == [
        "id", "rank", "status", "reason", "probability", "log_likelihood", "conditional_log_likelihood", "percentile",
        "changes", "effort", "months", "has_margin", "accepting", "certified", "similarity", "method", "solves", "optimal", "gap", "best_at", "warning",
    ]  # fmt: skip
    assert lines.column_names[21:] == list(fitted.feature_names_in_)


def test_effort_time_margin_and_harm_are_options(fitted, german):
    rows = german.X.slice(0, 200)
    usual = fitted.recourse(rows).to_pandas().query("status == 'found'").set_index("id")
    assert (usual["effort"] > 0).all() and usual["months"].max() > 1 and usual["has_margin"].any()
    assert set(usual["solves"]) <= {"least_effort", "likeliest"}

    soon = fitted.recourse(rows, within="1 month", max_effort=5).to_pandas().query("status == 'found'")
    assert len(soon) > 0 and (soon["months"] <= 1).all() and (soon["effort"] <= 5).all()

    sure = fitted.recourse(rows, margin=0.2).to_pandas().query("has_margin == True")
    assert len(sure) > 0 and (sure["probability"] >= fitted.threshold_ + 0.2).all()

    guarantor = "Other debtors / guarantors"

    def found_by(weight):
        lines = fitted.recourse(rows, effort={guarantor: weight}).to_pandas()
        return int((lines.query("status == 'found'")[guarantor] != "A101").sum())

    assert found_by(0.1) > found_by("hard") >= found_by(100.0) and found_by("hard") == found_by(4)
    assert fitted.recourse(rows, no_harm=True).num_rows == fitted.recourse(rows).num_rows


def test_nothing_rarer_than_the_floor_is_found(fitted, german):
    rows = german.X.slice(0, 200)
    usual = fitted.recourse(rows, budget=1).to_pandas().query("status != 'accepted'")
    common = fitted.recourse(rows, budget=1, min_percentile=0.8).to_pandas().query("status != 'accepted'")
    assert (common["percentile"].dropna() >= 0.8).all() and (usual["percentile"].dropna() >= 0.01).all()
    assert 0 < (common["status"] == "found").sum() < (usual["status"] == "found").sum()
    assert common["reason"].dropna().str.startswith("only_unusual").any()
    both = usual.query("status == 'found'")
    assert (both["conditional_log_likelihood"] > both["log_likelihood"]).all()


def test_a_row_has_its_own_effort_time_and_margin(fitted, german):
    rows = german.X.slice(0, 100)
    told = fitted.recourse(rows, margin=0.1, max_effort=6.0, within="3 months", effort={"Duration": "hard"})
    own = rows
    for name, value in {"margin": 0.1, "max_effort": 6.0, "within": "3 months", "efforts": "Duration=hard"}.items():
        own = own.append_column(name, pa.array([value] * rows.num_rows))
    assert fitted.recourse(own).equals(told)
    wrong = rows.append_column("within", pa.array(["soon"] * rows.num_rows))
    lines = fitted.recourse(wrong)
    assert set(lines.column("status").to_pylist()) == {"error"}
    expected = "column `within`: expected a duration such as `6 months` or `1 year`, found `soon`"
    assert lines.column("reason")[0].as_py() == expected
    # What is unknown is not asked for.
    blank = rows.append_column("margin", pa.nulls(rows.num_rows, pa.float64()))
    assert fitted.recourse(blank).equals(fitted.recourse(rows))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 1}, "`margin` is 1.0, expected a number, at least 0 and below 1, or null"),
        ({"margin": float("nan")}, "`margin` is nan, expected a finite number"),
        ({"min_percentile": 2}, "`min_percentile` is 2.0, expected a number from 0 to 1, or null"),
        ({"max_effort": 0}, "`max_effort` is 0.0, expected a number above 0, or null"),
        ({"within": "soon"}, '`within` is "soon", expected a duration such as `6 months` or `1 year`, or null'),
        ({"effort": {"Duration": "awful"}}, '`effort/Duration` is "awful", expected easy, some, hard, very hard or a number above 0'),
        ({"effort": {"Duration": None}}, "`effort of `Duration`` is None, expected a number"),
        ({"effort": {"Durations": "hard"}}, "`effort/Durations` is `Durations`, expected the name of a feature, did you mean `Duration`?"),
    ],
)
def test_options_of_effort_and_time_are_checked(fitted, german, options, message):
    with pytest.raises(errors.SettingError) as refused:
        fitted.recourse(german.X.slice(0, 1), **options)
    assert str(refused.value) == message


def test_ways_are_accepted_and_keep_what_is_locked(fitted, german):
    lines = fitted.recourse(german.X, lock=["Age", "Duration"], method="exact")
    ways = lines.filter(pa.compute.equal(lines.column("status"), "found"))
    assert ways.num_rows > 100
    assert min(fitted.predict_proba(ways)[:, 1]) >= fitted.threshold_
    people = {row["id"]: row for row in german.X.to_pylist()}
    for way in ways.to_pylist():
        person = people[way["id"]]
        assert (way["Age"], way["Duration"]) == (person["Age"], person["Duration"])
        assert sum(way[name] != person[name] for name in fitted.feature_names_in_) == way["changes"]
    assert ways.column("log_likelihood").to_pylist() == pytest.approx(list(fitted.log_likelihood(ways)))


@pytest.mark.parametrize("method", ["refine", "exact"])
def test_limits_with_fractions_leave_whole_numbers_whole(fitted, german, method):
    X = german.X.to_pandas()
    name = "Number of existing credits at this bank"
    ways = fitted.recourse(X, method=method, count=2, limit={name: (0.5, 1.5)})
    ways = ways[ways["status"] == "found"]
    assert ways[fitted.feature_names_in_].notna().all(axis=None)
    own = X.set_index("id").loc[ways["id"], name].to_numpy()
    moved = ways[name].to_numpy()[ways[name].to_numpy() != own]
    assert ways[name].dtype == X[name].dtype and len(moved) > 0
    assert set(moved) == {1}


def test_columns_keep_their_types(fitted, german):
    lines = fitted.recourse(german.X.slice(0, 5))
    for name in fitted.feature_names_in_:
        assert lines.schema.field(name).type == german.X.schema.field(name).type, name


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "reader", "dicts", "columns"])
def test_answers_do_not_depend_on_the_kind_of_frame(fitted, german, kind):
    some = german.X.slice(0, 40)
    expected = fitted.recourse(some, count=2)
    made = {
        "pandas": some.to_pandas,
        "polars": lambda: pl.from_arrow(some),
        "pyarrow": lambda: some,
        "reader": some.to_reader,
        "dicts": some.to_pylist,
        "columns": some.to_pydict,
    }[kind]
    lines = fitted.recourse(made(), count=2)
    assert {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(kind, pa.Table) is type(lines)
    if kind == "pandas":
        assert lines["rank"].dtype == "Int64" and lines["Duration"].dtype == "int64"
        lines = pa.Table.from_pandas(lines, schema=expected.schema, preserve_index=False)
    elif kind == "polars":
        lines = lines.to_arrow().cast(expected.schema)
    assert lines.equals(expected)


def test_batches_of_any_size_give_the_same_bytes(fitted, german):
    whole = fitted.recourse(german.X)
    pieces = pa.Table.from_batches(german.X.to_batches(max_chunksize=37))
    assert fitted.recourse(pieces).combine_chunks().equals(whole.combine_chunks())


def test_a_pandas_index_names_the_rows(german):
    frame = german.X.to_pandas().drop(columns="id")
    frame.index = [f"person {row}" for row in range(len(frame))]
    schema = german.schema.replace('id = "id"', "")
    recourse = Recourse(schema, config=QUICK).fit(frame, german.y)
    lines = recourse.recourse(frame.iloc[5:8])
    assert list(lines["id"]) == ["person 5", "person 6", "person 7"]
    assert list(recourse.recourse(german.X.drop_columns(["id"]).slice(5, 2)).column("id").to_pylist()) == [0, 1]


def test_the_column_of_ids_comes_before_the_index(fitted, german):
    frame = german.X.to_pandas().head(4)
    expected = fitted.recourse(frame)
    for index in (pd.MultiIndex.from_product([["a", "b"], [1, 2]]), pd.Index([1, "a", None, 2.5], dtype=object)):
        pd.testing.assert_frame_equal(fitted.recourse(frame.set_axis(index, axis=0)), expected)


def test_columns_that_nobody_looks_at_may_hold_anything(fitted, german):
    frame = german.X.to_pandas().head(4)
    odd = frame.assign(note=[1, "a", None, 2.5], when=pd.Timestamp("2026-01-01"))
    pd.testing.assert_frame_equal(fitted.recourse(odd), fitted.recourse(frame))
    assert (fitted.predict(odd) == fitted.predict(frame)).all()


def test_rows_may_be_named_by_anything(fitted, german):
    times = pa.array(pd.date_range("2026-01-01", periods=5))
    table = german.X.slice(0, 5).drop_columns(["id"]).append_column("id", times)
    assert fitted.recourse(table).column("id").to_pylist() == times.to_pylist()
    named = german.X.slice(0, 5).append_column("name", pa.array(list("abcde")))
    assert fitted.recourse(named, id="name").column("id").to_pylist() == list("abcde")
    with pytest.raises(errors.SettingError, match="no column `nome` for `id`"):
        fitted.recourse(named, id="nome")


def test_numbers_beyond_whole_ones_do_not_turn_into_others():
    table = pa.table({"n": pa.array([*range(99), 2**64 - 1], pa.uint64()), "a": ["x", "y"] * 50})
    schema = {
        "label": {"column": "ok", "classes": ["0", "1"], "favourable": "1"},
        "feature": [{"name": "n", "kind": "discrete"}, {"name": "a", "kind": "nominal"}],
    }
    recourse = Recourse(schema, config=QUICK).fit(table, [int(n >= 50) for n in range(100)])
    assert recourse.recourse(table).column("n").to_pylist()[-1] in (None, 2**64 - 1)


def test_numbers_of_numpy_are_numbers(fitted, german):
    expected = fitted.recourse(german.X, count=2, budget=3, threshold=0.75, limit={"Duration": (6, 24)})
    limit = {"Duration": (np.int64(6), np.float32(24))}
    lines = fitted.recourse(german.X, count=np.int64(2), budget=np.int32(3), threshold=np.float32(0.75), limit=limit)
    assert lines.equals(expected)


def test_missing_values_travel_both_ways(german):
    schema = german.schema.replace('name = "Age"\n', 'name = "Age"\nmissing = true\n')
    frame = german.X.to_pandas()
    frame.loc[frame.index[::3], "Age"] = None
    recourse = Recourse(schema, config=QUICK).fit(frame, german.y)
    lines = recourse.recourse(frame)
    assert set(lines.loc[lines["Age"].isna(), "id"]) == set(frame.loc[frame["Age"].isna(), "id"])
    nan = pl.from_pandas(frame).with_columns(pl.col("Age").fill_null(float("nan")))
    assert recourse.recourse(nan)["status"].to_list() == lines["status"].to_list()


def test_a_bad_row_has_a_status_and_keeps_nobody_from_an_answer(fitted, german):
    frame = german.X.to_pandas().head(6)
    frame.loc[2, "Housing"] = "castle"
    lines = fitted.recourse(frame)
    assert len(lines) == 6 and lines.loc[2, "status"] == "error"
    assert "`castle`" in lines.loc[2, "reason"] and "Housing" in lines.loc[2, "reason"]
    assert (lines.drop(index=2)["status"] != "error").all()


def test_locks_of_each_row_come_in_a_column(fitted, german):
    denied = [line["id"] for line in found(fitted.recourse(german.X))][:5]
    frame = german.X.to_pandas().set_index("id", drop=False).loc[denied].assign(locks="Duration; Credit amount")
    lines = fitted.recourse(frame)
    assert (lines["Duration"].to_numpy() == frame["Duration"].to_numpy()).all()
    assert fitted.recourse(frame.assign(locks="Duratoin"))["reason"][0].count("Duration") == 1


def test_limits_bind_what_changes(fitted, german):
    guarantor = "Other debtors / guarantors"
    limit = {"Duration": (10, 20), "Credit amount": (None, 3000), guarantor: ["A103"], "Savings account/bonds": "A64"}
    lines = fitted.recourse(german.X, limit=limit)
    people = {row["id"]: row for row in german.X.to_pylist()}
    changed = {name: 0 for name in limit}
    for way in found(lines):
        moved = {name for name in limit if way[name] != people[way["id"]][name]}
        fits = {
            "Duration": 10 <= way["Duration"] <= 20,
            "Credit amount": way["Credit amount"] <= 3000,
            guarantor: way[guarantor] == "A103",
            "Savings account/bonds": way["Savings account/bonds"] == "A64",
        }
        assert all(fits[name] for name in moved)
        for name in moved:
            changed[name] += 1
    assert sum(count > 0 for count in changed.values()) >= 3, changed


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"Duratoin": (1, 2)}, "`Duratoin`"),
        ({"Duration": (20, 10)}, "no number from 20 to 10"),
        ({"Duration": (1, 2, 3)}, "either of which may be None"),
        ({"Housing": ["castle"]}, 'is "castle", expected one of "A151", "A152", "A153"'),
        ({"Housing": (1, 2)}, "`limit/Housing` is a range, expected a list of categories"),
        ({"Duration": [6, float("nan")]}, "nan"),
        ({"Duration": (float("inf"), 24)}, "a range is a tuple"),
        ({"Duration": (float("nan"), 24)}, "a range is a tuple"),
        ({"Duration": 6}, "a range is a tuple"),
    ],
)
def test_limits_that_are_none(fitted, german, limit, message):
    with pytest.raises(errors.SettingError, match=message):
        fitted.recourse(german.X, limit=limit)


def test_no_rows_have_no_answers(fitted, german):
    lines = fitted.recourse(german.X.slice(0, 0))
    assert lines.num_rows == 0 and lines.column_names[21:] == list(fitted.feature_names_in_)


def test_the_same_seed_gives_the_same_bytes(fitted, german):
    again = Recourse(german.schema, config=QUICK).fit(german.X.to_pandas(), german.y.to_pylist())
    assert again.model_.sha256 == fitted.model_.sha256
    other = Recourse(german.schema, config=QUICK, random_state=1).fit(german.X, german.y)
    assert other.model_.sha256 != fitted.model_.sha256


def test_a_model_is_saved_loaded_and_pickled(fitted, german, tmp_path):
    fitted.save(tmp_path / "german.par")
    expected = fitted.recourse(german.X.slice(0, 30))
    for other in (Recourse.load(tmp_path / "german.par"), pickle.loads(pickle.dumps(fitted))):
        assert other.recourse(german.X.slice(0, 30)).equals(expected)
        assert other.threshold_ == fitted.threshold_


def test_a_generator_is_made_anew_without_data(fitted, german):
    refitted = fitted.refit(["Age", "Duration"])
    people = {row["id"]: row for row in german.X.to_pylist()}
    for way in found(refitted.recourse(german.X)):
        assert way["Duration"] == people[way["id"]]["Duration"]


def test_settings_reach_the_fit(german):
    recourse = Recourse(
        german.schema, favourable="Bad", immutable=["Age"], threshold=0.4, density="decisions", bins=4, budget=2,
        price=0.5, config={"generator": {"steps": 5, "examples": 500}}, random_state=7,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="`foreign worker` may change"):
        config = json.loads(recourse.fit(german.X, german.y).model_.config)
    assert (config["seed"], config["favourable"], config["immutable"]) == (7, "Bad", ["Age"])
    assert (config["density"], config["bins"]["bins"], config["classifier"]["threshold"]) == ("decisions", 4, 0.4)
    assert (config["answers"]["budget"], config["answers"]["price"], config["generator"]["steps"]) == (2, 0.5, 5)
    assert recourse.threshold_ == 0.4


def test_a_file_of_settings_and_a_schema_file_are_read(german, tmp_path):
    (tmp_path / "settings.toml").write_text("[generator]\nsteps = 5\n")
    (tmp_path / "german.toml").write_text(german.schema)
    recourse = Recourse(tmp_path / "german.toml", config=tmp_path / "settings.toml").fit(german.X, german.y)
    assert json.loads(recourse.model_.config)["generator"]["steps"] == 5


def test_a_schema_can_be_a_dict():
    table = pa.table({"a": ["x", "y"] * 50, "n": list(range(100))})
    schema = {
        "label": {"column": "ok", "classes": ["0", "1"], "favourable": "1"},
        "feature": [{"name": "a", "kind": "nominal"}, {"name": "n", "kind": "discrete"}],
    }
    recourse = Recourse(schema, config=QUICK).fit(table, [int(n >= 50) for n in range(100)])
    assert list(recourse.feature_names_in_) == ["a", "n"]


def test_without_a_schema_one_is_drafted_with_a_warning(german):
    table = german.X.drop_columns(["id"])
    with pytest.warns(UserWarning, match="`Good` counts as accepted"):
        recourse = Recourse(config=QUICK).fit(table, pd.Series(german.y.to_pylist(), name="class"))
    assert recourse.n_features_in_ == 20
    assert 'column = "class"' in draft_schema(table, pd.Series(german.y.to_pylist(), name="class"))


def test_truth_values_are_spelled_as_the_schema_does():
    table = pa.table({"member": [True, False] * 60, "n": list(range(120))})
    for values in (["false", "true"], ["False", "True"], ["0", "1"]):
        schema = {
            "label": {"column": "ok", "classes": values, "favourable": values[1]},
            "feature": [{"name": "member", "kind": "nominal", "values": values}, {"name": "n", "kind": "discrete"}],
        }
        recourse = Recourse(schema, config=QUICK).fit(table, [n >= 60 for n in range(120)])
        lines = recourse.recourse(table)
        assert lines.schema.field("member").type == pa.bool_()
        assert "error" not in lines.column("status").to_pylist()


def test_categories_of_pandas_are_read(fitted, german):
    frame = german.X.to_pandas()
    text = frame.select_dtypes(exclude="number").columns
    expected = fitted.recourse(frame)
    lines = fitted.recourse(frame.astype({name: "category" for name in text}))
    assert all(lines[name].dtype == "category" for name in text)
    pd.testing.assert_frame_equal(lines.astype({name: "str" for name in text}), expected)


def test_progress_is_told_in_order(german):
    told = []
    Recourse(german.schema, config=QUICK, progress=lambda *step: told.append(step)).fit(german.X, german.y)
    stages = [stage for at, (stage, *_) in enumerate(told) if at == 0 or told[at - 1][0] != stage]
    assert stages == ["rows", "classifier", "circuits", "pool", "generator"]
    assert told[0] == ("rows", 1000, 1000) and told[-1][1:] == (STEPS, STEPS)


def test_a_listener_that_raises_stops_the_fit(german):
    def listener(stage, done, of):
        if stage == "circuits":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        Recourse(german.schema, progress=listener).fit(german.X, german.y)


class TestMessages:
    """Errors are exceptions with the messages of the library."""

    def test_an_absent_column(self, fitted, german):
        with pytest.raises(errors.DataError, match="X: .*`Age`"):
            fitted.recourse(german.X.drop_columns(["Age"]))

    def test_an_unknown_feature_to_lock(self, fitted, german):
        with pytest.raises(errors.SettingError, match="`Agee`.*`Age`"):
            fitted.recourse(german.X, lock="Agee")

    def test_an_unknown_method(self, fitted, german):
        with pytest.raises(errors.SettingError, match='`method` is "fast", expected one of "generate", "refine", "exact"'):
            fitted.recourse(german.X, method="fast")

    @pytest.mark.parametrize("value", [0, -1, 1.5, "2", True])
    def test_counts_that_are_none(self, fitted, german, value):
        with pytest.raises(errors.SettingError, match="at least 1"):
            fitted.recourse(german.X, count=value)

    def test_a_schema_that_contradicts_itself(self, german):
        with pytest.raises(errors.SchemaError, match="line"):
            Recourse(german.schema.replace("discrete", "odd")).fit(german.X, german.y)

    def test_a_setting_that_does_not_exist(self, german):
        with pytest.raises(errors.SettingError, match="stepz"):
            Recourse(german.schema, config={"generator": {"stepz": 3}}).fit(german.X, german.y)

    def test_a_label_of_another_class(self, german):
        with pytest.raises(errors.DataError, match="Ugly"):
            Recourse(german.schema).fit(german.X, ["Ugly", *german.y.to_pylist()[1:]])

    def test_a_label_of_another_length(self, german):
        with pytest.raises(errors.DataError, match="expected 1000 values"):
            Recourse(german.schema).fit(german.X, german.y.to_pylist()[1:])

    def test_no_rows_to_learn_from(self, german):
        with pytest.raises(errors.DataError, match="no rows"):
            Recourse(german.schema).fit(german.X.slice(0, 0), german.y.slice(0, 0))

    def test_a_file_that_is_no_model(self, tmp_path):
        with pytest.raises(errors.FileError):
            Recourse.load(tmp_path / "absent.par")
        (tmp_path / "text.par").write_text("not a model")
        with pytest.raises(errors.ModelError, match="not a model file"):
            Recourse.load(tmp_path / "text.par")

    def test_a_truncated_model(self, fitted, tmp_path):
        (tmp_path / "half.par").write_bytes(fitted.model_.to_bytes()[:1000])
        with pytest.raises(errors.ModelError, match="half.par"):
            Recourse.load(tmp_path / "half.par")

    def test_nothing_fitted_yet(self, german):
        with pytest.raises(errors.NotFittedError, match="fit"):
            Recourse().recourse(german.X)

    def test_something_that_is_no_table(self, fitted):
        with pytest.raises(errors.DataError, match="expected a table, found int"):
            fitted.recourse(3)

    def test_nested_columns(self, fitted, german):
        lists = pa.array([[1]] * 1000)
        assert fitted.recourse(german.X.append_column("list", lists)).equals(fitted.recourse(german.X))
        with pytest.raises(errors.DataError, match="`Age` is of type List"):
            fitted.recourse(german.X.drop_columns(["Age"]).append_column("Age", lists))

    def test_dates_are_no_cells(self, fitted, german):
        frame = german.X.to_pandas()
        dated = pd.Timestamp("2026-01-01")
        with pytest.raises(errors.DataError, match="column `Age` is of type Timestamp"):
            fitted.recourse(frame.assign(Age=dated))
        assert 'name = "opened"' not in draft_schema(frame.assign(opened=dated))

    def test_a_row_where_a_table_belongs(self, fitted, german):
        with pytest.raises(errors.DataError, match="`explain` takes a row"):
            fitted.recourse(german.X.to_pandas().iloc[0])

    def test_names_that_are_none(self, fitted, german):
        with pytest.raises(errors.SettingError, match="`lock` is 5, expected names"):
            fitted.recourse(german.X, lock=5)

    def test_two_columns_of_one_name(self, fitted, german):
        frame = german.X.to_pandas()
        with pytest.raises(errors.DataError, match="two columns are called `Age`"):
            fitted.recourse(pd.concat([frame, frame[["Age"]]], axis=1))
        with pytest.raises(errors.DataError, match="two columns are called `Age`"):
            fitted.recourse(german.X.append_column("Age", german.X.column("Age")))

    def test_all_of_them_are_one_kind(self):
        kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and not issubclass(kind, Warning)]
        assert len(kinds) > 5 and all(issubclass(kind, errors.ParError) for kind in kinds)
