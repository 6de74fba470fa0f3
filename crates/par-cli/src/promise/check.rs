//! `par promise check`: whether a record is genuine, in force and kept.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use par_promise::{Check, CheckOptions, Date, PublicKey, Record, Sealed};

use super::{date_or_today, exit_code, naming_model};
use crate::aligned::Facts;
use crate::{model_file, output};

const EXAMPLES: &str = "\
Examples:
  par promise check ID.record.json --public-key lender.key.pub
  par promise check ID.record.json --public-key lender.key.pub --sealed ID.sealed.json --model later.par

The key comes from where the lender publishes it: the one that the record itself names, anybody can make. Without
--sealed nothing can be said of the person, the way and later models. A model keeps a promise if
it accepts the promised row as written, by its own threshold and policies.

Exit status: 0 genuine and in force, and opened and kept if --sealed and --model are given; 1 not; 2 error.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckCommand {
    /// The record
    record: PathBuf,
    /// The lender's public key
    #[arg(long, value_name = "FILE")]
    public_key: PathBuf,
    /// The sealed file of the record
    #[arg(long, value_name = "FILE")]
    sealed: Option<PathBuf>,
    /// A model, which is asked whether it keeps the promise
    #[arg(long, value_name = "FILE", requires = "sealed")]
    model: Option<PathBuf>,
    /// Day for which the dates are checked, in UTC [default: today]
    #[arg(long, value_name = "DATE")]
    date: Option<Date>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl CheckCommand {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let record = Record::load(&self.record)?;
        let public_key = PublicKey::load(&self.public_key)?;
        let sealed = self.sealed.as_deref().map(Sealed::load).transpose()?;
        let later = self.model.as_deref().map(model_file::read_hashed).transpose()?;
        let date = date_or_today(self.date)?;
        let options = CheckOptions { public_key, date, sealed: sealed.as_ref(), later: later.as_ref() };
        let check = Check::new(&record, options);
        let check = match &self.model {
            Some(model) => naming_model(model, check)?,
            None => check?,
        };
        if self.json {
            output::print_json(&check)?;
        } else {
            let mut facts = Facts::default();
            check.facts().into_iter().for_each(|(title, fact)| facts.add(title, fact));
            output::print(&facts.text())?;
        }
        Ok(exit_code(check.good))
    }
}
