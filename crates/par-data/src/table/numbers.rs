//! Numbers as text, as `Display` writes them, and faster.

use std::io::Write;

/// The three digits of every number below 1000, and a zero byte.
static TRIPLES: [[u8; 4]; 1000] = triples();

const fn triples() -> [[u8; 4]; 1000] {
    let mut triples = [[0; 4]; 1000];
    let mut number = 0;
    while number < triples.len() {
        let digits = [number / 100, number / 10 % 10, number % 10];
        triples[number] = [b'0' + digits[0] as u8, b'0' + digits[1] as u8, b'0' + digits[2] as u8, 0];
        number += 1;
    }
    triples
}

/// Writes a whole number.
pub(super) fn write_whole(text: &mut Vec<u8>, number: i64) {
    if number < 0 {
        text.push(b'-');
    }
    write_digits(text, number.unsigned_abs());
}

fn write_digits(text: &mut Vec<u8>, number: u64) {
    if number >= 1000 {
        write_digits(text, number / 1000);
        write_triple(text, number % 1000);
        return;
    }
    let leading_zeros = usize::from(number < 100) + usize::from(number < 10);
    let digits = u32::from_le_bytes(TRIPLES[number as usize]) >> (8 * leading_zeros);
    // A copy whose length is known beforehand is the quicker one.
    let end = text.len() + 3 - leading_zeros;
    text.extend_from_slice(&digits.to_le_bytes());
    text.truncate(end);
}

/// Writes a number below 1000 with its leading zeros.
fn write_triple(text: &mut Vec<u8>, number: u64) {
    text.extend_from_slice(&TRIPLES[number as usize][..3]);
}

/// Writes the shortest text that parses to the same number, without `.0`.
///
/// Decimals of up to 15 digits are all different numbers, so that the one with six decimals that gives this number is
/// the shortest but for zeros at its end.
pub(super) fn write_float(text: &mut Vec<u8>, number: f64) {
    const UNITS: u64 = 1_000_000;
    const MOST: u64 = 1_000_000_000_000_000;
    let size = number.abs();
    let whole = size as u64;
    // The nearest one; `round` is a call of a function on most processors that we build for.
    let millionths = (size * UNITS as f64 + 0.5) as u64;
    let is_negative_zero = number == 0.0 && number.is_sign_negative();
    let is_whole = whole < MOST && whole as f64 == size;
    let is_decimal = millionths < MOST && millionths as f64 / UNITS as f64 == size;
    if is_negative_zero || !(is_whole || is_decimal) {
        write!(text, "{number}").expect("memory can be written to");
        return;
    }
    if number < 0.0 {
        text.push(b'-');
    }
    write_digits(text, whole);
    if !is_whole {
        let decimals = millionths % UNITS;
        text.push(b'.');
        write_triple(text, decimals / 1000);
        write_triple(text, decimals % 1000);
        while text.ends_with(b"0") {
            text.pop();
        }
    }
}

/// Bytes of the longest number that [`write_long_decimal`] writes.
pub(super) const LONGEST_DECIMAL: usize = 32;

/// Writes `number`·10^-`scale` with all its decimals.
pub(super) fn write_decimal(text: &mut Vec<u8>, number: i64, scale: usize) {
    let start = text.len() + usize::from(number < 0);
    write_whole(text, number);
    place_point(text, start, scale);
}

