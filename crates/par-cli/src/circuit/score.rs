//! `par circuit score`: the log-likelihood of the rows of a table.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::aligned::{Facts, grouped};
use crate::circuit_file::CircuitFile;
use crate::output::{self, Destination, Output};
use crate::rows::{Condition, SelectedRows};
use crate::variables::Unseen;

const EXAMPLES: &str = "\
Examples:
  par circuit score people.circuit more.csv
  par circuit score rich.circuit people.csv --where fold=0 --where 'income=>50K' --per-row scores.csv

The log-likelihood is in nats. An empty cell, where the circuit allows one, is summed out exactly. Rows are
read as a stream: memory does not depend on how many there are.

The log-likelihood is that of codes: of a number, only its bin counts. Where there are bins, two figures more
are of the raw table. `raw mass` is the log-probability of the table as it is written, each number one of those
with the decimals of its column. `raw density` divides it by the unit of these decimals in continuous columns,
as published densities of mixed tables do. Where many people share a number of a continuous column, the density
depends on the decimals. Files of earlier versions do not have what this takes: fit the circuit again.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Score {
    /// Made by `par circuit fit`
    circuit: PathBuf,
    /// CSV, plain or gzipped, or Parquet if the program is built for it; with column names if the training table had them, in any order
    table: PathBuf,
    /// Keep rows with this value in a column (COLUMN=VALUE), or another (COLUMN!=VALUE); all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Write line and log-likelihoods of every row as CSV, `-` for standard output
    #[arg(long, value_name = "FILE")]
    per_row: Option<PathBuf>,
    /// What to do with a category that was not in the training table
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Unseen::Error)]
    unseen: Unseen,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl Score {
    pub(crate) fn run(self) -> Result<()> {
        let start = Instant::now();
        let file = CircuitFile::read(&self.circuit)?;
        let to_stdout = self.per_row.as_deref() == Some(Path::new("-"));
        let mut scores = match self.per_row.as_deref() {
            None => None,
            Some(_) if to_stdout => Some(Output::new(None)?),
            Some(path) => {
                let destination = Destination::new(path, &[&self.circuit, &self.table])?;
                Some(Output::new(Some(destination))?)
            }
        };
        let tally = self.score(&file, scores.as_mut())?;
        scores.map(Output::finish).transpose()?;

        let mass = tally.raw.as_ref().map(|raw| &raw.mass);
        let density = tally.raw.as_ref().map(|raw| &raw.density);
        let summary = ScoreSummary {
            rows: tally.moments.rows(),
            impossible: tally.moments.impossible,
            mean_log_likelihood: tally.moments.mean(),
            standard_error: tally.moments.standard_error(),
            mean_raw_log_likelihood: mass.and_then(StreamMoments::mean),
            raw_standard_error: mass.and_then(StreamMoments::standard_error),
            mean_raw_log_density: density.and_then(StreamMoments::mean),
            raw_density_standard_error: density.and_then(StreamMoments::standard_error),
            summed_out: tally.open,
            unseen: tally.unseen,
            snapped: tally.snapped,
            scoring_seconds: tally.scoring.as_secs_f64(),
            seconds: start.elapsed().as_secs_f64(),
        };
        let text = if self.json { serde_json::to_string_pretty(&summary)? + "\n" } else { summary.text() };
        if to_stdout { Ok(io::stderr().write_all(text.as_bytes())?) } else { output::print(&text) }
    }

    /// One pass over the rows, a batch at a time.
    fn score(&self, file: &CircuitFile, mut scores: Option<&mut Output>) -> Result<ScoreTally> {
        let CircuitFile { variables, circuit, .. } = file;
        let mut rows = SelectedRows::open(&self.table, variables.header, &self.conditions)?;
        let columns = variables.columns(&rows)?;
        let masses = variables.discretizer.value_masses();
        if let Some(scores) = &mut scores {
            let raw = if masses.is_some() { ",raw_log_likelihood,raw_log_density" } else { "" };
            writeln!(scores, "line,log_likelihood{raw}")?;
        }
        let mut tally =
            ScoreTally { raw: masses.as_ref().map(|_| RawMoments::default()), ..ScoreTally::default() };
        rows.read_ahead(|batch, _| {
            let codes = variables.codes(&columns, &batch, self.unseen)?;
            tally.open += codes.open;
            tally.unseen += codes.unseen;
            tally.snapped += codes.snapped;
            let before = Instant::now();
            let log_probs = circuit.log_probs(&codes.rows);
            tally.scoring += before.elapsed();
            let terms = masses.as_ref().map(|masses| masses.of_batch(&columns, &batch, codes.rows.codes()));
            for (row, log_prob) in log_probs.into_iter().enumerate() {
                tally.moments.add(log_prob);
                let term = terms.as_ref().map(|terms| terms[row]);
                let raw = term.map(|term| [log_prob + term.log_mass, log_prob + term.log_density]);
                if let (Some(moments), Some([mass, density])) = (&mut tally.raw, raw) {
                    moments.mass.add(mass);
                    moments.density.add(density);
                }
                if let Some(scores) = &mut scores {
                    write!(scores, "{},{log_prob}", batch.position(row))?;
                    if let Some([mass, density]) = raw {
                        write!(scores, ",{mass},{density}")?;
                    }
                    writeln!(scores)?;
                }
            }
            Ok(())
        })?;
        if tally.moments.rows() == 0 {
            return Err(rows.none_passed());
        }
        Ok(tally)
    }
}

