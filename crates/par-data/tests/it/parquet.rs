use std::fs::File;
use std::sync::Arc;

use par_data::{Batch, Error, Table, TableOptions};
use parquet::basic::{Encoding, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;

use crate::{all_rows, message};

fn write(path: &std::path::Path) {
    let schema = "message table {
        REQUIRED INT64 count; OPTIONAL DOUBLE amount; REQUIRED BINARY name (UTF8); REQUIRED BOOLEAN paid;
    }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = File::create(path).expect("a file");
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::default())).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    let mut column = group.next_column().expect("no error").expect("count");
    column.typed::<Int64Type>().write_batch(&[1, 2, -3], None, None).expect("counts");
    column.close().expect("closed");
    let mut column = group.next_column().expect("no error").expect("amount");
    column.typed::<DoubleType>().write_batch(&[0.1, 9120.0], Some(&[1, 0, 1]), None).expect("amounts");
    column.close().expect("closed");
    let mut column = group.next_column().expect("no error").expect("name");
    let names: Vec<ByteArray> = ["a", "bé", ""].map(ByteArray::from).to_vec();
    column.typed::<ByteArrayType>().write_batch(&names, None, None).expect("names");
    column.close().expect("closed");
    let mut column = group.next_column().expect("no error").expect("paid");
    column.typed::<BoolType>().write_batch(&[true, false, true], None, None).expect("truths");
    column.close().expect("closed");
    group.close().expect("closed");
    writer.close().expect("closed");
}

#[test]
fn values_read_as_a_csv_file_would_hold_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    write(&path);
    let table = Table::open(&path, &TableOptions::default()).expect("a table");
    assert_eq!(table.columns(), ["count", "amount", "name", "paid"]);
    let batch = all_rows(table);
    let rows: Vec<Vec<&str>> =
        (0..3).map(|row| (0..4).map(|column| batch.cell(row, column)).collect()).collect();
    assert_eq!(rows, [["1", "0.1", "a", "true"], ["2", "", "bé", "false"], ["-3", "9120", "", "true"]]);
    assert_eq!(batch.position(2), 3);
}

#[test]
fn a_damaged_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, b"PAR1 and no more").expect("a file");
    let found = message(Table::open(&path, &TableOptions::default()));
    let expected = format!("{}: cannot be read: ", path.display());
    assert!(found.starts_with(&expected), "{found}");
}

/// Whichever byte is damaged, a file is refused, or read with all its rows.
#[test]
fn damage_anywhere_is_an_error_or_leaves_all_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    for encoding in [None, Some(Encoding::DELTA_LENGTH_BYTE_ARRAY), Some(Encoding::DELTA_BYTE_ARRAY)] {
        let properties = match encoding {
            None => WriterProperties::builder(),
            Some(encoding) => {
                WriterProperties::builder().set_dictionary_enabled(false).set_encoding(encoding)
            }
        };
        let names: Vec<ByteArray> =
            (0..40).map(|row: i32| ByteArray::from(format!("name {}", row % 7).as_str())).collect();
        write_with::<ByteArrayType>(&path, "REQUIRED BINARY name (UTF8)", &names, properties.build());
        let whole = std::fs::read(&path).expect("a file");
        for place in 0..whole.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[place] ^= change;
                std::fs::write(&path, &damaged).expect("written");
                let rows = Table::open(&path, &TableOptions::default()).and_then(|table| {
                    table.batches(100).try_fold(0, |rows, batch| batch.map(|batch| rows + batch.rows()))
                });
                assert!(rows.as_ref().is_ok_and(|rows| *rows == 40) || rows.is_err(), "{place}: {rows:?}");
            }
        }
    }
}

/// Writes a column of these values, which `schema` describes.
fn write_column<T: DataType>(path: &std::path::Path, schema: &str, values: &[T::T]) {
    let properties = WriterProperties::builder()
        .set_dictionary_page_size_limit(16 << 20)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    write_with::<T>(path, schema, values, properties);
}

fn write_with<T: DataType>(
    path: &std::path::Path,
    schema: &str,
    values: &[T::T],
    properties: WriterProperties,
) {
    let schema = parse_message_type(&format!("message table {{ {schema}; }}")).expect("a schema");
    write_typed::<T>(path, schema, values, properties);
}

