//! Columns of dates.

use super::names;
use super::profile::Profile;

const MONTHS: &str = "jan, feb, mar, apr, may, jun, jul, aug, sep, sept, oct, nov, dec, january, february, \
    march, april, june, july, august, september, october, november, december";

/// Whether all values seen are dates.
pub(super) fn is_date(profile: &Profile) -> bool {
    let values = profile.values();
    !values.is_empty() && values.iter().all(|value| is_date_text(value))
}

/// Whether whole numbers are years of a calendar, as the name says too.
pub(super) fn is_year(profile: &Profile) -> bool {
    profile.is_of_numbers()
        && profile.whole
        && (1800.0..=2200.0).contains(&profile.low)
        && (1800.0..=2200.0).contains(&profile.high)
        && names::has_any(&profile.words, "year, yr, yob, vintage, cohort")
}

/// `2024-01-31`, `31.1.2024`, `Jan-2024`, `20240131`, with or without a time.
fn is_date_text(text: &str) -> bool {
    let date = text.split([' ', 'T']).next().unwrap_or(text);
    let parts: Vec<&str> = date.split(['-', '/', '.']).collect();
    let numbers: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
    let is_month = |month: u32| (1..=12).contains(&month);
    let is_day = |day: u32| (1..=31).contains(&day);
    let is_year = |year: u32| (1800..=2200).contains(&year);
    match numbers.as_deref() {
        Some(&[year, month, day]) if is_year(year) => is_month(month) && is_day(day),
        Some(&[first, second, year]) if is_year(year) || parts[2].len() == 2 => {
            is_day(first) && is_day(second) && (is_month(first) || is_month(second))
        }
        Some(&[year, month]) if date.contains(['-', '/']) => is_year(year) && is_month(month),
        Some(&[number]) if date.len() == 8 => {
            is_year(number / 10_000) && is_month(number / 100 % 100) && is_day(number % 100)
        }
        _ => {
            let words = names::words(&text.to_lowercase());
            (2..=4).contains(&words.len())
                && words.iter().any(|word| MONTHS.split(',').any(|month| month.trim() == word))
                && words.iter().any(|word| word.parse::<u32>().is_ok())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_known_by_their_form() {
        for date in [
            "2024-01-31",
            "2024/1/31 12:30",
            "31.1.2024",
            "1/31/24",
            "Jan-2015",
            "20240131",
            "2024-01",
            "15 Mar 2014",
        ] {
            assert!(is_date_text(date), "{date}");
        }
        for other in
            ["", "2024", "1.5", "20241399", "1-2", "555-12-3456", "mar", "12345678", "a-b-c", "10-20"]
        {
            assert!(!is_date_text(other), "{other}");
        }
    }
}
