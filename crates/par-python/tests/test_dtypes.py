"""Columns in the types of other frames, without a changed cell."""

import numpy
import pandas
import pytest

from par_recourse._dtypes import pandas_column


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([300.0], "uint8"),
        ([-1], "uint8"),
        ([0.5], "int64"),
        ([1e19], "int64"),
        ([2.0**63], "int64"),
        ([1.0, None], "int64"),
        (["300"], "uint8"),
        (["1.5"], "int64"),
        ([70000.0], "float16"),
        ([1e39], "float32"),
        ([2**53 + 1], "float64"),
        ([1.0, None], "bool"),
        ([2], "bool"),
        (["true", "maybe"], "bool"),
        (["true", "maybe"], "boolean"),
        (["true", None], "bool"),
    ],
)
def test_a_column_that_does_not_fit_is_left_as_it_is(values, dtype):
    column = pandas.Series(values)
    assert pandas_column(column, pandas.api.types.pandas_dtype(dtype)) is column


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([255.0], "uint8", [255]),
        ([1.0, None], "Int64", [1, None]),
        (["255"], "uint8", [255]),
        ([0.1, numpy.nan, numpy.inf], "float32", [0.1, numpy.nan, numpy.inf]),
        (["0.1"], "float64", [0.1]),
        ([0.1], "float16", [0.1]),
        ([1, 0], "bool", [True, False]),
        (["True", "0"], "bool", [True, False]),
        (["true", None], "boolean", [True, None]),
        ([3, 1], "str", ["3", "1"]),
    ],
)
def test_a_column_that_fits_has_the_type(values, dtype, expected):
    typed = pandas_column(pandas.Series(values, index=range(5, 5 + len(values))), pandas.api.types.pandas_dtype(dtype))
    pandas.testing.assert_series_equal(typed, pandas.Series(expected, dtype=dtype, index=typed.index))
    assert list(typed.index) == list(range(5, 5 + len(values)))


@pytest.mark.parametrize("gap", [None, numpy.nan])
def test_a_missing_cell_is_of_no_category(gap):
    dtype = pandas.CategoricalDtype(["None", "nan", "a"])
    typed = pandas_column(pandas.Series(["a", gap], dtype=object), dtype)
    assert typed.tolist()[0] == "a" and typed.isna().tolist() == [False, True]
