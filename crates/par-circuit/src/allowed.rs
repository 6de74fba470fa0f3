//! A box of rows: for each variable, the codes it may take.

use crate::Code;

/// For each variable, the codes it may take; at least one each.
///
/// ```
/// use par_circuit::Allowed;
///
/// let mut allowed = Allowed::all(&[2, 3]);
/// allowed.restrict(1, &[0, 2]);
/// assert_eq!(allowed.codes(1).collect::<Vec<_>>(), [0, 2]);
/// assert!(!allowed.contains(&[0, 1]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    cardinalities: Vec<usize>,
    codes: Vec<Vec<Code>>,
}

impl Allowed {
    /// Every code of every variable.
    pub fn all(cardinalities: &[usize]) -> Self {
        let codes = |&cardinality: &usize| (0..cardinality as Code).collect();
        Self { cardinalities: cardinalities.to_vec(), codes: cardinalities.iter().map(codes).collect() }
    }

    /// Leaves `variable` only the given codes.
    ///
    /// # Panics
    /// When there is none, or one is not a code of the variable.
    pub fn restrict(&mut self, variable: usize, codes: &[Code]) {
        let cardinality = self.cardinalities[variable];
        assert!(!codes.is_empty(), "variable {variable} must keep a code");
        assert!(
            codes.iter().all(|&code| usize::from(code) < cardinality),
            "codes of variable {variable} are below {cardinality}"
        );
        let own = &mut self.codes[variable];
        own.clear();
        own.extend_from_slice(codes);
        own.sort_unstable();
        own.dedup();
    }

    /// The codes that `variable` may take, in order.
    pub fn codes(&self, variable: usize) -> impl ExactSizeIterator<Item = Code> + Clone + '_ {
        self.codes[variable].iter().copied()
    }

    /// Number of categories of each variable.
    pub fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    /// Whether every code of the row is allowed.
    pub fn contains(&self, row: &[Code]) -> bool {
        row.len() == self.codes.len()
            && row.iter().zip(&self.codes).all(|(code, codes)| codes.binary_search(code).is_ok())
    }
}
