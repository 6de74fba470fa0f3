//! Clients that send much work and leave: the work ends, and other clients are answered meanwhile.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{chunked, request};
use crate::running::{Running, denied, logs, row, until};

/// A question whose search takes all the time it may.
fn heavy() -> Value {
    json!({"row": row(denied(1)[0]), "method": "exact", "budget": 20, "count": 20})
}

/// Much longer than the tests wait.
const LONG: Duration = Duration::from_secs(600);

/// How long something takes.
fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

/// Checks that no thread is busy: a bulk question needs the thread of the work before.
fn is_idle(service: &Running) {
    until("nothing is under way", || {
        ["par_streams", "par_queued", "par_requests_admitted"].iter().all(|name| service.metric(name) == 0.0)
    });
    let rows: Vec<Value> = denied(2).into_iter().map(row).collect();
    let took = timed(|| assert_eq!(service.post("/v1/recourse", &json!({"rows": rows})).status, 200));
    assert!(took < Duration::from_secs(30), "it waited for {took:?}");
}

#[test]
fn a_stream_ends_when_its_client_leaves() {
    let service = Running::new(|settings| (settings.threads, settings.time) = (1, LONG));
    // Whole, as curl sends it, and so long that not all of it is read.
    for lines in [64, 4_000] {
        let mut client = service.client();
        client.send(chunked("/v1/recourse/batch", &[]));
        let line = heavy().to_string() + "\n";
        client.waits(Duration::from_secs(1));
        // Input is not read further until answers are taken.
        let sent = (0..lines).take_while(|_| client.send_chunk(&line).is_ok()).count();
        if sent == lines {
            client.send("0\r\n\r\n");
        }
        until("a row is being answered", || service.metric("par_streams") == 1.0);
        std::thread::sleep(Duration::from_secs(1));
        // A single question does not wait for it.
        let took = timed(|| service.is_well());
        assert!(took < Duration::from_secs(30), "it waited for {took:?}");
        drop(client);
        is_idle(&service);
    }
}

#[test]
fn a_search_ends_when_its_client_leaves() {
    let service = Running::new(|settings| (settings.threads, settings.time) = (1, LONG));
    let one = heavy();
    let mut many = heavy();
    many["rows"] = json!(vec![many["row"].take(); 40]);
    many.as_object_mut().expect("an object").remove("row");
    for body in [one, many] {
        // As many clients as threads, and one that has sent bytes of a next request.
        for more in ["", "", "GET"] {
            let mut client = service.client();
            client.send(request("POST", "/v1/recourse", &[], body.to_string().as_bytes())).send(more);
            until("it is being answered", || service.metric("par_requests_admitted") == 1.0);
            std::thread::sleep(Duration::from_millis(500));
            drop(client);
            until("it is given up", || service.metric("par_requests_admitted") == 0.0);
        }
        is_idle(&service);
        let took = timed(|| service.is_well());
        assert!(took < Duration::from_secs(30), "it waited for {took:?}");
    }
    // Requests of clients that left are counted and logged too.
    assert_eq!(service.metric("par_requests_total{route=\"/v1/recourse\",status=\"499\"}"), 6.0);
    assert!(logs().lines().any(|line| line.contains("\"client_left\"")));
}

#[test]
fn a_search_that_is_not_done_in_time_says_so() {
    let service = Running::new(|settings| settings.time = Duration::from_millis(300));
    let ended = |answer: &Value| {
        assert_eq!(answer["status"], json!("found"), "{answer}");
        answer["search_ended"] == json!(true)
    };
    let told = service.post("/v1/recourse", &heavy());
    assert_eq!(told.status, 200);
    assert!(ended(&told.json()["answers"][0]), "{}", told.text());
    let told = service.ask("POST", "/v1/recourse/batch", &[], heavy().to_string() + "\n");
    assert!(ended(&serde_json::from_slice(&told.body).expect("JSON")), "{}", told.text());
    let quick = Running::new(|_| {});
    let told = quick.post("/v1/recourse", &json!({"row": row(denied(1)[0])})).json();
    assert!(!ended(&told["answers"][0]), "{told}");
    assert_eq!(told["answers"][0].get("search_ended"), None);
}

#[test]
fn a_client_that_waits_for_slow_answers_does_not_drip() {
    let service = Running::new(|settings| {
        settings.time = Duration::from_millis(500);
        settings.patience = Duration::from_secs(5);
        // Far more than a row for every answer.
        settings.min_rate = 10_000;
    });
    let mut client = service.client();
    client.send(chunked("/v1/recourse/batch", &[]));
    let line = heavy().to_string() + "\n";
    client.send_chunk(&line).expect("sent");
    assert_eq!(client.head().map(|head| head.status), Some(200));
    // Longer than patience, together.
    for _ in 0..12 {
        let told: Value = serde_json::from_slice(&client.chunk().expect("an answer")).expect("JSON");
        assert_eq!(told["status"], json!("found"), "{told}");
        client.send_chunk(&line).expect("sent");
    }
}
