//! The numbers of a code that a person may move to, and what moving there costs.

use std::cmp::Ordering;

use super::{Candidate, direction};
use crate::constraints::{Constraints, NumberLimit};
use crate::decimals::{decimals_of, rounded};
use crate::discretizer::{BinValues, CodeNumbers, Discretizer, Domain, NumberSummary};
use crate::schema::{Direction, Effort, Feature, Step, Takes, TimeUnit};
use crate::{Code, UNKNOWN};

/// What changes of a feature cost, over its codes.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    /// Number of codes before those of special numbers.
    ordinary: usize,
    /// Whether the codes have an order.
    ordered: bool,
    /// For a numeric feature, the numbers of each ordinary code.
    numbers: Vec<NumbersOfCode>,
    /// The share of people below each ordinary code; 1 at the end.
    below: Vec<f64>,
    effort: Effort,
    takes: Option<Takes>,
    improves: Option<Direction>,
    /// The domain of a numeric feature.
    domain: Option<Domain>,
    /// The least difference of two numbers.
    unit: f64,
    /// How many months one unit of a clock has.
    months_of_unit: f64,
    /// The numbers that a cell can hold.
    range: [f64; 2],
}

/// The numbers of a code that an answer may name.
#[derive(Clone, Debug)]
struct NumbersOfCode {
    all: CodeNumbers,
    lowest: f64,
    highest: f64,
    /// The most common one.
    typical: f64,
    /// How common they are among accepted people, if that is known.
    values: Option<BinValues>,
    /// Those that many accepted people share.
    spikes: Vec<Spike>,
}

/// A number that many accepted people share.
#[derive(Clone, Copy, Debug)]
struct Spike {
    number: f64,
    commonness: f64,
    place: f64,
}

/// The numbers of a code on one side of the person's own.
pub(super) struct Side {
    code: Code,
    /// The only ones, if not all of the code.
    numbers: Option<CodeNumbers>,
    pub(super) nearest: f64,
    pub(super) typical: f64,
    pub(super) farthest: f64,
}

/// The numbers from a candidate toward the person's own that the person may move to as well, without a gap.
#[derive(Clone, Debug)]
pub struct TowardOwn {
    own: f64,
    from: f64,
    /// Those of the candidate's own code first, then those of the next.
    numbers: Vec<CodeNumbers>,
}

impl TowardOwn {
    pub(super) fn new(own: f64, from: f64, numbers: Vec<CodeNumbers>) -> Option<Self> {
        (!numbers.is_empty()).then_some(Self { own, from, numbers })
    }

    /// The candidate at 0, and about the number at a share of the way from it to the person's own, with few digits.
    pub fn at(&self, share: f64) -> f64 {
        if share == 0.0 {
            return self.from;
        }
        let way = self.own - self.from;
        let target = self.from + share * way;
        // A thousandth of the way is told apart.
        let digits = (2.0 - way.abs().log10().floor()).min(self.numbers[0].decimals() as f64);
        let rounded = match digits > 0.0 {
            true => format!("{target:.*}", digits as usize).parse().unwrap_or(target),
            false => (target * 10f64.powf(digits)).round() / 10f64.powf(digits),
        };
        if self.numbers.iter().any(|numbers| numbers.contains(rounded)) {
            return rounded;
        }
        let near = self.numbers.iter().map(|numbers| numbers.nearest(rounded));
        let nearest = near.min_by(|a, b| (a - rounded).abs().total_cmp(&(b - rounded).abs()));
        nearest.unwrap_or(self.from)
    }
}

/// What a shift from the lowest to the highest place among accepted people costs, in nats. Measured on adult and gmsc:
/// the lower, the nearer answers are to accepted people; the higher, the harder they are to tell from them.
const NATS_A_PLACE: f64 = 2.0;

/// The least size of a change: every change costs something.
const LEAST_SIZE: f64 = 0.01;

