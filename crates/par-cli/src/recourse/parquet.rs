//! The table of ways as Parquet. Absent cells are null; numeric features are doubles.

use std::sync::Arc;

use anyhow::Result;
use par_answer::Accepting;
use par_answer::table::RowAnswer;
use par_answer::write::{self, COLUMNS, Line};
use par_data::Schema;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::output::{Destination, Replacement};

/// Lines are kept in memory until there are so many.
const LINES_PER_GROUP: usize = 1 << 16;

pub(super) struct ParquetSink {
    writer: SerializedFileWriter<Replacement>,
    columns: Vec<ColumnBuffer>,
    lines: usize,
}

/// The cells of a column that are not written yet.
enum ColumnBuffer {
    Text(CellBuffer<ByteArray>),
    Count(CellBuffer<i64>),
    Number(CellBuffer<f64>),
    Boolean(CellBuffer<bool>),
}

/// The cells that are present, and Parquet's definition level of each line: 1 if present, 0 if null.
struct CellBuffer<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<T> Default for CellBuffer<T> {
    fn default() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> CellBuffer<T> {
    fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }
}

impl ColumnBuffer {
    fn for_fact(name: &str) -> Self {
        match name {
            "id" | "status" | "reason" | "method" | "solves" | "best_at" | "warning" => {
                Self::Text(CellBuffer::default())
            }
            "rank" | "changes" | "months" | "time_us" => Self::Count(CellBuffer::default()),
            "has_margin" | "optimal" => Self::Boolean(CellBuffer::default()),
            _ => Self::Number(CellBuffer::default()),
        }
    }

    fn for_feature(feature: &par_data::Feature) -> Self {
        if feature.kind.is_numeric() {
            Self::Number(CellBuffer::default())
        } else {
            Self::Text(CellBuffer::default())
        }
    }

    fn parquet_type(&self, name: &str) -> Result<Type> {
        let (physical, logical) = match self {
            Self::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Self::Count(_) => (Physical::INT64, None),
            Self::Number(_) => (Physical::DOUBLE, None),
            Self::Boolean(_) => (Physical::BOOLEAN, None),
        };
        let builder = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        Ok(builder.with_repetition(Repetition::OPTIONAL).build()?)
    }

    fn push_text(&mut self, text: Option<&str>) {
        match self {
            Self::Text(cells) => cells.push(text.map(ByteArray::from)),
            Self::Number(cells) => cells.push(text.and_then(|text| text.trim().parse().ok())),
            Self::Count(_) | Self::Boolean(_) => panic!("counts and booleans are not pushed as text"),
        }
    }

    fn push_count(&mut self, count: Option<u64>) {
        let Self::Count(cells) = self else { panic!("counts are pushed to count columns") };
        cells.push(count.and_then(|count| i64::try_from(count).ok()));
    }

    fn push_number(&mut self, number: Option<f64>) {
        let Self::Number(cells) = self else { panic!("numbers are pushed to number columns") };
        cells.push(number);
    }

    fn push_boolean(&mut self, boolean: Option<bool>) {
        let Self::Boolean(cells) = self else { panic!("booleans are pushed to boolean columns") };
        cells.push(boolean);
    }

    /// Writes the cells and clears the buffer.
    fn drain(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        match (self, writer) {
            (Self::Text(cells), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(&cells.values, Some(&cells.levels), None)?;
                *cells = CellBuffer::default();
            }
            (Self::Count(cells), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(&cells.values, Some(&cells.levels), None)?;
                *cells = CellBuffer::default();
            }
            (Self::Number(cells), ColumnWriter::DoubleColumnWriter(writer)) => {
                writer.write_batch(&cells.values, Some(&cells.levels), None)?;
                *cells = CellBuffer::default();
            }
            (Self::Boolean(cells), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(&cells.values, Some(&cells.levels), None)?;
                *cells = CellBuffer::default();
            }
            _ => panic!("a column is written with the type in the Parquet schema"),
        }
        Ok(())
    }
}

impl ParquetSink {
    pub(super) fn new(destination: Destination, schema: &Schema) -> Result<Self> {
        let features = schema.features();
        let columns: Vec<ColumnBuffer> = COLUMNS
            .into_iter()
            .map(ColumnBuffer::for_fact)
            .chain(features.iter().map(ColumnBuffer::for_feature))
            .collect();
        let names = write::names(schema);
        let fields = columns.iter().zip(&names).map(|(column, name)| column.parquet_type(name).map(Arc::new));
        let fields = fields.collect::<Result<_>>()?;
        let described = Arc::new(Type::group_type_builder("recourse").with_fields(fields).build()?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = Replacement::new(destination)?;
        let writer = SerializedFileWriter::new(file, described, Arc::new(properties))?;
        Ok(Self { writer, columns, lines: 0 })
    }

    pub(super) fn write(&mut self, schema: &Schema, people: &[RowAnswer<'_>]) -> Result<()> {
        for line in people.iter().flat_map(|person| Line::of(schema, person)) {
            self.push(&line);
            if self.lines == LINES_PER_GROUP {
                self.write_group()?;
            }
        }
        Ok(())
    }

    fn push(&mut self, line: &Line<'_>) {
        let (facts, features) = self.columns.split_at_mut(COLUMNS.len());
        let way = line.way;
        for (name, column) in COLUMNS.into_iter().zip(facts) {
            match name {
                "id" => column.push_text(Some(&line.row.id)),
                "rank" => column.push_count(line.rank.map(|rank| rank as u64)),
                "status" => column.push_text(Some(line.row.status())),
                "reason" => column.push_text(line.reason.as_deref()),
                "probability" => column.push_number(line.probability),
                "log_likelihood" => column.push_number(way.map(|way| way.log_likelihood)),
                "conditional_log_likelihood" => {
                    column.push_number(way.map(|way| way.conditional_log_likelihood));
                }
                "percentile" => column.push_number(way.map(|way| way.percentile)),
                "changes" => column.push_count(way.map(|way| way.changes.len() as u64)),
                "effort" => column.push_number(way.map(|way| way.effort)),
                "months" => column.push_count(way.map(|way| u64::from(way.months))),
                "has_margin" => column.push_boolean(way.map(|way| way.has_margin)),
                "accepting" => {
                    column.push_number(way.and_then(|way| way.accepting).map(Accepting::share));
                }
                "certified" => column.push_number(way.and_then(|way| way.certified)),
                "similarity" => column.push_number(way.map(|way| way.similarity)),
                "method" => column.push_text(way.map(|way| way.method.name())),
                "solves" => column.push_text(way.map(|way| way.solves.name())),
                "optimal" => column.push_boolean(line.optimal()),
                "gap" => column.push_number(way.and_then(|way| way.gap)),
                "best_at" => column.push_text(line.best_at().as_deref()),
                "time_us" => column.push_count(line.row.time_us),
                "warning" => column.push_text(line.warning().as_deref()),
                other => panic!("no cells for column `{other}`"),
            }
        }
        for (feature, column) in features.iter_mut().enumerate() {
            column.push_text(Some(line.cell(feature)));
        }
        self.lines += 1;
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            let mut writer = group.next_column()?.expect("as many columns as the Parquet schema has");
            column.drain(writer.untyped())?;
            writer.close()?;
        }
        group.close()?;
        self.lines = 0;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        if self.lines > 0 {
            self.write_group()?;
        }
        Ok(self.writer.into_inner()?.finish()?)
    }
}
