//! One person under both models.

use par_circuit::{Code, Evaluator};
use par_data::{Batch, OwnRow};
use par_model::{Model, RowError, ScoreScale};
use serde::Serialize;

use super::Comparer;
use super::tally::{Cost, Tally};
use crate::answer::{Answer, Way};
use crate::solver::Solver;
use crate::table::RowAnswer;
use crate::words;

/// How a model answers a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Accepted as they are.
    Accepted,
    /// Denied, and has a way.
    WithWay,
    /// Denied, and no way was found.
    WithoutWay,
    /// The model cannot read the row.
    Unreadable,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 4] = [Self::Accepted, Self::WithWay, Self::WithoutWay, Self::Unreadable];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::WithWay => "with a way",
            Self::WithoutWay => "without a way",
            Self::Unreadable => "cannot be read",
        }
    }

    /// Whether the person is denied.
    pub fn is_denied(self) -> bool {
        matches!(self, Self::WithWay | Self::WithoutWay)
    }

    fn of(answer: &RowAnswer<'_>) -> Self {
        match &answer.answer {
            Ok(Answer::Accepted { .. }) => Self::Accepted,
            Ok(Answer::Found(_)) => Self::WithWay,
            Ok(Answer::NotFound(_)) => Self::WithoutWay,
            Err(_) => Self::Unreadable,
        }
    }
}

/// What becomes of an old way under the new model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is accepted.
    Kept,
    /// Its score does not reach the threshold.
    TooLow,
    /// Its score does, but a policy of the schema is broken.
    BreaksPolicy,
    /// The new model cannot read it.
    Unreadable,
}

/// The answer that a person got.
#[derive(Clone, Debug, PartialEq)]
pub struct PastAnswer {
    /// How they were answered.
    pub outcome: Outcome,
    /// The ways that they were told, the best first.
    pub ways: Vec<PastWay>,
}

/// A way that a person was told.
#[derive(Clone, Debug, PartialEq)]
pub struct PastWay {
    /// The cells of the row, in the order of the old schema.
    pub cells: Vec<String>,
    /// Its score by the old model, if it is known.
    pub score: Option<f64>,
    /// How many features change, if it is known.
    pub changes: Option<u32>,
    /// How many months it takes, if it is known.
    pub months: Option<u32>,
}

impl From<&Way> for PastWay {
    fn from(way: &Way) -> Self {
        Self {
            cells: way.cells.clone(),
            score: Some(way.probability),
            changes: u32::try_from(way.changes.len()).ok(),
            months: Some(way.months),
        }
    }
}

/// A person whose way the new model does not accept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BrokenWay {
    /// The person's id, or their number in the table.
    pub id: String,
    /// Their number in the table, from 1.
    pub row: u64,
    /// Why it is not accepted.
    pub verdict: Verdict,
    /// What the new model says, where it is no score: the policy, or the cell that it cannot read.
    pub because: Option<String>,
    /// The changes of the old way, in words.
    pub changes: Vec<String>,
    /// Its score by the old model.
    pub old_score: Option<f64>,
    /// Its score by the new model.
    pub new_score: Option<f64>,
    /// How far the score is from the new threshold, in the unit of scores.
    pub short_by: Option<f64>,
    /// The same in log-odds.
    pub short_by_log_odds: Option<f64>,
    /// What the new model says to the person.
    pub now: Outcome,
    /// The changes of the new way, in words.
    pub new_changes: Vec<String>,
    /// The effort of the new way.
    pub new_effort: Option<f64>,
    /// The months of the new way.
    pub new_months: Option<u32>,
}

/// What the comparison of a person needs, for person after person.
pub(super) struct Scratch<'m> {
    old: Solver<'m>,
    new: Solver<'m>,
    evaluator: Evaluator<'m>,
}

impl<'m> Scratch<'m> {
    pub(super) fn new(old: &'m Model, new: &'m Model) -> Self {
        Self { old: Solver::new(old), new: Solver::new(new), evaluator: new.accepted().evaluator() }
    }
}

/// A row under the new model.
struct JudgedRow {
    score: f64,
    codes: Vec<Code>,
    own: OwnRow,
    broken_policies: Vec<usize>,
}

impl JudgedRow {
    fn new(model: &Model, cells: &[&str]) -> Result<Self, RowError> {
        let codes = model.discretizer().encode_row(cells)?.into_codes();
        let score = model.row_score(cells, &codes)?;
        let own = OwnRow::new(model.discretizer(), cells, codes.clone());
        let broken_policies = model.constraints().broken_policies(&own);
        Ok(Self { score, codes, own, broken_policies })
    }

    fn verdict(&self, scale: ScoreScale, threshold: f64) -> Verdict {
        match (scale.reaches(self.score, threshold), self.broken_policies.is_empty()) {
            (false, _) => Verdict::TooLow,
            (true, false) => Verdict::BreaksPolicy,
            (true, true) => Verdict::Kept,
        }
    }
}

