//! The bytes of a model file.

use par_circuit::{Circuit, Code, Dataset};
use par_data::Discretizer;
use serde::{Deserialize, Serialize};

use super::{Model, ModelParts};
use crate::card::Card;
use crate::classifier::inputs::Inputs;
use crate::classifier::{DeployedClassifier, ExternalClassifier, NeuralClassifier};
use crate::config::Config;
use crate::container::{self, ContainerError};
use crate::error::ModelError;
use crate::generator::{Generator, GeneratorShape};
use crate::pool::AcceptedPool;
use crate::scale::ScoreScale;

const MAGIC: &[u8; 8] = b"PARMODL\n";
const VERSION: u32 = 2;

/// The JSON part of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    config: Config,
    card: Card,
    discretizer: Discretizer,
    threshold: f64,
    #[serde(default)]
    scale: ScoreScale,
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
    #[serde(rename = "given")]
    External {
        inputs: Inputs,
    },
}

impl Model {
    /// The bytes of the file: a [`container`] of the description as JSON, both circuits, the parameters of the
    /// classifier (or its surrogate) and of the generator, the pool's codes and its log-likelihoods, and the file of an
    /// external classifier.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts = &self.parts;
        let description = Description {
            config: parts.config.clone(),
            card: parts.card.clone(),
            discretizer: parts.discretizer.clone(),
            threshold: parts.threshold,
            scale: parts.scale,
            generator: parts.generator.shape().clone(),
            classifier: match &parts.classifier {
                DeployedClassifier::Trained(_) => Origin::Trained,
                DeployedClassifier::Surrogate { column, .. } => Origin::Scores { column: column.clone() },
                DeployedClassifier::External(external) => {
                    Origin::External { inputs: external.inputs().clone() }
                }
            },
        };
        let file = match &parts.classifier {
            DeployedClassifier::External(external) => external.file(),
            DeployedClassifier::Trained(_) | DeployedClassifier::Surrogate { .. } => &[],
        };
        let description = serde_json::to_vec(&description).expect("a description has only text keys");
        let floats =
            |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let codes = parts.pool.rows().codes().iter().flat_map(|code| code.to_le_bytes()).collect::<Vec<u8>>();
        let log_likelihoods =
            parts.pool.log_likelihoods().iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let sections = [
            description,
            parts.accepted.to_bytes(),
            parts.denied.to_bytes(),
            floats(parts.classifier.network().map_or(&[], NeuralClassifier::parameters)),
            floats(&parts.generator.parameters()),
            codes,
            log_likelihoods,
            file.to_vec(),
        ];
        container::frame(MAGIC, VERSION, &sections.each_ref().map(Vec::as_slice))
    }

    /// Reads what [`Model::to_bytes`] wrote.
    ///
    /// # Errors
    /// When the bytes are not a complete model of a known version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let [description, accepted, denied, network, generator, codes, log_likelihoods, file] = parts(bytes)?;
        let Description { config, card, discretizer, threshold, scale, generator: shape, classifier: origin } =
            serde_json::from_slice(description)?;
        config.check().map_err(|_| ModelError::Mismatch("a setting is out of its range"))?;
        let cardinalities = discretizer.cardinalities();
        let network = match network {
            [] => None,
            bytes => Some(
                numbers(bytes, f32::from_le_bytes)
                    .and_then(|parameters| {
                        let hidden = &config.classifier.hidden;
                        NeuralClassifier::from_parameters(cardinalities.clone(), hidden, parameters)
                    })
                    .ok_or(ModelError::Mismatch("the classifier has another shape"))?,
            ),
        };
        let classifier = match (origin, network) {
            (Origin::Trained, Some(network)) => DeployedClassifier::Trained(network),
            (Origin::Scores { column }, Some(network)) => DeployedClassifier::Surrogate { network, column },
            (Origin::External { inputs }, surrogate) => {
                let mut external = ExternalClassifier::new(file.to_vec(), inputs, &discretizer, scale)?;
                external.set_surrogate(surrogate);
                DeployedClassifier::External(Box::new(external))
            }
            (Origin::Trained | Origin::Scores { .. }, None) => {
                return Err(ModelError::Mismatch("there is no classifier"));
            }
        };
        let generator = numbers(generator, f32::from_le_bytes)
            .and_then(|parameters| Generator::from_parts(shape, &parameters))
            .ok_or(ModelError::Mismatch("the generator has another shape"))?;
        let pool = pool(cardinalities, codes, log_likelihoods, config.pool.neighbours)
            .ok_or(ModelError::Mismatch("the pool has other features"))?;
        let (accepted, denied) = (Circuit::from_bytes(accepted)?, Circuit::from_bytes(denied)?);
        Self::new(ModelParts {
            config,
            card,
            discretizer,
            classifier,
            threshold,
            scale,
            accepted,
            denied,
            pool,
            generator,
        })
    }
}

/// The parts of a file. Version 1 has no part for an external classifier.
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
