//! `par audit`: where a classifier rewards harm.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use par_answer::audit::{Audit, RewardedHarm, audit};
use par_data::Batch;

use crate::aligned::{Align, aligned, grouped};
use crate::classifier_file::ClassifierOptions;
use crate::rows::{Condition, SelectedRows};
use crate::{model_file, output};

const EXAMPLES: &str = "\
Examples:
  par audit people.par people.csv
  par audit people.par people.csv --where fold=0 --json

The schema says with `improves` which direction of a feature the world calls better. A classifier that scores
somebody higher when they get worse rewards harm. `rewarded` counts the people whose score would rise by more
than 0.01, `accepted` those of the denied who would be accepted by that alone, `ways` the answers that use it.
`par recourse --no-harm` avoids such answers.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditCommand {
    /// Made by `par fit`
    model: PathBuf,
    /// CSV, plain or gzipped, or Parquet if the program is built for it; the columns in any order
    table: PathBuf,
    #[command(flatten)]
    classifier: ClassifierOptions,
    /// Keep rows with this value in a column (COLUMN=VALUE), or another (COLUMN!=VALUE); all must hold
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl AuditCommand {
    pub(crate) fn run(self) -> Result<()> {
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
        let audit = audit(&model, &cells).map_err(|(position, error)| {
            let (batch, row) = places[position];
            anyhow!("{}, {error}", batch.place(row))
        })?;
        if self.json { output::print_json(&audit) } else { output::print(&text(&audit)) }
    }
}

fn text(audit: &Audit) -> String {
    let mut text = format!("{} people, {} denied\n", grouped(audit.people), grouped(audit.denied));
    if audit.features.is_empty() {
        text += "\nthe schema says of no feature which direction is better: write `improves` to find rewarded harm\n";
    } else {
        text += "\nwhat the classifier pays for getting worse\n";
        let mut lines = vec![
            ["feature", "better", "people", "rewarded", "mean gain", "accepted", "ways", "for instance"]
                .map(String::from),
        ];
        lines.extend(audit.features.iter().map(line));
        let (left, right) = (Align::Left, Align::Right);
        text += &aligned([left, left, right, right, right, right, right, left], &lines);
    }
    text += &format!(
        "\n{} of {} denied people get a way; {} of these ways make something worse; {} get a way that makes nothing worse\n",
        grouped(audit.with_way),
        grouped(audit.denied),
        grouped(audit.with_harm),
        grouped(audit.with_way_without_harm)
    );
    if !audit.not_known.is_empty() {
        text += &format!("not known which direction is better: {}\n", audit.not_known.join(", "));
    }
    text
}

fn line(harm: &RewardedHarm) -> [String; 8] {
    let example = harm.example.as_deref().unwrap_or_default();
    [
        harm.feature.clone(),
        harm.better.to_string(),
        grouped(harm.people),
        grouped(harm.rewarded),
        harm.mean_gain.map_or(String::new(), |gain| format!("{gain:.3}")),
        grouped(harm.accepted),
        grouped(harm.ways),
        example.split_once(": ").map_or(example, |(_, change)| change).to_string(),
    ]
}
