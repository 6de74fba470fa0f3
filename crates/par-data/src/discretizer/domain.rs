//! The values of a feature, numbered by codes.

use serde::{Deserialize, Serialize};

use super::decode::Interval;
use crate::Code;
use crate::schema::MAX_CATEGORIES;

/// The values of a feature. A code is a position in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Domain {
    /// Categories; `ordered` says whether a higher code is more.
    Categories {
        /// The categories.
        values: Vec<String>,
        /// Whether a higher code means more.
        ordered: bool,
    },
    /// Single numbers in ascending order.
    Values {
        /// The numbers.
        values: Vec<f64>,
        /// Numbers that mean something else. Their codes follow those of the others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        special: Vec<f64>,
        /// Statistics of the training column.
        summary: NumberSummary,
    },
    /// Intervals: bin `i` goes from `edges[i]` up to, but not including, `edges[i + 1]`; the last one
    /// includes its upper edge. Numbers beyond the edges are in the first or the last bin.
    Bins {
        /// The edges in ascending order, one more than bins.
        edges: Vec<f64>,
        /// For each bin, the (lower) median of its training values, rounded until ten people share it.
        medians: Vec<f64>,
        /// For each bin, the most common of its training values, if ten people share it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        common: Vec<Option<f64>>,
        /// Numbers that mean something else. Their codes follow those of the bins.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        special: Vec<f64>,
        /// Statistics of the training column.
        summary: NumberSummary,
    },
}

/// Statistics of a numeric training column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberSummary {
    /// The median, rounded until ten people share it.
    pub median: f64,
    /// The median absolute deviation from the median, rounded likewise; 1 where that is 0.
    pub mad: f64,
    /// The lowest number, rounded down until ten people are near it.
    pub low: f64,
    /// The highest number, rounded up likewise.
    pub high: f64,
    /// The largest number of decimals, at most 9.
    pub decimals: usize,
}

impl Domain {
    /// Number of codes; at least one.
    pub fn cardinality(&self) -> usize {
        self.ordinary() + self.special().len()
    }

    /// Number of codes before those of special numbers; at least one.
    pub fn ordinary(&self) -> usize {
        match self {
            Self::Categories { values, .. } => values.len(),
            Self::Values { values, .. } => values.len(),
            Self::Bins { medians, .. } => medians.len(),
        }
    }

    /// Numbers that mean something else.
    pub fn special(&self) -> &[f64] {
        match self {
            Self::Categories { .. } => &[],
            Self::Values { special, .. } | Self::Bins { special, .. } => special,
        }
    }

    /// The number that a code of a numeric feature stands for: its own, or the median of its bin.
    ///
    /// # Panics
    /// When the domain has categories, or no such code.
    pub fn number(&self, code: Code) -> f64 {
        let code = usize::from(code);
        match self {
            Self::Categories { .. } => panic!("categories are no numbers"),
            Self::Values { values: numbers, special, .. } | Self::Bins { medians: numbers, special, .. } => {
                *numbers.get(code).unwrap_or_else(|| &special[code - numbers.len()])
            }
        }
    }

    /// The most common number of a code of a numeric feature, as far as it is known; otherwise the median of its bin.
    pub(crate) fn common(&self, code: Code) -> f64 {
        let common = match self {
            Self::Bins { common, .. } => common.get(usize::from(code)).copied().flatten(),
            _ => None,
        };
        common.unwrap_or_else(|| self.number(code))
    }

    /// Whether a higher code means more.
    pub fn is_ordered(&self) -> bool {
        !matches!(self, Self::Categories { ordered: false, .. })
    }

    /// Statistics of the training column, if it is numeric.
    pub fn summary(&self) -> Option<&NumberSummary> {
        match self {
            Self::Categories { .. } => None,
            Self::Values { summary, .. } | Self::Bins { summary, .. } => Some(summary),
        }
    }

