//! Compiles nodes to a plan.

use std::collections::{BTreeMap, BTreeSet};

use super::{LeafTable, NO_LEAF, Plan, PlanStep, Real, StepKind, TILE, TileEntry, power_of_two};
use crate::{Node, NodeId};

/// Lower limit of marginals, for categories that are less probable than this.
const SMALLEST_MARGINAL: f64 = 1e-30;

impl Plan {
    /// Compiles nodes that were checked to be a circuit.
    pub(crate) fn new(cardinalities: &[usize], nodes: &[Node]) -> Self {
        let units = Units::collect(nodes);
        let (steps, values) = Steps::collect(nodes, &units);
        let marginals = marginals(cardinalities, nodes);
        let tables = cardinalities.iter().zip(marginals);
        let mut plan = Self {
            tables: tables.map(|(&cardinality, marginals)| LeafTable::new(cardinality, marginals)).collect(),
            tile_ends: Vec::new(),
            entries: Vec::new(),
            unit_ends: Vec::new(),
            unit_leaves: Vec::new(),
            leaf_places: 0,
            steps: steps.steps,
            inputs: steps.inputs,
            weights: vec![0.0; steps.weights],
            sums: steps.sums,
            values: steps.next,
            root: values[nodes.len() - 1] as usize,
            operations: 0.0,
            has_tiny_parameters: false,
            rounding: 0.0,
        };
        plan.lay_tiles(&units);
        plan.lay_leaves(&units);
        plan.load(nodes);
        let steps = plan.steps.iter().map(|step| step.arity as usize * step.width as usize);
        let leaves = plan.tables.iter().map(|table| table.leaf_ratios.len());
        plan.operations = (leaves.sum::<usize>() + plan.unit_leaves.len() + 2 * steps.sum::<usize>()) as f64;
        plan.rounding = plan.largest_rounding();
        plan
    }

    /// Gives the leaves of every tile their columns.
    fn lay_tiles(&mut self, units: &Units) {
        for units in units.leaves.chunks(TILE) {
            let mut by_variable: BTreeMap<usize, [u32; TILE]> = BTreeMap::new();
            for (place, leaves) in units.iter().enumerate() {
                for &(variable, leaf) in leaves {
                    by_variable.entry(variable).or_insert([NO_LEAF; TILE])[place] = leaf.0;
                }
            }
            for (variable, leaves) in by_variable {
                let table = &mut self.tables[variable];
                self.entries.push(TileEntry {
                    variable: variable as u32,
                    column: table.columns as u32,
                    leaves,
                });
                table.columns += 1;
            }
            self.tile_ends.push(self.entries.len() as u32);
        }
        for table in &mut self.tables {
            table.ratios = vec![[1.0; TILE]; (table.cardinality + 1) * table.columns];
        }
    }

    /// Gives the leaves of every variable their places.
    fn lay_leaves(&mut self, units: &Units) {
        for (variable, leaf) in units.leaves.iter().flatten() {
            self.tables[*variable].leaves.push(*leaf);
        }
        for table in &mut self.tables {
            table.first_leaf = self.leaf_places;
            table.leaf_ratios = vec![0.0; table.cardinality * table.places()];
            self.leaf_places += table.places();
        }
        let mut next: Vec<usize> = self.tables.iter().map(|table| table.first_leaf).collect();
        for leaves in &units.leaves {
            for &(variable, _) in leaves {
                self.unit_leaves.push(next[variable] as u32);
                next[variable] += 1;
            }
            self.unit_ends.push(self.unit_leaves.len() as u32);
        }
    }

    /// Loads the probabilities and weights of the nodes that the plan was compiled from.
    pub(crate) fn load(&mut self, nodes: &[Node]) {
        let probabilities = |leaf: u32| match nodes.get(leaf as usize) {
            Some(Node::Leaf { probabilities, .. }) => probabilities.as_ref(),
            _ => &[],
        };
        for table in &mut self.tables {
            table.set_scales(|leaf| probabilities(leaf.0));
        }
        for entry in &self.entries {
            let table = &mut self.tables[entry.variable as usize];
            for (place, &leaf) in entry.leaves.iter().enumerate() {
                for (code, &probability) in probabilities(leaf).iter().enumerate() {
                    let line = &mut table.ratios[code * table.columns + entry.column as usize];
                    line[place] = (probability / table.scales[code]) as f32;
                }
            }
        }
        for table in &mut self.tables {
            let places = table.places();
            for (place, leaf) in table.leaves.iter().enumerate() {
                for (code, &probability) in probabilities(leaf.0).iter().enumerate() {
                    table.leaf_ratios[code * places + place] = (probability / table.scales[code]) as f32;
                }
            }
            for (boost, ratios) in table.boosts.iter_mut().zip(table.leaf_ratios.chunks_exact(places)) {
                *boost = ratios.iter().fold(1.0, |largest, &ratio| largest.max(f64::from(ratio)));
            }
        }
        let mut sums = self.sums.iter();
        for step in &self.steps {
            let StepKind::Sum { weights: start } = step.kind else { continue };
            let width = step.width as usize;
            for (output, sum) in sums.by_ref().take(width).enumerate() {
                let Node::Sum { weights, .. } = &nodes[sum.index()] else {
                    unreachable!("sum steps come from sum nodes")
                };
                for (input, &weight) in weights.iter().enumerate() {
                    self.weights[start as usize + input * width + output] = weight as f32;
                }
            }
        }
        // A ratio is at least its probability, since no scale is above one.
        let tiny = |share: &f64| *share > 0.0 && *share < f32::SMALLEST;
        self.has_tiny_parameters =
            nodes.iter().filter_map(Node::shares).any(|shares| shares.iter().any(tiny));
    }

