use super::World;

/// Three numbers from 0 to 9 and a kind, all free; `n` may be unknown.
fn world(tables: &str) -> World {
    let number =
        |name: &str| format!("name = \"{name}\"\nkind = \"discrete\"\nchange = \"free\"\nmissing = true");
    let kind = "name = \"kind\"\nkind = \"nominal\"\nvalues = [\"rent\", \"own\"]\nchange = \"free\"";
    let rows = (0..10).map(|n| format!("{n},{n},{n},{}", ["rent", "own"][n % 2]));
    World::new(&[&number("l"), &number("m"), &number("n"), kind], tables, rows)
}

const L: usize = 0;
const M: usize = 1;
const N: usize = 2;
const KIND: usize = 3;

/// Whether a person may make some changes.
fn keeps(tables: &str, cells: [&str; 4], changes: &[(usize, &str)]) -> bool {
    let world = world(tables);
    let candidates = world.usual(&cells);
    world.keeps(&candidates, changes)
}

#[test]
fn at_most_compares_values() {
    let relation = "[[relation]]\nat_most = [\"l\", \"m\"]\n";
    let keeps = |cells, changes: &[(usize, &str)]| keeps(relation, cells, changes);
    assert!(keeps(["3", "5", "0", "own"], &[(L, "5")]));
    assert!(!keeps(["3", "5", "0", "own"], &[(L, "6")]));
    assert!(keeps(["3", "5", "0", "own"], &[(L, "6"), (M, "7")]));
    assert!(!keeps(["3", "5", "0", "own"], &[(M, "2")]));
    // A relation that the person's own row breaks binds once one of its features changes.
    assert!(keeps(["7", "5", "0", "own"], &[(N, "1")]));
    assert!(!keeps(["7", "5", "0", "own"], &[(L, "6")]), "nearer, but still above");
    assert!(keeps(["7", "5", "0", "own"], &[(L, "4")]));
    assert!(!keeps(["3", "", "0", "own"], &[(L, "2")]), "an unknown value could break it");
    assert!(keeps(["3", "", "0", "own"], &[(N, "2")]));
}

#[test]
fn at_most_compares_ordered_categories() {
    let size = |name: &str| {
        format!("name = \"{name}\"\nkind = \"ordinal\"\nvalues = [\"s\", \"m\", \"l\"]\nchange = \"free\"")
    };
    let relation = "[[relation]]\nat_most = [\"inner\", \"outer\"]\n";
    let rows = ["s,m", "m,l", "l,l"].map(String::from);
    let world = World::new(&[&size("inner"), &size("outer")], relation, rows);
    let candidates = world.usual(&["s", "m"]);
    assert!(world.keeps(&candidates, &[(0, "m")]) && !world.keeps(&candidates, &[(0, "l")]));
    assert!(world.keeps(&candidates, &[(0, "l"), (1, "l")]));
}

#[test]
fn when_a_condition_holds_so_must_the_other() {
    let relation = "[[relation]]\nwhen = { kind = \"own\", l = \"5..\" }\nthen = { m = 0, n = \"2..4\" }\n";
    let keeps = |cells, changes: &[(usize, &str)]| keeps(relation, cells, changes);
    assert!(keeps(["3", "9", "9", "rent"], &[(KIND, "own")]), "only one condition holds");
    assert!(!keeps(["6", "9", "9", "rent"], &[(KIND, "own")]));
    assert!(keeps(["6", "9", "9", "rent"], &[(KIND, "own"), (M, "0"), (N, "3")]));
    assert!(!keeps(["6", "9", "9", "rent"], &[(KIND, "own"), (M, "0")]), "all of it must hold");
    assert!(keeps(["6", "9", "9", "own"], &[]), "the person's own row may break it");
    assert!(keeps(["6", "9", "9", "own"], &[(KIND, "rent")]));
    assert!(!keeps(["", "9", "9", "rent"], &[(KIND, "own")]), "an unknown condition could hold");
}

#[test]
fn together_is_all_or_none() {
    let relation = "[[relation]]\ntogether = [\"l\", \"m\"]\n";
    let cells = ["3", "5", "0", "own"];
    assert!(!keeps(relation, cells, &[(L, "4")]));
    assert!(keeps(relation, cells, &[(L, "4"), (M, "2")]));
    assert!(keeps(relation, cells, &[(N, "4")]));
}

#[test]
fn at_most_so_many_of_some_features_change() {
    let relation = "[[relation]]\nat_most_changes = 1\nof = [\"l\", \"m\", \"n\"]\n";
    let cells = ["3", "5", "0", "own"];
    assert!(keeps(relation, cells, &[(L, "4")]));
    assert!(keeps(relation, cells, &[(L, "4"), (KIND, "rent")]));
    assert!(!keeps(relation, cells, &[(L, "4"), (N, "2")]));
}

