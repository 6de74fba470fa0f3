//! `par schema init`: a first schema for a table.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use par_data::schema::{Draft, DraftOptions, Goal, Side, numbered_name};
use par_data::{Table, TableOptions};

use super::ask;
use crate::aligned::printable;
use crate::output::{self, Destination};
use crate::rows;

/// Rows that are read at a time.
const ROWS_PER_BATCH: usize = 1024;

/// Names of undecided features that are listed.
const MOST_NAMES: usize = 12;

const HELP: &str = "\
Examples:
  par schema init people.csv --out people.toml
  par schema init people.csv --label approved --favourable yes --ask 10 --out people.toml
  par schema init people.csv --label income --at-least 50000 --out people.toml

The draft is safe: traits, the past, places and ids never change, ages and other clocks move only with time, and
what a person plausibly can do (earn, save, repay, learn, ask for less) has an effort and a duration. All else is
undecided: it has no `change`, and stays. A comment beside each guess says why. Ids, dates, free text, constant and
repeated columns, and columns that alone nearly tell the label, are left out. Relations that hold in all rows
(a at most b, sums, differences, products, ratios) are written down.

--ask goes through undecided features and guesses, those that tell the label best first. Enter takes the answer in
brackets; first letters will do. Questions go to standard error, answers may come from a pipe.";

#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct SchemaInit {
    /// CSV, plain or gzipped, or Parquet if the program is built for it
    table: PathBuf,
    /// The column with the decision [default: guessed]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// The value of the label that people want, or several: `--favourable a,b` [default: guessed]
    #[arg(long, value_name = "VALUE")]
    favourable: Vec<String>,
    /// The label is a number, and people want it to be at least this
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "label",
        conflicts_with = "favourable",
        allow_negative_numbers = true
    )]
    at_least: Option<f64>,
    /// The label is a number, and people want it to be at most this
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "label",
        conflicts_with_all = ["favourable", "at_least"],
        allow_negative_numbers = true
    )]
    at_most: Option<f64>,
    /// The first line is a row already; columns are called column_1, column_2, and so on
    #[arg(long)]
    no_header: bool,
    /// The character between cells, or `tab` [default: comma, semicolon or tab, by the first line]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// Ask what may happen to features, at most so many questions if a number is given
    #[arg(long, value_name = "N", num_args = 0..=1)]
    ask: Option<Option<usize>>,
    /// Write the draft here and not to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "out")]
    force: bool,
}

impl SchemaInit {
    pub(crate) fn run(self) -> Result<()> {
        let destination = self.out.as_ref().map(|out| Destination::new(out, &[&self.table])).transpose()?;
        if let Some(out) = self.out.as_ref().filter(|out| out.exists() && !self.force) {
            bail!("{}: exists already\nhint: `--force` overwrites it", out.display());
        }
        let mut draft = self.draft()?;
        let mut prompts = io::stderr().lock();
        for note in draft.label_notes() {
            writeln!(prompts, "{}", printable(&note))?;
        }
        if let Some(most) = self.ask {
            ask::ask(&mut draft, most.unwrap_or(usize::MAX), &mut io::stdin().lock(), &mut prompts)?;
        }
        let undecided = draft.undecided();
        if !undecided.is_empty() {
            let hint = if self.ask.is_none() { "; `--ask` goes through them" } else { "" };
            let names = printable(&listed(&undecided));
            writeln!(prompts, "undecided, and so unchanged: {names}{hint}")?;
        }
        let text = draft.text();
        match destination {
            Some(destination) => output::write_file(destination, text.as_bytes()),
            None => output::print_document(&text),
        }
    }

    fn draft(&self) -> Result<Draft> {
        let reading =
            TableOptions { header: !self.no_header, delimiter: self.delimiter, ..TableOptions::default() };
        let goal = |side| move |bound: f64| Goal { bound, side, unit: None };
        let goal = self.at_least.map(goal(Side::AtLeast)).or(self.at_most.map(goal(Side::AtMost)));
        if let Some(goal) = goal.as_ref().filter(|goal| !goal.bound.is_finite()) {
            bail!("`--{}` is {}, expected a finite number", goal.side.key().replace('_', "-"), goal.bound);
        }
        let known = DraftOptions { label: self.label.clone(), favourable: self.favourable.clone(), goal };
        let table: Table = rows::open_table(&self.table, &reading)?;
        if !self.no_header {
            return Ok(Draft::new(table, &known)?);
        }
        let names: Vec<String> = (0..table.columns().len()).map(numbered_name).collect();
        let origin = table.origin().to_string();
        Ok(Draft::of_rows(&origin, &names, &known, table.batches(ROWS_PER_BATCH))?)
    }
}

/// Some of the names, and how many more there are.
fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// One character of one byte.
fn delimiter(text: &str) -> Result<u8, &'static str> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte]
            if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r') =>
        {
            Ok(*byte)
        }
        _ => Err("expected one character such as `;`, or `tab`"),
    }
}
