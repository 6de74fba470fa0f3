//! Exact sums over the legal rows of features that rules connect.
//!
//! A rule constrains only which features rise and fall, and given that, features are independent. So the sum over
//! all legal rows is one over legal patterns of states, where a feature contributes the sum over its codes in that
//! state. If the rules form a tree, message passing replaces the list of patterns.

use super::log_space::{LogSpace, Max};
use crate::schema::{MoveStates, Rule, RuleGroup, moved};

/// For each state of a feature, the sum over its codes in that state; of zero if rules do not tell the state apart.
pub(super) type Masses<T> = [T; 3];

/// A connected group of rules, prepared for sums.
#[derive(Clone, Debug)]
pub(super) enum GroupDistribution {
    /// Parents before children; the first node is the root.
    Tree(Vec<RuleNode>),
    /// The legal patterns; two bits for each of the features are its state.
    Patterns { features: Vec<usize>, states: Vec<MoveStates>, patterns: Vec<u32> },
}

#[derive(Clone, Debug)]
pub(super) struct RuleNode {
    feature: usize,
    states: MoveStates,
    /// The tie to its parent; `None` for the root.
    parent: Option<Tie>,
}

/// The rule between a node and its parent.
#[derive(Clone, Copy, Debug)]
struct Tie {
    /// The position of the parent among the nodes.
    parent: usize,
    /// Whether the parent is the effect, which the rule begins with.
    parent_is_effect: bool,
    rule: Rule,
}

impl Tie {
    /// Whether the rule allows these two states.
    fn fits(self, own: usize, parent: usize) -> bool {
        match self.parent_is_effect {
            true => keeps(&self.rule, parent, own),
            false => keeps(&self.rule, own, parent),
        }
    }
}

/// Whether the rule allows these states of its effect and its cause.
fn keeps(rule: &Rule, effect: usize, cause: usize) -> bool {
    effect != moved(rule.when.direction) || cause == moved(rule.then.direction)
}

impl RuleNode {
    /// The sum over what the node may do, given the state of its parent.
    fn message<T: LogSpace>(&self, tie: Tie, subtree: &Masses<T>, parent: usize) -> T {
        let fitting = self.states.all().iter().filter(|&&own| tie.fits(own, parent));
        T::log_sum(fitting.map(|&own| subtree[own]))
    }
}

impl GroupDistribution {
    pub(super) fn new(group: &RuleGroup) -> Self {
        if group.is_tree() {
            return Self::Tree(tree(group));
        }
        let mut patterns = vec![0];
        for (at, states) in group.states.iter().enumerate() {
            let with = |&state: &usize| {
                let added = (state as u32) << (2 * at);
                patterns.iter().map(move |pattern| pattern | added)
            };
            patterns = states.all().iter().flat_map(with).collect();
        }
        let keeps_all = |pattern: &u32| {
            let state = |feature| state(*pattern, feature);
            group.rules.iter().all(|rule| keeps(rule, state(rule.when.feature), state(rule.then.feature)))
        };
        patterns.retain(keeps_all);
        Self::Patterns { features: group.features.clone(), states: group.states.clone(), patterns }
    }

