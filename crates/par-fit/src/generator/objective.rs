//! The objective and its gradient by the parameters of a generator.

use par_circuit::SoftEvaluator;
use par_model::card::LossTerms;
use par_model::classifier::Classifier;
use par_model::generator::{DESCRIPTOR, EncoderTrace, Generator, LossConfig};
use par_model::network::Trace;

use super::Training;
use super::examples::Example;
use super::loss::{self, unless_off, weighted};

/// A term of the log-likelihood of a soft row, such as [`loss::accepted`].
type Likelihood = fn(f64, &[f32], f64, &mut [f64]) -> f64;

/// Forward and backward passes over examples, with their buffers.
pub(super) struct Worker<'a> {
    encoder: EncoderTrace,
    network: Trace,
    pub(super) logits: Vec<f64>,
    marginals: Vec<f64>,
    by_marginals: Vec<f64>,
    by_logits: Vec<f64>,
    by_outputs: Vec<f32>,
    /// The marginals in the precision of classifier and circuits, and a gradient by them.
    soft: Vec<f32>,
    by_soft: Vec<f32>,
    /// The lowest log-odds that are accepted.
    threshold: f64,
    /// Whether they are those of a predicted number, of which zero means nothing.
    is_number: bool,
    accepted: SoftEvaluator<'a>,
    denied: SoftEvaluator<'a>,
    /// The gradient, summed over the examples of the last call.
    pub(super) gradient: Vec<f32>,
    pub(super) terms: LossTerms,
}

