use crate::sandbox::{Sandbox, applicants};

const BENCH: [&str; 8] =
    ["--table", "applicants.csv", "--schema", "applicants.toml", "--config", "quick.toml", "--out", "out"];

#[track_caller]
fn refused(arguments: &[&str]) -> String {
    Sandbox::with_applicants().refused(&[&BENCH[..], arguments].concat())
}

#[test]
fn a_table_without_valid_folds_is_refused() {
    insta::assert_snapshot!(refused(&["--folds", "folds"]), @"error: applicants.csv: no column `folds`, did you mean `fold`?");
    insta::assert_snapshot!(refused(&["--folds", "id"]), @"
    error: applicants.csv: `id` has 240 values, expected 2 to 100 folds
    hint: name a column that says for every row in which fold it is tested
    ");
    insta::assert_snapshot!(refused(&["--factuals", "age"]), @"
    error: applicants.csv: `age` has no 1, so there is no factual
    hint: name a column with a 1 for every factual, or none to answer all rows
    ");

    let sandbox = Sandbox::with_applicants();
    let schema = sandbox.read("applicants.toml").replace("fold = \"fold\"\n", "");
    sandbox.write("applicants.toml", schema);
    insta::assert_snapshot!(sandbox.refused(&BENCH), @"
    error: applicants.toml: names no column of folds
    hint: name it with `--folds COLUMN`
    ");

    let sandbox = Sandbox::with_applicants();
    let rows = applicants();
    let one: String = rows
        .lines()
        .filter(|line| line.ends_with("fold") || line.ends_with(",0"))
        .map(|line| format!("{line}\n"))
        .collect();
    sandbox.write("applicants.csv", one);
    insta::assert_snapshot!(sandbox.refused(&BENCH), @"
    error: applicants.csv: `fold` has one value, expected 2 to 100 folds
    hint: name a column that says for every row in which fold it is tested
    ");
    sandbox.write("applicants.csv", rows.replace(",yes,", ",no,"));
    insta::assert_snapshot!(sandbox.refused(&BENCH), @"error: applicants.csv: every row outside fold `0` is denied, expected rows of both classes");
}

#[test]
fn input_files_are_not_overwritten() {
    let sandbox = Sandbox::with_applicants();
    sandbox.write("figures.csv", applicants());
    let arguments = ["--table", "figures.csv", "--schema", "applicants.toml", "--config", "quick.toml"];
    insta::assert_snapshot!(sandbox.refused(&[&arguments[..], &["--out", "."]].concat()), @"
    error: ./figures.csv: is read from, and writing would replace it
    hint: write to another file
    ");
}

#[test]
fn another_table_with_the_name_of_one_of_the_papers_has_no_published_figures() {
    let sandbox = Sandbox::with_applicants();
    sandbox.write("applicants.toml", format!("name = \"adult\"\n{}", sandbox.read("applicants.toml")));
    let printed = sandbox.run(&[&BENCH[..], &["--only", "quality"]].concat());
    assert!(printed.starts_with("adult, not the paper's: bins, classifier and circuits\n"), "{printed}");
    assert!(!printed.contains("published"), "{printed}");
}

#[test]
fn a_schema_beside_a_suite_is_refused() {
    let error = Sandbox::with_applicants().refused(&["--suite", ".", "--schema", "applicants.toml"]);
    assert!(error.contains("'--suite <FOLDER>' cannot be used with '--schema <FILE>'"), "{error}");
}

#[test]
fn an_unknown_experiment_is_refused() {
    let error = refused(&["--only", "answers,speed"]);
    assert!(error.starts_with("error: invalid value 'speed' for '--only <EXPERIMENT>'\n"), "{error}");
}

#[test]
fn a_suite_without_tables_is_refused() {
    let sandbox = Sandbox::with_applicants();
    std::fs::create_dir(sandbox.path("empty")).expect("a folder");
    let suite = |folder| sandbox.refused(&["--suite", folder, "--out", "out"]);
    insta::assert_snapshot!(suite("empty"), @"error: empty: holds no table with a schema beside it, expected NAME.csv, NAME.csv.gz or NAME.parquet, and NAME.toml");
    assert!(suite("nowhere").starts_with("error: nowhere: cannot be read: "), "{}", suite("nowhere"));
}

#[test]
fn invalid_answers_of_others_are_refused() {
    let sandbox = Sandbox::with_applicants();
    let with = |peers: &str| sandbox.refused(&[&BENCH[..], &["--peers", peers]].concat());
    sandbox.write("others.csv", "method,fold,id,k,time_s,age,city,education,income\n");
    insta::assert_snapshot!(with("others.csv"), @"error: others.csv, line 1: no column `debt`, found `method`, `fold`, `id`, `k`, `time_s`, `age`, `city`, `education` and 1 more");
    sandbox.write(
        "others.csv",
        "method,fold,id,k,time_s,age,city,education,income,debt\nFACE,0,p0,0,0.1,,,,,1\nFACE,0,p0,0,0.1,,,,,2\n",
    );
    insta::assert_snapshot!(with("others.csv"), @"error: others.csv, line 3: `FACE`, fold `0`, id `p0`, k `0`: occurs twice");
    insta::assert_snapshot!(with("nowhere.csv"), @"error: nowhere.csv: no such file");
    std::fs::create_dir(sandbox.path("empty")).expect("a folder");
    insta::assert_snapshot!(with("empty"), @"error: empty: holds no answers for `applicants`, expected applicants.csv or applicants.csv.gz");
    let suite = |peers| {
        sandbox.refused(&["--suite", ".", "--config", "quick.toml", "--out", "out", "--peers", peers])
    };
    insta::assert_snapshot!(suite("empty"), @"error: empty: holds no answers, expected NAME.csv or NAME.csv.gz for a table NAME");
    insta::assert_snapshot!(suite("others.csv"), @"error: others.csv: is not a folder, expected one with NAME.csv or NAME.csv.gz for the tables of `--suite`");
}

#[test]
fn a_solver_that_is_none_is_refused_before_the_work() {
    let sandbox = Sandbox::with_applicants();
    let with =
        |program: &str| sandbox.refused(&[&BENCH[..], &["--only", "peers", "--highs", program]].concat());
    let said = with("./no-solver");
    assert!(said.starts_with("error: ./no-solver: cannot be started"), "{said}");
    insta::assert_snapshot!(with("true"), @"error: true: is not HiGHS, by what it says to `--version`");
}

#[test]
fn answers_of_others_are_measured_beside_ours() {
    let sandbox = Sandbox::with_applicants();
    std::fs::create_dir(sandbox.path("others")).expect("a folder");
    let lines: String = (0..240).map(|id| format!("Debtless,{},p{id},0,0.1,,,,,0\n", id % 5)).collect();
    sandbox.write(
        "others/applicants.csv",
        format!("method,fold,id,k,time_s,age,city,education,income,debt\n{lines}"),
    );
    sandbox.par(&[&BENCH[..], &["--only", "answers", "--peers", "others"]].concat()).assert().success();
    let figures = sandbox.read("out/figures.csv");
    let validity: Vec<&str> = figures.lines().filter(|line| line.contains(",Debtless,validity,")).collect();
    assert_eq!(validity.len(), 5, "{figures}");
    assert!(!sandbox.path("out/parts").exists());
}
