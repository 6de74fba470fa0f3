//! Whether answers hold when the classifier is retrained: with another seed, on another sample of the same rows, or in
//! another shape.
//!
//! Bins, threshold and answers stay the same. Each new classifier scores the answers (`score`); `validity` is the share
//! that it accepts, `kept` the share among answers that the deployed classifier accepts. `agreement` with the deployed
//! one on the fold's rows shows how different it is. It learns from at most 20,000 rows, drawn anew for each classifier,
//! so that nine of them take seconds.
//!
//! # Paper
//! Appendix, "Robustness to Classifier Change": the mean score of answers under another classifier. Departure: the
//! paper names no classifiers, so there are nine, and the share still accepted is measured too.

use par_answer::Method as Own;
use par_answer::evaluate::MethodAnswers;
use par_circuit::{Code, Dataset, Stop};
use par_fit::Error as FitError;
use par_fit::classifier::{ClassifierError, auc, train_classifier};
use par_model::Mean;
use par_model::classifier::{Classifier, ClassifierConfig, NeuralClassifier, probability};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::case::{Fold, LabelledRows};
use crate::error::Error;
use crate::figures::{Metric, Sheet};
use crate::method::Method;

/// A retrained classifier learns from at most so many rows, drawn at random.
const MAX_ROWS: usize = 20_000;
/// The number of classifiers with another seed, and of those on another sample.
const REPEATS: u64 = 3;
/// Other shapes: the widths of hidden layers.
const SHAPES: [(&str, &[usize]); 3] = [("width 10", &[10]), ("width 40-20", &[40, 20]), ("logistic", &[])];

/// How a classifier is retrained.
struct Retraining {
    name: String,
    config: ClassifierConfig,
    is_bootstrap: bool,
    seed: u64,
}

/// Measures every method's answers under every new classifier.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let training = fold.labelled(&fold.training)?;
    let test = fold.labelled(&fold.test)?;
    let methods = methods(fold)?;
    let threshold = fold.model.threshold();
    let score = |classifier: &NeuralClassifier, row: &[Code]| probability(classifier.log_odds(row));
    let is_accepted = |row: &[Code]| fold.model.probability(row) >= threshold;
    let deployed: Vec<bool> = test.rows.rows().map(is_accepted).collect();
    for (name, classifier) in &retrained(fold, &training)? {
        let at = |metric| Metric::at(metric, &[("classifier", name)]);
        let scores: Vec<f64> = test.rows.rows().map(|row| score(classifier, row)).collect();
        let agree = scores.iter().zip(&deployed).map(|(score, own)| (*score >= threshold) == *own);
        sheet.mean("classifier", at("agreement"), Mean::share(agree, scores.len()));
        let mean = auc(&scores, &test.accepted);
        sheet.mean("classifier", at("auc"), Mean { mean, over: scores.len(), of: scores.len() });
        for (method, answers) in &methods {
            let scores = || answers.iter().flatten().map(|row| score(classifier, row));
            sheet.mean(method, at("score"), Mean::new(scores(), answers.len()));
            let valid = scores().map(|score| score >= threshold);
            sheet.mean(method, at("validity"), Mean::share(valid, answers.len()));
            let once = answers.iter().flatten().filter(|row| is_accepted(row));
            let kept = once.map(|row| score(classifier, row) >= threshold);
            sheet.mean(method, at("kept"), Mean::share(kept, answers.len()));
        }
    }
    Ok(())
}

/// The retrained classifiers by name, except those whose rows were all of one class.
pub(super) fn retrained(
    fold: &Fold<'_>,
    training: &LabelledRows,
) -> Result<Vec<(String, NeuralClassifier)>, Error> {
    let train = |again: &Retraining| {
        let trained = again.train(training).map_err(|source| fold.case.fit_error(fold.name, source))?;
        Ok(trained.map(|classifier| (again.name.clone(), classifier)))
    };
    let trained: Vec<Option<_>> = classifiers(fold).par_iter().map(train).collect::<Result<_, Error>>()?;
    Ok(trained.into_iter().flatten().collect())
}

