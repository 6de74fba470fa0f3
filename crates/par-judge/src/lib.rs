//! A judge of answers that nothing was optimised for: held-out accepted people, and how answers differ from them.
//!
//! | module         | says                                                                            |
//! |----------------|---------------------------------------------------------------------------------|
//! | `space`        | how far apart two rows are                                                      |
//! | `neighbours`   | how far an answer is from its nearest accepted rows, and whether it is an outlier |
//! | `matching`     | which accepted rows have the immutable features of an answer                    |
//! | `boosting`     | boosted trees that tell two classes apart                                       |
//! | `telling`      | how well they tell answers from their matches                                   |
//! | `circuits`     | how likely answers are under circuits of another kind                           |
//! | `judge`        | [`Judge`]: all of these                                                         |
//! | `methods`      | the same of every method of `par evaluate`                                      |
//!
//! The rows must be held out: a model is close to the rows it learned from, and they would judge it too kindly.
//!
//! ```
//! # use par_judge::{Judge, JudgeError};
//! # fn compare(model: &par_model::Model, accepted: &[Vec<&str>], answers: &[Option<Vec<&str>>]) -> Result<(), JudgeError> {
//! let judge = Judge::new(model, accepted, 0)?;
//! let (answers, people) = (judge.judge(answers), judge.reference()?);
//! println!("{:?} from accepted people, who are {:?} from each other", answers.distance, people.distance);
//! # Ok(())
//! # }
//! ```

mod boosting;
mod circuits;
mod error;
mod judge;
mod matching;
mod methods;
mod neighbours;
#[cfg(test)]
mod reference;
mod space;
mod telling;

pub use boosting::{BoostedTrees, Examples};
pub use error::JudgeError;
pub use judge::{FEWEST_ROWS, Judge, Judgement, MOST_PAIRS, MOST_ROWS};
pub use methods::{MethodJudgement, MethodJudgements};
