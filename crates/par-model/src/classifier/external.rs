//! An external classifier: an ONNX file over raw values.
//!
//! For one person every feature has a few candidate values. Over them it is a classifier of rows of choices, which
//! scores a row of choices as it scores the row as written.

mod network;
mod trees;

use par_data::schema::Side;
use par_data::{Candidates, CellError, Discretizer, Schema};
use par_onnx::{Body, Graph, OnnxClassifier, TreeNode, Value};
use sha2::{Digest, Sha256};

use self::network::NetworkTables;
use self::trees::TreeTables;
use super::certificate::End;
use super::composed::ComposedClassifier;
use super::inputs::{Encoding, Inputs, InputsError};
use super::trees::MOST_BYTES;
use super::{Classifier, NeuralClassifier};
use crate::error::RowError;
use crate::scale::ScoreScale;

/// Why a file cannot be the classifier of a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExternalError {
    /// The ONNX file cannot be read.
    #[error(transparent)]
    Onnx(#[from] par_onnx::Error),
    /// The inputs do not fit the file or the schema.
    #[error(transparent)]
    Inputs(#[from] InputsError),
    /// A category of the schema cannot be turned into an input.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// The tables of all codes would not fit into memory.
    #[error(
        "{codes} codes times {width} numbers of the classifier are too many, expected at most {MOST_NUMBERS}\nhint: use fewer bins"
    )]
    TooLarge {
        /// The number of codes of all features.
        codes: usize,
        /// The numbers stored for each of them.
        width: usize,
    },
    /// The score of some rows would not be a number.
    #[error(
        "the classifier's score of some rows is not a number\nhint: set `missing` in the inputs to the value of a missing cell, and scale numbers as the classifier expects them"
    )]
    NoScore,
    /// It would accept from something that is no score.
    #[error("the threshold is {found}, expected {expected}")]
    Threshold {
        /// The threshold.
        found: f64,
        /// What was expected, in words.
        expected: &'static str,
    },
}

/// The most numbers stored for all codes together: a quarter of a gigabyte for each of three tables.
const MOST_NUMBERS: usize = 1 << 26;

/// A classifier from an ONNX file, and how a row becomes its inputs.
#[derive(Clone, Debug)]
pub struct ExternalClassifier {
    file: Vec<u8>,
    inputs: Inputs,
    encoding: Encoding,
    onnx: OnnxClassifier,
    /// The sources that read each feature.
    sources: Vec<Vec<usize>>,
    /// One for each part.
    tables: Vec<Tables>,
    /// Gives gradients if the classifier has none.
    surrogate: Option<NeuralClassifier>,
}

/// What the classifier needs of every code, precomputed.
#[derive(Clone, Debug)]
enum Tables {
    Network(NetworkTables),
    Trees(TreeTables),
}

impl Tables {
    fn typical<'a>(&'a self, surrogate: Option<&'a NeuralClassifier>) -> Box<dyn Classifier + 'a> {
        match self {
            Self::Network(tables) => Box::new(tables.typical()),
            Self::Trees(tables) => Box::new(tables.typical(surrogate)),
        }
    }

    fn of_person(
        &self,
        view: &View<'_>,
        cells: &[&str],
        candidates: &Candidates<'_>,
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        Ok(match self {
            Self::Network(tables) => Box::new(tables.of_person(view, cells, candidates)?),
            Self::Trees(tables) => Box::new(tables.of_person(view, cells, candidates)?),
        })
    }

    fn certified(
        &self,
        view: &View<'_>,
        cells: &[&str],
        candidates: &Candidates<'_>,
        delta: f64,
        end: End,
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        Ok(match self {
            Self::Network(tables) => Box::new(tables.certified(view, cells, candidates, delta, end)?),
            Self::Trees(tables) => Box::new(tables.certified(view, cells, candidates, delta, end)?),
        })
    }
}

/// So many versions have sets of leaves as large as those of the deployed classifier; of more each has less.
const VERSIONS_WITH_ALL: u64 = 8;

