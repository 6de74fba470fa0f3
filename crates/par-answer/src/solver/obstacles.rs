//! Why there is no way, and which obstacles would have to go.

use super::{Person, SearchResult, Solver, problem};
use crate::answer::{NotFound, Obstacle, Reason};
use crate::problem::Frontier;
use crate::refine::swap;
use crate::request::{Method, Request};

/// The most sets of obstacles that are tried; each takes a search.
const OBSTACLE_SETS: usize = 500;
/// The most obstacles of a set.
const OBSTACLES: usize = 3;
/// The most nodes of the exact search for one set, and of those for all sets together.
const OBSTACLE_NODES: [usize; 2] = [500, 30_000];

impl Solver<'_> {
    /// Why no way was found; `is_proved` if it is proved that there is none.
    pub(super) fn not_found(
        &mut self,
        person: Person<'_>,
        probability: f64,
        is_proved: bool,
        request: &Request,
    ) -> NotFound {
        let (free, budget) = (person.mask.free_features(), self.budget(person, request));
        let reason = match request.method {
            _ if free == 0 => Reason::NothingToChange,
            Method::Generate => Reason::ProposalsDenied,
            _ if is_proved => Reason::OutOfReach,
            _ => Reason::SearchEnded,
        };
        let mut not_found = NotFound {
            probability,
            reason,
            needs_changes: None,
            obstacles: Vec::new(),
            schema_obstacles: request.auditor.then(Vec::new),
        };
        if reason != Reason::ProposalsDenied {
            if request.budget.is_some() && free > budget {
                let mut deeper = self.search_deeper(person, budget + 1, free);
                self.verify(person, &mut deeper);
                not_found.needs_changes = deeper.frontier.fewest();
            }
            if not_found.needs_changes.is_none() {
                let mut nodes = self.affordable(OBSTACLE_NODES[1]);
                not_found.obstacles = self.own_obstacles(person, request, &mut nodes);
                if let Some(schema_obstacles) = &mut not_found.schema_obstacles
                    && not_found.obstacles.is_empty()
                {
                    *schema_obstacles = self.schema_obstacles(person, request, &mut nodes);
                }
            }
        }
        not_found
    }

    /// The smallest set of the person's own locks and limits without which there is a way, as far as the nodes reach.
    fn own_obstacles(&mut self, person: Person<'_>, request: &Request, nodes: &mut usize) -> Vec<Obstacle> {
        // Unlocking an immutable feature would not help.
        let can_change = |one: &Obstacle| {
            one.feature().is_some_and(|feature| !self.model.constraints().is_immutable(feature))
        };
        let own: Vec<Obstacle> = own(request).filter(can_change).collect();
        let smallest = self.smallest_set(person, request, &own, |_| true, nodes);
        if !smallest.is_empty() || own.len() <= OBSTACLES || !self.is_enough(person, request, &own, nodes) {
            return smallest;
        }
        // No small set is enough, but all obstacles together are: drop those that are not needed.
        let mut set = own;
        let mut place = set.len();
        while place > 0 {
            place -= 1;
            let obstacle = set.remove(place);
            if !self.is_enough(person, request, &set, nodes) {
                set.insert(place, obstacle);
            }
        }
        set
    }

    /// The smallest set with an obstacle of the schema; of equals, the one with more of the person's own.
    fn schema_obstacles(
        &mut self,
        person: Person<'_>,
        request: &Request,
        nodes: &mut usize,
    ) -> Vec<Obstacle> {
        let restrictions = self.model.constraints().restrictions().into_iter().map(Obstacle::Schema);
        let obstacles: Vec<Obstacle> = own(request).chain(restrictions).collect();
        let has_schema = |set: &[Obstacle]| set.iter().any(|one| matches!(one, Obstacle::Schema(_)));
        self.smallest_set(person, request, &obstacles, has_schema, nodes)
    }

    /// The first of the smallest sets that are of interest and enough; empty if none was found.
    fn smallest_set(
        &mut self,
        person: Person<'_>,
        request: &Request,
        obstacles: &[Obstacle],
        is_of_interest: impl Fn(&[Obstacle]) -> bool,
        nodes: &mut usize,
    ) -> Vec<Obstacle> {
        let sets = (1..=OBSTACLES.min(obstacles.len()))
            .flat_map(|size| combinations(obstacles.len(), size))
            .map(|set| set.into_iter().map(|position| obstacles[position]).collect::<Vec<_>>())
            .filter(|set| is_of_interest(set));
        for set in sets.take(OBSTACLE_SETS) {
            if *nodes == 0 || self.is_stopped() {
                break;
            }
            if self.is_enough(person, request, &set, nodes) {
                return set;
            }
        }
        Vec::new()
    }

    /// Whether there is a way without these obstacles, as far as the nodes reach.
    fn is_enough(
        &mut self,
        person: Person<'_>,
        request: &Request,
        without: &[Obstacle],
        nodes: &mut usize,
    ) -> bool {
        let (mut unlocked, mut unlimited, mut lifted) = (Vec::new(), Vec::new(), Vec::new());
        for obstacle in without {
            match *obstacle {
                Obstacle::Lock(feature) => unlocked.push(feature),
                Obstacle::Limit(feature) => unlimited.push(feature),
                Obstacle::Schema(restriction) => lifted.push(restriction),
            }
        }
        let locks: Vec<usize> =
            request.locks.iter().copied().filter(|lock| !unlocked.contains(lock)).collect();
        let limits = request.limits.without(&unlimited);
        let constraints = self.model.constraints().without(&lifted);
        let factual = person.mask.factual();
        let mask = constraints.mask_within(factual, &locks, &limits);
        let mut person = Person { mask: &mask, limits: &limits, ..person };
        // Without a limit, the codes of its feature stand for other values.
        let classifier;
        if !unlimited.is_empty() {
            classifier = self.model.classifier_for(person.cells, factual, person.representative, &limits);
            let Ok(classifier) = &classifier else { return false };
            person.target.classifier = &**classifier;
        }
        let budget = request.budget.unwrap_or(usize::MAX).min(mask.free_features());
        let problem = problem(person, budget, &[]);
        // The bounds of a single node rule out most sets.
        let mut search = self.prove(&problem, Frontier::default(), 1);
        *nodes = nodes.saturating_sub(1);
        if search.frontier.candidates().is_empty() && !search.is_proved() {
            let none = Frontier::default();
            let known = swap::search(&problem, &mut self.evaluator, &mut self.memory, none, 0.0, self.stop);
            *nodes = nodes.saturating_sub(self.memory.passes(person.cells.len()));
            search = match known.candidates() {
                [] => self.prove(&problem, known, OBSTACLE_NODES[0].min(*nodes)),
                _ => SearchResult::unproved(known),
            };
            *nodes -= search.nodes;
        }
        self.verify(person, &mut search);
        !search.frontier.candidates().is_empty()
    }
}

/// The person's own locks and limits.
fn own(request: &Request) -> impl Iterator<Item = Obstacle> {
    let locks = request.locks.iter().copied().map(Obstacle::Lock);
    locks.chain(request.limits.features().map(Obstacle::Limit))
}

/// All sets of `size` positions below `count`, in order.
fn combinations(count: usize, size: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut next: Option<Vec<usize>> = (size <= count).then(|| (0..size).collect());
    std::iter::from_fn(move || {
        let current = next.take()?;
        let movable = (0..size).rev().find(|&place| current[place] < count - size + place);
        next = movable.map(|place| {
            let mut after = current.clone();
            let start = after[place] + 1;
            after[place..].iter_mut().zip(start..).for_each(|(position, value)| *position = value);
            after
        });
        Some(current)
    })
}
