//! Another generator, or other answers, for a model: made without any data.

use par_circuit::Stop;
use par_model::{Config, Model, ModelParts};

use crate::error::Error;
use crate::fit::{Learned, Stage};

/// The same model with a generator for other immutable features, named.
///
/// # Errors
/// When the schema has no such feature, every feature is immutable, and [`Error::Stopped`].
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

/// The same bins, classifier and circuits with another pool and generator, or other answers. `favourable`, `density` and
/// the sections `bins`, `classifier` and `circuits` stay as they are, whatever `config` says.
///
/// # Errors
/// When a setting is out of its range, the schema has no such feature, or every feature is immutable, and
/// [`Error::Stopped`].
pub fn with_config(
    model: &Model,
    config: Config,
    progress: &mut dyn FnMut(Stage<'_>),
    stop: Stop<'_>,
) -> Result<Model, Error> {
    let ModelParts { config: own, card, discretizer, classifier, threshold, accepted, denied, .. } =
        model.clone().into_parts();
    let config = Config {
        favourable: own.favourable,
        density: own.density,
        bins: own.bins,
        classifier: own.classifier,
        circuits: own.circuits,
        ..config
    };
    config.check()?;
    Learned { config, card, discretizer, classifier, threshold, accepted, denied }.complete(progress, stop)
}
