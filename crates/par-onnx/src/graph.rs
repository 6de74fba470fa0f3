//! The graph of a file: its inputs and outputs, and its lowering to a classifier.

use std::collections::BTreeSet;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::classifier::OnnxClassifier;
use crate::error::Error;
use crate::lower;
use crate::outputs;
use crate::proto::{self, GraphProto, ModelProto, ValueInfoProto};
use crate::tensor::{ElementKind, size};

/// Largest number of outputs.
const OUTPUTS: usize = 1000;

/// A graph as its file describes it.
#[derive(Clone, Debug)]
pub struct Graph {
    proto: ModelProto,
    inputs: Vec<Input>,
    /// For every input the sizes of its axes; `None` for an open size, and for an input without axes.
    sizes: Vec<Option<Vec<Option<usize>>>>,
    outputs: Vec<Output>,
}

/// An input tensor of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Number of values a row; `None` if the file leaves it open.
    pub width: Option<usize>,
    /// The kind of its values.
    pub kind: InputKind,
}

/// The kind of an input's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Numbers.
    Number,
    /// Whole numbers.
    Integer,
    /// Texts.
    Text,
}

/// An output tensor of the graph that may hold scores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The class of each column, if the file names them.
    pub classes: Vec<String>,
    /// The scale of its numbers.
    pub scale: Scale,
}

/// The scale of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Between zero and one.
    Probability,
    /// ln(p / (1 − p)); of more than two classes, a score of which the softmax is the probability.
    LogOdds,
    /// A predicted number, of a regression.
    Number,
}

impl Display for Scale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Probability => "probabilities",
            Self::LogOdds => "log-odds",
            Self::Number => "a predicted number",
        })
    }
}

/// Which columns of which output are the score.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoreChoice {
    /// The name of the output; by default the only one that holds scores.
    pub output: Option<String>,
    /// The columns of the accepted classes, or for an output of one column the accepted class (0 or 1); 1 by default,
    /// unless there are more than two columns.
    pub accepted: Option<Vec<usize>>,
    /// The scale of the score; by default that of the last operator.
    pub scale: Option<Scale>,
    /// What decides, of more than two classes.
    pub decision: Decision,
}

/// What decides whether the class of a row is an accepted one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The sum of the probabilities of the accepted classes.
    #[default]
    Sum,
    /// Whether the class of the largest probability is an accepted one.
    Largest,
}

impl Graph {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// When they are not an ONNX file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let proto = proto::decode(bytes)?;
        let graph = proto.graph.as_ref().filter(|graph| !graph.output.is_empty());
        let graph = graph.ok_or_else(|| Error::NotOnnx { reason: "it holds no graph".into() })?;
        if !graph.sparse_initializer.is_empty() {
            let tensor = "sparse_initializer".into();
            return Err(Error::Tensor {
                tensor,
                found: "sparse tensors".into(),
                expected: "dense ones".into(),
            });
        }
        let constants: BTreeSet<&str> = graph.initializer.iter().map(|own| own.name.as_str()).collect();
        let mut inputs = Vec::new();
        let mut sizes = Vec::new();
        for input in graph.input.iter().filter(|input| !constants.contains(input.name.as_str())) {
            let own = axes(input);
            inputs.push(Input { name: input.name.clone(), width: width(own.as_deref()), kind: kind(input)? });
            sizes.push(own);
        }
        if graph.output.len() > OUTPUTS {
            return Err(Error::TooLarge { what: "outputs".into(), limit: OUTPUTS });
        }
        let outputs = outputs::of(graph);
        Ok(Self { inputs, sizes, outputs, proto })
    }

    /// The input tensors, in the order of the file.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The output tensors that may hold scores.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Lowers the graph to a classifier. `widths` are those of the inputs, in their order.
    ///
    /// Tensors are evaluated symbolically, for one row and in single precision. Graphs in double precision
    /// may differ from onnxruntime where a computed number is within rounding of a tree's threshold.
    ///
    /// # Errors
    /// When there is no such output, an operator is not supported, or a width differs from the graph's.
    pub fn classifier(&self, widths: &[usize], choice: &ScoreChoice) -> Result<OnnxClassifier, Error> {
        let names = self.outputs.iter().map(|output| format!("`{}`", output.name)).collect::<Vec<_>>();
        let known = names.join(", ");
        let output = match (&choice.output, &self.outputs[..]) {
            (_, []) => return Err(Error::NoScores),
            (Some(name), all) => all.iter().find(|output| output.name == *name),
            (None, [only]) => Some(only),
            (None, _) => return Err(Error::SeveralOutputs { known }),
        };
        let Some(output) = output else {
            return Err(Error::NoOutput { found: choice.output.clone().unwrap_or_default(), known });
        };
        lower::classifier(self, widths, output, choice)
    }

    pub(crate) fn proto(&self) -> &GraphProto {
        self.proto.graph.as_ref().expect("read with a graph")
    }

    /// The version of the default operator set; the newest if the file names none.
    pub(crate) fn version(&self) -> i64 {
        let mut sets = self.proto.opset_import.iter();
        sets.find(|set| matches!(set.domain.as_str(), "" | "ai.onnx")).map_or(i64::MAX, |set| set.version)
    }

    /// The operators, by domain and name, that the file itself defines; they are not supported.
    pub(crate) fn functions(&self) -> BTreeSet<(&str, &str)> {
        let functions = self.proto.functions.iter();
        functions.map(|function| (function.domain.as_str(), function.name.as_str())).collect()
    }

    /// The shapes of the inputs for one row.
    pub(crate) fn shapes(&self, widths: &[usize]) -> Result<Vec<Vec<usize>>, Error> {
        if widths.len() != self.inputs.len() {
            return Err(Error::Widths { found: widths.len(), expected: self.inputs.len() });
        }
        let inputs = self.inputs.iter().zip(&self.sizes).zip(widths);
        inputs.map(|((input, sizes), &width)| shape(input, sizes.as_deref(), width)).collect()
    }
}