impl ExternalClassifier {
    /// Reads a file for the rows of a schema with its bins. `inputs` must have the mean and the deviation wherever it
    /// standardizes. A number that it predicts is divided by the spread of the scale, whose center is zero.
    ///
    /// # Errors
    /// When the file cannot be read, or the inputs fit neither it nor the schema.
    pub fn new(
        file: Vec<u8>,
        inputs: Inputs,
        discretizer: &Discretizer,
        scale: ScoreScale,
    ) -> Result<Self, ExternalError> {
        Self::within(MOST_BYTES, file, inputs, discretizer, scale)
    }

    /// The same as one of so many versions.
    ///
    /// # Errors
    /// As [`ExternalClassifier::new`].
    pub(super) fn version(
        file: Vec<u8>,
        inputs: Inputs,
        discretizer: &Discretizer,
        scale: ScoreScale,
        versions: usize,
    ) -> Result<Self, ExternalError> {
        let share = VERSIONS_WITH_ALL * MOST_BYTES / versions.max(1) as u64;
        Self::within(share.min(MOST_BYTES), file, inputs, discretizer, scale)
    }

    /// The sets of leaves of trees take at most `most_bytes`.
    fn within(
        most_bytes: u64,
        file: Vec<u8>,
        inputs: Inputs,
        discretizer: &Discretizer,
        scale: ScoreScale,
    ) -> Result<Self, ExternalError> {
        let graph = Graph::from_bytes(&file)?;
        let encoding = inputs.encoding(discretizer.schema(), graph.inputs())?.of_rows(discretizer)?;
        let onnx = graph.classifier(&encoding.widths(), &inputs.choice(scale)?)?;
        let encoding = encoding.of_sources(onnx.sources());
        let onnx = match scale {
            ScoreScale::Probability => onnx,
            ScoreScale::Number { spread, side: Side::AtLeast, .. } => onnx.scaled(1.0 / spread),
            ScoreScale::Number { spread, side: Side::AtMost, .. } => onnx.scaled(-1.0 / spread),
        };
        let mut sources = vec![Vec::new(); discretizer.domains().len()];
        for (source, this) in onnx.sources().iter().enumerate() {
            sources[encoding.feature(this.input)].push(source);
        }
        let codes: usize = discretizer.cardinalities().iter().sum();
        let width = |part: &Body| match part {
            Body::Layers(layers) => layers.dense[0].biases.len(),
            Body::Trees(_) => onnx.sources().len(),
        };
        let width = onnx.parts().iter().map(width).sum();
        if codes.saturating_mul(width) > MOST_NUMBERS {
            return Err(ExternalError::TooLarge { codes, width });
        }
        let view = View { encoding: &encoding, onnx: &onnx, sources: &sources };
        let most_bytes = most_bytes / onnx.parts().len().max(1) as u64;
        let tables = |part: &Body| {
            Ok(match part {
                Body::Layers(layers) => {
                    let tables = NetworkTables::new(layers, &view, discretizer)?;
                    Tables::Network(tables.ok_or(ExternalError::NoScore)?)
                }
                Body::Trees(trees) => Tables::Trees(TreeTables::new(trees, &view, discretizer, most_bytes)?),
            })
        };
        let tables = onnx.parts().iter().map(tables).collect::<Result<_, ExternalError>>()?;
        Ok(Self { file, inputs, encoding, onnx, sources, tables, surrogate: None })
    }

    /// The bytes of the file.
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// The SHA-256 of the file, in hexadecimal digits.
    pub fn hash(&self) -> String {
        file_hash(&self.file)
    }

    /// How a row becomes its inputs.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The file as layers or trees.
    pub fn onnx(&self) -> &OnnxClassifier {
        &self.onnx
    }

    /// Its kind and size in words: `a network of 108 → 64 → 32 → 1`, `100 trees with 3000 leaves`; for each of its
    /// parts, if it tells more than two classes apart: `2 times 100 trees with 3000 leaves`.
    pub fn shape(&self) -> String {
        match self.onnx.parts().len() {
            1 => self.part_shape(),
            parts => format!("{parts} times {}", self.part_shape()),
        }
    }

