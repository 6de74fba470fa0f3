//! The classifier of a model: trained here, external, or known by its scores alone.

use par_circuit::Code;

use par_data::Candidates;

use super::certificate::{Addends, CertifiedNetwork, End, ParameterBox};
use super::external::file_hash;
use super::neural::ones;
use super::{Classifier, ExternalClassifier, NeuralClassifier};
use crate::error::RowError;
use crate::scale::ScoreScale;

/// The classifier that decides who is accepted.
#[derive(Clone, Debug)]
pub enum DeployedClassifier {
    /// A network trained on the labels.
    Trained(NeuralClassifier),
    /// A surrogate, trained on a column of scores in the training table. The classifier itself is not available, so no
    /// answer can be verified.
    Surrogate {
        /// The network.
        network: NeuralClassifier,
        /// The column of scores.
        column: String,
    },
    /// An external classifier, in an ONNX file.
    External(Box<ExternalClassifier>),
}

/// How far above the threshold of an external classifier a way must score: programs that run it round differently.
const MARGIN: f64 = 1e-5;

/// Bisection ends after so many steps, whatever the precision.
const MOST_HALVINGS: usize = 52;

/// All networks within δ of a network over one-hot rows.
fn parameter_box(network: &NeuralClassifier, delta: f64) -> ParameterBox<'_> {
    ParameterBox::new(network.layers(), &network.activations, delta)
}

fn check(delta: f64) -> Result<(), RowError> {
    if (0.0..=1.0).contains(&delta) { Ok(()) } else { Err(RowError::Delta { found: delta }) }
}

