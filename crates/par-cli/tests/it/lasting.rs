//! Ways that last: `par fit --versions` and `--also`, and requests with `--robust`, `--certify` and `--slack`.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::Sandbox;
use crate::model::FIT;

const EXPLAIN: [&str; 5] = ["explain", "v.par", "one.csv", "--id", "poor"];

/// Also holds `v.par`, a model with two other versions of its classifier, and a table of one denied person.
fn with_versions() -> Sandbox {
    static MODEL: OnceLock<Vec<u8>> = OnceLock::new();
    let model = MODEL.get_or_init(|| {
        let sandbox = Sandbox::with_applicants();
        let fitted = sandbox.run(&[&FIT[..], &["--versions", "2"]].concat());
        assert!(fitted.contains("\n  versions          2: bootstrap 1, bootstrap 2\n"), "{fitted}");
        sandbox.bytes("a.par")
    });
    let sandbox = Sandbox::with_model();
    sandbox.write("v.par", model);
    sandbox.write("one.csv", "id,age,city,education,income,debt\npoor,30,Ulm,low,1000,7\n");
    sandbox
}

#[test]
fn a_model_names_its_versions() {
    let sandbox = with_versions();
    let inspected = sandbox.run(&["inspect", "v.par"]);
    assert!(inspected.contains("\n  versions          2: bootstrap 1, bootstrap 2\n"), "{inspected}");
    let versions = sandbox.json(&["inspect", "v.par"])["versions"].clone();
    assert_eq!((&versions[0]["name"], &versions[0]["threshold"]), (&"bootstrap 1".into(), &0.5.into()));
    assert_ne!(versions[0]["sha256"], versions[1]["sha256"]);
    assert_eq!(sandbox.json(&["inspect", "a.par"])["versions"], serde_json::json!([]));
}

#[test]
fn a_robust_way_is_accepted_by_all_versions_and_says_what_that_costs() {
    let sandbox = with_versions();
    let answer = sandbox.run(&[&EXPLAIN[..], &["--robust", "--method", "exact"]].concat());
    assert!(answer.contains("\n  all 2 other versions of the classifier accept it\n"), "{answer}");
    let prices = ["\nbeside the way that need not last: ", "\nthe way that need not last is the same"];
    assert!(prices.iter().any(|price| answer.contains(price)), "{answer}");
    let plain = sandbox.json(&EXPLAIN);
    assert_eq!((&plain["plain"], &plain["price_of_lasting"]), (&().into(), &().into()));
    for share in ["--robust", "--robust=0.5", "--robust=1"] {
        sandbox.run(&["recourse", "v.par", "applicants.csv", "--out", "ways.jsonl", share]);
        let needed = if share == "--robust=0.5" { 1 } else { 2 };
        let mut found = 0;
        for line in sandbox.read("ways.jsonl").lines() {
            let answer: serde_json::Value = serde_json::from_str(line).expect("JSON");
            for way in answer["ways"].as_array().expect("ways") {
                found += 1;
                assert!(way["accepting"]["versions"].as_u64() >= Some(needed), "{share}: {way}");
                assert_eq!(way["accepting"]["of"], 2);
            }
        }
        assert!(found > 50, "{found} ways");
    }
}

#[test]
fn what_a_way_must_withstand_is_checked() {
    let sandbox = with_versions();
    let refused = |options: &[&str]| sandbox.refused(&[&EXPLAIN[..], options].concat());
    assert_eq!(
        refused(&["--robust=2"]),
        "error: `--robust`: expected true, false, or a share above 0 and at most 1, found `2`\n"
    );
    assert_eq!(
        refused(&["--certify", "0"]),
        "error: `--certify`: expected a share above 0 and at most 1, found `0`\n"
    );
    assert_eq!(
        sandbox.refused(&["explain", "a.par", "one.csv", "--id", "poor", "--robust"]),
        "error: `--robust`: expected nothing: the model has no other versions of its classifier; \
         `par fit --versions 8` trains some, found `true`\n"
    );
}

