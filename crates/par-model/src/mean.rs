//! Means with the number of values behind them.

use serde::{Deserialize, Serialize};

/// A mean over those of `of` items that have a value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean; `None` without values.
    pub mean: Option<f64>,
    /// How many items have a value.
    pub over: usize,
    /// How many items there are.
    pub of: usize,
}

impl Mean {
    /// The mean of `values`, which some of `of` items have.
    pub fn new(values: impl Iterator<Item = f64>, of: usize) -> Self {
        let (sum, over) = values.fold((0.0, 0_usize), |(sum, over), value| (sum + value, over + 1));
        Self { mean: (over > 0).then(|| sum / over as f64), over, of }
    }

    /// The share of `truths` that are true, which some of `of` items have.
    pub fn share(truths: impl Iterator<Item = bool>, of: usize) -> Self {
        Self::new(truths.map(|truth| f64::from(u8::from(truth))), of)
    }
}
