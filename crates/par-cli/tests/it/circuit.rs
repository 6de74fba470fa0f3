use std::io::Read;
use std::process::{Command, Stdio};

use crate::{QUICK, Sandbox, people};

#[test]
fn a_circuit_is_learned_scored_sampled_and_shown() {
    let sandbox = Sandbox::with_people();
    let fit = ["circuit", "fit", "people.csv", "--schema", "people.toml", "--out", "c.circuit"];
    let fitted = sandbox.json(&[&fit[..], &QUICK, &["--where", "fold!=0"]].concat());
    assert_eq!(
        (&fitted["rows"], &fitted["variables"], &fitted["learner"]),
        (&48.into(), &3.into(), &"hclt".into())
    );
    assert!(fitted["held_out"].as_f64().expect("a number") < 0.0);

    let scored = sandbox.json(&["circuit", "score", "c.circuit", "people.csv", "--where", "fold=0"]);
    assert_eq!((&scored["rows"], &scored["summed_out"]), (&12.into(), &0.into()));
    assert!(scored["mean_log_likelihood"].as_f64().expect("a number") < 0.0);
    assert!(scored["standard_error"].as_f64().expect("a number") > 0.0);

    let shown = sandbox.json(&["circuit", "show", "c.circuit"]);
    assert_eq!(shown["provenance"]["conditions"][0], "fold!=0");
    assert_eq!(shown["variables"][1]["contents"][3], "pilot");
    assert_eq!(shown["edges"], fitted["edges"]);
    assert!(sandbox.run(&["circuit", "show", "c.circuit", "--text"]).starts_with("par circuit text 1\n"));

    let drawn = sandbox.run(&["circuit", "sample", "c.circuit", "-n", "30", "--seed", "4"]);
    assert_eq!((drawn.lines().next(), drawn.lines().count()), (Some("age,job,hours"), 31));
    sandbox.write("drawn.csv", drawn);
    let scored = sandbox.json(&["circuit", "score", "c.circuit", "drawn.csv"]);
    assert_eq!((&scored["rows"], &scored["snapped"]), (&30.into(), &0.into()));
}

#[test]
fn summaries_are_printed_as_expected() {
    let sandbox = Sandbox::with_circuit();
    let fitted = sandbox.fit(&["people.csv", "--schema", "people.toml", "--out", "people.circuit"]);
    assert!(
        fitted.contains(
            "  rows        60\n  variables   3\n  learner     hclt\n  mixture of  1.000  hclt, 2 states"
        ),
        "{fitted}"
    );
    let shown = sandbox.run(&["circuit", "show", "people.circuit"]);
    let variables = shown.split_once("\n\n").expect("two parts").1;
    insta::assert_snapshot!(variables, @"
    3 variables
      age    10  bins        20 | 23.9 | 27.8 | 31.7 | 36.6 | 41 | 45.4 | 50.3 | 55 | 59.1 | 65
      job     4  categories  clerk, cook, nurse, pilot
      hours   4  bins        20 | 27 | 32.5 | 38 | 45
    ");
}

#[test]
fn bins_do_not_depend_on_the_label() {
    let sandbox = Sandbox::with_people();
    let fit = |conditions: &[&str], out: &str| {
        sandbox.fit(&[&["people.csv", "--schema", "people.toml", "--out", out], conditions].concat());
        sandbox.json(&["circuit", "show", out])["variables"].clone()
    };
    let yes = fit(&["--where", "decision=yes"], "yes.circuit");
    assert_eq!(yes, fit(&["--where", "decision=no"], "no.circuit"));
    assert_ne!(yes, fit(&["--where", "decision=yes", "--bins-where", "decision=yes"], "own.circuit"));
    assert_ne!(yes, fit(&["--where", "fold!=0"], "fold.circuit"));
}

#[test]
fn a_table_of_integers_needs_neither_header_nor_schema() {
    let sandbox = Sandbox::new();
    let rows: String = (0..40).map(|row| format!("{},{},{}\n", row % 2, row % 3 + 9, row % 2)).collect();
    sandbox.write("train.csv", &rows);
    // 12 occurs only in the held-out table.
    sandbox.write("valid.csv", "0,12,0\n1,9,1\n");
    sandbox.fit(&["train.csv", "--valid", "valid.csv", "--no-header", "--out", "c.circuit"]);
    let shown = sandbox.json(&["circuit", "show", "c.circuit"]);
    assert_eq!(shown["variables"][1]["contents"], serde_json::json!(["9", "10", "11", "12"]));

    assert_eq!(sandbox.json(&["circuit", "score", "c.circuit", "train.csv"])["rows"], 40);
    let drawn = sandbox.run(&["circuit", "sample", "c.circuit", "-n", "5"]);
    assert_eq!(drawn.lines().count(), 5);

    sandbox.write("wide.csv", "0,9,0,1\n");
    assert_eq!(
        sandbox.refused(&["circuit", "score", "c.circuit", "wide.csv"]),
        "error: wide.csv: expected 3 columns, found 4\n\
         hint: without column names, a table needs all columns of the training table; \
         if it has them, look for a delimiter that is not quoted in its first line\n"
    );
}

#[test]
fn a_column_is_dropped_by_its_name_without_the_spaces_around() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", "a, b ,c\n".to_string() + &"0,1,0\n1,0,0\n1,1,1\n".repeat(20));
    sandbox.fit(&["t.csv", "--drop", "b", "--drop", " c", "--out", "t.circuit"]);
    let shown = sandbox.json(&["circuit", "show", "t.circuit"]);
    assert_eq!(shown["variables"].as_array().map(Vec::len), Some(1));
    assert_eq!(shown["variables"][0]["name"], "a");
}

