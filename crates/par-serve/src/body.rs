//! The body of a request: as much as is allowed, as long as it keeps coming.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use serde_json::Value;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use crate::refusal::Refusal;
use crate::{Service, json};

/// A larger body is read as JSON as one of a few at a time: that takes up to thirty times its size in memory.
const LARGE: usize = 64 << 10;
/// What is still read of a body that is refused, so that the client comes to read why.
const DRAINED: usize = 4 << 20;
/// For how long.
const DRAINING: Duration = Duration::from_secs(1);

/// A body that was read, and its share of the memory, which others wait for: it is not for keeping.
pub(crate) struct Json<'s> {
    pub(crate) value: Value,
    _share: Option<SemaphorePermit<'s>>,
}

impl Service {
    /// The body as JSON.
    pub(crate) async fn json(&self, headers: &HeaderMap, mut body: Body) -> Result<Json<'_>, Refusal> {
        expect_type(headers, &["application/json"])?;
        expect_encoding(headers, &[])?;
        let deadline = Instant::now() + self.settings.patience;
        let declared = body.size_hint();
        let limit = self.settings.max_body;
        if declared.lower() > limit as u64 {
            // Whoever asks beforehand has sent nothing yet.
            if !headers.contains_key(EXPECT) {
                drain(&mut body).await;
            }
            return Err(Refusal::TooManyBytes { limit });
        }
        let mut bytes = Vec::with_capacity(declared.lower().min(LARGE as u64) as usize);
        loop {
            match timeout_at(deadline, frame(&mut body)).await {
                Err(_) => return Err(Refusal::Stalled),
                Ok(None) => break,
                Ok(Some(Err(_))) => return Err(Refusal::BrokenOff),
                Ok(Some(Ok(more))) if bytes.len() + more.len() > limit => {
                    drain(&mut body).await;
                    return Err(Refusal::TooManyBytes { limit });
                }
                Ok(Some(Ok(more))) => bytes.extend_from_slice(&more),
            }
        }
        // Only now, so that nobody has a share who is slow to send.
        let mut share = None;
        if bytes.len() > LARGE {
            let permit = timeout_at(deadline, self.large.acquire()).await;
            share = Some(permit.map_err(|_| Refusal::Overloaded)?.map_err(|_| Refusal::ShuttingDown)?);
        }
        Ok(Json { value: json::read(&bytes)?, _share: share })
    }
}

/// The next bytes.
pub(crate) async fn frame(body: &mut Body) -> Option<Result<Bytes, axum::Error>> {
    loop {
        // Trailers tell nothing that is asked for.
        match body.frame().await?.map(Frame::into_data) {
            Ok(Ok(bytes)) => return Some(Ok(bytes)),
            Ok(Err(_)) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}

async fn drain(body: &mut Body) {
    let mut drained = 0;
    let draining = async {
        while let Some(Ok(bytes)) = frame(body).await {
            drained += bytes.len();
            if drained > DRAINED {
                break;
            }
        }
    };
    // However much has come by then.
    let _ = timeout(DRAINING, draining).await;
}

/// Which of the expected types the body is of, the first where it says nothing.
pub(crate) fn expect_type(
    headers: &HeaderMap,
    expected: &'static [&'static str],
) -> Result<&'static str, Refusal> {
    let Some(found) = headers.get(CONTENT_TYPE) else { return Ok(expected[0]) };
    let found = found.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let same = expected.iter().copied().find(|expected| expected.eq_ignore_ascii_case(found));
    same.ok_or(Refusal::WrongType { expected })
}

/// That the body is not packed, but in one of these ways.
pub(crate) fn expect_encoding(headers: &HeaderMap, known: &[&str]) -> Result<(), Refusal> {
    let mut packed =
        headers.get_all(CONTENT_ENCODING).iter().map(|found| found.to_str().unwrap_or("?").trim());
    let is_known = |found: &str| {
        found.eq_ignore_ascii_case("identity") || known.iter().any(|known| known.eq_ignore_ascii_case(found))
    };
    // Packed twice is not known either.
    match (packed.next(), packed.next()) {
        (None, _) => Ok(()),
        (Some(found), None) if is_known(found) => Ok(()),
        _ => Err(Refusal::WrongEncoding),
    }
}
