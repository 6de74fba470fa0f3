//! From cells to codes and back, with domains learned from the training rows.
//!
//! # Paper
//! Appendix, Discretization.

mod decode;
mod domain;
mod fit;
mod masses;
mod shared;
mod survey;
mod values;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub(crate) use decode::CodeNumbers;
pub use domain::{Domain, NumberSummary};
pub use masses::{RawTerm, ValueMasses};
pub use survey::DomainSurvey;
pub(crate) use values::BinValues;

use crate::coverage::Coverage;
use crate::error::{CellError, Error};
use crate::schema::{Columns, FeatureKind, Schema, is_same_truth, parse_number};
use crate::table::Batch;
use crate::{Code, UNKNOWN};

/// How many codes numbers get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiscretizerConfig {
    /// Quantile bins of a numeric feature. In `2..=1000`; 10 unless told. `bins` of a feature in the schema
    /// takes precedence.
    pub bins: usize,
    /// Up to this many distinct numbers get a code each. In `1..=1000`; 20 unless told. `bins` of a feature
    /// in the schema takes precedence.
    pub max_values: usize,
}

impl Default for DiscretizerConfig {
    fn default() -> Self {
        Self { bins: 10, max_values: 20 }
    }
}

/// A schema together with the domain of each of its features. It holds no training row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedDiscretizer", into = "SavedDiscretizer")]
pub struct Discretizer {
    schema: Schema,
    domains: Vec<Domain>,
    /// For each ordered feature, the share of all people at each ordinary code; empty for others, and in models of
    /// earlier versions.
    shares: Vec<Vec<f64>>,
    /// For each feature with bins, how common the numbers of each bin are among the people of [`Self::learn_values`],
    /// where enough are known; empty for others, and in files of earlier versions.
    values: Vec<Vec<Option<BinValues>>>,
    categories: Vec<CategoryIndex>,
}

/// What is learned from one column.
struct FittedColumn {
    domain: Domain,
    shares: Vec<f64>,
}

impl Discretizer {
    /// Learns the domains from training rows, in one pass that keeps only the numbers of numeric columns.
    ///
    /// To exclude rows, such as a fold, [`retain`](Batch::retain) the others in each batch.
    ///
    /// # Errors
    /// When there are no rows, when a column has no values, when a cell does not fit its column, and
    /// when a learned vocabulary lacks the order that a constraint needs.
    ///
    /// # Paper
    /// Appendix, Discretization Procedure. Departures: a bin without training values is merged into the bin
    /// below it; a column that quantiles cannot split, but that has more than `max_values` distinct values,
    /// is split at the quantiles of its distinct values.
    pub fn fit(
        schema: &Schema,
        columns: &Columns,
        batches: impl IntoIterator<Item = Result<Batch, Error>>,
        config: &DiscretizerConfig,
    ) -> Result<Self, Error> {
        let mut survey = DomainSurvey::new(schema, config)?;
        let mut numbers = vec![Vec::new(); schema.features().len()];
        for batch in batches {
            let batch = batch?;
            survey.add(schema, columns, &batch)?;
            fit::add_numbers(schema, columns, &batch, &mut numbers)?;
        }
        Self::from_numbers(schema, columns, survey, numbers, config)
    }