/// A table without column names: three columns of numbers, and one of `no` and `yes`.
fn without_header() -> Sandbox {
    let sandbox = Sandbox::new();
    let row = |row: usize| format!("{},{},{},{}\n", row % 2, row % 3, row % 5, ["no", "yes"][row % 2]);
    sandbox.write("bare.csv", (0..40).map(row).collect::<String>());
    sandbox
}

#[test]
fn without_a_header_columns_keep_their_positions_when_one_is_dropped() {
    let sandbox = without_header();
    sandbox.fit(&["bare.csv", "--no-header", "--drop", "1", "--out", "c.circuit"]);
    assert_eq!(sandbox.json(&["circuit", "show", "c.circuit"])["variables"][1]["name"], "2");
    assert_eq!(sandbox.json(&["circuit", "score", "c.circuit", "bare.csv"])["rows"], 40);
    sandbox.write("narrow.csv", "0,1,no\n");
    let error = sandbox.refused(&["circuit", "score", "c.circuit", "narrow.csv"]);
    assert!(error.starts_with("error: narrow.csv: expected 4 columns, found 3\nhint: "), "{error}");
}

#[test]
fn a_table_without_a_header_may_have_a_label() {
    let sandbox = without_header();
    let feature = |name: usize| format!("[[feature]]\nname = \"{name}\"\nkind = \"discrete\"\n");
    let label = "[label]\ncolumn = \"3\"\nclasses = [\"no\", \"yes\"]\nfavourable = \"yes\"\n";
    sandbox.write("bare.toml", label.to_string() + &(0..3).map(feature).collect::<String>());
    sandbox.fit(&["bare.csv", "--no-header", "--schema", "bare.toml", "--out", "c.circuit"]);
    let score = ["circuit", "score", "c.circuit", "bare.csv", "--where", "3=yes"];
    assert_eq!(sandbox.json(&score)["rows"], 20);
}

/// A circuit of `colour` and `size`, from a table with missing cells.
fn colours() -> Sandbox {
    let sandbox = Sandbox::new();
    let rows: String =
        (0..40).map(|row| format!("{},{}\n", ["red", "green"][row % 2], ["S", "L", ""][row % 3])).collect();
    sandbox.write("colours.csv", format!("colour,size\n{rows}"));
    sandbox.fit(&["colours.csv", "--out", "colours.circuit"]);
    sandbox
}

#[test]
fn an_empty_cell_is_summed_out() {
    let sandbox = colours();
    sandbox.write("empty.csv", "size,colour\n,\n,\n");
    let scored = sandbox.json(&["circuit", "score", "colours.circuit", "empty.csv"]);
    assert_eq!(scored["summed_out"], 4);
    assert!(scored["mean_log_likelihood"].as_f64().expect("a number").abs() < 1e-6);
}

#[test]
fn an_unseen_value_is_an_error_or_summed_out() {
    let sandbox = colours();
    sandbox.write("t.csv", "colour,size\nred,S\ngren,S\nblue,\n");
    let score = ["circuit", "score", "colours.circuit", "t.csv"];
    assert_eq!(
        sandbox.refused(&score),
        "error: t.csv, line 3, column `colour`: the circuit has never seen `gren`, did you mean `green`?\n\
         hint: correct the cell, or sum it out with `--unseen missing`\n"
    );
    let score = [&score[..], &["--unseen", "missing"]].concat();
    let scored = sandbox.json(&score);
    assert_eq!((&scored["summed_out"], &scored["unseen"]), (&3.into(), &2.into()));
    let text = sandbox.run(&score);
    assert!(text.contains("  summed out      3 cells, 2 of them with an unseen category\n"), "{text}");
}

