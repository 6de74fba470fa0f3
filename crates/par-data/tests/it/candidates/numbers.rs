use par_data::{Reach, Wishes};

use super::{World, numbers};

/// The other numbers of a person whose `x` is this one.
fn others(world: &World, own: &str, reach: Reach) -> Vec<f64> {
    numbers(&world.candidates(&[own], &Wishes::default(), reach), 0)
}

#[test]
fn steps_are_relative_to_the_persons_own_number() {
    for (step, expected) in [
        ("up = 3, down = 2", vec![48.0, 49.0, 51.0, 52.0, 53.0]),
        ("up = 4, down = 4, at_least = 3", vec![46.0, 47.0, 53.0, 54.0]),
        ("up = 12, down = 12, grid = 6", vec![42.0, 48.0, 54.0, 60.0]),
        ("up = 12, down = 24, at_least = 5, grid = 6", vec![30.0, 36.0, 42.0, 60.0]),
        ("up = 1, down = 0", vec![51.0]),
        ("up = 5, down = 5, grid = 100", vec![]),
    ] {
        let world = World::values(&format!("change = \"free\"\nstep = {{ {step} }}"));
        assert_eq!(others(&world, "50", Reach::Codes), expected, "{step}");
    }
}

#[test]
fn a_direction_holds_beside_a_step() {
    let rises = World::values("change = \"increase\"\nstep = { up = 2 }");
    assert_eq!(others(&rises, "50", Reach::Codes), [51.0, 52.0]);
    let falls = World::values("change = \"decrease\"\nstep = { down = 6, grid = 4 }");
    assert_eq!(others(&falls, "50", Reach::Codes), [44.0, 48.0]);
}

#[test]
fn a_code_is_entered_at_its_nearest_number() {
    let world = World::bins("change = \"free\"");
    assert_eq!(others(&world, "150", Reach::Codes), [99.0, 200.0, 300.0]);
    let stepped = World::bins("change = \"free\"\nstep = { up = 60, down = 60 }");
    assert_eq!(others(&stepped, "150", Reach::Codes), [99.0, 200.0]);
    assert_eq!(others(&stepped, "10", Reach::Codes), Vec::<f64>::new(), "the next bin begins at 100");
    let grid = World::bins("change = \"free\"\nstep = { grid = 70 }");
    assert_eq!(others(&grid, "150", Reach::Codes), [70.0, 210.0, 350.0]);
    let rare = World::bins("change = \"free\"\nstep = { grid = 250 }");
    assert_eq!(others(&rare, "150", Reach::Codes), [0.0, 250.0], "no multiple lies in the last bin");
}

#[test]
fn a_classifier_of_values_has_the_most_common_and_the_farthest_too() {
    // Every bin has a number that ten more people have.
    let x = "name = \"x\"\nkind = \"discrete\"\nbins = 4\nchange = \"free\"\nbounds = [0, 399]";
    let common = [40, 140, 240, 340];
    let rows = (0..400).chain(common.into_iter().flat_map(|number| [number; 10]));
    let world = World::new(&[x], "", rows.map(|number: i32| number.to_string()));
    let nearest = others(&world, "150", Reach::Codes);
    assert_eq!(nearest.len(), 3);
    let values = others(&world, "150", Reach::Values);
    assert!(nearest.iter().all(|number| values.contains(number)));
    assert!(common.iter().all(|number| values.contains(&f64::from(*number))), "{values:?}");
    assert_eq!(values.len(), 3 + 4, "of the person's own code only the most common");
    let all = others(&world, "150", Reach::AllValues);
    assert!(values.iter().all(|number| all.contains(number)));
    assert_eq!(all.len(), 3 * 3 + 3, "the ends of the person's own code too: {all:?}");
}

#[test]
fn only_a_classifier_of_values_gets_numbers_of_the_persons_own_code() {
    let world = World::bins("change = \"free\"\nstep = { up = 20, down = 20, grid = 10 }");
    let own_code = |reach| -> Vec<f64> {
        let candidates = world.candidates(&["150"], &Wishes::default(), reach);
        let own = candidates.of(0)[0].code;
        let same = candidates.of(0)[1..].iter().filter(|candidate| candidate.code == own);
        same.map(|candidate| candidate.number).collect()
    };
    assert_eq!(own_code(Reach::Codes), Vec::<f64>::new());
    assert_eq!(own_code(Reach::AllValues), [130.0, 170.0]);
}

#[test]
fn numbers_have_the_decimals_of_their_grid_and_no_rounding_errors() {
    let x = "name = \"x\"\nkind = \"continuous\"\nbins = 1000\nchange = \"increase\"\nstep = { up = 0.5, grid = 0.1 }";
    let world = World::new(&[x], "", (0..100).map(|number| format!("{}", f64::from(number) / 10.0)));
    let candidates = world.usual(&["0.1"]);
    assert_eq!(world.texts(&candidates, 0), ["0.2", "0.3", "0.4", "0.5", "0.6"]);
    for candidate in candidates.of(0) {
        let text = candidate.number.to_string();
        assert_eq!(world.discretizer.encode_row(&[&text]).expect("a code").codes(), [candidate.code]);
    }
}

#[test]
fn a_range_names_the_numbers_of_a_code_that_would_do_as_well() {
    let world = World::bins("change = \"free\"\nstep = { up = 80, grid = 10 }");
    let candidates = world.usual(&["150"]);
    let range = |number: f64| {
        let candidate = candidates.of(0).iter().find(|candidate| candidate.number == number);
        candidates.range(0, *candidate.expect("a candidate"))
    };
    assert_eq!(range(200.0), Some([200.0, 230.0]), "as far as the step and the grid reach");
    assert_eq!(range(150.0), None, "nothing changes");
    let single = World::values("change = \"free\"");
    let candidates = single.usual(&["50"]);
    assert_eq!(candidates.range(0, candidates.of(0)[1]), None, "a code of one number");
}

#[test]
fn bounds_and_allowed_numbers_limit_candidates() {
    let bounded = World::values("change = \"free\"\nbounds = [48, 52]");
    assert_eq!(others(&bounded, "50", Reach::Codes), [48.0, 49.0, 51.0, 52.0]);
    assert_eq!(others(&bounded, "60", Reach::Codes), [48.0, 49.0, 50.0, 51.0, 52.0], "from outside too");
    let allowed = World::bins("change = \"free\"\nallowed = [20, 60, 210]");
    assert_eq!(others(&allowed, "150", Reach::AllValues), [20.0, 60.0, 210.0]);
    assert_eq!(others(&allowed, "150", Reach::Codes), [60.0, 210.0], "the nearest of each code");
}
