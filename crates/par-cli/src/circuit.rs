//! `par circuit`: learn a distribution, score and draw rows.

mod fit;
mod sample;
mod score;
mod show;

use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Learn a circuit from a table
    Fit(fit::CircuitFit),
    /// Say how likely the rows of a table are
    Score(score::Score),
    /// Draw new rows
    Sample(sample::Sample),
    /// Say what is inside a circuit file
    Show(show::Show),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Fit(fit) => fit.run(),
            Self::Score(score) => score.run(),
            Self::Sample(sample) => sample.run(),
            Self::Show(show) => show.run(),
        }
    }
}
