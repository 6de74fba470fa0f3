//! Accepts connections, watches the files of the models, and shuts down without dropping a request.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use hyper_util::service::TowerToHyperService;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, Semaphore};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tower::ServiceExt as _;

use crate::connection_permit::{ConnectionPermit, SPARE_CONNECTIONS, SPARE_HEAD_TIMEOUT, max_open_files};
use crate::metrics::{CountGuard, Metrics};
use crate::models::Models;
use crate::wire::{Refuse, Wire};
use crate::workers::Workers;
use crate::write_timeout::WriteTimeout;
use crate::{Error, Service, Settings, host, routes};

/// The most bytes of the head of a request.
const MAX_HEAD: usize = 64 << 10;
/// Large bodies that are parsed at a time.
const LARGE_BODIES: usize = 8;

/// Open files beside connections: models, sockets, logs.
const OTHER_FILES: usize = 64;

/// A service that is bound to an address.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    service: Arc<Service>,
    router: Router,
    runtime: Runtime,
    handle: Handle,
}

/// Controls a running service from any thread.
#[derive(Clone)]
pub struct Handle(Arc<Control>);

#[derive(Default)]
struct Control {
    end: Notify,
    reload: Notify,
}

impl Handle {
    /// Shuts the service down once requests in flight are answered.
    pub fn end(&self) {
        self.0.end.notify_one();
    }

    /// Reads the files of all models again.
    pub fn reload(&self) {
        self.0.reload.notify_one();
    }
}

impl Server {
    /// Reads the models, each a name and a file, and binds to the address. The first model is the default of requests.
    ///
    /// # Errors
    /// When a model cannot be read, a name is invalid or used twice, or the address cannot be bound.
    ///
    /// # Panics
    /// When there is no model.
    pub fn bind(
        address: impl ToSocketAddrs + std::fmt::Display,
        models: &[(String, PathBuf)],
        settings: Settings,
    ) -> Result<Self, Error> {
        assert!(!models.is_empty(), "at least one model");
        for (number, (name, _)) in models.iter().enumerate() {
            if models[..number].iter().any(|(other, _)| other == name) {
                return Err(Error::SameName { name: name.clone() });
            }
            let fits = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
            if name.is_empty() || !name.chars().all(fits) {
                return Err(Error::BadName { name: name.clone() });
            }
        }
        if let Some(found) = settings.origins.iter().find(|origin| !is_origin(origin)) {
            return Err(Error::BadOrigin { found: found.clone() });
        }
        if let Some(found) = settings.hosts.iter().find(|name| !host::is_name(name)) {
            return Err(Error::BadHost { found: found.clone() });
        }
        let models = Models::load(models)?;
        let listen = |source| Error::Listen { address: address.to_string(), source };
        let listener = TcpListener::bind(&address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let most = Semaphore::MAX_PERMITS;
        let mut hosts = settings.hosts;
        hosts.extend(address.to_string().rsplit_once(':').map(|(host, _)| host.to_string()));
        let settings = Settings {
            hosts,
            max_requests: settings.max_requests.min(most),
            max_streams: settings.max_streams.min(most),
            max_connections: affordable_connections(settings.max_connections.min(most)),
            max_bodies: settings.max_bodies.max(settings.max_body).min(most),
            reload_interval: settings.reload_interval.max(Duration::from_millis(1)),
            ..settings
        };
        let service = Arc::new(Service {
            workers: Workers::new(settings.threads, settings.time)?,
            metrics: Metrics::default(),
            admission: Semaphore::new(settings.max_requests),
            large: Arc::new(Semaphore::new(LARGE_BODIES)),
            body_bytes: Arc::new(Semaphore::new(settings.max_bodies)),
            streams: Arc::new(Semaphore::new(settings.max_streams)),
            connections: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            models,
            settings,
        });
        Ok(Self {
            address: listener.local_addr().map_err(listen)?,
            listener,
            router: routes::router(&service),
            runtime: Builder::new_multi_thread()
                .worker_threads(service.settings.threads.max(1))
                .thread_name("connections")
                .enable_all()
                .build()?,
            service,
            handle: Handle(Arc::default()),
        })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Controls the service while it runs.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// From now on shuts down at SIGTERM or Ctrl-C, and reads the models again at SIGHUP.
    ///
    /// # Errors
    /// When the signals cannot be listened for.
    pub fn handle_signals(&self) -> Result<(), Error> {
        let _context = self.runtime.enter();
        let handle = self.handle();
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let (mut end, mut interrupt) =
                (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
            let mut reload = signal(SignalKind::hangup())?;
            self.runtime.spawn(async move {
                loop {
                    tokio::select! {
                        _ = end.recv() => handle.end(),
                        _ = interrupt.recv() => handle.end(),
                        _ = reload.recv() => handle.reload(),
                    }
                }
            });
        }
        #[cfg(not(unix))]
        self.runtime.spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                handle.end();
            }
        });
        Ok(())
    }

    /// Serves until it is shut down.
    ///
    /// # Errors
    /// When it cannot start to listen.
    pub fn run(self) -> Result<(), Error> {
        let Self { listener, service, router, runtime, handle, .. } = self;
        let ended = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let watching = tokio::spawn(watch(Arc::clone(&service), handle.clone()));
            accept(listener, &service, &router, &handle).await;
            watching.abort();
            Ok(())
        });
        // Streams whose client has left end by themselves.
        runtime.shutdown_timeout(Duration::from_secs(1));
        ended
    }
}

/// Whether it is an origin as browsers send it: a scheme and a host, without a path.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._:[]".contains(&byte);
    host.is_some_and(|host| !host.is_empty() && host.bytes().all(fits))
}

