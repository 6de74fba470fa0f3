//! The classifier of a bundle, wherever it comes from.

use par_circuit::Code;

use super::given::{LimitedCode, file_hash};
use super::{Classifier, GivenClassifier, NeuralClassifier, Representative, probability};
use crate::error::RowError;

/// The classifier whose decisions recourse has to turn.
#[derive(Clone, Debug)]
pub enum DeployedClassifier {
    /// A network that was trained on the labels.
    Trained(NeuralClassifier),
    /// A network that imitates the scores in a column of the training table. The classifier that gave them is not at
    /// hand, so that no answer can be verified.
    StandIn {
        /// The network.
        network: NeuralClassifier,
        /// The column.
        column: String,
    },
    /// A file that was given.
    Given(Box<GivenClassifier>),
}

/// How far the score of an answer is above the threshold at least, where the classifier was given: other programs that
/// run it round otherwise.
const MARGIN: f64 = 1e-5;

impl DeployedClassifier {
    /// Over codes, for nobody in particular.
    pub fn typical(&self) -> Box<dyn Classifier + '_> {
        match self {
            Self::Trained(network) | Self::StandIn { network, .. } => Box::new(network),
            Self::Given(given) => given.typical(),
        }
    }

    /// Over codes, for one person, whose cells have the codes `factual`. Where some codes stand for other cells than
    /// those of their bins, `limited` says so.
    pub(crate) fn of_person(
        &self,
        cells: &[&str],
        factual: &[Code],
        representative: Representative,
        limited: &[LimitedCode],
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        match self {
            Self::Trained(network) | Self::StandIn { network, .. } => Ok(Box::new(network)),
            Self::Given(given) => given.of_person(cells, factual, representative, limited),
        }
    }

    /// What codes may stand for, in the order in which it is tried.
    pub(crate) fn representatives(&self) -> &'static [Representative] {
        match self {
            Self::Trained(_) | Self::StandIn { .. } => &[Representative::Any],
            Self::Given(_) => &[Representative::Nearest, Representative::Median, Representative::Farthest],
        }
    }

    /// The probability that a row is accepted, given its cells and their codes.
    ///
    /// # Errors
    /// When a cell cannot be turned into an input, or the row has no score.
    pub(crate) fn probability(&self, cells: &[&str], codes: &[Code]) -> Result<f64, RowError> {
        let log_odds = match self {
            Self::Trained(network) | Self::StandIn { network, .. } => network.log_odds(codes),
            Self::Given(given) => given.log_odds(cells)?,
        };
        if log_odds.is_finite() {
            Ok(probability(log_odds))
        } else {
            Err(RowError::NoScore { found: log_odds })
        }
    }

    /// The probability from which on a row is offered, given that from which on it is accepted.
    pub(crate) fn offered_from(&self, threshold: f64) -> f64 {
        match self {
            Self::Trained(_) | Self::StandIn { .. } => threshold,
            // Near one there may be no room for the margin.
            Self::Given(_) => (threshold + MARGIN).min(f64::midpoint(threshold, 1.0)),
        }
    }

    /// How many nodes its trees have; none, if it is a network.
    pub(crate) fn tree_nodes(&self) -> usize {
        match self {
            Self::Trained(_) | Self::StandIn { .. } => 0,
            Self::Given(given) => given.tree_nodes(),
        }
    }

    /// Its own network, or the one that stands in for it.
    pub fn network(&self) -> Option<&NeuralClassifier> {
        match self {
            Self::Trained(network) | Self::StandIn { network, .. } => Some(network),
            Self::Given(given) => given.stand_in(),
        }
    }

    /// Whether answers are checked by the classifier itself.
    pub fn verifies(&self) -> bool {
        !matches!(self, Self::StandIn { .. })
    }

    /// The SHA-256 of the file, or of the network's parameters, in hexadecimal digits.
    pub fn hash(&self) -> String {
        match self {
            Self::Trained(network) | Self::StandIn { network, .. } => file_hash(
                &network.parameters().iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>(),
            ),
            Self::Given(given) => given.hash(),
        }
    }
}
