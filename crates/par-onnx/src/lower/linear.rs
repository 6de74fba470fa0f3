//! Linear operators: matrix products, sums and batch normalization.

use crate::classifier::Step;
use crate::error::Error;
use crate::lower::Lowering;
use crate::lower::structure::{axes, counted, transposed};
use crate::node::Node;
use crate::tensor::{Element, ElementKind, Tensor, size, stretched};

impl Lowering {
    /// The sum of all inputs.
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

    /// A matrix product with one constant factor. The left factor may have more than two axes, and both may
    /// if the others have size one.
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
        let alpha = Tensor::numbers(vec![], ElementKind::Single, [f64::from(node.float("alpha", 1.0))]);
        let scaled = self.combined(node, "Mul", &product, &alpha)?;
        let Some(bias) = node.optional(2) else { return Ok(scaled) };
        let beta = Tensor::numbers(vec![], ElementKind::Single, [f64::from(node.float("beta", 1.0))]);
        let bias = self.combined(node, "Mul", bias, &beta)?;
        let sum = self.combined(node, "Add", &scaled, &bias)?;
        if sum.shape == scaled.shape {
            Ok(sum)
        } else {
            Err(node.shape(&bias.shape, "the shape of the product"))
        }
    }

    /// The outputs of a linear model.
    pub(super) fn linear(&mut self, node: &Node<'_>, outputs: usize) -> Result<Vec<Element>, Error> {
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

    /// Scale and shift by the learned statistics, combined in the order of onnxruntime.
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
