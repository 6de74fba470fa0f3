//! What the domains need of every row of a table, whether it is learned from or not.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use super::domain::NumberSummary;
use super::shared::SHARED;
use super::{CategoryIndex, DiscretizerConfig};
use crate::error::{CellError, Error};
use crate::schema::{Columns, Feature, FeatureKind, MAX_CATEGORIES, Schema};
use crate::table::Batch;

/// All categories, different numbers while they are few, and extremes of the columns of a table, in bounded memory.
///
/// Parts of a table can be surveyed on different threads, and merged.
#[derive(Clone, Debug)]
pub struct DomainSurvey {
    pub(super) columns: Vec<ColumnSurvey>,
    pub(super) rows: u64,
}

#[derive(Clone, Debug)]
pub(super) enum ColumnSurvey {
    /// The schema lists the categories; only how many cells have each is kept.
    Listed {
        counts: Vec<usize>,
        index: CategoryIndex,
        seen: bool,
    },
    Vocabulary(BTreeSet<String>),
    Numbers(NumberSurvey),
}

/// What is known of all numbers of a column.
#[derive(Clone, Debug)]
pub(super) struct NumberSurvey {
    /// The most different numbers that get a code each.
    max_values: usize,
    /// The different numbers, ascending, and how many cells have each; `None` once they are too many.
    pub(super) distinct: Option<Vec<(f64, usize)>>,
    /// The lowest numbers, ascending, at most [`SHARED`].
    pub(super) lowest: Vec<f64>,
    /// The highest numbers, ascending, at most [`SHARED`].
    pub(super) highest: Vec<f64>,
    /// The largest number of decimals, up to a limit.
    pub(super) decimals: usize,
}

impl DomainSurvey {
    /// A survey of no rows.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn new(schema: &Schema, config: &DiscretizerConfig) -> Result<Self, Error> {
        for (key, found, range, expected) in [
            ("bins", config.bins, 2..=1000, "2 to 1000"),
            ("max_values", config.max_values, 1..=1000, "1 to 1000"),
        ] {
            if !range.contains(&found) {
                return Err(Error::Setting { key, found, expected });
            }
        }
        let column = |feature: &Feature| match feature.kind {
            FeatureKind::Discrete | FeatureKind::Continuous => {
                ColumnSurvey::Numbers(NumberSurvey::new(feature.bins.unwrap_or(config.max_values)))
            }
            FeatureKind::Nominal if feature.values.is_empty() => ColumnSurvey::Vocabulary(BTreeSet::new()),
            FeatureKind::Nominal | FeatureKind::Ordinal => {
                let index = CategoryIndex::new(&feature.values);
                ColumnSurvey::Listed { counts: vec![0; feature.values.len()], index, seen: false }
            }
        };
        Ok(Self { columns: schema.features().iter().map(column).collect(), rows: 0 })
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    /// When a cell does not fit its column, or a column has too many categories.
    pub fn add(&mut self, schema: &Schema, columns: &Columns, batch: &Batch) -> Result<(), Error> {
        for (feature, (survey, &at)) in
            schema.features().iter().zip(self.columns.iter_mut().zip(&columns.features))
        {
            for row in 0..batch.rows() {
                survey
                    .add(schema, feature, batch.cell(row, at))
                    .map_err(|source| Error::Cell { place: batch.place(row), source })?;
            }
        }
        self.rows += batch.rows() as u64;
        self.check_vocabularies(schema, columns)
    }

    /// Adds the rows of another survey of the same schema and settings.
    ///
    /// # Errors
    /// When a column has too many categories.
    pub fn merge(&mut self, schema: &Schema, columns: &Columns, other: Self) -> Result<(), Error> {
        for (own, other) in self.columns.iter_mut().zip(other.columns) {
            own.merge(other);
        }
        self.rows += other.rows;
        self.check_vocabularies(schema, columns)
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn check_vocabularies(&self, schema: &Schema, columns: &Columns) -> Result<(), Error> {
        for (feature, survey) in schema.features().iter().zip(&self.columns) {
            if matches!(survey, ColumnSurvey::Vocabulary(values) if values.len() > MAX_CATEGORIES) {
                return Err(Error::TooManyCategories {
                    origin: Arc::clone(&columns.origin),
                    column: feature.name.clone(),
                    limit: MAX_CATEGORIES,
                });
            }
        }
        Ok(())
    }
}

impl ColumnSurvey {
    fn add(&mut self, schema: &Schema, feature: &Feature, cell: &str) -> Result<(), CellError> {
        let text = cell.trim();
        if schema.is_missing(feature, text)? {
            return Ok(());
        }
        match self {
            Self::Listed { counts, index, seen } => {
                *seen = true;
                if let Some(code) = index.code(text) {
                    counts[usize::from(code)] += 1;
                }
            }
            Self::Vocabulary(values) => {
                if !values.contains(text) {
                    values.insert(text.to_string());
                }
            }
            Self::Numbers(numbers) => {
                if let Some(number) = ordinary_number(feature, cell)? {
                    numbers.add(number);
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (
                Self::Listed { counts, seen, .. },
                Self::Listed { counts: other_counts, seen: other_seen, .. },
            ) => {
                counts.iter_mut().zip(other_counts).for_each(|(count, other)| *count += other);
                *seen |= other_seen;
            }
            (Self::Vocabulary(values), Self::Vocabulary(others)) => values.extend(others),
            (Self::Numbers(numbers), Self::Numbers(others)) => numbers.merge(others),
            _ => unreachable!("surveys of one schema have columns of the same kinds"),
        }
    }

    /// Whether no cell has a value.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Listed { seen, .. } => !seen,
            Self::Vocabulary(values) => values.is_empty(),
            Self::Numbers(numbers) => numbers.lowest.is_empty(),
        }
    }
}

/// The number of a cell that is not missing; `None` for special numbers.
pub(super) fn ordinary_number(feature: &Feature, cell: &str) -> Result<Option<f64>, CellError> {
    // Adding zero turns −0 into 0, so that equal numbers have one text.
    let number = feature.number(cell)? + 0.0;
    Ok((!feature.special.contains(&number)).then_some(number))
}

impl NumberSurvey {
    fn new(max_values: usize) -> Self {
        Self { max_values, distinct: Some(Vec::new()), lowest: Vec::new(), highest: Vec::new(), decimals: 0 }
    }

