//! One person's search problem: the rows they may become, the target, and the budget.

use par_circuit::{Ball, Code};
use par_data::Mask;
use par_model::Target;

/// The constraints of a search for one person.
///
/// # Paper
/// The constraints of Eq. (1) and (2): f(x) = 1 and x ∈ F(x⁻).
#[derive(Clone, Copy)]
pub(crate) struct SearchProblem<'a> {
    pub(crate) mask: &'a Mask<'a>,
    pub(crate) target: Target<'a>,
    /// The most features that may change.
    pub(crate) budget: usize,
    /// Sets of features, ascending; of each at least one must stay. They are the changes of ways already taken.
    pub(crate) taken: &'a [Vec<usize>],
}

impl SearchProblem<'_> {
    pub(crate) fn factual(&self) -> &[Code] {
        self.mask.factual()
    }

    /// Whether the row may be offered, if the classifier accepts it.
    pub(crate) fn permits(&self, row: &[Code]) -> bool {
        self.changes(row) <= self.budget
            && self.mask.is_legal(row)
            && !self
                .taken
                .iter()
                .any(|set| set.iter().all(|&feature| row[feature] != self.factual()[feature]))
    }

    /// How many features differ from the factual.
    pub(crate) fn changes(&self, row: &[Code]) -> usize {
        row.iter().zip(self.factual()).filter(|(code, own)| code != own).count()
    }

    /// All rows within the mask and the budget, ignoring rules and taken sets.
    pub(crate) fn ball(&self) -> Ball {
        let width = self.factual().len();
        let cardinalities: Vec<usize> = (0..width).map(|feature| self.mask.legal(feature).len()).collect();
        let mut ball = Ball::new(&cardinalities, self.factual().to_vec(), self.budget);
        for feature in 0..width {
            ball.offer(feature, &self.mask.codes(feature).collect::<Vec<_>>());
        }
        ball
    }
}

/// A row that reaches the target and may be offered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) row: Vec<Code>,
    /// log p⁺ of the row.
    pub(crate) log_prob: f64,
    pub(crate) changes: usize,
}

impl Candidate {
    /// Its log-likelihood minus `price` nats for every change.
    pub(crate) fn worth(&self, price: f64) -> f64 {
        self.log_prob - price * self.changes as f64
    }
}

/// The likeliest candidates found, by number of changes: each likelier than those with fewer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frontier {
    /// By number of changes, ascending.
    candidates: Vec<Candidate>,
}

impl Frontier {
    /// The log-likelihood of the likeliest candidate with at most `changes` changes; −∞ without any.
    pub(crate) fn at_most(&self, changes: usize) -> f64 {
        let within = self.candidates.iter().take_while(|candidate| candidate.changes <= changes);
        within.last().map_or(f64::NEG_INFINITY, |candidate| candidate.log_prob)
    }

    /// Adds a candidate if it is likelier than all with at most as many changes, and removes those it surpasses.
    /// Returns whether it was added.
    pub(crate) fn add(&mut self, candidate: Candidate) -> bool {
        if candidate.log_prob <= self.at_most(candidate.changes) {
            return false;
        }
        self.candidates
            .retain(|known| known.changes < candidate.changes || known.log_prob > candidate.log_prob);
        let place = self.candidates.partition_point(|known| known.changes < candidate.changes);
        self.candidates.insert(place, candidate);
        true
    }

    /// Keeps the candidates that pass.
    pub(crate) fn retain(&mut self, passes: impl FnMut(&Candidate) -> bool) {
        self.candidates.retain(passes);
    }

    /// Keeps the candidates with at most `changes` changes.
    pub(crate) fn up_to(mut self, changes: usize) -> Self {
        self.candidates.retain(|candidate| candidate.changes <= changes);
        self
    }

    /// The fewest changes of any candidate.
    pub(crate) fn fewest(&self) -> Option<usize> {
        self.candidates.first().map(|candidate| candidate.changes)
    }

    /// By number of changes, ascending.
    pub(crate) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The candidate to offer if every further change must make the row likelier by `price` nats.
    pub(crate) fn choice(&self, price: f64) -> Option<&Candidate> {
        // Of equals the first, which has the fewest changes.
        self.candidates
            .iter()
            .reduce(|best, next| if next.worth(price) > best.worth(price) { next } else { best })
    }

    /// The candidates worth at most `less` nats less than the one to offer, the fewest changes first.
    pub(crate) fn near(&self, price: f64, less: f64) -> impl Iterator<Item = &Candidate> {
        let best = self.choice(price).map_or(f64::INFINITY, |best| best.worth(price));
        self.candidates.iter().filter(move |candidate| candidate.worth(price) >= best - less)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(changes: usize, log_prob: f64) -> Candidate {
        Candidate { row: Vec::new(), log_prob, changes }
    }

    #[test]
    fn more_changes_stay_on_the_frontier_only_if_they_are_likelier() {
        let mut frontier = Frontier::default();
        assert!(frontier.add(candidate(3, -9.0)));
        assert!(frontier.add(candidate(1, -12.0)));
        assert!(!frontier.add(candidate(3, -9.5)), "less likely with as many changes");
        assert!(!frontier.add(candidate(4, -9.0)), "no likelier with more changes");
        assert!(frontier.add(candidate(2, -8.0)));
        let kept: Vec<_> = frontier.candidates().iter().map(|c| (c.changes, c.log_prob)).collect();
        assert_eq!(kept, [(1, -12.0), (2, -8.0)]);
        assert_eq!(
            [0, 1, 2, 9].map(|changes| frontier.at_most(changes)),
            [f64::NEG_INFINITY, -12.0, -8.0, -8.0]
        );
    }

    #[test]
    fn a_further_change_has_to_be_worth_its_price() {
        let mut frontier = Frontier::default();
        assert!(frontier.choice(1.0).is_none());
        for (changes, log_prob) in [(1, -12.0), (2, -10.0), (3, -9.5)] {
            frontier.add(candidate(changes, log_prob));
        }
        let chosen = |price| frontier.choice(price).map(|candidate| candidate.changes);
        assert_eq!([0.0, 1.0, 2.0, 3.0].map(chosen), [Some(3), Some(2), Some(1), Some(1)]);
    }
}
