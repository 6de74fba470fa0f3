//! What a person may become, on tables with numbers that are easy to check.

mod categories;
mod common;
mod consequences;
mod effort;
mod numbers;
mod relations;
mod special;
mod time;
mod wishes;

use par_data::{Candidates, Choice, Constraints, Discretizer, OwnRow, Reach, Wishes};

use crate::{fit, schema, table};

/// A fitted table.
struct World {
    discretizer: Discretizer,
    constraints: Constraints,
}

impl World {
    /// A world of these features, in the TOML of schema 2 after `[[feature]]`, and of further tables such as
    /// relations. Each row is a line of cells.
    fn new(features: &[&str], tables: &str, rows: impl IntoIterator<Item = String>) -> Self {
        let mut text = String::from("version = 2\n");
        let names: Vec<&str> = features
            .iter()
            .map(|feature| feature.split('"').nth(1).expect("a feature begins with its name"))
            .collect();
        for feature in features {
            text += &format!("[[feature]]\n{feature}\n");
        }
        let mut csv = names.join(",") + "\n";
        rows.into_iter().for_each(|row| csv += &(row + "\n"));
        let discretizer = fit(&schema(&(text + tables)), table(&csv)).expect("a fit");
        Self { constraints: Constraints::new(&discretizer), discretizer }
    }

    /// A world of one whole number `x` from 0 to 399, equally common, in four bins of a hundred.
    fn bins(rest: &str) -> Self {
        let x = format!("name = \"x\"\nkind = \"discrete\"\nbins = 4\n{rest}");
        Self::new(&[&x], "", (0..400).map(|number| number.to_string()))
    }

    /// A world of one whole number `x` from 0 to 99, each with a code of its own.
    fn values(rest: &str) -> Self {
        let x = format!("name = \"x\"\nkind = \"discrete\"\nbins = 100\n{rest}");
        Self::new(&[&x], "", (0..100).map(|number| number.to_string()))
    }

    fn own(&self, cells: &[&str]) -> OwnRow {
        let codes = self.discretizer.encode_row(cells).expect("cells of the table").into_codes();
        OwnRow::new(&self.discretizer, cells, codes)
    }

    fn candidates(&self, cells: &[&str], wishes: &Wishes<'_>, reach: Reach) -> Candidates<'_> {
        self.constraints.candidates(&self.own(cells), wishes, reach)
    }

    /// The candidates of a person without wishes, for a classifier that reads codes.
    fn usual(&self, cells: &[&str]) -> Candidates<'_> {
        self.candidates(cells, &Wishes::default(), Reach::Codes)
    }

    /// The texts of all candidates of a feature but the person's own.
    fn texts(&self, candidates: &Candidates<'_>, feature: usize) -> Vec<String> {
        let text = |choice: usize| {
            let mut row = vec![0; self.constraints.features()];
            row[feature] = choice as Choice;
            candidates.text(&self.discretizer, &row, feature, "own")
        };
        (1..candidates.of(feature).len()).map(text).collect()
    }

    /// The person's row with other values of some features, and all consequences; `None` if one has none that it may
    /// have.
    fn row(&self, candidates: &Candidates<'_>, changes: &[(usize, &str)]) -> Option<Vec<Choice>> {
        let mut row = candidates.durations()[0].row.clone();
        for (feature, value) in changes {
            let texts = self.texts(candidates, *feature);
            let place = texts.iter().position(|text| text == value);
            let place = place.unwrap_or_else(|| panic!("{value} is not one of {texts:?}"));
            row[*feature] = place as Choice + 1;
        }
        candidates.settle(&mut row).then_some(row)
    }

    /// Whether the row with these changes keeps all relations.
    fn keeps(&self, candidates: &Candidates<'_>, changes: &[(usize, &str)]) -> bool {
        self.row(candidates, changes).is_some_and(|row| candidates.keeps_relations(&row))
    }
}

/// The numbers of all candidates of a feature but the person's own, ascending.
fn numbers(candidates: &Candidates<'_>, feature: usize) -> Vec<f64> {
    let mut numbers: Vec<f64> =
        candidates.of(feature)[1..].iter().map(|candidate| candidate.number).collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}
