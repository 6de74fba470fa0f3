//! The experiments: each takes a fold, with its model, and adds what it measures to a sheet.
//!
//! | module         | what it asks                                                        | the paper's                 |
//! |----------------|---------------------------------------------------------------------|-----------------------------|
//! | [`answers`]    | how good our answers are, and others'; what local search and proofs add | table 1, Q1, Q4         |
//! | [`ablations`]  | what every term of the loss is for                                  | Q2, table 2, appendix       |
//! | [`encoder`]    | what the neighbourhood is for                                       | Q3, "Logit Change Analysis" |
//! | [`robustness`] | whether answers hold when the classifier is trained again           | appendix                    |
//! | [`quality`]    | how good bins, classifier and circuits are                          | appendix                    |
//! | [`density`]    | whether circuits are better learned from labels or from decisions   | left open                   |
//! | [`fairness`]   | whether recourse costs some groups more than others                 | –                           |
//! | [`growth`]     | what answers cost, and how that grows                               | runtime of table 1          |

pub mod ablations;
pub mod answers;
pub mod density;
pub mod encoder;
pub mod fairness;
pub mod growth;
pub mod quality;
pub mod robustness;

use crate::case::{Case, Fold};
use crate::error::Error;
use crate::figures::Sheet;

/// One of the experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Experiment {
    /// How good answers are.
    Answers,
    /// What every term of the loss is for.
    Ablations,
    /// What the neighbourhood is for.
    Encoder,
    /// Whether answers hold when the classifier is trained again.
    Robustness,
    /// How good bins, classifier and circuits are.
    Quality,
    /// Whether circuits are better learned from labels or from decisions.
    Density,
    /// Whether recourse costs some groups more than others.
    Fairness,
    /// What answers cost, and how that grows.
    Growth,
}

impl Experiment {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Answers,
        Self::Ablations,
        Self::Encoder,
        Self::Robustness,
        Self::Quality,
        Self::Density,
        Self::Fairness,
        Self::Growth,
    ];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::Ablations => "ablations",
            Self::Encoder => "encoder",
            Self::Robustness => "robustness",
            Self::Quality => "quality",
            Self::Density => "density",
            Self::Fairness => "fairness",
            Self::Growth => "growth",
        }
    }

    /// What it asks, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Answers => "how good answers are: table 1",
            Self::Ablations => "what every term of the loss is for",
            Self::Encoder => "what the neighbourhood is for",
            Self::Robustness => "whether answers hold when the classifier is trained again",
            Self::Quality => "how good bins, classifier and circuits are",
            Self::Density => "whether circuits are better learned from labels or from decisions",
            Self::Fairness => "whether recourse costs some groups more than others",
            Self::Growth => "what answers cost, and how that grows, also on synthetic tables",
        }
    }

    /// About how long it takes, beside the others, so that what is left can be told.
    pub(crate) fn weight(self) -> u64 {
        match self {
            Self::Answers => 4,
            Self::Ablations => 15,
            Self::Encoder => 3,
            Self::Robustness => 6,
            Self::Quality | Self::Fairness => 2,
            Self::Density => 10,
            Self::Growth => 60,
        }
    }

    /// Whether it measures time, and so has to have the machine to itself: once a case, after all folds.
    pub fn is_alone(self) -> bool {
        self == Self::Growth
    }

    /// Measures a fold. An experiment that has to be alone has nothing to say of a fold.
    pub(crate) fn measure(self, fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
        match self {
            Self::Answers => answers::measure(fold, sheet),
            Self::Ablations => ablations::measure(fold, sheet),
            Self::Encoder => encoder::measure(fold, sheet),
            Self::Robustness => robustness::measure(fold, sheet),
            Self::Quality => quality::measure(fold, sheet),
            Self::Density => density::measure(fold, sheet),
            Self::Fairness => fairness::measure(fold, sheet),
            Self::Growth => Ok(()),
        }
    }

    /// Measures a case as a whole, alone on the machine.
    pub(crate) fn measure_alone(self, case: &Case, sheet: &mut Sheet) -> Result<(), Error> {
        match self {
            Self::Growth => growth::measure(case, sheet),
            _ => Ok(()),
        }
    }
}
