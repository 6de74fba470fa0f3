//! Which changes are legal, for training, decoding, search and tests alike.

mod limits;
mod log_space;
mod rules;

use std::ops::Range;

pub(crate) use limits::NumberLimit;
pub use limits::{LimitError, Limits};
use log_space::{LogSpace, Max, Tangent};
use rules::{GroupDistribution, Masses};

use crate::discretizer::Discretizer;
use crate::schema::{Direction, Move, MoveStates, OTHER, Rule, connected, moved};
use crate::{Code, UNKNOWN};

/// The schema's constraints on changes, in codes.
///
/// Vectors over all codes of all features, such as logits, are flat, feature after feature;
/// [`Constraints::range`] is the range of each feature.
#[derive(Clone, Debug)]
pub struct Constraints {
    features: Vec<FeatureConstraint>,
    /// For every code, whether `allowed` and `bounds` permit moves to it.
    permitted: Vec<bool>,
    rules: Vec<Rule>,
    groups: Vec<GroupDistribution>,
}

/// One constraint on changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restriction {
    /// The feature (position) is immutable.
    Immutable(usize),
    /// The feature moves in one direction only.
    Monotone(usize),
    /// The feature's `allowed` values or `bounds` exclude some codes.
    Allowed(usize),
    /// A feature rises or falls only together with another.
    Rule(Rule),
}

#[derive(Clone, Debug)]
struct FeatureConstraint {
    range: Range<usize>,
    immutable: bool,
    direction: Option<Direction>,
    /// What rules tell apart of it.
    states: MoveStates,
}

impl Constraints {
    /// The constraints of the discretizer's schema over its codes.
    pub fn new(discretizer: &Discretizer) -> Self {
        let schema = discretizer.schema();
        let mut permitted = Vec::new();
        let mut features = Vec::new();
        for (position, feature) in schema.features().iter().enumerate() {
            let start = permitted.len();
            permitted.extend(discretizer.permitted(position));
            features.push(FeatureConstraint {
                range: start..permitted.len(),
                immutable: feature.is_immutable(),
                direction: feature.direction(),
                states: MoveStates::Rises,
            });
        }
        let mut constraints = Self { features, permitted, rules: Vec::new(), groups: Vec::new() };
        constraints.set_rules(schema.rules().to_vec());
        constraints
    }

    fn set_rules(&mut self, rules: Vec<Rule>) {
        let groups = connected(self.features.len(), &rules);
        self.features.iter_mut().for_each(|feature| feature.states = MoveStates::Rises);
        for group in &groups {
            for (&feature, &states) in group.features.iter().zip(&group.states) {
                self.features[feature].states = states;
            }
        }
        self.groups = groups.iter().map(GroupDistribution::new).collect();
        self.rules = rules;
    }

    /// The same with other immutable features (positions) than the schema's.
    #[must_use]
    pub fn with_immutable(&self, immutable: &[usize]) -> Self {
        let mut changed = self.clone();
        for (position, feature) in changed.features.iter_mut().enumerate() {
            feature.immutable = immutable.contains(&position);
        }
        changed
    }

    /// Whether the feature is immutable.
    pub fn is_immutable(&self, feature: usize) -> bool {
        self.features[feature].immutable
    }

    /// All constraints, in the order of the features, the rules last.
    pub fn restrictions(&self) -> Vec<Restriction> {
        let mut restrictions = Vec::new();
        for (position, feature) in self.features.iter().enumerate() {
            if feature.immutable {
                restrictions.push(Restriction::Immutable(position));
            }
            if feature.direction.is_some() {
                restrictions.push(Restriction::Monotone(position));
            }
            if self.permitted[feature.range.clone()].contains(&false) {
                restrictions.push(Restriction::Allowed(position));
            }
        }
        restrictions.extend(self.rules.iter().copied().map(Restriction::Rule));
        restrictions
    }

