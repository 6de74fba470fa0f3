//! Long tables: samples, and runs that are interrupted and go on.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Sandbox;
use crate::model::FIT;
use crate::sandbox::applicants;

/// The applicants, many times over.
fn many_applicants(times: usize) -> String {
    let text = applicants();
    let (header, rows) = text.split_once('\n').expect("a header");
    format!("{header}\n{}", rows.repeat(times))
}

#[test]
fn a_long_table_is_learned_from_a_sample_and_counted_whole() {
    let sandbox = Sandbox::with_applicants();
    sandbox.write("applicants.csv", many_applicants(5));
    let model = |threads: &str, sample: &str| {
        let arguments = [&FIT[..], &["--sample", sample, "--json"]].concat();
        let output = sandbox.par(&arguments).env("RAYON_NUM_THREADS", threads).output().expect("par starts");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (sandbox.bytes("a.par"), summary)
    };
    let (bytes, summary) = model("1", "300");
    assert_eq!((&summary["rows"], &summary["learned_from"]), (&1200.into(), &300.into()));
    assert_eq!((&summary["accepted_rows"], &summary["denied_rows"]), (&550.into(), &650.into()));
    let card = sandbox.json(&["inspect", "a.par"])["card"].clone();
    assert_eq!(card["sample"], serde_json::json!({ "read": 1200, "learned_from": 300 }));
    assert!(card["denies"].as_u64().expect("a number") <= 300);
    let text = sandbox.run(&["inspect", "a.par"]);
    assert!(text.contains("300 of 1,200 that were read; the model holds no copy of them"), "{text}");
    assert!(bytes == model("3", "300").0, "on any number of threads");

    let (all, summary) = model("2", "0");
    assert_eq!((&summary["rows"], &summary["learned_from"]), (&1200.into(), &1200.into()));
    let (enough, summary) = model("2", "1200");
    assert_eq!(summary["learned_from"], 1200);
    // The settings differ by one number, and nothing else does.
    let of = |bytes: &[u8]| {
        sandbox.write("b.par", bytes);
        let mut contents = sandbox.json(&["inspect", "b.par"]);
        contents["config"]["sample"] = 0.into();
        contents["bytes"] = 0.into();
        contents
    };
    assert_eq!(of(&all), of(&enough));
    assert_ne!(of(&all), of(&bytes));
}

#[test]
fn rows_that_are_not_learned_from_are_checked() {
    let sandbox = Sandbox::with_applicants();
    let mut text = many_applicants(5);
    text.push_str("last,30,Ulm,low,1000,7,,0\n");
    sandbox.write("applicants.csv", &text);
    let error = sandbox.refused(&[&FIT[..], &["--sample", "100"]].concat());
    assert_eq!(
        error,
        "error: applicants.csv, line 1202, column `decision`: no class ``, expected one of `no`, `yes`\n"
    );
    sandbox.write("applicants.csv", text.replace(",7,,0\n", ",\"7,yes,0\n"));
    let error = sandbox.refused(&[&FIT[..], &["--sample", "100"]].concat());
    assert!(
        error.starts_with(
            "error: applicants.csv, line 1202: the file ends within a quote that this row opens\n"
        ),
        "{error}"
    );
    let error = sandbox.refused(&[&FIT[..], &["--sample", "99"]].concat());
    assert_eq!(error, "error: `sample` is 99, expected 0 for all rows, or at least 100\n");
}

/// Runs a command until it has made a checkpoint after some rows, and kills it.
fn run_until_checkpoint(sandbox: &Sandbox, arguments: &[&str], record: &str) {
    let mut par = Command::new(crate::PROGRAM)
        .args(arguments)
        .current_dir(sandbox.path(""))
        .stdout(Stdio::null())
        .spawn()
        .expect("par starts");
    let has_rows = |record: &[u8]| {
        let record: serde_json::Value = serde_json::from_slice(record).expect("a record");
        record["answered"]["rows"] != 0
    };
    let mut was_empty = false;
    loop {
        let found = fs::read(sandbox.path(record)).ok();
        if found.as_deref().is_some_and(has_rows) {
            break;
        }
        was_empty |= found.is_some();
        assert!(par.try_wait().expect("a process").is_none(), "it ended before the first checkpoint");
        std::thread::sleep(Duration::from_millis(1));
    }
    par.kill().expect("a process");
    par.wait().expect("it ends");
    assert!(was_empty, "before the first answers there is a record, so that it may be killed at any time");
}

#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let sandbox = Sandbox::with_model();
    sandbox.write("many.csv", many_applicants(100));
    for format in ["csv", "jsonl"] {
        let out = format!("ways.{format}");
        let whole = format!("whole.{format}");
        sandbox.run(&["recourse", "a.par", "many.csv", "--method", "generate", "--out", &whole]);
        let before = sandbox.files();
        let arguments = ["recourse", "a.par", "many.csv", "--method", "generate", "--out", &out, "--resume"];
        run_until_checkpoint(&sandbox, &arguments, &format!("{out}.partial.json"));
        assert!(!sandbox.path(&out).exists() && sandbox.path(&format!("{out}.partial")).exists());

        // What an interrupted write leaves behind does not count.
        let partial = sandbox.path(&format!("{out}.partial"));
        let mut bytes = fs::read(&partial).expect("a file");
        bytes.extend_from_slice(b"half a li");
        fs::write(&partial, bytes).expect("a file");
        let summary = sandbox.json(&arguments);
        assert_eq!(summary["rows"], 24_000);
        assert!(summary["answered_before"].as_u64().expect("a number") >= 2048);
        assert!(sandbox.bytes(&out) == sandbox.bytes(&whole), "{format}");
        let mut after = sandbox.files();
        after.retain(|file| !before.contains(file) && !file.starts_with(".par-"));
        assert_eq!(after, std::slice::from_ref(&out), "neither a partial file nor a record is left");
    }
}

