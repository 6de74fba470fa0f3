//! Output to standard output, or to a file that appears only when it is complete.

use std::io::{self, BufWriter, Write};

use anyhow::Result;
pub use par_files::{Destination, Partial, Replacement};

use crate::aligned::printable_lines;

/// The exit status of an interrupted program, by the convention of shells.
const INTERRUPTED: i32 = 130;

/// Removes unfinished files when the program is interrupted.
///
/// # Errors
/// When the signal handler cannot be set.
pub fn clean_up_when_interrupted() -> Result<()> {
    let clean_up = || {
        // Held until the exit, so that no new file is started.
        let _discarded = par_files::discard_unfinished();
        std::process::exit(INTERRUPTED);
    };
    Ok(ctrlc::set_handler(clean_up)?)
}

/// Writes a whole file, or nothing.
///
/// # Errors
/// When it cannot be written.
pub fn write_file(destination: Destination, bytes: &[u8]) -> Result<()> {
    Ok(par_files::write_file(destination, bytes)?)
}

/// Standard output, or a file when there is a destination.
pub enum Output {
    /// Standard output.
    Stdout(BufWriter<io::StdoutLock<'static>>),
    /// A file, which appears when it is complete.
    File(Replacement),
    /// The same, but what is written so far stays if the program is interrupted.
    Partial(Partial),
}

impl Output {
    /// Standard output, or the file of the destination.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn new(destination: Option<Destination>) -> Result<Self> {
        Ok(match destination {
            Some(destination) => Self::File(Replacement::new(destination)?),
            None => Self::Stdout(BufWriter::new(io::stdout().lock())),
        })
    }

    /// Flushes, and renames a file to its destination.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<()> {
        match self {
            Self::Stdout(mut stdout) => Ok(stdout.flush().map_err(|source| of_stdout(&source))?),
            Self::File(file) => Ok(file.finish()?),
            Self::Partial(file) => Ok(file.finish()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes).map_err(|source| of_stdout(&source)),
            Self::File(file) => file.write(bytes),
            Self::Partial(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush().map_err(|source| of_stdout(&source)),
            Self::File(file) => file.flush(),
            Self::Partial(file) => file.flush(),
        }
    }
}

/// Writes text to standard output.
///
/// # Errors
/// When standard output is closed.
pub fn print(text: &str) -> Result<()> {
    print_document(&printable_lines(text))
}

/// Writes the text of a file to standard output, as it is.
///
/// # Errors
/// When standard output is closed.
pub fn print_document(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let printed = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    Ok(printed.map_err(|source| of_stdout(&source))?)
}

/// The same error, which says what could not be written.
fn of_stdout(source: &io::Error) -> io::Error {
    io::Error::new(source.kind(), format!("standard output: cannot be written: {source}"))
}

/// Writes one JSON object to standard output.
///
/// # Errors
/// When standard output is closed.
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}
