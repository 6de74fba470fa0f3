//! Many rows at once, in blocks over threads. The result never depends on how many threads there are.

use rayon::prelude::*;

use crate::engine::{HardBlock, LANES, Real, SoftBlock};
use crate::evaluator::{check_soft, exact_soft_gradient};
use crate::{Allowed, Circuit, Code, Dataset, Evaluator, Evidence};

/// Rows that a thread takes at a time.
const CHUNK: usize = 64 * LANES;

impl Circuit {
    /// Log-probability of every row; codes that are [`crate::OPEN`] are summed out.
    ///
    /// # Panics
    /// When the rows are of other variables.
    pub fn log_probs(&self, rows: &Dataset) -> Vec<f64> {
        assert_eq!(rows.cardinalities(), self.cardinalities(), "rows of the same variables");
        let width = rows.width();
        let mut log_probs = vec![0.0; rows.len()];
        let chunks = log_probs.par_chunks_mut(CHUNK).zip(rows.codes().par_chunks(CHUNK * width));
        chunks.for_each_init(
            || (HardBlock::<f32>::new(self.plan()), HardBlock::<f64>::new(self.plan())),
            |(single, double), (log_probs, rows)| {
                let mut untrusted = Vec::new();
                for (block, rows) in rows.chunks(LANES * width).enumerate() {
                    let values = single.values(rows);
                    for (lane, (row, &value)) in rows.chunks_exact(width).zip(values).enumerate() {
                        let position = block * LANES + lane;
                        match self.log_prob_of(row, value) {
                            Some(log_prob) => log_probs[position] = log_prob,
                            None => untrusted.push(position),
                        }
                    }
                }
                for positions in untrusted.chunks(LANES) {
                    let row = |position: usize| &rows[position * width..][..width];
                    let codes: Vec<Code> =
                        positions.iter().flat_map(|&position| row(position)).copied().collect();
                    for (&position, &value) in positions.iter().zip(double.values(&codes)) {
                        let row = row(position);
                        let log_prob = self.log_prob_of(row, value);
                        log_probs[position] =
                            log_prob.unwrap_or_else(|| self.log_prob(&Evidence::from_row(row)));
                    }
                }
            },
        );
        log_probs
    }

    /// The log-probability of a row from its value relative to its scale, where that can be trusted.
    pub(crate) fn log_prob_of<T: Real>(&self, row: &[Code], value: T) -> Option<f64> {
        let plan = self.plan();
        plan.trusts(value, plan.boost(row)).then(|| Into::<f64>::into(value).ln() + plan.log_scale(row))
    }

    /// Mean log-probability of the rows: the usual score of a density; NaN for no rows.
    ///
    /// # Panics
    /// When the rows are of other variables.
    pub fn mean_log_prob(&self, rows: &Dataset) -> f64 {
        self.log_probs(rows).iter().sum::<f64>() / rows.len() as f64
    }

    /// Log-probability of every soft row, and its gradient by every weight.
    ///
    /// `soft` and `gradients` hold, row after row, one number for every code of every variable. The
    /// gradient of an impossible row is zero.
    ///
    /// # Panics
    /// When the weights do not fill whole rows, are negative or not finite, or `gradients` has another
    /// length.
    pub fn soft_gradients(&self, soft: &[f32], gradients: &mut [f32]) -> Vec<f64> {
        check_soft(self, soft);
        assert_eq!(gradients.len(), soft.len(), "one slope a weight");
        let codes: usize = self.cardinalities().iter().sum();
        let mut log_probs = vec![0.0; soft.len() / codes];
        let chunks = log_probs.par_chunks_mut(CHUNK).zip(soft.par_chunks(CHUNK * codes));
        let chunks = chunks.zip(gradients.par_chunks_mut(CHUNK * codes));
        chunks.for_each_init(
            || (SoftBlock::<f32>::new(self.plan()), None),
            |(single, double), ((log_probs, soft), gradients)| {
                let blocks = log_probs.chunks_mut(LANES).zip(soft.chunks(LANES * codes));
                for ((log_probs, soft), gradients) in blocks.zip(gradients.chunks_mut(LANES * codes)) {
                    let found = single.gradients(soft, gradients);
                    // Most blocks need no second look, and those that do mostly for all of their rows.
                    let again = if found.contains(&None) {
                        let mut precise = gradients.to_vec();
                        let double = double.get_or_insert_with(|| SoftBlock::<f64>::new(self.plan()));
                        let again = double.gradients(soft, &mut precise);
                        for lane in (0..found.len()).filter(|&lane| found[lane].is_none()) {
                            let row = lane * codes..(lane + 1) * codes;
                            gradients[row.clone()].copy_from_slice(&precise[row]);
                        }
                        again
                    } else {
                        Vec::new()
                    };
                    let rows = soft.chunks_exact(codes).zip(gradients.chunks_exact_mut(codes));
                    for (lane, (log_prob, (soft, gradient))) in log_probs.iter_mut().zip(rows).enumerate() {
                        let fast = found[lane].or_else(|| again[lane]);
                        *log_prob = fast.unwrap_or_else(|| exact_soft_gradient(self, soft, gradient));
                    }
                }
            },
        );
        log_probs
    }

    /// [`crate::Evaluator::upper_bound`] of every box.
    ///
    /// # Panics
    /// When a box is of other variables.
    pub fn upper_bounds(&self, boxes: &[Allowed]) -> Vec<f64> {
        let bounds = boxes.par_iter().map_init(|| self.evaluator(), Evaluator::upper_bound);
        bounds.collect()
    }
}
