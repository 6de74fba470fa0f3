//! What one person lets features move to.

use crate::discretizer::{Discretizer, Domain, Summary};
use crate::schema::parse_number;
use crate::suggest::{listed, suggest};

/// What a person lets a feature move to.
#[derive(Clone, Debug, PartialEq)]
pub enum Permitted {
    /// The numbers from the first to the second, with both. Either may be infinite. In a column of whole numbers, the
    /// whole ones among them.
    Between([f64; 2]),
    /// Some categories, or some numbers, as tables write them.
    Among(Vec<String>),
}

/// What one person lets features move to, besides what the schema says for everybody.
///
/// Limits only take away: whatever they permit could be told without them. What a person has they may keep, within
/// the limits or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits(Vec<Limit>);

/// A feature (position) and what it may move to.
#[derive(Clone, Debug, PartialEq)]
struct Limit {
    feature: usize,
    /// Of a feature that holds numbers.
    numbers: Option<Numbers>,
    /// Which codes have anything to offer.
    codes: Vec<bool>,
}

/// The numbers that a feature may move to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbers {
    /// The lowest and the highest.
    pub(crate) range: [f64; 2],
    /// Those within the range that were listed, if any were.
    pub(crate) listed: Option<Vec<f64>>,
}

/// Why something cannot limit a feature.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// A feature has two limits.
    #[error("`{feature}` is limited twice\nhint: put what it may move to into one limit")]
    Twice {
        /// The feature.
        feature: String,
    },
    /// No number lies between two others.
    #[error("`{feature}`: there is no number from {lowest} to {highest}\nhint: the lower end comes first")]
    EmptyRange {
        /// The feature.
        feature: String,
        /// Where the numbers start.
        lowest: f64,
        /// Where they end.
        highest: f64,
    },
    /// No whole number lies between two others, in a column that has no other.
    #[error(
        "`{feature}` holds whole numbers only, and there is none from {lowest} to {highest}\nhint: widen the range"
    )]
    NoWholeNumber {
        /// The feature.
        feature: String,
        /// Where the numbers start.
        lowest: f64,
        /// Where they end.
        highest: f64,
    },
    /// A fraction is listed, in a column that has none.
    #[error(
        "`{feature}` holds whole numbers only, found `{found}`\nhint: list whole numbers, or give a range"
    )]
    NotWhole {
        /// The feature.
        feature: String,
        /// The number.
        found: String,
    },
    /// A list without anything in it.
    #[error("`{feature}`: the list of values is empty\nhint: lock the feature if it must not change")]
    EmptyList {
        /// The feature.
        feature: String,
    },
    /// A range of a feature that holds no numbers.
    #[error("`{feature}` holds categories, expected a list of them, found a range\nhint: there are {}", listed(.known))]
    RangeOfCategories {
        /// The feature.
        feature: String,
        /// Its categories.
        known: Vec<String>,
    },
    /// Text, infinity or NaN where a number belongs.
    #[error("`{feature}`: expected a finite number, found `{found}`")]
    NotANumber {
        /// The feature.
        feature: String,
        /// What stands in its place.
        found: String,
    },
    /// Text where a range or numbers belong.
    #[error(
        "`{feature}`: expected a finite number, found `{found}`\nhint: a range is written 6..24, 6.. or ..24, and single numbers 6|12|24"
    )]
    NotARange {
        /// The feature.
        feature: String,
        /// What stands in the place of a number.
        found: String,
    },
    /// A range without ends.
    #[error("`{feature}`: expected a number before or after `..`")]
    OpenRange {
        /// The feature.
        feature: String,
    },
    /// A value that is none of the feature's categories.
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
    /// Reads what the feature at a position may move to: `6..24`, `6..` or `..24`, `A|B`, `6|12|24`.
    ///
    /// # Errors
    /// When a number is expected and something else found.
    ///
    /// # Panics
    /// When the position is none of a feature.
    pub fn parse(discretizer: &Discretizer, position: usize, text: &str) -> Result<Self, LimitError> {
        let feature = || discretizer.schema().features()[position].name.clone();
        let number = |text: &str| {
            let found = text.trim();
            parse_number(found)
                .ok_or_else(|| LimitError::NotARange { feature: feature(), found: found.to_string() })
        };
        let listed = || text.split('|').map(str::trim);
        match &discretizer.domains()[position] {
            // A category may have a bar in its name.
            Domain::Categories { values, .. } if values.iter().any(|value| value == text) => {
                Ok(Self::Among(vec![text.to_string()]))
            }
            Domain::Categories { .. } => Ok(Self::Among(listed().map(String::from).collect())),
            Domain::Values { .. } | Domain::Bins { .. } => match text.split_once("..") {
                Some(("", "")) => Err(LimitError::OpenRange { feature: feature() }),
                Some((lowest, highest)) => Ok(Self::Between([
                    if lowest.is_empty() { f64::NEG_INFINITY } else { number(lowest)? },
                    if highest.is_empty() { f64::INFINITY } else { number(highest)? },
                ])),
                None => {
                    listed().try_for_each(|text| number(text).map(drop))?;
                    Ok(Self::Among(listed().map(String::from).collect()))
                }
            },
        }
    }
}

