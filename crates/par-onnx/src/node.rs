//! One operator of a graph: its inputs, its attributes, and its name in errors.

use std::fmt::{Debug, Display};
use std::rc::Rc;

use crate::error::Error;
use crate::proto::{AttributeProto, NodeProto, TensorProto};
use crate::tensor::Tensor;

/// An operator and its input tensors.
pub(crate) struct Node<'a> {
    pub(crate) proto: &'a NodeProto,
    /// Its position among the nodes.
    pub(crate) index: usize,
    /// In the order of the operator; `None` for optional inputs that are absent.
    pub(crate) inputs: Vec<Option<Rc<Tensor>>>,
    /// The version of the default operator set.
    pub(crate) version: i64,
}

/// The name of a node in errors.
pub(crate) fn name(proto: &NodeProto, index: usize) -> String {
    if proto.name.is_empty() {
        format!("node {index} ({})", proto.op_type)
    } else {
        format!("node `{}` ({})", proto.name, proto.op_type)
    }
}

impl<'a> Node<'a> {
    pub(crate) fn name(&self) -> String {
        name(self.proto, self.index)
    }

    /// A required input.
    pub(crate) fn input(&self, index: usize) -> Result<&Tensor, Error> {
        self.optional(index).ok_or_else(|| {
            let found = format!("{} inputs", self.inputs.iter().flatten().count());
            self.operand(&found, &format!("an input {index}"))
        })
    }

    /// An optional input.
    pub(crate) fn optional(&self, index: usize) -> Option<&Tensor> {
        self.inputs.get(index)?.as_deref()
    }

    /// The numbers of an input that must be constant.
    pub(crate) fn constants(&self, index: usize) -> Result<Vec<f64>, Error> {
        let numbers = self.input(index)?.constants();
        numbers.ok_or_else(|| self.operand(&format!("a computed input {index}"), "a constant"))
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&'a AttributeProto> {
        self.proto.attribute.iter().find(|attribute| attribute.name == name)
    }

    pub(crate) fn integer(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.i)
    }

    pub(crate) fn float(&self, name: &str, default: f32) -> f32 {
        self.attribute(name).map_or(default, |attribute| attribute.f)
    }

    pub(crate) fn integers(&self, name: &str) -> &'a [i64] {
        self.attribute(name).map_or(&[], |attribute| &attribute.ints)
    }

    pub(crate) fn floats(&self, name: &str) -> &'a [f32] {
        self.attribute(name).map_or(&[], |attribute| &attribute.floats)
    }

    pub(crate) fn tensor(&self, name: &str) -> Option<&'a TensorProto> {
        self.attribute(name)?.t.as_ref()
    }

    /// The numbers of an attribute, or of the tensor attribute in its place.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>, Error> {
        match self.tensor(&format!("{name}_as_tensor")) {
            Some(tensor) => Tensor::read(tensor)?.constants().ok_or_else(|| Error::Tensor {
                tensor: format!("{name}_as_tensor"),
                found: "texts".into(),
                expected: "numbers".into(),
            }),
            None => Ok(self.floats(name).iter().map(|&number| f64::from(number)).collect()),
        }
    }

    pub(crate) fn text(&self, name: &str, default: &'static str) -> Result<&'a str, Error> {
        self.attribute(name).map_or(Ok(default), |attribute| self.utf8(name, &attribute.s))
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Vec<Rc<str>>, Error> {
        let all = self.attribute(name).map_or(&[][..], |attribute| &attribute.strings);
        all.iter().map(|bytes| Ok(self.utf8(name, bytes)?.into())).collect()
    }

    fn utf8(&self, name: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
        std::str::from_utf8(bytes).map_err(|_| self.refuse(name, "no UTF-8", "a text"))
    }

    /// The error for an unsupported value of an attribute.
    pub(crate) fn refuse(&self, attribute: &str, found: impl Display, expected: &str) -> Error {
        Error::Attribute {
            node: self.name(),
            attribute: attribute.into(),
            found: format!("`{found}`"),
            expected: expected.into(),
        }
    }

    /// The error for an unsupported tensor.
    pub(crate) fn operand(&self, found: &str, expected: &str) -> Error {
        Error::Operand { node: self.name(), found: found.into(), expected: expected.into() }
    }

    /// The error for an unsupported shape.
    pub(crate) fn shape(&self, found: impl Debug, expected: &str) -> Error {
        self.operand(&format!("the shape {found:?}"), expected)
    }

    /// The index of an axis; a negative one counts from the end.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> Result<usize, Error> {
        let counted = if axis < 0 {
            i64::try_from(rank).ok().and_then(|rank| rank.checked_add(axis))
        } else {
            Some(axis)
        };
        let found = counted.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < rank);
        found.ok_or_else(|| self.refuse("axis", axis, &format!("one of {rank} axes")))
    }
}