#[derive(Default)]
struct ScoreTally {
    moments: StreamMoments,
    /// Of the raw rows; absent where codes tell all, and where the file does not know their numbers.
    raw: Option<RawMoments>,
    open: u64,
    unseen: u64,
    snapped: u64,
    scoring: Duration,
}

/// The log-likelihoods of raw rows.
#[derive(Default)]
struct RawMoments {
    mass: StreamMoments,
    density: StreamMoments,
}

/// Mean and variance by Welford's recurrence. Rows of probability zero (log-likelihood −∞) are only counted:
/// they would make both infinite.
#[derive(Default)]
struct StreamMoments {
    possible: u64,
    impossible: u64,
    mean: f64,
    squares: f64,
}

impl StreamMoments {
    fn add(&mut self, value: f64) {
        if value == f64::NEG_INFINITY {
            self.impossible += 1;
            return;
        }
        self.possible += 1;
        let before = value - self.mean;
        self.mean += before / self.possible as f64;
        self.squares += before * (value - self.mean);
    }

    fn rows(&self) -> u64 {
        self.possible + self.impossible
    }

    fn mean(&self) -> Option<f64> {
        (self.possible > 0).then_some(self.mean)
    }

    fn standard_error(&self) -> Option<f64> {
        let rows = self.possible as f64;
        (self.possible > 1).then(|| (self.squares / (rows - 1.0) / rows).sqrt())
    }
}

#[derive(Serialize)]
struct ScoreSummary {
    rows: u64,
    /// Rows of probability zero.
    impossible: u64,
    /// Over the rows of positive probability; absent if there are none.
    mean_log_likelihood: Option<f64>,
    standard_error: Option<f64>,
    /// Of the raw table as it is written; absent where codes tell all, and where numbers were not learned.
    mean_raw_log_likelihood: Option<f64>,
    raw_standard_error: Option<f64>,
    /// The same divided by the units of continuous columns.
    mean_raw_log_density: Option<f64>,
    raw_density_standard_error: Option<f64>,
    /// Cells that are missing or hold an unseen category.
    summed_out: u64,
    /// Cells that hold an unseen category.
    unseen: u64,
    snapped: u64,
    scoring_seconds: f64,
    seconds: f64,
}

