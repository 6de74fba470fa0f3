//! Ensembles of trees.

mod table;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::classifier::{Comparison, Step};
use crate::error::Error;
use crate::lower::Lowering;
use crate::lower::affine::{AffineForm, SumBasis};
use crate::node::Node;
use crate::tensor::{Element, Tensor};
use table::{BranchCondition, NodeTable, check_leaves};

/// The attributes of TreeEnsembleClassifier.
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

/// The attributes of TreeEnsembleRegressor.
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

/// Largest depth of a tree, so that recursion over one cannot exhaust the stack.
const DEPTH: usize = 512;
/// Largest number of classes or targets of an ensemble.
const COLUMNS: usize = 100;

/// Trees whose leaves have a weight for each of some columns.
pub(crate) struct TreeEnsemble {
    /// The index of its first column in the basis; the others follow.
    pub(crate) first: u32,
    /// The number of its columns.
    pub(crate) columns: usize,
    /// Children after their parents.
    pub(crate) nodes: Vec<EnsembleNode>,
    pub(crate) roots: Vec<usize>,
    /// Whether the columns are probabilities of a classifier, with no negative leaf.
    pub(crate) are_probabilities: bool,
}

/// A node of a tree.
pub(crate) enum EnsembleNode {
    /// The weight for each column.
    Leaf(Box<[f64]>),
    Branch {
        source: u32,
        comparison: Comparison,
        yes: usize,
        no: usize,
        missing: bool,
    },
}

