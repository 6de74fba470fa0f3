//! The paper's measures of answers, each with the number of people it is a mean over.

use std::time::Instant;

use par_circuit::threads;
use par_data::OwnRow;
use par_model::{Mean, Model, RowError};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Solves, Way};
use crate::request::{Method, Request};
use crate::solver::Solver;

/// The measures of one method on a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodMetrics {
    /// The method.
    pub method: Method,
    /// The share of denied people with an accepted recourse.
    pub validity: Mean,
    /// The share of recourses that keep immutable features and directions.
    pub actionability: Mean,
    /// The share of recourses that keep the rules.
    pub causality: Mean,
    /// −log p⁺ of the recourse.
    pub nll: Mean,
    /// −log p⁺ of the recourse, given what the person cannot change.
    pub conditional_nll: Mean,
    /// The share of accepted rows that are no likelier by it.
    pub percentile: Mean,
    /// The sum of |change| / median absolute deviation over numeric features.
    pub similarity: Mean,
    /// The similarity, plus one for every other feature that changes.
    pub distance: Mean,
    /// How many features change.
    pub sparsity: Mean,
    /// What the changes cost the person.
    pub effort: Mean,
    /// How many months they take.
    pub months: Mean,
    /// The share of ways that are above the threshold by the margin.
    pub margin: Mean,
    /// The classifier's score of the recourse.
    pub score: Mean,
    /// How much better the exact search's best row with at most as many changes is, in the unit of the problem that it
    /// solves: effort or nats.
    pub gap: Mean,
    /// The median of these gaps.
    pub median_gap: Option<f64>,
    /// The share of ways that are proved optimal, of those with a gap.
    pub optimal: Mean,
    /// How many searches ended at the request's deadline: they might have found more or better ways.
    #[serde(default)]
    pub search_ended: usize,
    /// The median time of an answer, in microseconds.
    pub time_us: Option<f64>,
    /// Its mean.
    #[serde(default)]
    pub time_us_mean: Option<f64>,
    /// Its 99th percentile: the least time that 99 of 100 answers do not exceed.
    #[serde(default)]
    pub time_us_p99: Option<f64>,
}

/// The measures of a model's answers to the people of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The number of people.
    pub rows: usize,
    /// How many are denied; all means are over them.
    pub denied: usize,
    /// For how many the exact search, or else the most thorough method that was asked, finds a recourse.
    pub possible: usize,
    /// The share of those for whom refine finds one too.
    pub refined: Mean,
    /// One per method that was asked.
    pub methods: Vec<MethodMetrics>,
}

/// A denied person, and the answers of some methods.
#[derive(Clone, Debug)]
pub struct MethodAnswers {
    /// Their row.
    pub own: OwnRow,
    /// The answers, in the order of [`Method::ALL`]; `None` of a method that was not asked.
    pub answers: [Option<Answer>; 3],
    /// The time of each answer, 0 of a method that was not asked.
    pub microseconds: [f64; 3],
}

/// Answers all rows by all methods and measures the answers. Each row is its cells, in schema order.
///
/// # Errors
/// At the first row whose cells do not fit or that has no score, with its position.
pub fn evaluate(model: &Model, rows: &[Vec<&str>]) -> Result<Evaluation, (usize, RowError)> {
    Ok(Evaluation::new(model, &answer_by_all_methods(model, rows, &Request::default())?))
}

/// Answers all rows by all methods, on all threads; `None` for people who are accepted as they are. The method of the
/// request does not matter.
///
/// # Errors
/// At the first row whose cells do not fit or that has no score, with its position.
pub fn answer_by_all_methods(
    model: &Model,
    rows: &[Vec<&str>],
    request: &Request,
) -> Result<Vec<Option<MethodAnswers>>, (usize, RowError)> {
    answer_by_methods(model, rows, &Method::ALL, request)
}

/// As [`answer_by_all_methods`], by some methods only.
///
/// # Errors
/// At the first row whose cells do not fit or that has no score, with its position.
pub fn answer_by_methods(
    model: &Model,
    rows: &[Vec<&str>],
    methods: &[Method],
    request: &Request,
) -> Result<Vec<Option<MethodAnswers>>, (usize, RowError)> {
    let answer = |solver: &mut Solver<'_>, row: usize| {
        MethodAnswers::new(solver, &rows[row], methods, request).map_err(|error| (row, error))
    };
    threads::map_with(0..rows.len(), || Solver::new(model), answer).into_iter().collect()
}

impl MethodAnswers {
    fn new(
        solver: &mut Solver<'_>,
        cells: &[&str],
        methods: &[Method],
        request: &Request,
    ) -> Result<Option<Self>, RowError> {
        let discretizer = solver.model().discretizer();
        let own = OwnRow::new(discretizer, cells, discretizer.encode_row(cells)?.into_codes());
        // The first answer brings the person's part of the model into the caches. It is not timed: otherwise the quickest
        // method, which comes first, would look slower than those that build on it.
        let warm_up = solver.answer(cells, &Request { method: Method::Generate, ..request.clone() })?;
        if matches!(warm_up, Answer::Accepted { .. }) {
            return Ok(None);
        }
        let mut microseconds = [0.0; 3];
        let mut answers = [const { None }; 3];
        for (place, method) in
            Method::ALL.into_iter().enumerate().filter(|(_, method)| methods.contains(method))
        {
            let started = Instant::now();
            answers[place] = Some(solver.answer(cells, &Request { method, ..request.clone() })?);
            microseconds[place] = started.elapsed().as_secs_f64() * 1e6;
        }
        Ok(Some(Self { own, answers, microseconds }))
    }

