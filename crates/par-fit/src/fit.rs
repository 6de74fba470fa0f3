//! From a table to a model.

pub(crate) mod scoring;
mod survey;
mod versions;

use par_answer::refine::Refiner;
use par_circuit::learn::{self, LearnConfig, Trial, learn_with_progress};
use par_circuit::{Circuit, Code, Dataset, Stop, Stopped};
use par_data::{Batch, Columns, Constraints, Discretizer, Label, Schema, Table};
use par_model::card::{Card, Epoch, GeneratorHistory, Sample};
use par_model::classifier::inputs::Inputs;
use par_model::classifier::{Classifier, DeployedClassifier, Threshold, Version, probability};
use par_model::model::constraints;
use par_model::{Config, ConfigError, Density, Model, ModelParts, ScoreScale, Target};

use self::scoring::{HeldOutFit, Scored, Supplied};
use self::survey::Survey;
use self::versions::SuppliedVersion;
use crate::classifier::{auc, r_squared, train_classifier, youden_threshold};
use crate::error::Error;
use crate::generator::{self, Teacher, Training, train_generator};
use crate::pool::draw_pool;

/// Learns a model from a table.
///
/// ```
/// use par_data::german_credit;
/// use par_fit::ModelBuilder;
/// use par_model::Config;
///
/// let mut config = Config::default();
/// config.generator.steps = 20; // Few, so that the example is fast.
/// let model = ModelBuilder::new(german_credit::schema(), config).fit(|| Ok(german_credit::table()))?;
/// assert_eq!(model.card().classes, ["Good", "Bad"]);
/// # Ok::<(), par_fit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    schema: Schema,
    config: Config,
    supplied: Supplied,
    /// Other versions of the classifier.
    also: Vec<SuppliedVersion>,
}

/// The progress of a fit.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Stage<'a> {
    /// The table is being read; the number of rows so far.
    Reading(u64),
    /// The table has been read and encoded; the number of rows that are learned from.
    Read(usize),
    /// An epoch of the classifier, or of its surrogate, counted from 1.
    Classifier(usize, &'a Epoch),
    /// Another version of the classifier has been trained, counted from 1.
    Version(usize),
    /// A trial for the circuit of the accepted or the denied class.
    Circuit(&'static str, &'a Trial),
    /// The accepted pool has been drawn; the number of rows.
    Pool(usize),
    /// A step of the generator.
    Generator(&'a generator::Progress<'a>),
}

/// One row in this many is held out to choose a threshold.
///
/// # Paper
/// "Threshold Selection for GMSC": an internal split of 80 % and 20 %.
const THRESHOLD_SPLIT: u64 = 5;

/// The parts of a fit, each with its own seed, so that no two share random numbers.
pub(crate) enum Part {
    Classifier = 1,
    Threshold = 2,
    Pool = 3,
    Generator = 4,
    Surrogate = 5,
    Sample = 6,
    Versions = 7,
}

impl ModelBuilder {
    /// A builder for tables of a schema.
    pub fn new(schema: Schema, config: Config) -> Self {
        Self { schema, config, supplied: Supplied::Nothing, also: Vec::new() }
    }

    /// Uses an external classifier, an ONNX file, instead of training one. `inputs` maps a row to its inputs.
    #[must_use]
    pub fn with_classifier(self, file: Vec<u8>, inputs: Inputs) -> Self {
        Self { supplied: Supplied::File { file, inputs }, ..self }
    }

    /// Adds an ONNX file as another version of the classifier, by a name for people. It accepts from `threshold` on, by
    /// default from the model's.
    #[must_use]
    pub fn with_version(mut self, name: &str, file: Vec<u8>, inputs: Inputs, threshold: Option<f64>) -> Self {
        self.also.push(SuppliedVersion { name: name.to_string(), file, inputs, threshold });
        self
    }

    /// Trains a surrogate on a classifier's scores of the training rows, in a column of the table, by name and
    /// position. Its cells are classes of the label, or probabilities of acceptance. Answers are then unverified.
    #[must_use]
    pub fn with_scores(self, name: &str, position: usize) -> Self {
        Self { supplied: Supplied::Scores { column: name.to_string(), position }, ..self }
    }

