//! Random tables of any width and length, for experiments and tests.

use std::fmt::Write;
use std::io::Cursor;

use par_data::{Schema, Table, TableOptions};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A random table of people. Same seed, same text, on any machine.
///
/// Every person has a chain of correlated numbers, one per feature, shown in turn as a whole number, an ordinal level, a
/// nominal kind or a real number. The first features are `age`, which only rises; `training`, a level that rises only if
/// `age` does; `origin`, an immutable kind that is sometimes missing; and `income`. Acceptance is a noisy linear rule of
/// the first five, so that a wider table extends a narrower one and has the same labels. The column `fold` has five folds.
///
/// ```
/// use par_bench::synthetic::Synthetic;
///
/// let people = Synthetic { rows: 3, features: 6, seed: 1 };
/// assert_eq!(people.table_text().lines().next(), Some("fold,age,training,origin,income,whole_4,level_5,class"));
/// assert_eq!(people.schema().features().len(), 6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// The number of people.
    pub rows: usize,
    /// The number of features, at least 1.
    pub features: usize,
    /// Another seed gives other people.
    pub seed: u64,
}

/// The correlation of neighbours in the chain, and the weight of noise, √(1 − 0.8²).
const CHAIN: [f64; 2] = [0.8, 0.6];
/// Weights of the first numbers of the chain in the rule of acceptance. The immutable one is smallest.
const WEIGHTS: [f64; 5] = [0.3, 0.8, 0.2, 1.0, 0.6];
/// The standard deviation of the rule's noise.
const NOISE: f64 = 0.7;
/// Levels and kinds are the quintiles of the standard normal distribution.
const CUTS: [f64; 4] = [-0.84, -0.25, 0.25, 0.84];
const FOLDS: usize = 5;
/// The share of people without an origin.
const MISSING: f64 = 0.02;

/// The form in which a feature shows its number.
#[derive(Clone, Copy)]
enum FeatureForm {
    Whole,
    Level,
    Kind,
    Number,
}

impl Synthetic {
    /// The schema, as TOML.
    pub fn schema_text(&self) -> String {
        let mut text = String::from(
            "name = \"synthetic\"\n\n[columns]\nfold = \"fold\"\n\n\
             [label]\ncolumn = \"class\"\nclasses = [\"denied\", \"accepted\"]\nfavourable = \"accepted\"\n",
        );
        for feature in 0..self.features {
            let is = match form(feature) {
                FeatureForm::Number => "kind = \"continuous\"",
                FeatureForm::Whole => "kind = \"discrete\"",
                FeatureForm::Level => "kind = \"ordinal\"\nvalues = [\"1\", \"2\", \"3\", \"4\", \"5\"]",
                FeatureForm::Kind => "kind = \"nominal\"\nvalues = [\"a\", \"b\", \"c\", \"d\", \"e\"]",
            };
            let may = match feature {
                AGE => "monotone = \"increasing\"\n",
                ORIGIN => "immutable = true\nmissing = true\n",
                _ => "",
            };
            push(&mut text, format_args!("\n[[feature]]\nname = \"{}\"\n{is}\n{may}", name(feature)));
        }
        if self.features > TRAINING {
            push(
                &mut text,
                format_args!(
                    "\n[[rule]]\nif_increases = \"{}\"\nmust_increase = \"{}\"\n",
                    name(TRAINING),
                    name(AGE)
                ),
            );
        }
        text
    }

    /// The people, as CSV with a header.
    pub fn table_text(&self) -> String {
        let mut text = String::from("fold");
        (0..self.features).for_each(|feature| push(&mut text, format_args!(",{}", name(feature))));
        text.push_str(",class\n");
        for row in 0..self.rows {
            push(&mut text, format_args!("{}", row % FOLDS));
            self.person(row, &mut text);
        }
        text
    }

