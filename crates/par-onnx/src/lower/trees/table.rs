//! The attributes that list the nodes of trees.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::classifier::Comparison;
use crate::error::Error;
use crate::node::Node;

/// Largest number of weights of all leaves.
const WEIGHTS: usize = 1 << 25;

/// The nodes of all trees, as the attributes list them.
pub(super) struct NodeTable<'a> {
    trees: &'a [i64],
    features: &'a [i64],
    modes: Vec<Rc<str>>,
    thresholds: Vec<f64>,
    tracks: &'a [i64],
    /// The positions of the children, the true one first; unused for leaves.
    children: Vec<[usize; 2]>,
    /// The next node of a test for one of several values: LightGBM's exporter writes one node a value, all
    /// with the same true child.
    next: Vec<Option<usize>>,
    /// For every node the weights of all columns.
    leaves: Vec<f64>,
    columns: usize,
    /// The number of nodes by tree.
    counts: BTreeMap<i64, usize>,
}

/// The test of a branch.
pub(super) struct BranchTest {
    pub(super) feature: i64,
    pub(super) test: BranchCondition,
    /// The position of the node for a test that passes.
    pub(super) yes: usize,
    pub(super) no: usize,
    /// Whether NaN goes to `yes`.
    pub(super) missing: bool,
    /// Number of nodes in the file that make up the test.
    pub(super) nodes: usize,
}

/// The condition on a number.
pub(super) enum BranchCondition {
    Compare(Comparison),
    /// Whether it is one of these numbers.
    AnyOf(Vec<f32>),
}

/// The weights of leaves as the attributes list them.
struct LeafWeights<'a> {
    trees: &'a [i64],
    nodes: &'a [i64],
    columns: &'a [i64],
    weights: Vec<f64>,
}

impl<'a> LeafWeights<'a> {
    fn read(node: &Node<'a>, of: &str) -> Result<Self, Error> {
        let own = Self {
            trees: node.integers(&format!("{of}_treeids")),
            nodes: node.integers(&format!("{of}_nodeids")),
            columns: node.integers(&format!("{of}_ids")),
            weights: node.numbers(&format!("{of}_weights"))?,
        };
        let lengths = [own.trees.len(), own.nodes.len(), own.columns.len(), own.weights.len()];
        if lengths != [own.trees.len(); 4] {
            return Err(node.operand(&format!("lists of {lengths:?} weights"), "lists of one length"));
        }
        Ok(own)
    }
}

impl<'a> NodeTable<'a> {
    pub(super) fn read(node: &Node<'a>, of: &str, columns: usize) -> Result<Self, Error> {
        let (trees, names) = (node.integers("nodes_treeids"), node.integers("nodes_nodeids"));
        let (truths, falsehoods) = (node.integers("nodes_truenodeids"), node.integers("nodes_falsenodeids"));
        let features = node.integers("nodes_featureids");
        let modes = node.texts("nodes_modes")?;
        let thresholds = node.numbers("nodes_values")?;
        let tracks = node.integers("nodes_missing_value_tracks_true");
        let count = modes.len();
        let lengths = [trees, names, truths, falsehoods, features].map(<[i64]>::len);
        if lengths != [count; 5]
            || thresholds.len() != count
            || ![0, count].contains(&tracks.len())
            || count == 0
        {
            let found =
                format!("lists of {lengths:?}, {}, {count} and {} nodes", thresholds.len(), tracks.len());
            return Err(node.operand(&found, "lists of one length, at least 1"));
        }
        let error = |tree: i64, reason: String| Error::NotATree { node: node.name(), tree, reason };
        let mut places = BTreeMap::new();
        let mut counts = BTreeMap::new();
        for (place, (&tree, &name)) in trees.iter().zip(names).enumerate() {
            if places.insert((tree, name), place).is_some() {
                return Err(error(tree, format!("the node `{name}` is there twice")));
            }
            *counts.entry(tree).or_default() += 1;
        }
        let place = |tree: i64, name: i64| {
            let place = places.get(&(tree, name)).copied();
            place.ok_or_else(|| error(tree, format!("there is no node `{name}`")))
        };
        let mut children = vec![[0, 0]; count];
        for index in (0..count).filter(|&index| *modes[index] != *"LEAF") {
            children[index] = [place(trees[index], truths[index])?, place(trees[index], falsehoods[index])?];
        }
        let goes_on = |index: usize| {
            let [truth, falsehood] = children[index];
            let track = |index: usize| tracks.get(index);
            let is_next = [index, falsehood].iter().all(|&own| *modes[own] == *"BRANCH_EQ")
                && children[falsehood][0] == truth
                && features[falsehood] == features[index]
                && track(falsehood) == track(index);
            is_next.then_some(falsehood)
        };
        let next = (0..count).map(goes_on).collect();
        let size = count.checked_mul(columns).filter(|&size| size <= WEIGHTS);
        let size =
            size.ok_or_else(|| Error::TooLarge { what: "weights of leaves".into(), limit: WEIGHTS })?;
        let mut leaves = vec![0.0; size];
        let listed = LeafWeights::read(node, of)?;
        for (index, weight) in listed.weights.iter().enumerate() {
            let leaf = place(listed.trees[index], listed.nodes[index])?;
            let known = usize::try_from(listed.columns[index]).ok().filter(|&column| column < columns);
            let column = known.ok_or_else(|| {
                let expected = format!("`0` to `{}`", columns - 1);
                node.refuse(&format!("{of}_ids"), listed.columns[index], &expected)
            })?;
            if !weight.is_finite() {
                return Err(Error::NotFinite { node: node.name() });
            }
            leaves[leaf * columns + column] += weight;
        }
        Ok(Self { trees, features, modes, thresholds, tracks, children, next, leaves, columns, counts })
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.modes.len()
    }

