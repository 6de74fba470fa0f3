//! `par demo`: the whole way on an embedded table.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use par_circuit::learn::LearnConfig;
use par_circuit::{Circuit, Dataset, Node, NodeId};
use par_data::{
    Batch, Columns, Coverage, Discretizer, DiscretizerConfig, Label, Schema, UNKNOWN, german_credit,
};

use crate::aligned::{Side, aligned, grouped, percent};
use crate::circuit_file::CircuitFile;
use crate::learning;
use crate::output::{self, Destination};
use crate::variables::Variables;

#[derive(Args)]
pub(crate) struct Demo {
    /// Folder for the table, its schema and the two circuits
    #[arg(long, value_name = "FOLDER", default_value = "par-demo")]
    out: PathBuf,
    /// The same seed learns the same circuits
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl Demo {
    pub(crate) fn run(self) -> Result<()> {
        let schema = german_credit::schema();
        let label = schema.label().expect("the embedded schema has a label");
        let table = Split::new(&schema)?;
        let variables = Variables {
            discretizer: table.discretizer.clone(),
            header: true,
            width: german_credit::table().columns().len(),
            described: true,
        };

        let mut circuits = Vec::new();
        for (class, name) in label.classes.iter().enumerate() {
            let config = LearnConfig { seed: self.seed, ..LearnConfig::default() };
            let rows = table.train.of_class(class);
            circuits.push(learning::learn(name, variables.clone(), &[], &rows, None, config)?);
        }

        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("{}: cannot be made", self.out.display()))?;
        let destination = |name: &str| Destination::new(&self.out.join(name), &[]);
        output::write_file(destination("german_credit.csv")?, &table_csv()?)?;
        output::write_file(destination("german_credit.toml")?, schema.source().as_bytes())?;
        for (class, circuit) in circuits.iter().enumerate() {
            circuit.write(destination(file_name(label, class))?)?;
        }
        output::print(&report(label, &table, &circuits, &self.out, self.seed)?)
    }
}

fn file_name(label: &Label, class: usize) -> &'static str {
    if class == label.favourable { "accepted.circuit" } else { "denied.circuit" }
}

/// The embedded table, every fifth row of it held out.
struct Split {
    discretizer: Discretizer,
    train: Coded,
    test: Coded,
    coverage: Coverage,
}

/// Rows as codes, with their classes.
struct Coded {
    rows: Dataset,
    classes: Vec<usize>,
}

impl Split {
    fn new(schema: &Schema) -> Result<Self> {
        let table = german_credit::table();
        let columns = schema.columns(table.origin(), table.columns())?;
        let all = table.batches(usize::MAX).next().expect("the embedded table has rows")?;
        let id = columns.id.expect("the embedded table has an id");
        let is_test = |batch: &Batch, row| batch.cell(row, id).parse::<u64>().is_ok_and(|id| id % 5 == 0);
        let (mut train, mut test) = (all.clone(), all);
        train.retain(|batch, row| !is_test(batch, row));
        test.retain(is_test);

        let config = DiscretizerConfig::default();
        let discretizer = Discretizer::fit(schema, &columns, [Ok(train.clone())], &config)?;
        let coverage = discretizer.encode(&columns, &test)?.coverage().clone();
        let train = Coded::new(&discretizer, &columns, &train)?;
        let test = Coded::new(&discretizer, &columns, &test)?;
        Ok(Self { discretizer, train, test, coverage })
    }
}

impl Coded {
    fn new(discretizer: &Discretizer, columns: &Columns, batch: &Batch) -> Result<Self> {
        let codes = discretizer.encode(columns, batch)?.into_codes();
        let rows = Dataset::new(discretizer.cardinalities(), codes)?;
        Ok(Self { rows, classes: discretizer.schema().classes(columns, batch)? })
    }

    fn of_class(&self, class: usize) -> Dataset {
        let rows: Vec<usize> = (0..self.classes.len()).filter(|&row| self.classes[row] == class).collect();
        self.rows.select(&rows)
    }

    fn share(&self, class: usize) -> f64 {
        self.of_class(class).len() as f64 / self.rows.len() as f64
    }
}

