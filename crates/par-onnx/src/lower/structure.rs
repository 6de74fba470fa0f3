//! Operators that rearrange elements.

use std::rc::Rc;

use crate::error::Error;
use crate::lower::Lowering;
use crate::node::Node;
use crate::tensor::{AXES, Element, ElementKind, Tensor, broadcast, size, stretched};

impl Lowering {
    pub(super) fn rearrange(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        if let "Constant" = node.proto.op_type.as_str() {
            return constant(node);
        }
        let tensor = node.input(0)?;
        match node.proto.op_type.as_str() {
            "Identity" | "ZipMap" => Ok(tensor.clone()),
            "Dropout" => match node.optional(2) {
                Some(training) if training.constants().is_none_or(|own| own.iter().any(|&x| x != 0.0)) => {
                    Err(node.operand("training", "a constant `training_mode` of zero"))
                }
                _ => Ok(tensor.clone()),
            },
            "ArrayFeatureExtractor" => self.extract(node, tensor),
            "ConstantOfShape" => self.filled(node),
            "Expand" => self.expand(node, tensor),
            "Flatten" => {
                let axis = match node.integer("axis", 1) {
                    axis if usize::try_from(axis) == Ok(tensor.shape.len()) => tensor.shape.len(),
                    axis => node.axis(axis, tensor.shape.len())?,
                };
                let (front, back) = tensor.shape.split_at(axis);
                Ok(Tensor { shape: vec![size(front)?, size(back)?], ..tensor.clone() })
            }
            "Reshape" => reshape(node, tensor),
            "Shape" => {
                let rank = tensor.shape.len() as i64;
                let bound = |bound: i64| {
                    let bound = if bound < 0 { bound.saturating_add(rank) } else { bound };
                    bound.clamp(0, rank) as usize
                };
                let (start, end) = (bound(node.integer("start", 0)), bound(node.integer("end", rank)));
                let sizes = tensor.shape.get(start..end).unwrap_or_default();
                Ok(Tensor::numbers(
                    vec![sizes.len()],
                    ElementKind::Integer,
                    sizes.iter().map(|&size| size as f64),
                ))
            }
            "Slice" => self.slice(node, tensor),
            "Squeeze" => {
                let axes = axes(node, 1)?.map(|axes| counted(node, &axes, tensor.shape.len())).transpose()?;
                let kept = tensor.shape.iter().enumerate().filter(|(axis, size)| match &axes {
                    Some(axes) => !axes.contains(axis),
                    None => **size != 1,
                });
                let shape: Vec<usize> = kept.map(|(_, &size)| size).collect();
                if size(&shape)? != tensor.elements.len() {
                    return Err(node.shape(&tensor.shape, "ones at the axes to leave out"));
                }
                Ok(Tensor { shape, ..tensor.clone() })
            }
            "Unsqueeze" => {
                let axes = axes(node, 1)?.unwrap_or_default();
                let rank = tensor.shape.len() + axes.len();
                let axes = counted(node, &axes, rank)?;
                let mut sizes = tensor.shape.iter();
                let size = |axis| if axes.contains(&axis) { Some(1) } else { sizes.next().copied() };
                let shape: Option<Vec<usize>> = (0..rank).map(size).collect();
                let shape = shape.ok_or_else(|| node.shape(&tensor.shape, "each new axis once"))?;
                Ok(Tensor { shape, ..tensor.clone() })
            }
            _ => transpose(node, tensor),
        }
    }

    /// The elements at some indices of an axis.
    fn select(&mut self, tensor: &Tensor, axis: usize, indices: &[usize]) -> Result<Tensor, Error> {
        let mut shape = tensor.shape.clone();
        shape[axis] = indices.len();
        let inner = size(&tensor.shape[axis + 1..])?;
        self.spend(size(&shape)?)?;
        let outer = size(&tensor.shape[..axis])?;
        let places =
            (0..outer).flat_map(|outer| indices.iter().map(move |index| outer * tensor.shape[axis] + index));
        let elements =
            places.flat_map(|place| tensor.elements[place * inner..][..inner].iter().cloned()).collect();
        Ok(Tensor { shape, kind: tensor.kind, elements })
    }

