//! Learns the domains from training rows.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use super::decode::Interval;
use super::domain::{Domain, NumberSummary};
use super::shared;
use super::{CategoryIndex, DiscretizerConfig, FittedColumn};
use crate::error::{CellError, Error};
use crate::schema::{Columns, Feature, FeatureKind, MAX_CATEGORIES, Schema, parse_number, same_numbers};
use crate::table::Batch;

/// The values of a column that are kept until all rows are read.
enum ColumnValues {
    /// The schema lists the categories; only how many cells have each is kept.
    Listed {
        counts: Vec<usize>,
        index: CategoryIndex,
        seen: bool,
    },
    Vocabulary(BTreeSet<String>),
    Numbers(Vec<f64>),
}

pub(super) fn columns(
    schema: &Schema,
    columns: &Columns,
    batches: impl IntoIterator<Item = Result<Batch, Error>>,
    config: &DiscretizerConfig,
) -> Result<Vec<FittedColumn>, Error> {
    for (key, found, range, expected) in [
        ("bins", config.bins, 2..=1000, "2 to 1000"),
        ("max_values", config.max_values, 1..=1000, "1 to 1000"),
    ] {
        if !range.contains(&found) {
            return Err(Error::Setting { key, found, expected });
        }
    }
    let mut gathered: Vec<ColumnValues> = schema
        .features()
        .iter()
        .map(|feature| match feature.kind {
            FeatureKind::Discrete | FeatureKind::Continuous => ColumnValues::Numbers(Vec::new()),
            FeatureKind::Nominal if feature.values.is_empty() => ColumnValues::Vocabulary(BTreeSet::new()),
            FeatureKind::Nominal | FeatureKind::Ordinal => {
                let index = CategoryIndex::new(&feature.values);
                ColumnValues::Listed { counts: vec![0; feature.values.len()], index, seen: false }
            }
        })
        .collect();
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        rows += batch.rows() as u64;
        for (feature, (column, &at)) in
            schema.features().iter().zip(gathered.iter_mut().zip(&columns.features))
        {
            for row in 0..batch.rows() {
                gather(schema, feature, column, batch.cell(row, at))
                    .map_err(|source| Error::Cell { place: batch.place(row), source })?;
            }
            if matches!(column, ColumnValues::Vocabulary(values) if values.len() > MAX_CATEGORIES) {
                return Err(Error::TooManyCategories {
                    origin: Arc::clone(&columns.origin),
                    column: feature.name.clone(),
                    limit: MAX_CATEGORIES,
                });
            }
        }
    }
    if rows == 0 {
        return Err(Error::NoRows { origin: Arc::clone(&columns.origin) });
    }
    gathered
        .into_iter()
        .enumerate()
        .map(|(position, column)| domain(schema, position, column, columns, rows, config))
        .collect()
}

fn gather(
    schema: &Schema,
    feature: &Feature,
    column: &mut ColumnValues,
    cell: &str,
) -> Result<(), CellError> {
    let text = cell.trim();
    if schema.is_missing(feature, text)? {
        return Ok(());
    }
    match column {
        ColumnValues::Listed { counts, index, seen } => {
            *seen = true;
            if let Some(code) = index.code(text) {
                counts[usize::from(code)] += 1;
            }
        }
        ColumnValues::Vocabulary(values) => {
            if !values.contains(text) {
                values.insert(text.to_string());
            }
        }
        ColumnValues::Numbers(numbers) => {
            // Adding zero turns −0 into 0, so that equal numbers have one text.
            let number = feature.number(cell)? + 0.0;
            if !feature.special.contains(&number) {
                numbers.push(number);
            }
        }
    }
    Ok(())
}

fn domain(
    schema: &Schema,
    position: usize,
    column: ColumnValues,
    columns: &Columns,
    rows: u64,
    config: &DiscretizerConfig,
) -> Result<FittedColumn, Error> {
    let feature = &schema.features()[position];
    let origin = || Arc::clone(&columns.origin);
    let empty = match &column {
        ColumnValues::Listed { seen, .. } => !seen,
        ColumnValues::Vocabulary(values) => values.is_empty(),
        ColumnValues::Numbers(numbers) => numbers.is_empty(),
    };
    if empty {
        return Err(Error::AllMissing { origin: origin(), column: feature.name.clone(), rows });
    }
    let order_needed = schema.order_needed(position);
    let mut shares = Vec::new();
    let values = match column {
        ColumnValues::Numbers(numbers) => {
            let fitted = numeric(numbers, feature, config);
            let domain = &fitted.domain;
            let cannot_hold = |text: &&String| {
                let number = parse_number(text);
                domain.summary().zip(number).is_some_and(|(summary, number)| !summary.can_hold(number))
            };
            return match feature.allowed.iter().flatten().find(cannot_hold) {
                Some(found) => Err(Error::AllowedNotWhole {
                    origin: origin(),
                    column: feature.name.clone(),
                    found: found.clone(),
                }),
                None => Ok(fitted),
            };
        }
        ColumnValues::Listed { counts, .. } => {
            if feature.kind == FeatureKind::Ordinal {
                shares = shared::shares(&counts);
            }
            feature.values.clone()
        }
        ColumnValues::Vocabulary(values) => {
            if let (Some(because), Some(found)) =
                (order_needed, values.iter().find(|value| parse_number(value).is_none()))
            {
                return Err(Error::LearnedWithoutOrder {
                    origin: origin(),
                    column: feature.name.clone(),
                    because,
                    found: found.clone(),
                });
            }
            by_number(values)
        }
    };
    if let (FeatureKind::Nominal, Some(because), Some([first, second])) =
        (feature.kind, order_needed, same_numbers(&values).into_iter().next())
    {
        return Err(Error::NoOrderBetween {
            origin: origin(),
            column: feature.name.clone(),
            because,
            first: first.to_string(),
            second: second.to_string(),
        });
    }
    if let Some(found) = feature.allowed.iter().flatten().find(|allowed| !values.contains(allowed)) {
        return Err(Error::AllowedNeverSeen {
            origin: origin(),
            column: feature.name.clone(),
            found: found.clone(),
            known: values,
        });
    }
    Ok(FittedColumn { domain: categories(values, feature.kind, order_needed.is_some()), shares })
}

