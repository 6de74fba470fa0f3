//! A network with a box around its parameters, as a classifier: its log-odds are a bound on those of all networks.

use par_circuit::{Ball, Code, Kernel, OPEN, vectorised};

use super::super::neural::{NeuralClassifier, activate};
use super::super::{Classifier, Relaxation};
use super::{Addends, End, ParameterBox};
use crate::error::RowError;
use crate::network::Network;

/// The lowest, or the highest, log-odds of the networks in a box.
#[derive(Debug)]
pub(in super::super) struct CertifiedNetwork<'a> {
    parameters: ParameterBox<'a>,
    addends: Addends,
    /// What every place adds to the first layer in single precision, `[place][unit]`.
    single: Vec<f32>,
    end: End,
    /// One network of the box, for upper bounds on the lowest log-odds, or lower bounds on the highest.
    corner: NeuralClassifier,
}

impl<'a> CertifiedNetwork<'a> {
    /// # Errors
    /// When the log-odds of some row might not be finite.
    pub(in super::super) fn new(
        parameters: ParameterBox<'a>,
        addends: Addends,
        end: End,
    ) -> Result<Self, RowError> {
        let corner = corner(&parameters, &addends, end);
        if !corner.is_finite() {
            return Err(RowError::NoScore { found: f64::INFINITY });
        }
        let places = addends.cardinalities().iter().map(|codes| codes + 1).sum();
        let single = (0..places).flat_map(|place| addends.sums(place)).map(|&sum| sum as f32).collect();
        Ok(Self { parameters, addends, single, end, corner })
    }

    #[cfg(test)]
    pub(super) fn corner_log_odds(&self, row: &[Code]) -> f64 {
        self.corner.log_odds(row)
    }

    fn single(&self, place: usize) -> &[f32] {
        &self.single[place * self.addends.width()..][..self.addends.width()]
    }

    /// The least and the greatest of the bounds of all rows of a ball, however many features change together.
    fn bounds_of_hull(&self, ball: &Ball) -> [f64; 2] {
        let (mut lowest, mut magnitude) = (vec![0.0; self.addends.width()], 0.0);
        let mut highest = lowest.clone();
        for (feature, own) in ball.centre().iter().enumerate() {
            let codes = std::iter::once(own).chain(ball.alternatives(feature));
            let places: Vec<usize> = codes.map(|&code| self.addends.place(feature, code)).collect();
            for unit in 0..lowest.len() {
                let sums = places.iter().map(|&place| self.addends.sums(place)[unit]);
                lowest[unit] += sums.clone().fold(f64::INFINITY, f64::min);
                highest[unit] += sums.fold(f64::NEG_INFINITY, f64::max);
            }
            let magnitudes = places.iter().map(|&place| self.addends.magnitude(place));
            magnitude += magnitudes.fold(0.0, f64::max);
        }
        self.parameters.bounds_between(&lowest, &highest, magnitude)
    }
}

