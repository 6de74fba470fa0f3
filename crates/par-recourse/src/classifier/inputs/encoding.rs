//! From cells to the places of a network's inputs.

use par_data::discretizer::CategoryIndex;
use par_data::schema::{Kind, parse_number};
use par_data::{CellError, Code, Discretizer, Domain, Feature, Schema};
use par_onnx::{Input, InputKind, Value};

use super::Entry;
use super::column::{Column, Form, Plain};
use super::error::{ColumnProblem, InputsError};
use super::moments::number;

/// The way from cells to the places of a network's inputs. The places of all inputs stand in one line, in the
/// order of the network.
#[derive(Clone, Debug)]
pub struct Encoding {
    schema: Schema,
    widths: Vec<usize>,
    columns: Vec<EncodedColumn>,
    places: Vec<Place>,
}

/// One place: of which column, and the how manieth of it.
#[derive(Clone, Copy, Debug)]
struct Place {
    column: usize,
    offset: usize,
}

/// A column that fits the schema and its tensor.
#[derive(Clone, Debug)]
struct EncodedColumn {
    input: String,
    /// Among the columns of the input, from 1.
    position: usize,
    form: &'static str,
    feature: usize,
    encoder: Encoder,
    /// Absent where the feature cannot be missing and nothing is said of it.
    missing: Option<Missing>,
    /// Whether the tensor holds whole numbers, which cut off fractions.
    whole: bool,
}

#[derive(Clone, Debug)]
enum Encoder {
    /// (x − shift) / divide.
    Scale {
        shift: f64,
        divide: f64,
    },
    /// One for the category of code 0, zero for all others.
    ZeroOne(CategoryIndex),
    /// One where the code is the offset of the place, zero elsewhere.
    OneHot(CategoryIndex, Vec<String>),
    /// The code.
    Label(CategoryIndex, Vec<String>),
    Text,
}

/// What a missing cell is.
#[derive(Clone, Debug)]
enum Missing {
    /// At every place.
    Number(f32),
    Category(Code),
    Text(String),
}

impl Encoding {
    pub(super) fn new(entries: &[Entry], schema: &Schema, inputs: &[Input]) -> Result<Self, InputsError> {
        for (position, entry) in entries.iter().enumerate() {
            if !inputs.iter().any(|input| input.name == entry.name) {
                let known = inputs.iter().map(|input| input.name.clone()).collect();
                return Err(InputsError::UnknownInput { found: entry.name.clone(), known });
            }
            if entries[..position].iter().any(|earlier| earlier.name == entry.name) {
                return Err(InputsError::RepeatedInput { name: entry.name.clone() });
            }
        }
        let mut encoding =
            Self { schema: schema.clone(), widths: Vec::new(), columns: Vec::new(), places: Vec::new() };
        for input in inputs {
            let entry = entries
                .iter()
                .find(|entry| entry.name == input.name)
                .ok_or_else(|| InputsError::AbsentInput { name: input.name.clone() })?;
            encoding.add(entry, input)?;
        }
        Ok(encoding)
    }

    fn add(&mut self, entry: &Entry, input: &Input) -> Result<(), InputsError> {
        let name = || input.name.clone();
        if entry.columns.is_empty() {
            return Err(InputsError::NoColumns { name: name() });
        }
        for (column, position) in entry.columns.iter().zip(1..) {
            let encoded = EncodedColumn::new(column, &self.schema, input, position).map_err(|problem| {
                InputsError::Column { input: name(), position, problem: Box::new(problem) }
            })?;
            let column_number = self.columns.len();
            self.columns.push(encoded);
            self.places.extend((0..column.places()).map(|offset| Place { column: column_number, offset }));
        }
        let columns: Vec<(String, usize)> =
            entry.columns.iter().map(|column| (column.feature.clone(), column.places())).collect();
        let found = columns.iter().map(|(_, places)| places).sum();
        if let Some(expected) = input.width.filter(|width| *width != found) {
            return Err(InputsError::Width { name: name(), expected, found, columns });
        }
        self.widths.push(found);
        Ok(())
    }

