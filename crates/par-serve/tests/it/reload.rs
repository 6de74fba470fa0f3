//! Models that are replaced while they serve.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::client::{Response, chunked, request};
use crate::running::{Running, denied, logs, models, row, until};

/// Replaces a file atomically.
fn replace(file: &Path, bytes: &[u8]) {
    let beside = file.with_extension("new");
    std::fs::write(&beside, bytes).expect("a file can be written");
    std::fs::rename(&beside, file).expect("a file can be renamed");
}

const LOADED: &str = "par_reloads_total{model=\"german\",outcome=\"loaded\"}";
const REFUSED: &str = "par_reloads_total{model=\"german\",outcome=\"refused\"}";

#[test]
fn a_replaced_file_serves_from_then_on() {
    let service = Running::new(|settings| settings.reload_interval = Duration::from_millis(5));
    let body = json!({"row": row(denied(1)[0])});
    let ask = || service.post("/v1/recourse", &body).body;
    let (before, version) = (ask(), service.get("/v1/model").json()["sha256"].clone());
    replace(&service.file("german"), &models()[1].to_bytes());
    until("the other model is read", || service.metric(LOADED) == 1.0);
    assert_ne!(ask(), before);
    let other = service.get("/v1/model").json()["sha256"].clone();
    assert_ne!(other, version);
    assert!(
        logs().lines().any(|line| line.contains("the model was read again")
            && line.contains(other.as_str().expect("a hash")))
    );
    replace(&service.file("german"), &models()[0].to_bytes());
    until("the first model is read", || service.metric(LOADED) == 2.0);
    assert_eq!(ask(), before);
    assert_eq!(service.get("/v1/model").json()["sha256"], version);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_refused_and_the_next_file_read() {
    let service = Running::new(|settings| settings.reload_interval = Duration::from_millis(5));
    let file = service.file("german");
    std::fs::remove_file(&file).expect("a file can be removed");
    let made = std::process::Command::new("mkfifo").arg(&file).status().expect("mkfifo starts");
    assert!(made.success());
    until("the pipe is refused", || service.metric(REFUSED) >= 1.0);
    let error = "expected a file, found a pipe, a folder or a device";
    until("it is logged", || logs().lines().any(|line| line.contains(error)));
    service.is_well();
    replace(&file, &models()[1].to_bytes());
    until("the other model is read", || service.metric(LOADED) == 1.0);
    service.is_well();
}

#[test]
fn every_response_of_a_model_names_its_version() {
    let service = Running::new(|settings| settings.reload_interval = Duration::from_millis(5));
    let body = json!({"row": row(denied(1)[0])});
    let lines = format!("{body}\n");
    let versions = || {
        let mut responses = vec![
            service.post("/v1/recourse", &body),
            service.post("/v1/models/german:predict", &json!({"instances": [body["row"]]})),
            service.ask("POST", "/v1/recourse/batch", &[("content-type", "application/x-ndjson")], &lines),
        ];
        for path in
            ["/v1/schema", "/v1/model", "/v1/people", "/v1/models/german", "/v2/models/german", "/api"]
        {
            responses.push(service.get(path));
        }
        let version = |response: &Response| response.header("x-model-version").map(str::to_string);
        responses.iter().map(version).collect::<Vec<_>>()
    };
    let version = || service.get("/v1/model").json()["sha256"].as_str().map(str::to_string);
    let first = version();
    assert!(versions().iter().all(|named| *named == first && named.is_some()));
    replace(&service.file("german"), &models()[1].to_bytes());
    until("the other model is read", || service.metric(LOADED) == 1.0);
    assert_ne!(version(), first);
    assert!(versions().iter().all(|named| *named == version()));
    assert_eq!(service.get("/healthz").header("x-model-version"), None);
}

#[test]
fn models_are_read_again_when_the_handle_says_so() {
    let service = Running::new(|_| {});
    replace(&service.file("german"), &models()[1].to_bytes());
    service.handle.reload();
    until("the other model is read", || service.get("/v1/model").json()["config"]["seed"] == json!(1));
    // Also if nothing has changed.
    let before = service.metric(LOADED);
    service.handle.reload();
    until("it is read again", || service.metric(LOADED) > before);
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_model_in_its_place() {
    let service =
        Running::with_models(&["kept"], |settings| settings.reload_interval = Duration::from_millis(5));
    let (loaded, refused) = (LOADED.replace("german", "kept"), REFUSED.replace("german", "kept"));
    let body = json!({"row": row(denied(1)[0])});
    let before = service.post("/v1/recourse", &body).body;
    let whole = models()[1].to_bytes();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let file = service.file("kept");
    let bad: [&dyn Fn(); 6] = [
        &|| replace(&file, &whole[..whole.len() / 2]),
        &|| replace(&file, b""),
        &|| replace(&file, b"nonsense"),
        &|| replace(&file, &flipped),
        &|| std::fs::remove_file(&file).expect("a file"),
        &|| std::fs::create_dir(&file).expect("a folder"),
    ];
    for (change, count) in bad.iter().zip(1..) {
        change();
        until("it is tried", || service.metric(&refused) == f64::from(count));
        assert_eq!(service.post("/v1/recourse", &body).body, before);
        assert_eq!(service.get("/readyz").json(), json!({"status": "ok", "models": ["kept"]}));
    }
    // It is read once, not at every interval.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(service.metric(&refused), 6.0);
    let complaints =
        logs().lines().filter(|line| line.contains("ERROR") && line.contains("\"kept\"")).count();
    assert_eq!(complaints, 6);

    std::fs::remove_dir(&file).expect("a folder");
    replace(&file, &whole);
    until("a good file is taken up", || service.metric(&loaded) == 1.0);
    assert_ne!(service.post("/v1/recourse", &body).body, before);
}

#[test]
fn a_file_that_is_written_slowly_serves_once_it_is_complete() {
    let service = Running::new(|settings| settings.reload_interval = Duration::from_millis(1));
    let whole = models()[1].to_bytes();
    let mut file = std::fs::File::create(service.file("german")).expect("a file can be written");
    for part in whole.chunks(whole.len() / 8) {
        std::io::Write::write_all(&mut file, part).expect("a file can be written");
        std::thread::sleep(Duration::from_millis(3));
        service.is_well();
    }
    until("the whole file is taken up", || service.metric(LOADED) >= 1.0);
    assert_eq!(service.get("/v1/model").json()["config"]["seed"], json!(1));
}

#[test]
fn no_request_fails_while_a_model_is_replaced() {
    let service = Running::new(|settings| settings.reload_interval = Duration::from_millis(2));
    let people: Vec<usize> = denied(3);
    let body = |person: usize| json!({"rows": vec![row(person); 20]}).to_string();
    let requests: Vec<Vec<u8>> =
        people.iter().map(|&person| request("POST", "/v1/recourse", &[], body(person).as_bytes())).collect();
    let answers = |service: &Running| {
        requests.iter().map(|request| service.client().send(request).response().body).collect::<Vec<_>>()
    };
    let first = answers(&service);
    replace(&service.file("german"), &models()[1].to_bytes());
    until("the other model is read", || service.metric(LOADED) == 1.0);
    let second = answers(&service);
    assert_ne!(first, second);

    let done = AtomicBool::new(false);
    let (of_first, of_second) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = service.client();
                while !done.load(Ordering::Relaxed) {
                    for (number, request) in requests.iter().enumerate() {
                        let response = client.send(request).response();
                        assert_eq!(response.status, 200);
                        match response.body {
                            body if body == first[number] => of_first.fetch_add(1, Ordering::Relaxed),
                            body if body == second[number] => of_second.fetch_add(1, Ordering::Relaxed),
                            _ => panic!("an answer of neither model"),
                        };
                    }
                }
            });
        }
        for number in 2..22 {
            replace(&service.file("german"), &models()[number % 2].to_bytes());
            until("it is read", || service.metric(LOADED) >= number as f64);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(of_first.into_inner() > 5 && of_second.into_inner() > 5);
}

#[test]
fn a_stream_keeps_the_model_it_began_with() {
    let service = Running::new(|_| {});
    let line = json!({"row": row(denied(1)[0])}).to_string() + "\n";
    let mut client = service.client();
    client.send(chunked("/v1/recourse/batch", &[]));
    client.send_chunk(&line).expect("an open connection");
    assert_eq!(client.head().map(|head| head.status), Some(200));
    let first = client.chunk().expect("an answer");
    replace(&service.file("german"), &models()[1].to_bytes());
    service.handle.reload();
    until("the other model is read", || service.metric(LOADED) >= 1.0);
    client.send_chunk(&line).expect("an open connection");
    let second = String::from_utf8(client.chunk().expect("an answer")).expect("UTF-8");
    assert_eq!(second.replacen("\"id\":\"2\"", "\"id\":\"1\"", 1).as_bytes(), first);
}