/// As [`write_decimal`]; the bytes are a number in two's complement, the highest first.
///
/// # Panics
/// When they are more than [`LONGEST_DECIMAL`].
pub(super) fn write_long_decimal(text: &mut Vec<u8>, bytes: &[u8], scale: usize) {
    const GROUP: u64 = 1_000_000_000;
    let is_negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let sign = if is_negative { u32::MAX } else { 0 };
    // The lowest first.
    let mut words = [0; LONGEST_DECIMAL / 4];
    let mut carry = is_negative;
    for (word, bytes) in words.iter_mut().zip(bytes.rchunks(4)) {
        let own = bytes.iter().fold(sign, |word, &byte| word << 8 | u32::from(byte));
        (*word, carry) = (own ^ sign).overflowing_add(u32::from(carry));
    }
    let mut groups = Vec::new();
    while words.iter().any(|&word| word > 0) {
        let mut rest = 0;
        for word in words.iter_mut().rev() {
            let value = rest << 32 | u64::from(*word);
            *word = (value / GROUP) as u32;
            rest = value % GROUP;
        }
        groups.push(rest);
    }
    if is_negative {
        text.push(b'-');
    }
    let start = text.len();
    write_digits(text, groups.pop().unwrap_or(0));
    for group in groups.into_iter().rev() {
        write_triple(text, group / 1_000_000);
        write_triple(text, group / 1000 % 1000);
        write_triple(text, group % 1000);
    }
    place_point(text, start, scale);
}

/// Puts a point before the last `scale` of the digits from `start` on, and zeros before them where they are too few.
fn place_point(text: &mut Vec<u8>, start: usize, scale: usize) {
    if scale == 0 {
        return;
    }
    let zeros = (scale + 1).saturating_sub(text.len() - start);
    text.splice(start..start, std::iter::repeat_n(b'0', zeros));
    text.insert(text.len() - scale, b'.');
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
        for exponent in 0..19 {
            let power = 10f64.powi(exponent);
            numbers.extend([power, -power, power - 1.0, power + 1.0, power * 3.7, power + 0.5]);
        }
        numbers.extend((0..2000).map(|n| f64::from(n) * 499_979_000_017.0));
        numbers.extend((0..2000).map(|n| -f64::from(n) * 1_234_567.0));
        numbers.extend((0..2000_u64).map(|n| f64::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
        for number in numbers {
            let mut text = Vec::new();
            write_float(&mut text, number);
            assert_eq!(String::from_utf8_lossy(&text), number.to_string());
        }
        for number in [0, 1, -1, 10, 99, 100, i64::MIN, i64::MAX] {
            let mut text = Vec::new();
            write_whole(&mut text, number);
            assert_eq!(String::from_utf8_lossy(&text), number.to_string());
        }
    }

    #[test]
    fn decimals_of_any_size_have_all_their_digits() {
        let decimal = |bytes: &[u8], scale| {
            let mut text = Vec::new();
            write_long_decimal(&mut text, bytes, scale);
            String::from_utf8(text).expect("digits")
        };
        for number in [0, 1, -1, 5, -120, 99_999, i64::MIN, i64::MAX] {
            for scale in [0, 1, 2, 5, 18, 20] {
                let mut text = Vec::new();
                write_decimal(&mut text, number, scale);
                assert_eq!(String::from_utf8_lossy(&text), decimal(&number.to_be_bytes(), scale));
            }
            assert_eq!(decimal(&number.to_be_bytes(), 0), number.to_string());
        }
        for number in [i128::MIN, i128::MAX, 10i128.pow(37), -10i128.pow(18) - 7] {
            assert_eq!(decimal(&number.to_be_bytes(), 0), number.to_string());
        }
        for (bytes, scale, expected) in [
            (&[][..], 2, "0.00"),
            (&[0xfb], 2, "-0.05"),
            (&[0x30, 0x39], 2, "123.45"),
            (&[0xff, 0x85], 0, "-123"),
            (&[0x80, 0, 0, 0, 0], 3, "-549755813.888"),
        ] {
            assert_eq!(decimal(bytes, scale), expected);
        }
        let largest = "57896044618658097711785492504343953926634992332820282019728792003956564819967";
        let bytes: Vec<u8> = [0x7f].into_iter().chain([0xff; 31]).collect();
        assert_eq!(decimal(&bytes, 0), largest);
        assert_eq!(decimal(&bytes, 76), format!("{}.{}", &largest[..1], &largest[1..]));
    }
}
