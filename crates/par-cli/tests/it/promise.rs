//! Promises: keys, records, sealed files, and whether later models keep them.

use std::fs;

use serde_json::Value;

use crate::Sandbox;
use crate::model::QUICK;

const DAY: &str = "2026-01-31";

impl Sandbox {
    /// Runs a command that ends with this status, and returns what it prints.
    #[track_caller]
    fn ends_with(&self, status: i32, arguments: &[&str]) -> String {
        let output = self.par(arguments).output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        assert_eq!((output.status.code(), stderr.as_str()), (Some(status), ""), "{arguments:?}: {stdout}");
        stdout
    }
}

/// A promise to one person, its files called `record` and `sealed`, the key `k` and the folder `promises`.
fn promised() -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.run(&["promise", "keygen", "--out", "k"]);
    let issued = issue(&sandbox, "p75");
    for kind in ["record", "sealed"] {
        let name = issued["promises"][0][kind].as_str().expect("a name");
        fs::copy(sandbox.path("promises").join(name), sandbox.path(kind)).expect("a copy");
    }
    sandbox
}

fn issue(sandbox: &Sandbox, person: &str) -> Value {
    let valid = ["--valid", "12 months", "--date", DAY];
    let issue =
        ["promise", "issue", "a.par", "applicants.csv", "--key", "k", "--out", "promises", "--id", person];
    sandbox.json(&[&issue[..], &valid].concat())
}

/// The arguments of a check with everything but a model.
const CHECK: [&str; 9] =
    ["promise", "check", "record", "--public-key", "k.pub", "--sealed", "sealed", "--date", "2026-06-30"];

#[test]
fn a_promise_is_kept_by_its_own_model_and_nobody_else_reads_the_secrets() {
    let sandbox = promised();
    let text = sandbox.run(&[&CHECK[..], &["--model", "a.par"]].concat());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 7, "{text}");
    assert_eq!(lines[1], "  signature    genuine: signed by the given key, and not changed since");
    assert_eq!(lines[2], "  dates        in force on 2026-06-30: issued 2026-01-31, valid to 2027-01-31");
    assert_eq!(lines[3], "  sealed file  opens both commitments of the record");
    assert_eq!(lines[4], "  person       p75");
    assert_eq!(lines[5], "  model        the one that made the promise");
    assert!(lines[6].starts_with("  way          kept: probability 0."), "{text}");
    assert!(lines[6].ends_with(" beyond it (promised at 0.5)"), "{text}");
    let record: Value = serde_json::from_str(&sandbox.read("record")).expect("JSON");
    assert_eq!(record["promise"]["request"], serde_json::json!(["method=refine", "count=1"]));
    assert!(!sandbox.read("record").contains("income") && sandbox.read("sealed").contains("income"));
    #[cfg(unix)]
    for entry in fs::read_dir(sandbox.path("promises")).expect("a folder").map(|entry| entry.expect("a file"))
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = entry.metadata().expect("a file").permissions().mode() & 0o777;
        let is_sealed = entry.file_name().to_string_lossy().ends_with(".sealed.json");
        assert_eq!(mode == 0o600, is_sealed, "{:?} has {mode:o}", entry.file_name());
    }
}

#[test]
fn without_the_sealed_file_less_is_said_and_without_the_key_nothing() {
    let sandbox = promised();
    let check = ["promise", "check", "record", "--public-key", "k.pub", "--date", "2026-06-30"];
    let text = sandbox.run(&check);
    assert!(
        text.ends_with("none was given: without it nothing can be said of person, way and models\n"),
        "{text}"
    );
    let found = sandbox.json(&check);
    assert_eq!(
        (&found["good"], &found["signature"], &found["sealed"]),
        (&true.into(), &"genuine".into(), &Value::Null)
    );
    let required = "error: the following required arguments were not provided:\n  ";
    let error = sandbox.refused(&[&check[..], &["--model", "a.par"]].concat());
    assert!(error.starts_with(&format!("{required}--sealed")), "{error}");
    for without_key in
        [&["promise", "check", "record"][..], &["promise", "audit", "promises", "--model", "a.par"]]
    {
        let error = sandbox.refused(without_key);
        assert!(error.starts_with(&format!("{required}--public-key")), "{error}");
    }
}

