//! Answers within a person's limits.

use par_answer::{Answer, Change, Method, Obstacle, Order, Reason, Request, Solver};
use par_data::{Domain, Limits, Permitted};
use par_model::Model;

use crate::{assert_legal, external, german, some_methods};

/// German Credit with a trained classifier, and with three external ones.
fn all_models() -> impl Iterator<Item = &'static Model> {
    [german()].into_iter().chain(external::models())
}

/// Two ranges that cut through bins, and two lists.
fn some_limits(model: &Model) -> (Limits, Vec<(usize, Permitted)>) {
    let among = |values: &[&str]| Permitted::Among(values.iter().map(ToString::to_string).collect());
    let to: Vec<(usize, Permitted)> = [
        ("Duration", Permitted::Between([5.0, 13.0])),
        ("Credit amount", Permitted::Between([3000.0, f64::INFINITY])),
        ("Savings account/bonds", among(&["A62", "A63"])),
        ("Installment rate in percentage of disposable income", among(&["2", "3"])),
    ]
    .into_iter()
    .map(|(name, to)| (model.schema().position(name).expect("a feature"), to))
    .collect();
    (Limits::new(model.discretizer(), to.clone()).expect("limits"), to)
}

/// The value of a feature is within the limits.
fn assert_within(feature: usize, value: &str, to: &[(usize, Permitted)]) {
    let Some((_, to)) = to.iter().find(|(limited, _)| *limited == feature) else { return };
    let is_within = match to {
        Permitted::Between([lowest, highest]) => {
            (*lowest..=*highest).contains(&value.parse::<f64>().expect("a number"))
        }
        Permitted::Among(values) => values.iter().any(|one| one == value),
    };
    assert!(is_within, "{value} is not within {to:?}");
}

/// All values of a change are within the limits.
fn assert_change_within(change: &Change, to: &[(usize, Permitted)]) {
    assert_within(change.feature, &change.value, to);
    for end in change.range.into_iter().flatten() {
        assert_within(change.feature, &end.to_string(), to);
    }
}

#[test]
fn every_way_is_within_the_limits_and_accepted_as_written() {
    for model in all_models() {
        let (limits, to) = some_limits(model);
        // Lock what most people would change, so that limited features change more often.
        let locks =
            ["Status of existing checking account", "Credit history", "Purpose", "Other installment plans"];
        let locks = model.schema().positions(&locks).expect("features");
        let mut solver = Solver::new(model);
        let (mut found, mut at_the_limit) = (0, 0);
        for (place, cells) in external::denied(model, 60).enumerate() {
            for &method in some_methods(place) {
                let (locks, limits) = (locks.clone(), limits.clone());
                let request = Request { method, count: 2, locks, limits, ..Request::default() };
                let answer = solver.answer(&cells, &request).expect("its own row");
                for way in answer.ways() {
                    found += 1;
                    let written: Vec<&str> = way.cells.iter().map(String::as_str).collect();
                    let score = model.score(&written).expect("a row of the table");
                    assert!(score >= model.threshold() && score == way.probability);
                    assert_legal(model, &cells, &request, way);
                    way.changes.iter().for_each(|change| assert_change_within(change, &to));
                    let at_an_end = |change: &Change| ["13", "3000"].contains(&change.value.as_str());
                    at_the_limit += way.changes.iter().filter(|change| at_an_end(change)).count();
                }
                if let Answer::Found(found) = &answer {
                    let changes = found.frontier.iter().flat_map(|point| &point.changes);
                    changes.for_each(|(feature, value)| assert_within(*feature, value, &to));
                }
            }
        }
        assert!(found > 100 && at_the_limit > 10, "{found} ways, {at_the_limit} changes to a limit");
    }
}

