use par_data::discretizer::NumberSummary;
use par_data::{
    Candidate, Code, Constraints, Discretizer, DiscretizerConfig, LimitError, Limits, OwnRow, Permitted,
    Reach, Schema, Wishes,
};
use proptest::prelude::*;

use crate::{fit, fit_with, message, schema, table};

/// A schema of one feature `x` of this kind, with further lines.
fn one(kind: &str, rest: &str) -> Schema {
    schema(&format!("[[feature]]\nname = \"x\"\nkind = \"{kind}\"\n{rest}\n"))
}

fn column(cells: impl IntoIterator<Item = impl ToString>) -> String {
    cells.into_iter().fold("x\n".to_string(), |text, cell| text + &cell.to_string() + "\n")
}

fn among(values: &[&str]) -> Permitted {
    Permitted::Among(values.iter().map(ToString::to_string).collect())
}

fn limited(discretizer: &Discretizer, to: Permitted) -> Result<Limits, LimitError> {
    Limits::new(discretizer, [(0, to)])
}

/// The candidates of a person with this cell, their own first.
fn candidates(discretizer: &Discretizer, cell: &str, limits: &Limits, reach: Reach) -> Vec<Candidate> {
    let codes = discretizer.encode_row(&[cell]).expect("a code").into_codes();
    let own = OwnRow::new(discretizer, &[cell], codes);
    let wishes = Wishes { limits, ..Wishes::default() };
    Constraints::new(discretizer).candidates(&own, &wishes, reach).of(0).to_vec()
}

/// The codes that a person with this cell may have: their own, and those of the candidates.
fn codes_of(discretizer: &Discretizer, cell: &str, to: Permitted) -> Vec<Code> {
    let limits = limited(discretizer, to).expect("a limit");
    let list = candidates(discretizer, cell, &limits, Reach::Codes);
    list.iter().map(|candidate| candidate.code).collect()
}

/// The same for a person whose number is 0.
fn codes(discretizer: &Discretizer, to: Permitted) -> Vec<Code> {
    codes_of(discretizer, "0", to)
}

/// The candidates of a code for a person whose number is 0: the nearest, the most common and the farthest number,
/// each once.
fn numbers(discretizer: &Discretizer, code: Code, to: Permitted) -> Vec<f64> {
    let limits = limited(discretizer, to).expect("a limit");
    let list = candidates(discretizer, "0", &limits, Reach::AllValues);
    list.iter().skip(1).filter(|candidate| candidate.code == code).map(|candidate| candidate.number).collect()
}

/// Four bins with edges 0, 25, 50, 75 and 100.
fn quarters(rest: &str) -> Discretizer {
    fit(&one("discrete", &format!("bins = 4\n{rest}")), table(&column(0..=100))).expect("a fit")
}

#[test]
fn a_bin_is_legal_when_it_meets_the_limit_or_is_the_persons_own() {
    let discretizer = quarters("");
    let between = |lowest, highest| codes(&discretizer, Permitted::Between([lowest, highest]));
    assert_eq!(between(30.0, 60.0), [0, 1, 2]);
    assert_eq!(between(30.0, 75.0), [0, 1, 2, 3], "75 opens the last bin");
    assert_eq!(between(60.0, f64::INFINITY), [0, 2, 3]);
    assert_eq!(between(f64::NEG_INFINITY, 49.0), [0, 1]);
    assert_eq!(between(150.0, 200.0), [0], "a limit takes away and adds nothing");
    assert_eq!(codes(&discretizer, among(&["30", "80", "7000"])), [0, 1, 3]);
}

#[test]
fn single_numbers_and_categories_are_legal_when_they_are_within() {
    let numbers = fit(&one("discrete", ""), table("x\n1\n2\n4\n8\n")).expect("a fit");
    assert_eq!(codes_of(&numbers, "1", Permitted::Between([2.0, 5.0])), [0, 1, 2]);
    assert_eq!(codes_of(&numbers, "1", among(&["8.0", "3"])), [0, 3]);
    let words =
        fit(&one("ordinal", "values = [\"low\", \"2\", \"high\"]"), table("x\nlow\n")).expect("a fit");
    assert_eq!(codes_of(&words, "low", among(&[" high"])), [0, 2]);
    assert_eq!(codes_of(&words, "low", among(&["2.0", "low"])), [0, 1]);
}

