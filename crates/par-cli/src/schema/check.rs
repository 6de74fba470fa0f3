//! `par schema check`: a table checked against a schema.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use par_data::{Batch, Columns, Coverage, Discretizer, Schema, UNKNOWN};

use super::report::SchemaReport;
use crate::rows::{Condition, SelectedRows, Selection};
use crate::{bins, output};

const EXAMPLES: &str = "\
Examples:
  par schema check people.csv people.toml
  par schema check people.csv people.toml --train-where 'fold!=0'
  par schema check people.csv people.toml --train-where year=2023 --where year=2024

Coverage is the share of cells inside the bins, fidelity the share of rows with every cell inside. Both need
held-out rows, and so --train-where.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// CSV, plain or gzipped, or Parquet if the program is built for it
    table: PathBuf,
    /// Drafted by `par schema init`, corrected by you
    schema: PathBuf,
    /// Fit the bins to these rows, COLUMN=VALUE or COLUMN!=VALUE; all must hold
    #[arg(long, value_name = "CONDITION")]
    train_where: Vec<Condition>,
    /// Check these rows [default: the rows that the bins are not fitted to, if there are any, otherwise all]
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Quantile bins of a numeric feature, unless the schema says otherwise [default: 10]
    #[arg(long, value_name = "N")]
    bins: Option<usize>,
    /// The first line is a row already
    #[arg(long)]
    no_header: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> Result<()> {
        let schema = Schema::load(&self.schema)?;
        let fitted = if self.train_where.is_empty() { &self.conditions } else { &self.train_where };
        let open = |conditions: &[Condition]| SelectedRows::open(&self.table, !self.no_header, conditions);
        let discretizer = bins::fit(&schema, open(fitted)?, self.bins)?;

        let rows = open(&[])?;
        let (origin, columns) = (rows.origin().to_string(), rows.columns().to_vec());
        let fitted = Selection::new(&origin, &columns, fitted)?;
        let checked = Selection::new(&origin, &columns, &self.conditions)?;
        let by_default = self.conditions.is_empty() && !self.train_where.is_empty();
        let mut tally = SchemaTally::new(&discretizer, schema.columns(&origin, &columns)?);
        for batch in rows {
            let batch = batch?;
            tally.add_fitted(&only(&batch, |row| fitted.holds(&batch, row)))?;
            tally.add_checked(&only(&batch, |row| {
                if by_default { !fitted.holds(&batch, row) } else { checked.holds(&batch, row) }
            }))?;
        }
        if tally.coverage.rows() == 0 {
            bail!("{origin}: no row is left to check\nhint: say which with `--where`");
        }
        let report = SchemaReport::new(&tally, &origin, &columns, !self.train_where.is_empty());
        if self.json { output::print_json(&report) } else { output::print(&report.text()) }
    }
}

fn only(batch: &Batch, keep: impl Fn(usize) -> bool) -> Batch {
    let mut kept = batch.clone();
    kept.retain(|_, row| keep(row));
    kept
}

/// Counts over the rows of a table.
pub(super) struct SchemaTally<'a> {
    pub(super) discretizer: &'a Discretizer,
    pub(super) columns: Columns,
    /// Rows that the bins were fitted to.
    pub(super) fitted_rows: u64,
    /// Fitted rows by feature and code.
    pub(super) codes: Vec<Vec<u64>>,
    /// Coverage of the checked rows.
    pub(super) coverage: Coverage,
    /// By feature: cells of checked rows that are missing or unseen.
    pub(super) unknown: Vec<u64>,
    /// By feature: numbers of checked rows outside the schema's bounds.
    pub(super) out_of_bounds: Vec<u64>,
    /// Checked rows by class, if the table has the label.
    pub(super) classes: Option<Vec<u64>>,
    /// By feature and code: checked rows that are not of a favourable class, and rows that are.
    pub(super) by_class: Vec<Vec<[u64; 2]>>,
}

impl<'a> SchemaTally<'a> {
    fn new(discretizer: &'a Discretizer, columns: Columns) -> Self {
        let cardinalities = discretizer.cardinalities();
        let features = cardinalities.len();
        let label = discretizer.schema().label().filter(|_| columns.label.is_some());
        Self {
            discretizer,
            fitted_rows: 0,
            by_class: cardinalities.iter().map(|codes| vec![[0, 0]; *codes]).collect(),
            codes: cardinalities.into_iter().map(|codes| vec![0; codes]).collect(),
            coverage: Coverage::new(features),
            unknown: vec![0; features],
            out_of_bounds: vec![0; features],
            classes: label.map(|label| vec![0; label.classes.len()]),
            columns,
        }
    }

    fn add_fitted(&mut self, batch: &Batch) -> Result<()> {
        self.fitted_rows += batch.rows() as u64;
        for row in self.discretizer.encode(&self.columns, batch)?.rows() {
            for (counts, &code) in self.codes.iter_mut().zip(row) {
                if let Some(count) = counts.get_mut(usize::from(code)) {
                    *count += 1;
                }
            }
        }
        Ok(())
    }

    fn add_checked(&mut self, batch: &Batch) -> Result<()> {
        let encoded = self.discretizer.encode(&self.columns, batch)?;
        self.coverage.merge(encoded.coverage());
        for row in encoded.rows() {
            for (count, _) in self.unknown.iter_mut().zip(row).filter(|(_, code)| **code == UNKNOWN) {
                *count += 1;
            }
        }
        let schema = self.discretizer.schema();
        for (position, feature) in schema.features().iter().enumerate() {
            let Some([low, high]) = feature.bounds else { continue };
            let cells = (0..batch.rows()).map(|row| batch.cell(row, self.columns.features[position]));
            let numbers = cells.filter_map(|cell| cell.trim().parse::<f64>().ok());
            let outside = numbers.filter(|number| *number < low || *number > high);
            self.out_of_bounds[position] += outside.count() as u64;
        }
        if let (Some(counts), Some(label)) = (&mut self.classes, schema.label()) {
            for (class, row) in schema.classes(&self.columns, batch)?.into_iter().zip(encoded.rows()) {
                counts[class] += 1;
                for (by_class, &code) in self.by_class.iter_mut().zip(row) {
                    if let Some(counts) = by_class.get_mut(usize::from(code)) {
                        counts[usize::from(label.wants(class))] += 1;
                    }
                }
            }
        }
        Ok(())
    }
}
