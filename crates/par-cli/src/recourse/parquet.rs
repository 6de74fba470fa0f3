//! The tidy table as Parquet. What is absent is null; numeric features are doubles.

use std::sync::Arc;

use anyhow::Result;
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

/// Lines that are written at once, and kept in memory until then.
const LINES_PER_GROUP: usize = 1 << 16;

pub(super) struct ParquetSink {
    writer: SerializedFileWriter<Replacement>,
    columns: Vec<Column>,
    lines: usize,
}

/// The cells of a column since the last group.
enum Column {
    Text(Cells<ByteArray>),
    Whole(Cells<i64>),
    Number(Cells<f64>),
    Truth(Cells<bool>),
}

/// The cells that are there, and for each line whether it is (1) or not (0).
struct Cells<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> Cells<T> {
    fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }
}

impl Column {
    fn of_fact(name: &str) -> Self {
        match name {
            "id" | "status" | "reason" | "method" | "best_at" | "warning" => Self::Text(Cells::default()),
            "rank" | "changes" | "time_us" => Self::Whole(Cells::default()),
            "optimal" => Self::Truth(Cells::default()),
            _ => Self::Number(Cells::default()),
        }
    }

    fn of_feature(feature: &par_data::Feature) -> Self {
        if feature.kind.is_numeric() { Self::Number(Cells::default()) } else { Self::Text(Cells::default()) }
    }

    fn described(&self, name: &str) -> Result<Type> {
        let (physical, logical) = match self {
            Self::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Self::Whole(_) => (Physical::INT64, None),
            Self::Number(_) => (Physical::DOUBLE, None),
            Self::Truth(_) => (Physical::BOOLEAN, None),
        };
        let builder = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        Ok(builder.with_repetition(Repetition::OPTIONAL).build()?)
    }

    fn push_text(&mut self, text: Option<&str>) {
        match self {
            Self::Text(cells) => cells.push(text.map(ByteArray::from)),
            Self::Number(cells) => cells.push(text.and_then(|text| text.trim().parse().ok())),
            Self::Whole(_) | Self::Truth(_) => panic!("neither counts nor truths come as text"),
        }
    }

    fn push_whole(&mut self, whole: Option<u64>) {
        let Self::Whole(cells) = self else { panic!("a count belongs in a column of counts") };
        cells.push(whole.and_then(|whole| i64::try_from(whole).ok()));
    }

    fn push_number(&mut self, number: Option<f64>) {
        let Self::Number(cells) = self else { panic!("a number belongs in a column of numbers") };
        cells.push(number);
    }

    fn push_truth(&mut self, truth: Option<bool>) {
        let Self::Truth(cells) = self else { panic!("a truth belongs in a column of truths") };
        cells.push(truth);
    }

    /// Moves the cells to a file.
    fn drain(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        match (self, writer) {
            (Self::Text(cells), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(&cells.values, Some(&cells.levels), None)?;
                *cells = Cells::default();
            }
            (Self::Whole(cells), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(&cells.values, Some(&cells.levels), None)?;
                *cells = Cells::default();
            }
            (Self::Number(cells), ColumnWriter::DoubleColumnWriter(writer)) => {
                writer.write_batch(&cells.values, Some(&cells.levels), None)?;
                *cells = Cells::default();
            }
            (Self::Truth(cells), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(&cells.values, Some(&cells.levels), None)?;
                *cells = Cells::default();
            }
            _ => panic!("a column is written as the type it was described with"),
        }
        Ok(())
    }
}

impl ParquetSink {
    pub(super) fn new(destination: Destination, schema: &Schema) -> Result<Self> {
        let features = schema.features();
        let columns: Vec<Column> =
            COLUMNS.into_iter().map(Column::of_fact).chain(features.iter().map(Column::of_feature)).collect();
        let names = write::names(schema);
        let fields = columns.iter().zip(&names).map(|(column, name)| column.described(name).map(Arc::new));
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
                "rank" => column.push_whole(line.rank.map(|rank| rank as u64)),
                "status" => column.push_text(Some(line.row.status())),
                "reason" => column.push_text(line.reason.as_deref()),
                "probability" => column.push_number(line.probability),
                "log_likelihood" => column.push_number(way.map(|way| way.log_likelihood)),
                "percentile" => column.push_number(way.map(|way| way.percentile)),
                "changes" => column.push_whole(way.map(|way| way.changes.len() as u64)),
                "similarity" => column.push_number(way.map(|way| way.similarity)),
                "method" => column.push_text(way.map(|way| way.method.name())),
                "optimal" => column.push_truth(line.optimal()),
                "gap" => column.push_number(way.and_then(|way| way.gap)),
                "best_at" => column.push_text(line.best_at().as_deref()),
                "time_us" => column.push_whole(line.row.time_us),
                "warning" => column.push_text(line.warning().as_deref()),
                other => panic!("column `{other}` has no cells"),
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
            let mut writer = group.next_column()?.expect("as many columns as were described");
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
