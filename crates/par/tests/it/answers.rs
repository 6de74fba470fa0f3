//! The properties of every method's answers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use par_answer::table::TableAnswerer;
use par_answer::{
    Answer, BestAt, Found, Method, NotFound, Obstacle, Order, Reason, Request, Solver, Solves, Way, answer,
    answer_batch, words,
};
use par_circuit::Stop;
use par_data::Restriction;
use par_fit::{ModelBuilder, with_config};
use par_model::generator::Conditioning;
use par_model::{Config, LocalSearch, Model};
use serde_json::json;

use crate::{applicant, applicants, assert_legal, denied, fit, german, quick, some_methods, table};

fn request(method: Method) -> Request {
    Request { method, ..Request::default() }
}

fn by_likelihood(method: Method) -> Request {
    Request { order: Some(Order::Likelihood), margin: Some(0.0), ..request(method) }
}

fn features(way: &Way) -> Vec<usize> {
    way.changes.iter().map(|change| change.feature).collect()
}

#[test]
fn every_way_is_accepted_and_breaks_no_constraint() {
    let model = german();
    let mut solver = Solver::new(model);
    for cells in denied(60) {
        for method in Method::ALL {
            let answer = solver.answer(&cells, &request(method)).expect("its own row");
            for way in answer.ways() {
                let written: Vec<&str> = way.cells.iter().map(String::as_str).collect();
                let row = model.discretizer().encode_row(&written).expect("a row of the table");
                assert_eq!(row.codes(), way.row, "the cells are those of the codes");
                assert_legal(model, &cells, &request(method), way);
                assert!(model.probability(&way.row) >= model.threshold(), "{method:?} offers a denied row");
                assert_eq!(way.log_likelihood.total_cmp(&f64::NEG_INFINITY), std::cmp::Ordering::Greater);
                assert!((0.0..=1.0).contains(&way.percentile));
                for (cell, (raw, change)) in way
                    .cells
                    .iter()
                    .zip(cells.iter().zip(0..))
                    .filter(|(_, (_, at))| !features(way).contains(at))
                {
                    assert_eq!(cell, raw, "feature {change} is unchanged, character for character");
                }
            }
        }
    }
}

#[test]
fn a_request_may_have_a_higher_threshold_than_the_model() {
    let model = german();
    let mut solver = Solver::new(model);
    let strict = Request { threshold: Some(0.8), ..request(Method::Exact) };
    let mut higher = 0;
    for cells in denied(20) {
        let usual = solver.answer(&cells, &request(Method::Exact)).expect("its own row");
        let answer = solver.answer(&cells, &strict).expect("its own row");
        assert!(answer.ways().iter().all(|way| way.probability >= 0.8));
        higher += usize::from(usual.ways() != answer.ways());
        assert_eq!(solver.answer(&cells, &request(Method::Exact)).expect("its own row"), usual);
    }
    assert!(higher > 0);

    // A person between the two thresholds.
    let fitting = |cells: &Vec<&str>| (0.5..0.8).contains(&model.score(cells).expect("its own row"));
    let cells = (0..100).map(applicant).find(fitting).expect("a person between the thresholds");
    assert!(matches!(solver.answer(&cells, &request(Method::Refine)), Ok(Answer::Accepted { .. })));
    let strict = Request { method: Method::Refine, ..strict };
    assert!(matches!(solver.answer(&cells, &strict), Ok(Answer::Found(_))));
}

#[test]
fn a_stopped_exact_search_returns_its_best_so_far() {
    let model = german();
    let stopped = || true;
    let cells = &denied(1)[0];
    let request = Request { count: 5, ..request(Method::Exact) };
    let whole = Solver::new(model).answer(cells, &request).expect("its own row");
    let cut = Solver::new(model).until(Stop::when(&stopped)).answer(cells, &request).expect("its own row");
    assert!(whole.ways()[0].is_optimal() && !cut.ways()[0].is_optimal());
    assert!(cut.ways().len() == 1 && whole.ways().len() > 1);
}

