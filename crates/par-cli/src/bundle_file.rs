//! The bundle that `par fit` writes and everything after it reads.

use std::path::Path;

use anyhow::{Result, anyhow};
use par_data::{Columns, Error, found_instead};
use par_recourse::container::ContainerError;
use par_recourse::{Bundle, BundleError};

use crate::rows::Rows;

/// Reads a bundle.
pub(crate) fn read(path: &Path) -> Result<Bundle> {
    Bundle::load(path).map_err(|error| unreadable(path, error))
}

/// Why a file is no bundle.
pub(crate) fn unreadable(path: &Path, error: BundleError) -> anyhow::Error {
    let origin = path.display();
    match error {
        BundleError::Io(error) => anyhow!("{origin}: cannot be opened: {error}"),
        BundleError::Container(ContainerError::OtherKind) => {
            anyhow!("{origin}: not a model file\nhint: `par fit` makes one from a table and its schema")
        }
        BundleError::Container(ContainerError::OtherVersion { found, expected }) => {
            anyhow!(
                "{origin}: model files of version {found} are not known, this program reads versions up to {expected}"
            )
        }
        BundleError::TooLarge { .. } => anyhow!("{origin}: {error}"),
        damaged => anyhow!("{origin}: {damaged}\nhint: copy it again, or make it again with `par fit`"),
    }
}

/// Where the features of a bundle stand in a table.
pub(crate) fn columns(bundle: &Bundle, rows: &Rows) -> Result<Columns> {
    bundle.schema().columns(rows.origin(), rows.columns()).map_err(|error| match error {
        Error::AbsentColumn { origin, column, known } => {
            anyhow!("{origin}: no column `{column}`, which the model needs{}", found_instead(&column, &known))
        }
        other => other.into(),
    })
}
