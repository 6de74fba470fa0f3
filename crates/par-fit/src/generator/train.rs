//! Trains a generator on rows that the circuits sample and the classifier denies.

use par_circuit::{Circuit, Code, Evaluator, Stop, Stopped};
use par_data::{Constraints, Mask};
use par_model::Target;
use par_model::card::{GeneratorHistory, GeneratorPoint, HeldOut, LossTerms};
use par_model::generator::{Generator, GeneratorConfig, GeneratorShape};
use par_model::pool::AcceptedPool;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::examples::{Example, examples, teach};
use super::loss::add_terms;
use super::objective::Worker;
use crate::adam::Adam;

/// Finds a recourse for the factual of a mask, or none.
pub type Teacher<'a> = Box<dyn FnMut(&Mask) -> Option<Vec<Code>> + 'a>;

/// The inputs of a generator's training.
#[derive(Clone, Copy)]
pub struct Training<'a> {
    /// What may change.
    pub constraints: &'a Constraints,
    /// For each feature, whether its value may be missing.
    pub missing: &'a [bool],
    /// The classifier and the threshold.
    pub target: Target<'a>,
    /// p⁺.
    pub accepted: &'a Circuit,
    /// p⁻.
    pub denied: &'a Circuit,
    /// Accepted rows.
    pub pool: &'a AcceptedPool,
    /// Makes the teacher of a thread, which solves every example unless teaching is switched off.
    pub teacher: Option<&'a (dyn Fn() -> Teacher<'a> + Sync)>,
}

/// Reported after every step.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Steps so far.
    pub step: usize,
    /// All steps.
    pub steps: usize,
    /// The point of the learning curves that this step completed.
    pub point: Option<&'a GeneratorPoint>,
}

/// Rows that one thread differentiates together. Gradients are summed within a chunk first, so another size gives other
/// parameters for the same seed.
const CHUNK: usize = 32;
/// The most held-out factuals, and of how many examples one is held out.
const HELD_OUT: (usize, usize) = (256, 10);

/// Trains a generator. The same seed gives the same parameters on any number of threads.
///
/// It stays untrained if no row is denied, or no denied row can change.
///
/// # Errors
/// When it is stopped.
///
/// # Panics
/// When circuits, classifier, constraints and pool have different features.
///
/// # Paper
/// "The recourse generator is trained using instances sampled from p⁺ and p⁻"; instances that the classifier accepts
/// need no recourse and are left out.
pub fn train_generator(
    training: &Training,
    config: &GeneratorConfig,
    seed: u64,
    progress: &mut dyn FnMut(&Progress),
    stop: Stop<'_>,
) -> Result<(Generator, GeneratorHistory), Stopped> {
    let cardinalities = training.accepted.cardinalities();
    assert_eq!(cardinalities, training.denied.cardinalities(), "the same features");
    assert_eq!(cardinalities, training.target.classifier.cardinalities(), "the same features");
    assert_eq!(cardinalities, training.pool.rows().cardinalities(), "the same features");
    assert_eq!(cardinalities.len(), training.constraints.features(), "the same features");
    let features = 0..cardinalities.len();
    let immutable = features.filter(|&feature| training.constraints.is_immutable(feature)).collect();
    let shape = GeneratorShape::new(config, cardinalities.to_vec(), immutable, training.pool);
    let mut generator = Generator::untrained(shape, &mut rng(seed, Task::Initialise));

    let spare = |examples: usize| (examples / HELD_OUT.1).min(HELD_OUT.0);
    let wanted = config.examples + spare(config.examples);
    let draws = &mut rng(seed, Task::Draw);
    let mut examples = examples(training, config, generator.shape(), wanted, draws, stop)?;
    let held_out = examples.split_off(examples.len() - spare(examples.len().min(config.examples)));
    if config.loss.teaching > 0.0 {
        teach(training, &mut examples, stop)?;
    }
    let taught = |example: &&Example| example.free.iter().any(|feature| feature.target.is_some());
    let mut history = GeneratorHistory {
        examples: examples.len(),
        taught: examples.iter().filter(taught).count(),
        held_out: held_out.len(),
        points: Vec::new(),
    };
    if !examples.is_empty() {
        let mut report = |step: usize, point: Option<&GeneratorPoint>| {
            history.points.extend(point.cloned());
            progress(&Progress { step, steps: config.steps, point });
        };
        descend(&mut generator, training, config, [&examples, &held_out], seed, &mut report, stop)?;
    }
    Ok((generator, history))
}

