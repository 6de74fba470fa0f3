//! Turns the cells of a column into numbers or texts.

use par_data::discretizer::CategoryIndex;
use par_data::schema::{FeatureKind, parse_number};
use par_data::{CellError, Code, Domain, Feature, Schema};
use par_onnx::{Input, InputKind, Value};

use super::column::{Column, Form, Plain};
use super::error::ColumnProblem;
use super::moments::number;

/// A column that fits the schema and its tensor.
#[derive(Clone, Debug)]
pub(super) struct EncodedColumn {
    pub(super) input: String,
    /// Its position among the columns of the input, from 1.
    pub(super) position: usize,
    pub(super) feature: usize,
    form: &'static str,
    encoder: CellEncoder,
    /// `None` if the column has no `missing` and needs none.
    missing: Option<Missing>,
    /// Whether the tensor holds whole numbers, which cut off fractions.
    whole: bool,
}

#[derive(Clone, Debug)]
enum CellEncoder {
    /// (x − shift) / divide.
    Scale { shift: f64, divide: f64 },
    /// 1 for the category of code 0, 0 for all others.
    ZeroOne(CategoryIndex),
    /// 1 where the code is the offset of the place, 0 elsewhere.
    OneHot(CategoryIndex, Vec<String>),
    /// The code.
    Label(CategoryIndex, Vec<String>),
    /// What the classifier tells apart, or a category as it is listed, however the cell writes it; any other cell as it is.
    Text { known: Texts, categories: Texts },
}

/// Texts, found by a cell that is the same, or the same number or truth value.
#[derive(Clone, Debug, Default)]
struct Texts(CategoryIndex, Vec<String>);

impl Texts {
    fn new(texts: &[String]) -> Self {
        Self(CategoryIndex::new(texts), texts.to_vec())
    }

    fn find(&self, cell: &str) -> Option<&str> {
        self.0.code(cell).map(|code| self.1[usize::from(code)].as_str())
    }
}

/// The value of a missing cell.
#[derive(Clone, Debug)]
enum Missing {
    /// At every place.
    Number(f32),
    Category(Code),
    Text(String),
}

impl EncodedColumn {
    pub(super) fn new(
        column: &Column,
        schema: &Schema,
        input: &Input,
        position: usize,
    ) -> Result<Self, ColumnProblem> {
        let features = schema.features();
        let at = features.iter().position(|feature| feature.name == column.feature).ok_or_else(|| {
            ColumnProblem::UnknownFeature {
                found: column.feature.clone(),
                known: features.iter().map(|feature| feature.name.clone()).collect(),
            }
        })?;
        let feature = &features[at];
        check_tensor(column, input.kind)?;
        let encoder = CellEncoder::new(column, feature)?;
        let encoded = Self {
            input: input.name.clone(),
            position,
            form: column.form.name(),
            feature: at,
            missing: Missing::new(column, feature, &encoder, input.kind)?,
            encoder,
            whole: input.kind == InputKind::Integer,
        };
        for value in &feature.values {
            encoded.refuse_uncovered(schema, value)?;
        }
        Ok(encoded)
    }

