//! Whether answers hold when the classifier is trained again: with other random numbers, on other samples of the
//! same rows, and in other shapes.
//!
//! The bins, the threshold and the answers stay as they are. Each new classifier says how it scores the answers, how
//! many of them it accepts (`validity`), and how many of those that the deployed one accepts (`kept`): others' answers
//! were not made for ours, and only what it accepts can be lost. How often it agrees with the deployed one on the fold's rows says how much it differs
//! at all. A new classifier learns from at most 20,000 rows: on a larger table each has a sample of its own, those with
//! other random numbers too, which is a change by itself, and nine of them take seconds and not minutes.
//!
//! # Paper
//! Appendix, "Robustness to Classifier Change": the mean score of answers under another classifier. Departure: the
//! paper names none, so there are nine, and beside the score the share that is still accepted.

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

use crate::case::{Fold, Labelled};
use crate::error::Error;
use crate::figures::{Metric, Sheet};
use crate::method::Method;

/// A classifier that is trained again learns from at most so many rows, drawn at random.
const MAX_ROWS: usize = 20_000;
/// How many there are with other random numbers, and as many on other samples.
const REPEATS: u64 = 3;
/// Other shapes: the widths of hidden layers.
const SHAPES: [(&str, &[usize]); 3] = [("width 10", &[10]), ("width 40-20", &[40, 20]), ("logistic", &[])];

/// A classifier that is to be trained again, and how.
struct Again {
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

/// The classifiers that were trained again, by name; without those whose rows were all of one class.
pub(super) fn retrained(
    fold: &Fold<'_>,
    training: &Labelled,
) -> Result<Vec<(String, NeuralClassifier)>, Error> {
    let train = |again: &Again| {
        let trained = again.train(training).map_err(|source| fold.case.fit_error(fold.name, source))?;
        Ok(trained.map(|classifier| (again.name.clone(), classifier)))
    };
    let trained: Vec<Option<_>> = classifiers(fold).par_iter().map(train).collect::<Result<_, Error>>()?;
    Ok(trained.into_iter().flatten().collect())
}

/// The classifiers that are to be trained again.
fn classifiers(fold: &Fold<'_>) -> Vec<Again> {
    let own = &fold.case.config;
    // Streams of random numbers that no part of a fit has.
    let seed = |number: u64| own.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let again = |name: String, config: &ClassifierConfig, is_bootstrap, number| Again {
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

impl Again {
    /// Trains it; there is none when all rows of its sample are of one class.
    fn train(&self, training: &Labelled) -> Result<Option<NeuralClassifier>, FitError> {
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

/// The rows to learn from: all of them, or as many drawn with replacement; not more than a limit of either. Of a row
/// that is drawn twice, one copy may be held back to end the training by, which then ends a little later.
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

/// The codes of every method's answers to the denied people, absent where there is none.
type Answers = Vec<Option<Vec<Code>>>;

fn methods(fold: &Fold<'_>) -> Result<Vec<(String, Answers)>, Error> {
    let rows = |asked: &[Option<MethodAnswers>], own: Own| -> Answers {
        let row = |asked: &MethodAnswers| asked.way(own as usize).map(|way| way.row.clone());
        asked.iter().flatten().map(row).collect()
    };
    let asked = fold.asked()?;
    let mut methods: Vec<(String, Answers)> =
        Own::ALL.into_iter().map(|own| (own.name().to_string(), rows(asked, own))).collect();
    // Its bins are those of the fold's model, so that its codes mean the same.
    methods.push(("paper/refine".to_string(), rows(fold.asked_by_paper()?, Own::Refine)));
    for peer in &fold.case.peers {
        let replies = peer.answer(fold.name, &fold.people);
        let denied = replies.into_iter().zip(asked).filter(|(_, asked)| asked.is_some());
        let codes = denied.map(|(reply, _)| {
            let cells = reply.cells?;
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            // An answer that cannot be read, for a category that nobody had, is no answer.
            Some(fold.model.discretizer().encode_row(&cells).ok()?.into_codes())
        });
        methods.push((peer.name().to_string(), codes.collect()));
    }
    Ok(methods)
}
