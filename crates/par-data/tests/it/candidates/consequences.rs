use par_data::{Reach, Wishes};

use super::{World, numbers};

/// A number from 0 to 39 with a code for each value.
fn number(name: &str, change: &str) -> String {
    format!("name = \"{name}\"\nkind = \"continuous\"\nbins = 1000\nmissing = true\nchange = \"{change}\"")
}

/// `a` and `b`, which the person acts on, and `c`, which follows.
fn world(relation: &str, rest: &str) -> World {
    let c = number("c", "follows") + "\n" + rest;
    let rows = (0..40).map(|n| format!("{},{},{}", n, 1 + n % 7, f64::from(n) / 4.0));
    World::new(
        &[&number("a", "free"), &number("b", "free"), &c],
        &format!("[[relation]]\n{relation}\ngives = \"c\"\n"),
        rows.chain([",1,1", "1,,1", "1,1,"].map(String::from)),
    )
}

/// The number of `c` once `a` and `b` are these.
fn c_of(world: &World, cells: [&str; 3], changes: &[(usize, &str)]) -> Option<f64> {
    let candidates = world.usual(&cells);
    let row = world.row(&candidates, changes)?;
    assert!(candidates.keeps_relations(&row));
    Some(candidates.chosen(&row, 2).number)
}

#[test]
fn a_consequence_is_computed_from_its_sources() {
    for (relation, expected) in [
        ("sum = [\"a\", \"b\"]", 12.0),
        ("difference = [\"a\", \"b\"]", 8.0),
        ("product = [\"a\", \"b\"]", 20.0),
        ("ratio = [\"a\", \"b\"]", 5.0),
    ] {
        let world = world(relation, "");
        // The person's own row breaks the relation, which binds only once a source changes.
        assert_eq!(c_of(&world, ["6", "2", "3"], &[]), Some(3.0), "{relation}");
        assert_eq!(c_of(&world, ["6", "2", "3"], &[(0, "10")]), Some(expected), "{relation}");
    }
}

#[test]
fn a_consequence_has_the_decimals_of_its_column() {
    let world = world("ratio = [\"a\", \"b\"]", "");
    assert_eq!(c_of(&world, ["10", "2", "5"], &[(1, "3")]), Some(3.33));
    assert_eq!(c_of(&world, ["0", "2", "0"], &[(1, "3")]), Some(0.0));
}

#[test]
fn a_consequence_outside_its_bounds_or_without_a_value_makes_the_action_illegal() {
    let bounded = world("sum = [\"a\", \"b\"]", "bounds = [0, 12]");
    assert_eq!(c_of(&bounded, ["6", "2", "8"], &[(0, "10")]), Some(12.0));
    assert_eq!(c_of(&bounded, ["6", "2", "8"], &[(0, "11")]), None);
    assert_eq!(
        c_of(&bounded, ["6", "2", "8"], &[(0, "11"), (1, "1")]),
        Some(12.0),
        "another action makes room"
    );
    let ranged = world("difference = [\"a\", \"b\"]", "range = [0, inf]");
    assert_eq!(c_of(&ranged, ["6", "2", "4"], &[(0, "1")]), None);
    let ratio = World::new(
        &[&number("a", "free"), &number("b", "free"), &number("c", "follows")],
        "[[relation]]\nratio = [\"a\", \"b\"]\ngives = \"c\"\n",
        (0..10).map(|n| format!("{n},{n},{n}")),
    );
    assert_eq!(c_of(&ratio, ["6", "2", "3"], &[(1, "0")]), None, "nothing is divided by zero");
}

#[test]
fn a_consequence_costs_nothing_and_is_no_change() {
    let world = world("sum = [\"a\", \"b\"]", "");
    let candidates = world.usual(&["6", "2", "8"]);
    assert!(candidates.is_consequence(2) && !candidates.is_free(2));
    assert_eq!(candidates.free(), [0, 1]);
    assert!(candidates.has_consequences(0) && !candidates.has_consequences(2));
    assert!(candidates.of(2).iter().all(|candidate| (candidate.effort, candidate.months) == (0.0, 0)));
    let row = world.row(&candidates, &[(0, "7")]).expect("a row");
    assert_eq!(candidates.effort(&row), candidates.chosen(&row, 0).effort);
    // Every combination of its sources gives a candidate.
    for a in world.texts(&candidates, 0) {
        for b in world.texts(&candidates, 1) {
            let row = world.row(&candidates, &[(0, &a), (1, &b)]).expect("a row");
            let sum = candidates.chosen(&row, 0).number + candidates.chosen(&row, 1).number;
            assert_eq!(candidates.chosen(&row, 2).number, sum);
            let text = sum.to_string();
            let code = world.discretizer.encode_row(&[&a, &b, &text]).expect("a code").codes()[2];
            assert_eq!(candidates.chosen(&row, 2).code, code);
        }
    }
}