#[test]
fn a_fractional_limit_on_whole_numbers_leaves_whole_numbers() {
    for model in all_models() {
        // From a file: the kind of number must be stored there.
        let model = Model::from_bytes(&model.to_bytes()).expect("its own bytes");
        let to = ["Duration", "Credit amount", "Age"].map(|name| {
            let feature = model.schema().position(name).expect("a feature");
            let Domain::Bins { edges, .. } = &model.discretizer().domains()[feature] else {
                panic!("{name} has bins");
            };
            // The bin below the edge overlaps this range, but has no whole number in it.
            let edge = edges[edges.len() / 2].ceil();
            (feature, Permitted::Between([edge - 0.8, edge + 0.5]))
        });
        let limits = Limits::new(model.discretizer(), to.clone()).expect("limits");
        let mut solver = Solver::new(&model);
        let mut moved = 0;
        for cells in external::denied(&model, 60) {
            let request = Request { count: 2, limits: limits.clone(), ..Request::default() };
            for way in solver.answer(&cells, &request).expect("its own row").ways() {
                for (feature, _) in &to {
                    let written = &way.cells[*feature];
                    assert!(written.parse::<i64>().is_ok(), "{written} is not whole");
                    moved += usize::from(written != cells[*feature]);
                }
                way.changes.iter().for_each(|change| assert_change_within(change, &to));
            }
        }
        assert!(moved > 0, "no limited feature changes");
    }
}

#[test]
fn exact_answers_within_limits_are_no_worse_than_refined_ones() {
    let model = german();
    let (limits, _) = some_limits(model);
    let mut solver = Solver::new(model);
    for cells in external::denied(model, 20) {
        let (order, margin) = (Some(Order::Likelihood), Some(0.0));
        let request =
            |method| Request { method, order, margin, limits: limits.clone(), ..Request::default() };
        let [refined, exact] = [Method::Refine, Method::Exact]
            .map(|method| solver.answer(&cells, &request(method)).expect("its own row"));
        let (Some(refined), Some(exact)) = (refined.ways().first(), exact.ways().first()) else { continue };
        let price = model.config().answers.price;
        let worth = |way: &par_answer::Way| way.log_likelihood - price * way.changes.len() as f64;
        assert!(exact.is_optimal() && worth(refined) <= worth(exact) + 1e-4);
    }
}

#[test]
fn limits_that_permit_everything_change_no_answer() {
    for model in all_models() {
        let everything = model.discretizer().domains().iter().map(|domain| match domain {
            Domain::Categories { values, .. } => Permitted::Among(values.clone()),
            _ => Permitted::Between([f64::NEG_INFINITY, f64::INFINITY]),
        });
        let limits = Limits::new(model.discretizer(), everything.enumerate()).expect("limits");
        let mut solver = Solver::new(model);
        for cells in external::denied(model, 20) {
            let free = solver.answer(&cells, &Request::default()).expect("its own row");
            let request = Request { limits: limits.clone(), ..Request::default() };
            match (free, solver.answer(&cells, &request).expect("its own row")) {
                (Answer::Found(free), Answer::Found(limited)) => {
                    assert_eq!((free.ways, free.frontier), (limited.ways, limited.frontier));
                }
                (free, limited) => assert_eq!(free, limited),
            }
        }
    }
}

#[test]
fn with_every_feature_limited_to_its_value_the_smallest_set_of_limits_is_named() {
    for model in all_models() {
        let mut solver = Solver::new(model);
        for cells in external::denied(model, 5) {
            let own = cells.iter().zip(model.discretizer().domains()).map(|(cell, domain)| {
                match (domain, cell.parse::<f64>()) {
                    (Domain::Categories { .. }, _) | (_, Err(_)) => Permitted::Among(vec![cell.to_string()]),
                    (_, Ok(number)) => Permitted::Between([number; 2]),
                }
            });
            let limits = Limits::new(model.discretizer(), own.enumerate()).expect("limits");
            let request = Request { limits: limits.clone(), ..Request::default() };
            let Answer::NotFound(not_found) = solver.answer(&cells, &request).expect("its own row") else {
                panic!("nothing may change");
            };
            assert_eq!(not_found.reason, Reason::NothingToChange);
            let lifted: Vec<usize> = not_found
                .obstacles
                .iter()
                .map(|obstacle| match obstacle {
                    Obstacle::Limit(feature) => *feature,
                    other => panic!("limits come first: {other:?}"),
                })
                .collect();
            assert!(!lifted.is_empty());
            let request = Request { limits: limits.without(&lifted), ..Request::default() };
            let answer = solver.answer(&cells, &request).expect("its own row");
            let ways = answer.ways();
            assert!(!ways.is_empty(), "without the limits on {lifted:?} there is a way");
            assert!(ways[0].changes.iter().all(|change| lifted.contains(&change.feature)));
        }
    }
}