impl DeployedClassifier {
    /// The classifier over codes, each standing for the median of its bin.
    pub fn typical(&self) -> Box<dyn Classifier + '_> {
        match self {
            Self::Trained(network) | Self::Surrogate { network, .. } => Box::new(network),
            Self::External(external) => external.typical(),
        }
    }

    /// The classifier for one person, who has these cells: over the choices of their candidates if it
    /// [reads values](DeployedClassifier::reads_values), otherwise over codes.
    ///
    /// # Errors
    /// When a cell cannot be turned into an input, or its number makes the score infinite.
    pub fn of_person(
        &self,
        cells: &[&str],
        candidates: &Candidates<'_>,
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        match self {
            Self::Trained(network) | Self::Surrogate { network, .. } => Ok(Box::new(network)),
            Self::External(external) => external.of_person(cells, candidates),
        }
    }

    /// As [`DeployedClassifier::of_person`], but always over choices.
    ///
    /// # Errors
    /// As there.
    pub fn of_choices(
        &self,
        cells: &[&str],
        candidates: &Candidates<'_>,
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        match self {
            Self::Trained(network) | Self::Surrogate { network, .. } => {
                Ok(Box::new(network.over_choices(candidates)))
            }
            Self::External(external) => external.of_person(cells, candidates),
        }
    }

    /// As [`DeployedClassifier::of_person`], but the log-odds are a lower bound on those of every classifier within
    /// `delta`, from 0 to 1, of this one:
    ///
    /// - networks each of whose weights and biases differs by at most `delta` times the largest weight of its layer;
    /// - trees each of whose thresholds differs by at most `delta` times the spread (MAD) of its column.
    ///
    /// Neighbours are scored in single precision, and so are near the bound rather than below it.
    ///
    /// # Errors
    /// When `delta` is not from 0 to 1, a cell cannot be turned into an input, or its number makes the score infinite.
    pub fn certified(
        &self,
        cells: &[&str],
        candidates: &Candidates<'_>,
        delta: f64,
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        check(delta)?;
        match self {
            Self::Trained(network) | Self::Surrogate { network, .. } => {
                let addends = Addends::of_codes(network, network.cardinalities());
                Ok(Box::new(CertifiedNetwork::new(parameter_box(network, delta), addends, End::Lowest)?))
            }
            Self::External(external) => external.certified(cells, candidates, delta),
        }
    }

    /// As [`DeployedClassifier::certified`], but always over choices.
    ///
    /// # Errors
    /// As there.
    pub fn certified_of_choices(
        &self,
        cells: &[&str],
        candidates: &Candidates<'_>,
        delta: f64,
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        match self {
            Self::Trained(network) | Self::Surrogate { network, .. } => {
                check(delta)?;
                let addends = Addends::of_choices(network, candidates);
                Ok(Box::new(CertifiedNetwork::new(parameter_box(network, delta), addends, End::Lowest)?))
            }
            Self::External(external) => external.certified(cells, candidates, delta),
        }
    }

    /// A lower bound on the log-odds of a row of cells, which have these codes, by every classifier within `delta`; see
    /// [`DeployedClassifier::certified`].
    ///
    /// # Errors
    /// When `delta` is not from 0 to 1, a cell cannot be turned into an input, or the row has no score.
    pub fn certified_log_odds(&self, cells: &[&str], codes: &[Code], delta: f64) -> Result<f64, RowError> {
        check(delta)?;
        let log_odds = match self {
            Self::Trained(network) | Self::Surrogate { network, .. } => {
                let bounds = parameter_box(network, delta).bounds_of_ones(ones(&network.offsets, codes));
                End::Lowest.of(bounds)
            }
            Self::External(external) => external.certified_log_odds(cells, delta)?,
        };
        if log_odds.is_finite() { Ok(log_odds) } else { Err(RowError::NoScore { found: log_odds }) }
    }

    /// The largest δ, up to 1 and to `precision`, for which the [certified
    /// log-odds](DeployedClassifier::certified_log_odds) of a row are at least `least_log_odds`. 0 if they are not for
    /// any.
    ///
    /// # Errors
    /// When a cell cannot be turned into an input, or the row has no score.
    pub fn certified_up_to(
        &self,
        cells: &[&str],
        codes: &[Code],
        least_log_odds: f64,
        precision: f64,
    ) -> Result<f64, RowError> {
        let holds = |delta: f64| match self.certified_log_odds(cells, codes, delta) {
            Ok(log_odds) => Ok(log_odds >= least_log_odds),
            // The bound of a wide box may be infinite where the row's own score is not.
            Err(RowError::NoScore { .. }) if delta > 0.0 => Ok(false),
            Err(error) => Err(error),
        };
        if !holds(0.0)? {
            return Ok(0.0);
        }
        if holds(1.0)? {
            return Ok(1.0);
        }
        let [mut holding, mut failing] = [0.0, 1.0];
        for _ in 0..MOST_HALVINGS {
            if failing - holding <= precision {
                break;
            }
            let middle = (holding + failing) / 2.0;
            if holds(middle)? { holding = middle } else { failing = middle }
        }
        Ok(holding)
    }

    /// Whether it reads values, rather than codes.
    pub fn reads_values(&self) -> bool {
        matches!(self, Self::External(_))
    }

    /// The log-odds that a row of cells, which have these codes, is accepted.
    ///
    /// # Errors
    /// When a cell cannot be turned into an input, or the row has no score.
    pub fn log_odds(&self, cells: &[&str], codes: &[Code]) -> Result<f64, RowError> {
        let log_odds = match self {
            Self::Trained(network) | Self::Surrogate { network, .. } => network.log_odds(codes),
            Self::External(external) => external.log_odds(cells)?,
        };
        if log_odds.is_finite() { Ok(log_odds) } else { Err(RowError::NoScore { found: log_odds }) }
    }

    /// The score at which a row is offered, for a threshold.
    pub fn offered_from(&self, threshold: f64, scale: ScoreScale) -> f64 {
        match (self, scale) {
            (Self::Trained(_) | Self::Surrogate { .. }, _) => threshold,
            (Self::External(_), ScoreScale::Probability) => scale.harder(threshold, MARGIN),
            // Single precision rounds large numbers by more.
            (Self::External(_), ScoreScale::Number { spread, .. }) => {
                scale.harder(threshold, MARGIN * spread.max(threshold.abs()))
            }
        }
    }

    /// How many nodes its trees have; 0 for a network.
    pub fn tree_nodes(&self) -> usize {
        match self {
            Self::Trained(_) | Self::Surrogate { .. } => 0,
            Self::External(external) => external.tree_nodes(),
        }
    }

    /// Its own network, or its surrogate.
    pub fn network(&self) -> Option<&NeuralClassifier> {
        match self {
            Self::Trained(network) | Self::Surrogate { network, .. } => Some(network),
            Self::External(external) => external.surrogate(),
        }
    }

    /// Whether the classifier itself checks answers, rather than a surrogate.
    pub fn verifies(&self) -> bool {
        !matches!(self, Self::Surrogate { .. })
    }

    /// The SHA-256 of the file, or of the network's parameters, in hexadecimal digits.
    pub fn hash(&self) -> String {
        match self {
            Self::Trained(network) | Self::Surrogate { network, .. } => file_hash(
                &network.parameters().iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>(),
            ),
            Self::External(external) => external.hash(),
        }
    }
}
