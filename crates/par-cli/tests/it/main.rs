//! Tests of the binary `par`.

mod circuit;
mod circuit_file;
mod classes;
mod classifier;
mod demo;
mod diff;
mod evaluate;
mod explain;
mod fit;
mod inputs;
mod inspect;
mod lasting;
mod long;
mod model;
mod moved;
#[cfg(unix)]
mod output;
mod promise;
mod recourse;
mod sandbox;
mod schema;
mod serve;
mod tables;
mod tidy;

use sandbox::{PEOPLE_SCHEMA, Sandbox, people};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_par");

/// A small circuit is enough to test with.
const QUICK: [&str; 4] = ["--learner", "hclt", "--states", "2"];

impl Sandbox {
    /// Also holds `people.circuit`.
    fn with_circuit() -> Self {
        let sandbox = Self::with_people();
        sandbox.fit(&["people.csv", "--schema", "people.toml", "--out", "people.circuit"]);
        sandbox
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("a file")
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