    fn extract(&mut self, node: &Node<'_>, tensor: &Tensor) -> Result<Tensor, Error> {
        let (front, width) = match tensor.shape.split_last() {
            Some((&width, front)) => (front, width),
            None => return Err(node.shape(&tensor.shape, "at least one axis")),
        };
        let indices = indices(node, &node.constants(1)?, width)?;
        let selected = self.select(tensor, front.len(), &indices)?;
        let shape = if front.is_empty() { vec![1, indices.len()] } else { selected.shape };
        Ok(Tensor { shape, ..selected })
    }

    pub(super) fn gather(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let (tensor, own) = (node.input(0)?, node.input(1)?);
        let axis = node.axis(node.integer("axis", 0), tensor.shape.len())?;
        let Some(numbers) = own.constants() else {
            return self.embed(node, tensor, own, axis);
        };
        let indices = indices(node, &numbers, tensor.shape[axis])?;
        let selected = self.select(tensor, axis, &indices)?;
        let shape = [&tensor.shape[..axis], &own.shape, &tensor.shape[axis + 1..]].concat();
        Ok(Tensor { shape, ..selected })
    }

    fn slice(&mut self, node: &Node<'_>, tensor: &Tensor) -> Result<Tensor, Error> {
        let inputs = |index: usize, name: &str| match node.optional(index) {
            Some(_) => node.constants(index),
            None => Ok(node.integers(name).iter().map(|&x| x as f64).collect()),
        };
        let (starts, ends) = (inputs(1, "starts")?, inputs(2, "ends")?);
        let axes = match inputs(3, "axes")? {
            axes if axes.is_empty() => (0..starts.len()).map(|axis| axis as f64).collect(),
            axes => axes,
        };
        let steps = match inputs(4, "steps")? {
            steps if steps.is_empty() => vec![1.0; starts.len()],
            steps => steps,
        };
        if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
            return Err(node.operand("starts, ends, axes and steps of different lengths", "as many of each"));
        }
        let mut result = tensor.clone();
        for (((start, end), axis), step) in starts.into_iter().zip(ends).zip(axes).zip(steps) {
            let axis = node.axis(axis as i64, result.shape.len())?;
            let width = result.shape[axis];
            let bound =
                |bound: f64| if bound < 0.0 { bound + width as f64 } else { bound }.clamp(0.0, width as f64);
            if step.is_nan() || step < 1.0 {
                return Err(node.operand(&format!("a step of {step}"), "at least 1"));
            }
            let indices: Vec<usize> =
                (bound(start) as usize..bound(end) as usize).step_by(step as usize).collect();
            result = self.select(&result, axis, &indices)?;
        }
        Ok(result)
    }

    pub(super) fn split(&mut self, node: &Node<'_>) -> Result<Vec<Tensor>, Error> {
        let tensor = node.input(0)?;
        let axis = node.axis(node.integer("axis", 0), tensor.shape.len())?;
        let width = tensor.shape[axis];
        let sizes: Vec<usize> = match node.optional(1) {
            Some(_) => node.constants(1)?.into_iter().map(|size| size as usize).collect(),
            None => node.integers("split").iter().map(|&size| size.max(0) as usize).collect(),
        };
        let parts = node.proto.output.len().max(1);
        let equal = width.div_ceil(parts);
        let sizes = if sizes.is_empty() {
            (0..parts).map(|part| equal.min(width.saturating_sub(part * equal))).collect()
        } else {
            sizes
        };
        if sizes.iter().fold(0_usize, |sum, &size| sum.saturating_add(size)) != width {
            return Err(node.operand(&format!("parts of {sizes:?}"), &format!("parts of {width} together")));
        }
        let mut start = 0;
        let part = |size: usize| {
            let indices: Vec<usize> = (start..start + size).collect();
            start += size;
            self.select(tensor, axis, &indices)
        };
        sizes.into_iter().map(part).collect()
    }

    pub(super) fn concat(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let first = node.input(0)?;
        let axis =
            node.axis(node.integer("axis", if node.version < 4 { 1 } else { -1 }), first.shape.len())?;
        let mut shape = first.shape.clone();
        shape[axis] = 0;
        for index in 0..node.inputs.len() {
            let tensor = node.input(index)?;
            let fits =
                |(other, &size): (usize, &usize)| other == axis || Some(&size) == tensor.shape.get(other);
            let is_text = |tensor: &Tensor| tensor.kind == ElementKind::Text;
            if tensor.shape.len() != shape.len() || !shape.iter().enumerate().all(fits) {
                return Err(node
                    .shape(&tensor.shape, &format!("that of input 0, {:?}, but for the axis", first.shape)));
            }
            if is_text(tensor) != is_text(first) {
                return Err(node.operand("numbers and texts", "one or the other"));
            }
            shape[axis] += tensor.shape[axis];
        }
        self.spend(size(&shape)?)?;
        let mut elements = Vec::with_capacity(size(&shape)?);
        for outer in 0..size(&shape[..axis])? {
            for tensor in node.inputs.iter().flatten() {
                let chunk = size(&tensor.shape[axis..])?;
                elements.extend_from_slice(&tensor.elements[outer * chunk..][..chunk]);
            }
        }
        Ok(Tensor { shape, kind: first.kind, elements })
    }

    fn filled(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let shape = sizes(node, &node.constants(0)?)?;
        let (kind, value) = match node.tensor("value") {
            Some(value) => {
                let value = Tensor::read(value)?;
                let first = value.elements.first().cloned();
                (value.kind, first.ok_or_else(|| node.refuse("value", "empty", "one element"))?)
            }
            None => (ElementKind::Single, Element::Number(0.0)),
        };
        self.spend(size(&shape)?)?;
        let elements = vec![value; size(&shape)?];
        Ok(Tensor { shape, kind, elements })
    }

    fn expand(&mut self, node: &Node<'_>, tensor: &Tensor) -> Result<Tensor, Error> {
        let wanted = sizes(node, &node.constants(1)?)?;
        let shape = broadcast(&tensor.shape, &wanted);
        let shape =
            shape.ok_or_else(|| node.shape(&tensor.shape, &format!("one that stretches to {wanted:?}")))?;
        self.spend(size(&shape)?)?;
        let places = stretched(&tensor.shape, &shape);
        let elements = places.into_iter().map(|place| tensor.elements[place].clone()).collect();
        Ok(Tensor { shape, kind: tensor.kind, elements })
    }
}

