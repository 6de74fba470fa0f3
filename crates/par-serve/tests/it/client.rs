//! A client that can send any bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// No test waits longer for a byte.
const LONGEST: Duration = Duration::from_secs(60);

/// A connection.
pub(crate) struct Client {
    stream: TcpStream,
    /// Bytes that were received and not read yet.
    received: Vec<u8>,
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the service listens");
        stream.set_nodelay(true).expect("a connection");
        let client = Self { stream, received: Vec::new() };
        client.waits(LONGEST);
        client
    }

    /// Sets how long to wait for a byte.
    pub(crate) fn waits(&self, time: Duration) {
        self.stream.set_read_timeout(Some(time)).expect("a time above zero");
        self.stream.set_write_timeout(Some(time)).expect("a time above zero");
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.try_send(bytes).expect("the service takes it");
        self
    }

    /// As [`Self::send`], to a service that may have closed the connection.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    /// Sends a chunk of a chunked body.
    pub(crate) fn send_chunk(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        let bytes = bytes.as_ref();
        self.try_send([format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat())
    }

    /// Closes its side of the connection.
    pub(crate) fn ends(&mut self) -> &mut Self {
        self.stream.shutdown(Shutdown::Write).expect("an open connection");
        self
    }

    /// The next response.
    pub(crate) fn response(&mut self) -> Response {
        let mut response = self.head().expect("a response");
        response.body = match response.header("content-length") {
            Some(length) => self.take(length.parse().expect("a number")).expect("a whole body"),
            None if response.header("transfer-encoding") == Some("chunked") => self.rest_of_chunks(),
            None => Vec::new(),
        };
        response
    }

    /// The next response up to its body; `None` if the connection was closed instead.
    pub(crate) fn head(&mut self) -> Option<Response> {
        let end = loop {
            match self.received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                Some(end) => break end,
                None => self.receive()?,
            }
        };
        let head = self.take(end + 4)?;
        let head = String::from_utf8(head).expect("a head in ASCII");
        let mut lines = head.trim_end().lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status");
        let header = |line: &str| {
            let (name, value) = line.split_once(':').expect("a header");
            (name.to_ascii_lowercase(), value.trim().to_string())
        };
        Some(Response {
            status: status.parse().expect("a number"),
            headers: lines.map(header).collect(),
            body: Vec::new(),
        })
    }

    /// The next chunk of a chunked body; `None` at its end, or if the connection was closed before.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        let end = loop {
            match self.received.windows(2).position(|bytes| bytes == b"\r\n") {
                Some(end) => break end,
                None => self.receive()?,
            }
        };
        let length = self.take(end + 2)?;
        let length = std::str::from_utf8(&length).expect("a length").trim();
        let length = usize::from_str_radix(length, 16).expect("a length");
        let mut chunk = self.take(length + 2)?;
        chunk.truncate(length);
        (length > 0).then_some(chunk)
    }

    /// All chunks to the end.
    pub(crate) fn rest_of_chunks(&mut self) -> Vec<u8> {
        std::iter::from_fn(|| self.chunk()).flatten().collect()
    }

    /// Whether the service has closed the connection, once everything it sent is read.
    pub(crate) fn is_closed(&mut self) -> bool {
        while self.receive().is_some() {}
        true
    }

    /// That many bytes; `None` if the connection is closed before.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        while self.received.len() < bytes {
            self.receive()?;
        }
        Some(self.received.drain(..bytes).collect())
    }

    /// Receives more bytes; `None` if the connection is closed.
    fn receive(&mut self) -> Option<()> {
        let mut buffer = [0; 1 << 16];
        match self.stream.read(&mut buffer) {
            Ok(0) => None,
            Ok(bytes) => {
                self.received.extend_from_slice(&buffer[..bytes]);
                Some(())
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("nothing comes, and the connection stays open: {error}"),
        }
    }

    /// Whether nothing comes for a moment, and the connection stays open.
    pub(crate) fn hears_nothing(&mut self, time: Duration) -> bool {
        self.waits(time);
        let read = self.stream.peek(&mut [0]);
        self.waits(LONGEST);
        read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    }
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().expect("a code").to_string()
    }
}

/// A request with a body of a known length.
pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{method} {path} HTTP/1.1\r\n{}", written(path, headers));
    if !body.is_empty() || method == "POST" {
        bytes += &format!("Content-Length: {}\r\n", body.len());
    }
    [bytes.as_bytes(), b"\r\n", body].concat()
}

/// The head of a request with a chunked body.
pub(crate) fn chunked(path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let headers = written(path, headers);
    format!("POST {path} HTTP/1.1\r\n{headers}Transfer-Encoding: chunked\r\n\r\n").into_bytes()
}

/// The headers as they are sent, with a host and the type of body that the address takes, unless they are among them.
fn written(path: &str, headers: &[(&str, &str)]) -> String {
    let kind = if path.contains("/batch") { "application/x-ndjson" } else { "application/json" };
    let is_given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    let usual = [("Host", "localhost"), ("Content-Type", kind)];
    let usual = usual.iter().filter(|(name, _)| !is_given(name));
    usual.chain(headers).map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}
