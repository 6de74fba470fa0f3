//! Where the answers go, in one of the formats.

use std::io::Write;

use anyhow::{Result, bail};
use par_data::Schema;
use par_recourse::Bundle;
use par_recourse::desk::{self, Line, Person};

use super::Format;
use crate::output::{Destination, Output};

pub(super) enum Sink {
    Csv(Output),
    Jsonl(Output),
    #[cfg(feature = "parquet")]
    Parquet(Box<super::parquet::ParquetSink>),
}

impl Sink {
    /// Begins a file, or standard output where there is no destination.
    pub(super) fn new(format: Format, destination: Option<Destination>, schema: &Schema) -> Result<Self> {
        match (format, destination) {
            (Format::Csv, destination) => {
                let mut out = Output::new(destination)?;
                let mut csv = csv::Writer::from_writer(Vec::new());
                csv.write_record(desk::names(schema))?;
                out.write_all(&csv.into_inner()?)?;
                Ok(Self::Csv(out))
            }
            (Format::Jsonl, destination) => Ok(Self::Jsonl(Output::new(destination)?)),
            #[cfg(feature = "parquet")]
            (Format::Parquet, Some(destination)) => {
                Ok(Self::Parquet(Box::new(super::parquet::ParquetSink::new(destination, schema)?)))
            }
            #[cfg(feature = "parquet")]
            (Format::Parquet, None) => {
                bail!("Parquet cannot go to standard output\nhint: name a file with `--out`")
            }
            #[cfg(not(feature = "parquet"))]
            (Format::Parquet, _) => {
                bail!(
                    "this build does not write Parquet\nhint: build with `--features parquet`, or write CSV"
                )
            }
        }
    }

    /// Writes what [`Format::text`] gave, or the people where it gave nothing.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(unused_variables, reason = "only Parquet is no text, and this build leaves it out")
    )]
    pub(super) fn write(&mut self, bundle: &Bundle, bytes: &[u8], people: &[Person<'_>]) -> Result<()> {
        match self {
            Self::Csv(out) | Self::Jsonl(out) => Ok(out.write_all(bytes)?),
            #[cfg(feature = "parquet")]
            Self::Parquet(parquet) => parquet.write(bundle.schema(), people),
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self {
            Self::Csv(out) | Self::Jsonl(out) => out.finish(),
            #[cfg(feature = "parquet")]
            Self::Parquet(parquet) => parquet.finish(),
        }
    }
}

impl Format {
    /// The lines of some people, where a line is text.
    pub(super) fn text(self, bundle: &Bundle, people: &[Person<'_>]) -> Option<Vec<u8>> {
        match self {
            Self::Csv => {
                let mut csv = csv::Writer::from_writer(Vec::new());
                for line in people.iter().flat_map(|person| Line::of(bundle.schema(), person)) {
                    write_line(&line, &mut csv).expect("memory can be written to");
                }
                Some(csv.into_inner().expect("memory can be written to"))
            }
            Self::Jsonl => {
                let mut bytes = Vec::new();
                for person in people {
                    serde_json::to_writer(&mut bytes, &person.described(bundle))
                        .expect("a person has only text keys");
                    bytes.push(b'\n');
                }
                Some(bytes)
            }
            Self::Parquet => None,
        }
    }
}

/// A line as CSV has it: what is absent is empty.
fn write_line(line: &Line<'_>, csv: &mut csv::Writer<Vec<u8>>) -> csv::Result<()> {
    let way = line.way;
    let facts = [
        text(line.rank),
        line.person.status().to_string(),
        text(line.reason.as_ref()),
        text(line.probability),
        text(way.map(|way| way.log_likelihood)),
        text(way.map(|way| way.percentile)),
        text(way.map(|way| way.changes.len())),
        text(way.map(|way| way.similarity)),
        text(way.map(|way| way.method.name())),
        text(line.optimal()),
        text(way.and_then(|way| way.gap)),
        text(line.person.time_us),
    ];
    csv.write_field(&line.person.id)?;
    facts.iter().try_for_each(|fact| csv.write_field(fact))?;
    (0..line.person.cells.len()).try_for_each(|feature| csv.write_field(line.cell(feature)))?;
    csv.write_record(None::<&[u8]>)
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
