//! Not measured yet.

use crate::case::Fold;
use crate::error::Error;
use crate::figures::Sheet;

/// Adds nothing yet.
pub(super) fn measure(_fold: &Fold<'_>, _sheet: &mut Sheet) -> Result<(), Error> {
    Ok(())
}