fn descend(
    generator: &mut Generator,
    training: &Training,
    config: &GeneratorConfig,
    [examples, held_out]: [&[Example]; 2],
    seed: u64,
    report: &mut dyn FnMut(usize, Option<&GeneratorPoint>),
    stop: Stop<'_>,
) -> Result<(), Stopped> {
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut next = order.len();
    let mut shuffles = rng(seed, Task::Shuffle);
    let mut gradient = vec![0.0_f32; generator.parameters().len()];
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
        workers.par_iter_mut().zip(chosen.par_chunks(CHUNK)).try_for_each(|(worker, chosen)| {
            stop.check()?;
            let examples: Vec<&Example> = chosen.iter().map(|&example| &examples[example]).collect();
            worker.differentiate(generator, training.target.classifier, &config.loss, &examples, share);
            Ok(())
        })?;
        gradient.fill(0.0);
        for worker in &workers {
            gradient.iter_mut().zip(&worker.gradient).for_each(|(sum, slope)| *sum += slope);
            add_terms(&mut since.1, share, &worker.terms);
        }
        since.0 += 1;
        let done = (step - 1) as f64 / config.steps as f64;
        adam.set_rate(config.learning_rate * (1.0 - (1.0 - config.decay) * done));
        adam.step(&mut generator.networks_mut(), &gradient);

        let point = (step % config.record_every == 0 || step == config.steps).then(|| {
            let (steps, sums) = std::mem::take(&mut since);
            let mut loss = LossTerms::default();
            add_terms(&mut loss, 1.0 / f64::from(steps), &sums);
            GeneratorPoint { step, loss, held_out: measure(generator, training, held_out) }
        });
        report(step, point.as_ref());
    }
    Ok(())
}

/// Measures of the most probable legal rows of the held-out factuals.
fn measure(generator: &Generator, training: &Training, held_out: &[Example]) -> Option<HeldOut> {
    let add_up = |(worker, accepted): &mut (Worker, Evaluator), examples: &[Example]| {
        let examples: Vec<&Example> = examples.iter().collect();
        worker.forward(generator, &examples);
        let mut sums = HeldOut::default();
        for (example, logits) in examples.iter().zip(worker.logits.chunks_exact(generator.shape().codes())) {
            let row = example.mask.argmax(logits);
            let valid = training.target.accepts(&row);
            let changed = row.iter().zip(example.mask.factual()).filter(|(code, own)| code != own);
            sums.valid += f64::from(u8::from(valid));
            sums.changes += changed.count() as f64;
            sums.log_likelihood += accepted.log_prob(&row);
        }
        sums
    };
    let start = || (Worker::new(training, 0), training.accepted.evaluator());
    let sums: Vec<HeldOut> = held_out.par_chunks(CHUNK).map_init(start, add_up).collect();
    let mean = |part: fn(&HeldOut) -> f64| sums.iter().map(part).sum::<f64>() / held_out.len() as f64;
    (!held_out.is_empty()).then(|| HeldOut {
        valid: mean(|sums| sums.valid),
        changes: mean(|sums| sums.changes),
        log_likelihood: mean(|sums| sums.log_likelihood),
    })
}

/// Tasks with random numbers of their own.
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

#[cfg(test)]
mod tests {
    use par_data::UNKNOWN;
    use par_model::generator::Conditioning;
    use par_model::pool::PoolConfig;
    use par_model::test_world::World;

    use super::*;
    use crate::pool::draw_pool;

    fn world() -> World {
        World {
            cardinalities: vec![3, 2, 4, 3, 3],
            lines: vec!["", "immutable = true", "monotone = \"increasing\"", "", ""],
            rules: vec![(0, 2)],
        }
    }

    fn config() -> GeneratorConfig {
        GeneratorConfig {
            hidden: [16, 16],
            encoder: 8,
            embedding: 4,
            examples: 500,
            steps: 120,
            batch: 50,
            record_every: 30,
            unknown_rate: 0.02,
            ..GeneratorConfig::default()
        }
    }

