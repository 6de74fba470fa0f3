//! The probability of numbers as they are written, given their codes.

use par_data::{Discretizer, Domain, UNKNOWN, ValueMasses};
use proptest::prelude::*;

use crate::{all_rows, columns, fit, schema, table};

/// A discretizer of one column `x` that has learned the values of these cells.
fn learned(feature: &str, cells: &[String]) -> Discretizer {
    let schema = schema(&format!("version = 2\n[[feature]]\nname = \"x\"\n{feature}\n"));
    let table = || table(&format!("x\n{}\n", cells.join("\n")));
    let mut discretizer = fit(&schema, table()).expect("a fit");
    let mut numbers = vec![Vec::new()];
    discretizer.add_numbers(&columns(&schema, &table()).expect("a column"), &all_rows(table()), &mut numbers);
    discretizer.learn_values(numbers);
    discretizer
}

fn masses(discretizer: &Discretizer) -> ValueMasses {
    discretizer.value_masses().expect("values are learned")
}

fn mass(discretizer: &Discretizer, cell: &str) -> f64 {
    let code = discretizer.encode_row(&[cell]).expect("a number").codes()[0];
    masses(discretizer).of_cell(0, cell, code).log_mass.exp()
}

/// For each bin, the sum of the masses of all numbers with these decimals between its edges.
fn sums(discretizer: &Discretizer, decimals: usize) -> Vec<f64> {
    let domain = &discretizer.domains()[0];
    let Domain::Bins { edges, medians, .. } = domain else { panic!("expected bins") };
    let masses = masses(discretizer);
    let units = 10_f64.powi(decimals as i32);
    let mut sums = vec![0.0; medians.len()];
    for steps in (edges[0] * units).round() as i64..=(edges[medians.len()] * units).round() as i64 {
        let cell = format!("{:.decimals$}", steps as f64 / units);
        let (code, _) = domain.code_of_number(cell.parse().expect("a number"));
        if let Some(sum) = sums.get_mut(usize::from(code)) {
            *sum += masses.of_cell(0, &cell, code).log_mass.exp();
        }
    }
    sums
}

