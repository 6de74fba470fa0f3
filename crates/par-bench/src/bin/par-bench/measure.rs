//! `par-bench`: the paper's experiments, on tables with folds.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressStyle};
use par_bench::experiment::growth::GrowthPlan;
use par_bench::peers::{is_solver, recorded};
use par_bench::{Bench, Case, Experiment, Report};
use par_terminal::output::{self, Destination};

use crate::cases::CaseOptions;
use crate::folded;
use crate::report;

pub(crate) const EXAMPLES: &str = "\
Examples:
  par-bench --table people.csv --schema people.toml --folds fold
  par-bench --table people.csv --schema people.toml --only answers,fairness --json
  par-bench --suite tables --peers answers-of-others --out results
  par-bench --suite tables --peers answers-of-others --highs highs --only peers

Writes figures.csv, report.html and plots/*.svg into the folder of `--out`, in place of those that are there.
Each fold's model learns from the rows outside the fold and answers the rows in it: the ones with a 1 in the column
of `--factuals`, or all. The paper's tables are recognized by their schema and get the paper's settings, except with
`--config`. An interrupted run continues where it stopped when it is started again.

Answers of other methods have the columns method, fold, id, k, time_s and the features. Only the first answer
to a person, k = 0, is scored; k = -1 means that none was found, and an empty cell that the value does not change.
The experiment `peers` also runs methods of others itself; `par-bench export` writes the same questions for programs
that answer them elsewhere.";

#[derive(Args)]
pub(crate) struct MeasureOptions {
    #[command(flatten)]
    cases: CaseOptions,
    /// Answers of other methods to the same people: a file, or a folder with NAME.csv or NAME.csv.gz for a table NAME
    #[arg(long, value_name = "PATH")]
    peers: Option<PathBuf>,
    /// Program that solves the mixed-integer program of LiCE: HiGHS. Without it LiCE is not among the peers
    #[arg(long, value_name = "PROGRAM")]
    highs: Option<PathBuf>,
    /// Experiments to run [default: all]
    #[arg(long, value_name = "EXPERIMENT", value_parser = experiment(), value_delimiter = ',')]
    only: Vec<Experiment>,
    /// Folder for figures, report and plots
    #[arg(long, value_name = "FOLDER", default_value = "par-bench")]
    out: PathBuf,
    /// Print table 1 as JSON
    #[arg(long)]
    json: bool,
}

/// Parses the name of an experiment.
pub(crate) fn experiment() -> impl TypedValueParser<Value = Experiment> {
    let value = |experiment: Experiment| PossibleValue::new(experiment.name()).help(experiment.about());
    PossibleValuesParser::new(Experiment::ALL.map(value)).map(|name| {
        let named = Experiment::ALL.into_iter().find(|experiment| experiment.name() == name);
        named.expect("clap accepts only these names")
    })
}

const FIGURES: &str = "figures.csv";

impl MeasureOptions {
    pub(crate) fn run(self) -> Result<()> {
        self.check_highs()?;
        let tables = self.cases.tables()?;
        let mut cases = Vec::new();
        for (table, schema) in &tables {
            let mut case = self.cases.open(table, schema)?;
            if let Some(file) = self.peers_of(table)? {
                case.peers = recorded::load(file, &case)?;
            }
            case.highs.clone_from(&self.highs);
            cases.extend(self.cases.configured(case));
        }
        cases.iter().try_for_each(Case::check)?;
        if let Some(folder) = self.peers.as_ref().filter(|_| cases.iter().all(|case| case.peers.is_empty())) {
            bail!(
                "{}: holds no answers, expected NAME.csv or NAME.csv.gz for a table NAME",
                folder.display()
            );
        }
        let mut experiments = self.only.clone();
        if experiments.is_empty() {
            experiments = Experiment::ALL.to_vec();
        }
        experiments.sort();
        experiments.dedup();
        let mut read = self.cases.files(&tables);
        read.extend(self.peers.as_deref());
        let growth = GrowthPlan::default();
        let bench = Bench { cases, experiments, growth, parts: Some(self.out.join("parts")) };
        run(&bench, &self.out, &read, self.json)
    }

    /// Checks that the solver starts, before the work begins.
    fn check_highs(&self) -> Result<()> {
        let Some(program) = &self.highs else { return Ok(()) };
        match is_solver(program).with_context(|| format!("{}: cannot be started", program.display()))? {
            true => Ok(()),
            false => bail!("{}: is not HiGHS, by what it says to `--version`", program.display()),
        }
    }

    /// The file with other methods' answers for a table. In a folder of a suite, tables may lack one.
    fn peers_of(&self, table: &Path) -> Result<Option<PathBuf>> {
        let Some(path) = &self.peers else { return Ok(None) };
        if !path.is_dir() {
            if self.cases.is_suite() {
                bail!(
                    "{}: is not a folder, expected one with NAME.csv or NAME.csv.gz for the tables of `--suite`",
                    path.display()
                );
            }
            return Ok(Some(path.clone()));
        }
        let name = folded::stem(table);
        let file = ["csv", "csv.gz"].map(|ending| path.join(format!("{name}.{ending}")));
        let file = file.into_iter().find(|file| file.is_file());
        if file.is_none() && !self.cases.is_suite() {
            bail!("{}: holds no answers for `{name}`, expected {name}.csv or {name}.csv.gz", path.display());
        }
        Ok(file)
    }
}

/// Runs experiments, and writes their figures and report into a folder; `read` are the files that they read.
pub(crate) fn run(bench: &Bench, out: &Path, read: &[&Path], is_json: bool) -> Result<()> {
    std::fs::create_dir_all(out).with_context(|| format!("{}: cannot be made", out.display()))?;
    let figures = Destination::new(&out.join(FIGURES), read)?;
    let files = report::ReportFiles::new(out, read)?;

    let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template(
        "{bar:30} {percent:>3} %  {elapsed} so far, about {eta} left  {msg}",
    )?);
    bar.enable_steady_tick(Duration::from_millis(200));
    let measured = bench.run(&|progress| {
        bar.set_length(progress.of);
        bar.set_position(progress.done);
        if !progress.is_new {
            // Parts of an earlier run take no time, and must not shorten the estimate.
            bar.reset_eta();
        }
        bar.set_message(format!("{} {} {}", progress.case, progress.fold, progress.what));
    });
    bar.finish_and_clear();
    let measured = measured?;
    let mut csv = Vec::new();
    measured.write(&mut csv)?;
    output::write_file(figures, &csv)?;
    let report = Report::new(&measured);
    files.write(&report)?;
    bench.forget();
    // Table 1 if it was measured, otherwise all measured experiments.
    let shown = match bench.experiments.contains(&Experiment::Answers) {
        true => vec![Experiment::Answers],
        false => bench.experiments.clone(),
    };
    if is_json {
        return output::print_json(&report.json(&shown));
    }
    let text: String = shown.iter().map(|experiment| report.text(*experiment)).collect();
    output::print(&format!("{text}\nwritten to {}: {FIGURES}, {}\n", out.display(), report::WRITTEN))
}
