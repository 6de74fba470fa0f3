//! Recourse over HTTP, and a page to explore it on: one process, from the bundle alone.
//!
//! | step | module         | what it does with a request                                          |
//! |------|----------------|----------------------------------------------------------------------|
//! | 1    | `server`       | takes connections, few enough and not for ever; ends without dropping |
//! | 2    | `routes`       | names the request, asks for host and token, counts, logs, finds who answers |
//! | 3    | `body`         | reads as much as is allowed, as long as it keeps coming              |
//! | 4    | `question`     | from JSON to rows, with the place of everything wrong                |
//! | 5    | `models`       | which model, as it is in its file now                                |
//! | 6    | `workers`      | threads that answer, and who comes first                             |
//! | 7    | `answers`      | what people are told                                                 |
//! | 8    | `refusal`      | or why they are not: one table of statuses                           |
//!
//! `seat` keeps connections for health, `wire` is below HTTP. `stream` does the same for tables of any length as they come in (`incoming`), `kserve` in the shape of KServe's protocols;
//! `about` says what a model knows, `guide` what can be asked, as `openapi` to programs and as `api_page` to people; `page` is the
//! page. Nothing about a person is logged or kept.
//!
//! ```no_run
//! use par_serve::{Server, Settings};
//!
//! let models = [("german".to_string(), "german.par".into())];
//! let server = Server::bind("127.0.0.1:8080", &models, Settings::default())?;
//! println!("listening on http://{}", server.address());
//! server.run()?;
//! # Ok::<(), par_serve::Error>(())
//! ```

mod about;
mod answers;
mod api_docs;
mod api_page;
mod body;
mod connection_permit;
mod endpoints;
mod health;
mod host;
mod incoming;
mod json;
mod json_schema;
mod kserve;
mod logs;
mod metrics;
mod models;
mod openapi;
mod page;
mod parameters;
mod question;
mod refusal;
mod routes;
mod server;
mod settings;
mod stream;
#[cfg(test)]
mod test_model;
mod wire;
mod workers;
mod write_timeout;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use tokio::sync::Semaphore;

pub use logs::Logs;
pub use server::{Handle, Server};
pub use settings::Settings;

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model cannot be read.
    #[error("{}: {source}", path.display())]
    Model {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: Box<par_recourse::BundleError>,
    },
    /// Two models have one name.
    #[error("two models are called `{name}`\nhint: name them: NAME=FILE")]
    SameName {
        /// The name.
        name: String,
    },
    /// A model is called what cannot stand in an address.
    #[error(
        "`{name}` cannot be the name of a model, expected letters, digits, `-`, `_` and `.`\nhint: name it: NAME=FILE"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// An origin is none.
    #[error("`{found}` is no origin, expected for instance `https://example.org`")]
    BadOrigin {
        /// What was given.
        found: String,
    },
    /// A name of the service is none.
    #[error(
        "`{found}` cannot be the name of a host, expected for instance `par.example.org`, or `*` for any"
    )]
    BadHost {
        /// What was given.
        found: String,
    },
    /// The address cannot be listened on.
    #[error(
        "cannot listen on {address}: {source}\nhint: expected an address and a port that is free, for instance 127.0.0.1:8080"
    )]
    Listen {
        /// The address.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// Threads or signals are not to be had.
    #[error("cannot start: {0}")]
    Start(#[from] std::io::Error),
}

/// What all requests share.
struct Service {
    settings: Settings,
    models: models::Models,
    workers: workers::Workers,
    metrics: metrics::Metrics,
    /// Requests that may still come in.
    admission: Semaphore,
    /// Large bodies that may still be parsed.
    large: Arc<Semaphore>,
    /// Bytes of bodies that may still be read.
    body_bytes: Arc<Semaphore>,
    /// Streams that may still begin.
    streams: Arc<Semaphore>,
    connections: AtomicUsize,
    /// Questions that are being read or answered.
    in_flight: AtomicUsize,
    /// Whether the service is asked to end.
    ending: AtomicBool,
}
