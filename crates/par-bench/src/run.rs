//! A run of experiments over cases and their folds, which goes on where it was interrupted.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::case::{Case, Fold};
use crate::error::Error;
use crate::experiment::{Experiment, growth};
use crate::figures::{Figure, Figures, Sheet};

/// What is to be measured, and where what has been measured so far is kept.
#[derive(Debug)]
pub struct Bench {
    /// On what.
    pub cases: Vec<Case>,
    /// What.
    pub experiments: Vec<Experiment>,
    /// The folder for the folds that are done, so that a run that is interrupted goes on from there, until
    /// [`Bench::forget`].
    pub parts: Option<PathBuf>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Work that is done, in the unit of `of`.
    pub done: u64,
    /// All of it.
    pub of: u64,
    /// Whether it is of this run, or was there already.
    pub is_new: bool,
    /// The case.
    pub case: &'a str,
    /// The fold; empty for what is of no fold.
    pub fold: &'a str,
    /// What was measured just now.
    pub what: &'a str,
}

/// A part of a run, and where its figures are kept.
struct Part<'b> {
    of: Of<'b>,
    file: Option<PathBuf>,
}

/// What a part measures.
#[derive(Clone, Copy)]
enum Of<'b> {
    Fold(&'b Case, &'b str),
    /// What has to be alone on the machine, and is of no fold.
    Case(&'b Case),
    /// Synthetic tables, which are of no case.
    Synthetic,
}

/// What learning a model takes, beside the experiments.
const FIT: u64 = 4;

