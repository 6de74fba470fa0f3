//! How many promises of a folder a candidate model keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::check::{Check, CheckOptions, DateVerdict, SealedVerdict};
use crate::date::Date;
use crate::error::Error;
use crate::issue::{RECORD_END, SEALED_END, record_name};
use crate::key::PublicKey;
use crate::later::HashedModel;
use crate::record::Record;
use crate::sealed::Sealed;

/// How many promises of a folder are genuine, in force and kept.
///
/// `records` = `genuine` + bad records; `genuine` = `in_force` + `expired` + `not_yet_issued`; `in_force` = `kept` +
/// `broken` + those whose sealed file is bad.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// The day for which the dates were checked.
    pub date: Date,
    /// Files that are called like records.
    pub records: usize,
    /// Records that the lender's key signed as they stand.
    pub genuine: usize,
    /// Genuine records that are not valid any more.
    pub expired: usize,
    /// Genuine records that are issued later.
    pub not_yet_issued: usize,
    /// Genuine records that are valid: the denominator of the share.
    pub in_force: usize,
    /// Records in force whose way the model accepts.
    pub kept: usize,
    /// `kept` of `in_force`; `None` if none is in force. What cannot be opened does not count as kept.
    pub share: Option<f64>,
    /// Records in force whose way the model does not accept, the farthest from it first.
    pub broken: Vec<BrokenPromise>,
    /// Records that cannot be read or are not genuine; of those in force, sealed files that are missing or do not open
    /// their record; sealed files without a record; by name.
    pub bad: Vec<NamedFile>,
    /// Entries of the folder that are called neither like records nor like sealed files.
    pub other_files: Vec<String>,
}

/// A promise that a model does not keep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BrokenPromise {
    /// The id of its record.
    pub id: String,
    /// The id of the person in the lender's table.
    pub person: String,
    /// How far the score is beyond the threshold; `None` if the model cannot read the row.
    pub margin: Option<f64>,
    /// The verdict in words.
    pub sentence: String,
}

/// A file and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedFile {
    /// Its name in the folder.
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Audit {
    /// Checks all records of a folder, with the sealed files beside them.
    ///
    /// # Errors
    /// When the folder cannot be read or holds no record, or the classifier itself is not in the model.
    pub fn new(
        folder: &Path,
        candidate: &HashedModel,
        public_key: PublicKey,
        date: Date,
    ) -> Result<Self, Error> {
        candidate.check_verifies()?;
        let Entries { records, mut sealed, other_files, mut bad } =
            Entries::read(folder).map_err(|source| Error::Open { path: folder.to_path_buf(), source })?;
        if records.is_empty() && !bad.keys().any(|name| name.ends_with(RECORD_END)) {
            return Err(Error::NoRecords(folder.to_path_buf()));
        }
        let mut audit = Self {
            date,
            records: records.len() + bad.keys().filter(|name| name.ends_with(RECORD_END)).count(),
            genuine: 0,
            expired: 0,
            not_yet_issued: 0,
            in_force: 0,
            kept: 0,
            share: None,
            broken: Vec::new(),
            bad: Vec::new(),
            other_files,
        };
        let options = CheckOptions { public_key, date, sealed: None, later: Some(candidate) };
        for name in records {
            // Beside a bad record the sealed file is not to blame.
            let beside = format!("{}{SEALED_END}", name.trim_end_matches(RECORD_END));
            let sealed_path = sealed.remove(&beside).then(|| folder.join(&beside));
            let (record, check) = match genuine_record(folder, &name, options) {
                Ok(genuine) => genuine,
                Err(problem) => {
                    bad.insert(name, problem);
                    continue;
                }
            };
            audit.genuine += 1;
            match check.dates {
                // Its sealed file is not read: a lender may delete what is not needed any more.
                Some(DateVerdict::Expired) => audit.expired += 1,
                Some(DateVerdict::NotYetIssued) => audit.not_yet_issued += 1,
                Some(DateVerdict::InForce) | None => {
                    if let Err(problem) = audit.count_in_force(&record, options, sealed_path.as_deref()) {
                        // A link or a folder in its place is named already.
                        bad.entry(beside).or_insert(problem);
                    }
                }
            }
        }
        for name in sealed {
            bad.entry(name).or_insert_with(|| "has no record beside it".to_string());
        }
        // The model has no score for rows that it cannot read.
        let margin = |promise: &BrokenPromise| promise.margin.unwrap_or(f64::NEG_INFINITY);
        audit.broken.sort_by(|a, b| margin(a).total_cmp(&margin(b)));
        audit.bad = bad.into_iter().map(|(name, problem)| NamedFile { name, problem }).collect();
        audit.share = (audit.in_force > 0).then(|| audit.kept as f64 / audit.in_force as f64);
        Ok(audit)
    }

    /// Counts a record that is in force, kept or broken; otherwise says what is wrong with its sealed file.
    fn count_in_force(
        &mut self,
        record: &Record,
        options: CheckOptions<'_>,
        sealed: Option<&Path>,
    ) -> Result<(), String> {
        self.in_force += 1;
        let path = sealed.ok_or("is missing: without it nothing can be said of its promise")?;
        let sealed = Sealed::load(path).map_err(|error| without_path(path, &error))?;
        let check = Check::new(record, CheckOptions { sealed: Some(&sealed), ..options });
        let check = check.map_err(|error| error.to_string())?;
        let Some(model) = check.model else {
            return Err(check.sealed.map_or("", SealedVerdict::sentence).to_string());
        };
        if model.kept {
            self.kept += 1;
        } else {
            self.broken.push(BrokenPromise {
                id: check.id.to_string(),
                person: sealed.person.id,
                margin: model.margin,
                sentence: model.sentence,
            });
        }
        Ok(())
    }

    /// Whether no file is bad, and the model keeps at least this share of what is in force. Nothing in force is nothing
    /// kept: a wrong folder or day does not pass.
    pub fn passes(&self, least: f64) -> bool {
        self.bad.is_empty() && self.share.is_some_and(|share| share >= least)
    }
}

