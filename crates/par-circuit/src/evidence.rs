//! Evidence: what is known about a row.

use crate::{Code, OPEN};

/// What is known about one variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// Its category.
    Observed(Code),
    /// Nothing: it is summed out.
    Open,
    /// A non-negative weight for each category, q in the paper; ones everywhere mean the same as open.
    Soft(Vec<f64>),
}

/// What is known about every variable of a circuit.
///
/// ```
/// use par_circuit::{Evidence, Observation, OPEN};
///
/// let evidence = Evidence::from_row(&[1, OPEN]);
/// assert_eq!(evidence.observations()[1], Observation::Open);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence(Vec<Observation>);

impl Evidence {
    /// One observation a variable.
    pub fn new(observations: Vec<Observation>) -> Self {
        Self(observations)
    }

    /// Observed codes, with [`OPEN`] where nothing is known.
    pub fn from_row(row: &[Code]) -> Self {
        let observation = |&code: &Code| match code {
            OPEN => Observation::Open,
            code => Observation::Observed(code),
        };
        Self(row.iter().map(observation).collect())
    }

    /// Soft weights of all codes, variable after variable.
    ///
    /// # Panics
    /// When there are not as many weights as codes.
    pub fn from_soft(soft: &[f32], cardinalities: &[usize]) -> Self {
        assert_eq!(soft.len(), cardinalities.iter().sum::<usize>(), "one weight a code");
        let mut rest = soft;
        let observation = |&cardinality: &usize| {
            let (weights, after) = rest.split_at(cardinality);
            rest = after;
            Observation::Soft(weights.iter().map(|&weight| f64::from(weight)).collect())
        };
        Self(cardinalities.iter().map(observation).collect())
    }

    /// The observations, one a variable.
    pub fn observations(&self) -> &[Observation] {
        &self.0
    }
}
