"""The classifier that is there already, as the native half takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import pyarrow as pa


@dataclass(frozen=True)
class Supplied:
    """Where the classifier comes from; nothing of it where it is to be trained."""

    onnx: tuple[bytes, str] | None = None
    """An ONNX file, and how a row becomes its inputs."""
    scores: Any = None
    """The probabilities of acceptance of the training rows, where only they are known."""
    column: str = "__scores__"
    predict: Callable[[pa.Table], Any] | None = None
    """Gives the probabilities of acceptance for other rows."""
    fallback: Callable[[str], "Supplied"] | None = None
    """What to do where the ONNX file cannot be used, given why."""

    def verified(self, lines: pa.Table, threshold: float) -> pa.Table:
        """The lines, with ways that the classifier itself was asked about where it can be."""
        return lines


def supply(
    classifier: Any, inputs: Any, X: Any, schema: str, facts: dict[str, Any], favourable: str | None
) -> Supplied:
    """Where the classifier comes from."""
    return Supplied()
