//! From labelled rows to a network: cross-entropy or squared error, Adam, early stopping.

use par_circuit::{Dataset, Stop, Stopped};
use par_model::card::{ClassifierHistory, Epoch};
use par_model::classifier::neural::{add_rows, offsets, ones};
use par_model::classifier::{Balance, ClassifierConfig, NeuralClassifier};
use par_model::network::{Network, Trace};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::ClassifierError;
use crate::adam::Adam;

/// Trains a classifier on rows and whether each was accepted; the same seed trains the same one.
///
/// Calls `progress` after every epoch, counted from 1. The threshold is not part of the classifier; it only affects the
/// setting `balance`.
///
/// # Errors
/// When a setting is out of its range, there are no rows of one class, the loss diverges, or it is stopped.
///
/// # Panics
/// Unless there are as many labels as rows.
pub fn train_classifier(
    rows: &Dataset,
    accepted: &[bool],
    config: &ClassifierConfig,
    seed: u64,
    progress: &mut dyn FnMut(usize, &Epoch),
    stop: Stop<'_>,
) -> Result<(NeuralClassifier, ClassifierHistory), ClassifierError> {
    config.check()?;
    let first = *accepted.first().ok_or(ClassifierError::NoRows)?;
    if accepted.iter().all(|&accepted| accepted == first) {
        return Err(ClassifierError::OneClass { accepted: first });
    }
    let targets: Vec<f32> = accepted.iter().map(|&accepted| f32::from(u8::from(accepted))).collect();
    train(rows, &targets, None, Loss::CrossEntropy, config, seed, progress, stop)
}

/// Trains a network whose output is a number: a regression by squared error. Targets should have a standard deviation
/// of about one. All rows have the same weight.
///
/// # Errors
/// When a setting is out of its range, there are no rows, the loss diverges, or it is stopped.
///
/// # Panics
/// Unless there are as many targets as rows.
pub fn train_regression(
    rows: &Dataset,
    targets: &[f64],
    config: &ClassifierConfig,
    seed: u64,
    progress: &mut dyn FnMut(usize, &Epoch),
    stop: Stop<'_>,
) -> Result<(NeuralClassifier, ClassifierHistory), ClassifierError> {
    let config = ClassifierConfig { balance: Balance::Never, ..config.clone() };
    config.check()?;
    if targets.is_empty() {
        return Err(ClassifierError::NoRows);
    }
    // The network learns the difference from the mean, which then is its last bias.
    let mean = targets.iter().sum::<f64>() / targets.len() as f64;
    let centered: Vec<f32> = targets.iter().map(|target| (target - mean) as f32).collect();
    let (network, history) = train(rows, &centered, None, Loss::Squared, &config, seed, progress, stop)?;
    let mut parameters = network.parameters().to_vec();
    *parameters.last_mut().expect("the output has a bias") += mean as f32;
    let network =
        NeuralClassifier::from_parameters(rows.cardinalities().to_vec(), &config.hidden, parameters);
    let diverged = || ClassifierError::Diverged { epoch: history.best, learning_rate: config.learning_rate };
    Ok((network.ok_or_else(diverged)?, history))
}

/// Trains a surrogate on another classifier's scores of the rows, each a probability. All rows have the same weight
/// unless `weights` says otherwise, whatever the settings.
///
/// # Errors
/// When a setting is out of its range, there are no rows, the loss diverges, or it is stopped.
///
/// # Panics
/// Unless there are as many targets as rows, and as many weights if there are any.
pub fn train_surrogate(
    rows: &Dataset,
    targets: &[f32],
    weights: Option<&[f32]>,
    config: &ClassifierConfig,
    seed: u64,
    progress: &mut dyn FnMut(usize, &Epoch),
    stop: Stop<'_>,
) -> Result<(NeuralClassifier, ClassifierHistory), ClassifierError> {
    let config = ClassifierConfig { balance: Balance::Never, ..config.clone() };
    config.check()?;
    if targets.is_empty() {
        return Err(ClassifierError::NoRows);
    }
    train(rows, targets, weights, Loss::CrossEntropy, &config, seed, progress, stop)
}

