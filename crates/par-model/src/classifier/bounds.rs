//! Bounds on the log-odds of every row of a ball.
//!
//! - Additive functions: each change adds a fixed amount, as to the first layer before ReLU. The maximum over a ball
//!   takes the changes that add most, one per feature.
//! - ReLU: it is convex and z + d₁ + … + d_k is the mean of the z + k dᵢ, so the mean of their ReLUs, which is additive,
//!   is an upper bound; a line is a lower one. Both are carried back to the row, as in CROWN (Zhang et al. 2018).
//! - Other activations lie between two parallel lines, no steeper than the activation between its input's bounds.

use par_circuit::{Ball, Kernel, OPEN, vectorised};
use par_onnx::Activation;

use super::neural::{NeuralClassifier, add_rows, ones};
use super::{Classifier, Relaxation};
use crate::network::Network;

pub(super) fn log_odds_bounds(classifier: &NeuralClassifier, ball: &Ball) -> (f64, f64) {
    let (lower, upper) = match most_changes(ball) {
        0 => {
            let log_odds = classifier.log_odds(ball.centre());
            (log_odds, log_odds)
        }
        1 => {
            let (own, changed) = single_changes(classifier, &Reach::new(classifier, ball, 1));
            let lowest = changed.iter().copied().fold(own, f64::min);
            (lowest, changed.into_iter().fold(own, f64::max))
        }
        changes => return relaxed(classifier, &Reach::new(classifier, ball, changes)).bounds(),
    };
    let slack = last_slack(classifier);
    (lower - slack, upper + slack)
}

/// The additive upper bound on the log-odds; exact up to rounding for at most one change.
pub(super) fn relaxation(classifier: &NeuralClassifier, ball: &Ball) -> Relaxation {
    let slack = last_slack(classifier);
    match most_changes(ball) {
        0 => {
            let centre = classifier.log_odds(ball.centre()) + slack;
            let changes = (0..ball.centre().len()).map(|variable| ball.alternatives(variable).len()).sum();
            Relaxation { most: centre, centre, gains: vec![0.0; changes] }
        }
        1 => {
            let (own, changed) = single_changes(classifier, &Reach::new(classifier, ball, 1));
            let most = changed.iter().copied().fold(own, f64::max) + slack;
            Relaxation { most, centre: own + slack, gains: changed.iter().map(|one| one - own).collect() }
        }
        changes => {
            let relaxed = relaxed(classifier, &Reach::new(classifier, ball, changes));
            let Additive { centre, deltas } = &relaxed.functions;
            let gains = deltas.iter().step_by(centre.len()).copied().map(f64::from).collect();
            Relaxation { most: relaxed.bounds().1, centre: f64::from(centre[0]) + slack, gains }
        }
    }
}

fn most_changes(ball: &Ball) -> usize {
    let open = (0..ball.centre().len()).filter(|&variable| ball.is_open(variable)).count();
    ball.changes.min(open)
}

/// Bound on the rounding error of the log-odds.
fn last_slack(classifier: &NeuralClassifier) -> f64 {
    f64::from(*classifier.slack.last().expect("a layer has units"))
}

/// Bounds that also hold for points between the centre and the alternatives of its features: every bound is a sum of
/// functions that are convex along these segments.
pub(super) fn hull_bounds(classifier: &NeuralClassifier, ball: &Ball) -> (f64, f64) {
    match ball.changes {
        0 => log_odds_bounds(classifier, ball),
        changes => relaxed(classifier, &Reach::new(classifier, ball, changes)).bounds(),
    }
}

