//! How good answers are: the paper's measures, each with the number of people it is a mean over.

use std::time::Instant;

use par_circuit::Code;
use par_data::CellError;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Method, Request, Way};
use crate::bundle::Bundle;
use crate::solver::Solver;

/// A mean over some of those it could have been over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean; absent over none.
    pub mean: Option<f64>,
    /// Over how many.
    pub over: usize,
    /// Of how many.
    pub of: usize,
}

impl Mean {
    fn new(values: impl Iterator<Item = f64>, of: usize) -> Self {
        let (sum, over) = values.fold((0.0, 0_usize), |(sum, over), value| (sum + value, over + 1));
        Self { mean: (over > 0).then(|| sum / over as f64), over, of }
    }
}

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
    /// How much likelier, in nats, the proved best with as many changes is.
    pub gap: Mean,
    /// The median of that.
    pub median_gap: Option<f64>,
    /// The share of recourses that are proved to be the best with as many changes.
    pub optimal: Mean,
    /// Microseconds an answer, the median.
    pub time_us: Option<f64>,
}

/// How a bundle answers the people of a table.
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

/// One method's answer to one person.
#[derive(Clone, Debug)]
struct Outcome {
    way: Option<Way>,
    actionable: bool,
    causal: bool,
    /// How much likelier the proved best with as many changes is.
    gap: Option<f64>,
    microseconds: f64,
}

/// Answers all rows by all methods and measures the answers. Each row is its cells, in schema order.
///
/// # Errors
/// At the first row whose cells do not fit, with its position.
pub fn evaluate(bundle: &Bundle, rows: &[Vec<&str>]) -> Result<Evaluation, (usize, CellError)> {
    let people: Vec<Option<[Outcome; 3]>> = rows
        .par_iter()
        .enumerate()
        .map_init(
            || bundle.solver(),
            |solver, (position, cells)| person(bundle, solver, cells).map_err(|error| (position, error)),
        )
        .collect::<Result<_, _>>()?;
    let denied: Vec<&[Outcome; 3]> = people.iter().flatten().collect();
    let possible = denied.iter().filter(|outcomes| outcomes[2].way.is_some());
    let refined = possible.clone().map(|outcomes| f64::from(u8::from(outcomes[1].way.is_some())));
    let metrics = |(place, &method): (usize, &Method)| {
        let outcomes: Vec<&Outcome> = denied.iter().map(|outcomes| &outcomes[place]).collect();
        MethodMetrics::new(method, &outcomes)
    };
    Ok(Evaluation {
        rows: rows.len(),
        denied: denied.len(),
        possible: possible.clone().count(),
        refined: Mean::new(refined, possible.count()),
        methods: Method::ALL.iter().enumerate().map(metrics).collect(),
    })
}

/// The answers of all methods to one person; none when they are accepted as they are.
fn person(
    bundle: &Bundle,
    solver: &mut Solver<'_>,
    cells: &[&str],
) -> Result<Option<[Outcome; 3]>, CellError> {
    let factual = bundle.discretizer().encode_row(cells)?;
    let mut outcomes = Vec::new();
    let mut proved = Vec::new();
    for method in Method::ALL {
        let started = Instant::now();
        let answer = solver.answer(cells, &Request { method, ..Request::default() })?;
        let microseconds = started.elapsed().as_secs_f64() * 1e6;
        if matches!(answer, Answer::Accepted { .. }) {
            return Ok(None);
        }
        if let (Method::Exact, Answer::Found(found)) = (method, &answer) {
            proved.clone_from(&found.frontier);
        }
        outcomes.push(Outcome::new(bundle, factual.codes(), answer.ways().first(), microseconds));
    }
    for outcome in &mut outcomes {
        let Some(way) = &outcome.way else { continue };
        let best = proved.iter().rfind(|point| point.changes <= way.changes.len());
        // The same row may have been scored by another path: no less likely than the best is no gap.
        outcome.gap = best.map(|best| (best.log_likelihood - way.log_likelihood).max(0.0));
    }
    Ok(outcomes.try_into().ok())
}

impl Outcome {
    fn new(bundle: &Bundle, factual: &[Code], way: Option<&Way>, microseconds: f64) -> Self {
        let constraints = bundle.constraints();
        Self {
            actionable: way.is_some_and(|way| constraints.is_actionable(factual, &way.row)),
            causal: way.is_some_and(|way| constraints.keeps_rules(factual, &way.row)),
            way: way.cloned(),
            gap: None,
            microseconds,
        }
    }
}

impl MethodMetrics {
    fn new(method: Method, outcomes: &[&Outcome]) -> Self {
        let of = outcomes.len();
        let share = |fits: fn(&Outcome) -> bool| {
            let found = outcomes.iter().filter(|outcome| outcome.way.is_some());
            Mean::new(found.map(|outcome| f64::from(u8::from(fits(outcome)))), of)
        };
        let mean = |value: fn(&Way) -> f64| {
            Mean::new(outcomes.iter().filter_map(|outcome| outcome.way.as_ref()).map(value), of)
        };
        let gaps = || outcomes.iter().filter_map(|outcome| outcome.gap);
        let found = outcomes.iter().map(|outcome| f64::from(u8::from(outcome.way.is_some())));
        Self {
            method,
            validity: Mean::new(found, of),
            actionability: share(|outcome| outcome.actionable),
            causality: share(|outcome| outcome.causal),
            nll: mean(|way| -way.log_likelihood),
            similarity: mean(|way| way.similarity),
            distance: mean(|way| way.distance),
            sparsity: mean(|way| way.changes.len() as f64),
            score: mean(|way| way.probability),
            gap: Mean::new(gaps(), of),
            median_gap: median(gaps().collect()),
            optimal: share(|outcome| outcome.way.as_ref().is_some_and(Way::is_optimal)),
            time_us: median(outcomes.iter().map(|outcome| outcome.microseconds).collect()),
        }
    }
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}
