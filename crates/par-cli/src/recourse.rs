//! `par recourse`: from a table of people to a table of ways.

#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod request;
mod resume;
mod sink;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use par_answer::table::{RowAnswer, TableAnswerer};
use par_answer::write;
use par_answer::{Answer, Solver, words};
use par_data::Batch;
use par_model::Model;
use rayon::prelude::*;
use request::RequestArguments;
use resume::Resumption;
use serde::{Deserialize, Serialize};
use sink::Sink;

use crate::aligned::{Facts, grouped};
use crate::classifier_file::ClassifierOptions;
use crate::model_file;
use crate::output::{self, Destination};
use crate::progress::RowProgress;
use crate::rows::{Condition, SelectedRows};

const EXAMPLES: &str = "\
Examples:
  par recourse people.par denied.csv --out ways.csv
  par recourse people.par denied.csv --count 3 --lock Age --lock Job --out ways.jsonl
  par recourse people.par denied.csv --limit 'Duration=6..24' --limit 'Housing=A151|A152' --out ways.csv
  par recourse people.par people.csv --where fold=0 --method exact --strict
  par recourse people.par millions.csv --out ways.csv --resume

A line for every way: id, rank, status, reason, probability, log_likelihood, conditional_log_likelihood (given
what the person cannot change), percentile (by it, among accepted people), changes, effort, months, has_margin,
accepting, certified, similarity, method, solves, optimal, gap, best_at, time_us, warning, then the row that this
person could become, a column for every feature under its own name; where a feature is called `status`, our
column is `par_status`, and a note says so. A row without a way has one line without a rank, its probability and cells its own.

  status   `found`, `accepted` (nothing to do), `not_found`, `error` when a cell does not fit; `unverified` and
           `unverified_accepted` when the model was made from scores, so that a surrogate decides
  reason   why there is no way, and what would help
  gap      how much better, in the unit of the problem that the way solves (effort or nats), a row with as many
           changes could be at most; empty where it is unknown
  best_at  what a way is best at among all that `explain` shows: `least_effort`, `fewest_changes`, `most_common`,
           `surest`, `soonest`, `lasting`, with `|` between them
  warning  values that no training row has; that a search ended at its deadline

With jsonl there is an object for every person.

A column `locks` in the table names features that this person cannot change, with `;` between them.
Lines are in the order of the rows. Same model, same rows: the same bytes, on any number of threads, except
with --time and --deadline. Rows are read as a stream: memory does not depend on how many there are.

With --resume an interrupted command leaves `ways.csv.partial`, and the same command goes on from there, to the
same bytes. It is refused if the model, the table or the request are not those of the first run.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Recourse {
    /// Made by `par fit`
    model: PathBuf,
    /// CSV, plain or gzipped, or Parquet if the program is built for it; the columns in any order
    table: PathBuf,
    /// Where the ways go [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How the ways are written [default: the extension of --out, otherwise csv]
    #[arg(long, value_enum)]
    format: Option<OutputFormat>,
    #[command(flatten)]
    request: RequestArguments,
    #[command(flatten)]
    classifier: ClassifierOptions,
    /// Keep rows with this value in a column (COLUMN=VALUE), or another (COLUMN!=VALUE); all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Keep what is written when interrupted, and go on from what an earlier run with --resume has written
    #[arg(long, requires = "out")]
    resume: bool,
    /// Exit with 1 when a denied row is left without recourse, or a row cannot be read
    #[arg(long)]
    strict: bool,
    /// Fill in the column `time_us`, microseconds an answer; the bytes are then never the same twice
    #[arg(long)]
    time: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// A line for every way
    Csv,
    /// A JSON object for every person, one a line
    Jsonl,
    /// As csv, typed, if the program is built for it
    Parquet,
}

/// Rows that are answered before any of them is written: enough work for all threads.
const BLOCK: usize = 2048;
/// Rows that one thread answers in a row.
const ROWS_PER_TASK: usize = 16;

