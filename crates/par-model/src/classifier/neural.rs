//! A small network over one-hot rows as a classifier.

use par_circuit::{Ball, Code, Kernel, OPEN, vectorised};
use par_data::Candidates;
use par_onnx::Activation;

use super::{Classifier, Relaxation, bounds};
use crate::network::{Layer, Network};

/// A network from one-hot rows over hidden layers to the log-odds of acceptance.
///
/// Networks that `par-fit` trains have ReLU after every hidden layer; external ones may have other activations.
///
/// # Paper
/// The classifier of the appendix on classifier training. The sigmoid is left to
/// [`probability`](super::probability).
#[derive(Clone, Debug, PartialEq)]
pub struct NeuralClassifier {
    cardinalities: Vec<usize>,
    /// Where the codes of each feature start among the inputs.
    pub(super) offsets: Vec<usize>,
    pub(super) network: Network,
    /// One per hidden layer.
    pub(super) activations: Vec<Activation>,
    /// Bound on the rounding error of every unit of every layer; see [`bounds`].
    pub(super) slack: Vec<f32>,
}

impl NeuralClassifier {
    /// A classifier of stored parameters; `None` when their number does not fit the layers, or some row's log-odds
    /// might not be finite.
    pub fn from_parameters(
        cardinalities: Vec<usize>,
        hidden: &[usize],
        parameters: Vec<f32>,
    ) -> Option<Self> {
        let codes = cardinalities.iter().try_fold(0_usize, |sum, &codes| sum.checked_add(codes))?;
        let widths: Vec<usize> = [codes].into_iter().chain(hidden.iter().copied()).chain([1]).collect();
        let network = Network::from_parameters(&widths, parameters)?;
        let activations = vec![Activation::Relu; hidden.len()];
        let classifier = Self::new(cardinalities, network, activations);
        classifier.is_finite().then_some(classifier)
    }

    /// A network whose inputs are the codes of all features, and whose one output is the log-odds.
    pub(super) fn new(cardinalities: Vec<usize>, network: Network, activations: Vec<Activation>) -> Self {
        let offsets = offsets(&cardinalities);
        let slack = bounds::slack(&cardinalities, &network, &activations);
        Self { cardinalities, offsets, network, activations, slack }
    }

    /// The same network over other codes: `codes` holds what each adds to the first layer, `[code][unit]`.
    pub(super) fn over(
        &self,
        cardinalities: Vec<usize>,
        codes: Vec<f32>,
        biases: impl IntoIterator<Item = f32>,
    ) -> Self {
        let mut widths = self.network.widths().to_vec();
        let of_first = (widths[0] + 1) * widths[1];
        widths[0] = cardinalities.iter().sum();
        let mut parameters = codes;
        parameters.extend(biases);
        parameters.extend_from_slice(&self.network.parameters()[of_first..]);
        let network = Network::from_parameters(&widths, parameters).expect("one row of units per code");
        Self::new(cardinalities, network, self.activations.clone())
    }

    /// The same network over the choices of a person's candidates, each of which stands for its code.
    pub(super) fn over_choices(&self, candidates: &Candidates<'_>) -> Self {
        let first = self.network.layer(0);
        let width = first.biases.len();
        let mut rows = Vec::new();
        for (feature, &offset) in self.offsets.iter().enumerate() {
            for candidate in candidates.of(feature) {
                match candidate.code {
                    OPEN => rows.resize(rows.len() + width, 0.0),
                    code => rows.extend_from_slice(first.weights_of(offset + usize::from(code))),
                }
            }
        }
        self.over(candidates.counts(), rows, first.biases.to_vec())
    }

