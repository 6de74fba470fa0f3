//! The requests in README and docs work.

use serde_json::{Value, json};

use crate::running::Running;

/// The bodies of `curl --json '…'` in a page.
fn bodies(page: &str) -> impl Iterator<Item = Value> {
    let quoted = page.split("curl --json '").skip(1).filter_map(|rest| rest.split('\'').next());
    quoted.map(|body| serde_json::from_str(body).expect("JSON"))
}

#[test]
fn requests_in_the_docs_are_answered() {
    let service = Running::new(|_| {});
    for page in [include_str!("../../../../README.md"), include_str!("../../../../docs/service.md")] {
        assert_eq!(bodies(page).count(), 1);
        for body in bodies(page) {
            let answer = &service.post("/v1/recourse", &body).json()["answers"][0];
            assert_eq!(answer["status"], json!("found"), "{answer}");
        }
    }
}

#[test]
fn examples_of_the_openapi_document_are_answered_as_it_says() {
    let service = Running::new(|_| {});
    let document = service.get("/openapi.json").json();
    let mut checked = 0;
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for operation in operations.as_object().expect("operations").values() {
            let Some(answer) = operation["responses"]["200"]["content"].get("application/json") else {
                continue;
            };
            let address = path.replace("{name}", "german");
            let request = operation.pointer("/requestBody/content/application~1json/example");
            let response = match request {
                Some(body) => service.post(&address, body),
                None => service.get(&address),
            };
            let mut schema = answer["schema"].clone();
            schema["components"] = document["components"].clone();
            let schema = jsonschema::draft202012::new(&schema).expect("a schema");
            assert!(schema.is_valid(&response.json()), "{address}: {}", response.text());
            checked += 1;
        }
    }
    assert_eq!(checked, 18);
}
