//! Batches of rows, in chunks over threads.

use crate::engine::{HardBlock, LANES, Real};
use crate::{Allowed, Circuit, Code, Dataset, Evaluator, Evidence, Stop, Stopped, threads};

/// Rows in a chunk, which one thread evaluates.
pub(crate) const CHUNK: usize = 64 * LANES;

impl Circuit {
    /// Log-probability of every row; codes that are [`crate::OPEN`] are summed out.
    ///
    /// # Panics
    /// When the rows are of other variables.
    pub fn log_probs(&self, rows: &Dataset) -> Vec<f64> {
        self.log_probs_until(rows, Stop::never()).expect("never stopped")
    }

    /// [`Circuit::log_probs`], which `stop` can end.
    pub(crate) fn log_probs_until(&self, rows: &Dataset, stop: Stop<'_>) -> Result<Vec<f64>, Stopped> {
        assert_eq!(rows.cardinalities(), self.cardinalities(), "rows of the same variables");
        let width = rows.width();
        let mut log_probs = vec![0.0; rows.len()];
        let chunks = log_probs.chunks_mut(CHUNK).zip(rows.codes().chunks(CHUNK * width));
        let finished = threads::map_with(
            chunks,
            || (HardBlock::<f32>::new(self.plan()), HardBlock::<f64>::new(self.plan())),
            |(single, double), (log_probs, rows)| {
                let mut untrusted = Vec::new();
                for (block, rows) in rows.chunks(LANES * width).enumerate() {
                    stop.check()?;
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
                    stop.check()?;
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
                Ok(())
            },
        );
        finished.into_iter().collect::<Result<(), Stopped>>()?;
        Ok(log_probs)
    }

    /// The log-probability of a row from its value relative to its scale; `None` if underflow may have
    /// distorted it.
    pub(crate) fn log_prob_of<T: Real>(&self, row: &[Code], value: T) -> Option<f64> {
        let plan = self.plan();
        plan.trusts(value, plan.boost(row)).then(|| Into::<f64>::into(value).ln() + plan.log_scale(row))
    }

    /// Mean log-probability of the rows; NaN for no rows.
    ///
    /// # Panics
    /// When the rows are of other variables.
    pub fn mean_log_prob(&self, rows: &Dataset) -> f64 {
        self.mean_log_prob_until(rows, Stop::never()).expect("never stopped")
    }

    /// [`Circuit::mean_log_prob`], which `stop` can end.
    pub(crate) fn mean_log_prob_until(&self, rows: &Dataset, stop: Stop<'_>) -> Result<f64, Stopped> {
        Ok(self.log_probs_until(rows, stop)?.iter().sum::<f64>() / rows.len() as f64)
    }

    /// [`crate::Evaluator::upper_bound`] of every box.
    ///
    /// # Panics
    /// When a box is of other variables.
    pub fn upper_bounds(&self, boxes: &[Allowed]) -> Vec<f64> {
        threads::map_with(boxes, || self.evaluator(), Evaluator::upper_bound)
    }
}
