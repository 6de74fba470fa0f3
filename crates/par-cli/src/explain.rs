//! `par explain`: one person's answer, to read.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use par_data::Batch;
use par_recourse::classifier::DeployedClassifier;
use par_recourse::{Answer, Bundle, Found, NotFound, Reason, Way};

use crate::aligned::{Side, aligned, grouped};
use crate::classifier_file::ClassifierOptions;
use crate::recourse::person::{DescribedPoint, Desk, Person};
use crate::recourse::request::RequestOptions;
use crate::rows::Rows;
use crate::{bundle_file, output, words};

const EXAMPLES: &str = "\
Examples:
  par explain people.par denied.csv --id 17
  par explain people.par denied.csv --id 17 --count 3 --lock Age
  par explain people.par denied.csv --id 17 --method exact --json
  par explain people.par denied.csv --id 17 --limit 'Duration=6..24' --limit 'Housing=A151|A152'";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// Made by `par fit`
    model: PathBuf,
    /// CSV, plain or gzipped, or Parquet if the program is built for it; the columns in any order
    table: PathBuf,
    /// The person: what stands in the schema's id column, or the number of the row from 1 if there is none
    #[arg(long, value_name = "ROW")]
    id: String,
    #[command(flatten)]
    request: RequestOptions,
    #[command(flatten)]
    classifier: ClassifierOptions,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(self) -> Result<()> {
        let bundle = self.classifier.answering(bundle_file::read(&self.model)?, &self.model)?;
        let request = self.request.request(bundle.discretizer())?;
        let mut rows = Rows::open(&self.table, true, &[])?;
        let columns = bundle_file::columns(&bundle, &rows)?;
        let id_column = columns.id.map(|column| rows.columns()[column].clone());
        let desk = Desk::new(&bundle, rows.columns(), columns, request, false);
        let (batch, row, number) = self.find(&desk, &mut rows, id_column.as_deref())?;
        let person = desk.answer(&mut bundle.solver(), &batch, row, number);
        if let Err(error) = &person.answer {
            return Err(anyhow!("{}, {error}", batch.place(row)));
        }
        if self.json {
            return output::print_json(&person.described(&bundle));
        }
        output::print(&text(&bundle, &person)?)
    }

    /// The one row that is called so: another person's answer would be worse than none.
    fn find(&self, desk: &Desk<'_>, rows: &mut Rows, id_column: Option<&str>) -> Result<(Batch, usize, u64)> {
        let wanted = self.id.trim();
        let mut found: Option<(Batch, usize, u64)> = None;
        let mut before = 0;
        for batch in rows.by_ref() {
            let batch = batch?;
            for row in 0..batch.rows() {
                let number = before + row as u64 + 1;
                if desk.id(&batch, row, number).trim() != wanted {
                    continue;
                }
                if let Some((first, at, _)) = &found {
                    bail!(
                        "{}: `{wanted}` names a second row, the first is {}\n\
                         hint: leave all but one of them out of the table",
                        batch.place(row),
                        first.place(*at)
                    );
                }
                found = Some((batch.clone(), row, number));
            }
            before += batch.rows() as u64;
        }
        if let Some(found) = found {
            return Ok(found);
        }
        if rows.read() == 0 {
            return Err(rows.none_passed());
        }
        let (origin, read) = (rows.origin(), grouped(rows.read()));
        match id_column {
            Some(column) => bail!("{origin}: none of {read} rows has `{wanted}` in column `{column}`"),
            None => bail!(
                "{origin}: no row `{wanted}`, expected a number from 1 to {read}\n\
                 hint: the table has no id column, so that rows go by their number"
            ),
        }
    }
}

/// Everything about one person and their answer.
pub(crate) fn text(bundle: &Bundle, person: &Person<'_>) -> Result<String> {
    let mut text = String::new();
    let decision = match &person.answer {
        Ok(Answer::Accepted { .. }) => "accepted",
        _ => "denied",
    };
    let probability = person.probability().unwrap_or(f64::NAN);
    let threshold = bundle.threshold();
    writeln!(text, "{}: {decision}, probability {probability:.3}, threshold {threshold:.3}", person.id)?;
    let features = bundle.schema().features();
    let cells: Vec<[String; 2]> = features
        .iter()
        .zip(&person.cells)
        .map(|(feature, cell)| [feature.name.clone(), words::cell(feature, cell)])
        .collect();
    text += &aligned([Side::Left; 2], &cells);
    match &person.answer {
        Ok(Answer::Found(found)) => text += &ways(bundle, person, found)?,
        Ok(Answer::NotFound(not_found)) => text += &no_way(bundle, not_found)?,
        Ok(Answer::Accepted { verified: false, .. }) => {
            text += "\nnothing has to change, if the network that imitates the classifier is right (unverified)\n";
        }
        Ok(Answer::Accepted { .. }) | Err(_) => text += "\nnothing has to change\n",
    }
    Ok(text)
}

fn ways(bundle: &Bundle, person: &Person<'_>, found: &Found) -> Result<String> {
    let mut text = String::new();
    for (rank, way) in (1..).zip(&found.ways) {
        let title = if found.ways.len() > 1 { format!("way {rank}") } else { "a way".to_string() };
        writeln!(text, "\n{title}, with {}", words::changes(way.changes.len()))?;
        for change in &way.changes {
            writeln!(text, "  {}", change.sentence())?;
        }
        let verified =
            if found.verified { "" } else { " by a network that imitates the classifier (unverified)" };
        writeln!(
            text,
            "  accepted{verified} with probability {:.3}, {}",
            way.probability,
            words::percentile(way.percentile)
        )?;
        if let Some(proof) = proof(rank, way) {
            writeln!(text, "  {proof}")?;
        }
    }
    let frontier = person.frontier(bundle, found);
    if frontier.len() > 1 {
        text += "\nby number of changes\n";
        text += &alternatives(&frontier)?;
    }
    Ok(text)
}

/// How far the way is from the likeliest, if that is known.
fn proof(rank: usize, way: &Way) -> Option<String> {
    let gap = way.gap?;
    let others = match rank {
        1 => format!("no row with {}", words::changes(way.changes.len())),
        _ => format!("no other row with {}, but for the ways before,", words::changes(way.changes.len())),
    };
    Some(match way.is_optimal() {
        true => format!("proved: {others} is likelier{}", words::proved_for(way.representative)),
        false => format!("{others} is more than {:.2} times as likely", gap.exp()),
    })
}

/// The likeliest rows by their number of changes; a change a line.
fn alternatives(frontier: &[DescribedPoint]) -> Result<String> {
    let mut text = String::new();
    for point in frontier {
        let DescribedPoint { probability, percentile, .. } = point;
        let changes = words::changes(point.changes);
        writeln!(text, "  {changes}: probability {probability:.3}, {}", words::percentile(*percentile))?;
        for sentence in &point.sentences {
            writeln!(text, "    {sentence}")?;
        }
    }
    Ok(text)
}

fn no_way(bundle: &Bundle, not_found: &NotFound) -> Result<String> {
    let mut text = format!("\nno way was found: {}\n", words::reason(not_found.reason));
    if not_found.reason == Reason::OutOfReach && matches!(bundle.classifier(), DeployedClassifier::Given(_)) {
        text += "of bins, the nearest, the median and the farthest values were tried\n";
    }
    if let Some(remedy) = words::remedy(bundle.schema(), not_found) {
        writeln!(text, "what would have to give: {remedy}")?;
    }
    Ok(text)
}
