//! Clients that stall, send too much or attack: each is stopped, and the next one is answered.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{chunked, request};
use crate::running::{Running, denied, row, until};

/// The memory of this process, in MB.
pub(crate) fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    kilobytes
        .map_or(0.0, |text| text.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0)
}

#[test]
fn a_client_that_stalls_in_the_head_is_disconnected() {
    let service = Running::new(|settings| settings.patience = Duration::from_millis(200));
    for start in ["", "P", "POST /v1/recourse HTTP/1.1\r\nHost: te"] {
        let mut client = service.client();
        let begun = Instant::now();
        client.send(start);
        assert!(client.is_closed());
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
    // Also a client that keeps sending, but never the end.
    let mut client = service.client();
    client.send("GET /healthz HTTP/1.1\r\n");
    let begun = Instant::now();
    while client.try_send("X: y\r\n").is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(20));
    }
    service.is_well();
}

#[test]
fn a_client_that_stalls_in_the_body_gets_408() {
    let service = Running::new(|settings| settings.patience = Duration::from_millis(200));
    let head = "POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"row\"";
    let mut client = service.client();
    let response = client.send(head).response();
    assert_eq!((response.status, response.code()), (408, "stalled".to_string()));
    assert_eq!(response.header("connection"), Some("close"));
    assert!(client.is_closed());

    // So does one that sends byte by byte.
    let mut client = service.client();
    client.send(chunked("/v1/recourse", &[]));
    let begun = Instant::now();
    while client.send_chunk(" ").is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(20));
    }
    service.is_well();
}

#[test]
fn clients_that_stall_hold_no_permits() {
    let service = Running::new(|_| {});
    let mut stalled: Vec<_> = (0..20).map(|_| service.client()).collect();
    for client in &mut stalled {
        client.send(chunked("/v1/recourse", &[]));
        client.send_chunk("{").expect("an open connection");
    }
    until("all are under way", || service.metric("par_requests_in_flight") == 20.0);
    let begun = Instant::now();
    let mut large = json!({"row": row(denied(1)[0])}).to_string().into_bytes();
    large.resize(200_000, b' ');
    let mut client = service.client();
    client.send(chunked("/v1/recourse", &[]));
    client.send_chunk(&large).expect("an open connection");
    assert_eq!(client.send("0\r\n\r\n").response().status, 200);
    assert_eq!(service.ask("POST", "/v1/recourse", &[], &large).status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5), "it waited for those who stall");
}

#[test]
fn many_unknown_keys_are_refused_as_quickly_as_few() {
    let service = Running::new(|_| {});
    let names: Vec<String> = (0..60_000).map(|number| format!("Agee{number}")).collect();
    let begun = Instant::now();
    let refused = service.post("/v1/recourse", &json!({"row": row(denied(1)[0]), "lock": names}));
    assert_eq!(refused.status, 422);
    assert_eq!(refused.json()["problems"].as_array().map(Vec::len), Some(20));
    assert!(begun.elapsed() < Duration::from_secs(5), "a near miss was looked for in each");
}

#[test]
fn an_idle_connection_is_closed() {
    let service = Running::new(|settings| settings.patience = Duration::from_millis(200));
    let mut client = service.client();
    assert_eq!(client.send(request("GET", "/healthz", &[], b"")).response().status, 200);
    assert!(client.is_closed());
    until("it is forgotten", || service.metric("par_connections") == 1.0);
}