#[test]
fn a_certified_way_says_how_far_the_classifier_may_move() {
    let sandbox = with_versions();
    let certified = sandbox.json(&[&EXPLAIN[..], &["--certify", "0.001"]].concat());
    let up_to = certified["ways"][0]["certified"].as_f64().expect("a way with a certificate");
    assert!(up_to >= 0.001, "{up_to}");
    let words = certified["ways"][0]["lasting_words"].as_str().expect("words");
    let rounded_down = (1e4 * up_to).floor() / 1e4;
    assert!(
        words.ends_with(&format!(", certified while the classifier moves by at most {rounded_down}")),
        "{words}"
    );
    assert_eq!(sandbox.json(&EXPLAIN)["ways"][0]["certified"], serde_json::Value::Null);
}

/// Holds German Credit, a classifier that scikit-learn trained on it, and `next.onnx`, the next one.
fn german() -> Sandbox {
    let sandbox = Sandbox::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (from, to) in [
        ("par-data/data/german_credit.csv", "german_credit.csv"),
        ("par-data/data/german_credit.toml", "german_credit.toml"),
        ("par-model/tests/fixtures/external/network.onnx", "network.onnx"),
        ("par-model/tests/fixtures/external/network.toml", "network.toml"),
        ("par-model/tests/fixtures/external/boosting.onnx", "next.onnx"),
        ("par-model/tests/fixtures/external/boosting.toml", "next.toml"),
    ] {
        fs::copy(crates.join(from), sandbox.path(to)).expect("a copy");
    }
    sandbox.write("quick.toml", "[generator]\nexamples = 500\nsteps = 60\n\n[pool]\nsize = 300\n");
    sandbox
}

#[test]
fn other_classifiers_are_versions_of_a_fit_and_of_a_refit() {
    let sandbox = german();
    let fit = [
        "fit",
        "german_credit.csv",
        "--schema",
        "german_credit.toml",
        "--config",
        "quick.toml",
        "--classifier",
        "network.onnx",
        "--inputs",
        "network.toml",
        "--out",
    ];
    let also = ["--also", "next.onnx,inputs=next.toml,threshold=0.4"];
    let fitted = sandbox.json(&[&fit[..], &["a.par"], &also].concat());
    assert_eq!(fitted["versions"], serde_json::json!(["next.onnx"]));
    sandbox.run(&[&fit[..], &["b.par"]].concat());
    sandbox.run(&["refit", "b.par", "--also", also[1], "--out", "c.par"]);
    let [fitted, refitted] =
        ["a.par", "c.par"].map(|model| sandbox.json(&["inspect", model])["versions"].clone());
    assert_eq!(fitted, refitted);
    assert_eq!(fitted[0]["threshold"], 0.4);
    let some: String = sandbox.read("german_credit.csv").split_inclusive('\n').take(31).collect();
    sandbox.write("some.csv", some);
    let answers = |model: &str| {
        sandbox.run(&["recourse", model, "some.csv", "--robust", "--out", "ways.jsonl"]);
        sandbox.read("ways.jsonl")
    };
    assert_eq!(answers("a.par"), answers("c.par"));
    let ways = answers("c.par");
    assert!(ways.contains("\"the other version of the classifier accepts it\""), "{ways}");
    assert_eq!(
        sandbox.refused(&[
            "refit",
            "b.par",
            "--also",
            "next.onnx,inputs=next.toml,threshold=4",
            "--out",
            "d.par"
        ]),
        "error: next.onnx: the threshold is 4, expected a number above 0 and below 1\n"
    );
    assert_eq!(
        sandbox.refused(&[&fit[..], &["d.par", "--versions", "3"]].concat()),
        "error: 3 versions of the classifier are to be trained, but the classifier is supplied\n\
         hint: train them as it was trained, and add each as a file\n"
    );
}

#[test]
fn a_version_without_inputs_is_refused() {
    let sandbox = Sandbox::with_applicants();
    sandbox.write("next.onnx", "");
    assert_eq!(
        sandbox.refused(&[&FIT[..], &["--also", "next.onnx"]].concat()),
        "error: next.onnx: nothing says how a row becomes its inputs\n\
         hint: `par inputs init` drafts a file for `--also next.onnx,inputs=FILE`\n"
    );
    sandbox.run(&FIT);
    assert_eq!(
        sandbox.refused(&["refit", "a.par", "--also", "absent.onnx", "--out", "b.par"]),
        "error: absent.onnx: nothing says how a row becomes its inputs\n\
         hint: `par inputs init` drafts a file for `--also absent.onnx,inputs=FILE`\n"
    );
}
