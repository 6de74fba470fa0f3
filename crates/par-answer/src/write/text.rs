//! An answer as text, for people.

use std::fmt::{self, Write};

use par_model::Model;

use super::PointJson;
use crate::answer::{Answer, Change, Found, NotFound, Reason, Way};
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
        let score = self.probability().unwrap_or(f64::NAN);
        writeln!(text, "{}: {decision}, {}", self.id, words::decision(model, score, self.threshold))?;
        let features = model.schema().features();
        let width = features.iter().map(|feature| feature.name.chars().count()).max().unwrap_or(0);
        for (feature, cell) in features.iter().zip(&self.cells) {
            let line = format!("{:width$}  {}", feature.name, words::cell(feature, cell));
            writeln!(text, "{}", line.trim_end())?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(text, "warning: {warning}"))?;
        for &policy in self.broken_policies() {
            writeln!(text, "not met: {}", words::policy(model.schema(), policy))?;
        }
        self.unknown().iter().try_for_each(|one| writeln!(text, "{}", words::if_known(one)))?;
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
            write_way(model, found.verified, rank, way, text)?;
        }
        if found.ways.len() < self.count {
            let (found, asked) = (found.ways.len(), self.count);
            writeln!(text, "\n{asked} ways were asked for, {found} that differ were found")?;
        }
        if let Some(price) = words::price_of_lasting(found) {
            writeln!(text, "\n{price}")?;
        }
        let frontier = self.frontier(model, found);
        if frontier.len() > 1 {
            writeln!(text, "\nby number of changes")?;
            write_alternatives(model, &frontier, text)?;
        }
        match words::fewest(found) {
            Some(fewest) => writeln!(text, "\n{fewest}"),
            None => Ok(()),
        }
    }
}

/// The changes of a way, the one that alone brings most first, and what it takes.
fn write_way(model: &Model, is_verified: bool, rank: usize, way: &Way, text: &mut String) -> fmt::Result {
    let mut changes: Vec<&Change> = way.changes.iter().collect();
    let alone =
        |change: &Change| change.alone.map_or(f64::NEG_INFINITY, |score| model.scale().sureness(score));
    changes.sort_by(|a, b| alone(b).total_cmp(&alone(a)));
    for change in changes {
        let alone = change.alone.filter(|_| way.changes.len() > 1);
        let alone = alone.map_or(String::new(), |alone| format!(" [alone: {}]", words::score(model, alone)));
        let harm = if change.is_harm { " [a change for the worse]" } else { "" };
        writeln!(text, "  {}{alone}{harm}", words::change(change))?;
    }
    for consequence in &way.consequences {
        writeln!(text, "  then {}", consequence.sentence())?;
    }
    let verified = if is_verified { "" } else { " by a surrogate of the classifier (unverified)" };
    let (score, percentile) = (words::with_score(model, way.probability), words::percentile(way.percentile));
    writeln!(text, "  accepted{verified} {score}, {percentile}")?;
    writeln!(text, "  {}", words::cost(way.effort, way.months))?;
    if !way.has_margin {
        writeln!(text, "  {}", words::close(way))?;
    }
    if let Some(lasting) = words::lasting(way) {
        writeln!(text, "  {lasting}")?;
    }
    match words::proof(rank, way).filter(|_| is_verified) {
        Some(proof) => writeln!(text, "  {proof}"),
        None => Ok(()),
    }
}

/// The best rows by number of changes, with a line for each change.
fn write_alternatives(model: &Model, frontier: &[PointJson], text: &mut String) -> fmt::Result {
    for point in frontier {
        let PointJson { probability, percentile, .. } = point;
        let changes = words::changes(point.changes);
        let cost = words::cost(point.effort, point.months);
        let score = words::score(model, *probability);
        writeln!(text, "  {changes}: {cost}, {score}, {}", words::percentile(*percentile))?;
        for sentence in &point.sentences {
            writeln!(text, "    {sentence}")?;
        }
    }
    Ok(())
}

fn write_no_way(model: &Model, not_found: &NotFound, text: &mut String) -> fmt::Result {
    writeln!(text, "\nno way was found: {}", words::reason(not_found))?;
    if not_found.reason == Reason::OutOfReach && model.classifier().reads_values() {
        writeln!(text, "for each bin the nearest, the most common and the farthest value were tried")?;
    }
    match words::remedy(model.schema(), not_found) {
        Some(remedy) => writeln!(text, "what would help: {remedy}")?,
        None => {
            if let Some(words) = words::nothing_own(not_found) {
                writeln!(text, "{words}")?;
            }
        }
    }
    if let Some(remedy) = words::schema_remedy(model.schema(), not_found) {
        writeln!(text, "for the auditor, what would help in the schema: {remedy}")?;
    }
    for (rank, way) in (1..).zip(not_found.unusual_for_auditor().unwrap_or_default()) {
        writeln!(
            text,
            "\nfor the auditor, accepted but too unusual to be offered, with {}",
            words::changes(way.changes.len())
        )?;
        write_way(model, model.classifier().verifies(), rank, way, text)?;
    }
    Ok(())
}
