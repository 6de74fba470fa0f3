//! What the service allows, and to whom.

use std::time::Duration;

use crate::Logs;

/// How much is allowed at once, and to whom. Whatever goes beyond is refused with a status of its own.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads that answer; as many as cores unless told.
    pub threads: usize,
    /// Bytes in the body of a request that is not a stream; 1 MiB unless told. More are refused with 413.
    pub max_body: usize,
    /// Bytes of all such bodies together that are being read or parsed, small ones (16 KiB) aside; 64 MiB unless told. More
    /// are refused with 503.
    pub max_bodies: usize,
    /// Rows in one such request times ways for each; 1,000 unless told. More are refused with 413.
    pub max_rows: usize,
    /// Requests that are being answered or wait for it; 256 unless told. More are refused with 503, a moment later.
    pub max_requests: usize,
    /// Streams at a time; 8 unless told. More are refused with 503.
    pub max_streams: usize,
    /// Bytes that a stream has to send in a second while more is waited for, over as long as `patience`; 100 unless told. Slower
    /// ones end with 408.
    pub min_rate: usize,
    /// Connections at a time; 1,024 unless told, or fewer where fewer files may be open. A few more are answered about health
    /// alone, and otherwise refused with 503.
    pub max_connections: usize,
    /// How long an answer may take, 10 seconds unless told: a search that is not done by then ends with what it has,
    /// and who has not had their turn by then is refused with 504.
    pub time: Duration,
    /// How long the rest of a request may be waited for, and example_row to read a response; 30 seconds unless told. A body
    /// that does not arrive is refused with 408.
    pub patience: Duration,
    /// How long connections are still taken when the service is asked to end, to be told so with 503; 1 second unless told, or
    /// until it is asked again.
    pub leave: Duration,
    /// How long requests that are under way may take to end when the service is asked to; 30 seconds unless told.
    pub grace: Duration,
    /// How often the files of the models are looked at; every second unless told.
    pub look: Duration,
    /// The bearer token that is asked for, if any is. The page itself and health need none.
    pub token: Option<String>,
    /// Origins whose pages may ask; none unless told.
    pub origins: Vec<String>,
    /// Names that the service goes by, beside `localhost`, IP addresses and the name it listens on; `*` is any. Requests for
    /// others are refused with 421.
    pub hosts: Vec<String>,
    /// Where the log goes, if lines that it drops are to be counted in the metrics.
    pub logs: Option<Logs>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            max_body: 1 << 20,
            max_bodies: 64 << 20,
            max_rows: 1_000,
            max_requests: 256,
            max_streams: 8,
            min_rate: 100,
            max_connections: 1_024,
            time: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            leave: Duration::from_secs(1),
            grace: Duration::from_secs(30),
            look: Duration::from_secs(1),
            token: None,
            origins: Vec::new(),
            hosts: Vec::new(),
            logs: None,
        }
    }
}