#[test]
fn a_value_that_the_schema_lets_be_missing_is_summed_out_and_counted() {
    let sandbox = Sandbox::new();
    sandbox.write("t.toml", "[[feature]]\nname = \"size\"\nkind = \"nominal\"\nmissing = true\n");
    sandbox.write("t.csv", "size\n".to_string() + &"S\nL\nL\n".repeat(20));
    sandbox.fit(&["t.csv", "--schema", "t.toml", "--out", "t.circuit"]);
    sandbox.write("more.csv", "size\nXL\nS\n\"\"\n");
    let scored = sandbox.json(&["circuit", "score", "t.circuit", "more.csv"]);
    assert_eq!(
        (&scored["rows"], &scored["summed_out"], &scored["unseen"]),
        (&3.into(), &2.into(), &1.into())
    );
}

#[test]
fn a_value_that_the_schema_does_not_list_is_an_error_or_summed_out() {
    let sandbox = Sandbox::with_circuit();
    sandbox.write("t.csv", "hours,job,age\n20,chef,30\n21,cook,31\n");
    let score = ["circuit", "score", "people.circuit", "t.csv"];
    assert_eq!(
        sandbox.refused(&score),
        "error: t.csv, line 2, column `job`: the circuit has never seen `chef`, \
         expected one of `clerk`, `cook`, `nurse`, `pilot`\n\
         hint: correct the cell, or sum it out with `--unseen missing`\n"
    );
    let scored = sandbox.json(&[&score[..], &["--unseen", "missing"]].concat());
    let counts = (&scored["rows"], &scored["summed_out"], &scored["unseen"]);
    assert_eq!(counts, (&2.into(), &1.into(), &1.into()));

    // A summed-out job has another likelihood than any known job.
    sandbox.write("known.csv", "hours,job,age\n20,cook,30\n21,cook,31\n");
    let known = sandbox.json(&["circuit", "score", "people.circuit", "known.csv"]);
    assert!(scored["mean_log_likelihood"].as_f64() > known["mean_log_likelihood"].as_f64());
}

#[test]
fn scores_of_rows_agree_with_their_mean() {
    let sandbox = Sandbox::with_circuit();
    let score = ["circuit", "score", "people.circuit", "people.csv", "--where", "fold=1"];
    let summary = sandbox.json(&[&score[..], &["--per-row", "scores.csv"]].concat());
    let scores = sandbox.read("scores.csv");
    let mut lines = scores.lines();
    assert_eq!(lines.next(), Some("line,log_likelihood,raw_log_likelihood,raw_log_density"));
    let rows: Vec<(u64, f64)> = lines
        .map(|line| line.split(',').collect::<Vec<&str>>())
        .map(|cells| (cells[0].parse().expect("a line"), cells[1].parse().expect("a score")))
        .collect();
    assert_eq!((rows.len(), rows[0].0, rows[1].0), (12, 3, 8));
    let mean = rows.iter().map(|(_, score)| score).sum::<f64>() / 12.0;
    assert!((summary["mean_log_likelihood"].as_f64().expect("a number") - mean).abs() < 1e-12);

    let output = sandbox.par(&[&score[..], &["--per-row", "-"]].concat()).output().expect("par starts");
    assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), scores);
    assert!(String::from_utf8(output.stderr).expect("UTF-8").starts_with("  rows            12\n"));
}

/// `count` is discrete and `size` continuous; 12 people each have 1, 2, 8 and 9, and tenths of these. In each bin,
/// one person more is spread over its four or five numbers.
fn counts_and_sizes() -> Sandbox {
    let sandbox = Sandbox::new();
    let feature =
        |name, kind| format!("[[feature]]\nname = \"{name}\"\nkind = \"{kind}\"\nbins = 2\nmissing = true\n");
    sandbox.write("t.toml", feature("count", "discrete") + &feature("size", "continuous"));
    let digits = [1, 2, 8, 9];
    let row = |row: usize| format!("{},0.{}\n", digits[row % 4], digits[row / 4 % 4]);
    sandbox.write("t.csv", format!("count,size\n{}", (0..48).map(row).collect::<String>()));
    sandbox.fit(&["t.csv", "--schema", "t.toml", "--out", "t.circuit"]);
    sandbox
}

