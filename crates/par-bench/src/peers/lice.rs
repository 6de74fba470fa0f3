//! LiCE: the least distance at which a row is accepted and likely, as a mixed-integer program.
//!
//! # Paper
//! Nemecek, Pevny, Marecek, "Generating likely counterfactuals using sum-product networks", 2025: `LiCE_median`
//! bounds the likelihood, `LiCE_optimize` weighs it against the distance; a sum of a circuit counts as its largest
//! term. Here the circuit, the classifier and the choices of a person are ours, so that immutable features,
//! directions, steps, transitions, bounds and rules between directions are kept, but no other relations and no
//! policies. The most changes of our answers are no limit, as LiCE has none. Distances are in median absolute deviations,
//! one for a category. The largest term is chosen by a flow through the circuit, which needs no binary variables, where
//! the paper has one for each child; the median is of largest terms too, since the program sees nothing else.

mod model;

use std::path::Path;

use par_answer::evaluate::median;
use par_circuit::{Circuit, Node};
use par_data::schema::Mutability;
use par_data::{Candidates, Choice, Code, OwnRow, Reach, UNKNOWN, Wishes};
use par_model::classifier::NeuralClassifier;

use self::model::LiceModel;
use super::known::Known;
use super::program::{MipSolver, Solved};
use crate::case::Factual;
use crate::error::Error;

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

impl Likelihood {
    /// The name of LiCE in figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Median => "LiCE (median)",
            Self::Optimize => "LiCE (optimize)",
        }
    }
}

/// What LiCE says to one person.
#[derive(Clone, Debug, PartialEq)]
pub enum LiceAnswer {
    /// The row that the person could become, in schema order.
    Found(Vec<String>),
    /// There is no row that keeps what LiCE asks for.
    Infeasible,
    /// None was found in [`SECONDS`].
    OutOfTime,
}

/// What the program does about the log-likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plausible {
    AtLeast(f64),
    Worth(f64),
}

/// LiCE for the people of a fold. It is no [`Method`](crate::method::Method): it runs another program, which can fail.
pub struct Lice<'k> {
    known: &'k Known<'k>,
    network: &'k NeuralClassifier,
    plausible: Plausible,
    solver: MipSolver,
}

impl<'k> Lice<'k> {
    /// LiCE by a solver; `None` if the classifier is no network, or the schema has clocks or consequences, which move
    /// with others in ways that its program does not know.
    pub fn new(known: &'k Known<'_>, likelihood: Likelihood, program: &Path) -> Option<Self> {
        let model = known.space.model;
        let moves_by_itself =
            |change: Mutability| matches!(change, Mutability::WithTime | Mutability::Follows);
        if model.schema().features().iter().any(|feature| moves_by_itself(feature.change)) {
            return None;
        }
        let network = model.classifier().network()?;
        let plausible = match likelihood {
            Likelihood::Median => Plausible::AtLeast(median_largest(known)),
            Likelihood::Optimize => Plausible::Worth(NAT),
        };
        let solver = MipSolver::new(program, SECONDS);
        Some(Self { known, network, plausible, solver })
    }

    /// The answer to a person.
    ///
    /// # Errors
    /// When the solver fails.
    ///
    /// # Panics
    /// When the person is not of the fold: the model cannot read their row.
    pub fn answer(&self, person: &Factual) -> Result<LiceAnswer, Error> {
        let cells = person.cells();
        let (candidates, model) = self.asked(&cells);
        let values = match model.program.solve(&self.solver)? {
            Solved::Found(values) => values,
            Solved::Infeasible => return Ok(LiceAnswer::Infeasible),
            Solved::OutOfTime => return Ok(LiceAnswer::OutOfTime),
        };
        let row: Vec<Choice> = model.choices_of(&values);
        let discretizer = self.known.space.model.discretizer();
        let text = |(feature, cell): (usize, &&str)| candidates.text(discretizer, &row, feature, cell);
        Ok(LiceAnswer::Found(cells.iter().enumerate().map(text).collect()))
    }

    /// The choices of a person, and the program over them.
    fn asked(&self, cells: &[&str]) -> (Candidates<'_>, LiceModel) {
        let model = self.known.space.model;
        let codes = model.discretizer().encode_row(cells).expect("a row of the fold").into_codes();
        let own = OwnRow::new(model.discretizer(), cells, codes);
        let candidates = model.constraints().candidates(&own, &Wishes::default(), Reach::Codes);
        let program = LiceModel::new(model, self.network, &candidates, self.plausible);
        (candidates, program)
    }
}

/// The median over favourable training rows of the circuit's largest term, as a log-probability.
fn median_largest(known: &Known<'_>) -> f64 {
    let favourable = (0..known.rows.len()).filter(|&row| known.favourable[row]).collect();
    let circuit = known.space.model.accepted();
    let rows = known.sampled(favourable, ROWS).into_iter();
    let terms = rows.filter_map(|row| largest(circuit, &known.space.codes(&known.rows[row])).pop());
    median(terms.collect()).unwrap_or(f64::NEG_INFINITY)
}

/// For each node of a circuit, the root last, the log-probability of its largest term.
fn largest(circuit: &Circuit, row: &[Code]) -> Vec<f64> {
    let mut best: Vec<f64> = Vec::new();
    for node in circuit.nodes() {
        best.push(match node {
            Node::Leaf { variable, .. } if row[*variable] == UNKNOWN => 0.0,
            Node::Leaf { variable, probabilities } => probabilities[usize::from(row[*variable])].ln(),
            Node::Product { children } => children.iter().map(|child| best[child.index()]).sum(),
            Node::Sum { children, weights } => {
                let terms =
                    children.iter().zip(weights).map(|(child, weight)| weight.ln() + best[child.index()]);
                terms.fold(f64::NEG_INFINITY, f64::max)
            }
        });
    }
    best
}

#[cfg(test)]
mod tests;
