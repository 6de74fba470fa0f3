//! The order of the search: the node that could improve the frontier most comes first, so that what is left bounds the
//! gap whenever the search ends.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::rc::Rc;

use par_circuit::{Evaluator, Stop};

use super::bound::{Bounder, Change, LANES, Lanes, Pass};
use super::multipliers::{Multipliers, Unit};
use super::{Proof, TOLERANCE};
use crate::problem::{Cost, Frontier, SearchProblem, Solution};

/// A node that has been searched, as far as its children share it.
struct Parent {
    /// The changes that were made.
    made: Vec<usize>,
    /// A bit for each change that may follow.
    open: Vec<u64>,
    /// For each unit; `None` where it was not needed so far.
    multipliers: [Option<Multipliers>; 2],
}

/// A node to be searched: rows with the changes of its parent and one more, or with all of them that leave a feature
/// alone.
struct Node {
    parent: Rc<Parent>,
    change: Option<usize>,
    /// For each number of further changes, what its rows are worth at most; −∞ where they need not be searched.
    bounds: Lanes,
    priority: Priority,
}

/// For each number of further changes from 1, and one more: what rows are bounded in, and the bound that they must exceed.
type Limits = [(Unit, f64); LANES + 1];

/// Higher comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Priority {
    /// While no solution is known, more changes come first.
    depth: usize,
    /// How much the frontier may rise.
    gain: f64,
    /// Of equals the one that was found first.
    age: u64,
}

pub(super) struct Search<'a, 'p, 'c> {
    problem: &'a SearchProblem<'p>,
    bounder: Bounder<'a, 'p, 'c>,
    frontier: Frontier,
    nodes: BinaryHeap<Node>,
    /// How many nodes were ever added.
    added: u64,
    searched: usize,
    /// For each change of the current node, bounds on the rows with it and each number of further changes.
    with: Vec<Lanes>,
    open: Vec<bool>,
}

/// So many changes take no longer to score one by one than a pass of the circuit takes.
const CHANGES_BEFORE_A_PASS: usize = 3;

impl<'a, 'p, 'c> Search<'a, 'p, 'c> {
    pub(super) fn new(
        problem: &'a SearchProblem<'p>,
        evaluator: &'a mut Evaluator<'c>,
        known: Frontier,
    ) -> Self {
        let bounder = Bounder::new(problem, evaluator);
        let changes = bounder.changes.len();
        Self {
            problem,
            bounder,
            frontier: known,
            nodes: BinaryHeap::new(),
            added: 0,
            searched: 0,
            with: vec![[f64::NEG_INFINITY; LANES]; changes],
            open: vec![false; changes],
        }
    }

    pub(super) fn run(mut self, max_nodes: usize, stop: Stop<'_>) -> Proof {
        let all = Parent {
            made: Vec::new(),
            open: vec![u64::MAX; self.open.len().div_ceil(64)],
            multipliers: [None; 2],
        };
        self.push(Rc::new(all), None, [f64::INFINITY; LANES]);
        while self.searched < max_nodes && stop.check().is_ok() {
            let Some(node) = self.nodes.pop() else { break };
            if self.search(&node) {
                self.reorder();
            }
        }
        if self.searched == 0 {
            self.bound_root();
        }
        Proof { open: self.left(), frontier: self.frontier, nodes: self.searched }
    }

    /// What a row with so many changes must be worth more than.
    fn known(&self, changes: usize) -> f64 {
        self.frontier.at_most(changes) + TOLERANCE
    }

    /// What the rows of a number of changes are bounded in, and the bound that they must exceed.
    fn limit(&self, changes: usize) -> (Unit, f64) {
        match self.known(changes) {
            f64::NEG_INFINITY => (Unit::Likelihood, self.problem.objective.floor - TOLERANCE),
            known => (Unit::Worth, known),
        }
    }

