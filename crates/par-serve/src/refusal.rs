//! Why a request is not answered: one table from reasons to statuses and codes, one shape of the response.

use std::borrow::Cow;
use std::fmt;

use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use par_answer::request::Problem;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The body is not JSON; where and why.
    NotJson(String),
    /// Values that do not fit.
    WrongValues(Vec<Problem>),
    /// A table that cannot be read.
    Table(String),
    Unauthorized,
    /// The header `Host` is missing, repeated or malformed.
    NoHost,
    /// The request is for another host.
    WrongHost {
        found: String,
    },
    /// There is no such thing; what was looked for.
    Unknown(Cow<'static, str>),
    WrongMethod,
    /// The body did not arrive in time.
    Stalled,
    /// The body came too slowly.
    Dripping {
        /// The lowest rate, in bytes per second.
        expected: usize,
    },
    /// The head of the request is not HTTP.
    WrongHead,
    /// The head of the request has too many bytes or headers.
    HeadTooLarge {
        limit: usize,
        status: StatusCode,
    },
    /// The client went away before the body had arrived.
    BrokenOff,
    TooManyBytes {
        limit: usize,
    },
    TooManyRows {
        found: usize,
        limit: usize,
    },
    /// Rows times the ways of each.
    TooManyWays {
        found: usize,
        limit: usize,
    },
    WrongType {
        expected: &'static [&'static str],
    },
    /// The body is compressed in an unknown way.
    WrongEncoding,
    Overloaded,
    ShuttingDown,
    TooSlow,
    /// A bug of the service.
    Broken,
}

/// Why a request is not answered.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Refusal")]
pub(crate) struct RefusalBody<'a> {
    /// For people.
    error: &'a str,
    /// For programs.
    code: Code,
    problems: &'a [Problem],
    /// The same as in the header `x-request-id`.
    request_id: &'a str,
}

/// The kind of a refusal, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum Code {
    NotJson,
    BrokenOff,
    WrongValue,
    WrongTable,
    Unauthorized,
    NoHost,
    WrongHost,
    Unknown,
    WrongMethod,
    Stalled,
    WrongHead,
    HeadTooLarge,
    TooManyBytes,
    TooManyRows,
    TooManyWays,
    WrongType,
    WrongEncoding,
    Overloaded,
    ShuttingDown,
    TooSlow,
    Internal,
}

