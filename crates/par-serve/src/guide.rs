//! Everything that can be asked: one table of routes, with shapes and examples of a model. [`crate::openapi`] says it to
//! programs and [`crate::api_page`] to people.

use std::sync::Arc;

use par_recourse::Solver;
use par_recourse::desk::{csv_header, csv_lines};
use serde_json::{Map, Value, json};

use crate::Service;
use crate::answers::answer;
use crate::models::Model;
use crate::question::Question;
use crate::refusal::Refusal;
use crate::{about, json_schema};

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const CSV: &str = "text/csv";
const HTML: &str = "text/html";

/// What a body may be refused with.
const BODY: &[u16] = &[400, 404, 408, 413, 415, 422, 500, 503, 504];

/// Something that can be asked.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// What it is, in one sentence.
    pub(crate) words: &'static str,
    /// Keys of [`Guide::parameters`].
    pub(crate) parameters: &'static [&'static str],
    pub(crate) takes: &'static [Content],
    pub(crate) gives: &'static [Content],
    /// The statuses of refusals that are its own.
    pub(crate) refusals: &'static [u16],
    /// Whether no token is asked for.
    pub(crate) is_open: bool,
}

/// A media type, and the key of its shape and its example.
pub(crate) struct Content {
    pub(crate) kind: &'static str,
    pub(crate) shape: &'static str,
}

const fn json(shape: &'static str) -> Content {
    Content { kind: JSON, shape }
}

impl Route {
    const fn get(path: &'static str, words: &'static str, gives: &'static [Content]) -> Self {
        let (parameters, takes, refusals) = (&[], &[], &[]);
        Self { method: "get", path, words, parameters, takes, gives, refusals, is_open: false }
    }

    const fn post(
        path: &'static str,
        words: &'static str,
        takes: &'static [Content],
        gives: &'static [Content],
    ) -> Self {
        Self { method: "post", takes, refusals: BODY, ..Self::get(path, words, gives) }
    }

    const fn with(self, parameters: &'static [&'static str]) -> Self {
        Self { parameters, ..self }
    }

    const fn refuses(self, refusals: &'static [u16]) -> Self {
        Self { refusals, ..self }
    }

    const fn open(self) -> Self {
        Self { is_open: true, ..self }
    }
}

/// The routes, in groups with a title.
pub(crate) const ROUTES: &[(&str, &[Route])] = &[
    (
        "Recourse",
        &[
            Route::post(
                "/v1/recourse",
                "What people could change so that they are accepted.",
                &[json("Question")],
                &[json("Answers")],
            )
            .with(&["model"]),
            Route::post(
                "/v1/recourse/batch",
                "The same for a table of any length, answered while it comes in. Lines of JSON are questions of one row, each with \
                 what it asks for; of a table, the parameters say what everybody asks for, and a column `locks` may name each \
                 row's own locks with `;` between them. A table may be packed by gzip. A row that cannot be read has the status `error`.",
                &[Content { kind: NDJSON, shape: "Lines" }, Content { kind: CSV, shape: "Table" }],
                &[Content { kind: NDJSON, shape: "AnswerLines" }, Content { kind: CSV, shape: "AnswerTable" }],
            )
            .with(&["model", "first", "method", "count", "budget", "threshold", "lock", "limit"])
            .refuses(&[400, 404, 408, 415, 422, 500, 503]),
        ],
    ),
    (
        "The model",
        &[
            Route::get("/v1/schema", "The features, as a form needs them, and JSON Schemas of rows and questions.", &[json("Features")])
                .with(&["model"])
                .refuses(&[404, 422]),
            Route::get(
                "/v1/people",
                "Denied people who do not exist, drawn from what the model learned of the denied.",
                &[json("People")],
            )
            .with(&["model", "people", "seed"])
            .refuses(&[404, 422, 500, 503, 504]),
            Route::get("/v1/model", "What the model is and how it was made.", &[json("Card")])
                .with(&["model"])
                .refuses(&[404, 422]),
            Route::get("/v1/models", "The names of the models.", &[json("Models")]),
        ],
    ),
    (
        "KServe",
        &[
            Route::get("/v1/models/{name}", "Whether a model can be asked (V1).", &[json("ModelReady")])
                .with(&["name"])
                .refuses(&[404, 503]),
            Route::post(
                "/v1/models/{name}:explain",
                "Answers, as `/v1/recourse` gives them (V1).",
                &[json("Instances")],
                &[json("Explanations")],
            )
            .with(&["name"]),
            Route::post(
                "/v1/models/{name}:predict",
                "What the classifier says of rows as they are (V1).",
                &[json("Instances")],
                &[json("Predictions")],
            )
            .with(&["name"]),
            Route::get("/v2", "What the server is (V2).", &[json("Server")]),
            Route::get("/v2/health/live", "Whether the server is there (V2).", &[json("Live")]).open(),
            Route::get("/v2/health/ready", "Whether the server can be asked (V2).", &[json("Ready")])
                .refuses(&[503])
                .open(),
            Route::get("/v2/models/{name}", "What a model takes and gives (V2).", &[json("Metadata")])
                .with(&["name"])
                .refuses(&[404]),
            Route::get("/v2/models/{name}/ready", "Whether a model can be asked (V2).", &[json("ModelReady")])
                .with(&["name"])
                .refuses(&[404, 503]),
            Route::post(
                "/v2/models/{name}/infer",
                "What the classifier says of rows as they are (V2).",
                &[json("Tensors")],
                &[json("Inferred")],
            )
            .with(&["name"]),
            Route::post(
                "/v2/models/{name}/explain",
                "Answers, each as the text of its JSON: an extension of V2.",
                &[json("Tensors")],
                &[json("Explained")],
            )
            .with(&["name"]),
        ],
    ),
    (
        "The service",
        &[
            Route::get("/healthz", "Whether the process is there.", &[json("Health")]).open(),
            Route::get("/readyz", "Whether requests should come here.", &[json("Health")]).refuses(&[503]).open(),
            Route::get(
                "/metrics",
                "What is counted, for Prometheus.",
                &[Content { kind: "text/plain", shape: "Measures" }],
            ),
            Route::get("/openapi.json", "All of this, for programs.", &[json("OpenApi")])
                .with(&["model"])
                .refuses(&[404, 422, 500, 503]),
            Route::get("/api", "All of this, for people.", &[Content { kind: HTML, shape: "Page" }])
                .with(&["model"])
                .refuses(&[404, 422, 500, 503])
                .open(),
            Route::get("/", "A page to explore recourse on.", &[Content { kind: HTML, shape: "Page" }]).open(),
        ],
    ),
];

