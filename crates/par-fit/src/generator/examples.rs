//! Draws denied rows from both circuits as training examples.

use std::ops::Range;

use par_circuit::{Code, OPEN, Stop, Stopped};
use par_data::Mask;
use par_model::generator::{GeneratorConfig, GeneratorShape, LossConfig};
use par_model::pool::{Neighbour, NeighbourSearch};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Training;
use super::loss::{FreeFeature, free_features};

/// The most rows drawn for each example.
const DRAWS_AN_EXAMPLE: u64 = 40;
/// Rows drawn from each circuit at once.
const DRAWN_AT_ONCE: u64 = 2048;

/// A training example: a denied row, with everything that stays the same during training.
pub(super) struct Example<'a> {
    pub(super) mask: Mask<'a>,
    pub(super) free: Vec<FreeFeature>,
    /// The codes, among those of all features, of each feature whose value is unknown.
    pub(super) unknown: Vec<Range<usize>>,
    /// The inputs of the generator before the embedding.
    pub(super) inputs: Vec<f32>,
    /// The inputs of the encoder.
    pub(super) descriptors: Vec<f32>,
}

/// Draws `wanted` denied rows with at least one free feature, some of them with locks; fewer if they are rare.
pub(super) fn examples<'a>(
    training: &Training<'a>,
    config: &GeneratorConfig,
    shape: &GeneratorShape,
    wanted: usize,
    rng: &mut impl Rng,
    stop: Stop<'_>,
) -> Result<Vec<Example<'a>>, Stopped> {
    let seeds: [u64; 3] = std::array::from_fn(|_| rng.random());
    let samplers = [training.denied.sampler(), training.accepted.sampler()];
    let limit = (wanted as u64 * DRAWS_AN_EXAMPLE).max(DRAWN_AT_ONCE);
    let mut examples = Vec::new();
    let mut drawn = 0;
    while drawn < limit && examples.len() < wanted {
        let range = drawn..drawn + DRAWN_AT_ONCE;
        let [denied, accepted] =
            std::array::from_fn(|circuit| samplers[circuit].rows(range.clone(), seeds[circuit]));
        let rows: Vec<&[Code]> =
            denied.rows().zip(accepted.rows()).flat_map(|(one, two)| [one, two]).collect();
        let found: Vec<Option<Example>> = (rows.par_iter().enumerate())
            .map_init(
                || (training.accepted.evaluator(), NeighbourSearch::default()),
                |(evaluator, search), (position, row)| {
                    stop.check()?;
                    let mut rng = ChaCha8Rng::seed_from_u64(seeds[2]);
                    rng.set_stream(2 * drawn + position as u64);
                    let Some(mask) = denied_mask(training, config, row, &mut rng) else { return Ok(None) };
                    let log_likelihood = evaluator.log_prob(mask.factual());
                    let neighbours =
                        training.pool.nearest(mask.factual(), training.pool.neighbours(), search);
                    Ok(Some(Example::new(training, shape, mask, log_likelihood, neighbours)))
                },
            )
            .collect::<Result<_, Stopped>>()?;
        examples.extend(found.into_iter().flatten());
        drawn += DRAWN_AT_ONCE;
    }
    examples.truncate(wanted);
    Ok(examples)
}

/// The mask of a row under random locks; `None` if it is accepted or cannot change.
fn denied_mask<'a>(
    training: &Training<'a>,
    config: &GeneratorConfig,
    row: &[Code],
    rng: &mut impl Rng,
) -> Option<Mask<'a>> {
    let mut row = row.to_vec();
    for (code, _) in row.iter_mut().zip(training.missing).filter(|(_, missing)| **missing) {
        if rng.random_bool(config.unknown_rate) {
            *code = OPEN;
        }
    }
    if training.target.accepts(&row) {
        return None;
    }
    let locks: Vec<usize> = if rng.random_bool(config.locked) {
        let rate = config.lock_rate * rng.random::<f64>();
        (0..row.len()).filter(|_| rng.random_bool(rate)).collect()
    } else {
        Vec::new()
    };
    let mask = training.constraints.mask(&row, &locks);
    (mask.free_features() > 0).then_some(mask)
}

impl<'a> Example<'a> {
    pub(super) fn new(
        training: &Training,
        shape: &GeneratorShape,
        mask: Mask<'a>,
        log_likelihood: f64,
        neighbours: &[Neighbour],
    ) -> Self {
        let mut inputs = Vec::with_capacity(shape.inputs());
        shape.write_inputs(&mask, log_likelihood, &mut inputs);
        let mut descriptors = Vec::new();
        shape.write_descriptors(training.pool, neighbours, &mut descriptors);
        let own = mask.factual().iter().enumerate();
        let unknown = own.filter(|(_, code)| **code == OPEN).map(|(at, _)| training.constraints.range(at));
        Self { free: free_features(&mask, None), unknown: unknown.collect(), inputs, descriptors, mask }
    }
}

impl Example<'_> {
    /// The changes that cost nothing: as many as its teacher makes, where these are more than usual.
    pub(super) fn budget(&self, config: &LossConfig) -> f64 {
        let is_changed = |feature: &&FreeFeature| feature.target.is_some_and(|target| target != feature.own);
        config.budget.max(self.free.iter().filter(is_changed).count() as f64)
    }
}

/// Sets the teacher's recourse as the target of every example.
pub(super) fn teach(training: &Training, examples: &mut [Example], stop: Stop<'_>) -> Result<(), Stopped> {
    let Some(teacher) = training.teacher else { return Ok(()) };
    examples.par_iter_mut().try_for_each_init(teacher, |teacher, example| {
        stop.check()?;
        if let Some(target) = teacher(&example.mask) {
            example.free = free_features(&example.mask, Some(&target));
        }
        Ok(())
    })
}
