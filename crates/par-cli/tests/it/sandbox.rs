//! A folder with tables, in which the program `crate::PROGRAM` runs. Tests of `par` and `par-bench` share it.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use tempfile::TempDir;

/// 60 people; age and hours are correlated with the decision.
pub(crate) fn people() -> String {
    let row = |id: usize| {
        let age = 20 + id * 7 % 45;
        let job = ["clerk", "cook", "nurse"][id % 3];
        let hours = 10 + age / 2 + id % 5;
        let decision = if hours + id % 4 > 33 { "yes" } else { "no" };
        format!("{id},{age},{job},{hours},{decision},{}\n", id % 5)
    };
    "id,age,job,hours,decision,fold\n".to_string() + &(0..60).map(row).collect::<String>()
}

pub(crate) const PEOPLE_SCHEMA: &str = r#"
[columns]
id = "id"
fold = "fold"

[label]
column = "decision"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "age"
kind = "discrete"
bounds = [18, 60]
monotone = "increasing"

[[feature]]
name = "job"
kind = "nominal"
values = ["clerk", "cook", "nurse", "pilot"]

[[feature]]
name = "hours"
kind = "continuous"
bins = 4

[[rule]]
if_increases = "hours"
must_increase = "age"
"#;

/// 240 applicants; income, debt and education are correlated with the decision.
pub(crate) fn applicants() -> String {
    let row = |id: usize| {
        let age = 20 + id * 7 % 45;
        let city = ["Ulm", "Jena", "Kiel"][id % 3];
        let education = ["low", "middle", "high"][id * 11 % 7 % 3];
        let income = 1000 + id * 37 % 29 * 100 + id % 7 * 10;
        let debt = id * 13 % 8;
        let points = income / 100 + [0, 4, 8][id * 11 % 7 % 3] - debt.min(10);
        let decision = if points + id % 3 > 25 { "yes" } else { "no" };
        format!("p{id},{age},{city},{education},{income},{debt},{decision},{}\n", id % 5)
    };
    "id,age,city,education,income,debt,decision,fold\n".to_string() + &(0..240).map(row).collect::<String>()
}

pub(crate) const APPLICANTS_SCHEMA: &str = r#"
[columns]
id = "id"
fold = "fold"

[label]
column = "decision"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "age"
kind = "discrete"
monotone = "increasing"
unit = "years"

[[feature]]
name = "city"
kind = "nominal"
values = ["Ulm", "Jena", "Kiel"]
immutable = true

[[feature]]
name = "education"
kind = "ordinal"
values = ["low", "middle", "high"]
labels = { low = "primary school", high = "university" }
monotone = "increasing"

[[feature]]
name = "income"
kind = "continuous"
unit = "EUR"

[[feature]]
name = "debt"
kind = "discrete"

[[rule]]
if_increases = "education"
must_increase = "age"
"#;

/// Settings with which a fit takes a moment.
pub(crate) const QUICK: &str = "\
[classifier]
hidden = [6]
learning_rate = 0.02
batch = 16

[circuits.hclt]
states = 2
groups = 1

[pool]
size = 200

[generator]
hidden = [16, 16]
encoder = 8
embedding = 4
examples = 200
steps = 60
record_every = 30
";

/// A temporary folder.
pub(crate) struct Sandbox(TempDir);

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a folder for temporary files"))
    }

    /// Holds `people.csv` and `people.toml`.
    pub(crate) fn with_people() -> Self {
        let sandbox = Self::new();
        sandbox.write("people.csv", people());
        sandbox.write("people.toml", PEOPLE_SCHEMA);
        sandbox
    }

    /// Holds `applicants.csv`, `applicants.toml` and `quick.toml`.
    pub(crate) fn with_applicants() -> Self {
        let sandbox = Self::new();
        sandbox.write("applicants.csv", applicants());
        sandbox.write("applicants.toml", APPLICANTS_SCHEMA);
        sandbox.write("quick.toml", QUICK);
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text file")
    }

    /// The names of all files, hidden ones too.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut files: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        files.sort();
        files
    }

    pub(crate) fn par(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(crate::PROGRAM);
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Runs a command that succeeds, and returns its output.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = self.par(arguments).output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        assert_eq!((output.status.code(), text(output.stderr)), (Some(0), String::new()), "{arguments:?}");
        text(output.stdout)
    }

    /// Like [`Self::run`], with `--json`.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.run(&[arguments, &["--json"]].concat())).expect("JSON")
    }

    /// Runs a command that fails, and returns its message. Asserts that it prints nothing else and leaves all files.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let before = self.files();
        let output = self.par(arguments).output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        assert_eq!((output.status.code(), text(output.stdout)), (Some(2), String::new()), "{arguments:?}");
        assert_eq!(self.files(), before);
        text(output.stderr)
    }
}
