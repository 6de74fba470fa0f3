//! Lowers a graph to a classifier: evaluates it once, for one row whose inputs are symbols.
//!
//! | file            | elements after its operators                                                       |
//! |-----------------|------------------------------------------------------------------------------------|
//! | [`structure`]   | the same, at other positions                                                       |
//! | [`elementwise`] | with a constant: a longer source, a scaled sum, or a unit of the next hidden layer |
//! | [`encode`]      | codes or one-hot columns of categories                                             |
//! | [`linear`]      | weighted sums, as an [`affine::AffineForm`]                                        |
//! | [`scores`]      | probabilities of one class or the other                                            |
//! | [`trees`]       | columns of tree ensembles                                                          |
//! | [`end`]         | the log-odds                                                                       |

pub(crate) mod affine;
pub(crate) mod elementwise;
mod encode;
mod end;
mod linear;
#[cfg(test)]
mod refusals;
mod scores;
mod sources;
mod structure;
#[cfg(test)]
mod tests;
pub(crate) mod trees;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::classifier::OnnxClassifier;
use crate::error::Error;
use crate::graph::{Graph, InputKind, Output, ScoreChoice};
use crate::node::{self, Node};
use crate::proto::{GraphProto, NodeProto};
use crate::tensor::{Element, ElementKind, Tensor, TextInput};
use affine::HiddenLayer;
use sources::Sources;
use trees::TreeEnsemble;

/// Every supported operator: its domain (`ml` for `ai.onnx.ml`), name and attributes.
const OPERATORS: &[(&str, &str, &[&str])] = &[
    ("", "Abs", &[]),
    ("", "Add", &[]),
    ("", "BatchNormalization", &["epsilon", "momentum", "spatial", "training_mode"]),
    ("", "Cast", &["saturate", "to"]),
    ("", "Celu", &["alpha"]),
    ("", "Clip", &["max", "min"]),
    ("", "Concat", &["axis"]),
    ("", "Constant", &["value", "value_float", "value_floats", "value_int", "value_ints", "value_string"]),
    ("", "ConstantOfShape", &["value"]),
    ("", "Div", &[]),
    ("", "Dropout", &["ratio", "seed"]),
    ("", "Elu", &["alpha"]),
    ("", "Equal", &[]),
    ("", "Exp", &[]),
    ("", "Expand", &[]),
    ("", "Flatten", &["axis"]),
    ("", "Gather", &["axis"]),
    ("", "Gemm", &["alpha", "beta", "transA", "transB"]),
    ("", "Greater", &[]),
    ("", "GreaterOrEqual", &[]),
    ("", "HardSigmoid", &["alpha", "beta"]),
    ("", "Identity", &[]),
    ("", "IsNaN", &[]),
    ("", "LeakyRelu", &["alpha"]),
    ("", "Less", &[]),
    ("", "LessOrEqual", &[]),
    ("", "Log", &[]),
    ("", "LogSoftmax", &["axis"]),
    ("", "MatMul", &[]),
    ("", "Max", &[]),
    ("", "Min", &[]),
    ("", "Mul", &[]),
    ("", "Neg", &[]),
    ("", "Not", &[]),
    ("", "OneHot", &["axis"]),
    ("", "PRelu", &[]),
    ("", "ReduceMean", &["axes", "keepdims", "noop_with_empty_axes"]),
    ("", "ReduceSum", &["axes", "keepdims", "noop_with_empty_axes"]),
    ("", "Relu", &[]),
    ("", "Reshape", &["allowzero"]),
    ("", "Selu", &["alpha", "gamma"]),
    ("", "Shape", &["end", "start"]),
    ("", "Sigmoid", &[]),
    ("", "Slice", &["axes", "ends", "starts"]),
    ("", "Softmax", &["axis"]),
    ("", "Softplus", &[]),
    ("", "Split", &["axis", "num_outputs", "split"]),
    ("", "Sqrt", &[]),
    ("", "Squeeze", &["axes"]),
    ("", "Sub", &[]),
    ("", "Sum", &[]),
    ("", "Tanh", &[]),
    ("", "Transpose", &["perm"]),
    ("", "Unsqueeze", &["axes"]),
    ("", "Where", &[]),
    ("ml", "ArrayFeatureExtractor", &[]),
    ("ml", "Binarizer", &["threshold"]),
    ("ml", "FeatureVectorizer", &["inputdimensions"]),
    ("ml", "Imputer", encode::IMPUTER),
    ("ml", "LabelEncoder", encode::LABEL_ENCODER),
    ("ml", "LinearClassifier", scores::CLASSIFIER),
    ("ml", "LinearRegressor", &["coefficients", "intercepts", "post_transform", "targets"]),
    ("ml", "Normalizer", &["norm"]),
    ("ml", "OneHotEncoder", &["cats_int64s", "cats_strings", "zeros"]),
    ("ml", "Scaler", &["offset", "scale"]),
    ("ml", "TreeEnsembleClassifier", trees::CLASSIFIER),
    ("ml", "TreeEnsembleRegressor", trees::REGRESSOR),
    ("ml", "ZipMap", &["classlabels_int64s", "classlabels_strings"]),
];

