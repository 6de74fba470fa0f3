use crate::Sandbox;

#[test]
fn commands_that_are_now_those_of_another_program_say_which() {
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
