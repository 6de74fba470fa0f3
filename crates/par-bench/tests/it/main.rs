//! Experiments on tables small enough to compute the expected figures.

mod cases;
mod measured;
mod measures;
mod others;
mod program;
mod published;
mod reported;
mod runs;
#[path = "../../../par-cli/tests/it/sandbox.rs"]
mod sandbox;

use std::io::Cursor;

use par_bench::experiment::growth::GrowthPlan;
use par_bench::{Bench, Case, Experiment, Figures};
use par_data::{Schema, Table, TableOptions};
use par_fit::ModelBuilder;
use par_model::{Config, Model};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_par-bench");

/// 216 applicants, one for every job, degree, age, debt and sex: those with little debt and a good degree are
/// accepted. The median absolute deviation of ages is 10, of debts 1.
fn applicants() -> String {
    let row = |id: usize| {
        let (debt, sex) = (id % 4, ["f", "m"][id / 4 % 2]);
        let (degree, age) = (id / 8 % 3, 20 + id / 24 % 3 * 10);
        let job = ["clerk", "cook", "nurse"][id / 72];
        let decision = if degree + 2 + id / 72 % 2 >= 2 * debt { "yes" } else { "no" };
        let degree = ["low", "middle", "high"][degree];
        let height = 150 + id * 29 % 41;
        format!("p{id},{job},{degree},{age},{debt},{sex},{height},{decision},{}\n", id * 7 % 3)
    };
    "id,job,degree,age,debt,sex,height,decision,fold\n".to_string() + &(0..216).map(row).collect::<String>()
}

const SCHEMA: &str = r#"
name = "applicants"

[columns]
id = "id"
fold = "fold"

[label]
column = "decision"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "job"
kind = "nominal"

[[feature]]
name = "degree"
kind = "ordinal"
values = ["low", "middle", "high"]
monotone = "increasing"

[[feature]]
name = "age"
kind = "discrete"
monotone = "increasing"

[[feature]]
name = "debt"
kind = "discrete"

[[feature]]
name = "sex"
kind = "nominal"
immutable = true

[[feature]]
name = "height"
kind = "continuous"
bins = 2
immutable = true

[[rule]]
if_increases = "degree"
must_increase = "age"
"#;

fn schema() -> Schema {
    Schema::parse(SCHEMA, "applicants.toml").expect("a schema")
}

fn table(text: &str) -> Table {
    Table::from_reader("applicants.csv", Cursor::new(text.to_string()), &TableOptions::default())
        .expect("a header")
}

/// A configuration with a quick fit, which prefers the likeliest answer.
fn quick() -> Config {
    let mut config = Config::default();
    config.classifier.hidden = vec![6];
    config.classifier.learning_rate = 0.02;
    config.classifier.batch = 16;
    config.circuits.hclt.states = 2;
    config.pool.size = 200;
    config.generator.hidden = [16, 16];
    config.generator.encoder = 8;
    config.generator.embedding = 4;
    config.generator.examples = 200;
    config.generator.steps = 40;
    config.generator.record_every = 20;
    config.answers.price = 0.0;
    config
}

fn case_of(text: &str) -> Case {
    Case::new("applicants", schema(), quick(), table(text), "fold", None).expect("a case")
}

fn case() -> Case {
    case_of(&applicants())
}

/// A model of all applicants.
fn model() -> Model {
    ModelBuilder::new(schema(), quick()).fit(|| Ok(table(&applicants()))).expect("a fit")
}

/// Runs experiments on a case.
fn figures(case: &Case, experiments: &[Experiment]) -> Figures {
    let bench = Bench {
        cases: vec![case.clone()],
        experiments: experiments.to_vec(),
        growth: GrowthPlan::default(),
        parts: None,
    };
    bench.run(&|_| {}).expect("figures")
}

/// All figures except times.
fn without_times(Figures(figures): Figures) -> Figures {
    let is_time = |name: &str| name.contains("time_us") || name == "prepare_us";
    Figures(figures.into_iter().filter(|figure| !is_time(&figure.metric.name)).collect())
}
