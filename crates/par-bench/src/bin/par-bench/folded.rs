//! Opens a table with folds for measuring.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use par_bench::Case;
use par_data::{Schema, Table, TableOptions};
use par_model::Config;

/// The columns that hold folds and factuals.
#[derive(Args, Default)]
pub(crate) struct FoldOptions {
    /// Column with the fold in which a row is tested [default: the schema's]
    #[arg(long, value_name = "COLUMN")]
    folds: Option<String>,
    /// Column with a 1 for every factual, a row that is answered [default: the schema's `subtest`, otherwise all rows]
    #[arg(long, value_name = "COLUMN")]
    factuals: Option<String>,
}

/// Reads a table and its schema as a case.
pub(crate) fn case(table: &Path, schema: &Path, folds: &FoldOptions, config: Config) -> Result<Case> {
    let described = Schema::load(schema)?;
    let special = described.special();
    let Some(fold) = folds.folds.clone().or_else(|| special.fold.clone()) else {
        bail!("{}: names no column of folds\nhint: name it with `--folds COLUMN`", schema.display());
    };
    let read = Table::open(table, &TableOptions::default())?;
    let sampled = special.subtest.clone().filter(|column| read.columns().contains(column));
    let factuals = folds.factuals.clone().or(sampled);
    let name = described.name().map_or_else(|| stem(table), str::to_string);
    Ok(Case::new(&name, described, config, read, &fold, factuals.as_deref())?)
}

/// A file's name without its extensions.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.split('.').next().unwrap_or_default().to_string()
}
