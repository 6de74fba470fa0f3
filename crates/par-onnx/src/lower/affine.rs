//! Sums of numbers: the terms of a layer before its activation.

use std::rc::Rc;

use crate::error::Error;
use crate::lower::Lowering;
use crate::lower::structure::{axes, counted, transposed};
use crate::model::{Activation, Step};
use crate::node::Node;
use crate::tensor::{Element, Kind, Tensor, size, stretched};

/// The attributes of a linear classifier.
pub(super) const CLASSIFIER: &[&str] = &[
    "classlabels_ints",
    "classlabels_strings",
    "coefficients",
    "intercepts",
    "multi_class",
    "post_transform",
];

/// A sum over sources, over the units of one hidden layer or over ensembles of trees, in double precision until the model
/// is made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Form {
    pub(crate) basis: Basis,
    /// What is summed and its weight, in ascending order; no weight is zero.
    pub(crate) terms: Vec<(u32, f64)>,
    pub(crate) constant: f64,
}

/// What a sum is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The units of a hidden layer counted from one; zero are the sources.
    Layer(usize),
    /// The columns of all ensembles, two of each.
    Trees,
}

/// A hidden layer.
pub(crate) struct Layer {
    pub(crate) activation: Activation,
    /// Where it was found first.
    pub(crate) node: String,
    /// What goes into the activations.
    pub(crate) units: Vec<Rc<Form>>,
}

impl Form {
    /// One source, unit or column alone.
    pub(crate) fn single(basis: Basis, index: u32) -> Self {
        Self { basis, terms: vec![(index, 1.0)], constant: 0.0 }
    }

    /// a x + b.
    pub(crate) fn scaled(&self, scale: f64, shift: f64) -> Self {
        let terms =
            if scale == 0.0 { Vec::new() } else { self.terms.iter().map(|&(i, w)| (i, w * scale)).collect() };
        Self { basis: self.basis, terms, constant: self.constant * scale + shift }
    }

    /// Whether the two add up to a number whatever the inputs are.
    pub(crate) fn adds_up_to(&self, other: &Self, sum: f64) -> bool {
        let negated = other.terms.iter().map(|&(index, weight)| (index, -weight));
        self.basis == other.basis
            && self.constant + other.constant == sum
            && self.terms.len() == other.terms.len()
            && self.terms.iter().copied().eq(negated)
    }
}

/// Numbers of one basis that many sums are made of.
pub(crate) struct Summands {
    basis: Basis,
    /// All that the summands are made of, in ascending order.
    indices: Vec<u32>,
    /// Of every summand its terms, by their place among the indices, and its constant.
    forms: Vec<(Vec<(usize, f64)>, f64)>,
}

impl Summands {
    /// The sum with these weights. Without any index it is a constant.
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
        Element::Form(Rc::new(Form { basis: self.basis, terms, constant }))
    }
}

impl Lowering {
    /// The element as something that sums are made of.
    pub(super) fn form(&mut self, node: &Node<'_>, element: &Element) -> Result<Rc<Form>, Error> {
        Ok(match self.settled(node, element)? {
            Element::Source(source) => Rc::new(Form::single(Basis::Layer(0), source)),
            Element::Form(form) => form,
            Element::Number(constant) => {
                Rc::new(Form { basis: Basis::Layer(0), terms: Vec::new(), constant })
            }
            other => return Err(node.operand(other.description(), "numbers")),
        })
    }

    /// The element with a probability made a unit of a hidden layer, or a source if it is of one source alone.
    pub(super) fn settled(&mut self, node: &Node<'_>, element: &Element) -> Result<Element, Error> {
        Ok(match element {
            Element::Probability(form) => match (form.basis, &form.terms[..], form.constant) {
                (Basis::Layer(0), &[(source, 1.0)], 0.0) => {
                    Element::Source(self.sources.step(source, Step::Apply(Activation::Sigmoid)))
                }
                _ => self.activate(node, Activation::Sigmoid, form)?,
            },
            Element::LogProbability(form) => {
                let softplus = self.activate(node, Activation::Softplus, &Rc::new(form.scaled(-1.0, 0.0)))?;
                Element::Form(Rc::new(self.form(node, &softplus)?.scaled(-1.0, 0.0)))
            }
            other => other.clone(),
        })
    }

