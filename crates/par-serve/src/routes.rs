//! What can be asked where, and what every request goes through.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Path, RawQuery, Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::answers::Told;
use crate::metrics::Counted;
use crate::models::Model;
use crate::parameters::Parameters;
use crate::question::Question;
use crate::refusal::Refusal;
use crate::seat::Seat;
use crate::{Service, about, api_page, host, kserve, openapi, page, stream};

/// The header that names a request.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The header that says which version of a model answers: the SHA-256 of its bundle.
pub(crate) const MODEL_VERSION: HeaderName = HeaderName::from_static("x-model-version");
/// The route of requests for no address of ours, in log and metrics.
const OTHER: &str = "other";
/// The status, in log and metrics, of a request whose client left before it was answered; nginx has it too.
const CLIENT_LEFT: u16 = 499;
/// A longer name of a request is replaced by one of our own.
const LONGEST_ID: usize = 64;

/// What is answered when all connections are taken.
const HEALTH: [&str; 4] = ["/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"];

/// What a handler tells the log of an answer, and nothing about people.
#[derive(Clone)]
pub(crate) struct Noted {
    pub(crate) model: String,
    pub(crate) rows: usize,
}

/// All of it.
pub(crate) fn router(service: &Arc<Service>) -> Router {
    let open = Router::new()
        .route("/", get(page::index))
        .route("/page/{file}", get(page::file))
        .route("/api", get(api_page::api))
        .route("/healthz", get(healthy))
        .route("/readyz", get(ready))
        .route("/v2/health/live", get(kserve::live))
        .route("/v2/health/ready", get(kserve::ready));
    let guarded = Router::new()
        .route("/v1/recourse", post(recourse))
        .route("/v1/recourse/batch", post(stream::batch))
        .route("/v1/schema", get(about::schema))
        .route("/v1/model", get(about::model))
        .route("/v1/people", get(about::people))
        .route("/v1/models", get(kserve::models))
        .route("/v1/models/{name}", get(kserve::model).post(kserve::ask).fallback(kserve::other))
        .route("/v2", get(kserve::server))
        .route("/v2/models/{name}", get(kserve::metadata))
        .route("/v2/models/{name}/ready", get(kserve::model_ready))
        .route("/v2/models/{name}/infer", post(kserve::infer))
        .route("/v2/models/{name}/explain", post(kserve::explain))
        .route("/metrics", get(measured))
        .route("/openapi.json", get(openapi::openapi))
        .route_layer(from_fn_with_state(Arc::clone(service), authorized));
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
    // A mistake of ours is told as one, and counted.
    let router = router.layer(CatchPanicLayer::custom(|_| Refusal::Broken.into_response()));
    router.layer(from_fn_with_state(Arc::clone(service), around))
}

/// What every request goes through: it gets a name, is counted and logged; refusals are written down.
async fn around(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(|id| is_name(id));
    let id = id.map_or_else(new_id, str::to_string);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or(OTHER, MatchedPath::as_str);
    if let Ok(id) = HeaderValue::from_str(&id) {
        request.headers_mut().insert(REQUEST_ID, id);
    }

    let mut record = Record { service: &service, id: &id, method: &method, route, begun, outcome: None };
    let is_question = method == Method::POST;
    let counted = is_question.then(|| Counted::new(&service.under_way));
    let is_ending = service.ending.load(Ordering::Relaxed) && is_question;
    let seat = request.extensions().get::<Arc<Seat>>().cloned();
    let is_crowded = match &seat {
        Some(seat) => !HEALTH.contains(&route) && !seat.has_place().await,
        None => false,
    };
    let mut response = match host::expect_ours(&request, &service.settings.hosts) {
        Err(refusal) => refusal.into_response(),
        Ok(()) if is_ending => Refusal::ShuttingDown.into_response(),
        Ok(()) if is_crowded => Refusal::Overloaded.into_response(),
        Ok(()) => next.run(request).await,
    };
    drop(counted);
    // What is refused before anybody here is asked: a method, or an address that is no text.
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
        let mut told = refusal.response(&id);
        // What was decided further in, CORS for one, stays.
        for (name, value) in response.headers() {
            if name != CONTENT_TYPE && !told.headers().contains_key(name) {
                told.headers_mut().append(name, value.clone());
            }
        }
        response = told;
    }
    let headers = response.headers_mut();
    if seat.is_some_and(|seat| seat.is_spare()) {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));

    let noted = response.extensions_mut().remove::<Noted>();
    record.outcome = Some((response.status().as_u16(), code, noted));
    drop(record);
    response
}

/// Counts and logs a request when it is dropped: answered, or left by its client.
struct Record<'a> {
    service: &'a Service,
    id: &'a str,
    method: &'a Method,
    route: &'a str,
    begun: Instant,
    /// The status, the code of a refusal, and what the handler tells; nothing before there is an answer.
    outcome: Option<(u16, Option<&'static str>, Option<Noted>)>,
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        let Self { service, id, method, route, begun, outcome } = self;
        let took = begun.elapsed();
        let (status, code, noted) = outcome.take().unwrap_or((CLIENT_LEFT, Some("client_left"), None));
        service.metrics.requested(route, status, took);
        let (model, rows) = noted.map_or((None, None), |noted| (Some(noted.model), Some(noted.rows)));
        let micros = took.as_micros() as u64;
        tracing::info!(id, %method, route, status, micros, model, rows, code, "request");
    }
}