/// Bound on the rounding error of every unit of every layer, for rows and for their bounds.
///
/// The error of a sum of n terms is below n roundings of the sum of their magnitudes. Bounds add the centre and
/// differences of two weights, at most three times the magnitude of a row.
pub(super) fn slack(cardinalities: &[usize], network: &Network, activations: &[Activation]) -> Vec<f32> {
    let mut terms = cardinalities.len() + 1;
    let mut slack = Vec::new();
    let first = network.layer(0);
    let mut magnitudes: Vec<f32> = first.biases.iter().map(|bias| bias.abs()).collect();
    let mut input = 0;
    let mut largest = vec![0.0_f32; magnitudes.len()];
    for &codes in cardinalities {
        largest.fill(0.0);
        for input in input..input + codes {
            let weights = largest.iter_mut().zip(first.weights_of(input));
            weights.for_each(|(largest, weight)| *largest = largest.max(weight.abs()));
        }
        magnitudes.iter_mut().zip(&largest).for_each(|(magnitude, largest)| *magnitude += largest);
        input += codes;
    }
    for layer in 1..=network.depth() {
        slack.extend(magnitudes.iter().map(|magnitude| 2.0 * f32::EPSILON * terms as f32 * magnitude));
        if layer == network.depth() {
            break;
        }
        let this = network.layer(layer);
        terms += magnitudes.len() + 1;
        magnitudes
            .iter_mut()
            .for_each(|magnitude| *magnitude = activated(activations[layer - 1], *magnitude));
        let mut above: Vec<f32> = this.biases.iter().map(|bias| bias.abs()).collect();
        for (input, below) in magnitudes.iter().enumerate() {
            let weights = above.iter_mut().zip(this.weights_of(input));
            weights.for_each(|(magnitude, weight)| *magnitude += weight.abs() * below);
        }
        magnitudes = above;
    }
    slack
}

/// Upper bound on |activation(x)| for |x| ≤ `magnitude`, which also bounds how much of the input's error it passes on.
pub(super) fn activated(activation: Activation, magnitude: f32) -> f32 {
    match activation {
        Activation::Relu | Activation::LeakyRelu(_) | Activation::Tanh => magnitude,
        Activation::Elu(steepest) => magnitude * steepest.max(1.0),
        Activation::Sigmoid => magnitude.max(1.0),
        Activation::Softplus => magnitude + 1.0,
        Activation::Clip(low, high) if low <= 0.0 && high >= 0.0 => magnitude,
        Activation::Clip(low, high) => magnitude.max(low.abs().min(high.abs())),
    }
}

/// The log-odds of the centre, and of the row with each single change.
fn single_changes(classifier: &NeuralClassifier, reach: &Reach) -> (f64, Vec<f64>) {
    let Additive { centre, deltas } = &reach.first;
    let mut values = classifier.values();
    values[..centre.len()].copy_from_slice(centre);
    let own = classifier.finish(&mut values);
    let changed = deltas.chunks_exact(centre.len()).map(|deltas| {
        let sums = centre.iter().zip(deltas).map(|(centre, delta)| centre + delta);
        values.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum);
        f64::from(classifier.finish(&mut values))
    });
    let changed = changed.collect();
    (f64::from(own), changed)
}

/// Bounds on the log-odds, which are the first unit of the last layer.
struct Relaxed {
    last: Intervals,
    /// Upper bounds on the units of the last layer, and then on their negatives, before rounding.
    functions: Additive,
}

impl Relaxed {
    fn bounds(&self) -> (f64, f64) {
        (f64::from(self.last.lower[0]), f64::from(self.last.upper[0]))
    }
}

/// Bounds all units layer by layer; the last unit is the log-odds.
fn relaxed(classifier: &NeuralClassifier, reach: &Reach) -> Relaxed {
    let network = &classifier.network;
    let mut slack = classifier.slack.as_slice();
    let mut basis = Basis::new(reach, classifier.slack.len() - 1);
    let mut layers: Vec<Intervals> = Vec::with_capacity(network.depth());
    loop {
        let layer = layers.len();
        let functions = match layer {
            0 => reach.first.with_negatives(),
            _ => basis.above(classifier, layer, &layers),
        };
        let highest = reach.highest(&functions);
        let mut intervals = Intervals::new(&highest, network.widths()[layer + 1]);
        if let Some(below) = layers.last() {
            intervals.intersect(&below.above(network, layer, classifier.activations[layer - 1]));
        }
        intervals.widen(slack);
        slack = &slack[intervals.lower.len()..];
        if layer + 1 == network.depth() {
            return Relaxed { last: intervals, functions };
        }
        if classifier.activations.get(layer) == Some(&Activation::Relu) {
            basis.push_rectified(&functions, intervals.lower.len(), reach.changes);
        }
        layers.push(intervals);
    }
}