/// Proofs could take all of the time, for people whom no proposal suits, and the search before them be made again.
#[test]
fn before_a_deadline_each_method_finds_a_way_as_good_as_that_of_a_faster_one() {
    let model = german();
    let (mut found, mut efforts) = (0, 0);
    for cells in denied(10) {
        for checks in (0..300).step_by(25) {
            let first_way = |method: Method| {
                let made = AtomicUsize::new(0);
                let is_over = || made.fetch_add(1, Ordering::Relaxed) >= checks;
                let request = Request {
                    threshold: Some(0.95),
                    deadline: Some(Duration::from_secs(3600)),
                    ..request(method)
                };
                let mut solver = Solver::new(model).until(Stop::when(&is_over));
                match solver.answer(&cells, &request).expect("its own row") {
                    Answer::Found(found) => Some(found.ways[0].clone()),
                    Answer::NotFound(_) => None,
                    Answer::Accepted { .. } => panic!("a denied person"),
                }
            };
            for methods in Method::ALL.windows(2) {
                let Some(sooner) = first_way(methods[0]) else { continue };
                let later = first_way(methods[1]);
                let later = later.unwrap_or_else(|| panic!("{methods:?} after {checks} checks, {cells:?}"));
                found += 1;
                if [sooner.solves, later.solves] == [Solves::LeastEffort; 2] {
                    // Of about equal efforts the likelier row is better.
                    let is_as_good = later.effort <= sooner.effort + 0.01;
                    assert!(is_as_good, "{methods:?} after {checks} checks, {cells:?}");
                    efforts += 1;
                }
            }
        }
    }
    assert!(found > 50 && efforts > 30, "{found}, {efforts}");
}

#[test]
fn a_deadline_ends_a_search_with_what_it_has_and_the_next_one_has_none() {
    let model = german();
    let mut solver = Solver::new(model);
    let has_ended = |answer: &Answer| match answer {
        Answer::Found(found) => found.search_ended,
        Answer::NotFound(not_found) => not_found.search_ended,
        Answer::Accepted { .. } => panic!("a denied person"),
    };
    for method in Method::ALL {
        let request = request(method);
        let at_once = Request { deadline: Some(Duration::ZERO), ..request.clone() };
        for cells in denied(20) {
            let whole = solver.answer(&cells, &request).expect("its own row");
            assert!(!has_ended(&whole));
            let cut = solver.answer(&cells, &at_once).expect("its own row");
            assert!(has_ended(&cut));
            assert!(!cut.ways().iter().any(Way::is_optimal));
            let late = Request { deadline: Some(Duration::from_secs(3600)), ..request.clone() };
            assert_eq!(solver.answer(&cells, &late).expect("its own row"), whole);
        }
    }
}

#[test]
fn a_proposal_is_legal_reproducible_and_offered_by_generate_if_accepted() {
    let mut config = german().config().clone();
    config.answers.proposals = 1;
    config.answers.budget = 1000;
    config.generator.conditioning = Conditioning::Paper;
    config.generator.loss.validity = 1.0;
    let model = with_config(german(), config, &mut |_| {}, Stop::never()).expect("a fit");
    let mut solver = Solver::new(&model);
    let (mut accepted, mut denied_again) = (0, 0);
    for cells in denied(60) {
        let proposal = solver.propose(&cells).expect("its own row");
        assert_eq!(Solver::new(&model).propose(&cells).expect("its own row"), proposal);
        let texts: Vec<&str> = proposal.iter().map(String::as_str).collect();
        let row = model.discretizer().encode_row(&texts).expect("a row of the table");
        let factual = model.discretizer().encode_row(&cells).expect("its own row");
        assert!(model.constraints().mask(factual.codes(), &[]).is_legal(row.codes()));
        let answer = solver.answer(&cells, &request(Method::Generate)).expect("its own row");
        if model.probability(row.codes()) >= model.threshold() {
            accepted += 1;
            assert_eq!(answer.ways()[0].cells, proposal);
        } else {
            denied_again += 1;
            assert_eq!(answer.ways(), []);
        }
    }
    assert!(accepted > 0 && denied_again > 0, "{accepted} and {denied_again}");
    let mut cells = applicant(0);
    cells[1] = "many";
    assert!(solver.propose(&cells).is_err());
}

