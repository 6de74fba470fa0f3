//! Rows drawn from a circuit, with or without evidence.

use std::ops::Range;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Circuit, Code, Dataset, Evidence, Node, OPEN, threads};

/// Draws rows from a circuit: a child at every sum, all children at every product, a category at every
/// leaf. Each choice is made in constant time.
///
/// ```
/// # use par_circuit::{Circuit, Node};
/// # let coin = Node::Leaf { variable: 0, probabilities: [0.1, 0.9].into() };
/// # let circuit = Circuit::new(vec![2], vec![coin])?;
/// let rows = circuit.sampler().rows(0..1000, 42);
/// let heads = rows.rows().filter(|row| row[0] == 1).count();
/// assert!((850..950).contains(&heads));
/// # Ok::<(), par_circuit::CircuitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler<'a> {
    circuit: &'a Circuit,
    /// One a node; products have nothing to choose.
    choices: Vec<AliasTable>,
}

impl Circuit {
    /// A sampler. Keep it: its tables take longer to make than a row.
    pub fn sampler(&self) -> Sampler<'_> {
        let choice = |node: &Node| match node {
            Node::Leaf { probabilities, .. } => AliasTable::new(probabilities),
            Node::Sum { weights, .. } => AliasTable::new(weights),
            Node::Product { .. } => AliasTable::default(),
        };
        Sampler { circuit: self, choices: self.nodes().iter().map(choice).collect() }
    }
}

impl Sampler<'_> {
    /// Rows that share one stream of random numbers.
    pub const BLOCK: u64 = 1024;

    /// The rows at the given positions of the endless sequence of a seed.
    ///
    /// A row depends on its position and the seed alone, not on the range or on the number of threads.
    pub fn rows(&self, rows: Range<u64>, seed: u64) -> Dataset {
        let blocks = rows.start / Self::BLOCK..rows.end.div_ceil(Self::BLOCK);
        let block = |block: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(block);
            let mut codes = Vec::new();
            let mut row = vec![0; self.circuit.cardinalities().len()];
            let mut stack = Vec::new();
            for position in block * Self::BLOCK..((block + 1) * Self::BLOCK).min(rows.end) {
                self.fill(&mut row, &mut stack, &mut rng);
                if position >= rows.start {
                    codes.extend_from_slice(&row);
                }
            }
            codes
        };
        let codes: Vec<Vec<Code>> = threads::map(blocks, block);
        let cardinalities = self.circuit.cardinalities().to_vec();
        Dataset::new(cardinalities, codes.concat()).expect("leaves give codes of their variables")
    }

    /// One row.
    ///
    /// # Panics
    /// When `row` has not one place a variable.
    pub fn row(&self, row: &mut [Code], rng: &mut impl Rng) {
        assert_eq!(row.len(), self.circuit.cardinalities().len(), "one place a variable");
        self.fill(row, &mut Vec::new(), rng);
    }

    fn fill(&self, row: &mut [Code], stack: &mut Vec<usize>, rng: &mut impl Rng) {
        let nodes = self.circuit.nodes();
        stack.push(nodes.len() - 1);
        while let Some(index) = stack.pop() {
            match &nodes[index] {
                Node::Leaf { variable, .. } => row[*variable] = self.choices[index].draw(rng) as Code,
                Node::Product { children } => stack.extend(children.iter().map(|child| child.index())),
                Node::Sum { children, .. } => stack.push(children[self.choices[index].draw(rng)].index()),
            }
        }
    }
}

/// A distribution to draw from in constant time: equal cells, each shared by at most two outcomes
/// (Walker's alias method).
#[derive(Clone, Debug, Default)]
struct AliasTable {
    /// How much of its cell each outcome keeps, in 2⁻³² of a cell.
    own: Vec<u32>,
    /// The outcome that the rest of the cell belongs to.
    alias: Vec<u32>,
}

