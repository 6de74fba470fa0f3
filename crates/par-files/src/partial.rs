//! A file that may take several runs of a program: what one run wrote, the next one goes on from.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{Destination, Error, named, write_file};

/// A file beside its destination, `NAME.partial`, that survives the program, and becomes the destination when
/// [`Partial::finish`] is called.
///
/// `NAME.partial.json` is a record of the caller's: what the bytes so far belong to. Bytes after the last
/// [`Partial::checkpoint`] do not count.
#[derive(Debug)]
pub struct Partial {
    destination: Destination,
    path: PathBuf,
    record: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
}

impl Partial {
    /// Opens the partial file of a destination, or starts one; returns the record of its last checkpoint, if there is one.
    ///
    /// # Errors
    /// When it cannot be opened, another program is writing it, or it or its record is a link or one of the `inputs`.
    pub fn open(destination: Destination, inputs: &[&Path]) -> Result<(Self, Option<Vec<u8>>), Error> {
        let path = beside(&destination.target, ".partial");
        let record = beside(&destination.target, ".partial.json");
        for own in [&path, &record] {
            if own.is_symlink() {
                return Err(Error::Link(own.clone()));
            }
            Destination::new(own, inputs)?;
        }
        let failed = |source| Error::Write { path: path.clone(), source };
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(path)),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let found = match std::fs::read(&record) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(Error::Write { path: record, source }),
        };
        Ok((Self { destination, path, record, file: BufWriter::new(file), bytes: 0 }, found))
    }

    /// Goes on after so many bytes; those that follow them are removed.
    ///
    /// # Errors
    /// When the file has fewer bytes, or cannot be changed.
    pub fn go_on_after(&mut self, bytes: u64) -> Result<(), Error> {
        let file = self.file.get_mut();
        let length =
            file.metadata().map_err(|source| Error::Write { path: self.path.clone(), source })?.len();
        if length < bytes {
            return Err(Error::Shorter { path: self.path.clone(), found: length, expected: bytes });
        }
        let moved = file.set_len(bytes).and_then(|()| file.seek(SeekFrom::Start(bytes)));
        moved.map_err(|source| Error::Write { path: self.path.clone(), source })?;
        self.bytes = bytes;
        Ok(())
    }

    /// Whether nothing is written yet, by this run or an earlier one.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0 && self.file.get_ref().metadata().is_ok_and(|file| file.len() == 0)
    }

    /// The file, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes sure that what is written so far survives, and writes `record` of the number of its bytes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn checkpoint(&mut self, record: impl FnOnce(u64) -> Vec<u8>) -> Result<(), Error> {
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        written.map_err(|source| Error::Write { path: self.path.clone(), source })?;
        write_file(Destination::new(&self.record, &[])?, &record(self.bytes))
    }

    /// Renames the complete file to its destination, and removes the record.
    ///
    /// # Errors
    /// When the rest cannot be written, or the file cannot be renamed.
    pub fn finish(mut self) -> Result<(), Error> {
        let finished = self.file.flush().and_then(|()| {
            self.file.get_ref().sync_all()?;
            std::fs::rename(&self.path, &self.destination.target)
        });
        finished.map_err(|source| self.destination.error(source))?;
        // A record without its file is not gone on from, so that one that cannot be removed does no harm.
        let _ = std::fs::remove_file(&self.record);
        Ok(())
    }

    /// Removes the file and its record.
    pub fn discard(self) {
        // What cannot be removed is found, and named, by the next run.
        let _ = std::fs::remove_file(&self.record);
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Write for Partial {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes).map_err(|source| named(&self.path, source))?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|source| named(&self.path, source))
    }
}

fn beside(target: &Path, suffix: &str) -> PathBuf {
    let mut name = target.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> (Partial, Option<Vec<u8>>) {
        Partial::open(Destination::new(path, &[]).expect("a file"), &[]).expect("a partial file")
    }

    fn record(bytes: u64) -> Vec<u8> {
        bytes.to_string().into_bytes()
    }

    #[test]
    fn the_next_run_goes_on_from_the_last_checkpoint() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        let (mut file, found) = open(&path);
        assert_eq!(found, None);
        file.write_all(b"kept ").expect("written");
        file.checkpoint(record).expect("a checkpoint");
        file.write_all(b"lost").expect("written");
        drop(file);
        assert!(!path.exists());

        let (mut file, found) = open(&path);
        assert_eq!(found, Some(b"5".to_vec()));
        file.go_on_after(5).expect("long enough");
        file.write_all(b"and more").expect("written");
        file.finish().expect("finished");
        assert_eq!(std::fs::read(&path).expect("a file"), b"kept and more");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_file_that_lost_bytes_or_is_being_written_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        let (mut file, _) = open(&path);
        let name = file.path().display().to_string();
        assert_eq!(
            file.go_on_after(5).expect_err("an empty file").to_string(),
            format!(
                "{name}: has 0 bytes, expected at least 5 of an earlier run\nhint: remove it to start anew"
            )
        );
        let again = Partial::open(Destination::new(&path, &[]).expect("a file"), &[]).expect_err("taken");
        assert_eq!(again.to_string(), format!("{name}: is being written by another program"));
        file.discard();
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_taken_for_a_partial_file_or_its_record() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        for (name, to) in [("a.csv.partial", "a.csv"), ("a.csv.partial.json", "a.csv.partial")] {
            let link = folder.path().join(name);
            std::os::unix::fs::symlink(to, &link).expect("a link");
            let error =
                Partial::open(Destination::new(&path, &[]).expect("a file"), &[]).expect_err("a link");
            assert_eq!(
                error.to_string(),
                format!("{}: is a link, expected a file\nhint: remove it", link.display())
            );
            std::fs::remove_file(&link).expect("removed");
        }
    }

    #[test]
    fn an_input_is_not_taken_for_the_partial_file() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a.csv.partial", "a.csv.partial.json"] {
            let input = folder.path().join(name);
            std::fs::write(&input, "people").expect("written");
            let destination =
                Destination::new(&folder.path().join("a.csv"), &[&input]).expect("another file");
            Partial::open(destination, &[&input]).expect_err("it is read");
            assert_eq!(std::fs::read(&input).expect("a file"), b"people");
        }
    }
}
