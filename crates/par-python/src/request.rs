//! What is asked for, as Python says it.

use par_data::Schema;
use par_recourse::{Method, Request};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::errors;

/// A request as JSON; features by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    method: String,
    count: usize,
    lock: Vec<String>,
    budget: Option<usize>,
}

/// Reads what is asked for.
pub(crate) fn read(schema: &Schema, asked: &str) -> PyResult<Request> {
    let Asked { method, count, lock, budget } =
        serde_json::from_str(asked).map_err(|error| errors::setting(&error.to_string()))?;
    let known = Method::ALL.map(Method::name);
    let named = Method::ALL.into_iter().find(|known| known.name() == method);
    let method = named.ok_or_else(|| {
        errors::setting(&format!("there is no method `{method}`, expected one of {}", known.join(", ")))
    })?;
    if count == 0 || budget == Some(0) {
        return Err(errors::setting("`count` and `budget` are at least 1"));
    }
    let mut locks = schema.positions(&lock).map_err(|error| errors::data(&error))?;
    locks.sort_unstable();
    locks.dedup();
    Ok(Request { method, locks, budget, count })
}
