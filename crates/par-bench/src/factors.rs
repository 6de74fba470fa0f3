//! Random tables of any width and length whose columns depend on each other strongly.

use std::fmt::Write as _;
use std::io::{Cursor, Write};
use std::ops::Range;

use par_data::{Schema, Table, TableOptions};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A random table whose columns follow a few latent factors. Same seed, same text, on any machine.
///
/// A person is a point of six factors. A column is a random mixture of about half of them with some noise, shown in turn
/// as one of 3 to 7 kinds, a real number, a whole number or a flag. Acceptance is a noisy linear rule over all columns: each
/// weighs as much as it tells of the sum of the factors, so that all of them together say who is accepted, and in a wide
/// table one change means little: people need one change, or twenty. Every fifth column can never change.
///
/// Each row has a random stream of its own: any rows can be written without those before them, and in little memory.
///
/// ```
/// use par_bench::factors::FactorTable;
///
/// let people = FactorTable::new(5, 1);
/// assert_eq!(people.text(0..2).lines().next(), Some("kind_0,number_1,whole_2,flag_3,kind_4,decision"));
/// assert!(people.text(0..9).lines().skip(8).eq(people.text(7..9).lines().skip(1)));
/// ```
#[derive(Clone, Debug)]
pub struct FactorTable {
    columns: Vec<FactorColumn>,
    /// The standard deviation of the rule's sum over all columns.
    deviation: f64,
    seed: u64,
}

/// How a column follows from the factors, and how it is shown.
#[derive(Clone, Debug)]
struct FactorColumn {
    /// Weights of the factors, and of the column's own noise, for a standard deviation of one.
    weights: [f64; FACTORS],
    noise: f64,
    /// The weight in the rule of acceptance.
    rule: f64,
    form: ColumnForm,
}

#[derive(Clone, Debug)]
enum ColumnForm {
    /// One of as many kinds as there are letters; the kinds have no order.
    Kind(Vec<char>),
    Number,
    Whole,
    /// Above this number.
    Flag(f64),
}

const FACTORS: usize = 6;
/// The standard deviation of a column's own noise, before the column is standardised. A factor's weight is about one.
const OWN_NOISE: f64 = 0.7;
/// The noise of the rule of acceptance, in standard deviations of its sum.
const RULE_NOISE: f64 = 0.5;
/// Every so many columns one can never change, the first among them.
const FIXED: usize = 5;
/// Kinds divide the numbers between these, evenly.
const KINDS_END: f64 = 1.25;
/// The random stream of the columns; rows have those below it.
const COLUMNS_STREAM: u64 = u64::MAX;
/// Text is written in pieces of about so many bytes.
const PIECE: usize = 1 << 16;

impl FactorTable {
    /// A table of so many columns beside the decision.
    ///
    /// # Panics
    /// With fewer than two columns: the first can never change.
    pub fn new(columns: usize, seed: u64) -> Self {
        assert!(columns >= 2, "the first column can never change");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(COLUMNS_STREAM);
        let columns: Vec<FactorColumn> =
            (0..columns).map(|place| FactorColumn::new(place, &mut rng)).collect();
        let together: [f64; FACTORS] =
            std::array::from_fn(|factor| columns.iter().map(|own| own.rule * own.weights[factor]).sum());
        let alone = columns.iter().map(|own| own.rule * own.noise);
        let variance = together.into_iter().chain(alone).map(|weight| weight * weight).sum::<f64>();
        Self { columns, deviation: variance.sqrt(), seed }
    }