impl<'a> Worker<'a> {
    pub(super) fn new(training: &Training<'a>, parameters: usize) -> Self {
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
            threshold: training.target.scale.log_odds(training.target.threshold),
            is_number: training.target.scale.is_number(),
            accepted: training.accepted.soft_evaluator(),
            denied: training.denied.soft_evaluator(),
            gradient: vec![0.0; parameters],
            terms: LossTerms::default(),
        }
    }

    /// Computes the logits of all examples.
    pub(super) fn forward(&mut self, generator: &Generator, examples: &[&Example]) {
        let shape = generator.shape();
        let descriptors = self.encoder.descriptors();
        examples.iter().for_each(|example| descriptors.extend_from_slice(&example.descriptors));
        let neighbours = neighbours(examples);
        let embeddings = generator.encoder().forward(examples.len(), neighbours, &mut self.encoder);
        let inputs = self.network.inputs();
        for (example, embedding) in examples.iter().zip(embeddings.chunks_exact(shape.embedding)) {
            inputs.extend_from_slice(&example.inputs);
            inputs.extend_from_slice(embedding);
        }
        let outputs = generator.network().forward(&mut self.network);
        self.logits.clear();
        self.logits.extend(outputs.iter().map(|&output| f64::from(output)));
        for (example, logits) in examples.iter().zip(self.logits.chunks_exact_mut(shape.codes())) {
            shape.favour_own(&example.mask, logits);
        }
    }

    /// Sums the terms of the objective over examples, and `share` times its gradient.
    pub(super) fn differentiate(
        &mut self,
        generator: &Generator,
        classifier: &dyn Classifier,
        config: &LossConfig,
        examples: &[&Example],
        share: f64,
    ) {
        self.forward(generator, examples);
        let codes = generator.shape().codes();
        self.marginals.resize(self.logits.len(), 0.0);
        self.by_soft.resize(self.logits.len(), 0.0);
        self.by_marginals.clear();
        self.by_marginals.resize(self.logits.len(), 0.0);
        let rows = self.logits.chunks_exact(codes).zip(self.marginals.chunks_exact_mut(codes));
        examples.iter().zip(rows).for_each(|(example, (logits, q))| example.mask.marginals(logits, q));
        self.soft.clear();
        self.soft.extend(self.marginals.iter().map(|&probability| probability as f32));

        self.terms = LossTerms {
            validity: unless_off(config.validity, |weight| {
                let threshold = if config.at_threshold || self.is_number { self.threshold } else { 0.0 };
                self.validity(classifier, threshold, codes, share * weight)
            }),
            ..LossTerms::default()
        };
        for (example, soft) in examples.iter().zip(self.soft.chunks_exact_mut(codes)) {
            example.unknown.iter().for_each(|codes| soft[codes.clone()].fill(1.0));
        }
        let Self { soft, by_soft, by_marginals, accepted, denied, .. } = self;
        let mut likelihood = |circuit: &mut SoftEvaluator<'_>, term: Likelihood, weight: f64| {
            // Circuits are faster on all rows at once.
            let log_likelihoods = circuit.gradients(soft, by_soft);
            let rows = by_soft.chunks_exact(codes).zip(by_marginals.chunks_exact_mut(codes));
            let terms = log_likelihoods.iter().zip(rows);
            let terms = terms.map(|(&log_likelihood, (by_soft, gradient))| {
                term(log_likelihood, by_soft, share * weight, gradient)
            });
            terms.sum::<f64>()
        };
        self.terms.accepted =
            unless_off(config.accepted_weight(), |weight| likelihood(accepted, loss::accepted, weight));
        self.terms.denied =
            unless_off(config.denied_weight(), |weight| likelihood(denied, loss::denied, weight));
        let rows = self.marginals.chunks_exact(codes).zip(self.by_marginals.chunks_exact_mut(codes));
        for (example, (q, gradient)) in examples.iter().zip(rows) {
            let free = &example.free;
            self.terms.proximity += unless_off(config.proximity_weight(), |weight| {
                loss::proximity(free, q, example.budget(config), share * weight, gradient)
            });
            self.terms.sparsity +=
                unless_off(config.sparsity, |weight| loss::sparsity(free, q, share * weight, gradient));
            self.terms.entropy +=
                unless_off(config.entropy, |weight| loss::entropy(free, q, share * weight, gradient));
            self.terms.teaching +=
                unless_off(config.teaching, |weight| loss::teaching(free, q, share * weight, gradient));
        }
        self.terms.total = weighted(&self.terms, config);
        self.backward(generator, examples);
    }

    /// The sum of [`loss::validity`] over the rows, for log-odds relative to a threshold.
    fn validity(&mut self, classifier: &dyn Classifier, threshold: f64, codes: usize, weight: f64) -> f64 {
        let by_soft = &mut self.by_soft[..codes];
        let rows = self.soft.chunks_exact(codes).zip(self.by_marginals.chunks_exact_mut(codes));
        let terms = rows.map(|(soft, gradient)| {
            let log_odds = classifier.log_odds_gradient(soft, by_soft) - threshold;
            loss::validity(log_odds, by_soft, weight, gradient)
        });
        terms.sum()
    }

    /// Back-propagates the gradient by the marginals to the parameters.
    fn backward(&mut self, generator: &Generator, examples: &[&Example]) {
        let shape = generator.shape();
        let codes = shape.codes();
        self.by_logits.resize(codes, 0.0);
        self.by_outputs.clear();
        let rows = self.logits.chunks_exact(codes).zip(self.by_marginals.chunks_exact(codes));
        for (example, (logits, by_marginals)) in examples.iter().zip(rows) {
            example.mask.marginals_pullback(logits, by_marginals, &mut self.by_logits);
            self.by_outputs.extend(self.by_logits.iter().map(|&slope| slope as f32));
        }
        self.gradient.fill(0.0);
        let of_network = self.gradient.len() - generator.network().parameters().len();
        let (of_encoder, of_network) = self.gradient.split_at_mut(of_network);
        let by_inputs = generator.network().backward(&self.network, &self.by_outputs, of_network);
        let rows = by_inputs.chunks_exact(shape.inputs() + shape.embedding);
        let by_embedding: Vec<f32> = rows.flat_map(|row| &row[shape.inputs()..]).copied().collect();
        generator.encoder().backward(neighbours(examples), &self.encoder, &by_embedding, of_encoder);
    }
}

/// How many neighbours each example has; the same for all.
fn neighbours(examples: &[&Example]) -> usize {
    examples.first().map_or(0, |example| example.descriptors.len() / DESCRIPTOR)
}

#[cfg(test)]
mod tests {
    use par_circuit::{Circuit, Code, OPEN};
    use par_data::Constraints;
    use par_model::generator::{Conditioning, GeneratorConfig, GeneratorScratch, GeneratorShape};
    use par_model::network::Network;
    use par_model::pool::{AcceptedPool, NeighbourSearch, PoolConfig};
    use par_model::test_world::{Linear, World};
    use par_model::{ScoreScale, Target};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::generator::loss::free_features;
    use crate::pool::draw_pool;

    struct Setting {
        constraints: Constraints,
        classifier: Linear,
        circuits: [Circuit; 2],
        pool: AcceptedPool,
    }

    impl Setting {
        fn new() -> Self {
            let world = World {
                cardinalities: vec![3, 2, 4, 3],
                lines: vec!["", "immutable = true", "monotone = \"increasing\"", ""],
                rules: vec![(0, 2)],
            };
            let classifier = world.classifier(-3.0);
            let circuits = [world.circuit(true), world.circuit(false)];
            let config = PoolConfig { size: 50, neighbours: 4 };
            let target = Target { classifier: &classifier, threshold: 0.5, scale: ScoreScale::Probability };
            let pool = draw_pool(&circuits[0], target, &config, 1, par_circuit::Stop::never());
            let pool = pool.expect("not stopped");
            Self { constraints: Constraints::new(&world.discretizer()), classifier, circuits, pool }
        }

