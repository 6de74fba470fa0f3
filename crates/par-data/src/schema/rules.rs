//! The rules as a graph: without cycles, in groups over which exact sums are cheap.

use super::problem::SchemaProblem;
use super::{Feature, Move, Relation, Rule};

/// Most features of a group that is not a tree: it is summed over all patterns of its features.
pub(crate) const MAX_TANGLED: usize = 16;

/// Features that rules connect, and these rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleGroup {
    /// Feature positions, in schema order.
    pub(crate) features: Vec<usize>,
    /// Rules between positions in `features`.
    pub(crate) rules: Vec<Rule>,
}

impl RuleGroup {
    /// Whether the rules form a tree over the features.
    pub(crate) fn is_tree(&self) -> bool {
        self.rules.len() + 1 == self.features.len()
    }
}

/// When the rules have a cycle or a group is too large to sum over: the problem, and the position of a relation
/// that is part of it.
pub(super) fn check(features: &[Feature], relations: &[Relation]) -> Result<(), (usize, SchemaProblem)> {
    let located = relations.iter().enumerate().filter_map(|(at, relation)| match relation {
        Relation::Rule(rule) => Some((at, *rule)),
        _ => None,
    });
    let (positions, rules): (Vec<usize>, Vec<Rule>) = located.unzip();
    let last = |is: &dyn Fn(&Rule) -> bool| rules.iter().rposition(is).map_or(0, |rule| positions[rule]);
    let names =
        |positions: &[usize]| positions.iter().map(|&at| features[at].name.clone()).collect::<Vec<_>>();
    if let Some(cycle) = cycle(features.len(), &rules) {
        let at = last(&|rule| cycle.contains(&rule.when.feature) && cycle.contains(&rule.then.feature));
        return Err((at, SchemaProblem::RuleCycle { cycle: names(&cycle) }));
    }

    for group in connected(features.len(), &rules) {
        if !group.is_tree() && group.features.len() > MAX_TANGLED {
            let at = last(&|rule| group.features.contains(&rule.when.feature));
            let problem = SchemaProblem::RuleTangle { features: names(&group.features), limit: MAX_TANGLED };
            return Err((at, problem));
        }
    }
    Ok(())
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
        groups.push(RuleGroup { rules: rules.iter().filter_map(local).collect(), features: members });
    }
    groups
}

/// A cycle of the rules, if there is one.
fn cycle(features: usize, rules: &[Rule]) -> Option<Vec<usize>> {
    // Features that are known not to lead into a cycle.
    let mut ends = vec![false; features];
    let leads_on = |ends: &[bool], from: usize| {
        rules
            .iter()
            .find(|rule| rule.when.feature == from && !ends[rule.then.feature])
            .map(|rule| rule.then.feature)
    };
    while let Some(next) = (0..features).find(|&at| !ends[at] && leads_on(&ends, at).is_none()) {
        ends[next] = true;
    }
    let start = ends.iter().position(|ends| !ends)?;
    let mut path = vec![start];
    while let Some(next) = leads_on(&ends, path[path.len() - 1]) {
        let met_before = path.iter().position(|&at| at == next);
        path.push(next);
        if let Some(first) = met_before {
            return Some(path.split_off(first));
        }
    }
    None
}
