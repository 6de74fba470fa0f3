//! `par promise issue`: a signed promise for every way.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use par_answer::table::{RowAnswer, TableAnswerer};
use par_answer::{Solver, words};
use par_data::Batch;
use par_promise::{Date, Error, Issuer, PrivateKey, Promise, ValidFor};
use rayon::prelude::*;
use serde::Serialize;

use super::{date_or_today, exit_code, naming_model};
use crate::aligned::{Facts, grouped};
use crate::recourse::AnswerTally;
use crate::recourse::request::RequestArguments;
use crate::rows::{Condition, SelectedRows};
use crate::{model_file, output, person};

const EXAMPLES: &str = "\
Examples:
  par promise issue people.par denied.csv --key lender.key --out promises --valid '12 months'
  par promise issue people.par denied.csv --id 17 --key lender.key --out promises --valid '1 year' --count 3

For every way of every denied row, two new files in the folder:

  ID.record.json  for the person and everybody: dates, hashes of model and schema, the request, salted
                  commitments to the person's row and to the way, and a signature. It holds no cell.
  ID.sealed.json  for the lender alone: the cells and salts that open the commitments

Ids and salts are random, so that no two runs write the same bytes, also with --date: commitments without fresh
salts could be guessed. --json lists which record is whose. What people want stands in no record: --lock, --limit,
--effort, --max-effort, --within, and options in columns of the table, such as `locks`, count, but are left out.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Issue {
    /// Made by `par fit`
    model: PathBuf,
    /// CSV, plain or gzipped, or Parquet if the program is built for it; the columns in any order
    table: PathBuf,
    /// The private key, made by `par promise keygen`
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Folder for records and sealed files; made if it is not there
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// How long promises are valid after the day of issue: `90 days`, `12 months`, `1 year`
    #[arg(long, value_name = "TIME")]
    valid: ValidFor,
    /// Day of issue, in UTC [default: today]
    #[arg(long, value_name = "DATE")]
    date: Option<Date>,
    /// One person: the value in the schema's id column, or the number of the row (from 1) if the schema has none
    #[arg(long, value_name = "ROW", conflicts_with = "conditions")]
    id: Option<String>,
    /// Keep rows with this value in a column (COLUMN=VALUE), or another (COLUMN!=VALUE); all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    #[command(flatten)]
    request: RequestArguments,
    /// Exit with 1 when a denied row is left without a promise, or a row cannot be read
    #[arg(long)]
    strict: bool,
    /// Print as JSON, with all promises
    #[arg(long)]
    json: bool,
}

impl Issue {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let key = PrivateKey::load(&self.key)?;
        let model = model_file::read_hashed(&self.model)?;
        let request = self.request.request(model.model())?;
        let issued = date_or_today(self.date)?;
        let issuer = Issuer::new(&key, &model, self.request.options(), issued, issued.after(self.valid)?);
        let issuer = naming_model(&self.model, issuer)?;
        let mut rows = SelectedRows::open(&self.table, true, &self.conditions)?;
        let columns = model_file::columns(model.model(), &rows)?;
        let id_column = columns.id.map(|column| rows.columns()[column].clone());
        let answerer = TableAnswerer::new(model.model(), rows.columns(), columns, request, false);
        make_folder(&self.out)?;
        let mut issued = Issued { folder: &self.out, tally: AnswerTally::default(), promises: Vec::new() };
        if let Some(id) = &self.id {
            let (batch, row, number) = person::find(id, &answerer, &mut rows, id_column.as_deref())?;
            let person = answerer.answer(&mut Solver::new(model.model()), &batch, row, number);
            issued.add(&issuer, &person, &batch, row)?;
        } else {
            rows.read_ahead(|batch, numbers| {
                let people: Vec<RowAnswer<'_>> = (0..batch.rows())
                    .into_par_iter()
                    .map_init(
                        || Solver::new(model.model()),
                        |solver, row| answerer.answer(solver, &batch, row, numbers[row]),
                    )
                    .collect();
                let mut people = people.iter().enumerate();
                people.try_for_each(|(row, person)| issued.add(&issuer, person, &batch, row))
            })?;
            if issued.tally.rows == 0 {
                return Err(rows.none_passed());
            }
        }
        if self.json {
            output::print_json(&issued)?;
        } else {
            output::print(&issued.text())?;
        }
        Ok(exit_code(!self.strict || issued.tally.not_found + issued.tally.errors == 0))
    }
}

/// Makes the folder, unless it is there.
fn make_folder(path: &Path) -> Result<(), Error> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made.map_err(|source| Error::Folder { path: path.to_path_buf(), source }),
    }
}

/// The promises so far, and the rows by answer.
#[derive(Serialize)]
struct Issued<'a> {
    #[serde(skip)]
    folder: &'a Path,
    #[serde(flatten)]
    tally: AnswerTally,
    promises: Vec<IssuedPromise>,
}

/// Which record is whose.
#[derive(Serialize)]
struct IssuedPromise {
    person: String,
    record: String,
    sealed: String,
}

impl Issued<'_> {
    /// Writes a promise for each way of a row.
    fn add(&mut self, issuer: &Issuer<'_>, person: &RowAnswer<'_>, batch: &Batch, row: usize) -> Result<()> {
        self.tally.count(person, batch, row);
        for promise in issuer.issue(person)? {
            promise.save(self.folder)?;
            self.promises.push(IssuedPromise::new(person, &promise));
        }
        Ok(())
    }

    fn text(&self) -> String {
        let AnswerTally { rows, accepted, found, not_found, errors, first_error, .. } = &self.tally;
        let mut facts = Facts::default();
        facts.add("rows", grouped(*rows));
        facts.add("accepted", grouped(*accepted));
        facts.add("with a promise", grouped(*found));
        facts.add("without a way", grouped(*not_found));
        if let Some(error) = first_error {
            facts.add("errors", format!("{}, the first: {}", grouped(*errors), words::without_hint(error)));
        }
        facts
            .add("records", format!("{}, in {}", grouped(self.promises.len() as u64), self.folder.display()));
        facts.text()
    }
}

impl IssuedPromise {
    fn new(person: &RowAnswer<'_>, promise: &Promise) -> Self {
        Self { person: person.id.clone(), record: promise.record_name(), sealed: promise.sealed_name() }
    }
}
