//! PROPLACE: the row nearest to the person among those in the hull of robust training rows that are robust
//! themselves. A row is robust if every network whose weights differ by at most δ accepts it.
//!
//! # Paper
//! Jiang et al., "Provably robust and plausible counterfactual explanations for neural networks via robust
//! optimisation", 2023: the hull is that of the person's row and of the nearest training rows that are robust.
//! Categories cannot be mixed, so that the hull falls apart into the hulls of rows with the same categories; each is
//! searched coordinate by coordinate, where the paper solves a bilevel mixed-integer program. Robustness is proved by
//! interval arithmetic, which is safe but stricter. δ is the largest that leaves a tenth of the accepted training
//! rows robust. It knows no immutable features.

use par_data::Code;
use par_model::classifier::neural::{offsets, ones};

use super::known::Known;
use super::space::{Point, same};
use crate::case::Factual;
use crate::method::Method;

/// Robust training rows that span the hull.
const NEIGHBOURS: usize = 10;
/// The largest δ, and how often it is halved before it is 0.
const LARGEST: f64 = 0.05;
const HALVINGS: i32 = 10;
/// The share of accepted rows that must be robust.
const ROBUST: f64 = 0.1;
/// Rounds of the search in a hull, and steps of its line search.
const ROUNDS: usize = 10;
const STEPS: i32 = 10;

pub(super) struct Proplace<'k> {
    known: &'k Known<'k>,
    pub(super) delta: f64,
    /// The robust training rows.
    pub(super) rows: Vec<usize>,
}

impl<'k> Proplace<'k> {
    pub(super) fn new(known: &'k Known<'_>) -> Self {
        let accepted = known.whole_accepted();
        let least = (ROBUST * accepted.len() as f64).ceil() as usize;
        let mut proplace = Self { known, delta: 0.0, rows: Vec::new() };
        for halvings in 0..=HALVINGS {
            proplace.delta = if halvings == HALVINGS { 0.0 } else { LARGEST * 0.5_f64.powi(halvings) };
            let robust = accepted.iter().copied().filter(|&row| proplace.is_robust(&known.rows[row]));
            proplace.rows = robust.collect();
            if proplace.rows.len() >= least {
                break;
            }
        }
        proplace
    }

    /// Whether the classifier accepts a row with every change of its weights by at most δ.
    pub(super) fn is_robust(&self, point: &Point) -> bool {
        let space = &self.known.space;
        space.accepts(point) && {
            let lowest = self.lowest_log_odds(&space.codes(point));
            par_model::classifier::probability(lowest) >= space.model.threshold()
        }
    }

    /// A lower bound on the log-odds over all changes of the weights; their value for another kind of classifier.
    pub(super) fn lowest_log_odds(&self, codes: &[Code]) -> f64 {
        let model = self.known.space.model;
        let Some(network) = model.classifier().network() else {
            return model.classifier().typical().log_odds(codes);
        };
        // The inputs of a layer: the lowest and the highest value of each, none below 0.
        let mut inputs: Vec<[f64; 2]> = vec![[0.0; 2]; network.widths()[0]];
        ones(&offsets(&model.discretizer().cardinalities()), codes)
            .for_each(|place| inputs[place] = [1.0; 2]);
        let mut log_odds = f64::NEG_INFINITY;
        for layer in network.layers() {
            let mut outputs: Vec<[f64; 2]> = layer
                .biases
                .iter()
                .map(|&bias| [f64::from(bias) - self.delta, f64::from(bias) + self.delta])
                .collect();
            for (input, [low, high]) in inputs.iter().enumerate() {
                if *high == 0.0 {
                    continue;
                }
                for (output, &weight) in outputs.iter_mut().zip(layer.weights_of(input)) {
                    let [least, most] = [f64::from(weight) - self.delta, f64::from(weight) + self.delta];
                    output[0] += if least >= 0.0 { low * least } else { high * least };
                    output[1] += if most >= 0.0 { high * most } else { low * most };
                }
            }
            log_odds = outputs[0][0];
            inputs = outputs.into_iter().map(|ends| ends.map(|end| end.max(0.0))).collect();
        }
        log_odds
    }

    /// The nearest robust row in the hull of points with the same categories, from one of them on.
    fn nearest_in_hull(&self, own: &Point, corners: &[&Point], start: &Point) -> Point {
        let space = &self.known.space;
        let mut best = (space.distance(own, start), start.clone());
        for _ in 0..ROUNDS {
            let before = best.0;
            for corner in corners {
                // The longest step that helps; all shorter ones are tried before it is given up.
                for step in (0..STEPS).map(|halvings| 0.5_f64.powi(halvings)) {
                    let mixed = |feature: usize| {
                        let (from, to) = (best.1[feature], corner[feature]);
                        let value = from + step * (to - from);
                        if same(from, to) { from } else { space.axes[feature].snapped(value) }
                    };
                    let point: Point = (0..own.len()).map(mixed).collect();
                    let distance = space.distance(own, &point);
                    if distance < best.0 && self.is_robust(&point) {
                        best = (distance, point);
                        break;
                    }
                }
            }
            if best.0 >= before - 1e-9 {
                break;
            }
        }
        best.1
    }

    /// Whether two rows have the same categories, so that the rows between them exist.
    fn is_mixable(&self, one: &Point, other: &Point) -> bool {
        let pairs = one.iter().zip(other).zip(&self.known.space.axes);
        pairs.into_iter().all(|((one, other), axis)| {
            same(*one, *other) || (axis.is_ordered() && !one.is_nan() && !other.is_nan())
        })
    }
}

impl Method for Proplace<'_> {
    fn name(&self) -> &str {
        super::Native::Proplace.name()
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        let (known, space) = (self.known, &self.known.space);
        let own = known.read(person)?;
        let near = known.nearest(&self.rows, &own, NEIGHBOURS);
        let corners: Vec<&Point> =
            near.iter().map(|&row| &known.rows[row]).chain(std::iter::once(&own)).collect();
        let found = near.iter().map(|&row| {
            let start = &known.rows[row];
            let hull: Vec<&Point> =
                corners.iter().copied().filter(|corner| self.is_mixable(start, corner)).collect();
            let point = self.nearest_in_hull(&own, &hull, start);
            (space.distance(&own, &point), point)
        });
        let (_, point) = found.min_by(|one, other| one.0.total_cmp(&other.0))?;
        Some(space.write(&point, &own, &person.cells))
    }
}
