//! Whether circuits are better learned from the labels or from the classifier's own decisions on the training rows.
//!
//! A fold's people are answered by two models that differ in nothing but [`Config::density`]. A likelihood under the p⁺
//! of the labels and one under that of the decisions are different yardsticks, so both circuits judge both sets of
//! answers (`nll@circuit=…`), and beside them measures that belong to neither: what the classifier and those that were
//! trained again say (`score`, `kept`), what is changed, and how many codes an answer differs from the nearest real
//! row of the fold that is good (`nearest@rows=…`). Good means that its label is favourable, that the classifier
//! accepts it, or both. Somebody's own row is not among those that are near to what they could become.
//! `…/circuit` is how likely p⁺ finds the same rows. Recourse looks at accepted rows alone, where the p⁺ of the labels has
//! spent less of what it has than that of the decisions, so rows that are accepted are also measured by what p⁺ makes of
//! them given that they are (`given=accepted`): log p⁺ less that of all accepted rows together (`accepted`).
//!
//! # Paper
//! It leaves open which of the two p⁺ and p⁻ are.

use par_answer::Method as Own;
use par_answer::evaluate::MethodAnswers;
use par_circuit::{Circuit, Code};
use par_fit::Error as FitError;
use par_model::classifier::{Classifier, NeuralClassifier, probability};
use par_model::{Config, Density, Mean, Model};

use super::{answers, robustness};
use crate::case::{Fold, Labelled};
use crate::error::Error;
use crate::figures::{Metric, Sheet};
use crate::judge::{Judged, Measure};
use crate::method::Ours;

/// Rows that are drawn to see how many of them the classifier accepts. Where half of them are, that is 0.005 nats off.
const DRAWS: u64 = 50_000;

/// A model, by what its circuits were learned from, and what it tells the people of the fold.
struct Side<'f> {
    name: &'static str,
    model: &'f Model,
    asked: &'f [Option<MethodAnswers>],
}

/// What answers are measured by, beside the circuits.
struct Yardsticks {
    test: Labelled,
    kinds: [Kind; 3],
    retrained: Vec<(String, NeuralClassifier)>,
}

/// Rows of the fold that are good in one sense.
struct Kind {
    name: &'static str,
    /// Whether the classifier accepts all of them.
    is_accepted: bool,
    /// Their places among the rows that can be read.
    rows: Vec<usize>,
}

/// Measures a fold with both densities.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let own = Side { name: name(fold.case.config.density), model: &fold.model, asked: fold.asked()? };
    let other = other(fold)?;
    let asked = other.as_ref().map(|model| fold.ask(model)).transpose()?;
    let mut sides = vec![own];
    if let (Some(model), Some(asked)) = (&other, &asked) {
        sides.push(Side { name: name(model.config().density), model, asked });
    }
    // The same order whichever the case's own is.
    sides.sort_by_key(|side| side.name != name(Density::Labels));
    let test = fold.labelled(&fold.test)?;
    let yardsticks = Yardsticks {
        kinds: Kind::all(fold, &test),
        test,
        retrained: robustness::retrained(fold, &fold.labelled(&fold.training)?)?,
    };
    for side in &sides {
        add_answers(fold, side, &sides, &yardsticks, sheet);
    }
    for side in &sides {
        add_circuit(side, &yardsticks, sheet);
    }
    Ok(())
}

/// As a configuration writes it.
fn name(density: Density) -> &'static str {
    match density {
        Density::Labels => "labels",
        Density::Decisions => "decisions",
    }
}

/// The model with the density that the case does not have, its bins and classifier the same. There is none when the
/// classifier decides the same for everybody, and its decisions teach nothing.
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

