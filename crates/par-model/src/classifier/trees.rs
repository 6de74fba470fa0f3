//! An ensemble of trees, over codes.
//!
//! Trees compare numbers made of raw values, and for one person every code stands for one value. The [`Ensemble`] is
//! prepared once for all people; with a [`SourceTable`] of the values behind one person's codes it becomes their
//! [`TreeClassifier`].

mod branch_codes;
mod certified;
mod code_sets;
mod conditions;
mod ensemble;
mod leaf_sets;
mod pairs;
mod pruned;
mod table;
mod walks;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use par_circuit::{Ball, Code};

pub(super) use self::certified::{CertifiedTrees, moved};
use self::code_sets::CodeSets;
pub(super) use self::code_sets::JointSets;
pub(super) use self::ensemble::Ensemble;
pub(super) use self::leaf_sets::MOST_BYTES;
use self::pruned::Pruned;
pub(super) use self::table::SourceTable;
use self::walks::Walks;
use super::{Classifier, NeuralClassifier, one_by_one};

/// Deeper trees get no bounds, since the walk over all leaves is recursive. Learners hardly go beyond fifty.
const DEEPEST: usize = 1_000;

/// An ensemble for one person.
#[derive(Debug)]
pub(super) struct TreeClassifier<'a> {
    ensemble: &'a Ensemble,
    table: SourceTable,
    /// `None` if the ensemble has no sets of leaves.
    sets: Option<CodeSets<'a>>,
    /// Made once single changes are scored without sets; `None` if a feature has too many codes.
    walks: OnceLock<Option<Walks<'a>>>,
    /// Gives gradients, which trees do not have.
    surrogate: Option<&'a NeuralClassifier>,
    /// The trees pruned to the balls so far.
    pruned: Mutex<Option<Arc<Pruned>>>,
}

impl<'a> TreeClassifier<'a> {
    /// `surrogate` is used for gradients only. `known` returns the leaves that a feature's code leads to, whose sources
    /// have these numbers, if they were found before.
    pub(super) fn new(
        ensemble: &'a Ensemble,
        table: SourceTable,
        surrogate: Option<&'a NeuralClassifier>,
        known: impl Fn(usize, Code, &[f32]) -> Option<&'a [u64]>,
    ) -> Self {
        let sets = ensemble.leaf_sets.as_ref().map(|leaf_sets| CodeSets::new(leaf_sets, &table, known));
        Self { ensemble, table, sets, walks: OnceLock::new(), surrogate, pruned: Mutex::new(None) }
    }

    /// The trees pruned to the rows of the ball, or of a larger one.
    ///
    /// A search goes from larger balls to smaller ones, so the first pruning usually serves all of them.
    fn pruned(&self, ball: &Ball) -> Arc<Pruned> {
        let mut pruned = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
        match &*pruned {
            Some(pruned) if pruned.covers(ball) => Arc::clone(pruned),
            known => {
                let wider = Arc::new(Pruned::new(self.ensemble, &self.table, ball, known.as_deref()));
                *pruned = Some(Arc::clone(&wider));
                wider
            }
        }
    }

    /// The numbers of all sources for the codes of a row, followed by a NaN.
    fn numbers(&self, row: &[Code]) -> Vec<f32> {
        let mut numbers = Vec::with_capacity(self.ensemble.features.len() + 1);
        for (feature, &code) in row.iter().enumerate() {
            numbers.extend_from_slice(self.table.numbers(feature, code));
        }
        numbers.push(f32::NAN);
        numbers
    }

    /// The lowest and the highest log-odds of the rows with at most one change, by scoring each.
    fn single_change(&self, ball: &Ball) -> (f64, f64) {
        let mut row = ball.centre().to_vec();
        let own = self.log_odds(&row);
        let (mut lower, mut upper) = (own, own);
        for feature in 0..row.len() {
            for &code in ball.alternatives(feature) {
                row[feature] = code;
                let log_odds = self.log_odds(&row);
                (lower, upper) = (lower.min(log_odds), upper.max(log_odds));
            }
            row[feature] = ball.centre()[feature];
        }
        (lower, upper)
    }
}