    /// How many places each input has, in the order of the network.
    pub fn widths(&self) -> Vec<usize> {
        self.widths.clone()
    }

    /// How many places there are, those of all inputs together.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the network has no inputs.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The feature that a place looks at.
    ///
    /// # Panics
    /// When there is no such place.
    pub fn feature(&self, place: usize) -> usize {
        self.columns[self.places[place].column].feature
    }

    /// What stands at a place when the cell of its feature is this one.
    ///
    /// # Errors
    /// When the cell is missing and must not be, is no number where one is needed, or is a category that is not
    /// listed and cannot be unknown.
    ///
    /// # Panics
    /// When there is no such place.
    pub fn value<'a>(&'a self, place: usize, cell: &'a str) -> Result<Value<'a>, CellError> {
        let Place { column, offset } = self.places[place];
        let column = &self.columns[column];
        column.value(&self.schema, offset, cell)
    }

    /// What stands at a place when the cell of its feature is missing; `None` when it must not be.
    ///
    /// # Panics
    /// When there is no such place.
    pub fn missing(&self, place: usize) -> Option<Value<'_>> {
        let Place { column, offset } = self.places[place];
        let column = &self.columns[column];
        column.missing_value(&self.schema.features()[column.feature], offset).ok()
    }

    /// Checks that everything which the training rows hold can be turned into values.
    ///
    /// # Errors
    /// When a category is not listed, is no number where one is needed, or when categories were made into bins.
    pub fn check(&self, discretizer: &Discretizer) -> Result<(), InputsError> {
        for column in &self.columns {
            column.check(&self.schema, &discretizer.domains()[column.feature]).map_err(|problem| {
                InputsError::Column {
                    input: column.input.clone(),
                    position: column.position,
                    problem: Box::new(problem),
                }
            })?;
        }
        Ok(())
    }

    /// The features that the classifier does not look at.
    pub fn unused(&self, schema: &Schema) -> Vec<usize> {
        let is_used = |feature: &usize| self.columns.iter().any(|column| column.feature == *feature);
        (0..schema.features().len()).filter(|feature| !is_used(feature)).collect()
    }
}

impl EncodedColumn {
    fn new(column: &Column, schema: &Schema, input: &Input, position: usize) -> Result<Self, ColumnProblem> {
        let features = schema.features();
        let at = features.iter().position(|feature| feature.name == column.feature).ok_or_else(|| {
            ColumnProblem::UnknownFeature {
                found: column.feature.clone(),
                known: features.iter().map(|feature| feature.name.clone()).collect(),
            }
        })?;
        let feature = &features[at];
        check_tensor(column, input.kind)?;
        let encoder = Encoder::new(column, feature)?;
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

    fn value<'a>(&'a self, schema: &'a Schema, offset: usize, cell: &'a str) -> Result<Value<'a>, CellError> {
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
            Encoder::Text => return Ok(Value::Text(text)),
            Encoder::Scale { shift, divide } => {
                return self.scaled(feature, cell, *shift, *divide).map(Value::Number);
            }
            Encoder::ZeroOne(index) => return Ok(zero_or_one(category(index)? == Some(0))),
            Encoder::OneHot(index, _) | Encoder::Label(index, _) => category(index)?,
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

