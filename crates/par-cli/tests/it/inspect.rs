use crate::Sandbox;

#[test]
fn a_model_card_says_what_is_inside() {
    let sandbox = Sandbox::with_model();
    let card = sandbox.run(&["inspect", "a.par"]);
    let (facts, rest) = card.split_once("\n\n").expect("parts");
    assert!(facts.contains("\n  training rows     240; the model holds no copy of them\n"), "{facts}");
    let (features, configuration) = rest.split_once("\n\nconfiguration\n").expect("parts");
    insta::assert_snapshot!(features, @"
    5 features
      age        discrete    rises only  10  bins                20 | 24 | 28 | 33 | 37 | 42 | 46 | 51 | 55 | 60 | 64
      city       nominal     immutable    3  categories          Ulm, Jena, Kiel
      education  ordinal     rises only   3  ordered categories  low, middle, high
      income     continuous  free        10  bins                1000 | 1259 | 1550 | 1837 | 2146 | 2425 | 2724 | 3013 | 3302 | 3601 | 3900
      debt       discrete    free         8  numbers             0, 1, 2, 3, 4, 5, 6, 7

    rules
      education rises only if age rises too
    ");
    assert!(configuration.contains("\n  [pool]\n  size = 200\n"), "{configuration}");
}

#[test]
fn a_model_card_says_in_words_what_may_change_and_how_features_are_related() {
    let sandbox = Sandbox::with_applicants();
    let schema = sandbox.run(&["schema", "upgrade", "applicants.toml"]);
    let debt = "name = \"debt\"\nkind = \"discrete\"\nchange = \"free\"\n";
    assert!(schema.contains(debt), "{schema}");
    let keys =
        "step = { up = 1, down = 3 }\neffort = \"easy\"\nper = 2\ntakes = \"1 year\"\nwho = \"lender\"\n";
    let relation = "[[relation]]\nif_increases = \"income\"\nmust_decrease = \"debt\"\n";
    sandbox.write("second.toml", schema.replace(debt, &format!("{debt}{keys}")) + relation);
    let fit =
        ["fit", "applicants.csv", "--schema", "second.toml", "--config", "quick.toml", "--out", "b.par"];
    sandbox.run(&fit);

    let card = sandbox.run(&["inspect", "b.par"]);
    let (_, changes) = card.split_once("\n\nchanges\n").expect("changes");
    let (changes, _) = changes.split_once("\n\nconfiguration\n").expect("parts");
    insta::assert_snapshot!(format!("changes\n{changes}"), @"
    changes
      debt  at most 1 up, at most 3 down, effort easy per 2, takes 12 months, changed by the lender

    rules
      education rises only if age rises too
      income rises only if debt falls
    ");
    let facts = sandbox.json(&["inspect", "b.par"]);
    let debt = &facts["features"][4];
    assert_eq!((&debt["change"], &debt["who"]), (&"free".into(), &"lender".into()));
    assert_eq!(debt["step"], serde_json::json!({"up": 1.0, "down": 3.0, "at_least": null, "grid": null}));
    assert_eq!(debt["effort"], serde_json::json!({"weight": 1.0, "per": 2.0}));
    assert_eq!(debt["takes"], serde_json::json!({"months": 12.0, "per": null}));
    assert_eq!(facts["rules"].as_array().map(Vec::len), Some(1), "rules of version 1");
    assert_eq!(facts["relations"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_printed_configuration_reproduces_the_model() {
    let sandbox = Sandbox::with_model();
    sandbox.write("applicants.toml", crate::model::SCHEMA);
    let card = sandbox.run(&["inspect", "a.par"]);
    sandbox.write("again.toml", card.split_once("\nconfiguration\n").expect("parts").1);
    let fit = ["fit", "applicants.csv", "--schema", "applicants.toml", "--config", "again.toml"];
    sandbox.run(&[&fit[..], &["--out", "again.par"]].concat());
    assert!(sandbox.bytes("again.par") == sandbox.bytes("a.par"));
}

#[test]
fn a_file_that_is_not_a_model_is_refused() {
    let sandbox = Sandbox::with_model();
    assert_eq!(
        sandbox.refused(&["inspect", "applicants.csv"]),
        "error: applicants.csv: not a model file\nhint: `par fit` makes one from a table and its schema\n"
    );
    assert_eq!(
        sandbox.refused(&["inspect", "nowhere.par"]),
        "error: nowhere.par: cannot be opened: No such file or directory (os error 2)\n"
    );
    let bytes = sandbox.bytes("a.par");
    for length in [8, 30, bytes.len() / 2, bytes.len() - 1] {
        sandbox.write("cut.par", &bytes[..length]);
        let error = sandbox.refused(&["recourse", "cut.par", "applicants.csv", "--out", "ways.csv"]);
        assert!(error.starts_with("error: cut.par: the file is cut off or damaged: expected "), "{error}");
        assert!(error.ends_with("\nhint: copy it again, or make it again with `par fit`\n"), "{error}");
    }
    let mut later = bytes.clone();
    later[8] = 9;
    sandbox.write("later.par", later);
    assert_eq!(
        sandbox.refused(&["inspect", "later.par"]),
        "error: later.par: model files of version 9 are not known, this program reads versions up to 3\n"
    );
}
