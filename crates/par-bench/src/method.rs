//! Methods of recourse, ours and others', behind one trait.

use std::collections::BTreeMap;

use par_answer::evaluate::MethodAnswers;

use crate::case::Factual;

/// A method of recourse.
pub trait RecourseMethod {
    /// Its name in figures.
    fn name(&self) -> &str;

    /// Its answers to the people of a fold.
    fn answer(&self, fold: &str, people: &[Factual]) -> Vec<Reply>;
}

/// The answer of a method to one person.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The row that the person could become, in schema order; absent if none was found.
    pub cells: Option<Vec<String>>,
    /// The time it took, if known.
    pub microseconds: Option<f64>,
}

/// One of our methods, with its answers to the people of a fold.
pub struct OwnMethod<'a> {
    /// The method.
    pub method: par_answer::Method,
    /// The answers by all methods, in the order of the people.
    pub answers: &'a [Option<MethodAnswers>],
}

impl RecourseMethod for OwnMethod<'_> {
    fn name(&self) -> &str {
        self.method.name()
    }

    fn answer(&self, _fold: &str, people: &[Factual]) -> Vec<Reply> {
        assert_eq!(people.len(), self.answers.len(), "one answer per person");
        let place = self.method as usize;
        let reply = |answers: &MethodAnswers| Reply {
            cells: answers.way(place).map(|way| way.cells.clone()),
            microseconds: Some(answers.microseconds[place]),
        };
        self.answers.iter().map(|answers| answers.as_ref().map(reply).unwrap_or_default()).collect()
    }
}

/// The answers of another program, read from a file; see [`peers`](crate::peers).
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    name: String,
    /// By fold and id.
    answers: BTreeMap<(String, String), RecordedAnswer>,
}

/// One answer of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordedAnswer {
    /// In schema order; an absent cell does not change. `None` if no answer was found.
    pub(crate) cells: Option<Vec<Option<String>>>,
    pub(crate) microseconds: Option<f64>,
}

impl Recorded {
    pub(crate) fn new(name: String, answers: BTreeMap<(String, String), RecordedAnswer>) -> Self {
        Self { name, answers }
    }

    /// Adds the answers to a checksum.
    pub(crate) fn hash_into(&self, hasher: &mut crc32fast::Hasher) {
        let answers =
            self.answers.iter().map(|(person, answer)| (person, &answer.cells, answer.microseconds));
        let text = serde_json::to_string(&(&self.name, answers.collect::<Vec<_>>()));
        hasher.update(text.expect("texts and numbers").as_bytes());
    }
}

impl RecourseMethod for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, fold: &str, people: &[Factual]) -> Vec<Reply> {
        let reply = |person: &Factual| {
            let answer = self.answers.get(&(fold.to_string(), person.id.clone()))?;
            let cells = answer.cells.as_ref().map(|cells| {
                let cells = cells.iter().zip(&person.cells);
                cells.map(|(cell, own)| cell.as_ref().unwrap_or(own).clone()).collect()
            });
            Some(Reply { cells, microseconds: answer.microseconds })
        };
        people.iter().map(|person| reply(person).unwrap_or_default()).collect()
    }
}
