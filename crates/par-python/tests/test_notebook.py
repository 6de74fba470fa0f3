"""The notebook of the examples runs from top to bottom, and shows what it should."""

from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "german_credit.ipynb"


@pytest.fixture(scope="module")
def cells():
    """The executed cells of code, by their first line."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are made by running it"
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return {cell.source.splitlines()[0]: cell for cell in notebook.cells if cell.cell_type == "code"}


def shown(cell):
    """What the cell's last line shows, by media type."""
    return cell.outputs[-1]["data"]


def test_no_cell_warns_or_prints(cells):
    streams = [output.text for cell in cells.values() for output in cell.outputs if output.output_type == "stream"]
    assert streams == []


@pytest.mark.parametrize(
    "line",
    [
        "plots.before_and_after(recourse, explanation, X)",
        "plots.pareto(explanation)",
        "plots.changes(ways)",
        'housing = X["Housing"].map({"A151": "rented", "A152": "owned", "A153": "for free"})',
    ],
)
def test_plots_are_drawings(cells, line):
    assert shown(cells[line])["image/svg+xml"].startswith("<?xml")
    assert shown(cells[line])["text/html"].startswith("<img alt=")


def test_an_answer_is_a_page_and_frames_are_tables(cells):
    answer = shown(cells['denied = X[recourse.predict(X) == "Bad"]'])["text/html"]
    assert answer.startswith("<p><b>1</b>: denied, probability 0.") and "way 1" in answer
    assert "<th>feature</th>" in shown(cells["ways = recourse.ways(X)"])["text/html"]
    assert "rented" in shown(cells["fares.data"])["text/html"]
    measures = shown(cells['recourse.evaluate(X[held_out], y[held_out], deadline="100ms")'])["text/html"]
    assert measures.startswith("<p>Evaluation of 200 rows: ")
