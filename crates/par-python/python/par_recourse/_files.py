"""Reading text from arguments and files."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

from . import _native
from .errors import FileError


def toml(source: str | os.PathLike[str] | Mapping[str, Any]) -> str:
    """TOML as text, from text, a file or a dict."""
    if isinstance(source, Mapping):
        return _native.as_toml(json.dumps(source))
    if isinstance(source, str) and "\n" in source:
        return source
    return text(source)


def text(path: str | os.PathLike[str]) -> str:
    """The contents of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
