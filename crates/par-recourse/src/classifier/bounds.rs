//! Bounds on the log-odds of every row of a ball.
//!
//! A linear function of the one-hot row is largest in the ball where the changes that add most are made:
//! one a feature, as many as there may be. So every unit is bounded by linear functions of the row, which
//! follow from those of the units below when each ReLU that may be on or off gives way to a line above it
//! and one below it (CROWN, Zhang et al. 2018).

use par_circuit::{Ball, Kernel, OPEN, vectorised};

use super::Classifier;
use super::neural::{NeuralClassifier, add_rows, ones};
use crate::network::Network;

pub(super) fn log_odds_bounds(classifier: &NeuralClassifier, ball: &Ball) -> (f64, f64) {
    let reach = Reach::new(classifier, ball);
    let slack = f64::from(*classifier.slack.last().expect("a layer has units"));
    let (lower, upper) = match reach.changes {
        0 => {
            let log_odds = classifier.log_odds(ball.centre());
            (log_odds, log_odds)
        }
        1 => reach.exact(classifier),
        _ => return reach.relaxed(classifier),
    };
    (lower - slack, upper + slack)
}

/// How far single precision may be off for every unit of every layer, in a row as in its bounds.
///
/// A sum of n terms is off by less than n roundings of the sum of their magnitudes. Bounds add up the
/// centre and differences of two weights, at most three times the magnitude of a row.
pub(super) fn slack(cardinalities: &[usize], network: &Network) -> Vec<f32> {
    let mut terms = cardinalities.len() + 1;
    let mut slack = Vec::new();
    let first = network.layer(0);
    let mut magnitudes: Vec<f32> = first.biases.iter().map(|bias| bias.abs()).collect();
    let mut input = 0;
    for &codes in cardinalities {
        for (unit, magnitude) in magnitudes.iter_mut().enumerate() {
            let weights = (input..input + codes).map(|input| first.weights_of(input)[unit].abs());
            *magnitude += weights.fold(0.0, f32::max);
        }
        input += codes;
    }
    for layer in 1..=network.depth() {
        slack.extend(magnitudes.iter().map(|magnitude| 2.0 * f32::EPSILON * terms as f32 * magnitude));
        if layer == network.depth() {
            break;
        }
        let this = network.layer(layer);
        terms += magnitudes.len() + 1;
        let mut above: Vec<f32> = this.biases.iter().map(|bias| bias.abs()).collect();
        for (input, below) in magnitudes.iter().enumerate() {
            let weights = above.iter_mut().zip(this.weights_of(input));
            weights.for_each(|(magnitude, weight)| *magnitude += weight.abs() * below);
        }
        magnitudes = above;
    }
    slack
}

/// The units of the first layer over a ball: their values before ReLU at the centre, and what the changes
/// of the open features add to them.
struct Reach {
    centre: Vec<f32>,
    /// A row of units for every alternative.
    deltas: Vec<f32>,
    /// Alternatives of every open feature.
    alternatives: Vec<usize>,
    /// How many features may change at once.
    changes: usize,
}

/// The lower and the upper bound of every unit of a layer, before ReLU.
struct Intervals {
    lower: Vec<f32>,
    upper: Vec<f32>,
}

impl Reach {
    fn new(classifier: &NeuralClassifier, ball: &Ball) -> Self {
        let first = classifier.network.layer(0);
        let mut centre = first.biases.to_vec();
        add_rows(
            ones(&classifier.offsets, ball.centre()).map(|input| (input, 1.0)),
            first.weights,
            &mut centre,
        );
        let (mut deltas, mut alternatives) = (Vec::new(), Vec::new());
        for (variable, (&offset, &own)) in classifier.offsets.iter().zip(ball.centre()).enumerate() {
            let codes = ball.alternatives(variable);
            if codes.is_empty() {
                continue;
            }
            alternatives.push(codes.len());
            for &code in codes {
                let to = first.weights_of(offset + usize::from(code));
                if own == OPEN {
                    deltas.extend_from_slice(to);
                } else {
                    let from = first.weights_of(offset + usize::from(own));
                    deltas.extend(to.iter().zip(from).map(|(to, from)| to - from));
                }
            }
        }
        let changes = ball.changes.min(alternatives.len());
        Self { centre, deltas, alternatives, changes }
    }

