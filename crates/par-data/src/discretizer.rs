//! From cells to codes and back, with domains learned from the training rows.
//!
//! # Paper
//! Appendix, Discretization.

mod decode;
mod domain;
mod fit;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use decode::{Decoded, Interval, Number};
pub use domain::{Domain, Summary};

use crate::coverage::Coverage;
use crate::error::{CellError, Error};
use crate::schema::{Columns, Kind, Schema, parse_number};
use crate::table::Batch;
use crate::{Code, UNKNOWN};

/// How finely numbers are told apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiscretizerConfig {
    /// How many quantile bins a numeric feature gets. In `2..=1000`; 10 unless told. A feature's own
    /// `bins` in the schema comes first.
    pub bins: usize,
    /// Up to this many distinct numbers keep a code each. In `1..=1000`; 20 unless told. A feature
    /// with its own `bins` keeps that many.
    pub max_values: usize,
}

impl Default for DiscretizerConfig {
    fn default() -> Self {
        Self { bins: 10, max_values: 20 }
    }
}

/// A schema together with the domain of each of its features. It holds no training row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Discretizer {
    schema: Schema,
    domains: Vec<Domain>,
    categories: Vec<CategoryIndex>,
}

impl Discretizer {
    /// Learns the domains from training rows, in one pass that keeps the numbers and no more.
    ///
    /// To leave rows out, such as a fold, [`retain`](Batch::retain) the others in each batch.
    ///
    /// # Errors
    /// When there are no rows, when a column has no values, when a cell does not fit its column, and
    /// when a learned vocabulary lacks the order that a constraint needs.
    ///
    /// # Paper
    /// Appendix, Discretization Procedure. Departures: a bin that no training value falls into is
    /// joined to the one below it; and a column that quantiles cannot split, but that has more than
    /// `max_values` distinct values, is split at the quantiles of its distinct values.
    pub fn fit(
        schema: &Schema,
        columns: &Columns,
        batches: impl IntoIterator<Item = Result<Batch, Error>>,
        config: &DiscretizerConfig,
    ) -> Result<Self, Error> {
        let domains = fit::domains(schema, columns, batches, config)?;
        Ok(Self::new(schema.clone(), domains))
    }

    fn new(schema: Schema, domains: Vec<Domain>) -> Self {
        let index = |domain: &Domain| match domain {
            Domain::Categories { values, .. } => CategoryIndex::new(values),
            _ => CategoryIndex::default(),
        };
        let categories = domains.iter().map(index).collect();
        Self { schema, domains, categories }
    }

    /// The schema, with everything that was not learned.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The domain of each feature, in schema order.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// How many codes each feature has, in schema order.
    pub fn cardinalities(&self) -> Vec<usize> {
        self.domains.iter().map(Domain::cardinality).collect()
    }

    /// The codes of all rows of a batch.
    ///
    /// # Errors
    /// When a cell is missing, is no number or is no known category, and the schema does not let it
    /// be unknown.
    pub fn encode(&self, columns: &Columns, batch: &Batch) -> Result<Encoded, Error> {
        let mut encoded = self.nothing_encoded(batch.rows());
        for row in 0..batch.rows() {
            let cells = columns.features.iter().map(|&column| batch.cell(row, column));
            self.encode_into(cells, &mut encoded)
                .map_err(|source| Error::Cell { place: batch.place(row), source })?;
        }
        Ok(encoded)
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
            encoded.unseen += u64::from(found == Found::Unseen);
            if found != Found::Inside {
                encoded.coverage.count_outside(feature);
                whole = false;
            }
        }
        encoded.coverage.count_row(whole);
        Ok(())
    }

    /// The code of a cell, and how the domain knows the cell.
    fn encode_cell(&self, position: usize, cell: &str) -> Result<(Code, Found), CellError> {
        let feature = &self.schema.features()[position];
        let text = cell.trim();
        if self.schema.is_missing(feature, text)? {
            return Ok((UNKNOWN, Found::Missing));
        }
        match &self.domains[position] {
            Domain::Categories { values, .. } => match self.categories[position].code(text) {
                Some(code) => Ok((code, Found::Inside)),
                None if feature.missing => Ok((UNKNOWN, Found::Unseen)),
                None => Err(CellError::UnknownCategory {
                    column: feature.name.clone(),
                    found: cell.to_string(),
                    known: values.clone(),
                }),
            },
            numeric => {
                let (code, inside) = numeric.code_of_number(feature.number(cell)?);
                Ok((code, if inside { Found::Inside } else { Found::Snapped }))
            }
        }
    }

    /// How a cell differs from all that the training rows had in its column, if it does; nothing where it is missing or
    /// does not fit the column.
    ///
    /// # Panics
    /// When the position is none of a feature.
    pub fn novelty(&self, position: usize, cell: &str) -> Option<Novelty> {
        let (code, found) = self.encode_cell(position, cell).ok()?;
        let domain = &self.domains[position];
        if let (Some(summary), Some(number)) = (domain.summary(), parse_number(cell))
            && found != Found::Missing
            && !(summary.low..=summary.high).contains(&number)
        {
            return Some(Novelty::Outside { low: summary.low, high: summary.high });
        }
        match (found, domain) {
            (Found::Unseen, _) => Some(Novelty::Category),
            (Found::Snapped, Domain::Values { values, .. }) => {
                Some(Novelty::Between { nearest: values[usize::from(code)] })
            }
            _ => None,
        }
    }

    /// The code of the category that a text names: see [`CategoryIndex::code`]. None where the feature holds numbers.
    ///
    /// # Panics
    /// When the position is none of a feature.
    pub fn category(&self, position: usize, text: &str) -> Option<Code> {
        self.categories[position].code(text)
    }

    /// Whether every category is read back as its own code, as those that were fitted are.
    fn check_categories(&self) -> Result<(), Error> {
        for (position, domain) in self.domains.iter().enumerate() {
            let Domain::Categories { values, .. } = domain else { continue };
            for (value, code) in values.iter().zip(0..) {
                if !matches!(self.encode_cell(position, value), Ok((own, Found::Inside)) if own == code) {
                    let feature = self.schema.features()[position].name.clone();
                    return Err(Error::Damaged { feature, problem: "a category cannot be read back" });
                }
            }
        }
        Ok(())
    }

    /// Which codes the feature's `allowed` and `bounds` leave open to a recourse.
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
                if found == Found::Inside {
                    named[usize::from(code)] = true;
                }
            }
            permitted.iter_mut().zip(named).for_each(|(permitted, named)| *permitted &= named);
        }
        permitted
    }
}

