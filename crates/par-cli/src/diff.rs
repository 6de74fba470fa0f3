//! `par diff`: what a new model changes for people whom an old one answered.

mod page;
mod past;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use par_answer::diff::{Comparer, Diff, Grouping, MOST_GROUPS, PastAnswer, Side};
use par_model::Model;
use serde::Serialize;

use self::past::PastWays;
use crate::aligned::grouped;
use crate::model_file;
use crate::output::{self, Destination};
use crate::progress::RowProgress;
use crate::recourse::request::RequestArguments;
use crate::rows::{Condition, SelectedRows};

const EXAMPLES: &str = "\
Examples:
  par diff old.par new.par people.csv
  par diff old.par new.par people.csv --where fold=0 --group Sex --group Age --out diff.html
  par diff old.par new.par people.csv --ways ways.csv --least 0.95

Both models answer every person; with --ways, its table has the old answers, found by id, or by the number of the
row if the old schema has no id column. `kept` counts the old model's first ways that the new model accepts as they
are written; a way that it cannot read is not kept. A person may have a new way although the old one breaks. Request
options hold for both models; without `--threshold` and `--margin` each has its own.

Columns are found by name. Of a feature that only the new model reads, an old way has the person's own cell. The
text begins with what differs between the models themselves.

Efforts and log-likelihoods of old and new ways are both measured by the new model, so that they are in one unit;
months are counted by each. Intervals are Wilson's, of 95 %.

Same models, same rows: the same bytes, on any number of threads, except with --deadline. Rows are read as a
stream; of --ways, the cells are kept in memory.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DiffCommand {
    /// The model that people were answered by, made by `par fit`
    old: PathBuf,
    /// The model that would take its place
    new: PathBuf,
    /// CSV, plain or gzipped, or Parquet if the program is built for it; the columns in any order
    table: PathBuf,
    /// Also write a page with plots
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The ways that people were told, as `par recourse --out` writes them [default: the old model answers again]
    #[arg(long, value_name = "FILE")]
    ways: Option<PathBuf>,
    /// Count people by this feature, or by another column of few different texts; may be repeated
    #[arg(long = "group", value_name = "FEATURE")]
    groups: Vec<String>,
    /// Exit with 1 when a smaller share of the ways is kept
    #[arg(long, value_name = "SHARE", value_parser = share)]
    least: Option<f64>,
    /// List at most so many people whose way breaks
    #[arg(long, value_name = "N", default_value_t = 20)]
    list: usize,
    #[command(flatten)]
    request: RequestArguments,
    /// Keep rows with this value in a column (COLUMN=VALUE), or another (COLUMN!=VALUE); all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Reads a share of one.
pub(crate) fn share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or("expected a number from 0 to 1")
}

/// Rows that are compared before their counts are added up: enough work for all threads.
const BLOCK: usize = 2048;

/// A comparison, and the files that it is of.
#[derive(Serialize)]
struct DiffReport<'a> {
    old: String,
    new: String,
    table: String,
    ways_table: Option<String>,
    /// Whether people are found in that table by their numbers, as the old model knows no id column.
    ways_by_number: bool,
    #[serde(skip)]
    models: [&'a Model; 2],
    #[serde(flatten)]
    diff: Diff,
    /// The smallest share of ways that should be kept.
    least: Option<f64>,
}

impl DiffCommand {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let models = [model_file::read(&self.old)?, model_file::read(&self.new)?];
        let mut rows = SelectedRows::open(&self.table, true, &self.conditions)?;
        let header = rows.columns().to_vec();
        let read = [&self.old, &self.new, &self.table].into_iter().chain(&self.ways);
        let read: Vec<&Path> = read.map(PathBuf::as_path).collect();
        let destination = self.out.as_deref().map(|out| Destination::new(out, &read)).transpose()?;
        let [old, new] = [(&self.old, &models[0]), (&self.new, &models[1])]
            .map(|(file, model)| self.side(file, model, &rows));
        let (old, new) = (old?, new?);
        let ways_by_number = self.ways.is_some() && old.columns.id.is_none();
        let sides = [(old.model, &old.columns), (new.model, &new.columns)];
        let grouping = |name: &String| {
            Grouping::new(name, &header, sides).map_err(|error| anyhow!("{}: {error}", rows.origin()))
        };
        let groupings: Vec<Grouping<'_>> = self.groups.iter().map(grouping).collect::<Result<_>>()?;
        let past = self.ways.as_deref().map(|file| PastWays::read(file, &models[0])).transpose()?;
        let look_up = |id: &str| -> Option<PastAnswer> { past.as_ref()?.answer(id) };
        let mut comparer = Comparer::new(&header, old, new, self.list).by_groups(groupings);
        if past.is_some() {
            comparer = comparer.with_past(&look_up);
        }

