//! Wrong values are reported with their place, what was found and what was expected.

use serde_json::{Value, json};

use crate::client::Response;
use crate::running::{Running, denied, row};

/// The body of a refusal, without the id of the request.
fn refused(response: &Response) -> Value {
    let mut told = response.json();
    let id = told.as_object_mut().expect("an object").remove("request_id");
    assert_eq!(id, response.header("x-request-id").map(Value::from));
    told
}

fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut body = json!({"row": row(denied(1)[0])});
    change(&mut body);
    body
}

#[test]
fn a_wrong_value_is_reported_with_its_place() {
    let service = Running::new(|_| {});
    let housing = "one of \"A151\", \"A152\", \"A153\"";
    let age = "a number from 0 to 120";
    let keys = "one of the keys row, rows, method, count, order, budget, threshold, margin, min_percentile, lock, limit, effort, \
                max_effort, within, no_harm, robust, certify, slack, deadline, auditor, plot";
    let cases: Vec<(Value, &str, &str, String)> = vec![
        (with(|body| body["row"]["Housing"] = json!("A999")), "/row/Housing", "\"A999\"", housing.into()),
        (with(|body| body["row"]["Housing"] = json!(151)), "/row/Housing", "151", housing.into()),
        (with(|body| body["row"]["Housing"] = Value::Null), "/row/Housing", "null", housing.into()),
        (with(|body| body["row"]["Age"] = json!("old")), "/row/Age", "\"old\"", age.into()),
        (with(|body| body["row"]["Age"] = json!([1, 2])), "/row/Age", "a list of 2", age.into()),
        (with(|body| body["row"]["Age"] = json!(-5)), "/row/Age", "-5", age.into()),
        (
            with(|body| body["row"]["Duration"] = json!(-48)),
            "/row/Duration",
            "-48",
            "a number from 0 up".into(),
        ),
        (
            with(|body| body["row"]["Savings account/bonds"] = json!({"A61": 1})),
            "/row/Savings account~1bonds",
            "an object with `A61`",
            "one of \"A65\", \"A61\", \"A62\", \"A63\", \"A64\"".into(),
        ),
        (
            with(|body| body["row"]["Huosing"] = json!("A151")),
            "/row/Huosing",
            "`Huosing`",
            "the name of a feature, did you mean `Housing`?".into(),
        ),
        (json!({"row": [1, 2]}), "/row", "a list of 2", "an object, or a list of 20 values".into()),
        (json!({"rows": []}), "/rows", "a list of 0", "a list of at least one row".into()),
        (json!({}), "", "neither", "either `row` or `rows`".into()),
        (json!([]), "", "a list of 0", "an object".into()),
        (with(|body| body["rows"] = json!([])), "", "both", "either `row` or `rows`".into()),
        (with(|body| body["methode"] = json!("exact")), "/methode", "`methode`", keys.into()),
        (
            with(|body| body["method"] = json!("guess")),
            "/method",
            "\"guess\"",
            "one of \"generate\", \"refine\", \"exact\"".into(),
        ),
        (with(|body| body["count"] = json!(0)), "/count", "0", "a whole number from 1 to 20".into()),
        (with(|body| body["count"] = json!(21)), "/count", "21", "a whole number from 1 to 20".into()),
        (
            with(|body| body["budget"] = json!(1.5)),
            "/budget",
            "1.5",
            "a whole number from 1 to 1000000000, or null".into(),
        ),
        (with(|body| body["threshold"] = json!(1)), "/threshold", "1", "a number above 0 and below 1".into()),
        (with(|body| body["plot"] = json!("yes")), "/plot", "\"yes\"", "true or false".into()),
        (with(|body| body["lock"] = json!("Age")), "/lock", "\"Age\"", "a list of names of features".into()),
        (
            with(|body| body["lock"] = json!(["Ages"])),
            "/lock/0",
            "`Ages`",
            "the name of a feature, did you mean `Age`?".into(),
        ),
        (
            with(|body| body["limit"] = json!({"Housing": {"between": [1, 2]}})),
            "/limit/Housing",
            "an object with `between`",
            "{\"among\": [CATEGORY, …]}".into(),
        ),
        (
            with(|body| body["limit"] = json!({"Duration": {"between": [12.2, 12.8]}})),
            "/limit/Duration",
            "an object with `between`",
            "a valid limit: `Duration` holds whole numbers only, and there is none from 12.2 to 12.8; hint: \
             widen the range"
                .into(),
        ),
        (
            with(|body| body["limit"] = json!({"Duration": {"among": [12, 12.5]}})),
            "/limit/Duration",
            "an object with `among`",
            "a valid limit: `Duration` holds whole numbers only, found `12.5`; hint: list whole numbers, or \
             give a range"
                .into(),
        ),
    ];
    for (body, path, found, expected) in cases {
        let response = service.post("/v1/recourse", &body);
        assert_eq!(response.status, 422, "{}", response.text());
        let problem = json!({"path": path, "found": found, "expected": expected});
        let place = if path.is_empty() { "the body".to_string() } else { format!("`{path}`") };
        let error = format!("{place}: expected {expected}, found {found}");
        assert_eq!(
            refused(&response),
            json!({"error": error, "code": "wrong_value", "problems": [problem]}),
            "{body}"
        );
    }
    service.is_well();
}