/// A record that is genuine and called by its id, so that no copy counts twice; otherwise what is wrong with it.
fn genuine_record(folder: &Path, name: &str, options: CheckOptions<'_>) -> Result<(Record, Check), String> {
    let path = folder.join(name);
    let record = Record::load(&path).map_err(|error| without_path(&path, &error))?;
    let check = Check::new(&record, options).map_err(|error| error.to_string())?;
    if !check.is_genuine() {
        return Err(check.signature_sentence());
    }
    let expected = record_name(check.id);
    if name == expected {
        Ok((record, check))
    } else {
        Err(format!("is a copy: the record is called `{expected}`"))
    }
}

/// The message of an error about a file that is named beside it.
fn without_path(path: &Path, error: &Error) -> String {
    let text = error.to_string();
    text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text).to_string()
}

/// The entries of a folder by kind.
#[derive(Default)]
struct Entries {
    records: BTreeSet<String>,
    sealed: BTreeSet<String>,
    other_files: Vec<String>,
    /// What is called like a record or a sealed file and is neither, and why.
    bad: BTreeMap<String, String>,
}

impl Entries {
    fn read(folder: &Path) -> io::Result<Self> {
        let mut entries = Self::default();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            let is_record = name.ends_with(RECORD_END);
            if !is_record && !name.ends_with(SEALED_END) {
                entries.other_files.push(name);
            } else if kind.is_symlink() {
                entries.bad.insert(name, "is a link, expected a file in this folder".to_string());
            } else if !kind.is_file() {
                entries.bad.insert(name, "is not a file".to_string());
            } else if is_record {
                entries.records.insert(name);
            } else {
                entries.sealed.insert(name);
            }
        }
        entries.other_files.sort();
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::test_model::{HARDER, MODEL, key, promise};

