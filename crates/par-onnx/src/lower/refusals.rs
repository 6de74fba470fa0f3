//! Tests of refused graphs and their messages.

use crate::graph::Scale;
use crate::proto::{AttributeProto, FunctionProto, TypeProto};
use crate::test_graph::{TestGraph, float, floats, graph, integer, integers, text, texts, value};

/// A layer that combines two inputs into two sums.
fn mixed() -> TestGraph {
    graph(2).constant("w", &[2, 2], &[1.0, 2.0, 3.0, 4.0]).node("MatMul", "x,w", "h", &[])
}

#[test]
fn the_end_of_a_graph_must_be_a_score_of_each_class() {
    let constant = graph(2).constant("k", &[1], &[1.0]).node("Identity", "k", "out", &[]);
    assert_eq!(
        constant.refusal(),
        "the output `out` has a constant, expected one column of scores, or one a class"
    );
    let zero = graph(2).constant("w", &[2, 1], &[0.0, 0.0]).node("MatMul", "x,w", "out", &[]);
    let expected =
        "the output `out` has a score that no input changes, expected one column of scores, or one a class";
    assert_eq!(zero.refusal(), expected);
    for accepted in [&[2][..], &[], &[0, 1], &[1, 1]] {
        let refused = mixed().node("Softmax", "h", "out", &[]).accepted(accepted);
        let expected = format!("`accepted` is {accepted:?} for the output `out`, expected `0` or `1`");
        assert_eq!(refused.refusal(), expected);
    }
    let unsaid = graph(3).node("Softmax", "x", "out", &[]).refusal();
    let some = "some of the columns `0` to `2`, and not all";
    assert_eq!(unsaid, format!("`accepted` is [] for the output `out`, expected {some}"));
    for accepted in [&[3][..], &[0, 1, 2], &[0, 0]] {
        let refused = graph(3).node("Softmax", "x", "out", &[]).accepted(accepted);
        assert_eq!(
            refused.refusal(),
            format!("`accepted` is {accepted:?} for the output `out`, expected {some}")
        );
    }
    let sigmoids = graph(3).node("Sigmoid", "x", "out", &[]).accepted(&[0]);
    assert_eq!(
        sigmoids.refusal(),
        "the output `out` has a sigmoid a class, which do not add up to one, \
         expected one column of scores, or one a class"
    );
    let number = graph(1).node("Sigmoid", "x", "out", &[]).scale(Scale::Number);
    assert_eq!(
        number.refusal(),
        "the scores of `out` are said to be a predicted number, but the graph ends in a probability"
    );
    let later = graph(3).node("Softmax", "x", "s", &[]).node("Relu", "s", "out", &[]);
    assert_eq!(
        later.refusal(),
        "node 1 (Relu): found a probability of more than two classes, expected it at the end"
    );
}

#[test]
fn the_stated_scale_must_be_that_of_the_graph() {
    let sigmoid = graph(1).node("Sigmoid", "x", "out", &[]).scale(Scale::LogOdds);
    let expected = "the scores of `out` are said to be log-odds, but the graph ends in probabilities";
    assert_eq!(sigmoid.refusal(), expected);
    let plain = graph(1).node("Identity", "x", "out", &[]).scale(Scale::Probability);
    assert_eq!(
        plain.refusal(),
        "the scores of `out` are said to be probabilities, but the graph ends in numbers that may be anything\n\
         hint: export the sigmoid or softmax too, or say that they are log-odds"
    );
}

#[test]
fn one_of_several_outputs_must_be_named() {
    let mut made = graph(1).node("Sigmoid", "x", "out", &[]).node("Relu", "x", "other", &[]);
    made.graph().output.push(value("other", 1, &[]));
    made.graph().output.push(value("label", 7, &[]));
    assert_eq!(made.refusal(), "several outputs hold scores: `out`, `other`\nhint: say which one is meant");
    made.choice.output = Some("label".into());
    assert_eq!(made.refusal(), "no output `label` holds scores, expected one of `out`, `other`");
    made.choice.output = Some("other".into());
    assert!(made.classifier(&[1]).is_ok());
    made.graph().output.drain(..2);
    let expected = "no output of the graph holds scores\nhint: labels are none; export the probabilities too";
    assert_eq!(made.refusal(), expected);
}

