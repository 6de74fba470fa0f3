//! From the rows of a table to lines of answers.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use par_answer::table::{RowAnswer, TableAnswerer};
use par_answer::{Request, Solver};
use par_circuit::Stop;
use par_data::Columns;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3_arrow::{PyRecordBatch, PySchema};
use rayon::prelude::*;

use crate::frame::AnswerFrame;
use crate::model::Model;
use crate::table::{self, CellWriter};
use crate::threads::Caller;
use crate::{errors, request, threads};

/// Rows that one thread answers in a row.
const ROWS_PER_TASK: usize = 32;

/// Answers tables with the same columns, batch by batch.
#[pyclass(frozen, module = "par_recourse._native")]
pub(crate) struct Answers {
    model: Arc<par_model::Model>,
    request: Request,
    asked: Asked,
    rows: SchemaRef,
    columns: Columns,
    cells: CellWriter,
    frame: AnswerFrame,
    /// The columns of the lines, as pyarrow has them.
    python_schema: PyOnceLock<Py<PyAny>>,
}

/// What a request is beside the columns of its table: its JSON, the column of row ids, and whether changes are listed.
#[derive(PartialEq)]
struct Asked {
    request: String,
    id: Option<String>,
    changes: bool,
}

impl Asked {
    fn new(request: &str, id: Option<&str>, changes: bool) -> Self {
        Self { request: request.to_string(), id: id.map(str::to_string), changes }
    }
}

impl Answers {
    /// `id` is the column of row ids, instead of the schema's; with `changes` lines have a column of their changes.
    pub(crate) fn new(
        model: &Model,
        rows: SchemaRef,
        request: &str,
        id: Option<&str>,
        changes: bool,
    ) -> PyResult<Self> {
        let asked = Asked::new(request, id, changes);
        let model = Arc::clone(model.inner());
        let request = request::read(&model, request)?;
        let (mut columns, cells) = table::read(model.schema(), model.discretizer().domains(), &rows)?;
        if let Some(name) = id {
            let found = rows.index_of(name);
            let unknown = |_| errors::setting(&format!("{}: no column `{name}` for `id`", table::ORIGIN));
            columns.id = Some(found.map_err(unknown)?);
        }
        let frame = AnswerFrame::new(&model, &columns, &rows, changes);
        let mut answers =
            Self { model, request, asked, rows, columns, cells, frame, python_schema: PyOnceLock::new() };
        let options: Vec<usize> = answers.answerer().option_columns().collect();
        for column in options {
            answers.cells = answers.cells.with(&answers.rows, column);
        }
        Ok(answers)
    }

    /// Whether it was made of these arguments of [`Answers::new`].
    pub(crate) fn is_of(&self, rows: &SchemaRef, request: &str, id: Option<&str>, changes: bool) -> bool {
        self.asked == Asked::new(request, id, changes) && self.rows == *rows
    }

    fn answerer(&self) -> TableAnswerer<'_> {
        TableAnswerer::new(
            &self.model,
            &table::header(&self.rows),
            self.columns.clone(),
            self.request.clone(),
            false,
        )
    }

    /// Rows of cells, as columns of the features.
    pub(crate) fn features(&self, rows: &[Vec<String>]) -> Result<RecordBatch, ArrowError> {
        self.frame.features(rows)
    }

    /// Passes the answer of the first row to `read`.
    pub(crate) fn first<T>(
        &self,
        rows: &RecordBatch,
        stop: Stop<'_>,
        read: impl FnOnce(RowAnswer<'_>) -> T,
    ) -> T {
        let cells = match self.columns.id {
            Some(column) => self.cells.clone().with(&self.rows, column),
            None => self.cells.clone(),
        };
        let batch = cells.batch(rows, 0..1, 0);
        read(self.answerer().answer(&mut Solver::new(&self.model).until(stop), &batch, 0, 0))
    }

    /// The lines of some rows, answered on this thread.
    fn answer_rows(
        &self,
        answerer: &TableAnswerer<'_>,
        solver: &mut Solver<'_>,
        rows: &RecordBatch,
        range: Range<usize>,
        before: u64,
    ) -> Result<RecordBatch, ArrowError> {
        let first = range.start;
        let batch = self.cells.batch(rows, range, before);
        let people: Vec<RowAnswer<'_>> =
            (0..batch.rows()).map(|row| answerer.answer(solver, &batch, row, batch.position(row))).collect();
        self.frame.lines(&self.model, rows, first, before, &people)
    }

    /// The lines of all rows, on all threads; incomplete once the caller is gone.
    fn lines(&self, rows: &RecordBatch, before: u64, caller: &Caller<'_>) -> Result<RecordBatch, ArrowError> {
        let is_gone = || caller.is_gone();
        let stop = Stop::when(&is_gone);
        let answerer = self.answerer();
        let answered = AtomicUsize::new(0);
        let starts: Vec<usize> = (0..rows.num_rows()).step_by(ROWS_PER_TASK).collect();
        let parts: Vec<RecordBatch> = starts
            .into_par_iter()
            .map_init(
                || Solver::new(&self.model).until(stop),
                |solver, start| {
                    let range = start..rows.num_rows().min(start + ROWS_PER_TASK);
                    let (len, lines) =
                        (range.len(), || self.answer_rows(&answerer, solver, rows, range, before));
                    let lines = stop.check().is_ok().then(lines);
                    let done = answered.fetch_add(len, Ordering::Relaxed) + len;
                    caller.report("answers", done, Some(rows.num_rows()));
                    lines
                },
            )
            .flatten()
            .collect::<Result<_, _>>()?;
        concat_batches(self.frame.schema(), &parts)
    }
}

#[pymethods]
impl Answers {
    /// The columns of the lines.
    #[getter]
    fn schema(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let schema = || Ok(PySchema::new(Arc::clone(self.frame.schema())).into_pyarrow(py)?.unbind());
        self.python_schema.get_or_try_init(py, schema).map(|schema| schema.clone_ref(py))
    }

    /// The lines of a batch, in the order of the rows. `before` is the number of earlier rows of the table; without
    /// `parallel` all work is on this thread. `progress` is called with (stage, done, of) for this batch.
    #[pyo3(signature = (batch, before=0, *, parallel=true, progress=None))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        batch: PyRecordBatch,
        before: u64,
        parallel: bool,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = batch.into_inner();
        if rows.schema_ref().fields() != self.rows.fields() {
            return Err(errors::data_text("X: a batch has other columns than the first"));
        }
        let lines = if parallel {
            threads::work(py, progress, |caller| self.lines(&rows, before, caller))?
        } else {
            py.detach(|| {
                let (answerer, mut solver) = (self.answerer(), Solver::new(&self.model));
                self.answer_rows(&answerer, &mut solver, &rows, 0..rows.num_rows(), before)
            })
        };
        PyRecordBatch::new(lines.map_err(errors::data_text)?).into_pyarrow(py)
    }
}
