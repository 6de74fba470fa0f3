//! The seam between training and answering: one file that holds all that answering needs.
//!
//! It holds the schema with its bins, the classifier, both circuits, the accepted pool, the generator, the
//! configuration and how training went, and not one training row: pool and generator are made from
//! circuits and classifier alone, so [`Bundle::refit`] can make them again.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use par_circuit::{Circuit, Code, Dataset};
use par_data::{Constraints, Discretizer, Schema};
use serde::{Deserialize, Serialize};

use crate::classifier::inputs::Inputs;
use crate::classifier::{
    self, DeployedClassifier, GivenClassifier, GivenError, NeuralClassifier, probability,
};
use crate::config::Config;
use crate::container::{self, ContainerError};
use crate::error::{BundleError, RowError};
use crate::generator::{self, Generator, GeneratorShape};
use crate::metrics::Mean;
use crate::pool::AcceptedPool;
use crate::words;

const MAGIC: &[u8; 8] = b"PARMODL\n";
const VERSION: u32 = 2;
/// A larger file is refused before it fills the memory.
const MAX_BYTES: u64 = 4 << 30;

/// Everything that recourse needs, ready to answer.
#[derive(Clone, Debug)]
pub struct Bundle {
    pub(crate) config: Config,
    pub(crate) card: Card,
    pub(crate) discretizer: Discretizer,
    pub(crate) constraints: Constraints,
    pub(crate) classifier: DeployedClassifier,
    pub(crate) threshold: f64,
    pub(crate) accepted: Circuit,
    pub(crate) denied: Circuit,
    pub(crate) pool: AcceptedPool,
    pub(crate) generator: Generator,
}

/// How a bundle was made: the facts of its model card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The program and its version.
    pub program: String,
    /// The classes that count as accepted and as denied, by name.
    pub classes: [String; 2],
    /// How many training rows each of the two had.
    pub rows: [usize; 2],
    /// How many training rows the classifier denies, where they were asked.
    pub denies: Option<usize>,
    /// The lowest and the highest score of a training row.
    #[serde(default)]
    pub scores: Option<[f64; 2]>,
    /// The share of rows for which a network that stands in for the classifier decides as it does, where there is
    /// one: rows kept back from it, or drawn anew.
    #[serde(default)]
    pub agreement: Option<Mean>,
    /// Mean log-probability of rows held back when each circuit was chosen.
    pub held_out: [f64; 2],
    /// Area under the ROC curve of the classifier on the training rows.
    pub auc: Option<f64>,
    /// Its share of right decisions on the training rows.
    pub accuracy: Option<f64>,
    /// The learning curve of the classifier, or of the network that stands in for it; empty where neither was trained.
    pub classifier: classifier::History,
    /// The generator's learning curves.
    pub generator: generator::History,
}

/// What stands in the file as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    config: Config,
    card: Card,
    discretizer: Discretizer,
    threshold: f64,
    generator: GeneratorShape,
    #[serde(default)]
    classifier: Origin,
}

/// Where the classifier comes from.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Origin {
    #[default]
    Trained,
    Scores {
        column: String,
    },
    Given {
        inputs: Inputs,
    },
}

impl Bundle {
    /// The schema.
    pub fn schema(&self) -> &Schema {
        self.discretizer.schema()
    }

    /// The schema with its bins.
    pub fn discretizer(&self) -> &Discretizer {
        &self.discretizer
    }

    /// What people may change.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// The classifier whose decisions are to be turned.
    pub fn classifier(&self) -> &DeployedClassifier {
        &self.classifier
    }

    /// The probability from which on a row is accepted.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The circuit of accepted rows, p⁺.
    pub fn accepted(&self) -> &Circuit {
        &self.accepted
    }

    /// The circuit of denied rows, p⁻.
    pub fn denied(&self) -> &Circuit {
        &self.denied
    }

    /// Accepted rows, drawn from the circuit.
    pub fn pool(&self) -> &AcceptedPool {
        &self.pool
    }

    /// The generator.
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// The configuration it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How it was made.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// The probability that a row of codes is accepted. Where the classifier looks at the values behind them, each code
    /// stands for the median of its bin: see [`Bundle::score`].
    pub fn probability(&self, row: &[Code]) -> f64 {
        probability(self.classifier.typical().log_odds(row))
    }