#[test]
fn refine_is_no_worse_than_generate_and_exact_no_worse_than_refine() {
    let model = german();
    let mut solver = Solver::new(model);
    let price = model.config().answers.price;
    let worth = |way: &Way| way.log_likelihood - price * way.changes.len() as f64;
    for cells in denied(60) {
        let mut worths = Vec::new();
        for method in Method::ALL {
            let answer = solver.answer(&cells, &by_likelihood(method)).expect("its own row");
            let best = answer.ways().first();
            assert!(best.is_some() || method == Method::Generate, "{method:?} finds no way");
            worths.push(best.map_or(f64::NEG_INFINITY, worth));
            assert_eq!(best.is_some_and(Way::is_optimal), method == Method::Exact);
        }
        assert!(worths.is_sorted_by(|a, b| *a <= b + 1e-4), "{worths:?}");
    }
}

#[test]
fn every_way_leaves_out_a_change_of_each_before_it() {
    let mut solver = Solver::new(german());
    for method in [Method::Refine, Method::Exact] {
        let mut several = 0;
        for cells in denied(10) {
            let request = Request { count: 4, ..request(method) };
            let answer = solver.answer(&cells, &request).expect("its own row");
            let sets: Vec<Vec<usize>> = answer.ways().iter().map(features).collect();
            several += usize::from(sets.len() > 1);
            for (place, set) in sets.iter().enumerate() {
                for earlier in &sets[..place] {
                    let left_out = earlier.iter().any(|feature| !set.contains(feature));
                    assert!(left_out, "{set:?} contains {earlier:?}");
                }
            }
        }
        assert!(several >= 8, "{several} of 10 have more than one way");
    }
}

/// What people compare: less is better.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Virtues {
    effort: f64,
    changes: f64,
    improbability: f64,
    rarity: f64,
    months: f64,
}

impl Virtues {
    fn all(self) -> [f64; 5] {
        [self.effort, self.changes, self.improbability, self.rarity, self.months]
    }

    /// No worse in anything, and better in something.
    fn beats(self, other: Self) -> bool {
        self != other && self.all().iter().zip(other.all()).all(|(own, its)| *own <= its)
    }
}

/// The virtues of the ways, and of the frontier that is shown beside them.
fn shown(found: &Found) -> (Vec<Virtues>, Vec<Virtues>) {
    let ways = found.ways.iter().map(|way| Virtues {
        effort: way.effort,
        changes: way.changes.len() as f64,
        improbability: 1.0 - way.probability,
        rarity: 1.0 - way.percentile,
        months: f64::from(way.months),
    });
    let points = found.frontier.iter().map(|point| Virtues {
        effort: point.effort,
        changes: point.changes.len() as f64,
        improbability: 1.0 - point.probability,
        rarity: 1.0 - point.percentile,
        months: f64::from(point.months),
    });
    (ways.collect(), points.collect())
}

#[test]
fn nothing_shown_beats_a_way() {
    let model = german();
    let mut solver = Solver::new(model);
    let (mut answers, mut several) = (0, 0);
    for (place, cells) in denied(60).iter().enumerate() {
        for (method, count) in some_methods(place)[1..].iter().flat_map(|method| [(*method, 1), (*method, 3)])
        {
            let request = Request { count, ..request(method) };
            let Answer::Found(found) = solver.answer(cells, &request).expect("its own row") else {
                panic!("everybody has a way");
            };
            answers += 1;
            several += usize::from(found.ways.len() > 1);
            let (ways, points) = shown(&found);
            for way in &ways {
                let beats = |one: &&Virtues| one.beats(*way);
                assert_eq!(ways.iter().chain(&points).find(beats), None, "{way:?}");
            }
        }
    }
    assert!(several * 3 > answers, "{several} of {answers} have more than one way");
}

/// The lowest probability that is sure, by the default margin.
fn sure(model: &Model) -> f64 {
    let threshold = model.threshold();
    (threshold + model.config().answers.margin).min(f64::midpoint(threshold, 1.0))
}

/// The effort that a way saves at most by being less likely than another.
fn tie(way: &Way, other: f64) -> f64 {
    1e-3 * (way.log_likelihood - other).abs() + 2e-4
}

