//! The end of a graph: selects the score, and builds the classifier.

use std::rc::Rc;

use crate::classifier::{Body, Dense, Layers, Link, OnnxClassifier, TreeNode, Trees};
use crate::error::Error;
use crate::graph::{Decision, Output, Scale, ScoreChoice};
use crate::head::Head;
use crate::lower::Lowering;
use crate::lower::affine::{AffineForm, SumBasis};
use crate::lower::trees::EnsembleNode;
use crate::tensor::{Element, Share, ShareKind, Tensor};

/// Largest number of differences between accepted and other classes.
const DIFFERENCES: usize = 1024;

/// The scores at the end of a graph, and which of them count.
struct OutputEnd<'a> {
    output: &'a Output,
    scores: &'a [Element],
    choice: &'a ScoreChoice,
    /// The accepted columns: some, and not all.
    accepted: Vec<usize>,
}

impl<'a> OutputEnd<'a> {
    fn new(output: &'a Output, scores: &'a [Element], choice: &'a ScoreChoice) -> Result<Self, Error> {
        let is_plain = scores.len() <= 2;
        let accepted = choice.accepted.clone().unwrap_or(if is_plain { vec![1] } else { Vec::new() });
        let end = Self { output, scores, choice, accepted };
        end.check()?;
        Ok(end)
    }

    fn columns(&self, found: impl Into<String>) -> Error {
        Error::Columns { output: self.output.name.clone(), found: found.into() }
    }

    fn scale(&self, found: &str, hint: &str, stated: Scale) -> Error {
        Error::Scale { output: self.output.name.clone(), stated, found: found.into(), hint: hint.into() }
    }

    /// Refuses outputs without columns, and accepted columns that are not there, none or all.
    fn check(&self) -> Result<(), Error> {
        let (count, accepted) = (self.scores.len(), &self.accepted);
        if count == 0 {
            return Err(self.columns("0 columns"));
        }
        let is_number = self.choice.scale == Some(Scale::Number);
        let classes = if is_number { count } else { count.max(2) };
        let is_known = accepted.iter().all(|&column| column < classes);
        let is_repeated = (1..accepted.len()).any(|place| accepted[..place].contains(&accepted[place]));
        let is_some = !accepted.is_empty() && !is_repeated && (is_number || accepted.len() < classes);
        // Of a regression with one column there is nothing to choose.
        if is_number && count == 1 || is_known && is_some {
            return Ok(());
        }
        let expected = match classes {
            2 if !is_number => "`0` or `1`".to_string(),
            _ if is_number => format!("one column from `0` to `{}`", count - 1),
            _ => format!("some of the columns `0` to `{}`, and not all", count - 1),
        };
        Err(Error::Accepted { output: self.output.name.clone(), found: accepted.clone(), expected })
    }

    /// The predicted number.
    fn number(&self) -> Result<AffineForm, Error> {
        let score = match (self.scores, &self.accepted[..]) {
            ([only], _) => only,
            (scores, &[column]) => &scores[column],
            (scores, _) => return Err(self.columns(format!("{} numbers", scores.len()))),
        };
        match plain(score) {
            Some(form) => Ok((*form).clone()),
            None => Err(self.scale(score.description(), "", Scale::Number)),
        }
    }