/// What one model's local search tells those who are denied, by all measures.
fn add_answers(
    fold: &Fold<'_>,
    side: &Side<'_>,
    sides: &[Side<'_>],
    yardsticks: &Yardsticks,
    sheet: &mut Sheet,
) {
    let method = &format!("{}/refine", side.name);
    let refine = Ours { method: Own::Refine, asked: side.asked };
    let judged_by = |model: &Model| -> Vec<Option<Judged>> {
        let judged = answers::judge(fold, model, side.asked, &refine);
        judged.into_iter().map(|(judged, _)| judged).collect()
    };
    let judged = judged_by(side.model);
    let of = judged.len();
    let valid = judged.iter().map(|judged| judged.is_some_and(|judged| judged.valid));
    sheet.mean(method, "validity", Mean::share(valid, of));
    for judge in sides {
        let nll = judged_by(judge.model).into_iter().flatten().map(|judged| judged.nll);
        sheet.mean(method, Metric::at("nll", &[("circuit", &judge.name)]), Mean::new(nll, of));
    }
    let measures: [Measure; 4] = [
        ("score", |judged| judged.score),
        ("sparsity", |judged| judged.sparsity),
        ("similarity", |judged| judged.similarity),
        ("distance", |judged| judged.distance),
    ];
    for (name, measure) in measures {
        sheet.mean(method, name, Mean::new(judged.iter().flatten().map(measure), of));
    }
    let found = || {
        side.asked.iter().enumerate().filter_map(|(person, asked)| {
            let way = asked.as_ref()?.way(Own::Refine as usize)?;
            Some((fold.row_of(person), way.row.as_slice()))
        })
    };
    let Yardsticks { test, kinds, retrained } = yardsticks;
    let threshold = side.model.threshold();
    let kept = found().filter_map(|(_, row)| share_of(retrained, threshold, row));
    sheet.mean(method, "kept", Mean::new(kept, of));
    for kind in kinds {
        let nearest = found().filter_map(|(own, row)| kind.nearest(test, own, row));
        let at = Metric::at("nearest", &[("rows", &kind.name)]);
        sheet.mean(method, at, Mean::new(nearest.map(|codes| codes as f64), of));
    }
}

/// How likely one model's p⁺ finds good rows.
fn add_circuit(side: &Side<'_>, Yardsticks { test, kinds, .. }: &Yardsticks, sheet: &mut Sheet) {
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
            let given = mean.mean.zip(accepted.mean).map(|(mean, share)| mean - share.ln());
            sheet.mean(method, at, Mean { mean: given, ..mean });
        }
    }
}

/// The share of the classifiers that accept a row; absent of none.
fn share_of(classifiers: &[(String, NeuralClassifier)], threshold: f64, row: &[Code]) -> Option<f64> {
    let accepts = classifiers.iter().map(|(_, own)| probability(own.log_odds(row)) >= threshold);
    Mean::share(accepts, classifiers.len()).mean
}

impl Kind {
    /// Rows whose label is favourable, rows that the classifier accepts, and rows of which both hold.
    fn all(fold: &Fold<'_>, test: &Labelled) -> [Self; 3] {
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

    /// The fewest codes by which an answer differs from one of the rows, the person's `own` left out; absent of none.
    fn nearest(&self, test: &Labelled, own: usize, answer: &[Code]) -> Option<usize> {
        let others = self.rows.iter().filter(|row| **row != own);
        let differs = |row: &usize| test.rows.row(*row).iter().zip(answer).filter(|(a, b)| a != b).count();
        others.map(differs).min()
    }

    /// How likely a circuit finds the rows.
    fn log_likelihood(&self, circuit: &Circuit, test: &Labelled) -> Mean {
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
        let test = Labelled { rows, accepted: vec![true; 4] };
        let kind = |rows: &[usize]| Kind { name: "accepted", is_accepted: true, rows: rows.to_vec() };
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
    fn both_densities_are_measured_whichever_the_case_has() {
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
    fn an_answer_is_no_nearer_to_rows_that_are_good_in_both_senses() {
        let figures = figures(|_| {});
        for method in ["labels/refine", "decisions/refine"] {
            let nearest = |rows: &str| value(&figures, method, &format!("nearest@rows={rows}"));
            assert!(nearest("both") >= nearest("favourable").max(nearest("accepted")), "{method}");
        }
    }

    #[test]
    fn decisions_that_are_all_alike_are_not_measured() {
        let figures = figures(|config| config.classifier.threshold = Threshold::Fixed(1.0 - 1e-12));
        assert!(figures.iter().all(|figure| figure.method.starts_with("labels/")));
        assert!(figures.iter().all(|figure| figure.metric.key("circuit") != Some("decisions")));
        assert_eq!(value(&figures, "labels/refine", "validity"), 0.0);
        let none = figures.iter().filter(|figure| figure.metric.key("rows") == Some("accepted"));
        assert!(none.clone().count() == 3 && none.clone().all(|figure| figure.value.is_none()));
    }
}
