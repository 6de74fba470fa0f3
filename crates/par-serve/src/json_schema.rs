//! JSON Schemas (2020-12). Those of requests depend on the model, and accept what [`crate::question`] reads, but for unusual
//! spellings of durations; those of answers are derived from their types.

#[cfg(test)]
mod tests;

use par_answer::Method;
use par_answer::Order;
use par_answer::request::MAX_BUDGET;
use par_answer::request::json::{missing, spelled};
use par_data::discretizer::CategoryIndex;
use par_data::schema::{Effort, parse_number};
use par_data::{Domain, Feature};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::kserve::NUMBERS;
use crate::models::ServedModel;
use crate::question::MAX_COUNT;

/// Where the OpenAPI document keeps schemas.
const COMPONENTS: &str = "#/components/schemas";
/// Where a schema that stands alone keeps that of the row.
const OWN_DEFINITIONS: &str = "#/$defs";
/// A deadline.
const DEADLINE: &str = "^([1-9][0-9]{0,6}ms|[1-9][0-9]{0,3}s)$";
/// A duration of less than a century. More spellings can be read: `1.5 years`, `6  MONTHS`.
const DURATION: &str = "^([1-9][0-9]{0,2} (day|week|month)s?|[1-9][0-9]? (quarter|year)s?)$";
/// The dialect, for schemas that stand alone.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Derives schemas from types, as components of the OpenAPI document.
pub(crate) fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.definitions_path = COMPONENTS[1..].into())
        .with_transform(RecursiveTransform(|schema: &mut Schema| {
            // The names of Rust's number types.
            schema.remove("format");
            // The lines of a doc comment.
            if let Some(Value::String(description)) = schema.get_mut("description") {
                *description = description.replace('\n', " ");
            }
        }))
        .into_generator()
}

/// A reference to a schema of the OpenAPI document.
pub(crate) fn reference(name: &str) -> Value {
    json!({"$ref": format!("{COMPONENTS}/{name}")})
}

/// A row, by itself.
pub(crate) fn row_alone(model: &ServedModel) -> Value {
    let mut row = row(model);
    row["$schema"] = DIALECT.into();
    row
}

/// The body of `POST /v1/recourse`, by itself.
pub(crate) fn question_alone(model: &ServedModel, max_rows: usize) -> Value {
    let mut question = question_with_row(model, max_rows, OWN_DEFINITIONS);
    question["$schema"] = DIALECT.into();
    question["$defs"] = json!({"Row": row(model)});
    question
}

