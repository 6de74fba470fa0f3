//! Counts and sums over people. Memory does not depend on how many there are.

use std::collections::BTreeMap;

use par_model::ScoreScale;
use serde::Serialize;

use super::groups::{Group, Grouping, MOST_GROUPS};
use super::person::{BrokenWay, Outcome, Verdict};

/// What a comparison has counted so far.
#[derive(Clone, Debug)]
pub struct Tally {
    pub(super) all: Counts,
    /// By the position of the grouping and the group.
    pub(super) groups: BTreeMap<(usize, Group), Counts>,
    /// People without a past answer.
    pub(super) absent: u64,
    /// The first row that each model cannot read, the old one first.
    pub(super) first_unread: [Option<String>; 2],
    /// The scores of old ways by the new model.
    pub(super) scores: Histogram,
    /// Those whose way breaks, the furthest from the threshold first.
    pub(super) broken: Vec<BrokenWay>,
    listed: usize,
}

/// The counts of some people.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// By the old outcome and the new one.
    pub(super) flow: [[u64; 4]; 4],
    /// People with an old way, by what becomes of it.
    pub(super) kept: u64,
    pub(super) too_low: u64,
    pub(super) breaks_policy: u64,
    pub(super) unreadable: u64,
    /// People of whose ways at least one is kept.
    pub(super) any_kept: u64,
    /// How far scores are from the threshold, where they do not reach it: in the unit of scores, and in log-odds.
    pub(super) short: [Sum; 2],
    /// What the old and the new ways cost, of those who have both, and of those among them whose way breaks.
    pub(super) cost: CostSums,
    pub(super) cost_of_broken: CostSums,
}

/// A sum, and the largest of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) total: f64,
    pub(super) largest: f64,
}

impl Sum {
    fn put(&mut self, value: f64) {
        self.add(Self { total: value, largest: value });
    }

    fn add(&mut self, other: Self) {
        self.total += other.total;
        self.largest = self.largest.max(other.largest);
    }
}

/// What a way costs, by one model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    pub(super) changes: f64,
    pub(super) effort: f64,
    pub(super) months: f64,
    pub(super) log_likelihood: f64,
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.changes += other.changes;
        self.effort += other.effort;
        self.months += other.months;
        self.log_likelihood += other.log_likelihood;
    }
}

/// Sums of the costs of old and new ways of the same people.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CostSums {
    pub(super) people: u64,
    pub(super) old: Cost,
    pub(super) new: Cost,
}

impl CostSums {
    fn add(&mut self, other: Self) {
        self.people += other.people;
        self.old.add(other.old);
        self.new.add(other.new);
    }
}

impl Counts {
    pub(super) fn person(&mut self, old: Outcome, new: Outcome) {
        self.flow[old as usize][new as usize] += 1;
    }

    /// Counts the old way of a person: what becomes of it, how far its score is from the threshold, and the costs of
    /// it and of the new way.
    pub(super) fn way(
        &mut self,
        verdict: Verdict,
        any_kept: bool,
        short: Option<[f64; 2]>,
        cost: Option<[Cost; 2]>,
    ) {
        let count = match verdict {
            Verdict::Kept => &mut self.kept,
            Verdict::TooLow => &mut self.too_low,
            Verdict::BreaksPolicy => &mut self.breaks_policy,
            Verdict::Unreadable => &mut self.unreadable,
        };
        *count += 1;
        self.any_kept += u64::from(any_kept);
        if let Some(short) = short {
            self.short.iter_mut().zip(short).for_each(|(sum, by)| sum.put(by));
        }
        if let Some([old, new]) = cost {
            let own = CostSums { people: 1, old, new };
            self.cost.add(own);
            if verdict != Verdict::Kept {
                self.cost_of_broken.add(own);
            }
        }
    }

    fn add(&mut self, other: &Self) {
        let cells = self.flow.iter_mut().flatten().zip(other.flow.iter().flatten());
        cells.for_each(|(own, others)| *own += others);
        self.kept += other.kept;
        self.too_low += other.too_low;
        self.breaks_policy += other.breaks_policy;
        self.unreadable += other.unreadable;
        self.any_kept += other.any_kept;
        self.short.iter_mut().zip(other.short).for_each(|(own, others)| own.add(others));
        self.cost.add(other.cost);
        self.cost_of_broken.add(other.cost_of_broken);
    }

    /// The number of people.
    pub(super) fn people(&self) -> u64 {
        self.flow.iter().flatten().sum()
    }

