//! Files of several exporters. `make.py` beside the fixtures wrote them and their scores.

use std::fs;
use std::path::{Path, PathBuf};

use par_onnx::{Graph, Input, InputKind, Output, Scale};

use crate::scored::ScoredRows;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn graph(name: &str) -> Graph {
    let bytes = fs::read(folder().join(format!("{name}.onnx"))).expect("a fixture");
    Graph::from_bytes(&bytes).expect("a graph")
}

#[test]
fn every_fixture_scores_as_in_onnxruntime() {
    let entries = fs::read_dir(folder()).expect("the folder of fixtures");
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|own| own == "json")).collect();
    paths.sort();
    let mut problems = Vec::new();
    for path in &paths {
        let text = fs::read_to_string(path).expect("a fixture");
        let scored: ScoredRows = serde_json::from_str(&text).expect("rows and their scores");
        let bytes = fs::read(path.with_extension("onnx")).expect("the graph of a fixture");
        // That a mean of leaves between zero and one is a probability is not in the graph: the test says so.
        let is_stated = path.ends_with("trees_average.json");
        let end = if is_stated { Ok(()) } else { scored.check_end(&bytes) };
        if let Err(problem) = scored.check(&bytes).and(end) {
            problems.push(format!("{}: {problem}", path.display()));
        }
    }
    assert!(paths.len() >= 40, "found {} fixtures", paths.len());
    assert!(problems.is_empty(), "{} of {}\n{}", problems.len(), paths.len(), problems.join("\n"));
}

#[test]
fn outputs_are_listed_with_their_classes_and_scale() {
    for (name, output, classes, scale) in [
        ("sklearn_logistic", "output_probability", &["no", "yes"][..], Scale::Probability),
        ("sklearn_mlp_tanh", "probabilities", &["0", "1"], Scale::Probability),
        ("sklearn_forest", "output_probability", &["0", "1"], Scale::Probability),
        ("xgboost_missing", "probabilities", &["0", "1"], Scale::Probability),
        ("keras_softmax", "Identity:0", &[], Scale::Probability),
        ("torch_two_logits", "11", &[], Scale::LogOdds),
    ] {
        let classes = classes.iter().map(|&class| class.into()).collect();
        let expected = Output { name: output.into(), classes, scale };
        assert_eq!(graph(name).outputs(), [expected], "{name}");
    }
}

#[test]
fn inputs_are_listed_with_their_widths_and_kinds() {
    let input = |name: &str, width, kind| Input { name: name.into(), width: Some(width), kind };
    let expected = [input("numbers", 4, InputKind::Number), input("codes", 2, InputKind::Integer)];
    assert_eq!(graph("torch_embedding").inputs(), expected);
    let frame = graph("sklearn_mlp_relu");
    assert_eq!(frame.inputs().first(), Some(&input("age", 1, InputKind::Number)));
    assert_eq!(frame.inputs().last(), Some(&input("home", 1, InputKind::Text)));
}

#[test]
fn the_other_class_has_the_other_log_odds() {
    let path = folder().join("sklearn_impute_minmax.json");
    let scored: ScoredRows =
        serde_json::from_str(&fs::read_to_string(path).expect("a fixture")).expect("rows");
    scored.check_other(&graph("sklearn_impute_minmax"));
}
