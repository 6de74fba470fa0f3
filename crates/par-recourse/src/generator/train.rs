//! How a generator learns, from rows that the circuits give and the classifier denies.

use std::ops::Range;

use par_circuit::{Circuit, Code, Evaluator, OPEN};
use par_data::{Constraints, Mask, Schema};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::config::{GeneratorConfig, LossConfig};
use super::encoder::EncoderTrace;
use super::loss::{self, FreeFeature, LossTerms, free_features, unless_off};
use super::{Generator, GeneratorShape};
use crate::classifier::{Classifier, probability};
use crate::network::{Adam, Trace};
use crate::pool::{AcceptedPool, NeighbourSearch};

/// Knows a recourse for the factual of a mask, or that there is none.
pub type Teacher<'a> = dyn Fn(&Mask) -> Option<Vec<Code>> + Sync + 'a;

/// What a generator learns from.
#[derive(Clone, Copy)]
pub struct Training<'a> {
    /// Who is immutable.
    pub schema: &'a Schema,
    /// What may change.
    pub constraints: &'a Constraints,
    /// Who is accepted.
    pub classifier: &'a dyn Classifier,
    /// The probability from which on a row is accepted.
    pub threshold: f64,
    /// p⁺.
    pub accepted: &'a Circuit,
    /// p⁻.
    pub denied: &'a Circuit,
    /// Accepted rows.
    pub pool: &'a AcceptedPool,
    /// Asked for each example, from several threads, unless teaching is switched off.
    pub teacher: Option<&'a Teacher<'a>>,
}

/// How training went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// How many denied rows there were to learn from.
    pub examples: usize,
    /// How many of them the teacher had a recourse for.
    pub taught: usize,
    /// How many others the progress was measured on.
    pub held_out: usize,
    /// The learning curves.
    pub points: Vec<Point>,
}

/// One point of the learning curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Steps that have been made.
    pub step: usize,
    /// Means over the examples of the steps since the last point.
    pub loss: LossTerms,
    /// How the most probable rows of the held-out factuals do; `None` when there are none.
    pub held_out: Option<HeldOut>,
}

/// How the most probable legal rows of the held-out factuals do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The share that the classifier accepts.
    pub valid: f64,
    /// Mean number of changes, over all.
    pub changes: f64,
    /// Mean log p⁺, over all.
    pub log_likelihood: f64,
}

/// Told after every step.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Steps that have been made.
    pub step: usize,
    /// Steps there will be.
    pub steps: usize,
    /// The point of the learning curves that this step completed.
    pub point: Option<&'a Point>,
}

/// Rows that one thread takes through the networks together. Sums of gradients are made over these first,
/// so this is part of what a seed stands for.
const CHUNK: usize = 32;
/// Factuals that progress is measured on, at most; and of how many found one is held out.
const HELD_OUT: (usize, usize) = (256, 10);
/// Rows drawn for each example that is wanted before the search is given up.
const DRAWS_AN_EXAMPLE: u64 = 40;
/// Rows drawn from each circuit at once.
const DRAWN_AT_ONCE: u64 = 2048;

impl Generator {
    /// Trains a generator. The same seed gives the same parameters on any number of threads.
    ///
    /// It stays as it was drawn, untrained, when nobody is denied or nobody could change anything.
    ///
    /// # Panics
    /// When circuits, classifier, constraints and pool are not of the same features.
    ///
    /// # Paper
    /// "The recourse generator is trained using instances sampled from p⁺ and p⁻"; those that the
    /// classifier accepts need no recourse and are left out.
    pub fn train(
        training: &Training,
        config: &GeneratorConfig,
        seed: u64,
        progress: &mut dyn FnMut(&Progress),
    ) -> (Self, History) {
        let cardinalities = training.accepted.cardinalities();
        assert_eq!(cardinalities, training.denied.cardinalities(), "one set of features");
        assert_eq!(cardinalities, training.classifier.cardinalities(), "one set of features");
        assert_eq!(cardinalities, training.pool.rows().cardinalities(), "one set of features");
        assert_eq!(cardinalities.len(), training.constraints.features(), "one set of features");
        let features = training.schema.features();
        let immutable = (0..features.len()).filter(|&feature| features[feature].immutable).collect();
        let shape = GeneratorShape::new(config, cardinalities.to_vec(), immutable, training.pool);
        let mut generator = Self::new(shape, &mut rng(seed, Task::Initialise));

        let mut examples = examples(training, config, &generator.shape, seed);
        let found = examples.len().min(config.examples);
        let held_out = examples.split_off(examples.len() - (found / HELD_OUT.1).min(HELD_OUT.0));
        if config.loss.teaching > 0.0 {
            teach(training.teacher, &mut examples);
        }
        let taught = |example: &&Example| example.free.iter().any(|feature| feature.target.is_some());
        let mut history = History {
            examples: examples.len(),
            taught: examples.iter().filter(taught).count(),
            held_out: held_out.len(),
            points: Vec::new(),
        };
        if !examples.is_empty() {
            generator.descend(training, config, &examples, &held_out, seed, &mut |step, point| {
                history.points.extend(point.cloned());
                progress(&Progress { step, steps: config.steps, point });
            });
        }
        (generator, history)
    }