    /// The lowest and the highest log-odds of the rows with at most one change.
    fn exact(&self, classifier: &NeuralClassifier) -> (f64, f64) {
        let width = self.centre.len();
        let mut values = classifier.values();
        values[..width].copy_from_slice(&self.centre);
        let own = classifier.finish(&mut values);
        let (mut lower, mut upper) = (own, own);
        for deltas in self.deltas.chunks_exact(width) {
            let sums = self.centre.iter().zip(deltas).map(|(centre, delta)| centre + delta);
            values.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum);
            let log_odds = classifier.finish(&mut values);
            (lower, upper) = (lower.min(log_odds), upper.max(log_odds));
        }
        (f64::from(lower), f64::from(upper))
    }

    /// Layer by layer the intervals of all units, the last of which is the log-odds.
    fn relaxed(&self, classifier: &NeuralClassifier) -> (f64, f64) {
        let network = &classifier.network;
        let mut slack = classifier.slack.as_slice();
        let mut layers: Vec<Intervals> = Vec::with_capacity(network.depth());
        for layer in 0..network.depth() {
            let mut intervals = match layers.last() {
                None => self.first_intervals(),
                Some(below) => {
                    let mut intervals = below.above(network, layer);
                    self.tighten(network, layer, &layers, &mut intervals);
                    intervals
                }
            };
            let bounds = intervals.lower.iter_mut().zip(&mut intervals.upper);
            bounds.zip(slack).for_each(|((lower, upper), slack)| {
                *lower -= slack;
                *upper += slack;
            });
            slack = &slack[intervals.lower.len()..];
            layers.push(intervals);
        }
        let last = &layers[network.depth() - 1];
        (f64::from(last.lower[0]), f64::from(last.upper[0]))
    }

    fn first_intervals(&self) -> Intervals {
        let width = self.centre.len();
        let mut table = Vec::with_capacity(2 * self.deltas.len());
        for deltas in self.deltas.chunks_exact(width) {
            table.extend_from_slice(deltas);
            table.extend(deltas.iter().map(|delta| -delta));
        }
        let mut highest: Vec<f32> =
            self.centre.iter().copied().chain(self.centre.iter().map(|c| -c)).collect();
        vectorised(Farthest { reach: self, table: &mut table, highest: &mut highest });
        let lower = highest.drain(width..).map(|bound| -bound).collect();
        Intervals { lower, upper: highest }
    }

    /// Bounds the units of a layer that are not settled, and the log-odds, by linear functions of the row.
    fn tighten(&self, network: &Network, layer: usize, below: &[Intervals], intervals: &mut Intervals) {
        let last = layer + 1 == network.depth();
        let unsettled = |&unit: &usize| last || (intervals.lower[unit] < 0.0 && intervals.upper[unit] > 0.0);
        let units: Vec<usize> = (0..intervals.lower.len()).filter(unsettled).collect();
        if units.is_empty() {
            return;
        }
        // Two columns a unit: what is above it, and what is above its negative.
        let columns = 2 * units.len();
        let signed = |values: &[f32]| -> Vec<f32> {
            units.iter().flat_map(|&unit| [values[unit], -values[unit]]).collect()
        };
        let this = network.layer(layer);
        let mut constants = signed(this.biases);
        let mut coefficients: Vec<f32> =
            (0..network.widths()[layer]).flat_map(|input| signed(this.weights_of(input))).collect();
        for (layer, intervals) in below.iter().enumerate().rev() {
            intervals.relax(&mut coefficients, &mut constants);
            if layer == 0 {
                break;
            }
            let this = network.layer(layer);
            add_rows(this.biases.iter().copied().enumerate(), &coefficients, &mut constants);
            let mut next = vec![0.0; network.widths()[layer] * columns];
            for (input, next) in next.chunks_exact_mut(columns).enumerate() {
                add_rows(this.weights_of(input).iter().copied().enumerate(), &coefficients, next);
            }
            coefficients = next;
        }
        let mut table = vec![0.0; self.deltas.len() / self.centre.len() * columns];
        vectorised(Highest {
            reach: self,
            coefficients: &coefficients,
            table: &mut table,
            highest: &mut constants,
        });
        for (&unit, highest) in units.iter().zip(constants.chunks_exact(2)) {
            intervals.upper[unit] = intervals.upper[unit].min(highest[0]);
            intervals.lower[unit] = intervals.lower[unit].max(-highest[1]);
        }
    }
}