    /// The probability that a row is accepted, its cells in schema order.
    ///
    /// # Errors
    /// When a cell does not fit its column, or the classifier has no score for the row.
    ///
    /// # Panics
    /// When there are not as many cells as features.
    pub fn score(&self, cells: &[&str]) -> Result<f64, RowError> {
        let codes = self.discretizer.encode_row(cells)?;
        self.classifier.probability(cells, codes.codes())
    }

    /// What training never saw in a row, its cells in schema order, and what that counts as: a sentence for each cell.
    ///
    /// # Panics
    /// When there are more cells than features.
    pub fn warnings(&self, cells: &[&str]) -> Vec<String> {
        let warning = |(position, cell): (usize, &&str)| {
            let novelty = self.discretizer.novelty(position, cell)?;
            Some(words::novelty(&self.schema().features()[position], cell, novelty))
        };
        cells.iter().enumerate().filter_map(warning).collect()
    }

    /// The same bundle with another classifier, which was given. Generator, pool and circuits stay as they are, so the
    /// classifier should not differ much from the one they were made for.
    ///
    /// # Errors
    /// When the file cannot be read, or the inputs fit neither it nor the schema.
    pub fn with_classifier(&self, file: Vec<u8>, inputs: Inputs) -> Result<Self, GivenError> {
        let given = GivenClassifier::new(file, inputs, &self.discretizer)?;
        let card = Card {
            denies: None,
            scores: None,
            agreement: None,
            auc: None,
            accuracy: None,
            ..self.card.clone()
        };
        Ok(Self { card, classifier: DeployedClassifier::Given(Box::new(given)), ..self.clone() })
    }

