//! Schemas: drafts, facts, and TOML as Python's values.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema as ArrowSchema;
use par_data::Schema;
use par_data::schema::{Draft, DraftOptions, Goal, Side};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3_arrow::PyTable;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::errors;
use crate::table::{self, CellWriter};

pub(crate) fn read_schema(text: &str) -> PyResult<Schema> {
    Schema::parse(text, "schema").map_err(|error| errors::schema(&error))
}

/// Drafts the schema of a table: its TOML text, and why each feature is taken to change as it says, by name.
///
/// `label` names the column with the label, `favourable` the classes that people want; of a label that is a number they
/// want it to be `at_least` or `at_most` a bound.
#[pyfunction]
#[pyo3(signature = (table, label=None, *, favourable=vec![], at_least=None, at_most=None))]
pub(crate) fn draft_schema(
    py: Python<'_>,
    table: PyTable,
    label: Option<String>,
    favourable: Vec<String>,
    at_least: Option<f64>,
    at_most: Option<f64>,
) -> PyResult<(String, Vec<(String, String)>)> {
    let (rows, arrow): (Vec<RecordBatch>, Arc<ArrowSchema>) = table.into_inner();
    let goal = |side| move |bound| Goal { side, bound, unit: None };
    let goal = at_least.map(goal(Side::AtLeast)).or_else(|| at_most.map(goal(Side::AtMost)));
    let options = DraftOptions { label, favourable, goal };
    let (header, cells) = (table::header(&arrow), CellWriter::plain(&arrow));
    let drafted =
        py.detach(|| Draft::of_rows(table::ORIGIN, &header, &options, cells.batches(&rows).map(Ok)));
    let draft = drafted.map_err(|error| errors::data(&error))?;
    let reasons = draft.reasons().map(|(name, reason)| (name.to_string(), reason.to_string())).collect();
    Ok((draft.text(), reasons))
}

/// The facts of a schema that Python needs, as JSON: label, special columns, features, relations and policies in words.
#[pyfunction]
pub(crate) fn schema_facts(schema: &str) -> PyResult<String> {
    let schema = read_schema(schema)?;
    let label = schema.label().map(|label| {
        serde_json::json!({
            "column": label.column,
            "classes": label.classes,
            "favourable": label.sides()[0],
            "goal": label.goal.as_ref().map(|goal| serde_json::json!({
                "side": goal.side.key(),
                "bound": goal.bound,
                "words": goal.classes()[1],
            })),
        })
    });
    let features: Vec<serde_json::Value> = schema
        .features()
        .iter()
        .map(|feature| {
            serde_json::json!({
                "name": feature.name,
                "kind": feature.kind.name(),
                "values": feature.values,
                "labels": feature.labels,
                "immutable": feature.is_immutable(),
                "missing": feature.missing,
            })
        })
        .collect();
    let special = schema.special();
    let facts = serde_json::json!({
        "label": label,
        "id": special.id,
        "features": features,
        "relations": schema.relations_in_words(),
        "policies": schema.accept_rules_in_words(),
    });
    Ok(facts.to_string())
}

/// A schema of version 1 in version 2; comments and layout stay.
#[pyfunction]
pub(crate) fn upgrade_schema(text: &str) -> PyResult<String> {
    par_data::schema::upgrade(text, "schema").map_err(|error| errors::data(&error))
}

/// TOML as a dict of plain values, in the order of the text.
#[pyfunction]
pub(crate) fn read_toml<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let root = DeTable::parse(text).map_err(|error| {
        let before = &text[..error.span().map_or(0, |span| span.start)];
        let line = before.matches('\n').count() + 1;
        errors::schema_text(&format!("schema, line {line}: not TOML: {}", error.message()))
    })?;
    dict(py, root.get_ref())
}

fn dict<'py>(py: Python<'py>, table: &DeTable<'_>) -> PyResult<Bound<'py, PyDict>> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    let dict = PyDict::new(py);
    for (key, value) in members {
        dict.set_item(key.get_ref().as_ref(), plain(py, value)?)?;
    }
    Ok(dict)
}

fn plain<'py>(py: Python<'py>, value: &Spanned<DeValue<'_>>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value.get_ref() {
        DeValue::String(text) => text.as_ref().into_pyobject(py)?.into_any(),
        DeValue::Boolean(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        DeValue::Datetime(time) => time.to_string().into_pyobject(py)?.into_any(),
        DeValue::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| plain(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        DeValue::Table(table) => dict(py, table)?.into_any(),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.into_pyobject(py)?.into_any(),
            Err(_) => number.as_str().into_pyobject(py)?.into_any(),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) => number.into_pyobject(py)?.into_any(),
            Err(_) => number.as_str().into_pyobject(py)?.into_any(),
        },
    })
}
