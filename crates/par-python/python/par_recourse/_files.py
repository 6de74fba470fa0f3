"""Reading text from arguments and files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping

from . import _toml
from .errors import FileError, SettingError

if TYPE_CHECKING:
    from .schema import Schema


def toml(source: Schema | str | os.PathLike[str] | Mapping[str, Any]) -> str:
    """TOML as text, from a schema, text, a file or a dict."""
    if isinstance(source, Mapping):
        return _toml.document(source)
    if isinstance(source, str) and "\n" in source:
        return source
    if isinstance(source, (str, os.PathLike)):
        return text(source)
    if not hasattr(source, "to_toml"):
        raise SettingError(f"schema: is {source!r}, expected a Schema, a TOML file, its text, or a dict")
    return source.to_toml()


def text(path: str | os.PathLike[str]) -> str:
    """The contents of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
