//! Settings as a file.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use par_model::Config;

/// Settings with those of a file laid over them.
///
/// # Errors
/// When the file cannot be read, or a setting is unknown or out of its range; with its line where it has one.
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
    // Read as a whole configuration first: what is refused then has a line.
    toml::from_str::<Config>(&text).map_err(refuse)?;
    let settings = text.parse::<toml::Table>().map_err(refuse)?;
    config.laid_over(settings).with_context(|| origin.to_string())
}

/// What is expected, in words instead of types.
fn plain(message: &str) -> String {
    let types =
        [("usize", "a whole number, at least 0"), ("u64", "a whole number, at least 0"), ("f64", "a number")];
    let told = types.iter().find_map(|(name, words)| {
        let start = message.strip_suffix(name)?.strip_suffix("expected ")?;
        Some(format!("{start}expected {words}"))
    });
    told.unwrap_or_else(|| message.to_string())
}