/// A row: an object by the names of the features, or a list in their order.
pub(crate) fn row(model: &ServedModel) -> Value {
    let schema = model.schema();
    let features = schema.features();
    let mut properties = Map::new();
    if let Some(id) = &schema.special().id {
        let id_words = "The id of the row in the answer; its number, from 1, by default.";
        properties.insert(id.clone(), json!({"type": ["string", "number"], "description": id_words}));
    }
    for (position, feature) in features.iter().enumerate() {
        let mut cell = cell(model, position);
        cell["title"] = feature.name.as_str().into();
        cell["description"] = words(model, position).into();
        properties.insert(feature.name.clone(), cell);
    }
    let required: Vec<&String> = features
        .iter()
        .filter(|feature| missing(schema, feature).is_none())
        .map(|feature| &feature.name)
        .collect();
    let cells: Vec<Value> = (0..features.len()).map(|position| cell(model, position)).collect();
    json!({
        "title": "Row",
        "description": "One person: an object with a value for every feature, or a list of values in the order of the features.",
        "anyOf": [
            {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            {
                "type": "array",
                "minItems": cells.len(),
                "maxItems": cells.len(),
                "prefixItems": cells,
                "items": false,
            },
        ],
    })
}

/// The values that a cell of a feature may have.
fn cell(model: &ServedModel, position: usize) -> Value {
    let schema = model.schema();
    let feature = &schema.features()[position];
    let nullable = missing(schema, feature).is_some();
    let mut types = match &model.discretizer().domains()[position] {
        Domain::Categories { values, .. } if !feature.missing => {
            return json!({"enum": categories(values)});
        }
        Domain::Categories { values, .. } => {
            let types = json!({"type": ["string", "number"], "examples": values});
            return with_truths(types, nullable, values);
        }
        Domain::Values { .. } | Domain::Bins { .. } => vec!["number"],
    };
    if nullable {
        types.push("null");
    }
    let mut cell = json!({"type": types});
    let [low, high] = feature.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    for (key, end) in [("minimum", low), ("maximum", high)] {
        if end.is_finite() {
            cell[key] = number(end);
        }
    }
    cell
}

/// The same, or a boolean that a category spells, or null.
fn with_truths(mut schema: Value, nullable: bool, values: &[String]) -> Value {
    let truths: Vec<bool> =
        [true, false].into_iter().filter(|truth| spelled(values, *truth).is_some()).collect();
    let types = schema["type"].as_array_mut().expect("a list of types");
    if nullable {
        types.push("null".into());
    }
    match truths.as_slice() {
        [] => schema,
        [only] => json!({"anyOf": [schema, {"const": only}]}),
        _ => {
            types.push("boolean".into());
            schema
        }
    }
}

/// The categories, each as text, and as the number or the boolean that it alone spells.
fn categories(values: &[String]) -> Vec<Value> {
    let mut all: Vec<Value> = values.iter().map(|value| value.as_str().into()).collect();
    let mut numbers: Vec<f64> = values.iter().filter_map(|value| parse_number(value)).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let index = CategoryIndex::new(values);
    numbers.retain(|number| index.code(&number.to_string()).is_some());
    all.extend(numbers.into_iter().map(number));
    all.extend([true, false].into_iter().filter(|truth| spelled(values, *truth).is_some()).map(Value::Bool));
    all
}

/// A number as people write it: `48`, not `48.0`.
pub(crate) fn number(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 1e15 {
        true => (number as i64).into(),
        false => number.into(),
    }
}

/// The description of a feature, for people.
fn words(model: &ServedModel, position: usize) -> String {
    let feature: &Feature = &model.schema().features()[position];
    let mut sentences = Vec::new();
    match &model.discretizer().domains()[position] {
        Domain::Categories { values, .. } => {
            let label = |value: &String| feature.labels.get(value).map(|label| format!("`{value}`: {label}"));
            let labels: Vec<String> = values.iter().filter_map(label).collect();
            if !labels.is_empty() {
                sentences.push(labels.join("; "));
            }
            if feature.missing {
                sentences.push("A text that training never saw counts as missing".to_string());
            }
        }
        domain => {
            if let Some(summary) = domain.summary() {
                let unit = feature.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
                let (low, high) = (number(summary.low), number(summary.high));
                sentences.push(format!("Training saw {low} to {high}{unit}"));
            }
        }
    }
    if missing(model.schema(), feature).is_some() {
        sentences.push("May be missing".to_string());
    }
    if model.constraints().is_immutable(position) {
        sentences.push("Nobody can change it".to_string());
    }
    if sentences.is_empty() {
        sentences.push(format!("A {} feature", feature.kind.name()));
    }
    sentences.join(". ") + "."
}

/// The body of `POST /v1/recourse`, as a component of the OpenAPI document.
pub(crate) fn question(model: &ServedModel, max_rows: usize) -> Value {
    question_with_row(model, max_rows, COMPONENTS)
}

/// The body of `POST /v1/recourse`, where the schema of the row is one of `definitions`.
fn question_with_row(model: &ServedModel, max_rows: usize, definitions: &str) -> Value {
    let mut properties = options(model);
    properties.insert("row".to_string(), json!({"$ref": format!("{definitions}/Row")}));
    properties.insert("rows".to_string(), rows(max_rows, definitions));
    json!({
        "title": "Question",
        "description": "A row or several, and the options of the answers.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "oneOf": [{"required": ["row"]}, {"required": ["rows"]}],
    })
}

/// The body of an `:explain` or `:predict` of KServe's first protocol.
pub(crate) fn instances(model: &ServedModel, max_rows: usize) -> Value {
    let mut properties = options(model);
    properties.insert("instances".to_string(), rows(max_rows, COMPONENTS));
    json!({
        "title": "Instances",
        "description": "Rows, and the options of the answers.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "required": ["instances"],
    })
}

fn rows(max_rows: usize, definitions: &str) -> Value {
    json!({
        "description": "Rows, which are answered in their order.",
        "type": "array",
        "items": {"$ref": format!("{definitions}/Row")},
        "minItems": 1,
        "maxItems": max_rows,
    })
}

/// The body of KServe's second protocol: a tensor for every feature.
pub(crate) fn tensors(model: &ServedModel, max_rows: usize) -> Value {
    let schema = model.schema();
    let features = schema.features();
    let tensor = |(position, feature): (usize, &Feature)| {
        let types = if feature.kind.is_numeric() { &NUMBERS[..] } else { &["BYTES"] };
        json!({
            "type": "object",
            "properties": {
                "name": {"const": feature.name},
                "datatype": {"enum": types},
                "shape": {
                    "description": "How many rows; the same with a 1 behind it.",
                    "type": "array",
                    "prefixItems": [{"type": "integer", "minimum": 1, "maximum": max_rows}, {"const": 1}],
                    "items": false,
                    "minItems": 1,
                },
                "data": {
                    "description": "A value for every row, as many as of the other features.",
                    "type": "array",
                    "items": cell(model, position),
                    "minItems": 1,
                    "maxItems": max_rows,
                },
            },
            "required": ["name", "datatype", "shape", "data"],
        })
    };
    let required = features.iter().filter(|feature| missing(schema, feature).is_none()).count();
    json!({
        "title": "Tensors",
        "description": "A tensor for every feature, in any order; those of features that may be missing can be left out.",
        "type": "object",
        "properties": {
            "id": {"description": "Comes back with the answer.", "type": "string"},
            "parameters": {
                "description": "The options of the answers.",
                "type": "object",
                "properties": options(model),
                "additionalProperties": false,
            },
            "inputs": {
                "type": "array",
                "items": {"oneOf": features.iter().enumerate().map(|(position, feature)| tensor((position, feature))).collect::<Vec<_>>()},
                "minItems": required.max(1),
                "maxItems": features.len(),
            },
        },
        "required": ["inputs"],
    })
}

/// The options of a request, by key.
pub(crate) fn options(model: &ServedModel) -> Map<String, Value> {
    let features = model.schema().features();
    let names: Vec<&str> = features.iter().map(|feature| feature.name.as_str()).collect();
    let mut limits = Map::new();
    let mut efforts = Map::new();
    for (feature, domain) in features.iter().zip(model.discretizer().domains()) {
        limits.insert(feature.name.clone(), limit(domain));
        efforts.insert(feature.name.clone(), effort());
    }
    let options = json!({
        "method": {
            "description": "How to search: by the generator, by it and a local search, or with a proof.",
            "enum": Method::ALL.map(Method::name),
            "default": Method::default().name(),
        },
        "count": {
            "description": "How many ways to find. Each leaves out a change of every way before it.",
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_COUNT,
            "default": 1,
        },
        "order": {
            "description": "Which way comes first: the one of least effort among those that are plausible and sure, or the likeliest; by \
                            default as the model says.",
            "type": ["string", "null"],
            "enum": [Order::Balanced.name(), Order::Likelihood.name(), Value::Null],
        },
        "budget": {
            "description": "How many features may change at most. By default as few as the model says, and more only if there is \
                            no other way.",
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": MAX_BUDGET,
        },
        "threshold": threshold(model),
        "lock": {
            "description": "Features that this person cannot change, besides those that nobody can.",
            "type": "array",
            "items": {"enum": names},
        },
        "limit": {
            "description": "The values that features may change to. A person may always keep the present value.",
            "type": "object",
            "properties": limits,
            "additionalProperties": false,
        },
        "margin": margin(model),
        "min_percentile": {
            "description": "The share of accepted people beside whom a way must be no rarer, given what the person cannot change; by \
                            default as the model says. Where only rarer ways are known, there is none.",
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": 1,
        },
        "effort": {
            "description": "How hard it is for this person to change features: a word, or a weight, of which 1 is easy, 2 some, 4 hard \
                            and 8 very hard; by default as the schema says.",
            "type": "object",
            "properties": efforts,
            "additionalProperties": false,
        },
        "max_effort": {
            "description": "The most effort of a way.",
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
        },
        "within": {
            "description": "The longest time of a way, such as `6 months` or `1 year`.",
            "type": ["string", "null"],
            "pattern": DURATION,
        },
        "deadline": {
            "description": "The time after which the search for this person ends with what it has, such as `50ms` or `2s`; the answer \
                            then has `search_ended`. By default as long as the service allows.",
            "type": ["string", "null"],
            "pattern": DEADLINE,
        },
        "no_harm": {
            "description": "Whether nothing may get worse, where the schema says which direction is better.",
            "type": "boolean",
            "default": false,
        },
        "robust": robust(model),
        "certify": {
            "description": "A way must be accepted by every network whose weights differ from the classifier's by at most this share of \
                            the largest weight of their layer; of trees by all whose thresholds differ by at most this share of the \
                            spread of their column.",
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
            "maximum": 1,
        },
        "slack": {
            "description": "Whether a way must stay accepted when any one of its changes falls a step short.",
            "type": "boolean",
            "default": false,
        },
        "auditor": {
            "description": "Whether to say in `schema_obstacles`, if there is no way, what of the schema prevents one. For an auditor, \
                            and not for the applicant.",
            "type": "boolean",
            "default": false,
        },
        "plot": {
            "description": "Whether to draw what more changes buy, as SVG.",
            "type": "boolean",
            "default": false,
        },
    });
    match options {
        Value::Object(options) => options,
        _ => unreachable!("options are an object"),
    }
}

/// How hard it is to change a feature.
fn effort() -> Value {
    let words = Effort::WORDS.map(|(word, _)| word);
    json!({"anyOf": [{"enum": words}, {"type": "number", "exclusiveMinimum": 0}]})
}

/// A limit on a feature.
fn limit(domain: &Domain) -> Value {
    let one = |key: &str, values: Value| json!({"type": "object", "properties": {key: values}, "required": [key], "additionalProperties": false});
    match domain {
        Domain::Categories { values, .. } => {
            let among = json!({"type": "array", "items": {"enum": categories(values)}, "minItems": 1});
            one("among", among)
        }
        Domain::Values { summary, .. } | Domain::Bins { summary, .. } => {
            let end = json!({"type": ["number", "null"]});
            let between = json!({
                "description": "The lowest and the highest number, in this order; null is an open end.",
                "type": "array",
                "prefixItems": [end, end],
                "items": false,
                "minItems": 2,
                "maxItems": 2,
            });
            let listed = if summary.is_whole() { "integer" } else { "number" };
            let among = json!({"type": "array", "items": {"type": listed}, "minItems": 1});
            json!({"oneOf": [one("between", between), one("among", among)]})
        }
    }
}

/// The threshold of a request: a probability, or a number in the unit of the label.
fn threshold(model: &ServedModel) -> Value {
    match model.goal() {
        None => json!({
            "description": "The probability from which on a row counts as accepted; by default that of the model.",
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
            "exclusiveMaximum": 1,
        }),
        Some(goal) => json!({
            "description": format!(
                "The predicted number is to be {} this, in the unit of the label; by default as the model says.",
                goal.side.words()
            ),
            "type": ["number", "null"],
        }),
    }
}

/// The share of versions of the classifier that must accept a way. A model without versions has none to ask.
fn robust(model: &ServedModel) -> Value {
    match model.versions().len() {
        0 => json!({
            "description": "The model has no other versions of its classifier, which ways could be accepted by too.",
            "type": ["boolean", "null"],
            "enum": [false, Value::Null],
            "default": false,
        }),
        count => json!({
            "description": format!(
                "Whether all other versions of the classifier, of which there are {count}, must accept a way too, or the share of them \
                 that must."
            ),
            "type": ["boolean", "number", "null"],
            "exclusiveMinimum": 0,
            "maximum": 1,
            "default": false,
        }),
    }
}

/// The margin of a request.
fn margin(model: &ServedModel) -> Value {
    let mut margin = json!({
        "description": "How far beyond the threshold the score of a way should be; by default as the model says. Where no way is so \
                        far beyond it, ways that reach the threshold are offered, with `has_margin` false.",
        "type": ["number", "null"],
        "minimum": 0,
    });
    if model.goal().is_none() {
        margin["exclusiveMaximum"] = json!(1);
    }
    margin
}
