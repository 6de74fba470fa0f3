//! `par fit`: from a table to a model.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use par_circuit::{Circuit, Stop};
use par_data::{Schema, suggest};
use par_fit::{Error, ModelBuilder, ScoredBy};
use par_model::classifier::{DeployedClassifier, ExternalError, Threshold};
use par_model::{Config, Density, Mean, Model};
use par_terminal::preset::Preset;
use serde::Serialize;

use crate::aligned::{Facts, grouped, percent};
use crate::classifier_file::VersionFile;
use crate::fitting::FitSpinner;
use crate::output::{self, Destination};
use crate::rows::{Condition, SelectedRows};
use crate::{classifier_file, config_file};

const EXAMPLES: &str = "\
Examples:
  par fit people.csv --schema people.toml --out people.par
  par fit people.csv --schema people.toml --where 'fold!=0' --out people.par
  par fit people.csv --schema people.toml --config slow.toml --seed 7 --out people.par
  par fit people.csv --schema people.toml --classifier model.onnx --inputs inputs.toml --out people.par

A configuration file is TOML and holds the settings that differ from the defaults; `par inspect` prints all settings
of a model in that form. Options override the file, and the file overrides the preset. Same rows, same settings,
same seed: the same bytes, on any number of threads. No training row is copied into the model; rows that are drawn
from its circuits may equal one by chance.";

/// A count of the command line.
fn whole_number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number, at least 0".to_string())
}

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fit {
    /// Table to learn from: CSV, plain or gzipped, or Parquet if the program is built for it
    table: PathBuf,
    /// What the columns mean
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Where the model goes
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Settings, as TOML
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Settings to start from
    #[arg(long, value_enum)]
    preset: Option<Preset>,
    /// Same rows, same settings, same seed: the same model [default: 0]
    // `par inspect` prints the settings as TOML, whose integers are signed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Quantile bins of a numeric feature, unless the schema says otherwise [default: 10]
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    bins: Option<usize>,
    /// Learn from so many rows of a longer table, drawn at random, 0 for all [default: 200000]
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    sample: Option<usize>,
    /// Probability from which a row is accepted, or `youden` for the one that separates the classes best; if the label is a
    /// number, that number [default: 0.5, or the number in the schema]
    #[arg(long, value_name = "SCORE", value_parser = threshold, allow_negative_numbers = true)]
    threshold: Option<Threshold>,
    /// Class that counts as accepted, if not the schema's, or several: `--favourable a,b`
    #[arg(long, value_name = "CLASS")]
    favourable: Vec<String>,
    /// Use this classifier, an ONNX file, instead of training one
    #[arg(long, value_name = "FILE", requires = "inputs")]
    classifier: Option<PathBuf>,
    /// How a row becomes the inputs of --classifier, as TOML; `par inputs init` drafts it
    #[arg(long, value_name = "FILE", requires = "classifier")]
    inputs: Option<PathBuf>,
    /// Fit a surrogate to the scores (0 to 1) or decisions (classes) in this column; answers are then unverified
    #[arg(long, value_name = "COLUMN", conflicts_with = "classifier")]
    scores: Option<String>,
    /// Train so many other versions of the classifier, each on other draws of the rows, for `--robust` [default: 0]
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    versions: Option<usize>,
    /// Another version of the classifier, an ONNX file, for `--robust`; once for each. Its inputs are those of --classifier,
    /// and its threshold the model's, unless told
    #[arg(long, value_name = "FILE[,inputs=FILE][,threshold=SCORE]")]
    also: Vec<VersionFile>,
    /// Learn what is plausible from the rows' labels or from the classifier's decisions [default: labels]
    #[arg(long, value_enum)]
    density: Option<DensityOption>,
    /// By how many nats each further change must make the recourse likelier [default: 1.25]
    #[arg(long, value_name = "NATS", allow_negative_numbers = true)]
    price: Option<f64>,
    /// Most features that a recourse changes, unless there is none with so few [default: 4]
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    budget: Option<usize>,
    /// Keep rows with this value in a column (COLUMN=VALUE), or another (COLUMN!=VALUE); all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DensityOption {
    /// The label decides the class of a row
    Labels,
    /// The classifier decides it
    Decisions,
}

fn threshold(text: &str) -> Result<Threshold, String> {
    if text == "youden" {
        return Ok(Threshold::Youden);
    }
    let number = f64::from_str(text).ok().filter(|number| number.is_finite());
    number.map(Threshold::Fixed).ok_or_else(|| "expected a number, or `youden`".into())
}

