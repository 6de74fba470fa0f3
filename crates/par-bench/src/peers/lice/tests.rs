//! The program against a list of all rows.

use std::path::PathBuf;

use par_circuit::{Code, Node};

use super::*;
use crate::case::Fold;
use crate::measures::Measurer;
use crate::peers::program::{Column, Program};
use crate::test_case::{MOVING, SCHEMA, case};

/// The test case, with a rule between directions, and whatever is to be checked of some denied people.
fn with_lice(likelihood: Likelihood, check: impl Fn(&Fold<'_>, &Lice<'_>, &Factual)) {
    let schema = SCHEMA.to_string() + "[[rule]]\nif_increases = \"income\"\nmust_increase = \"age\"\n";
    let mut case = case(&schema);
    // Which LiCE does not know.
    case.config.answers.budget = 1;
    let fold = Fold::new(&case, &case.folds()[0]).expect("a fold");
    let known = Known::new(&fold, 7).expect("rows that the model has seen");
    let program = std::env::var_os("HIGHS").map(PathBuf::from).unwrap_or_default();
    let lice = Lice::new(&known, likelihood, &program).expect("a network, and no clocks");
    for person in fold.denied().into_iter().take(6) {
        check(&fold, &lice, &fold.people[person]);
    }
}

/// The columns' values for a row of choices: the network's units and the flow of the largest terms.
fn completed(fold: &Fold<'_>, lice: &LiceModel, row: &[Choice], codes: &[Code]) -> Vec<f64> {
    let mut values: Vec<f64> = lice
        .program
        .columns
        .iter()
        .map(|column| if column.low == column.high { column.low } else { 0.0 })
        .collect();
    row.iter().zip(&lice.choices).for_each(|(&choice, columns)| values[columns[usize::from(choice)]] = 1.0);
    let network = fold.model.classifier().network().expect("a network");
    let starts = par_model::classifier::neural::offsets(&fold.model.discretizer().cardinalities());
    let mut inputs = vec![0.0; network.widths()[0]];
    par_model::classifier::neural::ones(&starts, codes).for_each(|place| inputs[place] = 1.0);
    let mut units = lice.units.iter();
    for layer in network.layers().take(network.widths().len() - 2) {
        let sum = |(unit, &bias): (usize, &f32)| {
            let terms = inputs.iter().enumerate();
            let terms = terms.map(|(input, value)| value * f64::from(layer.weights_of(input)[unit]));
            f64::from(bias) + terms.sum::<f64>()
        };
        let sums: Vec<f64> = layer.biases.iter().enumerate().map(sum).collect();
        for sum in &sums {
            let (value, sign) = units.next().expect("a unit");
            values[*value] = sum.max(0.0);
            sign.iter().for_each(|sign| values[*sign] = f64::from(u8::from(*sum > 0.0)));
        }
        inputs = sums.into_iter().map(|sum| sum.max(0.0)).collect();
    }
    let (circuit, mut open) = (fold.model.accepted(), vec![fold.model.accepted().nodes().len() - 1]);
    let best = largest(circuit, codes);
    while let Some(node) = open.pop() {
        match &circuit.nodes()[node] {
            Node::Product { children } => open.extend(children.iter().map(|child| child.index())),
            Node::Sum { children, weights } => {
                let term = |at: &usize| weights[*at].ln() + best[children[*at].index()];
                let at = (0..children.len())
                    .max_by(|one, other| term(one).total_cmp(&term(other)))
                    .expect("a child");
                if let Some(column) = lice.flow.children[node][at] {
                    values[column] = 1.0;
                }
                open.push(children[at].index());
            }
            Node::Leaf { variable, .. } if codes[*variable] == UNKNOWN => {}
            Node::Leaf { variable, .. } => {
                if let Some(column) = lice.flow.codes[node][usize::from(codes[*variable])] {
                    values[column] = 1.0;
                }
            }
        }
    }
    values
}

/// Whether all bounds and rows hold, and the cost.
fn checked(program: &Program, values: &[f64]) -> (bool, f64) {
    let is_within = |value: f64, low: f64, high: f64| value >= low - 1e-6 && value <= high + 1e-6;
    let columns = program.columns.iter().zip(values);
    let fits = columns.clone().all(|(Column { low, high, .. }, value)| is_within(*value, *low, *high));
    let rows = program.rows.iter().all(|row| {
        let sum: f64 = row.terms.iter().map(|(column, factor)| factor * values[*column]).sum();
        is_within(sum, row.low, row.high)
    });
    (fits && rows, columns.map(|(column, value)| column.cost * value).sum())
}

/// All rows of choices.
fn all_rows(counts: &[usize]) -> Vec<Vec<Choice>> {
    counts.iter().fold(vec![Vec::new()], |rows, &count| {
        let longer = |row: &Vec<Choice>| {
            let row = row.clone();
            (0..count as Choice).map(move |choice| [row.as_slice(), &[choice]].concat())
        };
        rows.iter().flat_map(longer).collect()
    })
}

