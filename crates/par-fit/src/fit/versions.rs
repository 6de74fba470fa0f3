//! Other versions of the classifier: trained on other samples of the rows, or supplied.

use par_circuit::Stop;
use par_data::{Batch, Columns, Discretizer};
use par_model::ScoreScale;
use par_model::classifier::Version;
use par_model::classifier::inputs::Inputs;

use super::scoring::Supplied;
use super::{ModelBuilder, Part, Stage, TrainingRows, reading};
use crate::classifier::train_versions;
use crate::error::Error;

/// A version that the user supplies.
#[derive(Clone, Debug)]
pub(super) struct SuppliedVersion {
    pub(super) name: String,
    pub(super) file: Vec<u8>,
    pub(super) inputs: Inputs,
    /// The model's by default.
    pub(super) threshold: Option<f64>,
}

impl ModelBuilder {
    /// Trains the versions of the configuration.
    pub(super) fn train_versions(
        &self,
        rows: &TrainingRows,
        scale: ScoreScale,
        threshold: f64,
        progress: &mut dyn FnMut(Stage<'_>),
        stop: Stop<'_>,
    ) -> Result<Vec<Version>, Error> {
        let count = self.config.versions;
        if count > 0 && !matches!(self.supplied, Supplied::Nothing) {
            return Err(Error::VersionsOfSupplied { count });
        }
        let train = |drawn: Option<&[usize]>, seed: u64| {
            let (network, _) =
                rows.train(drawn, scale, &self.config.classifier, seed, &mut |_, _| {}, stop)?;
            Ok::<_, Error>(network)
        };
        let accepted = if count > 0 { rows.labels()? } else { &[] };
        let mut report = |trained: usize| progress(Stage::Version(trained));
        let networks = train_versions(accepted, count, self.seed(Part::Versions), train, &mut report)?;
        let version = |(number, network)| Version::bootstrap(number, network, threshold, scale);
        Ok((1..).zip(networks).map(version).collect())
    }

    /// The versions that the user supplies.
    pub(super) fn supplied_versions<B: IntoIterator<Item = Result<Batch, par_data::Error>>>(
        &self,
        discretizer: &Discretizer,
        columns: &Columns,
        scale: ScoreScale,
        threshold: f64,
        open: &impl Fn() -> Result<B, par_data::Error>,
        stop: Stop<'_>,
    ) -> Result<Vec<Version>, Error> {
        let mut versions = Vec::with_capacity(self.also.len());
        for supplied in &self.also {
            let inputs = match supplied.inputs.needs_rows() {
                true => reading(open()?, stop, |batches| {
                    supplied.inputs.standardized(&self.schema, columns, batches)
                })?,
                false => supplied.inputs.clone(),
            };
            let threshold = supplied.threshold.unwrap_or(threshold);
            let (name, file) = (supplied.name.clone(), supplied.file.clone());
            let count = self.also.len();
            versions.push(Version::external(name, file, inputs, threshold, discretizer, scale, count)?);
        }
        Ok(versions)
    }
}
