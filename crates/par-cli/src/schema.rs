//! `par schema`: describe a table.

mod ask;
mod check;
mod init;
mod report;
mod upgrade;

use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Draft a schema from a table, for you to correct
    Init(init::SchemaInit),
    /// Check a table against a schema: codes, coverage, and what is worth a look
    Check(check::Check),
    /// Turn a schema of version 1 into version 2; comments and layout stay
    Upgrade(upgrade::Upgrade),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Init(init) => init.run(),
            Self::Check(check) => check.run(),
            Self::Upgrade(upgrade) => upgrade.run(),
        }
    }
}
