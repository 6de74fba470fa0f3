//! How much of a way is enough, for a classifier that reads values.

use par_data::TowardOwn;
use par_model::classifier::{DeployedClassifier, ExternalClassifier, WrittenRow};

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

/// Features, each with the ends of a range of numbers.
type Ranges = Vec<(usize, [String; 2])>;

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
        if movable.is_empty() {
            return;
        }
        let texts: Vec<&str> = cells.iter().map(String::as_str).collect();
        let Ok(written) = external.written(&texts) else { return };
        // Numbers on a grid are the same after several halvings.
        let mut tried: Vec<(Ranges, bool)> = Vec::new();
        let all = 0..movable.len();
        let alone = all.clone().filter(|_| movable.len() > 1).map(|one| one..one + 1).collect::<Vec<_>>();
        for moved in [all].into_iter().chain(alone).filter(|moved| !moved.is_empty()) {
            let mut step = 1.0;
            for _ in 0..HALVINGS {
                step /= 2.0;
                let before: Vec<f64> = movable[moved.clone()].iter().map(|one| one.share).collect();
                movable[moved.clone()].iter_mut().for_each(|one| one.share += step * (1.0 - one.share));
                let range = |one: &Movable| (one.feature, [one.least().to_string(), one.value.clone()]);
                let ranges: Ranges = movable.iter().map(range).collect();
                let known = tried.iter().find(|(other, _)| *other == ranges).map(|(_, is_enough)| *is_enough);
                // A row is scored sooner than a range is bounded.
                let is_enough = known.unwrap_or_else(|| {
                    is_accepted_at_least(external, aim, &texts, &movable)
                        && self.is_likely_enough(person, aim, row, &movable)
                        && is_proved(&written, aim, &ranges)
                });
                tried.push((ranges, is_enough));
                if !is_enough {
                    let moved = movable[moved.clone()].iter_mut();
                    moved.zip(before).for_each(|(one, before)| one.share = before);
                }
            }
        }
        for one in movable {
            let least = one.least();
            changes[one.change].least = (least.to_string() != one.value).then_some(least);
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
}

/// Whether the file accepts the row with the least of every change.
fn is_accepted_at_least(
    external: &ExternalClassifier,
    aim: &Aim,
    cells: &[&str],
    movable: &[Movable],
) -> bool {
    let least: Vec<String> = movable.iter().map(|one| one.least().to_string()).collect();
    let mut row = cells.to_vec();
    for (one, least) in movable.iter().zip(&least) {
        row[one.feature] = least;
    }
    external.log_odds(&row).is_ok_and(|log_odds| reaches(aim, log_odds))
}

/// Whether it is proved that everything within the ranges of some features is enough.
pub(super) fn is_proved(written: &WrittenRow<'_>, aim: &Aim, ranges: &[(usize, [String; 2])]) -> bool {
    let ranges: Vec<(usize, [&str; 2])> =
        ranges.iter().map(|(feature, ends)| (*feature, ends.each_ref().map(String::as_str))).collect();
    written.least_log_odds(&ranges).is_some_and(|least| reaches(aim, least))
}

fn reaches(aim: &Aim, log_odds: f64) -> bool {
    aim.scale.reaches(aim.scale.score(log_odds), aim.threshold)
}
