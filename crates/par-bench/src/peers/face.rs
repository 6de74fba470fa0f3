//! FACE: the accepted training row at the end of the shortest path over training rows.
//!
//! # Paper
//! Poyiadzi et al., "FACE: feasible and actionable counterfactual explanations", 2020, as CARLA implements it: the
//! weight of an edge is its length, without a density, and the graph is of a sample of rows. Immutable features are
//! kept by the paper's condition on edges: only rows that agree on them are connected.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use par_answer::evaluate::median;

use super::known::Known;
use super::space::Point;
use crate::case::Factual;
use crate::method::Method;

/// At most this many rows are in the graph.
const NODES: usize = 2000;
/// The neighbours of a row in the graph of nearest neighbours; CARLA's default.
const NEIGHBOURS: usize = 50;

/// Which rows are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edges {
    /// Each with its nearest.
    Nearest,
    /// Those within ε, the median distance of a row to its 50th neighbour.
    Within,
}

pub(super) struct Face<'k> {
    known: &'k Known<'k>,
    edges: Edges,
    /// The sampled rows.
    pub(super) nodes: Vec<usize>,
    /// The graph: the place and the distance of each neighbour, by node.
    pub(super) graph: Vec<Vec<(usize, f64)>>,
    pub(super) epsilon: f64,
}

impl<'k> Face<'k> {
    pub(super) fn new(known: &'k Known<'_>, edges: Edges) -> Self {
        let whole = (0..known.rows.len()).filter(|&row| known.is_whole(row)).collect();
        let nodes = known.sampled(whole, NODES);
        let mut face = Self { known, edges, nodes, graph: Vec::new(), epsilon: f64::INFINITY };
        let nodes = face.nodes.iter().enumerate();
        let linked: Vec<Vec<(usize, f64)>> =
            nodes.map(|(own, &row)| face.linked(&known.rows[row], Some(own))).collect();
        let farthest = linked.iter().filter_map(|near| Some(near.get(NEIGHBOURS - 1).or(near.last())?.1));
        face.epsilon = median(farthest.collect()).unwrap_or(f64::INFINITY);
        face.graph = linked.into_iter().map(|near| face.cut(near)).collect();
        // A path may go either way.
        for node in 0..face.graph.len() {
            for (other, distance) in face.graph[node].clone() {
                if !face.graph[other].iter().any(|(back, _)| *back == node) {
                    face.graph[other].push((node, distance));
                }
            }
        }
        face
    }

    /// All nodes that a point may be connected with, the nearest first.
    fn linked(&self, point: &Point, own: Option<usize>) -> Vec<(usize, f64)> {
        let space = &self.known.space;
        let others = self.nodes.iter().map(|&row| &self.known.rows[row]).enumerate();
        let others = others.filter(|(place, row)| Some(*place) != own && space.keeps_locked(point, row));
        let mut linked: Vec<(usize, f64)> =
            others.map(|(place, row)| (place, space.distance(point, row))).collect();
        linked.sort_by(|one, other| one.1.total_cmp(&other.1));
        linked
    }

    /// Those of them that it is connected with.
    fn cut(&self, mut linked: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
        match self.edges {
            Edges::Nearest => linked.truncate(NEIGHBOURS),
            Edges::Within => linked.retain(|(_, distance)| *distance <= self.epsilon),
        }
        linked
    }

    /// The accepted node that is reached first from the given ones: Dijkstra's algorithm.
    pub(super) fn reached(&self, starts: Vec<(usize, f64)>) -> Option<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut open: BinaryHeap<Reverse<(Length, usize)>> =
            starts.into_iter().map(|(node, distance)| Reverse((Length(distance), node))).collect();
        while let Some(Reverse((Length(length), node))) = open.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            if self.known.accepted[self.nodes[node]] {
                return Some(self.nodes[node]);
            }
            let next = self.graph[node].iter().filter(|(next, _)| !seen[*next]);
            open.extend(next.map(|&(next, distance)| Reverse((Length(length + distance), next))));
        }
        None
    }
}

impl Method for Face<'_> {
    fn name(&self) -> &str {
        match self.edges {
            Edges::Nearest => super::Native::FaceKnn.name(),
            Edges::Within => super::Native::FaceEpsilon.name(),
        }
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        let own = self.known.read(person)?;
        let end = self.reached(self.cut(self.linked(&own, None)))?;
        Some(self.known.space.write(&self.known.rows[end], &own, &person.cells))
    }
}

/// The length of a path, which is never NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Length(f64);

impl Eq for Length {}

impl PartialOrd for Length {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Length {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
