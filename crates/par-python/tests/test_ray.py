"""Ray Data, on two processors of this machine."""

import os
import time
from pathlib import Path

import engine_rows
import pyarrow as pa
import pytest

import par_recourse
from par_recourse import errors

ray = engine_rows.engine("ray.data") and engine_rows.engine("ray")

from par_recourse.ray import recourse  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def cluster():
    package = str(Path(par_recourse.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=256 * 2**20,
        runtime_env={"env_vars": {"PYTHONPATH": path}},
        log_to_driver=False,
    )
    yield
    ray.shutdown()


@pytest.fixture
def in_order():
    options = ray.data.DataContext.get_current().execution_options
    options.preserve_order = True
    yield
    options.preserve_order = False


def collected(ds):
    return pa.concat_tables(ray.get(ds.to_arrow_refs()))


def test_lines_are_those_of_one_machine_byte_for_byte(in_order):
    ds = ray.data.from_arrow(engine_rows.parts(engine_rows.rows(named=True)))
    lines = collected(recourse(ds, engine_rows.fitted(), **engine_rows.REQUEST, id="application"))
    assert engine_rows.same_bytes(lines, engine_rows.expected(named=True))
    assert lines.column("status").to_pylist().count("error") == 1


def test_rows_without_a_name_are_numbered_in_order_even_if_nobody_asked_for_order():
    first = engine_rows.CUTS[1]

    def late(table):
        # The first part comes out last, unless order is kept.
        time.sleep(2 if table.num_rows == first else 0)
        return table

    ds = ray.data.from_arrow(engine_rows.parts(engine_rows.rows(named=False)))
    ds = ds.map_batches(late, batch_format="pyarrow", batch_size=None)
    lines = collected(recourse(ds, engine_rows.fitted(), **engine_rows.REQUEST))
    assert engine_rows.same_bytes(lines, engine_rows.expected(named=False))
    assert ds.context.execution_options.preserve_order is False
    assert ray.data.DataContext.get_current().execution_options.preserve_order is False


def test_lines_can_be_sorted_where_nobody_asked_for_order():
    table = engine_rows.rows(named=False)
    table = table.append_column("id", pa.array(range(engine_rows.ROWS), pa.int64()))
    ways = recourse(ray.data.from_arrow(engine_rows.parts(table)), engine_rows.fitted(), **engine_rows.REQUEST)
    assert collected(ways.sort(["id", "rank"])).equals(engine_rows.expected(named=False))


def test_blocks_of_pandas_are_answered_as_pandas_is(in_order):
    pandas = pytest.importorskip("pandas")
    frame = engine_rows.rows(named=True).drop_columns("of no interest").to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    expected = engine_rows.fitted().recourse(pa.Table.from_pandas(frame), id="application")
    lines = collected(recourse(ray.data.from_pandas(frame), engine_rows.fitted(), id="application"))
    assert lines.schema.names == expected.schema.names
    assert lines.cast(expected.schema).equals(expected)


def test_a_part_may_have_columns_of_another_type(in_order):
    first, *others = (part.drop_columns("locks") for part in engine_rows.parts(engine_rows.rows(named=True)))
    column = first.column_names.index("Duration")
    others = [part.set_column(column, "Duration", part.column("Duration").cast(pa.float64())) for part in others]
    ds = ray.data.from_arrow([first, *others])
    lines = collected(recourse(ds, engine_rows.fitted(), id="application"))
    table = engine_rows.rows(named=True).drop_columns(["locks", "of no interest"])
    expected = engine_rows.fitted().recourse(table, id="application")
    # An engine knows the types before it has read anything, so that they are wide.
    assert lines.column_names == expected.column_names
    assert lines.cast(expected.schema).equals(expected)


def test_what_is_wrong_is_told_before_anything_runs(tmp_path):
    fitted = engine_rows.fitted()
    table = engine_rows.rows(named=True)
    with pytest.raises(errors.DataError) as error:
        recourse(ray.data.from_arrow(table.drop_columns("Age")), fitted)
    with pytest.raises(errors.DataError) as local:
        fitted.recourse(table.drop_columns("Age"))
    assert str(error.value) == str(local.value)
    ds = ray.data.from_arrow(table)
    with pytest.raises(errors.SettingError, match="nobody"):
        recourse(ds, fitted, id="nobody")
    with pytest.raises(errors.FileError):
        recourse(ds, tmp_path / "absent.par")
    with pytest.raises(errors.DataError) as error:
        recourse(ray.data.from_items([]), fitted)
    assert str(error.value) == "X: has no rows, so its columns are unknown"
