"""DiCE's helpers: the tables of its examples."""

from __future__ import annotations

import os
import zipfile
from typing import Any

from ....errors import FileError
from ..counterfactual_explanations import UserConfigValidationException

ADDRESS = "https://archive.ics.uci.edu/static/public/2/adult.zip"
"""Where DiCE has the archive of the adult table from."""

_COLUMNS = ["age", "workclass", "fnlwgt", "education", "educational-num", "marital_status", "occupation", "relationship", "race"]
_COLUMNS += ["gender", "capital-gain", "capital-loss", "hours_per_week", "native-country", "income"]
_KEPT = ["age", "workclass", "education", "marital_status", "occupation", "race", "gender", "hours_per_week", "income"]

_SCHOOL = ["11th", "10th", "7th-8th", "9th", "12th", "5th-6th", "1st-4th", "Preschool"]
_GROUPS: dict[str, dict[str, list[str]]] = {
    "workclass": {
        "Government": ["Federal-gov", "State-gov", "Local-gov"],
        "Self-Employed": ["Self-emp-not-inc", "Self-emp-inc"],
        "Other/Unknown": ["Without-pay", "Never-worked", "?"],
    },
    "occupation": {
        "White-Collar": ["Adm-clerical", "Exec-managerial"],
        "Blue-Collar": ["Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"],
        "Service": ["Other-service", "Priv-house-serv", "Protective-serv", "Tech-support"],
        "Professional": ["Prof-specialty"],
        "Other/Unknown": ["Armed-Forces", "Unknown", "?"],
    },
    "marital_status": {
        "Married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
        "Single": ["Never-married"],
    },
    "race": {"Other": ["Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo"]},
    "education": {"Assoc": ["Assoc-voc", "Assoc-acdm"], "School": _SCHOOL},
}
"""The categories that DiCE joins."""


def load_adult_income_dataset(only_train: bool = True, *, archive: str | os.PathLike[str] | None = None) -> Any:
    """The adult table with DiCE's columns and categories. DiCE downloads it; this package reads a file.

    Parameters
    ----------
    only_train:
        Whether to leave out a fifth of the rows, drawn as DiCE draws them, which needs scikit-learn.
    archive:
        The zip file, which has the table as `adult.data`.

    Raises
    ------
    FileError
        Without an archive, and when the archive cannot be read.
    """
    import pandas

    if archive is None:
        raise FileError(
            "archive: expected the zip file of the adult table, which is not downloaded\n"
            f"hint: DiCE has it from {ADDRESS}; any frame will do for `Data`, such as one read from a file"
        )
    try:
        with zipfile.ZipFile(archive) as members, members.open("adult.data") as rows:
            table = pandas.read_csv(rows, names=_COLUMNS, sep=", ", engine="python", keep_default_na=False)
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise FileError(
            f"{os.fspath(archive)}: expected a zip file with the table `adult.data`: {error}\n"
            f"hint: DiCE has it from {ADDRESS}"
        ) from error
    table = table[_KEPT].copy()
    for name, groups in _GROUPS.items():
        joined = {category: group for group, categories in groups.items() for category in categories}
        table[name] = table[name].map(lambda category: joined.get(category, category))
    table["income"] = (table["income"] == ">50K").astype("int64")
    if only_train:
        from sklearn.model_selection import train_test_split

        table, _ = train_test_split(table, test_size=0.2, random_state=17)
        table = table.reset_index(drop=True)
    return table


def get_adult_income_modelpath(backend: str = "TF1") -> str:
    """Refused: this package has no trained models.

    Raises
    ------
    UserConfigValidationException
        Always.
    """
    raise UserConfigValidationException(
        f"there is no trained model for the backend {backend}\n"
        "hint: train one, such as a Pipeline of scikit-learn, and give it as `Model(model=...)`"
    )
