//! External trees, over codes.

use par_circuit::{Code, OPEN};
use par_data::{CellError, Discretizer};
use par_onnx::Trees;

use super::super::NeuralClassifier;
use super::super::trees::{Ensemble, SourceTable, TreeClassifier};
use super::{LimitedCode, Representative, View, representatives};
use crate::error::RowError;

/// An ensemble, and the numbers of its sources for the lowest, the highest and the median value of each bin.
#[derive(Clone, Debug)]
pub(super) struct TreeTables {
    ensemble: Ensemble,
    lowest: SourceTable,
    highest: SourceTable,
    median: SourceTable,
}

impl TreeTables {
    pub(super) fn new(trees: &Trees, view: &View<'_>, discretizer: &Discretizer) -> Result<Self, CellError> {
        let cardinalities = discretizer.cardinalities();
        let mut features = vec![0; view.onnx.sources().len()];
        for (feature, sources) in view.sources.iter().enumerate() {
            sources.iter().for_each(|&source| features[source] = feature as u32);
        }
        let ensemble = Ensemble::new(trees, &features, cardinalities.clone());
        let mut tables = [(); 3].map(|()| SourceTable::new(&ensemble));
        for (feature, &codes) in cardinalities.iter().enumerate() {
            for code in 0..codes as Code {
                let texts = representatives(discretizer, feature, code);
                for (table, text) in tables.iter_mut().zip(&texts) {
                    table.set(feature, code, &view.numbers(feature, text)?);
                }
            }
            if let Some(numbers) = view.missing(feature) {
                tables.iter_mut().for_each(|table| table.set(feature, OPEN, &numbers));
            }
        }
        let [lowest, highest, median] = tables;
        Ok(Self { ensemble, lowest, highest, median })
    }

    pub(super) fn typical<'a>(&'a self, surrogate: Option<&'a NeuralClassifier>) -> TreeClassifier<'a> {
        TreeClassifier::new(&self.ensemble, self.median.clone(), surrogate)
    }

    pub(super) fn of_person(
        &self,
        view: &View<'_>,
        cells: &[&str],
        factual: &[Code],
        representative: Representative,
        limited: &[LimitedCode],
    ) -> Result<TreeClassifier<'_>, RowError> {
        let mut table = self.median.clone();
        for (feature, (&own, cell)) in factual.iter().zip(cells).enumerate() {
            if let Some((below, above)) = representative.sides(&self.lowest, &self.highest) {
                table.take_around(feature, own, below, above);
            }
            table.set(feature, own, &view.numbers(feature, cell)?);
        }
        for (feature, code, cell) in limited {
            table.set(*feature, *code, &view.numbers(*feature, cell)?);
        }
        Ok(TreeClassifier::new(&self.ensemble, table, None))
    }
}