    /// The parts of several classes' probabilities.
    fn shares(&self) -> Result<(Vec<AffineForm>, Head), Error> {
        let share = |element: &Element| match element {
            Element::Share(share) => Some(share.clone()),
            _ => None,
        };
        let shares = self.scores.iter().map(share).collect::<Option<Vec<Share>>>();
        let shares = shares.ok_or_else(|| self.columns("columns of different kinds"))?;
        let Share { scores, kind, is_logarithm, .. } = &shares[0];
        if shares.iter().any(|other| !Rc::ptr_eq(&other.scores, scores)) {
            return Err(self.columns("probabilities of several classifiers"));
        }
        if !is_logarithm && self.choice.scale == Some(Scale::LogOdds) {
            return Err(self.scale("probabilities", "", Scale::LogOdds));
        }
        // A single column is the probability that class 1 means, and class 0 is all other classes.
        let accepted: Vec<usize> = match (&shares[..], &self.accepted[..]) {
            ([only], [0]) => (0..scores.len()).filter(|&class| class != only.class).collect(),
            ([only], _) => vec![only.class],
            (shares, accepted) => accepted.iter().map(|&column| shares[column].class).collect(),
        };
        match (kind, self.choice.decision) {
            (ShareKind::OneVsRest, Decision::Sum) => {
                let others = (0..scores.len()).filter(|class| !accepted.contains(class));
                let forms = accepted.iter().copied().chain(others).map(|class| (*scores[class]).clone());
                Ok((forms.collect(), Head::OneVsRest { accepted: accepted.len() }))
            }
            _ => self.differences(scores, &accepted),
        }
    }

    /// The score of each accepted class minus that of each other class.
    fn differences(
        &self,
        scores: &[Rc<AffineForm>],
        accepted: &[usize],
    ) -> Result<(Vec<AffineForm>, Head), Error> {
        let others: Vec<usize> = (0..scores.len()).filter(|class| !accepted.contains(class)).collect();
        if accepted.len() * others.len() > DIFFERENCES {
            let what = "pairs of an accepted and another class".into();
            return Err(Error::TooLarge { what, limit: DIFFERENCES });
        }
        let pairs = accepted.iter().flat_map(|&own| others.iter().map(move |&other| (own, other)));
        let forms = pairs.map(|(own, other)| self.difference(&scores[own], &scores[other]));
        let head = match self.choice.decision {
            Decision::Sum => Head::Softmax { others: others.len() },
            Decision::Largest => Head::Largest { others: others.len() },
        };
        Ok((forms.collect::<Result<_, _>>()?, head))
    }

    fn difference(&self, left: &AffineForm, right: &AffineForm) -> Result<AffineForm, Error> {
        combined(left, right, -1.0).ok_or_else(|| self.columns("columns of different depths"))
    }
}

impl Lowering {
    /// The classifier for an output. A final sigmoid or softmax is removed, so that log-odds do not saturate.
    pub(super) fn end(
        &mut self,
        width: usize,
        output: &Output,
        scores: &Tensor,
        choice: &ScoreChoice,
    ) -> Result<OnnxClassifier, Error> {
        let end = OutputEnd::new(output, &scores.elements, choice)?;
        let (forms, head, link) = match end.scores {
            _ if choice.scale == Some(Scale::Number) => (vec![end.number()?], Head::Single, Link::LogOdds),
            [Element::Share(_), ..] => {
                let (forms, head) = end.shares()?;
                (forms, head, Link::LogOdds)
            }
            [_] | [_, _] => {
                let (form, link) = self.binary_end(&end)?;
                (vec![form], Head::Single, link)
            }
            _ => self.several(&end)?,
        };
        self.classifier(width, &output.name, &forms, head, link)
    }

    /// The score of one of two classes.
    fn binary_end(&self, end: &OutputEnd<'_>) -> Result<(AffineForm, Link), Error> {
        let is_one = end.accepted == [1];
        let own = match end.scores {
            [score] => score,
            scores => &scores[usize::from(is_one)],
        };
        let form = match own {
            Element::Probability(_) if end.choice.scale == Some(Scale::LogOdds) => {
                return Err(end.scale("probabilities", "", Scale::LogOdds));
            }
            Element::Probability(form) | Element::LogProbability(form) => {
                // `accepted` selects one of two columns; a single column is the score of class 1.
                let sign = if end.scores.len() == 1 && !is_one { -1.0 } else { 1.0 };
                return Ok((form.scaled(sign, 0.0), Link::LogOdds));
            }
            _ => plain(own).ok_or_else(|| end.columns(own.description()))?,
        };
        let is_probability = self.is_probability(end, &form)?;
        Ok(match end.scores {
            [_] if is_probability && is_one => ((*form).clone(), Link::Probability),
            [_] if is_probability => ((*form).clone(), Link::OtherProbability),
            [_] => (form.scaled(if is_one { 1.0 } else { -1.0 }, 0.0), Link::LogOdds),
            _ if is_probability => ((*form).clone(), Link::Probability),
            both => {
                let both = both.iter().map(plain).collect::<Option<Vec<_>>>();
                let Some([zero, one]) = both.as_deref() else {
                    return Err(end.columns("two columns of different kinds"));
                };
                // Either both columns are one score, of each class, or the difference of two scores counts.
                let is_same = zero.adds_up_to(one, 0.0) || zero.adds_up_to(one, 1.0);
                let difference = match is_same {
                    true => (**one).clone(),
                    false => end.difference(one, zero)?,
                };
                (difference.scaled(if is_one { 1.0 } else { -1.0 }, 0.0), Link::LogOdds)
            }
        })
    }

