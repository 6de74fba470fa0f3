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
use crate::routes::{json_bytes, versioned};

/// What anything may be refused with.
const EVERYWHERE: [u16; 2] = [400, 421];

/// `GET /openapi.json`
pub(crate) async fn openapi(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let parameters = Parameters::read(query.as_deref(), &["model"])?;
    let model = service.model(parameters.text("model"))?;
    Ok(versioned(json_bytes(service.guide(&model).await?.openapi.clone()), &model))
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
                "ModelVersion": {
                    "description": "The version of the model that answered: the SHA-256 of its bundle.",
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
        let mut headers = json!({"x-request-id": {"$ref": "#/components/headers/RequestId"}});
        let is_of_model = route.parameters.iter().any(|key| ["model", "name"].contains(key));
        if is_of_model {
            headers["x-model-version"] = json!({"$ref": "#/components/headers/ModelVersion"});
        }
        let answer = json!({
            "description": "The answer",
            "headers": headers,
            "content": self.contents(route.gives),
        });
        responses.insert("200".to_string(), answer);
        let is_guarded = asks_token && !route.is_open;
        for status in route.refusals.iter().chain(&EVERYWHERE).chain(is_guarded.then_some(&401)) {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::guide::{ROUTES, reference};
    use crate::test_world::{ODD, fits, guide};
    use serde_json::{Value, json};

    fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            Value::Object(values) => {
                found.extend(values.get("$ref").and_then(Value::as_str));
                values.values().for_each(|value| references(value, found));
            }
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document: Value = serde_json::from_str(&guide(true).openapi).expect("JSON");
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 50, "{}", found.len());
        for pointer in found {
            assert!(document.pointer(&pointer[1..]).is_some(), "{pointer}");
        }
    }

    #[test]
    fn examples_are_as_their_shapes_say() {
        let guide = guide(false);
        let root = json!({"components": {"schemas": guide.shapes}});
        for (shape, example) in &guide.examples {
            assert!(fits(&root, &reference(shape), example), "{shape}: {example}");
        }
        for content in ROUTES.iter().flat_map(|(_, routes)| *routes).flat_map(|route| route.takes) {
            assert!(guide.examples.contains_key(content.shape), "{}", content.shape);
        }
    }

    #[test]
    fn operations_have_names_of_their_own() {
        let document = guide(false).document(&ODD, false);
        let operations = document["paths"].as_object().expect("paths").values().flat_map(|path| {
            path.as_object()
                .expect("operations")
                .values()
                .map(|operation| operation["operationId"].to_string())
        });
        let operations: Vec<String> = operations.collect();
        assert_eq!(operations.iter().collect::<BTreeSet<_>>().len(), operations.len());
        let routes: usize = ROUTES.iter().map(|(_, routes)| routes.len()).sum();
        assert_eq!(operations.len(), routes);
    }

    #[test]
    fn a_token_is_spoken_of_only_where_one_is_asked_for() {
        let open = guide(false).openapi;
        assert!(!open.contains("securitySchemes") && !open.contains("\"401\""));
        let guarded = guide(true).document(&ODD, true);
        assert_eq!(guarded["components"]["securitySchemes"]["token"]["scheme"], "bearer");
        assert_eq!(guarded["paths"]["/v1/schema"]["get"]["security"], json!([{"token": []}]));
        assert_eq!(guarded["paths"]["/healthz"]["get"].get("security"), None);
    }
}
