//! `POST /v1/recourse/batch`: tables of any length, answered while they come in.

use std::io::Write as _;

use par_answer::table::TableAnswerer;
use par_answer::write::{csv_header, csv_lines};
use par_answer::{Method, Order, Request, Solver};
use par_data::german_credit;
use serde_json::{Value, json};

use crate::client::chunked;
use crate::running::{Running, cells, denied, described, model, row, rows};

const CSV: (&str, &str) = ("Content-Type", "text/csv");
const NDJSON: (&str, &str) = ("Content-Type", "application/x-ndjson");
const AS_CSV: (&str, &str) = ("Accept", "text/csv");

/// What `par recourse` writes for the first rows of German Credit.
fn table_of(request: &Request, count: usize) -> String {
    let model = model();
    let table = german_credit::table();
    let columns = model.schema().columns("table", table.columns()).expect("its own schema");
    let answerer = TableAnswerer::new(model, table.columns(), columns, request.clone(), false);
    let mut solver = Solver::new(model);
    let people: Vec<_> =
        (0..count).map(|row| answerer.answer(&mut solver, rows(), row, row as u64 + 1)).collect();
    let lines = [csv_header(model.schema()), csv_lines(model.schema(), &people)].concat();
    String::from_utf8(lines).expect("UTF-8")
}

/// The header and the first rows of German Credit.
fn first_rows(count: usize) -> String {
    german_credit::CSV.split_inclusive('\n').take(count + 1).collect()
}

/// A line of JSON for each row.
fn lines(rows: impl IntoIterator<Item = usize>) -> String {
    rows.into_iter().map(|number| json!({"row": row(number)}).to_string() + "\n").collect()
}

#[test]
fn a_table_comes_back_as_par_recourse_writes_it() {
    let service = Running::new(|_| {});
    let response = service.ask("POST", "/v1/recourse/batch", &[CSV, AS_CSV], german_credit::CSV);
    assert_eq!((response.status, response.header("content-type")), (200, Some("text/csv; charset=utf-8")));
    assert!(response.text() == table_of(&Request::default(), 1_000));
    assert_eq!(service.metric("par_streams"), 0.0);
}

#[test]
fn parameters_are_the_options_of_all_rows() {
    let service = Running::new(|_| {});
    let position = |name: &str| model().schema().position(name).expect("a feature");
    let path = "/v1/recourse/batch?method=exact&count=2&order=likelihood&auditor=true&budget=3&threshold=0.6&min_percentile=0.2&lock=Age&lock=Credit+amount&limit=Duration%3D6..24";
    let response = service.ask("POST", path, &[CSV, AS_CSV], first_rows(60));
    let permitted = par_data::Permitted::Between([6.0, 24.0]);
    let limits = par_data::Limits::new(model().discretizer(), [(position("Duration"), permitted)]);
    let mut locks = vec![position("Age"), position("Credit amount")];
    locks.sort_unstable();
    let request = Request {
        method: Method::Exact,
        count: 2,
        budget: Some(3),
        threshold: Some(0.6),
        min_percentile: Some(0.2),
        locks,
        limits: limits.expect("limits that can be kept"),
        order: Some(Order::Likelihood),
        auditor: true,
        ..Request::default()
    };
    assert_eq!(response.text(), table_of(&request, 60));

    let wrong = [
        ("count=0", "?count"),
        ("method=guess", "?method"),
        ("order=best", "?order"),
        ("auditor=yes", "?auditor"),
        ("threshold=1", "?threshold"),
        ("min_percentile=2", "?min_percentile"),
        ("lock=Nothing", "?lock"),
        ("limit=Duration", "?limit"),
        ("limit=Duration%3Da..b", "?limit"),
        ("limits=x", "?limits"),
        ("first=0", "?first"),
    ];
    for (query, place) in wrong {
        let response = service.ask("POST", &format!("/v1/recourse/batch?{query}"), &[CSV], first_rows(1));
        assert_eq!(
            (response.status, &response.json()["problems"][0]["path"]),
            (422, &json!(place)),
            "{query}"
        );
    }
}

