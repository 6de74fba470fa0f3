use par_data::schema::{Direction, Move, Rule};
use par_data::{Code, Constraints, Discretizer, Mask, Restriction, Schema, UNKNOWN};
use proptest::prelude::*;

use crate::{fit, schema, table};

/// Discrete features with codes `0..n`, with constraints.
struct TestSchema<'a> {
    cardinalities: &'a [usize],
    /// Further lines of the schema for each feature.
    lines: &'a [&'a str],
    rules: &'a [Rule],
}

impl TestSchema<'_> {
    /// Parsed as from a model file, so that rules may require an impossible rise.
    fn schema(&self) -> Result<Schema, serde_json::Error> {
        let mut text = "version = 2\n".to_string();
        for feature in 0..self.cardinalities.len() {
            let lines = self.lines.get(feature).unwrap_or(&"");
            let change = if lines.contains("change") { "" } else { "change = \"free\"\n" };
            text += &format!(
                "[[feature]]\nname = \"f{feature}\"\nkind = \"discrete\"\nmissing = true\n{change}{lines}\n"
            );
        }
        for Rule { when, then } in self.rules {
            let moves = |one: &Move| match one.direction {
                Direction::Increase => "increase",
                Direction::Decrease => "decrease",
            };
            text += &format!("[[relation]]\nif_{}s = \"f{}\"\n", moves(when), when.feature);
            text += &format!("must_{} = \"f{}\"\n", moves(then), then.feature);
        }
        serde_json::from_value(text.into())
    }

    fn discretizer(&self) -> Discretizer {
        let header: Vec<String> =
            (0..self.cardinalities.len()).map(|feature| format!("f{feature}")).collect();
        let mut rows = header.join(",") + "\n";
        for row in 0..*self.cardinalities.iter().max().expect("features") {
            let cells: Vec<String> = self.cardinalities.iter().map(|n| (row % n).to_string()).collect();
            rows += &(cells.join(",") + "\n");
        }
        fit(&self.schema().expect("a schema"), table(&rows)).expect("a fit")
    }

    fn constraints(&self) -> Constraints {
        Constraints::new(&self.discretizer())
    }
}

/// A mask and a vector of logits, checked by enumerating all rows.
struct EnumeratedMask<'a> {
    constraints: &'a Constraints,
    mask: Mask<'a>,
    logits: &'a [f64],
}

impl EnumeratedMask<'_> {
    fn rows(&self) -> Vec<Vec<Code>> {
        let mut rows = vec![Vec::new()];
        for feature in 0..self.constraints.features() {
            let codes: Vec<Code> = match self.mask.factual()[feature] {
                UNKNOWN => vec![UNKNOWN],
                _ => (0..self.constraints.range(feature).len() as Code).collect(),
            };
            rows = rows
                .iter()
                .flat_map(|row| codes.iter().map(|code| [row.as_slice(), &[*code]].concat()))
                .collect();
        }
        rows
    }

    fn weight(&self, row: &[Code]) -> f64 {
        let known = row.iter().enumerate().filter(|(_, code)| **code != UNKNOWN);
        known
            .map(|(feature, code)| self.logits[self.constraints.range(feature).start + usize::from(*code)])
            .sum()
    }

    fn marginals(&self) -> Vec<f64> {
        let mut marginals = vec![f64::NAN; self.logits.len()];
        self.mask.marginals(self.logits, &mut marginals);
        marginals
    }

    fn check(&self) {
        let legal: Vec<Vec<Code>> = self.rows().into_iter().filter(|row| self.mask.is_legal(row)).collect();
        let highest = legal.iter().map(|row| self.weight(row)).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = legal.iter().map(|row| (self.weight(row) - highest).exp()).sum();
        let mut expected = vec![0.0; self.logits.len()];
        for row in &legal {
            for (feature, code) in row.iter().enumerate().filter(|(_, code)| **code != UNKNOWN) {
                expected[self.constraints.range(feature).start + usize::from(*code)] +=
                    (self.weight(row) - highest).exp() / total;
            }
        }
        for (found, expected) in self.marginals().iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
        }

        let best = self.mask.argmax(self.logits);
        assert!(self.mask.is_legal(&best), "{best:?}");
        assert!(self.weight(&best) >= highest - 1e-9 * highest.abs().max(1.0), "{best:?} is not the best");

        for feature in 0..self.constraints.features() {
            for code in self.mask.codes(feature) {
                assert!(
                    legal.iter().any(|row| row[feature] == code),
                    "code {code} of {feature} leads nowhere"
                );
            }
        }
        assert!(self.mask.is_legal(self.mask.factual()), "one may always stay");
    }

    /// The pullback of `gradient` against finite differences of the marginals.
    fn check_pullback(&self, gradient: &[f64]) {
        let mut found = vec![f64::NAN; self.logits.len()];
        self.mask.marginals_pullback(self.logits, gradient, &mut found);
        let loss = |logits: &[f64]| {
            let judged = EnumeratedMask { constraints: self.constraints, mask: self.mask.clone(), logits };
            judged.marginals().iter().zip(gradient).map(|(marginal, slope)| marginal * slope).sum::<f64>()
        };
        for (code, found) in found.iter().enumerate() {
            let moved = |step: f64| {
                let mut logits = self.logits.to_vec();
                logits[code] += step;
                loss(&logits)
            };
            let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((found - expected).abs() < 1e-7, "{found} is not {expected}");
        }
    }
}

