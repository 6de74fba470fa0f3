//! LearnSPN: splits columns that are independent, otherwise rows into similar ones, until few are left.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::base_rates::BaseRates;
use super::cluster::cluster;
use super::columns::ColumnMajor;
use crate::{Circuit, LearnError, Node, NodeId, Stop, Stopped, threads};

/// Settings of LearnSPN. The defaults are the paper's.
///
/// # Paper
/// Appendix "Probabilistic Circuit Architecture": rows 200, columns 3. Departures: columns are split by
/// a G-test, rows by a two-component mixture; leaves are smoothed towards the base rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnSpnConfig {
    /// Fewer rows than this become independent leaves. At least 2; 200 unless told.
    pub min_rows: usize,
    /// Fewer columns than this become independent leaves. At least 2; 3 unless told.
    pub min_columns: usize,
    /// Columns are independent unless the p-value of the G-test is below this. In `0.0..1.0`; 0.00135, three
    /// standard deviations, unless told.
    pub significance: f64,
}

impl Default for LearnSpnConfig {
    fn default() -> Self {
        Self { min_rows: 200, min_columns: 3, significance: 0.00135 }
    }
}

impl LearnSpnConfig {
    /// Finer than the paper's: better on every table measured, most of all on small ones.
    pub fn fine() -> Self {
        Self { min_rows: 60, min_columns: 2, ..Self::default() }
    }

    pub(crate) fn check(&self) -> Result<(), LearnError> {
        let counts = [("min_rows", self.min_rows), ("min_columns", self.min_columns)];
        for (name, found) in counts {
            if found < 2 {
                return Err(LearnError::Setting { name, found: found as f64, expected: "at least 2" });
            }
        }
        if !(0.0..1.0).contains(&self.significance) {
            let found = self.significance;
            return Err(LearnError::Setting { name: "significance", found, expected: "at least 0, below 1" });
        }
        Ok(())
    }
}

/// The tree that LearnSPN finds. Its leaves hold counts, so that their smoothing can be chosen later.
#[derive(Debug)]
pub(crate) enum CountTree {
    Leaf { variable: usize, counts: Vec<f64> },
    Product(Vec<CountTree>),
    Sum(Vec<(f64, CountTree)>),
}

impl CountTree {
    pub(crate) fn learn(
        columns: &ColumnMajor,
        rows: usize,
        rates: &BaseRates,
        config: &LearnSpnConfig,
        seed: u64,
        stop: Stop<'_>,
    ) -> Result<Self, Stopped> {
        let mut rows: Vec<u32> = (0..rows as u32).collect();
        let scope: Vec<usize> = (0..columns.width()).collect();
        let grower = Grower { columns, rates, config, stop };
        grower.grow(Slice { rows: &mut rows, scope, seed, depth: 0 }, NextSplit::Columns)
    }

    /// The circuit of the structure, each leaf smoothed by `prior` rows spread like the base rates.
    pub(crate) fn circuit(&self, columns: &ColumnMajor, rates: &BaseRates, prior: f64) -> Circuit {
        let mut nodes = Vec::new();
        self.push(&mut nodes, rates, prior);
        let cardinalities = (0..columns.width()).map(|variable| columns.cardinality(variable)).collect();
        Circuit::new(cardinalities, nodes).expect("LearnSPN grows circuits")
    }

    fn push(&self, nodes: &mut Vec<Node>, rates: &BaseRates, prior: f64) -> NodeId {
        let node = match self {
            Self::Leaf { variable, counts } => {
                let total: f64 = counts.iter().sum();
                let masses = counts.iter().zip(rates.of(*variable));
                let probabilities = masses.map(|(count, rate)| (count + prior * rate) / (total + prior));
                Node::Leaf { variable: *variable, probabilities: probabilities.collect() }
            }
            Self::Product(children) => {
                let children = children.iter().map(|child| child.push(nodes, rates, prior)).collect();
                Node::Product { children }
            }
            Self::Sum(children) => {
                let weights = children.iter().map(|(weight, _)| *weight).collect();
                let children = children.iter().map(|(_, child)| child.push(nodes, rates, prior)).collect();
                Node::Sum { children, weights }
            }
        };
        nodes.push(node);
        NodeId(nodes.len() as u32 - 1)
    }
}

/// A subset of the rows and columns.
struct Slice<'a> {
    rows: &'a mut [u32],
    scope: Vec<usize>,
    seed: u64,
    depth: usize,
}

/// The split to try first on a slice.
#[derive(Clone, Copy, PartialEq)]
enum NextSplit {
    Columns,
    Rows,
}

/// Slices at this depth are not split again.
const DEEPEST: usize = 256;

