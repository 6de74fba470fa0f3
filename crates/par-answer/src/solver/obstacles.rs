//! Why there is no way, and which obstacles would have to go.

use super::lasting::Demands;
use super::{Person, SearchResult, Solver};
use crate::answer::{NotFound, Obstacle, Reason, Way};
use crate::problem::{Frontier, Solution};
use crate::refine::swap;
use crate::request::{Method, Request};

/// The most sets of obstacles that are tried; each takes a search.
const OBSTACLE_SETS: usize = 500;
/// The most obstacles of a set.
const OBSTACLES: usize = 3;
/// The most nodes of the exact search for one set, and of nodes and passes for all sets together.
const NODES: [usize; 2] = [500, 30_000];
/// The same for other methods than `exact`.
const FEW_NODES: [usize; 2] = [100, 2_000];
/// The most passes of the local search for one set, for other methods than `exact`.
const PASSES: usize = 20;

impl Solver<'_> {
    /// Why no way was found; `is_proved` if it is proved that there is none. `needs_changes` is how many would be enough,
    /// if that is known.
    pub(super) fn not_found(
        &mut self,
        person: Person<'_>,
        is_proved: bool,
        needs_changes: Option<usize>,
        request: &Request,
    ) -> NotFound {
        let free = person.candidates.free_features();
        // Without a proof only an auditor is told of them.
        let (unusual, is_known) =
            if is_proved || request.auditor { self.unusual(person, request) } else { (Vec::new(), false) };
        let reason = match request.method {
            _ if free == 0 => Reason::NothingToChange,
            Method::Generate if !self.is_stopped() => Reason::ProposalsDenied,
            _ if is_proved && !unusual.is_empty() => Reason::OnlyUnusual,
            _ if is_proved && is_known => Reason::OutOfReach,
            _ => Reason::SearchEnded,
        };
        let mut not_found = NotFound {
            probability: person.probability,
            broken_policies: person.broken_policies.to_vec(),
            reason,
            must_last: !person.demands.are_none(),
            needs_changes,
            obstacles: Vec::new(),
            schema_obstacles: request.auditor.then(Vec::new),
            unusual,
            search_ended: false,
            unknown: self.if_known(person, request),
        };
        if reason != Reason::ProposalsDenied && needs_changes.is_none() {
            let [_, all_nodes] = nodes(request.method);
            let mut lifting = Lifting { person, request, nodes: self.affordable(all_nodes) };
            not_found.obstacles = self.own_obstacles(&mut lifting);
            if let Some(schema_obstacles) = &mut not_found.schema_obstacles
                && not_found.obstacles.is_empty()
                && not_found.unusual.is_empty()
            {
                *schema_obstacles = self.schema_obstacles(&mut lifting);
            }
        }
        not_found
    }

    /// The ways of the request, however rare they are, and whether it is known that there are no others.
    fn unusual(&mut self, person: Person<'_>, request: &Request) -> (Vec<Way>, bool) {
        if request.min_percentile_for(self.model) <= 0.0 {
            return (Vec::new(), true);
        }
        let request = Request { min_percentile: Some(0.0), ..request.clone() };
        let (search, aim) = self.search_for(person, &request);
        let found = self.found(person, &search, &aim, &request);
        (found.map(|found| found.ways).unwrap_or_default(), search.is_proved())
    }

    /// The smallest set of the person's own wishes without which there is a way, as far as the nodes reach.
    fn own_obstacles(&mut self, lifting: &mut Lifting<'_>) -> Vec<Obstacle> {
        let constraints = self.model.constraints();
        // Unlocking an immutable feature would not help.
        let helps = |one: &Obstacle| one.feature().is_none_or(|feature| !constraints.is_immutable(feature));
        let own: Vec<Obstacle> = own(lifting.request).filter(helps).collect();
        let smallest = self.smallest_set(lifting, &own, |_| true);
        if !smallest.is_empty() || own.len() <= OBSTACLES || self.is_stopped() {
            return smallest;
        }
        if self.without(lifting, &own).is_none() {
            return smallest;
        }
        // No small set is enough, but all obstacles together are: drop those that are not needed.
        let mut set = own;
        let mut place = set.len();
        while place > 0 && lifting.nodes > 0 && !self.is_stopped() {
            place -= 1;
            let obstacle = set.remove(place);
            if self.without(lifting, &set).is_none() {
                set.insert(place, obstacle);
            }
        }
        match self.without(lifting, &set) {
            Some(enough) => enough.applied_to(set),
            None => set,
        }
    }

    /// The smallest set with an obstacle of the schema; of equals, the one with more of the person's own.
    fn schema_obstacles(&mut self, lifting: &mut Lifting<'_>) -> Vec<Obstacle> {
        let restrictions = self.model.constraints().restrictions().into_iter().map(Obstacle::Schema);
        let obstacles: Vec<Obstacle> = own(lifting.request).chain(restrictions).collect();
        let has_schema = |set: &[Obstacle]| set.iter().any(|one| matches!(one, Obstacle::Schema(_)));
        self.smallest_set(lifting, &obstacles, has_schema)
    }

    /// The first of the smallest sets that are of interest and enough; empty if none was found.
    fn smallest_set(
        &mut self,
        lifting: &mut Lifting<'_>,
        obstacles: &[Obstacle],
        is_of_interest: impl Fn(&[Obstacle]) -> bool,
    ) -> Vec<Obstacle> {
        let sets = (1..=OBSTACLES.min(obstacles.len()))
            .flat_map(|size| combinations(obstacles.len(), size))
            .map(|set| set.into_iter().map(|position| obstacles[position]).collect::<Vec<_>>())
            .filter(|set| is_of_interest(set));
        for set in sets.take(OBSTACLE_SETS) {
            if lifting.nodes == 0 || self.is_stopped() {
                break;
            }
            if let Some(enough) = self.without(lifting, &set) {
                return enough.applied_to(set);
            }
        }
        Vec::new()
    }

    /// What a way without these obstacles takes, if one is found as far as the nodes reach.
    fn without(&mut self, lifting: &mut Lifting<'_>, obstacles: &[Obstacle]) -> Option<Enough> {
        let (model, person) = (self.model, lifting.person);
        let mut request = lifting.request.clone();
        let mut lifted = Vec::new();
        for obstacle in obstacles {
            match *obstacle {
                Obstacle::Lock(feature) => request.locks.retain(|lock| *lock != feature),
                Obstacle::Limit(feature) => request.limits = request.limits.without(&[feature]),
                Obstacle::MaxEffort(_) => request.max_effort = None,
                Obstacle::Within(_) => request.within = None,
                Obstacle::NoHarm => request.no_harm = false,
                Obstacle::Robust => request.robust = None,
                Obstacle::Certify => request.certify = None,
                Obstacle::Slack => request.slack = false,
                Obstacle::Schema(restriction) => lifted.push(restriction),
            }
        }
        let constraints = model.constraints().without(&lifted);
        let is_accepted = model.scale().reaches(person.probability, request.threshold_for(model))
            && constraints.broken_policies(person.own).is_empty();
        if is_accepted {
            return Some(Enough { effort: 0.0, months: 0 });
        }
        let candidates =
            constraints.candidates(person.own, &request.wishes_for(self.model), person.candidates.reach());
        let demands = Demands::of(&request, model);
        let classifier = self.demanding(person.cells, &candidates, demands).ok()?;
        let budget = request.budget.unwrap_or(usize::MAX).min(candidates.free_features());
        let durations = candidates.durations().len();
        if request.locks.len() < lifting.request.locks.len() {
            // What is plausible with other locks takes as long as scoring the pool: most sets are ruled out without.
            let person = Person {
                candidates: &candidates,
                log_given: &vec![0.0; durations],
                classifier: &*classifier,
                reads_values: demands.read_values(model),
                demands,
                ..person
            };
            let anything = Request { min_percentile: Some(0.0), ..request.clone() };
            let aim = &self.last_aim(person.plausibility, &anything);
            let search = self.prove(&person.problem(aim, budget, &[]), Frontier::default(), durations);
            lifting.nodes = lifting.nodes.saturating_sub(search.nodes);
            if search.is_proved() && search.frontier.solutions().is_empty() {
                return None;
            }
        }
        let plausibility = model.plausibility(&request.locks);
        // What is plausible without a part of the schema would have to be computed for each part anew: every accepted row
        // counts.
        request.min_percentile = if lifted.is_empty() { request.min_percentile } else { Some(0.0) };
        let aim = &self.last_aim(&plausibility, &request);
        let log_given = self.log_given(&plausibility, &candidates);
        let person = Person {
            candidates: &candidates,
            plausibility: &plausibility,
            log_given: &log_given,
            classifier: &*classifier,
            reads_values: demands.read_values(model),
            demands,
            ..person
        };
        let [most_nodes, _] = nodes(request.method);
        let mut nodes = lifting.nodes;
        self.memory.forget();
        let problem = person.problem(aim, budget, &[]);
        // The bounds of a single node rule out most sets.
        let mut search = self.prove(&problem, Frontier::default(), durations);
        nodes = nodes.saturating_sub(durations);
        if search.frontier.solutions().is_empty() && !search.is_proved() {
            let none = Frontier::default();
            let passes = if request.method == Method::Exact { self.passes() } else { PASSES };
            self.memory.most_passes = passes.min(nodes);
            let known = swap::search(&problem, &mut self.evaluator, &mut self.memory, none, 0.0, self.stop);
            nodes = nodes.saturating_sub(self.memory.passes);
            search = match known.solutions() {
                [] => self.prove(&problem, known, most_nodes.min(nodes)),
                _ => SearchResult::unproved(known),
            };
            nodes = nodes.saturating_sub(search.nodes);
        }
        self.verify(person, aim, &mut search);
        lifting.nodes = nodes;
        let least = |a: &&Solution, b: &&Solution| a.cost.effort.total_cmp(&b.cost.effort);
        let solution = search.frontier.solutions().iter().min_by(least)?;
        Some(Enough { effort: solution.cost.effort, months: candidates.months(&solution.row.choices) })
    }
}

