//! From logits to rows: the most probable legal ones.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use par_circuit::{Code, OPEN};
use par_data::Mask;

/// Finds the most probable legal rows; keep it, to reuse its buffers.
///
/// # Paper
/// "During inference, a hard recourse is obtained by taking the per-feature argmax": the first row.
/// Departure: it also gives the rows that follow, so that classifier and circuit can choose.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    choices: Vec<Choice>,
    /// Features with several choices, the least costly second choice first; each with its range in `choices`, which
    /// starts with the best.
    features: Vec<(usize, std::ops::Range<usize>)>,
    deviations: Vec<Deviation>,
    queue: BinaryHeap<Queued>,
    rows: Vec<Code>,
    row: Vec<Code>,
}

#[derive(Clone, Copy, Debug)]
struct Choice {
    code: Code,
    /// How far the logit is below that of the best choice.
    lost: f64,
}

/// A row that differs from the best one in a feature, and wherever the row `before` it does.
#[derive(Clone, Copy, Debug)]
struct Deviation {
    before: Option<u32>,
    feature: u32,
    choice: u32,
}

/// A deviation to be tried: the least costly first, then the oldest.
#[derive(Clone, Copy, Debug)]
struct Queued {
    lost: f64,
    deviation: u32,
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        other.lost.total_cmp(&self.lost).then_with(|| other.deviation.cmp(&self.deviation))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Queued {}

impl Decoder {
    /// The most rows that are tried beyond `count`: rules may forbid many probable rows.
    const ILLEGAL_ROWS: usize = 300;

    /// The `count` legal rows with the highest sums of logits, the highest first, concatenated.
    ///
    /// Fewer if no more are legal, or if rules forbid nearly all probable rows.
    /// The first is [`Mask::argmax`].
    pub fn best_rows(&mut self, mask: &Mask, logits: &[f64], count: usize) -> &[Code] {
        self.rows.clear();
        if count == 0 {
            return &self.rows;
        }
        let argmax = mask.argmax(logits);
        self.rows.extend_from_slice(&argmax);
        self.sort_choices(mask, logits);
        let mut found = 1;
        let mut tried = 0;
        self.deviations.clear();
        self.queue.clear();
        self.try_row(None, mask, &argmax, &mut found);
        self.queue_feature(None, 0, 0.0);
        while found < count
            && tried < count + Self::ILLEGAL_ROWS
            && let Some(queued) = self.queue.pop()
        {
            tried += 1;
            self.try_row(Some(queued.deviation), mask, &argmax, &mut found);
            self.queue_successors(queued);
        }
        &self.rows
    }

    fn sort_choices(&mut self, mask: &Mask, logits: &[f64]) {
        self.choices.clear();
        self.features.clear();
        self.row.clear();
        let mut start = 0;
        for (feature, &own) in mask.factual().iter().enumerate() {
            let first = self.choices.len();
            let logits = &logits[start..start + mask.legal(feature).len()];
            start += logits.len();
            let codes = mask.codes(feature);
            self.choices.extend(codes.map(|code| Choice { code, lost: -logits[usize::from(code)] }));
            let choices = &mut self.choices[first..];
            // Breaks ties as `Mask::argmax` does.
            choices.sort_unstable_by(|left, right| {
                let ties = (left.code > own, left.code).cmp(&(right.code > own, right.code));
                left.lost.total_cmp(&right.lost).then(ties)
            });
            let best = choices.first().copied().unwrap_or(Choice { code: OPEN, lost: 0.0 });
            choices.iter_mut().for_each(|choice| choice.lost -= best.lost);
            self.row.push(best.code);
            if choices.len() > 1 {
                self.features.push((feature, first..self.choices.len()));
            }
        }
        let second = |choices: &std::ops::Range<usize>| self.choices[choices.start + 1].lost;
        self.features.sort_by(|(_, left), (_, right)| second(left).total_cmp(&second(right)));
    }

    fn choice(&self, feature: u32, choice: u32) -> Option<Choice> {
        let (_, choices) = self.features.get(feature as usize)?;
        self.choices[choices.clone()].get(choice as usize).copied()
    }

    /// Adds the row of a deviation if it is legal and new.
    fn try_row(&mut self, mut deviation: Option<u32>, mask: &Mask, argmax: &[Code], found: &mut usize) {
        let start = self.rows.len();
        self.rows.extend_from_slice(&self.row);
        while let Some(Deviation { before, feature, choice }) =
            deviation.map(|at| self.deviations[at as usize])
        {
            let (position, choices) = &self.features[feature as usize];
            self.rows[start + position] = self.choices[choices.start + choice as usize].code;
            deviation = before;
        }
        let row = &self.rows[start..];
        if row != argmax && mask.is_legal(row) {
            *found += 1;
        } else {
            self.rows.truncate(start);
        }
    }

