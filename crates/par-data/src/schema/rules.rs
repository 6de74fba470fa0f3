//! The rules as a graph: without cycles, in groups over which exact sums are cheap.

use super::contradictions::{Contradiction, Part};
use super::problem::SchemaProblem;
use super::{Direction, Feature, Move, Relation, Rule};

/// Most patterns of rising and falling features of a group that is not a tree: it is summed over all of them.
pub(crate) const MAX_PATTERNS: usize = 1 << 16;

/// Features that rules connect, and these rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleGroup {
    /// Feature positions, in schema order.
    pub(crate) features: Vec<usize>,
    /// What the rules tell apart of each of these features.
    pub(crate) states: Vec<MoveStates>,
    /// Rules between positions in `features`.
    pub(crate) rules: Vec<Rule>,
}

/// What rules tell apart of a feature: that it rises, that it falls, or anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveStates {
    /// It rises, or not. Also for features without rules.
    Rises,
    /// It falls, or not.
    Falls,
    /// It rises, falls, or stays.
    Both,
}

/// A feature does nothing that its rules speak of.
pub(crate) const OTHER: usize = 0;

/// The state of a feature that moves in a direction.
pub(crate) fn moved(direction: Direction) -> usize {
    match direction {
        Direction::Increase => 1,
        Direction::Decrease => 2,
    }
}

impl MoveStates {
    fn of(feature: usize, rules: &[Rule]) -> Self {
        let named = |direction| {
            let one = Move { feature, direction };
            rules.iter().any(|rule| rule.when == one || rule.then == one)
        };
        match (named(Direction::Increase), named(Direction::Decrease)) {
            (true, true) => Self::Both,
            (false, true) => Self::Falls,
            (_, false) => Self::Rises,
        }
    }

    /// The states, ascending.
    pub(crate) fn all(self) -> &'static [usize] {
        match self {
            Self::Rises => &[0, 1],
            Self::Falls => &[0, 2],
            Self::Both => &[0, 1, 2],
        }
    }
}

impl RuleGroup {
    /// Whether the rules form a tree over the features.
    pub(crate) fn is_tree(&self) -> bool {
        self.rules.len() + 1 == self.features.len()
    }

    /// If there are too many patterns: how many of its features have not.
    fn features_beyond_limit(&self) -> Option<usize> {
        let mut patterns: usize = 1;
        self.states.iter().position(|states| {
            patterns = patterns.saturating_mul(states.all().len());
            patterns > MAX_PATTERNS
        })
    }
}

/// Refuses rules with a cycle, rules that require a rise and a fall of one feature, and a group that is too large
/// to sum over.
pub(super) fn check(features: &[Feature], relations: &[Relation]) -> Result<(), Contradiction> {
    let located = relations.iter().enumerate().filter_map(|(at, relation)| match relation {
        Relation::Rule(rule) => Some((at, *rule)),
        _ => None,
    });
    let (positions, rules): (Vec<usize>, Vec<Rule>) = located.unzip();
    let last = |is: &dyn Fn(&Rule) -> bool| {
        Part::Relation(rules.iter().rposition(is).map_or(0, |rule| positions[rule]))
    };
    let names =
        |positions: &[usize]| positions.iter().map(|&at| features[at].name.clone()).collect::<Vec<_>>();
    let edges: Vec<[usize; 2]> = rules.iter().map(|rule| [node(rule.when), node(rule.then)]).collect();
    if let Some(cycle) = cycle(2 * features.len(), &edges) {
        let at = last(&|rule| cycle.contains(&node(rule.when)) && cycle.contains(&node(rule.then)));
        let cycle: Vec<usize> = cycle.iter().map(|node| node / 2).collect();
        return Err(at.contradicts(SchemaProblem::Cycle { cycle: names(&cycle) }));
    }

    for group in connected(features.len(), &rules) {
        if let Some(limit) = group.features_beyond_limit().filter(|_| !group.is_tree()) {
            let at = last(&|rule| group.features.contains(&rule.when.feature));
            let problem = SchemaProblem::RuleTangle { features: names(&group.features), limit };
            return Err(at.contradicts(problem));
        }
    }
    match torn(features.len(), &rules) {
        None => Ok(()),
        Some((when, both, end)) => {
            let at = last(&|rule| *rule == end);
            let [when_name, name] = [when.feature, both].map(|feature| features[feature].name.clone());
            let moves = when.direction.verb();
            Err(at.contradicts(SchemaProblem::RuleTorn { when: when_name, moves, name }))
        }
    }
}

