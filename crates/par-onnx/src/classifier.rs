//! A classifier as lowered from a graph: functions of single inputs, and layers or trees over them.

use crate::head::Head;

/// The value of one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number; NaN where it is missing.
    Number(f32),
    /// A text.
    Text(&'a str),
}

/// A classifier with one score a row: the log-odds of the accepted classes, or a predicted number.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxClassifier {
    pub(crate) width: usize,
    pub(crate) sources: Vec<Source>,
    pub(crate) parts: Vec<Body>,
    pub(crate) head: Head,
}

/// A function of one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The position of the input among the inputs of all tensors.
    pub input: usize,
    /// The steps from the input to the number, in single precision as in onnxruntime.
    pub steps: Vec<Step>,
}

/// One step of a source.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// x + a.
    Add(f32),
    /// x − a.
    Subtract(f32),
    /// a − x.
    SubtractFrom(f32),
    /// x a.
    Multiply(f32),
    /// x / a.
    Divide(f32),
    /// One if x is the number, otherwise zero.
    Equals(f32),
    /// One if x is the text, otherwise zero.
    EqualsText(String),
    /// The second number of the pair whose first is x; the default if there is none.
    Lookup(Vec<(f32, f32)>, f32),
    /// The same for a text.
    LookupText(Vec<(String, f32)>, f32),
    /// The second number if x is the first, which may be NaN; otherwise x.
    Replace(f32, f32),
    /// x rounded towards zero.
    Truncate,
    /// One if x is above the number, otherwise zero.
    Above(f32),
    /// One if x is NaN, otherwise zero.
    IsMissing,
    /// |x|.
    Absolute,
    /// eˣ.
    Exponential,
    /// ln x.
    Logarithm,
    /// √x.
    SquareRoot,
    /// An activation.
    Apply(Activation),
}

/// A monotone function whose slope over an interval is least at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// x above zero, a x below; `0 ≤ a ≤ 1`.
    LeakyRelu(f32),
    /// x above zero, a (eˣ − 1) below; `a ≥ 0`.
    Elu(f32),
    /// (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ).
    Tanh,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// ln(1 + eˣ).
    Softplus,
    /// x, limited to the interval from the first to the second.
    Clip(f32, f32),
}

/// A function from the numbers of the sources to a score.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A network, which has gradients.
    Layers(Layers),
    /// An ensemble of trees, which has no gradients.
    Trees(Trees),
}

/// Dense layers; the last one computes the log-odds.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// At least one. The inputs of the first are the sources; the last has one output.
    pub dense: Vec<Dense>,
    /// The activations between the layers, one fewer than layers.
    pub activations: Vec<Activation>,
}

/// One layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// `[input][output]`.
    pub weights: Vec<f32>,
    /// One an output.
    pub biases: Vec<f32>,
}

/// An ensemble of trees, whose leaves are added up.
#[derive(Clone, Debug, PartialEq)]
pub struct Trees {
    /// All nodes of all trees, children after their parents.
    pub nodes: Vec<TreeNode>,
    /// The position of each root.
    pub roots: Vec<u32>,
    /// A constant that is added to the leaves.
    pub base: f64,
    /// The meaning of the sum.
    pub link: Link,
}

/// One node of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TreeNode {
    /// Its term of the sum.
    Leaf(f64),
    /// Goes to `yes` if the number of a source passes the comparison, otherwise to `no`.
    Branch {
        /// The source.
        source: u32,
        /// The comparison.
        comparison: Comparison,
        /// A node after this one.
        yes: u32,
        /// A node after this one.
        no: u32,
        /// Whether NaN goes to `yes`.
        missing: bool,
    },
}

/// The comparison of a branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// x ≤ a.
    AtMost(f32),
    /// x = a.
    Equals(f32),
}

/// The meaning of an ensemble's sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Log-odds.
    LogOdds,
    /// A probability.
    Probability,
    /// The probability of the other class.
    OtherProbability,
}

impl OnnxClassifier {
    /// Number of inputs of all tensors.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The functions of single inputs.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The functions from their numbers to scores: at least one, all layers or all trees.
    pub fn parts(&self) -> &[Body] {
        &self.parts
    }

