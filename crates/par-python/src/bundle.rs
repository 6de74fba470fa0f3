//! A bundle, and what it says of rows.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use par_recourse::classifier::file_hash;
use par_recourse::classifier::inputs::Inputs;
use par_recourse::{Stop, metrics};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::{PyRecordBatch, PySchema, PyTable};
use rayon::prelude::*;

use crate::answers::Answers;
use crate::table::{self, Cells};
use crate::{errors, figure, threads};

/// Everything that recourse needs, ready to answer.
#[pyclass(frozen, module = "par_recourse._native")]
pub(crate) struct Bundle(Arc<par_recourse::Bundle>);

impl Bundle {
    pub(crate) fn new(bundle: par_recourse::Bundle) -> Self {
        Self(Arc::new(bundle))
    }

    pub(crate) fn inner(&self) -> &Arc<par_recourse::Bundle> {
        &self.0
    }

    /// A number for every row.
    fn numbers<'py>(
        &self,
        py: Python<'py>,
        table: PyTable,
        number: impl Fn(&[&str]) -> Result<f64, String> + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bundle = &self.0;
        let (rows, arrow) = table.into_inner();
        let columns = table::columns(bundle.schema(), &arrow).map_err(|error| errors::data(&error))?;
        let domains = bundle.discretizer().domains();
        let cells = Cells::of_schema(bundle.schema(), &columns, domains, arrow.fields().len());
        let numbers = threads::work(py, None, |_| {
            let mut numbers = Vec::new();
            for batch in cells.batches(&rows) {
                let batch = batch.map_err(|error| error.to_string())?;
                let some: Result<Vec<f64>, String> = (0..batch.rows())
                    .into_par_iter()
                    .map(|row| {
                        let cells: Vec<&str> =
                            columns.features.iter().map(|&column| batch.cell(row, column)).collect();
                        number(&cells).map_err(|error| format!("{}, {error}", batch.place(row)))
                    })
                    .collect();
                numbers.extend(some?);
            }
            Ok::<_, String>(numbers)
        })?;
        let numbers = numbers.map_err(|error| errors::data_text(&error))?;
        let column: ArrayRef = Arc::new(Float64Array::from(numbers));
        let column = RecordBatch::try_from_iter([("number", column)]);
        PyRecordBatch::new(column.map_err(|error| errors::par(&error.to_string()))?).into_pyarrow(py)
    }
}

