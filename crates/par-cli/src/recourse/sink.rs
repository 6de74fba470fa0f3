//! Writers of answers, one for each format.

use std::io::Write;

use anyhow::{Result, bail};
use par_answer::table::RowAnswer;
use par_answer::write;
use par_data::Schema;
use par_model::Model;

use super::OutputFormat;
use crate::output::{Destination, Output, Partial};

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

    /// Goes on with a partial file; a new one has a `schema` for its header.
    pub(super) fn resumed(format: OutputFormat, partial: Partial, schema: Option<&Schema>) -> Result<Self> {
        let mut out = Output::Partial(partial);
        match format {
            OutputFormat::Csv => {
                if let Some(schema) = schema {
                    out.write_all(&write::csv_header(schema))?;
                }
                Ok(Self::Csv(out))
            }
            OutputFormat::Jsonl => Ok(Self::Jsonl(out)),
            OutputFormat::Parquet => unreachable!("Parquet is not gone on with"),
        }
    }

    /// Makes sure that what is written so far survives, if it is a partial file.
    pub(super) fn checkpoint(&mut self, record: impl FnOnce(u64) -> Vec<u8>) -> Result<()> {
        match self {
            Self::Csv(Output::Partial(partial)) | Self::Jsonl(Output::Partial(partial)) => {
                Ok(partial.checkpoint(record)?)
            }
            _ => Ok(()),
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

    /// Removes what is written.
    pub(super) fn discard(self) {
        if let Self::Csv(Output::Partial(partial)) | Self::Jsonl(Output::Partial(partial)) = self {
            partial.discard();
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
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }

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
