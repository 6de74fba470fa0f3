//! A person's own limits on changes.

use crate::discretizer::{Discretizer, Domain, NumberSummary};
use crate::schema::{Permitted, parse_number};
use crate::suggest::{listed, suggest};

/// One person's limits on changes, besides the schema's constraints.
///
/// Limits only restrict: every row that they permit is legal without them. A person's own values stay legal,
/// within the limits or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits(Vec<FeatureLimit>);

/// The limit of one feature (position).
#[derive(Clone, Debug, PartialEq)]
struct FeatureLimit {
    feature: usize,
    /// For a numeric feature, the numbers that it may move to.
    numbers: Option<NumberLimit>,
    /// For each code, whether it holds a permitted value.
    codes: Vec<bool>,
}

/// The numbers that a limited feature may move to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NumberLimit {
    /// The lowest and the highest.
    pub(crate) range: [f64; 2],
    /// The listed numbers within the range, if the limit is a list.
    pub(crate) listed: Option<Vec<f64>>,
    /// All numbers are multiples of it.
    pub(crate) grid: Option<f64>,
}

/// Reasons why a limit is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// A feature has two limits.
    #[error("`{feature}` is limited twice\nhint: put what it may move to into one limit")]
    Twice {
        /// The feature.
        feature: String,
    },
    /// A range without numbers.
    #[error("`{feature}`: there is no number from {lowest} to {highest}\nhint: the lower end comes first")]
    EmptyRange {
        /// The feature.
        feature: String,
        /// The lower end.
        lowest: f64,
        /// The upper end.
        highest: f64,
    },
    /// A range without whole numbers, in a column of whole numbers.
    #[error(
        "`{feature}` holds whole numbers only, and there is none from {lowest} to {highest}\nhint: widen the range"
    )]
    NoWholeNumber {
        /// The feature.
        feature: String,
        /// The lower end.
        lowest: f64,
        /// The upper end.
        highest: f64,
    },
    /// A listed fraction, in a column of whole numbers.
    #[error(
        "`{feature}` holds whole numbers only, found `{found}`\nhint: list whole numbers, or give a range"
    )]
    NotWhole {
        /// The feature.
        feature: String,
        /// The number.
        found: String,
    },
    /// An empty list.
    #[error("`{feature}`: the list of values is empty\nhint: lock the feature if it must not change")]
    EmptyList {
        /// The feature.
        feature: String,
    },
    /// A range for a feature with categories.
    #[error("`{feature}` holds categories, expected a list of them, found a range\nhint: there are {}", listed(.known))]
    RangeOfCategories {
        /// The feature.
        feature: String,
        /// Its categories.
        known: Vec<String>,
    },
    /// Text, infinity or NaN in place of a number.
    #[error("`{feature}`: expected a finite number, found `{found}`")]
    NotANumber {
        /// The feature.
        feature: String,
        /// The text.
        found: String,
    },
    /// Text in place of a range or numbers.
    #[error(
        "`{feature}`: expected a finite number, found `{found}`\nhint: a range is written 6..24, 6.. or ..24, and single numbers 6|12|24"
    )]
    NotARange {
        /// The feature.
        feature: String,
        /// The text.
        found: String,
    },
    /// A range with neither end.
    #[error("`{feature}`: expected a number before or after `..`")]
    OpenRange {
        /// The feature.
        feature: String,
    },
    /// A value that is not one of the feature's categories.
    #[error("`{feature}`: no category `{found}`{}", suggest(.found, .known))]
    UnknownCategory {
        /// The feature.
        feature: String,
        /// The value.
        found: String,
        /// Its categories.
        known: Vec<String>,
    },
}

