//! Small worlds for the tests of this crate and of the crates that use it.

use par_circuit::{Ball, Circuit, Code, Node, NodeId, OPEN};
use par_data::{Discretizer, DiscretizerConfig, Schema, Table, TableOptions};

use crate::classifier::Classifier;

/// Features with codes `0..n`, and their schema.
pub struct World {
    /// How many codes each feature has.
    pub cardinalities: Vec<usize>,
    /// Further lines of the schema for each feature.
    pub lines: Vec<&'static str>,
    /// Rules: the first feature rises only if the second does.
    pub rules: Vec<(usize, usize)>,
}

impl World {
    /// The schema, with a bin for every code.
    pub fn discretizer(&self) -> Discretizer {
        let mut text = String::new();
        for (feature, lines) in self.lines.iter().enumerate() {
            text += &format!(
                "[[feature]]\nname = \"f{feature}\"\nkind = \"discrete\"\nmissing = true\n{lines}\n"
            );
        }
        for (if_increases, must_increase) in &self.rules {
            text += &format!(
                "[[rule]]\nif_increases = \"f{if_increases}\"\nmust_increase = \"f{must_increase}\"\n"
            );
        }
        let names = (0..self.cardinalities.len()).map(|feature| format!("f{feature}"));
        let mut rows = names.collect::<Vec<String>>().join(",") + "\n";
        for row in 0..*self.cardinalities.iter().max().expect("features") {
            let cells = self.cardinalities.iter().map(|codes| (row % codes).to_string());
            rows += &(cells.collect::<Vec<String>>().join(",") + "\n");
        }
        // As a model stores it: only schema files refuse rules that cannot be met.
        let schema = Schema::try_from(text).expect("a schema");
        let table =
            Table::from_reader("t.csv", std::io::Cursor::new(rows.into_bytes()), &TableOptions::default());
        let table = table.expect("a table");
        let columns = schema.columns(table.origin(), table.columns()).expect("columns");
        Discretizer::fit(&schema, &columns, table.batches(16), &DiscretizerConfig::default()).expect("a fit")
    }

    /// A mixture of two products whose leaves favour high codes, or low ones.
    pub fn circuit(&self, high: bool) -> Circuit {
        let features = self.cardinalities.len();
        let mut nodes = Vec::new();
        for part in 0..2 {
            for (variable, &codes) in self.cardinalities.iter().enumerate() {
                let weight = |code: usize| {
                    let rank = if high { code } else { codes - 1 - code };
                    1.0 + (rank * (1 + (variable + part) % 3)) as f64
                };
                let total: f64 = (0..codes).map(weight).sum();
                let probabilities = (0..codes).map(|code| weight(code) / total).collect();
                nodes.push(Node::Leaf { variable, probabilities });
            }
            let children = (nodes.len() - features..nodes.len()).map(|node| NodeId(node as u32)).collect();
            nodes.push(Node::Product { children });
        }
        let children = [features, 2 * features + 1].map(|node| NodeId(node as u32)).into();
        nodes.push(Node::Sum { children, weights: [0.4, 0.6].into() });
        Circuit::new(self.cardinalities.clone(), nodes).expect("a circuit")
    }

    /// Accepts rows whose codes sum to enough.
    pub fn classifier(&self, bias: f64) -> Linear {
        let weights = self.cardinalities.iter().flat_map(|&codes| (0..codes).map(|code| code as f32 - 0.5));
        Linear { cardinalities: self.cardinalities.clone(), weights: weights.collect(), bias }
    }
}

/// A classifier whose log-odds are a sum over codes.
pub struct Linear {
    cardinalities: Vec<usize>,
    weights: Vec<f32>,
    bias: f64,
}

impl Classifier for Linear {
    fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        let mut start = 0;
        let mut sum = self.bias;
        for (&code, &codes) in row.iter().zip(&self.cardinalities) {
            if code != OPEN {
                sum += f64::from(self.weights[start + usize::from(code)]);
            }
            start += codes;
        }
        sum
    }

    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        gradient.copy_from_slice(&self.weights);
        self.bias + soft.iter().zip(&self.weights).map(|(q, w)| f64::from(*q) * f64::from(*w)).sum::<f64>()
    }

    fn log_odds_bounds(&self, _: &Ball) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }
}