struct Grower<'a> {
    columns: &'a ColumnMajor,
    rates: &'a BaseRates,
    config: &'a LearnSpnConfig,
    stop: Stop<'a>,
}

impl Grower<'_> {
    fn grow(&self, slice: Slice<'_>, next: NextSplit) -> Result<CountTree, Stopped> {
        let small = slice.rows.len() < self.config.min_rows || slice.scope.len() < self.config.min_columns;
        if small || slice.depth == DEEPEST {
            return Ok(self.independent(&slice));
        }
        if next == NextSplit::Columns {
            let groups = self.dependent_groups(&slice)?;
            if groups.len() > 1 {
                return self.product(slice, groups);
            }
        }
        self.sum(slice)
    }

    fn independent(&self, slice: &Slice<'_>) -> CountTree {
        let leaf = |&variable: &usize| CountTree::Leaf {
            variable,
            counts: self.columns.counts(variable, slice.rows),
        };
        match slice.scope.as_slice() {
            [variable] => leaf(variable),
            scope => CountTree::Product(scope.iter().map(leaf).collect()),
        }
    }

    /// Groups of columns that are connected by dependent pairs.
    fn dependent_groups(&self, slice: &Slice<'_>) -> Result<Vec<Vec<usize>>, Stopped> {
        let scope = &slice.scope;
        let mut group: Vec<usize> = (0..scope.len()).collect();
        for second in 1..scope.len() {
            for first in 0..second {
                self.stop.check()?;
                if group[first] != group[second] && self.dependent(scope[first], scope[second], slice.rows) {
                    let (old, new) = (group[second], group[first]);
                    group.iter_mut().filter(|group| **group == old).for_each(|group| *group = new);
                }
            }
        }
        let members = |label: usize| {
            let members = scope.iter().zip(&group).filter(move |(_, group)| **group == label);
            members.map(|(&variable, _)| variable).collect::<Vec<_>>()
        };
        Ok((0..scope.len()).map(members).filter(|members| !members.is_empty()).collect())
    }

    fn dependent(&self, first: usize, second: usize, rows: &[u32]) -> bool {
        let (statistic, freedom) = self.columns.joint_counts(first, second, rows).g_test();
        let Ok(chi_squared) = ChiSquared::new(freedom) else { return false };
        chi_squared.sf(statistic) < self.config.significance
    }

    fn product(&self, slice: Slice<'_>, groups: Vec<Vec<usize>>) -> Result<CountTree, Stopped> {
        let Slice { rows, seed, depth, .. } = slice;
        let mut parts = Vec::new();
        for (position, scope) in groups.into_iter().enumerate() {
            let seed = child_seed(seed, position);
            // One part after the other, since each reorders the same rows.
            let part = self.grow(Slice { rows, scope, seed, depth: depth + 1 }, NextSplit::Rows)?;
            match part {
                CountTree::Product(inner) => parts.extend(inner),
                part => parts.push(part),
            }
        }
        Ok(CountTree::Product(parts))
    }

    fn sum(&self, slice: Slice<'_>) -> Result<CountTree, Stopped> {
        let mut rng = ChaCha8Rng::seed_from_u64(slice.seed);
        let groups = cluster(self.columns, &slice.scope, slice.rows, 2, self.rates, &mut rng, self.stop)?;
        let members = |wanted: usize| {
            let rows = slice.rows.iter().zip(&groups).filter(move |(_, group)| **group == wanted);
            rows.map(|(&row, _)| row).collect::<Vec<u32>>()
        };
        let (first, second) = (members(0), members(1));
        if first.is_empty() || second.is_empty() {
            return Ok(self.independent(&slice));
        }
        let Slice { rows, scope, seed, depth } = slice;
        let total = rows.len() as f64;
        let middle = first.len();
        rows.copy_from_slice(&[first, second].concat());
        let (left, right) = rows.split_at_mut(middle);
        let parts = threads::map([left, right].into_iter().enumerate(), |(position, rows)| {
            let weight = rows.len() as f64 / total;
            let slice =
                Slice { rows, scope: scope.clone(), seed: child_seed(seed, position), depth: depth + 1 };
            Ok((weight, self.grow(slice, NextSplit::Columns)?))
        });
        let mut merged = Vec::new();
        for part in parts {
            let (weight, part) = part?;
            match part {
                CountTree::Sum(inner) => merged.extend(inner.into_iter().map(|(w, part)| (weight * w, part))),
                part => merged.push((weight, part)),
            }
        }
        Ok(CountTree::Sum(merged))
    }
}

/// The seed of a child, different for every place in the tree.
fn child_seed(seed: u64, position: usize) -> u64 {
    let mixed = (seed ^ (position as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 31)
}