#[test]
fn widths_must_be_those_of_the_inputs() {
    let made = graph(2).constant("w", &[2, 1], &[1.0, 1.0]).node("MatMul", "x,w", "out", &[]);
    let refusal = |widths: &[usize]| made.classifier(widths).expect_err("refused").to_string();
    assert_eq!(refusal(&[3]), "the input `x` is given 3 values a row, expected 2");
    assert_eq!(refusal(&[2, 2]), "there are widths of 2 inputs, expected 1");
    let mut open = graph(2).constant("w", &[2, 1], &[1.0, 1.0]).node("MatMul", "x,w", "out", &[]);
    open.graph().input[0] = value("x", 1, &[None, None]);
    assert_eq!(
        open.classifier(&[3]).expect_err("refused").to_string(),
        "node 0 (MatMul): found the shape [1, 3], expected one that fits to [2, 1]"
    );
    open.graph().input[0] = value("x", 1, &[None, Some(2), None]);
    let expected = "the input `x` is given 3 values a row, expected a multiple of 2";
    assert_eq!(open.classifier(&[3]).expect_err("refused").to_string(), expected);
}

#[test]
fn inputs_must_be_tensors() {
    let mut made = graph(1).node("Sigmoid", "x", "out", &[]);
    made.graph().input[0].r#type = Some(TypeProto { map_type: Some(vec![]), ..Default::default() });
    assert_eq!(made.refusal(), "the input `x` expects a sequence or a map, expected numbers or texts");
    made.graph().input[0] = value("x", 10, &[None, Some(1)]);
    assert_eq!(made.refusal(), "the input `x` expects elements of type 10, expected numbers or texts");
}

#[test]
fn tensors_must_come_before_they_are_used() {
    let made = graph(1).node("Sigmoid", "later", "out", &[]).node("Relu", "x", "later", &[]);
    assert_eq!(made.refusal(), "node 0 (Sigmoid): nothing before it makes the tensor `later`");
    let labels = graph(1)
        .node(
            "ml.LinearClassifier",
            "x",
            "label,scores",
            &[
                integers("classlabels_ints", &[0, 1]),
                floats("coefficients", &[1.0]),
                floats("intercepts", &[0.0]),
            ],
        )
        .node("Cast", "label", "out", &[integer("to", 1)]);
    assert_eq!(
        labels.refusal(),
        "the output `out` has 0 columns, expected one column of scores, or one a class"
    );
}

#[test]
fn operators_that_the_file_defines_are_not_taken_for_others() {
    let mut made = graph(1).node("Relu", "x", "out", &[]);
    made.proto.functions.push(FunctionProto { name: "Relu".into(), domain: String::new() });
    assert!(made.refusal().starts_with("node 0 (Relu): the operator `Relu` of `ai.onnx` is not supported"));
}

#[test]
fn subgraphs_and_unknown_attributes_are_refused() {
    let body = AttributeProto { name: "body".into(), g: Some(vec![]), ..Default::default() };
    let made = graph(1).node("Relu", "x", "out", &[body]);
    let expected =
        "node 0 (Relu): the attribute `body` is a subgraph, expected an attribute that is supported";
    assert_eq!(made.refusal(), expected);
    let made = graph(1).node("Relu", "x", "out", &[integer("mode", 1)]);
    let expected = "node 0 (Relu): the attribute `mode` is there, expected an attribute that is supported";
    assert_eq!(made.refusal(), expected);
}

#[test]
fn layers_have_one_activation_each() {
    let made = mixed().node("Split", "h", "a,b", &[integer("axis", 1)]).node("Relu", "a", "c", &[]).node(
        "Tanh",
        "b",
        "d",
        &[],
    );
    let made = made.node("Add", "c,d", "out", &[]);
    assert_eq!(
        made.refusal(),
        "node 3 (Tanh): joins `Tanh` and the `Relu` of node 2 (Relu) in one layer\n\
         hint: only layers one after the other are supported, without connections that skip one"
    );
    let made =
        mixed().node("Add", "h,x", "k", &[]).node("Relu", "k", "r", &[]).node("Add", "r,x", "out", &[]);
    assert_eq!(
        made.refusal(),
        "node 3 (Add): joins numbers of layer 1 and numbers of the inputs\n\
         hint: only layers one after the other are supported, without connections that skip one"
    );
}

#[test]
fn activations_never_fall() {
    let leaky = mixed().node("LeakyRelu", "h", "out", &[float("alpha", -0.5)]);
    assert_eq!(leaky.refusal(), "node 1 (LeakyRelu): found a slope of -0.5, expected one from 0 to 1");
    let elu = mixed().node("Elu", "h", "out", &[float("alpha", -0.5)]);
    assert_eq!(elu.refusal(), "node 1 (Elu): the attribute `alpha` is `-0.5`, expected zero or more");
    let clip =
        mixed().constant("l", &[], &[2.0]).constant("u", &[], &[1.0]).node("Clip", "h,l,u", "out", &[]);
    assert_eq!(clip.refusal(), "node 1 (Clip): found bounds from 2 to 1, expected the lower one first");
    let square = mixed().node("Sqrt", "h", "out", &[]);
    let expected = "node 1 (Sqrt): found a sum of several numbers, expected functions of one input each";
    assert_eq!(square.refusal(), expected);
}

