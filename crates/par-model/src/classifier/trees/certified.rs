//! Trees whose thresholds may move, as a classifier: its log-odds are a bound on those of all such ensembles.

use std::sync::OnceLock;

use par_circuit::{Ball, Code};

use super::super::certificate::End;
use super::super::{Classifier, one_by_one};
use super::ensemble::{Ensemble, Node};
use super::leaf_sets::{branches, intersect, remove, trees_of_leaves};
use super::{SourceTable, TreeClassifier};

/// The most words of all sets together: 16 MiB. Neighbours of larger ensembles are scored one by one.
const MOST_WORDS: usize = 1 << 21;

/// The lowest, or the highest, log-odds of the ensembles whose thresholds differ by at most a radius, each on its own.
#[derive(Debug)]
pub(in super::super) struct CertifiedTrees<'a> {
    /// The ensemble as it is.
    nominal: TreeClassifier<'a>,
    /// By how much the thresholds on every source may move, in the order of the ensemble.
    radii: Vec<f64>,
    end: End,
    /// Made for the first neighbours; `None` if they would be too large.
    sets: OnceLock<Option<ReachableSets>>,
}

/// The numbers that a moving threshold may be compared with, in its place: the lowest and the highest.
pub(in super::super) fn moved(number: f32, radius: f64) -> [f32; 2] {
    if radius == 0.0 {
        return [number; 2];
    }
    let (low, high) = (f64::from(number) - radius, f64::from(number) + radius);
    let (down, up) = (low as f32, high as f32);
    // Rounded outward.
    [
        if f64::from(down) > low { down.next_down() } else { down },
        if f64::from(up) < high { up.next_up() } else { up },
    ]
}

/// Whether a branch may hold, and whether it may fail.
fn outcomes(node: &Node, [lowest, highest]: [f32; 2]) -> [bool; 2] {
    if lowest.is_nan() || highest.is_nan() {
        return [node.holds_for_missing(), !node.holds_for_missing()];
    }
    [lowest <= node.high() && highest >= node.low(), lowest < node.low() || highest > node.high()]
}

impl<'a> CertifiedTrees<'a> {
    /// `radii` are in the order of the ensemble's sources.
    pub(in super::super) fn new(nominal: TreeClassifier<'a>, radii: Vec<f64>, end: End) -> Self {
        Self { nominal, radii, end, sets: OnceLock::new() }
    }

    fn ensemble(&self) -> &'a Ensemble {
        self.nominal.ensemble
    }

    /// Whether the bound takes each tree's lowest leaf, rather than its highest.
    fn takes_lowest(&self) -> bool {
        (self.end == End::Lowest) == self.ensemble().link.rises()
    }

    /// The log-odds if the number of every source lies within a range; each tree takes its lowest leaf, or its highest.
    fn log_odds_within(&self, ranges: &[[f32; 2]]) -> f64 {
        let Ensemble { nodes, link, base, .. } = self.ensemble();
        let (roots, _) = self.ensemble().trees();
        let mut open = Vec::new();
        let extreme = |&root: &u32| {
            let mut extreme = None;
            open.push(root as usize);
            while let Some(place) = open.pop() {
                let node = &nodes[place];
                if self.ensemble().is_leaf(node) {
                    extreme = Some(extreme.map_or(node.value(), |other| self.further(other, node.value())));
                    continue;
                }
                let [may_hold, may_fail] = outcomes(node, ranges[node.source()]);
                open.extend(may_hold.then_some(place + 1));
                open.extend(may_fail.then_some(node.no()));
            }
            extreme.expect("a row reaches a leaf of every tree")
        };
        link.log_odds(base + roots.iter().map(extreme).sum::<f64>())
    }

    /// The one of two leaves that the bound takes.
    fn further(&self, one: f64, other: f64) -> f64 {
        if self.takes_lowest() { one.min(other) } else { one.max(other) }
    }

    fn sets(&self) -> Option<&ReachableSets> {
        self.sets
            .get_or_init(|| ReachableSets::new(self.ensemble(), &self.nominal.table, &self.radii))
            .as_ref()
    }

    /// The range of every source over all codes of a ball; `None` if some number is missing and others are not.
    fn ranges_of(&self, ball: &Ball) -> Option<Vec<[f32; 2]>> {
        let mut ranges = Vec::with_capacity(self.radii.len());
        for (feature, own) in ball.centre().iter().enumerate() {
            for source in 0..self.nominal.table.sources(feature) {
                let radius = self.radii[ranges.len()];
                let codes = std::iter::once(own).chain(ball.alternatives(feature));
                let of_codes: Vec<[f32; 2]> = codes
                    .map(|&code| moved(self.nominal.table.numbers(feature, code)[source], radius))
                    .collect();
                let missing = of_codes.iter().filter(|range| range[0].is_nan()).count();
                if missing > 0 && missing < of_codes.len() {
                    return None;
                }
                let hull = |a: [f32; 2], b: &[f32; 2]| [a[0].min(b[0]), a[1].max(b[1])];
                ranges.push(of_codes.iter().fold(of_codes[0], hull));
            }
        }
        Some(ranges)
    }
}

