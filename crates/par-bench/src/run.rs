//! A run of experiments over cases and their folds, which can be resumed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::case::{Case, Fold};
use crate::error::Error;
use crate::experiment::growth::{self, GrowthPlan, TableSize};
use crate::experiment::{Experiment, Scope};
use crate::figures::{Figure, Figures, Sheet};

/// Experiments on cases, and the folder of finished parts.
#[derive(Debug)]
pub struct Bench {
    /// The cases.
    pub cases: Vec<Case>,
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// The sizes of the experiment `growth`.
    pub growth: GrowthPlan,
    /// The folder for finished folds, from which an interrupted run resumes, until [`Bench::forget`].
    pub parts: Option<PathBuf>,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress<'a> {
    /// Finished work, in the unit of `of`.
    pub done: u64,
    /// All work.
    pub of: u64,
    /// Whether this run did it, not an earlier one.
    pub is_new: bool,
    /// The case.
    pub case: &'a str,
    /// The fold; empty if the part belongs to none.
    pub fold: &'a str,
    /// The experiment that has ended.
    pub what: &'a str,
}

/// A part of a run, and the file of its figures.
struct RunPart<'b> {
    task: RunTask<'b>,
    file: Option<PathBuf>,
}

/// The work of a part.
#[derive(Clone, Copy)]
enum RunTask<'b> {
    Fold(&'b Case, &'b str),
    /// The experiments of a fold that run alone on the machine.
    FoldAlone(&'b Case, &'b str),
    /// The experiments of a case that run alone on the machine.
    Case(&'b Case),
    /// A random table, which belongs to no case.
    Size(TableSize),
}

/// The weight of fitting a model, relative to experiments.
const FIT: u64 = 4;

