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
}
