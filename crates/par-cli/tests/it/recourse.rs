use crate::Sandbox;
use crate::model::FIT;

const HEADER: &str = "id,age,city,education,income,debt";
const POOR: &str = "poor,30,Ulm,low,1000,7";
const RICH: &str = "rich,40,Kiel,high,3800,0";

/// The lines of a table: cells by column name.
fn lines(csv: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    reader.deserialize().map(|line| line.expect("a line of the table")).collect()
}

fn with_table(name: &str, rows: &[&str]) -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.write(name, rows.join("\n") + "\n");
    sandbox
}

#[test]
fn every_row_gets_a_line_in_order() {
    let sandbox = with_table("t.csv", &[HEADER, POOR, RICH]);
    let printed = sandbox.run(&["recourse", "a.par", "t.csv", "--out", "ways.csv"]);
    assert!(
        printed.starts_with(
            "  rows            2\n  accepted        1\n  recourse found  1\n  not found       0\n"
        ),
        "{printed}"
    );
    let ways = sandbox.read("ways.csv");
    assert!(ways.starts_with(
        "id,rank,status,reason,probability,log_likelihood,conditional_log_likelihood,percentile,changes,effort,months,has_margin,accepting,certified,similarity,method,\
         solves,optimal,gap,best_at,time_us,warning,age,city,education,income,debt\n"
    ));
    let lines = lines(&ways);
    assert_eq!((&*lines[0]["id"], &*lines[0]["rank"], &*lines[0]["status"]), ("poor", "1", "found"));
    assert_eq!((&*lines[0]["method"], &*lines[0]["gap"], &*lines[0]["time_us"]), ("refine", "", ""));
    assert_eq!(
        (&*lines[0]["solves"], &*lines[0]["has_margin"], &*lines[0]["months"]),
        ("least_effort", "true", "0")
    );
    assert!(lines[0]["probability"].parse::<f64>().expect("a number") >= 0.55);
    assert!(lines[0]["effort"].parse::<f64>().expect("a number") > 0.0);
    assert_eq!(lines[0]["city"], "Ulm");
    assert_eq!((&*lines[1]["id"], &*lines[1]["rank"], &*lines[1]["status"]), ("rich", "", "accepted"));
    assert_eq!((&*lines[1]["income"], &*lines[1]["log_likelihood"]), ("3800", ""));

    let output = sandbox.par(&["recourse", "a.par", "t.csv"]).output().expect("par starts");
    assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), ways);
    assert!(String::from_utf8(output.stderr).expect("UTF-8").starts_with("  rows            2\n"));
}

#[test]
fn same_model_same_bytes_on_any_number_of_threads_and_batches() {
    let sandbox = Sandbox::with_model();
    for format in ["csv", "jsonl"] {
        let ways = |threads: &str| {
            let arguments =
                ["recourse", "a.par", "applicants.csv", "--count", "2", "--format", format, "--out", "ways"];
            sandbox.par(&arguments).env("RAYON_NUM_THREADS", threads).assert().success();
            sandbox.read("ways")
        };
        let one = ways("1");
        assert_eq!(one, ways("2"));
        assert!(one.lines().count() >= 240);
    }
}

#[test]
fn an_exact_answer_is_proved() {
    let sandbox = with_table("t.csv", &[HEADER, POOR]);
    sandbox.run(&["recourse", "a.par", "t.csv", "--method", "exact", "--time", "--out", "ways.csv"]);
    let line = &lines(&sandbox.read("ways.csv"))[0];
    assert_eq!((&*line["method"], &*line["optimal"], &*line["gap"]), ("exact", "true", "0"));
    assert!(line["time_us"].parse::<u64>().is_ok());
}