    pub(super) fn value<'a>(
        &'a self,
        schema: &'a Schema,
        offset: usize,
        cell: &'a str,
    ) -> Result<Value<'a>, CellError> {
        let feature = &schema.features()[self.feature];
        let text = cell.trim();
        if schema.is_missing(feature, text)? {
            return self.missing_value(feature, offset);
        }
        let category = |index: &CategoryIndex| match index.code(text) {
            None if feature.kind.is_numeric() => number(feature, cell).map(|_| None),
            code => Ok(code),
        };
        let code = match &self.encoder {
            CellEncoder::Text { known, categories } => {
                let as_listed = || {
                    let listed = categories.find(text).unwrap_or(text);
                    known.find(listed).unwrap_or(listed)
                };
                return Ok(Value::Text(known.find(text).unwrap_or_else(as_listed)));
            }
            CellEncoder::Scale { shift, divide } => {
                let Some(number) = number(feature, cell)? else {
                    return self.missing_value(feature, offset);
                };
                return self.scaled(number, *shift, *divide).map(Value::Number).ok_or_else(|| {
                    CellError::NotANumber { column: feature.name.clone(), found: cell.to_string() }
                });
            }
            CellEncoder::ZeroOne(index) => return Ok(zero_or_one(category(index)? == Some(0))),
            CellEncoder::OneHot(index, _) | CellEncoder::Label(index, _) => category(index)?,
        };
        match code {
            Some(code) => Ok(self.place_of(code, offset)),
            None if feature.missing && !feature.kind.is_numeric() => self.missing_value(feature, offset),
            None => Err(CellError::UnknownCategory {
                column: feature.name.clone(),
                found: cell.to_string(),
                known: self.encoder.listed().to_vec(),
            }),
        }
    }

    /// The factor of a cell's number; `None` for a category.
    pub(super) fn slope(&self) -> Option<f64> {
        match self.encoder {
            CellEncoder::Scale { divide, .. } => Some(1.0 / divide),
            CellEncoder::ZeroOne(_)
            | CellEncoder::OneHot(..)
            | CellEncoder::Label(..)
            | CellEncoder::Text { .. } => None,
        }
    }

    pub(super) fn missing_value(&self, feature: &Feature, offset: usize) -> Result<Value<'_>, CellError> {
        match &self.missing {
            Some(Missing::Number(number)) => Ok(Value::Number(*number)),
            Some(Missing::Text(text)) => Ok(Value::Text(text)),
            Some(Missing::Category(code)) => Ok(self.place_of(*code, offset)),
            None => Err(CellError::Missing { column: feature.name.clone() }),
        }
    }

    /// The value at a place for a listed category.
    fn place_of(&self, code: Code, offset: usize) -> Value<'static> {
        match self.encoder {
            CellEncoder::Label(..) => Value::Number(f32::from(code)),
            _ => zero_or_one(usize::from(code) == offset),
        }
    }

    /// The scaled number, if it is finite in single precision before and after.
    fn scaled(&self, number: f64, shift: f64, divide: f64) -> Option<f32> {
        let scaled = (number - shift) / divide;
        let scaled = (if self.whole { scaled.trunc() } else { scaled }) as f32;
        (scaled.is_finite() && (number as f32).is_finite()).then_some(scaled)
    }

    /// Learns which texts the classifier tells apart. More than there are codes for would be no categories.
    pub(super) fn know(&mut self, texts: &[String]) {
        if let CellEncoder::Text { known, .. } = &mut self.encoder
            && texts.len() < usize::from(Code::MAX)
        {
            *known = Texts::new(texts);
        }
    }

    /// Learns the categories of the training rows; all their values must have one at the places.
    pub(super) fn learn(&mut self, schema: &Schema, domain: &Domain) -> Result<(), ColumnProblem> {
        let feature = &schema.features()[self.feature];
        let numbers: Vec<f64> = match domain {
            Domain::Categories { values, .. } => {
                if let CellEncoder::Text { categories, .. } = &mut self.encoder {
                    *categories = Texts::new(values);
                }
                return values.iter().try_for_each(|value| self.refuse_uncovered(schema, value));
            }
            Domain::Values { values, .. } => values.clone(),
            Domain::Bins { edges, medians, .. } => [&edges[..], medians].concat(),
        };
        let is_in_bins = matches!(domain, Domain::Bins { .. });
        if is_in_bins && !matches!(self.encoder, CellEncoder::Scale { .. } | CellEncoder::Text { .. }) {
            let (feature, form) = (feature.name.clone(), self.form);
            return Err(ColumnProblem::NotCategories { feature, kind: "divided into bins", form });
        }
        numbers.iter().try_for_each(|number| self.refuse_uncovered(schema, &number.to_string()))
    }

    /// Refuses a category or a number that has no value at the places.
    fn refuse_uncovered(&self, schema: &Schema, value: &str) -> Result<(), ColumnProblem> {
        let feature = schema.features()[self.feature].name.clone();
        let (form, found) = (self.form, value.to_string());
        match &self.encoder {
            CellEncoder::Scale { shift, divide } => match parse_number(value) {
                None => Err(ColumnProblem::NotNumeric { feature, form, found }),
                Some(number) => match self.scaled(number, *shift, *divide) {
                    None => Err(ColumnProblem::TooLarge { feature, found }),
                    Some(_) => Ok(()),
                },
            },
            CellEncoder::OneHot(index, listed) | CellEncoder::Label(index, listed)
                if index.code(value).is_none() =>
            {
                Err(ColumnProblem::Uncovered { feature, form, found, listed: listed.clone() })
            }
            _ => Ok(()),
        }
    }
}

fn zero_or_one(is_one: bool) -> Value<'static> {
    Value::Number(f32::from(u8::from(is_one)))
}

/// Refuses a column whose values the tensor cannot hold.
fn check_tensor(column: &Column, kind: InputKind) -> Result<(), ColumnProblem> {
    let is_text = column.form == Form::Text;
    let refuse = |found, expected, hint| {
        let (feature, form) = (column.feature.clone(), column.form.name());
        Err(ColumnProblem::Kind { feature, form, found, expected, hint })
    };
    match kind {
        InputKind::Text if !is_text => refuse("numbers", "texts", "\nhint: pass it as `text`"),
        InputKind::Number | InputKind::Integer if is_text => refuse(
            "texts",
            "numbers",
            "\nhint: pass it as `number`, `one-hot`, `zero-one` or `label`, as the classifier was trained",
        ),
        InputKind::Integer if matches!(column.form, Form::Scale { .. } | Form::Standardize { .. }) => {
            refuse("fractions", "whole numbers", "\nhint: pass it as `number`")
        }
        _ => Ok(()),
    }
}