    fn descend(
        &mut self,
        training: &Training,
        config: &GeneratorConfig,
        examples: &[Example],
        held_out: &[Example],
        seed: u64,
        report: &mut dyn FnMut(usize, Option<&Point>),
    ) {
        let mut order: Vec<usize> = (0..examples.len()).collect();
        let mut next = order.len();
        let mut shuffles = rng(seed, Task::Shuffle);
        let mut gradient = vec![0.0_f32; self.parameters().len()];
        let mut adam = Adam::new(gradient.len(), config.learning_rate);
        let batch = config.batch.min(examples.len());
        let mut workers: Vec<Worker> =
            (0..batch.div_ceil(CHUNK)).map(|_| Worker::new(training, gradient.len())).collect();
        let mut since = (0, LossTerms::default());
        for step in 1..=config.steps {
            if next + batch > order.len() {
                shuffle(&mut order, &mut shuffles);
                next = 0;
            }
            let chosen = &order[next..next + batch];
            next += batch;
            let share = 1.0 / batch as f64;
            workers.par_iter_mut().zip(chosen.par_chunks(CHUNK)).for_each(|(worker, chosen)| {
                let examples: Vec<&Example> = chosen.iter().map(|&example| &examples[example]).collect();
                worker.differentiate(self, training.classifier, &config.loss, &examples, share);
            });
            gradient.fill(0.0);
            for worker in &workers {
                gradient.iter_mut().zip(&worker.gradient).for_each(|(sum, slope)| *sum += slope);
                since.1.add(share, &worker.terms);
            }
            since.0 += 1;
            let done = (step - 1) as f64 / config.steps as f64;
            adam.set_rate(config.learning_rate * (1.0 - (1.0 - config.decay) * done));
            adam.step(&mut self.networks_mut(), &gradient);

            let point = (step % config.record_every == 0 || step == config.steps).then(|| {
                let (steps, sums) = std::mem::take(&mut since);
                let mut loss = LossTerms::default();
                loss.add(1.0 / f64::from(steps), &sums);
                Point { step, loss, held_out: self.held_out(training, held_out) }
            });
            report(step, point.as_ref());
        }
    }

    /// How the most probable legal rows of some factuals do.
    fn held_out(&self, training: &Training, held_out: &[Example]) -> Option<HeldOut> {
        let judge = |(worker, accepted): &mut (Worker, Evaluator), examples: &[Example]| {
            let examples: Vec<&Example> = examples.iter().collect();
            worker.forward(self, &examples);
            let mut sums = HeldOut::default();
            for (example, logits) in examples.iter().zip(worker.logits.chunks_exact(self.shape.codes())) {
                let row = example.mask.argmax(logits);
                let valid = probability(training.classifier.log_odds(&row)) >= training.threshold;
                let changed = row.iter().zip(example.mask.factual()).filter(|(code, own)| code != own);
                sums.valid += f64::from(u8::from(valid));
                sums.changes += changed.count() as f64;
                sums.log_likelihood += accepted.log_prob(&row);
            }
            sums
        };
        let start = || (Worker::new(training, 0), training.accepted.evaluator());
        let sums: Vec<HeldOut> = held_out.par_chunks(CHUNK).map_init(start, judge).collect();
        let mean = |part: fn(&HeldOut) -> f64| sums.iter().map(part).sum::<f64>() / held_out.len() as f64;
        (!held_out.is_empty()).then(|| HeldOut {
            valid: mean(|sums| sums.valid),
            changes: mean(|sums| sums.changes),
            log_likelihood: mean(|sums| sums.log_likelihood),
        })
    }
}

/// What random numbers are drawn for.
enum Task {
    Initialise,
    Shuffle,
    Draw,
}

fn rng(seed: u64, task: Task) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(task as u64);
    rng
}