fn constant(node: &Node<'_>) -> Result<Tensor, Error> {
    let Some(value) = node.proto.attribute.first() else {
        return Err(node.operand("no value", "one"));
    };
    Ok(match value.name.as_str() {
        "value" => match &value.t {
            Some(tensor) => Tensor::read(tensor)?,
            None => return Err(node.refuse("value", "absent", "a tensor")),
        },
        "value_float" => Tensor::numbers(vec![], ElementKind::Single, [f64::from(value.f)]),
        "value_floats" => {
            let numbers = value.floats.iter().map(|&number| f64::from(number));
            Tensor::numbers(vec![value.floats.len()], ElementKind::Single, numbers)
        }
        "value_int" => Tensor::numbers(vec![], ElementKind::Integer, [value.i as f64]),
        "value_ints" => {
            let numbers = value.ints.iter().map(|&number| number as f64);
            Tensor::numbers(vec![value.ints.len()], ElementKind::Integer, numbers)
        }
        _ => {
            let text: Rc<str> = node.text(&value.name, "")?.into();
            Tensor { shape: vec![], kind: ElementKind::Text, elements: vec![Element::Text(text)] }
        }
    })
}

fn reshape(node: &Node<'_>, tensor: &Tensor) -> Result<Tensor, Error> {
    let wanted = node.constants(1)?;
    let keeps_zero = node.integer("allowzero", 0) != 0;
    let expected = format!("{} elements", tensor.elements.len());
    let error = || node.shape(&wanted, &expected);
    let mut shape = Vec::with_capacity(wanted.len());
    for (axis, &wanted) in wanted.iter().enumerate() {
        shape.push(match wanted {
            -1.0 => 1,
            0.0 if !keeps_zero => *tensor.shape.get(axis).ok_or_else(error)?,
            size if size >= 0.0 => size as usize,
            _ => return Err(error()),
        });
    }
    let open: Vec<usize> = (0..wanted.len()).filter(|&axis| wanted[axis] == -1.0).collect();
    if let [axis] = open[..] {
        shape[axis] = tensor.elements.len().checked_div(size(&shape)?).unwrap_or(0);
    }
    if open.len() > 1 || size(&shape)? != tensor.elements.len() {
        return Err(error());
    }
    Ok(Tensor { shape, ..tensor.clone() })
}