    pub(super) fn first_layer(&self) -> Layer<'_> {
        self.network.layer(0)
    }

    /// Whether the log-odds of every row are finite.
    pub(super) fn is_finite(&self) -> bool {
        // The slack is proportional to a bound on every value of any row. No early exit, so that the loop vectorises.
        let numbers = self.network.parameters().iter().chain(&self.slack);
        numbers.fold(true, |finite, number| finite & number.is_finite())
    }

    /// Number of codes of all features, widths of the hidden layers, and 1 for the log-odds.
    pub fn widths(&self) -> &[usize] {
        self.network.widths()
    }

    /// Layer by layer the weights, `[input][output]`, and the biases.
    pub fn parameters(&self) -> &[f32] {
        self.network.parameters()
    }

    /// Its layers in order, the first over the one-hot inputs, the last with the log-odds.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = Layer<'_>> {
        (0..self.network.depth()).map(|layer| self.network.layer(layer))
    }

    /// A buffer for the values of every layer; those of the first start as its biases.
    pub(super) fn values(&self) -> Vec<f32> {
        let mut values = vec![0.0; self.slack.len()];
        let biases = self.network.layer(0).biases;
        values[..biases.len()].copy_from_slice(biases);
        values
    }

    /// Computes the values of every layer from those of the first before its activation, and returns the output.
    #[inline(always)]
    pub(super) fn finish(&self, values: &mut [f32]) -> f32 {
        self.finish_and(values, |_, _| {})
    }

    /// As [`NeuralClassifier::finish`]; `look` gets the start of each hidden layer and its values before activation.
    #[inline(always)]
    fn finish_and(&self, values: &mut [f32], mut look: impl FnMut(usize, &[f32])) -> f32 {
        let mut start = 0;
        for layer in 1..self.network.depth() {
            let width = self.network.widths()[layer];
            let (inputs, outputs) = values[start..].split_at_mut(width);
            let this = self.network.layer(layer);
            let outputs = &mut outputs[..this.biases.len()];
            outputs.copy_from_slice(this.biases);
            look(start, inputs);
            activate(self.activations[layer - 1], inputs);
            add_rows(&inputs.iter().copied().enumerate(), this.weights, outputs);
            start += width;
        }
        values[start]
    }
}

/// [`Classifier::log_odds`] of a network.
struct LogOdds<'a> {
    classifier: &'a NeuralClassifier,
    row: &'a [Code],
    log_odds: &'a mut f32,
}

impl Kernel for LogOdds<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { classifier, row, log_odds } = self;
        let mut values = classifier.values();
        let width = classifier.network.widths()[1];
        let inputs = ones(&classifier.offsets, row).map(|input| (input, 1.0));
        add_rows(&inputs, classifier.first_layer().weights, &mut values[..width]);
        *log_odds = classifier.finish(&mut values);
    }
}

/// How many neighbours of a row go through the layers abreast: two AVX registers.
const ABREAST: usize = 16;

/// A unit's values for some neighbours.
type Lanes = [f32; ABREAST];

/// Outputs whose sums stay in registers.
const OUTPUTS: usize = 4;

/// [`Classifier::neighbours`] of a network: a change of one code replaces one row of the first layer.
struct Neighbours<'a> {
    classifier: &'a NeuralClassifier,
    row: &'a [Code],
    log_odds: &'a mut [f64],
}

impl Kernel for Neighbours<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { classifier, row, log_odds } = self;
        let first = classifier.first_layer();
        let mut own = first.biases.to_vec();
        let inputs = ones(&classifier.offsets, row).map(|input| (input, 1.0));
        add_rows(&inputs, first.weights, &mut own);
        let mut others = own.clone();
        let widest = classifier.network.widths()[1..].iter().copied().max().unwrap_or(1);
        let mut buffers = [0, 1].map(|_| vec![[0.0; ABREAST]; widest.next_multiple_of(OUTPUTS)]);
        let mut places = log_odds.chunks_mut(ABREAST);
        let mut lane = 0;
        for ((&offset, &cardinality), &code) in
            classifier.offsets.iter().zip(&classifier.cardinalities).zip(row)
        {
            others.copy_from_slice(&own);
            if code != OPEN {
                let weights = first.weights_of(offset + usize::from(code));
                others.iter_mut().zip(weights).for_each(|(other, weight)| *other -= weight);
            }
            for input in offset..offset + cardinality {
                let values = others.iter().zip(first.weights_of(input)).map(|(other, weight)| other + weight);
                buffers[0].iter_mut().zip(values).for_each(|(lanes, value)| lanes[lane] = value);
                lane += 1;
                if lane == ABREAST {
                    classifier.finish_abreast(&mut buffers, places.next().expect("a place for each code"));
                    lane = 0;
                }
            }
        }
        if let Some(places) = places.next() {
            classifier.finish_abreast(&mut buffers, places);
        }
    }
}