impl Permitted {
    /// Parses the limit of the feature at a position: `6..24`, `6..` or `..24`, `A|B`, `6|12|24`.
    ///
    /// # Errors
    /// When a number is expected and the text is something else.
    ///
    /// # Panics
    /// When there is no such feature.
    pub fn parse(discretizer: &Discretizer, position: usize, text: &str) -> Result<Self, LimitError> {
        let categories = match &discretizer.domains()[position] {
            Domain::Categories { values, .. } => values.as_slice(),
            Domain::Values { .. } | Domain::Bins { .. } => &[],
        };
        Self::read(&discretizer.schema().features()[position], categories, text)
    }
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self(Vec::new());

    /// Limits on features (positions).
    ///
    /// ```
    /// # use par_data::{Constraints, Discretizer, DiscretizerConfig, german_credit};
    /// use par_data::{Limits, OwnRow, Permitted, Reach, Wishes};
    ///
    /// # let (schema, table) = (german_credit::schema(), german_credit::table());
    /// # let columns = schema.columns(table.origin(), table.columns())?;
    /// # let discretizer = Discretizer::fit(&schema, &columns, table.batches(256), &DiscretizerConfig::default())?;
    /// # let batch = german_credit::table().batches(1).nth(1).expect("a second row")?;
    /// let (duration, housing) = (schema.position("Duration")?, schema.position("Housing")?);
    /// let own_or_rent = ["A151", "A152"].map(String::from).to_vec();
    /// let limits = Limits::new(
    ///     &discretizer,
    ///     [(duration, Permitted::Between([40.0, 46.0])), (housing, Permitted::Among(own_or_rent))],
    /// )?;
    ///
    /// // This person's 48 months stay legal; a shorter duration must be from 40 to 46.
    /// let person = OwnRow::new(&discretizer, &columns.cells(&batch, 0), discretizer.encode(&columns, &batch)?.into_codes());
    /// let wishes = Wishes { limits: &limits, ..Wishes::default() };
    /// let constraints = Constraints::new(&discretizer);
    /// let candidates = constraints.candidates(&person, &wishes, Reach::Values);
    /// let months: Vec<f64> = candidates.of(duration).iter().map(|candidate| candidate.number).collect();
    /// assert!(months.len() > 1 && months[0] == 48.0);
    /// assert!(months[1..].iter().all(|months| (40.0..=46.0).contains(months)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a feature is limited twice, a range or a list is empty, a category is unknown, a fraction is
    /// listed for a column of whole numbers, or the limit is of the other kind, numbers or categories.
    ///
    /// # Panics
    /// When there is no such feature.
    pub fn new(
        discretizer: &Discretizer,
        limits: impl IntoIterator<Item = (usize, Permitted)>,
    ) -> Result<Self, LimitError> {
        let mut checked: Vec<FeatureLimit> = Vec::new();
        for (feature, to) in limits {
            if checked.iter().any(|other| other.feature == feature) {
                let feature = discretizer.schema().features()[feature].name.clone();
                return Err(LimitError::Twice { feature });
            }
            checked.push(FeatureLimit::new(discretizer, feature, &to)?);
        }
        checked.sort_by_key(|limit| limit.feature);
        Ok(Self(checked))
    }

    /// The limited features (positions), ascending.
    pub fn features(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|limit| limit.feature)
    }

    /// The same without the limits on some features.
    #[must_use]
    pub fn without(&self, features: &[usize]) -> Self {
        Self(self.0.iter().filter(|limit| !features.contains(&limit.feature)).cloned().collect())
    }

    /// For each code of a feature, whether it holds a permitted value, if the feature is limited.
    pub(super) fn codes(&self, feature: usize) -> Option<&[bool]> {
        Some(self.of(feature)?.codes.as_slice())
    }

    /// The numbers that a numeric feature may move to, if it is limited.
    pub(crate) fn numbers(&self, feature: usize) -> Option<&NumberLimit> {
        self.of(feature)?.numbers.as_ref()
    }

    fn of(&self, feature: usize) -> Option<&FeatureLimit> {
        self.0.iter().find(|limit| limit.feature == feature)
    }
}

