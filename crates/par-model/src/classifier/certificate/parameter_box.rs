//! A network and all networks whose parameters are near its own, by interval arithmetic.

use par_onnx::Activation;

use super::super::bounds::activated;
use crate::network::Layer;

/// All networks whose weights and biases differ from those of one network by at most δ times the largest weight of
/// their layer, each on its own.
#[derive(Clone, Debug)]
pub(in super::super) struct ParameterBox<'a> {
    layers: Vec<Layer<'a>>,
    /// One per hidden layer.
    activations: &'a [Activation],
    /// By how much every weight and every bias of a layer may differ.
    radii: Vec<f64>,
}

/// What bounds a unit of a layer from below and from above.
type Ends = [f64; 2];

impl<'a> ParameterBox<'a> {
    pub(in super::super) fn new(
        layers: impl IntoIterator<Item = Layer<'a>>,
        activations: &'a [Activation],
        delta: f64,
    ) -> Self {
        let layers: Vec<Layer<'a>> = layers.into_iter().collect();
        let radii = layers.iter().map(|layer| delta * largest(layer.weights)).collect();
        Self { layers, activations, radii }
    }

    pub(super) fn layers(&self) -> &[Layer<'a>] {
        &self.layers
    }

    pub(super) fn activations(&self) -> &'a [Activation] {
        self.activations
    }

    pub(super) fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// Bounds on the output of every network in the box, for a row that adds `sums` to the units of the first layer
    /// and whose inputs have absolute values that add up to `magnitude`. NaN or infinite where a number is.
    pub(in super::super) fn bounds(&self, sums: &[f64], magnitude: f64) -> Ends {
        self.bounds_between(sums, sums, magnitude)
    }

    /// The same for a one-hot row, whose inputs at these places are 1.
    pub(in super::super) fn bounds_of_ones(&self, places: impl Iterator<Item = usize> + Clone) -> Ends {
        let mut sums = vec![0.0; self.layers[0].biases.len()];
        for place in places.clone() {
            let weights = self.layers[0].weights_of(place);
            sums.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += f64::from(weight));
        }
        self.bounds(&sums, places.count() as f64)
    }

    /// The same for all rows that add between `lowest` and `highest`, and whose magnitude is at most this.
    pub(super) fn bounds_between(&self, lowest: &[f64], highest: &[f64], magnitude: f64) -> Ends {
        let radius = self.radii[0] * (1.0 + magnitude);
        let sums = self.layers[0].biases.iter().zip(lowest.iter().zip(highest));
        let mut units: Vec<Ends> = sums
            .map(|(&bias, (low, high))| [f64::from(bias) + low - radius, f64::from(bias) + high + radius])
            .collect();
        for ((layer, &radius), &activation) in
            self.layers.iter().zip(&self.radii).skip(1).zip(self.activations)
        {
            units.iter_mut().for_each(|ends| *ends = ends.map(|end| activation.value(end)));
            let mut above: Vec<Ends> = layer
                .biases
                .iter()
                .map(|&bias| [f64::from(bias) - radius, f64::from(bias) + radius])
                .collect();
            for (input, ends) in units.iter().enumerate() {
                let widening = ends.map(|end| radius * end.abs());
                for (sum, &weight) in above.iter_mut().zip(layer.weights_of(input)) {
                    let products = ends.map(|end| f64::from(weight) * end);
                    // w a − r |a| is concave in a, so that it is least at an end.
                    sum[0] += (products[0] - widening[0]).min(products[1] - widening[1]);
                    sum[1] += (products[0] + widening[0]).max(products[1] + widening[1]);
                }
            }
            units = above;
        }
        let slack = self.slack(magnitude);
        [units[0][0] - slack, units[0][1] + slack]
    }

    /// Bound on the rounding error of [`ParameterBox::bounds`]: at most eight roundings of each term, of the sum of the
    /// magnitudes of all terms. Not finite if a number is not.
    fn slack(&self, magnitude: f64) -> f64 {
        if !magnitude.is_finite() {
            return f64::NAN;
        }
        let mut terms = 0;
        let mut inputs = magnitude;
        for (place, (layer, radius)) in self.layers.iter().zip(&self.radii).enumerate() {
            terms += layer.weights.len() / layer.biases.len().max(1) + 1;
            inputs = largest(layer.biases) + radius + (largest(layer.weights) + radius) * inputs;
            if let Some(&activation) = self.activations.get(place) {
                inputs = layer.biases.len() as f64 * f64::from(activated(activation, inputs as f32));
            }
        }
        16.0 * f64::EPSILON * terms as f64 * inputs
    }
}

fn largest(weights: &[f32]) -> f64 {
    f64::from(weights.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs())))
}