#[test]
fn a_bin_that_straddles_a_limit_is_entered_within_it() {
    let discretizer = quarters("");
    let of_code = |code, to| numbers(&discretizer, code, to);
    assert_eq!(of_code(1, Permitted::Between([30.0, 45.0])), [30.0, 40.0, 45.0]);
    assert_eq!(of_code(1, Permitted::Between([42.0, 90.0])), [42.0, 49.0], "the most common one too");
    assert_eq!(of_code(3, Permitted::Between([f64::NEG_INFINITY, 75.0])), [75.0]);
    assert_eq!(of_code(3, Permitted::Between([0.0, 1e9])), [75.0, 90.0, 100.0], "a limit widens no bin");
    assert_eq!(of_code(2, among(&["55", "12", "60"])), [55.0, 60.0]);
}

#[test]
fn a_limit_on_whole_numbers_is_rounded_inward() {
    let discretizer = quarters("");
    // No whole number lies between 49.2 and the end of its bin.
    assert_eq!(codes(&discretizer, Permitted::Between([49.2, f64::INFINITY])), [0, 2, 3]);
    assert_eq!(codes(&discretizer, Permitted::Between([f64::NEG_INFINITY, 25.4])), [0, 1]);
    assert_eq!(numbers(&discretizer, 1, Permitted::Between([30.2, 39.8])), [31.0, 39.0]);
    assert_eq!(
        message(limited(&discretizer, Permitted::Between([1.2, 1.8]))),
        "`x` holds whole numbers only, and there is none from 1.2 to 1.8\nhint: widen the range"
    );
    assert_eq!(
        message(limited(&discretizer, among(&["30", "40.5"]))),
        "`x` holds whole numbers only, found `40.5`\nhint: list whole numbers, or give a range"
    );
    let fractions = fit(&one("continuous", ""), table("x\n1\n2.5\n4\n")).expect("a fit");
    assert_eq!(codes_of(&fractions, "1", Permitted::Between([2.2, 2.8])), [0, 1]);
    assert_eq!(codes_of(&fractions, "1", among(&["2.5"])), [0, 1]);
}

#[test]
fn bounds_on_whole_numbers_are_rounded_inward() {
    let bounded = quarters("bounds = [-3.5, 49.2]");
    assert_eq!(codes(&bounded, Permitted::Between([-100.0, 100.0])), [0, 1]);
    assert_eq!(numbers(&bounded, 1, Permitted::Between([0.0, 100.0])), [25.0, 40.0, 49.0]);
    let narrow = quarters("bounds = [49.2, 49.8]");
    assert_eq!(codes(&narrow, Permitted::Between([0.0, 100.0])), [0]);
    let allowed = fit(&one("discrete", "bins = 4\nallowed = [30, 40.5]"), table(&column(0..=100)));
    assert_eq!(
        message(allowed),
        "t.csv: column `x` holds whole numbers only, but `allowed` names `40.5`\nhint: list whole numbers"
    );
}

#[test]
fn limits_meet_bounds_and_allowed_values() {
    let bounded = quarters("bounds = [10, 200]");
    let above = numbers(&bounded, 3, Permitted::Between([150.0, 300.0]));
    assert_eq!(above, [150.0, 200.0], "the last bin reaches to the upper bound");
    let allowed = quarters("allowed = [30, 45, 60]");
    assert_eq!(codes(&allowed, Permitted::Between([50.0, 59.0])), [0], "60 alone is allowed there");
    assert_eq!(numbers(&allowed, 1, Permitted::Between([31.0, 60.0])), [45.0]);
    assert_eq!(codes(&allowed, among(&["31", "60"])), [0, 2]);
}

#[test]
fn a_limited_cause_keeps_its_effect_from_rising() {
    let text = "[[feature]]\nname = \"x\"\nkind = \"discrete\"\n[[feature]]\nname = \"y\"\nkind = \"discrete\"\n\
                [[rule]]\nif_increases = \"x\"\nmust_increase = \"y\"\n";
    let discretizer = fit(&schema(text), table("x,y\n0,0\n1,1\n2,2\n")).expect("a fit");
    let constraints = Constraints::new(&discretizer);
    let limits = Limits::new(&discretizer, [(1, Permitted::Between([0.0, 1.0]))]).expect("a limit");
    let own = OwnRow::new(&discretizer, &["1", "1"], vec![1, 1]);
    let legal = |limits: &Limits| {
        let wishes = Wishes { limits, ..Wishes::default() };
        let candidates = constraints.candidates(&own, &wishes, Reach::Codes);
        candidates.mask(&candidates.durations()[0]).codes(0).collect::<Vec<_>>()
    };
    assert_eq!(legal(&limits), [0, 1]);
    assert_eq!(legal(&limits.without(&[1])), [0, 1, 2]);
}

