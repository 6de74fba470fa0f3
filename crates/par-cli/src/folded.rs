//! A table with folds, as it is opened to be measured on.

use std::path::Path;

use anyhow::{Result, bail};
use par_bench::Case;
use par_data::{Schema, Table, TableOptions};
use par_recourse::Config;

/// The rows of a table. Its folds are in the column `folds`, or else the one that the schema names; those who are
/// asked about have a 1 in `factuals`, or else in the schema's `subtest`, or are all.
pub(crate) fn case(
    table: &Path,
    schema: &Path,
    folds: Option<&str>,
    factuals: Option<&str>,
    config: Config,
) -> Result<Case> {
    let described = Schema::load(schema)?;
    let special = described.special();
    let Some(fold) = folds.map(str::to_string).or_else(|| special.fold.clone()) else {
        bail!("{}: names no column of folds\nhint: say which it is with `--folds COLUMN`", schema.display());
    };
    let read = Table::open(table, &TableOptions::default())?;
    let sampled = special.subtest.clone().filter(|column| read.columns().contains(column));
    let factuals = factuals.map(str::to_string).or(sampled);
    let name = described.name().map_or_else(|| stem(table), str::to_string);
    Ok(Case::new(&name, described, config, read, &fold, factuals.as_deref())?)
}

/// A file's name without its endings.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.split('.').next().unwrap_or_default().to_string()
}
