use std::fs::File;
use std::sync::Arc;

use par_data::{Table, TableOptions};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
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