#[test]
fn the_first_way_takes_the_least_effort_of_all_that_are_plausible_and_sure() {
    let model = german();
    let mut solver = Solver::new(model);
    let mut least = 0;
    for cells in denied(15) {
        let request = Request { count: 4, ..request(Method::Exact) };
        let Answer::Found(found) = solver.answer(&cells, &request).expect("its own row") else {
            panic!("everybody has a way");
        };
        let first = &found.ways[0];
        assert!(first.has_margin && first.is_optimal());
        if first.solves != Solves::LeastEffort {
            continue;
        }
        least += 1;
        assert!(first.probability >= sure(model) && first.percentile >= 0.1, "{first:?}");
        for other in &found.ways[1..] {
            if other.has_margin && other.percentile > 0.11 && other.changes.len() <= first.changes.len() {
                assert!(other.effort + tie(first, other.log_likelihood) >= first.effort, "{other:?}");
            }
        }
        // The likeliest row is no better in what the first way is chosen by.
        let answer = solver.answer(&cells, &by_likelihood(Method::Exact)).expect("its own row");
        let likeliest = &answer.ways()[0];
        if likeliest.probability >= sure(model) && likeliest.changes.len() <= first.changes.len() {
            assert!(likeliest.effort + tie(first, likeliest.log_likelihood) >= first.effort, "{likeliest:?}");
        }
    }
    assert!(least > 12, "{least} of 15");
}

#[test]
fn refine_takes_no_less_effort_than_exact() {
    let model = german();
    let mut solver = Solver::new(model);
    let (mut compared, mut equal) = (0, 0);
    for cells in denied(60) {
        let [refined, exact] = [Method::Refine, Method::Exact]
            .map(|method| solver.answer(&cells, &request(method)).expect("its own row"));
        let (refined, exact) = (&refined.ways()[0], &exact.ways()[0]);
        assert_eq!((refined.gap, exact.gap), (None, Some(0.0)));
        // Only within the same budget has the refined way been ruled out.
        if (refined.solves, exact.solves) == (Solves::LeastEffort, Solves::LeastEffort)
            && refined.changes.len() <= model.config().answers.budget
        {
            assert!(refined.effort + tie(exact, refined.log_likelihood) >= exact.effort, "{refined:?}");
            equal += usize::from(refined.row == exact.row);
            compared += 1;
        }
    }
    assert!(compared > 40 && equal * 5 > compared, "{equal} of {compared} are the same");
}

#[test]
fn a_way_is_best_at_something_among_all_ways_and_points() {
    let model = german();
    let mut solver = Solver::new(model);
    for order in Order::ALL {
        let mut strengths = 0;
        for cells in denied(30) {
            let request = Request { count: 3, order: Some(order), ..request(Method::Refine) };
            let Answer::Found(found) = solver.answer(&cells, &request).expect("its own row") else {
                continue;
            };
            let (ways, points) = shown(&found);
            let slowest = ways.iter().chain(&points).map(|one| one.months).fold(0.0, f64::max);
            let likeliest = found.ways.iter().map(|way| way.log_likelihood);
            let likeliest = likeliest.chain(found.frontier.iter().map(|point| point.log_likelihood));
            let likeliest = likeliest.fold(f64::NEG_INFINITY, f64::max);
            for (way, own) in found.ways.iter().zip(&ways) {
                let is_best = |virtue: fn(&Virtues) -> f64| {
                    ways.iter().chain(&points).all(|one| virtue(own) <= virtue(one))
                };
                let expected = [
                    (BestAt::LeastEffort, is_best(|one| one.effort)),
                    (BestAt::FewestChanges, is_best(|one| one.changes)),
                    (BestAt::MostCommon, way.log_likelihood >= likeliest),
                    (BestAt::Surest, is_best(|one| one.improbability)),
                    (BestAt::Soonest, own.months < slowest && is_best(|one| one.months)),
                ];
                let expected: Vec<BestAt> =
                    expected.into_iter().filter(|(_, is_best)| *is_best).map(|(best, _)| best).collect();
                assert_eq!(way.best_at, expected);
                strengths += expected.len();
            }
        }
        assert!(strengths > 30, "{strengths}");
    }
}

