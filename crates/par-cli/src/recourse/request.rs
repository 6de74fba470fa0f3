//! Command-line options that make a request.

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use par_answer::request::text::TextReader;
use par_answer::{Method, Order, Request};
use par_data::schema::parse_number;
use par_model::Model;

#[derive(Args)]
pub(crate) struct RequestArguments {
    /// How to search
    #[arg(long, value_parser = method(), default_value = Method::default().name())]
    method: Method,
    /// Most features that may change [default: the model's budget, or more if there is no way within it]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    budget: Option<usize>,
    /// Probability from which a row is accepted [default: the model's threshold]
    #[arg(long, value_name = "P", value_parser = probability)]
    threshold: Option<f64>,
    /// How many ways to find; each leaves out a change of every way before it
    #[arg(long, value_name = "K", default_value = "1", value_parser = at_least_one)]
    count: usize,
    /// Which way comes first [default: the model's order, which is `balanced` by default]
    #[arg(long, value_parser = order())]
    order: Option<Order>,
    /// For auditors: if there is no way, also name the schema's constraints that prevent one; in text and JSON, never in `reason`
    #[arg(long)]
    auditor: bool,
    /// Feature that stays as it is, in addition to the immutable ones
    #[arg(long = "lock", value_name = "FEATURE")]
    locks: Vec<String>,
    /// Values that a feature may change to: LOWEST..HIGHEST, either of which may be left out, or VALUE|VALUE
    #[arg(long = "limit", value_name = "FEATURE=VALUES", value_parser = limit)]
    limits: Vec<String>,
}

fn method() -> impl TypedValueParser<Value = Method> {
    let values = Method::ALL.map(|method| PossibleValue::new(method.name()).help(method.summary()));
    PossibleValuesParser::new(values).map(|name| Method::named(&name).expect("clap accepts only these names"))
}

fn order() -> impl TypedValueParser<Value = Order> {
    let values = Order::ALL.map(|order| PossibleValue::new(order.name()).help(order.summary()));
    PossibleValuesParser::new(values).map(|name| Order::named(&name).expect("clap accepts only these names"))
}

fn limit(text: &str) -> Result<String, &'static str> {
    match text.contains('=') {
        true => Ok(text.to_string()),
        false => Err("expected FEATURE=LOWEST..HIGHEST or FEATURE=VALUE|VALUE"),
    }
}

fn probability(text: &str) -> Result<f64, &'static str> {
    let number = parse_number(text).filter(|number| *number > 0.0 && *number < 1.0);
    number.ok_or("expected a number above 0 and below 1")
}

/// Parses a count of at least one.
pub(crate) fn at_least_one(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|number| *number >= 1).ok_or("expected a whole number, at least 1")
}

impl RequestArguments {
    /// The request that every row is answered with.
    pub(crate) fn request(&self, model: &Model) -> Result<Request> {
        let mut reader = TextReader::new(model, usize::MAX);
        for lock in &self.locks {
            reader.option("lock", lock).context("`--lock`")?;
        }
        for limit in &self.limits {
            reader.option("limit", limit).context("`--limit`")?;
        }
        let request = reader.finish().context("`--limit`")?;
        let Self { method, budget, threshold, count, order, auditor, .. } = *self;
        Ok(Request { method, budget, threshold, count, order, auditor, ..request })
    }
}
