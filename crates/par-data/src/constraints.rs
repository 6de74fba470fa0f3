//! Which changes are legal, for training, decoding, search and tests alike.

mod limits;
mod log_space;
mod rules;

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use limits::NumberLimit;
pub use limits::{LimitError, Limits};
use log_space::{LogSpace, Max, Tangent};
use rules::{GroupDistribution, Masses};

use crate::candidates::{Action, Candidate, CompiledRelation, OwnRow, Policy, compile};
use crate::discretizer::Discretizer;
use crate::schema::{Direction, Move, MoveStates, Mutability, OTHER, Rule, Step, connected, moved};
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
    /// The rules that masks know.
    mask_rules: Vec<Rule>,
    groups: Vec<GroupDistribution>,
    /// What changes cost; one per feature.
    actions: Arc<[Action]>,
    /// All relations, each consequence after its sources.
    pub(crate) compiled: Vec<CompiledRelation>,
    /// For each feature, whether another follows from it.
    pub(crate) sources: Vec<bool>,
    /// The policies beside the classifier.
    pub(crate) policies: Vec<Policy>,
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
    /// The feature moves only so far.
    Step(usize),
    /// The feature's `transitions` or `forbid` exclude some changes.
    Transitions(usize),
    /// A feature rises or falls only together with another.
    Rule(Rule),
    /// Another relation, by its position in the schema.
    Relation(usize),
    /// A policy beside the classifier, by its position in the schema.
    Policy(usize),
}

