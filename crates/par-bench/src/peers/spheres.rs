//! Growing spheres: draws rows from ever larger shells around the person's until the classifier accepts one, and
//! takes back the changes of the nearest of them as long as it stays accepted.
//!
//! # Paper
//! Laugel et al., "Comparison-based inverse classification for interpretability in machine learning", 2018, with
//! CARLA's settings: shells of width 0.2 with 1,000 draws each. Numbers and ordered categories, scaled to 0 to 1, are
//! in the sphere; other categories are drawn evenly, as CARLA does. Immutable features stay, as in CARLA. The first
//! sphere is not shrunk before it grows; the last step, which takes back changes, is the paper's own and not in
//! CARLA.

use rand::{Rng, RngExt};

use super::known::{Draw, Known};
use super::normal::normal;
use super::space::{Axis, Point, same};
use crate::case::Factual;
use crate::method::Method;

/// The width of a shell.
const SHELL: f64 = 0.2;
/// Draws from a shell.
const DRAWS: usize = 1000;

pub(super) struct Spheres<'k> {
    known: &'k Known<'k>,
    /// Free features in the sphere.
    ordered: Vec<usize>,
    /// Free features that are drawn.
    nominal: Vec<usize>,
}

impl<'k> Spheres<'k> {
    pub(super) fn new(known: &'k Known<'_>) -> Self {
        let is_ordered = |feature: &usize| known.space.axes[*feature].is_ordered();
        let (ordered, nominal) = known.space.free().into_iter().partition(is_ordered);
        Self { known, ordered, nominal }
    }

    /// A row whose ordered features are between `inner` and `outer` away from the person's.
    pub(super) fn draw(&self, own: &Point, [inner, outer]: [f64; 2], rng: &mut impl Rng) -> Point {
        let mut point = own.clone();
        // A feature that is unknown stays.
        let known = |feature: &&usize| !own[**feature].is_nan();
        let direction: Vec<(usize, f64)> =
            self.ordered.iter().filter(known).map(|&feature| (feature, normal(rng))).collect();
        let length = direction.iter().map(|(_, step)| step * step).sum::<f64>().sqrt();
        let dimensions = direction.len().max(1) as f64;
        let [least, most] = [inner, outer].map(|radius| radius.powf(dimensions));
        let radius = (least + (most - least) * rng.random::<f64>()).powf(1.0 / dimensions);
        for (feature, step) in direction {
            let axis = self.known.space.axes[feature];
            point[feature] = axis.snapped(own[feature] + axis.width() * radius * step / length);
        }
        for &feature in self.nominal.iter().filter(known) {
            point[feature] = self.known.space.axes[feature].random(rng);
        }
        point
    }

    /// The nearest accepted draw of the first shell that has one.
    pub(super) fn nearest(&self, own: &Point, rng: &mut impl Rng) -> Option<Point> {
        let space = &self.known.space;
        // The diagonal of the cube of all rows: none is further away.
        let shells = (self.ordered.len().max(1) as f64).sqrt() / SHELL;
        for shell in 0..shells.ceil() as usize {
            let radii = [shell as f64, (shell + 1) as f64].map(|radius| radius * SHELL);
            let draws = (0..DRAWS).map(|_| self.draw(own, radii, rng));
            let accepted = draws.filter(|point| space.accepts(point));
            let near = accepted.map(|point| (space.distance(own, &point), point));
            if let Some((_, point)) = near.min_by(|one, other| one.0.total_cmp(&other.0)) {
                return Some(point);
            }
        }
        None
    }

    /// Takes back changes, the smallest first, as long as the classifier accepts the row.
    pub(super) fn sparse(&self, mut point: Point, own: &Point) -> Point {
        let axes: &[Axis] = &self.known.space.axes;
        let mut changed: Vec<usize> =
            (0..own.len()).filter(|&feature| !same(own[feature], point[feature])).collect();
        let size = |feature: usize| axes[feature].distance(own[feature], point[feature]);
        changed.sort_by(|one, other| size(*one).total_cmp(&size(*other)));
        for feature in changed {
            let changed = std::mem::replace(&mut point[feature], own[feature]);
            if !self.known.space.accepts(&point) {
                point[feature] = changed;
            }
        }
        point
    }
}

impl Method for Spheres<'_> {
    fn name(&self) -> &str {
        super::Native::Spheres.name()
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        let own = self.known.read(person)?;
        let point = self.nearest(&own, &mut self.known.rng(Draw::Person(person)))?;
        let point = self.sparse(point, &own);
        Some(self.known.space.write(&point, &own, &person.cells))
    }
}
