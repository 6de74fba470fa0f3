//! More than two classes, and labels that are numbers.

use crate::Sandbox;
use crate::model::FIT;

/// The applicants with a third class: some of the denied are told `later`.
fn three_classes() -> Sandbox {
    let sandbox = Sandbox::with_applicants();
    let rows =
        sandbox.read("applicants.csv").replace(",no,1\n", ",later,1\n").replace(",no,2\n", ",later,2\n");
    sandbox.write("applicants.csv", rows);
    let schema = sandbox.read("applicants.toml").replace("[\"no\", \"yes\"]", "[\"no\", \"later\", \"yes\"]");
    sandbox.write("applicants.toml", schema);
    sandbox
}

/// The applicants, whose income is to be predicted.
fn incomes() -> Sandbox {
    let sandbox = Sandbox::with_applicants();
    let schema = sandbox.read("applicants.toml");
    let (before, after) = schema.split_once("[label]").expect("a label");
    let (_, features) = after.split_once("[[feature]]").expect("a feature");
    let features =
        features.replace("[[feature]]\nname = \"income\"\nkind = \"continuous\"\nunit = \"EUR\"\n\n", "");
    let label = "[label]\ncolumn = \"income\"\nat_least = 2400\nunit = \"EUR\"\n";
    sandbox.write("applicants.toml", format!("{before}{label}\n[[feature]]{features}"));
    sandbox
}

#[test]
fn a_fit_says_which_classes_count_as_accepted() {
    let sandbox = three_classes();
    let fitted = sandbox.run(&FIT);
    assert!(fitted.contains("\n  classes           yes: accepted; no, later: denied\n"), "{fitted}");
    let fitted = sandbox.run(&[&FIT[..], &["--favourable", "yes,later"]].concat());
    assert!(fitted.contains("\n  classes           later, yes: accepted; no: denied\n"), "{fitted}");
    let inspected = sandbox.run(&["inspect", "a.par"]);
    assert!(inspected.contains("\n  accepted          later, yes, 161 rows\n"), "{inspected}");
    let checked = sandbox.run(&["schema", "check", "applicants.csv", "applicants.toml"]);
    assert!(checked.contains("favourable") && checked.contains("denied"), "{checked}");
}

#[test]
fn a_set_of_classes_that_cannot_be_is_refused() {
    let sandbox = three_classes();
    for (names, expected) in [
        ("yes,latr", "the label has no class `latr`, did you mean `later`?\n"),
        ("yes,yes", "the favourable class `yes` is named twice\n"),
        (
            "yes,no,later",
            "all 3 classes are favourable, so that nobody is denied\n\
             hint: leave out those that a person does not want\n",
        ),
    ] {
        let message = sandbox.refused(&[&FIT[..], &["--favourable", names]].concat());
        assert_eq!(message, format!("error: applicants.toml: {expected}"));
    }
}

#[test]
fn a_draft_takes_several_classes_or_a_number() {
    let sandbox = three_classes();
    let draft = |options: &[&str]| {
        let all = [&["schema", "init", "applicants.csv", "--label"], options].concat();
        let output = sandbox.par(&all).output().expect("the program starts");
        String::from_utf8(output.stdout).expect("UTF-8") + &String::from_utf8(output.stderr).expect("UTF-8")
    };
    let classes = draft(&["decision", "--favourable", "yes,later"]);
    assert!(classes.contains("favourable = [\"later\", \"yes\"]  # as given\n"), "{classes}");
    assert!(classes.contains("favourable: \"later\", \"yes\" (as given); denied: \"no\"\n"), "{classes}");
    let number = draft(&["income", "--at-least", "2400"]);
    assert!(number.contains("[label]\ncolumn = \"income\"  # as given\nat_least = 2400\n"), "{number}");
    assert!(number.contains("favourable: at least 2,400 (as given)\n"), "{number}");
}

#[test]
fn a_regression_is_told_in_the_unit_of_its_label() {
    let sandbox = incomes();
    let fitted = sandbox.run(&FIT);
    assert!(fitted.contains("at least 2,400 EUR"), "{fitted}");
    assert!(fitted.contains(", a regression, R² "), "{fitted}");
    let inspected = sandbox.run(&["inspect", "a.par"]);
    assert!(inspected.contains("\n  threshold         at least 2,400 EUR\n"), "{inspected}");
    let told = sandbox.run(&["explain", "a.par", "applicants.csv", "--id", "p0", "--threshold", "3500"]);
    assert!(told.starts_with("p0: denied, predicted "), "{told}");
    let first = told.lines().next().expect("a line");
    assert!(first.ends_with(" EUR, at least 3,500 EUR is needed"), "{told}");
    let answer = sandbox.json(&["explain", "a.par", "applicants.csv", "--id", "p0", "--threshold", "3500"]);
    assert_eq!(answer["threshold"], 3500.0);
    assert!(answer["score_words"].as_str().expect("words").starts_with("predicted "), "{answer}");
    let refused =
        sandbox.refused(&["explain", "a.par", "applicants.csv", "--id", "p0", "--threshold", "much"]);
    assert!(refused.contains("expected a number, in the unit of the label"), "{refused}");
}

#[test]
fn labels_that_are_no_numbers_are_refused_with_their_line() {
    let sandbox = incomes();
    let rows = sandbox.read("applicants.csv").replacen(",1000,", ",much,", 1);
    sandbox.write("applicants.csv", rows);
    let refused = sandbox.refused(&FIT);
    assert_eq!(
        refused,
        "error: applicants.csv, line 2, column `income`: expected a finite number, the label, found `much`\n\
         hint: correct the cell, or leave out rows without a label\n"
    );
}
