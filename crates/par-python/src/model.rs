//! A model, its scores and its answers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::Schema as ArrowSchema;
use par_answer::evaluate::{Evaluation, answer_by_methods};
use par_answer::{Bar, Method, write};
use par_circuit::{Code, Dataset, Stop};
use par_data::{Batch, Columns};
use par_fit::{ScoredRows, Stage, complete_surrogate, refit, train_surrogate_of};
use par_judge::{Judge, JudgeError, MethodJudgements};
use par_model::classifier::file_hash;
use par_model::{Mean, RowError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::{PyRecordBatch, PySchema, PyTable};
use rayon::prelude::*;
use serde::Serialize;

use crate::answers::Answers;
use crate::table::{self, CellWriter};
use crate::{errors, figure, fit, frame, request, threads};

/// Rows that a thread answers between two checks for an interruption.
const ROWS_PER_THREAD: usize = 16;

/// The measures of the answers, and what accepted rows say of them.
#[derive(Serialize)]
struct Evaluated {
    #[serde(flatten)]
    evaluation: Evaluation,
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<Judged>,
}

/// The judgements of all methods, and who judged.
#[derive(Serialize)]
struct Judged {
    /// How many rows are accepted; a part of them judges if they are many.
    accepted: usize,
    /// Whether their labels were asked too.
    labelled: bool,
    #[serde(flatten)]
    judgements: MethodJudgements,
}

/// A fitted model, and the last answerer of tables: single rows that come one after the other mostly have the same
/// columns and the same request.
#[pyclass(frozen, module = "par_recourse._native")]
pub(crate) struct Model(Arc<par_model::Model>, Mutex<Option<Py<Answers>>>);

impl Model {
    pub(crate) fn new(model: par_model::Model) -> Self {
        Self(Arc::new(model), Mutex::new(None))
    }

    pub(crate) fn inner(&self) -> &Arc<par_model::Model> {
        &self.0
    }

    /// The positions of the features in a table, and the spelling of its cells.
    fn read(&self, arrow: &ArrowSchema) -> PyResult<(Columns, CellWriter)> {
        table::read(self.0.schema(), self.0.discretizer().domains(), arrow)
    }

    /// A number for every row, computed with per-thread state.
    fn numbers<'py, S>(
        &self,
        py: Python<'py>,
        table: PyTable,
        own: impl Fn() -> S + Sync + Send,
        number: impl Fn(&mut S, &[&str]) -> Result<f64, RowError> + Sync + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (rows, arrow) = table.into_inner();
        let (columns, cells) = self.read(&arrow)?;
        let numbers = threads::work(py, None, |caller| {
            let mut numbers = Vec::new();
            for batch in cells.batches(&rows).take_while(|_| !caller.is_gone()) {
                let some: Result<Vec<f64>, String> = (0..batch.rows())
                    .into_par_iter()
                    .map_init(&own, |own, row| {
                        let cells = cells_of(&columns, &batch, row);
                        number(own, &cells).map_err(|error| format!("{}, {error}", batch.place(row)))
                    })
                    .collect();
                numbers.extend(some?);
            }
            Ok::<_, String>(numbers)
        })?;
        let column: ArrayRef = Arc::new(Float64Array::from(numbers.map_err(errors::data_text)?));
        let column = RecordBatch::try_from_iter([("number", column)]);
        PyRecordBatch::new(column.map_err(errors::data_text)?).into_pyarrow(py)
    }
}

/// The scores that a function of Python gives rows of cells.
fn scores(answers: &Answers, rows: &[Vec<String>], function: &Py<PyAny>) -> PyResult<Vec<f64>> {
    let features = answers.features(rows).map_err(errors::data_text)?;
    let scores: Vec<f64> = Python::attach(|py| {
        let batch = PyRecordBatch::new(features).into_pyarrow(py)?;
        function.call1(py, (batch,))?.extract(py)
    })?;
    match scores.len() == rows.len() {
        true => Ok(scores),
        false => Err(errors::data_text("the judge must give every row a score")),
    }
}

