//! Trees without the branches that take all rows of a ball the same way.

use std::ops::Range;

use par_circuit::{Ball, Code};

use super::{Ensemble, Table, ensemble};

/// A feature with more codes than a word has bits is not followed.
const MOST_CODES: usize = u64::BITS as usize;

/// A code that no row has.
const NONE: u8 = u8::MAX;

/// The trees of an ensemble for rows of certain codes.
#[derive(Debug)]
pub(super) struct Pruned {
    /// For every feature and code, the unknown one being the last, its bit.
    bits: Vec<Vec<u8>>,
    /// How many codes of every feature there are.
    counts: Vec<usize>,
    nodes: Vec<Node>,
    roots: Vec<u32>,
    /// What is added to the leaves, those of trees that give the same to all rows among them.
    base: f64,
    /// How far sums of leaves may be off.
    slack: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Leaf(f64),
    /// The rows whose code is among these bits go to the next node, others to `no`.
    Branch {
        feature: u32,
        no: u32,
        yes: u64,
    },
    /// Any row may go to the next node, or to `no`.
    Either {
        no: u32,
    },
}

/// The rows of a ball, the codes of every feature as bits.
pub(super) struct Rows {
    pub(super) own: Vec<u64>,
    /// What the feature may change to; none while it is held.
    pub(super) others: Vec<u64>,
}

impl Pruned {
    /// For the rows of the ball, and those that `known` is for.
    pub(super) fn new(ensemble: &Ensemble, table: &Table, ball: &Ball, known: Option<&Self>) -> Self {
        let mut bits = Vec::with_capacity(ensemble.cardinalities.len());
        let mut counts = Vec::with_capacity(ensemble.cardinalities.len());
        for (feature, &codes) in ensemble.cardinalities.iter().enumerate() {
            let mut of_codes = vec![NONE; codes + 1];
            let own = [ball.centre()[feature]];
            for &code in own.iter().chain(ball.alternatives(feature)) {
                of_codes[usize::from(code).min(codes)] = 0;
            }
            if let Some(known) = known {
                let before = of_codes.iter_mut().zip(&known.bits[feature]);
                before.filter(|(_, before)| **before != NONE).for_each(|(bit, _)| *bit = 0);
            }
            let count = of_codes.iter().filter(|bit| **bit != NONE).count();
            if count <= MOST_CODES {
                of_codes.iter_mut().filter(|bit| **bit != NONE).zip(0..).for_each(|(bit, next)| *bit = next);
            }
            bits.push(of_codes);
            counts.push(count);
        }
        let alive = counts.iter().map(|&count| u64::MAX >> (MOST_CODES - count.min(MOST_CODES))).collect();
        let answers = Answers::new(ensemble, table, &bits, &counts);
        let mut growth = Growth { ensemble, answers, alive, nodes: Vec::new() };
        let mut base = ensemble.base;
        let mut magnitude = base.abs();
        let mut roots = Vec::with_capacity(ensemble.roots.len());
        for &root in &ensemble.roots {
            let start = growth.nodes.len();
            growth.grow(root as usize);
            let values = growth.nodes[start..].iter().map(|node| match node {
                Node::Leaf(value) => value.abs(),
                Node::Branch { .. } | Node::Either { .. } => 0.0,
            });
            magnitude += values.fold(0.0, f64::max);
            if let [Node::Leaf(value)] = growth.nodes[start..] {
                base += value;
                growth.nodes.truncate(start);
            } else {
                roots.push(start as u32);
            }
        }
        // A sum of n terms is off by less than n roundings of the sum of their magnitudes. Exact extremes add at most
        // one leaf of a tree and five differences of two, where a row adds one leaf.
        let slack = 64.0 * f64::EPSILON * (ensemble.roots.len() + 1) as f64 * magnitude;
        Self { bits, counts, nodes: growth.nodes, roots, base, slack }
    }

    /// Whether it can tell the rows of the ball apart.
    pub(super) fn covers(&self, ball: &Ball) -> bool {
        let covers = |(feature, bits): (usize, &Vec<u8>)| {
            let has = |code: &Code| bits[usize::from(*code).min(bits.len() - 1)] != NONE;
            has(&ball.centre()[feature]) && ball.alternatives(feature).iter().all(has)
        };
        self.bits.iter().enumerate().all(covers)
    }