#[test]
fn effort_and_time_are_parameters_of_a_table_and_columns_of_its_rows() {
    let service = Running::new(|_| {});
    let position = |name: &str| model().schema().position(name).expect("a feature");
    let path = "/v1/recourse/batch?margin=0.1&max_effort=9&within=1+year&effort=Duration%3Dhard&effort=Telephone%3D0.5&no_harm=true&slack=true&robust=false";
    let response = service.ask("POST", path, &[CSV, AS_CSV], first_rows(40));
    let request = Request {
        margin: Some(0.1),
        max_effort: Some(9.0),
        within: Some(12),
        efforts: vec![(position("Duration"), 4.0), (position("Telephone"), 0.5)],
        no_harm: true,
        slack: true,
        ..Request::default()
    };
    assert_eq!(response.text(), table_of(&request, 40));

    let with_options: String = (first_rows(40).lines().zip(
        ["margin,max_effort,within,efforts"]
            .into_iter()
            .chain(std::iter::repeat("0.1,9,1 year,Duration=hard; Telephone=0.5")),
    ))
    .map(|(line, options)| format!("{line},{options}\n"))
    .collect();
    let response =
        service.ask("POST", "/v1/recourse/batch?no_harm=true&slack=true", &[CSV, AS_CSV], with_options);
    assert_eq!(response.text(), table_of(&request, 40));

    let wrong = [
        ("margin=1", "?margin"),
        ("max_effort=0", "?max_effort"),
        ("within=soon", "?within"),
        ("effort=Duration", "?effort"),
        ("effort=Duration%3Dawful", "?effort"),
        ("effort=Nothing%3Dhard", "?effort"),
        ("no_harm=yes", "?no_harm"),
        ("robust=true", "?robust"),
        ("robust=2", "?robust"),
        ("certify=0", "?certify"),
        ("slack=yes", "?slack"),
    ];
    for (query, place) in wrong {
        let response = service.ask("POST", &format!("/v1/recourse/batch?{query}"), &[CSV], first_rows(1));
        assert_eq!(
            (response.status, &response.json()["problems"][0]["path"]),
            (422, &json!(place)),
            "{query}"
        );
    }
}

#[test]
fn a_table_is_answered_in_json_by_default() {
    let service = Running::new(|_| {});
    // Without an id, a row has its number.
    let table: String = first_rows(30)
        .lines()
        .map(|line| line.split_once(',').expect("an id").1.to_string() + "\n")
        .collect();
    let response = service.ask("POST", "/v1/recourse/batch?first=501", &[CSV], table);
    assert_eq!(response.header("content-type"), Some("application/x-ndjson"));
    let expected: Vec<String> =
        (0..30).map(|row| described(&Request::default(), row, row as u64 + 501)).collect();
    assert_eq!(response.text(), expected.join("\n") + "\n");
}

#[test]
fn a_table_may_be_gzipped() {
    let service = Running::new(|_| {});
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(first_rows(50).as_bytes()).expect("memory can be written to");
    let packed = packed.finish().expect("memory can be written to");
    let expected = table_of(&Request::default(), 50);
    let response = service.ask("POST", "/v1/recourse/batch", &[CSV, AS_CSV], &packed);
    assert_eq!(response.text(), expected);
    let named = [CSV, AS_CSV, ("Content-Encoding", "gzip")];
    assert_eq!(service.ask("POST", "/v1/recourse/batch", &named, &packed).text(), expected);
    let response = service.ask("POST", "/v1/recourse/batch", &[CSV, ("Content-Encoding", "br")], &packed);
    assert_eq!((response.status, response.code()), (415, "wrong_encoding".to_string()));
}

#[test]
fn lines_are_answered_line_by_line() {
    let service = Running::new(|_| {});
    let response = service.ask("POST", "/v1/recourse/batch", &[NDJSON], lines(0..200));
    let expected: Vec<String> =
        (0..200).map(|row| described(&Request::default(), row, row as u64 + 1)).collect();
    assert_eq!(response.text(), expected.join("\n") + "\n");

    let response = service.ask("POST", "/v1/recourse/batch?first=7", &[AS_CSV], lines([0]));
    assert!(response.text().lines().nth(1).is_some_and(|line| line.starts_with("7,")), "{}", response.text());
}

#[test]
fn a_line_that_cannot_be_read_is_reported_in_its_place() {
    let service = Running::new(|_| {});
    let people = denied(3);
    let [first, last] = [people[0], people[2]].map(|number| json!({"row": row(number)}).to_string());
    let mut wrong = json!({"row": row(people[1])});
    wrong["row"]["Housing"] = json!("A999");
    let body = format!("{first}\n\n{wrong}\n  \r\nnonsense\n{{\"rows\": [1, 2]}}\n\"\u{1}\"\n{last}");
    let response = service.ask("POST", "/v1/recourse/batch", &[NDJSON], body);
    let told: Vec<Value> =
        response.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let statuses: Vec<&Value> = told.iter().map(|answer| &answer["status"]).collect();
    assert_eq!(statuses, ["found", "error", "error", "error", "error", "found"]);
    let ids: Vec<&Value> = told.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(
        told[1]["reason"],
        json!("`/row/Housing`: expected one of \"A151\", \"A152\", \"A153\", found \"A999\"")
    );
    assert_eq!(told[2]["reason"], json!("the body is not JSON: expected ident at line 1 column 2"));
    assert_eq!(response.text().lines().last(), Some(&*described(&Request::default(), last_of(&people), 6)));
}

fn last_of(people: &[usize]) -> usize {
    *people.last().expect("a person")
}

