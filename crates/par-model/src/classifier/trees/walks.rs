//! The sums of leaves of a row with each code in place of its own, by walks down the trees.
//!
//! A code leaves the row's path down a tree at the first branch that sends it elsewhere. The codes of a feature that leave
//! at one branch go on together, until another branch over their feature parts them.

use super::branch_codes::{BranchCodes, MOST_CODES, NONE};
use super::ensemble::Ensemble;
use super::table::SourceTable;

/// What the walks need of one person's codes.
#[derive(Debug)]
pub(super) struct Walks<'a> {
    ensemble: &'a Ensemble,
    branches: BranchCodes,
    /// The place of each feature's first code among those of all features.
    firsts: Vec<usize>,
    /// The codes of each feature, as bits.
    codes: Vec<u64>,
}

/// Codes of a feature, as bits, that come to a node.
struct Group {
    place: usize,
    feature: usize,
    codes: u64,
}

impl<'a> Walks<'a> {
    /// `None` if a feature has more codes than a word has bits.
    pub(super) fn new(ensemble: &'a Ensemble, table: &SourceTable) -> Option<Self> {
        let counts = table.cardinalities();
        if counts.iter().any(|&count| count > MOST_CODES) {
            return None;
        }
        let bits: Vec<Vec<u8>> =
            counts.iter().map(|&count| (0..count as u8).chain([NONE]).collect()).collect();
        let first = |end: &mut usize, count: &usize| Some(std::mem::replace(end, *end + count));
        let all = |&count: &usize| u64::MAX.unbounded_shr((MOST_CODES - count) as u32);
        Some(Self {
            ensemble,
            branches: BranchCodes::new(ensemble, table, &bits, counts),
            firsts: counts.iter().scan(0, first).collect(),
            codes: counts.iter().map(all).collect(),
        })
    }

    /// For each code of each feature, in order, the sum of leaves of the row with this code in place of its own, up to
    /// rounding. `numbers` are those of the row's sources.
    pub(super) fn neighbours(&self, numbers: &[f32], sums: &mut [f64]) {
        sums.fill(0.0);
        let (mut sum, mut staying, mut left) = (0.0, Vec::new(), Vec::new());
        for &root in self.ensemble.trees().0 {
            staying.clone_from(&self.codes);
            let own = self.own_leaf(root as usize, numbers, &mut staying, &mut left);
            sum += own;
            while let Some(group) = left.pop() {
                let first = self.firsts[group.feature];
                let (leaf, mut codes) = self.leaf(&group, numbers, &mut left);
                while codes != 0 {
                    sums[first + codes.trailing_zeros() as usize] += leaf - own;
                    codes &= codes - 1;
                }
            }
        }
        sums.iter_mut().for_each(|of_code| *of_code += sum);
    }

    /// The leaf that a row comes to. Adds the codes that leave its path to those that left, and keeps those that stay on it.
    fn own_leaf(&self, mut place: usize, numbers: &[f32], staying: &mut [u64], left: &mut Vec<Group>) -> f64 {
        loop {
            let node = &self.ensemble.nodes[place];
            if self.ensemble.is_leaf(node) {
                return node.value();
            }
            let feature = self.ensemble.features[node.source()] as usize;
            let yes = self.branches.yes(node).expect("all features are tracked");
            let (next, other, stay) = match node.holds(numbers[node.source()]) {
                true => (place + 1, node.no(), yes),
                false => (node.no(), place + 1, !yes),
            };
            let codes = staying[feature] & !stay;
            if codes != 0 {
                left.push(Group { place: other, feature, codes });
                staying[feature] &= stay;
            }
            place = next;
        }
    }

    /// A leaf that codes of a group come to, and which; the others are added to those that left.
    fn leaf(&self, group: &Group, numbers: &[f32], left: &mut Vec<Group>) -> (f64, u64) {
        let &Group { mut place, feature, mut codes } = group;
        loop {
            let node = &self.ensemble.nodes[place];
            if self.ensemble.is_leaf(node) {
                return (node.value(), codes);
            }
            let source = node.source();
            let goes_to_yes = if self.ensemble.features[source] as usize == feature {
                let yes = codes & self.branches.yes(node).expect("all features are tracked");
                if yes != 0 && yes != codes {
                    left.push(Group { place: node.no(), feature, codes: codes & !yes });
                    codes = yes;
                }
                yes != 0
            } else {
                node.holds(numbers[source])
            };
            place = if goes_to_yes { place + 1 } else { node.no() };
        }
    }
}
