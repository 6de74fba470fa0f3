//! Questions about a draft, for a person at a terminal.

use super::decide::Sureness;
use super::{Draft, lexicon};
use crate::schema::{Effort, Mutability, TimeUnit};

/// Categories that are shown of a feature.
const SHOWN_VALUES: usize = 6;

/// A question: what may happen to a feature?
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The feature (position in the draft).
    pub feature: usize,
    /// Its name.
    pub name: String,
    /// The values seen, for people.
    pub values: String,
    /// What the draft says now; undecided if it says nothing.
    pub change: Mutability,
    /// Why it says so.
    pub reason: String,
    /// The answers that the feature's kind permits.
    pub choices: Vec<Mutability>,
    /// The unit of time, if the draft knows it; a clock needs one.
    pub unit: Option<TimeUnit>,
    /// The word for its effort, if it changes.
    pub effort: Option<&'static str>,
}

/// What a person says about a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It stays, or nobody knows.
    Stays(Mutability),
    /// It moves with time.
    Clock(TimeUnit),
    /// A person can act on it, with an effort of [`Effort::WORDS`].
    Changes(Mutability, &'static str),
}

impl Draft {
    /// The questions worth asking, the most useful first: features that tell the label well, undecided ones
    /// before guesses. What the draft is sure of is not asked.
    pub fn questions(&self) -> Vec<Question> {
        let usefulness = |feature: usize| {
            let told = self.features[feature].telling.map_or(0.0, |area| area - 0.5);
            // A guess is right more often than not.
            if self.features[feature].sureness == Sureness::Open { told } else { told / 2.0 }
        };
        let mut asked: Vec<usize> = (0..self.features.len())
            .filter(|feature| {
                let feature = &self.features[*feature];
                feature.sureness < Sureness::Sure && !self.is_computed(feature.column)
            })
            .collect();
        asked.sort_by(|a, b| usefulness(*b).total_cmp(&usefulness(*a)));
        asked.into_iter().map(|feature| self.question(feature)).collect()
    }

    /// Writes what a person says into the draft.
    pub fn decide(&mut self, feature: usize, decision: Decision) {
        let drafted = &mut self.features[feature];
        drafted.sureness = Sureness::Sure;
        drafted.reason = "as you said".to_string();
        match decision {
            Decision::Stays(change) => (drafted.change, drafted.act) = (change, None),
            Decision::Clock(unit) => {
                (drafted.change, drafted.act) = (Mutability::WithTime, None);
                drafted.unit = Some(unit.name());
            }
            Decision::Changes(change, effort) => {
                if change != Mutability::Free {
                    drafted.put_in_order();
                }
                let guessed = drafted.act.filter(|_| drafted.change == change);
                drafted.change = change;
                drafted.act = Some(lexicon::Act { effort, ..guessed.unwrap_or(lexicon::ACT) });
            }
        }
        self.settle_followers();
    }

    fn is_computed(&self, column: usize) -> bool {
        self.relations
            .iter()
            .filter_map(|found| found.gives)
            .any(|gives| self.features[gives].column == column)
    }

    fn question(&self, feature: usize) -> Question {
        let drafted = &self.features[feature];
        let mut choices = vec![Mutability::Never, Mutability::Free];
        if drafted.can_be_ordered() {
            choices.extend([Mutability::Increase, Mutability::Decrease]);
        }
        if drafted.kind.is_numeric() {
            choices.push(Mutability::WithTime);
        }
        Question {
            feature,
            name: self.profiles[drafted.column].name.clone(),
            values: self.values_seen(feature),
            change: drafted.change,
            reason: drafted.reason.clone(),
            choices,
            unit: drafted.unit.and_then(TimeUnit::parse),
            effort: drafted.act.map(|act| act.effort),
        }
    }

    fn values_seen(&self, feature: usize) -> String {
        let drafted = &self.features[feature];
        let profile = &self.profiles[drafted.column];
        let share = |count: u64| format!("{:.0} %", 100.0 * count as f64 / profile.cells.max(1) as f64);
        let frequent = profile.frequent();
        if drafted.kind.is_numeric() {
            let most = frequent.first().map_or(String::new(), |(text, count)| match profile.distinct() {
                distinct if distinct <= super::profile::MAX_DISTINCT => {
                    format!(", most often {text} ({})", share(*count))
                }
                _ => String::new(),
            });
            let [low, high] = profile.ordinary_ends();
            return format!("{low} to {high}{most}");
        }
        let shown =
            frequent.iter().take(SHOWN_VALUES).map(|(text, count)| format!("{text} ({})", share(*count)));
        let mut shown: Vec<String> = shown.collect();
        let more = frequent.len().saturating_sub(SHOWN_VALUES);
        shown.extend((more > 0).then(|| format!("{more} more")));
        shown.join(", ")
    }
}

impl Question {
    /// The word for the effort of a change, unless the person says another.
    pub fn usual_effort(&self) -> &'static str {
        let words = Effort::WORDS.map(|(word, _)| word);
        self.effort.unwrap_or(words[1])
    }
}
