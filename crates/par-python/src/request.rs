//! What is asked for, as Python says it.

use std::collections::BTreeMap;

use par_data::{Discretizer, Domain, Limits, Permitted};
use par_recourse::{Method, Order, Request};
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
    threshold: Option<f64>,
    order: Option<String>,
    auditor: bool,
    limit: BTreeMap<String, Limit>,
}

/// What a feature may move to.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Limit {
    /// From the first number to the second, either of which may be left open.
    Between([Option<f64>; 2]),
    Among(Vec<String>),
}

/// Reads what is asked for.
pub(crate) fn read(discretizer: &Discretizer, asked: &str) -> PyResult<Request> {
    let Asked { method, count, lock, budget, threshold, order, auditor, limit } =
        serde_json::from_str(asked).map_err(|error| errors::setting(&error.to_string()))?;
    let known = Method::ALL.map(Method::name);
    let method = Method::named(&method).ok_or_else(|| {
        errors::setting(&format!("there is no method `{method}`, expected one of {}", known.join(", ")))
    })?;
    let order = match order {
        None => None,
        Some(name) => Some(Order::named(&name).ok_or_else(|| {
            let known = Order::ALL.map(Order::name).join(", ");
            errors::setting(&format!("there is no order `{name}`, expected one of {known}"))
        })?),
    };
    if count == 0 || budget == Some(0) {
        return Err(errors::setting("`count` and `budget` are at least 1"));
    }
    if threshold.is_some_and(|threshold| !(threshold > 0.0 && threshold < 1.0)) {
        let found = threshold.unwrap_or_default();
        return Err(errors::setting(&format!(
            "`threshold` is {found}, expected a number above 0 and below 1"
        )));
    }
    let schema = discretizer.schema();
    let mut locks = schema.positions(&lock).map_err(|error| errors::data(&error))?;
    locks.sort_unstable();
    locks.dedup();
    let mut limits = Vec::with_capacity(limit.len());
    for (name, limit) in limit {
        let feature = schema.position(&name).map_err(|error| errors::data(&error))?;
        let permitted = match limit {
            Limit::Between([lowest, highest]) => {
                Permitted::Between([lowest.unwrap_or(f64::NEG_INFINITY), highest.unwrap_or(f64::INFINITY)])
            }
            Limit::Among(values) => {
                let domain = &discretizer.domains()[feature];
                Permitted::Among(values.into_iter().map(|value| spelled(domain, value)).collect())
            }
        };
        limits.push((feature, permitted));
    }
    let limits = Limits::new(discretizer, limits).map_err(|error| errors::setting(&error.to_string()))?;
    Ok(Request { method, locks, limits, budget, threshold, count, order, auditor })
}

/// `true` and `false` as the categories of a feature spell them.
fn spelled(domain: &Domain, value: String) -> String {
    let is_truth = ["true", "false"].iter().any(|truth| value.eq_ignore_ascii_case(truth));
    match domain {
        Domain::Categories { values, .. } if is_truth && !values.contains(&value) => {
            values.iter().find(|known| known.eq_ignore_ascii_case(&value)).cloned().unwrap_or(value)
        }
        _ => value,
    }
}