impl Comparer<'_> {
    /// Compares one person, and counts them.
    pub(super) fn count(
        &self,
        scratch: &mut Scratch<'_>,
        batch: &Batch,
        row: usize,
        number: u64,
        tally: &mut Tally,
    ) {
        let id = self.old.id(batch, row, number);
        let place = |error: &str| format!("{}, {}", batch.place(row), words::without_hint(error));
        let past = match self.past {
            Some(past) => past(&id),
            None => {
                let answer = self.old.answer(&mut scratch.old, batch, row, number);
                if let Err(error) = &answer.answer {
                    tally.unread_by_old(|| place(error));
                }
                let ways = answer.ways().iter().map(PastWay::from).collect();
                Some(PastAnswer { outcome: Outcome::of(&answer), ways })
            }
        };
        let Some(past) = past else { return tally.absent += 1 };
        let new = self.new.answer(&mut scratch.new, batch, row, number);
        if let Err(error) = &new.answer {
            tally.unread_by_new(|| place(error));
        }
        let groups: Vec<_> = self.groupings.iter().map(|grouping| grouping.group(batch, row)).collect();
        tally.each(&groups, |counts| counts.person(past.outcome, Outcome::of(&new)));
        let Some(way) = past.ways.first() else { return };

        let judged = self.judge(way, &new);
        let verdict = self.verdict(&judged);
        let is_kept = |way| self.verdict(&self.judge(way, &new)) == Verdict::Kept;
        let any_kept = verdict == Verdict::Kept || past.ways[1..].iter().any(is_kept);
        let judged_row = judged.as_ref().ok();
        let short_by = judged_row.filter(|_| verdict == Verdict::TooLow).map(|row| self.short_by(row.score));
        let cost = judged_row.and_then(|row| self.cost(scratch, way, row, &new));
        tally.each(&groups, |counts| counts.way(verdict, any_kept, short_by, cost));
        if let Some(row) = judged_row {
            tally.scores.add(row.score);
        }
        if verdict != Verdict::Kept {
            let new_way = new.ways().first();
            tally.list(BrokenWay {
                id,
                row: number,
                verdict,
                because: self.because(&judged),
                changes: self.changes(&self.old.cells(batch, row), way),
                old_score: way.score,
                new_score: judged_row.map(|row| row.score),
                short_by: short_by.map(|[by, _]| by),
                short_by_log_odds: short_by.map(|[_, by]| by),
                now: Outcome::of(&new),
                new_changes: new_way
                    .map_or(Vec::new(), |way| way.changes.iter().map(words::change).collect()),
                new_effort: new_way.map(|way| way.effort),
                new_months: new_way.map(|way| way.months),
            });
        }
    }

    /// An old way under the new model.
    fn judge(&self, way: &PastWay, new: &RowAnswer<'_>) -> Result<JudgedRow, RowError> {
        JudgedRow::new(self.new.model(), &self.as_new(&way.cells, &new.cells))
    }

    /// The changes of an old way, in words.
    fn changes(&self, own: &[&str], way: &PastWay) -> Vec<String> {
        let features = self.old.model().schema().features().iter();
        let cells = own.iter().zip(way.cells.iter().map(String::as_str));
        let changed = features.zip(cells).filter(|(_, (from, to))| from.trim() != to.trim());
        changed.map(|(feature, (from, to))| words::cells(feature, from, to)).collect()
    }

    /// Why a way is not accepted, where it is not for its score alone.
    fn because(&self, judged: &Result<JudgedRow, RowError>) -> Option<String> {
        match judged {
            Err(error) => Some(words::without_hint(&error.to_string()).to_string()),
            Ok(row) if row.broken_policies.is_empty() => None,
            Ok(row) => {
                let schema = self.new.model().schema();
                let policies = row.broken_policies.iter().map(|policy| words::policy(schema, *policy));
                Some(policies.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// The cells of an old way in the order of the new schema; what the old model does not read is the person's own.
    fn as_new<'c>(&self, way: &'c [String], own: &[&'c str]) -> Vec<&'c str> {
        let cell = |(feature, in_old): (usize, &Option<usize>)| {
            in_old.map_or(own[feature], |position| way[position].as_str())
        };
        self.in_old.iter().enumerate().map(cell).collect()
    }

    fn verdict(&self, judged: &Result<JudgedRow, RowError>) -> Verdict {
        match judged {
            Ok(judged) => judged.verdict(self.new.model().scale(), self.thresholds[1]),
            Err(_) => Verdict::Unreadable,
        }
    }

    /// How far a score is from the new threshold: in the unit of scores, and in log-odds.
    fn short_by(&self, score: f64) -> [f64; 2] {
        let (scale, [_, threshold]) = (self.new.model().scale(), self.thresholds);
        [(threshold - score).abs(), scale.log_odds(threshold) - scale.log_odds(score)]
    }

    /// What the old way and the new one cost, both by the new model; `None` if there is no new way.
    fn cost(
        &self,
        scratch: &mut Scratch<'_>,
        past: &PastWay,
        judged: &JudgedRow,
        new: &RowAnswer<'_>,
    ) -> Option<[Cost; 2]> {
        let way = new.ways().first()?;
        let model = self.new.model();
        let from = JudgedRow::new(model, &new.cells).ok()?;
        let cells: Vec<&str> = way.cells.iter().map(String::as_str).collect();
        let to = JudgedRow::new(model, &cells).ok()?;
        let mut cost = |row: &JudgedRow, changes: u32, months: u32| Cost {
            changes: f64::from(changes),
            effort: model.constraints().effort(&from.own, &row.own),
            months: f64::from(months),
            log_likelihood: scratch.evaluator.log_prob(&row.codes),
        };
        Some([
            cost(judged, past.changes?, past.months?),
            cost(&to, u32::try_from(way.changes.len()).ok()?, way.months),
        ])
    }
}
