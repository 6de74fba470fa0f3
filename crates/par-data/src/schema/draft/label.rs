//! The label and its favourable class: given, or guessed from names and values.

use super::profile::{MAX_DISTINCT, Profile};
use super::sample::SampledCell;
use super::{DraftOptions, lexicon, names, quoted};
use crate::error::Error;
use crate::schema::parse::position_of;
use crate::schema::{Goal, Label};

/// Largest number of classes of a label.
pub(super) const MAX_CLASSES: usize = 10;

/// The label, and why it is taken to be it.
#[derive(Debug)]
pub(super) struct DraftedLabel {
    pub(super) column: usize,
    pub(super) why_column: Reason,
    pub(super) wanted: DraftedWanted,
}

/// What a person wants of the label.
#[derive(Debug)]
pub(super) enum DraftedWanted {
    /// Some of its classes, by position.
    Classes { names: Vec<String>, favourable: Vec<usize>, why: Reason },
    /// A number.
    Number(Goal),
}

impl DraftedLabel {
    /// Whether a cell is what a person wants.
    pub(super) fn wants(&self, cell: &SampledCell) -> bool {
        match &self.wanted {
            DraftedWanted::Classes { names, favourable, .. } => {
                favourable.iter().any(|&class| *cell == SampledCell::new(&names[class]))
            }
            DraftedWanted::Number(goal) => {
                cell.number().is_some_and(|number| goal.side.reaches(number, goal.bound))
            }
        }
    }
}

/// How sure something is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Given,
    Likely(String),
    Guess(String),
}

impl Reason {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Given => "as given".to_string(),
            Self::Likely(why) => format!("likely: {why}"),
            Self::Guess(why) => format!("a guess: {why}"),
        }
    }
}

/// The label of a table; `None` if no column can be one.
///
/// # Errors
/// When the options name a column or a class that is not there, or a column that cannot be a label.
pub(super) fn label(
    origin: &str,
    profiles: &[Profile],
    options: &DraftOptions,
) -> Result<Option<DraftedLabel>, Error> {
    let found = match &options.label {
        Some(name) => Some((given_column(origin, profiles, name, options.goal.is_some())?, Reason::Given)),
        None if options.goal.is_some() => return Err(Error::UnnamedGoal { origin: origin.into() }),
        None => likely_column(profiles, &options.favourable),
    };
    let Some((column, why_column)) = found else {
        return match &options.favourable[..] {
            [] => Ok(None),
            names => Err(Error::NoLabelHas { origin: origin.into(), found: names.join(", ") }),
        };
    };
    if let Some(goal) = &options.goal {
        return Ok(Some(DraftedLabel { column, why_column, wanted: DraftedWanted::Number(goal.clone()) }));
    }
    let profile = &profiles[column];
    let names: Vec<String> = profile.values().iter().map(ToString::to_string).collect();
    let (favourable, why) = match &options.favourable[..] {
        [] => {
            let (class, why) = favourable(&profile.words, &names);
            (vec![class], why)
        }
        found => {
            let label = Label {
                column: profile.name.clone(),
                classes: names.clone(),
                favourable: Vec::new(),
                paper_favourable: None,
                goal: None,
            };
            let found = label.favourable_named(found);
            let error =
                |source| Error::Favourable { origin: origin.into(), column: label.column.clone(), source };
            (found.map_err(error)?, Reason::Given)
        }
    };
    Ok(Some(DraftedLabel { column, why_column, wanted: DraftedWanted::Classes { names, favourable, why } }))
}

fn given_column(origin: &str, profiles: &[Profile], name: &str, is_number: bool) -> Result<usize, Error> {
    let column =
        profiles.iter().position(|profile| profile.name == name).ok_or_else(|| Error::AbsentLabel {
            origin: origin.into(),
            column: name.to_string(),
            known: profiles.iter().map(|profile| profile.name.clone()).collect(),
        })?;
    if is_number {
        return Ok(column);
    }
    let found = profiles[column].values().len();
    if (2..=MAX_CLASSES).contains(&found) {
        return Ok(column);
    }
    let found = if found > MAX_DISTINCT { format!("more than {MAX_DISTINCT}") } else { found.to_string() };
    Err(Error::NoClasses { origin: origin.into(), column: name.to_string(), found, most: MAX_CLASSES })
}