    /// Rounding adds half a unit in the last place for each operation and each parameter, to the relative
    /// error of a sum or product of positive terms; underflow comes on top.
    fn largest_rounding(&self) -> f64 {
        let mut operations = vec![0_usize; self.values];
        for tile in 0..self.tiles() {
            operations[tile * TILE..][..TILE].fill(3 * self.entries(tile).len());
        }
        for step in &self.steps {
            let inputs = self.inputs(step);
            for output in 0..step.width as usize {
                let made = match step.kind {
                    StepKind::Product => {
                        inputs.iter().map(|&i| operations[i as usize + output] + 1).sum::<usize>()
                    }
                    StepKind::Sum { .. } => {
                        let deepest = inputs.iter().map(|&i| operations[i as usize]).max();
                        deepest.unwrap_or(0) + 2 + inputs.len()
                    }
                };
                operations[step.output as usize + output] = made;
            }
        }
        operations[self.root] as f64 * f64::from(f32::EPSILON) + f32::NEGLIGIBLE
    }
}

impl LeafTable {
    fn new(cardinality: usize, marginals: Vec<f64>) -> Self {
        let marginals = marginals.into_iter().map(|marginal| marginal.max(SMALLEST_MARGINAL));
        Self {
            cardinality,
            columns: 0,
            ratios: Vec::new(),
            leaves: Vec::new(),
            first_leaf: 0,
            leaf_ratios: Vec::new(),
            boosts: vec![1.0; cardinality + 1],
            marginals: marginals.collect(),
            scales: vec![1.0; cardinality],
            log_scales: vec![0.0; cardinality + 1],
        }
    }

    /// Makes the largest ratio of every code one to two.
    fn set_scales<'n>(&mut self, probabilities: impl Fn(NodeId) -> &'n [f64]) {
        for (code, &marginal) in self.marginals.iter().enumerate() {
            let in_leaves = self.leaves.iter().map(|&leaf| probabilities(leaf)[code]);
            let largest = in_leaves.fold(0.0, f64::max).max(SMALLEST_MARGINAL);
            self.scales[code] = marginal * power_of_two(largest / marginal);
            self.log_scales[code] = self.scales[code].ln();
        }
    }
}

/// Leaves of different variables, in the order of the variables.
type Leaves = Vec<(usize, NodeId)>;

/// Units, each with its node.
type NodeUnits = Vec<(Leaves, NodeId)>;

/// Products of leaves.
struct Units {
    /// The leaves of each unit, in whole tiles; the last units of a tile may have none.
    leaves: Vec<Leaves>,
    /// For each node, the unit that it is or that holds its leaves.
    of_node: Vec<Option<u32>>,
}

impl Units {
    fn collect(nodes: &[Node]) -> Self {
        let leaf = |id: &NodeId| match nodes[id.index()] {
            Node::Leaf { variable, .. } => Some((variable, *id)),
            _ => None,
        };
        let mut found: NodeUnits = Vec::new();
        let mut is_unit = vec![false; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            match node {
                Node::Leaf { .. } => {}
                Node::Product { children } => {
                    let mut leaves: Leaves = children.iter().filter_map(leaf).collect();
                    leaves.sort_unstable();
                    found.push((leaves, NodeId(index as u32)));
                }
                Node::Sum { children, .. } => {
                    for child in children {
                        let seen = std::mem::replace(&mut is_unit[child.index()], true);
                        found.extend(leaf(child).filter(|_| !seen).map(|leaf| (vec![leaf], *child)));
                    }
                }
            }
        }
        let root = NodeId(nodes.len() as u32 - 1);
        found.extend(leaf(&root).map(|leaf| (vec![leaf], root)));
        found.retain(|(leaves, _)| !leaves.is_empty());

        let mut units = Self { leaves: Vec::new(), of_node: vec![None; nodes.len()] };
        for tile in tiles(found) {
            for (leaves, node) in tile {
                units.of_node[node.index()] = Some(units.leaves.len() as u32);
                units.leaves.push(leaves);
            }
            units.leaves.resize(units.leaves.len().next_multiple_of(TILE), Vec::new());
        }
        units
    }
}

