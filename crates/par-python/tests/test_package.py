"""What the wheel says of itself."""

import sys
from importlib.metadata import PackageNotFoundError, distribution

import pytest


@pytest.fixture(scope="module")
def package():
    try:
        return distribution("par-recourse")
    except PackageNotFoundError:
        pytest.skip("it is not installed, but read from its sources")


def test_the_licences_are_in_it(package):
    assert package.metadata["License-Expression"] == "MIT OR Apache-2.0"
    texts = {path.name: path.read_text() for path in package.files if "licenses" in path.parts}
    assert set(texts) == {"LICENSE-MIT", "LICENSE-APACHE"}
    assert texts["LICENSE-MIT"].startswith("MIT License") and "Apache License" in texts["LICENSE-APACHE"]


def test_its_metadata_are_complete(package):
    about = package.metadata
    assert about["Author"] == "The PAR authors" and about["Requires-Python"] == ">=3.10"
    versions = [line.rsplit(" ", 1)[1] for line in about.get_all("Classifier") if ":: Python :: 3." in line]
    assert versions == ["3.10", "3.11", "3.12", "3.13", "3.14"]
    assert "pip install par-recourse" in about.get_payload() and "](" not in about.get_payload()
    assert "algorithmic recourse" in about["Keywords"].split(",")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other tags")
def test_the_name_of_the_wheel_says_for_which_pythons_and_systems_it_is(package):
    tag = next(line for line in package.read_text("WHEEL").splitlines() if line.startswith("Tag: "))
    assert tag.startswith("Tag: cp310-abi3-manylinux")
