//! The time from a stop to the end of a fit: `cargo bench -p par --bench stopping [-- TABLE SCHEMA]`.
//!
//! On 150,000 synthetic rows, or on a table. Prints the longest time between two checks of the stop, by stage; then
//! stops the fit at five moments, and prints the longest time until it ended.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::error::Error;
use std::fmt::Write;
use std::io::Cursor;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use par_circuit::Stop;
use par_circuit::learn::Learner;
use par_data::{Columns, Schema, Table, TableOptions};
use par_fit::{ModelBuilder, Stage};
use par_model::Config;

/// Moments at which a fit is stopped, spread evenly.
const MOMENTS: u32 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes `--bench` before the rest.
    let files: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let synthetic = synthetic(150_000);
    let open = || match files.as_slice() {
        [table, ..] => Table::open(table, &TableOptions::default()),
        [] => Table::from_reader("synthetic.csv", Cursor::new(synthetic.clone()), &TableOptions::default()),
    };
    let schema = match files.as_slice() {
        [_, schema] => Schema::load(schema)?,
        _ => Schema::parse(SCHEMA, "synthetic.toml")?,
    };
    let columns = schema.columns("the table", open()?.columns())?;
    for learner in [Learner::Hclt, Learner::LearnSpn] {
        let mut config = Config::default();
        config.circuits.learner = learner;
        measure(learner, &ModelBuilder::new(schema.clone(), config), &columns, &open)?;
    }
    Ok(())
}

fn measure(
    learner: Learner,
    builder: &ModelBuilder,
    columns: &Columns,
    open: &(impl Fn() -> Result<Table, par_data::Error> + Sync),
) -> Result<(), Box<dyn Error>> {
    let batches = || Ok(open()?.batches(8192));
    let started = Instant::now();
    builder.fit_rows(columns, batches, &mut |_| {}, Stop::never())?;
    let alone = started.elapsed();

    let pauses =
        Mutex::new(Pauses { since: Instant::now(), doing: "reading", checks: 0, longest: Vec::new() });
    let report = &mut |stage: Stage<'_>| {
        pauses.lock().expect("nothing panics").doing = match stage {
            Stage::Read(_) => "classifier",
            Stage::Classifier(..) => "classifier, accepted circuit",
            Stage::Circuit("accepted", _) => "both circuits",
            Stage::Circuit(..) => "denied circuit, pool",
            Stage::Pool(_) => "examples, teacher",
            _ => "generator",
        };
    };
    let check = || {
        pauses.lock().expect("nothing panics").check();
        false
    };
    let started = Instant::now();
    builder.fit_rows(columns, batches, report, Stop::when(&check))?;
    let fit = started.elapsed();
    let pauses = pauses.into_inner()?;
    println!(
        "{learner}: fit {:.2} s, {:.2} s and {} checks when timed",
        alone.as_secs_f64(),
        fit.as_secs_f64(),
        pauses.checks
    );
    for (doing, longest) in &pauses.longest {
        println!("  {:>6.1} ms  longest between checks, {doing}", 1e3 * longest.as_secs_f64());
    }

    let mut latest = Duration::ZERO;
    for moment in 0..MOMENTS {
        let stop = AtomicBool::new(false);
        let is_over = || stop.load(Ordering::Relaxed);
        let (ended, stopped) = thread::scope(|scope| {
            let fit = scope.spawn(|| {
                let fitted = builder.fit_rows(columns, batches, &mut |_| {}, Stop::when(&is_over));
                (fitted.is_err(), Instant::now())
            });
            thread::sleep(alone * (2 * moment + 1) / (2 * MOMENTS));
            let stopped = Instant::now();
            stop.store(true, Ordering::Relaxed);
            (fit.join().expect("nothing panics"), stopped)
        });
        if ended.0 {
            latest = latest.max(ended.1.saturating_duration_since(stopped));
        }
    }
    println!(
        "  {:>6.1} ms  longest from a stop to the end, of {MOMENTS} moments",
        1e3 * latest.as_secs_f64()
    );
    Ok(())
}

struct Pauses {
    since: Instant,
    doing: &'static str,
    checks: usize,
    longest: Vec<(&'static str, Duration)>,
}

impl Pauses {
    fn check(&mut self) {
        let pause = self.since.elapsed();
        self.since = Instant::now();
        self.checks += 1;
        match self.longest.iter_mut().find(|(doing, _)| *doing == self.doing) {
            Some((_, longest)) => *longest = pause.max(*longest),
            None => self.longest.push((self.doing, pause)),
        }
    }
}

const SCHEMA: &str = r#"
[label]
column = "decision"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "age"
kind = "continuous"
immutable = true

[[feature]]
name = "income"
kind = "continuous"

[[feature]]
name = "debt"
kind = "continuous"

[[feature]]
name = "savings"
kind = "continuous"

[[feature]]
name = "years"
kind = "continuous"

[[feature]]
name = "loans"
kind = "continuous"

[[feature]]
name = "limit"
kind = "continuous"

[[feature]]
name = "used"
kind = "continuous"

[[feature]]
name = "late"
kind = "continuous"

[[feature]]
name = "children"
kind = "continuous"
"#;

/// A table with correlated columns, from a linear congruential generator.
fn synthetic(rows: usize) -> String {
    let mut text = String::from("age,income,debt,savings,years,loans,limit,used,late,children,decision\n");
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    for _ in 0..rows {
        let mut value = random();
        let mut sum = 0.0;
        for column in 0..10 {
            write!(text, "{:.0},", 100.0 * value).expect("text grows");
            sum += if column % 3 == 0 { value } else { -value };
            value = 0.6 * value + 0.4 * random();
        }
        text.push_str(if sum + 0.5 * random() > -0.4 { "yes\n" } else { "no\n" });
    }
    text
}