    /// Learns the domains from a survey of all rows and a sample of them: quantiles and medians are those of the sample;
    /// categories, different numbers with a code each, and extremes are those of all rows.
    ///
    /// # Errors
    /// As [`Discretizer::fit`].
    pub fn fit_sample<'a>(
        schema: &Schema,
        columns: &Columns,
        survey: DomainSurvey,
        sample: impl IntoIterator<Item = &'a Batch>,
        config: &DiscretizerConfig,
    ) -> Result<Self, Error> {
        let mut numbers = vec![Vec::new(); schema.features().len()];
        for batch in sample {
            fit::add_numbers(schema, columns, batch, &mut numbers)?;
        }
        Self::from_numbers(schema, columns, survey, numbers, config)
    }

    fn from_numbers(
        schema: &Schema,
        columns: &Columns,
        survey: DomainSurvey,
        numbers: Vec<Vec<f64>>,
        config: &DiscretizerConfig,
    ) -> Result<Self, Error> {
        let columns = fit::columns(schema, columns, survey, numbers, config)?;
        let (domains, shares) = columns.into_iter().map(|column| (column.domain, column.shares)).unzip();
        Ok(Self::new(schema.clone(), domains, shares, Vec::new()))
    }

    fn new(
        schema: Schema,
        domains: Vec<Domain>,
        shares: Vec<Vec<f64>>,
        values: Vec<Vec<Option<BinValues>>>,
    ) -> Self {
        let index = |domain: &Domain| match domain {
            Domain::Categories { values, .. } => CategoryIndex::new(values),
            _ => CategoryIndex::default(),
        };
        let categories = domains.iter().map(index).collect();
        Self { schema, domains, shares, values, categories }
    }

    /// Learns how common the numbers within bins are among the people with these `numbers`, for each feature. Those of
    /// features without bins do not count, nor do NaN and special numbers.
    ///
    /// # Panics
    /// When there are not as many columns as features.
    pub fn learn_values(&mut self, numbers: Vec<Vec<f64>>) {
        assert_eq!(numbers.len(), self.domains.len(), "one column for each feature");
        self.values =
            numbers.into_iter().zip(&self.domains).map(|(own, domain)| values(domain, own)).collect();
    }

    /// Whether a feature has bins.
    fn has_bins(&self, position: usize) -> bool {
        matches!(self.domains[position], Domain::Bins { .. })
    }

    /// How common the numbers of a code are among the people of [`Self::learn_values`], where enough are known.
    pub(crate) fn values(&self, position: usize, code: Code) -> Option<&BinValues> {
        self.values.get(position)?.get(usize::from(code))?.as_ref()
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The domain of each feature, in schema order.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// The share of all people at each ordinary code of a feature; as many at each where that is not known.
    pub(crate) fn shares(&self, feature: usize) -> Vec<f64> {
        match self.shares.get(feature) {
            Some(shares) if !shares.is_empty() => shares.clone(),
            _ => {
                let codes = self.domains[feature].ordinary();
                vec![1.0 / codes as f64; codes]
            }
        }
    }

    /// Number of codes of each feature, in schema order.
    pub fn cardinalities(&self) -> Vec<usize> {
        self.domains.iter().map(Domain::cardinality).collect()
    }

    /// The codes of all rows of a batch.
    ///
    /// # Errors
    /// When a cell is missing, not a number or not a known category, and the schema does not accept it as
    /// unknown.
    pub fn encode(&self, columns: &Columns, batch: &Batch) -> Result<Encoded, Error> {
        let mut encoded = self.nothing_encoded(batch.rows());
        for row in 0..batch.rows() {
            let cells = columns.features.iter().map(|&column| batch.cell(row, column));
            self.encode_into(cells, &mut encoded)
                .map_err(|source| Error::Cell { place: batch.place(row), source })?;
        }
        Ok(encoded)
    }

    /// Adds the numbers of all rows of a batch to those of each feature with bins, NaN for cells that are no numbers.
    ///
    /// # Panics
    /// When there are not as many columns as features.
    pub fn add_numbers(&self, columns: &Columns, batch: &Batch, numbers: &mut [Vec<f64>]) {
        assert_eq!(numbers.len(), self.domains.len(), "one column for each feature");
        for (position, (own, &column)) in numbers.iter_mut().zip(&columns.features).enumerate() {
            if self.has_bins(position) {
                let cells = (0..batch.rows()).map(|row| batch.cell(row, column));
                own.extend(cells.map(|cell| parse_number(cell).unwrap_or(f64::NAN)));
            }
        }
    }

    /// The codes of one row, its cells in schema order.
    ///
    /// # Errors
    /// As [`Discretizer::encode`], without the place.
    ///
    /// # Panics
    /// When there are not as many cells as features.
    pub fn encode_row(&self, cells: &[&str]) -> Result<Encoded, CellError> {
        assert_eq!(cells.len(), self.domains.len(), "one cell for each feature");
        let mut encoded = self.nothing_encoded(1);
        self.encode_into(cells.iter().copied(), &mut encoded)?;
        Ok(encoded)
    }

    fn nothing_encoded(&self, rows: usize) -> Encoded {
        let width = self.domains.len();
        Encoded { width, codes: Vec::with_capacity(rows * width), coverage: Coverage::new(width), unseen: 0 }
    }

    fn encode_into<'a>(
        &self,
        cells: impl Iterator<Item = &'a str>,
        encoded: &mut Encoded,
    ) -> Result<(), CellError> {
        let mut whole = true;
        for (feature, cell) in cells.enumerate() {
            let (code, found) = self.encode_cell(feature, cell)?;
            encoded.codes.push(code);
            encoded.unseen += u64::from(found == CellMatch::Unseen);
            if found != CellMatch::Inside {
                encoded.coverage.count_outside(feature);
                whole = false;
            }
        }
        encoded.coverage.count_row(whole);
        Ok(())
    }

    /// The code of one cell of a feature.
    ///
    /// # Errors
    /// When the cell does not fit its column.
    ///
    /// # Panics
    /// When there is no such feature.
    pub fn code(&self, position: usize, cell: &str) -> Result<Code, CellError> {
        self.encode_cell(position, cell).map(|(code, _)| code)
    }

    /// The code of a cell, and how it matches the domain.
    fn encode_cell(&self, position: usize, cell: &str) -> Result<(Code, CellMatch), CellError> {
        let feature = &self.schema.features()[position];
        let text = cell.trim();
        if self.schema.is_missing(feature, text)? {
            return Ok((UNKNOWN, CellMatch::Missing));
        }
        match &self.domains[position] {
            Domain::Categories { values, .. } => match self.categories[position].code(text) {
                Some(code) => Ok((code, CellMatch::Inside)),
                None if feature.missing => Ok((UNKNOWN, CellMatch::Unseen)),
                None => Err(CellError::UnknownCategory {
                    column: feature.name.clone(),
                    found: cell.to_string(),
                    known: values.clone(),
                }),
            },
            numeric => {
                let (code, inside) = numeric.code_of_number(feature.number(cell)?);
                Ok((code, if inside { CellMatch::Inside } else { CellMatch::Snapped }))
            }
        }
    }

    /// How a cell differs from all training values of its column; `None` if it does not, is missing or does
    /// not fit the column.
    ///
    /// # Panics
    /// When there is no such feature.
    pub fn novelty(&self, position: usize, cell: &str) -> Option<Novelty> {
        let (code, found) = self.encode_cell(position, cell).ok()?;
        let domain = &self.domains[position];
        if let (Some(summary), Some(number)) = (domain.summary(), parse_number(cell))
            && found != CellMatch::Missing
            && !(summary.low..=summary.high).contains(&number)
        {
            return Some(Novelty::Outside { low: summary.low, high: summary.high });
        }
        match (found, domain) {
            (CellMatch::Unseen, _) => Some(Novelty::Category),
            (CellMatch::Snapped, Domain::Values { values, .. }) => {
                Some(Novelty::Between { nearest: values[usize::from(code)] })
            }
            _ => None,
        }
    }

    /// The code of the category with this text, see [`CategoryIndex::code`]; `None` for numeric features.
    ///
    /// # Panics
    /// When there is no such feature.
    pub fn category(&self, position: usize, text: &str) -> Option<Code> {
        self.categories[position].code(text)
    }

    /// Checks that every category is encoded as its own code, as in every fitted discretizer.
    fn check_categories(&self) -> Result<(), Error> {
        for (position, domain) in self.domains.iter().enumerate() {
            let Domain::Categories { values, .. } = domain else { continue };
            for (value, code) in values.iter().zip(0..) {
                if !matches!(self.encode_cell(position, value), Ok((own, CellMatch::Inside)) if own == code) {
                    let feature = self.schema.features()[position].name.clone();
                    return Err(Error::Damaged { feature, problem: "a category cannot be read back" });
                }
            }
        }
        Ok(())
    }

    /// For each code of a feature, whether `allowed` and `bounds` permit moves to it.
    pub(crate) fn permitted(&self, position: usize) -> Vec<bool> {
        let feature = &self.schema.features()[position];
        let domain = &self.domains[position];
        let mut permitted: Vec<bool> =
            (0..domain.cardinality()).map(|code| domain.meets(code, feature.bounds)).collect();
        if let Some(allowed) = &feature.allowed {
            let mut named = vec![false; permitted.len()];
            let can_hold = |text: &&String| match (domain.summary(), parse_number(text)) {
                (Some(summary), Some(number)) => summary.can_hold(number),
                _ => true,
            };
            let allowed = allowed.iter().filter(can_hold);
            for (code, found) in allowed.filter_map(|text| self.encode_cell(position, text).ok()) {
                if found == CellMatch::Inside {
                    named[usize::from(code)] = true;
                }
            }
            permitted.iter_mut().zip(named).for_each(|(permitted, named)| *permitted &= named);
        }
        permitted
    }
}

