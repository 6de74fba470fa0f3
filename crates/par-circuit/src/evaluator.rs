//! Queries about one row at a time.

use crate::engine::{BallBounds, HardBlock, LANES, RowScratch};
use crate::{Allowed, ChangeBounds, Circuit, Code, Evidence, OPEN};

/// Answers queries about one row at a time, without allocating.
///
/// ```
/// # use par_circuit::{Circuit, Node, NodeId};
/// # let leaf = |variable, probabilities: [f64; 2]| Node::Leaf { variable, probabilities: probabilities.into() };
/// # let root = Node::Product { children: [NodeId(0), NodeId(1)].into() };
/// # let circuit = Circuit::new(vec![2, 2], vec![leaf(0, [0.5, 0.5]), leaf(1, [0.1, 0.9]), root])?;
/// let mut evaluator = circuit.evaluator();
/// assert!((evaluator.log_prob(&[0, 1]) - 0.45_f64.ln()).abs() < 1e-6);
///
/// let mut gradient = [0.0; 4];
/// evaluator.soft_gradient(&[0.5, 0.5, 0.0, 1.0], &mut gradient);
/// assert!((gradient[2] - 0.1 / 0.9).abs() < 1e-6);
/// # Ok::<(), par_circuit::CircuitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Evaluator<'a> {
    circuit: &'a Circuit,
    single: RowScratch<f32>,
    /// Made for the first row that single precision cannot hold.
    double: Option<RowScratch<f64>>,
    /// Made for the first call of [`Evaluator::log_probs`].
    block: Option<HardBlock<'a, f32>>,
    /// Made for the first block with a row that single precision cannot hold.
    double_block: Option<HardBlock<'a, f64>>,
    /// Made for the first ball.
    balls: Option<BallBounds<f32>>,
    /// Made for the first ball that single precision cannot hold.
    double_balls: Option<BallBounds<f64>>,
    /// Scratch: one ratio a code of the current row.
    ratios: Vec<f32>,
}

impl Circuit {
    /// An evaluator for single rows. Keep it: it holds the memory that evaluation needs.
    pub fn evaluator(&self) -> Evaluator<'_> {
        Evaluator {
            circuit: self,
            single: RowScratch::new(self.plan()),
            double: None,
            block: None,
            double_block: None,
            balls: None,
            double_balls: None,
            ratios: vec![0.0; self.cardinalities().iter().sum()],
        }
    }
}

