//! Means that say over how many they are.

use serde::{Deserialize, Serialize};

/// A mean over some of those it could have been over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean; absent over none.
    pub mean: Option<f64>,
    /// Over how many.
    pub over: usize,
    /// Of how many.
    pub of: usize,
}

impl Mean {
    /// The mean of values that some of `of` have.
    pub fn new(values: impl Iterator<Item = f64>, of: usize) -> Self {
        let (sum, over) = values.fold((0.0, 0_usize), |(sum, over), value| (sum + value, over + 1));
        Self { mean: (over > 0).then(|| sum / over as f64), over, of }
    }

    /// The share of those for whom something is true.
    pub fn share(truths: impl Iterator<Item = bool>, of: usize) -> Self {
        Self::new(truths.map(|truth| f64::from(u8::from(truth))), of)
    }
}