/// What a network minimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// Of log-odds; targets are probabilities.
    CrossEntropy,
    /// Half the squared error; targets are numbers around zero.
    Squared,
}

impl Loss {
    /// The target that divides rows into two classes, of which the same shares are held out.
    fn middle(self) -> f32 {
        match self {
            Self::CrossEntropy => 0.5,
            Self::Squared => 0.0,
        }
    }

    /// The loss of an output.
    fn value(self, output: f32, target: f32) -> f64 {
        let (output, target) = (f64::from(output), f64::from(target));
        match self {
            Self::CrossEntropy => {
                let loss = |wrong: f64| wrong.max(0.0) + (-wrong.abs()).exp().ln_1p();
                target * loss(-output) + (1.0 - target) * loss(output)
            }
            Self::Squared => 0.5 * (output - target).powi(2),
        }
    }

    /// Its slope by the output.
    fn slope(self, output: f32, target: f32) -> f32 {
        match self {
            Self::CrossEntropy => 1.0 / (1.0 + (-output).exp()) - target,
            Self::Squared => output - target,
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "the parameters of three kinds of training")]
fn train(
    rows: &Dataset,
    targets: &[f32],
    weights: Option<&[f32]>,
    loss: Loss,
    config: &ClassifierConfig,
    seed: u64,
    progress: &mut dyn FnMut(usize, &Epoch),
    stop: Stop<'_>,
) -> Result<(NeuralClassifier, ClassifierHistory), ClassifierError> {
    assert_eq!(rows.len(), targets.len(), "one target per row");
    assert!(weights.is_none_or(|weights| weights.len() == rows.len()), "one weight per row");
    let accepted: Vec<bool> = targets.iter().map(|target| *target >= loss.middle()).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut training, validation) = split(&accepted, config.validation, &mut rng);
    let mut trainer = Trainer::new(rows, targets, loss, &accepted, config, &mut rng);
    if let Some(weights) = weights {
        trainer.weights = weights.to_vec();
    }
    let mut history = ClassifierHistory { epochs: Vec::new(), best: 0, balanced: trainer.balanced };
    let (mut best, mut lowest) = (Vec::new(), f64::INFINITY);
    for epoch in 1..=config.epochs {
        training.shuffle(&mut rng);
        let mut losses = 0.0;
        for batch in training.chunks(config.batch) {
            stop.check()?;
            losses += trainer.step(batch);
        }
        let loss = losses / training.len() as f64;
        if !loss.is_finite() {
            return Err(ClassifierError::Diverged { epoch, learning_rate: config.learning_rate });
        }
        let validated = match validation.is_empty() {
            true => None,
            false => Some(trainer.loss(&validation, stop)?),
        };
        history.epochs.push(Epoch { training: loss, validation: validated });
        progress(epoch, &history.epochs[epoch - 1]);
        if validated.is_none_or(|loss| loss < lowest) {
            lowest = validated.unwrap_or(lowest);
            history.best = epoch;
            best = trainer.parameters();
        } else if epoch - history.best >= config.patience {
            break;
        }
    }
    let classifier =
        NeuralClassifier::from_parameters(rows.cardinalities().to_vec(), &config.hidden, best).ok_or(
            ClassifierError::Diverged { epoch: history.epochs.len(), learning_rate: config.learning_rate },
        )?;
    Ok((classifier, history))
}

/// The training and the held-out rows, with the same share of both classes.
fn split(accepted: &[bool], share: f64, rng: &mut ChaCha8Rng) -> (Vec<usize>, Vec<usize>) {
    let (mut training, mut validation) = (Vec::new(), Vec::new());
    for class in [true, false] {
        let mut rows: Vec<usize> = (0..accepted.len()).filter(|&row| accepted[row] == class).collect();
        rows.shuffle(rng);
        training.extend(rows.split_off((share * rows.len() as f64) as usize));
        validation.extend(rows);
    }
    (training, validation)
}