#[test]
fn rules_compare_values_in_all_four_directions() {
    for (when, then) in [
        ("increase", "increase"),
        ("increase", "decrease"),
        ("decrease", "increase"),
        ("decrease", "decrease"),
    ] {
        let relation = format!("[[relation]]\nif_{when}s = \"l\"\nmust_{then} = \"m\"\n");
        let to = |direction: &str| if direction == "increase" { ["8", "2"] } else { ["2", "8"] };
        let ([moved, other], [right, wrong]) = (to(when), to(then));
        let keeps = |changes: &[(usize, &str)]| keeps(&relation, ["5", "5", "0", "own"], changes);
        assert!(keeps(&[(L, moved), (M, right)]), "{when}, {then}");
        assert!(!keeps(&[(L, moved), (M, wrong)]) && !keeps(&[(L, moved)]), "{when}, {then}");
        assert!(keeps(&[(L, other)]) && keeps(&[(M, wrong)]), "{when}, {then}");
    }
}

#[test]
fn a_rule_holds_within_one_bin_too() {
    let number = |name: &str| format!("name = \"{name}\"\nkind = \"discrete\"\nbins = 2\nchange = \"free\"");
    let relation = "[[relation]]\nif_increases = \"x\"\nmust_increase = \"y\"\n";
    let rows = (0..200).map(|n| format!("{n},{n}"));
    let world = World::new(&[&number("x"), &number("y")], relation, rows);
    let candidates =
        world.candidates(&["10", "10"], &par_data::Wishes::default(), par_data::Reach::AllValues);
    let own = candidates.of(0)[0].code;
    let (place, within) = candidates
        .of(0)
        .iter()
        .enumerate()
        .skip(1)
        .find(|(_, one)| one.code == own && one.number > 10.0)
        .expect("a higher number of the person's own bin");
    assert!(!candidates.keeps_relations(&[place as u16, 0]), "{} is a rise", within.number);
    assert!(candidates.keeps_relations(&[place as u16, place as u16]));
}

#[test]
fn a_feature_that_needs_an_impossible_move_is_not_free() {
    let relation = "[[relation]]\nif_increases = \"l\"\nmust_increase = \"m\"\n\
                    [[relation]]\nif_increases = \"m\"\nmust_decrease = \"n\"\n\
                    [[relation]]\ntogether = [\"n\", \"kind\"]\n";
    let world = world(relation);
    let numbers = |cells: [&str; 4], locks: &[usize], feature: usize| {
        let wishes = par_data::Wishes { locks, ..par_data::Wishes::default() };
        super::numbers(&world.candidates(&cells, &wishes, par_data::Reach::Codes), feature)
    };
    assert_eq!(numbers(["8", "8", "5", "own"], &[], L).len(), 9);
    assert_eq!(numbers(["8", "8", "5", "own"], &[M], L).len(), 8, "it cannot rise alone");
    assert_eq!(numbers(["8", "8", "0", "own"], &[], L).len(), 8, "nor can what it needs");
    assert_eq!(numbers(["8", "8", "5", "own"], &[KIND], N).len(), 0, "both or none");
    assert_eq!(numbers(["8", "8", "5", "own"], &[KIND], M).len(), 8, "and so on");
}

#[test]
fn policies_are_kept_beside_the_classifier() {
    let policies = "[[accept]]\nrequire = { kind = \"own\", l = \"2..\" }\n\
                    [[accept]]\nwhen = { m = \"5..\" }\nrequire = { n = [1, 3] }\nbecause = \"owes a lot\"\n";
    let world = world(policies);
    let broken = |cells: [&str; 4]| world.constraints.broken_policies(&world.own(&cells));
    assert_eq!(broken(["2", "4", "9", "own"]), Vec::<usize>::new());
    assert_eq!(broken(["1", "4", "9", "own"]), [0]);
    assert_eq!(broken(["1", "5", "2", "rent"]), [0, 1]);
    assert_eq!(broken(["", "5", "3", "own"]), [0], "an unknown cell does not meet a requirement");
    assert_eq!(broken(["2", "", "2", "own"]), [1], "an unknown condition may hold");
    let candidates = world.usual(&["1", "5", "2", "own"]);
    let keeps = |changes: &[(usize, &str)]| {
        candidates.keeps_policies(&world.row(&candidates, changes).expect("a row"))
    };
    assert!(!keeps(&[]) && !keeps(&[(L, "2")]) && !keeps(&[(N, "3")]));
    assert!(keeps(&[(L, "2"), (N, "3")]) && keeps(&[(L, "2"), (M, "4")]));
    assert!(
        candidates.keeps_relations(&world.row(&candidates, &[]).expect("a row")),
        "policies forbid no change"
    );
}
