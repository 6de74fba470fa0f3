//! From codes back to values that a person can reach.

use super::Discretizer;
use super::domain::{Domain, NumberSummary};
use crate::Code;
use crate::constraints::NumberLimit;
use crate::decimals::{decimals_of, rounded};
use crate::schema::{Feature, parse_number};

/// The numbers from `low` to `high`; `closed` includes `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// The lowest number.
    pub(super) low: f64,
    /// The upper end.
    pub(super) high: f64,
    /// Whether the upper end belongs to the interval.
    pub(super) closed: bool,
}

impl Interval {
    /// Whether the number is in the interval.
    pub(super) fn contains(&self, number: f64) -> bool {
        self.low <= number && (number < self.high || (self.closed && number == self.high))
    }

    /// The interval of a bin, as learned from the training rows.
    pub(super) fn of_bin(edges: &[f64], bins: usize, bin: usize) -> Self {
        Self { low: edges[bin], high: edges[bin + 1], closed: bin + 1 == bins }
    }

    /// The part of a bin within the bounds; the first and the last bin extend to the bounds.
    pub(super) fn within(edges: &[f64], bins: usize, bin: usize, bounds: [f64; 2]) -> Option<Self> {
        let Self { low, high, closed } = Self::of_bin(edges, bins, bin);
        let low = if bin == 0 { bounds[0] } else { low };
        let high = if closed { bounds[1] } else { high };
        Self { low, high, closed }.cut(bounds)
    }

    /// The interval that also holds a number.
    fn extended_to(self, number: f64) -> Self {
        match self.contains(number) {
            true => self,
            false if number < self.low => Self { low: number, ..self },
            false => Self { high: number, closed: true, ..self },
        }
    }

    /// The part from the first number to the second, inclusive; `None` if it is empty.
    fn cut(self, [lowest, highest]: [f64; 2]) -> Option<Self> {
        let low = self.low.max(lowest);
        let cut = if highest < self.high {
            Self { low, high: highest, closed: true }
        } else {
            Self { low, ..self }
        };
        cut.contains(low).then_some(cut)
    }

    /// The number of the interval that is nearest to `target`, with as few decimals as possible from
    /// `decimals` on.
    fn nearest(&self, target: f64, decimals: usize) -> f64 {
        let inside = target.clamp(self.low, self.high);
        // A double has at most 17 significant digits.
        for decimals in decimals..=17 {
            let unit = 10f64.powi(-(decimals as i32));
            // Halves are rounded to even digits, so that the neighbours are found by half a unit or by a whole one.
            let rounded = [0.0, -0.5, 0.5, -1.0, 1.0]
                .map(|units| inside + units * unit)
                .map(|number| rounded(number, decimals));
            let nearest = rounded
                .into_iter()
                .filter(|number| self.contains(*number))
                .min_by(|a, b| (a - target).abs().total_cmp(&(b - target).abs()));
            if let Some(number) = nearest {
                return number;
            }
        }
        self.low
    }

    /// The multiple of `grid` in the interval that is nearest to `target`; one outside if there is none.
    fn nearest_multiple(&self, target: f64, grid: f64) -> f64 {
        // The product of a count and a decimal number has rounding errors; its text has not.
        let decimals = decimals_of(grid);
        let multiple = |count: f64| rounded(count * grid, decimals);
        let count = (target / grid).round();
        let near = [count, count - 1.0, count + 1.0].map(multiple);
        let inside = near.into_iter().filter(|number| self.contains(*number));
        let nearest = inside.min_by(|a, b| (a - target).abs().total_cmp(&(b - target).abs()));
        nearest.unwrap_or(near[0])
    }
}

/// The numbers of a code that an answer may name.
#[derive(Clone, Debug)]
pub(crate) struct CodeNumbers {
    interval: Interval,
    /// The only such numbers in the interval, if not all.
    only: Option<Vec<f64>>,
    /// All such numbers are multiples of it.
    grid: Option<f64>,
    /// They have at least as many decimals, unless fewer are enough.
    decimals: usize,
}

impl CodeNumbers {
    /// A single number.
    fn single(number: f64) -> Self {
        let interval = Interval { low: number, high: number, closed: true };
        Self { interval, only: Some(vec![number]), grid: None, decimals: 0 }
    }

