//! Gradients of batches of soft rows.

use crate::batch::CHUNK;
use crate::engine::{LANES, SoftBlock};
use crate::evaluator::{check_soft, exact_soft_gradient};
use crate::{Circuit, threads};

/// Log-probabilities of soft rows and their gradients, on one thread. Keep it: allocating its memory, a few
/// numbers an edge, can take longer than a batch.
pub struct SoftEvaluator<'c> {
    circuit: &'c Circuit,
    single: Option<SoftBlock<'c, f32>>,
    /// For rows that single precision cannot hold.
    double: Option<SoftBlock<'c, f64>>,
}

impl Circuit {
    /// An evaluator of soft rows. It allocates when it is first used.
    pub fn soft_evaluator(&self) -> SoftEvaluator<'_> {
        SoftEvaluator { circuit: self, single: None, double: None }
    }

    /// [`SoftEvaluator::gradients`] on all threads.
    ///
    /// # Panics
    /// As [`SoftEvaluator::gradients`].
    pub fn soft_gradients(&self, soft: &[f32], gradients: &mut [f32]) -> Vec<f64> {
        let codes: usize = self.cardinalities().iter().sum();
        assert_eq!(gradients.len(), soft.len(), "one slope a weight");
        let chunks = soft.chunks(CHUNK * codes).zip(gradients.chunks_mut(CHUNK * codes));
        let evaluate = |evaluator: &mut SoftEvaluator<'_>, (soft, gradients): (&[f32], &mut [f32])| {
            evaluator.gradients(soft, gradients)
        };
        threads::map_with(chunks, || self.soft_evaluator(), evaluate).concat()
    }
}

impl SoftEvaluator<'_> {
    /// Log-probability of every soft row, and its gradient by every weight.
    ///
    /// `soft` and `gradients` hold one number for every code of every variable, row after row. The gradient
    /// of an impossible row is zero.
    ///
    /// # Panics
    /// When the weights do not fill whole rows, are negative or not finite, or `gradients` has another
    /// length.
    pub fn gradients(&mut self, soft: &[f32], gradients: &mut [f32]) -> Vec<f64> {
        let Self { circuit, single, double } = self;
        let circuit = *circuit;
        check_soft(circuit, soft);
        assert_eq!(gradients.len(), soft.len(), "one slope a weight");
        let codes: usize = circuit.cardinalities().iter().sum();
        let single = single.get_or_insert_with(|| SoftBlock::new(circuit.plan()));
        let mut log_probs = Vec::with_capacity(soft.len() / codes);
        for (soft, gradients) in soft.chunks(LANES * codes).zip(gradients.chunks_mut(LANES * codes)) {
            let found = single.gradients(soft, gradients);
            // Few blocks need double precision, and those mostly for all of their rows.
            let again = if found.contains(&None) {
                let mut precise = gradients.to_vec();
                let double = double.get_or_insert_with(|| SoftBlock::new(circuit.plan()));
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
            for (lane, (soft, gradient)) in rows.enumerate() {
                let fast = found[lane].or_else(|| again[lane]);
                log_probs.push(fast.unwrap_or_else(|| exact_soft_gradient(circuit, soft, gradient)));
            }
        }
        log_probs
    }
}
