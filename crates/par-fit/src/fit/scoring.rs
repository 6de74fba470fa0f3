//! The classifier of a fit, trained or supplied, and its scores of the training rows.

use par_circuit::{Circuit, Code, Dataset, Stop, Stopped};
use par_data::schema::{Goal, parse_number};
use par_data::{Batch, Columns, Discretizer};
use par_model::card::{ClassifierHistory, Epoch};
use par_model::classifier::inputs::Inputs;
use par_model::classifier::{
    Classifier, ClassifierConfig, DeployedClassifier, ExternalClassifier, NeuralClassifier, probability,
};
use par_model::{Config, ConfigError, Mean, ScoreScale};
use rayon::prelude::*;

use super::{ModelBuilder, Part, Stage, TrainingRows, classes_of, is_held_out, reading};
use crate::classifier::ClassifierError;
use crate::classifier::{
    auc, inverted_auc, r_squared, train_classifier, train_regression, train_surrogate, youden_threshold,
};
use crate::error::{Error, ScoredBy};

/// What the user supplies of the classifier.
#[derive(Clone, Debug)]
pub(super) enum Supplied {
    /// Nothing: the fit trains it.
    Nothing,
    /// An ONNX file.
    File { file: Vec<u8>, inputs: Inputs },
    /// A column of the table with its scores of the training rows.
    Scores { column: String, position: usize },
}

/// The classifier, and its scores of the training rows.
pub(super) struct Scored {
    pub(super) classifier: DeployedClassifier,
    /// The score of each row.
    pub(super) scores: Vec<f64>,
    pub(super) scale: ScoreScale,
    pub(super) threshold: f64,
    pub(super) history: ClassifierHistory,
    pub(super) agreement: Option<Mean>,
}

/// How well a classifier does on rows that learning did not see.
#[derive(Default)]
pub(super) struct HeldOutFit {
    pub(super) auc: Option<f64>,
    /// Of a regression.
    pub(super) r_squared: Option<f64>,
}

/// The surrogate of a classifier without gradients.
pub(super) struct Surrogate {
    pub(super) network: NeuralClassifier,
    pub(super) history: ClassifierHistory,
    pub(super) agreement: Mean,
}

/// The most rows of the held-out AUC.
const AUC_ROWS: usize = 25_000;
/// How many rows of each circuit a surrogate is trained on, and how many it is tested on.
const SAMPLES: [u64; 2] = [10_000, 2_000];