    /// The code of a finite number, and whether the number is inside the domain.
    pub fn code_of_number(&self, number: f64) -> (Code, bool) {
        if let Some(place) = self.special().iter().position(|special| *special == number) {
            return ((self.ordinary() + place) as Code, true);
        }
        let (position, inside) = match self {
            Self::Categories { .. } => unreachable!("categories are looked up by text"),
            Self::Values { values, .. } => {
                let above = values.partition_point(|value| *value < number);
                let nearest = match (above.checked_sub(1), values.get(above)) {
                    (Some(below), Some(next)) if number - values[below] <= next - number => below,
                    (Some(below), None) => below,
                    _ => above,
                };
                (nearest, values[nearest] == number)
            }
            Self::Bins { edges, medians, .. } => {
                let inner = &edges[1..medians.len()];
                (inner.partition_point(|edge| *edge <= number), true)
            }
        };
        (position as Code, inside)
    }

    /// Whether a code holds a value within the bounds. A special number is never advised.
    pub(super) fn meets(&self, code: usize, bounds: Option<[f64; 2]>) -> bool {
        if code >= self.ordinary() {
            return false;
        }
        let Some([low, high]) = bounds else {
            return true;
        };
        match self {
            Self::Categories { .. } => true,
            Self::Values { values, .. } => (low..=high).contains(&values[code]),
            Self::Bins { edges, medians, summary, .. } => {
                let bounds = summary.rounded_inward([low, high]);
                Interval::within(edges, medians.len(), code, bounds).is_some()
            }
        }
    }

    /// Refuses a domain that `fit` cannot have produced.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let ascending = |numbers: &[f64]| {
            numbers.iter().all(|n| n.is_finite()) && numbers.windows(2).all(|w| w[0] < w[1])
        };
        if self.ordinary() == 0 {
            return Err("its domain is empty");
        }
        if self.cardinality() > MAX_CATEGORIES {
            return Err("its domain is too large");
        }
        if let Some(summary) = self.summary() {
            let NumberSummary { median, mad, low, high, decimals } = *summary;
            let finite = [median, mad, low, high].iter().all(|number| number.is_finite());
            if !finite || mad <= 0.0 || low > high || decimals > NumberSummary::MAX_DECIMALS {
                return Err("its summary is impossible");
            }
        }
        let special = self.special();
        let repeats = |place: usize| special[..place].contains(&special[place]);
        if special.iter().any(|number| !number.is_finite()) || (0..special.len()).any(repeats) {
            return Err("its special numbers are impossible");
        }
        match self {
            Self::Categories { values, .. } => {
                let mut sorted: Vec<&String> = values.iter().collect();
                sorted.sort();
                if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                    return Err("a category is repeated");
                }
            }
            Self::Values { values, .. } => {
                if !ascending(values) || values.iter().any(|value| special.contains(value)) {
                    return Err("its values do not ascend");
                }
            }
            Self::Bins { edges, medians, common, .. } => {
                if edges.len() != medians.len() + 1 || !ascending(edges) {
                    return Err("its edges do not ascend");
                }
                let is_outside =
                    |(bin, median): (usize, &f64)| self.code_of_number(*median).0 as usize != bin;
                if medians.iter().enumerate().any(is_outside) {
                    return Err("a median lies outside its bin");
                }
                let of_bin =
                    common.iter().enumerate().filter_map(|(bin, common)| Some((bin, common.as_ref()?)));
                if !(common.is_empty() || common.len() == medians.len()) || of_bin.into_iter().any(is_outside)
                {
                    return Err("a most common number lies outside its bin");
                }
            }
        }
        Ok(())
    }
}

impl NumberSummary {
    pub(super) const MAX_DECIMALS: usize = 9;

    /// Whether all training values are whole. Answers then name whole numbers only.
    pub fn is_whole(&self) -> bool {
        self.decimals == 0
    }

    /// The least difference of two training values, as their decimals say.
    pub(crate) fn unit(&self) -> f64 {
        10f64.powi(-(self.decimals as i32))
    }

    /// Whether the column may hold the number: a fraction only if it has fractions.
    pub(crate) fn can_hold(&self, number: f64) -> bool {
        !self.is_whole() || number.fract() == 0.0
    }

    /// The range rounded inward to whole numbers, if the column is whole. A range without whole numbers then
    /// has its lower end above its upper end.
    pub(crate) fn rounded_inward(&self, [low, high]: [f64; 2]) -> [f64; 2] {
        // Adding zero turns −0 into 0, which has another text.
        if self.is_whole() { [low.ceil() + 0.0, high.floor() + 0.0] } else { [low, high] }
    }
}
