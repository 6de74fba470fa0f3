//! Selects and orders the ways to show: none that another dominates.

use par_model::ScoreScale;

use crate::answer::{Accepting, Solves};
use crate::problem::Solution;

/// A solution that could be shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offer {
    pub(crate) solution: Solution,
    /// The score of the row as written.
    pub(crate) probability: f64,
    /// The score as [`par_model::ScoreScale::sureness`] has it.
    pub(crate) sureness: f64,
    /// The score of the row as written, or the lowest of those that it must withstand.
    pub(crate) withstood: f64,
    /// How many versions of the classifier accept it; `None` if there are none.
    pub(crate) accepting: Option<Accepting>,
    /// log p⁺, given what the person cannot change.
    pub(crate) conditional: f64,
    /// The share of accepted rows that are no likelier by it.
    pub(crate) percentile: f64,
    /// How many months it takes.
    pub(crate) months: u32,
    /// The features that it changes, ascending.
    pub(crate) features: Vec<usize>,
    /// The problem that it was found for.
    pub(crate) solves: Solves,
    /// As [`crate::Way::gap`], among rows that change no set in `without` completely.
    pub(crate) gap: Option<f64>,
    pub(crate) without: Vec<Vec<usize>>,
}

/// Differences that nobody would notice.
const SURENESS: f64 = 0.01;
const PERCENTILE: f64 = 0.05;
const EFFORT: f64 = 0.05;
const MONTHS: f64 = 1.0;
const VERSIONS: f64 = 0.05;

impl Offer {
    /// How much better it is than another in effort, changes, probability, plausibility, time and the versions that
    /// accept it, in units of differences that nobody would notice.
    fn advantages(&self, other: &Self) -> [f64; 6] {
        let (own, its) = (&self.solution, &other.solution);
        let accepting = |offer: &Self| offer.accepting.map_or(1.0, Accepting::share);
        let effort = EFFORT * own.cost.effort.max(its.cost.effort).max(f64::MIN_POSITIVE);
        [
            (its.cost.effort - own.cost.effort) / effort,
            // A change is always noticed.
            (its.changes as f64 - own.changes as f64) * 2.0,
            (self.sureness - other.sureness) / SURENESS,
            (self.percentile - other.percentile) / PERCENTILE,
            (f64::from(other.months) - f64::from(self.months)) / MONTHS,
            (accepting(self) - accepting(other)) / VERSIONS,
        ]
    }

    /// Whether it is noticeably better than another in something, and noticeably worse in nothing; or no worse at all
    /// and better in something, however little.
    pub(crate) fn dominates(&self, other: &Self) -> bool {
        let advantages = self.advantages(other);
        let noticeably = advantages.iter().all(|by| *by >= -1.0) && advantages.iter().any(|by| *by > 1.0);
        noticeably && !other.beats(self) || self.beats(other)
    }

    /// Whether it is no worse than another in anything and better in something.
    fn beats(&self, other: &Self) -> bool {
        let advantages = self.advantages(other);
        advantages.iter().all(|by| *by >= 0.0) && advantages.iter().any(|by| *by > 0.0)
    }

    /// Whether all versions of the classifier accept it, if there are any.
    fn is_lasting(&self) -> bool {
        self.accepting.is_some_and(Accepting::all)
    }

    /// Whether it leaves out a change of another.
    fn leaves_out_one_of(&self, other: &Self) -> bool {
        other.features.iter().any(|feature| !self.features.contains(feature))
    }

    /// How different its changes are from those of another: 1 if they share no feature.
    pub(crate) fn difference(&self, other: &Self) -> f64 {
        let shared = self.features.iter().filter(|feature| other.features.contains(feature)).count();
        let all = self.features.len() + other.features.len() - shared;
        1.0 - shared as f64 / all.max(1) as f64
    }
}

/// The offers found for one person.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    /// In the order in which they were found.
    offers: Vec<Offer>,
}

impl Offers {
    /// Adds an offer unless its row is known or another beats it. Returns whether it was added.
    pub(crate) fn add(&mut self, offer: Offer) -> bool {
        let is_no_better =
            |known: &Offer| known.solution.row.choices == offer.solution.row.choices || known.beats(&offer);
        if self.offers.iter().any(is_no_better) {
            return false;
        }
        self.offers.push(offer);
        true
    }

    /// The offers to show, at most `count`: the first one found, and then each that leaves out a change of every one
    /// before it, or is the first that all versions of the classifier accept, and that nothing found beats and nothing
    /// shown dominates. Of several, the one with the most `worth` comes next; of equals, the one found first. The last
    /// place is for one that all versions accept, if none before it is.
    pub(crate) fn shown(&self, count: usize, worth: impl Fn(&Offer) -> f64) -> Vec<&Offer> {
        let mut shown: Vec<&Offer> = self.offers.first().into_iter().collect();
        while shown.len() < count {
            let none_lasts = !shown.iter().any(|before| before.is_lasting());
            let is_another = |offer: &&Offer| {
                shown.iter().all(|before| {
                    let is_other = offer.leaves_out_one_of(before) || none_lasts && offer.is_lasting();
                    is_other && !before.dominates(offer) && !offer.dominates(before)
                }) && !self.offers.iter().any(|other| other.beats(offer))
            };
            let others: Vec<&Offer> = self.offers.iter().filter(is_another).collect();
            let is_last_place = shown.len() + 1 == count && none_lasts;
            let lasts = others.iter().any(|offer| offer.is_lasting());
            let fits = |offer: &&Offer| !(is_last_place && lasts) || offer.is_lasting();
            let others = others.into_iter().filter(fits);
            let next = others.reduce(|best, next| if worth(next) > worth(best) { next } else { best });
            let Some(next) = next else { break };
            shown.push(next);
        }
        shown
    }

