//! The terms of a generator's objective, each with its gradient by the soft row q.
//!
//! A term adds its gradient, times its weight, to that of the objective, and returns its own value.
//!
//! # Paper
//! "Modeling the Recourse Feasibility Constraints" to "Total Objective".

use std::ops::Range;

use par_circuit::OPEN;
use par_data::Mask;
use par_model::card::LossTerms;
use par_model::generator::LossConfig;

/// Lower bound on probabilities in logarithms, so that losses stay finite.
const LEAST_PROBABILITY: f64 = 1e-9;

/// Lower bound on log-likelihoods, so that the loss of an impossible row is finite.
const LEAST_LOG_LIKELIHOOD: f64 = -1e6;

/// With more free features than this, each counts as much in [`teaching`] as with so many.
const TAUGHT_FEATURES: usize = 16;

/// A feature that is free to change; its codes are numbered among those of all features.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FreeFeature {
    pub(super) codes: Range<usize>,
    pub(super) own: usize,
    /// The teacher's code.
    pub(super) target: Option<usize>,
}

/// The features of a mask that are free to change.
pub(super) fn free_features(mask: &Mask, target: Option<&[par_circuit::Code]>) -> Vec<FreeFeature> {
    let mut start = 0;
    let mut free = Vec::new();
    for (feature, &own) in mask.factual().iter().enumerate() {
        let codes = start..start + mask.legal(feature).len();
        start = codes.end;
        if mask.is_free(feature) {
            let place = |code: u16| codes.start + usize::from(code);
            let target = target.map(|target| target[feature]).filter(|&code| code != OPEN).map(place);
            free.push(FreeFeature { own: place(own), target, codes });
        }
    }
    free
}

/// Adds `share` times other terms.
pub(super) fn add_terms(sum: &mut LossTerms, share: f64, other: &LossTerms) {
    sum.total += share * other.total;
    sum.validity += share * other.validity;
    sum.proximity += share * other.proximity;
    sum.accepted += share * other.accepted;
    sum.denied += share * other.denied;
    sum.sparsity += share * other.sparsity;
    sum.entropy += share * other.entropy;
    sum.teaching += share * other.teaching;
}

/// The weighted sum of the terms.
pub(super) fn weighted(terms: &LossTerms, config: &LossConfig) -> f64 {
    config.validity * terms.validity
        + config.proximity_weight() * terms.proximity
        + config.accepted_weight() * terms.accepted
        + config.denied_weight() * terms.denied
        + config.sparsity * terms.sparsity
        + config.entropy * terms.entropy
        + config.teaching * terms.teaching
}

/// Computes a term unless its weight is 0.
pub(super) fn unless_off(weight: f64, term: impl FnOnce(f64) -> f64) -> f64 {
    if weight == 0.0 { 0.0 } else { term(weight) }
}

/// The cross-entropy of acceptance, from the classifier's log-odds and their gradient.
///
/// # Paper
/// L_val = BCE(f(q), 1), which is softplus(−log-odds).
pub(super) fn validity(log_odds: f64, by_soft: &[f32], weight: f64, gradient: &mut [f64]) -> f64 {
    let slope = -weight / (1.0 + log_odds.exp());
    add_scaled(slope, by_soft, gradient);
    (-log_odds).max(0.0) + (-log_odds.abs()).exp().ln_1p()
}

/// The negative log-likelihood among accepted rows, from the log-likelihood and its gradient.
///
/// # Paper
/// L₊ = −log p⁺(q).
pub(super) fn accepted(log_likelihood: f64, by_soft: &[f32], weight: f64, gradient: &mut [f64]) -> f64 {
    add_scaled(-weight, by_soft, gradient);
    -log_likelihood.max(LEAST_LOG_LIKELIHOOD)
}

/// The log-likelihood among denied rows, from the log-likelihood and its gradient.
///
/// # Paper
/// L₋ = log p⁻(q).
pub(super) fn denied(log_likelihood: f64, by_soft: &[f32], weight: f64, gradient: &mut [f64]) -> f64 {
    add_scaled(weight, by_soft, gradient);
    log_likelihood.max(LEAST_LOG_LIKELIHOOD)
}

fn add_scaled(factor: f64, slopes: &[f32], gradient: &mut [f64]) {
    gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += factor * f64::from(*slope));
}

