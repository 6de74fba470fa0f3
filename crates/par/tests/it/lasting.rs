//! Ways that last: other versions of the classifier, certificates, and changes that fall a step short.

use std::sync::OnceLock;

use par_answer::{Accepting, Answer, Found, Method, Request, Way, answer};
use par_circuit::{Code, Stop};
use par_data::schema::FeatureKind;
use par_data::{OwnRow, Reach, Wishes, german_credit};
use par_fit::{ModelBuilder, refit};
use par_model::classifier::{Classifier, DeployedClassifier, NeuralClassifier};
use par_model::{Config, Model};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{applicants, quick};

/// German Credit with its own schema, fitted once, with four other versions of the classifier.
fn german() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = Config { versions: 4, ..quick() };
        let builder = ModelBuilder::new(german_credit::schema(), config);
        builder.fit(|| Ok(german_credit::table())).expect("a fit")
    })
}

/// The first denied applicants.
fn denied(count: usize) -> Vec<Vec<&'static str>> {
    let (columns, batch) = applicants();
    let is_denied = |cells: &Vec<&str>| german().score(cells).expect("a score") < german().threshold();
    (0..batch.rows()).map(|row| columns.cells(batch, row)).filter(is_denied).take(count).collect()
}

/// What is found for denied applicants, each with their cells.
fn found(count: usize, request: &Request) -> Vec<(Vec<&'static str>, Box<Found>)> {
    let answered = denied(count).into_iter().filter_map(|cells| {
        match answer(german(), &cells, request).expect("its own row") {
            Answer::Found(found) => Some((cells, Box::new(found))),
            _ => None,
        }
    });
    answered.collect()
}

fn codes(way: &Way) -> Vec<Code> {
    let cells: Vec<&str> = way.cells.iter().map(String::as_str).collect();
    german().discretizer().encode_row(&cells).expect("a row").into_codes()
}

/// How many versions accept a row, by their own scores and thresholds.
fn accepting(row: &[Code]) -> usize {
    let accepts = |version: &&par_model::classifier::Version| {
        let network = version.classifier.network().expect("a network");
        version.scale.reaches(version.scale.score(network.log_odds(row)), version.threshold)
    };
    german().versions().iter().filter(accepts).count()
}

#[test]
fn versions_must_accept_a_robust_way_and_a_plain_one_stands_beside_it() {
    let mut differ = 0;
    for (share, least) in [(1.0, 4), (0.5, 2), (0.3, 2)] {
        let request = Request { robust: Some(share), count: 2, ..Request::default() };
        let answers = found(40, &request);
        assert!(answers.len() > 10, "{}", answers.len());
        for (cells, found) in answers {
            for way in &found.ways {
                let own = accepting(&codes(way));
                assert!(own >= least, "{own} of 4 versions accept it");
                assert_eq!(way.accepting, Some(Accepting { versions: own, of: 4 }));
            }
            let plain = found.plain.as_ref().expect("a plain way");
            let Ok(Answer::Found(unasked)) = answer(german(), &cells, &Request::default()) else {
                panic!("a robust way is a way");
            };
            assert_eq!(plain.cells, unasked.ways[0].cells);
            assert!(unasked.plain.is_none());
            differ += usize::from(plain.cells != found.ways[0].cells);
        }
    }
    assert!(differ > 10, "{differ} ways differ from the plain one");
}

#[test]
fn a_robust_way_is_proved_and_a_share_costs_no_more_than_all() {
    let exact = |robust| Request { method: Method::Exact, robust, count: 1, ..Request::default() };
    for (cells, all) in found(12, &exact(Some(1.0))) {
        assert_eq!(all.ways[0].gap, Some(0.0));
        let Ok(Answer::Found(half)) = answer(german(), &cells, &exact(Some(0.5))) else {
            panic!("what all versions accept, half of them do");
        };
        if all.ways[0].solves == half.ways[0].solves && all.ways[0].has_margin == half.ways[0].has_margin {
            assert!(half.ways[0].effort <= all.ways[0].effort + 1e-9);
        }
    }
}

#[test]
fn a_lasting_way_is_shown_among_others() {
    let request = Request { count: 4, ..Request::default() };
    let shown = found(60, &request);
    let lasts = |way: &Way| way.accepting.is_some_and(Accepting::all);
    let lasting =
        |found: &Found| found.ways.iter().any(|way| way.best_at.contains(&par_answer::BestAt::Lasting));
    let is_split = |found: &Found| found.ways.iter().any(lasts) && !found.ways.iter().all(lasts);
    assert!(shown.iter().any(|(_, found)| lasting(found)));
    for (_, found) in &shown {
        assert_eq!(lasting(found), is_split(found));
    }
}