#[test]
fn a_run_goes_on_only_with_the_same_model_table_and_request() {
    let sandbox = Sandbox::with_model();
    sandbox.write("many.csv", many_applicants(100));
    let arguments =
        ["recourse", "a.par", "many.csv", "--method", "generate", "--out", "ways.csv", "--resume"];
    run_until_checkpoint(&sandbox, &arguments, "ways.csv.partial.json");
    let hint = "hint: remove it to start anew, or write to another file";
    let refused = |arguments: &[&str]| {
        let error = sandbox.refused(arguments);
        let folder = fs::canonicalize(sandbox.path("")).expect("a folder").display().to_string();
        error.replace(&format!("{folder}/"), "")
    };
    assert_eq!(
        refused(&[&arguments[..], &["--lock", "debt"]].concat()),
        format!("error: ways.csv.partial: was written for another request\n{hint}\n")
    );
    let many = sandbox.read("many.csv");
    sandbox.write("many.csv", many + "last,30,Ulm,low,1000,7,no,0\n");
    assert_eq!(
        refused(&arguments),
        format!("error: ways.csv.partial: was written for another table\n{hint}\n")
    );
    fs::rename(sandbox.path("a.par"), sandbox.path("old.par")).expect("renamed");
    sandbox.par(&["refit", "old.par", "--immutable", "age", "--out", "a.par"]).assert().success();
    assert_eq!(
        refused(&arguments),
        format!("error: ways.csv.partial: was written for another model\n{hint}\n")
    );
    let parquet = ["recourse", "a.par", "many.csv", "--out", "ways.parquet", "--resume"];
    assert_eq!(
        refused(&parquet),
        "error: `--resume` cannot go on with Parquet, whose last bytes say where all others are\n\
         hint: write CSV or JSON lines\n"
    );
    let error = refused(&["recourse", "a.par", "many.csv", "--resume"]);
    assert!(error.contains("--out"), "{error}");
}

/// A run may be killed as soon as it has begun; its table may lose rows and keep its time.
#[test]
fn a_record_without_answers_begins_anew_and_one_of_more_rows_than_there_are_is_refused() {
    let sandbox = Sandbox::with_model();
    sandbox.write("many.csv", many_applicants(100));
    let arguments =
        ["recourse", "a.par", "many.csv", "--method", "generate", "--out", "ways.csv", "--resume"];
    run_until_checkpoint(&sandbox, &arguments, "ways.csv.partial.json");
    let record = |bytes: u64, rows: u64| {
        let mut record: serde_json::Value =
            serde_json::from_str(&sandbox.read("ways.csv.partial.json")).expect("a record");
        record["bytes"] = bytes.into();
        let numbers = record["answered"].as_object_mut().expect("an object");
        numbers.values_mut().filter(|number| number.is_u64()).for_each(|number| *number = 0.into());
        numbers["rows"] = rows.into();
        sandbox.write("ways.csv.partial.json", record.to_string());
    };
    record(10, 24_001);
    let folder = fs::canonicalize(sandbox.path("")).expect("a folder").display().to_string();
    let error = sandbox.refused(&arguments).replace(&format!("{folder}/"), "");
    assert_eq!(
        error,
        "error: many.csv: has fewer rows than an earlier run answered, by 1\n\
         hint: remove ways.csv.partial to start anew\n"
    );
    record(0, 0);
    assert_eq!(sandbox.json(&arguments)["rows"], 24_000);
    sandbox.run(&["recourse", "a.par", "many.csv", "--method", "generate", "--out", "whole.csv"]);
    assert!(sandbox.bytes("ways.csv") == sandbox.bytes("whole.csv"));
}

#[test]
fn files_of_others_are_not_taken_for_those_of_an_earlier_run() {
    let sandbox = Sandbox::with_model();
    let arguments = ["recourse", "a.par", "applicants.csv", "--out", "ways.csv", "--resume"];
    sandbox.write("ways.csv.partial", "notes");
    let error = sandbox.refused(&arguments);
    let expected = "ways.csv.partial: has no record of an earlier run beside it\n\
        hint: remove it to start anew, or write to another file\n";
    assert!(error.ends_with(expected), "{error}");
    assert_eq!(sandbox.read("ways.csv.partial"), "notes");

    let people = sandbox.read("applicants.csv");
    sandbox.write("ways.csv.partial", &people);
    let error = sandbox.refused(&["recourse", "a.par", "ways.csv.partial", "--out", "ways.csv", "--resume"]);
    assert!(error.contains("ways.csv.partial"), "{error}");
    assert_eq!(sandbox.read("ways.csv.partial"), people);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_without_resume_leaves_nothing() {
    let sandbox = Sandbox::with_model();
    sandbox.write("many.csv", many_applicants(100));
    let before = sandbox.files();
    let mut par = Command::new(crate::PROGRAM)
        .args(["recourse", "a.par", "many.csv", "--method", "exact", "--out", "ways.csv"])
        .current_dir(sandbox.path(""))
        .spawn()
        .expect("par starts");
    while sandbox.files() == before {
        std::thread::sleep(Duration::from_millis(1));
    }
    let kill = Command::new("kill").args(["-INT", &par.id().to_string()]).status().expect("kill starts");
    assert!(kill.success());
    assert_eq!(par.wait().expect("par ends").code(), Some(130));
    assert_eq!(sandbox.files(), before);
}
