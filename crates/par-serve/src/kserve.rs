//! The same in the shape of KServe's protocols: `/v1/models` (V1) and `/v2` (V2, the Open Inference Protocol).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::http::header::ALLOW;
use axum::response::{IntoResponse as _, Response};
use par_recourse::Solver;
use serde_json::{Map, Value, json};

use crate::Service;
use crate::answers::PIECE;
use crate::models::Model;
use crate::parameters::Parameters;
use crate::question::{Asked, Question, Reader, Row, brief, missing, shortened, whole};
use crate::refusal::Refusal;
use crate::routes::{Name, answered, json_bytes, noted, versioned};
use crate::workers::Turns;

/// Types of tensors that hold numbers.
pub(crate) const NUMBERS: [&str; 11] =
    ["FP64", "FP32", "FP16", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8"];

/// `GET /v1/models`
pub(crate) async fn models(State(service): State<Arc<Service>>) -> Response {
    json_bytes(json!({"models": service.models.names()}).to_string())
}

/// `GET /v1/models/{name}`
pub(crate) async fn model(
    State(service): State<Arc<Service>>,
    Path(name): Name,
) -> Result<Response, Refusal> {
    if let Some((name, _)) = asked_of(&name) {
        return service.model(Some(name)).map(|_| wrong_method("POST"));
    }
    let model = service.model(Some(&name))?;
    service.expect_ready()?;
    Ok(versioned(json_bytes(json!({"name": model.name(), "ready": true}).to_string()), &model))
}

/// The model and whether it is to explain, in the last part of an address that is asked.
fn asked_of(called: &str) -> Option<(&str, bool)> {
    match called.rsplit_once(':') {
        Some((name, "explain")) => Some((name, true)),
        Some((name, "predict")) => Some((name, false)),
        _ => None,
    }
}

/// Any other method of the two addresses.
pub(crate) async fn other(Path(called): Name) -> Response {
    wrong_method(if asked_of(&called).is_some() { "POST" } else { "GET,HEAD" })
}

/// The refusal that axum makes where an address has one method, for addresses that share a route.
fn wrong_method(allowed: &'static str) -> Response {
    ([(ALLOW, allowed)], Refusal::WrongMethod).into_response()
}

/// `POST /v1/models/{name}:explain` and `:predict`
pub(crate) async fn ask(
    State(service): State<Arc<Service>>,
    Path(called): Name,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let Some((name, explains)) = asked_of(&called) else {
        return service.model(Some(&called)).map(|_| wrong_method("GET,HEAD"));
    };
    Parameters::read(query.as_deref(), &[])?;
    let model = service.model(Some(name))?;
    let (asked, max_rows) = (Arc::clone(&model), service.settings.max_rows);
    let question =
        service.read(&headers, body, move |value| Question::read_instances(&asked, value, max_rows)).await?;
    if explains {
        return Ok(answered(&model, service.answers(&model, question).await?, "explanations"));
    }
    let probabilities = service.probabilities(&model, question.rows).await?;
    let threshold = question.asked.request.threshold.unwrap_or(model.bundle().threshold());
    let [accepted, denied] = &model.bundle().card().classes;
    let predictions: Vec<Value> = probabilities
        .iter()
        .map(|&probability| {
            let is_accepted = probability >= threshold;
            let class = if is_accepted { accepted } else { denied };
            json!({"probability": probability, "accepted": is_accepted, "class": class})
        })
        .collect();
    Ok(noted(json_bytes(json!({"predictions": predictions}).to_string()), &model, probabilities.len()))
}

/// `GET /v2/health/live`
pub(crate) async fn live() -> Response {
    json_bytes(json!({"live": true}).to_string())
}

/// `GET /v2/health/ready`
pub(crate) async fn ready(State(service): State<Arc<Service>>) -> Result<Response, Refusal> {
    service.expect_ready()?;
    Ok(json_bytes(json!({"ready": true}).to_string()))
}

/// `GET /v2`
pub(crate) async fn server() -> Response {
    let version = env!("CARGO_PKG_VERSION");
    json_bytes(json!({"name": "par", "version": version, "extensions": ["explain"]}).to_string())
}

/// `GET /v2/models/{name}/ready`
pub(crate) async fn model_ready(
    State(service): State<Arc<Service>>,
    Path(name): Name,
) -> Result<Response, Refusal> {
    let model = service.model(Some(&name))?;
    service.expect_ready()?;
    Ok(versioned(json_bytes(json!({"name": model.name(), "ready": true}).to_string()), &model))
}

/// `GET /v2/models/{name}`
pub(crate) async fn metadata(
    State(service): State<Arc<Service>>,
    Path(name): Name,
) -> Result<Response, Refusal> {
    let model = service.model(Some(&name))?;
    let inputs: Vec<Value> = model
        .bundle()
        .schema()
        .features()
        .iter()
        .map(|feature| {
            let datatype = if feature.kind.is_numeric() { "FP64" } else { "BYTES" };
            json!({"name": feature.name, "datatype": datatype, "shape": [-1]})
        })
        .collect();
    let told = json!({
        "name": model.name(),
        "versions": [model.sha256()],
        "platform": "par",
        "inputs": inputs,
        "outputs": [
            {"name": "probability", "datatype": "FP64", "shape": [-1]},
            {"name": "accepted", "datatype": "BOOL", "shape": [-1]},
        ],
    });
    Ok(versioned(json_bytes(told.to_string()), &model))
}

/// `POST /v2/models/{name}/infer`
pub(crate) async fn infer(
    State(service): State<Arc<Service>>,
    Path(name): Name,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let (model, tensors) = service.tensors(&name, query.as_deref(), &headers, body).await?;
    let rows = tensors.rows.len();
    let probabilities = service.probabilities(&model, tensors.rows).await?;
    let threshold = tensors.asked.request.threshold.unwrap_or(model.bundle().threshold());
    let accepted: Vec<bool> = probabilities.iter().map(|probability| *probability >= threshold).collect();
    let outputs = json!([
        {"name": "probability", "datatype": "FP64", "shape": [rows], "data": probabilities},
        {"name": "accepted", "datatype": "BOOL", "shape": [rows], "data": accepted},
    ]);
    Ok(inferred(&model, tensors.id, outputs, rows))
}

/// `POST /v2/models/{name}/explain`, an extension: each row's answer as the text of its JSON
pub(crate) async fn explain(
    State(service): State<Arc<Service>>,
    Path(name): Name,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let (model, tensors) = service.tensors(&name, query.as_deref(), &headers, body).await?;
    let Tensors { id, rows, asked } = tensors;
    let told = service.answers(&model, Question { rows, asked }).await?;
    let text = std::str::from_utf8(&told.bytes).expect("JSON is UTF-8");
    let answers: Vec<&str> = text.lines().collect();
    let rows = answers.len();
    let outputs = json!([{"name": "explanation", "datatype": "BYTES", "shape": [rows], "data": answers}]);
    Ok(inferred(&model, id, outputs, rows))
}

fn inferred(model: &Model, id: Option<String>, outputs: Value, rows: usize) -> Response {
    let mut told = Map::new();
    told.insert("model_name".to_string(), model.name().into());
    told.insert("model_version".to_string(), model.sha256().into());
    if let Some(id) = id {
        told.insert("id".to_string(), id.into());
    }
    told.insert("outputs".to_string(), outputs);
    noted(json_bytes(Value::Object(told).to_string()), model, rows)
}

/// A request of the second protocol: a tensor for every feature.
struct Tensors {
    id: Option<String>,
    rows: Vec<Row>,
    asked: Asked,
}

impl Tensors {
    fn read(model: &Model, body: &Value, max_rows: usize) -> Result<Self, Refusal> {
        let mut reader = Reader::new(model);
        let body = reader.object("", body)?;
        let asked = match body.get("parameters") {
            Some(parameters) => {
                let parameters = reader.object("/parameters", parameters)?;
                reader.options("/parameters", parameters, &[])
            }
            None => Asked::default(),
        };
        let mut inputs: Vec<Option<(usize, &Vec<Value>)>> =
            vec![None; model.bundle().schema().features().len()];
        let listed = body.get("inputs").and_then(Value::as_array);
        if listed.is_none() {
            reader.problem("/inputs".to_string(), "no list", "a list of tensors, one for every feature");
        }
        for (number, input) in listed.into_iter().flatten().enumerate() {
            let path = format!("/inputs/{number}");
            let input = reader.object(&path, input)?;
            let Some(position) =
                input.get("name").and_then(Value::as_str).and_then(|name| model.feature(name))
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
        let mut read = vec![Row { id: None, cells: Vec::with_capacity(inputs.len()) }; rows];
        let schema = model.bundle().schema();
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
        reader.finish(Self { id, rows: read, asked })
    }
}

/// The values of a tensor, if it is one of the feature.
fn tensor<'v>(
    reader: &mut Reader<'_>,
    path: &str,
    model: &Model,
    position: usize,
    input: &'v Map<String, Value>,
) -> Option<&'v Vec<Value>> {
    let is_numeric = model.bundle().schema().features()[position].kind.is_numeric();
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
    /// Which model is asked by the second protocol, and what.
    async fn tensors(
        &self,
        name: &str,
        query: Option<&str>,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(Arc<Model>, Tensors), Refusal> {
        Parameters::read(query, &[])?;
        let model = self.model(Some(name))?;
        let (asked, max_rows) = (Arc::clone(&model), self.settings.max_rows);
        let tensors = self.read(headers, body, move |value| Tensors::read(&asked, value, max_rows)).await?;
        Ok((model, tensors))
    }

    /// The probabilities that rows are accepted as they are.
    async fn probabilities(&self, model: &Arc<Model>, rows: Vec<Row>) -> Result<Vec<f64>, Refusal> {
        let count = rows.len();
        let rows = Arc::new(rows);
        let of_piece = |first: usize| {
            let (rows, model) = (Arc::clone(&rows), Arc::clone(model));
            move |_: &mut Solver<'_>, _: &Turns<'_>| -> Result<Vec<f64>, String> {
                let score = |row: &Row| {
                    let cells: Vec<&str> = row.cells.iter().map(String::as_str).collect();
                    model.bundle().score(&cells).map_err(|error| error.to_string())
                };
                rows.iter().skip(first).take(PIECE).map(score).collect()
            }
        };
        let pieces = self.pieces(model, count, of_piece).await?;
        let probabilities = pieces.into_iter().collect::<Result<Vec<_>, String>>().map_err(Refusal::Table)?;
        Ok(probabilities.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guide::reference;
    use crate::test_world::{ODD, fits, guide};

    #[test]
    fn tensors_are_accepted_by_reader_and_schema_or_by_neither() {
        let guide = guide(false);
        let right = &guide.examples["Tensors"];
        let root = json!({"components": {"schemas": guide.shapes}});
        let check = |body: &Value, passes: bool, is_read: bool| {
            assert_eq!(fits(&root, &reference("Tensors"), body), passes, "{body}");
            let read = Tensors::read(&ODD, body, 3).map(|tensors| tensors.rows.len());
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
