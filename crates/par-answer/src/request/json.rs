//! Reads rows and options from JSON. A problem has the place of the value, what was found and what was expected.

use par_data::schema::{parse_months, parse_number, position_of};
use par_data::{Domain, Feature, Limits, Permitted, Schema, suggest};
use par_model::{Model, Order};
use serde_json::{Map, Value};

use super::{
    CERTIFY, DEADLINE, DURATION, EFFORT, MAX_BUDGET, MAX_EFFORT, MIN_PERCENTILE, Method, NO_VERSIONS,
    Problem, ROBUST, Request, count_words, deadline, effort_word, is_share, whole_months,
};

/// The most problems that are reported together.
const MAX_PROBLEMS: usize = 20;
/// The most categories that a problem lists.
const LISTED: usize = 20;
/// The most bytes of a key that a path repeats in full.
const LONGEST_KEY: usize = 1_000;
/// The most characters of a value that a problem repeats.
const BRIEF: usize = 80;

/// A row that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonRow {
    /// The sender's id of the row, if it has one.
    pub id: Option<String>,
    /// Its cells, in schema order.
    pub cells: Vec<String>,
}

/// Reads rows and options, and collects problems.
pub struct JsonReader<'m> {
    model: &'m Model,
    max_count: usize,
    texts: bool,
    problems: Vec<Problem>,
}

impl<'m> JsonReader<'m> {
    /// A reader for a model; `max_count` is the highest `count` that a request may have.
    pub fn new(model: &'m Model, max_count: usize) -> Self {
        Self { model, max_count, texts: false, problems: Vec::new() }
    }

    /// Lets the values of limits be texts: numbers as a table writes them, and `true` in any case.
    #[must_use]
    pub fn with_texts(self) -> Self {
        Self { texts: true, ..self }
    }

    /// Returns what was read.
    ///
    /// # Errors
    /// With all problems, if there are any.
    pub fn finish<T>(self, read: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() { Ok(read) } else { Err(self.problems) }
    }

