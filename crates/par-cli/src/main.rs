//! The binary `par`: arguments, files, progress and exit codes; the work is done in the libraries.
//!
//! | step | module       | command                                      |
//! |------|--------------|----------------------------------------------|
//! | 1    | [`schema`]   | `par schema init`, `par schema check`        |
//! | 2    | [`circuit`]  | `par circuit fit`, `score`, `sample`, `show` |
//! | 3    | [`inputs`]   | `par inputs init`, for your own classifier   |
//! | 4    | [`fit`]      | `par fit`, from a table to a model           |
//! | 5    | [`refit`]    | `par refit`, the model for other constraints |
//! | 6    | [`recourse`] | `par recourse`, answers for a table          |
//! | 7    | [`explain`]  | `par explain`, the answer for one person     |
//! | 8    | [`evaluate`] | `par evaluate`, how good the answers are     |
//! | 9    | [`audit`]    | `par audit`, where getting worse is rewarded |
//! | 10   | [`promise`]  | `par promise`: sign, check and audit ways    |
//! | 11   | [`diff`]     | `par diff`, what a new model changes         |
//! | 12   | [`inspect`]  | `par inspect`, what is in a model            |
//! | 13   | [`demo`]     | `par demo`, all of it on an embedded table   |
//! | 14   | [`serve`]    | `par serve`, answers over HTTP, and the page |

mod audit;
mod bins;
mod categories;
mod circuit;
mod circuit_file;
mod classifier_file;
mod demo;
mod diff;
mod domain_text;
mod evaluate;
mod explain;
mod fit;
mod fitting;
mod inputs;
mod inspect;
mod learning;
mod model_file;
mod person;
mod progress;
mod promise;
mod recourse;
mod refit;
mod rows;
mod schema;
mod schema_text;
mod serve;
mod variables;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Parser, Subcommand};
use par_terminal::{aligned, config_file, output};

const EXAMPLES: &str = "\
Examples:
  par demo                                        see it work, without a table of your own
  par schema init people.csv --out people.toml    draft a schema, then correct it (`--ask` asks)
  par schema check people.csv people.toml         see what it makes of the table
  par fit people.csv --schema people.toml --out people.par
  par recourse people.par denied.csv --out ways.csv
  par explain people.par denied.csv --id 17       one person's answer, in words
  par evaluate people.par test.csv                how good the answers are
  par audit people.par people.csv                 where the classifier rewards harm
  par promise issue people.par denied.csv --key lender.key --out promises --valid '12 months'
  par diff people.par next.par people.csv         whose way a new model would break
  par serve people.par                            the same over HTTP, and a page

Exit status: 0 done; 1 done, but rows are left without recourse (`par recourse --strict`), too few ways are kept
(`par diff --least`), or promises are not genuine, in force and kept (`par promise check`, `audit`); 2 error.";

/// Plausible algorithmic recourse: what to change so that a classifier accepts, plausibly.
#[derive(Parser)]
#[command(name = "par", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Describe a table: its features, its label, and what a person may change
    #[command(subcommand)]
    Schema(schema::Command),
    /// Learn the distribution of a table as a probabilistic circuit; score and draw rows
    #[command(subcommand)]
    Circuit(circuit::Command),
    /// Say how columns become the inputs of a classifier of your own
    #[command(subcommand)]
    Inputs(inputs::Command),
    /// Learn a classifier and all that recourse needs from a table, and write it as one model
    Fit(fit::Fit),
    /// Make a model for other immutable features, without any data
    Refit(refit::Refit),
    /// Tell every denied row of a table what to change
    Recourse(recourse::Recourse),
    /// Tell one person what to change, in words
    Explain(explain::Explain),
    /// Measure how good the answers of a model are
    Evaluate(evaluate::Evaluate),
    /// Find where a classifier rewards people for getting worse
    Audit(audit::AuditCommand),
    /// Sign what people were told to become, and check whether a later model keeps it
    #[command(subcommand)]
    Promise(promise::Command),
    /// Find whose decision a new model changes, and whose way it breaks
    Diff(diff::DiffCommand),
    /// Print what is in a model, and how it was made
    Inspect(inspect::Inspect),
    /// Learn from the embedded German Credit table, tell its denied rows what to change, and write a report
    Demo(demo::Demo),
    /// Answer over HTTP, and serve a page on which people can explore their own recourse
    Serve(serve::Serve),
    #[command(hide = true, disable_help_flag = true)]
    Bench(Moved),
    #[command(hide = true, disable_help_flag = true)]
    Tune(Moved),
    #[command(hide = true, disable_help_flag = true)]
    Report(Moved),
}

/// Arguments of a command that has moved to `par-bench`.
#[derive(Args)]
struct Moved {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

impl Command {
    fn run(self) -> Result<ExitCode> {
        // The service handles signals itself: it answers requests under way before it ends.
        if !matches!(self, Self::Serve(_)) {
            output::clean_up_when_interrupted()?;
        }
        match self {
            Self::Schema(command) => command.run()?,
            Self::Circuit(command) => command.run()?,
            Self::Inputs(command) => command.run()?,
            Self::Fit(fit) => fit.run()?,
            Self::Refit(refit) => refit.run()?,
            Self::Recourse(recourse) => return recourse.run(),
            Self::Explain(explain) => explain.run()?,
            Self::Evaluate(evaluate) => evaluate.run()?,
            Self::Audit(audit) => audit.run()?,
            Self::Promise(promise) => return promise.run(),
            Self::Diff(diff) => return diff.run(),
            Self::Inspect(inspect) => inspect.run()?,
            Self::Demo(demo) => demo.run()?,
            Self::Serve(serve) => serve.run()?,
            Self::Bench(_) => moved("bench", "")?,
            Self::Tune(_) => moved("tune", "tune ")?,
            Self::Report(_) => moved("report", "report ")?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Says where a command has moved; removed in the next version.
fn moved(command: &str, subcommand: &str) -> Result<()> {
    bail!("`par {command}` is now a program of its own: cargo run --release -p par-bench -- {subcommand}…")
}

fn main() -> ExitCode {
    par_terminal::end(Cli::parse().command.run())
}
