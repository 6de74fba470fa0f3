use crate::Sandbox;
use crate::model::FIT;

#[test]
fn a_fit_writes_a_model_and_prints_a_summary() {
    let sandbox = Sandbox::with_applicants();
    let fitted = sandbox.run(&FIT);
    let stable = ["rows", "features", "threshold", "accepted pool"];
    let lines: Vec<&str> =
        fitted.lines().filter(|line| stable.iter().any(|title| line.trim().starts_with(title))).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    rows              240: 110 accepted (yes), 130 denied (no)
    features          5, immutable: city
    threshold         0.500
    accepted pool     200 rows
    ");
    for title in ["classifier", "accepted circuit", "denied circuit", "generator", "seconds", "written to"] {
        assert!(fitted.contains(&format!("\n  {title} ")), "{title}: {fitted}");
    }
    assert_eq!(sandbox.files(), ["a.par", "applicants.csv", "applicants.toml", "quick.toml"]);

    let summary = sandbox.json(&[&FIT[..], &["--where", "fold!=0"]].concat());
    assert_eq!(summary["rows"], 192);
    assert_eq!(summary["bytes"], sandbox.bytes("a.par").len());
    assert_eq!(summary["warnings"], serde_json::json!([]));
}

#[test]
fn same_seed_same_bytes_on_any_number_of_threads() {
    let sandbox = Sandbox::with_applicants();
    let model = |threads: &str, seed: &str| {
        let arguments = [&FIT[..], &["--seed", seed]].concat();
        sandbox.par(&arguments).env("RAYON_NUM_THREADS", threads).assert().success();
        sandbox.bytes("a.par")
    };
    assert!(model("1", "3") == model("2", "3"));
    assert!(model("2", "3") != model("2", "4"));
}

#[test]
fn options_override_the_file_and_the_file_overrides_the_preset() {
    let sandbox = Sandbox::with_applicants();
    sandbox.run(
        &[&FIT[..], &["--preset", "paper", "--price", "0.5", "--threshold", "youden", "--bins", "5"]]
            .concat(),
    );
    let config = sandbox.json(&["inspect", "a.par"])["config"].clone();
    assert_eq!(config["answers"]["search"], "paper");
    assert_eq!(config["answers"]["price"], 0.5);
    assert_eq!(config["classifier"]["threshold"], "youden");
    assert_eq!(config["bins"]["bins"], 5);
    assert_eq!(config["generator"]["steps"], 60);
    assert_eq!(config["circuits"]["learner"], "learnspn");
}

#[track_caller]
fn refused(config: &str, arguments: &[&str]) -> String {
    let sandbox = Sandbox::with_applicants();
    sandbox.write("quick.toml", config);
    sandbox.refused(&[&FIT[..], arguments].concat())
}

#[test]
fn an_invalid_configuration_is_refused() {
    let unknown = refused("seed = 1\n\n[answers]\nbugdet = 3\n", &[]);
    assert!(
        unknown.starts_with("error: quick.toml, line 4: unknown field `bugdet`, expected one of `budget`, "),
        "{unknown}"
    );
    let no_toml = refused("seed = 1\nseed\n", &[]);
    assert!(no_toml.starts_with("error: quick.toml, line 2: "), "{no_toml}");
    assert_eq!(
        refused("[pool]\nsize = 0\n", &[]),
        "error: quick.toml: `pool.size` is 0, expected 1 to 1000000\n"
    );
    assert_eq!(
        refused("seed = \"many\"\n", &[]),
        "error: quick.toml, line 1: invalid type: string \"many\", expected a whole number, at least 0\n"
    );
    assert_eq!(refused("", &["--bins", "1"]), "error: `bins` is 1, expected 2 to 1000\n");
    assert_eq!(
        refused("", &["--favourable", "Yes"]),
        "error: applicants.toml: the label has no class `Yes`, did you mean `yes`?\n"
    );
}

