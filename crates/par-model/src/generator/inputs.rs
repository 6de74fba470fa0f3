//! The numeric inputs of a generator.

use par_data::{Mask, UNKNOWN};
use serde::{Deserialize, Serialize};

use super::config::{Conditioning, GeneratorConfig};
use crate::pool::{AcceptedPool, Neighbour};

/// The centre and the spread that standardize an input of the generator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// The number that becomes 0.
    pub centre: f64,
    /// The distance from the centre that becomes 1. Above 0.
    pub spread: f64,
}

impl Scale {
    /// The largest magnitude of an input: the log-likelihood of an impossible row is −∞.
    const LIMIT: f64 = 10.0;

    fn apply(self, value: f64) -> f32 {
        ((value - self.centre) / self.spread).clamp(-Self::LIMIT, Self::LIMIT) as f32
    }

    fn is_sound(self) -> bool {
        self.centre.is_finite() && self.spread.is_finite() && self.spread > 0.0
    }
}

/// The shape of a generator: everything except its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorShape {
    /// Its inputs from a factual.
    pub conditioning: Conditioning,
    /// How many codes each feature has.
    pub cardinalities: Vec<usize>,
    /// The features that the schema marks immutable, ascending.
    pub immutable: Vec<usize>,
    /// Widths of the hidden layers.
    pub hidden: [usize; 2],
    /// Width of the layers that describe a neighbour.
    pub encoder: usize,
    /// Width of the neighbourhood embedding.
    pub embedding: usize,
    /// Standardizes log p⁺.
    pub log_likelihood: Scale,
    /// Standardizes distances.
    pub distance: Scale,
    /// Added to the logit of every feature's own code: to repeat a wide row would take the whole network otherwise.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stay: f64,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// How many features an untrained generator changes, about.
const FIRST_CHANGES: f64 = 2.0;

impl GeneratorShape {
    /// The shape for these features, with the scales of the pool.
    pub fn new(
        config: &GeneratorConfig,
        cardinalities: Vec<usize>,
        immutable: Vec<usize>,
        pool: &AcceptedPool,
    ) -> Self {
        let is_mutable = |feature: &usize| !immutable.contains(feature);
        let others: usize = (0..cardinalities.len())
            .filter(is_mutable)
            .map(|feature| cardinalities[feature].saturating_sub(1))
            .sum();
        let stay = match config.conditioning {
            Conditioning::Paper => 0.0,
            Conditioning::Extended => (others as f64 / FIRST_CHANGES).max(1.0).ln(),
        };
        Self {
            conditioning: config.conditioning,
            stay,
            immutable,
            hidden: config.hidden,
            encoder: config.encoder,
            embedding: config.embedding,
            log_likelihood: log_likelihood_scale(pool, cardinalities.len()),
            distance: Scale { centre: 0.0, spread: mean_distance(pool).max(1.0) },
            cardinalities,
        }
    }

    /// Whether the shape is valid.
    pub fn is_sound(&self) -> bool {
        let features = self.cardinalities.len();
        let codes = self.cardinalities.iter().try_fold(features, |sum, codes| sum.checked_add(*codes));
        !self.cardinalities.is_empty()
            && codes.is_some_and(|codes| codes < usize::MAX / 8)
            && self.immutable.iter().all(|&feature| feature < features)
            && self.immutable.is_sorted_by(|left, right| left < right)
            && [self.hidden[0], self.hidden[1], self.encoder, self.embedding].iter().all(|&width| width > 0)
            && self.stay.is_finite()
            && self.log_likelihood.is_sound()
            && self.distance.is_sound()
    }

    /// The number of codes of all features together.
    pub fn codes(&self) -> usize {
        self.cardinalities.iter().sum()
    }

    /// The number of inputs before the embedding.
    pub fn inputs(&self) -> usize {
        1 + match self.conditioning {
            Conditioning::Paper => self.immutable.iter().map(|&feature| self.cardinalities[feature]).sum(),
            Conditioning::Extended => self.codes() + self.cardinalities.len(),
        }
    }

    /// The widths of the network, from inputs to outputs.
    pub fn widths(&self) -> [usize; 4] {
        [self.inputs() + self.embedding, self.hidden[0], self.hidden[1], self.codes()]
    }

