//! The paper's experiments, on any table with a schema and folds, and the report of them.
//!
//! | step | module         | takes                               | gives                             |
//! |------|----------------|-------------------------------------|-----------------------------------|
//! | 1    | [`case`]       | a table, its schema, how it is asked | folds, each with its model      |
//! | 2    | [`method`]     | the people of a fold                | what each of them could become    |
//! | 3    | [`peers`]      | a table of others' answers          | methods that answer so            |
//! | 4    | [`judge`]      | an answer, whoever gave it          | the measures of the paper         |
//! | 5    | [`experiment`] | a fold                              | figures                           |
//! | 6    | [`run`]        | cases                               | all figures, fold by fold         |
//! | 7    | [`figures`]    | `figures.csv`                       | means and deviations over folds   |
//! | 8    | [`paper`]      | the name of a table                 | what is published of it           |
//! | 9    | [`report`]     | figures, and what is published      | tables, charts, a page            |
//! | 10   | [`tune`]       | a case                              | a configuration that answers better |
//! | –    | [`synthetic`]  | how many people, how many features  | a table of people who were drawn  |
//!
//! Nothing here prints; a figure is a number in one tidy table, and every plot is made from that table alone.

pub mod case;
pub mod experiment;
pub mod figures;
pub mod judge;
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

pub use case::{Case, Fold, Labelled, Person};
pub use error::Error;
pub use experiment::Experiment;
pub use figures::{Figure, Figures, Metric, Sheet, Spread};
pub use report::Report;
pub use run::{Bench, Progress};
pub use tune::{Tune, Tuned};