#[test]
fn a_way_without_a_margin_is_offered_only_if_there_is_none_with_it() {
    let model = german();
    let mut solver = Solver::new(model);
    let (mut with, mut without) = (0, 0);
    for cells in denied(40) {
        // So high a margin that not everybody reaches it.
        let request = Request { margin: Some(0.45), budget: Some(1), ..request(Method::Exact) };
        let answer = solver.answer(&cells, &request).expect("its own row");
        let wanted = (model.threshold() + 0.45).min(f64::midpoint(model.threshold(), 1.0));
        let surely = Request { threshold: Some(wanted), margin: Some(0.0), ..request.clone() };
        let surely = solver.answer(&cells, &surely).expect("its own row");
        for way in answer.ways() {
            assert_eq!(way.has_margin, way.probability >= wanted);
            assert_eq!(way.has_margin, !surely.ways().is_empty());
            with += usize::from(way.has_margin);
            without += usize::from(!way.has_margin);
        }
    }
    assert!(with > 5 && without > 5, "{with} with, {without} without");
}

#[test]
fn effort_and_time_that_a_person_allows_bind_and_are_named_as_obstacles() {
    let model = german();
    let mut solver = Solver::new(model);
    let (mut efforts, mut times) = (0, 0);
    for cells in denied(30) {
        let free = solver.answer(&cells, &request(Method::Exact)).expect("its own row");
        let first = &free.ways()[0];
        let less = Request { max_effort: Some(first.effort / 2.0), ..request(Method::Exact) };
        match solver.answer(&cells, &less).expect("its own row") {
            Answer::Found(found) => {
                for way in &found.ways {
                    assert_legal(model, &cells, &less, way);
                    assert!(way.effort <= first.effort / 2.0 * (1.0 + 1e-6));
                }
            }
            Answer::NotFound(not_found) => {
                let [Obstacle::MaxEffort(Some(enough))] = not_found.obstacles[..] else {
                    panic!("{:?}", not_found.obstacles)
                };
                let more = Request { max_effort: Some(enough), ..less };
                assert!(!solver.answer(&cells, &more).expect("its own row").ways().is_empty());
                efforts += 1;
            }
            Answer::Accepted { .. } => panic!("a denied row"),
        }
        // Only what takes time is free.
        let takes_time = |feature: &par_data::Feature| feature.takes.is_some();
        let features = model.schema().features().iter().enumerate();
        let locks = features.filter(|(_, feature)| !takes_time(feature)).map(|(at, _)| at).collect();
        let slow = Request { locks, ..request(Method::Exact) };
        let Some(way) = solver.answer(&cells, &slow).expect("its own row").ways().first().cloned() else {
            continue;
        };
        assert!(way.months > 0, "{way:?}");
        let sooner = Request { within: Some(0), ..slow };
        let Answer::NotFound(not_found) = solver.answer(&cells, &sooner).expect("its own row") else {
            panic!("everything takes time");
        };
        assert_eq!(not_found.reason, Reason::NothingToChange);
        let within = not_found.obstacles.iter().find_map(|obstacle| match obstacle {
            Obstacle::Within(enough) => *enough,
            _ => None,
        });
        if let ([_], Some(enough)) = (&not_found.obstacles[..], within) {
            let later = Request { within: Some(enough), ..sooner };
            assert!(!solver.answer(&cells, &later).expect("its own row").ways().is_empty());
            times += 1;
        }
    }
    assert!(efforts > 5 && times > 5, "{efforts} efforts, {times} times");
}

#[test]
fn with_no_harm_nothing_gets_worse() {
    let model = german();
    let mut solver = Solver::new(model);
    let mut harms = 0;
    for cells in denied(60) {
        let free = solver.answer(&cells, &by_likelihood(Method::Refine)).expect("its own row");
        harms += free.ways().iter().flat_map(|way| &way.changes).filter(|change| change.is_harm).count();
        let request = Request { no_harm: true, ..by_likelihood(Method::Refine) };
        for way in solver.answer(&cells, &request).expect("its own row").ways() {
            assert!(way.changes.iter().all(|change| !change.is_harm), "{way:?}");
            assert_legal(model, &cells, &request, way);
        }
    }
    assert!(harms > 0, "the wish changes no answer");
}

