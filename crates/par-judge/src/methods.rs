//! The judge on the answers of all methods of `par evaluate`.

use par_answer::Method;
use par_answer::evaluate::MethodAnswers;
use par_circuit::learn::Learner;
use serde::{Deserialize, Serialize};

use crate::error::JudgeError;
use crate::judge::{Judge, Judgement};

/// What a judge says of the answers of each method, and of the held-out people themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodJudgements {
    /// How many held-out accepted rows judge.
    pub rows: usize,
    /// How the circuit of the judge was learned.
    pub learner: Learner,
    /// One per method that was asked.
    pub methods: Vec<MethodJudgement>,
    /// The held-out people, judged by the other held-out people.
    pub held_out: Judgement,
}

/// What a judge says of the answers of one method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodJudgement {
    /// The method.
    pub method: Method,
    /// What it says.
    #[serde(flatten)]
    pub judgement: Judgement,
}

impl Judge<'_> {
    /// Judges the first way of every asked method to every denied person; `None` for people who are accepted as they are.
    ///
    /// # Errors
    /// As [`Judge::reference`].
    pub fn methods(&self, people: &[Option<MethodAnswers>]) -> Result<MethodJudgements, JudgeError> {
        let judged = |method: usize| {
            let denied = people.iter().flatten();
            let ways = denied.map(|person| {
                let way = person.way(method)?;
                Some(way.cells.iter().map(String::as_str).collect())
            });
            MethodJudgement {
                method: Method::ALL[method],
                judgement: self.judge(&ways.collect::<Vec<Option<Vec<&str>>>>()),
            }
        };
        Ok(MethodJudgements {
            rows: self.rows(),
            learner: self.learner(),
            methods: MethodAnswers::asked(people).map(judged).collect(),
            held_out: self.reference()?,
        })
    }
}
