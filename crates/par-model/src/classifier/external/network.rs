//! An external network, over codes.
//!
//! Its first layer sums over features. Except for a person's own cells, what a code adds to the sums is the same for
//! all people: it is stored for the lowest, the highest and the median value of every bin, and assembled for each
//! person.

use par_circuit::{Ball, Code, OPEN};
use par_data::{CellError, Discretizer};
use par_onnx::{Dense, Layers};

use super::super::{Classifier, NeuralClassifier, bounds};
use super::{LimitedCode, Representative, View, representatives};
use crate::error::RowError;
use crate::network::Network;

/// A network over codes that stand for medians, and the tables to adapt it to one person.
#[derive(Clone, Debug)]
pub(super) struct NetworkTables {
    /// What each code adds to the first layer if it stands for the lowest value of its bin, `[code][unit]`.
    lowest: Vec<f32>,
    /// The same for the highest value.
    highest: Vec<f32>,
    /// The network where each code stands for the median of its bin.
    typical: NeuralClassifier,
    /// What a missing cell of each feature adds. The biases include it, so codes add the difference.
    missing: Vec<Vec<f64>>,
    /// The first layer over the numbers of the sources.
    weights: Dense,
}

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
        let [mut lowest, mut highest, mut median] = [const { Vec::new() }; 3];
        for (feature, &codes) in cardinalities.iter().enumerate() {
            let without = match view.missing(feature) {
                Some(numbers) => sums(view, &weights, feature, &numbers),
                None => vec![0.0; biases.len()],
            };
            biases.iter_mut().zip(&without).for_each(|(bias, sum)| *bias += sum);
            for code in 0..codes as Code {
                let texts = representatives(discretizer, feature, code);
                for (table, text) in [&mut lowest, &mut highest, &mut median].into_iter().zip(&texts) {
                    let with = sums(view, &weights, feature, &view.numbers(feature, text)?);
                    table.extend(difference(&with, &without));
                }
            }
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
        let finite = typical.is_finite()
            && [&lowest, &highest].iter().all(|table| table.iter().all(|sum| sum.is_finite()));
        Ok(finite.then_some(Self { lowest, highest, typical, missing, weights }))
    }

    pub(super) fn typical(&self) -> &NeuralClassifier {
        &self.typical
    }

    pub(super) fn of_person(
        &self,
        view: &View<'_>,
        cells: &[&str],
        factual: &[Code],
        representative: Representative,
        limited: &[LimitedCode],
    ) -> Result<NeuralClassifier, RowError> {
        let sides = representative.sides(&self.lowest, &self.highest);
        let width = self.weights.biases.len();
        let typical = self.typical.first_layer();
        let (mut codes, mut biases) = (typical.weights.to_vec(), typical.biases.to_vec());
        for (feature, (&own, &cell)) in factual.iter().zip(cells).enumerate() {
            let with = sums(view, &self.weights, feature, &view.numbers(feature, cell)?);
            let own_sums = difference(&with, &self.missing[feature]);
            if own == OPEN {
                biases.iter_mut().zip(own_sums).for_each(|(bias, sum)| *bias += sum);
                continue;
            }
            let start = self.typical.offsets[feature] * width;
            let place = start + usize::from(own) * width;
            let end = start + self.typical.cardinalities()[feature] * width;
            if let Some((below, above)) = sides {
                codes[start..place].copy_from_slice(&below[start..place]);
                codes[place + width..end].copy_from_slice(&above[place + width..end]);
            }
            codes[place..place + width].iter_mut().zip(own_sums).for_each(|(to, sum)| *to = sum);
        }
        for (feature, code, cell) in limited {
            let with = sums(view, &self.weights, *feature, &view.numbers(*feature, cell)?);
            let place = (self.typical.offsets[*feature] + usize::from(*code)) * width;
            let sums = difference(&with, &self.missing[*feature]);
            codes[place..place + width].iter_mut().zip(sums).for_each(|(to, sum)| *to = sum);
        }
        let classifier = self.typical.over(self.typical.cardinalities().to_vec(), codes, biases);
        if classifier.is_finite() { Ok(classifier) } else { Err(RowError::NoScore { found: f64::INFINITY }) }
    }

    /// See [`ExternalClassifier::least_log_odds`](super::ExternalClassifier::least_log_odds).
    pub(super) fn least_log_odds(
        &self,
        view: &View<'_>,
        cells: &[&str],
        ranges: &[(usize, [&str; 2])],
    ) -> Option<f64> {
        let mut biases: Vec<f64> = self.weights.biases.iter().map(|&bias| f64::from(bias)).collect();
        for (feature, cell) in cells.iter().enumerate() {
            let own = sums(view, &self.weights, feature, &view.numbers(feature, cell).ok()?);
            biases.iter_mut().zip(own).for_each(|(bias, sum)| *bias += sum);
        }
        // A network over the ranges alone: the ends of each are its two codes, and the cell itself is the unknown one.
        // What lies between the ends is covered, since each number enters the sums as a line.
        let mut ends = Vec::with_capacity(2 * ranges.len() * biases.len());
        for &(feature, texts) in ranges {
            let is_line = |&source: &usize| view.onnx.sources()[source].is_affine();
            if !view.sources[feature].iter().all(is_line) {
                return None;
            }
            let own = sums(view, &self.weights, feature, &view.numbers(feature, cells[feature]).ok()?);
            for text in texts {
                let with = sums(view, &self.weights, feature, &view.numbers(feature, text).ok()?);
                ends.extend(difference(&with, &own));
            }
        }
        let classifier =
            self.typical.over(vec![2; ranges.len()], ends, biases.iter().map(|&bias| bias as f32));
        let mut ball = Ball::new(classifier.cardinalities(), vec![OPEN; ranges.len()], ranges.len());
        (0..ranges.len()).for_each(|range| ball.offer(range, &[0, 1]));
        classifier.is_finite().then(|| bounds::hull_bounds(&classifier, &ball).0)
    }
}

/// What a feature adds to the first layer, for these numbers of its sources.
fn sums(view: &View<'_>, weights: &Dense, feature: usize, numbers: &[f32]) -> Vec<f64> {
    let width = weights.biases.len();
    let mut sums = vec![0.0; width];
    for (&source, &number) in view.sources[feature].iter().zip(numbers) {
        if number != 0.0 {
            let line = &weights.weights[source * width..][..width];
            sums.iter_mut()
                .zip(line)
                .for_each(|(sum, &weight)| *sum += f64::from(number) * f64::from(weight));
        }
    }
    sums
}

fn difference<'a>(with: &'a [f64], without: &'a [f64]) -> impl Iterator<Item = f32> + 'a {
    with.iter().zip(without).map(|(with, without)| (with - without) as f32)
}