#[test]
fn at_most_twenty_problems_are_reported_at_once() {
    let service = Running::new(|_| {});
    let body = json!({"rows": [{"Age": "old"}, {}]});
    let told = refused(&service.post("/v1/recourse", &body));
    assert_eq!(told["problems"].as_array().map(Vec::len), Some(20));
    assert!(told["error"].as_str().is_some_and(|error| error.ends_with(", and 19 more")), "{told}");
    let paths: Vec<&Value> =
        told["problems"].as_array().expect("problems").iter().map(|problem| &problem["path"]).collect();
    assert_eq!(paths[0], &json!("/rows/0/Status of existing checking account"));
}

#[test]
fn a_body_that_is_not_json_is_refused_with_the_place() {
    let service = Running::new(|_| {});
    for (body, why) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{\"row\": ", "EOF while parsing a value at line 1 column 8"),
        ("{'row': 1}", "key must be a string at line 1 column 2"),
        ("{\"row\": NaN}", "expected value at line 1 column 9"),
        ("{} {}", "trailing characters at line 1 column 4"),
    ] {
        let response = service.ask("POST", "/v1/recourse", &[], body);
        assert_eq!(response.status, 400);
        let error = format!("the body is not JSON: {why}");
        assert_eq!(refused(&response), json!({"error": error, "code": "not_json", "problems": []}));
    }
}

#[test]
fn a_repeated_key_is_refused_everywhere() {
    let service = Running::new(|_| {});
    let row = row(denied(1)[0]).to_string();
    let twice = row.replacen('{', "{\"Age\": 99, ", 1);
    let infer = "{\"inputs\": [{\"name\": \"Age\", \"name\": \"Duration\", \"datatype\": \"FP64\", \"shape\": [1], \"data\": [1]}]}";
    for (address, body, path) in [
        ("/v1/recourse", format!("{{\"row\": {twice}}}"), "/row/Age"),
        ("/v1/recourse", format!("{{\"row\": {row}, \"count\": 1, \"count\": 2}}"), "/count"),
        ("/v1/models/german:explain", format!("{{\"instances\": [{row}, {twice}]}}"), "/instances/1/Age"),
        ("/v2/models/german/infer", infer.to_string(), "/inputs/0/name"),
    ] {
        let response = service.ask("POST", address, &[("Content-Type", "application/json")], body);
        assert_eq!(response.status, 422, "{}", response.text());
        let problem = json!({"path": path, "found": "the key twice", "expected": "the key once"});
        let error = format!("`{path}`: expected the key once, found the key twice");
        assert_eq!(
            refused(&response),
            json!({"error": error, "code": "wrong_value", "problems": [problem]}),
            "{address}"
        );
    }
    let lines = format!("{{\"row\": {row}}}\n{{\"row\": {twice}}}\n{{\"row\": {row}}}\n");
    let ndjson = [("Content-Type", "application/x-ndjson")];
    let told = service.ask("POST", "/v1/recourse/batch", &ndjson, lines);
    let told: Vec<Value> =
        told.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let statuses: Vec<&Value> = told.iter().map(|answer| &answer["status"]).collect();
    assert_eq!(statuses, ["found", "error", "found"]);
    assert_eq!(told[1]["reason"], "`/row/Age`: expected the key once, found the key twice");
    service.is_well();
}

#[test]
fn values_that_training_never_saw_give_warnings() {
    let service = Running::new(|_| {});
    let told = service.post("/v1/recourse", &with(|body| body["row"]["Age"] = json!(97))).json();
    assert_eq!(
        told["answers"][0]["warnings"],
        json!([
            "`Age` is 97 years, outside the training rows' 19 to 75, and counts as the nearest value among them"
        ])
    );
    let told = service.post("/v1/recourse", &with(|_| {})).json();
    assert_eq!(told["answers"][0]["warnings"], json!([]));
}

