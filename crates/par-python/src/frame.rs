//! Answers as record batches: our columns, then one for every feature, in the type of the input table if all values
//! of the feature fit it. Between them, on request, the changes of each way.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef};
use arrow_select::take::take;
use par_answer::Accepting;
use par_answer::table::RowAnswer;
use par_answer::write::{self, Line};
use par_data::schema::same_numbers;
use par_data::{Columns, Domain, Schema};
use par_model::Model;

/// A value of one of our columns.
enum FactColumn {
    Count(fn(&Line<'_>) -> Option<usize>),
    Number(fn(&Line<'_>) -> Option<f64>),
    Text(fn(&Line<'_>) -> Option<String>),
    Truth(fn(&Line<'_>) -> Option<bool>),
}

/// Our columns. The time of an answer is not among them, so that results are reproducible.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is of one lifetime, and a line of any"
)]
const FACTS: [(&str, FactColumn); 20] = [
    ("rank", FactColumn::Count(|line| line.rank)),
    ("status", FactColumn::Text(|line| Some(line.row.status().to_string()))),
    ("reason", FactColumn::Text(|line| line.reason.clone())),
    ("probability", FactColumn::Number(|line| line.probability)),
    ("log_likelihood", FactColumn::Number(|line| line.way.map(|way| way.log_likelihood))),
    (
        "conditional_log_likelihood",
        FactColumn::Number(|line| line.way.map(|way| way.conditional_log_likelihood)),
    ),
    ("percentile", FactColumn::Number(|line| line.way.map(|way| way.percentile))),
    ("changes", FactColumn::Count(|line| line.way.map(|way| way.changes.len()))),
    ("effort", FactColumn::Number(|line| line.way.map(|way| way.effort))),
    ("months", FactColumn::Count(|line| line.way.map(|way| way.months as usize))),
    ("has_margin", FactColumn::Truth(|line| line.way.map(|way| way.has_margin))),
    ("accepting", FactColumn::Number(|line| line.way.and_then(|way| way.accepting).map(Accepting::share))),
    ("certified", FactColumn::Number(|line| line.way.and_then(|way| way.certified))),
    ("similarity", FactColumn::Number(|line| line.way.map(|way| way.similarity))),
    ("method", FactColumn::Text(|line| line.way.map(|way| way.method.name().to_string()))),
    ("solves", FactColumn::Text(|line| line.way.map(|way| way.solves.name().to_string()))),
    ("optimal", FactColumn::Truth(|line| line.optimal())),
    ("gap", FactColumn::Number(|line| line.way.and_then(|way| way.gap))),
    ("best_at", FactColumn::Text(|line| line.best_at())),
    ("warning", FactColumn::Text(|line| line.warning())),
];

/// The column of changes; features are unlikely to have this name.
const CHANGES: &str = "__changes__";

/// What is said of a change. Its values are those of the row and of the way.
static CHANGE: LazyLock<Fields> = LazyLock::new(|| {
    Fields::from(vec![
        Field::new("feature", DataType::Utf8, false),
        Field::new("effort", DataType::Float64, false),
        Field::new("months", DataType::Int64, false),
        Field::new("follows", DataType::Boolean, false),
    ])
});

/// One change of a list of them.
fn change_field() -> FieldRef {
    Arc::new(Field::new("item", DataType::Struct(CHANGE.clone()), false))
}

/// Our columns: the usual name of each, and its name beside the features.
pub(crate) fn own_columns(schema: &Schema) -> Vec<(&'static str, String)> {
    let own = std::iter::once("id").chain(FACTS.iter().map(|(name, _)| *name));
    own.map(|own| (own, write::column_name(schema, own))).collect()
}

impl FactColumn {
    fn data_type(&self) -> DataType {
        match self {
            Self::Count(_) => DataType::Int64,
            Self::Number(_) => DataType::Float64,
            Self::Text(_) => DataType::Utf8,
            Self::Truth(_) => DataType::Boolean,
        }
    }

    fn column(&self, lines: &[(u64, Line<'_>)]) -> ArrayRef {
        let lines = lines.iter().map(|(_, line)| line);
        match self {
            Self::Count(count) => {
                Arc::new(lines.map(|line| count(line).map(|count| count as i64)).collect::<Int64Array>())
            }
            Self::Number(number) => Arc::new(lines.map(number).collect::<Float64Array>()),
            Self::Text(text) => Arc::new(lines.map(text).collect::<StringArray>()),
            Self::Truth(truth) => Arc::new(lines.map(truth).collect::<BooleanArray>()),
        }
    }
}

/// The columns of the answers to tables with the same columns.
pub(crate) struct AnswerFrame {
    schema: SchemaRef,
    /// The column of row ids; rows are counted from 0 without it.
    id: Option<usize>,
    /// Whether there is a column of changes.
    changes: bool,
}

impl AnswerFrame {
    pub(crate) fn new(model: &Model, columns: &Columns, rows: &ArrowSchema, changes: bool) -> Self {
        let id = columns.id;
        let id_type = id.map_or(DataType::Int64, |column| rows.field(column).data_type().clone());
        let types = std::iter::once(id_type).chain(FACTS.iter().map(|(_, fact)| fact.data_type()));
        let own = own_columns(model.schema()).into_iter().zip(types);
        let mut fields: Vec<Field> =
            own.map(|((_, name), data_type)| Field::new(name, data_type, true)).collect();
        if changes {
            fields.push(Field::new(CHANGES, DataType::List(change_field()), false));
        }
        let features = model.schema().features().iter().zip(model.discretizer().domains());
        for ((feature, domain), &column) in features.zip(&columns.features) {
            let data_type = feature_type(rows.field(column).data_type(), domain);
            fields.push(Field::new(&feature.name, data_type, true));
        }
        Self { schema: Arc::new(ArrowSchema::new(fields)), id, changes }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Rows of cells, as columns of the features.
    pub(crate) fn features(&self, rows: &[Vec<String>]) -> Result<RecordBatch, ArrowError> {
        let fields = &self.schema.fields()[1 + FACTS.len()..];
        let column = |(feature, field): (usize, &Arc<Field>)| {
            typed(field.data_type(), rows.iter().map(|cells| cells[feature].as_str()))
        };
        let columns = fields.iter().enumerate().map(column).collect();
        RecordBatch::try_new(Arc::new(ArrowSchema::new(fields.to_vec())), columns)
    }

    /// The lines of answers to `rows` from `first` on, which is row `first + before` of the table.
    pub(crate) fn lines(
        &self,
        model: &Model,
        rows: &RecordBatch,
        first: usize,
        before: u64,
        people: &[RowAnswer<'_>],
    ) -> Result<RecordBatch, ArrowError> {
        let lines: Vec<(u64, Line<'_>)> = (first as u64..)
            .zip(people)
            .flat_map(|(row, person)| {
                Line::of(model.schema(), person).into_iter().map(move |line| (row, line))
            })
            .collect();
        let positions = UInt64Array::from_iter_values(lines.iter().map(|(row, _)| *row));
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        columns.push(match self.id {
            Some(column) => take(rows.column(column), &positions, None)?,
            None => {
                let numbers = positions.values().iter().map(|row| (row + before) as i64);
                Arc::new(Int64Array::from_iter_values(numbers))
            }
        });
        columns.extend(FACTS.iter().map(|(_, fact)| fact.column(&lines)));
        if self.changes {
            columns.push(changes(&lines)?);
        }
        for (feature, field) in self.schema.fields()[columns.len()..].iter().enumerate() {
            columns.push(typed(field.data_type(), lines.iter().map(|(_, line)| line.cell(feature))));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

/// The changes of each line: those that the person makes, then those that follow; none without a way.
fn changes(lines: &[(u64, Line<'_>)]) -> Result<ArrayRef, ArrowError> {
    let (mut features, mut efforts) = (StringBuilder::new(), Float64Builder::new());
    let (mut months, mut follows) = (Int64Builder::new(), BooleanBuilder::new());
    let mut lengths = Vec::with_capacity(lines.len());
    for (_, line) in lines {
        let (own, consequences) =
            line.way.map_or((&[][..], &[][..]), |way| (&way.changes[..], &way.consequences[..]));
        lengths.push(own.len() + consequences.len());
        let is_consequence = own.iter().map(|_| false).chain(consequences.iter().map(|_| true));
        for (change, is_consequence) in own.iter().chain(consequences).zip(is_consequence) {
            features.append_value(&change.name);
            efforts.append_value(change.effort);
            months.append_value(i64::from(change.months));
            follows.append_value(is_consequence);
        }
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(features.finish()),
        Arc::new(efforts.finish()),
        Arc::new(months.finish()),
        Arc::new(follows.finish()),
    ];
    let changes = StructArray::try_new(CHANGE.clone(), columns, None)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(change_field(), offsets, Arc::new(changes), None)?))
}

/// The type of a feature's column, from that of the input table.
fn feature_type(input: &DataType, domain: &Domain) -> DataType {
    let all = |fits: fn(&str) -> bool| match domain {
        // As numbers, `01` and `1` would be the same.
        Domain::Categories { values, .. } => {
            same_numbers(values).is_empty() && values.iter().all(|value| fits(value))
        }
        Domain::Values { .. } | Domain::Bins { .. } => false,
    };
    let is_number = domain.summary().is_some() || all(|value| value.parse::<f64>().is_ok());
    let is_whole = domain.summary().is_some_and(|summary| summary.decimals == 0)
        || all(|value| value.parse::<i64>().is_ok());
    match input {
        DataType::Dictionary(_, values) => feature_type(values, domain),
        DataType::Boolean if all(|value| boolean(value).is_some()) => DataType::Boolean,
        input if input.is_integer() && is_whole => DataType::Int64,
        input if input.is_numeric() && is_number => DataType::Float64,
        DataType::Boolean | DataType::Null if is_number => DataType::Float64,
        _ => DataType::Utf8,
    }
}

fn boolean(text: &str) -> Option<bool> {
    [("false", false), ("true", true), ("0", false), ("1", true)]
        .into_iter()
        .find_map(|(name, truth)| text.trim().eq_ignore_ascii_case(name).then_some(truth))
}

/// Cells as a column of a type; empty and unfitting cells are null.
fn typed<'a>(data_type: &DataType, cells: impl Iterator<Item = &'a str>) -> ArrayRef {
    let cells = cells.map(|cell| (!cell.is_empty()).then_some(cell));
    match data_type {
        DataType::Int64 => Arc::new(cells.map(|cell| whole(cell?.trim())).collect::<Int64Array>()),
        DataType::Float64 => {
            Arc::new(cells.map(|cell| cell?.trim().parse::<f64>().ok()).collect::<Float64Array>())
        }
        DataType::Boolean => Arc::new(cells.map(|cell| boolean(cell?)).collect::<BooleanArray>()),
        _ => Arc::new(cells.collect::<StringArray>()),
    }
}

/// A whole number, possibly written with a decimal point; `None` beyond 64 bits.
fn whole(cell: &str) -> Option<i64> {
    let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() < i64::MAX as f64;
    cell.parse().ok().or_else(|| cell.parse().ok().filter(is_whole).map(|number| number as i64))
}
