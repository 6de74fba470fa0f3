//! The protocols of KServe.

use par_answer::Request;
use serde_json::{Value, json};

use crate::running::{Running, cells, denied, described, model, row};

/// The rows as tensors, one for every feature.
fn tensors(rows: &[usize]) -> Vec<Value> {
    let rows: Vec<Value> = rows.iter().map(|&number| row(number)).collect();
    let features = model().schema().features().iter();
    let tensor = |feature: &par_data::Feature| {
        let data: Vec<&Value> = rows.iter().map(|row| &row[&feature.name]).collect();
        let datatype = if feature.kind.is_numeric() { "FP64" } else { "BYTES" };
        json!({"name": feature.name, "datatype": datatype, "shape": [data.len()], "data": data})
    };
    features.map(tensor).collect()
}

fn probabilities(rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| model().score(&cells(row)).expect("a score")).collect()
}

#[test]
fn the_first_protocol_predicts_and_explains() {
    let service = Running::new(|_| {});
    assert_eq!(service.get("/v1/models/german").json(), json!({"name": "german", "ready": true}));
    let rows: Vec<usize> = (0..40).collect();
    let instances: Vec<Value> = rows.iter().map(|&number| row(number)).collect();
    let told = service.post("/v1/models/german:predict", &json!({"instances": instances})).json();
    let prediction = |probability: f64| {
        let accepted = probability >= model().threshold();
        json!({"probability": probability, "accepted": accepted, "class": if accepted { "Good" } else { "Bad" }})
    };
    let expected: Vec<Value> = probabilities(&rows).into_iter().map(prediction).collect();
    assert_eq!(told, json!({"predictions": expected}));

    let told = service.post("/v1/models/german:explain", &json!({"instances": instances, "count": 2}));
    let request = Request { count: 2, ..Request::default() };
    let expected: Vec<String> = rows.iter().map(|&row| described(&request, row, row as u64 + 1)).collect();
    assert_eq!(told.text(), format!("{{\"model\":\"german\",\"explanations\":[{}]}}", expected.join(",")));

    let wrong = service.post("/v1/models/german:explain", &json!({"rows": []}));
    assert_eq!(wrong.status, 422);
    let places: Vec<Value> = wrong.json()["problems"]
        .as_array()
        .expect("problems")
        .iter()
        .map(|problem| problem["path"].clone())
        .collect();
    assert_eq!(places, [json!("/rows"), json!("/instances")]);
    for path in ["/v1/models/third", "/v1/models/german:guess", "/v1/models/third:predict"] {
        assert_eq!(service.post(path, &json!({"instances": instances})).status, 404, "{path}");
    }
}

#[test]
fn the_second_protocol_describes_the_model() {
    let service = Running::new(|_| {});
    assert_eq!(service.get("/v2/health/live").json(), json!({"live": true}));
    assert_eq!(service.get("/v2/health/ready").json(), json!({"ready": true}));
    assert_eq!(service.get("/v2/models/german/ready").json(), json!({"name": "german", "ready": true}));
    assert_eq!(service.get("/v2").json()["extensions"], json!(["explain"]));
    let told = service.get("/v2/models/german").json();
    assert_eq!((&told["name"], &told["platform"]), (&json!("german"), &json!("par")));
    assert_eq!(told["inputs"][1], json!({"name": "Duration", "datatype": "FP64", "shape": [-1]}));
    assert_eq!(told["inputs"].as_array().map(Vec::len), Some(20));
    assert_eq!(told["outputs"][1], json!({"name": "accepted", "datatype": "BOOL", "shape": [-1]}));
}

#[test]
fn the_second_protocol_infers_and_explains() {
    let service = Running::new(|_| {});
    let rows: Vec<usize> = (0..20).chain(denied(3)).collect();
    let version = service.get("/v2/models/german").json()["versions"][0].clone();
    let body = json!({"id": "mine", "inputs": tensors(&rows)});
    let told = service.post("/v2/models/german/infer", &body).json();
    let probabilities = probabilities(&rows);
    let accepted: Vec<bool> =
        probabilities.iter().map(|&probability| probability >= model().threshold()).collect();
    let expected = json!({
        "model_name": "german", "model_version": version, "id": "mine",
        "outputs": [
            {"name": "probability", "datatype": "FP64", "shape": [23], "data": probabilities},
            {"name": "accepted", "datatype": "BOOL", "shape": [23], "data": accepted},
        ],
    });
    assert_eq!(told, expected);

    let body = json!({"inputs": tensors(&rows), "parameters": {"method": "generate"}});
    let told = service.post("/v2/models/german/explain", &body).json();
    let request = Request { method: par_answer::Method::Generate, ..Request::default() };
    let expected: Vec<String> =
        rows.iter().zip(1..).map(|(&row, number)| described(&request, row, number)).collect();
    assert_eq!(
        told["outputs"],
        json!([{"name": "explanation", "datatype": "BYTES", "shape": [23], "data": expected}])
    );
    assert_eq!(told.get("id"), None);
}

#[test]
fn wrong_tensors_are_refused_with_their_place() {
    let service = Running::new(|_| {});
    let told = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut inputs = tensors(&[0, 1]);
        change(&mut inputs);
        let response = service.post("/v2/models/german/infer", &json!({"inputs": inputs}));
        assert_eq!(response.status, 422, "{}", response.text());
        response.json()["problems"][0].clone()
    };
    assert_eq!(
        told(&|inputs| inputs[1]["datatype"] = json!("BYTES")),
        json!({"path": "/inputs/1/datatype", "found": "`BYTES`", "expected": "FP64, or another type of numbers"})
    );
    assert_eq!(
        told(&|inputs| inputs[0]["shape"] = json!([3])),
        json!({"path": "/inputs/0/shape", "found": "[3]", "expected": "[2] or [2, 1]"})
    );
    assert_eq!(
        told(&|inputs| inputs[0]["name"] = json!("Nothing")),
        json!({"path": "/inputs/0/name", "found": "\"Nothing\"", "expected": "the name of a feature"})
    );
    assert_eq!(
        told(&|inputs| inputs[2]["data"][1] = json!("A99")),
        json!({"path": "/inputs/2/data/1", "found": "\"A99\"", "expected": "one of \"A30\", \"A31\", \"A32\", \"A33\", \"A34\""})
    );
    let absent = told(&|inputs| drop(inputs.remove(4)));
    assert_eq!(
        (&absent["path"], &absent["found"]),
        (&json!("/inputs"), &json!("no tensor of `Credit amount`"))
    );
    let shorter = told(&|inputs| {
        inputs[1] = json!({"name": "Duration", "datatype": "INT64", "shape": [1], "data": [6]});
    });
    assert_eq!(
        shorter,
        json!({"path": "/inputs/1/data", "found": "1 values", "expected": "2, as many as of the others"})
    );
    for inputs in [json!(null), json!([]), json!({}), json!([1])] {
        assert_eq!(service.post("/v2/models/german/infer", &json!({"inputs": inputs})).status, 422);
    }

    // Long values are not repeated in full.
    let long = "x".repeat(500_000);
    for change in [
        json!({"name": long}),
        json!({"name": "Age", "datatype": long}),
        json!({"name": "Age", "datatype": "FP64", "data": [], "shape": [long]}),
    ] {
        let response = service.post("/v2/models/german/infer", &json!({"inputs": [change]}));
        assert_eq!(response.status, 422);
        assert!(response.body.len() < 10_000, "{} bytes", response.body.len());
    }
}