/// Counts and logs a request whose head cannot be read; the headers and the body it is answered with.
pub(crate) fn refused_head(service: &Service, status: u16, limit: usize) -> (String, Vec<u8>) {
    let refusal = match StatusCode::from_u16(status) {
        Ok(status @ (StatusCode::URI_TOO_LONG | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)) => {
            Refusal::HeadTooLarge { limit, status }
        }
        _ => Refusal::WrongHead,
    };
    let id = new_id();
    service.metrics.requested(OTHER, status, Duration::ZERO);
    tracing::info!(id, route = OTHER, status, code = refusal.code(), "request");
    let headers = format!(
        "content-type: application/json\r\n{REQUEST_ID}: {id}\r\n{CACHE_CONTROL}: no-store\r\nx-content-type-options: nosniff\r\n"
    );
    (headers, refusal.body(&id))
}

/// Whether a client may call a request so.
fn is_name(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// A name that no other request has.
fn new_id() -> String {
    static PROCESS: LazyLock<u32> = LazyLock::new(|| RandomState::new().hash_one(()) as u32);
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{:08x}-{:x}", *PROCESS, NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Lets in those who know the token, if there is one.
async fn authorized(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let is_known = service.settings.token.as_ref().is_none_or(|token| {
        let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        given
            .is_some_and(|(scheme, given)| scheme.eq_ignore_ascii_case("bearer") && same(given.trim(), token))
    });
    if is_known { next.run(request).await } else { Refusal::Unauthorized.into_response() }
}

/// Whether two texts are the same, which takes as long for any two of a length.
fn same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}

impl Service {
    /// That requests should come here.
    pub(crate) fn expect_ready(&self) -> Result<(), Refusal> {
        if self.ending.load(Ordering::Relaxed) { Err(Refusal::ShuttingDown) } else { Ok(()) }
    }

    /// The model of that name; the first without one.
    pub(crate) fn model(&self, name: Option<&str>) -> Result<Arc<Model>, Refusal> {
        let unknown = || format!("model `{}`", name.unwrap_or_default().chars().take(80).collect::<String>());
        self.models.get(name).ok_or_else(|| Refusal::Unknown(unknown().into()))
    }
}

/// `POST /v1/recourse`
async fn recourse(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let parameters = Parameters::read(query.as_deref(), &["model"])?;
    let model = service.model(parameters.text("model"))?;
    let (asked, max_rows) = (Arc::clone(&model), service.settings.max_rows);
    let question = service.read(&headers, body, move |value| Question::read(&asked, value, max_rows)).await?;
    let told = service.answers(&model, question).await?;
    Ok(answered(&model, told, "answers"))
}

/// A list of answers under a name.
pub(crate) fn answered(model: &Model, mut told: Told, list: &str) -> Response {
    // Each answer ends its line, and JSON has no other line's end.
    told.bytes.pop();
    told.bytes.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b',');
    let mut bytes = Vec::with_capacity(told.bytes.len() + 64);
    bytes.extend_from_slice(b"{\"model\":");
    serde_json::to_writer(&mut bytes, model.name()).expect("memory can be written to");
    bytes.extend_from_slice(format!(",\"{list}\":[").as_bytes());
    bytes.extend_from_slice(&told.bytes);
    bytes.extend_from_slice(b"]}");
    noted(json_bytes(bytes), model, told.statuses.len())
}

/// A response that tells the log which model answered how many rows.
pub(crate) fn noted(mut response: Response, model: &Model, rows: usize) -> Response {
    response.extensions_mut().insert(Noted { model: model.name().to_string(), rows });
    versioned(response, model)
}

/// A response that says which version of a model it comes from.
pub(crate) fn versioned(mut response: Response, model: &Model) -> Response {
    let version = HeaderValue::from_str(model.sha256()).expect("a hash is written in hexadecimal digits");
    response.headers_mut().insert(MODEL_VERSION, version);
    response
}

/// Bytes that are JSON.
pub(crate) fn json_bytes(bytes: impl Into<Body>) -> Response {
    ([(CONTENT_TYPE, "application/json")], bytes.into()).into_response()
}

/// `GET /healthz`: whether the process is there.
async fn healthy() -> Response {
    json_bytes(json!({"status": "ok"}).to_string())
}

/// `GET /readyz`: whether requests should come here.
async fn ready(State(service): State<Arc<Service>>) -> Result<Response, Refusal> {
    service.expect_ready()?;
    Ok(json_bytes(json!({"status": "ok", "models": service.models.names()}).to_string()))
}

/// `GET /metrics`
async fn measured(State(service): State<Arc<Service>>) -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], service.measured()).into_response()
}

/// The name in an address, which axum has decoded.
pub(crate) type Name = Path<String>;
