//! Small networks of dense layers with ReLU between them: forward and backward.
//!
//! Products add their terms in a fixed order, for any number of rows and on every machine: the same seed trains the
//! same bytes, and a row has the same outputs alone and in a batch.

use par_circuit::{Kernel, vectorised};
use rand::{Rng, RngExt};

/// Dense layers, with ReLU after each but the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Inputs of the first layer, then the outputs of every layer.
    widths: Vec<usize>,
    /// Layer by layer the weights, `[input][output]`, and the biases.
    parameters: Vec<f32>,
}

/// One layer of a [`Network`].
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// `[input][output]`.
    pub weights: &'a [f32],
    /// One per output.
    pub biases: &'a [f32],
}

impl<'a> Layer<'a> {
    /// The weights of an input, one per output.
    pub fn weights_of(&self, input: usize) -> &'a [f32] {
        &self.weights[input * self.biases.len()..][..self.biases.len()]
    }
}

impl Network {
    /// A network with random weights, uniform and scaled for ReLU, and no biases.
    pub fn new(widths: &[usize], rng: &mut impl Rng) -> Self {
        let mut parameters = Vec::with_capacity(count_parameters(widths).unwrap_or(0));
        for layer in widths.windows(2) {
            let bound = (6.0 / layer[0].max(1) as f32).sqrt();
            parameters.extend((0..layer[0] * layer[1]).map(|_| rng.random_range(-bound..bound)));
            parameters.extend(std::iter::repeat_n(0.0, layer[1]));
        }
        Self { widths: widths.to_vec(), parameters }
    }

    /// A network of stored parameters; `None` when their number does not fit the widths.
    pub fn from_parameters(widths: &[usize], parameters: Vec<f32>) -> Option<Self> {
        let fits = widths.len() > 1 && count_parameters(widths) == Some(parameters.len());
        fits.then(|| Self { widths: widths.to_vec(), parameters })
    }

    /// Inputs of the first layer, then the outputs of every layer.
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// Layer by layer the weights, `[input][output]`, and the biases.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// As [`Network::parameters`], mutable.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// How many layers there are.
    pub fn depth(&self) -> usize {
        self.widths.len() - 1
    }

    /// A layer, from 0.
    pub fn layer(&self, layer: usize) -> Layer<'_> {
        let (start, split, end) = self.places(layer);
        Layer { weights: &self.parameters[start..split], biases: &self.parameters[split..end] }
    }

    /// The starts of a layer's weights and biases among the parameters, and the end of its biases.
    fn places(&self, layer: usize) -> (usize, usize, usize) {
        let size = |pair: &[usize]| (pair[0] + 1) * pair[1];
        let start: usize = self.widths.windows(2).take(layer).map(size).sum();
        let split = start + self.widths[layer] * self.widths[layer + 1];
        (start, split, split + self.widths[layer + 1])
    }

    /// The outputs of the rows of inputs in `trace.inputs()`.
    pub fn forward<'t>(&self, trace: &'t mut Trace) -> &'t [f32] {
        let rows = trace.values[0].len() / self.widths[0];
        trace.values.resize(self.widths.len(), Vec::new());
        for layer in 0..self.depth() {
            let (done, rest) = trace.values.split_at_mut(layer + 1);
            let (inputs, outputs) = (&done[layer], &mut rest[0]);
            let Layer { weights, biases } = self.layer(layer);
            outputs.clear();
            (0..rows).for_each(|_| outputs.extend_from_slice(biases));
            add_product(inputs, weights, outputs, self.widths[layer], self.widths[layer + 1]);
            if layer + 1 < self.depth() {
                outputs.iter_mut().for_each(|output| *output = output.max(0.0));
            }
        }
        &trace.values[self.depth()]
    }

    /// Back-propagation: from the gradient by the outputs of the last [`Network::forward`], adds the gradient by the
    /// parameters to `gradient` and returns the gradient by the inputs.
    pub fn backward(&self, trace: &Trace, by_outputs: &[f32], gradient: &mut [f32]) -> Vec<f32> {
        let rows = trace.values[0].len() / self.widths[0];
        let mut above = by_outputs.to_vec();
        for layer in (0..self.depth()).rev() {
            let (inputs, outputs) = (self.widths[layer], self.widths[layer + 1]);
            if layer + 1 < self.depth() {
                let values = above.iter_mut().zip(&trace.values[layer + 1]);
                values.filter(|(_, value)| **value <= 0.0).for_each(|(slope, _)| *slope = 0.0);
            }
            let (start, split, end) = self.places(layer);
            let values = transposed(&trace.values[layer], rows, inputs);
            add_product(&values, &above, &mut gradient[start..split], rows, outputs);
            for row in above.chunks_exact(outputs) {
                gradient[split..end].iter_mut().zip(row).for_each(|(bias, slope)| *bias += slope);
            }
            let weights = transposed(&self.parameters[start..split], inputs, outputs);
            let mut below = vec![0.0; rows * inputs];
            add_product(&above, &weights, &mut below, outputs, inputs);
            above = below;
        }
        above
    }
}

