//! From JSON to rows and options. Every wrong value is reported with its place, what was found and what was expected;
//! [`crate::json_schema`] describes the same as a schema.

use par_answer::Request;
use par_answer::request::OPTIONS;
use par_answer::request::json::{JsonReader, JsonRow, escaped, shortened};
use serde_json::{Map, Value};

use crate::models::ServedModel;
use crate::refusal::Refusal;

/// The most ways of one answer.
pub(crate) const MAX_COUNT: usize = 20;

/// The options of a request, for all of its rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestOptions {
    pub(crate) request: Request,
    /// Whether to draw the frontier.
    pub(crate) plot: bool,
}

/// Rows, and the options of their answers.
pub(crate) struct Question {
    pub(crate) rows: Vec<JsonRow>,
    pub(crate) options: RequestOptions,
}

impl Question {
    /// Reads the body of `/v1/recourse`: a `row` or `rows`, and options.
    ///
    /// # Errors
    /// With all problems.
    pub(crate) fn read(model: &ServedModel, body: &Value, max_rows: usize) -> Result<Self, Refusal> {
        let mut reader = JsonReader::new(model, MAX_COUNT);
        let body = reader.object("", body)?;
        let options = options(&mut reader, "", body, &["row", "rows"]);
        let rows = match (body.get("row"), body.get("rows")) {
            (Some(row), None) => vec![reader.row("/row", row)],
            (None, Some(rows)) => self::rows(&mut reader, "/rows", rows, max_rows)?,
            (one, _) => {
                let found = if one.is_some() { "both" } else { "neither" };
                reader.problem(String::new(), found, "either `row` or `rows`");
                Vec::new()
            }
        };
        Ok(reader.finish(Self { rows, options })?)
    }

    /// Reads the body of an `:explain` or `:predict` of KServe's first protocol: `instances`, and options.
    ///
    /// # Errors
    /// With all problems.
    pub(crate) fn read_instances(
        model: &ServedModel,
        body: &Value,
        max_rows: usize,
    ) -> Result<Self, Refusal> {
        let mut reader = JsonReader::new(model, MAX_COUNT);
        let body = reader.object("", body)?;
        let options = options(&mut reader, "", body, &["instances"]);
        let rows = match body.get("instances") {
            Some(rows) => self::rows(&mut reader, "/instances", rows, max_rows)?,
            None => {
                reader.problem("/instances".to_string(), "nothing", "a list of rows");
                Vec::new()
            }
        };
        Ok(reader.finish(Self { rows, options })?)
    }
}

/// The options in an object that may have `other` keys.
pub(crate) fn options(
    reader: &mut JsonReader<'_>,
    path: &str,
    object: &Map<String, Value>,
    other: &[&str],
) -> RequestOptions {
    let mut options = RequestOptions::default();
    for (key, value) in object.iter().filter(|(key, _)| !other.contains(&key.as_str())) {
        let place = || format!("{path}/{}", escaped(key));
        match (key.as_str(), value) {
            ("plot", Value::Bool(plot)) => options.plot = *plot,
            ("plot", value) => reader.wrong(place(), value, "true or false"),
            (key, value) if reader.option(path, key, value, &mut options.request) => {}
            (key, _) => {
                let known: Vec<&str> = other.iter().chain(&OPTIONS).chain(&["plot"]).copied().collect();
                let found = format!("`{}`", shortened(key));
                reader.problem(place(), found, format!("one of the keys {}", known.join(", ")));
            }
        }
    }
    options
}

fn rows(
    reader: &mut JsonReader<'_>,
    path: &str,
    value: &Value,
    max_rows: usize,
) -> Result<Vec<JsonRow>, Refusal> {
    let Some(rows) = value.as_array().filter(|rows| !rows.is_empty()) else {
        reader.wrong(path.to_string(), value, "a list of at least one row");
        return Ok(Vec::new());
    };
    if rows.len() > max_rows {
        return Err(Refusal::TooManyRows { found: rows.len(), limit: max_rows });
    }
    Ok(rows.iter().enumerate().map(|(number, row)| reader.row(&format!("{path}/{number}"), row)).collect())
}