impl Evaluator<'_> {
    /// Log-probability of a row; codes that are [`OPEN`] are summed out. −∞ when it is impossible.
    ///
    /// # Panics
    /// When the row does not fit the variables.
    pub fn log_prob(&mut self, row: &[Code]) -> f64 {
        self.check_row(row);
        let plan = self.circuit.plan();
        let fast = self.single.hard(plan, row).or_else(|| self.double().hard(plan, row));
        fast.unwrap_or_else(|| self.circuit.log_prob(&Evidence::from_row(row)))
    }

    /// Log-probability of a few rows, one after the other in `rows`: sixteen take little more time than one.
    ///
    /// # Panics
    /// As [`Evaluator::log_prob`].
    pub fn log_probs(&mut self, rows: &[Code]) -> Vec<f64> {
        let width = self.circuit.cardinalities().len();
        assert!(rows.len().is_multiple_of(width), "whole rows");
        rows.chunks_exact(width).for_each(|row| self.check_row(row));
        let mut log_probs = Vec::with_capacity(rows.len() / width);
        let (circuit, plan) = (self.circuit, self.circuit.plan());
        for block in rows.chunks(LANES * width) {
            let rows = || block.chunks_exact(width);
            let mut found: Vec<Option<f64>> = vec![None; rows().len()];
            if rows().any(|row| plan.may_trust::<f32>(plan.boost(row))) {
                let values = self.block.get_or_insert_with(|| HardBlock::new(plan)).values(block);
                let log_probs = rows().zip(values).map(|(row, &value)| circuit.log_prob_of(row, value));
                found.iter_mut().zip(log_probs).for_each(|(found, log_prob)| *found = log_prob);
            }
            if found.contains(&None) {
                let values = self.double_block.get_or_insert_with(|| HardBlock::new(plan)).values(block);
                for ((found, row), &value) in found.iter_mut().zip(rows()).zip(values) {
                    *found = found.or_else(|| circuit.log_prob_of(row, value));
                }
            }
            let log_space = |row| circuit.log_prob(&Evidence::from_row(row));
            log_probs
                .extend(found.iter().zip(rows()).map(|(found, row)| found.unwrap_or_else(|| log_space(row))));
        }
        log_probs
    }

    /// Log-probability of soft evidence: the weight q_{j,c} of every code of every variable, in order. A
    /// variable whose weights are all one is summed out. −∞ when the evidence is impossible.
    ///
    /// # Panics
    /// When there are not as many weights as codes, or one is negative or not finite.
    pub fn log_prob_soft(&mut self, soft: &[f32]) -> f64 {
        self.check_one(soft);
        let plan = self.circuit.plan();
        let fast = self.single.soft(plan, soft).or_else(|| self.double().soft(plan, soft));
        fast.unwrap_or_else(|| {
            self.circuit.log_prob(&Evidence::from_soft(soft, self.circuit.cardinalities()))
        })
    }

    /// [`Evaluator::log_prob_soft`], and its gradient by every weight; zeros when it is impossible.
    ///
    /// # Paper
    /// ∂ log v(q) / ∂ q_{j,c} of appendix "Tractable Gradient Computation", by one backward pass.
    ///
    /// # Panics
    /// As [`Evaluator::log_prob_soft`], and when `gradient` has another length.
    pub fn soft_gradient(&mut self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        self.check_one(soft);
        assert_eq!(gradient.len(), soft.len(), "one slope a weight");
        let plan = self.circuit.plan();
        let fast = self.single.gradient(plan, soft, gradient);
        let fast = fast.or_else(|| self.double().gradient(plan, soft, gradient));
        fast.unwrap_or_else(|| exact_soft_gradient(self.circuit, soft, gradient))
    }

    /// Log-probability of a row, and of all its neighbours: for each code of each variable, in order, that of
    /// the row with this code in place of its own.
    ///
    /// # Paper
    /// p(q_{j←e_c}) of the appendix, for all j and c by one pass up and one down.
    ///
    /// # Panics
    /// When the row does not fit the variables, or `log_probs` has not one place a code.
    pub fn neighbours(&mut self, row: &[Code], log_probs: &mut [f64]) -> f64 {
        self.check_row(row);
        assert_eq!(log_probs.len(), self.ratios.len(), "one place a code");
        let plan = self.circuit.plan();
        let mut ratios = std::mem::take(&mut self.ratios);
        let fast = self.single.ratios(plan, row, &mut ratios);
        let fast = fast.or_else(|| self.double().ratios(plan, row, &mut ratios));
        let own = match fast {
            Some(log_prob) => {
                for (neighbour, &ratio) in log_probs.iter_mut().zip(&ratios) {
                    *neighbour = log_prob + f64::from(ratio).ln();
                }
                log_prob
            }
            None => self.neighbours_in_log_space(row, log_probs),
        };
        self.ratios = ratios;
        own
    }

    /// Where no precision holds a row, as with hundreds of variables: by the same two passes in log space.
    fn neighbours_in_log_space(&mut self, row: &[Code], log_probs: &mut [f64]) -> f64 {
        let evidence = Evidence::from_row(row);
        let own = self.circuit.log_prob(&evidence);
        if own == f64::NEG_INFINITY {
            self.neighbours_one_by_one(row, log_probs);
            return own;
        }
        for (neighbour, ratio) in log_probs.iter_mut().zip(self.circuit.gradient(&evidence)) {
            *neighbour = own + ratio.ln();
        }
        own
    }

    fn neighbours_one_by_one(&mut self, row: &[Code], mut log_probs: &mut [f64]) {
        let mut row = row.to_vec();
        for (variable, &cardinality) in self.circuit.cardinalities().iter().enumerate() {
            let (own, after) = log_probs.split_at_mut(cardinality);
            let before = row[variable];
            for (code, log_prob) in (0..).zip(own) {
                row[variable] = code;
                *log_prob = self.log_prob(&row);
            }
            row[variable] = before;
            log_probs = after;
        }
    }

    /// Bounds on the rows around a centre, as in [`ChangeBounds`], over all of them: [`ChangeBounds::with`] gives the same
    /// until [`Evaluator::bound_each_change`].
    ///
    /// Every child of a sum makes the changes that are best for it; the children of a product divide the
    /// changes among them. The bound for no change is exact, but where gains are beyond what numbers hold beside it.
    ///
    /// # Panics
    /// When the centre does not fit the variables, or there is not one gain a code, or one is NaN or +∞.
    pub fn bound_changes(&mut self, centre: &[Code], gains: &[f64], bounds: &mut ChangeBounds) {
        self.bound(centre, gains, bounds, false);
    }

    /// As [`Evaluator::bound_changes`], and also over the rows with each single change, by one pass more.
    ///
    /// # Panics
    /// As [`Evaluator::bound_changes`].
    pub fn bound_each_change(&mut self, centre: &[Code], gains: &[f64], bounds: &mut ChangeBounds) {
        self.bound(centre, gains, bounds, true);
    }

    fn bound(&mut self, centre: &[Code], gains: &[f64], bounds: &mut ChangeBounds, each: bool) {
        self.check_row(centre);
        assert_eq!(gains.len(), self.ratios.len(), "one gain a code");
        assert!(gains.iter().all(|gain| *gain < f64::INFINITY), "gains are finite or −∞");
        let plan = self.circuit.plan();
        let mut codes = bounds.codes.take().unwrap_or_default();
        let single = self.balls.get_or_insert_with(|| BallBounds::new(plan));
        let mut fast = single.bounds(plan, centre, gains);
        let mut has_codes = each && fast.is_some() && single.each_code(plan, &mut codes);
        if fast.is_none() || each && !has_codes {
            let double = self.double_balls.get_or_insert_with(|| BallBounds::new(plan));
            fast = double.bounds(plan, centre, gains).or(fast);
            has_codes = each && fast.is_some() && double.each_code(plan, &mut codes);
        }
        bounds.codes = has_codes.then_some(codes);
        bounds.rounding = plan.rounding_of_contexts();
        bounds.all = fast.map_or_else(
            || self.circuit.log_change_bounds(centre, gains),
            |all| all.map(|bound| bound + plan.rounding()),
        );
    }

    /// Upper bound on the log-probability of the rows of a box.
    ///
    /// Every leaf takes the greatest of its allowed probabilities, and a sum of maxima is at least the
    /// maximum of the sum. The bound is exact when every variable has one code left.
    ///
    /// # Panics
    /// When the box is of other variables.
    pub fn upper_bound(&mut self, allowed: &Allowed) -> f64 {
        assert_eq!(allowed.cardinalities(), self.circuit.cardinalities(), "a box of the same variables");
        let plan = self.circuit.plan();
        let fast = self.single.largest(plan, allowed).or_else(|| self.double().largest(plan, allowed));
        fast.map_or_else(|| self.circuit.log_upper_bound(allowed), |bound| bound + plan.rounding())
    }

    fn double(&mut self) -> &mut RowScratch<f64> {
        self.double.get_or_insert_with(|| RowScratch::new(self.circuit.plan()))
    }

    fn check_row(&self, row: &[Code]) {
        let cardinalities = self.circuit.cardinalities();
        assert_eq!(row.len(), cardinalities.len(), "one code a variable");
        let fits = |(&code, &cardinality): (&Code, &usize)| usize::from(code) < cardinality || code == OPEN;
        assert!(row.iter().zip(cardinalities).all(fits), "every code is below its cardinality");
    }

    fn check_one(&self, soft: &[f32]) {
        let codes = self.circuit.cardinalities().iter().sum::<usize>();
        assert_eq!(soft.len(), codes, "one weight a code");
        check_soft(self.circuit, soft);
    }
}

/// # Panics
/// When soft evidence does not fit the circuit.
pub(crate) fn check_soft(circuit: &Circuit, soft: &[f32]) {
    let codes = circuit.cardinalities().iter().sum::<usize>();
    assert!(soft.len().is_multiple_of(codes), "{} weights do not fill rows of {codes}", soft.len());
    assert!(soft.iter().all(|weight| *weight >= 0.0 && weight.is_finite()), "weights are finite, at least 0");
}

/// [`Evaluator::soft_gradient`] in double precision and log space.
pub(crate) fn exact_soft_gradient(circuit: &Circuit, soft: &[f32], gradient: &mut [f32]) -> f64 {
    let evidence = Evidence::from_soft(soft, circuit.cardinalities());
    for (slope, exact) in gradient.iter_mut().zip(circuit.gradient(&evidence)) {
        *slope = exact as f32;
    }
    circuit.log_prob(&evidence)
}
