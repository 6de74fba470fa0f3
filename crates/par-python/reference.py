"""Writes `docs/python-reference.md` from the docstrings of the package: `python crates/par-python/reference.py`."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python-reference.md"
MODULES = [
    "par_recourse",
    "par_recourse.plots",
    "par_recourse.datasets",
    "par_recourse.errors",
    "par_recourse.compat.dice",
    "par_recourse.compat.dice.utils.helpers",
    "par_recourse.compat.carla",
    "par_recourse.spark",
    "par_recourse.ray",
]


def page() -> str:
    """The whole page."""
    lines = [
        "# Python reference",
        "",
        "Made from the docstrings by `python crates/par-python/reference.py`; a test makes sure that it is up to date.",
        "`python.md` shows how it goes together.",
    ]
    for name in MODULES:
        module = importlib.import_module(name)
        lines += ["", f"## {name}", "", *documented(module)]
        for member in public(module):
            lines += described(member, getattr(module, member))
    return "\n".join(lines) + "\n"


def public(module: object) -> list[str]:
    """What a module offers: what it says, or what it defines."""
    named = getattr(module, "__all__", None)
    if named is None:
        named = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return [name for name in named if not name.startswith("_") and not inspect.ismodule(getattr(module, name))]


def described(name: str, value: object) -> list[str]:
    """A class with its members, a function, or a value."""
    if inspect.isclass(value):
        title = name if issubclass(value, Exception) else f"{name}{signature(value)}"
        lines = ["", f"### `{title}`", "", *documented(value)]
        fields = {field.name for field in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
        for member, attribute in vars(value).items():
            if member.startswith("_") or member in fields or not inspect.getdoc(attribute):
                continue
            if isinstance(attribute, property):
                lines += ["", f"#### `{name}.{member}`", "", *documented(attribute)]
            elif callable(attribute) or isinstance(attribute, (classmethod, staticmethod)):
                lines += ["", f"#### `{name}.{member}{signature(getattr(value, member))}`", "", *documented(attribute)]
        return lines
    if callable(value):
        return ["", f"### `{name}{signature(value)}`", "", *documented(value)]
    return []


def signature(value: object) -> str:
    """How it is called, without the types, which the stubs have."""
    parameters = inspect.signature(value).parameters.values()
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in parameters if each.name not in ("self", "cls")]
    return str(inspect.Signature(plain))


def documented(value: object) -> list[str]:
    """The docstring, with its sections in bold and its examples as code."""
    lines: list[str] = []
    text = (inspect.getdoc(value) or "").splitlines()
    for at, line in enumerate(text):
        following = text[at + 1] if at + 1 < len(text) else ""
        if line and set(line) == {"-"}:
            continue
        if following and set(following) == {"-"}:
            lines += [f"**{line}**", ""]
        elif line.startswith("    ") and line.strip():
            lines.append(f"  {line.strip()}")
        elif line.endswith(":") and text[at + 1 : at + 2] and text[at + 1].startswith("    "):
            lines.append(f"- `{line[:-1]}`:")
        elif line.startswith(">>>") or (line and lines and lines[-1].startswith("    ")):
            # An example, and what it prints.
            lines.append(f"    {line}")
        else:
            lines.append(line)
    return lines


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
