//! Denied people who are asked about by all methods, one after the other: what they are told, and how long it takes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use par_answer::{Answer, Method, Request, Solver, Solves, Way};
use par_model::{Mean, Model};

use super::super::clock;
use crate::figures::{Metric, Sheet};

/// A denied person, and what each method says.
pub(super) struct Asked {
    answers: [MethodAnswer; 3],
}

/// What a growth experiment keeps of an answer.
struct MethodAnswer {
    microseconds: f64,
    /// Of processor time, where the system tells.
    processor: Option<f64>,
    /// Of the first way.
    found: Option<FoundWay>,
    /// The fewest changes of anything found.
    fewest: Option<usize>,
    is_optimal: bool,
}

/// The first way of an answer.
#[derive(Clone, Copy)]
struct FoundWay {
    aim: Aim,
    /// What it is worth in the problem that it solves.
    worth: f64,
    changes: usize,
}

/// The problem that a way solves, the wanted one last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Aim {
    WithoutMargin,
    Likeliest,
    LeastEffort,
}

impl FoundWay {
    fn new(model: &Model, way: &Way, order_has_effort: bool) -> Self {
        let answers = &model.config().answers;
        let aim = match (way.solves, way.has_margin) {
            (Solves::LeastEffort, _) => Aim::LeastEffort,
            (Solves::Likeliest, true) => Aim::Likeliest,
            (Solves::Likeliest, false) => Aim::WithoutMargin,
        };
        let changes = way.changes.len();
        let effort = if order_has_effort { answers.effort_weight * way.effort } else { 0.0 };
        let worth = match aim {
            Aim::LeastEffort => -way.effort,
            _ => way.conditional_log_likelihood - answers.price * changes as f64 - effort,
        };
        Self { aim, worth, changes }
    }
}

/// Asks all methods about people until the time is over, at least about one, on this thread.
pub(super) fn ask(model: &Model, people: &[Vec<&str>], longest: Duration) -> Vec<Asked> {
    let order_has_effort = model.config().answers.order == par_answer::Order::Balanced;
    let mut solver = Solver::new(model);
    let (begun, clock) = (Instant::now(), clock::thread());
    // By processor time, where there is a clock: other load must not change who is asked about.
    let spent = || match clock.zip(clock::thread()) {
        Some((before, now)) => now - before,
        None => begun.elapsed().as_secs_f64(),
    };
    let mut asked = Vec::new();
    for cells in people {
        if spent() > longest.as_secs_f64() && !asked.is_empty() {
            break;
        }
        // The first answer brings the person's part of the model into the caches, and is not timed.
        let _ = black_box(solver.answer(cells, &Request { method: Method::Generate, ..Request::default() }));
        let answers = Method::ALL.map(|method| {
            let request = Request { method, ..Request::default() };
            let (started, clock) = (Instant::now(), clock::thread());
            let answer = solver.answer(cells, &request);
            let processor = clock.zip(clock::thread()).map(|(before, after)| (after - before) * 1e6);
            let microseconds = started.elapsed().as_secs_f64() * 1e6;
            // Rows that a model cannot read are not among the denied.
            let ways = answer.as_ref().map_or(&[][..], Answer::ways);
            let first = ways.first();
            let points = match &answer {
                Ok(Answer::Found(found)) => found.frontier.as_slice(),
                _ => &[],
            };
            let points = points.iter().map(|point| point.changes.len());
            MethodAnswer {
                microseconds,
                processor,
                found: first.map(|way| FoundWay::new(model, way, order_has_effort)),
                fewest: points.chain(ways.iter().map(|way| way.changes.len())).min(),
                is_optimal: first.is_some_and(Way::is_optimal),
            }
        });
        asked.push(Asked { answers });
    }
    asked
}

/// The numbers of changes that are told apart: from, to, and their name.
pub(super) const NEEDED: [(usize, usize, &str); 6] = [
    (1, 1, "1"),
    (2, 2, "2"),
    (3, 4, "3 to 4"),
    (5, 8, "5 to 8"),
    (9, 20, "9 to 20"),
    (21, usize::MAX, "21 and more"),
];

/// The method that stands for whatever any of them knows.
pub(super) const ANY: &str = "any";

impl Asked {
    /// The fewest changes with which any method knows a way.
    fn needed(&self) -> Option<usize> {
        self.answers.iter().filter_map(|answer| answer.fewest).min()
    }

    /// The best way that any method knows.
    fn best(&self) -> Option<FoundWay> {
        let found = self.answers.iter().filter_map(|answer| answer.found);
        found.max_by(|one, other| one.aim.cmp(&other.aim).then(one.worth.total_cmp(&other.worth)))
    }

    /// How much less a method's way is worth than the best known, if both solve the same problem; in the unit of it.
    fn gap(&self, method: usize) -> Option<(Aim, f64)> {
        let (own, best) = (self.answers[method].found?, self.best()?);
        (own.aim == best.aim).then_some((own.aim, best.worth - own.worth))
    }
}

