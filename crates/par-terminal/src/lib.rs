//! Shared parts of the programs `par` and `par-bench`: files, settings, text and exit codes.

pub mod aligned;
pub mod config_file;
pub mod output;
pub mod preset;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Error, Result};

use crate::aligned::printable_lines;

/// The exit code of a program: that of its work, or 2 with the error on standard error.
pub fn end(worked: Result<ExitCode>) -> ExitCode {
    match worked {
        Err(error) if !is_broken_pipe(&error) => {
            // If standard error is closed too, only the exit code is left.
            let _ = writeln!(io::stderr(), "error: {}", printable_lines(&chain(&error)));
            ExitCode::from(2)
        }
        Err(_) => ExitCode::SUCCESS,
        Ok(code) => code,
    }
}

/// Whether the reader of our output, such as `head`, has closed it.
fn is_broken_pipe(error: &Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The error and its causes, without a cause that the message before it contains.
pub fn chain(error: &Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