impl Intervals {
    /// The intervals of the layer above that follow from these alone.
    fn above(&self, network: &Network, layer: usize) -> Self {
        let this = network.layer(layer);
        let mut above = Self { lower: this.biases.to_vec(), upper: this.biases.to_vec() };
        for (input, (lower, upper)) in self.lower.iter().zip(&self.upper).enumerate() {
            let (lower, upper) = (lower.max(0.0), upper.max(0.0));
            let bounds = above.lower.iter_mut().zip(&mut above.upper);
            for ((low, high), weight) in bounds.zip(this.weights_of(input)) {
                let (up, down) = (weight.max(0.0), weight.min(0.0));
                *low += up * lower + down * upper;
                *high += up * upper + down * lower;
            }
        }
        above
    }

    /// Turns linear functions of the units after ReLU into ones before ReLU that are nowhere lower.
    fn relax(&self, coefficients: &mut [f32], constants: &mut [f32]) {
        let units = coefficients.chunks_exact_mut(constants.len());
        for ((&lower, &upper), coefficients) in self.lower.iter().zip(&self.upper).zip(units) {
            if lower >= 0.0 {
                continue;
            }
            if upper <= 0.0 {
                coefficients.fill(0.0);
                continue;
            }
            let above = upper / (upper - lower);
            let below = if upper > -lower { 1.0 } else { 0.0 };
            for (coefficient, constant) in coefficients.iter_mut().zip(&mut *constants) {
                let (up, down) = (above * coefficient.max(0.0), below * coefficient.min(0.0));
                *constant -= up * lower;
                *coefficient = up + down;
            }
        }
    }
}

/// Adds to `highest` the most that linear functions of the first layer's units are in the ball.
struct Highest<'a> {
    reach: &'a Reach,
    /// A row of functions for every unit.
    coefficients: &'a [f32],
    /// Room for a row of functions for every alternative, zero.
    table: &'a mut [f32],
    highest: &'a mut [f32],
}

impl Kernel for Highest<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { reach, coefficients, table, highest } = self;
        let functions = highest.len();
        add_rows(reach.centre.iter().copied().enumerate(), coefficients, highest);
        let rows = reach.deltas.chunks_exact(reach.centre.len()).zip(table.chunks_exact_mut(functions));
        for (deltas, row) in rows {
            add_rows(deltas.iter().copied().enumerate(), coefficients, row);
        }
        Farthest { reach, table, highest }.run();
    }
}

/// Adds to `highest` the most that changes add, given what every alternative adds.
struct Farthest<'a> {
    reach: &'a Reach,
    /// A row of functions for every alternative.
    table: &'a mut [f32],
    highest: &'a mut [f32],
}

