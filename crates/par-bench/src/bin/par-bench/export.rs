//! `par-bench export`: the questions of every fold, for programs that answer them in their own way.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use par_bench::{Case, Fold};
use par_terminal::output;

use crate::cases::CaseOptions;

const EXAMPLES: &str = "\
Examples:
  par-bench export --table people.csv --schema people.toml --folds fold --out questions
  par-bench export --suite tables --out questions
  par-bench --suite tables --peers answers-of-others --only peers

Writes for every fold of a table, in the folder of `--out`:
  CASE/FOLD/model.par        the model of the rows outside the fold, whose classifier decides
  CASE/FOLD/training.csv     these rows: features, label, and `accepted`, the classifier's decision
  CASE/FOLD/people.csv       the fold's denied factuals: id and features
  CASE/FOLD/questions.json   the threshold, and the kind, values and change of every feature

Answers come back as a table with the columns method, fold, id, k, time_s and the features: see `--peers`.
A column gets the prefix `par_` if a feature or the label has its name; questions.json has the names.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportOptions {
    #[command(flatten)]
    cases: CaseOptions,
    /// Folder for the questions
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

impl ExportOptions {
    pub(crate) fn run(self) -> Result<()> {
        let mut cases = Vec::new();
        for (table, schema) in &self.cases.tables()? {
            cases.extend(self.cases.configured(self.cases.open(table, schema)?));
        }
        cases.iter().try_for_each(Case::check)?;
        let folds = cases.iter().map(|case| case.folds().len() as u64).sum();
        let bar = ProgressBar::new(folds).with_style(ProgressStyle::with_template(
            "{bar:30} {percent:>3} %  {elapsed} so far, about {eta} left  {msg}",
        )?);
        bar.enable_steady_tick(Duration::from_millis(200));
        let mut people = 0;
        for case in &cases {
            for name in case.folds() {
                bar.set_message(format!("{} {name}", case.name));
                people += par_bench::export::write(&Fold::new(case, name)?, &self.out)?;
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        output::print(&format!(
            "written to {}: {folds} folds with {people} denied people\n",
            self.out.display()
        ))
    }
}