    /// Raises every feature as far as possible, if the rules permit it.
    fn teacher(mask: &Mask) -> Option<Vec<Code>> {
        let highest = |feature| mask.codes(feature).last().unwrap_or(UNKNOWN);
        let row: Vec<Code> = (0..mask.factual().len()).map(highest).collect();
        mask.is_legal(&row).then_some(row)
    }

    fn train(
        bias: f64,
        config: &GeneratorConfig,
        threads: usize,
    ) -> (Generator, GeneratorHistory, Vec<usize>) {
        train_in(&world(), teacher, bias, config, threads)
    }

    fn train_in(
        world: &World,
        teacher: fn(&Mask) -> Option<Vec<Code>>,
        bias: f64,
        config: &GeneratorConfig,
        threads: usize,
    ) -> (Generator, GeneratorHistory, Vec<usize>) {
        let (accepted, denied) = (world.circuit(true), world.circuit(false));
        let classifier = world.classifier(bias);
        let target =
            Target { classifier: &classifier, threshold: 0.5, scale: par_model::ScoreScale::Probability };
        let constraints = Constraints::new(&world.discretizer());
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        threads.install(|| {
            let pool_config = PoolConfig { size: 100, neighbours: 5 };
            let pool = draw_pool(&accepted, target, &pool_config, 1, Stop::never());
            let pool = pool.expect("not stopped");
            let training = Training {
                constraints: &constraints,
                missing: &[true; 10],
                target,
                accepted: &accepted,
                denied: &denied,
                pool: &pool,
                teacher: Some(&|| Box::new(teacher)),
            };
            let mut steps = Vec::new();
            let mut report = |progress: &Progress| steps.push(progress.step);
            let trained = train_generator(&training, config, 9, &mut report, Stop::never());
            let (generator, history) = trained.expect("not stopped");
            (generator, history, steps)
        })
    }

    #[test]
    fn training_lowers_the_loss_and_makes_more_rows_valid() {
        for conditioning in [Conditioning::Paper, Conditioning::Extended] {
            let (_, history, steps) = train(-4.0, &GeneratorConfig { conditioning, ..config() }, 1);
            assert_eq!(steps, (1..=120).collect::<Vec<_>>());
            assert_eq!((history.examples, history.held_out, history.points.len()), (500, 50, 4));
            assert!(history.taught > 400);
            let (first, last) = (&history.points[0], &history.points[3]);
            assert!(last.loss.total < 0.9 * first.loss.total, "{history:?}");
            assert!(last.held_out.expect("held out").valid > 0.3, "{history:?}");
        }
    }

    /// Without a teacher L_prox keeps it from more changes than the budget.
    #[test]
    fn a_generator_that_is_taught_many_changes_makes_them() {
        let world = World { cardinalities: vec![3; 10], lines: vec![""; 10], rules: Vec::new() };
        let mut config = config();
        config.loss.validity = 1.0;
        let valid = |teacher: fn(&Mask) -> Option<Vec<Code>>| {
            let (_, history, _) = train_in(&world, teacher, -9.0, &config, 1);
            history.points.last().and_then(|point| point.held_out).expect("held out").valid
        };
        let (taught, untaught) = (valid(teacher), valid(|_| None));
        assert!(taught > untaught + 0.2, "{taught} and {untaught}");
    }

    #[test]
    fn the_same_seed_trains_the_same_generator_on_one_thread_and_on_two() {
        let config = GeneratorConfig { batch: 100, steps: 20, ..config() };
        assert_eq!(train(-4.0, &config, 1), train(-4.0, &config, 2));
    }

    #[test]
    fn without_denied_rows_the_generator_stays_untrained() {
        let (_, history, steps) = train(100.0, &config(), 1);
        assert_eq!(history, GeneratorHistory::default());
        assert!(steps.is_empty());
    }

    #[test]
    fn training_works_without_neighbours() {
        let (generator, history, _) = train(-100.0, &config(), 1);
        assert_eq!(history.points.len(), 4);
        assert!(generator.parameters().iter().all(|parameter| parameter.is_finite()));
    }
}