/// The sizes of the axes of an input.
fn axes(input: &ValueInfoProto) -> Option<Vec<Option<usize>>> {
    let shape = input.r#type.as_ref()?.tensor_type.as_ref()?.shape.as_ref()?;
    let size =
        |value: Option<i64>| value.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0);
    Some(shape.dim.iter().map(|dimension| size(dimension.dim_value)).collect())
}

/// The values a row: the product of all axes but the first, which is the batch. A single axis is the batch if
/// it is open, and the values otherwise.
fn width(axes: Option<&[Option<usize>]>) -> Option<usize> {
    match axes? {
        [] | [None] => Some(1),
        [one] => *one,
        [_, rest @ ..] => {
            let sizes: Option<Vec<usize>> = rest.iter().copied().collect();
            size(&sizes?).ok()
        }
    }
}

fn kind(input: &ValueInfoProto) -> Result<InputKind, Error> {
    let error = |found: String| Error::InputKind { input: input.name.clone(), found };
    let Some(own) = input.r#type.as_ref() else { return Ok(InputKind::Number) };
    let Some(tensor) = &own.tensor_type else {
        return Err(error("a sequence or a map".into()));
    };
    match ElementKind::of(tensor.elem_type) {
        Some(ElementKind::Single | ElementKind::Double) => Ok(InputKind::Number),
        Some(ElementKind::Integer | ElementKind::Boolean) => Ok(InputKind::Integer),
        Some(ElementKind::Text) => Ok(InputKind::Text),
        None => Err(error(format!("elements of type {}", tensor.elem_type))),
    }
}

/// The shape of an input for one row of `width` values.
fn shape(input: &Input, axes: Option<&[Option<usize>]>, width: usize) -> Result<Vec<usize>, Error> {
    let error = |expected: String| Error::Width { input: input.name.clone(), found: width, expected };
    if let Some(expected) = input.width.filter(|&own| own != width) {
        return Err(error(expected.to_string()));
    }
    match axes {
        None => Ok(vec![1, width]),
        Some([]) => Ok(vec![]),
        Some([_]) => Ok(vec![width]),
        Some([_, rest @ ..]) => {
            let known: usize = size(&rest.iter().flatten().copied().collect::<Vec<_>>())?;
            let open = rest.iter().filter(|size| size.is_none()).count();
            if open > 1 && width != known {
                return Err(error(format!("a shape with one open axis, found {open}")));
            }
            if !width.is_multiple_of(known) {
                return Err(error(format!("a multiple of {known}")));
            }
            let open_size = if open == 1 { width / known } else { 1 };
            Ok([1].into_iter().chain(rest.iter().map(|size| size.unwrap_or(open_size))).collect())
        }
    }
}