impl Lowering {
    /// The scores of all classes, as onnxruntime computes them where the standard is silent.
    pub(super) fn tree_classifier(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let labels = node.integers("classlabels_int64s").len() + node.texts("classlabels_strings")?.len();
        if !(2..=COLUMNS).contains(&labels) {
            return Err(node.operand(&format!("{labels} classes"), &format!("two to {COLUMNS}")));
        }
        let weights = node.numbers("class_weights")?;
        let are_probabilities = weights.iter().all(|&weight| weight >= 0.0);
        let post_transform = node.text("post_transform", "NONE")?;
        let base = node.numbers("base_values")?;
        let classes = node.integers("class_ids");
        let is_class = |class: i64| classes.iter().all(|&own| own == class);
        let ensemble = self.ensemble(node, "class", labels, are_probabilities)?;
        let columns = self.columns(ensemble);
        if labels > 2 {
            let scores = based(node, &columns, 1.0, &base)?;
            return self.transformed(node, post_transform, elements(scores));
        }
        let [zero, one] = [&columns[0], &columns[1]].map(Clone::clone);
        let rest = |form: &AffineForm| {
            if are_probabilities { form.scaled(-1.0, 1.0) } else { form.scaled(-1.0, 0.0) }
        };
        let nothing = AffineForm { terms: Vec::new(), ..zero.clone() };
        let base_zero = base.first().copied().unwrap_or(0.0);
        let scores = match (&base[..], is_class(0), is_class(1)) {
            // One column is the score of class 1, and class 0 gets the rest.
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
        let known = usize::try_from(targets).ok().filter(|targets| (1..=COLUMNS).contains(targets));
        let targets =
            known.ok_or_else(|| node.refuse("n_targets", targets, &format!("`1` to `{COLUMNS}`")))?;
        let base = node.numbers("base_values")?;
        let ensemble = self.ensemble(node, "target", targets, false)?;
        let share = match node.text("aggregate_function", "SUM")? {
            "SUM" => 1.0,
            "AVERAGE" => 1.0 / self.ensembles[ensemble].roots.len().max(1) as f64,
            other => return Err(node.refuse("aggregate_function", other, "`SUM` or `AVERAGE`")),
        };
        let scores = based(node, &self.columns(ensemble), share, &base)?;
        self.transformed(node, node.text("post_transform", "NONE")?, elements(scores))
    }

    fn columns(&self, ensemble: usize) -> Vec<AffineForm> {
        let TreeEnsemble { first, columns, .. } = self.ensembles[ensemble];
        (first..).take(columns).map(|column| AffineForm::single(SumBasis::Trees, column)).collect()
    }

    /// The position of the ensemble that has a column of the basis.
    pub(super) fn ensemble_of(&self, column: u32) -> usize {
        self.ensembles.partition_point(|ensemble| ensemble.first <= column) - 1
    }

    /// Reads the trees; `of` is the prefix of the leaves' attributes.
    fn ensemble(
        &mut self,
        node: &Node<'_>,
        of: &str,
        columns: usize,
        are_probabilities: bool,
    ) -> Result<usize, Error> {
        let table = NodeTable::read(node, of, columns)?;
        self.spend((2 + columns).saturating_mul(table.len()))?;
        let first = self.ensembles.last().map_or(0, |last| last.first + last.columns as u32);
        let ensemble =
            TreeEnsemble { first, columns, nodes: Vec::new(), roots: Vec::new(), are_probabilities };
        let mut growth = EnsembleReader { node, tensor: node.input(0)?, ensemble, members: BTreeMap::new() };
        for (tree, root) in table.roots(node)? {
            if self.grow(&mut growth, &table, tree, root)? < table.count(tree) {
                let reason = "some of its nodes cannot be reached from its root".into();
                return Err(Error::NotATree { node: node.name(), tree, reason });
            }
        }
        self.ensembles.push(growth.ensemble);
        Ok(self.ensembles.len() - 1)
    }

    /// Adds one tree, parents first; returns the number of its nodes in the file. Every node has one parent,
    /// so that a cycle has no root and is never entered.
    fn grow(
        &mut self,
        growth: &mut EnsembleReader<'_, '_>,
        table: &NodeTable<'_>,
        tree: i64,
        root: usize,
    ) -> Result<usize, Error> {
        let mut count = 0;
        growth.ensemble.roots.push(growth.ensemble.nodes.len());
        let mut open = vec![(root, None, 0)];
        while let Some((index, parent, depth)) = open.pop() {
            if depth > DEPTH {
                let reason = format!("it is deeper than {DEPTH}");
                return Err(Error::NotATree { node: growth.node.name(), tree, reason });
            }
            let place = growth.ensemble.nodes.len();
            if let Some((parent, is_yes)) = parent
                && let EnsembleNode::Branch { yes, no, .. } = &mut growth.ensemble.nodes[parent]
            {
                *if is_yes { yes } else { no } = place;
            }
            let Some(question) = table.question(growth.node, index)? else {
                growth.ensemble.nodes.push(EnsembleNode::Leaf(table.leaf(index).into()));
                count += 1;
                continue;
            };
            let source = self.compared(growth.node, growth.tensor, question.feature)?;
            let (source, comparison, missing) = match question.test {
                BranchCondition::Compare(comparison) => (source, comparison, question.missing),
                BranchCondition::AnyOf(ref values) => {
                    let key =
                        (source, values.iter().map(|value| value.to_bits()).collect(), question.missing);
                    let source = match growth.members.get(&key) {
                        Some(&known) => known,
                        None => self.membership(source, values, question.missing)?,
                    };
                    growth.members.insert(key, source);
                    (source, Comparison::Equals(1.0), false)
                }
            };
            count += question.nodes;
            growth.ensemble.nodes.push(EnsembleNode::Branch { source, comparison, yes: 0, no: 0, missing });
            open.push((question.no, Some((place, false)), depth + 1));
            open.push((question.yes, Some((place, true)), depth + 1));
        }
        Ok(count)
    }

    /// One if the source has one of several values, otherwise zero; `missing` is the result for NaN.
    fn membership(&mut self, source: u32, values: &[f32], missing: bool) -> Result<u32, Error> {
        let missing = missing.then(|| Step::Replace(f32::NAN, values[0]));
        let lookup = Step::Lookup(values.iter().map(|&value| (value, 1.0)).collect(), 0.0);
        let mut source = source;
        for step in missing.into_iter().chain([lookup]) {
            self.spend(1 + values.len())?;
            source = self.sources.step(source, step);
        }
        Ok(source)
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

/// The state while an ensemble is read.
struct EnsembleReader<'a, 'b> {
    node: &'a Node<'b>,
    tensor: &'a Tensor,
    ensemble: TreeEnsemble,
    /// The membership sources that exist already.
    members: BTreeMap<(u32, Vec<u32>, bool), u32>,
}

/// The columns, each multiplied by `share` and with its own of the base values.
fn based(
    node: &Node<'_>,
    columns: &[AffineForm],
    share: f64,
    base: &[f64],
) -> Result<Vec<AffineForm>, Error> {
    if !base.is_empty() && base.len() != columns.len() {
        return Err(node.refuse("base_values", format!("{} numbers", base.len()), "one a column"));
    }
    let own = |column: usize| base.get(column).copied().unwrap_or(0.0);
    Ok(columns.iter().enumerate().map(|(column, form)| form.scaled(share, own(column))).collect())
}

fn elements(forms: impl IntoIterator<Item = AffineForm>) -> Vec<Element> {
    forms.into_iter().map(|form| Element::Form(Rc::new(form))).collect()
}
