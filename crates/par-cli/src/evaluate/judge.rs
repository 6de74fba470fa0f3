//! `par evaluate --judge`: what held-out accepted people say of the answers.

use std::time::Instant;

use anyhow::{Result, anyhow};
use par_answer::evaluate::MethodAnswers;
use par_circuit::threads;
use par_judge::{Judge, JudgeError, Judgement, MethodJudgements};
use par_model::Model;
use serde::Serialize;

use super::number;
use super::table::PeopleTable;
use crate::aligned::{Align, aligned, grouped};

/// The judgements of all methods, and who judged.
#[derive(Serialize)]
pub(super) struct JudgeReport {
    /// The table of the held-out people.
    table: String,
    /// How many of its rows are accepted; a part of them judges if they are many.
    accepted: usize,
    /// Whether their labels were asked too.
    labelled: bool,
    #[serde(flatten)]
    judgements: MethodJudgements,
    seconds: f64,
}

impl JudgeReport {
    pub(super) fn new(
        model: &Model,
        held_out: &PeopleTable,
        answers: &[Option<MethodAnswers>],
    ) -> Result<Self> {
        let start = Instant::now();
        let HeldOut { accepted, labelled } = HeldOut::new(model, held_out)?;
        let judge = Judge::new(model, &accepted, model.config().seed).map_err(|error| {
            let hint = match error {
                JudgeError::TooFewRows { .. } => {
                    "\nhint: `--judge HELD_OUT` judges by the rows of another table"
                }
                _ => "",
            };
            anyhow!("{}: {error}{hint}", held_out.origin)
        })?;
        Ok(Self {
            table: held_out.origin.clone(),
            accepted: accepted.len(),
            labelled,
            judgements: judge.methods(answers)?,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Who judged, in a line.
    pub(super) fn fact(&self) -> String {
        let Self { table, accepted, judgements, .. } = self;
        let rows = match judgements.rows == *accepted {
            true => grouped(judgements.rows),
            false => format!("{} of {}", grouped(judgements.rows), grouped(*accepted)),
        };
        let labels = if self.labelled { "" } else { " by the classifier alone, as there are no labels" };
        format!("{rows} rows of {table} that are accepted{labels}, {:.2} seconds", self.seconds)
    }

    /// A column for each method, and one for the held-out people themselves.
    pub(super) fn text(&self) -> String {
        let MethodJudgements { learner, methods, held_out, .. } = &self.judgements;
        let [generate, refine, exact] = &methods[..] else { unreachable!("one judgement per method") };
        let judged = [generate, refine, exact].map(|of| (of.method.name(), &of.judgement));
        let columns = [judged[0], judged[1], judged[2], ("held out", held_out)];
        let line = |title: &str, value: &dyn Fn(&Judgement) -> String| {
            let [a, b, c, d] = columns.map(|(_, judgement)| value(judgement));
            [title.to_string(), a, b, c, d]
        };
        let [a, b, c, d] = columns.map(|(name, _)| name.to_string());
        let lines = [
            ["judge".to_string(), a, b, c, d],
            line("distance", &|of| number(&of.distance)),
            line("outliers", &|of| number(&of.outliers)),
            line("auc", &|of| of.auc.map_or("-".to_string(), |auc| format!("{auc:.3}"))),
            line("matched", &|of| number(&of.matched)),
            line(&format!("nll, {learner}"), &|of| number(&of.nll)),
        ];
        let right = Align::Right;
        aligned([Align::Left, right, right, right, right], &lines)
    }
}

/// The accepted rows of a table.
struct HeldOut<'t> {
    accepted: Vec<Vec<&'t str>>,
    labelled: bool,
}

impl<'t> HeldOut<'t> {
    /// The rows that the classifier accepts and whose label, where the table has one, is favourable.
    fn new(model: &Model, table: &'t PeopleTable) -> Result<Self> {
        let label = model.schema().label().filter(|_| table.columns.label.is_some());
        let favourable = model.favourable();
        let mut labels = Vec::new();
        for batch in table.batches.iter().filter(|_| label.is_some()) {
            labels.extend(model.schema().classes(&table.columns, batch)?);
        }
        let mut rows = table.cells();
        let is_accepted = threads::map(rows.iter().enumerate(), |(row, cells)| {
            model.score(cells).map_err(|error| anyhow!("{}, {error}", table.place(row)))?;
            let has_label =
                label.is_none_or(|label| favourable.contains(&label.classes[labels[row]].as_str()));
            Ok(has_label && model.is_accepted(cells, model.threshold()))
        });
        let mut is_accepted = is_accepted.into_iter().collect::<Result<Vec<bool>>>()?.into_iter();
        rows.retain(|_| is_accepted.next().unwrap_or(false));
        Ok(Self { accepted: rows, labelled: label.is_some() })
    }
}
