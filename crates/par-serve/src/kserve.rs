//! The protocols of KServe: `/v1/models` (V1) and `/v2` (V2, the Open Inference Protocol).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::header::ALLOW;
use axum::response::{IntoResponse as _, Response};
use par_answer::Solver;
use par_answer::request::json::{JsonReader, JsonRow, brief, missing, shortened, whole};
use par_data::Feature;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::Service;
use crate::answers::{AnswerBody, ROWS_PER_JOB};
use crate::models::ServedModel;
use crate::parameters::Query;
use crate::question::{MAX_COUNT, Question, RequestOptions, options};
use crate::refusal::Refusal;
use crate::routes::{Name, json, with_log_fields, with_model_version};
use crate::workers::RowTimer;

/// Types of tensors that hold numbers.
pub(crate) const NUMBERS: [&str; 11] =
    ["FP64", "FP32", "FP16", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8"];

/// The models.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Models<'a> {
    models: Vec<&'a str>,
}

/// Whether a model is ready.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ModelReady<'a> {
    name: &'a str,
    ready: bool,
}

/// Whether the server runs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Live {
    live: bool,
}

/// Whether the server takes requests.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Ready {
    ready: bool,
}

/// What the server is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Server {
    name: &'static str,
    version: &'static str,
    extensions: Vec<&'static str>,
}

/// What a model takes and gives.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Metadata<'a> {
    name: &'a str,
    /// The SHA-256 of the model.
    versions: Vec<&'a str>,
    platform: &'static str,
    inputs: Vec<TensorType<'a>>,
    outputs: Vec<TensorType<'a>>,
}

/// The type of a tensor.
#[derive(Serialize, JsonSchema)]
struct TensorType<'a> {
    name: &'a str,
    datatype: &'static str,
    /// -1 stands for the number of rows.
    shape: [i64; 1],
}

impl<'a> TensorType<'a> {
    fn new(name: &'a str, datatype: &'static str) -> Self {
        Self { name, datatype, shape: [-1] }
    }
}

/// An answer for every row, in their order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Explanations<'a> {
    /// The model that answered.
    model: &'a str,
    #[schemars(with = "Vec<AnswerBody>")]
    explanations: Vec<Box<RawValue>>,
}

/// What the classifier decides about every row, in their order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Predictions<'a> {
    predictions: Vec<Prediction<'a>>,
}

/// What the classifier decides about a row.
#[derive(Serialize, JsonSchema)]
struct Prediction<'a> {
    /// The score of the row as it is: the probability that it is accepted, or the predicted number.
    probability: f64,
    accepted: bool,
    /// The class that the classifier decides for.
    class: &'a str,
}

/// Tensors, with a value for every row.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Inferred<'a> {
    model_name: &'a str,
    /// The SHA-256 of the model.
    model_version: &'a str,
    /// That of the request, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    id: Option<String>,
    outputs: Vec<Tensor<'a>>,
}

/// Tensors, with an answer for every row.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Explained<'a>(Inferred<'a>);

