//! Statistics that a model stores tell nothing of a single person.

use par_data::{Discretizer, Domain, german_credit};
use proptest::prelude::*;

use crate::{all_rows, columns, fit, schema, table};

/// Every stored statistic of a numeric column: its extremes, medians, most common numbers and deviation. The quantiles
/// between bins are not among them.
fn statistics(domain: &Domain) -> Vec<f64> {
    let Some(summary) = domain.summary() else { return Vec::new() };
    let mut all = vec![summary.low, summary.high, summary.median, summary.mad];
    if let Domain::Bins { edges, medians, common, .. } = domain {
        all.extend([edges[0], edges[edges.len() - 1]]);
        all.extend(medians);
        all.extend(common.iter().flatten());
    }
    all
}

/// How many of the numbers are this one.
fn people(numbers: &[f64], one: f64) -> usize {
    numbers.iter().filter(|number| **number == one).count()
}

fn floats(list: &serde_json::Value) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

fn fitted(numbers: &[f64], bins: usize) -> Discretizer {
    let text = format!("[[feature]]\nname = \"x\"\nkind = \"continuous\"\nbins = {bins}\n");
    let rows: String = numbers.iter().map(|number| format!("{number}\n")).collect();
    fit(&schema(&text), table(&format!("x\n{rows}"))).expect("a fit")
}

proptest! {
    #[test]
    fn no_statistic_of_a_column_is_the_number_of_fewer_than_ten_people(
        numbers in prop::collection::vec(1_000_001_u64..9_999_999_999, 40..300),
        scale in prop::sample::select(vec![1e-6, 1.0, 1e3]),
        bins in 2_usize..5,
    ) {
        // Not round: otherwise a rounded statistic could be somebody's number by chance.
        let odd = |number: &u64| (number * 10 + 7) as f64 * scale;
        let mut numbers: Vec<f64> = numbers.iter().map(odd).collect();
        // A number that exactly ten people share may be stored.
        let shared = numbers[0];
        numbers.extend([shared; 9]);
        let discretizer = fitted(&numbers, bins);
        let domain = &discretizer.domains()[0];
        prop_assert!(domain.cardinality() > 1);
        for statistic in statistics(domain) {
            let people = people(&numbers, statistic);
            prop_assert!(people == 0 || people >= 10, "{statistic} is the number of {people}");
        }
    }

    #[test]
    fn what_is_learned_of_a_bin_names_no_number_of_fewer_than_ten_people(
        numbers in prop::collection::vec(0_u32..40, 20..400),
        extremes in prop::collection::vec(1_000_001_i64..9_999_999, 0..4),
        shared in 8_usize..13,
        bins in 2_usize..5,
    ) {
        let mut numbers: Vec<f64> = numbers.into_iter().map(f64::from).collect();
        let signs = [1.0, -1.0].into_iter().cycle();
        numbers.extend(extremes.iter().zip(signs).map(|(extreme, sign)| sign * *extreme as f64 * 10.7));
        numbers.extend(vec![17.3; shared]);
        let mut discretizer = fitted(&numbers, bins);
        discretizer.learn_values(vec![numbers.clone()]);
        let saved = serde_json::to_value(&discretizer).expect("JSON");
        let stored = saved["values"][0].as_array().expect("bins");
        let Domain::Bins { edges, .. } = &discretizer.domains()[0] else { panic!("expected bins") };
        prop_assert_eq!(stored.len(), edges.len() - 1);
        for (bin, values) in stored.iter().enumerate().filter(|(_, values)| !values.is_null()) {
            let of_bin = numbers.iter().filter(|number| discretizer.domains()[0].code_of_number(**number).0 == bin as u16);
            let mut others: Vec<f64> = of_bin.copied().collect();
            prop_assert!(others.len() >= 10);
            let mut keys: Vec<&String> = values.as_object().expect("an object").keys().collect();
            keys.sort();
            prop_assert_eq!(keys, ["edges", "pieces", "spikes"], "what else is stored has to be checked here");
            for spike in values["spikes"].as_array().expect("spikes") {
                let number = spike[0].as_f64().expect("a number");
                prop_assert!(people(&numbers, number) >= 10, "{number} is a spike of {}", people(&numbers, number));
                others.retain(|other| *other != number);
            }
            let pieces = floats(&values["edges"]);
            let (low, high) = (edges[bin], edges[bin + 1]);
            for edge in &pieces {
                let place = (edge - low) / (high - low) * 8.0;
                prop_assert!((place - place.round()).abs() < 1e-6, "{edge} is no eighth of {low} to {high}");
            }
            // A share of a piece is of nobody but the one more who is spread evenly, or of ten people.
            for (piece, ends) in pieces.windows(2).enumerate() {
                let is_last = piece + 2 == pieces.len();
                let inside = |other: &&f64| {
                    (piece == 0 || **other >= ends[0]) && (is_last || **other < ends[1])
                };
                let people = others.iter().filter(inside).count();
                prop_assert!(people >= 10 || pieces.len() == 2, "{people} people in {ends:?}");
            }
            if others.len() < 10 {
                let without: Vec<f64> = numbers.iter().copied().filter(|number| !others.contains(number)).collect();
                let mut other = discretizer.clone();
                other.learn_values(vec![without]);
                let other = serde_json::to_value(&other).expect("JSON");
                prop_assert_eq!(&other["values"][0][bin], values, "so few do not count");
            }
        }
    }

    #[test]
    fn extremes_hold_all_numbers_and_medians_lie_in_their_bins(
        numbers in prop::collection::vec(-1e9_f64..1e9, 2..200),
        bins in 2_usize..8,
    ) {
        let discretizer = fitted(&numbers, bins);
        let domain = &discretizer.domains()[0];
        let summary = domain.summary().expect("numbers");
        prop_assert!(numbers.iter().all(|number| (summary.low..=summary.high).contains(number)));
        prop_assert!((summary.low..=summary.high).contains(&summary.median) && summary.mad > 0.0);
        if let Domain::Bins { edges, medians, .. } = domain {
            prop_assert!(edges.windows(2).all(|pair| pair[0] < pair[1]));
            for (bin, median) in medians.iter().enumerate() {
                prop_assert!((edges[bin]..=edges[bin + 1]).contains(median), "{median}");
            }
        }
    }
}

