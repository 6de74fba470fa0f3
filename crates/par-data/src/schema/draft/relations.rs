//! Relations between columns of numbers that hold in all rows, or nearly.

use std::collections::BTreeSet;

use super::names;

/// Fewest rows that show a relation.
const FEWEST_ROWS: usize = 50;
/// Columns among which sums, differences, products and ratios of two are looked for, and `a` at most `b`.
const MOST_COLUMNS: usize = 60;
/// Rows that are looked at first: most relations fail there.
const FIRST_ROWS: usize = 40;
/// A formula holds in at least this share of the rows.
const FORMULA_SHARE: f64 = 0.999;
/// If two columns with nothing in common in their names were unrelated, `a` would exceed `b` in at least this
/// share of the rows.
const SURPRISING: f64 = 0.1;
/// The same if their names share a word.
const SURPRISING_NAMED: f64 = 0.01;
/// Words that say nothing about what two columns have in common.
const COMMON_WORDS: &str = "number, num, of, in, the, total, amount, value, count, rate, ratio, is, has";
/// Words in the names of results.
const RATIO_WORDS: &str = "ratio, per, share, percent, pct, to, dti, ltv, pti, utilization, utilisation";
/// So many decimals are the result of a division.
const DIVIDED: usize = 5;
const DIFFERENCE_WORDS: &str = "difference, diff, net, remaining, left, surplus, gap, change, free";

/// A column of numbers: NaN where there is none.
pub(super) struct NumberColumn<'a> {
    pub(super) words: &'a [String],
    pub(super) numbers: Vec<f64>,
    pub(super) rounding: Rounding,
    /// Most decimals of a number.
    pub(super) decimals: usize,
}

/// The error that rounding can have left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rounding {
    pub(super) absolute: f64,
    /// As a share of the number.
    pub(super) relative: f64,
}

/// A relation between columns, by their positions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) shape: Shape,
    /// The columns on the left; the result of a formula is `gives`.
    pub(super) of: [usize; 2],
    pub(super) gives: Option<usize>,
    /// Rows that have all the cells, and how many of them keep it.
    pub(super) rows: usize,
    pub(super) kept: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    AtMost,
    Sum,
    Difference,
    Product,
    Ratio,
}

impl Shape {
    /// Its key in the schema.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::AtMost => "at_most",
            Self::Sum => "sum",
            Self::Difference => "difference",
            Self::Product => "product",
            Self::Ratio => "ratio",
        }
    }

    fn compute(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Sum => a + b,
            Self::Difference | Self::AtMost => a - b,
            Self::Product => a * b,
            Self::Ratio => a / b,
        }
    }
}