struct Trainer<'a> {
    rows: &'a Dataset,
    /// The probability that each row is accepted, 0 or 1 for a label; or a number.
    targets: &'a [f32],
    loss: Loss,
    /// The weight of each row in the loss, 1 on average.
    weights: Vec<f32>,
    balanced: bool,
    offsets: Vec<usize>,
    /// The first layer, whose inputs are sparse, and then a network of the others.
    networks: Vec<Network>,
    adam: Adam,
    gradient: Vec<f32>,
    /// The values of the first layer, row by row.
    hidden: Vec<f32>,
    trace: Trace,
}

impl<'a> Trainer<'a> {
    fn new(
        rows: &'a Dataset,
        targets: &'a [f32],
        loss: Loss,
        accepted: &[bool],
        config: &ClassifierConfig,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let positives = accepted.iter().filter(|accepted| **accepted).count();
        let negatives = accepted.len() - positives;
        let balanced = config.balances(positives, negatives);
        let weight = |rows: usize| if balanced { accepted.len() as f32 / (2 * rows) as f32 } else { 1.0 };
        let codes = rows.cardinalities().iter().sum();
        let widths: Vec<usize> =
            [codes].into_iter().chain(config.hidden.iter().copied()).chain([1]).collect();
        let parts = [&widths[..2], &widths[1..]];
        let networks: Vec<Network> = parts
            .into_iter()
            .filter(|widths| widths.len() > 1)
            .map(|widths| Network::new(widths, rng))
            .collect();
        let parameters = networks.iter().map(|network| network.parameters().len()).sum();
        Self {
            rows,
            targets,
            loss,
            weights: accepted.iter().map(|&own| weight(if own { positives } else { negatives })).collect(),
            balanced,
            offsets: offsets(rows.cardinalities()),
            networks,
            adam: Adam::new(parameters, config.learning_rate),
            gradient: vec![0.0; parameters],
            hidden: Vec::new(),
            trace: Trace::default(),
        }
    }

    fn parameters(&self) -> Vec<f32> {
        self.networks.iter().flat_map(Network::parameters).copied().collect()
    }

    /// The outputs for some rows.
    fn forward(&mut self, batch: &[usize]) -> Vec<f32> {
        let first = self.networks[0].layer(0);
        let width = first.biases.len();
        self.hidden.clear();
        for &row in batch {
            let inputs = ones(&self.offsets, self.rows.row(row)).map(|input| (input, 1.0));
            let start = self.hidden.len();
            self.hidden.extend_from_slice(first.biases);
            add_rows(&inputs, first.weights, &mut self.hidden[start..start + width]);
        }
        let Some(rest) = self.networks.get(1) else { return self.hidden.clone() };
        self.hidden.iter_mut().for_each(|value| *value = value.max(0.0));
        self.trace.inputs().extend_from_slice(&self.hidden);
        rest.forward(&mut self.trace).to_vec()
    }

    /// Makes a step of Adam on some rows, and returns the sum of their losses before it.
    fn step(&mut self, batch: &[usize]) -> f64 {
        let mut values = self.forward(batch);
        let mut losses = 0.0;
        for (value, &row) in values.iter_mut().zip(batch) {
            losses += self.row_loss(row, *value);
            let weight = self.weights[row] / batch.len() as f32;
            *value = weight * self.loss.slope(*value, self.targets[row]);
        }
        self.gradient.fill(0.0);
        let (first, rest) = self.gradient.split_at_mut(self.networks[0].parameters().len());
        if let Some(network) = self.networks.get(1) {
            values = network.backward(&self.trace, &values, rest);
            let inactive = values.iter_mut().zip(&self.hidden).filter(|(_, value)| **value <= 0.0);
            inactive.for_each(|(slope, _)| *slope = 0.0);
        }
        let width = self.networks[0].widths()[1];
        let (weights, biases) = first.split_at_mut(first.len() - width);
        for (slopes, &row) in values.chunks_exact(width).zip(batch) {
            add(slopes, biases);
            for input in ones(&self.offsets, self.rows.row(row)) {
                add(slopes, &mut weights[input * width..][..width]);
            }
        }
        let mut networks: Vec<&mut Network> = self.networks.iter_mut().collect();
        self.adam.step(&mut networks, &self.gradient);
        losses
    }

