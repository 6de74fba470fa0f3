//! NICE: from the person's row, values of the nearest accepted training row are copied one by one, always the one
//! after which the score is highest, until the classifier accepts.
//!
//! # Paper
//! Brughmans, Leyman, Martens, "NICE: an algorithm for nearest instance counterfactual explanations", 2021: the
//! variant with the reward for sparsity, and its HEOM distance. The nearest row is one that the classifier accepts
//! and whose label is favourable, as there. It knows no immutable features.

use super::known::Known;
use super::space::same;
use crate::case::Factual;
use crate::method::Method;

pub(super) struct Nice<'k> {
    known: &'k Known<'k>,
    /// The rows to copy from.
    rows: Vec<usize>,
}

impl<'k> Nice<'k> {
    pub(super) fn new(known: &'k Known<'_>) -> Self {
        let mut rows = known.whole_accepted();
        rows.retain(|&row| known.favourable[row]);
        Self { known, rows }
    }
}

impl Method for Nice<'_> {
    fn name(&self) -> &str {
        super::Native::Nice.name()
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        let (known, space) = (self.known, &self.known.space);
        let own = known.read(person)?;
        let target = &known.rows[*known.nearest(&self.rows, &own, 1).first()?];
        let mut point = own.clone();
        let mut left: Vec<usize> =
            (0..space.features()).filter(|&feature| !same(point[feature], target[feature])).collect();
        while !space.accepts(&point) {
            let copied = |feature: usize| {
                let mut point = point.clone();
                point[feature] = target[feature];
                space.score(&point)
            };
            let scores = left.iter().map(|&feature| copied(feature)).enumerate();
            // The first of equals.
            let (place, _) = scores.rev().max_by(|one, other| one.1.total_cmp(&other.1))?;
            let feature = left.remove(place);
            point[feature] = target[feature];
        }
        Some(space.write(&point, &own, &person.cells))
    }
}
