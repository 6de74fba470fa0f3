//! The bytes of a connection, below HTTP: notices when the client leaves, and replaces the responses that hyper makes by itself
//! with refusals of ours.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

/// How often to check whether the client has left while unread bytes hide it.
const LOOK: Duration = Duration::from_millis(100);
/// How long a client that has closed its side may still read a response.
const LEAVING: Duration = Duration::from_millis(200);

/// Makes the response to a head that cannot be read: additional headers and the body, from a status.
pub(crate) trait Refuse: Send + Sync {
    fn refuse(&self, status: u16) -> (String, Vec<u8>);
}

/// A connection.
pub(crate) struct Wire {
    reading: Arc<OwnedReadHalf>,
    writing: OwnedWriteHalf,
    refuse: Arc<dyn Refuse>,
    /// What is sent in place of hyper's response, and how much of it has been sent.
    refusal: Option<(Vec<u8>, usize)>,
}

/// The client at the other end.
pub(crate) struct Peer(Arc<OwnedReadHalf>);

impl Peer {
    /// Waits until the client has closed the connection, or its side of it: the two cannot be told apart.
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

    /// Sends our refusal in place of the `replaced` bytes of hyper.
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

    /// Whether these bytes are a response of hyper, which is then replaced. It is the last on a connection.
    fn is_replaced(&mut self, bytes: &[u8]) -> bool {
        if self.refusal.is_none()
            && let Some((status, head)) = refused_by_hyper(bytes)
        {
            let (headers, body) = self.refuse.refuse(status);
            let head = head.replace(NO_BODY, &format!("{headers}content-length: {}\r\n", body.len()));
            self.refusal = Some(([head.as_bytes(), &body].concat(), 0));
        }
        self.refusal.is_some()
    }
}

/// In every response of hyper, and in none of ours: they all have a body.
const NO_BODY: &str = "content-length: 0\r\n";

/// The status and the head of a response that hyper made by itself. Ours all have an id of the request.
fn refused_by_hyper(bytes: &[u8]) -> Option<(u16, &str)> {
    let head = bytes.strip_prefix(b"HTTP/1.1 4").and_then(|_| std::str::from_utf8(bytes).ok())?;
    let is_whole = head.find("\r\n\r\n") == Some(head.len() - 4);
    let is_from_hyper = is_whole && head.contains(NO_BODY) && !head.contains("x-request-id");
    let status = head.get(9..12)?.parse().ok()?;
    is_from_hyper.then_some((status, head))
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
    fn only_responses_of_hyper_are_replaced() {
        let own = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        assert_eq!(refused_by_hyper(own.as_bytes()), Some((400, own)));
        for other in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_string(),
            "HTTP/1.1 400 Bad Request\r\nx-request-id: a\r\ncontent-length: 0\r\n\r\n".to_string(),
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}".to_string(),
            format!("{own}more"),
            format!("{own}\r\n\r\n"),
            own[..own.len() - 2].to_string(),
            String::new(),
        ] {
            assert_eq!(refused_by_hyper(other.as_bytes()), None, "{other}");
        }
    }
}