    /// Whether every feature is followed.
    pub(super) fn is_exact(&self) -> bool {
        self.counts.iter().all(|&count| count <= MOST_CODES)
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = usize> {
        self.roots.iter().map(|&root| root as usize)
    }

    /// How many codes of every feature there are.
    pub(super) fn counts(&self) -> &[usize] {
        &self.counts
    }

    pub(super) fn rows(&self, ball: &Ball) -> Rows {
        let bit = |feature: usize, code: Code| {
            let bits = &self.bits[feature];
            1 << bits[usize::from(code).min(bits.len() - 1)]
        };
        let own = ball.centre().iter().enumerate().map(|(feature, &code)| bit(feature, code)).collect();
        let others = |feature| {
            let codes = ball.alternatives(feature).iter();
            codes.map(|&code| bit(feature, code)).fold(0, |others: u64, other| others | other)
        };
        Rows { own, others: (0..ball.centre().len()).map(others).collect() }
    }

    /// The base is added, and what rounding may have cost.
    pub(super) fn widened(&self, [lowest, highest]: [f64; 2]) -> [f64; 2] {
        [self.base + lowest - self.slack, self.base + highest + self.slack]
    }

    /// No row of the ball has a lower sum of leaves than the first of these, or a higher than the second: for every
    /// tree the lowest and the highest leaf within so many changes.
    pub(super) fn extremes(&self, ball: &Ball, changes: usize) -> [f64; 2] {
        let Rows { own, others } = self.rows(ball);
        let alive = own.iter().zip(&others).map(|(own, others)| own | others).collect();
        let mut walk = Walk { nodes: &self.nodes, own, alive };
        let mut sums = [0.0; 2];
        for root in self.roots() {
            let [lowest, highest] = walk.extremes(root, changes);
            sums = [sums[0] + lowest, sums[1] + highest];
        }
        self.widened(sums)
    }
}

/// A walk to all leaves that the rows of a ball reach.
struct Walk<'a> {
    nodes: &'a [Node],
    own: Vec<u64>,
    /// The codes of every feature that lead to the node at hand.
    alive: Vec<u64>,
}

impl Walk<'_> {
    /// The lowest and the highest leaf below a node, within so many changes beyond those that lead to it.
    fn extremes(&mut self, node: usize, changes: usize) -> [f64; 2] {
        match self.nodes[node] {
            Node::Leaf(value) => [value; 2],
            Node::Either { no } => {
                let yes = self.extremes(node + 1, changes);
                either(yes, self.extremes(no as usize, changes))
            }
            Node::Branch { feature, no, yes } => {
                let feature = feature as usize;
                let (own, before) = (self.own[feature], self.alive[feature]);
                let mut extremes = [f64::INFINITY, f64::NEG_INFINITY];
                for (alive, child) in [(before & yes, node + 1), (before & !yes, no as usize)] {
                    let change = usize::from(before & own != 0 && alive & own == 0);
                    if alive != 0 && change <= changes {
                        self.alive[feature] = alive;
                        extremes = either(extremes, self.extremes(child, changes - change));
                    }
                }
                self.alive[feature] = before;
                extremes
            }
        }
    }
}

fn either(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].min(b[0]), a[1].max(b[1])]
}

/// Trees while they are pruned.
struct Growth<'a> {
    ensemble: &'a Ensemble,
    answers: Answers,
    /// The codes of every feature that lead to the node at hand.
    alive: Vec<u64>,
    nodes: Vec<Node>,
}