/// Largest number of elements, terms and tree nodes of a graph, of about sixteen bytes each.
const PIECES: usize = 1 << 25;
/// Largest number of multiplications when weights are combined.
const PRODUCTS: usize = 1 << 30;

/// The state of the evaluation.
#[derive(Default)]
pub(crate) struct Lowering {
    pub(crate) sources: Sources,
    /// The hidden layers.
    pub(crate) layers: Vec<HiddenLayer>,
    pub(crate) ensembles: Vec<TreeEnsemble>,
    pieces: usize,
    products: usize,
}

/// The classifier for the score of an output, which is one of the graph's.
pub(crate) fn classifier(
    graph: &Graph,
    widths: &[usize],
    output: &Output,
    choice: &ScoreChoice,
) -> Result<OnnxClassifier, Error> {
    let mut lowering = Lowering::default();
    let proto = graph.proto();
    let mut tensors: BTreeMap<&str, Rc<Tensor>> = BTreeMap::new();
    let mut width = 0;
    for (input, (shape, &own)) in graph.inputs().iter().zip(graph.shapes(widths)?.into_iter().zip(widths)) {
        lowering.spend(own)?;
        let places = width..width + own;
        let (kind, elements) = match input.kind {
            InputKind::Number => {
                (ElementKind::Single, places.map(|place| lowering.sources.input(place)).collect())
            }
            InputKind::Integer => {
                (ElementKind::Integer, places.map(|place| lowering.sources.input(place)).collect())
            }
            InputKind::Text => (ElementKind::Text, places.map(word).collect()),
        };
        tensors.insert(&input.name, Rc::new(Tensor { shape, kind, elements }));
        width += own;
    }
    let needed = needed(proto, &output.name);
    let functions = graph.functions();
    let constants: BTreeMap<&str, _> = proto.initializer.iter().map(|own| (own.name.as_str(), own)).collect();
    for (index, own) in proto.node.iter().enumerate().filter(|(index, _)| needed[*index]) {
        let mut inputs = Vec::with_capacity(own.input.len());
        for name in &own.input {
            if let (None, Some(constant)) = (tensors.get(name.as_str()), constants.get(name.as_str())) {
                let tensor = Tensor::read(constant)?;
                tensors.insert(name, Rc::new(tensor));
            }
            let tensor = tensors.get(name.as_str()).cloned();
            if tensor.is_none() && !name.is_empty() {
                return Err(Error::Undefined { node: node::name(own, index), tensor: name.clone() });
            }
            lowering.spend(tensor.as_ref().map_or(1, |tensor| tensor.volume()))?;
            inputs.push(tensor);
        }
        let node = Node { proto: own, index, inputs, version: graph.version() };
        let outputs = lowering.outputs(&functions, &node)?;
        for (name, tensor) in own.output.iter().zip(outputs) {
            lowering.spend(tensor.volume())?;
            tensors.insert(name, Rc::new(tensor));
        }
    }
    let Some(scores) = tensors.get(output.name.as_str()) else {
        return Err(Error::Undefined { node: "the end of the graph".into(), tensor: output.name.clone() });
    };
    lowering.end(width, output, scores, choice)
}

fn word(input: usize) -> Element {
    Element::TextInput(Rc::new(TextInput { input, renamed: Vec::new(), other: None }))
}

/// For each node, whether the output depends on it.
fn needed(graph: &GraphProto, output: &str) -> Vec<bool> {
    let nodes = graph.node.iter().enumerate();
    let makers = nodes.flat_map(|(index, node)| node.output.iter().map(move |name| (name.as_str(), index)));
    let makers: BTreeMap<&str, usize> = makers.collect();
    let mut needed = vec![false; graph.node.len()];
    let mut open: Vec<usize> = makers.get(output).copied().into_iter().collect();
    while let Some(index) = open.pop() {
        if !needed[index] {
            needed[index] = true;
            open.extend(graph.node[index].input.iter().filter_map(|name| makers.get(name.as_str())));
        }
    }
    needed
}