    /// The mean loss of some rows.
    fn loss(&mut self, rows: &[usize], stop: Stop<'_>) -> Result<f64, Stopped> {
        let mut losses = 0.0;
        for batch in rows.chunks(256) {
            stop.check()?;
            let values = self.forward(batch);
            losses += values.iter().zip(batch).map(|(&value, &row)| self.row_loss(row, value)).sum::<f64>();
        }
        Ok(losses / rows.len() as f64)
    }

    /// The weighted loss of a row with this output.
    fn row_loss(&self, row: usize, output: f32) -> f64 {
        f64::from(self.weights[row]) * self.loss.value(output, self.targets[row])
    }
}

#[inline(always)]
fn add(slopes: &[f32], sums: &mut [f32]) {
    sums.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
}

#[cfg(test)]
mod tests {
    use par_model::classifier::{Classifier, probability};

    use super::super::auc;
    use super::*;

    #[test]
    fn a_surrogate_learns_scores_and_not_only_decisions() {
        let codes = (0..400).flat_map(|row| [row % 4, row % 3]).collect();
        let rows = Dataset::new(vec![4, 3], codes).expect("two columns");
        let score = |row: &[par_circuit::Code]| [0.2, 0.4, 0.7, 0.9][usize::from(row[0])];
        let targets: Vec<f32> = rows.rows().map(score).collect();
        let config = ClassifierConfig { learning_rate: 1e-2, ..ClassifierConfig::default() };
        let (surrogate, _) =
            train_surrogate(&rows, &targets, None, &config, 1, &mut |_, _| {}, Stop::never()).expect("a fit");
        for row in rows.rows() {
            let found = probability(surrogate.log_odds(row));
            assert!((found - f64::from(score(row))).abs() < 0.05, "{row:?} has {found}");
        }
    }

    #[test]
    fn a_surrogate_follows_the_heavier_rows() {
        let rows = Dataset::new(vec![2], vec![0; 400]).expect("one column");
        let targets: Vec<f32> = (0..400).map(|row: u16| f32::from(row % 2)).collect();
        let weights: Vec<f32> = targets.iter().map(|target| 1.0 + 3.0 * target).collect();
        let config = ClassifierConfig { learning_rate: 1e-2, ..ClassifierConfig::default() };
        let (surrogate, _) =
            train_surrogate(&rows, &targets, Some(&weights), &config, 1, &mut |_, _| {}, Stop::never())
                .expect("a fit");
        let found = probability(surrogate.log_odds(&[0]));
        assert!((found - 0.8).abs() < 0.05, "{found}");
    }

    #[test]
    fn a_regression_learns_numbers_far_from_zero() {
        let codes = (0..400).flat_map(|row| [row % 4, row % 3]).collect();
        let rows = Dataset::new(vec![4, 3], codes).expect("two columns");
        let number = |row: &[par_circuit::Code]| 100.0 + f64::from(row[0] * row[1]) / 3.0;
        let targets: Vec<f64> = rows.rows().map(number).collect();
        let config = ClassifierConfig { learning_rate: 1e-2, ..ClassifierConfig::default() };
        let (network, _) =
            train_regression(&rows, &targets, &config, 1, &mut |_, _| {}, Stop::never()).expect("a fit");
        for row in rows.rows() {
            let found = network.log_odds(row);
            assert!((found - number(row)).abs() < 0.1, "{row:?} has {found}");
        }
    }

    /// Rows of two bits and a constant column, accepted if the bits differ.
    fn exclusive_or(rows: u16) -> (Dataset, Vec<bool>) {
        let codes = (0..rows).flat_map(|row| [row % 2, row / 2 % 2, 0]).collect();
        let accepted = (0..rows).map(|row| row % 2 != row / 2 % 2).collect();
        (Dataset::new(vec![2, 2, 1], codes).expect("three columns"), accepted)
    }

