//! Which leaves the numbers of single sources lead to, as bits.
//!
//! A row reaches the leaves that all its numbers lead to: one in each tree. To score it is to intersect a set for each
//! feature. The sets are those of the whole ensemble, so that a person needs none of their own.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use par_circuit::{Kernel, vectorised};

use super::conditions::Conditions;
use super::ensemble::{Ensemble, Node};

/// Words that are looked through at once. Sets have whole blocks; the bits after the last leaf are never set.
const BLOCK: usize = 16;
pub(super) type Block = [u64; BLOCK];
pub(super) const LEAVES_A_BLOCK: usize = BLOCK * 64;

/// The most bytes of the sets of a classifier's ensembles and of the conditions of their leaves together, and again of the
/// sets for codes of features with several sources. A forest of 33,000 leaves over 17 numbers needs 55 MiB. More than
/// eight versions share what eight have.
pub(in super::super) const MOST_BYTES: u64 = 64 << 20;

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
    pub(super) conditions: Conditions,
    /// Sets for the codes of features with several sources take at most so many.
    pub(super) most_bytes: u64,
}

/// The classes of a source's numbers: no branch tells two numbers of a class apart.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// Ascending. A number's class is how many of them are below it; that of NaN comes after all others.
    ends: Vec<f32>,
    /// The place of the first class among those of all sources.
    pub(super) first: usize,
}

impl Classes {
    pub(super) fn count(&self) -> usize {
        self.ends.len() + 2
    }

    /// The class of NaN.
    pub(super) fn missing(&self) -> usize {
        self.ends.len() + 1
    }

    /// Whether a class goes to `yes` at a branch over this source.
    pub(super) fn to_yes(&self, node: &Node) -> impl Fn(usize) -> bool + use<> {
        let (low, high, missing) = (node.low(), node.high(), self.missing());
        let holds = match low.is_nan() || high.is_nan() {
            true => 0..0,
            false => self.of(low)..self.of(high) + 1,
        };
        let holds_for_missing = node.holds_for_missing();
        move |class| if class == missing { holds_for_missing } else { holds.contains(&class) }
    }

    #[inline]
    fn of(&self, number: f32) -> usize {
        match number.is_nan() {
            true => self.missing(),
            false => self.ends.partition_point(|end| *end < number),
        }
    }
}

impl LeafSets {
    /// `None` if sets would take more than `most_bytes`, or be no faster than walks down the trees.
    pub(super) fn new(ensemble: &Ensemble, most_bytes: u64) -> Option<Self> {
        let (trees, nodes) = ensemble.trees();
        let is_leaf = |node: &&Node| ensemble.is_leaf(node);
        let leaves = nodes.iter().filter(is_leaf).count();
        let width = leaves.div_ceil(64).next_multiple_of(BLOCK);
        let features = ensemble.features.chunk_by(|a, b| a == b).count();
        let steps = trees.len() * ensemble.depth;
        if leaves == 0 || ensemble.depth > DEEPEST || width.saturating_mul(features) > WORDS_A_STEP * steps {
            return None;
        }
        let sources = classes(ensemble, nodes);
        let count: usize = sources.iter().map(Classes::count).sum();
        let bytes = |count: usize, size: usize, of: usize| count as u64 * size as u64 * of as u64;
        if bytes(count, width, size_of::<u64>()) + bytes(features, leaves, size_of::<u16>()) > most_bytes {
            return None;
        }
        let conditions = Conditions::new(ensemble, &sources)?;
        let mut all = vec![0; width];
        (0..leaves).for_each(|leaf| all[leaf / 64] |= 1 << (leaf % 64));
        let mut sets = Self {
            values: nodes.iter().filter(is_leaf).map(Node::value).collect(),
            trees: Vec::with_capacity(leaves),
            width,
            words: all.repeat(count),
            all,
            conditions,
            sources,
            most_bytes,
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
        let to_yes = classes.to_yes(node);
        for class in 0..classes.count() {
            let start = (classes.first + class) * self.width;
            remove(&mut self.words[start..][..self.width], if to_yes(class) { &no } else { &yes });
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
        let mut sum = 0.0;
        vectorised(SumLeaves { sets, values: &self.values, sum: &mut sum });
        sum
    }

    /// The sum of the leaves that the numbers of all sources lead to, tree by tree. `known` returns the leaves that the
    /// numbers of a feature with such sources lead to, if they were found before.
    pub(super) fn sum_of_numbers<'a>(
        &'a self,
        numbers: &[f32],
        known: impl Fn(Range<usize>) -> Option<&'a [u64]>,
    ) -> f64 {
        let set = |sources: Range<usize>| match known(sources.clone()) {
            Some(set) => Cow::Borrowed(set),
            None => self.of_all(sources.start, &numbers[sources]),
        };
        let sets: Vec<Cow<'_, [u64]>> =
            self.conditions.iter().map(|feature| set(feature.sources.clone())).collect();
        let all: &[u64] = &self.all;
        self.sum(&[all].into_iter().chain(sets.iter().map(|set| &**set)).collect::<Vec<_>>())
    }

    /// The leaves that some of a source's classes lead to.
    fn of_classes(&self, classes: &Classes, some: RangeInclusive<usize>) -> Cow<'_, [u64]> {
        let start = (classes.first + some.start()) * self.width;
        let mut sets = self.words[start..].chunks_exact(self.width).take(some.count());
        let first = sets.next().expect("a number has a class");
        sets.fold(Cow::Borrowed(first), |mut all, set| {
            all.to_mut().iter_mut().zip(set).for_each(|(word, other)| *word |= other);
            all
        })
    }

