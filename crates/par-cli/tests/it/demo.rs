use std::thread;

use crate::Sandbox;

/// What `par demo` prints, on so many threads.
fn demo(sandbox: &Sandbox, threads: &str) -> String {
    let output = sandbox.par(&["demo", "--out", "try"]).env("RAYON_NUM_THREADS", threads).output();
    let output = output.expect("par starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    assert_eq!((output.status.code(), text(output.stderr)), (Some(0), String::new()));
    text(output.stdout)
}

/// The words of all lines but times, which end a line of the table and begin the one that adds them up.
fn but_times(told: &str) -> Vec<Vec<&str>> {
    told.lines()
        .filter(|line| !line.contains(" seconds, "))
        .map(|line| {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            if words.last().is_some_and(|last| matches!(*last, "µs" | "ms" | "s")) {
                words.truncate(words.len() - 2);
            }
            words
        })
        .collect()
}

#[test]
fn the_demo_leaves_files_to_go_on_with_that_are_the_same_on_any_number_of_threads() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    let (told, told_otherwise) = thread::scope(|scope| {
        let one = scope.spawn(|| demo(&other, "1"));
        (demo(&sandbox, "2"), one.join().expect("a demo on one thread"))
    });
    for name in ["try/german_credit.par", "try/recourse.csv"] {
        assert!(sandbox.bytes(name) == other.bytes(name), "{name}");
    }
    assert_eq!(but_times(&told), but_times(&told_otherwise));

    assert!(told.starts_with("German Credit: 800 rows to learn from, 200 held out, 20 features\n"), "{told}");
    let names =
        ["german_credit.csv", "german_credit.par", "german_credit.toml", "recourse.csv", "report.html"];
    let mut files: Vec<String> = std::fs::read_dir(sandbox.path("try"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, names);
    let written = told.lines().find(|line| line.starts_with("written to try: ")).expect("a line about files");
    for name in names {
        assert!(written.contains(name), "{written}");
    }

    let recourse = sandbox.read("try/recourse.csv");
    assert!(
        recourse.starts_with("id,rank,status,reason,probability,log_likelihood,percentile,"),
        "{recourse}"
    );
    assert!(
        recourse.lines().skip(1).all(|line| line.contains(",1,found,,") || line.contains(",,not_found,"))
    );
    let report = sandbox.read("try/report.html");
    assert!(report.starts_with("<!doctype html>") && report.ends_with("</html>\n"));
    for needed_from_elsewhere in
        ["http:", "https:", "//", "@import", "url(", "src=", "href=", "<script", "<link"]
    {
        assert!(!report.contains(needed_from_elsewhere), "{needed_from_elsewhere}");
    }

    let schema = ["schema", "check", "try/german_credit.csv", "try/german_credit.toml"];
    assert_eq!(sandbox.json(&schema)["worth_a_look"], serde_json::json!([]));
    for line in told.lines().skip_while(|line| *line != "go on with").skip(1) {
        let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
        assert_ne!(sandbox.run(&arguments), "", "{line}");
    }
}