#[derive(Clone, Debug)]
struct FeatureConstraint {
    range: Range<usize>,
    mutability: Mutability,
    immutable: bool,
    direction: Option<Direction>,
    step: Step,
    /// For each code, the codes that it may not become, if the schema excludes any; a special code may become none
    /// unless the schema lets it.
    forbidden: Option<Vec<Vec<bool>>>,
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
                mutability: feature.change,
                immutable: feature.is_immutable(),
                direction: feature.direction(),
                step: feature.step,
                forbidden: forbidden(discretizer, position),
                states: MoveStates::Rises,
            });
        }
        let actions = (0..features.len()).map(|feature| Action::new(discretizer, feature)).collect();
        let policies = schema.accept().iter().enumerate();
        let policies = policies.map(|(position, rule)| Policy::new(discretizer, position, rule)).collect();
        let compiled = compile(discretizer);
        let is_source = |feature| compiled.iter().any(|relation| relation.has_source(feature));
        let mut constraints = Self {
            sources: (0..features.len()).map(is_source).collect(),
            features,
            permitted,
            rules: Vec::new(),
            mask_rules: Vec::new(),
            groups: Vec::new(),
            actions,
            compiled,
            policies,
        };
        constraints.set_rules(schema.rules().to_vec());
        constraints
    }

    fn set_rules(&mut self, rules: Vec<Rule>) {
        // Clocks and consequences move by themselves: the mask, in which they stay, knows nothing of their rules.
        let stays = |one: Move| self.moves_by_itself(one.feature);
        self.mask_rules =
            rules.iter().copied().filter(|rule| !stays(rule.when) && !stays(rule.then)).collect();
        let groups = connected(self.features.len(), &self.mask_rules);
        self.features.iter_mut().for_each(|feature| feature.states = MoveStates::Rises);
        for group in &groups {
            for (&feature, &states) in group.features.iter().zip(&group.states) {
                self.features[feature].states = states;
            }
        }
        self.groups = groups.iter().map(GroupDistribution::new).collect();
        self.rules = rules;
    }

    /// The same with further immutable features (positions).
    #[must_use]
    pub fn with_immutable(&self, immutable: &[usize]) -> Self {
        let mut changed = self.clone();
        for &position in immutable {
            changed.features[position].immutable = true;
        }
        changed
    }

    /// What may happen to a feature, by the schema.
    pub fn mutability(&self, feature: usize) -> Mutability {
        self.features[feature].mutability
    }

    /// Whether the feature is a clock or follows from others.
    pub(crate) fn moves_by_itself(&self, feature: usize) -> bool {
        matches!(self.mutability(feature), Mutability::WithTime | Mutability::Follows)
    }

    pub(crate) fn action(&self, feature: usize) -> &Action {
        &self.actions[feature]
    }

    /// The lowest and the highest number of an ordinary code of a numeric feature that an answer may name.
    ///
    /// # Panics
    /// When the feature has categories, or no such code.
    pub fn ends(&self, feature: usize, code: Code) -> [f64; 2] {
        self.action(feature).ends(code)
    }

    pub(crate) fn step(&self, feature: usize) -> &Step {
        &self.features[feature].step
    }

    /// For each code of a feature, whether `allowed`, `bounds` and a person's limits permit moves to it.
    pub(crate) fn permitted_codes<'a>(
        &'a self,
        feature: usize,
        limits: &'a Limits,
    ) -> impl Iterator<Item = bool> + 'a {
        let limited = limits.codes(feature);
        let permitted = self.permitted[self.range(feature)].iter().enumerate();
        permitted.map(move |(code, permitted)| *permitted && limited.is_none_or(|codes| codes[code]))
    }

    /// Whether a person may leave this special code.
    pub(crate) fn may_leave(&self, feature: usize, code: Code) -> bool {
        let forbidden = self.features[feature].forbidden.as_ref();
        forbidden.is_none_or(|forbidden| forbidden[usize::from(code)].contains(&false))
    }

    /// Whether direction, `transitions` and the steps of ordered categories let a feature become a candidate.
    pub(crate) fn may_become(&self, feature: usize, own: Candidate, candidate: Candidate) -> bool {
        let FeatureConstraint { direction, step, forbidden, .. } = &self.features[feature];
        let action = self.action(feature);
        let moves = action.direction(own, candidate);
        let is_forbidden = |forbidden: &Vec<Vec<bool>>| {
            own.code != candidate.code && forbidden[usize::from(own.code)][usize::from(candidate.code)]
        };
        let is_too_far = || {
            let most = match moves {
                Some(Direction::Increase) => step.up,
                Some(Direction::Decrease) => step.down,
                None => None,
            };
            !action.is_numeric()
                && most.is_some_and(|most| f64::from(own.code.abs_diff(candidate.code)) > most)
        };
        (action.is_special(own.code) || direction.is_none() || moves == *direction)
            && !forbidden.as_ref().is_some_and(is_forbidden)
            && !is_too_far()
    }

    /// Whether a relation or a policy looks at values of the feature.
    pub(crate) fn is_related(&self, feature: usize) -> bool {
        self.compiled.iter().any(|relation| relation.reads_values_of(feature))
            || self.policies.iter().any(|policy| policy.reads_values_of(feature))
    }

    /// Whether a rule holds, given the own and the new value of a feature.
    pub(crate) fn keeps_rule(&self, rule: Rule, values: impl Fn(usize) -> (Candidate, Candidate)) -> bool {
        let happens = |one: Move| {
            let (own, new) = values(one.feature);
            own.code != UNKNOWN && self.action(one.feature).direction(own, new) == Some(one.direction)
        };
        !happens(rule.when) || happens(rule.then)
    }

    /// Whether the feature is immutable.
    pub fn is_immutable(&self, feature: usize) -> bool {
        self.features[feature].immutable
    }

    /// For each feature, whether a person with these locks (positions) cannot change it: by the schema, by a lock, or
    /// because it follows from such features alone.
    pub fn given(&self, locks: &[usize]) -> Vec<bool> {
        let is_given = |(position, feature): (usize, &FeatureConstraint)| {
            feature.mutability != Mutability::Follows && (feature.immutable || locks.contains(&position))
        };
        let mut given: Vec<bool> = self.features.iter().enumerate().map(is_given).collect();
        for (feature, sources) in self.compiled.iter().filter_map(CompiledRelation::consequence) {
            given[feature] |= sources.iter().all(|&source| given[source]);
        }
        given
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
            if self.permitted[feature.range.clone()][..self.action(position).ordinary()].contains(&false) {
                restrictions.push(Restriction::Allowed(position));
            }
            if feature.step != Step::default() {
                restrictions.push(Restriction::Step(position));
            }
            if feature.forbidden.is_some() {
                restrictions.push(Restriction::Transitions(position));
            }
        }
        restrictions.extend(self.rules.iter().copied().map(Restriction::Rule));
        restrictions.extend(self.compiled.iter().filter_map(CompiledRelation::restriction));
        restrictions.extend(self.policies.iter().map(|policy| Restriction::Policy(policy.position)));
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
                Restriction::Allowed(feature) => {
                    let ordinary = self.action(feature).ordinary();
                    relaxed.permitted[self.range(feature)][..ordinary].fill(true);
                }
                Restriction::Step(feature) => relaxed.features[feature].step = Step::default(),
                Restriction::Transitions(feature) => relaxed.features[feature].forbidden = None,
                Restriction::Rule(_) | Restriction::Relation(_) | Restriction::Policy(_) => {}
            }
        }
        let kept = |rule: &Rule| !restrictions.contains(&Restriction::Rule(*rule));
        relaxed.set_rules(self.rules.iter().copied().filter(kept).collect());
        relaxed.compiled.retain(|relation| match relation.restriction() {
            Some(restriction) => !restrictions.contains(&restriction),
            None => relation.rule().is_none_or(|rule| kept(&rule)),
        });
        relaxed.policies.retain(|policy| !restrictions.contains(&Restriction::Policy(policy.position)));
        relaxed
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.features.len()
    }

    /// Whether there are policies beside the classifier.
    pub fn has_policies(&self) -> bool {
        !self.policies.is_empty()
    }

    /// Number of codes of all features: the length of a vector of logits.
    pub fn codes(&self) -> usize {
        self.permitted.len()
    }

    /// The range of a feature's codes in a vector over all codes.
    pub fn range(&self, feature: usize) -> Range<usize> {
        self.features[feature].range.clone()
    }

    /// The codes that a person with these codes and `locks` (feature positions) may move to, for the generator.
    ///
    /// It knows what can be said of codes; [`Constraints::candidates`] knows all constraints, on values.
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
        assert_eq!(factual.len(), self.features.len(), "one code for each feature");
        let mut legal = self.permitted.clone();
        for (position, (feature, &own)) in self.features.iter().zip(factual).enumerate() {
            let legal = &mut legal[feature.range.clone()];
            if own == UNKNOWN {
                legal.fill(false);
                continue;
            }
            let (code, own) = (own, usize::from(own));
            assert!(own < legal.len(), "feature {position} has no code {own}");
            let action = self.action(position);
            let from = action.typical_candidate(code);
            if let Some(forbidden) = &feature.forbidden {
                legal.iter_mut().zip(&forbidden[own]).for_each(|(legal, forbidden)| *legal &= !forbidden);
            }
            for (to, legal) in (0..).zip(legal.iter_mut()).filter(|(_, legal)| **legal) {
                *legal = action.is_within(&feature.step, from, to);
            }
            if action.is_special(code) {
                if feature.immutable || locks.contains(&position) {
                    legal.fill(false);
                }
                legal[own] = true;
                continue;
            }
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

    /// The mask of a row and of further legal codes, feature after feature.
    pub(crate) fn mask_of(
        &self,
        factual: Vec<Code>,
        codes: impl Iterator<Item = impl Iterator<Item = Code>>,
    ) -> Mask<'_> {
        let mut legal = vec![false; self.permitted.len()];
        for (feature, codes) in codes.enumerate() {
            let start = self.range(feature).start;
            codes.for_each(|code| legal[start + usize::from(code)] = true);
            if factual[feature] != UNKNOWN {
                legal[start + usize::from(factual[feature])] = true;
            }
        }
        let mut mask = Mask { constraints: self, factual, legal };
        mask.forbid_moves_that_need_an_impossible_move();
        mask
    }

    /// Whether a move from `factual` to `row` keeps immutable and unknown features and all directions. Clocks and
    /// consequences, rules, bounds and locks are not checked.
    pub fn is_actionable(&self, factual: &[Code], row: &[Code]) -> bool {
        let codes = self.features.iter().zip(factual.iter().zip(row)).enumerate();
        codes.into_iter().all(|(position, (feature, (&own, &code)))| {
            if self.moves_by_itself(position) {
                return true;
            }
            let may_move = match feature.direction {
                None => own != UNKNOWN && code != UNKNOWN,
                direction => self.direction_between(position, own, code) == direction,
            };
            own == code || may_move && !feature.immutable
        })
    }

    /// Whether a move from `factual` to `row` keeps every rule.
    pub fn keeps_rules(&self, factual: &[Code], row: &[Code]) -> bool {
        let happens = |one: Move| {
            self.direction_between(one.feature, factual[one.feature], row[one.feature]) == Some(one.direction)
        };
        self.rules.iter().all(|rule| !happens(rule.when) || happens(rule.then))
    }

    /// Whether a move from one row to another keeps every rule, by their values.
    pub fn keeps_rules_of_values(&self, from: &OwnRow, to: &OwnRow) -> bool {
        self.rules.iter().all(|rule| self.keeps_rule(*rule, |feature| (from.own(feature), to.own(feature))))
    }

    /// The direction from one code to another; `None` for no change, and if one is unknown or special.
    fn direction_between(&self, feature: usize, from: Code, to: Code) -> Option<Direction> {
        let action = self.action(feature);
        // The unknown code is above all others.
        match from.cmp(&to) {
            _ if action.is_special(from) || action.is_special(to) => None,
            Ordering::Less => Some(Direction::Increase),
            Ordering::Greater => Some(Direction::Decrease),
            Ordering::Equal => None,
        }
    }
}

