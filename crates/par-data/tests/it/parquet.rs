use std::fs::File;
use std::sync::Arc;

use par_data::{Batch, Error, Table, TableOptions};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

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
