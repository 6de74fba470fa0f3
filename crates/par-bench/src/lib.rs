//! The paper's experiments, on any table with a schema and folds, and the report of them.
//!
//! | step | module         | takes                               | gives                             |
//! |------|----------------|-------------------------------------|-----------------------------------|
//! | 1    | [`case`]       | a table, its schema, a configuration | folds, each with its model      |
//! | 2    | [`method`]     | a person of a fold                  | an answer and its time            |
//! | 3    | [`peers`]      | a fold; a table of others' answers  | methods of others, native or recorded |
//! | 4    | [`measures`]      | an answer of any method             | the measures of the paper         |
//! | 5    | [`experiment`] | a fold                              | figures                           |
//! | 6    | [`run`]        | cases                               | all figures, fold by fold         |
//! | 7    | [`figures`]    | `figures.csv`                       | means and deviations over folds   |
//! | 8    | [`paper`]      | the name of a table                 | its published figures             |
//! | 9    | [`report`]     | figures, and published ones         | tables, charts, a page            |
//! | 10   | [`tune`]       | a case                              | a better configuration            |
//! | 11   | [`calibrate`]  | a case of the paper's               | the weights that its figures fit  |
//! | 12   | [`claims`]     | figures                             | what becomes of the paper's claims |
//! | –    | [`export`]     | a fold                              | its questions, for other programs |
//! | –    | [`factors`]    | numbers of columns and rows         | a random table, streamed, of dependent columns |
//! | –    | [`synthetic`]  | numbers of people and features      | a random table                    |
//!
//! Nothing here prints. A figure is a line of one table, and every plot is made from that table alone.

pub mod calibrate;
pub mod case;
pub mod claims;
pub mod experiment;
pub mod export;
pub mod factors;
pub mod figures;
pub mod measures;
pub mod method;
pub mod paper;
pub mod peers;
pub mod report;
pub mod run;
pub mod synthetic;
pub mod tune;

mod error;
#[cfg(test)]
mod test_case;

pub use case::{Case, Factual, Fold, LabelledRows};
pub use error::Error;
pub use experiment::Experiment;
pub use figures::{Figure, Figures, Metric, Sheet, Spread};
pub use report::Report;
pub use run::{Bench, RunProgress};
pub use tune::{Tune, Tuned};
