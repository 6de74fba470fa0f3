//! Reading a model file, with messages for the command line.

use std::path::Path;

use anyhow::{Result, anyhow};
use par_data::{Columns, Error, found_instead};
use par_model::container::ContainerError;
use par_model::{Model, ModelError};
use par_promise::HashedModel;

use crate::rows::SelectedRows;

/// Reads a model file.
pub(crate) fn read(path: &Path) -> Result<Model> {
    Model::load(path).map_err(|error| unreadable(path, error))
}

/// Reads a model file, and the hash of its bytes.
pub(crate) fn read_hashed(path: &Path) -> Result<HashedModel> {
    HashedModel::load(path).map_err(|error| unreadable(path, error))
}

/// Why a file cannot be read as a model, with a hint.
pub(crate) fn unreadable(path: &Path, error: ModelError) -> anyhow::Error {
    let origin = path.display();
    match error {
        ModelError::Io(error) => anyhow!("{origin}: cannot be opened: {error}"),
        ModelError::Container(ContainerError::OtherKind) => {
            anyhow!("{origin}: not a model file\nhint: `par fit` makes one from a table and its schema")
        }
        ModelError::Container(ContainerError::OtherVersion { found, expected }) => {
            anyhow!(
                "{origin}: model files of version {found} are not known, this program reads versions up to {expected}"
            )
        }
        ModelError::TooLarge { .. } => anyhow!("{origin}: {error}"),
        damaged => anyhow!("{origin}: {damaged}\nhint: copy it again, or make it again with `par fit`"),
    }
}

/// The columns of a table that hold the features of a model.
pub(crate) fn columns(model: &Model, rows: &SelectedRows) -> Result<Columns> {
    model.schema().columns(rows.origin(), rows.columns()).map_err(|error| match error {
        Error::AbsentColumn { origin, column, known } => {
            anyhow!("{origin}: no column `{column}`, which the model needs{}", found_instead(&column, &known))
        }
        other => other.into(),
    })
}