/// The groups of features that rules connect, in the order of their first features.
pub(crate) fn connected(features: usize, rules: &[Rule]) -> Vec<RuleGroup> {
    let mut group_of: Vec<usize> = (0..features).collect();
    for rule in rules {
        let (kept, joined) = (group_of[rule.when.feature], group_of[rule.then.feature]);
        for group in group_of.iter_mut().filter(|group| **group == joined) {
            *group = kept;
        }
    }
    let mut groups = Vec::new();
    for first in 0..features {
        let members: Vec<usize> = (first..features).filter(|&at| group_of[at] == group_of[first]).collect();
        let seen_before = group_of[..first].contains(&group_of[first]);
        if seen_before || members.len() < 2 {
            continue;
        }
        let place = |feature: usize| members.iter().position(|&member| member == feature);
        let local = |rule: &Rule| {
            let moved = |one: Move| Some(Move { feature: place(one.feature)?, ..one });
            Some(Rule { when: moved(rule.when)?, then: moved(rule.then)? })
        };
        groups.push(RuleGroup {
            states: members.iter().map(|&feature| MoveStates::of(feature, rules)).collect(),
            rules: rules.iter().filter_map(local).collect(),
            features: members,
        });
    }
    groups
}

/// The number of a move, among two for each feature.
fn node(one: Move) -> usize {
    2 * one.feature + usize::from(one.direction == Direction::Decrease)
}

/// A move that would require one feature to rise and to fall: the move, that feature, and a rule that leads there.
fn torn(features: usize, rules: &[Rule]) -> Option<(Move, usize, Rule)> {
    if !rules.iter().any(|rule| rule.then.direction == Direction::Decrease) {
        return None;
    }
    rules.iter().find_map(|start| {
        let mut required = vec![false; 2 * features];
        required[node(start.when)] = true;
        let mut open = vec![start.when];
        while let Some(from) = open.pop() {
            for rule in rules.iter().filter(|rule| rule.when == from) {
                if required[node(rule.then) ^ 1] {
                    return Some((start.when, rule.then.feature, *rule));
                }
                if !required[node(rule.then)] {
                    required[node(rule.then)] = true;
                    open.push(rule.then);
                }
            }
        }
        None
    })
}

/// A cycle of a graph, if there is one; the first node is repeated at the end.
pub(super) fn cycle(nodes: usize, edges: &[[usize; 2]]) -> Option<Vec<usize>> {
    let mut leads_to: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut comes_from: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for &[from, to] in edges {
        leads_to[from].push(to);
        comes_from[to].push(from);
    }
    // Nodes that do not lead into a cycle are taken away, ends first.
    let mut left: Vec<usize> = leads_to.iter().map(Vec::len).collect();
    let mut ends: Vec<usize> = (0..nodes).filter(|&node| left[node] == 0).collect();
    while let Some(end) = ends.pop() {
        for &before in &comes_from[end] {
            left[before] -= 1;
            if left[before] == 0 {
                ends.push(before);
            }
        }
    }
    let mut path = vec![left.iter().position(|&left| left > 0)?];
    loop {
        let next = *leads_to[path[path.len() - 1]].iter().find(|&&next| left[next] > 0)?;
        let met_before = path.iter().position(|&node| node == next);
        path.push(next);
        if let Some(first) = met_before {
            return Some(path.split_off(first));
        }
    }
}
