//! `par-bench report`: the page, charts and tables of a run, from its figures alone.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use par_bench::{Experiment, Figures, Report, claims};
use par_terminal::output::{self, Destination};

use crate::measure::experiment;

const EXAMPLES: &str = "\
Examples:
  par-bench report results/figures.csv                   results/report.html and results/plots
  par-bench report results/figures.csv --show answers    table 1, as text
  par-bench report results/figures.csv --show fairness --json
  par-bench report results/figures.csv peers/figures.csv --claims
                                                         what becomes of the paper's claims, as Markdown

Nothing is measured: the same figures give the same page, the same charts and the same tables.";

const PAGE: &str = "report.html";
const PLOTS: &str = "plots";
/// The files of a report, as messages name them.
pub(crate) const WRITTEN: &str = "report.html, plots/*.svg";

#[derive(Args)]
#[command(name = "report", after_help = EXAMPLES)]
pub(crate) struct ReportOptions {
    /// Made by `par-bench`; what several files have measured is taken from the first
    #[arg(required = true)]
    figures: Vec<PathBuf>,
    /// Folder for the page and the charts [default: that of the first figures]
    #[arg(long, value_name = "FOLDER", conflicts_with = "show")]
    out: Option<PathBuf>,
    /// Print the tables of an experiment, and write nothing
    #[arg(long, value_name = "EXPERIMENT", value_parser = experiment())]
    show: Option<Experiment>,
    /// Print what becomes of the paper's claims, as Markdown, and write nothing
    #[arg(long, conflicts_with_all = ["show", "out"])]
    claims: bool,
    /// Print the tables as JSON
    #[arg(long, requires = "show")]
    json: bool,
}

impl ReportOptions {
    pub(crate) fn run(self) -> Result<()> {
        let mut figures = Figures::default();
        for file in &self.figures {
            figures.merge(Figures::load(file)?);
        }
        if self.claims {
            return output::print(&claims::markdown(&claims::claims(&figures)));
        }
        let report = Report::new(&figures);
        let Some(topic) = self.show else {
            let beside = self.figures[0].parent().filter(|folder| !folder.as_os_str().is_empty());
            let out = self.out.unwrap_or_else(|| beside.unwrap_or(Path::new(".")).to_path_buf());
            let read: Vec<&Path> = self.figures.iter().map(PathBuf::as_path).collect();
            ReportFiles::new(&out, &read)?.write(&report)?;
            return output::print(&format!("written to {}: {WRITTEN}\n", out.display()));
        };
        if report.tables(topic).is_empty() {
            bail!(
                "{}: holds no figures of `{}`\nhint: `par-bench --only {}` measures them",
                self.figures[0].display(),
                topic.name(),
                topic.name()
            );
        }
        if self.json {
            output::print_json(&report.json(&[topic]))
        } else {
            output::print(&report.text(topic))
        }
    }
}

/// The files of a report.
pub(crate) struct ReportFiles {
    page: Destination,
    plots: PathBuf,
}

impl ReportFiles {
    /// Checks that the files can be written, before the work begins.
    pub(crate) fn new(folder: &Path, inputs: &[&Path]) -> Result<Self> {
        let make = |folder: &Path| {
            std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))
        };
        make(folder)?;
        let (page, plots) = (Destination::new(&folder.join(PAGE), inputs)?, folder.join(PLOTS));
        make(&plots)?;
        Ok(Self { page, plots })
    }

    /// Writes the page and a file for each chart, and removes the charts of an earlier report.
    pub(crate) fn write(self, report: &Report) -> Result<()> {
        for entry in std::fs::read_dir(&self.plots)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "svg") {
                std::fs::remove_file(&path)
                    .with_context(|| format!("{}: cannot be replaced", path.display()))?;
            }
        }
        for (name, svg) in report.svgs() {
            output::write_file(Destination::new(&self.plots.join(name), &[])?, svg.as_bytes())?;
        }
        output::write_file(self.page, report.html().as_bytes())
    }
}