    /// Reads a bundle from a file.
    ///
    /// # Errors
    /// When it cannot be read, is larger than 4 GiB, or is not a whole bundle of a known version.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, BundleError> {
        Self::read(File::open(path)?)
    }

    /// Reads a bundle from a file that is open.
    ///
    /// # Errors
    /// As [`Bundle::load`].
    pub fn read(file: File) -> Result<Self, BundleError> {
        let check = |found| match found {
            0..=MAX_BYTES => Ok(()),
            _ => Err(BundleError::TooLarge { found, expected: MAX_BYTES }),
        };
        check(file.metadata()?.len())?;
        let mut bytes = Vec::new();
        // A pipe does not tell its length beforehand.
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        check(bytes.len() as u64)?;
        Self::from_bytes(&bytes)
    }

    /// Writes the bundle to a file, which is whole or as it was before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), BundleError> {
        Ok(par_files::write(path, &self.to_bytes())?)
    }

    /// The bytes of the file: see [`container`], whose parts are the description as JSON, both circuits, the
    /// parameters of the classifier (or of what stands in for it) and of the generator, the pool's codes and its
    /// log-likelihoods, and the file of a classifier that was given.
    pub fn to_bytes(&self) -> Vec<u8> {
        let description = Description {
            config: self.config.clone(),
            card: self.card.clone(),
            discretizer: self.discretizer.clone(),
            threshold: self.threshold,
            generator: self.generator.shape().clone(),
            classifier: match &self.classifier {
                DeployedClassifier::Trained(_) => Origin::Trained,
                DeployedClassifier::StandIn { column, .. } => Origin::Scores { column: column.clone() },
                DeployedClassifier::Given(given) => Origin::Given { inputs: given.inputs().clone() },
            },
        };
        let file = match &self.classifier {
            DeployedClassifier::Given(given) => given.file(),
            DeployedClassifier::Trained(_) | DeployedClassifier::StandIn { .. } => &[],
        };
        let description = serde_json::to_vec(&description).expect("a description has only text keys");
        let floats =
            |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let codes = self.pool.rows().codes().iter().flat_map(|code| code.to_le_bytes()).collect::<Vec<u8>>();
        let log_likelihoods =
            self.pool.log_likelihoods().iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let parts = [
            description,
            self.accepted.to_bytes(),
            self.denied.to_bytes(),
            floats(self.classifier.network().map_or(&[], NeuralClassifier::parameters)),
            floats(&self.generator.parameters()),
            codes,
            log_likelihoods,
            file.to_vec(),
        ];
        container::frame(MAGIC, VERSION, &parts.each_ref().map(Vec::as_slice))
    }

    /// Reads what [`Bundle::to_bytes`] wrote.
    ///
    /// # Errors
    /// When the bytes are not a whole bundle of a known version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BundleError> {
        let [description, accepted, denied, network, generator, codes, log_likelihoods, file] = parts(bytes)?;
        let Description { config, card, discretizer, threshold, generator: shape, classifier: origin } =
            serde_json::from_slice(description)?;
        config.check().map_err(|_| BundleError::Mismatch("a setting is out of its range"))?;
        let cardinalities = discretizer.cardinalities();
        let of_features = |other: &[usize], what| match other == cardinalities {
            true => Ok(()),
            false => Err(BundleError::Mismatch(what)),
        };
        let (accepted, denied) = (Circuit::from_bytes(accepted)?, Circuit::from_bytes(denied)?);
        of_features(accepted.cardinalities(), "the accepted circuit has other features")?;
        of_features(denied.cardinalities(), "the denied circuit has other features")?;
        of_features(&shape.cardinalities, "the generator has other features")?;
        let network = match network {
            [] => None,
            bytes => Some(
                numbers(bytes, f32::from_le_bytes)
                    .and_then(|parameters| {
                        let hidden = &config.classifier.hidden;
                        NeuralClassifier::from_parameters(cardinalities.clone(), hidden, parameters)
                    })
                    .ok_or(BundleError::Mismatch("the classifier has another shape"))?,
            ),
        };
        let classifier = match (origin, network) {
            (Origin::Trained, Some(network)) => DeployedClassifier::Trained(network),
            (Origin::Scores { column }, Some(network)) => DeployedClassifier::StandIn { network, column },
            (Origin::Given { inputs }, stand_in) => {
                let mut given = GivenClassifier::new(file.to_vec(), inputs, &discretizer)?;
                given.set_stand_in(stand_in);
                DeployedClassifier::Given(Box::new(given))
            }
            (Origin::Trained | Origin::Scores { .. }, None) => {
                return Err(BundleError::Mismatch("there is no classifier"));
            }
        };
        let generator = numbers(generator, f32::from_le_bytes)
            .and_then(|parameters| Generator::from_parts(shape, &parameters))
            .ok_or(BundleError::Mismatch("the generator has another shape"))?;
        let pool = pool(cardinalities, codes, log_likelihoods, config.pool.neighbours)
            .ok_or(BundleError::Mismatch("the pool has other features"))?;
        if !(threshold > 0.0 && threshold < 1.0) {
            return Err(BundleError::Mismatch("the threshold is no probability"));
        }
        let constraints = constraints(&discretizer, &config)
            .map_err(|_| BundleError::Mismatch("an immutable feature is not in the schema"))?;
        Ok(Self {
            config,
            card,
            discretizer,
            constraints,
            classifier,
            threshold,
            accepted,
            denied,
            pool,
            generator,
        })
    }
}

/// The parts of a file, of which the first version had no classifier that was given.
fn parts(bytes: &[u8]) -> Result<[&[u8]; 8], ContainerError> {
    match container::parts(bytes, MAGIC, VERSION) {
        Err(ContainerError::OtherVersion { found: 1, .. }) => {
            let [description, accepted, denied, network, generator, codes, log_likelihoods] =
                container::parts(bytes, MAGIC, 1)?;
            Ok([description, accepted, denied, network, generator, codes, log_likelihoods, &[]])
        }
        parts => parts,
    }
}

/// What people may change.
///
/// # Errors
/// When the configuration names a feature that does not exist.
pub(crate) fn constraints(
    discretizer: &Discretizer,
    config: &Config,
) -> Result<Constraints, par_data::Error> {
    let constraints = Constraints::new(discretizer);
    Ok(match &config.immutable {
        Some(names) => constraints.with_immutable(&discretizer.schema().positions(names)?),
        None => constraints,
    })
}

fn numbers<T, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| chunks.iter().copied().map(number).collect())
}

fn pool(
    cardinalities: Vec<usize>,
    codes: &[u8],
    log_likelihoods: &[u8],
    neighbours: usize,
) -> Option<AcceptedPool> {
    let rows = Dataset::new(cardinalities, numbers(codes, Code::from_le_bytes)?).ok()?;
    AcceptedPool::from_parts(rows, numbers(log_likelihoods, f64::from_le_bytes)?, neighbours)
}
