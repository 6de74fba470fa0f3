//! Malformed and ambiguous HTTP.

use serde_json::{Value, json};

use crate::client::request;
use crate::running::{Running, denied, logs, row, until};

/// The statuses of all responses until the connection is closed.
fn statuses(service: &Running, bytes: impl AsRef<[u8]>) -> Vec<u16> {
    let mut client = service.client();
    // The service may close before it has read everything.
    let _ = client.try_send(bytes);
    std::iter::from_fn(|| {
        let head = client.head()?;
        let length = head.header("content-length").map_or(0, |length| length.parse().expect("a number"));
        client.take(length)?;
        Some(head.status)
    })
    .collect()
}

/// A request that is smuggled in the body of another.
const HIDDEN: &str = "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn a_body_has_one_length() {
    let service = Running::new(|_| {});
    let post = "POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    // Two lengths that differ.
    assert_eq!(
        statuses(&service, format!("{post}Content-Length: 2\r\nContent-Length: 44\r\n\r\n{{}}{HIDDEN}")),
        [400]
    );
    // A length and chunks: chunks count, and nothing after them.
    for both in
        ["Content-Length: 2\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 2"]
    {
        assert_eq!(
            statuses(&service, format!("{post}{both}\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n{HIDDEN}")),
            [422],
            "{both}"
        );
    }
    // Encodings that are malformed or hidden.
    for encoding in [
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding:\x0bchunked",
        " Transfer-Encoding: chunked",
    ] {
        assert_eq!(
            statuses(&service, format!("{post}{encoding}\r\n\r\n0\r\n\r\n{HIDDEN}")),
            [400],
            "{encoding}"
        );
    }
    service.is_well();
}