#[test]
fn what_follows_from_an_unknown_cell_holds_the_other_sources() {
    let world = world("sum = [\"a\", \"b\"]", "");
    for cells in [["", "2", "3"], ["6", "", "3"], ["6", "2", ""]] {
        let candidates = world.usual(&cells);
        assert_eq!(candidates.free_features(), 0, "{cells:?}");
        assert_eq!([0, 1, 2].map(|feature| candidates.of(feature).len()), [1; 3], "{cells:?}");
    }
}

#[test]
fn time_goes_on_where_a_consequence_of_a_clock_is_unknown() {
    let age = "name = \"age\"\nkind = \"discrete\"\nbins = 100\nunit = \"years\"\nchange = \"with-time\"";
    let x = "name = \"x\"\nkind = \"discrete\"\nchange = \"increase\"\ntakes = \"1 year per 1\"";
    let world = World::new(
        &[age, &number("b", "free"), &number("c", "follows"), x],
        "[[relation]]\nsum = [\"age\", \"b\"]\ngives = \"c\"\n",
        (0..40).map(|n| format!("{n},{},{n},{}", n % 7, n % 4)),
    );
    for cells in [["28", "", "30", "0"], ["28", "2", "", "0"]] {
        let candidates = world.usual(&cells);
        assert_eq!(candidates.free(), [3], "{cells:?}");
        let ages: Vec<f64> =
            candidates.durations().iter().map(|one| candidates.chosen(&one.row, 0).number).collect();
        assert_eq!(ages, [28.0, 29.0, 30.0, 31.0], "{cells:?}");
        assert!(candidates.durations().iter().all(|one| one.row[2] == 0), "it stays as it is");
    }
    let known = world.usual(&["28", "2", "30", "0"]);
    assert_eq!(known.chosen(&known.durations()[3].row, 2).number, 33.0);
}

#[test]
fn an_unknown_cell_holds_what_the_person_acts_on_through_a_chain() {
    let age = "name = \"age\"\nkind = \"discrete\"\nbins = 100\nunit = \"years\"\nchange = \"with-time\"";
    let x = "name = \"x\"\nkind = \"discrete\"\nchange = \"increase\"\ntakes = \"1 year per 1\"";
    let [a, b, c, d] = [("a", "free"), ("b", "never"), ("c", "follows"), ("d", "follows")]
        .map(|(name, change)| number(name, change));
    let world = World::new(
        &[age, x, &a, &b, &c, &d],
        "[[relation]]\nsum = [\"age\", \"a\"]\ngives = \"c\"\n\
         [[relation]]\nsum = [\"c\", \"b\"]\ngives = \"d\"\n",
        (0..40).map(|n| format!("{n},{},{n},{n},{n},{n}", n % 4)),
    );
    let known = world.usual(&["28", "0", "2", "3", "30", "33"]);
    assert_eq!((known.free(), known.durations().len()), (&[1, 2][..], 4));
    let unknown = world.usual(&["28", "0", "2", "", "30", "33"]);
    assert_eq!((unknown.free(), unknown.durations().len()), (&[1][..], 4), "time goes on");
    for (years, duration) in (0..).zip(unknown.durations()) {
        assert_eq!(unknown.chosen(&duration.row, 4).number, 30.0 + f64::from(years));
        assert_eq!(duration.row[5], 0, "what is unknown cannot be computed");
    }
}

#[test]
fn a_special_number_suspends_consequences_of_it() {
    let special = |name: &str, change: &str| number(name, change) + "\nspecial = [-9]";
    let a = special("a", "free") + "\ntransitions = { \"-9\" = \"leave\" }";
    let world = World::new(
        &[&a, &number("b", "free"), &special("c", "follows")],
        "[[relation]]\ndifference = [\"a\", \"b\"]\ngives = \"c\"\n",
        (0..30).map(|n| format!("{n},{n},{n}")).chain(["-9,1,-9".to_string()]),
    );
    assert_eq!(c_of(&world, ["-9", "2", "7"], &[(1, "5")]), Some(7.0), "there is nothing to subtract from");
    assert_eq!(c_of(&world, ["-9", "2", "7"], &[(0, "20")]), Some(18.0), "once it is a number, it counts");
    assert_eq!(c_of(&world, ["-9", "2", "-9"], &[(0, "20")]), Some(18.0), "and so does what follows");
    assert_eq!(c_of(&world, ["8", "2", "6"], &[(1, "17")]), None, "8 − 17 would mean something else");
    assert_eq!(c_of(&world, ["8", "2", "6"], &[(1, "18")]), Some(-10.0));
}

