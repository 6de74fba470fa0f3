//! Trees without the branches that send all rows of a ball the same way.

use par_circuit::{Ball, Code};

use super::branch_codes::{BranchCodes, MOST_CODES, NONE};
use super::{Ensemble, SourceTable};

/// The trees of an ensemble, pruned to rows of certain codes.
#[derive(Debug)]
pub(super) struct Pruned {
    /// As for [`BranchCodes::new`].
    bits: Vec<Vec<u8>>,
    /// How many codes of every feature the rows have.
    counts: Vec<usize>,
    nodes: Vec<Node>,
    roots: Vec<u32>,
    /// Added to the sum of leaves; includes the trees that are constant on all rows.
    base: f64,
    /// Bound on the rounding error of a sum of leaves.
    slack: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Leaf(f64),
    /// Rows whose code is among the bits `yes` go to the next node, others to `no`.
    Branch {
        feature: u32,
        no: u32,
        yes: u64,
    },
    /// Any row may go to the next node or to `no`: the feature is not tracked.
    Either {
        no: u32,
    },
}

/// The codes of every feature in a ball, as bits.
pub(super) struct BallCodes {
    pub(super) own: Vec<u64>,
    /// The codes that the feature may change to; none if it is closed.
    pub(super) others: Vec<u64>,
}

impl Pruned {
    /// Prunes to the rows of the ball and to those of `known`.
    pub(super) fn new(ensemble: &Ensemble, table: &SourceTable, ball: &Ball, known: Option<&Self>) -> Self {
        let mut bits = Vec::with_capacity(table.cardinalities().len());
        let mut counts = Vec::with_capacity(table.cardinalities().len());
        for (feature, &codes) in table.cardinalities().iter().enumerate() {
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
        let branches = BranchCodes::new(ensemble, table, &bits, &counts);
        let mut growth = Growth { ensemble, branches, alive, nodes: Vec::new() };
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
        // The error of a sum of n terms is below n roundings of the sum of their magnitudes. A row adds one leaf per
        // tree; exact extremes add at most one leaf and five differences of two.
        let slack = 64.0 * f64::EPSILON * (ensemble.roots.len() + 1) as f64 * magnitude;
        Self { bits, counts, nodes: growth.nodes, roots, base, slack }
    }

    /// Whether it was pruned to all rows of the ball.
    pub(super) fn covers(&self, ball: &Ball) -> bool {
        let covers = |(feature, bits): (usize, &Vec<u8>)| {
            let has = |code: &Code| bits[usize::from(*code).min(bits.len() - 1)] != NONE;
            has(&ball.centre()[feature]) && ball.alternatives(feature).iter().all(has)
        };
        self.bits.iter().enumerate().all(covers)
    }

    /// Whether every feature is tracked.
    pub(super) fn is_exact(&self) -> bool {
        self.counts.iter().all(|&count| count <= MOST_CODES)
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = usize> {
        self.roots.iter().map(|&root| root as usize)
    }

    /// How many codes of every feature the rows have.
    pub(super) fn counts(&self) -> &[usize] {
        &self.counts
    }

    pub(super) fn codes_of(&self, ball: &Ball) -> BallCodes {
        let bit = |feature: usize, code: Code| {
            let bits = &self.bits[feature];
            1 << bits[usize::from(code).min(bits.len() - 1)]
        };
        let own = ball.centre().iter().enumerate().map(|(feature, &code)| bit(feature, code)).collect();
        let others = |feature| {
            let codes = ball.alternatives(feature).iter();
            codes.map(|&code| bit(feature, code)).fold(0, |others: u64, other| others | other)
        };
        BallCodes { own, others: (0..ball.centre().len()).map(others).collect() }
    }

    /// Adds the base, and widens by the rounding error.
    pub(super) fn widened(&self, [lowest, highest]: [f64; 2]) -> [f64; 2] {
        [self.base + lowest - self.slack, self.base + highest + self.slack]
    }

    /// A lower and an upper bound on the sum of leaves of every row in the ball: the sums of each tree's lowest and
    /// highest leaf within `changes` changes.
    pub(super) fn extremes(&self, ball: &Ball, changes: usize) -> [f64; 2] {
        let BallCodes { own, others } = self.codes_of(ball);
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

/// A walk over all leaves that the rows of a ball reach.
struct Walk<'a> {
    nodes: &'a [Node],
    own: Vec<u64>,
    /// For every feature, the codes that lead to the current node.
    alive: Vec<u64>,
}

impl Walk<'_> {
    /// The lowest and the highest leaf below a node that at most `changes` further changes reach.
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

/// The pruning in progress.
struct Growth<'a> {
    ensemble: &'a Ensemble,
    branches: BranchCodes,
    /// For every feature, the codes that lead to the current node.
    alive: Vec<u64>,
    nodes: Vec<Node>,
}

impl Growth<'_> {
    /// Adds the pruned subtree below a node of the ensemble.
    fn grow(&mut self, mut place: usize) {
        loop {
            let node = &self.ensemble.nodes[place];
            if self.ensemble.is_leaf(node) {
                self.nodes.push(Node::Leaf(node.value()));
                return;
            }
            let feature = self.ensemble.features[node.source()];
            let tracked = self.branches.yes(node);
            let before = self.alive[feature as usize];
            let (yes, no) = tracked.map_or((before, before), |yes| (before & yes, before & !yes));
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
                self.nodes[this] = match tracked {
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