/// A tensor.
#[derive(Serialize, JsonSchema)]
struct Tensor<'a> {
    #[schemars(extend("enum" = ["probability", "accepted", "explanation"]))]
    name: &'static str,
    #[schemars(extend("enum" = ["FP64", "BOOL", "BYTES"]))]
    datatype: &'static str,
    shape: [usize; 1],
    /// A value for every row; an explanation is the text of an Answer.
    data: TensorData<'a>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum TensorData<'a> {
    Numbers(&'a [f64]),
    Truths(Vec<bool>),
    Texts(Vec<&'a str>),
}

/// `GET /v1/models`
pub(crate) async fn models(State(service): State<Arc<Service>>) -> Response {
    json(&Models { models: service.models.names() })
}

/// `GET /v1/models/{name}`
pub(crate) async fn model(state: State<Arc<Service>>, Path(name): Name) -> Result<Response, Refusal> {
    match split_verb(&name) {
        Some((name, _)) => state.model(Some(name)).map(|_| wrong_method("POST")),
        None => model_ready(state, Path(name)).await,
    }
}

/// The name of the model and whether to explain, in the last part of an address that ends in `:explain` or `:predict`.
fn split_verb(last: &str) -> Option<(&str, bool)> {
    match last.rsplit_once(':') {
        Some((name, "explain")) => Some((name, true)),
        Some((name, "predict")) => Some((name, false)),
        _ => None,
    }
}

/// Any other method of `/v1/models/{name}`, with or without a verb.
pub(crate) async fn wrong_method_of_model(Path(last): Name) -> Response {
    wrong_method(if split_verb(&last).is_some() { "POST" } else { "GET,HEAD" })
}

/// The refusal that axum makes where an address has one method, for addresses that share a route.
fn wrong_method(allowed: &'static str) -> Response {
    ([(ALLOW, allowed)], Refusal::WrongMethod).into_response()
}

/// `POST /v1/models/{name}:explain` and `:predict`
pub(crate) async fn explain_or_predict(
    State(service): State<Arc<Service>>,
    Path(last): Name,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let Some((name, explains)) = split_verb(&last) else {
        return service.model(Some(&last)).map(|_| wrong_method("GET,HEAD"));
    };
    query.read()?;
    let model = service.model(Some(name))?;
    let question = service.read(&model, &headers, body, Question::read_instances).await?;
    let rows = question.rows.len();
    let response = if explains {
        let explanations = service.answers(&model, question).await?;
        json(&Explanations { model: model.name(), explanations })
    } else {
        let threshold = question.options.request.threshold_for(&model);
        let probabilities = service.probabilities(&model, question.rows).await?;
        let prediction = |probability| prediction(&model, probability, threshold);
        json(&Predictions { predictions: probabilities.into_iter().map(prediction).collect() })
    };
    Ok(with_log_fields(response, &model, rows))
}

fn prediction(model: &ServedModel, probability: f64, threshold: f64) -> Prediction<'_> {
    let accepted = model.scale().reaches(probability, threshold);
    let class = &model.card().classes[usize::from(!accepted)];
    Prediction { probability, accepted, class }
}

/// `GET /v2/health/live`
pub(crate) async fn live() -> Response {
    json(&Live { live: true })
}

/// `GET /v2/health/ready`
pub(crate) async fn ready(State(service): State<Arc<Service>>) -> Result<Response, Refusal> {
    service.expect_ready()?;
    Ok(json(&Ready { ready: true }))
}

/// `GET /v2`
pub(crate) async fn server() -> Response {
    json(&Server { name: "par", version: env!("CARGO_PKG_VERSION"), extensions: vec!["explain"] })
}

/// `GET /v2/models/{name}/ready`
pub(crate) async fn model_ready(
    State(service): State<Arc<Service>>,
    Path(name): Name,
) -> Result<Response, Refusal> {
    let model = service.model(Some(&name))?;
    service.expect_ready()?;
    Ok(with_model_version(json(&ModelReady { name: model.name(), ready: true }), &model))
}

/// `GET /v2/models/{name}`
pub(crate) async fn metadata(
    State(service): State<Arc<Service>>,
    Path(name): Name,
) -> Result<Response, Refusal> {
    let model = service.model(Some(&name))?;
    let features = model.schema().features().iter();
    let metadata = Metadata {
        name: model.name(),
        versions: vec![model.sha256()],
        platform: "par",
        inputs: features.map(|feature| TensorType::new(&feature.name, datatype(feature))).collect(),
        outputs: vec![TensorType::new("probability", "FP64"), TensorType::new("accepted", "BOOL")],
    };
    Ok(with_model_version(json(&metadata), &model))
}

/// The type of a feature's tensor.
pub(crate) fn datatype(feature: &Feature) -> &'static str {
    if feature.kind.is_numeric() { "FP64" } else { "BYTES" }
}

/// `POST /v2/models/{name}/infer`
pub(crate) async fn infer(
    State(service): State<Arc<Service>>,
    Path(name): Name,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let (model, tensors) = service.tensors(&name, &query, &headers, body).await?;
    let threshold = tensors.question.options.request.threshold_for(&model);
    let probabilities = service.probabilities(&model, tensors.question.rows).await?;
    let accepted = probabilities.iter().map(|score| model.scale().reaches(*score, threshold)).collect();
    let shape = [probabilities.len()];
    let outputs = vec![
        Tensor { name: "probability", datatype: "FP64", shape, data: TensorData::Numbers(&probabilities) },
        Tensor { name: "accepted", datatype: "BOOL", shape, data: TensorData::Truths(accepted) },
    ];
    let response = json(&Inferred::new(&model, tensors.id, outputs));
    Ok(with_log_fields(response, &model, probabilities.len()))
}