#[test]
fn rows_of_one_class_are_not_enough() {
    let sandbox = Sandbox::with_applicants();
    assert_eq!(
        sandbox.refused(&[&FIT[..], &["--where", "decision=yes"]].concat()),
        "error: applicants.csv: every training row is accepted, expected rows of both classes\n"
    );
    assert_eq!(
        sandbox.refused(&[&FIT[..], &["--where", "fold=9"]].concat()),
        "error: applicants.csv: none of 240 rows passes `fold=9`\n"
    );
}

#[test]
fn a_schema_with_only_immutable_features_is_refused() {
    let sandbox = Sandbox::with_applicants();
    let schema = sandbox.read("applicants.toml").replace("monotone = \"increasing\"\n", "");
    let (schema, _) = schema.split_once("\n[[rule]]").expect("a rule at the end");
    let schema =
        schema.replace("immutable = true\n", "").replace("[[feature]]", "[[feature]]\nimmutable = true");
    sandbox.write("applicants.toml", schema);
    assert_eq!(
        sandbox.refused(&FIT),
        "error: nothing can change: every feature is immutable\n\
         hint: let one change in the schema, or take it out of the configuration's `immutable`\n"
    );
}

#[test]
fn a_classifier_that_denies_no_row_causes_a_warning() {
    let sandbox = Sandbox::with_applicants();
    let fitted = sandbox.run(&[&FIT[..], &["--threshold", "0.000000001"]].concat());
    assert!(
        fitted.contains("\nwarning: the classifier denies no row, so no recourse is needed\n"),
        "{fitted}"
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_because_the_table_is_read_more_than_once() {
    let sandbox = Sandbox::with_applicants();
    let fit = ["fit", "/dev/stdin", "--schema", "applicants.toml", "--out", "a.par"];
    let output = sandbox.par(&fit).write_stdin("id\n").output().expect("par starts");
    assert_eq!(
        String::from_utf8(output.stderr).expect("UTF-8"),
        "error: /dev/stdin: is a device or a pipe, and the table is read more than once\n\
         hint: save it to a file first\n"
    );
}

#[test]
fn input_files_are_not_overwritten() {
    let sandbox = Sandbox::with_applicants();
    for out in ["applicants.csv", "applicants.toml", "quick.toml"] {
        let error = sandbox.refused(&[&FIT[..7], &[out]].concat());
        assert_eq!(
            error,
            format!(
                "error: {out}: is read from, and writing would replace it\nhint: write to another file\n"
            )
        );
    }
}

#[test]
fn a_refit_needs_no_table() {
    let sandbox = Sandbox::with_model();
    std::fs::remove_file(sandbox.path("applicants.csv")).expect("a file");
    let refit = ["refit", "a.par", "--out", "b.par"];
    let summary = sandbox.json(&[&refit[..], &["--immutable", "age", "--immutable", "income"]].concat());
    assert_eq!(summary["immutable"], serde_json::json!(["age", "city", "income"]), "besides the schema's");
    let features = sandbox.json(&["inspect", "b.par"])["features"].clone();
    let immutable: Vec<&serde_json::Value> =
        features.as_array().expect("a list").iter().map(|feature| &feature["immutable"]).collect();
    assert_eq!(immutable, [true, true, false, true, false]);

    let free = sandbox.run(&[&refit[..], &["--nothing-immutable"]].concat());
    assert!(
        free.contains("\n  features          5, immutable: city\n"),
        "nothing frees what the schema holds: {free}"
    );
    let neither = sandbox.refused(&["refit", "a.par", "--out", "c.par"]);
    assert!(neither.contains("<--immutable <FEATURE>|--nothing-immutable|--also <FILE"), "{neither}");
    assert_eq!(
        sandbox.refused(&["refit", "a.par", "--out", "c.par", "--immutable", "Agee"]),
        "error: a.par: no feature `Agee`, did you mean `age`?\n"
    );
}