impl Action {
    pub(crate) fn new(discretizer: &Discretizer, position: usize) -> Self {
        let (feature, domain): (&Feature, &Domain) =
            (&discretizer.schema().features()[position], &discretizer.domains()[position]);
        let unit = domain.summary().map_or(1.0, NumberSummary::unit);
        let numbers = |code: Code| {
            let all = discretizer.numbers(position, code);
            let values = discretizer.values(position, code).cloned();
            let spike = |number: f64| {
                let values = values.as_ref()?;
                let (commonness, place) = (values.commonness(number, unit), values.place(number));
                all.contains(number).then_some(Spike { number, commonness, place })
            };
            NumbersOfCode {
                lowest: all.nearest(f64::NEG_INFINITY),
                highest: all.nearest(f64::INFINITY),
                typical: all.nearest(domain.common(code)),
                spikes: values.iter().flat_map(BinValues::spikes).filter_map(spike).collect(),
                values,
                all,
            }
        };
        let is_numeric = domain.summary().is_some();
        let codes = 0..domain.ordinary() as Code;
        let mut below = vec![0.0];
        below.extend(discretizer.shares(position).iter().scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        }));
        Self {
            ordinary: domain.ordinary(),
            ordered: domain.is_ordered(),
            numbers: if is_numeric { codes.map(numbers).collect() } else { Vec::new() },
            below,
            effort: feature.effort,
            takes: feature.takes,
            improves: feature.improves,
            domain: is_numeric.then(|| domain.clone()),
            unit,
            months_of_unit: feature.unit.as_deref().and_then(TimeUnit::parse).map_or(1.0, TimeUnit::months),
            range: feature.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
        }
    }

    /// Number of codes before those of special numbers.
    pub(crate) fn ordinary(&self) -> usize {
        self.ordinary
    }

    pub(crate) fn is_numeric(&self) -> bool {
        !self.numbers.is_empty()
    }

    pub(crate) fn is_special(&self, code: Code) -> bool {
        usize::from(code) >= self.ordinary
    }

    /// Whether a special number lies between two numbers, or is one of them.
    pub(super) fn has_special_between(&self, one: f64, other: f64) -> bool {
        let between = one.min(other)..=one.max(other);
        let special = self.domain.as_ref().map_or(&[][..], Domain::special);
        special.iter().any(|number| between.contains(number))
    }

    pub(crate) fn direction(&self, from: Candidate, to: Candidate) -> Option<Direction> {
        if self.ordered { direction(self.ordinary, from, to) } else { None }
    }

    /// A code with its most common number; NaN for categories.
    pub(crate) fn typical_candidate(&self, code: Code) -> Candidate {
        let number = match (self.numbers.get(usize::from(code)), &self.domain) {
            (Some(numbers), _) => numbers.typical,
            (None, Some(domain)) => domain.number(code),
            (None, None) => f64::NAN,
        };
        Candidate::free(code, number)
    }

    /// The place of a person's own number among accepted people of the same code; the middle where it is not known.
    /// `None` if the feature has no bins.
    pub(super) fn place(&self, own: Candidate) -> Option<f64> {
        let is_known = self.numbers.iter().any(|numbers| numbers.values.is_some());
        let of_code = self.numbers.get(usize::from(own.code)).and_then(|numbers| numbers.values.as_ref());
        is_known.then(|| of_code.map_or(0.5, |values| values.place(own.number)))
    }

    /// How well a number suits a person whose own number has this place, in nats: how common it is, and how near its
    /// place is to theirs.
    pub(super) fn suits(&self, candidate: Candidate, place: f64) -> f64 {
        let numbers = self.numbers.get(usize::from(candidate.code));
        numbers.and_then(|numbers| numbers.values.as_ref()).map_or(0.0, |values| {
            let own = values.place(candidate.number);
            values.commonness(candidate.number, self.unit) - NATS_A_PLACE * (own - place).abs()
        })
    }

    /// The number of a side that suits a person best: one that many share, or the one at their place.
    pub(super) fn suiting(&self, side: &Side, place: f64) -> Option<f64> {
        let numbers = &self.numbers[usize::from(side.code)];
        let values = numbers.values.as_ref()?;
        let there = side.numbers.as_ref().unwrap_or(&numbers.all);
        let mut at_place = values.at(place, self.unit);
        if !there.contains(at_place) {
            at_place = there.nearest(at_place);
        }
        let own = self.suits(Candidate::free(side.code, at_place), place);
        let is_there =
            |spike: &&Spike| side.numbers.as_ref().is_none_or(|there| there.contains(spike.number));
        let spikes = numbers.spikes.iter().filter(is_there);
        let suits = |spike: &Spike| spike.commonness - NATS_A_PLACE * (spike.place - place).abs();
        let best = spikes
            .map(|spike| (suits(spike), spike.number))
            .fold((own, at_place), |best, next| if next.0 > best.0 { next } else { best });
        Some(best.1)
    }

    /// The lowest and the highest number of an ordinary code.
    pub(crate) fn ends(&self, code: Code) -> [f64; 2] {
        let NumbersOfCode { lowest, highest, .. } = self.numbers[usize::from(code)];
        [lowest, highest]
    }

    /// Whether a code has a value within a step from a person's own.
    pub(crate) fn is_within(&self, step: &Step, from: Candidate, to: Code) -> bool {
        let [up, down] = [step.up, step.down].map(|most| most.unwrap_or(f64::INFINITY));
        match self.numbers.get(usize::from(to)) {
            _ if self.is_special(from.code) || self.is_special(to) || *step == Step::default() => true,
            Some(numbers) => numbers.lowest <= from.number + up && numbers.highest >= from.number - down,
            None => {
                f64::from(to) <= f64::from(from.code) + up && f64::from(to) >= f64::from(from.code) - down
            }
        }
    }

    /// The code of a number of a numeric feature.
    pub(crate) fn code_of(&self, number: f64) -> Code {
        self.domain.as_ref().map_or(UNKNOWN, |domain| domain.code_of_number(number).0)
    }

    /// Where a clock stands after so many months; `None` if no cell can hold it.
    pub(crate) fn clock_after(&self, own: f64, months: u32) -> Option<f64> {
        let elapsed = f64::from(months) / self.months_of_unit;
        let decimals = self.domain.as_ref().and_then(Domain::summary).map_or(0, |summary| summary.decimals);
        // A year is only counted once it is over.
        let unit = 10f64.powi(decimals as i32);
        let number = own + (elapsed * unit + 1e-9).floor() / unit;
        let number = rounded(number, decimals.max(decimals_of(own)));
        let [low, high] = self.range;
        (low..=high).contains(&number).then_some(number)
    }

    /// Whether the world calls the change a change for the worse.
    pub(crate) fn harms(&self, from: Candidate, to: Candidate) -> bool {
        match (self.improves, self.direction(from, to)) {
            (Some(better), Some(direction)) => better != direction,
            _ => false,
        }
    }

    /// What a change costs, with another weight for this person if there is one.
    pub(crate) fn effort(&self, from: Candidate, to: Candidate, weight: Option<f64>) -> f64 {
        weight.unwrap_or(self.effort.weight) * self.size(from, to)
    }

    fn size(&self, from: Candidate, to: Candidate) -> f64 {
        if !self.ordered || self.is_special(from.code) || self.is_special(to.code) {
            return 1.0;
        }
        let size = match self.effort.per {
            Some(per) => self.distance(from, to) / per,
            None => (self.percentile(to) - self.percentile(from)).abs(),
        };
        size.max(LEAST_SIZE)
    }

    /// In the column's unit, or in places of ordered categories.
    fn distance(&self, from: Candidate, to: Candidate) -> f64 {
        match self.is_numeric() {
            true => (to.number - from.number).abs(),
            false => f64::from(to.code.abs_diff(from.code)),
        }
    }

    /// The share of people below a value, and half of those with the same code; linear within a bin.
    fn percentile(&self, candidate: Candidate) -> f64 {
        let code = usize::from(candidate.code);
        let (below, above) = (self.below[code], self.below[code + 1]);
        let within = match self.numbers.get(code) {
            Some(NumbersOfCode { lowest, highest, .. }) if lowest < highest => {
                ((candidate.number - lowest) / (highest - lowest)).clamp(0.0, 1.0)
            }
            _ => 0.5,
        };
        below + (above - below) * within
    }

    /// How long a change takes, rounded up to months.
    pub(crate) fn months(&self, from: Candidate, to: Candidate) -> u32 {
        let Some(Takes { months, per }) = self.takes else { return 0 };
        let times = match per {
            // Leaving a special value has no distance.
            Some(per) if !self.is_special(from.code) => self.distance(from, to) / per,
            _ => 1.0,
        };
        // Rounding errors do not cost a month.
        (months * times - 1e-9).ceil().clamp(0.0, f64::from(MOST_MONTHS)) as u32
    }
}

