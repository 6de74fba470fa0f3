//! `par-bench calibrate`: weights of the paper's loss that fit its published full rows.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use par_bench::calibrate::{Calibrate, CalibrationTrial, MEASURES};
use par_bench::paper;
use par_model::Config;
use par_terminal::output::{self, Destination};

use crate::folded::{self, FoldOptions};

const EXAMPLES: &str = "\
Examples:
  par-bench calibrate adult.csv.gz --schema adult.toml --out adult-presets.toml

The paper does not publish the weights of its loss. This finds some with which the generator's most probable rows have
the published NLL, score, validity, similarity and sparsity of the complete objective before local search. Nothing
that is published of an ablation takes part, and no factual: the people are denied training rows.

The file has the best settings, as `presets` of the paper's tables. Same table, same seed: the same settings are found,
on any number of threads. An interrupted search writes nothing.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CalibrateOptions {
    /// One of the paper's tables: CSV, plain or gzipped, or Parquet if the program is built for it
    table: PathBuf,
    /// What the columns mean
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Where the settings go, as TOML
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    folds: FoldOptions,
    /// How many settings to try, the start among them
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    trials: u64,
    /// How many of the best to write
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
    best: u64,
    /// The most people of a fold
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    people: u64,
    /// Seed of the search; the seed of models is in the settings
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl CalibrateOptions {
    pub(crate) fn run(self) -> Result<()> {
        let out = Destination::new(&self.out, &[Path::new(&self.table), Path::new(&self.schema)])?;
        let case = folded::case(&self.table, &self.schema, &self.folds, Config::default())?;
        let known = paper::benchmarks_of(&case.schema);
        let Some(benchmark) = known.into_iter().find(|known| !known.published.is_empty()) else {
            bail!(
                "{}: is none of the paper's tables, so there is nothing to calibrate to",
                self.table.display()
            );
        };
        let case = case.of_paper(benchmark);
        case.check()?;
        let bar = ProgressBar::new(self.trials).with_style(ProgressStyle::with_template(
            "{bar:30} {percent:>3} %  {elapsed} so far, about {eta} left",
        )?);
        bar.enable_steady_tick(Duration::from_millis(200));
        let (trials, people) = (usize::try_from(self.trials)?, usize::try_from(self.people)?);
        let found = Calibrate { case: &case, trials, people, seed: self.seed }
            .run(&|done| bar.set_position(done as u64));
        bar.finish_and_clear();
        let mut found = found?;
        let text = table(&case.name, &found);
        found.truncate(usize::try_from(self.best)?);
        output::write_file(out, toml(&case.name, &found)?.as_bytes())?;
        output::print(&format!("{text}\nwritten to {}\n", self.out.display()))
    }
}

/// The best trials and the start, with their measures.
fn table(case: &str, trials: &[CalibrationTrial]) -> String {
    let mut text =
        format!("{case}: settings by how far they are from the published full rows, in their deviations\n");
    let shown = trials.iter().take(8).chain(trials.iter().skip(8).filter(|trial| trial.number == 0));
    for trial in shown {
        let start = if trial.number == 0 { " (the start)" } else { "" };
        let settings: Vec<String> = trial.settings().map(|(name, value)| format!("{name} {value}")).collect();
        let measures = MEASURES.iter().zip(trial.row).map(|(name, value)| format!("{name} {value:.2}"));
        let measures: Vec<String> = measures.collect();
        let _ = writeln!(text, "  {:>6.2}{start}  {}", trial.misfit, measures.join(", "));
        let _ = writeln!(text, "          {}", settings.join(", "));
    }
    text
}

fn toml(case: &str, trials: &[CalibrationTrial]) -> Result<String> {
    let mut text = format!(
        "# Found by `par-bench calibrate` on {case}; misfits in published deviations.\npresets = [\n"
    );
    for trial in trials {
        let settings: Vec<String> =
            trial.settings().map(|(name, value)| format!("{name} = {value:?}")).collect();
        writeln!(text, "    {{ {} }}, # {:.2}", settings.join(", "), trial.misfit)?;
    }
    Ok(text + "]\n")
}
