//! `GET /healthz` and `GET /readyz`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Service;
use crate::refusal::Refusal;
use crate::routes::json;

/// That the service is well.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Health<'a> {
    #[schemars(extend("const" = "ok"))]
    status: &'static str,
    /// The names of the models; only of a service that is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<&str>")]
    models: Option<Vec<&'a str>>,
}

/// `GET /healthz`: whether the process runs.
pub(crate) async fn live() -> Response {
    json(&Health { status: "ok", models: None })
}

/// `GET /readyz`: whether the service takes requests.
pub(crate) async fn ready(State(service): State<Arc<Service>>) -> Result<Response, Refusal> {
    service.expect_ready()?;
    Ok(json(&Health { status: "ok", models: Some(service.models.names()) }))
}
