//! What methods of others answer to the same questions: native ones, which ask the same classifier here, and recorded
//! ones, beside ours, in one run and on one thread.
//!
//! Beside ours stands refine with other settings of answers: the same model, which names the nearest numbers of bins, or
//! which answers in the default order.
//!
//! Names of methods have the [`PREFIX`], since this measures ours again: answers of
//! [`answers`](super::answers) are made while other cores are busy.
//!
//! # Paper
//! The baselines of table 1, which the paper takes from LiCE's experiments with their own classifiers.

use std::time::{Duration, Instant};

use par_answer::Method as Own;
use par_judge::Judgement;
use par_model::{AnswerConfig, Config, Mean, Model, ModelParts, Values};

use crate::case::{Factual, Fold};
use crate::error::Error;
use crate::figures::Sheet;
use crate::measures::{AnswerMeasures, Measurer, add};
use crate::method::{Method, OwnMethod, Reply};
use crate::peers::{Known, Lice, LiceAnswer, Likelihood, Native};

/// The prefix of the methods' names in figures.
pub const PREFIX: &str = "peers/";
/// The prefix of a recorded method, after [`PREFIX`].
pub const RECORDED: &str = "recorded/";
/// The prefix of our method that names the nearest numbers of bins, after [`PREFIX`].
pub const NEAREST_VALUES: &str = "nearest values/";
/// The prefix of our method in the default order, with its margin and least percentile, after [`PREFIX`].
pub const DEFAULT_ORDER: &str = "default order/";

/// Where the figures of the people themselves stand.
pub const PEOPLE: &str = "peers/people";
/// The figure that says that LiCE was to be asked and cannot be.
pub const LICE_LEFT_OUT: &str = "lice_left_out";
/// The share of people for whom no row keeps what LiCE asks for.
pub const INFEASIBLE: &str = "infeasible";
/// The share of people for whom LiCE found no row in its time.
pub const OUT_OF_TIME: &str = "out_of_time";

/// The row of the held-out accepted people themselves, which no answer can be expected to better.
pub const HELD_OUT: &str = "held-out people";

/// LiCE is asked about so many people of a fold: it takes seconds to minutes for each.
pub const LICE_PEOPLE: usize = 5;

/// The people of a fold who are asked about, and the figures of all methods' answers.
struct Comparison<'f> {
    denied: Vec<&'f Factual>,
    measurer: Measurer<'f>,
    /// Absent where too few accepted rows are held out.
    held_out: Option<par_judge::Judge<'f>>,
}

/// A prefix, and how settings of answers become others.
type OtherSetting = (&'static str, fn(&mut AnswerConfig));

/// The other settings that refine is asked with. None of them takes part in fitting.
const SETTINGS: [OtherSetting; 2] = [
    (NEAREST_VALUES, |answers| answers.values = Values::Nearest),
    (DEFAULT_ORDER, |answers| {
        let AnswerConfig { order, margin, min_percentile, .. } = AnswerConfig::default();
        *answers = AnswerConfig { order, margin, min_percentile, ..answers.clone() };
    }),
];

/// The same model with other settings of answers; `None` if it has them already.
fn set_otherwise(model: &Model, set: fn(&mut AnswerConfig)) -> Option<Model> {
    let mut answers = model.config().answers.clone();
    set(&mut answers);
    if answers == model.config().answers {
        return None;
    }
    let parts = model.clone().into_parts();
    let config = Config { answers, ..parts.config };
    Some(Model::new(ModelParts { config, ..parts }).expect("these parts were a model"))
}

/// Measures a fold.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let (places, people) = (fold.denied(), fold.people.len());
    let is_denied = (0..people).map(|person| places.binary_search(&person).is_ok());
    sheet.mean(PEOPLE, "denied", Mean::share(is_denied, people));
    let denied: Vec<&Factual> = places.iter().map(|&person| &fold.people[person]).collect();
    let held_out = fold.held_out_judge()?;
    if let Some(judge) = &held_out {
        let reference = judge.reference().map_err(|error| fold.judge_error(error))?;
        add_judgement(sheet, &format!("{PREFIX}{HELD_OUT}"), &reference);
    }
    let measurer = Measurer::new(&fold.model, &fold.code_units);
    let mut comparison = Comparison { denied, measurer, held_out };
    comparison.ours("", &Own::ALL, &fold.model, fold.fitted_in, sheet);
    for (prefix, set) in SETTINGS {
        if let Some(model) = set_otherwise(&fold.model, set) {
            comparison.ours(prefix, &[Own::Refine], &model, fold.fitted_in, sheet);
        }
    }
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
        for likelihood in [Likelihood::Median, Likelihood::Optimize] {
            let started = Instant::now();
            let Some(lice) = Lice::new(&known, likelihood, program) else {
                sheet.number(PEOPLE, LICE_LEFT_OUT, 1.0, 1);
                break;
            };
            comparison.lice(likelihood, &lice, started.elapsed(), sheet)?;
        }
    }
    for peer in &fold.case.peers {
        comparison.add(&format!("{RECORDED}{}", peer.name()), &mut peer.of_fold(fold.name), None, sheet);
    }
    Ok(())
}