/// The rows of a ball in terms of the first layer.
struct Reach {
    /// The units of the first layer before ReLU.
    first: Additive,
    /// The number of alternatives of every open feature.
    alternatives: Vec<usize>,
    /// How many features may change together.
    changes: usize,
}

/// Functions of the rows of a ball to which each change adds a fixed amount.
struct Additive {
    /// The value of each function at the centre.
    centre: Vec<f32>,
    /// What every alternative adds to each function, `[alternative][function]`.
    deltas: Vec<f32>,
}

impl Reach {
    fn new(classifier: &NeuralClassifier, ball: &Ball, changes: usize) -> Self {
        let layer = classifier.network.layer(0);
        let mut centre = layer.biases.to_vec();
        let inputs = ones(&classifier.offsets, ball.centre()).map(|input| (input, 1.0));
        add_rows(&inputs, layer.weights, &mut centre);
        let counts = (0..ball.centre().len()).map(|variable| ball.alternatives(variable).len());
        let alternatives: Vec<usize> = counts.filter(|count| *count > 0).collect();
        let mut deltas = Vec::with_capacity(alternatives.iter().sum::<usize>() * centre.len());
        for (variable, (&offset, &own)) in classifier.offsets.iter().zip(ball.centre()).enumerate() {
            for &code in ball.alternatives(variable) {
                let to = layer.weights_of(offset + usize::from(code));
                if own == OPEN {
                    deltas.extend_from_slice(to);
                } else {
                    let from = layer.weights_of(offset + usize::from(own));
                    deltas.extend(to.iter().zip(from).map(|(to, from)| to - from));
                }
            }
        }
        Self { first: Additive { centre, deltas }, alternatives, changes }
    }

    /// The maximum of each function over the ball.
    fn highest(&self, functions: &Additive) -> Vec<f32> {
        let mut highest = functions.centre.clone();
        vectorised(Highest { reach: self, deltas: &functions.deltas, highest: &mut highest });
        highest
    }
}

impl Additive {
    /// The functions, and then the negative of each.
    fn with_negatives(&self) -> Self {
        let width = self.centre.len();
        let extend = |values: &[f32]| {
            let mut both = Vec::with_capacity(2 * values.len());
            for row in values.chunks_exact(width) {
                both.extend_from_slice(row);
                both.extend(row.iter().map(|value| -value));
            }
            both
        };
        Self { centre: extend(&self.centre), deltas: extend(&self.deltas) }
    }
}

/// The functions that bounds combine: the units of the first layer before its activation, then for every unit of every
/// ReLU layer so far an upper bound on it after ReLU.
struct Basis {
    functions: Additive,
    /// How many there are so far.
    len: usize,
}

impl Basis {
    /// Reserves space for this many hidden units.
    fn new(reach: &Reach, hidden: usize) -> Self {
        let len = reach.first.centre.len();
        let widen = |values: &[f32]| -> Vec<f32> {
            let mut wide = vec![0.0; values.len() / len * (len + hidden)];
            for (wide, values) in wide.chunks_exact_mut(len + hidden).zip(values.chunks_exact(len)) {
                wide[..len].copy_from_slice(values);
            }
            wide
        };
        let functions = Additive { centre: widen(&reach.first.centre), deltas: widen(&reach.first.deltas) };
        Self { functions, len }
    }

    /// Adds upper bounds on the ReLUs of the first `units` functions.
    fn push_rectified(&mut self, functions: &Additive, units: usize, changes: usize) {
        let changes = changes as f32;
        let share = 1.0 / changes;
        let Additive { centre, deltas } = &mut self.functions;
        let places = self.len..self.len + units;
        self.len += units;
        let rows = functions.deltas.chunks_exact(functions.centre.len());
        for (to, from) in deltas.chunks_exact_mut(centre.len()).zip(rows) {
            for ((to, from), centre) in to[places.clone()].iter_mut().zip(from).zip(&functions.centre) {
                *to = ((centre + changes * from).max(0.0) - centre.max(0.0)) * share;
            }
        }
        for (to, from) in centre[places].iter_mut().zip(&functions.centre) {
            *to = from.max(0.0);
        }
    }