    fn add(&mut self, number: f64) {
        self.count(number, 1);
        self.add_extreme(number);
        if !has_decimals(number, self.decimals) {
            self.decimals = self.decimals.max(decimals(number));
        }
    }

    fn merge(&mut self, other: Self) {
        match other.distinct {
            Some(distinct) => distinct.into_iter().for_each(|(number, cells)| self.count(number, cells)),
            None => self.distinct = None,
        }
        // A number can be among the lowest and the highest of the other part, but counts once for each.
        for number in other.lowest {
            self.add_low(number);
        }
        for number in other.highest {
            self.add_high(number);
        }
        self.decimals = self.decimals.max(other.decimals);
    }

    fn count(&mut self, number: f64, cells: usize) {
        let Some(distinct) = &mut self.distinct else { return };
        match distinct.binary_search_by(|(other, _)| other.total_cmp(&number)) {
            Ok(place) => distinct[place].1 += cells,
            Err(_) if distinct.len() == self.max_values => self.distinct = None,
            Err(place) => distinct.insert(place, (number, cells)),
        }
    }

    fn add_extreme(&mut self, number: f64) {
        self.add_low(number);
        self.add_high(number);
    }

    fn add_low(&mut self, number: f64) {
        if self.lowest.len() < SHARED || number < self.lowest[SHARED - 1] {
            self.lowest.insert(self.lowest.partition_point(|other| *other <= number), number);
            self.lowest.truncate(SHARED);
        }
    }

    fn add_high(&mut self, number: f64) {
        if self.highest.len() < SHARED || number > self.highest[0] {
            self.highest.insert(self.highest.partition_point(|other| *other <= number), number);
            if self.highest.len() > SHARED {
                self.highest.remove(0);
            }
        }
    }
}

/// Whether a number surely has no more than so many decimals; spares writing most of them as text.
fn has_decimals(number: f64, decimals: usize) -> bool {
    let units = 10f64.powi(decimals as i32);
    decimals >= NumberSummary::MAX_DECIMALS || (number * units).round() / units == number
}

/// The number of decimals, up to a limit.
fn decimals(number: f64) -> usize {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(text, "{number}");
    text.find('.').map_or(0, |point| text.len() - point - 1).min(NumberSummary::MAX_DECIMALS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(numbers: &[f64]) -> NumberSurvey {
        let mut survey = NumberSurvey::new(4);
        numbers.iter().for_each(|number| survey.add(*number));
        survey
    }

    #[test]
    fn parts_know_together_what_all_numbers_tell() {
        let numbers: Vec<f64> = (0..60).map(|n| f64::from(n * 37 % 60) / 8.0).collect();
        for cut in [0, 1, 7, 30, 60] {
            let (all, mut parts) = (survey(&numbers), survey(&numbers[..cut]));
            parts.merge(survey(&numbers[cut..]));
            assert_eq!((&parts.lowest, &parts.highest), (&all.lowest, &all.highest));
            assert_eq!((parts.distinct, parts.decimals), (None, 3));
        }
        assert_eq!(survey(&numbers).lowest, (0..10).map(|n| f64::from(n) / 8.0).collect::<Vec<f64>>());
        assert_eq!(survey(&numbers).highest, (50..60).map(|n| f64::from(n) / 8.0).collect::<Vec<f64>>());
    }

    #[test]
    fn few_different_numbers_are_counted() {
        let mut parts = survey(&[2.0, 1.0, 2.0]);
        parts.merge(survey(&[2.0, 3.0, 0.5]));
        assert_eq!(parts.distinct, Some(vec![(0.5, 1), (1.0, 1), (2.0, 3), (3.0, 1)]));
        parts.merge(survey(&[9.0]));
        assert_eq!(parts.distinct, None, "a fifth is one too many");
    }

    #[test]
    fn decimals_are_those_of_the_text() {
        for (number, expected) in
            [(0.0, 0), (3.0, 0), (0.1, 1), (-2.25, 2), (1e300, 0), (0.1 + 0.2, 9), (1e-7, 7), (1e-12, 9)]
        {
            assert_eq!(survey(&[number]).decimals, expected, "{number}");
            assert_eq!(survey(&[0.5, number]).decimals, expected.max(1), "{number}");
        }
    }
}
