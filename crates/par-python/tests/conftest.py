"""What the tests share: German Credit, and a quick model of it."""

import warnings

import pytest

from par_recourse import Recourse, datasets

STEPS = 20
QUICK = {"generator": {"steps": STEPS, "examples": 500}}
"""Settings with which a fit takes a moment."""


@pytest.fixture(scope="session")
def german():
    return datasets.german_credit()


@pytest.fixture(scope="session")
def unconstrained(german):
    """A schema in which everything may change: for what its own schema makes easy, or leaves without a way."""
    described, _, _ = german.schema.partition("[[relation]]")
    constraints = ("allowed", "step", "takes", "improves", "who")
    kept = (line for line in described.splitlines() if not line.startswith(constraints))
    return "\n".join('change = "free"' if line.startswith("change = ") else line for line in kept)


@pytest.fixture(scope="session")
def fitted(german):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Recourse(german.schema, config=QUICK).fit(german.X, german.y)