    /// Learns a model from a table, which is read once. Of one with more than [`Config::sample`] rows, so many are learned
    /// from; where that is 0, the table is read twice, and three times more to choose a threshold by Youden's J.
    ///
    /// # Errors
    /// When the table does not fit the schema, the schema has no label, a setting is out of its range, every feature is
    /// immutable, all rows are of one class, or an external classifier cannot be used.
    pub fn fit(&self, open: impl Fn() -> Result<Table, par_data::Error>) -> Result<Model, Error> {
        let table = open()?;
        let columns = self.schema.columns(table.origin(), table.columns())?;
        self.fit_rows(&columns, || Ok(open()?.batches(ROWS_AT_ONCE)), &mut |_| {}, Stop::never())
    }

    /// Learns a model from the rows that `open` returns, the same at each call, and reports progress. While reading, it
    /// stops between batches of rows.
    ///
    /// # Errors
    /// As [`ModelBuilder::fit`], and [`Error::Stopped`].
    pub fn fit_rows<B: IntoIterator<Item = Result<Batch, par_data::Error>>>(
        &self,
        columns: &Columns,
        open: impl Fn() -> Result<B, par_data::Error>,
        progress: &mut dyn FnMut(Stage<'_>),
        stop: Stop<'_>,
    ) -> Result<Model, Error> {
        let config = &self.config;
        config.check()?;
        let label = self.label_of(columns)?;
        let goal = self.schema.label().and_then(|label| label.goal.as_ref());
        config.classifier.threshold_for(goal.map(|goal| goal.bound)).map_err(ConfigError::Setting)?;
        if config.sample == 0 {
            let discretizer = reading(open()?, stop, |batches| {
                Discretizer::fit(&self.schema, columns, batches, &config.bins)
            })?;
            return self.learn(columns, label.as_ref(), discretizer, None, open, progress, stop);
        }
        let survey = Survey::read(self, columns, label.as_ref(), open()?, progress, stop)?;
        let Survey { domains, sample, classes } = survey;
        let read = sample.read();
        let sample = sample.into_batches();
        let discretizer = Discretizer::fit_sample(&self.schema, columns, domains, &sample, &config.bins)?;
        let rows = AllRows { read: read as usize, classes };
        let open = || Ok(sample.iter().map(|batch| Ok(batch.clone())));
        self.learn(columns, label.as_ref(), discretizer, Some(rows), open, progress, stop)
    }

    /// Learns a model from the rows that `open` returns; `all` is what is known of those of the table if they may be more.
    #[expect(
        clippy::too_many_arguments,
        reason = "what one pass over the table has found, for the next steps"
    )]
    fn learn<B: IntoIterator<Item = Result<Batch, par_data::Error>>>(
        &self,
        columns: &Columns,
        label: Option<&Label>,
        mut discretizer: Discretizer,
        all: Option<AllRows>,
        open: impl Fn() -> Result<B, par_data::Error>,
        progress: &mut dyn FnMut(Stage<'_>),
        stop: Stop<'_>,
    ) -> Result<Model, Error> {
        let config = &self.config;
        check_changeable(&constraints(&discretizer, config)?, &self.schema)?;
        let rows = TrainingRows::read(&discretizer, columns, label, open()?, stop)?;
        progress(Stage::Read(rows.rows.len()));

        let scored = self.score_rows(&discretizer, &rows, columns, &open, progress, stop)?;
        let Scored { classifier, scores, scale, threshold, history, agreement } = scored;
        let mut versions = self.train_versions(&rows, scale, threshold, progress, stop)?;
        versions.extend(self.supplied_versions(&discretizer, columns, scale, threshold, &open, stop)?);
        let decisions: Vec<bool> = scores.iter().map(|score| scale.reaches(*score, threshold)).collect();
        let classes = match (config.density, &rows.accepted) {
            (Density::Labels, Some(accepted)) => accepted,
            _ => match decisions.first() {
                Some(&accepted) if decisions.iter().all(|own| *own == accepted) => {
                    return Err(Error::OneDecision { accepted });
                }
                _ => &decisions,
            },
        };
        discretizer.learn_values(rows.values_of(classes));
        let accepted = self.circuit("accepted", &rows.of_class(classes, true), progress, stop)?;
        let denied = self.circuit("denied", &rows.of_class(classes, false), progress, stop)?;
        let labels = rows.accepted.as_deref();
        let auc = labels.and_then(|labels| {
            auc(&scores.iter().map(|score| scale.sureness(*score)).collect::<Vec<f64>>(), labels)
        });
        let held_out = match &self.supplied {
            Supplied::Nothing => self.held_out(&rows, scale, stop)?,
            Supplied::File { .. } | Supplied::Scores { .. } => HeldOutFit {
                auc,
                r_squared: rows.numbers.as_deref().and_then(|numbers| r_squared(&scores, numbers)),
            },
        };
        let card = Card {
            program: concat!("par ", env!("CARGO_PKG_VERSION")).to_string(),
            classes: classes_of(label),
            rows: all.and_then(|all| all.classes).unwrap_or_else(|| {
                let classes = labels.unwrap_or(&decisions);
                [true, false].map(|class| classes.iter().filter(|own| **own == class).count())
            }),
            sample: all
                .map(|all| Sample { read: all.read, learned_from: rows.rows.len() })
                .filter(|sample| sample.learned_from < sample.read),
            denies: Some(decisions.iter().filter(|accepted| !**accepted).count()),
            scores: scores
                .iter()
                .copied()
                .map(|score| [score; 2])
                .reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]),
            agreement,
            coverage: None,
            held_out: [accepted.held_out, denied.held_out],
            auc,
            held_out_auc: held_out.auc,
            held_out_r2: held_out.r_squared,
            accuracy: labels.filter(|labels| !labels.is_empty()).map(|labels| {
                let right = labels.iter().zip(&decisions).filter(|(own, decided)| own == decided).count();
                right as f64 / labels.len() as f64
            }),
            classifier: history,
            generator: GeneratorHistory::default(),
        };
        // What follows does not use the training rows.
        let learned = Learned {
            config: config.clone(),
            card,
            discretizer,
            classifier,
            threshold,
            scale,
            versions,
            accepted: accepted.circuit,
            denied: denied.circuit,
        };
        learned.complete(progress, stop)
    }

    fn seed(&self, part: Part) -> u64 {
        seed(&self.config, part)
    }

    /// The label, with the favourable classes of the configuration.
    fn label(&self) -> Result<Label, Error> {
        let label = self.schema.label().ok_or(Error::NoLabel)?;
        Ok(match &self.config.favourable {
            Some(names) => Label { favourable: label.favourable_named(names)?, ..label.clone() },
            None => label.clone(),
        })
    }

    /// The label, or `None` without labels, which only circuits of an external classifier's decisions can do without. A
    /// number to reach is needed for the scores themselves.
    fn label_of(&self, columns: &Columns) -> Result<Option<Label>, Error> {
        let is_needed = matches!(self.supplied, Supplied::Nothing)
            || self.config.density == Density::Labels
            || self.config.classifier.threshold == Threshold::Youden;
        if is_needed || columns.label.is_some() { self.label().map(Some) } else { Ok(None) }
    }

    fn circuit(
        &self,
        class: &'static str,
        rows: &Dataset,
        progress: &mut dyn FnMut(Stage<'_>),
        stop: Stop<'_>,
    ) -> Result<learn::Learned, Error> {
        let mut config = LearnConfig { seed: self.config.seed, ..self.config.circuits.clone() };
        config.hclt.groups = config.hclt.groups.min(rows.len() / ROWS_A_GROUP).max(1);
        let mut report = |trial: &Trial| progress(Stage::Circuit(class, trial));
        learn_with_progress(rows, None, &config, &mut report, stop)
            .map_err(|source| Error::of_circuit(class, source))
    }

    /// The threshold by Youden's J on rows held out from bins and classifier: a fit that trains the classifier uses it
    /// for the threshold `"youden"`. For an external classifier the fit chooses it on all rows.
    ///
    /// # Errors
    /// As [`ModelBuilder::fit`], and [`Error::Stopped`].
    ///
    /// # Paper
    /// "Threshold Selection for GMSC".
    pub fn youden<B: IntoIterator<Item = Result<Batch, par_data::Error>>>(
        &self,
        columns: &Columns,
        open: impl Fn() -> Result<B, par_data::Error>,
        stop: Stop<'_>,
    ) -> Result<f64, Error> {
        let label = self.label()?;
        let seed = self.seed(Part::Threshold);
        let part = |held_out: bool| {
            let batches = open()?.into_iter();
            Ok::<_, par_data::Error>(batches.map(move |batch| {
                let mut batch = batch?;
                batch.retain(|batch, row| is_held_out(batch.position(row), seed) == held_out);
                Ok(batch)
            }))
        };
        let discretizer = reading(part(false)?, stop, |batches| {
            Discretizer::fit(&self.schema, columns, batches, &self.config.bins)
        })?;
        let training = TrainingRows::read(&discretizer, columns, Some(&label), part(false)?, stop)?;
        let config = &self.config.classifier;
        let (classifier, _) =
            train_classifier(&training.rows, training.labels()?, config, seed, &mut |_, _| {}, stop)?;
        // Rows with a category that only held-out rows have cannot be scored.
        let known = part(true)?.map(|batch| {
            let mut batch = batch?;
            batch.retain(|batch, row| {
                let cells: Vec<&str> = columns.cells(batch, row);
                discretizer.encode_row(&cells).is_ok()
            });
            Ok(batch)
        });
        let validation = TrainingRows::read(&discretizer, columns, Some(&label), known, stop)?;
        let score = |row: &[Code]| {
            stop.check()?;
            Ok(probability(classifier.log_odds(row)))
        };
        let scores: Vec<f64> = validation.rows.rows().map(score).collect::<Result<_, Stopped>>()?;
        Ok(youden_threshold(&scores, validation.labels()?))
    }
}

