//! The parameters of addresses: which there are, and what a query says.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use par_answer::request::Problem;
use par_answer::request::text::{OptionError, TextReader};
use serde_json::{Value, json};

use crate::endpoints::Endpoint;
use crate::models::ServedModel;
use crate::question::{MAX_COUNT, RequestOptions};
use crate::refusal::Refusal;
use crate::{about, json_schema};

/// A parameter of an address.
pub(crate) struct Parameter {
    /// Its key among the components of the OpenAPI document.
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    /// Where it stands, as OpenAPI calls it: `path` or `query`.
    pub(crate) place: &'static str,
    /// Its JSON Schema, with a description.
    pub(crate) schema: fn(&ServedModel) -> Value,
}

impl Parameter {
    const fn query(name: &'static str, schema: fn(&ServedModel) -> Value) -> Self {
        Self { key: name, name, place: "query", schema }
    }

    /// As OpenAPI describes it.
    pub(crate) fn described(&self, model: &ServedModel) -> Value {
        let Self { name, place, .. } = self;
        let mut schema = (self.schema)(model);
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter = json!({"in": place, "name": name, "description": description, "schema": schema});
        if *place == "path" {
            parameter["required"] = true.into();
        }
        parameter
    }
}

pub(crate) const NAME: Parameter = Parameter {
    place: "path",
    ..Parameter::query(
        "name",
        |model| json!({"description": "The name of a model.", "type": "string", "enum": [model.name()]}),
    )
};
pub(crate) const MODEL: Parameter = Parameter::query("model", |model| {
    let description = "Which model is asked; the first of the service by default.";
    json!({"description": description, "type": "string", "enum": [model.name()]})
});
pub(crate) const FIRST: Parameter = Parameter::query("first", |_| {
    let description = "The number of the first row, for tables that are sent in parts.";
    json!({"description": description, "type": "integer", "minimum": 1, "maximum": MAX_FIRST, "default": 1})
});
pub(crate) const METHOD: Parameter = Parameter::query("method", |model| option_of_table(model, "method"));
pub(crate) const COUNT: Parameter = Parameter::query("count", |model| option_of_table(model, "count"));
pub(crate) const ORDER: Parameter = Parameter::query("order", |model| option_of_table(model, "order"));
pub(crate) const BUDGET: Parameter = Parameter::query("budget", |model| option_of_table(model, "budget"));
pub(crate) const THRESHOLD: Parameter =
    Parameter::query("threshold", |model| option_of_table(model, "threshold"));
pub(crate) const MARGIN: Parameter = Parameter::query("margin", |model| option_of_table(model, "margin"));
pub(crate) const MIN_PERCENTILE: Parameter =
    Parameter::query("min_percentile", |model| option_of_table(model, "min_percentile"));
pub(crate) const MAX_EFFORT: Parameter =
    Parameter::query("max_effort", |model| option_of_table(model, "max_effort"));
pub(crate) const WITHIN: Parameter = Parameter::query("within", |model| option_of_table(model, "within"));
pub(crate) const DEADLINE: Parameter =
    Parameter::query("deadline", |model| option_of_table(model, "deadline"));
pub(crate) const NO_HARM: Parameter = Parameter::query("no_harm", |model| option_of_table(model, "no_harm"));
pub(crate) const ROBUST: Parameter = Parameter::query("robust", |model| option_of_table(model, "robust"));
pub(crate) const CERTIFY: Parameter = Parameter::query("certify", |model| option_of_table(model, "certify"));
pub(crate) const SLACK: Parameter = Parameter::query("slack", |model| option_of_table(model, "slack"));
pub(crate) const EFFORT: Parameter = Parameter::query("effort", |_| {
    let description = "How hard it is to change a feature: FEATURE=WEIGHT, where a weight is easy, some, hard, very hard or a number \
                       above 0. For tables.";
    json!({"description": description, "type": "array", "items": {"type": "string", "pattern": "^[^=]+=.+$"}})
});
pub(crate) const LOCK: Parameter = Parameter::query("lock", |model| option_of_table(model, "lock"));
pub(crate) const LIMIT: Parameter = Parameter::query("limit", |_| {
    let description = "The values that a feature may change to: FEATURE=LOWEST..HIGHEST, where either end may be left out, or \
                       FEATURE=VALUE|VALUE. For tables.";
    json!({"description": description, "type": "array", "items": {"type": "string", "pattern": "^[^=]+=.+$"}})
});
pub(crate) const AUDITOR: Parameter = Parameter::query("auditor", |model| option_of_table(model, "auditor"));
pub(crate) const PEOPLE: Parameter = Parameter {
    key: "people",
    ..Parameter::query("count", |_| {
        let most = about::MAX_PEOPLE;
        json!({"description": "How many people.", "type": "integer", "minimum": 1, "maximum": most, "default": 8})
    })
};
pub(crate) const SEED: Parameter = Parameter::query("seed", |_| {
    let description = "The same seed gives the same people.";
    json!({"description": description, "type": "integer", "minimum": 0, "maximum": u64::MAX, "default": 0})
});