/// How common the numbers of each bin are; empty without bins.
fn values(domain: &Domain, mut numbers: Vec<f64>) -> Vec<Option<BinValues>> {
    let Domain::Bins { edges, medians, special, .. } = domain else { return Vec::new() };
    numbers.retain(|number| !number.is_nan() && !special.contains(number));
    numbers.sort_unstable_by(f64::total_cmp);
    let mut rest = numbers.as_slice();
    let bins = edges.windows(2).enumerate().map(|(bin, ends)| {
        let is_last = bin + 1 == medians.len();
        let inside = rest.partition_point(|number| is_last || *number < ends[1]);
        let own;
        (own, rest) = rest.split_at(inside);
        BinValues::learn(own, ends[0], ends[1])
    });
    bins.collect()
}

/// How a cell differs from all training values of its column.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Novelty {
    /// A number below or above all training values.
    Outside {
        /// The lowest training value.
        low: f64,
        /// The highest training value.
        high: f64,
    },
    /// A number between training values, in a column where each value has a code.
    Between {
        /// The training value whose code it gets.
        nearest: f64,
    },
    /// An unseen category, which is encoded as unknown.
    Category,
}

/// How a cell matches the domain of its feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellMatch {
    Inside,
    Missing,
    /// A category that is not in the domain.
    Unseen,
    /// A number that is not in the domain and gets the code of the nearest one.
    Snapped,
}

