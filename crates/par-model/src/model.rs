//! The model: everything that fitting produces and answering needs, in one file.
//!
//! It holds the schema with its bins, the classifier and its other versions, both circuits, the accepted pool, the generator, the
//! configuration and the card, but no training row.

#[cfg(feature = "files")]
mod file;
mod format;

use std::sync::Arc;

use par_circuit::{Circuit, Code};
use par_data::schema::Goal;
use par_data::{Constraints, Discretizer, OwnRow, Schema};

use crate::card::Card;
use crate::classifier::inputs::Inputs;
use crate::classifier::{Classifier, DeployedClassifier, ExternalClassifier, ExternalError, Version};
use crate::config::Config;
use crate::error::{ModelError, RowError};
use crate::generator::Generator;
use crate::plausibility::{Plausibilities, Plausibility};
use crate::pool::AcceptedPool;
use crate::scale::ScoreScale;

/// Everything that answering needs, checked to fit together.
#[derive(Clone, Debug)]
pub struct Model {
    parts: ModelParts,
    constraints: Constraints,
    plausibilities: Plausibilities,
}

/// The parts of a model.
#[derive(Clone, Debug)]
pub struct ModelParts {
    /// The settings it was made with.
    pub config: Config,
    /// How it was made.
    pub card: Card,
    /// The schema with its bins.
    pub discretizer: Discretizer,
    /// The classifier that decides who is accepted.
    pub classifier: DeployedClassifier,
    /// The score that is accepted, or a surer one.
    pub threshold: f64,
    /// What a score is.
    pub scale: ScoreScale,
    /// Other versions of the classifier, which lasting ways are accepted by too.
    pub versions: Vec<Version>,
    /// The circuit of accepted rows, p⁺.
    pub accepted: Circuit,
    /// The circuit of denied rows, p⁻.
    pub denied: Circuit,
    /// Accepted rows, drawn from the circuit.
    pub pool: AcceptedPool,
    /// The generator.
    pub generator: Generator,
}

impl Model {
    /// A model of these parts.
    ///
    /// # Errors
    /// When the parts do not fit each other.
    pub fn new(parts: ModelParts) -> Result<Self, ModelError> {
        let cardinalities = parts.discretizer.cardinalities();
        let check = |fits, what| if fits { Ok(()) } else { Err(ModelError::Mismatch(what)) };
        let fits = |other: &[usize]| other == cardinalities;
        check(fits(parts.accepted.cardinalities()), "the accepted circuit has other features")?;
        check(fits(parts.denied.cardinalities()), "the denied circuit has other features")?;
        check(fits(&parts.generator.shape().cardinalities), "the generator has other features")?;
        check(fits(parts.pool.rows().cardinalities()), "the pool has other features")?;
        let goal = parts.discretizer.schema().label().and_then(|label| label.goal.as_ref());
        let fits_goal = match parts.scale {
            ScoreScale::Probability => goal.is_none(),
            ScoreScale::Number { side, .. } => goal.is_some_and(|goal| goal.side == side),
        };
        check(fits_goal && parts.scale.is_sound(), "the scores are of another label")?;
        check(parts.scale.is_threshold(parts.threshold), "the threshold is no score")?;
        for Version { classifier, threshold, scale, .. } in &parts.versions {
            let has_codes = classifier.network().is_none_or(|network| fits(network.cardinalities()));
            check(has_codes, "a version of the classifier has other features")?;
            check(scale.is_threshold(*threshold), "the threshold of a version is no score")?;
            let is_same = scale.is_sound() && scale.is_number() == parts.scale.is_number();
            check(is_same, "the scores of a version are of another label")?;
        }
        let constraints = constraints(&parts.discretizer, &parts.config)
            .map_err(|_| ModelError::Mismatch("an immutable feature is not in the schema"))?;
        Ok(Self { parts, constraints, plausibilities: Plausibilities::default() })
    }

    /// The parts.
    pub fn into_parts(self) -> ModelParts {
        self.parts
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        self.parts.discretizer.schema()
    }

    /// The schema with its bins.
    pub fn discretizer(&self) -> &Discretizer {
        &self.parts.discretizer
    }

    /// What each person may change.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// The classifier that decides who is accepted.
    pub fn classifier(&self) -> &DeployedClassifier {
        &self.parts.classifier
    }

    /// The score that is accepted, as are surer ones.
    pub fn threshold(&self) -> f64 {
        self.parts.threshold
    }

    /// What a score is: a probability, or a predicted number.
    pub fn scale(&self) -> ScoreScale {
        self.parts.scale
    }

    /// Other versions of the classifier, which lasting ways are accepted by too.
    pub fn versions(&self) -> &[Version] {
        &self.parts.versions
    }

    /// What a predicted number must reach; `None` if scores are probabilities.
    pub fn goal(&self) -> Option<&Goal> {
        self.schema().label().and_then(|label| label.goal.as_ref())
    }

    /// The names of the classes that count as accepted; none without a label.
    pub fn favourable(&self) -> Vec<&str> {
        let Some(label) = self.schema().label() else { return Vec::new() };
        let own = self.parts.config.favourable.as_ref().and_then(|names| label.favourable_named(names).ok());
        let classes = own.unwrap_or_else(|| label.favourable.clone());
        classes.into_iter().map(|class| label.classes[class].as_str()).collect()
    }

    /// A score in words: `0.520`, or with the unit of the label `52,300 DM`.
    pub fn score_words(&self, score: f64) -> String {
        let decimals = self.parts.scale.decimals();
        match self.goal() {
            Some(goal) => goal.amount(score, Some(decimals)),
            None => format!("{score:.decimals$}"),
        }
    }

