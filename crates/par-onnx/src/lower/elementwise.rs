//! Elementwise operators with constants.

use std::rc::Rc;

use crate::classifier::{Activation, Step};
use crate::error::Error;
use crate::lower::Lowering;
use crate::lower::sources;
use crate::node::Node;
use crate::tensor::{Element, ElementKind, Share, ShareKind, Tensor, broadcast, size, stretched};

impl Lowering {
    /// Applies one step to an element.
    pub(super) fn apply(
        &mut self,
        node: &Node<'_>,
        step: &Step,
        element: &Element,
        kind: ElementKind,
    ) -> Result<Element, Error> {
        self.spend(sources::size(step))?;
        if !is_finite(step) {
            return Err(Error::NotFinite { node: node.name() });
        }
        match element {
            Element::Number(x) => Ok(Element::Number(kind.round(fold(step, *x)))),
            Element::Source(source) => Ok(Element::Source(self.sources.step(*source, step.clone()))),
            Element::Form(form) => match (affine(step), step) {
                (Some((scale, shift)), _) => {
                    self.spend(form.terms.len())?;
                    Ok(Element::Form(Rc::new(form.scaled(scale, shift))))
                }
                (None, Step::Apply(activation)) => self.activate(node, *activation, form),
                _ => Err(node.operand(element.description(), "functions of one input each")),
            },
            Element::Probability(form) => match (affine(step), step) {
                (Some((1.0, 0.0)), _) | (_, Step::Absolute) => Ok(element.clone()),
                (Some((-1.0, 1.0)), _) => Ok(Element::Probability(Rc::new(form.scaled(-1.0, 0.0)))),
                (_, Step::Logarithm) => Ok(Element::LogProbability(Rc::clone(form))),
                _ => self.settled(node, element).and_then(|settled| self.apply(node, step, &settled, kind)),
            },
            Element::LogProbability(form) => match (affine(step), step) {
                (Some((1.0, 0.0)), _) => Ok(element.clone()),
                (_, Step::Exponential) => Ok(Element::Probability(Rc::clone(form))),
                _ => self.settled(node, element).and_then(|settled| self.apply(node, step, &settled, kind)),
            },
            Element::Share(share) => match (affine(step), step, share.is_logarithm) {
                (Some((1.0, 0.0)), ..) | (_, Step::Absolute, false) => Ok(element.clone()),
                (_, Step::Logarithm, false) | (_, Step::Exponential, true) => {
                    Ok(Element::Share(Share { is_logarithm: !share.is_logarithm, ..share.clone() }))
                }
                _ => Err(node.operand(element.description(), "it at the end")),
            },
            Element::Total(_) => {
                self.settled(node, element).and_then(|settled| self.apply(node, step, &settled, kind))
            }
            Element::Text(_) | Element::TextInput(_) => Err(node.operand(element.description(), "numbers")),
        }
    }

    /// Applies several steps to an element.
    pub(super) fn apply_all(
        &mut self,
        node: &Node<'_>,
        steps: &[Step],
        element: &Element,
        kind: ElementKind,
    ) -> Result<Element, Error> {
        steps.iter().try_fold(element.clone(), |element, step| self.apply(node, step, &element, kind))
    }

    /// Applies the same steps to all elements.
    pub(super) fn map(
        &mut self,
        node: &Node<'_>,
        steps: &[Step],
        tensor: &Tensor,
        kind: ElementKind,
    ) -> Result<Tensor, Error> {
        let elements = tensor.elements.iter().map(|element| self.apply_all(node, steps, element, kind));
        Ok(Tensor { shape: tensor.shape.clone(), kind, elements: elements.collect::<Result<_, _>>()? })
    }

