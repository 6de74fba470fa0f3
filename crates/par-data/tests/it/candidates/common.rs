use par_data::{Candidate, Reach, Wishes};

use super::{World, numbers};

const COMMON: Wishes<'static> = Wishes {
    locks: &[],
    limits: &par_data::Limits::NONE,
    efforts: &[],
    max_effort: None,
    within: None,
    no_harm: false,
    common: true,
};

/// One whole number from 0 to 399 in four bins. Of the accepted people of the bin from 200 on, half have 250 and a
/// quarter 290; those of the last bin are even.
fn world(rest: &str) -> World {
    let x = format!("name = \"x\"\nkind = \"discrete\"\nbins = 4\nchange = \"free\"\n{rest}");
    let mut world = World::new(&[&x], "", (0..400).map(|number| number.to_string()));
    let even = (0..200).chain(200..225).chain(300..400).map(f64::from);
    let numbers = even.chain([250.0; 50]).chain([290.0; 25]).collect();
    world.discretizer.learn_values(vec![numbers]);
    world.constraints = par_data::Constraints::new(&world.discretizer);
    world
}

fn others(world: &World, own: &str, reach: Reach) -> Vec<f64> {
    numbers(&world.candidates(&[own], &COMMON, reach), 0)
}

#[test]
fn a_common_number_is_preferred_to_the_nearest() {
    let world = world("");
    assert_eq!(numbers(&world.usual(&["150"]), 0), [99.0, 200.0, 300.0], "the nearest, unless asked");
    let codes = others(&world, "150", Reach::Codes);
    assert_eq!(codes[1], 250.0, "what half of the people have: {codes:?}");
    assert!((350.0 - codes[2]).abs() < 5.0, "where nothing is common, the same place: {codes:?}");
}

#[test]
fn the_place_of_the_persons_own_number_counts_beside_how_common_a_number_is() {
    let world = world("");
    let last_bin = |own: &str| others(&world, own, Reach::Codes)[2];
    let places = ["105", "130", "170", "195"].map(last_bin);
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
    assert_eq!(others(&world, "199", Reach::Codes)[1], 290.0, "half as common as 250, at a nearer place");
}

#[test]
fn rarity_ranks_the_numbers_of_one_code_only() {
    let world = world("");
    let candidates = world.candidates(&["150"], &COMMON, Reach::AllValues);
    assert_eq!(candidates.of(0)[0].rarity, 0.0, "what stays costs nothing");
    let of_code = |code: u16| candidates.of(0)[1..].iter().filter(move |candidate| candidate.code == code);
    for code in 0..4 {
        let best = of_code(code).map(|candidate| candidate.rarity).fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(best, 0.0, "of code {code}");
    }
    let rarity = |number: f64| {
        let found = of_code(2).find(|candidate| candidate.number == number);
        found.map(|candidate: &Candidate| candidate.rarity).expect("a candidate")
    };
    assert_eq!(rarity(250.0), 0.0);
    assert!(rarity(200.0) < -3.0, "one in a hundred has 200, which is far from the person's place");
}

#[test]
fn steps_and_limits_bound_common_numbers_and_the_nearest_stands_in() {
    let grid = world("step = { grid = 20 }");
    let codes = others(&grid, "150", Reach::Codes);
    assert!(codes.iter().all(|number| number % 20.0 == 0.0), "{codes:?}: 250 is not on the grid");
    let short = world("step = { up = 60 }");
    assert!(others(&short, "150", Reach::Codes).iter().all(|number| *number <= 210.0));
    let cheap = Wishes { max_effort: Some(0.3), ..COMMON };
    let near = numbers(&world("").candidates(&["150"], &cheap, Reach::Codes), 0);
    assert_eq!(near, [99.0, 200.0], "250 is too much effort");
}

#[test]
fn numbers_toward_the_persons_own_cross_bins_and_stay_legal() {
    let toward_own = |world: &World, own: &str, to: f64| {
        let candidates = world.candidates(&[own], &COMMON, Reach::AllValues);
        let candidate = candidates.of(0).iter().find(|one| one.number == to).expect("a candidate");
        let toward_own = candidates.toward_own(0, *candidate)?;
        Some([0.0, 0.25, 0.5, 1.0].map(|share| toward_own.at(share)))
    };
    assert_eq!(toward_own(&world(""), "110", 250.0), Some([250.0, 215.0, 180.0, 111.0]));
    assert_eq!(toward_own(&world(""), "330", 250.0), Some([250.0, 270.0, 290.0, 329.0]));
    assert_eq!(toward_own(&world("step = { grid = 50 }"), "110", 250.0), Some([250.0, 200.0, 200.0, 150.0]));
    let listed = world("allowed = [150, 250, 320]");
    assert_eq!(toward_own(&listed, "110", 250.0), Some([250.0, 250.0, 150.0, 150.0]));
    let never_there = world("allowed = [250, 320]");
    assert_eq!(toward_own(&never_there, "110", 320.0), Some([320.0, 250.0, 250.0, 250.0]), "not below 200");
    assert_eq!(toward_own(&world(""), "110", 110.0), None, "what stays");
    assert_eq!(toward_own(&world("special = [180]"), "110", 250.0), None, "180 means something else");
}

#[test]
fn no_number_that_means_something_else_is_a_candidate() {
    let special = world("special = [250, 350]");
    for own in ["105", "150", "195"] {
        let others = others(&special, own, Reach::AllValues);
        assert!(!others.contains(&250.0) && !others.contains(&350.0), "{others:?}");
    }
}