fn transpose(node: &Node<'_>, tensor: &Tensor) -> Result<Tensor, Error> {
    let rank = tensor.shape.len();
    let order = match node.integers("perm") {
        [] => (0..rank).rev().collect(),
        order => counted(node, order, rank)?,
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted != (0..rank).collect::<Vec<_>>() {
        return Err(node.refuse("perm", format!("{order:?}"), &format!("each of {rank} axes once")));
    }
    Ok(transposed(tensor, &order))
}

/// The tensor with its axes in another order.
pub(super) fn transposed(tensor: &Tensor, order: &[usize]) -> Tensor {
    let stride = |axis: usize| tensor.shape[axis + 1..].iter().product::<usize>();
    let mut places = vec![0];
    for &axis in order {
        let step = |place: usize| (0..tensor.shape[axis]).map(move |i| place + i * stride(axis));
        places = places.into_iter().flat_map(step).collect();
    }
    Tensor {
        shape: order.iter().map(|&axis| tensor.shape[axis]).collect(),
        kind: tensor.kind,
        elements: places.into_iter().map(|place| tensor.elements[place].clone()).collect(),
    }
}

/// The axes of an operator, in an attribute or, since version 13, in an input.
pub(super) fn axes(node: &Node<'_>, input: usize) -> Result<Option<Vec<i64>>, Error> {
    Ok(match (node.optional(input), node.attribute("axes")) {
        (Some(_), _) => Some(node.constants(input)?.into_iter().map(|axis| axis as i64).collect()),
        (None, Some(axes)) => Some(axes.ints.clone()),
        (None, None) => None,
    })
}

/// Axes as indices; negative ones count from the end.
pub(super) fn counted(node: &Node<'_>, axes: &[i64], rank: usize) -> Result<Vec<usize>, Error> {
    if axes.len().max(rank) > AXES {
        return Err(Error::TooLarge { what: "axes of a tensor".into(), limit: AXES });
    }
    axes.iter().map(|&axis| node.axis(axis, rank)).collect()
}

/// Numbers as indices of an axis; negative ones count from its end.
fn indices(node: &Node<'_>, numbers: &[f64], width: usize) -> Result<Vec<usize>, Error> {
    let index = |&number: &f64| {
        let place = if number < 0.0 { number + width as f64 } else { number };
        let is_inside = place >= 0.0 && place < width as f64;
        let error = || node.operand(&format!("the index {number}"), &format!("one of {width} places"));
        if is_inside { Ok(place as usize) } else { Err(error()) }
    };
    numbers.iter().map(index).collect()
}

fn sizes(node: &Node<'_>, numbers: &[f64]) -> Result<Vec<usize>, Error> {
    let size =
        |&size: &f64| if size >= 0.0 { Ok(size as usize) } else { Err(node.shape(numbers, "sizes from 0")) };
    numbers.iter().map(size).collect()
}