#[test]
fn a_body_of_a_gigabyte_is_refused_before_it_is_read() {
    let service = Running::new(|_| {});
    let before = memory();
    let too_large =
        "the body has more than 1048576 bytes: send less at a time, or a stream to `/v1/recourse/batch`";

    // A client that expects `100 Continue` is refused at once.
    let mut polite = service.client();
    let head = "POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n";
    let begun = Instant::now();
    polite.send(format!("{head}Expect: 100-continue\r\n\r\n"));
    let response = polite.response();
    assert_eq!((response.status, response.code()), (413, "too_many_bytes".to_string()));
    assert!(begun.elapsed() < Duration::from_millis(950), "{:?}", begun.elapsed());

    let mut declared = service.client();
    declared.send(format!("{head}\r\n"));
    let part = vec![b' '; 1 << 20];
    let sent = (0..1024).take_while(|_| declared.try_send(&part).is_ok()).count();
    assert!(sent < 100, "{sent} MB were taken");

    let mut in_pieces = service.client();
    in_pieces.send(chunked("/v1/recourse", &[]));
    let sent = (0..1024).take_while(|_| in_pieces.send_chunk(&part).is_ok()).count();
    assert!(sent < 100, "{sent} MB were taken");

    // A client that sends somewhat too much can still read the refusal.
    for body in [vec![b' '; (1 << 20) + 1], vec![b' '; 3 << 20]] {
        let response = service.ask("POST", "/v1/recourse", &[], body);
        assert_eq!((response.status, response.json()["error"].as_str()), (413, Some(too_large)));
    }
    assert!(memory() - before < 300.0, "{} MB", memory() - before);
    service.is_well();
}

#[test]
fn impossible_lengths_are_refused() {
    let service = Running::new(|_| {});
    for length in ["-1", "1e3", "0x10", "18446744073709551616", "1, 2", "", "+5"] {
        let mut client = service.client();
        client.send(format!("POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"));
        assert_eq!(client.head().map(|head| head.status), Some(400), "{length}");
        assert!(client.is_closed());
    }
    let mut client = service.client();
    client.send(format!(
        "POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        u64::MAX - 2
    ));
    assert_eq!(client.head().map(|head| head.status), Some(413));
    service.is_well();
}

#[test]
fn hostile_rows_are_refused_or_answered_and_nothing_breaks() {
    let service = Running::new(|_| {});
    let person = row(denied(1)[0]);
    let names: Vec<String> = person.as_object().expect("an object").keys().cloned().collect();
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1e300),
        json!(-1e-300),
        json!(""),
        json!(" "),
        json!("\u{feff}A11"),
        json!("A11\n"),
        json!("\u{202e}A11"),
        json!("-"),
        json!("?"),
        json!("NA"),
        json!("🦀"),
        json!([]),
        json!({}),
        json!([[[]]]),
        json!("1"),
        json!("NaN"),
        json!(9_007_199_254_740_993_i64),
        json!(u64::MAX),
        json!(i64::MIN),
    ];
    let mut client = service.client();
    let mut statuses = [0; 2];
    for name in &names {
        for value in &values {
            let mut body = json!({"row": person, "method": "generate"});
            body["row"][name] = value.clone();
            let response =
                client.send(request("POST", "/v1/recourse", &[], body.to_string().as_bytes())).response();
            match response.status {
                200 => statuses[0] += 1,
                422 => statuses[1] += 1,
                other => panic!("{other} for {name} = {value}: {}", response.text()),
            }
        }
    }
    assert!(statuses.iter().all(|count| *count > 20), "{statuses:?}");

    let options: Vec<Value> = values.to_vec();
    for option in ["method", "count", "budget", "threshold", "lock", "limit", "plot", "row", "rows"] {
        for value in &options {
            let mut body = json!({"row": person, "method": "generate"});
            body[option] = value.clone();
            let response =
                client.send(request("POST", "/v1/recourse", &[], body.to_string().as_bytes())).response();
            assert!([200, 422].contains(&response.status), "{option} = {value}: {}", response.text());
        }
    }
    for limit in [
        json!({"Duration": {"between": [24, 6]}}),
        json!({"Duration": {"between": [1e308, null]}}),
        json!({"Duration": {"between": [null, -1e308]}}),
        json!({"Duration": {"between": [null, null]}}),
        json!({"Duration": {"among": []}}),
        json!({"Duration": {"among": [1e308]}}),
        json!({"Housing": {"among": []}}),
        json!({"Housing": {"among": vec!["A151"; 10_000]}}),
    ] {
        for method in ["refine", "exact"] {
            let body = json!({"row": person, "limit": limit, "method": method, "budget": 1_000_000_000});
            let response = service.post("/v1/recourse", &body);
            assert!([200, 422].contains(&response.status), "{limit}: {}", response.text());
        }
    }
    service.is_well();
}