#[test]
fn german_credit_has_no_statistic_of_fewer_than_ten_people() {
    let schema = german_credit::schema();
    let discretizer = fit(&schema, german_credit::table()).expect("a fit");
    let columns = columns(&schema, &german_credit::table()).expect("all columns");
    let batch = all_rows(german_credit::table());
    for name in ["Credit amount", "Age", "Duration"] {
        let feature = schema.position(name).expect("a feature");
        let numbers: Vec<f64> = (0..batch.rows())
            .map(|row| batch.cell(row, columns.features[feature]).parse().expect("a number"))
            .collect();
        for statistic in statistics(&discretizer.domains()[feature]) {
            // A round number may be somebody's by chance; then ten people are near it.
            let digits = statistic.abs().log10().floor().max(1.0);
            let near = |number: &&f64| (**number - statistic).abs() <= 10_f64.powf(digits);
            let people = people(&numbers, statistic);
            assert!(people == 0 || numbers.iter().filter(near).count() >= 10, "{name}: {statistic}");
        }
    }
}

#[test]
fn what_a_small_table_stores_is_rounded_all_the_same() {
    let numbers: Vec<f64> = (0..5).map(|number| 1234.5 + 1000.1 * f64::from(number)).collect();
    let discretizer = fitted(&numbers, 2);
    for statistic in statistics(&discretizer.domains()[0]) {
        assert_eq!(people(&numbers, statistic), 0, "{statistic}");
    }
}
