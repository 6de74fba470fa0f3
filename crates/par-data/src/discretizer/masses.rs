//! How probable the cells of a raw table are, given their codes: p(value | code).

use super::decode::Interval;
use super::{BinValues, Discretizer, Domain};
use crate::Code;
use crate::schema::{Columns, FeatureKind, parse_number};
use crate::table::Batch;

/// The log-probability of numbers as they are written, given their codes: log p(codes) plus those of the cells is that
/// of the raw row.
///
/// A number is one of the grid of its column's decimals. In a bin, those that many people share have their shares, and
/// the grid of each piece of the rest is equally likely, so that the masses of a code sum to one between its edges. A
/// bin in which too few people are known has a single piece. A number beyond the outer edges or off the grid is as
/// likely as one of the grid in the nearest piece.
///
/// Categories, numbers with a code of their own, special numbers and unknown cells have mass one.
#[derive(Clone, Debug)]
pub struct ValueMasses {
    features: Vec<FeatureMasses>,
}

/// What the cells of a row, or one of them, add to the log-likelihood of the codes, in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RawTerm {
    /// For the probability of the table as it is written.
    pub log_mass: f64,
    /// For its density: the mass divided by the unit of the grid in continuous columns. Special numbers keep their
    /// mass.
    pub log_density: f64,
}

/// The masses of one numeric feature.
#[derive(Clone, Debug)]
struct FeatureMasses {
    position: usize,
    /// The codes before those of special numbers.
    ordinary: Code,
    /// One for each ordinary code; empty if each is a single number.
    bins: Vec<BinMasses>,
    /// The log of how many units of the grid make one, if the feature is continuous; otherwise 0.
    log_units: f64,
}

#[derive(Clone, Debug)]
struct BinMasses {
    /// Numbers that many people share, ascending, with their log-masses.
    spikes: Vec<(f64, f64)>,
    /// The edges between pieces.
    edges: Vec<f64>,
    /// The log-mass of each number of the grid in each piece, one more than edges.
    pieces: Vec<f64>,
}

impl Discretizer {
    /// The log-probability of cells given their codes. `None` where it was not learned, and where codes tell all: there
    /// are neither bins nor continuous features with decimals.
    pub fn value_masses(&self) -> Option<ValueMasses> {
        let positions = 0..self.domains.len();
        if self.values.is_empty() && positions.clone().any(|position| self.has_bins(position)) {
            return None;
        }
        let features: Vec<FeatureMasses> =
            positions.filter_map(|position| FeatureMasses::new(self, position)).collect();
        (!features.is_empty()).then_some(ValueMasses { features })
    }
}

impl ValueMasses {
    /// What one cell adds, given its code.
    pub fn of_cell(&self, position: usize, cell: &str, code: Code) -> RawTerm {
        let own = self.features.iter().find(|feature| feature.position == position);
        own.map_or(RawTerm::default(), |feature| feature.term(cell, code))
    }

    /// What the cells of each row of a batch add, given their `codes`, row after row.
    ///
    /// # Panics
    /// When there are not as many codes as cells.
    pub fn of_batch(&self, columns: &Columns, batch: &Batch, codes: &[Code]) -> Vec<RawTerm> {
        let width = columns.features.len();
        assert_eq!(codes.len(), batch.rows() * width, "one code for each cell");
        let of_row = |(row, codes): (usize, &[Code])| {
            self.features.iter().fold(RawTerm::default(), |sum, feature| {
                let cell = batch.cell(row, columns.features[feature.position]);
                let term = feature.term(cell, codes[feature.position]);
                RawTerm {
                    log_mass: sum.log_mass + term.log_mass,
                    log_density: sum.log_density + term.log_density,
                }
            })
        };
        codes.chunks_exact(width).enumerate().map(of_row).collect()
    }
}

impl FeatureMasses {
    /// `None` if codes tell all.
    fn new(discretizer: &Discretizer, position: usize) -> Option<Self> {
        let domain = &discretizer.domains[position];
        let grid = Grid { units: 10f64.powi(domain.summary()?.decimals as i32), special: domain.special() };
        let is_continuous = discretizer.schema.features()[position].kind == FeatureKind::Continuous;
        let log_units = if is_continuous { grid.units.ln() } else { 0.0 };
        let bins: Vec<BinMasses> = match domain {
            Domain::Bins { edges, medians, .. } => (0..medians.len())
                .map(|bin| {
                    let values = discretizer.values(position, bin as Code);
                    BinMasses::new(values, Interval::of_bin(edges, medians.len(), bin), &grid)
                })
                .collect(),
            _ => Vec::new(),
        };
        let tells_more = !bins.is_empty() || log_units > 0.0;
        tells_more.then_some(Self { position, ordinary: domain.ordinary() as Code, bins, log_units })
    }

    fn term(&self, cell: &str, code: Code) -> RawTerm {
        if code >= self.ordinary {
            return RawTerm::default();
        }
        let bin = self.bins.get(usize::from(code));
        let log_mass = bin.zip(parse_number(cell)).map_or(0.0, |(bin, number)| bin.log_mass(number));
        RawTerm { log_mass, log_density: log_mass + self.log_units }
    }
}

impl BinMasses {
    fn new(values: Option<&BinValues>, bin: Interval, grid: &Grid<'_>) -> Self {
        let Some(BinValues { spikes, edges, pieces }) = values else {
            return Self { spikes: Vec::new(), edges: Vec::new(), pieces: vec![-grid.numbers(bin).ln()] };
        };
        let piece = |piece: usize| {
            let is_last = piece + 1 == pieces.len();
            let own = Interval { low: edges[piece], high: edges[piece + 1], closed: bin.closed && is_last };
            (pieces[piece] / grid.numbers(own)).ln()
        };
        let pieces = (0..pieces.len()).map(piece).collect();
        let mut masses = Self { spikes: Vec::new(), edges: edges[1..edges.len() - 1].to_vec(), pieces };
        masses.spikes = spikes
            .iter()
            .map(|&(number, share)| (number, (share + masses.log_mass(number).exp()).ln()))
            .collect();
        masses
    }

    fn log_mass(&self, number: f64) -> f64 {
        let at = self.spikes.partition_point(|(spike, _)| *spike < number);
        match self.spikes.get(at) {
            Some(&(spike, log_mass)) if spike == number => log_mass,
            _ => self.pieces[self.edges.partition_point(|edge| *edge <= number)],
        }
    }
}

/// The numbers of a column with as many decimals as it has, without special ones.
struct Grid<'a> {
    /// How many of its steps make one.
    units: f64,
    special: &'a [f64],
}

impl Grid<'_> {
    /// How many of its numbers lie in the interval; at least one.
    fn numbers(&self, interval: Interval) -> f64 {
        let Interval { low, high, closed } = interval;
        let end = self.first(high);
        let includes_end = closed && end / self.units == high;
        let is_excluded =
            |special: &&f64| interval.contains(**special) && self.first(**special) / self.units == **special;
        let excluded = self.special.iter().filter(is_excluded).count();
        let numbers = end - self.first(low) + f64::from(u8::from(includes_end)) - excluded as f64;
        if numbers.is_finite() { numbers.max(1.0) } else { f64::MAX }
    }

    /// The first of its numbers that is not below `limit`, in steps. Steps divided by `units` are exactly the numbers
    /// that are read from text; the product may be off by one.
    fn first(&self, limit: f64) -> f64 {
        let steps = (limit * self.units).ceil();
        if (steps - 1.0) / self.units >= limit {
            steps - 1.0
        } else if steps / self.units < limit {
            steps + 1.0
        } else {
            steps
        }
    }
}
