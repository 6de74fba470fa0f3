//! The one table of endpoints: the router, the OpenAPI document, the page `/api`, the names of parameters and the labels of
//! metrics all come from it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use crate::Service;
use crate::models::ServedModel;
use crate::parameters::{
    AUDITOR, BUDGET, CERTIFY, COUNT, DEADLINE, EFFORT, FIRST, LIMIT, LOCK, MARGIN, MAX_EFFORT, METHOD,
    MIN_PERCENTILE, MODEL, NAME, NO_HARM, ORDER, PEOPLE, Parameter, ROBUST, SEED, SLACK, THRESHOLD, WITHIN,
};
use crate::{about, answers, api_page, health, json_schema, kserve, metrics, openapi, page, stream};

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const CSV: &str = "text/csv";

/// Statuses that any endpoint may refuse a request with.
pub(crate) const ERRORS_EVERYWHERE: [u16; 2] = [400, 421];
/// Statuses that an endpoint with a body of JSON may refuse a request with.
const BODY_ERRORS: &[u16] = &[400, 404, 408, 413, 415, 422, 500, 503, 504];
/// Statuses that an endpoint which describes the API may refuse a request with.
const DOCS_ERRORS: &[u16] = &[404, 422, 500, 503];

/// Endpoints under a title.
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) endpoints: &'static [Endpoint],
}

/// A method of a path.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) requests: &'static [Content],
    pub(crate) answers: &'static [Content],
    /// Statuses it may refuse a request with, beside [`ERRORS_EVERYWHERE`].
    pub(crate) errors: &'static [u16],
    pub(crate) access: Access,
    /// Whether it is part of the OpenAPI document and the page `/api`.
    pub(crate) is_documented: bool,
    handler: fn(MethodFilter) -> MethodRouter<Arc<Service>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Method {
    Get,
    Post,
}

impl Method {
    /// As OpenAPI writes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Needs the token, if the service has one.
    Token,
    Open,
    /// Open, and answered even when all connections are taken.
    Health,
}

/// What a body holds, by the name of its schema among the components of the OpenAPI document.
pub(crate) enum Content {
    /// JSON, whose schema is derived from a type.
    Derived { name: fn() -> Cow<'static, str>, schema: fn(&mut SchemaGenerator) -> Schema },
    /// JSON, whose schema depends on the model and on how many rows a request may have.
    OfModel { name: &'static str, schema: fn(&ServedModel, usize) -> Value },
    /// Text.
    Text { media_type: &'static str, name: &'static str, description: &'static str },
}

impl Content {
    pub(crate) fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Derived { name, .. } => name(),
            Self::OfModel { name, .. } | Self::Text { name, .. } => Cow::Borrowed(name),
        }
    }

    pub(crate) fn media_type(&self) -> &'static str {
        match self {
            Self::Derived { .. } | Self::OfModel { .. } => JSON,
            Self::Text { media_type, .. } => media_type,
        }
    }
}

const fn json<T: JsonSchema>() -> Content {
    Content::Derived { name: T::schema_name, schema: SchemaGenerator::subschema_for::<T> }
}

const fn text(media_type: &'static str, name: &'static str, description: &'static str) -> Content {
    Content::Text { media_type, name, description }
}

const QUESTION: Content = Content::OfModel { name: "Question", schema: json_schema::question };
const INSTANCES: Content = Content::OfModel { name: "Instances", schema: json_schema::instances };
const TENSORS: Content = Content::OfModel { name: "Tensors", schema: json_schema::tensors };
const LINES: Content = text(NDJSON, "Lines", "A Question with one row on every line.");
const TABLE: Content = text(CSV, "Table", "A table as CSV, with a header and a column for every feature.");
const ANSWER_LINES: Content = text(NDJSON, "AnswerLines", "An Answer on every line.");
const ANSWER_TABLE: Content = text(
    CSV,
    "AnswerTable",
    "A line for every way, and one for every row without a way. Features keep their names; a column before them with the name \
     of a feature is renamed, as `columns` of `/v1/schema` says.",
);
const METRICS: Content = text("text/plain", "Measures", "The text format of Prometheus.");
const PAGE: Content = text("text/html", "Page", "A page.");

