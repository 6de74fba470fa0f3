//! The bytes of a model file.

use par_circuit::{Circuit, Code, Dataset};
use par_data::Discretizer;
use serde::{Deserialize, Serialize};

use super::{Model, ModelParts};
use crate::card::Card;
use crate::classifier::inputs::Inputs;
use crate::classifier::{
    ClassifierConfig, DeployedClassifier, ExternalClassifier, NeuralClassifier, Version,
};
use crate::config::Config;
use crate::container::{self, ContainerError};
use crate::error::ModelError;
use crate::generator::{Generator, GeneratorShape};
use crate::pool::AcceptedPool;
use crate::scale::ScoreScale;

const MAGIC: &[u8; 8] = b"PARMODL\n";
const VERSION: u32 = 3;

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
    #[serde(default)]
    versions: Vec<VersionDescription>,
}

/// Another version of the classifier, whose bytes are in the last part of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionDescription {
    name: String,
    threshold: f64,
    scale: ScoreScale,
    origin: VersionOrigin,
    /// How many bytes of the last part it takes.
    bytes: u64,
}

/// Where a version of the classifier comes from.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum VersionOrigin {
    /// A network with these hidden layers.
    Trained { hidden: Vec<usize> },
    /// An ONNX file.
    External { inputs: Inputs },
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
    /// classifier (or its surrogate) and of the generator, the pool's codes and its log-likelihoods, the file of an
    /// external classifier, and the parameters or files of its other versions.
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
            versions: parts.versions.iter().map(VersionDescription::new).collect(),
        };
        let file = match &parts.classifier {
            DeployedClassifier::External(external) => external.file(),
            DeployedClassifier::Trained(_) | DeployedClassifier::Surrogate { .. } => &[],
        };
        let description = serde_json::to_vec(&description).expect("a description has only text keys");
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
            parts.versions.iter().flat_map(version_bytes).collect(),
        ];
        container::frame(MAGIC, VERSION, &sections.each_ref().map(Vec::as_slice))
    }

    /// Reads what [`Model::to_bytes`] wrote.
    ///
    /// # Errors
    /// When the bytes are not a complete model of a known version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let [description, accepted, denied, network, generator, codes, log_likelihoods, file, versions] =
            parts(bytes)?;
        let Description {
            config,
            card,
            discretizer,
            threshold,
            scale,
            generator: shape,
            classifier: origin,
            versions: described,
        } = serde_json::from_slice(description)?;
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
        let versions = read_versions(described, versions, &discretizer, scale)?;
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
            versions,
            accepted,
            denied,
            pool,
            generator,
        })
    }
}

/// The parts of a file. Version 1 has no part for an external classifier, and version 2 none for other versions of it.
fn parts(bytes: &[u8]) -> Result<[&[u8]; 9], ContainerError> {
    match container::parts(bytes, MAGIC, VERSION) {
        Err(ContainerError::OtherVersion { found: 1, .. }) => {
            Ok(padded(container::parts::<7>(bytes, MAGIC, 1)?))
        }
        Err(ContainerError::OtherVersion { found: 2, .. }) => {
            Ok(padded(container::parts::<8>(bytes, MAGIC, 2)?))
        }
        parts => parts,
    }
}

/// The parts, followed by empty ones.
fn padded<const N: usize>(parts: [&[u8]; N]) -> [&[u8]; 9] {
    let mut padded: [&[u8]; 9] = [&[]; 9];
    padded[..N].copy_from_slice(&parts);
    padded
}

impl VersionDescription {
    fn new(version: &Version) -> Self {
        let origin = match &version.classifier {
            DeployedClassifier::External(external) => {
                VersionOrigin::External { inputs: external.inputs().clone() }
            }
            DeployedClassifier::Trained(network) | DeployedClassifier::Surrogate { network, .. } => {
                let widths = network.widths();
                VersionOrigin::Trained { hidden: widths[1..widths.len() - 1].to_vec() }
            }
        };
        let bytes = version_bytes(version).len() as u64;
        let Version { name, threshold, scale, .. } = version;
        Self { name: name.clone(), threshold: *threshold, scale: *scale, origin, bytes }
    }
}

/// The parameters of a version, or its file.
fn version_bytes(version: &Version) -> Vec<u8> {
    match &version.classifier {
        DeployedClassifier::External(external) => external.file().to_vec(),
        DeployedClassifier::Trained(network) | DeployedClassifier::Surrogate { network, .. } => {
            floats(network.parameters())
        }
    }
}

/// More versions than anybody would ask.
const MOST_VERSIONS: usize = 1000;
/// The longest name of a version, in bytes.
const LONGEST_NAME: usize = 200;

/// Refuses what no program of ours writes, before anything is read.
fn check_versions(described: &[VersionDescription]) -> Result<(), ModelError> {
    let has_name = |version: &VersionDescription| {
        version.name.len() <= LONGEST_NAME && !version.name.contains(char::is_control)
    };
    let has_shape = |version: &VersionDescription| match &version.origin {
        VersionOrigin::Trained { hidden } => {
            ClassifierConfig { hidden: hidden.clone(), ..ClassifierConfig::default() }.check().is_ok()
        }
        VersionOrigin::External { .. } => true,
    };
    if described.len() > MOST_VERSIONS {
        return Err(ModelError::Mismatch("there are too many versions of the classifier"));
    }
    match described.iter().all(|version| has_name(version) && has_shape(version)) {
        true => Ok(()),
        false => Err(ModelError::Mismatch("a version of the classifier has no usual name or shape")),
    }
}

fn read_versions(
    described: Vec<VersionDescription>,
    mut bytes: &[u8],
    discretizer: &Discretizer,
    scale: ScoreScale,
) -> Result<Vec<Version>, ModelError> {
    let count = described.len();
    let mut versions = Vec::with_capacity(count);
    check_versions(&described)?;
    for VersionDescription { name, threshold, scale: own_scale, origin, bytes: length } in described {
        let split = usize::try_from(length).ok().and_then(|length| bytes.split_at_checked(length));
        let (own, rest) = split.ok_or(ModelError::Mismatch("the versions of the classifier are cut off"))?;
        bytes = rest;
        versions.push(match origin {
            VersionOrigin::Trained { hidden } => {
                let network = numbers(own, f32::from_le_bytes).and_then(|parameters| {
                    NeuralClassifier::from_parameters(discretizer.cardinalities(), &hidden, parameters)
                });
                let network =
                    network.ok_or(ModelError::Mismatch("a version of the classifier has another shape"))?;
                Version {
                    name,
                    classifier: DeployedClassifier::Trained(network),
                    threshold,
                    scale: own_scale,
                }
            }
            VersionOrigin::External { inputs } => {
                Version::external(name, own.to_vec(), inputs, threshold, discretizer, scale, count)?
            }
        });
    }
    match bytes {
        [] => Ok(versions),
        _ => Err(ModelError::Mismatch("bytes follow the versions of the classifier")),
    }
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
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
