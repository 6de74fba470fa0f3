//! Drafts a schema from a table, for a person to correct.
//!
//! The draft is safe: what nobody can change never changes, and what the draft does not know is undecided.

mod dates;
mod decide;
mod label;
mod lexicon;
mod names;
mod order;
mod profile;
mod questions;
mod relations;
mod roles;
mod sample;
mod suspicions;
mod telling;
mod write;

pub use questions::{Decision, Question};
pub use suspicions::suspicions;
pub use telling::roc_area;
pub use write::quoted;

use decide::{DraftedFeature, Sureness};
use label::{DraftedLabel, DraftedWanted, Reason};
use profile::Profile;
use relations::{Found, NumberColumn};
use roles::Role;
use sample::Sample;

use super::{Goal, Mutability};
use crate::error::Error;
use crate::table::{Batch, Table};

const ROWS_PER_BATCH: usize = 1024;

/// What is known of a table before it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftOptions {
    /// The label's column; guessed if `None`.
    pub label: Option<String>,
    /// The classes that people want; guessed if there is none. A text may name several, with commas between them.
    pub favourable: Vec<String>,
    /// What the label must reach, if it is a number.
    pub goal: Option<Goal>,
}

/// A drafted schema. [`Draft::text`] is its TOML text, which is always a valid schema.
pub struct Draft {
    origin: String,
    sample: Sample,
    profiles: Vec<Profile>,
    roles: Vec<Role>,
    label: Option<DraftedLabel>,
    features: Vec<DraftedFeature>,
    /// Relations between features, by their positions.
    relations: Vec<Found>,
}

impl Draft {
    /// Drafts the schema of a table in one pass, in memory that does not grow with the number of rows. Values and
    /// ranges are those of all rows; relations are looked for in rows spread evenly over the table.
    ///
    /// # Errors
    /// When the table cannot be read, has no rows, or has no column that can be a feature; when a column or class
    /// of the options is not there.
    pub fn new(table: Table, options: &DraftOptions) -> Result<Self, Error> {
        let (origin, columns) = (table.origin().to_string(), table.columns().to_vec());
        Self::of_rows(&origin, &columns, options, table.batches(ROWS_PER_BATCH))
    }

    /// The same from rows that are not from a file; `origin` is the table's name.
    ///
    /// # Errors
    /// As [`Draft::new`].
    pub fn of_rows(
        origin: &str,
        columns: &[String],
        options: &DraftOptions,
        batches: impl IntoIterator<Item = Result<Batch, Error>>,
    ) -> Result<Self, Error> {
        let mut profiles: Vec<Profile> = columns.iter().map(|name| Profile::new(name)).collect();
        let mut sample = Sample::new(columns.len());
        for batch in batches {
            let batch = batch?;
            for row in 0..batch.rows() {
                sample.add((0..columns.len()).map(|column| batch.cell(row, column)));
            }
            for (column, profile) in profiles.iter_mut().enumerate() {
                (0..batch.rows()).for_each(|row| profile.add(batch.cell(row, column)));
            }
        }
        if sample.seen() == 0 {
            return Err(Error::NoRows { origin: origin.into() });
        }
        let label = label::label(origin, &profiles, options)?;
        let roles = roles::roles(&profiles, &sample, label.as_ref());
        let features = features(&profiles, &roles);
        if features.is_empty() {
            return Err(Error::NothingToDescribe { origin: origin.into() });
        }
        let relations = related(&profiles, &sample, &features);
        let mut draft =
            Self { origin: origin.to_string(), sample, profiles, roles, label, features, relations };
        draft.settle_followers();
        Ok(draft)
    }

