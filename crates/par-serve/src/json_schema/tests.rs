use std::sync::LazyLock;

use axum::http::StatusCode;
use jsonschema::Validator;
use par_answer::request::Problem;
use par_answer::table::RowAnswer;
use par_answer::{Answer, Solver};
use serde_json::{Map, Value, json};

use super::*;
use crate::answers::{AnswerBody, answer};
use crate::api_docs::ApiDocs;
use crate::question::Question;
use crate::refusal::{Refusal, STATUSES};
use crate::test_model::{ODD, Schemas, api_docs, odd_with_versions, row, validator};

const MAX_ROWS: usize = 3;

/// The schema of a question.
static QUESTION: LazyLock<Validator> = LazyLock::new(|| validator(&question_alone(&ODD, MAX_ROWS)));

/// Whether the reader accepts a question, which has to be what the schema says.
#[track_caller]
fn is_accepted(question: &Value) -> bool {
    let is_read = Question::read(&ODD, question, MAX_ROWS).map(drop);
    assert_eq!(QUESTION.is_valid(question), is_read.is_ok(), "{question}: {is_read:?}");
    is_read.is_ok()
}

/// The row with another value in the place of a feature.
fn with(name: &str, value: Value) -> Value {
    let mut row = row();
    row[name] = value;
    row
}

fn values() -> Vec<Value> {
    let mut values = vec![json!(null), json!(true), json!(false), json!([]), json!({}), json!(["Ulm"])];
    values.extend([0.0, 1.0, 2.0, 2.5, -3.5, 1e300].map(Value::from));
    values.extend([json!(2), json!(u64::MAX)]);
    for text in [
        "",
        "NA",
        "1",
        "2",
        "2.0",
        "2.5",
        "TRUE",
        "True",
        "true",
        "False",
        "Ulm",
        " Ulm",
        "x/y",
        "\"quoted\"",
        "Bonn",
    ] {
        values.push(text.into());
    }
    values
}

