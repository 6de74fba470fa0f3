"""Text that comes as it is, or in a file."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

from . import _native
from .errors import FileError


def toml(told: str | os.PathLike[str] | Mapping[str, Any]) -> str:
    """TOML as text: the text itself, what a file holds, or a dict written out."""
    if isinstance(told, Mapping):
        return _native.as_toml(json.dumps(told))
    if isinstance(told, str) and "\n" in told:
        return told
    return text(told)


def text(path: str | os.PathLike[str]) -> str:
    """What a file holds."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