impl Endpoint {
    const fn new(
        method: Method,
        path: &'static str,
        summary: &'static str,
        handler: fn(MethodFilter) -> MethodRouter<Arc<Service>>,
    ) -> Self {
        let errors = match method {
            Method::Get => &[],
            Method::Post => BODY_ERRORS,
        };
        let (parameters, requests, answers) = (&[], &[], &[]);
        let (access, is_documented) = (Access::Token, true);
        Self { method, path, summary, parameters, requests, answers, errors, access, is_documented, handler }
    }

    /// The path as the router matches it, which also labels metrics. The router matches whole segments: what follows a colon is
    /// left to the handler.
    pub(crate) fn route(&self) -> &'static str {
        self.path.split(':').next().unwrap_or(self.path)
    }

    pub(crate) fn router(&self) -> MethodRouter<Arc<Service>> {
        (self.handler)(match self.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
        })
    }

    /// The endpoint of a route; one of them where several share it.
    pub(crate) fn of_route(route: &str) -> Option<&'static Self> {
        all().find(|endpoint| endpoint.route() == route)
    }
}

/// All endpoints, in the order of the table.
pub(crate) fn all() -> impl Iterator<Item = &'static Endpoint> {
    GROUPS.iter().flat_map(|group| group.endpoints)
}

/// A line of the table. Fields that are left out have the values of [`Endpoint::new`].
macro_rules! endpoint {
    ($method:ident $path:literal => $handler:path, $summary:literal $(, $field:ident: $value:expr)* $(,)?) => {
        Endpoint {
            $($field: $value,)*
            ..Endpoint::new(Method::$method, $path, $summary, |method| on(method, $handler))
        }
    };
}

