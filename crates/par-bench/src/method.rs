//! Whoever answers people, ours or another's, behind one trait.

use std::collections::BTreeMap;

use par_answer::evaluate::MethodAnswers;

use crate::case::Person;

/// A way of finding recourse.
pub trait Method {
    /// Its name in figures.
    fn name(&self) -> &str;

    /// What it tells each of the people of a fold.
    fn answer(&self, fold: &str, people: &[Person]) -> Vec<Reply>;
}

/// What somebody is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What they could become: cells, in schema order. Absent where nothing was found.
    pub cells: Option<Vec<String>>,
    /// How long it took, where that is known.
    pub microseconds: Option<f64>,
}

/// One of our methods, as it answered the people of a fold.
pub struct Ours<'a> {
    /// Which of them.
    pub method: par_answer::Method,
    /// What the people were told, in their order.
    pub asked: &'a [Option<MethodAnswers>],
}

impl Method for Ours<'_> {
    fn name(&self) -> &str {
        self.method.name()
    }

    fn answer(&self, _fold: &str, people: &[Person]) -> Vec<Reply> {
        assert_eq!(people.len(), self.asked.len(), "the people who were asked");
        let place = self.method as usize;
        let reply = |asked: &MethodAnswers| Reply {
            cells: asked.way(place).map(|way| way.cells.clone()),
            microseconds: Some(asked.microseconds[place]),
        };
        self.asked.iter().map(|asked| asked.as_ref().map(reply).unwrap_or_default()).collect()
    }
}

/// Answers that another program found and wrote down; see [`peers`](crate::peers).
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    name: String,
    /// By fold and id.
    answers: BTreeMap<(String, String), Given>,
}

/// What somebody was told, as it was written down.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    /// In schema order; absent where the person's own stays. Nothing at all where nothing was found.
    pub(crate) cells: Option<Vec<Option<String>>>,
    pub(crate) microseconds: Option<f64>,
}

impl Recorded {
    pub(crate) fn new(name: String, answers: BTreeMap<(String, String), Given>) -> Self {
        Self { name, answers }
    }

    /// Takes the answers into a checksum.
    pub(crate) fn hash_into(&self, hasher: &mut crc32fast::Hasher) {
        let answers = self.answers.iter().map(|(person, given)| (person, &given.cells, given.microseconds));
        let text = serde_json::to_string(&(&self.name, answers.collect::<Vec<_>>()));
        hasher.update(text.expect("texts and numbers").as_bytes());
    }
}

impl Method for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, fold: &str, people: &[Person]) -> Vec<Reply> {
        let reply = |person: &Person| {
            let given = self.answers.get(&(fold.to_string(), person.id.clone()))?;
            let cells = given.cells.as_ref().map(|cells| {
                let cells = cells.iter().zip(&person.cells);
                cells.map(|(cell, own)| cell.as_ref().unwrap_or(own).clone()).collect()
            });
            Some(Reply { cells, microseconds: given.microseconds })
        };
        people.iter().map(|person| reply(person).unwrap_or_default()).collect()
    }
}
