//! `par inputs`: how columns become the inputs of a classifier of your own.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use par_data::Schema;
use par_model::ScoreScale;
use par_model::classifier::inputs::{self, Inputs};
use par_onnx::Graph;

use crate::classifier_file;
use crate::output::{self, Destination};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Draft how columns become the inputs of a classifier, for you to correct
    Init(InputsInit),
}

#[derive(Args)]
#[command(after_help = "Example:\n  par inputs init model.onnx --schema people.toml --out inputs.toml")]
pub(crate) struct InputsInit {
    /// Classifier, as an ONNX file
    model: PathBuf,
    /// What the columns mean
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Write the draft here and not to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "out")]
    force: bool,
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Init(init) => init.run(),
        }
    }
}

impl InputsInit {
    fn run(self) -> Result<()> {
        let read_from = [self.model.as_path(), &self.schema];
        let destination = self.out.as_ref().map(|out| Destination::new(out, &read_from)).transpose()?;
        if let Some(out) = self.out.as_ref().filter(|out| out.exists() && !self.force) {
            bail!("{}: exists already\nhint: `--force` overwrites it", out.display());
        }
        let schema = Schema::load(&self.schema)?;
        let graph = classifier_file::read_graph(&self.model)?;
        let draft = inputs::draft(&schema, graph.inputs(), graph.outputs());
        match destination {
            Some(destination) => output::write_file(destination, draft.as_bytes())?,
            None => output::print_document(&draft)?,
        }
        if let Some(problem) = unusable(&graph, &draft, &schema) {
            writeln!(io::stderr(), "warning: {}: `par fit` will refuse it: {problem}", self.model.display())?;
        }
        Ok(())
    }
}

/// Why `par fit` would refuse the graph with any inputs of these widths.
fn unusable(graph: &Graph, draft: &str, schema: &Schema) -> Option<par_onnx::Error> {
    let goal = schema.label().and_then(|label| label.goal.as_ref());
    let scale = goal.map_or(ScoreScale::Probability, |goal| ScoreScale::number(0.0, 1.0, goal.side));
    let widths = graph.inputs().iter().map(|input| input.width).collect::<Option<Vec<usize>>>()?;
    graph.classifier(&widths, &Inputs::parse(draft).ok()?.choice(scale).ok()?).err()
}
