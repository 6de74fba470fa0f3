//! Answers that should last, and what they cost beside the plain ones.
//!
//! The fold's model gets versions of its classifier, each trained on other draws of its rows; none of them is one of the
//! retrained classifiers that later judge the answers. All answers are by `exact`. Costs are over the
//! people whom both a lasting and the plain request answer: `nats_more`, `changes_more` and `effort_more`. `answered` is the
//! share of those whom the plain request answers, `proved` the share of answers that are proved, `time_us` processor time,
//! with that of the plain answer that stands beside it.

use par_answer::{Answer, Method, Request, Solver, Way};
use par_circuit::Stop;
use par_fit::Error as FitError;
use par_fit::classifier::{train_classifier, train_versions};
use par_model::classifier::Version;
use par_model::{Mean, Model, ModelParts};
use rayon::prelude::*;

use super::clock;
use super::robustness::AnswerCodes;
use crate::case::{Fold, LabelledRows};
use crate::error::Error;
use crate::figures::Sheet;

/// What the names of these answers begin with.
pub const PREFIX: &str = "lasting/";
/// How many versions the model gets.
const VERSIONS: usize = 8;
/// A number that no part of a fit mixes into the seed.
const SEED: u64 = 0x5eed_0f1a_57ed;

/// The requests by name.
fn requests() -> Vec<(&'static str, Request)> {
    let exact = || Request { method: Method::Exact, ..Request::default() };
    vec![
        ("lasting/margin 0.05", Request { margin: Some(0.05), ..exact() }),
        ("lasting/margin 0.2", Request { margin: Some(0.2), ..exact() }),
        ("lasting/certified 0.01", Request { certify: Some(0.01), ..exact() }),
        ("lasting/certified 0.02", Request { certify: Some(0.02), ..exact() }),
        ("lasting/versions", Request { robust: Some(1.0), ..exact() }),
        ("lasting/versions, margin 0.1", Request { robust: Some(1.0), margin: Some(0.1), ..exact() }),
        ("lasting/versions, certified 0.01", Request { robust: Some(1.0), certify: Some(0.01), ..exact() }),
        ("lasting/versions, certified 0.02", Request { robust: Some(1.0), certify: Some(0.02), ..exact() }),
    ]
}

/// Adds what lasting answers cost, and returns the answers by name.
pub(super) fn measure(
    fold: &Fold<'_>,
    training: &LabelledRows,
    sheet: &mut Sheet,
) -> Result<Vec<(String, AnswerCodes)>, Error> {
    let model = with_versions(fold, training)?;
    let denied = fold.denied();
    let plain = ask(fold, &model, &denied, &Request { method: Method::Exact, ..Request::default() })?;
    let mut methods = Vec::new();
    for (name, request) in requests() {
        let lasting = ask(fold, &model, &denied, &request)?;
        add_costs(sheet, name, &plain, &lasting);
        let codes = |asked: &Asked| asked.way.as_ref().map(|way| way.row.clone());
        methods.push((name.to_string(), lasting.iter().map(codes).collect()));
    }
    Ok(methods)
}

/// The fold's model with versions of its classifier.
fn with_versions(fold: &Fold<'_>, training: &LabelledRows) -> Result<Model, Error> {
    let train = |drawn: Option<&[usize]>, seed: u64| {
        let all: Vec<usize> = (0..training.accepted.len()).collect();
        let drawn = drawn.unwrap_or(&all);
        let accepted: Vec<bool> = drawn.iter().map(|&row| training.accepted[row]).collect();
        let (rows, config) = (training.rows.select(drawn), &fold.case.config.classifier);
        let trained = train_classifier(&rows, &accepted, config, seed, &mut |_, _| {}, Stop::never());
        trained.map(|(network, _)| network)
    };
    let seed = fold.case.config.seed ^ SEED;
    let networks = train_versions(&training.accepted, VERSIONS, seed, train, &mut |_| {})
        .map_err(|source| fold.case.fit_error(fold.name, FitError::Classifier(source)))?;
    let (threshold, scale) = (fold.model.threshold(), fold.model.scale());
    let version = |(number, network)| Version::bootstrap(number, network, threshold, scale);
    let versions = (1..).zip(networks).map(version).collect();
    let parts = ModelParts { versions, ..fold.model.clone().into_parts() };
    Ok(Model::new(parts).expect("the versions have the features of the fold"))
}

