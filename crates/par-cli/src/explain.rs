//! `par explain`: one person's answer as text.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use par_answer::Solver;
use par_answer::table::TableAnswerer;

use crate::classifier_file::ClassifierOptions;
use crate::recourse::request::RequestArguments;
use crate::rows::SelectedRows;
use crate::{model_file, output, person};

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
        let (batch, row, number) = person::find(&self.id, &answerer, &mut rows, id_column.as_deref())?;
        let person = answerer.answer(&mut Solver::new(&model), &batch, row, number);
        if let Err(error) = &person.answer {
            return Err(anyhow!("{}, {error}", batch.place(row)));
        }
        if self.json {
            return output::print_json(&person.json(&model));
        }
        output::print(&person.text(&model))
    }
}
