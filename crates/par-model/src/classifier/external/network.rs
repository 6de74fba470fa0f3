//! An external network, over codes.
//!
//! Its first layer sums over features. What the median value of every bin adds to the sums is stored; for one person,
//! what every candidate adds is computed.

use par_circuit::{Ball, Code, OPEN};
use par_data::{Candidates, CellError, Discretizer};
use par_onnx::{Dense, Layers};

use super::super::certificate::{Addends, CertifiedNetwork, End, ParameterBox};
use super::super::{Classifier, NeuralClassifier, bounds};
use super::{Range, View};
use crate::error::RowError;
use crate::network::{Layer, Network};

/// A network over codes that stand for medians, and the tables to adapt it to one person.
#[derive(Clone, Debug)]
pub(super) struct NetworkTables {
    /// The network where each code stands for the median of its bin.
    typical: NeuralClassifier,
    /// What a missing cell of each feature adds. The biases include it, so codes add the difference.
    missing: Vec<Vec<f64>>,
    /// The first layer over the numbers of the sources.
    weights: Dense,
    /// The numbers for the median of every bin and for every category, `[feature][code]`.
    numbers: Vec<Vec<SourceNumbers>>,
}

/// The sources of a feature whose numbers are not zero, and their numbers.
type SourceNumbers = Vec<(usize, f32)>;

impl NetworkTables {
    /// `None` when the score of some row would not be finite.
    pub(super) fn new(
        layers: &Layers,
        view: &View<'_>,
        discretizer: &Discretizer,
    ) -> Result<Option<Self>, CellError> {
        let cardinalities = discretizer.cardinalities();
        let weights = layers.dense[0].clone();
        let mut missing = Vec::with_capacity(cardinalities.len());
        let mut biases: Vec<f64> = weights.biases.iter().map(|&bias| f64::from(bias)).collect();
        let mut median = Vec::new();
        let mut all_numbers = Vec::with_capacity(cardinalities.len());
        for (feature, &codes) in cardinalities.iter().enumerate() {
            let without = match view.missing(feature) {
                Some(numbers) => sums(view, &weights, feature, &numbers),
                None => vec![0.0; biases.len()],
            };
            biases.iter_mut().zip(&without).for_each(|(bias, sum)| *bias += sum);
            let mut of_codes = Vec::with_capacity(codes);
            for code in 0..codes as Code {
                let text = discretizer.typical_text(feature, code);
                let numbers = view.numbers(feature, &text)?;
                median.extend(difference(&sums(view, &weights, feature, &numbers), &without));
                of_codes.push(not_zero(view, feature, &numbers).collect());
            }
            all_numbers.push(of_codes);
            missing.push(without);
        }
        let widths: Vec<usize> = std::iter::once(cardinalities.iter().sum())
            .chain(layers.dense.iter().map(|dense| dense.biases.len()))
            .collect();
        let mut parameters = median;
        parameters.extend(biases.iter().map(|&bias| bias as f32));
        for dense in &layers.dense[1..] {
            parameters.extend_from_slice(&dense.weights);
            parameters.extend_from_slice(&dense.biases);
        }
        let network = Network::from_parameters(&widths, parameters).expect("layers fit each other");
        let typical = NeuralClassifier::new(cardinalities, network, layers.activations.clone());
        Ok(typical.is_finite().then_some(Self { typical, missing, weights, numbers: all_numbers }))
    }

    pub(super) fn typical(&self) -> &NeuralClassifier {
        &self.typical
    }

    pub(super) fn of_person(
        &self,
        view: &View<'_>,
        cells: &[&str],
        candidates: &Candidates<'_>,
    ) -> Result<NeuralClassifier, RowError> {
        let width = self.weights.biases.len();
        let typical = self.typical.first_layer();
        let mut codes = Vec::with_capacity(candidates.counts().iter().sum::<usize>() * width);
        for (feature, cell) in cells.iter().enumerate() {
            let added = |cell: &str| {
                let with = sums(view, &self.weights, feature, &view.numbers(feature, cell)?);
                Ok::<Vec<f32>, CellError>(difference(&with, &self.missing[feature]).collect())
            };
            codes.extend(added(cell)?);
            for candidate in &candidates.of(feature)[1..] {
                if candidate.number.is_nan() {
                    let code = self.typical.offsets[feature] + usize::from(candidate.code);
                    codes.extend_from_slice(&typical.weights[code * width..][..width]);
                } else {
                    codes.extend(added(&candidate.number.to_string())?);
                }
            }
        }
        let classifier = self.typical.over(candidates.counts(), codes, typical.biases.to_vec());
        if classifier.is_finite() { Ok(classifier) } else { Err(RowError::NoScore { found: f64::INFINITY }) }
    }

