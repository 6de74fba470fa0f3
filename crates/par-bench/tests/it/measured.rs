//! The figures of experiments, against enumeration of all rows.

use par_bench::experiment::robustness::{LICE, NATIVE};
use par_bench::peers::Native;
use par_bench::{Experiment, Figure, Figures, Fold, Metric};
use par_circuit::{Code, Evidence};
use par_model::Model;
use par_model::classifier::Threshold;

use crate::{applicants, case, case_of, figures};

fn value(Figures(figures): &Figures, fold: &str, method: &str, metric: &Metric) -> Option<f64> {
    let is_it = |figure: &&Figure| figure.fold == fold && figure.method == method && figure.metric == *metric;
    figures.iter().find(is_it).and_then(|figure| figure.value)
}

/// −log p⁺ of the likeliest accepted row within the constraints: sex and height stay, degree and age do not fall, and
/// a degree rises only with the age.
fn best(model: &Model, factual: &[Code]) -> Option<f64> {
    let cardinalities = model.discretizer().cardinalities();
    let mut best: Option<f64> = None;
    for job in 0..cardinalities[0] as Code {
        for degree in factual[1]..cardinalities[1] as Code {
            for age in factual[2]..cardinalities[2] as Code {
                for debt in 0..cardinalities[3] as Code {
                    let row = [job, degree, age, debt, factual[4], factual[5]];
                    let keeps_rule = degree == factual[1] || age > factual[2];
                    if keeps_rule && model.probability(&row) >= model.threshold() {
                        let nll = -model.accepted().log_prob(&Evidence::from_row(&row));
                        best = Some(best.map_or(nll, |best| best.min(nll)));
                    }
                }
            }
        }
    }
    best
}

#[test]
fn exact_agrees_with_enumeration() {
    let case = case();
    let figures = figures(&case, &[Experiment::Answers]);
    let mut denied = 0;
    for name in case.folds() {
        assert_eq!(value(&figures, name, "exact", &"validity".into()), Some(1.0));
        assert_eq!(value(&figures, name, "exact", &"optimal".into()), Some(1.0));
        assert_eq!(value(&figures, name, "exact", &"mean_gap".into()), Some(0.0));
        let fold = Fold::new(&case, name).expect("a fold");
        for person in &fold.people {
            let codes = fold.model.discretizer().encode_row(&person.cells()).expect("a row").into_codes();
            let found = value(&figures, name, "exact", &Metric::at("nll", &[("person", &person.id)]));
            if fold.model.probability(&codes) >= fold.model.threshold() {
                assert_eq!(found, None, "{} is accepted", person.id);
                continue;
            }
            denied += 1;
            let (found, best) = (found.expect("an answer"), best(&fold.model, &codes).expect("a way"));
            // The search is in single precision, the enumeration in double.
            assert!((found - best).abs() < 1e-5, "{}: found {found}, listed {best}", person.id);
        }
    }
    assert!(denied > 50, "{denied}");
}

#[test]
fn quality_is_measured_on_the_rows_of_the_fold() {
    let case = case();
    let figures = figures(&case, &[Experiment::Quality]);
    for fold in case.folds() {
        let value = |method: &str, metric: Metric| value(&figures, fold, method, &metric).expect("a figure");
        assert_eq!((value("bins", "coverage".into()), value("bins", "fidelity".into())), (1.0, 1.0));
        assert_eq!(value("classifier", "threshold".into()), 0.5);
        assert!(value("classifier", "auc".into()) > 0.9);
        assert!(value("classifier", "brier".into()) < 0.25);
        assert!(value("circuit of the accepted", "log_likelihood".into()) < 0.0);
        assert!(value("generator", Metric::at("loss", &[("step", &40), ("term", &"total")])).is_finite());
        let at = |name| figures.named("applicants", "classifier", name).filter(|figure| figure.fold == *fold);
        assert_eq!(at("calibration").map(|figure| figure.over).sum::<usize>(), 72);
        // The calibration error follows from the curve.
        let difference = |(observed, predicted): (&Figure, &Figure)| {
            Some((observed.value? - predicted.value?).abs() * observed.over as f64 / 72.0)
        };
        let error: f64 = at("calibration").zip(at("predicted")).filter_map(difference).sum();
        assert!((error - value("classifier", "calibration_error".into())).abs() < 1e-12);
    }
}

