//! Lagrange multipliers: what a unit of a constraint is worth. Any that are not negative give valid bounds.

use crate::problem::Objective;

/// What a node's rows are bounded in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// What they are worth.
    Worth,
    /// log p⁺, given what the person cannot change: whether any can be above the floor.
    Likelihood,
}

/// The weights of both constraints beside the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Multipliers {
    /// Of the log-odds above the target.
    pub(super) score: f64,
    /// Of log p⁺ above the floor; 0 in the unit of likelihood.
    pub(super) floor: f64,
}

/// Factors by which multipliers are tried larger and smaller, one after the other.
const FACTORS: [f64; 2] = [3.0, 1.5];
/// A bound that is tighter by less is not worth another trial.
const WORTHWHILE: f64 = 0.02;
/// The most trials for one node.
const TRIALS: usize = 12;

impl Multipliers {
    /// Where a search starts.
    pub(super) fn start(unit: Unit, objective: &Objective) -> Self {
        // Where likelihood hardly counts, the floor is what limits the row.
        let floor_counts = objective.is_for_effort && objective.floor > f64::NEG_INFINITY;
        match unit {
            Unit::Worth if floor_counts => {
                Self { score: 0.5 * objective.effort, floor: 0.1 * objective.effort }
            }
            Unit::Worth | Unit::Likelihood => Self { score: 1.0, floor: 0.0 },
        }
    }

    /// Multipliers with a lower `bound`, by changing one after the other; `first` is the bound with these.
    pub(super) fn improved(self, first: f64, mut bound: impl FnMut(Self) -> f64) -> Self {
        let (mut best, mut lowest, mut trials) = (self, first, 0);
        for factor in FACTORS {
            for which in 0..if self.floor > 0.0 { 2 } else { 1 } {
                for factor in [factor, 1.0 / factor] {
                    let before = lowest;
                    while trials < TRIALS {
                        trials += 1;
                        let other = best.scaled(which, factor);
                        let its = bound(other);
                        if its > lowest - WORTHWHILE {
                            break;
                        }
                        (best, lowest) = (other, its);
                    }
                    if lowest < before {
                        break;
                    }
                }
            }
        }
        best
    }

    /// One of them larger or smaller: another one for each `turn`.
    pub(super) fn varied(self, turn: usize) -> Self {
        let factor = if turn.is_multiple_of(2) { 1.5 } else { 1.0 / 1.5 };
        self.scaled(if self.floor > 0.0 { turn / 2 % 2 } else { 0 }, factor)
    }

    fn scaled(self, which: usize, factor: f64) -> Self {
        match which {
            0 => Self { score: self.score * factor, ..self },
            _ => Self { floor: self.floor * factor, ..self },
        }
    }
}