    fn push(&mut self, parent: Rc<Parent>, change: Option<usize>, bounds: Lanes) {
        let made = parent.made.len() + usize::from(change.is_some());
        let age = self.added;
        if let Some(priority) = self.priority(made, &bounds, age) {
            self.added += 1;
            self.nodes.push(Node { parent, change, bounds, priority });
        }
    }

    /// `None` if no row can improve the frontier.
    fn priority(&self, made: usize, bounds: &Lanes, age: u64) -> Option<Priority> {
        let best = self.frontier.at_most(usize::MAX);
        let gain = |(lane, &bound): (usize, &f64)| {
            let known = self.frontier.at_most(made + lane + 1);
            let reference = [known, best].into_iter().find(|worth| worth.is_finite()).unwrap_or(0.0);
            (bound > known + TOLERANCE).then_some(bound - reference)
        };
        let gain = bounds.iter().enumerate().filter_map(gain).reduce(f64::max)?;
        let depth = if best > f64::NEG_INFINITY { 0 } else { made };
        Some(Priority { depth, gain, age })
    }

    /// After the frontier has risen: nodes that cannot improve it any more are removed.
    fn reorder(&mut self) {
        let nodes = std::mem::take(&mut self.nodes).into_vec();
        let nodes = nodes.into_iter().filter_map(|node| {
            let priority = self.priority(node.made(), &node.bounds, node.priority.age)?;
            Some(Node { priority, ..node })
        });
        self.nodes = nodes.collect();
    }

    /// For each number of changes, what a row with at most as many might be worth that was not searched.
    fn left(&self) -> Vec<f64> {
        let mut left = vec![f64::NEG_INFINITY; self.problem.budget + 1];
        for node in &self.nodes {
            for (lane, &bound) in node.bounds.iter().enumerate() {
                let changes = node.made() + lane + 1;
                if changes < left.len() && bound > self.known(changes) {
                    left[changes] = left[changes].max(bound);
                }
            }
        }
        for changes in 1..left.len() {
            left[changes] = left[changes].max(left[changes - 1]);
        }
        left
    }

    /// Bounds the first node if there was no time to search it.
    fn bound_root(&mut self) {
        let Some(root) = self.nodes.pop() else { return };
        self.open.fill(true);
        let further = self.further(0);
        self.bounder.enter(&[], &self.open, further);
        let mut bounds = root.bounds;
        for unit in [Unit::Worth, Unit::Likelihood] {
            let multipliers = Multipliers::start(unit, &self.problem.objective);
            let lanes = self.bounder.bound_all(&self.open, unit, multipliers);
            for (lane, bound) in lanes.into_iter().enumerate() {
                let (its, limit) = self.limit(lane + 1);
                let is_dead = !self.bounder.may_reach(reached(lane, further)) || bound <= limit;
                if its == unit {
                    bounds[lane] = if is_dead { f64::NEG_INFINITY } else { self.bounder.worth(unit, bound) };
                }
            }
        }
        self.push(root.parent, None, bounds);
    }

    /// The most changes that may follow `made`, among the open ones.
    fn further(&self, made: usize) -> usize {
        let is_open = |range: &&Range<usize>| self.open[range.start..range.end].contains(&true);
        let open = self.bounder.features.iter().filter(is_open).count();
        (self.problem.budget - made).min(open)
    }