/// The network of a box with the lowest log-odds, or the highest, as far as the sign of each parameter's effect is the
/// same for all rows.
///
/// Its parameters are rounded to single precision, and so may leave the box by a rounding, less than the slack in the
/// bounds of a [`NeuralClassifier`].
fn corner(parameters: &ParameterBox<'_>, addends: &Addends, end: End) -> NeuralClassifier {
    let mut above = Vec::new();
    // The effect of every unit of a layer on the log-odds, if all units below were active.
    let mut effects = vec![match end {
        End::Lowest => 1.0,
        End::Highest => -1.0,
    }];
    let shifts = |effects: &[f64], radius: f64| -> Vec<f64> {
        effects.iter().map(|&effect| if effect < 0.0 { radius } else { -radius }).collect()
    };
    for (layer, &radius) in parameters.layers().iter().zip(parameters.radii()).skip(1).rev() {
        let shifts = shifts(&effects, radius);
        let shifted = |own: &[f32]| -> Vec<f64> {
            own.iter().zip(&shifts).map(|(&own, shift)| f64::from(own) + shift).collect()
        };
        let inputs = layer.weights.len() / layer.biases.len().max(1);
        let weights: Vec<Vec<f64>> = (0..inputs).map(|input| shifted(layer.weights_of(input))).collect();
        effects = weights
            .iter()
            .map(|weights| weights.iter().zip(&effects).map(|(weight, effect)| weight * effect).sum())
            .collect();
        let own: Vec<f32> =
            weights.concat().into_iter().chain(shifted(layer.biases)).map(|own| own as f32).collect();
        above.push(own);
    }
    let first = parameters.layers()[0];
    let shifts = shifts(&effects, parameters.radii()[0]);
    let added = |place: usize| {
        let signed = addends.signed(place);
        addends.sums(place).iter().zip(&shifts).map(move |(sum, shift)| sum + shift * signed)
    };
    let mut biases: Vec<f64> =
        first.biases.iter().zip(&shifts).map(|(&bias, shift)| f64::from(bias) + shift).collect();
    let mut own = Vec::new();
    for (feature, &codes) in addends.cardinalities().iter().enumerate() {
        // An unknown code adds nothing to a network over one-hot rows.
        let unknown: Vec<f64> = added(addends.place(feature, OPEN)).collect();
        biases.iter_mut().zip(&unknown).for_each(|(bias, unknown)| *bias += unknown);
        for code in 0..codes as Code {
            let differences = added(addends.place(feature, code)).zip(&unknown);
            own.extend(differences.map(|(sum, unknown)| (sum - unknown) as f32));
        }
    }
    own.extend(biases.into_iter().map(|bias| bias as f32));
    own.extend(above.into_iter().rev().flatten());
    let codes = addends.cardinalities().iter().sum();
    let widths: Vec<usize> =
        std::iter::once(codes).chain(parameters.layers().iter().map(|layer| layer.biases.len())).collect();
    let network = Network::from_parameters(&widths, own).expect("as many parameters as the layers have");
    NeuralClassifier::new(addends.cardinalities().to_vec(), network, parameters.activations().to_vec())
}

/// How many neighbours of a row go through the layers abreast: two AVX registers.
const ABREAST: usize = 16;

/// A number for each of some neighbours.
type Lanes = [f32; ABREAST];

/// [`Classifier::neighbours`]: a change of one code replaces one row of the first layer, and its share of the radius.
struct Neighbours<'a> {
    certified: &'a CertifiedNetwork<'a>,
    row: &'a [Code],
    log_odds: &'a mut [f64],
}

impl Kernel for Neighbours<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { certified, row, log_odds } = self;
        let CertifiedNetwork { parameters, addends, .. } = certified;
        let (sums, magnitude) = addends.of_row(row);
        let biases = parameters.layers()[0].biases;
        let own: Vec<f32> =
            biases.iter().zip(sums).map(|(&bias, sum)| (f64::from(bias) + sum) as f32).collect();
        let mut others = own.clone();
        let widest = parameters.layers().iter().map(|layer| layer.biases.len()).max().unwrap_or(1);
        let mut units = [0, 1].map(|_| vec![[[0.0; ABREAST]; 2]; widest.max(1)]);
        let mut places = log_odds.chunks_mut(ABREAST);
        let mut lane = 0;
        for (feature, (&codes, &code)) in addends.cardinalities().iter().zip(row).enumerate() {
            let from = addends.place(feature, code);
            others
                .iter_mut()
                .zip(&own)
                .zip(certified.single(from))
                .for_each(|((other, own), sum)| *other = own - sum);
            for code in 0..codes as Code {
                let to = addends.place(feature, code);
                let inputs = 1.0 + magnitude - addends.magnitude(from) + addends.magnitude(to);
                let radius = (parameters.radii()[0] * inputs) as f32;
                let sums = others.iter().zip(certified.single(to)).map(|(other, sum)| other + sum);
                for ([low, high], sum) in units[0].iter_mut().zip(sums) {
                    (low[lane], high[lane]) = (sum - radius, sum + radius);
                }
                lane += 1;
                if lane == ABREAST {
                    certified.finish_abreast(&mut units, places.next().expect("a place for each code"));
                    lane = 0;
                }
            }
        }
        if let Some(places) = places.next() {
            certified.finish_abreast(&mut units, places);
        }
    }
}

