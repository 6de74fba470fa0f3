//! The quality of answers: ours with the case's configuration and with the paper's preset, and those of others.
//!
//! # Paper
//! Table 1 (Q1), and Q4: `generate` is before local search, `refine` after it. `paper/generate` and `paper/refine`
//! are PAR and PAR (+LS) by the paper's preset; their NLL is that of the paper's own kind of circuit.

use par_answer::evaluate::MethodAnswers;
use par_answer::{Answer, Method as Own};
use par_data::UNKNOWN;
use par_model::{Mean, Model};

use crate::case::Fold;
use crate::error::Error;
use crate::figures::{Metric, Sheet};
use crate::measures::{AnswerMeasures, Measurer, add};
use crate::method::{Method, Reply, own_replies};

/// At most this many people are plotted individually.
const SHOWN: usize = 4;
/// At most this many people of a fold have figures of their own: enough for distributions.
const LISTED: usize = 2000;

/// Measures all methods on the denied people of a fold.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let answers = fold.answers()?;
    let denied = answers.iter().flatten().count();
    sheet.mean("people", "denied", Mean::share(answers.iter().map(Option::is_some), answers.len()));
    let possible = |answers: &MethodAnswers| answers.way(Own::Exact as usize).is_some();
    sheet.mean("people", "possible", Mean::share(answers.iter().flatten().map(possible), denied));
    ours(fold, &fold.model, "", answers, sheet);
    let paper = fold.paper()?;
    ours(fold, paper, "paper/", fold.paper_answers()?, sheet);
    for peer in &fold.case.peers {
        let mut method = peer.of_fold(fold.name);
        let replies = fold.people.iter().map(|person| method.reply(person)).collect();
        let measured = measured(fold, &fold.model, answers, replies);
        add(sheet, peer.name(), &measured.iter().map(|(measured, _)| *measured).collect::<Vec<_>>());
        let times: Vec<f64> = measured.iter().filter_map(|(_, time)| *time).collect();
        sheet.distribution(peer.name(), "time_us", times, denied);
    }
    frontier(fold, answers, sheet);
    people(fold, answers, sheet);
    Ok(())
}

/// Adds the measures of a model's answers, for all methods; `prefix` comes before the methods' names.
pub(super) fn ours(
    fold: &Fold<'_>,
    model: &Model,
    prefix: &str,
    answers: &[Option<MethodAnswers>],
    sheet: &mut Sheet,
) {
    let denied: Vec<&MethodAnswers> = answers.iter().flatten().collect();
    for own in Own::ALL {
        let place = own as usize;
        let method = &format!("{prefix}{}", own.name());
        let measured = measured(fold, model, answers, own_replies(own, answers));
        add(sheet, method, &measured.iter().map(|(measured, _)| *measured).collect::<Vec<_>>());
        let gaps: Vec<f64> = denied.iter().filter_map(|answers| answers.gap(place)).collect();
        sheet.distribution(method, "gap", gaps, denied.len());
        let times = denied.iter().map(|answers| answers.microseconds[place]).collect();
        sheet.distribution(method, "time_us", times, denied.len());
        if own == Own::Exact {
            let proved = denied.iter().filter_map(|answers| Some(answers.way(place)?.is_optimal()));
            sheet.mean(method, "optimal", Mean::share(proved, denied.len()));
        }
    }
}

/// The measures of a method's replies to the people of a fold who are denied, and their times.
pub(super) fn measured(
    fold: &Fold<'_>,
    model: &Model,
    answers: &[Option<MethodAnswers>],
    replies: Vec<Reply>,
) -> Vec<(Option<AnswerMeasures>, Option<f64>)> {
    let mut measurer = Measurer::new(model, &fold.code_units);
    let people = fold.people.iter().zip(replies).zip(answers).filter(|(_, answers)| answers.is_some());
    let measured = people.map(|((person, reply), _)| {
        // An answer with an unseen category cannot be read, and counts as none.
        let measured = reply.cells.and_then(|cells| {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            measurer.measure(&person.cells(), &cells).ok()
        });
        (measured, reply.microseconds)
    });
    measured.collect()
}

/// The likeliest rows of the exact search by number of changes, up to its budget.
fn frontier(fold: &Fold<'_>, answers: &[Option<MethodAnswers>], sheet: &mut Sheet) {
    let denied: Vec<&MethodAnswers> = answers.iter().flatten().collect();
    let frontiers = || {
        denied.iter().filter_map(|answers| match &answers.answers[Own::Exact as usize] {
            Some(Answer::Found(found)) => Some(&found.frontier),
            Some(Answer::Accepted { .. } | Answer::NotFound(_)) | None => None,
        })
    };
    let constraints = fold.model.constraints();
    let mutable = (0..constraints.features()).filter(|&feature| !constraints.is_immutable(feature)).count();
    for changes in 1..=fold.model.config().answers.budget.min(mutable) {
        let best = frontiers().filter_map(|frontier| {
            let within = frontier.iter().filter(|point| point.changes.len() <= changes);
            within.map(|point| point.log_likelihood).max_by(f64::total_cmp)
        });
        let nll = Mean::new(best.map(|log_likelihood| -log_likelihood), denied.len());
        let at = |name| Metric::at(name, &[("changes", &changes)]);
        let validity = nll.over as f64 / denied.len().max(1) as f64;
        sheet.mean(
            "frontier",
            at("validity"),
            Mean { mean: Some(validity), over: denied.len(), of: denied.len() },
        );
        sheet.mean("frontier", at("nll"), nll);
    }
}

/// NLL and number of changes of each person, and the codes of a few before and after.
fn people(fold: &Fold<'_>, answers: &[Option<MethodAnswers>], sheet: &mut Sheet) {
    let model = &fold.model;
    let mut shown = 0;
    let denied =
        fold.people.iter().zip(answers).filter_map(|(person, answers)| Some((person, answers.as_ref()?)));
    for (person, answers) in denied.take(LISTED) {
        for own in Own::ALL {
            let Some(way) = answers.way(own as usize) else { continue };
            let at = |name| Metric::at(name, &[("person", &person.id)]);
            sheet.number(own.name(), at("nll"), -way.log_likelihood, 1);
            sheet.number(own.name(), at("sparsity"), way.changes.len() as f64, 1);
        }
        let Some(way) = answers.way(Own::Exact as usize) else { continue };
        if shown == SHOWN {
            continue;
        }
        shown += 1;
        let cardinalities = model.discretizer().cardinalities();
        for (place, feature) in model.schema().features().iter().enumerate() {
            let rows = [
                ("factual", answers.own.codes(), &person.cells),
                (Own::Exact.name(), way.row.as_slice(), &way.cells),
            ];
            for (method, codes, cells) in rows.into_iter().filter(|(_, codes, _)| codes[place] != UNKNOWN) {
                let height = f64::from(codes[place]) / (cardinalities[place].max(2) - 1) as f64;
                let text = feature.labels.get(&cells[place]).unwrap_or(&cells[place]);
                let keys: [(&str, &dyn std::fmt::Display); 3] =
                    [("person", &person.id), ("feature", &feature.name), ("cell", text)];
                sheet.number(method, Metric::at("coordinate", &keys), height, 1);
            }
        }
    }
}
