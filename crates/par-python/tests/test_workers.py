"""What the engines share, without any engine."""

import pickle

import engine_rows
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import QUICK

from par_recourse import Recourse, _workers, datasets, errors
from par_recourse._request import Request


def planned(source, table, id=None, **asked):
    types = lambda columns: table.select(columns).schema  # noqa: E731
    return _workers.plan(source, table.column_names, types, Request(**asked), id=id, dumps=pickle.dumps)


def answered(job, parcel, table):
    lines, before = [], 0
    for batch in table.select(job.columns).to_batches(max_chunksize=300):
        lines += job.answer(batch, before, lambda: parcel)
        before += batch.num_rows
    return pa.Table.from_batches(lines, job.lines)


@pytest.mark.parametrize("named", [False, True])
def test_batches_have_the_lines_of_the_table(named):
    table = engine_rows.rows(named=named)
    job, parcel = planned(engine_rows.fitted(), table, **engine_rows.REQUEST, id="application" if named else None)
    assert job.numbered is not named
    assert "of no interest" not in job.columns
    lines = answered(job, parcel, table)
    assert engine_rows.same_bytes(lines, engine_rows.expected(named=named))
    assert set(lines.column("status").to_pylist()) == {"accepted", "found", "not_found", "error"}
    assert lines.column("status").to_pylist().count("error") == 1
    assert 2 in lines.column("rank").to_pylist()


def test_a_large_batch_is_given_on_in_parts(monkeypatch):
    monkeypatch.setattr(_workers, "ROWS_HELD", 64)
    table = engine_rows.rows(named=False).slice(0, 200)
    job, parcel = planned(engine_rows.fitted(), table)
    [batch] = table.select(job.columns).combine_chunks().to_batches()
    lines = list(job.answer(batch, 1000, lambda: parcel))
    assert len(lines) == 4
    assert pc.unique(pa.Table.from_batches(lines).column("id")).to_pylist() == list(range(1000, 1200))


def test_a_process_opens_a_parcel_once_and_keeps_only_a_few(monkeypatch):
    monkeypatch.setattr(_workers, "_held", type(_workers._held)())
    fetched = []

    def opened(name):
        return _workers._open(name, lambda: fetched.append(name) or pickle.dumps(name))

    assert [opened(name) for name in ["a", "a", "b", "c", "d", "a", "e", "a"]] == list("aabcdaea")
    assert fetched == ["a", "b", "c", "d", "e"]
    assert opened("b") == "b" and fetched[-1] == "b"
    assert len(_workers._held) == _workers.HELD_AT_ONCE


def test_a_model_is_a_file_or_what_was_fitted_or_its_model(tmp_path):
    fitted = engine_rows.fitted()
    fitted.save(tmp_path / "credit.par")
    table = engine_rows.rows(named=False)
    sources = [fitted, fitted.model_, tmp_path / "credit.par", str(tmp_path / "credit.par")]
    assert len({planned(source, table)[0].parcel for source in sources}) == 1
    with pytest.raises(errors.SettingError) as error:
        planned(7, table)
    assert str(error.value) == "model: expected a file, a fitted Recourse or its `model_`, found int"
    with pytest.raises(errors.NotFittedError):
        planned(Recourse(), table)


def test_what_is_wrong_with_columns_is_told_before_anything_runs():
    table = engine_rows.rows(named=True)
    renamed = table.rename_columns(["Agee" if name == "Age" else name for name in table.column_names])
    with pytest.raises(errors.DataError) as error:
        planned(engine_rows.fitted(), renamed)
    with pytest.raises(errors.DataError) as local:
        engine_rows.fitted().recourse(renamed)
    assert str(error.value) == str(local.value)
    assert "did you mean `Agee`?" in str(error.value)

    dated = table.drop_columns("Age").append_column("Age", pa.nulls(table.num_rows, pa.date32()))
    with pytest.raises(errors.DataError) as error:
        planned(engine_rows.fitted(), dated)
    assert str(error.value) == (
        "X: column `Age` is of type Date32, expected text, numbers or booleans\n"
        "hint: pass a number instead, such as the years or days since then"
    )

    twice = pa.Table.from_arrays([*table.columns, table.column("Age")], [*table.column_names, "Age"])
    with pytest.raises(errors.DataError, match="`Age`"):
        planned(engine_rows.fitted(), twice)
    with pytest.raises(errors.SettingError, match="nobody"):
        planned(engine_rows.fitted(), table, id="nobody")
    with pytest.raises(errors.SettingError, match="`count`"):
        planned(engine_rows.fitted(), table, count=0)


def test_lines_are_of_the_types_that_were_promised_whatever_a_batch_holds():
    table = engine_rows.rows(named=False).select([*engine_rows.fitted().feature_names_in_])
    job, parcel = planned(engine_rows.fitted(), table)
    duration = table.column_names.index("Duration")
    other = table.set_column(duration, "Duration", table.column("Duration").cast(pa.float64()))
    assert engine_rows.same_bytes(answered(job, parcel, other), answered(job, parcel, table))

    text = pa.array(["long"] * table.num_rows)
    with pytest.raises(errors.DataError, match="the types of columns are not the same everywhere"):
        answered(job, parcel, table.set_column(duration, "Duration", text))


def short(applicants):
    """Whom a bank that only looks at the duration accepts."""
    return [0.9 if months < 30 else 0.1 for months in applicants.column("Duration").to_pylist()]


def test_a_classifier_that_has_to_be_asked_travels_too():
    german = datasets.german_credit()
    recourse = Recourse(german.schema, classifier=short, config=QUICK).fit(german.X, german.y)
    job, parcel = planned(recourse, german.X, count=2)
    lines = answered(job, parcel, german.X)
    assert engine_rows.same_bytes(lines, recourse.recourse(german.X, count=2))
    assert "found" in lines.column("status").to_pylist()
    assert pickle.loads(parcel).supplied.scores is None
    # The model alone does not know whom to ask.
    job, parcel = planned(recourse.model_, german.X)
    assert "unverified" in answered(job, parcel, german.X).column("status").to_pylist()

    there = Recourse(german.schema, classifier=lambda rows: short(rows), config=QUICK)
    with pytest.raises(errors.ClassifierError, match="the classifier cannot be sent to workers"):
        planned(there.fit(german.X, german.y), german.X)


def test_names_of_version_0_1_still_work_and_warn(fitted):
    with pytest.warns(DeprecationWarning, match="`bundle_` is called `model_`"):
        assert fitted.bundle_ is fitted.model_
    with pytest.warns(DeprecationWarning, match="`BundleError` is called `ModelError`"):
        assert errors.BundleError is errors.ModelError
    with pytest.warns(DeprecationWarning, match="`bundle` is called `model`"):
        assert _workers.one_source(None, fitted) is fitted
    with pytest.raises(TypeError, match="needs `model`"):
        _workers.one_source(None, None)