fn shuffle(order: &mut [usize], rng: &mut impl Rng) {
    for last in (1..order.len()).rev() {
        order.swap(last, rng.random_range(0..=last));
    }
}

/// A denied row to learn from, with all that does not change while learning.
struct Example<'a> {
    mask: Mask<'a>,
    free: Vec<FreeFeature>,
    /// Where the codes of features stand whose own is unknown.
    unknown: Vec<Range<usize>>,
    /// What the generator is told, but for the embedding.
    inputs: Vec<f32>,
    /// What the encoder is told.
    descriptors: Vec<f32>,
}

/// Draws denied rows that have something to change, some of them with locks.
fn examples<'a>(
    training: &Training<'a>,
    config: &GeneratorConfig,
    shape: &GeneratorShape,
    seed: u64,
) -> Vec<Example<'a>> {
    let mut draws = rng(seed, Task::Draw);
    let seeds: [u64; 3] = std::array::from_fn(|_| draws.random());
    let samplers = [training.denied.sampler(), training.accepted.sampler()];
    let wanted = config.examples + (config.examples / HELD_OUT.1).min(HELD_OUT.0);
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
                    let mut rng = ChaCha8Rng::seed_from_u64(seeds[2]);
                    rng.set_stream(2 * drawn + position as u64);
                    let mask = denied_mask(training, config, row, &mut rng)?;
                    let log_likelihood = evaluator.log_prob(mask.factual());
                    let neighbours =
                        training.pool.nearest(mask.factual(), training.pool.neighbours(), search);
                    Some(Example::new(training, shape, mask, log_likelihood, neighbours))
                },
            )
            .collect();
        examples.extend(found.into_iter().flatten());
        drawn += DRAWN_AT_ONCE;
    }
    examples.truncate(wanted);
    examples
}

