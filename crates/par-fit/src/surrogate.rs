//! Trains the surrogate of a model again, once its classifier has scored more rows.

use par_circuit::{Dataset, Stop};
use par_model::classifier::DeployedClassifier;
use par_model::{Mean, Model, ModelParts};

use crate::error::Error;
use crate::fit::scoring::follow;
use crate::fit::{Part, Stage, seed};
use crate::refit::with_config;

/// Rows as codes, with what the classifier says of each.
#[derive(Clone, Debug)]
pub struct ScoredRows {
    /// The rows.
    pub rows: Dataset,
    /// The score of each.
    pub scores: Vec<f64>,
    /// How much each counts; 1 is usual.
    pub weights: Vec<f32>,
}

/// The same model with a surrogate trained on these rows instead. Pool and generator stay those of the one before, until
/// [`complete_surrogate`] makes them anew. A model without a surrogate of scores stays as it is.
///
/// # Errors
/// When there are no rows, the loss diverges, or it is stopped.
///
/// # Panics
/// Unless every row has a score and a weight, and the columns are those of the model.
pub fn train_surrogate_of(
    model: &Model,
    scored: &ScoredRows,
    progress: &mut dyn FnMut(Stage<'_>),
    stop: Stop<'_>,
) -> Result<Model, Error> {
    let mut parts: ModelParts = model.clone().into_parts();
    if let DeployedClassifier::Surrogate { network, .. } = &mut parts.classifier {
        let seed = seed(&parts.config, Part::Surrogate);
        let ScoredRows { rows, scores, weights } = scored;
        let mut report = |epoch: usize, losses: &_| progress(Stage::Classifier(epoch, losses));
        let config = &parts.config.classifier;
        (*network, parts.card.classifier) =
            follow(rows, scores, Some(weights), parts.scale, config, seed, &mut report, stop)?;
    }
    Ok(Model::new(parts).expect("the surrogate reads the codes of the model"))
}

/// The same model with the pool and the generator of its surrogate, and what was measured of it: on how many held-out rows
/// it agrees with the classifier, and for how many denied people it finds a way that the classifier accepts.
///
/// # Errors
/// As [`with_config`].
pub fn complete_surrogate(
    model: &Model,
    agreement: Mean,
    coverage: Mean,
    progress: &mut dyn FnMut(Stage<'_>),
    stop: Stop<'_>,
) -> Result<Model, Error> {
    let mut parts: ModelParts = with_config(model, model.config().clone(), progress, stop)?.into_parts();
    parts.card.agreement = Some(agreement);
    parts.card.coverage = Some(coverage);
    Ok(Model::new(parts).expect("a card fits any model"))
}
