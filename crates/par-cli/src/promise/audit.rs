//! `par promise audit`: the share of promises that a candidate model keeps.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use par_promise::{Audit, Date, PublicKey};
use serde::Serialize;

use super::{date_or_today, exit_code, naming_model};
use crate::aligned::{Facts, grouped};
use crate::diff::share;
use crate::{model_file, output};

const EXAMPLES: &str = "\
Examples:
  par promise audit promises --model candidate.par --public-key lender.key.pub
  par promise audit promises --model candidate.par --public-key lender.key.pub --least 0.99 --json

Reads every ID.record.json of the folder and the ID.sealed.json beside it. The share is that of the promises in
force: genuine, and neither expired nor issued later. What cannot be opened does not count as kept.

Exit status: 0 at least the share is kept and no file is bad; 1 not, or no promise is in force; 2 error. Bad are
records that cannot be read, are not signed by the given key, or are copies under another name; sealed files of
promises in force that are missing or do not open their record; and sealed files without a record.";

/// How many broken promises and bad files the text names; JSON has all.
const MOST_SHOWN: usize = 20;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditCommand {
    /// The folder of records and sealed files
    folder: PathBuf,
    /// The model that is to be deployed
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// The lender's public key: records of other keys are bad files
    #[arg(long, value_name = "FILE")]
    public_key: PathBuf,
    /// Least share of promises in force that the model must keep, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = share)]
    least: f64,
    /// Day for which the dates are checked, in UTC [default: today]
    #[arg(long, value_name = "DATE")]
    date: Option<Date>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// An audit as JSON.
#[derive(Serialize)]
struct AuditJson<'a> {
    passed: bool,
    least: f64,
    #[serde(flatten)]
    audit: &'a Audit,
}

impl AuditCommand {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let public_key = PublicKey::load(&self.public_key)?;
        let candidate = model_file::read_hashed(&self.model)?;
        let date = date_or_today(self.date)?;
        let audit = Audit::new(&self.folder, &candidate, public_key, date);
        let audit = naming_model(&self.model, audit)?;
        let (least, passed) = (self.least, audit.passes(self.least));
        if self.json {
            output::print_json(&AuditJson { passed, least, audit: &audit })?;
        } else {
            output::print(&text(&audit, least))?;
        }
        Ok(exit_code(passed))
    }
}

fn text(audit: &Audit, least: f64) -> String {
    let mut facts = Facts::default();
    let count = |count: usize| grouped(count as u64);
    facts.add("records", count(audit.records));
    facts.add("genuine", format!("{}, signed by the given key", count(audit.genuine)));
    facts.add("expired", format!("{} on {}", count(audit.expired), audit.date));
    facts.add("not yet issued", count(audit.not_yet_issued));
    facts.add("in force", count(audit.in_force));
    facts.add("kept", kept(audit, least));
    facts.add("broken", count(audit.broken.len()));
    facts.add("bad files", count(audit.bad.len()));
    if !audit.other_files.is_empty() {
        facts.add("other files", audit.other_files.join(", "));
    }
    let broken: Vec<[String; 2]> = (audit.broken.iter())
        .map(|promise| [promise.id.clone(), format!("{}: {}", promise.person, promise.sentence)])
        .collect();
    let bad: Vec<[String; 2]> =
        audit.bad.iter().map(|file| [file.name.clone(), file.problem.clone()]).collect();
    facts.text() + &list("broken", &broken) + &list("bad files", &bad)
}

/// How many promises are kept, and whether that is enough.
fn kept(audit: &Audit, least: f64) -> String {
    let Some(share) = audit.share else { return "no promise is in force".to_string() };
    // Rounded down: what is short of all is not 100.00 %.
    let hundredths = 10_000 * audit.kept as u128 / audit.in_force as u128;
    format!(
        "{} of {}: {}.{:02} %, {} for `--least {least}`",
        grouped(audit.kept as u64),
        grouped(audit.in_force as u64),
        hundredths / 100,
        hundredths % 100,
        if share >= least { "enough" } else { "too few" }
    )
}

/// The first of some things, under a title.
fn list(title: &str, things: &[[String; 2]]) -> String {
    if things.is_empty() {
        return String::new();
    }
    let mut facts = Facts::default();
    things.iter().take(MOST_SHOWN).for_each(|[name, words]| facts.add(name, words));
    let more = match things.len().saturating_sub(MOST_SHOWN) {
        0 => String::new(),
        more => format!("  and {} more, which `--json` lists\n", grouped(more as u64)),
    };
    format!("\n{title}\n{}{more}", facts.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_of_all_is_not_shown_as_all() {
        let audit = Audit {
            date: "2026-06-30".parse().expect("a date"),
            records: 100_000,
            genuine: 100_000,
            expired: 0,
            not_yet_issued: 0,
            in_force: 100_000,
            kept: 99_999,
            share: Some(0.99999),
            broken: Vec::new(),
            bad: Vec::new(),
            other_files: Vec::new(),
        };
        assert_eq!(kept(&audit, 1.0), "99,999 of 100,000: 99.99 %, too few for `--least 1`");
        assert_eq!(kept(&audit, 0.9999), "99,999 of 100,000: 99.99 %, enough for `--least 0.9999`");
    }
}