    fn part_shape(&self) -> String {
        match &self.onnx.parts()[0] {
            Body::Layers(layers) => {
                let widths = layers.dense.iter().map(|dense| dense.biases.len());
                let widths: Vec<String> = [self.onnx.sources().len()]
                    .into_iter()
                    .chain(widths)
                    .map(|width| width.to_string())
                    .collect();
                format!("a network of {}", widths.join(" → "))
            }
            Body::Trees(trees) => {
                let leaves = trees.nodes.iter().filter(|node| matches!(node, TreeNode::Leaf(_))).count();
                format!("{} trees with {leaves} leaves", trees.roots.len())
            }
        }
    }

    /// How many nodes its trees have; 0 for a network.
    pub fn tree_nodes(&self) -> usize {
        let nodes = |part: &Body| match part {
            Body::Layers(_) => 0,
            Body::Trees(trees) => trees.nodes.len(),
        };
        self.onnx.parts().iter().map(nodes).sum()
    }

    /// The features of the schema, by position, that it does not read.
    pub fn unused(&self, schema: &Schema) -> Vec<usize> {
        self.encoding.unused(schema)
    }

    /// Whether it has gradients of its own. Otherwise training a generator needs a surrogate.
    pub fn is_differentiable(&self) -> bool {
        self.onnx.parts().iter().all(|part| matches!(part, Body::Layers(_)))
    }

    /// The surrogate that gives gradients, if there is one.
    pub fn surrogate(&self) -> Option<&NeuralClassifier> {
        self.surrogate.as_ref()
    }

    /// Sets the surrogate that gives gradients.
    pub fn set_surrogate(&mut self, surrogate: Option<NeuralClassifier>) {
        self.surrogate = surrogate;
    }

    /// The log-odds that a row is accepted, its cells in schema order, by the file's own operators, which may give NaN.
    ///
    /// # Errors
    /// When a cell cannot be turned into an input.
    pub fn log_odds(&self, cells: &[&str]) -> Result<f64, CellError> {
        let places = 0..self.encoding.len();
        let values: Vec<Value<'_>> = places
            .map(|place| self.encoding.value(place, cells[self.encoding.feature(place)]))
            .collect::<Result<_, _>>()?;
        let found = self.log_odds_by_sets(&values);
        debug_assert!(found.is_none_or(|found| found.to_bits() == self.onnx.log_odds(&values).to_bits()));
        Ok(found.unwrap_or_else(|| self.onnx.log_odds(&values)))
    }

    /// The same by sets of leaves, bit by bit; `None` if there are parts without.
    fn log_odds_by_sets(&self, values: &[Value<'_>]) -> Option<f64> {
        let number = |&source: &usize| {
            let source = &self.onnx.sources()[source];
            source.number(values[source.input])
        };
        let has_trees = |tables: &Tables| matches!(tables, Tables::Trees(_));
        if !self.tables.iter().all(has_trees) {
            return None;
        }
        let numbers: Vec<f32> = self.sources.iter().flatten().map(number).collect();
        let part = |tables: &Tables| match tables {
            Tables::Trees(trees) => trees.log_odds(&numbers),
            Tables::Network(_) => None,
        };
        match &self.tables[..] {
            [only] => part(only),
            parts => {
                let parts = parts.iter().map(part).collect::<Option<Vec<f64>>>()?;
                Some(self.onnx.head().log_odds(&parts))
            }
        }
    }

    /// The classifier over codes where every code stands for the median of its bin.
    pub fn typical(&self) -> Box<dyn Classifier + '_> {
        let surrogate = self.surrogate.as_ref();
        self.composed(self.tables.iter().map(|tables| tables.typical(surrogate)).collect())
    }

    /// The classifier over the candidates of one person, who has these cells.
    ///
    /// # Errors
    /// When a cell cannot be turned into an input, or its number makes the score infinite.
    pub fn of_person(
        &self,
        cells: &[&str],
        candidates: &Candidates<'_>,
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        let view = self.view();
        let parts = self.tables.iter().map(|tables| tables.of_person(&view, cells, candidates));
        Ok(self.composed(parts.collect::<Result<_, _>>()?))
    }