/// The expected number of changes beyond the budget, squared.
///
/// # Paper
/// L_prox = max(0, Σ (1 − q_j(x_j)) − B)², for each row.
pub(super) fn proximity(
    free: &[FreeFeature],
    q: &[f64],
    budget: f64,
    weight: f64,
    gradient: &mut [f64],
) -> f64 {
    let changes: f64 = free.iter().map(|feature| 1.0 - q[feature.own]).sum();
    let excess = (changes - budget).max(0.0);
    free.iter().for_each(|feature| gradient[feature.own] -= 2.0 * weight * excess);
    excess * excess
}

/// The mean surprise of the free features staying as they are.
///
/// # Paper
/// L_sparse = 1/|M| Σ −log q_j(x_j), over the features that this person may change.
pub(super) fn sparsity(free: &[FreeFeature], q: &[f64], weight: f64, gradient: &mut [f64]) -> f64 {
    let share = 1.0 / free.len().max(1) as f64;
    let costs = free.iter().map(|feature| surprise(feature.own, q, weight * share, gradient));
    share * costs.sum::<f64>()
}

/// The mean entropy of the free features.
///
/// # Paper
/// L_ent = 1/|M| Σ_j −Σ_a q_{j,a} log q_{j,a}, over the features that this person may change.
pub(super) fn entropy(free: &[FreeFeature], q: &[f64], weight: f64, gradient: &mut [f64]) -> f64 {
    let share = 1.0 / free.len().max(1) as f64;
    let mut sum = 0.0;
    for place in free.iter().flat_map(|feature| feature.codes.clone()) {
        let log = q[place].max(LEAST_PROBABILITY).ln();
        sum -= q[place] * log;
        gradient[place] -= weight * share * if q[place] > LEAST_PROBABILITY { log + 1.0 } else { log };
    }
    share * sum
}

/// The cross-entropy of the teacher's recourse: the mean of −log q_j(t_j) over the free features; 0 without a teacher.
/// Beyond [`TAUGHT_FEATURES`] of them it is a sum in the same proportion, since the likelihoods beside it are sums too.
/// Not in the paper.
pub(super) fn teaching(free: &[FreeFeature], q: &[f64], weight: f64, gradient: &mut [f64]) -> f64 {
    let share = 1.0 / free.len().clamp(1, TAUGHT_FEATURES) as f64;
    let targets = free.iter().filter_map(|feature| feature.target);
    share * targets.map(|target| surprise(target, q, weight * share, gradient)).sum::<f64>()
}

