//! `GET /openapi.json`: the table of endpoints as OpenAPI 3.1.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::Service;
use crate::api_docs::ApiDocs;
use crate::endpoints::{Access, Content, ERRORS_EVERYWHERE, Endpoint, GROUPS};
use crate::json_schema::reference;
use crate::models::ServedModel;
use crate::parameters::Query;
use crate::refusal::{Refusal, STATUSES};
use crate::routes::{json_bytes, with_model_version};

/// The body of the answer, whose schema is that of OpenAPI and not ours.
pub(crate) struct OpenApi;

impl JsonSchema for OpenApi {
    fn schema_name() -> Cow<'static, str> {
        "OpenApi".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "description": "An OpenAPI document."})
    }
}

/// `GET /openapi.json`
pub(crate) async fn openapi(State(service): State<Arc<Service>>, query: Query) -> Result<Response, Refusal> {
    let model = service.model(query.read()?.text("model"))?;
    Ok(with_model_version(json_bytes(service.api_docs(&model).await?.openapi.clone()), &model))
}

impl ApiDocs {
    /// The document.
    pub(crate) fn document(&self, model: &ServedModel, asks_token: bool) -> Value {
        let mut paths = Map::new();
        for group in &GROUPS {
            for endpoint in group.endpoints.iter().filter(|endpoint| endpoint.is_documented) {
                let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
                path[endpoint.method.name()] = self.operation(group.title, endpoint, asks_token);
            }
        }
        let mut components = json!({
            "schemas": self.schemas,
            "parameters": self.parameters,
            "headers": {
                "RequestId": {
                    "description": "The id of the request in the log: the one that the request has in this header, if it is valid.",
                    "schema": {"type": "string"},
                },
                "ModelVersion": {
                    "description": "The version of the model that answered: its SHA-256.",
                    "schema": {"type": "string"},
                },
                "RetryAfter": {"description": "In how many seconds.", "schema": {"type": "string"}},
            },
            "responses": STATUSES.iter().map(refused).collect::<Map<_, _>>(),
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
            "tags": GROUPS.iter().map(|group| json!({"name": group.title})).collect::<Vec<_>>(),
            "paths": paths,
            "components": components,
        })
    }

    fn operation(&self, group: &str, endpoint: &Endpoint, asks_token: bool) -> Value {
        let mut headers = json!({"x-request-id": {"$ref": "#/components/headers/RequestId"}});
        if endpoint.parameters.iter().any(|parameter| ["model", "name"].contains(&parameter.key)) {
            headers["x-model-version"] = json!({"$ref": "#/components/headers/ModelVersion"});
        }
        let answer = json!({
            "description": "The answer",
            "headers": headers,
            "content": self.contents(endpoint.answers),
        });
        let mut responses = Map::from_iter([("200".to_string(), answer)]);
        let is_guarded = asks_token && endpoint.access == Access::Token;
        for status in endpoint.errors.iter().chain(&ERRORS_EVERYWHERE).chain(is_guarded.then_some(&401)) {
            let response = format!("#/components/responses/{}", response_name(*status));
            responses.insert(status.to_string(), json!({"$ref": response}));
        }
        let id: String = format!("{}{}", endpoint.method.name(), endpoint.path)
            .chars()
            .map(|character| if character.is_ascii_alphanumeric() { character } else { '_' })
            .collect();
        let parameters = endpoint.parameters.iter();
        let parameters =
            parameters.map(|parameter| json!({"$ref": format!("#/components/parameters/{}", parameter.key)}));
        let mut operation = json!({
            "operationId": id,
            "tags": [group],
            "summary": endpoint.summary,
            "parameters": parameters.collect::<Vec<_>>(),
            "responses": responses,
        });
        if !endpoint.requests.is_empty() {
            operation["requestBody"] = json!({"required": true, "content": self.contents(endpoint.requests)});
        }
        if is_guarded {
            operation["security"] = json!([{"token": []}]);
        }
        operation
    }

    fn contents(&self, contents: &[Content]) -> Value {
        let mut all = Map::new();
        for content in contents {
            let mut described = json!({"schema": reference(&content.name())});
            if let Some(example) = self.examples.get(&*content.name()) {
                described["example"] = example.clone();
            }
            all.insert(content.media_type().to_string(), described);
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

    use serde_json::{Value, json};

    use crate::endpoints;
    use crate::test_model::{ODD, Schemas, api_docs};

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
    fn every_reference_can_be_resolved() {
        let document: Value = serde_json::from_str(&api_docs(true).openapi).expect("JSON");
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 50, "{}", found.len());
        for pointer in found {
            assert!(document.pointer(&pointer[1..]).is_some(), "{pointer}");
        }
    }

    #[test]
    fn examples_fit_their_schemas() {
        let docs = api_docs(false);
        let schemas = Schemas::of(&docs);
        for (name, example) in &docs.examples {
            assert!(schemas.fits(name, example), "{name}: {example}");
        }
        for content in endpoints::all().flat_map(|endpoint| endpoint.requests) {
            assert!(docs.examples.contains_key(&*content.name()), "{}", content.name());
        }
    }

    #[test]
    fn every_operation_has_its_own_id() {
        let document = api_docs(false).document(&ODD, false);
        let operations = document["paths"].as_object().expect("paths").values().flat_map(|path| {
            path.as_object()
                .expect("operations")
                .values()
                .map(|operation| operation["operationId"].to_string())
        });
        let operations: Vec<String> = operations.collect();
        assert_eq!(operations.iter().collect::<BTreeSet<_>>().len(), operations.len());
        assert_eq!(operations.len(), endpoints::all().filter(|endpoint| endpoint.is_documented).count());
    }

    #[test]
    fn a_token_is_documented_only_if_the_service_has_one() {
        let open = api_docs(false).openapi;
        assert!(!open.contains("securitySchemes") && !open.contains("\"401\""));
        let guarded = api_docs(true).document(&ODD, true);
        assert_eq!(guarded["components"]["securitySchemes"]["token"]["scheme"], "bearer");
        assert_eq!(guarded["paths"]["/v1/schema"]["get"]["security"], json!([{"token": []}]));
        assert_eq!(guarded["paths"]["/healthz"]["get"].get("security"), None);
    }
}
