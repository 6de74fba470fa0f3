use std::collections::BTreeMap;

use par_data::Permitted;
use par_data::schema::{
    Actor, Condition, Direction, Effort, Formula, Move, Mutability, Relation, Rule, Step, Takes, TimeUnit,
};

use crate::schema;

const LOANS: &str = r#"
version = 2

[[feature]]
name = "age"
kind = "discrete"
unit = "years"
change = "with-time"

[[feature]]
name = "age_band"
kind = "ordinal"
values = ["young", "middle", "old"]
change = "follows"

[[feature]]
name = "sex"
kind = "nominal"
values = ["f", "m"]
change = "never"

[[feature]]
name = "housing"
kind = "nominal"
values = ["rent", "own", "free"]
change = "free"
transitions = { rent = ["own"], own = [] }
forbid = { free = ["rent"] }
effort = "very hard"
takes = "2 years"

[[feature]]
name = "income"
kind = "continuous"
change = "increase"
step = { up = 500, at_least = 50, grid = 10 }
effort = 1.5
per = 100
takes = "6 months per 500"
improves = "increase"

[[feature]]
name = "debt"
kind = "continuous"
range = [-9, inf]
special = [-9, -8.0]
transitions = { "-9.0" = "leave" }
change = "decrease"
step = { down = 1000 }
takes = "30 days"
improves = "decrease"

[[feature]]
name = "ratio"
kind = "continuous"
change = "follows"

[[feature]]
name = "amount"
kind = "continuous"
change = "free"
who = "lender"

[[feature]]
name = "education"
kind = "ordinal"
values = ["school", "college", "university"]
change = "increase"
step = { up = 1 }

[[feature]]
name = "note"
kind = "discrete"

[[relation]]
at_most = ["debt", "amount"]

[[relation]]
ratio = ["debt", "income"]
gives = "ratio"

[[relation]]
lookup = "age"
gives = "age_band"
table = [["..24", "young"], [[25, 26], "middle"], ["60..79", "old"], [80, "old"]]

[[relation]]
when = { housing = "own", income = "2000.." }
then = { debt = 0, sex = ["f", "m"] }

[[relation]]
together = ["income", "education"]

[[relation]]
at_most_changes = 1
of = ["housing", "income", "debt"]

[[relation]]
if_increases = "income"
must_decrease = "debt"

[[relation]]
if_decreases = "amount"
must_increase = "education"

[[accept]]
require = { age = "18..", housing = "rent|own" }
because = "of age"

[[accept]]
when = { sex = "f" }
require = { income = "100..9000" }
"#;

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

fn among(values: &[&str]) -> Permitted {
    Permitted::Among(texts(values))
}

#[test]
fn every_key_of_a_feature_is_understood() {
    let schema = schema(LOANS);
    assert_eq!(schema.version(), 2);
    let [age, band, sex, housing, income, debt, _, amount, education, note] = schema.features() else {
        panic!("ten features")
    };
    assert_eq!((age.change, age.clock()), (Mutability::WithTime, Some(TimeUnit::Years)));
    assert_eq!((band.change, sex.change), (Mutability::Follows, Mutability::Never));
    assert_eq!((note.change, note.is_immutable()), (Mutability::Undecided, true));
    let to = |to: &[(&str, &[&str])]| -> BTreeMap<String, Vec<String>> {
        to.iter().map(|(from, to)| (from.to_string(), texts(to))).collect()
    };
    assert_eq!(housing.transitions, to(&[("rent", &["own"]), ("own", &[])]));
    assert_eq!(housing.forbidden, to(&[("free", &["rent"])]));
    assert_eq!(housing.effort, Effort { weight: 8.0, per: None });
    assert_eq!(housing.takes, Some(Takes { months: 24.0, per: None }));
    assert_eq!(income.direction(), Some(Direction::Increase));
    assert_eq!(income.step, Step { up: Some(500.0), down: None, at_least: Some(50.0), grid: Some(10.0) });
    assert_eq!(income.effort, Effort { weight: 1.5, per: Some(100.0) });
    assert_eq!(income.takes, Some(Takes { months: 6.0, per: Some(500.0) }));
    assert_eq!((income.improves, debt.improves), (Some(Direction::Increase), Some(Direction::Decrease)));
    assert_eq!(debt.special, [-9.0, -8.0]);
    assert_eq!(debt.transitions, to(&[("-9", &["leave"])]));
    assert_eq!((debt.may_leave(-9.0), debt.may_leave(-8.0)), (true, false));
    assert_eq!(debt.step, Step { down: Some(1000.0), ..Step::default() });
    assert!(debt.takes.is_some_and(|takes| (0.9..1.0).contains(&takes.months)));
    assert_eq!((amount.who, income.who), (Actor::Lender, Actor::Applicant));
    assert_eq!(amount.effort, Effort { weight: 2.0, per: None });
    assert_eq!(education.step.up, Some(1.0));
}

