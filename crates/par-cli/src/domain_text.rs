//! The codes of a feature as text.

use par_data::{Discretizer, Domain};

/// What the codes are: `bins`, `numbers` or `categories`.
pub(crate) fn coded_as(domain: &Domain) -> &'static str {
    match domain {
        Domain::Categories { ordered: true, .. } => "ordered categories",
        Domain::Categories { ordered: false, .. } => "categories",
        Domain::Values { .. } => "numbers",
        Domain::Bins { .. } => "bins",
    }
}

/// The categories or numbers in code order; for bins their edges, one more than bins.
pub(crate) fn contents(domain: &Domain) -> Vec<String> {
    contents_with(domain, |number| number.to_string())
}

fn contents_with(domain: &Domain, text: impl Fn(f64) -> String) -> Vec<String> {
    match domain {
        Domain::Categories { values, .. } => values.clone(),
        Domain::Values { values: numbers, .. } | Domain::Bins { edges: numbers, .. } => {
            numbers.iter().copied().map(text).collect()
        }
    }
}

/// [`contents`] on one line, cut where it gets long.
pub(crate) fn contents_line(domain: &Domain) -> String {
    const WIDTH: usize = 100;
    let contents = contents_with(domain, rounded);
    let between = if matches!(domain, Domain::Bins { .. }) { " | " } else { ", " };
    let mut line = String::new();
    for (position, text) in contents.iter().enumerate() {
        if position > 0 {
            line.push_str(between);
        }
        if line.chars().count() + text.chars().count() > WIDTH && position > 0 {
            line.push_str(&format!("and {} more", contents.len() - position));
            break;
        }
        line.push_str(text);
    }
    line
}

/// The number with four significant digits, and never fewer than its integer part has.
fn rounded(number: f64) -> String {
    let before_point = number.abs().max(f64::MIN_POSITIVE).log10().floor() as i32 + 1;
    let decimals = usize::try_from(4 - before_point).unwrap_or(0);
    format!("{number:.decimals$}").parse().unwrap_or(number).to_string()
}

/// The cell for every code of every feature; for a bin, its median.
pub(crate) fn texts(discretizer: &Discretizer) -> Vec<Vec<String>> {
    let codes = |(feature, domain): (usize, &Domain)| {
        (0..domain.cardinality()).map(|code| discretizer.typical_text(feature, code as u16)).collect()
    };
    discretizer.domains().iter().enumerate().map(codes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_four_significant_digits() {
        let numbers = [59.60000000000001, 0.00415615, 11666.7, 1234567.0, -2.0, 0.0];
        assert_eq!(numbers.map(rounded), ["59.6", "0.004156", "11667", "1234567", "-2", "0"]);
    }

    #[test]
    fn a_long_line_is_cut() {
        let values: Vec<String> = (0..50).map(|value| format!("value {value}")).collect();
        let line = contents_line(&Domain::Categories { values, ordered: false });
        assert!(line.ends_with("value 10, and 39 more"), "{line}");
    }
}
