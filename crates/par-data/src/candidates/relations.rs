//! Relations between features, on rows of candidates.

use std::cmp::Ordering;

use super::{Candidate, Candidates, Choice};
use crate::constraints::{Constraints, NumberLimit, Restriction};
use crate::decimals::rounded;
use crate::discretizer::Discretizer;
use crate::schema::{AcceptRule, Condition, Direction, Formula, Permitted, Relation, Rule, parse_number};
use crate::{Code, UNKNOWN};

/// The most combinations of candidates that a consequence is computed for. Beyond it, the features that it goes back to
/// keep their least costly candidates.
const MOST_COMBINATIONS: usize = 1024;

/// A relation, prepared for rows of candidates.
#[derive(Clone, Debug)]
pub(crate) struct CompiledRelation {
    /// Its position in the schema.
    position: usize,
    /// The features that it ties together.
    features: Vec<usize>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    AtMost([usize; 2]),
    Follows(Consequence),
    When { when: Vec<ValueTest>, then: Vec<ValueTest> },
    Together,
    AtMostChanges(usize),
    Rule(Rule),
}

/// How a feature follows from others.
#[derive(Clone, Debug)]
struct Consequence {
    feature: usize,
    sources: Vec<usize>,
    formula: CompiledFormula,
    /// The numbers that it may have; a category if `None`.
    numbers: Option<Numbers>,
}

#[derive(Clone, Debug)]
struct Numbers {
    range: [f64; 2],
    decimals: usize,
    /// Those that mean something else, which no formula gives.
    special: Vec<f64>,
}

#[derive(Clone, Debug)]
enum CompiledFormula {
    Sum,
    Difference,
    Ratio,
    Product,
    Lookup(Vec<(ValueTest, Computed)>),
}

/// A computed value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Computed {
    Number(f64),
    Category(Code),
}

impl Computed {
    /// Of numbers, and of categories.
    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(own), Self::Number(other)) => own.total_cmp(other),
            (Self::Category(own), Self::Category(other)) => own.cmp(other),
            (Self::Number(_), Self::Category(_)) => Ordering::Less,
            (Self::Category(_), Self::Number(_)) => Ordering::Greater,
        }
    }

    /// The choice of the value among a consequence's candidates: the person's own, and others ascending.
    fn choice(self, list: &[Candidate]) -> Option<Choice> {
        let order = |candidate: &Candidate| match self {
            // The person's own number may be −0.
            Self::Number(number) => candidate.number.partial_cmp(&number).unwrap_or(Ordering::Less),
            Self::Category(code) => candidate.code.cmp(&code),
        };
        let (own, others) = list.split_first()?;
        match order(own) {
            Ordering::Equal => Some(0),
            _ => others.binary_search_by(order).ok().map(|place| place as Choice + 1),
        }
    }
}

/// Whether a value is one of some values.
#[derive(Clone, Debug)]
struct ValueTest {
    feature: usize,
    /// For each code of a categorical feature, whether it is one of them.
    codes: Vec<bool>,
    /// For a numeric feature, the numbers.
    numbers: Option<NumberLimit>,
    /// Number of codes before those of special numbers, which are in no range.
    ordinary: usize,
}

impl ValueTest {
    /// Values that the domain does not have are never met.
    fn new(discretizer: &Discretizer, feature: usize, values: &Permitted) -> Self {
        let domain = &discretizer.domains()[feature];
        let (mut codes, mut numbers) = (Vec::new(), None);
        match (values, domain.summary().is_some()) {
            (Permitted::Between(range), true) => {
                numbers = Some(NumberLimit { range: *range, listed: None, grid: None });
            }
            (Permitted::Among(texts), true) => {
                let listed: Vec<f64> = texts.iter().filter_map(|text| parse_number(text)).collect();
                let range = [f64::NEG_INFINITY, f64::INFINITY];
                numbers = Some(NumberLimit { range, listed: Some(listed), grid: None });
            }
            (Permitted::Among(texts), false) => {
                codes = vec![false; domain.cardinality()];
                let named = texts.iter().filter_map(|text| discretizer.category(feature, text));
                named.for_each(|code| codes[usize::from(code)] = true);
            }
            (Permitted::Between(_), false) => codes = vec![false; domain.cardinality()],
        }
        Self { feature, codes, numbers, ordinary: domain.ordinary() }
    }

    /// `None` for an unknown value.
    fn is_met_by(&self, value: Candidate) -> Option<bool> {
        match (&self.numbers, value.code) {
            (_, UNKNOWN) => None,
            (Some(numbers), code) => {
                let is_ordinary = usize::from(code) < self.ordinary;
                Some((is_ordinary || numbers.listed.is_some()) && numbers.contains(value.number))
            }
            (None, code) => Some(self.codes[usize::from(code)]),
        }
    }
}