impl CellEncoder {
    fn new(column: &Column, feature: &Feature) -> Result<Self, ColumnProblem> {
        let name = || column.feature.clone();
        let is_categorical =
            matches!(column.form, Form::ZeroOne { .. } | Form::OneHot { .. } | Form::Label { .. });
        if is_categorical && feature.kind == FeatureKind::Continuous {
            let (kind, form) = (feature.kind.name(), column.form.name());
            return Err(ColumnProblem::NotCategories { feature: name(), kind, form });
        }
        Ok(match &column.form {
            Form::Number => Self::Scale { shift: 0.0, divide: 1.0 },
            Form::Scale { shift, divide } => Self::Scale { shift: *shift, divide: *divide },
            Form::Standardize { mean: Some(mean), deviation: Some(deviation) } => {
                Self::Scale { shift: *mean, divide: *deviation }
            }
            Form::Standardize { .. } => return Err(ColumnProblem::NeedsRows { feature: name() }),
            Form::ZeroOne { one } => {
                // The index holds the other categories too, so that `2.0` does not count as `2` if both exist.
                let others = feature.values.iter().filter(|value| *value != one);
                let index =
                    CategoryIndex::new(&std::iter::once(one).chain(others).cloned().collect::<Vec<_>>());
                let is_known = CategoryIndex::new(&feature.values).code(one).is_some();
                if !feature.values.is_empty() && !is_known {
                    let (found, known) = (one.clone(), feature.values.clone());
                    return Err(ColumnProblem::NotAValue { feature: name(), key: "one", found, known });
                }
                Self::ZeroOne(index)
            }
            Form::OneHot { values, zeros } => {
                let listed = [&values[..], zeros].concat();
                Self::OneHot(CategoryIndex::new(&listed), listed)
            }
            Form::Label { values } => Self::Label(CategoryIndex::new(values), values.clone()),
            Form::Text => Self::Text { known: Texts::default(), categories: Texts::new(&feature.values) },
        })
    }

    /// The categories that the file lists.
    fn listed(&self) -> &[String] {
        match self {
            Self::OneHot(_, listed) | Self::Label(_, listed) => listed,
            _ => &[],
        }
    }
}

impl Missing {
    fn new(
        column: &Column,
        feature: &Feature,
        encoder: &CellEncoder,
        kind: InputKind,
    ) -> Result<Option<Self>, ColumnProblem> {
        let name = || column.feature.clone();
        let Some(filler) = &column.missing else {
            let unsaid = |example| Err(ColumnProblem::MissingUnsaid { feature: name(), example });
            return match encoder {
                CellEncoder::OneHot(..) => Ok(Some(Self::Number(0.0))),
                _ if !feature.missing => Ok(None),
                CellEncoder::Text { .. } => unsaid("\"nan\""),
                CellEncoder::ZeroOne(_) => unsaid("0"),
                _ if kind == InputKind::Integer => unsaid("-1"),
                CellEncoder::Scale { .. } | CellEncoder::Label(..) => unsaid("\"nan\""),
            };
        };
        let refuse = |expected| {
            Err(ColumnProblem::MissingKind { feature: name(), found: filler.to_string(), expected })
        };
        match (encoder, filler) {
            (CellEncoder::Text { .. }, Plain::Text(text)) => return Ok(Some(Self::Text(text.clone()))),
            (CellEncoder::Text { .. }, Plain::Number(_)) => return refuse("a text"),
            (CellEncoder::OneHot(index, _) | CellEncoder::Label(index, _), Plain::Text(text)) => {
                if let Some(code) = index.code(text.trim()) {
                    return Ok(Some(Self::Category(code)));
                }
                if !filler.is_nan() {
                    let (found, known) = (text.clone(), encoder.listed().to_vec());
                    return Err(ColumnProblem::NotAValue { feature: name(), key: "missing", found, known });
                }
            }
            _ => {}
        }
        let number = match (filler, encoder) {
            (Plain::Number(number), CellEncoder::Scale { shift, divide }) => (number - shift) / divide,
            (Plain::Number(number), _) => *number,
            (Plain::Text(_), _) if filler.is_nan() => f64::NAN,
            (Plain::Text(_), _) => return refuse("a number or `nan`"),
        };
        if kind == InputKind::Integer && number.fract() != 0.0 {
            return refuse("a whole number, since the input holds whole numbers");
        }
        if (number as f32).is_infinite() {
            return Err(ColumnProblem::TooLarge { feature: name(), found: filler.to_string() });
        }
        Ok(Some(Self::Number(number as f32)))
    }
}
