use crate::Sandbox;

#[test]
fn the_demo_writes_files_that_later_commands_read() {
    let sandbox = Sandbox::new();
    let printed = sandbox.run(&["demo", "--out", "try"]);
    assert!(
        printed.starts_with("German Credit: 800 rows to learn from, 200 held out, 20 features\n"),
        "{printed}"
    );
    let names =
        ["german_credit.csv", "german_credit.par", "german_credit.toml", "recourse.csv", "report.html"];
    let mut files: Vec<String> = std::fs::read_dir(sandbox.path("try"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, names);
    let written =
        printed.lines().find(|line| line.starts_with("written to try: ")).expect("a line about files");
    for name in names {
        assert!(written.contains(name), "{written}");
    }

    let recourse = sandbox.read("try/recourse.csv");
    assert!(
        recourse.starts_with(
            "id,rank,status,reason,probability,log_likelihood,conditional_log_likelihood,percentile,"
        ),
        "{recourse}"
    );
    assert!(
        recourse.lines().skip(1).all(|line| line.contains(",1,found,,") || line.contains(",,not_found,"))
    );
    let report = sandbox.read("try/report.html");
    assert!(report.starts_with("<!doctype html>") && report.ends_with("</html>\n"));
    let promise = "What nobody can change is never advised: ";
    let unchangeable =
        report.split(promise).nth(1).and_then(|rest| rest.split(".<").next()).expect("a promise");
    for feature in sandbox.json(&["inspect", "try/german_credit.par"])["features"].as_array().expect("a list")
    {
        let name = feature["name"].as_str().expect("a name");
        assert_eq!(
            unchangeable.split(", ").any(|other| other == name),
            feature["immutable"] == true,
            "{name}"
        );
    }
    for needed_from_elsewhere in
        ["http:", "https:", "//", "@import", "url(", "src=", "href=", "<script", "<link"]
    {
        assert!(!report.contains(needed_from_elsewhere), "{needed_from_elsewhere}");
    }

    let schema = ["schema", "check", "try/german_credit.csv", "try/german_credit.toml"];
    let worth_a_look = serde_json::json!([
        "Duration: cells outside the bounds 12 to 72: 180",
        "Present employment since: it may change, but its name says: a length of time",
    ]);
    assert_eq!(sandbox.json(&schema)["worth_a_look"], worth_a_look);
    for line in printed.lines().skip_while(|line| *line != "go on with").skip(1) {
        let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
        assert_ne!(sandbox.run(&arguments), "", "{line}");
    }
}
