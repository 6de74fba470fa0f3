"""What the columns of a table mean, and what people can change."""

from __future__ import annotations

import copy
import difflib
import json
import os
from html import escape
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping, Sequence, TypedDict, Union

from . import _files, _frames, _native, _toml
from ._cells import cell, names
from ._request import Effort
from .errors import FileError, SettingError

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._types import Column, Table

Kind = Literal["nominal", "ordinal", "discrete", "continuous"]
"""Categories without an order, categories in order, whole numbers, numbers."""
Change = Literal["never", "free", "increase", "decrease", "with-time", "follows"]
"""What may happen to a feature; without a word it is undecided, and stays."""
Direction = Literal["increase", "decrease"]
Value = Union[str, float, bool]
Permitted = Union[Value, Sequence[Value]]
"""A set of values: ``"6..24"``, ``"6.."`` or ``"..24"`` with both ends inside, ``"A|B"``, one value, or a list."""


class Step(TypedDict, total=False):
    """How far a feature may move from the person's own value, in its unit; of ordered categories in places."""

    up: float
    down: float
    at_least: float
    grid: float


class FeatureKeys(TypedDict, total=False):
    """What a schema says of a feature; `docs/schema.md` explains every key. `None` takes a statement back."""

    kind: Kind
    values: Sequence[Value] | None
    labels: Mapping[str, str] | None
    unit: str | None
    range: tuple[float, float] | None
    observed: tuple[float, float] | None
    bounds: tuple[float, float] | None
    bins: int | None
    missing: bool | None
    special: Sequence[float] | None
    change: Change | None
    allowed: Sequence[Value] | None
    step: Step | None
    transitions: Mapping[str, Sequence[Value] | Literal["leave"]] | None
    forbid: Mapping[str, Sequence[Value]] | None
    effort: Effort | None
    per: float | None
    takes: str | None
    improves: Direction | None
    who: Literal["applicant", "lender"] | None
    note: str | None


class LabelKeys(TypedDict, total=False):
    """What a schema says of the label: classes, or a number to reach."""

    column: str
    classes: Sequence[Value] | None
    favourable: Value | Sequence[Value] | None
    paper_favourable: Value | None
    counts: Sequence[int] | None
    at_least: float | None
    at_most: float | None
    unit: str | None


class TableKeys(TypedDict, total=False):
    """What a schema says of the table as a whole."""

    name: str | None
    file: str | None
    rows: int | None
    folds: int | None
    missing_text: Sequence[str] | None


_FEATURE_KEYS = ("name", *FeatureKeys.__annotations__)
_OF_CLASSES = ("classes", "favourable", "paper_favourable", "counts")
_OF_NUMBERS = ("at_least", "at_most", "unit")
_TOP_KEYS = ("version", *TableKeys.__annotations__, "columns", "label", "feature", "relation", "accept")


