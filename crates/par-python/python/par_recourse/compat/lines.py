"""What the doors read in the tidy frame of `Recourse.recourse`."""

from __future__ import annotations

from typing import Any

from ..errors import DataError
from ..estimator import Recourse


def ways(recourse: Recourse, lines: Any, what: str) -> Any:
    """The rows that people could become, by their `id`; `what` is the name of the rows in messages."""
    wrong = lines[lines["status"] == "error"]
    if len(wrong) > 0:
        raise DataError(f"{what}: row {wrong['id'].iloc[0]}: {wrong['reason'].iloc[0]}")
    lines = lines[lines["rank"].notna()]
    # By place, since a feature that is called as one of the facts goes by another name in the tidy frame.
    found = lines.iloc[:, -recourse.n_features_in_ :].set_axis(recourse.feature_names_in_, axis=1)
    return found.set_axis(lines["id"].to_numpy(), axis=0)
