//! A circuit: smooth, decomposable, children before parents, all checked by its constructor.

use std::fmt;

use crate::MAX_CARDINALITY;
use crate::engine::Plan;
use crate::error::CircuitError;
use crate::evidence::{Evidence, Observation};
use crate::log_space::log_sum_exp;

/// Position of a node in its circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A node of a circuit.
///
/// # Paper
/// Section "Probabilistic Circuits": input, product and sum nodes, p_n(x).
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A categorical distribution of one variable, θ_{j,c}.
    Leaf {
        /// Which variable.
        variable: usize,
        /// One probability a category.
        probabilities: Box<[f64]>,
    },
    /// Independent parts.
    Product {
        /// Nodes with disjoint scopes.
        children: Box<[NodeId]>,
    },
    /// A mixture.
    Sum {
        /// Nodes with the same scope.
        children: Box<[NodeId]>,
        /// θ_{nc}, one a child.
        weights: Box<[f64]>,
    },
}

impl Node {
    /// The children; none for a leaf.
    pub fn children(&self) -> &[NodeId] {
        match self {
            Self::Leaf { .. } => &[],
            Self::Product { children } | Self::Sum { children, .. } => children,
        }
    }

    /// The probabilities of a leaf or the weights of a sum.
    pub(crate) fn shares(&self) -> Option<&[f64]> {
        match self {
            Self::Leaf { probabilities: shares, .. } | Self::Sum { weights: shares, .. } => Some(shares),
            Self::Product { .. } => None,
        }
    }

    /// The same node, with every child's id raised by `by`.
    fn moved(&self, by: u32) -> Self {
        let mut node = self.clone();
        if let Self::Product { children } | Self::Sum { children, .. } = &mut node {
            children.iter_mut().for_each(|child| child.0 += by);
        }
        node
    }
}

/// A smooth and decomposable probabilistic circuit over categorical variables.
///
/// ```
/// use par_circuit::{Circuit, Evidence, Node, NodeId, OPEN};
///
/// // Two independent coins, the second one loaded.
/// let coin = |variable, heads: f64| Node::Leaf { variable, probabilities: [1.0 - heads, heads].into() };
/// let both = Node::Product { children: [NodeId(0), NodeId(1)].into() };
/// let circuit = Circuit::new(vec![2, 2], vec![coin(0, 0.5), coin(1, 0.9), both])?;
///
/// let log_prob = circuit.log_prob(&Evidence::from_row(&[OPEN, 1]));
/// assert!((log_prob - 0.9_f64.ln()).abs() < 1e-12);
/// # Ok::<(), par_circuit::CircuitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Circuit {
    cardinalities: Vec<usize>,
    nodes: Vec<Node>,
    plan: Plan,
}

/// Two circuits are equal when their nodes are.
impl PartialEq for Circuit {
    fn eq(&self, other: &Self) -> bool {
        self.cardinalities == other.cardinalities && self.nodes == other.nodes
    }
}

impl Circuit {
    /// A circuit of the given nodes, children before parents, the root last.
    ///
    /// Probabilities and weights are taken as they are when they sum to one within 1e-6.
    ///
    /// # Errors
    /// When the nodes are not a smooth and decomposable circuit that covers every variable.
    pub fn new(cardinalities: Vec<usize>, nodes: Vec<Node>) -> Result<Self, CircuitError> {
        check(&cardinalities, &nodes)?;
        let plan = Plan::new(&cardinalities, &nodes);
        Ok(Self { cardinalities, nodes, plan })
    }

    /// The mixture of circuits of the same variables; parts that weigh nothing are left out.
    ///
    /// # Errors
    /// When there are no parts, their variables differ, or the weights are no distribution.
    pub fn mixture(parts: &[(f64, &Self)]) -> Result<Self, CircuitError> {
        let parts: Vec<_> = parts.iter().filter(|(weight, _)| *weight != 0.0).collect();
        let (_, first) = parts.first().ok_or(CircuitError::Empty)?;
        let mut nodes: Vec<Node> = Vec::new();
        let mut roots = Vec::new();
        for (_, part) in &parts {
            if part.cardinalities != first.cardinalities {
                return Err(CircuitError::OtherVariables);
            }
            let before = nodes.len() as u32;
            nodes.extend(part.nodes.iter().map(|node| node.moved(before)));
            roots.push(NodeId(nodes.len() as u32 - 1));
        }
        if roots.len() > 1 {
            let weights = parts.iter().map(|(weight, _)| *weight).collect();
            nodes.push(Node::Sum { children: roots.into(), weights });
        }
        Self::new(first.cardinalities.clone(), nodes)
    }

