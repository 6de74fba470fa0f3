//! Whether circuits are better learned from the labels or from the classifier's own decisions on the training rows.
//!
//! Two models that differ only in [`Config::density`] answer a fold's people. Their likelihoods are not comparable, so
//! both circuits measure both sets of answers (`nll@circuit=…`), along with measures that favour neither:
//!
//! - the scores of the classifier and of retrained ones (`score`, `kept`), and the changes;
//! - in how many codes an answer differs from the nearest good row of the fold, the person's own row left out
//!   (`nearest@rows=…`). Good: the label is favourable, the classifier accepts, or both.
//!
//! `…/circuit` is the log-likelihood of good rows under p⁺. Recourse concerns accepted rows only, on which the p⁺ of the
//! decisions has more mass, so it is also given conditionally (`given=accepted`): log p⁺(row) − log p⁺(accepted rows).
//!
//! # Paper
//! The paper does not say which of the two p⁺ and p⁻ are.

use par_answer::Method as Own;
use par_answer::evaluate::MethodAnswers;
use par_circuit::{Circuit, Code};
use par_fit::Error as FitError;
use par_model::{Config, Density, Mean, Model};

use super::answers;
use super::retrained::{Retrained, retrained};
use crate::case::{Fold, LabelledRows};
use crate::error::Error;
use crate::figures::{Metric, Sheet};
use crate::measures::{AnswerMeasure, AnswerMeasures};
use crate::method::own_replies;

/// Rows drawn to estimate the share that the classifier accepts: at one half, the error is 0.005 nats.
const DRAWS: u64 = 50_000;

/// The model of one density, and its answers to the people of the fold.
struct DensityAnswers<'f> {
    name: &'static str,
    model: &'f Model,
    answers: &'f [Option<MethodAnswers>],
}

/// What measures the answers of both models, beside the circuits.
struct SharedMeasures {
    test: LabelledRows,
    kinds: [GoodRows; 3],
    retrained: Vec<(String, Retrained)>,
}

/// The rows of the fold that are good in one sense.
struct GoodRows {
    name: &'static str,
    /// Whether the classifier accepts all of them.
    is_accepted: bool,
    /// Their positions among the readable rows.
    rows: Vec<usize>,
}

/// Measures a fold with both densities.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let own =
        DensityAnswers { name: name(fold.case.config.density), model: &fold.model, answers: fold.answers()? };
    let other = other(fold)?;
    let answers = other.as_ref().map(|model| fold.answers_by(model)).transpose()?;
    let mut sides = vec![own];
    if let (Some(model), Some(answers)) = (&other, &answers) {
        sides.push(DensityAnswers { name: name(model.config().density), model, answers });
    }
    // The same order for every configuration of the case.
    sides.sort_by_key(|side| side.name != name(Density::Labels));
    let test = fold.labelled(&fold.test)?;
    let yardsticks = SharedMeasures {
        kinds: GoodRows::all(fold, &test),
        test,
        retrained: retrained(fold, &fold.labelled(&fold.training)?)?,
    };
    for side in &sides {
        add_answers(fold, side, &sides, &yardsticks, sheet);
    }
    for side in &sides {
        add_circuit(side, &yardsticks, sheet);
    }
    Ok(())
}

/// Its name in a configuration.
fn name(density: Density) -> &'static str {
    match density {
        Density::Labels => "labels",
        Density::Decisions => "decisions",
    }
}

/// The model with the other density and the same bins and classifier. `None` if the classifier makes the same
/// decision for every row, so that there is nothing to learn from.
fn other(fold: &Fold<'_>) -> Result<Option<Model>, Error> {
    let density = match fold.case.config.density {
        Density::Labels => Density::Decisions,
        Density::Decisions => Density::Labels,
    };
    let config = Config { density, ..fold.case.config.clone() };
    match fold.case.fit(fold.name, &config, &fold.training) {
        Err(Error::Fit { source, .. }) if matches!(*source, FitError::OneDecision { .. }) => Ok(None),
        model => model.map(Some),
    }
}