    /// Upper bounds on the units of a layer, and then on their negatives.
    fn above(&self, classifier: &NeuralClassifier, layer: usize, below: &[Intervals]) -> Additive {
        let network = &classifier.network;
        let this = network.layer(layer);
        let columns = (2 * this.biases.len()).next_multiple_of(TILE);
        let signed = |values: &[f32], row: &mut [f32]| {
            for (column, value) in values.iter().enumerate() {
                (row[column], row[values.len() + column]) = (*value, -value);
            }
        };
        let mut centre = vec![0.0; columns];
        signed(this.biases, &mut centre);
        let mut coefficients = vec![0.0; network.widths()[layer] * columns];
        for (input, row) in coefficients.chunks_exact_mut(columns).enumerate() {
            signed(this.weights_of(input), row);
        }

        let mut terms = Terms { places: Vec::new(), factors: Vec::new() };
        let mut end = self.len;
        for (layer, intervals) in below.iter().enumerate().rev() {
            match classifier.activations[layer] {
                Activation::Relu => {
                    end -= intervals.lower.len();
                    intervals.relax_relu(end, &mut coefficients, columns, &mut terms);
                }
                other => intervals.relax(other, &mut coefficients, columns, &mut centre),
            }
            if layer == 0 {
                break;
            }
            let this = network.layer(layer);
            add_rows(&this.biases.iter().copied().enumerate(), &coefficients, &mut centre);
            let mut next = vec![0.0; network.widths()[layer] * columns];
            for (input, next) in next.chunks_exact_mut(columns).enumerate() {
                add_rows(&this.weights_of(input).iter().copied().enumerate(), &coefficients, next);
            }
            coefficients = next;
        }
        for (unit, coefficients) in coefficients.chunks_exact(columns).enumerate() {
            if coefficients.iter().any(|&coefficient| coefficient != 0.0) {
                terms.push(unit, coefficients.iter().copied());
            }
        }
        let mut deltas = vec![0.0; self.functions.deltas.len() / self.functions.centre.len() * columns];
        let Additive { centre: centres, deltas: rows } = &self.functions;
        let width = centres.len();
        vectorised(Combine { basis: centres, width, terms: &terms, sums: &mut centre, columns });
        vectorised(Combine { basis: rows, width, terms: &terms, sums: &mut deltas, columns });
        Additive { centre, deltas }
    }
}

/// Weighted sums of the functions of a basis.
struct Terms {
    places: Vec<usize>,
    /// The factors of every place, one per sum.
    factors: Vec<f32>,
}

impl Terms {
    fn push(&mut self, place: usize, factors: impl Iterator<Item = f32>) {
        self.places.push(place);
        self.factors.extend(factors);
    }
}

/// The lower and the upper bound of every unit of a layer, before ReLU.
struct Intervals {
    lower: Vec<f32>,
    upper: Vec<f32>,
}

impl Intervals {
    /// From the maxima of the units, followed by those of their negatives.
    fn new(highest: &[f32], units: usize) -> Self {
        let lower = highest[units..2 * units].iter().map(|bound| -bound).collect();
        Self { lower, upper: highest[..units].to_vec() }
    }

    /// The intervals of the next layer that follow from these alone, by interval arithmetic.
    fn above(&self, network: &Network, layer: usize, activation: Activation) -> Self {
        let this = network.layer(layer);
        let mut above = Self { lower: this.biases.to_vec(), upper: this.biases.to_vec() };
        for (input, (lower, upper)) in self.lower.iter().zip(&self.upper).enumerate() {
            let [lower, upper] = [*lower, *upper].map(|bound| activation.value(f64::from(bound)) as f32);
            let bounds = above.lower.iter_mut().zip(&mut above.upper);
            for ((low, high), weight) in bounds.zip(this.weights_of(input)) {
                let (up, down) = (weight.max(0.0), weight.min(0.0));
                *low += up * lower + down * upper;
                *high += up * upper + down * lower;
            }
        }
        above
    }

    fn intersect(&mut self, other: &Self) {
        self.lower.iter_mut().zip(&other.lower).for_each(|(lower, other)| *lower = lower.max(*other));
        self.upper.iter_mut().zip(&other.upper).for_each(|(upper, other)| *upper = upper.min(*other));
    }

