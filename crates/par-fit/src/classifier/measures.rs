//! Measures of scores against labels.

/// The threshold among 0.01, 0.02, … 0.99 that maximizes Youden's J: the share of accepted rows that reach it minus the
/// share of denied rows that do. The lowest of several; 0.5 unless there are rows of both classes.
///
/// # Paper
/// The threshold sweep of the appendix on gmsc.
///
/// # Panics
/// Unless there are as many scores as labels.
pub fn youden_threshold(scores: &[f64], accepted: &[bool]) -> f64 {
    assert_eq!(scores.len(), accepted.len(), "one score per row");
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

/// The area under the ROC curve: the chance that an accepted row scores higher than a denied one, ties counting half.
/// `None` unless there are rows of both classes.
///
/// # Panics
/// Unless there are as many scores as labels.
pub fn auc(scores: &[f64], accepted: &[bool]) -> Option<f64> {
    assert_eq!(scores.len(), accepted.len(), "one score per row");
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

/// How many standard errors below one half an AUC must be to rule out chance.
const BEYOND_CHANCE: f64 = 3.0;

/// The AUC of scores that rank the classes the wrong way round: more than three standard errors below one half. `None`
/// for other scores, and unless there are rows of both classes.
///
/// # Panics
/// Unless there are as many scores as labels.
pub fn inverted_auc(scores: &[f64], accepted: &[bool]) -> Option<f64> {
    let auc = auc(scores, accepted)?;
    let positives = accepted.iter().filter(|accepted| **accepted).count() as f64;
    let negatives = accepted.len() as f64 - positives;
    // The standard error of the Mann–Whitney statistic under independence; ties only lower it.
    let standard_error = ((positives + negatives + 1.0) / (12.0 * positives * negatives)).sqrt();
    (auc + BEYOND_CHANCE * standard_error < 0.5).then_some(auc)
}

/// The share of rows on the right side of the threshold; `None` without rows.
///
/// # Panics
/// Unless there are as many scores as labels.
pub fn accuracy(scores: &[f64], accepted: &[bool], threshold: f64) -> Option<f64> {
    assert_eq!(scores.len(), accepted.len(), "one score per row");
    let right =
        scores.iter().zip(accepted).filter(|(score, accepted)| (**score >= threshold) == **accepted).count();
    (!scores.is_empty()).then(|| right as f64 / scores.len() as f64)
}

/// R²: the share of the variance of numbers that predictions explain; `None` if all are the same.
///
/// # Panics
/// Unless there are as many predictions as numbers.
pub fn r_squared(predicted: &[f64], numbers: &[f64]) -> Option<f64> {
    assert_eq!(predicted.len(), numbers.len(), "one prediction per number");
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let total: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    let left: f64 = predicted.iter().zip(numbers).map(|(own, number)| (own - number).powi(2)).sum();
    (total > 0.0).then(|| 1.0 - left / total)
}

/// The Brier score: the mean squared difference of the score from 1 for accepted rows and from 0 for denied ones.
/// `None` without rows.
///
/// # Panics
/// Unless there are as many scores as labels.
pub fn brier(scores: &[f64], accepted: &[bool]) -> Option<f64> {
    assert_eq!(scores.len(), accepted.len(), "one score per row");
    let squares = scores.iter().zip(accepted).map(|(score, accepted)| (score - truth(*accepted)).powi(2));
    (!scores.is_empty()).then(|| squares.sum::<f64>() / scores.len() as f64)
}

/// Rows with similar scores: their mean score, and the share that is accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationBin {
    /// The number of rows.
    pub rows: usize,
    /// Their mean score; `None` without rows.
    pub predicted: Option<f64>,
    /// The share of them that is accepted; `None` without rows.
    pub observed: Option<f64>,
}

/// The calibration curve: rows in `bins` bins of equal width by their score, a score of 1 in the last.
///
/// # Panics
/// Unless there are as many scores as labels, each from 0 to 1, and at least one bin.
pub fn calibration(scores: &[f64], accepted: &[bool], bins: usize) -> Vec<CalibrationBin> {
    assert_eq!(scores.len(), accepted.len(), "one score per row");
    assert!(bins > 0, "at least one bin");
    let mut sums = vec![(0_usize, 0.0, 0.0); bins];
    for (&score, &accepted) in scores.iter().zip(accepted) {
        assert!((0.0..=1.0).contains(&score), "a score is a probability");
        let (rows, predicted, observed) = &mut sums[((score * bins as f64) as usize).min(bins - 1)];
        *rows += 1;
        *predicted += score;
        *observed += truth(accepted);
    }
    let mean = |sum: f64, rows: usize| (rows > 0).then(|| sum / rows as f64);
    let bin = |(rows, predicted, observed)| CalibrationBin {
        rows,
        predicted: mean(predicted, rows),
        observed: mean(observed, rows),
    };
    sums.into_iter().map(bin).collect()
}

/// The expected calibration error: the mean over rows of |predicted − observed| in their bin. `None` without rows.
pub fn calibration_error(curve: &[CalibrationBin]) -> Option<f64> {
    let rows: usize = curve.iter().map(|bin| bin.rows).sum();
    let differences =
        curve.iter().filter_map(|bin| Some(bin.rows as f64 * (bin.predicted? - bin.observed?).abs()));
    (rows > 0).then(|| differences.sum::<f64>() / rows as f64)
}

fn truth(accepted: bool) -> f64 {
    f64::from(u8::from(accepted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_squared_is_one_for_the_numbers_and_zero_for_their_mean() {
        let numbers = [1.0, 2.0, 6.0];
        assert_eq!(r_squared(&numbers, &numbers), Some(1.0));
        assert_eq!(r_squared(&[3.0; 3], &numbers), Some(0.0));
        assert_eq!(r_squared(&[3.0; 2], &[5.0; 2]), None);
    }

    #[test]
    fn youden_takes_the_lowest_threshold_that_tells_the_classes_apart_best() {
        let scores = [0.02, 0.055, 0.07, 0.2, 0.31];
        let accepted = [false, false, true, false, true];
        // Both accepted rows and one of the three denied ones reach 0.06.
        assert_eq!(youden_threshold(&scores, &accepted), 0.06);
        assert_eq!(youden_threshold(&[0.2, 0.3], &[false, true]), 0.21);
        assert_eq!(youden_threshold(&[0.2, 0.3], &[true, true]), 0.5);
    }

    #[test]
    fn only_scores_that_are_worse_than_chance_are_inverted() {
        let rows = |count: usize| (0..count).map(|row| row % 2 == 0).collect::<Vec<bool>>();
        let scores = |accepted: &[bool], right: f64, wrong: f64| -> Vec<f64> {
            accepted.iter().map(|&accepted| if accepted { wrong } else { right }).collect()
        };
        let many = rows(100);
        assert_eq!(inverted_auc(&scores(&many, 0.9, 0.1), &many), Some(0.0));
        assert_eq!(inverted_auc(&scores(&many, 0.1, 0.9), &many), None);
        assert_eq!(inverted_auc(&scores(&many, 0.5, 0.5), &many), None);
        // So few rows can all be the wrong way round by chance.
        let few = rows(12);
        assert_eq!(inverted_auc(&scores(&few, 0.9, 0.1), &few), None);
        // An AUC somewhat below one half is within chance for 100 rows, but not for 10,000.
        let below = |row: usize| (row * 7919 % 1000) as f64 - if row.is_multiple_of(2) { 60.0 } else { 0.0 };
        for (count, is_inverted) in [(100, false), (10_000, true)] {
            let scores: Vec<f64> = (0..count).map(below).collect();
            assert!(auc(&scores, &rows(count)).is_some_and(|auc| auc < 0.47));
            assert_eq!(inverted_auc(&scores, &rows(count)).is_some(), is_inverted);
        }
        assert_eq!(inverted_auc(&[0.1, 0.2], &[true, true]), None);
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

    #[test]
    fn brier_is_the_mean_squared_error() {
        assert_eq!(brier(&[0.5, 1.0, 0.25], &[true, true, false]), Some((0.25 + 0.0 + 0.0625) / 3.0));
        assert_eq!(brier(&[], &[]), None);
    }

    #[test]
    fn calibration_compares_scores_with_shares_bin_by_bin() {
        let scores = [0.0, 0.25, 0.5, 0.75, 1.0];
        let accepted = [false, true, true, true, false];
        let curve = calibration(&scores, &accepted, 2);
        // Half is the lower end of the second bin.
        assert_eq!(
            curve,
            [
                CalibrationBin { rows: 2, predicted: Some(0.125), observed: Some(0.5) },
                CalibrationBin { rows: 3, predicted: Some(0.75), observed: Some(2.0 / 3.0) },
            ]
        );
        let expected = (2.0 * 0.375 + 3.0 * (0.75 - 2.0 / 3.0)) / 5.0;
        assert_eq!(calibration_error(&curve), Some(expected));

        let one = calibration(&[0.95], &[true], 10);
        assert_eq!(one[8], CalibrationBin { rows: 0, predicted: None, observed: None });
        assert_eq!(calibration_error(&one), Some(1.0 - 0.95));
        assert_eq!(calibration_error(&calibration(&[], &[], 10)), None);
    }
}
