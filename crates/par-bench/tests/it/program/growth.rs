use crate::sandbox::Sandbox;

/// The smallest size that can be learned from, in seconds.
const TINY: [&str; 9] = ["growth", "--columns", "4", "--rows", "300", "--people", "3", "--out", "out"];

#[test]
fn a_size_is_measured_and_reported() {
    let sandbox = Sandbox::with_applicants();
    let printed = sandbox.run(&TINY);
    assert!(printed.contains("synthetic: learning, by size of the table"), "{printed}");
    assert!(printed.contains("4 × 300, refine"), "{printed}");
    let figures = sandbox.read("out/figures.csv");
    for metric in ["time_us_p99@columns=4; rows=300", "gap_effort@columns=4; rows=300"] {
        assert!(figures.contains(metric), "{metric} in {figures}");
    }
    assert!(sandbox.read("out/report.html").contains("by size of the table"));
    assert!(!sandbox.path("out/parts").exists());
}

#[test]
fn tables_with_folds_are_measured_as_one_size() {
    let sandbox = Sandbox::with_applicants();
    let printed = sandbox.run(&["growth", "--suite", ".", "--fit-only", "--out", "out"]);
    assert!(printed.contains("applicants: learning, by size of the table"), "{printed}");
    assert!(!printed.contains("refine") && !printed.contains("synthetic"), "{printed}");
}

#[test]
fn sizes_out_of_range_are_refused() {
    let sandbox = Sandbox::with_applicants();
    let refused = |arguments: &[&str]| {
        let error = sandbox.refused(&[&["growth", "--out", "out"], arguments].concat());
        error.lines().next().unwrap_or_default().to_string()
    };
    assert_eq!(
        refused(&["--columns", "10,1"]),
        "error: invalid value '1' for '--columns <COUNT>': 1 is not in 2..=5000"
    );
    assert_eq!(
        refused(&["--rows", "100"]),
        "error: invalid value '100' for '--rows <COUNT>': 100 is not in 200..=100000000"
    );
    assert_eq!(
        refused(&["--rows", "many"]),
        "error: invalid value 'many' for '--rows <COUNT>': invalid digit found in string"
    );
    assert_eq!(refused(&["--order", "best"]), "error: invalid value 'best' for '--order <ORDER>'");
    assert_eq!(
        refused(&["--suite", "nowhere"]),
        "error: nowhere: cannot be read: No such file or directory (os error 2)"
    );
    assert!(!sandbox.path("out").exists(), "nothing is written");
}