/// How many parameters a network of these widths has; `None` on overflow.
pub fn count_parameters(widths: &[usize]) -> Option<usize> {
    widths
        .windows(2)
        .try_fold(0_usize, |sum, layer| sum.checked_add(layer[0].checked_add(1)?.checked_mul(layer[1])?))
}

/// The values of every layer for some rows, kept for [`Network::backward`] and reused for the next rows.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    values: Vec<Vec<f32>>,
}

impl Trace {
    /// An empty buffer for the inputs of the next [`Network::forward`], row by row.
    pub fn inputs(&mut self) -> &mut Vec<f32> {
        if self.values.is_empty() {
            self.values.push(Vec::new());
        }
        self.values[0].clear();
        &mut self.values[0]
    }
}

fn transposed(matrix: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut transposed = vec![0.0; matrix.len()];
    for (row, line) in matrix.chunks_exact(columns.max(1)).enumerate() {
        line.iter().enumerate().for_each(|(column, value)| transposed[column * rows + row] = *value);
    }
    transposed
}

/// `c += a b`, where `a` has `inner` columns and `b` has `columns`.
fn add_product(a: &[f32], b: &[f32], c: &mut [f32], inner: usize, columns: usize) {
    if inner > 0 && columns > 0 {
        vectorised(Product { a, b, c, inner, columns });
    }
}

struct Product<'a> {
    a: &'a [f32],
    b: &'a [f32],
    c: &'a mut [f32],
    inner: usize,
    columns: usize,
}

/// Rows and columns of the tile of `c` that stays in registers.
const TILE: (usize, usize) = (4, 16);

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { a, b, c, inner, columns } = self;
        let mut rows = a.chunks_exact(TILE.0 * inner);
        let mut outputs = c.chunks_exact_mut(TILE.0 * columns);
        for (a, c) in rows.by_ref().zip(outputs.by_ref()) {
            add_rows::<{ TILE.0 }>(a, b, c, inner, columns);
        }
        let rest =
            rows.remainder().chunks_exact(inner).zip(outputs.into_remainder().chunks_exact_mut(columns));
        for (a, c) in rest {
            add_rows::<1>(a, b, c, inner, columns);
        }
    }
}

#[inline(always)]
fn add_rows<const ROWS: usize>(a: &[f32], b: &[f32], c: &mut [f32], inner: usize, columns: usize) {
    let mut column = 0;
    while column + TILE.1 <= columns {
        add_tile::<ROWS, { TILE.1 }>(a, b, c, inner, columns, column);
        column += TILE.1;
    }
    while column + 4 <= columns {
        add_tile::<ROWS, 4>(a, b, c, inner, columns, column);
        column += 4;
    }
    while column < columns {
        add_tile::<ROWS, 1>(a, b, c, inner, columns, column);
        column += 1;
    }
}

