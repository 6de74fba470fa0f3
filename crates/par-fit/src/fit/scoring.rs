//! The classifier of a fit, trained or supplied, and its scores of the training rows.

use par_circuit::{Circuit, Code, Dataset, Stop, Stopped};
use par_data::{Batch, Columns, Discretizer};
use par_model::card::{ClassifierHistory, Epoch};
use par_model::classifier::inputs::Inputs;
use par_model::classifier::{
    Classifier, DeployedClassifier, ExternalClassifier, NeuralClassifier, Threshold, probability,
};
use par_model::{Config, Mean};
use rayon::prelude::*;

use super::{ModelBuilder, Part, Stage, TrainingRows, is_held_out, reading};
use crate::classifier::{auc, inverted_auc, train_classifier, train_surrogate, youden_threshold};
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
    pub(super) threshold: f64,
    pub(super) history: ClassifierHistory,
    pub(super) agreement: Option<Mean>,
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
        let threshold = |scores: &[f64]| match config.threshold {
            Threshold::Fixed(threshold) => Ok(threshold),
            Threshold::Youden => Ok::<_, Error>(youden_threshold(scores, rows.labels()?)),
        };
        match &self.supplied {
            Supplied::Nothing => {
                let (network, history) = train_classifier(
                    &rows.rows,
                    rows.labels()?,
                    config,
                    self.seed(Part::Classifier),
                    &mut |epoch, losses| progress(Stage::Classifier(epoch, losses)),
                    stop,
                )?;
                let threshold = match config.threshold {
                    Threshold::Fixed(threshold) => threshold,
                    Threshold::Youden => self.youden(columns, open, stop)?,
                };
                let score = |row: &[Code]| {
                    stop.check()?;
                    Ok(probability(network.log_odds(row)))
                };
                let scores = rows.rows.rows().map(score).collect::<Result<_, Stopped>>()?;
                let classifier = DeployedClassifier::Trained(network);
                Ok(Scored { classifier, scores, threshold, history, agreement: None })
            }
            Supplied::File { file, inputs } => {
                let inputs = match inputs.needs_rows() {
                    true => {
                        reading(open()?, stop, |batches| inputs.standardized(&self.schema, columns, batches))?
                    }
                    false => inputs.clone(),
                };
                let external = ExternalClassifier::new(file.clone(), inputs, discretizer)?;
                let scores = external_scores(&external, columns, open()?, stop)?;
                let accepted = external.inputs().choice().accepted;
                self.refuse_inverted(rows, &scores, || ScoredBy::Output { accepted })?;
                let (threshold, history) = (threshold(&scores)?, ClassifierHistory::default());
                let classifier = DeployedClassifier::External(Box::new(external));
                Ok(Scored { classifier, scores, threshold, history, agreement: None })
            }
            Supplied::Scores { column, position } => {
                let scores = self.read_scores(column, *position, open, stop)?;
                self.refuse_inverted(rows, &scores, || ScoredBy::Column { column: column.clone() })?;
                // Scores that are decisions leave no threshold to choose.
                let decided = scores.iter().all(|score| *score == 0.0 || *score == 1.0);
                let threshold = if decided { 0.5 } else { threshold(&scores)? };
                let agreement = self.surrogate_agreement(rows, &scores, threshold, stop)?;
                let targets: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
                let (network, history) = train_surrogate(
                    &rows.rows,
                    &targets,
                    config,
                    self.seed(Part::Surrogate),
                    &mut |epoch, losses| progress(Stage::Classifier(epoch, losses)),
                    stop,
                )?;
                let classifier = DeployedClassifier::Surrogate { network, column: column.clone() };
                Ok(Scored { classifier, scores, threshold, history, agreement: Some(agreement) })
            }
        }
    }

    /// The AUC of a classifier trained on four fifths of at most [`AUC_ROWS`] rows, on the held-out fifth.
    pub(super) fn held_out_auc(
        &self,
        rows: &TrainingRows,
        labels: &[bool],
        stop: Stop<'_>,
    ) -> Result<Option<f64>, Error> {
        let seed = self.seed(Part::Threshold);
        let step = labels.len().div_ceil(AUC_ROWS).max(1);
        let (held_out, others): (Vec<usize>, Vec<usize>) =
            (0..labels.len()).step_by(step).partition(|&row| is_held_out(row as u64, seed));
        let of = |some: &[usize]| some.iter().map(|&row| labels[row]).collect::<Vec<bool>>();
        let (own, others_labels) = (of(&held_out), of(&others));
        let has_both = |labels: &[bool]| labels.contains(&true) && labels.contains(&false);
        if !has_both(&own) || !has_both(&others_labels) {
            return Ok(None);
        }
        let others = rows.rows.select(&others);
        let config = &self.config.classifier;
        let (network, _) = train_classifier(&others, &others_labels, config, seed, &mut |_, _| {}, stop)?;
        let score = |&row: &usize| probability(network.log_odds(rows.rows.row(row)));
        Ok(auc(&held_out.iter().map(score).collect::<Vec<f64>>(), &own))
    }

    /// Refuses scores that, by the labels, are those of another class.
    fn refuse_inverted(
        &self,
        rows: &TrainingRows,
        scores: &[f64],
        scored: impl FnOnce() -> ScoredBy,
    ) -> Result<(), Error> {
        let inverted = rows.accepted.as_deref().and_then(|labels| inverted_auc(scores, labels));
        let Some(auc) = inverted else { return Ok(()) };
        let [favourable, _] = self.classes(Some(self.favourable()?));
        Err(Error::Inverted { auc, rows: scores.len(), favourable, scored: scored() })
    }

    /// How often a surrogate trained on four fifths of the rows agrees with the decisions on the held-out fifth.
    fn surrogate_agreement(
        &self,
        rows: &TrainingRows,
        scores: &[f64],
        threshold: f64,
        stop: Stop<'_>,
    ) -> Result<Mean, Error> {
        let seed = self.seed(Part::Surrogate);
        let (held_out, others): (Vec<usize>, Vec<usize>) =
            (0..scores.len()).partition(|&row| is_held_out(row as u64, seed));
        let targets: Vec<f32> = others.iter().map(|&row| scores[row] as f32).collect();
        let config = &self.config.classifier;
        let others = rows.rows.select(&others);
        let (network, _) = train_surrogate(&others, &targets, config, seed, &mut |_, _| {}, stop)?;
        let agrees = |&row: &usize| {
            let decides = probability(network.log_odds(rows.rows.row(row))) >= threshold;
            decides == (scores[row] >= threshold)
        };
        Ok(Mean::share(held_out.iter().map(agrees), scores.len()))
    }

    /// The scores in a column: classes of the label if every cell is one, otherwise numbers from 0 to 1.
    fn read_scores<B: IntoIterator<Item = Result<Batch, par_data::Error>>>(
        &self,
        column: &str,
        position: usize,
        open: &impl Fn() -> Result<B, par_data::Error>,
        stop: Stop<'_>,
    ) -> Result<Vec<f64>, Error> {
        let favourable = self.schema.label().map(|_| self.favourable()).transpose()?;
        let class = |cell: &str| {
            let class = self.schema.label()?.classes.iter().position(|class| class == cell.trim())?;
            Some(f64::from(u8::from(Some(class) == favourable)))
        };
        let score = |cell: &str| cell.trim().parse().ok().filter(|number: &f64| (0.0..=1.0).contains(number));
        match scores_by(class, column, position, open()?, stop) {
            Err(Error::Score { .. }) => scores_by(score, column, position, open()?, stop),
            classes => classes,
        }
    }
}