    /// Queues the row that takes the second choice in a feature and otherwise equals the row `before` it.
    fn queue_feature(&mut self, before: Option<u32>, feature: u32, lost_before: f64) {
        if let Some(choice) = self.choice(feature, 1) {
            self.push(Deviation { before, feature, choice: 1 }, lost_before + choice.lost);
        }
    }

    fn push(&mut self, deviation: Deviation, lost: f64) {
        self.queue.push(Queued { lost, deviation: self.deviations.len() as u32 });
        self.deviations.push(deviation);
    }

    /// Queues each row once: the last deviating feature takes its next choice, one more feature deviates, or the second
    /// choice moves on to the next feature.
    fn queue_successors(&mut self, Queued { lost, deviation: at }: Queued) {
        let Deviation { before, feature, choice } = self.deviations[at as usize];
        let own = self.choice(feature, choice).map_or(0.0, |choice| choice.lost);
        if let Some(next) = self.choice(feature, choice + 1) {
            self.push(Deviation { before, feature, choice: choice + 1 }, lost - own + next.lost);
        }
        self.queue_feature(Some(at), feature + 1, lost);
        if choice == 1 {
            self.queue_feature(before, feature + 1, lost - own);
        }
    }
}

#[cfg(test)]
mod tests {
    use par_data::Constraints;
    use par_model::test_world::World;
    use proptest::prelude::*;

    use super::*;

    /// The sums of logits of all legal rows, the highest first.
    fn sums(constraints: &Constraints, mask: &Mask, logits: &[f64]) -> Vec<f64> {
        let mut rows = vec![Vec::new()];
        for feature in 0..constraints.features() {
            let codes: Vec<Code> = match mask.factual()[feature] {
                OPEN => vec![OPEN],
                _ => mask.codes(feature).collect(),
            };
            rows = rows
                .iter()
                .flat_map(|row: &Vec<Code>| codes.iter().map(|code| [row.as_slice(), &[*code]].concat()))
                .collect();
        }
        rows.retain(|row| mask.is_legal(row));
        let mut sums: Vec<f64> = rows.iter().map(|row| sum(constraints, logits, row)).collect();
        sums.sort_by(|left, right| right.total_cmp(left));
        sums
    }

    fn sum(constraints: &Constraints, logits: &[f64], row: &[Code]) -> f64 {
        let known = row.iter().enumerate().filter(|(_, code)| **code != OPEN);
        known.map(|(at, code)| logits[constraints.range(at).start + usize::from(*code)]).sum()
    }

    fn world() -> World {
        World {
            cardinalities: vec![3, 4, 2, 3],
            lines: vec!["", "monotone = \"increasing\"", "", ""],
            rules: vec![(0, 1), (3, 1)],
        }
    }

    proptest! {
        #[test]
        fn the_best_rows_are_those_that_listing_finds(
            logits in prop::collection::vec((-8..8_i32).prop_map(|logit| f64::from(logit) / 4.0), 12),
            factual in (0..4_u16, 0..4_u16, 0..3_u16, 0..3_u16),
            count in 0..80_usize,
        ) {
            let unknown = |code: Code, cardinality: Code| if code == cardinality { OPEN } else { code };
            let factual = [unknown(factual.0, 3), factual.1, unknown(factual.2, 2), factual.3];
            let constraints = Constraints::new(&world().discretizer());
            let mask = constraints.mask(&factual, &[]);
            let mut expected = sums(&constraints, &mask, &logits);
            expected.truncate(count);
            let mut decoder = Decoder::default();
            let rows: Vec<&[Code]> = decoder.best_rows(&mask, &logits, count).chunks_exact(4).collect();
            let found: Vec<f64> = rows.iter().map(|row| sum(&constraints, &logits, row)).collect();
            prop_assert_eq!(found, expected);
            prop_assert!(rows.iter().all(|row| mask.is_legal(row)));
            let distinct: std::collections::BTreeSet<&[Code]> = rows.iter().copied().collect();
            prop_assert_eq!(distinct.len(), rows.len());
            prop_assert!(rows.first().is_none_or(|first| **first == mask.argmax(&logits)));
        }
    }

    #[test]
    fn without_free_features_the_only_row_is_the_factual() {
        let constraints = Constraints::new(&world().discretizer());
        let mask = constraints.mask(&[OPEN, 1, OPEN, 0], &[1, 3]);
        assert_eq!(Decoder::default().best_rows(&mask, &[0.0; 12], 5), [OPEN, 1, OPEN, 0]);
    }

    #[test]
    fn extreme_logits_give_rows() {
        let constraints = Constraints::new(&world().discretizer());
        let mask = constraints.mask(&[0, 1, 0, 0], &[]);
        let logits: Vec<f64> = (0..12).map(|place| if place % 3 == 0 { 1000.0 } else { -1000.0 }).collect();
        assert_eq!(Decoder::default().best_rows(&mask, &logits, 7).len(), 7 * 4);
    }
}
