//! `par-bench growth`: what fits and answers cost at any width and length.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use par_bench::experiment::growth::GrowthPlan;
use par_bench::{Bench, Case, Experiment};
use par_model::{Config, Order};

use crate::folded::FoldOptions;
use crate::measure;
use crate::{cases, folded};

const EXAMPLES: &str = "\
Examples:
  par-bench growth                                                    # a few minutes
  par-bench growth --columns 10,20,50,100,200,500 --rows 10000,100000 --out wide
  par-bench growth --columns 10 --rows 1000000,10000000 --fit-only --fit-seconds 3600 --out long
  par-bench growth --suite TABLES --out real

Random tables are made by the program: a quarter of the columns each kinds, real numbers, whole numbers and flags, all
mixtures of six factors; every fifth can never change. They are written into the folder of `--out` while they are
measured: some five bytes a cell. Tables of `--suite` are measured on their first fold.

A size has the time of a fit by stage and its peak memory, and for each method the time of single answers on one
thread (median, mean, 99th percentile, maximum), validity among those for whom any method knows a way, and the gap to
the best way that any method knows; all again by the number of changes that a person needs. The machine should do
nothing else. Writes figures.csv, report.html and plots/*.svg. An interrupted run continues where it stopped when it is
started again.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GrowthOptions {
    /// Numbers of columns of random tables, from 2 to 5000 [default: 10,20,50, or no random tables with `--suite`]
    #[arg(long, value_name = "COUNT", value_delimiter = ',', value_parser = count(2, 5000))]
    columns: Vec<usize>,
    /// Numbers of training rows, from 200 to 100000000; each is measured with each number of columns
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_value = "10000", value_parser = count(200, 100_000_000))]
    rows: Vec<usize>,
    /// Folder with tables to measure too, each with folds and beside its schema: NAME.csv, NAME.csv.gz or NAME.parquet,
    /// and NAME.toml
    #[arg(long, value_name = "FOLDER")]
    suite: Option<PathBuf>,
    /// Most denied people to ask about at a size
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = count(1, 100_000))]
    people: usize,
    /// Most nodes of an exact search
    #[arg(long, value_name = "COUNT", default_value_t = 2000, value_parser = count(1, 1_000_000_000))]
    nodes: usize,
    /// Ask about nobody else at a size after so many seconds of answers
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
    /// Stop a fit after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    fit_seconds: u64,
    /// Fit only, and ask about nobody
    #[arg(long)]
    fit_only: bool,
    /// Which way comes first: as by default, or the likeliest without margin and floor, as in the other experiments
    #[arg(long, value_name = "ORDER", default_value = "balanced", value_parser = order())]
    order: Order,
    /// Folder for figures, report and plots
    #[arg(long, value_name = "FOLDER", default_value = "par-growth")]
    out: PathBuf,
    /// Print the tables as JSON
    #[arg(long)]
    json: bool,
}

/// Parses a whole number from `least` to `most`.
fn count(least: u64, most: u64) -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(least..=most).map(|count| count as usize)
}

fn order() -> impl TypedValueParser<Value = Order> {
    PossibleValuesParser::new(["balanced", "likelihood"]).map(|name| match name.as_str() {
        "likelihood" => Order::Likelihood,
        _ => Order::Balanced,
    })
}

impl GrowthOptions {
    pub(crate) fn run(self) -> Result<()> {
        let tables = self.suite.as_deref().map(cases::pairs).transpose()?.unwrap_or_default();
        let read: Vec<&Path> = tables.iter().flat_map(|(table, schema)| [table.as_path(), schema]).collect();
        let tables = tables.iter().map(|(table, schema)| {
            folded::case(table, schema, &FoldOptions::default(), Config::default())
                .with_context(|| format!("{}: cannot be measured", table.display()))
        });
        let cases = tables.collect::<Result<Vec<Case>>>()?;
        cases.iter().try_for_each(Case::check)?;
        let columns = match (self.columns.is_empty(), cases.is_empty()) {
            (true, true) => vec![10, 20, 50],
            _ => self.columns,
        };
        let growth = GrowthPlan {
            columns,
            rows: self.rows,
            people: self.people,
            nodes: self.nodes,
            seconds: self.seconds,
            fit_seconds: self.fit_seconds,
            fit_only: self.fit_only,
            order: self.order,
            curves: false,
        };
        let parts = Some(self.out.join("parts"));
        let bench = Bench { cases, experiments: vec![Experiment::Growth], growth, parts };
        measure::run(&bench, &self.out, &read, self.json)
    }
}
