//! What the programs `par` and `par-bench` share at a terminal: files, settings, text, and how they end.

pub mod aligned;
pub mod config_file;
pub mod output;
pub mod preset;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Error, Result};

/// Ends a program: with the exit code of its work, or 2 and the error on standard error.
pub fn end(worked: Result<ExitCode>) -> ExitCode {
    match worked {
        Err(error) if !is_broken_pipe(&error) => {
            // Where even that cannot be written, the exit status has to do.
            let _ = writeln!(io::stderr(), "error: {}", chain(&error));
            ExitCode::from(2)
        }
        Err(_) => ExitCode::SUCCESS,
        Ok(code) => code,
    }
}

/// Whoever reads our output, `head` for one, has had enough.
fn is_broken_pipe(error: &Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The error and its causes, leaving out a cause that the message before it already tells.
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
