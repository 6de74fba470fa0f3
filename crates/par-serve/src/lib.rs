//! Recourse over HTTP, and a page to explore it on: one process that needs nothing but model files.
//!
//! | step | module         | what it does with a request                                          |
//! |------|----------------|----------------------------------------------------------------------|
//! | 1    | `server`       | accepts connections, within limits; shuts down without dropping any  |
//! | 2    | `routes`       | checks host and token, finds the endpoint, counts, logs              |
//! | 3    | `endpoints`    | the one table of paths, parameters, bodies, errors and handlers      |
//! | 4    | `models`       | the model, as it is in its file now                                  |
//! | 5    | `body`         | reads the body, within limits of size and time                       |
//! | 6    | `question`     | from JSON to rows and options, with the place of every problem       |
//! | 7    | `workers`      | queues the work for threads with solvers                             |
//! | 8    | `answers`      | from rows to answers as JSON                                         |
//! | 9    | `refusal`      | or why there is none: one table of statuses and codes                |
//!
//! Other endpoints: `stream` answers tables of any length while they come in (`incoming`), `kserve` has KServe's protocols,
//! `about` describes a model, `health` and `metrics` the service, `page` has the files of the page. From the table of
//! endpoints, with `api_docs` and `json_schema`, come `openapi` for programs and `api_page` for people.
//! Below HTTP: `connection_permit` keeps connections for health, `write_timeout` and `wire` notice clients that do not read or
//! have left. Nothing about a person is logged or kept.
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

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model cannot be read.
    #[error("{}: {source}", path.display())]
    Model {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: Box<par_model::ModelError>,
    },
    /// Two models have one name.
    #[error("two models are called `{name}`\nhint: name them: NAME=FILE")]
    SameName {
        /// The name.
        name: String,
    },
    /// The name of a model cannot be part of an address.
    #[error(
        "`{name}` cannot be the name of a model, expected letters, digits, `-`, `_` and `.`\nhint: name it: NAME=FILE"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// An origin is malformed.
    #[error("`{found}` is no origin, expected for instance `https://example.org`")]
    BadOrigin {
        /// What was given.
        found: String,
    },
    /// A name of the service is malformed.
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
    /// Threads or signals are not available.
    #[error("cannot start: {0}")]
    Start(#[from] std::io::Error),
}

/// What all requests share.
struct Service {
    settings: Settings,
    models: models::Models,
    workers: workers::Workers,
    metrics: metrics::Metrics,
    /// Permits for requests that are answered or wait.
    admission: Semaphore,
    /// Permits to parse large bodies.
    large: Arc<Semaphore>,
    /// Permits for bytes of bodies in memory.
    body_bytes: Arc<Semaphore>,
    /// Permits for streams.
    streams: Arc<Semaphore>,
    connections: AtomicUsize,
    /// Questions that are being read or answered.
    in_flight: AtomicUsize,
    /// Whether the service is shutting down.
    ending: AtomicBool,
}