/// How a cell differs from all that the training rows had in its column.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Novelty {
    /// A number below or above all of them.
    Outside {
        /// Their lowest.
        low: f64,
        /// Their highest.
        high: f64,
    },
    /// A number between them, in a column where each has a code.
    Between {
        /// The one that it counts as.
        nearest: f64,
    },
    /// A category, which counts as unknown.
    Category,
}

/// How a domain knows a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Inside,
    Missing,
    /// A category that is not in the domain.
    Unseen,
    /// A number that is not in the domain and stands for the nearest one.
    Snapped,
}

/// The codes of some rows, and how many cells fell outside the learned domains.
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

    /// The cells outside the learned domains.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// How many cells hold a category never seen, where the schema lets it be unknown.
    pub fn unseen(&self) -> u64 {
        self.unseen
    }

    /// All codes, row after row, to keep.
    pub fn into_codes(self) -> Vec<Code> {
        self.codes
    }
}

/// The code of each category by its text, or by its number if no other has that, so that `2.0` finds `2`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryIndex {
    by_text: HashMap<String, Code>,
    by_number: Vec<(f64, Code)>,
}

impl CategoryIndex {
    /// The code of a category is its position.
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

    /// The code of the category with this text, without spaces around it. A text that is no category stands for the
    /// one that is the same number, if there is exactly one: `2.0` for `2`, but not where there is `02` too.
    pub fn code(&self, text: &str) -> Option<Code> {
        self.by_text.get(text).copied().or_else(|| {
            let number = parse_number(text)?;
            let at = self.by_number.partition_point(|(other, _)| *other < number);
            self.by_number.get(at).filter(|(other, _)| *other == number).map(|(_, code)| *code)
        })
    }
}

/// What a model file holds of a discretizer.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Discretizer")]
struct Saved {
    schema: Schema,
    domains: Vec<Domain>,
}

impl From<Discretizer> for Saved {
    fn from(discretizer: Discretizer) -> Self {
        Self { schema: discretizer.schema, domains: discretizer.domains }
    }
}

impl TryFrom<Saved> for Discretizer {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        let features = saved.schema.features();
        if features.len() != saved.domains.len() {
            let first_without = saved.domains.len().min(features.len() - 1);
            let feature = features[first_without].name.clone();
            return Err(Error::Damaged { feature, problem: "features and domains differ in number" });
        }
        for (position, (feature, domain)) in features.iter().zip(&saved.domains).enumerate() {
            let damaged = |problem| Error::Damaged { feature: feature.name.clone(), problem };
            domain.check().map_err(damaged)?;
            if feature.kind.is_numeric() != domain.summary().is_some() {
                return Err(damaged("its domain is of another kind"));
            }
            let ordered = feature.kind == Kind::Ordinal || saved.schema.order_needed(position).is_some();
            if matches!(domain, Domain::Categories { ordered: false, .. }) && ordered {
                return Err(damaged("its categories lack an order"));
            }
        }
        let discretizer = Self::new(saved.schema, saved.domains);
        discretizer.check_categories()?;
        Ok(discretizer)
    }
}