impl Fit {
    pub(crate) fn run(self) -> Result<()> {
        let optional = [&self.config, &self.classifier, &self.inputs].into_iter().flatten();
        let read: Vec<&Path> =
            [&self.table, &self.schema].into_iter().chain(optional).map(PathBuf::as_path).collect();
        let read: Vec<&Path> =
            read.into_iter().chain(self.also.iter().flat_map(VersionFile::files)).collect();
        let destination = Destination::new(&self.out, &read)?;
        let config = self.config()?;
        let start = Instant::now();
        let schema = Schema::load(&self.schema)?;
        let rows = SelectedRows::open_file(&self.table, &self.conditions)?;
        let columns = schema.columns(rows.origin(), rows.columns())?;
        let builder = self.with_classifier(ModelBuilder::new(schema, config), &rows)?;
        let builder = self.with_versions(builder)?;
        let what = self.out.display().to_string();
        let spinner = FitSpinner::new(&what)?.of_rows(rows.expected());
        let scores = self.scores_position(&rows)?;
        let needed: Vec<usize> =
            columns.features.iter().copied().chain(columns.label).chain(scores).collect();
        let open = || rows.again(&needed);
        let fitted = builder.fit_rows(&columns, open, &mut |stage| spinner.show(stage), Stop::never());
        spinner.finish();
        let model = fitted.map_err(|error| self.explained(error, &rows))?;
        let bytes = model.to_bytes();
        output::write_file(destination, &bytes)?;
        let summary = FitSummary::new(&model, what, bytes.len(), start.elapsed().as_secs_f64());
        if self.json { output::print_json(&summary) } else { output::print(&summary.text()) }
    }

    /// Adds the external classifier or the column of scores, if the options name one.
    fn with_classifier(&self, builder: ModelBuilder, rows: &SelectedRows) -> Result<ModelBuilder> {
        if let (Some(classifier), Some(inputs)) = (&self.classifier, &self.inputs) {
            let inputs = classifier_file::read_inputs(inputs)?;
            return Ok(builder.with_classifier(classifier_file::read(classifier)?, inputs));
        }
        Ok(match (&self.scores, self.scores_position(rows)?) {
            (Some(column), Some(position)) => builder.with_scores(column, position),
            _ => builder,
        })
    }

    /// Adds the other versions of the classifier that the options name.
    fn with_versions(&self, mut builder: ModelBuilder) -> Result<ModelBuilder> {
        let in_use = self.inputs.as_deref().map(classifier_file::read_inputs).transpose()?;
        for version in &self.also {
            let inputs = version.inputs(|| in_use.clone())?;
            let file = classifier_file::read(&version.file)?;
            builder = builder.with_version(&version.name(), file, inputs, version.threshold);
        }
        Ok(builder)
    }

    /// The column of scores, if the options name one.
    fn scores_position(&self, rows: &SelectedRows) -> Result<Option<usize>> {
        let Some(column) = &self.scores else { return Ok(None) };
        let position = rows.columns().iter().position(|name| name.trim() == column);
        let absent = || {
            anyhow!("{}: no column `{column}` with scores{}", rows.origin(), suggest(column, rows.columns()))
        };
        position.map(Some).ok_or_else(absent)
    }

    /// Options override the configuration file, which overrides the preset.
    fn config(&self) -> Result<Config> {
        let mut config = self.preset.map_or_else(Config::default, Preset::config);
        if let Some(path) = &self.config {
            config = config_file::laid_over(&config, path)?;
        }
        config.seed = self.seed.unwrap_or(config.seed);
        config.bins.bins = self.bins.unwrap_or(config.bins.bins);
        config.sample = self.sample.unwrap_or(config.sample);
        config.versions = self.versions.unwrap_or(config.versions);
        config.classifier.threshold = self.threshold.unwrap_or(config.classifier.threshold);
        config.answers.price = self.price.unwrap_or(config.answers.price);
        config.answers.budget = self.budget.unwrap_or(config.answers.budget);
        config.density = match self.density {
            Some(DensityOption::Labels) => Density::Labels,
            Some(DensityOption::Decisions) => Density::Decisions,
            None => config.density,
        };
        if !self.favourable.is_empty() {
            config.favourable = Some(self.favourable.clone());
        }
        config.check()?;
        Ok(config)
    }

