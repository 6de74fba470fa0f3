//! Record batches as cells. A cell is text; null and NaN are empty.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, downcast_dictionary_array};
use arrow_schema::{DataType, Schema as ArrowSchema};
use arrow_select::take::take;
use par_data::{Batch, Columns, Domain, Error, Schema};
use pyo3::PyResult;

use crate::errors;

/// The name of the table in messages.
pub(crate) const ORIGIN: &str = "X";
/// Rows per batch when a whole table is read.
const ROWS: usize = 4096;

/// The names of a table's columns.
pub(crate) fn header(schema: &ArrowSchema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// The positions of a schema's features in a table, and the spelling of its cells. `domains` are those of the
/// features, if they are known.
///
/// # Errors
/// When a feature has no column, two columns have one name, or the type of one cannot be written as cells.
pub(crate) fn read(
    schema: &Schema,
    domains: &[Domain],
    arrow: &ArrowSchema,
) -> PyResult<(Columns, CellWriter)> {
    let header = header(arrow);
    if let Some((_, name)) = header.iter().enumerate().find(|(at, name)| header[..*at].contains(name)) {
        return Err(errors::data(&Error::RepeatedColumn { origin: ORIGIN.into(), name: name.clone() }));
    }
    let columns = schema.columns(ORIGIN, &header).map_err(|error| errors::data(&error))?;
    for column in columns.features.iter().copied().chain(columns.label) {
        let field = arrow.field(column);
        if !can_be_cells(field.data_type()) {
            let hint = if field.data_type().is_temporal() {
                "pass a number instead, such as the years or days since then"
            } else {
                "cast it"
            };
            return Err(errors::data_text(format!(
                "{ORIGIN}: column `{}` is of type {}, expected text, numbers or booleans\nhint: {hint}",
                field.name(),
                field.data_type()
            )));
        }
    }
    let cells = CellWriter::of_schema(schema, &columns, domains, arrow);
    Ok((columns, cells))
}

/// Whether values of a type can be written as cells.
fn can_be_cells(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => can_be_cells(values),
        DataType::Null | DataType::Boolean | DataType::Decimal128(..) => true,
        text if text.is_string() => true,
        number => number.is_integer() || number.is_floating(),
    }
}

/// Writes the columns of a table as cells.
#[derive(Clone)]
pub(crate) struct CellWriter {
    columns: Vec<ColumnSpelling>,
}

/// The spelling of a column.
#[derive(Clone)]
struct ColumnSpelling {
    /// Whether it is used; its cells are empty otherwise.
    is_read: bool,
    /// The texts of `false` and `true`.
    spelling: [Arc<str>; 2],
}

impl CellWriter {
    /// All columns of supported types, without a schema.
    pub(crate) fn plain(arrow: &ArrowSchema) -> Self {
        let column = |is_read| ColumnSpelling { is_read, spelling: ["false".into(), "true".into()] };
        Self { columns: arrow.fields().iter().map(|field| column(can_be_cells(field.data_type()))).collect() }
    }

    /// With `true` and `false` as the schema's values spell them, or `domains` if the schema lists no values. Columns
    /// that are not in the schema are left empty.
    fn of_schema(schema: &Schema, columns: &Columns, domains: &[Domain], arrow: &ArrowSchema) -> Self {
        let mut cells = Self::plain(arrow);
        let read: Vec<usize> = columns.features.iter().copied().chain(columns.label).collect();
        for (position, column) in cells.columns.iter_mut().enumerate() {
            column.is_read = read.contains(&position);
        }
        for (position, (feature, &column)) in schema.features().iter().zip(&columns.features).enumerate() {
            let learned: &[String] = match domains.get(position) {
                Some(Domain::Categories { values, .. }) => values,
                _ => &[],
            };
            let values = if feature.values.is_empty() { learned } else { &feature.values };
            cells.spell(column, values, feature.kind.is_numeric());
        }
        if let (Some(label), Some(column)) = (schema.label(), columns.label) {
            cells.spell(column, &label.classes, label.goal.is_some());
        }
        cells
    }

    /// Adds a column that is not a feature, if its type is supported.
    pub(crate) fn with(mut self, arrow: &ArrowSchema, column: usize) -> Self {
        self.columns[column].is_read = can_be_cells(arrow.field(column).data_type());
        self
    }

