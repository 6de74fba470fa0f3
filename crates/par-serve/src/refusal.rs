//! Why a request is not answered: one table from reasons to statuses, one shape for all of them.

use std::borrow::Cow;

use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// A value that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    /// Where it stands in the request, as a JSON pointer; `?name` for a parameter.
    pub(crate) path: String,
    /// What stands there.
    pub(crate) found: String,
    /// What could.
    pub(crate) expected: String,
}

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Nothing that JSON could be; where and why.
    NotJson(String),
    /// Values that do not fit.
    WrongValues(Vec<Problem>),
    /// A table that cannot be read.
    Table(String),
    Unauthorized,
    /// The host that is asked for is missing, there twice or none.
    NoHost,
    /// The request is for another host.
    WrongHost {
        found: String,
    },
    /// There is nothing of that name; what was looked for.
    Unknown(Cow<'static, str>),
    WrongMethod,
    /// The body did not arrive in time.
    Stalled,
    /// The body came too slowly.
    Dripping {
        /// Bytes a second that are expected.
        expected: usize,
    },
    /// The head of the request is no HTTP.
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
    /// Each row may have as many ways as are asked for.
    TooManyWays {
        found: usize,
        limit: usize,
    },
    WrongType {
        expected: &'static [&'static str],
    },
    /// The body is packed in a way that is not known.
    WrongEncoding,
    Overloaded,
    ShuttingDown,
    TooSlow,
    /// Our own mistake.
    Broken,
}

/// What is sent.
#[derive(Serialize)]
struct Told<'a> {
    error: &'a str,
    code: &'static str,
    problems: &'a [Problem],
    request_id: &'a str,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotJson(_) | Self::BrokenOff | Self::NoHost | Self::WrongHead => StatusCode::BAD_REQUEST,
            Self::WrongValues(_) | Self::Table(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::WrongHost { .. } => StatusCode::MISDIRECTED_REQUEST,
            Self::Unknown(_) => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::Stalled | Self::Dripping { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::HeadTooLarge { status, .. } => *status,
            Self::TooManyBytes { .. } | Self::TooManyRows { .. } | Self::TooManyWays { .. } => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            Self::WrongType { .. } | Self::WrongEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Overloaded | Self::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooSlow => StatusCode::GATEWAY_TIMEOUT,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::NotJson(_) => "not_json",
            Self::BrokenOff => "broken_off",
            Self::WrongValues(_) => "wrong_value",
            Self::Table(_) => "wrong_table",
            Self::Unauthorized => "unauthorized",
            Self::NoHost => "no_host",
            Self::WrongHost { .. } => "wrong_host",
            Self::Unknown(_) => "unknown",
            Self::WrongMethod => "wrong_method",
            Self::Stalled | Self::Dripping { .. } => "stalled",
            Self::WrongHead => "wrong_head",
            Self::HeadTooLarge { .. } => "head_too_large",
            Self::TooManyBytes { .. } => "too_many_bytes",
            Self::TooManyRows { .. } => "too_many_rows",
            Self::TooManyWays { .. } => "too_many_ways",
            Self::WrongType { .. } => "wrong_type",
            Self::WrongEncoding => "wrong_encoding",
            Self::Overloaded => "overloaded",
            Self::ShuttingDown => "shutting_down",
            Self::TooSlow => "too_slow",
            Self::Broken => "internal",
        }
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

    /// What is said, which names the request.
    pub(crate) fn body(&self, request_id: &str) -> Vec<u8> {
        let problems = match self {
            Self::WrongValues(problems) => problems.as_slice(),
            _ => &[],
        };
        let told = Told { error: &self.message(), code: self.code(), problems, request_id };
        serde_json::to_vec(&told).expect("texts alone")
    }

    /// The response.
    pub(crate) fn response(&self, request_id: &str) -> Response {
        let mut response = (self.status(), self.body(request_id)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match self {
            Self::Overloaded | Self::ShuttingDown => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Self::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            // The rest of the body is not worth reading.
            Self::Stalled | Self::Dripping { .. } | Self::TooManyBytes { .. } => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

/// The request's name is known further out, so that is where the refusal is written down.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}