    fn quick() -> ClassifierConfig {
        ClassifierConfig { learning_rate: 0.02, batch: 16, epochs: 60, ..ClassifierConfig::default() }
    }

    fn fit(
        rows: &Dataset,
        accepted: &[bool],
        config: &ClassifierConfig,
        seed: u64,
    ) -> (NeuralClassifier, ClassifierHistory) {
        train_classifier(rows, accepted, config, seed, &mut |_, _| (), Stop::never())
            .expect("rows of both classes")
    }

    #[test]
    fn learns_an_interaction_of_two_features() {
        let (rows, accepted) = exclusive_or(200);
        let (classifier, history) = fit(&rows, &accepted, &quick(), 1);
        assert!(classifier.log_odds(&[0, 1, 0]) > 2.0 && classifier.log_odds(&[1, 0, 0]) > 2.0);
        assert!(classifier.log_odds(&[0, 0, 0]) < -2.0 && classifier.log_odds(&[1, 1, 0]) < -2.0);
        let scores: Vec<f64> = rows.rows().map(|row| probability(classifier.log_odds(row))).collect();
        assert_eq!(auc(&scores, &accepted), Some(1.0));
        let best = history.epochs[history.best - 1].validation.expect("some rows are held out");
        assert!(history.epochs.iter().all(|epoch| epoch.validation >= Some(best)));
    }

    #[test]
    fn the_same_seed_trains_the_same_classifier() {
        let (rows, accepted) = exclusive_or(60);
        let config = ClassifierConfig { epochs: 3, ..quick() };
        let first = fit(&rows, &accepted, &config, 1);
        assert_eq!(first, fit(&rows, &accepted, &config, 1));
        assert_ne!(first.0.parameters(), fit(&rows, &accepted, &config, 2).0.parameters());
    }

    #[test]
    fn progress_is_called_after_every_epoch() {
        let (rows, accepted) = exclusive_or(40);
        let config = ClassifierConfig { epochs: 4, validation: 0.0, hidden: vec![], ..quick() };
        let mut epochs = Vec::new();
        let mut progress = |epoch, losses: &Epoch| epochs.push((epoch, *losses));
        let (classifier, history) =
            train_classifier(&rows, &accepted, &config, 1, &mut progress, Stop::never())
                .expect("rows of both classes");
        assert_eq!(classifier.widths(), [5, 1]);
        assert_eq!(epochs, (1..).zip(history.epochs).collect::<Vec<_>>());
        assert_eq!((epochs.len(), history.best), (4, 4));
        assert!(epochs.iter().all(|(_, losses)| losses.validation.is_none()));
    }

    #[test]
    fn balanced_rows_score_around_one_half_however_rare_a_class_is() {
        let rows = Dataset::new(vec![1], vec![0; 200]).expect("one column");
        let accepted: Vec<bool> = (0..200).map(|row| row % 10 == 0).collect();
        let mut config = ClassifierConfig { hidden: vec![], batch: 200, ..quick() };
        let (balanced, history) = fit(&rows, &accepted, &config, 1);
        assert!(history.balanced && balanced.log_odds(&[0]).abs() < 0.2);
        config.balance = Balance::Never;
        config.epochs = 400;
        let (plain, history) = fit(&rows, &accepted, &config, 1);
        assert!(!history.balanced && (probability(plain.log_odds(&[0])) - 0.1).abs() < 0.02);
    }

    #[test]
    fn rows_of_one_class_are_refused() {
        let refused = |rows: &Dataset, accepted: &[bool]| {
            train_classifier(rows, accepted, &quick(), 1, &mut |_, _| (), Stop::never())
                .expect_err("nothing to learn")
                .to_string()
        };
        let (rows, _) = exclusive_or(3);
        assert_eq!(
            refused(&rows, &[true; 3]),
            "every training row is accepted, expected rows of both classes"
        );
        assert_eq!(
            refused(&rows, &[false; 3]),
            "every training row is denied, expected rows of both classes"
        );
        assert_eq!(refused(&rows.select(&[]), &[]), "there are no training rows");
    }
}
