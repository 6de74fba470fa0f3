//! Trains the generator.
//!
//! | part      | takes                             | gives                                   |
//! |-----------|-----------------------------------|-----------------------------------------|
//! | examples  | circuits, classifier, constraints | denied rows to learn from               |
//! | loss      | a soft row                        | the paper's terms and their slopes      |
//! | objective | examples                          | their sum, and slopes by parameters     |
//! | train     | all of it                         | a generator and its learning curves     |

mod examples;
mod loss;
mod objective;
mod train;

pub use train::{Progress, Teacher, Training, train_generator};
