//! `par schema init`: a first schema for a table.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use par_data::{Table, TableOptions, schema};

use crate::output::{self, Destination};

#[derive(Args)]
#[command(after_help = "Example:\n  par schema init people.csv --out people.toml")]
pub(crate) struct SchemaInit {
    /// CSV, plain or gzipped, or Parquet if the program is built for it
    table: PathBuf,
    /// Write the draft here and not to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "out")]
    force: bool,
}

impl SchemaInit {
    pub(crate) fn run(self) -> Result<()> {
        let destination = self.out.as_ref().map(|out| Destination::new(out, &[&self.table])).transpose()?;
        if let Some(out) = self.out.as_ref().filter(|out| out.exists() && !self.force) {
            bail!("{}: exists already\nhint: `--force` overwrites it", out.display());
        }
        let draft = schema::draft(Table::open(&self.table, &TableOptions::default())?)?;
        match destination {
            Some(destination) => output::write_file(destination, draft.as_bytes()),
            None => output::print(&draft),
        }
    }
}