/// Checks the program on all rows of a person, and returns the least cost.
fn enumerated(fold: &Fold<'_>, lice: &Lice<'_>, person: &Factual) -> Option<f64> {
    let cells = person.cells();
    let (candidates, model) = lice.asked(&cells);
    let mut measurer = Measurer::new(&fold.model, &fold.code_units);
    let (mut least, mut kept, mut seen) = (None::<f64>, 0, 0);
    for row in all_rows(&candidates.counts()) {
        let codes = candidates.codes(&row);
        let texts: Vec<String> =
            (0..row.len()).map(|at| candidates.text(fold.model.discretizer(), &row, at, cells[at])).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let measured = measurer.measure(&cells, &texts).expect("its own cells");
        let log_likelihood = *largest(fold.model.accepted(), &codes).last().expect("a root");
        let is_likely = match lice.plausible {
            Plausible::AtLeast(bound) => log_likelihood >= bound,
            Plausible::Worth(_) => true,
        };
        let accepted_from = fold.model.scale().log_odds(fold.model.threshold());
        let above = fold.model.classifier().typical().log_odds(&codes) - accepted_from;
        if (above - 1e-4).abs() < 1e-3 {
            // Too near the threshold to say, with rounding.
            continue;
        }
        let expected = above > 0.0 && is_likely && measured.causal;
        let (holds, cost) = checked(&model.program, &completed(fold, &model, &row, &codes));
        assert_eq!(holds, expected, "{texts:?}: {measured:?}, {log_likelihood}");
        seen += 1;
        if holds {
            let worth = if let Plausible::Worth(worth) = lice.plausible { worth } else { 0.0 };
            assert!((cost - measured.distance + worth * log_likelihood).abs() < 1e-6, "{cost} {measured:?}");
            assert!(log_likelihood <= -measured.nll + 1e-4, "the largest term is more than the sum");
            kept += 1;
            least = Some(least.map_or(cost, |least| least.min(cost)));
        }
    }
    assert!(seen > 20 && kept < seen, "{kept} of {seen}");
    least
}

#[test]
fn the_program_allows_what_a_list_of_all_rows_allows() {
    for likelihood in [Likelihood::Median, Likelihood::Optimize] {
        with_lice(likelihood, |fold, lice, person| {
            let least = enumerated(fold, lice, person);
            assert!(least.is_some() || likelihood == Likelihood::Median, "{person:?}");
        });
    }
}

#[test]
fn half_of_the_favourable_rows_reach_the_median_as_the_program_sees_them() {
    let case = case(SCHEMA);
    let fold = Fold::new(&case, &case.folds()[0]).expect("a fold");
    let known = Known::new(&fold, 7).expect("rows that the model has seen");
    let Some(Plausible::AtLeast(bound)) =
        Lice::new(&known, Likelihood::Median, "highs".as_ref()).map(|lice| lice.plausible)
    else {
        panic!("a bound");
    };
    let rows = || (0..known.rows.len()).filter(|&row| known.favourable[row]);
    let term = |row: usize| {
        *largest(fold.model.accepted(), &known.space.codes(&known.rows[row])).last().expect("a root")
    };
    let reached = rows().filter(|&row| term(row) >= bound).count();
    assert!(reached.abs_diff(rows().count() / 2) <= 1 + rows().count() / 20, "{reached}");
    // The whole likelihood is more than the largest term, and its median more than that of the terms.
    let mut evaluator = fold.model.accepted().evaluator();
    let whole = rows().map(|row| evaluator.log_prob(&known.space.codes(&known.rows[row]))).collect();
    assert!(median(whole).expect("rows") > bound + 0.1);
}

#[test]
fn lice_is_left_out_where_something_moves_by_itself() {
    let case = case(MOVING);
    let fold = Fold::new(&case, &case.folds()[0]).expect("a fold");
    let known = Known::new(&fold, 7).expect("rows that the model has seen");
    assert!(Lice::new(&known, Likelihood::Optimize, "highs".as_ref()).is_none());
}

#[test]
#[ignore = "needs the solver that HIGHS names"]
fn the_solver_finds_the_best_of_all_rows() {
    assert!(std::env::var_os("HIGHS").is_some(), "HIGHS names no solver");
    for likelihood in [Likelihood::Median, Likelihood::Optimize] {
        with_lice(likelihood, |fold, lice, person| {
            let least = enumerated(fold, lice, person);
            let (_, model) = lice.asked(&person.cells());
            let solved = model.program.solve(&lice.solver).expect("a solver");
            let is_same = match (&solved, least) {
                (Solved::Found(values), Some(least)) => {
                    (checked(&model.program, values).1 - least).abs() < 1e-4
                }
                (solved, least) => *solved == Solved::Infeasible && least.is_none(),
            };
            assert!(is_same, "solved {solved:?}, listed {least:?}");
            let answer = lice.answer(person).expect("a solver");
            assert_eq!(matches!(answer, LiceAnswer::Found(_)), least.is_some());
        });
    }
}
