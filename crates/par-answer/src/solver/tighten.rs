//! How much of a way is enough, for a classifier that reads values.

use par_data::TowardOwn;
use par_model::classifier::{DeployedClassifier, ExternalClassifier};

use super::{Aim, Person, Solver};
use crate::answer::Change;
use crate::problem::Row;

/// How often the way to the person's own number is halved.
const HALVINGS: usize = 5;

/// A number of a way that may be nearer to the person's own.
struct Movable {
    /// The place of the change.
    change: usize,
    feature: usize,
    /// The advised number, as written.
    value: String,
    toward_own: TowardOwn,
    /// How near it may be, as a share of the way.
    share: f64,
}

impl Movable {
    fn least(&self) -> f64 {
        self.toward_own.at(self.share)
    }
}

impl Solver<'_> {
    /// Moves each changed number toward the person's own as far as the file's score stays enough for everything in
    /// between, all of them together, and keeps where that ends as the change's `least`. The row of all leasts is one
    /// that the search could offer: accepted as written, and likely enough.
    pub(super) fn tighten(
        &mut self,
        person: Person<'_>,
        aim: &Aim,
        row: &Row,
        cells: &[String],
        changes: &mut [Change],
    ) {
        let DeployedClassifier::External(external) = self.model.classifier() else { return };
        let movable = |(place, change): (usize, &Change)| {
            let (feature, value) = (change.feature, change.value.clone());
            let chosen = person.candidates.chosen(&row.choices, feature);
            let toward_own = person.candidates.toward_own(feature, chosen)?;
            Some(Movable { change: place, feature, value, toward_own, share: 0.0 })
        };
        let mut movable: Vec<Movable> = changes.iter().enumerate().filter_map(movable).collect();
        let all = 0..movable.len();
        let alone = all.clone().filter(|_| movable.len() > 1).map(|one| one..one + 1).collect::<Vec<_>>();
        for moved in [all].into_iter().chain(alone).filter(|moved| !moved.is_empty()) {
            let mut step = 1.0;
            for _ in 0..HALVINGS {
                step /= 2.0;
                let before: Vec<f64> = movable[moved.clone()].iter().map(|one| one.share).collect();
                movable[moved.clone()].iter_mut().for_each(|one| one.share += step * (1.0 - one.share));
                let range = |one: &Movable| (one.feature, [one.least().to_string(), one.value.clone()]);
                let ranges: Vec<(usize, [String; 2])> = movable.iter().map(range).collect();
                let is_enough = is_proved(external, aim, cells, &ranges)
                    && self.is_likely_enough(person, aim, row, &movable);
                if !is_enough {
                    let moved = movable[moved.clone()].iter_mut();
                    moved.zip(before).for_each(|(one, before)| one.share = before);
                }
            }
        }
        if self.is_accepted_at_least(aim, cells, &movable) {
            for one in movable {
                let least = one.least();
                changes[one.change].least = (least.to_string() != one.value).then_some(least);
            }
        }
    }

    /// Whether the row with the least of every change is as likely as an offer must be.
    fn is_likely_enough(&mut self, person: Person<'_>, aim: &Aim, row: &Row, movable: &[Movable]) -> bool {
        let mut codes = row.codes.clone();
        for one in movable {
            codes[one.feature] =
                self.model.discretizer().domains()[one.feature].code_of_number(one.least()).0;
        }
        if codes == row.codes {
            return true;
        }
        let duration = person.candidates.duration_of(&row.choices).expect("a solution has a duration");
        self.evaluator.log_prob(&codes) - person.log_given[duration] >= aim.objective.floor
    }

    /// Whether the file accepts the row with the least of every change.
    fn is_accepted_at_least(&self, aim: &Aim, cells: &[String], movable: &[Movable]) -> bool {
        let mut row = cells.to_vec();
        for one in movable {
            row[one.feature] = one.least().to_string();
        }
        let row: Vec<&str> = row.iter().map(String::as_str).collect();
        self.model.score(&row).is_ok_and(|score| aim.scale.reaches(score, aim.threshold))
    }
}

/// Whether it is proved that everything within the ranges of some features is enough.
pub(super) fn is_proved(
    external: &ExternalClassifier,
    aim: &Aim,
    cells: &[String],
    ranges: &[(usize, [String; 2])],
) -> bool {
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let ranges: Vec<(usize, [&str; 2])> =
        ranges.iter().map(|(feature, ends)| (*feature, ends.each_ref().map(String::as_str))).collect();
    let least = external.least_log_odds(&cells, &ranges);
    least.is_some_and(|least| aim.scale.reaches(aim.scale.score(least), aim.threshold))
}