    pub(super) fn unary(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let alpha = |default: f32| node.float("alpha", default);
        let steps = match node.proto.op_type.as_str() {
            "Sigmoid" => {
                let elements = tensor.elements.iter().map(|element| self.sigmoid(node, element));
                let elements = elements.collect::<Result<_, _>>()?;
                return Ok(Tensor { elements, ..tensor.clone() });
            }
            "Relu" => vec![Step::Apply(Activation::Relu)],
            "LeakyRelu" => vec![Step::Apply(leaky(node, alpha(0.01))?)],
            "Elu" => vec![Step::Apply(elu(node, alpha(1.0))?)],
            "Selu" => {
                let (alpha, gamma) = (alpha(1.673_263_2), node.float("gamma", 1.050_701));
                vec![Step::Apply(elu(node, alpha)?), Step::Multiply(gamma)]
            }
            "Celu" => match alpha(1.0) {
                alpha if alpha > 0.0 => {
                    vec![Step::Divide(alpha), Step::Apply(Activation::Elu(1.0)), Step::Multiply(alpha)]
                }
                alpha => return Err(node.refuse("alpha", alpha, "more than zero")),
            },
            "Tanh" => vec![Step::Apply(Activation::Tanh)],
            "Softplus" => vec![Step::Apply(Activation::Softplus)],
            "HardSigmoid" => {
                let clip = Step::Apply(Activation::Clip(0.0, 1.0));
                vec![Step::Multiply(alpha(0.2)), Step::Add(node.float("beta", 0.5)), clip]
            }
            "Clip" => {
                let bound = |index: usize, name: &str, default: f32| match node.optional(index) {
                    Some(_) => Ok(node.constants(index)?.first().map_or(default, |&bound| bound as f32)),
                    None => Ok(node.float(name, default)),
                };
                vec![Step::Apply(clip(node, bound(1, "min", f32::MIN)?, bound(2, "max", f32::MAX)?)?)]
            }
            "Abs" => vec![Step::Absolute],
            "Exp" => vec![Step::Exponential],
            "Log" => vec![Step::Logarithm],
            "Neg" => vec![Step::Multiply(-1.0)],
            "Sqrt" => vec![Step::SquareRoot],
            "Not" => vec![Step::SubtractFrom(1.0)],
            "Binarizer" => vec![Step::Above(node.float("threshold", 0.0))],
            "IsNaN" => return self.map(node, &[Step::IsMissing], tensor, ElementKind::Boolean),
            _ => return Err(super::unsupported(node)),
        };
        self.map(node, &steps, tensor, tensor.kind)
    }

    pub(super) fn binary(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        match node.proto.op_type.as_str() {
            operator @ ("Min" | "Max") => {
                let mut result = node.input(0)?.clone();
                for index in 1..node.inputs.len() {
                    result = self.combined(node, operator, &result, node.input(index)?)?;
                }
                Ok(result)
            }
            operator => self.combined(node, operator, node.input(0)?, node.input(1)?),
        }
    }

    /// Applies a binary operator to two tensors, broadcast to one shape.
    pub(super) fn combined(
        &mut self,
        node: &Node<'_>,
        operator: &str,
        left: &Tensor,
        right: &Tensor,
    ) -> Result<Tensor, Error> {
        let shape = broadcast(&left.shape, &right.shape);
        let shape =
            shape.ok_or_else(|| node.shape(&left.shape, &format!("one that fits to {:?}", right.shape)))?;
        self.spend(size(&shape)?)?;
        let places = stretched(&left.shape, &shape).into_iter().zip(stretched(&right.shape, &shape));
        let is_comparison =
            matches!(operator, "Equal" | "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual");
        let kind = if is_comparison { ElementKind::Boolean } else { left.kind };
        let mut elements = Vec::with_capacity(places.len());
        for (left_place, right_place) in places {
            let pair = (&left.elements[left_place], &right.elements[right_place]);
            elements.push(match pair {
                (Element::Text(text), word @ Element::TextInput(_))
                | (word @ Element::TextInput(_), Element::Text(text))
                    if operator == "Equal" =>
                {
                    self.look_up(node, &[(Rc::clone(text), 1.0)], 0.0, word)?
                }
                (x, Element::Number(constant)) => {
                    let steps = with_right(node, operator, *constant, left.kind)?;
                    self.apply_all(node, &steps, x, left.kind)?
                }
                (Element::Number(constant), x) => {
                    let steps = with_left(node, operator, *constant)?;
                    self.apply_all(node, &steps, x, left.kind)?
                }
                (Element::Probability(score), Element::Total(scores))
                    if operator == "Div" && scores.iter().any(|own| Rc::ptr_eq(own, score)) =>
                {
                    let class = scores.iter().position(|own| Rc::ptr_eq(own, score)).unwrap_or(0);
                    let scores = Rc::clone(scores);
                    Element::Share(Share { scores, class, kind: ShareKind::OneVsRest, is_logarithm: false })
                }
                (x, y) if operator == "Add" => self.weighted(node, &[x.clone(), y.clone()], &[1.0, 1.0])?,
                (x, y) if operator == "Sub" => self.weighted(node, &[x.clone(), y.clone()], &[1.0, -1.0])?,
                (x, y) => {
                    let found = format!("{} and {}", x.description(), y.description());
                    return Err(node.operand(&found, "a constant on one side"));
                }
            });
        }
        Ok(Tensor { shape, kind, elements })
    }

