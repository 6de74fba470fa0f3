//! Reads small files that nobody vouches for.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use crate::error::Error;

/// A small file.
pub(crate) struct SmallFile {
    pub(crate) bytes: Vec<u8>,
    /// Of the file that was read, not of a link to it.
    pub(crate) metadata: Metadata,
}

impl SmallFile {
    /// Reads a file of at most so many bytes; `expected` says in messages what it should be.
    pub(crate) fn read(path: &Path, most: u64, expected: &'static str) -> Result<Self, Error> {
        let failed = |source| Error::Open { path: path.to_path_buf(), source };
        let found = path.metadata().map_err(failed)?;
        // Opening a pipe would wait for a writer.
        if !found.is_file() {
            let found = if found.is_dir() { "a folder" } else { "a device or a pipe" };
            return Err(Error::NoFile { path: path.to_path_buf(), found, expected });
        }
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > most {
            return Err(Error::TooLarge { path: path.to_path_buf(), most, expected });
        }
        Ok(Self { bytes, metadata })
    }
}