/// For each code of a feature, the codes that it may not become; `None` if the schema excludes none.
fn forbidden(discretizer: &Discretizer, position: usize) -> Option<Vec<Vec<bool>>> {
    let feature = &discretizer.schema().features()[position];
    let domain = &discretizer.domains()[position];
    let (codes, ordinary) = (domain.cardinality(), domain.ordinary());
    if feature.transitions.is_empty() && feature.forbidden.is_empty() && ordinary == codes {
        return None;
    }
    let category = |text: &str| discretizer.category(position, text).map(usize::from);
    let mut forbidden = vec![vec![false; codes]; codes];
    for (from, targets) in &feature.transitions {
        let Some(from) = category(from) else { continue };
        forbidden[from].fill(true);
        targets.iter().filter_map(|to| category(to)).for_each(|to| forbidden[from][to] = false);
    }
    for (from, targets) in &feature.forbidden {
        let Some(from) = category(from) else { continue };
        targets.iter().filter_map(|to| category(to)).for_each(|to| forbidden[from][to] = true);
    }
    for (special, targets) in domain.special().iter().zip(&mut forbidden[ordinary..]) {
        targets[..ordinary].fill(!feature.may_leave(*special));
    }
    Some(forbidden)
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
            for rule in &self.constraints.mask_rules {
                if self.can(rule.when) && !self.can(rule.then) {
                    let moving = self.part(rule.when.feature, moved(rule.when.direction));
                    self.legal[moving].fill(false);
                    changed = true;
                }
            }
        }
    }

    /// The codes of a feature in one of its [`MoveStates`]; all are in `OTHER` when the person's own is unknown or
    /// special.
    fn part(&self, feature: usize, state: usize) -> Range<usize> {
        let range = self.constraints.range(feature);
        let own = match self.factual[feature] {
            own if own == UNKNOWN || self.constraints.action(feature).is_special(own) => {
                return if state == OTHER { range } else { range.end..range.end };
            }
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
