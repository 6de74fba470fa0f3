//! The program of LiCE for one person.

use par_circuit::{Circuit, Node};
use par_data::schema::{Direction, Move};
use par_data::{Candidate, Candidates, Choice, UNKNOWN};
use par_model::Model;
use par_model::classifier::NeuralClassifier;

use super::Plausible;
use crate::peers::program::Program;

/// How far above the threshold log-odds must be, for the rounding of solver and classifier.
const MARGIN: f64 = 1e-4;

/// The program, and which columns are what.
pub(super) struct LiceModel {
    pub(super) program: Program,
    /// For each feature and each of its candidates, the binary column that chooses it.
    pub(super) choices: Vec<Vec<usize>>,
    /// For each hidden unit in order, the column of its value, and the binary one of its sign if that can change.
    pub(super) units: Vec<(usize, Option<usize>)>,
    /// What chooses the largest terms of the circuit.
    pub(super) flow: Flow,
}

/// The columns of a flow from the circuit's root to its leaves, which is 1 along the chosen terms.
#[derive(Default)]
pub(super) struct Flow {
    /// By sum node: the column of each child, if it weighs anything.
    pub(super) children: Vec<Vec<Option<usize>>>,
    /// By leaf: the column of each code, if a candidate has it and it is possible.
    pub(super) codes: Vec<Vec<Option<usize>>>,
}

impl LiceModel {
    /// The program for a person's candidates.
    pub(super) fn new(
        model: &Model,
        network: &NeuralClassifier,
        candidates: &Candidates<'_>,
        plausible: Plausible,
    ) -> Self {
        let mut program = Program::default();
        let choices: Vec<Vec<usize>> = (0..model.schema().features().len())
            .map(|feature| {
                let costs = candidates.of(feature).iter().map(|to| distance(model, feature, candidates, *to));
                let columns: Vec<usize> = costs.map(|cost| program.binary(cost)).collect();
                program.equal(columns.iter().map(|&column| (column, 1.0)).collect(), 1.0);
                columns
            })
            .collect();
        let mut lice = Self { program, choices, units: Vec::new(), flow: Flow::default() };
        for rule in model.schema().rules() {
            lice.require_move(candidates, rule.when, rule.then);
        }
        lice.accept(network, candidates, model.scale().log_odds(model.threshold()) + MARGIN);
        lice.make_likely(model.accepted(), candidates, plausible);
        lice
    }

    /// The choices of a solution.
    pub(super) fn choices_of(&self, values: &[f64]) -> Vec<Choice> {
        let chosen = |columns: &Vec<usize>| {
            let best =
                columns.iter().zip(0..).max_by(|one, other| values[*one.0].total_cmp(&values[*other.0]));
            best.map_or(0, |(_, choice)| choice)
        };
        self.choices.iter().map(chosen).collect()
    }

    /// One feature moves only if another does.
    fn require_move(&mut self, candidates: &Candidates<'_>, when: Move, then: Move) {
        let moving = |one: Move, factor: f64| {
            let own = candidates.of(one.feature)[0];
            let list = candidates.of(one.feature).iter().zip(&self.choices[one.feature]);
            list.filter(move |(to, _)| moves(own, **to, one.direction))
                .map(move |(_, &column)| (column, factor))
        };
        let terms = moving(then, 1.0).chain(moving(when, -1.0)).collect();
        self.program.at_least(terms, 0.0);
    }

    /// The log-odds of the chosen row are at least a number: ReLU by big-M, with bounds from the candidates.
    fn accept(&mut self, network: &NeuralClassifier, candidates: &Candidates<'_>, least: f64) {
        let (layers, mut sums) = (network.layers(), Vec::<UnitSum>::new());
        let last = layers.len() - 1;
        for (place, layer) in layers.enumerate() {
            let next = layer.biases.iter().enumerate().map(|(unit, &bias)| {
                let weight = |input: usize| f64::from(layer.weights_of(input)[unit]);
                match place {
                    0 => self.first_sum(candidates, f64::from(bias), weight),
                    _ => UnitSum::over(&sums, f64::from(bias), weight),
                }
            });
            let next: Vec<UnitSum> = next.collect();
            sums = if place == last { next } else { next.iter().map(|sum| self.relu(sum)).collect() };
        }
        let output = sums.swap_remove(0);
        self.program.at_least(output.terms, least - output.constant);
    }

