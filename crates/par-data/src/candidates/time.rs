//! Time: how long ways can take, and where clocks stand then.

use super::{Candidate, Candidates, Choice};
use crate::UNKNOWN;
use crate::schema::Mutability;

/// Ways whose longest change takes between so many months, during which clocks move on to the same values.
#[derive(Clone, Debug, PartialEq)]
pub struct Duration {
    /// The shortest, in months.
    pub shortest: u32,
    /// The longest, in months.
    pub longest: u32,
    /// The person's own row at that time: clocks have moved on, and their consequences if they have a value that they
    /// may have.
    pub row: Vec<Choice>,
}

/// The most different durations that are searched. If there are more, months are rounded up to quarters, then to half
/// years, years, and so on.
const MOST_DURATIONS: usize = 12;

impl Candidates<'_> {
    /// Groups the durations of all changes by where they leave the clocks, and adds the clocks' candidates.
    pub(super) fn add_durations(&mut self) {
        self.clocks = (0..self.lists.len()).filter(|&feature| self.is_clock(feature)).collect();
        let clocks = self.clocks.clone();
        let own = vec![0; self.lists.len()];
        if clocks.is_empty() {
            self.durations = vec![Duration { shortest: 0, longest: u32::MAX, row: own }];
            return;
        }
        let mut round = 1;
        let mut months = self.distinct_months();
        while months.len() > MOST_DURATIONS {
            round = if round == 1 { 3 } else { 2 * round };
            for candidate in self.lists.iter_mut().flatten() {
                candidate.months = (candidate.months.div_ceil(round) * round).min(self.within);
            }
            months = self.distinct_months();
        }
        for months in months {
            let mut row = own.clone();
            let is_possible = clocks.iter().all(|&clock| {
                let choice = self.clock_after(clock, months);
                row[clock] = choice.unwrap_or(0);
                choice.is_some()
            });
            if !is_possible {
                continue;
            }
            match self.durations.last_mut() {
                Some(last) if last.row == row => last.longest = months,
                _ => self.durations.push(Duration { shortest: months, longest: months, row }),
            }
        }
    }

    pub(super) fn is_clock(&self, feature: usize) -> bool {
        self.constraints.mutability(feature) == Mutability::WithTime
            && self.lists[feature][0].code != UNKNOWN
            && !self.constraints.action(feature).is_special(self.lists[feature][0].code)
    }

    fn distinct_months(&self) -> Vec<u32> {
        let mut months: Vec<u32> = self.lists.iter().flatten().map(|candidate| candidate.months).collect();
        months.sort_unstable();
        months.dedup();
        months
    }

    /// The choice of a clock after so many months, added if it is new; `None` if no cell can hold it.
    fn clock_after(&mut self, clock: usize, months: u32) -> Option<Choice> {
        let own = self.lists[clock][0];
        let number = self.constraints.action(clock).clock_after(own.number, months)?;
        let list = &mut self.lists[clock];
        let known = list.iter().position(|candidate| candidate.number == number);
        let choice = known.unwrap_or_else(|| {
            let code = self.constraints.action(clock).code_of(number);
            list.push(Candidate::free(code, number));
            list.len() - 1
        });
        Some(choice as Choice)
    }
}
