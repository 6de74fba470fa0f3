//! An ensemble of trees, over codes.
//!
//! Trees compare numbers that are made of raw values, and for one person every code stands for one value. What
//! is the same for everybody is prepared once, an [`Ensemble`]; a [`Table`] of what the codes stand for makes it
//! one person's [`TreeClassifier`].

mod pairs;
mod pruned;

use std::sync::{Arc, Mutex, PoisonError};

use par_circuit::{Ball, Code};
use par_onnx::{Comparison, Link, TreeNode, Trees};

use self::pruned::Pruned;
use super::{Classifier, NeuralClassifier};

/// Trees that are walked abreast, so that the processor need not wait for one after the other.
const LANES: usize = 8;

/// Where some tree is deeper, nothing is said of balls. Learners hardly go beyond fifty; walks over trees are
/// recursive.
const DEEPEST: usize = 1_000;

/// Trees in the form in which they are walked.
#[derive(Clone, Debug)]
pub(super) struct Ensemble {
    cardinalities: Vec<usize>,
    /// The feature of every source, in the order of a [`Table`]: features ascending.
    features: Vec<u32>,
    /// Tree by tree, `yes` right after its branch.
    nodes: Vec<Node>,
    /// Whole [`LANES`]: the last are leaves that add nothing.
    roots: Vec<u32>,
    base: f64,
    link: Link,
    depth: usize,
}

/// A branch, or a leaf that goes to itself.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The value of a leaf. Of a branch two numbers: `yes` if that of the source is neither below the first (the lower
    /// half) nor above the second.
    bits: u64,
    /// Twice the source, plus one where what is not a number goes to `yes`. A leaf has one that is never a number.
    source: u32,
    /// Where `no` goes.
    no: u32,
}

impl Node {
    fn low(&self) -> f32 {
        f32::from_bits(self.bits as u32)
    }

    fn high(&self) -> f32 {
        f32::from_bits((self.bits >> 32) as u32)
    }

    fn source(&self) -> usize {
        (self.source >> 1) as usize
    }

    fn holds_for_missing(&self) -> bool {
        self.source & 1 == 1
    }

    #[inline(always)]
    fn holds(&self, number: f32) -> bool {
        (self.low() <= number) & (number <= self.high()) | number.is_nan() & self.holds_for_missing()
    }
}

impl Ensemble {
    /// `features` says of every source of the trees which feature it is made of.
    ///
    /// # Panics
    /// When a source or a node is not there, or a node has two parents.
    pub(super) fn new(trees: &Trees, features: &[u32], cardinalities: Vec<usize>) -> Self {
        let mut order: Vec<usize> = (0..features.len()).collect();
        order.sort_by_key(|&source| features[source]);
        let mut places = vec![0; features.len()];
        order.iter().enumerate().for_each(|(place, &source)| places[source] = place as u32);
        let mut ensemble = Self {
            cardinalities,
            features: order.iter().map(|&source| features[source]).collect(),
            nodes: Vec::with_capacity(trees.nodes.len() + 1),
            roots: Vec::with_capacity(trees.roots.len().next_multiple_of(LANES)),
            base: trees.base,
            link: trees.link,
            depth: 0,
        };
        for &root in &trees.roots {
            ensemble.roots.push(ensemble.nodes.len() as u32);
            ensemble.push_tree(trees, root, &places);
        }
        // To a sum of numbers minus zero adds nothing, not even a sign.
        let nothing = ensemble.nodes.len() as u32;
        ensemble.push_leaf(-0.0);
        ensemble.roots.resize(trees.roots.len().next_multiple_of(LANES), nothing);
        ensemble
    }

