//! A running service for a test, and the models that all tests share.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use par_answer::table::{RowAnswer, TableAnswerer};
use par_answer::{Request, Solver};
use par_data::{Batch, german_credit};
use par_fit::ModelBuilder;
use par_model::{Config, Model};
use par_serve::{Error, Handle, Server, Settings};
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::client::{Client, Response, request};

/// Two models of German Credit that answer differently, made once.
pub(crate) fn models() -> &'static [Model; 2] {
    static MODELS: OnceLock<[Model; 2]> = OnceLock::new();
    MODELS.get_or_init(|| {
        [0, 1].map(|seed| {
            let mut config = Config { seed, ..Config::default() };
            config.classifier.hidden = vec![8];
            (config.circuits.hclt.states, config.circuits.hclt.groups) = (2, 1);
            config.pool.size = 200;
            config.generator.hidden = [16, 16];
            (config.generator.encoder, config.generator.embedding) = (8, 4);
            (config.generator.examples, config.generator.steps) = (200, 40);
            let fit = ModelBuilder::new(german_credit::unconstrained_schema(), config)
                .fit(|| Ok(german_credit::table()));
            fit.expect("German Credit can be learned from")
        })
    })
}

/// The first of them.
pub(crate) fn model() -> &'static Model {
    &models()[0]
}

/// All rows of German Credit.
pub(crate) fn rows() -> &'static Batch {
    static ROWS: OnceLock<Batch> = OnceLock::new();
    ROWS.get_or_init(|| german_credit::table().batches(1_000).next().expect("rows").expect("a table"))
}

/// The cells of a row, in schema order.
pub(crate) fn cells(row: usize) -> Vec<&'static str> {
    let schema = model().schema();
    let columns = schema.columns("table", german_credit::table().columns()).expect("its own schema");
    columns.features.iter().map(|&column| rows().cell(row, column)).collect()
}

/// A row as a client writes it.
pub(crate) fn row(row: usize) -> Value {
    let features = model().schema().features();
    let value = |feature: &par_data::Feature, cell: &str| match feature.kind.is_numeric() {
        true => serde_json::from_str(cell).expect("a number"),
        false => Value::from(cell),
    };
    let named =
        features.iter().zip(cells(row)).map(|(feature, cell)| (feature.name.clone(), value(feature, cell)));
    Value::Object(named.collect::<Map<_, _>>())
}

/// The first rows that the model denies.
pub(crate) fn denied(count: usize) -> Vec<usize> {
    let is_denied = |row: &usize| model().score(&cells(*row)).expect("a score") < model().threshold();
    (0..rows().rows()).filter(is_denied).take(count).collect()
}

/// The answer to a row of the table, from the library; `number` stands for a missing id.
pub(crate) fn at_the_desk<T>(
    request: &Request,
    row: usize,
    number: u64,
    told: impl FnOnce(&RowAnswer<'_>) -> T,
) -> T {
    let model = model();
    let table = german_credit::table();
    let mut columns = model.schema().columns("table", table.columns()).expect("its own schema");
    columns.id = None;
    let answerer = TableAnswerer::new(model, table.columns(), columns, request.clone(), false);
    told(&answerer.answer(&mut Solver::new(model), rows(), row, number))
}

/// The same as JSON.
pub(crate) fn described(request: &Request, row: usize, number: u64) -> String {
    at_the_desk(request, row, number, |person| serde_json::to_string(&person.json(model())).expect("JSON"))
}

/// Limits within which tests do not take long.
pub(crate) fn settings() -> Settings {
    Settings {
        threads: 2,
        // However busy the machine is.
        time: Duration::from_secs(120),
        patience: Duration::from_secs(10),
        drain_time: Duration::ZERO,
        shutdown_timeout: Duration::from_secs(10),
        // Files are read again only in tests that set this.
        reload_interval: Duration::from_secs(3600),
        ..Settings::default()
    }
}

/// A service on a thread of its own, which ends with the test.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) handle: Handle,
    folder: TempDir,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Running {
    /// With the model `german`, and settings that may be changed.
    pub(crate) fn new(change: impl FnOnce(&mut Settings)) -> Self {
        Self::with_models(&["german"], change)
    }

    /// With models of other names, of which the second is the other one.
    pub(crate) fn with_models(names: &[&str], change: impl FnOnce(&mut Settings)) -> Self {
        let models = names.iter().copied().zip(models()).collect();
        Self::serving(models, change)
    }

    /// With another model, called `own`.
    pub(crate) fn with_fitted(model: &Model) -> Self {
        Self::serving(vec![("own", model)], |_| {})
    }

    fn serving(models: Vec<(&str, &Model)>, change: impl FnOnce(&mut Settings)) -> Self {
        collect_logs();
        let folder = TempDir::new().expect("a folder for temporary files");
        let mut files = Vec::new();
        for (name, model) in models {
            let file = folder.path().join(format!("{name}.par"));
            model.save(&file).expect("a file can be written");
            files.push((name.to_string(), file));
        }
        let mut settings = settings();
        change(&mut settings);
        let server = Server::bind("127.0.0.1:0", &files, settings).expect("a free port");
        let (address, handle) = (server.address(), server.handle());
        let thread = std::thread::spawn(move || server.run());
        Self { address, handle, folder, thread: Some(thread) }
    }

    /// The file of a model.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.par"))
    }

    pub(crate) fn client(&self) -> Client {
        Client::to(self.address)
    }

    /// The response to a request on a connection of its own.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Response {
        self.client().send(request(method, path, headers, body.as_ref())).response()
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.ask("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Response {
        self.ask("POST", path, &[("Content-Type", "application/json")], body.to_string())
    }

    /// Checks that it still answers.
    #[track_caller]
    pub(crate) fn is_well(&self) {
        let response = self.post("/v1/recourse", &serde_json::json!({"row": row(denied(1)[0])}));
        assert_eq!(response.status, 200, "{}", response.text());
    }

    /// A number from its metrics; zero if there is no such name.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let metrics = self.get("/metrics");
        let line = metrics.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0.0, |value| value.parse().expect("a number"))
    }

    /// Waits until the service has shut down.
    pub(crate) fn ended(&mut self) {
        let thread = self.thread.take().expect("it has not ended before");
        thread.join().expect("no panic").expect("no error");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Everything that any service of this process has logged.
static LOGS: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The log so far.
pub(crate) fn logs() -> String {
    String::from_utf8(LOGS.lock().unwrap_or_else(PoisonError::into_inner).clone()).expect("UTF-8")
}

struct Collected;

impl std::io::Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOGS.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn collect_logs() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let format = tracing_subscriber::fmt().json().flatten_event(true).with_writer(|| Collected);
        format.with_max_level(tracing::Level::TRACE).init();
    });
}
