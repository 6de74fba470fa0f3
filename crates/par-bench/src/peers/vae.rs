//! A conditional variational autoencoder over codes, trained with our networks and Adam.
//!
//! Inputs are one-hot codes, outputs a distribution over the codes of each feature; both parts also see a condition.

use par_circuit::Code;
use par_data::UNKNOWN;
use par_fit::adam::Adam;
use par_model::classifier::neural::{offsets, ones};
use par_model::network::{Network, Trace};
use rand::{Rng, RngExt};

use super::normal::normal;

/// Dimensions of the latent space.
const LATENT: usize = 8;
/// Units of the hidden layer of each part.
const HIDDEN: usize = 64;
/// Rows of a training step.
const BATCH: usize = 64;
const RATE: f64 = 3e-3;
/// The weight of the divergence from the prior.
const DIVERGENCE: f32 = 0.5;

/// A row to learn from.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) codes: Vec<Code>,
    pub(super) condition: Vec<f32>,
}

/// A further loss of a decoded row: from its condition and distributions, writes its gradient by the distributions
/// into a buffer of zeros.
pub(super) type FurtherLoss<'l> = &'l dyn Fn(&[f32], &[f32], &mut [f32]);

pub(super) struct Vae {
    cardinalities: Vec<usize>,
    offsets: Vec<usize>,
    encoder: Network,
    decoder: Network,
}

impl Vae {
    /// Trains an autoencoder for a number of steps.
    pub(super) fn train(
        cardinalities: Vec<usize>,
        examples: &[Example],
        steps: usize,
        further: FurtherLoss<'_>,
        rng: &mut impl Rng,
    ) -> Self {
        let codes: usize = cardinalities.iter().sum();
        let condition = examples.first().map_or(0, |example| example.condition.len());
        let mut vae = Self {
            offsets: offsets(&cardinalities),
            cardinalities,
            encoder: Network::new(&[codes + condition, HIDDEN, 2 * LATENT], rng),
            decoder: Network::new(&[LATENT + condition, HIDDEN, codes], rng),
        };
        let [encoder, decoder] = [&vae.encoder, &vae.decoder].map(|network| network.parameters().len());
        let mut adam = Adam::new(encoder + decoder, RATE);
        let mut traces = [Trace::default(), Trace::default()];
        for _ in 0..if examples.is_empty() { 0 } else { steps } {
            let batch: Vec<&Example> =
                (0..BATCH).map(|_| &examples[rng.random_range(0..examples.len())]).collect();
            let gradient = vae.gradient(&batch, further, &mut traces, rng);
            adam.step(&mut [&mut vae.encoder, &mut vae.decoder], &gradient);
        }
        vae
    }

    /// The gradient of the mean loss of a batch by the parameters of both parts.
    fn gradient(
        &self,
        batch: &[&Example],
        further: FurtherLoss<'_>,
        [encoding, decoding]: &mut [Trace; 2],
        rng: &mut impl Rng,
    ) -> Vec<f32> {
        let share = 1.0 / batch.len() as f32;
        let inputs = encoding.inputs();
        batch.iter().for_each(|example| self.write_inputs(example, inputs));
        let encoded = self.encoder.forward(encoding).to_vec();
        let noise: Vec<f32> = (0..batch.len() * LATENT).map(|_| normal(rng) as f32).collect();
        let latent = decoding.inputs();
        for (row, example) in batch.iter().enumerate() {
            for place in 0..LATENT {
                let (mean, spread) = self.moments(&encoded, row, place);
                latent.push(mean + spread * noise[row * LATENT + place]);
            }
            latent.extend_from_slice(&example.condition);
        }
        let mut slopes = self.decoder.forward(decoding).to_vec();
        for (example, logits) in batch.iter().zip(slopes.chunks_exact_mut(self.codes())) {
            self.row_gradient(example, further, logits);
            logits.iter_mut().for_each(|slope| *slope *= share);
        }
        let [of_encoder, of_decoder] = [&self.encoder, &self.decoder].map(|part| part.parameters().len());
        let mut gradient = vec![0.0; of_encoder + of_decoder];
        let (by_encoder, by_decoder) = gradient.split_at_mut(of_encoder);
        let by_latent = self.decoder.backward(decoding, &slopes, by_decoder);
        let width = self.decoder.widths()[0];
        let mut by_encoded = vec![0.0; encoded.len()];
        for row in 0..batch.len() {
            for place in 0..LATENT {
                let (mean, spread) = self.moments(&encoded, row, place);
                let slope = by_latent[row * width + place];
                let by = &mut by_encoded[row * 2 * LATENT..][..2 * LATENT];
                by[place] = slope + share * DIVERGENCE * mean;
                by[LATENT + place] = 0.5 * slope * noise[row * LATENT + place] * spread
                    + 0.5 * share * DIVERGENCE * (spread * spread - 1.0);
            }
        }
        self.encoder.backward(encoding, &by_encoded, by_encoder);
        gradient
    }

