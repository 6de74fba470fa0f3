//! From JSON to rows and options. Every wrong value is reported with its place, what was found and what was expected;
//! [`crate::json_schema`] describes the same as a schema.

use par_data::{Domain, Feature, Limits, Permitted, Schema, suggest};
use par_recourse::{Method, Order, Request};
use serde_json::{Map, Value};

use crate::models::ServedModel;
use crate::refusal::{Problem, Refusal};

/// The most ways of one answer.
pub(crate) const MAX_COUNT: usize = 20;
/// The highest budget: far more than there are features.
pub(crate) const MAX_BUDGET: usize = 1_000_000_000;
/// The most problems of one refusal.
const MAX_PROBLEMS: usize = 20;
/// The most categories that a problem lists.
const LISTED: usize = 20;
/// The most bytes of a key that a path repeats in full.
const LONGEST_KEY: usize = 1_000;
/// The most characters of a value that a problem repeats.
const BRIEF: usize = 80;

/// One person's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The client's id of the row, if it has one.
    pub(crate) id: Option<String>,
    /// Its cells, in schema order.
    pub(crate) cells: Vec<String>,
}

/// The options of a request, for all of its rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestOptions {
    pub(crate) request: Request,
    /// Whether to draw the frontier.
    pub(crate) plot: bool,
}

impl RequestOptions {
    /// The threshold of the request; by default that of the model.
    pub(crate) fn threshold(&self, model: &ServedModel) -> f64 {
        self.request.threshold.unwrap_or(model.bundle().threshold())
    }
}

/// Rows, and the options of their answers.
pub(crate) struct Question {
    pub(crate) rows: Vec<Row>,
    pub(crate) options: RequestOptions,
}

/// The keys of the options.
const OPTIONS: [&str; 9] =
    ["method", "count", "order", "budget", "threshold", "lock", "limit", "auditor", "plot"];

impl Question {
    /// Reads the body of `/v1/recourse`: a `row` or `rows`, and options.
    ///
    /// # Errors
    /// With all problems.
    pub(crate) fn read(model: &ServedModel, body: &Value, max_rows: usize) -> Result<Self, Refusal> {
        let mut reader = Reader::new(model);
        let body = reader.object("", body)?;
        let options = reader.options("", body, &["row", "rows"]);
        let rows = match (body.get("row"), body.get("rows")) {
            (Some(row), None) => vec![reader.row("/row", row)],
            (None, Some(rows)) => reader.rows("/rows", rows, max_rows)?,
            (one, _) => {
                let found = if one.is_some() { "both" } else { "neither" };
                reader.problem(String::new(), found, "either `row` or `rows`");
                Vec::new()
            }
        };
        reader.finish(Self { rows, options })
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
        let mut reader = Reader::new(model);
        let body = reader.object("", body)?;
        let options = reader.options("", body, &["instances"]);
        let rows = match body.get("instances") {
            Some(rows) => reader.rows("/instances", rows, max_rows)?,
            None => {
                reader.problem("/instances".to_string(), "nothing", "a list of rows");
                Vec::new()
            }
        };
        reader.finish(Self { rows, options })
    }
}

/// Reads values and collects problems.
pub(crate) struct Reader<'m> {
    model: &'m ServedModel,
    problems: Vec<Problem>,
}

impl<'m> Reader<'m> {
    pub(crate) fn new(model: &'m ServedModel) -> Self {
        Self { model, problems: Vec::new() }
    }

    /// What was read, if there are no problems.
    pub(crate) fn finish<T>(self, read: T) -> Result<T, Refusal> {
        if self.problems.is_empty() { Ok(read) } else { Err(Refusal::WrongValues(self.problems)) }
    }

