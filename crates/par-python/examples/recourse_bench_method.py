"""PAR as a method of RecourseBench, for its experiments.

RecourseBench is github.com/charmlab/recourse_bench; this follows its `MethodObject`, `ModelObject` and `DatasetObject`
as of commit 44922e9. Import this module before an experiment is read; its YAML then says `method: {name: par}`.

- Rows go in and come out as the train set has them: encoded and scaled, in its columns, with the index of the factuals.
- `*_feature_mutability` and `*_feature_actionability` of the train set are kept: what may not change stays, what may
  only increase or decrease does. The columns of one encoded feature change together, to values of the train set.
- An answer was verified with the target model: it gives the desired class. A row without one is NaN throughout.
- Without a `desired_class` the class of a row flips, as in the other methods; that needs two classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy
import pandas
from recourse_bench.method.method_object import MethodObject
from recourse_bench.utils.registry import register

from par_recourse import Recourse

CHANGES = {"any": "free", "same-or-increase": "increase", "same-or-decrease": "decrease"}
LABEL = "par: has the desired class"
UNSEEN = "not in the train set"


@register("par")
class ParMethod(MethodObject):
    """Recourse by PAR. `method` and `budget` are those of `Recourse.recourse`, `config` is that of `Recourse`."""

    def __init__(
        self,
        target_model: Any,
        seed: int | None = None,
        device: str = "cpu",
        desired_class: int | str | None = None,
        method: str = "refine",
        budget: int | None = None,
        config: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._target_model = target_model
        self._seed = seed
        self._device = device.lower()
        self._need_grad = False
        self._is_trained = False
        self._desired_class = desired_class
        self._request = {"method": method, "budget": budget}
        self._config = config
        if kwargs:
            raise TypeError(f"ParMethod has no parameter `{next(iter(kwargs))}`, expected method, budget or config")
        if self._device != target_model._device:
            raise ValueError("Method device must match target model device")

    def fit(self, train_set: Any) -> None:
        if train_set is None:
            raise ValueError("train_set is required for ParMethod.fit()")
        rows, labels = train_set.get(target=False), train_set.get(target=True).iloc[:, 0]
        classes = self._target_model.get_class_to_index()
        if self._desired_class is None and len(classes) != 2:
            raise ValueError(f"without a desired_class two classes are expected, found {len(classes)}")
        if self._desired_class is not None and self._desired_class not in classes:
            raise ValueError(f"the target model has no class {self._desired_class!r}, expected one of {list(classes)}")
        self._columns = list(rows.columns)
        self._features = _features(train_set, rows)
        desired = classes if self._desired_class is None else [self._desired_class]
        self._recourse = {classes[name]: self._fitted(rows, labels == name, classes[name]) for name in desired}
        self._is_trained = True

    def _fitted(self, rows: Any, is_desired: Any, index: int) -> Recourse:
        """The recourse to the class with this index in the output of the target model."""
        label = {"column": LABEL, "classes": ["0", "1"], "favourable": "1"}
        schema = {"version": 2, "label": label, "feature": [feature.described() for feature in self._features]}
        return Recourse(
            schema,
            classifier=lambda table: _lead(self._probabilities(self._encoded(table)), index),
            config=self._config,
            random_state=self._seed,
            progress=False,
        ).fit(self._decoded(rows).assign(**{LABEL: is_desired.to_numpy().astype(int)}))

    def get_counterfactuals(self, factuals: pandas.DataFrame) -> pandas.DataFrame:
        if not self._is_trained:
            raise RuntimeError("Method is not trained")
        rows = factuals[self._columns].reset_index(drop=True).astype(float)
        answers = pandas.DataFrame(numpy.nan, index=rows.index, columns=self._columns)
        if len(rows) == 0:
            return answers.set_axis(factuals.index)
        given = self._probabilities(rows).argmax(axis=1)
        for index, recourse in self._recourse.items():
            is_desired = given == index
            if self._desired_class is not None:
                answers[is_desired] = rows[is_desired]
            asked = rows[~is_desired]
            if len(asked) > 0:
                found = self._answered(recourse, asked)
                found = found[self._probabilities(found).argmax(axis=1) == index] if len(found) > 0 else found
                answers.loc[found.index] = found
        return answers.set_axis(factuals.index)[list(factuals.columns)]

    def _answered(self, recourse: Recourse, rows: Any) -> Any:
        """The first way of every row that has one, by the index of the row."""
        lines = recourse.recourse(self._decoded(rows), **self._request)
        lines = lines[lines[recourse.columns_["status"]] == "found"]
        return self._encoded(lines).set_axis(lines[recourse.columns_["id"]].to_numpy())

    def _decoded(self, rows: Any) -> Any:
        """A column for every feature."""
        columns = {feature.name: feature.values_of(rows) for feature in self._features}
        return pandas.DataFrame(columns, index=rows.index)

    def _encoded(self, table: Any) -> Any:
        """The inverse of `_decoded`."""
        parts = [feature.columns_of(table) for feature in self._features]
        return pandas.concat(parts, axis=1)[self._columns]

    def _probabilities(self, rows: Any) -> Any:
        found = self._target_model.get_prediction(rows, proba=True)
        return found.detach().cpu().numpy() if hasattr(found, "detach") else numpy.asarray(found)


@dataclass(frozen=True)
class _Feature:
    """A feature: a number in its own column, or a category in one column or more."""

    name: str
    columns: list[str]
    change: str
    codes: list[tuple[float, ...]] | None
    """What the columns of a category hold, in order; none for a number."""

    def described(self) -> dict[str, Any]:
        """The feature as a schema has it."""
        told: dict[str, Any] = {"name": self.name, "change": self.change, "kind": "continuous"}
        if self.codes is not None:
            told["kind"] = "ordinal" if self.change in ("increase", "decrease") else "nominal"
            told["values"] = [str(code) for code in range(len(self.codes))]
        return told

    def values_of(self, rows: Any) -> Any:
        if self.codes is None:
            return rows[self.columns[0]].astype(float)
        numbers = {code: str(number) for number, code in enumerate(self.codes)}
        return [numbers.get(code, UNSEEN) for code in _codes(rows[self.columns])]

    def columns_of(self, table: Any) -> Any:
        if self.codes is None:
            return table[[self.name]].astype(float).set_axis(self.columns, axis=1)
        codes = [self.codes[int(number)] for number in table[self.name]]
        return pandas.DataFrame(codes, index=table.index, columns=self.columns, dtype=float)


def _features(train_set: Any, rows: Any) -> list[_Feature]:
    """The features of the train set. The columns that `encoding` lists for one are one feature."""
    encoded = hasattr(train_set, "encoded_feature_type")
    kinds, mutable, actions = (
        train_set.attr(f"{'encoded' if encoded else 'raw'}_feature_{what}")
        for what in ("type", "mutability", "actionability")
    )
    groups = {
        name: [column for column in columns if column in rows.columns]
        for name, columns in (train_set.attr("encoding") if hasattr(train_set, "encoding") else {}).items()
    }
    grouped = {column for columns in groups.values() for column in columns}
    groups |= {column: [column] for column in rows.columns if column not in grouped}
    features = []
    for name, columns in groups.items():
        if not columns:
            continue
        change = CHANGES.get(str(actions[columns[0]]).lower(), "never") if mutable[columns[0]] else "never"
        is_number = len(columns) == 1 and str(kinds[columns[0]]).lower() == "numerical"
        codes = None if is_number else sorted(set(_codes(rows[columns])), key=_place)
        features.append(_Feature(name, columns, change, codes))
    return features


def _codes(columns: Any) -> list[tuple[float, ...]]:
    return [tuple(row) for row in columns.astype(float).to_numpy().tolist()]


def _place(code: tuple[float, ...]) -> tuple[int, tuple[float, ...]]:
    """Orders codes as the categories are: one-hot, as a thermometer, or as a number."""
    last = max((place for place, value in enumerate(code) if value != 0), default=-1)
    return last, code


def _lead(probabilities: Any, index: int) -> Any:
    """The desired class beside its strongest rival: one half where the model hesitates between both."""
    own = probabilities[:, index]
    rival = numpy.delete(probabilities, index, axis=1).max(axis=1)
    return own / numpy.maximum(own + rival, numpy.finfo(float).tiny)