/// −log q of one code.
fn surprise(place: usize, q: &[f64], weight: f64, gradient: &mut [f64]) -> f64 {
    if q[place] > LEAST_PROBABILITY {
        gradient[place] -= weight / q[place];
    }
    -q[place].max(LEAST_PROBABILITY).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHT: f64 = 0.7;

    /// Two free features, of 2 and 3 codes, around one that is not free.
    fn free() -> Vec<FreeFeature> {
        vec![
            FreeFeature { codes: 0..2, own: 0, target: Some(1) },
            FreeFeature { codes: 4..7, own: 5, target: Some(5) },
        ]
    }

    const Q: [f64; 7] = [0.25, 0.75, 0.0, 1.0, 0.5, 0.2, 0.3];

    /// The value of a term, whose gradient is compared with finite differences.
    fn checked(term: impl Fn(&[f64], &mut [f64]) -> f64) -> f64 {
        let mut gradient = [0.0; Q.len()];
        let value = term(&Q, &mut gradient);
        for place in (0..Q.len()).filter(|&place| Q[place] > 0.0) {
            let moved = |by: f64| {
                let mut q = Q;
                q[place] += by;
                term(&q, &mut [0.0; Q.len()])
            };
            let expected = WEIGHT * (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((gradient[place] - expected).abs() < 1e-6, "{} is not {expected}", gradient[place]);
        }
        value
    }

    #[test]
    fn proximity_is_the_squared_excess_over_the_budget() {
        let value = checked(|q, gradient| proximity(&free(), q, 1.0, WEIGHT, gradient));
        assert!((value - 0.55_f64.powi(2)).abs() < 1e-12);
        assert_eq!(checked(|q, gradient| proximity(&free(), q, 1.6, WEIGHT, gradient)), 0.0);
    }

    #[test]
    fn sparsity_is_the_mean_surprise_of_staying() {
        let value = checked(|q, gradient| sparsity(&free(), q, WEIGHT, gradient));
        assert!((value + (0.25_f64.ln() + 0.2_f64.ln()) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn entropy_is_the_mean_entropy_of_the_free_features() {
        let value = checked(|q, gradient| entropy(&free(), q, WEIGHT, gradient));
        let plogp = |p: f64| p * p.ln();
        let expected = -[0.25, 0.75, 0.5, 0.2, 0.3].map(plogp).iter().sum::<f64>() / 2.0;
        assert!((value - expected).abs() < 1e-12);
    }

    #[test]
    fn teaching_is_the_mean_surprise_of_the_target() {
        let value = checked(|q, gradient| teaching(&free(), q, WEIGHT, gradient));
        assert!((value + (0.75_f64.ln() + 0.2_f64.ln()) / 2.0).abs() < 1e-12);
        let untaught: Vec<FreeFeature> =
            free().into_iter().map(|feature| FreeFeature { target: None, ..feature }).collect();
        assert_eq!(checked(|q, gradient| teaching(&untaught, q, WEIGHT, gradient)), 0.0);
    }

    #[test]
    fn a_wide_row_is_taught_by_a_sum_over_its_features() {
        let teaching_of = |features: usize| {
            let free: Vec<FreeFeature> = (0..features)
                .map(|feature| FreeFeature {
                    codes: 2 * feature..2 * feature + 2,
                    own: 2 * feature,
                    target: Some(2 * feature),
                })
                .collect();
            teaching(&free, &vec![0.5; 2 * features], WEIGHT, &mut vec![0.0; 2 * features])
        };
        assert!((teaching_of(16) - teaching_of(3)).abs() < 1e-12);
        assert!((teaching_of(64) - 4.0 * teaching_of(16)).abs() < 1e-12);
    }

    /// With a linear score as the classifier.
    #[test]
    fn validity_is_the_cross_entropy_of_acceptance() {
        let slopes: [f32; Q.len()] = [1.0, -2.0, 0.5, 0.25, 0.0, 3.0, -1.5];
        let log_odds = |q: &[f64]| q.iter().zip(slopes).map(|(q, slope)| q * f64::from(slope)).sum::<f64>();
        let value = checked(|q, gradient| validity(log_odds(q), &slopes, WEIGHT, gradient));
        assert!((value + (1.0 / (1.0 + (-log_odds(&Q)).exp())).ln()).abs() < 1e-12);
        let mut gradient = [0.0; Q.len()];
        assert_eq!(validity(1000.0, &slopes, WEIGHT, &mut gradient), 0.0);
        assert_eq!(validity(-1000.0, &slopes, WEIGHT, &mut gradient), 1000.0);
        assert!(gradient.iter().all(|slope| slope.is_finite()));
    }

    /// With a product of two leaves as the circuits.
    #[test]
    fn plausibility_draws_to_the_accepted_and_away_from_the_denied() {
        let leaves = [[0.1, 0.9], [0.6, 0.4]];
        let leaf = |q: &[f64], at: usize| q[2 * at] * leaves[at][0] + q[2 * at + 1] * leaves[at][1];
        let slopes = |q: &[f64]| -> Vec<f32> {
            (0..4).map(|place| (leaves[place / 2][place % 2] / leaf(q, place / 2)) as f32).collect()
        };
        let log = |q: &[f64]| (leaf(q, 0) * leaf(q, 1)).ln();
        let value = checked(|q, gradient| accepted(log(q), &slopes(q), WEIGHT, gradient));
        assert!((value + log(&Q)).abs() < 1e-12);
        let value = checked(|q, gradient| denied(log(q), &slopes(q), WEIGHT, gradient));
        assert!((value - log(&Q)).abs() < 1e-12);
        assert!(accepted(f64::NEG_INFINITY, &[0.0; 7], WEIGHT, &mut [0.0; 7]).is_finite());
    }

    #[test]
    fn certainty_keeps_every_term_finite() {
        let q = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0];
        let mut gradient = [0.0; 7];
        let values = [
            sparsity(&free(), &q, WEIGHT, &mut gradient),
            entropy(&free(), &q, WEIGHT, &mut gradient),
            teaching(&free(), &q, WEIGHT, &mut gradient),
        ];
        assert!(values.iter().chain(&gradient).all(|number| number.is_finite()));
        assert_eq!(values[1], 0.0);
    }
}