/// The highest number that the first row of a table may have.
pub(crate) const MAX_FIRST: u64 = 1 << 60;

/// An option of a question as a parameter, which has no way to say `null`.
fn option_of_table(model: &ServedModel, name: &str) -> Value {
    let mut schema = json_schema::options(model).remove(name).unwrap_or_default();
    if let Some(kinds) = schema.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            schema["type"] = kind.clone();
        }
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    let description = schema["description"].as_str().unwrap_or_default();
    schema["description"] = format!("{description} For tables.").into();
    schema
}

/// The query of a request, with the parameters that its endpoint has.
pub(crate) struct Query {
    text: String,
    known: &'static [Parameter],
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let text = parts.uri.query().unwrap_or_default().to_string();
        let endpoint = parts.extensions.get::<&'static Endpoint>();
        Ok(Self { text, known: endpoint.map_or(&[], |endpoint| endpoint.parameters) })
    }
}

impl Query {
    /// # Errors
    /// When it names a parameter that the endpoint does not have.
    pub(crate) fn read(&self) -> Result<Parameters, Refusal> {
        self.read_only(|_| true)
    }

    /// As [`Self::read`], of an endpoint that takes only some of its parameters now.
    pub(crate) fn read_only(&self, takes: impl Fn(&Parameter) -> bool) -> Result<Parameters, Refusal> {
        let known = self.known.iter().filter(|known| known.place == "query" && takes(known));
        let known: Vec<&str> = known.map(|parameter| parameter.name).collect();
        let pairs = form_urlencoded::parse(self.text.as_bytes());
        let pairs: Vec<(String, String)> =
            pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        match pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, value)) => {
                let expected = match known.as_slice() {
                    [] => "no parameters".to_string(),
                    known => format!("one of the parameters {}", known.join(", ")),
                };
                Err(wrong(name, value, expected))
            }
            None => Ok(Parameters(pairs)),
        }
    }
}

/// The parameters of a query in their order; a name may stand there several times.
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// The last of that name, as HTML forms have it.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// A whole number within a range.
    pub(crate) fn whole(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, Refusal> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        text.parse()
            .ok()
            .filter(|number| range.contains(number))
            .map(Some)
            .ok_or_else(|| wrong(name, text, expected()))
    }

    /// The options of all rows of a table.
    pub(crate) fn options(&self, model: &ServedModel) -> Result<RequestOptions, Refusal> {
        let mut reader = TextReader::new(model, MAX_COUNT);
        for (name, text) in &self.0 {
            reader.option(name, text).map_err(|error| match error {
                OptionError::Value { expected, .. } => wrong(name, text, expected),
                OptionError::Feature(error) => wrong(name, text, format!("the name of a feature: {error}")),
                other => {
                    wrong(name, text, format!("FEATURE=LOWEST..HIGHEST or FEATURE=VALUE|VALUE: {other}"))
                }
            })?;
        }
        let request = reader.finish().map_err(|error| Refusal::Table(error.to_string()))?;
        Ok(RequestOptions { request, plot: false })
    }
}

fn wrong(name: &str, found: &str, expected: impl Into<String>) -> Refusal {
    let found = format!("`{}`", found.chars().take(80).collect::<String>());
    Refusal::WrongValues(vec![Problem { path: format!("?{name}"), found, expected: expected.into() }])
}
