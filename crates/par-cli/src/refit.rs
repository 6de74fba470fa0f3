//! `par refit`: the same model with other features immutable besides the schema's, without a table.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{ArgGroup, Args};
use par_circuit::Stop;
use par_fit::refit;

use crate::fit::FitSummary;
use crate::fitting::FitSpinner;
use crate::model_file;
use crate::output::{self, Destination};

const EXAMPLES: &str = "\
Examples:
  par refit people.par --immutable Age --immutable Sex --out fixed.par
  par refit people.par --nothing-immutable --out free.par

Classifier and circuits stay as they are; the pool is drawn and the generator trained again, from the circuits
alone. No table is needed.";

#[derive(Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("constraints").required(true).args(["immutable", "nothing_immutable"]))]
pub(crate) struct Refit {
    /// Made by `par fit`
    model: PathBuf,
    /// Further immutable feature, besides those of the schema; once for each
    #[arg(long, value_name = "FEATURE")]
    immutable: Vec<String>,
    /// Make no feature immutable beyond those of the schema
    #[arg(long)]
    nothing_immutable: bool,
    /// Where the new model goes
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl Refit {
    pub(crate) fn run(self) -> Result<()> {
        let destination = Destination::new(&self.out, &[&self.model])?;
        let start = Instant::now();
        let model = model_file::read(&self.model)?;
        let immutable: Vec<&str> = self.immutable.iter().map(String::as_str).collect();
        let what = self.out.display().to_string();
        let spinner = FitSpinner::new(&what)?;
        let refitted = refit(&model, &immutable, &mut |stage| spinner.show(stage), Stop::never());
        spinner.finish();
        let refitted = refitted.with_context(|| self.model.display().to_string())?;
        let bytes = refitted.to_bytes();
        output::write_file(destination, &bytes)?;
        let summary = FitSummary::new(&refitted, what, bytes.len(), start.elapsed().as_secs_f64());
        if self.json { output::print_json(&summary) } else { output::print(&summary.text()) }
    }
}
