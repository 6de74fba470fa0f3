//! Ways that hold when any one of their changes falls a step short.

use par_circuit::{Ball, Code};
use par_data::schema::FeatureKind;
use par_data::{Candidates, Choice, Discretizer, UNKNOWN};
use par_model::classifier::neural::offsets;
use par_model::classifier::{Classifier, Relaxation};

/// For each choice of each feature the choice one step nearer to the person's own: the next code between the two, or the
/// person's own value if there is none. A change between categories without an order, or from or to a special value, has no steps.
pub(crate) struct Steps {
    short: Vec<Vec<Option<Choice>>>,
}

impl Steps {
    pub(crate) fn new(discretizer: &Discretizer, candidates: &Candidates<'_>) -> Self {
        let features = discretizer.schema().features();
        let of = |feature: usize| {
            let list = candidates.of(feature);
            let is_ordered = features[feature].kind != FeatureKind::Nominal && candidates.is_free(feature);
            let ordinary = discretizer.domains()[feature].ordinary();
            let short = |choice: usize| {
                let (own, chosen) = (list[0].code, list[choice].code);
                let is_special = |code: Code| usize::from(code) >= ordinary;
                if choice == 0 || !is_ordered || own == UNKNOWN || is_special(own) || is_special(chosen) {
                    return None;
                }
                let is_between =
                    |code: Code| code != own && (own < code) == (code < chosen) && code != chosen;
                let distance = |other: usize| {
                    let codes = list[other].code.abs_diff(chosen);
                    let numbers = (list[other].number - list[choice].number).abs();
                    (codes, numbers)
                };
                let between = (1..list.len()).filter(|&other| is_between(list[other].code));
                let nearest = between.min_by(|&a, &b| {
                    let ((codes, numbers), (its_codes, its_numbers)) = (distance(a), distance(b));
                    codes.cmp(&its_codes).then(numbers.total_cmp(&its_numbers))
                });
                Some(nearest.unwrap_or(0) as Choice)
            };
            (0..list.len()).map(short).collect()
        };
        Self { short: (0..features.len()).map(of).collect() }
    }

    /// The choices that fall a step short of a row's, each with its feature.
    pub(crate) fn short_of<'a>(&'a self, row: &'a [Choice]) -> impl Iterator<Item = (usize, Choice)> + 'a {
        let of =
            |(feature, &choice): (usize, &Choice)| Some((feature, self.short[feature][usize::from(choice)]?));
        row.iter().enumerate().filter_map(of)
    }

    /// For each value of each feature, as a classifier reads it, the value one step short.
    fn values(
        &self,
        candidates: &Candidates<'_>,
        reads_values: bool,
        counts: &[usize],
    ) -> Vec<Vec<Option<Code>>> {
        let of = |(feature, short): (usize, &Vec<Option<Choice>>)| {
            // What follows from a feature changes with it, so such rows are asked only once they are found.
            if candidates.has_consequences(feature) {
                return vec![None; counts[feature]];
            }
            if reads_values {
                return short.clone();
            }
            let list = candidates.of(feature);
            let mut values = vec![None; counts[feature]];
            for (candidate, short) in list.iter().zip(short).filter(|(_, short)| short.is_some()) {
                values[usize::from(candidate.code)] = short.map(|short| list[usize::from(short)].code);
            }
            values
        };
        self.short.iter().enumerate().map(of).collect()
    }
}

/// A classifier whose log-odds are the lowest of those of a row and of all rows in which one change falls a step short.
pub(crate) struct SlackClassifier<'a> {
    inner: Box<dyn Classifier + 'a>,
    /// Where the values of each feature start.
    starts: Vec<usize>,
    /// For each value of each feature the one a step short.
    short: Vec<Vec<Option<Code>>>,
}

impl<'a> SlackClassifier<'a> {
    pub(crate) fn new(
        inner: Box<dyn Classifier + 'a>,
        steps: &Steps,
        candidates: &Candidates<'_>,
        reads_values: bool,
    ) -> Self {
        let short = steps.values(candidates, reads_values, inner.cardinalities());
        Self { starts: offsets(inner.cardinalities()), inner, short }
    }

    fn short(&self, feature: usize, code: Code) -> Option<Code> {
        self.short[feature].get(usize::from(code)).copied().flatten()
    }
}

impl Classifier for SlackClassifier<'_> {
    fn cardinalities(&self) -> &[usize] {
        self.inner.cardinalities()
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        let mut lowest = self.inner.log_odds(row);
        let mut missed = row.to_vec();
        for (feature, &code) in row.iter().enumerate() {
            if let Some(short) = self.short(feature, code) {
                missed[feature] = short;
                lowest = lowest.min(self.inner.log_odds(&missed));
                missed[feature] = code;
            }
        }
        lowest
    }

    fn neighbours(&self, row: &[Code], log_odds: &mut [f64]) {
        self.inner.neighbours(row, log_odds);
        let reached = log_odds.to_vec();
        for (feature, &start) in self.starts.iter().enumerate() {
            for (code, short) in self.short[feature].iter().enumerate() {
                if let Some(short) = short {
                    let missed = reached[start + usize::from(*short)];
                    log_odds[start + code] = log_odds[start + code].min(missed);
                }
            }
        }
        let (mut missed, mut others) = (row.to_vec(), vec![0.0; log_odds.len()]);
        for (feature, &code) in row.iter().enumerate() {
            let Some(short) = self.short(feature, code) else { continue };
            missed[feature] = short;
            self.inner.neighbours(&missed, &mut others);
            missed[feature] = code;
            let own = self.starts[feature]..self.starts[feature] + self.cardinalities()[feature];
            let lowest = log_odds.iter_mut().zip(&others).enumerate();
            lowest
                .filter(|(place, _)| !own.contains(place))
                .for_each(|(_, (own, other))| *own = own.min(*other));
        }
    }

    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        self.inner.log_odds_gradient(soft, gradient)
    }

    /// No row is above the bound of the row itself; what falls short may be any row.
    fn log_odds_bounds(&self, ball: &Ball) -> (f64, f64) {
        (f64::NEG_INFINITY, self.inner.log_odds_bounds(ball).1)
    }

    fn relaxation(&self, ball: &Ball) -> Option<Relaxation> {
        self.inner.relaxation(ball)
    }
}