/// The scores in a column, as `score` reads its cells.
fn scores_by(
    score: impl Fn(&str) -> Option<f64>,
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
            })?);
        }
    }
    Ok(scores)
}

/// The scores of an external classifier.
fn external_scores(
    external: &ExternalClassifier,
    columns: &Columns,
    batches: impl IntoIterator<Item = Result<Batch, par_data::Error>>,
    stop: Stop<'_>,
) -> Result<Vec<f64>, Error> {
    let mut scores = Vec::new();
    for batch in batches {
        let batch = batch?;
        let score = |row: usize| {
            stop.check()?;
            let cells: Vec<&str> = columns.cells(&batch, row);
            let place = || batch.place(row);
            match external.log_odds(&cells) {
                Ok(log_odds) if log_odds.is_finite() => Ok(probability(log_odds)),
                Ok(found) => Err(Error::NoScore { place: place(), found }),
                Err(source) => Err(par_data::Error::Cell { place: place(), source }.into()),
            }
        };
        let scored: Vec<Result<f64, Error>> = (0..batch.rows()).into_par_iter().map(score).collect();
        for score in scored {
            scores.push(score?);
        }
    }
    Ok(scores)
}

/// Trains a surrogate on rows drawn from both circuits and scored by the classifier, and measures on others how often
/// the two agree.
pub(super) fn surrogate(
    config: &Config,
    external: &ExternalClassifier,
    circuits: [&Circuit; 2],
    threshold: f64,
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
        let score = |row: &[Code]| {
            stop.check()?;
            Ok(probability(typical.log_odds(row)) as f32)
        };
        let scores = rows.codes().par_chunks_exact(width).map(score);
        let scores: Vec<f32> = scores.collect::<Result<_, Stopped>>()?;
        Ok::<_, Error>((rows, scores))
    };
    let (rows, targets) = sample(0..to_train)?;
    let mut report = |epoch: usize, losses: &Epoch| progress(Stage::Classifier(epoch, losses));
    let (network, history) = train_surrogate(&rows, &targets, &config.classifier, seed, &mut report, stop)?;
    let (rows, targets) = sample(to_train..to_train + to_test)?;
    let agrees = |(row, &score): (&[Code], &f32)| {
        (probability(network.log_odds(row)) >= threshold) == (f64::from(score) >= threshold)
    };
    let agreement = Mean::share(rows.rows().zip(&targets).map(agrees), targets.len());
    Ok(Surrogate { network, history, agreement })
}
