//! Tests of the public API, from files to codes and back.

mod bad_schemas;
mod candidates;
mod constraints;
mod discretizer;
mod draft;
mod german_credit;
mod limits;
mod masses;
#[cfg(feature = "parquet")]
mod parquet;
mod privacy;
mod reachable_values;
mod schema;
mod schema_2;
mod table;
mod upgrade;

use par_data::schema::Columns;
use par_data::{Batch, Discretizer, DiscretizerConfig, Error, Schema, Table, TableOptions};

fn table(text: &str) -> Table {
    read(text.as_bytes()).expect("a table")
}

fn read(bytes: &[u8]) -> Result<Table, Error> {
    Table::from_reader("t.csv", std::io::Cursor::new(bytes.to_vec()), &TableOptions::default())
}

fn schema(text: &str) -> Schema {
    Schema::parse(text, "s.toml").expect("a schema")
}

fn fit(schema: &Schema, table: Table) -> Result<Discretizer, Error> {
    fit_with(schema, table, &DiscretizerConfig::default())
}

fn fit_with(schema: &Schema, table: Table, config: &DiscretizerConfig) -> Result<Discretizer, Error> {
    let columns = columns(schema, &table)?;
    Discretizer::fit(schema, &columns, table.batches(2), config)
}

fn columns(schema: &Schema, table: &Table) -> Result<Columns, Error> {
    schema.columns(table.origin(), table.columns())
}

fn all_rows(table: Table) -> Batch {
    table.into_batch().expect("rows")
}

/// The message of a result that must be an error.
fn message<T: std::fmt::Debug, E: std::fmt::Display>(result: Result<T, E>) -> String {
    match result {
        Ok(value) => panic!("expected an error, found {value:?}"),
        Err(error) => error.to_string(),
    }
}
