//! Selects and orders the ways to show.

use crate::problem::{Candidate, Frontier};

/// A candidate that could be shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offer {
    pub(crate) candidate: Candidate,
    /// The probability of acceptance of the row as written.
    pub(crate) probability: f64,
    /// The features that it changes, ascending.
    pub(crate) features: Vec<usize>,
    /// As [`crate::Way::gap`], among rows that change no set in `without` completely.
    pub(crate) gap: Option<f64>,
    pub(crate) without: Vec<Vec<usize>>,
}

impl Offer {
    /// Whether it has fewer changes and at least the probability of another.
    fn beats(&self, other: &Self) -> bool {
        self.candidate.changes < other.candidate.changes && self.probability >= other.probability
    }

    /// Whether it is no worse than another in changes, probability and likelihood, and better in one of them.
    fn dominates(&self, other: &Self) -> bool {
        let (own, its) = (&self.candidate, &other.candidate);
        let is_no_worse = own.changes <= its.changes
            && self.probability >= other.probability
            && own.log_prob >= its.log_prob;
        let is_better =
            own.changes < its.changes || self.probability > other.probability || own.log_prob > its.log_prob;
        is_no_worse && is_better
    }

    /// Whether it leaves out a change of another.
    fn leaves_out_one_of(&self, other: &Self) -> bool {
        other.features.iter().any(|feature| !self.features.contains(feature))
    }
}

/// The offers found for one person that no other dominates.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    /// In the order in which they were found.
    offers: Vec<Offer>,
}

impl Offers {
    /// Adds an offer unless a known one dominates it, and removes those it dominates. Returns whether it was added.
    pub(crate) fn add(&mut self, offer: Offer) -> bool {
        let is_no_worse =
            |known: &Offer| known.candidate.row == offer.candidate.row || known.dominates(&offer);
        if self.offers.iter().any(is_no_worse) {
            return false;
        }
        self.offers.retain(|known| !offer.dominates(known));
        self.offers.push(offer);
        true
    }

    /// The offers to show, at most `count`. No offer beats the first; each further one leaves out a change of every one
    /// before it. Of several, the one that is worth most comes next, where every change costs `price` nats; of equals,
    /// the one found first.
    pub(crate) fn shown(&self, price: f64, count: usize) -> Vec<&Offer> {
        let is_unbeaten = |offer: &&Offer| !self.offers.iter().any(|other| other.beats(offer));
        let mut shown: Vec<&Offer> =
            most_worth(self.offers.iter().filter(is_unbeaten), price).into_iter().collect();
        while shown.len() < count {
            let is_another = |offer: &&Offer| shown.iter().all(|before| offer.leaves_out_one_of(before));
            let Some(next) = most_worth(self.offers.iter().filter(is_another), price) else { break };
            shown.push(next);
        }
        shown
    }

    /// The highest probability of any offer.
    pub(crate) fn surest(&self) -> f64 {
        self.offers.iter().map(|offer| offer.probability).fold(0.0, f64::max)
    }

    /// The likeliest offers, by number of changes.
    pub(crate) fn frontier(&self) -> Vec<&Offer> {
        let mut frontier = Frontier::default();
        self.offers.iter().for_each(|offer| {
            frontier.add(offer.candidate.clone());
        });
        let of =
            |candidate: &Candidate| self.offers.iter().find(|offer| offer.candidate.row == candidate.row);
        frontier.candidates().iter().filter_map(of).collect()
    }
}

fn most_worth<'a>(offers: impl Iterator<Item = &'a Offer>, price: f64) -> Option<&'a Offer> {
    offers.reduce(
        |best, next| {
            if next.candidate.worth(price) > best.candidate.worth(price) { next } else { best }
        },
    )
}

#[cfg(test)]
mod tests {
    use par_circuit::Code;

    use super::*;

    fn offer(features: &[usize], probability: f64, log_prob: f64) -> Offer {
        let row = (0..6).map(|feature| Code::from(features.contains(&feature))).collect();
        Offer {
            candidate: Candidate { row, log_prob, changes: features.len() },
            probability,
            features: features.to_vec(),
            gap: None,
            without: Vec::new(),
        }
    }

    fn shown(offers: &[Offer], count: usize) -> Vec<Vec<usize>> {
        let mut all = Offers::default();
        offers.iter().for_each(|offer| {
            all.add(offer.clone());
        });
        all.shown(1.0, count).into_iter().map(|offer| offer.features.clone()).collect()
    }

    #[test]
    fn no_offer_beats_the_first_in_changes_and_probability() {
        let likeliest = offer(&[0, 1, 2], 0.6, -5.0);
        assert_eq!(shown(&[likeliest.clone(), offer(&[3], 0.7, -9.0)], 1), [[3]]);
        assert_eq!(
            shown(&[likeliest.clone(), offer(&[3], 0.6, -9.0)], 1),
            [[3]],
            "as sure with fewer changes"
        );
        assert_eq!(shown(&[likeliest.clone(), offer(&[3], 0.5, -9.0)], 1), [[0, 1, 2]], "not as sure");
        let both = shown(&[likeliest, offer(&[3], 0.7, -9.0)], 2);
        assert_eq!(both, [vec![3], vec![0, 1, 2]], "the likeliest comes after it");
    }

    #[test]
    fn a_dominated_offer_is_not_shown() {
        let first = offer(&[0, 1], 0.7, -5.0);
        for worse in [
            offer(&[2, 3], 0.6, -6.0),
            offer(&[2, 3], 0.7, -6.0),
            offer(&[2, 3], 0.6, -5.0),
            offer(&[2, 3, 4], 0.7, -5.0),
        ] {
            assert_eq!(shown(&[first.clone(), worse.clone()], 2), [[0, 1]]);
            assert_eq!(shown(&[worse, first.clone()], 2), [[0, 1]], "whatever was found first");
        }
        for better in [offer(&[2], 0.6, -6.0), offer(&[2, 3], 0.8, -6.0), offer(&[2, 3, 4], 0.6, -4.0)] {
            assert_eq!(shown(&[first.clone(), better], 2).len(), 2);
        }
        let equal = shown(&[first, offer(&[2, 3], 0.7, -5.0)], 2);
        assert_eq!(equal, [[0, 1], [2, 3]], "equals are both shown, as they were found");
    }

    #[test]
    fn every_further_offer_leaves_out_a_change_of_each_before_it() {
        let offers = [offer(&[0], 0.6, -5.0), offer(&[0, 1], 0.7, -4.5), offer(&[1, 2], 0.8, -9.0)];
        assert_eq!(shown(&offers, 3), [vec![0], vec![1, 2]]);
    }
}
