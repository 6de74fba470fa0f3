"""The estimator: from a table to recourse."""

from __future__ import annotations

import inspect
import json
import os
import random
import warnings
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping, Sequence, overload

import pyarrow as pa

from . import _files, _frames, _native, _surrogate
from ._request import Effort, Limit, Method, Order, Request, answer_table, column_filter, explain_row, warn_of_renamed
from ._cells import cell, is_same, names, number, whole
from .classifier import OtherVersion, Supplied, other_versions, supply
from .errors import ClassifierError, DataError, InvertedClassifierError, SettingError, not_fitted
from .evaluation import METHODS, Evaluation, evaluate_table
from .explanation import Explanation
from .progress import Listener, listener
from .schema import Schema
from .ways import Ways

if TYPE_CHECKING:
    import polars
    from typing_extensions import Unpack

    from ._types import (
        Array,
        ArrowArray,
        ArrowStream,
        ArrowTable,
        Column,
        FrameT,
        LazyFrame,
        Numbers,
        Options,
        Row,
        Rows,
        Table,
    )


class Recourse:
    """What denied people could change to be accepted.

    An estimator with the conventions of scikit-learn: settings are parameters of the constructor, `fit` learns from a
    table, and learned attributes end in an underscore. Tables may be of pandas, polars or pyarrow, or anything with
    the Arrow C interface; answers have the same kind. Columns of numpy arrays are named by the features of the schema;
    their answers are tables of pyarrow, as are those of dicts and lists.

    Parameters
    ----------
    schema:
        The meaning of the columns and what people can change: a `Schema`, a TOML file, its text, or a dict. By default it is drafted
        from the table, with a warning: only what a person plausibly can change does, and what a table does not say stays.
    classifier:
        An external classifier: an ONNX file (a path or its bytes), a scikit-learn estimator or Pipeline on raw columns,
        or any function that returns probabilities of acceptance for a table. By default a classifier is trained. If a
        function returns two columns, the second counts, except for the `predict_proba` of an estimator, which has
        `classes_`. An estimator, or the one behind its method `predict_proba` or `predict`, is converted by skl2onnx
        and searched exactly; for another function, or an estimator that cannot be converted, the search uses a surrogate,
        and `coverage_` says how many people it serves. In both cases the estimator or function itself verifies every
        answer. It gets tables of the same kind, columns and types as `fit`. If there are
        labels, a classifier whose scores are clearly those of the other class is refused. If the label is a number, it
        is an ONNX file or a fitted regression that skl2onnx converts.
    inputs:
        How a row becomes the inputs of an ONNX file: a TOML file or its text. Drafted by default.
    versions:
        How many other versions of the classifier are trained, each on other draws of the rows, for ways that should last
        (`robust` of `recourse`); none by default.
    also:
        Further versions of the classifier: ONNX files, with the same `inputs`, or fitted estimators that skl2onnx
        converts. They accept from the threshold of the model on.
    favourable:
        The accepted class, or a list of several; by default the schema's. All other classes are denied.
    immutable:
        Immutable features, which replace those of the schema.
    threshold:
        The lowest probability with which a row is accepted, or ``"youden"``; 0.5 by default. If the label is a number (the
        schema says `at_least` or `at_most`): the number to reach, by default the schema's.
    density:
        Whether the circuits are learned from the ``"labels"`` or from the classifier's ``"decisions"``.
    bins, budget, price:
        The number of bins of a numeric feature, the most features that change, and by how many nats each further
        change must make the row likelier.
    preset:
        ``"paper"`` for the settings of the paper.
    config:
        All other settings, by section: a TOML file or a dict such as ``{"generator": {"steps": 500}}``.
    random_state:
        Same rows, same settings, same seed: the same model. `None` is 0.
    progress:
        Whether to show the progress of a fit, and of answers and evaluations that take more than a second, or a function
        that is called with (stage, done, of). By default it is shown in a terminal and in a notebook.

    Examples
    --------
    >>> from par_recourse import Recourse, datasets
    >>> german = datasets.german_credit()
    >>> recourse = Recourse(german.schema, config={"generator": {"steps": 20}}).fit(german.X, german.y)
    >>> ways = recourse.ways(german.X.slice(0, 10), lock=["Duration"])
    >>> set(ways.frame.column("status").to_pylist()) <= {"accepted", "found", "not_found"}
    True
    >>> ways.changes().column_names
    ['id', 'rank', 'feature', 'from', 'to', 'effort', 'time', 'follows']
    """

    def __init__(
        self,
        schema: Schema | str | os.PathLike[str] | Mapping[str, Any] | None = None,
        *,
        classifier: Any = None,
        inputs: str | os.PathLike[str] | None = None,
        versions: int | None = None,
        also: Sequence[Any] | None = None,
        favourable: Any = None,
        immutable: Sequence[str] | None = None,
        threshold: float | Literal["youden"] | None = None,
        density: Literal["labels", "decisions"] | None = None,
        bins: int | None = None,
        budget: int | None = None,
        price: float | None = None,
        preset: Literal["paper"] | None = None,
        config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        random_state: int | None = 0,
        progress: bool | Listener | None = None,
    ) -> None:
        self.schema = schema
        self.classifier = classifier
        self.inputs = inputs
        self.versions = versions
        self.also = also
        self.favourable = favourable
        self.immutable = immutable
        self.threshold = threshold
        self.density = density
        self.bins = bins
        self.budget = budget
        self.price = price
        self.preset = preset
        self.config = config
        self.random_state = random_state
        self.progress = progress

    # -- scikit-learn's conventions

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings, by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Recourse:
        """Changes settings, by name."""
        for name, value in params.items():
            if name not in self._names():
                raise SettingError(f"there is no setting `{name}`, expected one of {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self).__init__).parameters
        changed = (f"{name}={value!r}".partition("\n")[0] for name, value in self.get_params().items() if value is not parameters[name].default)
        return f"Recourse({', '.join(part if len(part) < 80 else part[:77] + '...' for part in changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(string=True, categorical=True, allow_nan=True),
        )

    def __sklearn_clone__(self) -> Recourse:
        # The classifier is shared, not cloned: a clone of an estimator is not fitted.
        return type(self)(**self.get_params())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # -- fitting

    def fit(self, X: Table, y: Column | None = None, **unsupported: object) -> Recourse:
        """Fits a model to a table. `y` holds the label, unless a column of `X` does.

        Ctrl-C stops it. All rows count alike: `sample_weight` is refused, since likelihoods are learned by counting rows.

        Raises
        ------
        SettingError
            When it is passed anything else, such as `sample_weight`.
        """
        _refuse(unsupported)
        X = _frames.collected(X)
        schema, facts, table = self._described(X, y)
        label = facts["label"]["column"] if facts["label"] else None
        # A stream can be read only once.
        rows = table if _frames.kind_of(X) == "pyarrow" else X
        wanted = self._favourable(facts)
        favourable = None if self.favourable is None else wanted
        supplied = supply(self.classifier, self.inputs, rows, schema, facts, wanted)
        also = other_versions(self.also or (), self.inputs, rows, schema, facts, wanted)
        self._warn_of_freed(facts)
        try:
            model = self._fit(table, schema, supplied, also, favourable)
            supplied.compare(model, table)
        except ClassifierError as error:
            if supplied.fallback is None:
                raise
            supplied = supplied.fallback(str(error))
            model = self._fit(table, schema, supplied, also, favourable)
        if supplied.warning is not None:
            warnings.warn(supplied.warning, stacklevel=2)
        model = self._trained_on_ways(model, supplied, table)
        self.searched_ = supplied.note
        labels = table.column(label).unique().to_pylist() if label in table.column_names else []
        self._take(model, supplied, labels)
        return self

    def _warn_of_freed(self, facts: dict[str, Any]) -> None:
        """`immutable` replaces the schema's immutable features, which is easily overlooked."""
        fixed_here = None if self.immutable is None else names(self.immutable, "immutable")
        fixed = [feature["name"] for feature in facts["features"] if feature["immutable"]]
        freed = [name for name in fixed if fixed_here is not None and name not in fixed_here]
        if freed:
            free = ", ".join(f"`{name}`" for name in freed)
            warnings.warn(
                f"`immutable` replaces the schema's, so {free} may change\n"
                "hint: name all immutable features",
                stacklevel=3,
            )

    def _fit(
        self,
        table: pa.Table,
        schema: str,
        supplied: Supplied,
        also: list[OtherVersion],
        favourable: list[str] | None,
    ) -> _native.Model:
        if supplied.scores is not None:
            table = _frames.with_column(table, supplied.column, supplied.scores)
        report, end = listener(self.progress)
        config = self.config
        file = None if config is None or isinstance(config, Mapping) else (os.fspath(config), _files.text(config))
        settings = self._settings(favourable)
        if supplied.scores is not None and file is None and self.preset is None:
            for section, values in _surrogate.SETTINGS.items():
                settings[section] = {**values, **settings.get(section, {})}
        try:
            return _native.fit(
                table,
                schema,
                preset=self.preset,
                file=file,
                settings=json.dumps(settings),
                classifier=supplied.onnx,
                scores=None if supplied.scores is None else supplied.column,
                also=also,
                progress=report,
            )
        except InvertedClassifierError as error:
            raise supplied.explained(error) from None
        finally:
            end()

    def _trained_on_ways(self, model: _native.Model, supplied: Supplied, table: pa.Table) -> _native.Model:
        """The model whose surrogate, if it has one, has learned from the ways it proposed."""
        if supplied.scores is None:
            return model
        report, end = listener(self.progress)
        try:
            return _surrogate.train(model, supplied, table, report)
        finally:
            end()

    def _described(self, X: Any, y: Any) -> tuple[str, dict[str, Any], pa.Table]:
        """The schema, its facts, and the table with its label."""
        if self.schema is not None:
            schema = _files.toml(self.schema)
            facts = json.loads(_native.schema_facts(schema))
            table = _frames.read(X, [feature["name"] for feature in facts["features"]]).table
            if y is not None:
                if facts["label"] is None:
                    raise SettingError("y: the schema names no label\nhint: name the column of y in `[label]`")
                table = _frames.with_column(table, facts["label"]["column"], y)
            return schema, facts, table
        table, name = _frames.read(X).table, None
        if y is not None:
            name = _frames.name_of(y)
            table = _frames.with_column(table, name, y)
        schema, _ = _native.draft_schema(table, name)
        facts = json.loads(_native.schema_facts(schema))
        favourable = self._favourable(facts) or []
        accepted = ", ".join(f"`{name}`" for name in favourable) + (" counts" if len(favourable) == 1 else " count")
        free = ", ".join(feature["name"] for feature in facts["features"] if not feature["immutable"]) or "nothing"
        warnings.warn(
            f"no schema, so one was drafted: {accepted} as accepted, and a person can change {free}\n"
            "hint: see `Schema.draft`",
            stacklevel=3,
        )
        return schema, facts, table

    def _favourable(self, facts: dict[str, Any]) -> list[str] | None:
        if self.favourable is None:
            return facts["label"]["favourable"] if facts["label"] else None
        classes = facts["label"]["classes"] if facts["label"] else []
        is_one = isinstance(self.favourable, str) or not isinstance(self.favourable, Iterable)
        wanted = [self.favourable] if is_one else list(self.favourable)
        return [next((name for name in classes if is_same(own, name)), cell(own)) for own in wanted]

    def _seed(self) -> int:
        return 0 if self.random_state is None else whole(self.random_state, "random_state", 0)

    def _settings(self, favourable: list[str] | None) -> dict[str, Any]:
        """The settings that are not None, by section."""
        settings: dict[str, Any] = {"seed": self._seed()}
        if isinstance(self.config, Mapping):
            settings |= {key: dict(value) if isinstance(value, Mapping) else value for key, value in self.config.items()}
        youden = self.threshold is None or isinstance(self.threshold, str)
        chosen = {
            ("favourable",): favourable,
            ("immutable",): None if self.immutable is None else names(self.immutable, "immutable"),
            ("density",): self.density,
            ("versions",): None if self.versions is None else whole(self.versions, "versions", 0),
            ("bins", "bins"): None if self.bins is None else whole(self.bins, "bins", 2),
            ("classifier", "threshold"): self.threshold if youden else number(self.threshold, "threshold"),
            ("answers", "budget"): None if self.budget is None else whole(self.budget, "budget", 1),
            ("answers", "price"): None if self.price is None else number(self.price, "price"),
        }
        for (*section, key), value in chosen.items():
            if value is not None:
                (settings.setdefault(section[0], {}) if section else settings)[key] = value
        return settings

    def _take(self, model: _native.Model, supplied: Supplied = Supplied(), labels: Sequence[Any] = ()) -> None:
        self.model_ = model
        self.schema_ = model.schema
        facts = json.loads(_native.schema_facts(model.schema))
        self._id = facts["id"]
        self._goal = facts["label"]["goal"] if facts["label"] else None
        self.threshold_ = model.threshold
        self.card_ = json.loads(model.card)
        self.columns_ = dict(model.columns)
        self._names_told = False
        self._features = model.features
        self.n_features_in_ = len(self._features)
        self._supplied = supplied.after_fit()
        self._labels = list(labels)

    # -- answering

    @overload
    def ways(self, X: LazyFrame, **options: Unpack[Options]) -> Ways[polars.DataFrame]: ...
    @overload
    def ways(self, X: Rows, **options: Unpack[Options]) -> Ways[ArrowTable]: ...
    @overload
    def ways(self, X: FrameT, **options: Unpack[Options]) -> Ways[FrameT]: ...
    @overload
    def ways(self, X: ArrowStream | ArrowArray, **options: Unpack[Options]) -> Ways[ArrowTable]: ...

    def ways(self, X: Any, **options: Unpack[Options]) -> Ways[Any]:
        """Ways for all rows of a table, and what changes in each.

        `Ways.frame` is what `recourse` returns for the same parameters, `Ways.changes` has a line for every change.
        """
        model = self._fitted()
        self._warn_of_renamed(model)
        asked: dict[str, Any] = dict(options)
        frame, named = self._people(X, asked.pop("id", None))
        lines = self._answered(Request(**asked), frame, named, changes=True)
        return Ways(frame, lines, self.columns_, self._features, named)

    @overload
    def recourse(self, X: LazyFrame, **options: Unpack[Options]) -> polars.DataFrame: ...
    @overload
    def recourse(self, X: Rows, **options: Unpack[Options]) -> ArrowTable: ...
    @overload
    def recourse(self, X: FrameT, **options: Unpack[Options]) -> FrameT: ...
    @overload
    def recourse(self, X: ArrowStream | ArrowArray, **options: Unpack[Options]) -> ArrowTable: ...

    def recourse(
        self,
        X: Any,
        *,
        count: int = 1,
        lock: str | Iterable[str] = (),
        method: Method = "refine",
        budget: int | None = None,
        limit: Mapping[str, Limit] | None = None,
        threshold: float | None = None,
        order: Order | None = None,
        margin: float | None = None,
        min_percentile: float | None = None,
        effort: Mapping[str, Effort] | None = None,
        max_effort: float | None = None,
        within: str | None = None,
        no_harm: bool = False,
        robust: bool | float = False,
        certify: float | None = None,
        slack: bool = False,
        deadline: str | None = None,
        id: str | None = None,
    ) -> Any:
        """Ways for all rows of a table, as a frame of the same kind: a line for every way.

        Its columns are `id`, `rank`, `status` (`found`, `accepted`, `not_found`, `error`; `unverified` and
        `unverified_accepted` where a surrogate decided), `reason`, `probability`, `log_likelihood`, `conditional_log_likelihood`
        (given what the person cannot change), `percentile` (by it, among accepted people), `changes`, `effort`, `months`, `has_margin`,
        `accepting` (the share of other versions of the classifier that accept it), `certified` (how far the classifier may
        move, with `certify`), `similarity`, `method`, `solves` (`least_effort` or
        `likeliest`), `optimal`, `gap`, `best_at` (`least_effort`, `fewest_changes`, `most_common`, `surest`, `soonest`,
        `lasting`, with `|` between them) and `warning` (values that no training row has), then the row that this person could
        become. Features keep their names: beside a feature `status` our column is `par_status`, with
        a `RenamedColumnWarning`; ``recourse.columns_["status"]`` is its name either way.
        A person who needs no way, or has none, has one line without a rank. A row that cannot be read has the status
        `error`; the others are answered.

        Parameters
        ----------
        count:
            How many ways to find; each leaves out a change of every way before it.
        lock:
            Features that stay as they are. Columns of the table have options of each row: `locks` and `efforts`
            (``Duration=hard``), with `;` between several, `margin`, `max_effort` and `within`.
        method:
            ``"generate"``, ``"refine"``, or ``"exact"``, which proves its answers.
        budget:
            The most features that may change.
        limit:
            The values that features may change to, by name: ``(lowest, highest)``, either of which may be None, or a
            list of values. The person's own value is always allowed.
        threshold:
            The lowest probability with which a row is accepted, instead of the model's.
        order:
            Which way comes first: ``"balanced"``, the least effort among those that are plausible and sure, or
            ``"likelihood"``, the likeliest after the price of its changes. By default the model's order.
        margin:
            How far beyond the threshold a way should be, instead of the model's margin. Where no way is so far beyond it,
            ways that reach the threshold are found, and their `has_margin` is false.
        min_percentile:
            The share of accepted people beside whom a way must be no rarer, given what the person cannot change, instead
            of the model's, which is 0.01 unless told. Where only rarer ways are known, there is none.
        effort:
            How hard it is for these people to change features, by name: ``"easy"``, ``"some"``, ``"hard"``,
            ``"very hard"``, or a weight, of which these are 1, 2, 4 and 8. By default the schema's.
        max_effort:
            The most effort of a way: the sum over its changes of weight times size.
        within:
            The longest time of a way, such as ``"6 months"`` or ``"1 year"``.
        no_harm:
            Whether nothing may get worse, where the schema says which direction is better.
        robust:
            Whether all other versions of the classifier must accept a way too, or the share of them that must. Only for a
            model with `versions` or `also`.
        certify:
            A way must be accepted by every network whose weights differ from the classifier's by at most this share of the
            largest weight of their layer; of trees by all whose thresholds differ by at most this share of the spread of
            their column.
        slack:
            Whether a way must stay accepted when any one of its changes falls a step short.
        deadline:
            The time after which the search for a row ends with what it has, such as ``"50ms"`` or ``"2s"``; its `warning`
            then says so. By default there is none, and answers do not depend on how fast the machine is.
        id:
            The column of row ids; by default the schema's, or the index of a pandas frame. Without one, rows are
            counted from 0.
        """
        self._warn_of_renamed(self._fitted())
        request = Request(
            count, lock, method, budget, limit, threshold, order, margin, min_percentile, effort, max_effort, within, no_harm, deadline,
            robust=robust, certify=certify, slack=slack,
        )
        return self._lines(X, request, id)

    def _warn_of_renamed(self, model: _native.Model) -> None:
        if not self._names_told:
            warn_of_renamed(model, stacklevel=3)
            self._names_told = True

    def _lines(self, X: Any, request: Request, id: str | None = None) -> Any:
        frame, named = self._people(X, id)
        lines = self._answered(request, frame, named)
        return _frames.write(frame, lines, self.columns_, self._features, named)

    def _answered(self, request: Request, frame: _frames.Frame, named: str | None, changes: bool = False) -> pa.Table:
        """The lines of all rows, with progress where the answers take long."""
        report, end = listener(self.progress)
        try:
            return answer_table(
                self._fitted(),
                self._supplied,
                request,
                frame.table,
                id=self._sent(frame, named),
                changes=changes,
                progress=report,
            )
        finally:
            end()

    def _people(self, X: Any, id: str | None) -> tuple[_frames.Frame, str | None]:
        """The columns of a table that are used, and the one of row ids."""
        frame = self._read(X, id)
        columns = frame.columns()
        if id is not None and id not in columns:
            raise SettingError(f"X: no column `{id}` for `id`")
        return frame, id if id is not None else self._id if self._id in columns else None

    def _sent(self, frame: _frames.Frame, named: str | None) -> str | None:
        """The column of row ids that lines have; those of pandas are taken from its frame, where they keep their type."""
        return None if frame.kind == "pandas" else named

    def explain(
        self,
        row: Row,
        *,
        count: int = 1,
        lock: str | Iterable[str] = (),
        method: Method = "exact",
        budget: int | None = None,
        limit: Mapping[str, Limit] | None = None,
        threshold: float | None = None,
        order: Order | None = None,
        margin: float | None = None,
        min_percentile: float | None = None,
        effort: Mapping[str, Effort] | None = None,
        max_effort: float | None = None,
        within: str | None = None,
        no_harm: bool = False,
        robust: bool | float = False,
        certify: float | None = None,
        slack: bool = False,
        deadline: str | None = None,
        auditor: bool = False,
        id: str | None = None,
    ) -> Explanation:
        """One person's answer: `row` is a dict, a pandas Series, or a table of one row.

        The parameters are those of `recourse`. With `auditor`, an answer without a way also names the
        schema's constraints that prevent one (`schema_obstacles`), which is not for the applicant. If the search uses a
        surrogate of the classifier, the classifier itself verifies the ways and gives all probabilities; after `load`, when
        it is gone, the status is `unverified`.
        """
        model = self._fitted()
        frame = _frames.read_row(row)
        request = Request(
            count, lock, method, budget, limit, threshold, order, margin, min_percentile, effort, max_effort, within, no_harm, deadline, auditor,
            robust=robust, certify=certify, slack=slack,
        )
        batch = frame.table.combine_chunks().to_batches()[0]
        named = self._named(frame, id)
        answer = explain_row(model, self._supplied, request, frame.table, id=named)
        named = named if named is not None or self._id not in batch.schema.names else self._id
        types = {name: batch.schema.field(name).type for name in self._features}
        return Explanation(*answer, id=0 if named is None else batch.column(named)[0].as_py(), types=types, kind=frame.kind)

    def evaluate(
        self,
        X: Table,
        y: Column | None = None,
        judge: bool = False,
        *,
        method: Method | None = None,
        sample: int | None = None,
        deadline: str | None = None,
    ) -> Evaluation:
        """The measures of the answers to the denied people of a table. With `y`, also the share of rows that are
        classified correctly.

        Parameters
        ----------
        judge:
            Whether the accepted people of the table judge the answers (`Evaluation.judge_frame`): those whom the model
            accepts and whose `y` is favourable. They must not be those that it was fitted on, and at least 50.
        method:
            The method to measure; all by default. Only ``"exact"`` knows the best rows, so the others have no `gap`
            without it.
        sample:
            So many rows of the table, drawn by `random_state`; all by default.
        deadline:
            The time after which the search for a row ends with what it has, such as ``"50ms"``, as in `recourse`.
        """
        model = self._fitted()
        frame = self._read(X)
        table, labels = frame.table, None if y is None else _frames.column(y, "y")
        if labels is not None and len(labels) != table.num_rows:
            raise DataError(f"y: expected {table.num_rows} values, one for each row of X, found {len(labels)}")
        if sample is not None and whole(sample, "sample", 1) < table.num_rows:
            rows = sorted(random.Random(self._seed()).sample(range(table.num_rows), sample))
            table, labels = table.take(rows), None if labels is None else labels.take(pa.array(rows))
        accuracy, favourable = None, None
        if labels is not None:
            accuracy, favourable = self._score(table, labels), self._favourable_labels(table.num_rows, labels)
        methods: tuple[Method, ...] = METHODS if method is None else (method,)
        report, end = listener(self.progress)
        try:
            evaluated = evaluate_table(
                model, self._supplied, table, methods, deadline, judge=judge, favourable=favourable, progress=report
            )
        finally:
            end()
        return Evaluation(evaluated, frame.kind, accuracy, model.verifies or self._supplied.judge is not None)

    @property
    def coverage_(self) -> float | None:
        """For a function, whose surrogate is searched: the share of sampled denied people with a way that the function itself
        accepts, measured by the fit. Their rows are not learned from, but by them the surrogate was chosen among those of
        all rounds. `None` for any other classifier."""
        self._fitted()
        return (self.card_.get("coverage") or {}).get("mean")

    # -- the classifier's decisions

    @property
    def feature_names_in_(self) -> Array:
        """The names of the features, in the order of the schema: an array of text, as scikit-learn has it."""
        self._fitted()
        return _numpy().array(self._features, dtype=object)

    @property
    def classes_(self) -> Array:
        """The two classes, in sorted order; the columns of `predict_proba`. Several accepted classes are one, with their
        names joined by commas, and so are several denied ones."""
        return _numpy().array(self._classes()[0])

    def predict_proba(self, X: Table) -> Numbers:
        """The probabilities of the classes, a line for every row.

        Raises
        ------
        SettingError
            When the label is a number: see `predict`.
        """
        self._fitted()
        if self._goal is not None:
            raise SettingError("predict_proba: the label is a number\nhint: `predict` gives the predicted numbers")
        accepted = self._probability(self._read(X).table)
        columns = [1 - accepted, accepted]
        return _numpy().column_stack(columns if self._classes()[1] == 1 else columns[::-1])

    def predict(self, X: Table) -> Array:
        """The class of every row; the predicted number if the label is one."""
        said = self._probability(self._read(X).table)
        if self._goal is not None:
            return said
        accepted = said >= self.threshold_
        return self.classes_[(accepted == (self._classes()[1] == 1)).astype(int)]

    def score(self, X: Table, y: Column) -> float:
        """The share of rows that are classified correctly; R² of the predicted numbers if the label is one."""
        table = self._read(X).table
        if self._goal is None:
            return self._score(table, y)
        numpy = _numpy()
        numbers = numpy.asarray(self._labels_of(y, table.num_rows), dtype=float)
        left = ((self._probability(table) - numbers) ** 2).sum()
        return float(1 - left / ((numbers - numbers.mean()) ** 2).sum())

    def log_likelihood(self, X: Table) -> Numbers:
        """log p⁺ of every row, in nats: how likely it is among accepted people. Unknown values are summed out."""
        return _array(self._fitted().log_likelihood(self._read(X).table))

    def _read(self, X: Any, id: str | None = None, index: bool = False) -> _frames.Frame:
        """The columns of a table that are used."""
        self._fitted()
        return _frames.read(X, self._features, column_filter(self._features, self._id, id), index)

    def _classes(self) -> tuple[list[Any], int]:
        """The classes in the type of `y`, sorted, and the position of the accepted one."""
        accepted, denied = (
            next((label for label in self._labels if is_same(label, name)), name) for name in self._fitted().classes
        )
        try:
            ordered = sorted([denied, accepted])
        except TypeError:
            ordered = sorted([denied, accepted], key=str)
        return ordered, ordered.index(accepted)

    def _probability(self, table: pa.Table) -> Any:
        """The probabilities of the classifier itself if it is available, otherwise those of the model."""
        said = self._supplied.probabilities(table)
        return _array(self._fitted().probability(table)) if said is None else said

    def _score(self, table: pa.Table, y: Any) -> float:
        """The share of rows that are decided as their labels say."""
        said = self._probability(table)
        favourable = self._favourable_labels(len(said), y)
        right = (self._reaches(own, self.threshold_) == label for own, label in zip(said, favourable))
        return sum(map(bool, right)) / max(len(favourable), 1)

    def _favourable_labels(self, rows: int, y: Any) -> list[bool]:
        """Whether each label is one of the accepted classes, or reaches what the schema asks for."""
        labels = self._labels_of(y, rows)
        goal = self._goal
        if goal is not None:
            is_good = {label: self._reaches(float(label), goal["bound"]) for label in set(labels)}
        else:
            wanted = self._fitted().favourable or self._fitted().classes[:1]
            is_good = {label: any(is_same(label, name) for name in wanted) for label in set(labels)}
        return [is_good[label] for label in labels]

    def _labels_of(self, y: Any, rows: int) -> list[Any]:
        labels = _frames.column(y, "y").to_pylist()
        if len(labels) != rows:
            raise DataError(f"y: expected {rows} values, one for each row of X, found {len(labels)}")
        return labels

    def _reaches(self, number: float, bound: float) -> bool:
        """Whether a score or a label is on the accepted side of a bound."""
        goal = self._goal
        return number <= bound if goal is not None and goal["side"] == "at_most" else number >= bound

    # -- keeping

    def refit(self, immutable: Sequence[str]) -> Recourse:
        """A Recourse with a generator for other immutable features, instead of the schema's; made without data."""
        report, end = listener(self.progress)
        try:
            model = self._fitted().refit(names(immutable, "immutable"), progress=report)
        finally:
            end()
        other = Recourse(**{**self.get_params(), "immutable": names(immutable, "immutable")})
        other._take(model, self._supplied, self._labels)
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, which `par` reads too. It holds no copy of a training row."""
        self._fitted().save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recourse:
        """Reads a file of `save` or `par fit`. Its classes are the schema's texts."""
        return cls._of(_native.Model.load(os.fspath(path)))

    @classmethod
    def _of(cls, model: _native.Model) -> Recourse:
        loaded = cls(model.schema)
        loaded._take(model)
        return loaded

    @property
    def bundle_(self) -> _native.Model:
        """The name of `model_` in version 0.1."""
        warnings.warn("`bundle_` is called `model_`", DeprecationWarning, stacklevel=2)
        return self._fitted()

    def _fitted(self) -> _native.Model:
        if not hasattr(self, "model_"):
            raise not_fitted("this Recourse is not fitted yet\nhint: call `fit` with a table, or `Recourse.load` a file")
        return self.model_

    def _named(self, frame: _frames.Frame, id: str | None) -> str | None:
        """The column of row ids, if it is not the schema's."""
        if id is not None or frame.index is None:
            return id
        return None if self._id in frame.table.column_names else frame.index


def draft_schema(X: Table, y: Column | None = None) -> str:
    """The text of `Schema.draft(X, y)`."""
    return Schema.draft(X, y).to_toml()


def _refuse(unsupported: Mapping[str, object]) -> None:
    if "sample_weight" in unsupported:
        raise SettingError(
            "fit: `sample_weight` cannot be honoured: likelihoods are learned by counting rows\n"
            "hint: repeat rows by whole weights, or pass a `classifier` that was fitted with weights"
        )
    for name in unsupported:
        raise SettingError(f"fit: there is no argument `{name}`, expected `X` and `y`")


def _array(numbers: pa.RecordBatch) -> Any:
    _numpy()
    return numbers.column(0).to_numpy(zero_copy_only=False)


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as error:
        raise ImportError("arrays are numpy's, which is not installed\nhint: `pip install numpy`") from error
    return numpy