#[test]
fn a_way_with_slack_stays_accepted_a_step_short() {
    let discretizer = german().discretizer();
    let answers = found(60, &Request { slack: true, count: 2, ..Request::default() });
    let mut missed = 0;
    for (cells, found) in answers {
        let own = discretizer.encode_row(&cells).expect("its own row").into_codes();
        let factual = OwnRow::new(discretizer, &cells, own.clone());
        let candidates = german().constraints().candidates(&factual, &Wishes::default(), Reach::Codes);
        for way in &found.ways {
            let row = codes(way);
            for change in &way.changes {
                let feature = change.feature;
                if german().schema().features()[feature].kind == FeatureKind::Nominal {
                    continue;
                }
                // The nearest code on the way back that is a candidate is a step short; that may be the person's own.
                let candidates = candidates.of(feature);
                let is_offered = |code: &Code| candidates.iter().any(|candidate| candidate.code == *code);
                let (from, to) = (own[feature], row[feature]);
                let back: Vec<Code> =
                    if to > from { (from..to).rev().collect() } else { (to + 1..=from).collect() };
                let mut short = row.clone();
                short[feature] = back.into_iter().find(is_offered).expect("the person's own");
                missed += 1;
                assert!(german().probability(&short) >= german().threshold(), "{way:?}");
            }
        }
    }
    assert!(missed > 10, "{missed}");
}

/// The network with each parameter moved by at most `delta` times the largest weight of its layer: to an end, or anywhere.
fn moved(network: &NeuralClassifier, delta: f64, rng: &mut ChaCha8Rng) -> NeuralClassifier {
    let (widths, mut parameters) = (network.widths(), network.parameters().to_vec());
    let is_corner: bool = rng.random();
    let mut start = 0;
    for pair in widths.windows(2) {
        let (weights, end) = (start + pair[0] * pair[1], start + (pair[0] + 1) * pair[1]);
        let largest = parameters[start..weights].iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
        // Rounded to single precision, a parameter must not leave the box.
        let radius = delta * f64::from(largest) * (1.0 - 1e-6);
        for parameter in &mut parameters[start..end] {
            let share =
                if is_corner { [-1.0, 1.0][rng.random_range(0..2)] } else { rng.random_range(-1.0..=1.0) };
            *parameter = (f64::from(*parameter) + radius * share) as f32;
        }
        start = end;
    }
    let hidden = &widths[1..widths.len() - 1];
    NeuralClassifier::from_parameters(network.cardinalities().to_vec(), hidden, parameters)
        .expect("a network")
}

#[test]
fn no_network_within_the_certificate_denies_a_certified_way() {
    const DELTA: f64 = 0.004;
    let DeployedClassifier::Trained(network) = german().classifier() else { panic!("a network of ours") };
    let needed = german().scale().log_odds(german().threshold());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let answers = found(30, &Request { certify: Some(DELTA), ..Request::default() });
    assert!(answers.len() > 5, "{}", answers.len());
    for (_, found) in answers {
        let way = &found.ways[0];
        let certified = way.certified.expect("a certificate");
        assert!(certified >= DELTA - 1e-5, "{certified}");
        for _ in 0..40 {
            let log_odds = moved(network, certified, &mut rng).log_odds(&codes(way));
            assert!(log_odds >= needed, "{log_odds} of a network within {certified}");
        }
    }
}

#[test]
fn versions_are_saved_loaded_and_kept_by_a_refit() {
    let bytes = german().to_bytes();
    let loaded = Model::from_bytes(&bytes).expect("a model");
    assert_eq!(loaded.to_bytes(), bytes);
    let facts = |model: &Model| {
        let of = |version: &par_model::classifier::Version| {
            (version.name.clone(), version.classifier.hash(), version.threshold.to_bits())
        };
        model.versions().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(facts(&loaded), facts(german()));
    assert_eq!(facts(&loaded).len(), 4);
    let refitted = refit(german(), &["Age"], &mut |_| {}, Stop::never()).expect("a refit");
    assert_eq!(facts(&refitted), facts(german()));
    let request = Request { robust: Some(1.0), ..Request::default() };
    for cells in denied(5) {
        assert_eq!(answer(&loaded, &cells, &request).ok(), answer(german(), &cells, &request).ok());
    }
}

/// Even if the checksum is right.
#[test]
fn damaged_versions_are_refused() {
    let bytes = german().to_bytes();
    let parts: [&[u8]; 9] = par_model::container::parts(&bytes, b"PARMODL\n", 3).expect("parts");
    let description: serde_json::Value = serde_json::from_slice(parts[0]).expect("a description");
    let refusal = |change: &dyn Fn(&mut serde_json::Value), versions: &[u8]| {
        let mut description = description.clone();
        change(&mut description["versions"][0]);
        let description = serde_json::to_vec(&description).expect("text");
        let mut parts = parts;
        (parts[0], parts[8]) = (&description, versions);
        let framed = par_model::container::frame(b"PARMODL\n", 3, &parts);
        let error = Model::from_bytes(&framed).expect_err("no model").to_string();
        error.strip_prefix("the model's parts do not belong together: ").expect("a mismatch").to_string()
    };
    let versions = parts[8];
    let longer = [versions, &[0; 4]].concat();
    for (versions, expected) in [
        (&versions[..versions.len() - 4], "the versions of the classifier are cut off"),
        (&[], "the versions of the classifier are cut off"),
        (&longer, "bytes follow the versions of the classifier"),
    ] {
        assert_eq!(refusal(&|_| {}, versions), expected);
    }
    for (key, value, expected) in [
        ("threshold", serde_json::json!(2.0), "the threshold of a version is no score"),
        ("bytes", serde_json::json!(u64::MAX), "the versions of the classifier are cut off"),
        (
            "origin",
            serde_json::json!({"trained": {"hidden": [3]}}),
            "a version of the classifier has another shape",
        ),
    ] {
        assert_eq!(refusal(&|version| version[key] = value.clone(), versions), expected);
    }
}
