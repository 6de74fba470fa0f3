//! Ensembles of trees.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::error::Error;
use crate::lower::Lowering;
use crate::lower::affine::{Basis, Form};
use crate::model::{Comparison, Step};
use crate::node::Node;
use crate::tensor::{Element, Kind, Tensor};

/// The attributes of a classifier.
pub(super) const CLASSIFIER: &[&str] = &[
    "base_values",
    "base_values_as_tensor",
    "class_ids",
    "class_nodeids",
    "class_treeids",
    "class_weights",
    "class_weights_as_tensor",
    "classlabels_int64s",
    "classlabels_strings",
    "nodes_falsenodeids",
    "nodes_featureids",
    "nodes_hitrates",
    "nodes_hitrates_as_tensor",
    "nodes_missing_value_tracks_true",
    "nodes_modes",
    "nodes_nodeids",
    "nodes_treeids",
    "nodes_truenodeids",
    "nodes_values",
    "nodes_values_as_tensor",
    "post_transform",
];

/// The attributes of a regressor.
pub(super) const REGRESSOR: &[&str] = &[
    "aggregate_function",
    "base_values",
    "base_values_as_tensor",
    "n_targets",
    "nodes_falsenodeids",
    "nodes_featureids",
    "nodes_hitrates",
    "nodes_hitrates_as_tensor",
    "nodes_missing_value_tracks_true",
    "nodes_modes",
    "nodes_nodeids",
    "nodes_treeids",
    "nodes_truenodeids",
    "nodes_values",
    "nodes_values_as_tensor",
    "post_transform",
    "target_ids",
    "target_nodeids",
    "target_treeids",
    "target_weights",
    "target_weights_as_tensor",
];

/// The deepest tree, since whoever walks one may take a step of the stack for each branch.
const DEPTH: usize = 512;

/// Trees whose leaves have a weight for each of two columns. Column c of ensemble e is number 2 e + c of the basis.
pub(crate) struct Ensemble {
    /// Children after their parents.
    pub(crate) nodes: Vec<Split>,
    pub(crate) roots: Vec<usize>,
    /// How many nodes of the file were joined to others.
    joined: usize,
    /// Whether they are the probabilities of a classifier: no leaf is negative.
    pub(crate) are_probabilities: bool,
}

/// A node of a tree.
pub(crate) enum Split {
    /// The weight for each column.
    Leaf([f64; 2]),
    Branch {
        source: u32,
        comparison: Comparison,
        yes: usize,
        no: usize,
        missing: bool,
    },
}

impl Lowering {
    /// The scores of two classes as onnxruntime gives them, which the standard leaves open in part.
    pub(super) fn tree_classifier(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let labels = node.integers("classlabels_int64s").len() + node.texts("classlabels_strings")?.len();
        if labels != 2 {
            return Err(node.operand(&format!("{labels} classes"), "two"));
        }
        let weights = node.numbers("class_weights")?;
        let are_probabilities = weights.iter().all(|&weight| weight >= 0.0);
        let post_transform = node.text("post_transform", "NONE")?;
        let base = node.numbers("base_values")?;
        let classes = node.integers("class_ids");
        let is_class = |class: i64| classes.iter().all(|&own| own == class);
        let ensemble = self.ensemble(node, "class", are_probabilities && post_transform == "NONE")?;
        let [zero, one] = self.columns(ensemble);
        let rest =
            |form: &Form| if are_probabilities { form.scaled(-1.0, 1.0) } else { form.scaled(-1.0, 0.0) };
        let nothing = Form { terms: Vec::new(), ..zero.clone() };
        let base_zero = base.first().copied().unwrap_or(0.0);
        let scores = match (&base[..], is_class(0), is_class(1)) {
            // One column stands for class 1, and class 0 has what remains.
            ([] | [_], true, _) => {
                let score = zero.scaled(1.0, base_zero);
                match post_transform {
                    "NONE" | "SOFTMAX" => {
                        return self.transformed(node, "NONE", elements([rest(&score), score]));
                    }
                    _ => [score.scaled(-1.0, 0.0), score],
                }
            }
            ([_, _], true, _) => [zero.scaled(1.0, base_zero), nothing],
            ([] | [_], _, true) => [nothing, one],
            ([_, base], _, true) => [nothing.clone(), nothing.scaled(1.0, *base)],
            ([] | [_], ..) => [zero.scaled(1.0, base_zero), one],
            ([_, base], ..) => {
                let score = zero.scaled(1.0, *base);
                [score.scaled(-1.0, 0.0), score]
            }
            _ => return Err(node.refuse("base_values", format!("{} numbers", base.len()), "at most two")),
        };
        if !is_class(0) && !is_class(1) {
            check_leaves(node)?;
        }
        self.transformed(node, post_transform, elements(scores))
    }

