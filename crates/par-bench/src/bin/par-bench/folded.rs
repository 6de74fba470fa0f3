//! A table with folds, as it is opened to be measured on.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use par_bench::Case;
use par_data::{Schema, Table, TableOptions};
use par_model::Config;

/// Which columns part a table.
#[derive(Args)]
pub(crate) struct Folds {
    /// Column that says in which fold a row is tested [default: the schema's]
    #[arg(long, value_name = "COLUMN")]
    folds: Option<String>,
    /// Column with a 1 for those who are asked about [default: the schema's `subtest`; all rows without one]
    #[arg(long, value_name = "COLUMN")]
    factuals: Option<String>,
}

/// A table that is to be measured on.
pub(crate) fn case(table: &Path, schema: &Path, folds: &Folds, config: Config) -> Result<Case> {
    let described = Schema::load(schema)?;
    let special = described.special();
    let Some(fold) = folds.folds.clone().or_else(|| special.fold.clone()) else {
        bail!("{}: names no column of folds\nhint: say which it is with `--folds COLUMN`", schema.display());
    };
    let read = Table::open(table, &TableOptions::default())?;
    let sampled = special.subtest.clone().filter(|column| read.columns().contains(column));
    let factuals = folds.factuals.clone().or(sampled);
    let name = described.name().map_or_else(|| stem(table), str::to_string);
    Ok(Case::new(&name, described, config, read, &fold, factuals.as_deref())?)
}

/// A file's name without its endings.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.split('.').next().unwrap_or_default().to_string()
}
