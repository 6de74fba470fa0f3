//! Compares with what scikit-learn says of a small table: `tests/reference.json`, written by `tests/reference.py`.

use par_data::{Discretizer, DiscretizerConfig, Schema, Table, TableOptions};
use par_fit::classifier::auc;
use serde_json::Value as Json;

use crate::boosting::BoostedTrees;
use crate::neighbours::{Neighbourhood, Surroundings};
use crate::space::{Row, Space};
use crate::telling::examples;

const FOLDS: usize = 5;

struct Reference(Json);

impl Reference {
    fn read() -> Self {
        Self(serde_json::from_str(include_str!("../tests/reference.json")).expect("JSON"))
    }

    fn numbers(&self, key: &str) -> Vec<f64> {
        serde_json::from_value(self.0[key].clone()).expect("numbers")
    }

    fn cells(&self, key: &str) -> Vec<Vec<String>> {
        serde_json::from_value(self.0[key].clone()).expect("rows of cells")
    }

    /// Accepted rows and answers in the judge's space, whose units are those of the accepted rows.
    fn rows(&self) -> [Vec<Row>; 2] {
        let schema: String = ["income", "age", "delays"]
            .map(|name| format!("[[feature]]\nname = \"{name}\"\nkind = \"continuous\"\n"))
            .into_iter()
            .chain(
                ["job", "city"].map(|name| format!("[[feature]]\nname = \"{name}\"\nkind = \"nominal\"\n")),
            )
            .collect();
        let schema = Schema::parse(&schema, "schema.toml").expect("a schema");
        let [accepted, answers] = ["accepted", "answers"].map(|key| self.cells(key));
        let lines = std::iter::once(&schema.features().iter().map(|of| of.name.clone()).collect())
            .chain(&accepted)
            .chain(&answers)
            .map(|cells: &Vec<String>| cells.join(",") + "\n")
            .collect::<String>();
        let lines = std::io::Cursor::new(lines.into_bytes());
        let table = Table::from_reader("t.csv", lines, &TableOptions::default()).expect("a table");
        let columns = schema.columns(table.origin(), table.columns()).expect("all columns");
        let bins = DiscretizerConfig::default();
        let discretizer = Discretizer::fit(&schema, &columns, table.batches(64), &bins).expect("bins");
        let [accepted, answers] = [&accepted, &answers].map(|rows| {
            rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect::<Vec<Vec<&str>>>()
        });
        let space = Space::new(&discretizer, &accepted.iter().collect::<Vec<_>>()).expect("a space");
        [accepted, answers].map(|rows| rows.iter().map(|cells| space.row(cells).expect("a row")).collect())
    }
}

fn assert_close(found: impl Iterator<Item = f64>, expected: &[f64]) {
    let found: Vec<f64> = found.collect();
    assert_eq!(found.len(), expected.len());
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 1e-9, "row {place}: {found}, scikit-learn says {expected}");
    }
}

#[test]
fn neighbours_and_outliers_are_those_of_scikit_learn() {
    let reference = Reference::read();
    let [accepted, answers] = reference.rows();
    let rows = Neighbourhood::new(&accepted);
    let found = rows.of(&answers.iter().collect::<Vec<_>>());
    assert_close(found.iter().map(|row| row.distance), &reference.numbers("distances"));
    assert_close(found.iter().map(|row| row.outlier_factor), &reference.numbers("outlier_factors"));
    let outliers: Vec<bool> = serde_json::from_value(reference.0["outliers"].clone()).expect("decisions");
    assert_eq!(found.into_iter().map(Surroundings::is_outlier).collect::<Vec<_>>(), outliers);
    assert!(outliers.contains(&true) && outliers.contains(&false));

    let own = rows.own();
    assert_close(own.iter().map(|row| row.distance), &reference.numbers("own_distances"));
    assert_close(own.iter().map(|row| row.outlier_factor), &reference.numbers("own_outlier_factors"));
}

#[test]
fn boosted_trees_rank_as_those_of_scikit_learn() {
    let reference = Reference::read();
    let [accepted, answers] = reference.rows();
    let [accepted, answers] = [&accepted, &answers].map(|rows| rows.iter().collect::<Vec<_>>());
    let pairs: Vec<usize> = (0..answers.len()).collect();
    let examples = examples(&answers, &accepted, &pairs);
    for (fold, expected) in reference.numbers("aucs").into_iter().enumerate() {
        let (held_out, training): (Vec<usize>, Vec<usize>) =
            (0..2 * pairs.len()).partition(|row| row % pairs.len() % FOLDS == fold);
        let trees = BoostedTrees::fit(&examples, &training);
        let scores: Vec<f64> =
            held_out.iter().map(|&row| trees.log_odds(|column| examples.columns[column][row])).collect();
        let classes: Vec<bool> = held_out.iter().map(|&row| examples.classes[row]).collect();
        let found = auc(&scores, &classes).expect("both classes");
        assert!((found - expected).abs() < 0.002, "fold {fold}: {found}, scikit-learn says {expected}");
    }
}
