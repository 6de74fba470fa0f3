//! Other versions of the classifier: trained on other samples of the rows, or supplied.

use par_circuit::Stop;
use par_data::{Batch, Columns, Discretizer};
use par_model::ScoreScale;
use par_model::classifier::inputs::Inputs;
use par_model::classifier::{DeployedClassifier, Version};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::scoring::Supplied;
use super::{ModelBuilder, Part, Stage, TrainingRows, reading};
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
    /// Trains versions of the classifier, each on as many rows as there are, drawn with replacement, and from other first
    /// weights.
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
        let seed = self.seed(Part::Versions);
        let train = |version: usize| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(version as u64);
            let all = rows.rows.len();
            let drawn: Vec<usize> = (0..all).map(|_| rng.random_range(0..all)).collect();
            let accepted = rows.labels()?;
            let has = |class: bool| drawn.iter().any(|&row| accepted[row] == class);
            // A small table may be drawn without one of its classes.
            let drawn = (has(true) && has(false)).then_some(drawn);
            let (network, _) = rows.train(
                drawn.as_deref(),
                scale,
                &self.config.classifier,
                rng.random(),
                &mut |_, _| {},
                stop,
            )?;
            let name = format!("bootstrap {version}");
            Ok(Version { name, classifier: DeployedClassifier::Trained(network), threshold, scale })
        };
        let mut versions = Vec::with_capacity(count);
        let all: Vec<usize> = (1..=count).collect();
        // As many at once as there are threads, so that progress is told in between.
        for some in all.chunks(rayon::current_num_threads().max(1)) {
            let trained: Vec<Result<Version, Error>> =
                some.par_iter().map(|&version| train(version)).collect();
            for version in trained {
                versions.push(version?);
                progress(Stage::Version(versions.len()));
            }
        }
        Ok(versions)
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
            versions.push(Version::external(name, file, inputs, threshold, discretizer, scale)?);
        }
        Ok(versions)
    }
}