#[test]
fn a_changed_record_is_not_genuine_whichever_field_was_changed() {
    let sandbox = promised();
    let record: Value = serde_json::from_str(&sandbox.read("record")).expect("JSON");
    let fields: Vec<String> = record["promise"].as_object().expect("fields").keys().cloned().collect();
    for field in fields.iter().filter(|field| *field != "version") {
        let mut changed = record.clone();
        changed["promise"][field] = match record["promise"][field].as_str() {
            Some(date @ ("2026-01-31" | "2027-01-31")) => date.replace("-31", "-30").into(),
            Some("0.5") => "0.25".into(),
            Some(digits) => (digits[1..].to_string() + &digits[..1]).into(),
            None => serde_json::json!(["count=1"]),
        };
        sandbox.write("changed", changed.to_string());
        let check = ["promise", "check", "changed", "--public-key", "k.pub", "--date", "2026-06-30"];
        let text = sandbox.ends_with(1, &check);
        let verdict =
            "\n  signature  not genuine: the record was changed after it was signed, or never signed\n";
        assert!(text.ends_with(verdict), "{field}: {text}");
    }
}

#[test]
fn another_key_another_day_and_another_sealed_file_are_told() {
    let sandbox = promised();
    sandbox.run(&["promise", "keygen", "--out", "other"]);
    let own = sandbox.read("k.pub").lines().nth(1).expect("a key").to_string();
    let text = sandbox.ends_with(1, &["promise", "check", "record", "--public-key", "other.pub"]);
    assert!(text.ends_with(&format!("\n  signature  not genuine: signed by another key, {own}\n")), "{text}");
    let late = ["promise", "check", "record", "--public-key", "k.pub", "--date", "2027-02-01"];
    let text = sandbox.ends_with(1, &late);
    assert!(
        text.contains("\n  dates        expired on 2027-02-01: issued 2026-01-31, valid to 2027-01-31\n"),
        "{text}"
    );
    let other = issue(&sandbox, "p75")["promises"][0]["sealed"].as_str().expect("a name").to_string();
    fs::copy(sandbox.path("promises").join(other), sandbox.path("other-sealed")).expect("a copy");
    let [mut own, other] = ["sealed", "other-sealed"]
        .map(|name| serde_json::from_str::<Value>(&sandbox.read(name)).expect("JSON"));
    own["way"] = other["way"].clone();
    sandbox.write("swapped", own.to_string());
    for (sealed, words) in [
        ("other-sealed", "does not open the record: it belongs to another record"),
        ("swapped", "does not open the record: the way was changed"),
    ] {
        let check = [&CHECK[..6], &[sealed, "--model", "a.par"], &CHECK[7..]].concat();
        let text = sandbox.ends_with(1, &check);
        assert!(text.ends_with(&format!("\n  sealed file  {words}\n")), "{text}");
    }
}

#[test]
fn files_that_are_no_records_are_errors() {
    let sandbox = promised();
    let check = |bytes: &[u8]| {
        sandbox.write("bad", bytes);
        sandbox.refused(&["promise", "check", "bad", "--public-key", "k.pub"])
    };
    let record = sandbox.read("record");
    assert_eq!(
        check(&record.as_bytes()[..100]),
        "error: bad: is no record: EOF while parsing a string at line 5 column 19\n"
    );
    assert_eq!(
        check(record.replace("\"version\": 1", "\"version\": 2").as_bytes()),
        "error: bad: is no record: its version is 2, this program reads version 1\n"
    );
    let error = check(record.replace("\"issued\"", "\"note\": \"\",\n    \"issued\"").as_bytes());
    assert!(
        error.starts_with("error: bad: is no record: unknown field `note`, expected one of `version`, "),
        "{error}"
    );
    assert_eq!(
        check(record.replace("2027-01-31", "2025-01-31").as_bytes()),
        "error: bad: is no record: it expires on 2025-01-31, before it is issued on 2026-01-31\n"
    );
    let error = check(record.replace("2027-01-31", "2027-02-31").as_bytes());
    assert_eq!(
        error,
        "error: bad: is no record: expected a date such as `2026-01-31`, from 1970 to 9999, found `2027-02-31` at \
         line 6 column 27\n"
    );
    assert_eq!(check(&vec![b' '; 300_000]), "error: bad: has more than 262144 bytes, expected a record\n");
    assert_eq!(
        sandbox.refused(&["promise", "check", "none", "--public-key", "k.pub"]),
        "error: none: cannot be opened: No such file or directory (os error 2)\n"
    );
    assert_eq!(
        sandbox.refused(&["promise", "check", "promises", "--public-key", "k.pub"]),
        "error: promises: is a folder, expected a record\n"
    );
    let check = ["promise", "check", "record", "--public-key", "k.pub", "--sealed"];
    let error = sandbox.refused(&[&check[..], &["record"]].concat());
    assert!(error.starts_with("error: record: is no sealed file: missing field `version`"), "{error}");
    assert_eq!(
        sandbox.refused(&["promise", "check", "record", "--public-key", "k"]),
        "error: k: is no public key: it is a private key, which nobody else may have\n\
         hint: `par promise keygen` makes a key, and its public key beside it\n"
    );
    assert_eq!(
        sandbox.refused(&[&check[..], &["sealed", "--model", "sealed"]].concat()),
        "error: sealed: not a model file\nhint: `par fit` makes one from a table and its schema\n"
    );
}

