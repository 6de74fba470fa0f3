//! For one person, a short list of values for each feature: everything that search may combine.
//!
//! Steps, relations, effort, time and classifiers of raw numbers look at values; circuits and generator look at codes.
//! A candidate has both, so that nothing is decided on a bin and broken by the value that an answer names.

mod numbers;
mod relations;
mod time;

pub(crate) use numbers::Action;
pub use numbers::TowardOwn;
pub(crate) use relations::{CompiledRelation, Policy, compile};
pub use time::Duration;

use crate::constraints::{Constraints, Limits, Mask};
use crate::discretizer::{Discretizer, Domain};
use crate::schema::{Direction, Mutability, parse_number};
use crate::{Code, UNKNOWN};

/// A position in the list of a feature's candidates. 0 is the person's own value.
pub type Choice = u16;

/// A value that a feature may have, for one person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its code.
    pub code: Code,
    /// The number, if the feature is numeric and its cell is known; otherwise NaN.
    pub number: f64,
    /// What the change to it costs the person; 0 for the person's own value and for consequences.
    pub effort: f64,
    /// How long the change to it takes, in whole months.
    pub months: u32,
    /// How much less it suits this person than the best value of the same code does, in nats; at most 0. See
    /// [`Wishes::common`].
    pub rarity: f64,
}

impl Candidate {
    /// A candidate that costs the person nothing.
    fn free(code: Code, number: f64) -> Self {
        Self { code, number, effort: 0.0, months: 0, rarity: 0.0 }
    }
}

/// What a person asks for, besides the schema's constraints.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// Features (positions) that stay.
    pub locks: &'a [usize],
    /// The values that features may change to.
    pub limits: &'a Limits,
    /// Features (positions) whose effort has another weight for this person.
    pub efforts: &'a [(usize, f64)],
    /// The most effort of a way.
    pub max_effort: Option<f64>,
    /// The most months of a way.
    pub within: Option<u32>,
    /// Whether nothing may get worse, where the schema says which direction is better.
    pub no_harm: bool,
    /// Whether common values are preferred to the nearest one: of a code's values the one that suits the person best is
    /// common among accepted people, and near the same place among them as the person's own value has in its own code.
    pub common: bool,
}

/// No wishes.
impl Default for Wishes<'_> {
    fn default() -> Self {
        const NONE: &Limits = &Limits::NONE;
        Self {
            locks: &[],
            limits: NONE,
            efforts: &[],
            max_effort: None,
            within: None,
            no_harm: false,
            common: false,
        }
    }
}

/// Which values of a code are candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One, for a classifier that reads codes: the nearest or, if [`Wishes::common`] says so, the one that suits the
    /// person best.
    Codes,
    /// The nearest, the most common and the one that suits the person best, for a classifier that reads values.
    Values,
    /// Also the farthest.
    AllValues,
}

/// The person's own row: codes, and the numbers of numeric features.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnRow {
    codes: Vec<Code>,
    /// NaN where the feature is not numeric or the cell is not known.
    numbers: Vec<f64>,
}

impl OwnRow {
    /// The row of these cells, which have these codes.
    ///
    /// # Panics
    /// When there are not as many cells as codes.
    pub fn new(discretizer: &Discretizer, cells: &[&str], codes: Vec<Code>) -> Self {
        assert_eq!(cells.len(), codes.len(), "one cell for each code");
        let number = |(feature, (&cell, &code)): (usize, (&&str, &Code))| {
            let is_number = code != UNKNOWN && discretizer.domains()[feature].summary().is_some();
            if is_number { parse_number(cell).unwrap_or(f64::NAN) } else { f64::NAN }
        };
        let numbers = cells.iter().zip(&codes).enumerate().map(number).collect();
        Self { codes, numbers }
    }

    /// A row of which only the codes are known: each stands for its most common number.
    ///
    /// # Panics
    /// When it is not a row of the constraints' codes.
    pub fn typical(constraints: &Constraints, codes: Vec<Code>) -> Self {
        let number = |(feature, &code): (usize, &Code)| match code {
            UNKNOWN => f64::NAN,
            code => constraints.action(feature).typical_candidate(code).number,
        };
        Self { numbers: codes.iter().enumerate().map(number).collect(), codes }
    }

    /// Its codes.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// Its candidates' first entry for a feature.
    pub(crate) fn own(&self, feature: usize) -> Candidate {
        Candidate::free(self.codes[feature], self.numbers[feature])
    }
}

