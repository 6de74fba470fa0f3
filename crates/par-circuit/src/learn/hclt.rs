//! Hidden Chow-Liu trees, one for all rows or one for each group of similar rows.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::base_rates::BaseRates;
use super::chow_liu::ChowLiuTree;
use super::cluster::cluster;
use super::columns::ColumnMajor;
use super::em::{self, EmConfig};
use crate::{Circuit, Dataset, LearnError, Node, NodeId, Stop, Stopped};

/// Sizes of hidden Chow-Liu trees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HcltConfig {
    /// States of each hidden variable. At least 1; 16 unless told.
    pub states: usize,
    /// Groups of similar rows, each with a tree of its own. At least 1; 1 unless told.
    pub groups: usize,
}

impl Default for HcltConfig {
    fn default() -> Self {
        Self { states: 16, groups: 1 }
    }
}

impl HcltConfig {
    pub(crate) fn check(&self) -> Result<(), LearnError> {
        for (name, found) in [("states", self.states), ("groups", self.groups)] {
            if !(1..=4096).contains(&found) {
                return Err(LearnError::Setting { name, found: found as f64, expected: "1 to 4096" });
            }
        }
        Ok(())
    }
}

/// Passes of EM over each group's own rows before the trees are mixed.
const GROUP_PASSES: usize = 10;

/// Trees over all variables, one for each group of rows.
pub(crate) struct GroupTrees {
    states: usize,
    /// Each tree with the rows it was learned from.
    trees: Vec<(ChowLiuTree, Vec<u32>)>,
}

impl GroupTrees {
    pub(crate) fn learn(
        columns: &ColumnMajor,
        rows: usize,
        rates: &BaseRates,
        config: &HcltConfig,
        seed: u64,
        stop: Stop<'_>,
    ) -> Result<Self, Stopped> {
        let all: Vec<u32> = (0..rows as u32).collect();
        let groups = if config.groups == 1 {
            vec![all]
        } else {
            let scope: Vec<usize> = (0..columns.width()).collect();
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let group = cluster(columns, &scope, &all, config.groups, rates, &mut rng, stop)?;
            let members =
                |wanted: usize| all.iter().copied().filter(|&row| group[row as usize] == wanted).collect();
            (0..config.groups).map(members).filter(|members: &Vec<u32>| !members.is_empty()).collect()
        };
        let tree = |members: Vec<u32>| Ok((ChowLiuTree::learn(columns, &members, stop)?, members));
        let trees = groups.into_iter().map(tree).collect::<Result<_, Stopped>>()?;
        Ok(Self { states: config.states, trees })
    }

    /// The circuit that EM starts from.
    pub(crate) fn circuit(
        &self,
        rows: &Dataset,
        columns: &ColumnMajor,
        rates: &BaseRates,
        em: &EmConfig,
        seed: u64,
        stop: Stop<'_>,
    ) -> Result<Circuit, Stopped> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut start = |tree: &ChowLiuTree| hidden_tree(tree, columns, rates, self.states, &mut rng);
        if let [(tree, _)] = self.trees.as_slice() {
            return Ok(start(tree));
        }
        let em = EmConfig { max_passes: GROUP_PASSES, ..em.clone() };
        let part = |(tree, members): &(ChowLiuTree, Vec<u32>)| {
            let own = rows.select(&members.iter().map(|&row| row as usize).collect::<Vec<_>>());
            let part = em::fit(start(tree), &own, None, rates, &em, stop)?.circuit;
            Ok((own.len() as f64 / rows.len() as f64, part))
        };
        let parts: Vec<(f64, Circuit)> = self.trees.iter().map(part).collect::<Result<_, Stopped>>()?;
        let parts: Vec<(f64, &Circuit)> = parts.iter().map(|(weight, part)| (*weight, part)).collect();
        Ok(Circuit::mixture(&parts).expect("groups make up all rows"))
    }
}

/// A circuit with a hidden variable of `states` states above every variable that has children in the
/// tree; parameters start at random around the base rates.
fn hidden_tree(
    tree: &ChowLiuTree,
    columns: &ColumnMajor,
    rates: &BaseRates,
    states: usize,
    rng: &mut ChaCha8Rng,
) -> Circuit {
    let mut nodes: Vec<Node> = Vec::new();
    let push = |nodes: &mut Vec<Node>, node: Node| {
        nodes.push(node);
        NodeId(nodes.len() as u32 - 1)
    };
    let even = vec![1.0 / states as f64; states];
    // The nodes that the subtree of a variable passes to its parent: one for each of the parent's states.
    let mut messages: Vec<Vec<NodeId>> = vec![Vec::new(); columns.width()];
    for variable in tree.bottom_up() {
        let children = tree.children(variable);
        let is_root = tree.is_root(variable);
        let leaves: Vec<NodeId> = (0..states)
            .map(|_| {
                push(&mut nodes, Node::Leaf { variable, probabilities: jitter(rates.of(variable), rng) })
            })
            .collect();
        // A variable without children needs no hidden variable: its parent's states choose among its leaves.
        if children.is_empty() && !is_root {
            messages[variable] = leaves;
            continue;
        }
        let units: Vec<NodeId> = if children.is_empty() {
            leaves
        } else {
            let product = |state: usize| {
                let below = children.iter().map(|&child| messages[child][state]);
                let children = std::iter::once(leaves[state]).chain(below).collect();
                push(&mut nodes, Node::Product { children })
            };
            (0..states).map(product).collect()
        };
        let outputs = if is_root { 1 } else { states };
        messages[variable] = (0..outputs)
            .map(|_| {
                let weights = jitter(&even, rng);
                push(&mut nodes, Node::Sum { children: units.clone().into(), weights })
            })
            .collect();
    }
    let cardinalities = (0..columns.width()).map(|variable| columns.cardinality(variable)).collect();
    Circuit::new(cardinalities, nodes).expect("a hidden tree is a circuit")
}

/// Lower limit of initial shares: EM moves shares by factors, so that a share of zero would stay.
const SMALLEST_SHARE: f64 = 1e-9;

/// Shares around the given ones, each multiplied by a random number of mean one.
fn jitter(shares: &[f64], rng: &mut impl Rng) -> Box<[f64]> {
    let exponential = |rng: &mut _| -(1.0 - RngExt::random::<f64>(rng)).ln();
    let mut masses: Box<[f64]> =
        shares.iter().map(|share| (share * exponential(rng)).max(SMALLEST_SHARE)).collect();
    let total: f64 = masses.iter().sum();
    masses.iter_mut().for_each(|mass| *mass /= total);
    masses
}