/// A policy beside the classifier.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    /// Its position in the schema.
    pub(crate) position: usize,
    when: Vec<ValueTest>,
    require: Vec<ValueTest>,
}

impl Policy {
    pub(crate) fn new(discretizer: &Discretizer, position: usize, rule: &AcceptRule) -> Self {
        Self { position, when: tests(discretizer, &rule.when), require: tests(discretizer, &rule.require) }
    }

    /// Whether it looks at values of the feature.
    pub(crate) fn reads_values_of(&self, feature: usize) -> bool {
        self.when.iter().chain(&self.require).any(|test| test.feature == feature)
    }

    /// Whether a row keeps the policy. It binds where a condition is unknown, and an unknown cell does not meet it.
    pub(crate) fn is_kept(&self, value: impl Fn(usize) -> Candidate) -> bool {
        let test = |test: &ValueTest| test.is_met_by(value(test.feature));
        self.when.iter().any(|when| test(when) == Some(false))
            || self.require.iter().all(|require| test(require) == Some(true))
    }
}

fn tests(discretizer: &Discretizer, conditions: &[Condition]) -> Vec<ValueTest> {
    conditions
        .iter()
        .map(|condition| ValueTest::new(discretizer, condition.feature, &condition.values))
        .collect()
}

/// Prepares the relations of a schema; those that compute a feature come in the order in which they are computed.
pub(crate) fn compile(discretizer: &Discretizer) -> Vec<CompiledRelation> {
    let schema = discretizer.schema();
    let mut compiled: Vec<CompiledRelation> = Vec::new();
    let mut waiting: Vec<(usize, &Relation)> = schema.relations().iter().enumerate().collect();
    // A parsed schema has no circle, so that some relation is always ready.
    while let Some(next) = waiting.iter().position(|(_, relation)| {
        let computed_later = |source: &usize| waiting.iter().any(|(_, other)| other.computes(*source));
        match relation {
            Relation::Follows { formula, .. } => !formula.sources().iter().any(computed_later),
            _ => true,
        }
    }) {
        let (position, relation) = waiting.remove(next);
        compiled.push(CompiledRelation::new(discretizer, position, relation));
    }
    compiled
}

impl CompiledRelation {
    fn new(discretizer: &Discretizer, position: usize, relation: &Relation) -> Self {
        let kind = match relation {
            Relation::AtMost(pair) => Kind::AtMost(*pair),
            Relation::Follows { feature, formula } => {
                Kind::Follows(Consequence::new(discretizer, *feature, formula))
            }
            Relation::When { when, then } => {
                Kind::When { when: tests(discretizer, when), then: tests(discretizer, then) }
            }
            Relation::Together(_) => Kind::Together,
            Relation::AtMostChanges { most, .. } => Kind::AtMostChanges(*most),
            Relation::Rule(rule) => Kind::Rule(*rule),
        };
        Self { position, features: relation.features(), kind }
    }

    /// Whether another feature follows from this one by the relation.
    pub(crate) fn has_source(&self, feature: usize) -> bool {
        matches!(&self.kind, Kind::Follows(consequence) if consequence.sources.contains(&feature))
    }

    /// The feature that follows by it, and what from.
    pub(crate) fn consequence(&self) -> Option<(usize, &[usize])> {
        match &self.kind {
            Kind::Follows(consequence) => Some((consequence.feature, &consequence.sources)),
            _ => None,
        }
    }

    /// What lifting it would be called; `None` for rules, which have their own name, and for consequences, which
    /// nobody can lift.
    pub(crate) fn restriction(&self) -> Option<Restriction> {
        let is_other = !matches!(self.kind, Kind::Rule(_) | Kind::Follows(_));
        is_other.then_some(Restriction::Relation(self.position))
    }

    /// The rule, if it is one.
    pub(crate) fn rule(&self) -> Option<Rule> {
        if let Kind::Rule(rule) = self.kind { Some(rule) } else { None }
    }

    /// Whether it looks at values of the feature, so that which value of a code it has matters.
    pub(crate) fn reads_values_of(&self, feature: usize) -> bool {
        let reads_values = matches!(self.kind, Kind::AtMost(_) | Kind::Follows(_) | Kind::When { .. });
        reads_values && self.features.contains(&feature)
    }