/// As many connections as wanted, or fewer if the process may not open as many files.
fn affordable_connections(wanted: usize) -> usize {
    let most = max_open_files()
        .map_or(usize::MAX, |files| files.saturating_sub(SPARE_CONNECTIONS + OTHER_FILES).max(1));
    if wanted > most {
        tracing::warn!(
            wanted,
            most,
            "fewer connections are taken: raise the limit of open files (ulimit -n)"
        );
    }
    wanted.min(most)
}

/// Accepts connections until shutdown, then waits for requests in flight.
async fn accept(listener: tokio::net::TcpListener, service: &Arc<Service>, router: &Router, handle: &Handle) {
    let connections = GracefulShutdown::new();
    let regular = Arc::new(Semaphore::new(service.settings.max_connections));
    let spare = Arc::new(Semaphore::new(SPARE_CONNECTIONS));
    let accepting = async {
        loop {
            let permit = Arc::new(ConnectionPermit::new(&regular, &spare).await);
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Usually too many files are open, and some will be closed soon.
                    tracing::warn!(%error, "a connection cannot be taken");
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Answers are short: send them at once.
            let _ = stream.set_nodelay(true);
            let refusals = Arc::new(HeadRefusals::new(service));
            let (wire, peer) = Wire::new(stream, Arc::clone(&refusals) as Arc<dyn Refuse>);
            let connection = connections.watch(connection(wire, service, router, &permit));
            let service = Arc::clone(service);
            tokio::spawn(async move {
                let _counted = CountGuard::new(&service.connections);
                tokio::select! {
                    biased;
                    ended = connection => refusals.count_unanswered(ended),
                    // Dropping the connection ends all work for the client.
                    () = peer.left() => {}
                }
                drop(permit);
            });
        }
    };
    let ending = async {
        handle.0.end.notified().await;
        tracing::info!("ending");
        service.ending.store(true, Ordering::Relaxed);
        // For a while new requests get 503, before connections are refused.
        let _ = timeout(service.settings.drain_time, handle.0.end.notified()).await;
    };
    tokio::select! {
        () = accepting => {}
        () = ending => {}
    }
    drop(listener);
    if timeout(service.settings.shutdown_timeout, connections.shutdown()).await.is_err() {
        tracing::warn!("requests were still under way");
    }
}

fn connection(
    wire: Wire,
    service: &Service,
    router: &Router,
    permit: &Arc<ConnectionPermit>,
) -> impl GracefulConnection<Error = hyper::Error> + 'static {
    let patience = service.settings.patience;
    let permit = Arc::clone(permit);
    let head_timeout = if permit.is_spare() { patience.min(SPARE_HEAD_TIMEOUT) } else { patience };
    let router = router.clone().map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(Arc::clone(&permit));
        request
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(WriteTimeout::new(wire, patience)), TowerToHyperService::new(router))
}

/// Refuses heads that cannot be read, as all refusals are: logged, counted, with the same body.
struct HeadRefusals {
    service: Arc<Service>,
    is_answered: AtomicBool,
}

impl HeadRefusals {
    fn new(service: &Arc<Service>) -> Self {
        Self { service: Arc::clone(service), is_answered: AtomicBool::new(false) }
    }

    /// Counts a request that was refused without a response, such as HTTP/2.
    fn count_unanswered(&self, ended: Result<(), hyper::Error>) {
        if let Err(error) = ended
            && error.is_parse()
            && !self.is_answered.load(Ordering::Relaxed)
        {
            self.refuse(if error.is_parse_too_large() { 431 } else { 400 });
        }
    }
}

impl Refuse for HeadRefusals {
    fn refuse(&self, status: u16) -> (String, Vec<u8>) {
        self.is_answered.store(true, Ordering::Relaxed);
        routes::refused_head(&self.service, status, MAX_HEAD)
    }
}

/// Reads models again when their files change, or when the handle says so.
async fn watch(service: Arc<Service>, handle: Handle) {
    let mut tick = interval(service.settings.reload_interval);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let all = tokio::select! {
            _ = tick.tick() => false,
            () = handle.0.reload.notified() => true,
        };
        let reading = Arc::clone(&service);
        let reloads = tokio::task::spawn_blocking(move || reading.models.reload(all)).await;
        for reload in reloads.unwrap_or_default() {
            let model = &reload.name;
            service.metrics.count_reload(model, reload.outcome.is_ok());
            match reload.outcome {
                Ok(sha256) => tracing::info!(model, sha256, "the model was read again"),
                Err(error) => {
                    let error = error.to_string();
                    tracing::error!(
                        model,
                        error,
                        "the model cannot be read: the one before goes on answering"
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::thread;

    use axum::body::Body;
    use axum::http::HeaderMap;
    use axum::http::header::CONTENT_TYPE;

    use super::*;

    #[test]
    fn large_bodies_are_parsed_on_other_threads_than_connections() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../par/tests/fixtures/version_1.par");
        let server = Server::bind("127.0.0.1:0", &[("a".to_string(), file)], Settings::default());
        let server = server.expect("a free port");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, "application/json".parse().expect("a value"))]);
        let model = server.service.model(None).expect("a model");
        let reader = |bytes: usize| {
            let body = Body::from(" ".repeat(bytes) + "1");
            let read = server.service.read(&model, &headers, body, |_, _, _| Ok(thread::current().id()));
            server.runtime.block_on(read).expect("JSON")
        };
        assert_eq!(reader(100), thread::current().id());
        assert_ne!(reader(200_000), thread::current().id());
        assert_eq!(server.service.body_bytes.available_permits(), Settings::default().max_bodies);
    }
}
