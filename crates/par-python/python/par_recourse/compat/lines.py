"""Reads the lines of `Recourse.recourse`."""

from __future__ import annotations

from typing import Any

from .._request import Request
from ..errors import DataError
from ..estimator import Recourse


def ways(recourse: Recourse, rows: Any, request: Request, what: str) -> Any:
    """The rows of all ways, by the person's `id`; `what` is the name of the rows in messages."""
    lines, columns = recourse._lines(rows, request), recourse.columns_
    wrong = lines[lines[columns["status"]] == "error"]
    if len(wrong) > 0:
        raise DataError(f"{what}: row {wrong[columns['id']].iloc[0]}: {wrong[columns['reason']].iloc[0]}")
    lines = lines[lines[columns["rank"]].notna()]
    return lines[recourse.model_.features].set_axis(lines[columns["id"]].to_numpy(), axis=0)