#[test]
fn keys_are_never_replaced_and_must_be_closed_to_others() {
    let sandbox = promised();
    let exists = "exists already, and is not replaced\nhint: choose another name\n";
    assert_eq!(sandbox.refused(&["promise", "keygen", "--out", "k"]), format!("error: k.pub: {exists}"));
    fs::remove_file(sandbox.path("k.pub")).expect("removed");
    assert_eq!(sandbox.refused(&["promise", "keygen", "--out", "k"]), format!("error: k: {exists}"));
    let issue =
        ["promise", "issue", "a.par", "applicants.csv", "--out", "promises", "--valid", "1 year", "--key"];
    assert_eq!(
        sandbox.refused(&[&issue[..], &["sealed"]].concat()).lines().next(),
        Some("error: sealed: is no private key: its first line is not `par promise private key`")
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(sandbox.path("k"), fs::Permissions::from_mode(0o644)).expect("permissions");
        assert_eq!(
            sandbox.refused(&[&issue[..], &["k"]].concat()),
            "error: k: others can read or change this private key (its mode is 644), expected a file for its owner \
             alone (600)\nhint: `chmod 600` closes it; if somebody may have read it, make another key\n"
        );
    }
}

#[test]
fn dates_and_folders_that_cannot_be_are_refused() {
    let sandbox = promised();
    let issue = |valid: &str, date: &str, out: &str| {
        let issue = ["promise", "issue", "a.par", "applicants.csv", "--key", "k"];
        sandbox.refused(&[&issue[..], &["--out", out, "--valid", valid, "--date", date]].concat())
    };
    let error = issue("12 months", "2026-02-30", "promises");
    assert!(
        error.starts_with(
            "error: invalid value '2026-02-30' for '--date <DATE>': expected a date such as `2026-01-31`, from 1970 \
             to 9999, found `2026-02-30`\n"
        ),
        "{error}"
    );
    let error = issue("twelve", DAY, "promises");
    assert!(
        error.starts_with(
            "error: invalid value 'twelve' for '--valid <TIME>': expected a whole number of days, weeks, months, \
             quarters or years, such as `12 months`, found `twelve`\n"
        ),
        "{error}"
    );
    assert_eq!(
        issue("10000 years", DAY, "promises"),
        "error: 120000 months after 2026-01-31 is beyond the year 9999\n"
    );
    assert_eq!(
        issue("1 year", DAY, "record"),
        "error: record: the folder cannot be created: File exists (os error 17)\n"
    );
    assert_eq!(
        issue("1 year", DAY, "no/promises"),
        "error: no/promises: the folder cannot be created: No such file or directory (os error 2)\n"
    );
}

#[test]
fn an_audit_counts_what_a_candidate_keeps() {
    let sandbox = Sandbox::with_model();
    sandbox.run(&["promise", "keygen", "--out", "k"]);
    let issue = ["promise", "issue", "a.par", "applicants.csv", "--key", "k", "--out", "promises"];
    let options = ["--valid", "12 months", "--date", DAY, "--where", "fold=0"];
    let issued = sandbox.json(&[&issue[..], &options].concat());
    let promises = issued["promises"].as_array().expect("promises").len();
    assert!(promises > 5 && issued["found"] == promises && issued["rows"] == 48, "{issued}");
    let audit = ["promise", "audit", "promises", "--public-key", "k.pub", "--date", "2026-06-30", "--model"];
    let text = sandbox.run(&[&audit[..], &["a.par"]].concat());
    assert!(
        text.contains(&format!(
            "\n  kept            {promises} of {promises}: 100.00 %, enough for `--least 1`\n"
        )),
        "{text}"
    );

    // A candidate that accepts fewer people.
    sandbox.write("applicants.toml", crate::model::SCHEMA);
    sandbox.write("strict.toml", QUICK.replace("[classifier]", "[classifier]\nthreshold = 0.97"));
    let fit =
        ["fit", "applicants.csv", "--schema", "applicants.toml", "--config", "strict.toml", "--out", "b.par"];
    sandbox.run(&fit);
    let candidate = [&audit[..], &["b.par"]].concat();
    let text = sandbox.ends_with(1, &candidate);
    assert!(text.contains(" too few for `--least 1`\n") && text.contains("\n\nbroken\n"), "{text}");
    let found: Value =
        serde_json::from_str(&sandbox.ends_with(1, &[&candidate[..], &["--json"]].concat())).expect("JSON");
    let (kept, broken) = (found["kept"].as_u64(), found["broken"].as_array().expect("broken promises"));
    assert_eq!(kept, Some((promises - broken.len()) as u64));
    assert!(
        broken.iter().all(|promise| promise["margin"].as_f64().is_some_and(|margin| margin < 0.0)),
        "{found}"
    );
    assert!(broken[0]["sentence"].as_str().is_some_and(|text| text.starts_with("not kept: probability ")));
    let share = found["share"].as_f64().expect("a share");
    sandbox.run(&[&candidate[..], &["--least", &share.to_string()]].concat());
    let expired = [&audit[..5], &["--model", "a.par", "--date", "2028-01-01", "--least", "0"]].concat();
    assert!(sandbox.ends_with(1, &expired).contains("\n  kept            no promise is in force\n"));
    sandbox.run(&["promise", "keygen", "--out", "other"]);
    let other = ["promise", "audit", "promises", "--public-key", "other.pub", "--model", "a.par"];
    let text = sandbox.ends_with(1, &other);
    assert!(text.contains("\n  genuine         0, signed by the given key\n"), "{text}");

    sandbox.write("promises/cut.record.json", "{");
    sandbox.write("promises/notes.txt", "");
    let text = sandbox.ends_with(1, &[&audit[..], &["a.par"]].concat());
    assert!(text.contains("\n  other files     notes.txt\n"), "{text}");
    assert!(
        text.ends_with(
            "\n\nbad files\n  cut.record.json  is no record: EOF while parsing an object at line 1 column 1\n"
        ),
        "{text}"
    );
    fs::create_dir(sandbox.path("empty")).expect("a folder");
    assert_eq!(
        sandbox.refused(&["promise", "audit", "empty", "--public-key", "k.pub", "--model", "a.par"]),
        "error: empty: holds no records, expected files called `ID.record.json`\n\
         hint: `par promise issue` writes them\n"
    );
    let error = sandbox.refused(&[&audit[..], &["a.par", "--least", "99"]].concat());
    assert!(
        error.starts_with("error: invalid value '99' for '--least <SHARE>': expected a number from 0 to 1\n"),
        "{error}"
    );
}

