//! `GET /openapi.json`: everything that can be asked, as OpenAPI 3.1.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::Service;
use crate::guide::{Content, Guide, REFUSALS, ROUTES, Route, reference};
use crate::models::Model;
use crate::parameters::Parameters;
use crate::refusal::Refusal;
use crate::routes::json_bytes;

/// `GET /openapi.json`
pub(crate) async fn openapi(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let parameters = Parameters::read(query.as_deref(), &["model"])?;
    let model = service.model(parameters.text("model"))?;
    Ok(json_bytes(service.guide(&model).await?.openapi.clone()))
}

impl Guide {
    /// All of it.
    pub(crate) fn document(&self, model: &Model, asks_token: bool) -> Value {
        let mut paths = Map::new();
        for (group, routes) in ROUTES {
            for route in *routes {
                let path = paths.entry(route.path).or_insert_with(|| json!({}));
                path[route.method] = self.operation(group, route, asks_token);
            }
        }
        let mut components = json!({
            "schemas": self.shapes,
            "parameters": self.parameters,
            "headers": {
                "RequestId": {
                    "description": "What the request is called in the log: what it calls itself in this header, if that is a name.",
                    "schema": {"type": "string"},
                },
                "RetryAfter": {"description": "In how many seconds.", "schema": {"type": "string"}},
            },
            "responses": REFUSALS.iter().map(refused).collect::<Map<_, _>>(),
        });
        if asks_token {
            components["securitySchemes"] = json!({"token": {"type": "http", "scheme": "bearer"}});
        }
        let name = model.name();
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "PAR",
                "version": env!("CARGO_PKG_VERSION"),
                "summary": "Recourse: what people could change so that a classifier accepts them",
                "description": format!(
                    "Rows are those of the model `{name}`. Where there are several models, each has its own document: \
                     /openapi.json?model=NAME. Every refusal has the same shape."
                ),
                "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
            },
            "servers": [{"url": "/"}],
            "tags": ROUTES.iter().map(|(group, _)| json!({"name": group})).collect::<Vec<_>>(),
            "paths": paths,
            "components": components,
        })
    }

    fn operation(&self, group: &str, route: &Route, asks_token: bool) -> Value {
        let mut responses = Map::new();
        let answer = json!({
            "description": "The answer",
            "headers": {"x-request-id": {"$ref": "#/components/headers/RequestId"}},
            "content": self.contents(route.gives),
        });
        responses.insert("200".to_string(), answer);
        let is_guarded = asks_token && !route.is_open;
        for status in route.refusals.iter().chain(is_guarded.then_some(&401)) {
            let response = format!("#/components/responses/{}", response_name(*status));
            responses.insert(status.to_string(), json!({"$ref": response}));
        }
        let id: String = format!("{}{}", route.method, route.path)
            .chars()
            .map(|character| if character.is_ascii_alphanumeric() { character } else { '_' })
            .collect();
        let parameter = |key: &&str| json!({"$ref": format!("#/components/parameters/{key}")});
        let mut operation = json!({
            "operationId": id,
            "tags": [group],
            "summary": route.words,
            "parameters": route.parameters.iter().map(parameter).collect::<Vec<_>>(),
            "responses": responses,
        });
        if !route.takes.is_empty() {
            operation["requestBody"] = json!({"required": true, "content": self.contents(route.takes)});
        }
        if is_guarded {
            operation["security"] = json!([{"token": []}]);
        }
        operation
    }

    fn contents(&self, contents: &[Content]) -> Value {
        let mut all = Map::new();
        for Content { kind, shape } in contents {
            let mut content = json!({"schema": reference(shape)});
            if let Some(example) = self.examples.get(*shape) {
                content["example"] = example.clone();
            }
            all.insert((*kind).to_string(), content);
        }
        Value::Object(all)
    }
}

fn response_name(status: u16) -> String {
    format!("Refused{status}")
}

/// The response of a refusal.
fn refused((status, words): &(u16, &str)) -> (String, Value) {
    let mut headers = json!({"x-request-id": {"$ref": "#/components/headers/RequestId"}});
    if *status == 503 {
        headers["retry-after"] = json!({"$ref": "#/components/headers/RetryAfter"});
    }
    let content = json!({"application/json": {"schema": reference("Refusal")}});
    (response_name(*status), json!({"description": words, "headers": headers, "content": content}))
}