#[test]
fn consequences_form_chains_in_whatever_order_they_are_written() {
    let rate = number("rate", "follows");
    let total = number("total", "follows");
    let band = "name = \"band\"\nkind = \"ordinal\"\nvalues = [\"low\", \"high\"]\nchange = \"follows\"";
    let world = World::new(
        &[&number("a", "free"), &number("b", "free"), &total, &rate, band],
        "[[relation]]\nlookup = \"rate\"\ngives = \"band\"\ntable = [[\"..4.99\", \"low\"], [\"5..\", \"high\"]]\n\
         [[relation]]\nratio = [\"total\", \"b\"]\ngives = \"rate\"\n\
         [[relation]]\nsum = [\"a\", \"b\"]\ngives = \"total\"\n",
        (0..40).map(|n| {
            format!("{n},{},{n},{},{}", 1 + n % 7, f64::from(n) / 4.0, ["low", "high"][n as usize % 2])
        }),
    );
    let candidates = world.usual(&["6", "2", "8", "4", "low"]);
    let row = world.row(&candidates, &[(0, "10")]).expect("a row");
    let texts = |feature: usize| candidates.text(&world.discretizer, &row, feature, "own");
    assert_eq!([1, 2, 3, 4].map(texts), ["own", "12", "6", "high"]);
    assert_eq!(candidates.free(), [0, 1]);
    let back = world.row(&candidates, &[(0, "7")]).expect("a row");
    assert_eq!(candidates.chosen(&back, 3).number, 4.5);
    assert_eq!(back[4], 0, "the band stays low");
}

#[test]
fn a_lookup_takes_the_first_set_that_holds_the_value_and_a_value_in_none_is_illegal() {
    let band = "name = \"band\"\nkind = \"ordinal\"\nvalues = [\"young\", \"middle\", \"old\"]\nchange = \"follows\"";
    let world = World::new(
        &[&number("a", "free"), band],
        "[[relation]]\nlookup = \"a\"\ngives = \"band\"\n\
         table = [[\"..9\", \"young\"], [\"0..19\", \"middle\"], [\"20|21\", \"old\"]]\n",
        (0..40).map(|n| format!("{n},{}", ["young", "middle", "old"][n as usize % 3])),
    );
    let candidates = world.usual(&["15", "middle"]);
    let band_of = |a: &str| {
        let row = world.row(&candidates, &[(0, a)])?;
        Some(candidates.text(&world.discretizer, &row, 1, "own"))
    };
    assert_eq!(band_of("3").as_deref(), Some("young"));
    assert_eq!(band_of("12").as_deref(), Some("own"), "it is middle already");
    assert_eq!(band_of("21").as_deref(), Some("old"));
    assert_eq!(band_of("30"), None);
}

#[test]
fn a_consequence_of_a_clock_moves_with_time() {
    let age = "name = \"age\"\nkind = \"discrete\"\nbins = 100\nunit = \"years\"\nchange = \"with-time\"";
    let band = "name = \"band\"\nkind = \"ordinal\"\nvalues = [\"young\", \"old\"]\nchange = \"follows\"";
    let x = "name = \"x\"\nkind = \"discrete\"\nchange = \"increase\"\ntakes = \"1 year per 1\"";
    let tables = |end: u32| {
        format!(
            "[[relation]]\nlookup = \"age\"\ngives = \"band\"\ntable = [[\"..29\", \"young\"], [\"30..{end}\", \"old\"]]\n"
        )
    };
    let rows = || (0..60).map(|n| format!("{n},{},{}", if n < 30 { "young" } else { "old" }, n % 4));
    let world = World::new(&[age, band, x], &tables(99), rows());
    let candidates = world.usual(&["28", "young", "0"]);
    let bands: Vec<u16> =
        candidates.durations().iter().map(|duration| candidates.chosen(&duration.row, 1).code).collect();
    assert_eq!(bands, [0, 0, 1, 1], "at 28, 29, 30 and 31");
    // After three years the band has no value, unless another source brought it back.
    let world = World::new(&[age, band, x], &tables(30), rows());
    let candidates = world.usual(&["28", "young", "0"]);
    let settles = |duration: &par_data::Duration| candidates.settle(&mut duration.row.clone());
    assert_eq!(candidates.durations().iter().map(settles).collect::<Vec<bool>>(), [true, true, true, false]);
}

#[test]
fn sources_with_many_candidates_keep_the_least_costly() {
    let names: Vec<String> = ["a", "b", "d"].iter().map(|name| number(name, "free")).collect();
    let c = number("c", "follows");
    let age = "name = \"age\"\nkind = \"discrete\"\nbins = 100\nunit = \"months\"\nchange = \"with-time\"";
    let takes = names[0].clone() + "\ntakes = \"1 month per 2\"";
    let features = [&takes, &names[1], &names[2], &c, age];
    let relation = "[[relation]]\nsum = [\"a\", \"b\", \"d\", \"age\"]\ngives = \"c\"\n";
    let world = World::new(&features, relation, (0..40).map(|n| format!("{n},{n},{n},{n},{n}")));
    let candidates = world.candidates(&["20"; 5], &Wishes::default(), Reach::AllValues);
    let counts = candidates.counts();
    assert!(counts[..3].iter().product::<usize>() * counts[4] <= 4096, "{counts:?}");
    for feature in 1..3 {
        assert!(numbers(&candidates, feature).contains(&21.0), "the cheapest stay");
    }
    // Every duration still refers to its clock.
    assert!(counts[4] > 8);
    for duration in candidates.durations() {
        let age = candidates.chosen(&duration.row, 4).number;
        assert_eq!(age, 20.0 + f64::from(duration.shortest));
        assert_eq!(candidates.chosen(&duration.row, 3).number, if age > 20.0 { 60.0 + age } else { 20.0 });
    }
}