    pub(crate) fn problem(&mut self, path: String, found: impl Into<String>, expected: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { path, found: found.into(), expected: expected.into() });
        }
    }

    pub(crate) fn wrong(&mut self, path: String, found: &Value, expected: impl Into<String>) {
        self.problem(path, brief(found), expected);
    }

    /// An object, without which there is nothing to read.
    pub(crate) fn object<'v>(
        &mut self,
        path: &str,
        value: &'v Value,
    ) -> Result<&'v Map<String, Value>, Refusal> {
        value.as_object().ok_or_else(|| {
            self.wrong(path.to_string(), value, "an object");
            Refusal::WrongValues(std::mem::take(&mut self.problems))
        })
    }

    fn rows(&mut self, path: &str, value: &Value, max_rows: usize) -> Result<Vec<Row>, Refusal> {
        let Some(rows) = value.as_array().filter(|rows| !rows.is_empty()) else {
            self.wrong(path.to_string(), value, "a list of at least one row");
            return Ok(Vec::new());
        };
        if rows.len() > max_rows {
            return Err(Refusal::TooManyRows { found: rows.len(), limit: max_rows });
        }
        Ok(rows.iter().enumerate().map(|(number, row)| self.row(&format!("{path}/{number}"), row)).collect())
    }

    /// A row: an object with a value for every feature, or a list of values in the order of the features.
    pub(crate) fn row(&mut self, path: &str, value: &Value) -> Row {
        let model = self.model;
        let features = model.bundle().schema().features();
        let mut row = Row { id: None, cells: vec![String::new(); features.len()] };
        match value {
            Value::Array(values) if values.len() == features.len() => {
                for (position, value) in values.iter().enumerate() {
                    row.cells[position] = self.cell(&format!("{path}/{position}"), position, Some(value));
                }
            }
            Value::Object(values) => {
                for (position, feature) in features.iter().enumerate() {
                    let value = values.get(&feature.name);
                    let path = || format!("{path}/{}", escaped(&feature.name));
                    row.cells[position] = match value {
                        // The path is made only if there is a problem: this is the hot path.
                        Some(value) => match text(model, position, value) {
                            Some(cell) => cell,
                            None => self.cell(&path(), position, Some(value)),
                        },
                        None => self.cell(&path(), position, None),
                    };
                }
                let id = model.bundle().schema().special().id.as_deref();
                for (name, value) in values.iter().filter(|(name, _)| model.feature(name).is_none()) {
                    match value {
                        Value::String(text) if Some(name.as_str()) == id => row.id = Some(text.clone()),
                        Value::Number(number) if Some(name.as_str()) == id => {
                            row.id = Some(number.to_string());
                        }
                        _ if Some(name.as_str()) == id => {
                            self.wrong(format!("{path}/{}", escaped(name)), value, "a text or a number");
                        }
                        _ => self.unknown_feature(format!("{path}/{}", escaped(name)), name),
                    }
                }
            }
            other => {
                let expected = format!("an object, or a list of {} values", features.len());
                self.wrong(path.to_string(), other, expected);
            }
        }
        row
    }

    /// The text of a cell; a problem, and no text, if the value does not fit.
    pub(crate) fn cell(&mut self, path: &str, position: usize, value: Option<&Value>) -> String {
        let model = self.model;
        if let Some(text) = text(model, position, value.unwrap_or(&Value::Null)) {
            return text;
        }
        let expected = expected(model, position);
        match value {
            Some(value) => self.wrong(path.to_string(), value, expected),
            None => self.problem(path.to_string(), "nothing", expected),
        }
        String::new()
    }

    fn unknown_feature(&mut self, path: String, name: &str) {
        // A suggestion takes a while to find, and is not shown beyond the limit.
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let features = self.model.bundle().schema().features();
        let known: Vec<String> = features.iter().map(|feature| feature.name.clone()).collect();
        let name = shortened(name);
        let expected = format!("the name of a feature{}", suggest(&name, &known));
        self.problem(path, format!("`{name}`"), expected);
    }

    /// The options in an object that may have `other` keys.
    pub(crate) fn options(
        &mut self,
        path: &str,
        object: &Map<String, Value>,
        other: &[&str],
    ) -> RequestOptions {
        let mut options = RequestOptions::default();
        for (key, value) in object {
            let path = format!("{path}/{}", escaped(key));
            let request = &mut options.request;
            match (key.as_str(), value) {
                ("order" | "budget" | "threshold", Value::Null) => {}
                ("method", value) => match value.as_str().and_then(Method::named) {
                    Some(method) => request.method = method,
                    None => self.wrong(path, value, "one of \"generate\", \"refine\", \"exact\""),
                },
                ("count", value) => match whole(value).filter(|count| (1..=MAX_COUNT).contains(count)) {
                    Some(count) => request.count = count,
                    None => self.wrong(path, value, format!("a whole number from 1 to {MAX_COUNT}")),
                },
                ("order", value) => match value.as_str().and_then(Order::named) {
                    Some(order) => request.order = Some(order),
                    None => self.wrong(path, value, "one of \"balanced\", \"likelihood\", or null"),
                },
                ("budget", value) => match whole(value).filter(|budget| (1..=MAX_BUDGET).contains(budget)) {
                    Some(budget) => request.budget = Some(budget),
                    None => {
                        let expected = format!("a whole number from 1 to {MAX_BUDGET}, or null");
                        self.wrong(path, value, expected);
                    }
                },
                ("threshold", value) => match value.as_f64().filter(|p| *p > 0.0 && *p < 1.0) {
                    Some(threshold) => request.threshold = Some(threshold),
                    None => self.wrong(path, value, "a number above 0 and below 1"),
                },
                ("lock", value) => request.locks = self.locks(&path, value),
                ("limit", value) => request.limits = self.limits(&path, value),
                ("auditor", Value::Bool(auditor)) => request.auditor = *auditor,
                ("plot", Value::Bool(plot)) => options.plot = *plot,
                ("auditor" | "plot", value) => self.wrong(path, value, "true or false"),
                (key, _) if other.contains(&key) => {}
                (key, _) => {
                    let known: Vec<&str> = other.iter().chain(&OPTIONS).copied().collect();
                    let found = format!("`{}`", shortened(key));
                    self.problem(path, found, format!("one of the keys {}", known.join(", ")));
                }
            }
        }
        options
    }

    fn locks(&mut self, path: &str, value: &Value) -> Vec<usize> {
        let Some(names) = value.as_array() else {
            self.wrong(path.to_string(), value, "a list of names of features");
            return Vec::new();
        };
        let mut locks = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let path = format!("{path}/{number}");
            match name.as_str() {
                Some(name) => match self.model.feature(name) {
                    Some(feature) => locks.push(feature),
                    None => self.unknown_feature(path, name),
                },
                None => self.wrong(path, name, "the name of a feature"),
            }
        }
        locks.sort_unstable();
        locks.dedup();
        locks
    }

    fn limits(&mut self, path: &str, value: &Value) -> Limits {
        let discretizer = self.model.bundle().discretizer();
        let Some(limits) = value.as_object() else {
            self.wrong(path.to_string(), value, "an object of features and what they may move to");
            return Limits::default();
        };
        let mut checked = Vec::new();
        for (name, value) in limits {
            let path = format!("{path}/{}", escaped(name));
            let Some(feature) = self.model.feature(name) else {
                self.unknown_feature(path, name);
                continue;
            };
            let Some(permitted) = self.permitted(&path, feature, value) else { continue };
            match Limits::new(discretizer, [(feature, permitted.clone())]) {
                Ok(_) => checked.push((feature, permitted)),
                Err(error) => {
                    let message = error.to_string();
                    self.wrong(path, value, format!("something to move to: {}", message.replace('\n', "; ")));
                }
            }
        }
        Limits::new(discretizer, checked).expect("keys are features, of which none is named twice")
    }

    /// The values that a feature may change to; a problem, and `None`, if the value does not fit.
    fn permitted(&mut self, path: &str, position: usize, value: &Value) -> Option<Permitted> {
        let domain = &self.model.bundle().discretizer().domains()[position];
        let entry =
            value.as_object().filter(|object| object.len() == 1).and_then(|object| object.iter().next());
        let entry = entry.and_then(|(key, values)| Some((key.as_str(), values.as_array()?.as_slice())));
        let expected = match (domain, entry) {
            (Domain::Categories { values: known, .. }, Some(("among", values))) => {
                let mut among = Vec::with_capacity(values.len());
                for (number, value) in values.iter().enumerate() {
                    match category(self.model, position, value) {
                        Some(text) => among.push(text),
                        None => self.wrong(format!("{path}/among/{number}"), value, one_of(known)),
                    }
                }
                return (among.len() == values.len()).then_some(Permitted::Among(among));
            }
            (Domain::Categories { .. }, _) => "{\"among\": [CATEGORY, …]}",
            (_, entry) => match entry.and_then(|(key, values)| numbers(key, values)) {
                Some(permitted) => return Some(permitted),
                None => "{\"between\": [LOWEST or null, HIGHEST or null]} or {\"among\": [NUMBER, …]}",
            },
        };
        self.wrong(path.to_string(), value, expected);
        None
    }
}

