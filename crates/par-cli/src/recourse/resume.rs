//! Runs that go on where an earlier one was interrupted.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Result, anyhow, bail};
use par_model::Model;
use par_model::classifier::file_hash;
use par_terminal::output::Partial;
use serde::{Deserialize, Serialize};

use super::sink::Sink;
use super::{AnswerTally, OutputFormat, Recourse};
use crate::output::Destination;

/// Where answers go, how many there are, and what the next run has to know.
pub(super) struct Resumption {
    pub(super) sink: Sink,
    pub(super) tally: AnswerTally,
    /// What an earlier run may have begun.
    pub(super) partial: Option<PathBuf>,
    /// Rows that an earlier run answered.
    pub(super) answered_before: u64,
    /// `None` without `--resume`.
    run: Option<Run>,
    last_checkpoint: Option<Instant>,
}

/// What the bytes of a partial file depend on.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Run {
    program: String,
    /// SHA-256 of the model.
    model: String,
    /// SHA-256 of the files of another classifier.
    classifier: Vec<String>,
    table: TableFile,
    /// The request, its conditions and its format.
    request: String,
}

/// A table, as far as it can be told without reading it.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
struct TableFile {
    bytes: u64,
    modified_ns: u64,
}

/// The record beside a partial file.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    #[serde(flatten)]
    run: Run,
    bytes: u64,
    answered: AnswerTally,
}

/// A checkpoint waits for the disk, so that there is at most one in this time.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(1);

impl Resumption {
    /// A run that keeps nothing when it is interrupted.
    pub(super) fn none(sink: Sink) -> Self {
        Self {
            sink,
            tally: AnswerTally::default(),
            partial: None,
            answered_before: 0,
            run: None,
            last_checkpoint: None,
        }
    }

    /// Goes on from the partial file of the destination, or starts it.
    pub(super) fn open(
        command: &Recourse,
        model: &Model,
        request: &str,
        destination: Destination,
        inputs: &[&Path],
    ) -> Result<Self> {
        let format = command.format();
        if format == OutputFormat::Parquet {
            bail!(
                "`--resume` cannot go on with Parquet, whose last bytes say where all others are\n\
                 hint: write CSV or JSON lines"
            );
        }
        let run = Run::new(command, request, format)?;
        let (mut partial, record) = Partial::open(destination, inputs)?;
        if record.is_none() && !partial.is_empty() {
            bail!(
                "{}: has no record of an earlier run beside it\nhint: remove it to start anew, or write to another file",
                partial.path().display()
            );
        }
        // A record whose file is gone belongs to a run that was finished.
        let record = record.filter(|_| !partial.is_empty());
        let checkpoint = record.map(|record| run.check(&record, &partial)).transpose()?;
        let (bytes, tally) =
            checkpoint.map_or((0, AnswerTally::default()), |found| (found.bytes, found.answered));
        partial.go_on_after(bytes)?;
        if bytes == 0 {
            // Before the first byte a record says whose file it is.
            partial.checkpoint(|bytes| run.checkpoint(bytes, &tally))?;
        }
        let path = Some(partial.path().to_path_buf());
        let sink = Sink::resumed(format, partial, (bytes == 0).then_some(model.schema()))?;
        let answered_before = tally.rows;
        Ok(Self { sink, tally, partial: path, answered_before, run: Some(run), last_checkpoint: None })
    }

    /// Makes sure, now and then, that all answers so far survive.
    pub(super) fn block_written(&mut self) -> Result<()> {
        if self.last_checkpoint.is_none_or(|last| last.elapsed() >= BETWEEN_CHECKPOINTS) {
            self.checkpoint()?;
            self.last_checkpoint = Some(Instant::now());
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        let Some(run) = &self.run else { return Ok(()) };
        self.sink.checkpoint(|bytes| run.checkpoint(bytes, &self.tally))
    }
}

impl Run {
    fn new(command: &Recourse, request: &str, format: OutputFormat) -> Result<Self> {
        let hash = |path: &Path| {
            let bytes = std::fs::read(path);
            bytes.map(|bytes| file_hash(&bytes)).map_err(|error| unreadable(path, &error))
        };
        let conditions: Vec<String> = command.conditions.iter().map(ToString::to_string).collect();
        let (format, time) = (format.name(), command.time);
        Ok(Self {
            program: concat!("par ", env!("CARGO_PKG_VERSION")).to_string(),
            model: hash(&command.model)?,
            classifier: command.classifier.files().map(hash).collect::<Result<_>>()?,
            table: TableFile::new(&command.table)?,
            request: format!("{request}, where {conditions:?}, {format}, time {time}"),
        })
    }

    /// The record of so many bytes and answers.
    fn checkpoint(&self, bytes: u64, answered: &AnswerTally) -> Vec<u8> {
        let checkpoint = Checkpoint { run: self.clone(), bytes, answered: answered.clone() };
        serde_json::to_vec_pretty(&checkpoint).expect("the keys of a checkpoint are text")
    }

    /// The checkpoint of a record, if it belongs to the same run.
    fn check(&self, record: &[u8], partial: &Partial) -> Result<Checkpoint> {
        let name = partial.path().display();
        let hint = "hint: remove it to start anew, or write to another file";
        let found: Checkpoint = serde_json::from_slice(record)
            .map_err(|error| anyhow!("{name}.json: is no record of a run: {error}\n{hint}"))?;
        let differs = [
            ("program", self.program != found.run.program),
            ("model", self.model != found.run.model),
            ("classifier", self.classifier != found.run.classifier),
            ("table", self.table != found.run.table),
            ("request", self.request != found.run.request),
        ];
        match differs.iter().find(|(_, differs)| *differs) {
            Some((what, _)) => bail!("{name}: was written for another {what}\n{hint}"),
            None => Ok(found),
        }
    }
}

impl TableFile {
    fn new(path: &Path) -> Result<Self> {
        let found = path.metadata().map_err(|error| unreadable(path, &error))?;
        if !found.is_file() {
            bail!(
                "{}: is a device or a pipe, and `--resume` may read the table more than once\n\
                 hint: save it to a file first",
                path.display()
            );
        }
        let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ns = modified.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0);
        Ok(Self { bytes: found.len(), modified_ns })
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!("{}: cannot be read: {error}", path.display())
}
