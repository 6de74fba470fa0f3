//! The outputs of a graph that may hold scores, and their classes. Only the last operators are read, since
//! widths are not known yet.

use std::collections::BTreeMap;

use crate::graph::{Output, Scale};
use crate::proto::{AttributeProto, GraphProto, NodeProto, TensorProto, ValueInfoProto};
use crate::tensor::{Element, ElementKind, Tensor};

/// Largest number of operators that are followed from an output.
const STEPS: usize = 32;
/// Largest number of classes that are listed.
const CLASSES: usize = 100;

/// The outputs that may hold scores.
pub(crate) fn of(graph: &GraphProto) -> Vec<Output> {
    let ends = OutputTracer::new(graph);
    graph
        .output
        .iter()
        .filter(|output| may_hold_scores(output))
        .map(|output| ends.output(&output.name))
        .collect()
}

/// Labels are integers or texts; a sequence holds maps from class to score.
fn may_hold_scores(output: &ValueInfoProto) -> bool {
    let tensor = output.r#type.as_ref().and_then(|own| own.tensor_type.as_ref());
    tensor.is_none_or(|tensor| {
        !matches!(
            ElementKind::of(tensor.elem_type),
            Some(ElementKind::Integer | ElementKind::Boolean | ElementKind::Text)
        )
    })
}

/// Follows a graph backwards from its outputs.
struct OutputTracer<'a> {
    makers: BTreeMap<&'a str, &'a NodeProto>,
    constants: BTreeMap<&'a str, &'a TensorProto>,
    /// The tensor of the best class, by the tensor of scores.
    best: BTreeMap<&'a str, &'a str>,
    /// The tensor of classes, by the tensor of indices that selects from it.
    picked: BTreeMap<&'a str, &'a str>,
}

impl<'a> OutputTracer<'a> {
    fn new(graph: &'a GraphProto) -> Self {
        let all = |operator: &'static str| graph.node.iter().filter(move |node| node.op_type == operator);
        let names = |node: &'a NodeProto| node.output.iter().map(move |name| (name.as_str(), node));
        let pair = |names: &'a [String]| Some((names.first()?.as_str(), names.get(1)?.as_str()));
        Self {
            makers: graph.node.iter().flat_map(names).collect(),
            constants: graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect(),
            best: all("ArgMax")
                .filter_map(|node| Some((node.input.first()?.as_str(), node.output.first()?.as_str())))
                .collect(),
            picked: all("ArrayFeatureExtractor")
                .filter_map(|node| pair(&node.input))
                .map(|(classes, by)| (by, classes))
                .collect(),
        }
    }

    fn output(&self, name: &str) -> Output {
        let mut output = Output { name: name.into(), classes: Vec::new(), scale: Scale::LogOdds };
        let mut is_whole = true;
        let mut tensor = name;
        for _ in 0..STEPS {
            if is_whole && output.classes.is_empty() {
                output.classes = self.picked_classes(tensor);
            }
            let Some(node) = self.makers.get(tensor) else { break };
            let computed = || node.input.iter().find(|name| !self.constants.contains_key(name.as_str()));
            let classes = || if is_whole { classes(node) } else { Vec::new() };
            let next = match node.op_type.as_str() {
                "Cast" | "Identity" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Dropout" | "Abs"
                | "Div" => node.input.first(),
                "ZipMap" => {
                    output.classes = classes();
                    node.input.first()
                }
                "Slice" | "Gather" | "Split" | "ArrayFeatureExtractor" => {
                    is_whole = false;
                    node.input.first()
                }
                "Mul" | "Add" | "Sub" | "Sum" | "ReduceMean" => computed(),
                "Concat" => node.input.last(),
                "Normalizer" => {
                    output.scale = Scale::Probability;
                    node.input.first()
                }
                "Sigmoid" | "Softmax" | "Exp" => {
                    output.scale = Scale::Probability;
                    None
                }
                "LinearClassifier"
                | "TreeEnsembleClassifier"
                | "LinearRegressor"
                | "TreeEnsembleRegressor" => {
                    if output.classes.is_empty() {
                        output.classes = classes();
                    }
                    if are_probabilities(node) {
                        output.scale = Scale::Probability;
                    }
                    None
                }
                _ => None,
            };
            match next {
                Some(name) => tensor = name,
                None => break,
            }
        }
        output
    }

    /// The classes from which the label of the best column is selected.
    fn picked_classes(&self, tensor: &str) -> Vec<String> {
        let classes = self.best.get(tensor).and_then(|best| self.picked.get(best));
        let classes = classes.and_then(|classes| self.constants.get(classes));
        let classes =
            classes.filter(|classes| matches!(classes.dims[..], [count] if count <= CLASSES as i64));
        let classes = classes.and_then(|classes| Tensor::read(classes).ok());
        let name = |element: Element| match element {
            Element::Text(text) => Some(text.to_string()),
            element => element.number().map(|number| number.to_string()),
        };
        classes.map_or(Vec::new(), |classes| classes.elements.into_iter().filter_map(name).collect())
    }
}

/// The classes in an operator's attributes.
fn classes(node: &NodeProto) -> Vec<String> {
    let named = node.attribute.iter().filter(|attribute| attribute.name.starts_with("classlabels_"));
    let names = |own: &AttributeProto| {
        let texts = own.strings.iter().take(CLASSES).map(|own| String::from_utf8_lossy(own).into_owned());
        own.ints.iter().take(CLASSES).map(i64::to_string).chain(texts).collect::<Vec<_>>()
    };
    named.flat_map(names).collect()
}

/// Whether an operator of `ai.onnx.ml` computes probabilities. onnxruntime ignores `SOFTMAX` for trees with
/// leaves of one class only.
fn are_probabilities(node: &NodeProto) -> bool {
    let attribute = |name: &str| node.attribute.iter().find(|attribute| attribute.name == name);
    let weights = attribute("class_weights").map_or(&[][..], |own| &own.floats);
    let is_one_class = attribute("class_ids").is_some_and(|own| own.ints.iter().all(|&class| class == 0));
    match attribute("post_transform").map_or(&b"NONE"[..], |own| &own.s) {
        b"SOFTMAX" if !is_one_class => true,
        b"NONE" | b"SOFTMAX" => !weights.is_empty() && weights.iter().all(|&weight| weight >= 0.0),
        _ => true,
    }
}
