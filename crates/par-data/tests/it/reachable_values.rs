//! What a person may change to, and what follows from it.

use par_data::{
    Candidates, Choice, Constraints, Discretizer, DiscretizerConfig, OwnRow, Reach, UNKNOWN, Wishes,
};

use crate::{fit_with, schema, table};

/// Features `x`, `y`, `z` and `w` as far as there are lines for them, then relations; and rows of their cells.
fn fitted(features: &[&str], relations: &str, rows: &[String]) -> Discretizer {
    let mut text = String::from("version = 2\n");
    for (name, lines) in ["x", "y", "z", "w"].iter().zip(features) {
        text += &format!("[[feature]]\nname = \"{name}\"\n{lines}\n");
    }
    text += relations;
    let header = &["x", "x,y", "x,y,z", "x,y,z,w"][features.len() - 1];
    let rows = format!("{header}\n{}\n", rows.join("\n"));
    let config = DiscretizerConfig { bins: 3, max_values: 4 };
    fit_with(&schema(&text), table(&rows), &config).expect("a fit")
}

fn own(discretizer: &Discretizer, cells: &[&str]) -> OwnRow {
    let codes = discretizer.encode_row(cells).expect("a row").into_codes();
    OwnRow::new(discretizer, cells, codes)
}

fn numbers(candidates: &Candidates<'_>, feature: usize) -> Vec<f64> {
    candidates.of(feature)[1..].iter().map(|candidate| candidate.number).collect()
}

/// A row with these choices and what follows; `None` if that is impossible.
fn settled(candidates: &Candidates<'_>, row: &[Choice]) -> Option<Vec<Choice>> {
    let mut row = row.to_vec();
    candidates.settle(&mut row).then_some(row)
}

#[test]
fn a_number_is_named_only_if_the_column_and_the_schema_allow_it() {
    let whole: Vec<String> = (1..=30).map(|n| n.to_string()).collect();
    let coarse: Vec<String> = (0..30).map(|n| (2 + 3 * n).to_string()).collect();
    let tenths: Vec<String> = (0..60).map(|n| format!("{}", f64::from(n) / 10.0)).collect();
    let marked: Vec<String> = whole.iter().cloned().chain(vec!["-9".to_string(); 5]).collect();
    // The lines of the feature, its column, the person's cell, a number that is named and one that is not.
    for (lines, column, cell, named, not_named) in [
        ("step = { grid = 0.4 }", &whole, "15", Some(10.0), 10.4),
        ("step = { up = 1, at_least = 0.5 }", &whole, "20", None, 20.7),
        (
            "special = [-9]\ntransitions = { \"-9\" = \"leave\" }\nstep = { grid = 7 }",
            &marked,
            "-9",
            Some(7.0),
            5.0,
        ),
        ("bins = 2\nbounds = [15, 20]", &whole, "9", Some(15.0), 15.4),
        ("range = [2, 90]", &coarse, "40", Some(90.0), 100.0),
        ("range = [2, 90]", &coarse, "40", Some(2.0), 0.0),
        ("allowed = [1]", &coarse, "40", Some(1.0), 31.0),
        ("step = { down = 3, at_least = 2, grid = 0.2 }", &tenths, "2.8", Some(0.8), 0.7),
    ] {
        let discretizer =
            fitted(&[&format!("kind = \"continuous\"\nchange = \"free\"\n{lines}")], "", column);
        let constraints = Constraints::new(&discretizer);
        let own = own(&discretizer, &[cell]);
        let candidates = constraints.candidates(&own, &Wishes::default(), Reach::AllValues);
        let numbers = numbers(&candidates, 0);
        assert!(named.is_none_or(|named| numbers.contains(&named)), "{lines}: {numbers:?}");
        assert!(!numbers.contains(&not_named), "{lines}: {numbers:?}");
        for number in numbers {
            let text = number.to_string();
            assert!(discretizer.encode_row(&[&text]).is_ok(), "{lines}: {number}");
            assert!(
                column.iter().any(|cell| cell.contains('.')) || number.fract() == 0.0,
                "{lines}: {number}"
            );
        }
    }
}

const SUM: &str = "[[relation]]\nsum = [\"x\", \"y\"]\ngives = \"z\"\n";

/// Rows of two numbers and their sum.
fn sums() -> Vec<String> {
    (0..40).map(|n| format!("{},{},{}", n % 5, n % 8, n % 5 + n % 8)).collect()
}

fn person<'c>(
    constraints: &'c Constraints,
    discretizer: &Discretizer,
    cells: &[&str],
    wishes: &Wishes<'_>,
) -> Candidates<'c> {
    constraints.candidates(&own(discretizer, cells), wishes, Reach::Codes)
}

