//! Bytes as hexadecimal digits.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes that are written as hexadecimal digits, in lower case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hex<const N: usize>(pub [u8; N]);

/// Text that is not the expected number of hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HexError {
    /// It has another length.
    #[error("expected {expected} hexadecimal digits, found {found} characters")]
    Length {
        /// How many characters there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A character is no digit.
    #[error("expected {expected} hexadecimal digits (0-9, a-f), found `{found}` among them")]
    Digit {
        /// The character.
        found: char,
        /// How many digits there should be.
        expected: usize,
    },
}

impl<const N: usize> FromStr for Hex<N> {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        let expected = 2 * N;
        let mut digits = Vec::with_capacity(expected);
        let found = text.chars().count();
        if found != expected {
            return Err(HexError::Length { found, expected });
        }
        for found in text.chars() {
            let digit = found.to_digit(16).filter(|_| !found.is_ascii_uppercase());
            digits.push(digit.ok_or(HexError::Digit { found, expected })? as u8);
        }
        let mut bytes = [0; N];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = 16 * pair[0] + pair[1];
        }
        Ok(Self(bytes))
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<const N: usize> Serialize for Hex<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_were_written() {
        let bytes = Hex([0x00, 0x9f, 0xff]);
        assert_eq!(bytes.to_string(), "009fff");
        assert_eq!("009fff".parse(), Ok(bytes));
    }

    #[test]
    fn other_text_is_refused() {
        let message = |text: &str| text.parse::<Hex<2>>().expect_err("no digits").to_string();
        assert_eq!(message("00ff0"), "expected 4 hexadecimal digits, found 5 characters");
        assert_eq!(message("00fg"), "expected 4 hexadecimal digits (0-9, a-f), found `g` among them");
        assert_eq!(message("00FF"), "expected 4 hexadecimal digits (0-9, a-f), found `F` among them");
        assert_eq!(message("0ßßß"), "expected 4 hexadecimal digits (0-9, a-f), found `ß` among them");
    }
}