fn write_typed<T: DataType>(
    path: &std::path::Path,
    schema: Type,
    values: &[T::T],
    properties: WriterProperties,
) {
    let file = File::create(path).expect("a file");
    let mut writer =
        SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    let mut column = group.next_column().expect("no error").expect("a column");
    column.typed::<T>().write_batch(values, None, None).expect("values");
    column.close().expect("closed");
    group.close().expect("closed");
    writer.close().expect("closed");
}

/// The cells of a column, or the message about it.
fn cells_of<T: DataType>(schema: &str, values: &[T::T]) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    write_column::<T>(&path, schema, values);
    let mut cells = Vec::new();
    let shown = |error: Error| error.to_string().replace(&path.display().to_string(), "t.parquet");
    for batch in Table::open(&path, &TableOptions::default()).map_err(shown)?.batches(100) {
        let batch = batch.map_err(shown)?;
        cells.extend((0..batch.rows()).map(|row| batch.cell(row, 0).to_string()));
    }
    Ok(cells)
}

/// The message about a column of these cells.
fn message_about(cells: &[&[u8]]) -> String {
    let cells: Vec<ByteArray> = cells.iter().map(|cell| ByteArray::from(cell.to_vec())).collect();
    message(cells_of::<ByteArrayType>("REQUIRED BINARY name", &cells))
}

#[test]
fn cells_that_are_no_text_or_too_long_are_refused() {
    let long = [b'x'; (1 << 20) + 1];
    let no_text = "t.parquet, row 2: cell 1 is not UTF-8\nhint: save the table as UTF-8";
    assert_eq!(message_about(&[b"a", b"\xff", &long]), no_text);
    // Together they would be text.
    assert_eq!(message_about(&[b"a", b"b\xc3", b"\xa9"]), no_text);
    let too_long =
        "t.parquet, row 2: cell 1 is longer than 1048576 bytes\nhint: shorten it, or drop its column";
    assert_eq!(message_about(&[b"\xc3\xa9", &long, b"\xff"]), too_long);
    // Known before any is read.
    let all = message_about(&[&[b'x'; 3 << 20]]);
    let bytes = "t.parquet: cannot be read: Parquet error: column `name` has 31";
    assert!(
        all.starts_with(bytes) && all.ends_with("bytes a cell, expected at most 1048576\nhint: drop it"),
        "{all}"
    );
}

#[test]
fn columns_of_long_and_of_short_cells_are_read_side_by_side() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    let schema = "message table { OPTIONAL BINARY note (UTF8); REQUIRED INT64 count; REQUIRED BINARY name; }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = File::create(&path).expect("a file");
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::default())).expect("a writer");
    let rows = 0..6000_usize;
    let note = |row: usize| ["", "a", "bé", "c"][row % 4].repeat(if row < 4500 { 10_000 } else { 3 });
    let mut group = writer.next_row_group().expect("a group");
    let mut column = group.next_column().expect("no error").expect("note");
    let there: Vec<i16> = rows.clone().map(|row| i16::from(row % 4 > 0)).collect();
    let notes: Vec<ByteArray> =
        rows.clone().filter(|row| row % 4 > 0).map(|row| ByteArray::from(note(row).as_str())).collect();
    column.typed::<ByteArrayType>().write_batch(&notes, Some(&there), None).expect("notes");
    column.close().expect("closed");
    let mut column = group.next_column().expect("no error").expect("count");
    let counts: Vec<i64> = rows.clone().map(|row| row as i64).collect();
    column.typed::<Int64Type>().write_batch(&counts, None, None).expect("counts");
    column.close().expect("closed");
    let mut column = group.next_column().expect("no error").expect("name");
    let name = |row: usize| "n".repeat(if row > 2000 { 9000 } else { row % 20 });
    let names: Vec<ByteArray> = rows.clone().map(|row| ByteArray::from(name(row).as_str())).collect();
    column.typed::<ByteArrayType>().write_batch(&names, None, None).expect("names");
    column.close().expect("closed");
    group.close().expect("closed");
    writer.close().expect("closed");
    for rows_per_batch in [7, 100, 5000] {
        let mut row = 0;
        for batch in Table::open(&path, &TableOptions::default()).expect("a table").batches(rows_per_batch) {
            let batch = batch.expect("whole rows");
            let bytes = |own: usize| (0..3).map(|column| batch.cell(own, column).len()).sum::<usize>();
            let is_full = (0..batch.rows()).map(bytes).sum::<usize>() > 64 << 20;
            assert_eq!(batch.rows() == rows_per_batch.min(6000 - row), !is_full, "{} rows", batch.rows());
            for own in 0..batch.rows() {
                let cells = [0, 1, 2].map(|column| batch.cell(own, column));
                assert!(cells == [&note(row), &row.to_string(), &name(row)], "row {row}");
                row += 1;
            }
        }
        assert_eq!(row, 6000);
    }
}