#[test]
fn time_passes_even_if_what_follows_from_it_is_unknown() {
    let clock = "kind = \"discrete\"\nunit = \"months\"\nchange = \"with-time\"";
    let free = "kind = \"discrete\"\nchange = \"free\"\ntakes = \"2 months\"";
    let band = "kind = \"ordinal\"\nvalues = [\"a\", \"b\"]\nmissing = true\nchange = \"follows\"";
    let lookup =
        "[[relation]]\nlookup = \"x\"\ngives = \"z\"\ntable = [[\"..2\", \"a\"], [\"3..\", \"b\"]]\n";
    let rows: Vec<String> = (0..40).map(|n| format!("{},{},{}", n % 5, n % 3, ["a", "b"][n % 2])).collect();
    let discretizer = fitted(&[clock, free, band], lookup, &rows);
    let constraints = Constraints::new(&discretizer);
    let candidates = person(&constraints, &discretizer, &["2", "0", ""], &Wishes::default());
    assert!(candidates.is_free(1));
    let later = candidates.durations().last().expect("a duration");
    assert_eq!(candidates.chosen(&later.row, 0).number, 4.0);
    assert_eq!(candidates.chosen(&later.row, 2).code, UNKNOWN);
}

#[test]
fn no_way_takes_longer_than_a_clock_can_run() {
    let clock = "kind = \"discrete\"\nunit = \"months\"\nchange = \"with-time\"\nrange = [0, 4]";
    let free = "kind = \"discrete\"\nchange = \"free\"\ntakes = \"1 month per 1\"";
    let rows: Vec<String> = (0..40).map(|n| format!("{},{}", n % 5, n % 4)).collect();
    let discretizer = fitted(&[clock, free], "", &rows);
    let constraints = Constraints::new(&discretizer);
    let candidates = person(&constraints, &discretizer, &["3", "0"], &Wishes::default());
    let longest: Vec<u32> = candidates.durations().iter().map(|duration| duration.longest).collect();
    assert_eq!(longest, [0, 1]);
}

#[test]
fn months_are_never_rounded_beyond_what_the_person_has() {
    let clock = "kind = \"discrete\"\nunit = \"months\"\nchange = \"with-time\"";
    let free = "kind = \"continuous\"\nbins = 20\nchange = \"increase\"\ntakes = \"1 month per 1\"";
    let rows: Vec<String> = (0..400).map(|n| format!("{},{}", n % 5, n % 100)).collect();
    let discretizer = fitted(&[clock, free], "", &rows);
    let constraints = Constraints::new(&discretizer);
    let wishes = Wishes { within: Some(78), ..Wishes::default() };
    let candidates = person(&constraints, &discretizer, &["3", "0"], &wishes);
    assert!(candidates.durations().len() <= 12);
    let months: Vec<u32> = candidates.of(1).iter().map(|candidate| candidate.months).collect();
    assert!(months.iter().all(|months| *months <= 78) && months.contains(&78), "{months:?}");
}

#[test]
fn a_special_source_suspends_what_follows_from_it() {
    let special =
        "kind = \"discrete\"\nchange = \"free\"\nspecial = [-9]\ntransitions = { \"-9\" = \"leave\" }";
    let free = "kind = \"discrete\"\nbins = 8\nchange = \"free\"";
    let follows = "kind = \"discrete\"\nbins = 20\nchange = \"follows\"";
    let discretizer = fitted(&[special, free, follows], SUM, &sums());
    let constraints = Constraints::new(&discretizer);
    let candidates = person(&constraints, &discretizer, &["-9", "3", "6"], &Wishes::default());
    assert_eq!(settled(&candidates, &[0, 1, 0]).expect("legal")[2], 0, "the source stays special");
    let left = settled(&candidates, &[1, 0, 0]).expect("legal");
    let [x, z] = [0, 2].map(|feature| candidates.chosen(&left, feature).number);
    assert_eq!(x + 3.0, z);
}

#[test]
fn nothing_is_computed_to_be_special() {
    let free = "kind = \"discrete\"\nbins = 8\nchange = \"free\"";
    let follows = "kind = \"discrete\"\nbins = 20\nchange = \"follows\"\nspecial = [5]";
    let discretizer = fitted(&[free, free, follows], SUM, &sums());
    let constraints = Constraints::new(&discretizer);
    let candidates = person(&constraints, &discretizer, &["1", "1", "2"], &Wishes::default());
    let choice = |number: f64| {
        candidates.of(1).iter().position(|one| one.number == number).expect("a value") as Choice
    };
    assert!(settled(&candidates, &[0, choice(5.0), 0]).is_some());
    assert!(settled(&candidates, &[0, choice(4.0), 0]).is_none());
}

