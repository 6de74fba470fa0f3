//! Expectation maximization of the weights and leaves of a circuit; its structure stays.

use serde::{Deserialize, Serialize};

use super::base_rates::BaseRates;
use crate::engine::{Flow, FlowBlock, LANES, Plan, Real};
use crate::{Circuit, Code, Dataset, Evidence, LearnError, Node, Stop, Stopped, threads};

/// When EM stops, and its priors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmConfig {
    /// Passes over the rows, at most; 200 unless told.
    pub max_passes: usize,
    /// EM stops after this many passes that together gained less than [`EmConfig::gain`] on the validation
    /// rows; 8 unless told. Without validation rows all passes are made.
    pub patience: usize,
    /// The gain that [`EmConfig::patience`] waits for, as a share of the log-likelihood; 0.0001 unless told.
    pub gain: f64,
    /// Pseudo-rows of each leaf, spread like the base rates; 5 unless told.
    pub leaf_prior: f64,
    /// Pseudo-rows of each sum, spread evenly; 0.5 unless told.
    pub weight_prior: f64,
}

impl Default for EmConfig {
    fn default() -> Self {
        Self { max_passes: 200, patience: 8, gain: 1e-4, leaf_prior: 5.0, weight_prior: 0.5 }
    }
}

impl EmConfig {
    pub(crate) fn check(&self) -> Result<(), LearnError> {
        for (name, found) in [("leaf_prior", self.leaf_prior), ("weight_prior", self.weight_prior)] {
            if !(found > 0.0 && found.is_finite()) {
                return Err(LearnError::Setting { name, found, expected: "a positive number" });
            }
        }
        if !(0.0..1.0).contains(&self.gain) {
            let found = self.gain;
            return Err(LearnError::Setting { name: "gain", found, expected: "at least 0, below 1" });
        }
        Ok(())
    }
}

/// A circuit after EM.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) circuit: Circuit,
    /// Passes after which the circuit scored best on the validation rows; all passes without such rows.
    pub(crate) passes: usize,
}

/// Runs EM on the rows; returns the circuit of the pass that scores best on the validation rows.
pub(crate) fn fit(
    circuit: Circuit,
    rows: &Dataset,
    valid: Option<&Dataset>,
    rates: &BaseRates,
    config: &EmConfig,
    stop: Stop<'_>,
) -> Result<Fitted, Stopped> {
    let mut climb = AdaptiveEm::new(circuit, rates, config);
    let Some(valid) = valid else {
        for _ in 0..config.max_passes {
            climb.pass(rows, stop)?;
        }
        return Ok(Fitted { circuit: climb.circuit.recompiled(), passes: config.max_passes });
    };
    let mut best = (climb.circuit.mean_log_prob_until(valid, stop)?, climb.circuit.clone(), 0);
    // The last worthwhile score, and its pass.
    let mut worthwhile = (best.0, 0);
    for pass in 1..=config.max_passes {
        climb.pass(rows, stop)?;
        let score = climb.circuit.mean_log_prob_until(valid, stop)?;
        if score >= best.0 {
            best = (score, climb.circuit.clone(), pass);
        }
        if score > worthwhile.0 + config.gain * score.abs() {
            worthwhile = (score, pass);
        } else if pass >= worthwhile.1 + config.patience {
            break;
        }
    }
    Ok(Fitted { circuit: best.1.recompiled(), passes: best.2 })
}

/// Factor by which the stride grows while the likelihood rises.
const LONGER: f64 = 1.1;

/// The longest stride, in steps of plain EM; a limit of 8 was no faster on adult and gmsc.
const LONGEST: f64 = 4.0;

/// EM with an adaptive stride: where plain EM goes from θ to θ', a stride of η goes to θ (θ'/θ)^η. The stride
/// grows while the likelihood rises; when it falls, the step is undone and repeated by plain EM.
/// (Salakhutdinov and Roweis, *Adaptive overrelaxed bound optimization methods*, 2003.)
struct AdaptiveEm<'a> {
    circuit: Circuit,
    before: Option<Circuit>,
    score: f64,
    stride: f64,
    rates: &'a BaseRates,
    config: &'a EmConfig,
}

impl<'a> AdaptiveEm<'a> {
    fn new(circuit: Circuit, rates: &'a BaseRates, config: &'a EmConfig) -> Self {
        Self { circuit, before: None, score: f64::NEG_INFINITY, stride: 1.0, rates, config }
    }