    /// Whether a row, which changes a feature of the relation, keeps it. A special value suspends it; an unknown value
    /// could break it, so that it counts as broken.
    fn is_kept(&self, candidates: &Candidates<'_>, row: &[Choice]) -> bool {
        let value = |feature: usize| candidates.chosen(row, feature);
        let constraints = candidates.constraints;
        let is_special = |&feature: &usize| {
            let code = value(feature).code;
            code != UNKNOWN && constraints.action(feature).is_special(code)
        };
        let acts = |feature: usize| row[feature] != 0 && !constraints.moves_by_itself(feature);
        let changed = || self.features.iter().filter(|&&feature| acts(feature)).count();
        match &self.kind {
            Kind::Together => changed() == self.features.len(),
            Kind::AtMostChanges(most) => changed() <= *most,
            Kind::Rule(rule) => {
                constraints.keeps_rule(*rule, |feature| (candidates.of(feature)[0], value(feature)))
            }
            Kind::AtMost(_) | Kind::When { .. } if self.features.iter().any(is_special) => true,
            Kind::AtMost([lower, upper]) => {
                let (lower, upper) = (value(*lower), value(*upper));
                match lower.number.is_nan() && upper.number.is_nan() {
                    true => lower.code != UNKNOWN && upper.code != UNKNOWN && lower.code <= upper.code,
                    false => lower.number <= upper.number,
                }
            }
            Kind::When { when, then } => {
                let test = |test: &ValueTest| test.is_met_by(value(test.feature));
                when.iter().any(|when| test(when) == Some(false))
                    || then.iter().all(|then| test(then) == Some(true))
            }
            // Set by `settle`.
            Kind::Follows(_) => true,
        }
    }
}

impl Consequence {
    fn new(discretizer: &Discretizer, feature: usize, formula: &Formula) -> Self {
        let described = &discretizer.schema().features()[feature];
        let domain = &discretizer.domains()[feature];
        let numbers = domain.summary().map(|summary| Numbers {
            range: described.bounds.or(described.range).unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
            decimals: summary.decimals,
            special: domain.special().to_vec(),
        });
        let formula_ = match formula {
            Formula::Sum(_) => CompiledFormula::Sum,
            Formula::Difference(_) => CompiledFormula::Difference,
            Formula::Ratio(_) => CompiledFormula::Ratio,
            Formula::Product(_) => CompiledFormula::Product,
            Formula::Lookup { of: [source], table } => {
                let row = |(values, result): &(Permitted, String)| {
                    let result = match &numbers {
                        Some(_) => Computed::Number(parse_number(result)?),
                        None => Computed::Category(discretizer.category(feature, result)?),
                    };
                    Some((ValueTest::new(discretizer, *source, values), result))
                };
                CompiledFormula::Lookup(table.iter().filter_map(row).collect())
            }
        };
        Self { feature, sources: formula.sources().to_vec(), formula: formula_, numbers }
    }

    /// The value for the values that features have; `None` if there is none that the feature may have.
    fn compute(&self, value: impl Fn(usize) -> Candidate) -> Option<Computed> {
        let source = |place: usize| value(self.sources[place]);
        let numbers = || self.sources.iter().map(|&source| value(source).number);
        let number = match &self.formula {
            CompiledFormula::Lookup(table) => {
                let (_, value) = table.iter().find(|(test, _)| test.is_met_by(source(0)) == Some(true))?;
                match value {
                    Computed::Number(number) => *number,
                    category => return Some(*category),
                }
            }
            CompiledFormula::Sum => numbers().sum(),
            CompiledFormula::Product => numbers().product(),
            CompiledFormula::Difference => source(0).number - source(1).number,
            CompiledFormula::Ratio => source(0).number / source(1).number,
        };
        let Numbers { range: [low, high], decimals, special } = self.numbers.as_ref()?;
        let rounded = rounded(number, *decimals);
        let is_ordinary = matches!(self.formula, CompiledFormula::Lookup(_)) || !special.contains(&rounded);
        let is_within = rounded.is_finite() && (*low..=*high).contains(&rounded);
        (is_within && is_ordinary).then_some(Computed::Number(rounded))
    }
}