impl Classifier for TreeClassifier<'_> {
    fn cardinalities(&self) -> &[usize] {
        self.table.cardinalities()
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        if let Some(sets) = &self.sets {
            return self.ensemble.link.log_odds(self.ensemble.base + sets.sum(&self.table, row));
        }
        self.ensemble.log_odds(&self.numbers(row))
    }

    fn neighbours(&self, row: &[Code], log_odds: &mut [f64]) {
        assert_eq!(log_odds.len(), self.cardinalities().iter().sum::<usize>(), "one place a code");
        if let Some(sets) = self.sets.as_ref().filter(|sets| sets.knows_constant(row)) {
            sets.neighbours(&self.table, row, log_odds);
        } else if let Some(walks) = self.walks.get_or_init(|| Walks::new(self.ensemble, &self.table)) {
            walks.neighbours(&self.numbers(row), log_odds);
        } else {
            return one_by_one(self, row, log_odds);
        }
        let Ensemble { link, base, .. } = self.ensemble;
        log_odds.iter_mut().for_each(|sum| *sum = link.log_odds(base + *sum));
    }

    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        let network = self.surrogate.expect("gradients of trees are only used with a surrogate");
        network.log_odds_gradient(soft, gradient)
    }

    /// Exact for up to two changes, except for rounding, unless a feature has more than 64 codes. For more changes each
    /// tree is bounded on its own.
    fn log_odds_bounds(&self, ball: &Ball) -> (f64, f64) {
        let open = (0..ball.centre().len()).filter(|&feature| ball.is_open(feature)).count();
        let changes = ball.changes.min(open);
        if changes == 0 {
            let log_odds = self.log_odds(ball.centre());
            return (log_odds, log_odds);
        }
        if self.ensemble.depth > DEEPEST {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        let pruned = self.pruned(ball);
        let sums = match changes {
            1 | 2 if pruned.is_exact() => pruned.exact_extremes(ball, changes),
            1 => return self.single_change(ball),
            _ => pruned.extremes(ball, changes),
        };
        self.ensemble.bounds_of_sums(sums)
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::OPEN;
    use par_onnx::{Comparison, Link, TreeNode, Trees};
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::neural::tests::random;
    use super::super::probability;
    use super::*;

    /// Numbers of sources and of comparisons.
    const NUMBERS: [f32; 9] = [f32::NAN, f32::NEG_INFINITY, -1.5, -0.0, 0.0, 0.5, 1.0, 7.0, f32::INFINITY];

    /// A random ensemble, and the numbers of its sources for one person.
    struct Forest {
        trees: Trees,
        features: Vec<u32>,
        cardinalities: Vec<usize>,
        /// `[source][code]`; the last code is the unknown one.
        numbers: Vec<Vec<f32>>,
    }

    impl Forest {
        fn new(rng: &mut ChaCha8Rng, cardinalities: Vec<usize>, count: usize) -> Self {
            let mut features = Vec::new();
            let mut numbers = Vec::new();
            // The sources of a feature are not adjacent.
            for round in 0..3 {
                for (feature, &codes) in cardinalities.iter().enumerate() {
                    if round > 0 && rng.random_bool(0.5) {
                        continue;
                    }
                    let hot = rng.random_range(0..=codes);
                    let one_hot = rng.random_bool(0.5);
                    let number = |code| match one_hot {
                        true => f32::from(u8::from(code == hot)),
                        false => NUMBERS[rng.random_range(0..NUMBERS.len())],
                    };
                    features.push(feature as u32);
                    numbers.push((0..=codes).map(number).collect());
                }
            }
            let links = [Link::LogOdds, Link::Probability, Link::OtherProbability];
            let link = links[rng.random_range(0..links.len())];
            let mut trees = Trees { nodes: Vec::new(), roots: Vec::new(), base: 0.25, link };
            for _ in 0..count {
                trees.roots.push(trees.nodes.len() as u32);
                grow(&mut trees, rng, features.len() as u32, 5, 0.7 / count as f64);
            }
            Self { trees, features, cardinalities, numbers }
        }

        fn ensemble(&self) -> Ensemble {
            Ensemble::new(&self.trees, &self.features, MOST_BYTES)
        }

        /// The ensemble as it is, and without sets of leaves.
        fn ensembles(&self) -> [Ensemble; 2] {
            [self.ensemble(), Ensemble { leaf_sets: None, ..self.ensemble() }]
        }

        fn table(&self, ensemble: &Ensemble) -> SourceTable {
            let mut table = SourceTable::new(ensemble, self.cardinalities.clone());
            for (feature, &codes) in self.cardinalities.iter().enumerate() {
                for code in 0..=codes {
                    let own =
                        (0..self.features.len()).filter(|&source| self.features[source] == feature as u32);
                    let numbers: Vec<f32> = own.map(|source| self.numbers[source][code]).collect();
                    table.set(feature, if code == codes { OPEN } else { code as Code }, &numbers);
                }
            }
            table
        }

        /// The log-odds of the trees as they were read.
        fn log_odds(&self, row: &[Code]) -> f64 {
            let sources = self.features.iter().zip(&self.numbers);
            let number = |(&feature, numbers): (&u32, &Vec<f32>)| {
                numbers[usize::from(row[feature as usize]).min(numbers.len() - 1)]
            };
            self.trees.log_odds(&sources.map(number).collect::<Vec<_>>())
        }

        fn code(&self, rng: &mut ChaCha8Rng, feature: usize) -> Code {
            match rng.random_bool(0.1) {
                true => OPEN,
                false => rng.random_range(0..self.cardinalities[feature]) as Code,
            }
        }

        fn row(&self, rng: &mut ChaCha8Rng) -> Vec<Code> {
            (0..self.cardinalities.len()).map(|feature| self.code(rng, feature)).collect()
        }

        fn ball(&self, rng: &mut ChaCha8Rng, changes: usize) -> Ball {
            let mut ball = Ball::new(&self.cardinalities, self.row(rng), changes);
            for (feature, &codes) in self.cardinalities.iter().enumerate() {
                let offered: Vec<Code> = (0..codes as Code).filter(|_| rng.random_bool(0.7)).collect();
                ball.offer(feature, &offered);
                ball.set_open(feature, rng.random_bool(0.8));
            }
            ball
        }
    }

    fn grow(trees: &mut Trees, rng: &mut ChaCha8Rng, sources: u32, depth: usize, scale: f64) {
        let this = trees.nodes.len();
        if depth == 0 || rng.random_bool(0.2) {
            trees.nodes.push(TreeNode::Leaf(scale * rng.random::<f64>()));
            return;
        }
        trees.nodes.push(TreeNode::Leaf(0.0));
        let number = NUMBERS[rng.random_range(0..NUMBERS.len())];
        let comparison =
            if rng.random_bool(0.8) { Comparison::AtMost(number) } else { Comparison::Equals(number) };
        let source = rng.random_range(0..sources);
        let children = [(); 2].map(|()| {
            let child = trees.nodes.len() as u32;
            grow(trees, rng, sources, depth - 1, scale);
            child
        });
        // Either child may come right after its parent.
        let [yes, no] = if rng.random() { children } else { [children[1], children[0]] };
        trees.nodes[this] = TreeNode::Branch { source, comparison, yes, no, missing: rng.random() };
    }

    fn rows(ball: &Ball) -> Vec<Vec<Code>> {
        let mut rows = vec![Vec::new()];
        for (feature, &own) in ball.centre().iter().enumerate() {
            let codes: Vec<Code> = [own].iter().chain(ball.alternatives(feature)).copied().collect();
            rows =
                rows.iter().flat_map(|row| codes.iter().map(|code| [row, &[*code][..]].concat())).collect();
        }
        rows.retain(|row| ball.contains(row));
        rows
    }

    /// The bounds hold for every row of a ball, and are tight if `is_exact`.
    fn check(classifier: &TreeClassifier<'_>, ball: &Ball, is_exact: bool) {
        let (lower, upper) = classifier.log_odds_bounds(ball);
        let scores: Vec<f64> = rows(ball).iter().map(|row| classifier.log_odds(row)).collect();
        let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(lower <= lowest && highest <= upper, "{lower}, {upper} against {lowest}, {highest}");
        if is_exact {
            let near = |a, b| (probability(a) - probability(b)).abs() < 1e-9;
            assert!(
                near(lower, lowest) && near(highest, upper),
                "{lower}, {upper} against {lowest}, {highest}"
            );
        }
    }

    fn cardinalities(rng: &mut ChaCha8Rng) -> Vec<usize> {
        (0..rng.random_range(1..6)).map(|_| rng.random_range(1..5)).collect()
    }

    proptest! {
        #[test]
        fn rows_score_as_the_trees_score_their_numbers(seed: u64, count in 0..20_usize) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let cardinalities = cardinalities(&mut rng);
            let forest = Forest::new(&mut rng, cardinalities, count);
            for ensemble in &forest.ensembles() {
                let classifier = TreeClassifier::new(ensemble, forest.table(ensemble), None, |_, _, _| None);
                for _ in 0..20 {
                    let row = forest.row(&mut rng);
                    prop_assert_eq!(classifier.log_odds(&row).to_bits(), forest.log_odds(&row).to_bits());
                }
            }
        }

        #[test]
        fn numbers_score_by_sets_as_the_trees_score_them(seed: u64, count in 0..20_usize) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let cardinalities = cardinalities(&mut rng);
            let forest = Forest::new(&mut rng, cardinalities, count);
            let mut ensemble = forest.ensemble();
            let table = forest.table(&ensemble);
            let joint = ensemble.joint_sets(&table);
            for _ in 0..20 {
                let row = forest.row(&mut rng);
                let numbers: Vec<&[f32]> =
                    row.iter().enumerate().map(|(feature, &code)| table.numbers(feature, code)).collect();
                let known = |feature, numbers: &[f32]| joint.as_ref()?.find(&table, feature, numbers);
                let found = ensemble.log_odds_by_sets(&numbers.concat(), known);
                prop_assert_eq!(found.is_some(), ensemble.leaf_sets.is_some());
                let of_trees = forest.log_odds(&row);
                prop_assert_eq!(found.unwrap_or(of_trees).to_bits(), of_trees.to_bits());
            }
        }

        #[test]
        fn neighbours_score_as_they_do_one_by_one(seed: u64, count in 0..20_usize, has_many_codes: bool) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut cardinalities = cardinalities(&mut rng);
            // More than a word has bits.
            cardinalities[0] = if has_many_codes { 70 } else { cardinalities[0] };
            let forest = Forest::new(&mut rng, cardinalities, count);
            for ensemble in &forest.ensembles() {
                let classifier = TreeClassifier::new(ensemble, forest.table(ensemble), None, |_, _, _| None);
                let row = forest.row(&mut rng);
                let codes = forest.cardinalities.iter().sum();
                let (mut found, mut expected) = (vec![0.0; codes], vec![0.0; codes]);
                classifier.neighbours(&row, &mut found);
                one_by_one(&classifier, &row, &mut expected);
                for (found, expected) in found.iter().zip(&expected) {
                    let is_near = (probability(*found) - probability(*expected)).abs() < 1e-12;
                    prop_assert!(is_near, "{found}, not {expected}");
                }
            }
        }

        #[test]
        fn bounds_within_ranges_contain_the_numbers_in_them(seed: u64, count in 1..12_usize) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut forest = Forest::new(&mut rng, vec![2; 4], count);
            // Files that compare with NaN are refused.
            for node in &mut forest.trees.nodes {
                if let TreeNode::Branch { comparison, .. } = node {
                    let (Comparison::AtMost(number) | Comparison::Equals(number)) = comparison;
                    *number = if number.is_nan() { 0.25 } else { *number };
                }
            }
            let ensemble = forest.ensemble();
            let number = |rng: &mut ChaCha8Rng| NUMBERS[rng.random_range(0..NUMBERS.len())];
            let ends: Vec<[f32; 2]> = (0..forest.features.len())
                .map(|_| [number(&mut rng), number(&mut rng)])
                .map(|[a, b]| [a.min(b), a.max(b)])
                .collect();
            let mut order: Vec<usize> = (0..forest.features.len()).collect();
            order.sort_by_key(|&source| forest.features[source]);
            let sorted: Vec<[f32; 2]> = order.iter().map(|&source| ends[source]).collect();
            let of_trees = forest.trees.bounds(&ends);
            let (lower, upper) = ensemble.bounds(&sorted, |_| None).unwrap_or(of_trees);
            prop_assert!(of_trees.0 <= lower && upper <= of_trees.1, "{lower}, {upper} against {of_trees:?}");
            for _ in 0..50 {
                let within = |[low, high]: &[f32; 2]| {
                    let inside = NUMBERS.iter().filter(|number| low <= *number && *number <= high);
                    let inside: Vec<f32> = inside.copied().chain([*low, *high]).collect();
                    inside[rng.random_range(0..inside.len())]
                };
                let numbers: Vec<f32> = ends.iter().map(within).collect();
                let found = forest.trees.log_odds(&numbers);
                prop_assert!(lower <= found && found <= upper, "{found} is not in {lower}, {upper}");
            }
        }

        #[test]
        fn bounds_contain_every_row_and_are_exact_for_two_changes(seed: u64, count in 1..12_usize) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let cardinalities = cardinalities(&mut rng);
            let forest = Forest::new(&mut rng, cardinalities, count);
            let ensemble = forest.ensemble();
            let classifier = TreeClassifier::new(&ensemble, forest.table(&ensemble), None, |_, _, _| None);
            for changes in 0..6 {
                let ball = forest.ball(&mut rng, changes);
                check(&classifier, &ball, changes <= 2);
            }
        }

        #[test]
        fn bounds_of_one_tree_are_exact(seed: u64, changes in 0..6_usize) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let cardinalities = cardinalities(&mut rng);
            let forest = Forest::new(&mut rng, cardinalities, 1);
            let ensemble = forest.ensemble();
            let classifier = TreeClassifier::new(&ensemble, forest.table(&ensemble), None, |_, _, _| None);
            let ball = forest.ball(&mut rng, changes);
            check(&classifier, &ball, true);
        }

        #[test]
        fn bounds_hold_as_a_search_shrinks_its_ball(seed: u64) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let forest = Forest::new(&mut rng, vec![3, 2, 4, 3, 2], 6);
            let ensemble = forest.ensemble();
            let classifier = TreeClassifier::new(&ensemble, forest.table(&ensemble), None, |_, _, _| None);
            let mut ball = forest.ball(&mut rng, 4);
            while let Some(feature) = (0..5).find(|&feature| ball.is_open(feature)) {
                check(&classifier, &ball, ball.changes <= 2);
                let code = ball.alternatives(feature)[0];
                ball.set_open(feature, false);
                ball.move_to(feature, code);
                ball.changes = ball.changes.saturating_sub(1);
            }
        }

        #[test]
        fn a_feature_of_more_than_64_codes_is_bounded_too(seed: u64, changes in 0..4_usize) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let forest = Forest::new(&mut rng, vec![3, 90, 2], 5);
            let ensemble = forest.ensemble();
            let classifier = TreeClassifier::new(&ensemble, forest.table(&ensemble), None, |_, _, _| None);
            let mut ball = forest.ball(&mut rng, changes);
            ball.offer(1, &(0..90).collect::<Vec<_>>());
            check(&classifier, &ball, changes <= 1);
        }
    }

    #[test]
    fn each_tree_is_bounded_on_its_own_for_more_than_two_changes() {
        let branch = |source, yes, no| TreeNode::Branch {
            source,
            comparison: Comparison::AtMost(0.0),
            yes,
            no,
            missing: false,
        };
        let nodes = (0..4).flat_map(|tree| {
            let at = 3 * tree;
            [branch(tree, at + 1, at + 2), TreeNode::Leaf(0.0), TreeNode::Leaf(1.0)]
        });
        let trees = Trees { nodes: nodes.collect(), roots: vec![0, 3, 6, 9], base: 0.0, link: Link::LogOdds };
        let ensemble = Ensemble::new(&trees, &[0, 1, 2, 3], MOST_BYTES);
        let mut table = SourceTable::new(&ensemble, vec![2; 4]);
        for feature in 0..4 {
            table.set(feature, 0, &[0.0]);
            table.set(feature, 1, &[1.0]);
        }
        let classifier = TreeClassifier::new(&ensemble, table, None, |_, _, _| None);
        let mut ball = Ball::new(&[2; 4], vec![0; 4], 0);
        (0..4).for_each(|feature| ball.offer(feature, &[1]));
        for (changes, highest) in [(0, 0.0), (1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0)] {
            ball.changes = changes;
            let (lower, upper) = classifier.log_odds_bounds(&ball);
            assert!(lower.abs() < 1e-9 && (upper - highest).abs() < 1e-9, "{changes}: {lower}, {upper}");
        }
    }

    #[test]
    fn a_very_deep_tree_scores_rows_and_has_no_bounds() {
        let depth = 100_000;
        let nodes = (0..depth).flat_map(|place| {
            let (yes, no) = (2 * place + 1, 2 * place + 2);
            let comparison = Comparison::AtMost(-1.0);
            [TreeNode::Branch { source: 0, comparison, yes, no, missing: false }, TreeNode::Leaf(1.0)]
        });
        let nodes = nodes.chain([TreeNode::Leaf(2.0)]).collect();
        let trees = Trees { nodes, roots: vec![0], base: 0.0, link: Link::LogOdds };
        let ensemble = Ensemble::new(&trees, &[0], MOST_BYTES);
        let mut table = SourceTable::new(&ensemble, vec![2]);
        table.set(0, 0, &[0.0]);
        assert!(ensemble.leaf_sets.is_none());
        let classifier = TreeClassifier::new(&ensemble, table, None, |_, _, _| None);
        let mut ball = Ball::new(&[2], vec![0], 1);
        assert_eq!(classifier.log_odds_bounds(&ball), (2.0, 2.0));
        ball.offer(0, &[1]);
        assert_eq!(classifier.log_odds_bounds(&ball), (f64::NEG_INFINITY, f64::INFINITY));
    }

    /// Trees with a leaf for each whole number, a branch for every power of two, down to single numbers; the thresholds of
    /// each tree are a little higher than those of the one before.
    fn balanced(powers: u32, count: u32) -> Trees {
        let mut trees = Trees { nodes: Vec::new(), roots: Vec::new(), base: 0.0, link: Link::LogOdds };
        for tree in 0..count {
            let root = trees.nodes.len() as u32;
            trees.roots.push(root);
            let offset = tree as f32 / count as f32 - 1.0;
            for depth in 0..powers {
                let (first, width) = (root + (1 << depth) - 1, f32::from(1_u16 << (powers - depth - 1)));
                trees.nodes.extend((0..1_u32 << depth).map(|place| {
                    let comparison = Comparison::AtMost((2 * place + 1) as f32 * width + offset);
                    let yes = root + 2 * (first - root + place) + 1;
                    TreeNode::Branch { source: 0, comparison, yes, no: yes + 1, missing: false }
                }));
            }
            trees.nodes.extend((0..1_u32 << powers).map(|leaf| TreeNode::Leaf(f64::from(leaf))));
        }
        trees
    }

    #[test]
    fn sets_of_leaves_that_would_take_too_much_are_not_made() {
        let has_sets = |powers: u32, count: u32, most_bytes: u64| {
            let ensemble = Ensemble::new(&balanced(powers, count), &[0], most_bytes);
            let scores = [0.0, 3.9, f32::NAN].map(|number| {
                let mut table = SourceTable::new(&ensemble, vec![1]);
                table.set(0, 0, &[number]);
                TreeClassifier::new(&ensemble, table, None, |_, _, _| None).log_odds(&[0])
            });
            let last = f64::from((1_u32 << powers) - 1);
            let of_fraction = f64::from(count / 10) * 3.0 + f64::from(count - count / 10) * 4.0;
            assert_eq!(scores, [0.0, of_fraction, f64::from(count) * last]);
            ensemble.leaf_sets.is_some()
        };
        assert!(has_sets(5, 10, MOST_BYTES));
        assert!(!has_sets(5, 10, 1000), "the sets take more");
        assert!(!has_sets(9, 40, MOST_BYTES), "their conditions do");
    }

    /// Otherwise they would be made anew for every person.
    #[test]
    fn with_too_many_codes_of_several_sources_there_are_no_sets() {
        let has_sets = |codes: usize, features: &[u32], most_bytes: u64| {
            let mut ensemble = Ensemble::new(&balanced(5, 10), features, most_bytes);
            let table = SourceTable::new(&ensemble, vec![codes]);
            assert_eq!(ensemble.joint_sets(&table).is_some(), ensemble.leaf_sets.is_some());
            ensemble.leaf_sets.is_some()
        };
        assert!(has_sets(50, &[0, 0], MOST_BYTES) && has_sets(50_000, &[0], 50_000));
        assert!(!has_sets(5000, &[0, 0], 50_000), "they take more");
        assert!(!has_sets(50_000, &[0; 2000], MOST_BYTES << 8), "they take long");
    }

    #[test]
    fn a_tree_of_many_leaves_and_few_levels_is_walked() {
        let ensemble = Ensemble::new(&balanced(15, 1), &[0], MOST_BYTES);
        assert!(ensemble.leaf_sets.is_none());
        let mut table = SourceTable::new(&ensemble, vec![2]);
        table.set(0, 0, &[0.0]);
        table.set(0, 1, &[12_345.0]);
        let classifier = TreeClassifier::new(&ensemble, table, None, |_, _, _| None);
        assert_eq!([classifier.log_odds(&[0]), classifier.log_odds(&[1])], [0.0, 12_345.0]);
    }

    #[test]
    fn gradients_are_those_of_the_surrogate() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let ensemble = Forest::new(&mut rng, vec![3, 2], 4).ensemble();
        let network = random(&[3, 2], &[4], 1);
        let table = SourceTable::new(&ensemble, vec![3, 2]);
        let classifier = TreeClassifier::new(&ensemble, table, Some(&network), |_, _, _| None);
        let (mut found, mut expected) = ([0.0; 5], [0.0; 5]);
        let soft = [0.2, 0.3, 0.5, 1.0, 0.0];
        let log_odds = classifier.log_odds_gradient(&soft, &mut found);
        assert_eq!(log_odds, network.log_odds_gradient(&soft, &mut expected));
        assert_eq!(found, expected);
    }
}
