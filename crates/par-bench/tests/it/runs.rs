//! A run gives the same figures on any number of threads, and can be resumed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use par_bench::experiment::growth::GrowthPlan;
use par_bench::{Bench, Experiment, Figures, RunProgress};
use tempfile::TempDir;

use crate::{case, figures, without_times};

const EXPERIMENTS: [Experiment; 4] =
    [Experiment::Answers, Experiment::Peers, Experiment::Robustness, Experiment::Quality];

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

#[test]
fn figures_are_the_same_on_any_number_of_threads() {
    let case = case();
    let on = |threads| on_threads(threads, || without_times(figures(&case, &EXPERIMENTS)));
    let once = on(1);
    assert!(once.0.len() > 500, "{}", once.0.len());
    assert!(on(2) == once);
}

/// A bench that keeps finished parts in a folder.
fn bench(folder: &Path) -> Bench {
    Bench {
        cases: vec![case()],
        experiments: vec![Experiment::Quality],
        growth: GrowthPlan::default(),
        parts: Some(folder.join("parts")),
    }
}

/// Runs it on one thread until an interruption in the second fold.
fn interrupt(bench: &Bench) {
    let until = |progress: RunProgress<'_>| {
        if progress.fold != "0" {
            // Unlike a panic, this prints nothing.
            resume_unwind(Box::new("interrupted"));
        }
    };
    assert!(catch_unwind(AssertUnwindSafe(|| on_threads(1, || bench.run(&until)))).is_err());
}

/// Runs it to the end: its figures, and for every fold whether it was measured in this run.
fn finish(bench: &Bench) -> (Figures, Vec<(String, bool)>) {
    let steps = Mutex::new(Vec::new());
    let figures = on_threads(1, || {
        bench.run(&|progress| {
            assert!(progress.done <= progress.of, "{progress:?}");
            let mut steps = steps.lock().expect("one thread");
            steps.push((progress.fold.to_string(), progress.is_new));
        })
    });
    bench.forget();
    let mut steps = steps.into_inner().expect("one thread");
    steps.dedup();
    (without_times(figures.expect("figures")), steps)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn measured(folds: [(&str, bool); 3]) -> Vec<(String, bool)> {
    folds.map(|(fold, is_new)| (fold.to_string(), is_new)).to_vec()
}

#[test]
fn an_interrupted_run_is_resumed() {
    let folder = TempDir::new().expect("a folder");
    let bench = bench(folder.path());
    interrupt(&bench);
    assert_eq!(files(folder.path()).len(), 1);
    let (figures, steps) = finish(&bench);
    assert_eq!(steps, measured([("0", false), ("1", true), ("2", true)]));
    assert!(!folder.path().join("parts").exists());
    let (whole, steps) = finish(&bench);
    assert_eq!(steps, measured([("0", true), ("1", true), ("2", true)]));
    assert!(figures == whole);
}

#[test]
fn a_damaged_part_is_measured_again() {
    let folder = TempDir::new().expect("a folder");
    let bench = bench(folder.path());
    for damage in
        ["", "table,fold\n", "table,fold,method,metric,value,over,of\napplicants,1,refine,nll,1,1,1\n"]
    {
        interrupt(&bench);
        let part = files(folder.path()).pop().expect("a part");
        std::fs::write(&part, damage).expect("a file that can be written");
        let (_, steps) = finish(&bench);
        assert_eq!(steps, measured([("0", true), ("1", true), ("2", true)]), "{damage:?}");
    }
}

#[test]
fn parts_of_other_settings_are_neither_used_nor_removed() {
    let folder = TempDir::new().expect("a folder");
    let first = bench(folder.path());
    interrupt(&first);
    let mut other = bench(folder.path());
    other.cases[0].config.seed = 1;
    assert_eq!(finish(&other).1, measured([("0", true), ("1", true), ("2", true)]));
    assert_eq!(files(folder.path()).len(), 1);
    assert_eq!(finish(&first).1, measured([("0", false), ("1", true), ("2", true)]));
    assert!(!folder.path().join("parts").exists());
}

#[test]
fn other_files_of_the_folder_stay() {
    let folder = TempDir::new().expect("a folder");
    std::fs::create_dir(folder.path().join("parts")).expect("a folder");
    std::fs::write(folder.path().join("parts/bicycle.txt"), "saddle").expect("a file");
    finish(&bench(folder.path()));
    assert_eq!(files(folder.path()), [folder.path().join("parts/bicycle.txt")]);
}

#[test]
fn two_tables_with_one_name_are_refused() {
    let bench = Bench {
        cases: vec![case(), case()],
        experiments: vec![Experiment::Answers],
        growth: GrowthPlan::default(),
        parts: None,
    };
    assert_eq!(
        bench.run(&|_| {}).expect_err("equal names").to_string(),
        "applicants.csv: another table is also called `applicants`, so their figures would be mixed up\n\
         hint: give their schemas different names"
    );
    let synthetic = case().configured_as("synthetic", case().config);
    let bench = Bench {
        cases: vec![synthetic],
        experiments: vec![Experiment::Answers],
        growth: GrowthPlan::default(),
        parts: None,
    };
    let refused = bench.run(&|_| {}).expect_err("growth uses that name").to_string();
    assert!(refused.starts_with("applicants.csv: another table is also called `synthetic`"), "{refused}");
}