/// The candidates of one person.
#[derive(Clone, Debug)]
pub struct Candidates<'c> {
    constraints: &'c Constraints,
    /// For each feature, the person's own value first.
    lists: Vec<Vec<Candidate>>,
    /// The features that the person acts on, ascending.
    free: Vec<usize>,
    durations: Vec<Duration>,
    /// The features that move with time, ascending.
    clocks: Vec<usize>,
    max_effort: f64,
    /// The most months of a way.
    within: u32,
    no_harm: bool,
    limits: Limits,
    reach: Reach,
}

impl Constraints {
    /// The candidates of a person.
    ///
    /// # Panics
    /// When the row is not of these constraints' codes, or the limits are of another discretizer.
    pub fn candidates(&self, own: &OwnRow, wishes: &Wishes<'_>, reach: Reach) -> Candidates<'_> {
        let lists = (0..self.features()).map(|feature| self.list(feature, own, wishes, reach)).collect();
        let mut candidates = Candidates {
            constraints: self,
            lists,
            free: Vec::new(),
            durations: Vec::new(),
            clocks: Vec::new(),
            max_effort: wishes.max_effort.unwrap_or(f64::INFINITY),
            within: wishes.within.unwrap_or(u32::MAX),
            no_harm: wishes.no_harm,
            limits: wishes.limits.clone(),
            reach,
        };
        candidates.drop_impossible_moves();
        candidates.add_durations();
        candidates.add_consequences();
        let is_free =
            |&feature: &usize| candidates.lists[feature].len() > 1 && !self.moves_by_itself(feature);
        candidates.free = (0..self.features()).filter(is_free).collect();
        candidates
    }

    /// What it costs a person to become another row, whether the constraints allow it or not. Clocks and consequences
    /// cost nothing; a change from or to an unknown or special value has size 1.
    ///
    /// # Panics
    /// When a row is not of these constraints' codes.
    pub fn effort(&self, from: &OwnRow, to: &OwnRow) -> f64 {
        let cost = |feature: usize| {
            let (from, to) = (from.own(feature), to.own(feature));
            let stays = from.code == to.code && (from.number == to.number || to.number.is_nan());
            match stays || self.moves_by_itself(feature) {
                true => 0.0,
                false => self.action(feature).effort(from, to, None),
            }
        };
        (0..self.features()).map(cost).sum()
    }

    /// The candidates of a feature that a person acts on; only their own of any other.
    fn list(&self, feature: usize, own: &OwnRow, wishes: &Wishes<'_>, reach: Reach) -> Vec<Candidate> {
        let (own, action) = (own.own(feature), self.action(feature));
        let mut list = vec![own];
        let stays = own.code == UNKNOWN || self.is_immutable(feature) || wishes.locks.contains(&feature);
        if stays || (action.is_special(own.code) && !self.may_leave(feature, own.code)) {
            return list;
        }
        let weight = wishes.efforts.iter().rfind(|(other, _)| *other == feature).map(|(_, weight)| *weight);
        let place = if wishes.common { action.place(own) } else { None };
        let mut add = |code: Code, number: f64| {
            let mut candidate = Candidate::free(code, number);
            if !self.may_become(feature, own, candidate)
                || (wishes.no_harm && action.harms(own, candidate))
                || action.has_special_between(number, number)
            {
                return false;
            }
            candidate.effort = action.effort(own, candidate, weight);
            candidate.months = action.months(own, candidate);
            candidate.rarity = place.map_or(0.0, |place| action.suits(candidate, place));
            let is_new = !list.iter().any(|known| known.code == code && known.number == number);
            let is_within = wishes.within.is_none_or(|most| candidate.months <= most)
                && wishes.max_effort.is_none_or(|most| is_at_most(candidate.effort, most));
            if (is_new || number.is_nan()) && is_within {
                list.push(candidate);
            }
            is_within
        };
        let legal = self.permitted_codes(feature, wishes.limits);
        if !action.is_numeric() {
            let codes = (0..).zip(legal).filter(|(code, legal)| *legal && *code != own.code);
            codes.for_each(|(code, _)| {
                add(code, f64::NAN);
            });
            return list;
        }
        let reach = if self.is_related(feature) { Reach::AllValues } else { reach };
        let limited = wishes.limits.numbers(feature);
        for (code, _) in (0..).zip(legal).filter(|(_, legal)| *legal) {
            if code == own.code && reach == Reach::Codes {
                continue;
            }
            for side in self.numbers_of(feature, own, code, limited) {
                let suiting = place.and_then(|place| action.suiting(&side, place));
                if reach == Reach::Codes {
                    if !suiting.is_some_and(|number| add(code, number)) {
                        add(code, side.nearest);
                    }
                    continue;
                }
                let farthest = (reach == Reach::AllValues).then_some(side.farthest);
                [Some(side.nearest), Some(side.typical), suiting, farthest].into_iter().flatten().for_each(
                    |number| {
                        add(code, number);
                    },
                );
            }
        }
        if place.is_some() {
            rank_within_codes(&mut list[1..]);
        }
        list
    }
}

/// Measures how much less each candidate suits the person than the best of the same code.
fn rank_within_codes(list: &mut [Candidate]) {
    for same in list.chunk_by_mut(|a, b| a.code == b.code) {
        let best = same.iter().map(|candidate| candidate.rarity).fold(f64::NEG_INFINITY, f64::max);
        same.iter_mut().for_each(|candidate| candidate.rarity -= best);
    }
}

impl<'c> Candidates<'c> {
    /// The constraints that they keep.
    pub fn constraints(&self) -> &'c Constraints {
        self.constraints
    }