    /// What was taken as the label and its favourable class, and how sure that is; a line each.
    pub fn label_notes(&self) -> Vec<String> {
        let Some(label) = &self.label else {
            return vec!["label: none, as no column looks like one".to_string()];
        };
        let note = |what: &str, option: &str, found: String, why: &Reason| {
            let remedy =
                if matches!(why, Reason::Guess(_)) { format!("; `{option}` sets it") } else { String::new() };
            format!("{what}: {found} ({}{remedy})", why.text())
        };
        let column = note("label", "--label", quoted(&self.profiles[label.column].name), &label.why_column);
        let wanted = match &label.wanted {
            DraftedWanted::Number(goal) => format!("favourable: {} (as given)", goal.classes()[1]),
            DraftedWanted::Classes { names, favourable, why } => {
                let side = |wanted: bool| {
                    let own = (0..names.len()).filter(|class| favourable.contains(class) == wanted);
                    own.map(|class| quoted(&names[class])).collect::<Vec<_>>().join(", ")
                };
                let wanted = note("favourable", "--favourable", side(true), why);
                // Of two classes it goes without saying.
                if names.len() > 2 { format!("{wanted}; denied: {}", side(false)) } else { wanted }
            }
        };
        vec![column, wanted]
    }

    /// The names of the features that are undecided.
    pub fn undecided(&self) -> Vec<&str> {
        let undecided = self.features.iter().filter(|feature| feature.change == Mutability::Undecided);
        undecided.map(|feature| self.profiles[feature.column].name.as_str()).collect()
    }

    /// Why each feature is taken to change as it says, or is undecided, by name.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, &str)> {
        let name = |feature: &DraftedFeature| self.profiles[feature.column].name.as_str();
        self.features.iter().map(move |feature| (name(feature), feature.reason.as_str()))
    }

    /// Lets features follow whose sources move, and no others.
    fn settle_followers(&mut self) {
        let formulas: Vec<(usize, [usize; 2])> = self
            .relations
            .iter()
            .filter_map(|found| Some((found.gives?, found.of)))
            .filter(|(gives, _)| self.features[*gives].sureness != Sureness::Sure)
            .collect();
        for (gives, of) in &formulas {
            let names = of.map(|source| quoted(&self.profiles[self.features[source].column].name));
            self.features[*gives].never(&format!("computed from {} and {}, which stay", names[0], names[1]));
            self.features[*gives].sureness = Sureness::Guess;
        }
        // A follower can be the source of another one.
        for _ in 0..formulas.len() {
            for (gives, of) in &formulas {
                if of.iter().any(|source| self.features[*source].moves()) {
                    self.features[*gives].change = Mutability::Follows;
                    self.features[*gives].reason =
                        "a consequence: the relation below computes it".to_string();
                }
            }
        }
    }
}

fn features(profiles: &[Profile], roles: &[Role]) -> Vec<DraftedFeature> {
    let mut features = Vec::new();
    for (column, role) in roles.iter().enumerate() {
        let Role::Feature { telling, same_as } = role else { continue };
        let mut feature = DraftedFeature::new(column, &profiles[column], *telling);
        if let Some(same) = same_as {
            feature.never(&format!(
                "it says the same as {}, which nobody can change",
                quoted(&profiles[*same].name)
            ));
        }
        features.push(feature);
    }
    decide::read_as_loans(&mut features, profiles);
    features
}

/// Relations between features that are numbers, by the positions of the features.
fn related(profiles: &[Profile], sample: &Sample, features: &[DraftedFeature]) -> Vec<Found> {
    let of_numbers: Vec<usize> =
        (0..features.len()).filter(|feature| features[*feature].kind.is_numeric()).collect();
    let columns: Vec<NumberColumn<'_>> = of_numbers
        .iter()
        .map(|&feature| {
            let DraftedFeature { column, special, .. } = &features[feature];
            let profile = &profiles[*column];
            let mut numbers = sample.numbers(*column);
            numbers
                .iter_mut()
                .filter(|number| special.contains(number))
                .for_each(|number| *number = f64::NAN);
            NumberColumn {
                words: &profile.words,
                numbers,
                rounding: profile.rounding(),
                decimals: profile.decimals,
            }
        })
        .collect();
    let mut found = relations::relations(&columns);
    for relation in &mut found {
        relation.of = relation.of.map(|column| of_numbers[column]);
        relation.gives = relation.gives.map(|column| of_numbers[column]);
    }
    // Lists of names in a schema are trimmed, so that they cannot have such a name.
    let can_be_listed = |feature: usize| {
        let name = &profiles[features[feature].column].name;
        name.trim() == name
    };
    found.retain(|relation| relation.of.into_iter().chain(relation.gives).all(can_be_listed));
    found
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft").field("origin", &self.origin).finish_non_exhaustive()
    }
}