    /// More than two columns that no softmax ends: log-odds, or probabilities by trees.
    fn several(&self, end: &OutputEnd<'_>) -> Result<(Vec<AffineForm>, Head, Link), Error> {
        let are_sigmoids = end.scores.iter().all(|score| matches!(score, Element::Probability(_)));
        let is_largest = end.choice.decision == Decision::Largest;
        if are_sigmoids && !is_largest {
            return Err(end.columns("a sigmoid a class, which do not add up to one"));
        }
        let score = |element: &Element| match element {
            Element::Probability(form) => Some(Rc::clone(form)),
            other => plain(other),
        };
        let forms = end.scores.iter().map(score).collect::<Option<Vec<_>>>();
        let forms = forms.ok_or_else(|| end.columns("columns of different kinds"))?;
        if !are_sigmoids && self.is_probability(end, &forms[0])? && !is_largest {
            let accepted = end.accepted.iter().map(|&column| &*forms[column]);
            let sum = accepted.cloned().map(Some).reduce(|a, b| combined(&a?, &b?, 1.0)).flatten();
            let sum = sum.ok_or_else(|| end.columns("columns of different depths"))?;
            return Ok((vec![sum], Head::Single, Link::Probability));
        }
        let (forms, head) = end.differences(&forms, &end.accepted)?;
        Ok((forms, head, Link::LogOdds))
    }

    /// Whether a sum is a probability, which only one of trees can be.
    fn is_probability(&self, end: &OutputEnd<'_>, form: &AffineForm) -> Result<bool, Error> {
        let is_of_trees = form.basis == SumBasis::Trees;
        if !is_of_trees && end.choice.scale.unwrap_or(end.output.scale) == Scale::Probability {
            let hint = "\nhint: export the sigmoid or softmax too, or say that they are log-odds";
            return Err(end.scale("numbers that may be anything", hint, Scale::Probability));
        }
        let ends_in = || {
            let mut columns = form.terms.iter().map(|(column, _)| self.ensemble_of(*column));
            columns.any(|ensemble| self.ensembles[ensemble].are_probabilities)
        };
        Ok(is_of_trees && end.choice.scale.map_or_else(ends_in, |scale| scale == Scale::Probability))
    }