impl NeuralClassifier {
    /// The log-odds of some rows, from their values of the first layer before its activation in the first buffer.
    #[inline(always)]
    fn finish_abreast(&self, buffers: &mut [Vec<Lanes>; 2], log_odds: &mut [f64]) {
        for layer in 1..self.network.depth() {
            let this = self.network.layer(layer);
            let width = this.biases.len();
            let [inputs, outputs] = buffers;
            let inputs = &mut inputs[..self.network.widths()[layer]];
            inputs.iter_mut().for_each(|lanes| activate(self.activations[layer - 1], lanes));
            for (tile, outputs) in outputs.chunks_exact_mut(OUTPUTS).take(width.div_ceil(OUTPUTS)).enumerate()
            {
                // The last tile repeats its last output.
                let column = |output: usize| (tile * OUTPUTS + output).min(width - 1);
                let mut sums: [Lanes; OUTPUTS] =
                    std::array::from_fn(|output| [this.biases[column(output)]; ABREAST]);
                for (input, lanes) in inputs.iter().enumerate() {
                    let weights = this.weights_of(input);
                    for (output, sum) in sums.iter_mut().enumerate() {
                        let weight = weights[column(output)];
                        sum.iter_mut().zip(lanes).for_each(|(sum, value)| *sum += weight * value);
                    }
                }
                outputs.copy_from_slice(&sums);
            }
            buffers.swap(0, 1);
        }
        log_odds.iter_mut().zip(&buffers[0][0]).for_each(|(place, &value)| *place = f64::from(value));
    }
}

impl Classifier for NeuralClassifier {
    fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        let mut log_odds = 0.0;
        vectorised(LogOdds { classifier: self, row, log_odds: &mut log_odds });
        f64::from(log_odds)
    }

    fn neighbours(&self, row: &[Code], log_odds: &mut [f64]) {
        assert_eq!(log_odds.len(), self.network.widths()[0], "one place a code");
        vectorised(Neighbours { classifier: self, row, log_odds });
    }

    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        let mut values = self.values();
        let width = self.network.widths()[1];
        let inputs = soft.iter().copied().enumerate().filter(|(_, weight)| *weight != 0.0);
        add_rows(&inputs, self.network.layer(0).weights, &mut values[..width]);
        let mut before = vec![0.0; values.len()];
        let log_odds = self.finish_and(&mut values, |start, inputs| {
            before[start..start + inputs.len()].copy_from_slice(inputs);
        });

        let mut slopes = vec![1.0];
        let mut end = values.len() - 1;
        for layer in (1..self.network.depth()).rev() {
            let this = self.network.layer(layer);
            let start = end - self.network.widths()[layer];
            let slope_of = |(input, value): (usize, &f32)| match slope(self.activations[layer - 1], *value) {
                0.0 => 0.0,
                slope => slope * dot(this.weights_of(input), &slopes),
            };
            slopes = before[start..end].iter().enumerate().map(slope_of).collect();
            end = start;
        }
        let first = self.network.layer(0);
        for (input, slope) in gradient.iter_mut().enumerate() {
            *slope = dot(first.weights_of(input), &slopes);
        }
        f64::from(log_odds)
    }

    fn log_odds_bounds(&self, ball: &Ball) -> (f64, f64) {
        bounds::log_odds_bounds(self, ball)
    }

    fn relaxation(&self, ball: &Ball) -> Option<Relaxation> {
        Some(bounds::relaxation(self, ball))
    }
}

/// Where the codes of each feature start when those of all features are concatenated.
pub fn offsets(cardinalities: &[usize]) -> Vec<usize> {
    let next = |start: &mut usize, &codes: &usize| Some(std::mem::replace(start, *start + codes));
    cardinalities.iter().scan(0, next).collect()
}

