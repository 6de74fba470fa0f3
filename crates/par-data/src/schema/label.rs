//! The column that the classifier predicts, and what a person wants of it.

use super::{parse_number, position_of};
use crate::error::CellError;
use crate::suggest::suggest;

/// The column that the classifier predicts. Its rows are of two or more classes; a number is of two, by whether it
/// reaches its goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Its name.
    pub column: String,
    /// Its values, or whether it reaches the goal, in words; a class is a position in this list.
    pub classes: Vec<String>,
    /// The classes a person wants, ascending: at least one, and not all.
    pub favourable: Vec<usize>,
    /// The class that the papers count as accepted, if that is another one.
    pub paper_favourable: Option<usize>,
    /// What a number must reach; `None` if the column holds classes.
    pub goal: Option<Goal>,
}

/// The number that a label must reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The number.
    pub bound: f64,
    /// The side of it that a person wants.
    pub side: Side,
    /// The unit of the label.
    pub unit: Option<String>,
}

/// The side of a bound that a person wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The bound or more.
    AtLeast,
    /// The bound or less.
    AtMost,
}

/// Why names cannot be the favourable classes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FavourableError {
    /// No class is named.
    #[error("no class is favourable, expected at least one of {}", listed(.known))]
    Nothing {
        /// The classes.
        known: Vec<String>,
    },
    /// A class that the label does not have.
    #[error("the label has no class `{found}`{}", suggest(.found, .known))]
    Unknown {
        /// The name.
        found: String,
        /// The classes.
        known: Vec<String>,
    },
    /// A class is named twice.
    #[error("the favourable class `{found}` is named twice")]
    Repeated {
        /// The name.
        found: String,
    },
    /// All classes are named, so that nobody would be denied.
    #[error(
        "all {count} classes are favourable, so that nobody is denied\nhint: leave out those that a person does not want"
    )]
    All {
        /// How many classes there are.
        count: usize,
    },
    /// The label is a number.
    #[error(
        "the label is a number, which has no classes\nhint: change `{side}` under `[label]` in the schema"
    )]
    Number {
        /// The key of its goal.
        side: &'static str,
    },
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Label {
    /// The positions of the classes with these names, ascending. A name that is no class may be several, with commas
    /// between them.
    ///
    /// # Errors
    /// When a name is none of the classes or is there twice, and when the names are no class or all of them.
    pub fn favourable_named<T: AsRef<str>>(&self, names: &[T]) -> Result<Vec<usize>, FavourableError> {
        if let Some(goal) = &self.goal {
            return Err(FavourableError::Number { side: goal.side.key() });
        }
        let position = |name: &str| position_of(&self.classes, name.trim());
        let mut favourable = Vec::new();
        for name in names.iter().map(AsRef::as_ref) {
            let parts = if position(name).is_some() { vec![name] } else { name.split(',').collect() };
            for part in parts.into_iter().map(str::trim) {
                let class = position(part).ok_or_else(|| FavourableError::Unknown {
                    found: part.to_string(),
                    known: self.classes.clone(),
                })?;
                if favourable.contains(&class) {
                    return Err(FavourableError::Repeated { found: part.to_string() });
                }
                favourable.push(class);
            }
        }
        match favourable.len() {
            0 => Err(FavourableError::Nothing { known: self.classes.clone() }),
            count if count == self.classes.len() => Err(FavourableError::All { count }),
            _ => {
                favourable.sort_unstable();
                Ok(favourable)
            }
        }
    }

    /// Whether a class is one that a person wants.
    pub fn wants(&self, class: usize) -> bool {
        self.favourable.contains(&class)
    }

    /// The names of the classes that a person wants, and of the others.
    pub fn sides(&self) -> [Vec<&str>; 2] {
        [true, false].map(|wanted| {
            let own = (0..self.classes.len()).filter(|&class| self.wants(class) == wanted);
            own.map(|class| self.classes[class].as_str()).collect()
        })
    }

    /// The class of a cell: that with its text, or the only one that is the same number or truth value; of a number,
    /// whether it reaches the goal.
    pub(super) fn class(&self, cell: &str) -> Result<usize, CellError> {
        if let Some(goal) = &self.goal {
            return self.number(cell).map(|number| usize::from(goal.side.reaches(number, goal.bound)));
        }
        position_of(&self.classes, cell.trim()).ok_or_else(|| CellError::UnknownClass {
            column: self.column.clone(),
            found: cell.to_string(),
            known: self.classes.clone(),
        })
    }

    /// The number of a cell.
    pub(super) fn number(&self, cell: &str) -> Result<f64, CellError> {
        parse_number(cell).ok_or_else(|| CellError::LabelNotANumber {
            column: self.column.clone(),
            found: cell.to_string(),
        })
    }
}

