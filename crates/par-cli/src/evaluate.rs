//! `par evaluate`: how good the answers of a model are.

mod judge;
mod table;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use par_answer::Request;
use par_answer::evaluate::{Evaluation, MethodAnswers, MethodMetrics, answer_by_all_methods};
use par_answer::request::text::TextReader;
use par_model::{Mean, Model};
use serde::Serialize;

use self::judge::JudgeReport;
use self::table::PeopleTable;
use crate::aligned::{Align, Facts, aligned, grouped};
use crate::classifier_file::ClassifierOptions;
use crate::progress::RowProgress;
use crate::rows::{Condition, ExpectedRows};
use crate::{model_file, output};

const EXAMPLES: &str = "\
Examples:
  par evaluate people.par test.csv
  par evaluate people.par people.csv --where fold=0 --json
  par evaluate people.par test.csv --judge

Every denied row is answered by all methods. A mean is followed by the number of rows it is over and the number
of denied rows. percentile is the share of accepted people who are no likelier, given what nobody can change, as
is the second nll. nll, similarity, distance, sparsity, effort and months are the lower the better; distance counts
one for every changed feature that is not numeric, similarity leaves those out. The gap is how much better, in
effort or nats, the best row found by `exact` with as many changes solves the problem of the first way. Times
are those of single answers while all cores are busy with others, so a quiet machine is quicker.

`--judge` compares the first way of every person with held-out accepted people, by measures that nothing was
optimised for; the column `held out` is what it says of these people themselves. Its distance is the mean to
the 5 nearest people, numbers in their median absolute deviations, plus one for every other feature that
differs; outliers have a local outlier factor above 1.5 among 20 neighbours; auc is how well boosted trees
tell ways from people with the same immutable features (0.5 is best, 1 the worst; no figure for fewer than
50 ways), matched the share of ways for whom there are such people; nll is under a circuit of another kind,
learned from them. The rows must not be those that the model was made from: it would be judged too kindly.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Evaluate {
    /// Made by `par fit`
    model: PathBuf,
    /// CSV, plain or gzipped, or Parquet if the program is built for it; the columns in any order
    table: PathBuf,
    #[command(flatten)]
    classifier: ClassifierOptions,
    /// Keep rows with this value in a column (COLUMN=VALUE), or another (COLUMN!=VALUE); all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Judge by the accepted people of this table, or of the same one: their label is favourable, and the
    /// classifier accepts them. Rows that the model was made from are not held out
    #[arg(long, value_name = "HELD_OUT")]
    #[allow(clippy::option_option, reason = "clap's type of an option whose value is optional")]
    judge: Option<Option<PathBuf>>,
    /// Time after which the search for a row ends with what it has: `50ms`, `2s`, up to `9999s`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    deadline: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Evaluate {
    pub(crate) fn run(self) -> Result<()> {
        let start = Instant::now();
        let model = self.classifier.answering(model_file::read(&self.model)?, &self.model)?;
        let people = PeopleTable::read(&model, &self.table, &self.conditions)?;
        let cells = people.cells();
        let mut reader = TextReader::new(&model, usize::MAX);
        if let Some(deadline) = &self.deadline {
            reader.option("deadline", deadline).context("`--deadline`")?;
        }
        let answers = answers(&model, &people, &cells, &reader.finish()?)?;
        let judge = match &self.judge {
            None => None,
            Some(None) => Some(JudgeReport::new(&model, &people, &answers)?),
            Some(Some(held_out)) => {
                Some(JudgeReport::new(&model, &PeopleTable::read(&model, held_out, &[])?, &answers)?)
            }
        };
        let report = EvaluationReport {
            model: ModelFacts::new(&model, self.model.display().to_string()),
            evaluation: Evaluation::new(&model, &answers),
            judge,
            seconds: start.elapsed().as_secs_f64(),
        };
        if self.json { output::print_json(&report) } else { output::print(&report.text()) }
    }
}

/// Rows that are answered between two updates of the progress.
const ROWS_AT_ONCE: usize = 512;

/// The answers of all methods, with progress on a terminal.
fn answers(
    model: &Model,
    people: &PeopleTable,
    cells: &[Vec<&str>],
    request: &Request,
) -> Result<Vec<Option<MethodAnswers>>> {
    let progress = RowProgress::new(ExpectedRows::exactly(cells.len()), 0)?;
    let mut answers = Vec::with_capacity(cells.len());
    for rows in cells.chunks(ROWS_AT_ONCE) {
        let before = answers.len();
        let answered = answer_by_all_methods(model, rows, request)
            .map_err(|(row, error)| anyhow!("{}, {error}", people.place(before + row)))?;
        answers.extend(answered);
        progress.add(rows.len());
    }
    progress.finish();
    Ok(answers)
}

#[derive(Serialize)]
struct EvaluationReport {
    model: ModelFacts,
    #[serde(flatten)]
    evaluation: Evaluation,
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<JudgeReport>,
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
        for of in methods.iter().filter(|of| of.search_ended > 0) {
            let ended = format!("{} of {}, at the deadline", grouped(of.search_ended), of.method.name());
            facts.add("searches cut short", ended);
        }
        if !self.model.verified {
            facts.add("unverified", "validity is judged by a surrogate of the classifier".to_string());
        }
        if let Some(judge) = &self.judge {
            facts.add("judge", judge.fact());
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
        add("nll given the person", &|of| number(&of.conditional_nll));
        add("percentile", &|of| number(&of.percentile));
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
        add("median µs", &|of| microseconds(of.time_us));
        add("mean µs", &|of| microseconds(of.time_us_mean));
        add("99th percentile µs", &|of| microseconds(of.time_us_p99));
        let lines: Vec<[String; 4]> = lines.into_iter().map(four).collect();
        let (left, right) = (Align::Left, Align::Right);
        let judged = self.judge.as_ref().map_or(String::new(), |judge| format!("\n{}", judge.text()));
        format!("{}\n{}{judged}", facts.text(), aligned([left, right, right, right], &lines))
    }
}

fn four(mut cells: Vec<String>) -> [String; 4] {
    cells.resize(4, String::new());
    cells.try_into().expect("four cells")
}

fn microseconds(time: Option<f64>) -> String {
    time.map_or("-".into(), |time| format!("{time:.0}"))
}

/// A mean, with the number of rows it is over and of all rows; one that is too large for decimals by its magnitude.
fn number(mean: &Mean) -> String {
    let value = match mean.mean {
        None => "-".to_string(),
        Some(mean) if mean.abs() >= 1e12 => format!("{mean:.1e}"),
        Some(mean) => format!("{mean:.3}"),
    };
    format!("{value} ({}/{})", mean.over, mean.of)
}
