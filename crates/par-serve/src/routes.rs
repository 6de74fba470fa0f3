//! From the table of endpoints to a router, and the layers that every request goes through.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Path, Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::connection_permit::ConnectionPermit;
use crate::endpoints::{self, Access, Endpoint};
use crate::metrics::CountGuard;
use crate::models::ServedModel;
use crate::refusal::{Code, Refusal};
use crate::{Service, host};

/// The header with the id of a request.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The header with the version of the model that answers: its SHA-256.
pub(crate) const MODEL_VERSION: HeaderName = HeaderName::from_static("x-model-version");
/// The route, in log and metrics, of requests for an address without an endpoint.
const OTHER: &str = "other";
/// The status, in log and metrics, of a request whose client left before it was answered; as nginx has it.
const CLIENT_LEFT: u16 = 499;
/// A longer id of a request is replaced by one of ours.
const LONGEST_ID: usize = 64;

/// What a handler adds to the log line of its request: nothing about people.
#[derive(Clone)]
pub(crate) struct LogFields {
    pub(crate) model: String,
    pub(crate) rows: usize,
}

/// The endpoints, and the layers around them.
pub(crate) fn router(service: &Arc<Service>) -> Router {
    let open = routed(|access| access != Access::Token);
    let guarded = routed(|access| access == Access::Token)
        .route_layer(from_fn_with_state(Arc::clone(service), check_token));
    let origins = service.settings.origins.iter();
    let origins: Vec<HeaderValue> =
        origins.map(|origin| origin.parse().expect("origins are checked beforehand")).collect();
    let mut router = open
        .merge(guarded)
        .fallback(async || Refusal::Unknown("such address".into()))
        .with_state(Arc::clone(service));
    if !origins.is_empty() {
        let cors = CorsLayer::new()
            .allow_origin(AllowOrigin::list(origins))
            .allow_methods([Method::GET, Method::POST])
            .allow_headers([CONTENT_TYPE, AUTHORIZATION, REQUEST_ID])
            .expose_headers([REQUEST_ID, MODEL_VERSION, RETRY_AFTER]);
        router = router.layer(cors);
    }
    // A panic of ours is answered with 500, and counted.
    let router = router.layer(CatchPanicLayer::custom(|_| Refusal::Broken.into_response()));
    router.layer(from_fn_with_state(Arc::clone(service), observe))
}

/// The endpoints of that access.
fn routed(has: impl Fn(Access) -> bool) -> Router<Arc<Service>> {
    let mut routed = BTreeSet::new();
    let mut router = Router::new();
    for endpoint in endpoints::all().filter(|endpoint| has(endpoint.access)) {
        // Endpoints that differ only behind a colon share a route and its handler.
        if routed.insert((endpoint.route(), endpoint.method)) {
            router = router.route(endpoint.route(), endpoint.router());
        }
    }
    router
}

/// Goes around every request: gives it an id, refuses what no endpoint should see, writes refusals, counts and logs.
async fn observe(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(|id| is_request_id(id));
    let id = id.map_or_else(new_request_id, str::to_string);
    let method = request.method().clone();
    let endpoint =
        request.extensions().get::<MatchedPath>().and_then(|path| Endpoint::of_route(path.as_str()));
    let route = endpoint.map_or(OTHER, Endpoint::route);
    if let Some(endpoint) = endpoint {
        request.extensions_mut().insert(endpoint);
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        request.headers_mut().insert(REQUEST_ID, id);
    }

    let mut record = Record { service: &service, id: &id, method: &method, route, begun, outcome: None };
    let is_question = method == Method::POST;
    let in_flight = is_question.then(|| CountGuard::new(&service.in_flight));
    let is_ending = service.ending.load(Ordering::Relaxed) && is_question;
    let permit = request.extensions().get::<Arc<ConnectionPermit>>().cloned();
    let is_health = endpoint.is_some_and(|endpoint| endpoint.access == Access::Health);
    let is_crowded = match &permit {
        Some(permit) => !is_health && !permit.acquire_regular().await,
        None => false,
    };
    let mut response = match host::check_host(&request, &service.settings.hosts) {
        Err(refusal) => refusal.into_response(),
        Ok(()) if is_ending => Refusal::ShuttingDown.into_response(),
        Ok(()) if is_crowded => Refusal::Overloaded.into_response(),
        Ok(()) => next.run(request).await,
    };
    drop(in_flight);
    // axum itself refuses a wrong method, and an address that is not UTF-8.
    if response.extensions().get::<Refusal>().is_none() {
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => response = Refusal::WrongMethod.into_response(),
            StatusCode::BAD_REQUEST => response = Refusal::Unknown("such address".into()).into_response(),
            _ => {}
        }
    }
    let mut code = None;
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        code = Some(refusal.code());
        let mut refused = refusal.response(&id);
        // Headers that inner layers have set, such as those of CORS, stay.
        for (name, value) in response.headers() {
            if name != CONTENT_TYPE && !refused.headers().contains_key(name) {
                refused.headers_mut().append(name, value.clone());
            }
        }
        response = refused;
    }
    let headers = response.headers_mut();
    if permit.is_some_and(|permit| permit.is_spare()) {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));

    let log_fields = response.extensions_mut().remove::<LogFields>();
    record.outcome = Some((response.status().as_u16(), code, log_fields));
    drop(record);
    response
}