/// The domain's name in [`OPERATORS`].
fn domain(node: &NodeProto) -> &str {
    match node.domain.as_str() {
        "" | "ai.onnx" => "",
        "ai.onnx.ml" => "ml",
        other => other,
    }
}

impl Lowering {
    /// Counts elements, terms or nodes before they are allocated.
    pub(crate) fn spend(&mut self, pieces: usize) -> Result<(), Error> {
        self.pieces = self.pieces.saturating_add(pieces);
        let error = || Error::TooLarge { what: "elements, weights and nodes of trees".into(), limit: PIECES };
        if self.pieces > PIECES { Err(error()) } else { Ok(()) }
    }

    /// Counts multiplications before they are made.
    pub(crate) fn multiply(&mut self, products: usize) -> Result<(), Error> {
        self.products = self.products.saturating_add(products);
        let error = || Error::TooLarge { what: "products of weights".into(), limit: PRODUCTS };
        if self.products > PRODUCTS { Err(error()) } else { Ok(()) }
    }

    /// The output tensors of a node.
    fn outputs(&mut self, functions: &BTreeSet<(&str, &str)>, node: &Node<'_>) -> Result<Vec<Tensor>, Error> {
        let domain = domain(node.proto);
        let operator = node.proto.op_type.as_str();
        let known = OPERATORS.iter().find(|(own, name, _)| *own == domain && *name == operator);
        let Some((_, _, attributes)) = known.filter(|_| !functions.contains(&(&node.proto.domain, operator)))
        else {
            return Err(unsupported(node));
        };
        if let Some(other) = node.proto.attribute.iter().find(|own| !attributes.contains(&own.name.as_str()))
        {
            let found = if other.g.is_some() || !other.graphs.is_empty() { "a subgraph" } else { "there" };
            return Err(Error::Attribute {
                node: node.name(),
                attribute: other.name.clone(),
                found: found.into(),
                expected: "an attribute that is supported".into(),
            });
        }
        let one = match operator {
            "Split" => return self.split(node),
            // The first output is the labels, which no supported operator reads.
            "LinearClassifier" => return Ok(vec![no_labels(), self.linear_classifier(node)?]),
            "TreeEnsembleClassifier" => return Ok(vec![no_labels(), self.tree_classifier(node)?]),
            "TreeEnsembleRegressor" => self.tree_regressor(node),
            "LinearRegressor" => self.linear_regressor(node),
            "MatMul" => self.matmul(node),
            "Gemm" => self.gemm(node),
            "ReduceSum" | "ReduceMean" => self.reduce(node),
            "BatchNormalization" => self.batch_normalization(node),
            "Softmax" => self.softmax(node, false),
            "LogSoftmax" => self.softmax(node, true),
            "Normalizer" => self.normalizer(node),
            "Cast" => self.cast(node),
            "Where" => self.choose(node),
            "Sum" => self.sum(node),
            "Add" | "Sub" | "Mul" | "Div" | "Min" | "Max" | "PRelu" | "Equal" | "Less" | "LessOrEqual"
            | "Greater" | "GreaterOrEqual" => self.binary(node),
            "OneHot" | "OneHotEncoder" => self.one_hot(node),
            "LabelEncoder" => self.label_encoder(node),
            "Imputer" | "Scaler" => self.column_by_column(node),
            "Gather" => self.gather(node),
            "Concat" | "FeatureVectorizer" => self.concat(node),
            "ArrayFeatureExtractor"
            | "Constant"
            | "ConstantOfShape"
            | "Dropout"
            | "Expand"
            | "Flatten"
            | "Identity"
            | "Reshape"
            | "Shape"
            | "Slice"
            | "Squeeze"
            | "Transpose"
            | "Unsqueeze"
            | "ZipMap" => self.rearrange(node),
            _ => self.unary(node),
        };
        Ok(vec![one?])
    }
}

/// The tensor in place of labels, which are not scores.
fn no_labels() -> Tensor {
    Tensor { shape: vec![0], kind: ElementKind::Integer, elements: Vec::new() }
}

fn unsupported(node: &Node<'_>) -> Error {
    let names: Vec<&str> = OPERATORS.iter().map(|(_, name, _)| *name).collect();
    Error::Operator {
        node: node.name(),
        operator: node.proto.op_type.clone(),
        domain: if node.proto.domain.is_empty() { "ai.onnx".into() } else { node.proto.domain.clone() },
        supported: names.join(", "),
    }
}