/// The cells of a row, in schema order.
fn cells_of<'a>(columns: &Columns, batch: &'a Batch, row: usize) -> Vec<&'a str> {
    columns.cells(batch, row)
}

#[pymethods]
impl Model {
    /// Reads a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = py.detach(|| par_model::Model::load(&path));
        Ok(Self::new(loaded.map_err(|error| errors::model(&error, Some(&path)))?))
    }

    /// Reads the result of `to_bytes`.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = py.detach(|| par_model::Model::from_bytes(bytes));
        Ok(Self::new(read.map_err(|error| errors::model(&error, None))?))
    }

    /// Writes a file atomically.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(&path)).map_err(|error| errors::model(&error, Some(&path)))
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.to_bytes()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    /// The schema as TOML.
    #[getter]
    fn schema(&self) -> &str {
        self.0.schema().source()
    }

    /// The score from which on a row is accepted.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    /// The classes that count as accepted and as denied.
    #[getter]
    fn classes(&self) -> [String; 2] {
        self.0.card().classes.clone()
    }

    /// The classes of the label that count as accepted.
    #[getter]
    fn favourable(&self) -> Vec<&str> {
        self.0.favourable()
    }

    /// The names of the features.
    #[getter]
    fn features(&self) -> Vec<&str> {
        self.0.schema().features().iter().map(|feature| feature.name.as_str()).collect()
    }

    /// Our columns of answers: the usual name of each, and its name in the frame.
    #[getter]
    fn columns(&self) -> Vec<(&'static str, String)> {
        frame::own_columns(self.0.schema())
    }

    /// A message about the columns that are renamed because of a feature, if there are any.
    #[getter]
    fn renamed(&self) -> Option<String> {
        write::renamed(self.0.schema())
    }

    /// Whether the classifier itself, not a surrogate, judges the ways.
    #[getter]
    fn verifies(&self) -> bool {
        self.0.classifier().verifies()
    }

    /// The SHA-256 of the model's bytes.
    #[getter]
    fn sha256(&self, py: Python<'_>) -> String {
        py.detach(|| file_hash(&self.0.to_bytes()))
    }

    /// How it was made, as JSON.
    #[getter]
    fn card(&self) -> String {
        serde_json::to_string(self.0.card()).expect("the keys of a card are text")
    }

    /// The settings it was made with, as JSON.
    #[getter]
    fn config(&self) -> String {
        serde_json::to_string(self.0.config()).expect("the keys of settings are text")
    }

    /// The margin and the order of ways that a request has unless it says otherwise.
    #[getter]
    fn usual_margin_and_order(&self) -> (f64, &'static str) {
        let answers = &self.0.config().answers;
        (answers.margin, answers.order.name())
    }

    /// An answerer of tables with these columns; `request` is JSON. With `changes`, lines have a column of their changes.
    #[pyo3(signature = (schema, request, *, id=None, changes=false))]
    fn answers(
        &self,
        py: Python<'_>,
        schema: PySchema,
        request: &str,
        id: Option<&str>,
        changes: bool,
    ) -> PyResult<Py<Answers>> {
        let rows = schema.into_inner();
        let last =
            self.1.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|last| last.clone_ref(py));
        if let Some(last) = last.filter(|last| last.get().is_of(&rows, request, id, changes)) {
            return Ok(last);
        }
        let answers = Py::new(py, Answers::new(self, rows, request, id, changes)?)?;
        let kept = Some(answers.clone_ref(py));
        let last = std::mem::replace(&mut *self.1.lock().unwrap_or_else(PoisonError::into_inner), kept);
        drop(last);
        Ok(answers)
    }

    /// The answer to one row: as JSON, as text, and its frontier as SVG. With `judge`, the classifier itself, which has the
    /// last word: the threshold, the threshold with the margin, how many ways to show, and a function from a record batch
    /// of features to a list of scores.
    #[pyo3(signature = (batch, request, *, id=None, judge=None))]
    fn explain(
        &self,
        py: Python<'_>,
        batch: PyRecordBatch,
        request: &str,
        id: Option<&str>,
        judge: Option<(f64, f64, usize, Py<PyAny>)>,
    ) -> PyResult<(String, String, Option<String>)> {
        let rows = batch.into_inner();
        let answers = Answers::new(self, rows.schema(), request, id, false)?;
        let model = &self.0;
        threads::work(py, None, |caller| {
            let is_gone = || caller.is_gone();
            answers.first(&rows, Stop::when(&is_gone), |mut person| {
                let mut answer = person.answer.map_err(errors::data_text)?;
                if let Some((threshold, sure, count, function)) = &judge {
                    let scores = scores(&answers, &answer.rows_to_judge(&person.cells), function)?;
                    answer = answer.judged(Bar { threshold: *threshold, sure: *sure }, *count, &scores);
                    person.threshold = *threshold;
                }
                let figure = figure::frontier(model, &answer);
                person.answer = Ok(answer);
                let json = serde_json::to_string(&person.json(model));
                Ok((json.expect("the keys of an answer are text"), person.text(model), figure))
            })
        })?
    }

    /// The measures of the answers to the rows of a table, as JSON, by the request's method or by all. With `judge`, also what the
    /// accepted rows say of them, of which `favourable` has the labels, if they are known. `request` is JSON.
    #[pyo3(signature = (table, request, *, all_methods=true, judge=false, favourable=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn evaluate(
        &self,
        py: Python<'_>,
        table: PyTable,
        request: &str,
        all_methods: bool,
        judge: bool,
        favourable: Option<Vec<bool>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let model = &self.0;
        let request = request::read(model, request)?;
        let methods = if all_methods { Method::ALL.to_vec() } else { vec![request.method] };
        let (rows, arrow) = table.into_inner();
        let (columns, cells) = self.read(&arrow)?;
        let total = rows.iter().map(RecordBatch::num_rows).sum();
        let evaluated = threads::work(py, progress, |caller| {
            let at_once = ROWS_PER_THREAD * rayon::current_num_threads();
            let mut answers = Vec::new();
            let mut accepted: Vec<Vec<String>> = Vec::new();
            for batch in cells.batches(&rows) {
                let before = answers.len();
                let rows: Vec<Vec<&str>> =
                    (0..batch.rows()).map(|row| cells_of(&columns, &batch, row)).collect();
                for (piece, some) in rows.chunks(at_once).enumerate() {
                    if caller.is_gone() {
                        return Ok(None);
                    }
                    answers.extend(answer_by_methods(model, some, &methods, &request).map_err(
                        |(position, error)| format!("{}, {error}", batch.place(piece * at_once + position)),
                    )?);
                    caller.report("answers", answers.len(), Some(total));
                }
                let label = |row: usize| {
                    favourable.as_ref().is_none_or(|labels| labels.get(before + row) == Some(&true))
                };
                let judges = rows.iter().enumerate().filter(|(row, cells)| {
                    judge && label(*row) && model.is_accepted(cells, model.threshold())
                });
                accepted.extend(judges.map(|(_, cells)| cells.iter().map(ToString::to_string).collect()));
            }
            let cells_of_accepted: Vec<Vec<&str>> =
                accepted.iter().map(|cells| cells.iter().map(String::as_str).collect()).collect();
            let judged = || -> Result<Judged, JudgeError> {
                Ok(Judged {
                    accepted: accepted.len(),
                    labelled: favourable.is_some(),
                    judgements: Judge::new(model, &cells_of_accepted, model.config().seed)?
                        .methods(&answers)?,
                })
            };
            let judge = judge.then(judged).transpose().map_err(|error| error.to_string())?;
            Ok::<_, String>(Some(Evaluated { evaluation: Evaluation::new(model, &answers), judge }))
        })?;
        let evaluated = evaluated.map_err(errors::data_text)?;
        Ok(serde_json::to_string(&evaluated).expect("the keys of an evaluation are text"))
    }

    /// The probability of acceptance of every row.
    fn probability<'py>(&self, py: Python<'py>, table: PyTable) -> PyResult<Bound<'py, PyAny>> {
        self.numbers(py, table, || (), |(), cells| self.0.score(cells))
    }

    /// log p⁺ of every row; unknown values are summed out.
    fn log_likelihood<'py>(&self, py: Python<'py>, table: PyTable) -> PyResult<Bound<'py, PyAny>> {
        let evaluator = || self.0.accepted().evaluator();
        self.numbers(py, table, evaluator, |evaluator, cells| {
            Ok(evaluator.log_prob(self.0.discretizer().encode_row(cells)?.codes()))
        })
    }

    /// The model with a surrogate trained on the rows of a table, each with a score and a weight, instead.
    #[pyo3(signature = (table, scores, weights, *, progress=None))]
    fn train_surrogate(
        &self,
        py: Python<'_>,
        table: PyTable,
        scores: Vec<f64>,
        weights: Vec<f32>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (batches, arrow) = table.into_inner();
        let (columns, cells) = self.read(&arrow)?;
        let discretizer = self.0.discretizer();
        let trained = threads::work(py, progress, |caller| {
            let mut codes: Vec<Code> = Vec::new();
            for batch in cells.batches(&batches) {
                let rows = discretizer.encode(&columns, &batch).map_err(|error| errors::data(&error))?;
                codes.extend(rows.into_codes());
            }
            let rows = Dataset::new(discretizer.cardinalities(), codes).map_err(errors::data_text)?;
            if [scores.len(), weights.len()] != [rows.len(); 2] {
                return Err(errors::data_text("every row needs a score and a weight"));
            }
            let is_gone = || caller.is_gone();
            let scored = ScoredRows { rows, scores, weights };
            train_surrogate_of(
                &self.0,
                &scored,
                &mut |stage| fit::report(caller, stage),
                Stop::when(&is_gone),
            )
            .map_err(|error| errors::fit(&error))
        })?;
        Ok(Self::new(trained?))
    }

    /// The model with the pool and generator of its surrogate. `agreement` and `coverage` are how many of how many: rows
    /// on which surrogate and classifier agree, and denied people with a way that the classifier accepts.
    #[pyo3(signature = (agreement, coverage, *, progress=None))]
    fn complete_surrogate(
        &self,
        py: Python<'_>,
        agreement: (usize, usize),
        coverage: (usize, usize),
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let share = |(some, of): (usize, usize)| Mean::share((0..of).map(|place| place < some), of);
        let completed = threads::work(py, progress, |caller| {
            let is_gone = || caller.is_gone();
            let mut report = |stage: Stage<'_>| fit::report(caller, stage);
            complete_surrogate(&self.0, share(agreement), share(coverage), &mut report, Stop::when(&is_gone))
        })?;
        Ok(Self::new(completed.map_err(|error| errors::fit(&error))?))
    }

    /// The model with a generator for other immutable features.
    #[pyo3(signature = (immutable, *, progress=None))]
    fn refit(
        &self,
        py: Python<'_>,
        immutable: Vec<String>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let names: Vec<&str> = immutable.iter().map(String::as_str).collect();
        let model = &self.0;
        let refitted = threads::work(py, progress, |caller| {
            let is_gone = || caller.is_gone();
            refit(model, &names, &mut |stage| fit::report(caller, stage), Stop::when(&is_gone))
        })?;
        Ok(Self::new(refitted.map_err(|error| errors::fit(&error))?))
    }
}
