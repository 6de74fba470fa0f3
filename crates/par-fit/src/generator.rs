//! Trains the generator.
//!
//! | part      | takes                             | gives                                   |
//! |-----------|-----------------------------------|-----------------------------------------|
//! | examples  | circuits, classifier, constraints | denied rows to learn from               |
//! | loss      | a soft row                        | the paper's terms and their gradients   |
//! | objective | examples                          | the sum of the terms, and its gradient  |
//! | train     | examples and objective            | a generator and its learning curves     |

mod examples;
mod loss;
mod objective;
mod train;

pub use train::{Progress, Teacher, Training, train_generator};
