//! Recourse for a denied row: what to change so that the classifier accepts it, plausibly.

pub mod classifier;
mod network;
pub mod pool;
pub mod setting;
pub mod decode;
pub mod generator;
#[cfg(test)]
mod test_world;
