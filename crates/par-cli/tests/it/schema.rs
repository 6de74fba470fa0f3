use crate::{PEOPLE_SCHEMA, Sandbox};

/// Runs `par schema init` with these answers on standard input; what it prints, and what it says.
#[track_caller]
fn init(sandbox: &Sandbox, arguments: &[&str], answers: &str) -> (String, String) {
    let mut command = sandbox.par(&[&["schema", "init"], arguments].concat());
    let output = command.write_stdin(answers).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{}", text(output.stderr));
    (text(output.stdout), text(output.stderr))
}

#[test]
fn a_draft_is_printed_or_written_but_does_not_overwrite_another() {
    let sandbox = Sandbox::with_people();
    let (draft, said) = init(&sandbox, &["people.csv"], "");
    assert!(draft.contains("name = \"age\"\nkind = \"discrete\""), "{draft}");
    assert_eq!(
        said,
        "label: \"decision\" (likely: its name is that of a label)\n\
         favourable: \"yes\" (a guess: neither the name nor the values say it; `--favourable` sets it)\n\
         undecided, and so unchanged: job, hours; `--ask` goes through them\n"
    );

    assert_eq!(init(&sandbox, &["people.csv", "--out", "draft.toml"], "").0, "");
    assert_eq!(sandbox.read("draft.toml"), draft);
    sandbox.run(&["schema", "check", "people.csv", "draft.toml"]);

    sandbox.write("draft.toml", "mine");
    assert_eq!(
        sandbox.refused(&["schema", "init", "people.csv", "--out", "draft.toml"]),
        "error: draft.toml: exists already\nhint: `--force` overwrites it\n"
    );
    assert_eq!(sandbox.read("draft.toml"), "mine");
    init(&sandbox, &["people.csv", "--out", "draft.toml", "--force"], "");
    assert_eq!(sandbox.read("draft.toml"), draft);
}

#[test]
fn a_table_without_names_or_with_another_delimiter_is_drafted_and_checked() {
    let sandbox = Sandbox::new();
    let rows: String = (0..60).map(|row| format!("{}|{},5|{}\n", row % 7, row * 7 % 50, row % 2)).collect();
    sandbox.write("rows.txt", &rows);
    let options = ["rows.txt", "--no-header", "--delimiter", "|", "--label", "column_3", "--favourable", "0"];
    let (draft, said) = init(&sandbox, &options, "");
    assert!(said.starts_with("label: \"column_3\" (as given)\nfavourable: \"0\" (as given)\n"), "{said}");
    assert!(draft.contains("name = \"column_1\"\nkind = \"discrete\""), "{draft}");
    assert!(draft.contains("name = \"column_2\"\nkind = \"nominal\""), "{draft}");

    sandbox.write("rows.tsv", rows.replace(",5", "").replace('|', "\t"));
    let (draft, _) = init(&sandbox, &["rows.tsv", "--no-header"], "");
    sandbox.write("rows.toml", draft);
    let report = sandbox.json(&["schema", "check", "rows.tsv", "rows.toml", "--no-header"]);
    assert_eq!(report["undecided"], serde_json::json!(["column_1", "column_2"]));

    let refused = sandbox.refused(&["schema", "init", "rows.txt", "--delimiter", "semicolon"]);
    let expected = "error: invalid value 'semicolon' for '--delimiter <CHARACTER>': expected one character such as `;`, or `tab`";
    assert!(refused.starts_with(expected), "{refused}");
}

/// A trait, a guess and two undecided features.
fn zealous() -> Sandbox {
    let sandbox = Sandbox::new();
    let row = |row: usize| {
        let zeal = ["low", "middle", "high"][(row * 5 % 8 + row / 20) % 3];
        format!(
            "{},{zeal},{},{},{}\n",
            ["m", "f"][row % 2],
            row * 11 % 37,
            900 + row * 13 % 70,
            row * 5 % 8 / 4
        )
    };
    let rows: String = (0..80).map(row).collect();
    sandbox.write("t.csv", format!("sex,zeal,zest,income,approved\n{rows}"));
    sandbox
}

