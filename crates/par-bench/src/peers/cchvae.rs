//! C-CHVAE: rows are drawn in ever larger shells around the person's latent code, until the classifier accepts one.
//!
//! # Paper
//! Pawelczyk, Broelemann, Kasneci, "Learning model-agnostic counterfactual explanations for tabular data", 2020,
//! which table 1 calls CVAE, with CARLA's search: shells of width 0.1 with 300 draws each, at most a hundred of them.
//! The autoencoder is conditional on the immutable features, which stay. It works on our codes, not on raw values.

use par_circuit::Code;
use par_data::UNKNOWN;
use par_model::network::Trace;
use rand::{Rng, RngExt};

use super::known::{Draw, Known};
use super::normal::normal;
use super::space::{Point, Space};
use super::vae::{Example, Vae};
use super::vae_answer::ROWS;
use crate::case::Factual;
use crate::method::Method;

/// The width of a shell.
const SHELL: f32 = 0.1;
/// Draws from a shell.
const DRAWS: usize = 300;
/// At most this many shells: a latent code is rarely more than five from the origin.
const SHELLS: usize = 100;

pub(super) struct Cchvae<'k> {
    known: &'k Known<'k>,
    vae: Vae,
}

impl<'k> Cchvae<'k> {
    pub(super) fn new(known: &'k Known<'_>) -> Self {
        let rows = known.sampled((0..known.rows.len()).collect(), ROWS);
        let examples: Vec<Example> =
            rows.into_iter().map(|row| example(&known.space, &known.rows[row])).collect();
        let cardinalities = known.space.model.discretizer().cardinalities();
        let rng = &mut known.rng(Draw::Preparation);
        Self { known, vae: Vae::train(cardinalities, &examples, known.steps(), &|_, _, _| {}, rng) }
    }
}

/// A row on the condition of its locked features.
fn example(space: &Space<'_>, point: &Point) -> Example {
    let (codes, cardinalities) = (space.codes(point), space.model.discretizer().cardinalities());
    let mut condition = Vec::new();
    for (feature, _) in space.locked.iter().enumerate().filter(|(_, locked)| **locked) {
        let is_code = |code: usize| f32::from(u8::from(usize::from(codes[feature]) == code));
        condition.extend((0..cardinalities[feature]).map(is_code));
    }
    Example { codes, condition }
}

/// A point whose distance from the origin is between two radii.
fn shell(dimensions: usize, [inner, outer]: [f32; 2], rng: &mut impl Rng) -> Vec<f32> {
    let direction: Vec<f32> = (0..dimensions).map(|_| normal(rng) as f32).collect();
    let length = direction.iter().map(|step| step * step).sum::<f32>().sqrt();
    let radius = rng.random_range(inner..outer);
    direction.into_iter().map(|step| radius * step / length).collect()
}

impl Method for Cchvae<'_> {
    fn name(&self) -> &str {
        super::Native::Cchvae.name()
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        let space = &self.known.space;
        let own = self.known.read(person)?;
        let asked = example(space, &own);
        let centre: Vec<f32> = self.vae.encode(&asked).into_iter().map(|(mean, _)| mean).collect();
        let rng = &mut self.known.rng(Draw::Person(person));
        let mut trace = Trace::default();
        let stays = |feature: usize| space.locked[feature] || asked.codes[feature] == UNKNOWN;
        for shells in 0..SHELLS {
            let radii = [shells, shells + 1].map(|shells| SHELL * shells as f32);
            let latents: Vec<Vec<f32>> = (0..DRAWS)
                .map(|_| {
                    shell(centre.len(), radii, rng).iter().zip(&centre).map(|(step, at)| at + step).collect()
                })
                .collect();
            let decoded =
                self.vae.decode(&latents, &asked.condition, &mut trace).into_iter().map(|mut codes| {
                    let own = codes.iter_mut().enumerate().filter(|(feature, _)| stays(*feature));
                    own.for_each(|(feature, code): (usize, &mut Code)| *code = asked.codes[feature]);
                    codes
                });
            let points = decoded.map(|codes| space.point_of(&codes, &own));
            let accepted = points.filter(|point| space.accepts(point));
            let near = accepted.map(|point| (space.distance(&own, &point), point));
            if let Some((_, point)) = near.min_by(|one, other| one.0.total_cmp(&other.0)) {
                return Some(space.write(&point, &own, &person.cells));
            }
        }
        None
    }
}
