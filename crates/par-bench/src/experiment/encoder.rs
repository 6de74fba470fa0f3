//! The effect of the neighbourhood: how far logits move without it, and how good answers are without it in training.
//!
//! # Paper
//! Q3 and "Logit Change Analysis". Logits are those of one generator, with the neighbours that it was trained with and
//! with none; then the embedding is the same for every person. `… -neighbours` is trained with none, which the paper does
//! not measure.

use std::collections::BTreeMap;
use std::ops::Range;

use par_circuit::Code;
use par_model::generator::GeneratorScratch;
use par_model::{Mean, Model};

use super::ablations::{TrainingPart, Variant, VariantPreset, denied, measure_variants};
use crate::case::Fold;
use crate::error::Error;
use crate::figures::{Metric, Sheet};

/// A logit counts as moved if it moves by more.
///
/// # Paper
/// Q3.
const MOVED: f64 = 0.5;
/// Keeps the quotient finite if all logits are zero.
const EPSILON: f64 = 1e-8;

/// Measures logits and answers with and without neighbours.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let rows = denied_codes(fold)?;
    for preset in [VariantPreset::Paper, VariantPreset::Ours] {
        add_shifts(preset.model(fold)?, &rows, &format!("{}/encoder", preset.name()), sheet);
    }
    let variant = |preset| Variant { preset, without: &[TrainingPart::Neighbours] };
    measure_variants(fold, &[variant(VariantPreset::Paper), variant(VariantPreset::Ours)], sheet)
}

/// The codes of the denied people of a fold; all its models have the same bins.
pub(super) fn denied_codes(fold: &Fold<'_>) -> Result<Vec<Vec<Code>>, Error> {
    let codes = |place: usize| {
        let row = fold.model.discretizer().encode_row(&fold.people[place].cells());
        row.map(par_data::Encoded::into_codes).map_err(|source| fold.row_error(place, source))
    };
    denied(fold)?.into_iter().map(codes).collect()
}

/// Adds how far the logits of denied people move, over all features and by feature.
fn add_shifts(model: &Model, denied: &[Vec<Code>], method: &str, sheet: &mut Sheet) {
    let shifts = shifts(model, denied);
    let mean = |value: &dyn Fn(&LogitShift) -> f64| Mean::new(shifts.iter().map(value), denied.len());
    sheet.mean(method, "relative_l1", mean(&|shift| shift.relative_l1));
    sheet.mean(method, "moved", mean(&|shift| shift.moved));
    for (block, feature) in mutable(model).into_iter().enumerate() {
        let name = &model.schema().features()[feature].name;
        let at = |metric| Metric::at(metric, &[("feature", name)]);
        sheet.mean(method, at("logit_change"), mean(&|shift| shift.blocks[block].change));
        sheet.mean(method, at("moved"), mean(&|shift| shift.blocks[block].moved));
    }
}

fn mutable(model: &Model) -> Vec<usize> {
    let constraints = model.constraints();
    (0..constraints.features()).filter(|&feature| !constraints.is_immutable(feature)).collect()
}

/// How far the logits of denied people move, over people who share all immutable features with another.
pub(super) fn shifts(model: &Model, denied: &[Vec<Code>]) -> Vec<LogitShift> {
    let constraints = model.constraints();
    let immutable: Vec<usize> =
        (0..constraints.features()).filter(|&feature| constraints.is_immutable(feature)).collect();
    let mutable = mutable(model);
    let blocks: Vec<Range<usize>> = mutable.iter().map(|&feature| constraints.range(feature)).collect();
    let without = model.pool().with_neighbours(0);
    let mut evaluator = model.accepted().evaluator();
    let mut scratch = GeneratorScratch::default();
    let mut shift = |row: &[Code]| {
        let mask = constraints.mask(row, &[]);
        let log_likelihood = evaluator.log_prob(row);
        let generator = model.generator();
        let with = generator.logits(model.pool(), &mask, log_likelihood, &mut scratch).to_vec();
        LogitShift::new(&with, generator.logits(&without, &mask, log_likelihood, &mut scratch), &blocks)
    };
    sharing(denied, &immutable).into_iter().map(|row| shift(&denied[row])).collect()
}

/// The rows that equal another row in these features.
fn sharing(rows: &[Vec<Code>], features: &[usize]) -> Vec<usize> {
    let key = |row: &Vec<Code>| features.iter().map(|&feature| row[feature]).collect::<Vec<Code>>();
    let mut counts: BTreeMap<Vec<Code>, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(key(row)).or_default() += 1);
    (0..rows.len()).filter(|&row| counts[&key(&rows[row])] > 1).collect()
}

/// How far the logits of one person move, over all mutable features and by feature.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LogitShift {
    /// ‖with − without‖₁ / ‖without‖₁.
    pub(super) relative_l1: f64,
    /// The share of logits that move by more than [`MOVED`].
    pub(super) moved: f64,
    blocks: Vec<FeatureShift>,
}

/// How far the logits of one feature move.
#[derive(Clone, Debug, PartialEq)]
struct FeatureShift {
    /// The mean of |with − without|.
    change: f64,
    moved: f64,
}