    /// The sum of a unit of the first layer, over the codes of the candidates.
    fn first_sum(&self, candidates: &Candidates<'_>, bias: f64, weight: impl Fn(usize) -> f64) -> UnitSum {
        let mut sum = UnitSum { terms: Vec::new(), constant: bias, low: bias, high: bias };
        for (feature, columns) in self.choices.iter().enumerate() {
            // An unknown value has no input.
            let weight = |to: &Candidate| match to.code {
                UNKNOWN => 0.0,
                code => weight(candidates.constraints().range(feature).start + usize::from(code)),
            };
            let weights: Vec<f64> = candidates.of(feature).iter().map(weight).collect();
            sum.low += weights.iter().copied().fold(f64::INFINITY, f64::min);
            sum.high += weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            sum.terms.extend(columns.iter().copied().zip(weights).filter(|(_, weight)| *weight != 0.0));
        }
        sum
    }

    /// The value of a hidden unit after ReLU.
    fn relu(&mut self, sum: &UnitSum) -> UnitSum {
        let (low, high) = (sum.low, sum.high);
        let value = self.program.number(low.max(0.0), high.max(0.0), 0.0);
        // The value less the sum.
        let excess = || -> Vec<(usize, f64)> {
            let terms = sum.terms.iter().map(|(column, factor)| (*column, -factor));
            std::iter::once((value, 1.0)).chain(terms).collect()
        };
        let sign = (low < 0.0 && high > 0.0).then(|| {
            let sign = self.program.binary(0.0);
            self.program.at_least(excess(), sum.constant);
            // value ≤ sum − low (1 − sign), and value ≤ high sign.
            let terms = excess().into_iter().map(|(column, factor)| (column, -factor)).chain([(sign, low)]);
            self.program.at_least(terms.collect(), low - sum.constant);
            self.program.at_least(vec![(sign, high), (value, -1.0)], 0.0);
            sign
        });
        if low >= 0.0 {
            self.program.equal(excess(), sum.constant);
        }
        self.units.push((value, sign));
        UnitSum { terms: vec![(value, 1.0)], constant: 0.0, low: low.max(0.0), high: high.max(0.0) }
    }

    /// The largest terms of the circuit are likely enough, or worth something.
    fn make_likely(&mut self, circuit: &Circuit, candidates: &Candidates<'_>, plausible: Plausible) {
        let worth = if let Plausible::Worth(worth) = plausible { worth } else { 0.0 };
        let nodes = circuit.nodes();
        // What flows into each node, and the log-likelihood.
        let (mut into, mut likelihood) = (vec![Vec::new(); nodes.len()], Vec::new());
        let mut by_code: Vec<Vec<Vec<usize>>> =
            circuit.cardinalities().iter().map(|&codes| vec![Vec::new(); codes]).collect();
        self.flow = Flow { children: vec![Vec::new(); nodes.len()], codes: vec![Vec::new(); nodes.len()] };
        // Parents before children.
        for (place, node) in nodes.iter().enumerate().rev() {
            let entering: Vec<(usize, f64)> = std::mem::take(&mut into[place]);
            let is_root = place + 1 == nodes.len();
            let mut leaves = |flow: &mut Self, share: f64| -> usize {
                let log = share.ln();
                let column = flow.program.number(0.0, 1.0, -worth * log);
                likelihood.push((column, log));
                column
            };
            let leaving: Vec<usize> = match node {
                Node::Product { children } => {
                    for child in children {
                        into[child.index()].extend(&entering);
                        if is_root {
                            // A root that is a product: each child has all of the flow.
                            let all = self.program.number(1.0, 1.0, 0.0);
                            into[child.index()].push((all, 1.0));
                        }
                    }
                    continue;
                }
                Node::Sum { children, weights } => {
                    let columns: Vec<Option<usize>> =
                        weights.iter().map(|&weight| (weight > 0.0).then(|| leaves(self, weight))).collect();
                    for (child, column) in children.iter().zip(&columns) {
                        into[child.index()].extend(column.map(|column| (column, 1.0)));
                    }
                    self.flow.children[place].clone_from(&columns);
                    columns.into_iter().flatten().collect()
                }
                Node::Leaf { variable, probabilities } => {
                    let list = candidates.of(*variable);
                    if list[0].code == UNKNOWN {
                        continue;
                    }
                    let is_candidate = |code: usize| list.iter().any(|own| usize::from(own.code) == code);
                    let column = |(code, &share): (usize, &f64)| {
                        (share > 0.0 && is_candidate(code)).then(|| leaves(self, share))
                    };
                    let columns: Vec<Option<usize>> = probabilities.iter().enumerate().map(column).collect();
                    for (code, column) in columns.iter().enumerate() {
                        by_code[*variable][code].extend(column);
                    }
                    self.flow.codes[place].clone_from(&columns);
                    columns.into_iter().flatten().collect()
                }
            };
            let terms = leaving.into_iter().map(|column| (column, 1.0));
            let terms = terms.chain(entering.into_iter().map(|(column, factor)| (column, -factor)));
            self.program.equal(terms.collect(), if is_root { 1.0 } else { 0.0 });
        }
        self.tie_codes(candidates, &by_code);
        if let Plausible::AtLeast(least) = plausible {
            self.program.at_least(likelihood, least);
        }
    }

