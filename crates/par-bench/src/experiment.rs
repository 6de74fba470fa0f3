//! The experiments: each measures a fold with its model, and adds figures to a sheet.
//!
//! | module         | question                                                            | the paper's                 |
//! |----------------|---------------------------------------------------------------------|-----------------------------|
//! | [`answers`]    | how good answers are, ours and others'; the effect of local search and proofs | table 1, Q1, Q4   |
//! | [`peers`]      | what methods of others answer to the same questions, and how fast   | table 1, baselines          |
//! | [`ablations`]  | the effect of every term of the loss                                | Q2, table 2, appendix       |
//! | [`weights`]    | whether that depends on the weights of the loss                     | left open                   |
//! | [`encoder`]    | the effect of the neighbourhood                                     | Q3, "Logit Change Analysis" |
//! | [`robustness`] | whether answers hold when the classifier is retrained               | appendix                    |
//! | [`quality`]    | how good bins, classifier and circuits are                          | appendix                    |
//! | [`density`]    | whether circuits are better learned from labels or from decisions   | left open                   |
//! | [`settings`]   | what answers are like without the settings that were chosen on the paper's tables | –           |
//! | [`fairness`]   | whether recourse costs some groups more than others                 | –                           |
//! | [`growth`]     | what answers cost, and how that grows                               | runtime of table 1          |

pub mod ablations;
pub mod answers;
mod clock;
pub mod density;
pub mod encoder;
pub mod fairness;
pub mod growth;
pub mod lasting;
pub mod peers;
pub mod quality;
mod retrained;
pub mod robustness;
pub mod settings;
pub mod weights;

use crate::case::{Case, Fold};
use crate::error::Error;
use crate::figures::Sheet;
use growth::GrowthPlan;

/// One of the experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Experiment {
    /// How good answers are.
    Answers,
    /// What methods of others answer to the same questions.
    Peers,
    /// The effect of every term of the loss.
    Ablations,
    /// Whether that effect depends on the weights of the loss.
    Weights,
    /// The effect of the neighbourhood.
    Encoder,
    /// Whether answers hold when the classifier is retrained.
    Robustness,
    /// How good bins, classifier and circuits are.
    Quality,
    /// Whether circuits are better learned from labels or from decisions.
    Density,
    /// What answers are like without the settings that were chosen.
    Settings,
    /// Whether recourse costs some groups more than others.
    Fairness,
    /// What answers cost, and how that grows.
    Growth,
}

/// What an experiment measures at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A fold, while other folds are measured on other threads.
    Fold,
    /// A fold, alone on the machine, because it measures time.
    FoldAlone,
    /// A case, alone on the machine.
    CaseAlone,
}

impl Experiment {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Answers,
        Self::Peers,
        Self::Ablations,
        Self::Weights,
        Self::Encoder,
        Self::Robustness,
        Self::Quality,
        Self::Density,
        Self::Settings,
        Self::Fairness,
        Self::Growth,
    ];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::Peers => "peers",
            Self::Ablations => "ablations",
            Self::Weights => "weights",
            Self::Encoder => "encoder",
            Self::Robustness => "robustness",
            Self::Quality => "quality",
            Self::Density => "density",
            Self::Settings => "settings",
            Self::Fairness => "fairness",
            Self::Growth => "growth",
        }
    }

    /// Its question, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Answers => "how good answers are: table 1",
            Self::Peers => "what methods of others answer to the same questions, and how fast",
            Self::Ablations => "the effect of every term of the loss",
            Self::Weights => "whether that depends on the weights of the loss",
            Self::Encoder => "the effect of the neighbourhood",
            Self::Robustness => "whether answers hold when the classifier is retrained",
            Self::Quality => "how good bins, classifier and circuits are",
            Self::Density => "whether circuits are better learned from labels or from decisions",
            Self::Settings => "what answers are like without the settings that were chosen",
            Self::Fairness => "whether recourse costs some groups more than others",
            Self::Growth => "what answers cost, and how that grows, also on synthetic tables",
        }
    }

    /// Its approximate duration relative to the others, for the progress estimate.
    pub(crate) fn weight(self) -> u64 {
        match self {
            Self::Answers => 4,
            Self::Ablations => 15,
            Self::Weights => 25,
            Self::Encoder => 3,
            Self::Robustness => 6,
            Self::Quality | Self::Fairness => 2,
            Self::Density => 10,
            Self::Settings => 9,
            Self::Peers => 20,
            Self::Growth => 60,
        }
    }

    /// What it measures at a time.
    pub fn scope(self) -> Scope {
        match self {
            Self::Peers => Scope::FoldAlone,
            Self::Growth => Scope::CaseAlone,
            _ => Scope::Fold,
        }
    }

    /// Measures a fold. Experiments on whole cases add no figures of a fold.
    pub(crate) fn measure(self, fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
        match self {
            Self::Answers => answers::measure(fold, sheet),
            Self::Peers => peers::measure(fold, sheet),
            Self::Ablations => ablations::measure(fold, sheet),
            Self::Weights => weights::measure(fold, sheet),
            Self::Encoder => encoder::measure(fold, sheet),
            Self::Robustness => robustness::measure(fold, sheet),
            Self::Quality => quality::measure(fold, sheet),
            Self::Density => density::measure(fold, sheet),
            Self::Settings => settings::measure(fold, sheet),
            Self::Fairness => fairness::measure(fold, sheet),
            Self::Growth => Ok(()),
        }
    }

    /// Measures a case as a whole, alone on the machine.
    pub(crate) fn measure_alone(
        self,
        case: &Case,
        plan: &GrowthPlan,
        sheet: &mut Sheet,
    ) -> Result<(), Error> {
        match self {
            Self::Growth => growth::measure(case, plan, sheet),
            _ => Ok(()),
        }
    }
}
