//! The schemas, parameters and examples of a model that the table of endpoints refers to: [`crate::openapi`] writes them for
//! programs and [`crate::api_page`] for people.

use std::sync::Arc;

use par_answer::Solver;
use par_answer::write::{csv_header, csv_lines};
use serde_json::{Map, Value, json};

use crate::answers::answer;
use crate::endpoints::{self, Content};
use crate::kserve::datatype;
use crate::models::ServedModel;
use crate::question::Question;
use crate::refusal::{Refusal, RefusalBody};
use crate::{Service, about, json_schema};

/// The description of the API for one model.
pub(crate) struct ApiDocs {
    /// JSON Schemas of bodies by name; references among them are those of OpenAPI.
    pub(crate) schemas: Map<String, Value>,
    /// Parameters by key, as OpenAPI has them.
    pub(crate) parameters: Map<String, Value>,
    /// Examples by the name of their schema: JSON, or text. Each can be sent as it is.
    pub(crate) examples: Map<String, Value>,
    /// The OpenAPI document.
    pub(crate) openapi: String,
}

impl ApiDocs {
    pub(crate) fn new(
        model: &ServedModel,
        solver: &mut Solver<'_>,
        max_rows: usize,
        asks_token: bool,
    ) -> Self {
        let parameters = endpoints::all().flat_map(|endpoint| endpoint.parameters);
        let mut docs = Self {
            schemas: schemas(model, max_rows),
            parameters: parameters
                .map(|parameter| (parameter.key.to_string(), parameter.described(model)))
                .collect(),
            examples: examples(model, solver),
            openapi: String::new(),
        };
        docs.openapi = docs.document(model, asks_token).to_string();
        docs
    }
}

impl Service {
    /// The description of the API for a model, made at the first request for it.
    pub(crate) async fn api_docs<'m>(&self, model: &'m Arc<ServedModel>) -> Result<&'m ApiDocs, Refusal> {
        if model.api_docs().get().is_none() {
            let (described, max_rows, token) =
                (Arc::clone(model), self.settings.max_rows, self.settings.token.is_some());
            let describe = move |solver: &mut Solver<'_>| {
                described.api_docs().get_or_init(|| ApiDocs::new(&described, solver, max_rows, token));
            };
            self.run_job(model, describe).await?;
        }
        model.api_docs().get().ok_or(Refusal::Broken)
    }
}

/// The schemas of all bodies in the table, and of the row and the refusals they share.
fn schemas(model: &ServedModel, max_rows: usize) -> Map<String, Value> {
    let mut generator = json_schema::generator();
    generator.subschema_for::<RefusalBody<'_>>();
    let mut others = vec![("Row", json_schema::row(model))];
    for content in endpoints::all().flat_map(|endpoint| endpoint.requests.iter().chain(endpoint.answers)) {
        match content {
            Content::Derived { schema, .. } => drop(schema(&mut generator)),
            Content::OfModel { name, schema } => others.push((name, schema(model, max_rows))),
            Content::Text { name, description, .. } => {
                others.push((name, json!({"type": "string", "description": description})));
            }
        }
    }
    let mut schemas = generator.take_definitions(true);
    schemas.extend(others.into_iter().map(|(name, schema)| (name.to_string(), schema)));
    schemas
}

/// A made-up person, in the requests and the answers of all endpoints.
fn examples(model: &ServedModel, solver: &mut Solver<'_>) -> Map<String, Value> {
    let schema = model.schema();
    let row = about::example_row(model);
    let question = json!({"row": row, "count": 2});
    let read = Question::read(model, &question, 1).expect("a made-up row can be read");
    let person = answer(solver, &read.rows[0], 1, &read.options);
    let body = serde_json::to_value(person.json(model)).expect("a person has only text keys");
    let probability = person.probability().unwrap_or_default();
    let is_accepted = model.scale().reaches(probability, model.threshold());
    let class = &model.card().classes[usize::from(!is_accepted)];
    let tensor = |feature: &par_data::Feature| json!({"name": feature.name, "datatype": datatype(feature), "shape": [1], "data": [row[&feature.name]]});
    let inferred = |outputs: Value| json!({"model_name": model.name(), "model_version": model.sha256(), "outputs": outputs});
    let names = schema.features().iter().map(|feature| feature.name.as_str()).collect();
    let cells = read.rows[0].cells.iter().map(String::as_str).collect();
    let mut answers = csv_header(schema);
    answers.extend(csv_lines(schema, std::slice::from_ref(&person)));
    let examples = json!({
        "Row": row,
        "Question": question,
        "Answers": {"model": model.name(), "answers": [body]},
        "Lines": format!("{question}\n"),
        "AnswerLines": format!("{body}\n"),
        "Table": csv([names, cells]),
        "AnswerTable": String::from_utf8_lossy(&answers),
        "Models": {"models": [model.name()]},
        "ModelReady": {"name": model.name(), "ready": true},
        "People": {"model": model.name(), "people": [{"row": row, "probability": probability}]},
        "Instances": {"instances": [row]},
        "Explanations": {"model": model.name(), "explanations": [body]},
        "Predictions": {"predictions": [{"probability": probability, "accepted": is_accepted, "class": class}]},
        "Tensors": {"inputs": schema.features().iter().map(tensor).collect::<Vec<_>>()},
        "Inferred": inferred(json!([
            {"name": "probability", "datatype": "FP64", "shape": [1], "data": [probability]},
            {"name": "accepted", "datatype": "BOOL", "shape": [1], "data": [is_accepted]},
        ])),
        "Explained": inferred(json!([
            {"name": "explanation", "datatype": "BYTES", "shape": [1], "data": [body.to_string()]},
        ])),
        "Server": {"name": "par", "version": env!("CARGO_PKG_VERSION"), "extensions": ["explain"]},
        "Live": {"live": true},
        "Ready": {"ready": true},
    });
    match examples {
        Value::Object(examples) => examples,
        _ => unreachable!("an object was written down"),
    }
}

/// Lines of CSV.
fn csv(lines: [Vec<&str>; 2]) -> String {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for line in lines {
        csv.write_record(line).expect("memory can be written to");
    }
    String::from_utf8(csv.into_inner().expect("memory can be written to")).expect("texts are UTF-8")
}