impl Goal {
    /// The names of the classes of a number: it does not reach the goal, or it does.
    pub fn classes(&self) -> Vec<String> {
        let bound = self.amount(self.bound, None);
        let other = match self.side {
            Side::AtLeast => "below",
            Side::AtMost => "above",
        };
        vec![format!("{other} {bound}"), format!("{} {bound}", self.side.words())]
    }

    /// A number of the label with its unit; thousands have a comma. All its digits without a number of `decimals`.
    pub fn amount(&self, number: f64, decimals: Option<usize>) -> String {
        let digits = match decimals {
            Some(decimals) => format!("{number:.decimals$}"),
            None => number.to_string(),
        };
        let number = with_commas(&digits);
        match &self.unit {
            Some(unit) => format!("{number} {unit}"),
            None => number,
        }
    }
}

/// A number with a comma between each three digits before its point.
fn with_commas(digits: &str) -> String {
    let (sign, rest) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let (whole, fraction) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let mut text = sign.to_string();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

impl Side {
    /// Its key in a schema.
    pub fn key(self) -> &'static str {
        match self {
            Self::AtLeast => "at_least",
            Self::AtMost => "at_most",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }

    /// Whether a number is on this side of a bound.
    pub fn reaches(self, number: f64, bound: f64) -> bool {
        match self {
            Self::AtLeast => number >= bound,
            Self::AtMost => number <= bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_commas_and_a_unit() {
        let goal =
            |unit: Option<&str>| Goal { bound: 50_000.0, side: Side::AtLeast, unit: unit.map(String::from) };
        for (number, decimals, expected) in [
            (52_300.4, Some(0), "52,300"),
            (-1_234_567.891, Some(2), "-1,234,567.89"),
            (999.0, None, "999"),
            (0.125, None, "0.125"),
            (1000.5, None, "1,000.5"),
        ] {
            assert_eq!(goal(None).amount(number, decimals), expected);
        }
        assert_eq!(goal(Some("DM")).classes(), ["below 50,000 DM", "at least 50,000 DM"]);
    }

    /// pandas writes `True` to CSV, and to Parquet what reads as `true`.
    #[test]
    fn classes_are_known_as_the_same_number_or_truth_value() {
        let label = |classes: [&str; 2]| Label {
            column: "y".into(),
            classes: classes.map(String::from).to_vec(),
            favourable: vec![1],
            paper_favourable: None,
            goal: None,
        };
        let truths = label(["False", "True"]);
        assert_eq!(
            ["true", "FALSE", "True"].map(|cell| truths.class(cell).ok()),
            [Some(1), Some(0), Some(1)]
        );
        assert_eq!(truths.favourable_named(&["true"]), Ok(vec![1]));
        assert_eq!(label(["0", "1"]).class("1.0").ok(), Some(1));
        assert_eq!(label(["true", "True"]).class("TRUE").ok(), None, "it may be either");
        assert_eq!(label(["no", "yes"]).class("YES").ok(), None, "another word");
    }

    #[test]
    fn names_of_favourable_classes_may_be_joined_by_commas() {
        let label = Label {
            column: "y".into(),
            classes: ["no", "later", "yes", "a,b"].map(String::from).to_vec(),
            favourable: vec![2],
            paper_favourable: None,
            goal: None,
        };
        assert_eq!(label.favourable_named(&["yes, later"]), Ok(vec![1, 2]));
        assert_eq!(label.favourable_named(&["a,b", "yes"]), Ok(vec![2, 3]));
        for (names, expected) in [
            (&["latr"][..], "the label has no class `latr`, did you mean `later`?"),
            (&["yes", "yes"], "the favourable class `yes` is named twice"),
            (&[], "no class is favourable, expected at least one of `no`, `later`, `yes`, `a,b`"),
            (
                &["no,later,yes", "a,b"],
                "all 4 classes are favourable, so that nobody is denied\n\
                 hint: leave out those that a person does not want",
            ),
        ] {
            assert_eq!(label.favourable_named(names).expect_err("refused").to_string(), expected);
        }
    }
}
