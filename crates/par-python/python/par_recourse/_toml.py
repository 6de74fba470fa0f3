"""Writes TOML: Python reads it only from 3.11 on, and never writes it."""

from __future__ import annotations

import math
import re
from typing import Any, Iterable, Mapping

from ._cells import cell
from .errors import SettingError


def document(members: Mapping[str, Any], comments: Mapping[tuple[str, str], str] | None = None) -> str:
    """A whole document: plain values first, then tables and lists of tables. `None` is left out.

    Parameters
    ----------
    comments:
        What is said behind a key of a table in a list, by the `name` of the table and the key. If the table lacks the
        key, the comment has a line of its own.
    """
    sections = {key: value for key, value in members.items() if isinstance(value, Mapping) or _is_tables(value)}
    lines = [*_members({key: value for key, value in members.items() if key not in sections})]
    for key, value in sections.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_key(key)}]", *_members(value)]
            continue
        for table in value:
            said = {own: text for (name, own), text in (comments or {}).items() if name == table.get("name")}
            lines += ["", f"[[{_key(key)}]]", *_members(table, said)]
    return "\n".join(lines).lstrip("\n") + "\n"


def value(plain: Any) -> str:
    """One value, on one line."""
    plain = plain.item() if hasattr(plain, "item") and getattr(plain, "ndim", 0) == 0 else plain
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, str):
        return _text(plain)
    if isinstance(plain, int):
        return str(plain)
    if isinstance(plain, float):
        # A category 1.0 is called 1.
        return str(int(plain)) if math.isfinite(plain) and plain.is_integer() and abs(plain) < 1e15 else repr(plain)
    if isinstance(plain, Mapping):
        inner = ", ".join(f"{_key(key)} = {value(own)}" for key, own in plain.items() if own is not None)
        return f"{{ {inner} }}" if inner else "{}"
    # Sets have no order, and the same settings give the same bytes.
    if isinstance(plain, Iterable) and not isinstance(plain, (bytes, bytearray, set, frozenset)):
        return f"[{', '.join(map(value, plain))}]"
    raise SettingError(f"{plain!r} cannot be written as TOML, expected text, numbers, truth values, lists and dicts of them")


def _is_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(table, Mapping) for table in value)


def _members(table: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> list[str]:
    said = dict(comments or {})
    lines = []
    for key, own in table.items():
        if own is not None:
            comment = f"  # {said.pop(key)}" if key in said else ""
            lines.append(f"{_key(key)} = {value(own)}{comment}")
    return lines + [f"# {key}: {comment}" for key, comment in said.items()]


def _key(key: Any) -> str:
    name = cell(key)
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found.group()):04X}", escaped) + '"'
