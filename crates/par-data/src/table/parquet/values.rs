//! The values of a column in a group of rows, decoded some at a time and written as in a CSV file.

use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use parquet::record::Field;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use super::guard::guarded;
use super::pages::{CurrentPage, Pages};
use super::times::{Times, write_date, write_int96};
use super::{MAX_CELL_BYTES, ROWS_AT_ONCE};
use crate::table::numbers::{LONGEST_DECIMAL, write_decimal, write_float, write_long_decimal, write_whole};

/// Most digits of a decimal: those of [`LONGEST_DECIMAL`].
const MOST_DIGITS: i32 = 76;

/// Values that share bytes in the file have their own once they are decoded, up to as many as a page has each.
const SHARING_AT_ONCE: usize = 8;

/// Why a value is no cell.
#[derive(Clone)]
pub(super) enum BadValue {
    NotUtf8,
    TooLong,
    OutOfRange { found: String, expected: &'static str },
}

/// Refuses types whose values cannot be written; the error has what was found and what was expected.
pub(super) fn check(column: &ColumnDescriptor) -> Result<(), (String, &'static str)> {
    match column.converted_type() {
        ConvertedType::INTERVAL => {
            Err(("an INTERVAL".to_string(), "numbers, text, truth values, dates or times"))
        }
        ConvertedType::DECIMAL if column.type_precision() > MOST_DIGITS => {
            let found = format!("a DECIMAL({}, {})", column.type_precision(), column.type_scale());
            Err((found, "decimals of at most 76 digits"))
        }
        _ => Ok(()),
    }
}

/// The values of a column that are not written yet.
pub(super) trait Values: Send {
    /// Adds the next cells to `text`, and where they end to `ends`: at most `rows`, and those after the first only up to
    /// `most_bytes`. Returns what is wrong with the next one if it is no cell; whether cells are UTF-8 is not
    /// checked.
    fn write(
        &mut self,
        rows: usize,
        most_bytes: usize,
        text: &mut Vec<u8>,
        ends: &mut Vec<usize>,
    ) -> Result<Option<BadValue>, ParquetError>;
}

/// The values of the column at `place` in a group.
pub(super) fn open(
    group: &dyn RowGroupReader,
    place: usize,
    column: &ColumnDescPtr,
) -> Result<Box<dyn Values>, ParquetError> {
    let (is_optional, converted) = (column.max_def_level() > 0, column.converted_type());
    let scale = usize::try_from(column.type_scale()).unwrap_or(0);
    let column = Arc::clone(column);
    let page = Arc::new(CurrentPage::default());
    let pages = Pages::new(group.get_column_page_reader(place)?, Arc::clone(&page));
    let reader = get_column_reader(Arc::clone(&column), Box::new(pages));
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => {
            Decoded::boxed(reader, is_optional, page, |text, value| write_shown(text, value))
        }
        ColumnReader::Int32ColumnReader(reader) => match converted {
            ConvertedType::NONE | ConvertedType::INT_32 => {
                Decoded::boxed(reader, is_optional, page, |text, value| {
                    write_whole(text, i64::from(*value));
                    Ok(())
                })
            }
            ConvertedType::DECIMAL => Decoded::boxed(reader, is_optional, page, move |text, value| {
                write_decimal(text, i64::from(*value), scale);
                Ok(())
            }),
            ConvertedType::DATE => {
                Decoded::boxed(reader, is_optional, page, |text, value| write_date(text, *value))
            }
            _ => match Times::of(&column) {
                Some(times) => Decoded::boxed(reader, is_optional, page, move |text, value| {
                    times.write(text, i64::from(*value))
                }),
                None => Decoded::boxed(reader, is_optional, page, move |text, value| {
                    write_shown(text, Field::convert_int32(&column, *value))
                }),
            },
        },
        ColumnReader::Int64ColumnReader(reader) => match (converted, Times::of(&column)) {
            (_, Some(times)) => {
                Decoded::boxed(reader, is_optional, page, move |text, value| times.write(text, *value))
            }
            (ConvertedType::NONE | ConvertedType::INT_64, None) => {
                Decoded::boxed(reader, is_optional, page, |text, value| {
                    write_whole(text, *value);
                    Ok(())
                })
            }
            (ConvertedType::DECIMAL, None) => {
                Decoded::boxed(reader, is_optional, page, move |text, value| {
                    write_decimal(text, *value, scale);
                    Ok(())
                })
            }
            (_, None) => Decoded::boxed(reader, is_optional, page, move |text, value| {
                write_shown(text, Field::convert_int64(&column, *value))
            }),
        },
        ColumnReader::Int96ColumnReader(reader) => {
            Decoded::boxed(reader, is_optional, page, |text, value| write_int96(text, *value))
        }
        ColumnReader::FloatColumnReader(reader) => {
            Decoded::boxed(reader, is_optional, page, |text, value| write_shown(text, value))
        }
        ColumnReader::DoubleColumnReader(reader) => {
            Decoded::boxed(reader, is_optional, page, |text, value| {
                write_float(text, *value);
                Ok(())
            })
        }
        ColumnReader::ByteArrayColumnReader(reader) => match converted {
            ConvertedType::DECIMAL => Decoded::boxed(reader, is_optional, page, move |text, value| {
                write_decimal_bytes(text, value.data(), scale)
            }),
            _ => Decoded::boxed(reader, is_optional, page, |text, value| {
                write_text(text, value.data());
                Ok(())
            }),
        },
        ColumnReader::FixedLenByteArrayColumnReader(reader) => match converted {
            ConvertedType::DECIMAL => Decoded::boxed(reader, is_optional, page, move |text, value| {
                write_decimal_bytes(text, value.data(), scale)
            }),
            _ if column.logical_type_ref() == Some(&LogicalType::Float16) => {
                Decoded::boxed(reader, is_optional, page, move |text, value| match Field::convert_byte_array(
                    &column,
                    value.clone().into(),
                ) {
                    Ok(field) => write_shown(text, field),
                    Err(_) => Err(BadValue::NotUtf8),
                })
            }
            _ => Decoded::boxed(reader, is_optional, page, |text, value| {
                write_text(text, value.data());
                Ok(())
            }),
        },
    })
}