    /// The classifier of all parts.
    fn composed<'a>(&'a self, mut parts: Vec<Box<dyn Classifier + 'a>>) -> Box<dyn Classifier + 'a> {
        match parts.len() {
            1 => parts.remove(0),
            _ => Box::new(ComposedClassifier::new(parts, self.onnx.head(), self.surrogate.as_ref())),
        }
    }

    /// The classifier over the candidates of one person whose log-odds are a lower bound on those of every classifier
    /// within `delta`; see [`DeployedClassifier::certified`](super::DeployedClassifier::certified).
    pub(super) fn certified(
        &self,
        cells: &[&str],
        candidates: &Candidates<'_>,
        delta: f64,
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        let view = self.view();
        let head = self.onnx.head();
        let part = |(place, tables)| {
            let end = if head.rises_with(place) { End::Lowest } else { End::Highest };
            Tables::certified(tables, &view, cells, candidates, delta, end)
        };
        Ok(self.composed(self.tables.iter().enumerate().map(part).collect::<Result<_, _>>()?))
    }

    /// The same for a row as written.
    pub(super) fn certified_log_odds(&self, cells: &[&str], delta: f64) -> Result<f64, CellError> {
        let part = |(tables, body): (&Tables, &Body)| {
            let [lower, upper] = match (tables, body) {
                (Tables::Network(tables), _) => tables.certified_bounds(&self.view(), cells, delta)?,
                (Tables::Trees(tables), Body::Trees(trees)) => {
                    tables.certified_bounds(trees, &self.view(), cells, delta)?
                }
                (Tables::Trees(_), Body::Layers(_)) => unreachable!("the tables of a part are of its kind"),
            };
            Ok((lower, upper))
        };
        let parts = self.tables.iter().zip(self.onnx.parts()).map(part);
        Ok(self.onnx.head().bounds(&parts.collect::<Result<Vec<_>, CellError>>()?).0)
    }

    /// A row as written, to bound the log-odds of rows near it.
    ///
    /// # Errors
    /// When a cell cannot be turned into an input.
    pub fn written(&self, cells: &[&str]) -> Result<WrittenRow<'_>, CellError> {
        let view = self.view();
        let numbers = cells.iter().enumerate().map(|(feature, cell)| view.numbers(feature, cell));
        let numbers: Vec<Vec<f32>> = numbers.collect::<Result<_, _>>()?;
        let parts = self.tables.iter().map(|tables| match tables {
            Tables::Network(tables) => WrittenPart::Network(tables.first_sums(&view, &numbers)),
            Tables::Trees(tables) => WrittenPart::Trees(tables.known_sets(&numbers)),
        });
        let parts = parts.collect();
        Ok(WrittenRow { external: self, numbers, parts })
    }

    fn view(&self) -> View<'_> {
        View { encoding: &self.encoding, onnx: &self.onnx, sources: &self.sources }
    }
}

/// A row as written, as an external classifier reads it.
pub struct WrittenRow<'a> {
    external: &'a ExternalClassifier,
    /// For each feature, the numbers of its sources.
    numbers: Vec<Vec<f32>>,
    parts: Vec<WrittenPart<'a>>,
}

/// What a part of the classifier makes of a row as written.
enum WrittenPart<'a> {
    /// The sums of the first layer.
    Network(Vec<f64>),
    /// For each feature, the leaves that it leads to, if they are known.
    Trees(Vec<Option<&'a [u64]>>),
}

