//! `par demo`: every step on an embedded table, from raw rows to a report.

mod page;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use page::DemoReport;
use par_answer::evaluate::{Evaluation, MethodAnswers, answer_by_all_methods};
use par_answer::table::RowAnswer;
use par_answer::{Answer, Request, words};
use par_circuit::Stop;
use par_data::{Batch, Columns, Schema, german_credit};
use par_fit::ModelBuilder;
use par_model::{Config, Model};
use par_plot::text::duration;

use crate::aligned::{Align, aligned, grouped, percent};
use crate::fitting::FitSpinner;
use crate::output::{self, Destination};
use crate::recourse;

#[derive(Args)]
pub(crate) struct Demo {
    /// Folder for the table, its schema, the model, the answers and the report
    #[arg(long, value_name = "FOLDER", default_value = "par-demo")]
    out: PathBuf,
    /// The same seed learns the same model and gives the same answers
    // `par inspect` prints the settings as TOML, whose integers are signed.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
}

const TABLE: &str = "german_credit.csv";
const SCHEMA: &str = "german_credit.toml";
const MODEL: &str = "german_credit.par";
const ANSWERS: &str = "recourse.csv";
const REPORT: &str = "report.html";

impl Demo {
    pub(crate) fn run(self) -> Result<()> {
        let start = Instant::now();
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("{}: cannot be made", self.out.display()))?;
        let destination = |name: &str| Destination::new(&self.out.join(name), &[]);
        let (table, schema) = (destination(TABLE)?, destination(SCHEMA)?);
        let (model_file, answers, page) = (destination(MODEL)?, destination(ANSWERS)?, destination(REPORT)?);

        let split = Split::new()?;
        let config = Config { seed: self.seed, ..Config::default() };
        let spinner = FitSpinner::new("German Credit")?;
        let fitted = ModelBuilder::new(split.schema.clone(), config).fit_rows(
            &split.columns,
            || Ok([Ok(split.train.clone())]),
            &mut |stage| spinner.show(stage),
            Stop::never(),
        );
        spinner.finish();
        let model = fitted?;
        let learned = start.elapsed();
        let answered = HeldOutAnswers::new(&model, &split)?;

        output::write_file(table, &table_csv()?)?;
        output::write_file(schema, model.schema().source().as_bytes())?;
        output::write_file(model_file, &model.to_bytes())?;
        recourse::write_csv(answers, &model, &answered.denied)?;
        output::write_file(page, answered.report(&model).html().as_bytes())?;
        let learned_from = split.train.rows();
        output::print(&answered.summary(&model, learned_from, &self.out, [learned, start.elapsed()])?)
    }
}

/// The embedded table, every fifth row of it held out.
struct Split {
    schema: Schema,
    columns: Columns,
    train: Batch,
    test: Batch,
}

impl Split {
    fn new() -> Result<Self> {
        let schema = german_credit::schema();
        let table = german_credit::table();
        let columns = schema.columns(table.origin(), table.columns())?;
        let all = table.into_batch()?;
        let id = columns.id.expect("the embedded table has an id");
        let is_test = |batch: &Batch, row| batch.cell(row, id).parse::<u64>().is_ok_and(|id| id % 5 == 0);
        let (mut train, mut test) = (all.clone(), all);
        train.retain(|batch, row| !is_test(batch, row));
        test.retain(is_test);
        Ok(Self { schema, columns, train, test })
    }
}

/// The answers for the held-out rows, in which nothing gets worse.
struct HeldOutAnswers<'a> {
    /// The denied rows with the answers of the exact search.
    denied: Vec<RowAnswer<'a>>,
    /// The denied rows with the answers of all methods.
    people: Vec<page::DeniedPerson>,
    evaluation: Evaluation,
    /// Rows that are classified correctly.
    right: usize,
}

impl<'a> HeldOutAnswers<'a> {
    fn new(model: &Model, split: &'a Split) -> Result<Self> {
        let Split { schema, columns, test, .. } = split;
        let cells = |row| columns.cells(test, row);
        let rows: Vec<Vec<&str>> = (0..test.rows()).map(cells).collect();
        let request = Request { no_harm: true, ..Request::default() };
        let answered = answer_by_all_methods(model, &rows, &request).map_err(|(_, error)| error)?;
        let evaluation = Evaluation::new(model, &answered);

        let label = schema.label().expect("the embedded schema has a label");
        let classes = schema.classes(columns, test)?;
        let is_right =
            |(answers, class): &(&Option<MethodAnswers>, usize)| answers.is_none() == label.wants(*class);
        let right = answered.iter().zip(classes).filter(is_right).count();

        let id = columns.id.expect("the embedded table has an id");
        let (mut denied, mut people) = (Vec::new(), Vec::new());
        for (row, (answers, cells)) in answered.into_iter().zip(rows).enumerate() {
            let Some(MethodAnswers { answers, .. }) = answers else { continue };
            let answers = answers.map(|answer| answer.expect("all methods were asked"));
            let id = test.cell(row, id).to_string();
            let [_, _, exact] = answers.clone();
            let warnings = words::warnings(model, &cells);
            denied.push(RowAnswer {
                id: id.clone(),
                cells,
                answer: Ok(exact),
                threshold: model.threshold(),
                time_us: None,
                warnings,
                count: 1,
            });
            people.push(page::DeniedPerson { id, answers });
        }
        Ok(Self { denied, people, evaluation, right })
    }

