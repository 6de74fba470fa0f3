//! `par-bench tune`: searches settings of the generator that give better answers over folds.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use par_answer::Method;
use par_bench::Tuned;
use par_bench::tune::TuneTrial;
use par_model::{Config, Mean};
use par_terminal::aligned::{Facts, grouped, percent};
use par_terminal::config_file;
use par_terminal::output::{self, Destination};
use par_terminal::preset::Preset;
use serde::Serialize;

use crate::folded::{self, FoldOptions};

const EXAMPLES: &str = "\
Examples:
  par-bench tune people.csv --schema people.toml --out tuned.toml
  par-bench tune people.csv --schema people.toml --config mine.toml --trials 60 --history trials.csv --out tuned.toml
  par fit people.csv --schema people.toml --config tuned.toml --out people.par

Tuned are the accepted pool and the generator: its size, its training and the weights of its loss, around the
settings that the search starts from. Bins, threshold, circuits, immutable features, price and budget say what is
wanted, not how well it is done, and stay as they are; a weight of 0 stays 0. The first trial is the start itself,
so the result is never worse on these folds.

The search minimizes the regret: how many nats worse than the exact answer a person's answer is, each change at
its price; at most 10, which is also the regret of a missing answer. A trial that after some folds does worse than
the median of the complete ones is pruned. The people of these folds choose the settings, so figures on the
same folds are better afterwards than those on others. Same table, same settings, same seed: the same settings are
found, on any number of threads. An interrupted search writes nothing.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TuneOptions {
    /// Table to learn from and measure on: CSV, plain or gzipped, or Parquet if the program is built for it
    table: PathBuf,
    /// What the columns mean
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Where the settings go, as TOML, complete
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Where all trials go, as CSV
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    #[command(flatten)]
    folds: FoldOptions,
    /// Settings to start from, as TOML
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Settings to start from, before those of the file
    #[arg(long, value_enum)]
    preset: Option<Preset>,
    /// How many settings to try, the start among them
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    trials: u64,
    /// The method whose answers are tuned
    #[arg(long, value_enum, default_value = "generate")]
    method: TunedMethod,
    /// Seed of the search; the seed of models is in the settings
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum TunedMethod {
    /// The generator alone
    Generate,
    /// The generator with local search, which hides much of what it does badly
    Refine,
}

impl TunedMethod {
    fn method(self) -> Method {
        match self {
            Self::Generate => Method::Generate,
            Self::Refine => Method::Refine,
        }
    }
}

impl TuneOptions {
    pub(crate) fn run(self) -> Result<()> {
        let started = Instant::now();
        let read = [Some(&self.table), Some(&self.schema), self.config.as_ref()];
        let inputs: Vec<&Path> = read.into_iter().flatten().map(PathBuf::as_path).collect();
        let out = Destination::new(&self.out, &inputs)?;
        let history = self.history.as_ref().map(|path| Destination::new(path, &inputs)).transpose()?;
        if history.as_ref().is_some_and(|history| history.is_same_as(&out)) {
            bail!("{}: `--out` and `--history` name the same file", self.out.display());
        }
        let mut config = self.preset.map_or_else(Config::default, Preset::config);
        if let Some(file) = &self.config {
            config = config_file::laid_over(&config, file)?;
        }
        let case = folded::case(&self.table, &self.schema, &self.folds, config)?;
        case.check()?;
        let search = par_bench::Tune {
            case: &case,
            trials: usize::try_from(self.trials)?,
            method: self.method.method(),
            seed: self.seed,
        };
        let tuned = with_progress_bar(&search)?;

        if let (Some(destination), Some(path)) = (history, &self.history) {
            let mut csv = Vec::new();
            tuned.write_history(&mut csv).with_context(|| path.display().to_string())?;
            output::write_file(destination, &csv)?;
        }
        let settings =
            toml::to_string(&tuned.best().config).context("the settings cannot be written as TOML")?;
        output::write_file(out, (self.heading(&case.name, &tuned) + &settings).as_bytes())?;
        let summary = TuneSummary::new(&self, &case.name, &tuned, started.elapsed().as_secs_f64());
        if self.json { output::print_json(&summary) } else { output::print(&summary.text()) }
    }

    /// The result of the search, as TOML comments.
    fn heading(&self, table: &str, tuned: &Tuned) -> String {
        let (best, method, seed) = (tuned.best(), self.method.method().name(), self.seed);
        let (start, trials, folds) =
            (tuned.start().objective(), grouped(tuned.trials.len()), grouped(tuned.folds.len()));
        let found = match best.number {
            0 => format!("none of {trials} trials was better than the start: {start:.3} nats"),
            number => {
                let found = best.objective();
                format!("trial {number} of {trials}, {found:.3} nats, from {start:.3} at the start")
            }
        };
        let table = table.replace(char::is_control, " ");
        format!(
            "# Found by `par-bench tune` on {table}, method {method}, seed {seed}: {found}.\n\
             # That is the mean regret over {folds} folds, which chose the settings: others will do a little worse.\n\n"
        )
    }
}

/// The search, with a progress bar.
fn with_progress_bar(search: &par_bench::Tune<'_>) -> Result<Tuned> {
    let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template(
        "{bar:30} {percent:>3} %  {elapsed} so far, at most about {eta} left  {msg}",
    )?);
    bar.set_message("models of the folds");
    bar.enable_steady_tick(Duration::from_millis(200));
    let tuned = search.run(&|progress| {
        bar.set_length(progress.of as u64);
        bar.set_position(progress.done as u64);
        let best = progress.best.map_or(String::new(), |best| format!(", best {best:.3} nats"));
        bar.set_message(format!(
            "trial {} of {}{best}",
            grouped(progress.trial + 1),
            grouped(progress.trials)
        ));
    });
    bar.finish_and_clear();
    Ok(tuned?)
}

