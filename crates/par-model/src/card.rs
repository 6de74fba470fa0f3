//! How a model was made: the facts of its model card, with its learning curves.

use serde::{Deserialize, Serialize};

use crate::mean::Mean;

/// How a model was made: the facts of its model card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The program and its version.
    pub program: String,
    /// The names of the accepted and of the denied classes, with commas between several.
    pub classes: [String; 2],
    /// How many rows each of these classes has: by label of all rows that were read, otherwise by the classifier's decision
    /// of those learned from.
    pub rows: [usize; 2],
    /// How many rows were read and learned from; `None` if the model was learned from all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// How many of the rows learned from the classifier denies; `None` if they were not scored.
    pub denies: Option<usize>,
    /// The lowest and the highest score of a training row.
    #[serde(default)]
    pub scores: Option<[f64; 2]>,
    /// The share of held-out or newly drawn rows on which surrogate and classifier agree; `None` without a surrogate.
    #[serde(default)]
    pub agreement: Option<Mean>,
    /// The share of sampled denied people with a way that the classifier itself accepts, of a surrogate that was trained on
    /// the ways it proposed; `None` of any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Mean>,
    /// Mean log-probability of held-out rows under the accepted and the denied circuit.
    pub held_out: [f64; 2],
    /// Area under the ROC curve of the classifier on the training rows: how well it tells the classes apart, of a
    /// regression which rows reach the goal.
    pub auc: Option<f64>,
    /// The same on rows that learning did not see: for a trained classifier, that of one trained on four fifths of the
    /// rows on the others; for another, on all rows.
    #[serde(default)]
    pub held_out_auc: Option<f64>,
    /// Of a regression: the share of the label's variance that it explains, R², on the rows of `held_out_auc`.
    #[serde(default)]
    pub held_out_r2: Option<f64>,
    /// Accuracy of the classifier on the training rows.
    pub accuracy: Option<f64>,
    /// The learning curve of the classifier, or of its surrogate; empty where neither was trained.
    pub classifier: ClassifierHistory,
    /// The generator's learning curves.
    pub generator: GeneratorHistory,
}

/// A sample of a table that a model was learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// How many rows the table has.
    pub read: usize,
    /// How many of them were learned from.
    pub learned_from: usize,
}

impl Card {
    /// How many rows were read, and how many of them learned from.
    pub fn sample_or_all(&self) -> Sample {
        let all: usize = self.rows.iter().sum();
        self.sample.unwrap_or(Sample { read: all, learned_from: all })
    }
}

/// One pass over the training rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Mean loss a row, in nats, while training.
    pub training: f64,
    /// Mean loss of the held-out rows after this pass; `None` without held-out rows.
    pub validation: Option<f64>,
}

/// How the training of the classifier, or of its surrogate, went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassifierHistory {
    /// Every pass over the training rows.
    pub epochs: Vec<Epoch>,
    /// The pass whose parameters were kept, counted from 1.
    pub best: usize,
    /// Whether the loss gave both classes the same weight.
    pub balanced: bool,
}

/// How the training of the generator went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorHistory {
    /// How many denied rows the generator was trained on.
    pub examples: usize,
    /// For how many of them the teacher found a recourse.
    pub taught: usize,
    /// How many further denied rows were held out to measure progress.
    pub held_out: usize,
    /// The learning curves.
    pub points: Vec<GeneratorPoint>,
}

/// One point of the learning curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratorPoint {
    /// Training steps so far.
    pub step: usize,
    /// Means over the examples of the steps since the last point.
    pub loss: LossTerms,
    /// Measures on the held-out factuals; `None` without any.
    pub held_out: Option<HeldOut>,
}

/// Measures of the generator's most probable legal rows for the held-out factuals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The share that the classifier accepts.
    pub valid: f64,
    /// Mean number of changes, over all.
    pub changes: f64,
    /// Mean log p⁺, over all.
    pub log_likelihood: f64,
}

/// The mean of every loss term over some rows, unweighted, and their weighted sum. Terms that are switched off are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LossTerms {
    /// The weighted sum, which training minimises.
    pub total: f64,
    /// L_val.
    pub validity: f64,
    /// L_prox.
    pub proximity: f64,
    /// L₊.
    pub accepted: f64,
    /// L₋.
    pub denied: f64,
    /// L_sparse.
    pub sparsity: f64,
    /// L_ent.
    pub entropy: f64,
    /// Cross-entropy towards the teacher.
    pub teaching: f64,
}
