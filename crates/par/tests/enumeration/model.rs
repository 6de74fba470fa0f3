//! A model of a world, without training.

use std::io::Cursor;

use par_answer::Request;
use par_circuit::{Circuit, Node, NodeId, Stop};
use par_data::schema::Side;
use par_data::{Discretizer, DiscretizerConfig, Schema, Table, TableOptions, UNKNOWN};
use par_fit::pool::draw_pool;
use par_model::classifier::{
    Classifier, DeployedClassifier, ExternalClassifier, Inputs, NeuralClassifier, Version,
};
use par_model::generator::{Generator, GeneratorShape};
use par_model::{Card, Config, Model, ModelParts, ScoreScale, Target};

use crate::draw::Draw;
use crate::onnx::{self, TreeNode};
use crate::world::{Value, World};

/// A mixture of products, each with the probabilities of every code of every feature.
pub(crate) struct Mixture(Vec<(f64, Vec<Vec<f64>>)>);

impl Mixture {
    fn new(cardinalities: &[usize], draw: &mut Draw<'_>) -> Self {
        let parts = [0.5, 0.3, 0.2].map(|weight| {
            let leaf = |&codes: &usize| {
                let weights: Vec<f64> = (0..codes).map(|_| 0.02 + draw.below(1000) as f64 / 1000.0).collect();
                let all: f64 = weights.iter().sum();
                weights.iter().map(|weight| weight / all).collect()
            };
            (weight, cardinalities.iter().map(leaf).collect())
        });
        Self(parts.into())
    }

    pub(crate) fn log_prob(&self, codes: &[u16]) -> f64 {
        let part = |(weight, leaves): &(f64, Vec<Vec<f64>>)| {
            let known = codes.iter().zip(leaves).filter(|(code, _)| **code != UNKNOWN);
            weight * known.map(|(code, leaf)| leaf[usize::from(*code)]).product::<f64>()
        };
        self.0.iter().map(part).sum::<f64>().ln()
    }

    fn circuit(&self, cardinalities: &[usize]) -> Circuit {
        let (mut nodes, mut products) = (Vec::new(), Vec::new());
        for (_, leaves) in &self.0 {
            let first = nodes.len() as u32;
            for (variable, leaf) in leaves.iter().enumerate() {
                nodes.push(Node::Leaf { variable, probabilities: leaf.clone().into() });
            }
            nodes.push(Node::Product { children: (first..nodes.len() as u32).map(NodeId).collect() });
            products.push(NodeId(nodes.len() as u32 - 1));
        }
        let weights = self.0.iter().map(|(weight, _)| *weight).collect();
        nodes.push(Node::Sum { children: products.into(), weights });
        Circuit::new(cardinalities.to_vec(), nodes).expect("a circuit")
    }
}

/// What a classifier tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Whether a row is of the accepted class, by a network of ours or an external classifier.
    TwoClasses,
    /// Whether it is of the accepted ones of three classes, by softmax over a network or trees.
    ThreeClasses { accepted: &'static [usize], decision: &'static str },
    /// A number, by a network of ours or an external one, or trees.
    Number { side: Side, is_external: bool },
}

impl Outcome {
    pub(crate) const THREE_CLASSES: [Self; 3] = [
        Self::ThreeClasses { accepted: &[1], decision: "sum" },
        Self::ThreeClasses { accepted: &[2, 0], decision: "sum" },
        Self::ThreeClasses { accepted: &[0, 1], decision: "largest" },
    ];

    pub(crate) const NUMBERS: [Self; 3] = [
        Self::Number { side: Side::AtLeast, is_external: false },
        Self::Number { side: Side::AtMost, is_external: true },
        Self::Number { side: Side::AtLeast, is_external: true },
    ];