    /// Searches a node: tries all single changes, and adds the nodes that may improve the frontier with more.
    /// Returns whether it found a solution that does.
    fn search(&mut self, node: &Node) -> bool {
        self.searched += 1;
        let made: Vec<usize> = node.parent.made.iter().copied().chain(node.change).collect();
        for (change, open) in self.open.iter_mut().enumerate() {
            *open = node.parent.open[change / 64] >> (change % 64) & 1 == 1;
        }
        let further = self.further(made.len());
        let is_live = |lane: &usize| node.bounds[*lane] > self.known(made.len() + lane + 1);
        // The most further changes that may still improve the frontier.
        let Some(last) = (0..LANES.min(further)).rev().find(is_live) else { return false };
        let mut improves = false;
        let further = reached(last, further);
        if further == 1 {
            return self.last_changes(&made);
        }
        self.bounder.enter(&made, &self.open, further);
        self.with.fill([f64::NEG_INFINITY; LANES]);
        // As they are before solutions of this node are found, so that every lane has one unit.
        let limits: Limits = std::array::from_fn(|lane| self.limit(made.len() + lane + 1));
        let mut multipliers = node.parent.multipliers;
        for (unit, multipliers) in [Unit::Worth, Unit::Likelihood].into_iter().zip(&mut multipliers) {
            let is_open = |search: &Self, lane: usize| {
                limits[lane].0 == unit
                    && node.bounds[lane] > search.known(made.len() + lane + 1)
                    && search.bounder.may_reach(reached(lane, further))
            };
            let Some(lane) = (0..=last).rev().find(|&lane| is_open(self, lane)) else { continue };
            let is_first = multipliers.is_none();
            let best = *multipliers.get_or_insert_with(|| self.first_multipliers(unit, lane));
            let (pass, lanes) = self.bounder.bound_each(&self.open, unit, best);
            let is_hopeful = |lane: usize| is_open(self, lane) && lanes[lane] > limits[lane].1;
            let Some(widest) = (0..=lane).rev().find(|&lane| is_hopeful(lane)) else { continue };
            if !self.bounder.may_be_accepted(reached(widest, further)) {
                continue;
            }
            // Without a new change, the parent has tried all single ones.
            if (node.change.is_some() || made.is_empty()) && is_open(self, 0) {
                improves |= self.single_changes(made.len());
            }
            self.bound_with_each(&pass, unit, &limits, further);
            // Children are better off with other multipliers if this node would have been.
            if node.change.is_some() && !is_first {
                let other = best.varied(self.searched);
                if self.bounder.bound_all(&self.open, unit, other)[lane] < lanes[lane] {
                    *multipliers = Some(other);
                }
            }
        }
        self.branch(made, multipliers);
        improves
    }

    /// Multipliers that bound the current node tightly for the number of further changes of a lane.
    fn first_multipliers(&mut self, unit: Unit, lane: usize) -> Multipliers {
        let Self { bounder, open, problem, .. } = self;
        let start = Multipliers::start(unit, &problem.objective);
        let first = bounder.bound_all(open, unit, start)[lane];
        start.improved(first, |other| bounder.bound_all(open, unit, other)[lane])
    }

    /// Sets the bounds of all rows with one change more and others beside it.
    fn bound_with_each(&mut self, pass: &Pass, unit: Unit, limits: &Limits, further: usize) {
        // The change itself is one more.
        let limits = &limits[1..];
        for (place, range) in self.bounder.features.iter().enumerate() {
            for change in range.clone().filter(|&change| self.open[change]) {
                for lane in (0..LANES.min(further - 1)).filter(|&lane| limits[lane].0 == unit) {
                    let others = reached(lane, further - 1);
                    let is_cheap =
                        unit != Unit::Worth || self.bounder.most_by_price(change, lane + 1) > limits[lane].1;
                    if is_cheap && self.bounder.may_reach_with(change, place, others) {
                        let bound = self.bounder.with(pass, change, others);
                        if bound > limits[lane].1 {
                            self.with[change][lane] = self.bounder.worth(unit, bound);
                        }
                    }
                }
            }
        }
    }

    /// Tries all single changes of a bounded node. Returns whether one improves the frontier.
    fn single_changes(&mut self, made: usize) -> bool {
        let mut better = Vec::new();
        for (place, range) in self.bounder.features.iter().enumerate() {
            for change in range.clone().filter(|&change| self.open[change]) {
                if self.bounder.may_reach_with(change, place, 0) {
                    let log_prob = self.bounder.log_prob_with(change);
                    better.push((self.bounder.worth_with(change, log_prob), change));
                }
            }
        }
        self.add_better(better, made)
    }

