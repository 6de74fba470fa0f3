"""Values as the text of cells, and back."""

import pyarrow as pa
import pytest

from par_recourse._cells import from_cell


@pytest.mark.parametrize(
    ("text", "value"),
    [("9007199254740993.0", 2**53 + 1), ("9007199254740993", 2**53 + 1), ("1e3", 1000), ("-3.0", -3), ("1.5", 1.5)],
)
def test_whole_numbers_keep_their_digits(text, value):
    read = from_cell(text, pa.int64())
    assert read == value and type(read) is type(value)


@pytest.mark.parametrize("text", ["inf", "1e999999999", "none"])
def test_what_is_no_whole_number_does_no_harm(text):
    assert str(from_cell(text, pa.int64())) in ("inf", "none")
