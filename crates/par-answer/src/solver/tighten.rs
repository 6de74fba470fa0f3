//! How much of a way is enough, for a classifier that reads values.

use par_data::{Choice, TowardOwn};
use par_model::classifier::{DeployedClassifier, ExternalClassifier};

use super::{Aim, Person, Solver};
use crate::answer::Change;

/// How often the way to the person's own number is halved.
const HALVINGS: usize = 5;

/// A number of a way that may be nearer to the person's own.
struct Movable {
    /// The place of the change.
    change: usize,
    toward_own: TowardOwn,
    /// How near it may be, as a share of the way.
    share: f64,
}

impl Solver<'_> {
    /// Moves each changed number toward the person's own as far as the file's score stays enough for everything in
    /// between, all of them together, and keeps where that ends as the change's `least`.
    pub(super) fn tighten(
        &self,
        person: Person<'_>,
        aim: &Aim,
        choices: &[Choice],
        cells: &[String],
        changes: &mut [Change],
    ) {
        let DeployedClassifier::External(external) = self.model.classifier() else { return };
        let movable = |(place, change): (usize, &Change)| {
            let chosen = person.candidates.chosen(choices, change.feature);
            let toward_own = person.candidates.toward_own(change.feature, chosen)?;
            Some(Movable { change: place, toward_own, share: 0.0 })
        };
        let mut movable: Vec<Movable> = changes.iter().enumerate().filter_map(movable).collect();
        let is_enough = |movable: &[Movable]| is_enough(external, aim, cells, changes, movable);
        let all = 0..movable.len();
        let alone = all.clone().filter(|_| movable.len() > 1).map(|one| one..one + 1).collect::<Vec<_>>();
        for moved in [all].into_iter().chain(alone).filter(|moved| !moved.is_empty()) {
            let mut step = 1.0;
            for _ in 0..HALVINGS {
                step /= 2.0;
                let before: Vec<f64> = movable[moved.clone()].iter().map(|one| one.share).collect();
                movable[moved.clone()].iter_mut().for_each(|one| one.share += step * (1.0 - one.share));
                if !is_enough(&movable) {
                    movable[moved.clone()]
                        .iter_mut()
                        .zip(before)
                        .for_each(|(one, before)| one.share = before);
                }
            }
        }
        let leasts: Vec<(usize, f64)> =
            movable.iter().map(|one| (one.change, one.toward_own.at(one.share))).collect();
        if self.is_accepted_at(aim, cells, changes, &leasts) {
            for (change, least) in leasts {
                let is_less = least.to_string() != changes[change].value;
                changes[change].least = is_less.then_some(least);
            }
        }
    }

    /// Whether the file accepts the row at the least of every change.
    fn is_accepted_at(
        &self,
        aim: &Aim,
        cells: &[String],
        changes: &[Change],
        leasts: &[(usize, f64)],
    ) -> bool {
        let mut row = cells.to_vec();
        for (change, least) in leasts {
            row[changes[*change].feature] = least.to_string();
        }
        let row: Vec<&str> = row.iter().map(String::as_str).collect();
        self.model.score(&row).is_ok_and(|score| aim.scale.reaches(score, aim.threshold))
    }
}

/// Whether everything between the values of a way and those nearer to the person's own is enough.
fn is_enough(
    external: &ExternalClassifier,
    aim: &Aim,
    cells: &[String],
    changes: &[Change],
    movable: &[Movable],
) -> bool {
    let range = |one: &Movable| {
        let Change { feature, value, .. } = &changes[one.change];
        (*feature, [one.toward_own.at(one.share).to_string(), value.clone()])
    };
    is_proved(external, aim, cells, &movable.iter().map(range).collect::<Vec<_>>())
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