#[test]
fn decimals_are_written_with_all_their_digits() {
    let small = cells_of::<Int32Type>("REQUIRED INT32 rate (DECIMAL(4, 4))", &[0, 5, -1234, 9999]);
    assert_eq!(small, Ok(["0.0000", "0.0005", "-0.1234", "0.9999"].map(String::from).to_vec()));
    let large = cells_of::<Int64Type>("REQUIRED INT64 amount (DECIMAL(18, 2))", &[1, 912_050, i64::MIN]);
    assert_eq!(large, Ok(["0.01", "9120.50", "-92233720368547758.08"].map(String::from).to_vec()));
    let whole = cells_of::<Int64Type>("REQUIRED INT64 amount (DECIMAL(18, 0))", &[7, -120]);
    assert_eq!(whole, Ok(["7", "-120"].map(String::from).to_vec()));
    let bytes = [&[0xff; 40][..], &[0x01, 0x00], &[]].map(|bytes| ByteArray::from(bytes.to_vec()));
    let schema = "REQUIRED BINARY amount (DECIMAL(76, 76))";
    let zeros = "0".repeat(76);
    let expected = [format!("-0.{}1", &zeros[1..]), format!("0.{}256", &zeros[3..]), format!("0.{zeros}")];
    assert_eq!(cells_of::<ByteArrayType>(schema, &bytes), Ok(expected.to_vec()));
    let fixed = [FixedLenByteArray::from(vec![0xff, 0xff, 0xfe])];
    let schema = "REQUIRED FIXED_LEN_BYTE_ARRAY (3) rate (DECIMAL(6, 6))";
    assert_eq!(cells_of::<FixedLenByteArrayType>(schema, &fixed), Ok(vec!["-0.000002".to_string()]));
}

#[test]
fn decimals_of_too_many_digits_are_refused() {
    let number = ByteArray::from(vec![1; 1 << 20]);
    let schema = "REQUIRED BINARY amount (DECIMAL(2000000000, 1999999999))";
    let expected = "t.parquet: column `amount` is a DECIMAL(2000000000, 1999999999), \
        expected decimals of at most 76 digits\nhint: convert or drop it";
    assert_eq!(message(cells_of::<ByteArrayType>(schema, std::slice::from_ref(&number))), expected);
    let expected = "t.parquet, row 1: cell 1 is out of range: found one of 1048576 bytes, \
        expected a decimal of at most 76 digits\nhint: leave it empty if there is no value";
    assert_eq!(
        message(cells_of::<ByteArrayType>("REQUIRED BINARY amount (DECIMAL(9, 2))", &[number])),
        expected
    );
}

#[test]
fn dates_and_times_beyond_the_calendar_are_refused() {
    let out_of_range = |found: &str| {
        format!(
            "t.parquet, row 2: cell 1 is out of range: found {found} from 1970, \
             expected a date within 260000 years of 1970\nhint: leave it empty if there is no value"
        )
    };
    for day in [i32::MIN, i32::MAX] {
        let days = cells_of::<Int32Type>("REQUIRED INT32 day (DATE)", &[0, day]);
        assert_eq!(message(days), out_of_range(&format!("{day} days")));
    }
    for (unit, units) in [("TIMESTAMP_MILLIS", 1000), ("TIMESTAMP_MICROS", 1_000_000)] {
        for time in [i64::MIN, i64::MAX] {
            let times = cells_of::<Int64Type>(&format!("REQUIRED INT64 time ({unit})"), &[0, time]);
            assert_eq!(message(times), out_of_range(&format!("{} seconds", time.div_euclid(units))));
        }
    }
    let time = "t.parquet, row 1: cell 1 is out of range: found -1 seconds, expected a time of a day\n\
        hint: leave it empty if there is no value";
    assert_eq!(message(cells_of::<Int32Type>("REQUIRED INT32 time (TIME_MILLIS)", &[-1])), time);
    let mut times = [Int96::new(); 2];
    times[0].set_data(0, 0, 2_440_588);
    times[1].set_data(0, 0, i32::MAX as u32);
    let found = format!("{} seconds", (i64::from(i32::MAX) - 2_440_588) * 86_400);
    assert_eq!(message(cells_of::<Int96Type>("REQUIRED INT96 time", &times)), out_of_range(&found));
    // The furthest ones are written.
    let furthest: i32 = 94_963_050;
    let days = cells_of::<Int32Type>("REQUIRED INT32 day (DATE)", &[-furthest, 0, furthest]);
    assert_eq!(days, Ok(["-258030-01-01", "1970-01-01", "+261970-01-01"].map(String::from).to_vec()));
    let furthest = i64::from(furthest) * 86_400_000;
    for (unit, factor) in [("TIMESTAMP_MILLIS", 1), ("TIMESTAMP_MICROS", 1000)] {
        let schema = format!("REQUIRED INT64 time ({unit})");
        let times = cells_of::<Int64Type>(&schema, &[-furthest * factor, furthest * factor]);
        assert_eq!(times.map(|times| times.len()), Ok(2));
    }
}

