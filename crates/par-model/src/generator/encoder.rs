//! The neighbourhood of a factual as a short vector.

use rand::Rng;

use crate::network::{Network, Trace};

/// Describes each neighbour, averages the descriptions, and projects the mean.
///
/// # Paper
/// h = ρ(1/K Σ ψ(u⁽ᵏ⁾)) of "Neighborhood Encoder": ψ has two layers with ReLU after both, ρ is linear.
/// Without neighbours the mean is zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    /// ψ without its last ReLU.
    pub describe: Network,
    /// ρ.
    pub project: Network,
}

/// How many numbers describe a neighbour: its distance and its log-likelihood.
pub const DESCRIPTOR: usize = 2;

/// The values of a forward pass, kept for [`Encoder::backward`].
#[derive(Clone, Debug, Default)]
pub struct EncoderTrace {
    described: Trace,
    projected: Trace,
    /// The outputs of ψ, after its last ReLU.
    descriptions: Vec<f32>,
}

impl EncoderTrace {
    /// An empty buffer for the descriptors, row by row and neighbour by neighbour.
    pub fn descriptors(&mut self) -> &mut Vec<f32> {
        self.described.inputs()
    }
}

impl Encoder {
    /// An encoder with random parameters.
    pub fn new(width: usize, embedding: usize, rng: &mut impl Rng) -> Self {
        let [describe, project] = Self::widths(width, embedding);
        Self { describe: Network::new(&describe, rng), project: Network::new(&project, rng) }
    }

    /// The widths of both networks.
    pub fn widths(width: usize, embedding: usize) -> [Vec<usize>; 2] {
        [vec![DESCRIPTOR, width, width], vec![width, embedding]]
    }

    fn width(&self) -> usize {
        self.project.widths()[0]
    }

    /// The embeddings of `rows` rows, each with `neighbours` descriptors in `trace.descriptors()`.
    pub fn forward<'t>(&self, rows: usize, neighbours: usize, trace: &'t mut EncoderTrace) -> &'t [f32] {
        let EncoderTrace { described, projected, descriptions } = trace;
        descriptions.clear();
        descriptions.extend(self.describe.forward(described).iter().map(|value| value.max(0.0)));
        let means = projected.inputs();
        means.resize(rows * self.width(), 0.0);
        if neighbours > 0 {
            let share = 1.0 / neighbours as f32;
            let of_row = descriptions.chunks_exact(neighbours * self.width());
            for (mean, descriptions) in means.chunks_exact_mut(self.width()).zip(of_row) {
                for description in descriptions.chunks_exact(self.width()) {
                    mean.iter_mut().zip(description).for_each(|(mean, value)| *mean += value);
                }
                mean.iter_mut().for_each(|mean| *mean *= share);
            }
        }
        self.project.forward(projected)
    }

    /// Back-propagation: from the gradient by the embeddings of the last [`Encoder::forward`], adds the gradient by the
    /// parameters to `gradient`, first ψ's, then ρ's.
    pub fn backward(
        &self,
        neighbours: usize,
        trace: &EncoderTrace,
        by_embedding: &[f32],
        gradient: &mut [f32],
    ) {
        let (of_describe, of_project) = gradient.split_at_mut(self.describe.parameters().len());
        let by_means = self.project.backward(&trace.projected, by_embedding, of_project);
        if neighbours == 0 {
            return;
        }
        let share = 1.0 / neighbours as f32;
        let by_mean = by_means.chunks_exact(self.width());
        let slopes = by_mean.flat_map(|slopes| std::iter::repeat_n(slopes, neighbours)).flatten();
        let by_descriptions: Vec<f32> = (trace.descriptions.iter().zip(slopes))
            .map(|(value, slope)| if *value > 0.0 { slope * share } else { 0.0 })
            .collect();
        self.describe.backward(&trace.described, &by_descriptions, of_describe);
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn encoder() -> (Encoder, Vec<f32>) {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut encoder = Encoder::new(6, 2, &mut rng);
        let parameters = encoder.describe.parameters_mut().iter_mut();
        parameters.for_each(|parameter| *parameter += rng.random_range(-0.1..0.1));
        let descriptors = (0..3 * 4 * DESCRIPTOR).map(|_| rng.random_range(-1.0..1.0)).collect();
        (encoder, descriptors)
    }

    fn embeddings(encoder: &Encoder, rows: usize, neighbours: usize, descriptors: &[f32]) -> Vec<f32> {
        let mut trace = EncoderTrace::default();
        trace.descriptors().extend_from_slice(descriptors);
        encoder.forward(rows, neighbours, &mut trace).to_vec()
    }

    #[test]
    fn rows_have_the_same_embedding_alone_and_in_a_batch() {
        let (encoder, descriptors) = encoder();
        let alone: Vec<f32> =
            descriptors.chunks(8).flat_map(|descriptors| embeddings(&encoder, 1, 4, descriptors)).collect();
        assert_eq!(embeddings(&encoder, 3, 4, &descriptors), alone);
    }

    #[test]
    fn the_embedding_does_not_depend_on_how_often_a_neighbour_is_repeated() {
        let (encoder, descriptors) = encoder();
        let once = embeddings(&encoder, 1, 1, &descriptors[..2]);
        let twice = embeddings(&encoder, 1, 2, &[&descriptors[..2], &descriptors[..2]].concat());
        assert!(once.iter().zip(twice).all(|(once, twice)| (once - twice).abs() < 1e-6));
    }

    #[test]
    fn without_neighbours_the_embedding_is_the_bias_of_the_projection() {
        let (mut encoder, _) = encoder();
        let biases = encoder.project.parameters().len() - 2;
        encoder.project.parameters_mut()[biases..].copy_from_slice(&[0.5, -0.25]);
        assert_eq!(embeddings(&encoder, 2, 0, &[]), [0.5, -0.25, 0.5, -0.25]);
    }
}