impl Kernel for Farthest<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { reach, mut table, highest } = self;
        let functions = highest.len();
        // The largest gains so far, in falling order.
        let mut largest = vec![0.0_f32; reach.changes * functions];
        for &alternatives in &reach.alternatives {
            let (rows, rest) = std::mem::take(&mut table).split_at_mut(alternatives * functions);
            let (gains, others) = rows.split_at_mut(functions);
            for row in others.chunks_exact(functions) {
                gains.iter_mut().zip(row).for_each(|(gain, other)| *gain = gain.max(*other));
            }
            for row in largest.chunks_exact_mut(functions) {
                for (larger, gain) in row.iter_mut().zip(&mut *gains) {
                    (*larger, *gain) = (larger.max(*gain), larger.min(*gain));
                }
            }
            table = rest;
        }
        for row in largest.chunks_exact(functions) {
            highest.iter_mut().zip(row).for_each(|(highest, gain)| *highest += gain);
        }
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::Code;
    use proptest::prelude::*;

    use super::super::neural::tests::random;
    use super::*;

    #[derive(Clone, Debug)]
    struct Bounded {
        classifier: NeuralClassifier,
        ball: Ball,
    }

    impl Bounded {
        /// The bounds hold for every row, and with no choice left, or one change, they are no wider.
        fn check(&self) {
            let (lower, upper) = self.classifier.log_odds_bounds(&self.ball);
            let scores: Vec<f64> = self.rows().iter().map(|row| self.classifier.log_odds(row)).collect();
            let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(lower <= lowest && highest <= upper, "{lower}, {upper} against {lowest}, {highest}");
            if self.ball.changes < 2 || scores.len() == 1 {
                assert!(lowest - lower < 1e-3 && upper - highest < 1e-3, "{lower}, {upper}");
            }
        }

        fn rows(&self) -> Vec<Vec<Code>> {
            let mut rows = vec![Vec::new()];
            for (variable, &own) in self.ball.centre().iter().enumerate() {
                let codes: Vec<Code> =
                    [own].iter().chain(self.ball.alternatives(variable)).copied().collect();
                let longer = |row: &Vec<Code>| {
                    codes.iter().map(|&code| row.iter().copied().chain([code]).collect()).collect::<Vec<_>>()
                };
                rows = rows.iter().flat_map(longer).collect();
            }
            rows.retain(|row| self.ball.contains(row));
            rows
        }
    }

    fn bounded() -> impl Strategy<Value = Bounded> {
        let hidden = prop::sample::select(vec![vec![], vec![6], vec![8, 5], vec![20, 10], vec![5, 6, 4]]);
        let variables =
            prop::collection::vec((1_usize..5, any::<u16>(), any::<bool>(), any::<[bool; 4]>()), 1..6);
        (hidden, variables, 0_usize..5, any::<u64>()).prop_map(|(hidden, variables, changes, seed)| {
            let cardinalities: Vec<usize> = variables.iter().map(|variable| variable.0).collect();
            let own = |&(codes, own, known, _): &(usize, u16, bool, _)| {
                if known || own % 3 > 0 { own % codes as Code } else { OPEN }
            };
            let mut ball = Ball::new(&cardinalities, variables.iter().map(own).collect(), changes);
            for (variable, &(codes, _, open, offered)) in variables.iter().enumerate() {
                let offered: Vec<Code> =
                    (0..codes as Code).filter(|&code| offered[usize::from(code)]).collect();
                ball.offer(variable, &offered);
                ball.set_open(variable, open || seed % 2 == 0);
            }
            Bounded { classifier: random(&cardinalities, &hidden, seed), ball }
        })
    }

    proptest! {
        #[test]
        fn bounds_contain_every_row_of_the_ball(case in bounded()) {
            case.check();
        }
    }

    #[test]
    fn linear_scores_are_bounded_exactly() {
        let classifier = NeuralClassifier::from_parameters(
            vec![2, 3, 2],
            &[],
            vec![0.0, 1.0, 0.0, -2.0, 4.0, 0.0, 2.0, 10.0],
        )
        .expect("seven weights and a bias");
        let mut ball = Ball::new(&[2, 3, 2], vec![0, 0, 0], 2);
        ball.offer(0, &[1]);
        ball.offer(1, &[1, 2]);
        ball.offer(2, &[1]);
        let (lower, upper) = classifier.log_odds_bounds(&ball);
        assert!((lower - 8.0).abs() < 1e-3 && (upper - 16.0).abs() < 1e-3);
    }
}
