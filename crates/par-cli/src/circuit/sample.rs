//! `par circuit sample`: draws new rows from a circuit.

use std::io;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use par_circuit::Sampler;

use crate::circuit_file::CircuitFile;
use crate::domain_text;
use crate::output::{Destination, Output};

const EXAMPLES: &str = "\
Example:
  par circuit sample people.circuit -n 1000 --out new_people.csv

A number drawn from a bin is the bin's median. The first of many rows are the same as
a few.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Sample {
    /// Made by `par circuit fit`
    circuit: PathBuf,
    /// How many rows
    #[arg(short = 'n', long, value_name = "N")]
    rows: u64,
    /// The same seed draws the same rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write here and not to standard output
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Rows drawn at a time.
const CHUNK: u64 = 64 * Sampler::BLOCK;

impl Sample {
    pub(crate) fn run(self) -> Result<()> {
        let CircuitFile { variables, circuit, .. } = CircuitFile::read(&self.circuit)?;
        let texts = domain_text::texts(&variables.discretizer);
        let destination =
            self.out.as_deref().map(|out| Destination::new(out, &[&self.circuit])).transpose()?;
        let mut out = Output::new(destination)?;
        let mut csv = csv::Writer::from_writer(&mut out);
        if variables.header {
            let names = variables.schema().features().iter().map(|feature| &feature.name);
            csv.write_record(names).map_err(io_error)?;
        }
        let sampler = circuit.sampler();
        let mut first = 0;
        while first < self.rows {
            let last = self.rows.min(first.saturating_add(CHUNK));
            for row in sampler.rows(first..last, self.seed).rows() {
                let cells = texts.iter().zip(row).map(|(texts, &code)| &texts[usize::from(code)]);
                csv.write_record(cells).map_err(io_error)?;
            }
            first = last;
        }
        csv.flush()?;
        drop(csv);
        out.finish()
    }
}

/// Unwraps the I/O error, so that a broken pipe is recognized.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
