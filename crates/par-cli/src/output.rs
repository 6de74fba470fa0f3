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

/// A file that may be written: it is new or a regular file, and none that is read from.
pub(crate) struct Destination {
    /// As given.
    path: PathBuf,
    /// Where its symbolic links lead.
    target: PathBuf,
}

impl Destination {
    /// Finds out before the work what would fail after it.
    pub(crate) fn new(path: &Path, inputs: &[&Path]) -> Result<Self> {
        let origin = path.display();
        let mut target = path.to_path_buf();
        loop {
            let Some(within) = folder(&target).canonicalize().ok().filter(|within| within.is_dir()) else {
                bail!("{origin}: no such folder `{}`", folder(&target).display());
            };
            match target.metadata() {
                Ok(found) if found.is_dir() => bail!("{origin}: is a folder, expected a file to write"),
                Ok(found) if !found.is_file() || holds_devices(&within) => {
                    bail!("{origin}: is a device or a pipe, expected a file to write");
                }
                // Links in a circle are such an error, so that what follows comes to an end.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| cannot_write(path));
                }
                _ => {}
            }
            let Some(name) = target.file_name() else { bail!("`{origin}` names no file to write") };
            target = within.join(name);
            match target.read_link() {
                Ok(next) => target = within.join(next),
                Err(_) => break,
            }
        }
        if inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == target)) {
            bail!("{origin}: is read from, and writing would replace it\nhint: write to another file");
        }
        // A file without a name, gone at once.
        tempfile::tempfile_in(folder(&target))
            .map_err(|error| error.kind())
            .map_err(io::Error::from)
            .with_context(|| cannot_write(path))?;
        Ok(Self { path: path.to_path_buf(), target })
    }

    /// Whether both are one file.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.target == other.target
    }
}

/// Whether the files in the folder stand for something else, standard output for one.
fn holds_devices(folder: &Path) -> bool {
    folder == Path::new("/dev") || folder.starts_with("/dev/fd") || folder.starts_with("/proc")
}

/// A file that takes its place only when [`Replacement::finish`] is called. Dropped before that, it leaves
/// nothing behind.
pub(crate) struct Replacement {
    destination: Destination,
    file: BufWriter<NamedTempFile>,
}

impl Replacement {
    pub(crate) fn new(destination: Destination) -> Result<Self> {
        let Destination { path, target } = &destination;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".par-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = builder.tempfile_in(folder(target)).with_context(|| cannot_write(path))?;
        unfinished.push(file.path().to_path_buf());
        Ok(Self { destination, file: BufWriter::new(file) })
    }

    pub(crate) fn finish(self) -> Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error);
        let Destination { path, target } = &self.destination;
        let file = file.with_context(|| cannot_write(path))?;
        file.persist(target).map_err(|failed| failed.error).with_context(|| cannot_write(path))?;
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
pub(crate) fn write_file(destination: Destination, bytes: &[u8]) -> Result<()> {
    let mut file = Replacement::new(destination)?;
    file.write_all(bytes).with_context(|| cannot_write(&file.destination.path))?;
    file.finish()
}

/// Standard output, or a file when there is a destination.
pub(crate) enum Output {
    Stdout(BufWriter<io::StdoutLock<'static>>),
    File(Replacement),
}

impl Output {
    pub(crate) fn new(destination: Option<Destination>) -> Result<Self> {
        Ok(match destination {
            Some(destination) => Self::File(Replacement::new(destination)?),
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

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn cannot_write(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}
