//! Whoever answers people, ours or another's, behind one trait.

use std::collections::BTreeMap;

use par_recourse::metrics::Asked;

use crate::case::Person;

/// A way of finding recourse.
pub trait Method {
    /// Its name in figures.
    fn name(&self) -> &str;

    /// What each of the people of a fold could become; absent where it found nothing.
    fn answer(&self, fold: &str, people: &[Person]) -> Vec<Option<Reply>>;
}

/// What somebody could become.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Cells, in schema order.
    pub cells: Vec<String>,
    /// How long it took to find, where that is known.
    pub microseconds: Option<f64>,
}

/// One of our methods, as it answered the people of a fold.
pub struct Ours<'a> {
    /// Which of them.
    pub method: par_recourse::Method,
    /// What the people were told, in their order.
    pub asked: &'a [Option<Asked>],
}

impl Method for Ours<'_> {
    fn name(&self) -> &str {
        self.method.name()
    }

    fn answer(&self, _fold: &str, people: &[Person]) -> Vec<Option<Reply>> {
        assert_eq!(people.len(), self.asked.len(), "the people who were asked");
        let place = self.method as usize;
        let reply = |asked: &Option<Asked>| {
            let asked = asked.as_ref()?;
            let cells = asked.way(place)?.cells.clone();
            Some(Reply { cells, microseconds: Some(asked.microseconds[place]) })
        };
        self.asked.iter().map(reply).collect()
    }
}

/// Answers that another program found and wrote down.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    name: String,
    /// By fold and id.
    answers: BTreeMap<(String, String), Reply>,
}

impl Recorded {
    /// Takes the answers into a checksum.
    pub(crate) fn hash_into(&self, hasher: &mut crc32fast::Hasher) {
        hasher.update(self.name.as_bytes());
        for ((fold, id), reply) in &self.answers {
            [fold, id].into_iter().chain(&reply.cells).for_each(|text| hasher.update(text.as_bytes()));
        }
    }
}

impl Method for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, fold: &str, people: &[Person]) -> Vec<Option<Reply>> {
        let reply = |person: &Person| self.answers.get(&(fold.to_string(), person.id.clone())).cloned();
        people.iter().map(reply).collect()
    }
}
