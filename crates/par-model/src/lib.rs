//! What a model file holds, and how it is evaluated. Nothing here learns, and nothing searches.
//!
//! Internal to PAR, without a promise of stability: applications use the crate `par`.
//!
//! | module           | holds                                                    |
//! |------------------|----------------------------------------------------------|
//! | [`model`]        | [`Model`]: everything that answering needs, one file     |
//! | [`card`]         | how the model was made                                   |
//! | [`config`]       | the settings that it was made with                       |
//! | [`classifier`]   | decides who is accepted: a network, or an ONNX file      |
//! | [`scale`]        | what a score is: a probability, or a predicted number    |
//! | [`target`]       | a score and the threshold that it must reach             |
//! | [`pool`]         | accepted rows, and which of them are near a person       |
//! | [`plausibility`] | how likely rows are, given what a person cannot change   |
//! | [`generator`]    | a person and what may change → logits of all codes       |
//! | [`network`]      | dense layers, forward and backward                       |
//! | [`container`]    | the byte layout that our files share                     |
//!
//! ```no_run
//! let model = par_model::Model::load("german_credit.par")?;
//! println!("lowest accepted score: {}", model.threshold());
//! # Ok::<(), par_model::ModelError>(())
//! ```

pub mod card;
pub mod classifier;
pub mod config;
pub mod container;
pub mod generator;
pub mod model;
pub mod network;
pub mod plausibility;
pub mod pool;
pub mod scale;
pub mod setting;
pub mod target;
#[cfg(any(test, feature = "test-world"))]
#[doc(hidden)]
pub mod test_world;

mod error;
mod mean;
mod share;

pub use card::Card;
pub use config::{AnswerConfig, Config, ConfigError, Density, LocalSearch, Order, Values};
pub use error::{ModelError, RowError};
pub use mean::Mean;
pub use model::{Model, ModelParts};
pub use plausibility::Plausibility;
pub use scale::ScoreScale;
pub use share::{Share, wilson};
pub use target::Target;