    /// The section of the schema that it needs.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Number { side: Side::AtLeast, .. } => "[label]\ncolumn = \"y\"\nat_least = 100\n",
            Self::Number { side: Side::AtMost, .. } => "[label]\ncolumn = \"y\"\nat_most = 100\n",
            Self::TwoClasses | Self::ThreeClasses { .. } => "",
        }
    }

    fn scale(self) -> ScoreScale {
        match self {
            Self::Number { side, is_external: false } => ScoreScale::number(1000.0, 60.0, side),
            Self::Number { side, is_external: true } => ScoreScale::number(0.0, 0.5, side),
            Self::TwoClasses | Self::ThreeClasses { .. } => ScoreScale::Probability,
        }
    }
}

/// A model, and the circuit of accepted rows as the tests know it.
pub(crate) struct Made {
    pub(crate) model: Model,
    pub(crate) accepted: Mixture,
}

impl Made {
    /// Turns the threshold and the margin of a request, which are of probabilities, into those of the model's scores.
    pub(crate) fn rescale(&self, request: &mut Request) {
        if let ScoreScale::Number { spread, .. } = self.model.scale() {
            request.threshold = request.threshold.map(|wanted| of_probability(self.model.scale(), wanted));
            request.margin = request.margin.map(|margin| margin * spread);
        }
    }
}

/// The score with the log-odds of a probability.
fn of_probability(scale: ScoreScale, probability: f64) -> f64 {
    match scale {
        ScoreScale::Probability => probability,
        ScoreScale::Number { .. } => scale.score(ScoreScale::Probability.log_odds(probability)),
    }
}

/// The model of a world with these training rows; an error if the schema is refused.
pub(crate) fn made(
    world: &World,
    table: &[Vec<Value>],
    outcome: Outcome,
    draw: &mut Draw<'_>,
) -> Result<Made, String> {
    let schema = Schema::parse(&world.schema(), "s.toml").map_err(|error| error.to_string())?;
    let mut text: Vec<String> =
        vec![(0..world.features.len()).map(|f| format!("f{f}")).collect::<Vec<_>>().join(",")];
    for row in table {
        let cells: Vec<String> =
            row.iter().zip(&world.features).map(|(value, feature)| feature.text(value)).collect();
        text.push(cells.join(","));
    }
    let table = Table::from_reader("t.csv", Cursor::new(text.join("\n")), &TableOptions::default());
    let table = table.expect("a table");
    let columns = schema.columns(table.origin(), table.columns()).expect("its columns");
    let bins = DiscretizerConfig { bins: 3, max_values: 5 };
    let batches = table.batches(1000).collect::<Result<Vec<_>, _>>().expect("rows");
    let read = batches.iter().cloned().map(Ok);
    let mut discretizer =
        Discretizer::fit(&schema, &columns, read, &bins).map_err(|error| error.to_string())?;
    let mut numbers = vec![Vec::new(); world.features.len()];
    batches.iter().for_each(|batch| discretizer.add_numbers(&columns, batch, &mut numbers));
    discretizer.learn_values(numbers);
    let cardinalities = discretizer.cardinalities();
    let accepted = Mixture::new(&cardinalities, draw);
    let circuit = accepted.circuit(&cardinalities);
    let is_external = match outcome {
        Outcome::TwoClasses => draw.below(3) == 0,
        Outcome::ThreeClasses { .. } => true,
        Outcome::Number { is_external, .. } => is_external,
    };
    let classifier = match is_external {
        true => external(world, &discretizer, outcome, draw)?,
        false => DeployedClassifier::Trained(network(&cardinalities, draw)),
    };
    let scale = outcome.scale();
    let mut config = Config::default();
    config.pool.size = 150;
    config.generator.hidden = [8, 8];
    (config.generator.encoder, config.generator.embedding) = (4, 4);
    let threshold = of_probability(scale, 0.3 + 0.1 * draw.below(5) as f64);
    let versions = match outcome {
        Outcome::TwoClasses => versions(world, &discretizer, &classifier, threshold, draw)?,
        Outcome::ThreeClasses { .. } | Outcome::Number { .. } => Vec::new(),
    };
    let pool = {
        let target = Target { classifier: &*classifier.typical(), threshold, scale };
        draw_pool(&circuit, target, &config.pool, 1, Stop::never()).expect("never stopped")
    };
    let immutable = (0..cardinalities.len()).filter(|&f| !world.features[f].is_acted_on()).collect();
    let shape = GeneratorShape::new(&config.generator, cardinalities.clone(), immutable, &pool);
    let generator = Generator::untrained(shape, draw.0);
    let denied = Mixture::new(&cardinalities, draw).circuit(&cardinalities);
    let parts = ModelParts {
        config,
        card: card(),
        discretizer,
        classifier,
        threshold,
        scale,
        versions,
        accepted: circuit,
        denied,
        pool,
        generator,
    };
    Ok(Made { model: Model::new(parts).map_err(|error| error.to_string())?, accepted })
}

