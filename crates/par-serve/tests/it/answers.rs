//! `POST /v1/recourse` with good requests.

use par_answer::{Answer, Method, Order, Request, answer, words};
use par_data::{Domain, Limits, Permitted};
use serde_json::{Value, json};

use crate::running::{Running, cells, denied, described, model, row};

/// The body of a response with these answers.
fn answers(answers: &[String]) -> String {
    format!("{{\"model\":\"german\",\"answers\":[{}]}}", answers.join(","))
}

fn feature(name: &str) -> usize {
    model().schema().position(name).expect("a feature")
}

#[test]
fn one_row_is_answered_as_by_the_library() {
    let service = Running::new(|_| {});
    let person = denied(1)[0];
    let response = service.post("/v1/recourse", &json!({"row": row(person)}));
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    assert_eq!(response.text(), answers(&[described(&Request::default(), person, 1)]));
    let told = &response.json()["answers"][0];
    assert_eq!((&told["id"], &told["status"]), (&json!("1"), &json!("found")));

    // The library's short form says the same.
    let Ok(Answer::Found(found)) = answer(model(), &cells(person), &Request::default()) else {
        panic!("a way")
    };
    assert_eq!(told["ways"][0]["probability"], json!(found.ways[0].probability));
    assert_eq!(told["ways"][0]["changes"][0]["sentence"], json!(words::change(&found.ways[0].changes[0])));
}

#[test]
fn many_rows_are_answered_in_their_order() {
    let service = Running::new(|_| {});
    let rows: Vec<Value> = (0..100).map(row).collect();
    let response = service.post("/v1/recourse", &json!({"rows": rows}));
    let expected: Vec<String> =
        (0..100).map(|row| described(&Request::default(), row, row as u64 + 1)).collect();
    assert_eq!(response.text(), answers(&expected));
}

#[test]
fn a_row_may_be_a_list_and_have_an_id() {
    let service = Running::new(|_| {});
    let person = denied(1)[0];
    let named = row(person);
    let features = model().schema().features();
    let list: Vec<&Value> = features.iter().map(|feature| &named[&feature.name]).collect();
    let response = service.post("/v1/recourse", &json!({"row": list}));
    assert_eq!(response.text(), answers(&[described(&Request::default(), person, 1)]));

    for (id, told) in [(json!("Ann"), "Ann"), (json!(17), "17")] {
        let mut named = row(person);
        named["id"] = id;
        let response = service.post("/v1/recourse", &json!({"row": named}));
        assert_eq!(response.json()["answers"][0]["id"], json!(told));
    }
}

#[test]
fn effort_time_margin_and_harm_are_options_as_in_the_library() {
    let service = Running::new(|_| {});
    let person = denied(1)[0];
    let efforts = vec![(feature("Duration"), 8.0), (feature("Telephone"), 0.5)];
    let cases = [
        (json!({"margin": 0.2}), Request { margin: Some(0.2), ..Request::default() }),
        (
            json!({"effort": {"Duration": "very hard", "Telephone": 0.5}}),
            Request { efforts, ..Request::default() },
        ),
        (json!({"max_effort": 6.5}), Request { max_effort: Some(6.5), ..Request::default() }),
        (json!({"within": "1 quarter"}), Request { within: Some(3), ..Request::default() }),
        (json!({"no_harm": true}), Request { no_harm: true, ..Request::default() }),
        (json!({"certify": 0.001}), Request { certify: Some(0.001), ..Request::default() }),
        (json!({"slack": true}), Request { slack: true, ..Request::default() }),
        (json!({"robust": false}), Request::default()),
    ];
    for (options, request) in cases {
        let mut body = json!({"row": row(person)});
        body.as_object_mut().expect("an object").extend(options.as_object().expect("an object").clone());
        let response = service.post("/v1/recourse", &body);
        assert_eq!(response.text(), answers(&[described(&request, person, 1)]), "{options}");
    }
}

