//! Invalid tables.

use crate::Sandbox;

/// The error of `fit` for a table; `with_schema`: with a schema of one nominal and one discrete feature.
#[track_caller]
fn refused(table: impl AsRef<[u8]>, with_schema: bool) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", table);
    sandbox.write(
        "s.toml",
        "[[feature]]\nname = \"a\"\nkind = \"nominal\"\nvalues = [\"x\", \"y\"]\n\
         [[feature]]\nname = \"b\"\nkind = \"discrete\"\nmissing = true\n",
    );
    let schema: &[&str] = if with_schema { &["--schema", "s.toml"] } else { &[] };
    sandbox.fit_refused(&[&["t.csv"], schema].concat())
}

#[test]
fn an_empty_file() {
    let expected = "error: t.csv: the file is empty\nhint: expected a line of column names, then rows\n";
    assert_eq!(refused("", false), expected);
    assert_eq!(refused("", true), expected);
}

#[test]
fn a_header_alone() {
    let expected = "error: t.csv: there are no rows, expected at least one below the column names\n";
    assert_eq!(refused("a,b\n", false), expected);
    assert_eq!(refused("a,b\n", true), expected);
}

#[test]
fn a_row_where_the_header_belongs() {
    assert_eq!(
        refused("0,1,1\n1,1,0\n", false),
        "error: t.csv: two columns are called `1`\n\
         hint: rename or drop one; if the first line is a row already, \
         `par circuit fit`, `par schema init` and `par schema check` take `--no-header`\n"
    );
}

#[test]
fn a_row_of_another_length() {
    let expected = "error: t.csv, line 3: expected 2 cells, found 3\n\
        hint: look for a delimiter that is not quoted, or a row that is cut off\n";
    assert_eq!(refused("a,b\nx,1\nx,2,3\n", false), expected);
    assert_eq!(refused("a,b\nx,1\nx,2,3\n", true), expected);
}

#[test]
fn bytes_that_are_not_text() {
    let expected = "error: t.csv, line 2: cell 1 is not UTF-8\nhint: save the table as UTF-8\n";
    assert_eq!(refused(b"a,b\n\xff,1\n", false), expected);
}

#[test]
fn a_column_without_any_value() {
    assert_eq!(
        refused("a,b\nx,\ny,\n", false),
        "error: t.csv: column `b` has no value in any row\nhint: leave it out with `--drop 'b'`\n"
    );
    assert_eq!(
        refused("a,b\nx,\ny,\n", true),
        "error: t.csv: column `b` has no value in any of 2 rows\nhint: remove the feature from the schema\n"
    );
}

#[test]
fn a_number_where_a_category_belongs() {
    assert_eq!(
        refused("a,b\nx,1\n7,2\n", true),
        "error: t.csv, line 3, column `a`: no category `7`, expected one of `x`, `y`\n\
         hint: correct the cell, add the value to the schema, or set `missing = true` to take it as unknown\n"
    );
}

#[test]
fn a_category_where_a_number_belongs() {
    assert_eq!(
        refused("a,b\nx,1\ny,many\n", true),
        "error: t.csv, line 3, column `b`: expected a finite number, found `many`\n\
         hint: correct the cell, list the text under `missing_text`, or make the feature `nominal`\n"
    );
}

#[test]
fn too_many_categories() {
    let rows: String = (0..5000).map(|row| format!("x,{row}\n")).collect();
    assert_eq!(
        refused(format!("a,b\n{rows}"), false),
        "error: t.csv: column `b` has more than 4096 different values\n\
         hint: leave it out with `--drop 'b'`, or say what the columns mean with `--schema`\n"
    );
}

#[test]
fn a_table_that_does_not_exist() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.fit_refused(&["nowhere.csv"]), "error: nowhere.csv: no such file\n");
}