fn card() -> Card {
    Card {
        program: String::new(),
        classes: ["yes".into(), "no".into()],
        rows: [1, 1],
        sample: None,
        denies: None,
        scores: None,
        agreement: None,
        coverage: None,
        held_out: [0.0; 2],
        auc: None,
        held_out_auc: None,
        held_out_r2: None,
        accuracy: None,
        classifier: par_model::card::ClassifierHistory::default(),
        generator: par_model::card::GeneratorHistory::default(),
    }
}

/// Up to three other versions of the classifier: networks like a network of ours, or networks and trees over raw values.
fn versions(
    world: &World,
    discretizer: &Discretizer,
    classifier: &DeployedClassifier,
    threshold: f64,
    draw: &mut Draw<'_>,
) -> Result<Vec<Version>, String> {
    let mut versions = Vec::new();
    for number in 0..draw.below(4) {
        let classifier = match classifier.network() {
            Some(network) if draw.chance(0.8) => DeployedClassifier::Trained(similar(network, draw)),
            _ => external(world, discretizer, Outcome::TwoClasses, draw)?,
        };
        let threshold = draw.maybe(0.5, |draw| 0.2 + 0.1 * draw.below(4) as f64).unwrap_or(threshold);
        let name = format!("version {number}");
        versions.push(Version { name, classifier, threshold, scale: ScoreScale::Probability });
    }
    Ok(versions)
}

/// A network with slightly other weights.
fn similar(network: &NeuralClassifier, draw: &mut Draw<'_>) -> NeuralClassifier {
    let widths = network.widths();
    let moves = weights(network.parameters().len(), 0.4, draw);
    let parameters = network.parameters().iter().zip(moves).map(|(own, by)| own + by).collect();
    let hidden = &widths[1..widths.len() - 1];
    NeuralClassifier::from_parameters(network.cardinalities().to_vec(), hidden, parameters)
        .expect("a network")
}

fn weights(count: usize, size: f32, draw: &mut Draw<'_>) -> Vec<f32> {
    (0..count).map(|_| size * (draw.below(2001) as f32 / 1000.0 - 1.0)).collect()
}

fn network(cardinalities: &[usize], draw: &mut Draw<'_>) -> NeuralClassifier {
    let codes: usize = cardinalities.iter().sum();
    let mut parameters = weights((codes + 1) * 6 + 7 * 4 + 5, 1.7, draw);
    // Most people are denied.
    *parameters.last_mut().expect("a bias") -= 0.5;
    NeuralClassifier::from_parameters(cardinalities.to_vec(), &[6, 4], parameters).expect("a network")
}

