//! DiCE's random and genetic search, for one counterfactual, with its step that makes answers sparser afterwards.
//!
//! # Paper
//! Mothilal, Sharma, Tan, "Explaining machine learning classifiers through diverse counterfactual explanations",
//! 2020, as the package `dice_ml` searches without gradients. With one counterfactual there is no term for diversity.
//! The features to vary are those that are not immutable.

use rand::{Rng, RngExt};

use super::known::{Draw, Known};
use super::space::{Axis, Point, same};
use crate::case::Factual;
use crate::method::Method;

/// Rows that the random search draws for each number of changes.
const DRAWS: usize = 1000;
/// Rows of a generation: `dice_ml` has ten for each counterfactual.
const POPULATION: usize = 10;
/// At most this many generations.
const GENERATIONS: usize = 500;
/// The search ends after so many generations that are not better by the least gain.
const PATIENCE: usize = 5;
const LEAST_GAIN: f64 = 0.01;
/// The weights of proximity and of sparsity in the loss.
const WEIGHTS: [f64; 2] = [0.2, 0.2];
/// Only changes below this quantile of a column's deviations are made smaller afterwards.
const SMALL: f64 = 0.1;
/// Halvings of such a change.
const HALVINGS: usize = 20;

/// How it searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    Random,
    Genetic,
}

pub(super) struct Dice<'k> {
    known: &'k Known<'k>,
    search: Search,
    /// The accepted rows from which the first generation is taken.
    accepted: Vec<usize>,
    /// For numeric features, the largest change that is made smaller afterwards, ascending: feature and size.
    pub(super) small: Vec<(usize, f64)>,
}

/// What one person may become.
struct Question<'q> {
    known: &'q Known<'q>,
    own: Point,
    /// The features to vary.
    free: Vec<usize>,
}

impl<'k> Dice<'k> {
    pub(super) fn new(known: &'k Known<'_>, search: Search) -> Self {
        let numeric = known.space.axes.iter().enumerate();
        let numeric = numeric.filter(|(_, axis)| matches!(axis, Axis::Number { .. }));
        let mut small: Vec<(usize, f64)> =
            numeric.map(|(feature, _)| (feature, small_change(known, feature))).collect();
        small.sort_by(|one, other| one.1.total_cmp(&other.1));
        Self { known, search, accepted: known.whole_accepted(), small }
    }

    /// The first generation: the nearest accepted rows, with the person's own values of features that stay.
    fn first_generation(&self, question: &Question<'_>) -> Vec<Point> {
        let near = self.known.nearest(&self.accepted, &question.own, POPULATION);
        let row = |row: usize| {
            let mut point = question.own.clone();
            question.free.iter().for_each(|&feature| point[feature] = self.known.rows[row][feature]);
            point
        };
        near.into_iter().map(row).collect()
    }

    /// Makes small changes of numbers smaller, as long as the classifier accepts the row.
    pub(super) fn sparser(&self, mut point: Point, own: &Point) -> Point {
        let space = &self.known.space;
        for &(feature, small) in &self.small {
            let (from, to) = (own[feature], point[feature]);
            if same(from, to) || (to - from).abs() > small {
                continue;
            }
            // Denied at `near`, accepted at `far`.
            let [mut near, mut far] = [from, to];
            point[feature] = near;
            if space.accepts(&point) {
                continue;
            }
            for _ in 0..HALVINGS {
                let middle = space.axes[feature].snapped(f64::midpoint(near, far));
                point[feature] = middle;
                if space.accepts(&point) { far = middle } else { near = middle }
            }
            point[feature] = far;
        }
        point
    }
}

/// The quantile of a column's different deviations from its median, up to which a change is small.
fn small_change(known: &Known<'_>, feature: usize) -> f64 {
    let sorted = |mut values: Vec<f64>| {
        values.retain(|value| !value.is_nan());
        values.sort_by(f64::total_cmp);
        values
    };
    let column = sorted(known.rows.iter().map(|row| row[feature]).collect());
    let Some(&median) = column.get(column.len() / 2) else { return 0.0 };
    let mut deviations = sorted(column.iter().map(|value| (value - median).abs()).collect());
    deviations.dedup();
    deviations[((deviations.len() - 1) as f64 * SMALL) as usize]
}

