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


def unsettled(lines: Any) -> list[Any]:
    """Those who have no way since only an imitation of the classifier accepts them, or their ways."""
    is_unverified = lines["reason"].astype(object).fillna("").map(lambda reason: reason.startswith("unverified"))
    return lines["id"][is_unverified & (lines["status"] == "not_found")].tolist()


def stricter(threshold: float) -> float:
    """The threshold at which an imitation is asked again. It errs by a few hundredths, less than this adds."""
    return threshold + 0.3 * (1 - threshold)
