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

#[cfg(test)]
mod tests {
    use par_data::schema::Side;

    use super::super::report::PeopleReport;
    use super::*;

    fn cost(changes: f64, effort: f64) -> Cost {
        Cost { changes, effort, months: 0.0, log_likelihood: -effort }
    }

    /// Six people: two keep their way, one of them accepted now; two break; one had none and has one; one cannot be read.
    fn counts() -> Counts {
        let mut counts = Counts::default();
        counts.person(Outcome::WithWay, Outcome::WithWay);
        counts.way(Verdict::Kept, true, None, Some([cost(1.0, 2.0), cost(1.0, 2.0)]));
        counts.person(Outcome::WithWay, Outcome::Accepted);
        counts.way(Verdict::Kept, true, None, None);
        counts.person(Outcome::WithWay, Outcome::WithWay);
        counts.way(Verdict::TooLow, true, Some([0.1, 0.5]), Some([cost(1.0, 2.0), cost(3.0, 6.0)]));
        counts.person(Outcome::WithWay, Outcome::WithoutWay);
        counts.way(Verdict::TooLow, false, Some([0.3, 1.5]), None);
        counts.person(Outcome::WithoutWay, Outcome::WithWay);
        counts.person(Outcome::Accepted, Outcome::Unreadable);
        counts
    }

    #[test]
    fn shares_and_means_are_those_counted_by_hand() {
        let report = PeopleReport::new(&counts());
        let share = |share: par_model::Share| (share.yes, share.of);
        assert_eq!(report.people, 6);
        assert_eq!(share(report.ways.kept), (2, 4));
        assert_eq!(share(report.ways.any_kept), (3, 4));
        assert_eq!(share(report.denied_to_accepted), (1, 5));
        assert_eq!(share(report.accepted_to_denied), (0, 0), "the only one cannot be read");
        assert_eq!(share(report.newly_without), (1, 4));
        assert_eq!(share(report.newly_with), (1, 1));
        assert_eq!((report.unread_by_old, report.unread_by_new), (0, 1));
        let short = report.ways.short_by.expect("two ways are too low");
        assert_eq!((short.mean, short.largest), (0.2, 0.3));
        assert_eq!((short.mean_log_odds, short.largest_log_odds), (1.0, 1.5));
        let cost = report.cost.expect("two people have both ways");
        assert_eq!((cost.people, cost.changes, cost.effort), (2, [1.0, 2.0], [2.0, 4.0]));
        let broken = report.cost_of_broken.expect("one of them has a broken way");
        assert_eq!((broken.people, broken.log_likelihood), (1, [-2.0, -6.0]));
    }

    #[test]
    fn the_counts_of_parts_add_up_to_those_of_all() {
        let mut twice = counts();
        twice.add(&counts());
        assert_eq!((twice.people(), twice.kept, twice.too_low, twice.any_kept), (12, 4, 4, 6));
        assert_eq!((twice.short[0].largest, twice.cost.people), (0.3, 4));
        assert_eq!(twice.moved(|_| true, |_| true), 12);
    }

    fn way(row: u64, short: Option<f64>) -> BrokenWay {
        BrokenWay {
            id: row.to_string(),
            row,
            verdict: if short.is_some() { Verdict::TooLow } else { Verdict::Unreadable },
            because: None,
            changes: Vec::new(),
            old_score: None,
            new_score: None,
            short_by: short,
            short_by_log_odds: short,
            now: Outcome::WithoutWay,
            new_changes: Vec::new(),
            new_effort: None,
            new_months: None,
        }
    }

    #[test]
    fn the_list_keeps_the_furthest_whatever_parts_they_came_in() {
        let ways = [way(1, None), way(2, Some(0.2)), way(3, Some(0.9)), way(4, Some(0.2)), way(5, Some(0.4))];
        let tally = || Tally::new(Histogram::around(ScoreScale::Probability, 0.5), 3);
        for cut in 0..=ways.len() {
            let mut parts = [tally(), tally()];
            for (place, way) in ways.iter().enumerate() {
                parts[usize::from(place >= cut)].list(way.clone());
            }
            let [mut first, second] = parts;
            first.add(second);
            let rows: Vec<u64> = first.broken.iter().map(|way| way.row).collect();
            assert_eq!(rows, [3, 5, 2], "cut at {cut}");
        }
    }

    #[test]
    fn scores_beyond_the_ends_count_in_the_last_bars() {
        let mut probabilities = Histogram::around(ScoreScale::Probability, 0.5);
        [0.0, 0.49, 0.5, 1.0].into_iter().for_each(|score| probabilities.add(score));
        let filled = |histogram: &Histogram| -> Vec<usize> {
            (0..BARS).filter(|&bar| histogram.counts[bar] > 0).collect()
        };
        assert_eq!(filled(&probabilities), [0, 19, 20, 39]);
        let scale = ScoreScale::Number { center: 0.0, spread: 8.0, side: Side::AtLeast };
        let mut numbers = Histogram::around(scale, 100.0);
        [-1e9, 100.0, 1e9].into_iter().for_each(|score| numbers.add(score));
        assert_eq!(filled(&numbers), [0, 20, 39]);
    }
}