#[pymethods]
impl Bundle {
    /// Reads a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = py.detach(|| par_recourse::Bundle::load(&path));
        Ok(Self::new(loaded.map_err(|error| errors::bundle(&error, Some(&path)))?))
    }

    /// Reads what `to_bytes` gave.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = py.detach(|| par_recourse::Bundle::from_bytes(bytes));
        Ok(Self::new(read.map_err(|error| errors::bundle(&error, None))?))
    }

    /// Writes a file, which is whole or as it was before.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(&path)).map_err(|error| errors::bundle(&error, Some(&path)))
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

    /// The probability from which on a row is accepted.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    /// The classes that count as accepted and as denied.
    #[getter]
    fn classes(&self) -> [String; 2] {
        self.0.card().classes.clone()
    }

    /// The names of the features.
    #[getter]
    fn features(&self) -> Vec<&str> {
        self.0.schema().features().iter().map(|feature| feature.name.as_str()).collect()
    }

    /// Whether the classifier itself accepts the ways, and not a network that imitates it.
    #[getter]
    fn verifies(&self) -> bool {
        self.0.classifier().verifies()
    }

    /// The SHA-256 of the bundle's bytes.
    #[getter]
    fn sha256(&self, py: Python<'_>) -> String {
        py.detach(|| file_hash(&self.0.to_bytes()))
    }

    /// How it was made, as JSON.
    #[getter]
    fn card(&self) -> PyResult<String> {
        serde_json::to_string(self.0.card()).map_err(|error| errors::par(&error.to_string()))
    }

    /// The settings it was made with, as JSON.
    #[getter]
    fn config(&self) -> PyResult<String> {
        serde_json::to_string(self.0.config()).map_err(|error| errors::par(&error.to_string()))
    }

    /// How a table of these columns is answered; `request` is JSON.
    #[pyo3(signature = (schema, request, *, id=None))]
    fn answers(&self, schema: PySchema, request: &str, id: Option<&str>) -> PyResult<Answers> {
        Answers::new(self, schema.into_inner(), request, id)
    }

    /// One row and the answer to it: as JSON, as text, and what more changes buy as SVG.
    #[pyo3(signature = (batch, request, *, id=None))]
    fn explain(
        &self,
        py: Python<'_>,
        batch: PyRecordBatch,
        request: &str,
        id: Option<&str>,
    ) -> PyResult<(String, String, Option<String>)> {
        let rows: RecordBatch = batch.into_inner();
        let answers = Answers::new(self, rows.schema(), request, id)?;
        let bundle = &self.0;
        let told = threads::work(py, None, |_| {
            answers.people(&mut bundle.solver(), &rows, 0..1, 0, |people| {
                let person = &people[0];
                let json =
                    serde_json::to_string(&person.described(bundle)).expect("a person has only text keys");
                Ok(match &person.answer {
                    Ok(answer) => Ok((json, person.text(bundle), figure::frontier(bundle, answer))),
                    Err(error) => Err(error.clone()),
                })
            })
        })?;
        told.map_err(|error| errors::data_text(&error.to_string()))?.map_err(errors::row)
    }

    /// How good the answers to the rows of a table are, as JSON.
    fn evaluate(&self, py: Python<'_>, table: PyTable) -> PyResult<String> {
        let bundle = &self.0;
        let (rows, arrow) = table.into_inner();
        let columns = table::columns(bundle.schema(), &arrow).map_err(|error| errors::data(&error))?;
        let domains = bundle.discretizer().domains();
        let cells = Cells::of_schema(bundle.schema(), &columns, domains, arrow.fields().len());
        let evaluated = threads::work(py, None, |_| {
            let batches: Vec<par_data::Batch> =
                cells.batches(&rows).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
            let places = batches.iter().flat_map(|batch| (0..batch.rows()).map(move |row| (batch, row)));
            let rows: Vec<Vec<&str>> = places
                .clone()
                .map(|(batch, row)| columns.features.iter().map(|&column| batch.cell(row, column)).collect())
                .collect();
            metrics::evaluate(bundle, &rows).map_err(|(position, error)| {
                let place = places.clone().nth(position).map(|(batch, row)| batch.place(row).to_string());
                format!("{}, {error}", place.unwrap_or_default())
            })
        })?;
        let evaluation = evaluated.map_err(|error| errors::data_text(&error))?;
        serde_json::to_string(&evaluation).map_err(|error| errors::par(&error.to_string()))
    }

    /// The probability of acceptance of every row.
    fn probability<'py>(&self, py: Python<'py>, table: PyTable) -> PyResult<Bound<'py, PyAny>> {
        self.numbers(py, table, |cells| self.0.score(cells).map_err(|error| error.to_string()))
    }

    /// log p⁺ of every row; what is unknown is summed out.
    fn log_likelihood<'py>(&self, py: Python<'py>, table: PyTable) -> PyResult<Bound<'py, PyAny>> {
        self.numbers(py, table, |cells| {
            let codes = self.0.discretizer().encode_row(cells).map_err(|error| error.to_string())?;
            Ok(self.0.accepted().evaluator().log_prob(codes.codes()))
        })
    }

    /// The same with a generator for other immutable features.
    #[pyo3(signature = (immutable, *, progress=None))]
    fn refit(
        &self,
        py: Python<'_>,
        immutable: Vec<String>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let names: Vec<&str> = immutable.iter().map(String::as_str).collect();
        let bundle = &self.0;
        let refitted = threads::work(py, progress, |caller| {
            let is_gone = || caller.is_gone();
            bundle.refit(&names, &mut |stage| crate::fit::tell(caller, stage), Stop::when(&is_gone))
        })?;
        Ok(Self::new(refitted.map_err(|error| errors::fit(&error))?))
    }

    /// The same with another classifier.
    fn with_classifier(&self, file: Vec<u8>, inputs: &str) -> PyResult<Self> {
        let inputs = Inputs::parse(inputs).map_err(errors::classifier)?;
        Ok(Self::new(self.0.with_classifier(file, inputs).map_err(errors::classifier)?))
    }
}
