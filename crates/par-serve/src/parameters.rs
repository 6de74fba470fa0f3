//! What stands behind the `?` of a request.

use par_data::{Limits, Permitted};
use par_recourse::{Method, Order};

use crate::models::Model;
use crate::question::{Asked, MAX_BUDGET, MAX_COUNT};
use crate::refusal::{Problem, Refusal};

/// The parameters in their order, of which some may be there several times.
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// # Errors
    /// When there is one of another name than those `known`.
    pub(crate) fn read(query: Option<&str>, known: &[&str]) -> Result<Self, Refusal> {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let pairs: Vec<(String, String)> =
            pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        match pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, value)) => {
                let expected = match known {
                    [] => "no parameters".to_string(),
                    known => format!("one of the parameters {}", known.join(", ")),
                };
                Err(wrong(name, value, expected))
            }
            None => Ok(Self(pairs)),
        }
    }

    /// The last of that name, as HTML forms have it.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// A whole number within a range.
    pub(crate) fn whole(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, Refusal> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        text.parse()
            .ok()
            .filter(|number| range.contains(number))
            .map(Some)
            .ok_or_else(|| wrong(name, text, expected()))
    }

    /// What is asked for the rows of a table.
    pub(crate) fn asked(&self, model: &Model) -> Result<Asked, Refusal> {
        let mut asked = Asked::default();
        let request = &mut asked.request;
        if let Some(text) = self.text("method") {
            request.method =
                Method::named(text).ok_or_else(|| wrong("method", text, "one of generate, refine, exact"))?;
        }
        request.count = self.whole("count", 1..=MAX_COUNT as u64)?.map_or(1, |count| count as usize);
        if let Some(text) = self.text("order") {
            let order =
                Order::named(text).ok_or_else(|| wrong("order", text, "one of balanced, likelihood"))?;
            request.order = Some(order);
        }
        if let Some(text) = self.text("auditor") {
            request.auditor = text.parse().map_err(|_| wrong("auditor", text, "true or false"))?;
        }
        request.budget = self.whole("budget", 1..=MAX_BUDGET as u64)?.map(|budget| budget as usize);
        if let Some(text) = self.text("threshold") {
            let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1.0);
            request.threshold =
                Some(number.ok_or_else(|| wrong("threshold", text, "a number above 0 and below 1"))?);
        }
        let discretizer = model.bundle().discretizer();
        let position = |parameter: &str, name: &str| {
            let found = discretizer.schema().position(name.trim());
            found.map_err(|error| wrong(parameter, name, format!("the name of a feature: {error}")))
        };
        request.locks = self.all("lock").map(|name| position("lock", name)).collect::<Result<Vec<_>, _>>()?;
        request.locks.sort_unstable();
        request.locks.dedup();
        let mut limits = Vec::new();
        for text in self.all("limit") {
            let expected = "FEATURE=LOWEST..HIGHEST or FEATURE=VALUE|VALUE";
            let (name, to) = text.split_once('=').ok_or_else(|| wrong("limit", text, expected))?;
            let feature = position("limit", name)?;
            let permitted = Permitted::parse(discretizer, feature, to.trim());
            limits.push((
                feature,
                permitted.map_err(|error| wrong("limit", text, format!("{expected}: {error}")))?,
            ));
        }
        let limits = Limits::new(discretizer, limits);
        request.limits = limits.map_err(|error| Refusal::Table(error.to_string()))?;
        Ok(asked)
    }
}

fn wrong(name: &str, found: &str, expected: impl Into<String>) -> Refusal {
    let found = format!("`{}`", found.chars().take(80).collect::<String>());
    Refusal::WrongValues(vec![Problem { path: format!("?{name}"), found, expected: expected.into() }])
}
