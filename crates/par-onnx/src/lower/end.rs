//! The end of a graph: selects the score, and builds the classifier.

use std::rc::Rc;

use crate::classifier::{Body, Dense, Layers, Link, OnnxClassifier, TreeNode, Trees};
use crate::error::Error;
use crate::graph::{Output, Scale, ScoreChoice};
use crate::lower::Lowering;
use crate::lower::affine::{AffineForm, SumBasis};
use crate::lower::trees::EnsembleNode;
use crate::tensor::{Element, Tensor};

impl Lowering {
    /// The classifier for an output. A final sigmoid or softmax is removed, so that log-odds do not saturate.
    pub(super) fn end(
        &mut self,
        width: usize,
        output: &Output,
        scores: &Tensor,
        choice: &ScoreChoice,
    ) -> Result<OnnxClassifier, Error> {
        let (output, ends_in) = (output.name.as_str(), output.scale);
        let columns = |found: String| Error::Columns { output: output.into(), found };
        let scale = |found: &str, hint: &str, stated| {
            Err(Error::Scale { output: output.into(), stated, found: found.into(), hint: hint.into() })
        };
        if choice.accepted > 1 {
            return Err(Error::Accepted { output: output.into(), found: choice.accepted });
        }
        let is_one = choice.accepted == 1;
        let own = match &scores.elements[..] {
            [score] => score,
            [zero, one] => {
                if is_one {
                    one
                } else {
                    zero
                }
            }
            other => return Err(columns(format!("{} columns", other.len()))),
        };
        let form = match own {
            Element::Probability(_) if choice.scale == Some(Scale::LogOdds) => {
                return scale("probabilities", "", Scale::LogOdds);
            }
            Element::Probability(form) | Element::LogProbability(form) => {
                // `accepted` selects one of two columns; a single column is the score of class 1.
                let sign = if scores.elements.len() == 1 && !is_one { -1.0 } else { 1.0 };
                return self.classifier(width, output, &form.scaled(sign, 0.0), Link::LogOdds);
            }
            _ => plain(own).ok_or_else(|| columns(own.description().into()))?,
        };
        let is_probability = form.basis == SumBasis::Trees
            && match choice.scale {
                Some(scale) => scale == Scale::Probability,
                None => form
                    .terms
                    .iter()
                    .any(|(column, _)| self.ensembles[*column as usize / 2].are_probabilities),
            };
        if form.basis != SumBasis::Trees && choice.scale.unwrap_or(ends_in) == Scale::Probability {
            let hint = "\nhint: export the sigmoid or softmax too, or say that they are log-odds";
            return scale("numbers that may be anything", hint, Scale::Probability);
        }
        match &scores.elements[..] {
            [_] if is_probability && is_one => self.classifier(width, output, &form, Link::Probability),
            [_] if is_probability => self.classifier(width, output, &form, Link::OtherProbability),
            [_] => self.classifier(
                width,
                output,
                &form.scaled(if is_one { 1.0 } else { -1.0 }, 0.0),
                Link::LogOdds,
            ),
            [..] if is_probability => self.classifier(width, output, &form, Link::Probability),
            both => {
                let both = both.iter().map(plain).collect::<Option<Vec<_>>>();
                let Some([zero, one]) = both.as_deref() else {
                    return Err(columns("two columns of different kinds".into()));
                };
                // Either both columns are one score, of each class, or the difference of two scores counts.
                let is_same = zero.adds_up_to(one, 0.0) || zero.adds_up_to(one, 1.0);
                let difference = match (is_same, &**zero) {
                    (true, _) => (**one).clone(),
                    (false, zero) => {
                        minus(one, zero).ok_or_else(|| columns("two columns of different depths".into()))?
                    }
                };
                let sign = if is_one { 1.0 } else { -1.0 };
                self.classifier(width, output, &difference.scaled(sign, 0.0), Link::LogOdds)
            }
        }
    }

    fn classifier(
        &mut self,
        width: usize,
        output: &str,
        form: &AffineForm,
        link: Link,
    ) -> Result<OnnxClassifier, Error> {
        let (sources, body) = match form.basis {
            SumBasis::Layer(depth) => {
                self.layers(form, depth).map(|(sources, own)| (sources, Body::Layers(own)))?
            }
            SumBasis::Trees => self.trees(form, link).map(|(sources, own)| (sources, Body::Trees(own)))?,
        };
        if sources.is_empty() {
            let found = "a score that no input changes".into();
            return Err(Error::Columns { output: output.into(), found });
        }
        for &source in &sources {
            self.spend(self.sources.size(source))?;
        }
        let sources = sources.into_iter().map(|source| self.sources.source(source)).collect();
        Ok(OnnxClassifier { width, sources, body })
    }

