//! Draft.
use crate::{error::Error, table::Table};
/// Draft.
pub fn draft(_table: Table) -> Result<String, Error> {
    Ok(String::new())
}
