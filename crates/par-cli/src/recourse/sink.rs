//! Writers of answers, one for each format.

use std::io::Write;

use anyhow::{Result, bail};
use par_answer::table::RowAnswer;
use par_answer::write;
use par_data::Schema;
use par_model::Model;

use super::OutputFormat;
use crate::output::{Destination, Output};

pub(super) enum Sink {
    Csv(Output),
    Jsonl(Output),
    #[cfg(feature = "parquet")]
    Parquet(Box<super::parquet::ParquetSink>),
}

impl Sink {
    /// Opens the destination, or standard output by default.
    pub(super) fn new(
        format: OutputFormat,
        destination: Option<Destination>,
        schema: &Schema,
    ) -> Result<Self> {
        match (format, destination) {
            (OutputFormat::Csv, destination) => {
                let mut out = Output::new(destination)?;
                out.write_all(&write::csv_header(schema))?;
                Ok(Self::Csv(out))
            }
            (OutputFormat::Jsonl, destination) => Ok(Self::Jsonl(Output::new(destination)?)),
            #[cfg(feature = "parquet")]
            (OutputFormat::Parquet, Some(destination)) => {
                Ok(Self::Parquet(Box::new(super::parquet::ParquetSink::new(destination, schema)?)))
            }
            #[cfg(feature = "parquet")]
            (OutputFormat::Parquet, None) => {
                bail!("Parquet cannot go to standard output\nhint: name a file with `--out`")
            }
            #[cfg(not(feature = "parquet"))]
            (OutputFormat::Parquet, _) => {
                bail!(
                    "this build does not write Parquet\nhint: build with `--features parquet`, or write CSV"
                )
            }
        }
    }

    /// Writes the bytes of [`OutputFormat::text`], or the answers if the format is not text.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(unused_variables, reason = "only Parquet uses them, and this build leaves it out")
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

impl OutputFormat {
    /// The lines of the answers, if the format is text.
    pub(super) fn text(self, model: &Model, people: &[RowAnswer<'_>]) -> Option<Vec<u8>> {
        match self {
            Self::Csv => Some(write::csv_lines(model.schema(), people)),
            Self::Jsonl => {
                let mut bytes = Vec::new();
                for person in people {
                    serde_json::to_writer(&mut bytes, &person.json(model))
                        .expect("the keys of an answer are text");
                    bytes.push(b'\n');
                }
                Some(bytes)
            }
            Self::Parquet => None,
        }
    }
}