#[test]
fn attributes_must_fit_to_the_width() {
    let scaler = graph(2).node("ml.Scaler", "x", "out", &[floats("offset", &[1.0, 2.0, 3.0])]);
    assert_eq!(scaler.refusal(), "node 0 (Scaler): the attribute `offset` is `3 numbers`, expected 1 or 2");
    let infinite = graph(2).node("ml.Scaler", "x", "out", &[floats("scale", &[f32::INFINITY])]);
    assert_eq!(infinite.refusal(), "node 0 (Scaler): a weight is not finite");
    let classifier = |attributes: &[AttributeProto]| {
        let labels = [integers("classlabels_ints", &[0, 1]), floats("intercepts", &[0.0, 0.0])];
        graph(2).node("ml.LinearClassifier", "x", "label,out", &[&labels, attributes].concat())
    };
    assert_eq!(
        classifier(&[floats("coefficients", &[1.0, 2.0, 3.0])]).refusal(),
        "node 0 (LinearClassifier): found 3 coefficients, expected 4 for 2 values and 2 outputs"
    );
    let coefficients = floats("coefficients", &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        classifier(&[coefficients, text("post_transform", "PROBIT")]).refusal(),
        "node 0 (LinearClassifier): the attribute `post_transform` is `PROBIT`, \
         expected `NONE`, `LOGISTIC` or `SOFTMAX`"
    );
}

#[test]
fn softmax_is_of_all_scores_of_a_row() {
    let made = graph(1).node("Softmax", "x", "out", &[]);
    let expected =
        "node 0 (Softmax): found the shape [1, 1], expected two or more scores of a row along the axis";
    assert_eq!(made.refusal(), expected);
}

#[test]
fn texts_are_no_numbers() {
    let mut made = graph(1).node("Relu", "x", "out", &[]);
    made.graph().input[0] = value("x", 8, &[None, Some(1)]);
    assert_eq!(made.refusal(), "node 0 (Relu): found a text input, expected numbers");
    let mut made = graph(1).node("Cast", "x", "out", &[integer("to", 1)]);
    made.graph().input[0] = value("x", 8, &[None, Some(1)]);
    assert_eq!(made.refusal(), "node 0 (Cast): found texts and numbers, expected one or the other");
}

#[test]
fn graphs_that_expand_without_bound_are_refused() {
    let mut made = graph(1).node("Identity", "x", "0", &[]);
    for step in 0..24 {
        let name = format!("{step},{step}");
        made = made.node("Concat", &name, &(step + 1).to_string(), &[integer("axis", 1)]);
    }
    let made = made.node("Relu", "24", "out", &[]);
    assert_eq!(
        made.refusal(),
        "there are more than 33554432 elements, weights and nodes of trees, which is the limit"
    );
}

/// Nodes of tree 0 by mode, true child and false child; every leaf has a weight.
fn tree(nodes: &[(&str, i64, i64)]) -> Vec<AttributeProto> {
    let count = nodes.len() as i64;
    let numbers: Vec<i64> = (0..count).collect();
    let leaves: Vec<i64> = numbers.iter().copied().filter(|&node| nodes[node as usize].0 == "LEAF").collect();
    let zeros = |count: usize| vec![0_i64; count];
    vec![
        integers("nodes_treeids", &zeros(nodes.len())),
        integers("nodes_nodeids", &numbers),
        integers("nodes_featureids", &zeros(nodes.len())),
        texts("nodes_modes", &nodes.iter().map(|node| node.0).collect::<Vec<_>>()),
        floats("nodes_values", &vec![0.5; nodes.len()]),
        integers("nodes_truenodeids", &nodes.iter().map(|node| node.1).collect::<Vec<_>>()),
        integers("nodes_falsenodeids", &nodes.iter().map(|node| node.2).collect::<Vec<_>>()),
        integers("target_treeids", &zeros(leaves.len())),
        integers("target_nodeids", &leaves),
        integers("target_ids", &zeros(leaves.len())),
        floats("target_weights", &vec![1.0; leaves.len()]),
    ]
}

fn tree_refusal(nodes: &[(&str, i64, i64)]) -> String {
    let refusal = graph(1).node("ml.TreeEnsembleRegressor", "x", "out", &tree(nodes)).refusal();
    let of_tree = refusal.strip_prefix("node 0 (TreeEnsembleRegressor): ").expect("the node is named");
    of_tree.strip_prefix("tree `0` is no tree: ").unwrap_or(of_tree).into()
}

