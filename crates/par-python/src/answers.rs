//! From the rows of a table to lines of the tidy table.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use par_data::Columns;
use par_recourse::desk::{Desk, Person};
use par_recourse::{Request, Solver, Stop};
use pyo3::prelude::*;
use pyo3_arrow::{PyRecordBatch, PySchema};
use rayon::prelude::*;

use crate::bundle::Bundle;
use crate::frame::Frame;
use crate::table::{self, Cells};
use crate::{errors, request, threads};

/// Rows that a thread takes at once.
const PIECE: usize = 32;

/// Answers tables of one shape, batch by batch.
#[pyclass(frozen, module = "par_recourse._native")]
pub(crate) struct Answers {
    bundle: Arc<par_recourse::Bundle>,
    request: Request,
    rows: SchemaRef,
    columns: Columns,
    cells: Cells,
    frame: Frame,
}

impl Answers {
    /// `id` names the column that names the rows, in the place of the schema's.
    pub(crate) fn new(bundle: &Bundle, rows: SchemaRef, request: &str, id: Option<&str>) -> PyResult<Self> {
        let bundle = Arc::clone(bundle.inner());
        let request = request::read(bundle.discretizer(), request)?;
        let (mut columns, cells) = table::read(bundle.schema(), bundle.discretizer().domains(), &rows)?;
        if let Some(name) = id {
            let found = rows.index_of(name);
            let unknown =
                |_| errors::setting(&format!("{}: no column `{name}` to name the rows", table::ORIGIN));
            columns.id = Some(found.map_err(unknown)?);
        }
        let frame = Frame::new(&bundle, &columns, &rows);
        let mut answers = Self { bundle, request, rows, columns, cells, frame };
        if let Some(locks) = answers.desk().locks() {
            answers.cells = answers.cells.with(&answers.rows, locks);
        }
        Ok(answers)
    }

    fn desk(&self) -> Desk<'_> {
        Desk::new(&self.bundle, &table::header(&self.rows), self.columns.clone(), self.request.clone(), false)
    }

    /// What the first person of some rows is told, by their name.
    pub(crate) fn first<T>(
        &self,
        rows: &RecordBatch,
        stop: Stop<'_>,
        tell: impl FnOnce(&Person<'_>) -> T,
    ) -> T {
        let cells = match self.columns.id {
            Some(column) => self.cells.clone().with(&self.rows, column),
            None => self.cells.clone(),
        };
        let batch = cells.batch(rows, 0..1, 0);
        tell(&self.desk().answer(&mut self.bundle.solver().until(stop), &batch, 0, 0))
    }

    /// The lines of some rows, which one thread answers.
    fn piece(
        &self,
        desk: &Desk<'_>,
        solver: &mut Solver<'_>,
        rows: &RecordBatch,
        range: Range<usize>,
        before: u64,
    ) -> Result<RecordBatch, ArrowError> {
        let first = range.start;
        let batch = self.cells.batch(rows, range, before);
        let people: Vec<Person<'_>> =
            (0..batch.rows()).map(|row| desk.answer(solver, &batch, row, batch.position(row))).collect();
        self.frame.lines(&self.bundle, rows, first, before, &people)
    }

    /// The lines of all rows, on all threads; those of some, when they are told to stop.
    fn lines(&self, rows: &RecordBatch, before: u64, stop: Stop<'_>) -> Result<RecordBatch, ArrowError> {
        let desk = self.desk();
        let starts: Vec<usize> = (0..rows.num_rows()).step_by(PIECE).collect();
        let pieces: Vec<RecordBatch> = starts
            .into_par_iter()
            .map_init(
                || self.bundle.solver().until(stop),
                |solver, start| {
                    let range = start..rows.num_rows().min(start + PIECE);
                    stop.check().is_ok().then(|| self.piece(&desk, solver, rows, range, before))
                },
            )
            .flatten()
            .collect::<Result<_, _>>()?;
        concat_batches(self.frame.schema(), &pieces)
    }
}

#[pymethods]
impl Answers {
    /// The columns of the lines.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PySchema::new(Arc::clone(self.frame.schema())).into_pyarrow(py)
    }

    /// The lines of a batch's people, in the order of the rows. `before` says how many rows of the table came before;
    /// without `parallel` it stays on this thread.
    #[pyo3(signature = (batch, before=0, *, parallel=true))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        batch: PyRecordBatch,
        before: u64,
        parallel: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = batch.into_inner();
        if rows.schema_ref().fields() != self.rows.fields() {
            return Err(errors::data_text("X: a batch has other columns than the first"));
        }
        let lines = if parallel {
            threads::work(py, None, |caller| self.lines(&rows, before, Stop::when(&|| caller.is_gone())))?
        } else {
            py.detach(|| {
                let (desk, mut solver) = (self.desk(), self.bundle.solver());
                self.piece(&desk, &mut solver, &rows, 0..rows.num_rows(), before)
            })
        };
        PyRecordBatch::new(lines.map_err(errors::data_text)?).into_pyarrow(py)
    }
}