/// The most nodes for one set of obstacles, and for all together.
fn nodes(method: Method) -> [usize; 2] {
    if method == Method::Exact { NODES } else { FEW_NODES }
}

/// A person without a way, and the nodes left to find out what stands in it.
struct Lifting<'a> {
    person: Person<'a>,
    request: &'a Request,
    nodes: usize,
}

/// What a way takes.
struct Enough {
    effort: f64,
    months: u32,
}

impl Enough {
    /// The obstacles, with what would be enough.
    fn applied_to(&self, mut obstacles: Vec<Obstacle>) -> Vec<Obstacle> {
        for obstacle in &mut obstacles {
            match obstacle {
                Obstacle::MaxEffort(enough) => *enough = Some(self.effort),
                Obstacle::Within(enough) => *enough = Some(self.months),
                _ => {}
            }
        }
        obstacles
    }
}

/// The person's own wishes.
fn own(request: &Request) -> impl Iterator<Item = Obstacle> {
    let locks = request.locks.iter().copied().map(Obstacle::Lock);
    let limits = request.limits.features().map(Obstacle::Limit);
    let effort = request.max_effort.map(|_| Obstacle::MaxEffort(None));
    let within = request.within.map(|_| Obstacle::Within(None));
    let no_harm = request.no_harm.then_some(Obstacle::NoHarm);
    let robust = request.robust.map(|_| Obstacle::Robust);
    let certify = request.certify.map(|_| Obstacle::Certify);
    let slack = request.slack.then_some(Obstacle::Slack);
    let demands = robust.into_iter().chain(certify).chain(slack);
    locks.chain(limits).chain(effort).chain(within).chain(no_harm).chain(demands)
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
