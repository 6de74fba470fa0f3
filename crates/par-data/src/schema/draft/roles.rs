//! Which columns are features, and why others are not.

use std::collections::HashSet;

use super::dates;
use super::label::{DraftedLabel, Reason};
use super::lexicon::{self, Meaning};
use super::names;
use super::profile::{MAX_DISTINCT, Profile};
use super::quoted;
use super::sample::{Sample, SampledCell};
use super::telling::telling;

/// A column that tells the label at least so well, by the area under the ROC curve, is left out.
const LEAK: f64 = 0.98;
/// Rows of each class that show that a column tells the label.
const LEAK_ROWS: usize = 50;
/// Rows that show that two columns say the same, or that numbers identify a row.
const ENOUGH_ROWS: usize = 50;

/// What a column is to the schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Role {
    Label,
    /// A key of `[columns]`.
    Column(&'static str),
    LeftOut(String),
    Feature {
        /// How well it tells the label.
        telling: Option<f64>,
        /// A column that says the same and is left out.
        same_as: Option<usize>,
    },
}

/// The roles of all columns.
pub(super) fn roles(profiles: &[Profile], sample: &Sample, label: Option<&DraftedLabel>) -> Vec<Role> {
    let wanted = label.map(|label| wanted(sample, label));
    let mut roles: Vec<Role> = (0..profiles.len())
        .map(|column| match label {
            Some(label) if label.column == column => Role::Label,
            _ => by_cells(&profiles[column], sample.column(column)),
        })
        .collect();
    keep_one_id(profiles, &mut roles);
    leave_out_duplicates(profiles, sample, &mut roles);
    if let (Some(label), Some(wanted)) = (label, &wanted) {
        let is_sure = !matches!(label.why_column, Reason::Guess(_));
        let rows = [true, false].map(|class| wanted.iter().filter(|wanted| **wanted == Some(class)).count());
        let can_leak = is_sure && rows.iter().all(|rows| *rows >= LEAK_ROWS);
        for (column, role) in roles.iter_mut().enumerate() {
            let Role::Feature { telling: told, .. } = role else { continue };
            let area = telling(&sample.codes(column), wanted);
            *told = Some(area);
            if can_leak && area >= LEAK {
                let name = quoted(&profiles[label.column].name);
                let why = format!(
                    "it alone nearly tells {name} (AUC {area:.3}), as what is known only afterwards does"
                );
                *role = Role::LeftOut(why);
            }
        }
    }
    roles
}

/// Whether each sampled row has the favourable class; `None` where the label is missing.
fn wanted(sample: &Sample, label: &DraftedLabel) -> Vec<Option<bool>> {
    let cells = sample.column(label.column).iter();
    cells.map(|cell| (*cell != SampledCell::Missing).then(|| label.wants(cell))).collect()
}

fn by_cells(profile: &Profile, cells: &[SampledCell]) -> Role {
    let left_out = |why: &str| Role::LeftOut(why.to_string());
    match profile.name.to_lowercase().as_str() {
        "fold" => return Role::Column("fold"),
        "subtest" => return Role::Column("subtest"),
        _ => {}
    }
    match profile.distinct() {
        0 => return left_out("no value in any row"),
        1 => return left_out("the same value in every row"),
        _ => {}
    }
    if identifies(profile, cells) {
        return Role::Column("id");
    }
    if dates::is_date(profile) {
        return left_out("a date; the time since then, in months, could be a feature");
    }
    if profile.is_free_text() {
        return Role::LeftOut(format!("text with more than {MAX_DISTINCT} different values"));
    }
    if profile.name.trim().is_empty() {
        return left_out("it has no name");
    }
    Role::Feature { telling: None, same_as: None }
}

/// Whether the column is the name or the number of a row.
fn identifies(profile: &Profile, cells: &[SampledCell]) -> bool {
    if profile.is_counting() {
        return true;
    }
    let known: Vec<(u8, u64)> =
        cells.iter().map(|cell| cell.key()).filter(|key| *key != SampledCell::Missing.key()).collect();
    let distinct: HashSet<&(u8, u64)> = known.iter().collect();
    if distinct.len() * 20 < known.len() * 19 {
        return false;
    }
    let is_named = profile.words.is_empty() || names::has_any(&profile.words, lexicon::ID);
    let is_unique = distinct.len() == known.len() && known.len() >= ENOUGH_ROWS;
    is_named || is_unique && (profile.is_free_text() || is_like_ids(profile, known.len()))
}