fn write_shown(text: &mut Vec<u8>, value: impl Display) -> Result<(), BadValue> {
    write!(text, "{value}").expect("memory can be written to");
    Ok(())
}

/// Writes a text, or enough of it to see that it is too long.
fn write_text(text: &mut Vec<u8>, bytes: &[u8]) {
    text.extend_from_slice(&bytes[..bytes.len().min(MAX_CELL_BYTES + 1)]);
}

fn write_decimal_bytes(text: &mut Vec<u8>, bytes: &[u8], scale: usize) -> Result<(), BadValue> {
    // Bytes before it only repeat its sign.
    let (mut number, fill) = (bytes, if bytes.first().is_some_and(|&byte| byte >= 0x80) { 0xff } else { 0 });
    while let [first, rest @ ..] = number
        && number.len() > LONGEST_DECIMAL
        && *first == fill
        && rest[0] >> 7 == fill >> 7
    {
        number = rest;
    }
    if number.len() > LONGEST_DECIMAL {
        let found = format!("one of {} bytes", number.len());
        return Err(BadValue::OutOfRange { found, expected: "a decimal of at most 76 digits" });
    }
    write_long_decimal(text, number, scale);
    Ok(())
}

/// Values of one type.
struct Decoded<T: DataType, W> {
    reader: ColumnReaderImpl<T>,
    is_optional: bool,
    page: Arc<CurrentPage>,
    /// So many values of the current page are not decoded yet.
    left_in_page: usize,
    write: W,
    /// Of some rows.
    values: Vec<T::T>,
    next_value: usize,
    levels: Vec<i16>,
    rows: usize,
    next_row: usize,
}

