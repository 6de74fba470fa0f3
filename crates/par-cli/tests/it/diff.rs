//! `par diff`.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::Sandbox;
use crate::model::{FIT, SCHEMA};

/// Also holds `strict.par`, the same model with a higher threshold, and `seed.par`, the same fit with another seed.
fn with_models() -> Sandbox {
    static MODELS: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    let [strict, seed] = MODELS.get_or_init(|| {
        let sandbox = Sandbox::with_applicants();
        let fit = |arguments: &[&str]| {
            sandbox.run(&[&FIT, arguments].concat());
            sandbox.bytes("a.par")
        };
        [fit(&["--threshold", "0.8"]), fit(&["--seed", "7"])]
    });
    let sandbox = Sandbox::with_model();
    sandbox.write("strict.par", strict);
    sandbox.write("seed.par", seed);
    sandbox
}

fn count(value: &Value) -> u64 {
    value.as_u64().expect("a count")
}

#[test]
fn the_same_model_changes_nothing_and_keeps_every_way() {
    let sandbox = Sandbox::with_model();
    sandbox.write("b.par", sandbox.bytes("a.par"));
    let diff = sandbox.json(&["diff", "a.par", "b.par", "applicants.csv", "--count", "3", "--least", "1"]);
    assert_eq!(
        (&diff["people"], &diff["differences"], &diff["broken"]),
        (&240.into(), &json!([]), &json!([]))
    );
    let flow = diff["flow"].as_array().expect("a list");
    assert!(flow.len() >= 2 && flow.iter().all(|flow| flow["old"] == flow["new"]), "{flow:?}");
    assert_eq!(
        (&diff["denied_to_accepted"]["yes"], &diff["accepted_to_denied"]["yes"]),
        (&0.into(), &0.into())
    );
    let kept = &diff["ways"]["kept"];
    assert!(count(&kept["of"]) > 50 && kept["share"] == 1.0, "{kept}");
    assert_eq!(diff["ways"]["short_by"], Value::Null);
    for measure in ["changes", "effort", "months", "log_likelihood"] {
        assert_eq!(diff["cost"][measure][0], diff["cost"][measure][1], "{measure}");
    }
    let text = sandbox.run(&["diff", "a.par", "b.par", "applicants.csv"]);
    assert!(text.contains("\n  ways broken          0\n"), "{text}");
}