    fn push_tree(&mut self, trees: &Trees, root: u32, places: &[u32]) {
        // Nodes to come, each with the branch whose `no` it is, and its depth.
        let mut rest = vec![(root, None, 0)];
        while let Some((node, parent, depth)) = rest.pop() {
            let place = self.nodes.len();
            assert!(place < trees.nodes.len(), "no node of a tree has two parents");
            self.depth = self.depth.max(depth);
            if let Some(parent) = parent {
                let parent: &mut Node = &mut self.nodes[parent];
                parent.no = place as u32;
            }
            match trees.nodes[node as usize] {
                TreeNode::Leaf(value) => self.push_leaf(value),
                TreeNode::Branch { source, comparison, yes, no, missing } => {
                    let [low, high] = match comparison {
                        Comparison::AtMost(a) => [f32::NEG_INFINITY, a],
                        Comparison::Equals(a) => [a, a],
                    };
                    let bits = u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32;
                    let source = places[source as usize] << 1 | u32::from(missing);
                    self.nodes.push(Node { bits, source, no: 0 });
                    rest.push((no, Some(place), depth + 1));
                    rest.push((yes, None, depth + 1));
                }
            }
        }
    }

    fn push_leaf(&mut self, value: f64) {
        let never = (self.features.len() as u32) << 1;
        self.nodes.push(Node { bits: value.to_bits(), source: never, no: self.nodes.len() as u32 });
    }

    fn is_leaf(&self, node: &Node) -> bool {
        node.source() == self.features.len()
    }

    /// The leaves that the numbers of the sources, and one that is none, lead to.
    #[inline]
    fn leaves(&self, roots: &[u32], numbers: &[f32]) -> [f64; LANES] {
        let mut places: [u32; LANES] = roots.try_into().expect("roots come in whole lanes");
        loop {
            let mut moved = 0;
            for place in &mut places {
                let node = &self.nodes[*place as usize];
                let next = if node.holds(numbers[node.source()]) { *place + 1 } else { node.no };
                moved |= next ^ *place;
                *place = next;
            }
            if moved == 0 {
                return places.map(|place| f64::from_bits(self.nodes[place as usize].bits));
            }
        }
    }
}

/// What every source of an ensemble is, for every code of its feature.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    /// Of every feature, where it begins, how many sources are made of it, and how many codes it has.
    shapes: Vec<[usize; 3]>,
    /// `[feature][code][source]`; the last code is the unknown one.
    numbers: Vec<f32>,
}

impl Table {
    /// A table of what is not a number.
    pub(super) fn new(ensemble: &Ensemble) -> Self {
        let mut shapes: Vec<[usize; 3]> = ensemble.cardinalities.iter().map(|&codes| [0, 0, codes]).collect();
        ensemble.features.iter().for_each(|&feature| shapes[feature as usize][1] += 1);
        let mut end = 0;
        for [start, sources, codes] in &mut shapes {
            *start = end;
            end += *sources * (*codes + 1);
        }
        Self { shapes, numbers: vec![f32::NAN; end] }
    }

    /// Says what the sources of a feature are, in their order, when it has a code, or none: [`par_circuit::OPEN`].
    pub(super) fn set(&mut self, feature: usize, code: Code, numbers: &[f32]) {
        let place = self.place(feature, code);
        self.numbers[place..place + self.shapes[feature][1]].copy_from_slice(numbers);
    }

    /// Takes what is said of the codes of a feature below `own` from one table, and above it from another.
    pub(super) fn take_around(&mut self, feature: usize, own: Code, below: &Self, above: &Self) {
        let [start, sources, codes] = self.shapes[feature];
        let place = self.place(feature, own);
        let end = start + sources * codes;
        self.numbers[start..place].copy_from_slice(&below.numbers[start..place]);
        if place < end {
            let after = place + sources..end;
            self.numbers[after.clone()].copy_from_slice(&above.numbers[after]);
        }
    }

    #[inline]
    fn place(&self, feature: usize, code: Code) -> usize {
        let [start, sources, codes] = self.shapes[feature];
        start + sources * usize::from(code).min(codes)
    }

    /// The numbers of a feature's sources.
    #[inline]
    fn numbers(&self, feature: usize, code: Code) -> &[f32] {
        &self.numbers[self.place(feature, code)..][..self.shapes[feature][1]]
    }
}

/// An ensemble for one person.
#[derive(Debug)]
pub(super) struct TreeClassifier<'a> {
    ensemble: &'a Ensemble,
    table: Table,
    /// A network that decides like the trees, which have no gradient.
    stand_in: Option<&'a NeuralClassifier>,
    /// The trees as far as balls so far could tell.
    pruned: Mutex<Option<Arc<Pruned>>>,
}