#[test]
fn a_persons_own_weight_of_an_effort_scales_it() {
    let model = german();
    let mut solver = Solver::new(model);
    let mut avoided = 0;
    for cells in denied(20) {
        let free = solver.answer(&cells, &request(Method::Exact)).expect("its own row");
        let change = &free.ways()[0].changes[0];
        let weight = model.schema().features()[change.feature].effort.weight;
        let request = Request { efforts: vec![(change.feature, 100.0 * weight)], ..request(Method::Exact) };
        let harder = solver.answer(&cells, &request).expect("its own row");
        for way in harder.ways() {
            assert_legal(model, &cells, &request, way);
        }
        let again = harder.ways()[0].changes.iter().find(|other| other.feature == change.feature);
        match again {
            Some(again) if again.value == change.value => {
                assert!((again.effort - 100.0 * change.effort).abs() < 1e-9);
            }
            Some(_) => {}
            None => avoided += 1,
        }
    }
    assert!(avoided > 10, "{avoided} of 20 avoid what is hard for them");
}

#[test]
fn locks_and_budgets_of_a_request_bind() {
    let mut solver = Solver::new(german());
    for cells in denied(20) {
        let free = solver.answer(&cells, &Request::default()).expect("its own row");
        let Some(way) = free.ways().first() else { continue };
        let locks = features(way);
        let locked = Request { locks: locks.clone(), ..Request::default() };
        for way in solver.answer(&cells, &locked).expect("its own row").ways() {
            assert!(features(way).iter().all(|feature| !locks.contains(feature)));
        }
        let one = Request { budget: Some(1), ..Request::default() };
        match solver.answer(&cells, &one).expect("its own row") {
            Answer::Found(found) => assert_eq!(found.ways[0].changes.len(), 1),
            Answer::NotFound(not_found) => {
                assert_eq!(not_found.reason, Reason::OutOfReach);
                assert!(not_found.needs_changes.is_some_and(|changes| changes > 1), "{not_found:?}");
            }
            Answer::Accepted { .. } => panic!("a denied row"),
        }
    }
}

#[test]
fn with_everything_locked_the_smallest_set_of_locks_is_named() {
    let model = german();
    let all: Vec<usize> = (0..model.schema().features().len()).collect();
    let mut solver = Solver::new(model);
    for cells in denied(5) {
        let request = Request { locks: all.clone(), ..Request::default() };
        let Answer::NotFound(not_found) = solver.answer(&cells, &request).expect("its own row") else {
            panic!("nothing may change");
        };
        assert_eq!(not_found.reason, Reason::NothingToChange);
        let Some(unlocked) = not_found
            .obstacles
            .iter()
            .map(|obstacle| match obstacle {
                Obstacle::Lock(feature) => Some(*feature),
                _ => None,
            })
            .collect::<Option<Vec<usize>>>()
        else {
            panic!("locks come first: {:?}", not_found.obstacles);
        };
        assert!(!unlocked.is_empty());
        let locks = all.iter().copied().filter(|feature| !unlocked.contains(feature)).collect();
        let request = Request { locks, ..Request::default() };
        assert!(!solver.answer(&cells, &request).expect("its own row").ways().is_empty());
    }
}

/// Acceptance depends on `race` alone, which is immutable.
const ORIGIN: &str = r#"
[label]
column = "class"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "race"
kind = "nominal"
immutable = true

[[feature]]
name = "income"
kind = "discrete"

[[feature]]
name = "savings"
kind = "discrete"
"#;

fn by_origin() -> Model {
    let mut rows = String::from("race,income,savings,class\n");
    for row in 0..400 {
        let (race, income, savings) = (["a", "b"][row % 2], row / 2 % 4, row / 8 % 4);
        let class = if race == "a" { "yes" } else { "no" };
        rows += &format!("{race},{income},{savings},{class}\n");
    }
    fit(ORIGIN, &rows, quick()).expect("a fit")
}