/// Counts and logs a request when it is dropped: answered, or left by its client.
struct Record<'a> {
    service: &'a Service,
    id: &'a str,
    method: &'a Method,
    route: &'static str,
    begun: Instant,
    /// The status, the code of a refusal, and the fields of the handler; `None` before there is a response.
    outcome: Option<(u16, Option<Code>, Option<LogFields>)>,
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        let Self { service, id, method, route, begun, outcome } = self;
        let took = begun.elapsed();
        let (status, code, fields) = match outcome.take() {
            Some((status, code, fields)) => (status, code.map(|code| code.to_string()), fields),
            None => (CLIENT_LEFT, Some("client_left".to_string()), None),
        };
        service.metrics.count_request(route, status, took);
        let (model, rows) = fields.map_or((None, None), |fields| (Some(fields.model), Some(fields.rows)));
        let micros = took.as_micros() as u64;
        tracing::info!(id, %method, route, status, micros, model, rows, code, "request");
    }
}

/// Counts and logs a request whose head cannot be read; returns the headers and the body of the response.
pub(crate) fn refused_head(service: &Service, status: u16, limit: usize) -> (String, Vec<u8>) {
    let refusal = match StatusCode::from_u16(status) {
        Ok(status @ (StatusCode::URI_TOO_LONG | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)) => {
            Refusal::HeadTooLarge { limit, status }
        }
        _ => Refusal::WrongHead,
    };
    let id = new_request_id();
    service.metrics.count_request(OTHER, status, Duration::ZERO);
    tracing::info!(id, route = OTHER, status, code = %refusal.code(), "request");
    let headers = format!(
        "content-type: application/json\r\n{REQUEST_ID}: {id}\r\n{CACHE_CONTROL}: no-store\r\nx-content-type-options: nosniff\r\n"
    );
    (headers, refusal.body(&id))
}

/// Whether a client may give a request this id.
fn is_request_id(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// An id that no other request has.
fn new_request_id() -> String {
    static PROCESS: LazyLock<u32> = LazyLock::new(|| RandomState::new().hash_one(()) as u32);
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{:08x}-{:x}", *PROCESS, NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Refuses requests without the token, if the service has one.
async fn check_token(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let is_allowed = service.settings.token.as_ref().is_none_or(|token| {
        let sent = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let sent = sent.and_then(|value| value.split_once(' '));
        sent.is_some_and(|(scheme, sent)| scheme.eq_ignore_ascii_case("bearer") && same(sent.trim(), token))
    });
    if is_allowed { next.run(request).await } else { Refusal::Unauthorized.into_response() }
}

/// Whether two texts are the same, in a time that depends only on their lengths.
fn same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}

impl Service {
    /// # Errors
    /// When the service is being shut down.
    pub(crate) fn expect_ready(&self) -> Result<(), Refusal> {
        if self.ending.load(Ordering::Relaxed) { Err(Refusal::ShuttingDown) } else { Ok(()) }
    }

    /// The model of that name; the first one by default.
    ///
    /// # Errors
    /// When there is no model of that name.
    pub(crate) fn model(&self, name: Option<&str>) -> Result<Arc<ServedModel>, Refusal> {
        let unknown = || format!("model `{}`", name.unwrap_or_default().chars().take(80).collect::<String>());
        self.models.get(name).ok_or_else(|| Refusal::Unknown(unknown().into()))
    }
}

/// A response that tells the log which model answered how many rows.
pub(crate) fn with_log_fields(mut response: Response, model: &ServedModel, rows: usize) -> Response {
    response.extensions_mut().insert(LogFields { model: model.name().to_string(), rows });
    with_model_version(response, model)
}

/// A response with the version of the model it comes from.
pub(crate) fn with_model_version(mut response: Response, model: &ServedModel) -> Response {
    let version = HeaderValue::from_str(model.sha256()).expect("a hash is written in hexadecimal digits");
    response.headers_mut().insert(MODEL_VERSION, version);
    response
}

/// A response of JSON.
pub(crate) fn json(body: &impl Serialize) -> Response {
    json_bytes(serde_json::to_vec(body).expect("bodies have only text keys"))
}

/// A response of bytes that are JSON.
pub(crate) fn json_bytes(bytes: impl Into<Body>) -> Response {
    ([(CONTENT_TYPE, "application/json")], bytes.into()).into_response()
}

/// The last variable part of an address, decoded by axum.
pub(crate) type Name = Path<String>;
