//! What methods of others answer to the same questions: native ones, which ask the same classifier here, and recorded
//! ones, beside ours, in one run and on one thread.
//!
//! Names of methods have the [`PREFIX`], since this measures ours again: answers of
//! [`answers`](super::answers) are made while other cores are busy.
//!
//! # Paper
//! The baselines of table 1, which the paper takes from LiCE's experiments with their own classifiers.

use std::time::{Duration, Instant};

use par_answer::Method as Own;
use par_model::{Mean, Model};

use crate::case::{Factual, Fold};
use crate::error::Error;
use crate::figures::Sheet;
use crate::judge::{AnswerMeasures, Judge, add};
use crate::method::{Method, OwnMethod, Reply};
use crate::peers::{Known, Lice, Likelihood, Native};

/// The prefix of the methods' names in figures.
pub const PREFIX: &str = "peers/";
/// The prefix of a recorded method, after [`PREFIX`].
pub const RECORDED: &str = "recorded/";

/// LiCE is asked about so many people of a fold: it takes seconds to minutes for each.
pub const LICE_PEOPLE: usize = 5;

/// The people of a fold who are asked about, and the figures of all methods' answers.
struct Comparison<'f> {
    fold: &'f Fold<'f>,
    denied: Vec<&'f Factual>,
    judge: Judge<'f>,
}

/// Measures a fold.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let denied: Vec<&Factual> = fold.denied().into_iter().map(|person| &fold.people[person]).collect();
    let people = fold.people.len();
    let is_denied = (0..people).map(|person| person < denied.len());
    sheet.mean(&format!("{PREFIX}people"), "denied", Mean::share(is_denied, people));
    let mut comparison = Comparison { fold, denied, judge: Judge::new(&fold.model, &fold.code_units) };
    comparison.ours("", &Own::ALL, &fold.model, fold.fitted_in, sheet);
    let started = Instant::now();
    let paper = fold.paper()?;
    comparison.ours("paper/", &[Own::Generate, Own::Refine], paper, started.elapsed(), sheet);
    let known = Known::new(fold, fold.case.config.seed)?;
    for native in Native::ALL {
        let started = Instant::now();
        let mut method = native.prepare(&known);
        let prepared = started.elapsed();
        comparison.add(native.name(), &mut *method, Some(prepared), sheet);
    }
    if let Some(program) = &fold.case.highs {
        let all = comparison.denied.clone();
        comparison.denied.truncate(LICE_PEOPLE);
        for likelihood in [Likelihood::Median, Likelihood::Optimize] {
            let started = Instant::now();
            let mut method = Lice::new(&known, likelihood, program);
            let (name, prepared) = (method.name().to_string(), started.elapsed());
            comparison.add(&name, &mut method, Some(prepared), sheet);
        }
        comparison.denied = all;
    }
    for peer in &fold.case.peers {
        comparison.add(&format!("{RECORDED}{}", peer.name()), &mut peer.of_fold(fold.name), None, sheet);
    }
    Ok(())
}

impl Comparison<'_> {
    /// Adds our methods with a model; `prefix` comes before their names.
    fn ours(&mut self, prefix: &str, methods: &[Own], model: &Model, fitted_in: Duration, sheet: &mut Sheet) {
        for &own in methods {
            let name = format!("{prefix}{}", own.name());
            let mut method = OwnMethod::new(name.clone(), own, model);
            self.add(&name, &mut method, Some(fitted_in), sheet);
        }
    }

    /// Asks a method about all denied people, and adds the figures of its answers.
    fn add(&mut self, name: &str, method: &mut dyn Method, prepared: Option<Duration>, sheet: &mut Sheet) {
        let (name, of) = (&format!("{PREFIX}{name}"), self.denied.len());
        let replies: Vec<Reply> = self.denied.iter().map(|person| method.reply(person)).collect();
        let judged: Vec<Option<AnswerMeasures>> = self
            .denied
            .iter()
            .zip(&replies)
            .map(|(person, reply)| judged(&mut self.judge, person, reply))
            .collect();
        add(sheet, name, &judged);
        let times = || replies.iter().filter_map(|reply| reply.microseconds);
        sheet.distribution(name, "time_us", times().collect(), of);
        if let Some(prepared) = prepared {
            sheet.number(name, "prepare_us", prepared.as_secs_f64() * 1e6, 1);
        }
        add_independent(self.fold, name, &self.denied, &replies, sheet);
    }
}

/// The measures of a reply. An answer with an unseen category cannot be read, and counts as none.
fn judged(judge: &mut Judge<'_>, person: &Factual, reply: &Reply) -> Option<AnswerMeasures> {
    let cells: Vec<&str> = reply.cells.as_ref()?.iter().map(String::as_str).collect();
    judge.judge(&person.cells(), &cells).ok()
}

/// Adds what a judge that shares nothing with our models says of a method's answers: the place for it. `denied` and
/// `replies` have the same order.
fn add_independent(
    _fold: &Fold<'_>,
    _method: &str,
    _denied: &[&Factual],
    _replies: &[Reply],
    _sheet: &mut Sheet,
) {
}