    fn pass(&mut self, rows: &Dataset, stop: Stop<'_>) -> Result<(), Stopped> {
        let (mut flow, mut score) = expectations(&self.circuit, rows.codes(), stop)?;
        let mut before = self.before.take();
        if score < self.score
            && self.stride > 1.0
            && let Some(before) = before.take()
        {
            self.circuit = before;
            self.stride = 1.0;
            (flow, score) = expectations(&self.circuit, rows.codes(), stop)?;
        } else {
            self.stride = (self.stride * LONGER).min(LONGEST);
        }
        self.score = score;
        self.before = Some(self.circuit.clone());
        self.step(&flow, before.as_ref());
        Ok(())
    }

    fn step(&mut self, flow: &Flow, before: Option<&Circuit>) {
        let Self { circuit, rates, config, stride, .. } = self;
        circuit.reparametrise(|plan, nodes| {
            let counts = flow.counts(plan, nodes);
            for (index, (node, counts)) in nodes.iter_mut().zip(counts).enumerate() {
                let (shares, prior): (&mut [f64], _) = match node {
                    Node::Product { .. } => continue,
                    Node::Leaf { variable, probabilities } => {
                        let rates = rates.of(*variable).iter();
                        (probabilities, rates.map(|rate| config.leaf_prior * rate).collect())
                    }
                    Node::Sum { weights, .. } => {
                        let prior = config.weight_prior / weights.len() as f64;
                        let prior = vec![prior; weights.len()];
                        (weights, prior)
                    }
                };
                let masses: Vec<f64> = counts.iter().zip(prior).map(|(count, prior)| count + prior).collect();
                let before = before.and_then(|circuit| circuit.nodes()[index].shares());
                stride_towards(&masses, shares, before, *stride);
            }
        });
    }
}

/// Factor by which a long stride may overshoot plain EM, up or down.
const FARTHEST: f64 = 10.0;

/// Moves shares towards `masses`: a long stride where a share keeps the direction in which it came from
/// `before`, a step of plain EM where it turns back or starts.
fn stride_towards(masses: &[f64], shares: &mut [f64], before: Option<&[f64]>, stride: f64) {
    let total: f64 = masses.iter().sum();
    for (position, (share, mass)) in shares.iter_mut().zip(masses).enumerate() {
        let target = mass / total;
        let goes_on = before.is_some_and(|before| (*share - before[position]) * (target - *share) > 0.0);
        let beyond = if goes_on { (target / *share).powf(stride - 1.0) } else { 1.0 };
        *share = target * beyond.clamp(1.0 / FARTHEST, FARTHEST);
    }
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= total);
}

/// Rows are cut into this many parts on any number of threads, so that sums are added in the same order.
const PARTS: usize = 16;

/// Expected counts of all rows, and their mean log-probability.
fn expectations(circuit: &Circuit, codes: &[Code], stop: Stop<'_>) -> Result<(Flow, f64), Stopped> {
    let plan = circuit.plan();
    let width = plan.variables();
    let rows = codes.len() / width;
    let part = rows.div_ceil(PARTS).next_multiple_of(LANES) * width;
    let parts = threads::map(codes.chunks(part), |codes| {
        let (mut flow, mut score, rest) = expected::<f32>(plan, codes, false, stop)?;
        if !rest.is_empty() {
            let (again, score_again, lost) = expected::<f64>(plan, &rest, true, stop)?;
            flow.add(&again);
            score += score_again;
            // A row that no precision holds adds no flow.
            for row in lost.chunks_exact(width) {
                score += circuit.log_prob(&Evidence::from_row(row));
            }
        }
        Ok((flow, score))
    });
    let mut total = Flow::zero(plan);
    let mut score = 0.0;
    for part in parts {
        let (flow, part) = part?;
        total.add(&flow);
        score += part;
    }
    Ok((total, score / rows as f64))
}

