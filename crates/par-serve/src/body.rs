//! Reads the body of a request, within limits of size and time.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use crate::models::ServedModel;
use crate::refusal::Refusal;
use crate::{Service, json};

/// Larger bodies are parsed a few at a time, since JSON takes up to thirty times its size in memory, and off the threads of
/// connections.
const LARGE: usize = 64 << 10;
/// Larger bodies count against the bytes of all bodies: single questions are smaller, and always read.
const SMALL: usize = 16 << 10;
/// The most bytes still read of a refused body, so that the client gets to read the refusal.
const DRAINED: usize = 4 << 20;
/// How long a refused body is still read.
const DRAINING: Duration = Duration::from_secs(1);

impl Service {
    /// Parses the body as JSON and reads it as a request for the model, of so many rows at most.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        model: &Arc<ServedModel>,
        headers: &HeaderMap,
        body: Body,
        read: fn(&ServedModel, &Value, usize) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        expect_type(headers, &["application/json"])?;
        expect_encoding(headers, &[])?;
        let deadline = Instant::now() + self.settings.patience;
        let (bytes, share) = self.bytes(headers, body, deadline).await?;
        let size = bytes.len();
        let (model, max_rows) = (Arc::clone(model), self.settings.max_rows);
        let read = move || read(&model, &json::read(&bytes)?, max_rows);
        if size <= LARGE {
            return read();
        }
        // Only now that the body is read: a slow sender holds no permit.
        let permit = timeout_at(deadline, Arc::clone(&self.large).acquire_owned()).await;
        let permit = permit.map_err(|_| Refusal::Overloaded)?.map_err(|_| Refusal::ShuttingDown)?;
        let reading = tokio::task::spawn_blocking(move || {
            let _held = (share, permit);
            read()
        });
        reading.await.map_err(|_| Refusal::Broken)?
    }

    /// The whole body, and its share of the bytes that all bodies may have together.
    async fn bytes(
        &self,
        headers: &HeaderMap,
        mut body: Body,
        deadline: Instant,
    ) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), Refusal> {
        let declared = body.size_hint();
        let limit = self.settings.max_body;
        if declared.lower() > limit as u64 {
            // A client that expects `100 Continue` has sent nothing yet.
            if !headers.contains_key(EXPECT) {
                drain(&mut body).await;
            }
            return Err(Refusal::TooManyBytes { limit });
        }
        let mut bytes = Vec::with_capacity(declared.lower().min(SMALL as u64) as usize);
        let mut share: Option<OwnedSemaphorePermit> = None;
        loop {
            match timeout_at(deadline, frame(&mut body)).await {
                Err(_) => return Err(Refusal::Stalled),
                Ok(None) => return Ok((bytes, share)),
                Ok(Some(Err(_))) => return Err(Refusal::BrokenOff),
                Ok(Some(Ok(more))) if bytes.len() + more.len() > limit => {
                    drain(&mut body).await;
                    return Err(Refusal::TooManyBytes { limit });
                }
                Ok(Some(Ok(more))) => {
                    bytes.extend_from_slice(&more);
                    let held = share.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
                    let wanted = if bytes.len() > SMALL { (bytes.len() - held) as u32 } else { 0 };
                    if wanted == 0 {
                        continue;
                    }
                    let Ok(permits) = Arc::clone(&self.body_bytes).try_acquire_many_owned(wanted) else {
                        drop((bytes, share));
                        drain(&mut body).await;
                        return Err(Refusal::Overloaded);
                    };
                    match &mut share {
                        Some(share) => share.merge(permits),
                        None => share = Some(permits),
                    }
                }
            }
        }
    }
}

/// The next bytes.
pub(crate) async fn frame(body: &mut Body) -> Option<Result<Bytes, axum::Error>> {
    loop {
        // Trailers are ignored.
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
    // The timeout is expected.
    let _ = timeout(DRAINING, draining).await;
}

/// The content type of the body, if it is expected. Any website may send a body without a type or with that of a form, so those
/// are refused.
pub(crate) fn expect_type(
    headers: &HeaderMap,
    expected: &'static [&'static str],
) -> Result<&'static str, Refusal> {
    let found = headers.get(CONTENT_TYPE).and_then(|found| found.to_str().ok()).unwrap_or_default();
    let found = found.split(';').next().unwrap_or_default().trim();
    let same = expected.iter().copied().find(|expected| expected.eq_ignore_ascii_case(found));
    same.ok_or(Refusal::WrongType { expected })
}

/// Refuses bodies with other content encodings than those `known`.
pub(crate) fn expect_encoding(headers: &HeaderMap, known: &[&str]) -> Result<(), Refusal> {
    let mut encodings =
        headers.get_all(CONTENT_ENCODING).iter().map(|found| found.to_str().unwrap_or("?").trim());
    let is_known = |found: &str| {
        found.eq_ignore_ascii_case("identity") || known.iter().any(|known| known.eq_ignore_ascii_case(found))
    };
    // Two encodings are not supported either.
    match (encodings.next(), encodings.next()) {
        (None, _) => Ok(()),
        (Some(found), None) if is_known(found) => Ok(()),
        _ => Err(Refusal::WrongEncoding),
    }
}