impl<'a> TreeClassifier<'a> {
    /// `stand_in` is for gradients alone.
    pub(super) fn new(ensemble: &'a Ensemble, table: Table, stand_in: Option<&'a NeuralClassifier>) -> Self {
        Self { ensemble, table, stand_in, pruned: Mutex::new(None) }
    }

    /// Trees that can tell all rows of the ball from each other, if the whole ones can.
    ///
    /// A search goes from larger balls to smaller ones, so that the first is usually enough for all.
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

    /// The lowest and the highest log-odds of the rows with at most one change, one by one.
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
        &self.ensemble.cardinalities
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        let Ensemble { features, roots, base, link, .. } = self.ensemble;
        let mut numbers = Vec::with_capacity(features.len() + 1);
        for (feature, &code) in row.iter().enumerate() {
            numbers.extend_from_slice(self.table.numbers(feature, code));
        }
        numbers.push(f32::NAN);
        let leaves = roots.chunks_exact(LANES).flat_map(|roots| self.ensemble.leaves(roots, &numbers));
        link.log_odds(base + leaves.sum::<f64>())
    }

    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        let network = self.stand_in.expect("who asks for gradients has had a network stand in");
        network.log_odds_gradient(soft, gradient)
    }

    /// Exact for up to two changes, rounding aside, unless a feature has more than 64 codes. For more, every tree
    /// chooses its own changes.
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
        let [lowest, highest] = match changes {
            1 | 2 if pruned.is_exact() => pruned.exact_extremes(ball, changes),
            1 => return self.single_change(ball),
            _ => pruned.extremes(ball, changes),
        };
        let link = self.ensemble.link;
        let (lower, upper) = if link.rises() { (lowest, highest) } else { (highest, lowest) };
        (link.log_odds(lower), link.log_odds(upper))
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::OPEN;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::neural::tests::random;
    use super::super::probability;
    use super::*;

    /// Numbers of sources, and what they are compared with.
    const NUMBERS: [f32; 9] = [f32::NAN, f32::NEG_INFINITY, -1.5, -0.0, 0.0, 0.5, 1.0, 7.0, f32::INFINITY];

    /// A random ensemble, and what its sources are for one person.
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
            // The sources of a feature do not stand side by side.
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
            Ensemble::new(&self.trees, &self.features, self.cardinalities.clone())
        }

        fn table(&self, ensemble: &Ensemble) -> Table {
            let mut table = Table::new(ensemble);
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

        /// What the trees themselves say.
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
        // The one or the other stands right behind its parent.
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

    /// The bounds hold for every row of a ball. Where they are said to be exact, they are no wider.
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
            let ensemble = forest.ensemble();
            let classifier = TreeClassifier::new(&ensemble, forest.table(&ensemble), None);
            for _ in 0..20 {
                let row = forest.row(&mut rng);
                prop_assert_eq!(classifier.log_odds(&row).to_bits(), forest.log_odds(&row).to_bits());
            }
        }

        #[test]
        fn bounds_contain_every_row_and_are_exact_for_two_changes(seed: u64, count in 1..12_usize) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let cardinalities = cardinalities(&mut rng);
            let forest = Forest::new(&mut rng, cardinalities, count);
            let ensemble = forest.ensemble();
            let classifier = TreeClassifier::new(&ensemble, forest.table(&ensemble), None);
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
            let classifier = TreeClassifier::new(&ensemble, forest.table(&ensemble), None);
            let ball = forest.ball(&mut rng, changes);
            check(&classifier, &ball, true);
        }

        #[test]
        fn bounds_hold_on_the_way_of_a_search(seed: u64) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let forest = Forest::new(&mut rng, vec![3, 2, 4, 3, 2], 6);
            let ensemble = forest.ensemble();
            let classifier = TreeClassifier::new(&ensemble, forest.table(&ensemble), None);
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
        fn a_feature_of_more_codes_than_a_word_has_bits_is_bounded_too(seed: u64, changes in 0..4_usize) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let forest = Forest::new(&mut rng, vec![3, 90, 2], 5);
            let ensemble = forest.ensemble();
            let classifier = TreeClassifier::new(&ensemble, forest.table(&ensemble), None);
            let mut ball = forest.ball(&mut rng, changes);
            ball.offer(1, &(0..90).collect::<Vec<_>>());
            check(&classifier, &ball, changes <= 1);
        }
    }

    #[test]
    fn trees_share_the_changes_out_only_for_more_than_two() {
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
        let ensemble = Ensemble::new(&trees, &[0, 1, 2, 3], vec![2; 4]);
        let mut table = Table::new(&ensemble);
        for feature in 0..4 {
            table.set(feature, 0, &[0.0]);
            table.set(feature, 1, &[1.0]);
        }
        let classifier = TreeClassifier::new(&ensemble, table, None);
        let mut ball = Ball::new(&[2; 4], vec![0; 4], 0);
        (0..4).for_each(|feature| ball.offer(feature, &[1]));
        for (changes, highest) in [(0, 0.0), (1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0)] {
            ball.changes = changes;
            let (lower, upper) = classifier.log_odds_bounds(&ball);
            assert!(lower.abs() < 1e-9 && (upper - highest).abs() < 1e-9, "{changes}: {lower}, {upper}");
        }
    }

    #[test]
    fn codes_around_the_own_one_are_taken_from_two_tables() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let ensemble = Forest::new(&mut rng, vec![4, 2], 1).ensemble();
        let sources = Table::new(&ensemble).numbers(0, 0).len();
        let filled = |number: f32| {
            let mut table = Table::new(&ensemble);
            for code in [0, 1, 2, 3, OPEN] {
                table.set(0, code, &vec![number; sources]);
            }
            table
        };
        let taken = |own| {
            let mut table = filled(0.0);
            table.take_around(0, own, &filled(-1.0), &filled(1.0));
            [0, 1, 2, 3, OPEN].map(|code| table.numbers(0, code)[0])
        };
        assert_eq!(taken(0), [0.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(taken(2), [-1.0, -1.0, 0.0, 1.0, 0.0]);
        assert_eq!(taken(3), [-1.0, -1.0, -1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_tree_of_any_depth_scores_and_says_nothing_of_balls() {
        let depth = 100_000;
        let nodes = (0..depth).flat_map(|place| {
            let (yes, no) = (2 * place + 1, 2 * place + 2);
            let comparison = Comparison::AtMost(-1.0);
            [TreeNode::Branch { source: 0, comparison, yes, no, missing: false }, TreeNode::Leaf(1.0)]
        });
        let nodes = nodes.chain([TreeNode::Leaf(2.0)]).collect();
        let trees = Trees { nodes, roots: vec![0], base: 0.0, link: Link::LogOdds };
        let ensemble = Ensemble::new(&trees, &[0], vec![2]);
        let mut table = Table::new(&ensemble);
        table.set(0, 0, &[0.0]);
        let classifier = TreeClassifier::new(&ensemble, table, None);
        let mut ball = Ball::new(&[2], vec![0], 1);
        assert_eq!(classifier.log_odds_bounds(&ball), (2.0, 2.0));
        ball.offer(0, &[1]);
        assert_eq!(classifier.log_odds_bounds(&ball), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    #[should_panic(expected = "no node of a tree has two parents")]
    fn a_node_with_two_parents_is_refused() {
        let branch = TreeNode::Branch {
            source: 0,
            comparison: Comparison::AtMost(0.0),
            yes: 1,
            no: 1,
            missing: false,
        };
        let trees = Trees {
            nodes: vec![branch, TreeNode::Leaf(1.0)],
            roots: vec![0],
            base: 0.0,
            link: Link::LogOdds,
        };
        Ensemble::new(&trees, &[0], vec![2]);
    }

    #[test]
    fn gradients_are_those_of_the_network_that_stands_in() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let ensemble = Forest::new(&mut rng, vec![3, 2], 4).ensemble();
        let network = random(&[3, 2], &[4], 1);
        let classifier = TreeClassifier::new(&ensemble, Table::new(&ensemble), Some(&network));
        let (mut found, mut expected) = ([0.0; 5], [0.0; 5]);
        let soft = [0.2, 0.3, 0.5, 1.0, 0.0];
        let log_odds = classifier.log_odds_gradient(&soft, &mut found);
        assert_eq!(log_odds, network.log_odds_gradient(&soft, &mut expected));
        assert_eq!(found, expected);
    }
}