#[test]
fn robustness_scores_every_method_under_every_retrained_classifier() {
    let case = case();
    let figures = figures(&case, &[Experiment::Robustness]);
    let classifiers = [
        "seed 1",
        "seed 2",
        "seed 3",
        "bootstrap 1",
        "bootstrap 2",
        "bootstrap 3",
        "width 10",
        "width 40-20",
        "logistic",
    ];
    for name in classifiers {
        let at = |metric| Metric::at(metric, &[("classifier", &name)]);
        for method in ["generate", "refine", "exact", "paper/refine"] {
            for measure in ["score", "validity"] {
                let spread = figures.spread("applicants", method, &at(measure)).expect("a figure");
                assert!(
                    spread.folds == 3 && (0.0..=1.0).contains(&spread.mean),
                    "{method} {name} {spread:?}"
                );
            }
            // The deployed classifier accepts all of our answers, so `validity` equals `kept`.
            let spread = |measure| figures.spread("applicants", method, &at(measure));
            assert_eq!(spread("kept"), spread("validity"), "{method} {name}");
        }
        for native in NATIVE {
            let method = format!("robustness/{}", native.name());
            let spread = figures.spread("applicants", &method, &at("score")).expect("a figure");
            assert!(spread.folds == 3 && spread.over > 0, "{method} {name} {spread:?}");
            let ours = figures.spread("applicants", "paper/refine", &at("score")).expect("a figure");
            assert_eq!(spread.of, ours.of, "{method} is asked about the same people");
        }
        assert_eq!(figures.spread("applicants", LICE, &at("score")), None, "no solver was named");
        let agreement = figures.spread("applicants", "classifier", &at("agreement")).expect("a figure");
        assert!(agreement.mean > 0.8 && agreement.of == 216, "{name} {agreement:?}");
        assert!(figures.spread("applicants", "classifier", &at("auc")).expect("a figure").mean > 0.8);
    }
    // Another seed gives another classifier.
    let score = |name: &str| {
        let metric = Metric::at("score", &[("classifier", &name)]);
        figures.spread("applicants", "exact", &metric).expect("a figure").mean
    };
    assert_ne!(score("seed 1"), score("seed 2"));
}

#[test]
fn density_agrees_with_the_other_experiments_and_each_circuit_prefers_its_own_answers() {
    use Experiment::{Answers, Density, Quality, Robustness};
    let mut case = case();
    // With a threshold of one half, decisions and labels are the same.
    case.config.classifier.threshold = Threshold::Fixed(0.9);
    let figures = figures(&case, &[Answers, Robustness, Quality, Density]);
    let mut preferred = 0;
    for fold in case.folds() {
        let value = |method: &str, metric: &str| {
            let metric = metric.parse().expect("a measure");
            value(&figures, fold, method, &metric).expect("a figure")
        };
        for metric in ["validity", "score", "sparsity", "similarity", "distance"] {
            assert_eq!(value("labels/refine", metric), value("refine", metric), "{metric}");
        }
        assert_eq!(value("labels/refine", "nll@circuit=labels"), value("refine", "nll"));
        let likelihood = value("labels/circuit", "log_likelihood@rows=favourable");
        assert_eq!(likelihood, value("circuit of the accepted", "log_likelihood"));
        let own = |figure: &&Figure| figure.fold == *fold && figure.metric.key("classifier").is_some();
        let kept: Vec<f64> =
            figures.named("applicants", "refine", "kept").filter(own).filter_map(|own| own.value).collect();
        let mean = kept.iter().sum::<f64>() / kept.len() as f64;
        assert_eq!(kept.len(), 12);
        assert!((value("labels/refine", "kept") - mean).abs() < 1e-12);
        for (circuit, other) in [("labels", "decisions"), ("decisions", "labels")] {
            let nll = |density: &str| value(&format!("{density}/refine"), &format!("nll@circuit={circuit}"));
            assert!(nll(circuit) <= nll(other), "{circuit}: {} and {}", nll(circuit), nll(other));
            preferred += usize::from(nll(circuit) < nll(other));
        }
    }
    assert!(preferred >= 2, "{preferred}");
}