impl LogitShift {
    fn new(with: &[f64], without: &[f64], blocks: &[Range<usize>]) -> Self {
        let changes = |codes: &Range<usize>| codes.clone().map(|place| (with[place] - without[place]).abs());
        let moves = |codes: &Range<usize>| changes(codes).filter(|change| *change > MOVED).count();
        let share = |sum: f64, count: usize| sum / count.max(1) as f64;
        let size: f64 =
            blocks.iter().flat_map(|codes| &without[codes.clone()]).map(|logit| logit.abs()).sum();
        let change: f64 = blocks.iter().flat_map(changes).sum();
        let block = |codes: &Range<usize>| FeatureShift {
            change: share(changes(codes).sum(), codes.len()),
            moved: share(moves(codes) as f64, codes.len()),
        };
        Self {
            relative_l1: change / (size + EPSILON),
            moved: share(blocks.iter().map(moves).sum::<usize>() as f64, blocks.iter().map(Range::len).sum()),
            blocks: blocks.iter().map(block).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Figure;
    use crate::test_case;

    #[test]
    fn a_shift_is_over_the_logits_of_mutable_features() {
        // The middle two logits belong to an immutable feature.
        let with = [1.0, -2.0, 90.0, -90.0, 0.5, 0.0, 3.0];
        let without = [0.5, -4.0, 0.0, 0.0, 0.5, 1.0, 2.0];
        let shift = LogitShift::new(&with, &without, &[0..2, 4..7]);
        // |0.5| + |2| + 0 + |−1| + |1| over 0.5 + 4 + 0.5 + 1 + 2.
        assert!((shift.relative_l1 - 4.5 / 8.0).abs() < 1e-8, "{shift:?}");
        // A move of exactly 0.5 does not count.
        assert_eq!(shift.moved, 3.0 / 5.0);
        let blocks =
            [FeatureShift { change: 1.25, moved: 0.5 }, FeatureShift { change: 2.0 / 3.0, moved: 2.0 / 3.0 }];
        assert_eq!(shift.blocks, blocks);
    }

    #[test]
    fn shifts_stay_finite_without_codes_and_with_zero_logits() {
        let shift = LogitShift::new(&[1.0, 1.0], &[0.0, 0.0], &[0..2, 2..2]);
        assert!(shift.relative_l1.is_finite());
        assert_eq!(shift.blocks[1], FeatureShift { change: 0.0, moved: 0.0 });
        let nothing = LogitShift::new(&[1.0], &[0.0], &[]);
        assert_eq!((nothing.relative_l1, nothing.moved), (0.0, 0.0));
    }

    #[test]
    fn people_who_share_no_features_are_left_out() {
        let rows = [vec![0, 1, 5], vec![0, 2, 5], vec![1, 1, 5], vec![0, 1, 6]];
        assert_eq!(sharing(&rows, &[0, 1]), [0, 3]);
        assert_eq!(sharing(&rows, &[0]), [0, 1, 3]);
        assert_eq!(sharing(&rows, &[0, 1, 2]), [0; 0]);
        assert_eq!(sharing(&rows, &[]), [0, 1, 2, 3]);
        assert_eq!(sharing(&[], &[0]), [0; 0]);
    }

    fn figures(schema: &str, people: usize) -> Vec<Figure> {
        let case = test_case::case(schema);
        let mut fold = test_case::fold(&case);
        fold.people.truncate(people);
        let mut sheet = Sheet::new("t", "0");
        measure(&fold, &mut sheet).expect("figures");
        sheet.into_figures()
    }

    fn shifts(figures: &[Figure]) -> Vec<&Figure> {
        figures.iter().filter(|figure| figure.method.ends_with("/encoder")).collect()
    }

    #[test]
    fn without_neighbours_logits_move_and_answers_are_still_measured() {
        let figures = figures(test_case::SCHEMA, usize::MAX);
        let shifts = shifts(&figures);
        // All features and three single ones, two measures, two models.
        assert_eq!(shifts.len(), 2 * 4 * 2);
        assert!(shifts.iter().all(|figure| figure.over > 1 && figure.value.is_some_and(f64::is_finite)));
        assert!(shifts.iter().all(|figure| figure.metric.key("feature") != Some("town")));
        let moves = |figure: &&Figure| figure.metric.name == "relative_l1";
        assert!(figures.iter().filter(moves).all(|figure| figure.value > Some(0.0)));
        for method in ["paper", "ours"] {
            let method = format!("{method} -neighbours/generate");
            assert!(figures.iter().any(|figure| figure.method == method && figure.over > 0), "{method}");
        }
    }

    #[test]
    fn without_immutable_features_all_people_count_but_a_single_person_does_not() {
        let mutable = test_case::SCHEMA.replace("immutable = true", "immutable = false");
        let all = figures(&mutable, usize::MAX);
        assert!(shifts(&all).iter().all(|figure| figure.over == figure.of && figure.over > 1));
        let alone = figures(test_case::SCHEMA, 1);
        assert!(!shifts(&alone).is_empty());
        assert!(shifts(&alone).iter().all(|figure| figure.over == 0 && figure.value.is_none()));
    }
}