/// Adds what people are told, all together and by the number of changes that they need. `of` is the number of denied
/// people of whom these are a sample.
pub(super) fn write(
    asked: &[Asked],
    of: usize,
    at: impl Fn(&str, Option<&str>) -> Metric,
    sheet: &mut Sheet,
) {
    let known = asked.iter().map(|person| person.needed().is_some());
    sheet.mean(ANY, at("known", None), Mean::share(known, asked.len()));
    let all: Vec<&Asked> = asked.iter().collect();
    measures(&all, of, &|name| at(name, None), sheet);
    for (from, to, name) in NEEDED {
        let needs = |person: &&Asked| person.needed().is_some_and(|needed| (from..=to).contains(&needed));
        let some: Vec<&Asked> = asked.iter().filter(needs).collect();
        if !some.is_empty() {
            measures(&some, some.len(), &|metric| at(metric, Some(name)), sheet);
        }
    }
}

fn measures(asked: &[&Asked], of: usize, at: &dyn Fn(&str) -> Metric, sheet: &mut Sheet) {
    for (place, method) in Method::ALL.into_iter().enumerate() {
        let name = method.name();
        let times = asked.iter().map(|person| person.answers[place].microseconds).collect();
        sheet.summary(name, "time_us", at, times, of);
        let processor: Option<Vec<f64>> =
            asked.iter().map(|person| person.answers[place].processor).collect();
        if let Some(processor) = processor {
            sheet.summary(name, "cpu_us", at, processor, of);
        }
        let possible = asked.iter().filter(|person| person.needed().is_some());
        let found = possible.clone().map(|person| person.answers[place].found.is_some());
        sheet.mean(name, at("validity"), Mean::share(found, possible.clone().count()));
        let changes = asked.iter().filter_map(|person| person.answers[place].found);
        sheet.mean(name, at("sparsity"), Mean::new(changes.map(|way| way.changes as f64), asked.len()));
        for (unit, is_effort) in [("gap_nats", false), ("gap_effort", true)] {
            let is_in_unit = |aim: Aim| (aim == Aim::LeastEffort) == is_effort;
            let gaps = asked.iter().filter_map(|person| person.gap(place));
            let gaps = gaps.filter(|(aim, _)| is_in_unit(*aim)).map(|(_, gap)| gap).collect();
            let is_best = |person: &&&Asked| person.best().is_some_and(|best| is_in_unit(best.aim));
            let comparable = asked.iter().filter(is_best).count();
            sheet.summary(name, unit, at, gaps, comparable);
        }
        if method == Method::Exact {
            let proved = possible.map(|person| person.answers[place].is_optimal);
            sheet.mean(name, at("optimal"), Mean::share(proved, asked.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(found: Option<(Aim, f64)>, fewest: Option<usize>) -> MethodAnswer {
        let found = found.map(|(aim, worth)| FoundWay { aim, worth, changes: 2 });
        MethodAnswer { microseconds: 3.0, processor: Some(2.0), found, fewest, is_optimal: false }
    }

    /// Generate finds nothing, refine a likely way, exact one of less effort with fewer changes on its frontier.
    fn person() -> Asked {
        let refine = answer(Some((Aim::Likeliest, 100.0)), Some(3));
        let exact = answer(Some((Aim::LeastEffort, -4.0)), Some(2));
        Asked { answers: [answer(None, None), refine, exact] }
    }

    #[test]
    fn the_wanted_problem_is_better_than_any_worth_in_another() {
        let person = person();
        assert!(person.best().is_some_and(|best| best.aim == Aim::LeastEffort));
        assert_eq!(person.needed(), Some(2));
        assert!(person.gap(0).is_none() && person.gap(1).is_none());
        assert!(person.gap(2).is_some_and(|(_, gap)| gap == 0.0));
    }

    #[test]
    fn validity_is_over_those_with_a_known_way() {
        let nobody = Asked { answers: [0, 1, 2].map(|_| answer(None, None)) };
        let mut sheet = Sheet::new("t", "");
        let at = |name: &str, needed: Option<&str>| match needed {
            Some(needed) => Metric::at(name, &[("needed", &needed)]),
            None => name.into(),
        };
        write(&[person(), nobody], 9, at, &mut sheet);
        let figures = sheet.into_figures();
        let figure = |method: &str, metric: &str| {
            let found = figures.iter().find(|own| own.method == method && own.metric.to_string() == metric);
            found.map(|own| (own.value, own.over, own.of)).expect(metric)
        };
        assert_eq!(figure(ANY, "known"), (Some(0.5), 2, 2));
        assert_eq!(figure("generate", "validity"), (Some(0.0), 1, 1));
        assert_eq!(figure("refine", "validity@needed=2"), (Some(1.0), 1, 1));
        assert_eq!(figure("refine", "time_us_p99"), (Some(3.0), 2, 9));
        assert_eq!(figure("refine", "cpu_us_mean"), (Some(2.0), 2, 9));
        assert_eq!(figure("refine", "gap_effort"), (None, 0, 1));
        assert_eq!(figure("exact", "gap_effort"), (Some(0.0), 1, 1));
    }
}