    /// How many people with one of the old outcomes have one of the new ones.
    pub(super) fn moved(&self, old: impl Fn(Outcome) -> bool, new: impl Fn(Outcome) -> bool) -> u64 {
        let from = Outcome::ALL.into_iter().filter(|outcome| old(*outcome));
        let to = |from: Outcome| {
            let to = Outcome::ALL.into_iter().filter(|outcome| new(*outcome));
            to.map(|to| self.flow[from as usize][to as usize]).sum::<u64>()
        };
        from.map(to).sum()
    }
}

impl Tally {
    pub(super) fn new(scores: Histogram, listed: usize) -> Self {
        Self {
            all: Counts::default(),
            groups: BTreeMap::new(),
            absent: 0,
            first_unread: [None, None],
            scores,
            broken: Vec::new(),
            listed,
        }
    }

    /// The number of people compared.
    pub fn people(&self) -> u64 {
        self.all.people()
    }

    /// The number of people without a past answer, who are not compared.
    pub fn absent(&self) -> u64 {
        self.absent
    }

    /// Counts for everybody and for each group of a person.
    pub(super) fn each(&mut self, groups: &[Group], count: impl Fn(&mut Counts)) {
        count(&mut self.all);
        for (grouping, group) in groups.iter().enumerate() {
            count(self.groups.entry((grouping, group.clone())).or_default());
        }
    }

    pub(super) fn unread_by_old(&mut self, error: impl FnOnce() -> String) {
        self.first_unread[0].get_or_insert_with(error);
    }

    pub(super) fn unread_by_new(&mut self, error: impl FnOnce() -> String) {
        self.first_unread[1].get_or_insert_with(error);
    }

    pub(super) fn list(&mut self, way: BrokenWay) {
        self.broken.push(way);
        self.shorten();
    }

    /// Keeps the ways that are the furthest from the threshold, and of equals the first in the table. Those without a
    /// distance come last: they are often many, for one reason.
    fn shorten(&mut self) {
        if self.broken.len() > self.listed {
            self.sort();
            self.broken.truncate(self.listed);
        }
    }

    fn sort(&mut self) {
        self.broken.sort_by(|a, b| {
            let short = |way: &BrokenWay| way.short_by_log_odds.unwrap_or(f64::NEG_INFINITY);
            short(b).total_cmp(&short(a)).then(a.row.cmp(&b.row))
        });
    }

    /// Adds the people of later rows.
    pub fn add(&mut self, later: Self) {
        self.all.add(&later.all);
        for (group, counts) in later.groups {
            self.groups.entry(group).or_default().add(&counts);
        }
        self.absent += later.absent;
        for (own, others) in self.first_unread.iter_mut().zip(later.first_unread) {
            *own = own.take().or(others);
        }
        self.scores.merge(&later.scores);
        self.broken.extend(later.broken);
        self.sort();
        self.shorten();
    }

    /// The first grouping with more texts than [`MOST_GROUPS`].
    pub(super) fn crowded<'g>(&self, groupings: &'g [Grouping<'_>]) -> Option<&'g str> {
        let count =
            |position: usize| self.groups.keys().filter(|(grouping, _)| *grouping == position).count();
        let mut open = groupings.iter().enumerate().filter(|(_, grouping)| grouping.is_open());
        open.find(|(position, _)| count(*position) > MOST_GROUPS).map(|(_, grouping)| grouping.name.as_str())
    }
}

/// Bars of a histogram of scores.
const BARS: usize = 40;

/// How many scores lie in each of some intervals of equal width; those outside count in the first or the last.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// The lower end of the first interval.
    pub low: f64,
    /// The width of each interval.
    pub width: f64,
    /// The scores in each.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// All probabilities; or the numbers within five spreads of a threshold.
    pub(super) fn around(scale: ScoreScale, threshold: f64) -> Self {
        let (low, high) = match scale {
            ScoreScale::Probability => (0.0, 1.0),
            ScoreScale::Number { spread, .. } => (threshold - 5.0 * spread, threshold + 5.0 * spread),
        };
        Self { low, width: (high - low) / BARS as f64, counts: vec![0; BARS] }
    }

    pub(super) fn add(&mut self, score: f64) {
        // A cast from a float ends at the ends of the integer's range.
        self.counts[(((score - self.low) / self.width).floor() as usize).min(BARS - 1)] += 1;
    }

    fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, others)| *own += others);
    }
}