/// Puts units into tiles: units of the same variables together and in order, the remaining ones where they
/// add the fewest variables to a tile.
fn tiles(mut units: NodeUnits) -> Vec<NodeUnits> {
    let scope = |leaves: &Leaves| leaves.iter().map(|leaf| leaf.0).collect::<Vec<usize>>();
    units.sort_by_cached_key(|(leaves, _)| scope(leaves));
    let mut full = Vec::new();
    let mut left_over = Vec::new();
    for alike in units.chunk_by(|(a, _), (b, _)| scope(a) == scope(b)) {
        let tiles = alike.chunks_exact(TILE);
        left_over.extend(Some(tiles.remainder().to_vec()).filter(|rest| !rest.is_empty()));
        full.extend(tiles.map(<[_]>::to_vec));
    }
    left_over.sort_by_key(|alike| std::cmp::Reverse(alike[0].0.len()));
    let mut mixed: Vec<(BTreeSet<usize>, NodeUnits)> = Vec::new();
    for alike in left_over {
        let scope = scope(&alike[0].0);
        let new = |variables: &BTreeSet<usize>| scope.iter().filter(|v| !variables.contains(v)).count();
        let open = mixed.iter_mut().filter(|(_, units)| units.len() + alike.len() <= TILE);
        match open.min_by_key(|(variables, _)| new(variables)) {
            Some((variables, units)) => {
                variables.extend(scope);
                units.extend(alike);
            }
            None => mixed.push((scope.into_iter().collect(), alike)),
        }
    }
    full.extend(mixed.into_iter().map(|(_, units)| units));
    full
}

/// The sums and products above the units.
struct Steps {
    steps: Vec<PlanStep>,
    inputs: Vec<u32>,
    weights: usize,
    sums: Vec<NodeId>,
    /// The position of the next value.
    next: usize,
}

impl Steps {
    /// The steps, and the position of each node's value.
    fn collect(nodes: &[Node], units: &Units) -> (Self, Vec<u32>) {
        let mut all = Self {
            steps: Vec::new(),
            inputs: Vec::new(),
            weights: 0,
            sums: Vec::new(),
            next: units.leaves.len(),
        };
        let mut value: Vec<u32> = vec![u32::MAX; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            let unit = units.of_node[index];
            let is_leaf = |id: &NodeId| matches!(nodes[id.index()], Node::Leaf { .. });
            let inputs: Vec<u32> = match node {
                Node::Leaf { .. } => {
                    value[index] = unit.unwrap_or(u32::MAX);
                    continue;
                }
                Node::Product { children } => {
                    let above = children.iter().filter(|id| !is_leaf(id)).map(|id| value[id.index()]);
                    let inputs: Vec<u32> = unit.into_iter().chain(above).collect();
                    if unit.is_some() && inputs.len() == 1 {
                        value[index] = inputs[0];
                        continue;
                    }
                    inputs
                }
                Node::Sum { children, .. } => children.iter().map(|id| value[id.index()]).collect(),
            };
            value[index] = all.next as u32;
            all.next += 1;
            let kind = match node {
                Node::Sum { weights, .. } => {
                    all.sums.push(NodeId(index as u32));
                    all.weights += weights.len();
                    StepKind::Sum { weights: (all.weights - weights.len()) as u32 }
                }
                _ => StepKind::Product,
            };
            if !all.extend_last(kind, &inputs) {
                let start = all.inputs.len() as u32;
                let arity = inputs.len() as u32;
                all.inputs.extend(inputs);
                all.steps.push(PlanStep { kind, output: value[index], width: 1, inputs: start, arity });
            }
        }
        (all, value)
    }

    /// Widens the last step by one output, if `inputs` continue it; returns whether it did.
    fn extend_last(&mut self, kind: StepKind, inputs: &[u32]) -> bool {
        let Some(last) = self.steps.last_mut() else { return false };
        let before = &self.inputs[last.inputs as usize..][..last.arity as usize];
        let alike = before.len() == inputs.len()
            && match (last.kind, kind) {
                (StepKind::Sum { .. }, StepKind::Sum { .. }) => before == inputs,
                (StepKind::Product, StepKind::Product) => {
                    // The inputs must follow those of the last output, and must not be outputs of the same
                    // step.
                    let pairs = before.iter().zip(inputs);
                    pairs.clone().all(|(&before, &input)| input == before + last.width)
                        && inputs.iter().all(|&input| input < last.output)
                }
                _ => false,
            };
        last.width += u32::from(alike);
        alike
    }
}

/// The marginal of every variable: with everything open the value of each node is one, so that the slope of a
/// leaf is the probability that a sample passes through it.
fn marginals(cardinalities: &[usize], nodes: &[Node]) -> Vec<Vec<f64>> {
    let mut marginals: Vec<Vec<f64>> = cardinalities.iter().map(|&c| vec![0.0; c]).collect();
    let mut reached = vec![0.0; nodes.len()];
    reached[nodes.len() - 1] = 1.0;
    for (index, node) in nodes.iter().enumerate().rev() {
        let share = reached[index];
        match node {
            Node::Leaf { variable, probabilities } => {
                for (marginal, probability) in marginals[*variable].iter_mut().zip(probabilities) {
                    *marginal += share * probability;
                }
            }
            Node::Product { children } => children.iter().for_each(|c| reached[c.index()] += share),
            Node::Sum { children, weights } => {
                for (child, weight) in children.iter().zip(weights) {
                    reached[child.index()] += share * weight;
                }
            }
        }
    }
    marginals
}