impl Classifier for CertifiedTrees<'_> {
    fn cardinalities(&self) -> &[usize] {
        self.nominal.cardinalities()
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        let numbers =
            row.iter().enumerate().flat_map(|(feature, &code)| self.nominal.table.numbers(feature, code));
        let ranges: Vec<[f32; 2]> =
            numbers.zip(&self.radii).map(|(&number, &radius)| moved(number, radius)).collect();
        self.log_odds_within(&ranges)
    }

    fn neighbours(&self, row: &[Code], log_odds: &mut [f64]) {
        let Some(sets) = self.sets() else {
            return one_by_one(self, row, log_odds);
        };
        assert_eq!(log_odds.len(), self.cardinalities().iter().sum::<usize>(), "one place a code");
        sets.neighbours(self.cardinalities(), row, self.takes_lowest(), log_odds);
        let Ensemble { link, base, .. } = self.ensemble();
        log_odds.iter_mut().for_each(|sum| *sum = link.log_odds(base + *sum));
    }

    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        self.nominal.log_odds_gradient(soft, gradient)
    }

    /// On one side the bounds of the ensemble as it is, which is one of those that the log-odds are the lowest of.
    fn log_odds_bounds(&self, ball: &Ball) -> (f64, f64) {
        if ball.changes == 0 || (0..ball.centre().len()).all(|feature| ball.alternatives(feature).is_empty())
        {
            let log_odds = self.log_odds(ball.centre());
            return (log_odds, log_odds);
        }
        let (lower, upper) = self.nominal.log_odds_bounds(ball);
        let of_hull = self.ranges_of(ball).map(|ranges| self.log_odds_within(&ranges));
        match self.end {
            End::Lowest => (of_hull.unwrap_or(f64::NEG_INFINITY), upper),
            End::Highest => (lower, of_hull.unwrap_or(f64::INFINITY)),
        }
    }
}

/// The leaves that a code may lead to, for every code of every feature, as bits.
#[derive(Debug)]
struct ReachableSets {
    values: Vec<f64>,
    /// The tree of each leaf.
    trees: Vec<u32>,
    /// Where the leaves of each tree start, and where those of the last end.
    starts: Vec<usize>,
    /// How many words a set has.
    width: usize,
    /// The set of all leaves.
    all: Vec<u64>,
    features: Vec<FeatureSets>,
}

#[derive(Debug)]
struct FeatureSets {
    /// One per code, and then that of the unknown code.
    of_codes: Vec<Vec<u64>>,
    /// The leaves that all codes may lead to.
    always: Vec<u64>,
}

