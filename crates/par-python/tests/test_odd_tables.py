"""Tables that cannot be answered: what is wrong, and what to do about it."""

import datetime

import pandas as pd
import polars as pl
import pytest

from par_recourse import Recourse
from par_recourse.errors import DataError

LEVELS = (
    'X: its columns have 2 levels, expected one\nhint: `X.columns = ["_".join(map(str, name)) for name in X.columns]`'
)
LARGE = (
    "X: column `Credit amount` has a whole number of more than 64 bits\n"
    "hint: cast it to float, or to text if it is an id or a category"
)


@pytest.fixture
def X(german):
    return german.X.to_pandas().head(20)


def refusals(fitted, german, X):
    """What each way to pass a table is refused with."""
    y = german.y.to_pandas().head(len(X))
    asked = [fitted.recourse, fitted.ways, fitted.predict, fitted.evaluate, lambda X: fitted.explain(X.iloc[[0]])]
    asked.append(lambda X: Recourse(german.schema).fit(X, y))
    for ask in asked:
        with pytest.raises(DataError) as raised:
            ask(X)
        yield str(raised.value)


def test_columns_of_several_levels(fitted, german, X):
    X.columns = pd.MultiIndex.from_product([["applicant"], X.columns])
    assert set(refusals(fitted, german, X)) == {LEVELS}
    with pytest.raises(DataError) as raised:
        Recourse().fit(X, german.y.to_pandas().head(len(X)))
    assert str(raised.value) == LEVELS


def test_whole_numbers_of_more_than_64_bits(fitted, german, X):
    X["Credit amount"] = [10**30 + own for own in range(len(X))]
    assert set(refusals(fitted, german, X)) == {LARGE}
    with pytest.raises(DataError) as raised:
        fitted.recourse(X.to_dict("records"))
    assert str(raised.value) == "X: has a whole number of more than 64 bits\nhint: cast its column to float, or to text"
    row = fitted.recourse(X.assign(**{"Credit amount": X["Credit amount"].astype(float)}))
    assert set(row["status"]) <= {"accepted", "found", "not_found"}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (pd.Timestamp("1980-01-01"), "Timestamp(µs)"),
        (datetime.date(1980, 1, 1), "Date32"),
        (pd.Timedelta(days=3), "Duration(µs)"),
        (datetime.time(12), "Time64(µs)"),
    ],
)
def test_dates_and_times(fitted, german, X, value, written):
    X["Age"] = [value] * len(X)
    message = (
        f"X: column `Age` is of type {written}, expected text, numbers or booleans\n"
        "hint: pass a number instead, such as the years or days since then"
    )
    assert set(refusals(fitted, german, X)) == {message}


def test_dates_of_polars(fitted, X):
    frame = pl.from_pandas(X).with_columns(Age=pl.lit(datetime.date(1980, 1, 1)))
    with pytest.raises(DataError, match="column `Age` is of type Date32, expected text, numbers or booleans"):
        fitted.recourse(frame)


def test_a_date_that_is_no_feature_does_no_harm(fitted, X):
    with_date = X.assign(applied=pd.Timestamp("2024-05-01"))
    pd.testing.assert_frame_equal(fitted.recourse(with_date), fitted.recourse(X))