    /// How plausible rows are for somebody with these locks (positions): given what they cannot change.
    ///
    /// The first call for a set of features takes as long as scoring the pool.
    pub fn plausibility(&self, locks: &[usize]) -> Arc<Plausibility> {
        let given = self.constraints.given(locks);
        self.plausibilities.given(&self.parts.accepted, &self.parts.pool, given)
    }

    /// How far beyond the threshold a way should be, unless a request says otherwise, in the unit of scores.
    pub fn margin(&self) -> f64 {
        self.parts.scale.in_unit(self.parts.config.answers.margin)
    }

    /// The circuit of accepted rows, p⁺.
    pub fn accepted(&self) -> &Circuit {
        &self.parts.accepted
    }

    /// The circuit of denied rows, p⁻.
    pub fn denied(&self) -> &Circuit {
        &self.parts.denied
    }

    /// Accepted rows, drawn from the circuit.
    pub fn pool(&self) -> &AcceptedPool {
        &self.parts.pool
    }

    /// The generator.
    pub fn generator(&self) -> &Generator {
        &self.parts.generator
    }

    /// The configuration it was made with.
    pub fn config(&self) -> &Config {
        &self.parts.config
    }

    /// How it was made.
    pub fn card(&self) -> &Card {
        &self.parts.card
    }

    /// The score of a row of codes: the probability that it is accepted, or the predicted number. For an external
    /// classifier, which reads values, each code stands for the median of its bin: see [`Model::score`].
    pub fn probability(&self, row: &[Code]) -> f64 {
        self.parts.scale.score(self.parts.classifier.typical().log_odds(row))
    }

    /// The score of a row, its cells in schema order: the probability that it is accepted, or the predicted number.
    ///
    /// # Errors
    /// When a cell does not fit its column, or the classifier has no score for the row.
    ///
    /// # Panics
    /// When there are not as many cells as features.
    pub fn score(&self, cells: &[&str]) -> Result<f64, RowError> {
        let codes = self.parts.discretizer.encode_row(cells)?;
        self.row_score(cells, codes.codes())
    }

    /// The score of a row of cells, which have these codes.
    ///
    /// # Errors
    /// When a cell cannot be turned into an input, or the classifier has no score for the row.
    pub fn row_score(&self, cells: &[&str], codes: &[Code]) -> Result<f64, RowError> {
        Ok(self.parts.scale.score(self.parts.classifier.log_odds(cells, codes)?))
    }

    /// Whether a row reaches a threshold and keeps every policy of the schema, its cells in schema order. A row that
    /// cannot be read or has no score does not.
    ///
    /// # Panics
    /// When there are not as many cells as features.
    pub fn is_accepted(&self, cells: &[&str], threshold: f64) -> bool {
        let Ok(codes) = self.parts.discretizer.encode_row(cells) else { return false };
        let score = self.row_score(cells, codes.codes());
        let own = OwnRow::new(&self.parts.discretizer, cells, codes.into_codes());
        let reaches = |score| self.parts.scale.reaches(score, threshold);
        score.is_ok_and(reaches) && self.constraints.broken_policies(&own).is_empty()
    }

    /// How far a numeric feature moves from one cell to another, in median absolute deviations; `None` when a cell
    /// is no number.
    pub fn moved_by(&self, feature: usize, from: &str, to: &str) -> Option<f64> {
        let summary = self.discretizer().domains()[feature].summary()?;
        let number = |cell: &str| cell.trim().parse::<f64>().ok();
        Some((number(to)? - number(from)?).abs() / summary.mad)
    }

    /// The same model with an external classifier. Generator, pool and circuits stay, so the classifier should not
    /// differ much from the one they were made for.
    ///
    /// # Errors
    /// When the file cannot be read, or the inputs fit neither it nor the schema.
    pub fn with_classifier(&self, file: Vec<u8>, inputs: Inputs) -> Result<Self, ExternalError> {
        let external = ExternalClassifier::new(file, inputs, self.discretizer(), self.external_scale())?;
        let mut model = self.clone();
        model.parts.classifier = DeployedClassifier::External(Box::new(external));
        let card = &mut model.parts.card;
        (card.denies, card.scores, card.agreement, card.coverage) = (None, None, None, None);
        (card.auc, card.held_out_auc, card.accuracy) = (None, None, None);
        card.held_out_r2 = None;
        model.parts.scale = self.external_scale();
        Ok(model)
    }

    /// The same model with an ONNX file as a further version of its classifier, which accepts from `threshold` on; by
    /// default from that of the model.
    ///
    /// # Errors
    /// When the file cannot be read, the inputs fit neither it nor the schema, or the threshold is no score.
    pub fn with_version(
        &self,
        name: String,
        file: Vec<u8>,
        inputs: Inputs,
        threshold: Option<f64>,
    ) -> Result<Self, ExternalError> {
        let threshold = threshold.unwrap_or(self.threshold());
        let (discretizer, scale) = (self.discretizer(), self.parts.scale);
        let versions = self.parts.versions.len() + 1;
        let version = Version::external(name, file, inputs, threshold, discretizer, scale, versions)?;
        let mut model = self.clone();
        model.parts.versions.push(version);
        Ok(model)
    }

    /// The scale of an external classifier.
    fn external_scale(&self) -> ScoreScale {
        self.parts.scale.of_external()
    }
}

/// The constraints of the schema, with the configuration's immutable features.
///
/// # Errors
/// When the configuration names a feature that does not exist.
pub fn constraints(discretizer: &Discretizer, config: &Config) -> Result<Constraints, par_data::Error> {
    let constraints = Constraints::new(discretizer);
    Ok(match &config.immutable {
        Some(names) => constraints.with_immutable(&discretizer.schema().positions(names)?),
        None => constraints,
    })
}