/// A sum of numbers of at most nine decimals as its decimals say: 2.8 − 2 is 0.8, not a little less.
fn without_rounding_error(sum: f64) -> f64 {
    const UNITS: f64 = 1e9;
    // Beyond it, not every ninth decimal can be told apart.
    let is_exact = sum.abs() < 9e15 / UNITS;
    if is_exact { (sum * UNITS).round() / UNITS } else { sum }
}

/// A century: nobody waits longer.
const MOST_MONTHS: u32 = 1200;

impl Constraints {
    /// The numbers of a code that the person may move to, on each side of their own.
    pub(super) fn numbers_of(
        &self,
        feature: usize,
        own: Candidate,
        code: Code,
        limit: Option<&NumberLimit>,
    ) -> Vec<Side> {
        let (action, step) = (self.action(feature), self.step(feature));
        let all = &action.numbers[usize::from(code)];
        let is_special = action.is_special(own.code);
        // From a special number there is no distance, but the new one is on the grid.
        if limit.is_none() && (*step == Step::default() || is_special && step.grid.is_none()) {
            let &NumbersOfCode { lowest, highest, typical, .. } = all;
            let side = |nearest, farthest| Side { code, numbers: None, nearest, typical, farthest };
            return match code.cmp(&own.code) {
                _ if is_special => vec![side(typical, typical)],
                Ordering::Less => vec![side(highest, lowest)],
                Ordering::Greater => vec![side(lowest, highest)],
                Ordering::Equal => vec![side(own.number, lowest), side(own.number, highest)],
            };
        }
        let anywhere = [f64::NEG_INFINITY, f64::INFINITY];
        let ranges = match is_special {
            true => vec![anywhere],
            false => {
                let least = step.at_least.unwrap_or(0.0);
                let [up, down] = [step.up, step.down].map(|most| most.unwrap_or(f64::INFINITY));
                let moved = |by: f64| without_rounding_error(own.number + by);
                vec![[moved(-down), moved(-least)], [moved(least), moved(up)]]
            }
        };
        let side = |range: [f64; 2]| {
            let numbers = all.all.within(&NumberLimit::within(range, step.grid, limit)?)?;
            let typical = numbers.nearest(all.typical);
            let [lowest, highest] = anywhere.map(|end| numbers.nearest(end));
            let (nearest, farthest) = match range[1] <= own.number {
                true => (highest, lowest),
                false => (lowest, highest),
            };
            let nearest = if is_special { typical } else { nearest };
            Some(Side { code, numbers: Some(numbers), nearest, typical, farthest })
        };
        ranges.into_iter().filter_map(side).collect()
    }

    /// The numbers of a code between a candidate and the person's own, which is not among them.
    pub(super) fn numbers_between(
        &self,
        feature: usize,
        own: Candidate,
        candidate: Candidate,
        code: Code,
        limit: Option<&NumberLimit>,
    ) -> Option<CodeNumbers> {
        let (action, step) = (self.action(feature), self.step(feature));
        let least = step.at_least.unwrap_or(0.0).max(action.unit);
        let range = match own.number < candidate.number {
            true => [without_rounding_error(own.number + least), candidate.number],
            false => [candidate.number, without_rounding_error(own.number - least)],
        };
        action.numbers[usize::from(code)].all.within(&NumberLimit::within(range, step.grid, limit)?)
    }
}