    /// The schema, as TOML.
    pub fn schema_text(&self) -> String {
        let mut text = String::from(
            "version = 2\nname = \"factors\"\n\n\
             [label]\ncolumn = \"decision\"\nclasses = [\"denied\", \"accepted\"]\nfavourable = \"accepted\"\n",
        );
        for (place, column) in self.columns.iter().enumerate() {
            let is = match &column.form {
                ColumnForm::Kind(kinds) => {
                    let mut kinds: Vec<String> = kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
                    kinds.sort();
                    format!("kind = \"nominal\"\nvalues = [{}]", kinds.join(", "))
                }
                ColumnForm::Number => "kind = \"continuous\"".to_string(),
                ColumnForm::Whole => "kind = \"discrete\"".to_string(),
                ColumnForm::Flag(_) => "kind = \"nominal\"\nvalues = [\"no\", \"yes\"]".to_string(),
            };
            let change = if place % FIXED == 0 { "never" } else { "free" };
            push(
                &mut text,
                format_args!(
                    "\n[[feature]]\nname = \"{}\"\n{is}\nchange = \"{change}\"\n",
                    column.form.name(place)
                ),
            );
        }
        text
    }

    /// The schema.
    pub fn schema(&self) -> Schema {
        Schema::parse(&self.schema_text(), "factors.toml").expect("a schema of two features or more is valid")
    }

    /// Writes a header and some rows as CSV, piece by piece.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, rows: Range<u64>, writer: &mut impl Write) -> std::io::Result<()> {
        let mut text = String::with_capacity(PIECE + (1 << 12));
        for (place, column) in self.columns.iter().enumerate() {
            push(&mut text, format_args!("{},", column.form.name(place)));
        }
        text.push_str("decision\n");
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        for row in rows {
            rng.set_stream(row);
            rng.set_word_pos(0);
            self.person(&mut rng, &mut text);
            if text.len() >= PIECE {
                writer.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        writer.write_all(text.as_bytes())
    }

    /// A header and some rows as CSV.
    pub fn text(&self, rows: Range<u64>) -> String {
        let mut text = Vec::new();
        self.write(rows, &mut text).expect("memory can be written");
        String::from_utf8(text).expect("cells are text")
    }

    /// Some rows as a table.
    pub fn table(&self, rows: Range<u64>) -> Table {
        Table::from_reader("factors.csv", Cursor::new(self.text(rows)), &TableOptions::default())
            .expect("it has a header")
    }

    fn person(&self, rng: &mut ChaCha8Rng, text: &mut String) {
        let factors: [f64; FACTORS] = std::array::from_fn(|_| normal(rng));
        let mut score = RULE_NOISE * self.deviation * normal(rng);
        for column in &self.columns {
            let shared: f64 =
                column.weights.iter().zip(&factors).map(|(weight, factor)| weight * factor).sum();
            let number = shared + column.noise * normal(rng);
            score += column.rule * number;
            match &column.form {
                ColumnForm::Kind(kinds) => {
                    let place = (number + KINDS_END) / (2.0 * KINDS_END) * kinds.len() as f64;
                    let place = place.clamp(0.0, kinds.len() as f64 - 1.0) as usize;
                    push(text, format_args!("{},", kinds[place]));
                }
                ColumnForm::Number => push(text, format_args!("{:.1},", 100.0 * number)),
                ColumnForm::Whole => {
                    push(text, format_args!("{},", (3.0 * number + 8.5).clamp(0.0, 16.0) as u8));
                }
                ColumnForm::Flag(above) => text.push_str(if number > *above { "yes," } else { "no," }),
            }
        }
        text.push_str(if score > 0.0 { "accepted\n" } else { "denied\n" });
    }
}

impl FactorColumn {
    fn new(place: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut weights: [f64; FACTORS] =
            std::array::from_fn(|_| if rng.random_bool(0.5) { normal(rng) } else { 0.0 });
        let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
        let deviation = (squares + OWN_NOISE * OWN_NOISE).sqrt();
        weights.iter_mut().for_each(|weight| *weight /= deviation);
        let rule: f64 = weights.iter().sum();
        let form = match place % 4 {
            0 => {
                let mut kinds: Vec<char> = ('a'..='g').take(rng.random_range(3..=7)).collect();
                // Fisher and Yates, so that the order of kinds says nothing.
                for last in (1..kinds.len()).rev() {
                    kinds.swap(last, rng.random_range(0..=last));
                }
                ColumnForm::Kind(kinds)
            }
            1 => ColumnForm::Number,
            2 => ColumnForm::Whole,
            _ => ColumnForm::Flag(0.5 * normal(rng)),
        };
        Self { weights, noise: OWN_NOISE / deviation, rule, form }
    }
}

impl ColumnForm {
    fn name(&self, place: usize) -> String {
        let form = match self {
            Self::Kind(_) => "kind",
            Self::Number => "number",
            Self::Whole => "whole",
            Self::Flag(_) => "flag",
        };
        format!("{form}_{place}")
    }
}

/// Approximately normal: the sum of four uniform numbers, standardised. Equal on any machine.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let bits = rng.next_u64();
    let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
    (sum as f64 - 131_070.0) / 37_837.227
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_text() {
        let people = FactorTable::new(9, 7);
        assert_eq!(people.text(0..50), FactorTable::new(9, 7).text(0..50));
        assert_ne!(people.text(0..50), FactorTable::new(9, 8).text(0..50));
        // A checksum of the text detects changes of the generator.
        assert_eq!(crc32fast::hash(people.text(0..50).as_bytes()), 2_979_129_277);
    }