#[test]
fn every_option_changes_the_answer_as_in_the_library() {
    let service = Running::new(|_| {});
    let duration = Permitted::Between([6.0, 24.0]);
    let housing = Permitted::Among(vec!["A152".to_string()]);
    let limits =
        Limits::new(model().discretizer(), [(feature("Duration"), duration), (feature("Housing"), housing)]);
    let limits = limits.expect("limits that can be kept");
    let cases = [
        (json!({"method": "generate"}), Request { method: Method::Generate, ..Request::default() }),
        (json!({"method": "exact"}), Request { method: Method::Exact, ..Request::default() }),
        (json!({"count": 3}), Request { count: 3, ..Request::default() }),
        (
            json!({"count": 3, "order": "likelihood"}),
            Request { count: 3, order: Some(Order::Likelihood), ..Request::default() },
        ),
        (
            json!({"budget": 1, "auditor": true}),
            Request { budget: Some(1), auditor: true, ..Request::default() },
        ),
        (
            json!({"min_percentile": 0.8, "budget": 1, "auditor": true}),
            Request { min_percentile: Some(0.8), budget: Some(1), auditor: true, ..Request::default() },
        ),
        (json!({"budget": 1}), Request { budget: Some(1), ..Request::default() }),
        (json!({"budget": null, "threshold": null}), Request::default()),
        (json!({"threshold": 0.75}), Request { threshold: Some(0.75), ..Request::default() }),
        (
            json!({"lock": ["Duration", "Credit amount", "Duration"]}),
            Request { locks: vec![feature("Duration"), feature("Credit amount")], ..Request::default() },
        ),
        (
            json!({"limit": {"Duration": {"between": [6, 24]}, "Housing": {"among": ["A152"]}}}),
            Request { limits, ..Request::default() },
        ),
    ];
    for (asked, request) in cases {
        for person in denied(4) {
            let mut body = asked.clone();
            body["row"] = row(person);
            let response = service.post("/v1/recourse", &body);
            assert_eq!(response.text(), answers(&[described(&request, person, 1)]), "{asked}");
        }
    }
}

#[test]
fn ways_respect_locks_and_limits() {
    let service = Running::new(|_| {});
    let rows: Vec<Value> = denied(40).into_iter().map(row).collect();
    let asked = json!({
        "rows": rows, "count": 3, "lock": ["Credit amount"], "limit": {"Duration": {"between": [null, 12]}},
        "order": "likelihood",
    });
    let told = service.post("/v1/recourse", &asked).json();
    let ways: Vec<&Value> = told["answers"]
        .as_array()
        .expect("answers")
        .iter()
        .flat_map(|answer| answer["ways"].as_array().expect("ways"))
        .collect();
    assert!(ways.len() > 20);
    let changes = ways.iter().flat_map(|way| way["changes"].as_array().expect("changes"));
    let mut shorter = 0;
    for change in changes {
        assert_ne!(change["feature"], json!("Credit amount"));
        if change["feature"] == json!("Duration") {
            let to = change["to"].as_str().and_then(|to| to.parse::<f64>().ok()).expect("a number");
            assert!(
                to <= 12.0 && change["highest"].as_f64().is_none_or(|highest| highest <= 12.0),
                "{change}"
            );
            shorter += 1;
        }
    }
    assert!(shorter > 0);
}