impl<'c> Candidates<'c> {
    /// Drops candidates that need a move of another feature which none of its candidates makes, so that a feature
    /// counts as free only if something of it can change.
    pub(super) fn drop_impossible_moves(&mut self) {
        let constraints = self.constraints;
        let mut is_over = false;
        while !is_over {
            is_over = true;
            for relation in &constraints.compiled {
                let impossible: Vec<(usize, Option<Direction>)> = match &relation.kind {
                    Kind::Rule(rule) if !self.may_move(rule.then.feature, Some(rule.then.direction)) => {
                        vec![(rule.when.feature, Some(rule.when.direction))]
                    }
                    Kind::Together if !relation.features.iter().all(|&one| self.may_move(one, None)) => {
                        relation.features.iter().map(|&feature| (feature, None)).collect()
                    }
                    _ => continue,
                };
                for (feature, direction) in impossible {
                    let action = constraints.action(feature);
                    let list = &mut self.lists[feature];
                    let (own, before) = (list[0], list.len());
                    let mut place = 0;
                    list.retain(|candidate| {
                        place += 1;
                        let moves = direction.is_none() || action.direction(own, *candidate) == direction;
                        place == 1 || !moves
                    });
                    is_over &= list.len() == before;
                }
            }
        }
    }

    /// Whether a candidate of the feature moves, in a direction if there is one. Clocks and consequences may.
    fn may_move(&self, feature: usize, direction: Option<Direction>) -> bool {
        let action = self.constraints.action(feature);
        let [own, others @ ..] = self.lists[feature].as_slice() else { return false };
        let moves = |other: &Candidate| direction.is_none() || action.direction(*own, *other) == direction;
        self.constraints.moves_by_itself(feature) || others.iter().any(moves)
    }

    /// Adds to each consequence a candidate for every value that its sources give it.
    pub(super) fn add_consequences(&mut self) {
        let compiled = &self.constraints.compiled;
        for (place, relation) in compiled.iter().enumerate() {
            let Kind::Follows(consequence) = &relation.kind else { continue };
            self.hold_sources_of_an_unknown(consequence);
            let origins = Origins::new(&compiled[..place], consequence);
            self.thin(&origins.roots);
            let feature = consequence.feature;
            let action = self.constraints.action(feature);
            let own = self.lists[feature][0];
            let list = self.values_of(consequence, &origins).into_iter().map(|value| {
                let (code, number) = match value {
                    Computed::Category(code) => (code, f64::NAN),
                    Computed::Number(number) => (action.code_of(number), number),
                };
                Candidate::free(code, number)
            });
            let is_permitted = |candidate: &Candidate| {
                let is_other = candidate.code != own.code
                    || !candidate.number.is_nan() && candidate.number != own.number;
                is_other && !(self.no_harm && action.harms(own, *candidate))
            };
            self.lists[feature] = std::iter::once(own).chain(list.filter(is_permitted)).collect();
        }
        for duration in 0..self.durations.len() {
            let mut row = std::mem::take(&mut self.durations[duration].row);
            // Time alone may carry a consequence out of its range, and a change bring it back.
            self.settle(&mut row);
            self.durations[duration].row = row;
        }
    }

    /// What follows from an unknown cell cannot be computed: the person acts on none of its sources, while time
    /// passes.
    fn hold_sources_of_an_unknown(&mut self, consequence: &Consequence) {
        if !self.is_unknown(consequence) {
            return;
        }
        let mut held = consequence.sources.clone();
        while let Some(source) = held.pop() {
            let computes = self.constraints.compiled.iter().find_map(|relation| match &relation.kind {
                Kind::Follows(other) if other.feature == source => Some(other),
                _ => None,
            });
            match computes {
                Some(other) => held.extend(&other.sources),
                None if !self.is_clock(source) => self.lists[source].truncate(1),
                None => {}
            }
        }
    }

    /// Whether the consequence or one of its sources is unknown.
    fn is_unknown(&self, consequence: &Consequence) -> bool {
        let mut features = consequence.sources.iter().chain([&consequence.feature]);
        features.any(|&feature| self.lists[feature][0].code == UNKNOWN)
    }

    /// Drops the costliest candidates of some features until there are few enough combinations. Clocks stay: durations
    /// name their candidates.
    fn thin(&mut self, features: &[usize]) {
        let combinations = |lists: &[Vec<Candidate>]| {
            features.iter().fold(1_usize, |all, &feature| all.saturating_mul(lists[feature].len()))
        };
        while combinations(&self.lists) > MOST_COMBINATIONS {
            let thinned = features.iter().copied().filter(|&feature| !self.is_clock(feature));
            let Some(longest) = thinned.max_by_key(|&feature| self.lists[feature].len()) else { return };
            let list = &mut self.lists[longest];
            let costliest = (1..list.len()).max_by(|&a, &b| list[a].effort.total_cmp(&list[b].effort));
            let Some(costliest) = costliest else { return };
            list.remove(costliest);
        }
    }

