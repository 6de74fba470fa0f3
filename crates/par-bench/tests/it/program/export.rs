use par_model::Model;

use crate::sandbox::Sandbox;

/// The lines of a CSV by column.
fn lines(sandbox: &Sandbox, file: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let text = sandbox.read(file);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|line| line.expect("a line")).collect()
}

#[test]
fn the_questions_of_a_fold_can_be_answered_without_us() {
    let sandbox = Sandbox::with_applicants();
    let arguments = ["--table", "applicants.csv", "--schema", "applicants.toml", "--config", "quick.toml"];
    let said = sandbox.run(&[&["export"], &arguments[..], &["--out", "questions"]].concat());
    assert!(said.starts_with("written to questions: 5 folds with "), "{said}");

    let all = lines(&sandbox, "applicants.csv");
    let mut denied = 0;
    for fold in ["0", "1", "2", "3", "4"] {
        let file = |name: &str| format!("questions/applicants/{fold}/{name}");
        let model = Model::load(sandbox.path(&file("model.par"))).expect("a model");
        let questions: serde_json::Value =
            serde_json::from_str(&sandbox.read(&file("questions.json"))).expect("JSON");
        assert_eq!(questions["threshold"].as_f64(), Some(model.threshold()));
        let names = ["age", "city", "education", "income", "debt"];
        let score = |line: &std::collections::BTreeMap<String, String>| {
            model.score(&names.map(|name| line[name].as_str())).expect("a score")
        };

        let training = lines(&sandbox, &file("training.csv"));
        assert_eq!(training.len(), all.iter().filter(|line| line["fold"] != fold).count());
        for line in &training {
            assert_eq!(line["accepted"] == "1", score(line) >= model.threshold(), "{line:?}");
            assert!(["yes", "no"].contains(&line["decision"].as_str()), "{line:?}");
        }
        let people = lines(&sandbox, &file("people.csv"));
        denied += people.len();
        for line in &all {
            let asked = people.iter().any(|person| person["id"] == line["id"]);
            assert_eq!(asked, line["fold"] == fold && score(line) < model.threshold(), "{line:?}");
        }
    }
    assert!(denied > 0 && said.ends_with(&format!("{denied} denied people\n")), "{said}");

    let questions: serde_json::Value =
        serde_json::from_str(&sandbox.read("questions/applicants/0/questions.json")).expect("JSON");
    assert_eq!((&questions["case"], &questions["fold"]), (&"applicants".into(), &"0".into()));
    let expected = serde_json::json!([
        {"name": "age", "kind": "discrete", "values": null, "change": "increase", "missing": false},
        {"name": "city", "kind": "nominal", "values": ["Ulm", "Jena", "Kiel"], "change": "never", "missing": false},
        {"name": "education", "kind": "ordinal", "values": ["low", "middle", "high"], "change": "increase",
         "missing": false},
        {"name": "income", "kind": "continuous", "values": null, "change": "free", "missing": false},
        {"name": "debt", "kind": "discrete", "values": null, "change": "free", "missing": false},
    ]);
    let mut features = questions["features"].clone();
    for feature in features.as_array_mut().expect("a list") {
        let range = feature.as_object_mut().expect("an object").remove("range").expect("a range");
        assert_eq!(range.is_null(), !feature["values"].is_null(), "{feature}");
    }
    assert_eq!(features, expected);
}

#[test]
fn a_column_of_ours_gives_way_to_the_label() {
    let sandbox = Sandbox::with_applicants();
    for (file, text) in [("applicants.csv", "decision,fold"), ("applicants.toml", "\"decision\"")] {
        let renamed = sandbox.read(file).replace(text, &text.replace("decision", "accepted"));
        sandbox.write(file, renamed);
    }
    let arguments = ["--table", "applicants.csv", "--schema", "applicants.toml", "--config", "quick.toml"];
    sandbox.run(&[&["export"], &arguments[..], &["--out", "questions"]].concat());
    let text = sandbox.read("questions/applicants/0/training.csv");
    assert_eq!(text.lines().next(), Some("age,city,education,income,debt,accepted,par_accepted"));
}
