//! What every code of every feature adds to the first layer of a network.

use par_circuit::{Code, OPEN};
use par_data::Candidates;

use super::super::NeuralClassifier;

/// For every code of every feature, and for its unknown code, what it adds to the units of the first layer.
#[derive(Clone, Debug)]
pub(in super::super) struct Addends {
    cardinalities: Vec<usize>,
    /// The place of each feature's first code. The unknown code follows the last.
    starts: Vec<usize>,
    width: usize,
    /// `[place][unit]`.
    sums: Vec<f64>,
    /// The sum of the inputs' absolute values, for every place.
    magnitudes: Vec<f64>,
    /// The sum of the inputs, some of them negated; see [`Addends::push`].
    signed: Vec<f64>,
}

impl Addends {
    /// None yet, for a first layer with so many units.
    pub(in super::super) fn new(cardinalities: Vec<usize>, width: usize) -> Self {
        let starts = cardinalities
            .iter()
            .scan(0, |next, codes| Some(std::mem::replace(next, *next + codes + 1)))
            .collect();
        Self { cardinalities, starts, width, sums: Vec::new(), magnitudes: Vec::new(), signed: Vec::new() }
    }

    /// Those of a network over one-hot rows.
    pub(in super::super) fn of_codes(network: &NeuralClassifier, cardinalities: &[usize]) -> Self {
        let first = network.first_layer();
        let mut addends = Self::new(cardinalities.to_vec(), first.biases.len());
        let mut inputs = 0..;
        for &codes in cardinalities {
            for input in inputs.by_ref().take(codes) {
                addends.push(first.weights_of(input).iter().map(|&weight| f64::from(weight)), 1.0, 1.0);
            }
            addends.push(std::iter::repeat_n(0.0, first.biases.len()), 0.0, 0.0);
        }
        addends
    }

    /// Those of a network over one-hot rows, for the choices of a person's candidates.
    pub(in super::super) fn of_choices(network: &NeuralClassifier, candidates: &Candidates<'_>) -> Self {
        let first = network.first_layer();
        let width = first.biases.len();
        let mut addends = Self::new(candidates.counts(), width);
        let mut push = |input: Option<usize>| match input {
            Some(input) => {
                addends.push(first.weights_of(input).iter().map(|&weight| f64::from(weight)), 1.0, 1.0);
            }
            None => addends.push(std::iter::repeat_n(0.0, width), 0.0, 0.0),
        };
        for (feature, &offset) in network.offsets.iter().enumerate() {
            for candidate in candidates.of(feature) {
                push((candidate.code != OPEN).then(|| offset + usize::from(candidate.code)));
            }
            push(None);
        }
        addends
    }

    /// Adds the next code: feature by feature, all codes and then the unknown one. Of the inputs that `signed` adds up
    /// the same are negated for all codes.
    pub(in super::super) fn push(
        &mut self,
        sums: impl IntoIterator<Item = f64>,
        magnitude: f64,
        signed: f64,
    ) {
        self.sums.extend(sums);
        self.magnitudes.push(magnitude);
        self.signed.push(signed);
    }

    pub(super) fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    /// How many units the first layer has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn place(&self, feature: usize, code: Code) -> usize {
        self.starts[feature] + usize::from(code).min(self.cardinalities[feature])
    }

    pub(super) fn sums(&self, place: usize) -> &[f64] {
        &self.sums[place * self.width..][..self.width]
    }

    pub(super) fn magnitude(&self, place: usize) -> f64 {
        self.magnitudes[place]
    }

    pub(super) fn signed(&self, place: usize) -> f64 {
        self.signed[place]
    }

    /// What a row adds, and the sum of its inputs' absolute values.
    pub(super) fn of_row(&self, row: &[Code]) -> (Vec<f64>, f64) {
        let mut sums = vec![0.0; self.width];
        let mut magnitude = 0.0;
        for (feature, &code) in row.iter().enumerate() {
            let place = self.place(feature, code);
            sums.iter_mut().zip(self.sums(place)).for_each(|(sum, own)| *sum += own);
            magnitude += self.magnitude(place);
        }
        (sums, magnitude)
    }
}