#[test]
fn only_an_auditor_sees_obstacles_of_the_schema() {
    let model = by_origin();
    let cells = ["b", "0", "0"];
    // A lock on an immutable feature is no obstacle of the person's own.
    for locks in [vec![], vec![1], vec![1, 2], vec![0], vec![0, 1, 2]] {
        let request = Request { locks, ..Request::default() };
        let Answer::NotFound(own) = Solver::new(&model).answer(&cells, &request).expect("a row") else {
            panic!("nothing but `race` decides");
        };
        assert_eq!((&own.obstacles[..], &own.schema_obstacles), (&[][..], &None), "{own:?}");
        assert_eq!(words::remedy(model.schema(), &own), None);

        let mut obstacles = vec![Obstacle::Schema(Restriction::Immutable(0))];
        if request.locks.contains(&0) {
            obstacles.insert(0, Obstacle::Lock(0));
        }
        let request = Request { auditor: true, ..request };
        let Answer::NotFound(audited) = Solver::new(&model).answer(&cells, &request).expect("a row") else {
            panic!("nothing but `race` decides");
        };
        assert_eq!(audited.schema_obstacles, Some(obstacles));
        assert_eq!(NotFound { schema_obstacles: None, ..audited }, own, "the rest is the same");
    }
}

#[test]
fn no_text_for_an_applicant_names_obstacles_of_the_schema() {
    let model = by_origin();
    let people = table("race,income,savings\nb,0,0\n");
    let columns = model.schema().columns(people.origin(), people.columns()).expect("columns");
    let header = people.columns().to_vec();
    let batch = people.batches(1).next().expect("a row").expect("a whole row");
    let texts = |auditor: bool| {
        let request = Request { auditor, locks: vec![1], ..Request::default() };
        let answerer = TableAnswerer::new(&model, &header, columns.clone(), request, false);
        let person = answerer.answer(&mut Solver::new(&model), &batch, 0, 1);
        let text = person.text(&model);
        let (_, reason) = text.split_once("no way was found").expect("no way");
        let json = serde_json::to_value(person.json(&model)).expect("JSON");
        (reason.to_string(), person.reason(model.schema()), json)
    };
    let (reason, line, json) = texts(false);
    assert_eq!(
        reason,
        ": no combination of the values tried for this person is accepted (proved)\n\
         no wish of the request is known to be an obstacle\n"
    );
    assert_eq!(line.as_deref(), Some("out_of_reach"));
    assert_eq!((&json["obstacles"], &json["schema_obstacles"]), (&json!([]), &json!(null)));
    let (reason, line, json) = texts(true);
    assert!(reason.ends_with("\nfor the auditor, what would help in the schema: let `race` change\n"));
    assert_eq!(line.as_deref(), Some("out_of_reach"), "a table is for applicants");
    let expected = json!([{"kind": "immutable", "feature": "race", "words": "let `race` change"}]);
    assert_eq!((&json["obstacles"], &json["schema_obstacles"]), (&json!([]), &expected));
}

#[test]
fn an_accepted_person_gets_their_probability() {
    let model = german();
    let accepted = (0..applicants().1.rows()).map(applicant).find_map(|cells| {
        match answer(model, &cells, &Request::default()).expect("its own row") {
            Answer::Accepted { probability, .. } => Some(probability),
            Answer::Found(_) | Answer::NotFound(_) => None,
        }
    });
    assert!(accepted.expect("an accepted person") >= model.threshold());
}

#[test]
fn a_batch_has_the_answers_of_its_rows_one_by_one_on_any_number_of_threads() {
    let model = german();
    let (columns, batch) = applicants();
    let mut some = batch.clone();
    let mut kept = 0;
    some.retain(|_, _| {
        kept += 1;
        kept <= 150
    });
    let on_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| answer_batch(model, columns, &some, |_| Request { count: 2, ..Request::default() }))
    };
    let (one, two) = (on_threads(1), on_threads(2));
    assert_eq!(format!("{one:?}"), format!("{two:?}"));
    let mut solver = Solver::new(model);
    for (row, answer) in one.iter().enumerate() {
        let alone = solver.answer(&applicant(row), &Request { count: 2, ..Request::default() });
        assert_eq!(answer.as_ref().ok(), alone.as_ref().ok());
    }
}

#[test]
fn a_cell_that_does_not_fit_is_an_error() {
    let model = german();
    let mut cells = denied(1).remove(0);
    cells[0] = "a fortune";
    let error = answer(model, &cells, &Request::default()).expect_err("no such status");
    assert!(error.to_string().contains("a fortune"), "{error}");
}

