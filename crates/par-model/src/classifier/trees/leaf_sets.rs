//! Which leaves the numbers of single sources lead to, as bits.
//!
//! A row reaches the leaves that all its numbers lead to: one in each tree. To score it is to intersect a set for each
//! feature. The sets are those of the whole ensemble, so that a person needs none of their own.

use std::borrow::Cow;
use std::ops::Range;

use par_circuit::{Kernel, vectorised};

use super::ensemble::{Ensemble, Node};

/// Words that are intersected at once. Sets have whole blocks; the bits after the last leaf are never set.
const BLOCK: usize = 16;

/// The most words of all sets together: 16 MiB.
const MOST_WORDS: usize = 1 << 21;

/// Sets of deeper trees would take long to make.
const DEEPEST: usize = 64;

/// A step down a tree takes as long as intersecting so many words.
const WORDS_A_STEP: usize = 16;

/// The leaves of all trees in order, and a set of them for every class of every source's numbers.
#[derive(Clone, Debug)]
pub(super) struct LeafSets {
    pub(super) values: Vec<f64>,
    /// The tree of each leaf.
    pub(super) trees: Vec<u32>,
    /// How many words a set has.
    pub(super) width: usize,
    /// The set of all leaves.
    pub(super) all: Vec<u64>,
    sources: Vec<Classes>,
    /// `[source][class][word]`.
    words: Vec<u64>,
}

/// The classes of a source's numbers: no branch tells two numbers of a class apart.
#[derive(Clone, Debug)]
struct Classes {
    /// Ascending. A number's class is how many of them are below it; that of NaN comes after all others.
    ends: Vec<f32>,
    /// The place of the first class among those of all sources.
    first: usize,
}

impl Classes {
    fn count(&self) -> usize {
        self.ends.len() + 2
    }

    #[inline]
    fn of(&self, number: f32) -> usize {
        match number.is_nan() {
            true => self.ends.len() + 1,
            false => self.ends.partition_point(|end| *end < number),
        }
    }
}

impl LeafSets {
    /// `None` if sets would be too large, or no faster than walks down the trees.
    pub(super) fn new(ensemble: &Ensemble) -> Option<Self> {
        let (trees, nodes) = ensemble.trees();
        let is_leaf = |node: &&Node| ensemble.is_leaf(node);
        let leaves = nodes.iter().filter(is_leaf).count();
        let width = leaves.div_ceil(64).next_multiple_of(BLOCK);
        let features = ensemble.features.chunk_by(|a, b| a == b).count();
        let steps = trees.len() * ensemble.depth;
        if leaves == 0 || ensemble.depth > DEEPEST || width * features > WORDS_A_STEP * steps {
            return None;
        }
        let sources = classes(ensemble, nodes);
        let count: usize = sources.iter().map(Classes::count).sum();
        if count * width > MOST_WORDS {
            return None;
        }
        let mut all = vec![0; width];
        (0..leaves).for_each(|leaf| all[leaf / 64] |= 1 << (leaf % 64));
        let mut sets = Self {
            values: nodes.iter().filter(is_leaf).map(Node::value).collect(),
            trees: Vec::with_capacity(leaves),
            width,
            words: all.repeat(count),
            all,
            sources,
        };
        sets.trees.extend(trees_of_leaves(ensemble));
        for Branch { node, yes, no } in branches(ensemble) {
            sets.part(node, yes, no);
        }
        Some(sets)
    }

    /// Takes the leaves below a branch from the classes that lead to the other side.
    fn part(&mut self, node: &Node, yes: Range<usize>, no: Range<usize>) {
        let classes = &self.sources[node.source()];
        let (low, high) = (node.low(), node.high());
        let holds = match low.is_nan() || high.is_nan() {
            true => 0..0,
            false => classes.of(low)..classes.of(high) + 1,
        };
        let missing = classes.ends.len() + 1;
        for class in 0..classes.count() {
            let goes_to_yes =
                if class == missing { node.holds_for_missing() } else { holds.contains(&class) };
            let start = (classes.first + class) * self.width;
            remove(&mut self.words[start..][..self.width], if goes_to_yes { &no } else { &yes });
        }
    }

    /// The leaves that a number of a source leads to.
    fn of(&self, source: usize, number: f32) -> &[u64] {
        let classes = &self.sources[source];
        &self.words[(classes.first + classes.of(number)) * self.width..][..self.width]
    }

