//! Native methods on a small table.

use par_model::classifier::{Classifier, NeuralClassifier};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::dice::{Dice, Search};
use super::face::{Edges, Face};
use super::known::Draw;
use super::proplace::Proplace;
use super::space::{Axis, Point, same};
use super::spheres::Spheres;
use super::*;
use crate::case::{Case, Factual, Fold};
use crate::test_case::{MOVING, SCHEMA, case};

/// The methods that keep immutable features.
const KEEPING: [Native; 6] = [
    Native::FaceKnn,
    Native::FaceEpsilon,
    Native::Spheres,
    Native::Cchvae,
    Native::DiceRandom,
    Native::DiceGenetic,
];
const TOWN: usize = 0;

fn with_known(check: impl FnOnce(&Fold<'_>, &Known<'_>, &[&Factual])) {
    let case: Case = case(SCHEMA);
    let fold = Fold::new(&case, &case.folds()[0]).expect("a fold");
    let known = Known::new(&fold, 7).expect("rows that the model has seen");
    let denied: Vec<&Factual> = fold.denied().into_iter().map(|person| &fold.people[person]).collect();
    assert!(denied.len() > 5, "{}", denied.len());
    check(&fold, &known, &denied);
}

fn is_accepted(fold: &Fold<'_>, cells: &[String]) -> bool {
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    fold.model.score(&cells).expect("cells of the table") >= fold.model.threshold()
}

#[test]
fn every_method_gives_accepted_rows_and_the_same_in_any_order() {
    with_known(|fold, known, denied| {
        for native in Native::ALL {
            let name = native.name();
            let mut method = native.prepare(known);
            assert_eq!(method.name(), name);
            let answers: Vec<Option<Vec<String>>> =
                denied.iter().map(|person| method.answer(person)).collect();
            let found = || answers.iter().flatten();
            assert!(found().count() * 2 > denied.len(), "{name}: {} of {}", found().count(), denied.len());
            // The decoder of a VAE may have learned a row that is denied.
            let valid = found().filter(|cells| is_accepted(fold, cells)).count();
            assert!(valid == found().count() || native == Native::Vae, "{name}: {valid}");
            let mut again = native.prepare(known);
            for (person, answer) in denied.iter().zip(&answers).rev() {
                assert_eq!(again.answer(person), *answer, "{name}: {person:?}");
            }
        }
    });
}

#[test]
fn immutable_features_stay_where_the_method_knows_them() {
    with_known(|_, known, denied| {
        for native in KEEPING {
            let mut method = native.prepare(known);
            for person in denied {
                let Some(cells) = method.answer(person) else { continue };
                assert_eq!(cells[TOWN], person.cells[TOWN], "{}", native.name());
            }
        }
        // Some of those who do not know them change them.
        let mut proplace = Native::Proplace.prepare(known);
        let answers = denied.iter().filter_map(|person| Some((person, proplace.answer(person)?)));
        assert!(answers.filter(|(person, cells)| cells[TOWN] != person.cells[TOWN]).count() > 0);
    });
}

/// The answer of NICE, from the texts of the table.
fn nice_by_hand(fold: &Fold<'_>, person: &Factual) -> Vec<String> {
    let (case, training) = (fold.case, &fold.training);
    let rows = fold.labelled(training).expect("rows");
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let widths: Vec<Option<f64>> = fold
        .model
        .discretizer()
        .domains()
        .iter()
        .map(|domain| Some(domain.summary()?.high - domain.summary()?.low))
        .collect();
    let distance = |cells: &[&str]| -> f64 {
        let one = |place: usize| match (widths[place], number(&person.cells[place]), number(cells[place])) {
            (Some(width), Some(from), Some(to)) => (from - to).abs() / width,
            (Some(_), ..) => 1.0,
            (None, ..) => f64::from(u8::from(person.cells[place] != cells[place])),
        };
        (0..cells.len()).map(one).sum()
    };
    let mut nearest: Option<(f64, Vec<&str>)> = None;
    for row in (0..training.rows()).filter(|&row| rows.accepted[row]) {
        let cells = case.columns.cells(training, row);
        let is_whole = cells.iter().all(|cell| !cell.is_empty());
        let score = fold.model.score(&cells).expect("a score");
        let distance = distance(&cells);
        let is_nearer = nearest.as_ref().is_none_or(|(best, _)| distance < *best);
        if is_whole && score >= fold.model.threshold() && is_nearer {
            nearest = Some((distance, cells));
        }
    }
    let (_, target) = nearest.expect("an accepted row");
    let mut cells: Vec<&str> = person.cells();
    let score = |cells: &[&str]| fold.model.score(cells).expect("a score");
    while score(&cells) < fold.model.threshold() {
        let mut best: Option<(f64, usize)> = None;
        for place in (0..cells.len()).filter(|&place| cells[place] != target[place]) {
            let mut next = cells.clone();
            next[place] = target[place];
            if best.is_none_or(|(highest, _)| score(&next) > highest) {
                best = Some((score(&next), place));
            }
        }
        let (_, place) = best.expect("the target is accepted");
        cells[place] = target[place];
    }
    cells.into_iter().map(str::to_string).collect()
}

