//! Settings that are out of their range.

use std::fmt;

/// A setting is out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` is {found}, expected {expected}")]
pub struct SettingError {
    /// The key, with those it is nested in.
    pub key: &'static str,
    /// Its value.
    pub found: String,
    /// Its range, in words.
    pub expected: &'static str,
}

/// # Errors
/// When `fits` is false.
pub(crate) fn check_setting(
    key: &'static str,
    found: impl fmt::Display,
    expected: &'static str,
    fits: bool,
) -> Result<(), SettingError> {
    if fits { Ok(()) } else { Err(SettingError { key, found: found.to_string(), expected }) }
}