    /// The different values of a consequence over all combinations of what it goes back to, ascending.
    fn values_of(
        &self,
        consequence: &Consequence,
        Origins { roots, between }: &Origins<'_>,
    ) -> Vec<Computed> {
        let mut values: Vec<Computed> = Vec::new();
        let mut row = vec![0; self.lists.len()];
        let counts: Vec<usize> = roots.iter().map(|&root| self.lists[root].len()).collect();
        for_each_combination(&counts, &mut |choices| {
            roots.iter().zip(choices).for_each(|(&root, &choice)| row[root] = choice);
            if self.settle_some(between.iter().copied(), &mut row)
                && let Some(Some(value)) = self.computed(consequence, &row)
            {
                values.push(value);
            }
        });
        values.sort_by(Computed::order);
        values.dedup();
        values
    }

    /// The value of a consequence in a row, or that it may have none; `None` if it stays as it is.
    fn computed(&self, consequence: &Consequence, row: &[Choice]) -> Option<Option<Computed>> {
        if consequence.sources.iter().all(|&source| row[source] == 0) || self.is_unknown(consequence) {
            return None;
        }
        let is_special =
            |&source: &usize| self.constraints.action(source).is_special(self.chosen(row, source).code);
        let is_suspended = consequence.sources.iter().any(is_special);
        (!is_suspended).then(|| consequence.compute(|source| self.chosen(row, source)))
    }

    /// Sets every consequence of a row's choices. False if one has no value that it may have.
    ///
    /// A consequence none of whose sources changes stays as it is, whether or not the person's own row keeps the
    /// relation; so does one with a source that is unknown or special.
    pub fn settle(&self, row: &mut [Choice]) -> bool {
        let consequences = self.constraints.compiled.iter().filter_map(|relation| match &relation.kind {
            Kind::Follows(consequence) => Some(consequence),
            _ => None,
        });
        self.settle_some(consequences, row)
    }

    fn settle_some<'a>(
        &self,
        consequences: impl Iterator<Item = &'a Consequence>,
        row: &mut [Choice],
    ) -> bool {
        for consequence in consequences {
            let choice = match self.computed(consequence, row) {
                None => Some(0),
                Some(value) => value.and_then(|value| value.choice(&self.lists[consequence.feature])),
            };
            let Some(choice) = choice else { return false };
            row[consequence.feature] = choice;
        }
        true
    }

    /// Whether a settled row keeps all relations. One whose features all stay does not bind.
    pub fn keeps_relations(&self, row: &[Choice]) -> bool {
        self.constraints.compiled.iter().all(|relation| {
            relation.features.iter().all(|&feature| row[feature] == 0) || relation.is_kept(self, row)
        })
    }

    /// Whether a row keeps every policy beside the classifier.
    pub fn keeps_policies(&self, row: &[Choice]) -> bool {
        self.constraints.policies.iter().all(|policy| policy.is_kept(|feature| self.chosen(row, feature)))
    }

    /// Whether another feature follows from this one.
    pub fn has_consequences(&self, feature: usize) -> bool {
        self.constraints.sources[feature]
    }
}

impl Constraints {
    /// The positions of policies that a person's own row breaks.
    pub fn broken_policies(&self, own: &super::OwnRow) -> Vec<usize> {
        let is_broken = |policy: &Policy| !policy.is_kept(|feature| own.own(feature));
        self.policies.iter().filter(|policy| is_broken(policy)).map(|policy| policy.position).collect()
    }
}

/// What a consequence goes back to.
struct Origins<'c> {
    /// The features that it follows from in the end, ascending.
    roots: Vec<usize>,
    /// The consequences in between, each after its sources.
    between: Vec<&'c Consequence>,
}

impl<'c> Origins<'c> {
    /// Each of the relations has its sources computed by those before it.
    fn new(earlier: &'c [CompiledRelation], consequence: &Consequence) -> Self {
        let (mut features, mut between) = (consequence.sources.clone(), Vec::new());
        for relation in earlier.iter().rev() {
            if let Kind::Follows(other) = &relation.kind
                && features.contains(&other.feature)
            {
                features.retain(|feature| *feature != other.feature);
                features.extend(&other.sources);
                between.insert(0, other);
            }
        }
        features.sort_unstable();
        features.dedup();
        Self { roots: features, between }
    }
}

/// Calls `give` with every combination of a choice below each count.
fn for_each_combination(counts: &[usize], give: &mut impl FnMut(&[Choice])) {
    let mut choices: Vec<Choice> = vec![0; counts.len()];
    loop {
        give(&choices);
        let Some(next) = (0..counts.len()).find(|&at| usize::from(choices[at]) + 1 < counts[at]) else {
            return;
        };
        choices[next] += 1;
        choices[..next].fill(0);
    }
}