/// Whether different whole numbers are like ids: close together, or all of the same length.
fn is_like_ids(profile: &Profile, rows: usize) -> bool {
    let digits = |number: f64| number.abs().max(1.0).log10().floor();
    profile.is_of_numbers()
        && profile.whole
        && profile.low >= 0.0
        && lexicon::entry(&profile.words).is_none()
        && (profile.high - profile.low < 2.0 * rows as f64
            || profile.low >= 1e5 && digits(profile.low) == digits(profile.high))
}

/// The first column that identifies a row, one with a name for it if there is one, is the id.
fn keep_one_id(profiles: &[Profile], roles: &mut [Role]) {
    let ids: Vec<usize> = (0..roles.len()).filter(|column| roles[*column] == Role::Column("id")).collect();
    let is_named = |column: &&usize| names::has_any(&profiles[**column].words, "id, uuid, guid, key");
    let kept = ids.iter().find(is_named).or(ids.first());
    for column in ids.iter().filter(|column| Some(*column) != kept) {
        roles[*column] = Role::LeftOut("it identifies the row; another column does so already".to_string());
    }
    for key in ["fold", "subtest"] {
        for column in
            (0..roles.len()).filter(|column| roles[*column] == Role::Column(key)).skip(1).collect::<Vec<_>>()
        {
            roles[column] = Role::LeftOut("another column has this role".to_string());
        }
    }
}

/// Of two columns that say the same, the first is left, or the one with numbers.
fn leave_out_duplicates(profiles: &[Profile], sample: &Sample, roles: &mut [Role]) {
    if sample.rows() < ENOUGH_ROWS {
        return;
    }
    let is_feature = |role: &Role| matches!(role, Role::Feature { .. } | Role::Label);
    let columns: Vec<usize> = (0..roles.len()).filter(|column| is_feature(&roles[*column])).collect();
    let partitions: Vec<Vec<usize>> =
        columns.iter().map(|column| by_appearance(sample.column(*column))).collect();
    for later in 1..columns.len() {
        let same = (0..later).filter(|earlier| is_feature(&roles[columns[*earlier]])).find(|earlier| {
            let says_same = partitions[*earlier] == partitions[later];
            // Columns without equal cells all part the rows alike: only copies of one another say the same.
            let copies = || {
                let cells = |column: usize| sample.column(columns[column]).iter().map(|cell| cell.key());
                cells(*earlier).eq(cells(later))
            };
            says_same && (has_equal(&partitions[later]) || copies())
        });
        let Some(earlier) = same else { continue };
        let (first, second) = (columns[earlier], columns[later]);
        let has_order = |column: usize| profiles[column].is_of_numbers();
        let keeps_second = roles[second] == Role::Label
            || roles[first] != Role::Label && has_order(second) && !has_order(first);
        let (kept, left) = if keeps_second { (second, first) } else { (first, second) };
        roles[left] = Role::LeftOut(format!("it says the same as {}", quoted(&profiles[kept].name)));
        if let Role::Feature { same_as, .. } = &mut roles[kept]
            && is_closed(&profiles[left])
        {
            *same_as = Some(left);
        }
    }
}

/// Whether the name says that nobody can change it.
fn is_closed(profile: &Profile) -> bool {
    let meaning = lexicon::entry(&profile.words).map(|entry| entry.meaning);
    matches!(meaning, Some(Meaning::Protected | Meaning::Never | Meaning::Clock))
}

/// Whether two rows of a partition are in the same part.
fn has_equal(partition: &[usize]) -> bool {
    partition.iter().enumerate().any(|(row, part)| *part < row)
}

/// Values numbered in the order in which they first appear: equal for columns that differ only in spelling.
fn by_appearance(cells: &[SampledCell]) -> Vec<usize> {
    let mut numbers = std::collections::HashMap::new();
    cells
        .iter()
        .map(|cell| {
            let next = numbers.len();
            *numbers.entry(cell.key()).or_insert(next)
        })
        .collect()
}
