//! What is asked for, from the command line.

use std::str::FromStr;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use par_data::schema::parse_number;
use par_data::{Discretizer, Domain, Limits, Permitted};
use par_recourse::{Method, Request};

#[derive(Args)]
pub(crate) struct RequestOptions {
    /// How to search
    #[arg(long, value_enum, default_value_t = MethodName::Refine)]
    method: MethodName,
    /// Most features that may change [default: as few as the model says, more only if there is no other way]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    budget: Option<usize>,
    /// How many ways to find; each leaves out a change of every way before it
    #[arg(long, value_name = "K", default_value = "1", value_parser = at_least_one)]
    count: usize,
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
        let permitted = match &discretizer.domains()[position] {
            // A category may have a bar in its name.
            Domain::Categories { values, .. } if values.contains(&self.to) => {
                Permitted::Among(vec![self.to.clone()])
            }
            Domain::Categories { .. } => Permitted::Among(self.listed().map(String::from).collect()),
            Domain::Values { .. } | Domain::Bins { .. } => match self.to.split_once("..") {
                Some(("", "")) => bail!("`{}`: expected a number before or after `..`", self.feature),
                Some((lowest, highest)) => Permitted::Between([
                    if lowest.is_empty() { f64::NEG_INFINITY } else { self.number(lowest)? },
                    if highest.is_empty() { f64::INFINITY } else { self.number(highest)? },
                ]),
                None => {
                    self.listed().try_for_each(|text| self.number(text).map(drop))?;
                    Permitted::Among(self.listed().map(String::from).collect())
                }
            },
        };
        Ok((position, permitted))
    }

    fn listed(&self) -> impl Iterator<Item = &str> {
        self.to.split('|').map(str::trim)
    }

    fn number(&self, text: &str) -> Result<f64> {
        let number = parse_number(text);
        number.with_context(|| {
            let found = text.trim();
            format!(
                "`{}`: expected a finite number, found `{found}`\n\
                 hint: a range is written 6..24, 6.. or ..24, and single numbers 6|12|24",
                self.feature
            )
        })
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

fn at_least_one(text: &str) -> Result<usize, &'static str> {
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
        let limits = self.limits(discretizer).context("`--limit`")?;
        Ok(Request { method, locks, limits, budget: self.budget, count: self.count })
    }

    fn limits(&self, discretizer: &Discretizer) -> Result<Limits> {
        let limits =
            self.limits.iter().map(|limit| limit.checked(discretizer)).collect::<Result<Vec<_>>>()?;
        Ok(Limits::new(discretizer, limits)?)
    }
}
