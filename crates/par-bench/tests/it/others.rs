//! Answers of other methods, read from a file.

use std::io::Cursor;

use par_bench::method::{Method, Reply};
use par_bench::peers::recorded::{self, Recorded};
use par_bench::{Case, Error, Experiment, Factual, Metric};
use par_data::{Schema, Table, TableOptions};

use crate::{SCHEMA, applicants, case, case_of, figures, quick, table};

const HEADER: &str = "method,fold,id,k,time_s,height,job,degree,age,debt,sex\n";

fn read(case: &Case, lines: &str) -> Result<Vec<Recorded>, Error> {
    let text = format!("{HEADER}{lines}");
    recorded::read(Table::from_reader("others.csv", Cursor::new(text), &TableOptions::default())?, case)
}

fn replies(peer: &Recorded, fold: &str, people: &[Factual]) -> Vec<Reply> {
    let mut method = peer.of_fold(fold);
    people.iter().map(|person| method.reply(person)).collect()
}

#[test]
fn only_the_first_answer_counts_and_empty_cells_do_not_change() {
    let case = case();
    let lines =
        "FACE,0,p0,0,0.5,,nurse,,,0,\nFACE,0,p0,1,0.5,,,,,1,\nFACE,0,p3,-1,0.25,,,,,,\nVAE,1,p1,0,,,,,,2,\n";
    let peers = read(&case, lines).expect("answers");
    assert_eq!(peers.iter().map(Recorded::name).collect::<Vec<_>>(), ["FACE", "VAE"]);
    let people = case.people(&case.test("0"));
    let found = replies(&peers[0], "0", &people);
    assert_eq!(found.iter().filter(|reply| reply.cells.is_some()).count(), 1);
    assert_eq!(people[0].cells, ["clerk", "low", "20", "0", "f", "150"]);
    let expected = ["nurse", "low", "20", "0", "f", "150"].map(String::from);
    assert_eq!(found[0].cells.as_deref(), Some(&expected[..]));
    assert_eq!(found[0].microseconds, Some(500_000.0));
    // The time counts without an answer, too.
    assert_eq!(found[1], Reply { cells: None, microseconds: Some(250_000.0) });
    assert!(replies(&peers[0], "1", &people).iter().all(|reply| *reply == Reply::default()));
}

#[test]
fn a_column_with_the_name_of_a_feature_is_prefixed() {
    let schema =
        Schema::parse(&SCHEMA.replace("\"job\"", "\"method\""), "applicants.toml").expect("a schema");
    let rows = applicants().replacen(",job,", ",method,", 1);
    let case = Case::new("applicants", schema, quick(), table(&rows), "fold", None).expect("a case");
    let text = "par_method,fold,id,k,time_s,height,method,degree,age,debt,sex\nFACE,0,p0,0,0.5,,nurse,,,0,\n";
    let others = Table::from_reader("others.csv", Cursor::new(text), &TableOptions::default());
    let peers = recorded::read(others.expect("a header"), &case).expect("answers");
    let replies = replies(&peers[0], "0", &case.people(&case.test("0")));
    let expected = ["nurse", "low", "20", "0", "f", "150"].map(String::from);
    assert_eq!((peers[0].name(), replies[0].cells.as_deref()), ("FACE", Some(&expected[..])));
}

#[track_caller]
fn refused(lines: &str) -> String {
    read(&case(), lines).expect_err("invalid answers").to_string()
}

#[test]
fn invalid_lines_are_named() {
    let said = |problem: &str| format!("others.csv, line 2: {problem}");
    assert_eq!(refused("FACE,9,p0,0,1,,,,,0,\n"), said("no fold `9`, expected one of `0`, `1`, `2`"));
    assert_eq!(refused("FACE,0,p1,0,1,,,,,0,\n"), said("no row of fold `0` has the id `p1`"));
    assert_eq!(refused("FACE,0,p0,one,1,,,,,0,\n"), said("`k` is `one`, expected a whole number from -1"));
    assert_eq!(refused("FACE,0,p0,-2,1,,,,,0,\n"), said("`k` is `-2`, expected a whole number from -1"));
    assert_eq!(refused("FACE,0,p0,0,soon,,,,,0,\n"), said("`time_s` is `soon`, expected seconds"));
    assert_eq!(refused("FACE,0,p0,0,1e305,,,,,0,\n"), said("`time_s` is `1e305`, expected seconds"));
    assert_eq!(refused("FACE,0,p0,0,-1,,,,,0,\n"), said("`time_s` is `-1`, expected seconds"));
    assert_eq!(refused("FACE,0,p0,0,1,,,,,none,\n"), said("`debt` is `none`, expected a number"));
    assert_eq!(refused(",0,p0,0,1,,,,,0,\n"), said("`method` is empty, expected a name"));
    assert_eq!(
        refused("refine,0,p0,0,1,,,,,0,\n"),
        said("`method` is `refine`, which is reserved, as are names with a slash\nhint: use another name")
    );
    assert_eq!(
        refused("FACE,0,p0,-1,1,,,,,0,\n"),
        said("`k` is `-1`, nothing was found, but `debt` is `0`, expected an empty cell")
    );
    assert_eq!(
        refused("FACE,0,p0,1,1,,,,,0,\n"),
        said("`FACE`, fold `0`, id `p0`: there is a k `1` and no k `0`")
    );
}

