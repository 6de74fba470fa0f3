//! The numbers that trees compare, for every code.

use par_circuit::Code;

use super::Ensemble;

/// The number of every source of an ensemble, for every code of its feature.
///
/// One person's table is assembled from three shared ones, for the lowest, the highest and the median value of each
/// bin: a clone of the last, with the codes [around](SourceTable::take_around) the person's own replaced, and then
/// their [own](SourceTable::set) one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourceTable {
    /// For every feature: where its numbers start, how many sources it has, and how many codes.
    shapes: Vec<[usize; 3]>,
    /// `[feature][code][source]`; the last code of a feature is the unknown one.
    numbers: Vec<f32>,
}

impl SourceTable {
    /// A table whose numbers are all NaN.
    pub(crate) fn new(ensemble: &Ensemble) -> Self {
        let mut shapes: Vec<[usize; 3]> = ensemble.cardinalities.iter().map(|&codes| [0, 0, codes]).collect();
        ensemble.features.iter().for_each(|&feature| shapes[feature as usize][1] += 1);
        let mut end = 0;
        for [start, sources, codes] in &mut shapes {
            *start = end;
            end += *sources * (*codes + 1);
        }
        Self { shapes, numbers: vec![f32::NAN; end] }
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

    /// Copies the numbers of a feature's codes below `own` from one table, and above it from another; none if `own` is
    /// unknown.
    pub(crate) fn take_around(&mut self, feature: usize, own: Code, below: &Self, above: &Self) {
        let [start, sources, codes] = self.shapes[feature];
        let own = usize::from(own);
        if own < codes {
            let [place, next, end] = [own, own + 1, codes].map(|code| start + sources * code);
            let (before, after) = (start..place, next..end);
            self.numbers[before.clone()].copy_from_slice(&below.numbers[before]);
            self.numbers[after.clone()].copy_from_slice(&above.numbers[after]);
        }
    }

    #[inline]
    fn place(&self, feature: usize, code: Code) -> usize {
        let [start, sources, codes] = self.shapes[feature];
        start + sources * usize::from(code).min(codes)
    }

    /// The numbers of a feature's sources for a code.
    #[inline]
    pub(super) fn numbers(&self, feature: usize, code: Code) -> &[f32] {
        &self.numbers[self.place(feature, code)..][..self.shapes[feature][1]]
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::OPEN;
    use par_onnx::{Link, Trees};

    use super::*;

    #[test]
    fn codes_around_the_own_one_are_taken_from_two_tables() {
        let trees = Trees { nodes: Vec::new(), roots: Vec::new(), base: 0.0, link: Link::LogOdds };
        let ensemble = Ensemble::new(&trees, &[1, 0, 1], vec![2, 4]);
        let filled = |number: f32| {
            let mut table = SourceTable::new(&ensemble);
            for code in [0, 1, 2, 3, OPEN] {
                table.set(1, code, &[number, 10.0 * number]);
            }
            table
        };
        let taken = |own| {
            let mut table = filled(0.0);
            table.take_around(1, own, &filled(-1.0), &filled(1.0));
            assert!(table.numbers(0, 0)[0].is_nan() && table.numbers(0, OPEN)[0].is_nan());
            [0, 1, 2, 3, OPEN].map(|code| {
                let [one, ten] = table.numbers(1, code).try_into().expect("two sources");
                assert_eq!(ten, 10.0 * one);
                one
            })
        };
        assert_eq!(taken(0), [0.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(taken(2), [-1.0, -1.0, 0.0, 1.0, 0.0]);
        assert_eq!(taken(3), [-1.0, -1.0, -1.0, 0.0, 0.0]);
        assert_eq!(taken(OPEN), [0.0; 5]);
    }
}
