//! Reading and writing model files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::Model;
use crate::error::ModelError;

/// The largest file that is read, so that a wrong file does not fill the memory.
const MAX_BYTES: u64 = 4 << 30;

impl Model {
    /// Reads a model from a file.
    ///
    /// # Errors
    /// When it cannot be read, is larger than 4 GiB, or is not a complete model of a known version.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        Self::read(File::open(path)?)
    }

    /// Reads the bytes of a model file, for [`Model::from_bytes`].
    ///
    /// # Errors
    /// When it cannot be read, or is larger than 4 GiB.
    pub fn load_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>, ModelError> {
        bytes(File::open(path)?)
    }

    /// Reads a model from an open file.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn read(file: File) -> Result<Self, ModelError> {
        Self::from_bytes(&bytes(file)?)
    }

    /// Writes the model to a file atomically.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        Ok(par_files::write(path, &self.to_bytes())?)
    }
}

/// The bytes of a file, unless it is too large.
fn bytes(file: File) -> Result<Vec<u8>, ModelError> {
    let check = |found| match found {
        0..=MAX_BYTES => Ok(()),
        _ => Err(ModelError::TooLarge { found, expected: MAX_BYTES }),
    };
    check(file.metadata()?.len())?;
    let mut bytes = Vec::new();
    // The metadata of a pipe has no length.
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    check(bytes.len() as u64)?;
    Ok(bytes)
}
