//! Settings read from a TOML file.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use par_model::Config;
use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

/// `config` with the settings of a file in place of its own.
///
/// # Errors
/// When the file cannot be read, or a setting is unknown, of another type or out of its range; with the line
/// if it is known.
pub fn laid_over(config: &Config, path: &Path) -> Result<Config> {
    let origin = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("{origin}: cannot be read"))?;
    let refuse = |error: toml::de::Error| match error.span() {
        Some(span) => {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            anyhow!("{origin}, line {line}: {}", plain(error.message()))
        }
        None => anyhow!("{origin}: {}", plain(error.message())),
    };
    let document = DeTable::parse(&text).map_err(refuse)?;
    // The table of settings has no places, so errors with a line come from the document itself.
    Config::deserialize(Deserializer::from(document.clone())).map_err(refuse)?;
    let settings = toml::Table::deserialize(Deserializer::from(document)).map_err(refuse)?;
    config.laid_over(settings).with_context(|| origin.to_string())
}

/// The parser's message, with the expected type in words.
fn plain(message: &str) -> String {
    let types =
        [("usize", "a whole number, at least 0"), ("u64", "a whole number, at least 0"), ("f64", "a number")];
    let translated = types.iter().find_map(|(name, words)| {
        let start = message.strip_suffix(name)?.strip_suffix("expected ")?;
        Some(format!("{start}expected {words}"))
    });
    translated.unwrap_or_else(|| message.to_string())
}
