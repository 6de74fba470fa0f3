//! Numbers with few decimals, as a table writes them.

/// Powers of ten by the number of decimals.
const UNITS: [f64; 10] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// Up to here, the product of a number and a unit is wrong by less than [`NEAR_HALF`].
const MOST: f64 = 1e9;
const NEAR_HALF: f64 = 1e-6;

/// The nearest number with so many decimals, and 0 for −0: what its text with so many decimals reads as.
pub(crate) fn rounded(number: f64, decimals: usize) -> f64 {
    if let Some(unit) = UNITS.get(decimals) {
        let units = number * unit;
        let is_clear = ((units - units.floor()) - 0.5).abs() > NEAR_HALF;
        if units.abs() < MOST && is_clear {
            // A whole number divided by a power of ten is the double nearest to that decimal.
            return units.round() / unit + 0.0;
        }
    }
    // Which way a half goes, only the exact digits tell.
    format!("{number:.decimals$}").parse().unwrap_or(f64::NAN) + 0.0
}

/// How many decimals the shortest text of a number has.
pub(crate) fn decimals_of(number: f64) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_back(number: f64, decimals: usize) -> f64 {
        format!("{number:.decimals$}").parse::<f64>().expect("the text of a number") + 0.0
    }

    proptest! {
        #[test]
        fn a_rounded_number_is_what_its_text_reads_as(
            number in prop_oneof![
                -1e4..1e4_f64,
                any::<f64>().prop_filter("finite", |number| number.is_finite()),
                // Halves, and what is next to them.
                (-4000..4000_i32, 1..2000_u32).prop_map(|(half, parts)| f64::from(half) / f64::from(parts)),
                (-4000..4000_i32).prop_map(|half| (f64::from(half) / 200.0).next_up()),
                (-4000..4000_i32).prop_map(|half| f64::from(half) / 16.0),
            ],
            decimals in 0..18_usize,
        ) {
            let (found, expected) = (rounded(number, decimals), read_back(number, decimals));
            prop_assert_eq!(found.to_bits(), expected.to_bits(), "{} with {} decimals", number, decimals);
        }
    }

    #[test]
    fn halves_zero_and_what_is_no_number() {
        assert_eq!([0.5, 1.5, 2.5].map(|half| rounded(half, 0)), [0.0, 2.0, 2.0]);
        assert!(rounded(-0.2, 0).is_sign_positive());
        assert!(rounded(f64::NAN, 2).is_nan());
        assert_eq!(rounded(f64::NEG_INFINITY, 2), f64::NEG_INFINITY);
        assert_eq!([0.25, 3.0, 1e-7].map(decimals_of), [2, 0, 7]);
    }
}
