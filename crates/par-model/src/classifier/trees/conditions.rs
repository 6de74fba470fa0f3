//! Which codes of each feature lead to each leaf.
//!
//! Of all branches above a leaf, those over the sources of one feature are a condition on that feature's code. Many leaves
//! share a condition, so that for one person the codes that meet each of them are found once, as bits.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use par_circuit::Code;

use super::branch_codes::MOST_CODES;
use super::ensemble::{Ensemble, Node};
use super::leaf_sets::Classes;
use super::table::SourceTable;

/// The conditions of every feature that has sources.
#[derive(Clone, Debug)]
pub(super) struct Conditions(Vec<FeatureConditions>);

/// The conditions of one feature.
#[derive(Clone, Debug)]
pub(super) struct FeatureConditions {
    /// Its sources.
    pub(super) sources: Range<usize>,
    /// The condition of each leaf, in the order of the leaves.
    of_leaves: Vec<u16>,
    /// The branches over its sources, each with the place of the source among them.
    branches: Vec<(usize, Node)>,
    /// How each condition but the first, which always holds, follows from one before it.
    steps: Vec<Step>,
    /// The first and the last class of numbers that meet each condition; `None` if it has several sources, or if there are
    /// classes between the two that do not.
    classes: Option<Vec<[u16; 2]>>,
}

/// A condition that holds where another does and a branch goes one way.
#[derive(Clone, Copy, Debug)]
struct Step {
    condition: u16,
    branch: u16,
    goes_to_yes: bool,
}

impl Conditions {
    /// `None` if a feature has too many conditions. `sources` are the classes of all sources.
    pub(super) fn new(ensemble: &Ensemble, sources: &[Classes]) -> Option<Self> {
        let mut start = 0;
        let growths = ensemble.features.chunk_by(|a, b| a == b).map(|of_feature| {
            start += of_feature.len();
            Growth::new(start - of_feature.len()..start, sources)
        });
        let mut walk = Walk { ensemble, features: Vec::new(), sources, growths: growths.collect() };
        for (feature, growth) in walk.growths.iter().enumerate() {
            walk.features.extend(growth.conditions.sources.clone().map(|_| feature));
        }
        let mut conditions = vec![0; walk.growths.len()];
        for &root in ensemble.trees().0 {
            walk.visit(root as usize, &mut conditions)?;
        }
        Some(Self(walk.growths.into_iter().map(|growth| growth.finish(sources)).collect()))
    }

    /// Feature by feature, those without sources left out.
    pub(super) fn iter(&self) -> impl Iterator<Item = &FeatureConditions> {
        self.0.iter()
    }

    /// The conditions of the feature with this source.
    pub(super) fn of_source(&self, source: usize) -> &FeatureConditions {
        &self.0[self.0.partition_point(|feature| feature.sources.end <= source)]
    }
}

impl FeatureConditions {
    /// For each condition, the bits of those among the codes of a feature that meet it; at most [`MOST_CODES`] codes.
    pub(super) fn codes(&self, table: &SourceTable, feature: usize, codes: Range<usize>) -> Vec<u64> {
        // Source by source.
        let count = codes.len();
        let mut numbers = vec![0.0; self.sources.len() * count];
        for (place, code) in codes.enumerate() {
            let of_code = table.numbers(feature, code as Code);
            numbers[place..].iter_mut().step_by(count).zip(of_code).for_each(|(number, own)| *number = *own);
        }
        let to_yes = |(place, branch): &(usize, Node)| {
            let bits = numbers[place * count..][..count].iter().zip(0..);
            bits.fold(0, |all, (&number, bit)| all | u64::from(branch.holds(number)) << bit)
        };
        let to_yes: Vec<u64> = self.branches.iter().map(to_yes).collect();
        let mut met = Vec::with_capacity(self.steps.len() + 1);
        met.push(u64::MAX >> (MOST_CODES - count));
        for step in &self.steps {
            let to_yes = to_yes[usize::from(step.branch)];
            met.push(met[usize::from(step.condition)] & if step.goes_to_yes { to_yes } else { !to_yes });
        }
        met
    }

