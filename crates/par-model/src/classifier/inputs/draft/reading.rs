//! How features could fill the places of an input.

use par_data::Feature;
use par_data::schema::parse_number;
use par_onnx::InputKind;

use crate::classifier::inputs::column::{Column, Form, Plain};

/// One explanation of a width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    categories: Categories,
    /// Whether categories that are numbers are passed as numbers.
    numbers_pass: bool,
}

/// How categories become numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Categories {
    Label,
    OneHot,
    /// As one-hot, but two values take one place.
    ZeroOne,
    /// As one-hot, but the first value takes no place.
    Dropped,
}

/// The simplest first.
const READINGS: [Reading; 7] = [
    Reading { categories: Categories::Label, numbers_pass: true },
    Reading { categories: Categories::OneHot, numbers_pass: false },
    Reading { categories: Categories::ZeroOne, numbers_pass: false },
    Reading { categories: Categories::Dropped, numbers_pass: false },
    Reading { categories: Categories::OneHot, numbers_pass: true },
    Reading { categories: Categories::ZeroOne, numbers_pass: true },
    Reading { categories: Categories::Dropped, numbers_pass: true },
];

impl Reading {
    pub(super) const ONE_HOT: Self = READINGS[1];

    /// All readings that give the width.
    pub(super) fn of_width(
        features: &[&Feature],
        kind: InputKind,
        width: usize,
    ) -> impl Iterator<Item = Self> {
        READINGS.into_iter().filter(move |reading| {
            let columns = reading.columns(features, kind);
            !columns.is_empty() && columns.iter().map(Column::places).sum::<usize>() == width
        })
    }

    pub(super) fn columns(self, features: &[&Feature], kind: InputKind) -> Vec<Column> {
        features.iter().filter_map(|feature| self.column(feature, kind)).collect()
    }

    /// The reading in words, as far as it concerns the features.
    pub(super) fn words(self, features: &[&Feature]) -> String {
        let categories = match self.categories {
            Categories::Label => "categories as 0, 1, 2 and so on",
            Categories::OneHot => "a place for each category",
            Categories::ZeroOne => "a place for each category, but one place where there are two",
            Categories::Dropped => "a place for each category but the first",
        };
        let pass = self.numbers_pass && features.iter().any(|feature| is_numeric_category(feature));
        format!("{categories}{}", if pass { "; numeric ones as numbers" } else { "" })
    }

    /// Whether some cell is encoded differently in the other reading.
    pub(super) fn differs(self, other: Self, features: &[&Feature], kind: InputKind) -> bool {
        let meaning = |reading: Self, feature: &Feature| {
            reading.column(feature, kind).map(|own| meaning(feature, own.form))
        };
        features.iter().any(|feature| meaning(self, feature) != meaning(other, feature))
    }

    /// `None` if the feature takes no place.
    fn column(self, feature: &Feature, kind: InputKind) -> Option<Column> {
        let values = || feature.values.clone();
        let form = match (kind, self.categories) {
            (InputKind::Text, _) => Form::Text,
            _ if feature.kind.is_numeric() || is_unlisted(feature) => Form::Number,
            _ if self.numbers_pass && is_numeric_category(feature) => Form::Number,
            (_, Categories::Label) => Form::Label { values: values() },
            (_, Categories::ZeroOne) if feature.values.len() == 2 => {
                Form::ZeroOne { one: feature.values[1].clone() }
            }
            (_, Categories::OneHot | Categories::ZeroOne) => {
                Form::OneHot { values: values(), zeros: Vec::new() }
            }
            (_, Categories::Dropped) => match feature.values.split_first() {
                Some((first, others)) if !others.is_empty() => {
                    Form::OneHot { values: others.to_vec(), zeros: vec![first.clone()] }
                }
                _ => return None,
            },
        };
        let filler = match form {
            Form::OneHot { .. } | Form::ZeroOne { .. } => Plain::Number(0.0),
            _ if kind == InputKind::Integer => Plain::Number(-1.0),
            _ => Plain::Text(Plain::NAN.to_string()),
        };
        Some(Column { feature: feature.name.clone(), form, missing: feature.missing.then_some(filler) })
    }
}

/// Whether the schema leaves the categories to the training rows.
pub(super) fn is_unlisted(feature: &Feature) -> bool {
    !feature.kind.is_numeric() && feature.values.is_empty()
}

/// Whether the categories are numbers that single precision holds.
fn is_numeric_category(feature: &Feature) -> bool {
    let is_number =
        |value: &String| parse_number(value).is_some_and(|number| number.abs() <= f64::from(f32::MAX));
    !feature.values.is_empty() && feature.values.iter().all(is_number)
}

/// Maps forms that encode two values the same way to one form.
fn meaning(feature: &Feature, form: Form) -> Form {
    match form {
        Form::Number if feature.values == ["0", "1"] => Form::ZeroOne { one: "1".to_string() },
        Form::Label { values } if values.len() == 2 => Form::ZeroOne { one: values[1].clone() },
        Form::OneHot { values, zeros } if values.len() == 1 && zeros.len() == 1 => {
            Form::ZeroOne { one: values[0].clone() }
        }
        other => other,
    }
}
