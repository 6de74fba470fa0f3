//! Sums of probabilities that are kept as logarithms.

/// `ln(sum(exp(x)))`, without overflow; −∞ for no terms.
pub(crate) fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + terms.map(|term| (term - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::log_sum_exp;

    #[test]
    fn sums_far_below_the_smallest_float() {
        let sum = log_sum_exp([-2000.0, -2000.0].into_iter());
        assert!((sum - (-2000.0 + 2.0_f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn no_mass_is_minus_infinity() {
        assert_eq!(log_sum_exp([f64::NEG_INFINITY; 2].into_iter()), f64::NEG_INFINITY);
        assert_eq!(log_sum_exp(std::iter::empty()), f64::NEG_INFINITY);
    }
}