    fn missing_value(&self, feature: &Feature, offset: usize) -> Result<Value<'_>, CellError> {
        match &self.missing {
            Some(Missing::Number(number)) => Ok(Value::Number(*number)),
            Some(Missing::Text(text)) => Ok(Value::Text(text)),
            Some(Missing::Category(code)) => Ok(self.place_of(*code, offset)),
            None => Err(CellError::Missing { column: feature.name.clone() }),
        }
    }

    /// What stands at a place for a listed category.
    fn place_of(&self, code: Code, offset: usize) -> Value<'static> {
        match self.encoder {
            Encoder::Label(..) => Value::Number(f32::from(code)),
            _ => zero_or_one(usize::from(code) == offset),
        }
    }

    fn scaled(&self, feature: &Feature, cell: &str, shift: f64, divide: f64) -> Result<f32, CellError> {
        let scaled = (number(feature, cell)? - shift) / divide;
        let scaled = (if self.whole { scaled.trunc() } else { scaled }) as f32;
        if scaled.is_finite() {
            Ok(scaled)
        } else {
            Err(CellError::NotANumber { column: feature.name.clone(), found: cell.to_string() })
        }
    }

    fn check(&self, schema: &Schema, domain: &Domain) -> Result<(), ColumnProblem> {
        let feature = &schema.features()[self.feature];
        let numbers: Vec<f64> = match domain {
            Domain::Categories { values, .. } => {
                return values.iter().try_for_each(|value| self.refuse_uncovered(schema, value));
            }
            Domain::Values { values, .. } => values.clone(),
            Domain::Bins { edges, medians, .. } => [&edges[..], medians].concat(),
        };
        let is_in_bins = matches!(domain, Domain::Bins { .. });
        if is_in_bins && !matches!(self.encoder, Encoder::Scale { .. } | Encoder::Text) {
            let (feature, form) = (feature.name.clone(), self.form);
            return Err(ColumnProblem::NotCategories { feature, kind: "divided into bins", form });
        }
        numbers.iter().try_for_each(|number| self.refuse_uncovered(schema, &number.to_string()))
    }

    /// Refuses a category, or a number, for which nothing can stand at the places.
    fn refuse_uncovered(&self, schema: &Schema, value: &str) -> Result<(), ColumnProblem> {
        let own = &schema.features()[self.feature];
        let (feature, form, found) = (own.name.clone(), self.form, value.to_string());
        match &self.encoder {
            Encoder::Scale { shift, divide } => match self.scaled(own, value, *shift, *divide) {
                Ok(_) => Ok(()),
                Err(_) if parse_number(value).is_some() => Err(ColumnProblem::TooLarge { feature, found }),
                Err(_) => Err(ColumnProblem::NotNumeric { feature, form, found }),
            },
            Encoder::OneHot(index, listed) | Encoder::Label(index, listed) if index.code(value).is_none() => {
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
            "\nhint: pass it as `number`, `one-hot`, `zero-one` or `label`, as the network was trained",
        ),
        InputKind::Integer if matches!(column.form, Form::Scale { .. } | Form::Standardize { .. }) => {
            refuse("fractions", "whole numbers", "\nhint: pass it as `number`")
        }
        _ => Ok(()),
    }
}

impl Encoder {
    fn new(column: &Column, feature: &Feature) -> Result<Self, ColumnProblem> {
        let name = || column.feature.clone();
        let is_categorical =
            matches!(column.form, Form::ZeroOne { .. } | Form::OneHot { .. } | Form::Label { .. });
        if is_categorical && feature.kind == Kind::Continuous {
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
                // With the other categories in the index, `2.0` is not taken for `2` where both are listed.
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
            Form::Text => Self::Text,
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
        encoder: &Encoder,
        kind: InputKind,
    ) -> Result<Option<Self>, ColumnProblem> {
        let name = || column.feature.clone();
        let Some(filler) = &column.missing else {
            let unsaid = |example| Err(ColumnProblem::MissingUnsaid { feature: name(), example });
            return match encoder {
                Encoder::OneHot(..) => Ok(Some(Self::Number(0.0))),
                _ if !feature.missing => Ok(None),
                Encoder::Text => unsaid("\"nan\""),
                Encoder::ZeroOne(_) => unsaid("0"),
                _ if kind == InputKind::Integer => unsaid("-1"),
                Encoder::Scale { .. } | Encoder::Label(..) => unsaid("\"nan\""),
            };
        };
        let refuse = |expected| {
            Err(ColumnProblem::MissingKind { feature: name(), found: filler.to_string(), expected })
        };
        match (encoder, filler) {
            (Encoder::Text, Plain::Text(text)) => return Ok(Some(Self::Text(text.clone()))),
            (Encoder::Text, Plain::Number(_)) => return refuse("a text"),
            (Encoder::OneHot(index, _) | Encoder::Label(index, _), Plain::Text(text)) => {
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
            (Plain::Number(number), Encoder::Scale { shift, divide }) => (number - shift) / divide,
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
