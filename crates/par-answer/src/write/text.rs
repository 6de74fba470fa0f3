//! An answer as text, for people.

use std::fmt::{self, Write};

use par_model::Model;
use par_model::classifier::DeployedClassifier;

use super::PointJson;
use crate::answer::{Answer, Found, NotFound, Reason, Way};
use crate::table::RowAnswer;
use crate::words;

impl RowAnswer<'_> {
    /// The row and its answer as text.
    pub fn text(&self, model: &Model) -> String {
        let mut text = String::new();
        self.write(model, &mut text).expect("writing to memory does not fail");
        text
    }

    fn write(&self, model: &Model, text: &mut String) -> fmt::Result {
        let decision = match &self.answer {
            Ok(Answer::Accepted { .. }) => "accepted",
            Ok(Answer::Found(_) | Answer::NotFound(_)) => "denied",
            Err(error) => return writeln!(text, "{}: no answer, {error}", self.id),
        };
        let probability = self.probability().unwrap_or(f64::NAN);
        let threshold = self.threshold;
        writeln!(text, "{}: {decision}, probability {probability:.3}, threshold {threshold:.3}", self.id)?;
        let features = model.schema().features();
        let width = features.iter().map(|feature| feature.name.chars().count()).max().unwrap_or(0);
        for (feature, cell) in features.iter().zip(&self.cells) {
            let line = format!("{:width$}  {}", feature.name, words::cell(feature, cell));
            writeln!(text, "{}", line.trim_end())?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(text, "warning: {warning}"))?;
        match &self.answer {
            Ok(Answer::Found(found)) => self.write_ways(model, found, text),
            Ok(Answer::NotFound(not_found)) => write_no_way(model, not_found, text),
            Ok(Answer::Accepted { verified: false, .. }) => writeln!(
                text,
                "\nnothing has to change, according to a surrogate of the classifier (unverified)"
            ),
            Ok(Answer::Accepted { .. }) | Err(_) => writeln!(text, "\nnothing has to change"),
        }
    }

    fn write_ways(&self, model: &Model, found: &Found, text: &mut String) -> fmt::Result {
        for (rank, way) in (1..).zip(&found.ways) {
            let title = if found.ways.len() > 1 { format!("way {rank}") } else { "a way".to_string() };
            write!(text, "\n{title}, with {}", words::changes(way.changes.len()))?;
            match words::best_at(found, way) {
                Some(strengths) => writeln!(text, ": {strengths}")?,
                None => writeln!(text)?,
            }
            for change in &way.changes {
                writeln!(text, "  {}", change.sentence())?;
            }
            let verified = if found.verified { "" } else { " by a surrogate of the classifier (unverified)" };
            writeln!(
                text,
                "  accepted{verified} with probability {:.3}, {}",
                way.probability,
                words::percentile(way.percentile)
            )?;
            if found.verified
                && let Some(proof) = proof(rank, way)
            {
                writeln!(text, "  {proof}")?;
            }
        }
        let frontier = self.frontier(model, found);
        if frontier.len() > 1 {
            writeln!(text, "\nby number of changes")?;
            write_alternatives(&frontier, text)?;
        }
        match words::fewest(found) {
            Some(fewest) => writeln!(text, "\n{fewest}"),
            None => Ok(()),
        }
    }
}

/// How much likelier a row could be, if the way has a gap.
fn proof(rank: usize, way: &Way) -> Option<String> {
    let gap = way.gap?;
    let others = match rank {
        1 => format!("no row with {}", words::changes(way.changes.len())),
        _ => format!("no other row with {}, except the ways before,", words::changes(way.changes.len())),
    };
    Some(match way.is_optimal() {
        true => format!("proved: {others} is likelier{}", words::proved_for(way.representative)),
        false => format!("{others} is more than {:.2} times as likely", gap.exp()),
    })
}

/// The likeliest rows by number of changes, with a line for each change.
fn write_alternatives(frontier: &[PointJson], text: &mut String) -> fmt::Result {
    for point in frontier {
        let PointJson { probability, percentile, .. } = point;
        let changes = words::changes(point.changes);
        writeln!(text, "  {changes}: probability {probability:.3}, {}", words::percentile(*percentile))?;
        for sentence in &point.sentences {
            writeln!(text, "    {sentence}")?;
        }
    }
    Ok(())
}

fn write_no_way(model: &Model, not_found: &NotFound, text: &mut String) -> fmt::Result {
    writeln!(text, "\nno way was found: {}", words::reason(not_found.reason))?;
    if not_found.reason == Reason::OutOfReach && matches!(model.classifier(), DeployedClassifier::External(_))
    {
        writeln!(text, "for each bin the nearest, the median and the farthest value were tried")?;
    }
    match words::remedy(model.schema(), not_found) {
        Some(remedy) => writeln!(text, "what would help: {remedy}")?,
        None => {
            if let Some(words) = words::nothing_own(not_found) {
                writeln!(text, "{words}")?;
            }
        }
    }
    match words::schema_remedy(model.schema(), not_found) {
        Some(remedy) => writeln!(text, "for the auditor, what would help in the schema: {remedy}"),
        None => Ok(()),
    }
}
