//! The limits of the service, and who may use it.

use std::time::Duration;

use crate::Logs;

/// The limits of the service, and who may use it. Each limit has its own status for requests beyond it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads that answer; by default as many as cores.
    pub threads: usize,
    /// The most bytes of a body that is not a stream; 1 MiB by default. More are refused with 413.
    pub max_body: usize,
    /// The most bytes of all such bodies in memory, without small ones (16 KiB); 64 MiB by default. More are refused with
    /// 503.
    pub max_bodies: usize,
    /// The most rows of such a request, times ways of each; 1,000 by default. More are refused with 413.
    pub max_rows: usize,
    /// The most requests that are answered or wait; 256 by default. More are refused with 503, after a tenth of a second.
    pub max_requests: usize,
    /// The most streams at a time; 8 by default. More are refused with 503.
    pub max_streams: usize,
    /// The lowest rate at which a stream has to send, in bytes per second over `patience`; 100 by default. Slower ones end with
    /// 408.
    pub min_rate: usize,
    /// The most connections at a time; 1,024 by default, or fewer if fewer files may be open. A few more are accepted, which
    /// get answers about health and otherwise 503.
    pub max_connections: usize,
    /// How long an answer may take; 10 seconds by default. A search then ends with what it has found; a request that no thread
    /// has begun is refused with 504.
    pub time: Duration,
    /// How long to wait for the rest of a request, or for the client to read a response; 30 seconds by default. A body that
    /// does not arrive is refused with 408.
    pub patience: Duration,
    /// How long a service that is shutting down still accepts connections, to answer 503; 1 second by default, or until it is
    /// shut down a second time.
    pub drain_time: Duration,
    /// How long a service that is shutting down waits for requests in flight; 30 seconds by default.
    pub shutdown_timeout: Duration,
    /// How often to check whether the files of the models have changed; every second by default.
    pub reload_interval: Duration,
    /// The bearer token that requests need, if any. The page itself and health need none.
    pub token: Option<String>,
    /// Origins whose pages may send requests (CORS); none by default.
    pub origins: Vec<String>,
    /// Names of the service, beside `localhost`, IP addresses and the name it listens on; `*` is any. Requests for other names
    /// are refused with 421.
    pub hosts: Vec<String>,
    /// The log whose dropped lines the metrics count, if any.
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
            drain_time: Duration::from_secs(1),
            shutdown_timeout: Duration::from_secs(30),
            reload_interval: Duration::from_secs(1),
            token: None,
            origins: Vec::new(),
            hosts: Vec::new(),
            logs: None,
        }
    }
}
