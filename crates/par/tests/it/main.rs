//! Models of real and of unusual tables, and their answers.

mod answers;

mod external;
mod fewest;
mod fitting;
mod limits;
mod measures;
mod model;
mod stopping;

use std::io::Cursor;
use std::sync::OnceLock;

use par_data::{Batch, Columns, Schema, Table, TableOptions, german_credit};
use par_fit::ModelBuilder;
use par_model::{Config, Model};

/// A configuration that trains fast.
fn quick() -> Config {
    let mut config = Config::default();
    config.generator.examples = 500;
    config.generator.steps = 60;
    config.pool.size = 300;
    config
}

/// German Credit, fitted once; every feature may change, which makes searches hard.
fn german() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        ModelBuilder::new(german_credit::unconstrained_schema(), quick())
            .fit(|| Ok(german_credit::table()))
            .expect("a fit")
    })
}

/// All rows of German Credit.
fn applicants() -> &'static (Columns, Batch) {
    static ROWS: OnceLock<(Columns, Batch)> = OnceLock::new();
    ROWS.get_or_init(|| {
        let table = german_credit::table();
        let columns = german().schema().columns(table.origin(), table.columns()).expect("its own columns");
        (columns, table.batches(usize::MAX).next().expect("rows").expect("whole rows"))
    })
}

/// The cells of one applicant.
fn applicant(row: usize) -> Vec<&'static str> {
    let (columns, batch) = applicants();
    columns.cells(batch, row)
}

/// The first denied applicants.
fn denied(count: usize) -> Vec<Vec<&'static str>> {
    let model = german();
    let is_denied = |cells: &Vec<&str>| {
        let encoded = model.discretizer().encode_row(cells).expect("its own row");
        model.probability(encoded.codes()) < model.threshold()
    };
    (0..applicants().1.rows()).map(applicant).filter(is_denied).take(count).collect()
}

fn table(text: &str) -> Table {
    Table::from_reader("t.csv", Cursor::new(text.to_string()), &TableOptions::default()).expect("a header")
}

fn fit(schema: &str, rows: &str, config: Config) -> Result<Model, par_fit::Error> {
    let schema = Schema::parse(schema, "s.toml").expect("a schema");
    ModelBuilder::new(schema, config).fit(|| Ok(table(rows)))
}