    /// Appends the inputs before the embedding. The block of an unknown code is all zeros.
    pub fn write_inputs(&self, mask: &Mask, log_likelihood: f64, inputs: &mut Vec<f32>) {
        let mut one_hot = |feature: usize| {
            let start = inputs.len();
            inputs.resize(start + self.cardinalities[feature], 0.0);
            let own = mask.factual()[feature];
            if own != UNKNOWN {
                inputs[start + usize::from(own)] = 1.0;
            }
        };
        match self.conditioning {
            Conditioning::Paper => self.immutable.iter().for_each(|&feature| one_hot(feature)),
            Conditioning::Extended => {
                (0..self.cardinalities.len()).for_each(&mut one_hot);
                let free = (0..self.cardinalities.len()).map(|feature| f32::from(mask.is_free(feature)));
                inputs.extend(free);
            }
        }
        inputs.push(self.log_likelihood.apply(log_likelihood));
    }

    /// Adds what every own code has beyond the outputs of the network.
    pub fn favour_own(&self, mask: &Mask, logits: &mut [f64]) {
        let mut start = 0;
        for (&own, &codes) in mask.factual().iter().zip(&self.cardinalities) {
            if own != UNKNOWN {
                logits[start + usize::from(own)] += self.stay;
            }
            start += codes;
        }
    }

    /// Appends the descriptor of each neighbour.
    ///
    /// # Paper
    /// u⁽ᵏ⁾ = (d(x, x⁽ᵏ⁾), log p⁺(x⁽ᵏ⁾)).
    pub fn write_descriptors(
        &self,
        pool: &AcceptedPool,
        neighbours: &[Neighbour],
        descriptors: &mut Vec<f32>,
    ) {
        for neighbour in neighbours {
            descriptors.push(self.distance.apply(neighbour.distance as f64));
            descriptors.push(self.log_likelihood.apply(pool.log_likelihoods()[neighbour.row]));
        }
    }
}

/// Mean and standard deviation of the pool's log-likelihoods.
fn log_likelihood_scale(pool: &AcceptedPool, features: usize) -> Scale {
    let values = pool.log_likelihoods();
    if values.is_empty() {
        return Scale { centre: 0.0, spread: features as f64 };
    }
    let count = values.len() as f64;
    let centre = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / count;
    Scale { centre, spread: variance.sqrt().max(0.1) }
}

/// In how many features two rows of the pool differ, on average over all pairs.
fn mean_distance(pool: &AcceptedPool) -> f64 {
    let rows = pool.rows();
    let mut counts: Vec<Vec<f64>> = rows.cardinalities().iter().map(|&codes| vec![0.0; codes]).collect();
    for row in rows.rows() {
        row.iter().zip(&mut counts).for_each(|(&code, counts)| counts[usize::from(code)] += 1.0);
    }
    let total = pool.len().max(1) as f64;
    let differ = |counts: &Vec<f64>| 1.0 - counts.iter().map(|count| (count / total).powi(2)).sum::<f64>();
    counts.iter().map(differ).sum()
}

#[cfg(test)]
mod tests {
    use par_circuit::Dataset;
    use par_data::Constraints;

    use super::*;
    use crate::test_world::World;

    fn shape(conditioning: Conditioning) -> GeneratorShape {
        let rows = Dataset::new(vec![3, 5, 4], Vec::new()).expect("no rows");
        let pool = AcceptedPool::from_parts(rows, Vec::new(), 3).expect("a pool");
        let config = GeneratorConfig { conditioning, ..GeneratorConfig::default() };
        GeneratorShape::new(&config, vec![3, 5, 4], vec![1], &pool)
    }

    #[test]
    fn known_own_codes_are_favoured_by_the_codes_that_are_open() {
        let world = World { cardinalities: vec![3, 5, 4], lines: vec![""; 3], rules: Vec::new() };
        let constraints = Constraints::new(&world.discretizer());
        let mut logits = [0.0; 12];
        shape(Conditioning::Extended).favour_own(&constraints.mask(&[1, UNKNOWN, 3], &[]), &mut logits);
        let stay = 2.5_f64.ln();
        assert_eq!(logits, [0.0, stay, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, stay]);
    }

    #[test]
    fn the_papers_shape_and_those_of_before_favour_no_code() {
        let paper = serde_json::to_string(&shape(Conditioning::Paper)).expect("JSON");
        assert!(!paper.contains("stay"), "{paper}");
        let read: GeneratorShape = serde_json::from_str(&paper).expect("a shape");
        assert_eq!(read.stay, 0.0);
    }
}