#[cfg(test)]
mod tests {
    use par_data::schema::Schema;
    use par_data::{Constraints, DiscretizerConfig, OwnRow, Reach, Table, TableOptions, Wishes};
    use par_model::classifier::NeuralClassifier;

    use super::*;

    const SCHEMA: &str = r#"
version = 2

[[feature]]
name = "income"
kind = "discrete"
change = "increase"

[[feature]]
name = "debt"
kind = "discrete"
change = "free"
special = [-9]
transitions = { "-9" = "leave" }

[[feature]]
name = "job"
kind = "nominal"
values = ["cook", "clerk", "none"]
change = "free"

[[feature]]
name = "age"
kind = "discrete"
change = "never"
"#;

    fn discretizer() -> Discretizer {
        let mut rows = String::from("income,debt,job,age\n");
        for row in 0..60 {
            let debt = if row % 5 == 0 { "-9".to_string() } else { (row % 3).to_string() };
            let job = ["cook", "clerk", "none"][row % 3];
            rows += &format!("{},{debt},{job},{}\n", row % 4, 20 + row % 2);
        }
        let schema = Schema::parse(SCHEMA, "test").expect("a schema");
        let table = Table::from_reader("test", std::io::Cursor::new(rows), &TableOptions::default())
            .expect("a table");
        let columns = schema.columns(table.origin(), table.columns()).expect("columns");
        Discretizer::fit(&schema, &columns, table.batches(100), &DiscretizerConfig::default()).expect("bins")
    }

    #[test]
    fn a_step_short_is_the_next_code_toward_the_persons_own() {
        let discretizer = discretizer();
        let constraints = Constraints::new(&discretizer);
        let short = |cells: [&str; 4], to: [&str; 4]| {
            let codes = |cells: &[&str; 4]| discretizer.encode_row(cells).expect("codes").into_codes();
            let own = OwnRow::new(&discretizer, &cells, codes(&cells));
            let candidates = constraints.candidates(&own, &Wishes::default(), Reach::Codes);
            let choice = |(feature, code): (usize, Code)| {
                let list = candidates.of(feature);
                list.iter().position(|candidate| candidate.code == code).expect("a candidate") as Choice
            };
            let row: Vec<Choice> = codes(&to).into_iter().enumerate().map(choice).collect();
            let steps = Steps::new(&discretizer, &candidates);
            let text = |(feature, choice): (usize, Choice)| {
                let mut missed = row.clone();
                missed[feature] = choice;
                (feature, candidates.text(&discretizer, &missed, feature, cells[feature]))
            };
            steps.short_of(&row).map(text).collect::<Vec<_>>()
        };
        let own = ["0", "2", "cook", "20"];
        assert_eq!(short(own, own), []);
        assert_eq!(short(own, ["3", "2", "cook", "20"]), [(0, "2".to_string())]);
        assert_eq!(short(own, ["1", "0", "clerk", "20"]), [(0, "0".to_string()), (1, "1".to_string())]);
        assert_eq!(
            short(["0", "-9", "cook", "20"], ["0", "0", "cook", "20"]),
            [],
            "no steps from a special value"
        );
    }

    #[test]
    fn the_log_odds_are_the_lowest_of_all_rows_that_fall_short() {
        let counts = vec![3, 4, 2];
        let parameters: Vec<f32> =
            (0..9 * 4 + 4 + 4 + 1).map(|place| ((place * 37 % 23) as f32 - 11.0) / 7.0).collect();
        let network = NeuralClassifier::from_parameters(counts.clone(), &[4], parameters).expect("a network");
        let short =
            vec![vec![None, Some(0), Some(1)], vec![Some(1), None, Some(1), Some(2)], vec![None, None]];
        let starts = offsets(&counts);
        let slack =
            SlackClassifier { inner: Box::new(&network), starts: starts.clone(), short: short.clone() };
        for code in 0..24_u16 {
            let row = [code % 3, code / 3 % 4, code / 12];
            let mut lowest = network.log_odds(&row);
            for feature in 0..3 {
                if let Some(missed) = short[feature][usize::from(row[feature])] {
                    let mut other = row;
                    other[feature] = missed;
                    lowest = lowest.min(network.log_odds(&other));
                }
            }
            assert_eq!(slack.log_odds(&row), lowest);
            let mut neighbours = vec![0.0; 9];
            slack.neighbours(&row, &mut neighbours);
            for (feature, &start) in starts.iter().enumerate() {
                for value in 0..counts[feature] {
                    let mut other = row;
                    other[feature] = value as Code;
                    let (found, expected) = (neighbours[start + value], slack.log_odds(&other));
                    assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
                }
            }
        }
    }
}
