//! Small graphs for tests.

use prost::Message;

use crate::classifier::OnnxClassifier;
use crate::graph::{Graph, Scale, ScoreChoice};
use crate::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, ShapeProto, TensorProto,
    TensorTypeProto, TypeProto, ValueInfoProto,
};

/// A graph from the numbers `x` to `out`.
pub(crate) struct TestGraph {
    pub(crate) proto: ModelProto,
    pub(crate) choice: ScoreChoice,
}

/// A graph whose input has `width` numbers.
pub(crate) fn graph(width: i64) -> TestGraph {
    let choice = ScoreChoice::default();
    let proto = ModelProto { graph: Some(GraphProto::default()), ..Default::default() };
    let mut made = TestGraph { proto, choice };
    made.graph().input.push(value("x", 1, &[None, Some(width)]));
    made.graph().output.push(value("out", 1, &[]));
    made
}

/// An input or output with a type and a shape.
pub(crate) fn value(name: &str, elem_type: i32, sizes: &[Option<i64>]) -> ValueInfoProto {
    let dim = sizes.iter().map(|&dim_value| DimensionProto { dim_value }).collect();
    let tensor_type = Some(TensorTypeProto { elem_type, shape: Some(ShapeProto { dim }) });
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { tensor_type, ..Default::default() }) }
}

pub(crate) fn integer(name: &str, i: i64) -> AttributeProto {
    AttributeProto { name: name.into(), i, ..Default::default() }
}

pub(crate) fn integers(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { name: name.into(), ints: ints.into(), ..Default::default() }
}

pub(crate) fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto { name: name.into(), f, ..Default::default() }
}

pub(crate) fn floats(name: &str, floats: &[f32]) -> AttributeProto {
    AttributeProto { name: name.into(), floats: floats.into(), ..Default::default() }
}

pub(crate) fn text(name: &str, s: &str) -> AttributeProto {
    AttributeProto { name: name.into(), s: s.into(), ..Default::default() }
}

pub(crate) fn texts(name: &str, strings: &[&str]) -> AttributeProto {
    let strings = strings.iter().map(|text| text.as_bytes().to_vec()).collect();
    AttributeProto { name: name.into(), strings, ..Default::default() }
}

impl TestGraph {
    pub(crate) fn graph(&mut self) -> &mut GraphProto {
        self.proto.graph.as_mut().expect("made with a graph")
    }

    /// Adds an operator; its inputs and outputs are separated by commas. The domain is `ai.onnx.ml` if the
    /// name has a dot.
    pub(crate) fn node(
        mut self,
        operator: &str,
        inputs: &str,
        output: &str,
        attributes: &[AttributeProto],
    ) -> Self {
        let names = |names: &str| names.split(',').map(Into::into).collect();
        let (domain, op_type) = match operator.strip_prefix("ml.") {
            Some(name) => ("ai.onnx.ml", name),
            None => ("", operator),
        };
        self.graph().node.push(NodeProto {
            input: names(inputs),
            output: names(output),
            name: String::new(),
            op_type: op_type.into(),
            attribute: attributes.into(),
            domain: domain.into(),
        });
        self
    }

    /// Adds a constant.
    pub(crate) fn constant(mut self, name: &str, dims: &[i64], numbers: &[f32]) -> Self {
        let tensor = TensorProto { name: name.into(), dims: dims.into(), data_type: 1, ..Default::default() };
        self.graph().initializer.push(TensorProto { float_data: numbers.into(), ..tensor });
        self
    }

    pub(crate) fn accepted(mut self, accepted: &[usize]) -> Self {
        self.choice.accepted = Some(accepted.into());
        self
    }

    pub(crate) fn scale(mut self, scale: Scale) -> Self {
        self.choice.scale = Some(scale);
        self
    }

    pub(crate) fn read(&self) -> Result<Graph, crate::Error> {
        Graph::from_bytes(&self.proto.encode_to_vec())
    }

    pub(crate) fn classifier(&self, widths: &[usize]) -> Result<OnnxClassifier, crate::Error> {
        self.read()?.classifier(widths, &self.choice)
    }

    /// The error for the input's own width.
    pub(crate) fn refusal(&self) -> String {
        let graph = match self.read() {
            Ok(graph) => graph,
            Err(error) => return error.to_string(),
        };
        let widths: Vec<usize> = graph.inputs().iter().map(|input| input.width.unwrap_or(2)).collect();
        graph.classifier(&widths, &self.choice).expect_err("refused").to_string()
    }
}
