//! Weighted sums: the inputs of a layer's activation.

use std::rc::Rc;

use crate::classifier::{Activation, Step};
use crate::error::Error;
use crate::lower::Lowering;
use crate::node::Node;
use crate::tensor::Element;

/// A weighted sum over sources, the units of one hidden layer, or tree ensembles. In double precision until
/// the classifier is made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AffineForm {
    pub(crate) basis: SumBasis,
    /// Indices into the basis with their weights, in ascending order; no weight is zero.
    pub(crate) terms: Vec<(u32, f64)>,
    pub(crate) constant: f64,
}

/// The terms that a sum is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SumBasis {
    /// The units of a hidden layer, counted from one; zero means the sources.
    Layer(usize),
    /// The columns of all ensembles.
    Trees,
}

/// A hidden layer.
pub(crate) struct HiddenLayer {
    pub(crate) activation: Activation,
    /// The node that was the first to use it.
    pub(crate) node: String,
    /// The inputs of the activations.
    pub(crate) units: Vec<Rc<AffineForm>>,
}

impl AffineForm {
    /// A sum of one term with weight one.
    pub(crate) fn single(basis: SumBasis, index: u32) -> Self {
        Self { basis, terms: vec![(index, 1.0)], constant: 0.0 }
    }

    /// a x + b.
    pub(crate) fn scaled(&self, scale: f64, shift: f64) -> Self {
        let terms =
            if scale == 0.0 { Vec::new() } else { self.terms.iter().map(|&(i, w)| (i, w * scale)).collect() };
        Self { basis: self.basis, terms, constant: self.constant * scale + shift }
    }

    /// Whether the two sums always add up to a constant.
    pub(crate) fn adds_up_to(&self, other: &Self, sum: f64) -> bool {
        let negated = other.terms.iter().map(|&(index, weight)| (index, -weight));
        self.basis == other.basis
            && self.constant + other.constant == sum
            && self.terms.len() == other.terms.len()
            && self.terms.iter().copied().eq(negated)
    }
}

/// Elements over one basis, to be combined into many sums.
pub(crate) struct Summands {
    basis: SumBasis,
    /// All indices of the summands, in ascending order.
    indices: Vec<u32>,
    /// For every summand its terms, by their position in `indices`, and its constant.
    forms: Vec<(Vec<(usize, f64)>, f64)>,
}

impl Summands {
    /// The sum with these weights; a constant if there are no indices.
    fn sum(&self, weights: impl Iterator<Item = f64>, constant: f64) -> Element {
        let mut sums = vec![0.0; self.indices.len()];
        let mut constant = constant;
        for ((terms, own), weight) in self.forms.iter().zip(weights) {
            constant += own * weight;
            terms.iter().for_each(|&(place, term)| sums[place] += term * weight);
        }
        if self.indices.is_empty() {
            return Element::Number(constant);
        }
        let terms = self.indices.iter().copied().zip(sums).filter(|(_, weight)| *weight != 0.0).collect();
        Element::Form(Rc::new(AffineForm { basis: self.basis, terms, constant }))
    }
}

impl Lowering {
    /// The element as a sum.
    pub(super) fn form(&mut self, node: &Node<'_>, element: &Element) -> Result<Rc<AffineForm>, Error> {
        Ok(match self.settled(node, element)? {
            Element::Source(source) => Rc::new(AffineForm::single(SumBasis::Layer(0), source)),
            Element::Form(form) => form,
            Element::Number(constant) => {
                Rc::new(AffineForm { basis: SumBasis::Layer(0), terms: Vec::new(), constant })
            }
            other => return Err(node.operand(other.description(), "numbers")),
        })
    }

    /// The element; a probability becomes a hidden unit, or a source if it depends on one source only.
    pub(super) fn settled(&mut self, node: &Node<'_>, element: &Element) -> Result<Element, Error> {
        Ok(match element {
            Element::Probability(form) => match (form.basis, &form.terms[..], form.constant) {
                (SumBasis::Layer(0), &[(source, 1.0)], 0.0) => {
                    Element::Source(self.sources.step(source, Step::Apply(Activation::Sigmoid)))
                }
                _ => self.activate(node, Activation::Sigmoid, form)?,
            },
            Element::LogProbability(form) => {
                let softplus = self.activate(node, Activation::Softplus, &Rc::new(form.scaled(-1.0, 0.0)))?;
                Element::Form(Rc::new(self.form(node, &softplus)?.scaled(-1.0, 0.0)))
            }
            Element::Total(scores) => {
                let units = scores.iter().map(|score| self.activate(node, Activation::Sigmoid, score));
                let units = units.collect::<Result<Vec<_>, _>>()?;
                let summands = self.summands(node, &units)?;
                let mut sums = self.sums(node, &summands, &[(vec![1.0; units.len()], 0.0)])?;
                sums.pop().expect("one row gives one sum")
            }
            Element::Share(_) => return Err(node.operand(element.description(), "it at the end")),
            other => other.clone(),
        })
    }

