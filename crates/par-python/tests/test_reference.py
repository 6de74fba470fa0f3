"""The reference is made from the docstrings. It needs what the engines need, whose modules it reads too."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("ray")

ROOT = Path(__file__).resolve().parents[3]


def test_the_reference_is_up_to_date():
    script = ROOT / "crates" / "par-python" / "reference.py"
    spec = importlib.util.spec_from_file_location("reference", script)
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "run `python crates/par-python/reference.py`"