/// The answer to one person.
struct Asked {
    way: Option<Way>,
    microseconds: Option<f64>,
}

fn ask(fold: &Fold<'_>, model: &Model, people: &[usize], request: &Request) -> Result<Vec<Asked>, Error> {
    let ask = |solver: &mut Solver<'_>, &person: &usize| {
        let started = clock::thread();
        let answer = solver.answer(&fold.people[person].cells(), request);
        let microseconds = clock::thread().zip(started).map(|(ended, started)| 1e6 * (ended - started));
        let answer = answer.map_err(|source| fold.row_error(person, source))?;
        let way = match answer {
            Answer::Found(found) => found.ways.into_iter().next(),
            Answer::Accepted { .. } | Answer::NotFound(_) => None,
        };
        Ok(Asked { way, microseconds })
    };
    people.par_iter().map_init(|| Solver::new(model), ask).collect()
}

/// Adds what the lasting answers cost beside the plain ones.
fn add_costs(sheet: &mut Sheet, name: &str, plain: &[Asked], lasting: &[Asked]) {
    let both: Vec<(&Way, &Way)> = plain
        .iter()
        .zip(lasting)
        .filter_map(|(plain, lasting)| Some((plain.way.as_ref()?, lasting.way.as_ref()?)))
        .collect();
    let answerable = plain.iter().filter(|asked| asked.way.is_some()).count();
    let answered = (plain.iter().zip(lasting))
        .filter(|(plain, _)| plain.way.is_some())
        .map(|(_, lasting)| lasting.way.is_some());
    sheet.mean(name, "answered", Mean::share(answered, answerable));
    let more = |of: fn(&Way) -> f64| {
        Mean::new(both.iter().map(|(plain, lasting)| of(lasting) - of(plain)), answerable)
    };
    sheet.mean(name, "nats_more", more(|way| -way.log_likelihood));
    sheet.mean(name, "changes_more", more(|way| way.changes.len() as f64));
    sheet.mean(name, "effort_more", more(|way| way.effort));
    let proved = lasting.iter().filter_map(|asked| Some(asked.way.as_ref()?.is_optimal()));
    sheet.mean(name, "proved", Mean::share(proved, lasting.len()));
    let times: Vec<f64> = lasting.iter().filter_map(|asked| asked.microseconds).collect();
    sheet.distribution(name, "time_us", times, lasting.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_case;

    #[test]
    fn what_lasts_is_accepted_by_all_versions_and_costs_no_less() {
        let case = test_case::case(test_case::SCHEMA);
        let fold = test_case::fold(&case);
        let training = fold.labelled(&fold.training).expect("rows");
        let model = with_versions(&fold, &training).expect("versions");
        assert_eq!(model.versions().len(), VERSIONS);
        let mut sheet = Sheet::new("t", "0");
        let methods = measure(&fold, &training, &mut sheet).expect("answers");
        let (_, lasting) = methods.iter().find(|(name, _)| name == "lasting/versions").expect("asked");
        assert!(lasting.iter().flatten().count() > 0);
        for row in lasting.iter().flatten() {
            assert!(model.versions().iter().all(|version| version.excess(&[], row).expect("codes") >= 0.0));
        }
        let figures = sheet.into_figures();
        let of = |metric: &str| {
            figures.iter().find(|one| one.method == "lasting/versions" && one.metric.name == metric)
        };
        let price = of("nats_more").and_then(|figure| figure.value).expect("both answer somebody");
        assert!(price >= -1e-6 || of("changes_more").is_some_and(|more| more.value > Some(0.0)), "{price}");
        assert!(of("proved").and_then(|figure| figure.value).is_some_and(|share| share > 0.5));
    }
}