#[test]
fn a_higher_threshold_breaks_the_ways_below_it() {
    let sandbox = with_models();
    let command = ["diff", "a.par", "strict.par", "applicants.csv", "--list", "5", "--group", "city"];
    let diff = sandbox.json(&command);
    assert_eq!((&diff["old_threshold"], &diff["new_threshold"]), (&0.5.into(), &0.8.into()));

    // What `par recourse` tells, by the scores that the new model gives to the same rows.
    sandbox.run(&["recourse", "a.par", "applicants.csv", "--out", "ways.csv"]);
    let mut reader = csv::Reader::from_path(sandbox.path("ways.csv")).expect("a table");
    let lines: Vec<std::collections::BTreeMap<String, String>> =
        reader.deserialize().map(|line| line.expect("a line")).collect();
    let found: Vec<_> = lines.iter().filter(|line| line["status"] == "found").collect();
    let score = |line: &&&std::collections::BTreeMap<String, String>| {
        line["probability"].parse::<f64>().expect("a score") >= 0.8
    };
    let (of, kept) = (found.len() as u64, found.iter().filter(score).count() as u64);
    assert_eq!((&diff["ways"]["kept"]["of"], &diff["ways"]["kept"]["yes"]), (&of.into(), &kept.into()));
    assert_eq!(diff["ways"]["too_low"], of - kept);
    assert!(kept < of);

    let broken = diff["broken"].as_array().expect("a list");
    assert_eq!(broken.len() as u64 + count(&diff["broken_not_listed"]), of - kept);
    assert_eq!(broken.len(), 5);
    let short: Vec<f64> = broken.iter().map(|way| way["short_by"].as_f64().expect("a number")).collect();
    assert!(short.is_sorted_by(|a, b| a >= b), "{short:?}");
    assert!((short[0] - diff["ways"]["short_by"]["largest"].as_f64().expect("a number")).abs() < 1e-12);
    for way in broken {
        let number = |name: &str| way[name].as_f64().expect("a number");
        assert!((number("short_by") - (0.8 - number("new_score"))).abs() < 1e-12);
        assert!(!way["changes"].as_array().expect("a list").is_empty());
    }

    let groups = diff["groups"].as_array().expect("a list");
    assert_eq!(groups.iter().map(|group| &group["group"]).collect::<Vec<_>>(), ["Ulm", "Jena", "Kiel"]);
    assert_eq!(groups.iter().map(|group| count(&group["people"])).sum::<u64>(), 240);
    assert_eq!(groups.iter().map(|group| count(&group["ways"]["kept"]["yes"])).sum::<u64>(), kept);

    let output = sandbox.par(&[&command[..], &["--least", "0.999"]].concat()).output().expect("par starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!((output.status.code(), output.stderr), (Some(1), Vec::new()));
    assert!(text.ends_with("\ntoo few ways are kept: expected a share of at least 0.999\n"), "{text}");
    sandbox.run(&[&command[..], &["--least", "0.001"]].concat());
}

#[test]
fn ways_that_people_were_told_count_in_place_of_new_ones() {
    let sandbox = with_models();
    let diff = |more: &[&str]| {
        sandbox.json(&[&["diff", "a.par", "seed.par", "applicants.csv", "--count", "2"], more].concat())
    };
    sandbox.run(&["recourse", "a.par", "applicants.csv", "--count", "2", "--out", "ways.csv"]);
    let (asked, mut told) = (diff(&[]), diff(&["--ways", "ways.csv"]));
    assert_eq!(told["ways_table"], "ways.csv");
    told["ways_table"] = Value::Null;
    assert_eq!(asked, told);

    let ways = sandbox.read("ways.csv");
    let without_first: Vec<&str> = ways.lines().filter(|line| !line.starts_with("p0,")).collect();
    sandbox.write("fewer.csv", without_first.join("\n"));
    assert_eq!((&diff(&["--ways", "fewer.csv"])["absent"], &told["people"]), (&1.into(), &240.into()));
    let text = sandbox.run(&["diff", "a.par", "seed.par", "applicants.csv", "--ways", "fewer.csv"]);
    assert!(
        text.contains("note: left out, without a line in fewer.csv: 1 of the people of applicants.csv\n"),
        "{text}"
    );
}

#[test]
fn it_is_said_that_ways_are_found_by_number_where_there_is_no_id() {
    let sandbox = Sandbox::with_applicants();
    sandbox.write("applicants.toml", SCHEMA.replace("id = \"id\"\n", ""));
    sandbox.run(&FIT);
    sandbox.run(&["recourse", "a.par", "applicants.csv", "--out", "ways.csv"]);
    let diff = ["diff", "a.par", "a.par", "applicants.csv", "--ways", "ways.csv"];
    assert_eq!(sandbox.json(&diff)["ways_by_number"], true);
    assert_eq!(sandbox.json(&diff[..4])["ways_by_number"], false);
    let text = sandbox.run(&[&diff[..], &["--out", "diff.html"]].concat());
    assert!(
        text.contains("\n  note: without an id column in the old schema, people are found in ways.csv by "),
        "{text}"
    );
    let page = sandbox.read("diff.html");
    assert!(page.contains(
        "The new model is asked about the 240 people of applicants.csv; the old answers are those of"
    ));
    assert!(!page.contains("Both models are asked"));
}

#[test]
fn ways_that_cannot_be_used_are_refused_with_their_place() {
    let sandbox = Sandbox::with_model();
    sandbox.run(&["recourse", "a.par", "applicants.csv", "--where", "id=p0", "--out", "ways.csv"]);
    let ways = sandbox.read("ways.csv");
    let (header, line) = ways.trim_end().split_once('\n').expect("two lines");
    let refused = |text: String| {
        sandbox.write("bad.csv", text);
        sandbox.refused(&["diff", "a.par", "a.par", "applicants.csv", "--ways", "bad.csv"])
    };
    assert_eq!(
        refused(format!("{header}\n{line}\n{line}\n")),
        "error: bad.csv, line 3: `p0` has rank 1 after 1 lines before it, expected rank 2\n\
         hint: an id stands for one person, whose ways follow each other by rank\n"
    );
    assert_eq!(
        refused(format!("{header}\n{}\n", line.replace(",found,", ",lost,"))),
        "error: bad.csv, line 2, column `status`: `lost` is no status, expected one that `par recourse` writes\n"
    );
    assert_eq!(
        refused(format!("{header}\n{}\n", line.replace("p0,", "nobody,"))),
        "error: bad.csv: has no line for any of 240 people of applicants.csv\n\
         hint: people are found by the id column of the schema, or by their number in the table\n"
    );
    let error = refused("id,age\n1,2\n".to_string());
    assert!(
        error.starts_with(
            "error: bad.csv: no column `rank`, expected a table that `par recourse --out` writes with the old model"
        ),
        "{error}"
    );
}

#[test]
fn models_of_other_schemas_are_compared_by_the_names_of_columns() {
    let sandbox = with_models();
    // Without `debt`, with a new feature `fold`, and with a city that the old model does not know.
    let schema = SCHEMA
        .replace("fold = \"fold\"\n", "")
        .replace("name = \"debt\"", "name = \"fold\"")
        .replace("values = [\"Ulm\", \"Jena\", \"Kiel\"]", "values = [\"Bonn\", \"Jena\", \"Kiel\"]");
    sandbox.write("other.toml", schema);
    let applicants = sandbox.read("applicants.csv");
    sandbox.write("other.csv", applicants.replace(",Ulm,", ",Bonn,"));
    sandbox.write("quick.toml", crate::sandbox::QUICK);
    let fit = ["fit", "other.csv", "--schema", "other.toml", "--config", "quick.toml", "--out", "other.par"];
    sandbox.run(&fit);
    let diff = sandbox.json(&["diff", "a.par", "other.par", "applicants.csv", "--group", "city"]);
    assert_eq!(
        diff["differences"],
        json!([
            "`city`: the new model does not know `Ulm`; rows with them cannot be read",
            "`city`: the old model does not know `Bonn`; rows with them cannot be read",
            "`debt` is read by the old model alone: changing it makes no difference to the new one",
            "`fold` is read by the new model alone: old ways leave it as the table has it",
        ])
    );
    assert_eq!((&diff["unread_by_old"], &diff["unread_by_new"]), (&0.into(), &80.into()));
    assert!(
        diff["first_unread_by_new"]
            .as_str()
            .is_some_and(|text| text.starts_with("applicants.csv, line 2, column `city`: ")),
        "{diff}"
    );
    // Whoever lives in Ulm had a way that the new model cannot read.
    let ulm = &diff["groups"][0];
    assert_eq!((&ulm["group"], &ulm["ways"]["kept"]["yes"]), (&"Ulm".into(), &0.into()));
    assert_eq!(ulm["ways"]["unreadable"], ulm["ways"]["kept"]["of"]);
    assert_eq!(diff["ways"]["unreadable"], ulm["ways"]["unreadable"]);
    let text = sandbox.run(&["diff", "a.par", "other.par", "applicants.csv"]);
    assert!(
        text.contains(
            "\n  note: rows that the new model cannot read: 80; the first: applicants.csv, line 2, "
        ),
        "{text}"
    );

    sandbox.write("short.csv", "id,age,city,education,income,debt\na,30,Ulm,low,1000,7\n");
    let error = sandbox.refused(&["diff", "a.par", "other.par", "short.csv"]);
    assert!(
        error.starts_with("error: other.par: short.csv: no column `fold`, which the model needs"),
        "{error}"
    );
}

#[test]
fn bad_arguments_are_refused() {
    let sandbox = Sandbox::with_model();
    let refused =
        |more: &[&str]| sandbox.refused(&[&["diff", "a.par", "a.par", "applicants.csv"], more].concat());
    assert_eq!(
        refused(&["--group", "citty"]),
        "error: applicants.csv: no column `citty` to group by, did you mean `city`?\n"
    );
    assert_eq!(
        refused(&["--group", "id"]),
        "error: applicants.csv: `id` has more than 100 different texts, expected few groups\n\
         hint: numbers have groups if the schema has them as a feature\n"
    );
    assert_eq!(refused(&["--where", "fold=9"]), "error: applicants.csv: none of 240 rows passes `fold=9`\n");
    assert!(refused(&["--lock", "shoe"]).starts_with("error: a.par: `--lock`: "));
    assert!(refused(&["--least", "95"]).contains("expected a number from 0 to 1"));
    assert_eq!(
        refused(&["--out", "a.par"]),
        "error: a.par: is read from, and writing would replace it\nhint: write to another file\n"
    );
    assert!(
        sandbox
            .refused(&["diff", "a.par", "applicants.csv", "applicants.csv"])
            .starts_with("error: applicants.csv: not a model file\n")
    );
}

#[test]
fn the_page_and_the_text_are_the_same_bytes_on_any_number_of_threads() {
    let sandbox = with_models();
    let compare = |threads: &str| {
        let command = ["diff", "a.par", "seed.par", "applicants.csv", "--group", "age", "--out", "diff.html"];
        let output = sandbox.par(&command).env("RAYON_NUM_THREADS", threads).output().expect("par starts");
        assert_eq!(output.status.code(), Some(0));
        (String::from_utf8(output.stdout).expect("UTF-8"), sandbox.read("diff.html"))
    };
    let one = compare("1");
    assert_eq!(one, compare("3"));
    par_plot::page::check_tags(&one.1);
    assert!(!one.1.contains("NaN"));
}

#[test]
fn names_of_people_and_files_are_escaped_on_the_page_and_in_the_terminal() {
    const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[2J";
    let sandbox = with_models();
    let table = format!(
        "id,age,city,education,income,debt,note\n{HOSTILE},30,Ulm,low,1000,7,{HOSTILE}\nb,31,Jena,low,1200,6,<b>\n"
    );
    sandbox.write("people <b>.csv", table);
    let text = sandbox.run(&[
        "diff",
        "a.par",
        "strict.par",
        "people <b>.csv",
        "--margin",
        "0",
        "--group",
        "note",
        "--out",
        "d.html",
    ]);
    assert!(text.contains("\n  <script>alert(1)</script> [2J: ") && !text.contains('\u{1b}'), "{text:?}");
    let page = sandbox.read("d.html");
    assert!(
        page.contains("<h3>&lt;script&gt;alert(1)&lt;/script&gt; [2J</h3>"),
        "a person whose way breaks is listed"
    );
    assert!(page.contains("people &lt;b&gt;.csv") && !page.contains("<script") && !page.contains("<b>.csv"));
    par_plot::page::check_tags(&page);
}
