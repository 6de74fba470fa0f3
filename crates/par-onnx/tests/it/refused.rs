//! Refused files and their messages.

use std::fs;

use par_onnx::{Error, Graph, OnnxClassifier, ScoreChoice};
use proptest::prelude::*;

use crate::fixtures::folder;

fn classifier(bytes: &[u8]) -> Result<OnnxClassifier, Error> {
    let graph = Graph::from_bytes(bytes)?;
    let widths: Vec<usize> = graph.inputs().iter().map(|input| input.width.unwrap_or(2)).collect();
    graph.classifier(&widths, &ScoreChoice::default())
}

/// The message for a broken fixture, without the list of all operators.
fn refusal(name: &str) -> String {
    let bytes = fs::read(folder().join("broken").join(name)).expect("a broken fixture");
    let text = classifier(&bytes).expect_err("a broken fixture gives no classifier").to_string();
    text.split("\nhint: supported are").next().expect("a first part").into()
}

#[test]
fn bytes_that_are_not_onnx_are_refused() {
    assert_eq!(refusal("empty.onnx"), "this is no ONNX file: it holds no graph");
    assert_eq!(refusal("text.onnx"), "this is no ONNX file: its messages are damaged or cut off");
    assert_eq!(refusal("truncated.onnx"), "this is no ONNX file: its messages are damaged or cut off");
}

#[test]
fn weights_that_are_elsewhere_or_infinite_are_refused() {
    assert_eq!(
        refusal("external_weights.onnx"),
        "the tensor `w` has its data in another file, expected it inside\n\
         hint: export with the weights in the same file"
    );
    assert_eq!(refusal("infinite_weight.onnx"), "node `score_gemm` (Gemm): a weight is not finite");
}

#[test]
fn an_operator_that_is_not_supported_is_named() {
    for (file, node, operator) in [
        ("recurrent", "memory", "LSTM"),
        ("unsupported_operator", "wave", "Sin"),
        ("torch_gelu", "/1/Gelu", "Gelu"),
    ] {
        let expected =
            format!("node `{node}` ({operator}): the operator `{operator}` of `ai.onnx` is not supported");
        assert_eq!(refusal(&format!("{file}.onnx")), expected);
    }
}

#[test]
fn graphs_that_are_neither_layers_nor_trees_are_refused() {
    assert_eq!(
        refusal("skip_connection.onnx"),
        "node `skip` (Add): joins numbers of layer 1 and numbers of layer 2\n\
         hint: only layers one after the other are supported, without connections that skip one"
    );
    assert_eq!(
        refusal("two_inputs_multiplied.onnx"),
        "node `product` (Mul): found a function of one input and a function of one input, \
         expected a constant on one side"
    );
    assert_eq!(
        refusal("normalized_rows.onnx"),
        "node `Normalizer` (Normalizer): found numbers that all depend on each other once they are normalized, \
         expected probabilities that add up to one, or a sigmoid a class"
    );
    assert_eq!(
        refusal("tree_with_a_cycle.onnx"),
        "node `trees` (TreeEnsembleClassifier): tree `0` is no tree: \
         some of its nodes cannot be reached from its root"
    );
}

#[test]
fn a_score_that_is_nan_in_onnxruntime_is_nan() {
    use par_onnx::Value::Number;
    let bytes = fs::read(folder().join("broken/not_a_number.onnx")).expect("a fixture");
    let classifier = classifier(&bytes).expect("nothing to refuse");
    assert!(classifier.log_odds(&[Number(1.0), Number(30.0)]).is_finite());
    assert!(classifier.log_odds(&[Number(1.0), Number(40.0)]).is_nan());
}

fn fixtures() -> Vec<Vec<u8>> {
    let names =
        ["sklearn_frame", "sklearn_forest", "torch_embedding", "lightgbm_categories", "keras_softmax"];
    names.map(|name| fs::read(folder().join(format!("{name}.onnx"))).expect("a fixture")).into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = classifier(&bytes);
    }

    #[test]
    fn damaged_files_never_panic(
        file in 0..5_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        end in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        thread_local!(static FILES: Vec<Vec<u8>> = fixtures());
        let mut bytes = FILES.with(|files| files[file].clone());
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let end = end.map_or(bytes.len(), |end| end.index(bytes.len()));
        let _ = classifier(&bytes[..end]);
    }
}
