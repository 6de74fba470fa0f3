//! From the rows of a table to lines of the tidy table.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use par_data::Columns;
use par_recourse::desk::{Desk, Person};
use par_recourse::{Request, Solver};
use pyo3::prelude::*;
use pyo3_arrow::{PyRecordBatch, PySchema};
use rayon::prelude::*;

use crate::bundle::Bundle;
use crate::frame::Frame;
use crate::table::{self, Cells};
use crate::threads::{self, Caller};
use crate::{errors, request};

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
    pub(crate) fn new(bundle: &Bundle, rows: SchemaRef, request: &str, id: Option<&str>) -> PyResult<Self> {
        let bundle = Arc::clone(bundle.inner());
        let request = request::read(bundle.discretizer(), request)?;
        let columns = table::columns(bundle.schema(), &rows).map_err(|error| errors::data(&error))?;
        let named = id.map(|name| rows.index_of(name)).transpose();
        let id = named.map_err(|error| errors::setting(&error.to_string()))?.or(columns.id);
        let domains = bundle.discretizer().domains();
        let mut cells = Cells::of_schema(bundle.schema(), &columns, domains, rows.fields().len());
        let header = table::header(&rows);
        if let Some(column) = Desk::new(&bundle, &header, columns.clone(), request.clone(), false).locks() {
            cells = cells.with(column);
        }
        let frame = Frame::new(&bundle, &columns, id, &rows);
        Ok(Self { bundle, request, rows, columns, cells, frame })
    }

    fn desk(&self) -> Desk<'_> {
        Desk::new(&self.bundle, &table::header(&self.rows), self.columns.clone(), self.request.clone(), false)
    }

    /// The people of some rows, answered by one thread.
    pub(crate) fn people<T>(
        &self,
        solver: &mut Solver<'_>,
        rows: &RecordBatch,
        range: Range<usize>,
        before: u64,
        take: impl FnOnce(&[Person<'_>]) -> Result<T, ArrowError>,
    ) -> Result<T, ArrowError> {
        let desk = self.desk();
        let batch = self.cells.batch(rows, range, before);
        let batch = batch.map_err(|error| ArrowError::InvalidArgumentError(error.to_string()))?;
        let people: Vec<Person<'_>> =
            (0..batch.rows()).map(|row| desk.answer(solver, &batch, row, batch.position(row))).collect();
        take(&people)
    }

    fn lines(
        &self,
        solver: &mut Solver<'_>,
        rows: &RecordBatch,
        range: Range<usize>,
        before: u64,
    ) -> Result<RecordBatch, ArrowError> {
        let first = range.start;
        self.people(solver, rows, range, before, |people| {
            self.frame.lines(&self.bundle, rows, first, before, people)
        })
    }

    /// All lines, or none when nobody waits for them any more.
    fn all_lines(
        &self,
        rows: &RecordBatch,
        before: u64,
        caller: &Caller<'_>,
    ) -> Option<Result<RecordBatch, ArrowError>> {
        let starts: Vec<usize> = (0..rows.num_rows()).step_by(PIECE).collect();
        let pieces: Option<Result<Vec<RecordBatch>, ArrowError>> = starts
            .into_par_iter()
            .map_init(
                || self.bundle.solver(),
                |solver, start| {
                    let range = start..rows.num_rows().min(start + PIECE);
                    (!caller.is_gone()).then(|| self.lines(solver, rows, range, before))
                },
            )
            .collect();
        Some(pieces?.and_then(|pieces| concat_batches(self.frame.schema(), &pieces)))
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
        let lines = if parallel && rows.num_rows() > PIECE {
            // Stopped work has its exception already.
            threads::work(py, None, |caller| self.all_lines(&rows, before, caller))?
                .unwrap_or_else(|| Ok(RecordBatch::new_empty(Arc::clone(self.frame.schema()))))
        } else {
            py.detach(|| self.lines(&mut self.bundle.solver(), &rows, 0..rows.num_rows(), before))
        };
        PyRecordBatch::new(lines.map_err(|error| errors::data_text(&error.to_string()))?).into_pyarrow(py)
    }
}