impl WrittenRow<'_> {
    /// A lower bound on the log-odds of the row with the cells of some features anywhere within `ranges`; `None` for
    /// inputs that are not linear in the cell.
    pub fn least_log_odds(&self, ranges: &[(usize, [&str; 2])]) -> Option<f64> {
        let Self { external, numbers, parts } = self;
        let view = external.view();
        // What lies between the ends is covered only if each number rises or falls throughout.
        let is_line = |&source: &usize| external.onnx.sources()[source].is_affine();
        if !ranges.iter().all(|(feature, _)| external.sources[*feature].iter().all(is_line)) {
            return None;
        }
        let ends = |&(feature, ends): &(usize, [&str; 2])| {
            let [low, high] = ends.map(|end| view.numbers(feature, end).ok());
            Some((feature, [low?, high?]))
        };
        let ranges: Vec<Range> = ranges.iter().map(ends).collect::<Option<_>>()?;
        let part =
            |((written, tables), body): ((&WrittenPart<'_>, &Tables), &Body)| match (written, tables, body) {
                (WrittenPart::Network(sums), Tables::Network(tables), _) => {
                    tables.bounds_within(&view, numbers, sums, &ranges)
                }
                (WrittenPart::Trees(known), Tables::Trees(tables), Body::Trees(trees)) => {
                    Some(tables.bounds_within(trees, &view, numbers, known, &ranges))
                }
                _ => unreachable!("the tables of a part are of its kind"),
            };
        let parts = parts.iter().zip(&external.tables).zip(external.onnx.parts()).map(part);
        Some(external.onnx.head().bounds(&parts.collect::<Option<Vec<_>>>()?).0)
    }
}

/// A feature, and the numbers of its sources at both ends of a range.
type Range = (usize, [Vec<f32>; 2]);

/// The SHA-256 of a file's bytes, in hexadecimal digits.
pub fn file_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Turns the cells of single features into the numbers of their sources.
struct View<'a> {
    encoding: &'a Encoding,
    onnx: &'a OnnxClassifier,
    sources: &'a [Vec<usize>],
}