    pub(super) fn cast(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let to = i32::try_from(node.integer("to", 0)).ok().and_then(ElementKind::of);
        let kind = to.ok_or_else(|| node.refuse("to", node.integer("to", 0), "a type of numbers"))?;
        match (tensor.kind, kind) {
            (ElementKind::Text, ElementKind::Text) | (ElementKind::Boolean, ElementKind::Boolean) => {
                Ok(tensor.clone())
            }
            (ElementKind::Text, _) | (_, ElementKind::Text) => {
                Err(node.operand("texts and numbers", "one or the other"))
            }
            (ElementKind::Boolean | ElementKind::Integer, ElementKind::Integer)
            | (_, ElementKind::Single | ElementKind::Double) => self.map(node, &[], tensor, kind),
            (_, ElementKind::Integer) => self.map(node, &[Step::Truncate], tensor, kind),
            (_, ElementKind::Boolean) => {
                self.map(node, &[Step::Equals(0.0), Step::SubtractFrom(1.0)], tensor, kind)
            }
        }
    }

    /// Scaler and Imputer, which have one constant for each column or for all.
    pub(super) fn column_by_column(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let width = tensor.shape.last().copied().unwrap_or(1).max(1);
        let numbers = |name: &str, default: f32| match node.floats(name) {
            [] => Ok(vec![default; width]),
            [one] => Ok(vec![*one; width]),
            all if all.len() == width => Ok(all.to_vec()),
            all => Err(node.refuse(name, format!("{} numbers", all.len()), &format!("1 or {width}"))),
        };
        let steps: Vec<Vec<Step>> = if node.proto.op_type == "Scaler" {
            let columns = numbers("offset", 0.0)?.into_iter().zip(numbers("scale", 1.0)?);
            columns.map(|(offset, scale)| vec![Step::Subtract(offset), Step::Multiply(scale)]).collect()
        } else if tensor.kind == ElementKind::Integer {
            let from = node.integer("replaced_value_int64", 0) as f32;
            let values = match node.integers("imputed_value_int64s") {
                [one] => vec![*one; width],
                all if all.len() == width => all.to_vec(),
                all => {
                    return Err(node.refuse(
                        "imputed_value_int64s",
                        format!("{} numbers", all.len()),
                        "one a column",
                    ));
                }
            };
            values.into_iter().map(|value| vec![Step::Replace(from, value as f32)]).collect()
        } else {
            let from = node.float("replaced_value_float", f32::NAN);
            let values = numbers("imputed_value_floats", f32::NAN)?;
            values.into_iter().map(|value| vec![Step::Replace(from, value)]).collect()
        };
        let kind = if node.proto.op_type == "Scaler" { ElementKind::Single } else { tensor.kind };
        let mut elements = Vec::with_capacity(tensor.elements.len());
        for (element, steps) in tensor.elements.iter().zip(steps.iter().cycle()) {
            elements.push(self.apply_all(node, steps, element, kind)?);
        }
        Ok(Tensor { shape: tensor.shape.clone(), kind, elements })
    }
}