impl Limits {
    /// Limits on features (positions).
    ///
    /// ```
    /// # use par_data::{Constraints, Discretizer, DiscretizerConfig, german_credit};
    /// use par_data::{Limits, Permitted};
    ///
    /// # let (schema, table) = (german_credit::schema(), german_credit::table());
    /// # let columns = schema.columns(table.origin(), table.columns())?;
    /// # let discretizer = Discretizer::fit(&schema, &columns, table.batches(256), &DiscretizerConfig::default())?;
    /// # let batch = german_credit::table().batches(1).nth(1).expect("a second row")?;
    /// let (duration, housing) = (schema.position("Duration")?, schema.position("Housing")?);
    /// let own_or_rent = ["A151", "A152"].map(String::from).to_vec();
    /// let limits = Limits::new(
    ///     &discretizer,
    ///     [(duration, Permitted::Between([7.0, 20.0])), (housing, Permitted::Among(own_or_rent))],
    /// )?;
    ///
    /// // The loan of this person runs for 48 months, which they may keep; a shorter one runs for 7 to 20.
    /// let person = discretizer.encode(&columns, &batch)?;
    /// let constraints = Constraints::new(&discretizer);
    /// let mask = constraints.mask_within(person.codes(), &[], &limits);
    /// let shortest = mask.codes(duration).next().expect("their own at least");
    /// let decoded = discretizer.decode_within(duration, shortest, person.codes()[duration], "48", &limits);
    /// assert!(decoded.number().is_some_and(|months| (7.0..=20.0).contains(&months)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a feature is limited twice, a range or a list is empty, a category is not known, a fraction is listed for a
    /// column of whole numbers, or numbers and categories are mixed up.
    ///
    /// # Panics
    /// When a position is none of a feature.
    pub fn new(
        discretizer: &Discretizer,
        limits: impl IntoIterator<Item = (usize, Permitted)>,
    ) -> Result<Self, LimitError> {
        let mut checked: Vec<Limit> = Vec::new();
        for (feature, to) in limits {
            if checked.iter().any(|other| other.feature == feature) {
                let feature = discretizer.schema().features()[feature].name.clone();
                return Err(LimitError::Twice { feature });
            }
            checked.push(Limit::new(discretizer, feature, &to)?);
        }
        checked.sort_by_key(|limit| limit.feature);
        Ok(Self(checked))
    }

    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The features (positions) that are limited, ascending.
    pub fn features(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|limit| limit.feature)
    }

    /// The same without the limits on some features.
    #[must_use]
    pub fn without(&self, features: &[usize]) -> Self {
        Self(self.0.iter().filter(|limit| !features.contains(&limit.feature)).cloned().collect())
    }

    /// For each feature that is limited, which of its codes have anything to offer.
    pub(super) fn codes(&self) -> impl Iterator<Item = (usize, &[bool])> {
        self.0.iter().map(|limit| (limit.feature, limit.codes.as_slice()))
    }

    /// The numbers that a feature may move to, if it holds any and they are limited.
    pub(crate) fn numbers(&self, feature: usize) -> Option<&Numbers> {
        self.0.iter().find(|limit| limit.feature == feature)?.numbers.as_ref()
    }
}

impl Limit {
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
                let numbers = Numbers::new(to, summary, name)?;
                let codes = (0..domain.cardinality()).map(|code| discretizer.offers(feature, code, &numbers));
                Ok(Self { feature, codes: codes.collect(), numbers: Some(numbers) })
            }
        }
    }
}

impl Numbers {
    fn new(to: &Permitted, column: &Summary, feature: impl Fn() -> String) -> Result<Self, LimitError> {
        match to {
            &Permitted::Between(range @ [lowest, highest]) => {
                // Not a number is no end of a range.
                let some = lowest <= highest && lowest < f64::INFINITY && highest > f64::NEG_INFINITY;
                if !some {
                    return Err(LimitError::EmptyRange { feature: feature(), lowest, highest });
                }
                let range @ [first, last] = column.rounded_inward(range);
                if first > last {
                    return Err(LimitError::NoWholeNumber { feature: feature(), lowest, highest });
                }
                Ok(Self { range, listed: None })
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
                Ok(Self { range: [lowest, highest], listed: Some(listed) })
            }
        }
    }

    /// Whether the number is among them.
    pub(crate) fn contain(&self, number: f64) -> bool {
        let [lowest, highest] = self.range;
        let is_listed = || self.listed.as_ref().is_none_or(|listed| listed.contains(&number));
        (lowest..=highest).contains(&number) && is_listed()
    }
}
