"""Under DiCE's name: its helpers."""

from . import helpers

__all__ = ["helpers"]
