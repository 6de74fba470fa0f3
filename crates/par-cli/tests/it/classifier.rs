//! Models for external classifiers.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Sandbox;

const QUICK: &str = "[generator]\nexamples = 500\nsteps = 60\n\n[pool]\nsize = 300\n";
const FIT: [&str; 6] =
    ["fit", "german_credit.csv", "--schema", "german_credit.toml", "--config", "quick.toml"];
const NETWORK: [&str; 4] = ["--classifier", "network.onnx", "--inputs", "network.toml"];

fn crates(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Holds German Credit, and classifiers that scikit-learn trained on it.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let german = ["german_credit.csv", "german_credit.toml"].map(|name| crates("par-data/data").join(name));
    let external =
        ["network.onnx", "network.toml", "flat.onnx", "flat.toml", "boosting.onnx", "boosting.toml"]
            .map(|name| crates("par-model/tests/fixtures/external").join(name));
    for path in german.iter().chain(&external) {
        fs::copy(path, sandbox.path(&path.file_name().expect("a name").to_string_lossy())).expect("a copy");
    }
    sandbox.write("quick.toml", QUICK);
    sandbox
}

fn with_model() -> Sandbox {
    let sandbox = sandbox();
    sandbox.run(&[&FIT[..], &NETWORK, &["--out", "a.par"]].concat());
    sandbox
}

#[test]
fn an_external_classifier_is_stored_and_named() {
    let sandbox = sandbox();
    let fitted = sandbox.run(&[&FIT[..], &NETWORK, &["--out", "a.par"]].concat());
    assert!(
        fitted.contains("\n  classifier        ONNX, a network of 61 → 16 → 8 → 1, SHA-256 "),
        "{fitted}"
    );
    let inspected = sandbox.json(&["inspect", "a.par"]);
    assert_eq!(inspected["classifier"]["origin"], "onnx");
    assert_eq!(inspected["classifier"]["verified"], true);
    assert_eq!(inspected["classifier"]["sha256"].as_str().map(str::len), Some(64));
    let evaluated = sandbox.json(&["evaluate", "a.par", "german_credit.csv", "--where", "Telephone=A192"]);
    // Not everybody has a way: the schema says what a person can change.
    let [possible, denied] = ["possible", "denied"].map(|key| evaluated[key].as_u64().expect("a count"));
    assert!(possible * 10 > denied * 9, "{possible} of {denied}");
    assert_eq!(evaluated["refined"]["mean"], 1.0);
    for method in [1, 2] {
        let validity = evaluated["methods"][method]["validity"]["mean"].as_f64().expect("a share");
        assert!((validity - possible as f64 / denied as f64).abs() < 1e-9, "{validity}");
    }
}

#[test]
fn a_fit_to_trees_prints_the_agreement_of_their_surrogate() {
    let sandbox = sandbox();
    let trees = ["--classifier", "boosting.onnx", "--inputs", "boosting.toml", "--out", "a.par"];
    let fitted = sandbox.run(&[&FIT[..], &trees].concat());
    assert!(fitted.contains("ONNX, 40 trees with "), "{fitted}");
    assert!(fitted.contains("its surrogate decides the same for "), "{fitted}");
}

#[test]
fn the_draft_of_inputs_needs_no_edit_if_the_graph_takes_raw_columns() {
    let sandbox = sandbox();
    let init = ["inputs", "init", "boosting.onnx", "--schema", "german_credit.toml", "--out", "draft.toml"];
    sandbox.run(&init);
    let fit = ["--classifier", "boosting.onnx", "--inputs", "draft.toml", "--out", "a.par"];
    sandbox.run(&[&FIT[..], &fit].concat());
    let written = ["--classifier", "boosting.onnx", "--inputs", "boosting.toml", "--out", "b.par"];
    sandbox.run(&[&FIT[..], &written].concat());
    let answer = |model: &str| sandbox.run(&["explain", model, "german_credit.csv", "--id", "1"]);
    assert_eq!(answer("a.par"), answer("b.par"));
}

#[test]
fn another_classifier_is_refused_by_default() {
    let sandbox = with_model();
    let explain = ["explain", "a.par", "german_credit.csv", "--id", "1"];
    let own = sandbox.run(&[&explain[..], &["--classifier", "network.onnx"]].concat());
    assert_eq!(own, sandbox.run(&explain));
    let other = [&explain[..], &["--classifier", "boosting.onnx"]].concat();
    let refused = sandbox.refused(&other);
    assert!(
        refused.starts_with(
            "error: boosting.onnx: is not the classifier that a.par was made for: its SHA-256 is "
        ),
        "{refused}"
    );
    assert!(refused.contains("hint: make the model anew with `par fit --classifier`"), "{refused}");
    let answers = sandbox.run(&[&other[..], &["--other-classifier"]].concat());
    assert_ne!(answers, own);
    sandbox.run(&[
        "recourse",
        "a.par",
        "german_credit.csv",
        "--classifier",
        "network.onnx",
        "--out",
        "w.csv",
    ]);
    let flat = ["--classifier", "flat.onnx", "--other-classifier"];
    let refused = sandbox.refused(&[&explain[..], &flat].concat());
    assert!(refused.starts_with("error: flat.onnx: "), "inputs of another network do not fit: {refused}");
}

