//! JobFilter connections, watches the files of the models, and ends without dropping a request.

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

use crate::connection_permit::{ConnectionPermit, SPARE_CONNECTIONS, SPARE_HEAD_TIMEOUT, open_files};
use crate::metrics::{CountGuard, Metrics};
use crate::models::Models;
use crate::wire::{Refuse, Wire};
use crate::workers::Workers;
use crate::write_timeout::WriteTimeout;
use crate::{Error, Service, Settings, host, routes};

/// The most that the head of a request may have, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// Large bodies that are read at a time.
const LARGE_BODIES: usize = 8;

/// Files that are open beside connections: models, sockets, logs.
const OTHER_FILES: usize = 64;

/// A service that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    service: Arc<Service>,
    router: Router,
    runtime: Runtime,
    handle: Handle,
}

/// Tells a running service what to do, from anywhere.
#[derive(Clone)]
pub struct Handle(Arc<Control>);

#[derive(Default)]
struct Control {
    end: Notify,
    reload: Notify,
}

impl Handle {
    /// Ends the service once the requests that are under way are answered.
    pub fn end(&self) {
        self.0.end.notify_one();
    }

    /// Reads the files of all models again.
    pub fn reload(&self) {
        self.0.reload.notify_one();
    }
}

impl Server {
    /// Reads the models, each a name and a file, and listens. Who asks for no model by name means the first.
    ///
    /// # Errors
    /// When a model cannot be read, a name cannot be or is there twice, or the address cannot be listened on.
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
            look: settings.look.max(Duration::from_millis(1)),
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// To tell it what to do while it runs.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Ends at SIGTERM or Ctrl-C, and reads the models again at SIGHUP, from now on.
    ///
    /// # Errors
    /// When the signals cannot be listened for.
    pub fn heed_signals(&self) -> Result<(), Error> {
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

    /// Answers until it is told to end.
    ///
    /// # Errors
    /// When it cannot begin to listen.
    pub fn run(self) -> Result<(), Error> {
        let Self { listener, service, router, runtime, handle, .. } = self;
        let ended = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let watching = tokio::spawn(watch(Arc::clone(&service), handle.clone()));
            accept(listener, &service, &router, &handle).await;
            watching.abort();
            Ok(())
        });
        // Streams that nobody waits for any more end by themselves.
        runtime.shutdown_timeout(Duration::from_secs(1));
        ended
    }
}

/// Whether it is an origin as browsers send it: a scheme and a host, and nothing behind them.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._:[]".contains(&byte);
    host.is_some_and(|host| !host.is_empty() && host.bytes().all(fits))
}

/// So many connections, or as many as the process may have files open.
fn affordable_connections(wanted: usize) -> usize {
    let most =
        open_files().map_or(usize::MAX, |files| files.saturating_sub(SPARE_CONNECTIONS + OTHER_FILES).max(1));
    if wanted > most {
        tracing::warn!(
            wanted,
            most,
            "fewer connections are taken: raise the limit of open files (ulimit -n)"
        );
    }
    wanted.min(most)
}

/// JobFilter connections until the service is to end, then waits for those that are under way.
async fn accept(listener: tokio::net::TcpListener, service: &Arc<Service>, router: &Router, handle: &Handle) {
    let connections = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(service.settings.max_connections));
    let spare = Arc::new(Semaphore::new(SPARE_CONNECTIONS));
    let taking = async {
        loop {
            let seat = Arc::new(ConnectionPermit::new(&room, &spare).await);
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Usually there are too many open files: others may be closed soon.
                    tracing::warn!(%error, "a connection cannot be taken");
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Answers are short: they should not wait for more to send.
            let _ = stream.set_nodelay(true);
            let refusals = Arc::new(HeadRefusals::new(service));
            let (wire, peer) = Wire::new(stream, Arc::clone(&refusals) as Arc<dyn Refuse>);
            let connection = connections.watch(connection(wire, service, router, &seat));
            let service = Arc::clone(service);
            tokio::spawn(async move {
                let _counted = CountGuard::new(&service.connections);
                tokio::select! {
                    biased;
                    ended = connection => refusals.settle(ended),
                    // Whatever is under way for the client is dropped with the connection, and ends.
                    () = peer.left() => {}
                }
                drop(seat);
            });
        }
    };
    let ending = async {
        handle.0.end.notified().await;
        tracing::info!("ending");
        service.ending.store(true, Ordering::Relaxed);
        // New requests are told so with 503 for a while, before connections are turned away.
        let _ = timeout(service.settings.leave, handle.0.end.notified()).await;
    };
    tokio::select! {
        () = taking => {}
        () = ending => {}
    }
    drop(listener);
    if timeout(service.settings.grace, connections.shutdown()).await.is_err() {
        tracing::warn!("requests were still under way");
    }
}

fn connection(
    wire: Wire,
    service: &Service,
    router: &Router,
    seat: &Arc<ConnectionPermit>,
) -> impl GracefulConnection<Error = hyper::Error> + 'static {
    let patience = service.settings.patience;
    let seat = Arc::clone(seat);
    let head_patience = if seat.is_spare() { patience.min(SPARE_HEAD_TIMEOUT) } else { patience };
    let router = router.clone().map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(Arc::clone(&seat));
        request
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_patience)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(WriteTimeout::new(wire, patience)), TowerToHyperService::new(router))
}

/// Puts heads that cannot be read into the log, the metrics and the shape of all refusals.
struct HeadRefusals {
    service: Arc<Service>,
    is_told: AtomicBool,
}

impl HeadRefusals {
    fn new(service: &Arc<Service>) -> Self {
        Self { service: Arc::clone(service), is_told: AtomicBool::new(false) }
    }

    /// Counts what was refused without a response, HTTP/2 for one. Clients may go whenever they like.
    fn settle(&self, ended: Result<(), hyper::Error>) {
        if let Err(error) = ended
            && error.is_parse()
            && !self.is_told.load(Ordering::Relaxed)
        {
            self.refuse(if error.is_parse_too_large() { 431 } else { 400 });
        }
    }
}

impl Refuse for HeadRefusals {
    fn refuse(&self, status: u16) -> (String, Vec<u8>) {
        self.is_told.store(true, Ordering::Relaxed);
        routes::refused_head(&self.service, status, MAX_HEAD)
    }
}

/// Reads models again when their files change, or when it is asked for.
async fn watch(service: Arc<Service>, handle: Handle) {
    let mut look = interval(service.settings.look);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let all = tokio::select! {
            _ = look.tick() => false,
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
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../par-recourse/tests/fixtures/version_1.par");
        let server = Server::bind("127.0.0.1:0", &[("a".to_string(), file)], Settings::default());
        let server = server.expect("a free port");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, "application/json".parse().expect("a value"))]);
        let reader = |bytes: usize| {
            let read = server
                .service
                .read(&headers, Body::from(" ".repeat(bytes) + "1"), |_| Ok(thread::current().id()));
            server.runtime.block_on(read).expect("JSON")
        };
        assert_eq!(reader(100), thread::current().id());
        assert_ne!(reader(200_000), thread::current().id());
        assert_eq!(server.service.body_bytes.available_permits(), Settings::default().max_bodies);
    }
}