    pub(super) fn tree_regressor(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let targets = node.integer("n_targets", 1);
        if !(1..=2).contains(&targets) {
            return Err(node.refuse("n_targets", targets, "`1` or `2`"));
        }
        let base = node.numbers("base_values")?;
        if !base.is_empty() && base.len() as i64 != targets {
            return Err(node.refuse("base_values", format!("{} numbers", base.len()), "one a target"));
        }
        let ensemble = self.ensemble(node, "target", false)?;
        let share = match node.text("aggregate_function", "SUM")? {
            "SUM" => 1.0,
            "AVERAGE" => 1.0 / self.ensembles[ensemble].roots.len().max(1) as f64,
            other => return Err(node.refuse("aggregate_function", other, "`SUM` or `AVERAGE`")),
        };
        let base = |target: usize| base.get(target).copied().unwrap_or(0.0);
        let [zero, one] = self.columns(ensemble);
        let mut scores = elements([zero.scaled(share, base(0)), one.scaled(share, base(1))]);
        scores.truncate(targets as usize);
        self.transformed(node, node.text("post_transform", "NONE")?, scores)
    }

    fn columns(&self, ensemble: usize) -> [Form; 2] {
        [0, 1].map(|column| {
            let index = u32::try_from(2 * ensemble + column).expect("no more ensembles than pieces");
            Form::single(Basis::Trees, index)
        })
    }

    /// Reads the trees; `of` says what its leaves are for.
    fn ensemble(&mut self, node: &Node<'_>, of: &str, are_probabilities: bool) -> Result<usize, Error> {
        let table = Table::read(node, of)?;
        self.spend(4 * table.modes.len())?;
        let tensor = node.input(0)?;
        let mut ensemble = Ensemble { nodes: Vec::new(), roots: Vec::new(), joined: 0, are_probabilities };
        for (tree, root) in table.roots(node)? {
            self.grow(node, &table, tree, root, tensor, &mut ensemble)?;
        }
        if ensemble.nodes.len() + ensemble.joined < table.modes.len() {
            let reason = "some nodes cannot be reached from a root".into();
            return Err(Error::NotATree { node: node.name(), tree: table.trees[0], reason });
        }
        self.ensembles.push(ensemble);
        Ok(self.ensembles.len() - 1)
    }

