//! Bins and vocabularies from the rows of a table.

use anyhow::Result;
use par_data::{Discretizer, DiscretizerConfig, Error, Schema};

use crate::rows::SelectedRows;

/// Fits the schema's features to the rows; `bins` is the number of bins of a numeric
/// feature whose schema sets none.
pub(crate) fn fit(schema: &Schema, mut rows: SelectedRows, bins: Option<usize>) -> Result<Discretizer> {
    let mut config = DiscretizerConfig::default();
    config.bins = bins.unwrap_or(config.bins);
    let columns = schema.columns(rows.origin(), rows.columns())?;
    Discretizer::fit(schema, &columns, &mut rows, &config).map_err(|error| match error {
        Error::NoRows { .. } => rows.none_passed(),
        other => other.into(),
    })
}