    /// The same without some constraints.
    #[must_use]
    pub fn without(&self, restrictions: &[Restriction]) -> Self {
        let mut relaxed = self.clone();
        for restriction in restrictions {
            match *restriction {
                Restriction::Immutable(feature) => relaxed.features[feature].immutable = false,
                Restriction::Monotone(feature) => relaxed.features[feature].direction = None,
                Restriction::Allowed(feature) => relaxed.permitted[self.range(feature)].fill(true),
                Restriction::Rule(_) => {}
            }
        }
        let kept = |rule: &Rule| !restrictions.contains(&Restriction::Rule(*rule));
        relaxed.set_rules(self.rules.iter().copied().filter(kept).collect());
        relaxed
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.features.len()
    }

    /// Number of codes of all features: the length of a vector of logits.
    pub fn codes(&self) -> usize {
        self.permitted.len()
    }

    /// The range of a feature's codes in a vector over all codes.
    pub fn range(&self, feature: usize) -> Range<usize> {
        self.features[feature].range.clone()
    }

    /// The legal changes of a person with these codes and `locks` (feature positions).
    ///
    /// A feature whose code is [`UNKNOWN`] stays as it is: whether it would rise cannot be known.
    ///
    /// # Panics
    /// When `factual` is not a row of this discretizer's codes.
    ///
    /// # Paper
    /// Appendix, Monotonicity Masking; Causal Masking, case 2: if a feature cannot rise, no feature whose
    /// rise requires its rise can rise either.
    pub fn mask(&self, factual: &[Code], locks: &[usize]) -> Mask<'_> {
        self.mask_within(factual, locks, &Limits::default())
    }

    /// The same for a person who also limits the values that features may move to.
    ///
    /// # Panics
    /// When `factual` is not a row of this discretizer's codes, or the limits are of another one.
    pub fn mask_within(&self, factual: &[Code], locks: &[usize], limits: &Limits) -> Mask<'_> {
        assert_eq!(factual.len(), self.features.len(), "one code for each feature");
        let mut legal = self.permitted.clone();
        for (feature, codes) in limits.codes() {
            let legal = &mut legal[self.range(feature)];
            assert_eq!(legal.len(), codes.len(), "limits are of the same codes");
            legal.iter_mut().zip(codes).for_each(|(legal, within)| *legal &= within);
        }
        for (position, (feature, &own)) in self.features.iter().zip(factual).enumerate() {
            let legal = &mut legal[feature.range.clone()];
            if own == UNKNOWN {
                legal.fill(false);
                continue;
            }
            let own = usize::from(own);
            assert!(own < legal.len(), "feature {position} has no code {own}");
            if feature.immutable || locks.contains(&position) {
                legal.fill(false);
            }
            match feature.direction {
                None => {}
                Some(Direction::Increase) => legal[..own].fill(false),
                Some(Direction::Decrease) => legal[own + 1..].fill(false),
            }
            legal[own] = true;
        }
        let mut mask = Mask { constraints: self, factual: factual.to_vec(), legal };
        mask.forbid_moves_that_need_an_impossible_move();
        mask
    }

    /// Whether a move from `factual` to `row` keeps immutable and unknown features and all directions. Rules,
    /// bounds and locks are not checked.
    pub fn is_actionable(&self, factual: &[Code], row: &[Code]) -> bool {
        self.features.iter().zip(factual.iter().zip(row)).all(|(feature, (&own, &code))| {
            let may_move = match feature.direction {
                None => own != UNKNOWN && code != UNKNOWN,
                Some(Direction::Increase) => rises(own, code),
                Some(Direction::Decrease) => rises(code, own),
            };
            own == code || may_move && !feature.immutable
        })
    }

    /// Whether a move from `factual` to `row` keeps every rule.
    pub fn keeps_rules(&self, factual: &[Code], row: &[Code]) -> bool {
        let happens = |one: Move| {
            let (own, code) = (factual[one.feature], row[one.feature]);
            match one.direction {
                Direction::Increase => rises(own, code),
                Direction::Decrease => rises(code, own),
            }
        };
        self.rules.iter().all(|rule| !happens(rule.when) || happens(rule.then))
    }
}