/// The codes of some rows, and the coverage of their cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    width: usize,
    codes: Vec<Code>,
    coverage: Coverage,
    unseen: u64,
}

impl Encoded {
    /// All codes, row after row.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// The codes of each row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Code]> {
        self.codes.chunks_exact(self.width)
    }

    /// The coverage of the rows by the learned domains.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Number of cells with an unseen category, which the schema accepts as unknown.
    pub fn unseen(&self) -> u64 {
        self.unseen
    }

    /// All codes, row after row.
    pub fn into_codes(self) -> Vec<Code> {
        self.codes
    }
}

/// The code of each category, by its text or, if unique, by its number: `2.0` finds `2`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryIndex {
    by_text: HashMap<String, Code>,
    by_number: Vec<(f64, Code)>,
}

impl CategoryIndex {
    /// The code of a category is its position in `values`.
    ///
    /// # Panics
    /// When there are more categories than codes.
    pub fn new(values: &[String]) -> Self {
        assert!(values.len() <= usize::from(Code::MAX), "more categories than codes");
        let coded = || values.iter().zip(0..);
        let mut by_number: Vec<(f64, Code)> =
            coded().filter_map(|(value, code)| Some((parse_number(value)?, code))).collect();
        by_number.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut alone = Vec::with_capacity(by_number.len());
        for same in by_number.chunk_by(|a, b| a.0 == b.0) {
            if let [only] = same {
                alone.push(*only);
            }
        }
        let by_number = alone;
        Self { by_text: coded().map(|(value, code)| (value.clone(), code)).collect(), by_number }
    }