/// What the statuses of refusals mean.
pub(crate) const REFUSALS: [(u16, &str); 11] = [
    (400, "The body is not JSON, or ended before it was complete"),
    (401, "The header `Authorization: Bearer TOKEN` is expected"),
    (404, "There is nothing of that name"),
    (405, "Another method is expected; the header `Allow` says which"),
    (408, "The body did not arrive in time"),
    (413, "The body has too many bytes or too many rows, or asks for too many ways"),
    (415, "Another content type or encoding is expected"),
    (422, "A value does not fit; `problems` says where, what was found and what could stand there"),
    (500, "Something is wrong with the service"),
    (
        503,
        "More is asked than can be answered, or the service is being shut down; `Retry-After` says when to ask again",
    ),
    (504, "The answer takes longer than is allowed"),
];

/// What can be said of a model to those who ask.
pub(crate) struct Guide {
    /// The shapes of bodies, as JSON Schema; references among them are those of OpenAPI.
    pub(crate) shapes: Map<String, Value>,
    /// Parameters, as OpenAPI has them.
    pub(crate) parameters: Map<String, Value>,
    /// Examples by their shapes: JSON, or text. They work.
    pub(crate) examples: Map<String, Value>,
    /// The whole as OpenAPI.
    pub(crate) openapi: String,
}

/// Where OpenAPI keeps a shape.
pub(crate) fn reference(shape: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{shape}")})
}

impl Guide {
    pub(crate) fn new(model: &Model, solver: &mut Solver<'_>, max_rows: usize, asks_token: bool) -> Self {
        let mut guide = Self {
            shapes: shapes(model, max_rows),
            parameters: parameters(model),
            examples: examples(model, solver),
            openapi: String::new(),
        };
        guide.openapi = guide.document(model, asks_token).to_string();
        guide
    }
}

impl Service {
    /// What can be said of a model, which is put together when somebody first asks.
    pub(crate) async fn guide<'m>(&self, model: &'m Arc<Model>) -> Result<&'m Guide, Refusal> {
        if model.guide().get().is_none() {
            let (described, max_rows, token) =
                (Arc::clone(model), self.settings.max_rows, self.settings.token.is_some());
            let describe = move |solver: &mut Solver<'_>| {
                described.guide().get_or_init(|| Guide::new(&described, solver, max_rows, token));
            };
            self.one(model, describe).await?;
        }
        model.guide().get().ok_or(Refusal::Broken)
    }
}

fn shapes(model: &Model, max_rows: usize) -> Map<String, Value> {
    const ROW: &str = "#/components/schemas/Row";
    let mut shapes = json_schema::answers(reference);
    let text = |words: &str| json!({"type": "string", "description": words});
    for (name, shape) in [
        ("Row", json_schema::row(model)),
        ("Question", json_schema::question(model, ROW, max_rows)),
        ("Instances", json_schema::instances(model, ROW, max_rows)),
        ("Tensors", json_schema::tensors(model, max_rows)),
        ("Explained", shapes["Inferred"].clone()),
        ("Lines", text("A Question with one row on every line.")),
        ("Table", text("A table as CSV, with a column for every feature and a header.")),
        ("AnswerLines", text("An Answer on every line.")),
        (
            "AnswerTable",
            text(
                "A line for every way, and one for every row that has none. Features keep their names; a column before them that \
                  is called like one is called otherwise, as `columns` of `/v1/schema` says.",
            ),
        ),
        ("Measures", text("The text format of Prometheus.")),
        ("Page", text("A page.")),
        ("OpenApi", json!({"type": "object", "description": "An OpenAPI document."})),
    ] {
        shapes.insert(name.to_string(), shape);
    }
    shapes
}