/// The one-hot inputs of a row that are 1; an unknown code has none.
#[inline(always)]
pub fn ones(offsets: &[usize], row: &[Code]) -> impl Iterator<Item = usize> + Clone {
    debug_assert_eq!(row.len(), offsets.len(), "one code per feature");
    let known = offsets.iter().zip(row).filter(|(_, code)| **code != OPEN);
    known.map(|(&offset, &code)| offset + usize::from(code))
}

/// Applies an activation to every value.
#[inline(always)]
pub(super) fn activate(activation: Activation, values: &mut [f32]) {
    match activation {
        Activation::Relu => values.iter_mut().for_each(|value| *value = value.max(0.0)),
        other => values.iter_mut().for_each(|value| *value = other.value(f64::from(*value)) as f32),
    }
}

fn slope(activation: Activation, value: f32) -> f32 {
    activation.slope(f64::from(value)) as f32
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds rows of `weights`, each multiplied by its factor, to `outputs`, in the order of `rows`.
#[inline(always)]
pub fn add_rows(rows: &(impl Iterator<Item = (usize, f32)> + Clone), weights: &[f32], outputs: &mut [f32]) {
    let width = outputs.len();
    let whole = width - width % 16;
    (0..whole).step_by(16).for_each(|column| add_tile::<16>(rows.clone(), weights, outputs, column));
    let mut column = whole;
    if width & 8 != 0 {
        add_tile::<8>(rows.clone(), weights, outputs, column);
        column += 8;
    }
    if width & 4 != 0 {
        add_tile::<4>(rows.clone(), weights, outputs, column);
        column += 4;
    }
    if width & 2 != 0 {
        add_tile::<2>(rows.clone(), weights, outputs, column);
        column += 2;
    }
    if width & 1 != 0 {
        add_tile::<1>(rows.clone(), weights, outputs, column);
    }
}

/// [`add_rows`] for a number of columns that fits into registers.
#[inline(always)]
fn add_tile<const COLUMNS: usize>(
    rows: impl Iterator<Item = (usize, f32)>,
    weights: &[f32],
    outputs: &mut [f32],
    column: usize,
) {
    let width = outputs.len();
    let mut sums = [0.0; COLUMNS];
    sums.copy_from_slice(&outputs[column..][..COLUMNS]);
    for (row, factor) in rows {
        let line = &weights[row * width + column..][..COLUMNS];
        for (sum, weight) in sums.iter_mut().zip(line) {
            *sum += factor * weight;
        }
    }
    outputs[column..][..COLUMNS].copy_from_slice(&sums);
}

#[cfg(test)]
pub(super) mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    pub(crate) fn random(cardinalities: &[usize], hidden: &[usize], seed: u64) -> NeuralClassifier {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let codes = cardinalities.iter().sum();
        let widths: Vec<usize> = [codes].into_iter().chain(hidden.iter().copied()).chain([1]).collect();
        let mut parameters = Network::new(&widths, &mut rng).parameters().to_vec();
        parameters.iter_mut().for_each(|parameter| *parameter += rng.random_range(-0.2..0.2));
        NeuralClassifier::from_parameters(cardinalities.to_vec(), hidden, parameters)
            .expect("the parameters fit the layers")
    }

    #[test]
    fn layers_are_all_parameters_in_order() {
        let classifier = random(&[3, 2], &[4, 3], 7);
        let shapes: Vec<[usize; 2]> =
            classifier.layers().map(|layer| [layer.weights.len(), layer.biases.len()]).collect();
        assert_eq!(shapes, [[20, 4], [12, 3], [3, 1]]);
        let parameters: Vec<f32> =
            classifier.layers().flat_map(|layer| [layer.weights, layer.biases].concat()).collect();
        assert_eq!(parameters, classifier.parameters());
    }

    /// A random classifier with the given activation after every hidden layer.
    pub(crate) fn with_activation(
        cardinalities: &[usize],
        hidden: &[usize],
        seed: u64,
        activation: Activation,
    ) -> NeuralClassifier {
        let classifier = random(cardinalities, hidden, seed);
        NeuralClassifier::new(cardinalities.to_vec(), classifier.network, vec![activation; hidden.len()])
    }

    pub(crate) const ACTIVATIONS: [Activation; 7] = [
        Activation::Relu,
        Activation::LeakyRelu(0.2),
        Activation::Elu(1.5),
        Activation::Tanh,
        Activation::Sigmoid,
        Activation::Softplus,
        Activation::Clip(-0.5, 0.8),
    ];

    fn one_hot(classifier: &NeuralClassifier, row: &[Code]) -> Vec<f32> {
        let mut soft = vec![0.0; classifier.widths()[0]];
        ones(&classifier.offsets, row).for_each(|input| soft[input] = 1.0);
        soft
    }

    #[test]
    fn neighbours_score_as_rows_of_their_own() {
        for hidden in [&[][..], &[5], &[20, 7]] {
            for activation in ACTIVATIONS {
                let classifier = with_activation(&[3, 70, 1, 4], hidden, 3, activation);
                for row in [[2, 41, 0, 3], [OPEN, 0, 0, OPEN]] {
                    let mut found = vec![0.0; 78];
                    classifier.neighbours(&row, &mut found);
                    let mut places = found.iter();
                    for (feature, &cardinality) in classifier.cardinalities().iter().enumerate() {
                        for code in 0..cardinality as Code {
                            let mut changed = row;
                            changed[feature] = code;
                            let (found, expected) =
                                (places.next().expect("a place"), classifier.log_odds(&changed));
                            assert!((found - expected).abs() < 1e-5, "{changed:?}: {found}, {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_scores_as_its_one_hot_weights_do() {
        for hidden in [&[][..], &[5], &[20, 10], &[7, 3, 18]] {
            let classifier = random(&[3, 2, 4], hidden, 1);
            for row in [[0, 1, 3], [2, OPEN, 0], [OPEN; 3]] {
                let mut gradient = vec![0.0; 9];
                let soft = classifier.log_odds_gradient(&one_hot(&classifier, &row), &mut gradient);
                assert_eq!(classifier.log_odds(&row), soft);
            }
        }
    }

    #[test]
    fn a_logistic_regression_adds_its_weights() {
        let classifier = NeuralClassifier::from_parameters(vec![2, 2], &[], vec![1.0, 2.0, 4.0, 8.0, 16.0])
            .expect("four weights and a bias");
        assert_eq!(classifier.log_odds(&[1, 0]), 22.0);
        assert_eq!(classifier.log_odds(&[OPEN, 1]), 24.0);
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let shapes = [&[][..], &[6], &[8, 5], &[6, 5, 4]];
        let cases = shapes.into_iter().flat_map(|hidden| ACTIVATIONS.map(|activation| (hidden, activation)));
        for (hidden, activation) in cases {
            let classifier = with_activation(&[3, 2, 4], hidden, 2, activation);
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            let soft: Vec<f32> = (0..9).map(|_| rng.random_range(0.0..1.0)).collect();
            let mut gradient = vec![0.0; 9];
            classifier.log_odds_gradient(&soft, &mut gradient);
            for (place, &slope) in gradient.iter().enumerate() {
                let moved = |by: f32| {
                    let mut soft = soft.clone();
                    soft[place] += by;
                    classifier.log_odds_gradient(&soft, &mut [0.0; 9])
                };
                let expected = (moved(1e-3) - moved(-1e-3)) / 2e-3;
                assert!((f64::from(slope) - expected).abs() < 5e-3, "{slope} is not {expected}");
            }
        }
    }

    #[test]
    fn stored_parameters_must_fit_and_be_finite() {
        let stored = |parameters| NeuralClassifier::from_parameters(vec![2], &[1], parameters);
        assert!(stored(vec![0.0; 5]).is_some());
        assert!(stored(vec![0.0; 4]).is_none());
        assert!(stored(vec![f32::NAN; 5]).is_none());
    }
}
