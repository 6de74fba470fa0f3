use par_data::{Reach, Wishes};

use super::{World, numbers};

/// A number in bins of a hundred, with two special ones; one of them can be left.
const DEBT: &str = "name = \"debt\"\nkind = \"continuous\"\nbins = 4\nspecial = [-9, -8]\n\
                    transitions = { \"-9\" = \"leave\" }";
const LIMIT: &str = "name = \"limit\"\nkind = \"continuous\"\nbins = 4\nspecial = [-9]\nchange = \"free\"";

fn world(debt: &str, tables: &str) -> World {
    let rows = (0..400).map(|number| format!("{number},{number}")).chain(["-9,-9", "-8,0"].map(String::from));
    World::new(&[&format!("{DEBT}\n{debt}"), LIMIT], tables, rows)
}

#[test]
fn special_numbers_have_codes_after_the_ordinary_ones_and_are_never_advised() {
    let world = world("change = \"free\"", "");
    let codes = |cell: &str| world.discretizer.encode_row(&[cell, "0"]).expect("a code").codes()[0];
    assert_eq!(["0", "399", "-9", "-8"].map(codes), [0, 3, 4, 5]);
    assert_eq!(world.discretizer.domains()[0].ordinary(), 4);
    for reach in [Reach::Codes, Reach::Values, Reach::AllValues] {
        for cells in [["150", "150"], ["-9", "-9"]] {
            let candidates = world.candidates(&cells, &Wishes::default(), reach);
            assert!(
                candidates.of(0)[1..].iter().all(|candidate| candidate.code < 4 && candidate.number >= 0.0)
            );
        }
    }
}

#[test]
fn a_special_number_is_left_only_where_transitions_say_so() {
    for change in ["free", "increase", "decrease"] {
        let world = world(&format!("change = \"{change}\""), "");
        let usual = |cell: &str| numbers(&world.usual(&[cell, "0"]), 0);
        assert_eq!(usual("-9").len(), 4, "{change}: one typical number of each bin, in any direction");
        assert_eq!(usual("-8"), Vec::<f64>::new(), "{change}");
        assert_eq!(numbers(&world.usual(&["0", "-9"]), 1), Vec::<f64>::new(), "no transition, no way out");
    }
}

#[test]
fn leaving_a_special_number_is_neither_a_rise_nor_a_fall() {
    let rule = "[[relation]]\nif_increases = \"debt\"\nmust_increase = \"limit\"\n";
    let world = world("change = \"free\"", rule);
    let ordinary = world.usual(&["50", "50"]);
    let debt = &world.texts(&ordinary, 0)[0];
    assert!(!world.keeps(&ordinary, &[(0, debt)]), "a rise needs another");
    let special = world.usual(&["-9", "50"]);
    for debt in world.texts(&special, 0) {
        assert!(world.keeps(&special, &[(0, &debt)]), "{debt}");
    }
    let needs_a_rise = world.usual(&["50", "-9"]);
    assert!(!needs_a_rise.is_free(0) || numbers(&needs_a_rise, 0).iter().all(|debt| *debt < 50.0));
}

#[test]
fn a_special_number_suspends_relations_on_it() {
    let world = world("change = \"free\"", "[[relation]]\nat_most = [\"debt\", \"limit\"]\n");
    let ordinary = world.candidates(&["50", "60"], &Wishes::default(), Reach::Codes);
    assert!(!world.keeps(&ordinary, &[(0, "100")]), "100 is more than 60");
    let special = world.usual(&["50", "-9"]);
    assert!(world.keeps(&special, &[(0, "100")]), "there is no limit to compare with");
    let leaving = world.usual(&["-9", "60"]);
    let far = world.texts(&leaving, 0).pop().expect("a number of the last bin");
    assert!(!world.keeps(&leaving, &[(0, &far)]), "an ordinary number binds again");
}
