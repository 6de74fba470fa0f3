//! `par serve`: answers over HTTP, and the page.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use par_serve::{Logs, Server, Settings};

use crate::model_file;

const EXAMPLES: &str = "\
Examples:
  par serve people.par                              then open http://127.0.0.1:8080
  par serve people.par --listen 0.0.0.0:8080 --token-file token.txt
  par serve loans=loans.par cards=cards.par         two models; without ?model=NAME the first is meant

The running service documents its endpoints at /api. Logs are lines of JSON on standard error, without anything
about people; lines that cannot be written, or wait too long to be read, are dropped and counted.
Model files are read again when they change, and at SIGHUP; if one cannot be read, its previous version goes on
answering. SIGTERM and Ctrl-C end the service once the requests under way are answered. For TLS, put a proxy in
front of it.";

/// How long to wait at the end for the last log lines to be written.
const LOGS_PATIENCE: Duration = Duration::from_secs(1);

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Made by `par fit`; NAME is the file's name by default
    #[arg(required = true, value_name = "[NAME=]MODEL")]
    models: Vec<NamedModel>,
    /// Address and port; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
    /// File with the token that clients must send (Authorization: Bearer TOKEN)
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Origin whose pages may send requests: scheme and host, as in `https://example.org`
    #[arg(long = "cors", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Further host name of the service, beside localhost, IP addresses and the name it listens on; `*` is any. Requests
    /// for other hosts are refused with 421
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Threads that answer [default: as many as cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<usize>,
    /// Bytes in a request that is not a stream, at most
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_body, value_parser = at_least_one)]
    max_body: usize,
    /// Bytes of all such requests together, at most; more are refused with 503
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_bodies, value_parser = at_least_one)]
    max_bodies: usize,
    /// Rows times ways for each in a request that is not a stream, at most
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_rows, value_parser = at_least_one)]
    max_rows: usize,
    /// Requests that are answered or wait, at most; more are refused with 503 after a moment
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_requests, value_parser = at_least_one)]
    max_requests: usize,
    /// Streams at a time, at most; more are refused with 503
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_streams, value_parser = at_least_one)]
    max_streams: usize,
    /// Bytes that a stream has to send in a second, at least; slower ones end with 408. 0: any rate
    #[arg(long, value_name = "N", default_value_t = Settings::default().min_rate)]
    min_rate: usize,
    /// Connections at a time, at most; on further ones only health checks are answered, the rest is refused with 503
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_connections, value_parser = at_least_one)]
    max_connections: usize,
    /// Seconds that an answer may take, or a row of a stream; searches that take longer end with what they have, and say so
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    time: Duration,
    /// Seconds that a client may let the service wait, for the rest of a request or to read a response
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds)]
    patience: Duration,
}

/// A model file and its name.
#[derive(Clone)]
struct NamedModel {
    name: String,
    file: PathBuf,
}

impl FromStr for NamedModel {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A path may have an equals sign in it.
        let named = text.split_once('=').filter(|(name, _)| !name.contains('/') && !Path::new(text).exists());
        let (name, file) = match named {
            Some((name, file)) => (name.to_string(), PathBuf::from(file)),
            None => {
                let file = PathBuf::from(text);
                let name = file.file_stem().ok_or("expected FILE or NAME=FILE")?;
                (name.to_string_lossy().into_owned(), file)
            }
        };
        Ok(Self { name, file })
    }
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= 86_400.0);
    seconds.map(Duration::from_secs_f64).ok_or("expected a number of seconds above 0, at most 86400")
}

impl Serve {
    pub(crate) fn run(self) -> Result<()> {
        let logs = Logs::new(io::stderr()).context("cannot start")?;
        let lines = logs.clone();
        tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || lines.clone()).init();
        // The message of a panic may contain a person's values, so only its place is logged.
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string);
            tracing::error!(place, "panic");
        }));
        let token = self.token_file.as_deref().map(token).transpose()?;
        let defaults = Settings::default();
        let settings = Settings {
            threads: self.threads.unwrap_or(defaults.threads),
            max_body: self.max_body,
            max_bodies: self.max_bodies,
            min_rate: self.min_rate,
            max_rows: self.max_rows,
            max_requests: self.max_requests,
            max_streams: self.max_streams,
            max_connections: self.max_connections,
            time: self.time,
            patience: self.patience,
            token,
            origins: self.origins,
            hosts: self.hosts,
            logs: Some(logs.clone()),
            ..defaults
        };
        let models: Vec<(String, PathBuf)> =
            self.models.into_iter().map(|model| (model.name, model.file)).collect();
        let server = Server::bind(self.listen.as_str(), &models, settings).map_err(|error| match error {
            par_serve::Error::Model { path, source } => model_file::unreadable(&path, *source),
            other => other.into(),
        })?;
        server.handle_signals()?;
        writeln!(io::stdout(), "listening on http://{}", server.address())?;
        let ended = server.run();
        logs.flush(LOGS_PATIENCE);
        Ok(ended?)
    }
}

fn token(file: &Path) -> Result<String> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let token = text.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!("{}: expected a token of one word in letters, digits and signs", file.display());
    }
    Ok(token.to_string())
}

/// Parses a count of at least one.
fn at_least_one(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|number| *number >= 1).ok_or("expected a whole number, at least 1")
}