    /// Bounds on the sum of leaves if the numbers of all sources lie between a lowest and a highest one each: the sums
    /// of each tree's lowest and highest leaf. `known` returns the leaves that the numbers of a feature with such sources
    /// lead to, if they were found before.
    pub(super) fn extremes<'a>(
        &'a self,
        numbers: &[[f32; 2]],
        known: impl Fn(Range<usize>) -> Option<&'a [u64]>,
    ) -> [f64; 2] {
        let mut sets: Vec<Cow<'_, [u64]>> = vec![Cow::Borrowed(&self.all)];
        // Features whose leaves are told by their conditions, with the first and the last class of their number.
        let mut ranged = Vec::new();
        for feature in self.conditions.iter() {
            if let Some(set) = known(feature.sources.clone()) {
                sets.push(Cow::Borrowed(set));
                continue;
            }
            for source in feature.sources.clone() {
                let (classes, [lowest, highest]) = (&self.sources[source], numbers[source]);
                let [first, last] = [classes.of(lowest), classes.of(highest)];
                let [first, last] = [first.min(last), first.max(last)];
                match feature.classes().filter(|_| first < last && last < classes.missing()) {
                    Some(of_conditions) => ranged.push((feature, of_conditions, [first, last])),
                    None => sets.push(self.of_classes(classes, first..=last)),
                }
            }
        }
        let is_reached = |leaf: usize| {
            ranged.iter().all(|(feature, of_conditions, [first, last])| {
                let [lowest, highest] = of_conditions[feature.of_leaf(leaf)].map(usize::from);
                lowest <= *last && *first <= highest
            })
        };
        let mut sums = [0.0; 2];
        let mut tree = None;
        let mut extremes = [0.0; 2];
        let visit = |leaf: usize| {
            if !is_reached(leaf) {
                return;
            }
            let value = self.values[leaf];
            if tree == Some(self.trees[leaf]) {
                extremes = [f64::min(extremes[0], value), f64::max(extremes[1], value)];
            } else {
                sums = [sums[0] + extremes[0], sums[1] + extremes[1]];
                (tree, extremes) = (Some(self.trees[leaf]), [value; 2]);
            }
        };
        let sets: Vec<&[u64]> = sets.iter().map(|set| &**set).collect();
        vectorised(VisitLeaves { sets: &sets, visit });
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

#[inline(always)]
pub(super) fn intersect(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(word, other)| *word &= other);
}

/// Adds up the values of the leaves in all sets, in order.
struct SumLeaves<'a> {
    /// At least one.
    sets: &'a [&'a [u64]],
    values: &'a [f64],
    sum: &'a mut f64,
}

impl Kernel for SumLeaves<'_> {
    #[inline(always)]
    fn run(self) {
        // The sum of no numbers in Rust, which changes no other.
        let mut sum = -0.0;
        visit_common(self.sets, |leaf| sum += self.values[leaf]);
        *self.sum = sum;
    }
}

/// Visits the leaves in all sets, in order.
struct VisitLeaves<'a, F> {
    /// At least one.
    sets: &'a [&'a [u64]],
    visit: F,
}

impl<F: FnMut(usize)> Kernel for VisitLeaves<'_, F> {
    #[inline(always)]
    fn run(self) {
        visit_common(self.sets, self.visit);
    }
}

/// Visits the leaves in all of at least one set, in order.
#[inline(always)]
pub(super) fn visit_common(sets: &[&[u64]], mut visit: impl FnMut(usize)) {
    let (first, others) = sets.split_first().expect("at least one set");
    for (place, [block]) in blocks([first]).enumerate() {
        let mut common = *block;
        others.iter().for_each(|other| intersect(&mut common, &other.as_chunks::<BLOCK>().0[place]));
        let mut filled = filled(&common);
        while filled != 0 {
            let word = filled.trailing_zeros() as usize;
            let mut bits = common[word];
            while bits != 0 {
                visit((place * BLOCK + word) * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
            filled &= filled - 1;
        }
    }
}

/// The blocks of some sets, side by side.
#[inline(always)]
pub(super) fn blocks<const N: usize>(sets: [&[u64]; N]) -> impl Iterator<Item = [&Block; N]> {
    let sets = sets.map(|set| set.as_chunks::<BLOCK>().0);
    (0..sets[0].len()).map(move |place| sets.map(|set| &set[place]))
}

/// The words of a block that are not empty, as bits. Found without a jump: most words are empty, and which ones is hard
/// to foresee.
#[inline(always)]
fn filled(block: &Block) -> u64 {
    let bit = |word: usize| if block[word] == 0 { 0 } else { 1_u64 << word };
    std::array::from_fn::<u64, BLOCK, _>(bit).iter().fold(0, |all, bit| all | bit)
}

/// Lists the leaves in a block of a set, which has this place among the blocks, in order.
#[inline(always)]
pub(super) fn list_block<'l>(
    place: usize,
    block: &Block,
    leaves: &'l mut [u32; LEAVES_A_BLOCK + 1],
) -> &'l [u32] {
    let (mut filled, mut count) = (filled(block), 0);
    while filled != 0 {
        let word = filled.trailing_zeros() as usize;
        let first = ((place * BLOCK + word) * 64) as u32;
        let mut bits = block[word];
        leaves[count] = first + bits.trailing_zeros();
        count += 1;
        bits &= bits - 1;
        // Whether there is a second one is hard to foresee, too; more are rare.
        leaves[count] = first + bits.trailing_zeros();
        count += usize::from(bits != 0);
        bits &= bits.wrapping_sub(1);
        while bits != 0 {
            leaves[count] = first + bits.trailing_zeros();
            count += 1;
            bits &= bits - 1;
        }
        filled &= filled - 1;
    }
    &leaves[..count]
}