/// The table.
pub(crate) static GROUPS: [Group; 4] = [
    Group {
        title: "Recourse",
        endpoints: &[
            endpoint! {
                Post "/v1/recourse" => answers::recourse,
                "What people could change so that they are accepted.",
                parameters: &[MODEL], requests: &[QUESTION], answers: &[json::<answers::Answers<'_>>()],
            },
            endpoint! {
                Post "/v1/recourse/batch" => stream::batch,
                "The same for a table of any length, answered while it comes in. Each line of JSON is a question with one row \
                 and its own options. For CSV, the parameters are the options of all rows, and columns have each row's own: \
                 `locks` and `efforts`, separated by `;`, `margin`, `max_effort` and `within`. CSV may be compressed with gzip. \
                 A row that cannot be read has the status `error`.",
                parameters: &[
                    MODEL, FIRST, METHOD, COUNT, ORDER, BUDGET, THRESHOLD, MARGIN, MIN_PERCENTILE, LOCK, LIMIT, EFFORT, MAX_EFFORT, WITHIN,
                    NO_HARM, ROBUST, CERTIFY, SLACK, DEADLINE, AUDITOR,
                ],
                requests: &[LINES, TABLE], answers: &[ANSWER_LINES, ANSWER_TABLE],
                errors: &[400, 404, 408, 415, 422, 500, 503],
            },
        ],
    },
    Group {
        title: "The model",
        endpoints: &[
            endpoint! {
                Get "/v1/schema" => about::schema,
                "The features, as a form needs them, and JSON Schemas of rows and questions.",
                parameters: &[MODEL], answers: &[json::<about::Features<'_>>()], errors: &[404, 422],
            },
            endpoint! {
                Get "/v1/people" => about::people,
                "Made-up denied people, drawn at random from what the model learned of denied people. By chance one may equal a \
                 real row.",
                parameters: &[MODEL, PEOPLE, SEED], answers: &[json::<about::People<'_>>()],
                errors: &[404, 422, 500, 503, 504],
            },
            endpoint! {
                Get "/v1/model" => about::model, "What the model is and how it was made.",
                parameters: &[MODEL], answers: &[json::<about::Card<'_>>()], errors: &[404, 422],
            },
            endpoint! {
                Get "/v1/models" => kserve::models, "The names of the models.",
                answers: &[json::<kserve::Models<'_>>()],
            },
        ],
    },
    Group {
        title: "KServe",
        endpoints: &[
            endpoint! {
                Get "/v1/models/{name}" => kserve::model, "Whether a model is ready (V1).",
                parameters: &[NAME], answers: &[json::<kserve::ModelReady<'_>>()], errors: &[404, 503],
                handler: |method| on(method, kserve::model).fallback(kserve::wrong_method_of_model),
            },
            endpoint! {
                Post "/v1/models/{name}:explain" => kserve::explain_or_predict,
                "Answers, as `/v1/recourse` gives them (V1).",
                parameters: &[NAME], requests: &[INSTANCES], answers: &[json::<kserve::Explanations<'_>>()],
            },
            endpoint! {
                Post "/v1/models/{name}:predict" => kserve::explain_or_predict,
                "What the classifier decides about rows as they are (V1).",
                parameters: &[NAME], requests: &[INSTANCES], answers: &[json::<kserve::Predictions<'_>>()],
            },
            endpoint! {
                Get "/v2" => kserve::server, "What the server is (V2).",
                answers: &[json::<kserve::Server>()],
            },
            endpoint! {
                Get "/v2/health/live" => kserve::live, "Whether the server runs (V2).",
                answers: &[json::<kserve::Live>()], access: Access::Health,
            },
            endpoint! {
                Get "/v2/health/ready" => kserve::ready, "Whether the server takes requests (V2).",
                answers: &[json::<kserve::Ready>()], errors: &[503], access: Access::Health,
            },
            endpoint! {
                Get "/v2/models/{name}" => kserve::metadata, "What a model takes and gives (V2).",
                parameters: &[NAME], answers: &[json::<kserve::Metadata<'_>>()], errors: &[404],
            },
            endpoint! {
                Get "/v2/models/{name}/ready" => kserve::model_ready, "Whether a model is ready (V2).",
                parameters: &[NAME], answers: &[json::<kserve::ModelReady<'_>>()], errors: &[404, 503],
            },
            endpoint! {
                Post "/v2/models/{name}/infer" => kserve::infer,
                "What the classifier decides about rows as they are (V2).",
                parameters: &[NAME], requests: &[TENSORS], answers: &[json::<kserve::Inferred<'_>>()],
            },
            endpoint! {
                Post "/v2/models/{name}/explain" => kserve::explain,
                "Answers, each as the text of its JSON: an extension of V2.",
                parameters: &[NAME], requests: &[TENSORS], answers: &[json::<kserve::Explained<'_>>()],
            },
        ],
    },
    Group {
        title: "The service",
        endpoints: &[
            endpoint! {
                Get "/healthz" => health::live, "Whether the process runs.",
                answers: &[json::<health::Health<'_>>()], access: Access::Health,
            },
            endpoint! {
                Get "/readyz" => health::ready, "Whether the service takes requests.",
                answers: &[json::<health::Health<'_>>()], errors: &[503], access: Access::Health,
            },
            endpoint! {
                Get "/metrics" => metrics::metrics, "Counts and times, for Prometheus.",
                answers: &[METRICS],
            },
            endpoint! {
                Get "/openapi.json" => openapi::openapi, "This API, for programs.",
                parameters: &[MODEL], answers: &[json::<openapi::OpenApi>()], errors: DOCS_ERRORS,
            },
            endpoint! {
                Get "/api" => api_page::api, "This API, for people.",
                parameters: &[MODEL], answers: &[PAGE], errors: DOCS_ERRORS, access: Access::Open,
            },
            endpoint! {
                Get "/" => page::index, "A page to explore recourse on.",
                answers: &[PAGE], access: Access::Open,
            },
            endpoint! {
                Get "/page/{file}" => page::file, "A file of the page.",
                access: Access::Open, is_documented: false,
            },
        ],
    },
];