impl Growth<'_> {
    /// Adds what is below a place of the ensemble.
    fn grow(&mut self, mut place: usize) {
        loop {
            let node = &self.ensemble.nodes[place];
            if self.ensemble.is_leaf(node) {
                self.nodes.push(Node::Leaf(node.value()));
                return;
            }
            let feature = self.ensemble.features[node.source()];
            let answer = self.answers.yes(node);
            let before = self.alive[feature as usize];
            let (yes, no) = answer.map_or((before, before), |yes| (before & yes, before & !yes));
            if no == 0 {
                place += 1;
            } else if yes == 0 {
                place = node.no();
            } else {
                let this = self.nodes.len();
                self.nodes.push(Node::Leaf(0.0));
                self.alive[feature as usize] = yes;
                self.grow(place + 1);
                let next = self.nodes.len() as u32;
                self.nodes[this] = match answer {
                    Some(_) => Node::Branch { feature, no: next, yes },
                    None => Node::Either { no: next },
                };
                self.alive[feature as usize] = no;
                self.grow(node.no());
                self.alive[feature as usize] = before;
                return;
            }
        }
    }
}

/// What branches say of codes.
struct Answers {
    /// What each source is; none where its feature is not followed.
    sources: Vec<Option<Source>>,
    /// The numbers that each source can be, ascending, in whole blocks.
    numbers: Vec<[f32; BLOCK]>,
    /// Before each of them, and after the last: the bits of the codes for which the source is lower.
    below: Vec<u64>,
}

/// Numbers that are compared at once. What is not a number fills up the last.
const BLOCK: usize = 8;

struct Source {
    blocks: Range<usize>,
    /// Where its bits begin.
    below: usize,
    /// The bits of the codes for which it is not a number.
    missing: u64,
}

impl Answers {
    fn new(ensemble: &Ensemble, table: &Table, bits: &[Vec<u8>], counts: &[usize]) -> Self {
        let sources = Vec::with_capacity(ensemble.features.len());
        let mut answers = Self { sources, numbers: Vec::new(), below: Vec::new() };
        for of_feature in ensemble.features.chunk_by(|a, b| a == b) {
            let feature = of_feature[0] as usize;
            for place in 0..of_feature.len() {
                let codes = bits[feature].iter().enumerate().filter(|(_, bit)| **bit != NONE);
                let numbers = codes.map(|(code, &bit)| (table.numbers(feature, code as Code)[place], bit));
                let source = (counts[feature] <= MOST_CODES).then(|| answers.push(numbers.collect()));
                answers.sources.push(source);
            }
        }
        answers
    }

    /// Adds what a source is for codes, each with its bit.
    fn push(&mut self, mut codes: Vec<(f32, u8)>) -> Source {
        codes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let [start, below] = [self.numbers.len(), self.below.len()];
        let (missing, numbers): (Vec<_>, Vec<_>) = codes.into_iter().partition(|(number, _)| number.is_nan());
        for block in numbers.chunks(BLOCK) {
            let number = |place: usize| block.get(place).map_or(f32::NAN, |(number, _)| *number);
            self.numbers.push(std::array::from_fn(number));
        }
        self.below.push(0);
        self.below.extend(numbers.iter().scan(0, |below, (_, bit)| {
            *below |= 1 << bit;
            Some(*below)
        }));
        let missing = missing.iter().fold(0, |missing, (_, bit)| missing | 1 << bit);
        Source { blocks: start..self.numbers.len(), below, missing }
    }

    /// The bits of the codes for which a branch goes to `yes`; `None` where its feature is not followed.
    fn yes(&self, node: &ensemble::Node) -> Option<u64> {
        let source = self.sources[node.source()].as_ref()?;
        let blocks = &self.numbers[source.blocks.clone()];
        let (low, high) = (node.low(), node.high());
        let mut yes = self.below[source.below + count(blocks, |number| number <= high)];
        if low > f32::NEG_INFINITY {
            yes &= !self.below[source.below + count(blocks, |number| number < low)];
        }
        Some(if node.holds_for_missing() { yes | source.missing } else { yes })
    }
}

/// How many numbers are as asked. Comparing all is faster than searching, for as few as there are.
#[inline]
fn count(blocks: &[[f32; BLOCK]], is: impl Fn(f32) -> bool) -> usize {
    let in_block = |block: &[f32; BLOCK]| block.iter().map(|&number| u32::from(is(number))).sum::<u32>();
    blocks.iter().map(in_block).sum::<u32>() as usize
}
