"""The pages say what is so: their examples run."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_for_python_users_runs(tmp_path, monkeypatch, capsys):
    """All blocks of the page, one after the other, as cells of a notebook."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    names: dict[str, object] = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"docs/python.md, block {number}", "exec"), names)  # noqa: S102


@pytest.mark.parametrize("name", ["par_recourse", "par_recourse.datasets", "par_recourse.estimator", "par_recourse.schema"])
def test_examples_in_docstrings_run(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0 and results.failed == 0


def test_the_readme_shows_the_example_as_it_runs():
    example = (ROOT / "crates" / "par-python" / "examples" / "ask_for_recourse.py").read_text(encoding="utf-8")
    code = example.split('"""\n', 1)[1].strip()
    assert code in (ROOT / "README.md").read_text(encoding="utf-8")
