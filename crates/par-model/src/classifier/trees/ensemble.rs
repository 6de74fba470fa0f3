//! Trees laid out for scoring one row.

use std::ops::Range;

use par_onnx::{Comparison, Link, TreeNode, Trees};

use super::code_sets::JointSets;
use super::leaf_sets::LeafSets;
use super::table::SourceTable;

/// Trees that are walked in parallel, to hide the latency of memory.
const LANES: usize = 8;

/// Trees and the features of their sources, shared by all people.
#[derive(Clone, Debug)]
pub(crate) struct Ensemble {
    /// The feature of every source, ascending. Sources of one feature keep their order.
    pub(super) features: Vec<u32>,
    /// Tree by tree; the `yes` child of a branch comes right after it.
    pub(super) nodes: Vec<Node>,
    /// Padded to whole [`LANES`] with leaves that add nothing.
    pub(super) roots: Vec<u32>,
    pub(super) base: f64,
    pub(super) link: Link,
    /// The depth of the deepest leaf.
    pub(super) depth: usize,
    /// Faster than walks down the trees; `None` where they would be too large.
    pub(super) leaf_sets: Option<LeafSets>,
}

/// A branch, or a leaf, whose `no` is itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Of a leaf its value. Of a branch two numbers, the first in the lower half: it holds for numbers from the first
    /// to the second.
    bits: u64,
    /// Twice the source, plus one if the branch holds for NaN. The source of a leaf is always NaN.
    source: u32,
    /// The `no` child.
    no: u32,
}

impl Node {
    pub(super) fn value(&self) -> f64 {
        f64::from_bits(self.bits)
    }

    pub(super) fn low(&self) -> f32 {
        f32::from_bits(self.bits as u32)
    }

    pub(super) fn high(&self) -> f32 {
        f32::from_bits((self.bits >> 32) as u32)
    }

    pub(super) fn source(&self) -> usize {
        (self.source >> 1) as usize
    }

    pub(super) fn no(&self) -> usize {
        self.no as usize
    }

    pub(super) fn holds_for_missing(&self) -> bool {
        self.source & 1 == 1
    }

    /// The same for branches that hold for the same numbers of the same source.
    pub(super) fn key(&self) -> [u32; 3] {
        [self.source, self.bits as u32, (self.bits >> 32) as u32]
    }

    /// Without `&&` and `||`, so that it compiles to no jump.
    #[inline(always)]
    pub(super) fn holds(&self, number: f32) -> bool {
        (self.low() <= number) & (number <= self.high()) | number.is_nan() & self.holds_for_missing()
    }
}

impl Ensemble {
    /// `features` holds the feature of every source. Sets of leaves take at most `most_bytes`.
    ///
    /// # Panics
    /// When a source or a node does not exist, or a node has two parents.
    pub(crate) fn new(trees: &Trees, features: &[u32], most_bytes: u64) -> Self {
        let mut order: Vec<usize> = (0..features.len()).collect();
        order.sort_by_key(|&source| features[source]);
        let mut places = vec![0; features.len()];
        order.iter().enumerate().for_each(|(place, &source)| places[source] = place as u32);
        let mut ensemble = Self {
            features: order.iter().map(|&source| features[source]).collect(),
            nodes: Vec::with_capacity(trees.nodes.len() + 1),
            roots: Vec::with_capacity(trees.roots.len().next_multiple_of(LANES)),
            base: trees.base,
            link: trees.link,
            depth: 0,
            leaf_sets: None,
        };
        for &root in &trees.roots {
            ensemble.roots.push(ensemble.nodes.len() as u32);
            ensemble.push_tree(trees, root, &places);
        }
        // Adding −0 changes no sum, not even the sign of a zero.
        let nothing = ensemble.nodes.len() as u32;
        ensemble.push_leaf(-0.0);
        ensemble.roots.resize(trees.roots.len().next_multiple_of(LANES), nothing);
        ensemble.leaf_sets = LeafSets::new(&ensemble, most_bytes);
        ensemble
    }

    fn push_tree(&mut self, trees: &Trees, root: u32, places: &[u32]) {
        // Nodes to visit, each with the branch whose `no` child it is, and its depth.
        let mut rest: Vec<(u32, Option<usize>, usize)> = vec![(root, None, 0)];
        while let Some((node, parent, depth)) = rest.pop() {
            let place = self.nodes.len();
            assert!(place < trees.nodes.len(), "no node of a tree has two parents");
            self.depth = self.depth.max(depth);
            if let Some(parent) = parent {
                self.nodes[parent].no = place as u32;
            }
            match trees.nodes[node as usize] {
                TreeNode::Leaf(value) => self.push_leaf(value),
                TreeNode::Branch { source, comparison, yes, no, missing } => {
                    let [low, high] = match comparison {
                        Comparison::AtMost(a) => [f32::NEG_INFINITY, a],
                        Comparison::Equals(a) => [a, a],
                    };
                    let bits = u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32;
                    let source = places[source as usize] << 1 | u32::from(missing);
                    self.nodes.push(Node { bits, source, no: 0 });
                    rest.push((no, Some(place), depth + 1));
                    rest.push((yes, None, depth + 1));
                }
            }
        }
    }