fn rises(from: Code, to: Code) -> bool {
    from != UNKNOWN && to != UNKNOWN && to > from
}

/// The legal codes of every feature for one person, and the rules between the features.
///
/// Every code that a mask allows is part of at least one legal row, and the person's own row is legal.
#[derive(Clone, Debug)]
pub struct Mask<'c> {
    constraints: &'c Constraints,
    factual: Vec<Code>,
    legal: Vec<bool>,
}

impl Mask<'_> {
    fn forbid_moves_that_need_an_impossible_move(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for rule in &self.constraints.rules {
                if self.can(rule.when) && !self.can(rule.then) {
                    let moving = self.part(rule.when.feature, moved(rule.when.direction));
                    self.legal[moving].fill(false);
                    changed = true;
                }
            }
        }
    }

    /// The codes of a feature in one of its [`MoveStates`]; all are in `OTHER` when the person's own is unknown.
    fn part(&self, feature: usize, state: usize) -> Range<usize> {
        let range = self.constraints.range(feature);
        let own = match self.factual[feature] {
            UNKNOWN if state == OTHER => return range,
            UNKNOWN => return range.end..range.end,
            own => range.start + usize::from(own),
        };
        match (self.constraints.features[feature].states, state) {
            (MoveStates::Rises, OTHER) => range.start..own + 1,
            (MoveStates::Falls, OTHER) => own..range.end,
            (MoveStates::Both, OTHER) => own..own + 1,
            (_, state) if state == moved(Direction::Increase) => own + 1..range.end,
            _ => range.start..own,
        }
    }

    fn can(&self, one: Move) -> bool {
        self.legal[self.part(one.feature, moved(one.direction))].contains(&true)
    }

    /// The states of a feature that rules tell apart.
    fn states(&self, feature: usize) -> &'static [usize] {
        self.constraints.features[feature].states.all()
    }

    /// The person's own codes.
    pub fn factual(&self) -> &[Code] {
        &self.factual
    }

    /// The range of a feature's codes in a vector over all codes.
    pub fn range(&self, feature: usize) -> Range<usize> {
        self.constraints.range(feature)
    }

    /// For each code of a feature, whether it is legal. All `false` when the person's own is unknown.
    pub fn legal(&self, feature: usize) -> &[bool] {
        &self.legal[self.constraints.range(feature)]
    }

    /// The legal codes of a feature, ascending.
    pub fn codes(&self, feature: usize) -> impl Iterator<Item = Code> {
        (0..).zip(self.legal(feature)).filter_map(|(code, legal)| legal.then_some(code))
    }

    /// Whether the feature may have this code; its own code is always allowed.
    pub fn allows(&self, feature: usize, code: Code) -> bool {
        code == self.factual[feature]
            || self.legal(feature).get(usize::from(code)).is_some_and(|legal| *legal)
    }

    /// Whether the feature has a legal code besides its own.
    pub fn is_free(&self, feature: usize) -> bool {
        self.codes(feature).nth(1).is_some()
    }

    /// Number of features that are free.
    pub fn free_features(&self) -> usize {
        (0..self.factual.len()).filter(|&feature| self.is_free(feature)).count()
    }

    /// Whether the row is legal for this person.
    pub fn is_legal(&self, row: &[Code]) -> bool {
        row.len() == self.factual.len()
            && row.iter().enumerate().all(|(feature, code)| self.allows(feature, *code))
            && self.constraints.keeps_rules(&self.factual, row)
    }

    /// The marginal probability of each code when legal rows are drawn by `logits`: a softmax over each
    /// feature, or over all legal combinations of the features that rules connect.
    ///
    /// Illegal codes get zero, as do all codes of a feature whose own code is unknown. `logits` are finite;
    /// both vectors are over all codes.
    ///
    /// # Paper
    /// Appendix, Causal Masking, cases 1 to 3. Departure: a group of any number of features that
    /// rules connect has one joint softmax, where the paper has one for each pair.
    pub fn marginals(&self, logits: &[f64], marginals: &mut [f64]) {
        self.for_each_marginal(
            |code| logits[code],
            |code, log_marginal| marginals[code] = log_marginal.exp(),
        );
    }

    /// The gradient of a loss with respect to the logits, given its gradient with respect to the
    /// [`marginals`](Mask::marginals). All vectors are over all codes.
    ///
    /// The marginals are the gradient of the log-partition function, so that their Jacobian is symmetric:
    /// pulling a gradient back equals pushing it forward along the logits.
    pub fn marginals_pullback(&self, logits: &[f64], gradient: &[f64], logits_gradient: &mut [f64]) {
        self.for_each_marginal(
            |code| Tangent { value: logits[code], slope: gradient[code] },
            |code, log_marginal| {
                logits_gradient[code] = log_marginal.value.exp() * log_marginal.slope;
            },
        );
    }

    /// Calls `give` with the logarithm of each code's marginal; with the logarithm of zero for illegal codes.
    fn for_each_marginal<T: LogSpace>(&self, logit: impl Fn(usize) -> T, mut give: impl FnMut(usize, T)) {
        let masses = self.masses(&logit);
        let mut shares: Vec<Masses<T>> = (0..masses.len())
            .map(|feature| {
                let states = self.states(feature);
                let total = T::log_sum(states.iter().map(|&state| masses[feature][state]));
                masses[feature].map(|part| part.minus(total))
            })
            .collect();
        for group in &self.constraints.groups {
            group.log_shares(&masses, &mut shares);
        }
        for feature in 0..self.factual.len() {
            for &state in self.states(feature) {
                for code in self.part(feature, state) {
                    give(
                        code,
                        match self.legal[code] {
                            true => logit(code).minus(masses[feature][state]).plus(shares[feature][state]),
                            false => T::ZERO,
                        },
                    );
                }
            }
        }
    }

    /// For each feature, the sums over its legal codes in each state.
    fn masses<T: LogSpace>(&self, logit: impl Fn(usize) -> T) -> Vec<Masses<T>> {
        (0..self.factual.len())
            .map(|feature| {
                if self.factual[feature] == UNKNOWN {
                    return [T::ONE, T::ZERO, T::ZERO];
                }
                let mut masses = [T::ZERO; 3];
                for &state in self.states(feature) {
                    let legal = self.part(feature, state).filter(|&code| self.legal[code]);
                    masses[state] = T::log_sum(legal.map(&logit));
                }
                masses
            })
            .collect()
    }

    /// The legal row with the highest sum of logits.
    ///
    /// Among rows with equal sums, features that need not move as a rule says do not, and take the lowest code. A
    /// feature whose own code is unknown stays unknown.
    ///
    /// # Paper
    /// Appendix, Causal Masking: the joint argmax at decoding time.
    pub fn argmax(&self, logits: &[f64]) -> Vec<Code> {
        let masses = self.masses(|code| Max(logits[code]));
        let best = |feature: usize| {
            let better = |best: usize, state: usize| {
                if masses[feature][state].0 > masses[feature][best].0 { state } else { best }
            };
            self.states(feature).iter().copied().reduce(better).unwrap_or(OTHER)
        };
        let mut decided: Vec<usize> = (0..masses.len()).map(best).collect();
        for group in &self.constraints.groups {
            group.decide(&masses, &mut decided);
        }
        (0..self.factual.len())
            .map(|feature| {
                if self.factual[feature] == UNKNOWN {
                    return UNKNOWN;
                }
                let range = self.constraints.range(feature);
                let part = self.part(feature, decided[feature]);
                let best = part
                    .filter(|&code| self.legal[code])
                    .reduce(|best, code| if logits[code] > logits[best] { code } else { best });
                best.map_or(self.factual[feature], |best| (best - range.start) as Code)
            })
            .collect()
    }
}
