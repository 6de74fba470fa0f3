use crate::sandbox::Sandbox;

const HEADER: &str = "table,fold,method,metric,value,over,of\n";

/// Figures of two folds.
fn figures() -> String {
    let mut text = HEADER.to_string();
    for (fold, nll) in [("0", "17.0"), ("1", "18.0")] {
        text += &format!("credit,{fold},refine,validity,1,20,20\n");
        text += &format!("credit,{fold},refine,nll,{nll},20,20\n");
        text += &format!("credit,{fold},refine,sparsity,2.5,20,20\n");
        text += &format!("credit,{fold},refine,time_us,120,20,20\n");
    }
    text
}

#[test]
fn a_report_can_be_made_again_from_figures_alone() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("run")).expect("a folder");
    sandbox.write("run/figures.csv", figures());
    let printed = sandbox.run(&["report", "run/figures.csv"]);
    assert_eq!(printed, "written to run: report.html, plots/*.svg\n");
    let page = sandbox.read("run/report.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("17.50 ± 0.71"), "{page}");
    let plot = sandbox.read("run/plots/credit-pareto.svg");
    assert!(plot.starts_with("<?xml") && plot.ends_with("</svg>\n"));

    sandbox.run(&["report", "run/figures.csv", "--out", "elsewhere/deep"]);
    assert_eq!(sandbox.read("elsewhere/deep/report.html"), page);
    assert_eq!(sandbox.read("elsewhere/deep/plots/credit-pareto.svg"), plot);

    // Charts of an earlier report are removed.
    sandbox.write("elsewhere/deep/plots/old.svg", "<svg/>");
    sandbox.run(&["report", "run/figures.csv", "--out", "elsewhere/deep"]);
    assert!(!sandbox.path("elsewhere/deep/plots/old.svg").exists());
}

#[test]
fn figures_are_not_overwritten() {
    let sandbox = Sandbox::new();
    sandbox.write("report.html", figures());
    assert_eq!(
        sandbox.refused(&["report", "report.html"]),
        "error: ./report.html: is read from, and writing would replace it\nhint: write to another file\n"
    );
    assert_eq!(sandbox.read("report.html"), figures());
}

#[test]
fn tables_are_printed_without_writing_anything() {
    let sandbox = Sandbox::new();
    sandbox.write("figures.csv", figures());
    let printed = sandbox.run(&["report", "figures.csv", "--show", "answers"]);
    assert!(printed.starts_with("credit: how good the answers are\n  method "), "{printed}");
    assert!(
        printed.contains("\n  refine ")
            && printed.contains(" 17.50 ± 0.71 ")
            && printed.contains("PAR (+LS), published")
    );
    assert!(!sandbox.path("report.html").exists() && !sandbox.path("plots").exists());
    let json = sandbox.json(&["report", "figures.csv", "--show", "answers"]);
    assert_eq!(json["tables"][0]["rows"][0]["cells"][4]["numbers"][0]["mean"], 17.5);
}

#[test]
fn invalid_figures_are_named() {
    let sandbox = Sandbox::new();
    for (text, message) in [
        (
            "",
            "error: figures.csv, line 1: expected the columns `table,fold,method,metric,value,over,of`, found ``\n",
        ),
        (
            "a,b\n",
            "error: figures.csv, line 1: expected the columns `table,fold,method,metric,value,over,of`, found `a,b`\n",
        ),
        (
            &format!("{HEADER}t,0,refine,nll,x,1,1\n"),
            "error: figures.csv, line 2: `value` is `x`, expected a number\n",
        ),
    ] {
        sandbox.write("figures.csv", text);
        assert_eq!(sandbox.refused(&["report", "figures.csv"]), message);
    }
    sandbox.write("figures.csv", format!("{HEADER}t,0,refine,nll,1"));
    assert!(sandbox.refused(&["report", "figures.csv"]).starts_with("error: figures.csv, line 2: "));
    assert!(sandbox.refused(&["report", "missing.csv"]).starts_with("error: missing.csv: No such file"));
    sandbox.write("figures.csv", figures());
    assert_eq!(
        sandbox.refused(&["report", "figures.csv", "--show", "fairness"]),
        "error: figures.csv: holds no figures of `fairness`\nhint: `par-bench --only fairness` measures them\n"
    );
}

#[test]
fn unknown_figures_are_left_out_of_the_page() {
    let sandbox = Sandbox::new();
    sandbox.write("figures.csv", format!("{HEADER}<b>,0,who,what@x=1,1,1,1\n"));
    sandbox.run(&["report", "figures.csv"]);
    let page = sandbox.read("report.html");
    assert!(page.contains("&lt;b&gt;") && !page.contains("<section") && !page.contains("NaN"));
}

#[test]
fn a_run_writes_figures_a_page_and_charts_and_prints_table_1() {
    let sandbox = Sandbox::with_people();
    // Two folds are enough.
    let people = sandbox.read("people.csv");
    let folds = people.lines().enumerate().map(|(line, row)| match line {
        0 => format!("{row},half\n"),
        line => format!("{row},{}\n", line % 2),
    });
    sandbox.write("people.csv", folds.collect::<String>());
    let quick = "pool.size = 50\ngenerator.steps = 3\ngenerator.examples = 50\n";
    sandbox.write("quick.toml", quick);
    let arguments = ["--table", "people.csv", "--schema", "people.toml", "--config", "quick.toml"];
    let printed =
        sandbox.run(&[&arguments[..], &["--folds", "half", "--only", "answers", "--out", "run"]].concat());
    assert!(
        printed.starts_with("people: how good the answers are\n") && printed.contains("\n  refine "),
        "{printed}"
    );
    let again = sandbox.run(&["report", "run/figures.csv", "--show", "answers"]);
    assert_eq!(printed, format!("{again}\nwritten to run: figures.csv, report.html, plots/*.svg\n"));
    assert!(!sandbox.path("run/parts").exists(), "finished parts are removed");
    let page = sandbox.read("run/report.html");
    sandbox.run(&["report", "run/figures.csv"]);
    assert_eq!(sandbox.read("run/report.html"), page);
    assert!(sandbox.path("run/plots/people-pareto.svg").is_file());
}

#[test]
fn figures_of_two_runs_make_one_report_and_the_first_counts() {
    let sandbox = Sandbox::new();
    sandbox.write("first.csv", figures());
    sandbox
        .write("second.csv", format!("{HEADER}credit,0,refine,nll,99,20,20\ncredit,0,exact,nll,16,20,20\n"));
    let printed = sandbox.run(&["report", "first.csv", "second.csv", "--show", "answers"]);
    assert!(printed.contains(" 17.50 ± 0.71 ") && !printed.contains("99.0"), "{printed}");
    assert!(printed.contains("\n  exact ") && printed.contains("16.00"), "{printed}");
}