#[test]
fn malformed_heads_are_refused() {
    let service = Running::new(|_| {});
    for head in [
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nNo colon\r\n\r\n",
        "GET / HTTP/1.1\r\nBad name: x\r\n\r\n",
        "GET / HTTP/1.1\r\nX: a\0b\r\n\r\n",
        "GET /\0 HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\x02\0\x01\0\x01\x7b\x03\x03\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        let told = statuses(&service, head);
        assert!(told.is_empty() || told == [400] || told == [505], "{head:?}: {told:?}");
    }
    assert_eq!(
        statuses(
            &service,
            [b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n".as_slice(), HIDDEN.as_bytes()].concat()
        ),
        [400]
    );
    service.is_well();
}

#[test]
fn heads_that_are_too_large_are_refused() {
    let service = Running::new(|_| {});
    let many = (0..10_000)
        .fold("GET /healthz HTTP/1.1\r\n".to_string(), |head, number| head + &format!("X-{number}: y\r\n"));
    assert_eq!(statuses(&service, many + "\r\n"), [431]);
    let long = format!("GET /healthz HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(1 << 20));
    assert_eq!(statuses(&service, long), [431]);
    let address = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "y".repeat(1 << 20));
    assert!([414, 431].contains(&statuses(&service, address)[0]));
    // As large as those of browsers and proxies is fine.
    let usual = format!(
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nCookie: {}\r\nConnection: close\r\n\r\n",
        "y".repeat(16 << 10)
    );
    assert_eq!(statuses(&service, usual), [200]);
    service.is_well();
}

#[test]
fn requests_sent_at_once_are_answered_in_their_order() {
    let service = Running::new(|_| {});
    let people = denied(8);
    let mut bytes = Vec::new();
    for &person in &people {
        bytes.extend(request(
            "POST",
            "/v1/recourse",
            &[],
            json!({"row": row(person)}).to_string().as_bytes(),
        ));
        bytes.extend(request("GET", "/healthz", &[], b""));
    }
    let mut client = service.client();
    client.send(bytes);
    for person in people {
        assert_eq!(client.response().body, service.post("/v1/recourse", &json!({"row": row(person)})).body);
        assert_eq!(client.response().json(), json!({"status": "ok"}));
    }
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let service = Running::new(|_| {});
    let body = json!({"row": row(denied(1)[0])}).to_string();
    let mut client = service.client();
    for byte in request("POST", "/v1/recourse", &[], body.as_bytes()) {
        client.send([byte]);
    }
    assert_eq!(client.response().status, 200);
}

#[test]
fn old_clients_get_a_body_and_a_closed_connection() {
    let service = Running::new(|_| {});
    let mut client = service.client();
    let response = client.send("GET /healthz HTTP/1.0\r\n\r\n").response();
    assert_eq!((response.status, response.json()), (200, json!({"status": "ok"})));
    assert!(client.is_closed());
    let mut client = service.client();
    client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!(client.response().header("connection"), Some("close"));
    assert!(client.is_closed());
}

#[test]
fn a_client_that_closed_its_side_is_answered_or_disconnected() {
    let service = Running::new(|_| {});
    for _ in 0..20 {
        let body = json!({"row": row(denied(1)[0])}).to_string();
        let mut client = service.client();
        client.send(request("POST", "/v1/recourse", &[], body.as_bytes())).ends();
        if let Some(head) = client.head() {
            assert_eq!(head.status, 200);
        }
        assert!(client.is_closed());
    }
    // A request that ends in the middle of its body is not answered.
    let mut client = service.client();
    client.send("POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{").ends();
    assert!(client.head().is_none_or(|head| head.status == 400));
    assert!(client.is_closed());
    service.is_well();
}

#[test]
fn a_refused_body_leaves_no_rest_behind() {
    let service = Running::new(|_| {});
    // The body of a request that was refused before it was read must not count as the next request.
    let bytes =
        [request("POST", "/nothing", &[], HIDDEN.as_bytes()), request("GET", "/healthz", &[], b"")].concat();
    let told = statuses(
        &service,
        [bytes, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_vec()].concat(),
    );
    assert_eq!(told[0], 404);
    assert!(told[1..].iter().all(|status| *status == 200) && told.len() <= 3, "{told:?}");
}

#[test]
fn heads_that_cannot_be_read_are_refused_counted_and_logged() {
    let service = Running::new(|_| {});
    let long = format!("GET /healthz HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(1 << 20));
    let address = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "y".repeat(65_535));
    let not_http = ("wrong_head", "the head of the request is not HTTP/1.1");
    let too_large = (
        "head_too_large",
        "the head of the request has more than 65536 bytes or too many headers: send less",
    );
    for (head, status, (code, error)) in [
        ("nonsense\r\n\r\n", 400, not_http),
        ("GET / HTTP/1.1\r\nNo colon\r\n\r\n", 400, not_http),
        ("POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400, not_http),
        (&long, 431, too_large),
        (&address, 414, too_large),
    ] {
        let metric = format!("par_requests_total{{route=\"other\",status=\"{status}\"}}");
        let before = service.metric(&metric);
        let mut client = service.client();
        // Also after a request that was answered.
        assert_eq!(client.send(request("GET", "/healthz", &[], b"")).response().status, 200);
        let _ = client.try_send(head);
        let response = client.response();
        assert_eq!(response.status, status, "{head:.60}");
        let id = response.header("x-request-id").expect("a name").to_string();
        let expected = json!({"error": error, "code": code, "problems": [], "request_id": id});
        assert_eq!(response.json(), expected, "{head:.60}");
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(response.header("connection"), Some("close"));
        assert!(response.header("date").is_some());
        assert!(client.is_closed());
        assert_eq!(service.metric(&metric), before + 1.0);
        let logs = logs();
        let line = logs.lines().find(|line| line.contains(&id)).expect("a line");
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&line["status"], &line["code"]), (&json!(status), &json!(code)));
    }
    // HTTP/2 is not answered, but counted.
    let metric = "par_requests_total{route=\"other\",status=\"400\"}";
    let before = service.metric(metric);
    let mut client = service.client();
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert!(client.is_closed());
    until("it is counted", || service.metric(metric) == before + 1.0);
}
