//! Small random circuits, and their rows by enumeration.

use par_circuit::{Circuit, Code, Evidence, Node, NodeId, OPEN};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A random circuit over one to five variables with one to four categories each.
pub(crate) fn circuit(seed: u64) -> Circuit {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let cardinalities: Vec<usize> = (0..rng.random_range(1..=5)).map(|_| rng.random_range(1..=4)).collect();
    let scope: Vec<usize> = (0..cardinalities.len()).collect();
    let mut nodes = Vec::new();
    grow(&mut nodes, &cardinalities, &scope, 3, &mut rng);
    Circuit::new(cardinalities, nodes).expect("grown as a circuit")
}

fn grow(
    nodes: &mut Vec<Node>,
    cardinalities: &[usize],
    scope: &[usize],
    depth: usize,
    rng: &mut impl Rng,
) -> NodeId {
    let node = if depth > 0 && rng.random_bool(0.6) {
        let count = rng.random_range(1..=3);
        let children = (0..count).map(|_| grow(nodes, cardinalities, scope, depth - 1, rng)).collect();
        Node::Sum { children, weights: distribution(count, rng) }
    } else if let [variable] = scope {
        let probabilities = distribution(cardinalities[*variable], rng);
        Node::Leaf { variable: *variable, probabilities }
    } else {
        let middle = rng.random_range(1..scope.len());
        let parts = [&scope[..middle], &scope[middle..]];
        let children = parts.map(|part| grow(nodes, cardinalities, part, depth.saturating_sub(1), rng));
        Node::Product { children: children.into() }
    };
    nodes.push(node);
    NodeId(nodes.len() as u32 - 1)
}

/// Random shares, some of them zero.
fn distribution(count: usize, rng: &mut impl Rng) -> Box<[f64]> {
    let mut shares: Box<[f64]> =
        (0..count).map(|_| if rng.random_bool(0.1) { 0.0 } else { rng.random::<f64>() }).collect();
    if shares.iter().all(|&share| share == 0.0) {
        shares[0] = 1.0;
    }
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= total);
    shares
}

/// Every row that agrees with a row in which some codes are open.
pub(crate) fn completions(row: &[Code], cardinalities: &[usize]) -> Vec<Vec<Code>> {
    let mut rows = vec![Vec::new()];
    for (&code, &cardinality) in row.iter().zip(cardinalities) {
        let codes = if code == OPEN { 0..cardinality as Code } else { code..code + 1 };
        rows = rows
            .iter()
            .flat_map(|row| codes.clone().map(|code| [row.as_slice(), &[code]].concat()))
            .collect();
    }
    rows
}

/// Every row of a circuit, with its probability by the plain path.
pub(crate) fn enumerate(circuit: &Circuit) -> Vec<(Vec<Code>, f64)> {
    let open = vec![OPEN; circuit.cardinalities().len()];
    let rows = completions(&open, circuit.cardinalities());
    let probability = |row: &Vec<Code>| circuit.log_prob(&Evidence::from_row(row)).exp();
    rows.iter().map(|row| (row.clone(), probability(row))).collect()
}

/// A random row; each code is open with probability `open`.
pub(crate) fn row(circuit: &Circuit, open: f64, seed: u64) -> Vec<Code> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let code = |&cardinality: &usize| {
        if rng.random_bool(open) { OPEN } else { rng.random_range(0..cardinality as Code) }
    };
    circuit.cardinalities().iter().map(code).collect()
}

/// Random soft weights, some of them zero, of any size.
pub(crate) fn soft(circuit: &Circuit, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let codes: usize = circuit.cardinalities().iter().sum();
    (0..codes).map(|_| if rng.random_bool(0.2) { 0.0 } else { rng.random::<f32>() * 3.0 }).collect()
}

/// Equal, both infinite, or near.
pub(crate) fn assert_close(found: f64, expected: f64, tolerance: f64) {
    let close = found == expected || (found - expected).abs() <= tolerance;
    assert!(close, "found {found}, expected {expected}");
}