impl ReachableSets {
    fn new(ensemble: &Ensemble, table: &SourceTable, radii: &[f64]) -> Option<Self> {
        let (_, nodes) = ensemble.trees();
        let leaves = nodes.iter().filter(|node| ensemble.is_leaf(node));
        let values: Vec<f64> = leaves.map(Node::value).collect();
        let trees = trees_of_leaves(ensemble);
        let width = values.len().div_ceil(64);
        let codes: usize = table.cardinalities().iter().map(|codes| codes + 1).sum();
        if codes.saturating_mul(width) > MOST_WORDS {
            return None;
        }
        let mut all = vec![u64::MAX; width];
        remove(&mut all, &(values.len()..64 * width));
        let mut first = Vec::new();
        let mut next = 0;
        for feature in 0..table.cardinalities().len() {
            first.push(next);
            next += table.sources(feature);
        }
        let new =
            |&codes: &usize| FeatureSets { of_codes: vec![all.clone(); codes + 1], always: all.clone() };
        let mut features: Vec<FeatureSets> = table.cardinalities().iter().map(new).collect();
        for branch in branches(ensemble) {
            let source = branch.node.source();
            let feature = ensemble.features[source] as usize;
            for (code, set) in features[feature].of_codes.iter_mut().enumerate() {
                let number = table.numbers(feature, code as Code)[source - first[feature]];
                let [may_hold, may_fail] = outcomes(branch.node, moved(number, radii[source]));
                if !may_hold {
                    remove(set, &branch.yes);
                }
                if !may_fail {
                    remove(set, &branch.no);
                }
            }
        }
        for FeatureSets { of_codes, always } in &mut features {
            of_codes.iter().for_each(|set| intersect(always, set));
        }
        let mut starts: Vec<usize> =
            (0..trees.len()).filter(|&leaf| leaf == 0 || trees[leaf] != trees[leaf - 1]).collect();
        starts.push(values.len());
        Some(Self { values, trees, starts, width, all, features })
    }

    /// For each code of each feature, in order, the sum of the lowest leaves, or of the highest, of the row with this
    /// code in place of its own.
    fn neighbours(&self, cardinalities: &[usize], row: &[Code], takes_lowest: bool, sums: &mut [f64]) {
        let own = |feature: usize| {
            &self.features[feature].of_codes[usize::from(row[feature]).min(cardinalities[feature])]
        };
        // For each feature, the leaves that its codes may reach while all others stay.
        let mut within_reach = vec![0; self.width * row.len()];
        let mut reached = self.all.clone();
        for (feature, within_reach) in within_reach.chunks_exact_mut(self.width.max(1)).enumerate() {
            within_reach.copy_from_slice(&reached);
            intersect(&mut reached, own(feature));
        }
        let mut after = self.all.clone();
        for (feature, within_reach) in within_reach.chunks_exact_mut(self.width.max(1)).enumerate().rev() {
            intersect(within_reach, &after);
            intersect(&mut after, own(feature));
        }
        let sign = if takes_lowest { 1.0 } else { -1.0 };
        let mut least = vec![f64::INFINITY; self.starts.len().saturating_sub(1)];
        visit(&reached, |leaf| {
            let least = &mut least[self.trees[leaf] as usize];
            *least = least.min(sign * self.values[leaf]);
        });
        let sum: f64 = least.iter().sum();
        let mut places = sums.iter_mut();
        let within_reach = within_reach.chunks(self.width.max(1)).chain(std::iter::repeat(&[][..]));
        for ((feature, &codes), within_reach) in self.features.iter().zip(cardinalities).zip(within_reach) {
            let candidates = self.candidates(feature, within_reach, sign);
            for (set, place) in feature.of_codes[..codes].iter().zip(places.by_ref()) {
                let mut total = sum;
                for (tree, leaves) in &candidates {
                    let is_reached = |(leaf, _): &&(usize, f64)| set[leaf / 64] >> (leaf % 64) & 1 == 1;
                    let values = leaves.iter().filter(is_reached).map(|(_, value)| *value);
                    total += values.fold(f64::INFINITY, f64::min) - least[*tree];
                }
                *place = sign * total;
            }
        }
    }

    /// The trees whose leaf may depend on the code of a feature, and their leaves within reach with their signed values.
    fn candidates(
        &self,
        feature: &FeatureSets,
        within_reach: &[u64],
        sign: f64,
    ) -> Vec<(usize, Vec<(usize, f64)>)> {
        let mut candidates: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
        let mut words: Vec<u64> = within_reach.to_vec();
        words.iter_mut().zip(&feature.always).for_each(|(word, always)| *word &= !always);
        visit(&words, |leaf| {
            let tree = self.trees[leaf] as usize;
            if candidates.last().is_none_or(|(last, _)| *last != tree) {
                let all = self.starts[tree]..self.starts[tree + 1];
                let is_reached = |leaf: &usize| within_reach[leaf / 64] >> (leaf % 64) & 1 == 1;
                let leaves = all.filter(is_reached).map(|leaf| (leaf, sign * self.values[leaf]));
                candidates.push((tree, leaves.collect()));
            }
        });
        candidates
    }
}

