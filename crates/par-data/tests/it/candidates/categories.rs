use super::World;

const HOUSING: &str =
    "name = \"housing\"\nkind = \"nominal\"\nvalues = [\"rent\", \"own\", \"free\"]\nchange = \"free\"";
const EDUCATION: &str =
    "name = \"education\"\nkind = \"ordinal\"\nvalues = [\"none\", \"school\", \"college\", \"university\"]";

/// What each of a feature's categories may become.
fn becomes(feature: &str, from: &[&str]) -> Vec<Vec<String>> {
    let world = World::new(&[feature], "", from.iter().map(ToString::to_string));
    from.iter().map(|cell| world.texts(&world.usual(&[cell]), 0)).collect()
}

#[test]
fn transitions_list_what_a_category_may_become_and_forbid_what_it_may_not() {
    let values = ["rent", "own", "free"];
    assert_eq!(becomes(HOUSING, &values), [vec!["own", "free"], vec!["rent", "free"], vec!["rent", "own"]]);
    let listed = format!(
        "{HOUSING}\ntransitions = {{ rent = [\"own\"], own = [] }}\nforbid = {{ free = [\"rent\"] }}"
    );
    assert_eq!(becomes(&listed, &values), [vec!["own"], vec![], vec!["own"]]);
}

#[test]
fn ordered_categories_move_by_places() {
    let values = ["none", "school", "college", "university"];
    let rises = format!("{EDUCATION}\nchange = \"increase\"\nstep = {{ up = 1 }}");
    assert_eq!(becomes(&rises, &values), [vec!["school"], vec!["college"], vec!["university"], vec![]]);
    let moves = format!("{EDUCATION}\nchange = \"free\"\nstep = {{ up = 2, down = 1 }}");
    let expected = [
        vec!["school", "college"],
        vec!["none", "college", "university"],
        vec!["school", "university"],
        vec!["college"],
    ];
    assert_eq!(becomes(&moves, &values), expected);
}

#[test]
fn allowed_categories_and_directions_hold_beside_transitions() {
    let values = ["none", "school", "college", "university"];
    let feature = format!(
        "{EDUCATION}\nchange = \"increase\"\nallowed = [\"none\", \"college\", \"university\"]\n\
         forbid = {{ school = [\"university\"] }}"
    );
    let expected = [vec!["college", "university"], vec!["college"], vec!["university"], vec![]];
    assert_eq!(becomes(&feature, &values), expected);
}

#[test]
fn the_text_of_an_unchanged_cell_stays_character_for_character() {
    let world = World::new(&[HOUSING], "", ["rent", "own", "free"].map(String::from));
    let candidates = world.usual(&[" own "]);
    assert_eq!(candidates.text(&world.discretizer, &[0], 0, " own "), " own ");
    assert_eq!(candidates.text(&world.discretizer, &[1], 0, " own "), "rent");
}
