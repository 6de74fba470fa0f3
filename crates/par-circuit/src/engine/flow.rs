//! The flow of each row through each edge: the expectations of EM.

use std::cmp::Ordering;

use super::batch::{HardBlock, backward, transpose};
use super::vectorised::{Kernel, vectorised};
use super::{LANES, Lanes, Plan, Real, StepKind, TILE, Tile};
use crate::{Code, Node};

/// Expected counts, summed over rows.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// One a weight of the plan, before it is multiplied by that weight.
    edges: Vec<f64>,
    /// One a ratio of the plan, variable after variable.
    leaves: Vec<Vec<f64>>,
}

/// Sums flows over blocks of rows.
pub(crate) struct FlowBlock<'a, T> {
    plan: &'a Plan,
    hard: HardBlock<'a, T>,
    /// The logarithms of what the leaves of the last rows were lifted by: those of the next are about as probable.
    log_lifts: Lanes<f64>,
    slopes: Vec<Lanes<T>>,
    scratch: Vec<Lanes<T>>,
    /// One a weight of the plan: sums by lane, added up at the end.
    edges: Vec<Tile<T>>,
    leaves: Vec<Vec<Tile<T>>>,
}

/// So many nats a row is lifted by at a time: less than what a double has room for.
const LIFT: f64 = 1000.0;

/// Rows are lifted so many times at most.
const MOST_LIFTS: usize = 64;

impl<'a, T: Real> FlowBlock<'a, T> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let zero = [T::default(); TILE];
        Self {
            plan,
            hard: HardBlock::new(plan),
            log_lifts: [0.0; LANES],
            slopes: vec![[T::default(); LANES]; plan.values],
            scratch: vec![[T::default(); LANES]; plan.widest_product()],
            edges: vec![zero; plan.weights.len()],
            leaves: plan.tables.iter().map(|table| vec![zero; table.ratios.len()]).collect(),
        }
    }

    /// Adds the flows of at most [`LANES`] rows; returns the logarithms of their values relative to their scales.
    ///
    /// A row that this precision does not hold adds nothing, and has none: too little room for slopes, slopes that
    /// overflow, or, unless it is the `last` precision, a part that underflow may have taken out. In the last one rows are
    /// lifted, so that those of thousands of variables have room.
    pub(crate) fn add(&mut self, rows: &[Code], last: bool) -> Lanes<Option<f64>> {
        let (plan, width) = (self.plan, self.plan.tables.len());
        let count = rows.len() / width;
        self.set_lifts(count);
        self.hard.values(rows);
        if last {
            self.lift(count);
        }
        let roots = self.hard.values[plan.root];
        let mut held = [false; LANES];
        for ((held, &root), row) in held.iter_mut().zip(&roots).zip(rows.chunks_exact(width)) {
            *held = has_room(root).is_eq() && (last || plan.trusts(root, plan.boost(row)));
        }
        // Each time round a row fewer is held.
        loop {
            if !held.iter().all(|held| *held) {
                // An infinite value times a slope of zero would be NaN.
                self.hard.open_rows(|lane| !held[lane]);
            }
            self.slopes.fill([T::default(); LANES]);
            for ((slope, &root), held) in self.slopes[plan.root].iter_mut().zip(&roots).zip(held) {
                *slope = if held { root.inverse() } else { T::default() };
            }
            let mut finite = [true; LANES];
            vectorised(FlowBackward { block: self, finite: &mut finite });
            let are_held = held;
            held.iter_mut().zip(finite).for_each(|(held, finite)| *held &= finite);
            if held == are_held {
                break;
            }
        }
        let log_value = |lane: usize| roots[lane].into().ln() - width as f64 * self.log_lifts[lane];
        std::array::from_fn(|lane| held[lane].then(|| log_value(lane)))
    }

    /// Multiplies all leaves of each row by a number for which its value has room, if there is one.
    fn lift(&mut self, rows: usize) {
        let step = LIFT / self.plan.tables.len() as f64;
        for _ in 0..MOST_LIFTS {
            let roots = self.hard.values[self.plan.root];
            let mut is_changed = false;
            for (log_lift, &root) in self.log_lifts.iter_mut().zip(&roots).take(rows) {
                let room = has_room(root);
                is_changed |= room.is_ne();
                *log_lift -= f64::from(room as i8) * step;
            }
            if !is_changed {
                return;
            }
            self.set_lifts(rows);
            self.hard.evaluate();
        }
    }

    fn set_lifts(&mut self, rows: usize) {
        let lift = |lane: usize| if lane < rows { self.log_lifts[lane].exp() } else { 1.0 };
        let is_lifted = self.log_lifts.iter().any(|log_lift| *log_lift != 0.0);
        self.hard.lifts = is_lifted.then(|| std::array::from_fn(|lane| T::rounded(lift(lane))));
    }

    /// The sums.
    pub(crate) fn finish(self) -> Flow {
        let total = |part: Tile<T>| part.into_iter().map(Into::<f64>::into).sum();
        let units = |tiles: Vec<Tile<T>>| tiles.into_iter().flatten().map(Into::into).collect();
        Flow {
            edges: self.edges.into_iter().map(total).collect(),
            leaves: self.leaves.into_iter().map(units).collect(),
        }
    }
}