impl Method for Dice<'_> {
    fn name(&self) -> &str {
        match self.search {
            Search::Random => super::Native::DiceRandom.name(),
            Search::Genetic => super::Native::DiceGenetic.name(),
        }
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        let own = self.known.read(person)?;
        let mut free = self.known.space.free();
        free.retain(|&feature| !own[feature].is_nan());
        let question = Question { known: self.known, own, free };
        let rng = &mut self.known.rng(Draw::Person(person));
        let point = match self.search {
            Search::Random => question.random(rng)?,
            Search::Genetic => question.evolved(self.first_generation(&question), rng)?,
        };
        let point = self.sparser(point, &question.own);
        Some(self.known.space.write(&point, &question.own, &person.cells))
    }
}

impl Question<'_> {
    /// Random rows that change ever more features, each at random; one of the first that are accepted.
    fn random(&self, rng: &mut impl Rng) -> Option<Point> {
        let space = &self.known.space;
        let mut rows = vec![self.own.clone(); DRAWS];
        for _ in 0..self.free.len() {
            for row in &mut rows {
                let feature = self.free[rng.random_range(0..self.free.len())];
                row[feature] = space.axes[feature].random(rng);
            }
            let accepted: Vec<usize> = (0..DRAWS).filter(|&row| space.accepts(&rows[row])).collect();
            if !accepted.is_empty() {
                return Some(rows.swap_remove(accepted[rng.random_range(0..accepted.len())]));
            }
        }
        None
    }

    /// The accepted row of least loss that evolves from the first generation.
    fn evolved(&self, first: Vec<Point>, rng: &mut impl Rng) -> Option<Point> {
        let mut rows: Vec<(f64, Point)> = first.into_iter().map(|row| (self.loss(&row), row)).collect();
        while rows.len() < POPULATION {
            let row = self.child(&self.own, &self.own, rng);
            rows.push((self.loss(&row), row));
        }
        let (mut best, mut idle) = (f64::INFINITY, 0);
        for _ in 0..GENERATIONS {
            rows.sort_by(|one, other| one.0.total_cmp(&other.0));
            idle = if best - rows[0].0 < LEAST_GAIN { idle + 1 } else { 0 };
            best = best.min(rows[0].0);
            if idle == PATIENCE && self.known.space.accepts(&rows[0].1) {
                break;
            }
            idle = idle.min(PATIENCE - 1);
            let parents = POPULATION / 2;
            for place in parents..POPULATION {
                let [one, other] = [(); 2].map(|()| rng.random_range(0..parents));
                let row = self.child(&rows[one].1, &rows[other].1, rng);
                rows[place] = (self.loss(&row), row);
            }
        }
        rows.sort_by(|one, other| one.0.total_cmp(&other.0));
        rows.into_iter().map(|(_, row)| row).find(|row| self.known.space.accepts(row))
    }

    /// A row that has each value of one of its parents, or a random one.
    fn child(&self, one: &Point, other: &Point, rng: &mut impl Rng) -> Point {
        let mut child = self.own.clone();
        for &feature in &self.free {
            child[feature] = match rng.random::<f64>() {
                draw if draw < 0.4 => one[feature],
                draw if draw < 0.8 => other[feature],
                _ => self.known.space.axes[feature].random(rng),
            };
        }
        child
    }

    /// How far the score is from the threshold, how far the row is from the person's, and how much of it changes.
    fn loss(&self, row: &Point) -> f64 {
        let space = &self.known.space;
        let missed = 2.0 * (space.model.threshold() - space.score(row)).max(0.0);
        let domains = space.model.discretizer().domains().iter();
        let (mut proximity, mut changes) = (0.0, 0.0);
        for (domain, (&from, &to)) in domains.zip(self.own.iter().zip(row)) {
            if !same(from, to) {
                changes += 1.0;
                proximity += domain.summary().map_or(1.0, |summary| (to - from).abs() / summary.mad);
            }
        }
        let features = row.len() as f64;
        missed + (WEIGHTS[0] * proximity + WEIGHTS[1] * changes) / features
    }
}