impl Recourse {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let start = Instant::now();
        let model = self.classifier.answering(model_file::read(&self.model)?, &self.model)?;
        let request = self.request.request(&model)?;
        let mut rows = SelectedRows::open(&self.table, true, &self.conditions)?;
        let columns = model_file::columns(&model, &rows)?;
        let requested = format!("{request:?}");
        let answerer = TableAnswerer::new(&model, rows.columns(), columns, request, self.time);
        let read: Vec<&Path> =
            [self.model.as_path(), &self.table].into_iter().chain(self.classifier.files()).collect();
        let destination = self.out.as_deref().map(|out| Destination::new(out, &read)).transpose()?;
        let format = self.format();
        // In JSON no column is renamed: features have an object of their own.
        if let Some(renamed) = write::renamed(model.schema()).filter(|_| format != OutputFormat::Jsonl) {
            // A failure to write the note must not stop the answers.
            let _ = io::stderr().write_all(format!("note: {renamed}\n").as_bytes());
        }
        let mut resumption = match (self.resume, destination) {
            (false, destination) => Resumption::none(Sink::new(format, destination, model.schema())?),
            (true, Some(destination)) => Resumption::open(&self, &model, &requested, destination, &read)?,
            (true, None) => unreachable!("`--resume` requires `--out`"),
        };
        let progress = self.progress(&rows, resumption.tally.rows)?;
        let mut skipped = resumption.tally.rows;
        rows.read_ahead(|batch, numbers| {
            let known = skipped.min(batch.rows() as u64);
            skipped -= known;
            for first in (known as usize..batch.rows()).step_by(BLOCK) {
                let last = batch.rows().min(first + BLOCK);
                let starts: Vec<usize> = (first..last).step_by(ROWS_PER_TASK).collect();
                let tasks: Vec<AnsweredRows<'_>> = starts
                    .par_iter()
                    .map_init(
                        || Solver::new(&model),
                        |solver, &start| {
                            let rows = start..last.min(start + ROWS_PER_TASK);
                            let count = rows.len();
                            let answered =
                                AnsweredRows::new(&answerer, format, solver, &batch, numbers, rows);
                            progress.add(count);
                            answered
                        },
                    )
                    .collect();
                for task in tasks {
                    resumption.tally.add(task.tally);
                    resumption.sink.write(&model, &task.bytes, &task.people)?;
                }
                resumption.block_written()?;
            }
            Ok(())
        })?;
        progress.finish();
        let Resumption { sink, tally, answered_before, partial, .. } = resumption;
        if skipped > 0 {
            bail!(
                "{}: has fewer rows than an earlier run answered, by {skipped}\n\
                 hint: remove {} to start anew",
                self.table.display(),
                partial.unwrap_or_default().display()
            );
        }
        // An empty table has an empty answer; conditions that no row passes are likely a mistake.
        if tally.rows == 0 && rows.read() > 0 {
            sink.discard();
            return Err(rows.none_passed());
        }
        sink.finish()?;