#[test]
fn conditional_likelihoods_agree_with_enumeration() {
    let mut case = case();
    case.config.classifier.threshold = Threshold::Fixed(0.9);
    let figures = figures(&case, &[Experiment::Density]);
    for name in case.folds() {
        let Fold { model, .. } = Fold::new(&case, name).expect("a fold");
        let mut rows = vec![Vec::new()];
        for codes in model.discretizer().cardinalities() {
            let longer = |row: Vec<Code>| (0..codes as Code).map(move |code| [&row[..], &[code]].concat());
            rows = rows.into_iter().flat_map(longer).collect();
        }
        rows.retain(|row| model.probability(row) >= model.threshold());
        let listed: f64 =
            rows.iter().map(|row| model.accepted().log_prob(&Evidence::from_row(row)).exp()).sum();
        let value = |method: &str, metric: &str| {
            value(&figures, name, method, &metric.parse().expect("a measure")).expect("a figure")
        };
        let drawn = value("labels/circuit", "accepted");
        assert!((drawn - listed).abs() < 0.01, "drawn {drawn}, listed {listed}");
        for kind in ["accepted", "both"] {
            let log_likelihood = value("labels/circuit", &format!("log_likelihood@rows={kind}"));
            let conditional = value("labels/circuit", &format!("log_likelihood@rows={kind}; given=accepted"));
            assert!((conditional - (log_likelihood - drawn.ln())).abs() < 1e-12);
        }
    }
}

#[test]
fn an_unreadable_person_is_counted_and_does_not_stop_the_run() {
    // One person of the first fold has a job that no other row has.
    let text = applicants().replacen("p0,clerk,", "p0,pilot,", 1);
    let figures = figures(&case_of(&text), &[Experiment::Answers, Experiment::Quality]);
    let readable: Vec<(Option<f64>, usize)> =
        figures.named("applicants", "people", "readable").map(|figure| (figure.value, figure.of)).collect();
    assert_eq!(readable, [(Some(71.0 / 72.0), 72), (Some(1.0), 72), (Some(1.0), 72)]);
    let denied: Vec<usize> =
        figures.named("applicants", "people", "denied").map(|figure| figure.of).collect();
    assert_eq!(denied, [71, 72, 72]);
    let value = |metric: &str| value(&figures, "0", "bins", &metric.into()).expect("a figure");
    assert!((value("coverage") - (1.0 - 1.0 / (72.0 * 6.0))).abs() < 1e-12);
    assert!((value("fidelity") - 71.0 / 72.0).abs() < 1e-12);
}

#[test]
fn methods_of_others_are_measured_beside_ours() {
    let case = case();
    let figures = figures(&case, &[Experiment::Answers, Experiment::Peers]);
    let mut rows = Vec::new();
    for fold in case.folds() {
        let of = |method: &str, name: &str| value(&figures, fold, method, &name.into());
        // The same people and the same answers as in the other experiment.
        for method in ["generate", "refine", "exact"] {
            for name in ["validity", "nll", "sparsity", "effort"] {
                assert_eq!(of(&format!("peers/{method}"), name), of(method, name), "{method} {name}");
            }
        }
        assert_eq!(of("peers/people", "denied"), of("people", "denied"));
        for method in ["peers/nearest values/refine", "peers/default order/refine"] {
            assert_eq!(of(method, "prepare_us"), of("peers/refine", "prepare_us"), "one model: {method}");
            assert!(of(method, "validity").is_some() && of(method, "p99_time_us").is_some(), "{method}");
        }
        assert!(of("peers/default order/refine", "effort") < of("peers/refine", "effort"));
        for method in Native::ALL.map(|native| format!("peers/{}", native.name())) {
            for name in
                ["validity", "nll", "effort", "median_time_us", "mean_time_us", "p99_time_us", "prepare_us"]
            {
                assert!(of(&method, name).is_some(), "{method} {name}");
            }
            // Nobody is likelier than the exact answer, unless it breaks the constraints.
            let exact = of("peers/exact", "nll").expect("an answer");
            let kept = of(&method, "actionability") == Some(1.0) && of(&method, "causality") == Some(1.0);
            let all = of(&method, "validity") == Some(1.0);
            assert!(!(kept && all) || of(&method, "nll").expect("an answer") >= exact - 1e-5, "{method}");
            rows.push(of(&method, "validity").expect("a share"));
        }
    }
    assert!(rows.iter().filter(|validity| **validity > 0.9).count() * 2 > rows.len(), "{rows:?}");
}