    /// The flow ends at the chosen codes.
    fn tie_codes(&mut self, candidates: &Candidates<'_>, by_code: &[Vec<Vec<usize>>]) {
        for (feature, by_code) in by_code.iter().enumerate() {
            let list = candidates.of(feature);
            if list[0].code == UNKNOWN {
                continue;
            }
            for (code, columns) in by_code.iter().enumerate() {
                let chosen = list.iter().zip(&self.choices[feature]);
                let chosen = chosen.filter(|(own, _)| usize::from(own.code) == code);
                let terms: Vec<(usize, f64)> = columns
                    .iter()
                    .map(|&column| (column, 1.0))
                    .chain(chosen.map(|(_, &column)| (column, -1.0)))
                    .collect();
                if !terms.is_empty() {
                    self.program.equal(terms, 0.0);
                }
            }
        }
    }
}

/// A sum of columns and a constant, with bounds.
struct UnitSum {
    terms: Vec<(usize, f64)>,
    constant: f64,
    low: f64,
    high: f64,
}

impl UnitSum {
    /// The weighted sum of others, none of which is below 0.
    fn over(inputs: &[Self], bias: f64, weight: impl Fn(usize) -> f64) -> Self {
        let mut sum = Self { terms: Vec::new(), constant: bias, low: bias, high: bias };
        for (place, input) in inputs.iter().enumerate() {
            let weight = weight(place);
            sum.terms.extend(input.terms.iter().map(|(column, factor)| (*column, weight * factor)));
            sum.constant += weight * input.constant;
            let [low, high] = if weight < 0.0 { [input.high, input.low] } else { [input.low, input.high] };
            sum.low += weight * low;
            sum.high += weight * high;
        }
        sum
    }
}

/// In median absolute deviations, or 1 for another category; 0 for the person's own value.
fn distance(model: &Model, feature: usize, candidates: &Candidates<'_>, to: Candidate) -> f64 {
    let own = candidates.of(feature)[0];
    match model.discretizer().domains()[feature].summary() {
        _ if own == to || (own.code == to.code && to.number.is_nan()) => 0.0,
        Some(summary) => (to.number - own.number).abs() / summary.mad,
        None => 1.0,
    }
}

/// Whether a candidate is in a direction from the person's own.
fn moves(own: Candidate, to: Candidate, direction: Direction) -> bool {
    let order = own.number.partial_cmp(&to.number).unwrap_or_else(|| own.code.cmp(&to.code));
    match direction {
        Direction::Increase => order.is_lt(),
        Direction::Decrease => order.is_gt(),
    }
}