#[test]
fn nice_agrees_with_a_computation_from_the_table() {
    with_known(|fold, known, denied| {
        let mut nice = Native::Nice.prepare(known);
        for person in denied {
            assert_eq!(nice.answer(person), Some(nice_by_hand(fold, person)), "{person:?}");
        }
    });
}

#[test]
fn face_ends_the_shortest_path() {
    with_known(|_, known, _| {
        let mut known = known.clone();
        known.accepted = vec![false; known.rows.len()];
        (known.accepted[13], known.accepted[14]) = (true, true);
        // By hand: 10 - 11 - 12 - 13 is 3 long, 10 - 12 - 13 is 4, 10 - 14 is 3.5; 15 leads nowhere.
        let graph = |to_14: f64| {
            vec![
                vec![(1, 1.0), (2, 3.0), (4, to_14)],
                vec![(0, 1.0), (2, 1.0)],
                vec![(1, 1.0), (0, 3.0), (3, 1.0)],
                vec![(2, 1.0)],
                vec![(0, to_14)],
                vec![],
            ]
        };
        let mut face = Face::new(&known, Edges::Nearest);
        face.nodes = (10..16).collect();
        for (to_14, from, expected) in
            [(3.5, 0, Some(13)), (2.5, 0, Some(14)), (3.5, 5, None), (3.5, 3, Some(13)), (3.5, 4, Some(14))]
        {
            face.graph = graph(to_14);
            assert_eq!(face.reached(vec![(from, 0.0)]), expected, "{to_14} from {from}");
        }
    });
}

#[test]
fn face_connects_rows_that_agree_on_immutable_features_within_epsilon() {
    with_known(|_, known, _| {
        for edges in [Edges::Nearest, Edges::Within] {
            let face = Face::new(known, edges);
            let mut edges_seen = 0;
            for (node, near) in face.graph.iter().enumerate() {
                for &(other, distance) in near {
                    let [one, two] = [node, other].map(|node| &known.rows[face.nodes[node]]);
                    assert!(same(one[TOWN], two[TOWN]) && node != other);
                    assert_eq!(distance, known.space.distance(one, two));
                    assert!(edges == Edges::Nearest || distance <= face.epsilon);
                    assert!(face.graph[other].iter().any(|(back, _)| *back == node), "{node} {other}");
                    edges_seen += 1;
                }
            }
            assert!(edges_seen > 100, "{edges_seen}");
        }
    });
}

#[test]
fn clocks_and_consequences_are_not_immutable_unless_the_configuration_says_so() {
    let mut case: Case = case(MOVING);
    for (configured, locked) in
        [(None, [true, false, false, false]), (Some("age"), [true, true, false, false])]
    {
        case.config.immutable = configured.map(|name| vec![name.to_string()]);
        let fold = Fold::new(&case, &case.folds()[0]).expect("a fold");
        let known = Known::new(&fold, 7).expect("rows that the model has seen");
        assert_eq!(known.space.locked, locked);
        let questions = crate::export::Questions::new(&fold).expect("a label");
        let exported = questions.features.iter().map(|feature| feature.change == "never");
        assert!(exported.eq(locked));
        let face = Face::new(&known, Edges::Nearest);
        let edges = face
            .graph
            .iter()
            .enumerate()
            .flat_map(|(node, near)| near.iter().map(move |(other, _)| [node, *other]));
        let pairs: Vec<[&Point; 2]> =
            edges.map(|edge| edge.map(|node| &known.rows[face.nodes[node]])).collect();
        let older = pairs.iter().filter(|[one, other]| one[1] != other[1]).count();
        assert_eq!(older > 1000, configured.is_none(), "{older}");
        assert!(pairs.iter().all(|[one, other]| one[TOWN] == other[TOWN]));
    }
}

#[test]
fn spheres_are_drawn_from_between_their_radii() {
    with_known(|_, known, denied| {
        let spheres = Spheres::new(known);
        let own = denied.iter().filter_map(|person| known.read(person)).find(|own| !own[2].is_nan());
        let own: Point = own.expect("somebody with an income");
        let mut rng = known.rng(Draw::Preparation);
        let mut inside = 0;
        for _ in 0..500 {
            let point = spheres.draw(&own, [0.1, 0.3], &mut rng);
            let ordered = [1, 2].map(|feature| (known.space.axes[feature], own[feature], point[feature]));
            let radius =
                ordered.map(|(axis, from, to)| axis.distance(from, to).powi(2)).iter().sum::<f64>().sqrt();
            // Whole years and incomes, over ranges of at least 30.
            assert!(radius < 0.3 + 0.03, "{radius}");
            let is_clipped = ordered.iter().any(|(axis, _, to)| axis.ends().contains(to));
            assert!(is_clipped || radius > 0.1 - 0.03, "{radius}");
            inside += usize::from(!is_clipped);
            assert!(same(point[TOWN], own[TOWN]));
        }
        assert!(inside > 100, "{inside}");
        for person in denied {
            let own = known.read(person).expect("a row");
            let Some(point) = spheres.nearest(&own, &mut known.rng(Draw::Person(person))) else { continue };
            let sparse = spheres.sparse(point.clone(), &own);
            assert!(known.space.accepts(&sparse));
            let kept = (0..own.len()).all(|at| same(sparse[at], own[at]) || same(sparse[at], point[at]));
            assert!(kept && known.space.distance(&own, &sparse) <= known.space.distance(&own, &point));
        }
    });
}

