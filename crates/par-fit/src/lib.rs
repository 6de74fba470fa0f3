//! Learns a model from a table. Answering serves as the teacher of the generator.
//!
//! Internal to PAR, without a promise of stability: applications use the crate `par`.
//!
//! | step | module         | takes                                | gives                                |
//! |------|----------------|--------------------------------------|--------------------------------------|
//! | 1    | [`fit`]        | a table and its schema               | a [`Model`](par_model::Model), by steps 2 to 4 |
//! | 2    | [`classifier`] | training rows                        | a classifier                         |
//! | 3    | [`pool`]       | the circuit of accepted rows         | an accepted pool                     |
//! | 4    | [`generator`]  | circuits, classifier, constraints    | a trained generator                  |
//! | 5    | `refit`        | a model and other settings           | a model, without any data            |
//! | 6    | `surrogate`    | a model and newly scored rows        | a model whose surrogate learned from them |
//! | –    | [`adam`]       | networks and their gradients         | the networks, a step further         |
//!
//! ```
//! use par_data::german_credit;
//! use par_fit::ModelBuilder;
//! use par_model::Config;
//!
//! let mut config = Config::default();
//! config.generator.steps = 20; // Few, so that the example is fast.
//! let model = ModelBuilder::new(german_credit::schema(), config).fit(|| Ok(german_credit::table()))?;
//! assert_eq!(model.card().classes, ["Good", "Bad"]);
//! # Ok::<(), par_fit::Error>(())
//! ```

pub mod adam;
pub mod classifier;
pub mod fit;
pub mod generator;
pub mod pool;
mod refit;
mod surrogate;

mod error;

pub use error::{Error, ScoredBy};
pub use fit::{ModelBuilder, Stage};
pub use refit::{refit, with_config};
pub use surrogate::{ScoredRows, complete_surrogate, train_surrogate_of};