#[test]
fn a_file_that_is_not_a_classifier_is_refused() {
    let sandbox = sandbox();
    let refused = |classifier: &str, inputs: &str| {
        sandbox.refused(
            &[&FIT[..], &["--classifier", classifier, "--inputs", inputs, "--out", "a.par"]].concat(),
        )
    };
    for name in ["text", "empty", "truncated"] {
        let path = crates("par-onnx/tests/fixtures/broken").join(format!("{name}.onnx"));
        let message = refused(&path.to_string_lossy(), "network.toml");
        assert!(message.contains("this is no ONNX file: "), "{message}");
        assert!(message.starts_with(&format!("error: {}: ", path.display())), "{message}");
    }
    let message = refused("nowhere.onnx", "network.toml");
    assert_eq!(message, "error: nowhere.onnx: cannot be opened: No such file or directory (os error 2)\n");
    let message = refused("network.onnx", "nowhere.toml");
    assert_eq!(message, "error: nowhere.toml: cannot be opened: No such file or directory (os error 2)\n");

    let without_age =
        sandbox.read("network.toml").replace("[[input]]\nname = \"Age\"", "[[input]]\nname = \"Aeg\"");
    sandbox.write("without.toml", without_age);
    let message = refused("network.onnx", "without.toml");
    assert!(message.starts_with("error: without.toml: "), "{message}");
    assert!(message.contains("`Ae") || message.contains("`Age`"), "{message}");

    let narrow =
        sandbox.read("flat.toml").replace("  { feature = \"Duration\", as = \"standardize\" },\n", "");
    sandbox.write("narrow.toml", narrow);
    let message = refused("flat.onnx", "narrow.toml");
    assert!(message.contains("58") && message.contains("59"), "both widths are named: {message}");
}

/// The message for one of `par-onnx`'s faulty files that takes two numbers.
fn fault(name: &str) -> String {
    let sandbox = sandbox();
    let inputs = "[[input]]\nname = \"x\"\ncolumns = [{ feature = \"Age\", as = \"number\" }, \
                  { feature = \"Duration\", as = \"number\" }]\n";
    sandbox.write("x.toml", inputs);
    let path = crates("par-onnx/tests/fixtures/broken").join(name);
    fs::copy(path, sandbox.path("x.onnx")).expect("a copy");
    sandbox.refused(&[&FIT[..], &["--classifier", "x.onnx", "--inputs", "x.toml", "--out", "a.par"]].concat())
}

#[test]
fn an_operator_that_is_not_supported_is_named_with_those_that_are() {
    let message = fault("unsupported_operator.onnx");
    assert!(message.starts_with("error: x.onnx: "), "{message}");
    assert!(
        message.contains("the operator `Sin` of `ai.onnx` is not supported\nhint: supported are "),
        "{message}"
    );
    assert!(message.contains("Gemm") && message.contains("TreeEnsembleClassifier"), "{message}");
}

#[test]
fn a_score_that_is_not_a_number_ends_the_fit() {
    let message = fault("not_a_number.onnx");
    assert!(message.contains("not a number") || message.contains("expected a number"), "{message}");
}

#[test]
fn a_model_of_scores_has_a_surrogate_and_unverified_ways() {
    let sandbox = sandbox();
    let scores = fs::read_to_string(crates("par-model/tests/fixtures/external/network.csv")).expect("scores");
    let table = sandbox.read("german_credit.csv");
    let scored: String =
        table.lines().zip(scores.lines()).map(|(line, score)| format!("{line},{score}\n")).collect();
    sandbox.write("german_credit.csv", scored);
    let fitted = sandbox.run(&[&FIT[..], &["--scores", "score", "--out", "a.par"]].concat());
    assert!(
        fitted.contains("a surrogate of the scores in column `score`, answers are unverified"),
        "{fitted}"
    );
    assert!(fitted.contains("its surrogate decides the same for "), "{fitted}");
    sandbox.run(&["recourse", "a.par", "german_credit.csv", "--out", "w.csv"]);
    let ways = sandbox.read("w.csv");
    assert!(ways.contains(",unverified,") && ways.contains(",unverified_accepted,"));
    assert!(!ways.contains(",found,") && !ways.contains(",accepted,"));
    let explained = sandbox.run(&["explain", "a.par", "german_credit.csv", "--id", "1"]);
    assert!(explained.contains("unverified"), "{explained}");

    let message = sandbox.refused(&[&FIT[..], &["--scores", "scores", "--out", "b.par"]].concat());
    assert_eq!(message, "error: german_credit.csv: no column `scores` with scores, did you mean `score`?\n");
}

