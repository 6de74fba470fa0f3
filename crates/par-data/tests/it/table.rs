use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use par_data::{Batch, Error, Table, TableOptions};
use proptest::prelude::*;

use crate::{all_rows, message, read, table};

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn batches(bytes: &[u8]) -> Result<Vec<Batch>, Error> {
    read(bytes)?.batches(2).collect()
}

fn first_row(batch: &Batch, width: usize) -> Vec<&str> {
    (0..width).map(|column| batch.cell(0, column)).collect()
}

#[test]
fn rows_come_in_batches_with_their_lines() {
    let batches = batches(b"a,b\n1,x\n2,\"y\nz\"\n3,\"say \"\"hi\"\"\"\n").expect("three rows");
    assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(batches[0].cell(1, 1), "y\nz");
    assert_eq!(batches[1].cell(0, 1), "say \"hi\"");
    let lines = [batches[0].position(0), batches[0].position(1), batches[1].position(0)];
    assert_eq!(lines, [2, 3, 5], "the second row takes two lines");
}

#[test]
fn line_ends_byte_order_marks_and_other_delimiters_do_not_matter() {
    for text in ["a,b\r\n1,2\r\n", "\u{feff}a,b\n1,2", "a;b\n1;2\n", "a\tb\n1\t2\n"] {
        let table = table(text);
        assert_eq!(table.columns(), ["a", "b"], "{text:?}");
        assert_eq!(first_row(&all_rows(table), 2), ["1", "2"], "{text:?}");
    }
}

#[test]
fn a_file_and_a_reader_of_the_same_bytes_agree() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("t.csv");
    for text in
        ["ident,level\r\n1,2\r\n3,4\r\n", "\u{feff}ident;level\n1;2\n3;4\n", "ident\tlevel\n1\t2\n3\t4\n"]
    {
        std::fs::write(&path, text).expect("a file can be written");
        let table = Table::open(&path, &TableOptions::default()).expect("a table");
        assert_eq!(table.columns(), ["ident", "level"], "{text:?}");
        let batch = all_rows(table);
        assert_eq!(first_row(&batch, 2), ["1", "2"], "{text:?}");
        assert_eq!([batch.position(0), batch.position(1)], [2, 3], "{text:?}");
    }
}

#[test]
fn a_column_name_may_contain_a_line_break() {
    let table = table("\"a\r\nb\";level\n1;2\n");
    assert_eq!(table.columns(), ["a\r\nb", "level"]);
    assert_eq!(first_row(&all_rows(table), 2), ["1", "2"]);
}

#[test]
fn gzip_is_known_by_its_first_bytes() {
    let table = read(&gzipped("a,b\n1,2\n")).expect("a table");
    assert_eq!(first_row(&all_rows(table), 2), ["1", "2"]);
}

#[test]
fn without_a_header_columns_are_numbered() {
    let bytes: &[u8] = b"x,y\nz,w\n";
    let table =
        Table::from_reader("t.csv", bytes, &TableOptions { header: false, ..TableOptions::default() })
            .expect("a table");
    assert_eq!(table.columns(), ["0", "1"]);
    let batch = all_rows(table);
    assert_eq!((batch.rows(), batch.cell(0, 0), batch.position(0)), (2, "x", 1));
}

#[test]
fn the_nameless_index_column_of_pandas_is_kept() {
    assert_eq!(table(",a\n0,1\n").columns(), ["", "a"]);
}

#[test]
fn a_header_alone_opens_and_yields_nothing() {
    assert!(batches(b"a,b\n").expect("a header").is_empty());
}

#[test]
fn batches_end_after_64_mib_of_text_and_a_whole_table_does_not() {
    let line = format!("1,{}\n", "x".repeat(1 << 20));
    let long = || {
        Table::from_reader(
            "t.csv",
            Cursor::new(format!("a,b\n{}", line.repeat(70))),
            &TableOptions::default(),
        )
    };
    let rows = |batch: Result<Batch, Error>| batch.expect("rows").rows();
    let parts: Vec<usize> = long().expect("a table").batches(usize::MAX).map(rows).collect();
    assert_eq!(parts, [64, 6]);
    assert_eq!(rows(long().expect("a table").into_batch()), 70);
    assert_eq!(rows(read(b"a,b\n").expect("a table").into_batch()), 0);
}