/// Visits the leaves of a set, in order.
fn visit(set: &[u64], mut visit: impl FnMut(usize)) {
    for (word, &bits) in set.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            visit(word * 64 + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::OPEN;
    use par_onnx::{Comparison, Link, TreeNode, Trees};

    use super::super::super::certificate::End;
    use super::super::MOST_BYTES;
    use super::*;

    /// A tree for each threshold on the one number, with leaf 1 up to it and leaf 2 above it.
    fn stumps(thresholds: &[f32], link: Link) -> Trees {
        let mut trees = Trees { nodes: Vec::new(), roots: Vec::new(), base: 0.0, link };
        for &threshold in thresholds {
            let root = trees.nodes.len() as u32;
            let comparison = Comparison::AtMost(threshold);
            trees.roots.push(root);
            let (yes, no) = (root + 1, root + 2);
            trees.nodes.push(TreeNode::Branch { source: 0, comparison, yes, no, missing: true });
            trees.nodes.extend([TreeNode::Leaf(0.1), TreeNode::Leaf(0.2)]);
        }
        trees
    }

    /// The bounds for each of some numbers, and for a missing one.
    fn bounds(trees: &Trees, numbers: &[f32], radius: f64, end: End) -> Vec<f64> {
        let ensemble = Ensemble::new(trees, &[0], MOST_BYTES);
        let mut table = SourceTable::new(&ensemble, vec![numbers.len()]);
        (0..).zip(numbers).for_each(|(code, &number)| table.set(0, code, &[number]));
        let nominal = TreeClassifier::new(&ensemble, table, None, |_, _, _| None);
        let certified = CertifiedTrees::new(nominal, vec![radius], end);
        let mut neighbours = vec![0.0; numbers.len()];
        certified.neighbours(&[OPEN], &mut neighbours);
        let codes = (0..numbers.len() as Code).chain([OPEN]);
        let found: Vec<f64> = codes.map(|code| certified.log_odds(&[code])).collect();
        assert!(
            neighbours.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-9),
            "{neighbours:?}, not {found:?}"
        );
        found
    }

    #[test]
    fn a_threshold_moves_exactly_as_far_as_its_radius() {
        let numbers = [0.5, 0.75, 1.0, 1.25, 1.25_f32.next_up()];
        let found = bounds(&stumps(&[1.0], Link::LogOdds), &numbers, 0.25, End::Lowest);
        assert_eq!(found, [0.1, 0.1, 0.1, 0.1, 0.2, 0.1]);
        let found = bounds(&stumps(&[1.0], Link::LogOdds), &numbers, 0.25, End::Highest);
        // A threshold of 0.75 still holds for 0.75.
        assert_eq!(found, [0.1, 0.1, 0.2, 0.2, 0.2, 0.1]);
    }

    #[test]
    fn a_probability_of_the_other_class_takes_the_highest_leaf() {
        let found = bounds(&stumps(&[1.0], Link::OtherProbability), &[1.0], 0.25, End::Lowest);
        assert_eq!(found[0], Link::OtherProbability.log_odds(0.2));
    }

    /// No threshold lets a number be both at most 1 and above 1.5, but two may: 1.3 after they moved by 0.4.
    #[test]
    fn thresholds_move_independently() {
        let branch = |threshold, yes, no| TreeNode::Branch {
            source: 0,
            comparison: Comparison::AtMost(threshold),
            yes,
            no,
            missing: false,
        };
        let leaves = [0.3, 0.1, 0.2].map(TreeNode::Leaf);
        let nodes = [branch(1.0, 1, 4), branch(1.5, 2, 3)].into_iter().chain(leaves).collect();
        let trees = Trees { nodes, roots: vec![0], base: 0.0, link: Link::LogOdds };
        assert_eq!(bounds(&trees, &[1.3], 0.4, End::Lowest)[0], 0.1);
        assert_eq!(bounds(&trees, &[1.3], 0.1, End::Lowest)[0], 0.2);
    }

    #[test]
    fn numbers_without_an_end_stay() {
        for number in [f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(moved(number, 1.0), [number; 2]);
        }
        assert!(moved(f32::NAN, 1.0).iter().all(|end| end.is_nan()));
        assert_eq!(moved(f32::MAX, f64::MAX), [f32::NEG_INFINITY, f32::INFINITY]);
    }
}