/// Formulas first, then pairs in order that do not follow from others.
pub(super) fn relations(columns: &[NumberColumn<'_>]) -> Vec<Found> {
    let columns = &columns[..columns.len().min(MOST_COLUMNS)];
    let formulas = formulas(columns);
    let mut found = at_most(columns);
    // A part is at most its total: the formula says so.
    found.retain(|pair| {
        !formulas.iter().any(|formula| {
            let members = [formula.of[0], formula.of[1], formula.gives.unwrap_or(formula.of[0])];
            pair.of.iter().all(|column| members.contains(column))
        })
    });
    formulas.into_iter().chain(found).collect()
}

fn formulas(columns: &[NumberColumn<'_>]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut taken = BTreeSet::new();
    let named = |column: usize, known| names::has_any(columns[column].words, known);
    let mut by_decimals: Vec<usize> = (0..columns.len()).collect();
    by_decimals.sort_by_key(|column| std::cmp::Reverse(columns[*column].decimals));
    for shape in [Shape::Sum, Shape::Product, Shape::Ratio] {
        for &gives in &by_decimals {
            for a in 0..columns.len() {
                // Sums and products have no order.
                let first = if shape == Shape::Ratio { 0 } else { a + 1 };
                for b in first..columns.len() {
                    let mut members = [gives, a, b];
                    members.sort_unstable();
                    let is_triple = members[0] < members[1] && members[1] < members[2];
                    if !is_triple
                        || taken.contains(&members)
                        || found.iter().any(|other| other.gives == Some(gives))
                    {
                        continue;
                    }
                    let Some((rows, kept)) = holds(columns, shape, [a, b], gives) else { continue };
                    taken.insert(members);
                    found.push(Found { shape, of: [a, b], gives: Some(gives), rows, kept });
                }
            }
        }
    }
    let is_divided =
        |part: usize, total: usize| columns[part].decimals >= DIVIDED.max(columns[total].decimals + 1);
    // The same equation the other way round, where the name or the decimals say which column is computed.
    for formula in &mut found {
        let Some(total) = formula.gives else { continue };
        for (part, other) in [(formula.of[0], formula.of[1]), (formula.of[1], formula.of[0])] {
            let turned = match formula.shape {
                Shape::Sum if named(part, DIFFERENCE_WORDS) => Shape::Difference,
                Shape::Product if named(part, RATIO_WORDS) || is_divided(part, total) => Shape::Ratio,
                _ => continue,
            };
            if let Some((rows, kept)) = holds(columns, turned, [total, other], part) {
                *formula = Found { shape: turned, of: [total, other], gives: Some(part), rows, kept };
                break;
            }
        }
    }
    drop_circles(found)
}

/// Keeps formulas in order as long as no column is computed twice, or from itself.
fn drop_circles(found: Vec<Found>) -> Vec<Found> {
    let mut kept: Vec<Found> = Vec::new();
    for formula in found {
        let mut sources: Vec<usize> = formula.of.to_vec();
        let mut at = 0;
        while at < sources.len() {
            let more =
                kept.iter().filter(|other| other.gives == Some(sources[at])).flat_map(|other| other.of);
            let new: Vec<usize> = more.filter(|source| !sources.contains(source)).collect();
            sources.extend(new);
            at += 1;
        }
        let is_circle = formula.gives.is_some_and(|gives| sources.contains(&gives));
        if !is_circle && kept.iter().all(|other| other.gives != formula.gives) {
            kept.push(formula);
        }
    }
    kept
}

/// The rows that have all three cells and how many of them keep the formula, if enough do and it says something.
fn holds(columns: &[NumberColumn<'_>], shape: Shape, of: [usize; 2], gives: usize) -> Option<(usize, usize)> {
    let [a, b, c] = [&columns[of[0]], &columns[of[1]], &columns[gives]];
    let rows = a.numbers.iter().zip(&b.numbers).zip(&c.numbers).map(|((a, b), c)| (*a, *b, *c));
    let tolerated = |expected: f64| c.rounding.absolute + c.rounding.relative * expected.abs();
    let (mut known, mut kept, mut telling) = (0, 0, 0);
    for (a, b, found) in rows.filter(|(a, b, c)| !a.is_nan() && !b.is_nan() && !c.is_nan()) {
        let expected = shape.compute(a, b);
        known += 1;
        // A division by zero is written in some way of its own.
        let is_kept = (expected - found).abs() <= tolerated(expected) || !expected.is_finite();
        kept += usize::from(is_kept);
        // It says nothing where the result is one of the parts, or zero.
        telling += usize::from(is_kept && expected.is_finite() && found != a && found != b && found != 0.0);
        if known - kept > known / 20 && known <= FIRST_ROWS
            || known - kept > a_few(columns[gives].numbers.len())
        {
            return None;
        }
    }
    (known >= FEWEST_ROWS && kept as f64 >= FORMULA_SHARE * known as f64 && 10 * telling >= known)
        .then_some((known, kept))
}

/// Most rows of so many that may break a formula.
fn a_few(rows: usize) -> usize {
    (rows as f64 * (1.0 - FORMULA_SHARE)) as usize
}

fn at_most(columns: &[NumberColumn<'_>]) -> Vec<Found> {
    let sorted: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| {
            let mut sorted: Vec<f64> =
                column.numbers.iter().copied().filter(|number| !number.is_nan()).collect();
            sorted.sort_by(f64::total_cmp);
            sorted
        })
        .collect();
    let mut found = Vec::new();
    for a in 0..columns.len() {
        for b in (0..columns.len()).filter(|b| *b != a) {
            let pairs = columns[a].numbers.iter().zip(&columns[b].numbers);
            let mut known = 0;
            let mut equal = 0;
            let all = pairs.filter(|(a, b)| !a.is_nan() && !b.is_nan()).all(|(a, b)| {
                known += 1;
                equal += usize::from(a == b);
                a <= b
            });
            let needed =
                if share_a_word(columns[a].words, columns[b].words) { SURPRISING_NAMED } else { SURPRISING };
            if all
                && known >= FEWEST_ROWS
                && equal < known
                && exceeds_by_chance(&sorted[a], &sorted[b]) >= needed.max(10.0 / known as f64)
            {
                found.push(Found { shape: Shape::AtMost, of: [a, b], gives: None, rows: known, kept: known });
            }
        }
    }
    let implied = |pair: &Found| {
        let [a, b] = pair.of;
        let has = |from: usize, to: usize| found.iter().any(|other| other.of == [from, to]);
        (0..columns.len()).any(|between| between != a && between != b && has(a, between) && has(between, b))
    };
    found.iter().filter(|pair| !implied(pair)).cloned().collect()
}

/// The share of pairs of a number of `a` and a number of `b`, of any rows, in which the first is greater.
fn exceeds_by_chance(a: &[f64], b: &[f64]) -> f64 {
    let mut below = 0;
    let mut exceeding = 0.0;
    for number in a {
        while below < b.len() && b[below] < *number {
            below += 1;
        }
        exceeding += below as f64;
    }
    exceeding / (a.len() as f64 * b.len() as f64)
}

fn share_a_word(a: &[String], b: &[String]) -> bool {
    a.iter().any(|word| {
        b.contains(word) && word.len() > 1 && !names::has_any(std::slice::from_ref(word), COMMON_WORDS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a row.
    type Number = fn(usize) -> f64;

    fn found(named: &[(&str, Number)]) -> Vec<String> {
        let words: Vec<Vec<String>> = named.iter().map(|(name, _)| names::words(name)).collect();
        let columns: Vec<NumberColumn<'_>> = named
            .iter()
            .zip(&words)
            .map(|((_, number), words)| NumberColumn {
                words,
                numbers: (0..200).map(number).collect(),
                rounding: Rounding { absolute: 0.0, relative: 1e-9 },
                decimals: usize::from(number(1).fract() != 0.0) * 9,
            })
            .collect();
        let name = |column: usize| named[column].0;
        relations(&columns)
            .iter()
            .map(|found| {
                let gives = found.gives.map_or(String::new(), |gives| format!(" = {}", name(gives)));
                format!("{} {} {}{gives}", found.shape.key(), name(found.of[0]), name(found.of[1]))
            })
            .collect()
    }

    fn a(row: usize) -> f64 {
        (row * 7919 % 101) as f64
    }

    fn b(row: usize) -> f64 {
        (row * 104_729 % 97) as f64 + 3.0
    }

    #[test]
    fn formulas_are_found_in_the_direction_that_the_name_says() {
        assert_eq!(
            found(&[("own", a), ("other", b), ("total", |row| a(row) + b(row))]),
            ["sum own other = total"]
        );
        assert_eq!(
            found(&[("gross", |row| a(row) + b(row)), ("tax", a), ("net", b)]),
            ["difference gross tax = net"]
        );
        assert_eq!(found(&[("x", a), ("y", b), ("z", |row| a(row) / b(row))]), ["ratio x y = z"]);
        assert_eq!(
            found(&[("debt", a), ("income", b), ("dti", |row| a(row) / b(row))]),
            ["ratio debt income = dti"]
        );
        assert_eq!(
            found(&[("rooms", a), ("size", b), ("area", |row| a(row) * b(row))]),
            ["product rooms size = area"]
        );
        assert!(found(&[("x", a), ("y", b), ("z", |row| a(row + 1))]).is_empty());
    }

    #[test]
    fn only_surprising_pairs_are_in_order() {
        assert_eq!(found(&[("part", a), ("whole", |row| a(row) + a(row + 3))]), ["at_most part whole"]);
        // One is always far above the other, so that nothing can break it.
        assert!(found(&[("small", a), ("large", |row| b(row) + 1000.0)]).is_empty());
        assert!(found(&[("x", a), ("y", b)]).is_empty());
    }

    #[test]
    fn what_follows_from_other_pairs_is_left_out() {
        let columns: [(&str, Number); 3] = [
            ("low", a),
            ("middle", |row| a(row) + a(row + 3)),
            ("high", |row| a(row) + a(row + 3) + a(row + 7)),
        ];
        assert_eq!(found(&columns), ["at_most low middle", "at_most middle high"]);
    }
}
