//! The VAE counterfactual: an autoencoder that sees the wanted decision learns to change rows until they get it, and
//! to change little else.
//!
//! # Paper
//! Mahajan, Tan, Sharma, "Preserving causal constraints in counterfactual explanations for machine learning
//! classifiers", 2019: the base model, without causal constraints, which table 1 calls VAE. The row is decoded from
//! the mean of the person's latent code, and from up to ten draws if that is denied. It works on our codes, not on
//! raw values; it knows no immutable features.

use par_model::network::Trace;

use super::known::{Draw, Known};
use super::normal::normal;
use super::vae::{Example, Vae};
use crate::case::Factual;
use crate::method::Method;

/// It learns from at most so many rows.
pub(super) const ROWS: usize = 10_000;
/// The weight of the hinge loss of the decision, and its margin in log-odds.
const VALIDITY: f32 = 20.0;
const MARGIN: f64 = 1.0;
/// Draws beside the mean.
const DRAWS: usize = 10;

pub(super) struct VaeAnswer<'k> {
    known: &'k Known<'k>,
    vae: Vae,
}

impl<'k> VaeAnswer<'k> {
    pub(super) fn new(known: &'k Known<'_>) -> Self {
        let (space, classifier) = (&known.space, known.space.model.classifier().typical());
        let threshold = space.model.scale().log_odds(space.model.threshold());
        let rows = known.sampled((0..known.rows.len()).collect(), ROWS);
        // Every row is to get the other decision.
        let examples: Vec<Example> = rows
            .into_iter()
            .map(|row| Example {
                codes: space.codes(&known.rows[row]),
                condition: vec![if known.accepted[row] { 0.0 } else { 1.0 }],
            })
            .collect();
        let hinge = |condition: &[f32], soft: &[f32], by_soft: &mut [f32]| {
            let sign = if condition[0] > 0.5 { 1.0 } else { -1.0 };
            let above = sign * (classifier.log_odds_gradient(soft, by_soft) - threshold);
            let factor = if above < MARGIN { -VALIDITY * sign as f32 } else { 0.0 };
            by_soft.iter_mut().for_each(|slope| *slope *= factor);
        };
        let cardinalities = space.model.discretizer().cardinalities();
        let rng = &mut known.rng(Draw::Preparation);
        Self { known, vae: Vae::train(cardinalities, &examples, known.steps(), &hinge, rng) }
    }
}

impl Method for VaeAnswer<'_> {
    fn name(&self) -> &str {
        super::Native::Vae.name()
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        let (known, space) = (self.known, &self.known.space);
        let own = known.read(person)?;
        let asked = Example { codes: space.codes(&own), condition: vec![1.0] };
        let latent = self.vae.encode(&asked);
        let rng = &mut known.rng(Draw::Person(person));
        let draw = |spread: f32| -> Vec<f32> {
            latent.iter().map(|(mean, deviation)| mean + spread * deviation * normal(rng) as f32).collect()
        };
        let spreads = std::iter::once(0.0).chain(std::iter::repeat_n(1.0, DRAWS));
        let latents: Vec<Vec<f32>> = spreads.map(draw).collect();
        let rows = self.vae.decode(&latents, &asked.condition, &mut Trace::default());
        let points: Vec<_> = rows.iter().map(|codes| space.point_of(codes, &own)).collect();
        // A denied row is an answer too: it is what the decoder has learned.
        let point = points.iter().find(|point| space.accepts(point)).or(points.first())?;
        Some(space.write(point, &own, &person.cells))
    }
}