/// The names of the favourable classes, and of all others.
fn classes_of(label: Option<&Label>) -> [String; 2] {
    match label {
        Some(label) => label.sides().map(|names| names.join(", ")),
        None => ["accepted", "denied"].map(String::from),
    }
}

const ROWS_AT_ONCE: usize = 8192;
/// The fewest rows of a group. Measured on German Credit's 560 accepted rows: four groups and one differ by 0.1 nats,
/// but have 11,000 and 3,700 edges.
const ROWS_A_GROUP: usize = 500;

/// Whether the row at a position is held out: a pseudo-random fifth, the same for a seed.
fn is_held_out(position: u64, seed: u64) -> bool {
    let mut mixed = position.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed ^ (mixed >> 32)).is_multiple_of(THRESHOLD_SPLIT)
}

/// Refuses constraints under which no feature may change.
fn check_changeable(constraints: &Constraints, schema: &Schema) -> Result<(), Error> {
    match (0..constraints.features()).all(|feature| constraints.is_immutable(feature)) {
        true => Err(Error::NothingCanChange {
            undecided: schema.undecided().map(|feature| feature.name.clone()).collect(),
        }),
        false => Ok(()),
    }
}

pub(crate) fn seed(config: &Config, part: Part) -> u64 {
    config.seed.wrapping_mul(8).wrapping_add(part as u64)
}

