//! The tidy table as record batches: the columns of the facts, then one for every feature, in the type it came in
//! where all that it can become has that type.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema, SchemaRef};
use arrow_select::take::take;
use par_data::{Columns, Domain};
use par_recourse::Bundle;
use par_recourse::desk::{self, Line, Person};

/// The columns before those of the features. How long an answer took is not among them: it is never the same twice.
const FACTS: [(&str, DataType); 11] = [
    ("rank", DataType::Int64),
    ("status", DataType::Utf8),
    ("reason", DataType::Utf8),
    ("probability", DataType::Float64),
    ("log_likelihood", DataType::Float64),
    ("percentile", DataType::Float64),
    ("changes", DataType::Int64),
    ("similarity", DataType::Float64),
    ("method", DataType::Utf8),
    ("optimal", DataType::Boolean),
    ("gap", DataType::Float64),
];

/// The shape of the tidy table for tables of one shape.
pub(crate) struct Frame {
    schema: SchemaRef,
    /// The column that names the rows; they are counted from 0 without it.
    id: Option<usize>,
}

impl Frame {
    pub(crate) fn new(bundle: &Bundle, columns: &Columns, id: Option<usize>, rows: &ArrowSchema) -> Self {
        let id_type = id.map_or(DataType::Int64, |column| rows.field(column).data_type().clone());
        let mut fields = vec![Field::new("id", id_type, true)];
        fields.extend(FACTS.map(|(name, data_type)| Field::new(name, data_type, true)));
        let names = desk::names(bundle.schema());
        let names = names.iter().skip(desk::COLUMNS.len());
        for ((name, &column), domain) in names.zip(&columns.features).zip(bundle.discretizer().domains()) {
            fields.push(Field::new(name, kept_type(rows.field(column).data_type(), domain), true));
        }
        Self { schema: Arc::new(ArrowSchema::new(fields)), id }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The lines of some people: the rows of `rows` from `first` on, which is row `first + before` of its table.
    pub(crate) fn lines(
        &self,
        bundle: &Bundle,
        rows: &RecordBatch,
        first: usize,
        before: u64,
        people: &[Person<'_>],
    ) -> Result<RecordBatch, ArrowError> {
        let lines: Vec<(u64, Line<'_>)> = (first as u64..)
            .zip(people)
            .flat_map(|(row, person)| {
                Line::of(bundle.schema(), person).into_iter().map(move |line| (row, line))
            })
            .collect();
        let positions = UInt64Array::from_iter_values(lines.iter().map(|(row, _)| *row));
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        columns.push(match self.id {
            Some(column) => take(rows.column(column), &positions, None)?,
            None => {
                let numbers = positions.values().iter().map(|row| (row + before) as i64);
                Arc::new(arrow_array::Int64Array::from_iter_values(numbers))
            }
        });
        let facts = FACTS.len();
        for (position, field) in self.schema.fields().iter().skip(1).enumerate() {
            columns.push(match position.checked_sub(facts) {
                None => fact(position, lines.iter().map(|(_, line)| line)),
                Some(feature) => {
                    let cells = lines.iter().map(|(_, line)| line.cell(feature));
                    typed(field.data_type(), cells)?
                }
            });
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

/// The type of a feature's column, given that of the table's.
fn kept_type(given: &DataType, domain: &Domain) -> DataType {
    let all = |fits: fn(&str) -> bool| match domain {
        Domain::Categories { values, .. } => values.iter().all(|value| fits(value)),
        Domain::Values { .. } | Domain::Bins { .. } => false,
    };
    let is_number = domain.summary().is_some() || all(|value| value.parse::<f64>().is_ok());
    let is_whole = domain.summary().is_some_and(|summary| summary.decimals == 0)
        || all(|value| value.parse::<i64>().is_ok());
    match given {
        DataType::Dictionary(_, values) => kept_type(values, domain),
        DataType::Boolean if all(|value| truth(value).is_some()) => DataType::Boolean,
        given if given.is_integer() && is_whole => DataType::Int64,
        given if given.is_numeric() && is_number => DataType::Float64,
        DataType::Boolean | DataType::Null if is_number => DataType::Float64,
        _ => DataType::Utf8,
    }
}

fn truth(text: &str) -> Option<bool> {
    [("false", false), ("true", true), ("0", false), ("1", true)]
        .into_iter()
        .find_map(|(name, truth)| text.trim().eq_ignore_ascii_case(name).then_some(truth))
}

/// A column of facts, by its place in [`FACTS`].
fn fact<'a>(position: usize, lines: impl Iterator<Item = &'a Line<'a>>) -> ArrayRef {
    let count = |count: Option<usize>| count.map(|count| count as i64);
    let text =
        |text: fn(&Line<'_>) -> Option<String>, lines: &mut dyn Iterator<Item = &'a Line<'a>>| -> ArrayRef {
            let mut builder = StringBuilder::new();
            lines.for_each(|line| builder.append_option(text(line)));
            Arc::new(builder.finish())
        };
    let number = |number: fn(&Line<'_>) -> Option<f64>,
                  lines: &mut dyn Iterator<Item = &'a Line<'a>>|
     -> ArrayRef { Arc::new(lines.map(number).collect::<arrow_array::Float64Array>()) };
    let mut lines = lines;
    match FACTS[position].0 {
        "rank" => Arc::new(lines.map(|line| count(line.rank)).collect::<arrow_array::Int64Array>()),
        "status" => text(|line| Some(line.person.status().to_string()), &mut lines),
        "reason" => text(|line| line.reason.clone(), &mut lines),
        "probability" => number(|line| line.probability, &mut lines),
        "log_likelihood" => number(|line| line.way.map(|way| way.log_likelihood), &mut lines),
        "percentile" => number(|line| line.way.map(|way| way.percentile), &mut lines),
        "changes" => Arc::new(
            lines
                .map(|line| count(line.way.map(|way| way.changes.len())))
                .collect::<arrow_array::Int64Array>(),
        ),
        "similarity" => number(|line| line.way.map(|way| way.similarity), &mut lines),
        "method" => text(|line| line.way.map(|way| way.method.name().to_string()), &mut lines),
        "optimal" => Arc::new(lines.map(Line::optimal).collect::<arrow_array::BooleanArray>()),
        _ => number(|line| line.way.and_then(|way| way.gap), &mut lines),
    }
}

/// Cells as a column of a type; what is empty, or does not fit it, is null.
fn typed<'a>(data_type: &DataType, cells: impl Iterator<Item = &'a str>) -> Result<ArrayRef, ArrowError> {
    let cells = cells.map(str::trim).map(|cell| (!cell.is_empty()).then_some(cell));
    Ok(match data_type {
        DataType::Int64 => {
            let mut builder = Int64Builder::new();
            cells.for_each(|cell| builder.append_option(cell.and_then(whole)));
            Arc::new(builder.finish())
        }
        DataType::Float64 => {
            let mut builder = Float64Builder::new();
            cells.for_each(|cell| builder.append_option(cell.and_then(|cell| cell.parse().ok())));
            Arc::new(builder.finish())
        }
        DataType::Boolean => {
            let mut builder = BooleanBuilder::new();
            cells.for_each(|cell| builder.append_option(cell.and_then(truth)));
            Arc::new(builder.finish())
        }
        _ => {
            let mut builder = StringBuilder::new();
            cells.for_each(|cell| builder.append_option(cell));
            Arc::new(builder.finish())
        }
    })
}

fn whole(cell: &str) -> Option<i64> {
    cell.parse().ok().or_else(|| {
        cell.parse::<f64>().ok().filter(|number| number.fract() == 0.0).map(|number| number as i64)
    })
}