    /// Which values of a code are among them.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The lowest and the highest number of a candidate's code that the person may move to as well, with the same
    /// outcome; `None` if there is no other, or a relation or a policy looks at it.
    pub fn range(&self, feature: usize, candidate: Candidate) -> Option<[f64; 2]> {
        let is_alone =
            candidate.number.is_nan() || self.constraints.is_related(feature) || !self.is_free(feature);
        let own = self.lists[feature][0];
        if is_alone || candidate.code == own.code {
            return None;
        }
        let action = self.constraints.action(feature);
        let has_clocks = !self.clocks.is_empty();
        let does_as_well = |other: Candidate| {
            let months = action.months(own, other);
            let is_affordable = self.max_effort.is_infinite()
                || action.effort(own, other, None) <= action.effort(own, candidate, None);
            is_affordable && months <= self.within && (!has_clocks || months == action.months(own, candidate))
        };
        let mut ends = [candidate.number; 2];
        let limit = self.limits.numbers(feature);
        for side in self.constraints.numbers_of(feature, own, candidate.code, limit) {
            for number in [side.nearest, side.typical, side.farthest] {
                if does_as_well(Candidate { number, ..candidate }) {
                    ends = [ends[0].min(number), ends[1].max(number)];
                }
            }
        }
        (ends[0] < ends[1] && !action.has_special_between(ends[0], ends[1])).then_some(ends)
    }

    /// The numbers from a candidate toward the person's own that the person may move to as well; `None` if there is
    /// none, a special number lies between, or a relation or a policy looks at it.
    pub fn toward_own(&self, feature: usize, candidate: Candidate) -> Option<TowardOwn> {
        let (own, action) = (self.lists[feature][0], self.constraints.action(feature));
        let has_clocks = !self.clocks.is_empty();
        let is_alone = candidate.number.is_nan()
            || own.number.is_nan()
            || action.is_special(own.code)
            || action.has_special_between(own.number, candidate.number)
            || self.constraints.is_related(feature)
            || !self.is_free(feature)
            // Clocks would stand elsewhere after fewer months.
            || (has_clocks && candidate.months > 0);
        if is_alone {
            return None;
        }
        let permitted: Vec<bool> = self.constraints.permitted_codes(feature, &self.limits).collect();
        let may_become = |code: &Code| {
            let nearer = Candidate { code: *code, ..candidate };
            permitted[usize::from(*code)] && self.constraints.may_become(feature, own, nearer)
        };
        let codes: Vec<Code> = match own.code <= candidate.code {
            true => (own.code..=candidate.code).rev().take_while(may_become).collect(),
            false => (candidate.code..=own.code).take_while(may_become).collect(),
        };
        let limit = self.limits.numbers(feature);
        let between = |&code: &Code| self.constraints.numbers_between(feature, own, candidate, code, limit);
        TowardOwn::new(own.number, candidate.number, codes.iter().map_while(between).collect())
    }

    /// The candidates of a feature, the person's own value first.
    pub fn of(&self, feature: usize) -> &[Candidate] {
        &self.lists[feature]
    }

    /// How many candidates each feature has.
    pub fn counts(&self) -> Vec<usize> {
        self.lists.iter().map(Vec::len).collect()
    }

    /// Whether the person acts on the feature: it has other candidates, and is neither a clock nor a consequence.
    pub fn is_free(&self, feature: usize) -> bool {
        self.free.binary_search(&feature).is_ok()
    }

    /// The features that the person acts on, ascending.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// Whether the feature follows from others.
    pub fn is_consequence(&self, feature: usize) -> bool {
        self.constraints.mutability(feature) == Mutability::Follows
    }

    /// Number of features that the person acts on.
    pub fn free_features(&self) -> usize {
        self.free.len()
    }

