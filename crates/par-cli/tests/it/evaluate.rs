use crate::Sandbox;

#[test]
fn an_evaluation_counts_the_rows_of_each_mean() {
    let sandbox = Sandbox::with_model();
    let evaluate = ["evaluate", "a.par", "applicants.csv", "--where", "fold=0"];
    let evaluation = sandbox.json(&evaluate);
    assert_eq!(evaluation["rows"], 48);
    assert_eq!(evaluation["model"]["classes"], serde_json::json!(["yes", "no"]));
    let denied = evaluation["denied"].as_u64().expect("a count");
    assert!(denied > 0 && denied < 48);
    let methods = evaluation["methods"].as_array().expect("a list");
    let names: Vec<&serde_json::Value> = methods.iter().map(|method| &method["method"]).collect();
    assert_eq!(names, ["generate", "refine", "exact"]);
    for method in methods {
        assert_eq!(method["validity"]["of"], denied);
        assert!(method["actionability"]["mean"].as_f64().is_none_or(|share| share == 1.0));
    }

    let text = sandbox.run(&evaluate);
    let titles: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.is_empty())
        .skip(2)
        .map(|line| line.split("  ").nth(1).expect("a title"))
        .collect();
    assert_eq!(
        titles,
        [
            "validity",
            "actionability",
            "causality",
            "nll",
            "nll given the person",
            "percentile",
            "similarity",
            "distance",
            "sparsity",
            "effort",
            "months",
            "score",
            "with margin",
            "median gap",
            "proved best",
            "median µs",
            "mean µs",
            "99th percentile µs"
        ]
    );
}

#[test]
fn a_row_that_cannot_be_read_ends_an_evaluation() {
    let sandbox = Sandbox::with_model();
    sandbox.write("bad.csv", "age,city,education,income,debt\n30,Ulm,low,1000,1\nold,Ulm,low,1000,1\n");
    let error = sandbox.refused(&["evaluate", "a.par", "bad.csv"]);
    assert!(
        error.starts_with("error: bad.csv, line 3, column `age`: expected a finite number, found `old`\n"),
        "{error}"
    );
    assert_eq!(
        sandbox.refused(&["evaluate", "a.par", "applicants.csv", "--where", "fold=9"]),
        "error: applicants.csv: none of 240 rows passes `fold=9`\n"
    );
}

#[test]
fn held_out_accepted_people_judge_every_method() {
    let sandbox = Sandbox::with_model();
    let judged = sandbox.json(&["evaluate", "a.par", "applicants.csv", "--judge"]);
    let judge = &judged["judge"];
    let accepted = judge["accepted"].as_u64().expect("a count");
    assert!(accepted > 50 && accepted <= 240 - judged["denied"].as_u64().expect("a count"));
    assert_eq!(
        (&judge["table"], &judge["rows"], &judge["labelled"], &judge["learner"]),
        (&"applicants.csv".into(), &accepted.into(), &true.into(), &"learnspn".into())
    );
    let methods = judge["methods"].as_array().expect("a list");
    assert_eq!(methods.iter().map(|of| &of["method"]).collect::<Vec<_>>(), ["generate", "refine", "exact"]);
    for (judgement, method) in methods.iter().zip(judged["methods"].as_array().expect("a list")) {
        for measure in ["distance", "outliers", "matched", "nll"] {
            assert_eq!(judgement[measure]["over"], method["effort"]["over"], "{measure}");
        }
        assert!(judgement["auc"].as_f64().is_some_and(|auc| (0.3..=1.0).contains(&auc)), "{judgement}");
    }
    assert_eq!(judge["held_out"]["distance"]["over"], accepted);

    let text = sandbox.run(&["evaluate", "a.par", "applicants.csv", "--judge"]);
    assert!(
        text.contains(&format!("  judge     {accepted} rows of applicants.csv that are accepted, ")),
        "{text}"
    );
    let titles: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("  judge  ") || !line.ends_with("held out"))
        .map(|line| line.trim_start().split("  ").next().expect("a title"))
        .collect();
    assert_eq!(titles, ["judge", "distance", "outliers", "auc", "matched", "nll, learnspn"]);
}

#[test]
fn another_table_may_judge_and_must_have_enough_accepted_people() {
    let sandbox = Sandbox::with_model();
    let applicants = sandbox.read("applicants.csv");
    let without_labels: String = applicants
        .lines()
        .map(|line| line.rsplitn(3, ',').last().expect("the cells before the label").to_string() + "\n")
        .collect();
    sandbox.write("others.csv", &without_labels);
    let evaluate = ["evaluate", "a.par", "applicants.csv", "--where", "fold=0", "--judge"];
    let judged = sandbox.json(&[&evaluate[..], &["others.csv"]].concat());
    let [own, others] =
        [&judged["rows"], &judged["judge"]["accepted"]].map(|count| count.as_u64().expect("a count"));
    assert!(own == 48 && others > 48, "{others} accepted people of all folds");
    assert_eq!(judged["judge"]["labelled"], false);
    let text = sandbox.run(&[&evaluate[..], &["others.csv"]].concat());
    assert!(text.contains(" that are accepted by the classifier alone, as there are no labels, "), "{text}");

    let error = sandbox.refused(&evaluate);
    assert!(
        error.starts_with("error: applicants.csv: ")
            && error.ends_with(
                " held-out accepted rows cannot judge answers, expected at least 50\n\
                 hint: `--judge HELD_OUT` judges by the rows of another table\n"
            ),
        "{error}"
    );
    sandbox.write("bad.csv", "age,city,education,income,debt\n30,Ulm,low,1000,1\nold,Ulm,low,1000,1\n");
    let error = sandbox.refused(&[&evaluate[..], &["bad.csv"]].concat());
    assert!(
        error.starts_with("error: bad.csv, line 3, column `age`: expected a finite number, found `old`\n"),
        "{error}"
    );
}