    /// Applies an activation to a sum: a unit of the next hidden layer.
    pub(super) fn activate(
        &mut self,
        node: &Node<'_>,
        activation: Activation,
        form: &Rc<AffineForm>,
    ) -> Result<Element, Error> {
        let SumBasis::Layer(depth) = form.basis else {
            return Err(node.operand("the sum of trees", "it at the end, or followed by a sigmoid"));
        };
        if self.layers.len() == depth {
            self.layers.push(HiddenLayer { activation, node: node.name(), units: Vec::new() });
        }
        let layer = &mut self.layers[depth];
        if layer.activation != activation {
            let found =
                format!("`{activation:?}` and the `{:?}` of {} in one layer", layer.activation, layer.node);
            return Err(Error::Joins { node: node.name(), found });
        }
        layer.units.push(Rc::clone(form));
        let unit = u32::try_from(layer.units.len() - 1).expect("no more units than pieces");
        self.spend(1)?;
        Ok(Element::Form(Rc::new(AffineForm::single(SumBasis::Layer(depth + 1), unit))))
    }

    /// Elements as summands over one basis.
    pub(super) fn summands(&mut self, node: &Node<'_>, elements: &[Element]) -> Result<Summands, Error> {
        let forms: Vec<Rc<AffineForm>> =
            elements.iter().map(|element| self.form(node, element)).collect::<Result<_, _>>()?;
        let mut bases = forms.iter().filter(|form| !form.terms.is_empty()).map(|form| form.basis);
        let basis = bases.next().unwrap_or(SumBasis::Layer(0));
        if let Some(other) = bases.find(|&other| other != basis) {
            let name = |basis: SumBasis| match basis {
                SumBasis::Layer(0) => "numbers of the inputs".into(),
                SumBasis::Layer(depth) => format!("numbers of layer {depth}"),
                SumBasis::Trees => "sums of trees".into(),
            };
            let found = format!("{} and {}", name(basis), name(other));
            return Err(Error::Joins { node: node.name(), found });
        }
        let terms = forms.iter().map(|form| form.terms.len()).sum();
        self.spend(terms)?;
        let mut indices: Vec<u32> =
            forms.iter().flat_map(|form| form.terms.iter().map(|term| term.0)).collect();
        indices.sort_unstable();
        indices.dedup();
        let place = |&(index, weight): &(u32, f64)| {
            (indices.binary_search(&index).expect("all indices are there"), weight)
        };
        let forms =
            forms.iter().map(|form| (form.terms.iter().map(place).collect(), form.constant)).collect();
        Ok(Summands { basis, indices, forms })
    }

    /// One weighted sum of the summands for every row of weights.
    pub(super) fn sums(
        &mut self,
        node: &Node<'_>,
        summands: &Summands,
        rows: &[(Vec<f64>, f64)],
    ) -> Result<Vec<Element>, Error> {
        let terms: usize = summands.forms.iter().map(|form| 1 + form.0.len()).sum();
        self.multiply(rows.len().saturating_mul(terms))?;
        self.spend(rows.len().saturating_mul(summands.indices.len()))?;
        let sum = |(weights, constant): &(Vec<f64>, f64)| {
            if weights.iter().chain([constant]).all(|weight| weight.is_finite()) {
                Ok(summands.sum(weights.iter().copied(), *constant))
            } else {
                Err(Error::NotFinite { node: node.name() })
            }
        };
        rows.iter().map(sum).collect()
    }

    /// One weighted sum of elements.
    pub(super) fn weighted(
        &mut self,
        node: &Node<'_>,
        elements: &[Element],
        weights: &[f64],
    ) -> Result<Element, Error> {
        if let [Element::Probability(one), Element::Probability(other)] = elements
            && weights == [1.0, 1.0]
            && one.adds_up_to(other, 0.0)
        {
            return Ok(Element::Number(1.0));
        }
        let sigmoid = |element: &Element| match element {
            Element::Probability(score) => Some(Rc::clone(score)),
            _ => None,
        };
        if elements.len() > 2
            && weights.iter().all(|&weight| weight == 1.0)
            && let Some(scores) = elements.iter().map(sigmoid).collect::<Option<Vec<_>>>()
        {
            return Ok(Element::Total(scores.into()));
        }
        let summands = self.summands(node, elements)?;
        let mut sums = self.sums(node, &summands, &[(weights.to_vec(), 0.0)])?;
        Ok(sums.pop().expect("one row gives one sum"))
    }
}