impl ModelBuilder {
    /// The classifier, supplied or else trained, and its scores of the training rows.
    pub(super) fn score_rows<B: IntoIterator<Item = Result<Batch, par_data::Error>>>(
        &self,
        discretizer: &Discretizer,
        rows: &TrainingRows,
        columns: &Columns,
        open: &impl Fn() -> Result<B, par_data::Error>,
        progress: &mut dyn FnMut(Stage<'_>),
        stop: Stop<'_>,
    ) -> Result<Scored, Error> {
        let config = &self.config.classifier;
        let goal = self.schema.label().and_then(|label| label.goal.as_ref());
        let fixed = config.threshold_for(goal.map(|goal| goal.bound)).map_err(ConfigError::Setting)?;
        let threshold = |scores: &[f64]| match fixed {
            Some(threshold) => Ok(threshold),
            None => Ok::<_, Error>(youden_threshold(scores, rows.labels()?)),
        };
        match &self.supplied {
            Supplied::Nothing => {
                rows.check_sides(goal)?;
                let scale = rows.scale(goal);
                let mut report = |epoch: usize, losses: &Epoch| progress(Stage::Classifier(epoch, losses));
                let seed = self.seed(Part::Classifier);
                let (network, history) = rows.train(None, scale, config, seed, &mut report, stop)?;
                let threshold = match fixed {
                    Some(threshold) => threshold,
                    None => self.youden(columns, open, stop)?,
                };
                let score = |row: &[Code]| {
                    stop.check()?;
                    Ok(scale.score(network.log_odds(row)))
                };
                let scores = rows.rows.rows().map(score).collect::<Result<_, Stopped>>()?;
                let classifier = DeployedClassifier::Trained(network);
                Ok(Scored { classifier, scores, scale, threshold, history, agreement: None })
            }
            Supplied::File { file, inputs } => {
                let inputs = match inputs.needs_rows() {
                    true => {
                        reading(open()?, stop, |batches| inputs.standardized(&self.schema, columns, batches))?
                    }
                    false => inputs.clone(),
                };
                let external =
                    |scale| ExternalClassifier::new(file.clone(), inputs.clone(), discretizer, scale);
                let mut scale = rows.external_scale(goal);
                let mut own = external(scale)?;
                let mut scores = external_scores(&own, scale, columns, open()?, stop)?;
                if let (Some(goal), None) = (goal, &rows.numbers) {
                    // Without labels the spread is that of the predictions.
                    scale = ScoreScale::number(0.0, moments(&scores)[1], goal.side);
                    own = external(scale)?;
                    scores = external_scores(&own, scale, columns, open()?, stop)?;
                }
                let accepted = || own.inputs().accepted().unwrap_or_else(|| vec![1]);
                self.refuse_inverted(rows, &scores, scale, || ScoredBy::Output { accepted: accepted() })?;
                let (threshold, history) = (threshold(&scores)?, ClassifierHistory::default());
                let classifier = DeployedClassifier::External(Box::new(own));
                Ok(Scored { classifier, scores, scale, threshold, history, agreement: None })
            }
            Supplied::Scores { column, position } => {
                let scores = self.read_scores(column, *position, open, stop)?;
                let scale = match goal {
                    Some(goal) => {
                        let [mean, deviation] = moments(&scores);
                        ScoreScale::number(mean, deviation, goal.side)
                    }
                    None => ScoreScale::Probability,
                };
                self.refuse_inverted(rows, &scores, scale, || ScoredBy::Column { column: column.clone() })?;
                // Scores that are decisions leave no threshold to choose.
                let decided = goal.is_none() && scores.iter().all(|score| *score == 0.0 || *score == 1.0);
                let threshold = if decided { 0.5 } else { threshold(&scores)? };
                let agreement = self.surrogate_agreement(rows, &scores, scale, threshold, stop)?;
                let mut report = |epoch: usize, losses: &Epoch| progress(Stage::Classifier(epoch, losses));
                let seed = self.seed(Part::Surrogate);
                let (network, history) =
                    follow(&rows.rows, &scores, None, scale, config, seed, &mut report, stop)?;
                let classifier = DeployedClassifier::Surrogate { network, column: column.clone() };
                Ok(Scored { classifier, scores, scale, threshold, history, agreement: Some(agreement) })
            }
        }
    }

    /// How well a classifier trained on four fifths of at most [`AUC_ROWS`] rows does on the held-out fifth.
    pub(super) fn held_out(
        &self,
        rows: &TrainingRows,
        scale: ScoreScale,
        stop: Stop<'_>,
    ) -> Result<HeldOutFit, Error> {
        let labels = rows.labels()?;
        let seed = self.seed(Part::Threshold);
        let step = labels.len().div_ceil(AUC_ROWS).max(1);
        let (held_out, others): (Vec<usize>, Vec<usize>) =
            (0..labels.len()).step_by(step).partition(|&row| is_held_out(row as u64, seed));
        let of = |some: &[usize]| some.iter().map(|&row| labels[row]).collect::<Vec<bool>>();
        let has_both = |labels: &[bool]| labels.contains(&true) && labels.contains(&false);
        if !has_both(&of(&held_out)) || !has_both(&of(&others)) {
            return Ok(HeldOutFit::default());
        }
        let config = &self.config.classifier;
        let (network, _) = rows.train(Some(&others), scale, config, seed, &mut |_, _| {}, stop)?;
        let log_odds: Vec<f64> = held_out.iter().map(|&row| network.log_odds(rows.rows.row(row))).collect();
        let scores: Vec<f64> = log_odds.iter().map(|&log_odds| scale.score(log_odds)).collect();
        let sureness: Vec<f64> = scores.iter().map(|&score| scale.sureness(score)).collect();
        let explained = |numbers: &[f64]| {
            r_squared(&scores, &held_out.iter().map(|&row| numbers[row]).collect::<Vec<f64>>())
        };
        Ok(HeldOutFit {
            auc: auc(&sureness, &of(&held_out)),
            r_squared: rows.numbers.as_deref().and_then(explained),
        })
    }

    /// Refuses scores that, by the labels, are those of another class.
    fn refuse_inverted(
        &self,
        rows: &TrainingRows,
        scores: &[f64],
        scale: ScoreScale,
        scored: impl FnOnce() -> ScoredBy,
    ) -> Result<(), Error> {
        let sureness: Vec<f64> = scores.iter().map(|&score| scale.sureness(score)).collect();
        let inverted = rows.accepted.as_deref().and_then(|labels| inverted_auc(&sureness, labels));
        let Some(auc) = inverted else { return Ok(()) };
        let [favourable, _] = classes_of(Some(&self.label()?));
        let scored = if scale.is_number() { ScoredBy::Number } else { scored() };
        Err(Error::Inverted { auc, rows: scores.len(), favourable, scored })
    }

    /// How often a surrogate trained on four fifths of the rows agrees with the decisions on the held-out fifth.
    fn surrogate_agreement(
        &self,
        rows: &TrainingRows,
        scores: &[f64],
        scale: ScoreScale,
        threshold: f64,
        stop: Stop<'_>,
    ) -> Result<Mean, Error> {
        let seed = self.seed(Part::Surrogate);
        let (held_out, others): (Vec<usize>, Vec<usize>) =
            (0..scores.len()).partition(|&row| is_held_out(row as u64, seed));
        let targets: Vec<f64> = others.iter().map(|&row| scores[row]).collect();
        let config = &self.config.classifier;
        let others = rows.rows.select(&others);
        let (network, _) = follow(&others, &targets, None, scale, config, seed, &mut |_, _| {}, stop)?;
        let agrees = |&row: &usize| {
            let own = scale.score(network.log_odds(rows.rows.row(row)));
            scale.reaches(own, threshold) == scale.reaches(scores[row], threshold)
        };
        Ok(Mean::share(held_out.iter().map(agrees), scores.len()))
    }

    /// The scores in a column: classes of the label if every cell is one, otherwise numbers from 0 to 1; predicted numbers
    /// if the label is a number.
    fn read_scores<B: IntoIterator<Item = Result<Batch, par_data::Error>>>(
        &self,
        column: &str,
        position: usize,
        open: &impl Fn() -> Result<B, par_data::Error>,
        stop: Stop<'_>,
    ) -> Result<Vec<f64>, Error> {
        let label = self.schema.label().map(|_| self.label()).transpose()?;
        if label.as_ref().is_some_and(|label| label.goal.is_some()) {
            return scores_by(parse_number, true, column, position, open()?, stop);
        }
        let class = |cell: &str| {
            let label = label.as_ref()?;
            let class = label.classes.iter().position(|class| class == cell.trim())?;
            Some(f64::from(u8::from(label.wants(class))))
        };
        let score = |cell: &str| cell.trim().parse().ok().filter(|number: &f64| (0.0..=1.0).contains(number));
        match scores_by(class, false, column, position, open()?, stop) {
            Err(Error::Score { .. }) => scores_by(score, false, column, position, open()?, stop),
            classes => classes,
        }
    }
}

/// The scores in a column, as `score` reads its cells.
fn scores_by(
    score: impl Fn(&str) -> Option<f64>,
    is_number: bool,
    column: &str,
    position: usize,
    batches: impl IntoIterator<Item = Result<Batch, par_data::Error>>,
    stop: Stop<'_>,
) -> Result<Vec<f64>, Error> {
    let mut scores = Vec::new();
    for batch in batches {
        stop.check()?;
        let batch = batch?;
        for row in 0..batch.rows() {
            let found = batch.cell(row, position);
            scores.push(score(found).ok_or_else(|| Error::Score {
                place: batch.place(row),
                column: column.to_string(),
                found: found.to_string(),
                is_number,
            })?);
        }
    }
    Ok(scores)
}

/// Rows that are scored between two checks whether to stop.
const ROWS_BETWEEN_CHECKS: usize = 1024;

/// The scores of an external classifier.
fn external_scores(
    external: &ExternalClassifier,
    scale: ScoreScale,
    columns: &Columns,
    batches: impl IntoIterator<Item = Result<Batch, par_data::Error>>,
    stop: Stop<'_>,
) -> Result<Vec<f64>, Error> {
    let mut scores = Vec::new();
    for batch in batches {
        let batch = batch?;
        let score = |row: usize| {
            let cells: Vec<&str> = columns.cells(&batch, row);
            let place = || batch.place(row);
            match external.log_odds(&cells) {
                Ok(log_odds) if log_odds.is_finite() => Ok(scale.score(log_odds)),
                Ok(found) => Err(Error::NoScore { place: place(), found }),
                Err(source) => Err(par_data::Error::Cell { place: place(), source }.into()),
            }
        };
        for start in (0..batch.rows()).step_by(ROWS_BETWEEN_CHECKS) {
            stop.check()?;
            let rows = start..batch.rows().min(start + ROWS_BETWEEN_CHECKS);
            let scored: Vec<Result<f64, Error>> = rows.into_par_iter().map(score).collect();
            for score in scored {
                scores.push(score?);
            }
        }
    }
    Ok(scores)
}

/// The mean and the standard deviation of some numbers.
fn moments(numbers: &[f64]) -> [f64; 2] {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
    [mean, variance.sqrt()]
}

/// Trains a surrogate on scores of a scale. Weights count for probabilities only.
#[expect(clippy::too_many_arguments, reason = "scored rows, and how to learn from them")]
pub(crate) fn follow(
    rows: &Dataset,
    scores: &[f64],
    weights: Option<&[f32]>,
    scale: ScoreScale,
    config: &ClassifierConfig,
    seed: u64,
    progress: &mut dyn FnMut(usize, &Epoch),
    stop: Stop<'_>,
) -> Result<(NeuralClassifier, ClassifierHistory), ClassifierError> {
    match scale {
        ScoreScale::Probability => {
            let targets: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
            train_surrogate(rows, &targets, weights, config, seed, progress, stop)
        }
        ScoreScale::Number { .. } => {
            let targets: Vec<f64> = scores.iter().map(|&score| scale.log_odds(score)).collect();
            train_regression(rows, &targets, config, seed, progress, stop)
        }
    }
}

impl TrainingRows {
    /// The scale of the scores of a network trained on the labels.
    fn scale(&self, goal: Option<&Goal>) -> ScoreScale {
        match (goal, &self.numbers) {
            (Some(goal), Some(numbers)) => {
                let [mean, deviation] = moments(numbers);
                ScoreScale::number(mean, deviation, goal.side)
            }
            (Some(goal), None) => ScoreScale::number(0.0, 1.0, goal.side),
            (None, _) => ScoreScale::Probability,
        }
    }