impl<T: DataType, W: Fn(&mut Vec<u8>, &T::T) -> Result<(), BadValue> + Send + 'static> Decoded<T, W> {
    fn new(reader: ColumnReaderImpl<T>, is_optional: bool, page: Arc<CurrentPage>, write: W) -> Self {
        let (values, levels) = (Vec::new(), Vec::new());
        Self {
            reader,
            is_optional,
            page,
            left_in_page: 0,
            write,
            values,
            next_value: 0,
            levels,
            rows: 0,
            next_row: 0,
        }
    }

    fn boxed(
        reader: ColumnReaderImpl<T>,
        is_optional: bool,
        page: Arc<CurrentPage>,
        write: W,
    ) -> Box<dyn Values> {
        Box::new(Self::new(reader, is_optional, page, write))
    }

    /// Decodes at most so many rows, of one page: the values of a text column keep their pages in memory.
    fn decode(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.values.clear();
        self.levels.clear();
        (self.next_value, self.next_row) = (0, 0);
        let at_once = if self.page.is_sharing() { SHARING_AT_ONCE } else { ROWS_AT_ONCE };
        // The first row of a page tells how many it has.
        let rows = rows.min(at_once).min(self.left_in_page.max(1));
        let levels = self.is_optional.then_some(&mut self.levels);
        let Self { reader, values, .. } = self;
        (self.rows, _, _) = guarded(|| reader.read_records(rows, levels, None, values))?;
        let in_page = if self.left_in_page == 0 { self.page.values() } else { self.left_in_page };
        self.left_in_page = in_page.saturating_sub(self.rows);
        match self.rows {
            0 => Err(ParquetError::EOF("a column has fewer values than the file has rows".into())),
            _ => Ok(()),
        }
    }
}

impl<T: DataType, W: Fn(&mut Vec<u8>, &T::T) -> Result<(), BadValue> + Send + 'static> Values
    for Decoded<T, W>
{
    fn write(
        &mut self,
        rows: usize,
        most_bytes: usize,
        text: &mut Vec<u8>,
        ends: &mut Vec<usize>,
    ) -> Result<Option<BadValue>, ParquetError> {
        let first = ends.len();
        let mut left = rows;
        let mut is_full = false;
        while left > 0 && !is_full {
            if self.next_row == self.rows {
                self.decode(left)?;
            }
            let until = self.rows.min(self.next_row + left);
            let before = self.next_row;
            while self.next_row < until {
                if !self.is_optional || self.levels[self.next_row] > 0 {
                    let ended = || ParquetError::EOF("a column has fewer values than it says".into());
                    let value = self.values.get(self.next_value).ok_or_else(ended)?;
                    let start = text.len();
                    let mut written = (self.write)(text, value);
                    if text.len() - start > MAX_CELL_BYTES {
                        written = Err(BadValue::TooLong);
                    }
                    is_full = text.len() > most_bytes && ends.len() > first;
                    if is_full {
                        text.truncate(start);
                        break;
                    }
                    if let Err(bad) = written {
                        text.truncate(start);
                        return Ok(Some(bad));
                    }
                    self.next_value += 1;
                }
                self.next_row += 1;
                ends.push(text.len());
            }
            left -= self.next_row - before;
        }
        if self.next_row == self.rows {
            // Its values keep a whole page in memory.
            self.values.clear();
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// A page of long cells stays in memory as long as one of its values does.
    #[test]
    fn values_of_one_page_are_decoded_at_once() {
        let schema = parse_message_type("message table { REQUIRED BINARY name (UTF8); }").expect("a schema");
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(3)
            .set_write_batch_size(1);
        let file = tempfile::tempfile().expect("a file");
        let own = file.try_clone().expect("the same file");
        let mut writer =
            SerializedFileWriter::new(own, Arc::new(schema), Arc::new(properties.build())).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let mut column = group.next_column().expect("no error").expect("a column");
        let names: Vec<ByteArray> =
            (0..10).map(|row| ByteArray::from(format!("name {row}").as_str())).collect();
        column.typed::<ByteArrayType>().write_batch(&names, None, None).expect("written");
        column.close().expect("closed");
        group.close().expect("closed");
        writer.close().expect("closed");

        let file = SerializedFileReader::new(file).expect("a file");
        let group = file.get_row_group(0).expect("a group");
        let page = Arc::new(CurrentPage::default());
        let pages = Pages::new(group.get_column_page_reader(0).expect("pages"), Arc::clone(&page));
        let column = file.metadata().file_metadata().schema_descr().column(0);
        let ColumnReader::ByteArrayColumnReader(reader) = get_column_reader(column, Box::new(pages)) else {
            panic!("a column of text");
        };
        let write = |_: &mut Vec<u8>, _: &ByteArray| Ok(());
        let mut decoded = Decoded::new(reader, false, page, write);
        let mut counts = Vec::new();
        while counts.iter().sum::<usize>() < names.len() {
            decoded.decode(ROWS_AT_ONCE).expect("further values");
            counts.push(decoded.values.len());
        }
        assert_eq!(counts, [1, 2, 1, 2, 1, 2, 1]);
    }
}
