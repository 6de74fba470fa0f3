//! Command-line options that make a request.

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use par_answer::request::text::TextReader;
use par_answer::{Method, Order, Request};
use par_model::Model;

#[derive(Args)]
pub(crate) struct RequestArguments {
    /// How to search
    #[arg(long, value_parser = methods(), default_value = Method::default().name())]
    method: String,
    /// Most features that may change [default: the model's budget, or more if there is no way within it]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    budget: Option<String>,
    /// Score from which a row is accepted: a probability, or a number of the label [default: the model's threshold]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    threshold: Option<String>,
    /// How many ways to find; each leaves out a change of every way before it
    #[arg(long, value_name = "K", default_value = "1", allow_negative_numbers = true)]
    count: String,
    /// Which way comes first [default: the model's order, which is `balanced` by default]
    #[arg(long, value_parser = orders())]
    order: Option<String>,
    /// For auditors: if there is no way, also name the constraints of the schema that prevent one, in text and JSON
    #[arg(long)]
    auditor: bool,
    /// How far beyond the threshold a way should be [default: the model's margin, 0.05 unless told]
    #[arg(long, value_name = "BY", allow_negative_numbers = true)]
    margin: Option<String>,
    /// Share of accepted people beside whom a way must be no rarer, given what the person cannot change; 0 offers every
    /// accepted row [default: the model's, 0.01 unless told]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    min_percentile: Option<String>,
    /// Most effort of a way
    #[arg(long, value_name = "EFFORT", allow_negative_numbers = true)]
    max_effort: Option<String>,
    /// Longest time of a way: `6 months`, `1 year`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    within: Option<String>,
    /// Time after which the search for a row ends with what it has: `50ms`, `2s`, up to `9999s`; answers then depend on
    /// the machine
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    deadline: Option<String>,
    /// Effort of changing a feature for this person: easy, some, hard, very hard or a number
    #[arg(long = "effort", value_name = "FEATURE=WEIGHT")]
    efforts: Vec<String>,
    /// Only ways that all other versions of the classifier accept too, or this share of them
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    robust: Option<String>,
    /// Only ways that every network whose weights differ by at most this share of their layer's largest accepts too; of
    /// trees, all whose thresholds differ by at most this share of their column's spread
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    certify: Option<String>,
    /// Only ways that stay accepted when any one change falls a step short
    #[arg(long)]
    slack: bool,
    /// Nothing gets worse, where the schema says which direction is better
    #[arg(long)]
    no_harm: bool,
    /// Feature that stays as it is, in addition to the immutable ones
    #[arg(long = "lock", value_name = "FEATURE")]
    locks: Vec<String>,
    /// Values that a feature may change to: LOWEST..HIGHEST, either of which may be left out, or VALUE|VALUE
    #[arg(long = "limit", value_name = "FEATURE=VALUES")]
    limits: Vec<String>,
}

fn methods() -> PossibleValuesParser {
    Method::ALL.map(|method| PossibleValue::new(method.name()).help(method.summary())).into()
}

fn orders() -> PossibleValuesParser {
    Order::ALL.map(|order| PossibleValue::new(order.name()).help(order.summary())).into()
}

impl RequestArguments {
    /// The options that are set, by name, each as it was written.
    pub(crate) fn options(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self {
            method,
            budget,
            threshold,
            margin,
            min_percentile,
            max_effort,
            within,
            robust,
            certify,
            deadline,
            count,
            order,
            ..
        } = self;
        let single = [
            ("method", Some(method)),
            ("budget", budget.as_ref()),
            ("threshold", threshold.as_ref()),
            ("margin", margin.as_ref()),
            ("min_percentile", min_percentile.as_ref()),
            ("max_effort", max_effort.as_ref()),
            ("within", within.as_ref()),
            ("robust", robust.as_ref()),
            ("certify", certify.as_ref()),
            ("deadline", deadline.as_ref()),
            ("count", Some(count)),
            ("order", order.as_ref()),
        ];
        let single = single.into_iter().filter_map(|(name, text)| Some((name, text?.as_str())));
        let repeated = [("lock", &self.locks), ("limit", &self.limits), ("effort", &self.efforts)];
        let repeated = repeated
            .into_iter()
            .flat_map(|(name, texts)| texts.iter().map(move |text| (name, text.as_str())));
        let flags = [("slack", self.slack), ("no_harm", self.no_harm), ("auditor", self.auditor)];
        let flags = flags.into_iter().filter_map(|(name, set)| set.then_some((name, "true")));
        single.chain(repeated).chain(flags)
    }

    /// The request that every row is answered with.
    pub(crate) fn request(&self, model: &Model) -> Result<Request> {
        let mut reader = TextReader::new(model, usize::MAX);
        for (name, text) in self.options() {
            reader.option(name, text).with_context(|| format!("`--{}`", name.replace('_', "-")))?;
        }
        reader.finish().context("`--limit`")
    }
}
