//! Requests beyond the limits are refused, and leave nothing behind.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, chunked, request};
use crate::running::{Running, denied, row, until};

fn question() -> Vec<u8> {
    json!({"row": row(denied(1)[0])}).to_string().into_bytes()
}

#[test]
fn requests_beyond_the_limit_are_refused_with_a_time_to_retry() {
    let service = Running::new(|settings| {
        (settings.max_requests, settings.threads, settings.max_rows) = (2, 1, 3_000);
    });
    let body = question();
    let rows: Vec<Value> = denied(1).iter().cycle().take(1_500).map(|&number| row(number)).collect();
    let long = json!({"rows": rows, "method": "exact", "count": 2}).to_string();
    let mut slow: Vec<_> = (0..2).map(|_| service.client()).collect();
    for client in &mut slow {
        client.send(request("POST", "/v1/recourse", &[], long.as_bytes()));
    }
    until("two are let in", || service.metric("par_requests_admitted") == 2.0);
    let mut third = service.client();
    for _ in 0..3 {
        let refused = third.send(request("POST", "/v1/recourse", &[], &body)).response();
        assert_eq!((refused.status, refused.code()), (503, "overloaded".to_string()));
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    assert_eq!(service.get("/v1/people").status, 503);
    // Health and metrics are answered all the same.
    assert_eq!(service.get("/healthz").status, 200);
    assert_eq!(service.get("/readyz").status, 200);
    for client in &mut slow {
        assert_eq!(client.response().status, 200);
    }
    assert_eq!(third.send(request("POST", "/v1/recourse", &[], &body)).response().status, 200);
    assert_eq!(service.metric("par_requests_admitted"), 0.0);
}

#[test]
fn more_ways_than_are_allowed_are_refused() {
    let service = Running::new(|settings| settings.max_rows = 5);
    let ask = |count: usize| service.post("/v1/recourse", &json!({"rows": [row(0), row(1)], "count": count}));
    assert_eq!(ask(2).status, 200);
    let refused = ask(3);
    assert_eq!((refused.status, refused.code()), (413, "too_many_ways".to_string()));
    assert_eq!(
        refused.json()["error"],
        json!(
            "rows times `count` are 6, expected at most 5: send less at a time, or a stream to `/v1/recourse/batch`"
        )
    );
}

#[test]
fn more_rows_than_are_allowed_are_refused() {
    let service = Running::new(|settings| settings.max_rows = 3);
    let rows = |count: usize| (0..count).map(row).collect::<Vec<Value>>();
    assert_eq!(service.post("/v1/recourse", &json!({"rows": rows(3)})).status, 200);
    let refused = service.post("/v1/recourse", &json!({"rows": rows(4)}));
    assert_eq!((refused.status, refused.code()), (413, "too_many_rows".to_string()));
    assert_eq!(
        refused.json()["error"],
        json!(
            "there are 4 rows, expected at most 3: send less at a time, or a stream to `/v1/recourse/batch`"
        )
    );
    assert_eq!(service.post("/v1/models/german:predict", &json!({"instances": rows(4)})).status, 413);
    let tensor = json!({"name": "Age", "datatype": "FP64", "shape": [4], "data": [1, 2, 3, 4]});
    assert_eq!(service.post("/v2/models/german/infer", &json!({"inputs": [tensor]})).status, 413);
    service.is_well();
}

#[test]
fn bodies_up_to_the_limit_are_read() {
    let service = Running::new(|settings| settings.max_body = 4_000);
    let mut body = question();
    body.resize(4_000, b' ');
    assert_eq!(service.ask("POST", "/v1/recourse", &[], &body).status, 200);
    let mut client = service.client();
    client.send(chunked("/v1/recourse", &[]));
    client.send_chunk(&body[..2_000]).expect("an open connection");
    client.send_chunk(&body[2_000..]).expect("an open connection");
    assert_eq!(client.send("0\r\n\r\n").response().status, 200);
    body.push(b' ');
    assert_eq!(service.ask("POST", "/v1/recourse", &[], &body).status, 413);
    let mut client = service.client();
    client.send(chunked("/v1/recourse", &[]));
    client.send_chunk(&body[..2_000]).expect("an open connection");
    client.send_chunk(&body[2_000..]).expect("an open connection");
    assert_eq!(client.send("0\r\n\r\n").response().status, 413);
}

#[test]
fn when_all_connections_are_taken_health_is_answered_and_others_are_refused() {
    let service = Running::new(|settings| settings.max_connections = 3);
    let mut idle: Vec<_> = (0..3).map(|_| service.client()).collect();
    for client in &mut idle {
        assert_eq!(client.send(request("GET", "/v1/models", &[], b"")).response().status, 200);
    }
    for path in ["/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"] {
        let mut fourth = service.client();
        let response = fourth.send(request("GET", path, &[], b"")).response();
        assert_eq!((response.status, response.header("connection")), (200, Some("close")), "{path}");
        assert!(fourth.is_closed());
    }
    let refused = service.get("/v1/models");
    assert_eq!((refused.status, refused.code()), (503, "overloaded".to_string()));
    assert_eq!((refused.header("retry-after"), refused.header("connection")), (Some("1"), Some("close")));
    idle.pop();
    until("one has a place", || {
        let response = service.get("/v1/models");
        (response.status, response.header("connection")) == (200, None)
    });
}

#[test]
fn health_is_answered_when_clients_hold_all_connections_and_more() {
    let service = Running::new(|settings| settings.max_connections = 50);
    // Each announces a large body, and sends no more.
    let head = request("POST", "/v1/recourse", &[("Content-Length", "1000000")], b"");
    let head = head.strip_suffix(b"Content-Length: 0\r\n\r\n").expect("a head");
    let mut stalled: Vec<_> = (0..80).map(|_| service.client()).collect();
    for client in &mut stalled {
        // Connections beyond the limit may be refused before they have sent it.
        let _ = client.try_send([head, b"\r\n{\"row\""].concat());
    }
    for _ in 0..20 {
        assert_eq!(service.get("/healthz").status, 200);
        assert_eq!(service.get("/readyz").status, 200);
    }
    drop(stalled);
    until("all are forgotten", || service.get("/v1/models").status == 200);
    service.is_well();
}

#[test]
fn requests_are_answered_beside_idle_connections_up_to_the_limit() {
    let service = Running::new(|settings| {
        settings.max_connections = 300;
        settings.patience = Duration::from_millis(500);
    });
    let idle: Vec<_> = (0..299).map(|_| service.client()).collect();
    service.is_well();
    // Further ones are refused until the idle ones are closed.
    let more: Vec<_> = (0..10).map(|_| service.client()).collect();
    until("the idle ones are closed", || service.get("/v1/models").status == 200);
    service.is_well();
    drop((idle, more));
    until("all are forgotten", || service.metric("par_connections") == 1.0);
}

#[test]
fn bodies_in_memory_are_limited_in_total() {
    let service = Running::new(|settings| settings.max_bodies = 4 << 20);
    let (head, part) = (chunked("/v1/recourse", &[]), vec![b' '; 900 << 10]);
    let mut clients: Vec<_> = (0..40).map(|_| service.client()).collect();
    let stalls = |client: &mut Client| {
        client.send(&head);
        // A body may be refused before all of it is sent.
        let _ = client.send_chunk(&part);
    };
    clients.iter_mut().for_each(stalls);
    let is_refused = |client: &mut Client| !client.hears_nothing(Duration::from_millis(50));
    let mut refused: Vec<Client> = Vec::new();
    until("all but those within the budget are refused", || {
        refused.extend(clients.extract_if(.., is_refused));
        refused.len() >= 36
    });
    for client in &mut refused {
        let response = client.response();
        assert_eq!((response.status, response.code()), (503, "overloaded".to_string()));
        assert_eq!(response.header("retry-after"), Some("1"));
    }
    // Single questions are read all the same.
    service.is_well();
    drop(clients);
    let mut large = question();
    large.resize(1 << 20, b' ');
    until("the budget is free again", || service.ask("POST", "/v1/recourse", &[], &large).status == 200);
}

#[test]
fn an_answer_that_takes_too_long_is_refused() {
    let service = Running::new(|settings| {
        settings.threads = 1;
        settings.time = Duration::from_millis(100);
    });
    let rows: Vec<Value> = denied(1).into_iter().cycle().take(1_000).map(row).collect();
    let refused = service.post("/v1/recourse", &json!({"rows": rows, "method": "exact"}));
    assert_eq!((refused.status, refused.code()), (504, "too_slow".to_string()));
    // Work whose client has left is not done.
    until("nothing is left to do", || service.metric("par_queued") == 0.0);
    until("others are answered", || {
        service.post("/v1/models/german:predict", &json!({"instances": [row(0)]})).status == 200
    });
}

#[test]
fn a_single_question_comes_before_a_stream() {
    let service = Running::new(|settings| settings.threads = 1);
    let mut stream = service.client();
    stream.send(chunked("/v1/recourse/batch", &[]));
    let line = json!({"row": row(denied(1)[0]), "method": "exact", "count": 2}).to_string() + "\n";
    stream.send_chunk(line.repeat(400)).expect("an open connection");
    assert_eq!(stream.head().map(|head| head.status), Some(200));
    service.is_well();
    assert_eq!(service.metric("par_streams"), 1.0, "the stream has not ended before");
}
