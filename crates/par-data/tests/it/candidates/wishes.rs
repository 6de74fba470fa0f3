use par_data::{Limits, Permitted, Reach, Wishes};

use super::{World, numbers};

fn world() -> World {
    let number =
        |name: &str, rest: &str| format!("name = \"{name}\"\nkind = \"discrete\"\nmissing = true\n{rest}");
    World::new(
        &[
            &number(
                "savings",
                "change = \"free\"\nimproves = \"increase\"\nper = 1\ntakes = \"2 months per 1\"",
            ),
            &number("debt", "change = \"free\"\nimproves = \"decrease\"\neffort = \"easy\"\nper = 1"),
            &number("children", "change = \"never\""),
            &number("shoes", ""),
        ],
        "",
        (0..10).map(|n| format!("{n},{n},{n},{n}")),
    )
}

const OWN: [&str; 4] = ["5"; 4];

fn asked(wishes: &Wishes<'_>) -> [Vec<f64>; 2] {
    let world = world();
    let candidates = world.candidates(&OWN, wishes, Reach::Codes);
    [0, 1].map(|feature| numbers(&candidates, feature))
}

#[test]
fn what_nobody_can_change_or_has_decided_on_stays() {
    let world = world();
    let candidates = world.usual(&OWN);
    assert_eq!(candidates.free(), [0, 1]);
    assert_eq!([2, 3].map(|feature| candidates.of(feature).len()), [1, 1]);
    let more = world.constraints.with_immutable(&[0]);
    assert_eq!(more.candidates(&world.own(&OWN), &Wishes::default(), Reach::Codes).free(), [1]);
}

#[test]
fn an_unknown_cell_stays_unknown() {
    let world = world();
    assert_eq!(world.usual(&["", "5", "5", "5"]).free(), [1]);
}

#[test]
fn locks_hold_and_limits_take_away() {
    let world = world();
    assert_eq!(
        world.candidates(&OWN, &Wishes { locks: &[0], ..Wishes::default() }, Reach::Codes).free(),
        [1]
    );
    let to =
        [(0, Permitted::Between([3.0, 6.0])), (1, Permitted::Among(vec!["0".to_string(), "9".to_string()]))];
    let limits = Limits::new(&world.discretizer, to).expect("limits");
    assert_eq!(
        asked(&Wishes { limits: &limits, ..Wishes::default() }),
        [vec![3.0, 4.0, 6.0], vec![0.0, 9.0]]
    );
}

#[test]
fn a_change_takes_no_longer_and_costs_no_more_than_the_person_allows() {
    let [savings, debt] = asked(&Wishes { within: Some(4), ..Wishes::default() });
    assert_eq!((savings, debt.len()), (vec![3.0, 4.0, 6.0, 7.0], 9), "debt takes no time");
    let [savings, debt] = asked(&Wishes { max_effort: Some(2.5), ..Wishes::default() });
    assert_eq!((savings, debt), (vec![4.0, 6.0], vec![3.0, 4.0, 6.0, 7.0]));
}

#[test]
fn without_harm_nothing_gets_worse() {
    let [savings, debt] = asked(&Wishes { no_harm: true, ..Wishes::default() });
    assert_eq!((savings, debt), (vec![6.0, 7.0, 8.0, 9.0], vec![0.0, 1.0, 2.0, 3.0, 4.0]));
    let world = world();
    let candidates = world.usual(&OWN);
    let is_harm = |changes: &[(usize, &str)], feature| {
        candidates.is_harm(&world.row(&candidates, changes).expect("a row"), feature)
    };
    assert!(is_harm(&[(0, "4")], 0) && is_harm(&[(1, "6")], 1));
    assert!(!is_harm(&[(0, "6")], 0) && !is_harm(&[(0, "4")], 1));
}

#[test]
fn a_mask_of_codes_holds_those_of_the_candidates() {
    let world = world();
    let wishes = Wishes { max_effort: Some(2.5), locks: &[1], ..Wishes::default() };
    let candidates = world.candidates(&OWN, &wishes, Reach::Codes);
    let mask = candidates.mask(&candidates.durations()[0]);
    assert_eq!(mask.codes(0).collect::<Vec<_>>(), [4, 5, 6]);
    assert_eq!(
        [1, 2, 3].map(|feature| mask.codes(feature).collect::<Vec<_>>()),
        [[5], [5], [5]].map(Vec::from)
    );
}