    /// How the scores of the parts become the log-odds.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The same, with its log-odds multiplied by a factor; exact for a power of two. For a classifier of one part.
    ///
    /// # Panics
    /// When it has several parts.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        let [part] = &mut self.parts[..] else { panic!("one part") };
        match part {
            Body::Layers(layers) => {
                let last = layers.dense.last_mut().expect("at least one layer");
                last.weights.iter_mut().chain(&mut last.biases).for_each(|weight| {
                    *weight = (f64::from(*weight) * factor) as f32;
                });
            }
            Body::Trees(trees) => {
                trees.base *= factor;
                for node in &mut trees.nodes {
                    if let TreeNode::Leaf(value) = node {
                        *value *= factor;
                    }
                }
            }
        }
        self
    }

    /// The log-odds of one row; NaN where the file's own operators give NaN.
    ///
    /// # Panics
    /// When the number of values is not the number of inputs.
    pub fn log_odds(&self, inputs: &[Value<'_>]) -> f64 {
        assert_eq!(inputs.len(), self.width, "one value an input");
        let numbers: Vec<f32> =
            self.sources.iter().map(|source| source.number(inputs[source.input])).collect();
        let score = |part: &Body| match part {
            Body::Layers(layers) => layers.log_odds(&numbers),
            Body::Trees(trees) => trees.log_odds(&numbers),
        };
        match &self.parts[..] {
            [only] => score(only),
            parts => self.head.log_odds(&parts.iter().map(score).collect::<Vec<f64>>()),
        }
    }
}

impl Source {
    /// The texts that it tells apart, if it reads texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (one, pairs): (Option<&String>, &[(String, f32)]) = match self.steps.first() {
            Some(Step::EqualsText(text)) => (Some(text), &[]),
            Some(Step::LookupText(pairs, _)) => (None, pairs),
            _ => (None, &[]),
        };
        one.into_iter().chain(pairs.iter().map(|(text, _)| text)).map(String::as_str)
    }

    /// The number for an input. A text gives NaN unless a step expects it.
    pub fn number(&self, input: Value<'_>) -> f32 {
        let mut steps = self.steps.iter();
        let first = match input {
            Value::Number(number) => number,
            Value::Text(text) => match steps.next() {
                Some(Step::EqualsText(own)) => f32::from(u8::from(own == text)),
                Some(Step::LookupText(pairs, other)) => {
                    pairs.iter().find(|(own, _)| own == text).map_or(*other, |(_, number)| *number)
                }
                _ => f32::NAN,
            },
        };
        steps.fold(first, |x, step| step.number(x))
    }

    /// Whether it is a x + b for every x that is not NaN.
    pub fn is_affine(&self) -> bool {
        self.slope().is_some()
    }

    /// The factor a if it is a x + b for every x that is not NaN.
    pub fn slope(&self) -> Option<f64> {
        self.steps.iter().try_fold(1.0, |slope, step| match step {
            Step::Add(_) | Step::Subtract(_) => Some(slope),
            Step::SubtractFrom(_) => Some(-slope),
            Step::Multiply(a) => Some(slope * f64::from(*a)),
            Step::Divide(a) => Some(slope / f64::from(*a)),
            Step::Replace(from, _) if from.is_nan() => Some(slope),
            _ => None,
        })
    }
}

impl Step {
    pub(crate) fn number(&self, x: f32) -> f32 {
        match self {
            Self::Add(a) => x + a,
            Self::Subtract(a) => x - a,
            Self::SubtractFrom(a) => a - x,
            Self::Multiply(a) => x * a,
            Self::Divide(a) => x / a,
            Self::Equals(a) => f32::from(u8::from(x == *a)),
            Self::Lookup(pairs, other) => {
                let is_meant = |(own, _): &&(f32, f32)| *own == x || (own.is_nan() && x.is_nan());
                pairs.iter().find(is_meant).map_or(*other, |(_, number)| *number)
            }
            Self::EqualsText(_) | Self::LookupText(..) => f32::NAN,
            Self::Replace(from, to) => {
                let is_meant = x == *from || (x.is_nan() && from.is_nan());
                if is_meant { *to } else { x }
            }
            Self::Truncate => x.trunc(),
            Self::Above(a) => f32::from(u8::from(x > *a)),
            Self::IsMissing => f32::from(u8::from(x.is_nan())),
            Self::Absolute => x.abs(),
            Self::Exponential => x.exp(),
            Self::Logarithm => x.ln(),
            Self::SquareRoot => x.sqrt(),
            Self::Apply(activation) => activation.value(f64::from(x)) as f32,
        }
    }
}

impl Activation {
    /// Its value.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Relu if x < 0.0 => 0.0,
            Self::LeakyRelu(a) if x < 0.0 => f64::from(a) * x,
            Self::Elu(a) if x < 0.0 => f64::from(a) * x.exp_m1(),
            // `max(x, 0)` would turn NaN into zero.
            Self::Relu | Self::LeakyRelu(_) | Self::Elu(_) => x,
            Self::Tanh => x.tanh(),
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Self::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
            Self::Clip(low, high) => x.clamp(f64::from(low), f64::from(high)),
        }
    }

    /// Its slope.
    pub fn slope(self, x: f64) -> f64 {
        let step = |inside: bool| f64::from(u8::from(inside));
        match self {
            Self::Relu => step(x > 0.0),
            Self::LeakyRelu(a) => {
                if x > 0.0 {
                    1.0
                } else {
                    f64::from(a)
                }
            }
            Self::Elu(a) => {
                if x > 0.0 {
                    1.0
                } else {
                    f64::from(a) * x.exp()
                }
            }
            Self::Tanh => 1.0 - x.tanh().powi(2),
            Self::Sigmoid => {
                let value = self.value(x);
                value * (1.0 - value)
            }
            Self::Softplus => Self::Sigmoid.value(x),
            Self::Clip(low, high) => step(f64::from(low) < x && x < f64::from(high)),
        }
    }
}