/// The column whose name is that of a label, otherwise the last one with two values, or few.
fn likely_column(profiles: &[Profile], favourable: &[String]) -> Option<(usize, Reason)> {
    let can_be = |profile: &Profile| {
        let values = profile.values();
        (2..=MAX_CLASSES).contains(&values.len())
            && profile.missing == 0
            && !profile.is_row_role()
            && favourable.iter().all(|found| {
                let is_value = |name: &str| position_of(&values, name.trim()).is_some();
                is_value(found) || found.split(',').all(is_value)
            })
    };
    let named = Reason::Likely("its name is that of a label".to_string());
    let whole = lexicon::LABELS.split(',').find_map(|name| {
        profiles.iter().position(|profile| names::has_any(&profile.words, name) && can_be(profile))
    });
    let part = || {
        profiles.iter().rposition(|profile| {
            names::has_any(&profile.words, lexicon::LABEL_WORDS)
                && !names::has_any(&profile.words, lexicon::NO_LABEL)
                && profile.values().len() == 2
                && can_be(profile)
        })
    };
    if let Some(column) = whole.or_else(part) {
        return Some((column, named));
    }
    let is_binary = |profile: &Profile| can_be(profile) && profile.values().len() == 2;
    let last = profiles.iter().rposition(is_binary).or_else(|| profiles.iter().rposition(can_be))?;
    let count = profiles[last].values().len();
    Some((last, Reason::Guess(format!("no name says it; the last column with {count} values"))))
}

/// The class that a person wants.
fn favourable(name: &[String], classes: &[String]) -> (usize, Reason) {
    let words: Vec<Vec<String>> = classes.iter().map(|class| names::words(&class.to_lowercase())).collect();
    let find = |phrases: &str| words.iter().position(|words| names::has_any(words, phrases));
    let is_bad = |class: usize| names::has_any(&words[class], lexicon::BAD_VALUE);
    let wanted = words
        .iter()
        .position(|words| names::has_any(words, lexicon::GOOD_VALUE) && !names::has_any(words, "=not good"));
    let says = |class: usize| format!("{} is what people want", quoted(&classes[class]));
    if let Some(class) = wanted.filter(|class| !is_bad(*class) || words[*class].len() > 1) {
        return (class, Reason::Likely(says(class)));
    }
    let others: Vec<usize> = (0..classes.len()).filter(|class| !is_bad(*class)).collect();
    if let ([class], true) = (&others[..], others.len() < classes.len()) {
        let unwanted = (0..classes.len()).find(|other| other != class).unwrap_or(*class);
        return (*class, Reason::Likely(format!("nobody wants {}", quoted(&classes[unwanted]))));
    }
    let title = quoted(&name.join(" "));
    if names::has_any(name, lexicon::BAD_EVENT)
        && let Some(class) = find(lexicon::NO)
    {
        return (class, Reason::Likely(format!("nobody wants {title} to be so")));
    }
    if names::has_any(name, lexicon::GOOD_EVENT)
        && let Some(class) = find(lexicon::YES)
    {
        return (class, Reason::Likely(format!("people want {title} to be so")));
    }
    let yes = find(lexicon::YES).filter(|_| !names::has_any(name, lexicon::BAD_EVENT));
    let more = classes.iter().position(|class| class.starts_with('>'));
    let class = yes.or(more).unwrap_or(classes.len() - 1);
    (class, Reason::Guess("neither the name nor the values say it".to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_favourable_class_is_found_by_words() {
        for (name, classes, expected, is_likely) in [
            ("class", ["bad", "good"], "good", true),
            ("default", ["0", "1"], "0", true),
            ("default payment next month", ["0", "1"], "0", true),
            ("approved", ["0", "1"], "1", true),
            ("deny", ["no", "yes"], "no", true),
            ("Churn", ["False", "True"], "False", true),
            ("loan_status", ["Charged Off", "Fully Paid"], "Fully Paid", true),
            ("loan_status", ["N", "Y"], "Y", false),
            ("credit", ["default", "no default"], "no default", true),
            ("status", ["current", "late"], "current", true),
            ("y", ["0", "1"], "1", false),
            ("income", ["<=50K", ">50K"], ">50K", false),
            ("class", ["1", "2"], "1", false),
        ] {
            let classes = classes.map(String::from).to_vec();
            let (class, reason) = favourable(&names::words(name), &classes);
            assert_eq!(classes[class], expected, "{name}: {reason:?}");
            assert_eq!(matches!(reason, Reason::Likely(_)), is_likely, "{name}: {reason:?}");
        }
    }
}
