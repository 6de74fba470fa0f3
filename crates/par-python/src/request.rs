//! Reads a request: JSON with the options of `par_answer::request`.

use par_answer::Request;
use par_answer::request::Problem;
use par_answer::request::json::{CATEGORIES, JsonReader, NUMBERS};
use par_model::Model;
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;

/// Reads a request.
pub(crate) fn read(model: &Model, options: &str) -> PyResult<Request> {
    let options: Value =
        serde_json::from_str(options).map_err(|error| errors::setting(&error.to_string()))?;
    let mut reader = JsonReader::new(model, usize::MAX).with_texts();
    let mut request = Request::default();
    for (name, value) in options.as_object().into_iter().flatten() {
        if !reader.option("", name, value, &mut request) {
            return Err(errors::setting(&format!("a request has no option `{name}`")));
        }
    }
    reader.finish(request).map_err(|problems| errors::setting(&words(&problems[0])))
}

/// The message of a problem in Python's terms: a limit is a tuple or a list.
fn words(problem: &Problem) -> String {
    let expected = match problem.expected.as_str() {
        CATEGORIES => "a list of categories",
        NUMBERS => "a tuple (lowest, highest) or a list of numbers",
        expected => expected,
    };
    let found = if problem.found == "an object with `between`" { "a range" } else { &problem.found };
    format!("`{}` is {found}, expected {expected}", problem.path.trim_start_matches('/'))
}
