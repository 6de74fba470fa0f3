//! `par explain`: one person's answer as text.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use par_answer::Solver;
use par_answer::table::TableAnswerer;
use par_data::Batch;

use crate::aligned::grouped;
use crate::classifier_file::ClassifierOptions;
use crate::recourse::request::RequestArguments;
use crate::rows::SelectedRows;
use crate::{model_file, output};

const EXAMPLES: &str = "\
Examples:
  par explain people.par denied.csv --id 17
  par explain people.par denied.csv --id 17 --count 3 --lock Age
  par explain people.par denied.csv --id 17 --method exact --json
  par explain people.par denied.csv --id 17 --limit 'Duration=6..24' --limit 'Housing=A151|A152'";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// Made by `par fit`
    model: PathBuf,
    /// CSV, plain or gzipped, or Parquet if the program is built for it; the columns in any order
    table: PathBuf,
    /// The person: the value in the schema's id column, or the number of the row (from 1) if the schema has none
    #[arg(long, value_name = "ROW")]
    id: String,
    #[command(flatten)]
    request: RequestArguments,
    #[command(flatten)]
    classifier: ClassifierOptions,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(self) -> Result<()> {
        let model = self.classifier.answering(model_file::read(&self.model)?, &self.model)?;
        let request = self.request.request(&model)?;
        let mut rows = SelectedRows::open(&self.table, true, &[])?;
        let columns = model_file::columns(&model, &rows)?;
        let id_column = columns.id.map(|column| rows.columns()[column].clone());
        let answerer = TableAnswerer::new(&model, rows.columns(), columns, request, false);
        let (batch, row, number) = self.find(&answerer, &mut rows, id_column.as_deref())?;
        let person = answerer.answer(&mut Solver::new(&model), &batch, row, number);
        if let Err(error) = &person.answer {
            return Err(anyhow!("{}, {error}", batch.place(row)));
        }
        if self.json {
            return output::print_json(&person.json(&model));
        }
        output::print(&person.text(&model))
    }

    /// The row with this id. Two such rows are an error: the answer might be for the other person.
    fn find(
        &self,
        answerer: &TableAnswerer<'_>,
        rows: &mut SelectedRows,
        id_column: Option<&str>,
    ) -> Result<(Batch, usize, u64)> {
        let wanted = self.id.trim();
        let mut found: Option<(Batch, usize, u64)> = None;
        let mut before = 0;
        for batch in rows.by_ref() {
            let batch = batch?;
            for row in 0..batch.rows() {
                let number = before + row as u64 + 1;
                if answerer.id(&batch, row, number).trim() != wanted {
                    continue;
                }
                if let Some((first, at, _)) = &found {
                    bail!(
                        "{}: `{wanted}` names a second row, the first is {}\n\
                         hint: leave all but one of them out of the table",
                        batch.place(row),
                        first.place(*at)
                    );
                }
                found = Some((batch.clone(), row, number));
            }
            before += batch.rows() as u64;
        }
        if let Some(found) = found {
            return Ok(found);
        }
        if rows.read() == 0 {
            return Err(rows.none_passed());
        }
        let (origin, read) = (rows.origin(), grouped(rows.read()));
        match id_column {
            Some(column) => bail!("{origin}: none of {read} rows has `{wanted}` in column `{column}`"),
            None => bail!(
                "{origin}: no row `{wanted}`, expected a number from 1 to {read}\n\
                 hint: the table has no id column, so that rows go by their number"
            ),
        }
    }
}