    /// The same of an external classifier, which predicts numbers as they are.
    fn external_scale(&self, goal: Option<&Goal>) -> ScoreScale {
        self.scale(goal).of_external()
    }

    /// Refuses numbers that all reach the goal, or none of which does.
    fn check_sides(&self, goal: Option<&Goal>) -> Result<(), Error> {
        let (Some(goal), Some(first)) = (goal, self.labels()?.first()) else { return Ok(()) };
        match self.labels()?.iter().all(|own| own == first) {
            true => Err(Error::OneSide { side: goal.classes()[usize::from(*first)].clone() }),
            false => Ok(()),
        }
    }

    /// Trains a classifier, or a regression, on the labels of all rows, or of some.
    pub(super) fn train(
        &self,
        some: Option<&[usize]>,
        scale: ScoreScale,
        config: &ClassifierConfig,
        seed: u64,
        progress: &mut dyn FnMut(usize, &Epoch),
        stop: Stop<'_>,
    ) -> Result<(NeuralClassifier, ClassifierHistory), Error> {
        fn of<T: Copy>(all: &[T], some: Option<&[usize]>) -> Vec<T> {
            some.map_or_else(|| all.to_vec(), |some| some.iter().map(|&row| all[row]).collect())
        }
        let selected = some.map(|some| self.rows.select(some));
        let rows = selected.as_ref().unwrap_or(&self.rows);
        Ok(match &self.numbers {
            Some(numbers) => follow(rows, &of(numbers, some), None, scale, config, seed, progress, stop)?,
            None => train_classifier(rows, &of(self.labels()?, some), config, seed, progress, stop)?,
        })
    }
}

/// Trains a surrogate on rows drawn from both circuits and scored by the classifier, and measures on others how often
/// the two agree; `accepts` decides by log-odds.
pub(super) fn surrogate(
    config: &Config,
    external: &ExternalClassifier,
    circuits: [&Circuit; 2],
    is_number: bool,
    accepts: impl Fn(f64) -> bool,
    progress: &mut dyn FnMut(Stage<'_>),
    stop: Stop<'_>,
) -> Result<Surrogate, Error> {
    let seed = super::seed(config, Part::Surrogate);
    let [to_train, to_test] = SAMPLES;
    let typical = external.typical();
    let sample = |range: std::ops::Range<u64>| {
        let [accepted, denied] = circuits.map(|circuit| circuit.sampler().rows(range.clone(), seed));
        let codes: Vec<Code> = [accepted.codes(), denied.codes()].concat();
        let rows = Dataset::new(circuits[0].cardinalities().to_vec(), codes)?;
        let width = circuits[0].cardinalities().len();
        let log_odds = |row: &[Code]| {
            stop.check()?;
            Ok(typical.log_odds(row))
        };
        let log_odds = rows.codes().par_chunks_exact(width).map(log_odds);
        let log_odds: Vec<f64> = log_odds.collect::<Result<_, Stopped>>()?;
        Ok::<_, Error>((rows, log_odds))
    };
    let (rows, log_odds) = sample(0..to_train)?;
    let mut report = |epoch: usize, losses: &Epoch| progress(Stage::Classifier(epoch, losses));
    let (network, history) = match is_number {
        true => train_regression(&rows, &log_odds, &config.classifier, seed, &mut report, stop)?,
        false => {
            let targets: Vec<f32> = log_odds.iter().map(|&own| probability(own) as f32).collect();
            train_surrogate(&rows, &targets, None, &config.classifier, seed, &mut report, stop)?
        }
    };
    let (rows, log_odds) = sample(to_train..to_train + to_test)?;
    let agrees = |(row, &own): (&[Code], &f64)| accepts(network.log_odds(row)) == accepts(own);
    let agreement = Mean::share(rows.rows().zip(&log_odds).map(agrees), log_odds.len());
    Ok(Surrogate { network, history, agreement })
}