    /// Number of categories of each variable.
    pub fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    /// The nodes, children before parents, the root last.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of edges, the usual measure of a circuit's size.
    pub fn edges(&self) -> usize {
        self.nodes.iter().map(|node| node.children().len()).sum()
    }

    /// Number of free parameters.
    pub fn parameters(&self) -> usize {
        let free = |node: &Node| match node {
            Node::Leaf { probabilities, .. } => probabilities.len() - 1,
            Node::Product { .. } => 0,
            Node::Sum { weights, .. } => weights.len() - 1,
        };
        self.nodes.iter().map(free).sum()
    }

    /// The circuit compiled for speed.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Changes parameters; the structure must stay as it is.
    pub(crate) fn reparametrise(&mut self, change: impl FnOnce(&Plan, &mut [Node])) {
        change(&self.plan, &mut self.nodes);
        debug_assert_eq!(check(&self.cardinalities, &self.nodes), Ok(()));
        self.plan.load(&self.nodes);
    }

    /// The same circuit compiled anew, with the marginals of its present parameters as scales.
    pub(crate) fn recompiled(self) -> Self {
        let plan = Plan::new(&self.cardinalities, &self.nodes);
        Self { plan, ..self }
    }

    /// Log-probability of the evidence, in double precision and log space, node by node.
    ///
    /// The reference that the fast paths ([`crate::Evaluator`], [`Circuit::log_probs`]) are tested against.
    /// −∞ when the evidence is impossible.
    ///
    /// # Paper
    /// p_n(x) of section "Probabilistic Circuits"; with soft evidence the multilinear extension of
    /// appendix "Tractable Gradient Computation", l_j(q_j) = Σ_c q_{j,c} θ_{j,c} at the leaves.
    ///
    /// # Panics
    /// When the evidence does not fit the variables.
    pub fn log_prob(&self, evidence: &Evidence) -> f64 {
        *self.log_values(evidence).last().expect("a circuit has a root")
    }

    /// The gradient of [`Circuit::log_prob`] by every code of every variable, by one backward pass in
    /// double precision and log space; zeros when the evidence is impossible.
    ///
    /// # Paper
    /// ∂ log v(q) / ∂ q_{j,c} = v(q_{j←e_c}) / v(q), appendix "Tractable Gradient Computation".
    /// Departure: one backward pass in place of one evaluation a category.
    ///
    /// # Panics
    /// When the evidence does not fit the variables.
    pub fn gradient(&self, evidence: &Evidence) -> Vec<f64> {
        let value = self.log_values(evidence);
        let offsets = offsets(&self.cardinalities);
        let mut gradient = vec![0.0; self.cardinalities.iter().sum()];
        let root = *value.last().expect("a circuit has a root");
        if root == f64::NEG_INFINITY {
            return gradient;
        }
        // log of d value(root) / d value(node), relative to value(root).
        let mut slope: Vec<Vec<f64>> = vec![Vec::new(); self.nodes.len()];
        slope[self.nodes.len() - 1].push(-root);
        for (id, node) in self.nodes.iter().enumerate().rev() {
            let above = log_sum_exp(slope[id].iter().copied());
            match node {
                Node::Leaf { variable, probabilities } => {
                    let by_code = &mut gradient[offsets[*variable]..][..probabilities.len()];
                    for (gradient, &probability) in by_code.iter_mut().zip(probabilities) {
                        *gradient += above.exp() * probability;
                    }
                }
                Node::Product { children } => {
                    for child in children {
                        let others = children.iter().filter(|other| *other != child);
                        let others: f64 = others.map(|other| value[other.index()]).sum();
                        slope[child.index()].push(above + others);
                    }
                }
                Node::Sum { children, weights } => {
                    for (child, &weight) in children.iter().zip(weights) {
                        slope[child.index()].push(above + weight.ln());
                    }
                }
            }
        }
        gradient
    }

    /// Log value of every node.
    pub(crate) fn log_values(&self, evidence: &Evidence) -> Vec<f64> {
        let observations = evidence.observations();
        assert_eq!(observations.len(), self.cardinalities.len(), "one observation a variable");
        let mut value: Vec<f64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            value.push(match node {
                Node::Leaf { variable, probabilities } => match &observations[*variable] {
                    Observation::Observed(code) => probabilities[usize::from(*code)].ln(),
                    Observation::Open => 0.0,
                    Observation::Soft(soft) => {
                        assert_eq!(soft.len(), probabilities.len(), "one weight a category");
                        soft.iter().zip(probabilities).map(|(q, p)| q * p).sum::<f64>().ln()
                    }
                },
                Node::Product { children } => children.iter().map(|c| value[c.index()]).sum(),
                Node::Sum { children, weights } => {
                    let terms = children.iter().zip(weights);
                    log_sum_exp(terms.map(|(child, weight)| weight.ln() + value[child.index()]))
                }
            });
        }
        value
    }
}

