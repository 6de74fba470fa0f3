//! How good answers are: the paper's measures, each with the number of people it is a mean over.

use std::time::Instant;

use par_circuit::{Code, threads};
use par_model::{Mean, Model, RowError};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Way};
use crate::request::{Method, Request};
use crate::solver::Solver;

/// How one method does on a table.
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
    /// Over numeric features, |change| / median absolute deviation.
    pub similarity: Mean,
    /// The same, and one for every other feature that changes.
    pub distance: Mean,
    /// How many features change.
    pub sparsity: Mean,
    /// The classifier's score of the recourse.
    pub score: Mean,
    /// How much likelier, in nats, the best that the exact search found with as many changes is.
    pub gap: Mean,
    /// The median of that.
    pub median_gap: Option<f64>,
    /// The share that is proved to be the best with as many changes, over those that a proof was sought for.
    pub optimal: Mean,
    /// Microseconds an answer, the median.
    pub time_us: Option<f64>,
}

/// How a model answers the people of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// People asked about.
    pub rows: usize,
    /// Those that are denied, over whom all means are.
    pub denied: usize,
    /// Those for whom the exact search finds a recourse.
    pub possible: usize,
    /// The share of possible ones for whom refine finds one too.
    pub refined: Mean,
    /// One a method.
    pub methods: Vec<MethodMetrics>,
}

/// A denied person, and what every method tells them.
#[derive(Clone, Debug)]
pub struct MethodAnswers {
    /// Their codes.
    pub factual: Vec<Code>,
    /// The answers, in the order of [`Method::ALL`].
    pub answers: [Answer; 3],
    /// How long each took.
    pub microseconds: [f64; 3],
}

/// Answers all rows by all methods and measures the answers. Each row is its cells, in schema order.
///
/// # Errors
/// At the first row whose cells do not fit or that has no score, with its position.
pub fn evaluate(model: &Model, rows: &[Vec<&str>]) -> Result<Evaluation, (usize, RowError)> {
    Ok(Evaluation::new(model, &answer_by_all_methods(model, rows)?))
}

/// Asks for all rows, by all methods, on all threads; absent are those who are accepted as they are.
///
/// # Errors
/// At the first row whose cells do not fit or that has no score, with its position.
pub fn answer_by_all_methods(
    model: &Model,
    rows: &[Vec<&str>],
) -> Result<Vec<Option<MethodAnswers>>, (usize, RowError)> {
    let ask = |solver: &mut Solver<'_>, row: usize| {
        MethodAnswers::new(model, solver, &rows[row]).map_err(|error| (row, error))
    };
    threads::map_with(0..rows.len(), || Solver::new(model), ask).into_iter().collect()
}

impl MethodAnswers {
    fn new(model: &Model, solver: &mut Solver<'_>, cells: &[&str]) -> Result<Option<Self>, RowError> {
        let factual = model.discretizer().encode_row(cells)?.into_codes();
        let mut microseconds = [0.0; 3];
        let mut answers = Vec::with_capacity(3);
        for (method, time) in Method::ALL.into_iter().zip(&mut microseconds) {
            let started = Instant::now();
            let answer = solver.answer(cells, &Request { method, ..Request::default() })?;
            *time = started.elapsed().as_secs_f64() * 1e6;
            if matches!(answer, Answer::Accepted { .. }) {
                return Ok(None);
            }
            answers.push(answer);
        }
        let answers = answers.try_into().expect("one answer a method");
        Ok(Some(Self { factual, answers, microseconds }))
    }

    /// The best way of a method, by its place in [`Method::ALL`].
    pub fn way(&self, method: usize) -> Option<&Way> {
        self.answers[method].ways().first()
    }

    /// How much likelier the best known row with at most as many changes as the method's way is.
    pub fn gap(&self, method: usize) -> Option<f64> {
        let Answer::Found(proved) = &self.answers[EXACT] else { return None };
        let way = self.way(method)?;
        let best = proved.frontier.iter().rfind(|point| point.changes.len() <= way.changes.len())?;
        // Equals are told apart by rounding alone.
        Some((best.log_likelihood - way.log_likelihood).max(0.0))
    }
}

/// Places among [`Method::ALL`].
const REFINE: usize = 1;
const EXACT: usize = 2;

impl Evaluation {
    /// Measures answers, one for each row that was asked for.
    pub fn new(model: &Model, asked: &[Option<MethodAnswers>]) -> Self {
        let denied: Vec<&MethodAnswers> = asked.iter().flatten().collect();
        let possible = denied.iter().filter(|asked| asked.way(EXACT).is_some());
        let refined = possible.clone().map(|asked| asked.way(REFINE).is_some());
        Self {
            rows: asked.len(),
            denied: denied.len(),
            possible: possible.clone().count(),
            refined: Mean::share(refined, possible.count()),
            methods: (0..3).map(|method| MethodMetrics::new(model, method, &denied)).collect(),
        }
    }
}

impl MethodMetrics {
    fn new(model: &Model, method: usize, denied: &[&MethodAnswers]) -> Self {
        let constraints = model.constraints();
        let of = denied.len();
        let found = || denied.iter().filter_map(|asked| Some((*asked, asked.way(method)?)));
        let share = |fits: &dyn Fn(&MethodAnswers, &Way) -> bool| {
            Mean::share(found().map(|(asked, way)| fits(asked, way)), of)
        };
        let mean = |value: fn(&Way) -> f64| Mean::new(found().map(|(_, way)| value(way)), of);
        let gaps = || denied.iter().filter_map(|asked| asked.gap(method));
        let proofs = found().filter(|(_, way)| way.gap.is_some());
        Self {
            method: Method::ALL[method],
            validity: Mean::share(denied.iter().map(|asked| asked.way(method).is_some()), of),
            actionability: share(&|asked, way| constraints.is_actionable(&asked.factual, &way.row)),
            causality: share(&|asked, way| constraints.keeps_rules(&asked.factual, &way.row)),
            nll: mean(|way| -way.log_likelihood),
            similarity: mean(|way| way.similarity),
            distance: mean(|way| way.distance),
            sparsity: mean(|way| way.changes.len() as f64),
            score: mean(|way| way.probability),
            gap: Mean::new(gaps(), of),
            median_gap: median(gaps().collect()),
            optimal: Mean::share(proofs.map(|(_, way)| way.is_optimal()), of),
            time_us: median(denied.iter().map(|asked| asked.microseconds[method]).collect()),
        }
    }
}

/// The middle value, or the mean of the two in the middle; absent of none.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}