    /// Sets the spelling of `true` and `false` from the values of a column.
    fn spell(&mut self, column: usize, values: &[String], is_numeric: bool) {
        for (spelling, names) in self.columns[column].spelling.iter_mut().zip([["false", "0"], ["true", "1"]])
        {
            let is_named = |value: &&String| names.iter().any(|name| value.eq_ignore_ascii_case(name));
            if let Some(value) = values.iter().find(is_named) {
                *spelling = value.as_str().into();
            } else if is_numeric {
                *spelling = names[1].into();
            }
        }
    }

    /// Some rows of a record batch; the first row of the batch is the row `before` of its table, counted from 0.
    pub(crate) fn batch(&self, rows: &RecordBatch, range: Range<usize>, before: u64) -> Batch {
        let slice = rows.slice(range.start, range.len());
        let read = |(column, how): (&ArrayRef, &ColumnSpelling)| how.is_read.then(|| unpacked(column));
        let columns: Vec<Option<ArrayRef>> = slice.columns().iter().zip(&self.columns).map(read).collect();
        let mut batch = Batch::new(ORIGIN, columns.len());
        let mut texts = vec![String::new(); columns.len()];
        for row in 0..slice.num_rows() {
            for ((text, column), how) in texts.iter_mut().zip(&columns).zip(&self.columns) {
                text.clear();
                if let Some(column) = column
                    && !column.is_null(row)
                {
                    how.write(column, row, text);
                }
            }
            // Counted from 0, as usual in Python.
            let position = before + (range.start + row) as u64;
            batch.push(position, texts.iter().map(String::as_str)).expect("one cell per column");
        }
        batch
    }

    /// All rows of a table, in batches.
    pub(crate) fn batches<'a>(&'a self, table: &'a [RecordBatch]) -> impl Iterator<Item = Batch> + 'a {
        let befores = table.iter().scan(0, |before, rows| {
            let own = *before;
            *before += rows.num_rows() as u64;
            Some(own)
        });
        befores.zip(table).flat_map(move |(before, rows)| {
            let starts = (0..rows.num_rows()).step_by(ROWS);
            starts.map(move |start| self.batch(rows, start..rows.num_rows().min(start + ROWS), before))
        })
    }
}

impl ColumnSpelling {
    /// Writes a value as text.
    fn write(&self, column: &ArrayRef, row: usize, text: &mut String) {
        macro_rules! number {
            ($type:ty) => {
                write!(text, "{}", column.as_primitive::<$type>().value(row))
            };
        }
        macro_rules! float {
            ($type:ty) => {{
                let number = f64::from(column.as_primitive::<$type>().value(row));
                if number.is_nan() { Ok(()) } else { write!(text, "{number}") }
            }};
        }
        let written = match column.data_type() {
            DataType::Null => Ok(()),
            DataType::Utf8 => text.write_str(column.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => text.write_str(column.as_string::<i64>().value(row)),
            DataType::Utf8View => text.write_str(column.as_string_view().value(row)),
            DataType::Boolean => {
                let value = column.as_boolean().value(row);
                text.write_str(&self.spelling[usize::from(value)])
            }
            DataType::Int8 => number!(Int8Type),
            DataType::Int16 => number!(Int16Type),
            DataType::Int32 => number!(Int32Type),
            DataType::Int64 => number!(Int64Type),
            DataType::UInt8 => number!(UInt8Type),
            DataType::UInt16 => number!(UInt16Type),
            DataType::UInt32 => number!(UInt32Type),
            DataType::UInt64 => number!(UInt64Type),
            DataType::Float16 => float!(Float16Type),
            // In single precision: widened, 0.1 would be 0.10000000149011612.
            DataType::Float32 => {
                let number = column.as_primitive::<Float32Type>().value(row);
                if number.is_nan() { Ok(()) } else { write!(text, "{number}") }
            }
            DataType::Float64 => float!(Float64Type),
            DataType::Decimal128(..) => {
                text.write_str(&column.as_primitive::<Decimal128Type>().value_as_string(row))
            }
            other => unreachable!("columns of type {other} are not read"),
        };
        written.expect("writing to a string cannot fail");
    }
}

/// The values of a dictionary-encoded column.
fn unpacked(column: &ArrayRef) -> ArrayRef {
    let column: &dyn Array = column;
    downcast_dictionary_array!(
        column => take(column.values(), column.keys(), None).expect("the keys of a dictionary are within it"),
        _ => column.slice(0, column.len())
    )
}
