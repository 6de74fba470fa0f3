use par_data::schema::{
    Decision, Draft, DraftOptions, FeatureKind, Goal, Mutability, Side, TimeUnit, suspicions,
};
use par_data::{Batch, Discretizer, DiscretizerConfig, Error, Schema};
use proptest::prelude::*;

use crate::{columns, fit, message, table};

fn drafted(text: &str) -> Draft {
    Draft::new(table(text), &DraftOptions::default()).expect("a draft")
}

fn draft(text: &str) -> String {
    drafted(text).text()
}

fn with(label: Option<&str>, favourable: Option<&str>) -> DraftOptions {
    let favourable = favourable.map(String::from).into_iter().collect();
    DraftOptions { label: label.map(String::from), favourable, goal: None }
}

/// The schema of a draft, which has to be one.
fn parsed(text: &str) -> Schema {
    Schema::parse(text, "draft.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const PEOPLE: &str = "\
row_id,age,income,town,note,colour,rate,same,outcome
7,30,1000,\"A \"\"town\"\"\",,red,0.5,1,no
9,41,,B,,red,0.25,1,yes
4,52,3000,B,,blue,1,1,no
";

#[test]
fn a_draft_is_a_schema_that_fits_its_table() {
    let text = draft(PEOPLE);
    let schema = parsed(&text);
    let kinds: Vec<(&str, FeatureKind, bool)> = schema
        .features()
        .iter()
        .map(|feature| (feature.name.as_str(), feature.kind, feature.missing))
        .collect();
    assert_eq!(
        kinds,
        [
            ("age", FeatureKind::Discrete, false),
            ("income", FeatureKind::Ordinal, true),
            ("town", FeatureKind::Nominal, false),
            ("colour", FeatureKind::Nominal, false),
            ("rate", FeatureKind::Continuous, false),
        ]
    );
    assert_eq!(schema.special().id.as_deref(), Some("row_id"));
    let label = schema.label().expect("a label");
    assert_eq!((label.column.as_str(), label.classes.join(" ")), ("outcome", "no yes".to_string()));
    assert!(
        text.contains("# - \"note\": no value in any row\n# - \"same\": the same value in every row\n"),
        "{text}"
    );

    fit(&schema, table(PEOPLE)).expect("a fit");
    columns(&schema, &table(PEOPLE)).expect("all columns");
}

#[test]
fn a_range_is_drafted_if_the_name_implies_it() {
    let text = draft(
        "Age,age_months,Duration in months,amount,balance,change amount,class\n\
         30,300,6,100,5,-5,0\n41,401,12,250,-6,9,1\n52,502,48,99,7,6,0\n",
    );
    let schema = parsed(&text);
    let ranges: Vec<Option<[f64; 2]>> = schema.features().iter().map(|feature| feature.range).collect();
    let not_negative = Some([0.0, f64::INFINITY]);
    assert_eq!(ranges, [Some([0.0, 120.0]), not_negative, not_negative, not_negative, None, None]);
}

#[test]
fn long_text_and_row_numbers_are_no_features() {
    let rows: String = (0..300).map(|row| format!("{row},person {row},{}\n", row % 3)).collect();
    let refused = Draft::new(table(&format!("n,who,kind\n{rows}")), &DraftOptions::default());
    assert_eq!(
        message(refused),
        "t.csv: no column can be a feature\nhint: a feature has two or more different values, and as text not hundreds"
    );
    let rows: String = (0..300).map(|row| format!("{row},person {row},{},{}\n", row % 3, row % 7)).collect();
    let text = draft(&format!("n,who,size,kind\n{rows}"));
    let who = "# - \"who\": it identifies the row; another column does so already";
    assert!(text.contains(who), "{text}");
    assert!(text.contains("id = \"n\""), "{text}");
}

#[test]
fn a_table_without_rows_is_refused() {
    let expected = "t.csv: no rows to learn from\nhint: expected at least one row below the column names";
    assert_eq!(message(Draft::new(table("a,b\n"), &DraftOptions::default())), expected);
}

#[test]
fn numbers_are_distinguished_by_value_and_categories_by_text() {
    let text = draft("one,flag,size,code\n1,0,1,1\n1.0,1.0,2.0,1.0\n01,00,02,x\n1,1,3,1\n");
    let size = "name = \"size\"\n# \"02\" and \"2.0\" are one number here; nominal keeps them apart\nkind = \"discrete\"\n";
    assert!(text.contains(size), "{text}");
    let schema = parsed(&text);
    let features: Vec<(&str, FeatureKind, String)> = schema
        .features()
        .iter()
        .map(|feature| (feature.name.as_str(), feature.kind, feature.values.join(" ")))
        .collect();
    assert_eq!(
        features,
        [
            ("one", FeatureKind::Nominal, "01 1 1.0".to_string()),
            ("flag", FeatureKind::Nominal, "0 00 1 1.0".to_string()),
            ("size", FeatureKind::Discrete, String::new()),
        ]
    );
    // One text among numbers makes the column text.
    let label = schema.label().expect("a label");
    assert_eq!((label.column.as_str(), label.classes.join(" ")), ("code", "1 1.0 x".to_string()));
}

/// A column's cell in a row.
type Cell<'a> = &'a dyn Fn(usize) -> String;

/// A table of 120 rows, whose last column is the label; the others are `columns`.
fn rows(columns: &[(&str, Cell<'_>)]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = names.join(",") + ",approved\n";
    for row in 0..120 {
        let cells: Vec<String> = columns.iter().map(|(_, cell)| cell(row)).collect();
        text += &format!("{},{}\n", cells.join(","), ["no", "yes"][scrambled(row) % 2]);
    }
    text
}

/// A number below 1000 that looks random.
fn scrambled(row: usize) -> usize {
    let mixed = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as usize % 1000
}

fn amount(row: usize) -> String {
    (100 + 7 * scrambled(row + 40)).to_string()
}

/// The schema that is drafted for a table of these columns.
fn schema_of(columns: &[(&str, Cell<'_>)]) -> Schema {
    parsed(&draft(&rows(columns)))
}

#[test]
fn names_say_what_nobody_can_change_and_what_a_person_can() {
    use Mutability::{Decrease, Free, Increase, Never, Undecided, WithTime};
    let flag = |row: usize| ["no", "yes"][scrambled(row + 500) % 2].to_string();
    let count = |row: usize| (scrambled(row + 500) % 12 + 2).to_string();
    let years = |row: usize| (scrambled(row + 500) % 50 + 18).to_string();
    let colour = |row: usize| ["red", "green", "blue"][scrambled(row + 500) % 3].to_string();
    let degree = |row: usize| ["HS-grad", "Bachelors", "Masters"][scrambled(row + 500) % 3].to_string();
    let scale = |row: usize| (scrambled(row + 500) % 5 + 1).to_string();
    let cells: [(&str, Cell<'_>, Mutability); 42] = [
        ("sex", &flag, Never),
        ("Foreign worker", &flag, Never),
        ("race", &scale, Never),
        ("maritalStatus", &colour, Never),
        ("number_of_dependents", &count, Never),
        ("NATIVE_COUNTRY", &colour, Never),
        ("credit_history", &colour, Never),
        ("numTimesLate", &count, Never),
        ("everDelinquent", &flag, Never),
        ("prior arrests", &count, Never),
        ("previous_loans", &count, Never),
        ("inquiries_last_6m", &count, Never),
        ("Purpose", &colour, Never),
        ("zip_code", &colour, Never),
        ("father_education", &degree, Never),
        ("age_group", &colour, Never),
        ("tenure", &years, Never),
        ("birth_year", &|row| (1950 + scrambled(row + 500) % 50).to_string(), Never),
        ("year", &|row| (2000 + scrambled(row + 500) % 20).to_string(), Never),
        ("store_id", &count, Never),
        ("age", &years, WithTime),
        ("years_at_job", &years, WithTime),
        ("months_since_last_delinquency", &years, WithTime),
        ("loan_amount", &amount, Decrease),
        ("term", &|row| (12 * (scrambled(row + 500) % 5 + 1)).to_string(), Free),
        ("annual_income", &amount, Increase),
        ("savings", &amount, Increase),
        ("down payment", &amount, Increase),
        ("debt_to_income", &amount, Decrease),
        ("hours-per-week", &years, Free),
        ("education", &degree, Increase),
        ("education_num", &|row| (scrambled(row + 500) % 16 + 1).to_string(), Increase),
        ("guarantor", &flag, Free),
        ("telephone", &flag, Free),
        ("smoker", &flag, Decrease),
        ("education_level", &scale, Undecided),
        ("qualification", &colour, Undecided),
        ("savings_account", &scale, Undecided),
        ("household_income", &amount, Undecided),
        ("log_income", &amount, Undecided),
        ("job", &colour, Undecided),
        ("credit_score", &amount, Undecided),
    ];
    for (name, cell, expected) in cells {
        let schema = schema_of(&[(name, cell), ("other", &|row| scrambled(row + 300).to_string())]);
        let feature = &schema.features()[schema.position(name).expect(name)];
        assert_eq!(feature.change, expected, "{name}: {}", schema.source());
    }
}

#[test]
fn the_reason_stands_beside_each_guess() {
    let text = draft(&rows(&[
        ("sex", &|row| ["f", "m"][scrambled(row + 9) % 2].to_string()),
        ("income", &amount),
        ("zeal", &|row| (scrambled(row) % 7).to_string()),
    ]));
    for line in [
        "change = \"never\"  # a protected trait",
        "change = \"increase\"  # a person can earn more, with time\neffort = \"hard\"\ntakes = \"1 year\"\nimproves = \"increase\"",
        "# change = \"never\", \"free\", \"increase\" or \"decrease\"? Undecided: nothing in its name says what a person can do",
        "column = \"approved\"  # likely: its name is that of a label",
        "favourable = \"yes\"  # likely: people want \"approved\" to be so",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn columns_that_are_no_features_are_left_out_with_the_reason() {
    let people = rows(&[
        ("customer_id", &|row| format!("C{row}")),
        ("name", &|row| format!("person {row}")),
        ("opened", &|row| format!("20{:02}-0{}-11", row % 20, row % 9 + 1)),
        ("income", &amount),
        ("income_again", &|row| format!("{}.0", amount(row))),
        ("female", &|row| (scrambled(row + 7) % 2).to_string()),
        ("group", &|row| ["x", "y"][scrambled(row + 7) % 2].to_string()),
        ("repaid", &|row| ["bad", "fine"][scrambled(row) % 2].to_string()),
        ("constant", &|_| "1".to_string()),
    ]);
    let text = draft(&people);
    let schema = parsed(&text);
    assert_eq!(schema.special().id.as_deref(), Some("customer_id"));
    let names: Vec<&str> = schema.features().iter().map(|feature| feature.name.as_str()).collect();
    assert_eq!(names, ["income", "female"]);
    for line in [
        "# - \"name\": it identifies the row; another column does so already",
        "# - \"opened\": a date; the time since then, in months, could be a feature",
        "# - \"income_again\": it says the same as \"income\"",
        "# - \"group\": it says the same as \"female\"",
        "# - \"repaid\": it says the same as \"approved\"",
        "# - \"constant\": the same value in every row",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn numbers_that_are_all_different_say_the_same_only_if_they_are_equal() {
    let distinct = |row: usize| format!("{row}.{}", scrambled(row) % 90 + 10);
    let schema = schema_of(&[
        ("weight", &distinct),
        ("height", &|row| format!("{}.{}", scrambled(row + 3) % 100, row + 1000)),
        ("weight_again", &|row| format!("{}0", distinct(row))),
    ]);
    let names: Vec<&str> = schema.features().iter().map(|feature| feature.name.as_str()).collect();
    assert_eq!(names, ["weight", "height"]);
}

#[test]
fn what_says_the_same_as_a_trait_stays_as_the_trait_does() {
    let schema = schema_of(&[
        ("telephone", &|row| (scrambled(row + 7) % 2).to_string()),
        ("female", &|row| ["n", "y"][scrambled(row + 7) % 2].to_string()),
    ]);
    assert_eq!((schema.features().len(), schema.features()[0].change), (1, Mutability::Never));
}

#[test]
fn a_column_that_nearly_tells_the_label_is_left_out() {
    let tells = |row: usize| {
        let is_wrong = row == 3;
        (scrambled(row) % 2 + usize::from(is_wrong) + 10 * (scrambled(row) % 2)).to_string()
    };
    let text = draft(&rows(&[("recovered", &tells), ("income", &amount)]));
    assert!(text.contains("# - \"recovered\": it alone nearly tells \"approved\" (AUC "), "{text}");
    // A guessed label is no reason to leave anything out.
    let text = draft(&rows(&[("recovered", &tells), ("income", &amount)]).replace("approved", "zeal"));
    assert!(text.contains("name = \"recovered\""), "{text}");
}

#[test]
fn special_numbers_codes_and_missing_texts_are_found() {
    let schema = schema_of(&[
        ("months_open", &|row| if row % 9 == 0 { "-9".into() } else { (row * 7 % 60).to_string() }),
        ("days", &|row| if row % 7 == 0 { "999".into() } else { (row * 11 % 60).to_string() }),
        ("worked", &|row| if row % 8 == 0 { "365243".into() } else { (row * 13 % 60).to_string() }),
        ("balance", &|row| (row as i64 * 17 % 61 - 20).to_string()),
        ("size", &|row| if row == 5 { "?".into() } else { (row * 19 % 62).to_string() }),
        ("branch_code", &|row| (scrambled(row + 60) % 5).to_string()),
    ]);
    let special: Vec<&[f64]> = schema.features().iter().map(|feature| &feature.special[..]).collect();
    assert_eq!(special, [&[-9.0][..], &[999.0], &[365_243.0], &[], &[], &[]]);
    let kinds: Vec<FeatureKind> = schema.features().iter().map(|feature| feature.kind).collect();
    let discrete = FeatureKind::Discrete;
    assert_eq!(kinds, [discrete, discrete, discrete, discrete, discrete, FeatureKind::Nominal]);
    assert!(schema.features()[4].missing && schema.missing_text().contains(&"?".to_string()));
}

#[test]
fn relations_are_written_and_followers_follow_only_what_moves() {
    let text = draft(&rows(&[
        ("income", &|row| (1 + scrambled(row)).to_string()),
        ("debt", &|row| scrambled(row + 500).to_string()),
        ("dti", &|row| (scrambled(row + 500) as f64 / (1 + scrambled(row)) as f64).to_string()),
        ("first_zeal", &|row| scrambled(row + 200).to_string()),
        ("zest", &|row| scrambled(row + 700).to_string()),
        ("joy", &|row| (scrambled(row + 200) + scrambled(row + 700)).to_string()),
        ("cap", &|row| (scrambled(row).max(scrambled(row + 500)) + 1 + row % 9).to_string()),
    ]));
    let schema = parsed(&text);
    let change = |name: &str| schema.features()[schema.position(name).expect(name)].change;
    assert_eq!((change("dti"), change("joy")), (Mutability::Follows, Mutability::Never));
    assert!(text.contains("ratio = [\"debt\", \"income\"]\ngives = \"dti\"\n"), "{text}");
    assert!(text.contains("# sum = [\"first_zeal\", \"zest\"] gives \"joy\": so in all 120 rows"), "{text}");
    assert!(text.contains("at_most = [\"income\", \"cap\"]\n"), "{text}");
    assert!(text.contains("at_most = [\"debt\", \"cap\"]\n"), "{text}");
}

#[test]
fn a_clock_is_at_most_another_clock_only() {
    let years = |row: usize| scrambled(row) % 30;
    let text = draft(&rows(&[
        ("years_in_role", &|row| years(row).to_string()),
        ("years_at_firm", &|row| (years(row) + years(row + 200)).to_string()),
        ("zest", &|row| (years(row) + years(row + 200) + years(row + 300)).to_string()),
        ("income", &amount),
    ]));
    assert!(text.contains("\nat_most = [\"years_in_role\", \"years_at_firm\"]\n"), "{text}");
    let fixed =
        "\n# at_most = [\"years_at_firm\", \"zest\"]: so in all 120 rows looked at; it needs two clocks\n";
    assert!(text.contains(fixed), "{text}");
}

#[test]
fn the_label_is_given_or_guessed_and_mistakes_are_refused() {
    let people = "size,default,house\n1,0,own\n2,1,rent\n3,0,own\n4,1,rent\n";
    let label = |options: &DraftOptions| {
        let text = Draft::new(table(people), options).map(|draft| draft.text());
        text.map(|text| {
            let label = parsed(&text).label().cloned().expect("a label");
            (label.column.clone(), label.sides()[0].join("|"))
        })
    };
    let both = |column: &str, favourable: &str| (column.to_string(), favourable.to_string());
    assert_eq!(label(&with(None, None)).expect("a label"), both("default", "0"));
    assert_eq!(label(&with(Some("house"), None)).expect("a label"), both("house", "rent"));
    assert_eq!(label(&with(Some("house"), Some("own"))).expect("a label"), both("house", "own"));
    assert_eq!(label(&with(None, Some("own"))).expect("a label"), both("house", "own"));
    assert_eq!(label(&with(Some("default"), Some("1.0"))).expect("a label"), both("default", "1"));
    assert_eq!(label(&with(Some("size"), Some("2,4"))).expect("a label"), both("size", "2|4"));
    let asked = table("paid,asked\nyes,true\nno,false\nyes,false\n");
    let asked = Draft::new(asked, &with(None, Some("True"))).expect("a draft").text();
    assert!(asked.contains("favourable = \"true\"  # as given"), "{asked}");
    let goal = Goal { bound: 2.5, side: Side::AtMost, unit: None };
    let number = DraftOptions { goal: Some(goal), ..with(Some("size"), None) };
    assert_eq!(label(&number).expect("a label"), both("size", "at most 2.5"));
    for (options, expected) in [
        (with(Some("defalt"), None), "t.csv: no column `defalt` for the label, did you mean `default`?"),
        (
            with(Some("default"), Some("2")),
            "t.csv, label `default`: the label has no class `2`, expected one of `0`, `1`",
        ),
        (
            with(None, Some("castle")),
            "t.csv: no column that could be the label has the value `castle`\nhint: name the label, too",
        ),
        (
            DraftOptions { label: None, ..number },
            "t.csv: a number must be reached by a label that is not named\nhint: name its column with `--label`",
        ),
    ] {
        assert_eq!(message(label(&options)), expected);
    }
    let many: String = (0..30).map(|row| format!("{row},{}\n", row % 11)).collect();
    let refused = Draft::new(table(&format!("a,b\n{many}")), &with(Some("b"), None));
    assert_eq!(
        message(refused),
        "t.csv: column `b` cannot be the label: expected 2 to 10 different values, found 11\n\
         hint: if it is a number that must be reached, say `--at-least` or `--at-most` that number"
    );
}

#[test]
fn questions_begin_with_what_tells_the_label_and_answers_are_written() {
    let mut draft = drafted(&rows(&[
        ("sex", &|row| ["f", "m"][scrambled(row + 9) % 2].to_string()),
        ("zest", &|row| (scrambled(row + 400) % 9).to_string()),
        ("zeal", &|row| (scrambled(row) % 2 * 3 + scrambled(row + 50) % 5).to_string()),
        ("income", &amount),
        ("wait", &|row| (scrambled(row + 77) % 40).to_string()),
    ]));
    let questions = draft.questions();
    let names: Vec<&str> = questions.iter().map(|question| question.name.as_str()).collect();
    assert_eq!((names[0], names.contains(&"sex"), names.len()), ("zeal", false, 4));
    assert_eq!(questions[0].change, Mutability::Undecided);
    for question in &questions {
        draft.decide(
            question.feature,
            match question.name.as_str() {
                "zeal" => Decision::Changes(Mutability::Free, "easy"),
                "zest" => Decision::Stays(Mutability::Never),
                "wait" => Decision::Clock(TimeUnit::Weeks),
                _ => Decision::Changes(Mutability::Increase, "very hard"),
            },
        );
    }
    assert!(draft.undecided().is_empty() && draft.questions().is_empty());
    let schema = parsed(&draft.text());
    let changes: Vec<Mutability> = schema.features().iter().map(|feature| feature.change).collect();
    let expected =
        [Mutability::Never, Mutability::Never, Mutability::Free, Mutability::Increase, Mutability::WithTime];
    assert_eq!(changes, expected);
    let income = &schema.features()[3];
    // What was known beside the effort is kept.
    assert_eq!((income.effort.weight, income.takes.is_some()), (8.0, true));
}

#[test]
fn suspicious_changes_are_listed() {
    let text = r#"
        version = 2
        [[feature]]
        name = "Gender"
        kind = "nominal"
        change = "free"
        [[feature]]
        name = "age"
        kind = "discrete"
        change = "decrease"
        [[feature]]
        name = "late payments"
        kind = "discrete"
        change = "decrease"
        [[feature]]
        name = "customer_id"
        kind = "discrete"
        change = "free"
        [[feature]]
        name = "race"
        kind = "nominal"
        change = "never"
        [[feature]]
        name = "income"
        kind = "discrete"
        change = "free"
    "#;
    assert_eq!(
        suspicions(&parsed(text)),
        [
            "Gender: it may change, but its name says: a protected trait",
            "age: it may change, but its name says: age: a protected trait, and a clock",
            "late payments: it may change, but its name says: history: nobody can change the past",
            "customer_id: it may change, but its name says: a number or name of something",
        ]
    );
}

/// Cells that drafts have to survive.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (-3i32..4).prop_map(|number| number.to_string()),
        2 => (-1e9f64..1e9).prop_map(|number| number.to_string()),
        1 => prop::sample::select(vec![
            "", "NA", "?", "-9", "999", "1.0", "01", "1e300", "-0", "yes", "no", "low", "high", "2020-01-31",
            "a\"b\\c", "line\nbreak", "\u{1}", "good", "default", "inf", "0x1", " x ", "ü",
        ])
        .prop_map(String::from),
    ]
}

fn column_name() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "age",
        "income",
        "id",
        "education",
        "loan amount",
        "term",
        "sex",
        "months since",
        "total",
        "hours per week",
        "debt",
        "ratio",
        "class",
        "default",
        "fold",
        "x",
        "savings",
        "guarantor",
        "",
        "\"",
        "a\nb",
        "year",
    ]);
    prop::collection::vec(word, 1..3).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_draft_is_a_schema_that_fits_its_table(
        names in prop::collection::btree_set(column_name(), 1..7),
        seeds in prop::collection::vec(prop::collection::vec(cell(), 12), 7),
        rows in 1usize..150,
        derived in 0usize..4,
        answers in prop::collection::vec(0usize..6, 8),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let mut batch = Batch::new("t.csv", names.len());
        for row in 0..rows {
            let mut cells: Vec<String> =
                (0..names.len()).map(|column| seeds[column][scrambled(row * 7 + column) % 12].clone()).collect();
            // Sums, copies and totals in order, so that relations are found.
            if names.len() > 2 {
                let [a, b] = [scrambled(row), scrambled(row + 300)];
                (cells[0], cells[1]) = (a.to_string(), b.to_string());
                cells[2] = match derived {
                    0 => (a + b).to_string(),
                    1 => (a as f64 / (b + 1) as f64).to_string(),
                    2 => (a.max(b)).to_string(),
                    _ => cells[2].clone(),
                };
            }
            batch.push(row as u64 + 1, cells.iter().map(String::as_str)).expect("a row");
        }
        let mut draft = match Draft::of_rows("t.csv", &names, &DraftOptions::default(), [Ok(batch.clone())]) {
            Ok(draft) => draft,
            Err(Error::NothingToDescribe { .. }) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let schema = parsed(&draft.text());
        let columns = schema.columns("t.csv", &names).expect("all columns");
        let fitted = Discretizer::fit(&schema, &columns, [Ok(batch)], &DiscretizerConfig::default());
        prop_assert!(fitted.is_ok(), "{}\n{}", message(fitted), schema.source());
        for (question, answer) in draft.questions().into_iter().zip(answers) {
            let Some(change) = question.choices.get(answer) else { continue };
            draft.decide(question.feature, match change {
                Mutability::WithTime => Decision::Clock(TimeUnit::Months),
                Mutability::Never => Decision::Stays(Mutability::Never),
                other => Decision::Changes(*other, "some"),
            });
            parsed(&draft.text());
        }
    }
}
