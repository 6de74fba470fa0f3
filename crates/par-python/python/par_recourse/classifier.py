"""External classifiers, prepared for the native half."""

from __future__ import annotations

import functools
import os
import re
import warnings
from dataclasses import dataclass, replace
from typing import Any, Callable, Iterable

import pyarrow as pa

from . import _files, _frames, _native
from ._cells import is_same
from ._conversion import converted
from ._judge import Judge, Layout
from ._verification import Answer, Attempt, Scorer, verify
from .errors import ClassifierError, FileError, InvertedClassifierError, SettingError

COMPARED = 2000
"""Training rows on which an ONNX file is compared with its estimator."""
DIFFERENT = 0.01
"""The share of them that may be decided differently."""
SPARE = 4
"""Extra ways, to replace those that the classifier denies."""


@dataclass(frozen=True)
class Supplied:
    """The source of an external classifier; empty if one is to be trained."""

    onnx: tuple[bytes, str] | None = None
    """An ONNX file and its inputs, as TOML."""
    scores: Any = None
    """The probabilities of acceptance of the training rows, for a surrogate; or their classes."""
    numbers: Any = None
    """The same, always as probabilities."""
    column: str = "__scores__"
    judge: Scorer | None = None
    """The classifier itself, to verify people and their ways."""
    is_surrogate: bool = False
    """Whether a surrogate of it was fitted, so that proofs are not about the classifier itself."""
    fallback: Callable[[str], "Supplied"] | None = None
    """Makes another source if the ONNX file cannot be used, from the reason."""
    warning: str | None = None
    """A warning to show after the fit."""
    note: str = "the classifier itself"
    """What is searched, in words."""

    @property
    def spare(self) -> int:
        """The number of extra ways to request."""
        return 0 if self.judge is None else SPARE

    def compare(self, model: _native.Model, table: pa.Table) -> None:
        """Checks that the ONNX file makes nearly the same decisions as the classifier.

        Raises
        ------
        ClassifierError
            When it does not.
        """
        if self.onnx is None or self.judge is None:
            return
        step = -(-table.num_rows // COMPARED)
        rows = table.take(pa.array(range(0, table.num_rows, step)))
        own = model.probability(rows).column(0).to_numpy() >= model.threshold
        different = int((own != (self.judge.probabilities(rows) >= model.threshold)).sum())
        if different > DIFFERENT * rows.num_rows:
            raise ClassifierError(f"its ONNX file decides differently about {different} of {rows.num_rows} training rows")

    def explained(self, error: InvertedClassifierError) -> InvertedClassifierError:
        """The error with a likely cause, if the classifier is a function or an estimator."""
        if self.judge is None:
            return error
        if self.fallback is not None:
            # The estimator may be fine: the fallback checks its own scores.
            return InvertedClassifierError("its ONNX file ranks the classes the wrong way round")
        owner: Any = getattr(getattr(self.judge, "function", None), "__self__", None)
        if hasattr(owner, "classes_"):
            classes = ", ".join(f"`{name}`" for name in owner.classes_)
            hint = (
                f"its `classes_` are {classes}: see that it was trained on the labels of the table, and which class is "
                "`favourable`"
            )
        else:
            hint = (
                "the function must return the probability of acceptance: if it takes `predict_proba(X)[:, 0]`, take "
                "`[:, 1]`, and the other way round (of two columns the second counts); `classes_` has their order"
            )
        problem = str(error).split("\nhint")[0]
        return InvertedClassifierError(f"classifier: {problem}\nhint: {hint}")

    def after_fit(self) -> Supplied:
        """The parts that are needed after the fit."""
        return Supplied(judge=self.judge, is_surrogate=self.scores is not None)

    def verified(
        self,
        answer: Answer,
        people: pa.Table,
        model: _native.Model,
        count: int,
        threshold: float,
        sure: float,
        order: str,
    ) -> tuple[pa.Table, list[Attempt]]:
        """The lines of `answer`, verified by the classifier itself if it is available, and the last attempt for each person,
        if there was more than one."""
        if self.judge is None:
            return answer(people, threshold, None), []
        return verify(self.judge, self.is_surrogate, answer, people, model, count, threshold, sure, order)

    def probabilities(self, table: pa.Table) -> Any:
        """The probabilities of the classifier itself; `None` if it is not available."""
        return None if self.judge is None else self.judge.probabilities(table)


def supply(
    classifier: Any, inputs: Any, X: Any, schema: str, facts: dict[str, Any], favourable: list[str] | None
) -> Supplied:
    """The source of the classifier.

    Parameters
    ----------
    classifier:
        ``None``, an ONNX file, an estimator of scikit-learn, or a function.
    inputs:
        How a row becomes the inputs of an ONNX file: a TOML file, its text, or ``None``.
    X:
        The training rows.
    schema, facts:
        The schema as TOML, and what it says.
    favourable:
        The accepted classes, if known.

    Raises
    ------
    ClassifierError
        When the classifier cannot be used in any way.
    """
    if hasattr(classifier, "SerializeToString"):
        classifier = classifier.SerializeToString()
    if isinstance(classifier, (str, os.PathLike, bytes, bytearray, memoryview)):
        file = _bytes(classifier)
        return Supplied(onnx=(file, _inputs(file, inputs, schema, facts, favourable)))
    if inputs is not None:
        raise SettingError("`inputs` has an effect only with a `classifier` that is an ONNX file")
    if classifier is None:
        return Supplied()
    if isinstance(classifier, type):
        name = classifier.__name__
        raise ClassifierError(f"classifier: `{name}` is a class, expected an object\nhint: fit one first")
    if facts["label"] is not None and facts["label"]["goal"] is not None:
        return _regression(classifier, X, schema, facts)
    estimator, method = _behind(classifier)
    if method is not None:
        return _estimator(estimator, method, X, schema, facts, favourable)
    if callable(classifier):
        judge, table = _function(classifier, X, facts, favourable)
        return _surrogate_source(judge, table, facts, favourable)
    hint = "pass its `predict`" if hasattr(classifier, "predict") else "see the documentation of `classifier`"
    raise ClassifierError(
        f"classifier: a {type(classifier).__name__} has no `predict_proba`, expected an ONNX file, an estimator, or a "
        f"function that gives probabilities of acceptance\nhint: {hint}"
    )


OtherVersion = tuple[str, bytes, str]
"""Another version of the classifier: its name, an ONNX file and its inputs, as TOML."""


def other_versions(
    also: Iterable[Any], inputs: Any, X: Any, schema: str, facts: dict[str, Any], favourable: list[str] | None
) -> list[OtherVersion]:
    """The further versions of the classifier; the other parameters are those of `supply`.

    Raises
    ------
    ClassifierError
        When one cannot be used as an ONNX file.
    """
    versions = []
    for number, version in enumerate(also, 1):
        is_file = isinstance(version, (str, os.PathLike))
        name = os.path.basename(os.fspath(version)) if is_file else f"{type(version).__name__} {number}"
        is_onnx = is_file or isinstance(version, (bytes, bytearray, memoryview)) or hasattr(version, "SerializeToString")
        supplied = supply(version, inputs if is_onnx else None, X, schema, facts, favourable)
        if supplied.onnx is None:
            raise ClassifierError(
                f"also: {name} cannot be converted to ONNX\nhint: pass ONNX files, or fitted estimators that skl2onnx converts"
            )
        versions.append((name, *supplied.onnx))
    return versions


# -- ONNX files


def _bytes(classifier: Any) -> bytes:
    if not isinstance(classifier, (str, os.PathLike)):
        return bytes(classifier)
    path = os.fspath(classifier)
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from error


def _inputs(file: bytes, inputs: Any, schema: str, facts: dict[str, Any], favourable: list[str] | None) -> str:
    if inputs is not None:
        return _files.toml(inputs)
    draft = _native.draft_inputs(file, schema)
    label = facts["label"]
    if label is not None and favourable is not None and set(favourable) != set(label["favourable"]):
        # The draft is for the favourable classes of the schema.
        if len(label["classes"]) != 2:
            raise ClassifierError(
                f"inputs: the output for {_listed(favourable)} is not known\nhint: set `accepted` in `inputs`"
            )
        draft = re.sub(r"(?m)^accepted = ([01])", lambda found: f"accepted = {1 - int(found[1])}", draft)
    _, _, drafted = draft.partition("\n\n")
    guesses = [line.strip() for line in drafted.splitlines() if re.search(r"#.*\b[Gg]uess\b", line)]
    if guesses:
        shown = "\n".join(f"  {guess if len(guess) <= 110 else guess[:107] + '...'}" for guess in guesses[:8])
        warnings.warn(
            f"the inputs of the ONNX file were drafted, with guesses:\n{shown}\n"
            "hint: pass `inputs`; `par inputs init` writes a file to correct",
            stacklevel=4,
        )
    return draft


# -- estimators


def _behind(classifier: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    """The estimator behind a classifier, which can be converted, and its method: `predict_proba` of an estimator, or the
    method that was passed. A `partial` without arguments is looked through. Without an estimator there is no method.
    """
    function = classifier
    while isinstance(function, functools.partial) and not function.args and not function.keywords:
        function = function.func
    owner = getattr(function, "__self__", None)
    is_method = getattr(function, "__name__", "") in ("predict_proba", "predict")
    if is_method and hasattr(owner, "classes_") and hasattr(owner, "predict_proba"):
        return owner, function
    return classifier, getattr(classifier, "predict_proba", None)


def _regression(estimator: Any, X: Any, schema: str, facts: dict[str, Any]) -> Supplied:
    """A fitted regression, as an ONNX file: it is searched, and verifies every way, by that file."""
    if not hasattr(estimator, "predict") or not hasattr(estimator, "n_features_in_"):
        raise ClassifierError(
            f"classifier: the label is a number, and a {type(estimator).__name__} is no fitted regression of "
            "scikit-learn\nhint: pass one that skl2onnx converts, or an ONNX file"
        )
    table = _frames.read(X).table
    names, kinds = _expected_columns(estimator, X, table, facts, is_estimator=True)
    layout = Layout.of(X, kinds[0], names)
    return Supplied(onnx=converted(estimator, None, table, layout, facts, schema))


def _estimator(
    estimator: Any,
    method: Callable[[Any], Any],
    X: Any,
    schema: str,
    facts: dict[str, Any],
    favourable: list[str] | None,
) -> Supplied:
    if not hasattr(estimator, "classes_") and hasattr(estimator, "get_params"):
        raise ClassifierError(f"classifier: this {type(estimator).__name__} is not fitted\nhint: fit it first")
    judge, table = _function(method, X, facts, favourable)

    def fallback(why: str) -> Supplied:
        reason = why.split("\nhint")[0]
        warning = (
            f"the classifier cannot be searched as it is: {reason}\nThe search uses a surrogate network. Every answer is "
            "verified with the classifier itself, and ways that it denies are left out, so some people may get none: "
            "`coverage_` is the measured share who get one."
        )
        return replace(_surrogate_source(judge, table, facts, favourable), warning=warning)

    try:
        places = _places(list(estimator.classes_), favourable) if hasattr(estimator, "classes_") else (1,)
        onnx = converted(estimator, places, table, judge.layout, facts, schema)
    except ClassifierError as error:
        return fallback(str(error))
    note = f"the {type(estimator).__name__} behind `{method.__name__}`, converted to an ONNX file"
    return Supplied(onnx=onnx, judge=judge, fallback=fallback, note=note)


# -- functions


def _function(
    function: Callable[[Any], Any], X: Any, facts: dict[str, Any], favourable: list[str] | None
) -> tuple[Judge, pa.Table]:
    """The judge for a function, and the rows of the table."""
    table = _frames.read(X).table
    owner: Any = getattr(function, "__self__", None)
    has_classes = hasattr(owner, "classes_")
    places: tuple[int, ...] | None = None
    accepted: tuple[Any, ...] | None = None
    if has_classes and function.__name__ in ("predict_proba", "predict"):
        found = _places(list(owner.classes_), favourable)
        if function.__name__ == "predict":
            accepted = tuple(owner.classes_[place] for place in found)
        else:
            places = found
    names, kinds = _expected_columns(owner, X, table, facts)
    judges = [Judge(function, Layout.of(X, kind, names), places, accepted) for kind in kinds]
    for judge in judges[:-1]:
        try:
            judge.probabilities(table.slice(0, 1))
            return judge, table
        except ClassifierError:
            continue
    return judges[-1], table


def _expected_columns(
    owner: Any, X: Any, table: pa.Table, facts: dict[str, Any], is_estimator: bool = False
) -> tuple[list[str], list[str]]:
    """The columns that a classifier takes, and the kinds of frame to try."""
    features = {feature["name"] for feature in facts["features"]}
    kind = _frames.kind_of(X)
    own = [name for name in table.column_names if name in features]
    if not is_estimator and not hasattr(owner, "classes_"):
        return own, [kind]
    known = getattr(owner, "feature_names_in_", None)
    if known is not None:
        # LightGBM replaces spaces by `_`.
        spelled = {re.sub(r"\s", "_", name): name for name in table.column_names}
        names = [name if name in table.column_names else spelled.get(name, name) for name in map(str, known)]
        for name in names:
            if name not in table.column_names:
                raise ClassifierError(f"classifier: was trained on a column `{name}`, which X does not have")
        return names, list(dict.fromkeys([kind if kind != "pyarrow" else "pandas", "pandas"]))
    count = getattr(owner, "n_features_in_", len(own))
    if count != len(own):
        raise ClassifierError(
            f"classifier: was trained on {count} columns without names, expected the {len(own)} features of the "
            "schema\nhint: train it on a table with names"
        )
    return own, ["numpy"]


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _places(classes: list[Any], favourable: list[str] | None) -> tuple[int, ...]:
    """The positions of the favourable classes."""
    if favourable is None and len(classes) == 2:
        return (1,)
    wanted_classes = favourable or []
    places = [next((place for place, own in enumerate(classes) if is_same(own, name)), None) for name in wanted_classes]
    found = tuple(place for place in places if place is not None)
    if found and len(found) == len(places):
        return found
    known = ", ".join(f"`{found}`" for found in classes[:5])
    absent = [name for name, place in zip(wanted_classes, places) if place is None]
    wanted = "which of them counts as accepted" if favourable is None else f"{_listed(absent)}, which counts as accepted,"
    raise ClassifierError(
        f"classifier: its classes are {known}, and {wanted} is not {'known' if favourable is None else 'among them'}\n"
        "hint: train it on the labels of the table, or pass a function: `lambda X: model.predict_proba(X)[:, 1]`"
    )


def _surrogate_source(
    judge: Judge, table: pa.Table, facts: dict[str, Any], favourable: list[str] | None
) -> Supplied:
    """The source of a classifier of which only the scores are known."""
    scores = numbers = judge.probabilities(table)
    label = facts["label"]
    accepted = [name for name in label["classes"] if name in (favourable or [])] if label is not None else []
    if label is not None and accepted and ((scores == 0) | (scores == 1)).all():
        # Class names instead of numbers, which would be ambiguous if the classes are called 0 and 1.
        denied = next(name for name in label["classes"] if name not in accepted)
        scores = [accepted[0] if score else denied for score in scores]
    note = "a surrogate network of the function"
    return Supplied(scores=pa.array(scores), numbers=numbers, judge=judge, note=note)
