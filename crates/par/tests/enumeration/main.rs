//! Random small worlds, where every answer is compared with a list of all rows that a person could become.
//!
//! What a row may be, what it costs and how long it takes is computed here by other code, on values.
//! `PAR_WORLDS=1000..2000 cargo test --release -p par --test enumeration` tries other worlds.

mod check;
mod draw;
mod meaning;
mod model;
mod onnx;
mod rows;
mod world;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use par_data::Reach;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use check::Checked;
use draw::Draw;
use meaning::Meaning;
use model::Outcome;
use rows::Case;
use world::World;

const PEOPLE: usize = 6;

/// Checks some people of the world of a seed, where the classifier tells this.
fn check_world(seed: u64, outcome: Outcome, checked: &mut Checked) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let draw = &mut Draw(&mut rng);
    let (world, table, made) = loop {
        let world = World { label: outcome.label(), ..draw::world(draw) };
        let table: Vec<_> = (0..150 + draw.below(200)).map(|_| draw::row(&world, draw, 0.1)).collect();
        if let Ok(made) = model::made(&world, &table, outcome, draw) {
            break (world, table, made);
        }
    };
    let model = &made.model;
    let meaning = Meaning::new(&world, model.discretizer(), model.constraints(), &table);
    for number in 0..PEOPLE {
        let own = draw::person(&world, draw);
        let mut asking = draw::asking(&world, model, draw);
        made.rescale(&mut asking.request);
        let cells: Vec<String> =
            own.iter().zip(&world.features).map(|(value, feature)| feature.text(value)).collect();
        let texts: Vec<&str> = cells.iter().map(String::as_str).collect();
        let codes = model.discretizer().encode_row(&texts).map_err(|error| error.to_string())?.into_codes();
        let case = Case { meaning: &meaning, made: &made, own, cells, codes };
        if draw.chance(0.6)
            && let Some(Ok(rows)) = case.rows(&asking, Reach::Codes)
        {
            draw::hard_to_reach(&made, &rows, &mut asking, draw);
        }
        let result = catch_unwind(AssertUnwindSafe(|| check::check(&case, &asking, checked)));
        let result = result.unwrap_or_else(|panic| {
            let words = panic.downcast_ref::<String>().cloned();
            Err(format!(
                "a panic: {}",
                words.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
            ))
        });
        result.map_err(|error| {
            format!(
                "seed {seed}, person {number}: {:?}\n{:?}\n{}\n{error}",
                case.cells,
                asking.request,
                world.schema()
            )
        })?;
    }
    Ok(())
}

/// The seeds to try: a few, or those of `PAR_WORLDS`.
fn seeds() -> Range<u64> {
    let named = std::env::var("PAR_WORLDS").ok().and_then(|text| {
        let (first, end) = text.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    });
    named.unwrap_or(0..60)
}

/// Checks the worlds of some seeds with each outcome.
fn check_worlds(seeds: Range<u64>, outcomes: &[Outcome]) {
    let mut checked = Checked::default();
    let mut failures = Vec::new();
    for seed in seeds {
        for &outcome in outcomes {
            if let Err(error) = check_world(seed, outcome, &mut checked) {
                failures.push(format!("{outcome:?}, {error}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} worlds fail; of {checked:?}\n{}", failures.len(), failures.join("\n\n"));
    assert!(checked.proved > 0 && checked.not_found > 0 && checked.obstacles > 0, "{checked:?}");
    let [proved, ended] = checked.without_way;
    assert!(ended * 5 <= proved, "{checked:?}");
    // All classifiers of three classes read values, whose searches may end.
    if outcomes == [Outcome::TwoClasses] {
        assert!(proved > 0 && checked.lasting > 0 && checked.missed > 0, "{checked:?}");
    }
}

#[test]
fn answers_are_those_of_listing_all_rows() {
    check_worlds(seeds(), &[Outcome::TwoClasses]);
}

#[test]
fn answers_of_three_classes_are_those_of_listing_all_rows() {
    let seeds = seeds();
    check_worlds(seeds.start..seeds.start + (seeds.end - seeds.start) / 2, &Outcome::THREE_CLASSES);
}

#[test]
fn answers_of_regressions_are_those_of_listing_all_rows() {
    let seeds = seeds();
    check_worlds(seeds.start..seeds.start + (seeds.end - seeds.start) / 2, &Outcome::NUMBERS);
}