#[test]
fn rows_are_accepted_by_reader_and_schema_or_by_neither() {
    let names: Vec<&str> = ODD.schema().features().iter().map(|feature| feature.name.as_str()).collect();
    let mut accepted = 0;
    for name in names.iter().copied().chain(["the id", "unknown"]) {
        for value in values() {
            accepted += usize::from(is_accepted(&json!({"row": with(name, value)})));
        }
        let mut without = row();
        without.as_object_mut().expect("an object").remove(name);
        is_accepted(&json!({"rows": [row(), without]}));
    }
    let list: Vec<Value> = names.iter().map(|name| row()[*name].clone()).collect();
    for position in 0..list.len() {
        for value in values() {
            let mut list = list.clone();
            list[position] = value;
            accepted += usize::from(is_accepted(&json!({"row": list})));
        }
    }
    assert!(is_accepted(&json!({"row": list})) && is_accepted(&json!({"row": row()})));
    let longer = [&list[..], &[json!(1)]].concat();
    assert!(!is_accepted(&json!({"row": list[1..]})) && !is_accepted(&json!({"row": longer})));
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn options_are_accepted_by_reader_and_schema_or_by_neither() {
    let asked = |key: &str, value: &Value| is_accepted(&json!({"row": row(), key: value}));
    for key in [
        "method",
        "count",
        "order",
        "budget",
        "threshold",
        "margin",
        "min_percentile",
        "lock",
        "limit",
        "effort",
        "max_effort",
        "within",
        "deadline",
        "no_harm",
        "robust",
        "certify",
        "slack",
        "auditor",
        "plot",
        "rows",
        "instances",
        "locks",
    ] {
        for value in values() {
            asked(key, &value);
        }
    }
    for (key, value) in [
        ("method", json!("exact")),
        ("count", json!(20.0)),
        ("order", json!("likelihood")),
        ("auditor", json!(true)),
        ("order", json!(null)),
        ("budget", json!(1_000_000_000)),
        ("threshold", json!(0.999)),
        ("lock", json!(["a/b~c", "a/b~c"])),
        ("limit", json!({})),
        ("limit", json!({"Age in years": {"between": [null, null]}})),
        ("limit", json!({"income=\"net\"": {"between": [0, 1e9]}, "grade": {"among": [2.0, "2.5"]}})),
        ("limit", json!({"Age in years": {"among": [30, 31.0]}, "has car?": {"among": [true, "False"]}})),
        ("limit", json!({"Straße, Hausnr. 🏠": {"among": ["Ulm"]}})),
        ("min_percentile", json!(0)),
        ("min_percentile", json!(1)),
        ("min_percentile", json!(null)),
        ("margin", json!(0)),
        ("margin", json!(null)),
        ("effort", json!({})),
        ("effort", json!({"grade": "very hard", "a/b~c": 0.5})),
        ("max_effort", json!(0.1)),
        ("max_effort", json!(null)),
        ("within", json!("1 year")),
        ("within", json!("999 days")),
        ("within", json!("99 quarters")),
        ("within", json!(null)),
        ("deadline", json!("50ms")),
        ("deadline", json!("9999s")),
        ("deadline", json!(null)),
        ("no_harm", json!(true)),
        ("robust", json!(false)),
        ("robust", json!(null)),
        ("certify", json!(0.01)),
        ("certify", json!(1)),
        ("certify", json!(null)),
        ("slack", json!(true)),
    ] {
        assert!(asked(key, &value), "{key}: {value}");
    }
    for (key, value) in [
        ("method", json!("Exact")),
        ("count", json!(21)),
        ("order", json!("best")),
        ("auditor", json!("yes")),
        ("count", json!(1.5)),
        ("budget", json!(0)),
        ("budget", json!(1_000_000_001)),
        ("threshold", json!(1)),
        ("lock", json!(["the id"])),
        ("lock", json!("grade")),
        ("limit", json!({"the id": {"among": ["p1"]}})),
        ("limit", json!({"grade": {"among": []}})),
        ("limit", json!({"grade": {"among": ["2.0"]}})),
        ("limit", json!({"grade": {"between": [1, 2]}})),
        ("limit", json!({"Straße, Hausnr. 🏠": {"among": ["Bonn"]}})),
        ("limit", json!({"Straße, Hausnr. 🏠": {"among": [" Ulm"]}})),
        ("limit", json!({"Age in years": {"between": [1]}})),
        ("limit", json!({"Age in years": {"between": [1, 2, 3]}})),
        ("limit", json!({"Age in years": {"between": ["1", 2]}})),
        ("limit", json!({"Age in years": {"among": ["30"]}})),
        ("limit", json!({"Age in years": {"among": [30, 31.5]}})),
        ("limit", json!({"Age in years": {"among": [30], "between": [1, 2]}})),
        ("min_percentile", json!(1.5)),
        ("min_percentile", json!(-0.1)),
        ("margin", json!(1)),
        ("margin", json!(-0.1)),
        ("effort", json!({"the id": "hard"})),
        ("effort", json!({"grade": "harder"})),
        ("effort", json!({"grade": "2"})),
        ("effort", json!({"grade": 0})),
        ("effort", json!({"grade": null})),
        ("max_effort", json!(0)),
        ("deadline", json!("50 ms")),
        ("deadline", json!("0ms")),
        ("deadline", json!("s")),
        ("deadline", json!("12345s")),
        ("deadline", json!(50)),
        ("within", json!("1 moon")),
        ("within", json!("0 months")),
        ("within", json!("6months")),
        ("within", json!(6)),
        ("no_harm", json!(null)),
        ("robust", json!(true)),
        ("robust", json!(0.5)),
        ("certify", json!(0)),
        ("certify", json!(1.5)),
        ("certify", json!(true)),
        ("slack", json!(null)),
        ("slack", json!(1)),
    ] {
        assert!(!asked(key, &value), "{key}: {value}");
    }
    for rows in 0..=MAX_ROWS + 1 {
        assert_eq!(is_accepted(&json!({"rows": vec![row(); rows]})), (1..=MAX_ROWS).contains(&rows));
    }
    for other in [json!({}), json!([row()]), json!("row"), json!(null), json!({"row": row(), "rows": null})] {
        assert!(!is_accepted(&other), "{other}");
    }
}

#[test]
fn a_share_of_versions_is_accepted_where_there_are_versions() {
    let model = odd_with_versions();
    let question = validator(&question_alone(&model, MAX_ROWS));
    let is_accepted = |value: &Value| {
        let body = json!({"row": row(), "robust": value});
        let is_read = Question::read(&model, &body, MAX_ROWS).is_ok();
        assert_eq!(question.is_valid(&body), is_read, "{value}");
        is_read
    };
    for value in values() {
        is_accepted(&value);
    }
    for value in [json!(true), json!(false), json!(null), json!(0.5), json!(1), json!(1e-9)] {
        assert!(is_accepted(&value), "{value}");
    }
    for value in [json!(0), json!(-0.5), json!(1.5), json!("true"), json!([]), json!({})] {
        assert!(!is_accepted(&value), "{value}");
    }
}

#[test]
fn a_range_without_numbers_passes_the_schema_and_is_refused() {
    let question = json!({"row": row(), "limit": {"Age in years": {"between": [30, 20]}}});
    assert!(QUESTION.is_valid(&question));
    assert!(Question::read(&ODD, &question, MAX_ROWS).is_err());
}

#[test]
fn an_unusual_spelling_of_a_duration_is_read_beside_the_schema() {
    for within in ["1.5 years", "6  MONTHS"] {
        let question = json!({"row": row(), "within": within});
        assert!(!QUESTION.is_valid(&question));
        assert!(Question::read(&ODD, &question, MAX_ROWS).is_ok());
    }
    let question = json!({"row": row(), "within": "101 years"});
    assert!(!is_accepted(&question));
}

#[test]
fn every_option_of_a_request_is_described() {
    let described = options(&ODD);
    for option in par_answer::request::OPTIONS {
        assert!(described.contains_key(option), "{option}");
    }
}

#[test]
fn instances_are_accepted_by_reader_and_schema_or_by_neither() {
    let schemas = Schemas::of(&api_docs(false));
    for (body, is_right) in [
        (json!({"instances": [row()]}), true),
        (json!({"instances": [row()], "threshold": 0.7, "method": "generate"}), true),
        (json!({"instances": []}), false),
        (json!({"instances": vec![row(); MAX_ROWS + 1]}), false),
        (json!({"row": row()}), false),
        (json!({"instances": [row()], "parameters": {}}), false),
    ] {
        assert_eq!(schemas.fits("Instances", &body), is_right, "{body}");
        assert_eq!(Question::read_instances(&ODD, &body, MAX_ROWS).is_ok(), is_right, "{body}");
    }
}

/// Checks an answer, and that its schema has every key.
#[track_caller]
fn check_answer(docs: &ApiDocs, schemas: &Schemas, name: &str, answer: &Value) {
    assert!(schemas.fits(name, answer), "{name}: {answer}");
    let properties = &docs.schemas[name]["properties"];
    for (key, value) in answer.as_object().expect("an object") {
        let schema = properties.get(key).unwrap_or_else(|| panic!("the schema has no `{key}`"));
        let inner = schema["items"]["$ref"].as_str().and_then(|inner| inner.rsplit('/').next());
        if let (Some(inner), Some(values)) = (inner, value.as_array()) {
            values.iter().for_each(|value| check_answer(docs, schemas, inner, value));
        }
    }
}

#[test]
fn answers_fit_their_schema() {
    let docs = api_docs(false);
    let schemas = Schemas::of(&docs);
    let names: Vec<&String> = ODD.schema().features().iter().map(|feature| &feature.name).collect();
    let mut solver = Solver::new(&ODD);
    let mut statuses = Vec::new();
    for question in [
        json!({"row": row(), "method": "exact", "count": 3, "plot": true}),
        json!({"row": with("income=\"net\"", 0.into()), "threshold": 0.9}),
        json!({"row": with("income=\"net\"", 9000.into()), "threshold": 0.001}),
        json!({"row": row(), "lock": names}),
        json!({"row": row(), "budget": 1, "threshold": 0.999}),
    ] {
        let read = Question::read(&ODD, &question, 1).expect("a question");
        let mut person = answer(&mut solver, &read.rows[0], 1, &read.options);
        if let Ok(Answer::Found(found)) = &mut person.answer {
            found.search_ended = question["count"] == json!(3);
        }
        let body = AnswerBody::new(&ODD, &person, read.options.plot);
        let answer = serde_json::to_value(&body).expect("JSON");
        check_answer(&docs, &schemas, "Answer", &answer);
        statuses.push(answer["status"].as_str().expect("a text").to_string());
    }
    assert_eq!(statuses[..4], ["found", "found", "accepted", "not_found"]);

    let unread = RowAnswer::unread(0.5, "1".into(), vec![""; 7], "why".into());
    let unread = serde_json::to_value(unread.json(&ODD)).expect("JSON");
    check_answer(&docs, &schemas, "Answer", &unread);
}

#[tokio::test]
async fn refusals_fit_their_schema() {
    let docs = api_docs(false);
    let schemas = Schemas::of(&docs);
    let problem = Problem { path: "/row".into(), found: "1".into(), expected: "2".into() };
    let mut seen = Map::new();
    for refusal in [
        Refusal::NotJson("why".into()),
        Refusal::WrongValues(vec![problem]),
        Refusal::Table("why".into()),
        Refusal::Unauthorized,
        Refusal::NoHost,
        Refusal::WrongHost { found: "evil.example".into() },
        Refusal::Unknown("such address".into()),
        Refusal::WrongMethod,
        Refusal::Stalled,
        Refusal::Dripping { expected: 1 },
        Refusal::WrongHead,
        Refusal::HeadTooLarge { limit: 1, status: StatusCode::URI_TOO_LONG },
        Refusal::HeadTooLarge { limit: 1, status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE },
        Refusal::BrokenOff,
        Refusal::TooManyBytes { limit: 1 },
        Refusal::TooManyRows { found: 2, limit: 1 },
        Refusal::TooManyWays { found: 2, limit: 1 },
        Refusal::WrongType { expected: &["text/csv"] },
        Refusal::WrongEncoding,
        Refusal::Overloaded,
        Refusal::ShuttingDown,
        Refusal::TooSlow,
        Refusal::Broken,
    ] {
        let response = refusal.response("a");
        let status = response.status().as_u16();
        assert!(STATUSES.iter().any(|(known, _)| *known == status), "{status}");
        let body = axum::body::to_bytes(response.into_body(), 10_000).await.expect("a body");
        let refusal: Value = serde_json::from_slice(&body).expect("JSON");
        check_answer(&docs, &schemas, "Refusal", &refusal);
        seen.insert(refusal["code"].to_string(), refusal);
    }
    let codes = &docs.schemas["Refusal"]["properties"]["code"]["enum"];
    assert_eq!(codes.as_array().map(Vec::len), Some(seen.len()));
}