/// The printed summary of a search.
#[derive(Serialize)]
struct TuneSummary {
    table: String,
    method: &'static str,
    folds: usize,
    people: usize,
    trials: usize,
    pruned: usize,
    start: TrialScore,
    best: TrialScore,
    changes: Vec<SettingChange>,
    seconds: f64,
    out: String,
    history: Option<String>,
}

/// The measures of a trial over all folds.
#[derive(Serialize)]
struct TrialScore {
    trial: usize,
    objective: f64,
    validity: Mean,
    nll: Mean,
    sparsity: Mean,
    similarity: Mean,
    gap: Mean,
}

#[derive(Serialize)]
struct SettingChange {
    setting: &'static str,
    from: String,
    to: String,
}

impl TuneSummary {
    fn new(tune: &TuneOptions, table: &str, tuned: &Tuned, seconds: f64) -> Self {
        let changes = tuned.changes().into_iter();
        Self {
            table: table.to_string(),
            method: tune.method.method().name(),
            folds: tuned.folds.len(),
            people: tuned.start().runs.iter().map(|run| run.people).sum(),
            trials: tuned.trials.len(),
            pruned: tuned.pruned(),
            start: TrialScore::new(tuned.start()),
            best: TrialScore::new(tuned.best()),
            changes: changes.map(|(setting, from, to)| SettingChange { setting, from, to }).collect(),
            seconds,
            out: tune.out.display().to_string(),
            history: tune.history.as_ref().map(|path| path.display().to_string()),
        }
    }

    fn text(&self) -> String {
        let mut facts = Facts::default();
        facts.add("people", format!("{} in {} folds", grouped(self.people), grouped(self.folds)));
        facts.add("trials", format!("{}, {} pruned", grouped(self.trials), grouped(self.pruned)));
        facts.add("start", self.start.text());
        match self.best.trial {
            0 => facts.add("best", "the start: nothing was better"),
            trial => facts.add("best", format!("{}, trial {}", self.best.text(), grouped(trial))),
        }
        for (place, SettingChange { setting, from, to }) in self.changes.iter().enumerate() {
            facts.add(if place == 0 { "changed" } else { "" }, format!("{setting} from {from} to {to}"));
        }
        facts.add("seconds", format!("{:.2}", self.seconds));
        let written: Vec<&str> =
            [Some(&self.out), self.history.as_ref()].into_iter().flatten().map(String::as_str).collect();
        facts.add("written to", written.join(", "));
        facts.text() + "\nThe settings were chosen on these people: expect a little less on others.\n"
    }
}

impl TrialScore {
    fn new(trial: &TuneTrial) -> Self {
        Self {
            trial: trial.number,
            objective: trial.objective(),
            validity: trial.mean(|run| run.validity),
            nll: trial.mean(|run| run.nll),
            sparsity: trial.mean(|run| run.sparsity),
            similarity: trial.mean(|run| run.similarity),
            gap: trial.mean(|run| run.gap),
        }
    }

    fn text(&self) -> String {
        let Mean { mean, over, of } = self.validity;
        let validity = mean.map_or("-".to_string(), percent);
        let nll = self.nll.mean.map_or("-".to_string(), |nll| format!("{nll:.2}"));
        let sparsity = self.sparsity.mean.map_or("-".to_string(), |sparsity| format!("{sparsity:.2}"));
        format!(
            "regret {:.3} nats, validity {validity} ({over}/{of}), nll {nll}, {sparsity} changes",
            self.objective
        )
    }
}
