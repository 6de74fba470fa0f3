//! Where the answers go, in one of the formats.

use std::io::Write;

use anyhow::{Result, bail};
use par_answer::table::RowAnswer;
use par_answer::write;
use par_data::Schema;
use par_model::Model;

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
                out.write_all(&write::csv_header(schema))?;
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
    pub(super) fn write(&mut self, model: &Model, bytes: &[u8], people: &[RowAnswer<'_>]) -> Result<()> {
        match self {
            Self::Csv(out) | Self::Jsonl(out) => Ok(out.write_all(bytes)?),
            #[cfg(feature = "parquet")]
            Self::Parquet(parquet) => parquet.write(model.schema(), people),
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
    pub(super) fn text(self, model: &Model, people: &[RowAnswer<'_>]) -> Option<Vec<u8>> {
        match self {
            Self::Csv => Some(write::csv_lines(model.schema(), people)),
            Self::Jsonl => {
                let mut bytes = Vec::new();
                for person in people {
                    serde_json::to_writer(&mut bytes, &person.json(model))
                        .expect("a person has only text keys");
                    bytes.push(b'\n');
                }
                Some(bytes)
            }
            Self::Parquet => None,
        }
    }
}
