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
