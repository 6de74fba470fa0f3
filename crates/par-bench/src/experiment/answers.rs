//! How good the answers are: ours by the case's configuration and by the paper's preset, and those of others.
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
use crate::judge::{Judge, Judged, add};
use crate::method::{Method, Ours};

/// People who are drawn one by one, at most.
const SHOWN: usize = 4;
/// Those of a fold whose NLL and changes are told one by one, at most: distributions need no more.
const LISTED: usize = 2000;

/// Measures all methods on the denied people of a fold.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let asked = fold.asked()?;
    let denied = asked.iter().flatten().count();
    sheet.mean("people", "denied", Mean::share(asked.iter().map(Option::is_some), asked.len()));
    let possible = |asked: &MethodAnswers| asked.way(Own::Exact as usize).is_some();
    sheet.mean("people", "possible", Mean::share(asked.iter().flatten().map(possible), denied));
    ours(fold, &fold.model, "", asked, sheet);
    let paper = fold.paper()?;
    ours(fold, paper, "paper/", fold.asked_by_paper()?, sheet);
    for peer in &fold.case.peers {
        let judged = judge(fold, &fold.model, asked, peer);
        add(sheet, peer.name(), &judged.iter().map(|(judged, _)| *judged).collect::<Vec<_>>());
        let times: Vec<f64> = judged.iter().filter_map(|(_, time)| *time).collect();
        sheet.median(peer.name(), "time_us", times, denied);
    }
    frontier(fold, asked, sheet);
    people(fold, asked, sheet);
    Ok(())
}

/// What a model told the people of its fold, by all methods, their names after `prefix`.
pub(super) fn ours(
    fold: &Fold<'_>,
    model: &Model,
    prefix: &str,
    asked: &[Option<MethodAnswers>],
    sheet: &mut Sheet,
) {
    let denied: Vec<&MethodAnswers> = asked.iter().flatten().collect();
    for own in Own::ALL {
        let place = own as usize;
        let method = &format!("{prefix}{}", own.name());
        let judged = judge(fold, model, asked, &Ours { method: own, asked });
        add(sheet, method, &judged.iter().map(|(judged, _)| *judged).collect::<Vec<_>>());
        let gaps: Vec<f64> = denied.iter().filter_map(|asked| asked.gap(place)).collect();
        sheet.mean(method, "gap", Mean::new(gaps.iter().copied(), denied.len()));
        sheet.median(method, "median_gap", gaps, denied.len());
        let times = denied.iter().map(|asked| asked.microseconds[place]).collect();
        sheet.median(method, "time_us", times, denied.len());
        if own == Own::Exact {
            let proved = denied.iter().filter_map(|asked| Some(asked.way(place)?.is_optimal()));
            sheet.mean(method, "optimal", Mean::share(proved, denied.len()));
        }
    }
}

/// The answers of a method to those of a fold who are denied, judged, with their times.
pub(super) fn judge(
    fold: &Fold<'_>,
    model: &Model,
    asked: &[Option<MethodAnswers>],
    method: &impl Method,
) -> Vec<(Option<Judged>, Option<f64>)> {
    let mut judge = Judge::new(model);
    let replies = method.answer(fold.name, &fold.people);
    let people = fold.people.iter().zip(replies).zip(asked).filter(|(_, asked)| asked.is_some());
    let judged = people.map(|((person, reply), _)| {
        // An answer that cannot be read, for a category that nobody had, is no answer.
        let judged = reply.cells.and_then(|cells| {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            judge.judge(&person.cells(), &cells).ok()
        });
        (judged, reply.microseconds)
    });
    judged.collect()
}

/// The best with at most so many changes that the exact search found, up to the budget, within which it looks.
fn frontier(fold: &Fold<'_>, asked: &[Option<MethodAnswers>], sheet: &mut Sheet) {
    let denied: Vec<&MethodAnswers> = asked.iter().flatten().collect();
    let frontiers = || {
        denied.iter().filter_map(|asked| match &asked.answers[Own::Exact as usize] {
            Answer::Found(found) => Some(&found.frontier),
            Answer::Accepted { .. } | Answer::NotFound(_) => None,
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

/// Everybody's NLL and number of changes, and where a few of them stand before and after.
fn people(fold: &Fold<'_>, asked: &[Option<MethodAnswers>], sheet: &mut Sheet) {
    let model = &fold.model;
    let mut shown = 0;
    let denied = fold.people.iter().zip(asked).filter_map(|(person, asked)| Some((person, asked.as_ref()?)));
    for (person, asked) in denied.take(LISTED) {
        for own in Own::ALL {
            let Some(way) = asked.way(own as usize) else { continue };
            let at = |name| Metric::at(name, &[("person", &person.id)]);
            sheet.number(own.name(), at("nll"), -way.log_likelihood, 1);
            sheet.number(own.name(), at("sparsity"), way.changes.len() as f64, 1);
        }
        let Some(way) = asked.way(Own::Exact as usize) else { continue };
        if shown == SHOWN {
            continue;
        }
        shown += 1;
        let cardinalities = model.discretizer().cardinalities();
        for (place, feature) in model.schema().features().iter().enumerate() {
            let rows =
                [("factual", &asked.factual, &person.cells), (Own::Exact.name(), &way.row, &way.cells)];
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