#[test]
fn more_ways_have_ranks_and_differ() {
    let sandbox = Sandbox::with_model();
    for order in ["balanced", "likelihood"] {
        let command =
            ["recourse", "a.par", "applicants.csv", "--count", "3", "--order", order, "--out", "ways.csv"];
        sandbox.run(&command);
        let lines = lines(&sandbox.read("ways.csv"));
        let mut several = 0;
        for ways in lines.chunk_by(|a, b| a["id"] == b["id"]).filter(|ways| ways[0]["status"] == "found") {
            let ranks: Vec<&str> = ways.iter().map(|line| line["rank"].as_str()).collect();
            assert_eq!(ranks, &["1", "2", "3"][..ways.len()]);
            let cells = |way: &std::collections::BTreeMap<String, String>| {
                ["age", "city", "education", "income", "debt"].map(|name| way[name].clone())
            };
            let rows: std::collections::BTreeSet<_> = ways.iter().map(cells).collect();
            assert_eq!(rows.len(), ways.len(), "they differ");
            several += usize::from(ways.len() > 1);
        }
        assert!(several > 10, "{order}: {several}");
    }
}

#[test]
fn a_request_has_a_threshold_of_its_own() {
    let sandbox = with_table("t.csv", &[HEADER, POOR, RICH]);
    sandbox.run(&["recourse", "a.par", "t.csv", "--threshold", "0.9", "--out", "ways.csv"]);
    for line in lines(&sandbox.read("ways.csv")) {
        let accepted = line["probability"].parse::<f64>().is_ok_and(|probability| probability >= 0.9);
        assert_eq!(accepted, line["status"] != "not_found", "{line:?}");
    }
    let refused = sandbox.refused(&["recourse", "a.par", "t.csv", "--threshold", "1.5"]);
    assert!(refused.contains("expected a number above 0 and below 1"), "{refused}");
}

#[test]
fn a_row_has_locks_of_its_own() {
    let rows = [
        "id,age,city,education,income,debt,locks",
        "a,30,Ulm,low,1000,7,",
        "b,30,Ulm,low,1000,7,income; age",
        "c,30,Ulm,low,1000,7,incom",
        "d,30,Ulm,low,1000,7,age;income;debt",
    ];
    let sandbox = with_table("t.csv", &rows);
    let printed = sandbox.run(&["recourse", "a.par", "t.csv", "--out", "ways.csv"]);
    assert!(printed.contains("  errors          1, the first: t.csv, line 4, column `locks`: no feature `incom`, did you mean `income`?\n"), "{printed}");
    let lines = lines(&sandbox.read("ways.csv"));
    assert_eq!((&*lines[1]["income"], &*lines[1]["age"]), ("1000", "30"));
    assert_eq!(lines[2]["status"], "error");
    assert_eq!(lines[2]["reason"], "column `locks`: no feature `incom`, did you mean `income`?");
    assert_eq!(lines[3]["status"], "not_found");
    assert_eq!(lines[3]["reason"], "nothing_to_change: unlock `income`");
}

#[test]
fn with_all_features_locked_there_is_no_way() {
    let sandbox = with_table("t.csv", &[HEADER, POOR, RICH]);
    let locked = [
        "recourse",
        "a.par",
        "t.csv",
        "--out",
        "ways.csv",
        "--lock",
        "age",
        "--lock",
        "education",
        "--lock",
        "income",
        "--lock",
        "debt",
    ];
    sandbox.run(&locked);
    let lines = lines(&sandbox.read("ways.csv"));
    assert_eq!((&*lines[0]["status"], &*lines[0]["rank"], &*lines[0]["income"]), ("not_found", "", "1000"));
    assert!(lines[0]["reason"].starts_with("nothing_to_change: unlock "), "{}", lines[0]["reason"]);
    assert_eq!(lines[1]["status"], "accepted");

    // With --strict the exit code is 1, and the table is written all the same.
    let strict = [&locked[..], &["--strict"]].concat();
    std::fs::remove_file(sandbox.path("ways.csv")).expect("a file");
    sandbox.par(&strict).assert().code(1);
    assert_eq!(sandbox.read("ways.csv").lines().count(), 3);
    sandbox.par(&["recourse", "a.par", "t.csv", "--strict"]).assert().code(0);
}

