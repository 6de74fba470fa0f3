//! The program against a list of all rows.

use std::path::PathBuf;

use par_circuit::{Circuit, Code, Node};

use super::*;
use crate::case::Fold;
use crate::measures::Measurer;
use crate::peers::program::{Column, Program};
use crate::test_case::{SCHEMA, case};

/// The test case, with a rule between directions, and whatever is to be checked of some denied people.
fn with_lice(likelihood: Likelihood, check: impl Fn(&Fold<'_>, &mut Lice<'_>, &Factual)) {
    let schema = SCHEMA.to_string() + "[[rule]]\nif_increases = \"income\"\nmust_increase = \"age\"\n";
    let case = case(&schema);
    let fold = Fold::new(&case, &case.folds()[0]).expect("a fold");
    let known = Known::new(&fold, 7).expect("rows that the model has seen");
    let program = std::env::var_os("HIGHS").map(PathBuf::from).unwrap_or_default();
    let mut lice = Lice::new(&known, likelihood, &program);
    for person in fold.denied().into_iter().take(6) {
        check(&fold, &mut lice, &fold.people[person]);
    }
}

/// For each node, the log-probability of its largest terms.
fn largest(circuit: &Circuit, row: &[Code]) -> Vec<f64> {
    let mut best: Vec<f64> = Vec::new();
    for node in circuit.nodes() {
        best.push(match node {
            Node::Leaf { variable, .. } if row[*variable] == par_data::UNKNOWN => 0.0,
            Node::Leaf { variable, probabilities } => probabilities[usize::from(row[*variable])].ln(),
            Node::Product { children } => children.iter().map(|child| best[child.index()]).sum(),
            Node::Sum { children, weights } => {
                let terms =
                    children.iter().zip(weights).map(|(child, weight)| weight.ln() + best[child.index()]);
                terms.fold(f64::NEG_INFINITY, f64::max)
            }
        });
    }
    best
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
    let (widths, mut rest) = (network.widths(), network.parameters());
    let starts = par_model::classifier::neural::offsets(&fold.model.discretizer().cardinalities());
    let mut inputs = vec![0.0; widths[0]];
    par_model::classifier::neural::ones(&starts, codes).for_each(|place| inputs[place] = 1.0);
    let mut units = lice.units.iter();
    for pair in widths.windows(2).take(widths.len() - 2) {
        let (weights, after) = rest.split_at(pair[0] * pair[1]);
        let (biases, after) = after.split_at(pair[1]);
        rest = after;
        let sum = |unit: usize| {
            let terms = inputs
                .iter()
                .enumerate()
                .map(|(input, value)| value * f64::from(weights[input * pair[1] + unit]));
            f64::from(biases[unit]) + terms.sum::<f64>()
        };
        let sums: Vec<f64> = (0..pair[1]).map(sum).collect();
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
            Node::Leaf { variable, .. } if codes[*variable] == par_data::UNKNOWN => {}
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
    let (candidates, model) = lice.asked(&cells).expect("a network");
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
        let threshold = fold.model.threshold();
        let above = fold.model.classifier().typical().log_odds(&codes) - (threshold / (1.0 - threshold)).ln();
        if (above - 1e-4).abs() < 1e-3 {
            // Too near the threshold to say, with rounding.
            continue;
        }
        let changes = row.iter().filter(|choice| **choice > 0).count();
        let expected =
            above > 0.0 && is_likely && measured.causal && changes <= fold.model.config().answers.budget;
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

/// Runs only where `HIGHS` names the solver.
#[test]
fn the_solver_finds_the_best_of_all_rows() {
    if std::env::var_os("HIGHS").is_none() {
        return;
    }
    for likelihood in [Likelihood::Median, Likelihood::Optimize] {
        with_lice(likelihood, |fold, lice, person| {
            let least = enumerated(fold, lice, person);
            let (_, model) = lice.asked(&person.cells()).expect("a network");
            let found = model.program.solve(&lice.solver).map(|values| checked(&model.program, &values).1);
            let is_same = match (found, least) {
                (Some(found), Some(least)) => (found - least).abs() < 1e-4,
                (found, least) => found.is_none() && least.is_none(),
            };
            assert!(is_same, "found {found:?}, listed {least:?}");
            assert_eq!(lice.answer(person).is_some(), least.is_some());
        });
    }
}
