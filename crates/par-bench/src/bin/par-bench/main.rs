//! The program `par-bench`: the paper's experiments, tuning, and their report.
//!
//! | module       | command                                                             |
//! |--------------|---------------------------------------------------------------------|
//! | [`measure`]  | `par-bench`: experiments on tables with folds, figures and a report |
//! | [`growth`]   | `par-bench growth`: fits and answers at any width and length        |
//! | [`calibrate`] | `par-bench calibrate`: weights that the published figures fit      |
//! | [`tune`]     | `par-bench tune`: settings for better answers                       |
//! | [`report`]   | `par-bench report`: tables and charts from existing figures         |
//! | [`export`]   | `par-bench export`: the questions of every fold, for other programs |

mod calibrate;
mod cases;
mod export;
mod folded;
mod growth;
mod measure;
mod report;
mod tune;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use par_terminal::output;

/// The paper's experiments on tables with folds: their figures and a report.
#[derive(Parser)]
#[command(
    name = "par-bench",
    version,
    after_help = measure::EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct Cli {
    #[command(flatten)]
    measure: measure::MeasureOptions,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Measure what fits and answers cost at any number of columns and rows, on random tables and on others
    Growth(growth::GrowthOptions),
    /// Search for settings of the generator that give better answers, over the folds of a table
    Tune(tune::TuneOptions),
    /// Search for the weights of the paper's loss with which its published figures come out
    Calibrate(calibrate::CalibrateOptions),
    /// Make the report of experiments again from their figures, or print its tables
    Report(report::ReportOptions),
    /// Write the questions of every fold for another program: its model, training rows and denied people
    Export(export::ExportOptions),
}

fn run(cli: Cli) -> Result<ExitCode> {
    output::clean_up_when_interrupted()?;
    match cli.command {
        None => cli.measure.run()?,
        Some(Command::Growth(growth)) => growth.run()?,
        Some(Command::Tune(tune)) => tune.run()?,
        Some(Command::Calibrate(calibrate)) => calibrate.run()?,
        Some(Command::Report(report)) => report.run()?,
        Some(Command::Export(export)) => export.run()?,
    }
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    par_terminal::end(run(Cli::parse()))
}
