//! What is asked for, from the command line.

use std::str::FromStr;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use par_data::schema::parse_number;
use par_data::{Discretizer, Limits, Permitted};
use par_recourse::{Method, Order, Request};

#[derive(Args)]
pub(crate) struct RequestOptions {
    /// How to search
    #[arg(long, value_enum, default_value_t = MethodName::Refine)]
    method: MethodName,
    /// Most features that may change [default: as few as the model says, more only if there is no other way]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    budget: Option<usize>,
    /// Accepted from this probability on, in the place of the model's threshold
    #[arg(long, value_name = "P", value_parser = probability)]
    threshold: Option<f64>,
    /// How many ways to find; each leaves out a change of every way before it
    #[arg(long, value_name = "K", default_value = "1", value_parser = at_least_one)]
    count: usize,
    /// Which way comes first [default: what the model says, `balanced` unless it was fitted otherwise]
    #[arg(long, value_enum)]
    order: Option<OrderName>,
    /// For auditors: where there is no way, also say what of the schema stands in it; in text and JSON, never in `reason`
    #[arg(long)]
    auditor: bool,
    /// Feature that stays as it is, besides those that nobody can change
    #[arg(long = "lock", value_name = "FEATURE")]
    locks: Vec<String>,
    /// What a feature may move to, if it changes: LOWEST..HIGHEST, either of which may be left out, or VALUE|VALUE
    #[arg(long = "limit", value_name = "FEATURE=VALUES")]
    limits: Vec<Limit>,
}

/// A feature, and the text of what it may move to.
#[derive(Clone)]
struct Limit {
    feature: String,
    to: String,
}

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected FEATURE=LOWEST..HIGHEST or FEATURE=VALUE|VALUE";
        let (feature, to) = text.split_once('=').ok_or(expected)?;
        Ok(Self { feature: feature.trim().to_string(), to: to.trim().to_string() })
    }
}

impl Limit {
    fn checked(&self, discretizer: &Discretizer) -> Result<(usize, Permitted)> {
        let position = discretizer.schema().position(&self.feature)?;
        Ok((position, Permitted::parse(discretizer, position, &self.to)?))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// By the generator alone
    Generate,
    /// By the generator and a local search
    Refine,
    /// By both and a branch and bound that proves the answer
    Exact,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderName {
    /// One that nothing shown beats in both changes and probability
    Balanced,
    /// The likeliest, where each change is worth its price
    Likelihood,
}

fn probability(text: &str) -> Result<f64, &'static str> {
    let number = parse_number(text).filter(|number| *number > 0.0 && *number < 1.0);
    number.ok_or("expected a number above 0 and below 1")
}

/// For an option that counts something.
pub(crate) fn at_least_one(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|number| *number >= 1).ok_or("expected a whole number, at least 1")
}

impl RequestOptions {
    /// What everybody asks for.
    pub(crate) fn request(&self, discretizer: &Discretizer) -> Result<Request> {
        let mut locks = discretizer.schema().positions(&self.locks).context("`--lock`")?;
        locks.sort_unstable();
        locks.dedup();
        let method = match self.method {
            MethodName::Generate => Method::Generate,
            MethodName::Refine => Method::Refine,
            MethodName::Exact => Method::Exact,
        };
        let order = self.order.map(|order| match order {
            OrderName::Balanced => Order::Balanced,
            OrderName::Likelihood => Order::Likelihood,
        });
        let limits = self.limits(discretizer).context("`--limit`")?;
        Ok(Request {
            method,
            locks,
            limits,
            budget: self.budget,
            threshold: self.threshold,
            count: self.count,
            order,
            auditor: self.auditor,
        })
    }

    fn limits(&self, discretizer: &Discretizer) -> Result<Limits> {
        let limits =
            self.limits.iter().map(|limit| limit.checked(discretizer)).collect::<Result<Vec<_>>>()?;
        Ok(Limits::new(discretizer, limits)?)
    }
}
