//! Which columns a classifier's inputs could hold, by their names and widths.

use std::collections::BTreeMap;

use par_data::schema::quoted;
use par_data::{Feature, Schema};
use par_onnx::{Input, InputKind};

use super::reading::{Reading, is_unlisted};
use crate::classifier::inputs::column::{Column, Form};

/// The columns of one input, and notes on them for the user.
pub(super) struct Plan<'a> {
    pub(super) input: &'a Input,
    pub(super) columns: Vec<Column>,
    pub(super) notes: Vec<String>,
}

/// A plan for each input.
pub(super) fn plans<'a>(schema: &Schema, inputs: &'a [Input]) -> Vec<Plan<'a>> {
    let shares = shares(schema.features(), inputs);
    inputs.iter().zip(shares).map(|(input, share)| plan(input, share)).collect()
}

/// The features that an input holds, and how they were guessed.
struct Share<'a> {
    features: Vec<&'a Feature>,
    note: Option<&'static str>,
}

/// Assigns features to inputs by name, then in order, then by kind; otherwise all to the first.
fn shares<'a>(features: &'a [Feature], inputs: &[Input]) -> Vec<Share<'a>> {
    let named = by_name(features, inputs);
    let is_named = |feature: &&Feature| named.iter().flatten().any(|named| named.name == feature.name);
    let mut left: Vec<&Feature> = features.iter().filter(|feature| !is_named(feature)).collect();
    let unnamed: Vec<usize> = (0..inputs.len()).filter(|&input| named[input].is_none()).collect();
    if left.is_empty() {
        left = features.iter().collect();
    }
    let mut shares: Vec<Share<'_>> = named
        .iter()
        .map(|feature| Share { features: feature.iter().copied().collect(), note: None })
        .collect();

    let is_narrow = |input: &usize| inputs[*input].width.is_none_or(|width| width == 1);
    if unnamed.len() > 1 && unnamed.len() == left.len() && unnamed.iter().all(is_narrow) {
        for (&input, feature) in unnamed.iter().zip(left) {
            let note = "Guess: the inputs are in the order of the schema.";
            shares[input] = Share { features: vec![feature], note: Some(note) };
        }
    } else if let Some([numbers, categories]) = by_kind(&left, inputs, &unnamed) {
        let (numeric, categorical) = left.into_iter().partition(|feature| feature.kind.is_numeric());
        shares[numbers] =
            Share { features: numeric, note: Some("Guess: all numbers, in the order of the schema.") };
        shares[categories] =
            Share { features: categorical, note: Some("Guess: all categories, in the order of the schema.") };
    } else if let Some((&first, others)) = unnamed.split_first() {
        shares[first].features = left;
        for &other in others {
            shares[other].note = Some("Its columns are not known: list them.");
        }
    }
    shares
}

/// The feature of each input's name: the same name, or the only one with the same letters and digits, if the input can
/// hold it. The only input of many features holds all of them, unless it has one place.
fn by_name<'a>(features: &'a [Feature], inputs: &[Input]) -> Vec<Option<&'a Feature>> {
    let plain = |name: &str| -> String {
        name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let mut alike: BTreeMap<String, (Vec<&Feature>, usize)> = BTreeMap::new();
    for feature in features {
        alike.entry(plain(&feature.name)).or_default().0.push(feature);
    }
    for input in inputs {
        alike.entry(plain(&input.name)).or_default().1 += 1;
    }
    let is_for_all = |input: &Input| inputs.len() == 1 && features.len() > 1 && input.width != Some(1);
    let named = |input: &Input| {
        let key = plain(&input.name);
        let (features, inputs) = alike.get(&key)?;
        let exact = features.iter().find(|feature| feature.name == input.name);
        let is_clear = !key.is_empty() && features.len() == 1 && *inputs == 1;
        let found = exact.or_else(|| features.first().filter(|_| is_clear))?;
        reading(&[found], input, input.width.unwrap_or(1)).map(|_| *found)
    };
    inputs.iter().map(|input| if is_for_all(input) { None } else { named(input) }).collect()
}

/// The inputs that hold all numbers and all categories, if exactly two inputs are left.
fn by_kind(features: &[&Feature], inputs: &[Input], unnamed: &[usize]) -> Option<[usize; 2]> {
    let &[first, second] = unnamed else { return None };
    let (numeric, categorical): (Vec<&Feature>, Vec<&Feature>) =
        features.iter().partition(|feature| feature.kind.is_numeric());
    if numeric.is_empty() || categorical.is_empty() {
        return None;
    }
    let fits = |features: &[&Feature], input: &Input| {
        input.width.is_none_or(|width| reading(features, input, width).is_some())
    };
    [[first, second], [second, first]].into_iter().find(|&[numbers, categories]| {
        inputs[numbers].kind != InputKind::Text
            && fits(&numeric, &inputs[numbers])
            && fits(&categorical, &inputs[categories])
    })
}

/// The simplest reading that gives the width.
fn reading(features: &[&Feature], input: &Input, width: usize) -> Option<Reading> {
    Reading::of_width(features, input.kind, width).next()
}

fn plan<'a>(input: &'a Input, share: Share<'_>) -> Plan<'a> {
    let Share { features, note } = share;
    let kind = input.kind;
    let mut notes: Vec<String> = note.map(String::from).into_iter().collect();
    let width = input.width.or((features.len() == 1).then_some(1));
    let found = width.and_then(|width| reading(&features, input, width));
    let columns = found.unwrap_or(Reading::ONE_HOT).columns(&features, kind);
    if let (Some(found), Some(width)) = (found, width) {
        if columns.iter().any(|column| !matches!(column.form, Form::Number | Form::Text)) {
            notes.push(format!("Guess: {}. Check the order of the values.", found.words(&features)));
        }
        let other =
            Reading::of_width(&features, kind, width).find(|other| other.differs(found, &features, kind));
        if let Some(other) = other {
            notes.push(format!("It could also be: {}.", other.words(&features)));
        }
        if features.len() > 1 && note.is_none() {
            notes.push("Guess: the columns are in the order of the schema.".to_string());
        }
    } else if let Some(wanted) = width.filter(|_| !features.is_empty()) {
        let found: usize = columns.iter().map(Column::places).sum();
        notes.push(format!(
            "These columns give {found} places, the input has {wanted}. Correct them, and check their order."
        ));
    } else if !features.is_empty() {
        notes.push(
            "Guess: all features, in the order of the schema. The classifier does not state the width."
                .to_string(),
        );
    }
    for feature in features.iter().filter(|feature| is_unlisted(feature) && kind != InputKind::Text) {
        let name = quoted(&feature.name);
        notes.push(format!(
            "The schema does not list the values of {name}: if they are not numbers, list them here."
        ));
    }
    Plan { input, columns, notes }
}
