//! Refits a model for other settings, without data.

use par_circuit::Stop;
use par_model::{Config, Model, ModelParts};

use crate::error::Error;
use crate::fit::{Learned, Stage};

/// The same model with a generator for other immutable features, by name.
///
/// # Errors
/// When a feature does not exist, or every feature is immutable, and [`Error::Stopped`].
///
/// # Paper
/// "A new generator can be trained for a different set of immutable features without access to the original training
/// data".
pub fn refit(
    model: &Model,
    immutable: &[&str],
    progress: &mut dyn FnMut(Stage<'_>),
    stop: Stop<'_>,
) -> Result<Model, Error> {
    let immutable = immutable.iter().map(ToString::to_string).collect();
    with_config(model, Config { immutable: Some(immutable), ..model.config().clone() }, progress, stop)
}

/// The same bins, classifier and circuits with the pool, generator and answers of `config`. Its `favourable`,
/// `density`, `bins`, `classifier`, `versions` and `circuits` are ignored.
///
/// # Errors
/// When a setting is out of its range, a feature does not exist, or every feature is immutable, and
/// [`Error::Stopped`].
pub fn with_config(
    model: &Model,
    config: Config,
    progress: &mut dyn FnMut(Stage<'_>),
    stop: Stop<'_>,
) -> Result<Model, Error> {
    let ModelParts {
        config: own,
        mut card,
        discretizer,
        classifier,
        threshold,
        scale,
        versions,
        accepted,
        denied,
        ..
    } = model.clone().into_parts();
    let config = Config {
        favourable: own.favourable,
        density: own.density,
        bins: own.bins,
        classifier: own.classifier,
        versions: own.versions,
        circuits: own.circuits,
        ..config
    };
    config.check()?;
    // It was measured with the generator and the constraints before.
    card.coverage = None;
    Learned { config, card, discretizer, classifier, threshold, scale, versions, accepted, denied }
        .complete(progress, stop)
}