/// Runs `read` over the batches, which end early once `stop` is set.
fn reading<T, E: Into<Error>>(
    batches: impl IntoIterator<Item = Result<Batch, par_data::Error>>,
    stop: Stop<'_>,
    read: impl FnOnce(&mut dyn Iterator<Item = Result<Batch, par_data::Error>>) -> Result<T, E>,
) -> Result<T, Error> {
    let read = read(&mut batches.into_iter().take_while(|_| stop.check().is_ok()));
    stop.check()?;
    read.map_err(Into::into)
}

/// What is known of all rows of a table, whether they are learned from or not.
#[derive(Clone, Copy)]
struct AllRows {
    read: usize,
    /// How many rows the label accepts and denies; `None` without labels.
    classes: Option<[usize; 2]>,
}

/// Training rows as codes.
struct TrainingRows {
    rows: Dataset,
    /// Whether the label of each row is a favourable one; `None` without labels.
    accepted: Option<Vec<bool>>,
    /// The label of each row, if it is a number.
    numbers: Option<Vec<f64>>,
    /// The number of each row, for each feature with bins; empty for others.
    values: Vec<Vec<f64>>,
}

impl TrainingRows {
    fn read(
        discretizer: &Discretizer,
        columns: &Columns,
        label: Option<&Label>,
        batches: impl IntoIterator<Item = Result<Batch, par_data::Error>>,
        stop: Stop<'_>,
    ) -> Result<Self, Error> {
        let mut codes: Vec<Code> = Vec::new();
        let mut values = vec![Vec::new(); discretizer.domains().len()];
        let mut accepted = label.map(|_| Vec::new());
        let mut numbers = label.and_then(|label| label.goal.as_ref()).map(|_| Vec::new());
        for batch in batches {
            stop.check()?;
            let batch = batch?;
            codes.extend(discretizer.encode(columns, &batch)?.into_codes());
            discretizer.add_numbers(columns, &batch, &mut values);
            if let (Some(accepted), Some(label)) = (&mut accepted, label) {
                let classes = discretizer.schema().classes(columns, &batch)?;
                accepted.extend(classes.into_iter().map(|class| label.wants(class)));
            }
            if let Some(numbers) = &mut numbers {
                numbers.extend(discretizer.schema().label_numbers(columns, &batch)?);
            }
        }
        Ok(Self { rows: Dataset::new(discretizer.cardinalities(), codes)?, accepted, numbers, values })
    }