    fn folder(promises: usize) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for _ in 0..promises {
            promise().save(folder.path()).expect("files");
        }
        folder
    }

    fn audit(folder: &TempDir, model: &HashedModel, date: &str) -> Audit {
        let date = date.parse().expect("a date");
        Audit::new(folder.path(), model, key().public_key(), date).expect("an audit")
    }

    #[test]
    fn the_share_is_of_what_is_in_force() {
        let folder = folder(3);
        let kept = audit(&folder, &MODEL, "2026-06-30");
        assert_eq!(
            (kept.records, kept.genuine, kept.in_force, kept.kept, kept.share),
            (3, 3, 3, 3, Some(1.0))
        );
        assert!(kept.passes(1.0));
        let broken = audit(&folder, &HARDER, "2026-06-30");
        assert_eq!((broken.in_force, broken.kept, broken.share), (3, 0, Some(0.0)));
        assert!(broken.broken.iter().all(|promise| promise.person == "poor" && promise.margin < Some(0.0)));
        assert!(!broken.passes(0.1) && broken.passes(0.0));
        let expired = audit(&folder, &HARDER, "2027-02-01");
        assert_eq!((expired.expired, expired.in_force, expired.share), (3, 0, None));
        assert!(!expired.passes(0.0));
        for name in Entries::read(folder.path()).expect("a folder").sealed {
            std::fs::remove_file(folder.path().join(name)).expect("removed");
        }
        assert!(audit(&folder, &MODEL, "2027-02-01").bad.is_empty());
        assert_eq!(audit(&folder, &MODEL, "2026-01-30").not_yet_issued, 3);
    }

    #[test]
    fn bad_files_are_named_and_no_audit_passes_with_one() {
        let folder = folder(1);
        let path = |name: &str| folder.path().join(name);
        let copy = |from: &str, to: &str| std::fs::copy(path(from), path(to)).expect("a copy");
        let good = promise();
        good.save(folder.path()).expect("files");
        copy(&good.record_name(), "copy.record.json");
        std::fs::write(path("cut.record.json"), &good.record.to_bytes()[..100]).expect("a file");
        std::fs::write(path("lonely.sealed.json"), good.sealed.to_bytes()).expect("a file");
        std::fs::write(path("notes.txt"), "hello").expect("a file");
        std::fs::write(path("long.record.json"), vec![b' '; (1 << 18) + 1]).expect("a file");
        std::fs::create_dir(path("deep.record.json")).expect("a folder");
        let lost = promise();
        lost.save(folder.path()).expect("files");
        std::fs::remove_file(path(&lost.sealed_name())).expect("removed");
        let mut forged = promise();
        forged.record.promise.threshold = "0.1".to_string();
        forged.save(folder.path()).expect("files");
        let audited = audit(&folder, &MODEL, "2026-06-30");
        assert_eq!((audited.records, audited.genuine, audited.in_force, audited.kept), (8, 3, 3, 2));
        assert_eq!(audited.share, Some(2.0 / 3.0));
        assert_eq!(audited.other_files, ["notes.txt"]);
        assert!(!audited.passes(0.0));
        let mut expected = [
            (
                "copy.record.json".to_string(),
                format!("is a copy: the record is called `{}`", good.record_name()),
            ),
            (
                "cut.record.json".to_string(),
                "is no record: EOF while parsing a string at line 5 column 19".to_string(),
            ),
            ("deep.record.json".to_string(), "is not a file".to_string()),
            ("lonely.sealed.json".to_string(), "has no record beside it".to_string()),
            ("long.record.json".to_string(), "has more than 262144 bytes, expected a record".to_string()),
            (lost.sealed_name(), "is missing: without it nothing can be said of its promise".to_string()),
            (
                forged.record_name(),
                "not genuine: the record was changed after it was signed, or never signed".to_string(),
            ),
        ];
        expected.sort();
        let bad: Vec<(String, String)> =
            audited.bad.into_iter().map(|file| (file.name, file.problem)).collect();
        assert_eq!(bad, expected);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let (elsewhere, folder) = (folder(1), folder(1));
        let good = promise();
        good.save(elsewhere.path()).expect("files");
        for name in [good.record_name(), good.sealed_name()] {
            std::os::unix::fs::symlink(elsewhere.path().join(&name), folder.path().join(&name))
                .expect("a link");
        }
        let audited = audit(&folder, &MODEL, "2026-06-30");
        assert_eq!((audited.records, audited.kept), (2, 1));
        let problems: Vec<&str> = audited.bad.iter().map(|file| file.problem.as_str()).collect();
        assert_eq!(problems, ["is a link, expected a file in this folder"; 2]);
    }

    #[test]
    fn a_folder_without_records_is_an_error() {
        let folder = folder(0);
        let date = "2026-06-30".parse().expect("a date");
        let error = |path: &Path| {
            Audit::new(path, &MODEL, key().public_key(), date).expect_err("no audit").to_string()
        };
        assert_eq!(
            error(folder.path()),
            format!(
                "{}: holds no records, expected files called `ID.record.json`\n\
                 hint: `par promise issue` writes them",
                folder.path().display()
            )
        );
        let none = folder.path().join("none");
        assert_eq!(
            error(&none),
            format!("{}: cannot be opened: No such file or directory (os error 2)", none.display())
        );
    }
}