/// The cells of a column of times.
fn times_of(time: LogicalType, values: &[i64]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    let column = Type::primitive_type_builder("time", PhysicalType::INT64)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(time));
    let column = Arc::new(column.build().expect("a column"));
    let schema = Type::group_type_builder("table").with_fields(vec![column]).build().expect("a schema");
    write_typed::<Int64Type>(&path, schema, values, WriterProperties::default());
    let batch = all_rows(Table::open(&path, &TableOptions::default()).expect("a table"));
    (0..batch.rows()).map(|row| batch.cell(row, 0).to_string()).collect()
}

#[test]
fn times_are_written_as_pandas_mostly_does() {
    let time = 1_262_304_000;
    let nanoseconds = [0, time * 1_000_000_000 + 123_456_789, -1].map(|time: i64| time);
    assert_eq!(
        times_of(LogicalType::timestamp(false, TimeUnit::NANOS), &nanoseconds),
        ["1970-01-01", "2010-01-01 00:00:00.123456789", "1969-12-31 23:59:59.999999999"]
    );
    assert_eq!(
        times_of(LogicalType::timestamp(true, TimeUnit::MICROS), &[time * 1_000_000, 500_000, 1]),
        ["2010-01-01 00:00:00+00:00", "1970-01-01 00:00:00.500000+00:00", "1970-01-01 00:00:00.000001+00:00"]
    );
    assert_eq!(
        times_of(LogicalType::time(false, TimeUnit::NANOS), &[0, 45_296_000_007_000]),
        ["00:00:00", "12:34:56.000007000"]
    );
    let own = |text: &str| Ok(vec![text.to_string()]);
    for (unit, units) in [("TIMESTAMP_MILLIS", 1000), ("TIMESTAMP_MICROS", 1_000_000)] {
        let column = format!("REQUIRED INT64 time ({unit})");
        assert_eq!(cells_of::<Int64Type>(&column, &[(time + 86_399) * units]), own("2010-01-01 23:59:59"));
    }
    assert_eq!(cells_of::<Int32Type>("REQUIRED INT32 time (TIME_MILLIS)", &[61_500]), own("00:01:01.500"));
    let mut half_past = Int96::new();
    let nanoseconds = 1_800_000_000_000_u64;
    half_past.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, 2_440_589);
    assert_eq!(cells_of::<Int96Type>("REQUIRED INT96 time", &[half_past]), own("1970-01-02 00:30:00"));
}

#[test]
fn a_compression_that_is_not_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    write(&path);
    let mut bytes = std::fs::read(&path).expect("a file");
    // The footer has the codec of each column as field 4 of its metadata: twice the number, after 0x15.
    let footer = bytes.len()
        - 8
        - u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().expect("four")) as usize;
    let name = bytes[footer..].windows(6).rposition(|part| part == b"amount").expect("a path") + footer;
    let codec = name + 6;
    assert_eq!(bytes[codec..][..2], [0x15, 0], "not compressed");
    bytes[codec + 1] = 8;
    std::fs::write(&path, bytes).expect("written");
    assert_eq!(
        message(Table::open(&path, &TableOptions::default()))
            .replace(&path.display().to_string(), "t.parquet"),
        "t.parquet: cannot be read: Parquet error: column `amount` is compressed by Brotli, \
         expected Snappy, gzip, LZ4, Zstandard or nothing\nhint: write the table with one of these"
    );
}

#[test]
fn a_column_of_intervals_is_refused() {
    let interval = FixedLenByteArray::from(vec![0; 12]);
    let schema = "REQUIRED FIXED_LEN_BYTE_ARRAY (12) span (INTERVAL)";
    let expected = "t.parquet: column `span` is an INTERVAL, \
        expected numbers, text, truth values, dates or times\nhint: convert or drop it";
    assert_eq!(message(cells_of::<FixedLenByteArrayType>(schema, &[interval])), expected);
}