    /// The numbers of accepted rows, for each feature with bins.
    fn values_of(&self, classes: &[bool]) -> Vec<Vec<f64>> {
        let of_accepted = |values: &Vec<f64>| {
            let own = values.iter().zip(classes).filter(|(_, accepted)| **accepted);
            own.map(|(number, _)| *number).collect()
        };
        self.values.iter().map(of_accepted).collect()
    }

    fn labels(&self) -> Result<&[bool], Error> {
        self.accepted.as_deref().ok_or(Error::NoLabel)
    }

    fn of_class(&self, classes: &[bool], class: bool) -> Dataset {
        let rows: Vec<usize> = (0..classes.len()).filter(|&row| classes[row] == class).collect();
        self.rows.select(&rows)
    }
}

/// A model without its pool and generator, which need no data.
pub(crate) struct Learned {
    pub(crate) config: Config,
    pub(crate) card: Card,
    pub(crate) discretizer: Discretizer,
    pub(crate) classifier: DeployedClassifier,
    pub(crate) threshold: f64,
    pub(crate) scale: ScoreScale,
    pub(crate) versions: Vec<Version>,
    pub(crate) accepted: Circuit,
    pub(crate) denied: Circuit,
}

impl Learned {
    /// Trains a surrogate if the classifier has no gradients and no surrogate yet, draws the pool and trains the
    /// generator.
    ///
    /// # Paper
    /// "Phase II: Amortized Recourse Generation", without access to training data.
    pub(crate) fn complete(
        mut self,
        progress: &mut dyn FnMut(Stage<'_>),
        stop: Stop<'_>,
    ) -> Result<Model, Error> {
        let constraints = constraints(&self.discretizer, &self.config)?;
        check_changeable(&constraints, self.discretizer.schema())?;
        self.train_surrogate(progress, stop)?;
        let Self { config, mut card, discretizer, classifier, threshold, scale, versions, accepted, denied } =
            self;
        let typical = classifier.typical();
        let target = Target { classifier: &*typical, threshold, scale };
        let pool = draw_pool(&accepted, target, &config.pool, seed(&config, Part::Pool), stop)?;
        progress(Stage::Pool(pool.len()));
        let teacher = || -> Teacher<'_> {
            let mut refiner = Refiner::new(&constraints, &accepted, target, &config.answers, stop);
            Box::new(move |mask| refiner.best(mask))
        };
        let features = discretizer.schema().features();
        let missing: Vec<bool> = features.iter().map(|feature| feature.missing).collect();
        let training = Training {
            constraints: &constraints,
            missing: &missing,
            target,
            accepted: &accepted,
            denied: &denied,
            pool: &pool,
            teacher: Some(&teacher),
        };
        let mut report = |step: &generator::Progress<'_>| progress(Stage::Generator(step));
        let (generator, history) =
            train_generator(&training, &config.generator, seed(&config, Part::Generator), &mut report, stop)?;
        card.generator = history;
        drop(typical);
        let parts = ModelParts {
            config,
            card,
            discretizer,
            classifier,
            threshold,
            scale,
            versions,
            accepted,
            denied,
            pool,
            generator,
        };
        Ok(Model::new(parts).expect("all parts have the same schema"))
    }

    fn train_surrogate(&mut self, progress: &mut dyn FnMut(Stage<'_>), stop: Stop<'_>) -> Result<(), Error> {
        let DeployedClassifier::External(external) = &mut self.classifier else { return Ok(()) };
        if external.is_differentiable() || external.surrogate().is_some() {
            return Ok(());
        }
        let circuits = [&self.accepted, &self.denied];
        let accepts = |log_odds: f64| self.scale.reaches(self.scale.score(log_odds), self.threshold);
        let is_number = self.scale.is_number();
        let surrogate =
            scoring::surrogate(&self.config, external, circuits, is_number, accepts, progress, stop)?;
        external.set_surrogate(Some(surrogate.network));
        (self.card.classifier, self.card.agreement) = (surrogate.history, Some(surrogate.agreement));
        Ok(())
    }
}