    /// How long ways can take, ascending: clocks move on meanwhile.
    pub fn durations(&self) -> &[Duration] {
        &self.durations
    }

    /// The features that move with time, ascending.
    pub fn clocks(&self) -> &[usize] {
        &self.clocks
    }

    /// Whether a change of the feature may take time.
    pub fn takes_time(&self, feature: usize) -> bool {
        self.lists[feature].iter().any(|candidate| candidate.months > 0)
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.lists.len()
    }

    /// The place of a row's duration among all.
    pub fn duration_of(&self, row: &[Choice]) -> Option<usize> {
        let months = self.months(row);
        self.durations.iter().position(|one| (one.shortest..=one.longest).contains(&months))
    }

    /// The codes of a row of choices.
    pub fn codes(&self, row: &[Choice]) -> Vec<Code> {
        row.iter().zip(&self.lists).map(|(&choice, list)| list[usize::from(choice)].code).collect()
    }

    /// Writes the codes of a row of choices.
    pub fn write_codes(&self, row: &[Choice], codes: &mut [Code]) {
        for ((code, &choice), list) in codes.iter_mut().zip(row).zip(&self.lists) {
            *code = list[usize::from(choice)].code;
        }
    }

    /// The candidate that a row has chosen for a feature.
    pub fn chosen(&self, row: &[Choice], feature: usize) -> Candidate {
        self.lists[feature][usize::from(row[feature])]
    }

    /// The value that a row has chosen for a feature, as a table writes it; `cell` is the person's own.
    ///
    /// # Panics
    /// When the discretizer is another one.
    pub fn text(&self, discretizer: &Discretizer, row: &[Choice], feature: usize, cell: &str) -> String {
        let chosen = self.chosen(row, feature);
        match (row[feature], &discretizer.domains()[feature]) {
            (0, _) => cell.to_string(),
            (_, Domain::Categories { values, .. }) => values[usize::from(chosen.code)].clone(),
            _ => chosen.number.to_string(),
        }
    }

    /// What the changes of a row cost together.
    pub fn effort(&self, row: &[Choice]) -> f64 {
        row.iter().zip(&self.lists).map(|(&choice, list)| list[usize::from(choice)].effort).sum()
    }

    /// How much less the values of a row suit the person than the best of the same codes do, in nats; at most 0.
    pub fn rarity(&self, row: &[Choice]) -> f64 {
        row.iter().zip(&self.lists).map(|(&choice, list)| list[usize::from(choice)].rarity).sum()
    }

    /// How long the changes of a row take: as long as the longest.
    pub fn months(&self, row: &[Choice]) -> u32 {
        let months = row.iter().zip(&self.lists).map(|(&choice, list)| list[usize::from(choice)].months);
        months.max().unwrap_or(0)
    }

    /// Whether the row costs no more than the person allows.
    pub fn is_affordable(&self, row: &[Choice]) -> bool {
        is_at_most(self.effort(row), self.max_effort)
    }

    /// The mask of all codes that a candidate has, around the row at a duration: for the generator.
    pub fn mask(&self, duration: &Duration) -> Mask<'c> {
        let factual = self.codes(&duration.row);
        let codes = (0..self.lists.len()).map(|feature| {
            let free = self.is_free(feature);
            self.lists[feature].iter().filter(move |_| free).map(|candidate| candidate.code)
        });
        self.constraints.mask_of(factual, codes)
    }

    /// Whether a row makes a feature worse, where the schema says which direction is better.
    pub fn is_harm(&self, row: &[Choice], feature: usize) -> bool {
        let own = self.lists[feature][0];
        self.constraints.action(feature).harms(own, self.chosen(row, feature))
    }
}

/// Whether an effort is at most another, but for rounding.
fn is_at_most(effort: f64, most: f64) -> bool {
    effort <= most * (1.0 + 1e-9)
}

/// The direction from one candidate to another; `None` for no change, and for special or unordered values.
pub(crate) fn direction(ordinary: usize, from: Candidate, to: Candidate) -> Option<Direction> {
    let is_ordinary = |candidate: &Candidate| usize::from(candidate.code) < ordinary;
    if !is_ordinary(&from) || !is_ordinary(&to) {
        return None;
    }
    let order = match from.number.partial_cmp(&to.number) {
        Some(order) => order,
        None => from.code.cmp(&to.code),
    };
    match order {
        std::cmp::Ordering::Less => Some(Direction::Increase),
        std::cmp::Ordering::Greater => Some(Direction::Decrease),
        std::cmp::Ordering::Equal => None,
    }
}