    /// The best way of a method, by its place in [`Method::ALL`].
    pub fn way(&self, method: usize) -> Option<&Way> {
        self.answers[method].as_ref()?.ways().first()
    }

    /// The places in [`Method::ALL`] of the methods that everybody's answers are by.
    pub fn asked(people: &[Option<Self>]) -> impl Iterator<Item = usize> {
        let is_asked = |place: &usize| people.iter().flatten().all(|person| person.answers[*place].is_some());
        (0..Method::ALL.len()).filter(is_asked)
    }

    /// How much better than the method's way the exact search's best row with at most as many changes is, in the unit
    /// of the problem that it solves.
    pub fn gap(&self, method: usize) -> Option<f64> {
        let Some(Answer::Found(proved)) = &self.answers[EXACT] else { return None };
        let way = self.way(method)?;
        let best = proved.frontier.iter().rfind(|point| point.changes.len() <= way.changes.len())?;
        let gap = match proved.ways.first()?.solves {
            Solves::LeastEffort => way.effort - best.effort,
            Solves::Likeliest => best.conditional_log_likelihood - way.conditional_log_likelihood,
        };
        // Rounding may make the method's own row look better.
        Some(gap.max(0.0))
    }
}

/// Positions in [`Method::ALL`].
const REFINE: usize = 1;
const EXACT: usize = 2;

impl Evaluation {
    /// Measures the answers to all rows; `None` for people who are accepted as they are.
    pub fn new(model: &Model, people: &[Option<MethodAnswers>]) -> Self {
        let denied: Vec<&MethodAnswers> = people.iter().flatten().collect();
        let asked: Vec<usize> = MethodAnswers::asked(people).collect();
        let most_thorough = asked.last().copied().unwrap_or(EXACT);
        let possible = denied.iter().filter(|person| person.way(most_thorough).is_some());
        let refined = possible.clone().filter(|person| person.answers[REFINE].is_some());
        let refined = refined.map(|person| person.way(REFINE).is_some());
        Self {
            rows: people.len(),
            denied: denied.len(),
            possible: possible.clone().count(),
            refined: Mean::share(refined, possible.count()),
            methods: asked.into_iter().map(|method| MethodMetrics::new(model, method, &denied)).collect(),
        }
    }
}

impl MethodMetrics {
    fn new(model: &Model, method: usize, denied: &[&MethodAnswers]) -> Self {
        let constraints = model.constraints();
        let of = denied.len();
        let answers = || denied.iter().filter_map(|person| person.answers[method].as_ref());
        let found = || denied.iter().filter_map(|person| Some((*person, person.way(method)?)));
        let share = |fits: &dyn Fn(&MethodAnswers, &Way) -> bool| {
            Mean::share(found().map(|(person, way)| fits(person, way)), of)
        };
        let mean = |value: fn(&Way) -> f64| Mean::new(found().map(|(_, way)| value(way)), of);
        let gaps = || denied.iter().filter_map(|person| person.gap(method));
        let times: Vec<f64> = denied.iter().map(|person| person.microseconds[method]).collect();
        let proofs = found().filter(|(_, way)| way.gap.is_some());
        Self {
            method: Method::ALL[method],
            validity: Mean::share(denied.iter().map(|person| person.way(method).is_some()), of),
            actionability: share(&|person, way| constraints.is_actionable(person.own.codes(), &way.row)),
            causality: share(&|person, way| {
                let cells: Vec<&str> = way.cells.iter().map(String::as_str).collect();
                let row = OwnRow::new(model.discretizer(), &cells, way.row.clone());
                constraints.keeps_rules_of_values(&person.own, &row)
            }),
            nll: mean(|way| -way.log_likelihood),
            conditional_nll: mean(|way| -way.conditional_log_likelihood),
            percentile: mean(|way| way.percentile),
            similarity: mean(|way| way.similarity),
            distance: mean(|way| way.distance),
            sparsity: mean(|way| way.changes.len() as f64),
            effort: mean(|way| way.effort),
            months: mean(|way| f64::from(way.months)),
            margin: share(&|_, way| way.has_margin),
            score: mean(|way| way.probability),
            gap: Mean::new(gaps(), of),
            median_gap: median(gaps().collect()),
            optimal: Mean::share(proofs.map(|(_, way)| way.is_optimal()), of),
            search_ended: answers().filter(|answer| answer.search_ended()).count(),
            time_us_mean: Mean::new(times.iter().copied(), of).mean,
            time_us_p99: percentile_99(&times),
            time_us: median(times),
        }
    }
}

/// The median; `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}

/// The least value that 99 of 100 do not exceed; `None` without values.
pub fn percentile_99(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (0.99 * sorted.len() as f64).ceil() as usize;
    sorted.get(place.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_99th_percentile_is_one_of_the_values() {
        assert_eq!(percentile_99(&(1..=200).rev().map(f64::from).collect::<Vec<_>>()), Some(198.0));
        assert_eq!(percentile_99(&[3.0, 1.0, 2.0]), Some(3.0));
        assert_eq!(percentile_99(&[]), None);
    }
}
