"""An embedded table for examples."""

from __future__ import annotations

import io
from typing import NamedTuple

import pyarrow as pa
import pyarrow.csv

from . import _native


class GermanCredit(NamedTuple):
    """The German Credit table."""

    X: pa.Table
    """1,000 loan applicants by 20 features, and their `id`."""
    y: pa.ChunkedArray
    """Good or bad risks: the column `class`."""
    schema: str
    """The schema, as TOML."""


def german_credit() -> GermanCredit:
    """German Credit, which is part of the package.

    "Statlog (German Credit Data)", Hofmann, H. (1994), UCI Machine Learning Repository,
    https://doi.org/10.24432/C5NC77, CC BY 4.0; columns named and codes spelled out by us.

    >>> german_credit().X.num_rows
    1000
    """
    csv, schema = _native.german_credit()
    table = pa.csv.read_csv(io.BytesIO(csv.encode()))
    return GermanCredit(table.drop_columns(["class"]), table.column("class"), schema)