    /// For each feature of the group, writes the logarithms of the probabilities of its states. Both vectors are
    /// over all features.
    pub(super) fn log_shares<T: LogSpace>(&self, masses: &[Masses<T>], shares: &mut [Masses<T>]) {
        match self {
            Self::Tree(nodes) => {
                let subtrees = subtree_sums(nodes, masses);
                for (node, subtree) in nodes.iter().zip(&subtrees) {
                    let mut own_shares = [T::ZERO; 3];
                    for &own in node.states.all() {
                        own_shares[own] = match node.parent {
                            None => {
                                let total = T::log_sum(node.states.all().iter().map(|&state| subtree[state]));
                                subtree[own].minus(total)
                            }
                            Some(tie) => {
                                let parent = &nodes[tie.parent];
                                let given = parent.states.all().iter().filter(|&&state| {
                                    tie.fits(own, state) && !shares[parent.feature][state].is_zero()
                                });
                                T::log_sum(given.map(|&state| {
                                    let share = subtree[own].minus(node.message(tie, subtree, state));
                                    shares[parent.feature][state].plus(share)
                                }))
                            }
                        };
                    }
                    shares[node.feature] = own_shares;
                }
            }
            Self::Patterns { features, states, patterns } => {
                let weights: Vec<T> =
                    patterns.iter().map(|&pattern| weight(features, pattern, masses)).collect();
                let total = T::log_sum(weights.iter().copied());
                for (at, (&feature, states)) in features.iter().zip(states).enumerate() {
                    shares[feature] = [T::ZERO; 3];
                    for &own in states.all() {
                        let agreeing =
                            patterns.iter().zip(&weights).filter(|(pattern, _)| state(**pattern, at) == own);
                        shares[feature][own] = T::log_sum(agreeing.map(|(_, weight)| *weight)).minus(total);
                    }
                }
            }
        }
    }

    /// For each feature of the group, writes its state in the best legal row; the lowest among equals.
    pub(super) fn decide(&self, masses: &[Masses<Max>], decided: &mut [usize]) {
        match self {
            Self::Tree(nodes) => {
                let subtrees = subtree_sums(nodes, masses);
                for (node, subtree) in nodes.iter().zip(&subtrees) {
                    let fits = |own: usize| match node.parent {
                        None => true,
                        Some(tie) => tie.fits(own, decided[nodes[tie.parent].feature]),
                    };
                    let fitting = node.states.all().iter().copied().filter(|&own| fits(own));
                    let better =
                        |best: usize, own: usize| if subtree[own].0 > subtree[best].0 { own } else { best };
                    decided[node.feature] =
                        fitting.reduce(better).expect("a rule leaves every feature a state");
                }
            }
            Self::Patterns { features, patterns, .. } => {
                let mut best = (0, f64::NEG_INFINITY);
                for &pattern in patterns {
                    let weight = weight(features, pattern, masses).0;
                    if weight > best.1 {
                        best = (pattern, weight);
                    }
                }
                for (at, &feature) in features.iter().enumerate() {
                    decided[feature] = state(best.0, at);
                }
            }
        }
    }
}

/// The state of the feature at a place in the group.
fn state(pattern: u32, at: usize) -> usize {
    (pattern >> (2 * at) & 3) as usize
}

fn weight<T: LogSpace>(features: &[usize], pattern: u32, masses: &[Masses<T>]) -> T {
    let parts = features.iter().enumerate().map(|(at, &feature)| masses[feature][state(pattern, at)]);
    parts.fold(T::ONE, T::plus)
}

/// For each node and each of its states, the sum over its subtree.
fn subtree_sums<T: LogSpace>(nodes: &[RuleNode], masses: &[Masses<T>]) -> Vec<Masses<T>> {
    let mut sums: Vec<Masses<T>> = nodes.iter().map(|node| masses[node.feature]).collect();
    for (at, node) in nodes.iter().enumerate().rev() {
        let Some(tie) = node.parent else { continue };
        for &state in nodes[tie.parent].states.all() {
            let message = node.message(tie, &sums[at], state);
            sums[tie.parent][state] = sums[tie.parent][state].plus(message);
        }
    }
    sums
}

/// The group's features, each after its parent.
fn tree(group: &RuleGroup) -> Vec<RuleNode> {
    let node = |at: usize, parent| RuleNode { feature: group.features[at], states: group.states[at], parent };
    let mut nodes = vec![node(0, None)];
    let mut reached = vec![0];
    let mut parent = 0;
    while parent < nodes.len() {
        for &rule in &group.rules {
            let (effect, cause) = (rule.when.feature, rule.then.feature);
            for (from, to, parent_is_effect) in [(effect, cause, true), (cause, effect, false)] {
                if from == reached[parent] && !reached.contains(&to) {
                    reached.push(to);
                    nodes.push(node(to, Some(Tie { parent, parent_is_effect, rule })));
                }
            }
        }
        parent += 1;
    }
    nodes
}