/// All retrainings of a fold's classifier.
fn classifiers(fold: &Fold<'_>) -> Vec<Retraining> {
    let own = &fold.case.config;
    // Seeds that no part of a fit uses.
    let seed = |number: u64| own.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let again = |name: String, config: &ClassifierConfig, is_bootstrap, number| Retraining {
        name,
        config: config.clone(),
        is_bootstrap,
        seed: seed(number),
    };
    let mut all = Vec::new();
    for repeat in 1..=REPEATS {
        all.push(again(format!("seed {repeat}"), &own.classifier, false, repeat));
    }
    for repeat in 1..=REPEATS {
        all.push(again(format!("bootstrap {repeat}"), &own.classifier, true, REPEATS + repeat));
    }
    for ((name, hidden), number) in SHAPES.into_iter().zip(2 * REPEATS + 1..) {
        let config = ClassifierConfig { hidden: hidden.to_vec(), ..own.classifier.clone() };
        all.push(again(name.to_string(), &config, false, number));
    }
    all
}

impl Retraining {
    /// Trains it; `None` if all rows of its sample are of one class.
    fn train(&self, training: &LabelledRows) -> Result<Option<NeuralClassifier>, FitError> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let sample = sample(training.accepted.len(), self.is_bootstrap, &mut rng);
        let rows: Dataset = training.rows.select(&sample);
        let accepted: Vec<bool> = sample.iter().map(|&row| training.accepted[row]).collect();
        let seed = rng.next_u64();
        match train_classifier(&rows, &accepted, &self.config, seed, &mut |_, _| {}, Stop::never()) {
            Ok((classifier, _)) => Ok(Some(classifier)),
            Err(ClassifierError::OneClass { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The training rows: all, or as many drawn with replacement; at most [`MAX_ROWS`]. Copies of one row may end up in
/// both training and validation, so that early stopping comes a little later.
fn sample(rows: usize, is_bootstrap: bool, rng: &mut impl Rng) -> Vec<usize> {
    let count = rows.min(MAX_ROWS);
    match is_bootstrap {
        true => (0..count).map(|_| rng.random_range(0..rows)).collect(),
        false if count == rows => (0..rows).collect(),
        false => {
            let mut all: Vec<usize> = (0..rows).collect();
            let (some, _) = all.partial_shuffle(rng, count);
            some.to_vec()
        }
    }
}

/// The codes of a method's answers to the denied people; `None` without an answer.
type AnswerCodes = Vec<Option<Vec<Code>>>;

fn methods(fold: &Fold<'_>) -> Result<Vec<(String, AnswerCodes)>, Error> {
    let rows = |answers: &[Option<MethodAnswers>], own: Own| -> AnswerCodes {
        let row = |answers: &MethodAnswers| answers.way(own as usize).map(|way| way.row.clone());
        answers.iter().flatten().map(row).collect()
    };
    let answers = fold.answers()?;
    let mut methods: Vec<(String, AnswerCodes)> =
        Own::ALL.into_iter().map(|own| (own.name().to_string(), rows(answers, own))).collect();
    // It shares the bins of the fold's model, so its codes mean the same.
    methods.push(("paper/refine".to_string(), rows(fold.paper_answers()?, Own::Refine)));
    for peer in &fold.case.peers {
        let mut method = peer.of_fold(fold.name);
        let denied = fold.people.iter().zip(answers).filter(|(_, answers)| answers.is_some());
        let codes = denied.map(|(person, _)| {
            let cells = method.answer(person)?;
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            // An answer with an unseen category cannot be read, and counts as none.
            Some(fold.model.discretizer().encode_row(&cells).ok()?.into_codes())
        });
        methods.push((peer.name().to_string(), codes.collect()));
    }
    Ok(methods)
}
