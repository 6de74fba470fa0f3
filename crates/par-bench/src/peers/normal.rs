//! Numbers of the standard normal distribution.

use std::f64::consts::TAU;

use rand::{Rng, RngExt};

/// A number of the standard normal distribution, by Box and Muller.
pub(super) fn normal(rng: &mut impl Rng) -> f64 {
    let (radius, angle): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - radius).ln()).sqrt() * (TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn moments_are_those_of_the_distribution() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let draws: Vec<f64> = (0..20_000).map(|_| normal(&mut rng)).collect();
        let moment = |power: i32| draws.iter().map(|draw| draw.powi(power)).sum::<f64>() / 20_000.0;
        assert!(moment(1).abs() < 0.03, "mean {}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.05, "variance {}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.3, "fourth moment {}", moment(4));
    }
}