#[test]
fn what_follows_may_not_get_worse_either() {
    let free = "kind = \"discrete\"\nbins = 8\nchange = \"free\"";
    let follows = "kind = \"discrete\"\nbins = 20\nchange = \"follows\"\nimproves = \"decrease\"";
    let discretizer = fitted(&[free, free, follows], SUM, &sums());
    let constraints = Constraints::new(&discretizer);
    let wishes = Wishes { no_harm: true, ..Wishes::default() };
    let candidates = person(&constraints, &discretizer, &["1", "2", "3"], &wishes);
    let choice = |number: f64| {
        candidates.of(1).iter().position(|one| one.number == number).expect("a value") as Choice
    };
    assert!(settled(&candidates, &[0, choice(1.0), 0]).is_some());
    assert!(settled(&candidates, &[0, choice(3.0), 0]).is_none());
}

#[test]
fn a_change_that_harms_alone_may_do_good_with_another() {
    let free = "kind = \"discrete\"\nbins = 8\nchange = \"free\"";
    let follows = "kind = \"discrete\"\nbins = 20\nchange = \"follows\"";
    let better = format!("{follows}\nimproves = \"decrease\"");
    let rows: Vec<String> = sums().iter().map(|row| format!("{row},{}", row.len())).collect();
    let lookup = "[[relation]]\nlookup = \"x\"\ngives = \"w\"\ntable = [[\"..1\", 1], [\"2..\", 2]]\n";
    let discretizer = fitted(&[free, free, &better, follows], &format!("{SUM}{lookup}"), &rows);
    let constraints = Constraints::new(&discretizer);
    let wishes = Wishes { no_harm: true, ..Wishes::default() };
    let candidates = person(&constraints, &discretizer, &["1", "4", "5", "1"], &wishes);
    let choice = |feature: usize, number: f64| {
        candidates.of(feature).iter().position(|one| one.number == number).expect("a value") as Choice
    };
    assert!(settled(&candidates, &[choice(0, 2.0), 0, 0, 0]).is_none(), "the sum rises");
    let both = settled(&candidates, &[choice(0, 2.0), choice(1, 0.0), 0, 0]).expect("the sum falls");
    assert_eq!([2, 3].map(|feature| candidates.chosen(&both, feature).number), [2.0, 2.0]);
}

#[test]
fn a_change_may_bring_back_what_time_carries_away() {
    let clock = "kind = \"discrete\"\nunit = \"months\"\nchange = \"with-time\"\nbins = 8";
    let free = "kind = \"discrete\"\nbins = 8\nchange = \"free\"\ntakes = \"2 months\"";
    let follows = "kind = \"discrete\"\nbins = 20\nchange = \"follows\"\nbounds = [0, 6]";
    let discretizer = fitted(&[clock, free, follows], SUM, &sums());
    let constraints = Constraints::new(&discretizer);
    let candidates = person(&constraints, &discretizer, &["3", "3", "6"], &Wishes::default());
    let later = &candidates.durations().last().expect("a duration").row;
    assert!(settled(&candidates, later).is_none(), "5 + 3 is too much");
    let mut less = later.clone();
    less[1] = candidates.of(1).iter().position(|one| one.number == 1.0).expect("a value") as Choice;
    let less = settled(&candidates, &less).expect("legal");
    assert_eq!(candidates.chosen(&less, 2).number, 6.0);
}

#[test]
fn other_numbers_would_do_only_with_the_same_outcome() {
    let rows: Vec<String> = (0..300).map(|n| format!("{},{}", n % 60, n % 5)).collect();
    let x = "kind = \"continuous\"\nchange = \"free\"\ntakes = \"1 month per 10\"";
    let clock = "kind = \"discrete\"\nunit = \"months\"\nchange = \"with-time\"";
    let still = "kind = \"discrete\"\nchange = \"never\"";
    let range = |other: &str, relations: &str, wishes: &Wishes<'_>| {
        let discretizer = fitted(&[x, other], relations, &rows);
        let constraints = Constraints::new(&discretizer);
        let candidates = person(&constraints, &discretizer, &["5", "1"], wishes);
        let last = *candidates.of(0).last().expect("a candidate");
        candidates.range(0, last).map(|[low, high]| (low == last.number, high))
    };
    let none = Wishes::default();
    assert_eq!(range(still, "", &none), Some((true, 59.0)));
    assert_eq!(range(clock, "", &none), None, "another number takes longer, and the clock moves on");
    assert_eq!(range(still, "[[accept]]\nrequire = { x = \"..50\" }\n", &none), None);
    assert_eq!(
        range(still, "", &Wishes { within: Some(5), ..none }),
        Some((true, 50.0)),
        "59 takes 6 months"
    );
    assert_eq!(range(still, "", &Wishes { within: Some(6), ..none }), Some((true, 59.0)));
    assert_eq!(range(still, "", &Wishes { max_effort: Some(9.0), ..none }), None, "59 is more effort");
}
