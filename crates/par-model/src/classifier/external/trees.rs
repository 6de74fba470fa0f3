//! External trees, over codes.

use par_circuit::{Code, OPEN};
use par_data::{Candidates, CellError, Discretizer};
use par_onnx::{Source, Trees};

use super::super::NeuralClassifier;
use super::super::certificate::End;
use super::super::trees::{CertifiedTrees, Ensemble, JointSets, SourceTable, TreeClassifier, moved};
use super::{Range, View};
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
    /// Sets of leaves take at most `most_bytes`, and those of codes as many.
    pub(super) fn new(
        trees: &Trees,
        view: &View<'_>,
        discretizer: &Discretizer,
        most_bytes: u64,
    ) -> Result<Self, CellError> {
        let cardinalities = discretizer.cardinalities();
        let mut features = vec![0; view.onnx.sources().len()];
        for (feature, sources) in view.sources.iter().enumerate() {
            sources.iter().for_each(|&source| features[source] = feature as u32);
        }
        let mut ensemble = Ensemble::new(trees, &features, most_bytes);
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

    /// The log-odds for the numbers of all sources, feature by feature, bit by bit those of the trees as they were read;
    /// `None` without sets of leaves.
    pub(super) fn log_odds(&self, numbers: &[f32]) -> Option<f64> {
        self.ensemble.log_odds_by_sets(numbers, |feature, numbers| self.known(feature, numbers))
    }

    /// The leaves that a feature leads to whose sources have these numbers, if they were found before.
    fn known(&self, feature: usize, numbers: &[f32]) -> Option<&[u64]> {
        self.joint.as_ref()?.find(&self.typical, feature, numbers)
    }

    /// For each feature, the leaves that it leads to if its sources have these numbers, where they were found before.
    pub(super) fn known_sets(&self, numbers: &[Vec<f32>]) -> Vec<Option<&[u64]>> {
        numbers.iter().enumerate().map(|(feature, numbers)| self.known(feature, numbers)).collect()
    }

    /// Bounds on the score of a row, whose features have these numbers and `known` sets, with some within ranges.
    pub(super) fn bounds_within(
        &self,
        trees: &Trees,
        view: &View<'_>,
        numbers: &[Vec<f32>],
        known: &[Option<&[u64]>],
        ranges: &[Range],
    ) -> (f64, f64) {
        let range = |feature: usize| ranges.iter().find(|(other, _)| *other == feature);
        // The ensemble has the sources feature by feature.
        let mut by_feature = Vec::with_capacity(view.onnx.sources().len());
        for (feature, own) in numbers.iter().enumerate() {
            match range(feature) {
                Some((_, [low, high])) => {
                    by_feature
                        .extend(low.iter().zip(high).map(|(low, high)| [low.min(*high), low.max(*high)]));
                }
                None => by_feature.extend(own.iter().map(|&number| [number; 2])),
            }
        }
        let known = |feature: usize| known[feature].filter(|_| range(feature).is_none());
        self.ensemble.bounds(&by_feature, known).unwrap_or_else(|| {
            let mut by_source = vec![[f32::NAN; 2]; by_feature.len()];
            let sources = view.sources.iter().flatten();
            sources.zip(&by_feature).for_each(|(&source, &ends)| by_source[source] = ends);
            trees.bounds(&by_source)
        })
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
