//! `par schema upgrade`: from schema 1 to schema 2.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use par_data::{Schema, schema};

use crate::output::{self, Destination};

#[derive(Args)]
#[command(after_help = "Example:\n  par schema upgrade people.toml --out people-2.toml")]
pub(crate) struct Upgrade {
    /// A schema of version 1
    schema: PathBuf,
    /// Write the upgraded schema here and not to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "out")]
    force: bool,
}

impl Upgrade {
    pub(crate) fn run(self) -> Result<()> {
        let destination = self.out.as_ref().map(|out| Destination::new(out, &[&self.schema])).transpose()?;
        if let Some(out) = self.out.as_ref().filter(|out| out.exists() && !self.force) {
            bail!("{}: exists already\nhint: `--force` overwrites it", out.display());
        }
        let upgraded =
            schema::upgrade(Schema::load(&self.schema)?.source(), &self.schema.display().to_string())?;
        match destination {
            Some(destination) => output::write_file(destination, upgraded.as_bytes()),
            None => output::print_document(&upgraded),
        }
    }
}
