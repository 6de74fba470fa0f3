//! `par promise`: signed records of what people were told to become, and whether later models keep them.

mod audit;
mod check;
mod issue;
mod keygen;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Subcommand;
use par_promise::{Date, Error};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a key that signs promises, and its public key
    Keygen(keygen::Keygen),
    /// Sign a promise for every way of the denied rows of a table
    Issue(Box<issue::Issue>),
    /// Say whether a record is genuine and in force, and whether a later model keeps it
    Check(check::CheckCommand),
    /// Count the promises of a folder that a candidate model keeps, before it is deployed
    Audit(audit::AuditCommand),
}

impl Command {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self {
            Self::Keygen(keygen) => keygen.run(),
            Self::Issue(issue) => issue.run(),
            Self::Check(check) => check.run(),
            Self::Audit(audit) => audit.run(),
        }
    }
}

/// The given day, or today.
fn date_or_today(date: Option<Date>) -> Result<Date> {
    date.or_else(Date::today).context(
        "the clock of this machine is set to before 1970 or after 9999\nhint: set it, or give `--date`",
    )
}

/// Names the model where it is what does not fit.
fn naming_model<T>(model: &Path, result: Result<T, Error>) -> Result<T> {
    match result {
        Err(error @ Error::Surrogate) => Err(error).with_context(|| model.display().to_string()),
        other => Ok(other?),
    }
}

/// 1 if the answer is no.
fn exit_code(good: bool) -> ExitCode {
    ExitCode::from(u8::from(!good))
}
