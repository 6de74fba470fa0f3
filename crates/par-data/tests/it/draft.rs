use par_data::Schema;
use par_data::schema::{FeatureKind, draft};

use crate::{columns, fit, message, table};

const PEOPLE: &str = "\
row_id,age,income,town,note,colour,rate,same,outcome
7,30,1000,\"A \"\"town\"\"\",,red,0.5,1,no
9,41,,B,,red,0.25,1,yes
4,52,3000,B,,blue,1,1,no
";

#[test]
fn a_draft_is_a_schema_that_fits_its_table() {
    let text = draft(table(PEOPLE)).expect("a draft");
    let schema = Schema::parse(&text, "draft.toml").expect("a schema");
    let kinds: Vec<(&str, FeatureKind, bool)> = schema
        .features()
        .iter()
        .map(|feature| (feature.name.as_str(), feature.kind, feature.missing))
        .collect();
    assert_eq!(
        kinds,
        [
            ("age", FeatureKind::Discrete, false),
            ("income", FeatureKind::Nominal, true),
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
    let text = draft(table(
        "Age,age_months,Duration in months,amount,balance,change amount,class\n\
         30,300,6,100,5,-5,0\n41,401,12,250,-6,9,1\n52,502,48,99,7,6,0\n",
    ));
    let schema = Schema::parse(&text.expect("a draft"), "draft.toml").expect("a schema");
    let ranges: Vec<Option<[f64; 2]>> = schema.features().iter().map(|feature| feature.range).collect();
    let not_negative = Some([0.0, f64::INFINITY]);
    assert_eq!(ranges, [Some([0.0, 120.0]), not_negative, not_negative, not_negative, None, None]);
}

#[test]
fn long_text_and_row_numbers_are_no_features() {
    let rows: String = (0..300).map(|row| format!("{row},person {row},{}\n", row % 3)).collect();
    let text = draft(table(&format!("n,who,kind\n{rows}"))).expect_err("no feature is left");
    assert_eq!(
        text.to_string(),
        "t.csv: no column can be a feature\nhint: a feature has two or more different values, and as text not hundreds"
    );
    let rows: String = (0..300).map(|row| format!("{row},person {row},{},{}\n", row % 3, row % 7)).collect();
    let text = draft(table(&format!("n,who,size,kind\n{rows}"))).expect("a draft");
    assert!(text.contains("# - \"who\": text with more than 200 different values"), "{text}");
    assert!(text.contains("id = \"n\""), "{text}");
}

#[test]
fn a_table_without_rows_is_refused() {
    let expected = "t.csv: no rows to learn from\nhint: expected at least one row below the column names";
    assert_eq!(message(draft(table("a,b\n"))), expected);
}

#[test]
fn numbers_are_distinguished_by_value_and_categories_by_text() {
    let text =
        draft(table("one,flag,size,code\n1,0,1,1\n1.0,1.0,2.0,1.0\n01,00,02,x\n1,1,3,1\n")).expect("a draft");
    let size = "name = \"size\"\n# \"02\" and \"2.0\" are one number here; nominal keeps them apart\nkind = \"discrete\"\n";
    assert!(text.contains(size), "{text}");
    let schema = Schema::parse(&text, "draft.toml").expect("a schema");
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