    /// The numbers of a bin that the schema permits. `bounds` or `allowed` that permit none are ignored.
    fn of_bin(feature: &Feature, summary: &NumberSummary, edges: &[f64], bins: usize, bin: usize) -> Self {
        let bounds = feature.bounds.map(|bounds| summary.rounded_inward(bounds));
        let within = bounds.and_then(|bounds| Interval::within(edges, bins, bin, bounds));
        let interval = within.unwrap_or_else(|| {
            let learned = Interval::of_bin(edges, bins, bin);
            // The outer edges are rounded, so that they may lie outside the range.
            let range = feature.range.map(|range| summary.rounded_inward(range));
            range.and_then(|range| learned.cut(range)).unwrap_or(learned)
        });
        let allowed = feature.allowed.iter().flatten().filter_map(|text| parse_number(text));
        // The outer bins also hold what lies beyond their edges.
        let is_of_bin =
            |number: f64| (bin == 0 || number >= edges[bin]) && (bin + 1 == bins || number < edges[bin + 1]);
        let is_permitted = |number: &f64| is_of_bin(*number) && summary.can_hold(*number);
        let allowed: Vec<f64> = allowed.filter(is_permitted).collect();
        let interval = allowed.iter().fold(interval, |interval, number| interval.extended_to(*number));
        let only = (!allowed.is_empty()).then_some(allowed);
        Self { interval, only, grid: None, decimals: summary.decimals }
    }

    /// The numbers that a limit permits, if any.
    pub(crate) fn within(&self, limit: &NumberLimit) -> Option<Self> {
        let interval = self.interval.cut(limit.range)?;
        let inside = |number: &f64| interval.contains(*number) && limit.contains(*number);
        let only = self.only.as_ref().or(limit.listed.as_ref());
        let only: Option<Vec<f64>> = only.map(|numbers| numbers.iter().copied().filter(inside).collect());
        let grid = match (&only, limit.grid) {
            // A column of whole numbers: the limit may leave none of them.
            (None, grid) if self.decimals == 0 => Some(whole_multiple(grid.unwrap_or(1.0))?),
            (_, grid) => grid,
        };
        let is_empty = match (&only, grid) {
            (Some(only), _) => only.is_empty(),
            (None, Some(grid)) => !interval.contains(interval.nearest_multiple(interval.low, grid)),
            (None, None) => false,
        };
        (!is_empty).then_some(Self { interval, only, grid, decimals: self.decimals })
    }

    /// How many decimals the column has.
    pub(crate) fn decimals(&self) -> usize {
        self.decimals
    }

    /// Whether an answer may name the number, if it has no more decimals than the column.
    pub(crate) fn contains(&self, number: f64) -> bool {
        let is_listed = self.only.as_ref().is_none_or(|only| only.contains(&number));
        let is_on_grid = self.grid.is_none_or(|grid| self.interval.nearest_multiple(number, grid) == number);
        self.interval.contains(number) && is_listed && is_on_grid
    }

    /// The number that is nearest to `target`, with as few decimals as possible.
    pub(crate) fn nearest(&self, target: f64) -> f64 {
        let only = self.only.iter().flatten().copied();
        // Clamped, since all distances to infinity are equal.
        let target = target.clamp(self.interval.low, self.interval.high);
        let listed = only.min_by(|a, b| (a - target).abs().total_cmp(&(b - target).abs()));
        match (listed, self.grid) {
            (Some(listed), _) => listed,
            (None, Some(grid)) => self.interval.nearest_multiple(target, grid),
            (None, None) => self.interval.nearest(target, self.decimals),
        }
    }
}

/// The least whole multiple of a grid: its multiples are the whole numbers on the grid.
fn whole_multiple(grid: f64) -> Option<f64> {
    let multiples = (1..=1000).map(|count| f64::from(count) * grid);
    multiples.into_iter().find(|multiple| (multiple - multiple.round()).abs() < 1e-9).map(f64::round)
}

impl Discretizer {
    /// The value that a code stands for, as a table writes it: its category, its number, or the median of its bin,
    /// within what the schema permits.
    ///
    /// # Panics
    /// When there is no such feature or code.
    pub fn typical_text(&self, feature: usize, code: Code) -> String {
        match &self.domains()[feature] {
            Domain::Categories { values, .. } => values[usize::from(code)].clone(),
            numeric if usize::from(code) >= numeric.ordinary() => numeric.number(code).to_string(),
            numeric => self.numbers(feature, code).nearest(numeric.number(code)).to_string(),
        }
    }

    /// Whether a code of a numeric feature holds a permitted number.
    pub(crate) fn offers(&self, feature: usize, code: usize, numbers: &NumberLimit) -> bool {
        match &self.domains()[feature] {
            Domain::Categories { .. } => unreachable!("categories are no numbers"),
            numeric if code >= numeric.ordinary() => false,
            Domain::Values { values, .. } => numbers.contains(values[code]),
            Domain::Bins { edges, medians, summary, .. } => {
                let feature = &self.schema().features()[feature];
                CodeNumbers::of_bin(feature, summary, edges, medians.len(), code).within(numbers).is_some()
            }
        }
    }

    /// The numbers of an ordinary code of a numeric feature that an answer may name.
    pub(crate) fn numbers(&self, feature: usize, code: Code) -> CodeNumbers {
        match &self.domains()[feature] {
            Domain::Bins { edges, medians, summary, .. } => {
                let feature = &self.schema().features()[feature];
                CodeNumbers::of_bin(feature, summary, edges, medians.len(), usize::from(code))
            }
            domain => CodeNumbers::single(domain.number(code)),
        }
    }
}