/// `POST /v2/models/{name}/explain`, an extension: each row's answer as the text of its JSON
pub(crate) async fn explain(
    State(service): State<Arc<Service>>,
    Path(name): Name,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let (model, tensors) = service.tensors(&name, &query, &headers, body).await?;
    let answers = service.answers(&model, tensors.question).await?;
    let data = TensorData::Texts(answers.iter().map(|answer| answer.get()).collect());
    let outputs = vec![Tensor { name: "explanation", datatype: "BYTES", shape: [answers.len()], data }];
    let response = json(&Explained(Inferred::new(&model, tensors.id, outputs)));
    Ok(with_log_fields(response, &model, answers.len()))
}

impl<'a> Inferred<'a> {
    fn new(model: &'a ServedModel, id: Option<String>, outputs: Vec<Tensor<'a>>) -> Self {
        Self { model_name: model.name(), model_version: model.sha256(), id, outputs }
    }
}

/// A request of the second protocol: a tensor for every feature.
struct Tensors {
    id: Option<String>,
    question: Question,
}

impl Tensors {
    fn read(model: &ServedModel, body: &Value, max_rows: usize) -> Result<Self, Refusal> {
        let mut reader = JsonReader::new(model, MAX_COUNT);
        let body = reader.object("", body)?;
        let options = match body.get("parameters") {
            Some(parameters) => {
                let parameters = reader.object("/parameters", parameters)?;
                options(&mut reader, "/parameters", parameters, &[])
            }
            None => RequestOptions::default(),
        };
        let mut inputs: Vec<Option<(usize, &Vec<Value>)>> = vec![None; model.schema().features().len()];
        let listed = body.get("inputs").and_then(Value::as_array);
        if listed.is_none() {
            reader.problem("/inputs".to_string(), "no list", "a list of tensors, one for every feature");
        }
        for (number, input) in listed.into_iter().flatten().enumerate() {
            let path = format!("/inputs/{number}");
            let input = reader.object(&path, input)?;
            let Some(position) =
                input.get("name").and_then(Value::as_str).and_then(|name| model.schema().position(name).ok())
            else {
                let found = input.get("name").map_or("nothing".to_string(), brief);
                reader.problem(format!("{path}/name"), found, "the name of a feature");
                continue;
            };
            if inputs[position].is_some() {
                reader.problem(format!("{path}/name"), "the same again", "one tensor for every feature");
            }
            inputs[position] = tensor(&mut reader, &path, model, position, input).map(|data| (number, data));
        }
        let rows = inputs.iter().flatten().map(|(_, data)| data.len()).max().unwrap_or(0);
        if rows > max_rows {
            return Err(Refusal::TooManyRows { found: rows, limit: max_rows });
        }
        if rows == 0 {
            reader.problem("/inputs".to_string(), "no rows", "at least one row");
        }
        let mut read = vec![JsonRow { id: None, cells: Vec::with_capacity(inputs.len()) }; rows];
        let schema = model.schema();
        for (position, (input, feature)) in inputs.iter().zip(schema.features()).enumerate() {
            let Some((number, data)) = input else {
                let missing = missing(schema, feature);
                if missing.is_none() {
                    let found = format!("no tensor of `{}`", feature.name);
                    reader.problem("/inputs".to_string(), found, "one for every feature");
                }
                read.iter_mut().for_each(|row| row.cells.push(missing.unwrap_or_default().to_string()));
                continue;
            };
            let path = format!("/inputs/{number}/data");
            if data.len() != rows {
                let found = format!("{} values", data.len());
                reader.problem(path.clone(), found, format!("{rows}, as many as of the others"));
            }
            for (number, row) in read.iter_mut().enumerate() {
                row.cells.push(reader.cell(&format!("{path}/{number}"), position, data.get(number)));
            }
        }
        let id = body.get("id").and_then(Value::as_str).map(str::to_string);
        if let (Some(found), None) = (body.get("id"), &id) {
            reader.wrong("/id".to_string(), found, "a text");
        }
        Ok(reader.finish(Self { id, question: Question { rows: read, options } })?)
    }
}

