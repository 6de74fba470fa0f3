//! Reads options from text: of a command line or of a URL.

use par_data::schema::{parse_months, parse_number};
use par_data::{LimitError, Limits, Permitted};
use par_model::{Model, Order};

use super::{
    CERTIFY, DEADLINE, DURATION, EFFORT, MAX_BUDGET, MAX_EFFORT, MIN_PERCENTILE, Method, NO_VERSIONS, ROBUST,
    Request, count_words, deadline, effort_weight, is_share, whole_months,
};

/// An option that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// Its value does not fit.
    #[error("expected {expected}, found `{found}`")]
    Value {
        /// The value.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// It names a feature that does not exist.
    #[error(transparent)]
    Feature(par_data::Error),
    /// Its limit does not fit the feature.
    #[error(transparent)]
    Limit(LimitError),
}

/// Reads options one by one. `lock`, `limit` and `effort` may be repeated.
pub struct TextReader<'m> {
    model: &'m Model,
    max_count: usize,
    request: Request,
    limits: Vec<(usize, Permitted)>,
}

impl<'m> TextReader<'m> {
    /// A reader for a model; `max_count` is the highest `count` that a request may have.
    pub fn new(model: &'m Model, max_count: usize) -> Self {
        Self { model, max_count, request: Request::default(), limits: Vec::new() }
    }

    /// Reads an option. False if there is no option of that name.
    ///
    /// # Errors
    /// When its value does not fit.
    pub fn option(&mut self, name: &str, text: &str) -> Result<bool, OptionError> {
        let refused = |expected: String| OptionError::Value { found: text.to_string(), expected };
        let whole = |most: usize| {
            let number = text.trim().parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| refused(count_words(most)))
        };
        let scale = self.model.scale();
        let request = &mut self.request;
        match name {
            "method" => {
                let method = Method::named(text);
                let expected = || format!("one of {}", Method::ALL.map(Method::name).join(", "));
                request.method = method.ok_or_else(|| refused(expected()))?;
            }
            "order" => {
                let order = Order::named(text);
                let expected = || format!("one of {}", Order::ALL.map(Order::name).join(", "));
                request.order = Some(order.ok_or_else(|| refused(expected()))?);
            }
            "count" => request.count = whole(self.max_count)?,
            "budget" => request.budget = Some(whole(MAX_BUDGET)?),
            "threshold" => {
                let number = parse_number(text).filter(|number| scale.is_threshold(*number));
                request.threshold = Some(number.ok_or_else(|| refused(scale.threshold_words().to_string()))?);
            }
            "margin" => {
                let number = parse_number(text).filter(|number| scale.is_margin(*number));
                request.margin = Some(number.ok_or_else(|| refused(scale.margin_words().to_string()))?);
            }
            "min_percentile" => {
                let number = parse_number(text).filter(|number| (0.0..=1.0).contains(number));
                request.min_percentile = Some(number.ok_or_else(|| refused(MIN_PERCENTILE.to_string()))?);
            }
            "max_effort" => {
                let number = parse_number(text).filter(|number| *number > 0.0);
                request.max_effort = Some(number.ok_or_else(|| refused(MAX_EFFORT.to_string()))?);
            }
            "within" => {
                let months = parse_months(text).and_then(whole_months);
                request.within = Some(months.ok_or_else(|| refused(DURATION.to_string()))?);
            }
            "deadline" => {
                request.deadline = Some(deadline(text.trim()).ok_or_else(|| refused(DEADLINE.to_string()))?);
            }
            "no_harm" => {
                request.no_harm = text.parse().map_err(|_| refused("true or false".to_string()))?;
            }
            "robust" => {
                let share = match text.parse::<bool>() {
                    Ok(robust) => robust.then_some(1.0),
                    Err(_) => {
                        let share = parse_number(text).filter(|number| is_share(*number));
                        Some(share.ok_or_else(|| refused(ROBUST.to_string()))?)
                    }
                };
                if share.is_some() && self.model.versions().is_empty() {
                    return Err(refused(NO_VERSIONS.to_string()));
                }
                request.robust = share;
            }
            "certify" => {
                let share = parse_number(text).filter(|number| is_share(*number));
                request.certify = Some(share.ok_or_else(|| refused(CERTIFY.to_string()))?);
            }
            "slack" => {
                request.slack = text.parse().map_err(|_| refused("true or false".to_string()))?;
            }
            "effort" => {
                let expected = || refused(format!("FEATURE=WEIGHT, where a weight is {EFFORT}"));
                let (name, weight) = text.split_once('=').ok_or_else(expected)?;
                let feature = self.feature(name)?;
                self.request.efforts.push((feature, effort_weight(weight).ok_or_else(expected)?));
            }
            "auditor" => {
                request.auditor = text.parse().map_err(|_| refused("true or false".to_string()))?;
            }
            "lock" => {
                let feature = self.feature(text)?;
                self.request.locks.push(feature);
            }
            "limit" => {
                let expected = "FEATURE=LOWEST..HIGHEST or FEATURE=VALUE|VALUE";
                let (name, to) = text.split_once('=').ok_or_else(|| refused(expected.to_string()))?;
                let feature = self.feature(name)?;
                let permitted = Permitted::parse(self.model.discretizer(), feature, to.trim());
                self.limits.push((feature, permitted.map_err(OptionError::Limit)?));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn feature(&self, name: &str) -> Result<usize, OptionError> {
        let found = self.model.schema().position(name.trim());
        found.map_err(OptionError::Feature)
    }

    /// The request.
    ///
    /// # Errors
    /// When limits contradict each other, or leave a feature nothing to change to.
    pub fn finish(self) -> Result<Request, LimitError> {
        let Self { model, mut request, limits, .. } = self;
        request.locks.sort_unstable();
        request.locks.dedup();
        request.limits = Limits::new(model.discretizer(), limits)?;
        Ok(request)
    }
}