/// The position of each variable's first code when the codes of all variables are concatenated.
pub(crate) fn offsets(cardinalities: &[usize]) -> Vec<usize> {
    let running = |end: &mut usize, &cardinality: &usize| {
        let start = *end;
        *end += cardinality;
        Some(start)
    };
    cardinalities.iter().scan(0, running).collect()
}

fn check(cardinalities: &[usize], nodes: &[Node]) -> Result<(), CircuitError> {
    if cardinalities.is_empty() || nodes.is_empty() {
        return Err(CircuitError::Empty);
    }
    for (variable, &found) in cardinalities.iter().enumerate() {
        if !(1..=MAX_CARDINALITY).contains(&found) {
            return Err(CircuitError::Cardinality { variable, found });
        }
    }
    check_size(cardinalities, nodes)?;
    let mut scopes: Vec<Scope> = Vec::with_capacity(nodes.len());
    let mut used = vec![false; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        check_children(id, node, &mut used)?;
        scopes.push(match node {
            Node::Leaf { variable, probabilities } => {
                let variables = cardinalities.len();
                let Some(&expected) = cardinalities.get(*variable) else {
                    return Err(CircuitError::UnknownVariable { node: id, variable: *variable, variables });
                };
                let found = probabilities.len();
                if found != expected {
                    return Err(CircuitError::LeafLength { node: id, expected, found });
                }
                check_distribution(id, "probabilities", probabilities)?;
                Scope::of(*variable, variables)
            }
            Node::Product { children } => {
                let mut scope = scopes[children[0].index()].clone();
                for child in &children[1..] {
                    if let Some(variable) = scope.join(&scopes[child.index()]) {
                        return Err(CircuitError::NotDecomposable { node: id, variable });
                    }
                }
                scope
            }
            Node::Sum { children, weights } => {
                let (expected, found) = (children.len(), weights.len());
                if found != expected {
                    return Err(CircuitError::WeightCount { node: id, expected, found });
                }
                check_distribution(id, "weights", weights)?;
                let scope = &scopes[children[0].index()];
                if let Some(&child) = children.iter().find(|child| scopes[child.index()] != *scope) {
                    return Err(CircuitError::NotSmooth { node: id, child });
                }
                scope.clone()
            }
        });
    }
    let root = nodes.len() - 1;
    if let Some(variable) = scopes[root].first_missing(cardinalities.len()) {
        return Err(CircuitError::RootScope { variable });
    }
    match used[..root].iter().position(|used| !used) {
        Some(node) => Err(CircuitError::Unreachable { node: NodeId(node as u32) }),
        None => Ok(()),
    }
}

/// Most numbers that the scopes, or the leaves of all units, may hold: a few gigabytes.
const MAX_NUMBERS: u64 = 1 << 29;

/// Refuses circuits that are small as a file and huge in memory, before the memory is allocated.
fn check_size(cardinalities: &[usize], nodes: &[Node]) -> Result<(), CircuitError> {
    if cardinalities.len() > nodes.len() {
        return Err(CircuitError::TooFewNodes { variables: cardinalities.len(), nodes: nodes.len() });
    }
    let within = |what: &'static str, found: u64| {
        let limit = MAX_NUMBERS;
        if found > limit { Err(CircuitError::TooLarge { what, found, limit }) } else { Ok(()) }
    };
    within("its scopes", nodes.len() as u64 * cardinalities.len().div_ceil(64) as u64)?;
    // A leaf is stored once for every node that uses it.
    let probabilities = |id: &NodeId| match nodes.get(id.index()) {
        Some(Node::Leaf { probabilities, .. }) => probabilities.len() as u64,
        _ => 0,
    };
    within("its leaves", nodes.iter().flat_map(Node::children).map(probabilities).sum())
}

fn check_children(id: NodeId, node: &Node, used: &mut [bool]) -> Result<(), CircuitError> {
    let children = node.children();
    if children.is_empty() && !matches!(node, Node::Leaf { .. }) {
        return Err(CircuitError::NoChildren { node: id });
    }
    if let Some(&child) = children.iter().find(|child| **child >= id) {
        return Err(CircuitError::ChildAfterParent { node: id, child });
    }
    let mut sorted = children.to_vec();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(CircuitError::RepeatedChild { node: id, child: pair[0] });
    }
    for child in children {
        used[child.index()] = true;
    }
    Ok(())
}