fn parameters(model: &Model) -> Map<String, Value> {
    let named = |name: &str, words: &str, schema: Value| json!({"in": "query", "name": name, "description": words, "schema": schema});
    let mut parameters = Map::new();
    // What everybody in a table asks for.
    let options = json_schema::options(model);
    for name in ["method", "count", "budget", "threshold", "lock"] {
        let mut schema = options[name].clone();
        let words = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        // In an address nothing is said by saying nothing.
        if let Some(kind) = schema["type"].as_array().map(|kinds| kinds[0].clone()) {
            schema["type"] = kind;
        }
        let words = format!("{} For tables.", words.as_ref().and_then(Value::as_str).unwrap_or_default());
        parameters.insert(name.to_string(), named(name, &words, schema));
    }
    let limit = json!({"type": "array", "items": {"type": "string", "pattern": "^[^=]+=.+$"}});
    for (key, name, words, schema) in [
        (
            "limit",
            "limit",
            "What a feature may move to, at most: FEATURE=LOWEST..HIGHEST, with either end, or FEATURE=VALUE|VALUE. For tables.",
            limit,
        ),
        (
            "model",
            "model",
            "Which model is asked; the first without it.",
            json!({"type": "string", "enum": [model.name()]}),
        ),
        (
            "first",
            "first",
            "The number of the first row, for tables that are sent in parts.",
            json!({"type": "integer", "minimum": 1, "maximum": 1_u64 << 60, "default": 1}),
        ),
        (
            "people",
            "count",
            "How many people.",
            json!({"type": "integer", "minimum": 1, "maximum": about::MAX_PEOPLE, "default": 8}),
        ),
        (
            "seed",
            "seed",
            "Other people with another seed, the same with the same.",
            json!({"type": "integer", "minimum": 0, "maximum": u64::MAX, "default": 0}),
        ),
    ] {
        parameters.insert(key.to_string(), named(name, words, schema));
    }
    let name = json!({
        "in": "path", "name": "name", "required": true, "description": "The name of a model.",
        "schema": {"type": "string", "enum": [model.name()]},
    });
    parameters.insert("name".to_string(), name);
    parameters
}

/// Somebody who does not exist, and how they are asked for and answered everywhere.
fn examples(model: &Model, solver: &mut Solver<'_>) -> Map<String, Value> {
    let schema = model.bundle().schema();
    let row = about::somebody(model);
    let question = json!({"row": row, "count": 2});
    let read = Question::read(model, &question, 1).expect("what is made up can be read");
    let person = answer(model, solver, &read.rows[0], 1, &read.asked);
    let told = serde_json::to_value(person.described(model.bundle())).expect("a person has only text keys");
    let probability = person.probability().unwrap_or_default();
    let is_accepted = probability >= model.bundle().threshold();
    let class = &model.bundle().card().classes[usize::from(!is_accepted)];
    let tensor = |feature: &par_data::Feature| {
        let datatype = if feature.kind.is_numeric() { "FP64" } else { "BYTES" };
        json!({"name": feature.name, "datatype": datatype, "shape": [1], "data": [row[&feature.name]]})
    };
    let inferred = |outputs: Value| json!({"model_name": model.name(), "model_version": model.sha256(), "outputs": outputs});
    let names = schema.features().iter().map(|feature| feature.name.as_str()).collect();
    let cells = read.rows[0].cells.iter().map(String::as_str).collect();
    let mut answers = csv_header(schema);
    answers.extend(csv_lines(schema, std::slice::from_ref(&person)));
    let examples = json!({
        "Row": row,
        "Question": question,
        "Answers": {"model": model.name(), "answers": [told]},
        "Lines": format!("{question}\n"),
        "AnswerLines": format!("{told}\n"),
        "Table": csv([names, cells]),
        "AnswerTable": String::from_utf8_lossy(&answers),
        "Models": {"models": [model.name()]},
        "ModelReady": {"name": model.name(), "ready": true},
        "People": {"model": model.name(), "people": [{"row": row, "probability": probability}]},
        "Instances": {"instances": [row]},
        "Explanations": {"model": model.name(), "explanations": [told]},
        "Predictions": {"predictions": [{"probability": probability, "accepted": is_accepted, "class": class}]},
        "Tensors": {"inputs": schema.features().iter().map(tensor).collect::<Vec<_>>()},
        "Inferred": inferred(json!([
            {"name": "probability", "datatype": "FP64", "shape": [1], "data": [probability]},
            {"name": "accepted", "datatype": "BOOL", "shape": [1], "data": [is_accepted]},
        ])),
        "Explained": inferred(json!([
            {"name": "explanation", "datatype": "BYTES", "shape": [1], "data": [told.to_string()]},
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