/// Expected counts of the rows that this precision can hold, the sum of their log-probabilities, and the
/// other rows; the `last` precision holds more of them.
fn expected<T: Real>(
    plan: &Plan,
    codes: &[Code],
    last: bool,
    stop: Stop<'_>,
) -> Result<(Flow, f64, Vec<Code>), Stopped> {
    let width = plan.variables();
    let mut block = FlowBlock::<T>::new(plan);
    let mut score = 0.0;
    let mut rest = Vec::new();
    for codes in codes.chunks(LANES * width) {
        stop.check()?;
        let log_values = block.add(codes, last);
        for (row, log_value) in codes.chunks_exact(width).zip(log_values) {
            match log_value {
                Some(log_value) => score += log_value + plan.log_scale(row),
                None => rest.extend_from_slice(row),
            }
        }
    }
    Ok((block.finish(), score, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;

    fn circuit() -> Circuit {
        let leaf =
            |variable, probabilities: &[f64]| Node::Leaf { variable, probabilities: probabilities.into() };
        let nodes = |children: &[u32]| children.iter().copied().map(NodeId).collect();
        let product = |children: &[u32]| Node::Product { children: nodes(children) };
        let sum = |children: &[u32], weights: &[f64]| Node::Sum {
            children: nodes(children),
            weights: weights.into(),
        };
        let all = vec![
            leaf(0, &[0.5, 0.5]),
            leaf(0, &[0.9, 0.1]),
            leaf(1, &[0.2, 0.3, 0.5]),
            leaf(1, &[0.6, 0.3, 0.1]),
            sum(&[2, 3], &[0.7, 0.3]),
            sum(&[2, 3], &[0.1, 0.9]),
            product(&[0, 4]),
            product(&[1, 5]),
            sum(&[6, 7], &[0.4, 0.6]),
        ];
        Circuit::new(vec![2, 3], all).expect("a circuit")
    }

    /// The expected count of a share is the share times the slope of the log-likelihood by it.
    #[test]
    fn expected_counts_are_shares_times_slopes() {
        let circuit = circuit();
        let rows: Vec<Code> = vec![0, 0, 1, 2, 0, 1, 1, 1, 0, 2, 1, 0];
        let rows = Dataset::new(vec![2, 3], rows).expect("rows");
        let (flow, _) = expectations(&circuit, rows.codes(), Stop::never()).expect("never stopped");
        let counts = flow.counts(circuit.plan(), circuit.nodes());
        let log_likelihood = |node: usize, position: usize, change: f64| {
            let mut nodes = circuit.nodes().to_vec();
            if let Node::Leaf { probabilities: shares, .. } | Node::Sum { weights: shares, .. } =
                &mut nodes[node]
            {
                shares[position] += change;
            }
            // Shares that do not sum to one are not a circuit, but still a polynomial.
            rows.rows().map(|row| polynomial(&nodes, row).ln()).sum::<f64>()
        };
        for (index, node) in circuit.nodes().iter().enumerate() {
            for (position, &share) in node.shares().unwrap_or(&[]).iter().enumerate() {
                let difference =
                    log_likelihood(index, position, 1e-6) - log_likelihood(index, position, -1e-6);
                let expected = share * difference / 2e-6;
                let found = counts[index][position];
                assert!((found - expected).abs() < 1e-4, "node {index}: {found}, expected {expected}");
            }
        }
    }

    /// A mixture of two products of binary leaves, by their probabilities of 0.
    fn mixture(
        nodes: &mut Vec<Node>,
        variables: std::ops::Range<usize>,
        zeros: impl Fn(usize) -> [f64; 2],
    ) -> NodeId {
        let mut add = |node: Node| {
            nodes.push(node);
            NodeId(nodes.len() as u32 - 1)
        };
        let products = [0, 1].map(|component| {
            let leaf = |variable: usize| {
                let zero = zeros(variable)[component];
                Node::Leaf { variable, probabilities: [zero, 1.0 - zero].into() }
            };
            let children = variables.clone().map(|variable| add(leaf(variable))).collect();
            add(Node::Product { children })
        });
        add(Node::Sum { children: products.into(), weights: [0.5, 0.5].into() })
    }

    fn check_flow(circuit: &Circuit, rows: &[Code]) {
        let variables = circuit.plan().variables();
        let expectations = |rows: &[Code]| expectations(circuit, rows, Stop::never()).expect("never stopped");
        let (flow, score) = expectations(rows);
        let mut expected = Flow::zero(circuit.plan());
        let mut log_prob = 0.0;
        for row in rows.chunks_exact(variables) {
            let (flow, _) = expectations(row);
            expected.add(&flow);
            log_prob += circuit.evaluator().log_prob(row);
        }
        let rows = rows.len() as f64 / variables as f64;
        assert!((score - log_prob / rows).abs() < 1e-3, "{score}, not {}", log_prob / rows);
        let counts = |flow: &Flow| flow.counts(circuit.plan(), circuit.nodes());
        for (found, expected) in
            counts(&flow).into_iter().flatten().zip(counts(&expected).into_iter().flatten())
        {
            assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
        }
    }

    /// In single precision the likelier product underflows half-way, and the other one does not.
    #[test]
    fn a_part_that_underflows_and_is_lifted_again_has_its_flow() {
        let mut nodes = Vec::new();
        mixture(&mut nodes, 0..250, |variable| if variable < 50 { [0.05, 0.99] } else { [0.99, 0.45] });
        let circuit = Circuit::new(vec![2; 250], nodes).expect("a circuit");
        let (flow, _) = expectations(&circuit, &[0; 250], Stop::never()).expect("never stopped");
        let counts = flow.counts(circuit.plan(), circuit.nodes());
        let of_products = counts.last().expect("a sum");
        assert!(of_products[0] > 0.99, "{of_products:?}");
        check_flow(&circuit, &[0; 250]);
    }

    #[test]
    fn a_row_whose_slopes_overflow_takes_no_other_with_it() {
        let mut nodes = Vec::new();
        let lifts = mixture(&mut nodes, 0..135, |_| [0.99, 0.01]);
        let turns = |variable: usize| if variable.is_multiple_of(2) { [0.99, 0.01] } else { [0.01, 0.99] };
        let sinks = mixture(&mut nodes, 135..585, turns);
        nodes.push(Node::Product { children: [lifts, sinks].into() });
        let circuit = Circuit::new(vec![2; 585], nodes).expect("a circuit");
        let mut rows: Vec<Code> = vec![0; 585];
        for row in 1..16 {
            rows.extend((0..585).map(|variable| if variable < 135 + row { 0 } else { variable as Code % 2 }));
        }
        let (_, score) = expectations(&circuit, &rows, Stop::never()).expect("never stopped");
        let all: f64 = rows.chunks_exact(585).map(|row| circuit.evaluator().log_prob(row)).sum();
        assert!((score * 16.0 - all).abs() < 1e-3, "{} is {all}", score * 16.0);
        check_flow(&circuit, &rows[585..]);
    }

    /// Beside the largest leaf of each of their codes, rows of so many variables are nearly impossible.
    #[test]
    fn rows_of_thousands_of_variables_have_their_flow() {
        for variables in [1300, 9000] {
            let mut nodes = Vec::new();
            mixture(&mut nodes, 0..variables, |variable| {
                if variable.is_multiple_of(2) { [0.9, 0.2] } else { [0.3, 0.7] }
            });
            let circuit = Circuit::new(vec![2; variables], nodes).expect("a circuit");
            let likely =
                |component: usize| (0..variables).map(move |variable| ((variable + component) % 2) as Code);
            let rows: Vec<Code> = (0..20)
                .flat_map(|row| likely(row % 2).map(move |code| if row < 18 { code } else { 0 }))
                .collect();
            let (flow, score) = expectations(&circuit, &rows, Stop::never()).expect("never stopped");
            let counts = flow.counts(circuit.plan(), circuit.nodes());
            let of_products = counts.last().expect("a sum");
            assert!((of_products.iter().sum::<f64>() - 20.0).abs() < 1e-6, "{of_products:?}");
            assert!(of_products.iter().all(|count| *count >= 9.0 - 1e-6), "{of_products:?}");
            let all: f64 =
                rows.chunks_exact(variables).map(|row| circuit.log_prob(&Evidence::from_row(row))).sum();
            assert!((score * 20.0 / all - 1.0).abs() < 1e-6, "{} is {all}", score * 20.0);
        }
    }

    fn polynomial(nodes: &[Node], row: &[Code]) -> f64 {
        let mut value: Vec<f64> = Vec::new();
        for node in nodes {
            value.push(match node {
                Node::Leaf { variable, probabilities } => probabilities[usize::from(row[*variable])],
                Node::Product { children } => children.iter().map(|c| value[c.index()]).product(),
                Node::Sum { children, weights } => {
                    children.iter().zip(weights).map(|(c, weight)| weight * value[c.index()]).sum()
                }
            });
        }
        value[nodes.len() - 1]
    }

    /// Plain EM never lowers the penalised likelihood.
    #[test]
    fn a_plain_step_climbs() {
        let rows: Vec<Code> = (0..60).flat_map(|row| [row % 2, (row * row + row / 7) % 3]).collect();
        let rows = Dataset::new(vec![2, 3], rows).expect("rows");
        let rates = BaseRates::new(&rows);
        let config = EmConfig::default();
        let mut climb = AdaptiveEm::new(circuit(), &rates, &config);
        let penalised = |circuit: &Circuit| {
            let prior = |node: &Node| match node {
                Node::Product { .. } => 0.0,
                Node::Leaf { variable, probabilities } => {
                    let terms = probabilities.iter().zip(rates.of(*variable));
                    terms.map(|(share, rate)| config.leaf_prior * rate * share.ln()).sum::<f64>()
                }
                Node::Sum { weights, .. } => {
                    let prior = config.weight_prior / weights.len() as f64;
                    weights.iter().map(|weight| prior * weight.ln()).sum()
                }
            };
            circuit.log_probs(&rows).iter().sum::<f64>() + circuit.nodes().iter().map(prior).sum::<f64>()
        };
        let mut before = penalised(&climb.circuit);
        for _ in 0..20 {
            let (flow, _) = expectations(&climb.circuit, rows.codes(), Stop::never()).expect("never stopped");
            climb.step(&flow, None);
            let after = penalised(&climb.circuit);
            assert!(after >= before - 1e-4, "{after} after {before}");
            before = after;
        }
    }
}
