//! Where results go: standard output, or a file that appears only when it is complete.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

/// Files that are being written under a name of their own.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The exit status of a program that was interrupted, as shells know it.
const INTERRUPTED: i32 = 130;

/// When the program is interrupted, files that are not complete go with it.
pub(crate) fn clean_up_when_interrupted() -> Result<()> {
    let clean_up = || {
        // The lock is kept to the end, so that nothing new is begun.
        let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        for path in unfinished.iter() {
            // It may have been finished or removed just now.
            let _ = std::fs::remove_file(path);
        }
        std::process::exit(INTERRUPTED);
    };
    Ok(ctrlc::set_handler(clean_up)?)
}

/// A file that takes its place only when [`Replacement::finish`] is called. Dropped before that, it leaves
/// nothing behind.
pub(crate) struct Replacement {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl Replacement {
    pub(crate) fn new(path: &Path) -> Result<Self> {
        refuse_impossible(path)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".par-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = builder.tempfile_in(folder(path)).with_context(|| cannot_write(path))?;
        unfinished.push(file.path().to_path_buf());
        Ok(Self { path: path.to_path_buf(), file: BufWriter::new(file) })
    }

    pub(crate) fn finish(self) -> Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error);
        let file = file.with_context(|| cannot_write(&self.path))?;
        file.persist(&self.path).map_err(|failed| failed.error).with_context(|| cannot_write(&self.path))?;
        Ok(())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a whole file, or nothing.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = Replacement::new(path)?;
    file.write_all(bytes).with_context(|| cannot_write(path))?;
    file.finish()
}

/// Standard output, or a file when there is a path.
pub(crate) enum Output {
    Stdout(BufWriter<io::StdoutLock<'static>>),
    File(Replacement),
}

impl Output {
    pub(crate) fn new(path: Option<&Path>) -> Result<Self> {
        Ok(match path {
            Some(path) => Self::File(Replacement::new(path)?),
            None => Self::Stdout(BufWriter::new(io::stdout().lock())),
        })
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Stdout(mut stdout) => Ok(stdout.flush()?),
            Self::File(file) => file.finish(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Writes one JSON object to standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Finds out before the work what would fail after it.
pub(crate) fn refuse_impossible(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("{}: is a folder, expected a file to write", path.display());
    }
    if !folder(path).is_dir() {
        bail!("{}: no such folder `{}`", path.display(), folder(path).display());
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn cannot_write(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}