/// The mask of a row under random locks; `None` when it is accepted or cannot change.
fn denied_mask<'a>(
    training: &Training<'a>,
    config: &GeneratorConfig,
    row: &[Code],
    rng: &mut impl Rng,
) -> Option<Mask<'a>> {
    let mut row = row.to_vec();
    if config.unknown_rate > 0.0 {
        row.iter_mut().filter(|_| rng.random_bool(config.unknown_rate)).for_each(|code| *code = OPEN);
    }
    if probability(training.classifier.log_odds(&row)) >= training.threshold {
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
    fn new(
        training: &Training,
        shape: &GeneratorShape,
        mask: Mask<'a>,
        log_likelihood: f64,
        neighbours: &[crate::pool::Neighbour],
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

fn teach(teacher: Option<&Teacher>, examples: &mut [Example]) {
    let Some(teacher) = teacher else { return };
    examples.par_iter_mut().for_each(|example| {
        if let Some(target) = teacher(&example.mask) {
            example.free = free_features(&example.mask, Some(&target));
        }
    });
}

/// Takes examples through the networks and back, with memory of its own.
struct Worker<'a> {
    encoder: EncoderTrace,
    network: Trace,
    logits: Vec<f64>,
    marginals: Vec<f64>,
    by_marginals: Vec<f64>,
    by_logits: Vec<f64>,
    by_outputs: Vec<f32>,
    /// The marginals in the precision of classifier and circuits, and a gradient by them.
    soft: Vec<f32>,
    by_soft: Vec<f32>,
    circuits: [Evaluator<'a>; 2],
    /// Sums over the examples of the last call.
    gradient: Vec<f32>,
    terms: LossTerms,
}

impl<'a> Worker<'a> {
    fn new(training: &Training<'a>, parameters: usize) -> Self {
        Self {
            encoder: EncoderTrace::default(),
            network: Trace::default(),
            logits: Vec::new(),
            marginals: Vec::new(),
            by_marginals: Vec::new(),
            by_logits: Vec::new(),
            by_outputs: Vec::new(),
            soft: Vec::new(),
            by_soft: Vec::new(),
            circuits: [training.accepted.evaluator(), training.denied.evaluator()],
            gradient: vec![0.0; parameters],
            terms: LossTerms::default(),
        }
    }

    /// Computes the logits of all examples.
    fn forward(&mut self, generator: &Generator, examples: &[&Example]) {
        let shape = &generator.shape;
        let descriptors = self.encoder.descriptors();
        examples.iter().for_each(|example| descriptors.extend_from_slice(&example.descriptors));
        let neighbours = neighbours(examples);
        let embeddings = generator.encoder.forward(examples.len(), neighbours, &mut self.encoder);
        let inputs = self.network.inputs();
        for (example, embedding) in examples.iter().zip(embeddings.chunks_exact(shape.embedding)) {
            inputs.extend_from_slice(&example.inputs);
            inputs.extend_from_slice(embedding);
        }
        let outputs = generator.network.forward(&mut self.network);
        self.logits.resize(examples.len() * shape.codes(), 0.0);
        let rows = outputs.chunks_exact(shape.outputs()).zip(self.logits.chunks_exact_mut(shape.codes()));
        for (example, (outputs, logits)) in examples.iter().zip(rows) {
            shape.write_logits(&example.mask, outputs, logits);
        }
    }

    /// Sums the terms of the objective over some examples, and `share` times its gradient.
    fn differentiate(
        &mut self,
        generator: &Generator,
        classifier: &dyn Classifier,
        config: &LossConfig,
        examples: &[&Example],
        share: f64,
    ) {
        self.forward(generator, examples);
        let shape = &generator.shape;
        let codes = shape.codes();
        for buffer in [&mut self.marginals, &mut self.by_logits, &mut self.by_marginals] {
            buffer.resize(codes, 0.0);
        }
        self.by_soft.resize(codes, 0.0);
        self.by_outputs.resize(examples.len() * shape.outputs(), 0.0);
        self.terms = LossTerms::default();
        for (row, example) in examples.iter().enumerate() {
            let logits = &self.logits[row * codes..][..codes];
            example.mask.marginals(logits, &mut self.marginals);
            self.by_marginals.fill(0.0);
            let mut terms = LossTerms::default();
            let (free, q, gradient) = (&example.free, &self.marginals, &mut self.by_marginals);

            self.soft.clear();
            self.soft.extend(q.iter().map(|&probability| probability as f32));
            terms.validity = unless_off(config.validity, |weight| {
                let log_odds = classifier.log_odds_gradient(&self.soft, &mut self.by_soft);
                loss::validity(log_odds, &self.by_soft, share * weight, gradient)
            });
            example.unknown.iter().for_each(|codes| self.soft[codes.clone()].fill(1.0));
            let [accepted, denied] = &mut self.circuits;
            terms.accepted = unless_off(config.accepted_weight(), |weight| {
                let log_likelihood = accepted.soft_gradient(&self.soft, &mut self.by_soft);
                loss::accepted(log_likelihood, &self.by_soft, share * weight, gradient)
            });
            terms.denied = unless_off(config.denied_weight(), |weight| {
                let log_likelihood = denied.soft_gradient(&self.soft, &mut self.by_soft);
                loss::denied(log_likelihood, &self.by_soft, share * weight, gradient)
            });
            terms.proximity = unless_off(config.proximity_weight(), |weight| {
                loss::proximity(free, q, config.budget, share * weight, gradient)
            });
            terms.sparsity =
                unless_off(config.sparsity, |weight| loss::sparsity(free, q, share * weight, gradient));
            terms.entropy =
                unless_off(config.entropy, |weight| loss::entropy(free, q, share * weight, gradient));
            terms.teaching =
                unless_off(config.teaching, |weight| loss::teaching(free, q, share * weight, gradient));
            terms.weigh(config);
            self.terms.add(1.0, &terms);

            example.mask.marginals_pullback(logits, &self.by_marginals, &mut self.by_logits);
            let by_outputs = &mut self.by_outputs[row * shape.outputs()..][..shape.outputs()];
            shape.pull_logits(&example.mask, &self.by_logits, by_outputs);
        }
        self.backward(generator, neighbours(examples));
    }

    fn backward(&mut self, generator: &Generator, neighbours: usize) {
        let shape = &generator.shape;
        self.gradient.fill(0.0);
        let of_network = self.gradient.len() - generator.network.parameters().len();
        let (of_encoder, of_network) = self.gradient.split_at_mut(of_network);
        let by_inputs = generator.network.backward(&self.network, &self.by_outputs, of_network);
        let rows = by_inputs.chunks_exact(shape.inputs() + shape.embedding);
        let by_embedding: Vec<f32> = rows.flat_map(|row| &row[shape.inputs()..]).copied().collect();
        generator.encoder.backward(neighbours, &self.encoder, &by_embedding, of_encoder);
    }
}

/// How many neighbours each of the examples has: as many as the pool has to give.
fn neighbours(examples: &[&Example]) -> usize {
    examples.first().map_or(0, |example| example.descriptors.len() / super::encoder::DESCRIPTOR)
}
