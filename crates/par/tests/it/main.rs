//! Models of real and of unusual tables, and their answers.

mod answers;

mod external;
mod fewest;
mod fitting;
mod lasting;
mod limits;
mod measures;
mod model;
mod regression;
mod stopping;

use std::io::Cursor;
use std::sync::OnceLock;

use par_answer::{Method, Request, Way};
use par_data::{Batch, Choice, Columns, OwnRow, Reach, Schema, Table, TableOptions, german_credit};
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
        (columns, table.into_batch().expect("rows"))
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

/// The methods to ask for the person at a place: exact searches take long, so that only every fifth person gets one.
fn some_methods(place: usize) -> &'static [Method] {
    if place.is_multiple_of(5) { &Method::ALL } else { &Method::ALL[..2] }
}

/// Checks that a way is a combination of the person's candidates which keeps all constraints of schema and request, and
/// that its effort and its time are those of its changes.
fn assert_legal(model: &Model, cells: &[&str], request: &Request, way: &Way) {
    let codes = model.discretizer().encode_row(cells).expect("its own row").into_codes();
    let own = OwnRow::new(model.discretizer(), cells, codes);
    let reach = if model.classifier().reads_values() { Reach::AllValues } else { Reach::Codes };
    let candidates = model.constraints().candidates(&own, &request.wishes_for(model), reach);
    let choice = |feature: usize| {
        let is_written = |choice: &Choice| {
            let mut row = vec![0; cells.len()];
            row[feature] = *choice;
            candidates.text(model.discretizer(), &row, feature, cells[feature]) == way.cells[feature]
        };
        let mut choices = 0..candidates.of(feature).len() as Choice;
        choices.find(is_written).unwrap_or_else(|| panic!("{} is no candidate", way.cells[feature]))
    };
    let row: Vec<Choice> = (0..cells.len()).map(choice).collect();
    let mut settled = row.clone();
    assert!(candidates.settle(&mut settled) && settled == row, "consequences follow");
    assert!(candidates.keeps_relations(&row) && candidates.keeps_policies(&row), "{way:?}");
    assert!(candidates.is_affordable(&row));
    assert_eq!((candidates.effort(&row), candidates.months(&row)), (way.effort, way.months));
    assert_eq!(candidates.codes(&row), way.row);
    let changed = (0..cells.len()).filter(|&feature| row[feature] != 0 && candidates.is_free(feature));
    assert!(changed.eq(way.changes.iter().map(|change| change.feature)));
    let sum: f64 = way.changes.iter().map(|change| change.effort).sum();
    assert!((way.effort - sum).abs() < 1e-9);
    assert_eq!(way.months, way.changes.iter().map(|change| change.months).max().unwrap_or(0));
}

fn table(text: &str) -> Table {
    Table::from_reader("t.csv", Cursor::new(text.to_string()), &TableOptions::default()).expect("a header")
}

fn fit(schema: &str, rows: &str, config: Config) -> Result<Model, par_fit::Error> {
    let schema = Schema::parse(schema, "s.toml").expect("a schema");
    ModelBuilder::new(schema, config).fit(|| Ok(table(rows)))
}
