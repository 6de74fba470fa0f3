//! Exact sums over the legal rows of features that rules connect.
//!
//! A rule constrains only which features rise, and given that, features are independent. So the sum over all
//! legal rows is one over legal patterns of rising features, where a feature contributes the sum over its
//! rising codes or over the others. If the rules form a tree, message passing replaces the list of patterns.

use super::log_space::{LogSpace, Max};
use crate::schema::{Rule, RuleGroup};

/// A connected group of rules, prepared for sums.
#[derive(Clone, Debug)]
pub(super) enum GroupDistribution {
    /// Parents before children; the first node is the root.
    Tree(Vec<RuleNode>),
    /// The legal patterns; bit `i` says whether `features[i]` rises.
    Patterns { features: Vec<usize>, patterns: Vec<u16> },
}

#[derive(Clone, Debug)]
pub(super) struct RuleNode {
    feature: usize,
    /// The position of its parent among the nodes; `None` for the root.
    parent: Option<usize>,
    /// The parent's role in the rule between them.
    parent_is: RuleRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuleRole {
    IfIncreases,
    MustIncrease,
}

impl RuleNode {
    /// Whether the rule allows these two.
    fn fits(&self, rises: usize, parent_rises: usize) -> bool {
        match self.parent_is {
            RuleRole::IfIncreases => parent_rises <= rises,
            RuleRole::MustIncrease => rises <= parent_rises,
        }
    }

    /// The sum over what the node may do, given whether its parent rises.
    fn message<T: LogSpace>(&self, subtree: [T; 2], parent_rises: usize) -> T {
        T::log_sum(
            [0, 1].into_iter().filter(|&rises| self.fits(rises, parent_rises)).map(|rises| subtree[rises]),
        )
    }
}

impl GroupDistribution {
    pub(super) fn new(group: &RuleGroup) -> Self {
        if group.is_tree() {
            return Self::Tree(tree(group));
        }
        let rises = |pattern: u16, at: usize| pattern >> at & 1 == 1;
        let keeps = |pattern: u16, rule: &Rule| {
            !rises(pattern, rule.when.feature) || rises(pattern, rule.then.feature)
        };
        let all = 0..=u16::MAX >> (16 - group.features.len());
        let patterns = all.filter(|&pattern| group.rules.iter().all(|rule| keeps(pattern, rule))).collect();
        Self::Patterns { features: group.features.clone(), patterns }
    }

    /// For each feature of the group, writes the logarithms of the probabilities that it does not rise and
    /// that it rises. Both vectors are over all features.
    pub(super) fn log_shares<T: LogSpace>(&self, masses: &[[T; 2]], shares: &mut [[T; 2]]) {
        match self {
            Self::Tree(nodes) => {
                let subtrees = subtree_sums(nodes, masses);
                for (node, subtree) in nodes.iter().zip(&subtrees) {
                    shares[node.feature] = match node.parent {
                        None => {
                            let total = T::log_sum(subtree.iter().copied());
                            subtree.map(|sum| sum.minus(total))
                        }
                        Some(parent) => {
                            let parent = shares[nodes[parent].feature];
                            [0, 1].map(|rises| {
                                let given = [0, 1].into_iter().filter(|&parent_rises| {
                                    node.fits(rises, parent_rises) && !parent[parent_rises].is_zero()
                                });
                                T::log_sum(given.map(|parent_rises| {
                                    let share = subtree[rises].minus(node.message(*subtree, parent_rises));
                                    parent[parent_rises].plus(share)
                                }))
                            })
                        }
                    };
                }
            }
            Self::Patterns { features, patterns } => {
                let weights: Vec<T> =
                    patterns.iter().map(|&pattern| weight(features, pattern, masses)).collect();
                let total = T::log_sum(weights.iter().copied());
                for (at, &feature) in features.iter().enumerate() {
                    shares[feature] = [0, 1].map(|rises| {
                        let agreeing =
                            patterns.iter().zip(&weights).filter(|(pattern, _)| **pattern >> at & 1 == rises);
                        T::log_sum(agreeing.map(|(_, weight)| *weight)).minus(total)
                    });
                }
            }
        }
    }

    /// For each feature of the group, writes whether it rises in the best legal row.
    pub(super) fn decide(&self, masses: &[[Max; 2]], rises: &mut [bool]) {
        match self {
            Self::Tree(nodes) => {
                let subtrees = subtree_sums(nodes, masses);
                for (node, [stays, moves]) in nodes.iter().zip(&subtrees) {
                    let fits = |own| match node.parent {
                        None => true,
                        Some(parent) => node.fits(own, usize::from(rises[nodes[parent].feature])),
                    };
                    rises[node.feature] = !fits(0) || fits(1) && moves.0 > stays.0;
                }
            }
            Self::Patterns { features, patterns } => {
                let mut best = (0, f64::NEG_INFINITY);
                for &pattern in patterns {
                    let weight = weight(features, pattern, masses).0;
                    if weight > best.1 {
                        best = (pattern, weight);
                    }
                }
                for (at, &feature) in features.iter().enumerate() {
                    rises[feature] = best.0 >> at & 1 == 1;
                }
            }
        }
    }
}

fn weight<T: LogSpace>(features: &[usize], pattern: u16, masses: &[[T; 2]]) -> T {
    let parts =
        features.iter().enumerate().map(|(at, &feature)| masses[feature][usize::from(pattern >> at & 1)]);
    parts.fold(T::ONE, T::plus)
}

/// For each node, the sums over its subtree when it does not rise and when it does.
fn subtree_sums<T: LogSpace>(nodes: &[RuleNode], masses: &[[T; 2]]) -> Vec<[T; 2]> {
    let mut sums: Vec<[T; 2]> = nodes.iter().map(|node| masses[node.feature]).collect();
    for (at, node) in nodes.iter().enumerate().rev() {
        let Some(parent) = node.parent else { continue };
        for parent_rises in [0, 1] {
            let message = node.message(sums[at], parent_rises);
            sums[parent][parent_rises] = sums[parent][parent_rises].plus(message);
        }
    }
    sums
}

/// The group's features, each after its parent.
fn tree(group: &RuleGroup) -> Vec<RuleNode> {
    let mut nodes =
        vec![RuleNode { feature: group.features[0], parent: None, parent_is: RuleRole::IfIncreases }];
    let mut reached = vec![0];
    let mut parent = 0;
    while parent < nodes.len() {
        for rule in &group.rules {
            for (from, to, parent_is) in [
                (rule.when.feature, rule.then.feature, RuleRole::IfIncreases),
                (rule.then.feature, rule.when.feature, RuleRole::MustIncrease),
            ] {
                if from == reached[parent] && !reached.contains(&to) {
                    reached.push(to);
                    nodes.push(RuleNode { feature: group.features[to], parent: Some(parent), parent_is });
                }
            }
        }
        parent += 1;
    }
    nodes
}
