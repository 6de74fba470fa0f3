//! An answer that was found with a surrogate, as the classifier itself judges it.

use crate::answer::{Answer, BestAt, Found, NotFound, Reason, Way};

/// From which scores on a row is accepted, and has the margin.
#[derive(Clone, Copy, Debug)]
pub struct Bar {
    /// The threshold.
    pub threshold: f64,
    /// The threshold with the margin.
    pub sure: f64,
}

impl Answer {
    /// The rows of cells that the classifier has to score for [`Answer::judged`]: the row as it is, then each way and the
    /// row with each of its changes alone.
    pub fn rows_to_judge(&self, cells: &[&str]) -> Vec<Vec<String>> {
        let own: Vec<String> = cells.iter().map(ToString::to_string).collect();
        let mut rows = vec![own.clone()];
        for way in self.ways() {
            rows.push(way.cells.clone());
            rows.extend(way.changes.iter().map(|change| {
                let mut row = own.clone();
                row[change.feature].clone_from(&way.cells[change.feature]);
                row
            }));
        }
        rows
    }

    /// The answer with the classifier's own probabilities of [`Answer::rows_to_judge`], and at most `count` ways. Ways that
    /// it denies are left out, and so is what is about the surrogate: proofs, certificates, ranges, the plain way beside a
    /// lasting one, and points of the frontier that are no such way.
    ///
    /// # Panics
    /// Unless there is a score for every row.
    pub fn judged(self, bar: Bar, count: usize, scores: &[f64]) -> Self {
        let probability = scores[0];
        if probability >= bar.threshold {
            return Self::Accepted { probability, verified: true };
        }
        match self {
            Self::Found(mut found) => {
                let mut rest = &scores[1..];
                for way in &mut found.ways {
                    let (own, others) = rest.split_at(1 + way.changes.len());
                    way.judge(own, bar);
                    rest = others;
                }
                found.ways.retain(|way| way.probability >= bar.threshold);
                if found.ways.is_empty() {
                    return Self::NotFound(NotFound {
                        broken_policies: found.broken_policies,
                        unknown: found.unknown,
                        ..NotFound::unproved(probability)
                    });
                }
                (found.probability, found.verified, found.fewest_proved) = (probability, true, false);
                found.plain = None;
                found.arrange();
                found.ways.truncate(count);
                Self::Found(found)
            }
            Self::NotFound(not_found) => {
                let reason = match not_found.reason {
                    Reason::OutOfReach | Reason::OnlyUnusual => Reason::SearchEnded,
                    other => other,
                };
                Self::NotFound(NotFound { probability, reason, ..not_found })
            }
            Self::Accepted { .. } => Self::NotFound(NotFound::unproved(probability)),
        }
    }
}

impl Found {
    /// Puts the ways with the margin first, and compares all by their new scores.
    fn arrange(&mut self) {
        let Self { ways, frontier, .. } = self;
        ways.sort_by_key(|way| !way.has_margin);
        let surest = ways.iter().map(|way| way.probability).fold(0.0, f64::max);
        for way in &mut *ways {
            way.best_at.retain(|virtue| *virtue != BestAt::Surest);
            if way.probability >= surest {
                way.best_at.push(BestAt::Surest);
            }
        }
        frontier.retain_mut(|point| {
            let way = ways.iter().find(|way| way.row == point.row);
            way.inspect(|way| (point.probability, point.gap) = (way.probability, None)).is_some()
        });
    }
}

impl Way {
    /// Takes the scores of the way and of each change alone.
    fn judge(&mut self, scores: &[f64], bar: Bar) {
        self.probability = scores[0];
        self.has_margin = self.probability >= bar.sure;
        (self.gap, self.certified) = (None, None);
        for (change, &score) in self.changes.iter_mut().zip(&scores[1..]) {
            // With consequences the row with one change alone is not known.
            change.alone = change.alone.filter(|_| self.consequences.is_empty()).map(|_| score);
            (change.range, change.least) = (None, None);
        }
    }
}

impl NotFound {
    /// No way is known, and it is not proved that there is none.
    fn unproved(probability: f64) -> Self {
        Self {
            probability,
            broken_policies: Vec::new(),
            reason: Reason::SearchEnded,
            must_last: false,
            needs_changes: None,
            obstacles: Vec::new(),
            schema_obstacles: None,
            unusual: Vec::new(),
            search_ended: false,
            unknown: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAR: Bar = Bar { threshold: 0.5, sure: 0.55 };

    #[test]
    fn the_classifier_has_the_last_word_on_the_person() {
        let taken_for_accepted = || Answer::Accepted { probability: 0.6, verified: false };
        assert_eq!(taken_for_accepted().rows_to_judge(&["1", "a"]), [["1", "a"]]);
        let Answer::NotFound(denied) = taken_for_accepted().judged(BAR, 1, &[0.4]) else {
            panic!("the classifier denies the row")
        };
        assert_eq!((denied.probability, denied.reason), (0.4, Reason::SearchEnded));
        let accepted = Answer::NotFound(denied).judged(BAR, 1, &[0.5]);
        assert_eq!(accepted, Answer::Accepted { probability: 0.5, verified: true });
    }

    #[test]
    fn a_proof_about_the_surrogate_is_none_about_the_classifier() {
        let proved = NotFound { reason: Reason::OutOfReach, ..NotFound::unproved(0.1) };
        let Answer::NotFound(judged) = Answer::NotFound(proved).judged(BAR, 1, &[0.2]) else {
            panic!("the classifier denies the row")
        };
        assert_eq!((judged.probability, judged.reason), (0.2, Reason::SearchEnded));
    }
}