#[test]
fn an_invalid_limit_is_refused() {
    let numbers = quarters("");
    assert_eq!(
        message(limited(&numbers, Permitted::Between([24.0, 6.0]))),
        "`x`: there is no number from 24 to 6\nhint: the lower end comes first"
    );
    for end in [f64::NAN, f64::NEG_INFINITY] {
        assert!(limited(&numbers, Permitted::Between([f64::NEG_INFINITY, end])).is_err());
    }
    assert_eq!(
        message(limited(&numbers, among(&["6", "many"]))),
        "`x`: expected a finite number, found `many`"
    );
    assert_eq!(
        message(limited(&numbers, among(&[]))),
        "`x`: the list of values is empty\nhint: lock the feature if it must not change"
    );
    let to = || Permitted::Between([1.0, 2.0]);
    assert_eq!(
        message(Limits::new(&numbers, [(0, to()), (0, to())])),
        "`x` is limited twice\nhint: put what it may move to into one limit"
    );
    let words = fit(&one("nominal", "values = [\"own\", \"rent\"]"), table("x\nown\n")).expect("a fit");
    assert_eq!(message(limited(&words, among(&["rnt"]))), "`x`: no category `rnt`, did you mean `rent`?");
    assert_eq!(
        message(limited(&words, to())),
        "`x` holds categories, expected a list of them, found a range\nhint: there are `own`, `rent`"
    );
}

proptest! {
    #[test]
    fn every_limited_candidate_is_within_the_limit_and_encodes_to_its_code(
        values in prop::collection::vec(-5_000i64..5_000, 2..100),
        decimals in 0u32..4,
        bins in 2usize..8,
        bounds in prop::option::of((-60.0f64..0.0, 0.0f64..60.0)),
        ends in (-80.0f64..80.0, -80.0f64..80.0),
        raw in -80.0f64..80.0,
    ) {
        let scale = 10f64.powi(decimals as i32);
        let rest = bounds.map_or(String::new(), |(low, high)| format!("bounds = [{low:?}, {high:?}]"));
        let config = DiscretizerConfig { bins, max_values: 1 };
        let numbers = table(&column(values.iter().map(|value| *value as f64 / scale)));
        let discretizer = fit_with(&one("continuous", &rest), numbers, &config).expect("a fit");
        let (lowest, highest) = (ends.0.min(ends.1), ends.0.max(ends.1));
        let all_whole = discretizer.domains()[0].summary().is_some_and(NumberSummary::is_whole);
        let (lowest, highest) =
            if all_whole { (lowest.ceil(), highest.floor().max(lowest.ceil())) } else { (lowest, highest) };
        let limits = limited(&discretizer, Permitted::Between([lowest, highest])).expect("a limit");
        let raw = raw.to_string();
        let code_of = |cell: &str| discretizer.encode_row(&[cell]).expect("a code").codes()[0];
        let free = candidates(&discretizer, &raw, &Limits::NONE, Reach::AllValues);
        let within = candidates(&discretizer, &raw, &limits, Reach::AllValues);
        prop_assert_eq!(free[0], within[0], "one may always stay");
        for candidate in &within[1..] {
            let Candidate { code, number, .. } = *candidate;
            prop_assert!((lowest..=highest).contains(&number), "{number} is outside");
            prop_assert!(!all_whole || number.fract() == 0.0, "{number} is a fraction");
            prop_assert_eq!(code_of(&number.to_string()), code);
            let whole: Vec<f64> =
                free[1..].iter().filter(|other| other.code == code).map(|other| other.number).collect();
            let ends = whole.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], number| {
                [low.min(*number), high.max(*number)]
            });
            // Between two numbers of as many decimals as the column has, a narrow limit has only others.
            let [lowest, highest] = [ends[0] - 1.0 / scale, ends[1] + 1.0 / scale];
            let is_known = (lowest..=highest).contains(&number) || code == free[0].code;
            prop_assert!(is_known, "a limit adds {number}");
        }
        for Candidate { code, number, .. } in &free[1..] {
            let is_offered = within.iter().skip(1).any(|candidate| candidate.code == *code);
            prop_assert!(is_offered || !(lowest..=highest).contains(number), "{number} is within the limit");
        }
    }
}
