//! Files that appear only when they are complete: written under another name in the same folder, then
//! renamed.
//!
//! | step | item                   | takes                                   | gives                         |
//! |------|------------------------|-----------------------------------------|-------------------------------|
//! | 1    | [`Destination`]        | a path, and the files that are read     | a file that may be written    |
//! | 2    | [`Replacement`]        | a destination, then bytes               | the whole file, or none       |
//! | 2    | [`Partial`]            | a destination, then bytes of some runs  | the same, over several runs   |
//! | –    | [`write()`]            | a path and all bytes                    | both steps at once            |
//! | –    | [`create`]             | a new path, all bytes, and their readers | the same, and replaces nothing |
//! | –    | [`discard_unfinished`] | –                                       | no unfinished file is left    |

mod partial;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use partial::Partial;

/// Reasons why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder does not exist.
    #[error("{}: no such folder `{}`", path.display(), folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// The path is a folder.
    #[error("{}: is a folder, expected a file to write", .0.display())]
    Folder(PathBuf),
    /// The path is not a regular file.
    #[error("{}: is a device or a pipe, expected a file to write", .0.display())]
    Device(PathBuf),
    /// The path has no file name.
    #[error("`{}` names no file to write", .0.display())]
    NoName(PathBuf),
    /// The path is one of the files that are read.
    #[error("{}: is read from, and writing would replace it\nhint: write to another file", .0.display())]
    Read(PathBuf),
    /// The file exists, and must not be replaced.
    #[error("{}: exists already, and is not replaced\nhint: choose another name", .0.display())]
    Exists(PathBuf),
    /// The file is a symbolic link to another.
    #[error("{}: is a link, expected a file\nhint: remove it", .0.display())]
    Link(PathBuf),
    /// Another program is writing the file.
    #[error("{}: is being written by another program", .0.display())]
    Busy(PathBuf),
    /// A partial file has lost bytes.
    #[error(
        "{}: has {found} bytes, expected at least {expected} of an earlier run\nhint: remove it to start anew",
        path.display()
    )]
    Shorter {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The least length.
        expected: u64,
    },
    /// The system reports an error.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

/// A file that may be written: new or a regular file, and not one that is read.
#[derive(Debug)]
pub struct Destination {
    /// The path as given.
    path: PathBuf,
    /// The path after its symbolic links.
    target: PathBuf,
}

impl Destination {
    /// Checks before the work what would fail after it; `inputs` are the files that are read.
    ///
    /// # Errors
    /// When the folder does not exist or cannot be written to, or the file must not be replaced.
    pub fn new(path: &Path, inputs: &[&Path]) -> Result<Self, Error> {
        let path = path.to_path_buf();
        let mut target = path.clone();
        loop {
            let Some(within) = folder(&target).canonicalize().ok().filter(|within| within.is_dir()) else {
                return Err(Error::NoFolder { path, folder: folder(&target).to_path_buf() });
            };
            match target.metadata() {
                Ok(found) if found.is_dir() => return Err(Error::Folder(path)),
                Ok(found) if !found.is_file() || holds_devices(&within) => return Err(Error::Device(path)),
                // A cycle of links is such an error, so that the loop ends.
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Write { path, source });
                }
                _ => {}
            }
            let Some(name) = target.file_name() else { return Err(Error::NoName(path)) };
            target = within.join(name);
            match target.read_link() {
                Ok(next) => target = within.join(next),
                Err(_) => break,
            }
        }
        if inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == target)) {
            return Err(Error::Read(path));
        }
        let destination = Self { path, target };
        // Checks that a file can be created in the folder; it is removed at once.
        Unfinished::begin(&destination.target, Readers::Anybody)
            .map_err(|source| destination.error(source))?;
        Ok(destination)
    }

    /// Whether both are the same file.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.target == other.target
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }
}

/// The same error, which names the file.
fn named(path: &Path, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), Error::Write { path: path.to_path_buf(), source }.to_string())
}

/// Whether the files of the folder are devices, such as standard output.
fn holds_devices(folder: &Path) -> bool {
    folder == Path::new("/dev") || folder.starts_with("/dev/fd") || folder.starts_with("/proc")
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A file that replaces its destination when [`Replacement::finish`] is called. If it is dropped before that,
/// it is removed.
#[derive(Debug)]
pub struct Replacement {
    destination: Destination,
    file: BufWriter<File>,
    unfinished: Unfinished,
}

impl Replacement {
    /// An empty file.
    ///
    /// # Errors
    /// When no file can be created in the folder of the destination.
    pub fn new(destination: Destination) -> Result<Self, Error> {
        let (unfinished, file) = Unfinished::begin(&destination.target, Readers::Anybody)
            .map_err(|source| destination.error(source))?;
        Ok(Self { destination, file: BufWriter::new(file), unfinished })
    }

    /// Renames the complete file to its destination.
    ///
    /// # Errors
    /// When the rest cannot be written, or the file cannot be renamed.
    pub fn finish(mut self) -> Result<(), Error> {
        let finished = self.file.flush().and_then(|()| {
            self.file.get_ref().sync_all()?;
            std::fs::rename(&self.unfinished.0, &self.destination.target)
        });
        finished.map_err(|source| self.destination.error(source))
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|source| named(&self.destination.path, source))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|source| named(&self.destination.path, source))
    }
}

