//! Streams that break, stall or never end.

use std::time::{Duration, Instant};

use par_data::german_credit;
use serde_json::{Value, json};

use crate::client::chunked;
use crate::hostile::memory;
use crate::running::{Running, denied, row, until};

const CSV: (&str, &str) = ("Content-Type", "text/csv");
const NDJSON: (&str, &str) = ("Content-Type", "application/x-ndjson");

fn line() -> String {
    json!({"row": row(denied(1)[0])}).to_string() + "\n"
}

/// The answers of a stream.
fn answers(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_table_without_all_features_is_refused() {
    let service = Running::new(|_| {});
    let headless: String = german_credit::CSV.split_inclusive('\n').skip(1).take(3).collect();
    let absent: String = german_credit::CSV.replacen("Housing", "House", 1);
    for (table, error) in [
        (headless.as_str(), "body: two columns are called `4`"),
        (absent.as_str(), "body: no column `Housing`"),
        ("", "body: the file is empty"),
        ("\n\n", "body: "),
        ("a,a\n1,2\n", "body: two columns are called `a`"),
        ("PK\u{3}\u{4}", "body: "),
    ] {
        let response = service.ask("POST", "/v1/recourse/batch", &[CSV], table);
        assert_eq!((response.status, response.code()), (422, "wrong_table".to_string()), "{table:.40}");
        let told = response.json()["error"].as_str().expect("a text").to_string();
        assert!(told.starts_with(error), "{told}");
        assert!(told.len() < 3_000, "{told}");
    }
    let binary = service.ask("POST", "/v1/recourse/batch", &[CSV], b"\xff\xfe\0a\0,\n");
    assert_eq!(binary.status, 422);
    let broken_gzip = service.ask("POST", "/v1/recourse/batch", &[CSV], b"\x1f\x8bnonsense");
    assert_eq!(broken_gzip.status, 422, "{}", broken_gzip.text());
    service.is_well();
}

#[test]
fn a_table_that_breaks_in_the_middle_ends_with_the_reason() {
    let service = Running::new(|_| {});
    let good: Vec<&str> = german_credit::CSV.lines().take(21).collect();
    let not_text = [good.join("\n").as_bytes(), b"\n40,A\xff1,6\n41"].concat();
    let short = format!("{}\n40,A11,6\n{}\n", good.join("\n"), good[1]);
    let endless = format!("{}\n40,\"A11{}", good.join("\n"), "x".repeat(3 << 20));
    for (table, reason) in [
        (short.into_bytes(), "line 22: expected 22 cells, found 3"),
        (not_text, "line 22: cell 2 is not UTF-8"),
        (endless.into_bytes(), "line 22"),
    ] {
        let response = service.ask("POST", "/v1/recourse/batch", &[CSV], table);
        let told = answers(response.text());
        // All rows before it are answered.
        assert_eq!(told.len(), 21, "{:?}", told.last());
        assert!(told[..20].iter().all(|answer| answer["status"] != json!("error")));
        let last = &told[20];
        assert_eq!(last["status"], json!("error"));
        assert!(last["reason"].as_str().is_some_and(|told| told.contains(reason)), "{}", last["reason"]);
    }
    service.is_well();
}

#[test]
fn a_wrong_cell_is_reported_and_the_rest_answered() {
    let service = Running::new(|_| {});
    let table: String = german_credit::CSV.split_inclusive('\n').take(4).collect();
    let table = table.replacen("A152", "A1\u{0}52", 1);
    let response = service.ask("POST", "/v1/recourse/batch", &[CSV], table);
    let told = answers(response.text());
    assert_eq!((told.len(), &told[0]["status"]), (3, &json!("error")));
    assert!(told[1..].iter().all(|answer| answer["status"] != json!("error")));
}

#[test]
fn a_line_that_is_too_long_is_reported_and_the_next_one_answered() {
    let service = Running::new(|_| {});
    let before = memory();
    let body = [&*line(), &"x".repeat(10 << 20), "\n", &line()].concat();
    let mut client = service.client();
    client.send(chunked("/v1/recourse/batch", &[NDJSON]));
    let sent = body.as_bytes().chunks(1 << 16).try_for_each(|part| client.send_chunk(part));
    sent.expect("an open connection");
    client.send("0\r\n\r\n");
    assert_eq!(client.head().map(|head| head.status), Some(200));
    let told = answers(std::str::from_utf8(&client.rest_of_chunks()).expect("UTF-8"));
    assert_eq!((told.len(), &told[1]["id"]), (3, &json!("2")));
    assert_eq!(told[1]["reason"], json!("the line has more than 1048576 bytes"));
    assert_eq!((&told[2]["id"], &told[2]["status"]), (&json!("3"), &json!("found")));
    assert!(memory() - before < 300.0);
    service.is_well();
}

#[test]
fn a_row_without_end_does_not_fill_the_memory() {
    let service = Running::new(|_| {});
    let before = memory();
    let mut client = service.client();
    client.send(chunked("/v1/recourse/batch", &[CSV]));
    let header = german_credit::CSV.lines().next().expect("a header");
    client.send_chunk(format!("{header},more\n")).expect("an open connection");
    // Rows with large cells in unused columns.
    let row = german_credit::CSV.lines().nth(1).expect("a row");
    let large = format!("{row},{}\n", "x".repeat(900_000));
    let sent = (0..300).take_while(|_| client.send_chunk(&large).is_ok()).count();
    assert!(sent > 0);
    drop(client);
    assert!(memory() - before < 300.0, "{} MB", memory() - before);
    service.is_well();
}

#[test]
fn a_client_that_does_not_read_is_not_read_and_disconnected() {
    let service = Running::new(|settings| settings.patience = Duration::from_millis(700));
    let before = memory();
    let mut client = service.client();
    client.send(chunked("/v1/recourse/batch", &[NDJSON]));
    let lines = line().repeat(50);
    client.waits(Duration::from_millis(500));
    let begun = Instant::now();
    let mut sent = 0;
    while client.send_chunk(&lines).is_ok() {
        sent += lines.len();
        assert!(sent < 200 << 20, "more than 200 MB were taken without an answer being read");
        assert!(begun.elapsed() < Duration::from_secs(15));
    }
    assert!(memory() - before < 200.0, "{} MB", memory() - before);
    // Other clients are served meanwhile.
    service.is_well();
    until("the stream is given up", || service.metric("par_streams") == 0.0);
    service.is_well();
}

#[test]
fn work_for_a_client_that_left_ends() {
    let service = Running::new(|_| {});
    for _ in 0..10 {
        let mut client = service.client();
        client.send(chunked("/v1/recourse/batch", &[NDJSON]));
        client.send_chunk(line().repeat(200)).expect("an open connection");
        assert_eq!(client.head().map(|head| head.status), Some(200));
        assert!(client.take(100).is_some());
        drop(client);
    }
    until("all streams are given up", || service.metric("par_streams") == 0.0);
    until("nothing is left to do", || service.metric("par_queued") == 0.0);
    service.is_well();
}

#[test]
fn a_stream_that_stalls_ends_with_the_reason() {
    let service = Running::new(|settings| settings.patience = Duration::from_millis(200));
    let mut client = service.client();
    client.send(chunked("/v1/recourse/batch", &[NDJSON]));
    client.send_chunk(line() + "{\"row\":").expect("an open connection");
    assert_eq!(client.head().map(|head| head.status), Some(200));
    let told = answers(std::str::from_utf8(&client.rest_of_chunks()).expect("UTF-8"));
    assert_eq!(told.len(), 2);
    assert_eq!(told[1]["reason"], json!("the body did not arrive in time"));
    assert!(client.is_closed());

    let mut table = service.client();
    table.send(chunked("/v1/recourse/batch", &[CSV])).send("5\r\nid,St\r\n");
    let response = table.response();
    assert_eq!((response.status, response.code()), (408, "stalled".to_string()));
    service.is_well();
}

#[test]
fn streams_that_are_too_slow_end_and_free_their_permits() {
    let service = Running::new(|settings| {
        settings.patience = Duration::from_millis(400);
        settings.min_rate = 1_000;
        settings.max_streams = 2;
    });
    let too_slow = "the body came too slowly, expected at least 1000 bytes a second";
    let mut lines = service.client();
    lines.send(chunked("/v1/recourse/batch", &[NDJSON]));
    let mut table = service.client();
    table.send(chunked("/v1/recourse/batch", &[CSV]));
    until("both places are taken", || service.metric("par_streams") == 2.0);
    assert_eq!(lines.head().map(|head| head.status), Some(200));
    until("both places are free", || {
        for client in [&mut lines, &mut table] {
            if client.hears_nothing(Duration::from_millis(20)) {
                // The service may close it meanwhile.
                let _ = client.send_chunk(" ");
            }
        }
        service.metric("par_streams") == 0.0
    });
    let told = answers(std::str::from_utf8(&lines.rest_of_chunks()).expect("UTF-8"));
    assert_eq!((told.len(), &told[0]["reason"]), (1, &json!(too_slow)));
    let refused = table.response();
    assert_eq!((refused.status, refused.code()), (408, "stalled".to_string()));
    assert_eq!(refused.json()["error"], json!(too_slow));
    assert_eq!(service.ask("POST", "/v1/recourse/batch", &[NDJSON], line()).status, 200);
}

#[test]
fn a_stream_that_breaks_off_stops_nothing_else() {
    let service = Running::new(|_| {});
    for end in ["zz\r\n", "ffffffffffffffffff\r\n", "5\r\nab", ""] {
        let mut client = service.client();
        client.send(chunked("/v1/recourse/batch", &[NDJSON]));
        client.send_chunk(line()).expect("an open connection");
        client.send(end).ends();
        assert!(client.is_closed());
    }
    until("all streams are given up", || service.metric("par_streams") == 0.0);
    service.is_well();
}

#[test]
fn streams_beyond_the_limit_are_refused_until_one_ends() {
    let service = Running::new(|settings| settings.max_streams = 1);
    let mut first = service.client();
    first.send(chunked("/v1/recourse/batch", &[NDJSON]));
    assert_eq!(first.head().map(|head| head.status), Some(200));
    let refused = service.ask("POST", "/v1/recourse/batch", &[NDJSON], line());
    assert_eq!(
        (refused.status, refused.code(), refused.header("retry-after")),
        (503, "overloaded".to_string(), Some("1"))
    );
    // Other requests do not wait for it.
    service.is_well();
    first.send_chunk(line()).expect("an open connection");
    first.send("0\r\n\r\n");
    assert_eq!(first.rest_of_chunks().iter().filter(|byte| **byte == b'\n').count(), 1);
    until("the stream ends", || service.metric("par_streams") == 0.0);
    assert_eq!(service.ask("POST", "/v1/recourse/batch", &[NDJSON], line()).status, 200);
}