#[test]
fn trees_must_be_trees() {
    let (branch, leaf) = ("BRANCH_LEQ", ("LEAF", 0, 0));
    assert_eq!(tree_refusal(&[(branch, 1, 1), leaf]), "a node has two parents");
    assert_eq!(tree_refusal(&[(branch, 1, 7), leaf]), "there is no node `7`");
    assert_eq!(tree_refusal(&[leaf, leaf]), "it has two roots");
    assert_eq!(tree_refusal(&[(branch, 1, 2), (branch, 0, 3), leaf, leaf]), "it has no root");
    let circle = [leaf, (branch, 2, 3), (branch, 1, 4), leaf, leaf];
    assert_eq!(tree_refusal(&circle), "some of its nodes cannot be reached from its root");
    let mut deep = Vec::new();
    for depth in 0..600 {
        deep.extend([(branch, 2 * depth + 1, 2 * depth + 2), leaf]);
    }
    deep.push(leaf);
    assert_eq!(tree_refusal(&deep), "it is deeper than 512");
    assert_eq!(
        tree_refusal(&[("BRANCH_NEAR", 1, 2), leaf, leaf]),
        "the attribute `nodes_modes` is `BRANCH_NEAR`, expected `BRANCH_LEQ`, `LT`, `GTE`, `GT`, `EQ`, `NEQ` or `LEAF`"
    );
}

#[test]
fn trees_compare_single_inputs() {
    let nodes = tree(&[("BRANCH_LEQ", 1, 2), ("LEAF", 0, 0), ("LEAF", 0, 0)]);
    let sums = mixed().node("ml.TreeEnsembleRegressor", "h", "out", &nodes);
    assert_eq!(
        sums.refusal(),
        "node 1 (TreeEnsembleRegressor): found a sum of several numbers, expected functions of one input each"
    );
    let mut far = nodes.clone();
    far[2] = integers("nodes_featureids", &[4, 0, 0]);
    assert_eq!(
        graph(2).node("ml.TreeEnsembleRegressor", "x", "out", &far).refusal(),
        "node 0 (TreeEnsembleRegressor): found the feature 4, expected one of 2 values"
    );
    let stacked = graph(2).node("ml.TreeEnsembleRegressor", "x", "s", &nodes).node("Relu", "s", "out", &[]);
    assert_eq!(
        stacked.refusal(),
        "node 1 (Relu): found the sum of trees, expected it at the end, or followed by a sigmoid"
    );
}

/// A mean of probabilities is a probability, not a sum of log-odds.
#[test]
fn a_mean_of_probabilities_is_not_taken_for_log_odds() {
    let mean = graph(2)
        .constant("one", &[2, 1], &[1.0, 2.0])
        .constant("two", &[2, 1], &[3.0, -1.0])
        .constant("half", &[1], &[0.5])
        .node("MatMul", "x,one", "a", &[])
        .node("Sigmoid", "a", "p", &[])
        .node("MatMul", "x,two", "b", &[])
        .node("Sigmoid", "b", "q", &[])
        .node("Add", "p,q", "sum", &[])
        .node("Mul", "sum,half", "out", &[]);
    let refusal = mean.refusal();
    assert!(
        refusal.starts_with("the scores of `out` are said to be probabilities, but the graph ends in"),
        "{refusal}"
    );
}

#[test]
fn categories_that_single_precision_cannot_tell_apart_are_refused() {
    let encoded = |category: i64| {
        let categories = integers("cats_int64s", &[1, category]);
        let one_hot = graph(1).node("ml.OneHotEncoder", "x", "hot", &[categories]);
        one_hot.constant("w", &[2, 1], &[1.0, 2.0]).node("MatMul", "hot,w", "out", &[])
    };
    assert!(encoded(1 << 24).classifier(&[1]).is_ok());
    let refusal = encoded((1 << 24) + 1).refusal();
    assert!(
        refusal.ends_with("found the category 16777217, expected whole numbers up to 16777216"),
        "{refusal}"
    );
}

#[test]
fn a_slice_needs_a_step() {
    let sliced = |step: f32| {
        let bounds = graph(2).constant("from", &[1], &[0.0]).constant("to", &[1], &[1.0]);
        let steps = bounds.constant("axis", &[1], &[1.0]).constant("step", &[1], &[step]);
        steps.node("Slice", "x,from,to,axis,step", "out", &[])
    };
    assert!(sliced(1.0).classifier(&[2]).is_ok());
    for step in [0.0, -1.0, f32::NAN] {
        let refusal = sliced(step).refusal();
        assert!(refusal.ends_with(&format!("found a step of {step}, expected at least 1")), "{refusal}");
    }
}
