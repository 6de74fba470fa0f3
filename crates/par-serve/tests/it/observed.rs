//! Metrics and logs, which hold no values of any person.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{chunked, request};
use crate::running::{Running, denied, logs, row, until};

/// The text format of Prometheus, line by line: each family is announced, each value is a number.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    let mut kinds = BTreeMap::new();
    let mut values = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words.as_slice() {
            ["#", "HELP", ..] => {}
            ["#", "TYPE", name, kind] => {
                assert!(kinds.insert(name.to_string(), kind.to_string()).is_none(), "{name} is there twice");
            }
            _ => {
                let (name, value) = line.rsplit_once(' ').expect("a name and a value");
                let family = name.split('{').next().expect("a name");
                let family = ["_bucket", "_sum", "_count"]
                    .iter()
                    .find_map(|end| family.strip_suffix(end))
                    .filter(|family| kinds.get(*family).is_some_and(|kind| kind == "histogram"))
                    .unwrap_or(family);
                assert!(kinds.contains_key(family), "{line}");
                let value: f64 = value.parse().expect("a number");
                assert!(value >= 0.0 && values.insert(name.to_string(), value).is_none(), "{line}");
            }
        }
    }
    values
}

#[test]
fn requests_and_answers_are_counted() {
    let service = Running::new(|_| {});
    let rows: Vec<Value> = (0..30).map(row).collect();
    let told = service.post("/v1/recourse", &json!({"rows": rows})).json();
    let count = |status: &str| {
        told["answers"]
            .as_array()
            .expect("answers")
            .iter()
            .filter(|answer| answer["status"] == json!(status))
            .count() as f64
    };
    service.post("/v1/recourse", &json!({}));
    service.get("/v1/models/unknown");
    service.get("/secret/address/of/somebody");
    service.get("/other");
    let metrics = service.get("/metrics");
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4"));
    let values = parsed(metrics.text());
    assert_eq!(values["par_requests_total{route=\"/v1/recourse\",status=\"200\"}"], 1.0);
    assert_eq!(values["par_requests_total{route=\"/v1/recourse\",status=\"422\"}"], 1.0);
    assert_eq!(values["par_requests_total{route=\"/v1/models/{name}\",status=\"404\"}"], 1.0);
    assert_eq!(values["par_requests_total{route=\"other\",status=\"404\"}"], 2.0);
    for status in ["accepted", "found"] {
        assert_eq!(
            values[&format!("par_answers_total{{model=\"german\",status=\"{status}\"}}")],
            count(status)
        );
    }
    assert_eq!(values["par_request_seconds_count{route=\"/v1/recourse\"}"], 2.0);
    assert_eq!(values["par_request_seconds_bucket{route=\"/v1/recourse\",le=\"+Inf\"}"], 2.0);
    assert!(values["par_request_seconds_sum{route=\"/v1/recourse\"}"] > 0.0);
    assert!(values["par_model_loaded_seconds{model=\"german\"}"] > 1.7e9);
    assert_eq!(values["par_requests_in_flight"], 0.0);
    assert_eq!(values["par_queued"], 0.0);
    assert!(values["par_connections"] >= 1.0);
    assert!(!metrics.text().contains("somebody"));
}

#[test]
fn requests_in_flight_are_counted() {
    let service = Running::new(|_| {});
    let mut stream = service.client();
    stream.send(chunked("/v1/recourse/batch", &[]));
    assert_eq!(stream.head().map(|head| head.status), Some(200));
    assert_eq!(service.metric("par_streams"), 1.0);
    let mut slow = service.client();
    slow.send("POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{");
    until("a request is under way", || service.metric("par_requests_in_flight") == 1.0);
    assert_eq!(slow.send("}").response().status, 422);
    stream.send("0\r\n\r\n");
    until("the stream ends", || service.metric("par_streams") == 0.0);
    drop((slow, stream));
    until("connections end", || service.metric("par_connections") == 1.0);
}

#[test]
fn logs_hold_no_values() {
    let service = Running::new(|_| {});
    // Values that occur nowhere else.
    let mut person = row(denied(1)[0]);
    person["id"] = json!("Erika-Mustermann");
    person["Credit amount"] = json!(7_654_321);
    let mut wrong = person.clone();
    wrong["Housing"] = json!("Schloss-Bellevue");
    wrong["Kontonummer"] = json!("DE0012345678");
    let json_type = [("Content-Type", "application/json")];
    let mut client = service.client();
    client.send(request("POST", "/v1/recourse", &json_type, json!({"row": person}).to_string().as_bytes()));
    assert_eq!(client.response().json()["answers"][0]["id"], json!("Erika-Mustermann"));
    assert_eq!(service.post("/v1/recourse", &json!({"row": wrong})).status, 422);
    assert_eq!(service.post("/v1/models/german:explain", &json!({"instances": [person, wrong]})).status, 422);
    assert_eq!(
        service.ask("POST", "/v1/recourse", &[], "{\"Erika-Mustermann\": \"Schloss-Bellevue").status,
        400
    );
    let lines = format!("{}\n{}\nSchloss-Bellevue\n", json!({"row": person}), json!({"row": wrong}));
    assert_eq!(service.ask("POST", "/v1/recourse/batch", &[], lines).text().lines().count(), 3);
    let table = "id,Erika-Mustermann\nSchloss-Bellevue,7654321\n";
    assert_eq!(service.ask("POST", "/v1/recourse/batch", &[("Content-Type", "text/csv")], table).status, 422);
    assert_eq!(service.get("/v1/schema?model=Erika-Mustermann").status, 404);
    assert_eq!(service.get("/Erika-Mustermann?7654321").status, 404);

    let logs = logs();
    for value in ["Mustermann", "7654321", "Bellevue", "DE0012345678", "Kontonummer"] {
        assert!(!logs.contains(value), "`{value}` is in the logs");
    }
}

#[test]
fn every_request_is_a_line_of_json() {
    let service = Running::new(|_| {});
    let ask = |id: &str, body: &Value| {
        let headers = [("X-Request-Id", id), ("Content-Type", "application/json")];
        service.ask("POST", "/v1/recourse", &headers, body.to_string())
    };
    ask("logged-well", &json!({"rows": [row(0), row(1)]}));
    ask("logged-wrong", &json!({}));
    let line = |id: &str| {
        let logs = logs();
        let line = logs.lines().find(|line| line.contains(&format!("\"{id}\""))).expect("a line");
        let line: Value = serde_json::from_str(line).expect("JSON");
        line
    };
    let well = line("logged-well");
    assert_eq!((&well["level"], &well["message"]), (&json!("INFO"), &json!("request")));
    assert_eq!((&well["method"], &well["route"]), (&json!("POST"), &json!("/v1/recourse")));
    assert_eq!((&well["status"], &well["model"], &well["rows"]), (&json!(200), &json!("german"), &json!(2)));
    assert!(well["micros"].as_u64().is_some_and(|micros| micros > 0));
    let wrong = line("logged-wrong");
    assert_eq!((&wrong["status"], &wrong["code"]), (&json!(422), &json!("wrong_value")));
    for line in logs().lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object()), "{line}");
    }
}