    fn widen(&mut self, slack: &[f32]) {
        self.lower.iter_mut().zip(slack).for_each(|(lower, slack)| *lower -= slack);
        self.upper.iter_mut().zip(slack).for_each(|(upper, slack)| *upper += slack);
    }

    /// Replaces sums of the units after ReLU by upper bounds: sums of the units before ReLU and of functions of the
    /// basis, where those of this layer start at `place`.
    fn relax_relu(&self, place: usize, coefficients: &mut [f32], columns: usize, terms: &mut Terms) {
        for (unit, coefficients) in coefficients.chunks_exact_mut(columns).enumerate() {
            let (lower, upper) = (self.lower[unit], self.upper[unit]);
            if upper <= 0.0 {
                coefficients.fill(0.0);
            } else if lower < 0.0 {
                terms.push(place + unit, coefficients.iter().map(|coefficient| coefficient.max(0.0)));
                let slope = if upper > -lower { 1.0 } else { 0.0 };
                coefficients.iter_mut().for_each(|coefficient| *coefficient = slope * coefficient.min(0.0));
            }
        }
    }

    /// Replaces sums of the units after an activation by upper bounds: sums of the units before it, with their
    /// constants added to `centre`.
    fn relax(&self, activation: Activation, coefficients: &mut [f32], columns: usize, centre: &mut [f32]) {
        for (unit, coefficients) in coefficients.chunks_exact_mut(columns).enumerate() {
            let ends = [self.lower[unit], self.upper[unit]].map(f64::from);
            let [from, to] = ends.map(|end| activation.slope(end));
            // A little flatter than the flattest end, so that rounding cannot make it steeper.
            let slope = from.min(to) * (1.0 - 1e-6);
            let [below, above] = ends.map(|end| (activation.value(end) - slope * end) as f32);
            for (coefficient, centre) in coefficients.iter_mut().zip(&mut *centre) {
                *centre += *coefficient * if *coefficient > 0.0 { above } else { below };
                *coefficient *= slope as f32;
            }
        }
    }
}

/// Rows and columns of a tile that stays in registers; columns are padded to whole tiles.
const TILE: usize = 4;

/// Adds the terms to every row of sums, from the same row of the basis.
struct Combine<'a> {
    basis: &'a [f32],
    width: usize,
    terms: &'a Terms,
    sums: &'a mut [f32],
    columns: usize,
}

impl Kernel for Combine<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { basis, width, terms, sums, columns } = self;
        let mut rows = basis.chunks_exact(TILE * width);
        let mut outputs = sums.chunks_exact_mut(TILE * columns);
        for (basis, sums) in rows.by_ref().zip(outputs.by_ref()) {
            combine::<TILE>(basis, width, terms, sums, columns);
        }
        let rest = outputs.into_remainder().chunks_exact_mut(columns);
        for (basis, sums) in rows.remainder().chunks_exact(width).zip(rest) {
            combine::<1>(basis, width, terms, sums, columns);
        }
    }
}

#[inline(always)]
fn combine<const ROWS: usize>(basis: &[f32], width: usize, terms: &Terms, sums: &mut [f32], columns: usize) {
    let mut column = 0;
    while column + 4 * TILE <= columns {
        combine_tile::<ROWS, { 4 * TILE }>(basis, width, terms, sums, columns, column);
        column += 4 * TILE;
    }
    while column < columns {
        combine_tile::<ROWS, TILE>(basis, width, terms, sums, columns, column);
        column += TILE;
    }
}

#[inline(always)]
fn combine_tile<const ROWS: usize, const COLUMNS: usize>(
    basis: &[f32],
    width: usize,
    terms: &Terms,
    sums: &mut [f32],
    columns: usize,
    column: usize,
) {
    let mut tile = [[0.0; COLUMNS]; ROWS];
    for (row, tile) in tile.iter_mut().enumerate() {
        tile.copy_from_slice(&sums[row * columns + column..][..COLUMNS]);
    }
    for (&place, factors) in terms.places.iter().zip(terms.factors.chunks_exact(columns)) {
        let factors = &factors[column..][..COLUMNS];
        for (row, tile) in tile.iter_mut().enumerate() {
            let value = basis[row * width + place];
            tile.iter_mut().zip(factors).for_each(|(sum, factor)| *sum += value * factor);
        }
    }
    for (row, tile) in tile.iter().enumerate() {
        sums[row * columns + column..][..COLUMNS].copy_from_slice(tile);
    }
}

