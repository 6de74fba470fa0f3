use par_data::{Candidates, Reach, Wishes};

use super::World;

const AGE: &str = "name = \"age\"\nkind = \"discrete\"\nbins = 100\nunit = \"years\"\nchange = \"with-time\"";

/// A clock in years, and a number that changes by so many months.
fn world(takes: &str, rest: &str) -> World {
    let x = format!(
        "name = \"x\"\nkind = \"discrete\"\nbins = 100\nchange = \"increase\"\ntakes = \"{takes}\"\n{rest}"
    );
    World::new(&[AGE, &x], "", (0..100).map(|number| format!("{number},{number}")))
}

/// Each duration's shortest and longest time and where the clock, the first feature, stands.
fn durations(candidates: &Candidates<'_>) -> Vec<(u32, u32, f64)> {
    let of = |duration: &par_data::Duration| {
        (duration.shortest, duration.longest, candidates.chosen(&duration.row, 0).number)
    };
    candidates.durations().iter().map(of).collect()
}

#[test]
fn a_change_takes_time_by_itself_or_by_its_distance() {
    let months = |takes: &str, rest: &str| -> Vec<u32> {
        let world = world(takes, &format!("step = {{ up = 3 }}\n{rest}"));
        world.usual(&["30", "10"]).of(1).iter().map(|candidate| candidate.months).collect()
    };
    assert_eq!(months("6 months", ""), [0, 6, 6, 6]);
    assert_eq!(months("6 months per 1", ""), [0, 6, 12, 18]);
    assert_eq!(months("5 months per 2", ""), [0, 3, 5, 8], "rounded up to months");
    assert_eq!(months("1 year", ""), [0, 12, 12, 12]);
    assert_eq!(months("2 weeks", ""), [0, 1, 1, 1]);
}

#[test]
fn rounding_errors_do_not_cost_a_month() {
    let x =
        "name = \"x\"\nkind = \"continuous\"\nbins = 100\nchange = \"increase\"\ntakes = \"1 month per 0.1\"";
    let world = World::new(&[x], "", (0..50).map(|number| format!("{}", f64::from(number) / 10.0)));
    for (place, candidate) in world.usual(&["0"]).of(0).iter().enumerate() {
        assert_eq!(candidate.months as usize, place, "{}", candidate.number);
    }
}

#[test]
fn changes_run_in_parallel() {
    let feature = |name: &str, takes: &str| {
        format!(
            "name = \"{name}\"\nkind = \"nominal\"\nvalues = [\"a\", \"b\"]\nchange = \"free\"\ntakes = \"{takes}\""
        )
    };
    let world = World::new(
        &[&feature("x", "2 months"), &feature("y", "7 months")],
        "",
        ["a,a", "b,b"].map(String::from),
    );
    let candidates = world.usual(&["a", "a"]);
    let months =
        |changes: &[(usize, &str)]| candidates.months(&world.row(&candidates, changes).expect("a row"));
    assert_eq!(months(&[]), 0);
    assert_eq!(months(&[(0, "b")]), 2);
    assert_eq!(months(&[(0, "b"), (1, "b")]), 7);
}

#[test]
fn without_a_clock_there_is_one_duration() {
    let world = World::values("change = \"free\"\ntakes = \"6 months per 1\"");
    let candidates = world.usual(&["50"]);
    let [duration] = candidates.durations() else { panic!("one search is enough") };
    assert_eq!((duration.shortest, duration.longest), (0, u32::MAX));
    assert_eq!(duration.row, [0]);
}

#[test]
fn clocks_move_by_whole_units_and_nobody_acts_on_them() {
    let world = world("6 months per 1", "step = { up = 4 }");
    let candidates = world.usual(&["30", "10"]);
    assert_eq!(
        durations(&candidates),
        [(0, 6, 30.0), (12, 18, 31.0), (24, 24, 32.0)],
        "a year counts once it is over"
    );
    assert!(!candidates.is_free(0) && candidates.is_free(1));
    assert!(candidates.of(0).iter().all(|candidate| (candidate.effort, candidate.months) == (0.0, 0)));
    for duration in candidates.durations() {
        assert_eq!(duration.row[1], 0, "waiting alone changes nothing else");
        assert_eq!(candidates.effort(&duration.row), 0.0);
    }
}

#[test]
fn a_clock_in_months_or_with_decimals_moves_by_its_unit() {
    let clock = |unit: &str, cells: [&str; 2]| {
        let since = format!(
            "name = \"since\"\nkind = \"continuous\"\nbins = 1000\nunit = \"{unit}\"\nchange = \"with-time\""
        );
        let x = "name = \"x\"\nkind = \"nominal\"\nvalues = [\"a\", \"b\"]\nchange = \"free\"\ntakes = \"6 months\"";
        let rows = (0..20).map(|number| format!("{},{}", cells[0], if number % 2 == 0 { "a" } else { "b" }));
        let world = World::new(&[&since, x], "", rows.chain([cells[1].to_string() + ",a"]));
        durations(&world.usual(&[cells[0], "a"]))
    };
    assert_eq!(clock("months", ["3", "40"]), [(0, 0, 3.0), (6, 6, 9.0)]);
    assert_eq!(clock("quarters", ["3", "40"]), [(0, 0, 3.0), (6, 6, 5.0)]);
    assert_eq!(clock("years", ["3.2", "40.5"]), [(0, 0, 3.2), (6, 6, 3.7)]);
    assert_eq!(clock("years", ["3", "40"]), [(0, 6, 3.0)]);
}

#[test]
fn a_clock_whose_cell_is_unknown_or_special_stands_still() {
    let age = "name = \"age\"\nkind = \"discrete\"\nunit = \"months\"\nchange = \"with-time\"\nmissing = true\nspecial = [-1]";
    let x =
        "name = \"x\"\nkind = \"nominal\"\nvalues = [\"a\", \"b\"]\nchange = \"free\"\ntakes = \"6 months\"";
    let world = World::new(&[age, x], "", ["1,a", "7,b", "-1,a", ",b"].map(String::from));
    assert_eq!(durations(&world.usual(&["1", "a"])), [(0, 0, 1.0), (6, 6, 7.0)]);
    for cell in ["", "-1"] {
        assert_eq!(world.usual(&[cell, "a"]).durations().len(), 1, "{cell:?}");
    }
}

#[test]
fn many_durations_are_rounded_up_to_a_dozen_and_stay_within_the_wish() {
    let world = world("1 month per 1", "");
    for within in [None, Some(37)] {
        let wishes = Wishes { within, ..Wishes::default() };
        let candidates = world.candidates(&["30", "10"], &wishes, Reach::Codes);
        let mut months: Vec<u32> = candidates.of(1).iter().map(|candidate| candidate.months).collect();
        for candidate in candidates.of(1) {
            assert!(f64::from(candidate.months) >= candidate.number - 10.0, "{candidate:?}");
            assert!(within.is_none_or(|most| candidate.months <= most), "{candidate:?}");
            assert!(candidate.months % 3 == 0 || Some(candidate.months) == within, "{candidate:?}");
        }
        months.dedup();
        assert!((6..=12).contains(&months.len()), "{months:?}");
        assert!(candidates.durations().len() <= 12);
        for duration in candidates.durations() {
            let years = f64::from(duration.shortest / 12);
            assert_eq!(candidates.chosen(&duration.row, 0).number, 30.0 + years);
        }
    }
}
