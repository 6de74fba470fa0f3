//! Answers one person's request: what to change so that the classifier accepts, plausibly.
//!
//! Internal to PAR, without a promise of stability: applications use the crate `par`.
//!
//! | step | module       | takes                       | gives                                |
//! |------|--------------|-----------------------------|--------------------------------------|
//! | 1    | [`request`]  | options by name             | a [`Request`]                        |
//! | 2    | [`solver`]   | a row and its request       | an [`Answer`], by steps 3 to 6       |
//! | 3    | [`decode`]   | the generator's logits      | proposals; `complete` where none is accepted |
//! | 4    | [`refine`]   | proposals                   | likelier, sparser candidates         |
//! | 5    | `exact`      | candidates                  | the best ones, proved                |
//! | 6    | `offers`     | candidates                  | the [`Way`]s to show, in order       |
//! | –    | `judged`     | an answer by a surrogate    | the answer by its classifier's own scores |
//! | 7    | [`table`]    | the rows of a table         | a [`RowAnswer`](table::RowAnswer) each |
//! | 8    | [`write`](mod@write) | a row's answer      | CSV, JSON or text, in [`words`]      |
//! | 9    | [`evaluate`] | many answers                | measures of them                     |
//! | 10   | [`audit`](mod@audit) | a model and people  | where getting worse is rewarded      |
//! | 11   | [`diff`]     | two models and people       | whose decision changes, whose way breaks |

mod answer;
pub mod audit;
pub mod decode;
pub mod diff;
pub mod evaluate;
pub mod refine;
pub mod request;
pub mod solver;
pub mod table;
pub mod words;
pub mod write;

mod complete;
mod exact;
mod judged;
mod offers;
mod problem;
mod slack;

pub use answer::{
    Accepting, Answer, BestAt, Change, Found, IfKnown, NotFound, Obstacle, Point, Reason, Solves, Way,
};
pub use judged::Bar;
pub use par_model::Order;
pub use request::{Method, Request};
pub use solver::{Solver, answer, answer_batch};
