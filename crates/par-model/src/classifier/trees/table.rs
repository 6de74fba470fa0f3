//! The numbers that trees compare, for every code.

use par_circuit::Code;

use super::Ensemble;

/// The number of every source of an ensemble, for every code of its feature: for one person, every candidate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourceTable {
    /// How many codes each feature has, besides the unknown one.
    cardinalities: Vec<usize>,
    /// For every feature: where its numbers start, and how many sources it has.
    shapes: Vec<[usize; 2]>,
    /// `[feature][code][source]`; the last code of a feature is the unknown one.
    numbers: Vec<f32>,
}

impl SourceTable {
    /// A table whose numbers are all NaN.
    pub(crate) fn new(ensemble: &Ensemble, cardinalities: Vec<usize>) -> Self {
        let mut shapes = vec![[0, 0]; cardinalities.len()];
        ensemble.features.iter().for_each(|&feature| shapes[feature as usize][1] += 1);
        let mut end = 0;
        for ([start, sources], codes) in shapes.iter_mut().zip(&cardinalities) {
            *start = end;
            end += *sources * (codes + 1);
        }
        Self { cardinalities, shapes, numbers: vec![f32::NAN; end] }
    }

    /// How many codes each feature has, besides the unknown one.
    pub(super) fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    /// How many sources a feature has.
    pub(super) fn sources(&self, feature: usize) -> usize {
        self.shapes[feature][1]
    }

    /// Sets the numbers of a feature's sources, in their order, for a code, or for the unknown one,
    /// [`par_circuit::OPEN`].
    ///
    /// # Panics
    /// When there are not as many numbers as sources.
    pub(crate) fn set(&mut self, feature: usize, code: Code, numbers: &[f32]) {
        let place = self.place(feature, code);
        self.numbers[place..place + self.shapes[feature][1]].copy_from_slice(numbers);
    }

    #[inline]
    fn place(&self, feature: usize, code: Code) -> usize {
        let [start, sources] = self.shapes[feature];
        start + sources * usize::from(code).min(self.cardinalities[feature])
    }

    /// The numbers of a feature's sources for a code.
    #[inline]
    pub(crate) fn numbers(&self, feature: usize, code: Code) -> &[f32] {
        &self.numbers[self.place(feature, code)..][..self.shapes[feature][1]]
    }
}