proptest! {
    #[test]
    fn the_masses_of_each_code_sum_to_one_over_the_grid(
        steps in prop::collection::vec(-300_i32..300, 30..400),
        shared in prop::collection::vec(-30_i32..30, 0..5),
        decimals in 0_usize..4,
        bins in 2_usize..9,
        special in -40_i32..40,
    ) {
        let cell = |steps: i32| format!("{:.decimals$}", f64::from(steps) / 10_f64.powi(decimals as i32));
        let mut cells: Vec<String> = steps.into_iter().map(cell).collect();
        shared.into_iter().for_each(|steps| cells.extend(vec![cell(steps); 25]));
        // So that the column has bins, and all decimals.
        cells.extend((1..=10).map(cell));
        let feature = format!("kind = \"continuous\"\nbins = {bins}\nspecial = [{}]", cell(special));
        let discretizer = learned(&feature, &cells);
        for sum in sums(&discretizer, decimals) {
            prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}

#[test]
fn codes_and_numbers_together_sum_to_one() {
    let cells: Vec<String> = (0..200).map(|row| (row * row % 83).to_string()).collect();
    let discretizer = learned("kind = \"discrete\"\nbins = 7", &cells);
    let codes: Vec<usize> = cells
        .iter()
        .map(|cell| usize::from(discretizer.encode_row(&[cell]).expect("a number").codes()[0]))
        .collect();
    let share = |code: usize| codes.iter().filter(|own| **own == code).count() as f64 / cells.len() as f64;
    let total: f64 = sums(&discretizer, 0).iter().enumerate().map(|(code, sum)| share(code) * sum).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
}

#[test]
fn the_density_of_a_continuous_column_integrates_to_one() {
    let number = |row: u32| f64::from(row * row % 7919) / 1000.0;
    let cells: Vec<String> = (0..3000).map(|row| format!("{:.3}", number(row))).collect();
    let discretizer = learned("kind = \"continuous\"\nbins = 5", &cells);
    let domain = &discretizer.domains()[0];
    let Domain::Bins { edges, .. } = domain else { panic!("expected bins") };
    let masses = masses(&discretizer);
    for (bin, ends) in edges.windows(2).enumerate() {
        let step = (ends[1] - ends[0]) / 20_000.0;
        let density = |place: u32| {
            let number = ends[0] + (f64::from(place) + 0.5) * step;
            masses.of_cell(0, &number.to_string(), bin as u16).log_density.exp()
        };
        let integral: f64 = (0..20_000).map(|place| density(place) * step).sum();
        assert!((integral - 1.0).abs() < 0.005, "bin {bin}: {integral}");
    }
}

/// 20 people each have 1, 2, 8 and 9: the bins are [1, 5) and [5, 9], and one of 41 people is spread over each.
fn ones_and_nines(feature: &str) -> Discretizer {
    let cells: Vec<String> = ["1", "2", "8", "9"].repeat(20).into_iter().map(String::from).collect();
    learned(&format!("bins = 2\n{feature}"), &cells)
}

#[track_caller]
fn assert_mass(discretizer: &Discretizer, cell: &str, expected: f64) {
    let found = mass(discretizer, cell);
    assert!((found - expected).abs() < 1e-12, "{cell}: {found}, expected {expected}");
}

#[test]
fn shared_numbers_have_their_shares_and_all_others_are_equally_likely() {
    let discretizer = ones_and_nines("kind = \"discrete\"");
    assert_mass(&discretizer, "1", 20.0 / 41.0 + 1.0 / 41.0 / 4.0);
    assert_mass(&discretizer, "2.0", 20.0 / 41.0 + 1.0 / 41.0 / 4.0);
    assert_mass(&discretizer, "3", 1.0 / 41.0 / 4.0);
    assert_mass(&discretizer, "9", 20.0 / 41.0 + 1.0 / 41.0 / 5.0);
    assert_mass(&discretizer, "5", 1.0 / 41.0 / 5.0);
    for (outside, as_likely_as) in [("-7", "4"), ("1000", "7"), ("3.5", "3")] {
        assert_mass(&discretizer, outside, mass(&discretizer, as_likely_as));
    }
}

#[test]
fn special_and_unknown_cells_have_mass_one_and_are_not_of_the_grid() {
    let discretizer = ones_and_nines("kind = \"continuous\"\nspecial = [3]\nmissing = true");
    let masses = masses(&discretizer);
    assert_mass(&discretizer, "3", 1.0);
    assert_mass(&discretizer, "4", 1.0 / 41.0 / 3.0);
    let unknown = masses.of_cell(0, "", UNKNOWN);
    assert_eq!((unknown.log_mass, unknown.log_density), (0.0, 0.0));
}

#[test]
fn numbers_of_a_bin_with_few_people_are_equally_likely() {
    let mut discretizer = ones_and_nines("kind = \"discrete\"");
    discretizer.learn_values(vec![vec![1.0; 9]]);
    assert_mass(&discretizer, "1", 1.0 / 4.0);
    assert_mass(&discretizer, "9", 1.0 / 5.0);
}

#[test]
fn only_continuous_columns_have_a_density() {
    let numbers: Vec<String> = (0..100).map(|row| format!("{:.2}", f64::from(row) / 100.0)).collect();
    for (kind, log_units) in [("continuous", 100_f64.ln()), ("discrete", 0.0)] {
        let discretizer = learned(&format!("kind = \"{kind}\"\nbins = 3"), &numbers);
        let term = masses(&discretizer).of_cell(0, "0.25", 0);
        assert!((term.log_density - term.log_mass - log_units).abs() < 1e-12);
    }
}

#[test]
fn where_codes_tell_all_there_are_no_masses() {
    let few: Vec<String> = ["1", "2"].repeat(20).into_iter().map(String::from).collect();
    assert!(learned("kind = \"discrete\"", &few).value_masses().is_none());
    assert!(learned("kind = \"nominal\"", &few).value_masses().is_none());
    let halves: Vec<String> = ["1", "1.5"].repeat(20).into_iter().map(String::from).collect();
    let term = masses(&learned("kind = \"continuous\"", &halves)).of_cell(0, "1.5", 1);
    assert_eq!((term.log_mass, term.log_density), (0.0, 10_f64.ln()));
}

#[test]
fn values_that_were_not_learned_have_no_masses() {
    let rows: String = (0..100).map(|row| format!("{row}\n")).collect();
    let schema = schema("[[feature]]\nname = \"x\"\nkind = \"discrete\"\n");
    assert!(fit(&schema, table(&format!("x\n{rows}"))).expect("a fit").value_masses().is_none());
}

#[test]
fn the_term_of_a_row_is_the_sum_of_its_cells() {
    let schema = schema(
        "[[feature]]\nname = \"x\"\nkind = \"continuous\"\n[[feature]]\nname = \"y\"\nkind = \"discrete\"\n",
    );
    let rows: String =
        (0..90_u32).map(|row| format!("{},{:.1}\n", row * row % 97, f64::from(row) / 10.0)).collect();
    let table = || table(&format!("y,x\n{rows}"));
    let columns = columns(&schema, &table()).expect("both columns");
    let batch = all_rows(table());
    let mut discretizer = fit(&schema, table()).expect("a fit");
    let mut numbers = vec![Vec::new(); 2];
    discretizer.add_numbers(&columns, &batch, &mut numbers);
    discretizer.learn_values(numbers);
    let encoded = discretizer.encode(&columns, &batch).expect("codes");
    let masses = masses(&discretizer);
    let terms = masses.of_batch(&columns, &batch, encoded.codes());
    for (row, (term, codes)) in terms.iter().zip(encoded.rows()).enumerate() {
        let [x, y] = [0, 1].map(|feature| {
            masses.of_cell(feature, batch.cell(row, columns.features[feature]), codes[feature])
        });
        assert!(term.log_mass < 0.0 && (term.log_mass - x.log_mass - y.log_mass).abs() < 1e-12);
        assert!((term.log_density - term.log_mass - 10_f64.ln()).abs() < 1e-12);
    }
}
