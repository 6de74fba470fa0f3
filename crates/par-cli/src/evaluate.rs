//! `par evaluate`: how good the answers of a model are.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, anyhow};
use clap::Args;
use par_answer::evaluate::{Evaluation, MethodMetrics, evaluate};
use par_data::Batch;
use par_model::{Mean, Model};
use serde::Serialize;

use crate::aligned::{Align, Facts, aligned, grouped};
use crate::classifier_file::ClassifierOptions;
use crate::rows::{Condition, SelectedRows};
use crate::{model_file, output};

const EXAMPLES: &str = "\
Examples:
  par evaluate people.par test.csv
  par evaluate people.par people.csv --where fold=0 --json

Every denied row is answered by all methods. A mean is followed by the number of rows it is over and the number
of denied rows. nll, similarity, distance, sparsity, effort and months are the lower the better; distance counts
one for every changed feature that is not numeric, similarity leaves those out. The gap is how much better, in
effort or nats, the best row found by `exact` with as many changes solves the problem of the first way. Times are those of single answers while all cores are busy with
others, so a quiet machine is quicker.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Evaluate {
    /// Made by `par fit`
    model: PathBuf,
    /// CSV, plain or gzipped, or Parquet if the program is built for it; the columns in any order
    table: PathBuf,
    #[command(flatten)]
    classifier: ClassifierOptions,
    /// Keep rows with this text in a column (COLUMN=VALUE), or another (COLUMN!=VALUE); all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Evaluate {
    pub(crate) fn run(self) -> Result<()> {
        let start = Instant::now();
        let model = self.classifier.answering(model_file::read(&self.model)?, &self.model)?;
        let mut rows = SelectedRows::open(&self.table, true, &self.conditions)?;
        let columns = model_file::columns(&model, &rows)?;
        let batches: Vec<Batch> = rows.by_ref().collect::<Result<_, _>>()?;
        if batches.is_empty() {
            return Err(rows.none_passed());
        }
        let places: Vec<(&Batch, usize)> =
            batches.iter().flat_map(|batch| (0..batch.rows()).map(move |row| (batch, row))).collect();
        let cells: Vec<Vec<&str>> = places.iter().map(|(batch, row)| columns.cells(batch, *row)).collect();
        let evaluation = evaluate(&model, &cells).map_err(|(position, error)| {
            let (batch, row) = places[position];
            anyhow!("{}, {error}", batch.place(row))
        })?;
        let report = EvaluationReport {
            model: ModelFacts::new(&model, self.model.display().to_string()),
            evaluation,
            seconds: start.elapsed().as_secs_f64(),
        };
        if self.json { output::print_json(&report) } else { output::print(&report.text()) }
    }
}

#[derive(Serialize)]
struct EvaluationReport {
    model: ModelFacts,
    #[serde(flatten)]
    evaluation: Evaluation,
    seconds: f64,
}

/// The model that was evaluated.
#[derive(Serialize)]
struct ModelFacts {
    file: String,
    program: String,
    classes: [String; 2],
    threshold: f64,
    seed: u64,
    immutable: Option<Vec<String>>,
    training_rows: [usize; 2],
    /// Whether the classifier itself, not a surrogate, judges the answers.
    verified: bool,
}

impl ModelFacts {
    fn new(model: &Model, file: String) -> Self {
        let (card, config) = (model.card(), model.config());
        Self {
            file,
            program: card.program.clone(),
            classes: card.classes.clone(),
            threshold: model.threshold(),
            seed: config.seed,
            immutable: config.immutable.clone(),
            training_rows: card.rows,
            verified: model.classifier().verifies(),
        }
    }
}

impl EvaluationReport {
    fn text(&self) -> String {
        let Evaluation { rows, denied, possible, refined, methods } = &self.evaluation;
        let mut facts = Facts::default();
        facts.add("rows", grouped(*rows));
        facts.add("denied", grouped(*denied));
        facts.add("possible", format!("{}, exact finds a recourse for these", grouped(*possible)));
        facts.add("refined", format!("{} of these have one by refine too", number(refined)));
        if !self.model.verified {
            facts.add("unverified", "validity is judged by a surrogate of the classifier".to_string());
        }
        facts.add("seconds", format!("{:.2}", self.seconds));

        let mut lines = vec![
            std::iter::once(String::new()).chain(methods.iter().map(|of| of.method.name().into())).collect(),
        ];
        let mut add = |title: &str, value: &dyn Fn(&MethodMetrics) -> String| {
            lines.push(std::iter::once(title.to_string()).chain(methods.iter().map(value)).collect());
        };
        add("validity", &|of| number(&of.validity));
        add("actionability", &|of| number(&of.actionability));
        add("causality", &|of| number(&of.causality));
        add("nll", &|of| number(&of.nll));
        add("similarity", &|of| number(&of.similarity));
        add("distance", &|of| number(&of.distance));
        add("sparsity", &|of| number(&of.sparsity));
        add("effort", &|of| number(&of.effort));
        add("months", &|of| number(&of.months));
        add("score", &|of| number(&of.score));
        add("with margin", &|of| number(&of.margin));
        add("median gap", &|of| {
            of.median_gap.map_or("-".into(), |gap| format!("{gap:.3} ({}/{})", of.gap.over, of.gap.of))
        });
        add("proved best", &|of| number(&of.optimal));
        add("median µs", &|of| of.time_us.map_or("-".into(), |time| format!("{time:.0}")));
        let lines: Vec<[String; 4]> = lines.into_iter().map(four).collect();
        let (left, right) = (Align::Left, Align::Right);
        format!("{}\n{}", facts.text(), aligned([left, right, right, right], &lines))
    }
}

fn four(mut cells: Vec<String>) -> [String; 4] {
    cells.resize(4, String::new());
    cells.try_into().expect("four cells")
}

/// A mean, with the number of rows it is over and of all rows.
fn number(mean: &Mean) -> String {
    let value = mean.mean.map_or("-".to_string(), |mean| format!("{mean:.3}"));
    format!("{value} ({}/{})", mean.over, mean.of)
}