    /// Number of nodes of a tree.
    pub(super) fn count(&self, tree: i64) -> usize {
        self.counts.get(&tree).copied().unwrap_or(0)
    }

    /// The weights of a leaf.
    pub(super) fn leaf(&self, index: usize) -> &[f64] {
        &self.leaves[index * self.columns..][..self.columns]
    }

    /// The test of a node; `None` for a leaf. All six modes are expressed by two, with other thresholds and
    /// swapped children.
    pub(super) fn question(&self, node: &Node<'_>, index: usize) -> Result<Option<BranchTest>, Error> {
        let threshold = self.thresholds[index];
        let tracks = self.tracks.get(index).is_some_and(|&own| own != 0);
        let (comparison, is_swapped, missing) = match &*self.modes[index] {
            "LEAF" => return Ok(None),
            "BRANCH_LEQ" => (Comparison::AtMost(at_most(threshold)), false, tracks),
            "BRANCH_LT" => (Comparison::AtMost(below(threshold)), false, tracks),
            "BRANCH_GTE" => (Comparison::AtMost(below(threshold)), true, tracks),
            "BRANCH_GT" => (Comparison::AtMost(at_most(threshold)), true, tracks),
            "BRANCH_EQ" => (Comparison::Equals(threshold as f32), false, tracks),
            // NaN is unequal to all numbers.
            "BRANCH_NEQ" => (Comparison::Equals(threshold as f32), true, true),
            other => {
                let expected = "`BRANCH_LEQ`, `LT`, `GTE`, `GT`, `EQ`, `NEQ` or `LEAF`";
                return Err(node.refuse("nodes_modes", other, expected));
            }
        };
        let all: Vec<usize> = std::iter::successors(Some(index), |&own| self.next[own]).collect();
        let values: Vec<f32> = all.iter().map(|&own| self.thresholds[own] as f32).collect();
        if values.iter().any(|value| value.is_nan()) {
            return Err(Error::NotFinite { node: node.name() });
        }
        let test = if values.len() > 1 {
            BranchCondition::AnyOf(values)
        } else {
            BranchCondition::Compare(comparison)
        };
        let [truth, falsehood] = self.children[*all.last().expect("it begins with the node itself")];
        let (yes, no) = if is_swapped { (falsehood, truth) } else { (truth, falsehood) };
        let missing = missing != is_swapped;
        Ok(Some(BranchTest { feature: self.features[index], test, yes, no, missing, nodes: all.len() }))
    }

    /// For every tree its id and its root, the node that is no child, in the order of the file.
    pub(super) fn roots(&self, node: &Node<'_>) -> Result<Vec<(i64, usize)>, Error> {
        let error = |tree: i64, reason: String| Error::NotATree { node: node.name(), tree, reason };
        let mut has_parent = vec![false; self.modes.len()];
        for index in (0..self.modes.len()).filter(|&index| *self.modes[index] != *"LEAF") {
            // The true child of a chain of tests counts once, at the last one.
            let children = if self.next[index].is_some() {
                &self.children[index][1..]
            } else {
                &self.children[index][..]
            };
            for &child in children {
                if std::mem::replace(&mut has_parent[child], true) {
                    return Err(error(self.trees[index], "a node has two parents".into()));
                }
            }
        }
        let mut roots = Vec::new();
        let mut seen = BTreeSet::new();
        for index in (0..self.modes.len()).filter(|&index| !has_parent[index]) {
            if !seen.insert(self.trees[index]) {
                return Err(error(self.trees[index], "it has two roots".into()));
            }
            roots.push((self.trees[index], index));
        }
        match self.trees.iter().find(|tree| !seen.contains(tree)) {
            Some(&tree) => Err(error(tree, "it has no root".into())),
            None => Ok(roots),
        }
    }
}

/// Checks that every row gets a score for each class: some tree has a weight for it in all of its leaves.
/// onnxruntime treats rows without a score as special.
pub(super) fn check_leaves(node: &Node<'_>) -> Result<(), Error> {
    let listed = LeafWeights::read(node, "class")?;
    let mut weighted: BTreeMap<(i64, i64), BTreeSet<i64>> = BTreeMap::new();
    for ((&tree, &leaf), &class) in listed.trees.iter().zip(listed.nodes).zip(listed.columns) {
        weighted.entry((tree, class)).or_default().insert(leaf);
    }
    let modes = node.texts("nodes_modes")?;
    let mut leaves: BTreeMap<i64, usize> = BTreeMap::new();
    for (tree, _) in node.integers("nodes_treeids").iter().zip(&modes).filter(|(_, mode)| ***mode == *"LEAF")
    {
        *leaves.entry(*tree).or_default() += 1;
    }
    let reaches = |class: i64| {
        let mut trees = leaves.iter();
        trees.any(|(&tree, &leaves)| weighted.get(&(tree, class)).is_some_and(|own| own.len() == leaves))
    };
    if reaches(0) && reaches(1) {
        Ok(())
    } else {
        Err(node.operand("leaves without a weight for each of two classes", "a weight for each"))
    }
}

/// The largest single-precision number that is at most `threshold`.
fn at_most(threshold: f64) -> f32 {
    let near = threshold as f32;
    if f64::from(near) > threshold { near.next_down() } else { near }
}

/// The largest single-precision number below `threshold`.
fn below(threshold: f64) -> f32 {
    let near = threshold as f32;
    if f64::from(near) >= threshold { near.next_down() } else { near }
}