#[test]
fn an_unknown_lock_is_refused_before_anything_is_written() {
    let sandbox = with_table("t.csv", &[HEADER, POOR]);
    assert_eq!(
        sandbox.refused(&["recourse", "a.par", "t.csv", "--lock", "Incom", "--out", "ways.csv"]),
        "error: `--lock`: no feature `Incom`, did you mean `income`?\n"
    );
}

#[test]
fn a_feature_changes_only_within_its_limit() {
    let sandbox = with_table("t.csv", &[HEADER, POOR]);
    let income = |limits: &[&str]| {
        let arguments =
            ["recourse", "a.par", "t.csv", "--lock", "age", "--lock", "debt", "--out", "ways.csv"];
        sandbox.run(&[&arguments[..], limits].concat());
        let line = lines(&sandbox.read("ways.csv")).remove(0);
        (line["reason"].clone(), line["income"].clone())
    };
    let free = income(&[]).1.parse::<f64>().expect("a number");
    assert!(free > 1000.0);
    let higher = free + 33.0;
    let limit = format!("income={higher}..");
    assert_eq!(income(&["--limit", &limit]), (String::new(), higher.to_string()));
    assert_eq!(income(&["--limit", "income=..4000", "--limit", "education=low|middle"]).1, free.to_string());
    let too_low = format!("income = 500..{}", free / 2.0);
    let (reason, income) = income(&["--limit", &too_low]);
    assert!(reason.ends_with(": lift the limit on `income`"), "{reason}");
    assert_eq!(income, "1000");
}

#[test]
fn an_invalid_limit_is_refused_before_anything_is_written() {
    let sandbox = with_table("t.csv", &[HEADER, POOR]);
    let refused = |limits: &[&str]| {
        let mut arguments = vec!["recourse", "a.par", "t.csv", "--out", "ways.csv"];
        limits.iter().for_each(|limit| arguments.extend(["--limit", limit]));
        let message = sandbox.refused(&arguments);
        assert!(!sandbox.files().contains(&"ways.csv".to_string()));
        message
    };
    assert_eq!(refused(&["Incom=1.."]), "error: `--limit`: no feature `Incom`, did you mean `income`?\n");
    assert_eq!(
        refused(&["income=3000..2000"]),
        "error: `--limit`: `income`: there is no number from 3000 to 2000\nhint: the lower end comes first\n"
    );
    assert_eq!(
        refused(&["education=low|hihg"]),
        "error: `--limit`: `education`: no category `hihg`, did you mean `high`?\n"
    );
    let hint = "hint: a range is written 6..24, 6.. or ..24, and single numbers 6|12|24";
    for (limit, found) in [("income=low..3000", "low"), ("income=2000|much", "much"), ("debt=1-3", "1-3")] {
        let feature = limit.split('=').next().expect("a feature");
        assert_eq!(
            refused(&[limit]),
            format!("error: `--limit`: `{feature}`: expected a finite number, found `{found}`\n{hint}\n")
        );
    }
    assert_eq!(refused(&["debt=.."]), "error: `--limit`: `debt`: expected a number before or after `..`\n");
    assert_eq!(
        refused(&["debt=1..", "debt=..3"]),
        "error: `--limit`: `debt` is limited twice\nhint: put what it may move to into one limit\n"
    );
    assert!(refused(&["income"]).contains("expected FEATURE=LOWEST..HIGHEST or FEATURE=VALUE|VALUE"));
}

#[test]
fn a_cell_that_does_not_fit_is_an_error_of_its_row_alone() {
    let sandbox = with_table("t.csv", &[HEADER, POOR, "x,30,Ulm,low,much,7", RICH]);
    let printed = sandbox.json(&["recourse", "a.par", "t.csv", "--out", "ways.csv"]);
    assert_eq!((&printed["rows"], &printed["errors"], &printed["found"]), (&3.into(), &1.into(), &1.into()));
    let lines = lines(&sandbox.read("ways.csv"));
    assert_eq!((&*lines[1]["id"], &*lines[1]["status"], &*lines[1]["income"]), ("x", "error", "much"));
    assert_eq!(lines[1]["reason"], "column `income`: expected a finite number, found `much`");
    assert_eq!(lines[2]["status"], "accepted");
    sandbox.par(&["recourse", "a.par", "t.csv", "--strict"]).assert().code(1);
}