    /// The condition of a leaf.
    #[inline]
    pub(super) fn of_leaf(&self, leaf: usize) -> usize {
        usize::from(self.of_leaves[leaf])
    }

    /// The first and the last class that meet each condition, if it has one source and all classes in between do too.
    pub(super) fn classes(&self) -> Option<&[[u16; 2]]> {
        self.classes.as_deref()
    }
}

/// The most words that the classes of a feature's conditions take while conditions are found: 8 MiB.
const MOST_WORDS: usize = 1 << 20;

/// The walk over all leaves that finds their conditions.
struct Walk<'a> {
    ensemble: &'a Ensemble,
    /// The feature of each source, among those with sources.
    features: Vec<usize>,
    sources: &'a [Classes],
    growths: Vec<Growth>,
}

impl Walk<'_> {
    /// Adds the leaves below a node; `conditions` lead there. `None` if there are too many.
    fn visit(&mut self, place: usize, conditions: &mut [u16]) -> Option<()> {
        let node = self.ensemble.nodes[place];
        if self.ensemble.is_leaf(&node) {
            for (growth, &condition) in self.growths.iter_mut().zip(&*conditions) {
                growth.conditions.of_leaves.push(condition);
            }
            return Some(());
        }
        let feature = self.features[node.source()];
        let before = conditions[feature];
        // A branch's `yes` subtree comes before its `no` subtree.
        for (child, goes_to_yes) in [(place + 1, true), (node.no(), false)] {
            conditions[feature] = self.growths[feature].step(before, &node, goes_to_yes, self.sources)?;
            self.visit(child, conditions)?;
        }
        conditions[feature] = before;
        Some(())
    }
}

/// The conditions of a feature in progress.
struct Growth {
    conditions: FeatureConditions,
    /// For each condition, the classes of each source that meet it, as bits.
    met: Vec<Rc<[u64]>>,
    known: BTreeMap<Rc<[u64]>, u16>,
    branches: BTreeMap<[u32; 3], u16>,
}

impl Growth {
    fn new(sources: Range<usize>, all: &[Classes]) -> Self {
        let count: usize = all[sources.clone()].iter().map(Classes::count).sum();
        let mut met = vec![u64::MAX; count.div_ceil(64)];
        if let Some(last) = met.last_mut().filter(|_| !count.is_multiple_of(64)) {
            *last = (1 << (count % 64)) - 1;
        }
        let (of_leaves, branches, steps) = (Vec::new(), Vec::new(), Vec::new());
        let met: Rc<[u64]> = met.into();
        Self {
            conditions: FeatureConditions { sources, of_leaves, branches, steps, classes: None },
            known: BTreeMap::from([(Rc::clone(&met), 0)]),
            met: vec![met],
            branches: BTreeMap::new(),
        }
    }

    /// The condition that holds where another does and a branch goes one way; `None` if there are too many.
    fn step(&mut self, condition: u16, node: &Node, goes_to_yes: bool, sources: &[Classes]) -> Option<u16> {
        let FeatureConditions { sources: own, branches, steps, .. } = &mut self.conditions;
        let classes = &sources[node.source()];
        let first = classes.first - sources[own.start].first;
        let mut met = self.met[usize::from(condition)].to_vec();
        let to_yes = classes.to_yes(node);
        for class in (0..classes.count()).filter(|&class| to_yes(class) != goes_to_yes) {
            let bit = first + class;
            met[bit / 64] &= !(1 << (bit % 64));
        }
        if let Some(&known) = self.known.get(&*met) {
            return Some(known);
        }
        if self.met.len() * met.len() > MOST_WORDS {
            return None;
        }
        let next = u16::try_from(branches.len()).ok()?;
        let branch = *self.branches.entry(node.key()).or_insert(next);
        if branch == next {
            branches.push((node.source() - own.start, *node));
        }
        let new = u16::try_from(self.met.len()).ok()?;
        steps.push(Step { condition, branch, goes_to_yes });
        let met: Rc<[u64]> = met.into();
        self.known.insert(Rc::clone(&met), new);
        self.met.push(met);
        Some(new)
    }