#[test]
fn an_answer_occurs_once() {
    for k in ["-1", "0", "2"] {
        let line = format!("FACE,0,p0,{k},1,,,,,,\n");
        assert_eq!(
            refused(&format!("{line}FACE,0,p3,0,1,,,,,,\n{line}")),
            format!("others.csv, line 4: `FACE`, fold `0`, id `p0`, k `{k}`: occurs twice")
        );
    }
    assert_eq!(
        refused("FACE,0,p0,-1,1,,,,,,\nFACE,0,p0,0,1,,,,,0,\n"),
        "others.csv, line 3: `FACE`, fold `0`, id `p0`, k `0`: there is an answer, and a line that says there is none"
    );
}

#[test]
fn a_file_of_another_kind_is_refused() {
    let header = |header: &str| {
        let table = Table::from_reader("o.csv", Cursor::new(format!("{header}\n")), &TableOptions::default());
        recorded::read(table.expect("a header"), &case()).expect_err("a column is missing").to_string()
    };
    assert_eq!(
        header("method,fold,id,k,times_s"),
        "o.csv, line 1: no column `time_s`, did you mean `times_s`?"
    );
    assert_eq!(
        header("method,fold,id,k,time_s,job,degree,age,debt,sex"),
        "o.csv, line 1: no column `height`, found `method`, `fold`, `id`, `k`, `time_s`, `job`, `degree`, `age` and 2 more"
    );
    let methods: String = (0..101).map(|method| format!("m{method},0,p0,0,1,,,,,0,\n")).collect();
    assert_eq!(refused(&methods), "others.csv, line 102: there are more than 100 methods");
}

#[test]
fn a_table_without_ids_or_with_ids_twice_has_no_peers() {
    let without = applicants().replacen("id,", "number,", 1);
    assert_eq!(
        read(&case_of(&without), "").expect_err("no ids").to_string(),
        "applicants.csv: has no ids, so the answers in others.csv cannot be matched to its rows\n\
         hint: name its column of ids as `id` under `[columns]` in the schema"
    );
    let twice = applicants().replacen("\np3,", "\np0,", 1);
    assert_eq!(
        read(&case_of(&twice), "").expect_err("ids twice").to_string(),
        "applicants.csv: two rows of fold `0` have the id `p0`, so the answers in \
         others.csv cannot be matched to them"
    );
}

#[test]
fn peers_are_measured_beside_ours_and_an_unseen_category_is_no_answer() {
    let mut case = case();
    // All people of the first fold without debts; one of them as a pilot.
    let people = case.people(&case.test("0"));
    let job = |id: &str| if id == "p3" { "pilot" } else { "" };
    let lines: String = people
        .iter()
        .map(|person| format!("Debtless,0,{},0,0.001,,{},,,0,\n", person.id, job(&person.id)))
        .collect();
    case.peers = read(&case, &lines).expect("answers");
    let figures = figures(&case, &[Experiment::Answers, Experiment::Robustness]);
    let figure = |fold: &str, metric: &Metric| {
        let mut found = figures.named("applicants", "Debtless", &metric.name);
        found.find(|figure| figure.fold == fold && figure.metric == *metric).expect("a figure").clone()
    };
    let denied = figure("0", &"validity".into()).of;
    let nll = figure("0", &"nll".into());
    assert_eq!((nll.over, nll.of), (denied - 1, denied));
    assert_eq!(figure("0", &"actionability".into()).value, Some(1.0));
    assert!(figure("0", &"validity".into()).value > Some(0.9));
    assert_eq!(figure("0", &"median_time_us".into()).value, Some(1000.0));
    let again = figure("0", &Metric::at("validity", &[("classifier", &"logistic")]));
    assert_eq!((again.over, again.of), (denied - 1, denied));
    // It has not answered in the other folds.
    let other = figure("1", &"nll".into());
    assert_eq!((other.value, other.over), (None, 0));
    assert_eq!(figure("1", &"validity".into()).value, Some(0.0));
}
