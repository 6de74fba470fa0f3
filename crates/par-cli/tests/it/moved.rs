use crate::Sandbox;

#[test]
fn moved_commands_name_the_new_program() {
    let sandbox = Sandbox::new();
    for (arguments, now) in [
        (&["bench", "--suite", "tables", "--out", "results"][..], ""),
        (&["bench", "--help"], ""),
        (&["tune", "people.csv", "--out", "tuned.toml"], "tune "),
        (&["report", "figures.csv", "--show", "answers"], "report "),
    ] {
        assert_eq!(
            sandbox.refused(arguments),
            format!(
                "error: `par {}` is now a program of its own: cargo run --release -p par-bench -- {now}…\n",
                arguments[0]
            )
        );
    }
    let help = sandbox.run(&["--help"]);
    assert!(!help.contains("bench") && !help.contains("tune") && !help.contains("report of"), "{help}");
}