#[test]
fn raw_rows_have_a_mass_and_a_density() {
    let sandbox = counts_and_sizes();
    // Counted in tens, twelve people are ten.
    let (spike, four, five) = (10.0 / 21.0, 1.0 / 21.0 / 4.0, 1.0 / 21.0 / 5.0);
    let (spike_of_four, spike_of_five) = (spike + four, spike + five);
    let cases = [
        ("1,0.2", spike_of_four * spike_of_four, 10.0),
        ("8,0.1", spike_of_five * spike_of_four, 10.0),
        ("3,0.7", four * five, 10.0),
        ("0,0.99", four * five, 10.0),
        ("9,", spike_of_five, 1.0),
        (",", 1.0, 1.0),
    ];
    let rows: String = cases.iter().map(|(row, ..)| format!("{row}\n")).collect();
    sandbox.write("more.csv", format!("count,size\n{rows}"));
    let score = ["circuit", "score", "t.circuit", "more.csv", "--per-row", "scores.csv"];
    let summary = sandbox.json(&score);
    let scores = sandbox.read("scores.csv");
    let mut lines = scores.lines();
    assert_eq!(lines.next(), Some("line,log_likelihood,raw_log_likelihood,raw_log_density"));
    let mut sums = [0.0; 2];
    for ((row, mass, units), line) in cases.iter().zip(lines) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        let [_, codes, raw, density] = cells[..] else { panic!("expected four cells: {line}") };
        assert!((raw - codes - f64::ln(*mass)).abs() < 1e-9, "{row}: {line}");
        assert!((density - raw - f64::ln(*units)).abs() < 1e-9, "{row}: {line}");
        sums = [sums[0] + raw, sums[1] + density];
    }
    let means = sums.map(|sum| sum / cases.len() as f64);
    let [mass, density] =
        ["mean_raw_log_likelihood", "mean_raw_log_density"].map(|name| summary[name].as_f64());
    assert!((mass.expect("a number") - means[0]).abs() < 1e-9);
    assert!((density.expect("a number") - means[1]).abs() < 1e-9);
    assert!(summary["raw_standard_error"].as_f64() > summary["raw_density_standard_error"].as_f64());

    let text = sandbox.run(&score);
    assert!(text.contains(&format!("\n  raw mass        {:.4} ± ", means[0])), "{text}");
    assert!(text.contains(&format!("\n  raw density     {:.4} ± ", means[1])), "{text}");
}

#[test]
fn numbers_are_learned_from_the_rows_of_the_circuit() {
    let sandbox = counts_and_sizes();
    let fit = ["t.csv", "--schema", "t.toml", "--out", "ones.circuit", "--where", "count=1"];
    sandbox.fit(&[&fit[..], &["--bins-where", "count!=7"]].concat());
    sandbox.write("one.csv", "count,size\n1,\n");
    let raw = |circuit: &str| {
        let score = sandbox.json(&["circuit", "score", circuit, "one.csv"]);
        let [raw, codes] =
            ["mean_raw_log_likelihood", "mean_log_likelihood"].map(|name| score[name].as_f64());
        raw.expect("a number") - codes.expect("a number")
    };
    assert!((raw("t.circuit") - (10.25_f64 / 21.0).ln()).abs() < 1e-9);
    assert!((raw("ones.circuit") - (10.25_f64 / 11.0).ln()).abs() < 1e-9);
}

#[test]
fn where_codes_tell_all_the_log_likelihood_is_printed_once() {
    let sandbox = colours();
    let score = ["circuit", "score", "colours.circuit", "colours.csv"];
    let summary = sandbox.json(&[&score[..], &["--per-row", "scores.csv"]].concat());
    assert!(summary["mean_raw_log_likelihood"].is_null() && summary["mean_raw_log_density"].is_null());
    assert!(sandbox.read("scores.csv").starts_with("line,log_likelihood\n"));
    assert!(!sandbox.run(&score).contains("raw"));
}

#[test]
fn scoring_no_rows_is_an_error() {
    let sandbox = Sandbox::with_circuit();
    let score = ["circuit", "score", "people.circuit", "people.csv", "--per-row", "scores.csv", "--where"];
    assert_eq!(
        sandbox.refused(&[&score[..], &["fold=7", "--where", "job!=cook"]].concat()),
        "error: people.csv: none of 60 rows passes `fold=7` and `job!=cook`\n"
    );
    assert_eq!(
        sandbox.refused(&[&score[..], &["Jobs=cook"]].concat()),
        "error: people.csv: no column `Jobs`, which a condition names, did you mean `job`?\n"
    );
}