impl Bench {
    /// Runs all experiments, folds in parallel, and reports progress.
    ///
    /// # Errors
    /// When a case cannot be measured, or two have the same name; at the first fold that cannot be measured. Finished
    /// folds are kept.
    pub fn run(&self, on_progress: &(dyn Fn(RunProgress<'_>) + Sync)) -> Result<Figures, Error> {
        self.check()?;
        let folder = self.folder();
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).map_err(|source| write_error(folder, source))?;
        }
        let (folds, alone) = self.parts(folder.as_deref());
        let of = folds.iter().chain(&alone).map(|part| self.weight(part)).sum();
        let done = AtomicU64::new(0);
        let step = |part: &RunPart<'_>, what: &str, weight: u64, is_new: bool| {
            let done = done.fetch_add(weight, Ordering::Relaxed) + weight;
            on_progress(RunProgress { done, of, is_new, case: part.table(), fold: part.fold(), what });
        };
        let measure = |part: &RunPart<'_>| -> Result<Vec<Figure>, Error> {
            if let Some(figures) = part.read() {
                step(part, "from an earlier run", self.weight(part), false);
                return Ok(figures);
            }
            let figures = self.measure(part, &|what, weight| step(part, what, weight, true))?;
            part.write(&figures)?;
            Ok(figures)
        };
        let mut figures: Vec<Vec<Figure>> = folds.par_iter().map(measure).collect::<Result<_, _>>()?;
        for part in &alone {
            figures.push(measure(part)?);
        }
        Ok(Figures(figures.concat()))
    }

    /// Removes the finished folds of this run, once their figures are stored elsewhere; other files stay.
    pub fn forget(&self) {
        if let (Some(parts), Some(folder)) = (&self.parts, self.folder()) {
            // Leftovers do no harm; a folder with other files is not removed.
            let _ = std::fs::remove_dir_all(folder).and_then(|()| std::fs::remove_dir(parts));
        }
    }

    /// The folder of this run's finished folds.
    fn folder(&self) -> Option<PathBuf> {
        self.parts.as_ref().map(|parts| parts.join(format!("{:08x}", self.fingerprint())))
    }

    /// Checks every case before the work begins.
    fn check(&self) -> Result<(), Error> {
        let mut names = BTreeSet::from([growth::SYNTHETIC]);
        for case in &self.cases {
            case.check()?;
            if !names.insert(case.name.as_str()) {
                let origin = case.columns.origin.to_string();
                let problem = format!(
                    "another table is also called `{}`, so their figures would be mixed up\n\
                     hint: give their schemas different names",
                    case.name
                );
                return Err(Error::Folds { origin, problem });
            }
        }
        Ok(())
    }

    /// The folds of all cases, and the parts that run alone.
    fn parts(&self, folder: Option<&Path>) -> (Vec<RunPart<'_>>, Vec<RunPart<'_>>) {
        let (mut folds, mut alone) = (Vec::new(), Vec::new());
        let file = |name: String| folder.map(|folder| folder.join(name));
        for (number, case) in self.cases.iter().enumerate() {
            for (place, fold) in case.folds().iter().enumerate() {
                if self.has(Scope::Fold) {
                    let file = file(format!("{number}-{place}.csv"));
                    folds.push(RunPart { task: RunTask::Fold(case, fold), file });
                }
                if self.has(Scope::FoldAlone) {
                    let file = file(format!("{number}-{place}-alone.csv"));
                    alone.push(RunPart { task: RunTask::FoldAlone(case, fold), file });
                }
            }
            if self.has(Scope::CaseAlone) {
                alone.push(RunPart { task: RunTask::Case(case), file: file(format!("{number}.csv")) });
            }
        }
        if self.experiments.contains(&Experiment::Growth) {
            for size in self.growth.sizes() {
                let file = file(format!("{}-{}-{}.csv", growth::SYNTHETIC, size.columns, size.rows));
                alone.push(RunPart { task: RunTask::Size(size), file });
            }
        }
        (folds, alone)
    }

    /// The approximate duration of a part.
    fn weight(&self, part: &RunPart<'_>) -> u64 {
        let experiments = |scope| self.experiments(scope).map(Experiment::weight).sum::<u64>();
        match part.task {
            RunTask::Fold(..) => FIT + experiments(Scope::Fold),
            RunTask::FoldAlone(..) => FIT + experiments(Scope::FoldAlone),
            RunTask::Case(_) => experiments(Scope::CaseAlone),
            // About as many minutes as there are millions of cells, and some for the answers.
            RunTask::Size(size) => 5 + (size.columns * size.rows / 100_000) as u64,
        }
    }

    /// The experiments of a scope.
    fn experiments(&self, scope: Scope) -> impl Iterator<Item = Experiment> {
        self.experiments.iter().copied().filter(move |experiment| experiment.scope() == scope)
    }

    fn has(&self, scope: Scope) -> bool {
        self.experiments(scope).next().is_some()
    }

    fn measure(&self, part: &RunPart<'_>, step: &dyn Fn(&str, u64)) -> Result<Vec<Figure>, Error> {
        let mut sheet = Sheet::new(part.table(), part.fold());
        match part.task {
            RunTask::Fold(case, name) => {
                let fold = Fold::new(case, name)?;
                step("model", FIT);
                sheet.mean("people", "readable", fold.readable());
                for experiment in self.experiments(Scope::Fold) {
                    experiment.measure(&fold, &mut sheet)?;
                    step(experiment.name(), experiment.weight());
                }
            }
            RunTask::FoldAlone(case, name) => {
                let fold = Fold::new(case, name)?;
                step("model", FIT);
                for experiment in self.experiments(Scope::FoldAlone) {
                    experiment.measure(&fold, &mut sheet)?;
                    step(experiment.name(), experiment.weight());
                }
            }
            RunTask::Case(case) => {
                for experiment in self.experiments(Scope::CaseAlone) {
                    experiment.measure_alone(case, &self.growth, &mut sheet)?;
                    step(experiment.name(), experiment.weight());
                }
            }
            RunTask::Size(size) => {
                let folder = part.file.as_deref().and_then(Path::parent);
                let folder = folder.map_or_else(std::env::temp_dir, Path::to_path_buf);
                self.growth.measure(size, &folder, &mut sheet)?;
                step(&format!("{} columns, {} rows", size.columns, size.rows), self.weight(part));
            }
        }
        Ok(sheet.into_figures())
    }

    /// A checksum of the run: program, tables, schemas, configurations, experiments and peers.
    fn fingerprint(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        // Another build may measure differently. If the binary cannot be read, only its version counts.
        let program = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(&program);
        for experiment in &self.experiments {
            hasher.update(experiment.name().as_bytes());
        }
        let growth = serde_json::to_vec(&self.growth).expect("a plan has only text keys");
        hasher.update(&growth);
        for case in &self.cases {
            case.hash_into(&mut hasher);
        }
        hasher.finalize()
    }
}

impl RunPart<'_> {
    /// The table's name in figures.
    fn table(&self) -> &str {
        match self.task {
            RunTask::Fold(case, _) | RunTask::FoldAlone(case, _) | RunTask::Case(case) => &case.name,
            RunTask::Size(_) => growth::SYNTHETIC,
        }
    }

    /// The fold's name in figures; empty if the part belongs to none.
    fn fold(&self) -> &str {
        match self.task {
            RunTask::Fold(_, fold) | RunTask::FoldAlone(_, fold) => fold,
            RunTask::Case(_) | RunTask::Size(_) => "",
        }
    }

    /// The figures of an earlier run, if the file is complete.
    fn read(&self) -> Option<Vec<Figure>> {
        let file = self.file.as_ref()?;
        let reader = BufReader::new(File::open(file).ok()?);
        let Figures(figures) = Figures::read(reader, &file.display().to_string()).ok()?;
        let is_own = |figure: &Figure| figure.table == self.table() && figure.fold == self.fold();
        figures.iter().all(is_own).then_some(figures)
    }

    /// Writes the figures atomically.
    fn write(&self, figures: &[Figure]) -> Result<(), Error> {
        let Some(path) = &self.file else { return Ok(()) };
        let mut csv = Vec::new();
        Figures(figures.to_vec()).write(&mut csv).map_err(|source| write_error(path, source))?;
        Ok(par_files::write(path, &csv)?)
    }
}

fn write_error(path: &Path, source: std::io::Error) -> Error {
    par_files::Error::Write { path: path.to_path_buf(), source }.into()
}