#[test]
fn names_and_values_do_not_steer_the_terminal() {
    let sandbox = zealous();
    let text =
        sandbox.read("t.csv").replacen("zeal", "\"z\u{1b}[2J\neal\"", 1).replace("middle", "mid\u{7}dle");
    sandbox.write("t.csv", text.replace("approved", "\"approved\u{1b}\""));
    let (_, said) = init(&sandbox, &["t.csv", "--ask"], "\n\n\n\n");
    assert!(!said.contains(|found: char| found.is_control() && found != '\n'), "{said:?}");
    assert!(said.contains("of 3: z [2J eal: mid dle (36 %)"), "{said:?}");
    sandbox.par(&["schema", "init", "t.csv", "--out", "t.toml"]).assert().success();
    let checked = sandbox.run(&["schema", "check", "t.csv", "t.toml"]);
    assert!(checked.contains("z [2J eal") && !checked.contains('\u{1b}'), "{checked:?}");
}

#[test]
fn questions_are_answered_at_the_terminal() {
    let sandbox = zealous();
    let (draft, said) = init(&sandbox, &["t.csv", "--ask"], "x\nwith\nMonths\n\ninc\nh\n");
    insta::assert_snapshot!(said, @r#"
    label: "approved" (likely: its name is that of a label)
    favourable: "1" (likely: people want "approved" to be so)
    questions: 3; Enter takes the answer in brackets, `quit` ends

    1 of 3: zest: 0 to 36, most often 0 (4 %)
      nothing in its name says what a person can do
      change: never, free, increase, decrease, with-time, skip, quit [skip]   `x` is none of them
      change: never, free, increase, decrease, with-time, skip, quit [skip]   unit: days, weeks, months, quarters, years [years] 
    2 of 3: income: 900 to 969, most often 900 (2 %)
      a person can earn more, with time
      change: never, free, increase, decrease, with-time, skip, quit [increase] 
    3 of 3: zeal: middle (36 %), low (32 %), high (31 %)
      nothing in its name says what a person can do
      change: never, free, increase, decrease, skip, quit [skip]   effort: easy, some, hard, very hard [some]
    "#);
    for expected in [
        "unit = \"months\"\nchange = \"with-time\"  # as you said",
        "change = \"increase\"  # a person can earn more, with time\neffort = \"hard\"",
        "kind = \"ordinal\"\nvalues = [\"low\", \"middle\", \"high\"]\nchange = \"increase\"  # as you said\neffort = \"hard\"",
    ] {
        assert!(draft.contains(expected), "{expected}\n{draft}");
    }
}

#[test]
fn questions_end_with_the_input_or_where_the_person_wants() {
    let sandbox = zealous();
    let (untouched, _) = init(&sandbox, &["t.csv"], "");
    for answers in ["", "q\n", "quit\nfree\n", "skip\ns\n\n"] {
        let (draft, said) = init(&sandbox, &["t.csv", "--ask"], answers);
        assert_eq!(draft, untouched, "{answers:?}\n{said}");
    }
    let (draft, said) = init(&sandbox, &["t.csv", "--ask", "1"], "never\nnever\nnever\n");
    assert!(said.contains("questions: 1;") && !said.contains("2 of"), "{said}");
    assert_eq!(draft.matches("change = \"never\"  # as you said").count(), 1);
    // `no` and `yes` have an order, which a direction needs.
    sandbox.write("flags.csv", "owner,size,approved\nno,1,0\nyes,2,1\nyes,3,0\nno,4,1\n");
    let (draft, _) = init(&sandbox, &["flags.csv", "--ask", "--label", "approved"], "i\n\ni\n\n");
    let ordered = "kind = \"ordinal\"\nvalues = [\"no\", \"yes\"]\nchange = \"increase\"  # as you said";
    assert!(draft.contains(ordered), "{draft}");
    // The effort is not said any more: the usual one.
    let (draft, _) = init(&sandbox, &["t.csv", "--ask", "1"], "f");
    assert!(draft.contains("change = \"free\"  # as you said\neffort = \"some\""), "{draft}");
}

#[test]
fn a_check_shows_what_is_undecided_and_suspicious() {
    let sandbox = zealous();
    sandbox.write(
        "t.toml",
        r#"
        version = 2
        label = { column = "approved", classes = [0, 1], favourable = 1 }
        [[feature]]
        name = "sex"
        kind = "nominal"
        change = "free"
        [[feature]]
        name = "zeal"
        kind = "nominal"
        [[feature]]
        name = "zest"
        kind = "discrete"
        change = "never"
        "#,
    );
    let report = sandbox.json(&["schema", "check", "t.csv", "t.toml"]);
    assert_eq!(report["undecided"], serde_json::json!(["zeal"]));
    assert_eq!(
        report["worth_a_look"],
        serde_json::json!([
            "sex: it may change, but its name says: a protected trait",
            "without `change`, so that they stay as they are: zeal",
        ])
    );
    assert_eq!(report["features"][1]["constraints"], serde_json::json!(["undecided"]));

    let leak: String =
        (0..200).map(|row| format!("{},{},{}\n", row % 2 * 50 + row % 9, row % 7, row % 2)).collect();
    sandbox.write("t.csv", format!("after,size,approved\n{leak}"));
    sandbox.write(
        "t.toml",
        r#"
        version = 2
        label = { column = "approved", classes = [0, 1], favourable = 1 }
        [[feature]]
        name = "after"
        kind = "discrete"
        [[feature]]
        name = "size"
        kind = "discrete"
        "#,
    );
    let report = sandbox.json(&["schema", "check", "t.csv", "t.toml"]);
    assert_eq!(
        report["worth_a_look"],
        serde_json::json!([
            "after: it alone nearly tells the label (AUC 1.000); is it known before the decision?",
            "without `change`, so that they stay as they are: after, size",
            "every feature is immutable: there is nothing that a person could change",
        ])
    );
}

#[test]
fn a_check_shows_features_codes_label_rules_and_what_is_worth_a_look() {
    let sandbox = Sandbox::with_people();
    let report = sandbox.run(&["schema", "check", "people.csv", "people.toml", "--train-where", "fold!=0"]);
    insta::assert_snapshot!(report, @"
    people.csv: 12 rows checked against the bins of 48 rows
      coverage 100.00 %, fidelity 100.00 %

    features
      name   kind        codes  coded as    unknown  snapped  constraints
      age    discrete       10  bins              0        0  increasing, 18 to 60
      job    nominal         4  categories        0        0
      hours  continuous      4  bins              0        0

    codes (for bins, their edges)
      age    20 | 24 | 28 | 32.1 | 36.8 | 41 | 46.2 | 50.8 | 55.2 | 59.6 | 65
      job    clerk, cook, nurse, pilot
      hours  22 | 28 | 33 | 38.25 | 45

    label decision
      no   6  50.00 %
      yes  6  50.00 %  favourable

    rules
      hours rises only if age rises too

    worth a look
      job: listed but never seen: pilot
      age: it may change, but its name says: age: a protected trait, and a clock
    ");
}

#[test]
fn a_check_says_in_words_what_may_change_and_how_features_are_related() {
    let sandbox = Sandbox::with_people();
    sandbox.write(
        "second.toml",
        r#"
        version = 2
        [[feature]]
        name = "age"
        kind = "discrete"
        unit = "years"
        change = "with-time"
        [[feature]]
        name = "job"
        kind = "nominal"
        values = ["clerk", "cook", "nurse"]
        change = "free"
        forbid = { nurse = ["cook"] }
        effort = "hard"
        takes = "2 years"
        [[feature]]
        name = "hours"
        kind = "continuous"
        [[relation]]
        at_most = ["hours", "age"]
        [[accept]]
        require = { hours = "20.." }
        because = "more than an hour a day"
        "#,
    );
    let check = ["schema", "check", "people.csv", "second.toml"];
    let report = sandbox.run(&check);
    insta::assert_snapshot!(report, @"
    people.csv: 60 rows checked, which the bins are fitted to as well

    features
      name   kind        codes  coded as    unknown  snapped  constraints
      age    discrete       10  bins              0        0  moves with time
      job    nominal         3  categories        0        0  nurse not to cook, effort hard, takes 24 months
      hours  continuous     10  bins              0        0  undecided

    codes (for bins, their edges)
      age    20 | 23.9 | 27.8 | 31.7 | 36.6 | 41 | 45.4 | 50.3 | 55 | 59.1 | 65
      job    clerk, cook, nurse
      hours  20 | 23.9 | 25.8 | 28 | 30 | 32.5 | 34.4 | 37 | 39 | 41.1 | 45

    relations
      hours is at most age

    policies
      accepted only if hours is 20 or more (more than an hour a day)

    columns left out
      id, decision, fold

    worth a look
      there is no [label], which recourse needs
      without `change`, so that they stay as they are: hours
    ");
    let report = sandbox.json(&check);
    assert_eq!(report["features"][2]["change"], "undecided");
    assert_eq!(report["relations"], serde_json::json!(["hours is at most age"]));
    assert_eq!(
        report["accept"],
        serde_json::json!(["accepted only if hours is 20 or more (more than an hour a day)"])
    );
    assert_eq!(report["rules"], serde_json::json!([]));
}

#[test]
fn without_held_out_rows_there_is_no_coverage() {
    let sandbox = Sandbox::with_people();
    let report = sandbox.json(&["schema", "check", "people.csv", "people.toml"]);
    assert_eq!((&report["rows_fitted"], &report["rows_checked"]), (&60.into(), &60.into()));
    assert!(report["coverage"].is_null() && report["fidelity"].is_null());
}

#[test]
fn held_out_rows_are_checked_against_the_bins() {
    let sandbox = Sandbox::with_people();
    sandbox.write("some.toml", "[[feature]]\nname = \"age\"\nkind = \"discrete\"\nbins = 60\n");
    let check = ["schema", "check", "people.csv", "some.toml", "--train-where", "fold=1"];
    let all_others = sandbox.json(&check);
    assert_eq!((&all_others["rows_fitted"], &all_others["rows_checked"]), (&12.into(), &48.into()));
    let snapped = all_others["features"][0]["snapped"].as_u64().expect("a count");
    assert!(snapped > 0);
    let coverage = all_others["coverage"].as_f64().expect("a share");
    assert!((coverage - (48 - snapped) as f64 / 48.0).abs() < 1e-12);

    let same = sandbox.json(&[&check[..], &["--where", "fold=1"]].concat());
    assert_eq!((&same["coverage"], &same["rows_checked"]), (&1.0.into(), &12.into()));
}

#[test]
fn possible_mistakes_are_listed() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", "age,job,town,class\n30,a,x,no\n99,a,,no\n31,b,,no\n");
    sandbox.write(
        "t.toml",
        r#"
        label = { column = "class", classes = ["no", "yes"], favourable = "yes" }
        [[feature]]
        name = "age"
        kind = "discrete"
        bounds = [18, 60]
        immutable = true
        [[feature]]
        name = "job"
        kind = "nominal"
        values = ["a", "b", "c"]
        immutable = true
        [[feature]]
        name = "town"
        kind = "nominal"
        missing = true
        immutable = true
        "#,
    );
    let report = sandbox.json(&["schema", "check", "t.csv", "t.toml"]);
    let odd: Vec<&str> =
        report["worth_a_look"].as_array().expect("a list").iter().filter_map(|note| note.as_str()).collect();
    assert_eq!(
        odd,
        [
            "age: cells outside the bounds 18 to 60: 1",
            "job: listed but never seen: c",
            "town: all rows have the same value",
            "town: more than half of the cells are unknown",
            "class: no row is of the class yes",
            "every feature is immutable: there is nothing that a person could change",
        ]
    );
}

#[test]
fn categories_that_are_the_same_number_are_worth_a_look() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", "code,version,class\n1,1.1,0\n01,1.10,1\n2,1.2,0\n");
    sandbox.write(
        "t.toml",
        "[label]\ncolumn = \"class\"\nclasses = [0, 1]\nfavourable = 1\n\
         [[feature]]\nname = \"code\"\nkind = \"nominal\"\n\
         [[feature]]\nname = \"version\"\nkind = \"continuous\"\n",
    );
    let report = sandbox.json(&["schema", "check", "t.csv", "t.toml"]);
    assert_eq!(
        report["worth_a_look"],
        serde_json::json!([
            "code: `01` and `1` are the same number but two categories; if they are one, make it discrete"
        ])
    );
    assert_eq!(report["features"][0]["contents"], serde_json::json!(["01", "1", "2"]));
}

#[test]
fn a_schema_is_upgraded_to_standard_output_or_to_another_file() {
    let sandbox = Sandbox::with_people();
    let upgraded = sandbox.run(&["schema", "upgrade", "people.toml"]);
    assert!(upgraded.contains("version = 2\n") && upgraded.contains("[[relation]]"), "{upgraded}");

    let to_file = ["schema", "upgrade", "people.toml", "--out", "people-2.toml"];
    assert_eq!(sandbox.run(&to_file), "");
    assert_eq!(sandbox.read("people-2.toml"), upgraded);
    let check = |schema| sandbox.json(&["schema", "check", "people.csv", schema]);
    assert_eq!(check("people-2.toml"), check("people.toml"));

    assert_eq!(
        sandbox.refused(&to_file),
        "error: people-2.toml: exists already\nhint: `--force` overwrites it\n"
    );
    assert_eq!(sandbox.run(&[&to_file[..], &["--force"]].concat()), "");
    assert_eq!(
        sandbox.refused(&["schema", "upgrade", "people-2.toml"]),
        "error: people-2.toml: the schema has version 2 already\nhint: there is nothing to upgrade\n"
    );
    assert_eq!(sandbox.read("people.toml"), PEOPLE_SCHEMA, "the old one stays");
    assert_eq!(
        sandbox.refused(&["schema", "upgrade", "nowhere.toml"]),
        "error: nowhere.toml: no such file\n"
    );
}

#[track_caller]
fn refused(schema: &str) -> String {
    let sandbox = Sandbox::with_people();
    sandbox.write("s.toml", schema);
    sandbox.refused(&["schema", "check", "people.csv", "s.toml"])
}

#[test]
fn a_missing_column_is_refused() {
    assert_eq!(
        refused("[[feature]]\nname = \"hour\"\nkind = \"discrete\"\n"),
        "error: people.csv: no column `hour`, which the schema names, did you mean `hours`?\n"
    );
}

#[test]
fn a_monotone_feature_needs_ordered_categories() {
    assert_eq!(
        refused(
            "[[feature]]\nname = \"job\"\nkind = \"nominal\"\nmonotone = \"increasing\"\nvalues = [\"cook\"]\n"
        ),
        "error: s.toml, line 4: feature `job`: an order is needed, because it changes in one direction only, \
         but the value `cook` is not a number\n\
         hint: make it `ordinal` and list its `values` in order\n"
    );
    assert_eq!(
        refused("[[feature]]\nname = \"job\"\nkind = \"ordinal\"\nmonotone = \"increasing\"\n"),
        "error: s.toml, line 2: feature `job`: `values` is missing, expected its categories in order\n"
    );
}

#[test]
fn cyclic_rules_are_refused() {
    let back = "[[rule]]\nif_increases = \"age\"\nmust_increase = \"hours\"\n";
    assert_eq!(
        refused(&format!("{PEOPLE_SCHEMA}{back}")),
        "error: s.toml, line 30: rule 2: goes round in a circle: age -> hours -> age\nhint: remove one of them\n"
    );
}

#[test]
fn a_check_without_rows_is_refused() {
    let sandbox = Sandbox::with_people();
    let check = ["schema", "check", "people.csv", "people.toml"];
    assert_eq!(
        sandbox.refused(&[&check[..], &["--where", "fold=9"]].concat()),
        "error: people.csv: none of 60 rows passes `fold=9`\n"
    );
    assert_eq!(
        sandbox.refused(&[&check[..], &["--train-where", "fold!=9"]].concat()),
        "error: people.csv: no row is left to check\nhint: say which with `--where`\n"
    );
    assert_eq!(
        sandbox.refused(&[&check[..], &["--where", "flod=1"]].concat()),
        "error: people.csv: no column `flod`, which a condition names, did you mean `fold`?\n"
    );
}