    /// Adds to an error the file or column that it is about.
    fn explained(&self, error: Error, rows: &SelectedRows) -> anyhow::Error {
        let schema = || self.schema.display().to_string();
        match error {
            Error::Data(par_data::Error::NoRows { .. }) => rows.none_passed(),
            Error::NoLabel | Error::Favourable(_) | Error::OneSide { .. } => {
                anyhow::Error::from(error).context(schema())
            }
            Error::Data(par_data::Error::UnknownFeature { .. }) => {
                anyhow::Error::from(error).context(format!("{}: `immutable`", schema()))
            }
            Error::Data(par_data::Error::NoLabelColumn { .. })
                if self.classifier.is_some() || self.scores.is_some() =>
            {
                anyhow!(
                    "{error}\nhint: without labels, `--density decisions` learns from what the classifier decides"
                )
            }
            Error::External(ExternalError::Inputs(_))
            | Error::Inverted { scored: ScoredBy::Output { .. }, .. } => {
                anyhow::Error::from(error).context(path_text(self.inputs.as_deref()))
            }
            Error::External(_) => anyhow::Error::from(error).context(path_text(self.classifier.as_deref())),
            Error::Inverted { .. } | Error::Classifier(_) => {
                anyhow::Error::from(error).context(rows.origin().to_string())
            }
            other => other.into(),
        }
    }
}

fn path_text(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| path.display().to_string())
}

/// The printed summary of a model.
#[derive(Serialize)]
pub(crate) struct FitSummary {
    rows: usize,
    /// How many of the rows the model was learned from.
    learned_from: usize,
    accepted_rows: usize,
    denied_rows: usize,
    classes: [String; 2],
    features: usize,
    classifier: ClassifierFacts,
    epochs: usize,
    auc: Option<f64>,
    held_out_auc: Option<f64>,
    held_out_r2: Option<f64>,
    /// What a predicted number must reach, in words; `None` if the label is classes.
    goal: Option<String>,
    /// How many classes the label has.
    #[serde(skip)]
    class_count: usize,
    /// Features of which the schema does not say whether they can change, so that they do not.
    undecided: Vec<String>,
    accuracy: Option<f64>,
    threshold: f64,
    /// Other versions of the classifier, by name.
    versions: Vec<String>,
    density: Density,
    accepted_circuit: CircuitFacts,
    denied_circuit: CircuitFacts,
    pool: usize,
    generator: GeneratorFacts,
    immutable: Vec<String>,
    seed: u64,
    seconds: f64,
    bytes: usize,
    out: String,
    warnings: Vec<String>,
}

/// The size and fit of a circuit.
#[derive(Serialize)]
pub(crate) struct CircuitFacts {
    nodes: usize,
    edges: usize,
    parameters: usize,
    /// Mean log-likelihood of held-out rows, in nats.
    held_out: f64,
}

impl CircuitFacts {
    pub(crate) fn new(circuit: &Circuit, held_out: f64) -> Self {
        Self {
            nodes: circuit.nodes().len(),
            edges: circuit.edges(),
            parameters: circuit.parameters(),
            held_out,
        }
    }

    pub(crate) fn text(&self) -> String {
        let (edges, parameters) = (grouped(self.edges), grouped(self.parameters));
        format!("{edges} edges, {parameters} parameters, held out {:.4} nats a row", self.held_out)
    }
}

/// Where a classifier comes from.
#[derive(Serialize)]
pub(crate) struct ClassifierFacts {
    pub(crate) origin: &'static str,
    /// The layers or trees of an external classifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<String>,
    /// The column of scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<String>,
    sha256: String,
    /// How often its surrogate makes the same decision.
    agreement: Option<Mean>,
    verified: bool,
    /// Features that it ignores.
    unused: Vec<String>,
}

impl ClassifierFacts {
    pub(crate) fn new(model: &Model) -> Self {
        let classifier = model.classifier();
        let mut facts = Self {
            origin: "trained",
            shape: None,
            column: None,
            sha256: classifier.hash(),
            agreement: model.card().agreement,
            verified: classifier.verifies(),
            unused: Vec::new(),
        };
        match classifier {
            DeployedClassifier::Trained(_) => {}
            DeployedClassifier::Surrogate { column, .. } => {
                facts.origin = "scores";
                facts.column = Some(column.clone());
            }
            DeployedClassifier::External(external) => {
                facts.origin = "onnx";
                facts.shape = Some(external.shape());
                let features = model.schema().features();
                let unused = external.unused(model.schema()).into_iter();
                facts.unused = unused.map(|feature| features[feature].name.clone()).collect();
            }
        }
        facts
    }