#[test]
fn a_robust_row_is_accepted_by_every_changed_network() {
    with_known(|fold, known, denied| {
        let proplace = Proplace::new(known);
        let network = fold.model.classifier().network().expect("a trained network");
        let delta = proplace.delta as f32;
        assert!(delta > 0.0);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let changed: Vec<NeuralClassifier> = (0..50)
            .map(|_| {
                // At the corners, where the score is lowest.
                let change = |&parameter: &f32| parameter + if rng.random() { delta } else { -delta };
                let hidden = &network.widths()[1..network.widths().len() - 1];
                let parameters = network.parameters().iter().map(change).collect();
                NeuralClassifier::from_parameters(
                    fold.model.discretizer().cardinalities(),
                    hidden,
                    parameters,
                )
                .expect("as many parameters")
            })
            .collect();
        for &row in proplace.rows.iter().take(40) {
            let codes = known.space.codes(&known.rows[row]);
            let lowest = proplace.lowest_log_odds(&codes);
            assert!(lowest < network.log_odds(&codes));
            for network in &changed {
                assert!(network.log_odds(&codes) >= lowest - 1e-4, "{lowest}");
            }
        }
        for person in denied {
            let own = known.read(person).expect("a row");
            let answer = Native::Proplace.prepare(known).answer(person).expect("a robust row");
            let answer: Vec<&str> = answer.iter().map(String::as_str).collect();
            let point = known.space.read(&answer).expect("its own cells");
            assert!(proplace.is_robust(&point));
            let nearest = &known.rows[known.nearest(&proplace.rows, &own, 1)[0]];
            assert!(known.space.distance(&own, &point) <= known.space.distance(&own, nearest) + 1e-9);
        }
    });
}

#[test]
fn without_a_change_of_weights_the_bound_is_the_score() {
    with_known(|fold, known, _| {
        let mut proplace = Proplace::new(known);
        proplace.delta = 0.0;
        for row in known.rows.iter().take(50) {
            let codes = known.space.codes(row);
            let expected = fold.model.classifier().typical().log_odds(&codes);
            assert!((proplace.lowest_log_odds(&codes) - expected).abs() < 1e-4);
        }
    });
}

#[test]
fn dice_makes_small_changes_smaller_and_keeps_the_row_accepted() {
    with_known(|_, known, denied| {
        let mut dice = Dice::new(known, Search::Random);
        // Every change is small.
        dice.small.iter_mut().for_each(|(_, small)| *small = f64::INFINITY);
        let mut shorter = 0;
        for person in denied {
            let own = known.read(person).expect("a row");
            let rows = known.nearest(&known.whole_accepted(), &own, 5);
            for point in rows.iter().map(|&row| known.rows[row].clone()) {
                let sparser = dice.sparser(point.clone(), &own);
                assert!(known.space.accepts(&sparser));
                let [before, after] = [&point, &sparser].map(|point| known.space.distance(&own, point));
                assert!(after <= before + 1e-9, "{after} {before}");
                shorter += usize::from(after < before);
            }
        }
        assert!(shorter > 0);
    });
}

#[test]
fn points_are_written_and_read_as_they_are() {
    with_known(|fold, known, denied| {
        let space = &known.space;
        let kinds = space.axes.iter().map(|axis| matches!(axis, Axis::Number { .. })).collect::<Vec<_>>();
        assert_eq!(kinds, [false, true, true, false]);
        let own = known.read(denied[0]).expect("a row");
        for row in known.rows.iter().take(60) {
            let cells = space.write(row, &own, &denied[0].cells);
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            let read = space.read(&cells).expect("its own cells");
            assert!(read.iter().zip(row).all(|(read, value)| same(*read, *value)), "{cells:?}");
            assert_eq!(space.codes(row), fold.model.discretizer().encode_row(&cells).expect("cells").codes());
        }
        assert_eq!(space.write(&own, &own, &denied[0].cells), denied[0].cells);
        let age = space.axes[1];
        assert_eq!([age.snapped(33.4), age.snapped(-5.0)], [33.0, age.ends()[0]]);
    });
}