    /// Writes the cells of one person after the first, and the class. Each person has a random stream.
    fn person(&self, row: usize, text: &mut String) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(row as u64);
        let mut score = NOISE * normal(&mut rng);
        let is_missing = rng.random_bool(MISSING);
        let mut number = normal(&mut rng);
        // The rule uses its features even if the table is narrower.
        for feature in 0..self.features.max(WEIGHTS.len()) {
            score += WEIGHTS.get(feature).map_or(0.0, |weight| weight * number);
            let level = CUTS.partition_point(|cut| *cut < number);
            match form(feature) {
                _ if feature >= self.features => {}
                FeatureForm::Kind if feature == ORIGIN && is_missing => text.push(','),
                FeatureForm::Number => push(text, format_args!(",{:.1}", 50.0 + 10.0 * number)),
                FeatureForm::Whole => {
                    push(text, format_args!(",{:.0}", (40.0 + 12.0 * number).clamp(0.0, 90.0)));
                }
                FeatureForm::Level => push(text, format_args!(",{}", level + 1)),
                // Letters out of order: kinds have no order.
                FeatureForm::Kind => push(text, format_args!(",{}", ["c", "a", "e", "b", "d"][level])),
            }
            number = CHAIN[0] * number + CHAIN[1] * normal(&mut rng);
        }
        text.push_str(if score > 0.0 { ",accepted\n" } else { ",denied\n" });
    }

    /// The schema.
    ///
    /// # Panics
    /// Without features.
    pub fn schema(&self) -> Schema {
        Schema::parse(&self.schema_text(), "synthetic.toml")
            .expect("a schema of at least one feature is valid")
    }

    /// The people.
    pub fn table(&self) -> Table {
        Table::from_reader("synthetic.csv", Cursor::new(self.table_text()), &TableOptions::default())
            .expect("it has a header")
    }
}

/// Positions of features with a special role.
const AGE: usize = 0;
const TRAINING: usize = 1;
const ORIGIN: usize = 2;
const INCOME: usize = 3;

fn form(feature: usize) -> FeatureForm {
    [FeatureForm::Whole, FeatureForm::Level, FeatureForm::Kind, FeatureForm::Number][feature % 4]
}

fn name(feature: usize) -> String {
    match (feature, form(feature)) {
        (AGE, _) => "age".to_string(),
        (TRAINING, _) => "training".to_string(),
        (ORIGIN, _) => "origin".to_string(),
        (INCOME, _) => "income".to_string(),
        (_, FeatureForm::Number) => format!("number_{feature}"),
        (_, FeatureForm::Whole) => format!("whole_{feature}"),
        (_, FeatureForm::Level) => format!("level_{feature}"),
        (_, FeatureForm::Kind) => format!("kind_{feature}"),
    }
}

/// Approximately normal: the sum of twelve uniform numbers, minus six. Additions alone are equal on any machine.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_text() {
        let people = Synthetic { rows: 50, features: 9, seed: 7 };
        assert_eq!(people.table_text(), people.table_text());
        assert_ne!(people.table_text(), Synthetic { seed: 8, ..people }.table_text());
        // A checksum of the text detects changes of the generator.
        assert_eq!(crc32fast::hash(people.table_text().as_bytes()), 3_291_934_275);
    }

    #[test]
    fn a_wider_table_extends_a_narrower_one() {
        let narrow = Synthetic { rows: 20, features: 5, seed: 3 };
        let (narrow, wide) = (narrow.table_text(), Synthetic { features: 40, ..narrow }.table_text());
        for (narrow, wide) in narrow.lines().zip(wide.lines()) {
            let (cells, class) = narrow.rsplit_once(',').expect("cells");
            assert!(wide.starts_with(&format!("{cells},")) && wide.ends_with(class), "{narrow}\n{wide}");
        }
    }

    #[test]
    fn people_fit_the_schema_and_are_of_both_classes() {
        for features in [1, 2, 3, 5, 80] {
            let people = Synthetic { rows: 400, features, seed: 0 };
            let schema = people.schema();
            assert_eq!(schema.features().len(), features);
            assert_eq!(schema.rules().len(), usize::from(features > 1));
            let table = people.table();
            let columns = schema.columns(table.origin(), table.columns()).expect("all columns");
            let rows = table.into_batch().expect("rows");
            let classes = schema.classes(&columns, &rows).expect("classes");
            let accepted = classes.iter().filter(|class| **class == 1).count();
            assert!((120..280).contains(&accepted), "{accepted} of {}", rows.rows());
        }
    }
}