    fn report<'b>(&'b self, model: &'b Model) -> DemoReport<'b> {
        let Self { people, evaluation, right, .. } = self;
        DemoReport { name: "German Credit", model, right: Some(*right), evaluation, people }
    }

    fn summary(
        &self,
        model: &Model,
        learned_from: usize,
        out: &Path,
        [learned, all]: [Duration; 2],
    ) -> Result<String> {
        let Evaluation { rows, denied, possible, .. } = self.evaluation;
        let mut text = format!(
            "German Credit: {} rows to learn from, {} held out, {} features\n",
            grouped(learned_from),
            grouped(rows),
            model.schema().features().len()
        );
        let accuracy = percent(self.right as f64 / rows as f64);
        writeln!(text, "  the classifier is right about {} of {rows} held-out rows, {accuracy}", self.right)?;
        writeln!(text, "  it denies {denied} of them; {possible} of these can be accepted")?;

        writeln!(text, "\nanswers for the denied, by method")?;
        text += &methods(&self.evaluation);

        let example = self.denied.iter().find(|person| matches!(person.answer, Ok(Answer::Found(_))));
        if let Some(person) = example {
            writeln!(text, "\none of them, by the exact search\n\n{}", person.text(model))?;
        }

        let folder = out.display();
        let [learned, all] = [learned, all].map(|time| time.as_secs_f64());
        writeln!(text, "{all:.1} seconds, of which {learned:.1} to learn")?;
        writeln!(text, "written to {folder}: {TABLE}, {SCHEMA}, {MODEL}, {ANSWERS}, {REPORT}")?;
        let file = |name: &str| quoted(&out.join(name).display().to_string());
        let (model, table, everyone) = (file(MODEL), file(TABLE), file("everyone.csv"));
        writeln!(text, "\ngo on with")?;
        if let Some(person) = example {
            writeln!(
                text,
                "  par explain {model} {table} --id {} --count 3 --no-harm --lock Duration",
                person.id
            )?;
        }
        writeln!(text, "  par recourse {model} {table} --no-harm --out {everyone}")?;
        writeln!(text, "  par evaluate {model} {table}")?;
        writeln!(text, "  par inspect {model}")?;
        Ok(text)
    }
}

/// Quotes a path, so that a shell reads it as one word.
fn quoted(path: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-".contains(character);
    if path.chars().all(is_plain) { path.to_string() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// The methods compared, one per line.
fn methods(evaluation: &Evaluation) -> String {
    let titles = ["method", "valid", "NLL", "changes", "similarity", "median gap", "median time"];
    let mut lines = vec![titles.map(String::from)];
    let number = |number: Option<f64>| number.map_or("–".to_string(), |number| format!("{number:.2}"));
    for method in &evaluation.methods {
        lines.push([
            method.method.name().to_string(),
            format!("{} of {}", method.nll.over, method.nll.of),
            number(method.nll.mean),
            number(method.sparsity.mean),
            number(method.similarity.mean),
            number(method.median_gap),
            duration(method.time_us),
        ]);
    }
    let (left, right) = (Align::Left, Align::Right);
    aligned([left, right, right, right, right, right, right], &lines)
}

/// The embedded table as CSV.
fn table_csv() -> Result<Vec<u8>> {
    let table = german_credit::table();
    let columns = table.columns().to_vec();
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(&columns)?;
    for batch in table.batches(256) {
        let batch = batch?;
        for row in 0..batch.rows() {
            csv.write_record((0..columns.len()).map(|column| batch.cell(row, column)))?;
        }
    }
    Ok(csv.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_to_a_shell() {
        let paths = ["par-demo/größe.csv", "my files/a.csv", "it's"];
        assert_eq!(paths.map(quoted), ["par-demo/größe.csv", "'my files/a.csv'", r"'it'\''s'"]);
    }
}