#[test]
fn an_absent_file_is_refused() {
    let opened = Table::open("nowhere/t.csv", &TableOptions::default());
    assert_eq!(message(opened), "nowhere/t.csv: no such file");
}

#[test]
fn an_empty_file_is_refused() {
    let expected = "t.csv: the file is empty\nhint: expected a line of column names, then rows";
    for bytes in [&b""[..], b"\n\n", "\u{feff}".as_bytes(), &gzipped("")] {
        assert_eq!(message(read(bytes)), expected);
    }
}

#[test]
fn a_ragged_row_is_refused() {
    let hint = "hint: look for a delimiter that is not quoted, or a row that is cut off";
    let expected = |problem: &str| format!("t.csv, line {problem}\n{hint}");
    assert_eq!(message(batches(b"a,b\n1,2\n3\n")), expected("3: expected 2 cells, found 1"));
    assert_eq!(message(batches(b"a,b\n1,2,3\n")), expected("2: expected 2 cells, found 3"));
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    let expected = "t.csv, line 3: cell 2 is not UTF-8\nhint: save the table as UTF-8";
    assert_eq!(message(batches(b"a,b\n1,2\n3,caf\xe9\n")), expected);
    let split = "t.csv, line 2: cell 1 is not UTF-8\nhint: save the table as UTF-8";
    assert_eq!(message(batches(b"a,b\n\xc3,\xa9\n")), split, "a letter does not span two cells");
}

#[test]
fn a_repeated_column_is_refused() {
    assert_eq!(message(read(b"a,b,a\n")), "t.csv: two columns are called `a`\nhint: rename or drop one");
}

#[test]
fn truncated_gzip_is_refused() {
    let text: String = (0..50_000).map(|row| format!("{row},{}\n", row * 7919 % 10_007)).collect();
    let whole = gzipped(&format!("a,b\n{text}"));
    let found = message(batches(&whole[..whole.len() / 2]));
    let (place, rest) = found.split_once(": ").expect("a place");
    assert_eq!(rest, "the gzip data end too early\nhint: the file is cut off; copy or download it again");
    assert!(place.starts_with("t.csv, line "), "{place}");
    let line: u64 = place["t.csv, line ".len()..].parse().expect("a line");
    assert!((10_000..50_000).contains(&line), "{line} is about half way");
}

#[test]
fn too_many_columns_are_refused() {
    let header = vec!["x"; 10_001].join(",");
    let expected = "t.csv: found 10001 columns, expected at most 10000";
    assert_eq!(message(read(header.as_bytes())), expected);
}

#[test]
fn a_cell_of_megabytes_is_refused() {
    let bytes = format!("a,b\n1,{}\n", "x".repeat((1 << 20) + 1));
    let expected =
        "t.csv, line 2: cell 2 is longer than 1048576 bytes\nhint: look for a quote that is never closed";
    assert_eq!(message(batches(bytes.as_bytes())), expected);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_without_the_feature_says_how_to_build_it() {
    let mut file = tempfile::Builder::new().suffix(".parquet").tempfile().expect("a file");
    file.write_all(b"PAR1").expect("a file takes it");
    let path = file.path().display().to_string();
    let expected = format!(
        "{path}: this build does not read Parquet\nhint: build with `--features parquet`, or convert to CSV"
    );
    assert_eq!(message(Table::open(&path, &TableOptions::default())), expected);
}

proptest! {
    #[test]
    fn any_bytes_are_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = batches(&bytes);
    }
}

#[test]
fn line_numbers_do_not_depend_on_line_ends() {
    for end in ["\n", "\r\n"] {
        for header in [true, false] {
            let text = ["a,b", "1,2", "3,4", "5,6", ""].join(end);
            let options = TableOptions { header, ..TableOptions::default() };
            let table = Table::from_reader("t.csv", Cursor::new(text), &options).expect("a table");
            let batch = table.batches(9).next().expect("rows").expect("whole rows");
            let lines: Vec<u64> = (0..batch.rows()).map(|row| batch.position(row)).collect();
            assert_eq!(lines, if header { vec![2, 3, 4] } else { vec![1, 2, 3, 4] }, "{end:?}");
        }
    }
}
