//! LiCE: the least distance at which a row is accepted and likely, as a mixed-integer program.
//!
//! # Paper
//! Nemecek, Pevny, Marecek, "Generating likely counterfactuals using sum-product networks", 2025: `LiCE_median`
//! bounds the likelihood, `LiCE_optimize` weighs it against the distance; a sum of a circuit counts as its largest
//! term. Here the circuit, the classifier and the choices of a person are ours, so that immutable features,
//! directions, rules between directions and the most changes are kept; distances are in median absolute deviations,
//! one for a category. The largest term is chosen by a flow through the circuit, which needs no binary variables,
//! where the paper has one for each child.

mod model;

use std::path::Path;

use par_answer::evaluate::median;
use par_data::{Candidates, Choice, OwnRow, Reach, Wishes};

use self::model::LiceModel;
use super::known::Known;
use super::program::MipSolver;
use crate::case::Factual;
use crate::method::Method;

/// The most seconds for a person.
pub const SECONDS: u64 = 60;
/// What a nat is worth in distance, for `LiCE_optimize`; LiCE's setting.
const NAT: f64 = 0.1;
/// Likelihoods of at most so many rows have the median.
const ROWS: usize = 5000;

/// What LiCE asks of the likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Likelihood {
    /// At least the median of favourable training rows.
    Median,
    /// The higher the better.
    Optimize,
}

/// What the program does about the log-likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plausible {
    AtLeast(f64),
    Worth(f64),
}

/// LiCE for the people of a fold.
pub struct Lice<'k> {
    known: &'k Known<'k>,
    likelihood: Likelihood,
    plausible: Plausible,
    solver: MipSolver,
}

impl<'k> Lice<'k> {
    /// LiCE by a solver.
    pub fn new(known: &'k Known<'_>, likelihood: Likelihood, program: &Path) -> Self {
        let plausible = match likelihood {
            Likelihood::Median => Plausible::AtLeast(median_log_likelihood(known)),
            Likelihood::Optimize => Plausible::Worth(NAT),
        };
        let solver = MipSolver::new(program, SECONDS);
        Self { known, likelihood, plausible, solver }
    }

    /// The choices of a person, and the program over them.
    fn asked(&self, cells: &[&str]) -> Option<(Candidates<'_>, LiceModel)> {
        let model = self.known.space.model;
        let codes = model.discretizer().encode_row(cells).ok()?.into_codes();
        let own = OwnRow::new(model.discretizer(), cells, codes);
        let candidates = model.constraints().candidates(&own, &Wishes::default(), Reach::Codes);
        let program = LiceModel::new(model, &candidates, self.plausible)?;
        Some((candidates, program))
    }
}

/// The median log-likelihood of favourable training rows.
fn median_log_likelihood(known: &Known<'_>) -> f64 {
    let favourable = (0..known.rows.len()).filter(|&row| known.favourable[row]).collect();
    let mut evaluator = known.space.model.accepted().evaluator();
    let rows = known.sampled(favourable, ROWS).into_iter();
    let log_likelihoods = rows.map(|row| evaluator.log_prob(&known.space.codes(&known.rows[row])));
    median(log_likelihoods.collect()).unwrap_or(f64::NEG_INFINITY)
}

impl Method for Lice<'_> {
    fn name(&self) -> &str {
        match self.likelihood {
            Likelihood::Median => "LiCE (median)",
            Likelihood::Optimize => "LiCE (optimize)",
        }
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        let cells = person.cells();
        let (candidates, model) = self.asked(&cells)?;
        let row: Vec<Choice> = model.choices_of(&model.program.solve(&self.solver)?);
        let discretizer = self.known.space.model.discretizer();
        let text = |(feature, cell): (usize, &&str)| candidates.text(discretizer, &row, feature, cell);
        Some(cells.iter().enumerate().map(text).collect())
    }
}

#[cfg(test)]
mod tests;