#[test]
fn a_table_without_rows_has_an_empty_answer_but_conditions_that_no_row_passes_are_an_error() {
    let sandbox = with_table("t.csv", &[HEADER]);
    sandbox.run(&["recourse", "a.par", "t.csv", "--out", "ways.csv"]);
    assert_eq!(sandbox.read("ways.csv").lines().count(), 1);
    assert_eq!(
        sandbox.refused(&[
            "recourse",
            "a.par",
            "applicants.csv",
            "--where",
            "city=Bonn",
            "--out",
            "none.csv"
        ]),
        "error: applicants.csv: none of 240 rows passes `city=Bonn`\n"
    );
    sandbox.write("narrow.csv", "age,city,educaton,income,debt\n");
    assert_eq!(
        sandbox.refused(&["recourse", "a.par", "narrow.csv", "--out", "none.csv"]),
        "error: narrow.csv: no column `education`, which the model needs, did you mean `educaton`?\n"
    );
}

#[test]
fn an_error_midway_leaves_no_table() {
    let sandbox = with_table("t.csv", &[HEADER, POOR, "too,short"]);
    assert_eq!(
        sandbox.refused(&["recourse", "a.par", "t.csv", "--out", "ways.csv"]),
        "error: t.csv, line 3: expected 6 cells, found 2\n\
         hint: look for a delimiter that is not quoted, or a row that is cut off\n"
    );
}

#[test]
fn rows_without_an_id_have_their_number_as_id() {
    let sandbox = with_table(
        "t.csv",
        &["age,city,education,income,debt", "30,Ulm,low,1000,7", "40,Kiel,high,3800,0", "31,Ulm,low,1000,7"],
    );
    sandbox.run(&["recourse", "a.par", "t.csv", "--where", "city=Ulm", "--out", "ways.csv"]);
    let ids: Vec<String> =
        lines(&sandbox.read("ways.csv")).into_iter().map(|line| line["id"].clone()).collect();
    assert_eq!(ids, ["1", "3"]);
}

#[test]
fn a_feature_named_like_a_column_keeps_its_name() {
    let sandbox = Sandbox::with_applicants();
    for name in ["applicants.csv", "applicants.toml"] {
        let renamed = sandbox.read(name).replace("debt", "status").replace("city", "par_status");
        sandbox.write(name, renamed);
    }
    sandbox.run(&FIT);
    let ask = |out: &str| {
        let output = sandbox.par(&["recourse", "a.par", "applicants.csv", "--out", out]).output();
        String::from_utf8(output.expect("par starts").stderr).expect("UTF-8")
    };
    assert_eq!(
        ask("ways.csv"),
        "note: columns of the answers give way to features of the same name: `status` is called `par_par_status`\n"
    );
    let ways = sandbox.read("ways.csv");
    let header = ways.lines().next().expect("a header");
    assert!(header.starts_with("id,rank,par_par_status,reason,"), "{header}");
    assert!(header.ends_with(",age,par_status,education,income,status"), "{header}");
    assert!(lines(&ways).iter().any(|line| line["par_par_status"] == "found"));
    assert!(lines(&ways).iter().all(|line| line["status"].parse::<f64>().is_ok()));
    // In JSON, features have an object of their own.
    assert_eq!(ask("ways.jsonl"), "");
}