    /// Reports a problem.
    pub fn problem(&mut self, path: String, found: impl Into<String>, expected: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { path, found: found.into(), expected: expected.into() });
        }
    }

    /// Reports a value that does not fit.
    pub fn wrong(&mut self, path: String, found: &Value, expected: impl Into<String>) {
        self.problem(path, brief(found), expected);
    }

    /// An object.
    ///
    /// # Errors
    /// With all problems so far, if the value is not an object.
    pub fn object<'v>(
        &mut self,
        path: &str,
        value: &'v Value,
    ) -> Result<&'v Map<String, Value>, Vec<Problem>> {
        value.as_object().ok_or_else(|| {
            self.wrong(path.to_string(), value, "an object");
            std::mem::take(&mut self.problems)
        })
    }

    /// A row: an object with a value for every feature, or a list of values in the order of the features.
    pub fn row(&mut self, path: &str, value: &Value) -> JsonRow {
        let model = self.model;
        let features = model.schema().features();
        let mut row = JsonRow { id: None, cells: vec![String::new(); features.len()] };
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
                        // The path is built only for a problem: this code is hot.
                        Some(value) => match text(model, position, value) {
                            Some(cell) => cell,
                            None => self.cell(&path(), position, Some(value)),
                        },
                        None => self.cell(&path(), position, None),
                    };
                }
                let known = features.iter().filter(|feature| values.contains_key(&feature.name)).count();
                let id = model.schema().special().id.as_deref();
                let is_feature = |name: &str| features.iter().any(|feature| feature.name == name);
                let others = values.iter().filter(|(name, _)| known < values.len() && !is_feature(name));
                for (name, value) in others {
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

    /// The text of a cell; reports a problem, and returns an empty text, if the value does not fit.
    pub fn cell(&mut self, path: &str, position: usize, value: Option<&Value>) -> String {
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
        // Suggestions are slow to find, and problems beyond the limit are not reported.
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let features = self.model.schema().features();
        let known: Vec<String> = features.iter().map(|feature| feature.name.clone()).collect();
        let name = shortened(name);
        let expected = format!("the name of a feature{}", suggest(&name, &known));
        self.problem(path, format!("`{name}`"), expected);
    }

    /// Reads an option into a request. False if there is no option of that name.
    pub fn option(&mut self, path: &str, name: &str, value: &Value, request: &mut Request) -> bool {
        let path = format!("{path}/{}", escaped(name));
        let scale = self.model.scale();
        match (name, value) {
            (
                "order" | "budget" | "threshold" | "margin" | "min_percentile" | "max_effort" | "within"
                | "deadline" | "robust" | "certify",
                Value::Null,
            ) => {}
            ("method", value) => match value.as_str().and_then(Method::named) {
                Some(method) => request.method = method,
                None => self.wrong(path, value, one_of(&Method::ALL.map(|method| method.name().to_string()))),
            },
            ("count", value) => match whole(value).filter(|count| (1..=self.max_count).contains(count)) {
                Some(count) => request.count = count,
                None => self.wrong(path, value, count_words(self.max_count)),
            },
            ("order", value) => match value.as_str().and_then(Order::named) {
                Some(order) => request.order = Some(order),
                None => {
                    let orders = one_of(&Order::ALL.map(|order| order.name().to_string()));
                    self.wrong(path, value, format!("{orders}, or null"));
                }
            },
            ("budget", value) => match whole(value).filter(|budget| (1..=MAX_BUDGET).contains(budget)) {
                Some(budget) => request.budget = Some(budget),
                None => self.wrong(path, value, format!("{}, or null", count_words(MAX_BUDGET))),
            },
            ("threshold", value) => match value.as_f64().filter(|number| scale.is_threshold(*number)) {
                Some(threshold) => request.threshold = Some(threshold),
                None => self.wrong(path, value, scale.threshold_words()),
            },
            ("margin", value) => match value.as_f64().filter(|margin| scale.is_margin(*margin)) {
                Some(margin) => request.margin = Some(margin),
                None => self.wrong(path, value, format!("{}, or null", scale.margin_words())),
            },
            ("min_percentile", value) => match value.as_f64().filter(|share| (0.0..=1.0).contains(share)) {
                Some(share) => request.min_percentile = Some(share),
                None => self.wrong(path, value, format!("{MIN_PERCENTILE}, or null")),
            },
            ("max_effort", value) => match value.as_f64().filter(|effort| *effort > 0.0) {
                Some(effort) => request.max_effort = Some(effort),
                None => self.wrong(path, value, format!("{MAX_EFFORT}, or null")),
            },
            ("within", value) => match value.as_str().and_then(parse_months).and_then(whole_months) {
                Some(months) => request.within = Some(months),
                None => self.wrong(path, value, format!("{DURATION}, or null")),
            },
            ("deadline", value) => match value.as_str().and_then(deadline) {
                Some(time) => request.deadline = Some(time),
                None => self.wrong(path, value, format!("{DEADLINE}, or null")),
            },
            ("robust", Value::Bool(false)) => request.robust = None,
            ("robust", value) => match share(value) {
                Some(_) if self.model.versions().is_empty() => self.wrong(path, value, NO_VERSIONS),
                Some(share) => request.robust = Some(share),
                None => self.wrong(path, value, format!("{ROBUST}, or null")),
            },
            ("certify", value) => match value.as_f64().filter(|share| is_share(*share)) {
                Some(share) => request.certify = Some(share),
                None => self.wrong(path, value, format!("{CERTIFY}, or null")),
            },
            ("slack", Value::Bool(slack)) => request.slack = *slack,
            ("no_harm", Value::Bool(no_harm)) => request.no_harm = *no_harm,
            ("effort", value) => request.efforts = self.efforts(&path, value),
            ("lock", value) => request.locks = self.locks(&path, value),
            ("limit", value) => request.limits = self.limits(&path, value),
            ("auditor", Value::Bool(auditor)) => request.auditor = *auditor,
            ("slack" | "no_harm" | "auditor", value) => self.wrong(path, value, "true or false"),
            _ => return false,
        }
        true
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
                Some(name) => match self.model.schema().position(name) {
                    Ok(feature) => locks.push(feature),
                    Err(_) => self.unknown_feature(path, name),
                },
                None => self.wrong(path, name, "the name of a feature"),
            }
        }
        locks.sort_unstable();
        locks.dedup();
        locks
    }

    fn efforts(&mut self, path: &str, value: &Value) -> Vec<(usize, f64)> {
        let Some(weights) = value.as_object() else {
            self.wrong(path.to_string(), value, "an object with a weight for each feature");
            return Vec::new();
        };
        let mut efforts = Vec::new();
        for (name, value) in weights {
            let path = format!("{path}/{}", escaped(name));
            let weight = match value {
                Value::String(word) => effort_word(word),
                other => other.as_f64().filter(|weight| *weight > 0.0),
            };
            match (self.model.schema().position(name), weight) {
                (Ok(feature), Some(weight)) => efforts.push((feature, weight)),
                (Ok(_), None) => self.wrong(path, value, EFFORT),
                (Err(_), _) => self.unknown_feature(path, name),
            }
        }
        efforts
    }

    fn limits(&mut self, path: &str, value: &Value) -> Limits {
        let discretizer = self.model.discretizer();
        let Some(limits) = value.as_object() else {
            self.wrong(path.to_string(), value, "an object with a limit for each feature");
            return Limits::default();
        };
        let mut checked = Vec::new();
        for (name, value) in limits {
            let path = format!("{path}/{}", escaped(name));
            let Ok(feature) = self.model.schema().position(name) else {
                self.unknown_feature(path, name);
                continue;
            };
            let Some(permitted) = self.permitted(&path, feature, value) else { continue };
            match Limits::new(discretizer, [(feature, permitted.clone())]) {
                Ok(_) => checked.push((feature, permitted)),
                Err(error) => {
                    let message = error.to_string();
                    self.wrong(path, value, format!("a valid limit: {}", message.replace('\n', "; ")));
                }
            }
        }
        Limits::new(discretizer, checked).expect("keys are features, of which none is named twice")
    }

    /// The values that a feature may change to; reports a problem, and returns `None`, if the value does not fit.
    fn permitted(&mut self, path: &str, position: usize, value: &Value) -> Option<Permitted> {
        let domain = &self.model.discretizer().domains()[position];
        let entry =
            value.as_object().filter(|object| object.len() == 1).and_then(|object| object.iter().next());
        let entry = entry.and_then(|(key, values)| Some((key.as_str(), values.as_array()?.as_slice())));
        match (domain, entry) {
            (Domain::Categories { values: known, .. }, Some(("among", values))) => {
                let (model, texts) = (self.model, self.texts);
                let truth = |value: &Value| value.as_str()?.to_ascii_lowercase().parse().ok();
                let read = |value: &Value| {
                    let spelled = || spelled(known, truth(value).filter(|_| texts)?).cloned();
                    category(model, position, value).or_else(spelled)
                };
                self.among(path, values, read, || one_of(known))
            }
            (Domain::Categories { .. }, _) => {
                self.wrong(path.to_string(), value, CATEGORIES);
                None
            }
            (_, Some(("among", values))) => {
                let texts = self.texts;
                let read = |value: &Value| match value {
                    Value::Number(number) => Some(number_text(number)),
                    Value::String(text) if texts => parse_number(text).map(|_| text.clone()),
                    _ => None,
                };
                self.among(path, values, read, || "a number".to_string())
            }
            (_, entry) => {
                let range = entry.and_then(|(key, values)| range(key, values));
                if range.is_none() {
                    self.wrong(path.to_string(), value, NUMBERS);
                }
                range
            }
        }
    }

    fn among(
        &mut self,
        path: &str,
        values: &[Value],
        read: impl Fn(&Value) -> Option<String>,
        expected: impl Fn() -> String,
    ) -> Option<Permitted> {
        let mut among = Vec::with_capacity(values.len());
        for (number, value) in values.iter().enumerate() {
            match read(value) {
                Some(text) => among.push(text),
                None => self.wrong(format!("{path}/among/{number}"), value, expected()),
            }
        }
        (among.len() == values.len()).then_some(Permitted::Among(among))
    }
}