    #[test]
    fn any_rows_can_be_written_without_those_before_them() {
        let people = FactorTable::new(7, 3);
        let (all, some) = (people.text(0..40), people.text(25..40));
        assert!(all.lines().skip(26).eq(some.lines().skip(1)));
        assert_eq!(some.lines().count(), 16);
    }

    /// Remembers the longest piece.
    struct Pieces(usize, usize);

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            (self.0, self.1) = (self.0.max(bytes.len()), self.1 + bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn long_tables_are_written_in_pieces() {
        let mut pieces = Pieces(0, 0);
        FactorTable::new(10, 0).write(0..20_000, &mut pieces).expect("no errors");
        assert!(pieces.0 < 2 * PIECE && pieces.1 > 10 * PIECE, "{} of {}", pieces.0, pieces.1);
    }

    #[test]
    fn people_fit_the_schema_and_are_of_both_classes() {
        for columns in [2, 10, 200] {
            let people = FactorTable::new(columns, 0);
            let schema = people.schema();
            assert_eq!(schema.features().len(), columns);
            let table = people.table(0..1000);
            let own = schema.columns(table.origin(), table.columns()).expect("all columns");
            let rows = table.into_batch().expect("rows");
            let accepted = schema.classes(&own, &rows).expect("classes").into_iter().sum::<usize>();
            assert!((400..600).contains(&accepted), "{accepted} of {} with {columns}", rows.rows());
        }
    }

    /// The correlation of two columns of numbers.
    fn correlation(text: &str, columns: [usize; 2]) -> f64 {
        let number = |line: &str, column: usize| -> f64 {
            line.split(',').nth(column).expect("a cell").parse().expect("a number")
        };
        let pairs: Vec<[f64; 2]> =
            text.lines().skip(1).map(|line| columns.map(|column| number(line, column))).collect();
        let mean = [0, 1].map(|own| pairs.iter().map(|pair| pair[own]).sum::<f64>() / pairs.len() as f64);
        let product = |one: usize, other: usize| -> f64 {
            pairs.iter().map(|pair| (pair[one] - mean[one]) * (pair[other] - mean[other])).sum()
        };
        product(0, 1) / (product(0, 0) * product(1, 1)).sqrt()
    }

    #[test]
    fn columns_depend_on_each_other() {
        let text = FactorTable::new(42, 0).text(0..2000);
        let numbers: Vec<usize> = (1..42).step_by(4).collect();
        let pairs = numbers.iter().flat_map(|&one| numbers.iter().map(move |&other| [one, other]));
        let pairs: Vec<f64> = pairs
            .filter(|[one, other]| one < other)
            .map(|columns| correlation(&text, columns).abs())
            .collect();
        // Independent columns would have about 0.02.
        let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
        assert!(mean > 0.2, "{mean}");
        assert!(pairs.iter().filter(|correlation| **correlation > 0.4).count() > pairs.len() / 8);
    }
}