    /// The layers from the last to the first, with only the units and sources that the score depends on.
    fn layers(&mut self, form: &AffineForm, depth: usize) -> Result<(Vec<u32>, Layers), Error> {
        let mut layers = Layers { dense: Vec::new(), activations: Vec::new() };
        let mut outputs = vec![Rc::new(form.clone())];
        for level in (0..=depth).rev() {
            let inputs = sorted(outputs.iter().flat_map(|output| output.terms.iter().map(|term| term.0)));
            if inputs.is_empty() {
                return Ok((Vec::new(), layers));
            }
            self.spend(inputs.len().saturating_mul(outputs.len()))?;
            let mut weights = vec![0.0_f32; inputs.len() * outputs.len()];
            for (column, output) in outputs.iter().enumerate() {
                for (index, weight) in &output.terms {
                    let row = inputs.binary_search(index).expect("all inputs are there");
                    weights[row * outputs.len() + column] = *weight as f32;
                }
            }
            let biases: Vec<f32> = outputs.iter().map(|output| output.constant as f32).collect();
            if !weights.iter().chain(&biases).all(|weight| weight.is_finite()) {
                return Err(Error::NotFinite { node: format!("layer {}", level + 1) });
            }
            layers.dense.push(Dense { weights, biases });
            if level == 0 {
                layers.dense.reverse();
                layers.activations.reverse();
                return Ok((inputs, layers));
            }
            let layer = &self.layers[level - 1];
            layers.activations.push(layer.activation);
            outputs = inputs.iter().map(|&unit| Rc::clone(&layer.units[unit as usize])).collect();
        }
        unreachable!("level zero is the last")
    }

    /// The trees of all ensembles in a sum; each leaf is multiplied by its ensemble's weight.
    fn trees(&mut self, form: &AffineForm, link: Link) -> Result<(Vec<u32>, Trees), Error> {
        let ensembles = sorted(form.terms.iter().map(|term| term.0 / 2));
        let nodes = ensembles.iter().map(|&ensemble| self.ensembles[ensemble as usize].nodes.len()).sum();
        self.spend(4_usize.saturating_mul(nodes))?;
        let splits = ensembles.iter().flat_map(|&ensemble| &self.ensembles[ensemble as usize].nodes);
        let sources = sorted(splits.filter_map(|split| match split {
            EnsembleNode::Branch { source, .. } => Some(*source),
            EnsembleNode::Leaf(_) => None,
        }));
        let mut trees =
            Trees { nodes: Vec::with_capacity(nodes), roots: Vec::new(), base: form.constant, link };
        for ensemble in ensembles {
            let weight = |column: u32| {
                let term = form.terms.iter().find(|term| term.0 == 2 * ensemble + column);
                term.map_or(0.0, |term| term.1)
            };
            let (zero, one) = (weight(0), weight(1));
            let ensemble = &self.ensembles[ensemble as usize];
            let start = trees.nodes.len();
            let place = |place: usize| u32::try_from(start + place).expect("no more nodes than pieces");
            trees.roots.extend(ensemble.roots.iter().map(|&root| place(root)));
            trees.nodes.extend(ensemble.nodes.iter().map(|split| match *split {
                EnsembleNode::Leaf(weights) => TreeNode::Leaf(zero * weights[0] + one * weights[1]),
                EnsembleNode::Branch { source, comparison, yes, no, missing } => {
                    let source = sources.binary_search(&source).expect("all sources are there");
                    let source = u32::try_from(source).expect("no more sources than pieces");
                    TreeNode::Branch { source, comparison, yes: place(yes), no: place(no), missing }
                }
            }));
        }
        let is_finite = |node: &TreeNode| !matches!(node, TreeNode::Leaf(leaf) if !leaf.is_finite());
        if trees.base.is_finite() && trees.nodes.iter().all(is_finite) {
            Ok((sources, trees))
        } else {
            Err(Error::NotFinite { node: "the sum of trees".into() })
        }
    }
}

/// A score that is not a probability, as a sum.
fn plain(element: &Element) -> Option<Rc<AffineForm>> {
    match element {
        Element::Form(form) => Some(Rc::clone(form)),
        Element::Source(source) => Some(Rc::new(AffineForm::single(SumBasis::Layer(0), *source))),
        _ => None,
    }
}

/// The difference of two sums over one basis.
fn minus(left: &AffineForm, right: &AffineForm) -> Option<AffineForm> {
    if left.basis != right.basis {
        return None;
    }
    let weight = |form: &AffineForm, index: u32| {
        form.terms.binary_search_by_key(&index, |term| term.0).map_or(0.0, |place| form.terms[place].1)
    };
    let indices = sorted(left.terms.iter().chain(&right.terms).map(|term| term.0));
    let terms = indices.into_iter().map(|index| (index, weight(left, index) - weight(right, index)));
    let terms = terms.filter(|(_, weight)| *weight != 0.0).collect();
    Some(AffineForm { basis: left.basis, terms, constant: left.constant - right.constant })
}

fn sorted(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