    /// The code of the category with this text, trimmed. A text that is not a category matches the only
    /// category that is the same number: `2.0` matches `2`, unless `02` is a category too; or the same truth value: `true`
    /// matches `True`.
    pub fn code(&self, text: &str) -> Option<Code> {
        self.by_text.get(text).copied().or_else(|| match parse_number(text) {
            Some(number) => {
                let at = self.by_number.partition_point(|(other, _)| *other < number);
                self.by_number.get(at).filter(|(other, _)| *other == number).map(|(_, code)| *code)
            }
            None if is_same_truth(text, text) => {
                let mut same = self.by_text.iter().filter(|(value, _)| is_same_truth(value, text));
                same.next().map(|(_, code)| *code).filter(|_| same.next().is_none())
            }
            None => None,
        })
    }
}

/// A discretizer as a model file stores it.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Discretizer")]
struct SavedDiscretizer {
    schema: Schema,
    domains: Vec<Domain>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shares: Vec<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<Vec<Option<BinValues>>>,
}

impl From<Discretizer> for SavedDiscretizer {
    fn from(discretizer: Discretizer) -> Self {
        let Discretizer { schema, domains, shares, values, categories: _ } = discretizer;
        Self { schema, domains, shares, values }
    }
}

impl TryFrom<SavedDiscretizer> for Discretizer {
    type Error = Error;

    fn try_from(saved: SavedDiscretizer) -> Result<Self, Error> {
        let features = saved.schema.features();
        if features.len() != saved.domains.len() {
            let first_without = saved.domains.len().min(features.len() - 1);
            let feature = features[first_without].name.clone();
            return Err(Error::Damaged { feature, problem: "features and domains differ in number" });
        }
        for (position, (feature, domain)) in features.iter().zip(&saved.domains).enumerate() {
            let damaged = |problem| Error::Damaged { feature: feature.name.clone(), problem };
            domain.check().map_err(damaged)?;
            if domain.special() != feature.special {
                return Err(damaged("its special numbers differ from the schema's"));
            }
            if feature.kind.is_numeric() != domain.summary().is_some() {
                return Err(damaged("its domain is of another kind"));
            }
            let shares = saved.shares.get(position).map_or(&[][..], Vec::as_slice);
            let is_share = |share: &f64| (0.0..=1.0).contains(share);
            if !(shares.is_empty() || shares.len() == domain.ordinary()) || !shares.iter().all(is_share) {
                return Err(damaged("its shares of people are impossible"));
            }
            let values = saved.values.get(position).map_or(&[][..], Vec::as_slice);
            if !values_fit(domain, values) {
                return Err(damaged("how common its numbers are is impossible"));
            }
            let ordered =
                feature.kind == FeatureKind::Ordinal || saved.schema.order_needed(position).is_some();
            if matches!(domain, Domain::Categories { ordered: false, .. }) && ordered {
                return Err(damaged("its categories lack an order"));
            }
        }
        let discretizer = Self::new(saved.schema, saved.domains, saved.shares, saved.values);
        discretizer.check_categories()?;
        Ok(discretizer)
    }
}

/// Whether the bins of a domain may have these values.
fn values_fit(domain: &Domain, values: &[Option<BinValues>]) -> bool {
    let Domain::Bins { edges, medians, .. } = domain else { return values.is_empty() };
    let fits = |(bin, values): (usize, &Option<BinValues>)| {
        values.as_ref().is_none_or(|values| values.is_of_bin([edges[bin], edges[bin + 1]]))
    };
    values.is_empty() || values.len() == medians.len() && values.iter().enumerate().all(fits)
}
