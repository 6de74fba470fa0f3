//! The bytes of a connection, below HTTP: tells when the client has left, and puts what the HTTP library refuses by itself
//! into the shape of all refusals.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

/// How often a client who has sent more than is read yet is looked after.
const LOOK: Duration = Duration::from_millis(100);
/// For so long example_row who has closed their side may still be told what is about to be said.
const LEAVING: Duration = Duration::from_millis(200);

/// Says what a head that cannot be read is answered by: the status in, headers that are added and the body out.
pub(crate) trait Refuse: Send + Sync {
    fn refuse(&self, status: u16) -> (String, Vec<u8>);
}

/// A connection.
pub(crate) struct Wire {
    reading: Arc<OwnedReadHalf>,
    writing: OwnedWriteHalf,
    refuse: Arc<dyn Refuse>,
    /// What is sent in place of the library's own refusal, and how much of it is sent.
    refusal: Option<(Vec<u8>, usize)>,
}

/// Who is at the other end.
pub(crate) struct Peer(Arc<OwnedReadHalf>);

impl Peer {
    /// Waits until the client has left, or will send nothing more, which counts as the same: HTTP does not tell them apart.
    pub(crate) async fn left(self) {
        // An error means that the connection is broken.
        while self.0.ready(Interest::READABLE).await.is_ok_and(|ready| !ready.is_read_closed()) {
            sleep(LOOK).await;
        }
        sleep(LEAVING).await;
    }
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, refuse: Arc<dyn Refuse>) -> (Self, Peer) {
        let (reading, writing) = stream.into_split();
        let reading = Arc::new(reading);
        let peer = Peer(Arc::clone(&reading));
        (Self { reading, writing, refuse, refusal: None }, peer)
    }

    /// Sends our refusal in place of the library's, of so many bytes.
    fn poll_refusal(&mut self, context: &mut Context<'_>, replaced: usize) -> Poll<io::Result<usize>> {
        while let Some((bytes, sent)) = &mut self.refusal
            && *sent < bytes.len()
        {
            let more = ready!(Pin::new(&mut self.writing).poll_write(context, &bytes[*sent..]))?;
            if more == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            *sent += more;
        }
        Poll::Ready(Ok(replaced))
    }

    /// Whether these bytes are a refusal of the library, which is then replaced. It is the last that is sent.
    fn is_replaced(&mut self, bytes: &[u8]) -> bool {
        if self.refusal.is_none()
            && let Some((status, head)) = refused_by_library(bytes)
        {
            let (headers, body) = self.refuse.refuse(status);
            let head = head.replace(NO_BODY, &format!("{headers}content-length: {}\r\n", body.len()));
            self.refusal = Some(([head.as_bytes(), &body].concat(), 0));
        }
        self.refusal.is_some()
    }
}

/// What a response without a body has, and one of ours never: they all have a body.
const NO_BODY: &str = "content-length: 0\r\n";

/// The status and the head of a refusal that the HTTP library made by itself. Ours all name the request.
fn refused_by_library(bytes: &[u8]) -> Option<(u16, &str)> {
    let head = bytes.strip_prefix(b"HTTP/1.1 4").and_then(|_| std::str::from_utf8(bytes).ok())?;
    let is_whole = head.find("\r\n\r\n") == Some(head.len() - 4);
    let is_library_s = is_whole && head.contains(NO_BODY) && !head.contains("x-request-id");
    let status = head.get(9..12)?.parse().ok()?;
    is_library_s.then_some((status, head))
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream: &TcpStream = self.reading.as_ref().as_ref();
        loop {
            ready!(stream.poll_read_ready(context))?;
            match stream.try_read(buffer.initialize_unfilled()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(|bytes| buffer.advance(bytes))),
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_replaced(bytes) {
            return self.poll_refusal(context, bytes.len());
        }
        Pin::new(&mut self.writing).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [head] = bytes
            && self.is_replaced(head)
        {
            return self.poll_refusal(context, head.len());
        }
        Pin::new(&mut self.writing).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.writing.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writing).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writing).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_library_refuses_is_replaced() {
        let own = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        assert_eq!(refused_by_library(own.as_bytes()), Some((400, own)));
        for other in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_string(),
            "HTTP/1.1 400 Bad Request\r\nx-request-id: a\r\ncontent-length: 0\r\n\r\n".to_string(),
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}".to_string(),
            format!("{own}more"),
            format!("{own}\r\n\r\n"),
            own[..own.len() - 2].to_string(),
            String::new(),
        ] {
            assert_eq!(refused_by_library(other.as_bytes()), None, "{other}");
        }
    }
}
