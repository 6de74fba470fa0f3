//! The measures of answers.

use std::time::Duration;

use par_answer::evaluate::{Evaluation, answer_by_all_methods, evaluate, median};
use par_answer::{Answer, Method, Request, answer};
use par_model::Mean;

use crate::{applicant, german};

#[test]
fn every_mean_counts_its_people() {
    let model = german();
    let rows: Vec<Vec<&str>> = (0..120).map(applicant).collect();
    let people = answer_by_all_methods(model, &rows, &Request::default()).expect("rows of the table");
    let evaluation = Evaluation::new(model, &people);
    let denied = people.iter().flatten().count();
    assert_eq!((evaluation.rows, evaluation.denied), (120, denied));
    assert!(denied > 10 && denied < 110);
    assert_eq!(evaluation.possible, denied);
    assert_eq!(evaluation.refined, Mean { mean: Some(1.0), over: denied, of: denied });
    for (metrics, method) in evaluation.methods.iter().zip(Method::ALL) {
        assert_eq!(metrics.method, method);
        let ways = people.iter().flatten().filter_map(|own| own.way(method as usize));
        let ways: Vec<_> = ways.collect();
        for mean in [metrics.nll, metrics.sparsity, metrics.similarity, metrics.score, metrics.causality] {
            assert_eq!((mean.over, mean.of), (ways.len(), denied));
        }
        assert_eq!((metrics.validity.over, metrics.validity.of), (denied, denied));
        let nll = -ways.iter().map(|way| way.log_likelihood).sum::<f64>() / ways.len() as f64;
        assert!((metrics.nll.mean.expect("a person with a way") - nll).abs() < 1e-9);
        assert_eq!(metrics.actionability.mean, Some(1.0));
        assert_eq!(metrics.optimal.over, if method == Method::Exact { ways.len() } else { 0 });
    }
    let exact = &evaluation.methods[2];
    assert_eq!((exact.gap.mean, exact.median_gap, exact.optimal.mean), (Some(0.0), Some(0.0), Some(1.0)));
}

#[test]
fn searches_that_a_deadline_cut_short_are_counted() {
    let rows: Vec<Vec<&str>> = (0..40).map(applicant).collect();
    let cut = |deadline: Option<Duration>| {
        let request = Request { deadline, ..Request::default() };
        let people = answer_by_all_methods(german(), &rows, &request).expect("rows of the table");
        let Evaluation { denied, methods, .. } = Evaluation::new(german(), &people);
        assert!(denied > 0);
        methods.into_iter().map(|method| (method.search_ended, denied)).collect::<Vec<_>>()
    };
    assert!(cut(Some(Duration::ZERO)).into_iter().all(|(ended, denied)| ended == denied));
    assert!(cut(None).into_iter().all(|(ended, _)| ended == 0));
}

/// Changes of numbers are in median absolute deviations; every other change counts as 1, in `distance` only.
#[test]
fn similarity_is_of_numbers_and_distance_of_everything() {
    let model = german();
    let mut changed = [0, 0];
    for cells in crate::denied(60) {
        let Ok(Answer::Found(found)) = answer(model, &cells, &Request::default()) else { continue };
        let way = &found.ways[0];
        let (mut similarity, mut others) = (0.0, 0.0);
        for change in &way.changes {
            match model.discretizer().domains()[change.feature].summary() {
                Some(summary) => {
                    let from: f64 = cells[change.feature].parse().expect("a number");
                    let to: f64 = way.cells[change.feature].parse().expect("a number");
                    similarity += (to - from).abs() / summary.mad;
                    changed[0] += 1;
                }
                None => {
                    others += 1.0;
                    changed[1] += 1;
                }
            }
        }
        assert!((way.similarity - similarity).abs() < 1e-9, "{way:?}");
        assert!((way.distance - similarity - others).abs() < 1e-9, "{way:?}");
    }
    assert!(changed.iter().all(|count| *count > 5), "{changed:?}");
}

#[test]
fn without_people_there_are_no_means() {
    let evaluation = evaluate(german(), &[]).expect("no rows");
    assert_eq!((evaluation.rows, evaluation.denied, evaluation.possible), (0, 0, 0));
    assert!(evaluation.methods.iter().all(|method| method.nll == Mean { mean: None, over: 0, of: 0 }));
    assert!(evaluation.methods.iter().all(|method| method.time_us.is_none()));
    let times = |method: &par_answer::evaluate::MethodMetrics| method.time_us_mean.or(method.time_us_p99);
    assert!(evaluation.methods.iter().all(|method| times(method).is_none()));
}

#[test]
fn a_row_that_does_not_fit_is_reported_by_its_position() {
    let rows = vec![applicant(0), vec!["?"; 20]];
    let (position, error) = evaluate(german(), &rows).expect_err("no such status");
    assert_eq!(position, 1);
    assert!(error.to_string().contains("Status of existing checking account"), "{error}");
}

#[test]
fn the_median_of_an_even_number_of_values_is_the_mean_of_the_two_in_the_middle() {
    assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(median(vec![]), None);
}