impl Bench {
    /// Measures everything, folds side by side, and tells how far it is.
    ///
    /// # Errors
    /// When a case cannot be measured, or two have the same name; at the first fold that cannot be measured. Folds that
    /// are done are kept.
    pub fn run(&self, tell: &(dyn Fn(Progress<'_>) + Sync)) -> Result<Figures, Error> {
        self.check()?;
        let folder = self.folder();
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).map_err(|source| write_error(folder, source))?;
        }
        let (folds, alone) = self.parts(folder.as_deref());
        let of = folds.iter().chain(&alone).map(|part| self.weight(part)).sum();
        let done = AtomicU64::new(0);
        let step = |part: &Part<'_>, what: &str, weight: u64, is_new: bool| {
            let done = done.fetch_add(weight, Ordering::Relaxed) + weight;
            tell(Progress { done, of, is_new, case: part.table(), fold: part.fold(), what });
        };
        let measure = |part: &Part<'_>| -> Result<Vec<Figure>, Error> {
            if let Some(figures) = part.read() {
                step(part, "kept from before", self.weight(part), false);
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

    /// Removes the folds that are kept, once their figures are safe elsewhere; what else is in the folder stays.
    pub fn forget(&self) {
        if let (Some(parts), Some(folder)) = (&self.parts, self.folder()) {
            // What is left does no harm, and what is not of this run is not ours to remove.
            let _ = std::fs::remove_dir_all(folder).and_then(|()| std::fs::remove_dir(parts));
        }
    }

    /// Where the folds of this run are kept.
    fn folder(&self) -> Option<PathBuf> {
        self.parts.as_ref().map(|parts| parts.join(format!("{:08x}", self.fingerprint())))
    }

    /// Whether every case can be measured, so that nobody waits for a run that cannot end well.
    fn check(&self) -> Result<(), Error> {
        let mut names = BTreeSet::from([growth::SYNTHETIC]);
        for case in &self.cases {
            case.check()?;
            if !names.insert(case.name.as_str()) {
                let origin = case.columns.origin.to_string();
                let problem = format!(
                    "another table is called `{}` too, and their figures could not be told apart\n\
                     hint: give their schemas different names",
                    case.name
                );
                return Err(Error::Folds { origin, problem });
            }
        }
        Ok(())
    }

    /// The folds of all cases, and what is to be measured alone.
    fn parts(&self, folder: Option<&Path>) -> (Vec<Part<'_>>, Vec<Part<'_>>) {
        let (mut folds, mut alone) = (Vec::new(), Vec::new());
        let file = |name: String| folder.map(|folder| folder.join(name));
        for (number, case) in self.cases.iter().enumerate() {
            if self.experiments(false).next().is_some() {
                for (place, fold) in case.folds().iter().enumerate() {
                    let file = file(format!("{number}-{place}.csv"));
                    folds.push(Part { of: Of::Fold(case, fold), file });
                }
            }
            if self.experiments(true).next().is_some() {
                alone.push(Part { of: Of::Case(case), file: file(format!("{number}.csv")) });
            }
        }
        if self.experiments.contains(&Experiment::Growth) {
            alone.push(Part { of: Of::Synthetic, file: file(format!("{}.csv", growth::SYNTHETIC)) });
        }
        (folds, alone)
    }

    /// About how long a part takes.
    fn weight(&self, part: &Part<'_>) -> u64 {
        let experiments = |alone| self.experiments(alone).map(Experiment::weight).sum::<u64>();
        match part.of {
            Of::Fold(..) => FIT + experiments(false),
            Of::Case(_) => experiments(true),
            Of::Synthetic => Experiment::Growth.weight(),
        }
    }

    /// The experiments that have to be alone, or those that do not.
    fn experiments(&self, alone: bool) -> impl Iterator<Item = Experiment> {
        self.experiments.iter().copied().filter(move |experiment| experiment.is_alone() == alone)
    }

    fn measure(&self, part: &Part<'_>, step: &dyn Fn(&str, u64)) -> Result<Vec<Figure>, Error> {
        let mut sheet = Sheet::new(part.table(), part.fold());
        match part.of {
            Of::Fold(case, name) => {
                let fold = Fold::new(case, name)?;
                step("model", FIT);
                sheet.mean("people", "readable", fold.readable());
                for experiment in self.experiments(false) {
                    experiment.measure(&fold, &mut sheet)?;
                    step(experiment.name(), experiment.weight());
                }
            }
            Of::Case(case) => {
                for experiment in self.experiments(true) {
                    experiment.measure_alone(case, &mut sheet)?;
                    step(experiment.name(), experiment.weight());
                }
            }
            Of::Synthetic => {
                growth::measure_synthetic(&mut sheet)?;
                step(Experiment::Growth.name(), Experiment::Growth.weight());
            }
        }
        Ok(sheet.into_figures())
    }

    /// The same for the same run: its program, tables, schemas, configurations, experiments and peers.
    fn fingerprint(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        // Another program may measure otherwise. One that cannot be read is told apart by its version alone.
        let program = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(&program);
        for experiment in &self.experiments {
            hasher.update(experiment.name().as_bytes());
        }
        for case in &self.cases {
            case.hash_into(&mut hasher);
        }
        hasher.finalize()
    }
}

impl Part<'_> {
    /// The table's name in figures.
    fn table(&self) -> &str {
        match self.of {
            Of::Fold(case, _) | Of::Case(case) => &case.name,
            Of::Synthetic => growth::SYNTHETIC,
        }
    }

    /// The fold's name in figures; empty for what is of none.
    fn fold(&self) -> &str {
        match self.of {
            Of::Fold(_, fold) => fold,
            Of::Case(_) | Of::Synthetic => "",
        }
    }

    /// What an interrupted run left, if it is whole.
    fn read(&self) -> Option<Vec<Figure>> {
        let file = self.file.as_ref()?;
        let reader = BufReader::new(File::open(file).ok()?);
        let Figures(figures) = Figures::read(reader, &file.display().to_string()).ok()?;
        let is_own = |figure: &Figure| figure.table == self.table() && figure.fold == self.fold();
        figures.iter().all(is_own).then_some(figures)
    }

    /// Keeps what was measured: the whole file or none.
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
