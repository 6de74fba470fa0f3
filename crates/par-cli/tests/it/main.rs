//! The binary as a person at a terminal meets it.

mod bench;
mod circuit;
mod circuit_file;
mod classifier;
mod demo;
mod evaluate;
mod explain;
mod fit;
mod inputs;
mod inspect;
mod model;
#[cfg(unix)]
mod output;
mod recourse;
mod report;
mod schema;
mod serve;
mod tables;
mod tidy;
mod tune;

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use tempfile::TempDir;

/// 60 people; age and hours go with the decision.
fn people() -> String {
    let row = |id: usize| {
        let age = 20 + id * 7 % 45;
        let job = ["clerk", "cook", "nurse"][id % 3];
        let hours = 10 + age / 2 + id % 5;
        let decision = if hours + id % 4 > 33 { "yes" } else { "no" };
        format!("{id},{age},{job},{hours},{decision},{}\n", id % 5)
    };
    "id,age,job,hours,decision,fold\n".to_string() + &(0..60).map(row).collect::<String>()
}

const PEOPLE_SCHEMA: &str = r#"
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

/// A small circuit is enough to test with.
const QUICK: [&str; 4] = ["--learner", "hclt", "--states", "2"];

/// A folder to work in, gone afterwards.
struct Sandbox(TempDir);

impl Sandbox {
    fn new() -> Self {
        Self(TempDir::new().expect("a folder for temporary files"))
    }

    /// With `people.csv` and `people.toml` in it.
    fn with_people() -> Self {
        let sandbox = Self::new();
        sandbox.write("people.csv", people());
        sandbox.write("people.toml", PEOPLE_SCHEMA);
        sandbox
    }

    /// With `people.circuit` in it too.
    fn with_circuit() -> Self {
        let sandbox = Self::with_people();
        sandbox.fit(&["people.csv", "--schema", "people.toml", "--out", "people.circuit"]);
        sandbox
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file can be written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text file")
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    /// The names of all files, hidden ones too.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut files: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        files.sort();
        files
    }

    fn par(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_par"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// What is printed when all goes well.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.par(arguments).output().expect("par starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        assert_eq!((output.status.code(), text(output.stderr)), (Some(0), String::new()), "{arguments:?}");
        text(output.stdout)
    }

    /// What is printed as JSON when all goes well.
    #[track_caller]
    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.run(&[arguments, &["--json"]].concat())).expect("JSON")
    }

    /// What the error says. Nothing else is printed, and no file comes or goes.
    #[track_caller]
    fn refused(&self, arguments: &[&str]) -> String {
        let before = self.files();
        let output = self.par(arguments).output().expect("par starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        assert_eq!((output.status.code(), text(output.stdout)), (Some(2), String::new()), "{arguments:?}");
        assert_eq!(self.files(), before);
        text(output.stderr)
    }

    #[track_caller]
    fn fit(&self, arguments: &[&str]) -> String {
        self.run(&[&["circuit", "fit"], arguments, &QUICK].concat())
    }

    #[track_caller]
    fn fit_refused(&self, arguments: &[&str]) -> String {
        self.refused(&[&["circuit", "fit", "--out", "x.circuit"], arguments, &QUICK].concat())
    }
}