        let complete = tally.not_found == 0 && tally.errors == 0;
        let summary = RecourseSummary { tally, answered_before, seconds: start.elapsed().as_secs_f64() };
        let text = if self.json { serde_json::to_string_pretty(&summary)? + "\n" } else { summary.text() };
        match self.out {
            Some(_) => output::print(&text)?,
            None => io::stderr().write_all(text.as_bytes())?,
        }
        Ok(if self.strict && !complete { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }

    fn format(&self) -> OutputFormat {
        let extension =
            self.out.as_deref().and_then(Path::extension).and_then(|extension| extension.to_str());
        self.format.unwrap_or(match extension {
            Some("jsonl" | "ndjson") => OutputFormat::Jsonl,
            Some("parquet") => OutputFormat::Parquet,
            _ => OutputFormat::Csv,
        })
    }

    /// Counts rows on a terminal, unless the ways are printed there.
    fn progress(&self, rows: &SelectedRows, before: u64) -> Result<RowProgress> {
        match self.out.is_none() && io::stdout().is_terminal() {
            true => Ok(RowProgress::hidden()),
            false => RowProgress::new(rows.expected(), before),
        }
    }
}

/// Writes answers to a CSV file.
pub(crate) fn write_csv(destination: Destination, model: &Model, people: &[RowAnswer<'_>]) -> Result<()> {
    let mut sink = Sink::new(OutputFormat::Csv, Some(destination), model.schema())?;
    let bytes = OutputFormat::Csv.text(model, people).expect("CSV is text");
    sink.write(model, &bytes, &[])?;
    sink.finish()
}

/// Consecutive rows, answered by one thread.
struct AnsweredRows<'a> {
    /// Their lines, if the format is text.
    bytes: Vec<u8>,
    /// Their answers, if it is not.
    people: Vec<RowAnswer<'a>>,
    tally: AnswerTally,
}

impl<'a> AnsweredRows<'a> {
    fn new(
        answerer: &TableAnswerer<'_>,
        format: OutputFormat,
        solver: &mut Solver<'_>,
        batch: &'a Batch,
        numbers: &[u64],
        rows: std::ops::Range<usize>,
    ) -> Self {
        let mut tally = AnswerTally::default();
        let people: Vec<RowAnswer<'a>> = rows
            .map(|row| {
                let person = answerer.answer(solver, batch, row, numbers[row]);
                tally.count(&person, batch, row);
                person
            })
            .collect();
        match format.text(answerer.model(), &people) {
            Some(bytes) => Self { bytes, people: Vec::new(), tally },
            None => Self { bytes: Vec::new(), people, tally },
        }
    }
}

/// The number of rows by answer.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct AnswerTally {
    pub(crate) rows: u64,
    pub(crate) accepted: u64,
    pub(crate) found: u64,
    /// Found, but judged by a surrogate of the classifier.
    unverified: u64,
    pub(crate) not_found: u64,
    pub(crate) errors: u64,
    /// The first error and its place.
    pub(crate) first_error: Option<String>,
}

impl AnswerTally {
    pub(crate) fn count(&mut self, person: &RowAnswer<'_>, batch: &Batch, row: usize) {
        self.rows += 1;
        match &person.answer {
            Ok(Answer::Accepted { .. }) => self.accepted += 1,
            Ok(Answer::Found(found)) => {
                self.found += 1;
                self.unverified += u64::from(!found.verified);
            }
            Ok(Answer::NotFound(_)) => self.not_found += 1,
            Err(error) => {
                self.errors += 1;
                self.first_error.get_or_insert_with(|| format!("{}, {error}", batch.place(row)));
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.accepted += other.accepted;
        self.found += other.found;
        self.unverified += other.unverified;
        self.not_found += other.not_found;
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
    }
}

#[derive(Serialize)]
struct RecourseSummary {
    #[serde(flatten)]
    tally: AnswerTally,
    /// Rows that an earlier run answered.
    #[serde(skip_serializing_if = "is_zero")]
    answered_before: u64,
    seconds: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(rows: &u64) -> bool {
    *rows == 0
}

impl RecourseSummary {
    fn text(&self) -> String {
        let AnswerTally { rows, accepted, found, unverified, not_found, errors, first_error } = &self.tally;
        let mut facts = Facts::default();
        let before = match self.answered_before {
            0 => String::new(),
            before => format!(", {} of them by an earlier run", grouped(before)),
        };
        facts.add("rows", format!("{}{before}", grouped(*rows)));
        facts.add("accepted", grouped(*accepted));
        let doubt =
            if *unverified > 0 { ", unverified: judged by a surrogate of the classifier" } else { "" };
        facts.add("recourse found", format!("{}{doubt}", grouped(*found)));
        facts.add("not found", grouped(*not_found));
        if let Some(error) = first_error {
            facts.add("errors", format!("{}, the first: {}", grouped(*errors), words::without_hint(error)));
        }
        let own = *rows - self.answered_before;
        let rows_per_second = (own as f64 / self.seconds.max(1e-9)) as u64;
        facts.add("seconds", format!("{:.2}, {} rows/s", self.seconds, grouped(rows_per_second)));
        facts.text()
    }
}