    /// The surest score of any offer, of all that it must withstand.
    pub(crate) fn surest(&self, scale: ScoreScale) -> Option<f64> {
        let sureness = |offer: &Offer| scale.sureness(offer.withstood);
        let surest = self.offers.iter().max_by(|a, b| sureness(a).total_cmp(&sureness(b)));
        surest.map(|offer| offer.withstood)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Cost, Row};

    fn offer(features: &[usize], effort: f64, probability: f64, percentile: f64, months: u32) -> Offer {
        let choices = (0..6).map(|feature| u16::from(features.contains(&feature))).collect();
        let row = Row { choices, codes: Vec::new(), is_settled: true, duration: 0 };
        let changes = features.len();
        let cost = Cost { effort, rarity: 0.0 };
        let solution = Solution { row, log_prob: percentile, cost, worth: -effort, changes };
        Offer {
            solution,
            probability,
            sureness: probability,
            withstood: probability,
            accepting: None,
            conditional: percentile,
            percentile,
            months,
            features: features.to_vec(),
            solves: Solves::LeastEffort,
            gap: None,
            without: Vec::new(),
        }
    }

    fn shown(offers: &[Offer], count: usize) -> Vec<Vec<usize>> {
        let mut all = Offers::default();
        offers.iter().for_each(|offer| {
            all.add(offer.clone());
        });
        let worth = |offer: &Offer| -offer.solution.cost.effort;
        all.shown(count, worth).into_iter().map(|offer| offer.features.clone()).collect()
    }

    #[test]
    fn a_dominated_offer_is_not_shown() {
        let first = offer(&[0, 1], 2.0, 0.70, 0.5, 6);
        for worse in [
            offer(&[2, 3], 2.0, 0.60, 0.5, 6),
            offer(&[2, 3], 2.0, 0.70, 0.4, 6),
            offer(&[2, 3], 3.0, 0.70, 0.5, 6),
            offer(&[2, 3], 2.0, 0.70, 0.5, 8),
            offer(&[2, 3, 4], 2.0, 0.70, 0.5, 6),
            offer(&[2, 3], 3.0, 0.705, 0.52, 6),
        ] {
            assert_eq!(shown(&[first.clone(), worse.clone()], 2), [[0, 1]], "{worse:?}");
        }
        for better in [
            offer(&[2], 2.5, 0.70, 0.5, 6),
            offer(&[2, 3], 2.5, 0.80, 0.5, 6),
            offer(&[2, 3], 2.5, 0.70, 0.6, 6),
            offer(&[2, 3], 2.5, 0.70, 0.5, 3),
        ] {
            assert_eq!(shown(&[first.clone(), better.clone()], 2).len(), 2, "{better:?}");
        }
        let equal = shown(&[first, offer(&[2, 3], 2.0, 0.70, 0.5, 6)], 2);
        assert_eq!(equal, [[0, 1], [2, 3]], "equals are both shown, as they were found");
    }

    #[test]
    fn dominance_is_never_mutual() {
        let values = |place: usize, most: usize| place % most;
        for seed in 0..500_usize {
            let at = |salt: usize| {
                let features: Vec<usize> = (0..1 + values(seed * 7 + salt, 3)).collect();
                let effort = 1.0 + 0.03 * values(seed * 13 + salt * 5, 7) as f64;
                let probability = 0.6 + 0.006 * values(seed * 17 + salt * 3, 5) as f64;
                let percentile = 0.3 + 0.03 * values(seed * 19 + salt * 11, 5) as f64;
                offer(&features, effort, probability, percentile, values(seed + salt, 3) as u32)
            };
            let (one, other) = (at(1), at(2));
            assert!(!(one.dominates(&other) && other.dominates(&one)), "{one:?} {other:?}");
        }
    }

    #[test]
    fn every_further_offer_leaves_out_a_change_of_each_before_it() {
        let offers = [
            offer(&[0], 1.0, 0.6, 0.5, 0),
            offer(&[0, 1], 2.0, 0.7, 0.6, 0),
            offer(&[1, 2], 3.0, 0.8, 0.7, 0),
        ];
        assert_eq!(shown(&offers, 3), [vec![0], vec![1, 2]]);
    }

    #[test]
    fn the_difference_of_two_ways_is_the_share_of_features_that_only_one_changes() {
        let of = |features: &[usize]| offer(features, 1.0, 0.6, 0.5, 0);
        assert_eq!(of(&[0, 1]).difference(&of(&[2])), 1.0);
        assert_eq!(of(&[0, 1]).difference(&of(&[1])), 0.5);
        assert_eq!(of(&[0]).difference(&of(&[0])), 0.0);
    }
}
