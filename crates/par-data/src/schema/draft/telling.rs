//! How well one column tells the label.

/// Bins of a column with many values.
const BINS: usize = 50;

/// The area under the ROC curve (from 0.5 to 1) of the best rule found that sees the column alone: by the order
/// of its values, or by their rates of `wanted` in other rows.
///
/// `codes` are the values in their order; rows whose label is missing are `None`.
pub(super) fn telling(codes: &[usize], wanted: &[Option<bool>]) -> f64 {
    let rows: Vec<(usize, bool)> =
        codes.iter().zip(wanted).filter_map(|(code, wanted)| wanted.map(|wanted| (*code, wanted))).collect();
    let by_order = area(rows.iter().map(|(code, wanted)| (*code as f64, *wanted)).collect());
    let binned = binned(&rows);
    let bins = binned.iter().map(|(bin, _)| bin + 1).max().unwrap_or(0);
    // Rates of the even rows judge the odd ones, and the reverse: a rate of a few rows tells nothing of others.
    let halves = [0, 1].map(|half| {
        let mut counts = vec![[0u32; 2]; bins];
        for (bin, wanted) in binned.iter().skip(1 - half).step_by(2) {
            counts[*bin][usize::from(*wanted)] += 1;
        }
        let rate = |bin: usize| {
            (f64::from(counts[bin][1]) + 0.5) / (f64::from(counts[bin][0] + counts[bin][1]) + 1.0)
        };
        area(binned.iter().skip(half).step_by(2).map(|(bin, wanted)| (rate(*bin), *wanted)).collect())
    });
    by_order.max(1.0 - by_order).max(f64::midpoint(halves[0], halves[1]))
}

/// Codes in order, joined to at most about [`BINS`] bins of about as many rows where there are more.
fn binned(rows: &[(usize, bool)]) -> Vec<(usize, bool)> {
    let codes = rows.iter().map(|(code, _)| code + 1).max().unwrap_or(0);
    if codes <= 4 * BINS {
        return rows.to_vec();
    }
    let mut counts = vec![0usize; codes];
    rows.iter().for_each(|(code, _)| counts[*code] += 1);
    let mut before = 0;
    let bins: Vec<usize> = counts
        .iter()
        .map(|count| {
            before += count;
            (before - count) * BINS / rows.len()
        })
        .collect();
    rows.iter().map(|(code, wanted)| (bins[*code], *wanted)).collect()
}

/// The share of pairs, one row of each class, in which the wanted row has the higher score; ties count half.
fn area(mut scored: Vec<(f64, bool)>) -> f64 {
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut won, mut unwanted, mut wanted) = (0.0, 0.0, 0.0);
    for tied in scored.chunk_by(|a, b| a.0 == b.0) {
        let yes = tied.iter().filter(|(_, wanted)| *wanted).count() as f64;
        let no = tied.len() as f64 - yes;
        won += yes * (unwanted + no / 2.0);
        wanted += yes;
        unwanted += no;
    }
    if wanted == 0.0 || unwanted == 0.0 { 0.5 } else { won / (wanted * unwanted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decided by the rows' numbers.
    fn told(rows: usize, code: impl Fn(usize) -> usize, wanted: impl Fn(usize) -> bool) -> f64 {
        let codes: Vec<usize> = (0..rows).map(code).collect();
        let wanted: Vec<Option<bool>> = (0..rows).map(|row| Some(wanted(row))).collect();
        telling(&codes, &wanted)
    }

    #[test]
    fn a_column_that_decides_is_told_from_one_that_does_not() {
        assert_eq!(told(200, |row| row / 100, |row| row >= 100), 1.0);
        assert_eq!(told(200, |row| row / 100, |row| row < 100), 1.0);
        // Neither high nor low, but the middle.
        assert_eq!(told(300, |row| row % 3, |row| row % 3 == 1), 1.0);
        let scrambled = |row: usize| row * 2_654_435_761 % 1009;
        assert!(told(1000, scrambled, |row| row % 7 < 3) < 0.6);
        // An id is different in every row, and tells nothing of others.
        assert!(told(1000, |row| row, |row| scrambled(row) % 2 == 0) < 0.6);
        assert_eq!(telling(&[0, 1], &[None, None]), 0.5);
    }
}
