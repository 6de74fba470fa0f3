//! Numbers as text, as `Display` writes them, and faster.

use std::fmt::Write;

/// Writes a whole number.
pub(super) fn write_whole(text: &mut String, number: i64) -> bool {
    if number < 0 {
        text.push('-');
    }
    write_digits(text, number.unsigned_abs(), 1);
    true
}

/// Writes at least `least` digits.
fn write_digits(text: &mut String, mut number: u64, least: usize) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    while number > 0 || digits.len() - start < least {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text.push_str(std::str::from_utf8(&digits[start..]).unwrap_or_default());
}

/// Up to so many decimals are written the fast way.
const DECIMALS: usize = 6;

/// Writes the shortest text that parses to the same number, without `.0`.
///
/// Decimals of up to 15 digits are all different numbers, so that the first one that gives this number is the shortest.
pub(super) fn write_float(text: &mut String, number: f64) -> bool {
    let is_negative_zero = number == 0.0 && number.is_sign_negative();
    let mut units = 1.0;
    for decimals in 0..=DECIMALS {
        let steps = (number * units).round();
        if is_negative_zero || steps.is_nan() || steps.abs() >= 1e15 {
            break;
        }
        if steps / units == number {
            if number < 0.0 {
                text.push('-');
            }
            let (steps, units) = (steps.abs() as u64, units as u64);
            write_digits(text, steps / units, 1);
            if decimals > 0 {
                text.push('.');
                write_digits(text, steps % units, decimals);
            }
            return true;
        }
        units *= 10.0;
    }
    write!(text, "{number}").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_display_writes_them() {
        let mut numbers = vec![0.0, -0.0, 0.1, -0.5, 9120.0, 1e15, -1e15, 1e300, f64::MAX, f64::MIN_POSITIVE];
        numbers.extend([
            1e-7,
            0.1 + 0.2,
            1.0 / 3.0,
            999_999_999.999_999,
            123_456.75,
            f64::INFINITY,
            f64::NAN,
        ]);
        numbers.extend((-2000..2000).map(|n| f64::from(n) / 1000.0));
        numbers.extend((0..2000).map(|n| f64::from(n) * 7919.37));
        numbers.extend((0..2000_u64).map(|n| f64::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
        for number in numbers {
            let mut text = String::new();
            assert!(write_float(&mut text, number));
            assert_eq!(text, number.to_string());
        }
        for number in [0, 1, -1, 10, 99, 100, i64::MIN, i64::MAX] {
            let mut text = String::new();
            assert!(write_whole(&mut text, number));
            assert_eq!(text, number.to_string());
        }
    }
}