impl AliasTable {
    fn new(masses: &[f64]) -> Self {
        let total: f64 = masses.iter().sum();
        let mut shares: Vec<f64> = masses.iter().map(|mass| mass / total * masses.len() as f64).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..shares.len()).partition(|&outcome| shares[outcome] < 1.0);
        let mut own = vec![u32::MAX; shares.len()];
        let mut alias: Vec<u32> = (0..shares.len() as u32).collect();
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            own[poor] = (shares[poor] * 2.0_f64.powi(32)) as u32;
            alias[poor] = rich as u32;
            shares[rich] -= 1.0 - shares[poor];
            if shares[rich] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        Self { own, alias }
    }

    fn draw(&self, rng: &mut impl Rng) -> usize {
        let random: u64 = rng.random();
        // The upper half picks a cell, the lower half one of its two outcomes.
        let cell = (((random >> 32) * self.own.len() as u64) >> 32) as usize;
        if (random as u32) < self.own[cell] { cell } else { self.alias[cell] as usize }
    }
}

impl Circuit {
    /// Draws rows given the known codes; those that are [`OPEN`] are filled in.
    ///
    /// `None` when the known codes are impossible.
    ///
    /// # Panics
    /// When the row does not fit the variables.
    pub fn conditional_samples(&self, known: &[Code], count: usize, seed: u64) -> Option<Dataset> {
        let value = self.log_values(&Evidence::from_row(known));
        if *value.last()? == f64::NEG_INFINITY {
            return None;
        }
        // A child of a sum counts by its weight times its probability of the known codes.
        let choice = |(node, &above): (&Node, &f64)| match node {
            Node::Leaf { probabilities, .. } => AliasTable::new(probabilities),
            Node::Sum { children, weights } if above > f64::NEG_INFINITY => {
                let terms = children.iter().zip(weights);
                let terms = terms.map(|(child, weight)| weight * (value[child.index()] - above).exp());
                AliasTable::new(&terms.collect::<Vec<f64>>())
            }
            _ => AliasTable::default(),
        };
        let choices = self.nodes().iter().zip(&value).map(choice).collect();
        let drawn = Sampler { circuit: self, choices }.rows(0..count as u64, seed);
        let keep = |(&drawn, &known): (&Code, &Code)| if known == OPEN { drawn } else { known };
        let codes = drawn.rows().flat_map(|row| row.iter().zip(known).map(keep)).collect();
        Some(Dataset::new(self.cardinalities().to_vec(), codes).expect("known codes fit the variables"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;

    #[test]
    fn outcomes_are_drawn_in_proportion_to_their_weights() {
        // Weights for which sampling by left-skewed Gumbel noise would be visibly biased.
        let choice = AliasTable::new(&[0.70, 0.20, 0.05, 0.05]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0.0_f64; 4];
        (0..100_000).for_each(|_| counts[choice.draw(&mut rng)] += 1e-5);
        for (count, weight) in counts.iter().zip([0.70, 0.20, 0.05, 0.05]) {
            assert!((count - weight).abs() < 0.005, "{count} for {weight}");
        }
    }

    #[test]
    fn an_outcome_without_mass_is_never_drawn() {
        let choice = AliasTable::new(&[0.0, 0.5, 0.0, 0.5]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert!((0..10_000).all(|_| [1, 3].contains(&choice.draw(&mut rng))));
    }

    #[test]
    fn impossible_evidence_has_no_samples() {
        let never = Node::Leaf { variable: 0, probabilities: [1.0, 0.0].into() };
        let coin = Node::Leaf { variable: 1, probabilities: [0.5, 0.5].into() };
        let both = Node::Product { children: [NodeId(0), NodeId(1)].into() };
        let circuit = Circuit::new(vec![2, 2], vec![never, coin, both]).expect("a circuit");
        assert_eq!(circuit.conditional_samples(&[1, OPEN], 3, 0), None);
        assert!(circuit.conditional_samples(&[0, OPEN], 3, 0).is_some());
    }
}