#[test]
fn every_way_is_a_promise_and_the_request_is_copied_without_wishes() {
    let sandbox = Sandbox::with_model();
    sandbox.run(&["promise", "keygen", "--out", "k"]);
    let issue = [
        "promise",
        "issue",
        "a.par",
        "applicants.csv",
        "--key",
        "k",
        "--out",
        "promises",
        "--valid",
        "1 year",
    ];
    let wishes = ["--lock", "age", "--limit", "debt=0..", "--effort", "age=hard"];
    let wishes = [&wishes[..], &["--within", "50 years", "--max-effort", "1000"]].concat();
    let options = [&["--id", "p75", "--count", "3", "--no-harm"], &wishes[..]].concat();
    let issued = sandbox.json(&[&issue[..], &options].concat());
    let promises = issued["promises"].as_array().expect("promises");
    assert!(promises.len() > 1, "{issued}");
    let record = sandbox.read(&format!("promises/{}", promises[0]["record"].as_str().expect("a name")));
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let request = serde_json::json!(["method=refine", "count=3", "no_harm=true"]);
    assert_eq!(record["promise"]["request"], request);
    let low = ["--id", "p75", "--threshold", "0.25", "--date", DAY];
    assert_eq!(
        sandbox.refused(&[&issue[..], &low].concat()),
        "error: a promise at the threshold 0.25 would be broken at once: the model accepts from 0.5 on\n\
         hint: leave `--threshold` out, or ask for a surer one\n"
    );
    let strict = ["--id", "p75", "--lock", "age", "--lock", "income", "--lock", "debt", "--strict"];
    let text = sandbox.ends_with(1, &[&issue[..], &strict].concat());
    assert!(
        text.contains("\n  without a way   1\n") && text.ends_with("\n  records         0, in promises\n"),
        "{text}"
    );
}

#[test]
fn scores_alone_promise_nothing() {
    let sandbox = Sandbox::with_applicants();
    let scored = |(number, line): (usize, &str)| match number {
        0 => format!("{line},score\n"),
        _ => format!("{line},{}\n", if line.contains(",yes,") { 0.8 } else { 0.2 }),
    };
    let table: String = sandbox.read("applicants.csv").lines().enumerate().map(scored).collect();
    sandbox.write("scored.csv", table);
    let fit =
        ["fit", "scored.csv", "--schema", "applicants.toml", "--config", "quick.toml", "--scores", "score"];
    sandbox.run(&[&fit[..], &["--out", "s.par"]].concat());
    sandbox.run(&["promise", "keygen", "--out", "k"]);
    let issue =
        ["promise", "issue", "s.par", "scored.csv", "--key", "k", "--out", "promises", "--valid", "1 year"];
    assert_eq!(
        sandbox.refused(&issue),
        "error: s.par: the model was made from scores, so that a surrogate of the classifier decides: it can neither make \
         promises nor say whether they are kept\nhint: fit a model with the classifier itself, `par fit --classifier`\n"
    );
}