impl Layers {
    /// The log-odds for the numbers of the sources.
    pub fn log_odds(&self, numbers: &[f32]) -> f64 {
        let mut values: Vec<f64> = numbers.iter().map(|&number| f64::from(number)).collect();
        for (layer, dense) in self.dense.iter().enumerate() {
            if layer > 0 {
                values.iter_mut().for_each(|value| *value = self.activations[layer - 1].value(*value));
            }
            let mut outputs: Vec<f64> = dense.biases.iter().map(|&bias| f64::from(bias)).collect();
            for (value, weights) in values.iter().zip(dense.weights.chunks_exact(outputs.len())) {
                if *value != 0.0 {
                    outputs
                        .iter_mut()
                        .zip(weights)
                        .for_each(|(output, &weight)| *output += value * f64::from(weight));
                }
            }
            values = outputs;
        }
        values[0]
    }
}

impl Trees {
    /// The log-odds for the numbers of the sources.
    pub fn log_odds(&self, numbers: &[f32]) -> f64 {
        let leaf = |&root: &u32| {
            let mut node = root;
            loop {
                match self.nodes[node as usize] {
                    TreeNode::Leaf(value) => return value,
                    TreeNode::Branch { source, comparison, yes, no, missing } => {
                        let holds = comparison.holds(numbers[source as usize], missing);
                        node = if holds { yes } else { no };
                    }
                }
            }
        };
        self.link.log_odds(self.base + self.roots.iter().map(leaf).sum::<f64>())
    }

    /// Bounds on the log-odds for all numbers of the sources between a lowest and a highest one each. Exact for a single
    /// tree; of several each is bounded on its own.
    pub fn bounds(&self, numbers: &[[f32; 2]]) -> (f64, f64) {
        let mut ends = [self.base; 2];
        let mut sums = [0.0; 2];
        for &root in &self.roots {
            let [lowest, highest] = self.extremes(root, numbers);
            sums = [sums[0] + lowest, sums[1] + highest];
        }
        ends.iter_mut().zip(sums).for_each(|(end, sum)| *end += sum);
        let [lower, upper] = ends.map(|sum| self.link.log_odds(sum));
        if self.link.rises() { (lower, upper) } else { (upper, lower) }
    }

    /// The lowest and the highest leaf of a tree that the numbers reach.
    fn extremes(&self, root: u32, numbers: &[[f32; 2]]) -> [f64; 2] {
        let mut extremes = [f64::INFINITY, f64::NEG_INFINITY];
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            match self.nodes[node as usize] {
                TreeNode::Leaf(value) => extremes = [extremes[0].min(value), extremes[1].max(value)],
                TreeNode::Branch { source, comparison, yes, no, missing } => {
                    let [may_hold, may_fail] = comparison.outcomes(numbers[source as usize], missing);
                    open.extend(may_hold.then_some(yes));
                    open.extend(may_fail.then_some(no));
                }
            }
        }
        extremes
    }
}

impl Comparison {
    /// Whether the number passes; `missing` is the result for NaN.
    pub fn holds(self, number: f32, missing: bool) -> bool {
        match self {
            _ if number.is_nan() => missing,
            Self::AtMost(a) => number <= a,
            Self::Equals(a) => number == a,
        }
    }

    /// Whether a number between the lowest and the highest may pass, and whether one may fail.
    fn outcomes(self, [lowest, highest]: [f32; 2], missing: bool) -> [bool; 2] {
        match self {
            _ if lowest.is_nan() || highest.is_nan() => [missing, !missing],
            Self::AtMost(a) => [lowest <= a, highest > a],
            Self::Equals(a) => [lowest <= a && a <= highest, lowest != a || highest != a],
        }
    }
}

impl Link {
    /// Probabilities are limited to at least this and at most one minus this.
    const LEAST: f64 = 1e-15;

    /// The log-odds of a sum.
    pub fn log_odds(self, sum: f64) -> f64 {
        let logit = |p: f64| {
            let p = p.clamp(Self::LEAST, 1.0 - Self::LEAST);
            (p / (1.0 - p)).ln()
        };
        match self {
            Self::LogOdds => sum,
            Self::Probability => logit(sum),
            Self::OtherProbability => -logit(sum),
        }
    }

    /// Whether a higher sum means higher log-odds.
    pub fn rises(self) -> bool {
        matches!(self, Self::LogOdds | Self::Probability)
    }
}
