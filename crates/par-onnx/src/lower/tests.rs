//! Tests over all small graphs: every operator occurs, and no damaged graph panics.

use proptest::prelude::*;
use prost::Message;

use super::*;
use crate::graph::{Decision, Scale};
use crate::proto::{ModelProto, TensorProto};

fn graphs() -> Vec<ModelProto> {
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../tests/operators/operators.json")).expect("graphs");
    let bytes = |case: &serde_json::Value| {
        let digits = case["graph"].as_str().expect("a graph").chars();
        let digits: Vec<u8> = digits.map(|digit| digit.to_digit(16).expect("hexadecimal") as u8).collect();
        digits.chunks_exact(2).map(|pair| (pair[0] << 4) | pair[1]).collect::<Vec<u8>>()
    };
    cases.iter().map(|case| ModelProto::decode(&bytes(case)[..]).expect("a graph")).collect()
}

#[test]
fn every_supported_operator_is_tried() {
    let mut tried: BTreeSet<String> = BTreeSet::new();
    for model in graphs() {
        let nodes = model.graph.expect("a graph").node;
        tried.extend(nodes.iter().map(|node| format!("{} {}", domain(node), node.op_type)));
    }
    // Its output is not a tensor; the fixtures of scikit-learn cover it.
    tried.insert("ml ZipMap".into());
    let known: BTreeSet<String> =
        OPERATORS.iter().map(|(domain, name, _)| format!("{domain} {name}")).collect();
    assert_eq!(tried, known);
}

/// One change of a graph.
#[derive(Clone, Debug)]
enum Damage {
    Wire(usize, usize, usize),
    Operator(usize, usize),
    Integer(usize, usize, i64),
    Float(usize, usize, f32),
    Shorten(usize, usize),
    Drop(usize, usize),
    Shape(usize, usize, i64),
    Width(i64),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = || 0..64_usize;
    let integer = prop_oneof![-3..6_i64, Just(i64::MAX), Just(i64::MIN), Just(1 << 33)];
    let float = prop_oneof![-2.0..2.0_f32, Just(0.0), Just(f32::NAN), Just(f32::INFINITY), Just(f32::MAX)];
    prop_oneof![
        (place(), place(), place()).prop_map(|(node, input, from)| Damage::Wire(node, input, from)),
        (place(), place()).prop_map(|(node, operator)| Damage::Operator(node, operator)),
        (place(), place(), integer.clone()).prop_map(|(node, place, to)| Damage::Integer(node, place, to)),
        (place(), place(), float).prop_map(|(node, place, to)| Damage::Float(node, place, to)),
        (place(), place()).prop_map(|(node, attribute)| Damage::Shorten(node, attribute)),
        (place(), place()).prop_map(|(node, attribute)| Damage::Drop(node, attribute)),
        (place(), place(), integer.clone()).prop_map(|(tensor, axis, to)| Damage::Shape(tensor, axis, to)),
        integer.prop_map(Damage::Width),
    ]
}

/// The element at a position modulo the length.
fn at<T>(all: &mut [T], place: usize) -> Option<&mut T> {
    let place = place.checked_rem(all.len())?;
    all.get_mut(place)
}

fn attribute(graph: &mut GraphProto, node: usize, place: usize) -> Option<&mut crate::proto::AttributeProto> {
    at(&mut at(&mut graph.node, node)?.attribute, place)
}

impl Damage {
    /// Damages a graph; `None` if the graph has no such part.
    fn apply(&self, graph: &mut GraphProto) -> Option<()> {
        match *self {
            Self::Wire(node, input, from) => {
                let mut names: Vec<String> = graph.node.iter().flat_map(|node| node.output.clone()).collect();
                names.extend(graph.initializer.iter().map(|tensor| tensor.name.clone()));
                names.extend(["x".to_string(), String::new()]);
                *at(&mut at(&mut graph.node, node)?.input, input)? = at(&mut names, from)?.clone();
            }
            Self::Operator(node, operator) => {
                let node = at(&mut graph.node, node)?;
                let (domain, name, _) = OPERATORS[operator % OPERATORS.len()];
                node.op_type = name.into();
                node.domain = if domain == "ml" { "ai.onnx.ml".into() } else { String::new() };
            }
            Self::Integer(node, place, to) => {
                let attribute = attribute(graph, node, place)?;
                attribute.i = to;
                if let Some(own) = at(&mut attribute.ints, place) {
                    *own = to;
                }
            }
            Self::Float(node, place, to) => {
                let attribute = attribute(graph, node, place)?;
                attribute.f = to;
                if let Some(own) = at(&mut attribute.floats, place) {
                    *own = to;
                }
            }
            Self::Shorten(node, place) => {
                let attribute = attribute(graph, node, place)?;
                attribute.ints.pop();
                attribute.floats.pop();
                attribute.strings.pop();
            }
            Self::Drop(node, place) => {
                let node = at(&mut graph.node, node)?;
                let place = place.checked_rem(node.attribute.len())?;
                node.attribute.remove(place);
            }
            Self::Shape(tensor, axis, to) => {
                let tensor: &mut TensorProto = at(&mut graph.initializer, tensor)?;
                match tensor.data_type {
                    7 => tensor.raw_data = to.to_le_bytes().repeat(tensor.raw_data.len() / 8),
                    _ => *at(&mut tensor.dims, axis)? = to,
                }
            }
            Self::Width(to) => {
                let shape = graph.input.first_mut()?.r#type.as_mut()?.tensor_type.as_mut()?.shape.as_mut()?;
                shape.dim.last_mut()?.dim_value = Some(to);
            }
        }
        Some(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn graphs_that_were_changed_never_panic(
        number in 0..1000_usize,
        damages in prop::collection::vec(damage(), 1..5),
        accepted in prop::option::of(prop::collection::vec(0..4_usize, 0..3)),
        is_largest: bool,
        scale in prop::sample::select(vec![None, Some(Scale::Number), Some(Scale::LogOdds)]),
    ) {
        thread_local!(static GRAPHS: Vec<ModelProto> = graphs());
        let mut model = GRAPHS.with(|graphs| graphs[number % graphs.len()].clone());
        if let Some(graph) = &mut model.graph {
            damages.iter().for_each(|damage| { damage.apply(graph); });
        }
        if let Ok(graph) = Graph::from_bytes(&model.encode_to_vec()) {
            let widths: Vec<usize> = graph.inputs().iter().map(|input| input.width.unwrap_or(4)).collect();
            let decision = if is_largest { Decision::Largest } else { Decision::Sum };
            if let Ok(classifier) = graph.classifier(&widths, &ScoreChoice { output: None, accepted, scale, decision }) {
                classifier.log_odds(&vec![crate::Value::Number(1.0); classifier.width()]);
                classifier.log_odds(&vec![crate::Value::Text("a"); classifier.width()]);
            }
        }
    }
}