#[inline(always)]
fn add_tile<const ROWS: usize, const COLUMNS: usize>(
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    inner: usize,
    columns: usize,
    column: usize,
) {
    let mut sums = [[0.0; COLUMNS]; ROWS];
    for (row, sums) in sums.iter_mut().enumerate() {
        sums.copy_from_slice(&c[row * columns + column..][..COLUMNS]);
    }
    for (position, line) in b.chunks_exact(columns).enumerate() {
        let line = &line[column..][..COLUMNS];
        let factors: [f32; ROWS] = std::array::from_fn(|row| a[row * inner + position]);
        // Most inputs are zero: one-hot codes, and units after ReLU.
        if factors == [0.0; ROWS] {
            continue;
        }
        for (sums, factor) in sums.iter_mut().zip(factors) {
            for (sum, weight) in sums.iter_mut().zip(line) {
                *sum += factor * weight;
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        c[row * columns + column..][..COLUMNS].copy_from_slice(sums);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn random(widths: &[usize], rows: usize) -> (Network, Vec<f32>) {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut network = Network::new(widths, &mut rng);
        network.parameters_mut().iter_mut().for_each(|p| *p += rng.random_range(-0.1..0.1));
        let inputs = (0..rows * widths[0]).map(|_| rng.random_range(-1.0..1.0)).collect();
        (network, inputs)
    }

    fn outputs(network: &Network, inputs: &[f32]) -> Vec<f32> {
        let mut trace = Trace::default();
        trace.inputs().extend_from_slice(inputs);
        network.forward(&mut trace).to_vec()
    }

    /// Every output is one sum in written order, whatever tiles the products are cut into.
    #[test]
    fn rows_have_the_same_outputs_alone_and_in_a_batch() {
        let (network, inputs) = random(&[5, 23, 17, 3], 11);
        let together = outputs(&network, &inputs);
        let alone: Vec<f32> = inputs.chunks(5).flat_map(|row| outputs(&network, row)).collect();
        assert_eq!(together, alone);
    }

    #[test]
    fn outputs_agree_with_the_definition() {
        let (network, inputs) = random(&[2, 3, 1], 1);
        let [first, second] = [network.layer(0), network.layer(1)];
        let hidden: Vec<f32> = (0..3)
            .map(|unit| {
                let sum = |input: usize| inputs[input] * first.weights_of(input)[unit];
                (first.biases[unit] + sum(0) + sum(1)).max(0.0)
            })
            .collect();
        let expected = second.biases[0]
            + hidden.iter().zip(second.weights).map(|(value, weight)| value * weight).sum::<f32>();
        assert!((outputs(&network, &inputs)[0] - expected).abs() < 1e-6);
    }

    #[test]
    fn slopes_agree_with_finite_differences() {
        let (network, inputs) = random(&[4, 9, 6, 2], 5);
        let weights: Vec<f32> = (0..10).map(|position| 0.3 - 0.1 * position as f32).collect();
        let loss = |network: &Network, inputs: &[f32]| -> f64 {
            let outputs = outputs(network, inputs);
            outputs.iter().zip(&weights).map(|(output, weight)| f64::from(output * weight)).sum()
        };
        let mut trace = Trace::default();
        trace.inputs().extend_from_slice(&inputs);
        network.forward(&mut trace);
        let mut by_parameters = vec![0.0; network.parameters().len()];
        let by_inputs = network.backward(&trace, &weights, &mut by_parameters);

        let step = 1e-2;
        let close = |slope: f32, higher: f64, lower: f64| {
            let expected = (higher - lower) / (2.0 * f64::from(step));
            assert!((f64::from(slope) - expected).abs() < 2e-3, "{slope} is not {expected}");
        };
        for (place, &slope) in by_parameters.iter().enumerate() {
            let moved = |by: f32| {
                let mut network = network.clone();
                network.parameters_mut()[place] += by;
                loss(&network, &inputs)
            };
            close(slope, moved(step), moved(-step));
        }
        for (place, &slope) in by_inputs.iter().enumerate() {
            let moved = |by: f32| {
                let mut inputs = inputs.clone();
                inputs[place] += by;
                loss(&network, &inputs)
            };
            close(slope, moved(step), moved(-step));
        }
    }

    #[test]
    fn stored_parameters_must_fit_the_widths() {
        assert!(Network::from_parameters(&[2, 1], vec![0.0; 3]).is_some());
        assert!(Network::from_parameters(&[2, 1], vec![0.0; 4]).is_none());
        assert!(Network::from_parameters(&[2], vec![]).is_none());
        assert!(Network::from_parameters(&[usize::MAX, 2], vec![]).is_none());
    }
}