    pub(crate) fn text(&self) -> String {
        match (&self.shape, &self.column) {
            (Some(shape), _) => {
                let unused = match self.unused.len() {
                    0 => String::new(),
                    _ => format!(", ignores {}", self.unused.join(", ")),
                };
                format!("ONNX, {shape}, SHA-256 {}…{unused}", &self.sha256[..12])
            }
            (_, Some(column)) => {
                format!("a surrogate of the scores in column `{column}`, answers are unverified")
            }
            _ => "trained".to_string(),
        }
    }

    /// How often the surrogate agrees, as text.
    pub(crate) fn agreement_text(&self) -> Option<String> {
        let Mean { mean, over, .. } = self.agreement?;
        let what = match self.origin {
            "scores" => "held-out rows",
            _ => "rows drawn from the circuits",
        };
        Some(format!("its surrogate decides the same for {} of {} {what}", percent(mean?), grouped(over)))
    }
}

#[derive(Serialize)]
struct GeneratorFacts {
    examples: usize,
    steps: usize,
    held_out: usize,
    /// The share of held-out factuals whose first proposal is accepted, at the end of training.
    valid: Option<f64>,
}

impl FitSummary {
    pub(crate) fn new(model: &Model, out: String, bytes: usize, seconds: f64) -> Self {
        let card = model.card();
        let features = model.schema().features();
        let immutable = (0..features.len()).filter(|&feature| model.constraints().is_immutable(feature));
        let last = card.generator.points.last();
        Self {
            rows: card.sample_or_all().read,
            learned_from: card.sample_or_all().learned_from,
            accepted_rows: card.rows[0],
            denied_rows: card.rows[1],
            classes: card.classes.clone(),
            features: features.len(),
            classifier: ClassifierFacts::new(model),
            epochs: card.classifier.epochs.len(),
            auc: card.auc,
            held_out_auc: card.held_out_auc,
            held_out_r2: card.held_out_r2,
            goal: model
                .goal()
                .map(|goal| format!("{} {}", goal.side.words(), goal.amount(model.threshold(), None))),
            class_count: model.schema().label().map_or(2, |label| label.classes.len()),
            undecided: model.schema().undecided().map(|feature| feature.name.clone()).collect(),
            accuracy: card.accuracy,
            threshold: model.threshold(),
            versions: model.versions().iter().map(|version| version.name.clone()).collect(),
            density: model.config().density,
            accepted_circuit: CircuitFacts::new(model.accepted(), card.held_out[0]),
            denied_circuit: CircuitFacts::new(model.denied(), card.held_out[1]),
            pool: model.pool().len(),
            generator: GeneratorFacts {
                examples: card.generator.examples,
                steps: last.map_or(0, |point| point.step),
                held_out: card.generator.held_out,
                valid: last.and_then(|point| point.held_out).map(|held_out| held_out.valid),
            },
            immutable: immutable.map(|feature| features[feature].name.clone()).collect(),
            seed: model.config().seed,
            seconds,
            bytes,
            out,
            warnings: warnings(model),
        }
    }

    /// The immutable features of which the schema says so.
    fn decided_immutable(&self) -> Vec<&str> {
        let is_decided = |name: &&String| !self.undecided.contains(name);
        self.immutable.iter().filter(is_decided).map(String::as_str).collect()
    }

