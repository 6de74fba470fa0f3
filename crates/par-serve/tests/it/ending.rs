//! Shutdown.

use std::net::TcpStream;
use std::time::Duration;

use par_serve::{Error, Server};
use serde_json::json;

use crate::client::{chunked, request};
use crate::running::{Running, denied, model, row, settings, until};

#[test]
fn requests_in_flight_are_answered_and_no_others() {
    let mut service = Running::new(|_| {});
    let body = json!({"row": row(denied(1)[0])}).to_string();
    let whole = request("POST", "/v1/recourse", &[], body.as_bytes());
    let mut idle = service.client();
    assert_eq!(idle.send(request("GET", "/healthz", &[], b"")).response().status, 200);
    let mut under_way = service.client();
    under_way.send(&whole[..whole.len() - 1]);
    let mut stream = service.client();
    stream.send(chunked("/v1/recourse/batch", &[]));
    assert_eq!(stream.head().map(|head| head.status), Some(200));
    stream.send_chunk(body.clone() + "\n").expect("an open connection");
    assert!(stream.chunk().is_some());
    until("a request is under way", || service.metric("par_requests_in_flight") == 1.0);

    service.handle.end();
    assert!(idle.is_closed());
    until("new connections are refused", || TcpStream::connect(service.address).is_err());
    let response = under_way.send(&whole[whole.len() - 1..]).response();
    assert_eq!(response.status, 200);
    assert!(under_way.is_closed());
    for _ in 0..3 {
        stream.send_chunk(body.clone() + "\n").expect("an open connection");
        assert!(stream.chunk().is_some());
    }
    stream.send("0\r\n\r\n");
    assert_eq!(stream.chunk(), None);
    service.ended();
}

#[test]
fn requests_during_shutdown_get_503() {
    let mut service = Running::new(|settings| settings.drain_time = Duration::from_secs(60));
    service.handle.end();
    until("it is not ready", || service.get("/readyz").status == 503);
    assert_eq!(service.get("/healthz").status, 200);
    for path in ["/v2/health/ready", "/v2/models/german/ready", "/v1/models/german"] {
        assert_eq!(service.get(path).status, 503, "{path}");
    }
    let refused = service.post("/v1/recourse", &json!({"row": row(denied(1)[0])}));
    assert_eq!((refused.status, refused.code()), (503, "shutting_down".to_string()));
    assert_eq!(refused.header("retry-after"), Some("1"));
    // A second request to shut down ends the wait.
    service.handle.end();
    service.ended();
}

#[test]
fn requests_that_outlast_the_shutdown_timeout_are_dropped() {
    let mut service = Running::new(|settings| settings.shutdown_timeout = Duration::from_millis(100));
    let mut stream = service.client();
    stream.send(chunked("/v1/recourse/batch", &[]));
    assert_eq!(stream.head().map(|head| head.status), Some(200));
    let mut stalled = service.client();
    stalled.send("POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{");
    service.handle.end();
    service.ended();
    assert!(stream.is_closed() && stalled.is_closed());
}

#[test]
fn a_service_may_be_shut_down_before_it_runs_and_twice() {
    let mut service = Running::new(|_| {});
    service.handle.end();
    service.handle.end();
    service.ended();
    assert!(TcpStream::connect(service.address).is_err());
}

#[test]
fn wrong_settings_are_refused_at_the_start() {
    let folder = tempfile::TempDir::new().expect("a folder for temporary files");
    let file = folder.path().join("german.par");
    model().save(&file).expect("a file can be written");
    let bind = |address: &str, models: &[(&str, &std::path::Path)]| {
        let models: Vec<_> =
            models.iter().map(|(name, file)| (name.to_string(), file.to_path_buf())).collect();
        Server::bind(address, &models, settings()).map(|_| ()).map_err(|error| error.to_string())
    };
    let any = "127.0.0.1:0";
    assert_eq!(
        bind(any, &[("a", &file), ("a", &file)]),
        Err("two models are called `a`\nhint: name them: NAME=FILE".to_string())
    );
    for name in ["", "a/b", "a b", "ä", "a:explain"] {
        let told = bind(any, &[(name, &file)]).expect_err("no name");
        assert!(
            told.starts_with(&format!("`{name}` cannot be the name of a model, expected letters, digits")),
            "{told}"
        );
    }
    let absent = folder.path().join("absent.par");
    assert!(bind(any, &[("a", &absent)]).is_err_and(|told| told.contains("absent.par: ")));
    std::fs::write(&absent, "nonsense").expect("a file can be written");
    assert!(bind(any, &[("a", &absent)]).is_err_and(|told| told.contains("absent.par: ")));

    let taken = std::net::TcpListener::bind(any).expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    assert!(
        bind(&address, &[("a", &file)])
            .is_err_and(|told| told.starts_with(&format!("cannot listen on {address}: ")))
    );
    assert!(
        bind("nowhere", &[("a", &file)]).is_err_and(|told| told.starts_with("cannot listen on nowhere: "))
    );

    for origin in ["example.org", "*", "ftp://example.org", "https://a\nb"] {
        let mut settings = settings();
        settings.origins = vec![origin.to_string()];
        let bound = Server::bind(any, &[("a".to_string(), file.clone())], settings);
        assert!(matches!(bound.map(|_| ()), Err(Error::BadOrigin { found }) if found == origin));
    }
    for name in ["", "https://example.org", "example.org:80", "a/b", "*.org"] {
        let mut settings = settings();
        settings.hosts = vec![name.to_string()];
        let bound = Server::bind(any, &[("a".to_string(), file.clone())], settings);
        assert!(matches!(bound.map(|_| ()), Err(Error::BadHost { found }) if found == name));
    }
}