/// Adds the most that changes can add to `highest`.
struct Highest<'a> {
    reach: &'a Reach,
    /// A row of functions for every alternative.
    deltas: &'a [f32],
    highest: &'a mut [f32],
}

impl Kernel for Highest<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { reach, deltas, highest } = self;
        let functions = highest.len();
        // The largest gains so far, descending.
        let mut largest = vec![0.0_f32; reach.changes * functions];
        let mut gains = vec![0.0_f32; functions];
        let mut rows = deltas.chunks_exact(functions);
        for &alternatives in &reach.alternatives {
            gains.fill(0.0);
            for row in rows.by_ref().take(alternatives) {
                gains.iter_mut().zip(row).for_each(|(gain, other)| *gain = gain.max(*other));
            }
            for row in largest.chunks_exact_mut(functions) {
                for (larger, gain) in row.iter_mut().zip(&mut gains) {
                    (*larger, *gain) = (larger.max(*gain), larger.min(*gain));
                }
            }
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

    use super::super::neural::tests::{ACTIVATIONS, with_activation};
    use super::*;

    #[derive(Clone, Debug)]
    struct Bounded {
        classifier: NeuralClassifier,
        ball: Ball,
    }

    impl Bounded {
        /// The bounds hold for every row, and are tight if there is one row or at most one change.
        fn check(&self) {
            self.check_relaxation();
            let (lower, upper) = self.classifier.log_odds_bounds(&self.ball);
            let scores: Vec<f64> = self.rows().iter().map(|row| self.classifier.log_odds(row)).collect();
            let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(lower <= lowest && highest <= upper, "{lower}, {upper} against {lowest}, {highest}");
            if self.ball.changes < 2 || scores.len() == 1 {
                assert!(lowest - lower < 5e-3 && upper - highest < 5e-3, "{lower}, {upper}");
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
        let activation = prop::sample::select(ACTIVATIONS.to_vec());
        let parts = (hidden, activation, variables, 0_usize..5, any::<u64>());
        parts.prop_map(|(hidden, activation, variables, changes, seed)| {
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
            Bounded { classifier: with_activation(&cardinalities, &hidden, seed, activation), ball }
        })
    }

    impl Bounded {
        /// The centre and the gains of the changes are together at least the log-odds of every row.
        fn check_relaxation(&self) {
            let Relaxation { most, centre, gains } = relaxation(&self.classifier, &self.ball);
            let places: Vec<(usize, Code)> = (0..self.ball.centre().len())
                .flat_map(|variable| {
                    self.ball.alternatives(variable).iter().map(move |&code| (variable, code))
                })
                .collect();
            assert_eq!(gains.len(), places.len());
            for row in self.rows() {
                let made = places.iter().zip(&gains).filter(|((variable, code), _)| row[*variable] == *code);
                let bound = centre + made.map(|(_, gain)| gain).sum::<f64>();
                let log_odds = self.classifier.log_odds(&row);
                assert!(log_odds <= bound && log_odds <= most, "{log_odds} against {bound} and {most}");
            }
        }
    }

    proptest! {
        #[test]
        fn bounds_contain_every_row_of_the_ball(case in bounded()) {
            case.check();
        }
    }

    /// The classifier is |x| − 0.5: high at both ends and low between them.
    #[test]
    fn bounds_over_the_hull_hold_between_the_ends() {
        let parameters = vec![-1.0, 1.0, 1.0, -1.0, 0.0, 0.0, 1.0, 1.0, -0.5];
        let classifier =
            NeuralClassifier::from_parameters(vec![2], &[2], parameters).expect("two codes, two units");
        let mut ball = Ball::new(&[2], vec![OPEN], 1);
        ball.offer(0, &[0, 1]);
        assert_eq!([[0], [1]].map(|row| classifier.log_odds(&row)), [0.5, 0.5]);
        let (lower, _) = hull_bounds(&classifier, &ball);
        assert!(lower <= -0.5, "{lower}");
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
