"""The progress of a fit, of answers or of an evaluation, in a terminal or a notebook."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Callable

Listener = Callable[[str, int, "int | None"], None]
"""Called with a stage, the finished part of it, and the total if known."""

_STAGES = ["rows", "classifier", "circuits", "pool", "generator"]
"""The stages of a fit."""

_SHORT = 1.0
"""Seconds of answers that are over too soon for a bar."""


def listener(progress: bool | Listener | None) -> tuple[Listener | None, Callable[[], None]]:
    """The listener, and a function to call at the end. `None` shows progress in a terminal or a notebook."""
    if callable(progress):
        return progress, lambda: None
    notebook = _in_notebook()
    if progress is False or (progress is None and not notebook and not sys.stderr.isatty()):
        return None, lambda: None
    bar = _NotebookBar() if notebook else _TerminalBar()
    return bar.update, bar.end


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


class _Bar:
    """Shows progress, at most ten times a second."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.shown: float | None = None
        self.stage = ""

    def update(self, stage: str, done: int, of: int | None) -> None:
        now = time.monotonic()
        if stage not in _STAGES and now - self.started < _SHORT:
            return
        if self.shown is not None and stage == self.stage and now - self.shown < 0.1:
            return
        self.stage, self.shown = stage, now
        step = f"{_STAGES.index(stage) + 1}/{len(_STAGES)} " if stage in _STAGES else ""
        self.show(f"{step}{stage}", done, of)

    def show(self, title: str, done: int, of: int | None) -> None:
        raise NotImplementedError


class _TerminalBar(_Bar):
    def show(self, title: str, done: int, of: int | None) -> None:
        count = f" {done:,}" if of is None else f" {done:,} of {of:,}"
        sys.stderr.write(f"\r\x1b[K{title}{count}")
        sys.stderr.flush()

    def end(self) -> None:
        if self.shown is not None:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class _NotebookBar(_Bar):
    def __init__(self) -> None:
        super().__init__()
        self.handle: Any = None

    def show(self, title: str, done: int, of: int | None) -> None:
        display = _display()

        bar = "<progress></progress>" if of is None else f'<progress value="{done}" max="{max(of, 1)}"></progress>'
        html = display.HTML(f"<div>{title} {bar} {done:,}</div>")
        if self.handle is None:
            self.handle = display.display(html, display_id=True)
        else:
            self.handle.update(html)

    def end(self) -> None:
        if self.handle is not None:
            self.handle.update(_display().HTML(""))


def _display() -> Any:
    """IPython's module, part of which has no types."""
    return importlib.import_module("IPython.display")
