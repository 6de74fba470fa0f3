use crate::Sandbox;

const HEADER: &str = "id,age,city,education,income,debt\n";

/// Holds a table of one denied and one accepted person.
fn two() -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.write("two.csv", format!("{HEADER}poor,30,Ulm,low,1000,7\nrich,40,Kiel,high,3800,0\n"));
    sandbox
}

#[test]
fn a_denied_person_gets_changes() {
    let sandbox = two();
    let answer = sandbox.run(&["explain", "a.par", "two.csv", "--id", "poor", "--method", "exact"]);
    let (row, ways) = answer.split_once("\n\n").expect("two parts");
    let (decision, cells) = row.split_once('\n').expect("two parts");
    assert!(decision.starts_with("poor: denied, probability 0."), "{decision}");
    assert!(decision.ends_with(", threshold 0.500"), "{decision}");
    insta::assert_snapshot!(cells, @"
    age        30 years
    city       Ulm
    education  primary school
    income     1000 EUR
    debt       7
    ");
    assert!(ways.starts_with("a way, with "), "{ways}");
    assert!(ways.contains("\n  income: 1000 → "), "{ways}");
    assert!(ways.contains("\n  accepted with probability "), "{ways}");
    assert!(ways.contains("\n  effort 1."), "{ways}");
    let proof = "proved: no other combination of values with at most 1 change is as plausible and sure and takes \
                 less effort";
    assert!(ways.contains(proof), "{ways}");
    let likeliest =
        ["explain", "a.par", "two.csv", "--id", "poor", "--method", "exact", "--order", "likelihood"];
    let ways = sandbox.run(&likeliest);
    assert!(ways.contains("\n  proved: no other combination of values with "), "{ways}");
    assert!(ways.contains("\n\nby number of changes\n  1 change: effort "), "{ways}");
}

#[test]
fn an_accepted_person_needs_no_change() {
    let sandbox = two();
    let answer = sandbox.run(&["explain", "a.par", "two.csv", "--id", "rich"]);
    assert!(answer.starts_with("rich: accepted, probability "), "{answer}");
    assert!(answer.ends_with("\n\nnothing has to change\n"), "{answer}");
}

#[test]
fn a_person_without_a_way_gets_the_obstacles() {
    let sandbox = two();
    let locked = [
        "explain", "a.par", "two.csv", "--id", "poor", "--lock", "age", "--lock", "income", "--lock", "debt",
    ];
    let answer = sandbox.run(&locked);
    let end = answer.split_once("\n\n").expect("two parts").1;
    insta::assert_snapshot!(end, @"
    no way was found: nothing is left that may change
    what would help: unlock `income`
    ");
    let answer = sandbox.json(&locked);
    assert_eq!((&answer["status"], &answer["reason"]), (&"not_found".into(), &"nothing_to_change".into()));
}

#[test]
fn obstacles_in_the_schema_are_searched_only_for_an_auditor() {
    let sandbox = two();
    let command = ["explain", "a.par", "two.csv", "--id", "poor", "--threshold", "0.999999999999"];
    let answer = sandbox.json(&command);
    assert_eq!((&answer["status"], &answer["obstacles"]), (&"not_found".into(), &serde_json::json!([])));
    assert!(answer["schema_obstacles"].is_null() && answer["remedy"].is_null(), "{answer}");
    let text = sandbox.run(&command);
    assert!(text.ends_with("no wish of the request is known to be an obstacle\n"), "{text}");
    let auditor = [&command[..], &["--auditor"]].concat();
    let audited = sandbox.json(&auditor);
    assert!(audited["schema_obstacles"].is_array() && audited["remedy"].is_null(), "{audited}");
    let text = sandbox.run(&auditor);
    assert!(text.contains("\nfor the auditor, what would help in the schema: "), "{text}");
}

#[test]
fn every_way_has_its_strengths() {
    let sandbox = Sandbox::with_model();
    let command = ["explain", "a.par", "applicants.csv", "--id", "p75", "--count", "3"];
    let answer = sandbox.json(&command);
    let ways = answer["ways"].as_array().expect("ways");
    let strengths: Vec<&serde_json::Value> = ways.iter().map(|way| &way["best_at"]).collect();
    let expected = serde_json::json!([
        ["least_effort", "fewest_changes"],
        ["fewest_changes", "most_common"],
        ["surest"],
    ]);
    assert_eq!(serde_json::json!(strengths), expected, "{answer}");
    let effort = |way: &serde_json::Value| way["effort"].as_f64();
    assert!(ways.iter().all(|way| effort(way) >= effort(&ways[0])), "{answer}");
    assert!(sandbox.run(&command).contains("\nway 1, with 1 change: least effort, fewest changes\n"));
    let likeliest = sandbox.json(&[&command[..], &["--order", "likelihood"]].concat());
    let likelihoods = |answer: &serde_json::Value| answer["ways"][0]["log_likelihood"].as_f64();
    assert!(likelihoods(&likeliest) >= likelihoods(&answer));
}

#[test]
fn a_person_is_found_by_id_or_by_the_number_of_the_row() {
    let sandbox = two();
    assert_eq!(
        sandbox.refused(&["explain", "a.par", "two.csv", "--id", "nobody"]),
        "error: two.csv: none of 2 rows has `nobody` in column `id`\n"
    );
    sandbox.write("twice.csv", sandbox.read("two.csv").replace("rich", "poor"));
    assert_eq!(
        sandbox.refused(&["explain", "a.par", "twice.csv", "--id", "poor"]),
        "error: twice.csv, line 3: `poor` names a second row, the first is twice.csv, line 2\n\
         hint: leave all but one of them out of the table\n"
    );
    sandbox.write("none.csv", HEADER);
    assert_eq!(
        sandbox.refused(&["explain", "a.par", "none.csv", "--id", "poor"]),
        "error: none.csv: there are no rows, expected at least one below the column names\n"
    );
    sandbox.write("bare.csv", sandbox.read("two.csv").replace("id,", "name,"));
    assert_eq!(sandbox.json(&["explain", "a.par", "bare.csv", "--id", "2"])["status"], "accepted");
    assert_eq!(
        sandbox.refused(&["explain", "a.par", "bare.csv", "--id", "3"]),
        "error: bare.csv: no row `3`, expected a number from 1 to 2\n\
         hint: the table has no id column, so that rows go by their number\n"
    );
}

#[test]
fn a_cell_that_does_not_fit_is_an_error() {
    let sandbox = Sandbox::with_model();
    sandbox.write("bad.csv", format!("{HEADER}x,30,Ulmm,low,1000,7\n"));
    let error = sandbox.refused(&["explain", "a.par", "bad.csv", "--id", "x"]);
    assert!(
        error.starts_with("error: bad.csv, line 2, column `city`: no category `Ulmm`, did you mean `Ulm`?\n"),
        "{error}"
    );
}

#[test]
fn what_is_accepted_but_too_unusual_is_for_the_auditor_alone() {
    let sandbox = two();
    let command = ["explain", "a.par", "two.csv", "--id", "poor", "--budget", "1", "--min-percentile", "1"];
    let answer = sandbox.json(&command);
    assert_eq!(
        (&answer["status"], &answer["reason"]),
        (&"not_found".into(), &"only_unusual".into()),
        "{answer}"
    );
    assert!(answer["unusual"].is_null() && answer["ways"] == serde_json::json!([]), "{answer}");
    let text = sandbox.run(&command);
    assert!(
        text.contains("no way was found: what would be accepted is rarer than") && !text.contains("auditor"),
        "{text}"
    );
    let auditor = [&command[..], &["--auditor"]].concat();
    let audited = sandbox.json(&auditor);
    let way = &audited["unusual"][0];
    assert!(way["percentile"].as_f64().is_some_and(|share| share < 1.0), "{audited}");
    assert_eq!(way["changes"].as_array().map(Vec::len), Some(1), "{audited}");
    let text = sandbox.run(&auditor);
    assert!(
        text.contains("\nfor the auditor, accepted but too unusual to be offered, with 1 change\n"),
        "{text}"
    );
    assert_eq!(
        sandbox.refused(&["explain", "a.par", "two.csv", "--id", "poor", "--min-percentile", "2"]),
        "error: `--min-percentile`: expected a number from 0 to 1, found `2`\n"
    );
}