class Schema:
    """What the columns of a table mean, and what people can change: `docs/schema.md`, as an object.

    A schema does not change: every method that says something returns another schema. It is read as a whole, with the
    messages of the TOML's reader, when it is used, or by `check`; until then it may contradict itself. A notebook shows
    its features, with those that are undecided marked.

    Examples
    --------
    >>> from par_recourse import Schema, datasets
    >>> german = datasets.german_credit()
    >>> schema = (
    ...     Schema.draft(german.X, german.y, favourable="Good")
    ...     .feature("Duration", change="free", allowed=[12, 24, 36], who="lender")
    ...     .feature(["Age", "foreign worker"], change="never")
    ...     .together("Duration", "Credit amount")
    ... )
    >>> schema["Duration"]["allowed"]
    [12, 24, 36]
    >>> schema.check().undecided[:2]
    ['Status of existing checking account', 'Savings account/bonds']
    """

    def __init__(self, members: Mapping[str, Any]) -> None:
        """A schema from the members of its TOML, as a dict."""
        self._members: dict[str, Any] = copy.deepcopy(dict(members))
        self._text: str | None = None
        self._reasons: dict[str, str] = {}

    # -- from somewhere, and to somewhere

    @classmethod
    def draft(
        cls,
        X: Table,
        y: Column | None = None,
        *,
        label: str | None = None,
        favourable: Value | Sequence[Value] | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> Self:
        """A first schema of a table, for you to correct: above all what is `undecided`, and so stays as it is.

        Parameters
        ----------
        y, label:
            The label, or its column in `X`. Guessed by default.
        favourable:
            The class that people want, or several. Guessed by default.
        at_least, at_most:
            The label is a number, and people want it to be at least, or at most, this.
        """
        if at_least is not None and at_most is not None or favourable is not None and not (at_least is at_most is None):
            raise SettingError("draft: expected one of `favourable`, `at_least` and `at_most`")
        table = _frames.read(X).table
        if y is not None:
            label = label or _frames.name_of(y)
            table = _frames.with_column(table, label, y)
        wanted = [] if favourable is None else [cell(own) for own in _listed(favourable)]
        text, reasons = _native.draft_schema(table, label, favourable=wanted, at_least=at_least, at_most=at_most)
        drafted = cls.from_toml(text)
        drafted._reasons = dict(reasons)
        return drafted

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """A schema from the text of its TOML."""
        read = cls(_native.read_toml(text))
        read._text = text
        return read

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """A schema from a TOML file."""
        return cls.from_toml(_files.text(path))

    def to_toml(self) -> str:
        """The text of its TOML: as it was read, or, once something was changed, written anew without its comments."""
        if self._text is not None:
            return self._text
        ordered = {key: self._members[key] for key in (*_TOP_KEYS, *self._members) if key in self._members}
        return _toml.document(ordered, {(name, "change"): reason for name, reason in self._reasons.items()})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a TOML file, which `par` reads too.

        Raises
        ------
        SchemaError
            When it contradicts itself: as `check`.
        """
        text = self.check().to_toml()
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise FileError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from error

    def to_dict(self) -> dict[str, Any]:
        """The members of its TOML."""
        return copy.deepcopy(self._members)

    def check(self) -> Self:
        """The schema itself, if it is one.

        Raises
        ------
        SchemaError
            When it contradicts itself, says something unknown, or lacks something.
        """
        _native.schema_facts(self.to_toml())
        return self

    # -- what it says

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        return [feature["name"] for feature in self._features()]

    @property
    def undecided(self) -> list[str]:
        """The names of the features of which nobody has said what may happen to them; they stay as they are."""
        return [feature["name"] for feature in self._features() if self._change(feature) == "undecided"]

    @property
    def relations(self) -> list[str]:
        """The relations between features, in words."""
        return json.loads(_native.schema_facts(self.to_toml()))["relations"]

    @property
    def policies(self) -> list[str]:
        """The rules that hold beside the classifier, in words."""
        return json.loads(_native.schema_facts(self.to_toml()))["policies"]

    def __getitem__(self, name: str) -> dict[str, Any]:
        """What is said of a feature, by key."""
        return copy.deepcopy(self._features()[self._position(name)])

    def __contains__(self, name: object) -> bool:
        return name in self.features

    def __len__(self) -> int:
        return len(self._features())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._members == other._members

    __hash__ = None  # type: ignore[assignment]

    # -- saying something

    def feature(self, name: str | Iterable[str], **said: Unpack[FeatureKeys]) -> Self:
        """With something said of a feature, or of several; one that is not there yet is added, if it has a `kind`.

        Parameters
        ----------
        kind, values, labels, unit, range, observed, bounds, bins, missing, special, note:
            What its column holds.
        change, allowed, step, transitions, forbid:
            What may happen to it.
        effort, per, takes, improves, who:
            What that costs, how long it takes, what is better, and who does it.
        """
        _refuse_unknown("feature", said, _FEATURE_KEYS)
        changed = self._edited()
        features = changed._members.setdefault("feature", [])
        for one in names(name, "feature"):
            if one not in changed.features and "kind" in said:
                features.append({"name": one})
            position = changed._position(one)
            own = {**features[position], **said}
            features[position] = {key: own[key] for key in _FEATURE_KEYS if own.get(key) is not None}
            if "change" in said:
                changed._reasons.pop(one, None)
        return changed

    def drop(self, *features: str) -> Self:
        """Without some features. Relations that name them have to go too: see `without_relations`."""
        changed = self._edited()
        for name in features:
            del changed._members["feature"][changed._position(name)]
            changed._reasons.pop(name, None)
        return changed

    def label(self, **said: Unpack[LabelKeys]) -> Self:
        """With something said of the label: its `column`, and `classes` with those that are `favourable`, or a number that
        it should be `at_least` or `at_most`."""
        _refuse_unknown("label", said, tuple(LabelKeys.__annotations__))
        label = {**self._members.get("label", {}), **said}
        if said.get("at_least") is not None or said.get("at_most") is not None:
            other = "at_most" if said.get("at_least") is not None else "at_least"
            label = {key: own for key, own in label.items() if key in said or key not in (*_OF_CLASSES, other)}
        elif any(said.get(key) is not None for key in _OF_CLASSES):
            label = {key: own for key, own in label.items() if key in said or key not in _OF_NUMBERS}
        return self._with("label", {key: own for key, own in label.items() if own is not None})

    def columns(self, *, id: str | None = None, fold: str | None = None, subtest: str | None = None) -> Self:
        """With the columns that are neither features nor the label, instead of those before: the one that names rows, and
        two for benchmarks."""
        told = {"id": id, "fold": fold, "subtest": subtest}
        return self._with("columns", {key: name for key, name in told.items() if name is not None} or None)

    def table(self, **said: Unpack[TableKeys]) -> Self:
        """With something said of the table: its `name`, `file`, `rows` and `folds`, for people, and `missing_text`, the
        texts of a missing cell."""
        _refuse_unknown("table", said, tuple(TableKeys.__annotations__))
        changed = self
        for key, own in said.items():
            changed = changed._with(key, own)
        return changed

    # -- relations

    def at_most(self, first: str, second: str) -> Self:
        """Values of the first feature are at most those of the second."""
        return self._related({"at_most": [first, second]})

    def sum(self, *of: str, gives: str) -> Self:
        """A feature is the sum of others, and follows them."""
        return self._computed({"sum": list(of)}, gives)

    def product(self, *of: str, gives: str) -> Self:
        """A feature is the product of others, and follows them."""
        return self._computed({"product": list(of)}, gives)

    def difference(self, first: str, second: str, *, gives: str) -> Self:
        """A feature is the first less the second, and follows them."""
        return self._computed({"difference": [first, second]}, gives)

    def ratio(self, first: str, second: str, *, gives: str) -> Self:
        """A feature is the first divided by the second, and follows them."""
        return self._computed({"ratio": [first, second]}, gives)

    def lookup(self, feature: str, table: Iterable[tuple[Permitted, Value]], *, gives: str) -> Self:
        """A feature follows another by a table: of the first pair whose set holds the other's value, it has the second."""
        return self._computed({"lookup": feature}, gives, {"table": [list(pair) for pair in table]})

    def when(self, conditions: Mapping[str, Permitted], then: Mapping[str, Permitted]) -> Self:
        """Where all conditions hold, all of `then` holds."""
        return self._related({"when": dict(conditions), "then": dict(then)})

    def together(self, *features: str) -> Self:
        """All of these features change, or none does."""
        return self._related({"together": list(features)})

    def at_most_changes(self, count: int, of: Iterable[str]) -> Self:
        """At most so many of these features change."""
        return self._related({"at_most_changes": count, "of": list(of)})

    def if_increases(self, feature: str, *, must_increase: str | None = None, must_decrease: str | None = None) -> Self:
        """A feature rises only if another one rises, or falls."""
        return self._related({"if_increases": feature, "must_increase": must_increase, "must_decrease": must_decrease})

    def if_decreases(self, feature: str, *, must_increase: str | None = None, must_decrease: str | None = None) -> Self:
        """A feature falls only if another one rises, or falls."""
        return self._related({"if_decreases": feature, "must_increase": must_increase, "must_decrease": must_decrease})

    def without_relations(self) -> Self:
        """Without any relation."""
        return self._with("relation", None)

    # -- policies

    def accept(
        self,
        require: Mapping[str, Permitted],
        *,
        when: Mapping[str, Permitted] | None = None,
        because: str | None = None,
    ) -> Self:
        """A row is accepted only if this holds too, where `when` holds; `because` says why, for people."""
        return self._appended("accept", {"when": None if when is None else dict(when), "require": dict(require), "because": because})

    def without_policies(self) -> Self:
        """Without any rule beside the classifier."""
        return self._with("accept", None)

    # -- how it shows

    def __repr__(self) -> str:
        cells = [("feature", "kind", "change", "more"), *(line[:4] for line in self._lines())]
        widths = [max(len(line[at]) for line in cells) for at in range(3)]
        rows = ("  ".join([*(part.ljust(width) for part, width in zip(line, widths)), line[3]]).rstrip() for line in cells)
        return "\n".join([self._summary(), *rows])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("feature", "kind", "change", "more"))
        rows = []
        for *line, reason in self._lines():
            mark = ' style="background: #fff3cd; color: #664d03"' if line[2] == "undecided" else ""
            title = f' title="{escape(reason)}"' if reason else ""
            rows.append(f"<tr{mark}{title}>" + "".join(f"<td>{escape(part)}</td>" for part in line) + "</tr>")
        return f"<p>{escape(self._summary())}</p><table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def _summary(self) -> str:
        label = self._members.get("label", {})
        wanted = next((f"{key.replace('_', ' ')} {label[key]}" for key in ("at_least", "at_most") if key in label), None)
        if wanted is None and "favourable" in label:
            wanted = " or ".join(map(str, _listed(label["favourable"])))
        count = len(self.undecided)
        parts = [
            f"{len(self)} feature{'' if len(self) == 1 else 's'}",
            f"label `{label['column']}`: {wanted} is wanted" if "column" in label else "no label",
            f"{count} undecided" if count else "nothing undecided",
        ]
        for key, one, many in (("relation", "relation", "relations"), ("accept", "policy", "policies")):
            number = len(self._members.get(key, []))
            parts += [f"{number} {one if number == 1 else many}"] if number else []
        return f"Schema: {', '.join(parts)}"

    def _lines(self) -> list[tuple[str, str, str, str, str]]:
        """A line for each feature: name, kind, change, all else, and why the draft says so."""
        lines = []
        for feature in self._features():
            rest = {key: own for key, own in feature.items() if key not in ("name", "kind", "change", "immutable", "monotone")}
            more = ", ".join(f"{key} {_short(own)}" for key, own in rest.items())
            reason = self._reasons.get(feature["name"], "")
            change = self._change(feature)
            if change == "undecided" and reason:
                more = f"{more}; {reason}" if more else reason
            lines.append((str(feature["name"]), str(feature.get("kind", "")), change, more, reason))
        return lines

    # -- inside

    def _features(self) -> list[dict[str, Any]]:
        return self._members.get("feature", [])

    def _change(self, feature: Mapping[str, Any]) -> str:
        if self._members.get("version", 1) != 1:
            return str(feature.get("change", "undecided"))
        if feature.get("immutable"):
            return "never"
        return {"increasing": "increase", "decreasing": "decrease"}.get(feature.get("monotone", ""), "free")

    def _position(self, name: str) -> int:
        if name in self.features:
            return self.features.index(name)
        near = difflib.get_close_matches(str(name), self.features, 1)
        hint = f"did you mean `{near[0]}`?" if near else "a feature that is added needs its `kind`"
        raise SettingError(f"the schema has no feature `{name}`\nhint: {hint}")

    def _edited(self) -> Self:
        """A copy to change, of version 2."""
        changed = copy.copy(self)
        if self._members.get("version", 1) == 1 and self._features():
            changed = type(self).from_toml(_native.upgrade_schema(self.to_toml()))
        changed._members = {"version": 2, **copy.deepcopy(changed._members)}
        changed._reasons = dict(self._reasons)
        changed._text = None
        return changed

    def _with(self, key: str, own: Any) -> Self:
        changed = self._edited()
        changed._members[key] = own
        if own is None:
            del changed._members[key]
        return changed

    def _appended(self, key: str, statement: Mapping[str, Any]) -> Self:
        stated = {name: own for name, own in statement.items() if own is not None}
        return self._with(key, [*self._members.get(key, []), stated])

    def _related(self, relation: Mapping[str, Any]) -> Self:
        return self._appended("relation", relation)

    def _computed(self, formula: Mapping[str, Any], gives: str, more: Mapping[str, Any] | None = None) -> Self:
        return self.feature(gives, change="follows")._related({**formula, "gives": gives, **(more or {})})


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else _toml.value(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse_unknown(what: str, said: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in said:
        if key not in known or (what == "feature" and key == "name"):
            near = difflib.get_close_matches(key, known, 1)
            hint = f"\nhint: did you mean `{near[0]}`?" if near else ""
            raise SettingError(f"{what}: there is no key `{key}`, expected one of {', '.join(known)}{hint}")
