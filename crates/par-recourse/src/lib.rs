//! Recourse for a denied row: what to change so that the classifier accepts it, plausibly.
//!
//! | step | module                     | takes                                | gives                          |
//! |------|----------------------------|--------------------------------------|--------------------------------|
//! | 1    | [`fit`]                    | a table and its schema               | a [`Bundle`], by steps 2 to 5  |
//! | 2    | [`classifier`]             | training rows                        | who is accepted                |
//! | 3    | [`pool`]                   | the circuit of accepted rows         | an accepted pool               |
//! | 4    | [`generator`]              | circuits, classifier, constraints    | logits for a factual           |
//! | 5    | [`bundle`]                 | all of it                            | one file                       |
//! | 6    | [`solver`]                 | one person's row and [`Request`]     | an [`Answer`], by steps 7 to 9 |
//! | 7    | [`decode`]                 | logits and what may change           | proposals                      |
//! | 8    | `refine`                   | proposals                            | likelier, sparser candidates   |
//! | 9    | `exact`                    | candidates                           | the best, proved               |
//! | 10   | [`desk`]                   | the rows of a table                  | lines, JSON and text, in [`words`] |
//! | 11   | [`metrics`]                | many answers                         | how good they are              |
//!
//! ```
//! use par_data::german_credit;
//! use par_recourse::{Answer, Config, Recourse};
//!
//! let mut config = Config::default();
//! config.generator.steps = 20; // A real one gets more.
//! let schema = german_credit::schema();
//! let bundle = Recourse::new(schema.clone(), config).fit(|| Ok(german_credit::table()))?;
//!
//! // The first person of the table who is denied.
//! let table = german_credit::table();
//! let columns = schema.columns(table.origin(), table.columns())?;
//! let batch = table.batches(1000).next().expect("rows")?;
//! let person = |row: usize| columns.features.iter().map(|&column| batch.cell(row, column)).collect::<Vec<_>>();
//! let found = (0..batch.rows()).find_map(|row| match bundle.recourse(&person(row)) {
//!     Ok(Answer::Found(found)) => Some(found),
//!     _ => None,
//! });
//! let way = &found.expect("somebody is denied").ways[0];
//! assert!(way.probability >= bundle.threshold());
//! assert!(!way.changes.is_empty() && way.changes.len() <= 4);
//! # Ok::<(), par_recourse::Error>(())
//! ```

pub mod answer;
pub mod bundle;
pub mod classifier;
pub mod config;
pub mod container;
pub mod decode;
pub mod desk;
pub mod fit;
pub mod generator;
pub mod metrics;
pub mod pool;
pub mod setting;
pub mod solver;
pub mod words;

mod error;
mod exact;
mod network;
mod problem;
mod refine;
#[cfg(test)]
mod test_world;

pub use answer::{Answer, Change, Found, Method, NotFound, Obstacle, Point, Reason, Request, Way};
pub use bundle::{Bundle, Card};
pub use config::{AnswerConfig, Config, LocalSearch};
pub use error::{BundleError, Error, RowError, ScoredBy};
pub use fit::{Recourse, Stage};
pub use metrics::{Evaluation, Mean};
pub use par_circuit::{Stop, Stopped};
pub use solver::Solver;
