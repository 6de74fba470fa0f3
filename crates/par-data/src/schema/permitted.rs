//! Sets of a feature's values, written in one syntax wherever a person names some.

use super::{Feature, parse_number};
use crate::constraints::LimitError;

/// Some values of a feature: what a person lets it move to, or what a condition of the schema asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Permitted {
    /// The numbers from the first to the second, inclusive; either may be infinite. In a column of whole
    /// numbers, only whole ones.
    Between([f64; 2]),
    /// Some categories or numbers, as a table writes them.
    Among(Vec<String>),
}

impl Permitted {
    /// Parses some values of a feature: `6..24`, `6..` or `..24`, `A|B`, `6|12|24`. `categories` are those that
    /// are known of a feature that is not numeric.
    ///
    /// # Errors
    /// When a number is expected and the text is something else.
    pub(crate) fn read(feature: &Feature, categories: &[String], text: &str) -> Result<Self, LimitError> {
        let number = |text: &str| {
            let found = text.trim();
            parse_number(found).ok_or_else(|| LimitError::NotARange {
                feature: feature.name.clone(),
                found: found.to_string(),
            })
        };
        let listed = || text.split('|').map(str::trim);
        if !feature.kind.is_numeric() {
            // The name of a category may contain a bar.
            let is_one = categories.iter().any(|category| category == text);
            let categories = if is_one { vec![text] } else { listed().collect() };
            return Ok(Self::Among(categories.into_iter().map(String::from).collect()));
        }
        match text.split_once("..") {
            Some(ends) => match (ends.0.trim(), ends.1.trim()) {
                ("", "") => Err(LimitError::OpenRange { feature: feature.name.clone() }),
                (lowest, highest) => Ok(Self::Between([
                    if lowest.is_empty() { f64::NEG_INFINITY } else { number(lowest)? },
                    if highest.is_empty() { f64::INFINITY } else { number(highest)? },
                ])),
            },
            None => {
                listed().try_for_each(|text| number(text).map(drop))?;
                Ok(Self::Among(listed().map(String::from).collect()))
            }
        }
    }

    /// Whether the set holds the number.
    pub fn contains_number(&self, number: f64) -> bool {
        match self {
            Self::Between([lowest, highest]) => (*lowest..=*highest).contains(&number),
            Self::Among(values) => values.iter().any(|value| parse_number(value) == Some(number)),
        }
    }

    /// Whether the set holds some number that the feature can have: one within `within`, or a special one.
    pub(super) fn meets(&self, [low, high]: [f64; 2], special: &[f64]) -> bool {
        let within = match self {
            Self::Between([lowest, highest]) => lowest <= &high && highest >= &low,
            Self::Among(values) => values
                .iter()
                .filter_map(|value| parse_number(value))
                .any(|number| (low..=high).contains(&number)),
        };
        within || special.iter().any(|&number| self.contains_number(number))
    }

    /// Whether no value is in both sets, of one feature of this kind.
    pub(super) fn is_apart_from(&self, other: &Self, numeric: bool) -> bool {
        match (self, other) {
            (Self::Between(ends), other) | (other, Self::Between(ends)) => !other.meets(*ends, &[]),
            (Self::Among(values), other) if numeric => !values
                .iter()
                .filter_map(|value| parse_number(value))
                .any(|number| other.contains_number(number)),
            (Self::Among(values), Self::Among(others)) => !values.iter().any(|value| others.contains(value)),
        }
    }

    /// Whether every value of the set is in one of the others, of one feature of this kind.
    pub(super) fn is_covered_by(&self, others: &[&Self], numeric: bool) -> bool {
        match self {
            Self::Among(values) => values.iter().all(|value| {
                let alone = Self::Among(vec![value.clone()]);
                others.iter().any(|other| !alone.is_apart_from(other, numeric))
            }),
            Self::Between([lowest, highest]) => {
                let mut ranges: Vec<[f64; 2]> = others
                    .iter()
                    .filter_map(|other| match other {
                        Self::Between(ends) => Some(*ends),
                        Self::Among(_) => None,
                    })
                    .collect();
                ranges.sort_by(|a, b| a[0].total_cmp(&b[0]));
                // Every number up to this one is in one of the ranges.
                let mut covered = f64::NEG_INFINITY;
                let mut begun = false;
                for [low, high] in ranges {
                    let joins = if begun { low <= covered } else { low <= *lowest };
                    if joins && high >= *lowest {
                        covered = covered.max(high);
                        begun = true;
                    }
                }
                begun && covered >= *highest
            }
        }
    }
}

impl std::fmt::Display for Permitted {
    /// As it is written: `6..24`, `A|B`.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Among(values) => write!(formatter, "{}", values.join("|")),
            Self::Between([lowest, highest]) => {
                let end = |end: &f64| if end.is_finite() { end.to_string() } else { String::new() };
                write!(formatter, "{}..{}", end(lowest), end(highest))
            }
        }
    }
}