    /// The unit of the next hidden layer that a sum goes into.
    pub(super) fn activate(
        &mut self,
        node: &Node<'_>,
        activation: Activation,
        form: &Rc<Form>,
    ) -> Result<Element, Error> {
        let Basis::Layer(depth) = form.basis else {
            return Err(node.operand("the sum of trees", "it at the end, or followed by a sigmoid"));
        };
        if self.layers.len() == depth {
            self.layers.push(Layer { activation, node: node.name(), units: Vec::new() });
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
        Ok(Element::Form(Rc::new(Form::single(Basis::Layer(depth + 1), unit))))
    }

    /// Elements as summands of one basis.
    pub(super) fn summands(&mut self, node: &Node<'_>, elements: &[Element]) -> Result<Summands, Error> {
        let forms: Vec<Rc<Form>> =
            elements.iter().map(|element| self.form(node, element)).collect::<Result<_, _>>()?;
        let mut bases = forms.iter().filter(|form| !form.terms.is_empty()).map(|form| form.basis);
        let basis = bases.next().unwrap_or(Basis::Layer(0));
        if let Some(other) = bases.find(|&other| other != basis) {
            let name = |basis: Basis| match basis {
                Basis::Layer(0) => "numbers of the inputs".into(),
                Basis::Layer(depth) => format!("numbers of layer {depth}"),
                Basis::Trees => "sums of trees".into(),
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

    /// One sum of summands for every row of weights.
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

    /// One sum.
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
        let summands = self.summands(node, elements)?;
        let mut sums = self.sums(node, &summands, &[(weights.to_vec(), 0.0)])?;
        Ok(sums.pop().expect("one row gives one sum"))
    }

    /// All inputs added.
    pub(super) fn sum(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let first = node.input(0)?;
        let mut result = first.clone();
        for index in 1..node.inputs.len() {
            result = self.combined(node, "Add", &result, node.input(index)?)?;
        }
        Ok(result)
    }

    pub(super) fn matmul(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        self.product(node, node.input(0)?, node.input(1)?)
    }

    /// The product of matrices, one of which the file fixes. More axes than two are allowed on the left, and on either side if
    /// they are ones.
    fn product(&mut self, node: &Node<'_>, left: &Tensor, right: &Tensor) -> Result<Tensor, Error> {
        let expected = || format!("one that fits to {:?}", right.shape);
        let error = || node.shape(&left.shape, &expected());
        let (front, inner) = match left.shape.split_last() {
            Some((&inner, front)) => (front, inner),
            None => return Err(error()),
        };
        let (own, back) = match right.shape[..] {
            [own] => (own, &[][..]),
            [.., own, _] if size(&right.shape)? == size(&right.shape[right.shape.len() - 2..])? => {
                (own, &right.shape[right.shape.len() - 1..])
            }
            _ => return Err(error()),
        };
        if own != inner {
            return Err(error());
        }
        let leading = right.shape.len().saturating_sub(2).saturating_sub(front.len().saturating_sub(1));
        let shape = [&vec![1; leading][..], front, back].concat();
        let (rows, columns) = (size(front)?, size(back)?);
        self.spend(size(&shape)?)?;
        let elements = match (left.constants(), right.constants()) {
            (_, Some(weights)) => {
                let weights = (0..columns).map(|j| (0..inner).map(|k| weights[k * columns + j]).collect());
                let weights: Vec<(Vec<f64>, f64)> = weights.map(|weights| (weights, 0.0)).collect();
                let mut elements = Vec::new();
                for row in 0..rows {
                    let summands = self.summands(node, &left.elements[row * inner..][..inner])?;
                    elements.extend(self.sums(node, &summands, &weights)?);
                }
                elements
            }
            (Some(weights), None) => {
                let weights = (0..rows).map(|row| (weights[row * inner..][..inner].to_vec(), 0.0));
                let weights: Vec<(Vec<f64>, f64)> = weights.collect();
                let mut elements = vec![Element::Number(0.0); rows * columns];
                for column in 0..columns {
                    let own: Vec<Element> =
                        (0..inner).map(|k| right.elements[k * columns + column].clone()).collect();
                    let summands = self.summands(node, &own)?;
                    let sums = self.sums(node, &summands, &weights)?;
                    for (row, sum) in sums.into_iter().enumerate() {
                        elements[row * columns + column] = sum;
                    }
                }
                elements
            }
            (None, None) => return Err(node.operand("two computed matrices", "constants on one side")),
        };
        Ok(Tensor { shape, kind: left.kind, elements })
    }

    /// α A B + β C.
    pub(super) fn gemm(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let matrix = |index: usize, attribute: &str| {
            let tensor = node.input(index)?;
            match (tensor.shape.len(), node.integer(attribute, 0)) {
                (2, 0) => Ok(tensor.clone()),
                (2, _) => Ok(transposed(tensor, &[1, 0])),
                _ => Err(node.shape(&tensor.shape, "two axes")),
            }
        };
        let product = self.product(node, &matrix(0, "transA")?, &matrix(1, "transB")?)?;
        let alpha = Tensor::numbers(vec![], Kind::Single, [f64::from(node.float("alpha", 1.0))]);
        let scaled = self.combined(node, "Mul", &product, &alpha)?;
        let Some(bias) = node.optional(2) else { return Ok(scaled) };
        let beta = Tensor::numbers(vec![], Kind::Single, [f64::from(node.float("beta", 1.0))]);
        let bias = self.combined(node, "Mul", bias, &beta)?;
        let sum = self.combined(node, "Add", &scaled, &bias)?;
        if sum.shape == scaled.shape {
            Ok(sum)
        } else {
            Err(node.shape(&bias.shape, "the shape of the product"))
        }
    }

    pub(super) fn linear_classifier(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let sums = self.linear(node, node.floats("intercepts").len())?;
        let labels = node.integers("classlabels_ints").len() + node.texts("classlabels_strings")?.len();
        if labels != 2 || sums.len() > 2 {
            return Err(node.operand(&format!("{labels} classes"), "two"));
        }
        let post_transform = node.text("post_transform", "NONE")?;
        let [score] = &sums[..] else { return self.transformed(node, post_transform, sums) };
        // onnxruntime gives the other class the rest to one, also of a score that is no probability.
        let score = if post_transform == "LOGISTIC" { self.sigmoid(node, score)? } else { score.clone() };
        let rest = self.apply(node, &Step::SubtractFrom(1.0), &score, Kind::Single)?;
        self.transformed(
            node,
            if post_transform == "SOFTMAX" { "NONE" } else { post_transform },
            vec![rest, score],
        )
    }

    pub(super) fn linear_regressor(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let targets = usize::try_from(node.integer("targets", 1)).unwrap_or(0);
        let sums = self.linear(node, targets)?;
        self.transformed(node, node.text("post_transform", "NONE")?, sums)
    }

    /// The sums of a linear model with so many outputs.
    fn linear(&mut self, node: &Node<'_>, outputs: usize) -> Result<Vec<Element>, Error> {
        let tensor = node.input(0)?;
        let width = tensor.elements.len();
        let coefficients = node.floats("coefficients");
        if outputs == 0 || Some(coefficients.len()) != width.checked_mul(outputs) {
            let expected =
                format!("{} for {width} values and {outputs} outputs", width.saturating_mul(outputs));
            return Err(node.operand(&format!("{} coefficients", coefficients.len()), &expected));
        }
        let intercept =
            |output: usize| node.floats("intercepts").get(output).map_or(0.0, |&own| f64::from(own));
        let row =
            |output: usize| coefficients[output * width..][..width].iter().map(|&x| f64::from(x)).collect();
        let rows: Vec<(Vec<f64>, f64)> =
            (0..outputs).map(|output| (row(output), intercept(output))).collect();
        let summands = self.summands(node, &tensor.elements)?;
        self.sums(node, &summands, &rows)
    }

    /// Scores as an operator of `ai.onnx.ml` hands them on. onnxruntime leaves a single one as it is; whoever wants a
    /// transform then is told so.
    pub(super) fn transformed(
        &mut self,
        node: &Node<'_>,
        post_transform: &str,
        scores: Vec<Element>,
    ) -> Result<Tensor, Error> {
        let elements = match (post_transform, scores.len()) {
            ("NONE", _) => scores,
            ("LOGISTIC", 2) => {
                let settled = |own: &Element| matches!(own, Element::Probability(_));
                let sigmoid =
                    |own: &Element| if settled(own) { Ok(own.clone()) } else { self.sigmoid(node, own) };
                scores.iter().map(sigmoid).collect::<Result<_, _>>()?
            }
            ("SOFTMAX", 2) => self.softmax_of(node, &scores, Element::Probability)?,
            ("LOGISTIC" | "SOFTMAX", _) => {
                return Err(node.refuse("post_transform", post_transform, "`NONE` for one output"));
            }
            _ => {
                return Err(node.refuse("post_transform", post_transform, "`NONE`, `LOGISTIC` or `SOFTMAX`"));
            }
        };
        Ok(Tensor { shape: vec![1, elements.len()], kind: Kind::Single, elements })
    }

    pub(super) fn sigmoid(&mut self, node: &Node<'_>, element: &Element) -> Result<Element, Error> {
        Ok(match element {
            Element::Number(number) => Element::Number(Activation::Sigmoid.value(*number)),
            _ => Element::Probability(self.form(node, element)?),
        })
    }

    pub(super) fn softmax(
        &mut self,
        node: &Node<'_>,
        wrap: fn(Rc<Form>) -> Element,
    ) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let axis =
            node.axis(node.integer("axis", if node.version < 13 { 1 } else { -1 }), tensor.shape.len())?;
        if tensor.elements.len() != 2 || tensor.shape[axis] != 2 {
            return Err(node.shape(&tensor.shape, "two scores of a row along the axis"));
        }
        let elements = self.softmax_of(node, &tensor.elements, wrap)?;
        Ok(Tensor { elements, ..tensor.clone() })
    }

    /// Of two scores only the difference counts.
    fn softmax_of(
        &mut self,
        node: &Node<'_>,
        scores: &[Element],
        wrap: fn(Rc<Form>) -> Element,
    ) -> Result<Vec<Element>, Error> {
        let difference = self.weighted(node, scores, &[-1.0, 1.0])?;
        let difference = self.form(node, &difference)?;
        Ok(vec![wrap(Rc::new(difference.scaled(-1.0, 0.0))), wrap(difference)])
    }

    /// Two probabilities that add up to one are what they are; nothing else of several inputs can be normalized.
    pub(super) fn normalizer(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let add_up = match &tensor.elements[..] {
            [Element::Probability(one), Element::Probability(other)] => one.adds_up_to(other, 0.0),
            [Element::Form(one), Element::Form(other)] => {
                one.basis == Basis::Trees && one.adds_up_to(other, 1.0)
            }
            _ => false,
        };
        match (node.text("norm", "MAX")?, add_up) {
            ("L1", true) => Ok(tensor.clone()),
            ("L1", false) => Err(node.operand(
                "numbers that depend on each other once they are normalized",
                "two probabilities that add up to one",
            )),
            (other, _) => Err(node.refuse("norm", other, "`L1`")),
        }
    }

    pub(super) fn reduce(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let rank = tensor.shape.len();
        let axes = match axes(node, 1)?.filter(|axes| !axes.is_empty()) {
            Some(axes) => counted(node, &axes, rank)?,
            None if node.integer("noop_with_empty_axes", 0) != 0 => return Ok(tensor.clone()),
            None => (0..rank).collect(),
        };
        let kept: Vec<usize> =
            (0..rank).map(|axis| if axes.contains(&axis) { 1 } else { tensor.shape[axis] }).collect();
        self.spend(size(&kept)?)?;
        let mut groups = vec![Vec::new(); size(&kept)?];
        for (element, place) in tensor.elements.iter().zip(stretched(&kept, &tensor.shape)) {
            groups[place].push(element.clone());
        }
        let mut elements = Vec::with_capacity(groups.len());
        for group in groups {
            let is_mean = node.proto.op_type == "ReduceMean";
            let weight = if is_mean { 1.0 / group.len() as f64 } else { 1.0 };
            elements.push(self.weighted(node, &group, &vec![weight; group.len()])?);
        }
        let keeps = node.integer("keepdims", 1) != 0;
        let shape = (0..rank).filter(|axis| keeps || !axes.contains(axis)).map(|axis| kept[axis]).collect();
        Ok(Tensor { shape, kind: tensor.kind, elements })
    }

    /// Scale and shift by what was learned, in the order in which onnxruntime puts them together.
    pub(super) fn batch_normalization(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        if node.integer("training_mode", 0) != 0 {
            return Err(node.refuse("training_mode", node.integer("training_mode", 0), "`0`"));
        }
        let tensor = node.input(0)?;
        let channels = *tensor.shape.get(1).ok_or_else(|| node.shape(&tensor.shape, "at least two axes"))?;
        let mut learned = Vec::new();
        for index in 1..5 {
            let own = node.constants(index)?;
            if own.len() != channels {
                return Err(
                    node.operand(&format!("{} numbers in input {index}", own.len()), &format!("{channels}"))
                );
            }
            learned.push(own);
        }
        let epsilon = node.float("epsilon", 1e-5);
        let inner = size(&tensor.shape[2..])?.max(1);
        let mut elements = Vec::with_capacity(tensor.elements.len());
        for (place, element) in tensor.elements.iter().enumerate() {
            let channel = place / inner % channels;
            let [scale, bias, mean, variance] = [0, 1, 2, 3].map(|own: usize| learned[own][channel] as f32);
            let scale = scale * (1.0 / (variance + epsilon).sqrt());
            let scaled = self.apply(node, &Step::Multiply(scale), element, tensor.kind)?;
            elements.push(self.apply(node, &Step::Add(bias - mean * scale), &scaled, tensor.kind)?);
        }
        Ok(Tensor { elements, ..tensor.clone() })
    }
}
