//! `par refit`: the same model with other features immutable besides the schema's, or with further versions of its
//! classifier, without a table.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{ArgGroup, Args};
use par_circuit::Stop;
use par_fit::refit;
use par_model::Model;
use par_model::classifier::DeployedClassifier;

use crate::classifier_file::{self, VersionFile};
use crate::fit::FitSummary;
use crate::fitting::FitSpinner;
use crate::model_file;
use crate::output::{self, Destination};

const EXAMPLES: &str = "\
Examples:
  par refit people.par --immutable Age --immutable Sex --out fixed.par
  par refit people.par --nothing-immutable --out free.par
  par refit people.par --also next.onnx --out lasting.par

Classifier and circuits stay as they are; for other immutable features the pool is drawn and the generator trained
again, from the circuits alone. No table is needed.";

#[derive(Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("constraints").required(true).multiple(true).args(["immutable", "nothing_immutable", "also"]))]
pub(crate) struct Refit {
    /// Made by `par fit`
    model: PathBuf,
    /// Further immutable feature, besides those of the schema; once for each
    #[arg(long, value_name = "FEATURE")]
    immutable: Vec<String>,
    /// Make no feature immutable beyond those of the schema
    #[arg(long, conflicts_with = "immutable")]
    nothing_immutable: bool,
    /// Add another version of the classifier, an ONNX file, for `--robust`; once for each. Its inputs are those of the
    /// model's own file, and its threshold the model's, unless told
    #[arg(long, value_name = "FILE[,inputs=FILE][,threshold=SCORE]")]
    also: Vec<VersionFile>,
    /// Where the new model goes
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl Refit {
    pub(crate) fn run(self) -> Result<()> {
        let versions = self.also.iter().flat_map(VersionFile::files);
        let read: Vec<&Path> = [self.model.as_path()].into_iter().chain(versions).collect();
        let destination = Destination::new(&self.out, &read)?;
        let start = Instant::now();
        let model = self.with_versions(model_file::read(&self.model)?)?;
        let what = self.out.display().to_string();
        let refitted = match self.nothing_immutable || !self.immutable.is_empty() {
            true => self.refit(&model, &what)?,
            false => model,
        };
        let bytes = refitted.to_bytes();
        output::write_file(destination, &bytes)?;
        let summary = FitSummary::new(&refitted, what, bytes.len(), start.elapsed().as_secs_f64());
        if self.json { output::print_json(&summary) } else { output::print(&summary.text()) }
    }

    /// The model with the versions that the options add.
    fn with_versions(&self, mut model: Model) -> Result<Model> {
        for version in &self.also {
            let inputs = version.inputs(|| match model.classifier() {
                DeployedClassifier::External(external) => Some(external.inputs().clone()),
                _ => None,
            })?;
            let file = classifier_file::read(&version.file)?;
            model = model
                .with_version(version.name(), file, inputs, version.threshold)
                .with_context(|| version.file.display().to_string())?;
        }
        Ok(model)
    }

    fn refit(&self, model: &Model, what: &str) -> Result<Model> {
        let immutable: Vec<&str> = self.immutable.iter().map(String::as_str).collect();
        let spinner = FitSpinner::new(what)?;
        let refitted = refit(model, &immutable, &mut |stage| spinner.show(stage), Stop::never());
        spinner.finish();
        refitted.with_context(|| self.model.display().to_string())
    }
}