fn check_distribution(node: NodeId, what: &'static str, masses: &[f64]) -> Result<(), CircuitError> {
    let sum: f64 = masses.iter().sum();
    let valid = masses.iter().all(|&mass| mass >= 0.0 && mass.is_finite()) && (sum - 1.0).abs() < 1e-6;
    if valid { Ok(()) } else { Err(CircuitError::NotADistribution { node, what, sum }) }
}

/// A set of variables, one bit each.
#[derive(Clone, PartialEq)]
struct Scope(Box<[u64]>);

impl Scope {
    fn of(variable: usize, variables: usize) -> Self {
        let mut words = vec![0; variables.div_ceil(64)];
        words[variable / 64] |= 1 << (variable % 64);
        Self(words.into())
    }

    /// Adds the other's variables; returns the first variable that both have, if any.
    fn join(&mut self, other: &Self) -> Option<usize> {
        let mut shared = None;
        for (word, (mine, theirs)) in self.0.iter_mut().zip(&other.0).enumerate() {
            if *mine & theirs != 0 && shared.is_none() {
                shared = Some(word * 64 + (*mine & theirs).trailing_zeros() as usize);
            }
            *mine |= theirs;
        }
        shared
    }

    fn first_missing(&self, variables: usize) -> Option<usize> {
        (0..variables).find(|variable| self.0[variable / 64] >> (variable % 64) & 1 == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn leaf(variable: usize, probabilities: &[f64]) -> Node {
        Node::Leaf { variable, probabilities: probabilities.into() }
    }

    fn product(children: &[u32]) -> Node {
        Node::Product { children: children.iter().copied().map(NodeId).collect() }
    }

    fn sum(children: &[u32], weights: &[f64]) -> Node {
        Node::Sum { children: children.iter().copied().map(NodeId).collect(), weights: weights.into() }
    }

    fn refusal(cardinalities: &[usize], nodes: Vec<Node>) -> String {
        let circuit = Circuit::new(cardinalities.to_vec(), nodes);
        circuit.expect_err("these nodes make no circuit").to_string()
    }

    #[test]
    fn refuses_an_empty_circuit() {
        let expected = "a circuit needs at least one variable and one node";
        assert_eq!(refusal(&[], vec![]), expected);
        assert_eq!(refusal(&[2], vec![]), expected);
    }

    #[test]
    fn refuses_a_circuit_that_is_small_on_disk_and_huge_in_memory() {
        let nodes = vec![leaf(0, &[1.0])];
        assert_eq!(refusal(&[1, 1], nodes), "2 variables need at least as many nodes, found 1");
        let uses = 10_000_u32;
        let mut nodes = vec![leaf(0, &vec![1.0 / 65_000.0; 65_000])];
        nodes.extend((0..uses).map(|_| product(&[0])));
        assert_eq!(
            refusal(&[65_000], nodes),
            "the circuit is too large: its leaves would take 650000000 numbers, expected at most 536870912"
        );
        let mut nodes: Vec<Node> = (0..200_000).map(|variable| leaf(variable, &[1.0])).collect();
        nodes.push(product(&(0..200_000).collect::<Vec<u32>>()));
        assert_eq!(
            refusal(&vec![1; 200_000], nodes),
            "the circuit is too large: its scopes would take 625003125 numbers, expected at most 536870912"
        );
    }

    #[test]
    fn refuses_an_invalid_mixture() {
        let coin = || Circuit::new(vec![2], vec![leaf(0, &[0.5, 0.5])]).expect("a coin");
        let die = Circuit::new(vec![3], vec![leaf(0, &[0.5, 0.25, 0.25])]).expect("a die");
        assert_eq!(Circuit::mixture(&[]), Err(CircuitError::Empty));
        assert_eq!(Circuit::mixture(&[(0.5, &coin()), (0.5, &die)]), Err(CircuitError::OtherVariables));
        let heavy = Circuit::mixture(&[(0.5, &coin()), (0.6, &coin())]);
        assert!(matches!(heavy, Err(CircuitError::NotADistribution { what: "weights", .. })));
        assert_eq!(Circuit::mixture(&[(1.0, &coin()), (0.0, &die)]), Ok(coin()));
    }

    #[test]
    fn refuses_a_variable_without_categories() {
        let nodes = vec![leaf(0, &[])];
        assert_eq!(refusal(&[0], nodes), "variable 0 has 0 categories, expected 1 to 65535");
        let nodes = vec![leaf(0, &[1.0])];
        assert_eq!(refusal(&[65536], nodes), "variable 0 has 65536 categories, expected 1 to 65535");
    }

    #[test]
    fn refuses_a_leaf_that_does_not_fit() {
        assert_eq!(
            refusal(&[2], vec![leaf(1, &[0.5, 0.5])]),
            "node 0: variable 1 does not exist, the circuit has 1"
        );
        assert_eq!(refusal(&[2], vec![leaf(0, &[1.0])]), "node 0: expected 2 probabilities, found 1");
    }

    #[test]
    fn refuses_shares_that_are_not_a_distribution() {
        for bad in [[0.5, 0.6], [1.5, -0.5], [f64::NAN, 0.5], [f64::INFINITY, 0.0]] {
            assert!(refusal(&[2], vec![leaf(0, &bad)]).starts_with("node 0: probabilities must be finite"));
            let coins = vec![leaf(0, &[0.5, 0.5]), leaf(0, &[0.1, 0.9]), sum(&[0, 1], &bad)];
            assert!(refusal(&[2], coins).starts_with("node 2: weights must be finite"));
        }
    }

    #[test]
    fn refuses_invalid_children() {
        let coin = || leaf(0, &[0.5, 0.5]);
        assert_eq!(refusal(&[2], vec![coin(), product(&[])]), "node 1 has no children");
        assert_eq!(refusal(&[2], vec![coin(), product(&[1])]), "node 1: child 1 does not come before it");
        assert_eq!(refusal(&[2], vec![coin(), sum(&[0, 0], &[0.5, 0.5])]), "node 1 lists child 0 twice");
        assert_eq!(
            refusal(&[2], vec![coin(), sum(&[0], &[0.5, 0.5])]),
            "node 1: expected 1 weights, one a child, found 2"
        );
    }

    #[test]
    fn refuses_a_sum_that_is_not_smooth() {
        let nodes = vec![leaf(0, &[0.5, 0.5]), leaf(1, &[0.5, 0.5]), sum(&[0, 1], &[0.5, 0.5])];
        assert_eq!(
            refusal(&[2, 2], nodes),
            "sum 2 is not smooth: child 1 has another scope than the first child"
        );
    }

    #[test]
    fn refuses_a_product_whose_children_overlap() {
        let nodes = vec![
            leaf(0, &[0.5, 0.5]),
            leaf(1, &[0.5, 0.5]),
            product(&[0, 1]),
            leaf(1, &[0.1, 0.9]),
            product(&[2, 3]),
        ];
        assert_eq!(refusal(&[2, 2], nodes), "product 4 is not decomposable: two children share variable 1");
    }

    #[test]
    fn refuses_a_root_that_leaves_a_variable_out() {
        assert_eq!(
            refusal(&[2, 2], vec![leaf(0, &[0.5, 0.5]), product(&[0])]),
            "the root does not cover variable 1"
        );
    }

    #[test]
    fn refuses_a_node_that_nothing_uses() {
        let nodes = vec![leaf(0, &[0.5, 0.5]), leaf(0, &[0.1, 0.9])];
        assert_eq!(refusal(&[2], nodes), "node 0 is not reached from the root");
    }

    /// The likelihoods of so many variables are below what a double holds.
    #[test]
    fn neighbours_of_hundreds_of_variables_are_those_in_log_space() {
        const VARIABLES: usize = 1400;
        let leaves = |variable| [leaf(variable, &[1e-3, 0.999]), leaf(variable, &[0.9, 0.1])];
        let mut nodes: Vec<Node> = (0..VARIABLES).flat_map(leaves).collect();
        for first in 0..2 {
            nodes.push(product(
                &(0..VARIABLES as u32).map(|variable| 2 * variable + first).collect::<Vec<_>>(),
            ));
        }
        nodes.push(sum(&[2 * VARIABLES as u32, 2 * VARIABLES as u32 + 1], &[0.4, 0.6]));
        let circuit = Circuit::new(vec![2; VARIABLES], nodes).expect("a circuit");
        let mut row: Vec<Code> = (0..VARIABLES).map(|variable| Code::from(variable % 3 == 0)).collect();
        let mut neighbours = vec![0.0; 2 * VARIABLES];
        let own = circuit.evaluator().neighbours(&row, &mut neighbours);
        assert!(own < -700.0, "{own}");
        for place in [0, 1, 2, 3, 2 * VARIABLES - 1] {
            let before = std::mem::replace(&mut row[place / 2], (place % 2) as Code);
            let expected = circuit.log_prob(&Evidence::from_row(&row));
            assert!((neighbours[place] - expected).abs() < 1e-6, "{} and {expected}", neighbours[place]);
            row[place / 2] = before;
        }
    }
}
