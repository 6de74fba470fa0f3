//! What every native method knows of a fold: its training rows, the classifier's decisions on them, and a seed.

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

use super::space::{Point, Space};
use crate::case::{Factual, Fold};
use crate::error::Error;

/// The knowledge of native methods.
#[derive(Clone, Debug)]
pub struct Known<'f> {
    pub(crate) space: Space<'f>,
    /// The training rows.
    pub(crate) rows: Vec<Point>,
    /// Whether the classifier accepts each row.
    pub(crate) accepted: Vec<bool>,
    /// Whether each row has the favourable label.
    pub(crate) favourable: Vec<bool>,
    seed: u64,
}

/// Of what a method draws random numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Draw<'p> {
    /// Its preparation.
    Preparation,
    /// The answer to a person.
    Person(&'p Factual),
}

impl<'f> Known<'f> {
    /// Reads the training rows of a fold.
    ///
    /// # Errors
    /// When the fold's model cannot read one.
    pub fn new(fold: &'f Fold<'_>, seed: u64) -> Result<Self, Error> {
        let (space, training, columns) = (Space::new(&fold.model), &fold.training, &fold.case.columns);
        let read = |row: usize| {
            space
                .read(&columns.cells(training, row))
                .map_err(|source| Error::Row { place: training.place(row), source: Box::new(source.into()) })
        };
        let rows: Vec<Point> = (0..training.rows()).map(read).collect::<Result<_, _>>()?;
        Ok(Self {
            accepted: rows.iter().map(|row| space.accepts(row)).collect(),
            favourable: fold.labelled(training)?.accepted,
            rows,
            space,
            seed,
        })
    }

    /// A source of random numbers that depends on what they are for, not on the order of questions.
    pub(crate) fn rng(&self, draw: Draw<'_>) -> ChaCha8Rng {
        let salt = match draw {
            Draw::Preparation => 0,
            Draw::Person(person) => 1 + u64::from(crc32fast::hash(person.id.as_bytes())),
        };
        ChaCha8Rng::seed_from_u64(self.seed.wrapping_add(salt.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// How many steps networks are trained for: three times as many as our generator, which has a teacher.
    pub(crate) fn steps(&self) -> usize {
        3 * self.space.model.config().generator.steps
    }

    /// A person's own row; `None` if the model cannot read it.
    pub(crate) fn read(&self, person: &Factual) -> Option<Point> {
        self.space.read(&person.cells()).ok()
    }

    /// The rows without an unknown value that the classifier accepts.
    pub(crate) fn whole_accepted(&self) -> Vec<usize> {
        (0..self.rows.len()).filter(|&row| self.accepted[row] && self.is_whole(row)).collect()
    }

    /// Whether all values of a row are known.
    pub(crate) fn is_whole(&self, row: usize) -> bool {
        !self.rows[row].iter().any(|value| value.is_nan())
    }

    /// At most `count` of some rows, drawn at random, ascending.
    pub(crate) fn sampled(&self, mut rows: Vec<usize>, count: usize) -> Vec<usize> {
        if rows.len() > count {
            let mut places = sample(&mut self.rng(Draw::Preparation), rows.len(), count).into_vec();
            places.sort_unstable();
            rows = places.into_iter().map(|place| rows[place]).collect();
        }
        rows
    }

    /// Of some rows the nearest to a point, at most `count`, the nearest first; the earlier row if two are as near.
    pub(crate) fn nearest(&self, rows: &[usize], to: &Point, count: usize) -> Vec<usize> {
        let mut near: Vec<(f64, usize)> =
            rows.iter().map(|&row| (self.space.distance(to, &self.rows[row]), row)).collect();
        let order =
            |one: &(f64, usize), other: &(f64, usize)| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1));
        if count > 0 && count < near.len() {
            near.select_nth_unstable_by(count - 1, order);
        }
        near.truncate(count);
        near.sort_by(order);
        near.into_iter().map(|(_, row)| row).collect()
    }
}
