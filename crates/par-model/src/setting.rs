//! The range check of settings.

use std::fmt;

/// A setting is out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` is {found}, expected {expected}")]
pub struct SettingError {
    /// The key, with the names of its sections.
    pub key: &'static str,
    /// Its value.
    pub found: String,
    /// Its range, in words.
    pub expected: &'static str,
}

/// Reports the setting unless it `fits`.
pub(crate) fn check_setting(
    key: &'static str,
    found: impl fmt::Display,
    expected: &'static str,
    fits: bool,
) -> Result<(), SettingError> {
    if fits { Ok(()) } else { Err(SettingError { key, found: found.to_string(), expected }) }
}