/// Writes 9,000 rows in three groups, and returns the same table as CSV.
fn write_groups(path: &std::path::Path) -> String {
    let schema = "message table {
        REQUIRED INT32 count; OPTIONAL DOUBLE amount; OPTIONAL BINARY name (UTF8); REQUIRED INT32 day (DATE);
    }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = File::create(path).expect("a file");
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::default())).expect("a writer");
    let amount = |row: i32| (row % 7 != 0).then(|| f64::from(row) * 0.37 - 100.0);
    let name = |row: i32| (row % 5 != 0).then(|| format!("n\u{e9}{}", row % 11));
    let mut text = String::from("count,amount,name,day\n");
    for rows in [0..5000, 5000..5001, 5001..9000] {
        let rows: Vec<i32> = rows.collect();
        let mut group = writer.next_row_group().expect("a group");
        let mut column = group.next_column().expect("no error").expect("count");
        let counts: Vec<i32> = rows.iter().map(|row| 40 - row).collect();
        column.typed::<Int32Type>().write_batch(&counts, None, None).expect("counts");
        column.close().expect("closed");
        let levels = |is_there: &dyn Fn(i32) -> bool| -> Vec<i16> {
            rows.iter().map(|&row| i16::from(is_there(row))).collect()
        };
        let mut column = group.next_column().expect("no error").expect("amount");
        let amounts: Vec<f64> = rows.iter().filter_map(|&row| amount(row)).collect();
        let there = levels(&|row| amount(row).is_some());
        column.typed::<DoubleType>().write_batch(&amounts, Some(&there), None).expect("amounts");
        column.close().expect("closed");
        let mut column = group.next_column().expect("no error").expect("name");
        let names: Vec<ByteArray> =
            rows.iter().filter_map(|&row| name(row)).map(|name| ByteArray::from(name.as_str())).collect();
        let there = levels(&|row| name(row).is_some());
        column.typed::<ByteArrayType>().write_batch(&names, Some(&there), None).expect("names");
        column.close().expect("closed");
        let mut column = group.next_column().expect("no error").expect("day");
        let days: Vec<i32> = rows.iter().map(|row| row % 2).collect();
        column.typed::<Int32Type>().write_batch(&days, None, None).expect("days");
        column.close().expect("closed");
        group.close().expect("closed");
        for (row, count) in rows.iter().zip(counts) {
            let amount = amount(*row).map_or(String::new(), |amount| amount.to_string());
            let day = ["1970-01-01", "1970-01-02"][*row as usize % 2];
            text += &format!("{count},{amount},{},{day}\n", name(*row).unwrap_or_default());
        }
    }
    writer.close().expect("closed");
    text
}

fn cells(batches: impl Iterator<Item = Result<Batch, Error>>, columns: &[usize]) -> Vec<Vec<String>> {
    let mut cells = Vec::new();
    for batch in batches {
        let batch = batch.expect("whole rows");
        for row in 0..batch.rows() {
            assert_eq!(batch.position(row) as usize, cells.len() + 1);
            cells.push(columns.iter().map(|&column| batch.cell(row, column).to_string()).collect());
        }
    }
    cells
}

#[test]
fn columns_are_read_in_batches_of_any_size_as_a_csv_file_would_hold_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    let text = write_groups(&path);
    let csv = all_rows(crate::table(&text));
    let all = [0, 1, 2, 3];
    let expected: Vec<Vec<String>> =
        (0..9000).map(|row| all.map(|column| csv.cell(row, column).to_string()).to_vec()).collect();
    for rows_per_batch in [1, 999, 4096, 5000, 100_000] {
        let table = Table::open(&path, &TableOptions::default()).expect("a table");
        let position = table.position().clone();
        assert_eq!(position.share(), None);
        assert!(cells(table.batches(rows_per_batch), &all) == expected, "{rows_per_batch} rows a batch");
        assert_eq!(position.share(), Some(1.0));
    }
    let table = Table::open(&path, &TableOptions::default()).expect("a table").only(&[2, 0]);
    let needed: Vec<Vec<String>> = expected
        .iter()
        .map(|row| vec![row[0].clone(), String::new(), row[2].clone(), String::new()])
        .collect();
    assert!(cells(table.batches(1000), &all) == needed, "others are empty");
}
