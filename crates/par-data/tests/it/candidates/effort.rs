use par_data::{Candidates, Reach, Wishes};

use super::World;

/// The effort of the change to a number.
fn effort(candidates: &Candidates<'_>, number: f64) -> f64 {
    let found = candidates.of(0).iter().find(|candidate| candidate.number == number);
    found.unwrap_or_else(|| panic!("{number} is no candidate")).effort
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn a_number_costs_its_shift_in_percentile_times_the_weight() {
    let world = World::bins("change = \"free\"");
    let usual = world.usual(&["100"]);
    assert_near(effort(&usual, 200.0), 2.0 * 0.25);
    assert_near(effort(&usual, 99.0), 2.0 * 0.01);
    let hard = World::bins("change = \"free\"\neffort = \"hard\"");
    assert_near(effort(&hard.usual(&["100"]), 300.0), 4.0 * 0.5);
    let half_a_bin = world.candidates(&["150"], &Wishes::default(), Reach::AllValues);
    assert_near(effort(&half_a_bin, 199.0), 2.0 * 0.25 * 49.0 / 99.0);
    assert_eq!(usual.of(0)[0].effort, 0.0, "what stays costs nothing");
}

#[test]
fn many_rare_numbers_still_differ_in_percentile() {
    let world = World::values("change = \"free\"");
    let candidates = world.usual(&["10"]);
    let (near, far) = (effort(&candidates, 30.0), effort(&candidates, 90.0));
    assert!((near - 2.0 * 0.2).abs() <= 2.0 * 0.11 && (far - 2.0 * 0.8).abs() <= 2.0 * 0.11, "{near}, {far}");
}

#[test]
fn with_per_the_effort_grows_with_the_distance() {
    let world = World::bins("change = \"free\"\neffort = 3\nper = 50");
    let candidates = world.usual(&["150"]);
    assert_near(effort(&candidates, 200.0), 3.0);
    assert_near(effort(&candidates, 300.0), 9.0);
    assert_near(effort(&candidates, 99.0), 3.0 * 51.0 / 50.0);
}

#[test]
fn every_change_costs_something() {
    let world = World::values("change = \"free\"\nper = 1000000");
    assert_near(effort(&world.usual(&["50"]), 51.0), 2.0 * 0.01);
}

#[test]
fn ordered_categories_cost_percentiles_or_places_and_others_their_weight() {
    let values = "kind = \"ordinal\"\nvalues = [\"low\", \"middle\", \"high\"]\nchange = \"free\"";
    let rows = || ["low"; 50].into_iter().chain(["middle"; 30]).chain(["high"; 20]).map(String::from);
    let efforts = |feature: &str| -> Vec<f64> {
        let world = World::new(&[&format!("name = \"x\"\n{feature}")], "", rows());
        world.usual(&["low"]).of(0)[1..].iter().map(|candidate| candidate.effort).collect()
    };
    // The middles of the three groups are at 25 %, 65 % and 90 %.
    let by_percentile = efforts(values);
    assert_near(by_percentile[0], 2.0 * 0.40);
    assert_near(by_percentile[1], 2.0 * 0.65);
    assert_eq!(efforts(&format!("{values}\neffort = \"easy\"\nper = 1")), [1.0, 2.0]);
    let nominal = values.replace("ordinal", "nominal");
    assert_eq!(efforts(&nominal), [2.0, 2.0]);
    assert_eq!(efforts(&format!("{nominal}\neffort = \"very hard\"")), [8.0, 8.0]);
}

#[test]
fn leaving_a_special_number_costs_the_weight() {
    let x = "name = \"x\"\nkind = \"continuous\"\nbins = 4\nspecial = [-9]\ntransitions = { \"-9\" = \"leave\" }\n\
             change = \"free\"\neffort = \"some\"\nper = 10\ntakes = \"6 months per 500\"";
    let world = World::new(&[x], "", (0..400).map(|number| number.to_string()).chain(["-9".to_string()]));
    for candidate in &world.usual(&["-9"]).of(0)[1..] {
        assert_eq!((candidate.effort, candidate.months), (2.0, 6), "it has no distance");
    }
}

#[test]
fn a_person_may_have_a_weight_of_their_own() {
    let world = World::bins("change = \"free\"\neffort = \"hard\"");
    let efforts = [(0, 100.0), (0, 1.0)];
    let wishes = Wishes { efforts: &efforts, ..Wishes::default() };
    let candidates = world.candidates(&["100"], &wishes, Reach::Codes);
    assert_near(effort(&candidates, 300.0), 0.5);
    assert_near(effort(&candidates, 200.0), 0.25);
}

#[test]
fn the_effort_of_a_row_is_that_of_its_changes_together() {
    let feature = |name: &str| {
        format!("name = \"{name}\"\nkind = \"discrete\"\nbins = 4\nchange = \"free\"\nper = 100")
    };
    let rows = (0..400).map(|number| format!("{number},{number}"));
    let world = World::new(&[&feature("x"), &feature("y")], "", rows);
    let wishes = Wishes { max_effort: Some(3.5), ..Wishes::default() };
    let candidates = world.candidates(&["100", "100"], &wishes, Reach::Codes);
    let of = |changes: &[(usize, &str)]| {
        let row = world.row(&candidates, changes).expect("a row");
        (candidates.effort(&row), candidates.is_affordable(&row))
    };
    assert_eq!(of(&[]), (0.0, true));
    assert_eq!(of(&[(0, "200")]), (2.0, true));
    assert_eq!(of(&[(0, "200"), (1, "200")]), (4.0, false));
    assert_eq!(super::numbers(&candidates, 0), [99.0, 200.0], "300 alone costs more than 3.5");
}

#[test]
fn any_row_has_an_effort_whether_it_is_allowed_or_not() {
    let number = |name: &str, rest: &str| {
        format!("name = \"{name}\"\nkind = \"discrete\"\nbins = 4\nmissing = true\n{rest}")
    };
    let features = [
        number("x", "change = \"free\"\nper = 100"),
        number("y", "change = \"never\"\nspecial = [-1]"),
        "name = \"job\"\nkind = \"nominal\"\nchange = \"free\"\neffort = \"hard\"".to_string(),
    ];
    let rows =
        (0..400).map(|number| format!("{number},{},{}", number % 100 - 1, ["a", "b"][number as usize % 2]));
    let world = World::new(&features.each_ref().map(String::as_str), "", rows);
    let effort = |to: [&str; 3]| world.constraints.effort(&world.own(&["100", "50", "a"]), &world.own(&to));
    assert_eq!(effort(["100", "50", "a"]), 0.0);
    assert_near(effort(["200", "50", "a"]), 2.0);
    let forbidden = effort(["100", "90", "a"]);
    assert!((forbidden - 2.0 * 0.4).abs() < 0.05, "{forbidden}");
    assert_near(effort(["200", "50", "b"]), 2.0 + 4.0);
    // Unknown and special values are at no distance.
    assert_near(effort(["", "50", "a"]), 2.0);
    assert_near(effort(["100", "-1", "a"]), 2.0);
    assert_near(world.constraints.effort(&world.own(&["", "-1", "a"]), &world.own(&["0", "0", "a"])), 4.0);
}
