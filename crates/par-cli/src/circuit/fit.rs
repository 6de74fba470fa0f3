//! `par circuit fit`: from a table to a circuit file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use par_circuit::learn::{LearnConfig, Learner};
use par_data::Schema;
use serde::Serialize;

use crate::aligned::{Facts, grouped};
use crate::circuit_file::{CircuitFile, Member, Provenance};
use crate::output::{self, Destination};
use crate::rows::{Condition, SelectedRows};
use crate::variables::Variables;
use crate::{bins, categories, learning};

const EXAMPLES: &str = "\
Examples:
  par circuit fit people.csv --schema people.toml --out people.circuit
  par circuit fit people.csv --schema people.toml --where 'fold!=0' --where 'income=>50K' --out rich.circuit
  par circuit fit train.csv --valid valid.csv --no-header --out binary.circuit

With a schema, numbers are binned. The bins are those of the rows left by --where, except that conditions on
the label do not count: the circuits of all classes share their bins. --bins-where says otherwise.
Without a schema, every column is nominal: each different text is a category, and an empty cell is missing.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CircuitFit {
    /// Table to learn from: CSV, plain or gzipped, or Parquet if the program is built for it
    train: PathBuf,
    /// Where the circuit goes
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Held-out table that settings are chosen by [default: some of the rows of TRAIN]
    #[arg(long, value_name = "TABLE")]
    valid: Option<PathBuf>,
    /// What the columns mean
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Keep rows with this value in a column (COLUMN=VALUE), or another (COLUMN!=VALUE); all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Leave a column out
    #[arg(long, value_name = "COLUMN", conflicts_with = "schema")]
    drop: Vec<String>,
    /// The first line is a row already
    #[arg(long)]
    no_header: bool,
    /// Quantile bins of a numeric feature, unless the schema says otherwise [default: 10]
    #[arg(long, value_name = "N", requires = "schema")]
    bins: Option<usize>,
    /// Fit the bins to the rows that pass these conditions, instead of --where
    #[arg(long, value_name = "CONDITION", requires = "schema")]
    bins_where: Vec<Condition>,
    /// How to learn
    #[arg(long, value_enum, default_value_t = LearnerName::Auto)]
    learner: LearnerName,
    /// States of each hidden variable of hclt [default: 16]
    #[arg(long, value_name = "N")]
    states: Option<usize>,
    /// Groups of like rows, each with its own tree, of hclt [default: 1]
    #[arg(long, value_name = "N")]
    groups: Option<usize>,
    /// Fewer rows are not split further by learnspn [default: 200]
    #[arg(long, value_name = "N")]
    min_rows: Option<usize>,
    /// Fewer columns are not split further by learnspn [default: 3]
    #[arg(long, value_name = "N")]
    min_columns: Option<usize>,
    /// Largest circuit that auto makes [default: 500000]
    #[arg(long, value_name = "N")]
    max_edges: Option<usize>,
    /// Skip the final improvement of all parameters by expectation maximization
    #[arg(long)]
    no_em: bool,
    /// Same rows, same settings, same seed: the same circuit
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LearnerName {
    /// Several learners, mixed with the weights that suit held-out rows best
    Auto,
    /// A hidden Chow-Liu tree
    Hclt,
    /// Split columns that are independent, otherwise rows, until few of either are left
    Learnspn,
}

impl CircuitFit {
    pub(crate) fn run(self) -> Result<()> {
        let config = self.config()?;
        let inputs: Vec<&Path> = [Some(&self.train), self.valid.as_ref(), self.schema.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        let destination = Destination::new(&self.out, &inputs)?;
        let start = Instant::now();
        let mut variables = self.variables()?;
        let rows = variables.training_dataset(self.rows()?)?;
        let valid = self.valid_rows()?.map(|valid| variables.dataset(valid)).transpose()?;
        let what = self.out.display().to_string();
        let file = learning::learn(&what, variables, &self.conditions, &rows, valid.as_ref(), config)?;
        file.write(destination)?;
        let summary = CircuitSummary::new(&file, what, start.elapsed().as_secs_f64());
        if self.json { output::print_json(&summary) } else { output::print(&summary.text(&file.provenance)) }
    }

    fn rows(&self) -> Result<SelectedRows> {
        SelectedRows::open(&self.train, !self.no_header, &self.conditions)
    }

    fn valid_rows(&self) -> Result<Option<SelectedRows>> {
        let open = |valid: &PathBuf| SelectedRows::open(valid, !self.no_header, &self.conditions);
        self.valid.as_ref().map(open).transpose()
    }

    fn variables(&self) -> Result<Variables> {
        let (schema, rows) = match &self.schema {
            Some(path) => {
                let schema = Schema::load(path)?;
                let conditions = self.bin_conditions(&schema);
                (schema, SelectedRows::open(&self.train, !self.no_header, &conditions)?)
            }
            None => {
                let tables = [Some(self.rows()?), self.valid_rows()?].into_iter().flatten().collect();
                (categories::schema(tables, &self.drop)?, self.rows()?)
            }
        };
        let width = rows.columns().len();
        let discretizer = bins::fit(&schema, rows, self.bins)?;
        Ok(Variables { discretizer, header: !self.no_header, width, described: self.schema.is_some() })
    }

    /// Conditions on the label are left out: circuits of two classes are comparable only if they share bins.
    fn bin_conditions(&self, schema: &Schema) -> Vec<Condition> {
        if !self.bins_where.is_empty() {
            return self.bins_where.clone();
        }
        let label = schema.label().map(|label| label.column.trim());
        self.conditions.iter().filter(|condition| Some(condition.column()) != label).cloned().collect()
    }

    fn config(&self) -> Result<LearnConfig> {
        let mut config = LearnConfig { seed: self.seed, ..LearnConfig::default() };
        config.learner = match self.learner {
            LearnerName::Auto => Learner::Auto,
            LearnerName::Hclt => Learner::Hclt,
            LearnerName::Learnspn => Learner::LearnSpn,
        };
        for (option, chosen, learner, setting) in [
            ("states", self.states, Learner::Hclt, &mut config.hclt.states),
            ("groups", self.groups, Learner::Hclt, &mut config.hclt.groups),
            ("min-rows", self.min_rows, Learner::LearnSpn, &mut config.learn_spn.min_rows),
            ("min-columns", self.min_columns, Learner::LearnSpn, &mut config.learn_spn.min_columns),
            ("max-edges", self.max_edges, Learner::Auto, &mut config.max_edges),
        ] {
            let Some(chosen) = chosen else { continue };
            if config.learner != learner {
                bail!(
                    "`--{option}` has no effect with `--learner {}`, only with `{learner}`",
                    config.learner
                );
            }
            *setting = chosen;
        }
        if self.no_em {
            config.em.max_passes = 0;
        }
        Ok(config)
    }
}

/// The printed summary of a learned circuit.
#[derive(Serialize)]
struct CircuitSummary {
    rows: usize,
    valid_rows: Option<usize>,
    variables: usize,
    learner: Learner,
    seed: u64,
    members: Vec<Member>,
    nodes: usize,
    edges: usize,
    parameters: usize,
    held_out: f64,
    seconds: f64,
    out: String,
}

impl CircuitSummary {
    fn new(file: &CircuitFile, out: String, seconds: f64) -> Self {
        let CircuitFile { provenance, circuit, .. } = file;
        Self {
            rows: provenance.rows,
            valid_rows: provenance.valid_rows,
            variables: circuit.cardinalities().len(),
            learner: provenance.config.learner,
            seed: provenance.config.seed,
            members: provenance.members.clone(),
            nodes: circuit.nodes().len(),
            edges: circuit.edges(),
            parameters: circuit.parameters(),
            held_out: provenance.held_out,
            seconds,
            out,
        }
    }

    fn text(&self, provenance: &Provenance) -> String {
        let mut facts = Facts::default();
        facts.add("rows", grouped(self.rows));
        facts.add("variables", grouped(self.variables));
        facts.add("learner", self.learner.to_string());
        provenance.add_members(&mut facts);
        facts.add("edges", grouped(self.edges));
        facts.add("parameters", grouped(self.parameters));
        provenance.add_held_out(&mut facts);
        facts.add("seconds", format!("{:.2}", self.seconds));
        facts.add("written to", &self.out);
        facts.text()
    }
}
