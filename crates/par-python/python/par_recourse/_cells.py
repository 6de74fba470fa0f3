"""Values as the text of cells."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from typing import Any, Iterable

import pyarrow as pa

from .errors import SettingError


def cell(value: Any) -> str:
    """A value as text: 1.0 is 1, and a boolean is `true` or `false`."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def from_cell(text: str, data_type: pa.DataType) -> str | int | float | bool | None:
    """The value that a cell of a column of a type stands for; text that is none of that type stays text."""
    if pa.types.is_dictionary(data_type):
        return from_cell(text, data_type.value_type)
    if text == "":
        return None
    if pa.types.is_boolean(data_type):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower(), text)
    is_whole = pa.types.is_integer(data_type)
    if not (is_whole or pa.types.is_floating(data_type) or pa.types.is_decimal(data_type)):
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    if not is_whole or not math.isfinite(number):
        return number
    # Beyond 53 bits only the text is exact.
    exact = Decimal(text.strip())
    return int(exact) if exact == exact.to_integral_value() else number


def is_same(value: Any, name: str) -> bool:
    """Whether a value equals the schema's `name`: as text, as a number, or as a boolean in any spelling."""
    text = cell(value)
    if text == name or text.lower() == name.lower() in ("true", "false"):
        return True
    if isinstance(value, str):
        return False
    try:
        return float(value) == float(name)
    except (TypeError, ValueError):
        return False


def names(value: str | Iterable[Any], what: str) -> list[str]:
    """A list of feature names; a single name may be a string."""
    if isinstance(value, str):
        return [value]
    try:
        return [str(name) for name in value]
    except TypeError as error:
        raise SettingError(f"`{what}` is {value!r}, expected names of features") from error


def whole(value: Any, what: str, least: int) -> int:
    """A whole number, possibly numpy's."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise SettingError(f"`{what}` is {value!r}, expected a whole number, at least {least}")
    return number


def number(value: Any, what: str) -> float:
    """A number, possibly numpy's."""
    if not isinstance(value, (str, bool)) and hasattr(value, "__float__"):
        return float(value)
    raise SettingError(f"`{what}` is {value!r}, expected a number")
