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
            "similarity",
            "distance",
            "sparsity",
            "effort",
            "months",
            "score",
            "with margin",
            "median gap",
            "proved best",
            "median µs"
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
