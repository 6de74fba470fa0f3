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
    constraints = ("immutable", "monotone", "allowed")
    return "\n".join(line for line in german.schema.splitlines() if not line.startswith(constraints))


@pytest.fixture(scope="session")
def fitted(german):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Recourse(german.schema, config=QUICK).fit(german.X, german.y)