/// Whether a value leaves room for slopes, or is too small or too large.
fn has_room<T: Real>(value: T) -> Ordering {
    let value: f64 = value.into();
    match value {
        _ if value < 1.0 / T::MODERATE => Ordering::Less,
        _ if value < T::MODERATE => Ordering::Equal,
        _ => Ordering::Greater,
    }
}

struct FlowBackward<'a, 'b, T> {
    block: &'b mut FlowBlock<'a, T>,
    /// Whether all slopes of each row are finite; only if they are for all rows, flows are added.
    finite: &'b mut [bool; LANES],
}

impl<T: Real> Kernel for FlowBackward<'_, '_, T> {
    #[inline(always)]
    fn run(self) {
        let FlowBlock { plan, hard, slopes, scratch, edges, leaves, .. } = self.block;
        backward(plan, &hard.values, slopes, scratch);
        for slopes in &*slopes {
            for (finite, &slope) in self.finite.iter_mut().zip(slopes) {
                *finite &= Into::<f64>::into(slope).is_finite();
            }
        }
        if !self.finite.iter().all(|finite| *finite) {
            return;
        }
        for step in &plan.steps {
            let StepKind::Sum { weights } = step.kind else { continue };
            let width = step.width as usize;
            let edges = &mut edges[weights as usize..][..(step.arity * step.width) as usize];
            let above = &slopes[step.output as usize..][..width];
            for (&input, edges) in plan.inputs(step).iter().zip(edges.chunks_exact_mut(width)) {
                let value = &hard.values[input as usize];
                for (edge, above) in edges.iter_mut().zip(above) {
                    for lane in 0..TILE {
                        edge[lane] += value[lane] * above[lane];
                        edge[lane] += value[lane + TILE] * above[lane + TILE];
                    }
                }
            }
        }
        for tile in 0..plan.tiles() {
            let values = &hard.values[tile * TILE..][..TILE];
            let slopes = &slopes[tile * TILE..][..TILE];
            for half in (0..LANES).step_by(TILE) {
                let mut units = [[T::default(); TILE]; TILE];
                for (unit, (value, slope)) in units.iter_mut().zip(values.iter().zip(slopes)) {
                    for lane in 0..TILE {
                        unit[lane] = value[half + lane] * slope[half + lane];
                    }
                }
                let rows = transpose(&units);
                for entry in plan.entries(tile) {
                    let lines = &hard.lines[entry.variable as usize][half..half + TILE];
                    let leaves = &mut leaves[entry.variable as usize];
                    for (&line, row) in lines.iter().zip(&rows) {
                        let leaf = &mut leaves[(line + entry.column) as usize];
                        for (leaf, &flow) in leaf.iter_mut().zip(row) {
                            *leaf += flow;
                        }
                    }
                }
            }
        }
    }
}

impl Flow {
    /// Zero everywhere.
    pub(crate) fn zero(plan: &Plan) -> Self {
        Self {
            edges: vec![0.0; plan.weights.len()],
            leaves: plan.tables.iter().map(|table| vec![0.0; table.ratios.len() * TILE]).collect(),
        }
    }

    /// Adds another flow.
    pub(crate) fn add(&mut self, other: &Self) {
        let mine = self.edges.iter_mut().chain(self.leaves.iter_mut().flatten());
        let theirs = other.edges.iter().chain(other.leaves.iter().flatten());
        mine.zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Expected counts of every node of the circuit that the plan was compiled from: one a weight of a
    /// sum, one a category of a leaf, none for a product.
    pub(crate) fn counts(&self, plan: &Plan, nodes: &[Node]) -> Vec<Vec<f64>> {
        let mut counts: Vec<Vec<f64>> = nodes
            .iter()
            .map(|node| match node {
                Node::Leaf { probabilities, .. } => vec![0.0; probabilities.len()],
                Node::Product { .. } => Vec::new(),
                Node::Sum { weights, .. } => vec![0.0; weights.len()],
            })
            .collect();
        let mut sums = plan.sums.iter();
        for step in &plan.steps {
            let StepKind::Sum { weights: start } = step.kind else { continue };
            let width = step.width as usize;
            for (output, sum) in sums.by_ref().take(width).enumerate() {
                let edges = (0..).map(|input| start as usize + input * width + output);
                for (count, edge) in counts[sum.index()].iter_mut().zip(edges) {
                    *count = self.edges[edge] * f64::from(plan.weights[edge]);
                }
            }
        }
        for entry in &plan.entries {
            let table = &plan.tables[entry.variable as usize];
            let flows = &self.leaves[entry.variable as usize];
            for (place, &leaf) in entry.leaves.iter().enumerate() {
                let Some(counts) = counts.get_mut(leaf as usize) else { continue };
                for (code, count) in counts.iter_mut().enumerate() {
                    *count += flows[(code * table.columns + entry.column as usize) * TILE + place];
                }
            }
        }
        counts
    }
}