/// The slope and the constant of an affine step.
fn affine(step: &Step) -> Option<(f64, f64)> {
    match *step {
        Step::Add(a) => Some((1.0, f64::from(a))),
        Step::Subtract(a) => Some((1.0, -f64::from(a))),
        Step::SubtractFrom(a) => Some((-1.0, f64::from(a))),
        Step::Multiply(a) => Some((f64::from(a), 0.0)),
        Step::Divide(a) => Some((1.0 / f64::from(a), 0.0)),
        _ => None,
    }
}

/// Whether the slope and the constant of a step are finite.
fn is_finite(step: &Step) -> bool {
    affine(step).is_none_or(|(scale, shift)| scale.is_finite() && shift.is_finite())
}

/// Applies a step to a constant, without rounding.
fn fold(step: &Step, x: f64) -> f64 {
    match *step {
        Step::Add(a) => x + f64::from(a),
        Step::Subtract(a) => x - f64::from(a),
        Step::SubtractFrom(a) => f64::from(a) - x,
        Step::Multiply(a) => x * f64::from(a),
        Step::Divide(a) => x / f64::from(a),
        Step::Truncate => x.trunc(),
        Step::Apply(activation) => activation.value(x),
        _ => f64::from(step.number(x as f32)),
    }
}

/// The steps of `x operator constant`.
fn with_right(node: &Node<'_>, operator: &str, constant: f64, kind: ElementKind) -> Result<Vec<Step>, Error> {
    let c = constant as f32;
    Ok(match operator {
        "Sub" => vec![Step::Subtract(c)],
        "Div" if kind == ElementKind::Integer => vec![Step::Divide(c), Step::Truncate],
        "Div" => vec![Step::Divide(c)],
        "PRelu" => vec![Step::Apply(leaky(node, c)?)],
        "Greater" => vec![Step::Above(c)],
        "GreaterOrEqual" => vec![Step::Above(c.next_down())],
        "Less" => vec![Step::Multiply(-1.0), Step::Above(-c)],
        "LessOrEqual" => vec![Step::Multiply(-1.0), Step::Above((-c).next_down())],
        _ => with_left(node, operator, constant)?,
    })
}

/// The steps of `constant operator x`.
fn with_left(node: &Node<'_>, operator: &str, constant: f64) -> Result<Vec<Step>, Error> {
    let c = constant as f32;
    Ok(match operator {
        "Add" => vec![Step::Add(c)],
        "Sub" => vec![Step::SubtractFrom(c)],
        "Mul" => vec![Step::Multiply(c)],
        "Max" => vec![Step::Apply(clip(node, c, f32::MAX)?)],
        "Min" => vec![Step::Apply(clip(node, f32::MIN, c)?)],
        "Equal" => vec![Step::Equals(c)],
        "Less" => vec![Step::Above(c)],
        "LessOrEqual" => vec![Step::Above(c.next_down())],
        "Greater" => vec![Step::Multiply(-1.0), Step::Above(-c)],
        "GreaterOrEqual" => vec![Step::Multiply(-1.0), Step::Above((-c).next_down())],
        _ => return Err(node.operand("a computed number on the right", "a constant there")),
    })
}

fn clip(node: &Node<'_>, low: f32, high: f32) -> Result<Activation, Error> {
    match (low.max(f32::MIN), high.min(f32::MAX)) {
        (0.0, f32::MAX) => Ok(Activation::Relu),
        (low, high) if low <= high => Ok(Activation::Clip(low, high)),
        (low, high) => Err(node.operand(&format!("bounds from {low} to {high}"), "the lower one first")),
    }
}

fn leaky(node: &Node<'_>, slope: f32) -> Result<Activation, Error> {
    match slope {
        0.0 => Ok(Activation::Relu),
        slope if (0.0..=1.0).contains(&slope) => Ok(Activation::LeakyRelu(slope)),
        slope => Err(node.operand(&format!("a slope of {slope}"), "one from 0 to 1")),
    }
}

fn elu(node: &Node<'_>, alpha: f32) -> Result<Activation, Error> {
    if alpha >= 0.0 && alpha.is_finite() {
        Ok(Activation::Elu(alpha))
    } else {
        Err(node.refuse("alpha", alpha, "zero or more"))
    }
}