    /// Adds one tree, parents first.
    fn grow(
        &mut self,
        node: &Node<'_>,
        table: &Table<'_>,
        tree: i64,
        root: usize,
        tensor: &Tensor,
        ensemble: &mut Ensemble,
    ) -> Result<(), Error> {
        let error = |reason: String| Error::NotATree { node: node.name(), tree, reason };
        ensemble.roots.push(ensemble.nodes.len());
        let mut members: BTreeMap<(i64, Vec<u32>, bool), u32> = BTreeMap::new();
        let mut open = vec![(root, None, 0)];
        while let Some((index, parent, depth)) = open.pop() {
            let place = ensemble.nodes.len();
            match parent.map(|(parent, is_yes): (usize, bool)| (&mut ensemble.nodes[parent], is_yes)) {
                Some((Split::Branch { yes, .. }, true)) => *yes = place,
                Some((Split::Branch { no, .. }, false)) => *no = place,
                _ => {}
            }
            // Each node has one parent, so that a tree with a circle has no root and is never entered.
            if depth > DEPTH {
                return Err(error(format!("it is deeper than {DEPTH}")));
            }
            let mode = &*table.modes[index];
            if mode == "LEAF" {
                ensemble.nodes.push(Split::Leaf(table.leaves[index]));
                continue;
            }
            let threshold = table.thresholds[index];
            let tracks = table.tracks.get(index).is_some_and(|&own| own != 0);
            let (comparison, is_swapped, missing) = match mode {
                "BRANCH_LEQ" => (Comparison::AtMost(at_most(threshold)), false, tracks),
                "BRANCH_LT" => (Comparison::AtMost(below(threshold)), false, tracks),
                "BRANCH_GTE" => (Comparison::AtMost(below(threshold)), true, tracks),
                "BRANCH_GT" => (Comparison::AtMost(at_most(threshold)), true, tracks),
                "BRANCH_EQ" => (Comparison::Equals(threshold as f32), false, tracks),
                // What is not a number is unequal to all numbers.
                "BRANCH_NEQ" => (Comparison::Equals(threshold as f32), true, true),
                other => {
                    return Err(node.refuse(
                        "nodes_modes",
                        other,
                        "`BRANCH_LEQ`, `LT`, `GTE`, `GT`, `EQ`, `NEQ` or `LEAF`",
                    ));
                }
            };
            if threshold.is_nan() {
                return Err(Error::NotFinite { node: node.name() });
            }
            let mut source = self.compared(node, tensor, table.features[index])?;
            let mut missing = missing;
            let mut comparison = comparison;
            let chain: Vec<usize> = std::iter::successors(Some(index), |&own| table.next[own]).collect();
            if chain.len() > 1 {
                ensemble.joined += chain.len() - 1;
                let values: Vec<f32> = chain.iter().map(|&own| table.thresholds[own] as f32).collect();
                let key =
                    (table.features[index], values.iter().map(|value| value.to_bits()).collect(), tracks);
                source = match members.get(&key) {
                    Some(&known) => known,
                    None => self.membership(node, source, &values, tracks)?,
                };
                members.insert(key, source);
                (comparison, missing) = (Comparison::Equals(1.0), false);
            }
            let [truth, falsehood] = table.children[*chain.last().expect("it begins with the node itself")];
            let (yes, no) = if is_swapped { (falsehood, truth) } else { (truth, falsehood) };
            let missing = missing != is_swapped;
            ensemble.nodes.push(Split::Branch { source, comparison, yes: 0, no: 0, missing });
            open.push((no, Some((place, false)), depth + 1));
            open.push((yes, Some((place, true)), depth + 1));
        }
        Ok(())
    }

    /// One if a source has one of several values, zero if not.
    fn membership(
        &mut self,
        node: &Node<'_>,
        source: u32,
        values: &[f32],
        tracks: bool,
    ) -> Result<u32, Error> {
        let missing = tracks.then(|| Step::Replace(f32::NAN, values[0]));
        let lookup = Step::Lookup(values.iter().map(|&value| (value, 1.0)).collect(), 0.0);
        let steps: Vec<Step> = missing.into_iter().chain([lookup]).collect();
        match self.apply_all(node, &steps, &Element::Source(source), Kind::Single)? {
            Element::Source(source) => Ok(source),
            _ => unreachable!("a source stays one"),
        }
    }

    /// The source that a branch compares.
    fn compared(&mut self, node: &Node<'_>, tensor: &Tensor, feature: i64) -> Result<u32, Error> {
        let element = usize::try_from(feature).ok().and_then(|feature| tensor.elements.get(feature));
        let expected = || format!("one of {} values", tensor.elements.len());
        let element = element.ok_or_else(|| node.operand(&format!("the feature {feature}"), &expected()))?;
        match self.settled(node, element)? {
            Element::Source(source) => Ok(source),
            other => Err(node.operand(other.description(), "functions of one input each")),
        }
    }
}

/// Checks that every row has a score of both classes, which some tree must give it in each of its leaves; onnxruntime takes
/// rows without one for something else.
fn check_leaves(node: &Node<'_>) -> Result<(), Error> {
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

fn elements(forms: [Form; 2]) -> Vec<Element> {
    forms.map(|form| Element::Form(Rc::new(form))).into()
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

/// The nodes of all trees as the attributes list them.
struct Table<'a> {
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
    fn read(node: &Node<'a>, of: &str) -> Result<Self, Error> {
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
        for (place, (&tree, &name)) in trees.iter().zip(names).enumerate() {
            if places.insert((tree, name), place).is_some() {
                return Err(error(tree, format!("the node `{name}` is there twice")));
            }
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
        Ok(Self { trees, features, modes, thresholds, tracks, children, next, leaves })
    }

    /// Of every tree the number and the node that no other is the parent of, in the order of the file.
    fn roots(&self, node: &Node<'_>) -> Result<Vec<(i64, usize)>, Error> {
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
