//! Classifiers that are trained again: with another seed, on other rows, or in another shape.
//!
//! Each learns from at most 20,000 rows, drawn anew, so that a dozen of them take seconds. None is part of a model.

use par_circuit::{Code, Dataset, OPEN, Stop};
use par_fit::Error as FitError;
use par_fit::classifier::{ClassifierError, train_classifier};
use par_judge::{BoostedTrees, Examples};
use par_model::classifier::{Classifier, ClassifierConfig, NeuralClassifier, probability};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::case::{Fold, LabelledRows};
use crate::error::Error;

/// A retrained classifier learns from at most so many rows, drawn at random.
const MAX_ROWS: usize = 20_000;
/// The number of classifiers with another seed, and of those on another sample.
const REPEATS: u64 = 3;
/// Other shapes: the widths of hidden layers.
const SHAPES: [(&str, &[usize]); 4] =
    [("width 10", &[10]), ("width 40-20", &[40, 20]), ("width 64-64", &[64, 64]), ("logistic", &[])];

/// A classifier that was trained again.
pub(super) enum Retrained {
    Network(NeuralClassifier),
    Trees(BoostedTrees),
}

impl Retrained {
    /// The probability that a row is accepted.
    pub(super) fn score(&self, row: &[Code]) -> f64 {
        probability(match self {
            Self::Network(network) => network.log_odds(row),
            Self::Trees(trees) => trees.log_odds(|feature| number(row[feature])),
        })
    }
}

/// A code as trees read it; an unknown one is below all others.
fn number(code: Code) -> f64 {
    if code == OPEN { -1.0 } else { f64::from(code) }
}

/// How a classifier is retrained.
struct Retraining {
    name: String,
    shape: Shape,
    rows: Rows,
    seed: u64,
}

enum Shape {
    Network(ClassifierConfig),
    /// Boosted trees over codes.
    Trees,
}

#[derive(Clone, Copy)]
enum Rows {
    /// The training rows of the fold.
    Same,
    /// As many, drawn with replacement.
    Bootstrap,
    /// Those of the next fold, most of which are the same.
    NextFold,
}

/// The retrained classifiers by name, except those whose rows were all of one class.
pub(super) fn retrained(fold: &Fold<'_>, training: &LabelledRows) -> Result<Vec<(String, Retrained)>, Error> {
    let next = next_fold(fold)?;
    let train = |again: &Retraining| {
        let rows = match (again.rows, &next) {
            (Rows::NextFold, Some(next)) => next,
            (Rows::NextFold, None) => return Ok(None),
            (Rows::Same | Rows::Bootstrap, _) => training,
        };
        let trained = again.train(rows).map_err(|source| fold.case.fit_error(fold.name, source))?;
        Ok(trained.map(|classifier| (again.name.clone(), classifier)))
    };
    let trained: Vec<Option<_>> = retrainings(fold).par_iter().map(train).collect::<Result<_, Error>>()?;
    Ok(trained.into_iter().flatten().collect())
}

/// The training rows of the next fold that the model can read; `None` if there is one fold.
fn next_fold(fold: &Fold<'_>) -> Result<Option<LabelledRows>, Error> {
    let folds = fold.case.folds();
    let place = folds.iter().position(|name| name == fold.name).unwrap_or(0);
    let next = &folds[(place + 1) % folds.len()];
    if next == fold.name {
        return Ok(None);
    }
    let rows = fold.case.training(next);
    let is_read = |row: &usize| {
        let cells: Vec<&str> = fold.case.columns.cells(&rows, *row);
        fold.model.discretizer().encode_row(&cells).is_ok()
    };
    let read: Vec<usize> = (0..rows.rows()).filter(is_read).collect();
    fold.labelled(&rows.select(read)).map(Some)
}

/// All retrainings of a fold's classifier.
fn retrainings(fold: &Fold<'_>) -> Vec<Retraining> {
    let own = &fold.case.config;
    // Seeds that no part of a fit uses.
    let seed = |number: u64| own.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut all: Vec<Retraining> = Vec::new();
    let mut add = |name: String, shape: Shape, rows: Rows| {
        let number = all.len() as u64 + 1;
        all.push(Retraining { name, shape, rows, seed: seed(number) });
    };
    let same = || Shape::Network(own.classifier.clone());
    for repeat in 1..=REPEATS {
        add(format!("seed {repeat}"), same(), Rows::Same);
    }
    for repeat in 1..=REPEATS {
        add(format!("bootstrap {repeat}"), same(), Rows::Bootstrap);
    }
    for (name, hidden) in SHAPES {
        let config = ClassifierConfig { hidden: hidden.to_vec(), ..own.classifier.clone() };
        add(name.to_string(), Shape::Network(config), Rows::Same);
    }
    add("boosted trees".to_string(), Shape::Trees, Rows::Same);
    add("next fold".to_string(), same(), Rows::NextFold);
    all
}

impl Retraining {
    /// Trains it; `None` if all rows of its sample are of one class.
    fn train(&self, training: &LabelledRows) -> Result<Option<Retrained>, FitError> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let sample = sample(training.accepted.len(), self.rows, &mut rng);
        let rows: Dataset = training.rows.select(&sample);
        let accepted: Vec<bool> = sample.iter().map(|&row| training.accepted[row]).collect();
        let seed = rng.next_u64();
        match &self.shape {
            Shape::Network(config) => {
                match train_classifier(&rows, &accepted, config, seed, &mut |_, _| {}, Stop::never()) {
                    Ok((network, _)) => Ok(Some(Retrained::Network(network))),
                    Err(ClassifierError::OneClass { .. }) => Ok(None),
                    Err(error) => Err(error.into()),
                }
            }
            Shape::Trees => {
                let has_both = accepted.contains(&true) && accepted.contains(&false);
                let column = |feature: usize| rows.rows().map(|row| number(row[feature])).collect();
                let columns = (0..rows.cardinalities().len()).map(column).collect();
                let all: Vec<usize> = (0..accepted.len()).collect();
                let examples = Examples { columns, classes: accepted };
                Ok(has_both.then(|| Retrained::Trees(BoostedTrees::fit(&examples, &all))))
            }
        }
    }
}

/// The training rows: all, or as many drawn with replacement; at most [`MAX_ROWS`]. Copies of one row may end up in
/// both training and validation, so that early stopping comes a little later.
fn sample(rows: usize, which: Rows, rng: &mut impl Rng) -> Vec<usize> {
    let count = rows.min(MAX_ROWS);
    match which {
        Rows::Bootstrap => (0..count).map(|_| rng.random_range(0..rows)).collect(),
        Rows::Same | Rows::NextFold if count == rows => (0..rows).collect(),
        Rows::Same | Rows::NextFold => {
            let mut all: Vec<usize> = (0..rows).collect();
            let (some, _) = all.partial_shuffle(rng, count);
            some.to_vec()
        }
    }
}