    fn push_leaf(&mut self, value: f64) {
        let always_nan = (self.features.len() as u32) << 1;
        self.nodes.push(Node { bits: value.to_bits(), source: always_nan, no: self.nodes.len() as u32 });
    }

    /// The roots and the nodes, without the padding.
    pub(super) fn trees(&self) -> (&[u32], &[Node]) {
        let padding = self.nodes.len() - 1;
        let count = self.roots.partition_point(|root| (*root as usize) < padding);
        (&self.roots[..count], &self.nodes[..padding])
    }

    pub(super) fn is_leaf(&self, node: &Node) -> bool {
        node.source() == self.features.len()
    }

    /// The log-odds for the numbers of the sources, in their order here, followed by a NaN. Bit for bit those of the
    /// trees as they were read.
    pub(super) fn log_odds(&self, numbers: &[f32]) -> f64 {
        let leaves = self.roots.chunks_exact(LANES).flat_map(|roots| self.leaves(roots, numbers));
        self.link.log_odds(self.base + leaves.sum::<f64>())
    }

    /// The leaves that codes lead to which several sources read; `None` without sets of leaves. With too many codes all
    /// sets are given up: they would be made for every person anew.
    pub(crate) fn joint_sets(&mut self, table: &SourceTable) -> Option<JointSets> {
        let joint = JointSets::new(self.leaf_sets.as_ref()?, table);
        if joint.is_none() {
            self.leaf_sets = None;
        }
        joint
    }

    /// The log-odds for the numbers of the sources, in their order here; `None` without sets of leaves. Bit for bit those of
    /// a walk. `known` returns the leaves that a feature whose sources have some numbers leads to, if they were found
    /// before.
    pub(crate) fn log_odds_by_sets<'a>(
        &'a self,
        numbers: &[f32],
        known: impl Fn(usize, &[f32]) -> Option<&'a [u64]>,
    ) -> Option<f64> {
        let of_sources =
            |sources: Range<usize>| known(self.features[sources.start] as usize, &numbers[sources]);
        let sum = self.leaf_sets.as_ref()?.sum_of_numbers(numbers, of_sources);
        Some(self.link.log_odds(self.base + sum))
    }

    /// Bounds on the log-odds if the number of every source, in their order here, lies between a lowest and a highest
    /// one; `None` without sets of leaves. `known` returns the leaves that a feature leads to, if they were found before.
    pub(crate) fn bounds<'a>(
        &'a self,
        numbers: &[[f32; 2]],
        known: impl Fn(usize) -> Option<&'a [u64]>,
    ) -> Option<(f64, f64)> {
        let of_sources = |sources: Range<usize>| known(self.features[sources.start] as usize);
        let [lowest, highest] = self.leaf_sets.as_ref()?.extremes(numbers, of_sources);
        Some(self.bounds_of_sums([self.base + lowest, self.base + highest]))
    }

    /// Bounds on the log-odds by bounds on the sum.
    pub(super) fn bounds_of_sums(&self, [lowest, highest]: [f64; 2]) -> (f64, f64) {
        let (lower, upper) = if self.link.rises() { (lowest, highest) } else { (highest, lowest) };
        (self.link.log_odds(lower), self.link.log_odds(upper))
    }

    #[inline]
    fn leaves(&self, roots: &[u32], numbers: &[f32]) -> [f64; LANES] {
        let mut places: [u32; LANES] = roots.try_into().expect("roots come in whole lanes");
        loop {
            let mut moved = 0;
            for place in &mut places {
                let node = &self.nodes[*place as usize];
                let next = if node.holds(numbers[node.source()]) { *place + 1 } else { node.no };
                moved |= next ^ *place;
                *place = next;
            }
            if moved == 0 {
                return places.map(|place| self.nodes[place as usize].value());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MOST_BYTES;
    use super::*;

    #[test]
    #[should_panic(expected = "no node of a tree has two parents")]
    fn a_node_with_two_parents_is_refused() {
        let branch = TreeNode::Branch {
            source: 0,
            comparison: Comparison::AtMost(0.0),
            yes: 1,
            no: 1,
            missing: false,
        };
        let trees = Trees {
            nodes: vec![branch, TreeNode::Leaf(1.0)],
            roots: vec![0],
            base: 0.0,
            link: Link::LogOdds,
        };
        Ensemble::new(&trees, &[0], MOST_BYTES);
    }
}