impl ScoreSummary {
    fn text(&self) -> String {
        let speed = |seconds: f64| {
            let rows_per_second = (self.rows as f64 / seconds.max(1e-9)) as u64;
            format!("{seconds:.2} s, {} rows/s", grouped(rows_per_second))
        };
        let mut facts = Facts::default();
        facts.add("rows", grouped(self.rows));
        match self.mean_log_likelihood {
            Some(mean) => facts.add("log-likelihood", self.mean_text(mean, self.standard_error)),
            None => facts.add("log-likelihood", "none, no row is possible"),
        }
        if let Some(mean) = self.mean_raw_log_likelihood {
            facts.add("raw mass", self.mean_text(mean, self.raw_standard_error));
        }
        if let Some(mean) = self.mean_raw_log_density {
            facts.add("raw density", self.mean_text(mean, self.raw_density_standard_error));
        }
        if self.impossible > 0 {
            facts.add("impossible", format!("{} rows, their probability is zero", grouped(self.impossible)));
        }
        if self.summed_out > 0 {
            let unseen = match self.unseen {
                0 => String::new(),
                unseen => format!(", {} of them with an unseen category", grouped(unseen)),
            };
            facts.add("summed out", format!("{} cells{unseen}", grouped(self.summed_out)));
        }
        if self.snapped > 0 {
            facts.add(
                "never seen",
                format!("{} numbers, each taken as the nearest known", grouped(self.snapped)),
            );
        }
        facts.add("scoring", speed(self.scoring_seconds));
        facts.add("with reading", speed(self.seconds));
        facts.text()
    }

    fn mean_text(&self, mean: f64, error: Option<f64>) -> String {
        let error = error.map_or(String::new(), |error| format!(" ± {error:.4}"));
        let over = match self.impossible {
            0 => String::new(),
            impossible => {
                format!(", over {} of {} rows", grouped(self.rows - impossible), grouped(self.rows))
            }
        };
        format!("{mean:.4}{error} nats a row{over}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let mut moments = StreamMoments::default();
        moments.add(-1.0);
        assert_eq!(moments.standard_error(), None);
        [-2.0, -3.0, -6.0].into_iter().for_each(|value| moments.add(value));
        assert_eq!(moments.mean(), Some(-3.0));
        // Deviations 2, 1, 0, -3: a variance of 14 / 3 over 4 rows.
        let error = moments.standard_error().expect("four rows");
        assert!((error - (14.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
    }

    fn text(moments: &StreamMoments) -> String {
        let summary = ScoreSummary {
            rows: moments.rows(),
            impossible: moments.impossible,
            mean_log_likelihood: moments.mean(),
            standard_error: moments.standard_error(),
            mean_raw_log_likelihood: None,
            raw_standard_error: None,
            mean_raw_log_density: None,
            raw_density_standard_error: None,
            summed_out: 0,
            unseen: 0,
            snapped: 0,
            scoring_seconds: 1.0,
            seconds: 1.0,
        };
        summary.text()
    }

    #[test]
    fn an_impossible_row_is_counted_but_not_averaged() {
        let mut moments = StreamMoments::default();
        moments.add(f64::NEG_INFINITY);
        assert_eq!((moments.rows(), moments.mean(), moments.standard_error()), (1, None, None));
        assert!(text(&moments).contains("  log-likelihood  none, no row is possible\n"));

        [-1.0, f64::NEG_INFINITY, -3.0].into_iter().for_each(|value| moments.add(value));
        assert_eq!((moments.rows(), moments.impossible), (4, 2));
        assert_eq!((moments.mean(), moments.standard_error()), (Some(-2.0), Some(1.0)));
        let text = text(&moments);
        assert!(
            text.contains(
                "  log-likelihood  -2.0000 ± 1.0000 nats a row, over 2 of 4 rows\n  \
                 impossible      2 rows, their probability is zero\n"
            ),
            "{text}"
        );
    }
}