impl View<'_> {
    /// The numbers of a feature's sources for a cell.
    fn numbers(&self, feature: usize, cell: &str) -> Result<Vec<f32>, CellError> {
        // All sources of one-hot categories read the same input.
        let mut last: Option<(usize, Value<'_>)> = None;
        let number = |&source: &usize| {
            let source = &self.onnx.sources()[source];
            let value = match last {
                Some((input, value)) if input == source.input => value,
                _ => self.encoding.value(source.input, cell)?,
            };
            last = Some((source.input, value));
            Ok(source.number(value))
        };
        self.sources[feature].iter().map(number).collect()
    }

    /// The same for a missing cell; `None` if the feature may not be missing.
    fn missing(&self, feature: usize) -> Option<Vec<f32>> {
        let number = |&source: &usize| {
            let source = &self.onnx.sources()[source];
            Some(source.number(self.encoding.missing(source.input)?))
        };
        self.sources[feature].iter().map(number).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use par_circuit::{Ball, Code};
    use par_data::{
        Batch, Choice, Constraints, DiscretizerConfig, Limits, OwnRow, Permitted, Reach, Wishes,
        german_credit,
    };
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::probability;
    use super::*;

    impl ExternalClassifier {
        /// The numbers of all sources for a row.
        pub(crate) fn numbers(&self, cells: &[&str]) -> Vec<f64> {
            let mut numbers = vec![f64::NAN; self.onnx.sources().len()];
            for (feature, cell) in cells.iter().enumerate() {
                let own = self.view().numbers(feature, cell).expect("inputs");
                let sources = self.sources[feature].iter();
                sources.zip(own).for_each(|(&source, number)| numbers[source] = f64::from(number));
            }
            numbers
        }
    }

    /// Classifiers of German Credit that scikit-learn trained on its raw columns.
    pub(crate) const FILES: [(&str, &[u8], &str); 3] = [
        (
            "network",
            include_bytes!("../../tests/fixtures/external/network.onnx"),
            include_str!("../../tests/fixtures/external/network.toml"),
        ),
        (
            "flat",
            include_bytes!("../../tests/fixtures/external/flat.onnx"),
            include_str!("../../tests/fixtures/external/flat.toml"),
        ),
        (
            "boosting",
            include_bytes!("../../tests/fixtures/external/boosting.onnx"),
            include_str!("../../tests/fixtures/external/boosting.toml"),
        ),
    ];

    pub(crate) struct German {
        pub(crate) discretizer: Discretizer,
        batch: Batch,
        columns: par_data::Columns,
    }

    impl German {
        pub(crate) fn new() -> Self {
            let (schema, table) = (german_credit::schema(), german_credit::table());
            let columns = schema.columns(table.origin(), table.columns()).expect("its own schema");
            let batch = table.batches(1000).next().expect("rows").expect("cells");
            let rows = [Ok(batch.clone())];
            let discretizer =
                Discretizer::fit(&schema, &columns, rows, &DiscretizerConfig::default()).expect("bins");
            Self { discretizer, batch, columns }
        }

        pub(crate) fn external(&self, file: &[u8], inputs: &str) -> ExternalClassifier {
            let inputs = Inputs::parse(inputs).expect("inputs");
            let rows = [Ok(self.batch.clone())];
            let inputs =
                inputs.standardized(self.discretizer.schema(), &self.columns, rows).expect("numbers");
            ExternalClassifier::new(file.to_vec(), inputs, &self.discretizer, ScoreScale::Probability)
                .expect("a classifier")
        }

        pub(crate) fn cells(&self, row: usize) -> Vec<&str> {
            self.columns.features.iter().map(|&column| self.batch.cell(row, column)).collect()
        }

        /// No limits, and limits that cut through bins.
        fn limits(&self) -> [Limits; 2] {
            let schema = self.discretizer.schema();
            let between =
                |name, range| (schema.position(name).expect("a feature"), Permitted::Between(range));
            let some = [
                between("Duration", [7.5, 20.0]),
                between("Credit amount", [1500.0, 3333.0]),
                between("Age", [f64::NEG_INFINITY, 40.0]),
            ];
            [Limits::default(), Limits::new(&self.discretizer, some).expect("limits")]
        }

        /// The candidates of a person, with as many values as there can be.
        pub(crate) fn candidates<'c>(
            &self,
            constraints: &'c Constraints,
            cells: &[&str],
            limits: &Limits,
        ) -> Candidates<'c> {
            let codes = self.discretizer.encode_row(cells).expect("codes").into_codes();
            let own = OwnRow::new(&self.discretizer, cells, codes);
            constraints.candidates(&own, &Wishes { limits, ..Wishes::default() }, Reach::AllValues)
        }
    }

    pub(crate) fn random_choices(
        candidates: &Candidates<'_>,
        changes: usize,
        rng: &mut ChaCha8Rng,
    ) -> Vec<Choice> {
        let counts = candidates.counts();
        let mut row = vec![0; counts.len()];
        for _ in 0..changes {
            let feature = rng.random_range(0..row.len());
            row[feature] = rng.random_range(0..counts[feature] as Choice);
        }
        row
    }

    #[test]
    fn for_a_person_a_row_of_choices_scores_as_the_row_as_written() {
        let german = German::new();
        let constraints = Constraints::new(&german.discretizer);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (name, file, inputs) in FILES {
            let external = german.external(file, inputs);
            for (person, limits) in (0..1000).step_by(97).zip(german.limits().iter().cycle()) {
                let cells = german.cells(person);
                let candidates = german.candidates(&constraints, &cells, limits);
                let classifier = external.of_person(&cells, &candidates).expect("inputs");
                for _ in 0..40 {
                    let row = random_choices(&candidates, 4, &mut rng);
                    let written: Vec<String> = (0..row.len())
                        .map(|feature| candidates.text(&german.discretizer, &row, feature, cells[feature]))
                        .collect();
                    let written: Vec<&str> = written.iter().map(String::as_str).collect();
                    let (found, expected) =
                        (classifier.log_odds(&row), external.log_odds(&written).expect("inputs"));
                    assert!((found - expected).abs() < 1e-4, "{name}: {found}, not {expected}");
                }
            }
        }
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let german = German::new();
        for (name, file, inputs) in &FILES[..2] {
            let external = german.external(file, inputs);
            let typical = external.typical();
            let codes: usize = typical.cardinalities().iter().sum();
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            let soft: Vec<f32> = (0..codes).map(|_| rng.random_range(0.0..0.3)).collect();
            let mut gradient = vec![0.0; codes];
            typical.log_odds_gradient(&soft, &mut gradient);
            for (place, &slope) in gradient.iter().enumerate() {
                let moved = |by: f32| {
                    let mut soft = soft.clone();
                    soft[place] += by;
                    typical.log_odds_gradient(&soft, &mut vec![0.0; codes])
                };
                let expected = (moved(1e-3) - moved(-1e-3)) / 2e-3;
                assert!((f64::from(slope) - expected).abs() < 2e-2, "{name}: {slope} is not {expected}");
            }
        }
    }

    #[test]
    fn bounds_contain_the_rows_of_a_ball() {
        let german = German::new();
        let constraints = Constraints::new(&german.discretizer);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (name, file, inputs) in FILES {
            let external = german.external(file, inputs);
            for person in (0..1000).step_by(111) {
                let cells = german.cells(person);
                let candidates = german.candidates(&constraints, &cells, &Limits::NONE);
                let classifier = external.of_person(&cells, &candidates).expect("inputs");
                let counts = candidates.counts();
                for changes in 0..4 {
                    let mut ball = Ball::new(&counts, vec![0; counts.len()], changes);
                    for (feature, &count) in counts.iter().enumerate() {
                        if rng.random_bool(0.6) {
                            ball.offer(feature, &(0..count as Code).collect::<Vec<_>>());
                        }
                    }
                    let (lower, upper) = classifier.log_odds_bounds(&ball);
                    for _ in 0..200 {
                        let row = random_choices(&candidates, changes, &mut rng);
                        if ball.contains(&row) {
                            let found = classifier.log_odds(&row);
                            let is_within = lower <= found && found <= upper;
                            assert!(is_within, "{name}: {found} is not in {lower}, {upper}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn within_ranges_the_log_odds_are_at_least_the_bound() {
        let german = German::new();
        let names = ["Duration", "Credit amount", "Age"];
        let features = german.discretizer.schema().positions(&names).expect("features");
        let ranges = [["4", "24"], ["250", "5000"], ["25", "40"]];
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for (name, file, inputs) in &FILES {
            let external = german.external(file, inputs);
            for person in (0..1000).step_by(101) {
                let mut cells = german.cells(person);
                features.iter().zip(&ranges).for_each(|(&feature, range)| cells[feature] = range[0]);
                let ranged: Vec<(usize, [&str; 2])> = features.iter().copied().zip(ranges).collect();
                let least = external.written(&cells).expect("inputs").least_log_odds(&ranged).expect("lines");
                for _ in 0..100 {
                    let numbers = ranges.map(|[low, high]| {
                        let [low, high] = [low, high].map(|text| text.parse::<f64>().expect("a number"));
                        rng.random_range(low..=high).to_string()
                    });
                    let mut within = cells.clone();
                    features.iter().zip(&numbers).for_each(|(&feature, number)| within[feature] = number);
                    let found = external.log_odds(&within).expect("inputs");
                    assert!(found >= least, "{name}: {found} is below {least}");
                }
            }
        }
    }

    #[test]
    fn rows_score_as_onnxruntime_scores_them() {
        let german = German::new();
        let scores = [
            include_str!("../../tests/fixtures/external/network.csv"),
            include_str!("../../tests/fixtures/external/flat.csv"),
            include_str!("../../tests/fixtures/external/boosting.csv"),
        ];
        for ((name, file, inputs), scores) in FILES.into_iter().zip(scores) {
            let external = german.external(file, inputs);
            let scores: Vec<f64> =
                scores.lines().skip(1).map(|line| line.parse().expect("a score")).collect();
            assert_eq!(scores.len(), german.batch.rows());
            for (row, expected) in scores.into_iter().enumerate() {
                let found = probability(external.log_odds(&german.cells(row)).expect("inputs"));
                assert!((found - expected).abs() < 1e-5, "{name}, row {row}: {found}, not {expected}");
            }
        }
    }
}
