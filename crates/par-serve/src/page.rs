//! The page: a few files, which are part of the program.

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::response::{IntoResponse, Response};

use crate::refusal::Refusal;
use crate::routes::Name;

/// Nothing from elsewhere, nothing to elsewhere, no script but ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Name, type and contents.
const FILES: &[(&str, &str, &str)] = &[("index.html", HTML, include_str!("../page/index.html"))];

const HTML: &str = "text/html; charset=utf-8";

/// `GET /`
pub(crate) async fn index() -> Result<Response, Refusal> {
    told("index.html")
}

/// `GET /page/{file}`
pub(crate) async fn file(Path(name): Name) -> Result<Response, Refusal> {
    told(&name)
}

fn told(name: &str) -> Result<Response, Refusal> {
    let file = FILES.iter().find(|(file, ..)| *file == name);
    let (_, kind, text) = file.ok_or_else(|| Refusal::Unknown("such file".into()))?;
    let headers = [
        (CONTENT_TYPE, *kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        // Another version of the program has other files.
        (CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, *text).into_response())
}