/// The numbers that a feature may change to.
fn numbers(key: &str, values: &[Value]) -> Option<Permitted> {
    match (key, values) {
        ("between", [lowest, highest]) => {
            let end = |value: &Value, open: f64| if value.is_null() { Some(open) } else { value.as_f64() };
            Some(Permitted::Between([end(lowest, f64::NEG_INFINITY)?, end(highest, f64::INFINITY)?]))
        }
        ("among", values) => {
            let number = |value: &Value| value.as_number().map(number_text);
            Some(Permitted::Among(values.iter().map(number).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// The text of a value that fits a feature.
fn text(model: &ServedModel, position: usize, value: &Value) -> Option<String> {
    let schema = model.bundle().schema();
    let feature = &schema.features()[position];
    match (&model.bundle().discretizer().domains()[position], value) {
        (_, Value::Null) => missing(schema, feature).map(str::to_string),
        (Domain::Categories { .. }, value) => category(model, position, value).or_else(|| match value {
            Value::String(text) if feature.missing => Some(text.clone()),
            Value::Number(number) if feature.missing => Some(number_text(number)),
            _ => None,
        }),
        (Domain::Values { .. } | Domain::Bins { .. }, Value::Number(number)) => {
            Some(number_text(number)).filter(|text| feature.number(text).is_ok())
        }
        _ => None,
    }
}

/// The text of a missing cell of the feature, if it may be missing.
pub(crate) fn missing<'s>(schema: &'s Schema, feature: &Feature) -> Option<&'s str> {
    let texts = schema.missing_text().iter().filter(|_| feature.missing);
    texts.map(String::as_str).find(|text| !feature.values.iter().any(|value| value == text))
}

/// The category that a value names: as text, as a number that no other category has, or as a boolean.
fn category(model: &ServedModel, position: usize, value: &Value) -> Option<String> {
    let discretizer = model.bundle().discretizer();
    let Domain::Categories { values: known, .. } = &discretizer.domains()[position] else { return None };
    let named = match value {
        Value::String(text) => known.iter().find(|known| *known == text),
        Value::Number(number) => {
            let code = discretizer.category(position, &number_text(number));
            code.map(|code| &known[usize::from(code)])
        }
        Value::Bool(truth) => spelled(known, *truth),
        _ => None,
    };
    named.cloned()
}

/// `true` and `false` as categories spell them.
pub(crate) fn spelled(known: &[String], truth: bool) -> Option<&String> {
    known.iter().find(|known| known.eq_ignore_ascii_case(if truth { "true" } else { "false" }))
}

/// The values that a cell may have, for a problem.
fn expected(model: &ServedModel, position: usize) -> String {
    let schema = model.bundle().schema();
    let feature = &schema.features()[position];
    let value = match &model.bundle().discretizer().domains()[position] {
        Domain::Categories { .. } if feature.missing => "a text".to_string(),
        Domain::Categories { values, .. } => one_of(values),
        Domain::Values { .. } | Domain::Bins { .. } => feature.expected_number(),
    };
    if missing(schema, feature).is_some() { format!("{value}, or null") } else { value }
}

fn one_of(known: &[String]) -> String {
    let listed: Vec<String> = known.iter().take(LISTED).map(|value| format!("\"{value}\"")).collect();
    let more = match known.len() {
        all if all > LISTED => format!(", … ({all} in all)"),
        _ => String::new(),
    };
    format!("one of {}{more}", listed.join(", "))
}

/// A number as a table writes it: `48`, not `48.0`.
fn number_text(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float.to_string(),
        _ => number.to_string(),
    }
}

/// A whole number, however it is written.
pub(crate) fn whole(value: &Value) -> Option<usize> {
    let number = value.as_f64()?;
    (number.fract() == 0.0 && (0.0..=1e9).contains(&number)).then_some(number as usize)
}

/// A value, shortened for a problem.
pub(crate) fn brief(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("a list of {}", values.len()),
        Value::Object(values) => match values.keys().next() {
            Some(key) => format!("an object with `{}`", shortened(key)),
            None => "an empty object".to_string(),
        },
        other => shortened(&other.to_string()),
    }
}

pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(BRIEF) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// A name as a part of a JSON pointer (RFC 6901), shortened if it is very long.
pub(crate) fn escaped(name: &str) -> String {
    let name = if name.len() > LONGEST_KEY { &shortened(name) } else { name };
    name.replace('~', "~0").replace('/', "~1")
}