/// The limit of a categorical feature, as JSON.
pub const CATEGORIES: &str = "{\"among\": [CATEGORY, …]}";
/// The limit of a numeric feature, as JSON.
pub const NUMBERS: &str = "{\"between\": [LOWEST or null, HIGHEST or null]} or {\"among\": [NUMBER, …]}";

fn range(key: &str, values: &[Value]) -> Option<Permitted> {
    let ("between", [lowest, highest]) = (key, values) else { return None };
    let end = |value: &Value, open: f64| if value.is_null() { Some(open) } else { value.as_f64() };
    Some(Permitted::Between([end(lowest, f64::NEG_INFINITY)?, end(highest, f64::INFINITY)?]))
}

/// The text of a value that fits a feature.
fn text(model: &Model, position: usize, value: &Value) -> Option<String> {
    let schema = model.schema();
    let feature = &schema.features()[position];
    match (&model.discretizer().domains()[position], value) {
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
pub fn missing<'s>(schema: &'s Schema, feature: &Feature) -> Option<&'s str> {
    let texts = schema.missing_text().iter().filter(|_| feature.missing);
    texts.map(String::as_str).find(|text| !feature.values.iter().any(|value| value == text))
}

/// The category that a value names: by text, by a number that only one category has, or by a boolean.
fn category(model: &Model, position: usize, value: &Value) -> Option<String> {
    let discretizer = model.discretizer();
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

/// `true` and `false` as the only category that says so spells it.
pub fn spelled(known: &[String], truth: bool) -> Option<&String> {
    position_of(known, if truth { "true" } else { "false" }).map(|position| &known[position])
}

/// The values that a cell may have, in words.
fn expected(model: &Model, position: usize) -> String {
    let schema = model.schema();
    let feature = &schema.features()[position];
    let value = match &model.discretizer().domains()[position] {
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

/// The share of versions that must accept: all for `true`.
fn share(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(true) => Some(1.0),
        value => value.as_f64().filter(|share| is_share(*share)),
    }
}

/// A whole number, whether written `3` or `3.0`.
pub fn whole(value: &Value) -> Option<usize> {
    let number = value.as_f64()?;
    (number.fract() == 0.0 && (0.0..=1e9).contains(&number)).then_some(number as usize)
}

/// A value, shortened for a message.
pub fn brief(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("a list of {}", values.len()),
        Value::Object(values) => match values.keys().next() {
            Some(key) => format!("an object with `{}`", shortened(key)),
            None => "an empty object".to_string(),
        },
        other => shortened(&other.to_string()),
    }
}

/// A text, shortened for a message.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(BRIEF) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// A name escaped for a JSON pointer (RFC 6901), shortened if it is very long.
pub fn escaped(name: &str) -> String {
    let name = if name.len() > LONGEST_KEY { &shortened(name) } else { name };
    name.replace('~', "~0").replace('/', "~1")
}
