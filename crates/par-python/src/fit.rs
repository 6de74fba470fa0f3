//! From a table to a model, and drafts of inputs.

use arrow_array::RecordBatch;
use par_circuit::Stop;
use par_data::{Columns, german_credit as embedded};
use par_fit::{ModelBuilder, Stage};
use par_model::Config;
use par_model::classifier::inputs::{self, Inputs};
use par_onnx::Graph;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::errors;
use crate::model::Model;
use crate::schema::read_schema;
use crate::table::{self, CellWriter};
use crate::threads::{self, Caller};

/// Fits a model to a table.
///
/// `schema` is TOML; `file` is the name and text of a TOML file of settings, `settings` further ones as JSON;
/// `classifier` is an ONNX file and the TOML of its inputs; `scores` is the column of scores that a surrogate is fitted
/// to; `also` are other versions of the classifier: for each its name, an ONNX file and the TOML of its inputs. `progress` is called with `(stage, done, of)`.
#[pyfunction]
#[pyo3(signature = (table, schema, *, preset=None, file=None, settings=None, classifier=None, scores=None, also=Vec::new(), progress=None))]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn fit(
    py: Python<'_>,
    table: PyTable,
    schema: &str,
    preset: Option<&str>,
    file: Option<(String, String)>,
    settings: Option<&str>,
    classifier: Option<(Vec<u8>, String)>,
    scores: Option<&str>,
    also: Vec<(String, Vec<u8>, String)>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let schema = read_schema(schema)?;
    let config = config(preset, file, settings)?;
    let (rows, arrow) = table.into_inner();
    let (columns, mut cells) = table::read(&schema, &[], &arrow)?;
    let mut builder = ModelBuilder::new(schema, config);
    if let Some((file, inputs)) = classifier {
        builder = builder.with_classifier(file, Inputs::parse(&inputs).map_err(errors::classifier)?);
    }
    for (name, file, inputs) in also {
        let inputs = Inputs::parse(&inputs).map_err(errors::classifier)?;
        builder = builder.with_version(&name, file, inputs, None);
    }
    if let Some(name) = scores {
        let position = arrow.index_of(name).map_err(|error| errors::setting(&error.to_string()))?;
        cells = cells.with(&arrow, position);
        builder = builder.with_scores(name, position);
    }
    let fitted = threads::work(py, progress, |caller| fit_rows(&builder, &cells, &rows, &columns, caller))?;
    Ok(Model::new(fitted.map_err(|error| errors::fit(&error))?))
}

fn fit_rows(
    builder: &ModelBuilder,
    cells: &CellWriter,
    rows: &[RecordBatch],
    columns: &Columns,
    caller: &Caller<'_>,
) -> Result<par_model::Model, par_fit::Error> {
    let is_gone = || caller.is_gone();
    builder.fit_rows(
        columns,
        || Ok(cells.batches(rows).map(Ok)),
        &mut |stage| report(caller, stage),
        Stop::when(&is_gone),
    )
}

/// Reports the progress of a fit to the caller.
pub(crate) fn report(caller: &Caller<'_>, stage: Stage<'_>) {
    match stage {
        Stage::Read(rows) => caller.report("rows", rows, Some(rows)),
        Stage::Classifier(epoch, _) => caller.report("classifier", epoch, None),
        Stage::Circuit(..) => caller.report("circuits", 0, None),
        Stage::Pool(rows) => caller.report("pool", rows, Some(rows)),
        Stage::Generator(progress) => caller.report("generator", progress.step, Some(progress.steps)),
        _ => {}
    }
}

/// Settings override the file, which overrides the preset.
fn config(preset: Option<&str>, file: Option<(String, String)>, settings: Option<&str>) -> PyResult<Config> {
    let mut config = match preset {
        None => Config::default(),
        Some("paper") => Config::paper(),
        Some(other) => {
            return Err(errors::setting(&format!("there is no preset `{other}`, expected `paper` or None")));
        }
    };
    if let Some((name, text)) = file {
        let refuse = |error: &dyn std::fmt::Display| errors::setting(&format!("{name}: {error}"));
        let settings = text.parse::<toml::Table>().map_err(|error| refuse(&error))?;
        config = config.laid_over(settings).map_err(|error| refuse(&error))?;
    }
    if let Some(settings) = settings {
        let refuse = |error: &dyn std::fmt::Display| errors::setting(&error.to_string());
        let settings = table_of(settings).map_err(|error| refuse(&error))?;
        config = config.laid_over(settings).map_err(|error| refuse(&error))?;
    }
    Ok(config)
}

/// Drafts the TOML text that says how the columns of a schema become the inputs of an ONNX file.
#[pyfunction]
pub(crate) fn draft_inputs(file: &[u8], schema: &str) -> PyResult<String> {
    let graph = Graph::from_bytes(file).map_err(errors::classifier)?;
    Ok(inputs::draft(&read_schema(schema)?, graph.inputs(), graph.outputs()))
}

fn table_of(json: &str) -> Result<toml::Table, serde_json::Error> {
    let mut value: serde_json::Value = serde_json::from_str(json)?;
    drop_nulls(&mut value);
    serde_json::from_value(value)
}

/// TOML has no null.
fn drop_nulls(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// The embedded table, German Credit, as CSV, and its schema.
#[pyfunction]
pub(crate) fn german_credit() -> (&'static str, String) {
    (embedded::CSV, embedded::schema().source().to_string())
}