#[test]
fn a_fractional_limit_on_whole_numbers_leaves_whole_numbers() {
    let service = Running::new(|_| {});
    let rows: Vec<Value> = denied(40).into_iter().map(row).collect();
    let limit = |name: &str| {
        let Domain::Bins { edges, .. } = &model().discretizer().domains()[feature(name)] else {
            panic!("{name} has bins");
        };
        // The bin below the edge has a part of this range, but no whole number in it.
        let edge = edges[edges.len() / 2].ceil();
        json!({"between": [edge - 0.8, edge + 0.5]})
    };
    let limit = json!({"Duration": limit("Duration"), "Credit amount": limit("Credit amount")});
    let told = service.post("/v1/recourse", &json!({"rows": rows, "count": 3, "limit": limit})).json();
    let answers = told["answers"].as_array().expect("answers").iter();
    let ways: Vec<&Value> = answers.flat_map(|answer| answer["ways"].as_array().expect("ways")).collect();
    assert!(ways.len() > 20);
    for way in ways {
        for name in ["Duration", "Credit amount"] {
            let cell = way["row"][name].as_str().expect("a cell");
            assert!(cell.parse::<i64>().is_ok(), "{name} is {cell}");
        }
    }
}

#[test]
fn a_frontier_is_drawn_when_asked_for() {
    let service = Running::new(|_| {});
    let mut asked = json!({"row": row(denied(1)[0]), "plot": true});
    let drawn = service.post("/v1/recourse", &asked).json();
    let plot = drawn["answers"][0]["plot"].as_str().expect("a plot");
    assert!(plot.starts_with("<svg") && plot.ends_with("</svg>\n") | plot.ends_with("</svg>"), "{plot}");
    asked["plot"] = json!(false);
    let told = service.post("/v1/recourse", &asked).json();
    let mut without = drawn;
    without["answers"][0].as_object_mut().expect("an object").remove("plot");
    assert_eq!(without, told);
}

#[test]
fn the_same_bytes_on_one_thread_and_on_four() {
    let rows: Vec<Value> = (0..200).map(row).collect();
    let body = json!({"rows": rows, "count": 2});
    let told = [1, 4].map(|threads| {
        let service = Running::new(|settings| settings.threads = threads);
        service.post("/v1/recourse", &body).body
    });
    assert!(told[0] == told[1]);
}

#[test]
fn several_models_are_chosen_by_name() {
    let service = Running::with_models(&["one", "other"], |_| {});
    assert_eq!(service.get("/v1/models").json(), json!({"models": ["one", "other"]}));
    let body = json!({"row": row(denied(1)[0])});
    let told = |path: &str| service.post(path, &body).json();
    let (first, one, other) =
        (told("/v1/recourse"), told("/v1/recourse?model=one"), told("/v1/recourse?model=other"));
    assert_eq!(first, one);
    assert_eq!((&one["model"], &other["model"]), (&json!("one"), &json!("other")));
    assert_ne!(one["answers"], other["answers"]);

    let none = service.post("/v1/recourse?model=third", &body);
    assert_eq!((none.status, none.code()), (404, "unknown".to_string()));
    assert_eq!(none.json()["error"], json!("there is no model `third`"));
}

#[test]
fn a_connection_is_used_again() {
    let service = Running::new(|_| {});
    let mut client = service.client();
    let body = json!({"row": row(denied(1)[0])}).to_string();
    let request = crate::client::request("POST", "/v1/recourse", &[], body.as_bytes());
    let first = client.send(&request).response();
    for _ in 0..20 {
        assert_eq!(client.send(&request).response().body, first.body);
    }
    assert_eq!(service.metric("par_answers_total{model=\"german\",status=\"found\"}"), 21.0);
}

#[test]
fn made_up_people_can_be_asked_about() {
    let service = Running::new(|_| {});
    let people = service.get("/v1/people?count=5&seed=3").json();
    assert_eq!(people, service.get("/v1/people?count=5&seed=3").json());
    assert_ne!(people, service.get("/v1/people?count=5&seed=4").json());
    let people = people["people"].as_array().expect("people");
    assert_eq!(people.len(), 5);
    let rows: Vec<&Value> = people.iter().map(|person| &person["row"]).collect();
    let told = service.post("/v1/recourse", &json!({"rows": rows})).json();
    for (person, answer) in people.iter().zip(told["answers"].as_array().expect("answers")) {
        assert_eq!(person["probability"], answer["probability"]);
        assert_ne!(answer["status"], json!("accepted"));
    }
}
