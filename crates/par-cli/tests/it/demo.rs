use crate::Sandbox;

#[test]
fn the_demo_leaves_files_to_go_on_with() {
    let sandbox = Sandbox::new();
    let told = sandbox.run(&["demo", "--out", "try"]);
    assert!(told.starts_with("German Credit: 800 rows to learn from, 200 held out, 20 features\n"), "{told}");
    for line in told.lines().skip_while(|line| *line != "go on with").skip(1) {
        let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
        assert_ne!(sandbox.run(&arguments), "", "{line}");
    }
    let schema = ["schema", "check", "try/german_credit.csv", "try/german_credit.toml"];
    assert_eq!(sandbox.json(&schema)["worth_a_look"], serde_json::json!([]));
    let scored = sandbox.json(&["circuit", "score", "try/denied.circuit", "try/german_credit.csv"]);
    assert_eq!(scored["rows"], 1000);
}
