//! Learns the domains from a survey of all rows, and from numbers of those that are sampled.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::decode::Interval;
use super::domain::{Domain, NumberSummary};
use super::shared;
use super::survey::{ColumnSurvey, DomainSurvey, NumberSurvey, ordinary_number};
use super::{DiscretizerConfig, FittedColumn};
use crate::error::Error;
use crate::schema::{Columns, Feature, FeatureKind, Schema, parse_number, same_numbers};
use crate::table::Batch;

/// Learns the domains from a survey of all rows and a sample of them, which may be all.
pub(super) fn columns(
    schema: &Schema,
    columns: &Columns,
    survey: DomainSurvey,
    sampled: Vec<Vec<f64>>,
    config: &DiscretizerConfig,
) -> Result<Vec<FittedColumn>, Error> {
    let rows = survey.rows;
    if rows == 0 {
        return Err(Error::NoRows { origin: Arc::clone(&columns.origin) });
    }
    let both = survey.columns.into_iter().zip(sampled).enumerate();
    both.map(|(position, (column, sampled))| domain(schema, position, column, sampled, columns, rows, config))
        .collect()
}

/// Adds the numbers of a batch to those of each numeric feature.
pub(super) fn add_numbers(
    schema: &Schema,
    columns: &Columns,
    batch: &Batch,
    numbers: &mut [Vec<f64>],
) -> Result<(), Error> {
    for (feature, (own, &at)) in schema.features().iter().zip(numbers.iter_mut().zip(&columns.features)) {
        if !feature.kind.is_numeric() {
            continue;
        }
        for row in 0..batch.rows() {
            let cell = batch.cell(row, at);
            let number = match schema.is_missing(feature, cell.trim()) {
                Ok(true) => Ok(None),
                Ok(false) => ordinary_number(feature, cell),
                Err(source) => Err(source),
            };
            own.extend(number.map_err(|source| Error::Cell { place: batch.place(row), source })?);
        }
    }
    Ok(())
}

fn domain(
    schema: &Schema,
    position: usize,
    column: ColumnSurvey,
    sampled: Vec<f64>,
    columns: &Columns,
    rows: u64,
    config: &DiscretizerConfig,
) -> Result<FittedColumn, Error> {
    let feature = &schema.features()[position];
    let origin = || Arc::clone(&columns.origin);
    if column.is_empty() {
        return Err(Error::AllMissing { origin: origin(), column: feature.name.clone(), rows });
    }
    let order_needed = schema.order_needed(position);
    let mut shares = Vec::new();
    let values = match column {
        ColumnSurvey::Numbers(survey) => {
            let fitted = numeric(&survey, sampled, feature, config);
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
        ColumnSurvey::Listed { counts, .. } => {
            if feature.kind == FeatureKind::Ordinal {
                shares = shared::shares(&counts);
            }
            feature.values.clone()
        }
        ColumnSurvey::Vocabulary(values) => {
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

fn numeric(
    survey: &NumberSurvey,
    mut numbers: Vec<f64>,
    feature: &Feature,
    config: &DiscretizerConfig,
) -> FittedColumn {
    add_beyond(survey, &mut numbers);
    numbers.sort_unstable_by(f64::total_cmp);
    let bins = feature.bins.unwrap_or(config.bins);
    let special = feature.special.clone();
    if let Some(distinct) = &survey.distinct {
        let (values, counts): (Vec<f64>, Vec<usize>) = distinct.iter().copied().unzip();
        let domain = Domain::Values { values, special, summary: summary(survey, numbers) };
        return FittedColumn { domain, shares: shared::shares(&counts) };
    }
    let mut distinct = numbers.clone();
    distinct.dedup();
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
    edges[0] = shared::lowest(&survey.lowest);
    edges[bins] = shared::highest(&survey.highest);
    let domain = Domain::Bins { edges, medians, common, special, summary: summary(survey, numbers) };
    FittedColumn { domain, shares }
}

/// Adds the extremes of all rows beyond those of the sample, which are surely not in it: so a column with different
/// numbers has at least two of them, however few rows are sampled.
fn add_beyond(survey: &NumberSurvey, sampled: &mut Vec<f64>) {
    let high = sampled.iter().copied().reduce(f64::max).unwrap_or(f64::NEG_INFINITY);
    let low = sampled.iter().copied().reduce(f64::min).unwrap_or(survey.highest[0]);
    let above = survey.highest.iter().filter(|number| **number > high);
    let below = survey.lowest.iter().filter(|number| **number < low);
    sampled.extend(below.chain(above).copied().collect::<Vec<f64>>());
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

fn summary(survey: &NumberSurvey, mut sorted: Vec<f64>) -> NumberSummary {
    let (low, high) = (shared::lowest(&survey.lowest), shared::highest(&survey.highest));
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
    NumberSummary { median, mad, low, high, decimals: survey.decimals }
}