        fn training(&self) -> Training<'_> {
            Training {
                constraints: &self.constraints,
                missing: &[true; 8],
                target: Target {
                    classifier: &self.classifier,
                    threshold: 0.7,
                    scale: ScoreScale::Probability,
                },
                accepted: &self.circuits[0],
                denied: &self.circuits[1],
                pool: &self.pool,
                teacher: None,
            }
        }

        fn generator(&self, conditioning: Conditioning) -> Generator {
            let config = GeneratorConfig {
                conditioning,
                hidden: [7, 6],
                encoder: 5,
                embedding: 3,
                ..GeneratorConfig::default()
            };
            let shape = GeneratorShape::new(&config, vec![3, 2, 4, 3], vec![1], &self.pool);
            let mut rng = ChaCha8Rng::seed_from_u64(5);
            let mut generator = Generator::untrained(shape, &mut rng);
            for parameter in generator.networks_mut().into_iter().flat_map(Network::parameters_mut) {
                *parameter += rng.random_range(-0.2..0.2);
            }
            generator
        }

        /// Three people: one without locks, one with a lock, one with an unknown code.
        fn examples(&self, generator: &Generator) -> Vec<Example<'_>> {
            let people: [(&[Code], &[usize], &[Code]); 3] = [
                (&[0, 1, 1, 0], &[], &[1, 1, 2, 2]),
                (&[1, 0, 0, 1], &[2], &[1, 0, 0, 0]),
                (&[0, 1, 0, OPEN], &[], &[0, 1, 3, OPEN]),
            ];
            let mut evaluator = self.circuits[0].evaluator();
            let mut search = NeighbourSearch::default();
            people
                .iter()
                .map(|(factual, locks, target)| {
                    let mask = self.constraints.mask(factual, locks);
                    let free = free_features(&mask, Some(target));
                    let neighbours = self.pool.nearest(factual, 4, &mut search);
                    let log_likelihood = evaluator.log_prob(factual);
                    let example =
                        Example::new(&self.training(), generator.shape(), mask, log_likelihood, neighbours);
                    Example { free, ..example }
                })
                .collect()
        }

        /// The objective, summed over the examples, and its gradient.
        fn objective(&self, generator: &Generator, config: &LossConfig) -> (LossTerms, Vec<f32>) {
            let examples = self.examples(generator);
            let mut worker = Worker::new(&self.training(), generator.parameters().len());
            let examples: Vec<&Example> = examples.iter().collect();
            worker.differentiate(generator, &self.classifier, config, &examples, 1.0);
            (worker.terms, worker.gradient)
        }

        fn check_gradient(&self, conditioning: Conditioning, config: &LossConfig) {
            let generator = self.generator(conditioning);
            let (terms, gradient) = self.objective(&generator, config);
            let step = 2e-3;
            for (place, &slope) in gradient.iter().enumerate() {
                let moved = |by: f32| {
                    let mut parameters = generator.parameters();
                    parameters[place] += by;
                    let moved = Generator::from_parts(generator.shape().clone(), &parameters);
                    self.objective(&moved.expect("a generator"), config).0.total
                };
                let [below, above] = [moved(-step), moved(step)];
                let step = f64::from(step);
                // A ReLU may switch within the step on one side.
                let differences = [
                    (above - below) / (2.0 * step),
                    (above - terms.total) / step,
                    (terms.total - below) / step,
                ];
                let close =
                    |expected: &f64| (f64::from(slope) - expected).abs() < 5e-3 * (1.0 + expected.abs());
                assert!(
                    differences.iter().any(close),
                    "parameter {place}: {slope} is none of {differences:?}"
                );
            }
        }
    }

    fn all_terms() -> LossConfig {
        LossConfig { budget: 0.5, denied: 0.3, teaching: 0.8, ..LossConfig::default() }
    }

    #[test]
    fn the_gradient_of_the_whole_objective_agrees_with_finite_differences() {
        let setting = Setting::new();
        setting.check_gradient(Conditioning::Extended, &all_terms());
        setting.check_gradient(Conditioning::Paper, &all_terms());
    }

    #[test]
    fn the_gradient_of_each_term_alone_agrees_with_finite_differences() {
        let off = LossConfig {
            validity: 0.0,
            plausibility_proximity: 0.0,
            sparsity: 0.0,
            entropy: 0.0,
            teaching: 0.0,
            ..all_terms()
        };
        let setting = Setting::new();
        for config in [
            LossConfig { validity: 1.0, ..off.clone() },
            LossConfig { plausibility_proximity: 1.0, alpha: 1.0, ..off.clone() },
            LossConfig { plausibility_proximity: 1.0, alpha: 0.0, denied: 0.0, ..off.clone() },
            LossConfig { plausibility_proximity: 1.0, alpha: 0.0, accepted: 0.0, ..off.clone() },
            LossConfig { sparsity: 1.0, ..off.clone() },
            LossConfig { entropy: 1.0, ..off.clone() },
            LossConfig { teaching: 1.0, ..off.clone() },
        ] {
            setting.check_gradient(Conditioning::Extended, &config);
        }
    }

    #[test]
    fn a_term_that_is_switched_off_is_gone() {
        type Part = fn(&LossTerms) -> f64;
        let setting = Setting::new();
        let generator = setting.generator(Conditioning::Extended);
        let on = LossConfig { alpha: 0.25, ..all_terms() };
        let all = setting.objective(&generator, &on).0;
        let parts: [(LossConfig, Part, f64); 6] = [
            (LossConfig { validity: 0.0, ..on.clone() }, |terms| terms.validity, on.validity),
            (LossConfig { accepted: 0.0, ..on.clone() }, |terms| terms.accepted, on.accepted_weight()),
            (LossConfig { denied: 0.0, ..on.clone() }, |terms| terms.denied, on.denied_weight()),
            (LossConfig { sparsity: 0.0, ..on.clone() }, |terms| terms.sparsity, on.sparsity),
            (LossConfig { entropy: 0.0, ..on.clone() }, |terms| terms.entropy, on.entropy),
            (LossConfig { teaching: 0.0, ..on.clone() }, |terms| terms.teaching, on.teaching),
        ];
        for (off, part, weight) in parts {
            let without = setting.objective(&generator, &off).0;
            assert!(part(&all) != 0.0 && part(&without) == 0.0);
            assert!((all.total - weight * part(&all) - without.total).abs() < 1e-9);
        }
        let without = setting.objective(&generator, &LossConfig { alpha: 0.0, ..on }).0;
        assert!(all.proximity > 0.0 && without.proximity == 0.0);
    }

    /// With everything locked the soft row is the factual.
    #[test]
    fn unknown_codes_are_summed_out_of_the_circuits_and_add_nothing_to_the_classifier() {
        let setting = Setting::new();
        let generator = setting.generator(Conditioning::Extended);
        let factual = [0, 1, 0, OPEN];
        let mask = setting.constraints.mask(&factual, &[0, 1, 2, 3]);
        let example = Example::new(&setting.training(), generator.shape(), mask, 0.0, &[]);
        let mut worker = Worker::new(&setting.training(), generator.parameters().len());
        worker.differentiate(&generator, &setting.classifier, &all_terms(), &[&example], 1.0);
        let [accepted, denied] =
            setting.circuits.each_ref().map(|circuit| circuit.evaluator().log_prob(&factual));
        let above = setting.classifier.log_odds(&factual) - ScoreScale::Probability.log_odds(0.7);
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-5;
        assert!(close(worker.terms.accepted, -accepted));
        assert!(close(worker.terms.denied, denied));
        assert!(close(worker.terms.validity, (-above).exp().ln_1p()));
    }

    #[test]
    fn one_person_is_answered_as_in_a_batch() {
        let setting = Setting::new();
        let generator = setting.generator(Conditioning::Extended);
        let examples = setting.examples(&generator);
        let mut worker = Worker::new(&setting.training(), 0);
        worker.forward(&generator, &examples.iter().collect::<Vec<_>>());
        let mut scratch = GeneratorScratch::default();
        let mut evaluator = setting.circuits[0].evaluator();
        let alone: Vec<f64> = examples
            .iter()
            .flat_map(|Example { mask, .. }| {
                let log_likelihood = evaluator.log_prob(mask.factual());
                generator.logits(&setting.pool, mask, log_likelihood, &mut scratch).to_vec()
            })
            .collect();
        assert_eq!(worker.logits, alone);
    }

    #[test]
    fn stored_parameters_must_fit_the_shape() {
        let generator = Setting::new().generator(Conditioning::Paper);
        let parameters = generator.parameters();
        let stored = |parameters: &[f32]| Generator::from_parts(generator.shape().clone(), parameters);
        assert_eq!(stored(&parameters), Some(generator.clone()));
        assert_eq!(stored(&parameters[1..]), None);
        assert_eq!(stored(&[parameters.as_slice(), &[0.0]].concat()), None);
        assert_eq!(stored(&vec![f32::NAN; parameters.len()]), None);
        let other = GeneratorShape { immutable: vec![4], ..generator.shape().clone() };
        assert_eq!(Generator::from_parts(other, &parameters), None);
    }
}