/// Irregular logits.
fn uneven(codes: usize) -> Vec<f64> {
    (0..codes).map(|code| ((code * 7919 + 13) % 97) as f64 / 10.0 - 4.0).collect()
}

fn judge(test_schema: &TestSchema<'_>, factual: &[Code], locks: &[usize]) -> Vec<f64> {
    let constraints = test_schema.constraints();
    let logits = uneven(constraints.codes());
    let judged =
        EnumeratedMask { constraints: &constraints, mask: constraints.mask(factual, locks), logits: &logits };
    judged.check();
    judged.check_pullback(&uneven(2 * constraints.codes())[constraints.codes()..]);
    judged.marginals()
}

#[test]
fn paper_case_1_both_may_change() {
    let test_schema = TestSchema {
        cardinalities: &[3, 4],
        lines: &["", "change = \"increase\""],
        rules: &[Rule::rises(0, 1)],
    };
    judge(&test_schema, &[0, 1], &[]);
    judge(&test_schema, &[1, 3], &[]);
}

#[test]
fn paper_case_2_an_effect_cannot_rise_when_its_cause_is_immutable() {
    let test_schema = TestSchema {
        cardinalities: &[3, 4],
        lines: &["", "change = \"never\""],
        rules: &[Rule::rises(0, 1)],
    };
    judge(&test_schema, &[1, 1], &[]);
    let constraints = test_schema.constraints();
    assert_eq!(constraints.mask(&[1, 1], &[]).codes(0).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn paper_case_3_an_immutable_effect_frees_its_cause() {
    let test_schema =
        TestSchema { cardinalities: &[3, 4], lines: &["change = \"never\""], rules: &[Rule::rises(0, 1)] };
    judge(&test_schema, &[1, 1], &[]);
    let constraints = test_schema.constraints();
    assert_eq!(constraints.mask(&[1, 1], &[]).codes(1).count(), 4);
}

#[test]
fn two_effects_may_share_a_cause() {
    judge(
        &TestSchema { cardinalities: &[3, 4, 2], lines: &[], rules: &[Rule::rises(0, 1), Rule::rises(2, 1)] },
        &[0, 1, 0],
        &[],
    );
}

#[test]
fn an_effect_may_have_two_causes() {
    judge(
        &TestSchema { cardinalities: &[3, 4, 2], lines: &[], rules: &[Rule::rises(1, 0), Rule::rises(1, 2)] },
        &[0, 1, 0],
        &[],
    );
}

#[test]
fn rules_may_form_a_chain() {
    let test_schema = TestSchema {
        cardinalities: &[3, 4, 2, 3],
        lines: &[],
        rules: &[Rule::rises(0, 1), Rule::rises(1, 2), Rule::rises(2, 3)],
    };
    judge(&test_schema, &[0, 1, 0, 1], &[]);
    judge(&test_schema, &[0, 1, 0, 2], &[]);
    let constraints = test_schema.constraints();
    let mask = constraints.mask(&[0, 1, 0, 2], &[]);
    assert_eq!(mask.codes(0).collect::<Vec<_>>(), [0], "the end of the chain cannot rise");
}

#[test]
fn rules_may_form_a_diamond() {
    let test_schema = TestSchema {
        cardinalities: &[3, 4, 2, 3],
        lines: &[],
        rules: &[Rule::rises(0, 1), Rule::rises(0, 2), Rule::rises(1, 3), Rule::rises(2, 3)],
    };
    judge(&test_schema, &[0, 1, 0, 1], &[]);
    judge(&test_schema, &[0, 1, 0, 1], &[3]);
}

/// The effect moves in one direction only if the cause moves in another.
fn rule(effect: (usize, Direction), cause: (usize, Direction)) -> Rule {
    let [when, then] = [effect, cause].map(|(feature, direction)| Move { feature, direction });
    Rule { when, then }
}

const DIRECTIONS: [Direction; 2] = [Direction::Increase, Direction::Decrease];

#[test]
fn rules_bind_rises_and_falls_in_all_four_directions() {
    for when in DIRECTIONS {
        for then in DIRECTIONS {
            let rules = [rule((0, when), (1, then))];
            let test_schema = TestSchema { cardinalities: &[3, 4], lines: &[], rules: &rules };
            for factual in [[1, 1], [0, 3], [2, 0], [1, 0], [UNKNOWN, 1], [1, UNKNOWN]] {
                judge(&test_schema, &factual, &[]);
            }
            let constraints = test_schema.constraints();
            let locked = constraints.mask(&[1, 1], &[1]);
            let kept = if when == Direction::Increase { [0, 1] } else { [1, 2] };
            assert_eq!(locked.codes(0).collect::<Vec<_>>(), kept, "{when:?} needs {then:?}");
            let [moved, other] = if when == Direction::Increase { [2, 0] } else { [0, 2] };
            let [right, wrong] = if then == Direction::Increase { [2, 0] } else { [0, 2] };
            let keeps = |row: [Code; 2]| constraints.keeps_rules(&[1, 1], &row);
            assert!(keeps([moved, right]) && keeps([other, wrong]) && keeps([1, wrong]));
            assert!(!keeps([moved, wrong]) && !keeps([moved, 1]));
        }
    }
}

#[test]
fn two_features_may_keep_each_other_from_moving_the_same_way() {
    let rules = [
        rule((0, Direction::Increase), (1, Direction::Decrease)),
        rule((1, Direction::Increase), (0, Direction::Decrease)),
    ];
    let test_schema = TestSchema { cardinalities: &[3, 4], lines: &[], rules: &rules };
    judge(&test_schema, &[1, 1], &[]);
    judge(&test_schema, &[0, 2], &[]);
    judge(&test_schema, &[2, 0], &[]);
}

#[test]
fn rises_and_falls_may_form_chains_and_diamonds() {
    let (up, down) = (Direction::Increase, Direction::Decrease);
    let chain = [rule((0, up), (1, down)), rule((1, down), (2, down)), rule((3, down), (2, up))];
    let diamond = [
        rule((0, up), (1, down)),
        rule((0, up), (2, up)),
        rule((1, down), (3, up)),
        rule((2, down), (3, down)),
    ];
    for rules in [&chain[..], &diamond] {
        let test_schema = TestSchema { cardinalities: &[3, 4, 3, 3], lines: &[], rules };
        for factual in [[1, 1, 1, 1], [0, 3, 2, 0], [1, 0, 1, 2], [1, 2, 0, 1]] {
            judge(&test_schema, &factual, &[]);
            judge(&test_schema, &factual, &[2]);
        }
    }
}

#[test]
fn a_locked_cause_is_like_an_immutable_one() {
    let test_schema = TestSchema { cardinalities: &[3, 4], lines: &[], rules: &[Rule::rises(0, 1)] };
    judge(&test_schema, &[1, 1], &[1]);
    let constraints = test_schema.constraints();
    assert_eq!(constraints.mask(&[1, 1], &[1]).codes(0).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn with_everything_locked_only_the_persons_row_is_legal() {
    let test_schema = TestSchema { cardinalities: &[3, 4], lines: &[], rules: &[Rule::rises(0, 1)] };
    judge(&test_schema, &[1, 1], &[0, 1]);
    let constraints = test_schema.constraints();
    let mask = constraints.mask(&[1, 1], &[0, 1]);
    assert_eq!(mask.free_features(), 0);
    assert_eq!(mask.argmax(&uneven(7)), [1, 1]);
}

#[test]
fn one_code_is_enough() {
    let marginals =
        judge(&TestSchema { cardinalities: &[1, 2], lines: &[], rules: &[Rule::rises(1, 0)] }, &[0, 0], &[]);
    assert_eq!(marginals, [1.0, 1.0, 0.0]);
}

#[test]
fn an_unknown_feature_stays_unknown() {
    let test_schema = TestSchema { cardinalities: &[3, 4, 2], lines: &[], rules: &[Rule::rises(0, 1)] };
    let marginals = judge(&test_schema, &[0, UNKNOWN, 1], &[]);
    assert_eq!(marginals[..7], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "nor can an effect of it rise");
    judge(&test_schema, &[UNKNOWN, 1, 1], &[]);
    let constraints = test_schema.constraints();
    assert_eq!(constraints.mask(&[0, UNKNOWN, 1], &[]).argmax(&uneven(9))[1], UNKNOWN);
    assert!(
        !constraints.mask(&[0, 1, 1], &[]).is_legal(&[0, UNKNOWN, 1]),
        "a move to unknown is never legal"
    );
}

#[test]
fn extreme_logits_stay_finite() {
    let test_schema = TestSchema {
        cardinalities: &[3, 4, 2, 3],
        lines: &[],
        rules: &[Rule::rises(0, 1), Rule::rises(0, 2), Rule::rises(1, 3), Rule::rises(2, 3)],
    };
    let tree = TestSchema {
        cardinalities: &[3, 4, 2, 3],
        lines: &[],
        rules: &[Rule::rises(0, 1), Rule::rises(2, 1), Rule::rises(3, 2)],
    };
    for test_schema in [test_schema, tree] {
        let constraints = test_schema.constraints();
        let logits: Vec<f64> = (0..12).map(|code| if code % 2 == 0 { 1000.0 } else { -1000.0 }).collect();
        for factual in [[0, 0, 0, 0], [1, 1, 0, 1], [2, 3, 1, 2]] {
            let mask = constraints.mask(&factual, &[]);
            let judged = EnumeratedMask { constraints: &constraints, mask, logits: &logits };
            judged.check();
            let mut gradient = vec![f64::NAN; 12];
            judged.mask.marginals_pullback(&logits, &logits, &mut gradient);
            assert!(gradient.iter().all(|slope| slope.is_finite()), "{gradient:?}");
        }
    }
}

#[test]
fn ties_go_to_not_rising_and_then_to_the_lowest_code() {
    let tree = TestSchema { cardinalities: &[3, 3, 3], lines: &[], rules: &[Rule::rises(0, 1)] };
    let diamond = TestSchema {
        cardinalities: &[3; 4],
        lines: &[],
        rules: &[Rule::rises(0, 1), Rule::rises(0, 2), Rule::rises(1, 3), Rule::rises(2, 3)],
    };
    for test_schema in [tree, diamond] {
        let constraints = test_schema.constraints();
        let factual = vec![1; constraints.features()];
        let row = constraints.mask(&factual, &[]).argmax(&vec![0.0; constraints.codes()]);
        assert_eq!(row, vec![0; constraints.features()]);
    }
}

#[test]
fn directions_bounds_and_allowed_values_bind() {
    let test_schema = TestSchema {
        cardinalities: &[5, 5, 5, 5],
        lines: &["change = \"decrease\"", "bounds = [1, 3]", "allowed = [0, 4]", "change = \"increase\""],
        rules: &[],
    };
    judge(&test_schema, &[2, 0, 1, 2], &[]);
    let constraints = test_schema.constraints();
    let mask = constraints.mask(&[2, 0, 1, 2], &[]);
    let codes = |feature| mask.codes(feature).collect::<Vec<_>>();
    assert_eq!(codes(0), [0, 1, 2]);
    assert_eq!(codes(1), [0, 1, 2, 3], "outside the bounds one may stay");
    assert_eq!(codes(2), [0, 1, 4], "one's own value need not be allowed");
    assert_eq!(codes(3), [2, 3, 4]);
    assert!(constraints.is_actionable(&[2, 0, 1, 2], &[1, 4, 2, 3]), "bounds are no direction");
    assert!(!constraints.is_actionable(&[2, 0, 1, 2], &[3, 0, 1, 2]));
    assert!(!constraints.is_actionable(&[2, 0, 1, 2], &[2, 0, 1, 1]));
    assert!(!constraints.is_actionable(&[2, UNKNOWN, 1, 2], &[2, 0, 1, 2]));
}

#[test]
fn a_bin_is_legal_when_it_meets_the_bounds() {
    let rows: String = (0..=100).map(|number| format!("{number}\n")).collect();
    let legal = |bounds: &str| {
        let text = format!("[[feature]]\nname = \"x\"\nkind = \"discrete\"\nbins = 4\nbounds = {bounds}\n");
        let discretizer = fit(&schema(&text), table(&format!("x\n{rows}"))).expect("a fit");
        Constraints::new(&discretizer).mask(&[0], &[]).codes(0).collect::<Vec<_>>()
    };
    assert_eq!(legal("[30, 60]"), [0, 1, 2]);
    assert_eq!(legal("[30, 75]"), [0, 1, 2, 3], "75 opens the last bin");
    assert_eq!(legal("[150, 200]"), [0, 3], "the last bin has no upper end");
}

#[test]
fn rules_can_be_checked_apart_from_directions() {
    let test_schema =
        TestSchema { cardinalities: &[3, 3], lines: &["change = \"never\""], rules: &[Rule::rises(0, 1)] };
    let constraints = test_schema.constraints();
    assert!(constraints.keeps_rules(&[0, 0], &[1, 1]) && !constraints.is_actionable(&[0, 0], &[1, 1]));
    assert!(!constraints.keeps_rules(&[0, 0], &[1, 0]));
}

#[derive(Clone, Debug)]
struct RandomCase {
    cardinalities: Vec<usize>,
    lines: Vec<&'static str>,
    rules: Vec<Rule>,
    factual: Vec<Code>,
    locks: Vec<usize>,
    logits: Vec<f64>,
    gradient: Vec<f64>,
}

/// Rules from lower to higher features, in random order, so that they have no cycle.
fn cases() -> impl Strategy<Value = RandomCase> {
    let lines = prop::sample::select(vec![
        "",
        "",
        "",
        "change = \"increase\"",
        "change = \"decrease\"",
        "change = \"never\"",
    ]);
    let feature = (1usize..4, lines, 0u16..5, prop::bool::weighted(0.1));
    let scale = prop::sample::select(vec![1.0, 10.0, 1000.0]);
    (prop::collection::vec(feature, 1..6), any::<u128>(), any::<bool>(), scale).prop_flat_map(
        |(features, bits, only_rises, scale)| {
            let pairs = (0..features.len()).flat_map(|cause| (0..cause).map(move |effect| (effect, cause)));
            let rules = match only_rises {
                true => {
                    let some = pairs.enumerate().filter(|(at, _)| bits >> (2 * at) & 3 == 0);
                    some.map(|(_, (effect, cause))| Rule::rises(effect, cause)).collect()
                }
                false => {
                    let all = pairs.flat_map(|(effect, cause)| {
                        DIRECTIONS
                            .into_iter()
                            .flat_map(move |when| DIRECTIONS.map(|then| rule((effect, when), (cause, then))))
                    });
                    let some = all.enumerate().filter(|(at, _)| bits >> (3 * at) & 7 == 0);
                    some.map(|(_, rule)| rule).collect()
                }
            };
            let cardinalities: Vec<usize> = features.iter().map(|feature| feature.0).collect();
            let factual = features
                .iter()
                .map(|(n, _, code, _)| if *code == 4 { UNKNOWN } else { code % *n as Code })
                .collect::<Vec<_>>();
            let lines = features.iter().map(|feature| feature.1).collect::<Vec<_>>();
            let locks = (0..features.len()).filter(|&at| features[at].3).collect::<Vec<_>>();
            let codes = cardinalities.iter().sum::<usize>();
            let case =
                RandomCase { cardinalities, lines, rules, factual, locks, logits: vec![], gradient: vec![] };
            (prop::collection::vec(-1.0f64..1.0, codes), prop::collection::vec(-1.0f64..1.0, codes)).prop_map(
                move |(logits, gradient)| RandomCase {
                    logits: logits.iter().map(|logit| logit * scale).collect(),
                    gradient,
                    ..case.clone()
                },
            )
        },
    )
}

proptest! {
    #[test]
    fn marginals_argmax_and_gradient_agree_with_enumeration(case in cases()) {
        let test_schema = TestSchema { cardinalities: &case.cardinalities, lines: &case.lines, rules: &case.rules };
        prop_assume!(test_schema.schema().is_ok(), "no move requires both a rise and a fall");
        let constraints = test_schema.constraints();
        let mask = constraints.mask(&case.factual, &case.locks);
        let judged = EnumeratedMask { constraints: &constraints, mask, logits: &case.logits };
        judged.check();
        if case.logits.iter().all(|logit| logit.abs() <= 10.0) {
            judged.check_pullback(&case.gradient);
        }
    }
}

#[test]
fn restrictions_can_be_listed_and_lifted() {
    let test_schema = TestSchema {
        cardinalities: &[3, 3, 3],
        lines: &["change = \"never\"", "change = \"increase\"", "allowed = [0, 1]"],
        rules: &[Rule::rises(2, 1)],
    };
    let constraints = test_schema.constraints();
    let factual = [1, 1, 0];
    let rule = constraints.restrictions().last().copied().expect("a rule");
    assert!(matches!(rule, Restriction::Rule(rule) if (rule.when.feature, rule.then.feature) == (2, 1)));
    assert_eq!(
        constraints.restrictions(),
        [Restriction::Immutable(0), Restriction::Monotone(1), Restriction::Allowed(2), rule]
    );
    for (restriction, row) in
        constraints.restrictions().into_iter().zip([[0, 1, 0], [1, 0, 0], [1, 2, 2], [1, 1, 1]])
    {
        assert!(!constraints.mask(&factual, &[]).is_legal(&row), "{restriction:?} forbids {row:?}");
        let without = constraints.without(&[restriction]);
        assert!(without.mask(&factual, &[]).is_legal(&row), "without {restriction:?}, {row:?}");
    }
    let all = constraints.without(&constraints.restrictions());
    assert_eq!(all.restrictions(), []);
    assert!(all.mask(&factual, &[]).is_legal(&[2, 0, 2]));
}

#[test]
fn further_immutable_features_add_to_the_schemas_and_free_none() {
    let test_schema = TestSchema { cardinalities: &[3, 3, 3], lines: &["change = \"never\""], rules: &[] };
    let constraints = test_schema.constraints();
    let fewer = constraints.with_immutable(&[1]);
    assert_eq!([0, 1, 2].map(|feature| fewer.is_immutable(feature)), [true, true, false]);
    let mask = fewer.mask(&[1, 1, 1], &[]);
    assert!(mask.is_legal(&[1, 1, 2]) && !mask.is_legal(&[2, 1, 1]) && !mask.is_legal(&[1, 2, 1]));
    assert!(constraints.with_immutable(&[]).is_immutable(0), "an empty list frees nothing");
}

#[test]
fn an_effect_whose_cause_is_made_immutable_does_not_rise() {
    let test_schema = TestSchema { cardinalities: &[3, 3], lines: &[], rules: &[Rule::rises(0, 1)] };
    let mask_of = |constraints: &Constraints| constraints.mask(&[1, 1], &[]).codes(0).collect::<Vec<_>>();
    assert_eq!(mask_of(&test_schema.constraints()), [0, 1, 2]);
    assert_eq!(mask_of(&test_schema.constraints().with_immutable(&[1])), [0, 1]);
}
