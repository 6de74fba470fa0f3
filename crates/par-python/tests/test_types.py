"""Type checkers, at their strictest, read a program that uses the package."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "typed" / "user_script.py"
MISTAKES = {
    "ways.frame": "ways.fraem",
    "ways.changes(), polars.DataFrame": "ways.changes(), pandas.DataFrame",
    'change="increase"': 'change="upwards"',
    "count=2": "cuont=2",
    'method="exact"': 'method="best"',
}


def mypy(script, folder):
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", str(folder), str(script)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def pyright(script, folder):
    settings = {"include": [str(script)], "typeCheckingMode": "strict"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "-p", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


@pytest.mark.parametrize("check", [mypy, pyright])
def test_a_program_has_types_without_a_gap(check, tmp_path):
    done = check(SCRIPT, tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("check", [mypy, pyright])
def test_mistakes_are_found(check, tmp_path):
    text = SCRIPT.read_text()
    for right, wrong in MISTAKES.items():
        assert right in text
        text = text.replace(right, wrong, 1)
    (tmp_path / "wrong.py").write_text(text)
    done = check(tmp_path / "wrong.py", tmp_path)
    lines = {int(line.split("wrong.py:")[1].split(":")[0]) for line in done.stdout.splitlines() if "wrong.py:" in line and "error" in line}
    wrong_lines = {at for at, line in enumerate(text.splitlines(), 1) if any(wrong in line for wrong in MISTAKES.values())}
    assert wrong_lines <= lines, done.stdout