#[test]
fn changes_are_written_in_the_words_of_the_schema() {
    let model = german();
    let features = model.schema().features();
    let mut with_labels = 0;
    for cells in denied(40) {
        for way in answer(model, &cells, &Request::default()).expect("its own row").ways() {
            for change in &way.changes {
                let feature = &features[change.feature];
                let from =
                    feature.labels.get(cells[change.feature]).map_or(cells[change.feature], String::as_str);
                let start = format!("{}: {from} → ", feature.name);
                assert!(change.sentence().starts_with(&start), "{}", change.sentence());
                with_labels += usize::from(!feature.labels.is_empty());
            }
        }
    }
    assert!(with_labels > 10, "{with_labels}");
}

/// The paper's settings: its inputs, its losses, one decoded row, its local search.
#[test]
fn the_papers_preset_answers_within_its_proposals() {
    let mut config = Config::paper();
    config.generator.examples = 500;
    config.generator.steps = 150;
    config.pool.size = 300;
    assert_eq!(config.answers.search, LocalSearch::Paper);
    assert_ne!(config.generator.conditioning, quick().generator.conditioning);
    let model = ModelBuilder::new(german().schema().clone(), config)
        .fit(|| Ok(par_data::german_credit::table()))
        .expect("a fit");
    let mut solver = Solver::new(&model);
    let mut sparser = 0;
    for cells in denied(40) {
        let [generated, refined] = [Method::Generate, Method::Refine]
            .map(|method| solver.answer(&cells, &request(method)).expect("its own row"));
        if let ([generated], [refined]) = (generated.ways(), refined.ways()) {
            assert!(refined.changes.len() <= generated.changes.len());
            sparser += usize::from(refined.changes.len() < generated.changes.len());
        }
    }
    assert!(sparser > 0, "sparsify takes no change back");
}

#[test]
fn nothing_rarer_than_the_floor_is_offered_and_an_auditor_sees_what_is_unusual() {
    let model = german();
    let mut solver = Solver::new(model);
    let (mut offered, mut unusual) = (0, 0);
    for (cells, method) in denied(40).iter().zip([Method::Refine, Method::Exact].into_iter().cycle()) {
        let asked = |share| Request {
            min_percentile: Some(share),
            budget: Some(1),
            auditor: true,
            ..request(method)
        };
        match solver.answer(cells, &asked(0.9)).expect("its own row") {
            Answer::Found(found) => {
                offered += 1;
                assert!(found.ways.iter().all(|way| way.percentile >= 0.9), "{found:?}");
            }
            Answer::NotFound(none) => {
                unusual += usize::from(none.reason == Reason::OnlyUnusual);
                assert_eq!(none.reason == Reason::OutOfReach, none.unusual.is_empty(), "{none:?}");
                let any = solver.answer(cells, &asked(0.0)).expect("its own row");
                assert_eq!(none.unusual, any.ways(), "what is attached is what there is without a floor");
                assert!(none.unusual.iter().all(|way| way.percentile < 0.9), "{none:?}");
                assert!(none.unusual.is_empty() || none.schema_obstacles == Some(Vec::new()), "{none:?}");
            }
            Answer::Accepted { .. } => panic!("denied people are denied"),
        }
    }
    assert!(offered > 5 && unusual > 5, "{offered} offered, {unusual} not");
}

#[test]
fn a_lock_makes_a_feature_part_of_who_somebody_is() {
    let model = german();
    let mut solver = Solver::new(model);
    let mut evaluator = model.accepted().evaluator();
    for cells in denied(10) {
        let Answer::Found(found) = solver.answer(&cells, &request(Method::Refine)).expect("its own row")
        else {
            panic!("everybody has a way");
        };
        let way = &found.ways[0];
        let given = way.log_likelihood - way.conditional_log_likelihood;
        let plausibility = model.plausibility(&[]);
        assert!((given - plausibility.log_given(&mut evaluator, &way.row)).abs() < 1e-4);
        assert_eq!(way.percentile, plausibility.percentile(way.conditional_log_likelihood));
        // What a locked feature is no longer counts.
        let changed: Vec<usize> = features(way);
        let lock = (0..cells.len())
            .find(|feature| !changed.contains(feature) && !model.constraints().is_immutable(*feature))
            .expect("a feature that stays");
        let locked = model.plausibility(&[lock]);
        let less = way.log_likelihood - locked.log_given(&mut evaluator, &way.row);
        assert!(less > way.conditional_log_likelihood, "{less}");
    }
}