#[test]
fn answers_are_flushed_when_no_line_follows() {
    let service = Running::new(|_| {});
    let mut client = service.client();
    client.send(chunked("/v1/recourse/batch", &[NDJSON]));
    assert_eq!(client.head().map(|head| head.status), Some(200));
    for (person, number) in denied(5).into_iter().zip(1..) {
        client.send_chunk(lines([person])).expect("an open connection");
        let answer = client.chunk().expect("an answer");
        assert_eq!(
            String::from_utf8_lossy(&answer).trim_end(),
            described(&Request::default(), person, number)
        );
    }
    // A line may come in two halves.
    let line = lines([denied(1)[0]]);
    client.send_chunk(&line[..100]).expect("an open connection");
    client.send_chunk(&line[100..]).expect("an open connection");
    assert!(client.chunk().is_some());
    client.send("0\r\n\r\n");
    assert_eq!(client.chunk(), None);
}

#[test]
fn answers_are_flushed_when_no_row_follows() {
    let service = Running::new(|_| {});
    let mut client = service.client();
    client.send(chunked("/v1/recourse/batch", &[("Content-Type", "text/csv")]));
    let header = model().schema().features().iter().map(|feature| format!("{:?}", feature.name));
    client.send_chunk(header.collect::<Vec<_>>().join(",") + "\n").expect("an open connection");
    assert_eq!(client.head().map(|head| head.status), Some(200));
    for (person, number) in denied(3).into_iter().zip(1..) {
        client.send_chunk(cells(person).join(",") + "\n").expect("an open connection");
        let answer = client.chunk().expect("an answer");
        assert_eq!(
            String::from_utf8_lossy(&answer).trim_end(),
            described(&Request::default(), person, number)
        );
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.chunk(), None);
}

#[test]
fn answers_are_csv_only_if_accepted() {
    let service = Running::new(|_| {});
    for (accept, expected) in [
        ("text/csv", "text/csv; charset=utf-8"),
        ("application/json;q=0.5, Text/CSV; header=present", "text/csv; charset=utf-8"),
        ("text/csv;q=0, */*", "application/x-ndjson"),
        ("text/csvs", "application/x-ndjson"),
        ("*/*", "application/x-ndjson"),
    ] {
        let headers = [NDJSON, ("Accept", accept)];
        let response = service.ask("POST", "/v1/recourse/batch", &headers, lines([0]).into_bytes());
        assert_eq!(response.header("content-type"), Some(expected), "{accept}");
    }
}

#[test]
fn lines_have_their_own_options() {
    let service = Running::new(|_| {});
    let person = denied(1)[0];
    let body = format!(
        "{}\n{}\n",
        json!({"row": row(person), "method": "exact"}),
        json!({"row": row(person), "method": "generate", "count": 2})
    );
    let response = service.ask("POST", "/v1/recourse/batch", &[NDJSON], body);
    let exact = Request { method: Method::Exact, ..Request::default() };
    let generate = Request { method: Method::Generate, count: 2, ..Request::default() };
    let expected = format!("{}\n{}\n", described(&exact, person, 1), described(&generate, person, 2));
    assert_eq!(response.text(), expected);
    let response = service.ask("POST", "/v1/recourse/batch?count=2", &[NDJSON], "");
    assert_eq!(response.json()["problems"][0]["expected"], json!("one of the parameters model, first"));
}

#[test]
fn rows_of_a_table_have_their_own_locks() {
    let service = Running::new(|_| {});
    let person = denied(1)[0];
    let names: Vec<&str> = model().schema().features().iter().map(|feature| feature.name.as_str()).collect();
    let cells = cells(person).join(",");
    let all = names.join(";");
    let table = format!("{},locks\n{cells},\n{cells},{all}\n{cells},Nothing\n", names.join(","));
    let response = service.ask("POST", "/v1/recourse/batch", &[CSV], table);
    let told: Vec<Value> =
        response.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let statuses: Vec<&Value> = told.iter().map(|answer| &answer["status"]).collect();
    assert_eq!(statuses, ["found", "not_found", "error"]);
    assert_eq!(told[1]["reason"], json!("nothing_to_change"));
}

#[test]
fn an_empty_stream_has_no_answers() {
    let service = Running::new(|_| {});
    let response = service.ask("POST", "/v1/recourse/batch", &[NDJSON], "");
    assert_eq!((response.status, response.text()), (200, ""));
    let response = service.ask("POST", "/v1/recourse/batch", &[CSV, AS_CSV], first_rows(0));
    assert_eq!(response.text().lines().count(), 1);
}

#[test]
fn the_same_bytes_for_a_stream_on_one_thread_and_on_four() {
    let told = [1, 4].map(|threads| {
        let service = Running::new(|settings| settings.threads = threads);
        service.ask("POST", "/v1/recourse/batch?count=2", &[CSV], first_rows(300)).body
    });
    assert!(told[0] == told[1]);
}