    /// The classifier of some sums, which all are over layers or all over trees.
    fn classifier(
        &mut self,
        width: usize,
        output: &str,
        forms: &[AffineForm],
        head: Head,
        link: Link,
    ) -> Result<OnnxClassifier, Error> {
        let mut parts = Vec::with_capacity(forms.len());
        for form in forms {
            parts.push(match form.basis {
                SumBasis::Layer(depth) => {
                    self.layers(form, depth).map(|(sources, own)| (sources, Body::Layers(own)))?
                }
                SumBasis::Trees => {
                    self.trees(form, link).map(|(sources, own)| (sources, Body::Trees(own)))?
                }
            });
        }
        if parts.iter().any(|(sources, _)| sources.is_empty()) {
            let found = "a score that no input changes".into();
            return Err(Error::Columns { output: output.into(), found });
        }
        let sources = sorted(parts.iter().flat_map(|(sources, _)| sources.iter().copied()));
        for &source in &sources {
            self.spend(self.sources.size(source))?;
        }
        let mut bodies = Vec::with_capacity(parts.len());
        for (own, body) in parts {
            self.spend(if own.len() < sources.len() { size(&body, sources.len()) } else { 0 })?;
            bodies.push(over(body, &own, &sources));
        }
        let sources = sources.into_iter().map(|source| self.sources.source(source)).collect();
        Ok(OnnxClassifier { width, sources, parts: bodies, head })
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
        let mut ensembles: Vec<usize> = form.terms.iter().map(|term| self.ensemble_of(term.0)).collect();
        ensembles.dedup();
        let nodes = ensembles.iter().map(|&ensemble| self.ensembles[ensemble].nodes.len()).sum();
        self.spend(4_usize.saturating_mul(nodes))?;
        let splits = ensembles.iter().flat_map(|&ensemble| &self.ensembles[ensemble].nodes);
        let sources = sorted(splits.filter_map(|split| match split {
            EnsembleNode::Branch { source, .. } => Some(*source),
            EnsembleNode::Leaf(_) => None,
        }));
        let mut trees =
            Trees { nodes: Vec::with_capacity(nodes), roots: Vec::new(), base: form.constant, link };
        for ensemble in ensembles {
            let ensemble = &self.ensembles[ensemble];
            let columns = ensemble.first..ensemble.first + ensemble.columns as u32;
            let own = form.terms.iter().filter(|term| columns.contains(&term.0));
            let own: Vec<(usize, f64)> =
                own.map(|&(column, weight)| ((column - ensemble.first) as usize, weight)).collect();
            let leaf = |weights: &[f64]| own.iter().map(|&(column, weight)| weight * weights[column]).sum();
            let start = trees.nodes.len();
            let place = |place: usize| u32::try_from(start + place).expect("no more nodes than pieces");
            trees.roots.extend(ensemble.roots.iter().map(|&root| place(root)));
            trees.nodes.extend(ensemble.nodes.iter().map(|split| match split {
                EnsembleNode::Leaf(weights) => TreeNode::Leaf(leaf(weights)),
                &EnsembleNode::Branch { source, comparison, yes, no, missing } => {
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

/// `left` + `factor` `right`; `None` for sums over different terms.
fn combined(left: &AffineForm, right: &AffineForm, factor: f64) -> Option<AffineForm> {
    if left.basis != right.basis {
        return None;
    }
    let weight = |form: &AffineForm, index: u32| {
        form.terms.binary_search_by_key(&index, |term| term.0).map_or(0.0, |place| form.terms[place].1)
    };
    let indices = sorted(left.terms.iter().chain(&right.terms).map(|term| term.0));
    let terms = indices.into_iter().map(|index| (index, weight(left, index) + factor * weight(right, index)));
    let terms = terms.filter(|(_, weight)| *weight != 0.0).collect();
    Some(AffineForm { basis: left.basis, terms, constant: left.constant + factor * right.constant })
}

/// How many numbers a part over `sources` holds.
fn size(body: &Body, sources: usize) -> usize {
    match body {
        Body::Layers(layers) => sources.saturating_mul(layers.dense[0].biases.len()),
        Body::Trees(trees) => trees.nodes.len(),
    }
}

/// A part over some sources as one over more, which include them.
fn over(mut body: Body, own: &[u32], all: &[u32]) -> Body {
    if own.len() == all.len() {
        return body;
    }
    let place = |source: usize| all.binary_search(&own[source]).expect("all sources are there");
    match &mut body {
        Body::Layers(layers) => {
            let first = &mut layers.dense[0];
            let width = first.biases.len();
            let mut weights = vec![0.0; all.len() * width];
            for (source, line) in first.weights.chunks_exact(width).enumerate() {
                weights[place(source) * width..][..width].copy_from_slice(line);
            }
            first.weights = weights;
        }
        Body::Trees(trees) => {
            for node in &mut trees.nodes {
                if let TreeNode::Branch { source, .. } = node {
                    *source = u32::try_from(place(*source as usize)).expect("no more sources than pieces");
                }
            }
        }
    }
    body
}

fn sorted(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
