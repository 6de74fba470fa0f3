//! The smoothed frequency of each category: the prior of every leaf.

use crate::{Dataset, OPEN};

/// The pseudo-counts a category that [`BaseRates::new`] chooses from.
const SMOOTHING: [f64; 6] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0];

/// The smoothed share of each category among the known cells of each variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BaseRates(Vec<Vec<f64>>);

impl BaseRates {
    /// Laplace smoothing, with the pseudo-count that maximises the leave-one-out likelihood. A variable
    /// without known cells is uniform.
    pub(crate) fn new(rows: &Dataset) -> Self {
        let mut counts: Vec<Vec<f64>> = rows.cardinalities().iter().map(|&c| vec![0.0; c]).collect();
        for row in rows.rows() {
            for (counts, &code) in counts.iter_mut().zip(row) {
                if code != OPEN {
                    counts[usize::from(code)] += 1.0;
                }
            }
        }
        Self(counts.iter().map(|counts| smooth(counts)).collect())
    }

    /// The rates of one variable; they are positive and sum to one.
    pub(crate) fn of(&self, variable: usize) -> &[f64] {
        &self.0[variable]
    }
}

fn smooth(counts: &[f64]) -> Vec<f64> {
    let total: f64 = counts.iter().sum();
    let categories = counts.len() as f64;
    let left_out = |alpha: f64| -> f64 {
        let log_total = (total - 1.0 + alpha * categories).ln();
        let seen = counts.iter().filter(|&&count| count > 0.0);
        seen.map(|&count| count * ((count - 1.0 + alpha).ln() - log_total)).sum()
    };
    let best = SMOOTHING.into_iter().max_by(|&a, &b| left_out(a).total_cmp(&left_out(b)));
    let alpha = best.expect("there is something to choose from");
    counts.iter().map(|count| (count + alpha) / (total + alpha * categories)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_singletons_choose_more_smoothing_than_a_few_large_counts() {
        let singletons = smooth(&[1.0; 8]);
        assert!(singletons.iter().all(|rate| (rate - 0.125).abs() < 1e-12));
        let settled = smooth(&[500.0, 500.0, 0.0]);
        assert!(settled[2] > 0.0 && settled[2] < 1e-4);
    }

    #[test]
    fn a_variable_that_was_never_seen_is_uniform() {
        let rows = Dataset::new(vec![4], vec![OPEN, OPEN]).expect("rows");
        assert_eq!(BaseRates::new(&rows).of(0), [0.25; 4]);
    }
}
