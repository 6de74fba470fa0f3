//! Which changes are legal, for training, decoding, search and tests alike.

mod limits;
mod log_space;
mod rules;

use std::ops::Range;

pub(crate) use limits::NumberLimit;
pub use limits::{LimitError, Limits};
use log_space::{LogSpace, Max, Tangent};
use rules::GroupDistribution;

use crate::discretizer::Discretizer;
use crate::schema::{Direction, Rule, connected};
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
    /// A feature rises only together with another.
    Rule(Rule),
}

#[derive(Clone, Debug)]
struct FeatureConstraint {
    range: Range<usize>,
    immutable: bool,
    direction: Option<Direction>,
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
            });
        }
        let mut constraints = Self { features, permitted, rules: Vec::new(), groups: Vec::new() };
        constraints.set_rules(schema.rules().to_vec());
        constraints
    }

    fn set_rules(&mut self, rules: Vec<Rule>) {
        self.groups = connected(self.features.len(), &rules).iter().map(GroupDistribution::new).collect();
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
        mask.forbid_rises_that_need_an_impossible_rise();
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
        let rises = |feature: usize| rises(factual[feature], row[feature]);
        self.rules.iter().all(|rule| !rises(rule.when.feature) || rises(rule.then.feature))
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
    fn forbid_rises_that_need_an_impossible_rise(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for rule in &self.constraints.rules {
                if self.can_rise(rule.when.feature) && !self.can_rise(rule.then.feature) {
                    let rising = self.rising(rule.when.feature);
                    self.legal[rising].fill(false);
                    changed = true;
                }
            }
        }
    }

    /// The range of the codes above the person's own; empty when that is unknown.
    fn rising(&self, feature: usize) -> Range<usize> {
        let range = self.constraints.range(feature);
        match self.factual[feature] {
            UNKNOWN => range.end..range.end,
            own => range.start + usize::from(own) + 1..range.end,
        }
    }

    fn can_rise(&self, feature: usize) -> bool {
        self.legal[self.rising(feature)].contains(&true)
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
        let mut shares: Vec<[T; 2]> = masses
            .iter()
            .map(|mass| {
                let total = T::log_sum(mass.iter().copied());
                mass.map(|part| part.minus(total))
            })
            .collect();
        for group in &self.constraints.groups {
            group.log_shares(&masses, &mut shares);
        }
        for feature in 0..self.factual.len() {
            let rising = self.rising(feature);
            for code in self.constraints.range(feature) {
                let part = usize::from(rising.contains(&code));
                give(
                    code,
                    match self.legal[code] {
                        true => logit(code).minus(masses[feature][part]).plus(shares[feature][part]),
                        false => T::ZERO,
                    },
                );
            }
        }
    }

    /// For each feature, the sums over its legal codes that do not rise and over those that do.
    fn masses<T: LogSpace>(&self, logit: impl Fn(usize) -> T) -> Vec<[T; 2]> {
        (0..self.factual.len())
            .map(|feature| {
                if self.factual[feature] == UNKNOWN {
                    return [T::ONE, T::ZERO];
                }
                let (range, rising) = (self.constraints.range(feature), self.rising(feature));
                [range.start..rising.start, rising]
                    .map(|part| T::log_sum(part.filter(|&code| self.legal[code]).map(&logit)))
            })
            .collect()
    }

    /// The legal row with the highest sum of logits.
    ///
    /// Among rows with equal sums, features that need not rise do not, and take the lowest code. A feature
    /// whose own code is unknown stays unknown.
    ///
    /// # Paper
    /// Appendix, Causal Masking: the joint argmax at decoding time.
    pub fn argmax(&self, logits: &[f64]) -> Vec<Code> {
        let masses = self.masses(|code| Max(logits[code]));
        let mut rises: Vec<bool> = masses.iter().map(|[stays, rises]| rises.0 > stays.0).collect();
        for group in &self.constraints.groups {
            group.decide(&masses, &mut rises);
        }
        (0..self.factual.len())
            .map(|feature| {
                if self.factual[feature] == UNKNOWN {
                    return UNKNOWN;
                }
                let (range, rising) = (self.constraints.range(feature), self.rising(feature));
                let part = if rises[feature] { rising } else { range.start..rising.start };
                let best = part
                    .filter(|&code| self.legal[code])
                    .reduce(|best, code| if logits[code] > logits[best] { code } else { best });
                best.map_or(self.factual[feature], |best| (best - range.start) as Code)
            })
            .collect()
    }
}
