//! What is asked for, from the command line.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use par_data::Schema;
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
    pub(crate) fn request(&self, schema: &Schema) -> Result<Request> {
        let mut locks = schema.positions(&self.locks).context("`--lock`")?;
        locks.sort_unstable();
        locks.dedup();
        let method = match self.method {
            MethodName::Generate => Method::Generate,
            MethodName::Refine => Method::Refine,
            MethodName::Exact => Method::Exact,
        };
        Ok(Request { method, locks, budget: self.budget, count: self.count })
    }
}