fn report(label: &Label, table: &Split, circuits: &[CircuitFile], out: &Path, seed: u64) -> Result<String> {
    let Split { train, test, coverage, .. } = table;
    let mut text = format!(
        "German Credit: {} rows to learn from, {} held out, {} features\n",
        grouped(train.rows.len()),
        grouped(test.rows.len()),
        train.rows.width()
    );
    if let (Some(coverage), Some(fidelity)) = (coverage.coverage(), coverage.fidelity()) {
        writeln!(
            text,
            "  bins cover {} of held-out cells, {} of rows in whole",
            percent(coverage),
            percent(fidelity)
        )?;
    }

    writeln!(text, "\nmean log-likelihood of held-out rows of each class, in nats")?;
    let titles = ["class", "rows", "circuit", "independent columns", "edges"];
    let mut lines = vec![titles.map(String::from)];
    for (class, name) in label.classes.iter().enumerate() {
        let rows = test.of_class(class);
        let circuit = &circuits[class].circuit;
        let independent = independent_columns(&train.of_class(class))?;
        lines.push([
            name.clone(),
            grouped(rows.len()),
            format!("{:.3}", circuit.mean_log_prob(&rows)),
            format!("{:.3}", independent.mean_log_prob(&rows)),
            grouped(circuit.edges()),
        ]);
    }
    let (left, right) = (Side::Left, Side::Right);
    text += &aligned([left, right, right, right, right], &lines);

    let likelier = likelier_classes(table, circuits);
    let right_ones = likelier.iter().zip(&test.classes).filter(|(likelier, class)| likelier == class).count();
    let usual = (0..label.classes.len()).map(|class| test.of_class(class).len()).max().unwrap_or(0);
    writeln!(
        text,
        "\nthe likelier class is the true one in {right_ones} of {} held-out rows, the usual class in {usual}",
        test.rows.len()
    )?;

    text += "\ntwo accepted applicants, as the circuit imagines them\n";
    text += &imagined(&table.discretizer, &circuits[label.favourable].circuit, seed);

    let out = out.display();
    writeln!(
        text,
        "\nwritten to {out}: german_credit.csv, german_credit.toml, accepted.circuit, denied.circuit"
    )?;
    writeln!(text, "\ngo on with")?;
    writeln!(text, "  par schema check {out}/german_credit.csv {out}/german_credit.toml")?;
    writeln!(text, "  par circuit show {out}/accepted.circuit")?;
    writeln!(text, "  par circuit sample {out}/accepted.circuit -n 10")?;
    Ok(text)
}

/// The class under which each held-out row is likeliest, common classes being likelier beforehand.
fn likelier_classes(table: &Split, circuits: &[CircuitFile]) -> Vec<usize> {
    let score = |(class, file): (usize, &CircuitFile)| {
        let prior = table.train.share(class).ln();
        let log_probs = file.circuit.log_probs(&table.test.rows);
        log_probs.into_iter().map(|log_prob| log_prob + prior).collect::<Vec<f64>>()
    };
    let scores: Vec<Vec<f64>> = circuits.iter().enumerate().map(score).collect();
    let likeliest = |row: usize| (0..scores.len()).max_by(|&a, &b| scores[a][row].total_cmp(&scores[b][row]));
    (0..table.test.rows.len()).filter_map(likeliest).collect()
}

/// What is lost when every column is looked at alone: one leaf a column, smoothed by one row a code.
fn independent_columns(rows: &Dataset) -> Result<Circuit> {
    let leaf = |(variable, &cardinality): (usize, &usize)| {
        let mut counts = vec![1.0; cardinality];
        rows.rows()
            .filter(|row| row[variable] != UNKNOWN)
            .for_each(|row| counts[usize::from(row[variable])] += 1.0);
        let total: f64 = counts.iter().sum();
        Node::Leaf { variable, probabilities: counts.into_iter().map(|count| count / total).collect() }
    };
    let mut nodes: Vec<Node> = rows.cardinalities().iter().enumerate().map(leaf).collect();
    nodes.push(Node::Product { children: (0..nodes.len() as u32).map(NodeId).collect() });
    Ok(Circuit::new(rows.cardinalities().to_vec(), nodes)?)
}

/// Two rows drawn from the circuit, in words.
fn imagined(discretizer: &Discretizer, circuit: &Circuit, seed: u64) -> String {
    let drawn = circuit.sampler().rows(0..2, seed);
    let texts = crate::domain_text::texts(discretizer);
    let lines: Vec<[String; 3]> = discretizer
        .schema()
        .features()
        .iter()
        .enumerate()
        .map(|(position, feature)| {
            let words = |row: usize| {
                let text = &texts[position][usize::from(drawn.row(row)[position])];
                match (feature.labels.get(text), &feature.unit) {
                    (Some(label), _) => label.clone(),
                    (None, Some(unit)) => format!("{text} {unit}"),
                    (None, None) => text.clone(),
                }
            };
            [feature.name.clone(), words(0), words(1)]
        })
        .collect();
    aligned([Side::Left; 3], &lines)
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