impl fmt::Display for Code {
    /// As JSON has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The meaning of each status that a request may be refused with.
pub(crate) const STATUSES: [(u16, &str); 14] = [
    (
        400,
        "The request is no HTTP/1, or HTTP/1.1 without the header `Host`, or the body is not JSON or ended before it was complete",
    ),
    (401, "The header `Authorization: Bearer TOKEN` is expected"),
    (404, "There is nothing of that name"),
    (405, "Another method is expected; the header `Allow` says which"),
    (408, "The body did not arrive in time, or came too slowly"),
    (413, "The body has too many bytes or too many rows, or asks for too many ways"),
    (414, "The address is too long"),
    (415, "Another content type or encoding is expected"),
    (421, "The header `Host` names another service; `--host` adds names of this one"),
    (422, "A value does not fit; `problems` says where, what was found and what was expected"),
    (431, "The head of the request has too many bytes or headers"),
    (500, "Something is wrong with the service"),
    (503, "The service is overloaded or being shut down; `Retry-After` says when to ask again"),
    (504, "The answer takes longer than is allowed"),
];

impl From<Vec<Problem>> for Refusal {
    fn from(problems: Vec<Problem>) -> Self {
        Self::WrongValues(problems)
    }
}

impl Refusal {
    /// The status and the code of each refusal.
    fn kind(&self) -> (StatusCode, Code) {
        match self {
            Self::NotJson(_) => (StatusCode::BAD_REQUEST, Code::NotJson),
            Self::BrokenOff => (StatusCode::BAD_REQUEST, Code::BrokenOff),
            Self::WrongValues(_) => (StatusCode::UNPROCESSABLE_ENTITY, Code::WrongValue),
            Self::Table(_) => (StatusCode::UNPROCESSABLE_ENTITY, Code::WrongTable),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, Code::Unauthorized),
            Self::NoHost => (StatusCode::BAD_REQUEST, Code::NoHost),
            Self::WrongHost { .. } => (StatusCode::MISDIRECTED_REQUEST, Code::WrongHost),
            Self::Unknown(_) => (StatusCode::NOT_FOUND, Code::Unknown),
            Self::WrongMethod => (StatusCode::METHOD_NOT_ALLOWED, Code::WrongMethod),
            Self::Stalled | Self::Dripping { .. } => (StatusCode::REQUEST_TIMEOUT, Code::Stalled),
            Self::WrongHead => (StatusCode::BAD_REQUEST, Code::WrongHead),
            Self::HeadTooLarge { status, .. } => (*status, Code::HeadTooLarge),
            Self::TooManyBytes { .. } => (StatusCode::PAYLOAD_TOO_LARGE, Code::TooManyBytes),
            Self::TooManyRows { .. } => (StatusCode::PAYLOAD_TOO_LARGE, Code::TooManyRows),
            Self::TooManyWays { .. } => (StatusCode::PAYLOAD_TOO_LARGE, Code::TooManyWays),
            Self::WrongType { .. } => (StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::WrongType),
            Self::WrongEncoding => (StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::WrongEncoding),
            Self::Overloaded => (StatusCode::SERVICE_UNAVAILABLE, Code::Overloaded),
            Self::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, Code::ShuttingDown),
            Self::TooSlow => (StatusCode::GATEWAY_TIMEOUT, Code::TooSlow),
            Self::Broken => (StatusCode::INTERNAL_SERVER_ERROR, Code::Internal),
        }
    }

    pub(crate) fn code(&self) -> Code {
        self.kind().1
    }

    /// For people.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::NotJson(why) => format!("the body is not JSON: {why}"),
            Self::BrokenOff => "the body ended before it was complete".to_string(),
            Self::WrongValues(problems) => match problems.as_slice() {
                [Problem { path, found, expected }, rest @ ..] => {
                    let more = match rest.len() {
                        0 => String::new(),
                        more => format!(", and {more} more"),
                    };
                    let place = if path.is_empty() { "the body" } else { &format!("`{path}`") };
                    format!("{place}: expected {expected}, found {found}{more}")
                }
                [] => "a value does not fit".to_string(),
            },
            Self::Table(message) => message.clone(),
            Self::Unauthorized => "expected the header `Authorization: Bearer TOKEN`".to_string(),
            Self::NoHost => "expected one header `Host` with the name of this service".to_string(),
            Self::WrongHost { found } => format!(
                "this service does not go by the name `{found}`, expected `localhost`, an IP address or a name given with `--host`"
            ),
            Self::Unknown(what) => format!("there is no {what}"),
            Self::WrongMethod => "expected another method: the header `Allow` says which".to_string(),
            Self::Stalled => "the body did not arrive in time".to_string(),
            Self::Dripping { expected } => {
                format!("the body came too slowly, expected at least {expected} bytes a second")
            }
            Self::WrongHead => "the head of the request is not HTTP/1.1".to_string(),
            Self::HeadTooLarge { limit, .. } => {
                format!("the head of the request has more than {limit} bytes or too many headers: send less")
            }
            Self::TooManyBytes { limit } => {
                format!(
                    "the body has more than {limit} bytes: send less at a time, or a stream to `/v1/recourse/batch`"
                )
            }
            Self::TooManyRows { found, limit } => format!(
                "there are {found} rows, expected at most {limit}: send less at a time, or a stream to `/v1/recourse/batch`"
            ),
            Self::TooManyWays { found, limit } => format!(
                "rows times `count` are {found}, expected at most {limit}: send less at a time, or a stream to `/v1/recourse/batch`"
            ),
            Self::WrongType { expected } => format!("expected the content type {}", expected.join(" or ")),
            Self::WrongEncoding => {
                "expected a body as it is: only CSV may be packed, and only by gzip".to_string()
            }
            Self::Overloaded => "more is asked than can be answered: ask again in a moment".to_string(),
            Self::ShuttingDown => "the service is being shut down".to_string(),
            Self::TooSlow => "the answer takes longer than is allowed".to_string(),
            Self::Broken => "something is wrong with the service".to_string(),
        }
    }

    /// The body of the response, with the id of the request.
    pub(crate) fn body(&self, request_id: &str) -> Vec<u8> {
        let problems = match self {
            Self::WrongValues(problems) => problems.as_slice(),
            _ => &[],
        };
        let body = RefusalBody { error: &self.message(), code: self.code(), problems, request_id };
        serde_json::to_vec(&body).expect("a refusal has only text keys")
    }

    /// The response.
    pub(crate) fn response(&self, request_id: &str) -> Response {
        let mut response = (self.kind().0, self.body(request_id)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match self {
            Self::Overloaded | Self::ShuttingDown => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Self::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            // The rest of the body is not read.
            Self::Stalled | Self::Dripping { .. } | Self::TooManyBytes { .. } => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

/// The id of the request is known further out: `routes::observe` writes the response.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.kind().0.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
