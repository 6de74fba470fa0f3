//! How well scores tell accepted rows from denied ones.

/// The threshold among 0.01, 0.02, … 0.99 that maximizes Youden's J, the share of accepted rows that
/// reach it less the share of denied rows that do; the lowest of several. 0.5 unless there are rows of
/// both classes.
///
/// # Paper
/// The threshold sweep of the appendix on gmsc.
///
/// # Panics
/// Unless there are as many scores as labels.
pub fn youden_threshold(scores: &[f64], accepted: &[bool]) -> f64 {
    assert_eq!(scores.len(), accepted.len(), "one score a row");
    let positives = accepted.iter().filter(|accepted| **accepted).count();
    let negatives = accepted.len() - positives;
    if positives == 0 || negatives == 0 {
        return 0.5;
    }
    let (mut best, mut highest) = (0.5, f64::NEG_INFINITY);
    for threshold in (1..100).map(|step| f64::from(step) / 100.0) {
        let mut reaching = [0_usize; 2];
        for (&score, &accepted) in scores.iter().zip(accepted) {
            reaching[usize::from(accepted)] += usize::from(score >= threshold);
        }
        let youden = reaching[1] as f64 / positives as f64 - reaching[0] as f64 / negatives as f64;
        if youden > highest {
            (best, highest) = (threshold, youden);
        }
    }
    best
}

/// The chance that an accepted row scores higher than a denied one, ties counting half: the area under
/// the ROC curve. `None` unless there are rows of both classes.
///
/// # Panics
/// Unless there are as many scores as labels.
pub fn auc(scores: &[f64], accepted: &[bool]) -> Option<f64> {
    assert_eq!(scores.len(), accepted.len(), "one score a row");
    let mut rows: Vec<(f64, bool)> = scores.iter().copied().zip(accepted.iter().copied()).collect();
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut wins, mut positives, mut negatives) = (0.0, 0.0, 0.0);
    for ties in rows.chunk_by(|a, b| a.0 == b.0) {
        let tied = ties.iter().filter(|row| row.1).count() as f64;
        let others = ties.len() as f64 - tied;
        wins += tied * (negatives + 0.5 * others);
        positives += tied;
        negatives += others;
    }
    (positives > 0.0 && negatives > 0.0).then(|| wins / (positives * negatives))
}

/// The share of rows on the right side of the threshold; `None` without rows.
///
/// # Panics
/// Unless there are as many scores as labels.
pub fn accuracy(scores: &[f64], accepted: &[bool], threshold: f64) -> Option<f64> {
    assert_eq!(scores.len(), accepted.len(), "one score a row");
    let right =
        scores.iter().zip(accepted).filter(|(score, accepted)| (**score >= threshold) == **accepted).count();
    (!scores.is_empty()).then(|| right as f64 / scores.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn youden_takes_the_lowest_threshold_that_tells_the_classes_apart_best() {
        let scores = [0.02, 0.055, 0.07, 0.2, 0.31];
        let accepted = [false, false, true, false, true];
        // Reaching 0.06: both accepted rows and one of the three denied ones.
        assert_eq!(youden_threshold(&scores, &accepted), 0.06);
        assert_eq!(youden_threshold(&[0.2, 0.3], &[false, true]), 0.21);
        assert_eq!(youden_threshold(&[0.2, 0.3], &[true, true]), 0.5);
    }

    #[test]
    fn auc_counts_the_pairs_in_order_and_ties_by_half() {
        let scores = [0.1, 0.4, 0.4, 0.8];
        // Of the four pairs, three are in order and one is tied.
        assert_eq!(auc(&scores, &[false, false, true, true]), Some(0.875));
        assert_eq!(auc(&scores, &[true, true, false, false]), Some(0.125));
        assert_eq!(auc(&[0.3; 4], &[false, false, true, true]), Some(0.5));
        assert_eq!(auc(&scores, &[true; 4]), None);
        assert_eq!(auc(&[], &[]), None);
    }

    #[test]
    fn accuracy_counts_a_score_at_the_threshold_as_accepted() {
        assert_eq!(accuracy(&[0.4, 0.5, 0.6, 0.7], &[false, true, true, false], 0.5), Some(0.75));
        assert_eq!(accuracy(&[], &[], 0.5), None);
    }
}
