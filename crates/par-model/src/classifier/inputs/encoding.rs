//! Turns cells into the inputs of a classifier.

use std::collections::BTreeSet;

use par_data::{CellError, Discretizer, Schema};
use par_onnx::{Input, Source, Value};

use super::Entry;
use super::encoder::EncodedColumn;
use super::error::InputsError;

/// Turns cells into the places of a classifier's inputs. The places of all inputs are numbered consecutively, in the
/// order of the classifier.
#[derive(Clone, Debug)]
pub struct Encoding {
    schema: Schema,
    widths: Vec<usize>,
    columns: Vec<EncodedColumn>,
    places: Vec<Place>,
}

/// One place: its column, and its offset among the column's places.
#[derive(Clone, Copy, Debug)]
struct Place {
    column: usize,
    offset: usize,
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

    /// How many places each input has, in the order of the classifier.
    pub fn widths(&self) -> Vec<usize> {
        self.widths.clone()
    }

    /// How many places there are, those of all inputs together.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the classifier has no inputs.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The feature that a place reads.
    ///
    /// # Panics
    /// When there is no such place.
    pub fn feature(&self, place: usize) -> usize {
        self.columns[self.places[place].column].feature
    }

    /// The value at a place for a cell of its feature.
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

    /// The value at a place for a missing cell; `None` if the feature must not be missing.
    ///
    /// # Panics
    /// When there is no such place.
    pub fn missing(&self, place: usize) -> Option<Value<'_>> {
        let Place { column, offset } = self.places[place];
        let column = &self.columns[column];
        let feature = &self.schema.features()[column.feature];
        if feature.missing { column.missing_value(feature, offset).ok() } else { None }
    }

    /// The factor of a cell's number at a place; `None` where a place holds a category.
    ///
    /// # Panics
    /// When there is no such place.
    pub fn slope(&self, place: usize) -> Option<f64> {
        self.columns[self.places[place].column].slope()
    }

    /// The same for the values of the training rows: a category is passed as they have it.
    ///
    /// # Errors
    /// When a category is not listed, is no number where one is needed, or a feature in bins is passed as categories.
    pub fn of_rows(mut self, discretizer: &Discretizer) -> Result<Self, InputsError> {
        for column in &mut self.columns {
            column.learn(&self.schema, &discretizer.domains()[column.feature]).map_err(|problem| {
                InputsError::Column {
                    input: column.input.clone(),
                    position: column.position,
                    problem: Box::new(problem),
                }
            })?;
        }
        Ok(self)
    }

    /// The same for a classifier with these sources: a text is passed as it tells it apart.
    #[must_use]
    pub fn of_sources(mut self, sources: &[Source]) -> Self {
        let mut texts = vec![BTreeSet::new(); self.columns.len()];
        for source in sources {
            texts[self.places[source.input].column].extend(source.texts().map(String::from));
        }
        for (column, texts) in self.columns.iter_mut().zip(texts) {
            column.know(&texts.into_iter().collect::<Vec<_>>());
        }
        self
    }

    /// The features that the classifier does not read.
    pub fn unused(&self, schema: &Schema) -> Vec<usize> {
        let is_used = |feature: &usize| self.columns.iter().any(|column| column.feature == *feature);
        (0..schema.features().len()).filter(|feature| !is_used(feature)).collect()
    }
}