/// Writes a whole file, or nothing.
///
/// # Errors
/// When it cannot be written.
pub fn write_file(destination: Destination, bytes: &[u8]) -> Result<(), Error> {
    let mut file = Replacement::new(destination)?;
    file.file.write_all(bytes).map_err(|source| file.destination.error(source))?;
    file.finish()
}

/// Writes a whole file to a path, or nothing.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
    write_file(Destination::new(path.as_ref(), &[])?, bytes)
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Whoever the user's settings let read it.
    Anybody,
    /// Its owner alone. Where files have no such permissions, as [`Readers::Anybody`].
    Owner,
}

/// Writes a whole new file to a path, or nothing. What exists is not replaced, and links are not followed.
///
/// # Errors
/// When there is something at the path, or the file cannot be written.
pub fn create(path: impl AsRef<Path>, bytes: &[u8], readers: Readers) -> Result<(), Error> {
    let path = path.as_ref();
    if path.symlink_metadata().is_ok() {
        return Err(Error::Exists(path.to_path_buf()));
    }
    let destination = Destination::new(path, &[])?;
    let created = Unfinished::begin(&destination.target, readers).and_then(|(unfinished, mut file)| {
        file.write_all(bytes)?;
        file.sync_all()?;
        // Unlike a rename, a link fails if somebody else has created the file meanwhile.
        std::fs::hard_link(&unfinished.0, &destination.target)
    });
    created.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists(path.to_path_buf()),
        _ => destination.error(source),
    })
}

/// The temporary names of files that are being written.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The temporary name of a file. When it is dropped, the file is removed, unless it was renamed.
#[derive(Debug)]
struct Unfinished(PathBuf);

impl Unfinished {
    /// A new file in the folder of its target.
    fn begin(target: &Path, readers: Readers) -> io::Result<(Self, File)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut all = unfinished();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if readers == Readers::Owner {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = readers;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder(target).join(format!(".par-{}-{number}", std::process::id()));
            match options.open(&path) {
                Ok(file) => {
                    all.insert(path.clone());
                    return Ok((Self(path), file));
                }
                // A file of another process that had the same id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.kind().into()),
            }
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // The file does not exist any more once it was renamed.
        let _ = std::fs::remove_file(&self.0);
        unfinished().remove(&self.0);
    }
}

/// While it lives, no file can be started.
#[derive(Debug)]
pub struct Discarded {
    _lock: MutexGuard<'static, BTreeSet<PathBuf>>,
}

/// Removes all unfinished files, for a program that was interrupted and exits while it holds the guard.
pub fn discard_unfinished() -> Discarded {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // The file may just have been finished or removed.
        let _ = std::fs::remove_file(path);
    }
    Discarded { _lock: unfinished }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_is_there_when_it_is_complete_and_not_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        write(&path, b"old").expect("a file");
        let mut file = Replacement::new(Destination::new(&path, &[]).expect("a file")).expect("a file");
        file.write_all(b"new").expect("written");
        assert_eq!(std::fs::read(&path).expect("a file"), b"old");
        drop(file);
        assert_eq!(names(folder.path()), ["a.csv"]);
        write(&path, b"new").expect("a file");
        assert_eq!((std::fs::read(&path).expect("a file"), names(folder.path()).len()), (b"new".to_vec(), 1));
    }

    #[test]
    fn a_created_file_replaces_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        create(&path, b"one", Readers::Owner).expect("a file");
        let error = create(&path, b"two", Readers::Owner).expect_err("there is one").to_string();
        assert_eq!(
            error,
            format!("{}: exists already, and is not replaced\nhint: choose another name", path.display())
        );
        assert_eq!((std::fs::read(&path).expect("a file"), names(folder.path()).len()), (b"one".to_vec(), 1));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_for_its_owner_is_closed_to_others_and_not_written_through_a_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let [key, link] = ["key", "link"].map(|name| folder.path().join(name));
        create(&key, b"secret", Readers::Owner).expect("a file");
        let mode = key.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        symlink(folder.path().join("elsewhere"), &link).expect("a link");
        assert!(matches!(create(&link, b"secret", Readers::Owner), Err(Error::Exists(path)) if path == link));
        assert_eq!(names(folder.path()).len(), 2);
    }

    #[test]
    fn errors_name_the_path_and_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("none").join("a.csv");
        assert_eq!(
            write(&path, b"").expect_err("no folder").to_string(),
            format!("{}: no such folder `{}`", path.display(), folder.path().join("none").display())
        );
        let error = write(folder.path(), b"").expect_err("a folder").to_string();
        assert_eq!(error, format!("{}: is a folder, expected a file to write", folder.path().display()));
    }
}