/// A network or trees over raw values.
fn external(
    world: &World,
    discretizer: &Discretizer,
    outcome: Outcome,
    draw: &mut Draw<'_>,
) -> Result<DeployedClassifier, String> {
    let mut columns = Vec::new();
    let mut spans: Vec<[f32; 2]> = Vec::new();
    for (position, feature) in world.features.iter().enumerate() {
        let name = format!("feature = \"f{position}\"");
        let [low, high] = feature.span.map(|end| end as f32);
        match feature.is_numeric() {
            true if draw.chance(0.5) => {
                let missing = if feature.missing { format!(", missing = {low}") } else { String::new() };
                columns.push(format!("{{ {name}, as = \"number\"{missing} }}"));
                spans.push([low, high]);
            }
            true => {
                let missing = if feature.missing { format!(", missing = {low}") } else { String::new() };
                let wide = (high - low).max(1.0);
                columns
                    .push(format!("{{ {name}, as = \"scale\", shift = {low}, divide = {wide}{missing} }}"));
                spans.push([0.0, 1.0]);
            }
            false if draw.chance(0.5) => {
                columns.push(format!("{{ {name}, as = \"one-hot\", values = {:?} }}", feature.values));
                spans.extend(vec![[0.0, 1.0]; feature.values.len()]);
            }
            false => {
                let missing = if feature.missing { ", missing = 1" } else { "" };
                columns.push(format!("{{ {name}, as = \"label\", values = {:?}{missing} }}", feature.values));
                spans.push([0.0, feature.values.len() as f32 - 1.0]);
            }
        }
    }
    let width = spans.len();
    let are_trees = draw.chance(0.5);
    let outputs = if matches!(outcome, Outcome::ThreeClasses { .. }) { 3 } else { 1 };
    let end = match outcome {
        Outcome::TwoClasses => "Sigmoid",
        Outcome::ThreeClasses { .. } => "Softmax",
        Outcome::Number { .. } => "Identity",
    };
    let file = match are_trees {
        true => onnx::trees(width, &trees(&spans, 6 * outputs, draw), outputs),
        false => network_file(&spans, outputs, end, draw),
    };
    let output = match outcome {
        Outcome::TwoClasses if are_trees => "[output]\nscale = \"log-odds\"\n".to_string(),
        Outcome::ThreeClasses { accepted, decision } => {
            format!("[output]\naccepted = {accepted:?}\ndecision = \"{decision}\"\n")
        }
        Outcome::TwoClasses | Outcome::Number { .. } => String::new(),
    };
    let inputs = format!("{output}[[input]]\nname = \"x\"\ncolumns = [\n{},\n]\n", columns.join(",\n"));
    let inputs = Inputs::parse(&inputs).map_err(|error| format!("{error}\n{inputs}"))?;
    let external = ExternalClassifier::new(file, inputs, discretizer, outcome.scale())
        .map_err(|error| error.to_string())?;
    Ok(DeployedClassifier::External(Box::new(external)))
}

fn network_file(spans: &[[f32; 2]], outputs: usize, end: &str, draw: &mut Draw<'_>) -> Vec<u8> {
    const UNITS: usize = 5;
    let (width, mut biases) = (spans.len(), weights(UNITS, 1.0, draw));
    let mut first = weights(width * UNITS, 2.0, draw);
    for (input, [low, high]) in spans.iter().enumerate() {
        for unit in 0..UNITS {
            let weight = &mut first[input * UNITS + unit];
            *weight /= (high - low).max(1.0);
            biases[unit] -= *weight * (low + high) / 2.0;
        }
    }
    let activation = draw.one(&["Relu", "Tanh", "Sigmoid"]);
    let second = weights(UNITS * outputs, 3.0, draw);
    onnx::network(width, [&first, &biases], &second, &vec![-0.3; outputs], [activation, end])
}

fn trees(spans: &[[f32; 2]], count: usize, draw: &mut Draw<'_>) -> Vec<Vec<TreeNode>> {
    let tree = |draw: &mut Draw<'_>| {
        let branch = |yes: usize, no: usize, draw: &mut Draw<'_>| {
            let input = draw.below(spans.len());
            let [low, high] = spans[input];
            let at_most = low + (high - low) * draw.below(100) as f32 / 100.0;
            TreeNode::Branch { input, at_most, yes, no }
        };
        let mut nodes = vec![branch(1, 2, draw), branch(3, 4, draw), branch(5, 6, draw)];
        nodes.extend(weights(4, 1.0, draw).into_iter().map(|weight| TreeNode::Leaf(weight - 0.05)));
        nodes
    };
    (0..count).map(|_| tree(draw)).collect()
}
