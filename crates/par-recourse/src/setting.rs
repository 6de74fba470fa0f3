//! Settings that are out of their range.

/// A setting is out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` is {found}, expected {expected}")]
pub struct SettingError {
    /// The key, with those it is nested in.
    pub key: &'static str,
    /// Its value.
    pub found: f64,
    /// Its range, in words.
    pub expected: &'static str,
}

/// # Errors
/// When `fits` is false.
pub(crate) fn check_setting(
    key: &'static str,
    found: f64,
    expected: &'static str,
    fits: bool,
) -> Result<(), SettingError> {
    if fits { Ok(()) } else { Err(SettingError { key, found, expected }) }
}
