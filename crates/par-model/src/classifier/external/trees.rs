//! External trees, over codes.

use par_circuit::{Code, OPEN};
use par_data::{Candidates, CellError, Discretizer};
use par_onnx::{Source, Trees};

use super::super::NeuralClassifier;
use super::super::certificate::End;
use super::super::trees::{CertifiedTrees, Ensemble, JointSets, SourceTable, TreeClassifier, moved};
use super::View;
use crate::error::RowError;

/// An ensemble, and the numbers of its sources for the median value of each bin.
#[derive(Clone, Debug)]
pub(super) struct TreeTables {
    ensemble: Ensemble,
    typical: SourceTable,
    /// The leaves that categories lead to; `None` if the ensemble has no sets of leaves.
    joint: Option<JointSets>,
    /// For every source, the spread of its column in the units of its number; 0 for categories, and for numbers that
    /// it does not turn into a line.
    spreads: Vec<f64>,
}

impl TreeTables {
    pub(super) fn new(trees: &Trees, view: &View<'_>, discretizer: &Discretizer) -> Result<Self, CellError> {
        let cardinalities = discretizer.cardinalities();
        let mut features = vec![0; view.onnx.sources().len()];
        for (feature, sources) in view.sources.iter().enumerate() {
            sources.iter().for_each(|&source| features[source] = feature as u32);
        }
        let ensemble = Ensemble::new(trees, &features);
        let mut typical = SourceTable::new(&ensemble, cardinalities.clone());
        for (feature, &codes) in cardinalities.iter().enumerate() {
            for code in 0..codes as Code {
                let text = discretizer.typical_text(feature, code);
                typical.set(feature, code, &view.numbers(feature, &text)?);
            }
            if let Some(numbers) = view.missing(feature) {
                typical.set(feature, OPEN, &numbers);
            }
        }
        let joint = ensemble.joint_sets(&typical);
        let spread = |(source, &feature): (&Source, &u32)| {
            let summary = discretizer.domains()[feature as usize].summary()?;
            Some((summary.mad * source.slope()? * view.encoding.slope(source.input)?).abs())
        };
        let spreads = view.onnx.sources().iter().zip(&features).map(spread);
        let spreads =
            spreads.map(|spread| spread.filter(|spread| spread.is_finite()).unwrap_or(0.0)).collect();
        Ok(Self { ensemble, typical, joint, spreads })
    }

    /// Bounds on the score of a row; see
    /// [`ExternalClassifier::least_log_odds`](super::ExternalClassifier::least_log_odds).
    pub(super) fn bounds_within(
        &self,
        trees: &Trees,
        view: &View<'_>,
        cells: &[&str],
        ranges: &[(usize, [&str; 2])],
    ) -> Option<(f64, f64)> {
        let mut numbers = vec![[f32::NAN; 2]; view.onnx.sources().len()];
        for (feature, cell) in cells.iter().enumerate() {
            let Some((_, [low, high])) = ranges.iter().find(|(other, _)| *other == feature) else {
                let own = view.numbers(feature, cell).ok()?;
                let sources = view.sources[feature].iter();
                sources.zip(own).for_each(|(&source, number)| numbers[source] = [number; 2]);
                continue;
            };
            let ends = view.numbers(feature, low).ok()?.into_iter().zip(view.numbers(feature, high).ok()?);
            for (&source, (low, high)) in view.sources[feature].iter().zip(ends) {
                // What lies between the ends is covered only if the source rises or falls throughout.
                if !view.onnx.sources()[source].is_affine() {
                    return None;
                }
                numbers[source] = [low.min(high), low.max(high)];
            }
        }
        // The ensemble has the sources feature by feature.
        let by_feature: Vec<[f32; 2]> =
            view.sources.iter().flatten().map(|&source| numbers[source]).collect();
        Some(self.ensemble.bounds(&by_feature).unwrap_or_else(|| trees.bounds(&numbers)))
    }

    pub(super) fn typical<'a>(&'a self, surrogate: Option<&'a NeuralClassifier>) -> TreeClassifier<'a> {
        TreeClassifier::new(&self.ensemble, self.typical.clone(), surrogate, |feature, code, _| {
            self.joint.as_ref()?.get(feature, code)
        })
    }

    pub(super) fn of_person(
        &self,
        view: &View<'_>,
        cells: &[&str],
        candidates: &Candidates<'_>,
    ) -> Result<TreeClassifier<'_>, RowError> {
        let mut table = SourceTable::new(&self.ensemble, candidates.counts());
        for (feature, cell) in cells.iter().enumerate() {
            table.set(feature, 0, &view.numbers(feature, cell)?);
            for (choice, candidate) in (0..).zip(candidates.of(feature)).skip(1) {
                match candidate.number.is_nan() {
                    true => table.set(feature, choice, self.typical.numbers(feature, candidate.code)),
                    false => {
                        table.set(feature, choice, &view.numbers(feature, &candidate.number.to_string())?);
                    }
                }
            }
        }
        let known = |feature: usize, choice: Code, numbers: &[f32]| {
            let code = candidates.of(feature)[usize::from(choice)].code;
            let is_typical = numbers == self.typical.numbers(feature, code);
            self.joint.as_ref()?.get(feature, code).filter(|_| is_typical)
        };
        Ok(TreeClassifier::new(&self.ensemble, table, None, known))
    }

    /// The classifier over the candidates of one person whose score bounds those of all trees near these.
    pub(super) fn certified(
        &self,
        view: &View<'_>,
        cells: &[&str],
        candidates: &Candidates<'_>,
        delta: f64,
        end: End,
    ) -> Result<CertifiedTrees<'_>, RowError> {
        // The ensemble has the sources feature by feature.
        let radii = view.sources.iter().flatten().map(|&source| delta * self.spreads[source]).collect();
        Ok(CertifiedTrees::new(self.of_person(view, cells, candidates)?, radii, end))
    }

    /// Bounds on the scores of a row by all trees near these.
    pub(super) fn certified_bounds(
        &self,
        trees: &Trees,
        view: &View<'_>,
        cells: &[&str],
        delta: f64,
    ) -> Result<[f64; 2], CellError> {
        let mut ranges = vec![[f32::NAN; 2]; self.spreads.len()];
        for (feature, cell) in cells.iter().enumerate() {
            for (&source, number) in view.sources[feature].iter().zip(view.numbers(feature, cell)?) {
                ranges[source] = moved(number, delta * self.spreads[source]);
            }
        }
        Ok(trees.bounds(&ranges).into())
    }
}