impl FeatureLimit {
    fn new(discretizer: &Discretizer, feature: usize, to: &Permitted) -> Result<Self, LimitError> {
        let name = || discretizer.schema().features()[feature].name.clone();
        if matches!(to, Permitted::Among(values) if values.is_empty()) {
            return Err(LimitError::EmptyList { feature: name() });
        }
        let domain = &discretizer.domains()[feature];
        match domain {
            Domain::Categories { values: known, .. } => {
                let Permitted::Among(values) = to else {
                    return Err(LimitError::RangeOfCategories { feature: name(), known: known.clone() });
                };
                let mut codes = vec![false; known.len()];
                for value in values {
                    let code = discretizer.category(feature, value.trim());
                    let code = code.ok_or_else(|| LimitError::UnknownCategory {
                        feature: name(),
                        found: value.clone(),
                        known: known.clone(),
                    })?;
                    codes[usize::from(code)] = true;
                }
                Ok(Self { feature, numbers: None, codes })
            }
            Domain::Values { summary, .. } | Domain::Bins { summary, .. } => {
                let numbers = NumberLimit::new(to, summary, name)?;
                let codes = (0..domain.cardinality()).map(|code| discretizer.offers(feature, code, &numbers));
                Ok(Self { feature, codes: codes.collect(), numbers: Some(numbers) })
            }
        }
    }
}

impl NumberLimit {
    fn new(to: &Permitted, column: &NumberSummary, feature: impl Fn() -> String) -> Result<Self, LimitError> {
        match to {
            &Permitted::Between(range @ [lowest, highest]) => {
                // NaN is not an end of a range: the comparisons are false then.
                let some = lowest <= highest && lowest < f64::INFINITY && highest > f64::NEG_INFINITY;
                if !some {
                    return Err(LimitError::EmptyRange { feature: feature(), lowest, highest });
                }
                let range @ [first, last] = column.rounded_inward(range);
                if first > last {
                    return Err(LimitError::NoWholeNumber { feature: feature(), lowest, highest });
                }
                Ok(Self { range, listed: None, grid: None })
            }
            Permitted::Among(values) => {
                let number = |text: &String| match parse_number(text) {
                    None => Err(LimitError::NotANumber { feature: feature(), found: text.clone() }),
                    Some(number) if !column.can_hold(number) => {
                        Err(LimitError::NotWhole { feature: feature(), found: text.clone() })
                    }
                    Some(number) => Ok(number),
                };
                let listed: Vec<f64> = values.iter().map(number).collect::<Result<_, _>>()?;
                let lowest = listed.iter().copied().fold(f64::INFINITY, f64::min);
                let highest = listed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                Ok(Self { range: [lowest, highest], listed: Some(listed), grid: None })
            }
        }
    }

    /// The numbers of a range that are multiples of `grid` and that another limit permits too; `None` if the ranges do
    /// not meet.
    pub(crate) fn within(range: [f64; 2], grid: Option<f64>, other: Option<&Self>) -> Option<Self> {
        let [low, high] = other.map_or([f64::NEG_INFINITY, f64::INFINITY], |other| other.range);
        let range = [range[0].max(low), range[1].min(high)];
        let listed = other.and_then(|other| other.listed.clone());
        (range[0] <= range[1]).then_some(Self { range, listed, grid })
    }

    /// Whether the number is permitted.
    pub(crate) fn contains(&self, number: f64) -> bool {
        let [lowest, highest] = self.range;
        let is_listed = || self.listed.as_ref().is_none_or(|listed| listed.contains(&number));
        // Numbers that are not whole in binary are multiples up to rounding.
        let is_multiple =
            |grid: f64| ((number / grid).round() * grid - number).abs() <= 1e-9 * number.abs().max(grid);
        (lowest..=highest).contains(&number) && is_listed() && self.grid.is_none_or(is_multiple)
    }
}