    /// Replaces the logits of a row by the gradient of its loss: cross-entropy and the further loss.
    fn row_gradient(&self, example: &Example, further: FurtherLoss<'_>, logits: &mut [f32]) {
        self.softmax(logits);
        let soft = logits.to_vec();
        let mut by_soft = vec![0.0; soft.len()];
        further(&example.condition, &soft, &mut by_soft);
        for (feature, &start) in self.offsets.iter().enumerate() {
            let range = start..start + self.cardinalities[feature];
            let mean: f32 = range.clone().map(|place| soft[place] * by_soft[place]).sum();
            let is_known = example.codes[feature] != UNKNOWN;
            for place in range {
                logits[place] =
                    soft[place] * (by_soft[place] - mean) + if is_known { soft[place] } else { 0.0 };
            }
        }
        ones(&self.offsets, &example.codes).for_each(|place| logits[place] -= 1.0);
    }

    /// The number of codes of all features.
    fn codes(&self) -> usize {
        self.cardinalities.iter().sum()
    }

    /// Mean and deviation of a dimension of the latent code of a row.
    fn moments(&self, encoded: &[f32], row: usize, place: usize) -> (f32, f32) {
        let encoded = &encoded[row * 2 * LATENT..][..2 * LATENT];
        // Limits keep the deviation finite while the network is still random.
        (encoded[place], (0.5 * encoded[LATENT + place].clamp(-10.0, 10.0)).exp())
    }

    fn write_inputs(&self, example: &Example, inputs: &mut Vec<f32>) {
        let start = inputs.len();
        inputs.resize(start + self.codes(), 0.0);
        ones(&self.offsets, &example.codes).for_each(|place| inputs[start + place] = 1.0);
        inputs.extend_from_slice(&example.condition);
    }

    fn softmax(&self, logits: &mut [f32]) {
        for (&start, &codes) in self.offsets.iter().zip(&self.cardinalities) {
            let logits = &mut logits[start..start + codes];
            let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            logits.iter_mut().for_each(|logit| *logit = (*logit - highest).exp());
            let sum: f32 = logits.iter().sum();
            logits.iter_mut().for_each(|logit| *logit /= sum);
        }
    }

    /// The latent code of a row: the mean and the deviation of each dimension.
    pub(super) fn encode(&self, example: &Example) -> Vec<(f32, f32)> {
        let mut trace = Trace::default();
        self.write_inputs(example, trace.inputs());
        let encoded = self.encoder.forward(&mut trace);
        (0..LATENT).map(|place| self.moments(encoded, 0, place)).collect()
    }

    /// For each latent code, the row of the likeliest codes.
    pub(super) fn decode(&self, latent: &[Vec<f32>], condition: &[f32], trace: &mut Trace) -> Vec<Vec<Code>> {
        let inputs = trace.inputs();
        for latent in latent {
            inputs.extend_from_slice(latent);
            inputs.extend_from_slice(condition);
        }
        let rows = self.decoder.forward(trace).chunks_exact(self.codes());
        let likeliest = |logits: &[f32]| -> Vec<Code> {
            let of_feature = self.offsets.iter().zip(&self.cardinalities);
            let best = of_feature.map(|(&start, &codes)| {
                let logit = |code: &Code| logits[start + usize::from(*code)];
                // The first of equals.
                let codes = (0..codes as Code).rev();
                codes.max_by(|one, other| logit(one).total_cmp(&logit(other))).unwrap_or(0)
            });
            best.collect()
        };
        rows.map(likeliest).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Two kinds of rows, in which every feature says which kind it is.
    fn examples() -> Vec<Example> {
        let row = |kind: Code| Example { codes: vec![kind, 2 - kind, kind], condition: vec![] };
        vec![row(0), row(1), row(0), row(1), row(2)]
    }

    #[test]
    fn rows_are_decoded_from_their_own_latent_codes() {
        let rng = &mut ChaCha8Rng::seed_from_u64(7);
        let vae = Vae::train(vec![3, 3, 3], &examples(), 800, &|_, _, _| {}, rng);
        for example in examples() {
            let latent = vae.encode(&example).into_iter().map(|(mean, _)| mean).collect();
            let decoded = vae.decode(&[latent], &[], &mut Trace::default());
            assert_eq!(decoded, [example.codes]);
        }
    }

    #[test]
    fn a_further_loss_moves_what_is_decoded() {
        let rng = &mut ChaCha8Rng::seed_from_u64(7);
        // It is low where the first feature has its last code.
        let last = |_: &[f32], _: &[f32], slopes: &mut [f32]| slopes[2] -= 40.0;
        let vae = Vae::train(vec![3, 3, 3], &examples(), 800, &last, rng);
        let latent = vae.encode(&examples()[0]).into_iter().map(|(mean, _)| mean).collect();
        assert_eq!(vae.decode(&[latent], &[], &mut Trace::default())[0][0], 2);
    }
}