/// Categories that are all numbers in ascending order of the numbers; others in the order of their texts.
fn by_number(values: BTreeSet<String>) -> Vec<String> {
    let numbers: Option<Vec<(f64, &String)>> =
        values.iter().map(|value| Some((parse_number(value)?, value))).collect();
    let Some(mut numbers) = numbers else {
        return values.into_iter().collect();
    };
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    numbers.into_iter().map(|(_, value)| value.clone()).collect()
}

/// # Paper
/// Appendix, Ordered Feature Handling: categories that need an order and are not listed in one are ordered by
/// number. The caller has checked that they are numbers.
fn categories(mut values: Vec<String>, kind: FeatureKind, order_needed: bool) -> Domain {
    if kind == FeatureKind::Nominal && order_needed {
        let number = |value: &String| parse_number(value).unwrap_or(f64::INFINITY);
        values.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    Domain::Categories { values, ordered: kind == FeatureKind::Ordinal || order_needed }
}

fn numeric(mut numbers: Vec<f64>, feature: &Feature, config: &DiscretizerConfig) -> FittedColumn {
    numbers.sort_unstable_by(f64::total_cmp);
    let max_values = feature.bins.unwrap_or(config.max_values);
    let bins = feature.bins.unwrap_or(config.bins);
    let special = feature.special.clone();
    let mut distinct = numbers.clone();
    distinct.dedup();
    let decimals = decimals(&distinct);
    if distinct.len() <= max_values {
        let counts: Vec<usize> = numbers.chunk_by(|a, b| a == b).map(<[f64]>::len).collect();
        let domain = Domain::Values { values: distinct, special, summary: summary(numbers, decimals) };
        return FittedColumn { domain, shares: shared::shares(&counts) };
    }
    let mut edges = edges(&numbers, bins);
    if edges.len() < 3 {
        edges = self::edges(&distinct, bins);
    }
    let bins = edges.len() - 1;
    let inside: Vec<&[f64]> = (0..bins)
        .map(|bin| &numbers[below(&numbers, edges[bin])..upper_end(&numbers, &edges, bin)])
        .collect();
    let median = |bin: usize| {
        let lower = inside[bin][(inside[bin].len() - 1) / 2];
        shared::rounded(lower, inside[bin], Interval::of_bin(&edges, bins, bin))
    };
    let medians = (0..bins).map(median).collect();
    let common = inside.iter().map(|numbers| shared::most_common(numbers)).collect();
    let counts: Vec<usize> = inside.iter().map(|numbers| numbers.len()).collect();
    let shares = shared::shares(&counts);
    edges[0] = shared::lowest(&numbers);
    edges[bins] = shared::highest(&numbers);
    let domain = Domain::Bins { edges, medians, common, special, summary: summary(numbers, decimals) };
    FittedColumn { domain, shares }
}

/// Number of sorted numbers below `limit`.
fn below(sorted: &[f64], limit: f64) -> usize {
    sorted.partition_point(|number| *number < limit)
}

/// The end of a bin's numbers among the sorted numbers.
fn upper_end(sorted: &[f64], edges: &[f64], bin: usize) -> usize {
    if bin + 2 == edges.len() { sorted.len() } else { below(sorted, edges[bin + 1]) }
}

/// Quantile edges, without duplicates and without those of empty bins.
fn edges(sorted: &[f64], bins: usize) -> Vec<f64> {
    let mut edges: Vec<f64> = (0..=bins).map(|i| quantile(sorted, i as f64 / bins as f64)).collect();
    edges.dedup();
    let mut bin = 1;
    while bin + 1 < edges.len() {
        if below(sorted, edges[bin]) == upper_end(sorted, &edges, bin) {
            edges.remove(bin);
        } else {
            bin += 1;
        }
    }
    edges
}

/// The quantile, by linear interpolation.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    if low == high { low } else { (low + (high - low) * position.fract()).clamp(low, high) }
}

fn summary(mut sorted: Vec<f64>, decimals: usize) -> NumberSummary {
    let (low, high) = (shared::lowest(&sorted), shared::highest(&sorted));
    let exact = quantile(&sorted, 0.5);
    let median = shared::rounded(exact, &sorted, Interval { low, high, closed: true });
    for number in &mut sorted {
        *number = (*number - exact).abs().min(f64::MAX);
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let above_zero = Interval { low: f64::MIN_POSITIVE, high: f64::MAX, closed: true };
    let mad = match quantile(&sorted, 0.5) {
        0.0 => 1.0,
        deviation => shared::rounded(deviation, &sorted, above_zero),
    };
    NumberSummary { median, mad, low, high, decimals }
}

/// The largest number of decimals of the numbers, up to a limit.
fn decimals(distinct: &[f64]) -> usize {
    let mut most = 0;
    let mut text = String::new();
    for number in distinct {
        text.clear();
        // Writing to a string does not fail.
        let _ = write!(text, "{number}");
        most = most.max(text.find('.').map_or(0, |point| text.len() - point - 1));
        if most >= NumberSummary::MAX_DECIMALS {
            return NumberSummary::MAX_DECIMALS;
        }
    }
    most
}
