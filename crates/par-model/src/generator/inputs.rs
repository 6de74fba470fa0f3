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
}

impl GeneratorShape {
    /// The shape for these features, with the scales of the pool.
    pub fn new(
        config: &GeneratorConfig,
        cardinalities: Vec<usize>,
        immutable: Vec<usize>,
        pool: &AcceptedPool,
    ) -> Self {
        Self {
            conditioning: config.conditioning,
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