    fn finish(self, sources: &[Classes]) -> FeatureConditions {
        let Self { mut conditions, met, .. } = self;
        if let [classes] = &sources[conditions.sources.clone()] {
            conditions.classes = met.iter().map(|met| range(met, classes.missing())).collect();
        }
        conditions
    }
}

/// The first and the last of the first `count` bits that are set, if all between them are too; if there is none, a range
/// without any.
fn range(bits: &[u64], count: usize) -> Option<[u16; 2]> {
    let mut set = (0..count).filter(|bit| bits[bit / 64] >> (bit % 64) & 1 == 1);
    let Some(first) = set.next() else { return Some([u16::MAX, 0]) };
    let (last, count) = set.fold((first, 1), |(_, count), bit| (bit, count + 1));
    (last - first + 1 == count).then_some([u16::try_from(first).ok()?, u16::try_from(last).ok()?])
}

#[cfg(test)]
mod tests {
    use par_onnx::{Comparison, Link, TreeNode, Trees};

    use super::super::MOST_BYTES;
    use super::*;

    /// Two sources of one feature, and a third of another.
    const FEATURES: [u32; 3] = [0, 0, 1];

    fn branch(source: u32, comparison: Comparison, [yes, no]: [u32; 2]) -> TreeNode {
        TreeNode::Branch { source, comparison, yes, no, missing: false }
    }

    /// Leaves of both trees: where source 2 is at most 1, above 1 but at most 3, and above 3; then where source 0 is 1, and
    /// of the others where source 1 is at most 0, and where it is not.
    fn ensemble() -> Ensemble {
        let nodes = vec![
            branch(2, Comparison::AtMost(3.0), [1, 2]),
            branch(2, Comparison::AtMost(1.0), [3, 4]),
            TreeNode::Leaf(0.3),
            TreeNode::Leaf(0.1),
            TreeNode::Leaf(0.2),
            branch(0, Comparison::Equals(1.0), [6, 7]),
            TreeNode::Leaf(0.4),
            branch(1, Comparison::AtMost(0.0), [8, 9]),
            TreeNode::Leaf(0.5),
            TreeNode::Leaf(0.6),
        ];
        Ensemble::new(
            &Trees { nodes, roots: vec![0, 5], base: 0.0, link: Link::LogOdds },
            &FEATURES,
            MOST_BYTES,
        )
    }

    #[test]
    fn conditions_name_the_codes_that_lead_to_each_leaf() {
        let ensemble = ensemble();
        let conditions = &ensemble.leaf_sets.as_ref().expect("sets of leaves").conditions;
        let mut table = SourceTable::new(&ensemble, vec![3, 4]);
        for (code, numbers) in (0..).zip([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]) {
            table.set(0, code, &numbers);
        }
        for (code, number) in (0..).zip([0.0, 2.0, 4.0, f32::NAN]) {
            table.set(1, code, &[number]);
        }
        let met = |feature: usize, source: usize| -> Vec<u64> {
            let (of_feature, codes) = (conditions.of_source(source), 0..[3, 4][feature]);
            let met = of_feature.codes(&table, feature, codes);
            (0..6).map(|leaf| met[of_feature.of_leaf(leaf)]).collect()
        };
        assert_eq!(met(0, 1), [0b111, 0b111, 0b111, 0b001, 0b010, 0b100]);
        // NaN goes to `no`.
        assert_eq!(met(1, 2), [0b0001, 0b0010, 0b1100, 0b1111, 0b1111, 0b1111]);
    }

    #[test]
    fn classes_are_known_where_they_are_a_range() {
        let ensemble = ensemble();
        let conditions = &ensemble.leaf_sets.as_ref().expect("sets of leaves").conditions;
        assert_eq!(conditions.of_source(0).classes(), None, "it has two sources");
        let of_feature = conditions.of_source(2);
        let classes = of_feature.classes().expect("ranges");
        let of_leaves: Vec<[u16; 2]> = (0..4).map(|leaf| classes[of_feature.of_leaf(leaf)]).collect();
        assert_eq!(of_leaves, [[0, 0], [1, 1], [2, 2], [0, 2]]);
        assert_eq!(range(&[0b1011], 4), None, "a gap");
        assert_eq!(range(&[0b1000], 3), Some([u16::MAX, 0]), "only what is left out");
    }
}