#[test]
fn json_lines_have_sentences_and_a_frontier() {
    let sandbox = with_table("t.csv", &[HEADER, POOR, RICH]);
    sandbox.run(&["recourse", "a.par", "t.csv", "--out", "ways.jsonl"]);
    let people: Vec<serde_json::Value> =
        sandbox.read("ways.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(people.len(), 2);
    let way = &people[0]["ways"][0];
    let changes = way["changes"].as_array().expect("a list");
    assert!(!changes.is_empty());
    assert!(
        changes.iter().all(|change| change["sentence"].as_str().is_some_and(|text| text.contains(" → ")))
    );
    let frontier = people[0]["frontier"].as_array().expect("a list");
    assert!(frontier.iter().any(|point| point["log_likelihood"] == way["log_likelihood"]));
    assert_eq!((&people[1]["status"], &people[1]["ways"]), (&"accepted".into(), &serde_json::json!([])));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_refused_if_it_is_not_built() {
    let sandbox = with_table("t.csv", &[HEADER, POOR]);
    assert_eq!(
        sandbox.refused(&["recourse", "a.par", "t.csv", "--out", "ways.parquet"]),
        "error: this build does not write Parquet\nhint: build with `--features parquet`, or write CSV\n"
    );
}

/// The cells of all rows of a table, CSV or Parquet.
fn rows(sandbox: &Sandbox, name: &str) -> Vec<Vec<String>> {
    let table =
        par_data::Table::open(sandbox.path(name), &par_data::TableOptions::default()).expect("a table");
    let width = table.columns().len();
    let batches: Vec<par_data::Batch> = table.batches(100).map(|batch| batch.expect("rows")).collect();
    let cells =
        |batch: &par_data::Batch, row| (0..width).map(|column| batch.cell(row, column).to_string()).collect();
    batches.iter().flat_map(|batch| (0..batch.rows()).map(move |row| cells(batch, row))).collect()
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_the_same_as_csv() {
    let sandbox = Sandbox::with_model();
    for out in ["ways.csv", "ways.parquet"] {
        sandbox.run(&["recourse", "a.par", "applicants.csv", "--out", out]);
    }
    assert_eq!(rows(&sandbox, "ways.csv"), rows(&sandbox, "ways.parquet"));
}

#[test]
fn unseen_values_cause_a_warning_in_every_format() {
    let sandbox = with_table("t.csv", &[HEADER, POOR, "odd,30,Ulm,low,90000,7"]);
    let warning = "`income` is 90000 EUR, outside the training rows' 1000 to 3900, and counts as the nearest value among them";
    sandbox.run(&["recourse", "a.par", "t.csv", "--out", "ways.csv"]);
    let lines = lines(&sandbox.read("ways.csv"));
    assert_eq!((&*lines[0]["warning"], &*lines[1]["warning"]), ("", warning));
    sandbox.run(&["recourse", "a.par", "t.csv", "--out", "ways.jsonl"]);
    let people: Vec<serde_json::Value> =
        sandbox.read("ways.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(people[0]["warnings"], serde_json::json!([]));
    assert_eq!(people[1]["warnings"], serde_json::json!([warning]));
    let printed = sandbox.run(&["explain", "a.par", "t.csv", "--id", "odd"]);
    assert!(printed.contains(&format!("\ndebt       7\nwarning: {warning}\n")), "{printed}");
    if cfg!(feature = "parquet") {
        sandbox.run(&["recourse", "a.par", "t.csv", "--out", "ways.parquet"]);
        assert_eq!(rows(&sandbox, "ways.csv"), rows(&sandbox, "ways.parquet"));
    }
}

#[test]
fn a_fractional_limit_on_whole_numbers_yields_whole_numbers() {
    let sandbox = Sandbox::with_model();
    // Bins end at 3013 and at 46: the bins below overlap these ranges, but without a whole number.
    let limits = ["--limit", "income=3012.2..3013.5", "--limit", "age=45.2..46.5"];
    let ask = |out: &str| {
        sandbox.run(
            &[&["recourse", "a.par", "applicants.csv", "--count", "3", "--out", out], &limits[..]].concat(),
        );
    };
    ask("ways.csv");
    let lines = lines(&sandbox.read("ways.csv"));
    let found = lines.iter().filter(|line| line["status"] == "found");
    assert!(found.clone().count() > 50);
    for (line, name) in found.flat_map(|line| ["age", "income", "debt"].map(|name| (line, name))) {
        assert!(line[name].parse::<i64>().is_ok(), "{name} of {line:?}");
    }
    ask("ways.jsonl");
    for person in sandbox.read("ways.jsonl").lines() {
        let person: serde_json::Value = serde_json::from_str(person).expect("JSON");
        for way in person["ways"].as_array().expect("ways") {
            for name in ["age", "income", "debt"] {
                let cell = way["row"][name].as_str().expect("a cell");
                assert!(cell.parse::<i64>().is_ok(), "{name} is {cell}");
            }
        }
    }
    if cfg!(feature = "parquet") {
        ask("ways.parquet");
        assert_eq!(rows(&sandbox, "ways.csv"), rows(&sandbox, "ways.parquet"));
    }

    let refused = |limit: &str| sandbox.refused(&["recourse", "a.par", "applicants.csv", "--limit", limit]);
    assert_eq!(
        refused("debt=1.2..1.8"),
        "error: `--limit`: `debt` holds whole numbers only, and there is none from 1.2 to 1.8\nhint: widen the range\n"
    );
    assert_eq!(
        refused("debt=1|1.5"),
        "error: `--limit`: `debt` holds whole numbers only, found `1.5`\nhint: list whole numbers, or give a range\n"
    );
}

#[test]
fn a_condition_holds_for_a_truth_value_in_any_case_and_for_the_same_number() {
    let sandbox = Sandbox::with_model();
    let people = sandbox.read("applicants.csv");
    let with_truths = (0..).zip(people.lines()).map(|(line, row)| match line {
        0 => format!("{row},asked\n"),
        _ => format!("{row},{}\n", if line % 4 == 0 { "True" } else { "False" }),
    });
    sandbox.write("asked.csv", with_truths.collect::<String>());
    let rows = |condition: &str| {
        let arguments = ["recourse", "a.par", "asked.csv", "--method", "generate", "--where", condition];
        let summary = sandbox.json(&[&arguments[..], &["--out", "ways.csv"]].concat());
        summary["rows"].as_u64().expect("a number") as usize
    };
    let all = people.lines().count() - 1;
    assert_eq!(
        [rows("asked=true"), rows("asked=True"), rows("asked!=TRUE")],
        [all / 4, all / 4, all - all / 4]
    );
    assert_eq!(rows("age=40.0"), rows("age=40"));
    assert_eq!(rows("age=4e1") + rows("age!=040"), all);
}

#[test]
fn negative_values_are_refused_by_what_is_expected() {
    let sandbox = Sandbox::with_model();
    for (option, value, expected) in [
        ("--margin", "-0.1", "error: `--margin`: expected a number, at least 0 and below 1, found `-0.1`"),
        (
            "--deadline",
            "-1ms",
            "error: `--deadline`: expected a time such as `50ms` or `2s`: a whole number of ms or s, up to `9999s`, \
             found `-1ms`",
        ),
    ] {
        let error = sandbox.refused(&["recourse", "a.par", "applicants.csv", option, value]);
        assert_eq!(error.lines().next(), Some(expected));
    }
    let error = sandbox.refused(&["recourse", "a.par", "applicants.csv", "--within", "-1 month"]);
    assert!(error.contains("`-1 month`") && error.contains("expected"), "{error}");
    let error = sandbox.refused(&[&FIT[..], &["--bins", "-1"]].concat());
    let expected = "error: invalid value '-1' for '--bins <N>': expected a whole number, at least 0";
    assert_eq!(error.lines().next(), Some(expected));
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_named() {
    let sandbox = Sandbox::with_model();
    for arguments in [&["recourse", "a.par", "applicants.csv"][..], &["inspect", "a.par"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device of Linux");
        let mut par = std::process::Command::new(crate::PROGRAM);
        let par = par.args(arguments).current_dir(sandbox.path("")).stdout(full);
        let output = par.output().expect("par starts");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            String::from_utf8(output.stderr).expect("UTF-8"),
            "error: standard output: cannot be written: No space left on device (os error 28)\n",
            "{arguments:?}"
        );
    }
}