#[test]
fn an_inverted_classifier_is_refused() {
    let sandbox = sandbox();
    let reversed = sandbox.read("network.toml").replace("accepted = 1", "accepted = 0");
    sandbox.write("reversed.toml", reversed);
    let fit = ["--classifier", "network.onnx", "--inputs", "reversed.toml", "--out", "a.par"];
    assert_eq!(
        sandbox.refused(&[&FIT[..], &fit].concat()),
        "error: reversed.toml: the classifier tells the classes apart the wrong way round: its AUC for `Good` is 0.003 \
         on the 1000 training rows, and random scores have 0.5\n\
         hint: `accepted = 0` under `[output]` of the inputs is likely the other class, try `accepted = 1`; or see which \
         class is `favourable`\n"
    );
}

#[test]
fn scores_of_the_other_class_are_refused() {
    let sandbox = sandbox();
    let scores = fs::read_to_string(crates("par-model/tests/fixtures/external/network.csv")).expect("scores");
    let mut scored = String::new();
    for (line, score) in sandbox.read("german_credit.csv").lines().zip(scores.lines()) {
        let denied = score.parse::<f64>().map_or("denied".to_string(), |score| (1.0 - score).to_string());
        scored += &format!("{line},{denied}\n");
    }
    sandbox.write("german_credit.csv", scored);
    assert_eq!(
        sandbox.refused(&[&FIT[..], &["--scores", "denied", "--out", "a.par"]].concat()),
        "error: german_credit.csv: the classifier tells the classes apart the wrong way round: its AUC for `Good` is \
         0.003 on the 1000 training rows, and random scores have 0.5\n\
         hint: column `denied` likely holds the probability p of the other class, give 1 - p; or see which class is \
         `favourable`\n"
    );
}

#[test]
fn the_classifier_file_is_not_overwritten() {
    let sandbox = with_model();
    let recourse =
        ["recourse", "a.par", "german_credit.csv", "--classifier", "network.onnx", "--out", "network.onnx"];
    let before = sandbox.bytes("network.onnx");
    sandbox.refused(&recourse);
    assert!(sandbox.bytes("network.onnx") == before);
}

#[test]
fn the_draft_warns_of_a_file_that_fit_would_refuse() {
    let sandbox = sandbox();
    let path = crates("par-onnx/tests/fixtures/broken/unsupported_operator.onnx");
    fs::copy(path, sandbox.path("x.onnx")).expect("a copy");
    let output =
        sandbox.par(&["inputs", "init", "x.onnx", "--schema", "german_credit.toml"]).output().expect("par");
    let warning = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(warning.starts_with("warning: x.onnx: `par fit` will refuse it: "), "{warning}");
    assert!(warning.contains("`Sin`"), "{warning}");
}

#[test]
fn a_model_with_a_trained_classifier_has_no_file_to_compare_with() {
    let sandbox = sandbox();
    sandbox.run(&[&FIT[..], &["--out", "a.par"]].concat());
    let explain = ["explain", "a.par", "german_credit.csv", "--id", "1", "--classifier", "network.onnx"];
    let refused = sandbox.refused(&explain);
    assert!(refused.starts_with("error: a.par: was not made for an ONNX file"), "{refused}");
    let refused = sandbox.refused(&[&explain[..], &["--other-classifier"]].concat());
    assert!(refused.contains("hint: `par inputs init` drafts a file for `--inputs`"), "{refused}");
    sandbox.run(&[&explain[..], &["--other-classifier", "--inputs", "network.toml"]].concat());
}

#[test]
fn without_labels_the_error_has_a_hint() {
    let sandbox = sandbox();
    let table = sandbox.read("german_credit.csv");
    let unlabelled = table.lines().map(|line| line.rsplit_once(',').expect("a label").0.to_string() + "\n");
    sandbox.write("german_credit.csv", unlabelled.collect::<String>());
    let refused = sandbox.refused(&[&FIT[..], &NETWORK, &["--out", "a.par"]].concat());
    assert!(refused.contains("hint: without labels, `--density decisions` learns"), "{refused}");
    sandbox.run(&[&FIT[..], &NETWORK, &["--density", "decisions", "--out", "a.par"]].concat());
}