impl CertifiedNetwork<'_> {
    /// The bounds of some rows, from those of the first layer before its activation in the first buffer.
    #[inline(always)]
    fn finish_abreast(&self, units: &mut [Vec<[Lanes; 2]>; 2], log_odds: &mut [f64]) {
        let (layers, radii) = (self.parameters.layers(), self.parameters.radii());
        for (layer, &activation) in (1..layers.len()).zip(self.parameters.activations()) {
            let (this, radius) = (layers[layer], radii[layer] as f32);
            let [inputs, outputs] = units;
            let inputs = &mut inputs[..layers[layer - 1].biases.len()];
            inputs.iter_mut().flatten().for_each(|lanes| activate(activation, lanes));
            for (column, output) in outputs.iter_mut().enumerate().take(this.biases.len()) {
                let bias = this.biases[column];
                let mut sums = [[bias - radius; ABREAST], [bias + radius; ABREAST]];
                for (input, ends) in inputs.iter().enumerate() {
                    add_products(&mut sums, this.weights_of(input)[column], radius, ends);
                }
                *output = sums;
            }
            units.swap(0, 1);
        }
        let [lowest, highest] = &units[0][0];
        let ends = if self.end == End::Lowest { lowest } else { highest };
        log_odds.iter_mut().zip(ends).for_each(|(place, &end)| *place = f64::from(end));
    }
}

/// Adds the lowest and the highest product of a weight within `radius` and a unit between its ends.
#[inline(always)]
fn add_products([lowest, highest]: &mut [Lanes; 2], weight: f32, radius: f32, [low, high]: &[Lanes; 2]) {
    // A weight whose sign is certain takes the same end of every unit.
    if weight.abs() >= radius {
        let [low, high] = if weight < 0.0 { [high, low] } else { [low, high] };
        for lane in 0..ABREAST {
            lowest[lane] += weight * low[lane] - radius * low[lane].abs();
            highest[lane] += weight * high[lane] + radius * high[lane].abs();
        }
        return;
    }
    for lane in 0..ABREAST {
        let [low, high] = [low[lane], high[lane]];
        lowest[lane] += (weight * low - radius * low.abs()).min(weight * high - radius * high.abs());
        highest[lane] += (weight * low + radius * low.abs()).max(weight * high + radius * high.abs());
    }
}

impl Classifier for CertifiedNetwork<'_> {
    fn cardinalities(&self) -> &[usize] {
        self.addends.cardinalities()
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        let (sums, magnitude) = self.addends.of_row(row);
        self.end.of(self.parameters.bounds(&sums, magnitude))
    }

    fn neighbours(&self, row: &[Code], log_odds: &mut [f64]) {
        assert_eq!(log_odds.len(), self.cardinalities().iter().sum::<usize>(), "one place a code");
        vectorised(Neighbours { certified: self, row, log_odds });
    }

    /// The gradient of one network of the box.
    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        self.corner.log_odds_gradient(soft, gradient)
    }

    fn log_odds_bounds(&self, ball: &Ball) -> (f64, f64) {
        if (0..ball.centre().len()).all(|feature| ball.alternatives(feature).is_empty()) || ball.changes == 0
        {
            let log_odds = self.log_odds(ball.centre());
            return (log_odds, log_odds);
        }
        let [lowest, highest] = self.bounds_of_hull(ball);
        let (lower, upper) = self.corner.log_odds_bounds(ball);
        match self.end {
            End::Lowest => (lowest, upper),
            End::Highest => (lower, highest),
        }
    }

    fn relaxation(&self, ball: &Ball) -> Option<Relaxation> {
        match self.end {
            End::Lowest => self.corner.relaxation(ball),
            End::Highest => None,
        }
    }
}