#[test]
fn every_kind_of_relation_is_understood() {
    let schema = schema(LOANS);
    let of = |name: &str| schema.position(name).expect("a feature");
    let condition = |name, values| Condition { feature: of(name), values };
    let moves = |name, direction| Move { feature: of(name), direction };
    let rules = [
        Rule { when: moves("income", Direction::Increase), then: moves("debt", Direction::Decrease) },
        Rule { when: moves("amount", Direction::Decrease), then: moves("education", Direction::Increase) },
    ];
    let table = vec![
        (Permitted::Between([f64::NEG_INFINITY, 24.0]), "young".to_string()),
        (among(&["25", "26"]), "middle".to_string()),
        (Permitted::Between([60.0, 79.0]), "old".to_string()),
        (among(&["80"]), "old".to_string()),
    ];
    assert_eq!(
        schema.relations(),
        [
            Relation::AtMost([of("debt"), of("amount")]),
            Relation::Follows { feature: of("ratio"), formula: Formula::Ratio([of("debt"), of("income")]) },
            Relation::Follows {
                feature: of("age_band"),
                formula: Formula::Lookup { of: [of("age")], table }
            },
            Relation::When {
                when: vec![
                    condition("housing", among(&["own"])),
                    condition("income", Permitted::Between([2000.0, f64::INFINITY])),
                ],
                then: vec![condition("debt", among(&["0"])), condition("sex", among(&["f", "m"]))],
            },
            Relation::Together(vec![of("income"), of("education")]),
            Relation::AtMostChanges { most: 1, of: vec![of("housing"), of("income"), of("debt")] },
            Relation::Rule(rules[0]),
            Relation::Rule(rules[1]),
        ]
    );
    assert_eq!(schema.rules(), rules);
    let [adult, women] = schema.accept() else { panic!("two rules") };
    assert_eq!((adult.when.as_slice(), adult.because.as_deref()), (&[][..], Some("of age")));
    assert_eq!(
        adult.require,
        [
            condition("age", Permitted::Between([18.0, f64::INFINITY])),
            condition("housing", among(&["rent", "own"])),
        ]
    );
    assert_eq!(women.when, [condition("sex", among(&["f"]))]);
}

#[test]
fn relations_and_policies_are_said_in_words() {
    let schema = schema(LOANS);
    assert_eq!(
        schema.relations_in_words(),
        [
            "debt is at most amount",
            "ratio is debt divided by income",
            "age_band follows from age: young for at most 24, middle for 25 or 26, old for 60 to 79, old for 80",
            "if housing is own and income is 2000 or more, then debt is 0 and sex is f or m",
            "income and education change together or not at all",
            "at most 1 of housing, income and debt changes",
            "income rises only if debt falls",
            "amount falls only if education rises",
        ]
    );
    assert_eq!(
        schema.accept_rules_in_words(),
        [
            "accepted only if age is 18 or more and housing is rent or own (of age)",
            "accepted only if income is 100 to 9000, where sex is f",
        ]
    );
}

#[test]
fn changes_are_said_in_words() {
    let schema = schema(LOANS);
    let words = |name: &str| {
        let position = schema.position(name).expect("a feature");
        schema.features()[position].changes_in_words().join(", ")
    };
    assert_eq!(words("age"), "");
    assert_eq!(
        words("housing"),
        "own stays, rent only to own, free not to rent, effort very hard, takes 24 months"
    );
    assert_eq!(
        words("income"),
        "at most 500 up, by at least 50, to multiples of 10, effort 1.5 per 100, takes 6 months per 500, \
         better if it rises"
    );
    assert_eq!(
        words("debt"),
        "at most 1000 down, may leave -9, -9 and -8 mean something else, takes 0.99 months, better if it falls"
    );
    assert_eq!(words("amount"), "changed by the lender");
    assert_eq!(words("education"), "at most 1 place up");
}