    pub(crate) fn text(&self) -> String {
        let [accepted, denied] = &self.classes;
        let mut facts = Facts::default();
        facts.add(
            "rows",
            format!(
                "{}: {} accepted ({accepted}), {} denied ({denied})",
                grouped(self.rows),
                grouped(self.accepted_rows),
                grouped(self.denied_rows)
            ),
        );
        if self.learned_from < self.rows {
            facts.add("", format!("learned from {} of them, drawn at random", grouped(self.learned_from)));
        }
        if self.class_count > 2 {
            let others = "`--favourable`, or `favourable` in the schema, says which".to_string();
            facts.add("classes", format!("{accepted}: accepted; {denied}: denied"));
            facts.add("", others);
        }
        facts.add(
            "features",
            format!("{}{}", grouped(self.features), immutable_text(&self.decided_immutable())),
        );
        if !self.undecided.is_empty() {
            let names = self.undecided.join(", ");
            facts.add("undecided", format!("{names}: they stay as they are until the schema says `change`"));
        }
        let auc = match (self.held_out_auc, self.auc) {
            (Some(held_out), Some(auc)) if held_out != auc => {
                format!(", AUC {held_out:.3} on held-out rows, {auc:.3} on the training rows")
            }
            (_, Some(auc)) => format!(", AUC {auc:.3} on these rows"),
            (_, None) => String::new(),
        };
        let auc = match self.held_out_r2 {
            Some(r2) => format!(", a regression, R² {r2:.3} on held-out rows{auc}"),
            None => auc,
        };
        match self.classifier.origin {
            "trained" => facts.add("classifier", format!("{} epochs{auc}", grouped(self.epochs))),
            _ => facts.add("classifier", format!("{}{auc}", self.classifier.text())),
        }
        if let Some(agreement) = self.classifier.agreement_text() {
            facts.add("", agreement);
        }
        facts.add("threshold", self.goal.clone().unwrap_or_else(|| format!("{:.3}", self.threshold)));
        if !self.versions.is_empty() {
            facts.add("versions", format!("{}: {}", self.versions.len(), self.versions.join(", ")));
        }
        if self.density == Density::Decisions {
            facts.add(
                "circuits of",
                "rows that the classifier accepts and denies, not of the labels".to_string(),
            );
        }
        facts.add("accepted circuit", self.accepted_circuit.text());
        facts.add("denied circuit", self.denied_circuit.text());
        facts.add("accepted pool", format!("{} rows", grouped(self.pool)));
        facts.add("generator", self.generator.text());
        facts.add("seconds", format!("{:.2}", self.seconds));
        facts.add("written to", format!("{}, {} bytes", self.out, grouped(self.bytes)));
        let warnings = self.warnings.iter().map(|warning| format!("\nwarning: {warning}\n"));
        facts.text() + &warnings.collect::<String>()
    }
}

impl GeneratorFacts {
    fn text(&self) -> String {
        let valid = self.valid.map_or(String::new(), |valid| {
            format!(", {} of {} held-out factuals accepted at once", percent(valid), grouped(self.held_out))
        });
        format!("{} examples, {} steps{valid}", grouped(self.examples), grouped(self.steps))
    }
}

fn immutable_text(names: &[&str]) -> String {
    match names.len() {
        0 => ", none immutable".to_string(),
        _ => format!(", immutable: {}", names.join(", ")),
    }
}

/// Below this AUC a classifier hardly separates the classes: its inputs may be wrong.
const NEAR_CHANCE: f64 = 0.55;

/// Reasons why a model may be of little use.
fn warnings(model: &Model) -> Vec<String> {
    let mut warnings = Vec::new();
    let is_external = !matches!(model.classifier(), DeployedClassifier::Trained(_));
    match model.card().scores.filter(|_| !model.scale().is_number()) {
        Some([lowest, highest]) if is_external && (highest < 1e-9 || lowest > 1.0 - 1e-9) => warnings.push(
            "the classifier is certain of every training row, as if its scores were not log-odds\n\
             hint: the output of a regressor is not; see `scale` in the inputs"
                .to_string(),
        ),
        // The sigmoid of 0 and of 1.
        Some([lowest, highest]) if is_external && lowest >= 0.5 && highest <= 0.7311 => warnings.push(
            "taken as log-odds, the scores of all training rows lie between 0 and 1, as probabilities would\n\
             hint: see `scale` in the inputs"
                .to_string(),
        ),
        _ => {}
    }
    let chance = model.card().held_out_auc.filter(|auc| *auc < NEAR_CHANCE);
    if let Some(auc) = chance {
        let hint = match is_external {
            true => {
                "see whether the inputs are those it was trained on, and which class is `favourable` in the schema"
            }
            false => "see whether the label is a decision that the features can tell",
        };
        warnings.push(format!(
            "the classifier separates the classes hardly better than chance, AUC {auc:.3}\nhint: {hint}"
        ));
    }
    if model.pool().is_empty() {
        warnings.push(
            "the classifier denies every row drawn from the accepted circuit, so there may be no recourse at all\n\
             hint: choose an easier `--threshold`"
                .to_string(),
        );
    } else if model.card().generator.examples == 0 {
        warnings.push(
            "the classifier denies no row, so no recourse is needed\n\
             hint: choose a harder `--threshold`, or look at what the schema says of the label"
                .to_string(),
        );
    }
    warnings
}
