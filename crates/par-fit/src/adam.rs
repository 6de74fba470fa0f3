//! Adam, the optimizer of all our networks.

use par_model::network::Network;

/// The state of Adam for any number of networks, concatenated.
#[derive(Clone, Debug)]
pub struct Adam {
    rate: f64,
    steps: i32,
    means: Vec<f32>,
    squares: Vec<f32>,
}

impl Adam {
    const DECAY: (f64, f64) = (0.9, 0.999);
    const EPSILON: f32 = 1e-8;

    /// A new state for this many parameters.
    pub fn new(parameters: usize, rate: f64) -> Self {
        Self { rate, steps: 0, means: vec![0.0; parameters], squares: vec![0.0; parameters] }
    }

    /// Sets the learning rate of the next steps.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
    }

    /// Updates the parameters of the networks, whose gradients are concatenated in `gradient`.
    pub fn step(&mut self, networks: &mut [&mut Network], gradient: &[f32]) {
        self.steps += 1;
        let (first, second) = Self::DECAY;
        let rate = self.rate * (1.0 - second.powi(self.steps)).sqrt() / (1.0 - first.powi(self.steps));
        let (first, second, rate) = (first as f32, second as f32, rate as f32);
        let parameters = networks.iter_mut().flat_map(|network| network.parameters_mut());
        let state = self.means.iter_mut().zip(&mut self.squares);
        for ((parameter, &slope), (mean, square)) in parameters.zip(gradient).zip(state) {
            *mean = first * *mean + (1.0 - first) * slope;
            *square = second * *square + (1.0 - second) * slope * slope;
            *parameter -= rate * *mean / (square.sqrt() + Self::EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn adam_minimises_a_quadratic() {
        let mut network = Network::new(&[1, 1], &mut ChaCha8Rng::seed_from_u64(7));
        let mut adam = Adam::new(2, 0.05);
        for _ in 0..500 {
            let gradient: Vec<f32> = network.parameters().iter().map(|parameter| parameter - 3.0).collect();
            adam.step(&mut [&mut network], &gradient);
        }
        assert!(network.parameters().iter().all(|parameter| (parameter - 3.0).abs() < 1e-2));
    }
}
