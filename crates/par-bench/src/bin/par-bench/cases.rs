//! The tables that a command works on, as cases.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args};
use par_bench::{Case, paper};
use par_model::Config;
use par_terminal::config_file;

use crate::folded::{self, FoldOptions};

/// A table with its schema, or a folder of such pairs.
#[derive(Args)]
#[command(group(ArgGroup::new("what").required(true).args(["table", "suite"])))]
pub(crate) struct CaseOptions {
    /// Table to measure on: CSV, plain or gzipped, or Parquet if the program is built for it
    #[arg(long, value_name = "FILE", requires = "schema")]
    table: Option<PathBuf>,
    /// What its columns mean
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    schema: Option<PathBuf>,
    /// Folder with tables to measure on, each beside its schema: NAME.csv, NAME.csv.gz or NAME.parquet, and NAME.toml
    #[arg(long, value_name = "FOLDER")]
    suite: Option<PathBuf>,
    #[command(flatten)]
    folds: FoldOptions,
    /// Settings, as TOML, instead of the defaults and of those for the paper's tables
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl CaseOptions {
    /// Whether they name a folder of tables.
    pub(crate) fn is_suite(&self) -> bool {
        self.suite.is_some()
    }

    /// The tables with their schemas.
    pub(crate) fn tables(&self) -> Result<Vec<(PathBuf, PathBuf)>> {
        match (&self.table, &self.schema, &self.suite) {
            (Some(table), Some(schema), _) => Ok(vec![(table.clone(), schema.clone())]),
            (_, _, Some(suite)) => pairs(suite),
            _ => bail!("name a table with its schema, or a folder of such pairs"),
        }
    }

    /// All files that are read for these tables.
    pub(crate) fn files<'a>(&'a self, tables: &'a [(PathBuf, PathBuf)]) -> Vec<&'a Path> {
        let files = tables.iter().flat_map(|(table, schema)| [table, schema]).chain(&self.config);
        files.map(PathBuf::as_path).collect()
    }

    /// Reads a table and its schema.
    pub(crate) fn open(&self, table: &Path, schema: &Path) -> Result<Case> {
        let config = match &self.config {
            Some(file) => config_file::laid_over(&Config::default(), file)?,
            None => Config::default(),
        };
        folded::case(table, schema, &self.folds, config)
    }

    /// A table with each of its configurations: the paper's, if it is one of the paper's tables.
    pub(crate) fn configured(&self, case: Case) -> Vec<Case> {
        let known = paper::benchmarks_of(&case.schema);
        match (&self.config, known.is_empty()) {
            (None, false) => known.iter().map(|known| case.of_paper(known)).collect(),
            // Published figures belong to other settings, so the case gets another name.
            (Some(file), false) => {
                let name = format!("{}, {}", case.name, folded::stem(file));
                vec![case.configured_as(&name, case.config.clone())]
            }
            // The same for a table that only has the name of one of the paper's.
            (_, true) if paper::benchmark(&case.name).is_some() => {
                let name = format!("{}, not the paper's", case.name);
                vec![case.configured_as(&name, case.config.clone())]
            }
            (_, true) => vec![case],
        }
    }
}

/// The tables of a folder with a schema of the same name, sorted by name.
pub(crate) fn pairs(folder: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    let origin = folder.display();
    let entries = std::fs::read_dir(folder).with_context(|| format!("{origin}: cannot be read"))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.sort();
    let pair = |schema: &PathBuf| {
        let tables = ["csv", "csv.gz", "parquet"].map(|ending| schema.with_extension(ending));
        tables.into_iter().find(|table| table.is_file()).map(|table| (table, schema.clone()))
    };
    let schemas = files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "toml"));
    let pairs: Vec<(PathBuf, PathBuf)> = schemas.filter_map(pair).collect();
    if pairs.is_empty() {
        bail!(
            "{origin}: holds no table with a schema beside it, expected NAME.csv, NAME.csv.gz or NAME.parquet, and NAME.toml"
        );
    }
    Ok(pairs)
}