    /// The classifier over the candidates of one person whose score bounds those of all networks near this one.
    pub(super) fn certified(
        &self,
        view: &View<'_>,
        cells: &[&str],
        candidates: &Candidates<'_>,
        delta: f64,
        end: End,
    ) -> Result<CertifiedNetwork<'_>, RowError> {
        let own: Vec<SourceNumbers> = cells
            .iter()
            .enumerate()
            .map(|(feature, cell)| Ok(not_zero(view, feature, &view.numbers(feature, cell)?).collect()))
            .collect::<Result<_, CellError>>()?;
        let mut addends = Addends::new(candidates.counts(), self.weights.biases.len());
        for (feature, own) in own.iter().enumerate() {
            let mut push = |numbers: &[(usize, f32)]| {
                // Negated where the person's own number is negative.
                let is_negative =
                    |source: usize| own.iter().any(|&(other, number)| other == source && number < 0.0);
                let signed = |&(source, number): &(usize, f32)| {
                    f64::from(if is_negative(source) { -number } else { number })
                };
                let signed = numbers.iter().map(signed).sum();
                addends.push(weighted(&self.weights, numbers), magnitude(numbers), signed);
            };
            push(own);
            for candidate in &candidates.of(feature)[1..] {
                if candidate.number.is_nan() {
                    push(&self.numbers[feature][usize::from(candidate.code)]);
                } else {
                    let numbers = view.numbers(feature, &candidate.number.to_string())?;
                    push(&not_zero(view, feature, &numbers).collect::<Vec<_>>());
                }
            }
            let missing = view.missing(feature).unwrap_or_default();
            push(&not_zero(view, feature, &missing).collect::<Vec<_>>());
        }
        CertifiedNetwork::new(self.parameter_box(delta), addends, end)
    }

    /// Bounds on the scores of a row by all networks near this one; NaN or infinite where a number is.
    pub(super) fn certified_bounds(
        &self,
        view: &View<'_>,
        cells: &[&str],
        delta: f64,
    ) -> Result<[f64; 2], CellError> {
        let mut numbers = SourceNumbers::new();
        for (feature, cell) in cells.iter().enumerate() {
            numbers.extend(not_zero(view, feature, &view.numbers(feature, cell)?));
        }
        Ok(self.parameter_box(delta).bounds(&weighted(&self.weights, &numbers), magnitude(&numbers)))
    }

    fn parameter_box(&self, delta: f64) -> ParameterBox<'_> {
        let first = Layer { weights: &self.weights.weights, biases: &self.weights.biases };
        let layers = std::iter::once(first).chain(self.typical.layers().skip(1));
        ParameterBox::new(layers, &self.typical.activations, delta)
    }

    /// The sums of the first layer for these numbers of each feature's sources.
    pub(super) fn first_sums(&self, view: &View<'_>, numbers: &[Vec<f32>]) -> Vec<f64> {
        let mut all: Vec<f64> = self.weights.biases.iter().map(|&bias| f64::from(bias)).collect();
        for (feature, numbers) in numbers.iter().enumerate() {
            let own = sums(view, &self.weights, feature, numbers);
            all.iter_mut().zip(own).for_each(|(all, sum)| *all += sum);
        }
        all
    }

    /// Bounds on the score of a row, whose features have these numbers and these sums, with some within ranges.
    pub(super) fn bounds_within(
        &self,
        view: &View<'_>,
        numbers: &[Vec<f32>],
        biases: &[f64],
        ranges: &[Range],
    ) -> Option<(f64, f64)> {
        // A network over the ranges alone: the ends of each are its two codes, and the cell itself is the unknown one.
        // What lies between the ends is covered, since each number enters the sums as a line.
        let mut added = Vec::with_capacity(2 * ranges.len() * biases.len());
        for (feature, ends) in ranges {
            let own = sums(view, &self.weights, *feature, &numbers[*feature]);
            for end in ends {
                added.extend(difference(&sums(view, &self.weights, *feature, end), &own));
            }
        }
        let classifier =
            self.typical.over(vec![2; ranges.len()], added, biases.iter().map(|&bias| bias as f32));
        let mut ball = Ball::new(classifier.cardinalities(), vec![OPEN; ranges.len()], ranges.len());
        (0..ranges.len()).for_each(|range| ball.offer(range, &[0, 1]));
        classifier.is_finite().then(|| bounds::hull_bounds(&classifier, &ball))
    }
}

/// What a feature adds to the first layer, for these numbers of its sources.
fn sums(view: &View<'_>, weights: &Dense, feature: usize, numbers: &[f32]) -> Vec<f64> {
    weighted(weights, &not_zero(view, feature, numbers).collect::<SourceNumbers>())
}

/// The sources of a feature, for which these are the numbers, where they are not zero.
fn not_zero<'a>(
    view: &'a View<'_>,
    feature: usize,
    numbers: &'a [f32],
) -> impl Iterator<Item = (usize, f32)> + 'a {
    let all = view.sources[feature].iter().copied().zip(numbers.iter().copied());
    all.filter(|(_, number)| *number != 0.0)
}

/// What the numbers of some sources add to the first layer.
fn weighted(weights: &Dense, numbers: &[(usize, f32)]) -> Vec<f64> {
    let width = weights.biases.len();
    let mut sums = vec![0.0; width];
    for &(source, number) in numbers {
        let line = &weights.weights[source * width..][..width];
        sums.iter_mut().zip(line).for_each(|(sum, &weight)| *sum += f64::from(number) * f64::from(weight));
    }
    sums
}

fn magnitude(numbers: &[(usize, f32)]) -> f64 {
    numbers.iter().map(|(_, number)| f64::from(number.abs())).sum()
}

fn difference<'a>(with: &'a [f64], without: &'a [f64]) -> impl Iterator<Item = f32> + 'a {
    with.iter().zip(without).map(|(with, without)| (with - without) as f32)
}
