"""The exceptions. Every message says where, what was found, what was expected, and how to fix it."""

from __future__ import annotations

import sys
import warnings


class ParError(Exception):
    """The base of all exceptions of this package."""


class DataError(ParError, ValueError):
    """A table does not fit its schema: a column is absent, a cell cannot be read, there are no rows."""


class SchemaError(ParError, ValueError):
    """A schema contradicts itself, or lacks what recourse needs."""


class SettingError(ParError, ValueError):
    """A setting or an option of a request is unknown or out of range."""


class ClassifierError(ParError, ValueError):
    """An external classifier cannot be used."""


class InvertedClassifierError(ClassifierError):
    """An external classifier ranks the classes the wrong way round: its scores seem to be those of the other class."""


class ModelError(ParError, ValueError):
    """A file is not a whole model of a known version."""


class FileError(ParError, OSError):
    """A file cannot be read or written."""


class NotFittedError(ParError, ValueError, AttributeError):
    """An estimator was used before it was fitted. It is also scikit-learn's `NotFittedError`, where that is in use."""


def not_fitted(message: str) -> NotFittedError:
    """The exception for an estimator that is not fitted: scikit-learn's too, if that is in use."""
    known = sys.modules.get("sklearn.exceptions")
    if known is None:
        return NotFittedError(message)
    both = type("NotFittedError", (NotFittedError, known.NotFittedError), {"__module__": __name__})
    return both(message)


class RenamedColumnWarning(UserWarning):
    """A column of the answers is renamed, because a feature has its name."""


class IgnoredOptionWarning(UserWarning):
    """An option of another library has no effect here."""


def __getattr__(name: str) -> type[ModelError]:
    if name == "BundleError":
        warnings.warn("`BundleError` is called `ModelError`", DeprecationWarning, stacklevel=2)
        return ModelError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
