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