/// The values of a tensor, if it is one of the feature.
fn tensor<'v>(
    reader: &mut JsonReader<'_>,
    path: &str,
    model: &ServedModel,
    position: usize,
    input: &'v Map<String, Value>,
) -> Option<&'v Vec<Value>> {
    let is_numeric = model.schema().features()[position].kind.is_numeric();
    let datatype = input.get("datatype").and_then(Value::as_str).unwrap_or_default();
    if !(if is_numeric { NUMBERS.contains(&datatype) } else { datatype == "BYTES" }) {
        let expected = if is_numeric { "FP64, or another type of numbers" } else { "BYTES" };
        reader.problem(format!("{path}/datatype"), format!("`{}`", shortened(datatype)), expected);
        return None;
    }
    let Some(data) = input.get("data").and_then(Value::as_array) else {
        reader.problem(format!("{path}/data"), "no list", "a list of values");
        return None;
    };
    let shape = input.get("shape").and_then(Value::as_array);
    let shape: Option<Vec<usize>> = shape.and_then(|shape| shape.iter().map(whole).collect());
    let rows = data.len();
    if !shape.is_some_and(|shape| shape == [rows] || shape == [rows, 1]) {
        let found = input.get("shape").map_or("nothing".to_string(), |shape| shortened(&shape.to_string()));
        reader.problem(format!("{path}/shape"), found, format!("[{rows}] or [{rows}, 1]"));
    }
    Some(data)
}

impl Service {
    /// The model and the body of a request of the second protocol.
    async fn tensors(
        &self,
        name: &str,
        query: &Query,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(Arc<ServedModel>, Tensors), Refusal> {
        query.read()?;
        let model = self.model(Some(name))?;
        let tensors = self.read(&model, headers, body, Tensors::read).await?;
        Ok((model, tensors))
    }

    /// The probabilities that rows are accepted as they are.
    async fn probabilities(&self, model: &Arc<ServedModel>, rows: Vec<JsonRow>) -> Result<Vec<f64>, Refusal> {
        let count = rows.len();
        let rows = Arc::new(rows);
        let job = |first: usize| {
            let (rows, model) = (Arc::clone(&rows), Arc::clone(model));
            move |_: &mut Solver<'_>, _: &RowTimer<'_>| -> Result<Vec<f64>, String> {
                let score = |row: &JsonRow| {
                    let cells: Vec<&str> = row.cells.iter().map(String::as_str).collect();
                    model.score(&cells).map_err(|error| error.to_string())
                };
                rows.iter().skip(first).take(ROWS_PER_JOB).map(score).collect()
            }
        };
        let jobs = self.run_jobs(model, count, job).await?;
        let probabilities = jobs.into_iter().collect::<Result<Vec<_>, String>>().map_err(Refusal::Table)?;
        Ok(probabilities.concat())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_model::{ODD, Schemas, api_docs};

    #[test]
    fn tensors_are_accepted_by_reader_and_schema_or_by_neither() {
        let docs = api_docs(false);
        let right = &docs.examples["Tensors"];
        let schemas = Schemas::of(&docs);
        let check = |body: &Value, passes: bool, is_read: bool| {
            assert_eq!(schemas.fits("Tensors", body), passes, "{body}");
            let read = Tensors::read(&ODD, body, 3).map(|tensors| tensors.question.rows.len());
            assert_eq!(read.is_ok(), is_read, "{body}: {read:?}");
        };
        let with = |pointer: &str, value: Value| {
            let mut body = right.clone();
            *body.pointer_mut(pointer).expect("a place") = value;
            body
        };
        let and = |key: &str, value: Value| {
            let mut body = right.clone();
            body[key] = value;
            body
        };
        check(right, true, true);
        check(&with("/inputs/0/shape", json!([1, 1])), true, true);
        check(&with("/inputs/0/shape", json!([1.0])), true, true);
        check(&with("/inputs/0/datatype", json!("UINT64")), true, true);
        check(&and("id", json!("a")), true, true);
        check(&and("parameters", json!({"count": 2})), true, true);
        check(&and("outputs", json!([])), true, true);
        check(&and("id", json!(1)), false, false);
        check(&and("id", json!(null)), false, false);
        check(&and("parameters", json!(null)), false, false);
        check(&and("parameters", json!({"row": 1})), false, false);
        check(&and("inputs", json!({})), false, false);
        check(&with("/inputs/0/shape", json!(["1", 1])), false, false);
        check(&with("/inputs/0/shape", json!([1, 1, 1])), false, false);
        check(&with("/inputs/0/datatype", json!("BYTES")), false, false);
        check(&with("/inputs/1/datatype", json!("FP64")), false, false);
        check(&with("/inputs/1/data", json!(["unheard of"])), false, false);
        check(&with("/inputs/1/name", json!("unheard of")), false, false);
        check(&with("/inputs/1/data", json!([])), false, false);
        // How many there are of each, only the reader counts.
        check(&with("/inputs/1", right["inputs"][0].clone()), true, false);
        check(&with("/inputs/0/shape", json!([2])), true, false);
        check(&with("/inputs/0/shape", json!([1])), true, true);
    }
}
