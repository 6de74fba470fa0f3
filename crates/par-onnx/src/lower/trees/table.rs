//! The nodes of trees as attributes list them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::error::Error;
use crate::model::Comparison;
use crate::node::Node;

/// The nodes of all trees as the attributes list them.
pub(super) struct Table<'a> {
    trees: &'a [i64],
    features: &'a [i64],
    modes: Vec<Rc<str>>,
    thresholds: Vec<f64>,
    tracks: &'a [i64],
    /// Where the children stand, those of a true comparison first; of a leaf they mean nothing.
    children: Vec<[usize; 2]>,
    /// Where a comparison goes on that asks for one of several values: LightGBM's exporter writes one node a value, all with
    /// the same child if it is true.
    next: Vec<Option<usize>>,
    leaves: Vec<[f64; 2]>,
    /// The number of nodes by tree.
    counts: BTreeMap<i64, usize>,
}

/// What a branch asks.
pub(super) struct Question {
    pub(super) feature: i64,
    pub(super) test: Test,
    /// Where the node stands that the answer leads to.
    pub(super) yes: usize,
    pub(super) no: usize,
    /// Whether NaN leads to `yes`.
    pub(super) missing: bool,
    /// How many nodes of the file ask it.
    pub(super) nodes: usize,
}

/// What is asked of a number.
pub(super) enum Test {
    Compare(Comparison),
    /// Whether it is one of these.
    AnyOf(Vec<f32>),
}

/// The weights of leaves as the attributes list them.
struct Listed<'a> {
    trees: &'a [i64],
    nodes: &'a [i64],
    columns: &'a [i64],
    weights: Vec<f64>,
}

impl<'a> Listed<'a> {
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

impl<'a> Table<'a> {
    pub(super) fn read(node: &Node<'a>, of: &str) -> Result<Self, Error> {
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
        let mut leaves = vec![[0.0, 0.0]; count];
        let listed = Listed::read(node, of)?;
        for (index, weight) in listed.weights.iter().enumerate() {
            let leaf = &mut leaves[place(listed.trees[index], listed.nodes[index])?];
            match listed.columns[index] {
                column @ 0..2 if weight.is_finite() => leaf[column as usize] += weight,
                0..2 => return Err(Error::NotFinite { node: node.name() }),
                other => return Err(node.refuse(&format!("{of}_ids"), other, "`0` or `1`")),
            }
        }
        Ok(Self { trees, features, modes, thresholds, tracks, children, next, leaves, counts })
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.modes.len()
    }

    /// How many of them a tree has.
    pub(super) fn count(&self, tree: i64) -> usize {
        self.counts.get(&tree).copied().unwrap_or(0)
    }

    /// The weights of a leaf.
    pub(super) fn leaf(&self, index: usize) -> [f64; 2] {
        self.leaves[index]
    }

    /// What a node asks; nothing if it is a leaf. All six modes come down to two, by other thresholds and by other sides.
    pub(super) fn question(&self, node: &Node<'_>, index: usize) -> Result<Option<Question>, Error> {
        let threshold = self.thresholds[index];
        let tracks = self.tracks.get(index).is_some_and(|&own| own != 0);
        let (comparison, is_swapped, missing) = match &*self.modes[index] {
            "LEAF" => return Ok(None),
            "BRANCH_LEQ" => (Comparison::AtMost(at_most(threshold)), false, tracks),
            "BRANCH_LT" => (Comparison::AtMost(below(threshold)), false, tracks),
            "BRANCH_GTE" => (Comparison::AtMost(below(threshold)), true, tracks),
            "BRANCH_GT" => (Comparison::AtMost(at_most(threshold)), true, tracks),
            "BRANCH_EQ" => (Comparison::Equals(threshold as f32), false, tracks),
            // What is not a number is unequal to all numbers.
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
        let test = if values.len() > 1 { Test::AnyOf(values) } else { Test::Compare(comparison) };
        let [truth, falsehood] = self.children[*all.last().expect("it begins with the node itself")];
        let (yes, no) = if is_swapped { (falsehood, truth) } else { (truth, falsehood) };
        let missing = missing != is_swapped;
        Ok(Some(Question { feature: self.features[index], test, yes, no, missing, nodes: all.len() }))
    }

    /// Of every tree the number and the node that no other is the parent of, in the order of the file.
    pub(super) fn roots(&self, node: &Node<'_>) -> Result<Vec<(i64, usize)>, Error> {
        let error = |tree: i64, reason: String| Error::NotATree { node: node.name(), tree, reason };
        let mut has_parent = vec![false; self.modes.len()];
        for index in (0..self.modes.len()).filter(|&index| *self.modes[index] != *"LEAF") {
            // The true child of several comparisons that go on is that of the last.
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

/// Checks that every row has a score of both classes, which some tree must give it in each of its leaves; onnxruntime takes
/// rows without one for something else.
pub(super) fn check_leaves(node: &Node<'_>) -> Result<(), Error> {
    let listed = Listed::read(node, "class")?;
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

/// The largest number of single precision that is not above another.
fn at_most(threshold: f64) -> f32 {
    let near = threshold as f32;
    if f64::from(near) > threshold { near.next_down() } else { near }
}

/// The largest number of single precision that is below another.
fn below(threshold: f64) -> f32 {
    let near = threshold as f32;
    if f64::from(near) >= threshold { near.next_down() } else { near }
}