impl Comparison<'_> {
    /// Adds our methods with a model; `prefix` comes before their names.
    fn ours(&mut self, prefix: &str, methods: &[Own], model: &Model, fitted_in: Duration, sheet: &mut Sheet) {
        // Otherwise the first answer of every model but the measurer's would compute it, and be the slowest.
        model.plausibility(&[]);
        for &own in methods {
            let name = format!("{prefix}{}", own.name());
            let mut method = OwnMethod::new(name.clone(), own, model);
            self.add(&name, &mut method, Some(fitted_in), sheet);
        }
    }

    /// Asks LiCE about some denied people, and adds the figures of its answers.
    fn lice(
        &mut self,
        likelihood: Likelihood,
        lice: &Lice<'_>,
        prepared: Duration,
        sheet: &mut Sheet,
    ) -> Result<(), Error> {
        let asked: Vec<&Factual> = self.denied.iter().take(LICE_PEOPLE).copied().collect();
        let (mut replies, mut infeasible, mut late) = (Vec::new(), Vec::new(), Vec::new());
        for person in &asked {
            let started = Instant::now();
            let answer = lice.answer(person)?;
            let microseconds = Some(started.elapsed().as_secs_f64() * 1e6);
            infeasible.push(answer == LiceAnswer::Infeasible);
            late.push(answer == LiceAnswer::OutOfTime);
            let cells = if let LiceAnswer::Found(cells) = answer { Some(cells) } else { None };
            replies.push(Reply { cells, microseconds });
        }
        let name = format!("{PREFIX}{}", likelihood.name());
        sheet.mean(&name, INFEASIBLE, Mean::share(infeasible.into_iter(), asked.len()));
        sheet.mean(&name, OUT_OF_TIME, Mean::share(late.into_iter(), asked.len()));
        self.add_replies(&name, &asked, &replies, Some(prepared), sheet);
        Ok(())
    }

    /// Asks a method about all denied people, and adds the figures of its answers.
    fn add(&mut self, name: &str, method: &mut dyn Method, prepared: Option<Duration>, sheet: &mut Sheet) {
        let replies: Vec<Reply> = self.denied.iter().map(|person| method.reply(person)).collect();
        let people = self.denied.clone();
        self.add_replies(&format!("{PREFIX}{name}"), &people, &replies, prepared, sheet);
    }

    /// Adds the figures of the replies to some people.
    fn add_replies(
        &mut self,
        name: &str,
        people: &[&Factual],
        replies: &[Reply],
        prepared: Option<Duration>,
        sheet: &mut Sheet,
    ) {
        let of = people.len();
        let measured: Vec<Option<AnswerMeasures>> = people
            .iter()
            .zip(replies)
            .map(|(person, reply)| measured(&mut self.measurer, person, reply))
            .collect();
        add(sheet, name, &measured);
        let times = || replies.iter().filter_map(|reply| reply.microseconds);
        sheet.distribution(name, "time_us", times().collect(), of);
        if let Some(prepared) = prepared {
            sheet.number(name, "prepare_us", prepared.as_secs_f64() * 1e6, 1);
        }
        if let Some(judge) = &self.held_out {
            add_judgement(sheet, name, &judge.judge(&replies.iter().map(Reply::cells).collect::<Vec<_>>()));
        }
    }
}

/// The measures of a reply. An answer that cannot be read, with an unseen category or a number outside its range,
/// counts as none.
fn measured(measurer: &mut Measurer<'_>, person: &Factual, reply: &Reply) -> Option<AnswerMeasures> {
    measurer.measure(&person.cells(), &reply.cells()?).ok()
}

/// Adds what held-out accepted people say of answers, by measures that no method optimises.
fn add_judgement(sheet: &mut Sheet, method: &str, judgement: &Judgement) {
    let Judgement { distance, outliers, auc, nll, .. } = judgement;
    sheet.mean(method, "judge_distance", *distance);
    sheet.mean(method, "judge_outliers", *outliers);
    sheet.mean(method, "judge_nll", *nll);
    sheet.mean(method, "judge_auc", Mean { mean: *auc, ..*distance });
}

#[cfg(test)]
mod tests {
    use par_model::Order;

    use super::*;
    use crate::test_case;

    #[test]
    fn refine_is_set_otherwise_in_the_named_settings_alone() {
        let case = test_case::case(test_case::SCHEMA);
        let model = test_case::fold(&case).model;
        let own = model.config();
        let [nearest, default_order] = SETTINGS.map(|(_, set)| set_otherwise(&model, set).expect("another"));
        assert_eq!(own.answers.values, Values::Common);
        let expected = AnswerConfig { values: Values::Nearest, ..own.answers.clone() };
        assert_eq!(*nearest.config(), Config { answers: expected, ..own.clone() });
        let AnswerConfig { order, margin, min_percentile, .. } = default_order.config().answers;
        assert_eq!((order, margin, min_percentile), (Order::Balanced, 0.05, 0.01));
        assert_eq!(default_order.config().answers.price, own.answers.price);
        assert!(set_otherwise(&nearest, SETTINGS[0].1).is_none(), "it names the nearest already");
    }
}
