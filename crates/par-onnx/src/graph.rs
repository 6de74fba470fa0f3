//! What a file says of its graph, and the way from there to a model.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::model::Model;

/// A graph as its file describes it.
#[derive(Clone, Debug)]
pub struct Graph {
    inputs: Vec<Input>,
    outputs: Vec<Output>,
}

/// A tensor that the graph expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// How many values a row has of it; absent where the file leaves it open.
    pub width: Option<usize>,
    /// What they are.
    pub kind: InputKind,
}

/// What the values of an input are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Numbers.
    Number,
    /// Whole numbers.
    Integer,
    /// Texts.
    Text,
}

/// A tensor that the graph gives and that may hold scores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The classes that its columns stand for, where the file names them.
    pub classes: Vec<String>,
    /// What its numbers are.
    pub scale: Scale,
}

/// What a score is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Between zero and one.
    Probability,
    /// ln(p / (1 − p)).
    LogOdds,
}

/// Which number of a graph's outputs is the score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The output by name; the only one that holds scores unless told.
    pub output: Option<String>,
    /// The column, or of an output of one column the class (0 or 1), that stands for acceptance.
    pub accepted: usize,
    /// What the score is; as the graph ends unless told.
    pub scale: Option<Scale>,
}

impl Graph {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// When they are no ONNX file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let _ = bytes;
        Err(Error::NotOnnx { reason: String::new() })
    }

    /// The tensors that the graph expects, in the order of the file.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The tensors that may hold scores.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The model that gives a score. `widths` are those of the inputs, in their order.
    ///
    /// # Errors
    /// When there is no such output, an operator is not supported, or a width is another than the graph's.
    pub fn model(&self, widths: &[usize], choice: &Choice) -> Result<Model, Error> {
        let _ = (widths, choice);
        Err(Error::NotOnnx { reason: String::new() })
    }
}
