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
    let by_order = roc_area(&counts(rows.iter()));
    let binned = binned(&rows);
    // Rates of the even rows judge the odd ones, and the reverse: a rate of a few rows tells nothing of others.
    let halves = [0, 1].map(|half| {
        let learned = counts(binned.iter().skip(1 - half).step_by(2));
        let rate = |bin: usize| {
            let [unwanted, wanted] =
                learned.get(bin).map_or([0.0; 2], |counts| counts.map(|count| count as f64));
            (wanted + 0.5) / (unwanted + wanted + 1.0)
        };
        let judged = counts(binned.iter().skip(half).step_by(2));
        let mut by_rate: Vec<(f64, [u64; 2])> =
            judged.into_iter().enumerate().map(|(bin, counts)| (rate(bin), counts)).collect();
        by_rate.sort_by(|a, b| a.0.total_cmp(&b.0));
        let tied = by_rate.chunk_by(|a, b| a.0 == b.0).map(|tied| {
            tied.iter().fold([0, 0], |[no, yes], (_, [more_no, more_yes])| [no + more_no, yes + more_yes])
        });
        roc_area(&tied.collect::<Vec<_>>())
    });
    by_order.max(1.0 - by_order).max(f64::midpoint(halves[0], halves[1]))
}

/// Unwanted and wanted rows of each code.
fn counts<'a>(rows: impl Iterator<Item = &'a (usize, bool)>) -> Vec<[u64; 2]> {
    let mut counts = Vec::new();
    for (code, wanted) in rows {
        if counts.len() <= *code {
            counts.resize(code + 1, [0, 0]);
        }
        counts[*code][usize::from(*wanted)] += 1;
    }
    counts
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

/// The area under the ROC curve of a score: of all pairs of an unwanted and a wanted row, the share in which the
/// wanted one has the higher score; ties count half. `groups` are the unwanted and wanted rows of each score,
/// ascending; without rows of both kinds the area is one half.
///
/// ```
/// use par_data::schema::roc_area;
///
/// assert_eq!(roc_area(&[[3, 0], [0, 2]]), 1.0);
/// assert_eq!(roc_area(&[[1, 1]]), 0.5);
/// ```
pub fn roc_area(groups: &[[u64; 2]]) -> f64 {
    let (mut won, mut unwanted, mut wanted) = (0.0, 0.0, 0.0);
    for [no, yes] in groups.iter().map(|counts| counts.map(|count| count as f64)) {
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
        let scrambled = |row: usize| {
            let mixed = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as usize
        };
        assert!(told(1000, scrambled, |row| row % 7 < 3) < 0.6);
        // An id is different in every row, and tells nothing of others.
        assert!(told(1000, |row| row, |row| scrambled(row) % 2 == 0) < 0.6);
        assert_eq!(telling(&[0, 1], &[None, None]), 0.5);
    }
}