        let progress = RowProgress::new(rows.expected(), 0)?;
        let mut tally = comparer.tally();
        let origin = rows.origin().to_string();
        rows.read_ahead(|batch, numbers| {
            for first in (0..batch.rows()).step_by(BLOCK) {
                let block = first..batch.rows().min(first + BLOCK);
                tally.add(comparer.compare(&batch, block, numbers, |rows| progress.add(rows)));
                if let Some(column) = comparer.crowded(&tally) {
                    bail!(
                        "{origin}: `{column}` has more than {MOST_GROUPS} different texts, expected few groups\n\
                         hint: numbers have groups if the schema has them as a feature"
                    );
                }
            }
            Ok(())
        })?;
        progress.finish();
        match (tally.people(), tally.absent(), &self.ways) {
            (0, 0, _) => return Err(rows.none_passed()),
            (0, absent, Some(ways)) => bail!(
                "{}: has no line for any of {absent} people of {origin}\n\
                 hint: people are found by the id column of the schema, or by their number in the table",
                ways.display()
            ),
            _ => {}
        }
        let report = DiffReport {
            old: self.old.display().to_string(),
            new: self.new.display().to_string(),
            table: origin,
            ways_table: self.ways.as_ref().map(|ways| ways.display().to_string()),
            ways_by_number,
            models: comparer.models(),
            diff: comparer.report(&tally),
            least: self.least,
        };
        if let Some(destination) = destination {
            output::write_file(destination, page::html(&report).as_bytes())?;
        }
        if self.json {
            output::print_json(&report)?;
        } else {
            output::print(&text::text(&report))?;
        }
        Ok(if report.keeps_enough() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }

    /// A model with its own reading of the request and of the table.
    fn side<'m>(&self, file: &Path, model: &'m Model, rows: &SelectedRows) -> Result<Side<'m>> {
        let context = || file.display().to_string();
        let request = self.request.request(model).with_context(context)?;
        let columns = model_file::columns(model, rows).with_context(context)?;
        Ok(Side { model, request, columns })
    }
}

impl DiffReport<'_> {
    /// Whether the smallest share of ways is kept; where nobody had a way, there is nothing to keep.
    fn keeps_enough(&self) -> bool {
        let kept = self.diff.all.ways.kept.share;
        self.least.is_none_or(|least| kept.is_none_or(|kept| kept >= least))
    }

    /// The sentences about what is not as it seems: rows that cannot be read, people without an answer.
    fn caveats(&self) -> Vec<String> {
        let Diff { all, absent, first_unread_by_old, first_unread_by_new, .. } = &self.diff;
        let unread = |model: &str, count: u64, first: &Option<String>| {
            let first = first.as_ref().map_or(String::new(), |first| format!("; the first: {first}"));
            (count > 0).then(|| format!("rows that the {model} model cannot read: {}{first}", grouped(count)))
        };
        let ways_table = self.ways_table.as_deref().unwrap_or_default();
        let by_number = self.ways_by_number.then(|| {
            format!(
                "without an id column in the old schema, people are found in {ways_table} by their numbers: {} must have \
                 its rows in the same order",
                self.table
            )
        });
        let absent = (*absent > 0).then(|| {
            format!(
                "left out, without a line in {ways_table}: {} of the people of {}",
                grouped(*absent),
                self.table
            )
        });
        let caveats = [
            unread("old", all.unread_by_old, first_unread_by_old),
            unread("new", all.unread_by_new, first_unread_by_new),
            by_number,
            absent,
        ];
        self.diff.differences.iter().cloned().chain(caveats.into_iter().flatten()).collect()
    }
}