    /// The leaves that the numbers of consecutive sources lead to.
    pub(super) fn of_all(&self, first: usize, numbers: &[f32]) -> Cow<'_, [u64]> {
        match numbers {
            [] => Cow::Borrowed(&self.all),
            [number] => Cow::Borrowed(self.of(first, *number)),
            [number, others @ ..] => {
                let mut set = self.of(first, *number).to_vec();
                for (source, &number) in (first + 1..).zip(others) {
                    intersect(&mut set, self.of(source, number));
                }
                Cow::Owned(set)
            }
        }
    }

    /// The sum of the leaves in all sets, tree by tree.
    ///
    /// # Panics
    /// When there is no set.
    pub(super) fn sum(&self, sets: &[&[u64]]) -> f64 {
        // The sum of no numbers in Rust, which changes no other.
        let mut sum = -0.0;
        vectorised(VisitLeaves { sets, visit: |leaf| sum += self.values[leaf] });
        sum
    }

    /// Bounds on the sum of leaves if the numbers of all sources lie between a lowest and a highest one each: the sums
    /// of each tree's lowest and highest leaf.
    pub(super) fn extremes(&self, numbers: &[[f32; 2]]) -> [f64; 2] {
        let mut reached = self.all.clone();
        let mut between = Vec::new();
        for (source, &[lowest, highest]) in numbers.iter().enumerate() {
            let classes = &self.sources[source];
            let (first, last) = (classes.of(lowest), classes.of(highest));
            let start = (classes.first + first.min(last)) * self.width;
            if first == last {
                intersect(&mut reached, &self.words[start..][..self.width]);
                continue;
            }
            let mut sets = self.words[start..].chunks_exact(self.width).take(first.abs_diff(last) + 1);
            between.clear();
            between.extend_from_slice(sets.next().expect("a number has a class"));
            sets.for_each(|set| between.iter_mut().zip(set).for_each(|(word, other)| *word |= other));
            intersect(&mut reached, &between);
        }
        let mut sums = [0.0; 2];
        let mut tree = None;
        let mut extremes = [0.0; 2];
        let visit = |leaf: usize| {
            let value = self.values[leaf];
            if tree == Some(self.trees[leaf]) {
                extremes = [f64::min(extremes[0], value), f64::max(extremes[1], value)];
            } else {
                sums = [sums[0] + extremes[0], sums[1] + extremes[1]];
                (tree, extremes) = (Some(self.trees[leaf]), [value; 2]);
            }
        };
        vectorised(VisitLeaves { sets: &[&reached], visit });
        [sums[0] + extremes[0], sums[1] + extremes[1]]
    }
}

/// The tree of each leaf.
pub(super) fn trees_of_leaves(ensemble: &Ensemble) -> Vec<u32> {
    let (trees, nodes) = ensemble.trees();
    let mut tree = 0;
    let mut of_leaves = Vec::new();
    // A tree's nodes come before the next root.
    for (place, node) in nodes.iter().enumerate() {
        tree += usize::from(trees.get(tree + 1).is_some_and(|next| *next as usize == place));
        if ensemble.is_leaf(node) {
            of_leaves.push(tree as u32);
        }
    }
    of_leaves
}

/// A branch, and the leaves below it on either side.
pub(super) struct Branch<'a> {
    pub(super) node: &'a Node,
    pub(super) yes: Range<usize>,
    pub(super) no: Range<usize>,
}

/// All branches, the last first.
pub(super) fn branches(ensemble: &Ensemble) -> Vec<Branch<'_>> {
    let (_, nodes) = ensemble.trees();
    let mut before = Vec::with_capacity(nodes.len() + 1);
    before.push(0);
    for node in nodes {
        before.push(before[before.len() - 1] + usize::from(ensemble.is_leaf(node)));
    }
    let mut ends = vec![0; nodes.len()];
    let mut branches = Vec::new();
    // A branch's `yes` subtree comes before its `no` subtree.
    for (place, node) in nodes.iter().enumerate().rev() {
        ends[place] = if ensemble.is_leaf(node) { place + 1 } else { ends[node.no()] };
        if !ensemble.is_leaf(node) {
            let (yes, no) = (before[place + 1]..before[node.no()], before[node.no()]..before[ends[place]]);
            branches.push(Branch { node, yes, no });
        }
    }
    branches
}

/// The classes of the numbers of all sources.
fn classes(ensemble: &Ensemble, nodes: &[Node]) -> Vec<Classes> {
    let mut sources = vec![Classes { ends: Vec::new(), first: 0 }; ensemble.features.len()];
    for node in nodes.iter().filter(|node| !ensemble.is_leaf(node)) {
        let ends = &mut sources[node.source()].ends;
        // It holds for the numbers above the first and up to the second.
        let above = (node.low() > f32::NEG_INFINITY).then(|| node.low().next_down());
        ends.extend([above, Some(node.high())].into_iter().flatten().filter(|end| !end.is_nan()));
    }
    let mut first = 0;
    for source in &mut sources {
        source.ends.sort_unstable_by(f32::total_cmp);
        source.ends.dedup_by(|a, b| *a == *b);
        source.first = first;
        first += source.count();
    }
    sources
}

pub(super) fn remove(set: &mut [u64], leaves: &Range<usize>) {
    let mut at = leaves.start;
    while at < leaves.end {
        let (word, bit) = (at / 64, at % 64);
        let count = (64 - bit).min(leaves.end - at);
        set[word] &= !((u64::MAX >> (64 - count)) << bit);
        at += count;
    }
}

pub(super) fn intersect(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(word, other)| *word &= other);
}

/// Visits the leaves in all sets, in order.
pub(super) struct VisitLeaves<'a, F> {
    /// At least one.
    pub(super) sets: &'a [&'a [u64]],
    pub(super) visit: F,
}

impl<F: FnMut(usize)> Kernel for VisitLeaves<'_, F> {
    #[inline(always)]
    fn run(mut self) {
        let (first, others) = self.sets.split_first().expect("at least one set");
        for (place, block) in first.as_chunks::<BLOCK>().0.iter().enumerate() {
            let mut common = *block;
            for other in others {
                let other = &other.as_chunks::<BLOCK>().0[place];
                common.iter_mut().zip(other).for_each(|(word, other)| *word &= other);
            }
            // Most words are empty, and which ones is hard to foresee: first a list of the others, without a jump.
            let (mut filled, mut count) = ([0_u8; BLOCK], 0);
            for (word, bits) in common.iter().enumerate() {
                filled[count] = word as u8;
                count += usize::from(*bits != 0);
            }
            for &word in &filled[..count] {
                let mut bits = common[usize::from(word)];
                while bits != 0 {
                    (self.visit)((place * BLOCK + usize::from(word)) * 64 + bits.trailing_zeros() as usize);
                    bits &= bits - 1;
                }
            }
        }
    }
}