/// Adds all measures of one model's refined answers.
fn add_answers(
    fold: &Fold<'_>,
    side: &DensityAnswers<'_>,
    sides: &[DensityAnswers<'_>],
    yardsticks: &SharedMeasures,
    sheet: &mut Sheet,
) {
    let method = &format!("{}/refine", side.name);
    let measured_by = |model: &Model| -> Vec<Option<AnswerMeasures>> {
        let measured = answers::measured(fold, model, side.answers, own_replies(Own::Refine, side.answers));
        measured.into_iter().map(|(measured, _)| measured).collect()
    };
    let measured = measured_by(side.model);
    let of = measured.len();
    let valid = measured.iter().map(|measured| measured.is_some_and(|measured| measured.valid));
    sheet.mean(method, "validity", Mean::share(valid, of));
    for other in sides {
        let nll = measured_by(other.model).into_iter().flatten().map(|measured| measured.nll);
        sheet.mean(method, Metric::at("nll", &[("circuit", &other.name)]), Mean::new(nll, of));
    }
    let measures: [AnswerMeasure; 4] = [
        ("score", |measured| measured.score),
        ("sparsity", |measured| measured.sparsity),
        ("similarity", |measured| measured.similarity),
        ("distance", |measured| measured.distance),
    ];
    for (name, measure) in measures {
        sheet.mean(method, name, Mean::new(measured.iter().flatten().map(measure), of));
    }
    let found = || {
        side.answers.iter().enumerate().filter_map(|(person, answers)| {
            let way = answers.as_ref()?.way(Own::Refine as usize)?;
            Some((fold.row_of(person), way.row.as_slice()))
        })
    };
    let SharedMeasures { test, kinds, retrained } = yardsticks;
    let threshold = side.model.threshold();
    let kept = found().filter_map(|(_, row)| share_of(retrained, threshold, row));
    sheet.mean(method, "kept", Mean::new(kept, of));
    for kind in kinds {
        let nearest = found().filter_map(|(own, row)| kind.nearest(test, own, row));
        let at = Metric::at("nearest", &[("rows", &kind.name)]);
        sheet.mean(method, at, Mean::new(nearest.map(|codes| codes as f64), of));
    }
}

/// Adds the log-likelihood of good rows under one model's p⁺.
fn add_circuit(
    side: &DensityAnswers<'_>,
    SharedMeasures { test, kinds, .. }: &SharedMeasures,
    sheet: &mut Sheet,
) {
    let (method, model) = (&format!("{}/circuit", side.name), side.model);
    let drawn = model.accepted().sampler().rows(0..DRAWS, model.config().seed);
    let is_accepted = |row: &[Code]| model.probability(row) >= model.threshold();
    let accepted = Mean::share(drawn.rows().map(is_accepted), drawn.len());
    sheet.mean(method, "accepted", accepted);
    for kind in kinds {
        let mean = kind.log_likelihood(model.accepted(), test);
        sheet.mean(method, Metric::at("log_likelihood", &[("rows", &kind.name)]), mean);
        if kind.is_accepted {
            let at = Metric::at("log_likelihood", &[("rows", &kind.name), ("given", &"accepted")]);
            let conditional = mean.mean.zip(accepted.mean).map(|(mean, share)| mean - share.ln());
            sheet.mean(method, at, Mean { mean: conditional, ..mean });
        }
    }
}

/// The share of the classifiers that accept a row; `None` without classifiers.
fn share_of(classifiers: &[(String, Retrained)], threshold: f64, row: &[Code]) -> Option<f64> {
    let accepts = classifiers.iter().map(|(_, own)| own.score(row) >= threshold);
    Mean::share(accepts, classifiers.len()).mean
}

impl GoodRows {
    /// Rows whose label is favourable, rows that the classifier accepts, and rows of which both hold.
    fn all(fold: &Fold<'_>, test: &LabelledRows) -> [Self; 3] {
        let threshold = fold.model.threshold();
        let is_accepted = |row: usize| fold.model.probability(test.rows.row(row)) >= threshold;
        let accepted: Vec<bool> = (0..test.rows.len()).map(is_accepted).collect();
        let of = |name, is_accepted, is_good: &dyn Fn(usize) -> bool| Self {
            name,
            is_accepted,
            rows: (0..accepted.len()).filter(|&row| is_good(row)).collect(),
        };
        [
            of("favourable", false, &|row| test.accepted[row]),
            of("accepted", true, &|row| accepted[row]),
            of("both", true, &|row| test.accepted[row] && accepted[row]),
        ]
    }

    /// The fewest codes in which an answer differs from one of the rows, except the person's `own`.
    fn nearest(&self, test: &LabelledRows, own: usize, answer: &[Code]) -> Option<usize> {
        let others = self.rows.iter().filter(|row| **row != own);
        let differs = |row: &usize| test.rows.row(*row).iter().zip(answer).filter(|(a, b)| a != b).count();
        others.map(differs).min()
    }

    /// The mean log-likelihood of the rows under a circuit.
    fn log_likelihood(&self, circuit: &Circuit, test: &LabelledRows) -> Mean {
        let log_probs = circuit.evaluator().log_probs(test.rows.select(&self.rows).codes());
        Mean::new(log_probs.into_iter(), self.rows.len())
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::Dataset;
    use par_model::classifier::Threshold;

    use super::*;
    use crate::{Figure, test_case};

    #[test]
    fn the_nearest_row_is_never_the_persons_own() {
        let codes = vec![0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1];
        let rows = Dataset::new(vec![2, 2, 2], codes).expect("codes");
        let test = LabelledRows { rows, accepted: vec![true; 4] };
        let kind = |rows: &[usize]| GoodRows { name: "accepted", is_accepted: true, rows: rows.to_vec() };
        assert_eq!(kind(&[0, 1, 2]).nearest(&test, 3, &[0, 0, 1]), Some(1));
        assert_eq!(kind(&[0, 1, 2]).nearest(&test, 0, &[1, 1, 1]), Some(0));
        assert_eq!(kind(&[0, 1, 2]).nearest(&test, 1, &[1, 1, 1]), Some(1));
        assert_eq!(kind(&[0, 1]).nearest(&test, 1, &[1, 1, 1]), Some(3));
        assert_eq!(kind(&[1]).nearest(&test, 1, &[1, 1, 1]), None);
    }

    fn figures(change: impl Fn(&mut Config)) -> Vec<Figure> {
        let mut case = test_case::case(test_case::SCHEMA);
        change(&mut case.config);
        let fold = test_case::fold(&case);
        let mut sheet = Sheet::new("t", "0");
        measure(&fold, &mut sheet).expect("figures");
        sheet.into_figures()
    }

    fn value(figures: &[Figure], method: &str, metric: &str) -> f64 {
        let own = |figure: &&Figure| figure.method == method && figure.metric.to_string() == metric;
        figures.iter().find(own).and_then(|figure| figure.value).expect("a figure")
    }

    #[test]
    fn both_densities_are_measured_for_every_case() {
        let labels = figures(|_| {});
        assert_eq!(labels, figures(|config| config.density = Density::Decisions));
        assert_eq!(labels.len(), 2 * (1 + 2 + 4 + 1 + 3) + 2 * (1 + 3 + 2));
        let is_there = |figure: &Figure| figure.over > 0 && figure.value.is_some_and(f64::is_finite);
        assert!(labels.iter().all(is_there), "{labels:?}");
        let likelihood =
            |density: &str| value(&labels, &format!("{density}/circuit"), "log_likelihood@rows=both");
        assert_ne!(likelihood("labels"), likelihood("decisions"));
        for method in ["labels/refine", "decisions/refine"] {
            let nll = |circuit: &str| value(&labels, method, &format!("nll@circuit={circuit}"));
            assert_ne!(nll("labels"), nll("decisions"), "{method}");
        }
    }

    #[test]
    fn rows_good_in_both_senses_are_no_nearer_than_rows_good_in_one() {
        let figures = figures(|_| {});
        for method in ["labels/refine", "decisions/refine"] {
            let nearest = |rows: &str| value(&figures, method, &format!("nearest@rows={rows}"));
            assert!(nearest("both") >= nearest("favourable").max(nearest("accepted")), "{method}");
        }
    }

    #[test]
    fn constant_decisions_are_not_measured() {
        let figures = figures(|config| config.classifier.threshold = Threshold::Fixed(1.0 - 1e-12));
        assert!(figures.iter().all(|figure| figure.method.starts_with("labels/")));
        assert!(figures.iter().all(|figure| figure.metric.key("circuit") != Some("decisions")));
        assert_eq!(value(&figures, "labels/refine", "validity"), 0.0);
        let none = figures.iter().filter(|figure| figure.metric.key("rows") == Some("accepted"));
        assert!(none.clone().count() == 3 && none.clone().all(|figure| figure.value.is_none()));
    }
}