#[test]
fn wrong_parameters_are_reported() {
    let service = Running::new(|_| {});
    let cases = [
        ("/v1/schema?modle=german", "?modle", "`german`", "one of the parameters model"),
        ("/v1/people?count=0", "?count", "`0`", "a whole number from 1 to 100"),
        ("/v1/people?count=-1", "?count", "`-1`", "a whole number from 1 to 100"),
        ("/v1/people?count=x", "?count", "`x`", "a whole number from 1 to 100"),
    ];
    for (path, place, found, expected) in cases {
        let response = service.get(path);
        assert_eq!(response.status, 422, "{path}");
        let problem = json!({"path": place, "found": found, "expected": expected});
        assert_eq!(refused(&response)["problems"], json!([problem]));
    }
}

#[test]
fn numbers_at_the_edge_are_answered_or_refused() {
    let service = Running::new(|_| {});
    let body = |number: &str| {
        let mut body = json!({"row": row(denied(1)[0])});
        body["row"]["Credit amount"] = json!("HERE");
        body.to_string().replace("\"HERE\"", number)
    };
    let long = "9".repeat(1_000);
    for (number, status) in [
        ("NaN", 400),
        ("Infinity", 400),
        ("-Infinity", 400),
        ("1e400", 400),
        ("-1e400", 400),
        (&*long, 400),
        ("1e308", 200),
        ("-1e308", 422),
        ("1e-400", 200),
        ("-0", 200),
        ("-0.0", 200),
        ("18446744073709551616", 200),
        ("0.1e1", 200),
        ("01", 400),
        ("+1", 400),
        ("0x10", 400),
    ] {
        let response = service.ask("POST", "/v1/recourse", &[], body(number));
        assert_eq!(response.status, status, "{number}: {}", response.text());
        if status == 200 {
            let told = response.json();
            assert!(
                ["found", "not_found", "accepted"]
                    .contains(&told["answers"][0]["status"].as_str().expect("a status"))
            );
            assert!(told["answers"][0]["probability"].as_f64().is_some_and(|p| (0.0..=1.0).contains(&p)));
        }
    }
    service.is_well();
}

#[test]
fn a_number_comes_back_as_it_was_written() {
    let service = Running::new(|_| {});
    for number in ["1169", "1169.25", "0.1", "0.30000000000000004", "123456789012345680"] {
        let mut body = json!({"row": row(denied(1)[0])});
        body["row"]["Credit amount"] = serde_json::from_str(number).expect("a number");
        let told = service.post("/v1/recourse", &body).json();
        assert_eq!(told["answers"][0]["row"]["Credit amount"], json!(number));
    }
}

#[test]
fn deep_and_wide_bodies_get_short_refusals() {
    let service = Running::new(|_| {});
    let deep = |open: &str, depth: usize| format!("{{\"row\": {}", open.repeat(depth));
    for body in [
        deep("[", 100_000),
        deep("{\"a\":", 100_000),
        format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
    ] {
        let response = service.ask("POST", "/v1/recourse", &[], body);
        assert_eq!((response.status, response.code()), (400, "not_json".to_string()));
        assert!(response.text().contains("recursion limit exceeded"), "{}", response.text());
    }
    let huge = "k".repeat(900_000);
    let mut unknown = json!({"row": row(denied(1)[0])});
    unknown["row"][&huge] = json!(1);
    let nested = json!({"row": {&huge: {&huge: 1}}});
    for body in [
        json!({&huge: 1}),
        unknown,
        json!({"row": {"Housing": huge}}),
        json!({"lock": [huge], "row": []}),
        json!({"limit": {&huge: 1}, "row": []}),
    ] {
        let response = service.post("/v1/recourse", &body);
        assert_eq!(response.status, 422);
        assert!(response.body.len() < 10_000, "{} bytes", response.body.len());
    }
    assert_eq!(service.post("/v1/recourse", &nested).status, 413);
    service.is_well();
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    let service = Running::new(|_| {});
    let person = row(denied(1)[0]).to_string();
    let place = person.find("A15").expect("housing");
    let mut in_value = format!("{{\"row\":{person}}}").into_bytes();
    in_value[7 + place] = 0xff;
    let mut in_key = format!("{{\"row\":{person}}}").into_bytes();
    in_key[3] = 0xc0;
    for body in [in_value, in_key, b"\xff\xfe{}".to_vec(), b"\0".to_vec(), b"{\"row\":\0}".to_vec()] {
        let response = service.ask("POST", "/v1/recourse", &[], body);
        assert_eq!((response.status, response.code()), (400, "not_json".to_string()), "{}", response.text());
    }
    let mut nul = json!({"row": row(denied(1)[0])});
    nul["row"]["Housing"] = json!("A151\0");
    let response = service.post("/v1/recourse", &nul);
    assert_eq!(response.json()["problems"][0]["found"], json!("\"A151\\u0000\""));
    service.is_well();
}