#[test]
fn a_table_that_lacks_a_variable_is_an_error() {
    let sandbox = Sandbox::with_circuit();
    sandbox.write("t.csv", "age,job,hour\n1,cook,2\n");
    assert_eq!(
        sandbox.refused(&["circuit", "score", "people.circuit", "t.csv"]),
        "error: t.csv: no column `hours`, did you mean `hour`?\n"
    );
}

#[test]
fn an_error_midway_leaves_no_scores_file() {
    let sandbox = Sandbox::with_circuit();
    sandbox.write("t.csv", people() + "too,short\n");
    assert_eq!(
        sandbox.refused(&["circuit", "score", "people.circuit", "t.csv", "--per-row", "scores.csv"]),
        "error: t.csv, line 62: expected 6 cells, found 2\n\
         hint: look for a delimiter that is not quoted, or a row that is cut off\n"
    );
}

#[test]
fn same_seed_same_bytes_on_any_number_of_threads() {
    let sandbox = Sandbox::with_people();
    for threads in ["1", "2"] {
        let run = |arguments: &[&str]| {
            sandbox.par(arguments).env("RAYON_NUM_THREADS", threads).assert().success();
        };
        let circuit = format!("{threads}.circuit");
        run(&[&["circuit", "fit", "people.csv", "--schema", "people.toml", "--out", &circuit], &QUICK[..]]
            .concat());
        run(&[
            "circuit",
            "sample",
            &circuit,
            "-n",
            "3000",
            "--seed",
            "1",
            "--out",
            &format!("{threads}.csv"),
        ]);
    }
    assert_eq!(sandbox.bytes("1.circuit"), sandbox.bytes("2.circuit"));
    assert_eq!(sandbox.bytes("1.csv"), sandbox.bytes("2.csv"));
    assert!(sandbox.read("1.csv").starts_with(&sandbox.run(&[
        "circuit",
        "sample",
        "1.circuit",
        "-n",
        "9",
        "--seed",
        "1"
    ])));
}

#[test]
fn a_setting_without_effect_is_refused() {
    let sandbox = Sandbox::with_people();
    assert_eq!(
        sandbox.fit_refused(&["people.csv", "--min-rows", "9"]),
        "error: `--min-rows` has no effect with `--learner hclt`, only with `learnspn`\n"
    );
    assert_eq!(
        sandbox.fit_refused(&["people.csv", "--drop", "hour"]),
        "error: people.csv: no column `hour` to drop, did you mean `hours`?\n"
    );
    assert_eq!(
        sandbox.refused(&["circuit", "fit", "people.csv", "--out", "no/such.circuit"]),
        "error: no/such.circuit: no such folder `no`\n"
    );
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    let sandbox = Sandbox::with_circuit();
    let mut par = Command::new(env!("CARGO_BIN_EXE_par"))
        .args(["circuit", "sample", "people.circuit", "-n", "1000000"])
        .current_dir(sandbox.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("par starts");
    let mut first = [0; 4];
    par.stdout.take().expect("a pipe").read_exact(&mut first).expect("a header");
    assert_eq!(&first, b"age,");
    let output = par.wait_with_output().expect("par ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(unix)]
#[test]
fn an_interrupted_program_leaves_no_temporary_file() {
    let sandbox = Sandbox::with_circuit();
    let before = sandbox.files();
    let mut par = Command::new(env!("CARGO_BIN_EXE_par"))
        .args(["circuit", "sample", "people.circuit", "-n", "1000000000000", "--out", "drawn.csv"])
        .current_dir(sandbox.path(""))
        .spawn()
        .expect("par starts");
    while sandbox.files() == before {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kill = Command::new("kill").args(["-INT", &par.id().to_string()]).status().expect("kill starts");
    assert!(kill.success());
    assert_eq!(par.wait().expect("par ends").code(), Some(130));
    assert_eq!(sandbox.files(), before);
}

#[cfg(unix)]
#[test]
fn rows_to_score_may_come_through_a_pipe() {
    let sandbox = Sandbox::with_circuit();
    let mut command = sandbox.par(&["circuit", "score", "people.circuit", "/dev/stdin", "--json"]);
    let output = command.write_stdin(people()).output().expect("par starts");
    let piped: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let read = sandbox.json(&["circuit", "score", "people.circuit", "people.csv"]);
    assert_eq!(piped["mean_log_likelihood"], read["mean_log_likelihood"]);
    assert_eq!(piped["rows"], 60);
}