    /// The same for a node that needs no bounds, since no further change may follow.
    fn last_changes(&mut self, made: &[usize]) -> bool {
        self.bounder.make(made);
        let known = self.frontier.at_most(made.len() + 1);
        let open = (0..self.open.len()).filter(|&change| self.open[change]);
        let most = open.map(|change| (self.bounder.most_by_price(change, 0), change));
        let mut better: Vec<(f64, usize)> = most.filter(|(most, _)| *most > known).collect();
        if better.len() > CHANGES_BEFORE_A_PASS {
            let log_probs = self.bounder.log_probs();
            for (most, change) in &mut better {
                *most = self.bounder.worth_with(*change, log_probs[*change]);
            }
        }
        self.add_better(better, made.len())
    }

    /// Adds the rows with one of the given changes, each with what it is worth at most, that are accepted and improve the
    /// frontier.
    fn add_better(&mut self, mut better: Vec<(f64, usize)>, made: usize) -> bool {
        let problem = self.problem;
        let known = self.frontier.at_most(made + 1);
        better.retain(|(worth, _)| *worth > known);
        better.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut changed = self.bounder.row.clone();
        let mut improves = false;
        for (most, change) in better {
            if most <= self.frontier.at_most(made + 1) {
                break;
            }
            let Change { feature, choice, .. } = self.bounder.changes[change];
            problem.set(&mut changed, feature, choice);
            if problem.permits(&changed) && problem.accepts(&changed) {
                let row = changed.clone();
                let log_prob = self.bounder.evaluator.log_prob(&row.codes);
                let cost = Cost::of(problem.candidates, &row.choices);
                let worth = problem.worth(log_prob, changed.duration, cost);
                improves |= self.frontier.add(Solution { row, log_prob, cost, worth, changes: made + 1 });
            }
            problem.set(&mut changed, feature, 0);
        }
        improves
    }

    /// Adds the nodes with each change of the most promising feature, and the one that leaves it alone.
    fn branch(&mut self, made: Vec<usize>, multipliers: [Option<Multipliers>; 2]) {
        let count = made.len();
        let gain = |change: usize| {
            self.priority(count + 1, &self.with[change], 0)
                .map_or(f64::NEG_INFINITY, |priority| priority.gain)
        };
        let gains: Vec<f64> = (0..self.open.len())
            .map(|change| if self.open[change] { gain(change) } else { f64::NEG_INFINITY })
            .collect();
        let most =
            |range: &Range<usize>| gains[range.clone()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let features = &self.bounder.features;
        let Some((_, branched)) = features
            .iter()
            .map(|range| (most(range), range.clone()))
            .filter(|(gain, _)| *gain > f64::NEG_INFINITY)
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
        else {
            return;
        };
        let mut open = vec![0_u64; self.open.len().div_ceil(64)];
        let mut rest = [f64::NEG_INFINITY; LANES];
        for change in (0..self.open.len()).filter(|change| !branched.contains(change)) {
            if gains[change] > f64::NEG_INFINITY {
                open[change / 64] |= 1 << (change % 64);
                for (lane, &bound) in self.with[change].iter().enumerate() {
                    // The change itself is one of those that follow.
                    let lane = (lane + 1).min(LANES - 1);
                    rest[lane] = rest[lane].max(bound);
                }
            }
        }
        let parent = Rc::new(Parent { made, open, multipliers });
        for change in branched {
            let bounds = self.with[change];
            self.push(Rc::clone(&parent), Some(change), bounds);
        }
        self.push(parent, None, rest);
    }
}

/// The most changes that a lane stands for, of at most `further`.
fn reached(lane: usize, further: usize) -> usize {
    if lane + 1 == LANES { further } else { further.min(lane + 1) }
}

impl Node {
    fn made(&self) -> usize {
        self.parent.made.len() + usize::from(self.change.is_some())
    }
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, its) = (&self.priority, &other.priority);
        own.depth.cmp(&its.depth).then(own.gain.total_cmp(&its.gain)).then(its.age.cmp(&own.age))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Node {}
